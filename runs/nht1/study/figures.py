# SPDX-License-Identifier: GPL-3.0-or-later
"""What repeated runs amount to: median, interval and outliers (computed by nht1-stats),
and the closing table as text and CSV."""
import math
import unicodedata

from .. import stats

SCALES = (('bytes_per_s', 1e6, 'MB/s'), ('mib_s', 1.0, 'MiB/s'), ('s', 1.0, 's'),
          ('bytes', 1e6, 'MB'))


def interval(numbers, level):
    """{n, median, ci_lo, ci_hi, outliers}; one number has no interval."""
    answer = stats.summary(numbers, level if len(numbers) > 1 else None)
    return {k: answer[k] for k in ('n', 'median', 'ci_lo', 'ci_hi', 'outliers')}


def half_width(answer):
    """Half the interval as a share of the median, None when there is no interval."""
    if answer['ci_lo'] is None or answer['ci_hi'] is None or not answer['median']:
        return None
    return abs(answer['ci_hi'] - answer['ci_lo']) / 2 / abs(answer['median'])


def _scale(name):
    """The line of SCALES whose unit ends a name."""
    return next((row for row in SCALES if name == row[0] or name.endswith('_' + row[0])),
                ('', 1.0, ''))


def scale_of(path):
    """(factor, unit) for a metric by the unit in its name."""
    return _scale(path.split('.')[-1])[1:]


def number(value, digits=4):
    """Four significant digits, no exponent where people would not write one."""
    if value is None:
        return '-'
    if value and (abs(value) >= 1e7 or abs(value) < 1e-3):
        return '%.*e' % (digits - 1, value)
    if not value:
        return '0'
    return '%.*f' % (max(0, digits - 1 - int(math.floor(math.log10(abs(value))))), value)


def duration(seconds):
    """'42 s', '3 min', '2 h 5 min'."""
    if seconds < 100:
        return '%.*f s' % (1 if seconds < 10 else 0, seconds)
    minutes = int(seconds / 60 + 0.5)
    return '%d min' % minutes if minutes < 100 else '%d h %d min' % divmod(minutes, 60)


def size(number_of_bytes):
    for factor, unit in ((1e12, 'TB'), (1e9, 'GB'), (1e6, 'MB'), (1e3, 'kB')):
        if number_of_bytes >= factor:
            return '%s %s' % (number(number_of_bytes / factor, 3), unit)
    return '%d B' % number_of_bytes


def _width(text):
    return sum(2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in text)


def table(rows):
    """Columns, the first row being headings; numbers stand to the right."""
    def is_text(column):
        return any(r[column] and not r[column][0].isdigit() and r[column][0] not in '-+.'
                   for r in rows[1:])
    widths = [max(_width(r[c]) for r in rows) for c in range(len(rows[0]))]
    left = [is_text(c) for c in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [t + ' ' * (w - _width(t)) if l else ' ' * (w - _width(t)) + t
                 for t, w, l in zip(row, widths, left)]
        lines.append('  '.join(cells).rstrip())
    return '\n'.join(lines) + '\n'


def csv(rows):
    def cell(text):
        return '"%s"' % text.replace('"', '""') if any(c in text for c in ',"\n') else text
    return '\n'.join(','.join(cell(t) for t in row) for row in rows) + '\n'


class Row:
    """One line of the summary: a point and one of its series."""

    def __init__(self, settings, label, metric, answer, best, beside):
        self.settings, self.label, self.metric, self.answer = settings, label, metric, answer
        self.best, self.beside = best, beside  # beside: [(heading, median or None)]


def _headings(keys, labels, metric, beside):
    unit = scale_of(metric)[1]
    steps = metric.replace('[]', '').split('.')
    name = '.'.join(steps[-2:]) if steps[-1] == 'bytes_per_s' else steps[-1]
    sign = '_' + _scale(name)[0]
    if name.endswith(sign):  # the unit stands beside it
        name = name[:-len(sign)]
    headline = '%s [%s]' % (name, unit) if unit else name
    return [k.replace('env.', '') for k in keys] + (['writer'] if labels else []) + [
        'runs', headline, 'interval', '+-%', 'best'] + beside


def _cells(row, keys, labels):
    factor = scale_of(row.metric)[0]
    answer, width = row.answer, half_width(row.answer)
    span = '-' if width is None else '%s..%s' % (
        number(answer['ci_lo'] / factor), number(answer['ci_hi'] / factor))
    return [row.settings.get(k, '-') for k in keys] + ([row.label] if labels else []) + [
        str(answer['n']), number(answer['median'] / factor), span,
        '-' if width is None else '%.1f' % (100 * width), number(row.best / factor)] + [
        number(value) for heading, value in row.beside]


def tables(rows, keys):
    """[rows of cells]: one table for each metric, keys being the columns that tell points apart."""
    found = []
    metrics = sorted({r.metric for r in rows}, key=[r.metric for r in rows].index)
    for metric in metrics:
        mine = [r for r in rows if r.metric == metric]
        labels = len({r.label for r in mine}) > 1 and 'io' not in keys
        used = [k for k in keys if len({r.settings.get(k) for r in mine}) > 1]
        heads = _headings(used, labels, metric, [h for h, v in mine[0].beside])
        found.append([heads] + [_cells(r, used, labels) for r in mine])
    return found
