# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said about a cell over its rounds: zeta in parts, paired zeta, stamps. Where one job made
all of its runs the program has said it. Over several jobs, such as the runs of a study, no program
saw all rounds: they are put together here, and judged by the rule of nht1-bt (bt/judge.c,
docs/zeta.md)."""
import math
from typing import NamedTuple

from .. import reading, stats, text
from ..results import NAN, integer, items, members, real, stamps, verdicts, word

GOAL, NEEDLESS, ROUNDS_MIN = 0.10, 0.01, 6
ROUNDS_MAX = 1000  # of --repeat
TERMS = {'data': ('data_s', 0), 'bookkeeping': ('bookkeeping_s', 0), 'slowdown': ('computing_s', 1)}


class Term(NamedTuple):
    """A part of the paired zeta over the rounds: median, and the interval that nht1-stats gives."""
    zeta: float = NAN
    lo: float = NAN
    hi: float = NAN
    sides: tuple = ()  # of the bounds: 'above', 'at or below' or None
    needed: float = ROUNDS_MIN  # rounds that decide about the last bound


class Zeta(NamedTuple):
    """Medians; NaN where they are not known."""
    io: float = NAN       # the writer's calls / T_C
    compute: float = NAN  # slower computing beside them
    rounds: int = 0       # with a compute-only run
    paired: float = NAN   # T_T over the T_C of the same round, minus 1
    lo: float = NAN
    hi: float = NAN
    side: str = None      # of 0.10; over several jobs only, as what follows
    needed: float = ROUNDS_MIN  # rounds for a verdict
    terms: dict = {}      # data, bookkeeping, slowdown -> Term, as far as they are known


WORDS = {'io-faster-than-needed': 'I/O is faster than needed', 'io-too-slow': 'I/O is too slow',
         'not-measurable': 'Not measurable here and now'}


def _interval(words, median, lo, hi):
    return '%s %s%s' % (words, text.zeta(median), '' if lo != lo else ' (%s to %s)' % (
        text.zeta(lo), text.zeta(hi)))


def _of(term, words):
    return _interval(words, term.zeta, term.lo, term.hi)


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
            paired, terms = members(row, 'paired'), members(row, 'terms')
            return Zeta(real(row, 'zeta_io'), real(row, 'zeta_compute'),
                        max(0, integer(paired, 'rounds_n')), real(paired, 'zeta'),
                        real(paired, 'ci95_lo'), real(paired, 'ci95_hi'),
                        terms={name: Term(*(real(terms, '%s.%s' % (name, key))
                                            for key in ('zeta', 'ci95_lo', 'ci95_hi')))
                               for name in TERMS if members(terms, name)})
        io, compute = (stats.median(real(r.json, key) for r in cell.runs)
                       for key in ('zeta_io', 'zeta_compute'))
        pairs = [(self.t_c_s(r), r) for r in cell.runs]
        pairs = [p for p in pairs if p[0]][:stats.ROUNDS_MAX]
        if not pairs:
            return Zeta(io, compute)
        paired = self._term([r.t_t_s / c - 1 for c, r in pairs], [GOAL])
        terms = {}
        for name, (key, off) in TERMS.items():
            values = [real(r.json, key) / c - off for c, r in pairs]
            if all(v == v for v in values):
                terms[name] = self._term(values, [NEEDLESS, GOAL])
        return Zeta(io, compute, len(pairs), paired.zeta, paired.lo, paired.hi, paired.sides[0],
                    paired.needed, terms)

    def _term(self, values, bounds):
        """How many rounds there are has nothing to do with their values: this is the last look."""
        answer = stats.ask([{
            'what': 'sequential', 'error': 1 - self.level, 'final': True, 'rounds_max': max(
                64, len(values)), 'questions': [{'values': values, 'bounds': bounds}]}])[0]
        found = answer['questions'][0]
        known = {k: NAN if found[k] is None else found[k] for k in ('lo', 'hi')}
        needed = found['bounds'][-1]['rounds_needed']
        if len(values) < ROUNDS_MIN:
            needed = ROUNDS_MIN
        return Term(stats.median(values), known['lo'], known['hi'],
                    tuple(b['verdict'] for b in found['bounds']),
                    math.inf if needed is None else needed)

    def t_c_s(self, run):
        """Of the compute-only run of its round: one in the same environment, as far as a study set
        that, or else in none; None where there is none."""
        return self.alone.get(_round(run, run.environment), self.alone.get(_round(run, ())))

    def verdict(self, cell):
        """The stamp that says whether writing is balanced; None where there is none: no serial
        file, no T_C, or programs that did not judge yet."""
        result, row = self._said(cell)
        if result:
            return next((s for s in stamps(row) if s['code'] in verdicts()), None)
        if not cell.serial or cell.zeta != cell.zeta or not any(r.result.judged for r in cell.runs):
            return None
        z, study = self.zeta(cell), any(r.result.study_round for r in cell.runs)
        data, said = z.terms.get('data', Term(sides=(None, None))), _interval(
            'the paired zeta is', z.paired, z.lo, z.hi)
        spoiled = next((s for s in cell.stamps() if s['code'] == 'not-measurable'), None)
        if spoiled and 2 * spoiled['runs'] >= cell.n:
            return dict(spoiled, sentence='%s (%d of %d runs)' % (
                spoiled['sentence'].rstrip('.'), spoiled['runs'], cell.n))
        if z.rounds == 0:
            code, said = 'undecided', 'zeta is ' + text.zeta(cell.zeta)
            more = ' No round holds a compute-only run to compare with: %s.' % (
                'the study needs points with io = none and the same other settings' if study else
                'use --repeat auto')
        elif z.rounds < ROUNDS_MIN:
            code, more = 'undecided', ' No interval before %d rounds: --%s.' % (
                ROUNDS_MIN, 'set study.repeats=%d' % ROUNDS_MIN if study else 'repeat auto')
        elif z.side == 'at or below' and data.sides[0] == 'at or below':
            code, more = 'io-faster-than-needed', ' Of that, %s.' % _of(data, 'data are')
        elif z.side == 'at or below':
            code, more = 'balanced', ''
        elif z.side == 'above' and data.sides[1] == 'above':
            code, more = 'io-too-slow', ' Of that, %s: I/O is too slow for this computation.' % _of(
                data, 'data are')
        elif z.side == 'above' and data.sides[1] == 'at or below':
            other = max(('bookkeeping', 'slowdown'), key=lambda name: z.terms[name].zeta)
            code, more = 'not-measurable', ' It is not data, %s, but %s.' % (
                _of(data, 'which are'), _of(z.terms[other], other))
        else:
            code, needed = 'undecided', z.needed
            if z.side == 'above':
                needed = data.needed
            more = ' %s rounds would decide%s.' % (
                'About %d' % needed if needed <= ROUNDS_MAX else 'More than %d' % ROUNDS_MAX,
                ' whether that is data' if z.side == 'above' else '')
            z = z._replace(needed=needed)
        return {'code': code, 'severity': verdicts()[code],
                'numbers': {'rounds_n': z.rounds, 'rounds_needed_n': z.needed},
                'sentence': "%s: over %s of several jobs %s; NAS's goal is at most %.2f.%s" % (
                    WORDS.get(code, code.capitalize()), text.plural(z.rounds, 'round'), said, GOAL,
                    more)}

    def read_verdict(self, cell, spread):
        """The same about dumps read back in one way; spread: reading.Spread."""
        result, row = self._said(cell)
        if result:
            return self._read_said(spread.readings[0], row)
        if not cell.serial or not any(r.run.result.judged for r in spread.readings):
            return None
        rows = [(r, next((w for w in items(r.run.result.root, 'ranking')
                          if word(w, 'driver') == cell.writer), {})) for r in spread.readings]
        told = [s for s in (self._read_said(*pair) for pair in rows) if s]
        spoiled = [s for s in told if s['code'] == 'not-measurable']
        if spoiled and 2 * len(spoiled) >= spread.n:
            return dict(spoiled[0], sentence='%s (%d of %s)' % (
                spoiled[0]['sentence'].rstrip('.'), len(spoiled), text.plural(spread.n, 'reading')))
        pairs = [(self.t_c_s(r.run) / cell.group.dumps_n, r) for r in spread.readings
                 if self.t_c_s(r.run) and r.data_s == r.data_s][:stats.ROUNDS_MAX]
        if len(pairs) < ROUNDS_MIN:
            return None  # reports of jobs with fewer rounds show T_R alone
        zeta, data = (self._term([of(r) / c for c, r in pairs], [NEEDLESS, GOAL])
                      for of in (lambda r: r.t_r_s, lambda r: r.data_s))
        code = {('at or below', 'at or below'): 'balanced', ('above', 'above'): 'io-too-slow',
                ('above', 'at or below'): 'not-measurable'}.get(
                    (zeta.sides[1], data.sides[1]), 'balanced' if zeta.sides[1] == 'at or below' else 'undecided')
        if code == 'balanced' and data.sides[0] == 'at or below':
            code = 'io-faster-than-needed'
        return {'code': code, 'severity': verdicts()[code], 'numbers': {'rounds_n': len(pairs)},
                'sentence': '%s: over %s of several jobs %s; the goal is at most %.2f. Of that, %s.' % (
                    WORDS.get(code, code.capitalize()), text.plural(len(pairs), 'round'),
                    _of(zeta, 'zeta of reading is'), GOAL, _of(data, 'data are'))}

    @staticmethod
    def _read_said(found, row):
        """What a program says itself of readings such as found. row: of its ranking."""
        node = next((n for n in items(row, 'read')
                     if reading.way_of(found.run, n, found.way.dumps_n) == found.way), {})
        return next((s for s in stamps(node) if s['code'] == word(node, 'answer')), None)

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
                  if result or s['code'] not in (*verdicts(), 'implied-rate')]
        return list({s['code']: s for s in reversed(found)}.values())[::-1]
