# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdict, before everything else: what the programs think of their results, repeated."""
from .. import text
from ..results import integer, measurements, outcome, real, true, verdicts
from .part_beffio import of_memory

HEADLINES = (('nht1-beff', 'b_eff', 'result.b_eff_bytes_per_s', 'result.valid'),
             ('nht1-beffio', 'b_eff_io', 'b_eff_io.bytes_per_s', 'b_eff_io.valid'))
REFUSED_MAX = 10


def add(report):
    page = report.page
    page.section(2, 'verdict', 'Verdict')
    for cell in report.main_cells:
        stamps = report.rounds.stamps(cell)
        if cell.group.whose:
            page.text('Of %s:' % cell.group.whose)
        page.stamps(s for s in stamps if s['code'] in verdicts())
        _headline(report, cell)
        passed_over = cell.group.passed_over()
        if passed_over:
            page.text('%s; too few to stand for the page.' % passed_over, 'note')
        page.stamps(s for s in stamps if s['code'] not in verdicts())
        if cell.n < 3:
            page.text('%s: no statement about chance; use --repeat auto.' % text.plural(
                cell.n, 'run'), 'note')
    if report.results.of('nht1-bt') and not report.main_cells:
        page.text('No run that leaves a serial file came to its end, so there is nothing to judge.',
                  'warn')
    for kind, name, at, valid in HEADLINES:
        for r in report.results.of(kind):
            value, whose = real(r.root, at), report.named(r)
            if value == value:
                n = integer(r.root, 'b_eff_io.procs') or integer(r.root, 'system.ranks')
                good = true(r.root, valid)
                memory = of_memory(r.root) if good else ''
                page.text('%s = %s on %s (%s)%s' % (
                    name, text.rate(value), text.processes(n), text.of(r.shown, whose),
                    ': not valid as a result.' if not good else ', %s.' % memory if memory else '.'),
                    'plain' if good and not memory else 'warn')
            for s in r.stamps:
                page.text('%s: %s' % (text.of(name, whose), s['sentence']), s['severity'])
    _left_out(report)
    page.drop_if_empty('verdict')  # of profiles or workloads alone: nothing to judge


def _headline(report, cell):
    group, z = cell.group, report.rounds.zeta(cell)
    name = ', '.join([cell.writer] + [p for p in cell.label.split(', ')[1:]
                                      if ' rank' not in p.split(' x ')[0]])
    sync = ', --sync %s' % group.sync if group.sync == 'none' or len({g.sync for g in report.runs.groups}) > 1 else ''
    words = 'Problem %s%s on %s%s (%s x %s): the fastest writer, %s, takes T_T = %s s%s; R_IO = %s.' % (
        group.name, sync, text.plural(cell.processors, 'processor'), ' of ' + group.whose if group.whose else '',
        text.plural(cell.ranks, 'rank'),
        text.plural(cell.threads, 'thread'), name, text.number(cell.median_s, 4),
        ' (T_C is not known%s)' % (': its runs were not all given the same' if any(r.given for r in cell.runs) else '')
        if cell.t_c_s != cell.t_c_s else ', %s = %s s%s: zeta = %s' % (
            'T_C as given' if cell.given else 'the computation alone T_C', text.number(cell.t_c_s, 4),
            ' (stored: %s)' % cell.stored if cell.stored else '', text.zeta(cell.zeta)),
        text.rate(cell.r_io))
    if z.io == z.io:
        words += " Of zeta, %s are the writer's calls and %s computing that takes longer than T_C." % (
            text.zeta(z.io), text.zeta(z.compute))
    if z.paired == z.paired and z.rounds:
        words += ' The paired zeta, against the compute-only run of the same round, is %s%s over ' \
            '%s.' % (text.zeta(z.paired), '' if z.lo != z.lo else ' (%s to %s%s)' % (
                text.zeta(z.lo), text.zeta(z.hi), '' if z.level == report.rounds.level else ', at %g %%' % (100 * z.level)),
                     text.plural(z.rounds, 'round'))
    report.page.text(words)


def _left_out(report):
    page, runs = report.page, report.runs
    old = [r for r in report.results if not r.judged]
    if old:
        page.text('%s written before programs judged their own results (stamps): %s shown without '
                  'judgement.' % (text.plural(len(old), 'result was', 'results were'),
                                  'it is' if len(old) == 1 else 'they are'), 'note')
    for why in report.results.refused[:REFUSED_MAX]:
        page.text('Left out: %s.' % why, 'bad')
    if len(report.results.refused) > REFUSED_MAX:
        page.text('%d more files were left out.' % (len(report.results.refused) - REFUSED_MAX), 'bad')
    if report.results.left_out:
        page.text(report.results.left_out + '.', 'note')
    if runs.wrong:
        page.text('%s left out: what was computed or written was wrong.' % text.plural(
            runs.wrong, 'run'), 'bad')
    if report.dumps.wrong:
        page.text('%s left out: what was read was not what had been written.' % text.plural(
            report.dumps.wrong, 'reading'), 'bad')
    measured = [(r, outcome(m)) for r in report.results.of('nht1-workload') for m in measurements(r.root)]
    for why, mark, words in (('wrong', 'bad', 'data were wrong'), ('unfinished', 'warn', 'interrupted or failed')):
        found = [r.shown for r, how in measured if how == why]
        if found:
            files = list(dict.fromkeys(found))
            page.text('%s of nht1-workload left out: %s (%s).' % (
                text.plural(len(found), 'measurement'), words, ', '.join(
                    files[:REFUSED_MAX] + ['...'] * (len(files) > REFUSED_MAX))), mark)
    cut = [r.shown for r in report.results.of('nht1-bt') if any(s['code'] == 'interrupted' for s in r.stamps)]
    if cut and len(report.results.of('nht1-bt')) > 1:
        page.text('%s not come to an end, the rounds that are complete count: %s.' % (
            text.plural(len(cut), 'job has', 'jobs have'), ', '.join(cut[:REFUSED_MAX] + ['...'] * (len(cut) > REFUSED_MAX))), 'warn')
    if runs.unfinished:
        page.text('%s left out: interrupted, failed or continued.' % text.plural(
            runs.unfinished, 'run'), 'warn')
    if report.results.newer:
        page.text('%s of a newer version of the programs: shown as far as this one understands '
                  'them.' % text.plural(report.results.newer, 'result'), 'warn')
