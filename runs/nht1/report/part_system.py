# SPDX-License-Identifier: GPL-3.0-or-later
"""What the results were measured on, when, and how to measure them again."""
import json
import re
import shlex

from .. import text
from ..results import integer, items, members, real, word, words
from .page import Table

COMMANDS_MAX = 60


def add(report):
    page, results = report.page, report.results
    if not results:
        return
    page.section(2, 'system', 'System')
    page.table(_record(report.first))
    notices = dict.fromkeys(n for r in results for n in words(r.root, 'notices'))
    said = {s['sentence'] for r in results for s in r.stamps}
    for notice in [n for n in notices if n not in said][:COMMANDS_MAX]:
        page.text(notice, 'warn')
    page.section(2, 'again', 'How to measure this again')
    page.text('The commands as they were started. Folders of files that are written have to exist; '
              'runs/study, which started those below runs/out, makes and empties them.')
    commands = list(dict.fromkeys(command(r) for r in results))
    more = len(commands) - COMMANDS_MAX
    page.code(commands[:COMMANDS_MAX] + (['(and %d more)' % more] if more > 0 else []))
    table = Table('results', 'Results in this report', [
        'file', 'schema', 'version', 'started', 'ended', 'job', 'seed'])
    for r in results:
        table.row(r.shown, '%s/%d' % (r.kind, r.version), word(r.root, 'version'),
                  r.started_utc or '-', r.ended_utc or '-', word(r.root, 'job_id') or '-',
                  str(integer(r.root, 'seed')))
    page.table(table)


def _record(result):
    root = result.root
    run = next((r for r in items(root, 'runs') if word(r, 'file.file_system') not in ('', 'none')),
               {})
    table = Table('system', 'System record of the first result', ['what', 'is'])

    def fact(what, value):
        if value:
            table.row(what, value)

    def number(what, path):
        if integer(root, path, -1) >= 0:
            fact(what, str(integer(root, path)))
    fact('host', word(root, 'system.host'))
    fact('processor', word(root, 'system.cpu.model'))
    number('cores of the host', 'system.cpu.cores_n')
    number('logical processors', 'system.cpu.cpus_n')
    number('nodes', 'system.nodes')
    number('cores of the nodes', 'system.cores_of_nodes')
    memory = real(root, 'system.memory.total_bytes')
    fact('memory of a node', text.size_iec(memory) if memory == memory else '')
    fact('kernel', word(root, 'system.kernel'))
    fact('file system', word(run, 'file.file_system') or word(root, 'system.file_system.type'))
    fact('mounted at', word(run, 'file.mount'))
    fact('mount options', word(run, 'file.mount_options'))
    fact('striping', _striping(members(run, 'file')))
    fact('preallocation', word(run, 'file.preallocation'))
    hints = members(run, 'file.hints_asked')
    fact('hints asked for', ', '.join('%s=%s' % (k, v if isinstance(v, str) else json.dumps(v))
                                      for k, v in hints.items()))
    fact('MPI-IO component', word(run, 'file.mpiio_component'))
    fact('MPI', word(root, 'system.mpi.library'))
    fact('compiler', word(root, 'system.compiler'))
    fact('flags', word(root, 'system.flags'))
    fact('solver kernel', word(root, 'system.solver_kernel'))
    fact('version', word(root, 'version'))
    fact('measured', ' to '.join(t for t in (result.started_utc, result.ended_utc) if t))
    return table


def _striping(file):
    value = file.get('striping')
    if isinstance(value, dict):
        return ', '.join('%s %s' % (k.replace('_', ' '), v) for k, v in value.items()
                         if isinstance(v, (str, int, float)))
    return value if isinstance(value, str) else ''


def command(result):
    """The command of a result, without the name of its result file, which differs from run to
    run."""
    said = word(result.root, 'command_line')
    try:
        parts = shlex.split(said)
    except ValueError:
        parts = None
    if parts is None:
        said = re.sub(r'(^| )--json[= ]("[^"]*"|\'[^\']*\'|\S+)', '', said)
    else:
        kept, skip = [], False
        for part in parts:
            if not skip and part != '--json' and not part.startswith('--json='):
                kept.append(shlex.quote(part))
            skip = part == '--json'
        said = ' '.join(kept)
    omp = ['%s=%s' % (k, shlex.quote(v)) for k, v in members(
        result.root, 'system.openmp').items() if isinstance(v, str)]
    omp += ['%s=%s' % (k, shlex.quote(v)) for k, v in sorted(result.environment.items())]
    return ' '.join(omp + ['mpirun -np %d --bind-to none' % integer(
        result.root, 'system.ranks', 1), result.kind, said]).rstrip()
