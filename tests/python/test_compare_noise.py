# SPDX-License-Identifier: GPL-3.0-or-later
"""How often compare calls two measurements of the same thing different, on machines as they are: heavy tails,
bursts of other programs, drift; and how often it calls B worse by more than the threshold where it is worse by
just that; and where several jobs differ. A and B are measured one after the other, eight rounds each, in which one run
computes alone and one writes; noise goes on from run to run, across both. At most 9 of 100 may be judged
different; and 30 % more time in writing runs must be found where the machine is quiet. Fixed seeds."""
import math
import random
import unittest

from nht1 import stats
from nht1.compare.metric import BETTER, WORSE, Metric

KINDS = ('quiet', 'heavy tails', 'second mode', 'drift', 'random walk', 'bursts of 2 runs', 'bursts of 5 runs',
         'bursts of 20 runs')
ROUNDS, PAIRS, THRESHOLD, LEVEL = 8, 300, 0.05, 0.95


class Machine:
    """By how much each run takes longer."""

    def __init__(self, rng, kind):
        self.rng, self.kind, self.level, self.hit = rng, kind, 0.0, rng.random() < 0.3

    def run(self):
        quiet = self.rng.gauss(0, 0.02)
        if self.kind == 'heavy tails':  # Student's t with 2 degrees of freedom
            return 1 + abs(0.05 * self.rng.gauss(0, 1) / (self.rng.expovariate(1) ** 0.5))
        if self.kind == 'second mode':
            return 1 + abs(quiet) + (0.5 if self.rng.random() < 0.3 else 0)
        if self.kind == 'drift':
            self.level += 0.01
        if self.kind == 'random walk':
            self.level = max(0, self.level + self.rng.gauss(0, 0.05))
        if self.kind.startswith('bursts'):  # of so many runs on average, in 30 % of them
            length = float(self.kind.split()[2])
            self.hit = self.rng.random() >= 1 / length if self.hit else self.rng.random() < 0.3 / 0.7 / length
            self.level = 0.5 * self.hit
        return 1 + abs(quiet) + self.level


def measurement(machine, slower=1.0):
    """(T_T, T_T / T_C) of the rounds, in random order."""
    times, ratios = [], []
    for _ in range(ROUNDS):
        alone, writing = machine.run(), machine.run()
        if machine.rng.random() < 0.5:
            alone, writing = writing, alone
        times.append(1.1 * slower * writing)
        ratios.append(1.1 * slower * writing / alone)
    return times, ratios


def judged(kind, which, slower=1.0, seed=1993):
    """Of PAIRS comparisons, how many call B better or worse. which: 0 T_T, 1 T_T / T_C."""
    rng, metrics = random.Random(seed), []
    for _ in range(PAIRS):
        machine = Machine(rng, kind)
        a, b = measurement(machine)[which], measurement(machine, slower)[which]
        metrics.append(Metric('x', 's', a, b))
    return found_different(metrics, THRESHOLD)


def found_different(metrics, threshold):
    for m, answer in zip(metrics, stats.ask([{'what': 'unpaired', 'level': LEVEL, 'margin': threshold,
                                              'quantities': [m.asked()]} for m in metrics])):
        m.judge(answer['quantities'][0], threshold, LEVEL)
    return sum(m.verdict in (BETTER, WORSE) for m in metrics)


class SameTwice(unittest.TestCase):
    def test_at_most_9_of_100_are_judged_different_on_any_machine(self):
        for kind in KINDS:
            for which, name in ((1, 'T_T / T_C'), (0, 'T_T')):
                with self.subTest('%s, %s' % (name, kind)):
                    self.assertLessEqual(judged(kind, which), 0.09 * PAIRS)


class WorseByTheThreshold(unittest.TestCase):
    def test_is_not_called_worse_by_more_on_any_machine(self):
        for kind in KINDS:
            for which, name in ((1, 'T_T / T_C'), (0, 'T_T')):
                with self.subTest('%s, %s' % (name, kind)):
                    self.assertLessEqual(judged(kind, which, 1 + THRESHOLD), 0.09 * PAIRS)


def several_jobs(jobs_n, level, noise, slower=1.0, seed=1993):
    """Of PAIRS comparisons with a threshold of 0, how many call B better or worse: jobs_n jobs a side of ROUNDS rounds,
    each job with a level of its own."""
    rng, metrics = random.Random(seed), []
    for _ in range(PAIRS):
        sides = []
        for factor in (1, slower):
            levels = [factor * math.exp(rng.gauss(0, level)) for _ in range(jobs_n)]
            sides.append([v * math.exp(rng.gauss(0, noise)) for v in levels for _ in range(ROUNDS)])
        rounds = [divmod(i, ROUNDS) for i in range(jobs_n * ROUNDS)]
        metrics.append(Metric('x', 's', *sides, rounds=(rounds, rounds)))
    return found_different(metrics, 0)


class SeveralJobs(unittest.TestCase):
    def test_at_most_9_of_100_are_judged_different_where_jobs_differ(self):
        for jobs_n in (2, 3, 4, 10):
            for level, noise in ((0.05, 0.05), (0.1, 0.05), (0, 0.05)):
                with self.subTest('%d jobs, level %g, noise %g' % (jobs_n, level, noise)):
                    self.assertLessEqual(several_jobs(jobs_n, level, noise), 0.09 * PAIRS)

    def test_what_is_slower_by_30_percent_is_found_where_jobs_do_not_differ(self):
        self.assertGreaterEqual(several_jobs(4, 0, 0.05, 1.3), 0.9 * PAIRS)


class Slower(unittest.TestCase):
    def test_what_is_slower_by_30_percent_is_found_on_a_quiet_machine(self):
        self.assertGreaterEqual(judged('quiet', 1, 1.3), 0.8 * PAIRS)
        self.assertGreaterEqual(judged('quiet', 0, 1.3), 0.8 * PAIRS)


if __name__ == '__main__':  # all numbers, for docs/statistics.md
    for kind in KINDS:
        print('| %s | %s |' % (kind, ' | '.join('%.1f' % (100 * judged(kind, which, slower) / PAIRS)
                                                for slower in (1, 1 + THRESHOLD, 1.3) for which in (1, 0))))
    for jobs_n, level, noise in ((2, 0.05, 0.05), (2, 0.1, 0.05), (3, 0.05, 0.05), (4, 0.05, 0.05), (10, 0.05, 0.05), (2, 0, 0.05), (4, 0, 0.05)):
        print('| %d | %g %% | %g %% | %s |' % (jobs_n, 100 * level, 100 * noise, ' | '.join(
            '%.1f' % (100 * several_jobs(jobs_n, level, noise, slower) / PAIRS) for slower in (1, 1.3))))
