# SPDX-License-Identifier: GPL-3.0-or-later
"""runs/study check: whether a folder's file system keeps up with this computer's processors, in one sentence.
A short pilot tells what a step takes with and without writing; by that the problem is chosen; then nht1-bt
makes as many rounds as it takes (--repeat auto), and what time is left goes into the search (--io auto).

    pilot/ run/ search/   result.json, stdout and stderr of the program; run.json
    check.json            what came of it (docs/schema/nht1-check-1.json)
    report.html"""
import contextlib
import json
import math
import os
import secrets
import shutil
import socket
import time
from types import SimpleNamespace

from .. import VERSION, command, results, stats, text, tools, trouble
from ..report.output import Outputs
from ..results import items, members, real, word
from ..search import command_of
from . import check_words, child, drive, launch, plan, probe, programs, scratch, speak, whole
from .check_words import CLASSES, STEPS
from .folder import shown, utc, write_json

SCHEMA = 'nht1-check/1'
ROUNDS = 8            # of the first look: fewer give no answer
ROUNDS_WISHED = 15    # of the third: where runs scatter by 2 to 5 %, it decides in 45 to 90 % of cases, the first in 15 to 65
LONG_S = 1.1          # a T_T below a second is too short to judge
PILOT_STEPS, INTERVAL = 20, 5
SHORT = range(180, 0, -20)  # steps of class A whose norms are known beside all of them
RUN_S, START_S = 0.1, 3.0   # of a run beside its clock; of a start: warming up, T_C
PILOT_SHARE = 0.4     # of the time, after which the pilot says that class A is too large
SEARCH_S = 30         # a shorter search finds nothing
GRACE_S = 600         # of a run that does not end by itself
CELL_BYTES = 400      # memory for a cell, with what is staged
UNANSWERED = ('null', 'perrank')  # writers that leave no serial file, of which nht1-bt gives no answer
OURS = ('io', 'json', 'out', 'progress', 'repeat', 'restart', 'dry-run', 'keep', 'read', 'nodes', 'minutes',
        'known', 'probe', 'probe-limit', 'quiet', 'tc', 'verify', 'help', 'version')
OF_RANKS = ('decomp', 'read-decomp', 'read-ranks')  # right or wrong by the number of ranks
STATUS = {check_words.SLOW: trouble.WRONG, check_words.OPEN: trouble.INVALID, check_words.UNKNOWN: trouble.INVALID}
EPILOG = """
examples:
  runs/study check /scratch/me               the file system there, on all cores, two minutes
  runs/study check . --minutes 5             where two minutes leave it undecided
  runs/study check /scratch/me --io mpiio    one way to write
  runs/study check . --class B --sync dump   a problem that is given

All other options are those of nht1-bt. Without --class, --n or --steps the problem is class A with as many
of its steps as 15 rounds, or else eight, have time, memory and disk for, a larger class where a run of it would take
less than a second, or else class W. The answer of the writer that costs least speaks for the folder.
Exit status: 0 the goal is met, 2 I/O is too slow, 4 undecided, or not measurable here and now; 1 wrong usage;
3 a run failed or had wrong results, or interrupted.
docs/studies.md has more about it.
"""


def _arguments(argv):
    """(options, words for nht1-bt)"""
    parser = command.Parser(prog=tools.called('runs/study check'), epilog=tools.called(EPILOG), allow_abbrev=False,
                            description='Says whether a file system keeps up with the processors, in one sentence.')
    add = parser.add_argument
    add('files', metavar='DIR', help='a folder on the file system in question')
    add('--minutes', type=command.number(0.01, command.MINUTES_MAX), metavar='M', default=2.0,
        help='time for everything together, default %(default)g')
    add('--io', metavar='NAME,NAME', default='serial,token-gather,mpiio', help='writers, default %(default)s')
    probe.add_shape(add)
    add('--no-search', action='store_true', help='do not use the time that is left to search for the best way to write')
    add('--out', metavar='DIR', help='folder of the result; default: a new one, check, check-2, ..., in nht1-studies '
                                     'in the current folder, inside of the sources runs/out')
    add('--json', metavar='FILE', help='write the result to FILE, too; - is standard output')
    whole.add_launcher(add)
    add('--no-report', action='store_true', help='make no report')
    add('--quiet', action='store_true', help='print the sentence and errors only')
    add('--version', action='version', version=tools.called('runs/study ') + VERSION)
    return parser.parse_known_args(argv)


def fits(n, steps, writers, room):
    """Whether memory and disk hold it. room: {memory_bytes, disk_bytes}."""
    return CELL_BYTES * n ** 3 <= room['memory_bytes'] and \
        1.05 * writers * (steps // INTERVAL) * 40 * n ** 3 <= room['disk_bytes']


def choose(pilot, left_s, writers, room):
    """(class, steps) of the problem. pilot: {round_s: of a run with each writer and one without, with what is done
    to verify them, run_s: the shortest run with a writer}, both for a step of class A; None where that
    took too long. With as many steps as leave time for ROUNDS_WISHED, else with fewer rounds."""
    def suits(cls, steps, rounds):
        scale = (CLASSES[cls] / CLASSES['A']) ** 3
        return fits(CLASSES[cls], steps, writers, room) and rounds * (
            (writers + 1) * RUN_S + steps * scale * pilot['round_s']) <= left_s - START_S

    def long(cls, steps):
        return steps * (CLASSES[cls] / CLASSES['A']) ** 3 * pilot['run_s'] >= LONG_S
    if pilot is None:
        return 'W', STEPS
    for rounds in (ROUNDS_WISHED, ROUNDS):
        if not long('A', STEPS):
            larger = next((c for c in 'BC' if long(c, STEPS) and suits(c, STEPS, rounds)), 'A')
            if larger != 'A' or rounds == ROUNDS and suits('A', STEPS, rounds):
                return larger, STEPS
        for steps in (STEPS, *SHORT):
            if suits('A', steps, rounds) and long('A', steps):
                return 'A', steps
    if long('W', STEPS) and fits(CLASSES['W'], STEPS, writers, room):
        return 'W', STEPS
    # What is too short could not be judged at all; what is too long tells how long it takes.
    return next((('A', steps) for steps in reversed(SHORT)
                 if long('A', steps) and fits(CLASSES['A'], steps, writers, room)), ('W', STEPS))


def room_of(folder):
    disk = os.statvfs(folder)
    with open('/proc/meminfo') as f:
        memory = next((int(line.split()[1]) * 1024 for line in f if line.startswith('MemAvailable:')), 0)
    return {'memory_bytes': memory / 2, 'disk_bytes': disk.f_bavail * disk.f_frsize}


class Check:
    def __init__(self, args, options):
        self.args, self.began, self.started_utc = args, time.monotonic(), utc()
        self.program = programs.Finder()('nht1-bt', SimpleNamespace(wrong=trouble.usage))
        self.options = options
        self.named = programs.given(options, self.program, 'check', OURS)
        if not os.path.isdir(args.files):
            raise trouble.usage('%s: no such folder' % text.clean(args.files))
        self.fits = None  # of check_words.sentence
        self.given = any(w.partition('=')[0] in ('--class', '--n', '--steps') for w in options)
        self.writers = [w for w in args.io.split(',') if w not in ('', 'none')]
        if not self.writers or 'auto' in args.io:
            raise trouble.usage('--io %s: names of writers are expected' % text.clean(args.io))
        if all(w.rpartition(':')[2] in UNANSWERED for w in self.writers):
            raise trouble.usage('--io %s: leaves no serial file, so there is no answer; name a writer that leaves one, such as posix '
                                '(nht1-bt --io help)' % text.clean(args.io))
        system = launch.system()
        self.cores = args.cores or system['cores']
        self.launcher = whole.launcher(args, system)
        self.speak, self.stop = speak.Speaker((), args.quiet, False), child.Stop()
        self.where = text.clean(os.path.abspath(args.files))
        self.folder = whole.new_folder(args.out, 'check')
        self.search, self.quote, self.rounds_began = None, None, 0

    def left_s(self):
        return 60 * self.args.minutes - (time.monotonic() - self.began)

    # Measuring.

    def run(self):
        self.stop.install()
        with contextlib.ExitStack() as stack:
            try:
                self.files = stack.enter_context(scratch.folder(self.args.files, secrets.token_hex(8)))
            except OSError as e:
                raise trouble.failed('%s: cannot write there: %s' % (self.where, e.strerror))
            self._expect_options()
            if not (self.args.ranks or self.args.threads):
                self.speak.status('trying ranks and threads')
            self.ranks, self.threads = probe.shape(self.args, self.cores, self.launcher)
            problem = [] if self.given else self._problem()
            self._rounds(problem)
            self._search(problem)

    def _expect_options(self):
        """Trouble with writers and options that the program refuses, before anything is measured."""
        options = [['--' + name] + ([value] if value is not None else []) for name, value in self.named if name not in OF_RANKS]
        status, _, err = child.ask(self.launcher.command(1, 1, [
            self.program.path, '--dry-run', '--tc', '1', '--io', ','.join(self.writers)] + sum(options, []) +
            self.program.writes_to(self.files)), launch.ASK_S, self.launcher.environment(1, 1, {}))
        words = child.last_words_of(err)
        if drive.refusal(words, 'nht1-bt', status):
            raise trouble.usage(words)

    def _start(self, name, words, limit_s, doing):
        """Runs nht1-bt in a folder of that name. (its result or {}, status, why)"""
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        path = os.path.join(folder, 'result.json')
        words = [self.program.path] + words + self.options + self.program.always + \
            self.program.writes_to(self.files) + ['--json', path]
        words = self.launcher.command(self.ranks, self.threads, words)
        environment = self.launcher.environment(self.ranks, self.threads, {})

        def tick(seconds):
            self.speak.status('%s: %s; at most %s left' % (doing, text.about(seconds), text.about(max(0, self.left_s()))))
        began = drive.begin()
        status, seconds, why = child.run(words, environment, folder, limit_s, self.stop, tick)
        self.speak.clear()
        ok = not why and status in drive.FINISHED
        write_json(os.path.join(folder, 'run.json'), dict(
            drive.record(began, name, name, 1, {}, words, launch.recorded(environment), seconds, status),
            ok=ok, trouble=why))
        try:
            return results.read_object(path) if os.path.exists(path) else {}, status, why
        except trouble.Trouble as e:
            raise trouble.failed(str(e))  # what a run leaves is no usage

    def _failed(self, name, status, why):
        folder = os.path.join(self.folder, name)
        if why == 'interrupted':
            return trouble.failed('interrupted; what there is, is in %s' % shown(folder))
        if not why and drive.refused(folder, 'nht1-bt', status):
            return trouble.usage(drive.last_words(folder))  # of what is handed on
        return trouble.failed('%s; its output is in %s' % (
            why or 'nht1-bt: exit status %d: %s' % (status, drive.last_words(folder)), shown(folder)))

    def _problem(self):
        """Words for the problem, by a pilot: one round of few steps."""
        with scratch.temporary() as store:
            root, status, why = self._start('pilot', [
                '--class', 'A', '--steps', str(PILOT_STEPS), '--io', ','.join(['none'] + self.writers), '--tc',
                'measure', '--tc-store', os.path.join(store, 'tc.json')], max(5, PILOT_SHARE * self.left_s()), 'pilot')
        if why != 'timed out' and (why or status not in drive.FINISHED):
            raise self._failed('pilot', status, why)
        shutil.rmtree(os.path.join(self.folder, 'pilot'))  # no result
        pilot, runs = None, items(root, 'runs')
        if why != 'timed out' and runs:
            took = [real(r, 't_t_s') for r in runs if word(r, 'driver') != 'none']
            proofs = [real(r, 'proof.took_s') for r in runs]
            round_s = sum(t for t in [real(r, 't_t_s') for r in runs] + proofs if t == t)
            if not any(word(r, 'driver') == 'none' for r in runs):
                round_s += min(took)
            pilot = {'round_s': round_s / PILOT_STEPS, 'run_s': min(took) / PILOT_STEPS}
        room, left_s = room_of(self.args.files), self.left_s()
        cls, steps = choose(pilot, left_s, len(self.writers), room)
        if pilot and (cls, steps) == choose(pilot, left_s, len(self.writers), dict.fromkeys(room, math.inf)):
            self.fits = lambda cls, steps: fits(CLASSES[cls], steps, len(self.writers), room)
        return ['--class', cls] + (['--steps', str(steps)] if steps < STEPS else [])

    def _rounds(self, problem):
        minutes = max(0.02, (self.left_s() - START_S) / 60)
        self.rounds_began = time.monotonic() - self.began
        root, status, why = self._start('run', problem + [
            '--io', ','.join(self.writers), '--repeat', 'auto', '--minutes', '%.3f' % minutes],
            120 * minutes + GRACE_S if problem else plan.unknown_limit_s(minutes), 'rounds')
        # Rounds that are complete count whatever has ended them, but for wrong data.
        failed = self._failed('run', status, why) if why or status not in drive.FINISHED else None
        wrong = check_words.wrong(root)
        if wrong and status != trouble.WRONG:  # a launcher that was interrupted says nothing of it
            failed = trouble.failed('%s; %s' % (wrong, failed or 'see ' + shown(os.path.join(self.folder, 'run'))))
        found = [] if wrong or status == trouble.WRONG else check_words.writers(root)
        if found:
            self._conclude(root, found)
        if failed:
            raise failed
        if not found:
            raise trouble.failed('no writer has an answer; what nht1-bt said is in %s' % shown(
                os.path.join(self.folder, 'run')))

    def _conclude(self, root, found):
        self.root, self.writers_found, self.best = root, found, found[0]
        self.problem = check_words.problem(root)
        self.sentence = check_words.sentence(self.best, self.problem, self.where, self.rounds_began / 60, self.fits)
        self.quote = check_words.quote(root, self.sentence, self.started_utc)
        print(text.clean(self.sentence))
        if not self.args.quiet:
            print(text.clean(self.quote) + '\n')
            self._pass_on('run')

    def _pass_on(self, name):
        with open(os.path.join(self.folder, name, 'stdout'), errors='replace') as f:
            print(f.read(), end='', flush=True)

    def _search(self, problem):
        if self.args.no_search:
            return
        if self.left_s() < SEARCH_S:
            self.speak.say(tools.called('No time was left to search for the best way to write here: runs/study tune '
                                        '--files %s' % self.where))
            return
        minutes = self.left_s() / 60
        root, status, why = self._start('search', problem + [
            '--io', 'auto', '--known', '--minutes', '%.2f' % minutes], 120 * minutes + GRACE_S, 'search')
        if why == 'interrupted':
            raise self._failed('search', status, why)
        best = members(root, 'search.best')
        if status not in drive.FINISHED or not word(best, 'label'):
            self.speak.say('The search found nothing: %s' % self._failed('search', status, why))
            return
        self.search = {'label': word(best, 'label'), 'answer': word(best, 'answer') or None,
                       'command': command_of('', word(best, 'command'), self.args.files),
                       'minutes': round(minutes, 3)}
        if not self.args.quiet:
            print('\nSearch    %s\n          %s' % (self.search['answer'] or self.search['label'],
                                                    self.search['command']))

    # What came of it.

    def answered(self):
        """Whether the rounds have given the answer, beside which the search is an extra."""
        return self.quote is not None

    @property
    def status(self):
        return STATUS.get(self.best['answer'], trouble.OK)

    def report(self):
        if not self.args.no_report:
            whole.report(self.folder, [self.folder], self.speak)
        self.speak.say('The whole result: %s' % shown(self.folder))

    def json(self):
        system, best = members(self.root, 'system'), self.best
        return {'schema': SCHEMA, 'version': VERSION, 'host': socket.gethostname(), 'started_utc': self.started_utc,
                'ended_utc': utc(), 'seconds': round(time.monotonic() - self.began, 3),
                'minutes': self.args.minutes, 'folder': self.where, 'file_system': next(
                    (word(r, 'file.file_system') for r in items(self.root, 'runs')
                     if word(r, 'file.file_system')), None),
                'cpu': word(system, 'cpu.model') or None, 'ranks': self.ranks, 'threads': self.threads,
                'problem': self.problem, 'goal': check_words.GOAL, 'writer': best['writer'],
                'answer': best['answer'], 'reason': best['reason'], 'zeta': best['zeta'], 'lo': best['lo'],
                'hi': best['hi'], 'rounds': best['rounds'], 'rounds_needed': best['rounds_needed'],
                'minutes_needed': best['minutes_needed'], 'sentence': self.sentence, 'quote': self.quote,
                'writers': self.writers_found, 'search': self.search}


def main(argv):
    def act():
        args, options = _arguments(argv)
        stats.program()
        outputs = Outputs()
        if args.json is not None:
            outputs.add(args.json, lambda: json.dumps(check.json(), indent=1) + '\n', '--json')
        outputs.check()
        before = whole.before(args.out)
        check = Check(args, options)
        with whole.taken_back(check.folder, before, check.answered):
            whole.concluded(
                check.run, check.answered, lambda: write_json(os.path.join(check.folder, 'check.json'), check.json()),
                outputs.write, check.report)
        return check.status
    return command.run(tools.called('runs/study check'), act)
