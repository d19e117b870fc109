# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure as a table."""
import unittest

from nht1.report.page import Figure, Page, Table


class Tables(unittest.TestCase):
    def test_a_table_that_says_whose_each_row_is_takes_no_second_column_of_it(self):
        page = Page('x')
        page.section(2, 'one', 'One', 'n1')
        for columns in (['N', 'T_T in s'], ['system', 'N']):
            table = Table(columns[0], '', columns)
            table.row('n2', 2)
            page.table(table)
        self.assertEqual([t.csv().splitlines()[0] for t in page.tables], ['N,T_T in s,system', 'system,N'])

    def test_points_of_a_series_at_the_same_place_are_all_there(self):
        figure = Figure('trend-1', 'T_T')
        figure.panel('', {'label': 'start', 'time': True}, 'T_T in s')
        figure.series('posix', 'line-points', [(60, 1.0), (0, 2.0), (0, 3.0)])
        figure.series('mpiio', 'line-points', [(0, 4.0)])
        table, = figure.tables()
        self.assertEqual([[shown for shown, _ in row] for row in table.rows], [
            ['1970-01-01 00:00', '2.00', '4.00'], ['1970-01-01 00:00', '3.00', ''], ['1970-01-01 00:01', '1.00', '']])
