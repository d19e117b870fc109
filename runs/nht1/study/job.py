# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts for batch systems. The script starts the driver inside the allocation, on whole nodes.
Before its time is over the driver is told to stop; submitting the same script again goes on."""
import argparse
import math
import os
import re
import shlex
import sys

from . import launch
from .description import is_file
from .folder import write_text
from ..trouble import failed, usage

ENVIRONMENT = ('NHT1_BIN', 'MPIRUN', 'MPIRUN_FLAGS')  # what the study goes by, whatever the batch system hands on
MINUTES = 120  # when neither --time nor the study says
STOP_MINUTES = 3   # at most, of the end of a job: the driver is told to stop before it
BESIDE_MINUTES = 2  # for what a study does besides its runs: estimates, summary, report

# Lines of each system; those whose value is not known are left out. begin: commands that only this system
# needs; the others start a script in the folder that it was submitted from.
SYSTEMS = {
    'slurm': {
        'tried': True, 'submit': 'sbatch %s', 'mark': '#SBATCH ',
        'lines': ('--job-name=nht1-{name}', '--nodes={nodes}', '--ntasks-per-node={cores_per_node}',
                  '--exclusive', '--mem=0', '--time={minutes}', '--signal=B:TERM@120',
                  '--output={name}.%j.log', '--partition={queue}', '--account={account}')},
    'pbs': {
        'tried': False, 'submit': 'qsub %s', 'mark': '#PBS ',
        'begin': ['cd "$PBS_O_WORKDIR"  # the folder that it was submitted from'],
        'lines': ('-N nht1-{name}', '-l select={nodes}:ncpus={cores_per_node}'
                  ':mpiprocs={cores_per_node}', '-l place=excl', '-l walltime={clock}', '-j oe',
                  '-q {queue}', '-A {account}')},
    'lsf': {
        'tried': False, 'submit': 'bsub <%s', 'mark': '#BSUB ',
        'lines': ('-J nht1-{name}', '-n {cores}', '-R "span[ptile={cores_per_node}]"', '-x',
                  '-W {minutes}', '-wa TERM', '-wt 2', '-o {name}.%J.log', '-q {queue}',
                  '-P {account}')},
}


def _time(text):
    """Minutes from what Slurm takes: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S. Seconds count as one."""
    match = re.fullmatch(r'(?:(\d{1,4})-)?(\d{1,6})(?::(\d{1,2}))?(?::(\d{1,2}))?', text, re.ASCII)
    if not match:
        raise argparse.ArgumentTypeError('%r: minutes, or HOURS:MINUTES:SECONDS, expected' % text)
    days, *parts = (int(part or 0) for part in match.groups())
    if match.group(1) is None and match.group(4) is None:
        parts = [0] + parts[:2]
    minutes = (days * 24 + parts[0]) * 60 + parts[1] + (parts[2] > 0)
    if minutes < 1:
        raise argparse.ArgumentTypeError('%r: a minute or more is expected' % text)
    return minutes


OPTIONS = (
    ('nodes', int, 'with --job: nodes to ask for, default 1'),
    ('time', _time, 'with --job: minutes to ask for, or H:MM:SS; default: the limit of the study and %d more, '
                    'else %d' % (BESIDE_MINUTES + STOP_MINUTES, MINUTES)),
    ('setup', str, 'with --job: a command before the study, such as "module load openmpi"'),
    ('queue', str, 'with --job: partition or queue'),
    ('account', str, 'with --job: account to charge'),
    ('job-file', str, 'with --job: the file to write, - for stdout; default: STUDY.SYSTEM'),
)


def _values(args, name, description):
    if args.new:
        raise usage('--new: a job script goes on with its study when it is submitted again; --out names another folder')
    nodes = args.nodes or 1
    cores = args.cores or nodes * launch.system()['cores']
    if nodes < 1 or cores < nodes:
        raise usage('--nodes %d, --cores %d: there is at least one core on each node' % (
            nodes, cores))
    if cores % nodes:
        raise usage('--cores %d: as many on each of %d nodes are asked for: %d or %d' % (
            cores, nodes, cores // nodes * nodes, (cores // nodes + 1) * nodes))
    for option in ('queue', 'account'):
        if not re.fullmatch(r'[\w.:@/+,-]*', getattr(args, option) or ''):
            raise usage('--%s %r: no name that a batch system knows' % (
                option, getattr(args, option)))
    if args.time and args.time <= STOP_MINUTES:
        raise usage('--time %d: the driver is told to stop up to %d minutes before the end: %d at least' % (
            args.time, STOP_MINUTES, STOP_MINUTES + 1))
    limit = math.ceil(args.minutes or float(description.value('minutes')))
    minutes = args.time or (limit + BESIDE_MINUTES + STOP_MINUTES if limit else MINUTES)
    # Blanks and line ends would end the line of the script, % is a sign of Slurm and LSF.
    return {'name': re.sub(r'[^\w.+-]', '_', name), 'nodes': nodes, 'cores': cores,
            'cores_per_node': cores // nodes, 'minutes': minutes,
            'clock': '%d:%02d:00' % divmod(minutes, 60), 'queue': args.queue,
            'account': args.account}


def _driver(args, values):
    """The command inside the script."""
    study = os.path.abspath(args.study) if is_file(args.study) else args.study
    words = [os.path.abspath(sys.argv[0]), study, '--cores=%d' % values['cores']]
    for option in ('out', 'under', 'files', 'launcher', 'launcher_flags', 'minutes'):
        value = getattr(args, option)
        if value is None:
            continue
        if option in ('out', 'under', 'files'):
            value = os.path.abspath(value)
        # In one word: flags for a launcher begin with a hyphen.
        words.append('--%s=%s' % (option.replace('_', '-'), '%g' % value if option == 'minutes' else value))
    words += ['--set=' + text for text in args.set]
    words += [flag for flag, given in (('--leave-out', args.leave_out),
                                       ('--no-plan', args.no_plan),
                                       ('--no-report', args.no_report),
                                       ('--quiet', args.quiet)) if given]
    return ' '.join(shlex.quote(w) for w in words)


def script(system, args, name, description):
    row, values = SYSTEMS[system], _values(args, name, description)
    heading = [row['mark'] + line.format(**values) for line in row['lines']
               if not any(values[k] is None and '{%s}' % k in line for k in values)]
    untried = [] if row['tried'] else [
        '# UNTRIED: written from the manual of this batch system, not run under one yet.']
    environment = ['export %s=%s' % (key, shlex.quote(os.path.abspath(value) if key == 'NHT1_BIN' else value))
                   for key, value in ((key, os.environ.get(key)) for key in ENVIRONMENT) if value]
    return '\n'.join(
        ['#!/bin/bash'] + heading +
        ['# The study %s of nht1, on whole nodes: what others compute there would be measured too.'
         % values['name']] + untried +
        ['# Cores: %d in all; check this number when the nodes are not like the computer that this'
         % values['cores'],
         '# was written on. Submit it again when its time was too short: the study goes on.',
         'set -eu'] + row.get('begin', []) +
        (['set +u', args.setup, 'set -u'] if args.setup else []) + environment +
        ['exec %s' % _driver(args, values)]) + '\n'


def write(args, name, description):
    """Writes the script, unless it is there already, and says how to submit it."""
    content = script(args.job, args, name, description)
    path = args.job_file or '%s.%s' % (name, args.job)
    if path == '-':
        sys.stdout.buffer.write(content.encode('utf-8', 'surrogateescape'))  # paths as they are, whatever is printed in
        return 0
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            if f.read() != content:
                raise usage('%s is there already, and is not written over: --job-file names '
                            'another' % path)
    except FileNotFoundError:
        try:
            write_text(path, content)
        except OSError as e:
            raise failed('%s: %s; --job-file names another' % (path, e.strerror))
    print('submit it with: %s' % SYSTEMS[args.job]['submit'] % shlex.quote(path))
    if not SYSTEMS[args.job]['tried']:
        print('untried: this script was never run under %s; look it through' % args.job.upper())
    return 0
