# SPDX-License-Identifier: GPL-3.0-or-later
"""What the runs of a study have in common beside their points: files, cores, programs, launcher, kind of computer,
environment. study.json keeps it, and a study goes on only where it is still so: the runs of all sessions of a
point are summed up as one. What differs from job to job of a batch system does not count: names of nodes, variables
that describe the job, and its identity within a path."""
import hashlib
import os
import re
import shlex

from .. import text, trouble
from . import launch

MOUNTS = '/proc/self/mountinfo'
JOB_IDS = ('SLURM_JOB_ID', 'PBS_JOBID', 'LSB_JOBID')
STATE_ONLY = ('XDG_STATE_HOME',)  # where what is known of earlier runs lies: it changes no time
OWN_FOLDER = 'the folder of the study'
FLAGS = 'flags of the launcher'


def filesystem(path):
    """(type, source) of the file system that holds a path; empty texts where it is not known."""
    path, found = os.path.realpath(path), (-1, '', '')
    try:
        os.stat(path)  # an automounter mounts now
        with open(MOUNTS, encoding='utf-8', errors='replace') as mounts:
            for line in mounts:
                before, _, behind = line.rstrip('\n').partition(' - ')
                point, words = _plain(before.split(' ')[4]), behind.split(' ')
                if os.path.commonpath([point, path]) == point and len(point) >= found[0]:  # the last one covers others
                    found = (len(point), words[0], _plain(words[1]))
    except (OSError, IndexError, ValueError):
        pass
    return found[1:]


def _plain(word):
    """A word of mountinfo, in which blanks and the like are \\040."""
    return re.sub(r'\\([0-7]{3})', lambda m: chr(int(m.group(1), 8)), word)


def processor():
    """{model, cpus}: of this computer. On ARM, where no model is named, the numbers of its parts."""
    found = {}
    try:
        with open('/proc/cpuinfo', encoding='utf-8', errors='replace') as lines:
            for line in lines:
                key, _, value = line.partition(':')
                found.setdefault(key.strip(), value.strip())
    except OSError:
        pass
    names = ('model name',) if found.get('model name') else ('cpu', 'CPU implementer', 'CPU part', 'CPU variant')
    return {'model': ' '.join(found[n] for n in names if found.get(n)), 'cpus': os.cpu_count() or 1}


def digest(path):
    """Of a program: builds of one version differ in it."""
    sha = hashlib.sha256()
    try:
        with open(path, 'rb') as f:
            for block in iter(lambda: f.read(1 << 20), b''):
                sha.update(block)
    except OSError:
        return ''
    return sha.hexdigest()


def now(files, place, launcher, system, programs):
    """The conditions here, as study.json has them. files: folder for the measured files, '' for the study's own; place:
    one that is there, on the same file system; programs: [{name, path, version}], the version empty in a dry run, which
    leaves out also a launcher that it may not start."""
    kind, source = filesystem(place)
    found = {
        'files': {'folder': os.path.realpath(files) if files else '', 'filesystem': kind, 'source': source},
        'system': system, 'processor': processor(), 'environment': launch.recorded(os.environ),
        'programs': [dict(p, sha256=digest(p['path'])) for p in programs]}
    if launcher.path or launcher.name == 'none':
        found['launcher'] = {'name': launcher.name, 'path': os.path.realpath(launcher.path) if launcher.path else '',
                             'kind': launcher.kind, 'version': launcher.version, 'flags': launcher.flags}
    return found


def folder_of(record):
    """The folder for files that a study was begun with, '' where it was its own."""
    return _member(record, 'files', 'folder') or ''


def expect_same(begun, here, path, launcher, named):
    """Usage trouble where runs made here would not have the conditions that the study in `path` was begun with.
    named: whether that folder was named with --out."""
    ours = set(launcher.variables(1, 1)[0])  # whatever was set, runs get these
    before, after = (_facts(r, ours) for r in (begun, text.cleaned(here)))
    for name in list(before) + [n for n in after if n.startswith('$')]:
        was, remedy = before.get(name, ('not set', 'unset it'))
        if name not in after and not name.startswith('$'):
            continue  # not asked for, in a dry run
        there = after.get(name, ('not set',))[0]
        if name == FLAGS and 'none' not in (was, there):
            remedy = 'have MPIRUN_FLAGS, launcher_flags of the description and --launcher-flags add up to the earlier ones'
        if was != there:
            raise trouble.usage('%s: this study was begun under other conditions, %s: %s before, %s now; %s, or %s' % (
                path, name, text.clean(was, 300), text.clean(there, 300), text.clean(remedy, 300),
                'begin a new study in another folder with --out' if named else 'begin a new study with --new'))


def _member(record, *names):
    """A text at a place of a record, None where there is none."""
    for name in names:
        record = record.get(name) if isinstance(record, dict) else None
    return record if isinstance(record, str) else None


def _facts(record, ours):
    """{name: (what is compared and shown, how to have it again)} of a record, as far as it has them."""
    environment = record.get('environment')
    environment = {k: v for k, v in environment.items() if isinstance(v, str)} if isinstance(environment, dict) else {}
    found = {}

    def fact(name, value, remedy):
        if value is not None:
            found[name] = (value, remedy)

    folder = _member(record, 'files', 'folder')
    fact('files', _without_job(folder, environment) if folder else None if folder is None else OWN_FOLDER,
         'give --files %s again' % shlex.quote(folder) if folder else 'go on without --files')
    kind, source = (_member(record, 'files', key) for key in ('filesystem', 'source'))
    fact('file system of the files', kind and '%s of %s' % (kind, source), 'go on where that is mounted')
    system = record.get('system')
    for name, remedy in (('cores', 'give --cores %s'), ('nodes', 'go on with %s')):
        number = system.get(name) if isinstance(system, dict) else None
        fact(name, None if number is None else str(number), remedy % number)
    for program in record.get('programs') if isinstance(record.get('programs'), list) else ():
        name, path, version, sha = (_member(program, key) for key in ('name', 'path', 'version', 'sha256'))
        fact('program %s' % name, path, 'go on with that one')
        if version:
            fact('version of %s' % name, version, 'go on with that one')
        fact('build of %s' % name, sha and sha[:12], 'go on with that one')
    path, version = (_member(record, 'launcher', key) for key in ('path', 'version'))
    fact('launcher', path if path or path is None else 'none', 'give --launcher %s' % shlex.quote(path or 'none'))
    fact('version of the launcher', version, 'go on with that one')
    flags = record['launcher'].get('flags') if path is not None else None
    words = shlex.join(map(str, flags)) if isinstance(flags, list) else None
    fact(FLAGS, words if words or words is None else 'none',
         'give --launcher-flags=%s' % shlex.quote(words) if words else 'go on without --launcher-flags and MPIRUN_FLAGS')
    cpu = record.get('processor')
    if isinstance(cpu, dict):
        fact('computer', '%s CPUs, %s' % (cpu.get('cpus'), cpu.get('model') or 'model unknown'), 'go on with such a one')
    for name, value in launch.repeated(environment).items():
        if name not in ours and name not in STATE_ONLY:
            fact('$' + name, _without_job(value, environment) or 'empty', 'set it again')
    return found


def _without_job(words, environment):
    """A text; within a path, JOB in place of the identity of the batch job that it was used in."""
    for name in JOB_IDS:
        if environment.get(name) and '/' in words:
            words = re.sub(r'(?<![A-Za-z0-9])%s(?![A-Za-z0-9])' % re.escape(environment[name]), 'JOB', words)
    return words
