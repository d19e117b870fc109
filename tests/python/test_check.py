# SPDX-License-Identifier: GPL-3.0-or-later
"""runs/study check: which problem is taken, which writer speaks, and how it is told."""
import time
import unittest
from types import SimpleNamespace
from unittest import mock

from nht1 import trouble
from nht1.study import check, drive
from nht1.study.check import choose
from nht1.study.check_words import quote, sentence, writers, wrong

ROOM = {'memory_bytes': 8e9, 'disk_bytes': 100e9}
PROBLEM = {'dump_bytes': 10485760, 'every_s': 0.079}


def pilot(step_s, io=0.2):
    """Of three writers, that take a share more than computing alone."""
    return {'round_s': step_s * (4 + 3 * io), 'run_s': step_s * (1 + io)}


def row(writer, answer, zeta, lo=None, hi=None, reason=None, sentence='A sentence.', **numbers):
    return {'writer': writer, 'answer': answer, 'reason': reason, 'paired': {
        'rounds_n': 12, 'zeta': zeta, 'ci95_lo': lo, 'ci95_hi': hi}, 'terms': {'data': {
            'zeta': zeta, 'ci95_lo': lo, 'ci95_hi': hi}}, 'stamps': [
                {'code': answer, 'severity': 'note', 'sentence': sentence, 'numbers': numbers}]}


def told(*rows):
    return sentence(writers({'ranking': list(rows)})[0], PROBLEM, '/scratch')


class Choosing(unittest.TestCase):
    def test_class_a_where_fifteen_rounds_fit(self):
        self.assertEqual(choose(pilot(0.0065), 110, 3, ROOM), ('A', 200))

    def test_fewer_steps_rather_than_fewer_rounds_that_leave_it_undecided(self):
        # Eight rounds of 200 steps would fit.
        self.assertEqual(choose(pilot(0.0141), 110, 3, ROOM), ('A', 100))
        # Not even 15 of 20 steps: eight.
        self.assertEqual(choose(pilot(0.1), 110, 3, ROOM), ('A', 20))

    def test_class_a_shortened_where_all_of_its_steps_do_not_fit(self):
        # Nine percent too slow for 200 steps: not a twentieth of the work for that.
        self.assertEqual(choose(pilot(0.0073 * 1.09), 110, 3, ROOM), ('A', 180))
        self.assertEqual(choose(pilot(0.05), 110, 3, ROOM), ('A', 20))
        # Slow writing counts as slow computing does.
        self.assertEqual(choose(pilot(0.0075, 5), 110, 3, ROOM), ('A', 40))

    def test_as_long_as_the_disk_holds_it(self):
        self.assertEqual(choose(pilot(0.0075), 110, 3, dict(ROOM, disk_bytes=1e9)), ('A', 140))

    def test_class_w_where_no_part_of_class_a_fits(self):
        self.assertEqual(choose(pilot(0.2), 110, 3, ROOM), ('W', 200))
        self.assertEqual(choose(None, 110, 3, ROOM), ('W', 200))
        # A class W that is over in less than a second could not be judged.
        self.assertEqual(choose(pilot(0.05), 10, 3, ROOM), ('A', 20))

    def test_a_larger_class_where_class_a_is_over_in_less_than_a_second(self):
        self.assertEqual(choose(pilot(0.002), 110, 3, ROOM), ('B', 200))
        self.assertEqual(choose(pilot(0.0005), 110, 3, ROOM), ('C', 200))
        self.assertEqual(choose(pilot(0.002), 110, 3, dict(ROOM, disk_bytes=2e9)), ('A', 200))


class Telling(unittest.TestCase):
    def test_the_writer_whose_data_were_wrong(self):
        right = {'writer': 'a', 'proof': {'state': 'right'}, 'norms': {'ok': True}}
        self.assertEqual(wrong({'runs': [right, {'writer': 'none'}, {'writer': 'b', 'proof': {'state': 'wrong'}}]}),
                         'b: what was written is wrong')
        self.assertEqual(wrong({'runs': [right, {'writer': 'none', 'norms': {'ok': False}}]}), 'none: what was computed is wrong')
        self.assertEqual(wrong({'runs': [right, {'writer': 'none', 'norms': {'ok': None}}]}), '')

    def test_wrong_data_are_no_answer_whatever_ends_the_rounds(self):
        root = {'runs': [{'writer': 'posix', 'proof': {'state': 'wrong'}}], 'ranking': [row('serial', 'io-too-slow', 0.3, 0.2, 0.4)]}
        for status, why, said in ((1, 'interrupted', 'posix: what was written is wrong; interrupted'), (0, None, 'posix: what was'),
                                  (trouble.WRONG, None, 'exit status 2')):
            made = check.Check.__new__(check.Check)
            made.began, made.writers, made.folder = time.monotonic(), ['posix', 'serial'], '/nowhere'
            made.args = SimpleNamespace(minutes=2)
            with mock.patch.object(made, '_start', return_value=(root, status, why)), mock.patch.object(made, '_conclude') as concluded, \
                    mock.patch.object(drive, 'last_words', return_value=''), mock.patch.object(drive, 'refused', return_value=False), \
                    self.assertRaises(trouble.Trouble) as raised:
                made._rounds([])
            self.assertEqual(raised.exception.status, trouble.FAILED)
            self.assertIn(said, str(raised.exception))
            concluded.assert_not_called()

    def test_the_line_to_quote_has_no_blanks_that_fill_a_processors_name(self):
        root = {'version': '9', 'system': {'host': 'h', 'cores_in_use': 2, 'cpu': {'model': 'CPU  9 @ 3 GHz   '}}}
        self.assertEqual(quote(root, 'Said.', '2026-01-31T12:00:00Z'),
                         'nht1 9, h, 2 cores of CPU 9 @ 3 GHz, 2026-01-31: Said.')

    def test_each_answer(self):
        self.assertEqual(told(row('posix', 'balanced', 0.031, 0.024, 0.040)),
                         'Checkpoints of 10.5 MB every 79 ms on /scratch cost 3.1 % (2.4 to 4.0 %) with posix: '
                         'yes, balanced (goal 10 %).')
        self.assertEqual(told(row('posix', 'balanced', 0.031, 0.024, 0.040, zeta_mean=0.28, rounds_above_n=3)),
                         'Checkpoints of 10.5 MB every 79 ms on /scratch cost 3.1 % (2.4 to 4.0 %) with posix: '
                         'yes, balanced (goal 10 %); in 3 of 12 rounds more than 10 %, the mean is 28 %.')
        self.assertEqual(told(row('posix', 'io-faster-than-needed', 0.004, 0.002, 0.005)),
                         'Checkpoints of 10.5 MB every 79 ms on /scratch cost 0.4 % (0.2 to 0.5 %) with posix: '
                         'yes, faster than this computation needs (goal 10 %).')
        self.assertEqual(told(row('posix', 'io-too-slow', 0.233, 0.21, 0.27)),
                         'Checkpoints of 10.5 MB every 79 ms on /scratch cost 23 % (21 to 27 %) with posix: '
                         'no, I/O is too slow: 2.3 times the goal of 10 %.')
        self.assertEqual(told(row('posix', 'not-measurable', 0.2, reason='too-short', sentence=(
            'Not measurable here and now: a run takes 0.2 s; take a larger class.'))),
                         'What checkpoints of 10.5 MB every 79 ms on /scratch cost with posix is not measurable here '
                         'and now: a run takes 0.2 s; take a larger class.')
        self.assertEqual(told(row('posix', 'undecided', 0.11, 0.08, 0.15, rounds_needed_n=27, minutes_needed=4.0)),
                         'Whether checkpoints of 10.5 MB every 79 ms on /scratch cost at most 10 % with posix is '
                         'undecided: 11 % (8.0 to 15 %) in 12 rounds; about 27 rounds, --minutes 4.0, would decide.')
        self.assertTrue(told(row('posix', 'undecided', 0.11, 0.08, 0.15, rounds_needed_n=380)).endswith(
            '; 64 rounds, the most that are made, would not decide.'))

    def test_what_its_own_trial_made_too_short_is_said_to_be_that_and_what_to_run(self):
        def short(n, steps, seconds, fits=lambda cls, steps: True):
            one = dict(writers({'ranking': [row('posix', 'not-measurable', 0.2, reason='too-short', sentence=(
                'Not measurable here and now: a run takes %g s; take a larger class.' % seconds))]})[0], t_t_s=seconds)
            return sentence(one, dict(PROBLEM, n=n, steps=steps), '/scratch', fits=fits)
        self.assertTrue(short(64, 40, 0.5).endswith(
            ': a run takes 0.5 s; the trial by which 40 steps at N = 64 were chosen ran slower, as beside other programs: '
            'run it again, or with --class A --steps 160.'), short(64, 40, 0.5))
        for n, steps, seconds, how in ((64, 120, 0.9, 'B'), (64, 180, 0.8, 'B'), (64, 200, 0.25, 'C'), (24, 200, 0.108, 'A'), (24, 200, 0.05, 'B'),
                                       (102, 200, 0.8, 'C'), (64, 100, 0.99, 'B')):
            self.assertTrue(short(n, steps, seconds).endswith('or with --class %s.' % how), (n, steps))
        self.assertTrue(short(64, 40, 0.5, None).endswith('a run takes 0.5 s; take a larger class.'))
        self.assertTrue(short(64, 40, 0.5, lambda cls, steps: False).endswith('other programs: run it again.'))
        self.assertTrue(short(64, 40, 0.5, lambda cls, steps: cls == 'B').endswith('or with --class B.'))

    def test_headline_says_as_much_slower_as_the_table(self):
        # zeta at most 0.09 and data at most 0.006: bookkeeping and slowdown leave 0.016 to data, not 0.10.
        found = row('posix', 'io-faster-than-needed', 0.085, 0.08, 0.09, data_factor_at_goal=1 + 0.01 / 0.006)
        found['terms']['data'] = {'zeta': 0.005, 'ci95_lo': 0.004, 'ci95_hi': 0.006}
        self.assertIn('needs: data 2.67 times as slow would do (goal 10 %)', told(found))
        del found['stamps'][0]['numbers']['data_factor_at_goal']  # of a writer in the background, not known
        self.assertIn('yes, faster than this computation needs (goal 10 %).', told(found))

    def test_one_writer_that_keeps_up_is_enough_and_only_all_are_too_slow(self):
        slow, kept = row('serial', 'io-too-slow', 0.05), row('mpiio', 'balanced', 0.08, 0.07, 0.09)
        self.assertIn('with mpiio: yes', told(slow, kept))
        self.assertIn('with mpiio is undecided', told(slow, row('mpiio', 'undecided', 0.12)))
        self.assertIn('not measurable', told(slow, row('mpiio', 'not-measurable', 0.12), row('a', 'undecided', 0.1)))
        self.assertIn('with a: no', told(row('serial', 'io-too-slow', 0.3), row('a', 'io-too-slow', 0.2)))


if __name__ == '__main__':
    unittest.main()
