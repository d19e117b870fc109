# SPDX-License-Identifier: GPL-3.0-or-later
"""What a page says of the problems of nht1-bt."""
import unittest

from nht1 import results
from nht1.report.build import Report
from support import bt_result


def page_of(*roots, level=0.95):
    return Report(results.Results(results.Result('r%d.json' % i, 'nht1-bt', 1, root, {}) for i, root in enumerate(roots)), level).page


def texts(page):
    return [p['text'] for p in page.parts if p['kind'] == 'text']


class Verdict(unittest.TestCase):
    def test_what_was_flushed_stands_in_front_and_the_headline_says_which(self):
        fast = bt_result(t_t=(1.01, 1.02, 1.03), writers=('mpiio', 'posix'), options={'sync': 'none'})
        for roots in ((fast, bt_result()), (bt_result(), fast)):
            said, = (t for t in texts(page_of(*roots)) if t.startswith('Problem'))
            self.assertIn(', --sync end on 2 processors', said)
        self.assertIn(', --sync none on 2 processors', ' '.join(texts(page_of(fast))))
        self.assertNotIn('--sync', [t for t in texts(page_of(bt_result())) if t.startswith('Problem')][0])

    def test_files_over_other_servers_are_no_repetitions(self):
        roots = [bt_result(t_t=t_t) for t_t in ((1.5, 1.51, 1.52), (1.02, 1.03, 1.04))]
        for root, count in zip(roots, (1, 8)):
            for run in root['runs']:
                if run['driver'] != 'none':
                    run['file'] = dict(run['file'], file_system='lustre', striping={'count': count, 'unit_bytes': 1048576, 'pool': None})
        page = page_of(*roots)
        table, = (t for t in page.tables if t.name == 'writers')
        self.assertIn('posix, 8 stripes of 1 MiB is the fastest here, posix, 1 stripe of 1 MiB follows; that says nothing about chance before '
                      'each was measured in 6 rounds or more with the others, in one job (--repeat 12) or one study.', texts(page))
        self.assertEqual([(row[0][0], row[1][0]) for row in table.rows if row[0][0].startswith('posix')],
                         [('posix, 8 stripes of 1 MiB', '3'), ('posix, 1 stripe of 1 MiB', '3')])


    def test_what_was_not_verified_to_its_end_is_not_called_wrong(self):
        root = bt_result()
        for state, wrong in (('failed', False), ('wrong', True)):
            root['runs'][-1].update(verified=False, proof={'state': state})
            said = texts(page_of(root))
            self.assertEqual([t for t in said if 'was wrong' in t] != [], wrong)
            self.assertEqual('1 run left out: interrupted, failed or continued.' in said, not wrong)
            self.assertIn('the fastest writer, posix,', ' '.join(said))  # by its other runs
        root['runs'][-1].update(norms={'ok': False}, proof={'state': 'failed'})
        self.assertIn('1 run left out: what was computed or written was wrong.', texts(page_of(root)))

    def test_what_a_job_says_of_all_of_its_runs_is_found_anew_where_some_are_left_out(self):
        root = bt_result([1.2, 1.21, 1.22, 1.2, 1.21, 1.22, 5.0], [1.0] * 7)
        root['ranking'] = [{'driver': 'posix', 'runs_n': 7, 'paired': {'zeta': 0.25, 'rounds_n': 7}, 'stamps': [
            {'code': 'io-too-slow', 'severity': 'bad', 'sentence': 'So said the job.', 'numbers': {}}]}]
        self.assertIn('So said the job.', [p.get('sentence') or p.get('text') for p in page_of(root).parts])
        root['runs'][-1].update(verified=False, proof={'state': 'failed'})
        page = page_of(root)
        self.assertNotIn('So said the job.', [p.get('sentence') or p.get('text') for p in page.parts])
        self.assertIn(' over 6 rounds', ' '.join(texts(page)))
        self.assertNotIn('of several jobs', ' '.join(texts(page)))

    def test_jobs_that_did_not_come_to_an_end_are_told_beside_others(self):
        cut = bt_result(stamps=[{'code': 'interrupted', 'severity': 'warn', 'sentence': 'Interrupted: 3 of 8 rounds are complete.', 'numbers': {}}])
        said = 'has not come to an end, the rounds that are complete count: '
        self.assertFalse([t for t in texts(page_of(bt_result(), bt_result(t_t=(1.3, 1.3, 1.3)))) if said in t])
        self.assertIn('1 job %sr1.json.' % said, texts(page_of(bt_result(), cut)))


class Processors(unittest.TestCase):
    def test_computing_alone_on_more_processors_than_cores_is_ringed_and_in_no_fit(self):
        roots = [bt_result((), [t_c] * 6, ()) for t_c in (1.0, 0.5, 0.25, 0.375)]
        for n, root in zip((1, 2, 4, 8), roots):
            root['system'].update(ranks=n, cores_of_nodes=4, cores_in_use=min(n, 4))
        page = page_of(*roots)
        figure, = (f for f in page.figures if f.name == 'fig2-times')
        self.assertIn('On the 3 counts of processors that the cores allow, T_C scales as P^-1.00', figure.caption)
        self.assertIn('Ringed counts share the cores', figure.caption)
        self.assertEqual([row[:2] for row in figure.data['this system', 'more processors than cores']], [(8, 0.375)])
        table, = (t for t in page.tables if t.name == 'processors')
        self.assertEqual([(row[0][0], row[-1][0]) for row in table.rows], [('1', ''), ('2', ''), ('4', ''), ('8', 'more processors than cores')])
        figure, = (f for f in page_of(*roots[:2], roots[3]).figures if f.name == 'fig2-times')  # two that the cores allow
        self.assertNotIn('scales', figure.caption)

    def test_a_page_of_weak_scaling_does_not_ask_for_another_study(self):
        weak = [bt_result() for _ in (1, 2)]
        for n, root in zip((1, 2), weak):
            root['problem'] = dict(root['problem'], n=40 * n)
            root['system'].update(ranks=n)
        words = 'Figures 2, 4 and 5 (against processors) need results of one problem on two numbers of processors or more: '
        for roots, more in ((weak, ['here each number has a problem of its own; the table of all problems has them side by side.']),
                            (weak[:1], ['runs/study processors.']),
                            (weak + [dict(weak[0], system=dict(weak[0]['system'], ranks=2))], [])):
            self.assertEqual([t[len(words):] for t in texts(page_of(*roots)) if t.startswith('Figures 2')], more)

    def test_a_row_has_the_t_c_of_its_writers_own_nodes(self):
        roots = [bt_result([t_t] * 4, [t_c] * 4) for t_t, t_c in ((2.8, 2.7), (3.1, 2.4), (9.0, 8.0))]
        for root, ranks, nodes in zip(roots, (8, 8, 2), (1, 2, 1)):
            root['system'].update(ranks=ranks, nodes=nodes, cores_of_nodes=8, cores_in_use=ranks)
            for run in root['runs']:
                run.pop('t_c_s', None)
        page = page_of(*roots)
        table, = (t for t in page.tables if t.name == 'processors')
        self.assertEqual([(row[0][0], float(row[1][0]), float(row[3][0])) for row in table.rows], [('2', 8.0, 9.0), ('8', 2.7, 2.8)])
        figure, = (f for f in page.figures if f.name == 'fig2-times')
        self.assertEqual([row[:2] for row in figure.data['this system', 'computing only']], [(2, 8.0), (8, 2.7)])
        figure, = (f for f in page.figures if f.name == 'writers')
        self.assertEqual([row[1] for row in figure.data['', 'T_C']], [2.7, 2.4])
        roots[1]['system'].update(cores_of_nodes=4)  # as many processors, more than cores
        figure, = (f for f in page_of(*roots).figures if f.name == 'fig2-times')
        self.assertEqual([row[:2] for row in figure.data['this system', 'computing only']], [(2, 8.0), (8, 2.7)])

    def test_a_t_c_that_was_given_is_said_to_be_and_gives_way_to_one_measured(self):
        given = bt_result()
        given.update(t_c={'origin': 'given', 't_c_s': 0.5}, runs=[dict(
            run, t_c_s=0.5, zeta_io=1.4, zeta_compute=0.0) for run in given['runs'] if run['driver'] != 'none'])
        page, of_both = page_of(given), page_of(given, bt_result())
        self.assertEqual(['T_C as given = 0.5' in t for t in texts(page) if 'the fastest writer,' in t], [True])
        self.assertEqual({name: row[-1][0] for name in ('processors', 'writers') for t in page.tables if t.name == name
                          for row in t.rows}, {'processors': 'T_C as given', 'writers': 'verified, T_C as given'})
        said, = (t for t in texts(of_both) if 'the fastest writer,' in t)
        self.assertIn('the computation alone T_C = 1.000 s: zeta = 0.210', said)
        self.assertNotIn('Of zeta', said)


class Writers(unittest.TestCase):
    def test_one_that_was_faster_in_all_common_rounds_is_not_said_to_be_undecided(self):
        noise = [1 + 0.002 * (i * 5 % 9) for i in range(12)]
        fast_day = [bt_result([9.0 * x], [8.0 * x]) for x in noise]
        slow_day = [bt_result([12.0 * x], [10.5 * x], ('posix', 'mpiio')) for x in noise[:9]]
        for root in slow_day:
            root['runs'][-1]['t_t_s'] *= 11 / 12
        said, = (t for t in texts(page_of(*fast_day, *slow_day)) if 'shortest median' in t or 'is the fastest here' in t)
        self.assertEqual(said, 'posix has the shortest median here, but in the rounds that both have mpiio is faster: it takes '
                               '0.917 times as long (0.917 to 0.917, 9 rounds).')

    def test_of_so_few_rounds_that_no_ratio_of_many_writers_could_tell_it_is_not_said_that_they_leave_it_open(self):
        def said(rounds, writers, each=lambda n: n * 7 % 5):
            noise = [1 + 0.002 * (i * 5 % 9) for i in range(rounds)]
            root = bt_result([9.0 * x for x in noise], [8.0 * x for x in noise], writers)
            for run in root['runs']:
                run['t_t_s'] *= {'mpiio': 2 + 0.01 * each(run['round']), 'serial': 3}.get(run['driver'], 1)
            words, = (t for t in texts(page_of(root)) if t.startswith('posix is the fastest'))
            return words
        few = 'posix is the fastest here, mpiio follows; that says nothing about chance before each was measured in 7 rounds or more (so ' \
            'many, for 3 writers) with the others, in one job (--repeat 12) or one study.'
        self.assertEqual(said(6, ('posix', 'mpiio', 'serial')), few)
        for rounds in (7, 12):
            self.assertTrue(said(rounds, ('posix', 'mpiio', 'serial')).startswith('posix is the fastest: mpiio takes 2.02'), rounds)
        self.assertEqual(said(6, ('posix', 'mpiio'), lambda n: n), 'posix is the fastest here, but cannot be told apart from mpiio (2.035 times as long): '
                         'the ratios of their times in the same rounds leave it open. More rounds may tell, 12 or more; 6 often leave open what is far apart.')

    def test_rounds_of_ab_are_those_of_both_sides(self):
        noise = [1 + 0.002 * (i * 5 % 9) for i in range(9)]
        def ab(folder, *sides):
            return results.Results(results.Result('%s/%s/r%02d/result.json' % (folder, side, n), 'nht1-bt', 1, bt_result([t * x], [1.0], (writer,)), {
                'run': n, 'point': side}) for n, x in enumerate(noise, 1) for side, writer, t in zip('AB', ('posix', 'mpiio'), sides))
        found, other = ab('ab', 2.0, 2.5), ab('x/ab2', 3.0, 3.75)
        self.assertIn('posix, A is the fastest: mpiio, B takes 1.250 times as long (1.250 to 1.250, 9 rounds).', texts(Report(found, 0.95).page))
        table, = (t for t in Report(results.Results(found + other), 0.95).page.tables if t.name == 'writers')
        self.assertEqual(sorted(row[0][0] for row in table.rows), ['mpiio, B of ab', 'mpiio, B of ab2', 'posix, A of ab', 'posix, A of ab2'])

    def test_one_with_few_runs_does_not_stand_for_the_page(self):
        few = bt_result([1.1], [1.0], ('mpiio',))
        page = page_of(bt_result([1.3] * 6, [1.0] * 6), few)
        self.assertIn('the fastest writer, posix, takes T_T = 1.300 s', ' '.join(texts(page)))
        self.assertIn('mpiio, 1 run, was faster: 1.10 s; too few to stand for the page.', texts(page))
        table, = (t for t in page.tables if t.name == 'processors')
        self.assertEqual([shown for shown, _ in table.rows[0]][2::8], ['posix', 'mpiio, 1 run, was faster: 1.10 s'])
        for runs, fastest in ((1, 'mpiio'), (2, 'posix'), (5, 'posix')):
            page = page_of(bt_result([1.3] * runs, [1.0] * runs), few)
            self.assertIn('the fastest writer, %s, takes' % fastest, ' '.join(texts(page)))
            self.assertEqual(any('too few to stand' in t for t in texts(page)), fastest == 'posix')

    def test_one_with_enough_runs_stands_beside_one_with_many(self):
        page = page_of(*[bt_result([1.3 + 0.01 * job] * 8, [1.0] * 8) for job in range(3)], bt_result([1.1] * 6, [1.0] * 6, ('mpiio',)))
        self.assertIn('the fastest writer, mpiio, takes', ' '.join(texts(page)))

    def test_figures_and_fits_go_by_those_with_enough_runs_at_each_count_of_processors(self):
        roots = []
        for n in (1, 2, 4):
            for root in bt_result([1.2 / n] * 6, [1.0 / n] * 6), bt_result([1.05 / n], [1.0 / n], ('mpiio',)):
                root['system'].update(ranks=n, cores_of_nodes=4, cores_in_use=n)
                for run in root['runs']:
                    run.pop('t_c_s', None)
                roots.append(root)
        page = page_of(*roots[:-2], roots[-1])  # on 4 processors there is one run alone
        for name, series, right in (('fig2-times', ('this system', 'with writing'), (1.2, 0.6, 0.2625)),
                                    ('fig4-rate', ('', 'this system (fastest writer)'), (0.3456, 0.6912, 0.41472 / 0.2625)),
                                    ('fig5-overhead', ('this system', 'paired zeta'), (0.2, 0.2, 0.05))):
            figure, = (f for f in page.figures if f.name == name)
            for row, value in zip(figure.data[series], right):
                self.assertAlmostEqual(row[1], value)
        self.assertIn('mpiio on 4 processors, 1 run, was faster: 0.263 s; too few to stand for the page.', texts(page))


class Overhead(unittest.TestCase):
    """Figure 5 and what stands in the table of balance. Writing costs 4 %; what else slows a run, slows both runs of a round."""
    slow = (1.0, 1.3, 1.1, 1.2, 1.25, 1.15)

    def result(self, processors, costs=1.04, slow=slow, **members):
        root = bt_result([costs * x / processors for x in slow], [x / processors for x in slow], **members)
        root['system'].update(ranks=processors, cores_of_nodes=16, cores_in_use=processors)
        for run in root['runs']:
            if run['driver'] != 'none':
                run.update(t_c_s=1 / processors, data_s=run['t_t_s'] * (1 - 1 / costs))
        return root

    def drawn(self, *roots):
        page = page_of(*roots)
        figure, = (f for f in page.figures if f.name == 'fig5-overhead')
        balance, = (t for t in page.tables if t.name == 'balance')
        here = {series: [(p, round(y, 3), round(lo, 3)) for p, y, lo, _ in rows] for (panel, series), rows in figure.data.items() if panel == 'this system'}
        return here, figure.caption, [shown for shown, _ in balance.rows[0][:2]]

    @staticmethod
    def alone(root):
        """The same without its compute-only runs."""
        return dict(root, t_c={'origin': 'store'}, runs=[run for run in root['runs'] if run['driver'] != 'none'])

    @staticmethod
    def unmeasurable(root):
        stamp = {'code': 'not-measurable', 'severity': 'warn', 'numbers': {}, 'sentence': 'Not measurable.'}
        return dict(root, ranking=[{'driver': 'posix', 'stamps': [stamp], 'reason': 'disturbed'}])

    def test_they_go_by_the_paired_zeta_as_the_verdicts_do(self):
        here, caption, balance = self.drawn(*map(self.result, (1, 2, 4)))
        self.assertEqual(here.pop('fit')[0][:2], (1.0, 0.04))
        self.assertEqual(here, {'paired zeta': [(p, 0.04, 0.04) for p in (1, 2, 4)]})
        self.assertIn('Paired zeta is over the T_C of the same round. On this system no fit comes up to 0.10', caption)
        self.assertEqual(balance, ['paired zeta, what writing costs', '0.040 (0.040 to 0.040)'])

    def test_where_no_round_has_a_compute_only_run_that_is_said(self):
        here, caption, balance = self.drawn(*(self.alone(self.result(p)) for p in (1, 2)))
        self.assertEqual({name: [row[:2] for row in rows] for name, rows in here.items()}, {'zeta over the best T_C': [(1, 0.222), (2, 0.222)]})
        self.assertIn('zeta is over one T_C for all runs, and what slowed all of a run is in it.', caption)
        self.assertIn('On this system zeta is above 0.10 at every count of processors, on 1, 2 by its median alone.', caption)
        self.assertEqual(balance[0], 'zeta over the best T_C, what writing costs')
        here, caption, _ = self.drawn(*map(self.result, (1, 2, 4)), self.alone(self.result(8)))
        self.assertEqual([row[0] for row in here['zeta over the best T_C']], [8])
        self.assertEqual([row[0] for row in here['fit']][::60], [1.0, 4.0])
        self.assertIn('is in it; it is in no fit.', caption)

    @staticmethod
    def before(processors, started='2026-01-01T10:00:00Z'):
        """A job of one round that has measured T_C, 1 s, before it, with a slow first run. Writing costs 5 %."""
        root = bt_result([1.05 / processors], [1.0])
        root['runs'] = [dict(root['runs'][0], round=0, t_t_s=x / processors) for x in (1.25, 1.0, 1.004)] + root['runs'][1:]
        root['runs'][-1].update(t_c_s=1 / processors, data_s=0.05 / processors)
        root['system'].update(ranks=processors, cores_of_nodes=16, cores_in_use=processors)
        return dict(root, started_utc=started, ranking=[{'driver': 'posix', 'stamps': [], 'paired': {'rounds_n': 0, 'zeta': None}}])

    def test_t_c_from_before_the_round_is_no_partner_in_it(self):
        here, _, balance = self.drawn(*map(self.before, (1, 2, 4)))
        self.assertEqual([row[:2] for row in here['zeta over the best T_C']], [(p, 0.05) for p in (1, 2, 4)])
        self.assertEqual(balance, ['zeta over the best T_C, what writing costs', '0.050'])
        jobs = [self.before(p, '2026-01-0%dT10:00:00Z' % day) for p in (1, 2) for day in range(1, 9)]
        here, _, _ = self.drawn(*jobs)
        self.assertEqual({name: [row[:2] for row in rows] for name, rows in here.items() if rows and name.startswith(('zeta', 'paired'))},
                         {'zeta over the best T_C': [(1, 0.05), (2, 0.05)]})
        self.assertIn("Undecided: over 0 rounds of several jobs zeta is 0.050; NAS's goal is at most 0.10. "
                      'No round holds a compute-only run to compare with: use --repeat auto.', texts(page_of(*jobs[:8])))

    def test_where_zeta_does_not_come_up_from_below_no_crossing_is_told(self):
        for costs, words in (((1.3, 1.16, 1.09, 1.07), 'zeta is above 0.10 on 1, 2 processors and not on 4, 8.'),
                             ((1.3, 1.16, 1.09), 'zeta is above 0.10 on 1, 2 processors and not on 4.'),
                             ((1.02, 1.08, 1.09, 1.085), 'zeta is not above 0.10 on any of these counts of processors, and the fit does not tell'),
                             ((1.02, 1.13, 1.08, 1.07), 'zeta is above 0.10 on 2 processors and not on 1, 4, 8.'),
                             ((1.0, 1.101, 1.103, 1.35), 'zeta is above 0.10 on 2, 4, 8 processors and not on 1.'),
                             ((1.12, 1.08, 1.12, 1.2), 'zeta is above 0.10 on 1, 4, 8 processors and not on 2.'),
                             ((1.099, 1.095, 1.0675, 1.05), 'zeta is not above 0.10 on any of these counts of processors, and the fit does not tell'),
                             ((1.02, 1.04, 1.08, 1.16), 'the fitted parabola reaches 0.10 at 5.0 processors')):
            _, caption, _ = self.drawn(*(self.result(p, cost) for p, cost in zip((1, 2, 4, 8), costs)))
            self.assertIn('On this system ' + words, caption)

    def test_a_standard_deviation_takes_two_degrees_of_freedom(self):
        for costs, words in (((1.02, 1.07, 1.16), 'the fitted line reaches 0.10 at 2.7 processors.'),
                             ((1.02, 1.04, 1.08, 1.16), 'the fitted parabola reaches 0.10 at 5.0 processors.'),
                             ((1.02, 1.04, 1.08, 1.16, 1.3), 'the fitted parabola reaches 0.10 at 4.9 processors (standard deviation ')):
            roots = [self.result(2 ** i, cost) for i, cost in enumerate(costs)]
            self.assertIn('On this system ' + words, self.drawn(*roots)[1])
            figure, = (f for f in page_of(*roots).figures if f.name == 'fig2-times')
            self.assertEqual('with a standard deviation of' in figure.caption, len(costs) > 3)

    def test_what_was_measured_beyond_the_fit_is_named(self):
        roots = [self.result(p, cost) for p, cost in ((1, 1.02), (2, 1.03), (4, 1.04), (8, 1.2))]
        for root in roots:
            root['system']['cores_of_nodes'] = 4
        _, caption, _ = self.drawn(*roots)
        self.assertIn('no fit comes up to 0.10 between 1 and 8 processors, twice the counts that it is of. Measured and in no fit: zeta of '
                      '0.20 on 8 processors.', caption)

    def test_what_is_not_measurable_is_hollow_and_in_no_fit_and_no_statement(self):
        here, caption, balance = self.drawn(*(self.result(p, 1.2) for p in (1, 2)), *(self.unmeasurable(self.result(p)) for p in (4, 8)))
        self.assertEqual({name: [row[:2] for row in rows] for name, rows in here.items()}, {
            'paired zeta': [(1, 0.2), (2, 0.2)], 'paired zeta, not measurable': [(4, 0.04), (8, 0.04)]})
        self.assertIn('What is not measurable (hollow) is in no fit. On this system zeta is above 0.10 on 1, 2 processors, the only counts '
                      'to go by.', caption)
        self.assertEqual(balance, ['paired zeta, what writing costs (not measurable)', '0.040'])

    def test_a_power_of_the_processors_goes_by_what_is_measurable(self):
        roots = [self.result(p) for p in (1, 2, 4)] + [self.unmeasurable(self.result(8, slow=[8.0 * x for x in self.slow]))]
        said, = (f.caption for f in page_of(*roots).figures if f.name == 'fig4-rate')
        self.assertIn('On the 3 counts of processors that the cores allow and that are measurable, R_IO scales as P^1.00', said)
        said, = (f.caption for f in page_of(*roots[1:]).figures if f.name == 'fig4-rate')
        self.assertNotIn('scales', said)


class FewRuns(unittest.TestCase):
    @staticmethod
    def grouped(runs, ranking=()):
        roots = [bt_result([1.1 + 0.1 * group] * runs, [1.0] * runs, ('token',)) for group in (1, 2)]
        for group, root in enumerate(roots, 1):
            root['ranking'] = list(ranking)
            for run in root['runs']:
                run['options'] = {'group': group} if run['driver'] == 'token' else {}
        return [f.caption for f in page_of(*roots).figures if f.name == 'fig1-groups']

    def test_the_shortest_median_of_them_is_said_to_be_no_statement_about_chance(self):
        unmeasurable = {'driver': 'token', 'reason': 'disturbed', 'stamps': [
            {'code': 'not-measurable', 'severity': 'warn', 'numbers': {}, 'sentence': 'Not measurable.'}]}
        for runs, ranking, words in ((2, (), ' (few runs: no statement about chance)'), (3, (), ''), (3, [unmeasurable], ' (2 of 2 not measurable)')):
            self.assertIn('Shortest median here: group 1 with 1.20 s%s; on the iPSC/860' % words, *self.grouped(runs, ranking))

    def test_of_two_the_slower_stands_for_both(self):
        for t_t in ([1.054, 1.506], [1.506, 1.054]):
            roots = [bt_result(t_t, [1.0, 1.0], ('posix', 'mpiio'))]
            for run in roots[0]['runs']:
                run['phases_s'] = {'write': {'mean': run['t_t_s']}}
            figure, = (f for f in page_of(*roots).figures if f.name == 'phases')
            self.assertEqual([row[1] for row in figure.data['', 'writing']], [1.506, 1.506])
            self.assertIn('the run nearest to its median (of two runs that are as near, the slower one)', figure.caption)


class SeveralJobs(unittest.TestCase):
    def said(self, *zeta, level=0.95):
        """The verdict over jobs of two rounds each, in the order of their start."""
        roots = [bt_result([1 + z, 1.001 + z], [1.0] * 2, started_utc='2026-01-01T1%d:00:00Z' % i) for i, z in enumerate(zeta)]
        for root in roots:
            for run in root['runs']:
                run['data_s'] = 0.9 * (run['t_t_s'] - 1)
        said, = (t for t in texts(page_of(*roots, level=level)) if t.startswith('Undecided: '))
        return said

    def test_where_they_rise_or_fall_more_of_them_would_not_decide(self):
        for zeta in ([0.25 + 0.02 * i for i in range(8)], [0.5 - 0.02 * i for i in range(8)]):
            said = self.said(*zeta)
            self.assertIn('No interval: the jobs rise, fall or depend on the one before, so something else goes on here.', said)
            self.assertNotIn('would decide', said)

    def test_few_that_only_may_depend_on_the_one_before_are_said_to_do_so_by_chance_as_well(self):
        self.assertIn('No interval: the jobs seem to depend on the one before, as so few (8) do by chance in three of ten cases; 12 have one as a rule.',
                      self.said(0.21, 0.213, 0.208, 0.211, 0.51, 0.512, 0.509, 0.508))

    def test_how_long_it_takes_to_an_interval_is_told_in_a_sentence(self):
        roots = [bt_result([1.05], [1.0], started_utc='2026-01-01T1%d:00:00Z' % i) for i in range(5)]
        for root in roots:
            root['runs'][0]['data_s'] = root['runs'][1]['data_s'] = 0.04
        said, = (t for t in texts(page_of(*roots)) if t.startswith('Undecided: '))
        self.assertIn(' No interval before 6 rounds, some 0.20 minutes: --repeat auto.', said)

    def test_where_they_only_differ_or_are_few_for_the_level_more_would(self):
        for zeta, level in (((0.13, 0.07, 0.11, 0.08, 0.12, 0.06, 0.14, 0.09), 0.95), ((0.21, 0.24, 0.2, 0.25, 0.22, 0.23), 0.99)):
            self.assertIn('More jobs would decide, rather than more rounds in each.', self.said(*zeta, level=level))


class Phases(unittest.TestCase):
    def test_what_is_in_no_phase_is_not_called_agreeing(self):
        root = bt_result([3.0] * 3, [1.0] * 3)
        for run in root['runs']:
            run['phases_s'] = {name: {'mean': s} for name, s in (('xi', 2.0), ('agree', 0.25), ('stop', 0.25), ('idle', 0.5))}
        figure, = (f for f in page_of(root).figures if f.name == 'phases')
        self.assertEqual({name: rows[0][1] for (_, name), rows in figure.data.items()}, {
            'computing': 2.0, 'agreeing': 0.5, 'the rest': 0.5})


class PartsOfZeta(unittest.TestCase):
    @staticmethod
    def results(*t_c):
        """A job for each T_C, in which writing takes 0.05 s and computing beside it 0.01 s more; what it says itself is over its
        own T_C."""
        roots = [bt_result([c + 0.06] * 3, [c] * 3) for c in t_c]
        for c, root in zip(t_c, roots):
            for run in root['runs']:
                if run['driver'] != 'none':
                    run.update(t_c_s=c, in_io_s=0.05, zeta_io=0.05 / c, zeta_compute=0.01 / c)
        return roots

    @staticmethod
    def row(page):
        table, = (t for t in page.tables if t.name == 'zeta')
        return [value for _, value in table.rows[0][1:4]]

    def test_they_are_over_the_t_c_of_the_page_and_add_up_to_its_zeta(self):
        page = page_of(*self.results(1.0, 0.99, 0.5))
        for found, right in zip(self.row(page), (1.1, 0.1, 1.0)):
            self.assertAlmostEqual(found, right)
        self.assertIn("Of zeta, 0.100 are the writer's calls and 1.000 computing that takes longer than T_C", ' '.join(texts(page)))

    def test_the_verdict_says_whether_t_c_is_a_stored_one(self):
        root = self.results(1.0)[0]
        root['t_c'] = {'t_c_s': 0.5, 'origin': 'store', 'measured_utc': '2025-11-02T10:00:00Z', 'ranks': 1, 'threads': 2}
        for run in root['runs']:
            if run['driver'] != 'none':
                run['t_c_s'] = 0.5
        said = 'T_C = 0.5000 s (stored: 2025-11-02, 1 rank x 2 threads): zeta'
        self.assertIn(said, ' '.join(texts(page_of(root))))
        # The run that was stored is a result, too: it is measured.
        self.assertNotIn('(stored', ' '.join(texts(page_of(root, bt_result((), [0.5] * 3, ())))))

    def test_what_one_result_says_of_itself_is_put_over_it_too(self):
        written, alone = self.results(1.0)[0], bt_result((), [0.5] * 3, ())
        for run in written['runs']:
            run.update(round=run['round'] * (run['driver'] != 'none'))
        written['ranking'] = [{'driver': 'posix', 'zeta_io': 0.05, 'zeta_compute': 0.01, 'paired': {'rounds_n': 0}, 'terms': {
            'data': {'zeta': 0.04, 'ci95_lo': 0.03, 'ci95_hi': 0.05}, 'bookkeeping': {'zeta': 0.01}, 'slowdown': {'zeta': 0.01}}}]
        page = page_of(written, alone)
        for found, right in zip(self.row(page), (1.12, 0.1, 1.02)):
            self.assertAlmostEqual(found, right)
        table, = (t for t in page.tables if t.name == 'terms')
        self.assertEqual([[shown for shown, _ in row[1:5]] for row in table.rows], [
            ['data', '0.080', '0.060', '0.100'], ['bookkeeping', '0.020', '-', '-'], ['slowdown', '1.020', '-', '-']])

    def test_where_a_run_does_not_tell_its_seconds_there_are_none(self):
        roots = self.results(1.0, 0.5)
        del roots[0]['runs'][-1]['in_io_s']
        self.assertNotIn('Of zeta', ' '.join(texts(page_of(*roots))))


if __name__ == '__main__':
    unittest.main()
