# SPDX-License-Identifier: GPL-3.0-or-later
"""What a heat map shows of a profile."""
import math
import unittest

from nht1.report import part_profile
from nht1.report.page import Page


def timeline(ranks=(1, 1), written=((4000000, 0), (0, 8000000)), read=((0, 0), (0, 0)), seen=None):
    first, rows = 0, []
    for i, n in enumerate(ranks):
        rows.append({'first_rank': first, 'ranks_n': n, 'ranks_seen_n': n if seen is None else seen[i],
                     'written_bytes': list(written[i]), 'read_bytes': list(read[i])})
        first += n
    return {'begin_s': -1.0, 'bin_s': 1.0, 'by_rank': {'bin_s': 2.0, 'rows': rows}}


def drawn(of, noun='rank', several='ranks'):
    page = Page('')
    part_profile._heat_map(page, of, 'the first MPI_Init', noun, noun, several, '')
    return page.figures


class Rates(unittest.TestCase):
    def test_a_cell_is_megabytes_a_second_at_its_middle(self):
        self.assertEqual(part_profile.rates(timeline(), 'written_bytes'), [
            (0, 0, [(0.0, 2.0)]), (1, 1, [(2.0, 4.0)])])

    def test_a_row_of_many_is_the_mean_of_those_that_were_seen(self):
        rows = part_profile.rates(timeline((8, 5), seen=(4, 5)), 'written_bytes')
        self.assertEqual(rows, [(0, 7, [(0.0, 0.5)]), (8, 12, [(2.0, 0.8)])])

    def test_what_is_no_result_has_none(self):
        broken = timeline()
        broken['by_rank']['rows'][1]['first_rank'] = 7
        for of in ({}, {'by_rank': 3}, {'by_rank': {'bin_s': 1, 'rows': [3]}, 'begin_s': 0}, broken):
            with self.subTest(of):
                self.assertEqual(part_profile.rates(of, 'written_bytes'), [])
                self.assertEqual(drawn(of), [])


class HeatMap(unittest.TestCase):
    def test_panels_share_a_scale_and_what_was_not_done_has_none(self):
        figure, = drawn(timeline(read=((0, 0), (2000000, 0))))
        self.assertEqual([p['name'] for p in figure.panels], ['written', 'read'])
        written, read = (p['cells'] for p in figure.panels)
        self.assertEqual((written['high'], written['low'], written['log']), (4, 0, False))
        self.assertEqual({k: written[k] for k in ('low', 'high', 'x', 'y')},
                         {k: read[k] for k in ('low', 'high', 'x', 'y')})
        self.assertEqual((written['x'], written['y']), ([-1, 3], [-0.5, 1.5]))
        figure, = drawn(timeline())
        self.assertEqual([p['name'] for p in figure.panels], ['written'])
        self.assertEqual(figure.title, 'Writing over time and ranks')
        self.assertEqual(drawn(timeline(written=((0, 0), (0, 0)))), [])

    def test_colours_are_logarithmic_for_rates_far_apart_over_four_decades_at_most(self):
        figure, = drawn(timeline(written=((1, 1000), (1000, 10 ** 9))))
        cells = figure.panels[0]['cells']
        self.assertTrue(cells['log'] and math.isclose(cells['high'] / cells['low'], 1e4))
        self.assertIn('logarithmic', figure.caption)

    def test_rows_of_many_ranks_are_said_and_the_table_has_all(self):
        figure, = drawn(timeline((8, 5)))
        self.assertIn('mean of up to 8 neighbouring ranks', figure.caption)
        table, = figure.tables()
        self.assertEqual(table.columns[1:], ['ranks 0 to 7', 'ranks 8 to 12'])
        self.assertEqual([[shown for shown, _ in row] for row in table.rows],
                         [['0', '0.250', ''], ['2.00', '', '0.800']])


if __name__ == '__main__':
    unittest.main()
