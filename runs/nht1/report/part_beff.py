# SPDX-License-Identifier: GPL-3.0-or-later
"""The sections about nht1-beff: the value, what is measured beside it, then bandwidth over message
size, methods, patterns."""
import os

from .. import text
from ..results import NAN, at, integer, items, members, real, true, word, words
from . import part_beffio, published
from .page import Figure, Table

MB = 1e6
HOLLOW = ' Marks are hollow: the run is not valid as b_eff.'
BORDER_BYTES = 4096  # where the two halves of the size axis meet
ORDERS = ('natural', 'random')
METHODS = (('sendrecv', 'MPI_Sendrecv'), ('nonblocking', 'MPI_Isend with MPI_Irecv'),
           ('alltoallv', 'MPI_Alltoallv'))


def add(report):
    results = report.results.of('nht1-beff')
    for number, result in enumerate(results, 1):
        _section(report, result, number)
    if not results and report.results.sums_of('b_eff'):
        report.page.section(2, 'beff', 'Communication: b_eff')
        _table(report)


def _section(report, result, number):
    page, root, key = report.page, result.root, '' if number == 1 else '-%d' % number
    ranks, b_eff = integer(root, 'system.ranks', 1), real(root, 'result.b_eff_bytes_per_s')
    valid = true(root, 'result.valid')
    page.section(2, 'beff' + key, 'Communication: %s of %s' % (
        'b_eff' if valid else 'trial of b_eff, not valid,', text.processes(ranks)), report.systems.whose(result), report.way(result))
    page.text('%s communicate at %s, %s each; a message of 1 byte takes %s. The memory of all '
              'could be communicated in %s.' % (
                  text.processes(ranks), text.rate(b_eff),
                  text.rate(b_eff / max(1, ranks)), text.duration(real(root, 'result.latency_s')),
                  text.duration(real(root, 'result.total_memory_s'))))
    balance = real(root, 'balance.bytes_per_flop')
    if balance == balance:
        page.text('Balance: %s bytes per flop (%s).' % (
            text.number(balance, 4), word(root, 'balance.rate')))
    for reason in words(root, 'result.not_valid_because'):
        page.text('Not valid as b_eff: ' + reason, 'warn')
    if number == 1:
        report.tell_common('nht1-beff')
        _table(report)
    _sizes(page, root, key)
    _patterns(page, root, key)


def _table(report):
    """Those here, and those of the paper with what they give when computed again."""
    table = Table('beff', 'Effective bandwidth, with the systems of [RK01]; per process as '
                  'computed from the totals', [
                      'system', 'processes', 'b_eff, MB/s', 'per process', 'L_max, MB',
                      'ping-pong, MB/s', 'b_eff at L_max, MB/s', 'at L_max, per process',
                      'rings at L_max, per process', 'latency, us', 'of rings, us', 'of the ping-pong, us', 'note'])

    def row(system, n, b_eff, lmax, ping_pong, at_lmax, rings_each, note, latencies=(NAN, NAN, NAN)):
        table.row(system, n, b_eff, b_eff / n, lmax, ping_pong, at_lmax, at_lmax / n, rings_each,
                  *[1e6 * s for s in latencies], note)

    for r in report.results.of('nht1-beff'):
        n, root = max(1, integer(r.root, 'system.ranks', 1)), r.root
        row(text.of(word(root, 'system.cpu.model'), report.named(r)) + (
            ', definition 3.6' if word(root, 'definition') == '3.6' else ''), n,
            *[real(root, path) / MB for path in (
                'result.b_eff_bytes_per_s', 'memory.lmax_bytes', 'result.ping_pong_bytes_per_s',
                'result.at_lmax.all_bytes_per_s')],
            real(root, 'result.at_lmax.rings_bytes_per_s') / MB / n,
            '' if true(root, 'result.valid') else 'not valid',
            [real(root, 'result.' + k) for k in ('latency_s', 'rings_latency_s', 'ping_pong_latency_s')])
    for s in report.results.sums_of('b_eff'):
        n = max(1, s['procs'] or 1)
        *mb, rings = [NAN if s[k] is None else s[k] / MB for k in (
            'value', 'lmax_bytes', 'ping_pong', 'at_lmax', 'rings_at_lmax')]
        name = os.path.basename(s['path'])
        row(s['system'] or name, n, *mb, rings / n, name + ('' if s['valid'] else ', not valid'),
            [NAN if s[k] is None else s[k] for k in ('latency_s', 'rings_latency_s', 'ping_pong_s')])
    odd = False
    for p in published.BEFF:
        wrong = published.contradictions(p)
        odd = odd or bool(wrong)
        row(p.system + ' [RK01]', p.processes, float(p.b_eff), p.lmax_mib * 1048576 / MB,
            float(p.ping_pong), float(p.at_lmax), float(p.rings_per_process),
            '; '.join('%s: the paper prints %g, its totals give %.0f' % w for w in wrong))
    report.page.table(table)
    part_beffio.print_faults(report.page, report.results.sums_of('b_eff'))
    if odd:
        report.page.text('The paper contradicts itself where the note says so; both values are '
                         'shown.', 'note')
    _insight(report)


def _insight(report):
    """What is measured beside b_eff, in the ring of all processes."""
    rings = Table('beff-rings', 'Rings as HPCC prints them: natural order and random order', [
        'system', 'processes', 'natural, latency in us', 'random, latency in us',
        'natural, MB/s per process', 'random, MB/s per process'])
    rates = Table('beff-message-rate', 'Message rate: messages of all processes, so many of each on '
                  'their way', ['system', 'processes', 'on their way', 'message',
                                '10^6 messages/s', 'MB/s'])
    ways = Table('beff-ways', 'The ring of all processes by other ways to send, MB/s per process',
                 ['system', 'processes', 'way', 'at ' + text.size_iec(BORDER_BYTES), 'at L_max'])
    for r in report.results.of('nht1-beff'):
        n, insight = max(1, integer(r.root, 'system.ranks', 1)), members(r.root, 'insight')
        who, hpcc = [text.of(word(r.root, 'system.cpu.model'), report.named(r)), n], members(insight, 'hpcc')
        if hpcc:
            rings.row(*who, *[1e6 * real(hpcc, k + '_ring_latency_s') for k in ORDERS],
                      *[real(hpcc, k + '_ring_bytes_per_s') / MB for k in ORDERS])
        for rate in items(insight, 'message_rate'):
            bytes_n, per_s = integer(rate, 'message_bytes'), real(rate, 'messages_per_s')
            rates.row(*who, integer(insight, 'window_n'), (bytes_n, text.size_iec(bytes_n)),
                      per_s / 1e6, per_s * bytes_n / MB)
        border = next((i for i, s in enumerate(items(r.root, 'by_size'))
                       if integer(s, 'message_bytes') == BORDER_BYTES), 0)
        for way in items(insight, 'ring'):
            ways.row(*who, word(way, 'method'), *[
                real(way, 'by_size_bytes_per_s.%d' % i) / n / MB for i in (border, -1)])
    for table in (rings, rates, ways):
        report.page.table(table)


def _sizes(page, root, key):
    """The sizes are halves of an axis, on which the mean over sizes is taken: a panel each."""
    n = max(1, integer(root, 'system.ranks', 1))
    sizes = items(root, 'by_size')
    lmax, valid = real(root, 'memory.lmax_bytes'), true(root, 'result.valid')
    curves = (
        ('beff-sizes', 'Bandwidth against message size',
         [(w, w + '_bytes_per_s') for w in ('rings', 'random')],
         'Bandwidth of a process while all of them send, geometric means over the patterns, best '
         'method. The sizes are as far apart as they count: b_eff is the mean height of these '
         'curves. Where random lies below rings, neighbours are nearer than others.'),
        ('beff-methods', 'Methods against message size',
         [(m, 'by_method.%s.all_bytes_per_s' % m) for m, _ in METHODS],
         'The same, rings and random patterns together, by method: %s.' % ', '.join(
             call for _, call in METHODS)))
    for stem, title, series, caption in curves:
        f = Figure(stem + key, title if valid else title + ', of a trial')
        for name, mine, ticks in (
                ('1 B to 4 KiB', lambda b: b <= BORDER_BYTES, [1, 16, 256, BORDER_BYTES]),
                ('from 4 KiB to L_max', lambda b: b >= BORDER_BYTES,
                 [t for t in (BORDER_BYTES, 65536, 1 << 20, 1 << 24) if t < lmax / 3] +
                 ([lmax] if lmax == lmax else []))):
            f.panel(name, {'label': 'message size', 'log': 2,
                           'ticks': [(t, text.size_iec(t)) for t in ticks]},
                    {'label': 'MB/s per process', 'log': 10})
            for label, path in series:
                f.series(label, 'line-points', [
                    (real(s, 'message_bytes'), real(s, path) / n / MB) for s in sizes
                    if mine(real(s, 'message_bytes')) and real(s, path) > 0], valid)
        page.figure(f, caption if valid else caption + HOLLOW)


def _value(pattern, at_lmax):
    """MB/s of a process that takes part: mean over sizes, or at the last one."""
    value = real(at(pattern, 'by_size_bytes_per_s'), '-1') if at_lmax else \
        real(pattern, 'bytes_per_s')
    alone = word(pattern, 'name') == 'ping-pong'  # one of the two sends at a time
    return value / (1 if alone else max(1, integer(pattern, 'processes_n', 1))) / MB


def _patterns(page, root, key):
    ranks, patterns = max(1, integer(root, 'system.ranks', 1)), items(root, 'patterns')
    names = [word(p, 'name') for p in patterns]
    rows, labels = [], []  # a row is a pattern, or all random ones together
    for i, p in enumerate(patterns):
        random = word(p, 'kind') == 'random'
        if random and 'random' in labels:
            continue
        rows.append([q for q in patterns if word(q, 'kind') == 'random'] if random else [p])
        # Of two processes all rings are the same, and get a number.
        labels.append('random' if random else names[i] if names.count(names[i]) == 1 else
                      '%s, no. %d' % (names[i], names[:i + 1].count(names[i])))
    valid = true(root, 'result.valid')
    f = Figure('beff-patterns' + key, 'Patterns' if valid else 'Patterns, of a trial')
    f.panel('', {'ticks': enumerate(labels)},
            {'label': 'MB/s per process', 'log': 10}, across=True)
    for label, at_lmax in (('mean over sizes', False), ('at L_max', True)):
        points = []
        for x, row in enumerate(rows):
            values = [v for v in (_value(p, at_lmax) for p in row) if v > 0]
            if len(values) > 1:
                points.append((x, real(root, 'result.%s.random_bytes_per_s' % (
                    'at_lmax' if at_lmax else 'average')) / ranks / MB, min(values), max(values)))
            elif values:
                points.append((x, values[0]))
        f.series(label, 'points', points, valid)
    page.figure(f, (
        'Bandwidth of a process that takes part, best method: rings, random patterns (geometric '
        'mean, least and most), then the patterns that are not in b_eff. A ring is named by its '
        'rings: ring-2*4&+1 has two rings of four, the others of one more; ring-1*2fix is one ring '
        'of two. In the ping-pong one process sends at a time.') + ('' if valid else HOLLOW))
