# SPDX-License-Identifier: GPL-3.0-or-later
"""A study from its description to its report: points, what they take, the runs, what they amount to."""
import contextlib
import dataclasses
import itertools
import os
import platform
import random
import shlex
import shutil
import sys

from .. import VERSION, command, results, stats, text, tools, trouble
from . import child, conditions, drive, launch, plan, probe, programs, scratch, speak, summary, sweep
from .folder import Folder, check_place, choose, existing, shown

REPORT_S = 600


def under():
    """Where folders of studies are made when --under does not say: inside of the sources that this
    command belongs to runs/out, elsewhere nht1-studies in the current folder."""
    here = os.path.realpath(os.getcwd())
    inside = os.path.commonpath([here, tools.ROOT]) == tools.ROOT
    return os.path.join(tools.ROOT, 'runs', 'out') if inside and os.path.exists(
        os.path.join(tools.ROOT, 'Makefile')) else 'nht1-studies'


def new_folder(out, name, where=None):
    """Makes the folder of a result: out, where that is given and holds nothing, else a new one of that name
    in `where`, the folder of all studies if that is None. Its absolute path."""
    if out and os.path.lexists(out) and (not os.path.isdir(out) or os.listdir(out)):
        raise trouble.usage('--out: %s is there, and is not written over: %s' % (
            text.clean(out), 'the folder is not empty' if os.path.isdir(out) else 'it is no folder'))
    where = where or under()
    for number in itertools.count(1):
        path = out or os.path.join(where, name if number == 1 else '%s-%d' % (name, number))
        try:
            os.makedirs(path, exist_ok=bool(out))
            return os.path.abspath(path)
        except OSError as e:
            if isinstance(e, FileExistsError) and not out:
                scratch.sweep(path)  # of an earlier study, or of one that began at the same time
                continue
            raise trouble.failed('%s: %s; name another folder with --out' % (path, e.strerror))


def before(out, where=None):
    """What is there of the path of the folder that new_folder is about to make."""
    return existing(os.path.abspath(out or where or under()))


@contextlib.contextmanager
def taken_back(folder, there, complete=lambda: False):
    """Wrong usage that a program alone knows, once it is started, leaves nothing of the folder of the result, unless
    there is a run in it that is complete. there: what before() said."""
    try:
        yield
    except trouble.Trouble as e:
        if e.status == trouble.USAGE and not complete():
            folder = os.path.abspath(folder)
            for name in os.listdir(folder):
                shutil.rmtree(os.path.join(folder, name))
            while folder != there and not os.listdir(folder):
                os.rmdir(folder)
                folder = os.path.dirname(folder)
        raise


def concluded(work, complete, *steps):
    """Does the work of a command that measures, then the steps that judge, write and tell what came of it. Whatever ends
    the work, they are taken where complete() finds something in it that counts; and whatever one of them meets, so are
    those behind it. What was met first is raised at the end, as a failure: wrong usage would have left no result."""
    first = None
    for act in (work, *steps):
        try:
            act()
        except (trouble.Trouble, OSError) as e:
            if act is work and not complete():
                raise
            first = first or e
    if isinstance(first, trouble.Trouble) and first.status == trouble.USAGE:
        raise trouble.failed(str(first))
    if first:
        raise first


def add_launcher(add):
    """The options about the launcher, of what is started without a description. add: of a parser."""
    add('--launcher', metavar='NAME', help=tools.called('as runs/study'))
    add('--launcher-flags', metavar='WORDS', help=tools.called('as runs/study'))
    add('--cores', type=command.number(1, command.CORES_MAX, int), metavar='C', help=tools.called('as runs/study'))


def _flags(*said):
    """Words for the launcher. said: (where it was said, text)"""
    flags = []
    for where, words in (('MPIRUN_FLAGS', os.environ.get('MPIRUN_FLAGS', '')), *said):
        try:
            flags += shlex.split(words)
        except ValueError as e:
            raise trouble.usage('%s: %s: %s' % (where, text.clean(words, 100), e))
    return flags


def launcher(args, system, program=None):
    """The launcher by the options of add_launcher, that fits a program where one is given."""
    return launch.Launcher(args.launcher or 'auto', _flags(('--launcher-flags', args.launcher_flags or '')),
                           args.cores or system['cores'], system['nodes'], program=program)


def launcher_of(args, description, system):
    """The launcher by a description and the options of runs/study."""
    flags = _flags((description.study['launcher_flags'].place, description.value('launcher_flags')),
                   ('--launcher-flags', args.launcher_flags or ''))
    asked = description.value('launcher')
    return launch.Launcher(args.launcher or asked, flags, system['cores'], system['nodes'],
                           bool(args.launcher) or asked in ('auto', 'none') or not args.dry_run)


def _record(args, description, here, points, estimates):
    """What study.json holds beside the points. here: the conditions of its runs (conditions.py)."""
    seed = description.value('seed')
    return {
        'title': description.value('title'), 'description': description.path, 'set': args.set,
        'seed': int(seed) if seed else random.SystemRandom().getrandbits(31),
        'driver': VERSION, 'python': platform.python_version(), 'host': platform.node(),
        'kernel': '%s %s' % (platform.system(), platform.release()), **here, 'command': sys.argv,
        'estimates': {p.id: dataclasses.asdict(estimates[p.id]) for p in points}}


def _programs(found, dry_run):
    """[{name, path, version}] of what is run; a dry run does not ask for versions, and knows only what it has found."""
    used = {p.path: p.name for p in found.values() if p.options is not None}
    return [{'name': n, 'path': p, 'version': '' if dry_run else _version(p)} for p, n in used.items()]


def _version(path):
    return (child.about(path, '--version', launch.ASK_S)[1].strip().splitlines() or [''])[0]


def _files(args, description, begun):
    """Folder for the measured files, '' for the study's own. begun: the record of a study that goes on: its folder
    where none is named."""
    files = args.files or description.value('files') or conditions.folder_of(begun)
    if files and not os.path.isdir(files):
        raise trouble.usage('%s: no such folder for the files (--files, [study] files%s)' % (
            text.clean(files), ', or as it was when the study was begun' if begun else ''))
    return os.path.abspath(files) if files else ''


def _going_on(args, description, record):
    """What the line about the folder says of a study that goes on."""
    words, files = ', going on', conditions.folder_of(record)
    if files and not (args.files or description.value('files')):
        words += ' with files in %s' % shown(text.clean(files))
    host = record.get('host')
    return words if host == platform.node() else words + '; it was begun on %s, this is %s' % (
        text.clean(host, 100), platform.node())


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


def _announce(description, tallies, settings, estimates, speaker):
    names = sorted({t.program.name for t in tallies})
    speaker.say('study     %s' % (description.value('title') or description.path))
    repeats = description.value('repeats')
    auto = repeats.startswith(drive.AUTO)
    asking = [t for t in tallies if auto and t.auto and t.beside]
    if asking:
        said = 'rounds until it is decided whether writing keeps up, %d at most' % max(t.high for t in asking)
    else:
        said = 'runs of each' if auto else '%s run%s of each' % (repeats.replace('..', ' to '), '' if repeats == '1' else 's')
        if auto or '..' in repeats:
            said += ', until the interval is within %g %% of the median' % (100 * settings.precision)
    speaker.say('points    %d of %s; %s' % (len(tallies), ', '.join(names), said))
    runs = {t.point.id: (t.low, t.high) for t in tallies}
    speaker.say('estimate  %s' % plan.summary([t.point for t in tallies], estimates, lambda point: runs[point.id],
                                              settings.minutes))


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


def report(folder, paths, speaker, level=0.95):
    """report.html and its figures in a folder, when nht1-report is there. paths: of results; level: of intervals."""
    path = tools.path('nht1-report')
    if path is None or not paths:
        return
    target = os.path.join(folder, 'report.html')
    status, out, err = child.ask([path] + paths + [
        '-o', target, '--figures', os.path.join(folder, 'figures'), '--level=%r' % level], REPORT_S)
    if status == 0 and os.path.exists(target):
        speaker.say('report    %s' % shown(target))
    else:
        speaker.say('no report: nht1-report ended with status %s: %s' % (status, err.strip()[:300]))


def _close(driver, keys, speaker, brief, args):
    again = 'the same command%s goes on from here' % (' without --new' if not brief and args.new else '')
    rows, table = summary.tables(driver, keys)
    try:
        summary.write(driver, rows, table, driver.status(), args.set)
    except OSError as e:  # of a full disk, perhaps, which the runs have met before
        driver.why, driver.failure = 'failed', driver.failure or e
    status = driver.status()
    failed = [(t, n, r) for t in driver.tallies for n, (r, _) in sorted(t.runs.items())
              if not r['ok']]
    if table and not brief and not speaker.show:
        speaker.say()
        print(table, end='', flush=True)
        speaker.say()
    invalid = [t.point.id for t in driver.tallies
               if any(r['status'] == trouble.INVALID for r, _ in t.runs.values())]
    if invalid:
        print('not valid as results (exit status %d of the program): %s' % (
            trouble.INVALID, ', '.join(invalid)))
    for tally, number, record in failed:
        print('%s: %s failed: %s' % (tools.called('runs/study'), tally.name(number),
                                     record['trouble']), file=sys.stderr)
    if driver.failure and not brief:
        print('%s: %s: %s; %s' % (
            tools.called('runs/study'), driver.failure.filename or shown(driver.folder.path), driver.failure.strerror, again),
              file=sys.stderr)
    if driver.why == 'interrupted' and not brief:
        print('%s: interrupted; %s' % (tools.called('runs/study'), again), file=sys.stderr)
    if not brief:
        _say_end(driver, speaker)
        for tally in driver.given_up():
            runs = ' and '.join(shown(driver.folder.file('runs', t.name(n))) for t, n, _ in failed if t is tally)
            speaker.say('%s has failed %d times and is not tried again; to have it tried, move %s away and start the study with '
                        '--out %s' % (tally.point.id, drive.FAILURES_MAX, runs, shown(driver.folder.path)))
        narrow = sum(t.ended_narrow() for t in driver.tallies)
        if narrow:
            speaker.say('narrow    %d of %d points ended early with a narrow interval: such intervals are right less often than '
                        'in %g %% of cases (docs/statistics.md)' % (narrow, len(driver.tallies), 100 * driver.settings.level))
        if driver.why == 'time':
            speaker.say('the time given, %g minutes, is used up; --minutes gives more' %
                        driver.settings.minutes)
    return status


def _say_end(driver, speaker):
    """Why rounds that were to go on until it is decided have ended."""
    states = [t.state() for t in driver.tallies if t.question]
    asked = [s for s in states if s in ('decided', 'undecided')]
    if not asked:
        return
    undecided = asked.count('undecided')
    why = {'interrupted': 'interrupted', 'failed': 'it failed', 'time': 'the time is over'}.get(
        driver.why, 'no more rounds were to be made')
    speaker.say('ended     %s' % ('every point is decided, %d of %d' % (len(asked), len(asked)) if not undecided else
                                  '%d of %d points undecided: %s' % (undecided, len(asked), why)))


def run(args, name, description, brief=False):
    """Makes a study, or with --dry-run plans it. args: options as those of runs/study (cli.py). brief:
    part of something larger, that says itself what is made and what came of it. Returns the exit
    status and the driver, None after a dry run."""
    stats.program()
    system = launch.system()
    if args.cores:
        system['cores'] = args.cores
    launcher = launcher_of(args, description, system)
    if probe.wanted(description):
        system.update(probe.run(system['cores'], launcher))
    finder, found = programs.Finder(args.dry_run), {}
    points = sweep.expand(description, system, finder)
    settings = drive.Settings(description, args.minutes)
    for point in points:
        found[point.id] = finder(point.program, point.place('program'))
        found[point.id].arguments(point)
    tallies = drive.tallies_of(points, found, settings)
    keys = sweep.varying(points)
    speaker = speak.Speaker(['section'] if brief else keys, args.quiet, settings.show)
    out = args.out or choose(args.under or under(), name, points, args.new)
    state, begun = check_place(out, points)  # before the estimates, which take their time
    files = _files(args, description, begun)
    place = files or existing(os.path.abspath(out))
    here = conditions.now(files, place, launcher, system, _programs(found, args.dry_run))

    def expect_same(record):
        conditions.expect_same(record, here, shown(out), launcher, bool(args.out))
    if state == 'open':
        expect_same(begun)
    if args.no_plan:
        estimates = {p.id: plan.Estimate() for p in points}
    else:
        estimates = plan.make(
            points, found, launcher, place,
            lambda done: speaker.status('estimating: %d of %d' % (done, len(points))))
    if not brief:
        _announce(description, tallies, settings, estimates, speaker)
    if args.dry_run:
        _show_plan(points, estimates, keys)
        _fit(args, points, estimates, speaker)
        return 0, None
    fitting = _fit(args, points, estimates, speaker)
    if not args.out:  # which another one of this name may have taken meanwhile
        out = choose(args.under or under(), name, points, args.new)
    folder = Folder(out, points, lambda: _record(args, description, here, points, estimates), description.text)
    if not brief:
        speaker.say('folder    %s%s' % (shown(folder.path), _going_on(args, description, folder.record)
                                        if folder.resumed else ''))
        speaker.say()
    driver = drive.Driver(tallies if fitting is points else drive.tallies_of(fitting, found, settings), launcher,
                          settings, folder, estimates, files, speaker)
    if folder.resumed and driver.progress()[2]:  # a finished one, or one that another driver has just begun
        expect_same(folder.record)
    driver.run()
    status = _close(driver, keys, speaker, brief, args)
    if driver.why != 'interrupted' and not args.no_report:
        good = [name for name, record in folder.results().items() if record['ok']]
        # Folders, in which results of other programs are passed over; a file that is named has to be one of nht1's.
        if any(results.word(folder.result(name), 'schema').partition('/')[0] in results.KINDS for name in good):
            report(folder.path, [folder.file('runs', name) for name in good], speaker, settings.level)
    if settings.show and status == 0 and not brief:
        speaker.say('The whole result: %s' % shown(folder.path))
    return status, driver
