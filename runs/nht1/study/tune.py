# SPDX-License-Identifier: GPL-3.0-or-later
"""runs/study tune: the best way to write on this system. nht1-bt --io auto searches, inside one job, among
the writers and their settings. A job is bound to one MPI-IO component of its library, so each component
has a search of its own: the first is of all writers, the others are of those that a component makes a
difference to. Then the winners run against each other. Every step is a study in a folder below that of
the whole, with a description that can be read and run again:

    probe/             what nht1-bt --probe said about the file system
    ompio/ romio321/   the searches (search/ where there is nothing to choose)
    final/             the winners in random order, round by round
    exhaustive/        --exhaustive: every candidate, again and again; check/: its best against the search's
    tune.json .txt     what came of it (docs/schema/nht1-tune-1.json)
    report.html"""
import argparse
import os
import re
import shlex
import socket
import time
from types import SimpleNamespace

from .. import VERSION, command, stats, text, tools, trouble
from ..results import at, integer, items, members, real, true, word, words
from ..search import COMPONENT, command_of
from . import child, drive, launch, plan, probe, programs, whole
from . import description as ini
from .folder import read_json, shown, utc, write_json, write_text
from .tune_choice import ERROR, Choice, Ratio
from .tune_ways import THROUGH_MPIIO, Way, components, plain, settings_of
from .tune_words import best_of, verdict

SCHEMA = 'nht1-tune/1'
FINAL_SHARE = 0.35    # of the minutes, for the comparison at the end where there is one
START_S, BESIDE = 2.0, 0.4  # of a run besides T_T: launching; warming up and verifying over T_T
FIRST = 2             # shares of the minutes that the first search has, of more candidates
PROBE_S = 1200        # of the probe, which ends by itself: each of its checks has a limit
CHECK_MINUTES = 1e4
# Options of nht1-bt that a search gives itself.
OURS = ('io', 'json', 'out', 'progress', 'repeat', 'restart', 'dry-run', 'keep', 'read', 'nodes',
        'minutes', 'known', 'probe', 'probe-limit', 'help', 'version')
EPILOG = """
examples:
  runs/study tune                               class A on all cores, five minutes
  runs/study tune --minutes 20 --class B        the official size
  runs/study tune --files /scratch/me           on the file system that matters
  runs/study tune --ranks 64 --threads 2 --sync dump
  runs/study tune --exhaustive 60               how good the search is: an hour more

All other options are those of nht1-bt and say what is computed and how durable the data have to be:
--class, --n, --steps, --interval, --sync, --layout, --decomp. What is found holds for these, for this
file system and for as many ranks. Under a batch system start it inside a job.

First nht1-bt --probe finds out what works on the file system, unless that is known. Then each MPI-IO
component of the library has a search of its own (nht1-bt --io auto), and the winners run against each
other, in random order. At the end stands the best setting as a command line, what it is compared
with, and the hints for other programs.
Exit status: 0 success, 1 wrong usage, 3 no search found anything; or interrupted, or a step behind a
search failed: the best so far is printed.
docs/studies.md has more about it.
"""


# Folders of the result beside those that are called by the component they search with.
FOLDERS = ('search', 'final', 'exhaustive', 'check', 'probe')


def component_names(listed):
    """A type for add_argument: names of components, which become words of descriptions and names of folders."""
    names = listed.split(',')
    for i, name in enumerate(names):
        if not re.fullmatch('[A-Za-z0-9_][A-Za-z0-9_-]{0,62}', name) or name in FOLDERS:
            raise argparse.ArgumentTypeError('%r is no name of a component' % name[:100])
        if name in names[:i]:
            raise argparse.ArgumentTypeError('%s is named twice' % name)
    return names


def _arguments(argv):
    """(options, words for nht1-bt)"""
    parser = command.Parser(prog=tools.called('runs/study tune'), epilog=tools.called(EPILOG), allow_abbrev=False, description=(
        'Finds the best way to write on this system: writer, settings, MPI-IO component.'))
    add = parser.add_argument
    add('--minutes', type=command.number(0.1, command.MINUTES_MAX), metavar='M', default=5,
        help='time for searches and comparison together, default %(default)s')
    add('--rounds', type=command.number(1, 500, int), metavar='R', default=12,
        help='rounds of the comparison, default %(default)s; below 7 there is no interval')
    probe.add_shape(add)
    add('--components', type=component_names, metavar='NAME,NAME', help='MPI-IO components to search with; default: those of '
                                                  'the library (Open MPI), or $OMPI_MCA_io')
    add('--files', metavar='DIR', help='write the files that are measured there, on the file system in '
                                       'question; default: in the folder of the result')
    add('--out', metavar='DIR', help='folder of the result; default: a new one, tune, tune-2, ..., '
                                     'under --under')
    add('--under', metavar='DIR', help='where that folder is made; default: nht1-studies in the current '
                                       'folder, inside of the sources runs/out')
    add('--exhaustive', type=command.number(0.1, command.MINUTES_MAX), metavar='M',
        help='then run every candidate of the search at full length, in rounds, for M minutes, and '
             "compare the search's choice with the best of them")
    add('--against', metavar='DIR', help='compare the choice with the best of an earlier --exhaustive: '
                                         'the folder of that result')
    parser.not_with('out', 'under')
    parser.not_with('exhaustive', 'against')
    whole.add_launcher(add)
    add('--no-report', action='store_true', help='make no report at the end')
    add('--quiet', action='store_true', help='print what was found and errors only')
    add('--version', action='version', version=tools.called('runs/study ') + VERSION)
    return parser.parse_known_args(argv)


class Tuner:
    """All steps, in their order; what each of them found is kept in .found, which is tune.json."""

    def __init__(self, args, options):
        self.args, self.began = args, time.monotonic()
        self.program = programs.Finder()('nht1-bt', SimpleNamespace(wrong=trouble.usage))
        settings = settings_of(options, self.program, OURS)
        system = launch.system()
        self.cores = args.cores or system['cores']
        self.launcher = whole.launcher(args, system)
        ranks, threads = probe.shape(args, self.cores, self.launcher)
        self.timeout_s = '%d' % plan.unknown_limit_s(max(args.minutes, args.exhaustive or 0))  # of a run behind the searches
        self.common = {'program': 'nht1-bt', 'ranks': str(ranks), 'threads': str(threads),
                       **settings}
        if args.files and not os.path.isdir(args.files):
            raise trouble.usage('%s: no such folder for the files (--files)' % args.files)
        self.reference = self.earlier(args.against) if args.against else None
        self.folder, self.stopped = shown(whole.new_folder(args.out, 'tune', args.under)), False
        self.component = ''  # the one in force
        self.failure = None
        self.winners = []  # [(Way, search)] of the searches that found something
        self.found = {'schema': SCHEMA, 'version': VERSION, 'host': socket.gethostname(),
                      'started_utc': utc(), 'ended_utc': None, 'ended': None, 'minutes': args.minutes,
                      'seconds': None, 'settings': self.common, 'searches': [], 'final': None,
                      'verdict': None, 'answer': None, 'best': None, 'check': None}

    def left_s(self):
        return self.args.minutes * 60 - (time.monotonic() - self.began)

    def say(self, words=''):
        if not self.args.quiet:
            print(words, flush=True)

    # --- steps ------------------------------------------------------------------------------------

    def _study(self, name, study, common, sections):
        """Makes a study in a folder of that name. sections: [(name, settings)]. Returns its driver."""
        def line(key, value):
            return '%s = %s' % (key, '"%s"' % value if ' ' in value and key in self.program.options
                                else value)
        parts = [('study', dict(study)), ('common', common)] + [
            ('run ' + n.replace(']', ')'), s) for n, s in sections]
        written = '\n\n'.join('\n'.join(['[%s]' % heading] + [
            '%s = %s' % kv if heading == 'study' else line(*kv) for kv in settings.items()])
            for heading, settings in parts) + '\n'
        path = os.path.join(self.folder, name)
        _, driver = whole.run(SimpleNamespace(
            set=[], cores=self.args.cores, dry_run=False, minutes=None, files=self.args.files, out=path,
            under=None, new=False, no_plan=True, leave_out=False, no_report=True, quiet=self.args.quiet,
            launcher=self.args.launcher, launcher_flags=self.args.launcher_flags), name,
            ini.read(shown(path) + '/study.ini', written), brief=True)
        self.failure = self.failure or driver.failure
        self.stopped = self.stopped or bool(driver.stop.asked or driver.failure)
        return driver

    def probe(self):
        """Finds out what hangs, crashes or fails here, where that is not known: searches leave it out."""
        place, stop = self.args.files or self.folder, child.Stop()
        folder = os.path.join(self.folder, 'probe')
        os.mkdir(folder)
        stop.install()
        self.say('Probe: what works where %s is; some seconds, unless that is known' % shown(place))
        words = [self.program.path, '--probe', '--known', '--progress', 'never', '--out',
                 os.path.join(place, 'btout.bin')]
        if 'tc-store' in self.common:
            words += ['--tc-store', self.common['tc-store']]
        status, _, why = child.run(self.launcher.command(1, 1, words), self.launcher.environment(1, 1, {}),
                                   folder, PROBE_S, stop, lambda seconds: None)
        self.stopped = why == 'interrupted'
        if status and not self.stopped:
            said = drive.last_words(folder)
            raise trouble.failed('the probe: %s' % (
                why or (said if said.startswith('nht1-') else 'exit status %d: %s' % (status, said))))

    def _components(self):
        """Names of those to search with. First comes the one in force where none is asked for, Open MPI's
        OMPIO, on Lustre ROMIO: its search, of all writers, leaves the choice of nht1-bt --io auto."""
        names = self.args.components or components(self.launcher)
        _, fs, _ = child.ask(['stat', '-f', '-c', '%T', self.args.files or self.folder], launch.ASK_S)
        return sorted(names, key=lambda name: ('romio' in name) != (fs.strip() == 'lustre'))

    def _through_mpiio(self):
        """The writers that a component makes a difference to, as far as searches so far have met them."""
        met = [c for _, search in self._searches() for c in items(search, 'candidates') + items(search, 'left_out')]
        return list(dict.fromkeys(w for w in (word(c, 'writer') for c in met) if w.startswith(THROUGH_MPIIO)))

    def _searches(self):
        """[(component, search)] of those that left a result."""
        return [(s['component'] or '', members(read_json(os.path.join(self.folder, s['result'])), 'search'))
                for s in self.found['searches'] if s['result']]

    def search(self):
        """A search with each component."""
        names = self._components()
        self.component = names[0]
        share = 1 if len(names) < 2 else 1 - FINAL_SHARE
        for number, component in enumerate(names):
            among = self._through_mpiio()
            shares = len(names) - number + (0 if number else FIRST - 1)
            minutes = max(0.1, (self.left_s() / 60 - (1 - share) * self.args.minutes) / shares *
                          (1 if number else FIRST))
            self.say('Search%s: %s' % (
                ' %d of %d, MPI-IO component %s' % (number + 1, len(names), component)
                if len(names) > 1 else '', text.about(60 * minutes)))
            driver = self._study(component or 'search', {
                'title': 'the best way to write' + (', by ' + component if component else ''),
                'repeats': '1', 'output': 'show', 'timeout_s': '%d' % (120 * minutes + 120)},
                self.common, [('search', dict(
                    {'env.' + COMPONENT: component} if component else {},
                    io='auto:' + ','.join(among) if among else 'auto', minutes='%.2f' % minutes,
                    metric='search.best.t_t_s'))])
            self.say()
            self.winners += self._searched(component, driver)
            if self.stopped:
                break

    def _searched(self, component, driver):
        """Enters a search; [(Way, search)], or [] where it found nothing."""
        record, _ = driver.tallies[0].runs.get(1, ({}, None))
        places = [('runs', 'p01-r01'), ('interrupted', 'p01-r01-1')]
        root, place = next(((r, p) for r, p in ((read_json(driver.folder.file(*p, 'result.json')), p)
                                                for p in places) if r), (None, None))
        search, best = members(root, 'search'), members(root, 'search.best')
        folder = driver.folder.file('runs', 'p01-r01')
        if not self.found['searches'] and drive.refused(folder, 'nht1-bt', record.get('status')):
            raise trouble.usage(drive.last_words(folder))
        why = record.get('trouble') or (None if best else 'interrupted' if self.stopped else
                                        'the result has no search that found anything')
        self.found['searches'].append({
            'component': component or None, 'trouble': why,
            'result': place and os.path.join(component or 'search', *place, 'result.json'),
            'ended': word(search, 'ended') or None, 'seconds': search.get('seconds'),
            'candidates_n': len(items(search, 'candidates')), 'best': word(best, 'label') or None})
        if not word(best, 'label'):
            return []
        return [(self.way(component, search, best), search)]

    def way(self, component, search, candidate):
        """The Way of a candidate, or of the best one, which names its candidate by id or label alone."""
        label = word(candidate, 'label')
        row = candidate if 'options' in candidate else next(
            (c for c in items(search, 'candidates') if c.get('id') == candidate.get('id')), {})
        options = words(row, 'options') or shlex.split(label)[1:]
        return Way(component, label, settings_of(options, self.program, whose=label + ': '))

    def final(self):
        """The winners and plain writing against each other. Returns the way to take; enters verdict and
        answer. A single search has had its last rung for that."""
        winners = self.winners
        if len(self.found['searches']) == 1:
            way, search = winners[0]
            self.found.update(verdict=word(search, 'best.verdict') or 'undecided',
                              answer=word(search, 'best.answer') or '%s was found.' % way.label)
            return way
        ways = [plain()] + [way for way, _ in winners if way.key != plain().key]
        times = [{}]
        choice = Choice(times, [0])
        if not self.stopped and len(ways) > 1:
            steps = self._steps(winners)
            self.say('Comparison: %s' % ' against '.join(w.name for w in ways))
            times, failed, disturbed = self._measure('final', ways, max(0.5, self.left_s() / 60), steps)
            choice = Choice(times, [way.cost(self.component) for way in ways], disturbed)
            self.found['final'] = {
                'rounds': max([n for t in times for n in t], default=0), 'steps': steps,
                'disturbed_runs': disturbed,
                'ways': _rows(ways, times, failed, choice.number or 0)}
            self.say()
        elif not self.stopped:  # each search came back to plain writing; that it is settled takes all of them
            search = next((s for _, s in winners if word(s, 'best.verdict') != 'no winner'), winners[0][1])
            self.found.update(verdict=word(search, 'best.verdict') or 'undecided', answer=word(search, 'best.answer'))
            return ways[0]
        self.found.update(verdict=choice.verdict, answer=choice.answer(
            [way.name for way in ways], self._minutes_for(choice, times))
                          if self.found['final'] else 'Not decided: %s will do until it is.' % ways[0].name)
        return ways[choice.number or 0]

    def _minutes_for(self, choice, times):
        """--minutes by which the comparison, with runs as long as now, has time for the rounds that are needed."""
        if choice.needed is None:
            return None
        final_s = choice.needed * ((1 + BESIDE) * choice.round_s(times) + START_S * len(times))
        return max(self.args.minutes, final_s / 60 / FINAL_SHARE)

    def _steps(self, winners):
        """Steps of the comparison's runs, None for all: so many that its rounds fit into the time left."""
        problem = members(self._any_result(), 'problem')
        total, interval = integer(problem, 'steps'), integer(problem, 'interval')
        if total < 1 or interval < 1 or 'steps' in self.common:
            return None
        # A whole run of each, by the runs of its search, which may be shorter.
        round_s = sum(t * total / (integer(search, 'best.steps') or total) for t, search in (
            (real(search, 'best.t_t_s'), search) for _, search in winners) if t == t)
        round_s *= (len(winners) + 1) / len(winners)  # and of plain writing
        starts_s = START_S * (len(winners) + 1) * self.args.rounds
        share = (self.left_s() - starts_s) / max(1e-9, (1 + BESIDE) * round_s * self.args.rounds)
        if share > 0.95:
            return None
        return max(2, int(share * total / interval)) * interval

    def _any_result(self):
        """Of a search: all have the same problem."""
        return next((read_json(os.path.join(self.folder, s['result'])) or {}
                     for s in self.found['searches'] if s['result']), {})

    def _measure(self, folder, ways, minutes, steps=None):
        """Runs ways against each other. Returns, of each, {round: T_T} and the messages of runs that failed; and in
        how many of the runs other programs took processors."""
        driver = self._study(folder, {
            'title': 'ways to write against each other', 'repeats': str(self.args.rounds),
            'minutes': '%.2f' % minutes, 'timeout_s': self.timeout_s},
            dict(self.common, **({'steps': str(steps)} if steps else {})),
            [(way.name, way.settings()) for way in ways])
        times = [{n: found[way.writer][0] for n, (record, found) in tally.runs.items()
                  if record['ok'] and found.get(way.writer)} for way, tally in zip(ways, driver.tallies)]
        disturbed = sum(any(true(r, 'disturbance.disturbed') for r in items(driver.folder.result(tally.name(n)), 'runs'))
                        for tally, mine in zip(driver.tallies, times) for n in mine)
        return times, [[r['trouble'] for r, _ in tally.runs.values() if not r['ok']] for tally in driver.tallies], disturbed

    def _newest(self, chosen):
        """{t_t_s, steps, dumps, rounds} of the comparison, where the choice took part."""
        row = next((w for w in at(self.found, 'final.ways') or []
                    if w['name'] == chosen.name and w['median_s']), None)
        if not row:
            return {}
        problem = members(self._any_result(), 'problem')
        steps = at(self.found, 'final.steps') or integer(problem, 'steps')
        return {'t_t_s': row['median_s'], 'steps': steps, 'rounds': row['runs'],
                'dumps': steps // max(1, integer(problem, 'interval'))}

    def _command(self, chosen, search):
        """What the search that found it printed; of plain writing, which none may have, made anew."""
        line = word(search, 'best.command')
        if not line:
            own = {k: v for k, v in self.common.items() if k not in ('program', 'ranks', 'threads')}
            own.update(io=chosen.writer, **chosen.options)
            ranks, threads = int(self.common['ranks']), int(self.common['threads'])
            line = ['OMP_NUM_THREADS=%d' % threads] + self.launcher.command(ranks, threads, ['nht1-bt'] + [
                word for k, v in own.items()
                for word in (['--' + k, v] if self.program.options[k] else ['--' + k])])
        return command_of(chosen.component, line, self.args.files)

    def exhaustive(self, searched):
        """Every candidate at full length, in rounds, as long as the time lasts. Returns the best."""
        ways = {}
        for component, search in searched:
            for candidate in items(search, 'candidates'):
                if word(candidate, 'state') != 'failed':
                    way = self.way(component, search, candidate)
                    ways.setdefault(way.key, way)
        if not ways:
            return None, 0
        ways = list(ways.values())
        self.say('Exhaustive study: %s, %s' % (text.plural(len(ways), 'candidate'),
                                               text.about(60 * self.args.exhaustive)))
        driver = self._study('exhaustive', {
            'title': 'every candidate of the search', 'repeats': '1..999', 'precision': '0.0001',
            'minutes': '%g' % self.args.exhaustive, 'timeout_s': self.timeout_s}, self.common,
            [(way.name, way.settings()) for way in ways])
        self.say()
        known = [(stats.median(n for r, found in t.runs.values() if r['ok']
                               for n in found.get(w.writer, ())), w) for w, t in zip(ways, driver.tallies)]
        return min((k for k in known if k[0] == k[0]), key=lambda k: k[0], default=(None, None))[1], len(ways)

    def earlier(self, folder):
        """The best of the exhaustive study in a folder."""
        for path in (os.path.join(folder, 'exhaustive'), folder):
            summary = read_json(os.path.join(path, 'summary.json'))
            if word(summary, 'schema').startswith('nht1-study-summary/'):
                break
        else:
            raise trouble.usage('--against %s: no exhaustive study is there' % folder)
        known = []
        for point in items(summary, 'points'):
            settings = members(point, 'settings')
            median = real(point, 'series.0.median')
            if median != median:
                continue
            own = {k: v for k, v in settings.items() if k in self.program.options and k != 'io' and
                   k not in self.common}
            label = re.sub(r' \([^()]*\)$', '', word(point, 'section'))
            if not (median > 0 and label and settings.get('io') == label.split(' ')[0]) or \
                    not all(isinstance(v, str) and v for v in settings.values()) or set(own) & set(OURS):
                raise trouble.usage('--against %s: point %s is none of an exhaustive study' % (
                    folder, word(point, 'id') or '?'))
            known.append((median, Way(settings.get('env.' + COMPONENT, ''), label, own)))
        if not known:
            raise trouble.usage('--against %s: nothing there has a time' % folder)
        return min(known, key=lambda k: k[0])[1], len(known)

    def check(self, chosen, reference, candidates_n):
        """What was chosen against the best of an exhaustive study."""
        same = reference.key == chosen.key
        found = {'best': reference.name, 'candidates_n': candidates_n, 'same': same, 'rounds': 0,
                 'ratio': 1.0 if same else None, 'lo': None, 'hi': None}
        if not same:
            self.say('Check: %s against %s' % (chosen.name, reference.name))
            (base, way), _, disturbed = self._measure('check', [reference, chosen], CHECK_MINUTES)
            self.say()
            ratio = Ratio(way, base)
            found.update(rounds=ratio.pairs, ratio=ratio.centre, lo=ratio.lo, hi=ratio.hi,
                         runs=len(base) + len(way), disturbed_runs=disturbed)
        self.found['check'] = found

    # --- the whole --------------------------------------------------------------------------------

    def run(self):
        """All steps that measure."""
        self.probe()
        if not self.stopped:
            self.search()
        if self.winners:
            chosen = self._choose()
            if not self.stopped and (self.args.exhaustive or self.args.against):
                reference, n = self.exhaustive(self._searches()) if self.args.exhaustive else self.reference
                if reference and not self.stopped:
                    self.check(chosen, reference, n)
        self.found['ended'] = 'failed' if self.failure else 'interrupted' if self.stopped else 'nothing found' if not self.winners else \
            'budget' if any(s['ended'] == 'budget' for s in self.found['searches']) else 'settled'
        if self.failure:
            raise self.failure

    def _choose(self):
        """Enters the best."""
        chosen = self.final()
        search = next((s for way, s in self.winners if way.key == chosen.key), {})
        self.found['best'] = best_of(chosen, search, self._command(chosen, search), self._newest(chosen))
        beaten = [w['label'] for w in at(self.found, 'final.ways') or [] if w['state'] == 'beaten']
        self.found['best']['tied'] = [t for t in self.found['best']['tied'] if t not in beaten]
        return chosen

    def judge(self):
        """The best so far of steps that something else than an interruption has ended; and when that was."""
        if self.found['ended'] is None:
            self.found['ended'], self.stopped = 'failed', True  # nothing more is run
            if not self.found['best']:
                self._choose()
        self.found.update(ended_utc=utc(), seconds=round(time.monotonic() - self.began, 1))

    def write(self):
        write_json(os.path.join(self.folder, 'tune.json'), self.found)
        write_text(os.path.join(self.folder, 'tune.txt'), self._verdict())

    def _verdict(self):
        return verdict(self.found, [s for _, s in self._searches()])

    def tell(self):
        print(self._verdict(), end='', flush=True)
        if self.winners and not self.stopped and not self.args.no_report:
            whole.report(self.folder, [self.folder], SimpleNamespace(say=self.say))
        self.say('The whole result: %s' % shown(self.folder))

    @property
    def status(self):
        return trouble.FAILED if self.stopped or not self.winners else trouble.OK


def _rows(ways, times, failed, first):
    """Of the table of a comparison: the choice, then the others, the shortest median T_T first."""
    medians = [stats.median(t.values()) for t in times]
    rows = []
    for i in sorted(range(len(ways)), key=lambda i: (i != first, medians[i] != medians[i], medians[i])):
        ratio = Ratio(times[i], times[first], ERROR / max(1, len(ways) - 1))
        rows.append({'name': ways[i].name, 'component': ways[i].component or None, 'label': ways[i].label,
                     'runs': len(times[i]), 'median_s': None if medians[i] != medians[i] else medians[i],
                     'ratio': 1.0 if i == first else ratio.centre,
                     'lo': None if i == first else ratio.lo, 'hi': None if i == first else ratio.hi,
                     'pairs': 0 if i == first else ratio.pairs,
                     'state': 'failed' if not times[i] else 'best' if i == first else
                     'beaten' if ratio.slower() else 'tied',
                     'trouble': failed[i][0] if failed[i] else None})
    return rows


def main(argv):
    def act():
        args, options = _arguments(argv)
        stats.program()
        if tools.path('nht1-bt') is None:
            raise trouble.failed("nht1-bt is not there: 'make' builds it; NHT1_BIN names its folder")
        before = whole.before(args.out, args.under)
        tuner = Tuner(args, options)
        with whole.taken_back(tuner.folder, before, lambda: tuner.winners):
            whole.concluded(tuner.run, lambda: tuner.winners, tuner.judge, tuner.write, tuner.tell)
        return tuner.status
    return command.run(tools.called('runs/study tune'), act)
