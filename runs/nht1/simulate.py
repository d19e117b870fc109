# SPDX-License-Identifier: GPL-3.0-or-later
"""`make simulate`: nht1-bt on simulated platforms (docs/simulation.md), beside the cost model; `make
simulate-check`: on this machine, simulated and measured.

    python3 -m nht1.simulate FOLDER [check]

FOLDER/bin has nht1-bt as built for SimGrid, FOLDER/../bin as for this machine; FOLDER takes the results. Environment:

    PLATFORMS  names in config/platforms or files, default "flat fat-tree dragonfly"; this-machine: one node,
               calibrated by nht1-beff
    RANKS      default "64 216"; check: 2
    CLASS      default B; check: A
    STEPS      default 2; check: 20
    ROUNDS     check: how often each decomposition is measured, default 7
    NICE       default 19, of the simulation, which may take hours
    MODEL      result of bench/model, default FOLDER/../bench/model.json where it is: efficiency in the figure

Beside `flat` stands the cost model with the kernel times that are charged: FOLDER/../bench/model --kernels."""
import contextlib
import csv
import math
import os
import subprocess
import sys
import xml.etree.ElementTree as xml

from nht1 import command, results, stats, text, tools, trouble
from nht1.study import launch
from nht1.study.folder import write_json, write_text

PLATFORMS = os.path.join(tools.ROOT, 'config', 'platforms')
COMPUTING = ('rhs', 'xi', 'eta', 'zeta')
# Open MPI's collectives. Two of them by name, since SimGrid's own choice finds out first, for every communicator, which
# ranks share a node, with a message from each rank to each.
FLAGS = ('--cfg=smpi/simulate-computation:no', '--cfg=smpi/test:0', '--cfg=smpi/coll-selector:ompi',
         '--cfg=smpi/allreduce:rdb', '--cfg=smpi/bcast:binomial_tree')


def setting(name, default):
    return os.environ.get(name) or default


def numbers(name, default):
    words = setting(name, default).split()
    if not all(w.isdigit() and int(w) > 0 for w in words):
        raise trouble.usage('%s: %s: numbers from 1 on expected' % (name, ' '.join(words)))
    return [int(w) for w in words]


def platform_path(name):
    path = name if '/' in name else os.path.join(PLATFORMS, name + '.xml')
    if not os.path.exists(path):
        raise trouble.usage('PLATFORMS: %s: not in %s' % (name, PLATFORMS))
    return path


def hosts(path, ranks):
    """Lines of a host file: the nodes of the platform, filled one after the other."""
    cluster = xml.parse(path).getroot().find('.//cluster')
    if cluster is None:
        raise trouble.usage('%s: no <cluster>' % path)
    cores = int(cluster.get('core', '1'))
    first, last = (int(n) for n in cluster.get('radical').split('-'))
    nodes = math.ceil(ranks / cores)
    if nodes > last - first + 1:
        raise trouble.usage('%s: %d ranks need %d nodes of %d cores, it has %d' %
                            (path, ranks, nodes, cores, last - first + 1))
    return ''.join('%s%d%s:%d\n' % (cluster.get('prefix'), n, cluster.get('suffix'), cores)
                   for n in range(first, first + nodes))


def words_of(folder, path, ranks, words):
    """What starts nht1-bt with these options on so many ranks of a platform."""
    host_file = os.path.join(folder, 'hosts')
    write_text(host_file, hosts(path, ranks), replace=True)
    return ['nice', '-n', setting('NICE', '19'), 'smpirun', '-np', str(ranks), '-platform', path,
            '-hostfile', host_file, '--log=root.thres:critical', *FLAGS, os.path.join(folder, 'bin', 'nht1-bt')] + words


def simulate(folder, path, ranks, words):
    """The result of nht1-bt there, and None with the reason when it has none."""
    file = os.path.join(folder, 'result.json')
    if os.path.exists(file):
        os.remove(file)
    done = subprocess.run(words_of(folder, path, ranks, words + ['--io', 'none', '--quiet', '--json', file]),
                          env=dict(os.environ, OMP_NUM_THREADS='1'), stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, cwd=folder, stdin=subprocess.DEVNULL)
    if done.returncode != 0 or not os.path.exists(file):
        errors = done.stderr.decode(errors='replace').strip().splitlines()
        return None, 'exit status %d%s' % (done.returncode, ': ' + errors[0] if errors else '')
    return results.read_json(file), None


def row(name, ranks, result):
    run = result['runs'][0]
    steps, phases = result['problem']['steps'], run['phases_s']
    step_s = run['t_t_s'] / steps
    work_s = sum(phases[p]['mean'] for p in COMPUTING) / steps
    return {'platform': result['system']['simulation']['platform'] or name, 'ranks': ranks,
            'n': result['problem']['n'],
            'steps': steps, 'nodes': result['system']['nodes'], 'grid': result['system']['decomp'],
            's_per_step': step_s, 'work_s': work_s,
            'exchange_s': phases['exchange']['mean'] / steps,
            'pipe_wait_s': phases['pipe_wait']['mean'] / steps, 'computing_share': work_s / step_s,
            'stamps': [s['code'] for s in result['stamps']]}


def model_of(path, cls):
    """{ranks: seconds per step} of the cost model for the most cubic decomposition."""
    if not os.path.exists(path):
        return {}
    for one in results.read_json(path)['predictions']:
        if one['class'] == cls:
            return {r['ranks']: (r['3d']['s_per_step'], r['3d']['parallel_efficiency'])
                    for r in one['ranks'] if '3d' in r}
    return {}


def model_of_kernels(folder, kernels):
    """{(N, grid): seconds per step} of the cost model with the times of computing that the simulation charges."""
    file = os.path.join(folder, 'model.json')
    if os.path.exists(file):
        os.remove(file)
    done = subprocess.run([os.path.join(folder, '..', 'bench', 'model'), '--kernels', kernels, '--json', file],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise trouble.failed(done.stderr.decode(errors='replace').strip())
    return {(b['n'], b['grid']): b['s_per_step'] for b in results.read_json(file)['blocks']}


def table(rows, model):
    lines = [['platform', 'ranks', 'nodes', 'grid', 'ms/step', 'work', 'halo', 'pipe wait', 'computing %', 'model ms', 'off by']]
    for r in rows:
        known = model.get((r['n'], r['grid'])) if r['platform'] == 'flat' else None
        lines.append([r['platform'], str(r['ranks']), str(r['nodes']), r['grid']] +
                     ['%.3f' % (1e3 * r[k]) for k in ('s_per_step', 'work_s', 'exchange_s', 'pipe_wait_s')] +
                     ['%.0f' % (100 * r['computing_share'])] +
                     (['%.3f' % (1e3 * known), '%+.0f %%' % (100 * (known / r['s_per_step'] - 1))]
                      if known else ['-', '-']))
    return text.table(lines)


def figure(folder, cls, rows, model):
    """Computing share over ranks, beside the model's parallel efficiency: simulation.csv and simulation.svg."""
    from nht1.report import draw
    panel, points = 'share of a step', []
    for r in rows:
        points.append([panel, r['platform'] + ', simulated: computing', r['ranks'], r['computing_share'], '', ''])
    largest = max(r['ranks'] for r in rows)
    points += [[panel, 'model: parallel efficiency', n, model[n][1], '', ''] for n in sorted(model) if n <= largest]
    series = sorted({p[1] for p in points})
    path = os.path.join(folder, 'simulation.csv')
    with open(path, 'w', encoding='utf-8', newline='') as f:
        csv.writer(f).writerows([['panel', 'series', 'x', 'y', 'low', 'high']] + points)
    spec = {'name': panel, 'x': {'label': 'ranks', 'log': 2},
            'y': {'label': 'share of a step', 'from_zero': True},
            'styles': {s: 'line-points' for s in series}, 'looks': {s: i for i, s in enumerate(series)}}
    drawn = draw.figure('Class %s, simulated: not measured' % cls, [spec], draw.read(path))
    draw.save(drawn, {os.path.join(folder, 'simulation.svg'): 'svg', os.path.join(folder, 'simulation.png'): 'png'})


def main(folder):
    cls, steps = setting('CLASS', 'B'), setting('STEPS', '2')
    if tools.need(('matplotlib',)):
        raise trouble.failed('matplotlib is not installed: make setup')
    names, counts = setting('PLATFORMS', 'flat fat-tree dragonfly').split(), numbers('RANKS', '64 216')
    paths = [make_here(Measured(folder))[0] if name == 'this-machine' else platform_path(name) for name in names]
    model = model_of(setting('MODEL', os.path.join(folder, '..', 'bench', 'model.json')), cls)
    rows, left_out = [], []
    for ranks in counts:
        for name, path in zip(names, paths):
            result, why = simulate(folder, os.path.abspath(path), ranks, [
                '--class', cls, '--steps', steps, '--decomp', '3d', '--charge', os.path.join(folder, 'kernels.json')])
            if result is None:
                left_out.append('%s, %d ranks: %s' % (name, ranks, why))
                print('left out: ' + left_out[-1], file=sys.stderr)
                continue
            rows.append(dict(row(name, ranks, result), **{'class': cls}))
            print('%s, %d ranks: %.3f ms a step' % (name, ranks, 1e3 * rows[-1]['s_per_step']), flush=True)
    if not rows:
        raise trouble.failed('nothing could be simulated')
    kernels = os.path.join(folder, 'kernels.json')
    summary = 'SIMULATED, not measured: class %s, %s steps, ms per step; computing charged from %s\n%s' % (
        cls, steps, kernels, table(rows, model_of_kernels(folder, kernels)))
    summary += ''.join('left out: %s\n' % line for line in left_out)
    write_json(os.path.join(folder, 'simulation.json'),
               {'schema': 'nht1-simulation/1', 'rows': rows, 'left_out': left_out}, replace=True)
    write_text(os.path.join(folder, 'simulation.txt'), summary, replace=True)
    figure(folder, cls, rows, model)
    print('\n' + summary)
    return trouble.FAILED if left_out else trouble.OK


# --- make simulate-check ------------------------------------------------------------------------

# One node with the cores of this machine, whose ranks meet on the loopback link.
HERE = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <config>
    <prop id="smpi/os" value="0:{end_s}:0"/>
    <prop id="smpi/or" value="0:{end_s}:0"/>
    <prop id="smpi/ois" value="0:{end_s}:0"/>
    <prop id="smpi/bw-factor" value="0:1"/>
    <prop id="smpi/lat-factor" value="0:1"/>
    <prop id="network/TCP-gamma" value="0"/>
    <prop id="network/weight-S" value="0"/>
    <prop id="network/crosstraffic" value="0"/>
  </config>
  <cluster id="this-machine" prefix="node-" suffix="" radical="0-0" speed="1Gf" core="{cores}" bw="{bytes_per_s}Bps"
           lat="{link_s}s" loopback_bw="{bytes_per_s}Bps" loopback_lat="{link_s}s">
    <prop id="platform" value="this-machine"/>
  </cluster>
</platform>
"""


class Measured:
    """nht1-bt and nht1-beff of this machine, their results in a folder."""

    def __init__(self, folder):
        self.folder, self.bin = folder, os.path.join(folder, '..', 'bin')
        self.cores = len(os.sched_getaffinity(0))
        self.launcher = launch.Launcher('auto', [], self.cores, versioned=False,
                                        program=os.path.join(self.bin, 'nht1-bt'))

    def run(self, program, ranks, words):
        file = os.path.join(self.folder, 'measured.json')
        if os.path.exists(file):
            os.remove(file)
        done = subprocess.run(self.launcher.command(ranks, 1, [os.path.join(self.bin, program)] + words +
                                                    ['--quiet', '--json', file]),
                              env=self.launcher.environment(ranks, 1, {}), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, cwd=self.folder, stdin=subprocess.DEVNULL)
        if not os.path.exists(file):
            errors = done.stderr.decode(errors='replace').strip().splitlines()
            raise trouble.failed('%s: exit status %d%s' % (program, done.returncode, ': ' + errors[0] if errors else ''))
        return results.read_json(file)

    @contextlib.contextmanager
    def others_compute(self, ranks, problem):
        """Meanwhile every other rank's core computes as well, undivided: ranks of a node share memory and caches."""
        alone = self.launcher.environment(1, 1, {})
        words = ['--steps', '1000000000', '--io', 'none', '--tc', '1', '--verify', 'never', '--quiet']
        others = [subprocess.Popen([os.path.join(self.bin, 'nht1-bt')] + problem + words, env=alone, cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
                  for _ in range(ranks - 1)]
        try:
            yield
        finally:
            ended = [other.returncode for other in others if other.poll() is not None]
            for other in others:
                other.kill()
                other.wait()
        if ended:
            raise trouble.failed('nht1-bt, computing beside the kernels that were timed, ended with status %d' % ended[0])


def make_here(here):
    """Writes the platform of this machine, calibrated by the ping-pong of nht1-beff: half of its latency is the
    link's, the rest is spent by the two ends. Returns its path and what was measured."""
    found = here.run('nht1-beff', 2, ['--quick', '--random', '1'])['result']
    latency_s, bytes_per_s = found['ping_pong_latency_s'], found['ping_pong_bytes_per_s']
    path = os.path.join(here.folder, 'this-machine.xml')
    write_text(path, HERE.format(end_s='%.3g' % (latency_s / 4), link_s='%.3g' % (latency_s / 2), cores=here.cores,
                                 bytes_per_s='%.3g' % bytes_per_s), replace=True)
    return path, latency_s, bytes_per_s


def check(folder):
    """2 ranks, divided along each direction: the time of a step, simulated and measured."""
    cls, ranks, steps = setting('CLASS', 'A'), numbers('RANKS', '2')[0], setting('STEPS', '20')
    here, rounds = Measured(folder), numbers('ROUNDS', '7')[0]
    if ranks > here.cores:
        raise trouble.usage('RANKS: %d: this machine has %d cores, and ranks that share one are not simulated' %
                            (ranks, here.cores))
    kernels = os.path.join(folder, 'kernels-here.json')
    if os.path.exists(kernels):
        os.remove(kernels)  # of another minute
    path, latency_s, bytes_per_s = make_here(here)
    rows, measured = [], {}
    problem = ['--class', cls, '--steps', steps]
    for _ in range(rounds):
        for decomp in '1d:z', '1d:y', '1d:x':
            run = here.run('nht1-bt', ranks, problem + ['--decomp', decomp, '--io', 'none', '--tc', '1', '--verify', 'never'])
            measured.setdefault(decomp, []).append(run['runs'][0]['t_t_s'] / int(steps))
    for decomp, times in measured.items():
        with here.others_compute(ranks, ['--class', cls]):
            result, why = simulate(folder, path, ranks, problem + ['--decomp', decomp, '--charge', kernels])
        if result is None:
            raise trouble.failed('simulating %s: %s' % (decomp, why))
        one = row('this-machine', ranks, result)
        median_s = stats.median(times)
        rows.append(dict(one, **{'class': cls, 'decomp': decomp, 'measured_s_per_step': median_s,
                                 'measured_least_s': min(times), 'measured_most_s': max(times),
                                 'deviation': one['s_per_step'] / median_s - 1}))
    lines = [['decomposition', 'simulated ms', 'work', 'halo', 'pipe wait', 'measured ms', 'least', 'most', 'deviation']]
    for r in rows:
        lines.append([r['decomp']] + ['%.3f' % (1e3 * r[k]) for k in (
            's_per_step', 'work_s', 'exchange_s', 'pipe_wait_s', 'measured_s_per_step', 'measured_least_s',
            'measured_most_s')] + ['%+.1f %%' % (100 * r['deviation'])])
    summary = 'class %s, %d ranks, ms per step; measured: median of %d; ping-pong %.2f us, %.1f GB/s\n%s' % (
        cls, ranks, rounds, 1e6 * latency_s, 1e-9 * bytes_per_s, text.table(lines))
    write_json(os.path.join(folder, 'check.json'), {'schema': 'nht1-simulation/1', 'rows': rows, 'left_out': []},
               replace=True)
    write_text(os.path.join(folder, 'check.txt'), summary, replace=True)
    print(summary)
    return trouble.OK


if __name__ == '__main__':
    work = check if sys.argv[2:] == ['check'] else main
    sys.exit(command.run('simulate', lambda: work(os.path.abspath(sys.argv[1]))))
