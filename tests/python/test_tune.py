# SPDX-License-Identifier: GPL-3.0-or-later
"""runs/study tune: which way is taken, what it costs, and how it is told."""
import argparse
import random
import re
import unittest
from types import SimpleNamespace

from nht1.search import command_of, near
from nht1.study.tune import Tuner, component_names
from nht1.study.tune_choice import Choice, Ratio
from nht1.study.tune_ways import Way, plain, settings_of
from nht1.study.tune_words import _checked


def rounds(seconds, spread, seed, n=20):
    """{round: seconds}, with noise that is as often up as down."""
    noise = random.Random(seed)
    return {i: seconds * (1 + spread * noise.uniform(-1, 1)) for i in range(1, n + 1)}


class Checking(unittest.TestCase):
    """--exhaustive, --against"""
    check = {'same': False, 'best': 'a', 'candidates_n': 6, 'rounds': 12, 'ratio': 1.2, 'lo': 1.1, 'hi': 1.3, 'runs': 24}

    def test_what_was_not_disturbed_is_judged(self):
        self.assertIs(near(dict(self.check, disturbed_runs=11)), False)
        self.assertRegex(_checked(dict(self.check, disturbed_runs=11))[1], ': not within 5 %\\.$')
        self.assertIs(near({'hi': 1.04}), True)  # of an earlier release

    def test_half_of_the_runs_disturbed_is_not(self):
        self.assertIsNone(near(dict(self.check, disturbed_runs=12)))
        self.assertRegex(_checked(dict(self.check, disturbed_runs=12))[1],
                         ': not judged, other programs, .* took processors from the ranks in 12 of 24 runs\\.$')


class Choosing(unittest.TestCase):
    def test_faster_beyond_chance(self):
        choice = Choice([rounds(1, 0.01, 1), rounds(0.8, 0.01, 2), rounds(0.7, 0.01, 3)], [0, 1, 102])
        self.assertEqual((choice.number, choice.verdict), (2, 'winner'))
        self.assertRegex(choice.answer(['posix', 'a', 'b']), r'^b takes 0\.7\d* \(.* of the time of posix\.$')

    def test_tied_winners_the_simplest(self):
        times = [rounds(1, 0.01, 1), rounds(0.8, 0.01, 2), rounds(0.799, 0.01, 3)]
        self.assertEqual(Choice(times, [0, 1, 102]).number, 1)
        self.assertEqual(Choice(times, [0, 102, 1]).number, 2)

    def test_what_half_of_the_runs_were_disturbed_in_is_no_winner(self):
        times = [rounds(1, 0.01, 1), rounds(0.7, 0.01, 2)]
        self.assertEqual(Choice(times, [0, 1], 19).verdict, 'winner')
        choice = Choice(times, [0, 1], 20)
        self.assertEqual((choice.number, choice.verdict, choice.needed), (0, 'undecided', None))
        self.assertEqual(choice.answer(['posix', 'a'], 7.5), (
            'Undecided: posix will do until another way is shown to be faster. Other programs, other virtual machines, a CPU quota or a suspension took '
            'processors from the ranks in 20 of 40 runs of the comparison; measure again when the computer does nothing else, '
            'with no more threads than a quota allows.'))

    def test_it_does_not_matter_only_where_each_search_says_so(self):
        def told(*verdicts):
            tuner = SimpleNamespace(stopped=False, found={'searches': list(verdicts)}, winners=[
                (plain(), {'best': {'verdict': v, 'answer': v + '.'}}) for v in verdicts])
            way = Tuner.final(tuner)
            self.assertEqual(way.key, plain().key)
            return tuner.found['verdict'], tuner.found['answer']
        self.assertEqual(told('no winner', 'no winner'), ('no winner', 'no winner.'))
        self.assertEqual(told('no winner', 'undecided'), ('undecided', 'undecided.'))

    def test_no_winner(self):
        choice = Choice([rounds(1, 0.004, 1), rounds(0.999, 0.004, 2)], [0, 1])
        self.assertEqual((choice.number, choice.verdict), (0, 'no winner'))
        self.assertIn('It does not matter: posix will do.', choice.answer(['posix', 'a']))

    def test_wide_intervals_do_not_say_that_it_does_not_matter(self):
        choice = Choice([rounds(1, 0.1, 1), rounds(1, 0.1, 2), rounds(1.5, 0.1, 3)], [0, 1, 2])
        self.assertTrue(all(r.known() for r in choice.against.values()))
        self.assertEqual((choice.number, choice.verdict), (0, 'undecided'))
        self.assertGreater(choice.needed, 20)
        self.assertRegex(choice.answer(['posix', 'a', 'b']), r'^Undecided: posix will do .* --rounds \d+, would tell\.$')

    def test_what_is_surely_slower_needs_no_narrow_interval(self):
        choice = Choice([rounds(1, 0.1, 1, 12), rounds(1.5, 0.1, 3, 12)], [0, 1])
        self.assertEqual((choice.number, choice.verdict), (0, 'no winner'))

    def test_less_than_two_percent_make_no_difference(self):
        choice = Choice([rounds(1, 0.0005, 1), rounds(0.99, 0.0005, 2)], [0, 1])
        self.assertLess(choice.against[1].hi, 1)
        self.assertEqual((choice.number, choice.verdict), (0, 'no winner'))

    def test_few_rounds_decide_nothing(self):
        choice = Choice([rounds(1, 0.01, 1, 3), rounds(0.5, 0.01, 2, 3)], [0, 1])
        self.assertEqual((choice.number, choice.verdict), (0, 'undecided'))
        self.assertIn('The first interval takes 6 rounds of the comparison, --rounds 6 --minutes 7.5.',
                      choice.answer(['posix', 'a'], 7.5))

    def test_no_more_rounds_are_named_than_can_be_asked_for(self):
        for seed in range(20):
            choice = Choice([rounds(1, 0.05, 7 * seed + k) for k in range(3)], [0, 1, 2])
            said = choice.answer(list('pab'), 10)
            named = re.search(r'--rounds (\d+)', said)
            if choice.needed and choice.needed > 500:
                self.assertTrue(said.endswith('--rounds 500, the most that can be judged, would not tell.'), said)
                break
            self.assertTrue(not named or int(named[1]) <= 500, said)
        else:
            self.fail('none needs more than 500')

    def test_undecided_says_how_many_rounds_at_each_share_of_the_error(self):
        # Of three ways each has a third of the error, so the first interval takes more rounds.
        times = [rounds(1, 0.001, k, 6) for k in range(4)]
        choice = Choice(times, [0, 1, 2, 3])
        self.assertEqual(choice.verdict, 'undecided')
        self.assertEqual(choice.needed, 7)
        self.assertIn('The first interval takes 7 rounds of the comparison, --rounds 7.', choice.answer(list('pabc')))
        more = Choice([rounds(1, 0.001, k, choice.needed) for k in range(4)], [0, 1, 2, 3])
        self.assertNotEqual(more.verdict, 'undecided')

    def test_without_plain_writing_the_next_simple_one(self):
        choice = Choice([{}, rounds(1, 0.01, 1), rounds(1, 0.01, 2)], [0, 2, 1])
        self.assertEqual(choice.number, 2)
        self.assertIsNone(Choice([{}, {}], [0, 1]).number)
        self.assertEqual(Choice([{}], [0]).answer(['posix']), 'No way could be measured.')

    def test_all_alike_plain_writing_stays(self):
        kept = sum(Choice([rounds(1, 0.1, 4 * seed + k) for k in range(4)], [0, 1, 2, 3]).number == 0
                   for seed in range(60))
        self.assertGreaterEqual(kept, 57)

    def test_rounds_that_one_lacks_are_left_out(self):
        a, b = rounds(1, 0.01, 1), rounds(0.5, 0.01, 2)
        del b[3]
        self.assertEqual(Ratio(b, a).pairs, 19)


class Ways(unittest.TestCase):
    def test_cost(self):
        def cost(component, label, **options):
            return Way(component, label, options).cost('ompio')
        self.assertEqual(plain().cost('ompio'), 0)
        self.assertEqual(cost('ompio', 'posix --buffer 4Mi', buffer='4Mi'), 1)
        self.assertEqual(cost('ompio', 'mpiio'), 1)
        self.assertEqual(cost('ompio', 'mpiio --hint a=1 --hint b=2', hint='a=1 b=2'), 3)
        self.assertEqual(cost('romio321', 'mpiio'), 101)
        self.assertEqual(cost('romio321', 'async --direct', direct='yes'), 2)
        self.assertGreater(cost('ompio', 'hdf5'), cost('romio321', 'mpiio --hint a=1', hint='a=1'))

    def test_components_are_names_of_folders_and_words_of_descriptions(self):
        self.assertEqual(component_names('ompio,romio321'), ['ompio', 'romio321'])
        for name in ('ompio\nx', '../x', 'a/b', '..', '', 'ompio,,x', 'a b', 'final', '\033[2J', '[x]', 'ompio,ompio', 'x' * 64, 'omp\u00efo'):
            with self.subTest(name), self.assertRaises(argparse.ArgumentTypeError):
                component_names(name)

    def test_settings(self):
        program = SimpleNamespace(name='nht1-bt', options={'buffer': 'BYTES', 'direct': '', 'hint': 'K=V'},
                                  lists=('hint',))
        self.assertEqual(settings_of(['--buffer', '4Mi', '--direct', '--hint=a=1', '--hint', 'b=2'], program),
                         {'buffer': '4Mi', 'direct': 'yes', 'hint': 'a=1 b=2'})

    def test_command(self):
        self.assertEqual(command_of('romio321', "X=1 mpirun nht1-bt --out /tmp/x --hint 'a b'", None),
                         "OMPI_MCA_io=romio321 X=1 mpirun nht1-bt --hint 'a b'")
        self.assertEqual(command_of('', ['nht1-bt', '--out', 'x'], '/d'), 'nht1-bt --out /d/btout.bin')


if __name__ == '__main__':
    unittest.main()
