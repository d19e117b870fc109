# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said about a cell over its rounds: zeta in parts, paired zeta, stamps. Where one job made
all of its runs the program has said it. Over several jobs, such as the runs of a study, no program
saw all rounds: they are put together here, and judged by nht1-stats, by the rule of nht1-bt
(base/balance.h, docs/zeta.md)."""
import math
from collections import Counter
from typing import NamedTuple

from .. import reading, stats, text
from ..results import NAN, counted, integer, items, members, real, stamps, true, verdicts, word

GOAL, ROUNDS_MIN = 0.10, 6
PAIRED = 'paired zeta'
SAID_LEVEL = 0.95  # of intervals that programs give themselves
ROUNDS_MAX = 1000  # of --repeat
TERMS = {'data': ('data_s', 0), 'bookkeeping': ('bookkeeping_s', 0), 'slowdown': ('computing_s', 1)}


class Term(NamedTuple):
    """A part of the paired zeta over the rounds: median, and the interval that nht1-stats gives."""
    zeta: float = NAN
    lo: float = NAN
    hi: float = NAN


class Zeta(NamedTuple):
    """Medians; NaN where they are not known."""
    io: float = NAN       # the writer's calls / T_C of the page
    compute: float = NAN  # computing beyond T_C: the rest of zeta
    rounds: int = 0       # with a compute-only run
    paired: float = NAN   # T_T over the T_C of the same round, minus 1
    lo: float = NAN
    hi: float = NAN
    terms: dict = {}      # data, bookkeeping, slowdown -> Term, as far as they are known
    jobs: int = 0         # that count once each, since they have several rounds; 0: every round counts
    level: float = NAN    # of the intervals


def _term_of(found):
    """found: of nht1-stats."""
    return Term(*(NAN if found[k] is None else found[k] for k in ('median', 'lo', 'hi')))


class Cost(NamedTuple):
    """What writing costs as a share of the computation."""
    name: str  # of the zeta that it is
    zeta: float
    lo: float
    hi: float
    holds: bool  # whether it is measurable

    @property
    def paired(self):
        return self.name == PAIRED

    @property
    def shown(self):
        return _interval('', self.zeta, self.lo, self.hi).strip()


class Ratio(NamedTuple):
    """T_T of another writer over that of the first in the same rounds."""
    other: object  # its cell
    rounds: int
    jobs: int      # as in Zeta
    centre: float
    lo: float
    hi: float
    slower: bool   # it takes longer beyond chance
    faster: bool   # it takes less


class Judgement(NamedTuple):
    """A verdict over the rounds: its stamp, None where there is none, and whether more rounds cannot change it."""
    stamp: dict = None
    settled: bool = False


WORDS = {'io-faster-than-needed': 'I/O is faster than needed', 'io-too-slow': 'I/O is too slow',
         'not-measurable': 'Not measurable here and now'}


def _interval(words, median, lo, hi):
    return '%s %s%s' % (words, text.zeta(median), '' if lo != lo else ' (%s to %s)' % (
        text.zeta(lo), text.zeta(hi)))


def _of(term, words):
    return _interval(words, term.zeta, term.lo, term.hi)


def _rescaled(term, off, factor):
    """A term over another T_C: that of the page, where it is of no round. off: of TERMS."""
    return term if factor == 1 else (term + off) * factor - off


def each(jobs):
    """', each of which counts once (2),': follows 'rounds of several jobs' where jobs count, and not every round."""
    return ', each of which counts once (%d),' % jobs if jobs else ''


def _but(found):
    """(clause, numbers) where zeta meets the goal by its median, and not by its mean; found: what nht1-stats says of the balance."""
    if found['answer'] not in ('balanced', 'io-faster-than-needed') or not found['mean'] > GOAL:
        return '', {}
    return '; in %d of %s zeta lies above %.2f, the mean is %.3g' % (
        found['above_n'], text.plural(found['n'], 'round'), GOAL, found['mean']), {'zeta_mean': found['mean'], 'rounds_above_n': found['above_n']}


def _round(run, environment):
    """What the runs of a round have in common that are compared with each other. A round is one of
    a study, or of a job outside of studies. T_C that a job measures besides (round 0) is of none:
    it is measured again where a writing run is faster."""
    return (run.result.study_round or id(run.result), max(1, run.round), run.configuration,
            environment)


def planned(record):
    """How many rounds a study was to make when it made one of them, as stats.stages has it. record: its run.json."""
    most = min(stats.ROUNDS_MAX, integer(record, 'rounds_max'))
    return most if most >= ROUNDS_MIN else -max(0, integer(record, 'rounds_given'))


def _stages(runs):
    """Member "stages" of a request; [] where one look is right: how many rounds there are has nothing to do with their
    values. runs: of the pairs, in their order."""
    first, jobs = {}, stats.jobs(id(r.result) for r in runs)
    for job, run in zip(jobs, runs):
        first.setdefault(job, run)
    if 1 < len(first) < len(runs):  # jobs count
        runs = list(first.values())
    plans = [planned(r.result.run) for r in runs]
    of = {r.result.study_round and (r.result.study_round[0], word(r.result.run, 'point')) for r in runs}
    if len(of) > 1 or None in of:
        return stats.pooled(plans) if max(plans) > 0 else []
    return stats.stages(plans) if len(set(plans)) > 1 or max(plans) > 0 or len(runs) == len(jobs) else []


def _until_decided(stages):
    """Whether rounds go on until it is decided."""
    return any('rounds_max' in s for s in stages)


def _looked_at(found, runs):
    """Of how many of these rounds an interval is. found: of nht1-stats."""
    k = found['looked_at'] if found['zeta']['lo'] is not None else None
    if k is None:
        return len(runs)
    return sum(job < k for job in stats.jobs(id(r.result) for r in runs)) if found['jobs'] else k


def _spoiled(unmeasured, n, what):
    """The stamp, where jobs themselves say that nothing can be concluded from what they measured: the page cache in one
    of them, as nht1-bt has it of its runs, or anything but disturbances, which are counted by round, in half of them.
    unmeasured: (reason, stamp) of each that says so."""
    kept = [(reason, stamp) for reason, stamp in unmeasured if reason == 'page-cache'] or \
        [(reason, stamp) for reason, stamp in unmeasured if reason != 'disturbed']
    if not kept or kept[0][0] != 'page-cache' and 2 * len(kept) < n:
        return None
    most = Counter(reason for reason, _ in kept).most_common(1)[0][0]
    alike = [stamp for reason, stamp in kept if reason == most]
    return dict(alike[0], sentence='%s (%d of %s)' % (alike[0]['sentence'].rstrip('.'), len(alike), text.plural(n, what)))


def _of_some(stamp, n, what):
    """One that results.counted has found, with the number where only some have it."""
    return stamp if stamp['runs'] == n else dict(stamp, sentence='%s (%d of %d %s)' % (
        stamp['sentence'].rstrip('.'), stamp['runs'], n, what))


def _in_time(found, run_of=lambda r: r):
    """In the order of measuring, in which drifts are looked for, where all tell it; names of files say nothing."""
    times = [run_of(f).result.started_utc for f in found]
    return [f for _, f in sorted(zip(times, found), key=lambda pair: pair[0])] if all(times) else found


class Rounds:
    def __init__(self, runs, level):
        self.level, self.alone = level, {}  # the compute-only runs of each round, of a study those of several points
        for run in (r for r in runs.all if not r.writes and r.round > 0):
            self.alone.setdefault(_round(run, run.environment), []).append(run)

    @staticmethod
    def _said(cell):
        """(result, row): the result that all runs of a cell come from and what the program says
        there about the writer over its rounds. (None, {}) when there are several, or when runs that the program counts
        are left out."""
        found = {id(r.result): r.result for r in cell.runs}
        if len(found) > 1:
            return None, {}
        result = cell.runs[0].result
        row = next((row for row in items(result.root, 'ranking') if word(row, 'driver') == cell.writer), {})
        return (None, {}) if integer(row, 'runs_n') > cell.n else (result, row)

    @staticmethod
    def _parts(cell):
        """zeta of the writer's calls, and the rest of it, over the T_C of the page, which is the best of all results; NaN
        where a run does not tell its seconds."""
        in_io = [real(r.json, 'in_io_s') for r in cell.runs]
        io = stats.median(in_io) / cell.t_c_s if all(s == s for s in in_io) else NAN
        return io, cell.zeta - io

    def zeta(self, cell):
        (_, row), (io, compute) = self._said(cell), self._parts(cell)
        if row:
            paired, terms = members(row, 'paired'), members(row, 'terms')
            rounds = max(0, integer(paired, 'rounds_n'))
            factor = 1 if rounds else cell.runs[0].t_c_s / cell.t_c_s
            return Zeta(io, compute, rounds, real(paired, 'zeta'),
                        real(paired, 'ci95_lo'), real(paired, 'ci95_hi'),
                        terms={name: Term(*(_rescaled(real(terms, '%s.%s' % (name, key)), off, factor)
                                            for key in ('zeta', 'ci95_lo', 'ci95_hi')))
                               for name, (_, off) in TERMS.items() if members(terms, name)}, level=SAID_LEVEL)
        pairs = self._pairs(cell.runs)
        if not pairs:
            return Zeta(io, compute)
        stages = _stages([r for _, r in pairs])
        values = {name: [real(r.json, key) / c - off for c, r in pairs] for name, (key, off) in TERMS.items()}
        values = {name: v for name, v in values.items() if all(x == x for x in v)}
        # As they decide: what the intervals of all looks have in common.
        judged = self._judged_writing(cell) if stages and 'data' in values else {}
        values['zeta'] = [r.t_t_s / c - 1 for c, r in pairs]
        jobs = stats.jobs(id(r.result) for _, r in pairs)
        found = {name: judged[name] if name in judged else self._term(v, jobs, stages) for name, v in values.items()}
        terms = {name: _term_of(of) for name, of in found.items()}
        paired = terms.pop('zeta')
        count = (judged if 'zeta' in judged else found['zeta'])['jobs'] or 0
        rounds = _looked_at(judged, [r for _, r in pairs]) if judged else len(pairs)
        return Zeta(io, compute, rounds, paired.zeta, paired.lo, paired.hi, terms, count, self.level)

    def paired(self, cell):
        """Its paired zeta as its program says, or of the rounds of its study; NaN where there is none."""
        said = self.zeta(cell)
        pairs = [r.t_t_s / t - 1 for r, t in ((r, self.t_c_s(r)) for r in cell.runs) if t]
        return Term(said.paired, said.lo, said.hi) if said.paired == said.paired or len(pairs) < cell.n else Term(stats.median(pairs))

    def cost(self, cell):
        """The paired zeta, or where there is none zeta over T_C, in which is what slowed all of a run, too."""
        name, term, verdict = PAIRED, self.paired(cell), self.verdict(cell)
        if term.zeta != term.zeta:
            name = 'zeta over T_C as given' if cell.given else 'zeta over the best T_C'
            term = Term(*(t / cell.t_c_s - 1 for t in (cell.median_s, cell.lo_s, cell.hi_s)))
        return Cost(name, *term, not verdict or verdict['code'] != 'not-measurable')

    def _pairs(self, runs):
        """[(T_C of its round, run)]"""
        return [p for p in ((self.t_c_s(r), r) for r in _in_time(runs)) if p[0]][:stats.ROUNDS_MAX]

    def _term(self, values, jobs, stages):
        """What nht1-stats answers, with the median: of one look at all rounds, where how many of which there are has
        nothing to do with their values, or else of the last look of the stages. Only one run of a pair does I/O: the sign
        test."""
        found = stats.ask([{'what': 'sequential', 'error': 1 - self.level, 'stages': stages, 'questions': [
            {'values': values, 'jobs': jobs, 'symmetric': False, 'bounds': [GOAL]}]}])[0]['questions'][0] if stages else \
            stats.ask([{'what': 'centres', 'level': self.level, 'metrics': [
                {'values': values, 'jobs': jobs, 'symmetric': False}]}])[0]['metrics'][0]
        return dict(found, median=found['centre'] if found['centre'] is not None and (found['jobs'] or found['lo'] is not None)
                    else stats.median(values))

    def _unsteady(self, cell):
        """'drifting' where the paired zeta rises or falls, 'widened' where it may depend on the one before, else ''."""
        pairs = self._pairs(cell.runs)
        found = self._term([r.t_t_s / c - 1 for c, r in pairs], stats.jobs(id(r.result) for _, r in pairs), [])
        return 'drifting' if found['drifting'] else 'widened' if found['widening'] > 1 else ''

    def _judged(self, rounds):
        """What nht1-stats answers, by the rule of nht1-bt. rounds: [(zeta, data, run, node with the evidence of its
        disturbance)]."""
        alone = [members(self._alone(run).json, 'disturbance') for _, _, run, _ in rounds]
        stages = _stages([run for _, _, run, _ in rounds])
        return stats.ask([dict({'stages': stages} if stages else {}, **{
            'what': 'balance', 'level': self.level, 'jobs': stats.jobs(id(run.result) for _, _, run, _ in rounds),
            'zeta': [z for z, _, _, _ in rounds], 'data': [d for _, d, _, _ in rounds],
            'disturbed': [int(true(a, 'disturbed') or true(node, 'disturbance.disturbed'))
                          for a, (_, _, _, node) in zip(alone, rounds)],
            'shared': [int(true(a, 'processors_shared')) for a in alone]})])[0]

    def _judged_writing(self, cell):
        return self._judged([(r.t_t_s / c - 1, real(r.json, 'data_s') / c, r, r.json)
                             for c, r in self._pairs(cell.runs)])

    def _alone(self, run):
        """The compute-only run of its round: one in the same environment, as far as a study set that, or else in
        none; that of its own job before those of others, and of these the one with no other and most of its settings; None where there is
        none."""
        found = self.alone.get(_round(run, run.environment)) or self.alone.get(_round(run, ()), [])
        mine = members(run.result.run, 'settings')

        def rank(r):
            alike = [mine.get(k) == v for k, v in members(r.result.run, 'settings').items() if k != 'io']
            return r.result is run.result, -alike.count(False), alike.count(True)
        return max(found, default=None, key=rank)

    def t_c_s(self, run):
        """T_C of its round; None where there is none."""
        alone = self._alone(run)
        return alone.t_t_s if alone else None

    @staticmethod
    def _said_alone(run):
        """(reason, stamp) of what a job of one round says itself about a run that cannot be measured, None."""
        row = next((w for w in items(run.result.root, 'ranking') if word(w, 'driver') == run.writer), {})
        stamp = next((s for s in stamps(row) if s['code'] == 'not-measurable'), None)
        return (word(row, 'reason'), stamp) if stamp else None

    def verdict(self, cell):
        """The stamp that says whether writing is balanced; None where there is none: no serial
        file, no T_C, or programs that did not judge yet."""
        return self.judgement(cell).stamp

    def judgement(self, cell):
        """The same, and whether more rounds could change it."""
        result, row = self._said(cell)
        if result:
            return Judgement(next((s for s in stamps(row) if s['code'] in verdicts()), None))
        if not cell.serial or cell.zeta != cell.zeta or not any(r.result.judged for r in cell.runs):
            return Judgement()
        spoiled = _spoiled([t for t in map(self._said_alone, cell.runs) if t], cell.n, 'run')
        if spoiled:
            return Judgement(spoiled, True)
        return self._over_rounds(cell)

    def _over_rounds(self, cell):
        """What the pairs of runs come to."""
        z, study = self.zeta(cell), any(r.result.study_round for r in cell.runs)
        pairs = [r for _, r in self._pairs(cell.runs)]
        stages = _stages(pairs) if pairs else []
        later = [n for n in stats.looks(self.level, stages) if n > (z.jobs or z.rounds)] if _until_decided(stages) else []
        zeta = _interval('the paired zeta is', z.paired, z.lo, z.hi)
        code, needed, settled, but = 'undecided', ROUNDS_MIN, False, ('', {})
        if z.rounds == 0:
            zeta = 'zeta is ' + text.zeta(cell.zeta)
            more = ' No round holds a compute-only run to compare with: %s.' % (
                'the study needs points with io = none and the same other settings' if study else
                'use --repeat auto')
        elif z.rounds < ROUNDS_MIN and not _until_decided(stages):
            more = ' No interval before %d rounds%s: --%s.' % (
                ROUNDS_MIN, self._minutes(cell, ROUNDS_MIN).rstrip(','),
                'set study.repeats=%d' % ROUNDS_MIN if study else 'repeat auto')
        elif 'data' not in z.terms:
            more = ' The results do not say what of it data are.'
        elif z.lo != z.lo and later:
            needed = later[0]
            more = ' The first interval comes with %s.' % (
                text.plural(needed, 'job') if z.jobs else
                text.plural(needed, 'round') + self._minutes(cell, needed).rstrip(','))
            needed = math.ceil(needed * z.rounds / z.jobs) if z.jobs else needed
        else:
            found = self._judged_writing(cell)
            data, code, settled, but = z.terms['data'], found['answer'], found['settled'], _but(found)
            more = {'io-faster-than-needed': ' Of that, %s.' % _of(data, 'data are'),
                    'io-too-slow': ' Of that, %s: I/O is too slow for this computation.' % _of(data, 'data are')}.get(code, '')
            if found['why']:
                more = ' %s.' % text.sentence(found['why'])
            elif code == 'not-measurable':
                other = max((name for name in ('bookkeeping', 'slowdown') if name in z.terms),
                            key=lambda name: z.terms[name].zeta, default='data')
                more = ' It is not data, %s, but %s.' % (_of(data, 'which are'), _of(z.terms[other], other))
            elif code == 'undecided' and z.lo != z.lo and (self._unsteady(cell) if z.jobs else z.rounds >= ROUNDS_MIN):
                n, what = z.jobs or z.rounds, 'jobs' if z.jobs else 'rounds'
                by_chance = n < self.steady and self._unsteady(cell) != 'drifting'
                needed = math.ceil(self.steady * (z.rounds / z.jobs if z.jobs else 1)) if by_chance else None
                more = ' No interval: the %s rise, fall or depend on the one before, so something else goes on here.' % what \
                    if not by_chance else ' No interval: the %s seem to depend on the one before, as so few (%d) do by chance in three of ten ' \
                    'cases; %d have one as a rule.' % (what, n, self.steady)
            elif code == 'undecided' and z.jobs:
                needed, more = None, ' More jobs would decide, rather than more rounds in each%s.' % (
                    ', whether that is data' if z.lo > GOAL else '')
            elif code == 'undecided':
                needed = found['rounds_needed'] or ROUNDS_MAX + 1
                more = ' %s rounds%s would decide%s.' % (
                    'About %d' % needed if needed <= ROUNDS_MAX else 'More than %d' % ROUNDS_MAX,
                    self._minutes(cell, needed), ' whether that is data' if z.lo > GOAL else '')
        return Judgement({
            'code': code, 'severity': verdicts()[code],
            'numbers': {'rounds_n': z.rounds, 'rounds_needed_n': needed, **but[1]},
            'sentence': "%s: over %s%s%s %s; NAS's goal is at most %.2f%s.%s" % (
                WORDS.get(code, code.capitalize()), text.plural(z.rounds, 'round'),
                ' of several jobs' if len({id(r.result) for r in cell.runs}) > 1 else '', each(z.jobs), zeta, GOAL, but[0], more)},
            settled)

    def read_verdict(self, cell, spread):
        """The same about dumps read back in one way; spread: reading.Spread."""
        return self.read_judgement(cell, spread).stamp

    def read_judgement(self, cell, spread):
        result, row = self._said(cell)
        if result:
            return Judgement(self._read_said(spread.readings[0], row))
        if not cell.serial or not any(r.run.result.judged for r in spread.readings):
            return Judgement()
        rows = [(r, next((w for w in items(r.run.result.root, 'ranking')
                          if word(w, 'driver') == cell.writer), {})) for r in spread.readings]
        answers = [(word(self._read_node(*pair), 'reason'), self._read_said(*pair)) for pair in rows]
        spoiled = _spoiled([(reason, stamp) for reason, stamp in answers if stamp and stamp['code'] == 'not-measurable'],
                           spread.n, 'reading')
        if spoiled:
            return Judgement(spoiled, True)
        pairs = [(self.t_c_s(r.run) / cell.group.dumps_n, r) for r in _in_time(spread.readings, lambda r: r.run)
                 if self.t_c_s(r.run) and r.data_s == r.data_s][:stats.ROUNDS_MAX]
        if len(pairs) < ROUNDS_MIN:
            return Judgement()  # reports of jobs with fewer rounds show T_R alone
        found = self._judged([(r.t_r_s / c, r.data_s / c, r.run, r.json) for c, r in pairs])
        rounds = _looked_at(found, [r.run for _, r in pairs])
        zeta, data = (_term_of(found[of]) for of in ('zeta', 'data'))
        code, but = found['answer'], _but(found)
        return Judgement({
            'code': code, 'severity': verdicts()[code], 'numbers': {'rounds_n': rounds, **but[1]},
            'sentence': '%s: over %s of several jobs%s %s; the goal is at most %.2f%s. Of that, %s.%s' % (
                WORDS.get(code, code.capitalize()), text.plural(rounds, 'round'), each(found['jobs']),
                _of(zeta, 'zeta of reading is'), GOAL, but[0], _of(data, 'data are'),
                ' %s.' % text.sentence(found['why']) if found['why'] else '')}, found['settled'])

    @staticmethod
    def _read_node(found, row):
        """What a program says itself of readings such as found. row: of its ranking."""
        return next((n for n in items(row, 'read')
                     if reading.way_of(found.run, n, found.way.dumps_n) == found.way), {})

    def _read_said(self, found, row):
        """The stamp of its answer."""
        node = self._read_node(found, row)
        return next((s for s in stamps(node) if s['code'] == word(node, 'answer')), None)

    def read_stamps(self, cell, spread):
        """Stamps of dumps read back in one way, without the answer: what a program says over its rounds, or else that of
        each reading."""
        result, row = self._said(cell)
        node = self._read_node(spread.readings[0], row) if result else {}
        if node:
            return [s for s in stamps(node) if s['code'] != word(node, 'answer')]
        return [_of_some(s, spread.n, 'readings') for s in counted(r.stamps for r in spread.readings)]

    @property
    def steady(self):
        """Rounds that have an interval in nine of ten cases, where they do not depend on each other: 12 at 95 %."""
        return 2 * self.least(1)

    def least(self, others_n):
        """The fewest rounds with which slower() can tell one from as many others: if all ratios are on one side."""
        return math.ceil(1 + math.log2(max(1, others_n) / (1 - self.level)))

    def slower(self, cell, others):
        """[Ratio] by the sign test, corrected for as many others. Those that have no round in common are left out."""
        def by_round(c):
            return {(r.result.study_round or id(r.result), max(1, r.round)): r.t_t_s for r in c.runs}
        mine, pairs = by_round(cell), []
        for other in others:
            its = by_round(other)
            both = [k for k in mine if k in its][:stats.ROUNDS_MAX]
            if both:
                pairs.append((other, {'a': [mine[k] for k in both], 'b': [its[k] for k in both], 'symmetric': False,
                                      'jobs': stats.jobs(job for job, _ in both)}))
        if not pairs:
            return []
        found = stats.ask([{'what': 'centres', 'level': self.level, 'metrics': [dict(m, against=1) for _, m in pairs]}])[0]
        return [Ratio(other, m['n'], m['jobs'] or 0, m['centre'], m['lo'], m['hi'],
                      *(m['p_corrected'] <= 1 - self.level and beyond for beyond in (m['centre'] > 1, m['centre'] < 1)))
                for (other, _), m in zip(pairs, found['metrics'])]

    def _minutes(self, cell, rounds):
        """', some 4.0 minutes,': what so many rounds of this point take, with computing alone."""
        round_s = cell.median_s + stats.median(self.t_c_s(r) for r in cell.runs)
        return ', some %s minutes,' % text.number(rounds * round_s / 60, 2) if round_s == round_s and \
            rounds <= ROUNDS_MAX else ''

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
        found += [_of_some(s, cell.n, 'runs') for s in cell.stamps()
                  if result or s['code'] not in (*verdicts(), 'implied-rate')]
        return list({s['code']: s for s in reversed(found)}.values())[::-1]
