# SPDX-License-Identifier: GPL-3.0-or-later
"""nht1-report compare A B: two sets of results of the same thing, A and then B; what became better
or worse beyond chance, as text, JSON (docs/schema/nht1-compare-1.json), HTML and JUnit XML.

A metric is a sample on each side. It is the same when the whole interval of the ratio lies inside
the threshold, better or worse when the ratio is beyond it and a test, corrected for the number of
metrics, excludes chance; everything between is unclear. The tests are those of nht1-stats."""
import json
import math
import sys
import xml.etree.ElementTree as ET

from . import VERSION, command, reading, results, stats, text, trouble

EPILOG = """
examples:
  nht1-report compare before.json after.json
  nht1-report compare runs/monday runs/friday --threshold 10 --html c.html
  nht1-report compare good.json new.json --fail-on unclear --junit compare.xml

A and B are result files, or folders of them. Runs of the same problem, writer and configuration are
compared: run time T_T, rate while writing, T_C, T_R of dumps read back; of nht1-workload the
bandwidth of every pattern and working point, of nht1-profile T_T and 1 + zeta. Each needs 3 runs or
more on each side, better 5 (--repeat 5).

Exit status: 0 B is the same or better, or nothing is shown; 2 worse than the threshold in a metric;
4 a metric is unclear, with --fail-on unclear; 1 not comparable (other N, steps, interval, layout,
durability, definition, nothing in common, too few runs), with the reasons; 3 a file cannot be read
or written, or nht1-stats is missing (for --html: Jinja2).
"""
RUNS_MIN = 3
FEW, SAME, UNCLEAR, BETTER, WORSE = 'too few runs', 'same', 'unclear', 'better', 'worse'
NOT = 'not comparable'
# What A, B and B / A of a metric are; the ratio is always that of the two that are shown.
MEDIAN, MEAN = 'median', 'geometric mean'
# Results with a headline each, several of which are a sample: name, member, unit, whether higher is
# better, and what must be the same on both sides.
VALUES = {
    'nht1-beff': (
        ('b_eff', 'result.b_eff_bytes_per_s', 'bytes/s', True,
         ('definition', 'system.ranks', 'memory.lmax_bytes', 'result.valid')),
        ('latency of rings and random patterns', 'result.latency_s', 's', False,
         ('definition', 'system.ranks'))),
    'nht1-beffio': (
        ('b_eff_io', 'b_eff_io.bytes_per_s', 'bytes/s', True,
         ('b_eff_io.definition', 'b_eff_io.procs', 'b_eff_io.valid', 'schedule.t_s',
          'schedule.termination')),)}
# What may differ between A and B, for that is what is compared; it is noted.
SYSTEM = (('host', 'system.host'), ('processor', 'system.cpu.model'), ('kernel', 'system.kernel'),
          ('MPI', 'system.mpi.library'), ('compiler', 'system.compiler'),
          ('solver kernel', 'system.solver_kernel'), ('version of nht1', 'version'))
PLAUSIBLE = 1e-99, 1e99  # of ratios beyond there is no number


class Metric:
    """A quantity on both sides; .numbers is what nht1-stats says about it. pooled: the name of the
    metric that takes it and those like it together, '' for none."""

    def __init__(self, name, unit, a, b, higher_better=False, pooled=''):
        self.name, self.unit, self.a, self.b = name, unit, a, b
        self.higher_better, self.pooled = higher_better, pooled
        self.numbers, self.worse_by, self.verdict = {}, math.nan, FEW
        self.estimate, self.of_a, self.of_b = MEDIAN, math.nan, math.nan

    def judge(self, numbers, threshold, level):
        self.numbers = numbers
        self.estimate = MEDIAN if 'a_median' in numbers else MEAN
        self.of_a, self.of_b = (numbers[side + ('median' if self.estimate == MEDIAN else 'mean')]
                                for side in ('a_', 'b_'))
        ratio, lo, hi = (numbers[k] for k in ('ratio', 'ratio_lo', 'ratio_hi'))
        self.worse_by = 1 / ratio - 1 if self.higher_better else ratio - 1
        p = numbers.get('p_corrected')
        if not numbers.get('tested', True):
            self.verdict = FEW
        elif 1 / (1 + threshold) <= lo and hi <= 1 + threshold:
            self.verdict = SAME
        elif not 1 / (1 + threshold) <= ratio <= 1 + threshold and p is not None and p < 1 - level:
            self.verdict = WORSE if self.worse_by > 0 else BETTER
        else:
            self.verdict = UNCLEAR

    def shown(self, value):
        return {'bytes/s': text.rate, 's': text.duration, '1': text.zeta}[self.unit](value)

    def json(self):
        return {'name': self.name, 'unit': self.unit, 'higher_is_better': self.higher_better,
                'a': self.a, 'b': self.b, 'estimate': self.estimate,
                'a_estimate': self.of_a, 'b_estimate': self.of_b,
                **{k: self.numbers.get(k) for k in (
                    'ratio', 'ratio_lo', 'ratio_hi', 'p_mann_whitney',
                    'p_welch', 'p_corrected', 'test')},
                'worse_by': self.worse_by, 'verdict': self.verdict}


class Comparison:
    def __init__(self, a, b, level=0.95, threshold=0.05):
        """a, b: results.Results."""
        self.level, self.threshold = level, threshold
        self.metrics, self.reasons, self.notes = [], [], []
        of_kind = {'nht1-bt': self._bt, 'nht1-workload': self._workload,
                   'nht1-profile': self._profile}
        for kind in results.KINDS:
            sides = [results.Results(side.of(kind)) for side in (a, b)]
            if all(sides):
                of_kind.get(kind, self._values)(sides)
        if not self.metrics and not self.reasons:
            self.reasons.append('A holds results of %s, B of %s' % (a[0].kind, b[0].kind))
        self._judge()

    def _metric(self, name, unit, sides, values, higher_better=False):
        """values: the numbers of a result; those that are not above 0 are left out."""
        x, y = ([v for r in side for v in values(r.root) if v > 0] for side in sides)
        if x and y:
            self.metrics.append(Metric(name, unit, x, y, higher_better))

    # Runs of nht1-bt: cells of A with those of B that fit them best.

    def _bt(self, sides):
        sides = [results.Runs(side, self.level) for side in sides]
        for name, side in zip('AB', sides):
            if not side.groups:
                self.reasons.append('%s has no run that came to its end with the right result' %
                                    name)
                return
        pairs = []
        for group in sides[0].groups:
            able = [g for g in sides[1].groups if _problem(g) == _problem(group)]
            if able:  # better the same processor and file system, if there are several
                pairs.append((group, max(able, key=lambda g: (g.cpu == group.cpu,
                                                              g.fs == group.fs))))
        for one, other in pairs:
            self._group(one, other)
        if not pairs:
            one, other = (_problem(side.groups[0]) for side in sides)
            for what in one:
                if one[what] != other[what]:
                    self.reasons.append('%s: %s in A, %s in B' % (
                        what, _known(one[what]), _known(other[what])))

    def _group(self, one, other):
        self._system(*(g.cells[0].runs[0].result for g in (one, other)))
        if one.fs != other.fs and one.fs and other.fs:
            self.notes.append('file system differs: %s in A, %s in B' % (one.fs, other.fs))
        found = 0
        for cell in one.cells:
            partner = _partner(cell, other.cells)
            if partner and _partner(partner, one.cells) is cell:
                self._cell(cell, partner)
                found += 1
            else:
                self.notes.append('%s on %s: nothing like it in B' % (
                    cell.label, text.plural(cell.processors, 'processor')))
        if not found:
            self.reasons.append('A and B have no writer in common (N = %d)' % one.n)

    def _system(self, a, b):
        for what, path in SYSTEM:
            x, y = results.word(a.root, path), results.word(b.root, path)
            if x != y:
                self.notes.append('%s differs: %s in A, %s in B' % (
                    what, _known(x[:120]), _known(y[:120])))

    def _cell(self, a, b):
        if a.writes:
            if a.page_cache != b.page_cache:
                self.reasons.append('durability: %s measured the page cache in %s only' % (
                    a.label, 'A' if a.page_cache else 'B'))
            if a.verified != b.verified:
                self.notes.append('%s: verified in %s only' % (a.label, 'A' if a.verified else 'B'))
            if a.oversubscribed or b.oversubscribed:
                self.notes.append('%s: oversubscribed in %s' % (
                    a.label, 'both' if a.oversubscribed and b.oversubscribed else
                    'A' if a.oversubscribed else 'B'))
            if a.identity != b.identity:
                self.notes.append('%s in A is compared with %s in B' % (_spelled(a), _spelled(b)))
        where = text.plural(a.processors, 'processor') if a.processors == b.processors else \
            '%d against %d processors' % (a.processors, b.processors)
        of = ' of ' + a.label if a.writes else ''
        for name, key, higher in (('T_T' if a.writes else 'T_C', 't_t_s', False),
                                  ('writing rate', 'write_rate', True))[:1 + a.writes]:
            x, y = ([getattr(r, key) for r in cell.runs
                     if getattr(r, key) > 0 and math.isfinite(getattr(r, key))] for cell in (a, b))
            if x and y:
                self.metrics.append(Metric('%s%s, %s' % (name, of, where),
                                           'bytes/s' if higher else 's', x, y, higher,
                                           'T_T' if a.writes and not higher else ''))
        self._read_back(a, b, of, where)

    def _read_back(self, a, b, of, where):
        one, other = reading.by_way(a), reading.by_way(b)
        for side, wrong in zip('AB', map(reading.wrong_n, (a, b))):
            if wrong:
                self.notes.append('T_R%s, %s: %s in %s found wrong data, left out' % (
                    of, where, text.plural(wrong, 'reading'), side))
                if not (one, other)['AB'.index(side)]:
                    return
        if bool(one) != bool(other):
            self.notes.append('T_R%s, %s: read back in %s only' % (of, where, 'A' if one else 'B'))
            return
        for way in one:
            name = 'T_R%s, %s, %s' % (of, way, where)
            missed = [{r.missed for r in side.get(way, ())} - {''} for side in (one, other)]
            if way not in other:
                self.notes.append('%s: nothing like it in B' % name)
            elif missed[0] != missed[1]:
                self.notes.append('%s is not compared: the dump was %s in %s only' % (
                    name, *(missed[0] or missed[1]), 'A' if missed[0] else 'B'))
            else:
                self.metrics.append(Metric(name, 's', *([r.t_r_s for r in side[way]]
                                                        for side in (one, other))))

    # Results of one value each.

    def _values(self, sides):
        for name, path, unit, higher_better, keys in VALUES[sides[0][0].kind]:
            self._agree(name, sides, keys)
            self._metric(name, unit, sides, lambda root, path=path: [results.real(root, path)],
                         higher_better)

    def _agree(self, name, sides, keys):
        model = sides[0][0]
        for result in sides[0] + sides[1]:
            for key in keys:
                x, y = results.at(model.root, key), results.at(result.root, key)
                if x != y:
                    self.reasons.append('%s: %s is %s in %s, %s in %s' % (
                        name, key, _said(x), model.shown, _said(y), result.shown))

    # Patterns and working points of nht1-workload: those that both sides have.

    def _workload(self, sides):
        self._system(sides[0][0], sides[1][0])
        measured = [_measured(side) for side in sides]
        for name, side in zip('AB', measured):
            if not side:
                self.reasons.append('%s has no pattern and no working point that came to its end '
                                    'with the right data' % name)
                return
        pairs, lonely = [], 0
        for what, ways in measured[0].items():
            others = measured[1].get(what, {})
            for how, one in ways.items():
                if how in others:
                    pairs.append((one, others[how]))
                elif len(ways) == len(others) == 1:
                    pairs.append((one, *others.values()))
                else:
                    lonely += 1
        if not pairs:
            one, other = (dict(next(iter(side))) for side in measured)
            self.reasons.append('A and B have no pattern and no working point in common')
            self.reasons += ['%s: %s in A, %s in B' % (key, _known(one.get(key)),
                                                       _known(other.get(key)))
                             for key in {**one, **other} if one.get(key) != other.get(key)]
            return
        if lonely:
            self.notes.append('%s of A: nothing like it in B' % text.plural(lonely, 'measurement'))
        varied = {key for key in {k for p in pairs for k, _ in p[0].what}
                  if len({dict(p[0].what).get(key) for p in pairs}) > 1}
        before = len(self.metrics)
        for one, other in pairs:
            name = one.name(varied)
            if one.how != other.how:
                note = '%s in A is compared with %s in B' % tuple(
                    ', '.join('%s %s' % way for way in m.how) for m in (one, other))
                self.notes += [note] if note not in self.notes else []
            if one.memory != other.memory:
                self.notes.append('%s is not compared: it measured memory in %s only' % (
                    name, 'A' if one.memory else 'B'))
                continue
            self.metrics.append(Metric(name, 'bytes/s', one.rates, other.rates, True, 'bandwidth'))
        if len(self.metrics) == before:
            self.reasons.append('one side measured memory, the other one files')

    # Programs under nht1-profile.

    def _profile(self, sides):
        def t_t_s(root):
            return [results.real(r, 't_t_s') for r in results.items(root, 'zeta.rounds')] or \
                [results.real(root, 'profile.wall_s')]

        def ratio(root):  # zeta may be 0 or less: of that no ratio says anything
            return [results.real(r, 't_t_s') / results.real(r, 't_c_s')
                    for r in results.items(root, 'zeta.rounds') if results.real(r, 't_c_s') > 0]
        self._agree('profile', sides, ('profile.ranks_n', 'profile.state', 'profile.read_bytes',
                                       'profile.written_bytes'))
        self._metric('T_T of the program', 's', sides, t_t_s)
        self._metric('1 + zeta of the program', '1', sides, ratio)

    def _judge(self):
        for m in list(self.metrics):
            if not all(PLAUSIBLE[0] < v < PLAUSIBLE[1] for v in m.a + m.b):
                self.metrics.remove(m)
                self.notes.append('%s is not compared: a value is no measurement' % m.name)
        if not self.metrics:
            return
        first = next((m for m in self.metrics if m.pooled), self.metrics[0])
        answer = stats.ask([{'what': 'differences', 'level': self.level,
                             'runs_min': RUNS_MIN, 'pairs': [
                                 {'a': m.a, 'b': m.b, 'pool': m.pooled != '' and
                                  m.pooled == first.pooled} for m in self.metrics]}])[0]
        pooled = answer['pooled']
        if pooled:
            self.metrics.insert(0, Metric(
                '%s, %s over the %d below' % (first.pooled, MEAN, pooled['n']), first.unit, [], [],
                first.higher_better))
        for metric, numbers in zip(self.metrics, ([pooled] if pooled else []) + answer['pairs']):
            metric.judge(numbers, self.threshold, self.level)

    # The whole.

    def has(self, verdict):
        return any(m.verdict == verdict for m in self.metrics)

    @property
    def possible(self):
        return not self.reasons and any(m.verdict != FEW for m in self.metrics)

    @property
    def verdict(self):
        if not self.possible:
            return NOT
        return next((v for v in (WORSE, BETTER, UNCLEAR) if self.has(v)), SAME)

    @property
    def sentence(self):
        percent, level = 100 * self.threshold, 100 * self.level
        if self.reasons:
            return 'A and B cannot be compared:'
        if not self.possible:
            return ('A and B cannot be compared: a verdict needs at least %d values on each side,'
                    ' from runs of the same writer (--repeat 5) or from several results.' % RUNS_MIN)
        if self.verdict == SAME:
            return 'B is the same as A: no difference beyond %g %%, at %g %% confidence.' % (
                percent, level)
        if self.verdict == UNCLEAR:
            return ('Inconclusive: differences beyond %g %% are neither shown nor excluded, at %g '
                    '%% confidence. More runs would tell.' % (percent, level))
        return 'B is %s than A in at least one metric, by more than %g %%.' % (
            self.verdict, percent)


def _problem(group):
    """What both sides must agree in, by the names that people know."""
    return {'N': group.n, 'steps': group.steps, 'dt': group.dt, 'write interval': group.interval,
            'dumps': group.dumps_n, 'layout': group.layout, 'durability (--sync)': group.sync}


def _known(value):
    if value in (None, ''):
        return 'unknown'
    return '%.12g' % value if isinstance(value, float) else str(value)


def _said(value):
    return 'unknown' if value is None else json.dumps(value)[:60]


def _spelled(cell):
    return ', '.join([cell.writer] + [results.option_shown(k, v) for k, v in cell.identity.items()
                                      if k not in ('writer', 'nodes', 'decomp')])


def _fit(a, b):
    """How well two cells fit each other, None: not at all. The more of the configuration agrees the
    better."""
    if a.writer != b.writer:
        return None
    rest = [k for k in {**a.identity, **b.identity} if k not in ('writer', 'ranks', 'threads')]
    agree = sum(a.identity.get(k) == b.identity.get(k) for k in rest)
    return ((a.ranks, a.threads) == (b.ranks, b.threads), a.processors == b.processors,
            a.token_group == b.token_group, agree - len(rest))


def _partner(cell, cells):
    """The best fit, unless another one fits as well."""
    fits = [(f, c) for f, c in ((_fit(cell, c), c) for c in cells) if f is not None]
    best = max((f for f, _ in fits), default=None)
    found = [c for f, c in fits if f == best]
    return found[0] if len(found) == 1 else None


class Measured:
    """What nht1-workload measured in one way: a pattern or a working point. what: what must agree
    on both sides; how: what may be compared."""

    def __init__(self, what, how):
        self.what, self.how, self.rates, self.memory = what, how, [], False

    def name(self, varied):
        """With what tells it from the others."""
        what = dict(self.what)
        shown = [what.pop('pattern'), text.processes(what.pop('processes'))]
        for key in what:
            if key in varied:
                shown.append('%s %s' % (key, text.size_iec(what[key]) if key == 'record' else
                                        _known(what[key])))
        return ', '.join(shown)


def _measured(side):
    """{what: {how: Measured}} of results of nht1-workload, wrong and unfinished ones left out."""
    found = {}
    for r in side:
        how = tuple((key, value) for key, value in (
            ('depth', results.integer(r.root, 'options.depth')),
            ('hints', ' '.join(sorted(results.words(r.root, 'options.hint')))),
            ('component', results.word(r.root, 'system.mpiio_component')),
            *sorted(r.environment.items())) if value)
        common = (('processes', results.integer(r.root, 'system.ranks', 1)),
                  ('durability (--sync)', results.word(r.root, 'options.sync')),
                  ('thinking', results.true(r.root, 'options.think')))
        for which, numbers in (('phases', _phase), ('points', _point)):
            for i, m in enumerate(results.items(r.root, which), 1):
                rate = results.real(m, 'bytes_per_s')
                right = results.true(m, 'completed') and results.integer(m, 'wrong_n') == 0
                if not right or not rate > 0:
                    continue
                name, *rest = numbers(r.root, m, i)
                what = (('pattern', name), *common, *rest)
                one = found.setdefault(what, {}).setdefault(how, Measured(what, how))
                one.rates.append(rate)
                one.memory = one.memory or any(
                    s['code'] == 'page-cache' for s in results.stamps(m))
    return found


def _phase(_, phase, __):
    """Its name, and what it is known by."""
    return (results.word(phase, 'title'), ('record', results.integer(phase, 'record_bytes')),
            ('method', results.word(phase, 'method')), ('access', results.word(phase, 'access')),
            ('memory', 'strided' if results.true(phase, 'memory_strided') else 'contiguous'),
            ('file', results.word(phase, 'file')), ('fraction', results.real(phase, 'fraction')))


def _point(root, point, number):
    asked = results.members(point, 'asked')
    functions = [results.word(c, 'function') for c in results.items(point, 'calls')]
    return ('point %d%s' % (number, ', ' + functions[0] if len(functions) == 1 else ''),
            ('files', results.word(root, 'mode')),
            *((key, results.real(asked, key)) for key in asked))


# --- Output -------------------------------------------------------------------------------------

def as_text(c, a, b):
    lines = ['A  %s' % a, 'B  %s' % b, '']
    if c.metrics:
        lines.append('%-52s %12s %12s %7s  %-15s %8s  %s' % (
            'metric (median)', 'A', 'B', 'B/A', 'interval', 'p', 'B is'))
    for m in c.metrics:
        n = m.numbers
        lines.append('%-52s %12s %12s %7.3f  %-15s %8s  %s' % (
            m.name, m.shown(m.of_a), m.shown(m.of_b), n['ratio'],
            '%.3f - %.3f' % (n['ratio_lo'], n['ratio_hi']), text.number(n.get('p_corrected')),
            'WORSE' if m.verdict == WORSE else m.verdict))
    lines += ([''] if c.metrics else []) + [c.sentence]
    lines += ['  - ' + reason for reason in c.reasons] + ['Note: ' + note for note in c.notes]
    return '\n'.join(lines) + '\n'


def as_json(c, a, b):
    value = {'schema': 'nht1-compare/1', 'version': VERSION, 'a': a, 'b': b, 'level': c.level,
             'threshold': c.threshold, 'comparable': c.possible, 'verdict': c.verdict,
             'sentence': c.sentence, 'reasons': c.reasons,
             'metrics': [m.json() for m in c.metrics], 'notes': c.notes}
    return json.dumps(value, indent=1, allow_nan=False) + '\n'


def as_junit(c, a, b, fail_on):
    """A metric is a test case: worse fails, so does unclear when asked for; unclear and too few
    runs are skipped tests otherwise. What is not comparable is an error."""
    cases = []
    for m in c.metrics:
        case = ET.Element('testcase', classname='nht1-report.compare', name=m.name)
        said = '%s: B / A = %.3f, interval %.3f to %.3f' % (
            m.verdict, m.numbers['ratio'], m.numbers['ratio_lo'], m.numbers['ratio_hi'])
        if m.verdict == WORSE or (m.verdict == UNCLEAR and fail_on == UNCLEAR):
            ET.SubElement(case, 'failure', type=m.verdict, message=said)
        elif m.verdict in (UNCLEAR, FEW):
            ET.SubElement(case, 'skipped', message=said)
        cases.append(case)
    if not c.possible:
        case = ET.Element('testcase', classname='nht1-report.compare', name='comparable')
        ET.SubElement(case, 'error', type=NOT, message=' '.join([c.sentence] + c.reasons))
        cases.append(case)

    def count(tag):
        return str(sum(case.find(tag) is not None for case in cases))
    suite = ET.Element('testsuite', name='nht1-report compare %s %s' % (a, b),
                       tests=str(len(cases)), failures=count('failure'), errors=count('error'),
                       skipped=count('skipped'))
    suite.extend(cases)
    ET.SubElement(suite, 'system-out').text = as_text(c, a, b)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, 'utf-8') + b'\n'


def as_page(c, a, b):
    from .report import page
    found = page.Page('Comparison of two results')
    found.section(2, 'verdict', 'Verdict')
    found.text(c.sentence, {WORSE: 'bad', SAME: 'good', BETTER: 'good'}.get(c.verdict, 'warn'))
    for reason in c.reasons:
        found.text(reason, 'warn')
    found.text('A: %s. B: %s.' % (a, b))
    found.section(2, 'metrics', 'Metrics')
    figure = page.Figure('ratios', 'B against A')
    figure.panel(x={'ticks': enumerate(m.name for m in c.metrics)}, y='B / A', across=True)
    for verdict in (SAME, UNCLEAR, BETTER, WORSE, FEW):  # in the order of colours
        figure.series(verdict, 'points', [
            (i, m.numbers['ratio'], m.numbers['ratio_lo'], m.numbers['ratio_hi'])
            for i, m in enumerate(c.metrics) if m.verdict == verdict])
    figure.level(1, 'equal')
    found.figure(figure, 'Ratios with their confidence intervals.')
    table = page.Table('comparison', 'Medians, where nothing else is said, and their ratio; its '
                       'interval is that of the metric alone, p is corrected for their number',
                       ['metric', 'A', 'B', 'B / A', 'from', 'to', 'p', 'B is'])
    for m in c.metrics:
        n = m.numbers
        p = n.get('p_corrected')
        table.row(m.name, (m.of_a, m.shown(m.of_a)), (m.of_b, m.shown(m.of_b)),
                  float(n['ratio']), float(n['ratio_lo']), float(n['ratio_hi']), math.nan if p is None else float(p), m.verdict)
    found.table(table)
    for note in c.notes:
        found.text(note)
    return found


def _options(argv):
    parser = command.Parser(
        prog='nht1-report compare', epilog=EPILOG, allow_abbrev=False,
        description='Whether result B is better or worse than A, beyond chance.')
    add = parser.add_argument
    add('results', nargs='*', metavar='A B', help='files, or folders for all results below them')
    add('--threshold', metavar='PCT', type=command.number(0, 1000), default=5.0,
        help='by how many percent B may differ and still be the same, default 5')
    add('--level', metavar='P', type=command.number(0.5, 0.999), default=0.95,
        help='confidence of intervals, and certainty that not one of the differences found is '
             'there by chance, default 0.95')
    add('--fail-on', metavar='WHAT', choices=(WORSE, UNCLEAR), default=WORSE,
        help='worse: only what is worse has an exit status of its own, 2; unclear: status 4 where '
             'nothing is worse, but a metric is unclear')
    add('--json', metavar='FILE', help='write the comparison to FILE as JSON; - is standard output: the text '
                                      'goes to standard error then')
    add('--html', metavar='FILE', help='write the comparison to FILE as a page with a figure; or -')
    add('--junit', metavar='FILE', help='write it to FILE as JUnit XML, a test case for each metric; or -')
    add('--quiet', action='store_true', help='print nothing; the exit status tells')
    add('-V', '--version', action='version', version='nht1-report ' + VERSION)
    options = parser.parse_args(argv)
    if len(options.results) != 2:
        raise trouble.usage('two results are compared: nht1-report compare [OPTION...] A B; '
                            'see --help')
    return options


def main(argv):
    """Returns the exit status."""
    from .report import frame, figures, output
    options = _options(argv)
    names = [text.clean(name) for name in options.results]
    outputs = output.Outputs()
    for path, option, content in (
            (options.json, '--json', lambda: as_json(c, *names)),
            (options.junit, '--junit', lambda: as_junit(c, *names, options.fail_on)),
            (options.html, '--html', lambda: page.html(VERSION))):
        if path is not None:
            outputs.add(path, content, option)
    outputs.check()  # what would be in the way is found before the work
    if options.html is not None:
        frame.libraries()
    c = Comparison(*(results.load([side]) for side in options.results),
                   level=options.level, threshold=options.threshold / 100)
    if not options.quiet:
        sys.stdout.write(as_text(c, *names))
        sys.stdout.flush()
    if options.html is not None:
        page = as_page(c, *names)
        if figures.can_draw():
            figures.draw(page.figures)
        else:
            page.top.append(figures.WISH)
    outputs.write()
    if not c.possible:
        raise trouble.usage('not comparable: %s' % (
            c.reasons[0] if c.reasons else 'fewer than %d values of the same quantity on a side' %
            RUNS_MIN))
    if c.has(WORSE):
        return trouble.WRONG
    return trouble.INVALID if options.fail_on == UNCLEAR and c.has(UNCLEAR) else trouble.OK
