# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps read back: what it takes to have them in memory again, beside what it took to write them."""
from .. import text
from ..results import NAN
from .page import Figure, Table

MB = 1e6
WRITERS_MAX = 16  # of the figure
DRAWN_MAX, COLUMNS_MAX = 8, 3  # ways of reading in the figure and side by side; a table has all


def add(section, processors):
    """section: of part_bt; processors: those at which its writers are compared. Where nothing was
    read on as many, the largest count on which something was."""
    report, page = section.report, section.page
    cells = [c for c in section.group.cells if report.dumps.read(c)]
    if not cells:
        return
    counts = {c.processors for c in cells}
    processors = processors if processors in counts else max(counts)
    cells = [c for c in cells if c.processors == processors]
    ways = sorted({way for c in cells for way in report.dumps.read(c)})
    page.section(3, 'reading' + section.key, 'Reading back on %s' % text.plural(
        processors, 'processor'))
    _figure(section, cells, ways[:DRAWN_MAX])
    _writers(section, cells, ways[:COLUMNS_MAX])
    _readings(section, cells)
    _stamps(section, cells)


def _figure(section, cells, ways):
    f = Figure('reading' + section.key, 'Writing and reading back')
    shown = cells[:WRITERS_MAX]
    for cache, name in (('cold', 'cold: not in memory before'), (
            'warm', 'warm: in memory before')):
        mine = [way for way in ways if way.cache == cache]
        if not mine:
            continue
        f.panel(name, {'ticks': [(i, c.label) for i, c in enumerate(shown)]},
                {'label': 'rate in MB/s', 'from_zero': True}, across=True)
        f.series('written', 'bars', [(i, c.write_rate / MB) for i, c in enumerate(shown)])
        for way in mine:
            found = [(i, section.report.dumps.read(c).get(way)) for i, c in enumerate(shown)]
            f.series(', '.join(['read'] + way.otherwise), 'bars', [
                (i, *(v / MB for v in s.rates)) for i, s in found if s])
    section.page.figure(f, (
        'Rates of writing (while data were being written, into memory as far as they fit there; without the flush at the end) '
        "and of reading a dump back into the solver's fields, each writer in its own way. %s%s" % (
            _seen(section, cells, ways), '' if len(cells) == len(shown) else
            ' The first %d writers are drawn; the table has all.' % len(shown))))


def _seen(section, cells, ways):
    """What the figure shows, in words."""
    medians = []
    for way in ways:
        found = [(c, section.report.dumps.read(c)[way]) for c in cells
                 if way in section.report.dumps.read(c)]
        best, worst = (pick(found, key=lambda f: f[1].median_s) for pick in (min, max))
        medians.append('%s: %s s (%s, %s)%s' % (
            way, text.number(best[1].median_s), best[0].label, text.rate(best[1].rates[0]),
            '' if len(found) < 2 else ' to %s s (%s)' % (
                text.number(worst[1].median_s), worst[0].label)))
    missed = any(s.left_out or s.missed for c in cells for s in section.report.dumps.read(c).values())
    return 'Median T_R, %s.%s' % ('; '.join(medians), '' if not missed else (
        ' Readings that did not find the dump where it was asked for are marked in the table below, or counted there.'))


def _writers(section, cells, ways):
    table = Table('reading' + section.key, 'Writing a dump and reading it back, medians', [
        'writer', 'runs', 'a dump costs, in s', 'written in MB/s'] + [
            c for way in ways for c in ('T_R %s, in s' % way, 'in MB/s')])
    for c in cells:
        spreads = [section.report.dumps.read(c).get(way) for way in ways]
        table.row(c.label, c.n, section.report.dumps.written_s(c), c.write_rate / MB, *[
            v for s in spreads for v in ((s.median_s, s.rates[0] / MB) if s else (NAN, NAN))])
    section.page.table(table)
    section.page.text(
        'T_R: from opening the file to the last field filled, slowest rank. A dump costs the time '
        "that the run spends in staging, digests and the writer's calls; what a writer in the "
        'background does meanwhile is not in it.')


def _readings(section, cells):
    table = Table('readings' + section.key, 'T_R of each way of reading, with its %g %% '
                  'interval' % (100 * section.report.rounds.level), ['writer', 'read', 'readings', 'T_R in s', 'from', 'to', 'MB/s',
                               'requests of a dump', 'in memory before, %', 'note', 'answer'])
    answers = {}
    for c in cells:
        for way, s in section.report.dumps.read(c).items():
            stamp = section.report.rounds.read_verdict(c, s)
            table.row(c.label, str(way), s.n, *s.interval, s.rates[0] / MB,
                      round(s.requests_n) if s.requests_n == s.requests_n else NAN,
                      100 * s.cached_share, s.left_out or s.missed, stamp['code'].replace('-', ' ') if stamp else '')
            if stamp and way.cache == 'cold':
                answers['%s, %s' % (c.label, way)] = stamp
    section.page.table(table)
    for label, stamp in answers.items():
        section.page.text('%s: %s' % (label, stamp['sentence']), stamp['severity'])
    if answers:
        section.page.text('zeta of reading is T_R over the computing between two dumps: what it costs to '
                          'read as often as is written.')


def _stamps(section, cells):
    """Each sentence once, with the writers that it is said of, and the way where a writer has another one of its kind."""
    said = [(c, way, stamp) for c in cells for way, s in section.report.dumps.read(c).items()
            for stamp in section.report.rounds.read_stamps(c, s)]
    found, kinds = {}, {}
    for c, _, stamp in said:
        kinds.setdefault((c.label, stamp['code']), set()).add(stamp['sentence'])
    for c, way, stamp in said:
        found.setdefault((stamp['severity'], stamp['sentence']), {})[
            c.label if len(kinds[c.label, stamp['code']]) == 1 else '%s, %s' % (c.label, way)] = None
    everyone = {c.label for c in cells}
    for (severity, sentence), named in found.items():
        section.page.text('%s: %s' % ('All writers' if 1 < len(named) and everyone <= set(named) else
                                      '; '.join(named), sentence), severity)
