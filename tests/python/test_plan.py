# SPDX-License-Identifier: GPL-3.0-or-later
"""From a description to points and what they will take, without starting anything."""
import unittest

from nht1 import trouble
from nht1.study import description, plan, sweep
from nht1.study.programs import Program, options_of, values


def points(written, system=None, options=None):
    found = description.read('x.ini', written, [])
    return sweep.expand(found, system or {'cores': 4, 'nodes': 1},
                        lambda name, place: Program(name, name, options or {'value': True, 'flag': False}))


class Points(unittest.TestCase):
    def test_the_product_of_the_lists_less_what_the_condition_leaves_out(self):
        found = points('[run]\nprogram = sim\nranks = 1 2\nvalue = 5 7..8\nwhen = ranks + value != 7\n')
        self.assertEqual([(p.ranks, p.value('value')) for p in found],
                         [(1, '5'), (1, '7'), (1, '8'), (2, '7'), (2, '8')])
        self.assertEqual([p.id for p in found], ['p01', 'p02', 'p03', 'p04', 'p05'])

    def test_expressions_see_the_other_keys_and_the_system(self):
        found = points('[run]\nprogram = sim\nvalue = {cores // ranks}\nranks = 1 4\n')
        self.assertEqual([(p.ranks, p.value('value')) for p in found], [(1, '4'), (4, '1')])

    def test_the_time_of_a_study_bounds_what_it_is_said_to_take(self):
        found = points('[run]\nprogram = sim\nvalue = 1..4\n')
        estimates = {p.id: plan.Estimate(20.0) for p in found}
        for minutes, said in ((0, '84 s to 11 min'), (10, '84 s to 10 min'), (1, '60 s of the 84 s that it takes at least')):
            self.assertEqual(plan.summary(found, estimates, lambda point: (1, 8), minutes), said)

    def test_words_for_the_program(self):
        found = points('[run]\nprogram = sim\nvalue = - 3\nflag = yes\nenv.A = 1\n')
        program = Program('sim', '/bin/sim', {'value': True, 'flag': False})
        self.assertEqual([program.arguments(p) for p in found], [['--flag'], ['--value', '3', '--flag']])
        self.assertEqual(found[0].env, {'A': '1'})

    def test_what_is_wrong_is_told_with_file_section_key_and_line(self):
        for written, said in (('[run]\nprogram = sim\nranks = 0\n', r"x.ini:3: \[run\] ranks: '0'"),
                              ('[run]\nprogram = sim\nvalu = 1\n', r'x.ini:3: \[run\] valu: no such key.*value'),
                              ('[run]\nprogram = sim\nvalue = 9..7\n', 'no range from low to high'),
                              ('[run]\nprogram = sim\nvalue = {cores\n', 'has no partner'),
                              ('[run]\nprogram = sim\nranks = 2\nwhen = ranks > 2\n', 'no combination')):
            with self.subTest(said):
                with self.assertRaisesRegex(trouble.Trouble, said):
                    points(written)

    def test_study_and_common_may_be_set_where_the_description_has_neither(self):
        found = description.read('x.ini', '[run a]\nprogram = sim\n', ['study.repeats=6', 'common.value=B'])
        self.assertEqual((found.value('repeats'), found.runs[0][1]['value'].text), ('6', 'B'))
        with self.assertRaisesRegex(trouble.Trouble, r'no \[b\] in x.ini, which has \[run a\]'):
            description.read('x.ini', '[run a]\nprogram = sim\n', ['b.value=1'])

    def test_only_what_differs_is_shown(self):
        found = points('[run]\nprogram = sim\nranks = 1 2\nvalue = 5\n')
        self.assertEqual(sweep.varying(found), ['ranks'])


class Estimates(unittest.TestCase):
    def test_a_run_is_ended_at_ten_times_its_estimate_and_not_before_ten_minutes(self):
        self.assertEqual(plan.Estimate(3.0).limit_s(0), 600)
        self.assertEqual(plan.Estimate(300.0).limit_s(0), 3000)
        self.assertEqual(plan.Estimate(3.0).limit_s(5), 5)
        self.assertEqual(plan.Estimate().limit_s(0), 3600)

    def test_a_run_of_which_nothing_is_known_has_ten_times_the_minutes_that_were_asked_for(self):
        self.assertEqual(plan.unknown_limit_s(2), 3600)
        self.assertEqual(plan.unknown_limit_s(600), 360000)

    def test_the_sum_of_all_points(self):
        found = points('[run]\nprogram = sim\nvalue = 1 2\n')
        known = {p.id: plan.Estimate(59.0, disk_bytes=2000) for p in found}
        said = plan.summary(found, known, lambda point: (1, 2))
        self.assertEqual(said, '2 min to 4 min, 2.00 kB on disk at a time')
        known['p02'] = plan.Estimate(misfits=['too large'])
        self.assertIn('1 of 2 points, the others not known', plan.summary(found, known, lambda point: (1, 1)))
        self.assertEqual(plan.misfits(found, known), [(found[1], 'too large')])


class Results(unittest.TestCase):
    def test_the_headline_is_found_by_its_path(self):
        root = {'runs': [{'driver': 'posix', 't_t_s': 1}, {'driver': 'posix', 't_t_s': 2},
                         {'driver': 'none', 't_t_s': None}], 'x': {'y': 3}}
        self.assertEqual(values(root, 'runs[].t_t_s'), {'posix': [1, 2]})
        self.assertEqual(values(root, 'x.y'), {'': [3]})
        self.assertEqual(values(root, 'x.z'), {})

    def test_options_are_those_that_help_shows(self):
        self.assertEqual(options_of('usage: sim\n  -q, --quiet     say nothing\n  --value X   a value\n text --no\n'),
                         {'quiet': False, 'value': True})
