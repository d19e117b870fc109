# SPDX-License-Identifier: GPL-3.0-or-later
"""Arithmetic in descriptions of studies: what it computes, and that it can do nothing else."""
import unittest

from nht1.study.expression import evaluate, number_or_text, text_of


class Values(unittest.TestCase):
    def test_arithmetic(self):
        names = {'cores': 24, 'ranks': 4, 'name': 'token'}
        for said, value in (('cores // ranks', 6), ('2 ** 3 - 1', 7), ('-ranks', -4),
                            ('max(1, cores / 48)', 1), ('cores % 7', 3), ('7 if ranks > 3 else 8', 7),
                            ('name in ("token", "posix")', True), ('not ranks == 4', False),
                            ('1 < ranks <= 4', True), ('ranks == 1 or cores > 9', True), ('cbrt(-27)', -3)):
            with self.subTest(said):
                self.assertAlmostEqual(evaluate(said, names), value)

    def test_words_that_python_keeps_for_itself(self):
        self.assertTrue(evaluate('class == "A"', {'class': 'A'}))

    def test_what_is_no_arithmetic_is_refused(self):
        for said in ('__import__("os")', '().__class__', 'ranks.real', '[r for r in (1,)]', '"a" * 9',
                     '2 ** 65', '10.0 ** 60 * 10.0 ** 60 * 10.0 ** 60 * 10.0 ** 60 * 10.0 ** 60 * 10.0 ** 60',
                     'nothing', '1 +', '1 / 0', 'lambda: 1', 'max()', 'ranks & 1', '(' * 300):
            with self.subTest(said[:40]):
                with self.assertRaises(ValueError):
                    evaluate(said, {'ranks': 4})

    def test_an_unknown_name_is_told_with_those_there_are(self):
        with self.assertRaisesRegex(ValueError, "'rank' is not known; there are class, ranks"):
            evaluate('rank', {'ranks': 1, 'class': 'A'})


class Words(unittest.TestCase):
    def test_numbers_are_read_as_such(self):
        self.assertEqual([number_or_text(w) for w in ('4', '0.5', 'token', '1e999', 'nan')],
                         [4, 0.5, 'token', '1e999', 'nan'])

    def test_whole_numbers_are_written_whole(self):
        self.assertEqual([text_of(v) for v in (4.0, 0.5, 'x', 7)], ['4', '0.5', 'x', '7'])
        with self.assertRaises(ValueError):
            text_of(float('inf'))
