# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder among a user's files for what programs write: nht1-files-HOST-ID, ID 16 hexadecimal digits.
The driver that makes it holds it (flock) and removes it; what a driver that was killed has left there,
the next one on this host removes."""
import contextlib
import fcntl
import os
import re
import secrets
import shutil
import socket
import tempfile

PREFIX = 'nht1-files-%s-' % re.sub('[^A-Za-z0-9.-]', '_', socket.gethostname())


def _held(path, how):
    """A descriptor that holds a folder of this user, or None. how: 0 waits for who holds it, fcntl.LOCK_NB does not."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if os.fstat(handle).st_uid == os.geteuid():
            fcntl.flock(handle, fcntl.LOCK_EX | how)
            return handle
    except OSError:
        pass  # somebody holds it, or there are no locks here
    os.close(handle)
    return None


def sweep(base):
    """Removes what nobody holds."""
    try:
        names = os.listdir(base)
    except OSError:
        return  # folders may be made in it all the same
    for name in names:
        path = os.path.join(base, name)
        handle = _held(path, fcntl.LOCK_NB) if re.fullmatch(re.escape(PREFIX) + '[0-9a-f]{16}', name) else None
        if handle is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(handle)


@contextlib.contextmanager
def folder(base, number, mode=0o777):
    """An empty folder in base, until the end of the block. number: 16 hexadecimal digits that no other driver has."""
    sweep(base)
    path = os.path.join(base, PREFIX + number)
    while True:
        shutil.rmtree(path, ignore_errors=True)  # where there are no locks
        os.mkdir(path, mode)
        handle = _held(path, 0)
        if os.path.isdir(path):
            break
        if handle is not None:
            os.close(handle)  # a sweep has met it before it was held
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def temporary():
    """The same where temporary files go, for what nobody else is to see."""
    return folder(tempfile.gettempdir(), secrets.token_hex(8), 0o700)
