# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of searches for the best way to write, as runs/study tune and reports have them in common."""
from . import text
from .results import integer, items, real, word

COMPONENT = 'OMPI_MCA_io'
NEAR = 1.05  # T_T over that of the best, within which a search has found what it should


def span(node, lo='lo', hi='hi', show=text.number):
    """' (0.96 to 1.03)', nothing where there is no interval."""
    low, high = real(node, lo), real(node, hi)
    return '' if low != low or high != high else ' (%s to %s)' % (show(low), show(high))


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
    return 'other programs, or other virtual machines, took processors from the ranks in %d of %d runs' % (n, runs)


def hint_forms(best):
    """[(form, text)] of the best way, for other programs."""
    hints = [(word(h, 'form'), word(h, 'text')) for h in items(best, 'hints') if word(h, 'text')]
    if word(best, 'component'):
        hints.insert(0, ('environment', 'export %s=%s' % (COMPONENT, word(best, 'component'))))
    return hints
