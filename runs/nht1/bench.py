# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of `make bench`, out of three studies (bench/compute.ini, bench/io.ini, bench/bookkeeping.ini) and
the rates that bench/peak and bench/staging measure.

    python3 -m nht1.bench compute FOLDER     bench.json (nht1-bench/1) and bench.txt
    python3 -m nht1.bench io FOLDER          io.txt
    python3 -m nht1.bench bookkeeping FOLDER bookkeeping.txt

FOLDER holds the programs of bench/ and takes the results. Environment:

    CLASSES CLASS  of compute, default S W A B, of io, default B; QUICK=1: S W A, and W
    ROUNDS         default 3; QUICK=1: 1
    CORES RANKS    use at most so many, of compute and of io; default all
    SETTINGS       of compute: lines "RANKS THREADS DECOMP ISA" instead of those that fit the cores
    PEAK_S         seconds for each peak rate, default 1; QUICK=1: 0.2
    PEAK_ARRAY     bytes of an array of the triad, default four times the last-level caches
    DIR WRITERS    of io: where to write, and which writers, default all
    NHT1_BIN       folder of the programs"""
import json
import os
import re
import shutil
import subprocess
import sys

from . import command, results, stats, text, tools, trouble
from .study import cli, description as ini
from .study.folder import write_text

N = {'S': 12, 'W': 24, 'A': 64, 'B': 102, 'C': 162, 'D': 408, 'E': 1020, 'F': 2560}
UNUSED = ('stage', 'digest', 'write', 'agree', 'manifest', 'sync', 'close', 'drain')  # no writing


def setting(name, default, quick):
    return os.environ.get(name) or (quick if os.environ.get('QUICK') else default)


def _classes(names):
    for name in names:
        if name not in N:
            raise trouble.usage("no class '%s': %s" % (name, ' '.join(N)))
    return names


def output_of(words):
    """What a program prints."""
    done = subprocess.run(words, stdout=subprocess.PIPE)
    if done.returncode != 0:
        raise trouble.failed('%s: exit status %d' % (words[0], done.returncode))
    return done.stdout.decode()


def study(folder, name, change, cores):
    """Runs the study bench/NAME.ini, with $ROUNDS repeats and as change(description) leaves it.
    Returns {point: (settings, [result, ...])} in the order of the points."""
    path = os.path.join(tools.ROOT, 'bench', name + '.ini')
    with open(path, encoding='utf-8') as f:
        description = ini.parse(path, f.read())
    description['study']['repeats'] = setting('ROUNDS', '3', '1')
    change(description)
    path, out = os.path.join(folder, name + '.ini'), os.path.join(folder, name)
    shutil.rmtree(out, ignore_errors=True)
    with open(path, 'w', encoding='utf-8') as f:
        description.write(f)
    words = [path, '--out', out, '--no-plan', '--no-report']
    words += ['--cores', str(cores)] if cores else []
    words += ['--files', os.environ['DIR']] if name == 'io' and os.environ.get('DIR') else []
    status = cli.main(words)
    if status != trouble.OK:
        raise trouble.Trouble(status, 'the study %s did not finish; see %s' % (name, out))
    sections = {p['id']: p['section'] for p in results.read_json(os.path.join(
        out, 'study.json'))['points']}
    found = {}
    for run in sorted(os.listdir(os.path.join(out, 'runs'))):
        record, result = (results.read_json(os.path.join(out, 'runs', run, file))
                          for file in ('run.json', 'result.json'))
        point = record['point']
        settings = dict(record['settings'], section=sections[point])
        found.setdefault(point, (settings, []))[1].append(result)
    return found


# --- Computing ----------------------------------------------------------------------------------

def measure_peak(folder, times):
    """The best rates of several measurements."""
    file, found = os.path.join(folder, 'peak.json'), []
    for _ in range(times):
        output_of([os.path.join(folder, 'peak'), '--seconds', setting('PEAK_S', '1', '0.2'),
                   '--json', file] + [word for option, name in (('--threads', 'CORES'), ('--array', 'PEAK_ARRAY'))
                                      if os.environ.get(name) for word in (option, os.environ[name])])
        found.append(results.read_json(file))

    def best(parts, key):
        rates = {}
        for part in parts:
            for rate in part['rates']:
                rates.setdefault(rate['threads'], []).append(rate[key])
        return [{'threads': n, key: max(rates[n])} for n in sorted(rates)]
    return {'fma': [dict(one, rates=best([p['fma'][i] for p in found], 'flop_per_s'))
                    for i, one in enumerate(found[0]['fma'])],
            'triad': dict(found[0]['triad'], rates=best([p['triad'] for p in found],
                                                        'bytes_per_s'))}, found[0]['system']


def _phases(run, ranks):
    """Seconds of each phase in the middle of the ranks, without those of writing."""
    phases = {k: (p['min'] + p['max']) / 2 if ranks == 2 else p['median']
              for k, p in run['phases_s'].items() if k not in UNUSED}
    phases['other'] = phases.pop('stop', 0) + phases.pop('idle', 0)
    return phases


def _row(settings, found, peak):
    """One line of bench.json: a setting with all its runs."""
    first = found[0]
    ranks, threads = int(settings['ranks']), int(settings['threads'])
    cores, n, steps = ranks * threads, first['problem']['n'], first['problem']['steps']
    runs = [r for f in found for r in f['runs'] if r['driver'] == 'none' and r['completed']]
    phases = [_phases(r, ranks) for r in runs]
    asked = [{'what': 'summary', 'values': values} for values in
             [[r['t_t_s'] for r in runs], [f['system']['setup_s'] for f in found]] +
             [[p[name] for p in phases] for name in phases[0]]]
    times, setup, *middles = stats.ask(asked)
    isa = first['system']['solver_kernel'].split('/')[1]
    rates = {r['threads']: r['flop_per_s'] for u in peak['fma'] if u['isa'] == isa
             for r in u['rates']}
    top = rates.get(cores, rates[1] * cores)
    row = {'class': settings['class'], 'n': n, 'steps': steps, 'ranks': ranks, 'threads': threads,
           'cores': cores, 'decomp': settings.get('decomp', 'auto'),
           'grid': first['system']['decomp'], 'isa': isa, 'isa_asked': settings['isa'],
           'runs_n': len(runs), 'verified': all(r['verified'] for r in runs),
           'median_s': times['median'], 'best_s': times['min']}
    for name, seconds in (('', times['median']), ('best_', times['min'])):
        row[name + 'gop_per_s'] = 1e-9 * first['problem']['nominal_flop'] / seconds
        row[name + 'fraction_of_peak'] = 1e9 * row[name + 'gop_per_s'] / top
    row.update(peak_gflop_per_s=1e-9 * top, setup_s=setup['median'],
               memory_bytes_per_cell=first['system']['memory_bytes_per_cell'],
               phases={name: {'s_per_step': m['median'] / steps,
                              'ns_per_cell': 1e9 * m['median'] / steps * cores / (n - 2) ** 3}
                       for name, m in zip(phases[0], middles)})
    return row


def _compute_study(peak):
    """bench/compute.ini for this processor and environment."""
    supported = [u['isa'] for u in peak['fma'] if u['supported']]
    classes = _classes(setting('CLASSES', 'S W A B', 'S W A').split())

    def change(description):
        description['common']['class'] = ' '.join(classes)
        asked = [line.split() for line in os.environ.get('SETTINGS', '').splitlines()]
        for section in description.sections():
            if section.startswith('run ') and asked or \
                    section.startswith('run narrower') and 'avx512' not in supported or \
                    section == 'run ranks' and os.environ.get('CORES') == '1':
                description.remove_section(section)
        for number, words in enumerate(asked, 1):
            if len(words) != 4:
                raise trouble.usage("SETTINGS: '%s': RANKS THREADS DECOMP ISA expected" %
                                    ' '.join(words))
            description['run s%d' % number] = dict(zip(('ranks', 'threads', 'decomp', 'isa'), words))
    return change


def compute(folder):
    rounds = int(setting('ROUNDS', '3', '1'))
    peak, system = measure_peak(folder, 1)
    runs = study(folder, 'compute', _compute_study(peak), os.environ.get('CORES'))
    peak, system = measure_peak(folder, max(1, rounds - 1)) if rounds > 1 else (peak, system)
    rows = [_row(settings, found, peak) for settings, found in runs.values()]
    for row in rows:
        one = next((r for r in rows if (r['class'], r['isa'], r['cores']) ==
                    (row['class'], row['isa'], 1)), None)
        for name in ('', 'best_'):
            time = 'median_s' if not name else 'best_s'
            row[name + 'parallel_efficiency'] = one and one[time] / (row['cores'] * row[time])
    bench = {'schema': 'nht1-bench/1', 'rounds': rounds, 'quick': bool(os.environ.get('QUICK')),
             'peak': peak, 'results': rows, 'system': system}
    write_text(os.path.join(folder, 'bench.json'), json.dumps(bench, indent=1) + '\n', replace=True)
    tables = _compute_tables(bench)
    write_text(os.path.join(folder, 'bench.txt'), tables, replace=True)
    print(tables + 'Complete result: %s' % os.path.join(folder, 'bench.json'))
    if not all(r['verified'] for r in rows):
        raise trouble.Trouble(trouble.WRONG, 'a run is not verified')


def _compute_tables(bench):
    peak, rows = bench['peak'], bench['results']
    tables = 'Peak rates (best window)\n'
    for u in peak['fma']:
        for rate in u['rates']:
            tables += '  %-32s %-10s %9.1f Gflop/s\n' % (
                '%s, %d bits, %s' % (u['isa'], u['width_bits'], u['arithmetic']),
                text.plural(rate['threads'], 'thread'), rate['flop_per_s'] / 1e9)
    for rate in peak['triad']['rates']:
        tables += '  %-32s %-10s %9.1f GB/s\n' % (
            'triad, arrays of %s' % text.size_iec(peak['triad']['array_bytes']),
            text.plural(rate['threads'], 'thread'), rate['bytes_per_s'] / 1e9)

    def percent(share):
        return '-' if share is None else '%.1f' % (100 * share)

    def head(r):
        return [r['class'], '%d x %d' % (r['ranks'], r['threads']), r['decomp'], r['isa']]
    names = ['class', 'rk x th', 'decomp', 'isa']
    tables += '\n' + text.table([names + ['median s', 'best s', 'Gop/s', '% peak', 'best %', 'eff %',
                                   'best %', 'setup', 'B/cell', '']] + [
        head(r) + ['%.4f' % r['median_s'], '%.4f' % r['best_s'], '%.2f' % r['gop_per_s'],
                   percent(r['fraction_of_peak']), percent(r['best_fraction_of_peak']),
                   percent(r['parallel_efficiency']), percent(r['best_parallel_efficiency']),
                   '%.3f' % r['setup_s'], '%.1f' % r['memory_bytes_per_cell'],
                   '' if r['verified'] else 'NOT VERIFIED'] for r in rows])
    phases = list(rows[0]['phases'])
    for title, key, factor in (('Milliseconds per step', 's_per_step', 1e3),
                               ('Nanoseconds per interior cell and core', 'ns_per_cell', 1)):
        tables += '\n%s\n' % title + text.table([names + phases] + [
            head(r) + ['%.3f' % (factor * r['phases'][p][key]) for p in phases] for r in rows])
    return tables


# --- Writing ------------------------------------------------------------------------------------

SECTIONS = (('writers', 'none', 'not durable (--sync none), layout mijk, decomposition auto'),
            ('writers', 'end', 'durable at the end (--sync end)'),
            ('direct', 'end', 'past the page cache (--direct), durable at the end'),
            ('layouts', 'none', 'other layouts, not durable'),
            ('blocks', 'none', 'blocks, not durable'),
            ('groups', 'none', 'groups of the writer token-gather, blocks, not durable'))


def _io_study(folder):
    """bench/io.ini for this class and the writers that there are."""
    (cls,) = _classes([setting('CLASS', 'B', 'W')])
    wanted = os.environ.get('WRITERS', '').replace(',', ' ').split()
    available = output_of([tools.path('nht1-bt') or 'nht1-bt', '--io', 'help'])
    have = re.search('(?m)^--io all runs.*: (.*)', available).group(1).split()

    def change(description):
        for section in description.sections():
            if description.get(section, 'program', fallback='') == 'nht1-bt':
                description[section].update({'class': cls,
                                             'tc-store': os.path.join(folder, 'tc.json')})
        description['run raw'].update({
            'program': os.path.join(folder, 'rawfile'), 'dump-bytes': str(40 * N[cls] ** 3),
            'dumps': '6' if cls == 'S' else '40'})
        description['run writers']['io'] = ' '.join(wanted or have)
        description['run reading']['io'] = ' '.join(wanted or have + ['perrank'])
        description['run direct']['io'] = ' '.join(w for w in ('async', 'uring') if w in have)
    return change


def _io_row(settings, found, raw):
    runs = [r for f in found for r in f['runs'] if r['driver'] != 'none' and r['t_t_s']]
    rate = stats.median(r['bytes'] / r['writing_s'] for r in runs if r['writing_s'] > 0)
    label = settings['io'] + (', ' + settings['layout'] if 'layout' in settings else
                              ' --group ' + settings['group'] if 'group' in settings else '')
    return [label, '%.3f' % stats.median(r['t_t_s'] for r in runs),
            '%.3f' % stats.median(r['t_t_s'] / r['t_c_s'] - 1 for r in runs if r['t_c_s']),
            '%.0f' % (rate / 1e6), '%.2f' % (rate / raw),
            '%.3f' % stats.median(r['phases_s']['sync']['max'] for r in runs),
            '%.0f %%' % stats.median(100 * o['both_s']['max'] / o['io_s']['max']
                                     for o in (r['overlap'] for r in runs)
                                     if o['io_s']['max'] > 0)]


def _read_table(bt, raw):
    """A line for each writer: rates of reading as it was written, and the share of raw reading they
    are; the same in slabs along y and x."""
    ways = ('own', '1d:y', '1d:x')
    rows = [['writer'] + ['%s, %s' % (cache, way) for cache in raw for way in ways]]
    for settings, found in bt:
        if settings['section'] != 'reading':
            continue
        ranks, row = settings['ranks'], [settings['io']]
        read = [one for f in found for run in f['runs'] for one in run.get('read') or []]
        for cache, rate in raw.items():
            for grid in (None, '1x%sx1' % ranks, '%sx1x1' % ranks):
                rates = [one['rate_bytes_per_s'] for one in read if one['cache'] == cache and
                         (one['decomp'] == grid if grid else one['own_decomp'])]
                middle = stats.median(rates) if rates else None
                row.append('-' if middle is None else '%.0f %.2f' % (middle / 1e6, middle / rate))
        rows.append(row)
    return text.table(rows) if len(rows) > 1 else ''


def io(folder):
    points = study(folder, 'io', _io_study(folder), os.environ.get('RANKS')).values()
    raw = {(s['direct'], s['sync']): stats.median(f['bytes_per_s'] for f in found)
           for s, found in points if 'dump-bytes' in s}
    base = raw['no', 'none']
    bt = [(s, found) for s, found in points if 'dump-bytes' not in s]
    one = bt[0][1][0]
    t_c = stats.median(r['t_c_s'] for _, found in bt for f in found for r in f['runs'])
    problem = one['problem']
    made = problem['dump_bytes'] * (problem['steps'] // problem['interval']) / t_c
    tables = 'class %s, %s, T_C %s, medians\n' % (
        problem['class'], text.plural(one['system']['ranks'], 'rank'), text.duration(t_c))
    for words, key in (('raw, page cache, not durable', ('no', 'none')),
                       ('raw, page cache, with fsync', ('no', 'end')),
                       ('raw, O_DIRECT, with fsync', ('yes', 'end'))):
        tables += '%-40s %9.0f MB/s\n' % (words, raw[key] / 1e6)
    tables += 'the computation produces %s, half the rate of the device is %s: %s\n' % (
        text.rate(made), text.rate(raw['yes', 'end'] / 2),
        'the device can keep up' if made < raw['yes', 'end'] / 2 else 'the device cannot keep up')
    read = {cache: stats.median(f[cache + '_bytes_per_s'] for s, found in points
                                if (s.get('direct'), s.get('sync')) == ('no', 'end') and
                                'dump-bytes' in s for f in found) for cache in ('cold', 'warm')}
    tables += 'raw reading of a dump: %s\n' % ', '.join(
        '%s %.0f MB/s' % (cache, rate / 1e6) for cache, rate in read.items())
    for section, sync, title in SECTIONS:
        rows = [_io_row(s, found, base) for s, found in bt
                if s.get('sync') == sync and s['section'] == section]
        if rows:
            tables += '\n%s\n' % title + text.table([['writer', 'T_T s', 'zeta', 'MB/s', 'of raw',
                                               'sync s', 'overlap']] + rows)
    table = _read_table(bt, read)
    if table:
        tables += '\nreading the last dump, MB/s and share of raw\n' + table
    write_text(os.path.join(folder, 'io.txt'), tables, replace=True)
    print(tables, end='')


# --- Bookkeeping --------------------------------------------------------------------------------

def bookkeeping(folder):
    """What a dump costs beside its data: entering and agreeing on it, staging and hashing it."""
    def change(description):
        description['run dumps']['class'] = ' '.join(_classes(setting('CLASSES', 'S W A', 'S').split()))
        description['run dumps']['tc-store'] = os.path.join(folder, 'tc.json')
    rows = [['class', 'sync', 'dumps', 'manifest ms', 'agree ms', 'both ms', 'most ms']]
    for settings, found in study(folder, 'bookkeeping', change, os.environ.get('RANKS')).values():
        runs = [r for f in found for r in f['runs'] if r['driver'] != 'none' and r['completed']]
        each = {name: [1e3 * r['phases_s'][name]['max'] / len(r['dumps']) for r in runs]
                for name in ('manifest', 'agree')}
        both = [sum(pair) for pair in zip(*each.values())]
        rows.append([settings['class'], settings['sync'], '%d' % len(runs[0]['dumps'])] +
                    ['%.4f' % stats.median(x) for x in each.values()] +
                    ['%.4f' % stats.median(both), '%.4f' % max(both)])
    staging = json.loads(output_of([os.path.join(folder, 'staging'), '--seconds',
                                    setting('STAGING_S', '2', '0.1')]))
    tables = 'manifest and agreement, for each dump, slowest rank, median of the runs and the most of any\n'
    tables += text.table(rows)
    tables += '\nstaging with digest beside a copy of the same bytes, %s\n' % text.plural(
        staging['threads'], 'thread')
    names = ('copy ms', 'take ms', 'ratio', 'digest alone', 'rows alone')
    keys = (('%.4f', 1e3, 'copy_s'), ('%.4f', 1e3, 'take_s'), ('%.2f', 1, 'ratio'), ('%.2f', 1, 'bound'), ('%.2f', 1, 'rows'))
    for title, way in (('as it comes', 'warm'), ('from memory', 'cold')):
        tables += title + '\n' + text.table([['class', 'bytes', *names]] + [
            [r['class'], '%d' % r['bytes']] + [w % (factor * r[way][key]) for w, factor, key in keys] for r in staging['results']])
    write_text(os.path.join(folder, 'bookkeeping.txt'), tables, replace=True)
    print(tables, end='')


def main(argv):
    parts = {'compute': compute, 'io': io, 'bookkeeping': bookkeeping}
    if len(argv) != 2 or argv[0] not in parts:
        sys.stderr.write(__doc__ + '\n')
        return trouble.USAGE
    return command.run('bench', lambda: parts[argv[0]](os.path.abspath(argv[1])))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
