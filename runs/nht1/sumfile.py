# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the summaries (.sum) that b_eff and b_eff_io leave, those of this suite and those of the
released programs, so that old results stand beside new ones.

read(path) gives a list of results, one per partition for b_eff_io, or None where the file is no
summary. A result is a dict; what the file does not say is None. Rates are bytes per second (the
files have MB/s of 10^6 bytes), times seconds, memory bytes.

    of both     program ('b_eff' or 'b_eff_io'), path, ours (written by this suite), version,
                procs, system (the end of the last line), date, memory_per_process_bytes, value,
                valid, faults: [(line, column, words)], what is wrong with the file, the same list in
                all of its results
    b_eff       lmax_bytes, at_lmax, rings_at_lmax, latency_s, rings_latency_s, ping_pong_s,
                ping_pong, rings (names of the six ring patterns), sizes, elapsed_s
    b_eff_io    definition, scheduled_s, access {write, rewrite, read},
                types {access: [5 rates]}, chunks {access: {position 1..8: {bytes, rates [5]}}},
                pattern_2 {access: rate}, cache_honest, cache_factor, buffer_offset_bytes, files_counted, amount_bytes,
                memory_total_bytes, m_part_bytes, errors_n, headline (largest of the file)

Old files are somebody else's: what is not a number where one is expected is a fault and passed over, and
so is what contradicts itself: totals and values are computed again from the rows. Texts are cleaned,
sizes limited."""
import math
import re

from . import text, trouble

SIZE_MAX_BYTES, LINE_MAX, FAULTS_MAX = 1 << 24, 2000, 50
MB, MIB = 1e6, 1 << 20
ACCESSES = ('write', 'rewrite', 'read')
CHUNKS = (1024, 1032, 32768, 32776, 1048576, 1048584)  # then M_PART
NUMBER = r'([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)'
WRONG_DATA = -999.999


class File:
    """Lines of a summary, and what is wrong with them."""

    def __init__(self, path, raw):
        self.path, self.faults, self.more_n = path, [], 0
        self.lines = []
        for at, line in enumerate(raw.decode('utf-8', 'replace').split('\n'), 1):
            line = line.rstrip('\r')
            found = text.HARMFUL.search(line.replace('\t', ' ')) or re.search('\ufffd', line)
            if found:
                self.fault(at, found.start() + 1, 'a character that has no place in a text')
            if len(line) > LINE_MAX:
                self.fault(at, LINE_MAX + 1, 'the line is longer than %d characters' % LINE_MAX)
            self.lines.append(text.clean(line.replace('\t', ' '), LINE_MAX))
        if raw and not raw.endswith(b'\n'):
            self.fault(len(self.lines), len(self.lines[-1]) + 1, 'the file ends within a line')

    def fault(self, line, column, words):
        if len(self.faults) < FAULTS_MAX:
            self.faults.append((line, column, words))
        else:
            self.more_n += 1

    def ended(self):
        """Sorts the faults by their lines; the last one says how many more there are."""
        self.faults.sort()
        if self.more_n:
            line, column, words = self.faults[-1]
            self.faults[-1] = (line, column, '%s; and %s of which no more is told' % (words, text.plural(self.more_n, 'finding')))

    def number(self, at, match, group=1, least=-math.inf):
        """The number at a group of a match in line at; None where it is none, which is a fault."""
        word = match.group(group)
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and abs(value) < 1e15 and value >= least:
            return value
        self.fault(at, match.start(group) + 1, "'%s' is no number that can stand here" % word[:40])
        return None

    def words(self, at, begin=0):
        return [(m.start() + 1, m.group()) for m in re.finditer(r'\S+', self.lines[at - 1]) if m.start() >= begin]

    def rate(self, at, column, word):
        """A rate in a table, bytes/s: None for "-" and for what stands for wrong data."""
        if word == '-':
            return None
        match = re.fullmatch(NUMBER, word)
        value = float(word) if match else math.nan
        if value == WRONG_DATA:
            return None
        if math.isfinite(value) and 0 <= value < 1e12:
            return value * MB
        self.fault(at, column, "'%s' is no rate" % word[:40])
        return None

    def differs(self, at, printed, computed, what, rounding):
        """A fault where a value is not what follows from others; rounding: of what is printed."""
        if printed is None or computed is None or abs(printed - computed) <= rounding + 1e-9 * abs(computed):
            return
        line = self.lines[at - 1]
        m = re.search(r'(?<![\d.])%s(?:0*)(?![\d])' % re.escape('%g' % printed), line) or re.search(r'\d', line)
        self.fault(at, m.start() + 1 if m else 1, '%s is %s here, and %s computed from the rest of the file' % (
            what, _short(printed), _short(computed)))


def _short(value):
    return '%.3f' % value if abs(value) < 1e6 and value != int(value) else '%d' % value


def _mb(value):
    return None if value is None else value / MB


def _known(*values):
    return all(v is not None for v in values)


def read(path):
    """The results in a file, or None: it is no summary. Trouble where it cannot be read."""
    try:
        with open(path, 'rb') as f:
            raw = f.read(SIZE_MAX_BYTES + 1)
    except (OSError, ValueError) as e:
        raise trouble.failed('%s: cannot read: %s' % (
            text.clean(path), getattr(e, 'strerror', None) or e))
    if len(raw) > SIZE_MAX_BYTES:
        raise trouble.usage('%s: line 1, column 1: no summary is larger than %d MiB' % (text.clean(path), SIZE_MAX_BYTES >> 20))
    if not re.search(rb'b_eff|nht1-beff|bandwidth accumulated on', raw):
        return None
    f = File(path, raw)
    has = {'b_eff_io': r'b_eff_io\.c, |nht1-beffio \S+, |Summary of file I/O bandwidth| ?b_eff_io *= .* processes',
           'b_eff': r'b_eff\.c, |nht1-beff \S+, |\s*b_eff\S*\s*=.*PEs with'}
    program = next((p for p, pattern in has.items() if any(re.match(pattern, line) for line in f.lines)), None)
    if program is None:
        return None
    found = _B_eff_io(f).results() if program == 'b_eff_io' else [_b_eff(f)]
    f.ended()
    for r in found:
        r['faults'] = f.faults
    return found or None


def sentences(faults, path):
    """What is wrong with a file, a sentence each."""
    return ['%s: line %d, column %d: %s' % (text.clean(path), line, column, words) for line, column, words in faults]


def _common(f, program, last):
    ours = next((m for m in (re.match(r'nht1-\w+ ([^\s,]+), definition (\S+)', line) for line in f.lines[:10]) if m), None)
    date = next((m.group(1) for m in (re.match(r'Date of measurement: (.*)', line) for line in f.lines) if m), None)
    return {'program': program, 'path': f.path, 'ours': ours is not None,
            'version': ours.group(1) if ours else None, 'date': date, 'procs': None,
            'definition': ours.group(2) if ours else None,
            'system': (re.search(r'(?:Min,|MB/PE) on (.*?)(?:, (?:NOT |with ).*)?$', last) or [None, None])[1],
            'memory_per_process_bytes': None, 'value': None, 'valid': None, 'faults': f.faults}


# --- b_eff ----------------------------------------------------------------------------------------

ACCUMULATED = ('procs', 'value', 'lmax', 'unit', 'at_lmax', 'rings', 'latency', 'rings_latency', 'ping_pong_latency',
               'ping_pong')
LAST_B_EFF = (r'\s*b_eff(\S*)\s*=\s*(\S+)\s*MB/s\s*=\s*(\S+)\s*\*\s*(\S+)\s*PEs with\s*(\S+)\s*MB/PE on')


def _table_row(f, label, columns):
    """{column: number} of a row of the table, and its line."""
    for at, line in enumerate(f.lines, 1):
        if not re.match(label + r'\s*\|', line):
            continue
        words = f.words(at, line.index('|') + 1)
        found = {}
        if len(words) != len(columns):
            f.fault(at, 1, 'the row has %d values instead of %d' % (len(words), len(columns)))
        for (column, word), name in zip(words, columns):
            if name == 'unit' or word == '-':
                continue
            m = re.compile(r'(\S+)').search(line, column - 1)
            found[name] = f.number(at, m, 1, 0)
        return found, at
    return {}, None


def _b_eff(f):
    at = next((n for n in range(len(f.lines), 0, -1) if re.match(r'\s*b_eff\S*\s*=.*PEs with', f.lines[n - 1])), None)
    last = f.lines[at - 1] if at else ''
    r = _common(f, 'b_eff', last)
    r['definition'] = r['definition'] or '3.6'
    m = re.match(LAST_B_EFF, last)
    each = None
    if m:
        value, each, procs, memory = (f.number(at, m, group, 0) for group in (2, 3, 4, 5))
        r.update(value=None if value is None else value * MB, procs=None if procs is None else int(procs),
                 memory_per_process_bytes=None if memory is None else int(memory * MIB),
                 # "b_effSHORT", "b_effTEST", "b_eff(NOT_VALID)" are none of b_eff.
                 valid=m.group(1) == '')
        if _known(value, each, procs):
            decimals = len(m.group(3).partition('.')[2])
            f.differs(at, value, each * procs, 'b_eff', 0.6 * 10 ** -min(decimals, 9) * (procs + 1))
    elif at:
        f.fault(at, 1, 'the last line cannot be read')
    else:
        f.fault(len(f.lines), 1, 'the file ends before its last line, "b_eff ="')
    row, line = _table_row(f, 'accumulated', ACCUMULATED)
    if not line:
        f.fault(len(f.lines), 1, 'there is no row "accumulated" in the file')
    per, line_per = _table_row(f, 'per process', ('value', 'at_lmax', 'rings'))

    def scaled(name, factor):
        return None if row.get(name) is None else row[name] * factor
    r.update(lmax_bytes=scaled('lmax', MIB), at_lmax=scaled('at_lmax', MB), rings_at_lmax=scaled('rings', MB),
             latency_s=scaled('latency', 1e-6), rings_latency_s=scaled('rings_latency', 1e-6),
             ping_pong_s=scaled('ping_pong_latency', 1e-6), ping_pong=scaled('ping_pong', MB))
    if r['value'] is None and not m:
        r['value'] = scaled('value', MB)
    _b_eff_head(f, r)
    procs = row.get('procs')
    if line and r['procs'] is None and procs:
        r['procs'] = int(procs)
    if line and m:
        f.differs(line, procs, r['procs'], 'the number of processes', 0)
        f.differs(line, row.get('value'), _mb(r['value']), 'b_eff', 0.51)
    for name in ('value', 'at_lmax', 'rings') if line_per and procs else ():
        if _known(per.get(name), row.get(name)):
            f.differs(line_per, per[name], row[name] / procs, 'a value per process', 0.51 + 0.5 / procs)
    if line and r['sizes']:
        f.differs(line, row.get('lmax'), r['sizes'][-1] / MIB, 'Lmax in MB', 0.51 if r['sizes'][-1] >= MIB else 0.001)
    return r


def _b_eff_head(f, r):
    r.update(sizes=[], rings=[], elapsed_s=None, buffer_offset_bytes=None)
    for at, line in enumerate(f.lines, 1):
        if line.startswith('msglng='):
            for m in re.finditer(r'(?<=[ =])([^ =]+)', line):
                size = f.number(at, m, 1, 1)
                if size is not None:
                    r['sizes'].append(int(size))
            if len(r['sizes']) != 21 or r['sizes'] != sorted(r['sizes']):
                f.fault(at, 8, 'there are not 21 lengths, each longer than the one before')
        m = re.match(r'Total execution wall clock time =\s*(\S+) seconds', line)
        if m:
            r['elapsed_s'] = f.number(at, m, 1, 0)
        m = re.match(r'Buffers +(\d{1,4}) to (\d{1,4}) bytes off a page', line)
        if m:
            r['buffer_offset_bytes'] = [int(m.group(1)), int(m.group(2))]
        r['rings'] += re.findall(r'\d=(ring-\S+)', line)
        m = re.match(r'MEMORY_PER_PROCESSOR =\s*(\S+) MBytes', line)
        memory = f.number(at, m, 1, 0) if m else None
        if memory is not None:
            if r['memory_per_process_bytes'] is None:
                r['memory_per_process_bytes'] = int(memory * MIB)
            f.differs(at, memory, r['memory_per_process_bytes'] / MIB, 'the memory of a process in MBytes', 0)
        m = re.match(r'system parameters\s*:\s*(\S+) nodes', line)
        if m and r['procs'] is not None:
            f.differs(at, f.number(at, m, 1, 1), r['procs'], 'the number of processes', 0)


# --- b_eff_io -------------------------------------------------------------------------------------

class _B_eff_io:
    """One file: a state for each partition, checked when its lines are over."""

    def __init__(self, f):
        self.f, self.found, self.part = f, [], None
        at = next((n for n in range(len(f.lines), 0, -1) if re.match(r'\s*b_eff_io\s*=', f.lines[n - 1])), None)
        self.last_at, last = at, f.lines[at - 1] if at else ''
        self.common = _common(f, 'b_eff_io', last)
        self.common['definition'] = self.common['definition'] or (None if self.common['ours'] else '2.1')
        self.head = {'partitions': [], 't_s': None, 'memory_total_bytes': None, 'm_part_bytes': None}
        self.lines_of = {}  # {(partition, what): line}

    def results(self):
        for at, line in enumerate(self.f.lines, 1):
            if self.last_at and at >= self.last_at:
                break
            m = re.match(r'\s*Summary of file I/O bandwidth accumulated on\s+(\S+)\s+processes with\s+(\S+)\s*MByte', line)
            if m:
                self._begin(at, m)
            elif self.part is None:
                self._head(at, line)
            else:
                self._line(at, line)
        for part in self.found:
            self._check(part)
        self._last()
        self._added()
        rated = [p for p in self.found if p['value'] is not None]
        if rated:
            max(rated, key=lambda p: p['value'])['headline'] = True
        return self.found

    def _head(self, at, line):
        m = re.match(r'-N\s+([\d,]+)\s+T=([^\s,]+), MT=(\S+) MBytes', line)
        if m:
            self.head['partitions'] = [int(n) for n in m.group(1).split(',') if n][:100]
            self.head['t_s'] = self.f.number(at, m, 2, 0)
            total = self.f.number(at, m, 3, 0)
            self.head['memory_total_bytes'] = None if total is None else int(total * MIB)
        m = re.match(r'Maximum chunk size\s*=\s*(\S+)\s*MBytes', line)
        if m:
            part = self.f.number(at, m, 1, 0)
            self.head['m_part_bytes'] = None if part is None else int(round(part * MIB))

    def _begin(self, at, m):
        procs, memory = self.f.number(at, m, 1, 1), self.f.number(at, m, 2, 0) if m.group(2) else None
        self.part = dict(
            self.common, procs=None if procs is None else int(procs), scheduled_s=None,
            memory_per_process_bytes=None if memory is None else int(memory * MIB),
            access={a: None for a in ACCESSES}, types={}, chunks={a: {} for a in ACCESSES}, pattern_2={},
            cache_honest=None, cache_factor=None, buffer_offset_bytes=None, files_counted=None, headline=False,
            amount_bytes=None, errors_n=None, memory_total_bytes=self.head['memory_total_bytes'],
            m_part_bytes=self.head['m_part_bytes'], line=at)
        self.found.append(self.part)
        if len(self.found) > 100:
            raise trouble.usage('%s: line %d, column 1: more than 100 partitions' % (text.clean(self.f.path), at))

    def _at(self, what, at):
        """Keeps the line of something; False where it is there twice, which is a fault."""
        before = self.lines_of.setdefault((id(self.part), what), at)
        if before != at:
            self.f.fault(at, 1, 'the same as in line %d once more: the first holds' % before)
        return before == at

    def _line(self, at, line):
        f, part = self.f, self.part
        if re.match(r'\s*(?!of )\S+ PEs\b', line):
            return self._row(at)
        for pattern, act in self.PATTERNS:
            m = re.match(pattern, line)
            if m:
                return act(self, f, part, at, m)
        return None

    def _row(self, at):
        """A line "N PEs ..." of the table."""
        f, part, words = self.f, self.part, self.f.words(at)
        if words[0][1] != str(part['procs']):
            f.fault(at, words[0][0], "a row of '%s' processes among those of %s" % (words[0][1][:20], part['procs']))
            return
        kind = words[2][1] if len(words) > 2 else ''
        total = kind.startswith('total-')
        access = kind[6:] if total else words[4][1] if len(words) > 4 else ''
        rates = words[3 if total else 5:]
        if not (total or re.fullmatch('[1-8]', kind)) or access not in ACCESSES or len(rates) != 5:
            f.fault(at, words[-1][0], 'no row of the table: it ought to have %s and five rates' % (
                'an access' if total else 'position 1 to 8, chunk size, access'))
            return
        if not self._at(('total' if total else kind, access), at):
            return
        rates = [f.rate(at, *w) for w in rates]
        if total:
            part['types'][access] = rates
            return
        size = words[3][1]
        if not re.fullmatch(r'\d{1,15}', size) or int(size) == 0:
            f.fault(at, words[3][0], "'%s' is no chunk size" % size[:40])
            return
        number = int(kind)
        if number <= len(CHUNKS) and int(size) != CHUNKS[number - 1]:
            f.fault(at, words[3][0], 'position %d is of chunks of %d bytes' % (number, CHUNKS[number - 1]))
        part['chunks'][access][number] = {'bytes': int(size), 'rates': rates}

    def _pattern_2(self, f, part, at, m):
        if self._at('bw_pat2', at):
            words = [(m.start(g) + 1, m.group(g)) for g in (1, 2, 3)]
            part['pattern_2'] = {a: f.rate(at, *w) for a, w in zip(ACCESSES, words)}

    def _weighted(self, f, part, at, m):
        if m.group(1) in ACCESSES and self._at(('average', m.group(1)), at):
            value = f.number(at, m, 2, 0) if m.group(2) != '-' else None
            part['access'][m.group(1)] = None if value is None else value * MB

    def _value(self, f, part, at, m):
        if not self._at('value', at):
            return
        value, minutes = f.number(at, m, 1, 0), f.number(at, m, 3, 0)
        part['value'] = None if value is None else value * MB
        f.differs(at, f.number(at, m, 2, 1), part['procs'], 'the number of processes', 0)
        exact = self._scheduled()
        part['scheduled_s'] = exact if exact is not None else None if minutes is None else minutes * 60
        if exact is not None and not part['ours']:
            f.differs(at, minutes, exact / 60, 'the scheduled time in min', 0.0501)

    def _scheduled(self):
        """T of the head says more than the minutes, which are rounded."""
        t_s, n = self.head['t_s'], len(self.head['partitions'])
        if t_s is None or n == 0:
            return None
        if self.common['definition'] == '2.1':
            return float(int(t_s / n)) if t_s / n >= 1 else t_s / n
        # 0.5 measures half of the processes for half of the time
        halves = self.common['definition'] == '0.5' and n == 2 and \
            self.head['partitions'][1] == self.head['partitions'][0] // 2
        return t_s / 2 if halves and len(self.found) == 2 else t_s

    def _amount(self, f, part, at, m):
        amount = f.number(at, m, 1, 0)
        part['amount_bytes'] = None if amount is None else amount * MIB

    def _percent(self, f, part, at, m):
        percent, total = f.number(at, m, 1, 0), f.number(at, m, 2, 0)
        if _known(percent, total, part['amount_bytes']) and total > 0:
            f.differs(at, percent, 100 * part['amount_bytes'] / (total * MIB), 'the share of the memory in percent', 0.06)

    def _validity(self, f, part, at, m):
        if self._at('valid', at):
            part['valid'] = not m.group(1)

    def _criterion(self, f, part, at, m):
        if m.group(1) == '3':
            n = re.search(r'error count \((\S+)\)', f.lines[at - 1])
            errors = f.number(at, n, 1, 0) if n else None
            part['errors_n'] = None if errors is None else int(errors)
        if m.group(2) and part['valid']:
            f.fault(at, m.start(2) + 1, 'VALID, and a criterion is not reached')

    PATTERNS = (
        (r'\s*bw_pat2=\s*(\S+) MB/s write,\s*(\S+) MB/s rewrite,\s*(\S+) MB/s read', _pattern_2),
        (r'\s*weighted average bandwidth for (\S+?)\s*:\s*(\S+) MB/s', _weighted),
        (r'\s*b_eff_io of these measurements\s*=\s*(\S+) MB/s on (\S+) processes.*time\s*=\s*(\S+)\s*[Mm]in', _value),
        (r'\s*Total amount of data written/read with each access method:\s*(\S+) MBytes', _amount),
        (r'\s*=\s*(\S+) percent of the total memory \((\S+) MBytes\)', _percent),
        (r'(NOT )?VALID for comparison', _validity),
        (r'\s*criterion (\d):.*?-- (NOT )?reached', _criterion))

    # What follows from the rows.

    def _check(self, part):
        f, mb = self.f, {a: [_mb(v) for v in part['types'].get(a, [])] for a in ACCESSES}

        def line(what):
            return self.lines_of.get((id(part), what))
        for access in ACCESSES:
            if not part['types'].get(access):
                f.fault(part['line'], 1, 'the partition of %s processes has no row total-%s' % (part['procs'], access))
            missing = [p for p in range(1, 8) if p not in part['chunks'][access]]
            if missing:
                f.fault(part['line'], 1, 'the partition of %s processes lacks %s of %s' % (
                    part['procs'], text.plural(len(missing), 'row'), access))
            v, at = mb[access], line(('average', access))
            if at and v:
                mean = (2 * v[0] + sum(v[1:])) / 6 if _known(*v) else v[0] if v[1:] == [None] * 4 else None
                released = part['definition'] == '2.1' and access == 'rewrite'
                if not (released and mean is not None and abs(_mb(part['access'][access] or 0) - v[0]) <= 0.002):
                    f.differs(at, _mb(part['access'][access]), mean, 'the average of ' + access, 0.002)
            self._totals(part, access)
        at, value = line('value'), self._computed(part, mb)
        if at:
            f.differs(at, _mb(part['value']), value, 'b_eff_io', 0.002 + 2e-5 * (value or 0))
        else:
            f.fault(part['line'], 1, 'the partition of %s processes has no value' % part['procs'])

    def _totals(self, part, access):
        """A type's bytes over its time lie below the fastest of its patterns, those that are in no row
        (one call each) apart."""
        at = self.lines_of.get((id(part), ('total', access)))
        for t, total in enumerate(part['types'].get(access, ())):
            rows = [r['rates'][t] for r in part['chunks'][access].values()]
            rows += [part['pattern_2'].get(access)] if t == 0 else []
            rows = [r for r in rows if r is not None]
            if at and total is not None and len(rows) >= 7 and total > 2 * max(rows) + 0.001 * MB:
                self.f.fault(at, 1, 'the total of type %d, %s MB/s, is more than twice what any of its patterns reaches' % (
                    t, _short(total / MB)))

    @staticmethod
    def _computed(part, mb):
        """The value of a partition in MB/s, from the totals; None where they do not say it."""
        w, again, r = (mb[a] for a in ACCESSES)
        if not _known(*w, *r) or len(w) != 5 or len(r) != 5 or not again:
            return None

        def mean(v):
            return (2 * v[0] + sum(v[1:])) / 6
        if part['definition'] == '2.1' and again[0] is not None:
            return math.sqrt((sum(w) + again[0]) / 6 * mean(r))
        if part['definition'] == '1.x' and _known(*again):
            return mean(w) / 4 + mean(again) / 4 + mean(r) / 2
        return _weighted_value(part) if part['definition'] == '0.5' else None

    def _last(self):
        """The last line is of the partition with the largest value."""
        f, at = self.f, self.last_at
        if not at:
            f.fault(len(f.lines), 1, 'the file ends before its last line, " b_eff_io ="')
            return
        m = re.match(r'\s*b_eff_io\s*=\s*(\S+) MB/s on (\S+) processes', f.lines[at - 1])
        if not m:
            f.fault(at, 1, 'the last line cannot be read')
            return
        value, procs = f.number(at, m, 1, 0), f.number(at, m, 2, 1)
        rated = [p for p in self.found if p['value'] is not None]
        if rated:
            best = max(rated, key=lambda p: p['value'])
            f.differs(at, value, _mb(best['value']), 'the largest value', 0.002)
            f.differs(at, procs, best['procs'], 'its number of processes', 0)
        elif value is not None and not self.found:
            minutes = re.search(r'scheduled time=(\S+) Min', f.lines[at - 1])
            memory = re.search(r'with (\d{1,12}) MByte', f.lines[at - 1])
            f.fault(at, 1, 'there is no partition in the file but the last line')
            self.part = None
            self._begin(at, re.match(r'.*?on (\S+) processes(?: with (\d+))?', f.lines[at - 1])) if memory else None
            if self.part:
                scheduled = f.number(at, minutes, 1, 0) if minutes else None
                self.part.update(value=value * MB, valid='NOT VALID' not in f.lines[at - 1],
                                 scheduled_s=None if scheduled is None else scheduled * 60)
        have, want = [p['procs'] for p in self.found], self.head['partitions']
        if want and have != want:
            f.fault(at, 1, 'the head names partitions of %s processes, the file has %s' % (
                ', '.join(map(str, want[:10])), ', '.join(map(str, have[:10])) or 'none'))

    def _added(self):
        """Behind the last line this suite says more."""
        f, left = self.f, {}  # partitions that a kind of line is still to come of
        for at in range((self.last_at or len(f.lines)) + 1, len(f.lines) + 1):
            line = f.lines[at - 1]
            m = re.match(r'  creation and removal of files are (not )?counted', line)
            if m:
                for part in self.found:
                    part['files_counted'] = not m.group(1)
            m = re.match(r'  (\d{1,9}) PEs: ((?:NOT )?CACHE-HONEST|buffers (\d{1,4}) to (\d{1,4}) bytes)', line)
            if not m:
                continue
            # Partitions of one size have a line each, in their order.
            procs = int(m.group(1))
            parts = left.setdefault((procs, m.group(3) is None), [p for p in self.found if p['procs'] == procs])
            if not parts:
                f.fault(at, m.start(1) + 1, 'of a partition of %d processes, and there is none, or no more of them' % procs)
                continue
            part = parts.pop(0)
            if m.group(3):
                part['buffer_offset_bytes'] = [int(m.group(3)), int(m.group(4))]
            else:
                part['cache_honest'] = m.group(2).startswith('CACHE')
                factor = re.search(NUMBER + r' times the', line)
                part['cache_factor'] = f.number(at, factor) if factor else None


# U of the patterns by position, of types 0, 1, and 2 to 4; position 8 is pattern 2.
WEIGHTS = ({1: 2, 2: 2, 3: 2, 4: 2, 5: 4, 6: 2, 7: 4, 8: 4}, {1: 1, 2: 1, 3: 1, 4: 1, 5: 2, 6: 2, 7: 4},
           *[{1: 1, 2: 1, 3: 1, 4: 1, 5: 2, 6: 2, 7: 2}] * 3)


def _weighted_value(part):
    """The value under 0.5 in MB/s: sum of U b over sum of U, mean over the accesses; None where a row is
    not there."""
    sums = []
    for access in ACCESSES:
        rows = {p: r['rates'] for p, r in part['chunks'][access].items()}
        pattern_2 = part['pattern_2'].get(access)
        if set(rows) != set(range(1, 8)) or pattern_2 is None or not _known(*[v for r in rows.values() for v in r]):
            return None
        sums.append(sum(u * (pattern_2 if p == 8 else rows[p][t]) for t in range(5) for p, u in WEIGHTS[t].items()) / 64)
    return sum(sums) / len(sums) / MB
