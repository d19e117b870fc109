# SPDX-License-Identifier: GPL-3.0-or-later
"""A report as a list of parts, put together once and written in several notations: one HTML file
that needs nothing else, Markdown, tables as CSV, figures as files.

Texts are prose: a benchmark's symbol (T_T, zeta) is set as such, everything else is shown as it
stands. Cells and labels out of files go through here untouched: each notation escapes them."""
import functools
import math
import os
import sys
import time

from .. import text

MARKS = ('plain', 'good', 'note', 'warn', 'bad')
HOLLOW = {'points': 'hollow', 'line-points': 'line-hollow'}  # styles of what is not valid
HOLLOW_WORDS = 'Hollow marks are values that are not valid by their definition.'


@functools.lru_cache(maxsize=None)
def templates():
    """What compiles the templates, each once."""
    import jinja2
    from markupsafe import Markup, escape
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'templates')
    place = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True,
                               undefined=jinja2.StrictUndefined, trim_blocks=True,
                               lstrip_blocks=True)
    place.filters['prose'] = lambda t: Markup(text.symbols(str(escape(t))))
    place.filters['drawing'] = Markup  # SVG that figures.py made
    return place


class Table:
    """name: of its CSV. A cell is a text, a number (shown with three digits), or (number, shown). whose: the system that
    all of it is of, on a page of several, and way: how it was measured (ways.py): columns of the CSV."""

    def __init__(self, name, caption, columns):
        self.name, self.caption, self.columns, self.rows, self.whose, self.way = name, caption, columns, [], '', ''

    def row(self, *cells):
        self.rows.append([self._cell(c) for c in cells])

    @staticmethod
    def _cell(cell):
        """(shown, value or None)"""
        if isinstance(cell, tuple):
            return text.clean(cell[1]), float(cell[0])
        if isinstance(cell, float):
            return text.number(cell), cell
        if isinstance(cell, int):
            return str(cell), float(cell)
        return text.clean(cell), None

    def csv(self):
        rows = [[text.csv_cell(s) if v is None else text.csv_number(v) for s, v in row] for row in self.rows]
        of = {name: value for name, value in (('system', self.whose), ('measured with', self.way)) if value}
        return text.csv_lines([row + list(map(text.csv_cell, more)) for row, more in zip(
            [[text.csv_cell(c) for c in self.columns]] + rows, [of] + [of.values()] * len(rows))])


class Figure:
    """Data and axes; figures.py draws it. name: of its files, letters, digits and '-'."""

    def __init__(self, name, title):
        self.name, self.title, self.panels, self.data = name, text.clean(title), [], {}
        self.looks, self.svg, self.key, self.pictures, self.caption = {}, [], '', {}, ''

    def panel(self, name='', x='', y='', across=False, key=True, **more):
        """Begins a panel. x, y: label or {label, log, ticks, from_zero, time}, a tick
        being a number or (number, text)."""
        def axis(spec):
            spec = dict(spec) if isinstance(spec, dict) else {'label': spec}
            spec['label'] = text.clean(spec.get('label', ''))
            spec['ticks'] = [[t[0], text.clean(t[1])] if isinstance(t, tuple) else [t, str(t)]
                             for t in spec.get('ticks', ())]
            return spec
        self.panels.append(dict({'name': text.clean(name), 'x': axis(x), 'y': axis(y),
                                 'across': across, 'key': key, 'styles': {}, 'looks': {},
                                 'levels': [], 'notes': [], 'marks': []}, **more))

    def series(self, label, style, points, valid=True):
        """points: (x, y) or (x, y, low, high); those that are not known are left out. valid: False: marks are
        hollow."""
        panel, label = self.panels[-1], text.clean(label)
        rows = [(tuple(float(v) for v in p) + (math.nan, math.nan))[:4] for p in points]
        rows = [r for r in rows if math.isfinite(r[0]) and math.isfinite(r[1])]
        if not rows:
            return
        panel['styles'][label] = style if valid else HOLLOW[style]
        if style != 'rings':
            panel['looks'][label] = self.looks.setdefault(label, len(self.looks))
        self.data[(panel['name'], label)] = rows

    def level(self, y, note):
        if math.isfinite(y):
            self.panels[-1]['levels'].append([y, text.clean(note)])

    def mark(self, x, note):
        self.panels[-1]['marks'].append([x, text.clean(note)])

    def note(self, x, y, note):
        if math.isfinite(x) and math.isfinite(y):
            self.panels[-1]['notes'].append([x, y, text.clean(note)])

    def csv(self):
        return text.csv_lines([['panel', 'series', 'x', 'y', 'low', 'high']] + [
            [text.csv_cell(panel), text.csv_cell(series)] + [text.csv_number(v) for v in row]
            for (panel, series), rows in self.data.items() for row in rows])

    def tables(self):
        """The same as tables, one per panel: a column per series, a row per x, more where a series has several points there."""
        found = []
        for panel in self.panels:
            series = [s for s in panel['styles'] if panel['styles'][s] != 'rings']
            named = dict(map(tuple, panel['x']['ticks']))
            table = Table('%s-data' % self.name, ', '.join(
                t for t in (panel['name'], panel['y']['label']) if t),
                [panel['x']['label']] + series)
            by_x = {}
            for s in series:
                for x, y, low, high in self.data[(panel['name'], s)]:
                    span = panel['styles'][s] not in ('blocks', 'cells') and low == low and (low, high) != (y, y)
                    rows = by_x.setdefault(x, [])
                    if all(s in row for row in rows):
                        rows.append({})
                    next(row for row in rows if s not in row)[s] = text.number(y) if not span else '%s (%s to %s)' % (
                        text.number(y), text.number(low), text.number(high))
            for x, row in ((x, row) for x in sorted(by_x) for row in by_x[x]):
                head = time.strftime('%Y-%m-%d %H:%M', time.gmtime(x)) \
                    if panel['x'].get('time') else named.get(x, text.number(x))
                table.row(head, *[row.get(s, '') for s in series])
            found.append(table)
        return found


class Page:
    def __init__(self, title):
        self.title, self.lead, self.parts, self.top = text.clean(title), [], [], []
        self.whose = self.way = ''

    def _add(self, kind, **what):
        self.parts.append(dict(what, kind=kind))

    def section(self, level, anchor, title, whose='', way=''):
        """whose, way: of level 2, the system that its tables and figures are of and how that was measured, where there are
        several."""
        self.whose, self.way = (whose, way) if level == 2 else (self.whose, self.way)
        self._add('section', level=level, id=anchor, text=text.clean(text.of(title, whose, way)))

    def drop_if_empty(self, anchor):
        """The section, if it is the last part: nothing came below it."""
        if self.parts[-1].get('id') == anchor:
            self.parts.pop()

    def text(self, words, mark='plain'):
        self._add('text', mark=mark, text=text.clean(words))

    def code(self, lines):
        """What is to be copied: a line is not cut."""
        self._add('code', text='\n'.join(text.clean(line, sys.maxsize) for line in lines))

    def stamps(self, stamps):
        for s in stamps:
            self.text(s['sentence'], s['severity'])

    def table(self, table, whose='', way=''):
        if 'system' not in table.columns:  # those say it in each row
            table.whose, table.way = whose or self.whose, way or self.way
        if table.rows:
            self._add('table', table=table)

    def figure(self, figure, caption, whose='', way=''):
        figure.title = text.clean(text.of(figure.title, whose or self.whose, way or self.way))
        figure.caption = text.clean(caption)
        figure.panels = [p for p in figure.panels if p['styles']]
        if figure.panels:
            self._add('figure', figure=figure)

    @property
    def figures(self):
        return [p['figure'] for p in self.parts if p['kind'] == 'figure']

    @property
    def tables(self):
        return [p['table'] for p in self.parts if p['kind'] == 'table']

    def html(self, version):
        return templates().get_template('page.html').render(page=self, version=version)

    def markdown(self, version, figures):
        """figures: the way to the drawings, None: there are none."""
        md, lines = text.markdown, []
        lines.append('<!-- nht1-report %s -->\n# %s' % (version, md(self.title)))
        lines += [md(t) for t in self.lead]
        marks = {'plain': '', 'good': '**Good:** ', 'note': '**Note:** ', 'warn': '**Care:** ',
                'bad': '**Poor:** '}
        lines += ['**Note:** ' + md(t) for t in self.top]
        for part in self.parts:
            if part['kind'] == 'section':
                lines.append('%s %s' % ('#' * part['level'], md(part['text'])))
            elif part['kind'] == 'text':
                lines.append(marks[part['mark']] + md(part['text']))
            elif part['kind'] == 'code':
                lines.append(text.markdown_code(part['text']))
            elif part['kind'] == 'table':
                lines.append(_markdown_table(part['table']))
            else:
                figure = part['figure']
                if figures and figure.svg:
                    lines.append('![%s](<%s/%s.png>)' % (md(figure.title), figures, figure.name))
                lines.append(md(figure.caption))
                if not (figures and figure.svg):
                    lines += [_markdown_table(t) for t in figure.tables()]
        return '\n\n'.join(lines) + '\n'


def _markdown_table(table):
    md = text.markdown
    head = table.rows[0]
    rows = ['| %s |' % ' | '.join(md(c) for c in table.columns),
            '|%s|' % '|'.join('---:' if v is not None else '---' for _, v in head)]
    rows += ['| %s |' % ' | '.join(md(shown) for shown, _ in row) for row in table.rows]
    return md(table.caption) + '\n\n' + '\n'.join(rows)
