# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are written whole or not at all: under a temporary name, then renamed. The name is one
that nobody else has, NAME.XXXXXXXX.tmp with eight hexadecimal digits, and what a killed run left under
such a name the next one that writes the file removes, as the programs do (base/temp.h)."""
import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import stat


def stem(target):
    """What the temporary names of a file begin with."""
    name = os.path.basename(target)
    long = len(os.fsencode(name)) > 200
    return '.nht1-' + hashlib.sha256(os.fsencode(name)).hexdigest()[:16] if long else name


def temporary_beside(target):
    """A new file, its name, and a descriptor that holds it, so that no sweep removes it."""
    while True:
        temporary = os.path.join(os.path.dirname(target), '%s.%s.tmp' % (stem(target), secrets.token_hex(4)))
        try:
            handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            continue
        hold = os.dup(handle)
        try:
            fcntl.flock(hold, fcntl.LOCK_EX)
        except OSError:
            pass  # no locks here: nor does a sweep remove anything
        if os.fstat(hold).st_nlink:
            return handle, temporary, hold
        os.close(handle)
        os.close(hold)


def is_temporary(name, target):
    """Whether this is a temporary name of a file."""
    return re.fullmatch(re.escape(stem(target)) + r'\.[0-9a-f]{8}\.tmp', name) is not None


def sweep(target):
    """Removes what a run of this user that was killed has left beside a file."""
    folder = os.path.dirname(target) or '.'
    try:
        names = os.listdir(folder)
    except OSError:
        return  # files may be made in it all the same
    for name in names:
        if not is_temporary(name, target):
            continue
        try:
            handle = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue  # gone meanwhile, or somebody else's
        try:
            state = os.fstat(handle)
            if stat.S_ISREG(state.st_mode) and state.st_uid == os.geteuid():
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(os.path.join(folder, name))
        except OSError:
            pass  # somebody writes it
        finally:
            os.close(handle)


def replace(target, content):
    """Puts a file with these bytes in the place of what has this name, if anything has, once the device
    has them. OSError: nothing is changed."""
    sweep(target)
    handle, temporary, hold = temporary_beside(target)
    try:
        with os.fdopen(handle, 'wb') as f:
            f.write(content)
            f.flush()
            os.fsync(f.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    finally:
        os.close(hold)
