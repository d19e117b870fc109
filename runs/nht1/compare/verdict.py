# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdict on two sets of results, by one quantity, which is fixed before the values are looked at: with
compute-only runs in every round on both sides T_T / T_C (1 + paired zeta), otherwise T_T; of nht1-workload the
bandwidth. Of several writers or patterns the geometric mean. The other quantities are tested, too, corrected
for their number, and named; they decide nothing. Tests and intervals are those of nht1-stats."""
import math

from .. import results, stats, text
from . import runs, systems, values, workload
from .metric import BETTER, FEW, NOT, PLAUSIBLE, RUNS_MIN, SAME, UNCLEAR, WORSE, Found, of_one_sample, together

PAIRED, ZETA = 'T_T / T_C', '1 + zeta'
SUMMED = {'nht1-beff': 'b_eff', 'nht1-beffio': 'b_eff_io'}  # that may stand beside summaries
OTHERS = {'nht1-workload': workload.compare, 'nht1-profile': values.compare_profiles}


class Comparison:
    def __init__(self, a, b, level=0.95, threshold=0.05, metric='', nevertheless=False):
        """a, b: results.Results. metric: the name of the quantity that decides, or its beginning. nevertheless:
        compare what is stamped as spoiled, does not tell whether it is, stands on both sides, or has buffers elsewhere, too."""
        self.level, self.threshold = level, threshold
        for side in (a, b):  # by the time of measuring, where all tell it; names of files say nothing
            if all(r.started_utc for r in side):
                side.sort(key=lambda r: r.started_utc)
        found = Found()
        self.metrics, self.reasons, self.notes = found.metrics, found.reasons, found.notes
        self.notes += ['%s: %s' % (name, side.left_out) for name, side in (('A', a), ('B', b)) if side.left_out]
        for kind in results.KINDS:
            sides = [results.Results(side.of(kind)) for side in (a, b)]
            if not all(sides):
                continue
            if kind in SUMMED:
                self._leave_out_sums(SUMMED[kind], a, b)
                if a.sums_of(SUMMED[kind]) or b.sums_of(SUMMED[kind]):
                    continue
            systems.tell_hosts(found, sides)
            if kind == 'nht1-bt':
                runs.compare(found, sides, level)
            else:
                OTHERS.get(kind, values.compare)(found, sides)
        values.compare_sums(found, (a, b))
        if not self.metrics and not self.reasons and a and b:
            self.reasons.append('A holds results of %s, B of %s' % (a[0].kind, b[0].kind))
        compared = [[r for r in side if id(r) not in found.apart] for side in (a, b)]
        paired = any(m.group == PAIRED for m in self.metrics) and (not metric or metric.startswith(PAIRED))
        self.stamps = {name: self._stamps(side, found, paired) for name, side in zip('ab', compared)}
        self._refuse(nevertheless, found.studied + self._shared(a, b) + [words for side in zip('AB', compared) for words in self._unproved(
            *side, found.writers)])
        self.primary, self.chosen, self.contradicted, self.first = None, [], '', found.first
        self._judge(metric)

    def _leave_out_sums(self, program, a, b):
        """Those of this suite, where both sides have results of it, which say more."""
        for name, side in (('A', a), ('B', b)):
            ours = [s for s in side.sums_of(program) if s['ours']]
            paths = list(dict.fromkeys(s['path'] for s in ours))
            if paths:
                self.notes.append('%s: %s of %s left out, beside results: %s' % (
                    name, text.plural(len(paths), 'summary', 'summaries'), program, ', '.join(map(text.clean, paths))))
                side.sums = [s for s in side.sums if s not in ours]

    @staticmethod
    def _stamps(side, of, paired):
        """{code: results that are stamped so}, of what spoils them. paired: T_T / T_C decides."""
        found = {}
        for result in side:
            for code in results.spoiling(result.root, of.writers, paired, of.measured if result.kind == 'nht1-workload' else None):
                found[code] = found.get(code, 0) + 1
        return found

    @staticmethod
    def _shared(a, b):
        """Of results that stand on both sides: compared with itself, a measurement says nothing."""
        used = {r.path for r in a} | {s['path'] for s in a.sums}
        both = [(files[0], b.copies[key][0]) for key, files in a.copies.items() if key in b.copies and files[0] in used]
        return ['A and B have %s in common (%s in A, %s in B): a copy is no further measurement' % (
            text.plural(len(both), 'result'), *map(text.clean, both[0]))] if both else []

    def _unproved(self, name, side, writers):
        """Of results that do not tell whether they are spoiled: what is missing, once each. Of nht1-bt where there
        is something to compare."""
        found = {}
        for result in side:
            why = results.unproved(result.root, result.kind, writers) if writers or result.kind != 'nht1-bt' else ''
            if why:
                found[why] = found.get(why, 0) + 1
        return ['%s %s (%s)' % (name, why, text.plural(n, 'result')) for why, n in found.items()]

    def _refuse(self, nevertheless, studied):
        (self.notes if nevertheless else self.reasons).extend(
            words + ('' if nevertheless else '; --nevertheless compares it') for words in studied)
        for side, codes in self.stamps.items():
            for code, n in codes.items():
                (self.notes if nevertheless else self.reasons).append('%s is stamped %s (%s) in %s%s' % (
                    side.upper(), code, results.stamp_codes()[code]['spoils'], text.plural(n, 'result'),
                    '' if nevertheless else '; --nevertheless compares it'))

    def _judge(self, metric):
        for m in list(self.metrics):
            if not all(PLAUSIBLE[0] < v < PLAUSIBLE[1] for v in m.a + m.b):
                self.metrics.remove(m)
                self.notes.append('%s is not compared: a value is no measurement' % m.name)
        if not self.metrics:
            return
        self._choose(metric)
        others = [m for m in self.metrics if m is not self.primary]
        for group in filter(None, ([self.primary], others)):
            answer = stats.ask([{'what': 'unpaired', 'level': self.level, 'margin': self.threshold,
                                 'quantities': [m.asked() for m in group]}])[0]
            for m, numbers in zip(group, answer['quantities']):
                m.judge(numbers, self.threshold, self.level)
                if self.reasons:  # then nothing is said of any of them
                    m.verdict = NOT
        self._contradict()
        self.notes += ['%s: %s' % (m.name, m.far) for m in others if m.far and not self.reasons]

    def _contradict(self):
        """T_T / T_C is no verdict where T_T itself points the other way: then it is computing alone that differs."""
        said = self.primary.verdict in (BETTER, WORSE) or self.primary.verdict == UNCLEAR and self.primary.direction
        if not said or not self.primary.name.startswith((PAIRED, ZETA)):
            return
        names = {m.name.replace(PAIRED, 'T_T', 1).replace(ZETA, 'T_T', 1) for m in self.chosen}
        places = {(m.part, m.where) for m in self.chosen}
        whole = [m for m in self.metrics if m.name in names]
        alone = [m for m in self.metrics if m.name.startswith('T_C,') and (m.part, m.where) in places]
        t_t, t_c = (math.exp(math.fsum(math.log(m.numbers['ratio']) for m in of) / len(of)) if of else math.nan for of in (whole, alone))
        same = whole and all(m.verdict == SAME for m in whole)
        if same or (t_t - 1) * self.primary.worse_by < 0:
            self.contradicted = '%s is %s in B, but T_T is %s (B/A %.3f): computing alone differs%s' % (
                PAIRED if self.primary.name.startswith(PAIRED) else ZETA,
                'larger' if self.primary.worse_by > 0 else 'smaller', 'the same' if same else 'longer' if t_t > 1 else 'shorter', t_t,
                ' (T_C, B/A %.3f)' % t_c if t_c == t_c else '')
            self.primary.verdict = UNCLEAR
            self.primary.numbers['rounds_needed'] = None

    def _choose(self, metric):
        """The quantity that decides; it stands first."""
        group = next((g for g in (PAIRED, 'T_T', 'bandwidth') if any(m.group == g for m in self.metrics)), '')
        if not group:
            group = next((m.group for m in self.metrics if m.enough), self.metrics[0].group)
            if not metric and group != self.metrics[0].group:
                self.notes.append('%s does not decide: it has too few values' % self.metrics[0].name)
            elif not metric and self.first:
                self.notes.append(self.first)
        # T_T is not T_T / T_C, nor token token-gather: what is a whole name counts as no other's beginning.
        chosen = [m for m in self.metrics if m.name == metric] or [m for m in self.metrics if (m.name + ',').startswith((metric + ',', metric + ' of '))] or \
            [m for m in self.metrics if m.name.startswith(metric)] if metric else \
            [m for m in self.metrics if m.group == group] if group else self.metrics[:1]
        if not chosen:
            self.reasons.append("no quantity that both sides have begins with '%s'; there are %s" % (
                metric, '; '.join(m.name for m in self.metrics)))
            chosen = self.metrics[:1]
        if len({(m.unit, m.higher_better) for m in chosen}) > 1:
            self.reasons.append("'%s' is the beginning of quantities of several units" % metric)
        # Of several that were not measured in the same rounds, that of which there is most; of as many the first by name.
        kept = []
        for m in sorted(chosen, key=lambda m: ([-n for n in m.results_n], m.name)):
            if not kept or m.part == kept[0].part and of_one_sample(kept + [m]):
                kept.append(m)
        if len(kept) < len(chosen):
            self.notes.append('what decides is %s, than which none has more results; the others are judged beside it' % (
                ' and '.join(sorted(m.name for m in kept))))
            chosen = [m for m in chosen if m in kept]
        self.chosen = chosen
        self.primary = chosen[0] if len(chosen) == 1 else together(chosen, metric or group)
        self.primary.primary = True
        if len(chosen) == 1:
            self.metrics.remove(self.primary)
        self.metrics.insert(0, self.primary)

    # The whole.

    @property
    def possible(self):
        return not self.reasons and self.primary is not None and self.primary.verdict != FEW

    @property
    def verdict(self):
        return self.primary.verdict if self.possible else NOT

    def beside(self, verdict):
        """Other quantities with a verdict, which is corrected for their number."""
        return [m for m in self.metrics if m is not self.primary and m.verdict == verdict]

    def _no_interval(self):
        if self.primary.numbers['drifting']:
            return 'values of A or of B rise or fall in the order of measuring, and there is no interval'
        return '%s too few for an interval at %g %% confidence' % (
            'values of A or of B resemble the one before, and are' if self.primary.numbers['widening'] > 1 else
            'values of A or of B are', 100 * self.level)

    @property
    def sentence(self):
        percent, level = 100 * self.threshold, 100 * self.level
        if self.reasons:
            return 'A and B cannot be compared:'
        if not self.possible:
            return ('A and B cannot be compared: a verdict needs at least %d values on each side,'
                    ' from runs of the same writer (--repeat 8) or from several results.' % RUNS_MIN)
        if self.verdict == SAME:
            said = 'B is the same as A: no difference beyond %g %%, at %g %% confidence' % (percent, level)
        elif self.contradicted or self.primary.far:
            said = 'Inconclusive: ' + (self.contradicted or self.primary.far)
        elif self.verdict == UNCLEAR:
            needed = self.primary.rounds_needed
            direction = self.primary.direction
            said = ('B is %s than A, but whether by more than %g %% is not shown, at %g %% confidence' % (
                direction, percent, level) if direction else
                'Inconclusive: differences beyond %g %% are neither shown nor excluded, at %g %% confidence' % (
                    percent, level))
            if self.primary.numbers['ratio_lo'] is None:
                said = 'Inconclusive: ' + self._no_interval()
            said += '; %d runs on each side would not tell' % stats.ROUNDS_MAX if needed and needed > stats.ROUNDS_MAX else \
                '; about %d runs on each side would probably tell' % needed if needed else \
                '; more results would tell, rather than more rounds in each' if self.primary.numbers['jobs'] else ''
        else:
            said = 'B is %s than A by more than %g %%, at %g %% confidence' % (self.verdict, percent, level)
        if self.primary.means and not self.contradicted:
            said += '; ' + self.primary.means
        said += ' (%s).' % self.primary.name
        for verdict in (WORSE, BETTER):
            names = ['%s (%.3f)' % (m.name, m.numbers['ratio']) for m in self.beside(verdict)]
            if names and verdict != self.verdict:
                said += ' Beside it, %s: %s.' % (verdict, '; '.join(names))
        return said
