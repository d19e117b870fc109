# SPDX-License-Identifier: GPL-3.0-or-later
"""The sections about nht1-bt: a problem at a time, then what was published in 1993."""
import math

from .. import stats, text
from ..results import NAN, SHOWN, integer, items, members, real, word
from . import cycle, published, read_back
from .page import Figure, Table
from .published import YMP_102, YMP_102_NAME
from .rounds import GOAL, ROUNDS_MIN

MB = 1e6
GROUPS_MAX = 12
WRITERS_MAX = 40
TIMELINES_MAX, NOTES_MAX, ROWS_MAX, POINTS_MAX = 4, 3, 5, 300
CURVE_STEPS = 60
RUNS_MIN = 3  # of each, for a word about chance
COUNTS_MIN = 3  # of processors, for a fit: through two points there is always one
FREEDOM_MIN = 2  # degrees of it, for a standard deviation of what is read off a fit: of one it is near 0 by chance
LOG2 = {'label': 'processors', 'log': 2}
# What grouped writers do with the rows of a rank.
GROUPED = {'token': 'writes its rows as they lie, as in 1993',
           'token-gather': 'brings them together first'}


def add(report):
    runs, page = report.runs, report.page
    _overview(report)
    shown = runs.groups[:GROUPS_MAX]
    for number, group in enumerate(shown, 1):
        _Section(report, group, '' if number == 1 else '-%d' % number, number == 1).add()
    if len(runs.groups) > GROUPS_MAX:
        page.text('%s more stand in the table of all problems only.' % text.plural(
            len(runs.groups) - GROUPS_MAX, 'problem'), 'warn')
    if any(published.of_problem(g) for g in shown):
        _published(page)


def counts_as(cell):
    """Facts that a time is worth nothing without, and the codes of what its program thinks."""
    facts = ['verified' if cell.verified else 'not verified']
    facts += ['official NHT-1'] if cell.official else []
    facts += ['drops the data'] if cell.drops else ['parts of a file'] if not cell.serial else []
    facts += ['page cache'] if cell.page_cache and cell.serial else []
    facts += ['oversubscribed'] if cell.oversubscribed else []
    facts += ['T_C as given'] if cell.given else []
    known = {'official', 'page-cache', 'oversubscribed', 'not-verified', 'writer-null'}
    facts += [s['code'].replace('-', ' ') for s in cell.stamps()
              if s['severity'] != 'good' and s['code'] not in known]
    return ', '.join(dict.fromkeys(facts))


def _zeta(x):
    return x, text.zeta(x)


def _level(share):
    """A cell for the confidence level of an interval."""
    return (round(100 * share, 9), '%g' % (100 * share)) if share == share else ''


def _interval(cell, value):
    """(value of the median, least, most) of a cell by a function of T_T."""
    ends = [value(cell.lo_s), value(cell.hi_s)]
    ends = sorted(ends) if all(e == e for e in ends) else [NAN, NAN]
    return (value(cell.median_s), *ends)


def _overview(report):
    """All problems in one table: different N are a scaling, too."""
    if len(report.runs.groups) < 2:
        return
    several = report.systems.several
    table = Table('problems', 'The fastest writer of each problem', ['system'] * several + [
        'problem', 'layout, --sync', 'processors', 'fastest writer', 'T_T in s', 'T_C in s',
        'zeta', 'paired zeta', 'verdict', 'R_IO in MB/s', 'what it counts as'])
    for group in report.runs.groups:
        cell = group.best()
        if cell:
            table.row(*[group.whose] * several, group.name, '%s, %s' % (group.layout, group.sync), cell.processors,
                      cell.label, cell.median_s, cell.t_c_s, _zeta(cell.zeta), _zeta(report.rounds.paired(cell).zeta),
                      report.rounds.verdict_words(cell), cell.r_io / MB, counts_as(cell))
    if table.rows:
        report.page.section(2, 'problems', 'All problems')
        report.page.table(table)


def _published(page):
    table = Table('published-1993', 'Tables 2 to 6 of [F93], with R_IO and zeta computed again from '
                  'T_T and T_C', ['system', 'N', 'processors', 'T_C in s', 'T_T in s',
                                  'R_IO in bytes/s', 'R_IO recomputed', 'zeta', 'zeta recomputed', 'note'])
    for p in published.NHT1:
        rate, zeta = 40.0 * p.n ** 3 * p.dumps_n / p.t_t_s, p.t_t_s / p.t_c_s - 1
        table.row('%s, %s' % (p.system, p.program), p.n, p.processors, float(p.t_c_s),
                  float(p.t_t_s), (p.r_io, '%.0f' % p.r_io), (rate, '%.0f' % rate),
                  _zeta(p.zeta), _zeta(zeta), p.note)
    page.section(2, 'published', 'Published in 1993')
    page.table(table)
    page.text(published.F93)


class _Section:
    """One problem."""

    def __init__(self, report, group, key, first):
        self.report, self.group, self.key, self.first = report, group, key, first
        self.page, self.runs = report.page, report.runs
        self.counts = group.processors
        self.best = {p: group.best(p) for p in self.counts}
        # Of the fastest writer, or of computing alone where nothing writes: more processors than cores.
        self.over = [p for p, best in self.best.items() if all(
            c.oversubscribed for c in ([best] if best else group.cells) if c.processors == p)]
        # As many processors may be on other nodes, whose T_C is another one.
        self.alone = {p: self.runs.alone(group, p, best) for p, best in self.best.items()}
        self.t_c = {p: best.t_c_s if best else group.t_c(p) for p, best in self.best.items()}
        self.given = [p for p, t in self.t_c.items() if any(c.given and (c.processors, c.t_c_s) == (p, t) for c in group.cells)]
        self.here = group.whose or 'this system'
        self.costs = {p: report.rounds.cost(best) for p, best in self.best.items() if best}
        self.spoiled = [p for p, cost in self.costs.items() if not cost.holds]

    def figure(self, stem, title):
        return Figure(stem + self.key, title)

    def add(self):
        g, page = self.group, self.page
        page.section(2, 'bt' + self.key, g.name if len(self.runs.groups) == 1 else
                     '%s, --sync %s, %s' % (g.name, g.sync, g.layout), g.whose)
        page.text('%s, %s in all, layout %s, --sync %s; %s%s.%s' % (
            text.plural(g.dumps_n, 'dump'), text.size(g.bytes), g.layout or 'unknown',
            g.sync or 'unknown', g.cpu or 'processor unknown',
            self._facts(),
            ' All runs: %s.' % ', '.join(g.common) if g.common else ''))
        self._scaling_table()
        scales = len(self.counts) > 1
        if self.first and all(len(g.processors) < 2 for g in self.runs.groups):
            page.text('Figures 2, 4 and 5 (against processors) need results of one problem on two numbers of processors or more: ' + (
                'here each number has a problem of its own; the table of all problems has them side by side.'
                if len({p for g in self.runs.groups for p in g.processors}) > 1 else 'runs/study processors.'))
        self._groups()
        if scales:
            self._times()
        self._systems()
        if scales and g.best():
            self._rate()
            self._overhead()
        self._writers()

    def _facts(self):
        """', file system ext4', with what else is not the same in all of the page."""
        g, fs = self.group, self.group.fs
        mounts = {h.fs for h in self.runs.groups if h.fs}
        facts = [shown(getattr(g.system, key)) for key, shown in SHOWN.items() if key != 'cpu' and
                 len({getattr(s, key) for s in self.report.systems.all}) > 1]
        facts += ['file system ' + (fs.shown if len(mounts) > 1 else fs.type)] if fs else []
        return ''.join(', ' + f for f in facts)

    def _scaling_table(self):
        table = Table('processors' + self.key, 'By processors, T_T with its %g %% interval' % (100 * self.report.rounds.level), [
            'processors', 'T_C in s', 'fastest writer', 'T_T in s', 'from', 'to', 'zeta',
            'paired zeta', 'R_IO in MB/s', 'verdict', 'note'])
        for p in self.counts:
            c = self.best[p]
            table.row(p, self.t_c[p], *([c.label, c.median_s, c.lo_s, c.hi_s, _zeta(c.zeta), _zeta(self.costs[p].zeta if self.costs[p].paired else NAN), c.r_io / MB,
                                         self.report.rounds.verdict_words(c)] if c else ['-', NAN, NAN, NAN, NAN, NAN, NAN, '']),
                      '; '.join(filter(None, ('more processors than cores' if p in self.over else '', 'T_C as given' if p in self.given else '',
                                              self.group.passed_over(p)))))
        self.page.table(table)

    # --- figures 1 to 5 of [F93] ------------------------------------------------------------------

    @staticmethod
    def _sizes(group):
        """{writer: cells} of grouped writing that differ in nothing but writer and group size, two
        sizes or more of each: the configuration with the most sizes, on the fewest processors of
        those."""
        def rest(c):
            return tuple((k, str(v)) for k, v in sorted(c.identity.items())
                         if k not in ('writer', 'group'))
        alike = {}
        for c in sorted((c for c in group.cells if c.token_group),
                        key=lambda c: (c.processors, rest(c), c.token_group)):
            lines = alike.setdefault((c.processors, rest(c)), {})
            lines.setdefault(c.writer, []).append(c)
        lines = max(alike.values(), key=lambda of: max(map(len, of.values())), default={})
        return {writer: lines[writer] for writer in sorted(lines) if len(lines[writer]) > 1}

    def _groups(self):
        lines = self._sizes(self.group)
        if not lines:
            if self.first and not any(map(self._sizes, self.runs.groups)):
                self.page.text('Figure 1 (run time against group size) needs a grouped writer '
                               '(token) with two --group sizes or more on the same processors; '
                               'these results have none.')
            return
        cells = [c for of in lines.values() for c in of]
        f, best = self.figure('fig1-groups', 'Figure 1: T_T against group size'), min(
            cells, key=lambda c: c.median_s)
        f.panel('', {'label': 'ranks that may write at a time', 'log': 2,
                     'ticks': sorted({c.token_group for c in cells})}, 'T_T in s')
        for writer, of in lines.items():
            f.series('%s on %s' % (writer, text.plural(best.ranks, 'rank')), 'line-points',
                     [(c.token_group, *_interval(c, lambda t: t)) for c in of])
        alone = self.runs.alone(self.group, best.processors, best)
        f.level(alone, 'T_C' if alone == best.t_c_s else 'computing only')
        self.page.figure(f, (
            'Grouped writing: rank r waits for a token of rank r - group.%s Shortest median here: '
            '%sgroup %d with %s s%s; on the iPSC/860 of [F93] it was 16 of 128.%s' % (
                ''.join(' %s %s.' % (w, GROUPED[w]) for w in lines if w in GROUPED),
                best.writer + ', ' if len(lines) > 1 else '', best.token_group,
                text.number(best.median_s), self._of_chance(cells),
                ' Measured with more processors than cores.' if best.oversubscribed else '')))

    def _of_chance(self, cells):
        """Why the shortest median of several may say nothing, in brackets; '' where it may."""
        spoiled = sum(not self.report.rounds.cost(c).holds for c in cells)
        words = ['few runs: no statement about chance'] * any(c.n < RUNS_MIN for c in cells)
        words += ['%d of %d not measurable' % (spoiled, len(cells))] * (spoiled > 0)
        return ' (%s)' % '; '.join(words) if words else ''

    def _points(self, value):
        return [(p, *_interval(c, lambda t, c=c: value(c, t)))
                for p, c in self.best.items() if c]

    def _rings(self, f, value):
        f.series('more processors than cores', 'rings', [
            (p, value(c, c.median_s)) for p, c in self.best.items() if c and p in self.over])

    def _power(self, values, what, ideal):
        """What a power law through the counts that the cores allow and that are measurable says; '' where they are too few."""
        points = [(p, v) for p, v in values.items() if v > 0 and p not in self.over + self.spoiled]
        if len(points) < COUNTS_MIN:
            return ''
        fit = stats.ask([{'what': 'power', 'x': [p for p, _ in points],
                          'y': [v for _, v in points]}])[0]
        if fit.get('exponent') is None:
            return ''
        sd = fit.get('exponent_sd') if len(points) - 2 >= FREEDOM_MIN else None
        return ' On the %d counts of processors that the cores allow%s, %s scales as P^%.2f%s ' \
            '(ideal %d).' % (len(points), ' and that are measurable' * bool(self.spoiled), what, fit['exponent'], '' if sd is None else
                             ' with a standard deviation of %.2f' % sd, ideal)

    def _times(self):
        f = self.figure('fig2-times', 'Figure 2: T_C and T_T against processors')
        y = {'label': 'time in s', 'log': 10}
        f.panel(self.here, dict(LOG2, ticks=self.counts), y)
        f.series('computing only', 'line-points', self.alone.items())
        f.series('with writing', 'line-points', self._points(lambda c, t: t))
        f.series('more processors than cores', 'rings', [
            (p, v) for p in self.over for v in (self.best[p].median_s if self.best[p] else NAN, self.alone[p])])
        f.panel(YMP_102_NAME, dict(LOG2, ticks=[p.processors for p in YMP_102]), y)
        f.series('computing only', 'line-points', [(p.processors, p.t_c_s) for p in YMP_102])
        f.series('with writing', 'line-points', [(p.processors, p.t_t_s) for p in YMP_102])
        self.page.figure(f, (
            'Run times against processors (ranks x threads): T_C computing only, T_T with writing, '
            'median of the fastest writer. Beside it the Y-MP of [F93].%s%s%s' % (
                self._power(self.t_c, 'T_C', -1), '' if not self.given else
                ' T_C is as given on %s processors.' % ', '.join(map(str, self.given)), '' if not self.over else
                ' Ringed counts share the cores: drawn is what was measured with as many; table '
                'and zeta go by T_C, the best of the cores.')))

    def _systems(self):
        rows, cell = published.fastest(published.of_problem(self.group)), self.group.best()
        if not cell:
            return
        if not rows:
            if self.first:
                self.page.text('Figure 3 (systems side by side) needs a problem that was published '
                               'in 1993: N = 12 with 6 dumps in 60 steps, N = 64 or 102 with 40 '
                               'dumps in 200 (classes S, A, B).')
            return
        f = self.figure('fig3-systems', 'Figure 3: systems side by side')
        names = [self.here] + [p.system for p in rows]
        for label, here, of in (('T_C in s', cell.t_c_s, lambda p: p.t_c_s),
                                ('T_T in s', cell.median_s, lambda p: p.t_t_s),
                                ('R_IO in MB/s', cell.r_io / MB, lambda p: p.r_io / MB)):
            f.panel(label, {'ticks': enumerate(names)}, {'label': label, 'log': 10}, across=True,
                    key=False, headed=False)
            f.series(self.here, 'points', [(0, here)])
            f.series('1993', 'points', [(i, of(p)) for i, p in enumerate(rows, 1)])
        self.page.figure(f, (
            '%s (%s, median of writer %s) beside the systems of [F93] at N = %d, each '
            'with its fastest run. The axes are logarithmic.' % (
                self.group.whose or 'This system', text.plural(cell.processors, 'processor'), cell.label, self.group.n)))

    def _rate(self):
        f = self.figure('fig4-rate', 'Figure 4: R_IO against processors')
        f.panel('', dict(LOG2, ticks=sorted({*self.counts, *(p.processors for p in YMP_102)})),
                {'label': 'R_IO in MB/s', 'log': 10})
        f.series('%s (fastest writer)' % self.here, 'line-points', self._points(
            lambda c, t: c.rate(t) / MB))
        f.series(YMP_102_NAME, 'line-points', [(p.processors, p.r_io / MB) for p in YMP_102])
        self._rings(f, lambda c, t: c.rate(t) / MB)
        rates = {p: c.r_io if c else NAN for p, c in self.best.items()}
        self.page.figure(f, 'R_IO = bytes written / T_T: what the application gets, computing '
                            'included, and so a measure of the whole system.' +
                         self._power(rates, 'R_IO', 1))

    def _overhead(self):
        """zeta bends on the Y-MP, hence a parabola; a line where there are too few counts."""
        here, there = self._costs_that_hold(), [(p.processors, p.zeta) for p in YMP_102]
        f = self.figure('fig5-overhead', 'Figure 5: zeta against processors')
        f.panel(self.here, dict(LOG2, ticks=self.costs), 'zeta')
        f.level(GOAL, 'goal: 0.10')
        self._draw_costs(f)
        words = [self._above(here) or self._crossing(f, [(p, c.zeta) for p, c in here.items()], self.here)]
        left_out = ['%.2f on %d' % (c.zeta, p) for p, c in self.costs.items() if c.zeta == c.zeta and p not in here]
        if left_out:
            words.append('Measured and in no fit: zeta of %s processors.' % ', '.join(left_out))
        f.panel(YMP_102_NAME, dict(LOG2, ticks=[p for p, _ in there]), 'zeta')
        f.level(GOAL, 'goal: 0.10')
        f.series('zeta', 'line-points', there)
        words.append(self._crossing(f, there, 'the Y-MP'))
        self.page.figure(f, (
            "zeta = T_T / T_C - 1, what writing costs as a share of the computation, fastest writer; NAS's goal is at most "
            '0.10.%s %s ([F93] reads off about 5.)' % (self._which_zeta(), ' '.join(words))))

    def _costs_that_hold(self):
        """{processors: cost} that fits go by: paired where there are such."""
        known = {p: c for p, c in self.costs.items() if c.zeta == c.zeta}
        paired = any(c.paired for c in known.values())
        return {p: c for p, c in known.items() if c.paired == paired and p not in self.over + self.spoiled}

    def _draw_costs(self, f):
        for name, holds in sorted({(c.name, c.holds) for c in self.costs.values()}, key=lambda kind: (not kind[1], kind[0])):
            f.series(name if holds else name + ', not measurable', 'line-points' if holds else 'points', [
                (p, c.zeta, c.lo, c.hi) for p, c in self.costs.items() if (c.name, c.holds) == (name, holds)], holds)
        f.series('more processors than cores', 'rings', [(p, c.zeta) for p, c in self.costs.items() if p in self.over])

    def _which_zeta(self):
        """What the caption of Figure 5 says of it, beside its definition."""
        paired = {c.paired for c in self.costs.values()}
        words = ' Paired zeta is over the T_C of the same round.' if True in paired else ''
        if False in paired:
            words += ' Where no round has a run that only computes, zeta is over one T_C for all runs, and what slowed all of a run ' \
                'is in it%s.' % ('; it is in no fit' if True in paired else '')
        return words + (' What is not measurable (hollow) is in no fit.' if self.spoiled else '')

    def _above(self, costs):
        """That it is above the goal at every count that there is to go by, '' where it is not."""
        if len(costs) < 2 or not all(c.zeta > GOAL for c in costs.values()):
            return ''
        median = [str(p) for p, c in costs.items() if not c.lo > GOAL]
        return 'On %s zeta is above 0.10 %s%s.' % (
            self.here, 'at every count of processors' if len(costs) == len(self.costs) else
            'on %s processors, the only counts to go by' % ', '.join(map(str, costs)),
            ', on %s by its median alone' % ', '.join(median) if median else '')

    def _crossing(self, f, points, who):
        """Draws a fit; where it comes up to the goal."""
        if len(points) < COUNTS_MIN:
            return 'There are too few counts of processors of %s for a fit.' % who
        degree, first, last = 2 if len(points) >= 4 else 1, points[0][0], points[-1][0]
        fit = stats.ask([{
            'what': 'polynomial', 'x': [x for x, _ in points], 'y': [y for _, y in points], 'degree': degree,
            'at': [first + (last - first) * i / CURVE_STEPS for i in range(CURVE_STEPS + 1)],
            'reaches': {'level': GOAL, 'from': first, 'to': 2 * last}}])[0]
        f.series('fit', 'line', [(a['x'], a['y']) for a in fit.get('at') or ()])
        reached, last_falls = fit.get('reaches'), points[-1][1] <= points[-2][1]
        above, below = ([p for p, zeta in points if (zeta > GOAL) == side] for side in (True, False))
        if above and not (reached and max(below) <= reached['x'] <= min(above)):  # it does not come up from below, there
            return 'On %s zeta is above 0.10 on %s processors and not on %s.' % (who, *(', '.join(map(str, of)) for of in (above, below)))
        if not above and (any(a['y'] > GOAL for a in fit.get('at') or ()) or reached and (reached['x'] <= last or last_falls)):
            return 'On %s zeta is not above 0.10 on any of these counts of processors, and the fit does not tell where it would be.' % who
        if not reached:
            return 'On %s no fit comes up to 0.10 between %d and %d processors, twice the counts that it ' \
                'is of.' % (who, first, 2 * last)
        sd = reached.get('sd') if len(points) - degree - 1 >= FREEDOM_MIN else None
        return 'On %s the fitted %s reaches 0.10 at %.1f processors%s%s.' % (
            who, 'parabola' if degree == 2 else 'line', reached['x'],
            '' if sd is None else ' (standard deviation %.1f)' % sd,
            ', beyond the counts that it is of' if reached['x'] > last else '')

    # --- writers ----------------------------------------------------------------------------------

    def _writers(self):
        """Side by side at the processors of the fastest; of a group whose writers leave no serial
        file, at their largest count."""
        best = self.group.best()
        writing = [c for c in self.group.cells if c.writes]
        if not writing:
            return
        processors = best.processors if best else max(c.processors for c in writing)
        cells = [c for c in writing if c.processors == processors][:WRITERS_MAX]
        self.page.section(3, 'writing' + self.key, 'Writers on %s' % text.plural(
            processors, 'processor'))
        self._ranking_words(cells)
        self._ranking(cells, processors)
        self._zeta_table(cells)
        self._phases(cells)
        self._dumps(cells)
        read_back.add(self, processors)
        cycle.add(self, processors)

    def _ranking_words(self, cells):
        serial = [c for c in cells if c.serial]
        if len(serial) > 1:
            a, b = serial[:2]
            found = self.report.rounds.slower(a, serial[1:])
            alike, faster = ['%s (%s times as long)' % (r.other.label, text.ratio(r.centre)) for r in found if not r.slower], [r for r in found if r.faster]
            least = self.report.rounds.least(len(found))
            if faster:
                for r in faster:
                    self.page.text('%s has the shortest median here, but in the rounds that both have %s is faster: it takes '
                                   '%s times as long (%s to %s, %s).' % (a.label, r.other.label, *self._shown(r)))
            elif len(found) < len(serial) - 1 or any(r.rounds < (ROUNDS_MIN if r.jobs else least) for r in found):
                many = '' if least == ROUNDS_MIN else ' (so many, for %d writers)' % (len(found) + 1)
                self.page.text('%s is the fastest here, %s follows; that says nothing about chance before each was '
                               'measured in %d rounds or more%s with the others, in one job (--repeat %d) or one study.' % (
                                   a.label, b.label, least, many, self.report.rounds.steady))
                for r in (r for r in found if r.slower and r.rounds >= ROUNDS_MIN):
                    self.page.text('In the rounds that both have %s takes %s times as long (%s to %s, %s).' % (r.other.label, *self._shown(r)))
            elif alike:
                jobs, n = any(r.jobs for r in found), min(r.rounds for r in found)
                self.page.text('%s is the fastest here, but cannot be told apart from %s: the ratios of their times in '
                               'the same rounds leave it open. More %s may tell%s.' % (
                                   a.label, ', '.join(alike), 'jobs' if jobs else 'rounds', '' if jobs or n >= self.report.rounds.steady else
                                   ', %d or more; %d often leave open what is far apart' % (self.report.rounds.steady, n)))
            else:
                r = next(r for r in found if r.other is b)
                self.page.text('%s is the fastest: %s takes %s times as long (%s to %s, %s).' % (
                    a.label, b.label, *self._shown(r)))
        for c in cells:
            if c.drops and c.zeta < 0:
                self.page.text('%s takes the data and drops them: T_T = %s s, less than T_C, which '
                               'is not the best time of %s; measure it again with --tc '
                               'measure.' % (c.label, text.number(c.median_s, 4), self.here))
            elif c.drops and c.zeta == c.zeta:
                self.page.text(
                    '%s takes the data and drops them: T_T = %s s, zeta = %s. So much is what '
                    "handing over the data costs, and how far the system's usual times lie above "
                    'its best one, T_C; only what is above it is writing.' % (
                        c.label, text.number(c.median_s, 4), text.zeta(c.zeta)))

    @staticmethod
    def _shown(r):
        """Ratio, least, most and rounds of a rounds.Ratio."""
        return (*(text.ratio(x) for x in (r.centre, r.lo, r.hi)),
                text.plural(r.rounds, 'round') + (' of %d jobs' % r.jobs if r.jobs else ''))

    def _ranking(self, cells, processors):
        first = cells[0]
        if len(cells) > 1:
            f = self.figure('writers', 'Writers by run time')
            several = len({c.t_c_s for c in cells if c.t_c_s == c.t_c_s}) > 1  # on other nodes or cores
            f.panel('', {'ticks': enumerate(c.label for c in cells)},
                    'T_T in s, median and its interval', across=True, key=several)
            f.series('T_T', 'points', [(i, *_interval(c, lambda t: t))
                                       for i, c in enumerate(cells)])
            if several:
                f.series('T_C', 'points', [(i, c.t_c_s) for i, c in enumerate(cells)])
            else:
                f.level(first.t_c_s, 'T_C')
            given = [c.given for c in cells]
            alone = ' or '.join(['the same run without writing'] * (not all(given)) + ['as given'] * any(given))
            self.page.figure(f, 'T_T of each writer on %s, fastest first%s%s.' % (
                text.plural(processors, 'processor'), '' if first.t_c_s != first.t_c_s else
                ('; T_C is ' if several else '; the dashed line is T_C, ') + alone,
                ' on the cores that there are' if first.oversubscribed and
                first.t_c_s == first.t_c_s else ''))
        table = Table('writers' + self.key, 'Writers by median T_T, with its %g %% interval; R_IO is of this T_T, '
                      'writing the median of the rates while data were being written' % (100 * self.report.rounds.level), [
            'writer', 'runs', 'T_T in s', 'from', 'to', 'best', 'zeta', 'R_IO in MB/s',
            'writing in MB/s', 'what it counts as'])
        for c in cells:
            table.row(c.label, c.n, c.median_s, c.lo_s, c.hi_s, c.best_s, _zeta(c.zeta),
                      c.r_io / MB, c.write_rate / MB, counts_as(c))
        self.page.table(table)
        far = [c for c in cells if c.outliers]
        if far:
            self.page.text('Runs that lie far from the median of their writer: %s.' % ', '.join(
                '%d of %d of %s' % (c.outliers, c.n, c.label) for c in far))

    def _zeta_table(self, cells):
        """What zeta is made of, as the programs say."""
        table = Table('zeta' + self.key, 'What zeta is made of, medians; paired zeta compares with '
                      'the compute-only run of the same round', [
                          'writer', 'zeta', "of that the writer's calls", 'computing beyond T_C',
                          'rounds', 'paired zeta', 'from', 'to', 'level, %', 'verdict'])
        for c in cells:
            z = self.report.rounds.zeta(c)
            if z.io == z.io or z.paired == z.paired:
                table.row(c.label, _zeta(c.zeta), _zeta(z.io), _zeta(z.compute), z.rounds,
                          _zeta(z.paired), _zeta(z.lo), _zeta(z.hi), _level(z.level if z.lo == z.lo else NAN),
                          self.report.rounds.verdict_words(c))
        if table.rows:
            self.page.text("zeta = (time in the writer's calls) / T_C + (computing beside it - "
                           'T_C) / T_C. The second part is slowdown, which a writer in the '
                           'background may cause, and a noisy machine.')
        self.page.table(table)
        terms = Table('terms' + self.key, 'The paired zeta in three terms, medians: they add up in '
                      'each run', ['writer', 'term', 'median', 'from', 'to', 'level, %'])
        for c in cells:
            z = self.report.rounds.zeta(c)
            for name, t in z.terms.items():
                if t.zeta == t.zeta:
                    terms.row(c.label, name, _zeta(t.zeta), _zeta(t.lo), _zeta(t.hi), _level(z.level if t.lo == t.lo else NAN))
        if terms.rows:
            self.page.text("Data: the writer's calls and flushing. Bookkeeping: staging, digests, "
                           'agreement of the ranks and manifest. Slowdown: of computing.')
        self.page.table(terms)

    def _phases(self, cells):
        f = self.figure('phases', 'Where the time of a run goes')
        f.panel('', {'ticks': enumerate(c.label for c in cells)},
                {'label': 'time in s, mean over ranks', 'from_zero': True}, across=True)
        known = {phase for _, phases in PURPOSES for phase in phases}
        begins, purposes = [0.0] * len(cells), list(PURPOSES)
        others = {k for c in cells for k in members(c.typical.json, 'phases_s')} - known
        purposes += [('other', sorted(others))] if others else []
        for purpose, phases in purposes:
            blocks = []
            for i, c in enumerate(cells):
                s = sum(_phase_s(c.typical, p) for p in phases)
                if s > 0:
                    blocks.append((i, s, begins[i], begins[i] + s))
                    begins[i] += s
            f.series(purpose, 'blocks', blocks)
        self.page.figure(f, (
            'Phases of the run nearest to its median%s, means over ranks, which add up to T_T. '
            'Computing holds the waiting of ranks for their neighbours. The rest is outside of all phases: waiting for the last '
            'rank at the end, and between the phases, where other programs have the processor. What a writer with a '
            'thread of its own does beside the computation is not in them.' % (
                ' (of two runs that are as near, the slower one)' if any(c.n % 2 == 0 for c in cells) else '')))

    def _dumps(self, cells):
        slowest = Table('slowest-dumps' + self.key, 'Slowest dumps and ranks', [
            'writer', 'step', "slowest rank's time in s", 'times the median dump', 'rank', 'host'])
        times = {c: [d.most_s for run in c.runs for d in dumps_of(run)]
                 for c in cells if not c.drops}
        times = {c: values for c, values in times.items() if values}
        answers = stats.ask([{'what': 'percentiles', 'values': values, 'at': [50, 90, 99, 100]}
                             for values in times.values()])
        table = Table('dumps' + self.key, 'Time of a dump in the writer in s, slowest rank, over '
                      'all dumps of all runs', ['writer', 'dumps', 'p50', 'p90', 'p99', 'max'])
        median = {}
        for (c, values), answer in zip(times.items(), answers):
            median[c] = answer['values'][0]
            table.row(c.label, len(values), *map(float, answer['values']))
        self.page.table(table)
        drawn = [c for c in times if dumps_of(c.typical)][:TIMELINES_MAX]
        for number, c in enumerate(drawn, 1):
            self._timeline(c, dumps_of(c.typical), number, median[c], slowest)
        self.page.table(slowest)

    def _timeline(self, cell, dumps, number, median, table):
        most = max(d.most_s for d in dumps)
        unit, scale = ('ms', 1000) if most < 0.5 else ('s', 1)
        f = Figure('dumps%s-%d' % (self.key, number), 'Dump by dump: %s' % cell.label)
        f.panel('', 'start of the dump, in s after the start of the clock',
                {'label': 'time in the writer in ' + unit, 'from_zero': True})
        thin = _thinned(dumps)
        style = 'line' if len(thin) > POINTS_MAX / 2 else 'line-points'
        for label, of, ranks in (('slowest rank' if cell.ranks > 1 else 'the rank', 'most_s', 1),
                                 ('median', 'middle_s', 3), ('fastest rank', 'least_s', 2)):
            if cell.ranks >= ranks:
                f.series(label, style, [(d.start_s, scale * getattr(d, of)) for d in thin])
        ranked = sorted(dumps, key=lambda d: -d.most_s)
        span = max(d.start_s for d in dumps) - min(d.start_s for d in dumps)
        noted = []
        for d in ranked[:ROWS_MAX]:
            if d.rank >= 0 and len(noted) < NOTES_MAX and not any(
                    abs(d.start_s - o.start_s) < 0.12 * span for o in noted):
                f.note(d.start_s, scale * d.most_s, 'rank %d' % d.rank)
                noted.append(d)
            table.row(cell.label, d.step, d.most_s, d.most_s / median if median > 0 else NAN,
                      d.rank, d.host)
        often = {}
        for d in dumps:
            often[d.rank] = often.get(d.rank, 0) + 1
        usual = max(often, key=lambda r: often[r])
        host = next(d.host for d in dumps if d.rank == usual)
        self.page.figure(f, (
            '%s, the run nearest to its median: time that ranks spent in the writer, dump by dump. '
            'Slowest most often: rank %d on %s, in %d of %s.' % (
                cell.label, usual, host or 'this host', often[usual],
                text.plural(len(dumps), 'dump'))))


# What the phases of a run are for.
PURPOSES = (
    ('computing', ('exchange', 'rhs', 'xi', 'eta', 'zeta', 'pipe_wait')),
    ('staging', ('stage', 'digest')),
    ('writing', ('write',)),
    ('waiting for data under way', ('drain',)),
    ('flushing and closing', ('sync', 'close')),
    ('recording dumps in the manifest', ('manifest',)),
    ('agreeing', ('agree', 'stop')),
    ('the rest', ('idle',)))


def _phase_s(run, phase):
    """Mean over ranks; median where an older result has no mean."""
    spread = members(run.json, 'phases_s').get(phase)
    s = real(spread, 'mean')
    s = s if s == s else real(spread, 'median')
    return s if s > 0 else 0.0


class _Dump:
    """Seconds in the writer, post and wait together; rank: the slowest one."""

    def __init__(self, node):
        def both(what):
            return sum(v for v in (real(node, 'post_s.' + what), real(node, 'wait_s.' + what))
                       if v == v)
        longer = 'wait_s.' if real(node, 'wait_s.max') > real(node, 'post_s.max') else 'post_s.'
        self.step, self.start_s = integer(node, 'step'), real(node, 'start_s')
        self.rank = integer(node, longer + 'slowest_rank', -1)
        self.host = word(node, longer + 'slowest_host')
        self.most_s, self.middle_s, self.least_s = both('max'), both('median'), both('min')


def dumps_of(run):
    return [d for d in map(_Dump, items(run.json, 'dumps')) if math.isfinite(d.start_s)]


def _thinned(dumps):
    """Neighbouring dumps as one, so that a long run has at most POINTS_MAX: the slowest."""
    per = -(-len(dumps) // POINTS_MAX)
    return [max(dumps[i:i + per], key=lambda d: d.most_s) for i in range(0, len(dumps), per)]
