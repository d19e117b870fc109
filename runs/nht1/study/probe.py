# SPDX-License-Identifier: GPL-3.0-or-later
"""What a description may ask of this computer before its points are known: whether ranks or threads
use the cores better, and how fast. It costs two short runs of nht1-bt that write nothing."""
import os

from .. import command, results, tools
from . import child, scratch

STEPS, LIMIT_S = 6, 120
NAMES = ('probe_ranks', 'probe_threads', 'probe_s')
RANKS_MAX = 64  # N = 64 has no more slabs


def wanted(description):
    """Whether an expression of the description uses one of the names."""
    return any('probe_' in entry.text for _, entries, _ in description.runs
               for entry in entries.values())


def run(cores, launcher):
    """{probe_ranks, probe_threads, probe_s}; a probe that fails counts as very slow."""
    ranks = min(cores, RANKS_MAX)
    found = {}
    for shape in dict.fromkeys([(ranks, 1), (1, ranks)]):
        found[shape] = _seconds(shape, launcher)
    best = min(found, key=found.get)
    return dict(zip(NAMES, best + (round(found[best] / STEPS, 6),)))


def add_shape(add):
    """The options --ranks and --threads, which shape() reads. add: of a parser."""
    add('--ranks', type=command.number(1, command.RANKS_MAX, int), metavar='R',
        help='MPI ranks; default: ranks or threads on all cores, whichever computes faster')
    add('--threads', type=command.number(1, command.THREADS_MAX, int), metavar='T',
        help='threads of each rank; default with --ranks: as many as there are cores for')


def shape(args, cores, launcher):
    """(ranks, threads) by --ranks and --threads, else by what computes faster here."""
    if args.ranks or args.threads:
        ranks = args.ranks or max(1, cores // args.threads)
        return ranks, args.threads or max(1, cores // ranks)
    found = run(cores, launcher)
    return found['probe_ranks'], found['probe_threads']


def _seconds(shape, launcher):
    with scratch.temporary() as spare:
        file = os.path.join(spare, 'result.json')
        words = [tools.path('nht1-bt') or 'nht1-bt', '--n', '64', '--steps', str(STEPS), '--dt',
                 '0.0008', '--io', 'none', '--tc', 'measure', '--tc-store',
                 os.path.join(spare, 'tc.json'), '--progress', 'never', '--json', file]
        try:
            child.ask(launcher.command(*shape, words), LIMIT_S, launcher.environment(*shape, {}))
            times = [results.real(r, 't_t_s') for r in
                     results.items(results.read_json(file), 'runs')]
        except (OSError, results.trouble.Trouble):
            times = []
    return min((t for t in times if t > 0), default=1e6)
