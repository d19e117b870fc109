# SPDX-License-Identifier: GPL-3.0-or-later
"""Results with few values each, several of which are a sample: bandwidth programs, and programs under
nht1-profile."""
from .. import results

# Results with a headline each, several of which are a sample: name, member, unit, whether higher is
# better, and what must be the same on both sides.
VALUES = {
    'nht1-beff': (
        ('b_eff', 'result.b_eff_bytes_per_s', 'bytes/s', True,
         ('definition', 'system.ranks', 'memory.lmax_bytes', 'result.valid')),
        ('latency of rings and random patterns', 'result.latency_s', 's', False,
         ('definition', 'system.ranks'))),
    'nht1-beffio': (
        ('b_eff_io', 'b_eff_io.bytes_per_s', 'bytes/s', True,
         ('b_eff_io.definition', 'b_eff_io.procs', 'b_eff_io.valid', 'schedule.t_s',
          'schedule.termination')),)}


def compare(found, sides):
    for name, path, unit, higher_better, keys in VALUES[sides[0][0].kind]:
        found.agree(name, sides, keys)
        found.metric(name, unit, sides, lambda root, path=path: [results.real(root, path)],
                     higher_better)


def compare_profiles(found, sides):
    def t_t_s(root):
        return [results.real(r, 't_t_s') for r in results.items(root, 'zeta.rounds')] or \
            [results.real(root, 'profile.wall_s')]

    def ratio(root):  # zeta may be 0 or less: of that no ratio says anything
        return [results.real(r, 't_t_s') / results.real(r, 't_c_s')
                for r in results.items(root, 'zeta.rounds') if results.real(r, 't_c_s') > 0]
    found.agree('profile', sides, ('profile.ranks_n', 'profile.state', 'profile.read_bytes',
                                   'profile.written_bytes'))
    found.metric('1 + zeta of the program', '1', sides, ratio)  # decides, where there is one
    found.metric('T_T of the program', 's', sides, t_t_s)
