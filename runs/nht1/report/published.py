# SPDX-License-Identifier: GPL-3.0-or-later
"""What was published, as printed: tables 2 to 6 of [F93], table 1 of [RK01], values of b_eff_io."""
from collections import namedtuple

F93 = ('[F93] S. A. Fineberg, Implementing the NHT-1 Application I/O Benchmark, Report RND-93-007, '
       'NASA Ames Research Center, May 1993.')
RK01 = ('[RK01] R. Rabenseifner, A. E. Koniges, The parallel communication and I/O bandwidth '
        'benchmarks: b_eff and b_eff_io, 2001.')

Nht1 = namedtuple('Nht1', 'system program n processors dumps_n t_c_s t_t_s r_io zeta note')
_ODD = 'the printed values do not agree with each other'
YMP = 'Cray Y-MP'
NHT1 = tuple(Nht1(*row) for row in (
    (YMP, 'CrayBT', 64, 8, 40, 117.9, 141.7, 2442810, 0.202, _ODD),
    (YMP, 'CrayBT', 102, 1, 40, 3554, 3740, 453993, 0.052, ''),
    (YMP, 'CrayBT', 102, 2, 40, 1816, 1857, 914342, 0.023, ''),
    (YMP, 'CrayBT', 102, 4, 40, 930.6, 975.3, 1740934, 0.048, ''),
    (YMP, 'CrayBT', 102, 6, 40, 645.0, 774.5, 2192295, 0.201, ''),
    (YMP, 'CrayBT', 102, 8, 40, 506.4, 694.8, 2443772, 0.372, ''),
    ('CM-2', 'SampleBT', 12, 32768, 6, 60.25, 81.85, 5067, 0.359, ''),
    ('CM-2', 'SampleBT', 64, 32768, 40, 5526, 5621, 74618, 0.017, ''),
    ('CM-2', 'RNRBT', 64, 32768, 40, 3754, 3901, 107519, 0.039, ''),
    ('CM-2', 'RNRBT', 102, 32768, 40, 63426, 64769, 26215, 0.021, 'extrapolated from 25 steps'),
    ('iPSC/860', 'SampleBT', 12, 16, 6, 37.96, 39.82, 10415, 0.049, ''),
    ('iPSC/860', 'SampleBT', 64, 64, 40, 6663, 9262, 45285, 0.390, ''),
    ('iPSC/860', 'RNRBT_3D', 12, 8, 6, 9.694, 10.20, 40659, 0.052, ''),
    ('iPSC/860', 'RNRBT_3D', 64, 32, 40, 1381, 1567, 267665, 0.135, ''),
    ('iPSC/860', 'RNRBT_3D', 64, 64, 40, 753.0, 1036, 404856, 0.376, ''),
    ('iPSC/860', 'RNRBT_3D', 64, 128, 40, 435.6, 779.9, 537800, 0.719, _ODD),
    ('iPSC/860', 'RNRBT_3D', 102, 128, 40, 1566, 2663, 637602, 0.701, '')))

# What T_C, T_T, R_IO and zeta of this system over processors are drawn beside.
YMP_102 = [p for p in NHT1 if p.system == YMP and p.n == 102]
YMP_102_NAME = 'Cray Y-MP, N = 102, 1993'


def of_problem(group):
    """Published rows of the same problem: N, steps (60 at N = 12, else 200) and dumps."""
    return [p for p in NHT1 if p.n == group.n and p.dumps_n == group.dumps_n and
            group.steps == group.interval * group.dumps_n == (60 if p.n == 12 else 200)]


def fastest(rows):
    """The fastest run of each system, in the order of the tables."""
    systems = dict.fromkeys(p.system for p in rows)
    return [min((p for p in rows if p.system == s), key=lambda p: p.t_t_s) for s in systems]


_NO = float('nan')
Beff = namedtuple('Beff', 'system processes b_eff per_process lmax_mib ping_pong at_lmax '
                          'at_lmax_per_process rings_per_process')  # MB/s
BEFF = tuple(Beff(*row) for row in (
    ('Cray T3E/900', 512, 19919, 39, 1, 330, 50018, 98, 193),
    ('Cray T3E/900', 256, 10056, 39, 1, 330, 22738, 89, 190),
    ('Cray T3E/900', 128, 5620, 44, 1, 330, 12664, 99, 195),
    ('Cray T3E/900', 64, 3159, 49, 1, 330, 7044, 110, 192),
    ('Cray T3E/900', 24, 1522, 63, 1, 330, 3407, 142, 205),
    ('Cray T3E/900', 2, 183, 91, 1, 330, 421, 210, 210),
    ('Hitachi SR 8000, round-robin', 128, 3695, 29, 8, 776, 11609, 90, 105),
    ('Hitachi SR 8000, round-robin', 24, 915, 38, 8, 741, 2764, 115, 110),
    ('Hitachi SR 8000, sequential', 24, 1806, 75, 8, 954, 5415, 226, 400),
    ('Hitachi SR 2201', 16, 528, 33, 2, _NO, 1451, 91, 96),
    ('NEC SX-5/8B', 4, 5439, 1360, 2, _NO, 35047, 8762, 8758),
    ('NEC SX-4/32', 16, 9670, 604, 2, _NO, 50250, 3141, 3242),
    ('NEC SX-4/32', 8, 5766, 641, 2, _NO, 28439, 3555, 3552),
    ('NEC SX-4/32', 4, 2622, 656, 2, _NO, 14254, 3564, 3552),
    ('HP-V 9000', 7, 435, 62, 8, _NO, 1135, 162, 162),
    ('SGI Cray SV1-B/16-8', 15, 1445, 96, 4, 994, 5591, 373, 375)))


def contradictions(row):
    """What a row of table 1 prints and what it gives when computed again: [(what, printed,
    computed)]; rounding is none."""
    found = []
    for what, printed, computed in (
            ('b_eff per process', row.per_process, row.b_eff / row.processes),
            ('b_eff at L_max per process', row.at_lmax_per_process, row.at_lmax / row.processes)):
        if abs(printed - computed) > 1 and abs(printed / computed - 1) > 0.01:
            found.append((what, printed, computed))
    return found


# b_eff_io as the papers' texts give it; the diagrams have more points, but no numbers.
Beffio = namedtuple('Beffio', 'system processes minutes mb_s release source')
BEFFIO = tuple(Beffio(*row) for row in (
    ('IBM RS 6000/SP, LLNL', 128, 10, 311, '0.5', 'first release'),
    ('Cray T3E/900, HLRS', 32, 10, 71, '0.5', 'first release'),
    ('IBM RS 6000/SP, LLNL', 128, 30, 63, '1.x', '[RK01]'),
    ('Cray T3E/900, HLRS', 32, 30, 57, '1.x', '[RK01]'),
    ('Hitachi SR 8000, HLRS', 16, 15, 41, '1.x', '[RK01]'),
    ('NEC SX-5Be/32M2, HLRS', 4, 30, 60, 'not 1.x', '[RK01]')))
