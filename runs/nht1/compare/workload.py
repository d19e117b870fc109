# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns and working points of nht1-workload: those that both sides have."""
from typing import NamedTuple

from .. import results, text, ways
from . import systems
from .metric import RUNS_MIN, Metric, known


def compare(found, sides):
    whole = systems.leave_out_cut_short(found, sides)
    for name, side, ended in zip('AB', sides, whole):
        for outcome, why, of in (('wrong', 'the data were wrong', side), ('unfinished', 'interrupted or failed', ended)):
            n = sum(results.outcome(m) == outcome for r in of for m in results.measurements(r.root))
            if n:
                found.notes.append('%s: %s left out: %s' % (name, text.plural(n, 'measurement'), why))
    sides = [[r for r in side if _measured([r], ways.ResultWays([r]))] for side in whole]
    for name, side in zip('AB', sides):
        if not side:
            found.reasons.append('%s has no pattern and no working point that came to its end '
                                'with the right data' % name)
            return
    apart = []  # why nothing of a part is compared
    for both, whose in found.each(systems.results_pairs(found, sides)):
        measured_with = ways.ResultWays(both[0] + both[1])
        apart += _part(found, [_measured(side, measured_with) for side in both], whose)
    (found.notes if found.metrics else found.reasons).extend(apart)


def _part(found, measured, whose):
    """Returns why nothing of it is compared."""
    pairs = []
    for what, mine in measured[0].items():
        others = measured[1].get(what, {})
        for how, one in mine.items():
            if how in others:
                pairs.append((one, others[how]))
            elif len(mine) == len(others) == 1:
                pairs.append((one, *others.values()))
    every = [[one for its in side.values() for one in its.values()] for side in measured]
    all_ways = ways.Ways(one.how for side in every for one in side)
    if not pairs and set(measured[0]) & set(measured[1]):
        return [text.of('A and B have nothing in common that was measured in the same way', whose) + ': %s in A, %s in B' % tuple(
            '; '.join(dict.fromkeys(all_ways.name(one.how) for one in side)) for side in every)]
    if not pairs:
        one, other = (dict(next(iter(side))) for side in measured)
        return [text.of('A and B have no pattern and no working point in common', whose)] + [
            '%s: %s in A, %s in B' % (key, *(known(side[key]) if key in side else 'not set' for side in (one, other)))
            for key in {**one, **other} if one.get(key) != other.get(key)]
    for i, (side, letter, there) in enumerate(zip(every, 'AB', 'BA')):
        used = {id(pair[i]) for pair in pairs}
        lonely = [one for one in side if id(one) not in used]
        numbers = {}
        for one in lonely:
            way = all_ways.name(one.how)
            numbers[way] = numbers.get(way, 0) + len(one.mine)
        for way, n in numbers.items():
            found.notes.append(text.of('%s of %s' % (text.plural(n, 'measurement'), letter), way, whose) + ': nothing like it in ' + there)
        of = [{m.round[0] for one in ones for m in one.mine} for ones in (lonely, [one for one in side if id(one) in used])]
        found.apart |= of[0] - of[1]
    varied = {key for key in {k for p in pairs for k, _ in p[0].what}
              if len({dict(p[0].what).get(key) for p in pairs}) > 1}
    names = ways.Ways(one.how for one, _ in pairs)
    before = len(found.metrics)
    named = [(text.of(pair[0].name(varied), names.name(pair[0].how), whose), pair) for pair in pairs]
    lost = _one_sample(found, named)
    for name, (one, other) in named:
        if one.how != other.how:
            found.note('%s in A is compared with %s in B' % tuple(
                ways.shown(m.how) or 'the default' for m in (one, other)))
        found.notes += ['%s, %s: %s left out: from memory' % (name, letter, text.plural(len(m.left_out), 'measurement'))
                        for letter, m in zip('AB', (one, other)) if m.left_out]
        if one.memory != other.memory:
            found.notes.append('%s is not compared: it measured memory in %s only' % (
                name, 'A' if one.memory else 'B'))
            continue
        kept = [[m for m in side.mine if m.round not in lost[i]] for i, side in enumerate((one, other))]
        if not all(kept):
            found.notes.append('%s is not compared: in each round of a side it or another pattern has met memory' % name)
            continue
        found.measured = (found.measured or set()) | {m.part for side in kept for m in side}
        found.metrics.append(Metric(name, 'bytes/s', *([m.rate for m in side] for side in kept), True, 'bandwidth',
                                    tuple([m.round for m in side] for side in kept)))
    if len(found.metrics) > before:
        return []
    return [text.of('one side measured memory, the other one files' if all(one.memory != other.memory for one, other in pairs) else
                    'too few rounds have no measurement that met memory', whose)]


def _one_sample(found, named):
    """Of patterns that are compared, (name, pair), the rounds of each side in which one of them has met memory: they are left out of all, so
    that what is left is one sample. First the patterns themselves are left out that would leave too few rounds."""
    def lost(i):
        return {out.round for _, pair in compared for out in pair[i].left_out}

    def too_few(i):
        there = {one.round for _, pair in compared for one in pair[i].all}
        return len(there - lost(i)) < RUNS_MIN <= len(there)
    compared = [(name, pair) for name, pair in named if pair[0].memory == pair[1].memory]
    while any(map(too_few, (0, 1))):
        worst = max(compared, key=lambda one: max(len(m.left_out) for m in one[1]))
        compared.remove(worst)
        named.remove(worst)
        found.notes.append('%s is not compared: of its measurements %s in A and %s in B have met memory' % (
            worst[0], *('%d of %d' % (len(m.left_out), len(m.all)) for m in worst[1])))
    both = [lost(i) for i in (0, 1)]
    if len(compared) > 1:
        found.notes += ['%s: %s left out, in which a pattern has met memory' % (letter, text.plural(len(rounds), 'round'))
                        for letter, rounds in zip('AB', both) if rounds]
    return both


class One(NamedTuple):
    """A measurement. part: id() of what the result says of it."""
    rate: float
    round: tuple  # id() of the result, which of its own
    memory: bool  # it met memory
    part: int


class Measured:
    """What nht1-workload measured in one way: a pattern or a working point. what: what must agree
    on both sides; how: what may be compared."""

    def __init__(self, what, how):
        self.what, self.how, self.all = what, how, []

    @property
    def memory(self):
        """What met memory counts where nothing else was measured."""
        return all(one.memory for one in self.all)

    @property
    def left_out(self):
        return [one for one in self.all if one.memory != self.memory]

    @property
    def mine(self):
        return [one for one in self.all if one.memory == self.memory]

    def name(self, varied):
        """With what tells it from the others."""
        what = dict(self.what)
        shown = [what.pop('pattern'), text.processes(what.pop('processes'))]
        for key in what:
            if key in varied:
                shown.append('%s %s' % (key, text.size_iec(what[key]) if key == 'record' else
                                        known(what[key])))
        return ', '.join(shown)


def _measured(side, measured_with):
    """{what: {how: Measured}} of results of nht1-workload, wrong and unfinished ones left out. measured_with: ways.ResultWays."""
    found = {}
    for r in side:
        how = tuple((key, value) for key, value in measured_with.of(r) if key not in ('sync', 'think', 'set.files'))  # these must agree
        common = (('processes', results.integer(r.root, 'system.ranks', 1)),
                  ('durability (--sync)', results.word(r.root, 'options.sync')),
                  ('thinking', results.true(r.root, 'options.think')))
        for which, numbers in NUMBERS.items():
            for i, m in enumerate(results.items(r.root, which), 1):
                rate = results.real(m, 'bytes_per_s')
                if results.outcome(m) or not rate > 0:
                    continue
                name, *rest = numbers(r.root, m, i)
                what = (('pattern', name), *common, *rest)
                one = found.setdefault(what, {}).setdefault(how, Measured(what, how))
                one.all.append(One(rate, (id(r), sum(other.round[0] == id(r) for other in one.all)),
                                   any(s['code'] == 'page-cache' for s in results.stamps(m)), id(m)))
    return found


def _phase(_, phase, __):
    """Its name, and what it is known by."""
    return (results.word(phase, 'title'), ('record', results.integer(phase, 'record_bytes')),
            ('method', results.word(phase, 'method')), ('access', results.word(phase, 'access')),
            ('memory', 'strided' if results.true(phase, 'memory_strided') else 'contiguous'),
            ('file', results.word(phase, 'file')), ('fraction', results.real(phase, 'fraction')),
            *((key, value if isinstance(value, (int, float)) else str(value))
              for key, value in sorted(results.members(phase, 'settings').items())))


def _point(root, point, number):
    asked = results.members(point, 'asked')
    functions = ways.functions_of(point)
    return ('point %d%s' % (number, ', ' + functions[0] if len(functions) == 1 else ''),
            ('files', results.word(root, 'mode')),
            ('nonblocking collective calls', ways.style_of(point) or 'none'),
            *((key, results.real(asked, key)) for key in asked))


def _replay(root, replay, _):
    """The accesses of a program: the same file of them if they are as many and move as much."""
    return ('accesses %s' % results.word(root, 'description').rpartition('/')[2],
            ('replayed processes', results.integer(replay, 'processes_n')),
            ('calls', sum(results.integer(c, 'n') for c in results.items(replay, 'calls'))),
            ('bytes', results.integer(replay, 'bytes')))


NUMBERS = {'phases': _phase, 'points': _point, 'replays': _replay}
