# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs/study tune has found, as text and as the member best of tune.json."""
from .. import text
from ..results import at, integer, items, members, real, word
from ..search import asked, disturbed, hint_forms, near, span

SHOWN_MAX = 8


def best_of(chosen, search, command, newest):
    """The member best of tune.json. search: that has found it, or none. newest: {t_t_s, steps, dumps,
    rounds} of the last measurement, where there was one after the search."""
    found_best = members(search, 'best')
    return {'name': chosen.name, 'component': chosen.component or None, 'label': chosen.label,
            'command': command,
            **{k: found_best.get(k) for k in ('t_t_s', 'zeta', 'zeta_lo', 'zeta_hi', 'steps', 'dumps', 'rounds')},
            'zeta_steps': found_best.get('steps'), **newest,
            'against': found_best.get('against') or [], 'hints': found_best.get('hints') or [],
            'tied': [word(c, 'label') for c in items(search, 'candidates') if c.get('state') == 'tied']}


def verdict(found, searches):
    """What came of it, as text."""
    best, lines = found['best'], []
    for s in found['searches']:
        if s['trouble']:
            lines.append('%s: %s' % (s['component'] or 'The search', s['trouble']))
    if not best:
        return '\n'.join(lines + ['Nothing was found.']) + '\n'
    lines += [found['answer'], '', 'The way to write here%s:' % (
        ' so far' if found['ended'] in ('interrupted', 'failed') else ''), '', '    ' + best['command'], '']
    zeta = real(best, 'zeta')
    steps = integer(best, 'steps')
    if real(best, 't_t_s') == real(best, 't_t_s'):
        lines.append('T_T %s s%s, median of %s; %s.' % (
            text.number(real(best, 't_t_s'), 4), ' for %d steps with %s' % (
                steps, text.plural(integer(best, 'dumps'), 'dump')) if steps > 0 else '',
            text.plural(integer(best, 'rounds'), 'round'), asked(found['settings'])))
    if zeta == zeta:
        lines.append('zeta %s%s, in the search, with %s.' % (
            text.zeta(zeta), span(best, 'zeta_lo', 'zeta_hi', text.zeta),
            text.plural(integer(best, 'zeta_steps'), 'step')))
    rows = [['T_T of', 'over it', 'interval', 'measured']]
    for way in at(found, 'final.ways') or []:
        if way['state'] not in ('best', 'failed') and way['ratio']:
            rows.append([way['name'], text.number(way['ratio']), span(way)[2:-1] or '-',
                         'against it, %s%s' % (text.plural(way['pairs'], 'round'), (
                             ': cannot be told apart' if way['state'] == 'tied' else ''))])
    for other in items(best, 'against'):
        rows.append([word(other, 'label'), text.number(real(other, 'ratio')), span(other)[2:-1] or '-',
                     'in the search'])
    if len(rows) > 1:
        lines += ['', text.table(rows).rstrip()]
    for way in at(found, 'final.ways') or []:
        if way['trouble']:
            lines.append('%s failed: %s' % (way['name'], way['trouble']))
    if best['tied']:
        more = len(best['tied']) - SHOWN_MAX
        lines += ['', 'The search could not tell apart from it: %s%s.' % (
            '; '.join(best['tied'][:SHOWN_MAX]), ' and %d more' % more if more > 0 else '')]
    left = dict.fromkeys('%s: %s' % (word(w, 'writer'), word(w, 'why'))
                         for s in searches for w in items(s, 'left_out'))
    lines += ['', 'Left out:'] + ['    ' + w for w in left] if left else []
    lines += _hints(best)
    if found['ended'] == 'budget':
        lines += ['', 'The time was used up before the search had settled; --minutes gives more.']
    lines += _checked(found['check'])
    return '\n'.join(lines) + '\n'


def _hints(best):
    """For other programs."""
    hints = hint_forms(best)
    found = ['', 'For other programs:'] if hints else []
    for form, written in hints:
        found += ['    %s:' % form] + ['        ' + line for line in written.rstrip('\n').split('\n')]
    return found


def _checked(check):
    if not check:
        return []
    of = 'the best of all %d candidates, each run at full length' % check['candidates_n']
    if check['same']:
        return ['', 'Check: it is also %s.' % of]
    ratio, hi = real(check, 'ratio'), real(check, 'hi')
    judged = ''
    if disturbed(check):
        judged = ': not judged, ' + disturbed(check)
    elif hi == hi:
        judged = {True: ': within 5 %', False: ': not within 5 %',
                  None: ': whether that is within 5 % is not certain'}[near(check)]
    return ['', 'Check: it takes %s%s times as long as %s, %s, in %s%s.' % (
        text.number(ratio), span(check), check['best'], of, text.plural(check['rounds'], 'round'),
        judged)]
