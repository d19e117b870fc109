# SPDX-License-Identifier: GPL-3.0-or-later
"""The sections about nht1-profile: what an MPI-IO program did, and zeta of it."""
import os

from .. import text
from ..results import at, integer, items, members, real, word, words
from .page import Figure, Table

MB = 1e6
POINTS_MAX, RANKS_MAX = 12, 8


def add(report):
    for number, result in enumerate(report.results.of('nht1-profile'), 1):
        _section(report.page, result, '' if number == 1 else '-%d' % number)


def _section(page, result, key):
    root, profile = result.root, members(result.root, 'profile')
    command = ' '.join(os.path.basename(w) for w in words(root, 'command'))
    page.section(2, 'profile' + key, 'Profile of %s' % (text.clean(command, 70) or 'a program'))
    wall, inside = real(profile, 'wall_s'), real(profile, 'inside_mean_s')
    page.text('%s took %s, %s of that inside I/O (mean over ranks; most: %s, rank %d): %s in %s, '
              '%s in %s.' % (
                  text.plural(integer(profile, 'ranks_n'), 'rank'), text.duration(wall),
                  text.duration(inside), text.duration(real(profile, 'inside_max_s')),
                  integer(profile, 'inside_max_rank'),
                  text.size(real(profile, 'written_bytes')) + ' written',
                  text.plural(integer(profile, 'writes_n'), 'call'),
                  text.size(real(profile, 'read_bytes')) + ' read',
                  text.plural(integer(profile, 'reads_n'), 'call')))
    page.stamps(result.stamps)
    zeta = members(root, 'zeta')
    if zeta:
        table = Table('profile-zeta' + key, 'zeta of this program: with its writes and with them '
                      'dropped', ['T_T in s', 'T_C in s', 'zeta', 'from', 'to',
                                  'of that inside I/O'])
        table.row(real(zeta, 't_t_s'), real(zeta, 't_c_s'), *[
            (real(zeta, k), text.zeta(real(zeta, k)))
            for k in ('zeta', 'zeta_ci95_lo', 'zeta_ci95_hi', 'zeta_io')])
        page.table(table)
    points = items(profile, 'points')
    _functions(page, points, members(profile, 'other'), key)
    _sizes(page, points, key)
    _timeline(page, members(profile, 'timeline'), key)
    table = Table('profile-slowest' + key, 'Slowest calls', [
        'inside I/O in s', 'function', 'bytes', 'at byte', 'file', 'rank', 'host', 'from s'])
    for call in items(profile, 'slowest'):
        bytes_ = real(call, 'bytes')
        table.row(real(call, 'inside_s'), word(call, 'function'), (bytes_, text.size(bytes_)),
                  real(call, 'offset_bytes'), word(call, 'file'), integer(call, 'rank'),
                  word(call, 'host'), real(call, 'begin_s'))
    if items(profile, 'slowest'):
        page.table(table)
    ranks = sorted(items(profile, 'ranks'), key=lambda r: -max(0, real(r, 'inside_s')))
    table = Table('profile-ranks' + key, 'Slowest ranks', [
        'rank', 'host', 'inside I/O in s', 'of s', 'state'])
    for r in ranks[:RANKS_MAX]:
        table.row(integer(r, 'rank'), word(r, 'host'), real(r, 'inside_s'), real(r, 'wall_s'),
                  word(r, 'state'))
    page.table(table)


def _functions(page, points, other, key):
    table = Table('profile-functions' + key, 'Calls by file and function', [
        'file', 'from s', 'function', 'calls', 'bytes', 'time of all in s', 'longest in s',
        'MB/s inside'])
    for point in points[:POINTS_MAX]:
        for name, calls in sorted(members(point, 'functions').items(),
                                  key=lambda c: -max(0, real(c[1], 'total_s'))):
            _calls(table, word(point, 'file') or '-', real(point, 'begin_s'), name, calls)
    for name, calls in other.items():
        _calls(table, '(other)', float('nan'), name, calls)
    page.table(table)
    if len(points) > POINTS_MAX:
        page.text('%s more are in the JSON only.' % text.plural(
            len(points) - POINTS_MAX, 'working point'), 'note')


def _calls(table, file, begin_s, name, calls):
    moved, total = real(calls, 'bytes'), real(calls, 'total_s')
    table.row(file, begin_s, name, integer(calls, 'n'), (moved, text.size(moved)), total,
              real(calls, 'max_s'), moved / total / MB if total > 0 and moved > 0 else float('nan'))


def _sizes(page, points, key):
    """Calls by size, all points together."""
    total = {}
    for point in points:
        for s in items(point, 'sizes'):
            reads, writes = total.get(integer(s, 'from_bytes'), (0, 0))
            total[integer(s, 'from_bytes')] = (reads + integer(s, 'reads_n'),
                                               writes + integer(s, 'writes_n'))
    rows = sorted(total)
    f = Figure('profile-sizes' + key, 'Calls by size')
    f.panel('', {'ticks': enumerate('from ' + text.size_iec(b) for b in rows)},
            {'label': 'calls', 'log': 10}, across=True)
    for label, which in (('reads', 0), ('writes', 1)):
        f.series(label, 'points', [(i, total[b][which]) for i, b in enumerate(rows)
                                   if total[b][which] > 0])
    page.figure(f, 'Reads and writes of all ranks by the bytes of a call.')


def _timeline(page, timeline, key):
    width = real(timeline, 'bin_s')
    if not width > 0:
        return
    f = Figure('profile-timeline' + key, 'Reading and writing over time')
    x = 'time after the first MPI_Init in s'

    def series(name):
        values = at(timeline, name)
        return [(width * (i + 0.5), real(v)) for i, v in enumerate(
            values if isinstance(values, list) else ())]
    f.panel('bytes', x, {'label': 'MB/s of all ranks', 'from_zero': True})
    for label, name in (('read', 'read_bytes'), ('written', 'written_bytes')):
        f.series(label, 'line', [(t, v / width / MB) for t, v in series(name)])
    f.panel('time', x, {'label': 'share of the time inside I/O', 'from_zero': True}, key=False)
    f.series('inside I/O', 'line', series('inside_share'))
    page.figure(f, 'Rates are means over bins of %s; the share is that of all ranks.' %
                text.duration(width))
