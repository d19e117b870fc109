# SPDX-License-Identifier: GPL-3.0-or-later
"""How computing, communicating and writing go together: one table out of all kinds of results."""
from .. import text
from ..results import NAN, real, true, word
from .page import Table
from .part_beffio import best_partition
from .published import RK01

COFFEE = 'about 10 min [RK01]'


def add(report):
    several = report.systems.several
    table = Table('balance', 'How computing, communicating and writing go together',
                  ['system'] * several + ['quantity', 'value', 'goal'])
    rows = {}  # those of a system stand together

    def row(whose, what, value, shown, goal):
        if value == value:
            rows.setdefault(whose, []).append(([whose] * several) + [what, (value, shown), goal])

    def minutes(whose, what, value):
        row(whose, what, value, text.number(value) + ' min', COFFEE)

    def named(result, valid):
        """What adds to the name of a value whether it is one, and how it was measured."""
        said = '' if true(result.root, valid) else ' (not valid as a result)'
        return lambda what: text.of(what + said, report.way(result))

    for cell in report.main_cells:
        whose = cell.group.whose
        cost = report.rounds.cost(cell)
        row(whose, '%s, what writing costs%s' % (cost.name, '' if cost.holds else ' (not measurable)'), cost.zeta, cost.shown,
            'at most 0.10 [F93]')
        implied = next((s for s in report.rounds.stamps(cell) if s['code'] == 'implied-rate'), None)
        rate = real(implied, 'numbers.rate_bytes_per_s') if implied else NAN
        memory = cell.nodes * real(cell.typical.result.root, 'system.memory.total_bytes')
        if rate > 0:
            minutes(whose, "coffee cup: all memory at %s, nht1-bt's effective write rate%s" % (
                text.rate(rate), ' (page cache)' if cell.page_cache else ''), memory / rate / 60)
    for r in report.results.of('nht1-beff'):
        whose, of = report.systems.whose(r), named(r, 'result.valid')
        b_eff, seconds = real(r.root, 'result.b_eff_bytes_per_s'), real(
            r.root, 'result.total_memory_s')
        row(whose, of('b_eff'), b_eff, text.rate(b_eff), '')
        row(whose, of('all memory communicated at b_eff'), seconds, text.duration(seconds),
            'seconds rather than minutes [RK01]')
        balance = real(r.root, 'balance.bytes_per_flop')
        row(whose, of('b_eff / %s, bytes per flop' % word(r.root, 'balance.rate')), balance,
            text.number(balance), 'larger is better [RK01]')
    for r in report.results.of('nht1-beffio'):
        whose, of = report.systems.whose(r), named(r, 'b_eff_io.valid')
        value = real(r.root, 'b_eff_io.bytes_per_s')
        row(whose, of('b_eff_io'), value, text.rate(value), '')
        for what, key in (('written', 'write_min'), ('read', 'read_min')):
            minutes(whose, of('coffee cup: all memory %s, by b_eff_io' % what),
                    real(best_partition(r.root), 'coffee_cup.' + key))
    for cells in (cells for of in rows.values() for cells in of):
        table.row(*cells)
    report.page.section(2, 'balance', 'Balance')
    report.page.table(table)
    report.page.text(
        'The coffee-cup rule: a balanced system writes its whole memory in about 10 minutes. b_eff '
        'and b_eff_io come from results of nht1-beff and nht1-beffio, given along with those of '
        'nht1-bt. ' + RK01)
