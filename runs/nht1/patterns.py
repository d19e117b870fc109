# SPDX-License-Identifier: GPL-3.0-or-later
"""What b_eff_io and b_eff measured, pattern by pattern, whether a result in JSON or a summary (.sum) says it,
and the ratios of two of them with their intervals."""
import math

from . import stats
from .protfile import METHODS
from .results import at, integer, items, real, word

TYPES = ('scatter', 'shared', 'separate', 'segmented', 'seg_coll')
ACCESSES = ('write', 'rewrite', 'read')
POSITIONS = {1: '1k', 2: '1k+8', 3: '32k', 4: '32k+8', 5: '1M', 6: '1M+8', 7: 'M_PART'}
PATTERN_2, TOTAL = '1M of L = 2M', 'total'
CHUNKS = tuple(POSITIONS.values())[:6] + (PATTERN_2, POSITIONS[7])
ROUNDS_MIN = 6  # for a 95 % interval of paired values
# Quantity of b_eff, its key in a summary, its member in a result.
B_EFF = (('b_eff', 'value', 'b_eff_bytes_per_s'), ('at L_max', 'at_lmax', 'at_lmax.all_bytes_per_s'),
         ('rings at L_max', 'rings_at_lmax', 'at_lmax.rings_bytes_per_s'),
         ('latency, rings and random', 'latency_s', 'latency_s'), ('latency, rings', 'rings_latency_s', 'rings_latency_s'),
         ('latency, ping-pong', 'ping_pong_s', 'ping_pong_latency_s'), ('ping-pong at L_max', 'ping_pong', 'ping_pong_bytes_per_s'))


def offset(root, path):
    """Where buffers begin, in bytes off a page, least and most of all processes; [] where a result does not say."""
    found = at(root, path)
    return [v for v in found if isinstance(v, int)][:2] if isinstance(found, list) else []


def offset_words(ends):
    """"16", or "0 to 48"."""
    return ' to '.join(dict.fromkeys(map(str, ends)))


def order(key):
    """Where a pattern stands in a table."""
    access, kind, chunk = key
    return (ACCESSES.index(access), TYPES.index(kind), (CHUNKS + (TOTAL,)).index(chunk))


def of_sum(part):
    """{(access, type, chunk): bytes/s} of a partition of a summary, in the order of its table."""
    found = {}
    for access in ACCESSES:
        rows = part['chunks'][access]
        # In tables of eight rows pattern 2, which type 0 alone has, stands before M_PART.
        names = {**POSITIONS, 7: PATTERN_2, 8: POSITIONS[7]} if 8 in rows else POSITIONS
        for number, row in rows.items():
            kinds = TYPES[:1] if names[number] == PATTERN_2 else TYPES
            found.update({(access, t, names[number]): v for t, v in zip(kinds, row['rates'])})
        if part['pattern_2'].get(access) is not None:
            found[access, 'scatter', PATTERN_2] = part['pattern_2'][access]
        found.update({(access, t, TOTAL): v for t, v in zip(TYPES, part['types'].get(access, ()))})
    return {k: found[k] for k in sorted(found, key=order) if found[k] is not None and found[k] > 0}


def of_result(partition):
    """The same of a partition of a result of nht1-beffio."""
    found = {}
    for access in items(partition, 'accesses'):
        a = word(access, 'access')
        for number, kind in enumerate(items(access, 'types')[:5]):
            found[a, TYPES[number], TOTAL] = real(kind, 'bytes_per_s')
            for p in items(kind, 'patterns'):
                position = integer(p, 'position')
                chunk = POSITIONS.get(position) if 1 <= position <= 7 else \
                    PATTERN_2 if number == 0 and integer(p, 'no', -1) == 2 else None
                if chunk and integer(p, 'wrong_n') == 0:
                    found[a, TYPES[number], chunk] = real(p, 'bytes_per_s')
    return {k: found[k] for k in sorted((k for k in found if k[0] in ACCESSES), key=order) if found[k] > 0}


def of_b_eff(summary):
    """{(quantity,): value} of a summary of b_eff."""
    return {(name,): summary[key] for name, key, _ in B_EFF if summary[key] is not None and summary[key] > 0}


def of_b_eff_result(root):
    """The same of a result of nht1-beff."""
    found = {(name,): real(root, 'result.' + member) for name, _, member in B_EFF}
    return {k: v for k, v in found.items() if v > 0}


RANDOM, BEST = 'random', 'best'


def of_protocol(protocol):
    """{(pattern, method, size): bytes/s} of a protocol of b_eff; the method "best" is what enters b_eff. Each run
    draws random patterns of its own: their geometric mean, where all of them were measured, stands for them."""
    found, random, random_n = {}, {}, sum(name.startswith(RANDOM) for name in protocol['names'].values())
    for (pattern, size, method), rate in protocol['values'].items():
        name = protocol['names'].get(pattern, '')
        label = (pattern, ('pat=%d %s' % (pattern, name)).rstrip())
        for m in (METHODS[method] if method < len(METHODS) else str(method), BEST):
            of = random.setdefault((m, size), {}) if name.startswith(RANDOM) else found
            key = pattern if of is not found else (label, m, size)
            of[key] = max(of.get(key, 0), rate)
    for (m, size), rates in random.items():
        if len(rates) == random_n:
            found[(min(rates), '%s (%d)' % (RANDOM, random_n)), m, size] = math.exp(
                sum(map(math.log, rates.values())) / random_n)
    return {(label[1], m, size): found[label, m, size] for label, m, size in sorted(
        found, key=lambda k: (k[0], k[1] != BEST, k[1], k[2]))}


def over_sizes(rounds):
    """The same rounds with a key per pattern, at its best method: A is 1, and B the median over sizes of B / A."""
    found = []
    for a, b in rounds:
        of = {}
        for pattern, method, size in a:
            if method == BEST and (pattern, method, size) in b:
                of.setdefault((pattern,), []).append(b[pattern, method, size] / a[pattern, method, size])
        found.append(of)
    answers = iter(stats.ask([{'what': 'summary', 'values': v} for of in found for v in of.values()]))
    return [(dict.fromkeys(of, 1.0), {k: next(answers)['median'] for k in of}) for of in found]


def ratios(rounds, level=0.95):
    """[(key, n, B / A, low, high)] of rounds [(A, B)], each a dict as above. Keys that not every round has on
    both sides are left out; low and high are None for fewer rounds than an interval needs."""
    keys = [k for k in (rounds[0][0] if rounds else ()) if all(k in side for r in rounds for side in r)]
    if not keys:
        return []
    answer = stats.ask([{'what': 'centres', 'level': level, 'metrics': [
        {'a': [a[k] for a, _ in rounds], 'b': [b[k] for _, b in rounds]} for k in keys]}])[0]
    return [(k, m['n'], m['centre'], m['lo'], m['hi']) for k, m in zip(keys, answer['metrics'])]
