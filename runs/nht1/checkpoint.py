# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a program should dump its state, and what failures then cost: the intervals of Young and
Daly and the shares of Daly's complete model. Formulas, sources and limits: docs/checkpoint.md.

All times in seconds, above 0: dump_s, what a dump costs (delta); restart_s, from a failure to
computing again (R, may be 0); mtbf_s, mean time between failures (M); interval_s, computing between
two dumps (tau)."""
import math
from collections import namedtuple

EXPONENT_MAX = 700  # beyond it exp() overflows, and no interval ever ends well

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
    a, alive = (interval_s + dump_s) / mtbf_s, math.exp(-restart_s / mtbf_s)
    restarts = -math.expm1(-restart_s / mtbf_s)
    if a >= EXPONENT_MAX:
        return Loss(0.0, alive, restarts)
    per_failure = 1 / math.expm1(a)  # intervals that end well
    return Loss(alive * dump_s / mtbf_s * per_failure, alive * (1 - a * per_failure), restarts)
