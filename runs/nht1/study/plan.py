# SPDX-License-Identifier: GPL-3.0-or-later
"""Before anything runs: what every point will take, as far as its program can tell (--dry-run), and
what would not fit. A point that a program refuses is an error in the description."""
import dataclasses
import os
import re

from .. import text
from . import child, scratch
from .folder import read_json

UNKNOWN_TIMEOUT_S = 3600
TIMEOUT_MIN_S, TIMEOUT_FACTOR = 600, 10
LAUNCH_S = 1  # starting a program and its ranks
DRY_RUN_S = 120


def unknown_limit_s(minutes):
    """After which a run is ended of which nothing is known but the minutes that were asked for all runs together."""
    return max(UNKNOWN_TIMEOUT_S, TIMEOUT_FACTOR * 60 * minutes)


@dataclasses.dataclass
class Estimate:
    """As study.json has it."""
    seconds: float = None  # of a run; None: not known
    disk_bytes: int = 0    # at a time
    memory_bytes: int = 0
    misfits: list = dataclasses.field(default_factory=list)  # sentences
    source: str = ''       # in words

    def limit_s(self, asked):
        """After which a run is ended."""
        if asked > 0:
            return asked
        if self.seconds is None:
            return unknown_limit_s(0)
        return max(TIMEOUT_MIN_S, TIMEOUT_FACTOR * self.seconds)


def _written_down(point):
    """estimate_s of the section."""
    said = point.value('estimate_s')
    if said is None:
        return Estimate()
    try:
        seconds = float(said)
    except ValueError:
        seconds = -1
    if not 0 <= seconds < 1e9:
        raise point.place('estimate_s').wrong("'%s' is not a number of seconds" % said)
    return Estimate(seconds, source='the description')


def _ask(point, program, launcher, where, spare):
    """The answer of --dry-run and its exit status, or what went wrong."""
    answer = os.path.join(spare, 'plan.json')
    words = [program.path] + program.arguments(point) + ['--dry-run', '--ranks', str(point.ranks)]
    if launcher.nodes > 1:
        words += ['--nodes', str(min(launcher.nodes, point.ranks))]
    words = launcher.command(1, 1, words + program.writes_to(where) + ['--json', answer])
    environment = launcher.environment(1, 1, {})
    environment['OMP_NUM_THREADS'] = str(point.threads)
    status, out, err = child.ask(words, DRY_RUN_S, environment)
    if status is None:
        return None, None, 'no answer in %d s' % DRY_RUN_S
    value = read_json(answer)
    if value:
        os.unlink(answer)
    return value, status, err.strip()


def _culprit(point, line):
    """Where the option stands that a program complains about."""
    named = re.findall(r'--([a-z][\w-]*)', line)
    return point.place(next((n for n in named if n in point.entries), 'program'))


def _program_says(point, program, launcher, where, spare):
    value, status, said = _ask(point, program, launcher, where, spare)
    if status == 1 and not value:
        line = next((l for l in said.splitlines() if l.startswith(program.name)), said)
        raise _culprit(point, line).wrong('the point with %s is refused: %s' % (
            ', '.join('%s = %s' % (k, v) for k, v in point.options) or 'no options', line))
    if not value:
        return Estimate(misfits=['no answer to --dry-run: %s' % said[-300:]])
    return Estimate(value.get('time_s'), value.get('disk_bytes') or 0,
                    value.get('memory_bytes') or 0, value.get('misfits') or [],
                    value.get('time_source', ''))


def make(points, programs, launcher, where, tick):
    """{point id: Estimate}. where: folder in which files would be written; programs: {point id:
    Program}. tick(done) is called after each point."""
    found, same = {}, {}
    with scratch.temporary() as spare:
        for done, point in enumerate(points, 1):
            program = programs[point.id]
            if not program.plan or point.value('estimate_s') is not None:
                found[point.id] = _written_down(point)
            else:
                key = (program.path, tuple(program.arguments(point)), point.ranks, point.threads)
                if key not in same:
                    same[key] = _program_says(point, program, launcher, where, spare)
                found[point.id] = same[key]
            tick(done)
    return found


def misfits(points, estimates):
    """[(point, sentence)] of what would not fit."""
    return [(p, said) for p in points for said in estimates[p.id].misfits]


def summary(points, estimates, repeats, minutes=0):
    """One sentence about all points. repeats: point -> (fewest, most). minutes: that the study has, 0: no limit."""
    known = [p for p in points if estimates[p.id].seconds is not None]
    low = sum((estimates[p.id].seconds + LAUNCH_S) * repeats(p)[0] for p in known)
    high = sum((estimates[p.id].seconds + LAUNCH_S) * repeats(p)[1] for p in known)
    if minutes:
        high = min(high, 60 * minutes)
    said = text.about(low) if high >= low else '%s of the %s that it takes at least' % (text.about(high), text.about(low))
    if high > 1.2 * low:
        said += ' to ' + text.about(high)
    if len(known) < len(points):
        said = '%s for %d of %d points, the others not known' % (said, len(known), len(points)) \
            if known else 'time not known'
    disk = max([e.disk_bytes for e in estimates.values()])
    memory = max([e.memory_bytes for e in estimates.values()])
    if disk:
        said += ', %s on disk at a time' % text.size(disk)
    if memory:
        said += ', %s of memory' % text.size(memory)
    return said
