# SPDX-License-Identifier: GPL-3.0-or-later
"""runs/study ab: whether B takes longer than A, decided as soon as it can be. A and B are two builds, mounts,
environments or settings of one program. A round is one run of each, in random order, so that whatever disturbs
the machine is as likely to hit either; after each round nht1-stats judges the ratios of the rounds so far by
its sequential test (docs/statistics.md).

    A/r01/ B/r01/    the runs, as those of a study: result.json, run.json, stdout, stderr
    ab.json          what came of it (docs/schema/nht1-ab-1.json)"""
import json
import math
import os
import random
import re
import secrets
import shlex
import shutil
import socket
import time
from types import SimpleNamespace

from .. import VERSION, command, junit, reading, results, stats, text, tools, trouble
from ..report.output import Outputs
from . import child, drive, launch, plan, programs, scratch, speak, summary, whole
from .description import nearest
from .folder import shown, utc, write_json

SCHEMA = 'nht1-ab/1'
ROUNDS_MAX = 500    # that nht1-stats judges
START_S = 1         # a round takes longer than its runs
NAMES_MAX = 20      # of members of a result, told where it has not that which is asked for
WORSE, SAME, NO_WORSE, BETTER, UNDECIDED = 'worse', 'same', 'no worse', 'better', 'undecided'
CUT_SHORT = ('interrupted', 'failed')  # ends of the measuring after which no more than a verdict so far is told
NUMBER = re.compile(r'\d[\d.]*')
STATUS = {WORSE: trouble.WRONG, UNDECIDED: trouble.INVALID}
# What T_T stands for, and the ratio that does not depend on how fast the machine computes.
ZETA, T_T = 'zeta', 'runs[].t_t_s'
NAMES = {T_T: 'T_T', ZETA: 'T_T / T_C (1 + paired zeta)'}
EPILOG = """
examples:
  runs/study ab --a-bin old/build/bin --b-bin build/bin --class W --io posix
                                         two builds, each started by its own MPI library
  runs/study ab --a-files /scratch/me --b-files /home/me --class A --io mpiio
                                         two file systems
  runs/study ab --b-env OMPI_MCA_io=romio321 --class A --io mpiio
                                         a variable of the environment in B alone
  runs/study ab --io none,async --b=--direct --class A --metric zeta
                                         two settings, by the paired zeta
  runs/study ab --b-bin build/bin --threshold 2 --minutes 30 --junit ab.xml --class A || exit 1
                                         for continuous integration
  runs/study ab --class S --io posix     the same twice: what noise does here

All other options are those of the program, nht1-bt unless --program names another one, and hold for
both sides; --a and --b add to them or replace them on one side. A round is a run of each side, in
random order. After 8, 11, 15, 20 ... rounds the interval of the ratio B / A is compared with the
threshold, and measuring ends once that is decided, or the time is over; all looks together are wrong
in at most 5 % of cases. The last line of the output, for a log, says what was found.
Exit status: 0 B is the same as A, faster, or not slower by more than the threshold; 2 B is slower by
more; 4 undecided: more time, or a quieter machine, would tell; 1 wrong usage; 3 a run failed or had
wrong results, or interrupted.
docs/studies.md has more about it.
"""


def _arguments(argv):
    """(options, words for the program)"""
    parser = command.Parser(
        prog=tools.called('runs/study ab'), epilog=tools.called(EPILOG), allow_abbrev=False,
        description='Runs A and B in alternation until it is decided whether B is slower.')
    add = parser.add_argument
    for side in 'ab':
        name = side.upper()
        add('--%s-bin' % side, metavar='DIR', help='folder of the programs of %s; default: those of this '
                                                   'command' % name)
        add('--%s-files' % side, metavar='DIR', help='where %s writes its files; default: --files' % name)
        add('--%s-env' % side, metavar='NAME=VALUE', action='append', default=[],
            help='a variable of the environment of %s; may be repeated' % name)
        add('--%s' % side, metavar='WORDS', default='',
            help="options of %s alone, in one word: --%s='--io mpiio --hint cb_nodes=1'" % (name, side))
    add('--threshold', type=command.number(0, 1000), metavar='PCT', default=5.0,
        help='by how many percent B may be slower, default %(default)g')
    add('--metric', metavar='NAME', help='what is compared: zeta, T_T over the computing alone of the same run of '
        'nht1-bt; or a member of the result, such as runs[].t_t_s. Default: that of the program, T_T of nht1-bt; '
        'of several writers the geometric mean')
    add('--better', choices=('low', 'high'), help='which values of --metric are better; default: high of a rate by its name '
        '(..._per_s), else low')
    add('--minutes', type=command.number(0, command.MINUTES_MAX), metavar='M', default=10.0,
        help='time for all runs together, default %(default)g')
    add('--rounds-max', type=command.number(6, ROUNDS_MAX, int), metavar='N', default=64,
        help='rounds at most, default %(default)s')
    add('--error', type=command.number(1e-6, 0.5), metavar='P', default=0.05,
        help='how often the interval of any look may miss, default %(default)g')
    add('--program', metavar='NAME', default='nht1-bt', help='default %(default)s')
    add('--ranks', type=command.number(1, command.RANKS_MAX, int), metavar='R', help='MPI ranks; default: one on each core')
    add('--threads', type=command.number(1, command.THREADS_MAX, int), metavar='T', default=1,
        help='threads of each rank, default %(default)s')
    add('--files', metavar='DIR', help='write the files that are measured there; default: in the folder of the '
                                       'result')
    add('--out', metavar='DIR', help='folder of the result; default: a new one, ab, ab-2, ..., in nht1-studies '
                                     'in the current folder, inside of the sources runs/out')
    add('--json', metavar='FILE', help='write the result to FILE, too; - is standard output')
    add('--junit', metavar='FILE', help='write it as JUnit XML, with one test case')
    add('--order-seed', type=command.number(0, 1 << 31, int), metavar='S', help='of the order in the rounds')
    whole.add_launcher(add)
    add('--quiet', action='store_true', help='print the closing line and errors only')
    add('--version', action='version', version=tools.called('runs/study ') + VERSION)
    return parser.parse_known_args(argv)


def merged(common, own, lists):
    """Options of both sides and those of one, which replace them; of lists all count."""
    mine = {name for name, _ in own if name not in lists}
    return [o for o in common if o[0] not in mine] + own


def cost_of(result, metric, better, alone=None, labels=None):
    """One number of a result, of which more is worse: the geometric mean over its writers, of a rate its
    inverse. alone: the label of runs that compute only; labels: of the writers that count, None: all. None where the result
    has none, ValueError where a value is not above 0, as ratios need it."""
    series = programs.values(result, T_T if metric == ZETA else metric)
    computing = series.pop(alone, None) if set(series) != {alone} else None
    numbers = [v for label, found in series.items() if labels is None or label in labels for v in found]
    if metric == ZETA and not computing:
        return None
    if not numbers:
        return None
    least = min(numbers + (computing or []))
    if least <= 0:
        raise ValueError('%s is %.9g, and B / A needs values above 0' % (metric, least))

    def mean_log(values):
        return math.fsum(map(math.log, values)) / len(values)
    cost = mean_log(numbers) - (mean_log(computing) if metric == ZETA else 0)
    return math.exp(-cost if better == 'high' else cost)


class Side:
    """A or B: how it is started, and what it took in the rounds."""

    def __init__(self, name, args, said, system):
        def own(option):
            return getattr(args, '%s_%s' % (name.lower(), option))
        self.name, self.costs, self.seconds, self.stamps = name, [], [], {}
        self.spoiling, self.notices = (), ()  # stamps and notices of its last run
        place = SimpleNamespace(wrong=lambda message: trouble.usage('%s: %s' % (name, message)))
        wanted = os.path.join(own('bin'), args.program) if own('bin') else args.program
        if own('bin') and not os.access(wanted, os.X_OK):
            raise trouble.usage('--%s-bin: %s is not there' % (name.lower(), text.clean(wanted)))
        self.program = programs.Finder()(os.path.abspath(wanted) if own('bin') else wanted, place)
        self.computes = (self.program.alone or ('', None))[1]  # the label of runs that compute only
        try:
            mine = shlex.split(getattr(args, name.lower()))
        except ValueError as e:
            raise trouble.usage('%s: %s' % (name, e))
        options = merged(*(programs.given(words, self.program, 'ab', self.program.reserved, whose)
                           for words, whose in ((said, ''), (mine, '--%s: ' % name.lower()))), self.program.lists)
        if self.program.plan and 'repeat' in self.program.options and 'repeat' not in dict(options):
            options.append(('repeat', '1'))  # rounds are made here
        self.words = [w for n, v in options for w in (['--' + n] if v is None else ['--' + n, v])]
        self.env = {}
        for pair in own('env'):
            key, equal, value = pair.partition('=')
            if not equal or not key:
                raise trouble.usage("--%s-env: '%s' is not NAME=VALUE" % (name.lower(), text.clean(pair)))
            self.env[key] = value
        self.files = own('files') or args.files
        if self.files and not os.path.isdir(self.files):
            raise trouble.usage('%s: no such folder for the files of %s' % (text.clean(self.files), name))
        self.launcher = whole.launcher(args, system, self.program.path)

    def json(self):
        return {'program': self.program.path, 'options': self.words, 'environment': self.env,
                'files': self.files, 'launcher': self.launcher.name, 'costs': self.costs, 'stamps': self.stamps}

    def told(self):
        """What stamps say that a verdict has to be read with: 'A too-short (8 of 8 runs)'."""
        return ['%s: %s (%d of %d runs)' % (self.name, code, n, len(self.costs))
                for code, n in self.stamps.items()]


class Alternation:
    """The rounds, until it is decided."""

    def __init__(self, args, said):
        self.args, self.began, self.started_utc = args, time.monotonic(), utc()
        system = launch.system()
        self.cores = args.cores or system['cores']
        self.ranks = args.ranks or max(1, self.cores // args.threads)
        self.sides = [Side(name, args, said, system) for name in 'AB']
        program = self.sides[0].program
        self.metric = args.metric or program.metric
        if self.metric is None:
            raise trouble.usage('--metric: name the member of the result of %s that counts, such as '
                                'runs[].t_t_s' % program.name)
        for side in self.sides:
            side.program.expect_metric(T_T if self.metric == ZETA else self.metric)
        self.better = args.better or program.better_of(self.metric)
        self.name = NAMES.get(self.metric, self.metric)
        self.threshold = args.threshold / 100
        self.seed = random.SystemRandom().getrandbits(31) if args.order_seed is None else args.order_seed
        self.random, self.order, self.alone = random.Random(self.seed), [], []
        self.labels = {}    # of the writers of each side
        self.common = None  # of those that both have, None: all, or one against another one
        self.speak = speak.Speaker((), args.quiet, False)
        self.stop, self.answer, self.look = child.Stop(), {}, {}
        self.ended = 'failed'  # until the rounds have come to an end
        self.folder = whole.new_folder(args.out, 'ab')

    # Measuring.

    def run(self):
        self.stop.install()
        if self.sides[0].json() == self.sides[1].json():
            self.speak.say('A and B are the same: what differs is noise')
        self.ended = self._rounds()

    def _rounds(self):
        """Makes them. Why they have ended."""
        while len(self.order) < self.args.rounds_max:
            if self._late():
                return 'time'
            self._round()
            if self.stop.asked:
                return 'interrupted'
            self._ask(final=False)
            if self.verdict != UNDECIDED:
                return 'decided'
        return 'rounds'

    def _late(self):
        """Whether the time is over, or the next round would not end before it is."""
        spent = time.monotonic() - self.began
        return bool(self.order) and spent + self._round_s() >= 60 * self.args.minutes

    def _round_s(self):
        """What a round has taken, on average."""
        return math.fsum(s for side in self.sides for s in side.seconds) / len(self.order)

    def _round(self):
        number = len(self.order) + 1
        order = self.random.sample(self.sides, 2)
        found = {}
        for side in order:
            found[side.name] = self._one(side, number)
            if self.stop.asked:
                return
        if number == 1:
            self._meet(found)
        costs = {side.name: self._cost(side, number, found[side.name]) for side in self.sides}
        for side in self.sides:
            side.spoiling = [*results.spoiling(found[side.name], self._compared(side, found[side.name])),
                             *(self._elsewhere(side, found[side.name]) if '.read[].' in self.metric else ())]
        self.order.append(''.join(side.name for side in order))
        for side in self.sides:
            side.costs.append(costs[side.name])
            for code in side.spoiling:
                side.stamps[code] = side.stamps.get(code, 0) + 1
        a, b = (self._value(costs[side.name]) for side in self.sides)
        self.speak.say('round %d  A %s  B %s  B / A %s' % (number, self._shown(a), self._shown(b), text.ratio(b / a)))
        if number == 1:
            self._compare_notices()

    def _meet(self, found):
        """Only what both sides have counts: a mean over other writers is another thing. found: {side: result}"""
        a, b = (self.labels.setdefault(side.name, self._labels(side, found[side.name])) for side in self.sides)
        if a == b or len(a) == len(b) == 1:
            return
        self.common = a & b
        if not self.common:
            raise trouble.usage('A measures %s, B %s: they have nothing in common' % tuple(', '.join(sorted(s)) for s in (a, b)))
        for name, own in ('A', a - b), ('B', b - a):
            if own:
                self.alone.append('left out: %s of %s alone' % (', '.join(sorted(own)), name))

    def _elsewhere(self, side, result):
        """Stamps of readings that count, and did not find the dump where it was asked for."""
        labels = self.common or self.labels[side.name]
        return {s['code'] for run in results.items(result, 'runs') if results.word(run, 'driver') in labels
                for r in results.items(run, 'read') for s in results.stamps(r) if s['code'] in reading.MISSED}

    def _cost(self, side, number, result):
        """Of a run; Trouble where it has none, or not of the writers of the first round."""
        missing = (self.common or self.labels.get(side.name, set())) - self._labels(side, result)
        if missing:
            raise trouble.failed('%s, round %d: nothing of %s, which was there before' % (
                side.name, number, ', '.join(sorted(missing))))
        try:
            cost = cost_of(result, self.metric, self.better, side.computes, self.common)
        except ValueError as e:
            raise trouble.failed('%s, round %d: %s; the result is %s' % (
                side.name, number, e, shown(os.path.join(self.folder, side.name, 'r%02d' % number, 'result.json'))))
        if cost is None:
            raise trouble.usage('the result of %s has no %s%s' % (side.name, self.name, self._instead(result)))
        return cost

    def _compare_notices(self):
        """What a run of one side said, and that of the other did not, whatever numbers it has: above all that an option makes no difference."""
        for side, other in (self.sides, self.sides[::-1]):
            said = {NUMBER.sub('', n) for n in other.notices}
            self.alone += ['%s: %s' % (side.name, n.rstrip('.')) for n in side.notices if NUMBER.sub('', n) not in said]
        for words in self.alone:
            self.speak.say(words)

    def _value(self, cost):
        return 1 / cost if self.better == 'high' else cost

    def _shown(self, value):
        return text.duration(value) if summary.scale_of(self.metric)[1] == 's' else text.number(value, 4)

    def _one(self, side, number):
        """A run; its result, None where it was interrupted."""
        folder = os.path.join(self.folder, side.name, 'r%02d' % number)
        os.makedirs(folder)
        with scratch.folder(side.files or self.folder, secrets.token_hex(8)) as files:
            return self._measured(side, number, folder, files)

    def _measured(self, side, number, folder, files):
        path = os.path.join(folder, 'result.json')
        words = [side.program.path] + side.words + side.program.always + side.program.writes_to(files)
        words = side.launcher.command(self.ranks, self.args.threads, words + ['--json', path])
        environment = side.launcher.environment(self.ranks, self.args.threads, side.env)
        limit_s = plan.Estimate(max(side.seconds)).limit_s(0) if side.seconds else plan.unknown_limit_s(self.args.minutes)
        began = drive.begin()
        status, seconds, why = child.run(words, environment, folder, limit_s, self.stop,
                                         self._tick(side, number))
        if why == 'interrupted':
            self.speak.break_off()
            shutil.rmtree(folder)
            return None
        record = dict(drive.record(
            began, 'r%02d' % number, side.name, number, {'env.' + k: v for k, v in side.env.items()}, words,
            dict(launch.recorded(environment), **side.env), seconds, status),
            ok=not why and status in drive.FINISHED, trouble=why)
        write_json(os.path.join(folder, 'run.json'), record)
        if not record['ok']:
            if not self.order and not why and drive.refused(folder, side.program.path, status):
                raise trouble.usage('%s: %s' % (side.name, drive.last_words(folder)))
            if why:
                why += ' after %s%s' % (text.about(limit_s), '' if side.seconds else '; a larger --minutes allows more')
            raise trouble.failed('%s, round %d: %s; its output is in %s' % (
                side.name, number, why or 'exit status %d: %s' % (status, drive.last_words(folder)),
                shown(folder)))
        try:
            result = results.read_object(path)
        except trouble.Trouble as e:
            raise trouble.failed('%s, round %d: %s' % (side.name, number, e))  # what a run leaves is no usage
        self._cost(side, number, result)
        side.seconds.append(seconds)
        side.notices = results.words(result, 'notices')
        return result

    def _instead(self, result):
        """What a result has where it has no cost."""
        if self.metric == ZETA:
            return ': it needs --io none,WRITER'
        names = programs.names(result)
        more = ' and %d more' % (len(names) - NAMES_MAX) if len(names) > NAMES_MAX else ''
        return '%s; there are %s%s' % (nearest(self.metric, names), ', '.join(names[:NAMES_MAX]) or 'no numbers', more)

    def _labels(self, side, result):
        """Of its writers, or of computing where that is all."""
        found = set(programs.values(result, T_T if self.metric == ZETA else self.metric))
        return found - {side.computes} or found

    def _compared(self, side, result):
        """The labels whose runs the cost is of; None for all. A run that only computes, which nht1-bt adds on the side
        that has to measure T_C, is none of them, but of zeta."""
        found = set(programs.values(result, side.program.metric or self.metric))
        if self.metric == ZETA:
            return None if self.common is None else self.common | {side.computes}
        return None if found <= {side.computes} else self.common or found - {side.computes}

    def _tick(self, side, number):
        def tick(seconds):
            left = 60 * self.args.minutes - (time.monotonic() - self.began)
            needed = self._needed()
            said = 'round %d, %s: %s' % (number, side.name, text.about(seconds))
            if needed and self.order and needed * self._round_s() < left:
                said += '; perhaps %s more' % text.about(max(0, (needed - len(self.order)) * self._round_s()))
            self.speak.status('%s; at most %s left' % (said, text.about(max(0, left))))
        return tick

    # Judging.

    def judge(self):
        """What the rounds say, however they have ended."""
        if self.ended != 'decided' and self.sides[1].costs:
            self._ask(final=self.ended not in CUT_SHORT)
            if self.verdict != UNDECIDED and self.ended not in CUT_SHORT:
                self.ended = 'decided'

    def _ask(self, final):
        t = 1 + self.threshold
        request = {'what': 'sequential', 'error': self.args.error, 'rounds_max': self.args.rounds_max,
                   'questions': [{'a': self.sides[0].costs, 'b': self.sides[1].costs, 'symmetric': True,
                                  'bounds': [1 / t, 1, t] if t > 1 else [1]}]}
        before = self.look.get('looked_at')
        self.answer = stats.ask([dict(request, final=True) if final else request])[0]
        self.look = self.answer['questions'][0]
        if self.look['looked_at'] not in (None, before) and not final:
            self.speak.say('          %s' % self._interval())

    def _interval(self):
        if self.look.get('lo') is None:
            return 'no interval yet' if not self.look.get('drifting') else 'B / A drifts: no interval'
        return 'B / A = %s (%s to %s)' % tuple(map(text.ratio, self._ratios().values()))

    def _ratios(self):
        """B / A of the metric itself with its interval, as far as they are known."""
        ends = ('hi', 'lo') if self.better == 'high' else ('lo', 'hi')
        found = [self.look.get(key) for key in ('centre', *ends)]
        return dict(zip(('ratio', 'ratio_lo', 'ratio_hi'), (v if v is None else self._value(v) for v in found)))

    def _needed(self):
        """Rounds, all together, that would decide; None where that is not known."""
        bounds = self.look.get('bounds')
        return bounds[-1]['rounds_needed'] if bounds else None

    @property
    def verdict(self):
        """Not by the centre alone, where B / A lies far above it more often than chance puts it there than far below, and means are worse."""
        centre = self._of_centre()
        return UNDECIDED if centre not in (WORSE, UNDECIDED) and self._far() else centre

    def _far(self):
        return self.look['far_p'] is not None and self.look['far_p'] < self.args.error and \
            self.look['far_above_n'] > self.look['far_below_n'] and self.look['mean_ratio'] > 1 + self.threshold

    def _means(self):
        """What they say against the centre; '' for nothing."""
        centre, ratio = self._of_centre(), self.look.get('mean_ratio')
        if centre in (WORSE, UNDECIDED) or ratio is None:
            return ''
        means = 'harmonic means' if self.better == 'high' else 'means'  # the costs are inverses then
        if self._far():
            side, other = ('below', 'above') if self.better == 'high' else ('above', 'below')
            return 'in %d of %d rounds B / A lies more than 1.25 times %s its median, in %d %s it (%s B / A %s)' % (
                self.look['far_above_n'], self.look['looked_at'], side, self.look['far_below_n'], other, means, text.ratio(self._value(ratio)))
        t = 1 + self.threshold
        return '%s differ: B / A %s' % (means, text.ratio(self._value(ratio))) if ratio > t or centre == SAME and ratio < 1 / t else ''

    def _of_centre(self):
        bounds = self.look.get('bounds')
        if not bounds or bounds[-1]['verdict'] is None:
            return UNDECIDED
        if bounds[-1]['verdict'] == 'above':
            return WORSE
        if len(bounds) > 1 and bounds[0]['verdict'] == 'above':
            return SAME
        return BETTER if bounds[len(bounds) // 2]['verdict'] == 'at or below' else NO_WORSE

    # What came of it.

    @property
    def line(self):
        """One line, for a log."""
        percent, needed = 100 * self.threshold, self._needed()
        said = {WORSE: 'B is worse than A by more than %g %%', SAME: 'B is the same as A within %g %%',
                NO_WORSE: 'B is not worse than A by more than %g %%', BETTER: 'B is better than A',
                UNDECIDED: 'undecided whether B is worse than A by more than %g %%'}[self.verdict]
        said = said % percent if '%' in said else said
        looked_at = self.look.get('looked_at')
        said += ': %s of %s, %s%s, %s' % (
            self._interval(), self.name, text.plural(len(self.order), 'round'),
            '' if looked_at in (None, len(self.order)) else ', of which the first %d were judged' % looked_at,
            text.duration(time.monotonic() - self.began))
        if self.ended in CUT_SHORT:
            said = self.ended + '; ' + said
        elif self.verdict == UNDECIDED and needed and self.order:
            said += '; %d rounds, the most that can be judged, would not decide' % ROUNDS_MAX if needed > ROUNDS_MAX else \
                '; about %s would decide, %s' % (text.plural(int(needed), 'round'), text.about(needed * self._round_s()))
        told = list(filter(None, [self._means()]))
        told += [t for side in self.sides for t in side.told()] + self.alone
        return said + ('; ' + ', '.join(told) if told else '')

    def tell(self):
        self.speak.say('the runs are in %s' % shown(self.folder))
        print(text.clean(self.line, 2000), flush=True)

    @property
    def status(self):
        if self.ended in CUT_SHORT:
            return trouble.FAILED
        return STATUS.get(self.verdict, trouble.OK)

    def json(self):
        look = self.look
        return {'schema': SCHEMA, 'version': VERSION, 'host': socket.gethostname(),
                'started_utc': self.started_utc, 'ended_utc': utc(),
                'seconds': round(time.monotonic() - self.began, 3), 'ended': self.ended,
                'metric': self.metric, 'better': self.better, 'threshold': self.threshold,
                'error': self.args.error, 'ranks': self.ranks, 'threads': self.args.threads, 'seed': self.seed,
                'a': self.sides[0].json(), 'b': self.sides[1].json(), 'order': self.order,
                'rounds': len(self.order), 'rounds_needed': self._needed(),
                'looked_at': look.get('looked_at'), 'method': look.get('method'), **self._ratios(),
                'far_worse_n': look.get('far_above_n'), 'far_better_n': look.get('far_below_n'), 'far_p': look.get('far_p'),
                'mean_ratio': None if look.get('mean_ratio') is None else self._value(look['mean_ratio']),
                'drifting': look.get('drifting', False), 'conflict': look.get('conflict', False),
                'verdict': self.verdict, 'sentence': self.line}

    def junit(self):
        outcome = 'error' if self.ended in CUT_SHORT else {WORSE: 'failure', UNDECIDED: 'skipped'}.get(self.verdict, '')
        case = junit.case('nht1-study.ab', self.name, outcome, self.verdict, self.line, {
            **self._ratios(), 'threshold': self.threshold, 'rounds': len(self.order), 'verdict': self.verdict})
        return junit.suite('nht1-study ab', [case], self.line)


def main(argv):
    def act():
        args, said = _arguments(argv)
        stats.program()
        outputs = Outputs()
        for path, option, content in (
                (args.json, '--json', lambda: json.dumps(ab.json(), indent=1) + '\n'),
                (args.junit, '--junit', lambda: ab.junit())):
            if path is not None:
                outputs.add(path, content, option)
        outputs.check()
        before = whole.before(args.out)
        ab = Alternation(args, said)
        with whole.taken_back(ab.folder, before, lambda: any(side.seconds for side in ab.sides)):
            whole.concluded(
                ab.run, lambda: ab.order, ab.judge, lambda: write_json(os.path.join(ab.folder, 'ab.json'), ab.json()),
                outputs.write, ab.tell)
        return ab.status
    return command.run(tools.called('runs/study ab'), act)
