# SPDX-License-Identifier: GPL-3.0-or-later
"""T_C and zeta of results over time."""
import types
import unittest
from unittest import mock

from nht1 import results
from nht1.report import trend
from support import bt_result


def result(path, root, number=0):
    """number: of the run in a study, 0 outside of studies."""
    return results.Result(path, 'nht1-bt', 1, dict(root, started_utc='2026-01-01T10:00:00Z'), {'run': number} if number else {})


def of_store(root, origin='store'):
    """The same without its compute-only runs."""
    return dict(root, t_c={'origin': origin}, runs=[run for run in root['runs'] if run['driver'] != 'none'])


def lines(metric, *found):
    """(what is drawn, what all have in common, what has no point)"""
    points, common, without = trend._of_cells(results.Results(found), metric, 0.95)
    return [(p.line, round(p.value, 3)) for p in points], common, without


SLOW = bt_result(t_t=(2.2, 2.42, 2.64), t_c=(2.0, 2.2, 2.4))  # T_C of the store: 1.0


class Alone(unittest.TestCase):
    def test_t_c_is_what_the_result_has_measured_and_not_the_best_known(self):
        found = [result('a.json', bt_result()), result('b.json', SLOW)]
        self.assertEqual(lines('t_c', *found), ([('none', 1.01), ('none', 2.2)], '', ''))

    def test_results_whose_t_c_comes_from_elsewhere_have_no_point_and_are_counted(self):
        found = [result('a.json', SLOW)] + [result('%s.json' % o, of_store(SLOW, o)) for o in ('store', 'given')]
        self.assertEqual(lines('t_c', *found), (
            [('none', 2.2)], '', '2 results have no compute-only run and so no point: T_C comes from elsewhere'))


class Zeta(unittest.TestCase):
    def test_it_is_paired_where_the_result_has_computed_alone_in_its_rounds(self):
        self.assertEqual(lines('zeta', result('a.json', SLOW)), ([('posix', 0.1)], 'zeta, paired', ''))
        said = dict(SLOW, ranking=[{'driver': 'posix', 'paired': {'zeta': 0.125, 'rounds_n': 3}}])
        self.assertEqual(lines('zeta', result('a.json', said)), ([('posix', 0.125)], 'zeta, paired', ''))

    def test_and_where_its_study_has(self):
        alone = dict(SLOW, runs=[run for run in SLOW['runs'] if run['driver'] == 'none'][:1])
        wrote = dict(of_store(SLOW), runs=of_store(SLOW)['runs'][:1])
        self.assertEqual(lines('zeta', result('s/runs/p1-r1/result.json', alone, 1), result('s/runs/p2-r1/result.json', wrote, 1)),
                         ([('posix', 0.1)], 'zeta, paired', ''))

    def test_else_by_the_t_c_it_used_which_is_said(self):
        self.assertEqual(lines('zeta', result('a.json', of_store(SLOW))), ([('posix', 1.42)], 'zeta, by the best T_C known', ''))

    def test_what_differs_so_is_not_one_line(self):
        found = [result('a.json', SLOW)] + [result('%s.json' % o, of_store(SLOW, o)) for o in ('store', 'given')]
        self.assertEqual(lines('zeta', *found), ([
            ('posix, paired', 0.1), ('posix, by the best T_C known', 1.42), ('posix, by T_C as given', 1.42)], '', ''))


    def test_it_has_the_interval_of_the_result(self):
        said = dict(SLOW, ranking=[{'driver': 'posix', 'paired': {'zeta': 0.125, 'rounds_n': 8, 'ci95_lo': 0.1, 'ci95_hi': 0.2}}])
        for level, ends in ((0.95, (0.1, 0.2)), (0.99, (results.NAN, results.NAN))):
            (point,), _, _ = trend._of_cells(results.Results([result('a.json', said)]), 'zeta', level)
            self.assertEqual(str((point.low, point.high)), str(ends))


class Versions(unittest.TestCase):
    def test_a_mark_is_where_that_of_a_system_changes_and_not_where_another_system_has_another(self):
        found = []
        for i, (host, version) in enumerate((('a', '1'), ('b', '2'), ('a', '1'), ('b', '2'), ('a', '2'), ('b', '2'))):
            root = dict(bt_result(), version=version, started_utc='2026-01-0%dT10:00:00Z' % (i + 1))
            root['system'] = dict(root['system'], host=host)
            found.append(results.Result('%d.json' % i, 'nht1-bt', 1, root, {}))
        points, *_ = trend._of_cells(results.Results(found), 't_t', 0.95)
        with mock.patch.object(trend.Figure, 'mark') as mark:
            trend._page(points, '', '', types.SimpleNamespace(metric='t_t', title='', level=0.95), found)
        self.assertEqual(sorted({call.args[1] for call in mark.call_args_list}), ['1', '2'])
        self.assertEqual(mark.call_count, 2)  # the first, and that of a, once for its two lines


class OfMemory(unittest.TestCase):
    def test_values_of_b_eff_io_that_may_measure_memory_are_a_line_of_their_own(self):
        found = [results.Result('%d.json' % i, 'nht1-beffio', 1, {
            'started_utc': '2026-01-0%dT10:00:00Z' % (i + 1),
            'b_eff_io': {'definition': '2.1', 'procs': 2, 'valid': True, 'bytes_per_s': 1e6, 'cache_honest': honest}}, {}) for i, honest in enumerate((True, False, True))]
        points, common = trend._of_results(results.Results(found), 'b_eff_io')
        self.assertEqual([p.line.endswith('not cache-honest: it may measure memory') for p in points], [False, True, False])

    def test_a_value_of_fewer_partitions_as_the_run_ended_early_is_not_on_the_line_of_the_others(self):
        found = [results.Result('%d.json' % i, 'nht1-beffio', 1, {
            'started_utc': '2026-01-0%dT10:00:00Z' % (i + 1), 'schedule': {'partitions': [1, 2]},
            'partitions': [{'procs': procs, 'completed': procs == 1 or whole} for procs in (1, 2)],
            'b_eff_io': {'definition': '2.1', 'procs': 2, 'valid': False, 'bytes_per_s': 1e6, 'cache_honest': True}}, {}) for i, whole in enumerate((True, False, True))]
        points, _ = trend._of_results(results.Results(found), 'b_eff_io')
        self.assertEqual(['partitions of 1, 2 processes' in p.line for p in points], [True, False, True])


if __name__ == '__main__':
    unittest.main()
