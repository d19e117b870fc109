# SPDX-License-Identifier: GPL-3.0-or-later
"""runs/study where what it starts cannot be loaded."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

STUDY = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', '..', 'runs', 'study')


class Start(unittest.TestCase):
    def test_a_package_that_cannot_be_loaded_is_told_in_a_line(self):
        for raised, said in (('MemoryError', 'not enough memory'),
                             ('ImportError("libffi.so.8: failed to map segment")', 'libffi.so.8: failed to map segment')):
            with self.subTest(raised), tempfile.TemporaryDirectory() as folder:
                program = shutil.copy(STUDY, folder)
                os.makedirs(os.path.join(folder, 'nht1', 'study'))
                with open(os.path.join(folder, 'nht1', 'study', 'cli.py'), 'w', encoding='utf-8') as file:
                    file.write('raise %s\n' % raised)
                end = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
                self.assertEqual(end.stderr, '%s: cannot start: %s\n' % (program, said))
                self.assertEqual(end.returncode, 3)
