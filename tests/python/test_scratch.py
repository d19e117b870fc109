# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders among a user's files: they go at the end, with what killed drivers left, and nothing else does."""
import fcntl
import os
import tempfile
import unittest

from nht1.study import scratch
from support import scratch_of


class Folders(unittest.TestCase):
    def setUp(self):
        self.base = scratch_of(self)

    def made(self, name):
        os.mkdir(os.path.join(self.base, name))
        with open(os.path.join(self.base, name, 'dumps'), 'w') as f:
            f.write('x')
        return os.path.join(self.base, name)

    def left_by(self, number):
        with scratch.folder(self.base, number) as path:
            self.assertEqual(os.listdir(path), [])
        return sorted(os.listdir(self.base))

    def test_what_a_killed_driver_left_goes(self):
        self.made(scratch.PREFIX + '0' * 16)
        self.made(scratch.PREFIX + '1' * 16)
        self.assertEqual(self.left_by('1' * 16), [])

    def test_what_a_killed_driver_left_among_temporary_files_goes(self):
        self.made(scratch.PREFIX + '0' * 16)
        self.addCleanup(setattr, tempfile, 'tempdir', tempfile.tempdir)
        tempfile.tempdir = self.base
        with scratch.temporary() as path:
            self.assertEqual(os.listdir(self.base), [os.path.basename(path)])
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o700)
        self.assertEqual(os.listdir(self.base), [])

    def test_of_a_driver_that_lives_it_stays(self):
        theirs = self.made(scratch.PREFIX + '0' * 16)
        handle = os.open(theirs, os.O_RDONLY)
        self.addCleanup(os.close, handle)
        fcntl.flock(handle, fcntl.LOCK_EX)
        self.assertEqual(self.left_by('1' * 16), [os.path.basename(theirs)])
        self.assertEqual(os.listdir(theirs), ['dumps'])

    def test_it_is_held_as_long_as_it_is_used(self):
        with scratch.folder(self.base, '0' * 16) as path:
            self.assertEqual(self.left_by('1' * 16), [os.path.basename(path)])

    def test_what_is_not_a_drivers_stays(self):
        mine = [os.path.basename(self.made(name)) for name in (
            scratch.PREFIX + '0' * 15, scratch.PREFIX + '0' * 16 + '.old', 'nht1-files-another.host-' + '0' * 16)]
        outside = self.made('outside')
        link = scratch.PREFIX + '2' * 16
        os.symlink('outside', os.path.join(self.base, link))
        self.assertEqual(self.left_by('1' * 16), sorted(mine + ['outside', link]))
        self.assertEqual(os.listdir(outside), ['dumps'])
