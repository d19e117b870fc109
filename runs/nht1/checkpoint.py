# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a program should dump its state, and what failures then cost: the intervals of Young and
Daly and the shares of Daly's complete model. Formulas, sources and limits: docs/checkpoint.md.

All times in seconds, above 0: dump_s, what a dump costs (delta); restart_s, from a failure to
computing again (R, may be 0); mtbf_s, mean time between failures (M); interval_s, computing between
two dumps (tau)."""
import math
from collections import namedtuple

EXPONENT_MAX = 700  # beyond it exp() has no value, and nothing is computed between two failures

# Of all time that passes: dumps that count, work and dumps that a failure undoes, restarts.
Loss = namedtuple('Loss', 'dumps rework restarts')


def young(dump_s, mtbf_s):
    """Best interval in first order [Young]."""
    return math.sqrt(2 * dump_s * mtbf_s)


def daly(dump_s, mtbf_s):
    """Best interval in higher order [Daly]."""
    if dump_s >= 2 * mtbf_s:
        return mtbf_s
    x = dump_s / (2 * mtbf_s)
    return young(dump_s, mtbf_s) * (1 + math.sqrt(x) / 3 + x / 9) - dump_s


def loss(interval_s, dump_s, restart_s, mtbf_s):
    """What Daly's complete model expects, by purpose; the rest of the time is computing that counts."""
    a = (interval_s + dump_s) / mtbf_s
    per_failure = 1 / math.expm1(a) if a < EXPONENT_MAX else 0.0  # intervals that end well
    alive = math.exp(-restart_s / mtbf_s)
    return Loss(alive * dump_s / mtbf_s * per_failure, alive * (1 - a * per_failure),
                -math.expm1(-restart_s / mtbf_s))
