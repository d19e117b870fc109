# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are written: whole or not at all, and never in place of what is not ours.

Ours is a file that nht1-report wrote: HTML, Markdown, JSON, scripts and pictures say so near their
start or end; of tables (CSV), which cannot, the folder's list .nht1-report has the digests."""
import errno
import hashlib
import json
import os
import stat
import sys

from .. import replacing, text, trouble

MARKS = b'nht1-report', b'nht1-study ab', *(b'"schema": "nht1-%s/' % kind for kind in (
    b'compare', b'ab', b'check', b'released'))
LIST = '.nht1-report'
LOOK_BYTES, LOOK_PDF_BYTES = 1024, 1 << 15  # of a PDF a table of its objects stands at the end
TABLE_MAX_BYTES = 1 << 26  # a longer table is none of ours, and is not read


STDOUT = '-'  # a file of this name is standard output


def take_stdout():
    """What is printed from here on goes to standard error."""
    if sys.stdout is not sys.stderr:
        sys.stdout.flush()
        sys.stdout = sys.stderr


class Outputs:
    """All files of one run: first named, then checked together, then made and written. The content of
    a file is a function that returns its text or bytes."""

    def __init__(self):
        self.files = []    # (path, content, option)
        self.folders = []  # (path, option)

    def add(self, path, content, option):
        if not path:
            raise trouble.usage('%s: the name of the file is empty' % option)
        if path == STDOUT:
            take_stdout()
        self.files.append((path, content, option))

    def folder(self, path, files, option):
        """files: {name: content}"""
        if not path:
            raise trouble.usage('%s: the name of the folder is empty' % option)
        self.folders.append((path, option))
        for name, content in files.items():
            self.add(os.path.join(path, name), content, option)

    def check(self):
        """Trouble when anything would be in the way; nothing is written."""
        for path, option in self.folders:
            if os.path.lexists(path) and not os.path.isdir(path):
                raise trouble.usage('%s: %s is there and is no folder' % (option, text.clean(path)))
        made = {os.path.abspath(path) for path, _ in self.folders}
        for path, _, option in self.files:
            check(path, option)
            if path != STDOUT and os.path.dirname(os.path.abspath(path)) not in made:
                check_folder(path)
        seen = {}
        for path, _, option in self.files:
            if seen.setdefault(os.path.realpath(path), option) != option:
                raise trouble.usage('%s and %s name the same file, %s' % (
                    seen[os.path.realpath(path)], option, text.clean(path)))

    def write(self):
        self.check()
        made = [(path, content()) for path, content, _ in self.files]
        made = [(path, c.encode() if isinstance(c, str) else c) for path, c in made]
        for path, option in self.folders:
            try:
                os.makedirs(path, exist_ok=True)
            except OSError as e:
                raise trouble.failed('%s: cannot make the folder %s: %s' % (
                    option, text.clean(path), e.strerror))
        for path, content in made:
            write(path, content)
        for path in dict.fromkeys(p for p, _ in self.folders):
            known = listed(path)
            known.update((os.path.basename(p), hashlib.sha256(c).hexdigest()) for p, c in made
                         if p.endswith('.csv') and os.path.dirname(p) == path.rstrip('/'))
            write(os.path.join(path, LIST), json.dumps(
                {'schema': 'nht1-report-files/1', 'sha256': known}, indent=1).encode() + b'\n')


def listed(folder):
    try:
        if not os.path.isfile(os.path.join(folder, LIST)):
            return {}
        with open(os.path.join(folder, LIST), 'rb') as f:
            known = json.loads(f.read(1 << 22)).get('sha256', {})
        return dict(known)
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return {}


def is_ours(path):
    try:
        with open(path, 'rb') as f:
            head = f.read(LOOK_BYTES)
            size = f.seek(0, os.SEEK_END)
            f.seek(max(0, f.tell() - (LOOK_PDF_BYTES if path.endswith('.pdf') else LOOK_BYTES)))
            tail = f.read()
            if path.endswith('.csv'):
                known = listed(os.path.dirname(path)).get(os.path.basename(path))
                f.seek(0)
                return size <= TABLE_MAX_BYTES and known == hashlib.sha256(f.read()).hexdigest()
    except OSError:
        return False
    return not head or any(mark in head or mark in tail for mark in MARKS)


def leads_nowhere(path):
    """A link to nothing is neither followed nor replaced: what it is meant for is not there."""
    return os.path.islink(path) and not os.path.exists(path)


def check(path, option):
    """Trouble when a path cannot be taken: a folder, or a file that is not ours."""
    shown = text.clean(path)
    if path == STDOUT:
        return
    if os.path.basename(path) in ('', '.', '..'):
        raise trouble.usage('%s: %s is a folder; name a file' % (option, shown))
    if leads_nowhere(path):
        raise trouble.usage('%s: %s is a symbolic link to nothing; choose another name' % (option, shown))
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as e:
        raise trouble.usage('%s: %s: %s' % (option, shown[:200], getattr(e, 'strerror', e)))
    if stat.S_ISDIR(mode):
        raise trouble.usage('%s: %s is a folder; name a file' % (option, shown))
    if stat.S_ISREG(mode) and not is_ours(path):
        raise trouble.usage(
            '%s: %s is there and was not written by nht1-report, or was changed since: it is left '
            'alone; choose another name, or remove it' % (option, shown))
    if not os.access(path, os.W_OK):
        raise trouble.failed('%s: %s is there and cannot be written to' % (option, shown))


def check_folder(path):
    """Trouble when no file can be put there: what is found before the work is not found after it."""
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if os.path.exists(target) and not os.path.isfile(target):
        return  # a pipe or device is written to as it is
    if os.access(folder, os.W_OK | os.X_OK):
        return
    why = errno.ENOENT
    if os.path.lexists(folder):
        why = errno.ENOTDIR if not os.path.isdir(folder) else \
            errno.EROFS if os.statvfs(folder).f_flag & os.ST_RDONLY else errno.EACCES
    raise trouble.failed('%s: cannot write: %s' % (path, os.strerror(why)))


def reader_first(path):
    """A descriptor of a pipe or device to be written to. A pipe that nobody reads is an error at once
    rather than a wait for ever."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
    except OSError as e:
        if e.errno != errno.ENXIO:
            raise
        raise trouble.failed('%s: no process reads from this pipe: start its reader first' % text.clean(path))
    os.set_blocking(handle, True)
    return handle


def write(path, content):
    """A whole file or none of it; devices and pipes are written to as they are."""
    if path == STDOUT:
        try:
            with open(1, 'wb', closefd=False) as f:
                f.write(content)
        except OSError as e:
            raise trouble.failed('standard output: cannot write: %s' % e.strerror)
        return
    if leads_nowhere(path):
        raise trouble.failed('%s: this symbolic link leads to nothing' % text.clean(path))
    try:
        target = os.path.realpath(path)
        if os.path.exists(path) and not os.path.isfile(path):
            with open(reader_first(path), 'wb') as f:
                f.write(content)
            return
        replacing.replace(target, content)
    except OSError as e:
        raise trouble.failed('%s: cannot write: %s' % (text.clean(path), e.strerror))
