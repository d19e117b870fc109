# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of runs/study."""
import os
import shlex

from .. import VERSION, command, tools, trouble
from . import description as ini
from . import ab, check, job, launch, released, whole, tune
from .folder import shown

CONFIG = os.path.join(tools.ROOT, 'config')
DESCRIPTION_MAX = 1 << 20
ONLY_TELLS = {'--help', '-h', '--help-json', '--list', '--version'}
OF_STUDIES = {'--list', '--dry-run', '--new', '--set', '--leave-out', '--no-plan', '--job'}  # which no command has
EPILOG = """
examples:
  runs/study check DIR                  does the file system keep up?
  runs/study --list                     what is there
  runs/study --dry-run processors       what it would take: runs, time, space
  runs/study processors                 again: goes on, or a new folder
  runs/study writers --set common.class=B --files DIR
  runs/study --job slurm --nodes 4 --cores 256 processors
  runs/study tune --minutes 10          the best way to write here
  runs/study ab --help                  is B slower than A?
  runs/study released --source DIR      do b_eff and b_eff_io agree with ours?

An interrupted study goes on where it was when it is started again in the same
way. Every run keeps its command, environment and raw result in the folder;
nothing in it is written over.
Exit status: 0 success, 1 wrong usage or description, 2 a run had wrong results,
3 a run failed, or interrupted, or something does not fit, 5 not every point
could be run in the time given.
docs/studies.md explains the descriptions.
"""


def _arguments(argv):
    parser = command.Parser(
        sorted(COMMANDS), prog=tools.called('runs/study'), epilog=tools.called(EPILOG), words=_shipped(), description=(
            'Runs the programs over many settings, which one INI file describes, and sums up.'))
    add = parser.add_argument
    add('study', nargs='?', metavar='STUDY', help='name of a study in config/, or an INI file')
    add('--list', action='store_true', help='list the studies that come with nht1')
    add('--dry-run', action='store_true', help='say what would be run and what it would take')
    add('--out', metavar='DIR', help='folder of the study; default: a new or unfinished one, '
                                     'NAME, NAME-2, ..., under --under')
    add('--under', metavar='DIR', help='where folders of studies are made; default: nht1-studies in the '
                                       'current folder, inside of the sources runs/out')
    add('--new', action='store_true', help='do not go on with an unfinished one')
    add('--files', metavar='DIR', help='write the files that are measured there, on the file '
                                       'system in question; default: in the folder of the study')
    add('--set', metavar='SECTION.KEY=VALUE', action='append', default=[],
        help='another value for a key of the description; may be repeated')
    add('--launcher', metavar='NAME', help='mpirun, srun, or a path; default: that of the '
                                           'description, else $MPIRUN, else that of '
                                           'the MPI library of the build')
    add('--launcher-flags', metavar='WORDS', help='further options for it; also $MPIRUN_FLAGS')
    add('--minutes', type=command.number(0, command.MINUTES_MAX), metavar='M',
        help='time for all runs together, 0: no limit')
    add('--cores', type=command.number(1, command.CORES_MAX, int), metavar='C',
        help='cores to plan for; default: those of the allocation, else of this computer')
    add('--leave-out', action='store_true', help='leave out what would not fit and run the rest')
    add('--no-plan', action='store_true', help='do not ask what would fit')
    add('--job', choices=sorted(job.SYSTEMS), help='write a job script instead of running')
    for name, kind, help_text in job.OPTIONS:
        add('--' + name, metavar=name.upper().replace('JOB-', ''), type=kind, help=help_text)
    parser.only_with('job', *(name for name, _, _ in job.OPTIONS))
    add('--no-report', action='store_true', help='make no report at the end')
    add('--quiet', action='store_true', help='print the closing table and errors only')
    add('--version', action='version', version=tools.called('runs/study ') + VERSION)
    parser.not_with('list')
    parser.not_with('job', 'dry-run')
    parser.not_with('out', 'under', 'new')
    parser.not_with('no-plan', 'leave-out')
    args, rest = parser.parse_known_args(argv)
    _expect_place(args.study, rest, argv)
    if rest:
        parser.error('unrecognized arguments: %s%s' % (' '.join(rest), _meant(rest, parser)))
    return args


def _known(study):
    return ini.is_file(study) or study in _shipped()


def _no_study(study):
    return trouble.usage("no study '%s'%s; there are %s, or name an INI file; commands: %s" % (
        study, ini.nearest(study, _shipped() + sorted(COMMANDS)), ', '.join(_shipped()), ', '.join(sorted(COMMANDS))))


def _expect_place(study, rest, argv):
    """Trouble where a command stands behind options, or the study is none. rest: words that are not understood."""
    if study is None or _known(study):
        return
    word = next((w for w in [study] + rest if w in COMMANDS), None)
    if word is None:
        if any(w.startswith('-') for w in rest):
            return
        raise _no_study(study)
    at, own = argv.index(word), next((name for name in (w.partition('=')[0] for w in argv) if name in OF_STUDIES), None)
    if own:
        raise trouble.usage('%s comes first, and has no %s: see %s %s --help' % (word, own, tools.called('runs/study'), word))
    raise trouble.usage('%s comes first: %s' % (word, tools.called('runs/study ') + shlex.join([word] + argv[:at] + argv[at + 1:])))


def _meant(rest, parser):
    """What the first word that is not understood may be: an option with another name, or one of a program."""
    name, _, value = rest[0].partition('=')
    if not name.startswith('--'):
        return ''
    near = ini.nearest(name[2:], [a.option_strings[-1][2:] for a in parser._actions if a.option_strings])
    value = value or (rest[1] if len(rest) > 1 and not rest[1].startswith('-') else 'yes')
    return near or '; an option of the program is given as --set common.%s=%s' % (name[2:], value)


def _shipped():
    return sorted(f[:-4] for f in os.listdir(CONFIG) if f.endswith('.ini'))


def _load(study, overrides):
    """(name, description), from a path or a name in config/."""
    path = study
    if ini.is_file(study):
        name = os.path.splitext(os.path.basename(path))[0]
    else:
        name, path = path, os.path.join(CONFIG, path + '.ini')
    try:
        with open(path, encoding='utf-8') as f:
            written = f.read(DESCRIPTION_MAX + 1)
        if len(written) > DESCRIPTION_MAX:
            raise trouble.usage('%s: longer than any description' % path)
    except FileNotFoundError:
        raise _no_study(study)
    except OSError as e:
        raise trouble.usage('%s: %s' % (path, e.strerror))
    except ValueError as e:
        raise trouble.usage('%s: %s' % (path, e))
    return name, ini.read(shown(path), written, overrides)


def _act(args):
    if args.list:
        for name in _shipped():
            print('  %-14s %s' % (name, _load(name, [])[1].value('title')))
        return trouble.OK
    if not args.study:
        raise trouble.usage('name a study: %s, or an INI file; --help explains' %
                            ', '.join(_shipped()))
    if args.job:
        return job.write(args, *_load(args.study, args.set))
    return whole.run(args, *_load(args.study, args.set))[0]


COMMANDS = {'ab': ab.main, 'check': check.main, 'released': released.main, 'tune': tune.main}


def _refuse(by, variable):
    front, instead = ('srun', ', in a shell of salloc or a job of sbatch') if by == 'slurmstepd' else ('mpirun', '')
    raise trouble.usage(tools.called('%s has started runs/study (%s), which starts the launcher itself: the same command without '
                                     '%s in front%s' % (by, variable, front, instead)))


def main(argv):
    by = launch.parent()
    variable = launch.launched(os.environ, by)
    if variable and not ONLY_TELLS.intersection(argv):
        return command.run(tools.called('runs/study'), lambda: _refuse(by, variable))
    if argv and argv[0] in COMMANDS:
        return COMMANDS[argv[0]](argv[1:])
    return command.run(tools.called('runs/study'), lambda: _act(_arguments(argv)))
