# SPDX-License-Identifier: GPL-3.0-or-later
"""What the driver knows about the programs it starts. The options of a program are not repeated
here: they are read from its --help. A program that is not in the table needs `metric` in its
section and has to take --json FILE."""
import json
import math
import os
import re

from .. import tools, trouble
from . import child
from .description import nearest

HELP_S = 60

# metric: the headline, a path into the result, [] standing for every element of an array.
# beside: further columns of the closing table, heading -> path.
# files: the option that names the file to write; folder: the one that names a folder for it.
# always: options of every run.
# lists: options that may be repeated; plan: it has --dry-run.
# capitals: options whose values the program keeps in capitals, given in any case.
# alone: the option that makes a run what others are compared with: computing only.
KNOWN = {
    'nht1-bt': {
        'metric': 'runs[].t_t_s', 'better': 'low', 'files': 'out', 'plan': True,
        'alone': ('io', 'none'),
        'beside': {'zeta': 'runs[].zeta', 'R_IO MB/s': 'runs[].r_io_bytes_per_s'},
        'always': ['--progress', 'never'], 'lists': ['hint'], 'capitals': ['class'],
        'reserved': ['json', 'out', 'progress', 'restart', 'dry-run', 'help', 'version'],
    },
    'nht1-beff': {
        'metric': 'result.b_eff_bytes_per_s', 'better': 'high',
        'always': ['--progress', 'never'],
        'reserved': ['json', 'progress', 'help', 'version'],
    },
    'nht1-beffio': {
        'metric': 'b_eff_io.bytes_per_s', 'better': 'high', 'folder': 'path', 'plan': True,
        'always': ['--progress', 'never'],
        'reserved': ['json', 'path', 'progress', 'dry-run', 'nodes', 'keep', 'help', 'version'],
    },
    'rawfile': {  # of bench/
        'metric': 'bytes_per_s', 'better': 'high', 'files': 'out',
    },
    'nht1-workload': {
        'metric': 'bytes_per_s', 'better': 'high', 'files': 'out', 'lists': ['hint', 'set'],
        'always': ['--progress', 'never'],
        'reserved': ['json', 'out', 'progress', 'dry-run', 'keep', 'make', 'help', 'version'],
    },
}


RATE = re.compile(r'(per_s|mib_s|_rate)$')  # the end of a metric's name


class Program:
    """One program: .name, .path, .options {name: takes a value}, and its row of the table."""

    def __init__(self, name, path, options):
        row = KNOWN.get(os.path.basename(name), {})
        self.name, self.path, self.options = name, path, options
        self.metric, self.better = row.get('metric'), row.get('better', 'low')
        self.beside, self.lists = row.get('beside', {}), row.get('lists', [])
        self.files, self.folder = row.get('files'), row.get('folder')
        self.alone = row.get('alone')
        self.plan = row.get('plan', False) and {'dry-run', 'ranks'} <= set(options or ())
        self.always, self.capitals = row.get('always', []), row.get('capitals', [])
        self.reserved = row.get('reserved', ['json', 'help', 'version'])

    def better_of(self, metric):
        """Which values of a metric are better, 'low' or 'high': a program's own says so, of another one its name."""
        return self.better if metric == self.metric else 'high' if RATE.search(metric.replace('[]', '')) else 'low'

    def expect_metric(self, metric):
        """Trouble with a metric that no result of this program has, by its schema. Of another build nothing is known."""
        path = os.path.join(tools.ROOT, 'docs', 'schema', '%s-1.json' % self.name)
        if self.name not in KNOWN or self.path != tools.path(self.name) or not os.path.exists(path):
            return
        with open(path, encoding='utf-8') as f:
            schema = json.load(f)
        places, steps = list(_places(schema, schema, ())), _steps(metric)
        if not any(place == steps or more and steps[:len(place)] == place for place, more in places):
            raise trouble.usage('--metric: no result of %s has %s%s; docs/schema/%s-1.json has the names' % (
                self.name, metric, nearest(metric, [_path(place) for place, _ in places]), self.name))

    def writes_to(self, folder):
        """The words that lead what it writes into a folder."""
        if self.files:
            return ['--' + self.files, os.path.join(folder, 'dump.bin')]
        return ['--' + self.folder, folder] if self.folder else []

    def arguments(self, point):
        """The point's options as words: '-' leaves one out, yes and no switch a flag."""
        words = []
        for name, value in point.options if self.options is not None else ():
            if value == '-':
                continue
            if not self.options[name]:
                if value not in ('yes', 'no'):
                    raise point.place(name).wrong("'%s': --%s takes no value; yes or no" % (
                        value, name))
                words += ['--' + name] if value == 'yes' else []
            elif name in self.lists:
                for item in value.split():
                    words += ['--' + name, item]
            else:
                words += ['--' + name, value]
        return words


def options_of(help_text):
    """{name: takes a value} from what --help prints: '  --name ARG   what it does'."""
    found = {}
    for line in help_text.splitlines():
        match = re.match(r'\s+(?:-\w,? +)?--([A-Za-z][\w-]*)(?:[ =]([^\s=]\S*))?(?:\s{2,}|\s*$)',
                         line)
        if match:
            found[match.group(1)] = match.group(2) is not None
    return found


def given(words, program, command, ours=(), whose=''):
    """[(name, value)] of words --name VALUE, --name=VALUE, --name, which a command hands on; value None for a flag.
    ours: options that the command gives itself; whose: '--a: ', where they are not of the command line itself."""
    found, words, command = [], list(words), tools.called('runs/study ' + command)
    while words:
        first = words.pop(0)
        name, equal, value = first.partition('=')
        name = name[2:] if name.startswith('--') else ''
        if not name:
            raise trouble.usage("%s'%s' is no option" % (whose, first))
        if name not in program.options:
            raise trouble.usage("%s'%s' is an option neither of %s nor of %s" % (whose, first, command, program.name))
        if name in ours:
            raise trouble.usage('%s--%s: it is given by %s itself' % (whose, name, command))
        if not program.options[name]:
            if equal:
                raise trouble.usage('%s--%s takes no value' % (whose, name))
            value = None
        elif not equal:
            if not words:
                raise trouble.usage('%s--%s needs a value' % (whose, name))
            value = words.pop(0)
        found.append((name, value))
    return found


class Finder:
    """Finds each program once, and asks it for its options. A dry run starts nothing
    but the programs of nht1: what a description names besides is not started, and its options are
    not known (None)."""

    def __init__(self, dry_run=False):
        self.found, self.dry_run = {}, dry_run

    def __call__(self, name, place):
        if name not in self.found:
            self.found[name] = Program(name, name, None) if self.dry_run and name not in KNOWN \
                else self._find(name, place)
        return self.found[name]

    @staticmethod
    def _find(name, place):
        path = tools.path(name)
        if path is None:
            raise place.wrong("'%s' is not there: 'make' builds the programs into build/bin, "
                              "NHT1_BIN names another folder" % name)
        try:
            status, out, err = child.about(path, '--help', HELP_S)
        except OSError as e:
            raise place.wrong('%s --help: %s' % (path, e.strerror))
        options = options_of(out)
        if status != 0 or not options:
            raise place.wrong('%s --help shows no options (%s)' % (path, 'no answer in %d s' % HELP_S if status is None else
                                                                   'exit status %d: %s' % (status, child.last_words_of(err or out))))
        return Program(name, path, options)


def _steps(path):
    return tuple(re.findall(r'\[\]|[^.\[\]]+', path))


def _path(steps):
    return '.'.join(steps).replace('.[]', '[]')


def _places(schema, node, steps):
    """Where results have numbers, by a schema: (steps, whether others may stand below)."""
    while '$ref' in node:
        node = schema['$defs'][node['$ref'].rpartition('/')[2]]
    kinds = node.get('type', ())
    kinds = {kinds} if isinstance(kinds, str) else set(kinds)
    if kinds & {'number', 'integer'} or {int, float} & set(map(type, node.get('enum', ()))):
        yield steps, False
    if 'object' in kinds and node.get('additionalProperties', True):
        yield steps, True
    if 'array' in kinds:
        yield from _places(schema, node.get('items', {'type': 'object'}), steps + ('[]',))
    for name, below in node.get('properties', {}).items():
        yield from _places(schema, below, steps + (name,))


def names(value, steps=()):
    """The paths of all numbers of a result, each once."""
    found = {}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        found[_path(steps)] = None
    for name, below in value.items() if isinstance(value, dict) else [('[]', v) for v in value] if isinstance(value, list) else ():
        found.update(dict.fromkeys(names(below, steps + (name,))))
    return list(found)


def _walk(value, steps, label):
    """(label, number) of every place that a path leads to."""
    if not steps:
        if isinstance(value, (int, float)) and not isinstance(value, bool) \
                and math.isfinite(value):
            yield label, float(value)
    elif steps[0] == '[]':
        for element in value if isinstance(value, list) else []:
            name = element.get('driver') or element.get('name') if isinstance(element, dict) else ''
            yield from _walk(element, steps[1:], str(name or label))
    elif isinstance(value, dict) and steps[0] in value:
        yield from _walk(value[steps[0]], steps[1:], label)


def values(result, path):
    """{label: [numbers]} at 'runs[].t_t_s' of a result. The label is the member driver or name of
    an array's element, '' without arrays. Numbers that are missing or null are left out."""
    found = {}
    for label, number in _walk(result, _steps(path), ''):
        found.setdefault(label, []).append(number)
    return found
