# SPDX-License-Identifier: GPL-3.0-or-later
"""Rounds of several results on a page."""
import unittest
from types import SimpleNamespace
from unittest import mock

from nht1 import stats
from nht1.report.rounds import Rounds


def run(t_t_s, started_utc, writes=True):
    return SimpleNamespace(t_t_s=t_t_s, round=1, environment=(), writes=writes, writer='posix' if writes else 'none', json={},
                           result=SimpleNamespace(started_utc=started_utc, root={}, run={}))


class InTime(unittest.TestCase):
    def asked(self, *runs):
        """The values of zeta that nht1-stats is asked about; results in the order of their names."""
        rounds = Rounds(SimpleNamespace(all=[]), 0.95)
        with mock.patch.object(rounds, 't_c_s', return_value=1.0), \
                mock.patch.object(rounds, '_alone', return_value=run(1.0, '', False)), \
                mock.patch.object(stats, 'ask', side_effect=lambda requests: [requests[0]]):
            return rounds._judged_writing(SimpleNamespace(runs=list(runs)))['zeta']

    def test_drifts_are_looked_for_in_the_order_of_measuring(self):
        first, tenth, second = run(1.5, '2026-01-01T10:00:00Z'), run(2.5, '2026-01-01T10:09:00Z'), run(2.0, '2026-01-01T10:01:00Z')
        self.assertEqual(self.asked(first, tenth, second), [0.5, 1.0, 1.5])

    def test_what_goes_on_until_it_is_decided_is_judged_so_with_what_was_made_before(self):
        fixed, later = run(1.5, '2026-01-01T10:00:00Z'), run(2.0, '2026-01-01T10:01:00Z')
        later.result.run = {'rounds_max': 64}
        rounds = Rounds(SimpleNamespace(all=[]), 0.95)
        with mock.patch.object(rounds, 't_c_s', return_value=1.0), mock.patch.object(rounds, '_alone', return_value=run(1.0, '', False)), \
                mock.patch.object(rounds, '_judged') as judged:
            rounds._judged_writing(SimpleNamespace(runs=[fixed, later]))
        self.assertEqual(judged.call_args[0][1], 64)

    def test_where_one_does_not_tell_its_start_the_order_is_that_of_the_names(self):
        first, tenth, second = run(1.5, '2026-01-01T10:00:00Z'), run(2.5, None), run(2.0, '2026-01-01T10:01:00Z')
        self.assertEqual(self.asked(first, tenth, second), [0.5, 1.5, 1.0])
