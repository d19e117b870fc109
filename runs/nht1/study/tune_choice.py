# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of several ways to write is to be taken, by rounds in which all of them ran: the simplest of those
that are shown to be faster than the plain one and are tied with the fastest; where none is, the plain
one. The rule is that of a search (bt/search/race.h)."""
import math

from .. import search, stats, text

ERROR = 0.05  # of all comparisons with the plain way together
ALIKE = 0.02  # ratios closer to 1 than this make no difference


class Ratio:
    """T_T of a way over that of another, base, both {round: seconds}: centre, and the interval lo to hi
    that is wrong with this probability; None where there is none, as of too few rounds."""

    def __init__(self, way, base, error=ERROR):
        rounds = sorted(set(base) & set(way))
        self.pairs, self.centre, self.lo, self.hi = len(rounds), None, None, None
        self.error, self.sides = error, {'a': [base[n] for n in rounds], 'b': [way[n] for n in rounds]}
        if rounds:
            answer = stats.ask([{'what': 'centres', 'level': 1 - error, 'metrics': [self.sides]}])[0]['metrics'][0]
            self.centre, self.lo, self.hi = (answer[k] for k in ('centre', 'lo', 'hi'))

    def alike(self):
        return self.known() and self.lo >= 1 - ALIKE and self.hi <= 1 + ALIKE

    def faster(self):
        return self.known() and self.hi < 1 and not self.alike()

    def slower(self):
        return self.known() and self.lo > 1 and not self.alike()

    def known(self):
        return self.lo is not None and self.hi is not None

    def excluded(self):
        """That it is faster by more than makes a difference."""
        return self.known() and self.lo >= 1 - ALIKE

    def needed(self):
        """Rounds that would probably tell whether it is; None where that is not known."""
        answer = stats.ask([{'what': 'sequential', 'error': self.error, 'questions': [
            dict(self.sides, bounds=[1 - ALIKE])]}])[0]['questions'][0]['bounds'][0]
        return answer['rounds_needed'] and max(self.pairs + 1, int(answer['rounds_needed']))


class Choice:
    """Which way to take. times: [{round: T_T}], of each way; costs: how much each asks for, the least of
    the plain way; disturbed: in how many of these runs other programs took processors."""

    def __init__(self, times, costs, disturbed=0):
        self.disturbed, self.runs = disturbed, sum(map(len, times))
        measured = [i for i in range(len(times)) if times[i]]
        self.plain = min(measured, key=lambda i: costs[i], default=None)
        self.number, self.verdict, self.against = self.plain, 'undecided', {}
        self.needed = None  # rounds that would decide; None: decided, or not known
        if self.plain is None or self.spoiled():
            return
        others = [i for i in measured if i != self.plain]
        self.against = {i: Ratio(times[i], times[self.plain], ERROR / max(1, len(others)))
                        for i in others}
        faster = [i for i in others if self.against[i].faster()]
        if faster:
            fastest = min(faster, key=lambda i: self.against[i].centre)
            tied = [i for i in faster if i == fastest or not Ratio(times[i], times[fastest]).slower()]
            self.number = min(tied, key=lambda i: (costs[i], self.against[i].centre))
            self.verdict = 'winner'
        elif all(r.excluded() for r in self.against.values()):
            self.verdict = 'no winner'
        elif all(r.known() for r in self.against.values()):
            needed = [r.needed() for r in self.against.values() if not r.excluded()]
            self.needed = max(needed) if all(needed) else None
        else:
            # An interval takes so many rounds that all of them lie on one side with at most its share of the error.
            least = math.ceil(1 + math.log2(len(others) / ERROR))
            self.needed = least if any(r.pairs < least for r in self.against.values()) else None

    def spoiled(self):
        return search.spoiled(self.disturbed, self.runs)

    def round_s(self, times):
        """Seconds of a round: the median of each way."""
        return math.fsum(stats.median(t.values()) for t in times if t)

    def answer(self, names, minutes=None):
        """In a sentence, with another one where runs were disturbed. names: of the ways. minutes: for the rounds that
        are needed; None: not known."""
        disturbance = text.sentence(search.disturbance(self.disturbed, self.runs)) + ' of the comparison'
        if self.spoiled():
            return 'Undecided: %s will do until another way is shown to be faster. %s; measure again when the computer does ' \
                'nothing else, with no more threads than a quota allows.' % (names[self.plain], disturbance)
        return self._compared(names, minutes) + (' %s.' % disturbance if self.disturbed else '')

    def _compared(self, names, minutes):
        if self.plain is None:
            return 'No way could be measured.'
        plain, won = names[self.plain], self.against.get(self.number)
        if self.verdict == 'winner':
            return '%s takes %.3f (%.3f to %.3f) of the time of %s.' % (
                names[self.number], won.centre, won.lo, won.hi, plain)
        if self.verdict == 'no winner':
            return 'It does not matter: %s will do. No other way is faster by more than %g %%.' % (plain, 100 * ALIKE)
        return 'Undecided: %s will do until another way is shown to be faster. %s.' % (plain, self._more(minutes))

    def _more(self, minutes):
        """What would decide, in words."""
        if not self.needed:
            return 'More --rounds and --minutes would tell'
        if self.needed > stats.ROUNDS_MAX:
            return '--rounds %d, the most that can be judged, would not tell' % stats.ROUNDS_MAX
        options = '--rounds %d%s' % (self.needed, ' --minutes %s' % text.number(minutes, 2) if minutes else '')
        rounds = '%s of the comparison, %s' % (text.plural(self.needed, 'round'), options)
        known = all(r.known() for r in self.against.values())  # else these would give an interval, and may not decide
        return 'About %s, would tell' % rounds if known else 'The first interval takes %s' % rounds
