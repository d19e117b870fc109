# SPDX-License-Identifier: GPL-3.0-or-later
"""nht1-report trend: a metric of one identity over time and versions."""
import calendar
import os
import time

from .. import results, stats, text, trouble
from ..results import NAN, real, true, word
from . import frame
from .page import Figure, Page, Table

EPILOG = """
examples:
  nht1-report trend runs/out                       T_T of every writer over time
  nht1-report trend runs/out --metric zeta -o z.html
  nht1-report trend results/*.json --metric b_eff

What has one identity (problem, ranks, threads, writer, options, hints, environment, durability) is
one line; a point is one result, its median where it has several runs. Results without a date take
that of their file.

Exit status: 0 success; 1 wrong option, or nothing to draw; 3 a file cannot be read or written, or
Jinja2 or nht1-stats is missing.
"""
# name -> (label, factor, of: Cell or Result)
CELLS = {'t_t': ('T_T in s', 1, lambda c: c.median_s),
         't_c': ('T_C in s', 1, lambda c: results.least(r.t_c_s for r in c.runs)),
         'zeta': ('zeta', 1, lambda c: c.median_s / results.least(
             r.t_c_s for r in c.runs) - 1 if c.writes else NAN),
         'r_io': ('R_IO in MB/s', 1e-6, lambda c: c.r_io),
         'write_rate': ('rate while writing in MB/s', 1e-6, lambda c: c.write_rate)}
RESULTS = {'b_eff': ('b_eff in MB/s', 1e-6, 'nht1-beff', 'result.b_eff_bytes_per_s'),
           'b_eff_io': ('b_eff_io in MB/s', 1e-6, 'nht1-beffio', 'b_eff_io.bytes_per_s')}
SERIES_MAX = 8  # of a figure


def main(argv):
    parser = frame.parser_of('nht1-report trend', 'A metric over time and versions of the programs.',
                           EPILOG, 'trend.html')
    parser.add_argument('--metric', choices=sorted(CELLS) + sorted(RESULTS), default='t_t',
                        help='what is drawn, default %(default)s')
    options = parser.parse_args(argv)
    if not options.results:
        raise trouble.usage('which results? usage: nht1-report trend FOLDER...; see --help')
    found = results.load(options.results)
    frame.libraries()
    points = _of_results(found, options.metric) if options.metric in RESULTS else \
        _of_cells(found, options.metric, options.level)
    if not points:
        raise trouble.usage('%s: no result there has a %s' % (
            text.clean(options.results[0]), options.metric))
    page = _page(points, options, found)
    frame.publish(page, options)
    if not options.output.startswith('/dev/'):
        print('%s in %s: %s' % (text.plural(len(points), 'point'), text.plural(
            len({p[:2] for p in points}), 'line'), text.clean(options.output)))
    return 0


def _date(result):
    """Seconds since 1970."""
    try:
        return float(calendar.timegm(time.strptime(result.started_utc[:19], '%Y-%m-%dT%H:%M:%S')))
    except ValueError:
        return os.stat(result.path).st_mtime


def _of_cells(found, metric, level):
    """[(what, line, seconds, version, value, low, high, path)], a point per result and identity."""
    factor, of = CELLS[metric][1:]
    every = results.Runs(found)
    every.judge(stats.ask, level)  # labels that tell all cells apart
    label = {(g.problem, tuple(c.identity.items())): (g, c.label) for g in every.groups
             for c in g.cells}
    points = []
    for result in found.of('nht1-bt'):
        one = results.Results([result])
        runs = results.Runs(one)
        runs.judge(stats.ask, level)
        for group in runs.groups:
            for cell in group.cells:
                value = factor * of(cell)
                if value == value and (cell.writes or metric in ('t_t', 't_c')):
                    where, name = label.get((group.problem, tuple(cell.identity.items())),
                                            (group, cell.label))
                    ends = [factor * v for v in (cell.lo_s, cell.hi_s)] if metric == 't_t' \
                        else [NAN, NAN]
                    points.append(('%s, --sync %s, %s' % (
                        where.name, where.sync, text.plural(cell.processors, 'processor')), name,
                        _date(result), word(result.root, 'version'), value, *ends, result.shown))
    return points


def _of_results(found, metric):
    _, factor, kind, path = RESULTS[metric]
    valid = {'nht1-beff': 'result.valid', 'nht1-beffio': 'b_eff_io.valid'}[kind]
    points = []
    for r in found.of(kind):
        value = factor * real(r.root, path)
        if value == value:
            points.append((word(r.root, 'system.cpu.model') or 'this system', '%s%s%s' % (
                text.plural(results.integer(r.root, 'system.ranks', 1), 'rank'),
                ', definition ' + word(r.root, 'definition') if word(r.root, 'definition') else '',
                '' if true(r.root, valid) else ', not valid'), _date(r), word(
                    r.root, 'version'), value, NAN, NAN, r.shown))
    return points


def _page(points, options, found):
    label = (CELLS.get(options.metric) or RESULTS[options.metric])[0]
    page = Page(options.title or '%s over time' % label.partition(' in ')[0])
    points = sorted(points, key=lambda p: (p[0], p[2], p[1]))
    versions = list(dict.fromkeys(p[3] for p in sorted(points, key=lambda p: p[2])))
    page.lead.append('%s of %s, versions %s.' % (
        text.plural(len(points), 'point'), text.plural(len(found), 'result'),
        ', '.join(v or 'unknown' for v in versions)))
    number = 0
    for what in dict.fromkeys(p[0] for p in points):
        mine = [p for p in points if p[0] == what]
        lines = list(dict.fromkeys(p[1] for p in mine))
        number += 1
        page.section(2, 'trend-%d' % number, what)
        for k in range(0, len(lines), SERIES_MAX):
            f = Figure('trend-%d%s' % (number, '' if k == 0 else '-%d' % (k // SERIES_MAX + 1)),
                       '%s: %s' % (what, label))
            f.panel('', {'label': 'start of the measurement, UTC', 'time': True}, label)
            for line in lines[k:k + SERIES_MAX]:
                f.series(line, 'line-points', [(p[2], p[4], p[5], p[6]) for p in mine
                                               if p[1] == line])
            before = None
            for p in sorted(mine, key=lambda p: p[2]):
                if p[3] != before:
                    f.mark(p[2], p[3] or 'unknown')
                before = p[3]
            page.figure(f, 'Dotted lines show where another version of the programs begins.')
        table = Table('trend-%d' % number, what, ['started, UTC', 'version', 'line', label,
                                                  'from', 'to', 'file'])
        for p in mine:
            table.row(time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(p[2])), p[3], p[1], p[4], p[5],
                      p[6], p[7])
        page.table(table)
    return page
