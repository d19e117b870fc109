# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said about a cell over its rounds: zeta in parts, paired zeta, stamps. Where one job made
all of its runs the program has said it. Over several jobs, such as the runs of a study, no program
saw all rounds: they are put together here, and judged by the rule of nht1-bt (bt/judge.c,
docs/zeta.md)."""
import math
from typing import NamedTuple

from .. import stats, text
from ..results import NAN, integer, items, members, real, stamps, word

GOAL, ROUNDS_MIN = 0.10, 5
ROUNDS_MAX = 1000  # of --repeat
VERDICTS = {'balanced': 'good', 'not-balanced': 'bad', 'undecided': 'note'}  # with severity


class Zeta(NamedTuple):
    """Medians; NaN where they are not known."""
    io: float = NAN       # the writer's calls / T_C
    compute: float = NAN  # slower computing beside them
    rounds: int = 0       # with a compute-only run
    paired: float = NAN   # T_T over the T_C of the same round, minus 1
    lo: float = NAN
    hi: float = NAN
    needed: float = ROUNDS_MIN  # rounds for a verdict; over several jobs only


def _round(run, environment):
    """What the runs of a round have in common that are compared with each other. A round is one of
    a study, or of a job outside of studies; T_C that a job measures before its rounds is of the
    first."""
    return (run.result.study_round or id(run.result), max(1, run.round), run.configuration,
            environment)


class Rounds:
    def __init__(self, runs, level):
        self.level, self.alone = level, {}
        for run in sorted((r for r in runs.all if not r.writes), key=lambda r: r.round == 0):
            self.alone.setdefault(_round(run, run.environment), run.t_t_s)

    @staticmethod
    def _said(cell):
        """(result, row): the result that all runs of a cell come from and what the program says
        there about the writer over its rounds. (None, {}) when there are several."""
        found = {id(r.result): r.result for r in cell.runs}
        if len(found) > 1:
            return None, {}
        result = cell.runs[0].result
        return result, next((row for row in items(result.root, 'ranking')
                             if word(row, 'driver') == cell.writer), {})

    def zeta(self, cell):
        _, row = self._said(cell)
        if row:
            paired = members(row, 'paired')
            return Zeta(real(row, 'zeta_io'), real(row, 'zeta_compute'),
                        max(0, integer(paired, 'rounds_n')), real(paired, 'zeta'),
                        real(paired, 'ci95_lo'), real(paired, 'ci95_hi'))
        io, compute = (stats.median(real(r.json, key) for r in cell.runs)
                       for key in ('zeta_io', 'zeta_compute'))
        pairs = [(self._t_c_s(r), r.t_t_s) for r in cell.runs]
        pairs = [p for p in pairs if p[0]]
        if not pairs:
            return Zeta(io, compute)
        answer = stats.ask([{'what': 'paired', 'a': [c for c, _ in pairs],
                             'b': [t for _, t in pairs], 'level': self.level,
                             'goal': 1 + GOAL}])[0]
        ratio, lo, hi = (NAN if answer[k] is None else answer[k] - 1
                         for k in ('ratio', 'ratio_lo', 'ratio_hi'))
        if len(pairs) < ROUNDS_MIN:
            needed = ROUNDS_MIN
        else:
            needed = math.inf if answer['needed_n'] is None else answer['needed_n']
        return Zeta(io, compute, len(pairs), ratio,
                    *(lo, hi) if len(pairs) > 1 else (NAN, NAN), needed)

    def _t_c_s(self, run):
        """Of the compute-only run of its round: one in the same environment, as far as a study set
        that, or else in none; None where there is none."""
        return self.alone.get(_round(run, run.environment), self.alone.get(_round(run, ())))

    def verdict(self, cell):
        """The stamp that says whether writing is balanced; None where there is none: no serial
        file, no T_C, or programs that did not judge yet."""
        result, row = self._said(cell)
        if result:
            return next((s for s in stamps(row) if s['code'] in VERDICTS), None)
        if not cell.serial or cell.zeta != cell.zeta or not any(r.result.judged for r in cell.runs):
            return None
        z, study = self.zeta(cell), any(r.result.study_round for r in cell.runs)
        said = 'over %s of several jobs the paired zeta is %s' % (
            text.plural(z.rounds, 'round'), text.zeta(z.paired))
        if z.lo == z.lo:
            said += ' (%g %% interval %s to %s)' % (
                100 * self.level, text.zeta(z.lo), text.zeta(z.hi))
        if z.rounds == 0:
            code, said = 'undecided', 'zeta is ' + text.zeta(cell.zeta)
            more = ' No round holds a compute-only run to compare with: %s.' % (
                'the study needs points with io = none and the same other settings' if study else
                'use --repeat %d' % ROUNDS_MIN)
        elif z.rounds < ROUNDS_MIN:
            code, more = 'undecided', ' A verdict needs %d rounds: --%s%d.' % (
                ROUNDS_MIN, 'set study.repeats=' if study else 'repeat ', ROUNDS_MIN)
        elif z.hi <= GOAL:
            code, more = 'balanced', ''
        elif z.lo > GOAL:
            code, more = 'not-balanced', ' I/O is too slow for this computation.'
        else:
            code, more = 'undecided', ' The interval lies on both sides of it: %s rounds would ' \
                'decide.' % ('about %d' % z.needed if z.needed <= ROUNDS_MAX else
                             'more than %d' % ROUNDS_MAX)
        return {'code': code, 'severity': VERDICTS[code],
                'numbers': {'rounds_n': z.rounds, 'rounds_needed_n': z.needed},
                'sentence': "%s: %s; NAS's goal is at most %.2f.%s" % (
                    code.replace('-', ' ').capitalize(), said, GOAL, more)}

    def verdict_words(self, cell):
        """The verdict for a table: 'balanced', 'undecided, takes 20 rounds'; '' for none."""
        stamp = self.verdict(cell)
        if not stamp:
            return ''
        needed = real(stamp, 'numbers.rounds_needed_n')
        return stamp['code'].replace('-', ' ') + (
            ', takes %d rounds' % needed if stamp['code'] == 'undecided' and needed <= ROUNDS_MAX
            else '')

    def stamps(self, cell):
        """Stamps of a cell, those of the whole first. Over several jobs, what one of them says
        about its own rounds alone gives way to the verdict over all."""
        result, row = self._said(cell)
        verdict = self.verdict(cell)
        found = stamps(row) + result.stamps if result else [verdict] if verdict else []
        found += [s if s['runs'] == cell.n else dict(s, sentence='%s (%d of %d runs)' % (
            s['sentence'].rstrip('.'), s['runs'], cell.n)) for s in cell.stamps()
                  if result or s['code'] not in (*VERDICTS, 'implied-rate')]
        return list({s['code']: s for s in reversed(found)}.values())[::-1]
