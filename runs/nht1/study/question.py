# SPDX-License-Identifier: GPL-3.0-or-later
"""repeats = auto: whether writing keeps up with computing, asked of a point whose runs have compute-only ones beside them.
After the rounds at which nht1-stats looks, the pairs of runs so far are judged as the report judges them
(report/rounds.py), and a point is run again until every answer about it is settled. What was judged at a look depends on
the runs up to it alone, so an interrupted study goes on to the same runs."""
import os

from .. import reading, results, stats
from ..report.rounds import Rounds, planned

ROUNDS_MAX = 64          # of a point, where no other number stands behind auto..
ROUNDS_LEAST = 6         # with which a plan can be made: fewer give no interval of 95 %
FALLBACK = (6, 10)       # runs of a point that has no such question


def runs_of(tallies, numbers, folder, level):
    """results.Runs of the runs with these numbers of some points."""
    found = results.Results()
    for tally in tallies:
        for n in (n for n in numbers if n in tally.runs and tally.runs[n][0]['ok']):
            name = tally.name(n)
            root = folder.result(name)
            if root:
                found.append(results.Result(os.path.join(folder.file('runs', name), 'result.json'), 'nht1-bt', 1, root, tally.runs[n][0]))
    return results.Runs(found, level)


class Question:
    """tally: of a point that writes; beside: those that compute only, with the same other settings; most: rounds."""

    def __init__(self, tally, beside, folder, most, level):
        self.tally, self.beside, self.folder, self.most, self.level = tally, beside, folder, most, level
        self._judged = {}

    @property
    def looks(self):
        """After how many rounds there is one: what was made by an earlier plan is looked at by that."""
        plans = [planned(self.tally.runs[n][0]) for n in self.pairs()]
        return stats.looks(self.level, stats.stages(plans if len(plans) >= self.most else plans + [self.most]))

    def pairs(self):
        """Numbers of the rounds that have both."""
        alone = {n for t in self.beside for n, (record, _) in t.runs.items() if record['ok']}
        return sorted(n for n, (record, _) in self.tally.runs.items() if record['ok'] and n in alone)

    def look(self, below):
        """Rounds of the look, at runs before number below, that settled all; 0 while none did."""
        numbers = [n for n in self.pairs() if n < below]
        return next((look for look in self.looks if look <= len(numbers) and self._settled(numbers[:look])), 0)

    def next_look(self, pairs_n):
        """The number of pairs at which there is more to be said; the last look where there is none."""
        return next((look for look in self.looks if look > pairs_n), self.looks[-1])

    def open(self, number):
        """Whether run `number` is to be made: a look has not settled it, and there can be another pair."""
        return not self.look(number) and any(t.able(number) for t in self.beside)

    def _settled(self, numbers):
        judged = [j for found in self._judgements(numbers).values() for j in found]
        return all(j.settled for j in judged)  # none: nothing that can be asked about

    def _judgements(self, numbers):
        """{label: [Judgement]} of what the rounds with these numbers answer: writing, and each way of reading back."""
        key = tuple(numbers)
        if key not in self._judged:
            runs = runs_of([self.tally] + self.beside, numbers, self.folder, self.level)
            rounds, dumps = Rounds(runs, self.level), reading.Dumps(runs, self.level)
            self._judged[key] = {
                cell.writer: [j for j in [rounds.judgement(cell)] + [
                    rounds.read_judgement(cell, spread) for spread in dumps.read(cell).values()] if j.stamp]
                for group in runs.groups for cell in group.cells if cell.writes}
        return self._judged[key]

    def answers(self):
        """{label: code of the answer about writing}; a label without one has no question."""
        return {label: found[0].stamp['code'] for label, found in self._judgements(self.pairs()).items() if found}
