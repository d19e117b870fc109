# SPDX-License-Identifier: GPL-3.0-or-later
"""What the runs of a study amount to: medians and intervals of repeated runs, by nht1-stats, and the
summary as JSON, text and CSV."""
from collections import namedtuple

from .. import reading, results, stats, text
from . import programs
from .folder import utc, write_json, write_text

# How a member is shown, by the unit that ends its name.
SCALES = {'bytes_per_s': (1e6, 'MB/s'), 'mib_s': (1.0, 'MiB/s'), 's': (1.0, 's'),
          'bytes': (1e6, 'MB')}

# A line of the closing table: a point and one of its series; beside: {heading: median or None}.
Row = namedtuple('Row', 'settings label metric answer best beside')


def interval(numbers, level):
    """{n, median, ci_lo, ci_hi, outliers}; one number has no interval."""
    answer = stats.summary(numbers, level if len(numbers) > 1 else None)
    return {k: answer[k] for k in ('n', 'median', 'ci_lo', 'ci_hi', 'outliers')}


def half_width(answer):
    """Half the interval as a share of the median, None when there is no interval."""
    if answer['ci_lo'] is None or answer['ci_hi'] is None or not answer['median']:
        return None
    return abs(answer['ci_hi'] - answer['ci_lo']) / 2 / abs(answer['median'])


def _ending(path):
    name = path.split('.')[-1]
    return next((e for e in SCALES if name == e or name.endswith('_' + e)), '')


def scale_of(path):
    """(factor, unit) of a metric."""
    return SCALES.get(_ending(path), (1.0, ''))


def write(driver, keys, status):
    """summary.json, .txt and .csv of a study; keys: the columns that tell its points apart. Returns
    the tables as text."""
    finished = driver.why != 'interrupted' and not any(
        t.state() in ('not run', 'too few runs') for t in driver.tallies)
    write_json(driver.folder.file('summary.json'), {
        'schema': 'nht1-study-summary/1', 'finished': finished, 'why': driver.why,
        'status': status, 'ended_utc': utc(), 'runs_s': round(driver.spent_s, 3),
        'level': driver.settings.level, 'precision': driver.settings.precision,
        'points': [_point(t) for t in driver.tallies]}, replace=True)
    found = _tables(_rows(driver), keys)
    shown = '\n'.join(text.table(t) for t in found)
    write_text(driver.folder.file('summary.txt'), shown, replace=True)
    write_text(driver.folder.file('summary.csv'), '\n'.join(text.csv_lines(t) for t in found),
               replace=True)
    return shown


def _point(tally):
    return {
        'id': tally.point.id, 'section': tally.point.section, 'settings': tally.point.settings,
        'metric': tally.metric, 'state': tally.state(),
        'runs': [tally.name(n) for n in sorted(tally.runs)],
        'failed': [{'run': tally.name(n), 'status': r['status'], 'trouble': r['trouble']}
                   for n, (r, _) in sorted(tally.runs.items()) if not r['ok']],
        'series': [dict(interval(numbers, tally.level), label=label, values=numbers)
                   for label, numbers in tally.series().items()]}


def _rows(driver):
    """The lines of the closing table. zeta is over the best T_C of the study: a run knows only what
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
    found = []
    for tally in driver.tallies:
        settings = dict(tally.point.settings, section=tally.point.section)
        better = tally.point.value('better') or tally.program.better
        for label, numbers in tally.series().items():
            beside = {}
            for heading, path in tally.program.beside.items():
                values = [x for root in kept[tally]
                          for x in programs.values(root, path).get(label, ())]
                beside[heading] = stats.median(values) / scale_of(path)[0] if values else None
                if heading == 'zeta' and values:
                    mine = [r for r in runs[tally] if r.writer == label and r.t_t_s > 0]
                    best = results.least(t_c[r.computing] for r in mine)
                    if best > 0:
                        beside[heading] = stats.median([r.t_t_s for r in mine]) / best - 1
            beside.update(_read_back([r for r in runs.get(tally, ()) if r.writer == label]))
            found.append(Row(settings, label, tally.metric, interval(numbers, tally.level),
                             max(numbers) if better == 'high' else min(numbers), beside))
    return found


def _read_back(runs):
    """{heading: median T_R}; decompositions that differ from the writer's in one column."""
    found = {}
    for run in runs:
        for r in reading.of(run):
            if not r.wrong:
                found.setdefault('T_R %s%s s' % (r.way.cache, '' if r.way.own else ', other'),
                                 []).append(r.t_r_s)
    return {heading: stats.median(found[heading]) for heading in sorted(found)}


def _tables(rows, keys):
    """[rows of cells]: one table for each metric."""
    found = []
    for metric in dict.fromkeys(r.metric for r in rows):
        mine = [r for r in rows if r.metric == metric]
        factor, unit = scale_of(metric)
        used = [k for k in keys if len({r.settings.get(k) for r in mine}) > 1]
        labels = len({r.label for r in mine}) > 1 and 'io' not in keys
        steps = metric.replace('[]', '').split('.')
        name = steps[-1][:len(steps[-1]) - len(_ending(metric))].rstrip('_') or ''.join(
            steps[-2:-1]) or 'rate'  # the unit stands beside it
        beside = list(dict.fromkeys(heading for r in mine for heading in r.beside))
        table = [[k.replace('env.', '') for k in used] + ['writer'] * labels + [
            'runs', '%s [%s]' % (name, unit) if unit else name, 'interval', '+-%', 'best'] +
            beside]
        for r in mine:
            width = half_width(r.answer)
            median, low, high, best = (None if v is None else text.number(v / factor, 4) for v in (
                r.answer['median'], r.answer['ci_lo'], r.answer['ci_hi'], r.best))
            table.append([r.settings.get(k, '-') for k in used] + [r.label] * labels + [
                str(r.answer['n']), median, '-' if width is None else '%s..%s' % (low, high),
                '-' if width is None else '%.1f' % (100 * width), best] + [
                text.number(r.beside.get(heading), 4) for heading in beside])
        found.append(table)
    return found
