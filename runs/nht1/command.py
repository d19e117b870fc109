# SPDX-License-Identifier: GPL-3.0-or-later
"""What all commands share: how options are read, and how a command ends: with an exit status of
trouble.py, and where it is not 0 with one line that says why."""
import argparse
import errno
import io
import json
import os
import re
import shlex
import sys

from . import text, trouble


class Parser(argparse.ArgumentParser):
    """Help is laid out as it is written; what is wrong is told in one line."""

    def __init__(self, commands=(), words=(), **more):
        """commands: what the first word may be instead, each with options of its own; words: what
        completion offers beside files for those that are no options."""
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **more)
        self.commands, self.words, self.pairs = commands, words, []

    def only_with(self, other, *names):
        """Options that would be without effect where another one is not given: then they are refused."""
        self.pairs += [(_key(name), _key(other), True) for name in names]

    def not_with(self, other, *names):
        """Those that would be without effect beside another one; without names all others."""
        self.pairs += [(_key(name), _key(other), False) for name in names or [
            a.dest for a in self._actions if a.dest != other]]

    def parse_known_args(self, args=None, namespace=None):
        """As argparse does, for parse_args too; and --help-json, as the programs in C (base/start.h)
        answer it."""
        if args == ['--help-json']:
            print(json.dumps(self._table(), indent=1))
            self.exit()
        found, rest = super().parse_known_args(args, namespace)
        self._expect_effect(found)
        return found, rest

    def _expect_effect(self, found):
        actions = {a.dest: a for a in self._actions if hasattr(found, a.dest)}
        given = {key for key, a in actions.items() if getattr(found, key) != a.default}
        for key, other, wanted in self.pairs:
            if key in given and (other in given) != wanted:
                self.error('%s %s --%s' % ((actions[key].option_strings or [actions[key].metavar])[-1],
                                           'is for' if wanted else 'has no effect with', other.replace('_', '-')))

    def _table(self):
        how = self._get_formatter()
        options = [a for a in self._actions if a.option_strings]
        return {
            'name': self.prog, 'summary': self.description, 'examples': self.epilog,
            'args': ' '.join(how._format_args(a, a.dest) for a in self._actions if a not in options),
            'commands': list(self.commands), 'words': list(self.words),
            'options': [{
                'name': a.option_strings[-1][2:],
                **({'letter': a.option_strings[0][1]} if len(a.option_strings) > 1 else {}),
                **({'value': a.metavar or '|'.join(a.choices)} if a.nargs != 0 else {}),
                'help': how._expand_help(a), 'words': list(a.choices or ()),
                'repeats': isinstance(a.default, list)} for a in options]}

    def error(self, message):
        said = re.sub(r'^argument (?:-\w/)?(--[\w-]+): ignored explicit argument .*', r'\1 takes no value', message, flags=re.S)
        self.exit(trouble.USAGE, '%s: %s; see --help\n' % (self.prog, text.clean(said)))

    def _print_message(self, message, file=None):
        """argparse's own says nothing when the output cannot be written."""
        if message:
            (file or sys.stderr).write(message)


def _key(name):
    """Of an option among those that were read."""
    return name.replace('-', '_')


def words(said):
    """A type for add_argument: words as a shell reads them."""
    try:
        return shlex.split(said)
    except ValueError as e:
        raise argparse.ArgumentTypeError('%s: %s' % (said, e))


# What the programs take, too; launchers count ranks in 32 bits, and wrap where there are more.
MINUTES_MAX, RANKS_MAX, THREADS_MAX, CORES_MAX = 100000, 1 << 20, 4096, 1 << 24

LEVELS = (0.5, 0.999)  # of confidence


def number(low, high, kind=float):
    """A type for add_argument: a number, or a whole one (kind int), of a range."""
    def convert(said):
        value = kind(said)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError('%s: a number from %.9g to %.9g is expected' % (
                text.clean(said)[:100], low, high))
        return value
    convert.__name__ = 'number' if kind is float else 'whole number'  # what argparse calls it
    return convert


def _fill_standard_files():
    """Where standard input or standard error is closed, the next file that is opened would stand in
    its place, and messages of this program and of its children would be written into it."""
    for handle in range(3):
        try:
            os.fstat(handle)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # takes the lowest that is free
    if sys.stderr is None:
        sys.stderr = open(2, 'w', errors='backslashreplace', closefd=False)


def run(name, act):
    """The exit status of act(), or of what went wrong in it, which is said under the name."""
    _fill_standard_files()
    try:
        if sys.stdout is None:
            raise trouble.failed('standard output is closed')
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors='backslashreplace')  # a character that the encoding lacks loses no result
        try:
            status = act()
        except SystemExit as e:  # after --help, or a wrong option
            status = e.code
        sys.stdout.flush()
        return status or trouble.OK
    except trouble.Trouble as e:
        said, status = str(e), e.status
    except KeyboardInterrupt:
        said, status = 'interrupted', trouble.FAILED
    except MemoryError:
        said, status = 'not enough memory', trouble.FAILED
    except OSError as e:
        unnamed = 'the current folder' if e.errno == errno.ENOENT else 'standard output'
        said, status = '' if isinstance(e, BrokenPipeError) else '%s: %s' % (
            e.filename or unnamed, e.strerror or e), trouble.FAILED
        if not e.filename:  # what cannot be written would be tried again at the end of Python
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if said:
        try:
            sys.stderr.write('%s: %s\n' % (name, text.clean(said)))
            sys.stderr.flush()
        except OSError:  # nobody hears it; the status stays what it is
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return status
