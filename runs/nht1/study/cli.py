# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of runs/study."""
import dataclasses
import os
import platform
import random
import shlex
import sys

from .. import VERSION, command, stats, text, tools, trouble
from . import child
from . import description as ini
from . import drive, job, launch, plan, probe, programs, speak, summary, sweep
from .folder import Folder, check_place, choose, existing, shown

CONFIG = os.path.join(tools.ROOT, 'config')
REPORT_S = 600
DESCRIPTION_MAX = 1 << 20
# In a source tree, or, installed, where one is.
UNDER = os.path.join(tools.ROOT, 'runs', 'out') if os.path.exists(
    os.path.join(tools.ROOT, 'Makefile')) else 'nht1-studies'
EPILOG = """
examples:
  runs/study --list                     what is there
  runs/study --dry-run processors       what it would take: runs, time, space
  runs/study processors                 into runs/out/processors; again: goes on, or a new folder
  runs/study writers --set common.class=B --files DIR
  runs/study --job slurm --nodes 4 --cores 256 processors

An interrupted study goes on where it was when it is started again in the same way. Every run keeps
its command, environment and raw result in the folder; nothing in it is written over.
Exit status: 0 success, 1 wrong usage or description, 2 a run had wrong results, 3 a run failed, or
interrupted, or something does not fit, 5 not every point could be run in the time given.
docs/studies.md explains the descriptions.
"""


def _arguments(argv):
    parser = command.Parser(prog='runs/study', epilog=EPILOG, words=_shipped(), description=(
        'Runs the programs of nht1 over many settings, as one INI file describes them, and sums '
        'up.'))
    add = parser.add_argument
    add('study', nargs='?', metavar='STUDY', help='name of a study in config/, or an INI file')
    add('--list', action='store_true', help='list the studies that come with nht1')
    add('--dry-run', action='store_true', help='say what would be run and what it would take')
    add('--out', metavar='DIR', help='folder of the study; default: a new or unfinished one, '
                                     'NAME, NAME-2, ..., under --under')
    add('--under', metavar='DIR', help='where folders of studies are made, default runs/out')
    add('--new', action='store_true', help='do not go on with an unfinished one')
    add('--files', metavar='DIR', help='write the files that are measured there, on the file '
                                       'system in question; default: in the folder of the study')
    add('--set', metavar='SECTION.KEY=VALUE', action='append', default=[],
        help='another value for a key of the description; may be repeated')
    add('--launcher', metavar='NAME', help='mpirun, srun, or a path; default: that of the '
                                           'description, else $MPIRUN, else that of '
                                           'the MPI library of the build')
    add('--launcher-flags', metavar='WORDS', help='further options for it; also $MPIRUN_FLAGS')
    add('--minutes', type=command.number(0), metavar='M',
        help='time for all runs together, 0: no limit')
    add('--cores', type=command.number(1, kind=int), metavar='C',
        help='cores to plan for; default: those of the allocation, else of this computer')
    add('--leave-out', action='store_true', help='leave out what would not fit and run the rest')
    add('--no-plan', action='store_true', help='do not ask what would fit')
    add('--job', choices=sorted(job.SYSTEMS), help='write a job script instead of running')
    for name, kind, help_text in job.OPTIONS:
        add('--' + name, metavar=name.upper().replace('JOB-', ''), type=kind, help=help_text)
    add('--no-report', action='store_true', help='make no report at the end')
    add('--quiet', action='store_true', help='print the closing table and errors only')
    add('--version', action='version', version='runs/study ' + VERSION)
    return parser.parse_args(argv)


def _shipped():
    return sorted(f[:-4] for f in os.listdir(CONFIG) if f.endswith('.ini'))


def _load(study, overrides):
    """(name, description), from a path or a name in config/."""
    path = study
    if path.endswith('.ini') or os.sep in path:
        name = os.path.splitext(os.path.basename(path))[0]
    else:
        name, path = path, os.path.join(CONFIG, path + '.ini')
    try:
        with open(path, encoding='utf-8') as f:
            written = f.read(DESCRIPTION_MAX + 1)
        if len(written) > DESCRIPTION_MAX:
            raise trouble.usage('%s: longer than any description' % path)
    except FileNotFoundError:
        raise trouble.usage("no study '%s'%s; there are %s, or name an INI file" % (
            study, ini.nearest(name, _shipped()), ', '.join(_shipped())))
    except (OSError, ValueError) as e:
        raise trouble.usage('%s: %s' % (path, e))
    return name, ini.read(shown(path), written, overrides)


def _launcher(args, description, system):
    flags = []
    for where, said in (('MPIRUN_FLAGS', os.environ.get('MPIRUN_FLAGS', '')),
                        (description.study['launcher_flags'].place,
                         description.value('launcher_flags')),
                        ('--launcher-flags', args.launcher_flags or '')):
        try:
            flags += shlex.split(said)
        except ValueError as e:
            raise trouble.usage('%s: %s: %s' % (where, text.clean(said, 100), e))
    asked = description.value('launcher')
    return launch.Launcher(args.launcher or asked, flags, system['cores'], system['nodes'],
                           bool(args.launcher) or asked in ('auto', 'none') or not args.dry_run)


def _record(args, description, system, launcher, found, points, estimates):
    """What study.json holds beside the points."""
    seed = description.value('seed')
    used = {p.path: p.name for p in found.values()}
    return {
        'title': description.value('title'), 'description': description.path, 'set': args.set,
        'seed': int(seed) if seed else random.SystemRandom().getrandbits(31),
        'driver': VERSION, 'python': platform.python_version(), 'host': platform.node(),
        'kernel': '%s %s' % (platform.system(), platform.release()), 'system': system,
        'launcher': {'name': launcher.name, 'kind': launcher.kind, 'version': launcher.version,
                     'flags': launcher.flags},
        'programs': [{'name': n, 'path': p, 'version': _version(p)} for p, n in used.items()],
        'environment': launch.recorded(os.environ), 'command': sys.argv,
        'estimates': {p.id: dataclasses.asdict(estimates[p.id]) for p in points}}


def _version(path):
    return (child.ask([path, '--version'], launch.ASK_S)[1].strip().splitlines() or [''])[0]


def _files(args, description):
    """Folder for the measured files, '' for the study's own."""
    files = args.files or description.value('files')
    if files and not os.path.isdir(files):
        raise trouble.usage('%s: no such folder for the files (--files, [study] files)' % files)
    return os.path.abspath(files) if files else ''


def _fit(args, points, estimates, speaker):
    """The points that fit, or Trouble with those that do not."""
    wrong = plan.misfits(points, estimates)
    if not wrong:
        return points
    for point, said in wrong:
        speaker.say('%s does not fit: %s' % (point.id, said))
    ids = {p.id for p, _ in wrong}
    if args.leave_out and len(ids) < len(points):
        return [p for p in points if p.id not in ids]
    raise trouble.failed('%d of %d points do not fit (see above): choose another --files or --out, '
                         'smaller settings with --set%s' % (
                             len(ids), len(points), '' if len(ids) == len(points) else
                             ', or --leave-out to run the rest'))


def _announce(description, points, found, settings, estimates, speaker):
    names = sorted({p.name for p in found.values()})
    speaker.say('study     %s' % (description.value('title') or description.path))
    repeats = description.value('repeats').replace('..', ' to ')
    speaker.say('points    %d of %s; %s run%s of each%s' % (
        len(points), ', '.join(names), repeats, '' if repeats == '1' else 's',
        '' if '..' not in description.value('repeats') else
        ', until the interval is within %g %% of the median' % (100 * settings.precision)))
    speaker.say('estimate  %s' % plan.summary(points, estimates, settings.repeats_of))


def _show_plan(points, estimates, keys):
    rows = [['point'] + keys + ['time', 'on disk', 'memory', 'fits']]
    for point in points:
        e = estimates[point.id]
        values = dict(point.settings, section=point.section)
        rows.append([point.id] + [values.get(k, '-') for k in keys] + [
            text.about(e.seconds) if e.seconds is not None else '-',
            text.size(e.disk_bytes) if e.disk_bytes else '-',
            text.size(e.memory_bytes) if e.memory_bytes else '-',
            'no' if e.misfits else 'yes'])
    print(text.table(rows), end='')


def _report(folder, speaker):
    """report.html and its figures, when nht1-report is there."""
    path, results = tools.path('nht1-report'), []
    for name, record in folder.results().items():
        if record['ok']:
            results.append(folder.file('runs', name, 'result.json'))
    if path is None or not results:
        return
    target = folder.file('report.html')
    status, out, err = child.ask([path] + results + [
        '-o', target, '--figures', folder.file('figures')], REPORT_S)
    if status == 0 and os.path.exists(target):
        speaker.say('report    %s' % shown(target))
    else:
        speaker.say('no report: nht1-report ended with status %s: %s' % (status, err.strip()[:300]))


def _close(driver, keys, speaker):
    status = driver.status()
    table = summary.write(driver, keys, status)
    failed = [(t, n, r) for t in driver.tallies for n, (r, _) in sorted(t.runs.items())
              if not r['ok']]
    if table and not (speaker.show and len(driver.tallies) == 1):
        speaker.say()
        print(table, end='', flush=True)
        speaker.say()
    invalid = [t.point.id for t in driver.tallies
               if any(r['status'] == trouble.INVALID for r, _ in t.runs.values())]
    if invalid:
        print('not valid as results (exit status %d of the program): %s' % (
            trouble.INVALID, ', '.join(invalid)))
    for tally, number, record in failed:
        print('runs/study: %s failed: %s' % (tally.name(number), record['trouble']),
              file=sys.stderr)
    if driver.why == 'interrupted':
        print('runs/study: interrupted; the same command goes on from here', file=sys.stderr)
    elif driver.why == 'time':
        speaker.say('the time given, %g minutes, is used up; --minutes gives more' %
                    driver.settings.minutes)
    return status


def _study(args):
    stats.program()
    name, description = _load(args.study, args.set)
    system = launch.system()
    if args.cores:
        system['cores'] = args.cores
    launcher = _launcher(args, description, system)
    if probe.wanted(description):
        system.update(probe.run(system['cores'], launcher))
    finder, found = programs.Finder(args.dry_run), {}
    points = sweep.expand(description, system, finder)
    settings = drive.Settings(description, args.minutes)
    for point in points:
        found[point.id] = finder(point.program, point.place('program'))
        found[point.id].arguments(point)
        settings.repeats_of(point)
        drive.metric_of(point, found[point.id])
    keys = sweep.varying(points)
    speaker = speak.Speaker(keys, args.quiet, settings.show)
    files = _files(args, description)
    out = args.out or choose(args.under or UNDER, name, points, args.new)
    check_place(out, points)  # before the estimates, which take their time
    if args.no_plan:
        estimates = {p.id: plan.Estimate() for p in points}
    else:
        estimates = plan.make(
            points, found, launcher, files or existing(os.path.abspath(out)),
            lambda done: speaker.status('estimating: %d of %d' % (done, len(points))))
    _announce(description, points, found, settings, estimates, speaker)
    if args.dry_run:
        _show_plan(points, estimates, keys)
        _fit(args, points, estimates, speaker)
        return 0
    fitting = _fit(args, points, estimates, speaker)
    folder = Folder(out, points, lambda: _record(args, description, system, launcher, found, points,
                                                 estimates), description.text)
    speaker.say('folder    %s%s' % (shown(folder.path),
                                    ', going on' if folder.resumed else ''))
    speaker.say()
    driver = drive.Driver(fitting, found, launcher, settings, folder, estimates, files, speaker)
    driver.run()
    status = _close(driver, keys, speaker)
    if driver.why != 'interrupted' and not args.no_report:
        _report(folder, speaker)
    if settings.show and status == 0:
        speaker.say('The whole result: %s' % shown(folder.path))
    return status


def _act(args):
    if args.list:
        for name in _shipped():
            print('  %-14s %s' % (name, _load(name, [])[1].value('title')))
        return trouble.OK
    if not args.study:
        raise trouble.usage('name a study: %s, or an INI file; --help explains' %
                            ', '.join(_shipped()))
    if args.job:
        name, description = _load(args.study, args.set)
        return job.write(args, name, description)
    return _study(args)


def main(argv):
    return command.run('runs/study', lambda: _act(_arguments(argv)))
