# SPDX-License-Identifier: GPL-3.0-or-later
"""What a dump costs a program: to write, and to read back (nht1-bt --read).

T_R is the time from opening the file to the last field filled, on the slowest rank. Where several
dumps were read in a row, it is that of one dump on the average."""
from dataclasses import dataclass

from . import stats, text
from .results import NAN, at, integer, items, nearest, positive, real, stamps, true, word

# Stamps on readings that did not find the dump where it was asked for, and where they found it.
MISSED = {'read-cached': 'in memory', 'read-not-cached': 'not in memory'}


@dataclass(frozen=True, order=True)
class Way:
    """What readings of one writer have in common that repeat each other. decomp: '' for the one in
    which the dump was written; ranks: that take part, 0 for all; cache: cold or warm."""
    decomp: str
    ranks: int
    cache: str
    dumps_n: int

    @property
    def own(self):
        """As the writer left the dump: its decomposition, all ranks."""
        return not self.decomp and not self.ranks

    @property
    def otherwise(self):
        """What is other than usual, in words."""
        parts = ['as ' + self.decomp if self.decomp else '',
                 'by ' + text.plural(self.ranks, 'rank') if self.ranks else '',
                 '%d dumps' % self.dumps_n if self.dumps_n > 1 else '']
        return [p for p in parts if p]

    def __str__(self):
        return ', '.join([self.cache] + self.otherwise)


def way_of(run, node, dumps_n):
    """The way of a reading, or of readings put together, in the result of a run."""
    ranks = integer(node, 'ranks')
    return Way('' if true(node, 'own_decomp') else word(node, 'decomp') or 'unknown',
               0 if ranks == integer(run.result.root, 'system.ranks', 1) else ranks,
               'warm' if word(node, 'cache') == 'warm' else 'cold', dumps_n)


class Reading:
    """One reading of a run. seconds, data, bytes and requests are those of one dump."""

    def __init__(self, run, node):
        dumps_n = max(1, len(items(node, 'dumps')))
        self.run, self.json, self.way = run, node, way_of(run, node, dumps_n)
        self.t_r_s = positive(real(node, 't_r_s') / dumps_n)
        self.data_s = real(node, 'data_s') / dumps_n
        self.bytes = positive(real(node, 'bytes')) / dumps_n
        self.requests_n = real(node, 'requests_n') / dumps_n
        self.cached_share = real(node, 'cached_bytes_before') / positive(real(node, 'bytes'))
        self.wrong = at(node, 'digest_ok') is False
        self.stamps = stamps(node)
        self.missed = next((MISSED[s['code']] for s in self.stamps if s['code'] in MISSED), '')


def of(run):
    """The readings of a run that came to their end, wrong ones too."""
    found = [Reading(run, node) for node in items(run.json, 'read')]
    return [r for r in found if r.t_r_s == r.t_r_s]


def wrong_n(cell):
    """How many readings of a cell found wrong data."""
    return sum(r.wrong for run in cell.runs for r in of(run))


def as_asked(readings):
    """(those that found the dump where it was asked for, or all where none has; the others): what memory does is no repetition
    of what a device does."""
    found = [r for r in readings if not r.missed]
    return (found, [r for r in readings if r.missed]) if found else (readings, [])


def by_way(cell):
    """{way: ([Reading], [those left out])} of all runs of a cell that found the right data, own and cold first."""
    found = {}
    for r in (r for run in cell.runs for r in of(run) if not r.wrong):
        found.setdefault(r.way, []).append(r)
    return {way: as_asked(found[way]) for way in sorted(found)}


def left_out(readings):
    """'2 readings left out: in memory', '' for none."""
    return '%s left out: %s' % (text.plural(len(readings), 'reading'), readings[0].missed) if readings else ''


class Spread:
    """The readings of a cell in one way. answer: of nht1-stats to `summary` of their T_R; of few there is
    no interval."""

    def __init__(self, way, readings, others, answer):
        self.way, self.n, self.readings = way, len(readings), readings
        self.median_s = answer['median']
        self.lo_s, self.hi_s = (NAN if answer.get(k) is None else answer[k] for k in ('ci_lo', 'ci_hi'))
        typical = nearest(readings, lambda r: r.t_r_s, self.median_s)
        self.bytes, self.requests_n = typical.bytes, typical.requests_n
        self.cached_share = max((r.cached_share for r in readings
                                 if r.cached_share == r.cached_share), default=NAN)
        self.missed, self.left_out = readings[0].missed, left_out(others)

    @property
    def from_memory(self):
        """Whatever was asked for."""
        return (self.way.cache == 'warm') != bool(self.missed)

    @property
    def interval(self):
        """(median, least, most) of T_R."""
        return self.median_s, self.lo_s, self.hi_s

    @property
    def rates(self):
        """(median, least, most), bytes/s."""
        return tuple(self.bytes / s if s > 0 else NAN for s in (self.median_s, self.hi_s, self.lo_s))


class Dumps:
    """What dumps cost, by cell: to write, and to read back. runs: results.Runs; level: of intervals."""

    def __init__(self, runs, level):
        asked = [(cell, way, found, others) for group in runs.groups for cell in group.cells
                 for way, (found, others) in by_way(cell).items()]
        self._spreads = {}
        for (cell, way, found, others), answer in zip(asked, stats.ask([
                {'what': 'summary', 'values': [r.t_r_s for r in found], 'level': level,
                 'jobs': stats.jobs(id(r.run.result) for r in found)}
                for _, _, found, _ in asked])):
            self._spreads.setdefault(id(cell), {})[way] = Spread(way, found, others, answer)
        self.wrong = sum(r.wrong for run in runs.all for r in of(run))

    def read(self, cell):
        """{way: Spread}, own and cold first."""
        return self._spreads.get(id(cell), {})

    def restart(self, cell):
        """The spread that tells most about a restart: from the device, in the decomposition of the
        writer, one dump. None where nothing was read."""
        return min(self.read(cell).values(), default=None, key=lambda s: (
            s.from_memory, not s.way.own, s.way.dumps_n, s.way))

    @staticmethod
    def written_s(cell):
        """Time in I/O of the slowest rank per dump, median of the runs; NaN where it is not known."""
        dumps_n = positive(cell.group.dumps_n)
        return stats.median([positive(real(r.json, 'in_io_s') / dumps_n) for r in cell.runs])
