# SPDX-License-Identifier: GPL-3.0-or-later
"""A comparison as text, JSON (docs/schema/nht1-compare-1.json), JUnit XML and HTML."""
import json
import math

from .. import VERSION, junit, text
from .metric import ANY, BETTER, FEW, NOT, SAME, UNCLEAR, WORSE


def as_text(c, a, b):
    lines = ['A  %s' % a, 'B  %s' % b, '']
    if c.metrics:
        lines.append('%-52s %12s %12s %7s  %-15s %8s  %s' % (
            'metric (median)', 'A', 'B', 'B/A', 'interval', 'p', 'B is'))
    for m in c.metrics:
        n = m.numbers
        lines.append('%-52s %12s %12s %7.3f  %-15s %8s  %s' % (
            m.name, m.shown(n['a_median']), m.shown(n['b_median']), n['ratio'], m.interval,
            text.number(n['p_corrected']),
            'WORSE' if m.verdict == WORSE else m.verdict))
    lines += ([''] if c.metrics else []) + [c.sentence]
    lines += ['  - ' + reason for reason in c.reasons] + ['Note: ' + note for note in c.notes]
    return '\n'.join(lines) + '\n'


def as_json(c, a, b):
    value = {'schema': 'nht1-compare/1', 'version': VERSION, 'a': a, 'b': b, 'level': c.level,
             'threshold': c.threshold, 'comparable': c.possible, 'verdict': c.verdict,
             'sentence': c.sentence, 'reasons': c.reasons, 'stamps': c.stamps,
             'rounds_needed': c.primary.rounds_needed if c.primary else None,
             'metrics': [m.json() for m in c.metrics], 'notes': c.notes}
    return json.dumps(value, indent=1, allow_nan=False) + '\n'


def as_junit(c, a, b, fail_on):
    """A metric is a test case. The one that decides fails when it is worse, and unclear when asked for; so do the
    others with --fail-on any. What is worse beside it, unclear, or too few runs is skipped otherwise. What is not
    comparable is an error."""
    cases = []
    for m in c.metrics:
        said = '%s: B / A = %.3f, interval %s' % (m.verdict, m.numbers['ratio'], m.interval)
        fails = m.verdict == WORSE and (m.primary or fail_on == ANY) or m.verdict == UNCLEAR and \
            fail_on == UNCLEAR and m.primary
        outcome = 'failure' if fails else 'skipped' if m.verdict in (UNCLEAR, FEW, WORSE, NOT) else ''
        cases.append(junit.case('nht1-report.compare', m.name, outcome, m.verdict, said, {
            'a': m.numbers['a_median'], 'b': m.numbers['b_median'], 'unit': m.unit, 'primary': int(m.primary),
            **{k: m.numbers[k] for k in ('ratio', 'ratio_lo', 'ratio_hi', 'p_corrected')},
            'rounds_needed': m.rounds_needed, 'verdict': m.verdict}))
    if not c.possible:
        cases.append(junit.case('nht1-report.compare', 'comparable', 'error', NOT,
                                ' '.join([c.sentence] + c.reasons)))
    return junit.suite('nht1-report compare %s %s' % (a, b), cases, as_text(c, a, b))


def as_page(c, a, b):
    from ..report import page
    found = page.Page('Comparison of two results')
    found.section(2, 'verdict', 'Verdict')
    found.text(c.sentence, {WORSE: 'bad', SAME: 'good', BETTER: 'good'}.get(c.verdict, 'warn'))
    for reason in c.reasons:
        found.text(reason, 'warn')
    found.text('A: %s. B: %s.' % (a, b))
    found.section(2, 'metrics', 'Metrics')
    figure = page.Figure('ratios', 'B against A')
    figure.panel(x={'ticks': enumerate(m.name for m in c.metrics)}, y='B / A', across=True)
    for verdict in (SAME, UNCLEAR, BETTER, WORSE, FEW, NOT):  # in the order of colours
        figure.series(verdict, 'points', [
            (i, *(math.nan if m.numbers[k] is None else m.numbers[k] for k in ('ratio', 'ratio_lo', 'ratio_hi')))
            for i, m in enumerate(c.metrics) if m.verdict == verdict])
    figure.level(1, 'equal')
    found.figure(figure, 'Ratios with their confidence intervals.')
    table = page.Table('comparison', 'Medians and their ratio with its interval. The first line decides; p of the '
                       'others is corrected for their number',
                       ['metric', 'A', 'B', 'B / A', 'from', 'to', 'p', 'B is'])
    for m in c.metrics:
        n = m.numbers
        table.row(m.name, (n['a_median'], m.shown(n['a_median'])), (n['b_median'], m.shown(n['b_median'])),
                  *(math.nan if n[k] is None else float(n[k]) for k in ('ratio', 'ratio_lo', 'ratio_hi', 'p_corrected')),
                  m.verdict)
    found.table(table)
    for note in c.notes:
        found.text(note)
    return found
