# SPDX-License-Identifier: GPL-3.0-or-later
"""The sections about nht1-beffio: the value of the system over all results with those published,
then for each result its validity and the bandwidths over chunk sizes, as in [RK01] figure 3, and
over partitions, as in figure 4."""
import os

from .. import patterns, sumfile, text
from ..results import NAN, at, integer, items, members, real, true, word
from . import published
from .page import HOLLOW_WORDS, Figure, Table

MB = 1e6
POSITIONS = range(1, 8)
DEFINITIONS = ('0.5', '1.x', '2.1')
ONCE = 'read by one call only'


def add(report):
    results = [r for r in report.results.of('nht1-beffio') if members(r.root, 'b_eff_io')]
    sums = report.results.sums_of('b_eff_io')
    if results or sums:
        _systems(report, results, sums)
    for number, result in enumerate(results, 1):
        _Section(report.page, result, '' if number == 1 else '-%d' % number, report.systems.whose(result), report.way(result)).add()


def minutes(root):
    """T as the definitions count it: of a partition in minutes."""
    s = real(root, 'schedule.partition_s')
    return (s if s == s else real(root, 'schedule.t_s')) / 60


def _definition(name):
    """Of a release's number: the panel that its values belong to."""
    return name if name in DEFINITIONS else 'other'


def _said(r, key):
    """"valid" or "not valid" of a result; '' where it says neither."""
    value = at(r.root, 'b_eff_io.' + key)
    return '' if value is None else ('' if value is True else 'not ') + key.replace('_', '-')


def of_memory(root):
    """What a value that is not cache-honest is called; '' where it is, or does not say."""
    return 'not cache-honest: it may measure memory' if at(root, HONEST) is False else ''


def best_partition(root):
    """That whose value is the result's b_eff_io."""
    n = integer(root, 'b_eff_io.procs')
    return max((p for p in items(root, 'partitions') if integer(p, 'procs') == n), default={}, key=lambda p: max(
        (real(v, 'bytes_per_s') for v in items(p, 'values') if true(v, 'headline')), default=0))


def _best(results, whose):
    """{(definition, name of the system): the result of the largest value}"""
    best = {}
    for r in results:
        d = word(r.root, 'b_eff_io.definition'), whose(r)
        if not (d in best and real(best[d].root, LARGEST) >= real(r.root, LARGEST)):
            best[d] = r
    return best


def _measured(report, r):
    """Its largest value, and how it was measured."""
    return '%s on %s, %.3g min per partition (%s)' % (
        text.rate(_largest(r)), text.processes(integer(r.root, 'b_eff_io.procs')), minutes(r.root), text.of(r.shown, report.way(r)))


def _systems(report, results, sums):
    """The largest valid value of each definition is the b_eff_io of a system [RK01]; figures 2 and 4 of the
    papers, a panel for each definition."""
    page, whose, named = report.page, report.systems.whose, report.named
    valid = [r for r in results if true(r.root, 'b_eff_io.valid')]
    best, honest = _best(valid, whose), _best([r for r in valid if true(r.root, HONEST)], whose)
    if best:
        several = any(name for _, name in best)
        page.section(2, 'beffio-systems', 'b_eff_io of %s: %s' % ('systems' if several else 'this system', '; '.join(
            text.of('%s (definition %s)' % (text.of(text.rate(_largest(r)), name), d), of_memory(r.root))
            for (d, name), r in sorted(best.items()))))
        for (d, name), r in sorted(best.items()):
            memory, other = of_memory(r.root), honest.get((d, name))
            page.text('The largest valid value by definition %s%s: %s%s.' % (
                d, ' on ' + name if name else '', text.of(_measured(report, r), memory),
                '; the largest that is cache-honest: ' + _measured(report, other) if memory and other else ''),
                'warn' if memory else 'plain')
    elif results:
        page.section(2, 'beffio-systems', 'b_eff_io: no valid result')
        page.text('None of %s is valid by its definition: the values below are those of trials, and none of '
                  'them is the b_eff_io of a system.' % text.plural(len(results), 'run'), 'warn')
    else:
        page.section(2, 'beffio-systems', 'b_eff_io of systems')
    report.tell_common('nht1-beffio')
    print_faults(page, sums)
    table = Table('beffio-systems', 'b_eff_io here and as published, MB/s. Of repeated runs the median, and the '
                  'largest, which the papers take', [
                      'system', 'processes', 'T per partition in min', 'definition', 'b_eff_io', 'largest', 'valid',
                      'cache-honest', 'buffers, bytes off a page', 'note'])
    for r in results:
        table.row(text.of(word(r.root, 'system.cpu.model') or 'unnamed', named(r)), integer(
            r.root, 'b_eff_io.procs'), minutes(r.root), word(r.root, 'b_eff_io.definition'),
            real(r.root, 'b_eff_io.bytes_per_s') / MB, _largest(r) / MB, _said(r, 'valid'), _said(r, 'cache_honest'),
            patterns.offset_words(patterns.offset(r.root, BUFFERS)), '')
    for s in sums:
        table.row(s['system'] or os.path.basename(s['path']), s['procs'] or 0,
                  NAN if s['scheduled_s'] is None else s['scheduled_s'] / 60,
                  s['definition'] or 'released program', s['value'] / MB, s['value'] / MB,
                  'valid' if s['valid'] else 'not valid',
                  '' if s['cache_honest'] is None else 'cache-honest' if s['cache_honest'] else 'not cache-honest',
                  ' to '.join(dict.fromkeys(map(str, s['buffer_offset_bytes'] or []))), os.path.basename(s['path']))
    for p in published.BEFFIO:
        table.row(p.system, p.processes, float(p.minutes), p.release, float(p.mb_s), NAN, '', '', '', p.source)
    page.table(table)
    _over_processes(page, results, sums, named)
    _over_times(page, results, named)
    trials = {(word(r.root, 'b_eff_io.definition'), whose(r)): r for r in sorted(results, key=_largest)}
    _published(page, best or trials, bool(best), sums, report.way)
    _side_by_side(page, results, sums, named)
    _alignment(page, results, lambda r: (whose(r), report.way(r)))


LARGEST, BUFFERS, HONEST = 'b_eff_io.maximum_bytes_per_s', 'b_eff_io.buffer_offset_bytes', 'b_eff_io.cache_honest'
HOLLOW = HOLLOW_WORDS + ' '
HERE, TRIAL = 'this system', 'trial, not valid'


def _who(name, valid):
    """name: of a system, '' where there is one only."""
    return name or HERE if valid else text.of(TRIAL, name)


def _values(result, valid):
    """[(processes, MB/s)] of a result's partitions that are valid, or not, by its own definition."""
    return sorted((integer(p, 'procs'), real(v, 'bytes_per_s') / MB) for p in items(result.root, 'partitions')
                  if true(p, 'valid') == valid for v in items(p, 'values') if true(v, 'headline'))


def _largest(r):
    """Of repetitions; older results have the median alone."""
    value = real(r.root, LARGEST)
    return value if value == value else real(r.root, 'b_eff_io.bytes_per_s')


def print_faults(page, sums):
    """What is wrong with summaries."""
    for path in dict.fromkeys(s['path'] for s in sums):
        for words in sumfile.sentences(next(s['faults'] for s in sums if s['path'] == path), path):
            page.text(words, 'warn')


def _panel_name(d):
    return 'definition ' + d if d in DEFINITIONS else 'other definitions'


def _titled(page, f, caption):
    """A panel that is alone has no name above it: then the figure's title has it."""
    names = [p['name'] for p in f.panels if p['styles']]
    if len(names) == 1:
        f.title += ', ' + names[0]
    page.figure(f, caption)


def _over_processes(page, results, sums, whose):
    f = Figure('beffio-processes', 'b_eff_io over processes')
    for d in DEFINITIONS + ('other',):
        mine = [(n, r) for n, r in enumerate(results, 1) if _definition(word(r.root, 'b_eff_io.definition')) == d]
        files = [s for s in sums if _definition(s['definition'] or '2.1') == d]
        papers = [p for p in published.BEFFIO if _definition(p.release) == d]
        counts = {integer(p, 'procs') for _, r in mine for p in items(r.root, 'partitions')}
        counts |= {p.processes for p in papers} | {s['procs'] for s in files if s['procs']}
        f.panel(_panel_name(d),
                {'label': 'processes', 'log': 2, 'ticks': sorted(counts)}, {'label': 'b_eff_io in MB/s', 'log': 10})
        for valid in (True, False):
            if len(mine) > CURVES_MAX:
                for name in dict.fromkeys(whose(r) for _, r in mine):
                    f.series(_who(name, valid), 'points', [v for _, r in mine if whose(r) == name for v in _values(r, valid)],
                             valid)
                continue
            for number, r in mine:
                f.series('%s%s, T = %s min' % (_who(whose(r), valid), '' if len(results) == 1 else ', run %d' % number, '%.3g' % minutes(r.root)),
                         'line-points', _values(r, valid), valid)
        for path in dict.fromkeys(s['path'] for s in files):
            here = [s for s in files if s['path'] == path and s['procs']]
            for valid in (True, False):
                f.series(os.path.basename(path) + ('' if valid else ', not valid'), 'line-points', sorted(
                    (s['procs'], s['value'] / MB) for s in here if bool(s['valid']) == valid), valid)
        f.series('published', 'points', [(p.processes, p.mb_s) for p in papers])
    _titled(page, f, (
        'Values of the partitions by the definition of their run, with the values that the papers '
        'give in numbers. ' + HOLLOW + 'Releases weigh patterns differently, so each has a panel.'))


def _over_times(page, results, whose):
    times = sorted({round(minutes(r.root), 6) for r in results if minutes(r.root) > 0})
    f = Figure('beffio-times', 'b_eff_io over the scheduled time T')
    for d in DEFINITIONS + ('other',):
        papers = [p for p in published.BEFFIO if _definition(p.release) == d]
        mine = [r for r in results if _definition(word(r.root, 'b_eff_io.definition')) == d]
        f.panel(_panel_name(d), {
            'label': 'T of a partition in min', 'log': 10, 'ticks': [
                (t, '%.3g' % t) for t in sorted({round(minutes(r.root), 6) for r in mine} | {p.minutes for p in papers})]},
            {'label': 'b_eff_io in MB/s', 'log': 10})
        several = len({integer(r.root, 'system.ranks') for r in mine}) > 1
        names = {id(r): text.of(whose(r), text.plural(integer(r.root, 'system.ranks'), 'rank') if several else '') for r in mine}
        for valid in (True, False):
            for name in dict.fromkeys(names.values()):
                f.series(_who(name, valid), 'line-points', sorted(
                    (minutes(r.root), real(r.root, 'b_eff_io.bytes_per_s') / MB) for r in mine
                    if true(r.root, 'b_eff_io.valid') == valid and names[id(r)] == name), valid)
        for system in dict.fromkeys(p.system for p in papers):
            f.series(system, 'points', [(p.minutes, p.mb_s) for p in papers if p.system == system])
    if len(times) > 1:
        _titled(page, f, 'The longer a partition is measured, the less of it stays in memory: '
                       '[RK01] found no great difference between T = 10 and T = 30 minutes. ' + HOLLOW)


def _published(page, best, valid, sums, way):
    """best: {(definition, name of the system): result}"""
    f, named = Figure('beffio-published', 'b_eff_io of systems'), any(name for _, name in best)
    for d in DEFINITIONS + ('other',):
        mine = [(text.of(_who(name, valid), way(r)), _largest(r) / MB) for (k, name), r in best.items() if _definition(k) == d]
        files = [('%s, %s' % (s['system'] or os.path.basename(s['path']), s['procs']), s['value'] / MB, bool(s['valid']))
                 for s in sums if s['headline'] and _definition(s['definition'] or '2.1') == d]
        papers = [('%s, %d' % (p.system, p.processes), p.mb_s) for p in published.BEFFIO if _definition(p.release) == d]
        rows = mine + [s[:2] for s in files] + papers
        f.panel(_panel_name(d), {'ticks': enumerate(name for name, _ in rows)},
                {'label': 'b_eff_io in MB/s', 'log': 10}, across=True)
        here, others = [(i, v, valid) for i, (_, v) in enumerate(mine)], [(name, v, True) for name, v in papers]
        others = [(len(mine) + i, v, good) for i, (_, v, good) in enumerate(files + others)]
        f.series('measured' if named else HERE, 'points', [(i, v) for i, v, good in here if good])
        f.series('others', 'points', [(i, v) for i, v, good in others if good])
        f.series('not valid', 'points', [(i, v) for i, v, good in here + others if not good], valid=False)
    _titled(page, f, 'The largest value%s beside those of the papers of 1999 to 2001, a panel for each '
                   'definition. Release 0.5 weighs patterns by time, 1.x methods of access. ' % (
                       ' of a trial' if not valid else ' of each system' if named else ' of this system') + HOLLOW)


CURVES_MAX = 8
TICKS = {'1k+8': '+8', '32k+8': '+8', '1M+8': '+8', patterns.PATTERN_2: '2M/1M', 'M_PART': 'M'}


def _sources(results, sums, whose):
    """[(label, processes, {(access, type, chunk): rate}, whether it is valid)] of all partitions."""
    found = []
    for number, r in enumerate(results, 1):
        for p in items(r.root, 'partitions'):
            if true(p, 'completed'):
                found.append((text.of('run %d, %s' % (number, word(r.root, 'b_eff_io.definition')), whose(r)), integer(p, 'procs'),
                              patterns.of_result(p), true(p, 'valid')))
    names = [os.path.basename(s['path']) for s in sums]
    for s, name in zip(sums, names):
        found.append((name if not s['version'] else '%s, %s' % (name, s['definition']), s['procs'] or 0, patterns.of_sum(s),
                      bool(s['valid'])))
    return [s for s in found if s[2]]


def _side_by_side(page, results, sums, whose):
    """Old runs and new ones by type and chunk size, where summaries are among them."""
    new, old = _sources(results, [], whose), _sources([], sums, whose)
    if not old:
        return
    for procs in sorted({s[1] for s in new + old}):
        there = [s for s in old if s[1] == procs]  # of many some of both
        mine = [s for s in new if s[1] == procs][:max(CURVES_MAX // 2, CURVES_MAX - len(there))]
        mine += there[:CURVES_MAX - len(mine)]
        if len(mine) > 1:
            _beside(page, procs, mine)


def _beside(page, procs, sources):
    table = Table('beffio-beside-%d' % procs, 'Each pattern on %s, MB/s' % text.processes(procs),
                  ['access', 'type', 'chunk'] + [label for label, *_ in sources])
    keys = sorted({k for _, _, rates, _ in sources for k in rates}, key=patterns.order)
    for key in keys:
        table.row(*key, *[rates.get(key, NAN) / MB for _, _, rates, _ in sources])
    page.table(table)
    ticks = [(x, name) for x, name in enumerate(patterns.CHUNKS) if any(k[2] == name for k in keys)]
    shown = [(x, TICKS.get(name, name)) for x, name in ticks]
    for access in patterns.ACCESSES:
        f = Figure('beffio-beside-%d-%s' % (procs, access), 'Old and new, %s, %s' % (access, text.processes(procs)))
        for kind in patterns.TYPES:
            f.panel(kind, {'label': 'chunk size', 'ticks': shown}, {'label': 'MB/s', 'log': 10})
            for label, _, rates, valid in sources:
                f.series(label, 'line-points', [(x, rates[access, kind, name] / MB) for x, name in ticks
                                                if (access, kind, name) in rates], valid)
        page.figure(f, 'Bandwidth of the patterns over chunk size, a panel for each type, a curve for each run or file. ' + HOLLOW)


def _alignment(page, results, named):
    """Runs of the rounds of a study that differ in where their buffers begin: the ratio of each pattern to that
    of the least offset."""
    rounds = {}
    for r in results:
        offset = patterns.offset(r.root, BUFFERS)
        best = max((p for p in items(r.root, 'partitions') if true(p, 'completed')), default=None,
                   key=lambda p: integer(p, 'procs'))
        if r.study_round and offset and best:
            what = (integer(best, 'procs'), word(r.root, 'b_eff_io.definition'), named(r))
            rounds.setdefault(what, {}).setdefault(r.study_round, {})[offset[0]] = patterns.of_result(best)
    names = list(dict.fromkeys(name for _, _, name in rounds))
    for (procs, definition, name), by_round in rounds.items():
        system = '' if name == names[0] else '-of-%d' % (names.index(name) + 1)
        offsets = sorted({o for r in by_round.values() for o in r})
        for other in offsets[1:]:
            pairs = [(r[offsets[0]], r[other]) for r in by_round.values() if offsets[0] in r and other in r]
            _ratios(page, '%d-%s-%d%s' % (procs, definition.replace('.', ''), other, system),
                    'Buffers %d against %d bytes off a page, %s, definition %s' % (
                        other, offsets[0], text.processes(procs), definition), patterns.ratios(pairs), *name)


def _ratios(page, name, title, rows, whose, way):
    table = Table('beffio-alignment-' + name, text.of(title, whose, way) + ': ratio of bandwidths, with its 95 % interval', [
        'access', 'type', 'chunk', 'rounds', 'ratio', 'from', 'to'])
    for key, n, ratio, lo, hi in rows:
        table.row(*key, n, float(ratio), NAN if lo is None else float(lo), NAN if hi is None else float(hi))
    page.table(table, whose, way)
    f = Figure('beffio-alignment-' + name, title)
    ticks = list(enumerate(patterns.CHUNKS))
    shown = [(x, TICKS.get(c, c)) for x, c in ticks]
    for access in patterns.ACCESSES:
        f.panel(access, {'label': 'chunk size', 'ticks': shown}, {'label': 'ratio of bandwidths', 'log': 10})
        f.level(1, 'equal')
        for number, kind in enumerate(patterns.TYPES):
            here = {k[2]: (ratio, NAN if lo is None else lo, NAN if hi is None else hi)
                    for k, _, ratio, lo, hi in rows if k[:2] == (access, kind)}
            f.series(kind, 'points', [(x + 0.12 * (number - 2), *here[chunk]) for x, chunk in ticks if chunk in here])
    page.figure(f, 'Below 1 the pattern is slower with buffers off a page. Bars are 95 % intervals.', whose, way)


class _Section:
    """One result."""

    def __init__(self, page, result, key, whose, way=''):
        self.page, self.root, self.key, self.whose, self.way = page, result.root, key, whose, way
        self.partitions = items(result.root, 'partitions')
        self.valid = all(true(p, 'valid') for p in self.partitions)  # what goes through all of them

    def figure(self, stem, title):
        return Figure('beffio-%s%s' % (stem, self.key), title)

    def add(self):
        n = integer(self.root, 'b_eff_io.procs')
        definition = word(self.root, 'b_eff_io.definition')
        self.page.section(2, 'beffio' + self.key, '%s = %s on %s, definition %s' % (
            'b_eff_io' if true(self.root, 'b_eff_io.valid') else 'Trial of b_eff_io, not valid: value',
            text.rate(real(self.root, 'b_eff_io.bytes_per_s')), text.processes(n), definition), self.whose, self.way)
        self._criteria(best_partition(self.root), definition)
        self._table()
        seen = []
        for p in self.partitions:
            seen.append(integer(p, 'procs'))
            if true(p, 'completed'):
                again = seen.count(seen[-1]) - 1
                self._chunks(p, 'chunks-%d%s' % (seen[-1], '-again%d' % again if again else ''))
        self._values()
        self._types()

    def _criteria(self, best, definition):
        valid = true(best, 'valid')
        self.page.text('%s by definition %s.' % ('Valid' if valid else 'Not valid', definition),
                       'good' if valid else 'bad')
        for c in items(best, 'criteria'):
            if word(c, 'verdict') != 'met':
                self.page.text('%s: %s.' % (word(c, 'verdict'), word(c, 'words').rstrip('.')),
                               'warn')
        if at(best, 'cache_honest') is not None:
            honest = true(best, 'cache_honest')
            self.page.text('%s: %s.' % ('Cache-honest' if honest else 'Not cache-honest', (
                word(best, 'cache_words') or 'see the stamps').rstrip('.')), 'good' if honest else 'warn')
        write, read = (real(best, 'coffee_cup.%s_min' % k) for k in ('write', 'read'))
        if write == write or read == read:
            self.page.text('The memory of the system takes %s minutes to write and %s minutes to '
                           'read; the coffee-cup rule allows 10.' % (
                               text.number(write), text.number(read)))

    def _table(self):
        table = Table('beffio' + self.key, 'Values of the partitions, in MB/s', [
            'processes', 'write', 'rewrite', 'read', '0.5', '1.x', '2.1'])
        for p in self.partitions:
            table.row(integer(p, 'procs'), *[real(p, 'accesses.%d.bytes_per_s' % a) / MB
                                             for a in range(3)],
                      *[real(p, 'values.%d.bytes_per_s' % d) / MB for d in range(3)])
        self.page.table(table)

    def _chunks(self, partition, stem):
        axis = items(self.root, 'axis')
        x_of = {integer(a, 'position'): real(a, 'x') for a in axis}
        ticks = [(real(a, 'x'), '+8' if '+' in word(a, 'name') else word(a, 'name')) for a in axis]
        f = self.figure(stem, 'Bandwidth over chunk size, %s' % text.processes(
            integer(partition, 'procs')))
        for access in items(partition, 'accesses'):
            f.panel(word(access, 'access'), {'label': 'chunk size on disk in bytes',
                                             'ticks': [t for t in ticks if t[0] == t[0]]},
                    {'label': 'bandwidth in MB/s', 'log': 10})
            once = []
            for kind in items(access, 'types'):
                right = {integer(p, 'position'): p for p in items(kind, 'patterns')
                         if integer(p, 'wrong_n') == 0 and integer(p, 'position') in x_of}
                points = {q: (x_of[q], real(right[q], 'bytes_per_s') / MB) for q in POSITIONS
                          if q in right and real(right[q], 'bytes_per_s') > 0}
                f.series(word(kind, 'name'), 'line-points', points.values(), true(partition, 'valid'))
                once += [points[q] for q in points if true(right[q], 'single_read')]
            f.series(ONCE, 'rings', once)
        self.page.figure(f, (
            'Bandwidth of all processes together for each pattern type, over the chunk size, on a '
            'pseudo-logarithmic axis; +8: 8 bytes more than the size to its left, which are the '
            'non-wellformed sizes. ' + HOLLOW))

    def _axes(self):
        counts = sorted({integer(p, 'procs') for p in self.partitions})
        return {'label': 'processes', 'log': 2, 'ticks': counts}, {
            'label': 'bandwidth in MB/s', 'log': 10}

    def _values(self):
        f = self.figure('partitions', 'b_eff_io over partition sizes')
        for d, value in enumerate(items(self.partitions[0], 'values') if self.partitions else ()):
            own = true(value, 'headline')
            f.panel('definition %s%s' % (word(value, 'definition'), '' if own else ', computed'), *self._axes())
            f.series('this run', 'line-points', [
                (integer(p, 'procs'), real(p, 'values.%d.bytes_per_s' % d) / MB)
                for p in self.partitions if real(p, 'values.%d.bytes_per_s' % d) > 0], own and self.valid)
        self.page.figure(f, (
            'The value of each partition under the three definitions, a panel for each. The run was scheduled for '
            'one of them; the others are computed from the same measurements. ' + HOLLOW + 'The value of the '
            'system is the largest.'))

    def _types(self):
        f = self.figure('types', 'Pattern types over partition sizes')
        for a, access in enumerate(items(self.partitions[0], 'accesses')
                                   if self.partitions else ()):
            f.panel(word(access, 'access'), *self._axes())
            for t, kind in enumerate(items(access, 'types')):
                path = 'accesses.%d.types.%d.bytes_per_s' % (a, t)
                f.series(word(kind, 'name'), 'line-points', [
                    (integer(p, 'procs'), real(p, path) / MB) for p in self.partitions
                    if real(p, path) > 0], self.valid)
        self.page.figure(f, "Bytes over time from opening till closing of each type's file, all "
                            'patterns. ' + HOLLOW)
