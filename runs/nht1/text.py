# SPDX-License-Identifier: GPL-3.0-or-later
"""The one place that makes texts harmless and numbers readable.

Whatever comes out of a file is cleaned once, when it is read (results.read_json does it for JSON):
no control character, no escape sequence, nothing that turns the direction of writing. What is left
may still be markup: HTML is escaped by Jinja2, Markdown, CSV and scripts by the functions below."""
import csv
import io
import math
import re
import unicodedata

# C0 and C1 controls, DEL, line and paragraph separators, marks that turn or hide text, halves of
# surrogate pairs, which UTF-8 cannot hold.
HARMFUL = re.compile('[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff'
                     '\ufff9-\ufffb\ud800-\udfff]')
_SPACES = '\t\n\r'
# Formulas begin so, in full-width signs, too; then what pandas reads as missing. report/draw.py has
# the same.
_NO_TEXT = re.compile("'*( *[=+@\\-\uff1d\uff0b\uff20\uff0d]|(#N/A( N/A)?|#NA|-?1\\.#(IND|QNAN)|"
                      "<NA>|N/A|NA|NULL|-?NaN|None|n/a|-?nan|null)$)")
_NUMBER = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?', re.ASCII)
_MARKDOWN = re.compile(r'[\\`*_{}\[\]<>&|~$#!]')
_ENTITIES = {'<': '&lt;', '>': '&gt;', '&': '&amp;'}
# The benchmark's symbols, standing alone.
SYMBOLS = {'T_T': 'T<sub>T</sub>', 'T_C': 'T<sub>C</sub>', 'T_R': 'T<sub>R</sub>', 'R_IO': 'R<sub>IO</sub>',
           'N_S': 'N<sub>S</sub>', 'I_W': 'I<sub>W</sub>', 'R_max': 'R<sub>max</sub>',
           'zeta': '\u03b6'}
_SYMBOL = re.compile(r'(?<![A-Za-z0-9_])(%s)(?![A-Za-z0-9_])' % '|'.join(SYMBOLS))


def clean(text, limit=4000):
    """One line that a terminal, a page or a script shows as it is: white space becomes a blank,
    what is harmful a question mark. Longer texts are cut."""
    text = HARMFUL.sub(lambda m: ' ' if m.group() in _SPACES else '?', str(text))
    return text if len(text) <= limit else text[:limit - 4] + ' ...'


def lines(text):
    """Several lines, each of them cleaned."""
    return '\n'.join(clean(line) for line in text.split('\n')[:100])


def cleaned(value):
    """A value of JSON with all of its texts and keys cleaned; its depth is limited by the parser. A
    member "text" may have several lines: what a file of hints holds."""
    if isinstance(value, str):
        return clean(value) if HARMFUL.search(value) or len(value) > 4000 else value
    if isinstance(value, list):
        return [cleaned(v) for v in value]
    if isinstance(value, dict):
        return {clean(k): lines(v) if k == 'text' and isinstance(v, str) else cleaned(v)
                for k, v in value.items()}
    return value


def markdown(text):
    """For a line or a cell of Markdown."""
    return _MARKDOWN.sub(lambda m: _ENTITIES.get(m.group(), '\\' + m.group()), clean(text))


def markdown_code(text):
    """Indented lines, which nothing in the text can end."""
    return '\n'.join('    ' + clean(line, len(line)) for line in text.split('\n'))


def symbols(escaped):
    """HTML of escaped text, with the benchmark's symbols set as such."""
    return _SYMBOL.sub(lambda m: SYMBOLS[m.group()], escaped)


def mathtext(text):
    """For matplotlib, which takes what stands between two dollars for a formula: none in texts of
    files, symbols set in ours."""
    plain = clean(text).replace('$', r'\$')
    return _SYMBOL.sub(lambda m: r'$\zeta$' if m.group() == 'zeta' else r'$%s_{\mathrm{%s}}$' %
                       tuple(m.group().split('_')), plain)


def csv_cell(text):
    """A text for a table, as text: what a spreadsheet takes for a formula, and a library such as
    pandas for a missing value, gets an apostrophe before it. Numbers are left alone."""
    text = clean(text)
    return "'" + text if _NO_TEXT.match(text) and not _NUMBER.fullmatch(text) else text


def csv_number(value):
    """A number for a table, in full; nothing for what is not known."""
    if value is None or not math.isfinite(value):
        return ''
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def csv_lines(rows):
    """Rows of cells as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator='\n').writerows(rows)
    return out.getvalue()


def table(rows):
    """Columns, the first row being headings; numbers stand to the right."""
    def width(cell):
        return sum(2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in cell)
    lines = [''] * len(rows)
    for column in zip(*rows):
        wide = max(map(width, column))
        words = any(c and not c[0].isdigit() and c[0] not in '-+.' for c in column[1:])
        for i, cell in enumerate(column):
            pad = ' ' * (wide - width(cell))
            lines[i] += '  ' + (cell + pad if words else pad + cell)
    return ''.join(line[2:].rstrip() + '\n' for line in lines)


def number(x, digits=3):
    """Three significant digits, whole numbers whole, '-' for what is not known."""
    if x is None or not math.isfinite(x):
        return '-'
    if x == 0:
        return '0'
    size = abs(x)
    if size >= 1e7 or size < 1e-4:
        return '%.*e' % (digits - 1, x)
    places = digits - 1 - int(math.floor(math.log10(size * (1 + 0.5 * 10 ** -digits))))
    return '%.*f' % (max(0, places), x)


def ratio(x):
    """With three decimals; one that these do not show, or that has digits that nobody measured, with three digits."""
    return '%.3f' % x if 0.01 <= x < 1e4 else '%.3g' % x


def count(n):
    """'42 448 320': digits in groups of three."""
    return '{:,}'.format(int(n)).replace(',', '\u202f')


def zeta(x):
    """The one form in which zeta and its parts are printed, that of the 1993 report: '0.202'."""
    return '-' if x is None or not math.isfinite(x) else '%.3f' % (round(x, 3) + 0.0)  # no -0.000


def plural(n, noun, several=None):
    """'1 run', '2 runs'."""
    return '%s %s' % (n, noun if n == 1 else several or noun + 's')


def of(*words):
    """What is said, and of what: of which system, measured how, where there are several. '' says nothing."""
    return ', '.join(w for w in words if w)


def sentence(words):
    """The same with a capital letter at the front."""
    return words[:1].upper() + words[1:]


def processes(n):
    return plural(n, 'process', 'processes')


def _scaled(x, base, units, per=''):
    if x is None or not math.isfinite(x):
        return '-'
    size, unit = abs(x), 0
    while unit < len(units) - 1 and size >= base - 0.5:
        size, unit = size / base, unit + 1
    whole = size == int(size) and (unit == 0 or base == 1024)
    digits = 0 if whole or size >= 99.95 else 2 if size < 9.995 else 1
    return '%s%.*f %s%s' % ('-' if x < 0 else '', digits, size, units[unit], per)


def size(bytes_n):
    """'42.4 MB', powers of 1000."""
    return _scaled(bytes_n, 1000, ('B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'))


def size_iec(bytes_n):
    """'40.5 MiB', '4 KiB', powers of 1024."""
    return _scaled(bytes_n, 1024, ('B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'))


def rate(bytes_per_s):
    """'1.25 GB/s'."""
    return _scaled(bytes_per_s, 1000, ('B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'), '/s')


def about(s):
    """A time to come: '4.2 s', '42 s', '3 min', '2 h 5 min'."""
    if s < 100:
        return '%.*f s' % (1 if s < 10 else 0, s)
    minutes = int(s / 60 + 0.5)
    return '%d min' % minutes if minutes < 100 else '%d h %d min' % divmod(minutes, 60)


def duration(s):
    """'250 ns', '3.42 s', '1 min 12 s', '2 h 5 min', '3 d 4 h'."""
    if s is None or not math.isfinite(s):
        return '-'
    sign, x = '-' if s < 0 else '', abs(s)
    for least, big, small, names in ((86400 - 30, 86400, 3600, ('d', 'h')),
                                     (3600 - 0.5, 3600, 60, ('h', 'min')),
                                     (60 - 0.05, 60, 1, ('min', 's'))):
        if x >= least:
            whole, rest = divmod(int(x / small + 0.5), big // small)
            return '%s%d %s %d %s' % (sign, whole, names[0], rest, names[1])
    return '0 s' if x == 0 else sign + _scaled(x * 1e9, 1000, ('ns', 'us', 'ms', 's'))
