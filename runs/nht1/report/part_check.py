# SPDX-License-Identifier: GPL-3.0-or-later
"""The answer of runs/study check, above everything else: a sentence, and a figure with the paired zeta of
each writer against the goal."""
from ..results import items, real, word
from .page import Figure

MARKS = {'balanced': 'good', 'io-faster-than-needed': 'good', 'io-too-slow': 'bad', 'not-measurable': 'warn',
         'undecided': 'note'}
SHOWN = {'balanced': 'balanced', 'io-faster-than-needed': 'faster than needed', 'io-too-slow': 'too slow',
         'not-measurable': 'not measurable here and now', 'undecided': 'undecided'}


def add(report):
    for number, (_, root) in enumerate(report.results.checks, 1):
        if number == 1:
            report.page.section(2, 'answer', 'Answer')
        whose = report.systems.on(word(root, 'host'))
        report.page.text((whose + ': ' if whose else '') + word(root, 'sentence'), MARKS.get(word(root, 'answer'), 'plain'))
        report.page.text(word(root, 'quote'))
        _figure(report.page, root, '' if number == 1 else '-%d' % number, whose)


def _figure(page, root, key, whose):
    writers = [w for w in items(root, 'writers') if real(w, 'zeta') == real(w, 'zeta')]
    f = Figure('check' + key, 'What writing costs, of the time to compute')
    f.panel('', {'ticks': [(i, word(w, 'writer')) for i, w in enumerate(writers)]},
            {'label': 'paired zeta'}, across=True)
    for answer, name in SHOWN.items():
        f.series(name, 'points', [(i, real(w, 'zeta'), real(w, 'lo'), real(w, 'hi'))
                                  for i, w in enumerate(writers) if word(w, 'answer') == answer])
    goal = real(root, 'goal')
    f.level(goal, 'goal %.2f' % goal)
    page.figure(f, 'T_T over the time without writing of the same round, minus 1: its median and interval, of at least '
                   '95 %% over all looks. Left of the dashed line, %.2f, the goal of NAS is met.' % goal, whose)
