# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs/study check found, as one sentence. The answer is that of nht1-bt for each writer (docs/zeta.md);
here stands only which writer speaks for the folder, and how it is told."""
import math

from .. import text
from ..results import NAN, at, integer, items, members, real, stamps, word

GOAL = 0.10
ROUNDS_MAX = 64  # of nht1-bt --repeat auto
STEPS = 200      # of a class
CLASSES = {'W': 24, 'A': 64, 'B': 102, 'C': 162}
BALANCED, NEEDLESS, SLOW, OPEN, UNKNOWN = (
    'balanced', 'io-faster-than-needed', 'io-too-slow', 'undecided', 'not-measurable')
# The folder keeps up if it does with one of the writers, and is too slow only if it is with each.
PLACES = {NEEDLESS: 0, BALANCED: 0, UNKNOWN: 1, OPEN: 2, SLOW: 3}


def share(x):
    """'3.1', '12': percent."""
    return '%.*f' % (1 if abs(100 * x) < 9.95 else 0, 100 * x)


def cost(writer):
    """'3.1 % (2.4 to 4.0 %)'"""
    said = '%s %%' % share(writer['zeta'])
    return said if writer['lo'] is None else '%s (%s to %s %%)' % (
        said, share(writer['lo']), share(writer['hi']))


def _number(node, path):
    value = real(node, path)
    return value if value == value else None


def _writer(row):
    stamp = next((s for s in stamps(row) if s['code'] == word(row, 'answer')), {})
    return {'writer': word(row, 'writer'), 'answer': word(row, 'answer'), 'reason': word(row, 'reason') or None,
            'rounds': integer(row, 'paired.rounds_n'), 't_t_s': _number(row, 't_t_s'),
            'zeta': _number(row, 'paired.zeta'), 'lo': _number(row, 'paired.ci95_lo'),
            'hi': _number(row, 'paired.ci95_hi'), 'data': _number(row, 'terms.data.zeta'),
            'data_lo': _number(row, 'terms.data.ci95_lo'), 'data_hi': _number(row, 'terms.data.ci95_hi'),
            'rounds_needed': _number(stamp, 'numbers.rounds_needed_n'),
            'minutes_needed': _number(stamp, 'numbers.minutes_needed'),
            'data_factor': _number(stamp, 'numbers.data_factor_at_goal'), 'zeta_mean': _number(stamp, 'numbers.zeta_mean'),
            'rounds_above': _number(stamp, 'numbers.rounds_above_n'), 'sentence': stamp.get('sentence', '')}


def writers(root):
    """What there is to say of each writer of a result that has an answer, the one that speaks for the
    folder first."""
    found = [_writer(r) for r in items(root, 'ranking') if word(r, 'answer') in PLACES]
    return sorted(found, key=lambda w: (PLACES[w['answer']], w['zeta'] is None, w['zeta']))


def wrong(root):
    """'posix: what was written is wrong': of the first run with wrong data, whatever has ended it; '' where none has."""
    return next(('%s: what was %s is wrong' % (word(r, 'writer'), 'written' if word(r, 'proof.state') == 'wrong' else 'computed')
                 for r in items(root, 'runs') if word(r, 'proof.state') == 'wrong' or at(r, 'norms.ok') is False), '')


def problem(root):
    """{n, steps, interval, dumps, dump_bytes, every_s} of a result."""
    p = members(root, 'problem')
    alone = next((real(r, 't_t_s') for r in items(root, 'ranking') if word(r, 'writer') == 'none'), NAN)
    steps, interval = integer(p, 'steps'), integer(p, 'interval')
    every = alone * interval / steps if steps > 0 else NAN
    return {'class': word(p, 'class'), 'n': integer(p, 'n'), 'steps': steps, 'interval': interval,
            'dumps': integer(p, 'dumps_n'), 'dump_bytes': integer(p, 'dump_bytes'),
            'every_s': every if every == every else None}


def _span(seconds):
    """'79 ms', '1.2 s'"""
    return '%s ms' % text.number(1000 * seconds, 2) if seconds < 0.9995 else '%s s' % text.number(seconds, 2)


def _decides(best, extra_minutes):
    needed, minutes = best['rounds_needed'], best['minutes_needed']
    if needed is None:
        return 'more rounds would tell'
    if needed > ROUNDS_MAX:
        return '%d rounds, the most that are made, would not decide' % ROUNDS_MAX
    said = 'about %s' % text.plural(int(needed), 'round')
    return said + (', --minutes %s,' % text.number(minutes + extra_minutes, 2) if minutes is not None else '') + \
        ' would decide'


def _longer(p, seconds, fits):
    """', or with --class A': options of a problem that takes two seconds or more, the smallest of those that are chosen from
    and fit; '' where none does."""
    step_s = seconds / p['steps'] / p['n'] ** 3  # of a cell
    for cls, n in CLASSES.items():
        steps = math.ceil(2 / step_s / n ** 3 / 20) * 20
        steps = steps if cls == 'A' else STEPS if steps <= STEPS else steps
        if n >= p['n'] and (n, steps) != (p['n'], p['steps']) and steps <= STEPS and fits(cls, steps):
            return ', or with --class %s' % cls + (' --steps %d' % steps if steps < STEPS else '')
    return ''


def sentence(best, p, where, extra_minutes=0.0, fits=None):
    """best: of writers. where: the folder. extra_minutes: what there is beside the rounds. fits: where a pilot by its time alone
    chose the problem, whether memory and disk hold (class, steps)."""
    checkpoints = 'heckpoints of %s%s on %s' % (
        text.size(p['dump_bytes']), ' every %s' % _span(p['every_s']) if p['every_s'] else '', where)
    with_, goal = 'with %s' % best['writer'], 'goal %g %%' % (100 * GOAL)
    if best['answer'] == UNKNOWN:
        why = best['sentence'].split(': ', 1)[-1].rstrip('.')
        if fits and best['reason'] == 'too-short' and best['t_t_s']:
            why = '%s; the trial by which %s at N = %d were chosen ran slower, as beside other programs: run it again%s' % (
                why.split(';')[0], text.plural(p['steps'], 'step'), p['n'], _longer(p, best['t_t_s'], fits))
        return 'What c%s cost %s is not measurable here and now: %s.' % (checkpoints, with_, why)
    if best['answer'] == OPEN:
        return 'Whether c%s cost at most %s %% %s is undecided: %s in %s; %s.' % (
            checkpoints, '%g' % (100 * GOAL), with_, cost(best) if best['zeta'] is not None else 'no number',
            text.plural(best['rounds'], 'round'), _decides(best, extra_minutes))
    said = {BALANCED: 'yes, balanced (%s)' % goal}
    if best['answer'] == NEEDLESS:
        factor = best['data_factor']  # what nht1-bt says, which leaves to bookkeeping and slowdown what they take
        said[NEEDLESS] = 'yes, faster than this computation needs%s (%s)' % (
            ': data %.3g times as slow would do' % factor if factor else '', goal)
    if best['answer'] == SLOW:
        said[SLOW] = 'no, I/O is too slow: %s times the goal of %s %%' % (
            text.number(best['zeta'] / GOAL, 2), '%g' % (100 * GOAL))
    but = '' if best['zeta_mean'] is None else '; in %d of %s more than %g %%, the mean is %s %%' % (
        best['rounds_above'], text.plural(best['rounds'], 'round'), 100 * GOAL, text.number(100 * best['zeta_mean'], 2))
    return 'C%s cost %s %s: %s%s.' % (checkpoints, cost(best), with_, said[best['answer']], but)


def quote(root, said, utc):
    """One line that stands for itself: version, system, date."""
    system = members(root, 'system')
    fs = next((word(r, 'file.file_system') for r in items(root, 'runs') if word(r, 'file.file_system')), '')
    cores = integer(system, 'cores_in_use')
    # Some processors fill their name up with blanks.
    processor = ' '.join(word(system, 'cpu.model').split())
    parts = ['nht1 %s' % word(root, 'version'), word(system, 'host'), text.plural(cores, 'core') + (
        ' of %s' % processor if processor else ''), fs, utc[:10]]
    return '%s: %s' % (', '.join(p for p in parts if p), said)
