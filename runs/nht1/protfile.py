# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the protocols (.prot) of b_eff, ours and those of the released program: the bandwidth of every pattern by
every method at every size.

A value stands behind a length, a method and a pattern, each behind its label, in this line or in one before:

    L=     1024 mthd=0 pat= 3 min:   1.250   1.375   1.125 ->   1.375 (0.004 sec)

Labels are read, not columns: L, lng or msglng; mthd or method, by number or name; pat or pattern; min, avg and max with
a value for each repetition, "->" and the best. What a section VALUES has besides is passed over.

A protocol says most things more than once, by which a damaged one is found: the lengths, methods and patterns of its
head, the best that is one of the repetitions, each value once, and the least beside the mean and the most. What
contradicts itself is a fault, and of two values for one thing none counts."""
import re

from . import sumfile, text, trouble

METHODS = ('Sndrcv', 'Alltoal', 'non-blk')
SIZE_MAX_BYTES, LINES_MAX = 1 << 26, 1 << 18
LABEL = re.compile(r'(?<![\w.])(L|lng|msglng|mthd|method|pat|pattern) *[=:] *([^\s,;:]+)')
WHAT = {'L': 'length', 'lng': 'length', 'msglng': 'length', 'mthd': 'method', 'method': 'method', 'pat': 'pattern',
        'pattern': 'pattern'}
# What of the processes: a value for each repetition, "->" and the best of them.
VALUE = re.compile(r'(?<![\w.])(min|avg|max) *[=:]? +(.*)')


class _Protocol:
    """What the lines of a protocol have said so far."""

    def __init__(self, f):
        self.f, self.state = f, {'length': None, 'method': None, 'pattern': None}
        self.known = {'length': _lengths(f), 'method': _methods(f), 'pattern': _names(f)}
        self.values = {}  # of a key: bytes/s
        self.least, self.beside = {}, {'avg': {}, 'max': {}}  # of a key: line, word, repetitions, also where it is no rate
        self.doubtful = set()  # keys with two values


def read(path):
    """{names {index: name}, sizes [bytes], values {(pattern, size, method): bytes/s of the slowest process, best
    repetition}, faults [(line, column, words)]}, or None where the file has no section VALUES."""
    try:
        with open(path, 'rb') as f:
            raw = f.read(SIZE_MAX_BYTES + 1)
    except (OSError, ValueError) as e:
        raise trouble.failed('%s: cannot read: %s' % (text.clean(path), getattr(e, 'strerror', None) or e))
    if len(raw) > SIZE_MAX_BYTES:
        raise trouble.usage('%s: line 1, column 1: no protocol is larger than %d MiB' % (text.clean(path), SIZE_MAX_BYTES >> 20))
    if raw.count(b'\n') > LINES_MAX:
        raise trouble.usage('%s: line 1, column 1: no protocol has more than %d lines' % (text.clean(path), LINES_MAX))
    f = sumfile.File(path, raw)
    begin, end = _section(f, 'VALUES')
    if begin is None:
        return None
    p = _Protocol(f)
    for at in range(begin + 1, end):
        # A line that does not end may lack digits.
        if at < len(f.lines):
            _line(p, at)
    for key in p.doubtful:
        p.values.pop(key, None)
    _compare(p)
    if not p.values:
        f.fault(begin, 1, 'no value with its length, method and pattern stands in this section')
    f.ended()
    return {'names': p.known['pattern'], 'sizes': sorted({size for _, size, _ in p.values}), 'values': p.values, 'faults': f.faults}


def _section(f, name):
    """Lines of the beginning and the end of a section; (None, None) where it does not begin."""
    at = {word: [n for n, line in enumerate(f.lines, 1) if line.strip() == 'SECTION-%s-%s' % (name, word)]
          for word in ('BEGIN', 'END')}
    if not at['BEGIN']:
        return None, None
    begin = at['BEGIN'][0]
    begin = at['BEGIN'][0]
    end = next((n for n in at['END'] if n > begin), None)
    for n in at['BEGIN'][1:2] + [n for n in at['END'] if n != end][:1]:
        f.fault(n, 1, 'the section begins or ends a second time')
    if not end:
        f.fault(begin, 1, 'the section does not end')
    return begin, min([end or len(f.lines) + 1, *at['BEGIN'][1:2]])


def _names(f):
    """{index: name} of the patterns, from the head."""
    names, inside = {}, False
    for line in f.lines:
        if line.startswith('Used patterns:'):
            inside, line = True, line[len('Used patterns:'):]
        elif inside and not re.match(r'\s*\d+=', line):
            break
        if inside:
            names.update({int(m.group(1)): ' '.join(m.group(2).split()) for m in re.finditer(r'(\d{1,4})=(.*?)(?=\s\d{1,4}=|$)', line)})
    return names


def _methods(f):
    """Numbers of the methods that the head names; none where it names none."""
    line = next((line for line in f.lines if line.startswith('Used methods:')), '')
    return {int(n) for n in re.findall(r'(\d)=', line)}


def _lengths(f):
    """Lengths that the head lists; none where it lists none."""
    line = next((line for line in f.lines if line.startswith('msglng=')), '')
    return {int(n) for n in re.findall(r'(?<![\w.])[0-9]{1,12}(?![\w.])', line)}


def _number(what, word):
    """The number of a length, method or pattern, or None."""
    if what == 'method':
        number, _, name = word.rpartition('=')
        if name in METHODS:
            return METHODS.index(name) if number in ('', str(METHODS.index(name))) else None
        return int(word) if re.fullmatch('[0-9]', word) and int(word) < len(METHODS) else None
    return int(word) if re.fullmatch(r'[0-9]{1,12}', word) else None


def _labels(p, at):
    """Takes the labels of a line."""
    there = set()
    for m in LABEL.finditer(p.f.lines[at - 1]):
        what = WHAT[m.group(1)]
        number, words = _number(what, m.group(2)), None
        if number is None:
            words = "'%s' is no number of a %s" % (m.group(2)[:40], what)
        elif p.known[what] and number not in p.known[what]:
            words = 'the head of the file names no %s %d' % (what, number)
        elif what in there:
            words = 'a second %s in one line' % what
        there.add(what)
        p.state[what] = None if words else number
        if words:
            p.f.fault(at, m.start(2) + 1, words)


def _value(m):
    """(column of the best, its word, number of repetitions, what is wrong or None) of a line with values."""
    said, arrow, rest = m.group(2).partition('->')
    best = re.match(r' *([^\s(]+)', rest)
    if not best:
        return m.start() + 1, None, 0, "no '->' with the best repetition behind '%s'" % m.group(1)
    column, word = m.start(2) + len(said) + len(arrow) + best.start(1) + 1, best.group(1)
    words, behind = said.split(), rest[best.end():].strip()
    wrong = next((w for w in words if re.search('[^-+.0-9eE|/;,]', w)), None)
    if wrong:
        return m.start() + 1, word, len(words), "'%s' is no rate" % wrong[:40]
    if '->' in behind or behind[:1] not in ('', '('):
        return column, word, len(words), "more than the best repetition behind '->'"
    if re.fullmatch(sumfile.NUMBER, word) and not any(_same(w, word) for w in words):
        return column, word, len(words), 'the best, %s, is none of the repetitions' % word[:40]
    return column, word, len(words), None


def _same(a, b):
    """Whether two numbers are one, as precisely as they are printed."""
    if not re.fullmatch(sumfile.NUMBER, a):
        return a == b or (a == '-' and not float(b))
    decimals = min(len(word.partition('.')[2]) for word in (a, b))
    return abs(float(a) - float(b)) <= min(0.6 * 10.0 ** -min(decimals, 9), 1e-3 * abs(float(a)))


def _line(p, at):
    _labels(p, at)
    line = p.f.lines[at - 1]
    m = VALUE.search(line)
    if not m:
        if '->' in line:
            p.f.fault(at, line.index('->') + 1, 'a value that is neither min, avg nor max')
        return
    what, key = m.group(1), (p.state['pattern'], p.state['length'], p.state['method'])
    missing = next((name for name, number in p.state.items() if number is None), None)
    column, word, count, wrong = _value(m)
    if what != 'min':
        if wrong:
            p.f.fault(at, column, wrong)
        elif not missing and re.fullmatch(sumfile.NUMBER, word):
            p.beside[what].setdefault(key, (at, word, count))
        return
    if missing:
        p.f.fault(at, m.start() + 1, 'a value without a %s' % missing)
        return
    rate = p.f.rate(at, column, word) if word else None
    if wrong and (rate is not None or not word):
        p.f.fault(at, column, wrong)
        rate = None
    if key in p.least and rate != p.values.get(key):
        p.f.fault(at, m.start() + 1, 'another value than in line %d of the same' % p.least[key][0])
        p.doubtful.add(key)
    p.least.setdefault(key, (at, word, count))
    if rate:
        p.values[key] = rate


def _compare(p):
    """What lines say of each other."""
    for name, lines in p.beside.items():
        for key, (at, word, count) in sorted(lines.items()):
            least = p.least.get(key)
            if not least:
                p.f.fault(at, 1, '%s of what has no min' % name)
            elif key in p.values and count != least[2]:
                p.f.fault(at, 1, '%s of %d repetitions, and min, in line %d, of %d' % (name, count, least[0], least[2]))
            elif key in p.values and float(word) < float(least[1]) and not _same(word, least[1]):
                p.f.fault(at, 1, '%s, %s, is below min, which is %s in line %d' % (name, word[:40], least[1], least[0]))
