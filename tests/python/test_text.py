# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers and tables as people and spreadsheets get them."""
import math
import unittest

from nht1 import text


class Numbers(unittest.TestCase):
    def test_digits(self):
        for value, said in ((0, '0'), (3.14159, '3.14'), (99.96, '100'), (1234.5, '1234'), (0.00012345, '0.000123'),
                            (1e9, '1.00e+09'), (None, '-'), (math.nan, '-')):
            with self.subTest(said):
                self.assertEqual(text.number(value), said)

    def test_zeta_has_no_negative_zero(self):
        for x, said in ((-0.0001, '0.000'), (0.0996, '0.100'), (-0.0006, '-0.001'), (-0.25, '-0.250')):
            self.assertEqual(text.zeta(x), said)

    def test_units(self):
        self.assertEqual(text.size(42.4e6), '42.4 MB')
        self.assertEqual(text.size_iec(4096), '4 KiB')
        self.assertEqual(text.rate(1.25e9), '1.25 GB/s')

    def test_times(self):
        for seconds, said in ((250e-9, '250 ns'), (3.42, '3.42 s'), (72, '1 min 12 s'), (7500, '2 h 5 min'),
                              (0, '0 s'), (math.inf, '-')):
            with self.subTest(said):
                self.assertEqual(text.duration(seconds), said)

    def test_rounding_up_carries_into_the_next_unit(self):
        self.assertEqual(text.duration(59.97), '1 min 0 s')
        self.assertEqual(text.size(999.9e6), '1.00 GB')


class Tables(unittest.TestCase):
    def test_numbers_stand_to_the_right_and_words_to_the_left(self):
        self.assertEqual(text.table([['name', 'n'], ['posix', '7'], ['uring', '12']]),
                         'name    n\nposix   7\nuring  12\n')

    def test_wide_characters_take_two_columns(self):
        lines = text.table([['name', 'n'], ['日本', '7'], ['abcd', '8']]).splitlines()
        self.assertEqual(lines[1:], ['日本  7', 'abcd  8'])

    def test_no_cell_is_a_formula(self):
        self.assertEqual(text.csv_cell('=1+1'), "'=1+1")
        self.assertEqual(text.csv_cell('-1.5'), '-1.5')
        self.assertEqual(text.csv_cell('posix'), 'posix')

    def test_numbers_in_full(self):
        self.assertEqual([text.csv_number(v) for v in (3.0, 0.1, None, math.nan)], ['3', '0.1', '', ''])

    def test_lines_are_quoted_where_they_must_be(self):
        self.assertEqual(text.csv_lines([['a', 'b,c'], ['"', '1']]), 'a,"b,c"\n"""",1\n')
