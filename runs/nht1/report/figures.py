# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a page: drawn into it as SVG, and kept as files with their data and a script each.

A panel is drawn for itself, so that panels stand side by side on a wide screen and one below the
other on a narrow one; the files have all panels of a figure in one."""
import importlib
import io
import os
import pprint
import re



WISH = ('Figures are not drawn, because matplotlib was not found: their data stand here as tables. '
        'Install it (Debian and Ubuntu: apt-get install python3-matplotlib; others: the package '
        'matplotlib) and run this again.')
SCRIPT = '''# nht1-report: draws {name}.svg, .png and .pdf from {name}.csv with matplotlib.
#     python3 {name}.py
# What may be changed here is explained in nht1_draw.py, which lies beside.
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.chdir(sys.path[0])
import nht1_draw

TITLE = {title}
PANELS = {panels}
nht1_draw.draw({literal}, TITLE, PANELS)
'''


def can_draw():
    try:
        importlib.import_module('matplotlib')
    except ImportError:
        return False
    return True


def draw(figures, tick=lambda done: None):
    """Draws figures for the page: figure.svg is a list of elements, one per panel."""
    from . import draw as drawing
    for done, figure in enumerate(figures, 1):
        figure.svg = []
        for number, panel in enumerate(figure.panels):
            out = io.StringIO()
            drawing.save(drawing.figure('', [panel], figure.data, figure.panels), {out: 'svg'},
                         'none')
            label = figure.title if len(figure.panels) == 1 else '%s: %s' % (
                figure.title, panel['name'])
            figure.svg.append(inline(out.getvalue(), '%s-%d' % (figure.name, number), label))
        tick(done)


def inline(svg, name, label):
    """A drawing as an element of a page: ids of its own, colours that follow the page's."""
    from markupsafe import escape
    from . import draw as drawing
    svg = svg[svg.index('<svg'):]
    svg = re.sub(r'<metadata>.*?</metadata>', '', svg, flags=re.S)
    svg = re.sub(r'(\bid="|href="#|url\(#)', lambda m: m.group() + name + '-', svg)
    for colour, variable in ((drawing.INK, 'ink'), (drawing.MUTED, 'muted'),
                             (drawing.RULE, 'rule'), ('#ffffff', 'paper')):
        svg = svg.replace(colour, 'var(--%s)' % variable)
    width = float(re.search(r'width="([\d.]+)pt"', svg).group(1))
    svg = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', lambda m: (
        '<svg viewBox="%s" style="max-width:%dpx" role="img" aria-label="%s">' % (
            m.group(1), width * 1.45, escape(label))), svg, count=1)
    return svg


def script(figure):
    """Text of the script that draws a figure again; plain ASCII whatever the names are."""
    def literal(value, indent=0):
        return re.sub(r'[^\x00-\x7f]', lambda m: m.group().encode(
            'ascii', 'backslashreplace').decode(), pprint.pformat(
                value, width=100, sort_dicts=False, indent=1, compact=True))
    return SCRIPT.format(name=figure.name, literal=literal(figure.name),
                         title=literal(figure.title), panels=literal(figure.panels))


def files(figure, drawn):
    """{file name: bytes} of a figure: data and script, and, when it can be drawn, pictures."""
    found = {figure.name + '.csv': figure.csv().encode(),
             figure.name + '.py': script(figure).encode()}
    if drawn:
        from . import draw as drawing
        streams = {kind: io.BytesIO() for kind in ('svg', 'png', 'pdf')}
        drawing.save(drawing.figure(figure.title, figure.panels, figure.data),
                     {streams[kind]: kind for kind in streams})
        found.update((figure.name + '.' + kind, s.getvalue()) for kind, s in streams.items())
    return found


def library():
    """{file name: bytes} of what the scripts use."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'draw.py')
    with open(path, 'rb') as f:
        return {'nht1_draw.py': f.read()}


