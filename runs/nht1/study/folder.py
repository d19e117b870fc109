# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a study, the only place that it writes to:

    study.ini          the description as it was read
    study.json         points, seed, conditions of the runs: written once (docs/schema/nht1-study-1.json)
    runs/p03-r02/      third point, second run: run.json (command, environment, times, status),
                       result.json as the program wrote it, stdout, stderr
    interrupted/       runs that did not come to their end; nothing of them counts
    dumps/             what the programs write, emptied after each run
    summary.json .txt .csv    medians and intervals, written anew after each session
    runs.csv                  each value that was measured, likewise
    report.html figures/      from nht1-report

A run gets its name when it is complete, by rename: whatever ends the driver, a run that is there is
whole. Nothing but the summary and the report is ever written twice."""
import contextlib
import fcntl
import functools
import json
import os
import random
import re
import shutil
import time

from .. import replacing, results, text
from ..trouble import Trouble, failed, usage
from . import scratch

SCHEMA = 'nht1-study/1'


@functools.lru_cache(None)
def utc_ahead_s():
    return time.time() - time.monotonic()


def utc():
    """The time of day, that of the first call and from then on what has passed: who sets the clock meanwhile
    turns no end before its beginning."""
    return time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(utc_ahead_s() + time.monotonic()))


def shown(path):
    """A path as short as it can be said from here."""
    relative = os.path.relpath(path)
    return path if relative.startswith('..') else relative


def write_text(path, content, replace=False):
    """Writes a whole file or none of it. A symbolic link to nothing is neither followed nor replaced."""
    if not replace and os.path.lexists(path):
        raise failed('%s is there already, and is not written over' % path)
    if os.path.islink(path) and not os.path.exists(path):
        raise failed('%s: this symbolic link leads to nothing' % path)
    try:
        replacing.replace(path, content.encode('utf-8', 'surrogateescape'))  # paths as they are
    except OSError as e:
        raise OSError(e.errno, e.strerror, path)


def write_json(path, value, replace=False):
    write_text(path, json.dumps(value, indent=1, sort_keys=False) + '\n', replace)


def read_json(path):
    """The object in a file, or None when the file is missing or holds none."""
    try:
        return results.read_object(path)
    except Trouble:
        return None


def _identity(points):
    return text.cleaned([p.identity() for p in points])


def _begun(path):
    """Whether there is nothing in a folder but what a study makes before it writes anything."""
    found = {name for name in os.listdir(path) if not replacing.is_temporary(name, 'study.json')}
    runs = os.path.join(path, 'runs')
    return found <= {'lock', 'runs'} and not (
        'runs' in found and (os.path.islink(runs) or not os.path.isdir(runs) or os.listdir(runs)))


def state_of(path, points):
    """'absent', 'empty', 'foreign', 'other' (another description), 'open' or 'finished'; and what study.json says of the
    latter two, else {}."""
    if not os.path.lexists(path):
        return 'absent', {}
    if not os.path.isdir(path):
        return 'foreign', {}
    if _begun(path):
        return 'empty', {}
    record = read_json(os.path.join(path, 'study.json')) or {}
    if record.get('schema') != SCHEMA:
        return 'foreign', {}
    if record.get('points') != json.loads(json.dumps(_identity(points))):
        return 'other', {}
    summary = read_json(os.path.join(path, 'summary.json'))
    return 'finished' if summary and summary.get('finished') else 'open', record


def choose(under, name, points, fresh):
    """The folder to work in when none was named, of NAME, NAME-2, NAME-3, ...: the last one of these points if it can be
    continued, else a new one."""
    number, last = 1, None
    while True:
        path = os.path.join(under, name if number == 1 else '%s-%d' % (name, number))
        state = state_of(path, points)[0]
        if state in ('absent', 'empty'):
            return last if last and not fresh else path
        if state in ('open', 'finished'):
            last = path if state == 'open' else None
        number += 1


def existing(path):
    """The folder itself, or the nearest one above that is there."""
    while path and not os.path.isdir(path):
        path = os.path.dirname(path)
    return path or '/'


def check_place(path, points):
    """What state_of says; usage trouble when a study cannot have this folder. Nothing is made."""
    state, record = state_of(path, points)
    if state == 'foreign':
        raise usage('%s is there and holds no study: name another folder with --out' % path)
    if state == 'other':
        raise usage('%s holds a study with other points: continue it with its own description '
                    '(%s/study.ini and the same --set), or name another folder with --out' % (
                        path, path))
    above = existing(os.path.abspath(path))
    if not os.access(above, os.W_OK | os.X_OK):
        raise failed('%s: no folder can be made in %s; name another one with --out' % (
            path, above) if state == 'absent' else
            '%s: nothing can be written there; name another folder with --out' % path)
    return state, record


class Folder:
    """An open study folder; one driver at a time has it."""

    def __init__(self, path, points, record, description):
        """record: () -> the rest of study.json, asked for only when the study is new."""
        self.path = os.path.abspath(path)
        state, self.record = check_place(path, points)
        self.resumed = state in ('open', 'finished')
        try:
            os.makedirs(os.path.join(self.path, 'runs'), exist_ok=True)
        except OSError as e:
            raise failed('%s: %s; name another folder with --out' % (path, e.strerror))
        self._lock()
        if not self.resumed:
            self.record = dict(
                {'schema': SCHEMA, 'id': '%016x' % random.SystemRandom().getrandbits(64),
                 'started_utc': utc(), 'points': _identity(points)}, **record())
            write_json(self.file('study.json'), self.record)
        if not os.path.lexists(self.file('study.ini')):  # after study.json, by which a study is known
            write_text(self.file('study.ini'), description)
        if not isinstance(self.record.get('seed'), int) or \
                not re.fullmatch('[0-9a-f]{16}', str(self.record.get('id')), re.ASCII):
            raise usage('%s: no seed or id: this is not as the driver wrote it' %
                        self.file('study.json'))
        self._tidy()

    def file(self, *names):
        return os.path.join(self.path, *names)

    def _lock(self):
        try:  # no pipe is waited for, no link followed
            handle = os.open(self.file('lock'), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        except OSError as e:
            raise failed('%s: %s' % (self.file('lock'), e.strerror))
        self.lock = open(handle, 'r+b', buffering=0)
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise usage('%s: another driver is at work in this folder' % self.path)
        except OSError:
            pass  # a file system without locks: nobody can be kept out

    def _tidy(self):
        """What a driver that was killed has left: runs without an end go aside."""
        for name in sorted(os.listdir(self.file('runs'))):
            if name.endswith('.part'):
                self.set_aside(name)

    def set_aside(self, part):
        replacing.sweep(self.file('runs', part, 'run.json'))
        os.makedirs(self.file('interrupted'), exist_ok=True)
        number = 1
        while os.path.exists(self.file('interrupted', '%s-%d' % (part[:-5], number))):
            number += 1
        os.rename(self.file('runs', part), self.file('interrupted', '%s-%d' % (part[:-5], number)))

    def begin(self, name):
        """A folder for a run that is about to start."""
        part = name + '.part'
        os.makedirs(self.file('runs', part))
        return self.file('runs', part)

    def complete(self, name):
        os.rename(self.file('runs', name + '.part'), self.file('runs', name))
        return self.file('runs', name)

    def results(self):
        """{name: record of the run} of all complete runs; the result is loaded on demand."""
        found = {}
        for name in sorted(os.listdir(self.file('runs'))):
            path = self.file('runs', name, 'run.json')
            if name.endswith('.part') or not os.path.exists(path):
                continue
            record = read_json(path) or {}
            if not 0 <= results.real(record, 'wall_s') < 1e9 or not isinstance(record.get('ok'), bool) or \
                    not isinstance(record.get('status'), int) or record.get('name') != name or \
                    not isinstance(record.get('trouble'), (type(None) if record['ok'] else str)):
                raise usage('%s: not as the driver wrote it; move the folder of this run away, and '
                            'it is made again' % shown(path))
            found[name] = record
        return found

    def result(self, name):
        """Of a complete run, None where it left none. Usage trouble where it is not as the program
        wrote it."""
        path = self.file('runs', name, 'result.json')
        if not os.path.exists(path):
            return None
        try:
            return results.read_object(path)
        except Trouble as e:
            raise usage('%s; move the folder of this run away, and it is made again' % e)

    @contextlib.contextmanager
    def dumps(self, base):
        """An empty folder for what programs write, under base or in the study's own, until the end of the block."""
        if base:
            with scratch.folder(base, self.record['id']) as path:
                yield path
            return
        path = self.file('dumps')
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
