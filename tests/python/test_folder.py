# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a study: what stops its making at any write leaves one that the next start takes."""
import errno
import os
import tempfile
import unittest
from unittest import mock

from nht1.study import folder
from nht1.trouble import Trouble


class Point:
    def identity(self):
        return {'id': 'p01'}


def make(path):
    return folder.Folder(path, [Point()], lambda: {'seed': 1}, '[study]\n')


class Making(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.path = os.path.join(self.scratch.name, 's')

    def broken_off(self, number):
        """Makes a folder of which write `number` fails."""
        def fsync(fd, left=[number]):
            left[0] -= 1
            if left[0] == 0:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
        with mock.patch('os.fsync', fsync), self.assertRaises(OSError):
            make(self.path)

    def test_a_failed_write_leaves_a_folder_that_is_taken_again(self):
        for number in 1, 2:
            self.broken_off(number)
        made = make(self.path)
        self.assertEqual(made.record['seed'], 1)
        self.assertEqual(sorted(os.listdir(self.path)), ['lock', 'runs', 'study.ini', 'study.json'])

    def test_a_folder_with_anything_else_is_foreign(self):
        os.makedirs(os.path.join(self.path, 'runs', 'mine'))
        with self.assertRaises(Trouble):
            make(self.path)
        os.rmdir(os.path.join(self.path, 'runs', 'mine'))
        os.symlink('elsewhere', os.path.join(self.path, 'study.ini'))
        with self.assertRaises(Trouble):
            make(self.path)
