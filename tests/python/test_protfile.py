# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged protocols (.prot) of b_eff: none ends in a traceback or hangs, and no wrong value is read without a word, where
all labels stand in the line of a value. NHT1_FUZZ_TRIES inputs, which follow from NHT1_FUZZ_SEED; one that shows a fault
stays in the folder NHT1_FUZZ_SAVE, else $TMPDIR."""
import importlib.util
import math
import os
import random
import signal
import tempfile
import unittest

from nht1 import patterns, protfile, sumfile, text
from support import scratch_of

TRIES, SEED = int(os.environ.get('NHT1_FUZZ_TRIES', 300)), int(os.environ.get('NHT1_FUZZ_SEED', 1993))
SAVE = os.environ.get('NHT1_FUZZ_SAVE', tempfile.gettempdir())
LIMIT_S = 20  # of processor time, for an input
LENGTHS = (1, 1024, 16384)
PATTERNS = {0: 'ring-2*2fix', 1: 'ring-1*4fix', 6: 'random-cyc-1dim', 7: 'random-cyc-1dim', 11: 'one PingPong Pair'}
HEAD = ['', 'SECTION-HEAD-BEGIN', '', 'b_eff.c, Revision 3.6', 'Used message lengths:', 'msglng= %s' % ' '.join(map(str, LENGTHS)),
        'Used methods:  0=Sndrcv  1=Alltoal  2=non-blk',
        'Used patterns:  ' + '  '.join('%d=%-18s' % p for p in list(PATTERNS.items())[:3]),
        '                ' + '  '.join('%d=%-18s' % p for p in list(PATTERNS.items())[3:]), '', 'SECTION-HEAD-END', '',
        'SECTION-LOOP-BEGIN', 'rep=0 L=        1 time= 0.107710 sec', 'SECTION-LOOP-END', 'SECTION-VALUES-BEGIN', '']
TAIL = ['', 'SECTION-VALUES-END', '', 'b_eff =    195.707 MB/s =  65.236 *   3 PEs with 1 MB/PE on Linux']


def _fuzz():
    """The changes of tests/fuzz/fuzz.py."""
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', 'fuzz', 'fuzz.py')
    spec = importlib.util.spec_from_file_location('fuzz', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sample(rng, reps, decimals, before):
    """A good protocol and its values; before: lengths and methods stand in lines before those of values."""
    lines, values = list(HEAD), {}
    for size in LENGTHS:
        lines += ['msglng: %d' % size] if before else []
        for method in range(3):
            lines += ['method %d=%s' % (method, protfile.METHODS[method]), 'mthd=%d' % method] if before else []
            for pattern in PATTERNS:
                if pattern == 11 and method:
                    continue
                least = [rng.uniform(0.9, 1) * 300 * size / (size + 1000) for _ in range(reps)]
                for name, factor in (('min', 1), ('avg', 1.01), ('max', 1.03)):
                    rates = ['%.*f' % (decimals, v * factor) for v in least]
                    labels = '' if before else 'L=%9d mthd=%d ' % (size, method)
                    lines.append('%spat=%2d %s: %s -> %s (%.6f sec)' % (labels, pattern, name, ' '.join(rates), max(rates, key=float), 0.1))
                    if name == 'min' and max(map(float, rates)):
                        values[pattern, size, method] = max(map(float, rates)) * 1e6
    return '\n'.join(lines + TAIL + ['']).encode(), values


def _hangs(signum, frame):
    raise TimeoutError('more than %d s' % LIMIT_S)


class Damaged(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(scratch_of(self), 'x.prot')
        old = signal.signal(signal.SIGPROF, _hangs)
        self.addCleanup(signal.signal, signal.SIGPROF, old)
        self.addCleanup(signal.setitimer, signal.ITIMER_PROF, 0)

    def read(self, data):
        with open(self.path, 'wb') as f:
            f.write(data)
        signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
        return protfile.read(self.path)

    def wrong(self, data, values):
        """What is wrong with the answer to an input, or None; values: those that it may give, None for any."""
        try:
            found = self.read(data)
            if found is None:
                return None
            compared = patterns.of_protocol(found)
            said = sumfile.sentences(found['faults'], self.path)
        except Exception as e:  # pylint: disable=broad-except
            return repr(e)
        if not all(math.isfinite(v) and v > 0 for v in [*found['values'].values(), *compared.values()]):
            return 'a value that is no rate'
        if any(text.HARMFUL.search(words) for words in said):
            return 'says what a terminal obeys'
        if values is None:
            return None
        other = {k: v for k, v in found['values'].items() if abs(v - values.get(k, 0)) > 1e-3 * v}  # as printed
        return 'without a word: %s' % list(other.items())[:3] if other and not said else None

    def test_whole_ones_are_read_value_for_value(self):
        for reps, decimals, before in ((1, 6, False), (3, 3, False), (3, 3, True)):
            data, values = sample(random.Random(SEED), reps, decimals, before)
            found = self.read(data)
            self.assertEqual((found['faults'], sorted(found['values'])), ([], sorted(values)))
            self.assertTrue(all(abs(found['values'][k] - v) < 1e-3 for k, v in values.items()))

    def test_no_input_hangs_ends_in_a_traceback_or_gives_a_wrong_value_without_a_word(self):
        fuzz = _fuzz()
        made = random.Random(SEED)
        samples = [(*sample(made, reps, decimals, before), before) for before in (False, True) for reps, decimals in ((1, 6), (3, 3))]
        corpus = [data for data, _, _ in samples]
        for i in range(TRIES):
            rng = random.Random('%d prot %d' % (SEED, i))
            data, values, before = rng.choice(samples)
            for _ in range(rng.choice((1, 1, 1, 2, 5))):
                data = fuzz.mutate(data, corpus, rng)
            wrong = self.wrong(data, None if before else values)
            if wrong:
                kept = os.path.join(SAVE, 'prot.%d' % i)
                with open(kept, 'wb') as f:
                    f.write(data)
                self.fail('%s: %s' % (kept, wrong))
