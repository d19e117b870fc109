# SPDX-License-Identifier: GPL-3.0-or-later
"""Rounds of several results on a page."""
import unittest
from types import SimpleNamespace
from unittest import mock

from nht1 import stats
from nht1.report import rounds
from nht1.report.rounds import Rounds


def run(t_t_s, started_utc, writes=True):
    return SimpleNamespace(t_t_s=t_t_s, round=1, environment=(), writes=writes, writer='posix' if writes else 'none', json={},
                           result=SimpleNamespace(started_utc=started_utc, root={}, run={}, study_round=None))


class Pairs(unittest.TestCase):
    def test_a_run_is_paired_with_computing_alone_of_its_own_job_and_then_of_its_own_settings(self):
        def job(point, sync, *times):
            result = SimpleNamespace(root={}, run={'settings': {'sync': sync, 'io': point}}, study_round=('s', 1), started_utc='')
            made = [run(t, '', w) for t, w in times]
            for r in made:
                r.result, r.configuration = result, ('c',)
            return made
        # Two jobs of one round of a study, the first on a slower machine, each with its own computing alone.
        slow, fast = (job('none,posix', sync, (t, False), (1.25 * t, True)) for sync, t in (('end', 2.0), ('dump', 1.0)))
        paired = Rounds(SimpleNamespace(all=slow + fast), 0.95)
        self.assertEqual([paired.t_c_s(r) for r in (slow[1], fast[1])], [2.0, 1.0])
        # Points of their own: the one with its settings, whatever stands first.
        alone = job('none', 'end', (3.0, False)) + job('none', 'dump', (4.0, False))
        for order in (alone, alone[::-1]):
            paired = Rounds(SimpleNamespace(all=order), 0.95)
            self.assertEqual([paired.t_c_s(job('posix', sync, (5.0, True))[0]) for sync in ('end', 'dump', 'none')][:2], [3.0, 4.0])
        # A setting that the run does not have counts against a point, wherever that stands.
        plain = job('none', 'end', (3.0, False))
        more = job('none', 'end', (4.0, False))
        more[0].result.run['settings']['layout'] = 'records'
        for order in (plain + more, more + plain):
            self.assertEqual(Rounds(SimpleNamespace(all=order), 0.95).t_c_s(job('posix', 'end', (5.0, True))[0]), 3.0)
        self.assertIsNone(Rounds(SimpleNamespace(all=[]), 0.95).t_c_s(fast[1]))


class InTime(unittest.TestCase):
    def asked(self, *runs):
        """The values of zeta that nht1-stats is asked about; results in the order of their names."""
        found = Rounds(SimpleNamespace(all=[]), 0.95)
        with mock.patch.object(found, 't_c_s', return_value=1.0), \
                mock.patch.object(found, '_alone', return_value=run(1.0, '', False)), \
                mock.patch.object(stats, 'ask', side_effect=lambda requests: [requests[0]]):
            return found._judged_writing(SimpleNamespace(runs=list(runs)))['zeta']

    def test_drifts_are_looked_for_in_the_order_of_measuring(self):
        first, tenth, second = run(1.5, '2026-01-01T10:00:00Z'), run(2.5, '2026-01-01T10:09:00Z'), run(2.0, '2026-01-01T10:01:00Z')
        self.assertEqual(self.asked(first, tenth, second), [0.5, 1.0, 1.5])

    def test_what_goes_on_until_it_is_decided_is_judged_so_with_what_was_made_before(self):
        def stages(records, folders=('s',)):
            runs = [run(1.5, '2026-01-01T10:%02d:00Z' % i) for i in range(len(records))]
            for i, (r, record) in enumerate(zip(runs, records)):
                r.result.run, r.result.study_round = record, (folders[i % len(folders)], i)
            return rounds._stages(runs)
        auto, longer, given, more = {'rounds_max': 8}, {'rounds_max': 64}, {'rounds_given': 7}, {'rounds_given': 20}
        self.assertEqual(stages([auto] * 5), [{'rounds_max': 8}])
        self.assertEqual(stages([auto] * 8), [{'rounds_max': 8}])
        self.assertEqual(stages([{}] * 7 + [longer]), [{'rounds': 7}, {'rounds_max': 64}])
        self.assertEqual(stages([given] * 7 + [more] * 13), [{'rounds': 7}, {'rounds': 20}])
        self.assertEqual(stages([auto] * 8 + [longer] * 3), [{'rounds': 8, 'rounds_max': 8}, {'rounds_max': 64}])
        self.assertEqual(stages([longer] * 8 + [auto] * 3), [{'rounds_max': 64}])
        self.assertEqual(stages([auto] * 8 + [more] * 12), [{'rounds': 8, 'rounds_max': 8}, {'rounds': 20}])
        self.assertEqual(stages([auto] * 16), [{'rounds': 15, 'rounds_max': 8}, {'rounds': 16}])
        # Several studies: a look at all there are, which is the only one where no plan depends on what was measured.
        self.assertEqual(stages([auto, more] * 10, ('s', 't')), [{'rounds': 19, 'rounds_max': 8}, {'rounds': 20}])
        self.assertEqual(stages([given, more] * 10, ('s', 't')), [])
        # A damaged record is none of a plan, or of the longest.
        self.assertEqual(stages([{'rounds_max': 1 << 40}, {'rounds_max': 3}, {'rounds_max': -9}, {'rounds_max': 'a'}]), [
            {'rounds': 1, 'rounds_max': 500}, {'rounds': 4}])
        self.assertEqual(len(stages([auto, more] * 100)), 2)

    def test_where_one_does_not_tell_its_start_the_order_is_that_of_the_names(self):
        first, tenth, second = run(1.5, '2026-01-01T10:00:00Z'), run(2.5, None), run(2.0, '2026-01-01T10:01:00Z')
        self.assertEqual(self.asked(first, tenth, second), [0.5, 1.5, 1.0])


class Beside(unittest.TestCase):
    def test_rounds_far_above_the_goal_are_told_where_the_median_meets_it_and_the_mean_does_not(self):
        for answer, mean, told in (('balanced', 0.28, True), ('io-faster-than-needed', 0.28, True), ('io-too-slow', 0.28, False),
                                   ('balanced', 0.1, False)):
            clause, numbers = rounds._but({'answer': answer, 'mean': mean, 'above_n': 9, 'n': 36})
            self.assertEqual(clause, '; in 9 of 36 rounds zeta lies above 0.10, the mean is 0.28' if told else '')
            self.assertEqual(numbers, {'zeta_mean': 0.28, 'rounds_above_n': 9} if told else {})
