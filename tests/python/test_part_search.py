# SPDX-License-Identifier: GPL-3.0-or-later
"""What a page says of a search for the best way to write."""
import unittest

from nht1 import results
from nht1.report.build import Report
from support import bt_result


def command(run, out):
    """The command in the section about a search. run: what was noted beside the result."""
    root = bt_result(search={'ended': 'settled', 'candidates': [], 'best': {
        'label': 'posix', 'answer': 'posix will do.', 'command': 'OMP_NUM_THREADS=2 mpirun -np 1 nht1-bt --io posix --out %s' % out}})
    page = Report(results.Results([results.Result('search/result.json', 'nht1-bt', 1, root, run)]), 0.95).page
    first = next(i for i, p in enumerate(page.parts) if p.get('text') == 'posix will do.')
    return page.parts[first + 1]['text']


class Command(unittest.TestCase):
    def test_leads_into_a_folder_that_stays_as_on_the_terminal(self):
        for out, right in (('./nht1-files-h-0123456789abcdef/dump.bin', ' --out ./btout.bin'),
                           ('/scratch/my files/nht1-files-h-0123456789abcdef/dump.bin', " --out '/scratch/my files/btout.bin'"),
                           ('runs/out/x/dumps/dump.bin', '')):
            found = command({'command': ['mpirun', 'nht1-bt', '--io', 'auto', '--out', out]}, "'%s'" % out)
            self.assertEqual(found, 'OMP_NUM_THREADS=2 mpirun -np 1 nht1-bt --io posix' + right)

    def test_of_a_search_that_nobody_else_has_started_is_its_own(self):
        self.assertEqual(command({}, '/there/x.bin'), 'OMP_NUM_THREADS=2 mpirun -np 1 nht1-bt --io posix --out /there/x.bin')

    def test_has_the_component_of_its_study(self):
        run = {'command': ['nht1-bt', '--out', 'd/dump.bin'], 'settings': {'env.OMPI_MCA_io': 'romio321'}}
        self.assertTrue(command(run, 'd/dump.bin').startswith('OMPI_MCA_io=romio321 OMP_NUM_THREADS=2 '))


class Interrupted(unittest.TestCase):
    def test_what_was_left_out_before_a_last_rung_is_not_slower_in_it_and_nothing_is_the_best_so_far(self):
        candidates = [{'label': label, 'writer': label, 'state': state, 'rung': rung, 'runs': 4, 'ratio': ratio} for label, state, rung, ratio in (
            ('posix', 'best', 3, 1.0), ('async', 'beaten', 3, 0.73), ('serial', 'beaten', 2, 1.5), ('token', 'unjudged', 4, None))]
        for last, said in ((False, 'left out after rung 3'), (True, 'slower in the last rung')):
            root = bt_result(search={'ended': 'interrupted', 'candidates': candidates, 'rungs': [{'rung': 3, 'last': last}], 'best': {
                'label': 'posix', 'verdict': 'undecided', 'answer': 'posix will do.', 'command': 'nht1-bt'}})
            page = Report(results.Results([results.Result('r.json', 'nht1-bt', 1, root, {})]), 0.95).page
            figure, = (f for f in page.figures if f.name == 'search')
            self.assertEqual({name for _, name in figure.data} - {'best'}, {said, 'left out after rung 2'})
            self.assertIn('The search was interrupted before it had decided anything.', [p.get('text') for p in page.parts])


class Tunes(unittest.TestCase):
    def page(self, *tunes):
        found = results.Results([results.Result('r.json', 'nht1-bt', 1, bt_result(), {})])
        found.tunes = [('%d/tune.json' % i, {
            'schema': 'nht1-tune/1', 'host': 'h', 'started_utc': started, 'ended': 'settled', 'settings': dict(ranks='2', threads='1', **settings),
            'answer': '%s is it.' % best, 'final': {'rounds': 10, 'steps': 10}, 'best': {
                'label': best, 'command': 'run ' + best, 't_t_s': 2.0, 'steps': 10, 'dumps': 2, 'rounds': 10, 'zeta': 0.25, 'zeta_lo': 0.125,
                'zeta_hi': 0.5, 'zeta_steps': 20, 'against': [{'label': 'mpiio', 'ratio': 1.5, 'lo': 1.25, 'hi': 2.0}]}})
            for i, (started, best, settings) in enumerate(tunes)]
        return Report(found, 0.95).page

    def test_zeta_is_said_to_be_of_the_search_and_its_steps(self):
        self.assertIn('This setting takes T_T = 2.000 s for 10 steps, 2 dumps (median of 10 rounds). In the search, with 20 steps: zeta = 0.250 '
                      '(0.125 to 0.500); mpiio takes 1.50 (1.25 to 2.00) times as long.', [p.get('text') for p in self.page(('', 'posix', {})).parts])

    def test_several_are_told_apart_the_newest_first(self):
        page = self.page(('2026-11-02T10:00:00Z', 'posix', {'class': 'W'}), ('2026-11-25T08:30:00Z', 'mpiio', {'class': 'A'}))
        shown = [p.get('text') or p.get('title') for p in page.parts]
        order = ['Found on 2026-11-25 08:30, 2 ranks x 1 thread, --class A', 'mpiio is it.',
                 'Found on 2026-11-02 10:00, 2 ranks x 1 thread, --class W', 'posix is it.']
        self.assertEqual([t for t in shown if t in order], order)


if __name__ == '__main__':
    unittest.main()
