# SPDX-License-Identifier: GPL-3.0-or-later
"""What the results were measured on, when, and how to measure them again."""
import json
import os
import re
import shlex

from .. import text
from ..results import at, integer, items, members, real, word, words
from ..study import launch
from .page import Table

COMMANDS_MAX, RECORDS_MAX = 60, 12


def add(report):
    page, results = report.page, report.results
    if not results:
        return
    page.section(2, 'system', 'System')
    firsts = {}
    for r in results:
        firsts.setdefault(report.systems.whose(r), r)
    for number, (whose, r) in enumerate([(w, r) for w, r in firsts.items() if w][:RECORDS_MAX] or [('', report.first)], 1):
        page.table(_record(r, 'system' if number == 1 else 'system-%d' % number, 'of ' + (whose or 'the first result')))
    notices = dict.fromkeys(n for r in results for n in words(r.root, 'notices'))
    stamped = {s['sentence'] for r in results for s in r.stamps}
    for notice in [n for n in notices if n not in stamped][:COMMANDS_MAX]:
        page.text(notice, 'warn')
    page.section(2, 'again', 'How to measure this again')
    _again(page, results)
    table = Table('results', 'Results in this report', [
        'file', 'schema', 'version', 'started', 'ended', 'job', 'seed'] + ['system'] * report.systems.several)
    for r in results:
        table.row(r.shown, '%s/%d' % (r.kind, r.version), word(r.root, 'version'),
                  r.started_utc or '-', r.ended_utc or '-', word(r.root, 'job_id') or '-',
                  str(integer(r.root, 'seed')), *[report.systems.whose(r)] * report.systems.several)
    page.table(table)


def _record(result, name, of):
    root = result.root
    run = next((r for r in items(root, 'runs') if word(r, 'file.file_system') not in ('', 'none')),
               {})
    table = Table(name, 'System record ' + of, ['what', 'is'])

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
    fact('mounted at', word(run, 'file.mount') or word(root, 'system.file_system.mount'))
    fact('of', word(run, 'file.server'))
    fact('mount options', word(run, 'file.mount_options') or word(root, 'system.file_system.options'))
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


def _again(page, results):
    """Commands, each once. Their number is limited."""
    known = [r for r in results if started(r)]
    profiles = [r for r in results if r.kind == 'nht1-profile']
    for of, mine, heading in (
            (_session, known,
             'The commands as runs/study started them, with launcher, environment and folder, for a '
             'shell; only the file for the result (--json) is left out.'),
            (lambda some: _once(map(profile_command, some)), profiles,
             'How profiles were made: all options of nht1-profile, without the file for the result (--json), and the '
             'command. In which folder is not recorded; line breaks in words are blanks here.'),
            (lambda some: _once(map(command, some)), [r for r in results if r not in known + profiles],
             'How %s started is not recorded; with mpirun it may have been so. Folders of files that '
             'are written have to exist.' % ('the others were' if known else 'they were'))):
        lines = of(mine)
        more = len(lines) - COMMANDS_MAX
        if lines:
            page.text(heading)
            page.code(lines[:COMMANDS_MAX] + (['# and %d more' % more] if more > 0 else []))


def started(result):
    """The words with which runs/study started the launcher, without those for the result, [] where
    that is not recorded."""
    line = at(result.run, 'command')
    return _without_json(line) if isinstance(line, list) and line and \
        all(isinstance(w, str) for w in line) else []


def _without_json(line):
    """Its name differs from run to run."""
    return [w for before, w in zip([''] + line, line)
            if '--json' not in (before, w) and not w.startswith('--json=')]


def _session(results):
    """Lines for a shell: folders, and what was started there, each once."""
    lines, of = [], {}
    for r in results:
        of.setdefault(word(r.run, 'cwd'), []).append(r)
    for folder, mine in of.items():
        found = {'cd -- %s' % shlex.quote(folder): None} if folder else {}
        for r in mine:
            line = started(r)
            for option, value in zip(line, line[1:]):  # as programs.Program.writes_to gives it
                target = value if option == '--path' else os.path.dirname(value) \
                    if option == '--out' else ''
                if target:
                    found['mkdir -p -- %s' % shlex.quote(target)] = None
            environment = {k: v for k, v in members(r.run, 'environment').items()
                           if isinstance(v, str)}
            variables = dict(launch.repeated(environment), **r.environment)
            found[' '.join(_assigned(variables) + [shlex.quote(w) for w in line])] = None
        lines += found
    return lines


def _assigned(variables):
    return ['%s=%s' % (k, shlex.quote(v)) for k, v in sorted(variables.items())
            if re.fullmatch(r'[A-Za-z_]\w*', k, re.ASCII)]


def _once(lines):
    return [line for line in dict.fromkeys(lines) if line]


def profile_command(result):
    """With all options, of which the result does not tell what is the default; '' where it has no command."""
    options = {k.replace('_', '-'): v for k, v in members(result.root, 'options').items() if k != 'json'}
    given = [['--' + k] if v is True else ['--%s=%s' % (k, w) for w in (v if isinstance(v, list) else [v])]
             for k, v in options.items() if v]
    behind = words(result.root, 'command')
    return shlex.join(['nht1-profile'] + [w for some in given for w in some] + ['--'] + behind) if behind else ''


def command(result):
    """The command of a result of which it is not known how it was started, without the name of its
    result file, which differs from run to run."""
    root, line = result.root, word(result.root, 'command_line')
    try:
        line = ' '.join(map(shlex.quote, _without_json(shlex.split(line))))
    except ValueError:
        line = re.sub(r'(^| )--json[= ]("[^"]*"|\'[^\']*\'|\S+)', '', line)
    variables = {k: v for k, v in members(root, 'system.openmp').items() if isinstance(v, str)}
    variables.update(result.environment)
    ranks, threads = integer(root, 'system.ranks', 1), integer(root, 'system.threads', 1)
    kind = launch.kind_of(word(root, 'system.mpi.library'))
    words = ['mpirun', '-np', str(ranks)] + launch.options_of(
        kind, ranks, threads, integer(root, 'system.cores_of_nodes') or ranks) + [result.kind, line]
    return ' '.join(_assigned(variables) + words).rstrip()
