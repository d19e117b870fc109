# SPDX-License-Identifier: GPL-3.0-or-later
"""The sections about nht1-workload: bandwidth of the patterns over the record, a figure per pattern
with the temporal kinds as curves; working points asked and achieved; and, where results differ from
one of them in one of the nine numbers, the panels of Figure 1 of the workload model's paper."""
import math

from .. import stats, text
from ..results import integer, items, members, outcome, real, true, word
from ..ways import Ways, of_phase, style_of
from .page import Figure, Table

MB = 1e6
# The nine numbers, and what the paper saw (its eight panels; contMean was announced).
NUMBERS = (('uniqueBytes', -1, 'throughput goes down (caches)'),
           ('sizeMean', 1, 'throughput goes up'), ('processNum', 0, 'not stated'),
           ('readFrac', 1, 'throughput goes up'), ('collFrac', 1, 'throughput goes up'),
           ('syncFrac', 0, 'little influence'), ('seqFrac', 1, 'throughput goes up'),
           ('sharedFrac', -1, 'throughput goes down'), ('contMean', 0, 'not in the paper'))
LOG = ('uniqueBytes', 'sizeMean', 'contMean', 'processNum')
SHOWN_MAX = 20  # results whose working points have a table
PANELS_MAX = 9  # of a figure; its table has all
SEEN = 0.05  # p up to which a trend is one
LITTLE, VALUES_MIN = 1.25, 4  # largest median over the smallest where a number has little influence, and of how many of its values
TOO_FEW = 'too few points'


def add(report):
    results = report.results.of('nht1-workload')
    if not results:
        return
    report.page.section(2, 'workload', 'Workloads of file access')
    seen = {}
    for s in (s for r in results for s in r.stamps):
        seen.setdefault(s['code'], dict(s, n=0))['n'] += 1
    for s in seen.values():
        report.page.text(s['sentence'] + ('' if s['n'] == len(results) else ' (%d of %s)' % (
            s['n'], text.plural(len(results), 'result'))), s['severity'])
    report.tell_common('nht1-workload')
    _patterns(report, results)
    single = {}
    for r in results:
        if [outcome(p) for p in items(r.root, 'points')] == ['']:
            single.setdefault((report.systems.whose(r), report.way(r)), []).append(r)
    studies = [((whose, text.of(way, style and style + ' calls')), mine)
               for (whose, way), found in single.items() for style, mine in _by_style(found)]
    for number, (named, mine) in enumerate(studies, 1):
        if len(mine) > 2:
            _study(report.page, mine, '' if number == 1 else '-of-%d' % number, *named)
    _points(report, [r for r in results if _right(r, 'points')])
    _replays(report, results)


def _by_style(results):
    """[(style, results)]: of split and of requested collective calls each with those that have neither; style: '' where there
    are not both."""
    of = {id(r): style_of(items(r.root, 'points')[0]) for r in results}
    styles = sorted(set(of.values()) - {''})
    return [(s, [r for r in results if of[id(r)] in ('', s)]) for s in styles] if len(styles) > 1 else [('', results)]


def _right(result, which):
    """What counts of its patterns, points or replays."""
    return [m for m in items(result.root, which) if not outcome(m)]


# --- accesses of a program ----------------------------------------------------------------------

def _replays(report, results):
    table = Table('workload-accesses', 'Accesses of programs, replayed as the same calls', [
        'accesses', 'processes', 'files', 'calls', 'data in MB', 'MB/s', 'S + T + B in s', 'in memory before'])
    for r in results:
        for one in _right(r, 'replays'):
            table.row(text.of(word(r.root, 'description'), report.named(r)), integer(one, 'processes_n'), integer(one, 'files_n'),
                      ', '.join('%s %d' % (word(c, 'function'), integer(c, 'n')) for c in items(one, 'calls')),
                      integer(one, 'bytes') / MB, real(one, 'bytes_per_s') / MB,
                      real(one, 'times.aggregate_s'), _percent(real(one, 'cached_share_before')))
    report.page.table(table)


# --- patterns -----------------------------------------------------------------------------------

def _percent(share):
    return '%s %%' % text.number(100 * share) if share == share else ''


def _patterns(report, results):
    found = {}  # {pattern: [(way, settings, phase)]}
    for r in results:
        of = text.processes(integer(r.root, 'system.ranks', 1)), report.way(r), report.systems.whose(r)
        for p in _right(r, 'phases'):
            way = (word(p, 'method'), word(p, 'access'), 'memory %s' % (
                'strided' if true(p, 'memory_strided') else 'contiguous'),
                'file %s' % word(p, 'file'), *of)
            found.setdefault(word(p, 'pattern'), []).append((way, of_phase(p), p))
    for number, (pattern, phases) in enumerate(found.items()):
        names, ways = Ways(settings for _, settings, _ in phases), {}
        for way, settings, p in phases:
            ways.setdefault((*way, names.name(settings)), []).append(p)
        _pattern(report.page, 'workload-%s-%d' % (pattern, number), ways, names.common)


def _pattern(page, name, ways, settings):
    """A table and a figure, in which every way that was measured has a panel. settings: of all."""
    title = word(next(iter(ways.values()))[0], 'title').partition(' (')[0]
    parts = list(zip(*ways))
    common = text.of(*(values[0] for values in parts if len(set(values)) == 1), settings)
    table = Table(name, '%s: %s' % (title, common), (['way'] if len(ways) > 1 else []) + [
        'record in bytes', 'temporal pattern', 'MB/s', 'S + T + B in s', 'B', 'in memory before',
        'note'])
    f, panels, memory_n = Figure(name, '%s: bandwidth over the record' % title), 0, 0
    for way, phases in ways.items():
        own = ', '.join(v for v, values in zip(way, parts) if len(set(values)) > 1 and v)
        curves = {}
        for p in phases:
            marks = {word(s, 'code') for s in items(p, 'stamps')}
            rate = real(p, 'bytes_per_s') / MB
            table.row(*[own] if len(ways) > 1 else [], integer(p, 'record_bytes'),
                      word(p, 'temporal'), rate, real(p, 'times.aggregate_s'),
                      _percent(real(p, 'times.b_share')), _percent(real(p, 'cached_share_before')),
                      'too little data' if 'too-short' in marks else '')
            curves.setdefault(word(p, 'temporal'), {}).setdefault(
                integer(p, 'record_bytes'), []).append((rate, 'page-cache' in marks))
        if max(len(c) for c in curves.values()) < 2:
            continue
        panels += 1
        if panels > PANELS_MAX:
            continue
        f.panel(own, {'label': 'record in bytes', 'log': 2},
                {'label': 'bandwidth in MB/s', 'log': 10})
        for temporal, points in curves.items():
            # Of memory and the device together a median says nothing.
            device = {x: [rate for rate, memory in of if not memory] or [rate for rate, _ in of] for x, of in points.items()}
            memory_n += sum(len(points[x]) - len(device[x]) for x in points)
            f.series(temporal, 'line-points', [(x, stats.median(device[x])) for x in sorted(device)])
    page.table(table)
    if f.panels:
        page.figure(f, '%s, %s. All processes together, bytes over S + T + B.%s%s' % (
            title, common, ' What met memory where others were from the device is in the table alone: %s.' % text.plural(
                memory_n, 'measurement') if memory_n else '', '' if panels <= PANELS_MAX else ' The first %d of %d ways are drawn; the table has all.' % (PANELS_MAX, panels)))


# --- working points -----------------------------------------------------------------------------

def _points(report, results):
    if len(results) > SHOWN_MAX:
        report.page.text('Working points of the first %d of %d results are shown.' % (SHOWN_MAX, len(results)), 'note')
    for number, r in enumerate(results[:SHOWN_MAX], 1):
        table = Table('workload-points-%d' % number, 'Working points of %s: asked, achieved' %
                      text.of(r.shown, report.named(r)), ['point', 'MB/s'] + [name for name, _, _ in NUMBERS])
        for i, p in enumerate(items(r.root, 'points'), 1):
            asked, achieved = members(p, 'asked'), members(p, 'achieved')
            if outcome(p):
                continue
            table.row(i, real(p, 'bytes_per_s') / MB, *[
                '%s, %s' % (text.number(real(asked, n)), text.number(real(achieved, n)))
                if text.number(real(asked, n)) != text.number(real(achieved, n))
                else text.number(real(asked, n)) for n, _, _ in NUMBERS])
        report.page.table(table, report.systems.whose(r), report.way(r))


def _asked(result):
    asked = members(items(result.root, 'points')[0], 'asked')
    numbers = {n: real(asked, n) for n, _, _ in NUMBERS}
    # Without holes, contMean is only said again.
    if numbers['contMean'] >= numbers['sizeMean']:
        numbers['contMean'] = float('inf')
    return numbers


def _study(page, results, key, whose, way):
    """Results that differ from the most frequent value of the nine in one of them."""
    points = [(_asked(r), r) for r in results]
    base = {}
    for name, _, _ in NUMBERS:
        values = [p[name] for p, _ in points]
        base[name] = max(sorted(set(values)), key=values.count)
    panels = []
    for name, sign, says in NUMBERS:
        curve = {}
        for p, r in points:
            if all(p[n] == base[n] for n, _, _ in NUMBERS if n != name):
                x = real(r.root, 'points.0.asked.' + name)
                curve.setdefault(x, []).append(r)
        if len(curve) > 1:
            panels.append((name, sign, says, curve))
    if not panels:
        return
    f = Figure('workload-figure-1' + key, 'Throughput over each number of the workload model')
    table = Table('workload-figure-1' + key, text.of('What the paper says each curve should do, and what it does ' + (
        'on ' + whose if whose else 'here'), way), ['number', 'the paper', 'here', 'Spearman', 'p'])
    asked = [{'what': 'correlation', 'x': [x for x in sorted(c) for _ in c[x]],
              'y': [real(r.root, 'bytes_per_s') for x in sorted(c) for r in c[x]]}
             for _, _, _, c in panels]
    asked += [dict(a, y=list(range(len(a['x'])))) for a in asked]  # no order has a smaller p
    answers = stats.ask(asked)
    for (name, sign, says, curve), answer, strongest in zip(panels, answers, answers[len(panels):]):
        f.panel(name, {'label': name, 'log': 10} if name in LOG else name,
                {'label': 'MB/s', 'from_zero': True})
        xs = sorted(curve)
        medians = [stats.median(real(r.root, 'bytes_per_s') / MB for r in curve[x]) for x in xs]
        f.series('throughput', 'line-points', list(zip(xs, medians)))
        if name == 'uniqueBytes':
            cached = [100 * stats.median(real(r.root, 'points.0.cached_share_after')
                                         for r in curve[x]) for x in xs]
            page.text('%s, with uniqueBytes %s: %s.' % (
                text.of('Share of the file in memory at the end', whose, way), ', '.join(text.size(x) for x in xs), ', '.join(
                    '%.0f %%' % c for c in cached if c == c) or 'not known'), 'note')
        rho, p = answer.get('spearman'), answer.get('p')
        table.row(name, says, _verdict(sign, says, rho, p, strongest.get('p'), medians), '' if rho is None else rho,
                  '' if p is None else p)
    page.figure(f, 'One number at a time is varied around the reference workload, as in Figure 1 of '
                   'the paper; medians over repeats.', whose, way)
    page.table(table, whose, way)
    if len(panels) > 1:
        page.text('Each number is tested by itself: of those without influence, %g %% show a trend by chance.' % (100 * SEEN), 'note')


def _verdict(sign, says, rho, p, p_min, medians):
    """p_min: the smallest p that so many points can have."""
    significant = p is not None and p <= SEEN
    enough = significant or p_min is not None and p_min <= SEEN
    trend = TOO_FEW if not enough else 'no significant trend' if not significant else 'up' if rho > 0 else 'down'
    if says.startswith('little'):
        ratio = max(medians) / min(medians) if min(medians) > 0 else math.inf
        times = 'largest median %s times the smallest' % text.number(ratio)
        if ratio <= LITTLE and len(medians) >= VALUES_MIN:
            return 'seen: ' + times
        return 'not judged: ' + TOO_FEW if ratio <= LITTLE or not enough else 'not seen: %s, %s' % (trend, times)
    if sign == 0:
        return trend
    return ('not judged: ' if not enough else 'seen: ' if significant and rho * sign > 0 else 'not seen: ') + trend
