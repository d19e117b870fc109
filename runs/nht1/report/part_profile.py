# SPDX-License-Identifier: GPL-3.0-or-later
"""The sections about nht1-profile: what an MPI-IO program did, and zeta of it."""
import os

from .. import text
from ..results import at, integer, items, members, real, word, words
from .page import Figure, Table

MB = 1e6
LOG_RANGE, LOG_FROM = 1e4, 30  # of colours; above so many times the median rate they are logarithmic
POINTS_MAX, RANKS_MAX = 12, 8


def add(report):
    for number, result in enumerate(report.results.of('nht1-profile'), 1):
        _section(report.page, result, '' if number == 1 else '-%d' % number, report.systems.whose(result), report.way(result))


def _section(page, result, key, whose, way):
    root, profile = result.root, members(result.root, 'profile')
    command = ' '.join(os.path.basename(w) for w in words(root, 'command'))
    page.section(2, 'profile' + key, 'Profile of %s' % (text.clean(command, 70) or 'a program'), whose, way)
    wall, inside = real(profile, 'wall_s'), real(profile, 'inside_mean_s')
    ranks_n = integer(profile, 'ranks_n')
    mpi_n = integer(profile, 'mpi_ranks_n', ranks_n)
    noun, several = ('rank', 'ranks') if mpi_n > 0 else ('process', 'processes')
    others_n = ranks_n - mpi_n if mpi_n > 0 else 0
    # What counts them all, and the numbers of all.
    alike, number = ('ranks and other processes', 'rank; from %d on other processes' % mpi_n) if others_n > 0 else (several, noun)
    at_least_one, waiting = real(profile, 'inside_any_s'), real(profile, 'waiting_mean_s')
    most, most_any = real(profile, 'inside_max_s'), real(profile, 'inside_max_any_s')
    threads = most > 1.01 * most_any # else it is one, or not known
    page.text('%s took %s, %s %s inside I/O (mean over %s; most: %s, %s %d%s%s): %s in %s, '
              '%s in %s.' % (
                  text.plural(ranks_n - others_n, noun, several) + (
                      ' and %s' % text.plural(others_n, 'other process', 'other processes') if others_n > 0 else ''), text.duration(wall),
                  text.duration(inside), 'of all threads together' if threads else 'of that', several, text.duration(most), noun,
                  integer(profile, 'inside_max_rank'),
                  ', with at least one thread inside %s' % text.duration(most_any) if threads else '',
                  '; at least one of %s: %s%s' % ('these or the others' if others_n > 0 else 'them', text.duration(at_least_one), ', without %s for each in collective calls that the '
                      'last rank had not begun (waiting or, in OMPIO, perhaps writing)' % text.duration(waiting) if waiting > 0.01 * inside else '')
                  if ranks_n > 1 and at_least_one == at_least_one else '',
                  text.size(real(profile, 'written_bytes')) + ' written',
                  text.plural(integer(profile, 'writes_n'), 'call'),
                  text.size(real(profile, 'read_bytes')) + ' read',
                  text.plural(integer(profile, 'reads_n'), 'call')))
    outside = [integer(profile, 'outside_%s_bytes' % d, 0) for d in ('written', 'read')]
    if any(outside):
        page.text('%s of it written and %s read before MPI_Init or after MPI_Finalize, or by processes that began or ended there: not '
                  'in this time, nor in R_IO and zeta.' % tuple(text.size(n) for n in outside))
    for unseen in items(profile, 'not_seen'):
        page.text('Not seen: %s.' % word(unseen, 'sentence'), 'warn')
    page.stamps(result.stamps)
    zeta = members(root, 'zeta')
    if zeta:
        table = Table('profile-zeta' + key, 'zeta of this program: with its writes and with them '
                      'dropped', ['T_T in s', 'T_C in s', 'zeta', 'from', 'to',
                                  'of that %sinside I/O' % ('with a %s ' % (noun + ' or process' if others_n > 0 else noun) if ranks_n > 1 and at_least_one == at_least_one else '')])
        table.row(real(zeta, 't_t_s'), real(zeta, 't_c_s'), *[
            (real(zeta, k), text.zeta(real(zeta, k)))
            for k in ('zeta', 'zeta_ci95_lo', 'zeta_ci95_hi', 'zeta_io')])
        page.table(table)
    points = items(profile, 'points')
    _functions(page, points, members(profile, 'other'), key)
    _sizes(page, points, key)
    start = 'the first MPI_Init' if mpi_n == ranks_n else 'the first process began' if mpi_n <= 0 else \
        'the first MPI_Init or process'
    _timeline(page, members(profile, 'timeline'), start, several, alike, key)
    _heat_map(page, members(profile, 'timeline'), start, number, noun, several, key)
    table = Table('profile-slowest' + key, 'Slowest calls', [
        'inside I/O in s', 'function', 'bytes', 'at byte', 'file', number, 'host', 'from s'])
    for call in items(profile, 'slowest'):
        bytes_, at_byte = real(call, 'bytes'), real(call, 'offset_bytes')
        table.row(real(call, 'inside_s'), word(call, 'function'), (bytes_, text.size(bytes_)),
                  (at_byte, '%d' % at_byte) if at_byte == at_byte else at_byte, word(call, 'file'), integer(call, 'rank'),
                  word(call, 'host'), real(call, 'begin_s'))
    if items(profile, 'slowest'):
        page.table(table)
    ranks = sorted(items(profile, 'ranks'), key=lambda r: -max(0, real(r, 'inside_s')))
    table = Table('profile-ranks' + key, 'Slowest ' + alike, [
        number, 'host', 'inside I/O in s', 'of s', 'state'])
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
    page.figure(f, 'Reads and writes by the bytes of a call.')


def _timeline(page, timeline, start, several, alike, key):
    width, begin = real(timeline, 'bin_s'), real(timeline, 'begin_s')
    if not width > 0:
        return
    f = Figure('profile-timeline' + key, 'Reading and writing over time')
    x = 'time after %s in s' % start

    def series(name):
        values = at(timeline, name)
        return [((begin if begin == begin else 0) + width * (i + 0.5), real(v)) for i, v in enumerate(
            values if isinstance(values, list) else ())]
    f.panel('bytes', x, {'label': 'MB/s of all %s' % alike, 'from_zero': True})
    for label, name in (('read', 'read_bytes'), ('written', 'written_bytes')):
        f.series(label, 'line', [(t, v / width / MB) for t, v in series(name)])
    f.panel('time', x, {'label': 'share of the time inside I/O', 'from_zero': True}, key=False)
    f.series('inside I/O', 'line', series('inside_share'))
    page.figure(f, 'Rates are means over bins of %s; the share is that of all %s.' % (
        text.duration(width), several))


def rates(timeline, name):
    """The cells of a heat map, [(first rank, last rank, [(seconds, MB/s of a rank), ...]), ...], those in
    which something was moved; name: read_bytes or written_bytes."""
    width = real(timeline, 'by_rank.bin_s')
    begin = real(timeline, 'begin_s')
    found = []
    for row in items(timeline, 'by_rank.rows') if width > 0 and begin == begin else ():
        first, ranks = integer(row, 'first_rank'), integer(row, 'ranks_n')
        if ranks < 1 or first != (found[-1][1] + 1 if found else 0):
            return []  # no result of ours
        seen, values = integer(row, 'ranks_seen_n'), at(row, name)
        cells = [(begin + width * (i + 0.5), real(v) / width / max(1, seen) / MB)
                 for i, v in enumerate(values if isinstance(values, list) else ())]
        found.append((first, first + ranks - 1, [c for c in cells if c[1] > 0]))
    return found


def _heat_map(page, timeline, start, axis, noun, several, key):
    """Rates of every rank over time: one scale of colours for what is read and written."""
    maps = [(label, rates(timeline, name))
            for label, name in (('written', 'written_bytes'), ('read', 'read_bytes'))]
    all_rates = sorted(v for _, rows in maps for _, _, cells in rows for _, v in cells)
    if not all_rates:
        return
    rows = maps[0][1]
    begin, width = real(timeline, 'begin_s'), real(timeline, 'by_rank.bin_s')
    columns = max(len(v) for row in items(timeline, 'by_rank.rows') for v in (
        at(row, 'written_bytes'), at(row, 'read_bytes')) if isinstance(v, list))
    most = all_rates[-1]
    log = most > LOG_FROM * all_rates[len(all_rates) // 2]
    low = max(all_rates[0], most / LOG_RANGE) if log else 0
    in_a_row = max(last - first + 1 for first, last, _ in rows)
    label = 'MB/s of a %s' % noun if in_a_row == 1 else 'MB/s, mean of %d %s' % (in_a_row, several)
    did = ' and '.join(doing for doing, (_, found) in (('Reading', maps[1]), ('writing', maps[0]))
                       if any(cells for _, _, cells in found))
    f = Figure('profile-heat-map' + key, '%s over time and %s' % (text.sentence(did), several))
    for name, rows in maps:
        f.panel(name, 'time after %s in s' % start, axis, key=False, cells={
            'label': label, 'log': log, 'low': low, 'high': most, 'width': width, 'height': in_a_row,
            'x': [begin, begin + columns * width], 'y': [rows[0][0] - 0.5, rows[-1][1] + 0.5]})
        for first, last, cells in rows:
            f.series('%s %d' % (noun, first) if first == last else '%s %d to %d' % (several, first, last),
                     'cells', [(t, v, first, last) for t, v in cells])
    page.figure(f, 'Rates are means over %s; colours are %s, the same for what is written and read; pale grey: '
                'nothing.%s' % (
                    text.duration(width), 'logarithmic' if log else 'linear',
                    '' if in_a_row == 1 else ' Each row is the mean of up to %d neighbouring %s.' % (
                        in_a_row, several)))
