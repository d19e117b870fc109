# SPDX-License-Identifier: GPL-3.0-or-later
"""`make simulate`: nht1-bt on simulated platforms (docs/simulation.md), beside the cost model.

    python3 -m nht1.simulate FOLDER

FOLDER/bin has nht1-bt as built for SimGrid; FOLDER takes the results. Environment:

    PLATFORMS  names in config/platforms or files, default "flat fat-tree dragonfly"
    RANKS      default "64 216"
    CLASS      default B
    STEPS      default 2
    NICE       default 19, of the simulation, which may take hours
    MODEL      result of bench/model, default FOLDER/../bench/model.json where it is: set beside `flat`"""
import csv
import math
import os
import subprocess
import sys
import xml.etree.ElementTree as xml

from nht1 import command, results, text, tools, trouble
from nht1.study.folder import write_json, write_text

PLATFORMS = os.path.join(tools.ROOT, 'config', 'platforms')
COMPUTING = ('rhs', 'xi', 'eta', 'zeta')


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
            '-hostfile', host_file, '--log=root.thres:critical', '--cfg=smpi/simulate-computation:no',
            '--cfg=smpi/test:0', '--cfg=smpi/coll-selector:ompi', os.path.join(folder, 'bin', 'nht1-bt')] + words


def simulate(folder, path, ranks, words):
    """The result of nht1-bt there, and None with the reason when it has none."""
    file = os.path.join(folder, 'result.json')
    if os.path.exists(file):
        os.remove(file)
    done = subprocess.run(words_of(folder, path, ranks, words + ['--io', 'none', '--quiet', '--json', file]),
                          env=dict(os.environ, OMP_NUM_THREADS='1'), stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, cwd=folder, stdin=subprocess.DEVNULL)
    if done.returncode != 0 or not os.path.exists(file):
        said = done.stderr.decode(errors='replace').strip().splitlines()
        return None, 'exit status %d%s' % (done.returncode, ': ' + said[0] if said else '')
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


def table(rows, model):
    lines = [['platform', 'ranks', 'nodes', 'grid', 'ms/step', 'work', 'halo', 'pipe wait', 'computing %', 'model ms', 'off by']]
    for r in rows:
        known = model.get(r['ranks']) if r['platform'] == 'flat' else None
        lines.append([r['platform'], str(r['ranks']), str(r['nodes']), r['grid']] +
                     ['%.3f' % (1e3 * r[k]) for k in ('s_per_step', 'work_s', 'exchange_s', 'pipe_wait_s')] +
                     ['%.0f' % (100 * r['computing_share'])] +
                     (['%.3f' % (1e3 * known[0]), '%+.0f %%' % (100 * (known[0] / r['s_per_step'] - 1))]
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
    paths = [platform_path(name) for name in names]
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
    said = 'SIMULATED, not measured: class %s, %s steps, ms per step; computing charged from %s\n%s' % (
        cls, steps, os.path.join(folder, 'kernels.json'), table(rows, model))
    said += ''.join('left out: %s\n' % line for line in left_out)
    write_json(os.path.join(folder, 'simulation.json'),
               {'schema': 'nht1-simulation/1', 'rows': rows, 'left_out': left_out}, replace=True)
    write_text(os.path.join(folder, 'simulation.txt'), said, replace=True)
    figure(folder, cls, rows, model)
    print('\n' + said)
    return trouble.FAILED if left_out else trouble.OK


if __name__ == '__main__':
    sys.exit(command.run('simulate', lambda: main(os.path.abspath(sys.argv[1]))))
