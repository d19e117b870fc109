# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the summaries (.sum) that b_eff and b_eff_io leave, those of this suite and those of the
released programs, so that old results stand beside new ones.

read(path) gives a list of results, one per partition for b_eff_io, or None where the file is no
summary. A result is a dict; what the file does not say is None. Rates are bytes per second (the
files have MB/s of 10^6 bytes), times seconds, memory bytes.

    of both     program ('b_eff' or 'b_eff_io'), path, ours (written by this suite), version,
                procs, system (the end of the last line), memory_per_process_bytes, value, valid
    b_eff       lmax_bytes, at_lmax, rings_at_lmax, latency_s, rings_latency_s, ping_pong_s, ping_pong
    b_eff_io    definition, scheduled_s, access {write, rewrite, read},
                types {access: [5 rates]}, chunks {access: {position 1..7: {bytes, rates [5]}}},
                pattern_2 {access: rate}, cache_honest, cache_factor, headline (largest of the file)

Old files are somebody else's: what is not a number where one is expected is passed over, texts are
cleaned, sizes limited."""
import math
import re

from . import text, trouble

SIZE_MAX_BYTES = 1 << 24
MB, MIB = 1e6, 1 << 20
ACCESSES = ('write', 'rewrite', 'read')
NUMBER = r'([-+]?\d+\.?\d*(?:[eE][-+]?\d+)?)'


def _number(word):
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _rate(word):
    """A rate in a table: None for "-" and for what stands for wrong data (-999.999)."""
    value = _number(word)
    return value * MB if value is not None and value >= 0 else None


def _found(pattern, line, convert=float):
    match = re.search(pattern, line)
    value = _number(match.group(1)) if match else None
    return convert(value) if value is not None else None


def _bytes(mebibytes):
    return int(mebibytes * MIB)


def read(path):
    """The results in a file, or None: it is no summary. Trouble where it cannot be read."""
    try:
        with open(path, 'rb') as f:
            raw = f.read(SIZE_MAX_BYTES + 1)
    except (OSError, ValueError) as e:
        raise trouble.failed('%s: cannot read: %s' % (
            text.clean(path), getattr(e, 'strerror', None) or e))
    if len(raw) > SIZE_MAX_BYTES:
        return None
    lines = [text.clean(line, 2000) for line in raw.decode('utf-8', 'replace').splitlines()]
    last = next((line for line in reversed(lines) if line.strip()), '')
    if re.match(r'\s*b_eff_io\s*=', last):
        return _b_eff_io(path, lines, last)
    if re.match(r'\s*b_eff\S*\s*=.*PEs with', last):
        return [_b_eff(path, lines, last)]
    return None


def _common(path, lines, program, last):
    ours = next((m for m in (re.match(r'nht1-\w+ ([^\s,]+)', line) for line in lines[:3]) if m), None)
    return {'program': program, 'path': path, 'ours': ours is not None,
            'version': ours.group(1) if ours else None, 'procs': None,
            'system': (re.search(r'(?:Min,|MB/PE) on (.*?)(?:, (?:NOT |CACHE-|with |creation).*)?$', last)
                       or [None, None])[1],
            'memory_per_process_bytes': None, 'value': None, 'valid': None}


# --- b_eff ----------------------------------------------------------------------------------------

def _columns(lines, label):
    """The numbers of a row of the table, behind its label."""
    for line in lines:
        if line.strip().startswith(label):
            return [_number(word) for word in line.strip()[len(label):].replace('|', ' ').split()]
    return []


def _b_eff(path, lines, last):
    r = _common(path, lines, 'b_eff', last)
    whole, each = _columns(lines, 'accumulated'), _columns(lines, 'per process')
    whole += [None] * (5 - len(whole))
    each += [None] * (9 - len(each))
    r['value'] = _found(r'=\s*' + NUMBER + r'\s*MB/s', last, lambda v: v * MB)
    r['procs'] = _found(r'\*\s*(\d+)\s*PEs', last, int)
    r['memory_per_process_bytes'] = _found(r'PEs with\s+' + NUMBER + r'\s*MB/PE', last, _bytes)
    # "b_effSHORT", "b_effTEST", "b_eff(NOT_VALID)" are none of b_eff.
    r['valid'] = re.match(r'\s*b_eff\s*=', last) is not None

    def of(row, column, factor):
        return row[column] * factor if row[column] is not None else None
    r.update(lmax_bytes=of(whole, 2, MIB), at_lmax=of(whole, 3, MB), rings_at_lmax=of(whole, 4, MB),
             latency_s=of(each, 5, 1e-6), rings_latency_s=of(each, 6, 1e-6),
             ping_pong_s=of(each, 7, 1e-6), ping_pong=of(each, 8, MB))
    return r


# --- b_eff_io -------------------------------------------------------------------------------------

def _partition(common, procs):
    return dict(common, procs=procs, definition=None, scheduled_s=None,
                access={a: None for a in ACCESSES}, types={},
                chunks={a: {} for a in ACCESSES}, pattern_2={}, cache_honest=None,
                cache_factor=None, headline=False)


def _row(part, words):
    """A line "N PEs ..." of the table."""
    kind, rest = words[2], words[3:]
    if re.match(r'[1-7]$', kind) and len(rest) >= 7 and rest[1] in ACCESSES:
        bytes_ = _number(rest[0])
        if bytes_ is not None:
            part['chunks'][rest[1]][int(kind)] = {
                'bytes': int(bytes_), 'rates': [_rate(w) for w in rest[2:7]]}
    elif kind.startswith('total-') and kind[6:] in ACCESSES and len(rest) >= 5:
        part['types'][kind[6:]] = [_rate(w) for w in rest[:5]]
    elif kind == 'bw_pat2=' and len(rest) >= 3:
        part['pattern_2'] = dict(zip(ACCESSES, (_rate(w) for w in rest)))


def _b_eff_io(path, lines, last):
    common = _common(path, lines, 'b_eff_io', last)
    definition = next((m.group(1) for m in (re.match(r'nht1-beffio .*definition (\S+)', line)
                                            for line in lines[:3]) if m), None)
    found, part = [], None
    for line in lines:
        words = line.split()
        if 'Summary of file I/O bandwidth' in line:
            procs = _found(r'on\s+(\d+)\s+processes', line, int)
            part = _partition(common, procs)
            part['definition'] = definition or (None if common['ours'] else '2.1')
            part['memory_per_process_bytes'] = _found(
                r'with\s+' + NUMBER + r'\s*MByte', line, _bytes)
            found.append(part)
        elif part is None:
            continue
        elif len(words) > 3 and words[1] == 'PEs' and words[0].isdigit():
            _row(part, words)
        elif line.strip().startswith('weighted average bandwidth for'):
            access = next((a for a in ACCESSES if re.search(r'\b%s\b' % a, line)), None)
            if access:
                part['access'][access] = _found(r':\s*' + NUMBER + r'\s*MB/s', line,
                                                lambda v: v * MB)
        elif 'b_eff_io of these measurements' in line:
            part['value'] = _found(r'=\s*' + NUMBER + r'\s*MB/s', line, lambda v: v * MB)
            part['scheduled_s'] = _found(r'time\s*=\s*' + NUMBER + r'\s*[Mm]in', line,
                                         lambda v: v * 60)
        elif re.match(r'(NOT )?VALID\b', line.strip()) and part['valid'] is None:
            part['valid'] = line.strip().startswith('VALID')
        elif re.match(r'(NOT )?CACHE-HONEST', line.strip()):
            part['cache_honest'] = line.strip().startswith('CACHE')
            part['cache_factor'] = _found(NUMBER + r' times the', line)
    rated = [p for p in found if p['value'] is not None]
    if rated:
        max(rated, key=lambda p: p['value'])['headline'] = True
    return found or None
