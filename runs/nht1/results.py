# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what the programs measured, and tells which runs repeat each other.

    Result  one file of nht1-bt, nht1-beff, nht1-beffio or nht1-profile
    Run     one run of nht1-bt in it
    Cell    one writer in one configuration: all runs with the same identity, in whatever files
    Systems whose a result is: machine, processor, MPI library, memory
    Group   one problem on one system and file system: its cells

Identity is everything that was varied: problem, durability, system and file system (the group's); writer,
ranks, threads, nodes, cores, decomposition, options, hints, MPI-IO component and the environment that a
study set (the cell's). What has one identity is averaged, nothing else. What T_C depends on is part of it.

Files are not trusted: sizes and depths are limited, texts cleaned (text.py), members that are
missing or of another type read as unknown (NaN, '', None)."""
import functools
import hashlib
import json
import math
import os
import re
import shlex
import stat
import sys
from typing import NamedTuple

from . import stats, sumfile, text, tools, trouble

# Programs whose results are read, with the newest version known.
KINDS = {'nht1-bt': 1, 'nht1-beff': 1, 'nht1-beffio': 1, 'nht1-workload': 1, 'nht1-profile': 1}
PROGRAMS = 'nht1-bt, nht1-beff, nht1-beffio, nht1-workload and nht1-profile'
SIZE_MAX_BYTES = 1 << 29
DEPTH_MAX = 8
HEAD = 4096  # bytes of a result that name its schema
COPIES_SHOWN = 3
NAN = math.nan
# Options that vary something else than how data are computed and written: the problem, which is the
# group's, or what a job is called, keeps and proves, and what it reads afterwards; and those that identity
# has by names of its own (decomp, group, hint). A list of what to leave out, not of what to keep: a new
# option that is forgotten here separates runs that could be averaged, and averages none that differ.
NOT_VARIED = set(
    'class n steps dt interval last layout sync io out force restart keep repeat seed tc tc_store '
    'verify dry_run ranks nodes json profile progress quiet group hint decomp read read_cache '
    'read_decomp read_ranks read_drop_system minutes known probe probe_limit'.split())


@functools.lru_cache(maxsize=None)
def writer_options():
    """Options of nht1-bt that are settings of writers, by their keys in a result: a run says which of
    them its own writer obeys. The build makes the list, of the program's table."""
    path = tools.made('options-bt.json')
    return {o['name'].replace('-', '_') for o in read_json(path)['options']
            if o.get('kind') == 'setting'}


# --- JSON ---------------------------------------------------------------------------------------

# No measurement is above; what is below is 0. Squares and ratios of what is between are numbers.
NUMBER_MAX, NUMBER_MIN = 1e99, 1e-99


class NoMeasurement(trouble.Trouble):
    """A number in a file that no program has measured."""


class Unreadable(trouble.Trouble):
    """A file that cannot be read, or a damaged result."""


def _number(convert):
    def of(literal):
        value = convert(literal) if len(literal) < 400 else None
        if value is None or abs(value) > sys.float_info.max:  # integers have no limit of their own
            return -math.inf if literal[0] == '-' else math.inf
        return value if abs(value) >= NUMBER_MIN else 0
    return of


def _absurd(value, where=''):
    """(place, number) of the first number that is too large or none at all; None."""
    if isinstance(value, (int, float)):
        return None if abs(value) <= NUMBER_MAX else (where, value)
    for key, below in value.items() if isinstance(value, dict) else \
            enumerate(value) if isinstance(value, list) else ():
        found = _absurd(below, '%s[%d]' % (where, key) if isinstance(value, list) else
                        '%s.%s' % (where, key) if where else key)
        if found:
            return found
    return None


def read_json(path, limit=SIZE_MAX_BYTES):
    """The value in a file, with its texts cleaned. Trouble with file and line."""
    try:
        # A pipe that nobody writes to may be meant: what is opened is read to its end.
        with open(path, 'rb') as f:
            if os.fstat(f.fileno()).st_size > limit:
                raise trouble.usage('%s: %s are more than any result has' % (
                    text.clean(path), text.size(os.fstat(f.fileno()).st_size)))
            raw = f.read(limit + 1)
    except IsADirectoryError:
        raise trouble.usage('%s: a folder, not a file' % text.clean(path))
    except (OSError, ValueError) as e:
        raise Unreadable(trouble.FAILED, '%s: cannot read: %s' % (
            text.clean(path), getattr(e, 'strerror', None) or e))
    if len(raw) > limit:
        raise trouble.usage('%s: longer than any result' % text.clean(path))
    return parse_json(raw, path)


def read_object(path):
    """The same of a file in a folder of ours, which holds an object: a pipe there would be waited for in vain."""
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise trouble.usage('%s: a pipe or device, not a file' % text.clean(path))
    value = read_json(path)
    if not isinstance(value, dict):
        raise trouble.usage('%s: not an object of JSON' % text.clean(path))
    return value


def parse_json(raw, path):
    """The value in bytes; path: for messages."""
    def wrong(line, what):
        damaged = not raw.strip() or b'"nht1-' in raw[:HEAD]
        return (Unreadable if damaged else trouble.Trouble)(
            trouble.USAGE, '%s:%d: not JSON: %s' % (text.clean(path), line, text.clean(what, 200)))
    try:
        value = json.loads(raw.decode('utf-8'), parse_int=_number(int), parse_float=_number(float),
                           parse_constant=float)
        found = _absurd(value)
        if not found:
            return text.cleaned(value)
    except json.JSONDecodeError as e:
        raise wrong(e.lineno, e.msg)
    except UnicodeDecodeError as e:
        raise wrong(1 + raw.count(b'\n', 0, e.start), 'byte %d is not UTF-8' % e.start)
    except RecursionError:
        raise wrong(1, 'nested too deeply')
    except ValueError as e:
        raise wrong(1, str(e))
    where, value = found
    raise NoMeasurement(trouble.USAGE, '%s: %s: %s is no number that can have been measured' % (
        text.clean(path), text.clean(where, 300), text.clean('%g' % value)))


def at(node, path):
    """A member such as 'problem.n', None where there is none; a number in the path is a place in a
    list."""
    for key in path.split('.') if path else ():
        if isinstance(node, dict):
            node = node.get(key)
        elif isinstance(node, list) and re.fullmatch(r'-?\d{1,9}', key) and \
                -len(node) <= int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


def real(node, path=''):
    value = at(node, path)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return NAN
    return float(value)


def integer(node, path='', default=0):
    value = at(node, path)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and \
        abs(value) < 1 << 63 else default


def word(node, path=''):
    value = at(node, path)
    return value if isinstance(value, str) else ''


def true(node, path=''):
    return at(node, path) is True


def items(node, path=''):
    """The objects of a list; a member of another type counts as none."""
    value = at(node, path)
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def words(node, path=''):
    """The texts of a list."""
    value = at(node, path)
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def members(node, path=''):
    value = at(node, path)
    return value if isinstance(value, dict) else {}


def positive(x):
    return x if x > 0 else NAN


def least(values):
    """The smallest that is known; NaN when none is."""
    return min((v for v in values if v == v), default=NAN)


# --- stamps -------------------------------------------------------------------------------------

SEVERITIES = ('bad', 'warn', 'note', 'good')


def stamps(node):
    """[{code, severity, numbers, sentence}]: what the measuring program thinks of its result."""
    found = []
    for s in items(node, 'stamps')[:100]:
        if word(s, 'code') and word(s, 'sentence'):
            found.append({'code': word(s, 'code'), 'sentence': word(s, 'sentence'),
                          'severity': word(s, 'severity') if word(s, 'severity') in SEVERITIES
                          else 'note', 'numbers': members(s, 'numbers')})
    return found


def counted(found):
    """Stamps of several, each code once as the first one has it, with the number of those that have it."""
    codes = {}
    for s in (s for one in found for s in one):
        codes.setdefault(s['code'], dict(s, runs=0))['runs'] += 1
    return list(codes.values())


@functools.lru_cache(maxsize=None)
def stamp_codes():
    """{code: {programs, severities, meaning, and spoils, why nothing can be concluded from what is stamped so}}. The
    build makes the list, of the programs' table (base/stamp_list.h)."""
    return read_json(tools.made('stamps.json'))['stamps']


@functools.lru_cache(maxsize=None)
def verdicts():
    """{code: severity} of the stamps that say whether writing is balanced: nht1-bt gives them to a job, nht1-report to
    what several jobs measured."""
    return {code: s['severities'][0] for code, s in stamp_codes().items() if 'nht1-report' in s['programs']}


# As notes these say that there is an answer nevertheless: in fewer than half of the rounds, or beside a writer alone.
PARTLY = ('disturbed', 'processors-shared')


def spoiling(root, writers=None, paired=False, measured=None):
    """{code: why} of the stamps of a result, or of a part of it, by which nothing can be concluded from it. writers: of
    nht1-bt, whose parts count; None for all. What nht1-bt says of a writer over all its rounds holds for its runs. paired:
    what is concluded is T_T over the T_C of the same round, which does not suffer where computing alone was slower in
    all of the job than the best T_C known. measured: of nht1-workload, id() of the parts that count; None for all."""
    judged = {word(row, 'driver') for row in items(root, 'ranking') if isinstance(row.get('stamps'), list)}
    mine = {key: [part for part in items(root, key) if writers is None or word(part, 'driver') in writers or 'driver' not in part]
            for key in ('ranking', 'runs', 'phases', 'points', 'replays')}
    parts = [root] + [part for key, of in mine.items() for part in of if not
                      (key == 'runs' and word(part, 'driver') in judged) and not
                      (measured is not None and id(part) not in measured)]
    found = {s['code'] for part in parts for s in stamps(part)
             if (s['severity'] != 'note' or s['code'] not in PARTLY) and not
             (paired and s['code'] == 'disturbed' and 't_c_today_s' in s['numbers']) and not
             (measured is not None and part is root and s['code'] == 'not-cache-honest')}  # as its parts say of themselves
    # Whatever else is said of readings is no matter of writing.
    found |= {s['code'] for part in mine['runs'] for node in items(part, 'read') for s in stamps(node) if s['code'] == 'read-wrong'}
    return {code: s['spoils'] for code, s in stamp_codes().items() if code in found and 'spoils' in s}


def unproved(root, kind, writers=None):
    """Why a result does not tell whether it is spoiled, '' where it does: it is older than stamps and evidence of
    disturbance, or damaged. writers: as of spoiling."""
    runs = [r for r in items(root, 'runs') if writers is None or word(r, 'driver') in writers]
    parts = [root] + (items(root, 'ranking') + runs if kind == 'nht1-bt' else [])
    for part in parts:
        listed = part.get('stamps')
        if not isinstance(listed, list):
            return 'has no stamps'
        if len(stamps(part)) != len(listed) or any(word(s, 'severity') not in SEVERITIES for s in listed):
            return 'has stamps that cannot be read'
    for part in runs if kind == 'nht1-bt' else items(root, 'zeta.rounds') or [root]:
        evidence = members(part, 'disturbance')
        if not all(isinstance(evidence.get(key), bool) for key in ('disturbed', 'processors_shared')):
            return 'does not tell whether something else used the machine'
    return ''


def measurements(root):
    """What nht1-workload measured: phases, points and replays."""
    return [m for which in ('phases', 'points', 'replays') for m in items(root, which)]


def cut_short(side):
    """Results that ended before all was measured: of nht1-beffio, before the last partition; of nht1-workload, before anything was."""
    def came_to_its_end(r):
        if r.kind == 'nht1-workload':
            return any(true(m, 'completed') for m in measurements(r.root))
        return all(at(p, 'completed') is not False for p in items(r.root, 'partitions'))
    return [r for r in side if not came_to_its_end(r)]


def outcome(node):
    """Of what nht1-workload measured: 'wrong' where data were, 'unfinished', or '' where it counts."""
    return 'wrong' if integer(node, 'wrong_n') else '' if true(node, 'completed') else 'unfinished'


# --- files --------------------------------------------------------------------------------------

class Result:
    """A file. run: what a study noted beside it (run.json), {} for others. study_round: the same
    for all results of one round of a study, None outside of studies."""

    def __init__(self, path, kind, version, root, run):
        self.path, self.kind, self.version, self.root, self.run = path, kind, version, root, run
        self.shown = text.clean(path)
        self.environment = {k[4:]: v for k, v in members(run, 'settings').items()
                            if k.startswith('env.') and isinstance(v, str)}
        self.started_utc = word(root, 'started_utc') or word(run, 'started_utc')
        self.ended_utc = word(root, 'ended_utc') or word(run, 'ended_utc')
        self.stamps = stamps(root)
        number = integer(run, 'run')  # each point has one run in a round
        whole = os.path.dirname(os.path.dirname(os.path.abspath(path)))
        self.side = word(run, 'point') if os.path.basename(whole) == word(run, 'point') else ''  # of runs/study ab
        whole = os.path.dirname(whole) if self.side else whole
        self.study_round = (whole, number) if number > 0 else None

    @property
    def in_study(self):
        """Where a study has put it, how many runs that has there, and 1; 1: a copy of that with what the study noted, 0: without."""
        runs = os.path.dirname(os.path.dirname(os.path.abspath(self.path)))
        if not self.run or not os.path.isfile(os.path.join(os.path.dirname(runs), 'study.json')):
            return int(bool(self.run))
        return 1 + len(os.listdir(runs))

    @property
    def judged(self):
        """Whether the program that made it wrote stamps."""
        return 'stamps' in self.root or any('stamps' in r for r in items(self.root, 'runs'))


class Results(list):
    """Result files in the order in which they were given."""
    passed_over = 0  # files of folders that are no results
    newer = 0        # results of a version that is not known, read as far as it is

    def __init__(self, *results):
        super().__init__(*results)
        self.refused = []  # why files of folders are left out that would be results
        # {content: files with it}; the first one counts, for a copy is no further measurement: that of a study, where one is.
        self.copies = {}
        self.lost = []  # files and folders below a folder that cannot be read
        self.sums = []  # what summaries (.sum) of b_eff and b_eff_io say, also of other programs
        self.own_sums = []  # likewise those of this suite in folders, whose JSON may be there, too, and says more
        self.tunes = []  # (path, content) of what runs/study tune found
        self.checks = []  # likewise of runs/study check

    def of(self, kind):
        return [r for r in self if r.kind == kind]

    def _same(self, path, content):
        files = self.copies.setdefault(hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest(), [])
        files.append(path)
        return files

    def is_copy(self, path, content):
        """Whether a file with this content has been met: a copy, a link, or the same name again."""
        return len(self._same(path, content)) > 1

    def add(self, result):
        """Once, that of a study before its copies, of which nothing says what was varied."""
        files = self._same(result.path, result.root)
        first = next((i for i, r in enumerate(self) if r.path == files[0]), None)
        if len(files) == 1:
            self.append(result)
        elif first is not None and result.in_study > self[first].in_study:
            self[first] = result
            files[0], files[-1] = files[-1], files[0]

    @property
    def left_out(self):
        """What of copies and of what cannot be read is to be told, '' where there is none."""
        return '; '.join('%s left out, %s: %s%s' % (text.plural(len(paths), 'file'), why, ', '.join(
            text.clean(p) for p in paths[:COPIES_SHOWN]), ', ...' if len(paths) > COPIES_SHOWN else '') for paths, why in (
                ([p for files in self.copies.values() for p in files[1:]], 'with the content of another one'),
                (self.lost, 'damaged or not to be read')) if paths)

    def sums_of(self, program):
        return [s for s in self.sums if s['program'] == program and s['value'] is not None]


def load(paths):
    """All results that are named; a folder stands for those below it, whatever else it holds. A
    file that is named must be a result, the summary (.sum) of a bandwidth program, or the manifest
    of a dump, which is passed over. Trouble for what cannot be read, and when there is no result
    at all."""
    found = Results()
    for path in paths:
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError) as e:
            what = getattr(e, 'strerror', None) or str(e)
            if not re.search('[./]', path):
                what = 'no file that can be read, and no command: those are compare, stats, trend'
            raise trouble.failed('%s: %s' % (text.clean(path), what))
        if not stat.S_ISDIR(mode):
            _take(found, path, named=True)
            continue
        for below in _files(path, found.lost):
            try:
                _take(found, below, named=False)
            except NoMeasurement as e:
                found.refused.append(str(e))
            except Unreadable:
                found.lost.append(below)
            except trouble.Trouble:
                found.passed_over += below.endswith('.json')
    found.sums += [s for s in found.own_sums if not _is_of(s, found)]
    if not found and not found.sums:
        if found.refused:
            raise trouble.usage(found.refused[0])
        if found.lost:
            raise trouble.failed('no result there; ' + found.left_out)
        raise trouble.usage('%s: no result there of %s' % (
            text.clean(paths[0]) if paths else 'no file named', PROGRAMS.replace(' and ', ' or ')))
    return found


def _is_of(summary, found):
    """Whether the JSON of the same run is there: one with the same value, to the digits of a summary."""
    procs, value = summary['procs'], summary['value'] or NAN
    if summary['program'] == 'b_eff':
        values = [(integer(r.root, 'system.ranks'), real(r.root, 'result.b_eff_bytes_per_s')) for r in found.of('nht1-beff')]
    else:
        values = [(integer(p, 'procs'), real(v, 'bytes_per_s')) for r in found.of('nht1-beffio') for p in items(r.root, 'partitions')
                  for v in items(p, 'values')]
    return any(n == procs and abs(v - value) < 1000 for n, v in values)


def _files(top, lost):
    """What may be a result below a folder. lost: takes the folders that cannot be read."""
    def unreadable(error):
        if error.filename == top:
            raise trouble.failed('%s: cannot read the folder: %s' % (
                text.clean(top), error.strerror))
        lost.append(error.filename)
    for folder, below, names in os.walk(top, onerror=unreadable):  # links to folders: not followed
        depth = os.path.relpath(folder, top).count(os.sep) + 1 if folder != top else 0
        study = 'study.json' in names  # of its interrupted runs nothing counts
        below[:] = sorted(n for n in below if not n.startswith('.') and depth < DEPTH_MAX and
                          not (study and n == 'interrupted'))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(('.json', '.sum')) and not name.startswith('.') and \
                    os.path.isfile(path):
                yield path


def _take(found, path, named):
    """Adds a file; Trouble where it is no result. In a folder, what this suite has summed up counts
    only where there is no JSON of the program, which says more."""
    if path.endswith('.sum'):
        try:
            summaries = sumfile.read(path)
        except trouble.Trouble as e:
            raise Unreadable(e.status, str(e)) if e.status == trouble.FAILED else e
        if summaries is None:
            raise trouble.usage('%s: no summary of b_eff or b_eff_io' % text.clean(path))
        with open(path, encoding='latin-1') as f:
            if found.is_copy(path, f.read()):
                return
        for s in summaries:
            (found.sums if named or not s['ours'] else found.own_sums).append(s)
        return
    if path.endswith('.prot'):
        raise trouble.usage('%s: a protocol is read by runs/study released alone; name the JSON or the summary (.sum) of the '
                            'run' % text.clean(path))
    root = read_json(path)
    schema = word(root, 'schema')
    kind, _, version = schema.partition('/')
    if schema.startswith('nht1-dump/'):
        found.passed_over += 1
        return
    if schema in ('nht1-tune/1', 'nht1-check/1'):
        if not found.is_copy(path, root):
            (found.tunes if schema == 'nht1-tune/1' else found.checks).append((path, root))
        return
    if kind not in KINDS or not re.fullmatch(r'\d{1,9}', version):
        raise trouble.usage(
            '%s: "schema" is "%s"; reports are made of results of %s' % (
                text.clean(path), schema[:60], PROGRAMS) if schema else
            '%s: this JSON is not a result of this project: it has no "schema"; give the files that '
            'nht1-bt and its companions write with --json' % text.clean(path))
    beside = os.path.join(os.path.dirname(path), 'run.json')
    try:
        run = read_json(beside, 1 << 20) if os.path.isfile(beside) else {}
    except trouble.Trouble:
        run = {}
    if not word(run, 'schema').startswith('nht1-study-run/'):
        run = {}
    found.newer += int(version) > KINDS[kind]
    found.add(Result(path, kind, int(version), root, run))


# --- systems ------------------------------------------------------------------------------------

class System(NamedTuple):
    """What a result was measured on. Texts are empty where it does not say."""
    machine: str     # by Systems
    cpu: str
    mpi: str         # library and version
    memory: int      # bytes of a node, of the least of those that count as equal; 0: not known
    simulation: str  # 'PLATFORM, computing HOW' where ranks and network were simulated


class FileSystem(NamedTuple):
    type: str
    mount: str
    source: str  # of network file systems: servers may be mounted at one place in turn

    @property
    def shown(self):
        return self.type + (' at ' + self.mount if self.mount else '') + (' of ' + self.source if self.source else '')


HOST_MAX = 255  # characters: no name of DNS is longer
MEMORY_ALIKE = 1.02  # nodes of one kind differ by some MiB


def of_one_word(value):
    """Of older versions with the blanks that a processor's name ends in."""
    return ' '.join(value.split())


def simulation_of(root):
    simulation = members(root, 'system.simulation')
    return '%s, computing %s' % (word(simulation, 'platform'), word(simulation, 'computing')) if simulation else ''


def mpi_of(root):
    """Library and version, without what its build is called."""
    return word(root, 'system.mpi.library').partition(',')[0]


def file_systems(result):
    """Of the data files of a result."""
    fs = members(result.root, 'system.file_system')
    found = [_file_system(node, result) for node in items(result.root, 'runs')] if result.kind == 'nht1-bt' else [FileSystem(
        word(fs, 'type'), _without_job(word(fs, 'mount'), result), word(fs, 'source') if true(fs, 'network') else '')]
    return list(dict.fromkeys(fs for fs in found if fs and fs.type))


def _file_system(node, result):
    """Of a run of nht1-bt, None where it left no file."""
    file = members(node, 'file')
    return FileSystem(word(file, 'file_system'), _without_job(word(file, 'mount'), result), word(file, 'server')) \
        if word(file, 'file_system') not in ('', 'none') else None


def _without_job(path, result):
    """A folder of a batch job is another one each time, and the same to its study."""
    job = word(result.root, 'job_id')
    return re.sub(r'(?<![A-Za-z0-9])%s(?![A-Za-z0-9])' % re.escape(job), 'JOB', path) if job else path


def _hosts(result):
    """Its hosts, the first one leads."""
    root = result.root
    if result.kind == 'nht1-profile':
        found = [word(r, 'host') for r in items(root, 'profile.ranks')]
    elif integer(root, 'system.nodes', 1) > 1 and not simulation_of(root):  # names of simulated nodes are no hosts
        found = [word(root, 'system.host')] + [word(h, 'name') for h in items(root, 'system.mpi.hosts')]
    else:
        found = [word(root, 'system.host')]
    return list(dict.fromkeys(h for h in found if h)) or ['']


class Systems:
    """Whose each of some results is, and what it is called where there are several: by what differs, the host first.

    Hosts that one study, or one result of several nodes, has used are one machine, as a batch system gives a job other
    nodes each time; all others are different machines, even with the same processor.
    kind: of results that names are for, '' for all; together: all are one machine."""

    def __init__(self, results, kind='', together=False):
        self._leads, self._together, self._of, self._file_systems = {}, together, {}, {}
        studies = {}
        for r in results:
            hosts = _hosts(r)
            if r.study_round:
                hosts = hosts + studies.setdefault(r.study_round[0], hosts)
            self._join(hosts)
        for _, root in results.checks + results.tunes:
            self._join([word(root, 'host')])
        sizes = sorted({size for size in (real(r.root, 'system.memory.total_bytes') for r in results) if size > 0})
        memory = {}
        for before, size in zip([0] + sizes, sizes):
            memory[size] = memory[before] if size <= MEMORY_ALIKE * before else int(size)
        for r in results:
            self._of[id(r)] = System(
                self.machine(_hosts(r)[0]), of_one_word(word(r.root, 'system.cpu.model')), mpi_of(r.root),
                memory.get(real(r.root, 'system.memory.total_bytes'), 0), simulation_of(r.root))
        self._named = named = [r for r in results if kind in ('', r.kind)]
        hosts = [h for r in named for h in _hosts(r)[:1] if h or r.kind != 'nht1-profile'] + [
            word(root, 'host') for _, root in results.checks + results.tunes if word(root, 'host') and not kind]
        self.machines = list(dict.fromkeys(map(self.machine, hosts)))
        self.all = list(dict.fromkeys(self.of(r) for r in named if r.kind != 'nht1-profile'))  # a profile knows hosts alone
        for r in named:
            self._file_systems.setdefault(self.of(r), {}).update(dict.fromkeys(file_systems(r)))

    def _join(self, hosts):
        for host in hosts:
            a, b = self._lead(hosts[0]), self._lead(host)
            self._leads[max(a, b, key=_natural)] = min(a, b, key=_natural)

    def _lead(self, host):
        self._leads.setdefault(host, host)
        while self._leads[host] != host:
            host = self._leads[host]
        return host

    def machine(self, host):
        """'node7', 'node7 and 3 others'"""
        if self._together:
            return ''
        lead = self._lead(host)
        others = sum(self._lead(h) == lead for h in self._leads) - 1
        return (text.clean(lead, HOST_MAX) or 'unknown host') + (
            ' and %s' % text.plural(others, 'other') if others else '')

    def of(self, result):
        return self._of[id(result)]

    @property
    def several(self):
        return len(self.all) > 1 or len(self.machines) > 1 or any(len(fs) > 1 for fs in self._file_systems.values())

    def name(self, system, fs=None):
        """What tells it from the others, '' where it is the only one. fs: a file system of it."""
        known, alike = system in self.all, [s for s in self.all if s.machine == system.machine]
        parts = [system.machine] if len(self.machines) > 1 else []
        for key, shown in SHOWN.items() if known else ():
            if len({getattr(s, key) for s in alike}) > 1:
                parts.append(shown(getattr(system, key)))
        mine = self._file_systems.get(system, {})
        if fs and len(mine) > 1:
            at_same = [f for f in mine if f[:2] == fs[:2]]
            parts.append(fs.shown if len(at_same) > 1 else fs._replace(source='').shown)
        return ', '.join(parts)

    def whose(self, result):
        """The name of what a result was measured on, with its file system."""
        return self.name(self.of(result), next(iter(file_systems(result)), None))

    @property
    def names(self):
        """Of all that are kept apart, [] where there is one; what has no file system is of its system, not one of its own."""
        found = dict.fromkeys(filter(None, map(self.whose, self._named)))
        found.update(dict.fromkeys(self.machines if len(self.machines) > 1 else ()))
        return [name for name in found if not any(other.startswith(name + ', ') for other in found)]

    def on(self, host):
        """The name of a machine where there are several."""
        return self.machine(host) if len(self.machines) > 1 else ''


def place(places, system, fs):
    """That of those with a system and a file system which is this one, None where it is none of them. A file system
    is known of what writes only: unknown is the same as any."""
    for p in places:
        if p.system == system and (not p.fs or not fs or p.fs == fs):
            p.fs = p.fs or fs
            return p
    return None


SHOWN = {'simulation': lambda v: 'simulated on ' + v if v else 'measured', 'cpu': lambda v: v or 'unknown processor',
          'mpi': lambda v: v or 'unknown MPI library',
          'memory': lambda v: '%.4g GiB of memory' % (v / 2 ** 30) if v else 'unknown memory'}


def _natural(host):
    """node9 before node10."""
    return [(int(part), '') if part.isdigit() else (-1, part) for part in re.split(r'(\d{1,18})', host)]


# --- runs of nht1-bt ----------------------------------------------------------------------------

class Run:
    """One run. Numbers that are not known are NaN."""

    def __init__(self, result, node):
        self.result, self.json = result, node
        self.writer = word(node, 'writer') or word(node, 'driver') or 'unknown'
        self.writes = self.writer != 'none'
        self.t_t_s = positive(real(node, 't_t_s'))
        self.t_c_s = positive(real(node, 't_c_s'))
        self.given = word(result.root, 't_c.origin') == 'given'  # t_c_s, by --tc
        of = members(result.root, 't_c')
        self.stored = '%s, %s x %s' % (word(of, 'measured_utc')[:10] or 'unknown day', text.plural(integer(of, 'ranks'), 'rank'), text.plural(
            integer(of, 'threads'), 'thread')) if word(of, 'origin') == 'store' else ''
        self.bytes = real(node, 'bytes')
        self.round = integer(node, 'round')
        self.verified = true(node, 'verified')
        self.official = true(node, 'official')
        self.page_cache = true(node, 'cache.page_cache')
        self.stamps = stamps(node)
        self.side = ''  # of runs/study ab, where both are there
        self.fs, fs = _file_system(node, result), word(node, 'file.file_system')
        self.striping = striping_of(members(node, 'file').get('striping')) if self.writes else ''
        # Writers that leave no serial file: parts of one have a run id, dropped data have none.
        nowhere = self.writes and fs == 'none'
        self.serial, self.drops = not nowhere, nowhere and not word(node, 'file.run_id')
        # What drops the data has no rate.
        self.write_rate = NAN if self.drops else positive(real(node, 'write_rate_bytes_per_s'))
        self.finished = self.t_t_s > 0 and not members(node, 'resumed') and \
            at(node, 'completed') is not False and word(node, 'proof.state') != 'failed'  # not verified to its end
        self.wrong = at(node, 'norms.ok') is False or \
            word(node, 'proof.state') == 'wrong'

    @property
    def problem(self):
        """What the group is known by, beside system and file system."""
        p = members(self.result.root, 'problem')
        interval, steps = integer(p, 'interval'), integer(p, 'steps')
        dt = real(p, 'dt')
        return (integer(p, 'n'), steps, None if dt != dt else dt, interval,
                integer(p, 'dumps_n', steps // interval if interval > 0 else 0), true(p, 'last'),
                word(p, 'layout'), word(self.result.root, 'options.sync'))

    @property
    def computing(self):
        """What T_C depends on, on one machine: processor, MPI library, nodes, cores in use, problem."""
        root = self.result.root
        return self.problem[:3] + (
            integer(root, 'system.nodes', 1), integer(root, 'system.cores_in_use'),
            of_one_word(word(root, 'system.cpu.model')), mpi_of(root), simulation_of(root))

    @property
    def configuration(self):
        """What a compute-only run shares with the runs that are compared with it, beside the
        environment."""
        known = dict(self.identity)
        return self.computing + tuple(known.get(k) for k in ('ranks', 'threads', 'decomp', 'isa'))

    @property
    def environment(self):
        """What a study set."""
        return tuple(sorted(self.result.environment.items()))

    @property
    def options(self):
        """{name: text} of what was asked of this writer and differs from the default."""
        root, own = self.result.root, at(self.json, 'options')
        changed = at(root, 'options_changed')
        if not isinstance(changed, dict):  # older results: those of the command line
            try:
                line = shlex.split(word(root, 'command_line'))
            except ValueError:
                line = word(root, 'command_line').split()
            given = {w[2:].partition('=')[0].replace('-', '_') for w in line if w.startswith('--')}
            changed = {k: v for k, v in members(root, 'options').items() if k in given}
        known = {k.replace('-', '_'): v for k, v in changed.items()}
        if isinstance(own, dict):  # of this writer alone, as the program says
            known = {k: v for k, v in known.items() if k not in writer_options()}
            known.update((k.replace('-', '_'), v) for k, v in own.items())
        return {k: _option_text(v) for k, v in known.items()
                if k not in NOT_VARIED and v is not None}

    @property
    def hints(self):
        """['cb_nodes=1', ...], as they were asked for."""
        own = at(self.json, 'options')
        asked = words(own, 'hint') if isinstance(own, dict) else \
            words(self.result.root, 'options.hint') if self.writer.startswith('mpiio') else []
        return sorted(asked)

    @property
    def through_mpiio(self):
        return word(self.json, 'file.mpiio_component') != ''

    @property
    def component(self):
        """The MPI-IO component in force, '' where it is not known or there is none."""
        component = word(self.json, 'file.mpiio_component').partition(' (')[0]
        return '' if component == 'unknown' else component

    @property
    def token_group(self):
        """Ranks that may write at a time, for writers that obey a group size, else 0."""
        own = at(self.json, 'options')
        obeys = 'group' in own if isinstance(own, dict) else False
        if not obeys and not self.writer.startswith('token'):
            return 0
        size = integer(own, 'group') or integer(self.json, 'file.group') or \
            integer(self.result.root, 'options.group')
        return max(0, min(size, integer(self.result.root, 'system.ranks', 1)))

    @property
    def identity(self):
        """((key, text), ...) of everything that was varied beside problem and system."""
        system = members(self.result.root, 'system')
        known = [('writer', self.writer), ('ranks', integer(system, 'ranks', 1)),
                 ('threads', integer(system, 'threads', 1)), ('nodes', integer(system, 'nodes', 1)),
                 ('cores', integer(system, 'cores_in_use')), ('decomp', word(self.json, 'decomp') or word(system, 'decomp'))]
        if self.token_group:
            known.append(('group', self.token_group))
        known += sorted(self.options.items())
        known += [('striping', self.striping)] if self.striping else []
        known += [('hint', ' '.join(self.hints))] if self.hints else []
        known += [('component', self.component)] if self.component else []
        known += [('side', self.side)] if self.side else []
        known += [('env.' + k, v) for k, v in self.environment]
        return tuple(known)


def striping_of(value):
    """'8 stripes of 1 MiB', as a parallel file system tells of a file."""
    if not isinstance(value, dict):
        return ''
    count, unit, pool = integer(value, 'count'), integer(value, 'unit_bytes'), word(value, 'pool')
    return text.of(text.plural(count, 'stripe') + (' of %s' % text.size_iec(unit) if unit > 0 else '') if count > 0 else '',
                   'pool ' + pool if pool else '')


def _option_text(value):
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    if isinstance(value, list):
        return ' '.join(_option_text(v) for v in value)
    return text.clean(value if isinstance(value, str) else json.dumps(value), 200)


def nearest(found, seconds, median_s):
    """That of some whose time is nearest to their median; of two that are as near, as in an even number, the slower one."""
    off = min(abs(seconds(f) - median_s) for f in found)
    return max((f for f in found if abs(seconds(f) - median_s) <= off * (1 + 1e-9)), key=seconds)


class Cell:
    """Runs with one identity. Statistics (median_s, write_rate and so on) are answers of nht1-stats, medians of the runs;
    NaN before they came."""

    def __init__(self, group, run):
        self.group, self.identity, self.runs = group, dict(run.identity), []
        self.writer, self.writes, self.serial, self.drops = \
            run.writer, run.writes, run.serial, run.drops
        self.ranks, self.threads = self.identity['ranks'], self.identity['threads']
        self.nodes, self.decomp = self.identity['nodes'], self.identity['decomp']
        self.cores_in_use = self.identity['cores']
        self.token_group = run.token_group
        self.processors = self.ranks * self.threads
        self.cores = integer(run.result.root, 'system.cores_of_nodes')
        self.oversubscribed = 0 < self.cores < self.processors
        self.median_s = self.best_s = self.lo_s = self.hi_s = self.t_c_s = self.write_rate = NAN
        self.given = False  # t_c_s, by --tc
        self.stored = ''    # when and with which ranks t_c_s was measured, where a store alone knows it
        self.outliers, self.label, self.typical = 0, self.writer, run

    @property
    def computing(self):
        """What T_C depends on, of all its runs: what is not the system's is part of problem and identity."""
        return self.group.system, self.runs[0].computing

    @property
    def verified(self):
        return all(r.verified for r in self.runs)

    @property
    def official(self):
        return all(r.official for r in self.runs)

    @property
    def page_cache(self):
        return any(r.page_cache for r in self.runs)

    @property
    def n(self):
        return len(self.runs)

    @property
    def zeta(self):
        return self.median_s / self.t_c_s - 1 if self.writes else NAN

    def rate(self, t_t_s):
        """R_IO = 40 N^3 D / T_T, bytes/s; NaN where the data are dropped."""
        return 40.0 * self.group.n ** 3 * self.group.dumps_n / t_t_s \
            if self.writes and not self.drops else NAN

    @property
    def r_io(self):
        return self.rate(self.median_s)

    def take(self, answer):
        """answer: of nht1-stats to `summary` of the runs' T_T; of few there is no interval."""
        value = {k: NAN if answer.get(k) is None else answer[k] for k in
                 ('median', 'min', 'ci_lo', 'ci_hi')}
        self.median_s, self.best_s = value['median'], value['min']
        self.lo_s, self.hi_s = value['ci_lo'], value['ci_hi']
        self.outliers = answer.get('outliers') or 0
        self.typical = nearest(self.runs, lambda r: r.t_t_s, self.median_s)

    def stamps(self):
        """Of its runs, each code once, with the number of runs that have it; those of the typical
        run lead."""
        return counted(run.stamps for run in [self.typical] + [r for r in self.runs if r is not self.typical])


class Group:
    """One problem on one system, with one file system."""

    def __init__(self, run, system, fs):
        (self.n, self.steps, self.dt, self.interval, self.dumps_n, self.last,
         self.layout, self.sync) = self.problem = run.problem
        self.system, self.cpu = system, system.cpu
        self.cls = word(run.result.root, 'problem.class')
        self.fs, self.cells, self.common = fs, [], []
        self.whose = ''  # what tells its system and file system from the others, '' where there are none
        self.details = []  # of its problem, where others of the same name differ in them

    @property
    def name(self):
        return text.of('N = %d%s, %d steps, a dump every %d' % (
            self.n, ', class ' + self.cls[:8] if self.cls not in ('', 'U') else '', self.steps,
            self.interval), *self.details)

    @property
    def results(self):
        """That have runs in it."""
        return list({id(run.result): run.result for c in self.cells for run in c.runs}.values())

    @property
    def bytes(self):
        return 40.0 * self.n ** 3 * self.dumps_n

    @property
    def processors(self):
        """Different counts, ascending."""
        return sorted({c.processors for c in self.cells})

    def _able(self, processors):
        """Cells that write a serial file, of all or of one count of processors, those with the shortest median first;
        oversubscribed and unverified ones, then those with few runs (less than six, and than two thirds of another's), come after the others."""
        able = [c for c in self.cells if c.writes and c.serial and
                processors in (0, c.processors) and c.median_s == c.median_s]
        most = {}
        for c in able:
            most[c.oversubscribed, c.verified] = max(c.n, most.get((c.oversubscribed, c.verified), 0))
        return sorted(able, key=lambda c: (c.oversubscribed, not c.verified, c.n < min(6, most[c.oversubscribed, c.verified] * 2 / 3), c.median_s))

    def best(self, processors=0):
        """The first of these, None where there is none."""
        return next(iter(self._able(processors)), None)

    def passed_over(self, processors=0):
        """'mpiio, 1 run, was faster: 11.0 s': the fastest that has too few runs to be the best, '' where there is none."""
        able = self._able(processors)
        faster = [c for c in able if (c.oversubscribed, c.verified) == (able[0].oversubscribed, able[0].verified) and
                  c.median_s < able[0].median_s]
        if not faster:
            return ''
        c = min(faster, key=lambda c: c.median_s)
        return '%s%s, %s, was faster: %s s' % (
            c.label, '' if c.processors == able[0].processors else ' on ' + text.plural(c.processors, 'processor'),
            text.plural(c.n, 'run'), text.number(c.median_s))

    def t_c(self, processors):
        return least(c.t_c_s for c in self.cells if c.processors == processors)


def _sides(results):
    """{id(result): 'A'} of results of runs/study ab of which both sides are there; where there are several, with the folder."""
    of = {}
    for r in (r for r in results.of('nht1-bt') if r.side and r.study_round):
        of.setdefault(r.study_round[0], []).append(r)
    of = {folder: mine for folder, mine in of.items() if len({r.side for r in mine}) > 1}
    names = [os.path.basename(folder) for folder in of]
    return {id(r): text.clean(r.side + (' of ' + (name if names.count(name) == 1 else folder)) * (len(of) > 1))
            for (folder, mine), name in zip(of.items(), names) for r in mine}


class Runs:
    """All runs of nht1-bt, in groups: the official problem first, then the larger before the
    smaller, and what was flushed before what was not. level: of intervals. systems: of more results than these, where these are not all."""

    def __init__(self, results, level=0.95, systems=None):
        self.groups, self.unfinished, self.wrong, self.all = [], 0, 0, []
        self.systems = systems or Systems(results)
        cells, sides = {}, _sides(results)
        self.without = []  # results without a run that came to its end
        for result in results.of('nht1-bt'):
            runs = [Run(result, node) for node in items(result.root, 'runs')]
            if not any(run.finished for run in runs):
                self.without.append(result)
            fs = next((r.fs for r in runs if r.fs), None)
            for run in runs:
                run.side = sides.get(id(result), '')
                if run.wrong:
                    self.wrong += 1
                elif not run.finished:
                    self.unfinished += 1
                else:
                    group = self._group(run, run.fs or fs)
                    key = (id(group), run.identity)
                    if key not in cells:
                        cells[key] = Cell(group, run)
                        group.cells.append(cells[key])
                    cells[key].runs.append(run)
                    self.all.append(run)
        self._judge(level)

    def _group(self, run, fs):
        system = self.systems.of(run.result)
        group = place([g for g in self.groups if g.problem == run.problem], system, fs)
        if not group:
            group = Group(run, system, fs)
            self.groups.append(group)
        return group

    def _judge(self, level):
        """Medians, intervals, T_C and names of all cells."""
        cells = [c for g in self.groups for c in g.cells]
        rates = [(c, [r.write_rate for r in c.runs if r.write_rate == r.write_rate]) for c in cells]
        rates = [(c, of_runs) for c, of_runs in rates if of_runs]
        answers = stats.ask([
            {'what': 'summary', 'values': [r.t_t_s for r in c.runs], 'level': level,
             'jobs': stats.jobs(id(r.result) for r in c.runs)} for c in cells] + [
                 {'what': 'summary', 'values': of_runs} for _, of_runs in rates])
        for cell, answer in zip(cells, answers):
            cell.take(answer)
        for (cell, _), answer in zip(rates, answers[len(cells):]):
            cell.write_rate = answer['median']
        known = {}  # best T_C by what it depends on; layout, durability and file system have no part in it
        stored, measured = {}, {run.t_t_s for c in cells if not c.writes for run in c.runs}
        for cell in cells:
            for run in cell.runs:
                if run.stored:
                    stored[cell.computing, run.t_c_s] = run.stored
            known.setdefault(cell.computing, []).extend(t for run in cell.runs for t in (
                NAN if run.given else run.t_c_s, NAN if run.writes or not run.verified else run.t_t_s))
        for cell in cells:
            cell.t_c_s, first = least(known[cell.computing]), cell.runs[0]
            if cell.t_c_s != cell.t_c_s and all(run.given and run.t_c_s == first.t_c_s for run in cell.runs):
                cell.t_c_s, cell.given = first.t_c_s, True
            elif cell.t_c_s not in measured:
                cell.stored = stored.get((cell.computing, cell.t_c_s), '')
        for group in self.groups:
            group.whose = self.systems.name(group.system, group.fs)
            alike = [g for g in self.groups if (g.n, g.steps, g.interval) == (group.n, group.steps, group.interval)]
            group.details = [words for what, words in (
                ('dt', 'dt unknown' if group.dt is None else 'dt = %g' % group.dt),
                ('dumps_n', text.plural(group.dumps_n, 'dump')),
                ('last', 'one dump kept' if group.last else 'all dumps kept')) if len({getattr(g, what) for g in alike}) > 1]
            group.cells.sort(key=lambda c: (c.processors, not c.writes, c.median_s))
            _name(group)
        self.groups.sort(key=lambda g: (not any(c.official for c in g.cells), -g.n, g.sync == 'none',
                                        -len(g.cells)))

    def alone(self, group, processors, cell):
        """What computing only takes with so many processors: T_C, that of a cell where there is one; where they are
        more than the cores, whose T_C that is, the best time measured with as many, NaN when there is none."""
        if cell is not None and not cell.oversubscribed:
            return cell.t_c_s
        if not any(c.oversubscribed for c in group.cells if c.processors == processors):
            return group.t_c(processors)
        return least(c.best_s for g in self.groups
                     if (g.problem[:3], g.system) == (group.problem[:3], group.system)
                     for c in g.cells if not c.writes and c.processors == processors)


# --- names --------------------------------------------------------------------------------------

def option_shown(key, value):
    """What was varied as people write it: 'hint cb_nodes=1', '--buffer 65536', 'OMPI_MCA_io=x'."""
    if key == 'hint':
        return ', '.join('hint ' + h for h in value.split(' '))
    if key == 'group':
        return 'group %d' % value
    if key == 'striping':
        return value
    if key in ('component', 'side'):
        return value
    if key == 'nodes':
        return 'on %s' % text.plural(value, 'node')
    if key == 'cores':
        return 'on %s' % (text.plural(value, 'core') if value else 'unknown cores')
    if key.startswith('env.'):
        return '%s=%s' % (key[4:], value)
    if key.startswith('set.'):
        return '%s %s' % (key[4:], value)
    name = '--' + key.replace('_', '-')
    return name if value == 'yes' else '%s %s' % (name, value)


def _name(group):
    """Gives the cells of a group the shortest names that tell them apart; what all have in common
    goes to group.common, said once."""
    shape = ('writer', 'ranks', 'threads', 'nodes', 'cores', 'decomp')
    cells = [c for c in group.cells if c.writes] or group.cells
    keys = sorted({k for c in cells for k in c.identity if k not in shape})
    # A component can be had in common by those alone that go through MPI-IO.
    values = {k: {c.identity.get(k) for c in cells if k != 'component' or c.typical.through_mpiio}
              for k in keys}
    common = [k for k in keys if len(values[k]) == 1 and k != 'group' and len(cells) > 1]
    group.common = ['MPI-IO by ' * (k == 'component') + option_shown(k, *values[k]) for k in common]
    for cell in group.cells:
        alike = [c for c in group.cells if c.processors == cell.processors and
                 c.writer == cell.writer]
        peers = [c for c in group.cells if c.processors == cell.processors]
        parts = [option_shown(k, v) for k, v in cell.identity.items()
                 if k not in shape and k not in common and not
                 (k == 'component' and v in [w for e, w in cell.identity.items()
                                             if e.startswith('env.')])]
        if len({c.ranks for c in peers}) > 1 or len({c.nodes for c in peers}) > 1:
            parts.append('%s x %s%s' % (text.plural(cell.ranks, 'rank'),
                                        text.plural(cell.threads, 'thread'), ''
                                        if cell.nodes < 2 else ' on %d nodes' % cell.nodes))
        if len({c.decomp for c in alike if c.ranks == cell.ranks}) > 1:
            parts.append(cell.decomp)
        if len({c.cores_in_use for c in alike if (c.ranks, c.nodes) == (cell.ranks, cell.nodes)}) > 1:
            parts.append(option_shown('cores', cell.cores_in_use))
        cell.label = ', '.join([cell.writer] + parts)
