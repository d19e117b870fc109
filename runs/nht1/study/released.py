# SPDX-License-Identifier: GPL-3.0-or-later
"""runs/study released: the released programs b_eff_io and b_eff, built from a folder of their sources, and ours
under the definitions 2.1 and 3.6, in alternation, pattern by pattern.

The sources are no part of this project, and nothing is fetched. They are compiled in the folder of the study."""
import contextlib
import json
import os
import random
import secrets
import shlex
import socket

from .. import VERSION, command, patterns, protfile, stats, sumfile, text, tools, trouble
from ..report.output import Outputs
from . import child, drive, launch, scratch, whole
from .folder import shown, utc, write_json, write_text

SOURCES = {'b_eff_io': 'b_eff_io.c', 'b_eff': 'b_eff.c'}
COMPILE_S = 600
EPILOG = """
examples:
  runs/study released --source ~/b_eff_io --ranks 2 --files /scratch/me
  runs/study released --source ~/sources --rounds 12 --seconds 300 --json released.json

DIR holds b_eff_io.c, b_eff.c, or both, at most one folder deep: what the authors of the benchmarks distribute. It
is compiled with mpicc (--cc, --cflags) and run in turn with nht1-beffio --definition 2.1 and nht1-beff
--definition 3.6. Of every pattern that both programs' files show the ratio ours / released is given, with a 95 %
interval from 6 rounds on: for b_eff_io from the summaries (.sum), for b_eff from the protocols (.prot), a pattern's
ratio being the median over message sizes. b_eff.csv in the folder of the study has each size and method.

Exit status: 0 done, 1 wrong usage, 3 a program failed, or interrupted.
"""


def _arguments(argv):
    parser = command.Parser(prog=tools.called('runs/study released'), epilog=tools.called(EPILOG),
                            description='Whether the released programs and ours agree, pattern by pattern.')
    add = parser.add_argument
    add('--source', metavar='DIR', required=True, help='folder of the released sources')
    add('--rounds', metavar='N', type=command.number(1, 200, kind=int), default=6, help='how often each runs, default %(default)s')
    add('--ranks', metavar='N', type=command.number(1, command.RANKS_MAX, kind=int), help='processes; default: the cores, at most 4')
    add('--seconds', metavar='S', type=command.number(1, 1e6, kind=int), default=60,
        help='scheduled time T of b_eff_io, default %(default)s')
    add('--mb', metavar='MBYTES', type=command.number(1, 1 << 30, kind=int), default=256,
        help='memory of a process in 2^20 bytes, from which the largest chunk and message follow, default %(default)s')
    add('--files', metavar='DIR', help='write the files that are measured there; default: in the folder of the study')
    add('--out', metavar='DIR', help='folder for sources, commands and summaries; default: a new one')
    add('--cc', metavar='COMMAND', type=command.words, default='mpicc', help='compiler, default %(default)s')
    add('--cflags', metavar='WORDS', type=command.words, default='-O2 -std=gnu89 -w', help='its options, default %(default)s')
    whole.add_launcher(add)
    add('--seed', metavar='N', type=command.number(0, 1 << 31, kind=int), help='of the order; default: a random one')
    add('--json', metavar='FILE', help='write the ratios to FILE as JSON')
    add('--quiet', action='store_true', help='print the table alone')
    add('--version', action='version', version=tools.called('runs/study ') + VERSION)
    return parser.parse_args(argv)


def _sources(folder):
    """{program: file} of what is there."""
    if not os.path.isdir(folder):
        raise trouble.usage('--source %s: no such folder' % text.clean(folder))
    places = [folder] + sorted(e.path for e in os.scandir(folder) if e.is_dir())
    found = {}
    for program, name in SOURCES.items():
        path = next((os.path.join(p, name) for p in places if os.path.isfile(os.path.join(p, name))), None)
        if path:
            found[program] = os.path.abspath(path)
    if not found:
        raise trouble.usage('--source %s: neither %s is there' % (text.clean(folder), ' nor '.join(SOURCES.values())))
    return found


class Compared:
    """A program's rounds, [(released, ours)], and what follows from them. values: of a summary; protocols: of those of
    b_eff."""
    def __init__(self):
        self.values, self.protocols = [], []
        self.ratios, self.by_pattern, self.by_size = [], [], []

    def finish(self):
        self.ratios = patterns.ratios(self.values)
        self.by_size = patterns.ratios(self.protocols)
        self.by_pattern = patterns.ratios(patterns.over_sizes(self.protocols))

    def sizes(self, pattern):
        """[(ratio, bytes)] of a pattern by its best method."""
        return [(ratio, size) for (p, method, size), _, ratio, _, _ in self.by_size if p == pattern and method == patterns.BEST]

    def uncommon(self):
        """What the protocols of a round do not share, a sentence each."""
        found = []
        if not self.protocols or not all(self.protocols[0]):
            return found
        for number, what in ((0, 'pattern'), (2, 'message size')):
            sides = [{str(key[number]) for key in side} for side in self.protocols[0]]
            for side, other, who in ((*sides, 'the released program'), (*sides[::-1], 'ours')):
                if side - other:
                    found.append('b_eff: only %s shows the %s %s' % (who, what, ', '.join(sorted(side - other)[:8])))
        return found


class Released:
    def __init__(self, args, sources):
        self.args, self.sources = args, sources
        system = launch.system()
        self.launcher = whole.launcher(args, system)
        self.ranks = args.ranks or min(4, self.launcher.cores)
        self.seed = random.SystemRandom().getrandbits(31) if args.seed is None else args.seed
        if args.files and not os.path.isdir(args.files):
            raise trouble.usage('--files %s: no such folder' % text.clean(args.files))
        self.folder = whole.new_folder(args.out, 'released')
        self.files = None  # while it runs, a folder for what is measured
        self.stop, self.began = child.Stop(), utc()
        self.compared, self.order, self.told = {p: Compared() for p in sources}, [], []
        self.interrupted = False

    def say(self, words):
        if not self.args.quiet:
            print(text.clean(words, 2000), flush=True)

    def build(self):
        for program, source in self.sources.items():
            define = ['-DMEMORY_PER_PROCESSOR=%d' % self.args.mb] if program == 'b_eff' else []
            words = self.args.cc + self.args.cflags + define + ['-I' + os.path.dirname(source), '-o', os.path.join(
                self.folder, program), source, '-lm']
            try:
                status, out, err = child.ask(words, COMPILE_S)
            except OSError as e:
                raise trouble.failed('--cc %s: %s' % (text.clean(words[0]), e.strerror))
            with open(os.path.join(self.folder, program + '.build'), 'w', encoding='utf-8') as f:
                f.write(shlex.join(words) + '\n' + out + err)
            if status != 0:
                errors = err.strip().splitlines() or ['no message']
                raise trouble.failed('%s does not compile: %s' % (text.clean(source), text.clean(
                    next((line for line in errors if 'error' in line), errors[0]), 300)))
            self.say('built     %s' % shown(os.path.join(self.folder, program)))

    def _words(self, program, ours, stem):
        """The command of a side, which leaves STEM.sum, for b_eff STEM.prot, too."""
        a = self.args
        if program == 'b_eff_io':
            same = ['-MB', str(a.mb), '-MT', str(a.mb * self.ranks), '-N', str(self.ranks), '-T', str(a.seconds), '-p', self.files,
                    '-f', stem]
            return [tools.path('nht1-beffio'), '--definition', '2.1', '--max-space', '1000T', '--quiet', *same] if ours else \
                [os.path.join(self.folder, program), *same]
        return [tools.path('nht1-beff'), '--definition', '3.6', '--memory-per-process', '%dMi' % a.mb, '--quiet', '--sum',
                stem + '.sum', '--protocol', stem + '.prot'] if ours else [os.path.join(self.folder, program), '-f', stem]

    def _run(self, program, ours, number):
        """(patterns by the summary, by the protocol of b_eff) of a run."""
        name = '%s-%s-%02d' % (program, 'ours' if ours else 'released', number)
        folder = os.path.join(self.folder, name)
        os.makedirs(folder)
        stem = os.path.join(folder, program)
        # b_eff_io has room for short names alone: it runs in the folder of its texts
        words = self._words(program, ours, program)
        if program == 'b_eff' and ours:
            words = self._words(program, ours, stem)
        line = self.launcher.command(self.ranks, 1, words)
        if os.path.dirname(line[0]):
            line[0] = os.path.abspath(line[0])  # it is started in another folder
        with open(os.path.join(folder, 'command'), 'w', encoding='utf-8') as f:
            f.write(shlex.join(line) + '\n')
        status, seconds, why = child.run(line, self.launcher.environment(self.ranks, 1, {}), folder,
                                         20 * self.args.seconds + 3600, self.stop, lambda s: None, cwd=folder)
        if why == 'interrupted':
            self.interrupted = True
            raise trouble.failed('interrupted')
        path = stem + '.sum'
        summaries = sumfile.read(path) if os.path.isfile(path) else None
        if why or not summaries or status not in (0, trouble.INVALID):
            raise trouble.failed('%s ended with status %s%s: %s; see %s' % (
                name, status, '' if summaries else ', without a .sum that can be read', drive.last_words(folder),
                shown(folder)))
        self.told += sumfile.sentences(summaries[0]['faults'], os.path.join(name, program + '.sum'))
        self.say('%-22s %s, %s' % (name, text.rate(max(r['value'] or 0 for r in summaries)), text.duration(seconds)))
        if program == 'b_eff_io':
            return patterns.of_sum(next((p for p in summaries if p['procs'] == self.ranks), summaries[0])), None
        return patterns.of_b_eff(summaries[0]), self._protocol(stem + '.prot', os.path.join(name, program + '.prot'))

    def _protocol(self, path, shown_as):
        """The patterns of a protocol of b_eff; none where there is none that can be read, which is told."""
        found = protfile.read(path) if os.path.exists(path) else None
        if found is None:
            self.told.append('%s: there is no section VALUES to compare patterns by' % shown_as)
            return {}
        self.told += sumfile.sentences(found['faults'], shown_as)
        return patterns.of_protocol(found)

    def run(self):
        self.stop.install()
        self.build()
        where = os.path.abspath(self.args.files or self.folder)
        with contextlib.ExitStack() as stack:
            try:
                self.files = stack.enter_context(scratch.folder(where, secrets.token_hex(8)))
                if not self.args.files:  # as a run sees it from its own folder: b_eff_io has room for short names alone
                    self.files = os.path.join(os.pardir, os.path.basename(self.files))
            except OSError as e:
                raise trouble.failed('%s: cannot write there: %s' % (text.clean(where), e.strerror))
            self._rounds()

    def _rounds(self):
        order = random.Random(self.seed)
        for number in range(1, self.args.rounds + 1):
            for program in self.sources:
                first = order.random() < 0.5
                self.order.append([program, 'ours' if first else 'released'])
                sides = {}
                for ours in (first, not first):
                    sides[ours] = self._run(program, ours, number)
                values, protocols = zip(sides[False], sides[True])
                self.compared[program].values.append(values)
                if None not in protocols:
                    self.compared[program].protocols.append(protocols)

    def measured(self):
        """Whether there is a result: complete rounds; of an interrupted study also that there are none."""
        return self.interrupted or any(c.values for c in self.compared.values())

    def judge(self):
        """What follows from the rounds."""
        for c in self.compared.values():
            c.finish()
            self.told += c.uncommon()

    def write(self):
        """The files of the study."""
        write_json(os.path.join(self.folder, 'released.json'), self.json())
        for program, c in self.compared.items():
            if c.by_size:
                write_text(os.path.join(self.folder, program + '.csv'), text.csv_lines(
                    [['pattern', 'method', 'bytes', 'rounds', 'ours_over_released', 'from', 'to']] + [
                        [text.csv_cell(p), text.csv_cell(method), size, n, *map(text.csv_number, values)]
                        for (p, method, size), n, *values in c.by_size]))

    def tell(self):
        for words in self.told:
            print('Note: ' + words)
        print(self.tables(), end='', flush=True)
        self.say('the runs are in %s' % shown(self.folder))

    def json(self):
        return {'schema': 'nht1-released/1', 'version': VERSION, 'host': socket.gethostname(), 'started_utc': self.began,
                'ended_utc': utc(), 'ranks': self.ranks, 'seconds': self.args.seconds, 'memory_mib': self.args.mb,
                'seed': self.seed, 'order': self.order, 'interrupted': self.interrupted, 'told': self.told,
                'programs': [{'program': p, 'source': self.sources[p], 'rounds': len(c.values),
                              'ratios': [_json(r) for r in c.ratios], 'by_pattern': [
                                  dict(_json(r), by_size=[{'bytes': size, 'ratio': ratio} for ratio, size in c.sizes(*r[0])])
                                  for r in c.by_pattern]} for p, c in self.compared.items()]}

    def tables(self):
        rows = [['program', 'what', 'rounds', 'ours / released', 'from', 'to']]
        rows += [[program, ' '.join(key), *_cells(*rest)] for program, c in self.compared.items() for key, *rest in c.ratios]
        words = text.table(rows)
        for program, c in self.compared.items():
            rows = [['%s, pattern' % program, 'rounds', 'ours / released', 'from', 'to', 'smallest', 'at bytes', 'largest', 'at bytes']]
            for key, *rest in c.by_pattern:
                sizes = c.sizes(*key)
                rows.append([*key, *_cells(*rest)] + [cell for ratio, size in (min(sizes), max(sizes))
                                                      for cell in (text.ratio(ratio), str(size))])
            if c.by_pattern:
                words += '\nby the best method, the median over message sizes; smallest and largest: of a size\n' + text.table(rows)
        return words


def _json(found):
    key, n, ratio, low, high = found
    return {'pattern': list(key), 'n': n, 'ratio': ratio, 'lo': low, 'hi': high}


def _cells(n, ratio, low, high):
    return [str(n), text.ratio(ratio)] + ['-' if v is None else text.ratio(v) for v in (low, high)]


def main(argv):
    def act():
        args = _arguments(argv)
        stats.program()
        outputs = Outputs()
        if args.json is not None:
            outputs.add(args.json, lambda: json.dumps(study.json(), indent=1) + '\n', '--json')
        outputs.check()
        study = Released(args, _sources(args.source))
        whole.concluded(study.run, study.measured, study.judge, study.write, outputs.write, study.tell)
        return trouble.OK
    return command.run(tools.called('runs/study released'), act)
