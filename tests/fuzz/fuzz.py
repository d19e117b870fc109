#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hostile inputs for the Python programs: changes the files of tests/corpus/NAME and gives them to
the command line, in this process. A finding is an exception, a status that is not documented, an
answer without a message, output that a terminal obeys, or more than 20 s of processor time; the input is kept.

    tests/fuzz/fuzz.py [--seconds S] [--tries N] [--seed K] [--save FOLDER] [--list | TARGET...]

S 0 is no limit: N inputs, those of the corpus among them, or none but those.
Input number i follows from seed and i. Whatever an input says, nothing is started but nht1-stats, and
nht1-bt that is asked for its options. A target is a line of TARGETS with a folder of tests/corpus."""
import argparse
import contextlib
import copy
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

PAGE = ['-o', 'p.html', '--no-figures', '--markdown', 'p.md', '--csv', 'tab', '--figures', 'fig']
STUDY = ['--no-plan', '--no-report', '--quiet', '--launcher', 'none', '--out', 's', 'x.ini']
# Name: module, corpus, the input's name, command lines. whole.json is the input before it was changed.
TARGETS = {
    'study': ('nht1.study.cli', 'study', 'x.ini', [['--dry-run', '--under', 'out', 'x.ini']]),
    'report': ('nht1.report.cli', 'report', 'x.json', [
        ['x.json', *PAGE, '--mtbf', '24'], ['x.json', *PAGE]]),
    'compare': ('nht1.report.cli', 'report', 'x.json', [
        ['compare', 'whole.json', 'x.json', '--json', 'c.json', '--html', 'c.html', '--junit', 'c.xml'],
        ['compare', 'x.json', 'whole.json']]),
    'trend': ('nht1.report.cli', 'report', 'x.json', [
        ['trend', '.', '--metric', metric, '--no-figures', '-o', 'p.html', '--figures', 'fig']
        for metric in ('t_t', 't_c', 'zeta', 'r_io', 'write_rate', 'b_eff', 'b_eff_io')]),
    'sum': ('nht1.report.cli', 'sum', 'x.sum', [
        ['x.sum', *PAGE], ['compare', 'x.sum', 'x.sum', '--json', 'c.json']]),
    'figures': ('nht1.report.cli', 'report', 'x.json', [
        ['x.json', '-o', 'p.html', '--figures', 'fig', '--mtbf', '24']]),
    'tune': ('nht1.report.cli', 'tune', 'tune.json', [['.', *PAGE]]),
    'summary': ('nht1.study.cli', 'summary', 's/runs/p01-r01/result.json', [STUDY]),
    'record': ('nht1.study.cli', 'record', 's/runs/p01-r01/run.json', [STUDY, ['s', *PAGE]]),
}
SUMMARY = os.path.join(ROOT, 'tests', 'corpus', 'summary', 'bt.json')
# What the inputs of 'summary' and 'record' stand in: a study that has all of its runs.
POINT = {'program': 'nht1-bt', 'io': 'posix,null', 'ranks': '1', 'threads': '1'}
STUDY_FILES = {
    'x.ini': '[study]\nrepeats = 1\n[run]\nprogram = nht1-bt\nio = posix,null\n',
    's/study.json': {'schema': 'nht1-study/1', 'id': '0' * 16, 'seed': 1, 'points': [
        {'id': 'p01', 'section': 'run', 'settings': POINT}]},
    's/runs/p01-r01/run.json': {
        'schema': 'nht1-study-run/1', 'name': 'p01-r01', 'point': 'p01', 'run': 1, 'settings': POINT,
        'cwd': '/', 'command': ['mpirun', 'nht1-bt', '--out', 'd/f'], 'environment': {'OMP_X': '1'},
        'wall_s': 1.5, 'status': 0, 'ok': True, 'trouble': None}}
ODD = ['0', '-1', '9223372036854775808', '1e999', '-0.0', '1e-320', 'null', 'true', '[]', '{}', '""',
       '[[[[[[', '"\\u0000"', '"\\ud800"', 'nan', 'NaN', 'Infinity', '-Infinity', '', '%s', '%(x)s',
       '${x}', '../..', '\x9b', '\x1b[2J', '\u202e', "it's", '"', '{1e999}', '{' + '-' * 3000 + '1}',
       '\u00b2', '9' * 5000, '1..9999999999', '1-5', ',', '=', '[', ']', '\n', '\0', '<script>', '|',
       '\r', '=cmd', '2147483648', '0x10', '1_000', '\u0661']
# Values of JSON in place of others: absurd numbers, and other types.
VALUES = [0, -1, 1, 1e308, -1e308, 1.7e308, 1e300, -1e300, 1e200, 1e154, 1e100, 1e20, -1e20, 1e-308, 5e-324,
          1e-200, 1e-100, -1e-100, 2 ** 31, 2 ** 53 + 1, 2 ** 63, -2 ** 63, 10 ** 300, 10 ** 400,
          float('inf'), float('-inf'), float('nan'), True, False, None, '', 'x', '1', '-2+3+cmd|', [], {},
          [None], [[]], [1e308, 1e308], {'': 1}, 0.5, 3, 1e9, 1e-9]
WORD = re.compile(rb'-?[0-9][0-9.eE+-]*|[A-Za-z_]+|"[^"]*"')
CONTROL = re.compile('[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\u061c]')
LIMIT_S, HANG_S = 20, 300  # of processor time, whatever else the computer does; of a clock


class Hang(BaseException):
    pass


def places(value, found):
    """All (container, key) of a value of JSON."""
    items = value.items() if isinstance(value, dict) else enumerate(value) \
        if isinstance(value, list) else ()
    for key, below in items:
        found.append((value, key))
        places(below, found)
    return found


def alter(data, rng):
    """Other values in a text of JSON, at one place or at all that have its name."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data
    for _ in range(rng.choice((1, 1, 2, 4))):
        all_places = places(value, [])
        if not all_places:
            break
        container, key = rng.choice(all_places)
        alike = [(c, key) for c, k in all_places if k == key and isinstance(c, dict)] \
            if isinstance(key, str) and rng.randrange(2) else [(container, key)]
        kind, odd = rng.randrange(12), rng.choice(VALUES)
        for where, name in alike:
            if kind == 0 and isinstance(where, dict):
                where.pop(name, None)
            elif kind == 1 and isinstance(where, dict):
                where[name] = [where[name]] * rng.choice((0, 1, 3))
            elif kind == 2 and isinstance(where[name], (int, float)):
                where[name] = where[name] * rng.choice((-1, 1e-300, 1e300)) if abs(where[name]) < 1e8 else 0
            else:
                where[name] = copy.deepcopy(odd)  # later changes are to this one, not to VALUES
    return json.dumps(value, ensure_ascii=bool(rng.randrange(2))).encode('utf-8', 'surrogatepass')


def mutate(data, corpus, rng):
    if data[:1] == b'{' and rng.randrange(3):
        return alter(data, rng)
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
    """Figures are drawn in this process. No input starts a program, other than nht1-stats, or puts another one in this one's place."""
    real = subprocess.Popen.__init__
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    def start(self, args, *rest, **more):
        name = os.path.basename(args[0]) if isinstance(args, (list, tuple)) else ''
        if name != 'nht1-stats' and (name != 'nht1-bt' or args[1:] not in (['--help'], ['--version'])):
            raise FileNotFoundError(2, 'not started by the fuzzer', str(args))
        return real(self, args, *rest, **more)

    def refuse(*args, **more):
        raise FileNotFoundError(2, 'not started by the fuzzer', str(args[0]))
    subprocess.Popen.__init__ = start
    for name in ('execv', 'execve', 'execvp', 'execvpe', 'system', 'posix_spawn', 'fork'):
        setattr(os, name, refuse)


def remember():
    """What a program says to --help is asked for once."""
    from nht1.study import child
    real, known = child.ask, {}

    def ask(words, timeout_s, environment=None):
        key = tuple(words)
        if key not in known:
            known[key] = real(words, timeout_s, environment)
        return known[key]
    child.ask = ask


def alarm(signum, frame):
    raise Hang()


def look(main, argv):
    """What is wrong with the program's answer, or None."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
            signal.alarm(HANG_S)
            try:
                status = main(list(argv))
            except SystemExit as e:
                status = e.code or 0
            finally:
                signal.alarm(0)
                signal.setitimer(signal.ITIMER_PROF, 0)
    except Hang:
        return 'took more than %d s, or hung' % LIMIT_S
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
    module, folder, file, commands = TARGETS[name]
    main = importlib.import_module(module).main
    folder = os.path.join(ROOT, 'tests', 'corpus', folder)
    names = sorted(os.listdir(folder))
    corpus = [open(os.path.join(folder, n), 'rb').read() for n in names]
    with open(SUMMARY, 'rb') as f:
        beside = f.read()
    home, work = os.getcwd(), tempfile.mkdtemp(prefix='nht1-fuzz.')
    end = time.monotonic() + options.seconds if options.seconds else float('inf')
    most = options.tries or (sys.maxsize if options.seconds else 0)
    tried = 0
    try:
        while tried < len(corpus) or (tried < most and time.monotonic() < end):
            rng = random.Random('%d %s %d' % (options.seed, name, tried))
            data = whole = corpus[tried] if tried < len(corpus) else rng.choice(corpus)
            for _ in range(0 if tried < len(corpus) else rng.randrange(1, 6)):
                data = mutate(data, corpus, rng)
            shutil.rmtree(work)
            os.mkdir(work)
            os.chdir(work)
            files = dict(STUDY_FILES) if file.startswith('s/') else {'whole.json': whole}
            if name == 'tune':
                files = {'whole.json': beside}
            for n, d in dict(files, **{file: data}).items():
                os.makedirs(os.path.dirname(n) or '.', exist_ok=True)
                with open(n, 'wb') as to:
                    to.write(d if isinstance(d, bytes) else (
                        d if isinstance(d, str) else json.dumps(d)).encode())
            if file.endswith('run.json'):
                shutil.copy(SUMMARY, 's/runs/p01-r01/result.json')
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
    there = [n for n in TARGETS if reports or TARGETS[n][0] == 'nht1.study.cli']
    if options.list:
        print('\n'.join(there))
        return 0
    from nht1 import tools
    if tools.need(('jinja2', 'matplotlib')):
        print('Jinja2 and matplotlib are missing: no page would be made')
        return 1
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, alarm)
    tame()
    remember()
    return max([fuzz(n, options) for n in options.targets or there])


if __name__ == '__main__':
    sys.exit(main())
