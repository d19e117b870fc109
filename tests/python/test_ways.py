# SPDX-License-Identifier: GPL-3.0-or-later
"""What was varied keeps results of nht1-workload, nht1-beffio and nht1-beff apart."""
import copy
import json
import os
import re
import unittest

from nht1 import results
from nht1.compare.verdict import SAME, Comparison
from nht1.report import draw, trend
from nht1.report.build import Report
from nht1.report.page import Figure
from support import bt_result

CORPUS = os.path.join(os.path.dirname(__file__), '..', 'corpus', 'report')


def root_of(name):
    with open(os.path.join(CORPUS, name + '.json'), encoding='utf-8') as f:
        return json.load(f)


def loaded(kind, *roots):
    """roots: (root, variables that a study set)"""
    return results.Results(results.Result(os.path.join(CORPUS, 'r%d.json' % i), kind, 1, copy.deepcopy(root), {
        'settings': {'env.' + k: v for k, v in env.items()}}) for i, (root, env) in enumerate(roots))


def texts(page):
    return [p['text'] for p in page.parts if p['kind'] == 'text']


def rows(page, name):
    table, = (t for t in page.tables if t.name == name)
    return table.csv().splitlines()


class Workload(unittest.TestCase):
    def patterns(self, change, env=({}, {})):
        """A page of four results of one pattern with two records, twice 1 and twice 3 MB/s."""
        made = []
        for i in range(4):
            root = root_of('workload')
            root['phases'] = [copy.deepcopy(root['phases'][0]) for _ in range(2)]
            for phase, record in zip(root['phases'], (4096, 8192)):
                phase.update(record_bytes=record, bytes_per_s=(1e6, 3e6)[i % 2])
            change(root, i % 2)
            made.append((root, env[i % 2]))
        return Report(loaded('nht1-workload', *made)).page

    def test_what_was_varied_has_rows_and_panels_of_its_own(self):
        def nothing(root, which):
            pass

        def sync(root, which):
            root['options']['sync'] = ('none', 'call')[which]

        def hint(root, which):
            root['options']['hint'] = ([], ['cb_nodes=1'])[which]

        def component(root, which):
            root['system']['mpiio_component'] = ('ompio (4.1)', 'romio321 (4.1)')[which]

        def of_phases(**settings):
            def change(root, which):
                for phase in root['phases']:
                    phase['settings'] = {'data': 8, **(settings if which else {})}
            return change

        def fraction(root, which):
            for phase in root['phases']:
                phase['fraction'] = (1, 0.25)[which]

        def files(root, which):
            root['mode'] = ('common', 'separate')[which]

        def buffer(root, which):
            root['options']['buffer'] = (256 * 2 ** 20, 65536)[which]

        def nodes(root, which):
            root['system']['nodes'] = 1 + which
        for change, env, names in (
                (of_phases(group=16), ({}, {}), ('group not set', 'group 16')),
                (of_phases(think=1e-4), ({}, {}), ('think not set', 'think 0.0001')),
                (fraction, ({}, {}), ('fraction 1', 'fraction 0.25')),
                (files, ({}, {}), ('files common', 'files separate')),
                (buffer, ({}, {}), ('no --buffer', '--buffer 65536')),
                (nodes, ({}, {}), ('on 1 node', 'on 2 nodes')),
                (sync, ({}, {}), ('--sync none', '--sync call')), (hint, ({}, {}), ('no hints', 'hint cb_nodes=1')),
                (component, ({}, {}), ('ompio', 'romio321')),
                (component, ({'OMPI_MCA_io': 'ompio'}, {'OMPI_MCA_io': 'romio321'}), ('OMPI_MCA_io=ompio', 'OMPI_MCA_io=romio321')),
                (nothing, ({}, {'UCX_TLS': 'tcp'}), ('UCX_TLS not set', 'UCX_TLS=tcp'))):
            with self.subTest(names):
                page = self.patterns(change, env)
                figure, = (f for f in page.figures if f.name.startswith('workload-segmented'))
                self.assertEqual({panel: [y for _, y, *_ in points] for (panel, _), points in figure.data.items()},
                                 {names[0]: [1, 1], names[1]: [3, 3]})
                lines = rows(page, figure.name)[1:]
                self.assertEqual([[line.lstrip("'").startswith(n) for n in names] for line in lines],
                                 4 * [[True, False]] + 4 * [[False, True]])

    def test_a_figure_has_nine_panels_with_headings_of_several_lines_and_the_table_has_all(self):
        made = []
        for i in range(11):
            root = root_of('workload')
            root['phases'] = [dict(copy.deepcopy(root['phases'][0]), record_bytes=record) for record in (4096, 8192)]
            made.append((root, {'A_VARIABLE_WITH_A_LONG_NAME': 'a value of many characters, %d' % i}))
        page = Report(loaded('nht1-workload', *made)).page
        figure, = (f for f in page.figures if f.name.startswith('workload-segmented'))
        self.assertEqual(len(figure.panels), 9)
        self.assertEqual(len(rows(page, figure.name)), 1 + 2 * 11)
        self.assertTrue(figure.caption.endswith('The first 9 of 11 ways are drawn; the table has all.'), figure.caption)
        drawn = draw.figure(figure.title, figure.panels, figure.data)
        drawn.draw_without_rendering()
        for ax in drawn.axes[:9]:
            self.assertGreater(ax.get_title(loc='left').count('\n'), 0)
            self.assertGreater(ax.get_position().height, 0.1)

    def test_curves_are_of_the_device_where_some_measurements_are(self):
        made = []
        for value, memory in ((1e6, False), (3e6, False), (9e9, True)):
            root = root_of('workload')
            root['phases'] = [dict(copy.deepcopy(root['phases'][0]), record_bytes=record, bytes_per_s=value, stamps=[
                {'code': 'page-cache', 'severity': 'note', 'sentence': 'It was.', 'numbers': {}}] if memory else [])
                              for record in (4096, 8192)]
            made.append((root, {}))
        page = Report(loaded('nht1-workload', *made)).page
        figure, = (f for f in page.figures if f.name.startswith('workload-segmented'))
        self.assertEqual([y for points in figure.data.values() for _, y, *_ in points], [2, 2])
        self.assertIn('is in the table alone: 2 measurements.', figure.caption)

    def test_the_key_of_several_panels_has_room(self):
        for n in (2, 7):
            lines = ['hint striping_unit=1048576, T = 15 min, run %d' % i for i in range(n)]
            figure = Figure('of-several', 'Title')
            for name in 'abc':
                figure.panel(name, {'label': 'x'}, 'y')
                for line in lines:
                    figure.series(line, 'line-points', [(1, 1), (2, 2)])
            drawn = draw.figure(figure.title, figure.panels, figure.data)
            drawn.draw_without_rendering()
            legend, = (ax.get_legend() for ax in drawn.axes if ax.get_legend())
            self.assertEqual([t.get_text() for t in legend.get_texts()], lines)
            self.assertGreaterEqual(legend.get_window_extent().y0, 0)

    def test_working_points_are_a_study_for_each_way_and_what_was_wrong_is_in_none(self):
        made = []
        for sync in ('none', 'call'):
            for i, fraction in enumerate((0, 0.25, 0.5, 0.75)):
                root = root_of('point')
                root['options']['sync'], root['bytes_per_s'] = sync, 1e6 * (i + (1 if sync == 'none' else 100))
                root['points'][0]['asked']['seqFrac'] = fraction
                if i > 1 and sync == 'call':
                    root['points'][0].update(wrong_n=3 * (i == 2), completed=False)
                made.append((root, {}))
        page = Report(loaded('nht1-workload', *made)).page
        figure, = (f for f in page.figures if f.name.startswith('workload-figure-1'))
        self.assertIn('--sync none', figure.title)
        self.assertEqual([y for _, y, *_ in figure.data['seqFrac', 'throughput']], [1, 2, 3, 4])
        points = [t for t in page.tables if t.name.startswith('workload-points')]
        self.assertEqual([t.way for t in points], 4 * ['--sync none'] + 2 * ['--sync call'])
        said = [t for t in texts(page) if 'left out' in t]
        self.assertRegex(said[0], r'^1 measurement of nht1-workload left out: data were wrong \(.*r6\.json\)\.$')
        self.assertRegex(said[1], r'^1 measurement of nht1-workload left out: interrupted or failed \(.*r7\.json\)\.$')
        page = Report(loaded('nht1-workload', *made[-1:], *21 * made[:1])).page  # the first counts for nothing
        self.assertEqual(sum(t.name.startswith('workload-points') for t in page.tables), 20)
        self.assertIn('Working points of the first 20 of 21 results are shown.', texts(page))


    def test_what_the_paper_says_is_seen_by_size_and_not_judged_of_too_few_points(self):
        def said(number, values, repeats=1):
            made = []
            for x, rate in values.items():
                for i in range(repeats):
                    root = root_of('point')
                    root['bytes_per_s'], root['points'][0]['asked'][number] = 1e6 * (rate + 0.01 * i), x
                    made.append((root, {}))
            page = Report(loaded('nht1-workload', *made)).page
            self.assertFalse([t for t in texts(page) if 'by chance' in t])  # of one number
            line, = rows(page, 'workload-figure-1')[1:]
            return line.split('"')[1] if '"' in line else line.split(',')[2]

        few, fourfold = 'not judged: too few points', 'not seen: no significant trend, largest median 4.00 times the smallest'
        valley = dict(zip((0, 0.25, 0.5, 0.75, 1), (400, 120, 100, 120, 400)))
        alike = dict(zip((0, 0.25, 0.5, 1), (100, 110, 108, 101)))
        thrice = {0: 100, 0.5: 102, 1: 104}
        for number, values, repeats, verdict in (
                ('syncFrac', valley, 3, fourfold), ('syncFrac', valley, 1, fourfold), ('syncFrac', {0: 400, 0.5: 200, 1: 100}, 1, few),
                ('syncFrac', alike, 1, 'seen: largest median 1.10 times the smallest'), ('syncFrac', thrice, 3, few),
                ('syncFrac', dict.fromkeys(alike, 100), 1, 'seen: largest median 1.00 times the smallest'),
                ('syncFrac', dict(zip(alike, (100, 101, 102, 103))), 3, 'seen: largest median 1.03 times the smallest'),
                ('syncFrac', dict(zip(alike, (100, 120, 150, 200))), 3, 'not seen: up, largest median 2.00 times the smallest'),
                ('seqFrac', alike, 1, few), ('seqFrac', {0: 100, 1: 200}, 3, few), ('seqFrac', {0: 100, 1: 200}, 4, 'seen: up'),
                ('seqFrac', valley, 1, 'not seen: no significant trend'),
                ('seqFrac', dict.fromkeys(valley, 100), 1, 'not seen: no significant trend'), ('sharedFrac', thrice, 1, few),
                ('sharedFrac', thrice, 3, 'not seen: up'), ('processNum', {1: 100, 2: 200, 4: 300}, 1, 'too few points')):
            with self.subTest(number, values=values, repeats=repeats):
                self.assertEqual(said(number, values, repeats), verdict)

    def test_several_numbers_of_the_model_are_said_to_be_tested_each_by_itself(self):
        made = []
        for number, value in (('seqFrac', 0), ('seqFrac', 0.5), ('seqFrac', 0.75), ('syncFrac', 0.25), ('syncFrac', 0.5)):
            root = root_of('point')
            root['points'][0]['asked'][number] = value
            made.append((root, {}))
        self.assertIn('Each number is tested by itself: of those without influence, 5 % show a trend by chance.',
                      texts(Report(loaded('nht1-workload', *made)).page))

    def test_split_and_requested_collective_calls_are_other_points(self):
        sides = []
        for functions in (('write_all_begin', 'write_at'), ('iwrite_all', 'write_at')):
            root = root_of('point')
            root['points'][0]['calls'] = [{'function': f, 'n': 1, 'bytes': 8} for f in functions]
            sides.append(loaded('nht1-workload', (root, {})))
        self.assertIn('nonblocking collective calls: split in A, request in B', Comparison(*sides, nevertheless=True).reasons)
        made = []
        for functions in (('write_all_begin', 'write_at'), ('iwrite_all', 'write_at')):
            for fraction in (0, 0.25, 0.5):
                root = root_of('point')
                root['points'][0]['calls'] = [{'function': f, 'n': 1, 'bytes': 8} for f in functions]
                root['points'][0]['asked']['seqFrac'] = fraction
                made.append((root, {}))
        figures = [f.title for f in Report(loaded('nht1-workload', *made)).page.figures if f.name.startswith('workload-figure-1')]
        self.assertEqual([t.rpartition(', ')[2] for t in figures], ['request calls', 'split calls'])
        # What has neither belongs to both, and parts nothing from the only one there is.
        plain = root_of('point')
        plain['points'][0].update(calls=[{'function': 'write', 'n': 1, 'bytes': 8}])
        plain['points'][0]['asked']['seqFrac'] = 0.75
        for some, n, named in ((made, 2, True), (made[:3], 1, False)):
            figures = [f for f in Report(loaded('nht1-workload', *some, (plain, {}))).page.figures
                       if f.name.startswith('workload-figure-1')]
            self.assertEqual([len(f.data['seqFrac', 'throughput']) for f in figures], n * [4])
            self.assertEqual([' calls' in f.title for f in figures], n * [named])


class Bandwidth(unittest.TestCase):
    def of_hints(self):
        """b_eff_io without and with hints, twice each."""
        made = []
        for i in range(4):
            root = root_of('beffio')
            root['job_id'], root['b_eff_io']['bytes_per_s'] = str(i), (1e8, 2e8)[i % 2]
            if i % 2:
                root['hints'] = [{'procs': None, 'access': 'write', 'type': None, 'on_open': True, 'position': None,
                                  'key': 'cb_nodes', 'value': '1'}]
                for part in root['partitions']:
                    for library in part['library']:
                        library['mpiio_component'] = 'romio321 (4.1)'
            made.append((root, {}))
        return loaded('nht1-beffio', *made)

    def test_pages_and_trends_name_hints_and_component(self):
        found = self.of_hints()
        page = Report(found).page
        with_hints = ['hint write:cb_nodes=1, romio321' in line for line in rows(page, 'beffio-systems')[1:5]]
        self.assertEqual(with_hints, [False, True, False, True])
        self.assertTrue(rows(page, 'beffio-2')[0].endswith(',measured with'))
        points, common = trend._of_results(found, 'b_eff_io')
        self.assertEqual([p.line for p in points], ['no hints, MPI-IO component unknown', 'hint write:cb_nodes=1, romio321'] * 2)
        self.assertRegex(common, '^2 ranks, T = .* min, partitions of 1, 2 processes, definition 1.x, not valid')

    def test_the_largest_value_that_may_be_of_memory_is_called_so_beside_one_of_the_device(self):
        def page(*of):
            made = []
            for value, honest in of:
                root = root_of('beffio')
                root['b_eff_io'].update(bytes_per_s=1e6 * value, maximum_bytes_per_s=1e6 * value, valid=value != 9000)
                root['b_eff_io']['cache_honest'] = honest
                root['schedule']['partition_s'] = 900
                made.append((root, {}))
            return Report(loaded('nht1-beffio', *made)).page

        memory = ', not cache-honest: it may measure memory'
        honest = '; the largest that is cache-honest: 150 MB/s on 1 process, 15 min per partition (*)'
        for of, first, said, beside in (
                (((150, True), (2300, False), (140, True)), '2.30 GB/s', memory, honest),
                (((150, False), (120, False)), '150 MB/s', memory, ''),
                (((150, True), (120, False)), '150 MB/s', '', ''), (((150, None), (9000, True)), '150 MB/s', '', '')):
            with self.subTest(of=of):
                found = page(*of)
                heading, = (p['text'] for p in found.parts if p.get('id') == 'beffio-systems')
                self.assertEqual(heading, 'b_eff_io of this system: %s (definition 1.x)%s' % (first, said))
                sentence, = (p for p in found.parts if p.get('text', '').startswith('The largest valid'))
                self.assertEqual(re.sub(r'\([^)]*json\)', '(*)', sentence['text']), (
                    'The largest valid value by definition 1.x: %s on 1 process, 15 min per partition (*)%s%s.' % (first, said, beside)))
                self.assertEqual(sentence['mark'], 'warn' if said else 'plain')
                verdict = [(p['text'].partition(')')[2], p['mark']) for p in found.parts
                           if p['kind'] == 'text' and p['text'].startswith('b_eff_io = ')]
                self.assertEqual(verdict, [
                    (': not valid as a result.', 'warn') if value == 9000 else (memory + '.', 'warn') if honest is False else ('.', 'plain')
                    for value, honest in of])

    def test_options_that_change_what_is_measured_are_named(self):
        for name, key, values, shown in (
                ('beffio', 'mb', (16, 512), ['--mb 16', '--mb 512']), ('beffio', 'count', ('definition', 'all'), ['no --count', '--count all']),
                ('beffio', 'termination', ('definition', 'per-call'), ['no --termination', '--termination per-call']),
                ('beff', 'random', (30, 5), ['no --random', '--random 5']), ('beff', 'lmax', (0, 65536), ['no --lmax', '--lmax 65536'])):
            with self.subTest(key):
                roots = [root_of(name), root_of(name)]
                for root, value in zip(roots, values):
                    root['options'][key] = value
                found = loaded('nht1-' + name, *((root, {}) for root in roots))
                report = Report(found)
                self.assertEqual([report.way(r) for r in found], shown)
                self.assertEqual(len({p.line for p in trend._of_results(found, 'b_eff_io' if name == 'beffio' else 'b_eff')[0]}), 2)

    def test_numbers_of_nodes_keep_results_apart_where_they_do_not_follow_the_ranks(self):
        for kind, name, metric in (('nht1-beff', 'beff', 'b_eff'), ('nht1-beffio', 'beffio', 'b_eff_io')):
            for placed, lines in ((((2, 1), (4, 2)), ['2 ranks', '4 ranks']),
                                  (((4, 1), (4, 2), (2, 1)), ['4 ranks, on 1 node', '4 ranks, on 2 nodes', '2 ranks, on 1 node'])):
                with self.subTest(kind, placed=placed):
                    roots = [root_of(name) for _ in placed]
                    for root, (ranks, nodes) in zip(roots, placed):
                        root['system'].update(ranks=ranks, nodes=nodes)
                    found = loaded(kind, *((root, {}) for root in roots))
                    self.assertEqual([p.line for p in trend._of_results(found, metric)[0]], lines)
            one, two = (loaded(kind, *[(root_of(name), {})] * 2) for _ in range(2))
            for r in two:
                r.root['system']['nodes'] = 2
            self.assertIn('on 1 node in A is compared with on 2 nodes in B', Comparison(one, two, nevertheless=True).notes)

    def test_the_largest_chunk_that_follows_other_memory_is_noted(self):
        a, b = self.of_hints()[::2], self.of_hints()[::2]
        for r in b:
            r.root['schedule']['m_part_bytes'] *= 4
        self.assertIn('M_PART, the largest chunk, which follows the memory, is 2 MiB in A, 8 MiB in B',
                      Comparison(results.Results(a), results.Results(b), nevertheless=True).notes)

    def test_a_trend_of_one_line_names_it_by_its_ranks(self):
        points, common = trend._of_results(loaded('nht1-beff', (root_of('beff'), {})), 'b_eff')
        self.assertEqual([p.line for p in points], ['2 ranks'])
        self.assertTrue(common.startswith('2 ranks, definition paper'), common)

    def test_over_times_each_number_of_processes_has_a_line(self):
        made = []
        for procs, minutes, value in ((2, 10, 1e9), (16, 10, 8e9), (2, 30, 9e8), (16, 30, 7e9)):
            root = root_of('beffio')
            root['b_eff_io'].update(bytes_per_s=value, valid=True)
            root['system']['ranks'] = procs
            root['schedule']['partition_s'] = 60 * minutes
            made.append((root, {}))
        figure, = (f for f in Report(loaded('nht1-beffio', *made)).page.figures if f.name == 'beffio-times')
        lines = {line: [y for _, y, *_ in points] for (_, line), points in figure.data.items() if 'rank' in line}
        self.assertEqual(sorted(lines.values()), [[1000, 900], [8000, 7000]])

    def test_a_trend_keeps_problems_apart_that_have_one_name(self):
        def of(**problem):
            root = bt_result(started_utc='2026-01-01T00:00:00Z')
            root['problem'].update(problem)
            return root
        found = loaded('nht1-bt', *((root, {}) for root in (of(), of(), of(layout='ijkm'), of(dt=0.02), of(last=True))))
        points = [p for p in trend._of_cells(found, 't_t', 0.95)[0] if p.line == 'posix']
        name = 'N = 12, 60 steps, a dump every 10, dt = %s, %s kept, --sync end, %s, 2 processors'
        self.assertEqual([(p.what, p.line) for p in points], [(name % words, 'posix') for words in (
            ('0.01', 'all dumps', 'mijk'), ('0.01', 'all dumps', 'mijk'), ('0.01', 'all dumps', 'ijkm'), ('0.02', 'all dumps', 'mijk'),
            ('0.01', 'one dump', 'mijk'))])
        self.assertEqual({p.what for p in trend._of_cells(loaded('nht1-bt', (of(), {}), (of(), {})), 't_t', 0.95)[0]},
                         {'N = 12, 60 steps, a dump every 10, --sync end, 2 processors'})

    def test_variables_of_a_study_are_named_with_b_eff(self):
        root = root_of('beff')
        found = loaded('nht1-beff', *((root, {'OMPI_MCA_btl': value}) for value in ('self,vader', 'self,tcp')))
        page = Report(found).page
        self.assertEqual([line.split('"')[1].rpartition(', OMPI_MCA_btl=')[2] for line in rows(page, 'beff')[1:3]], ['self,vader', 'self,tcp'])
        headings = [p['text'] for p in page.parts if p['kind'] == 'section' and p['text'].startswith('Communication')]
        self.assertEqual([h.rpartition('=')[2] for h in headings], ['self,vader', 'self,tcp'])
        self.assertEqual(len({p.line for p in trend._of_results(found, 'b_eff')[0]}), 2)

    def test_a_comparison_has_each_way_with_its_own_and_names_another(self):
        plain, hinted = (results.Results(r for i, r in enumerate(self.of_hints() + self.of_hints()) if i % 2 == k) for k in (0, 1))
        c = Comparison(plain, hinted, nevertheless=True)
        self.assertIn('no hints, MPI-IO component unknown in A is compared with hint write:cb_nodes=1, romio321 in B', c.notes)
        self.assertEqual(round(c.primary.numbers['ratio'], 3), 2)
        c = Comparison(results.Results(plain + hinted), hinted, nevertheless=True)
        self.assertEqual((c.verdict, c.primary.numbers['ratio']), (SAME, 1))
        self.assertIn('nht1-beffio, no hints, MPI-IO component unknown: nothing like it in B', c.notes)


if __name__ == '__main__':
    unittest.main()
