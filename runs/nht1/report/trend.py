# SPDX-License-Identifier: GPL-3.0-or-later
"""nht1-report trend: a metric of one identity over time and versions."""
import calendar
import os
import time
from typing import NamedTuple

from .. import patterns, results, text, trouble, ways
from ..results import NAN, at, integer, items, real, true, word
from . import frame, part_beffio
from .page import HOLLOW_WORDS, Figure, Page, Table
from .rounds import Rounds, Term

EPILOG = """
examples:
  nht1-report trend runs/out                       T_T of every writer over time
  nht1-report trend runs/out --metric zeta -o z.html
  nht1-report trend results/*.json --metric b_eff

What has one identity (problem, system, file system, ranks, threads, writer, options, striping, hints,
environment, durability) is one line; a point is one result, its median where it has several runs. Results without a date take
that of their file. t_c is what a result has measured itself, in runs that compute only; zeta is paired where it has those.

Exit status: 0 success; 1 wrong option, or nothing to draw; 3 a file cannot be read or written, or
Jinja2 or nht1-stats is missing.
"""
# name -> (label, factor, of: Cell or Result)
CELLS = {'t_t': ('T_T in s', 1, lambda c: c.median_s),
         't_c': ('T_C in s', 1, lambda c: NAN if c.writes else c.median_s),
         'zeta': ('zeta', 1, lambda c: c.median_s / results.least(r.t_c_s for r in c.runs) - 1),
         'r_io': ('R_IO in MB/s', 1e-6, lambda c: c.r_io),
         'write_rate': ('rate while writing in MB/s', 1e-6, lambda c: c.write_rate)}
RESULTS = {'b_eff': ('b_eff in MB/s', 1e-6, 'nht1-beff', 'result.b_eff_bytes_per_s'),
           'b_eff_io': ('b_eff_io in MB/s', 1e-6, 'nht1-beffio', 'b_eff_io.bytes_per_s')}
SERIES_MAX = 8  # of a figure


class Point(NamedTuple):
    what: str  # heading of its section
    line: str
    seconds: float  # since 1970
    version: str
    value: float
    low: float
    high: float
    path: str
    valid: bool = True
    over: str = ''  # which T_C zeta is by


def main(argv):
    parser = frame.parser_of('nht1-report trend', 'A metric over time and versions of the programs.',
                           EPILOG, 'trend.html')
    parser.add_argument('--metric', type=str.lower, choices=sorted(CELLS) + sorted(RESULTS), default='t_t',
                        help='what is drawn, default %(default)s')
    options = parser.parse_args(argv)
    found = results.load(options.results)
    frame.libraries()
    points, common, without = (*_of_results(found, options.metric), '') if options.metric in RESULTS else \
        _of_cells(found, options.metric, options.level)
    if not points:
        raise trouble.usage('%s: no result there has a %s%s' % (
            text.clean(options.results[0]), options.metric, without and ': ' + without))
    page = _page(points, common, without, options, found)
    frame.publish(page, options)
    if options.output != '-' and not options.output.startswith('/dev/'):
        print('%s in %s: %s' % (text.plural(len(points), 'point'), text.plural(
            len({(p.what, p.line) for p in points}), 'line'), text.clean(options.output)))
        if without:
            print(without)
        if found.left_out:
            print(found.left_out)
    return 0


def _date(result):
    """Seconds since 1970."""
    try:
        return float(calendar.timegm(time.strptime(result.started_utc[:19], '%Y-%m-%dT%H:%M:%S')))
    except ValueError:
        return os.stat(result.path).st_mtime


def _of_cells(found, metric, level):
    """(a point per result and identity, under names that tell the cells of all results apart; what all of them have in
    common; how many have none as T_C comes from elsewhere, in words, '' for no result)"""
    _, factor, of = CELLS[metric]
    whole = results.Runs(found, level, results.Systems(found, 'nht1-bt'))
    rounds = Rounds(whole, level)
    layouts = {g.layout for g in whole.groups}
    names = {id(run.json): (text.of(g.name, '--sync ' + g.sync, g.layout if len(layouts) > 1 else '', text.plural(c.processors, 'processor')),
                            text.of(c.label, g.whose)) for g in whole.groups for c in g.cells for run in c.runs}
    points, without = [], 0
    for result in found.of('nht1-bt'):
        runs = results.Runs(results.Results([result]), level, whole.systems)
        without += metric == 't_c' and {run.writes for run in runs.all} == {True}
        for cell in (c for group in runs.groups for c in group.cells if c.writes or metric in ('t_t', 't_c')):
            term = rounds.paired(cell) if metric == 'zeta' else Term(NAN)
            paired = term.zeta
            value = paired if paired == paired else factor * of(cell)
            if value != value:
                continue
            ends = (cell.lo_s, cell.hi_s) if metric in ('t_t', 't_c') else (NAN, NAN)
            if paired == paired and rounds.zeta(cell).level == level:
                ends = (term.lo, term.hi)
            points.append(Point(*names[id(cell.runs[0].json)], _date(result), word(result.root, 'version'), value, *ends,
                                result.shown, over='' if metric != 'zeta' else 'paired' if paired == paired else
                                'by T_C as given' if cell.runs[0].given else 'by the best T_C known'))
    over = {p.over for p in points}
    return ([p._replace(line=text.of(p.line, p.over)) for p in points] if len(over) > 1 else points,
            text.of('zeta', *over) if metric == 'zeta' and len(over) == 1 else '',
            '%s no compute-only run and so no point: T_C comes from elsewhere' % text.plural(
                without, 'result has', 'results have') if without else '')


def _valid(root, kind):
    return true(root, {'nht1-beff': 'result', 'nht1-beffio': 'b_eff_io'}[kind] + '.valid')


def _line(root, kind):
    """What has to be alike for values to be of one curve, in words; '' where it is not known."""
    of = {'nht1-beff': '', 'nht1-beffio': 'b_eff_io.'}[kind]
    definition, buffers = word(root, of + 'definition'), patterns.offset_words(patterns.offset(root, of + 'buffer_offset_bytes'))
    partitions, t_min = [integer(p, 'procs') for p in items(root, 'partitions') if at(p, 'completed') is not False] if of else None, part_beffio.minutes(root)
    return tuple(words if known else '' for words, known in (
        (text.plural(integer(root, 'system.ranks', 1), 'rank'), True), ('T = %.3g min' % t_min, t_min == t_min),
        ('partitions of %s process%s' % (', '.join(map(str, partitions)), 'es' * (partitions != [1])) if partitions else '', True), ('definition ' + definition, definition),
        ('buffers %s bytes off a page' % buffers, buffers), ('not valid', not _valid(root, kind)),
        (part_beffio.of_memory(root), of)))


def _of_results(found, metric):
    """(points, what all of them have in common)"""
    _, factor, kind, path = RESULTS[metric]
    mine = [r for r in found.of(kind) if factor * real(r.root, path) == factor * real(r.root, path)]
    systems, measured = results.Systems(found, kind), ways.ResultWays(mine)
    lines = [(*_line(r.root, kind), systems.whose(r), measured.name_of(r)) for r in mine]
    varied = [len(set(words)) > 1 for words in zip(*lines)]
    points = [Point(word(r.root, 'system.cpu.model') or 'unnamed system',
                    text.of(*(w for w, differs in zip(line, varied) if differs)) or line[0], _date(r),
                    word(r.root, 'version'), factor * real(r.root, path), NAN, NAN, r.shown, _valid(r.root, kind))
              for r, line in zip(mine, lines)]
    return points, text.of(*(w for w, differs in zip(lines[0] if lines else (), varied) if not differs), measured.common)


def _page(points, common, without, options, found):
    label = (CELLS.get(options.metric) or RESULTS[options.metric])[0]
    page = Page(options.title or '%s over time' % label.partition(' in ')[0])
    points = sorted(points, key=lambda p: (p.what, p.seconds, p.line))
    versions = dict.fromkeys(p.version for p in sorted(points, key=lambda p: p.seconds))
    page.lead.append('%s of %s, versions %s.' % (
        text.plural(len(points), 'point'), text.plural(len(found), 'result'),
        ', '.join(v or 'unknown' for v in versions)))
    if common:
        page.lead.append('All of them: %s.' % common)
    if without:
        page.lead.append(without + '.')
    if any(p.low == p.low for p in points):
        page.lead.append('Intervals are at %g %%.' % (100 * options.level))
    for number, what in enumerate(dict.fromkeys(p.what for p in points), 1):
        mine = [p for p in points if p.what == what]
        lines = list(dict.fromkeys(p.line for p in mine))
        page.section(2, 'trend-%d' % number, what)
        for k in range(0, len(lines), SERIES_MAX):
            f = Figure('trend-%d%s' % (number, '' if k == 0 else '-%d' % (k // SERIES_MAX + 1)),
                       '%s: %s' % (what, label))
            f.panel('', {'label': 'start of the measurement, UTC', 'time': True}, label)
            for line in lines[k:k + SERIES_MAX]:
                of = [p for p in mine if p.line == line]
                f.series(line, 'line-points', [(p.seconds, p.value, p.low, p.high) for p in of], of[0].valid)
            before, marked = {}, set()  # of each line: several systems may have theirs
            for p in (p for p in mine if p.line in lines[k:k + SERIES_MAX]):
                if before.get(p.line, p.version if before else None) != p.version and (p.seconds, p.version) not in marked:
                    marked.add((p.seconds, p.version))
                    f.mark(p.seconds, p.version or 'unknown')
                before[p.line] = p.version
            page.figure(f, 'Dotted lines show where another version of the programs begins.' + (
                '' if all(p.valid for p in mine) else ' ' + HOLLOW_WORDS))
        table = Table('trend-%d' % number, what, ['started, UTC', 'version', 'line', label,
                                                  'from', 'to', 'file'])
        for p in mine:
            table.row(time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(p.seconds)), p.version, p.line,
                      p.value, p.low, p.high, p.path)
        page.table(table)
    return page
