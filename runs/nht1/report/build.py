# SPDX-License-Identifier: GPL-3.0-or-later
"""A report out of results: what its parts share, and their order."""
from .. import text
from ..reading import Dumps
from ..results import NAN, Runs, items, members, positive, real, stamps, word
from . import (part_balance, part_beff, part_beffio, part_bt, part_profile, part_system,
               part_verdict, part_workload)
from .page import Page

PARTS = (part_verdict, part_bt, part_beff, part_beffio, part_workload, part_profile, part_balance,
         part_system)
# A verdict over several results follows the rule of the programs: rounds enough, and the interval
# on one side of the goal.
GOAL, ROUNDS_MIN = 0.10, 5


class Report:
    """ask: stats.ask, the only source of statistics. mtbf_hours, downtime_s: of cycle.py."""

    def __init__(self, results, ask, level=0.95, title=None, mtbf_hours=(), downtime_s=0.0):
        self.results, self.ask, self.level = results, ask, level
        self.runs = Runs(results)
        self.runs.judge(ask, level)
        self.dumps = Dumps(self.runs, ask, level)
        self.mtbf_hours, self.downtime_s = mtbf_hours, downtime_s
        root = self.first.root if self.first else {}
        self.page = Page(title or '%s %s, %s' % (
            'Does I/O keep up?' if self.runs.all else 'Communication and file access:',
            word(root, 'system.host')[:60] or 'host unknown',
            word(root, 'system.cpu.model')[:100] or 'processor unknown'))
        if results:
            self.page.lead.append(self._when())
        for part in PARTS:
            part.add(self)

    @property
    def first(self):
        """The first result that says what it was measured on."""
        return next((r for r in self.results if word(r.root, 'system.host')), self.results[0]
                    if self.results else None)

    def _when(self):
        """When and by what versions it was measured."""
        times = sorted(t for r in self.results for t in (r.started_utc, r.ended_utc) if t)
        versions = sorted({word(r.root, 'version') for r in self.results} - {''})
        span = 'when is not recorded' if not times else 'on ' + times[0] if \
            times[0][:10] == times[-1][:10] else 'from %s to %s' % (times[0], times[-1])
        return 'Measured %s, with version%s %s; %s%s.' % (
            span, '' if len(versions) == 1 else 's', ', '.join(versions) or 'unknown',
            text.plural(len(self.results), 'result'),
            ', ' + text.plural(len(self.runs.all), 'run') if self.runs.all else '')

    @property
    def main_group(self):
        """The first problem that was written: what the headline is about."""
        return next((g for g in self.runs.groups if g.best()), None)

    @property
    def main_cell(self):
        return self.main_group.best() if self.main_group else None

    @staticmethod
    def one_result(cell):
        """The result that all runs of a cell come from, None when there are several."""
        found = {id(r.result): r.result for r in cell.runs}
        return next(iter(found.values())) if len(found) == 1 else None

    def row_of(self, cell):
        """What the program says about the writer of a cell over its rounds, {} when the cell has
        runs of several results."""
        result = self.one_result(cell)
        return next((row for row in items(result.root, 'ranking')
                     if word(row, 'driver') == cell.writer), {}) if result else {}

    def zeta_of(self, cell):
        """What zeta is made of and the paired zeta: of one result as its program says, over several
        results from the pairs of all. NaN where it is not known."""
        row = self.row_of(cell)
        if row:
            paired = members(row, 'paired')
            return {'io': real(row, 'zeta_io'), 'compute': real(row, 'zeta_compute'),
                    'rounds': int(max(0, real(paired, 'rounds_n'))) if paired else 0,
                    'paired': real(paired, 'zeta'), 'lo': real(paired, 'ci95_lo'),
                    'hi': real(paired, 'ci95_hi')}
        pairs = self._pairs(cell)
        parts = [(real(r.json, 'zeta_io'), real(r.json, 'zeta_compute')) for r in cell.runs]
        parts = [p for p in parts if p[0] == p[0] and p[1] == p[1]]
        asked = [{'what': 'summary', 'values': [p[k] for p in parts]} for k in (0, 1) if parts]
        if pairs:
            asked.append({'what': 'paired', 'a': [c for c, _ in pairs], 'b': [t for _, t in pairs],
                          'level': self.level, 'seed': 1993})
        answers = self.ask(asked) if asked else []

        def of(answer, key, less=0):
            return NAN if answer.get(key) is None else answer[key] - less
        pair = answers[-1] if pairs else {}
        return {'io': of(answers[0], 'median') if parts else NAN,
                'compute': of(answers[1], 'median') if parts else NAN, 'rounds': len(pairs),
                'paired': of(pair, 'ratio', 1),
                'lo': of(pair, 'ratio_lo', 1) if len(pairs) > 1 else NAN,
                'hi': of(pair, 'ratio_hi', 1) if len(pairs) > 1 else NAN}

    def _pairs(self, cell):
        """(T_C, T_T) of rounds that hold a compute-only run and one of the cell."""
        alone = {(id(r.result), r.round): r.t_t_s for r in self.runs.all if not r.writes}
        pairs = []
        for r in cell.runs:
            t_c_s = positive(real(r.json, 't_c_round_s'))
            if t_c_s != t_c_s:
                t_c_s = alone.get((id(r.result), r.round), NAN)
            if t_c_s == t_c_s:
                pairs.append((t_c_s, r.t_t_s))
        return pairs

    def stamps_of(self, cell):
        """Stamps of a cell, those of the whole first. Over several results, what one of them says
        about its own rounds alone gives way to a verdict over all."""
        result = self.one_result(cell)
        if result:
            found = stamps(self.row_of(cell)) + result.stamps
        else:
            verdict = self._verdict_over_all(cell)
            found = [verdict] if verdict else []
        own = ('balanced', 'not-balanced', 'undecided', 'implied-rate')
        found += [s if s['runs'] == cell.n else dict(s, sentence='%s (%d of %d runs)' % (
            s['sentence'].rstrip('.'), s['runs'], cell.n)) for s in cell.stamps()
                  if result or s['code'] not in own]
        return list({s['code']: s for s in reversed(found)}.values())[::-1]

    def _verdict_over_all(self, cell):
        if not any(r.result.judged for r in cell.runs):
            return None
        z = self.zeta_of(cell)
        if z['paired'] != z['paired']:
            return None
        said = 'Over %s of several results the paired zeta is %s' % (
            text.plural(z['rounds'], 'round'), text.zeta(z['paired']))
        if z['lo'] == z['lo']:
            said += ' (%s to %s)' % (text.zeta(z['lo']), text.zeta(z['hi']))
        code, severity, word_ = 'undecided', 'note', 'Undecided'
        if z['rounds'] >= ROUNDS_MIN and z['hi'] <= GOAL:
            code, severity, word_ = 'balanced', 'good', 'Balanced'
        elif z['rounds'] >= ROUNDS_MIN and z['lo'] > GOAL:
            code, severity, word_ = 'not-balanced', 'bad', 'Not balanced'
        return {'code': code, 'severity': severity, 'numbers': {},
                'sentence': "%s: %s; NAS's goal is at most 0.10." % (word_, said)}
