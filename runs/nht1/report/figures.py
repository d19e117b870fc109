# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a page: drawn into it as SVG, and kept as files with their data and a script each.

A panel is drawn for itself, so that panels stand side by side on a wide screen and one below the
other on a narrow one; the files have all panels of a figure in one."""
import functools
import importlib
import io
import os
import pprint
import re
import signal

from .. import text, trouble

WISH = ('Figures are not drawn, because matplotlib was not found: their data stand here as tables. '
        'Install it (Debian and Ubuntu: apt-get install python3-matplotlib; others: the package '
        'matplotlib) and run this again.')
KINDS = ('svg', 'png', 'pdf')
SCRIPT = '''# nht1-report: draws {name}.svg, .png and .pdf from {name}.csv with matplotlib.
#     python3 {name}.py
# What may be changed here is explained in nht1_draw.py, which lies beside.
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.chdir(sys.path[0])
sys.dont_write_bytecode = True  # nothing but the figures appears in their folder
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


def draw(figures, keep=False, tick=lambda done: None):
    """Draws figures, as many at a time as there are cores: figure.svg is a list of elements for the
    page, one per panel, figure.key that of a key which they share, and with keep figure.pictures {kind: bytes}."""
    from concurrent.futures import ProcessPoolExecutor, process
    from multiprocessing import get_context
    importlib.import_module('.draw', __package__)  # takes longest: before processes part
    work = functools.partial(_drawn, keep=keep)
    jobs = min(len(figures), len(os.sched_getaffinity(0)))

    def collect(drawn):
        for done, (figure, made) in enumerate(zip(figures, drawn), 1):
            figure.svg, figure.key, pictures = made
            figure.pictures.update(pictures)
            tick(done)
    if jobs < 2:
        return collect(map(work, figures))
    try:
        with ProcessPoolExecutor(jobs, get_context('fork'), _obedient) as pool:
            collect(pool.map(work, figures))
    except process.BrokenProcessPool:
        raise trouble.failed('a process that draws figures was ended')


def _obedient():
    """A process that draws ends when it is told to, without a word."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _panels(figure):
    """Panels with the symbols in their labels as formulas."""
    def axis(spec):
        return dict(spec, label=text.mathtext(spec['label']))
    return [dict(p, x=axis(p['x']), y=axis(p['y']),
                 levels=[[value, text.mathtext(note)] for value, note in p['levels']])
            for p in figure.panels]


def _drawn(figure, keep):
    from . import draw as drawing
    elements, pictures, panels = [], {}, _panels(figure)
    key = drawing.shared_key(panels)
    alone = drawing.without_key(panels) if key else panels
    for number, panel in enumerate(alone):
        out, drawn = io.StringIO(), drawing.figure('', [panel], figure.data, alone)
        drawing.save(drawn, {out: 'svg'}, 'none')
        label = figure.title if len(panels) == 1 else '%s: %s' % (figure.title, panel['name'])
        elements.append(inline(out.getvalue(), '%s-%d' % (figure.name, number), label))
    key_svg = ''
    if key:
        out = io.StringIO()
        drawing.save(drawing.key_figure(key, figure.data), {out: 'svg'}, 'none')
        key_svg = inline(out.getvalue(), figure.name + '-key', figure.title + ': key')
    if keep:
        if len(panels) == 1:
            drawing.lay_out(drawn, text.mathtext(figure.title))
        else:
            drawn = drawing.figure(text.mathtext(figure.title), panels, figure.data)
        streams = {kind: io.BytesIO() for kind in KINDS}
        drawing.save(drawn, {stream: kind for kind, stream in streams.items()}, fonts=3)
        pictures = {kind: s.getvalue() for kind, s in streams.items()}
    return elements, key_svg, pictures


def inline(svg, name, label):
    """A drawing as an element of a page: ids of its own, colours that follow the page's."""
    from markupsafe import escape
    from . import draw as drawing
    svg = svg[svg.index('<svg'):]
    svg = re.sub(r'<metadata>.*?</metadata>', '', svg, flags=re.S)
    svg = re.sub(r'(\bid="|href="#|url\(#)', lambda m: m.group() + name + '-', svg)
    for colour, variable in ((drawing.INK, 'ink'), (drawing.MUTED, 'muted'),
                             (drawing.RULE, 'rule'), ('#ffffff', 'paper'),
                             (drawing.COLOURS[0], 'first'), (drawing.COLOURS[7], 'last')):
        svg = svg.replace(colour, 'var(--%s)' % variable)
    width = float(re.search(r'width="([\d.]+)pt"', svg).group(1))
    svg = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', lambda m: (
        '<svg viewBox="%s" style="max-width:%dpx" role="img" aria-label="%s">' % (
            m.group(1), width * 1.45, escape(label))), svg, count=1)
    return svg


def script(figure):
    """Text of the script that draws a figure again; plain ASCII whatever the names are."""
    def literal(value):
        return re.sub(r'[^\x00-\x7f]', lambda m: m.group().encode(
            'ascii', 'backslashreplace').decode(), pprint.pformat(
                value, width=100, sort_dicts=False, indent=1, compact=True))
    return SCRIPT.format(name=figure.name, literal=literal(figure.name),
                         title=literal(text.mathtext(figure.title)),
                         panels=literal(_panels(figure)))


def files(figures, drawn):
    """{file name: function that returns its content} of figures: their data, scripts with what these
    use, and where they are drawn pictures."""
    def library():
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'draw.py'), 'rb') as f:
            return f.read()
    found = {'nht1_draw.py': library}
    for figure in figures:
        found[figure.name + '.csv'] = figure.csv
        found[figure.name + '.py'] = functools.partial(script, figure)
        for kind in KINDS if drawn else ():
            found['%s.%s' % (figure.name, kind)] = functools.partial(figure.pictures.get, kind)
    return found
