# SPDX-License-Identifier: GPL-3.0-or-later
"""nht1-report: draws a figure from its CSV with matplotlib.

Lies beside the scripts of the figures as nht1_draw.py and needs nothing else of the project.

CSV: panel, series, x, y, low, high. A panel is
    name     as in the CSV; shown above it unless it is the only one
    x, y     {label, log: 2 or 10, ticks: [[x, text], ...], from_zero, time: seconds since 1970}
    across   x runs down the page as a list of rows, y to the right
    chars    of a row's label on a line, 26 where it is not said; the panel is wider for more
    styles   {series: points | line-points | line | blocks | bars | rings | hollow | line-hollow | cells}, in
             the order of the key; hollow: points, or line-points, of what is not valid
    looks    {series: number}, colour and marker; a series has the same in all panels
    cells    {label, log, low, high, width, height, x: [from, to], y: [from, to]}: a heat map, each point a cell
             so wide, from low to high, its colour y; label, log, low, high: of the bar of colours
    levels   [[y, text], ...], dashed lines: a goal
    marks    [[x, text], ...], dotted lines: from here on
    notes    [[x, y, text], ...]"""
import csv
import math
import re
import textwrap
import time

import matplotlib
from matplotlib import colors, ticker
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Okabe and Ito: colour-blind readers tell them apart. Each has a marker and dashes of its own, for
# prints in grey.
COLOURS = ('#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8a7a00', '#6a6a6a')
MARKERS = ('o', 's', '^', 'D', 'v', 'P', 'X', '*')
DASHES = ('-', (0, (6, 1.5)), (0, (2, 1.2)), (0, (6, 1.5, 1.5, 1.5)), (0, (9, 2)), (0, (1, 1)),
          (0, (4, 1, 1, 1, 1, 1)), (0, (3, 3)))
HATCHES = ('', '///', '...', 'xxx', '\\\\\\', '++')
# Perceptually uniform; more is darker, so that nothing, which is pale, is next to little.
HEAT, NOTHING = 'viridis_r', '#f3f3f1'
INK, MUTED, RULE = '#1b1b1c', '#5f6b77', '#d4d9de'
WIDE, WIDTH, NARROW = 4.9, 4.5, 3.7  # inches, of a panel alone, of one of two, of one of more
CHARS, CHAR = 26, 0.065  # of a row's label on a line; inches
AXIS = 0.65  # inches, what is left of an axis
# Texts that text.csv_cell has put an apostrophe before.
NO_TEXT = re.compile("'*( *[=+@\\-\uff1d\uff0b\uff20\uff0d]|(#N/A( N/A)?|#NA|-?1\\.#(IND|QNAN)|"
                     "<NA>|N/A|NA|NULL|-?NaN|None|n/a|-?nan|null)$)")
NUMBER = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?', re.ASCII)
STYLE = {
    'font.size': 9.5, 'axes.titlesize': 10, 'axes.labelsize': 9.5, 'legend.fontsize': 9,
    'xtick.labelsize': 9, 'ytick.labelsize': 9, 'font.family': 'sans-serif',
    'axes.edgecolor': MUTED, 'axes.labelcolor': INK, 'text.color': INK, 'xtick.color': MUTED,
    'ytick.color': MUTED, 'xtick.labelcolor': INK, 'ytick.labelcolor': INK, 'grid.color': RULE,
    'axes.spines.top': False, 'axes.spines.right': False, 'axes.axisbelow': True,
    'svg.fonttype': 'none', 'svg.hashsalt': 'nht1',
    'legend.frameon': False, 'lines.linewidth': 1.6, 'lines.markersize': 5.5,
    'mathtext.default': 'regular'}


def text_of(cell):
    """A text as it was before it became a cell."""
    shielded = cell.startswith("'") and NO_TEXT.match(cell[1:]) and not NUMBER.fullmatch(cell[1:])
    return cell[1:] if shielded else cell


def read(path):
    """{(panel, series): [(x, y, low, high)]}, NaN for what is empty."""
    found = {}
    with open(path, encoding='utf-8', newline='') as f:
        for row in list(csv.reader(f))[1:]:
            numbers = tuple(float(v) if v else math.nan for v in row[2:6])
            found.setdefault((text_of(row[0]), text_of(row[1])), []).append(numbers)
    return found


def shown(text):
    """A text of a file: no formula, and no label that matplotlib would leave out."""
    text = text.replace('\\', '/').replace('$', r'\$')
    return '\u200a' + text if text.startswith('_') else text


def plain(value, _=None):
    """A number as people write it."""
    if value and (abs(value) >= 1e6 or abs(value) < 1e-3):
        power = math.floor(math.log10(abs(value)) + 1e-9)
        factor = value / 10 ** power
        return ('' if abs(factor - 1) < 1e-6 else '%.3g\u00b7' % factor) + '$10^{%d}$' % power
    return '%g' % float('%.6g' % value)


# Seconds between ticks, each at most 2.5 times the one before.
TIME_STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, *(
    86400 * n * 10 ** e for e in range(7) for n in (1, 2, 5)))


def time_ticks(low, high):
    """([(seconds, label)], low, high): two to six times, those that begin a day with it, and the ends of the axis,
    all in seconds since 1970."""
    room = max(0.06 * (high - low), 1.5)
    low, high = low - room, high + room
    step = next((s for s in TIME_STEPS if high - low <= 5 * s), TIME_STEPS[-1])
    form = '' if step >= 86400 else '%H:%M' if step >= 60 else '%H:%M:%S'
    places = [step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
    days = [time.strftime('%Y-%m-%d', time.gmtime(p)) for p in places]
    return [(p, '\n'.join(filter(None, (form and time.strftime(form, time.gmtime(p)), day if day != before else ''))))
            for p, day, before in zip(places, days, [''] + days)], low, high


def _values(panel, data, low_high):
    for (name, _), rows in data.items():
        for row in rows if name == panel['name'] else ():
            yield from (v for v in (row[1:] if low_high else row[:1]) if v == v)


def _axis(axis, spec, values):
    """Scale, ticks and label of one axis; axis: ax.xaxis or ax.yaxis."""
    values = [v for v in values if not spec.get('log') or v > 0]
    along = axis.axes.set_xscale if axis.axis_name == 'x' else axis.axes.set_yscale
    limits = axis.axes.set_xlim if axis.axis_name == 'x' else axis.axes.set_ylim
    axis.set_label_text(spec.get('label', ''))
    low, high = (min(values), max(values)) if values else (1, 10)
    if spec.get('log') and values:
        base = spec['log']
        along('log', base=base)
        axis.set_minor_locator(ticker.NullLocator())
        decades = math.log(high / low, base)
        if base == 10:
            subs = (1,) if decades > 2.5 else (1, 3) if decades > 1.4 else (1, 2, 5)
            axis.set_major_locator(ticker.LogLocator(10, subs, numticks=12))
            if decades < 0.8:
                axis.set_major_locator(ticker.MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
        margin = base ** max(0.06 * decades, 0.12 if base == 10 else 0.25)
        limits(low / margin, high * margin)
        axis.set_major_formatter(ticker.FuncFormatter(plain))
    elif spec.get('time'):
        ticks, low, high = time_ticks(low, high) if values else ([], 0, 1)
        limits(low, high)
        axis.set_ticks([seconds for seconds, _ in ticks])
        axis.set_ticklabels([label for _, label in ticks])
    elif values:
        zero = spec.get('from_zero')
        least = min(0, low) if zero else low
        room = 0.06 * (high - least) or abs(high) * 0.1 or 1
        limits(least if zero else low - room, high + room)
        axis.set_major_locator(ticker.MaxNLocator(6))
        axis.set_major_formatter(ticker.FuncFormatter(plain))
    if spec.get('ticks'):
        axis.set_ticks([t[0] for t in spec['ticks']])
        axis.set_ticklabels([shown(t[1]) for t in spec['ticks']])


def _errors(ax, first, second, rows, across, colour):
    """From low to high, where these are known."""
    errors = [[max(0, r[1] - r[2]) if r[2] == r[2] else 0 for r in rows],
              [max(0, r[3] - r[1]) if r[3] == r[3] else 0 for r in rows]]
    if any(errors[0] + errors[1]):
        ax.errorbar(first, second, **{'xerr' if across else 'yerr': errors}, fmt='none',
                    ecolor=colour, elinewidth=1.2, capsize=3)


def _series(ax, panel, series, rows, handles):
    style, look = panel['styles'][series], panel['looks'].get(series, 0)
    colour, marker = COLOURS[look % 8], MARKERS[(look + look // 8) % 8]
    across = panel.get('across')
    xs = [r[0] for r in rows]
    ys = [r[1] for r in rows]
    first, second = (ys, xs) if across else (xs, ys)
    if style == 'blocks':
        h = ax.barh(xs, [r[3] - r[2] for r in rows], left=[r[2] for r in rows], height=0.62,
                    color=colour, hatch=HATCHES[look % 6],
                    edgecolor='#ffffff', linewidth=0.6)
    elif style == 'bars':
        bars = [s for s, of in panel['styles'].items() if of == 'bars']
        thick = 0.82 / len(bars)
        at = [x + (bars.index(series) - (len(bars) - 1) / 2) * thick for x in xs]
        h = ax.barh(at, ys, height=thick, color=colour, hatch=HATCHES[look % 6],
                    edgecolor='#ffffff', linewidth=0.6)
        _errors(ax, ys, at, rows, True, INK)
    elif style == 'rings':
        h, = ax.plot(first, second, 'o', markersize=11, markerfacecolor='none',
                     markeredgecolor=MUTED, markeredgewidth=1.2, zorder=1.5)
    else:
        _errors(ax, first, second, rows, across, colour)
        dashes = DASHES[look % 8] if len(rows) < 100 else '-'  # of a dense curve they say nothing
        hollow = style.endswith('hollow')
        h, = ax.plot(first, second, color=colour, linestyle='none' if style in ('points', 'hollow') else
                     dashes, marker='' if style == 'line' else marker,
                     markerfacecolor='#ffffff' if hollow else colour,
                     markeredgecolor=colour if hollow else '#ffffff', markeredgewidth=1.3 if hollow else 0.5)
    handles.append((h, shown(series)))


def _lines(panel, label):
    """Of the label of a row."""
    return textwrap.wrap(shown(label), panel.get('chars', CHARS)) or ['']


def shared_key(panels):
    """The panel whose key serves for all of several panels, because it has every series of theirs in the same
    style; None where each needs its own."""
    keyed = [p for p in panels if p.get('key', True) and p['styles']]
    most = max(keyed, key=lambda p: len(p['styles']), default=None)
    same = all(most['styles'].get(s) == style for p in keyed for s, style in p['styles'].items())
    return most if len(keyed) > 1 and same else None


def without_key(panels):
    return [dict(p, key=False) for p in panels]


def _key_label(label, inches):
    """On as many lines as it takes in so many inches, the sample beside it included."""
    return '\n'.join(textwrap.wrap(label, max(CHARS, int((inches - 0.7) / CHAR)), break_on_hyphens=False)) or label


def _key_lines(labels, inches):
    return sum(_key_label(label, inches).count('\n') + 1 for label in labels)


def _two_columns(labels, inches):
    return len(labels) > 1 and sum(sorted(map(len, labels))[-2:]) <= 9 * inches


def _key_columns(labels, inches):
    """That have room in so many inches."""
    return max(1, min(len(labels), int(inches / (0.7 + CHAR * max(map(len, labels))))))


def _key_height(labels, inches):
    return 0.2 + 0.18 * _key_lines(labels[::_key_columns(labels, inches)], inches)


def _shared_legend(place, handles, inches):
    """The legend of a figure in as many columns as have room in so many inches; place: a figure or axes."""
    labels = [label for _, label in handles]
    return place.legend([h for h, _ in handles], [_key_label(label, inches) for label in labels], loc='upper left',
                        ncol=_key_columns(labels, inches), bbox_to_anchor=(0, 1), borderaxespad=0, handlelength=2.6, columnspacing=1.4)


def key_figure(panel, data):
    """The key of a panel alone, of its own size."""
    with matplotlib.rc_context(STYLE):
        f, handles = Figure(figsize=(2 * WIDTH, 2)), []
        FigureCanvasAgg(f)
        ax = f.subplots()
        for series in panel['styles']:
            _series(ax, panel, series, data[panel['name'], series], handles)
        ax.set_visible(False)
        size = _shared_legend(f, handles, 2 * WIDTH).get_window_extent(f.canvas.get_renderer())
        f.set_size_inches(size.width / f.dpi, size.height / f.dpi)
    return f


def _cells(ax, panel, data):
    """A heat map, as a picture: its cells as paths would be megabytes."""
    spec = panel['cells']
    (left, right), (bottom, top) = spec['x'], spec['y']
    columns = max(1, round((right - left) / spec['width']))
    found = [r for series in panel['styles'] for r in data[panel['name'], series]]
    picture = [[math.nan] * columns for _ in range(max(1, math.ceil((top - bottom) / spec['height'] - 1e-9)))]
    for x, value, first, _ in found:
        column = int(min(max(0, (x - left) / spec['width']), columns - 1))
        picture[int((first - bottom) / spec['height'])][column] = value
    scale = colors.LogNorm if spec['log'] else colors.Normalize
    low = spec['low'] if spec['low'] < spec['high'] else spec['high'] / 2
    ax.set_facecolor(NOTHING)
    image = ax.imshow(picture, HEAT, scale(low, spec['high'], clip=True), 'auto', interpolation='none',
                      origin='lower', extent=(left, right, bottom, bottom + spec['height'] * len(picture)))
    ax.set(xlim=(left, right), ylim=(bottom, top), xlabel=panel['x']['label'], ylabel=panel['y']['label'])
    if top - bottom > 8:
        ax.yaxis.set_major_locator(ticker.MaxNLocator(6, integer=True))
    else:
        ax.set_yticks(range(math.ceil(bottom), math.floor(top) + 1))
    ax.xaxis.set_major_locator(ticker.MaxNLocator(6))
    bar = ax.figure.colorbar(image, ax=ax, label=spec['label'], pad=0.03, use_gridspec=False)
    bar.outline.set_visible(False)
    bar.ax.tick_params(which='minor', length=0)
    if spec['log']:
        subs = (1,) if math.log10(spec['high'] / low) > 2.5 else (1, 2, 5)
        bar.set_ticks([sub * 10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(
            spec['high'])) + 1) for sub in subs if low <= sub * 10.0 ** e <= spec['high']])
    bar.ax.yaxis.set_major_formatter(ticker.FuncFormatter(plain))
    bar.ax.yaxis.set_minor_formatter(ticker.NullFormatter())


def panel_into(ax, panel, data):
    """Draws one panel. Returns [(artist, label)] for a key."""
    if panel.get('cells'):
        _cells(ax, panel, data)
        return []
    handles, across = [], panel.get('across')
    x_axis, y_axis = (ax.yaxis, ax.xaxis) if across else (ax.xaxis, ax.yaxis)
    places = list(_values(panel, data, False))
    heights = list(_values(panel, data, True)) + [v for v, _ in panel.get('levels', ())]
    _axis(y_axis, panel['y'], heights)
    if across:
        ticks = panel['x'].get('ticks') or []
        ax.set_yticks([t[0] for t in ticks])
        ax.set_yticklabels(['\n'.join(_lines(panel, t[1])) for t in ticks])
        ax.set_ylim(max(places, default=0) + 0.6, min(places, default=0) - 0.6)
        ax.tick_params(axis='y', length=0)
        ax.set_ylabel(panel['x'].get('label', ''))
    else:
        _axis(x_axis, panel['x'], places)
        for tick in ax.get_xticklabels():
            crowded = len(panel['x'].get('ticks') or ()) > 8
            tick.set_rotation(45 if crowded else 0)
            tick.set_ha('right' if crowded else 'center')
    ax.grid(axis='x' if across else 'y', linewidth=0.7)
    for series in panel['styles']:
        rows = data.get((panel['name'], series))
        if rows:
            _series(ax, panel, series, rows, handles)
    for value, note in panel.get('levels', ()):
        (ax.axvline if across else ax.axhline)(value, color=MUTED, linestyle=(0, (4, 3)),
                                               linewidth=1.1, zorder=1)
        ax.annotate(note, (value, 1) if across else (1, value),
                    xycoords=('data', 'axes fraction') if across else ('axes fraction', 'data'),
                    xytext=(0, 2) if across else (-2, 2), textcoords='offset points', color=MUTED,
                    ha='center' if across else 'right', va='bottom', fontsize=8.5,
                    bbox={'boxstyle': 'square,pad=0.1', 'facecolor': '#ffffff', 'alpha': 0.75,
                          'linewidth': 0})
    for number, (x, note) in enumerate(panel.get('marks', ())):
        ax.axvline(x, color=MUTED, linestyle=':', linewidth=1, zorder=1)
        ax.annotate(shown(note), (x, 1), xycoords=('data', 'axes fraction'),
                    xytext=(2, 1 + 9 * (number % 2)), textcoords='offset points', color=MUTED,
                    fontsize=8, va='bottom')
    for x, y, note in panel.get('notes', ()):
        ax.annotate(shown(note), (x, y), xytext=(0, 6), textcoords='offset points', ha='center',
                    va='bottom', fontsize=8.5, color=MUTED)
    if panel.get('key', True) and handles:
        room = ax.figure.get_figwidth() / ax.get_gridspec().ncols - AXIS - CHAR * (
            panel.get('chars', CHARS) - CHARS)
        columns = 2 if _two_columns([t for _, t in handles], room) else 1
        lift = -26 if not ax.get_xlabel() else -38
        lift -= 12 * any('\n' in t.get_text() for t in ax.get_xticklabels())
        if any(t.get_rotation() for t in ax.get_xticklabels()):
            lift -= 26
        ax.legend([h for h, _ in handles], [_key_label(t, room) for _, t in handles], loc='upper left',
                  bbox_to_anchor=(0, 0), bbox_transform=ax.transAxes + matplotlib.transforms.
                  ScaledTranslation(0, lift / 72, ax.figure.dpi_scale_trans), ncol=columns,
                  borderaxespad=0, handlelength=2.6, columnspacing=1.4)
    return handles


def height_of(panel):
    """Inches."""
    if panel.get('cells'):
        return min(3.3, 1.7 + 0.25 * (panel['cells']['y'][1] - panel['cells']['y'][0]))
    if not panel.get('across'):
        labels = [shown(series) for series in panel['styles']] if panel.get('key', True) else []
        rows = len(labels) // 2 if _two_columns(labels, WIDE - AXIS) else _key_lines(labels, WIDE - AXIS) - 1
        return 3.1 + 0.18 * max(0, rows)
    lines = [len(_lines(panel, t[1])) for t in panel['x'].get('ticks') or [[0, '']]]
    bars = list(panel['styles'].values()).count('bars')
    return 1.1 + sum(max(0.3, 0.17 * n + 0.1, 0.14 * bars + 0.1) for n in lines) + \
        (0.2 * ((len(panel['styles']) + 1) // 2) + 0.2 if panel.get('key', True) else 0)


def figure(title, panels, data, of=None):
    """The figure of matplotlib: panels side by side, at most three in a row, and a key for all where they can
    share one, in a free place or below. of: all panels of a figure of which one is drawn for itself, as wide
    and high as beside the others."""
    shared = shared_key(panels)
    key = panels.index(shared) if shared else None
    panels = without_key(panels) if shared else panels
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    of = of or panels
    width = columns * ((WIDE, WIDTH, NARROW)[min(3, len(of)) - 1] +
                       CHAR * (max(p.get('chars', CHARS) for p in of) - CHARS))
    heads = [textwrap.wrap(shown(p['name']), int(width / columns / 0.085), break_on_hyphens=False) for p in panels]
    heights = [max(map(height_of, of)) + 0.17 * max(0, max(map(len, heads)) - 1) * (len(panels) > 1)] * rows
    labels = [shown(series) for series in panels[key]['styles']] if key is not None else []
    free = rows * columns > len(panels) and labels and _key_height(labels, width / columns) <= heights[0]
    if labels and not free:
        heights.append(_key_height(labels, width))
    with matplotlib.rc_context(STYLE):
        f = Figure(figsize=(width, sum(heights)))
        FigureCanvasAgg(f)
        axes = f.subplots(len(heights), columns, squeeze=False, gridspec_kw={'height_ratios': heights})
        for ax in axes.flat[len(panels):]:
            ax.set(xticks=[], yticks=[])
            ax.set_axis_off()
        handles = []
        for ax, panel, head in zip(axes.flat, panels, heads):
            handles.append(panel_into(ax, panel, data))
            if len(panels) > 1 and panel.get('headed', True):
                above = panel.get('marks') or panel.get('across') and panel.get('levels')
                ax.set_title('\n'.join(head), loc='left', pad=25 if len(panel.get('marks', ())) > 1
                             else 16 if above else 6)
        if key is not None:
            place = axes.flat[len(panels)] if free else axes[-1, 0]
            _shared_legend(place, handles[key], width / columns if free else width).set_in_layout(False)
    lay_out(f, title)
    return f


def lay_out(f, title=''):
    """Settles once where the parts of a figure lie: that takes longer than to write a file. title,
    which may hold formulas: put above what there is."""
    with matplotlib.rc_context(STYLE):
        if title:
            width, height = f.get_size_inches()
            lines = textwrap.wrap(title, int(width / 0.09))
            f.set_size_inches(width, height + 0.12 + 0.18 * len(lines))
            f.suptitle('\n'.join(lines), x=0.01, ha='left', fontsize=11, fontweight='bold')
        if hasattr(f, 'set_layout_engine'):
            f.set_layout_engine('constrained')
            f.draw_without_rendering()
            f.set_layout_engine(None)
        else:
            f.set_constrained_layout(True)


def draw(name, title, panels):
    """Writes NAME.svg, NAME.png and NAME.pdf from NAME.csv, all in the current folder."""
    f = figure(title, panels, read(name + '.csv'))
    save(f, {name + '.' + kind: kind for kind in ('svg', 'png', 'pdf')})


def save(f, files, facecolor='white', fonts=42):
    """files: {path or stream: svg, png or pdf}. fonts of PDF: 42, TrueType, which publishers ask for;
    3 is ready in a tenth of the time."""
    who = {'svg': {'Date': None, 'Creator': 'nht1-report'}, 'png': {'Software': 'nht1-report'},
           'pdf': {'CreationDate': None, 'Creator': 'nht1-report'}}
    with matplotlib.rc_context(dict(STYLE, **{'pdf.fonttype': fonts})):
        for path, kind in files.items():
            f.savefig(path, format=kind, metadata=who[kind], dpi=160, facecolor=facecolor)
