# SPDX-License-Identifier: GPL-3.0-or-later
"""What the runs of a study amount to: medians and intervals of repeated runs, by nht1-stats, and the
summary as JSON, text and CSV.

The tables of text are for people: one for each metric, with the settings that differ. Those of CSV
are for programs, one table in a file, the same columns in each row, numbers in the units of the
results (s, bytes/s): summary.csv has a row for each point and each of its series, runs.csv one for
each value that was measured."""
import re
from collections import namedtuple

from .. import reading, results, stats, text
from ..report.rounds import Rounds
from . import programs
from .description import SINGLE_KEYS
from .folder import utc, write_json, write_text
from .question import runs_of

# How a member is shown, by the unit that ends its name.
SCALES = {'bytes_per_s': (1e6, 'MB/s'), 'mib_s': (1.0, 'MiB/s'), 's': (1.0, 's'),
          'bytes': (1e6, 'MB')}

# A line of the closing table: a point and one of its series; beside: [Beside].
Row = namedtuple('Row', 'tally settings label answer best beside')

# A further quantity of a series: its median or None; name: in CSV, there without the factor.
Beside = namedtuple('Beside', 'heading name value factor')


def interval(of, level):
    """{n, median, ci_lo, ci_hi, outliers} of a series of a Tally; a run counts once, however many values it has. Few have no
    interval."""
    answer = stats.summary([value for _, value in of], level, stats.jobs(n for n, _ in of))
    return {k: answer[k] for k in ('n', 'median', 'ci_lo', 'ci_hi', 'outliers')}


def half_width(answer):
    """Half the interval as a share of the median, None when there is no interval."""
    if answer['ci_lo'] is None or answer['ci_hi'] is None or not answer['median']:
        return None
    return abs(answer['ci_hi'] - answer['ci_lo']) / 2 / abs(answer['median'])


def _ending(path):
    name = path.replace('[]', '').split('.')[-1]
    found = next((e for e in SCALES if name == e or name.endswith('_' + e)), '')
    return '' if found == 's' and programs.RATE.search(name) else found


def scale_of(path):
    """(factor, unit) of a metric."""
    return SCALES.get(_ending(path), (1.0, ''))


def tables(driver, keys):
    """The rows of a study's closing table, and its tables as text; keys: the columns that tell its points apart."""
    rows = _rows(driver)
    return rows, '\n'.join(text.table(t) for t in _tables(rows, keys))


def write(driver, rows, shown, status, changed):
    """summary.json, .txt and .csv of a study, with what tables() has returned; changed: what --set changed in this session."""
    finished = driver.why not in ('interrupted', 'failed') and not any(
        t.state() in ('not run', 'too few runs') or t.state() == 'undecided' and t.wants(max(t.runs) + 1)
        for t in driver.tallies)
    write_json(driver.folder.file('summary.json'), {
        'schema': 'nht1-study-summary/1', 'finished': finished, 'why': driver.why,
        'status': status, 'set': changed, 'ended_utc': utc(), 'runs_s': round(driver.spent_s, 3),
        'level': driver.settings.level, 'precision': driver.settings.precision,
        'points': [_point(t) for t in driver.tallies]}, replace=True)
    write_text(driver.folder.file('summary.txt'), shown, replace=True)
    for name, table in (('summary.csv', _series_table(driver.tallies, rows)),
                        ('runs.csv', _values_table(driver.tallies))):
        write_text(driver.folder.file(name), text.csv_lines(table), replace=True)


def _point(tally):
    answers = tally.question.answers() if tally.question else {}
    return {
        'id': tally.point.id, 'section': tally.point.section, 'settings': tally.point.settings,
        'metric': tally.metric, 'state': tally.state(),
        'runs': [tally.name(n) for n in sorted(tally.runs)],
        'failed': [{'run': tally.name(n), 'status': r['status'], 'trouble': r['trouble']}
                   for n, (r, _) in sorted(tally.runs.items()) if not r['ok']],
        'series': [dict(interval(of, tally.level), label=label, values=[value for _, value in of], answer=answers.get(label))
                   for label, of in tally.series().items()]}


def _rows(driver):
    """The lines of the closing table. zeta is over the best T_C that its runs knew: each knows only what
    was measured before it."""
    kept = {tally: [root for root in (driver.folder.result(tally.name(n)) for n, (record, _) in
                                      sorted(tally.runs.items()) if record['ok']) if root]
            for tally in driver.tallies}
    runs = {tally: [results.Run(results.Result('', 'nht1-bt', 1, root, {}), node)
                    for root in kept[tally] for node in results.items(root, 'runs')]
            for tally in driver.tallies if 'zeta' in tally.program.beside}
    t_c = {}
    for run in (r for mine in runs.values() for r in mine):
        t_c[run.computing] = results.least((run.t_c_s, t_c.get(run.computing, run.t_c_s)))
    paired = {tally: _paired(driver, tally) for tally in runs}
    found = []
    for tally in driver.tallies:
        settings = dict(tally.point.settings, section=tally.point.section)
        for label, of in tally.series().items():
            beside, numbers = [], [value for _, value in of]
            for heading, path in tally.program.beside.items():
                values = [x for root in kept[tally]
                          for x in programs.values(root, path).get(label, ())]
                value = stats.median(values) if values else None
                if heading == 'zeta' and values:
                    mine = [r for r in runs[tally] if r.writer == label and r.t_t_s > 0]
                    best = results.least(t_c[r.computing] for r in mine)
                    if best > 0:
                        value = stats.median([r.t_t_s for r in mine]) / best - 1
                beside.append(Beside(heading, path.split('.')[-1], value, scale_of(path)[0]))
                if heading == 'zeta' and any(paired.values()):
                    beside.append(Beside('paired zeta', 'zeta_paired', paired[tally].get(label), 1))
            beside += _read_back([r for r in runs.get(tally, ()) if r.writer == label])
            found.append(Row(tally, settings, label, interval(of, tally.level),
                             max(numbers) if tally.better == 'high' else min(numbers), beside))
    return found


def _paired(driver, tally):
    """{writer: the paired zeta of a point}, as the report of the study would have it of its runs alone."""
    runs = runs_of([tally] + tally.beside, sorted(tally.runs), driver.folder, driver.settings.level)
    rounds = Rounds(runs, driver.settings.level)
    found = {cell.writer: rounds.paired(cell).zeta for group in runs.groups for cell in group.cells if cell.writes}
    return {writer: zeta for writer, zeta in found.items() if zeta == zeta}


def _read_back(runs):
    """Median T_R; a decomposition that differs from the writer's is 'other', unless there are several."""
    found = {}
    for r in (r for run in runs for r in reading.of(run) if not r.wrong):
        found.setdefault(r.way, []).append(r)
    beside = []
    for way in sorted(found):
        several = sum((w.cache, w.own) == (way.cache, way.own) for w in found) > 1
        words = way.otherwise if several else [] if way.own else ['other']
        beside.append(Beside('T_R %s s' % ', '.join([way.cache] + words),
                             re.sub(r'\W+', '_', ' '.join(['t_r', way.cache, *words, 's'])),
                             stats.median([r.t_r_s for r in reading.as_asked(found[way])[0]]), 1))
    return beside


def _tables(rows, keys):
    """[rows of cells]: one table for each metric, with as many settings as tell its rows apart. A
    run of nht1-bt holds writers of its own, such as none, which only computes: their names stand
    in place of what the setting io asked for."""
    found = []
    for metric in dict.fromkeys(r.tally.metric for r in rows):
        mine = [r for r in rows if r.tally.metric == metric]
        factor, unit = scale_of(metric)
        used = [k for k in keys if len({r.settings.get(k) for r in mine}) > 1]
        named = any(r.label != r.settings.get('io', r.label) for r in mine) or \
            'io' not in used and len({r.label for r in mine}) > 1
        rest = [k for k in used if k != 'io']
        if named and len({(r.label, *map(r.settings.get, rest)) for r in mine}) == len(mine):
            used = rest
        steps = metric.replace('[]', '').split('.')
        name = steps[-1][:len(steps[-1]) - len(_ending(metric))].rstrip('_') or ''.join(
            steps[-2:-1]) or 'rate'  # the unit stands beside it
        beside = list(dict.fromkeys(b.heading for r in mine for b in r.beside))
        answers = {t: t.question.answers() for t in {r.tally for r in mine} if t.question}
        asked = any(answers.values())
        table = [[k.replace('env.', '') for k in used] + ['writer'] * named + [
            'runs', '%s [%s]' % (name, unit) if unit else name, 'interval', '+-%', 'best'] +
            beside + ['balance'] * asked]
        for r in mine:
            width = half_width(r.answer)
            median, low, high, best = (None if v is None else text.number(v / factor, 4) for v in (
                r.answer['median'], r.answer['ci_lo'], r.answer['ci_hi'], r.best))
            known = {b.heading: b.value / b.factor for b in r.beside if b.value is not None}
            table.append([r.settings.get(k, '-') for k in used] + [r.label or '-'] * named + [
                str(r.answer['n']), median, '-' if width is None else '%s..%s' % (low, high),
                '-' if width is None else '%.1f' % (100 * width), best] + [
                text.number(known.get(heading), 4) for heading in beside] + [
                    answers.get(r.tally, {}).get(r.label, '-').replace('-', ' ').strip() or '-'] * asked)
        found.append(table)
    return found


class _Settings:
    """Columns of CSV for the settings of all points; one that is called as a column of the table
    gets 'setting.' before its name."""

    def __init__(self, tallies, taken):
        self.keys = list(dict.fromkeys(k for t in tallies for k in t.point.settings
                                       if k not in SINGLE_KEYS))
        self.names = ['setting.' * (k in taken) + k for k in self.keys]

    def cells(self, tally):
        """Empty for what a point does not set."""
        values = [tally.point.settings.get(k, '-') for k in self.keys]
        return ['' if v == '-' else text.csv_cell(v) for v in values]


def _series_table(tallies, rows):
    """summary.csv. A point without any result has a row, too."""
    beside = list(dict.fromkeys(b.name for r in rows for b in r.beside))
    first, last = ['point', 'section'], ['label', 'metric', 'unit', 'state', 'runs', 'median',
                                         'ci_lo', 'ci_hi', 'best', 'outliers'] + beside
    settings = _Settings(tallies, first + last)
    table = [[text.csv_cell(c) for c in first + settings.names + last]]
    for tally in tallies:
        for r in [r for r in rows if r.tally is tally] or [None]:
            answer = r.answer if r else {'n': 0}
            known = {b.name: b.value for b in r.beside} if r else {}
            table.append([
                tally.point.id, text.csv_cell(tally.point.section), *settings.cells(tally),
                text.csv_cell(r.label if r else ''), text.csv_cell(tally.metric), _unit(tally),
                tally.state(), text.csv_number(answer['n']),
                *(text.csv_number(answer.get(k)) for k in ('median', 'ci_lo', 'ci_hi')),
                text.csv_number(r.best if r else None), text.csv_number(answer.get('outliers')),
                *(text.csv_number(known.get(name)) for name in beside)])
    return table


def _values_table(tallies):
    """runs.csv. A run that failed has a row without a value."""
    first, last = ['run', 'point', 'section'], [
        'number', 'started_utc', 'wall_s', 'status', 'label', 'metric', 'unit', 'n', 'value']
    settings = _Settings(tallies, first + last)
    table = [[text.csv_cell(c) for c in first + settings.names + last]]
    for tally in tallies:
        for number, (record, found) in sorted(tally.runs.items()):
            values = [(label, n, value) for label, numbers in found.items()
                      for n, value in enumerate(numbers, 1)] if record['ok'] else []
            table += [[
                tally.name(number), tally.point.id, text.csv_cell(tally.point.section),
                *settings.cells(tally), str(number),
                text.csv_cell(results.word(record, 'started_utc')),
                text.csv_number(record['wall_s']), str(record['status']), text.csv_cell(label),
                text.csv_cell(tally.metric), _unit(tally), text.csv_number(n),
                text.csv_number(value)] for label, n, value in values or [('', None, None)]]
    return table


def _unit(tally):
    """Of the numbers in CSV, as they are in the result."""
    return {'bytes_per_s': 'bytes/s', 'mib_s': 'MiB/s'}.get(_ending(tally.metric),
                                                            _ending(tally.metric))
