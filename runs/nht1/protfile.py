# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the protocols (.prot) of b_eff, ours and those of the released program: the bandwidth of every pattern by
every method at every size.

A value stands behind a length, a method and a pattern, each behind its label, in this line or in one before:

    L=     1024 mthd=0 pat= 3 min:   1.250   1.375   1.125 ->   1.375 (0.004 sec)

Labels are read, not columns: L, lng or msglng; mthd or method, by number or name; pat or pattern; min, avg and max with
a value for each repetition, "->" and the best. What a section VALUES has besides is passed over."""
import re

from . import sumfile, text, trouble

METHODS = ('Sndrcv', 'Alltoal', 'non-blk')
SIZE_MAX_BYTES = 1 << 26
LABEL = re.compile(r'(?<![\w.])(L|lng|msglng|mthd|method|pat|pattern) *[=:] *([^\s,;:]+)')
WHAT = {'L': 'length', 'lng': 'length', 'msglng': 'length', 'mthd': 'method', 'method': 'method', 'pat': 'pattern',
        'pattern': 'pattern'}
LEAST = re.compile(r'(?<![\w.])min *[=:]? +(.*)')


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
    f = sumfile.File(path, raw)
    begin, end = _section(f, 'VALUES')
    if begin is None:
        return None
    found = {'names': _names(f), 'sizes': [], 'values': {}, 'faults': f.faults}
    state = {'length': None, 'method': None, 'pattern': None}
    for at in range(begin + 1, end):
        _line(f, at, state, found['values'])
    found['sizes'] = sorted({size for _, size, _ in found['values']})
    if not found['values']:
        f.fault(begin, 1, 'no value with its length, method and pattern stands in this section')
    f.ended()
    return found


def _section(f, name):
    """Lines of the beginning and the end of a section; (None, None) where it does not begin."""
    at = {word: next((n for n, line in enumerate(f.lines, 1) if line.strip() == 'SECTION-%s-%s' % (name, word)), None)
          for word in ('BEGIN', 'END')}
    if at['BEGIN'] and not (at['END'] and at['END'] > at['BEGIN']):
        f.fault(at['BEGIN'], 1, 'the section does not end')
        return at['BEGIN'], len(f.lines) + 1
    return at['BEGIN'], at['END']


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


def _number(word):
    """The number of a length, method or pattern, or None."""
    name = word.split('=')[-1]
    if name in METHODS:
        return METHODS.index(name)
    return int(word) if re.fullmatch(r'[0-9]{1,12}', word) else None


def _line(f, at, state, values):
    line = f.lines[at - 1]
    for m in LABEL.finditer(line):
        what = WHAT[m.group(1)]
        state[what] = _number(m.group(2))
        if state[what] is None:
            f.fault(at, m.start(2) + 1, "'%s' is no number of a %s" % (m.group(2)[:40], what))
    m = LEAST.search(line)
    if not m:
        return
    best = re.search(r'-> *([^\s(]+)', m.group(1))
    missing = next((what for what, number in state.items() if number is None), None)
    if best is None:
        f.fault(at, m.start() + 1, "no '->' with the best repetition behind 'min'")
    elif missing:
        f.fault(at, m.start() + 1, 'a value without a %s' % missing)
    else:
        rate = f.rate(at, m.start(1) + best.start(1) + 1, best.group(1))
        if rate:
            values[state['pattern'], state['length'], state['method']] = rate
