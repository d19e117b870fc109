# SPDX-License-Identifier: GPL-3.0-or-later
"""Which point is run next, and when it is enough. Rounds: in each, every point that still needs a
run gets one, in an order that is random but follows from the seed; so a drift of the system falls
on all points alike, and an interrupted study goes on as if it had not been interrupted."""
import itertools
import os
import random
import re
import socket
import sys

from .. import command, results, stats, trouble
from . import child, programs, question, summary
from .description import STUDY_KEYS
from .folder import shown, utc, write_json
from .launch import recorded

FAILURES_MAX = 2       # of a point, then it is left alone
FINISHED = (0, 4)      # exit statuses of a program that leave a result
AUTO = 'auto'          # repeats: until it is decided


def begin():
    """What is known of a run before it: for record()."""
    return {'started_utc': utc(), 'load_before': os.getloadavg()[0]}


def record(began, name, point, number, settings, command, environment, seconds, status):
    """run.json of a run that has ended, but for whether it is good."""
    return {'schema': 'nht1-study-run/1', 'name': name, 'point': point, 'run': number, 'settings': settings,
            'cwd': os.getcwd(), 'command': command, 'environment': environment, 'host': socket.gethostname(),
            **began, 'ended_utc': utc(), 'wall_s': round(seconds, 6), 'status': status}


class Settings:
    """What [study] and the command line say about the whole."""

    def __init__(self, description, minutes=None):
        self.repeats = description.study['repeats']
        precision = description.value('precision')
        self.precision = float(precision.rstrip('% ')) / (100 if '%' in precision else 1)
        self.level = float(description.value('level'))
        self.minutes = float(description.value('minutes')) if minutes is None else minutes
        self.timeout_s = float(description.value('timeout_s'))
        self.show = description.value('output') == 'show'
        self.shuffled = description.value('order') == 'random'
        if not command.LEVELS[0] <= self.level <= command.LEVELS[1]:
            raise description.study['level'].place.wrong('a number from %g to %g is expected' % command.LEVELS)

    def repeats_of(self, point):
        """(fewest, most) runs of a point. fewest: AUTO: until it is decided what its runs were made for."""
        entry = point.entries.get('repeats', self.repeats)
        low, _, high = entry.text.partition('..')
        fits = re.fullmatch(STUDY_KEYS['repeats'][1], entry.text, re.ASCII)
        if fits and low == AUTO:
            most = int(high or question.ROUNDS_MAX)
            if question.ROUNDS_LEAST <= most <= stats.ROUNDS_MAX:
                return AUTO, most
        elif fits and int(high or low) >= int(low):
            return int(low), int(high or low)
        raise entry.place.wrong("'%s' is not understood: auto, auto..MOST with %d to %d rounds at most, or "
                                'FEWEST..MOST, such as 3..10' % (entry.text, question.ROUNDS_LEAST,
                                                                 stats.ROUNDS_MAX))


def metric_of(point, program):
    """The headline of a point's results."""
    metric = point.value('metric') or program.metric
    if metric is None:
        raise point.place('program').wrong(
            'the driver does not know %s: name the member of its result that counts, such as '
            'metric = runs[].t_t_s' % program.name)
    return metric


class Tally:
    """The runs of a point so far. partners: those that have its settings and write, where it computes only; beside: the
    other way round; compared: it and all that stand beside it in a round, such as other writers with its settings. question: what its runs are to decide, None where a number of runs was given, or nothing is compared
    with computing alone; a point that computes only is run as often as its partners then."""

    def __init__(self, point, program, settings):
        self.point, self.program = point, program
        self.partners, self.beside, self.compared, self.question = [], [], [self], None
        self.low, self.high = settings.repeats_of(point)
        self.metric = metric_of(point, program)
        self.better = point.value('better') or program.better_of(self.metric)
        if self.better not in ('low', 'high'):
            raise point.place('better').wrong("'%s' is not understood: low or high" % self.better)
        self.auto = self.low == AUTO
        self.precision, self.level = settings.precision, settings.level
        self.runs = {}  # number -> (record, {label: [numbers]})

    def name(self, number):
        return '%s-r%02d' % (self.point.id, number)

    def take(self, number, record, result):
        found = programs.values(result, self.metric) if result else {}
        self.runs[number] = (record, found)

    def failed(self, below):
        return sum(1 for n, (record, _) in self.runs.items() if n < below and not record['ok'])

    def lost(self, below=sys.maxsize):
        """How many rounds do not count, since its run failed, or one that it is compared with; one that never succeeded, or
        is given up, is not waited for."""
        of = [t for t in self.compared if t.succeeded() and t.failed(below) < FAILURES_MAX]
        return len({n for t in of for n, (record, _) in t.runs.items() if n < below and not record['ok']})

    def last(self):
        """The number of the last run that it may have: one more for each round that was lost, where not all were."""
        return self.high + self.lost() if self.succeeded() else self.high

    def succeeded(self):
        return sum(record['ok'] for record, _ in self.runs.values())

    def series(self, below=sys.maxsize):
        """{label: [(number, value)]} of the runs before number below, in their order; a run may have several values."""
        found = {}
        for number in sorted(n for n in self.runs if n < below):
            if self.runs[number][0]['ok']:
                for label, values in self.runs[number][1].items():
                    found.setdefault(label, []).extend((number, value) for value in values)
        return found

    def computes_beside(self, label):
        """Whether a series is that of runs without writing, and the point asked for others."""
        name, value = self.program.alone or ('', None)
        return label == value and not any(k == name and value in values.split(',')
                                          for k, values in self.point.options)

    def narrow(self, below=sys.maxsize):
        """Whether every interval is narrow enough. What a program computes beside what the point
        asked for, it may not do in every run: T_C, where none was known. Few runs of several values have
        an interval by Student's t, which is narrow by chance too often to stop by it."""
        series = [of for label, of in self.series(below).items() if not self.computes_beside(label)]
        if any(len({n for n, _ in of}) < min(len(of), question.ROUNDS_LEAST) for of in series):
            return False
        widths = [summary.half_width(summary.interval(of, self.level)) for of in series]
        return bool(widths) and all(w is not None and w <= self.precision for w in widths)

    def ended_narrow(self):
        """Whether it has fewer runs than it might have since its interval looked narrow enough. That of a point which is
        stopped so is right less often than its level says."""
        return self.state() == 'narrow' and not self.question and len(self.runs) < self.high and \
            not self.wants(max(self.runs) + 1)

    def able(self, number):
        """Whether run `number` may be made."""
        return number <= self.last() and self.failed(number) < FAILURES_MAX

    def wants(self, number):
        """Whether run `number` is to be made. It depends on the runs before it alone."""
        if not self.able(number):
            return False
        if self.question:
            return self.question.open(number) or self._missing(number) > 0
        if self.auto and self.partners:
            return False
        rounds = number - 1 - self.lost(number)
        return rounds < self.low or rounds < self.high and not self.narrow(number)

    def _missing(self, number):
        """How many rounds it has less than settled it, as others that it is compared with have lost some."""
        return self.question.look(number) - (number - 1 - self.lost(number))

    def due(self):
        """(fewest, most) runs that are still to be made."""
        done, after = len(self.runs), max(self.runs, default=0) + 1
        if not self.wants(after):
            return 0, 0
        if self.question and not self.question.open(after):
            return [self._missing(after)] * 2
        if self.question:
            pairs, most = len(self.question.pairs()), max(1, self.last() - done)
            return min(most, max(1, self.question.next_look(pairs) - pairs)), most
        return max(0, self.low + self.lost(after) - done), max(1, self.last() - done)

    def state(self):
        if not self.succeeded():
            return 'failed' if self.runs else 'not run'
        if self.question and self.question.answers():
            return 'decided' if self.question.look(sys.maxsize) else 'undecided'
        if self.auto and self.partners:
            return 'too few runs' if any(t.wants(max(t.runs, default=0) + 1) for t in self.partners) else 'enough runs'
        if self.low < self.high and self.narrow():
            return 'narrow'
        return 'enough runs' if self.succeeded() >= self.low else 'too few runs'

    def seconds(self, estimate):
        """What the next run is expected to take."""
        known = [record['wall_s'] for record, _ in self.runs.values() if record['ok']]
        return sum(known) / len(known) if known else estimate.seconds


def _computes_for(tally, other):
    """Whether a point computes only and another one, that writes, has all of its other settings."""
    alone, a, b = tally.program.alone, tally.point, other.point
    return alone in a.options and alone not in b.options and \
        (a.program, a.ranks, a.threads) == (b.program, b.ranks, b.threads) and \
        a.env in ({}, b.env) and set(a.options) - {alone} <= set(b.options)


def _writes_as(tally, other):
    """Whether two points differ in what writes alone."""
    alone, a, b = tally.program.alone, tally.point, other.point
    return alone is not None and (a.program, a.ranks, a.threads, a.env) == (b.program, b.ranks, b.threads, b.env) and \
        {name for name, _ in set(a.options) ^ set(b.options)} == {alone[0]}


def tallies_of(points, found, settings):
    """Of all points, each with those that are compared with it, and with its fewest and most runs."""
    tallies = [Tally(p, found[p.id], settings) for p in points]
    for tally in tallies:
        tally.partners = [other for other in tallies if _computes_for(tally, other)]
        for other in tally.partners:
            other.beside.append(tally)
    for tally in tallies:
        tally.compared += tally.beside + tally.partners + [
            t for t in tallies if t not in tally.beside + tally.partners and _writes_as(tally, t)]
    for tally in (t for t in tallies if t.auto and not t.partners):
        if tally.beside:
            tally.low = stats.looks(settings.level, [{'rounds_max': tally.high}])[0]
        else:
            tally.low, tally.high = question.FALLBACK[0], min(question.FALLBACK[1], tally.high)
    for tally in (t for t in tallies if t.auto and t.partners):
        tally.low = min(tally.high, max(t.low for t in tally.partners))
    return tallies


class Driver:
    """files: where the programs write, '' for the folder of the study."""

    def __init__(self, tallies, launcher, settings, folder, estimates, files, speak):
        self.launcher, self.settings, self.folder = launcher, settings, folder
        self.estimates, self.files, self.speak, self.stop = estimates, files, speak, child.Stop()
        self.tallies, self.why, self.failure = tallies, None, None  # failure: of the driver itself, behind runs that count
        records = self.folder.results()  # of earlier sessions
        for tally in tallies:
            for number in itertools.takewhile(lambda n: n <= tally.high or tally.name(n) in records, itertools.count(1)):
                if tally.name(number) in records:
                    self._take(tally, number, records[tally.name(number)])
        for tally in tallies:  # what was measured counts, also where fewer runs are asked for now
            tally.high = max(tally.high, max(tally.runs, default=0) - tally.lost())
        for tally in (t for t in tallies if t.auto and t.beside):
            made_for = (results.integer(records.get(tally.name(n)), 'rounds_max') for n in tally.runs)
            most = min(stats.ROUNDS_MAX, max([tally.high, *made_for]))  # by the plan of the first, as the report judges
            tally.question = question.Question(tally, tally.beside, folder, most, settings.level)
        self.spent_s = sum(record['wall_s'] for record in records.values())
        self.told = {t.point.id for t in self.tallies if t.question and t.question.look(sys.maxsize)}

    def order(self, number):
        """The points of a round, the same in every session."""
        order = list(self.tallies)
        if self.settings.shuffled:
            random.Random(self.folder.record['seed'] * 1000003 + number).shuffle(order)
        return order

    def _due(self):
        """What is to be run next, one after the other."""
        for number in itertools.takewhile(lambda n: n <= max(t.last() for t in self.tallies), itertools.count(1)):
            for tally in self.order(number):
                if number not in tally.runs and self._wanted(tally, number):
                    yield tally, number

    def _wanted(self, tally, number):
        """A point that computes only also has a run in each round in which one that is compared
        with it has one."""
        return tally.wants(number) or tally.able(number) and any(
            t.wants(number) for t in tally.partners)

    def _due_of(self, tally):
        """(fewest, most) runs of a point that are still to be made; its partners may want more."""
        done = max(tally.runs, default=0)
        if not tally.able(done + 1):
            return 0, 0
        ends = [[max(t.runs, default=0) + n for n in t.due()]
                for t in [tally] + tally.partners]
        return [max(0, min(tally.last(), max(end)) - done) for end in zip(*ends)]

    def _left(self):
        """(fewest, most) runs that are still to be made, and the seconds that these take, None when
        nothing is known of them. The time of the study bounds the most."""
        runs, seconds, known = [0, 0], [0.0, 0.0], False
        for tally in self.tallies:
            due, each = self._due_of(tally), tally.seconds(self.estimates[tally.point.id])
            runs = [n + more for n, more in zip(runs, due)]
            if each is not None:
                known, seconds = True, [s + each * more for s, more in zip(seconds, due)]
        if known and self.settings.minutes and seconds[1]:
            bound = max(seconds[0], min(seconds[1], self.settings.minutes * 60 - self.spent_s))
            runs[1] = max(runs[0], int(runs[1] * bound / seconds[1]))
            seconds[1] = bound
        return runs, seconds if known else None

    def given_up(self):
        """The points that have failed too often to be tried again, in this session or another."""
        return [t for t in self.tallies if t.failed(sys.maxsize) >= FAILURES_MAX]

    def progress(self):
        """(runs that were made, fewest and most that are still to be made)"""
        return (sum(len(t.runs) for t in self.tallies), *self._left()[0])

    def left_s(self):
        """Seconds that the runs still take, (at least, at most); None when nothing is known."""
        return self._left()[1]

    def _late(self, tally):
        """Whether the time of the study does not suffice for another run of a point."""
        if not self.settings.minutes:
            return False
        seconds = tally.seconds(self.estimates[tally.point.id]) or 0
        return self.spent_s + seconds > self.settings.minutes * 60

    def run(self):
        """Makes the runs. Returns the exit status."""
        self.stop.install()
        for tally, number in self._due():
            if self.stop.asked:
                self.why = 'interrupted'
                break
            if self._late(tally):
                self.why = 'time'
                continue
            try:
                self._one(tally, number)
            except OSError as e:
                if not any(t.runs for t in self.tallies):
                    raise
                self.why, self.failure = 'failed', e
                return self.status()
            self._tell()
        if self.stop.asked:
            self.why = 'interrupted'
        return self.status()

    def _tell(self):
        """Says which points need no more runs, since their question is settled."""
        for tally in (t for t in self.tallies if t.question and t.point.id not in self.told):
            if tally.question.look(sys.maxsize):
                self.told.add(tally.point.id)
                self.speak.settled(tally)

    def status(self):
        """0; 3 interrupted or a run failed; 2 a wrong result; 5 no time for every point."""
        statuses = [r['status'] for t in self.tallies for r, _ in t.runs.values() if not r['ok']]
        if self.why in ('interrupted', 'failed'):
            return trouble.FAILED
        if statuses:
            return trouble.WRONG if trouble.WRONG in statuses else trouble.FAILED
        return trouble.TIMED_OUT if any(t.state() in ('not run', 'too few runs') for t in self.tallies) else 0

    def _command(self, tally, target, dumps):
        words = [tally.program.path] + tally.program.arguments(tally.point) + tally.program.always
        words += tally.program.writes_to(shown(dumps))
        return self.launcher.command(tally.point.ranks, tally.point.threads,
                                     words + ['--json', shown(os.path.join(target, 'result.json'))])

    def _one(self, tally, number):
        """One run, from an empty folder to a complete one."""
        point, name = tally.point, tally.name(number)
        part = self.folder.begin(name)
        environment = self.launcher.environment(point.ranks, point.threads, point.env)
        began = begin()
        self.speak.begin(tally, number, self)
        with self.folder.dumps(self.files) as dumps:
            command = self._command(tally, part, dumps)
            status, seconds, why = child.run(
                command, environment, part, self.estimates[point.id].limit_s(self.settings.timeout_s),
                self.stop, self.speak.tick(part, self, lambda said: said.replace(shown(dumps), shown(self.files or dumps))))
        if self.settings.show:  # the commands that the program shows lead to a folder that stays
            self.speak.pass_on(part, ended=True)
            if not self.files:
                os.makedirs(dumps, exist_ok=True)
        self.spent_s += seconds
        if why == 'interrupted':
            self.speak.break_off()
            self.folder.set_aside(name + '.part')
            return
        final = self.folder.file('runs', name)
        made = record(began, name, point.id, number, point.settings,
                      [w.replace(shown(part), shown(final)) for w in command],
                      dict(recorded(environment), **point.env), seconds, status)
        if tally.question:
            made['rounds_max'] = tally.question.most
        elif not tally.auto:
            made['rounds_given'] = tally.high
        self._judge(tally, made, part, why)
        write_json(os.path.join(part, 'run.json'), made)
        self.folder.complete(name)
        self._take(tally, number, made)
        self.speak.end(tally, number, made, self)

    def _take(self, tally, number, record):
        """Of a run without success, whatever it has left does not count."""
        tally.take(number, record,
                   self.folder.result(tally.name(number)) if record['ok'] else None)

    def _judge(self, tally, record, part, why):
        """Whether there is a result; what is wrong, in words, if not."""
        path, result, wrong = os.path.join(part, 'result.json'), None, 'no result was written'
        if os.path.exists(path):
            try:
                result = results.read_object(path)
            except trouble.Trouble as e:
                wrong = str(e)
        record['ok'], record['trouble'] = False, None
        if why:
            record['trouble'] = why
        elif record['status'] not in FINISHED:
            record['trouble'] = 'exit status %d: %s' % (record['status'], last_words(part))
        elif result is None:
            record['trouble'] = wrong
        elif not programs.values(result, tally.metric):
            record['trouble'] = 'the result has no %s' % tally.metric
        else:
            record['ok'] = True


def refused(part, program, status):
    """Whether a program, and no launcher or interpreter of that status, has said that it was used wrongly. program: its path."""
    return refusal(last_words(part), program, status)


def refusal(words, program, status):
    """The same of last words."""
    return status == trouble.USAGE and words.startswith(os.path.basename(program) + ': ')


def last_words(part):
    """Those of the program that ran in a folder."""
    try:
        with open(os.path.join(part, 'stderr'), encoding='utf-8', errors='replace') as f:
            return child.last_words_of(f.read())
    except OSError:
        return child.last_words_of('')
