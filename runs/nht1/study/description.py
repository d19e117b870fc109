# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the INI file of a study. configparser does the reading; what it does not tell, the line of
each key, is looked up in the text, because every complaint names file, section, key and line."""
import configparser
import difflib
import os
import re
from typing import NamedTuple

from ..trouble import usage

# Keys of [study]: default, and what may stand there (None: any text).
STUDY_KEYS = {
    'title': ('', None),
    'repeats': ('auto', r'(auto|[1-9]\d{0,4})(\.\.[1-9]\d{0,4})?'),
    'precision': ('0.05', r'0?\.\d{1,9}|\d{1,3}(\.\d{1,9})? *%'),
    'level': ('0.95', r'0?\.\d{1,9}'),
    'minutes': ('0', r'\d{1,9}(\.\d{1,9})?'),
    'timeout_s': ('0', r'\d{1,9}(\.\d{1,9})?'),
    'seed': ('', r'\d{0,18}'),
    'files': ('', None),
    'launcher': ('auto', r'auto|none|\S*(mpirun|mpiexec|srun)\S*'),
    'launcher_flags': ('', None),
    'output': ('hide', r'hide|show'),
    'order': ('random', r'random|written'),
}

CONTROL = '[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]'  # the last: bytes that are no UTF-8

# Keys of [common] and [run NAME] that are not options of the program.
POINT_KEYS = ('program', 'ranks', 'threads', 'when', 'metric', 'better', 'estimate_s', 'repeats')
SINGLE_KEYS = ('program', 'when', 'metric', 'better', 'estimate_s', 'repeats')  # no lists
RUN_KEPT_KEYS = ('better', 'estimate_s', 'repeats')  # change no run, and may change while a study goes on


class Place(NamedTuple):
    """Where something stands."""
    path: str
    section: str
    key: str = None
    line: int = None

    def __str__(self):
        where = self.path if self.line is None else '%s:%d' % (self.path, self.line)
        key = '' if self.key is None else ' %s' % self.key
        return '%s: [%s]%s' % (where, self.section, key)

    def wrong(self, message):
        return usage('%s: %s' % (self, message))


class Entry(NamedTuple):
    """What stands behind a key."""
    text: str
    place: Place


class Description:
    """A study as written: .study {key: Entry}, .runs [(name, {key: Entry}, Place)], .text."""

    def __init__(self, path, text):
        self.path, self.text, self.runs = path, text, []
        self.study = {k: Entry(v[0], Place(path, 'study', k)) for k, v in STUDY_KEYS.items()}

    def value(self, key):
        return self.study[key].text


def _lines(text):
    """{(section, key): line}, and {(section, None): line of its heading}."""
    found, section = {}, None
    for number, line in enumerate(text.splitlines(), 1):
        heading = re.match(r'\[([^]]+)\]', line)
        key = re.match(r'([^\s=;#\[][^=]*?)\s*=', line)
        if heading:
            section = heading.group(1)
            found.setdefault((section, None), number)
        elif key:
            found.setdefault((section, key.group(1)), number)
    return found


def parse(path, text):
    """A configparser with the text of an INI file."""
    parser = configparser.ConfigParser(
        interpolation=None, delimiters=('=',), comment_prefixes=('#', ';'),
        inline_comment_prefixes=(';',), default_section='\0', strict=True)
    parser.optionxform = str
    try:
        parser.read_string(text)
    except configparser.MissingSectionHeaderError as e:
        raise usage('%s:%d: text before the first [section]' % (path, e.lineno))
    except configparser.DuplicateSectionError as e:
        raise usage('%s:%d: [%s] stands there twice' % (path, e.lineno, e.section))
    except configparser.DuplicateOptionError as e:
        raise usage('%s:%d: [%s] %s: stands there twice' % (path, e.lineno, e.section, e.option))
    except configparser.ParsingError as e:
        line, content = e.errors[0]
        raise usage('%s:%d: neither [section] nor key = value: %s' % (path, line, content))
    return parser


def is_file(study):
    """Whether a study is named by the file of its description, and not by a name in config/."""
    return study.endswith('.ini') or os.sep in study


def nearest(word, known):
    """' (did you mean X?)', or nothing."""
    close = difflib.get_close_matches(word, known, 1)
    return ' (did you mean %s?)' % close[0] if close else ''


def _study(description, entries):
    for key, entry in entries.items():
        if key not in STUDY_KEYS:
            raise entry.place.wrong('no such key%s; there are %s' % (
                nearest(key, STUDY_KEYS), ', '.join(sorted(STUDY_KEYS))))
        pattern = STUDY_KEYS[key][1]
        if pattern and not re.fullmatch(pattern, entry.text, re.ASCII):
            raise entry.place.wrong("'%s' is not understood; the default is '%s'" % (
                entry.text, STUDY_KEYS[key][0]))
        description.study[key] = entry


def _section(parser, path, section, lines):
    entries = {}
    for key, text in parser.items(section):
        place = Place(path, section, key, lines.get((section, key)))
        if text is None or not text.strip():
            raise place.wrong("nothing stands behind '='; leave the key out, or give a value")
        entries[key] = Entry(text.strip(), place)
    return entries


def override(entries, overrides, used):
    """Puts --set SECTION.KEY=VALUE into parsed sections: {section: {key: Entry}}."""
    for text in overrides:
        match = re.fullmatch(r'([^.=]+)\.([^=]+)=(.*)', text, re.S)
        if not match or not match.group(3).strip() or \
                re.search(CONTROL, match.group(3)):
            raise usage("--set '%s': SECTION.KEY=VALUE expected, such as run.ranks='1 2 4'" % text)
        section, key, value = (part.strip() for part in match.groups())
        if section not in entries and 'run ' + section in entries:
            section = 'run ' + section
        if section in ('study', 'common'):
            entries.setdefault(section, {})
        if section not in entries:
            raise usage('--set %s: no [%s] in %s, which has %s' % (
                text, section, used, ', '.join('[%s]' % s for s in entries)))
        entries[section][key] = Entry(value, Place('--set', section, key))


def read(path, text, overrides=()):
    """A Description from the text of an INI file. Raises Trouble."""
    for number, line in enumerate(text.split('\n'), 1):
        if re.search(CONTROL, line):
            raise usage('%s:%d: a control character, which no description has' % (path, number))
    lines = _lines(text)
    parser = parse(path, text)
    entries = {s: _section(parser, path, s, lines) for s in parser.sections()}
    override(entries, overrides, path)
    description = Description(path, text)
    _study(description, entries.get('study', {}))
    common = entries.get('common', {})
    for section in entries:
        if section in ('study', 'common'):
            continue
        place = Place(path, section, None, lines.get((section, None)))
        if section != 'run' and not section.startswith('run '):
            raise place.wrong(
                'no such section; there are [study], [common], [run] and [run NAME]')
        name = section[4:].strip() if section.startswith('run ') else section
        description.runs.append((name, {**common, **entries[section]}, place))
    if not description.runs:
        raise usage('%s: no [run] section: nothing to do' % path)
    return description
