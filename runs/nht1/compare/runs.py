# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of nht1-bt: cells of A with those of B that fit them best."""
import math

from .. import reading, results, text
from ..report.rounds import Rounds
from . import systems
from .metric import Metric, known


def compare(found, sides, level):
    whose = systems.of_both(sides)
    sides = [results.Runs(side, level, whose) for side in sides]
    for name, side in zip('AB', sides):
        if not side.groups:
            found.reasons.append('%s has no run that came to its end with the right result' %
                                name)
            return
        for n, why in ((side.wrong, 'what was computed or written was wrong'),
                       (side.unfinished, 'interrupted, failed or continued')):
            if n:
                found.notes.append('%s: %s left out: %s' % (name, text.plural(n, 'run'), why))
        found.apart |= set(map(id, side.without))
    pairs = systems.pairs(found, [side.groups for side in sides], lambda a, b: _problem(a) == _problem(b))
    of_round = [Rounds(side, level) for side in sides]

    def t_c_s(run):
        """Of the compute-only run of the same round, None where there is none."""
        return of_round[0].t_c_s(run) or of_round[1].t_c_s(run)
    problems = [_problem(one) for one, _, _ in pairs]
    varied = [what for what in problems[0] if len({p[what] for p in problems}) > 1] if pairs else []
    compared = []
    for one, other, whose in found.each(pairs):
        problem = _problem(one)
        compared += _group(found, one, other, t_c_s, text.of(*('%s = %s' % (what, known(problem[what])) for what in varied), whose))
    if compared:
        alone = {id(run.result) for pair in pairs for group in pair[:2] for cell in group.cells for run in cell.runs}
        found.apart |= alone - {id(run.result) for cell in compared for run in cell.runs}
    # T_T / T_C of some writers alone is no quantity that decides.
    if sum(m.group == 'T_T / T_C' for m in found.metrics) < sum(m.group == 'T_T' for m in found.metrics):
        found.metrics[:] = [m for m in found.metrics if m.group != 'T_T / T_C']
    if not pairs:
        one, other = (_problem(side.groups[0]) for side in sides)
        for what in one:
            if one[what] != other[what]:
                found.reasons.append('%s: %s in A, %s in B' % (
                    what, known(one[what]), known(other[what])))


def _group(found, one, other, t_c_s, whose):
    """Returns the cells of both that are compared."""
    found.system(*(g.cells[0].runs[0].result for g in (one, other)), (one.fs, other.fs))
    made = [(a, b) for a, b in ((cell, _partner(cell, other.cells)) for cell in one.cells) if b and _partner(b, one.cells) is a]
    for a, b in made:
        _cell(found, a, b, t_c_s, whose)
    compared = [cell for pair in made for cell in pair]
    for group, there in ((one, 'B'), (other, 'A')):
        for cell in group.cells:
            if cell not in compared:
                found.note('%s: nothing like it in %s' % (
                    text.of('%s on %s' % (cell.label, text.plural(cell.processors, 'processor')), whose), there))
    if not made:
        both = [w for w in dict.fromkeys(c.writer for c in one.cells if c.writes) if w in (c.writer for c in other.cells)]
        found.reasons.append('%s (N = %d)' % (
            'no setting of %s in A is nearer to one in B than to another' % ', '.join(both) if both else
            'A and B have no writer in common', one.n))
    return compared


def _by_round(cell, value):
    """{(result, round, which of it): value} of the runs of a cell that have one above 0."""
    found, seen = {}, {}
    for run in cell.runs:
        here = id(run.result), run.round
        seen[here] = seen.get(here, 0) + 1
        v = value(run)
        if v > 0 and math.isfinite(v):
            found[(*here, seen[here])] = v
    return found


def _cell(found, a, b, t_c_s, whose):
    found.writers = (found.writers or set()) | {a.writer}
    if a.writes:
        if a.page_cache != b.page_cache:
            found.reasons.append('durability: %s measured the page cache in %s only' % (
                a.label, 'A' if a.page_cache else 'B'))
        if a.verified != b.verified:
            found.notes.append('%s: verified in %s only' % (a.label, 'A' if a.verified else 'B'))
        if a.oversubscribed or b.oversubscribed:
            found.notes.append('%s: oversubscribed in %s' % (
                a.label, 'both' if a.oversubscribed and b.oversubscribed else
                'A' if a.oversubscribed else 'B'))
        if a.identity != b.identity:
            found.notes.append('%s in A is compared with %s in B' % (_spelled(a, b), _spelled(b, a)))
    where = text.of(text.plural(a.processors, 'processor') if a.processors == b.processors else
                    '%d against %d processors' % (a.processors, b.processors), whose)
    # What computes alone is named by what tells it from another one: T_C, 1x2x1.
    of = ' of ' + a.label if a.writes else a.label[len(a.writer):]
    quantities = [('T_T' if a.writes else 'T_C', 's', lambda run: run.t_t_s)]
    if a.writes:
        quantities += [('T_T / T_C', '1', lambda run: run.t_t_s / (t_c_s(run) or math.nan)),
                       ('writing rate', 'bytes/s', lambda run: run.write_rate)]
    for name, unit, value in quantities:
        x, y = (_by_round(cell, value) for cell in (a, b))
        if x and y and (unit != '1' or len(x) == a.n and len(y) == b.n):
            found.metrics.append(Metric(
                '%s%s, %s' % (name, of, where), unit, list(x.values()), list(y.values()), unit == 'bytes/s',
                name if a.writes and unit != 'bytes/s' else '', (list(x), list(y))))
            found.metrics[-1].where = where
    _read_back(found, a, b, of, where)


def _read_back(found, a, b, of, where):
    one, other = reading.by_way(a), reading.by_way(b)
    for side, wrong in zip('AB', map(reading.wrong_n, (a, b))):
        if wrong:
            found.notes.append('T_R%s, %s: %s in %s found wrong data, left out' % (
                of, where, text.plural(wrong, 'reading'), side))
            if not (one, other)['AB'.index(side)]:
                return
    if bool(one) != bool(other):
        found.notes.append('T_R%s, %s: read back in %s only' % (of, where, 'A' if one else 'B'))
        return
    for way in one:
        name = 'T_R%s, %s, %s' % (of, way, where)
        if way not in other:
            found.notes.append('%s: nothing like it in B' % name)
            continue
        both, missed = [side[way][0] for side in (one, other)], [side[way][0][0].missed for side in (one, other)]
        found.notes += ['%s, %s: %s' % (name, letter, reading.left_out(side[way][1]))
                        for letter, side in zip('AB', (one, other)) if side[way][1]]
        if missed[0] != missed[1]:
            found.notes.append('%s is not compared: the dump was %s in all readings of %s' % (
                name, missed[0] or missed[1], 'A' if missed[0] else 'B'))
            continue
        found.metrics.append(Metric(name, 's', *([r.t_r_s for r in side] for side in both), rounds=tuple(
            [(id(r.run.result), i) for i, r in enumerate(side)] for side in both)))


def _problem(group):
    """What both sides must agree in, by the names that people know."""
    return {'N': group.n, 'steps': group.steps, 'dt': group.dt, 'write interval': group.interval,
            'dumps': group.dumps_n, 'layout': group.layout, 'durability (--sync)': group.sync}


def _spelled(cell, other):
    """What tells it from the other one."""
    return ', '.join([cell.writer] + [results.option_shown(k, v) for k, v in cell.identity.items()
                                      if k != 'writer' and v != other.identity.get(k)])


def _fit(a, b):
    """How well two cells fit each other, None: not at all. The more of the configuration agrees the
    better."""
    if a.writer != b.writer:
        return None
    rest = [k for k in {**a.identity, **b.identity} if k not in ('writer', 'ranks', 'threads')]
    agree = sum(a.identity.get(k) == b.identity.get(k) for k in rest)
    return ((a.ranks, a.threads) == (b.ranks, b.threads), a.processors == b.processors,
            a.token_group == b.token_group, agree - len(rest))


def _partner(cell, cells):
    """The best fit, unless another one fits as well."""
    fits = [(f, c) for f, c in ((_fit(cell, c), c) for c in cells) if f is not None]
    best = max((f for f, _ in fits), default=None)
    found = [c for f, c in fits if f == best]
    return found[0] if len(found) == 1 else None
