# SPDX-License-Identifier: GPL-3.0-or-later
"""From sections to points. Every key of a [run] section has a list of values, separated by blanks;
the section stands for their cartesian product, less what its condition `when` leaves out."""
import re

from . import expression
from .description import POINT_KEYS, RUN_KEPT_KEYS, SINGLE_KEYS, nearest

TOKEN = re.compile(r'((?:\{[^}]*\}|"[^"]*"|[^\s"{}])+)|(\S)')
POINTS_MAX = 10000


class Point:
    """One combination: .id, .section, .program, .ranks, .threads, .options [(name, value)],
    .env {name: value}, .entries {key: Entry} where it was written."""

    def __init__(self, section, settings, entries):
        self.id, self.section, self.settings, self.entries = None, section, settings, entries
        self.program = settings['program']
        self.ranks, self.threads = int(settings['ranks']), int(settings['threads'])
        self.env = {k[4:]: v for k, v in settings.items() if k.startswith('env.') and v != '-'}
        self.options = [(k, v) for k, v in settings.items()
                        if k not in POINT_KEYS and not k.startswith('env.')]

    def value(self, key, default=None):
        return self.settings.get(key, default)

    def place(self, key):
        """Where a key of this point was written, for messages."""
        entry = self.entries.get(key) or self.entries.get('program')
        return entry.place

    def identity(self):
        """What makes this point the same one after an interruption."""
        return {'id': self.id, 'section': self.section,
                'settings': {k: v for k, v in self.settings.items() if k not in RUN_KEPT_KEYS}}


def _tokens(entry):
    tokens = []
    for good, bad in (match.groups('') for match in TOKEN.finditer(entry.text)):
        if bad:
            raise entry.place.wrong("'%s' has no partner in: %s" % (bad, entry.text))
        span = re.fullmatch(r'(\d{1,9})\.\.(\d{1,9})', good, re.ASCII)
        if span:
            first, last = int(span.group(1)), int(span.group(2))
            if last < first or last - first > POINTS_MAX:
                raise entry.place.wrong("'%s' is no range from low to high" % good)
            tokens += [str(i) for i in range(first, last + 1)]
        else:
            tokens.append(good)
    return tokens


def _evaluated(token, entry, names):
    """The text of a token with its {expressions} computed and its quotes gone."""
    def value(match):
        try:
            return expression.text_of(expression.evaluate(match.group(1), names))
        except ValueError as e:
            raise entry.place.wrong('%s: %s' % (match.group(0), e))
    return re.sub(r'\{([^}]*)\}', value, token).replace('"', '')


def _names(partial, system):
    names = dict(system)
    names.update({k.replace('-', '_'): expression.number_or_text(v) for k, v in partial.items()})
    return names


def _values(key, entry, partial, system):
    """The values of a key for a point that is settled up to there, repetitions left out."""
    if key in SINGLE_KEYS:
        return [entry.text]
    names = _names(partial, system)
    values = list(dict.fromkeys(_evaluated(token, entry, names) for token in _tokens(entry)))
    if key in ('ranks', 'threads'):
        for value in values:
            if not re.fullmatch(r'[1-9]\d{0,8}', value, re.ASCII):
                raise entry.place.wrong("'%s' is not a number from 1 on" % value)
    return values


def _wanted(settings, entries, system):
    """Whether the condition of the section holds."""
    if 'when' not in entries:
        return True
    try:
        return bool(expression.evaluate(entries['when'].text, _names(settings, system)))
    except ValueError as e:
        raise entries['when'].place.wrong('%s: %s' % (entries['when'].text, e))


def _settings(entries, system):
    """All combinations. Keys with {expressions} come last: they may use the others."""
    order = [k for k in entries if '{' not in entries[k].text]
    order += [k for k in entries if '{' in entries[k].text and k not in order]
    found = [{}]
    for key in order:
        if key == 'when':
            continue
        longer = []
        for partial in found:
            for value in _values(key, entries[key], partial, system):
                longer.append(dict(partial, **{key: value}))
            if len(longer) > POINTS_MAX:
                raise entries[key].place.wrong('more than %d combinations' % POINTS_MAX)
        found = longer
    return [{k: s[k] for k in entries if k != 'when'} for s in found]


def _check_keys(name, entries, program):
    for key, entry in entries.items():
        if key in POINT_KEYS or key.startswith('env.'):
            continue
        if key in program.reserved:
            raise entry.place.wrong('the driver gives --%s itself' % key)
        if program.options is None:  # a dry run does not start it
            continue
        if key not in program.options:
            known = list(POINT_KEYS) + list(program.options)
            raise entry.place.wrong('no such key%s: %s has no option --%s, and the driver no such '
                                    'key' % (nearest(key, known), program.name, key))


def expand(description, system, find_program):
    """All points, numbered. system: {name: number} for expressions. find_program: name, place ->
    Program. Raises Trouble."""
    points = []
    for name, entries, place in description.runs:
        entries = dict(entries)
        if 'program' not in entries:
            raise place.wrong('names no program; write one, such as: program = nht1-bt')
        program = find_program(entries['program'].text, entries['program'].place)
        _check_keys(name, entries, program)
        for key in program.capitals:
            if key in entries and '{' not in entries[key].text:
                entries[key] = entries[key]._replace(text=entries[key].text.upper())
        mine = []
        for settings in _settings(entries, system):
            settings.setdefault('ranks', '1')
            settings.setdefault('threads', '1')
            if _wanted(settings, entries, system):
                mine.append(Point(name, settings, entries))
        if not mine:
            raise entries['program'].place.wrong(
                'no combination of this section is left%s' % (
                    ' by: when = %s' % entries['when'].text if 'when' in entries else ''))
        points += mine
    for number, point in enumerate(points, 1):
        point.id = 'p%0*d' % (max(2, len(str(len(points)))), number)
    return points


def varying(points):
    """Keys whose value differs between points, in the order in which they were written."""
    keys = []
    for point in points:
        keys += [k for k in ['section'] + list(point.settings) if k not in keys]

    def of(point, key):
        return point.section if key == 'section' else point.settings.get(key)
    return [k for k in keys if k not in SINGLE_KEYS and len({of(p, k) for p in points}) > 1]
