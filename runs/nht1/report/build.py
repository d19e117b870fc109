# SPDX-License-Identifier: GPL-3.0-or-later
"""A report out of results: what its parts share, and their order."""
from .. import text
from ..reading import Dumps
from ..results import KINDS, Runs, word
from ..ways import ResultWays
from . import (part_balance, part_beff, part_beffio, part_bt, part_check, part_profile, part_search, part_system,
               part_verdict, part_workload)
from .page import Page
from .rounds import SAID_LEVEL, Rounds

PARTS = (part_check, part_verdict, part_search, part_bt, part_beff, part_beffio, part_workload, part_profile, part_balance,
         part_system)

NAMES_MAX = 12  # of systems in a line


class Report:
    def __init__(self, results, level=0.95, title=None, mtbf_hours=(), downtime_s=0.0):
        """mtbf_hours, downtime_s: of cycle.py."""
        self.results, self.runs = results, Runs(results, level)
        self.systems = self.runs.systems
        self.ways = {kind: ResultWays(results.of(kind)) for kind in KINDS}
        self.rounds, self.dumps = Rounds(self.runs, level), Dumps(self.runs, level)
        self.mtbf_hours, self.downtime_s = mtbf_hours, downtime_s
        # The fastest of the first problem that was written, on each system: what the headlines are about.
        mains = {}
        for group in self.runs.groups:
            if group.best():
                mains.setdefault((group.system, group.fs), group.best())
        self.main_cells = list(mains.values())
        # The first result that says what it was measured on.
        self.first = next((r for r in results if word(r.root, 'system.host')),
                          results[0] if results else None)
        root = self.first.root if self.first else {}
        self.page = Page(title or '%s %s, %s' % (
            'Does I/O keep up?' if self.runs.all else 'Communication and file access:',
            *self._where(root)))
        if results:
            self.page.lead.append(self._when())
        if self.systems.several:
            names = self.systems.names
            self.page.lead.append('On %s, which are kept apart: %s%s.' % (
                text.plural(len(names), 'system'), '; '.join(names[:NAMES_MAX]), '; ...' if len(names) > NAMES_MAX else ''))
        if self.runs.all:
            self.page.lead.append(self._level(level))
        for part in PARTS:
            part.add(self)

    def way(self, result):
        """What tells it from others of its program by how they were measured, '' where nothing does."""
        return self.ways[result.kind].name_of(result)

    def named(self, result):
        """The same with its system."""
        return text.of(self.systems.whose(result), self.way(result))

    def tell_common(self, kind):
        """How all results of a program were measured, as far as that was varied at all."""
        if self.ways[kind].common:
            self.page.text('Measured with %s.' % self.ways[kind].common)

    def _where(self, root):
        """(host, processor), or those of all."""
        hosts, processors = self.systems.machines, list(dict.fromkeys(s.cpu for s in self.systems.all))
        if len(hosts) < 2:
            hosts = [word(root, 'system.host')[:60] or 'host unknown']
        if len(processors) < 2:
            processors = [word(root, 'system.cpu.model')[:100] or 'processor unknown']
        return (' and '.join(hosts) if len(hosts) < 3 else text.plural(len(hosts), 'machine'),
                processors[0] if len(processors) < 2 else text.plural(len(processors), 'kind of processor', 'kinds of processors'))

    @staticmethod
    def _level(level):
        """Of the intervals."""
        return 'Intervals are at %g %%%s' % (100 * level, '.' if level == SAID_LEVEL else
                                             ', but for those that a program gives itself, such as of the paired zeta of one '
                                             'job: these are at %g %% or more.' % (100 * SAID_LEVEL))

    def _when(self):
        """When and by what versions it was measured."""
        times = sorted(t for r in self.results for t in (r.started_utc, r.ended_utc) if t)
        versions = sorted({word(r.root, 'version') for r in self.results} - {''})
        span = 'when is not recorded' if not times else 'on ' + times[0] if \
            times[0][:10] == times[-1][:10] else 'from %s to %s' % (times[0], times[-1])
        return 'Measured %s, with version%s %s; %s%s.' % (
            span, '' if len(versions) == 1 else 's', ', '.join(versions) or 'unknown',
            text.plural(len(self.results), 'result'),
            ', ' + text.plural(len(self.runs.all), 'run') if self.runs.all else '')
