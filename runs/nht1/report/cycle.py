# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole cycle of a checkpoint in one number (--mtbf): how often a program should dump with each
writer, and what share of the machine's time dumps, lost work and restarts then take."""
import argparse
import math

from .. import checkpoint, command, text
from ..results import NAN, positive
from .page import Figure, Table

HOUR_S = 3600.0
MTBF_MIN_H, MTBF_MAX_H, MTBF_MAX_N = 1e-4, 1e8, 8
DUMP_MIN_S, DUMP_MAX_S, DOWNTIME_MAX_S = 1e-9, 1e9, 1e9  # no dump costs less or more
LINES_MAX = 8  # of the figure
CURVE_FACTOR, CURVE_STEPS = 10, 80  # beyond what was asked for, on both sides


def options(parser):
    """What nht1-report takes for it."""
    parser.add_argument(
        '--mtbf', metavar='HOURS', type=_hours, default=[],
        help='mean time between failures of the nodes of the job, a list such as 6,24,168: adds the '
             'best checkpoint interval of each writer and what failures cost; needs results of '
             'nht1-bt --read')
    parser.add_argument(
        '--downtime', metavar='S', type=command.number(0, DOWNTIME_MAX_S), default=0.0,
        help='with --mtbf: seconds that a restart takes beside reading the dump, from the failure '
             'to the start of the job, default %(default)g')


def _hours(listed):
    """'24' or '6,24,168' as numbers, ascending, each once."""
    found = set()
    for word in listed.split(','):
        try:
            value = float(word)
        except ValueError:
            value = NAN
        if not MTBF_MIN_H <= value <= MTBF_MAX_H:
            raise argparse.ArgumentTypeError(
                "'%s': hours from %g to %g are expected, such as 24 or 6,24,168" % (
                    text.clean(word, 40), MTBF_MIN_H, MTBF_MAX_H))
        found.add(value)
    if len(found) > MTBF_MAX_N:
        raise argparse.ArgumentTypeError('%d values; at most %d are drawn' % (
            len(found), MTBF_MAX_N))
    return sorted(found)


class _Cycle:
    """A writer's: unknown numbers are NaN."""

    def __init__(self, cell, dumps, downtime_s):
        self.label, self.reading = cell.label, dumps.restart(cell)
        dump_s = dumps.written_s(cell)
        self.dump_s = dump_s if DUMP_MIN_S <= dump_s <= DUMP_MAX_S else NAN
        self.step_s = positive(cell.t_c_s / positive(cell.group.steps))
        self.t_r_s = self.reading.median_s if self.reading else NAN
        self.restart_s = self.t_r_s + downtime_s

    def interval_s(self, mtbf_s):
        """Daly's, but a step at least: more often no program can dump."""
        best_s = checkpoint.daly(self.dump_s, mtbf_s)
        return max(best_s, self.step_s) if self.step_s == self.step_s else best_s

    def steps(self, mtbf_s):
        """The same in whole time steps."""
        steps = self.interval_s(mtbf_s) / self.step_s
        return round(steps) if math.isfinite(steps) else NAN

    def loss(self, mtbf_s):
        """checkpoint.Loss in percent."""
        return checkpoint.Loss(*(100 * share for share in checkpoint.loss(
            self.interval_s(mtbf_s), self.dump_s, self.restart_s, mtbf_s)))

    def lost(self, mtbf_s):
        return sum(self.loss(mtbf_s))


def add(section, processors):
    """section: of part_bt; processors: those at which its writers are compared. Where nothing was
    read on as many, the largest count on which something was."""
    report, page = section.report, section.page
    able = [c for c in section.group.cells if c.writes and not c.drops]
    if not report.mtbf_hours or not able:
        return
    counts = {c.processors for c in able if report.dumps.read(c)} or {c.processors for c in able}
    processors = processors if processors in counts else max(counts)
    cycles = [_Cycle(c, report.dumps, report.downtime_s) for c in able if c.processors == processors]
    page.section(3, 'cycle' + section.key, 'The best checkpoint interval')
    _missing(page, cycles)
    known = [c for c in cycles if c.dump_s == c.dump_s]
    known.sort(key=lambda c: (c.t_r_s != c.t_r_s, c.dump_s))
    _figure(section, [c for c in known if c.t_r_s == c.t_r_s])
    _table(section, known)
    _limits(section, known)


def _missing(page, cycles):
    for what, lacking, remedy in (
            ('What a dump costs', [c for c in cycles if c.dump_s != c.dump_s],
             'the result has no time in I/O (in_io_s): run nht1-bt of this version.'),
            ('T_R', [c for c in cycles if c.t_r_s != c.t_r_s],
             'run nht1-bt with --read last, or runs/study restart. Without it there is a best '
             'interval, but no share of the time.'),
            ('T_C', [c for c in cycles if c.step_s != c.step_s],
             'run nht1-bt with --tc measure, or with none among its --io. Without it the interval '
             'is known in seconds, not in steps.')):
        if lacking:
            page.text('%s is not known of %s: %s' % (
                what, ', '.join(c.label for c in lacking), remedy), 'note')


def _figure(section, cycles):
    if not cycles:
        return
    asked = section.report.mtbf_hours
    shown = cycles if len(cycles) <= LINES_MAX else cycles[:LINES_MAX - 1] + cycles[-1:]
    shown = sorted(shown, key=lambda c: c.lost(asked[0] * HOUR_S))
    low, high = asked[0] / CURVE_FACTOR, asked[-1] * CURVE_FACTOR
    places = sorted([low * (high / low) ** (i / CURVE_STEPS) for i in range(CURVE_STEPS + 1)] + asked)
    f = Figure('cycle' + section.key, 'What dumps and failures cost')
    for name, label, value in (
            ('time lost', 'share of the time lost in %', _Cycle.lost),
            ('best interval', 'computing between dumps in s', _Cycle.interval_s)):
        f.panel(name, {'label': 'mean time between failures in h', 'log': 10},
                {'label': label, 'log': 10})
        for c in shown:
            f.series(c.label, 'line', [(h, value(c, h * HOUR_S)) for h in places])
        for h in asked:
            f.mark(h, '%g h' % h)
    section.page.figure(f, _seen(section, shown, len(cycles) - len(shown)))


def _seen(section, shown, more_n):
    """What the figure shows, in words. shown: the least loss first."""
    h = section.report.mtbf_hours[0]
    best, worst, mtbf_s = shown[0], shown[-1], h * HOUR_S
    steps = best.steps(mtbf_s)
    return (
        'Time lost to dumps, lost work and restarts when a program dumps at the best interval of '
        '[Daly], and that interval. With one failure in %g h %s loses %s %%%s. %s should dump after '
        'every %s of computing%s. Dotted: what --mtbf asked for.%s' % (
            h, best.label, text.number(best.lost(mtbf_s)), '' if len(shown) == 1 else
            ', %s %s %%' % (worst.label, text.number(worst.lost(mtbf_s))) if len(shown) == 2 else
            ' and %s, the most of these, %s %%' % (worst.label, text.number(worst.lost(mtbf_s))),
            best.label, text.duration(best.interval_s(mtbf_s)), '' if steps != steps else
            ', %s' % text.plural(steps, 'step'), '' if not more_n else
            ' Drawn are the %d with the cheapest dumps and the one with the dearest.' % (
                LINES_MAX - 1)))


def _table(section, cycles):
    table = Table('cycle' + section.key, 'Best interval between dumps, and the share of the '
                  "machine's time that is lost with it", [
                      'writer', 'MTBF in h', 'a dump costs, in s', 'T_R in s',
                      'interval [Young], in s', '[Daly], in s', 'in steps', 'lost, %',
                      'of that dumps', 'lost work', 'restarts'])
    for h in section.report.mtbf_hours:
        mtbf_s = h * HOUR_S
        for c in cycles:
            table.row(c.label, (h, '%g' % h), c.dump_s, c.t_r_s,
                      checkpoint.young(c.dump_s, mtbf_s), checkpoint.daly(c.dump_s, mtbf_s),
                      c.steps(mtbf_s), c.lost(mtbf_s), *c.loss(mtbf_s))
    section.page.table(table)


def _limits(section, cycles):
    """What the numbers rest on."""
    report, page, sync = section.report, section.page, section.group.sync
    page.text(
        'Intervals: [Young] in first order, [Daly] in higher order; shares: the complete model of '
        '[Daly]. Failures come at random, one per MTBF on the average on all nodes of the job, also '
        'during dumps and restarts. A restart takes T_R%s.' % (
            '; --downtime adds what it takes besides' if not report.downtime_s else
            ' and %s (--downtime)' % text.duration(report.downtime_s)))
    if sync != 'dump':
        page.text('Measured with --sync %s: %s. --sync dump measures dumps each of which is durable.'
                  % (sync or 'unknown', 'a dump may be in memory only, where it is lost with its node'
                     if sync == 'none' else 'flushing comes once, at the end, and is spread over all '
                     'dumps; until then a dump may be in memory only'), 'note')
    memory = [c.label for c in cycles if c.reading and c.reading.from_memory]
    if memory:
        page.text('T_R of %s is that of memory. After a failure a dump comes from the device: '
                  '--read-cache cold.' % ', '.join(memory), 'warn')
    for c in cycles:
        if c.reading and not c.reading.from_memory and not c.reading.way.own:
            page.text('T_R of %s is that of reading %s.' % (c.label, c.reading.way), 'note')
    slow = [h for h in report.mtbf_hours if any(c.dump_s >= 2 * h * HOUR_S for c in cycles)]
    if slow:
        page.text('With one failure in %s h a dump that takes twice as long or longer hardly ever '
                  'gets done: the interval is the MTBF itself, and nearly all time is lost.' %
                  ' or '.join('%g' % h for h in slow), 'warn')
