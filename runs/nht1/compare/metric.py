# SPDX-License-Identifier: GPL-3.0-or-later
"""A quantity that is compared, and what was found to compare in two sets of results: quantities, reasons why there
is no comparison, and notes."""
import itertools
import json
import math

from .. import results, text

FEW, SAME, UNCLEAR, BETTER, WORSE = 'too few runs', 'same', 'unclear', 'better', 'worse'
NOT = 'not comparable'
ANY = 'any'  # of --fail-on
RUNS_MIN = 4  # values on a side, for a verdict: with fewer there is no 95 % interval
PLAUSIBLE = 1e-99, 1e99  # of ratios beyond there is no number
# What may differ between A and B, for that is what is compared; it is noted.
SYSTEM = (('host', 'system.host'), ('processor', 'system.cpu.model'), ('kernel', 'system.kernel'),
          ('MPI', 'system.mpi.library'), ('compiler', 'system.compiler'),
          ('solver kernel', 'system.solver_kernel'), ('version of nht1', 'version'))


class Metric:
    """A quantity on both sides, values in the order of measuring; .numbers is what nht1-stats says about it.
    group: the name that it shares with those that are taken together for the verdict, '' for none. rounds: for
    each side what round each value is of, its result first: values of several metrics with the same round belong
    together, and values of one result are not independent: it counts once where there are several. Without: a result for each value."""

    def __init__(self, name, unit, a, b, higher_better=False, group='', rounds=None):
        self.name, self.unit, self.a, self.b = name, unit, a, b
        self.higher_better, self.group = higher_better, group
        self.rounds = rounds or tuple([(i,) for i in range(len(side))] for side in (a, b))
        self.where = ''  # on how many processors, of nht1-bt
        self.part = ''  # which of several file systems or MPI libraries it is of
        self.numbers, self.worse_by, self.verdict, self.primary = {}, math.nan, FEW, False
        self.far = ''  # why medians do not decide
        self.means = ''  # that means contradict the verdict

    @property
    def results_n(self):
        """Results, or rounds where they are of one: of the side that has fewer."""
        return min((len({r[0] for r in side}), len(side)) for side in self.rounds)

    @property
    def enough(self):
        """Whether there are values for a verdict."""
        return min(len(self.a), len(self.b)) >= RUNS_MIN

    def asked(self):
        """What nht1-stats is asked, of one of the quantities of a request."""
        jobs = {r[0]: i for i, r in enumerate(r for side in self.rounds for r in side)}
        return {'a': self.a, 'b': self.b, 'a_jobs': [jobs[r[0]] for r in self.rounds[0]],
                'b_jobs': [jobs[r[0]] for r in self.rounds[1]], 'higher_is_better': self.higher_better}

    def judge(self, numbers, threshold, level):
        self.numbers = numbers
        ratio, lo, hi = (numbers[k] for k in ('ratio', 'ratio_lo', 'ratio_hi'))
        self.worse_by = 1 / ratio - 1 if self.higher_better else ratio - 1
        if not self.enough:
            self.verdict = FEW
        elif lo is None:
            self.verdict = UNCLEAR
        elif 1 / (1 + threshold) <= lo and hi <= 1 + threshold:
            self.verdict = SAME
        elif (lo > 1 + threshold or hi < 1 / (1 + threshold)) and numbers['p_corrected'] < 1 - level:
            self.verdict = WORSE if self.worse_by > 0 else BETTER
        else:
            self.verdict = UNCLEAR
        if self.verdict in (SAME, BETTER):
            self._look_at_means(threshold, level)

    def _look_at_means(self, threshold, level):
        """A median says nothing of a few values far from it: where B has more of them than chance gives, and is worse by its mean, it
        is neither the same nor better."""
        n = self.numbers
        ratio = n['mean_ratio']
        worse = 1 / ratio if self.higher_better else ratio
        if worse > 1 + threshold and n['far_p'] is not None and n['far_p'] < 1 - level and \
                n['b_far_n'] * len(self.a) > n['a_far_n'] * len(self.b):
            self.far = '%s, but %d of %d values of B lie more than 1.25 times %s its median, %d of %d of A (means B/A %s)' % (
                'medians are the same' if self.verdict == SAME else 'the median of B is better', n['b_far_n'], len(self.b),
                'below' if self.higher_better else 'above', n['a_far_n'], len(self.a), text.ratio(ratio))
            self.verdict = UNCLEAR
        elif worse > 1 + threshold or self.verdict == SAME and worse < 1 / (1 + threshold):
            self.means = 'means differ: B/A %s' % text.ratio(ratio)

    @property
    def direction(self):
        """Better or worse, where the whole interval is on one side of 1; None for neither."""
        lo, hi = (self.numbers[k] for k in ('ratio_lo', 'ratio_hi'))
        return None if lo is None or lo <= 1 <= hi else WORSE if self.worse_by > 0 else BETTER

    @property
    def interval(self):
        """'1.012 - 1.034', '-' for none."""
        lo, hi = (self.numbers[k] for k in ('ratio_lo', 'ratio_hi'))
        return '-' if lo is None else '%.3f - %.3f' % (lo, hi)

    @property
    def rounds_needed(self):
        """Values on each side that would probably decide; None where it is decided or not known."""
        return self.numbers.get('rounds_needed') if self.verdict in (UNCLEAR, FEW) and not self.far else None

    def shown(self, value):
        return {'bytes/s': text.rate, 's': text.duration, '1': text.zeta}[self.unit](value)

    def json(self):
        return {'name': self.name, 'primary': self.primary, 'unit': self.unit,
                'higher_is_better': self.higher_better, 'a': self.a, 'b': self.b,
                **{k: self.numbers.get(k) for k in (
                    'a_median', 'b_median', 'ratio', 'ratio_lo', 'ratio_hi', 'p', 'p_corrected', 'method', 'jobs',
                    'widening', 'drifting', 'a_far_n', 'b_far_n', 'far_p', 'mean_ratio')},
                'rounds_needed': self.rounds_needed, 'worse_by': self.worse_by, 'verdict': self.verdict}


def of_one_sample(metrics):
    """Whether they were measured in the same rounds, or each in its own, as many in as many results: a mean of them is one of all
    values that there are."""
    return all(set(m.rounds[side]) == set(n.rounds[side]) or
               set(m.rounds[side]).isdisjoint(n.rounds[side]) and _shape(m.rounds[side]) == _shape(n.rounds[side])
               for side in (0, 1) for m, n in itertools.combinations(metrics, 2))


def _shape(rounds):
    """How many of them each result has, in the order of measuring."""
    return tuple(len(list(of)) for _, of in itertools.groupby(rounds, lambda r: r[0]))


def together(metrics, name):
    """The metric of several of one sample, which is the geometric mean of them in each round: what disturbs a round disturbs
    all of them, so that they are one observation."""
    sides = []
    for side in (0, 1):
        values = [(m.a, m.b)[side] for m in metrics]
        for i, m in enumerate(metrics):
            if set(m.rounds[side]) == set(metrics[0].rounds[side]):  # else one by one
                known = dict(zip(m.rounds[side], values[i]))
                values[i] = [known[r] for r in metrics[0].rounds[side]]
        sides.append([math.exp(math.fsum(map(math.log, row)) / len(row)) for row in zip(*values)])
    return Metric('%s, geometric mean over the %d below' % (name, len(metrics)), metrics[0].unit, *sides,
                  metrics[0].higher_better, rounds=metrics[0].rounds)


class Found:
    """What of A and B belongs together. Modules of this package fill it, one per program."""

    def __init__(self):
        self.metrics, self.reasons, self.notes = [], [], []
        self.studied = []  # differences that spoil a comparison unless they are what is studied
        self.apart = set()  # id() of results that are not compared, as the other side has nothing like them
        self.measured = None  # id() of patterns, points and replays that are compared; None: not known
        self.first = ''  # of several quantities of one name why the first one decides
        self.writers = None  # of nht1-bt that are compared: what stamps of others say does not count

    def note(self, words):
        """Once, however many parts of the sides it is true of."""
        if words not in self.notes:
            self.notes.append(words)

    def each(self, pairs):
        """Those of systems.pairs: what is compared meanwhile is of that part."""
        for *both, whose in pairs:
            before = len(self.metrics)
            yield (*both, whose)
            for m in self.metrics[before:]:
                m.part = whose

    def metric(self, name, unit, sides, values, higher_better=False, group=''):
        """values: the numbers of a result; those that are not above 0 are left out."""
        x, y = ({(id(r), i): v for r in side for i, v in enumerate(values(r.root)) if v > 0} for side in sides)
        if x and y:
            self.metrics.append(Metric(name, unit, list(x.values()), list(y.values()), higher_better, group, (list(x), list(y))))

    def system(self, a, b, mounts):
        """mounts: their file systems, None where there is none."""
        for what, path in SYSTEM:
            x, y = (results.of_one_word(results.word(r.root, path)) for r in (a, b))
            if x != y:
                self.note('%s differs: %s in A, %s in B' % (what, known(x[:120]), known(y[:120])))
        one, other = mounts
        if one and other and one != other:
            self.note('file system differs: %s in A, %s in B' % (one.shown, other.shown))

    def agree(self, name, sides, keys, told=None):
        """What differs goes to the reasons, or to told."""
        model, told = sides[0][0], self.reasons if told is None else told
        for result in sides[0] + sides[1]:
            for key in keys:
                x, y = results.at(model.root, key), results.at(result.root, key)
                if x != y:
                    told.append('%s: %s is %s in %s, %s in %s' % (
                        name, key, _json(x), model.shown, _json(y), result.shown))


def known(value):
    if value in (None, ''):
        return 'unknown'
    return '%.12g' % value if isinstance(value, float) else str(value)


def _json(value):
    return 'unknown' if value is None else json.dumps(value)[:60]
