# SPDX-License-Identifier: GPL-3.0-or-later
"""Every statistic of studies, reports and comparisons comes from nht1-stats; this is the only door
to it. What can be asked is in docs/schema/nht1-stats-requests-1.json, the answers in nht1-stats-1;
unknown numbers are None."""
import json
import math
import subprocess

from . import tools
from .trouble import failed

ASK_S = 600
ROUNDS_MAX = 500  # that a sequential question may have
STAGES_MAX = 16   # more have no study, but damaged records
_known = {}


def program():
    """Path of nht1-stats. Trouble where it is not built."""
    path = tools.path('nht1-stats')
    if path is None:
        raise failed("nht1-stats is not there: 'make' builds it; NHT1_BIN names its folder")
    return path


def ask(requests):
    """The answers to requests [{'what': ..., ...}], in their order, from one call of the program.
    What was asked before is remembered. Trouble where there is no answer."""
    keys = [json.dumps(r, sort_keys=True) for r in requests]
    new = {k: r for k, r in zip(keys, requests) if k not in _known}
    if new:
        _known.update(zip(new, _call(list(new.values()))))
    return [_known[k] for k in keys]


def _call(requests):
    command = [program(), '--requests', '-']
    try:
        done = subprocess.run(command, timeout=ASK_S, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, start_new_session=True,
                              input=json.dumps({'requests': requests}, allow_nan=False).encode())
        if done.returncode == 0:
            return json.loads(done.stdout.decode())['answers']
        raise failed(done.stderr.decode('utf-8', 'replace').strip() or
                     '%s: exit status %d' % (command[0], done.returncode))
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError) as e:
        raise failed('%s: %s' % (command[0], e))


def summary(values, level=None, of_jobs=None):
    """{n, median, ci_lo, ci_hi, min, max, mean, sd, q1, q3, outliers} of one list of numbers; of_jobs: of jobs()."""
    asked = {'level': level, 'jobs': of_jobs}
    return ask([{'what': 'summary', 'values': list(values), **{k: v for k, v in asked.items() if v}}])[0]


def jobs(of):
    """Member "jobs" of a request: a number for the job of each value. of: what is alike in a job, for each value."""
    number = {}
    return [number.setdefault(job, len(number)) for job in of]


def stages(plans):
    """Member "stages" of a request about rounds of a study that was planned anew while it went on. plans: of each round,
    or of each job where these count: above 0 so many rounds at most until it is decided; below 0 their number as it was
    given; 0 where that is not known."""
    ends, most = [], 0
    for n, plan in enumerate(plans, 1):
        most = max(most, plan)
        plan = most if plan > 0 else plan
        if not ends or ends[-1][0] != plan:
            ends.append([plan, n])
        ends[-1][1] = n
    if len(ends) > STAGES_MAX:
        return pooled(plans)
    found = [{'rounds': n, 'rounds_max': plan} if plan > 0 else {'rounds': n} for plan, n in ends]
    if ends[-1][0] >= len(plans):
        del found[-1]['rounds']  # it goes on, up to its last look
    elif ends[-1][0] > 0:
        return _with_a_last_look(ends[-1][0], len(plans), found[:-1])
    return found


def _with_a_last_look(most, n, before=()):
    """Stages of a plan, and a look at all of n rounds."""
    plan = {'rounds': n - 1, 'rounds_max': most}
    return [*before, *([plan] if n - 1 > (before[-1]['rounds'] if before else 0) else []), {'rounds': n}]


def pooled(plans):
    """The same of rounds of several studies, of which there will be no more: at the end all are looked at. plans: as
    above."""
    most = max(plans)
    return _with_a_last_look(most, len(plans)) if most > 0 else [{'rounds': len(plans)}]


def looks(level, of):
    """After which rounds one question is looked at. of: stages."""
    return ask([{'what': 'sequential', 'error': 1 - level, 'stages': of,
                 'questions': [{'values': [0], 'bounds': [0]}]}])[0]['looks']


def median(values):
    """Of those that are known, NaN when none is."""
    known = [v for v in values if v is not None and v == v]
    if len(known) < 2:
        return known[0] if known else math.nan
    return summary(known)['median']
