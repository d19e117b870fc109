# SPDX-License-Identifier: GPL-3.0-or-later
"""The best way to write: what a search (nht1-bt --io auto) tried and found, and with several MPI-IO
components how their winners compare (runs/study tune)."""
import os

from .. import text
from ..results import integer, items, members, real, true, word, words
from ..search import COMPONENT, asked, command_of, disturbed, hint_forms, near, span
from .page import Figure, Table
from .part_system import started

DRAWN_MAX = 40  # candidates in the figure; the table has all
FAR = 3.0       # times the best, from which on the axis is logarithmic
TIED_MAX = 8
ENDED = {
    'settled': ('The search went on until it was decided, or more rounds would not have decided it.', 'plain'),
    'budget': ('The time was used up before the search had settled: what it has left may still differ. '
               '--minutes gives more.', 'note'),
    'interrupted': ('The search was interrupted: this is the best so far.', 'warn'),
    'failed': ('A step behind the search failed: this is the best so far.', 'warn')}
CHARS = 44      # of a label on a line
STATES = {'best': 'best', 'tied': 'cannot be told apart from it', 'unjudged': 'not judged', 'beaten': 'slower',
          'failed': 'failed', 'untried': 'not tried'}


def add(report):
    page = report.page
    found = [r for r in report.results.of('nht1-bt') if word(r.root, 'search.best.label')]
    tunes = sorted((root for _, root in report.results.tunes if word(root, 'best.label')),
                   key=lambda root: word(root, 'started_utc'), reverse=True)
    if not found and not tunes:
        return
    page.section(2, 'search', 'The best way to write')
    for number, root in enumerate(tunes, 1):
        key, whose = '' if number == 1 else '-%d' % number, report.systems.on(word(root, 'host'))
        if len(tunes) > 1:
            page.section(3, 'tune' + key, text.of('Found on %s' % (word(root, 'started_utc')[:16].replace('T', ' ') or 'an unknown day'), whose, asked(members(root, 'settings'))))
        elif whose:
            page.text('Found on %s:' % whose)
        _tune(page, root, key)
    for number, r in enumerate(found, 1):
        whose = report.systems.whose(r)
        _Search(page, r, '' if number == 1 else '-%d' % number, len(found) > 1 or whose, whose).add(bool(tunes))


def _shown(label):
    """'mpiio, cb_nodes=1': hints are known by their names."""
    return label.replace(' --hint ', ', hint ').replace('--hint ', 'hint ')


def _command(result):
    """That of the best; where runs/study has started the search, as runs/study tells it: the folder that the search wrote
    into is gone."""
    line, mine = word(result.root, 'search.best.command'), started(result)
    if not line or '--out' not in mine[:-1]:
        return line
    folder = os.path.dirname(mine[mine.index('--out') + 1])
    files = os.path.dirname(folder) if os.path.basename(folder).startswith('nht1-files-') else None
    return command_of(result.environment.get(COMPONENT), line, files)


def _best(page, best, answer, command):
    """What came of it, the command, and what it is worth. Of a tune zeta and what was measured against it are those of the
    search, with steps of its own; T_T is of what was measured last."""
    if answer:
        page.text(answer)
    page.code([command or word(best, 'label')])
    t, zeta = real(best, 't_t_s'), real(best, 'zeta')
    if t == t:
        steps, rounds, earlier = integer(best, 'steps'), integer(best, 'rounds'), integer(best, 'zeta_steps')
        shown = 'This setting takes T_T = %s s%s' % (
            text.number(t, 4), '' if steps < 1 or rounds < 1 else ' for %s, %s (median of %s)' % (
                text.plural(steps, 'step'), text.plural(integer(best, 'dumps'), 'dump'),
                text.plural(rounds, 'round')))
        known = ['zeta = %s%s' % (text.zeta(zeta), span(best, 'zeta_lo', 'zeta_hi', text.zeta))] * (zeta == zeta) + [
            '%s takes %s%s times as long' % (word(a, 'label'), text.number(real(a, 'ratio')), span(a))
            for a in items(best, 'against')[:TIED_MAX] if real(a, 'ratio') == real(a, 'ratio')]
        of_search = '. In the search, with %s: ' % text.plural(earlier, 'step') if earlier > 0 else '; '
        page.text(shown + (of_search if known else '') + '; '.join(known) + '.')


def _hints(page, best):
    hints = hint_forms(best)
    if hints:
        page.text('The same for other programs:')
        for form, settings in hints:
            page.code(['# ' + form] + settings.split('\n') if form else settings.split('\n'))


# --- runs/study tune ----------------------------------------------------------------------------

def _tune(page, root, key):
    best = members(root, 'best')
    if word(root, 'ended') in ('interrupted', 'failed'):
        page.text(*ENDED[word(root, 'ended')])
    _best(page, best, word(root, 'answer'), word(best, 'command'))
    rows = items(root, 'final.ways')
    table = Table('search-final' + key, 'The winners of the searches and plain writing against each other, in %s' % text.plural(
        integer(root, 'final.rounds'), 'round'), [
            'setting', 'runs', 'median T_T in s', 'over the best', 'from', 'to', 'note'])
    for row in rows:
        table.row(word(row, 'name'), integer(row, 'runs'), real(row, 'median_s'), real(row, 'ratio'),
                  real(row, 'lo'), real(row, 'hi'), word(row, 'trouble') or
                  STATES.get(word(row, 'state'), ''))
    page.table(table)
    steps = integer(root, 'final.steps')
    if rows and steps:
        page.text('Their runs had %d steps, so that all rounds fitted into the time.' % steps, 'note')
    for s in items(root, 'searches'):
        if word(s, 'trouble'):
            page.text('%s: %s' % (word(s, 'component') or 'The search', word(s, 'trouble')), 'warn')
    _check(page, root)
    _hints(page, best)


def _check(page, root):
    check = members(root, 'check')
    if not check:
        return
    of = 'the best of all %d candidates, each run at full length, again and again' % integer(
        check, 'candidates_n')
    if true(check, 'same'):
        page.text('Check of the search: its choice is also %s.' % of, 'good')
    elif real(check, 'ratio') == real(check, 'ratio'):
        page.text('Check of the search: its choice takes %s%s times as long as %s, %s; measured against '
                  'each other in %s%s.' % (
                      text.number(real(check, 'ratio')), span(check), word(check, 'best'), of,
                      text.plural(integer(check, 'rounds'), 'round'),
                      disturbed(check) and '; not judged: ' + disturbed(check)),
                  {True: 'good', False: 'warn', None: 'note'}[near(check)])


# --- one search ---------------------------------------------------------------------------------

class _Search:
    def __init__(self, page, result, key, several, whose):
        self.page, self.key, self.search = page, key, members(result.root, 'search')
        component = result.environment.get(COMPONENT, '')
        self.name = text.of('MPI-IO component %s' % component if component else result.shown, whose)
        self.several, self.best, self.command = several, members(self.search, 'best'), _command(result)
        self.candidates = sorted(items(self.search, 'candidates'), key=self._place)

    @staticmethod
    def _place(candidate):
        """The best, those that cannot be told apart, those that lasted longest, the faster first."""
        ratio, state = real(candidate, 'ratio'), word(candidate, 'state')
        return (list(STATES).index(state) if state in STATES else 9,
                0 if state in ('tied', 'unjudged') else -integer(candidate, 'rung'),
                ratio if ratio == ratio else float('inf'), word(candidate, 'label'))

    def add(self, tuned):
        page = self.page
        if self.several:
            page.section(3, 'search-of' + self.key, 'Search: ' + self.name)
        if self.several or not tuned:
            _best(page, self.best, word(self.best, 'answer'), self.command)
        known = members(self.search, 'known')
        if known:
            page.text('This was found by an earlier search, on %s, and is kept for this system and '
                      'problem: nothing was tried this time.' % word(known, 'utc'), 'note')
        elif word(self.search, 'ended') == 'interrupted' and word(self.best, 'verdict') == 'undecided':
            page.text('The search was interrupted before it had decided anything.', 'warn')
        elif word(self.search, 'ended') in ENDED:
            page.text(*ENDED[word(self.search, 'ended')])
        self._tied()
        self._figure()
        self._rungs()
        self._effects()
        self._all()
        self._left_out()
        if not tuned:
            _hints(page, self.best)

    def _tied(self):
        tied = [word(c, 'label') for c in self.candidates if word(c, 'state') == 'tied']
        if tied:
            self.page.text('Cannot be told apart from it: %s%s.' % (
                '; '.join(tied[:TIED_MAX]), '' if len(tied) <= TIED_MAX else
                ' and %d more' % (len(tied) - TIED_MAX)))

    def _figure(self):
        rows = [c for c in self.candidates if real(c, 'ratio') > 0][:DRAWN_MAX]
        if len(rows) < 2:
            return
        f = Figure('search' + self.key, 'Candidates of the search')
        far = max(real(c, 'ratio') for c in rows) > FAR
        f.panel('', {'ticks': [(i, _shown(word(c, 'label'))) for i, c in enumerate(rows)]},
                {'label': 'T_T over that of the best', **({'log': 10} if far else {})}, across=True,
                chars=CHARS)
        series, last = {}, next((integer(r, 'rung') for r in items(self.search, 'rungs') if true(r, 'last')), None)
        for i, c in enumerate(rows):
            state, rung = word(c, 'state'), integer(c, 'rung')
            name = STATES.get(state, state) if state != 'beaten' else \
                'slower in the last rung' if rung == last else 'left out after rung %d' % rung
            series.setdefault(name, []).append((i, real(c, 'ratio'), real(c, 'lo'), real(c, 'hi')))
        for name, points in series.items():
            f.series(name, 'points', points)
        f.level(1.0, 'best')
        more = len(self.candidates) - len(rows)
        self.page.figure(f, (
            'T_T of each candidate over that of the best one, paired by round, with its interval; '
            'the longer a candidate stayed in the search, the more runs are behind it and the narrower it '
            'is.%s' % (' %s: see the table.' % text.plural(more, 'more candidate') if more > 0 else '')))

    def _rungs(self):
        rungs = items(self.search, 'rungs')
        table = Table('search-rungs' + self.key, 'How the field was narrowed: few dumps and many candidates '
                      'first, then more dumps of those that were left', [
                          'rung', 'candidates', 'rounds', 'steps of a run', 'dumps of a run', 'note'])
        for i, rung in enumerate(rungs, 1):
            table.row(integer(rung, 'rung', i), integer(rung, 'candidates_n'), integer(rung, 'rounds'),
                      integer(rung, 'steps'), integer(rung, 'dumps'),
                      'the best so far against the others and the default writers'
                      if true(rung, 'last') else '')
        self.page.table(table)

    def _effects(self):
        rows = [e for e in items(self.search, 'effects') if real(e, 'ratio') > 0]
        if not rows:
            return

        def shown(e):
            low, high = real(e, 'lo'), real(e, 'hi')
            return low == low and high == high and not low <= 1 <= high
        rows.sort(key=lambda e: (not shown(e), real(e, 'ratio')))

        def name(e):
            value, other = word(e, 'value'), word(e, 'against')
            flag = value == 'yes' and other in ('no', '-', '')
            return '%s: %s%s%s' % (word(e, 'writer'), _shown(word(e, 'setting')),
                                   '' if flag else ' ' + value,
                                   '' if flag or other in ('-', 'default', '') else ', not ' + other)
        f = Figure('search-effects' + self.key, 'What mattered')
        f.panel('', {'ticks': [(i, name(e)) for i, e in enumerate(rows[:DRAWN_MAX])]},
                {'label': 'T_T with it over T_T without'}, across=True, chars=CHARS)
        for label, wanted in (('makes a difference', True), ('no difference beyond chance', False)):
            f.series(label, 'points', [(i, real(e, 'ratio'), real(e, 'lo'), real(e, 'hi'))
                                       for i, e in enumerate(rows[:DRAWN_MAX]) if shown(e) == wanted])
        f.level(1.0, 'no effect')
        self.page.figure(f, 'The effect of single settings: T_T of candidates that differ in nothing else, '
                            'paired, with 95 % intervals. Below 1 the setting makes writing faster.')
        table = Table('search-effects' + self.key, 'What mattered: T_T with a value over T_T with another', [
            'writer', 'setting', 'value', 'instead of', 'ratio', 'from', 'to', 'pairs'])
        for e in rows:
            table.row(word(e, 'writer'), word(e, 'setting'), word(e, 'value'), word(e, 'against'),
                      real(e, 'ratio'), real(e, 'lo'), real(e, 'hi'), integer(e, 'pairs'))
        self.page.table(table)

    def _all(self):
        table = Table('search-candidates' + self.key, 'All candidates, T_T over that of the best', [
            'writer and settings', 'last rung', 'runs', 'ratio', 'from', 'to', 'outcome'])
        for c in self.candidates:
            state, why = STATES.get(word(c, 'state'), word(c, 'state')), word(c, 'why')
            table.row(word(c, 'label') or ' '.join([word(c, 'writer')] + words(c, 'options')),
                      integer(c, 'rung'), integer(c, 'runs'), real(c, 'ratio'), real(c, 'lo'),
                      real(c, 'hi'), '%s: %s' % (state, why) if why else state)
        self.page.table(table)

    def _left_out(self):
        table = Table('search-left-out' + self.key, 'Writers that were not tried', ['writer', 'why'])
        for w in items(self.search, 'left_out'):
            table.row(word(w, 'writer'), word(w, 'why'))
        self.page.table(table)
