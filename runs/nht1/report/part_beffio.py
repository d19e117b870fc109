# SPDX-License-Identifier: GPL-3.0-or-later
"""The sections about nht1-beffio: the value of the system over all results with those published,
then for each result its validity and the bandwidths over chunk sizes, as in [RK01] figure 3, and
over partitions, as in figure 4."""
import os

from .. import text
from ..results import NAN, at, integer, items, members, real, true, word
from . import published
from .page import Figure, Table

MB = 1e6
POSITIONS = range(1, 8)
ONCE = 'read by one call only'


def add(report):
    results = [r for r in report.results.of('nht1-beffio') if members(r.root, 'b_eff_io')]
    sums = report.results.sums_of('b_eff_io')
    if results or sums:
        _systems(report, results, sums)
    for number, result in enumerate(results, 1):
        _Section(report.page, result, '' if number == 1 else '-%d' % number).add()


def _minutes(root):
    """T as the definitions count it: of a partition in minutes."""
    s = real(root, 'schedule.partition_s')
    return (s if s == s else real(root, 'schedule.t_s')) / 60


def _systems(report, results, sums):
    """The maximum over runs is the b_eff_io of a system; figures 2 and 4 of the papers."""
    page = report.page
    value = NAN
    if results:
        best = max(results, key=lambda r: (true(r.root, 'b_eff_io.valid'), real(
            r.root, 'b_eff_io.bytes_per_s')))
        value = real(best.root, 'b_eff_io.bytes_per_s') / MB
        page.section(2, 'beffio-systems', 'b_eff_io of this system: %s' % text.rate(value * MB))
        page.text('The largest of %s, %d of them valid: %s on %s, definition %s, %s min per '
                  'partition (%s).' % (
                      text.plural(len(results), 'run'),
                      sum(true(r.root, 'b_eff_io.valid') for r in results), text.rate(value * MB),
                      text.processes(integer(best.root, 'b_eff_io.procs')),
                      word(best.root, 'b_eff_io.definition'), '%.3g' % _minutes(best.root),
                      best.shown))
    else:
        page.section(2, 'beffio-systems', 'b_eff_io of systems')
    table = Table('beffio-systems', 'b_eff_io here and as published, MB/s', [
        'system', 'processes', 'T per partition in min', 'definition', 'b_eff_io', 'note'])
    for r in results:
        table.row(word(r.root, 'system.cpu.model') or 'this system', integer(
            r.root, 'b_eff_io.procs'), _minutes(r.root), word(r.root, 'b_eff_io.definition'),
            real(r.root, 'b_eff_io.bytes_per_s') / MB,
            ', '.join(('' if true(r.root, 'b_eff_io.' + key) else 'not ') + name for key, name in (
                ('valid', 'valid'), ('cache_honest', 'cache-honest'))
                if at(r.root, 'b_eff_io.' + key) is not None))
    for s in sums:
        table.row(s['system'] or os.path.basename(s['path']), s['procs'] or 0,
                  NAN if s['scheduled_s'] is None else s['scheduled_s'] / 60,
                  s['definition'] or 'released program', s['value'] / MB,
                  '%s, %s' % (os.path.basename(s['path']), 'valid' if s['valid'] else 'not valid'))
    for p in published.BEFFIO:
        table.row(p.system, p.processes, float(p.minutes), p.release, float(p.mb_s), p.source)
    page.table(table)

    f = Figure('beffio-processes', 'b_eff_io over processes')
    counts = {integer(p, 'procs') for r in results for p in items(r.root, 'partitions')}
    counts |= {p.processes for p in published.BEFFIO} | {s['procs'] for s in sums if s['procs']}
    f.panel('', {'label': 'processes', 'log': 2, 'ticks': sorted(counts)},
            {'label': 'b_eff_io in MB/s', 'log': 10})
    for number, r in enumerate(results, 1):
        f.series('this system%s, %s, T = %s min' % (
            '' if len(results) == 1 else ', run %d' % number, word(r.root, 'b_eff_io.definition'),
            '%.3g' % _minutes(r.root)), 'line-points', sorted(
                (integer(p, 'procs'), real(v, 'bytes_per_s') / MB)
                for p in items(r.root, 'partitions') for v in items(p, 'values')
                if true(v, 'headline')))
    for path in dict.fromkeys(s['path'] for s in sums):
        f.series(os.path.basename(path), 'line-points', sorted(
            (s['procs'], s['value'] / MB) for s in sums if s['path'] == path and s['procs']))
    for release in dict.fromkeys(p.release for p in published.BEFFIO):
        f.series('published, %s' % ('release ' + release if release[0].isdigit() else release),
                 'points', [(p.processes, p.mb_s) for p in published.BEFFIO
                            if p.release == release])
    page.figure(f, (
        'Values of the partitions by the definition of their run, with the values that the papers '
        'give in numbers. Releases weigh patterns differently: only values of one definition '
        'compare.'))

    times = sorted({round(_minutes(r.root), 6) for r in results if _minutes(r.root) > 0})
    f = Figure('beffio-times', 'b_eff_io over the scheduled time T')
    ticks = sorted(set(times) | {p.minutes for p in published.BEFFIO})
    f.panel('', {'label': 'T of a partition in min', 'log': 10,
                 'ticks': [(t, '%.3g' % t) for t in ticks]},
            {'label': 'b_eff_io in MB/s', 'log': 10})
    for definition in dict.fromkeys(word(r.root, 'b_eff_io.definition') for r in results):
        f.series('this system, definition ' + definition, 'line-points', sorted(
            (_minutes(r.root), real(r.root, 'b_eff_io.bytes_per_s') / MB) for r in results
            if word(r.root, 'b_eff_io.definition') == definition))
    for system in dict.fromkeys(p.system for p in published.BEFFIO):
        f.series(system, 'points', [(p.minutes, p.mb_s) for p in published.BEFFIO
                                    if p.system == system])
    if len(times) > 1:
        page.figure(f, 'The longer a partition is measured, the less of it stays in memory: '
                       '[RK01] found no great difference between T = 10 and T = 30 minutes.')

    f = Figure('beffio-published', 'b_eff_io of systems')
    rows = [('this system', value)] + [
        ('%s, %s' % (s['system'] or os.path.basename(s['path']), s['procs']), s['value'] / MB)
        for s in sums if s['headline']] + [
        ('%s, %d, release %s' % (p.system, p.processes, p.release), p.mb_s)
        if p.release[0].isdigit() else ('%s, %d' % (p.system, p.processes), p.mb_s)
        for p in published.BEFFIO]
    f.panel('', {'ticks': enumerate(name for name, _ in rows)},
            {'label': 'b_eff_io in MB/s', 'log': 10}, across=True)
    f.series('this system', 'points', [(0, value)])
    f.series('others', 'points', [(i, v) for i, (_, v) in enumerate(rows) if i])
    page.figure(f, 'The largest value of this system beside those of the papers of 1999 to 2001. '
                   'Release 0.5 weighs patterns by time, 1.x methods of access.')


class _Section:
    """One result."""

    def __init__(self, page, result, key):
        self.page, self.root, self.key = page, result.root, key
        self.partitions = items(result.root, 'partitions')

    def figure(self, stem, title):
        return Figure('beffio-%s%s' % (stem, self.key), title)

    def add(self):
        n = integer(self.root, 'b_eff_io.procs')
        definition = word(self.root, 'b_eff_io.definition')
        self.page.section(2, 'beffio' + self.key, 'b_eff_io = %s on %s, definition %s' % (
            text.rate(real(self.root, 'b_eff_io.bytes_per_s')), text.processes(n), definition))
        best = next((p for p in self.partitions if integer(p, 'procs') == n), {})
        self._criteria(best, definition)
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
                f.series(word(kind, 'name'), 'line-points', points.values())
                once += [points[q] for q in points if true(right[q], 'single_read')]
            f.series(ONCE, 'rings', once)
        self.page.figure(f, (
            'Bandwidth of all processes together for each pattern type, over the chunk size, on a '
            'pseudo-logarithmic axis; +8: 8 bytes more than the size to its left, which are the '
            'non-wellformed sizes.'))

    def _axes(self):
        counts = sorted({integer(p, 'procs') for p in self.partitions})
        return {'label': 'processes', 'log': 2, 'ticks': counts}, {
            'label': 'bandwidth in MB/s', 'log': 10}

    def _values(self):
        f = self.figure('partitions', 'b_eff_io over partition sizes')
        f.panel('', *self._axes())
        for d, value in enumerate(items(self.partitions[0], 'values') if self.partitions else ()):
            f.series('definition %s%s' % (word(value, 'definition'), '' if true(value, 'headline')
                                          else ' (computed)'), 'line-points', [
                (integer(p, 'procs'), real(p, 'values.%d.bytes_per_s' % d) / MB)
                for p in self.partitions if real(p, 'values.%d.bytes_per_s' % d) > 0])
        self.page.figure(f, (
            'The value of each partition under the three definitions. The run was scheduled for '
            'one of them; the others are computed from the same measurements. The value of the '
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
                    if real(p, path) > 0])
        self.page.figure(f, "Bytes over time from opening till closing of each type's file, all "
                            'patterns.')
