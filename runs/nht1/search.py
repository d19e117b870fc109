# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of searches for the best way to write, as runs/study tune and reports have them in common."""
import os
import re
import shlex

from . import text
from .results import integer, items, real, word

COMPONENT = 'OMPI_MCA_io'
NEAR = 1.05  # T_T over that of the best, within which a search has found what it should


def span(node, lo='lo', hi='hi', show=text.number):
    """' (0.96 to 1.03)', nothing where there is no interval."""
    low, high = real(node, lo), real(node, hi)
    return '' if low != low or high != high else ' (%s to %s)' % (show(low), show(high))


def asked(settings):
    """'2 ranks x 1 thread, --class W': what a tune was made for. settings: of tune.json."""
    ranks, threads = (int(w) if re.fullmatch('[0-9]{1,9}', w) else 1 for w in (word(settings, 'ranks'), word(settings, 'threads')))
    return ', '.join(['%s x %s' % (text.plural(ranks, 'rank'), text.plural(threads, 'thread'))] + [
        '--%s %s' % (k, word(settings, k)) for k in settings if k not in ('program', 'ranks', 'threads')])


def near(check):
    """Whether a search has found a way within NEAR of the best; None: not certain, or half of the runs were disturbed
    or more. check: of tune.json."""
    if disturbed(check):
        return None
    return True if real(check, 'hi') <= NEAR else False if real(check, 'lo') > NEAR else None


def disturbed(check):
    """What keeps the same from being judged, as words; '' where nothing does."""
    n, runs = integer(check, 'disturbed_runs'), integer(check, 'runs')
    return disturbance(n, runs) if spoiled(n, runs) else ''


def spoiled(n, runs):
    """Whether so many disturbed runs of all are too many to conclude anything: half of them, as in a search
    (race_disturbed of bt/search/race.h)."""
    return 0 < runs <= 2 * n


def disturbance(n, runs):
    return 'other programs, other virtual machines, a CPU quota or a suspension took processors from the ranks in %d of %d runs' % (n, runs)


def hint_forms(best):
    """[(form, text)] of the best way, for other programs."""
    hints = [(word(h, 'form'), word(h, 'text')) for h in items(best, 'hints') if word(h, 'text')]
    if word(best, 'component'):
        hints.insert(0, ('environment', 'export %s=%s' % (COMPONENT, word(best, 'component'))))
    return hints


def command_of(component, command, files):
    """To paste: what the search printed, or else words for it, under an MPI-IO component, and into a folder that
    stays."""
    parts = command
    if isinstance(command, str):
        try:
            parts = shlex.split(command)
        except ValueError:
            return command
    if '--out' in parts[:-1]:
        at_out = parts.index('--out')
        parts[at_out:at_out + 2] = ['--out', os.path.join(files, 'btout.bin')] if files else []
    return ' '.join(['%s=%s' % (COMPONENT, component)] * bool(component) +
                    [p if re.fullmatch(r'[\w.]+=[\w.]+', p, re.ASCII) else shlex.quote(p) for p in parts])
