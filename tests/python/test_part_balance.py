# SPDX-License-Identifier: GPL-3.0-or-later
"""What a page says of b_eff_io at two places is the same."""
import json
import os
import types
import unittest

from nht1 import text
from nht1.report import part_balance, part_beffio
from nht1.report.page import Page

RESULT = os.path.join(os.path.dirname(__file__), '..', 'corpus', 'report', 'beffio.json')


class CoffeeCup(unittest.TestCase):
    def test_it_is_that_of_the_partition_whose_value_counts_which_is_not_the_last(self):
        with open(RESULT, encoding='utf-8') as f:
            root = json.load(f)
        write, read = (root['partitions'][0]['coffee_cup'][k] for k in ('write_min', 'read_min'))
        self.assertEqual((root['b_eff_io']['procs'], root['partitions'][-1]['procs']), (1, 2))
        page = Page('')
        of = types.SimpleNamespace(root=root)
        part_beffio._Section(page, of, '', '').add()
        part_balance.add(types.SimpleNamespace(
            page=page, way=lambda r: '', main_cells=[], systems=types.SimpleNamespace(several=False, whose=lambda r: ''),
            results=types.SimpleNamespace(of=lambda kind: [of] if kind == 'nht1-beffio' else [])))
        said, = (p['text'] for p in page.parts if 'coffee-cup rule allows' in p.get('text', ''))
        self.assertIn('%s minutes to write and %s minutes to read' % (text.number(write), text.number(read)), said)
        balance = next(t for t in page.tables if t.name == 'balance')
        self.assertEqual({row[0][0]: row[1][1] for row in balance.rows if row[0][0].startswith('coffee cup')}, {
            'coffee cup: all memory %s, by b_eff_io (not valid as a result)' % did: minutes
            for did, minutes in (('written', write), ('read', read))})


if __name__ == '__main__':
    unittest.main()
