#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hostile inputs for the Python programs: changes the files of tests/corpus/NAME and gives them to
the command line, in this process. A finding is an exception, a status that is not documented, an
answer without a message, output that a terminal obeys, or more than 20 s; the input is kept.

    tests/fuzz/fuzz.py [--seconds S] [--tries N] [--seed K] [--save FOLDER] [--list | TARGET...]

S 0 is no limit: N inputs, those of the corpus among them, or none but those.
Input number i follows from seed and i. Nothing is started but nht1-stats, whatever an input says.
A target is a line of TARGETS and a folder of tests/corpus."""
import argparse
import contextlib
import importlib
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'runs'))
sys.dont_write_bytecode = True

# Name of the corpus: module, the input's name, command lines.
TARGETS = {
    'study': ('nht1.study.cli', 'x.ini', [['--dry-run', '--under', 'out', 'x.ini']]),
    'report': ('nht1.report.cli', 'x.json', [['x.json', '-o', 'p.html', '--no-figures',
                                             '--markdown', 'p.md']]),
    'compare': ('nht1.report.cli', 'x.json', [['compare', 'whole.json', 'x.json'],
                                              ['compare', 'x.json', 'whole.json']]),
}
ODD = ['0', '-1', '9223372036854775808', '1e999', '-0.0', '1e-320', 'null', 'true', '[]', '{}', '""',
       '[[[[[[', '"\\u0000"', '"\\ud800"', 'nan', 'NaN', 'Infinity', '-Infinity', '', '%s', '%(x)s',
       '${x}', '../..', '\x9b', '\x1b[2J', '\u202e', "it's", '"', '{1e999}', '{' + '-' * 3000 + '1}',
       '\u00b2', '9' * 5000, '1..9999999999', '1-5', ',', '=', '[', ']', '\n', '\0', '<script>', '|',
       '\r', '=cmd', '2147483648', '0x10', '1_000', '\u0661']
WORD = re.compile(rb'-?[0-9][0-9.eE+-]*|[A-Za-z_]+|"[^"]*"')
CONTROL = re.compile('[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\u061c]')
LIMIT_S = 20


class Hang(BaseException):
    pass


def mutate(data, corpus, rng):
    at = rng.randrange(len(data) + 1)
    count = rng.choice((1, 2, 8, 64, 1024))
    kind = rng.randrange(8)
    if kind == 0:
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1:]
    if kind == 1:
        return data[:at] + data[at + count:]
    if kind == 2:
        to = rng.randrange(len(data) + 1)
        return data[:to] + data[at:at + count] + data[to:]
    if kind == 3:
        other = rng.choice(corpus)
        start = rng.randrange(len(other) + 1)
        return data[:at] + other[start:start + count] + data[at:]
    if kind == 4 and rng.randrange(8) == 0:
        return data[:at]
    words = list(WORD.finditer(data))
    if not words:
        return data
    word = rng.choice(words)
    odd = rng.choice(ODD).encode('utf-8', 'surrogatepass')
    if word.group().startswith(b'"') and rng.randrange(2):
        odd = json.dumps(rng.choice(ODD), ensure_ascii=bool(rng.randrange(2))).encode(
            'utf-8', 'surrogatepass')
    return data[:word.start()] + odd + data[word.end():]


def tame():
    """No input starts a program, other than nht1-stats, or puts another one in this one's place."""
    real = subprocess.Popen.__init__

    def start(self, args, *rest, **more):
        if not isinstance(args, (list, tuple)) or os.path.basename(args[0]) != 'nht1-stats':
            raise FileNotFoundError(2, 'not started by the fuzzer', str(args))
        return real(self, args, *rest, **more)

    def refuse(*args, **more):
        raise FileNotFoundError(2, 'not started by the fuzzer', str(args[0]))
    subprocess.Popen.__init__ = start
    for name in ('execv', 'execve', 'execvp', 'execvpe', 'system', 'posix_spawn', 'fork'):
        setattr(os, name, refuse)


def alarm(signum, frame):
    raise Hang()


def look(main, argv):
    """What is wrong with the program's answer, or None."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            signal.alarm(LIMIT_S)
            try:
                status = main(list(argv))
            except SystemExit as e:
                status = e.code or 0
            finally:
                signal.alarm(0)
    except Hang:
        return 'took more than %d s' % LIMIT_S
    except BaseException:  # pylint: disable=broad-except
        return traceback.format_exc()
    said = out.getvalue() + err.getvalue()
    if status not in (0, 1, 2, 3, 4, 5):
        return 'status %r' % (status,)
    if status in (1, 3) and not err.getvalue().strip():
        return 'status %d without a message' % status
    if 'Traceback' in said:
        return said
    wrong = CONTROL.search(said)
    if wrong:
        return 'prints %r in %r' % (wrong.group(), said[max(0, wrong.start() - 60):wrong.end() + 20])
    return None


def fuzz(name, options):
    module, file, commands = TARGETS[name]
    main = importlib.import_module(module).main
    folder = os.path.join(ROOT, 'tests', 'corpus', name)
    names = sorted(os.listdir(folder))
    corpus = [open(os.path.join(folder, n), 'rb').read() for n in names]
    home, work = os.getcwd(), tempfile.mkdtemp(prefix='nht1-fuzz.')
    end = time.monotonic() + options.seconds if options.seconds else float('inf')
    most = options.tries or (sys.maxsize if options.seconds else 0)
    tried = 0
    try:
        while tried < len(corpus) or (tried < most and time.monotonic() < end):
            rng = random.Random('%d %s %d' % (options.seed, name, tried))
            data = corpus[tried] if tried < len(corpus) else rng.choice(corpus)
            for _ in range(0 if tried < len(corpus) else rng.randrange(1, 6)):
                data = mutate(data, corpus, rng)
            shutil.rmtree(work)
            os.mkdir(work)
            os.chdir(work)
            for n, d in (('whole.json', corpus[0]), (file, data)):
                if n.endswith('.json') == file.endswith('.json'):
                    with open(n, 'wb') as to:
                        to.write(d)
            for argv in commands:
                wrong = look(main, argv)
                os.chdir(work)
                if wrong:
                    kept = os.path.join(options.save, '%s.%d' % (name, tried))
                    os.makedirs(options.save, exist_ok=True)
                    with open(kept, 'wb') as to:
                        to.write(data)
                    print('%s: %s: %s' % (kept, ' '.join(argv), wrong))
                    return 1
            tried += 1
    finally:
        os.chdir(home)
        shutil.rmtree(work, ignore_errors=True)
    print('%s: %d inputs' % (name, tried))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--tries', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1993)
    parser.add_argument('--save', default='.', type=os.path.abspath)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('targets', nargs='*', metavar='TARGET')
    options = parser.parse_args()
    reports = os.path.exists(os.path.join(ROOT, 'runs', 'nht1', 'report', 'cli.py'))
    there = [n for n in TARGETS if reports or n == 'study']
    if options.list:
        print('\n'.join(there))
        return 0
    signal.signal(signal.SIGALRM, alarm)
    tame()
    return max([fuzz(n, options) for n in options.targets or there])


if __name__ == '__main__':
    sys.exit(main())
