# SPDX-License-Identifier: GPL-3.0-or-later
"""What a driver does with its children."""
import os
import signal
import unittest
from types import SimpleNamespace
from unittest import mock

from nht1 import trouble
from nht1.study import child, programs
from support import scratch_of


class Early:
    asked = 1

    def __call__(self, number, frame):
        pass


class Stopping(unittest.TestCase):
    def test_what_is_asked_between_two_steps_stops_the_next_one(self):
        before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        try:
            first = child.Stop()
            first.install()
            self.assertEqual(first.asked, 0)
            os.kill(os.getpid(), signal.SIGTERM)
            next_one = child.Stop()
            next_one.install()
            self.assertEqual((first.asked, next_one.asked), (1, 1))
            # And what was asked before a command had any, as runs/study notes it.
            signal.signal(signal.SIGTERM, Early())
            child.Stop().install()
            self.assertEqual(child.Stop.asked, 2)
        finally:
            child.Stop.asked = 0
            for number, handler in before.items():
                signal.signal(number, handler)


class Help(unittest.TestCase):
    def setUp(self):
        self.folder = scratch_of(self)

    def options(self, body):
        path = os.path.join(self.folder, 'sim')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\n' + body)
        os.chmod(path, 0o755)
        return programs.Finder()(path, SimpleNamespace(wrong=trouble.usage)).options

    def test_a_program_is_asked_as_outside_of_any_job(self):
        body = 'test -z "$SLURM_PROCID$PMI_RANK$PMIX_RANK$OMPI_COMM_WORLD_RANK" && test "$PMIX_MCA_gds" = hash && echo "  --value X   a value"\n'
        ours = dict(dict.fromkeys(('SLURM_PROCID', 'PMI_RANK', 'PMIX_RANK', 'OMPI_COMM_WORLD_RANK'), '0'), PMIX_MCA_gds='hash')
        with mock.patch.dict(os.environ, ours):
            self.assertEqual(self.options(body), {'value': True})

    def test_what_fails_is_quoted(self):
        with self.assertRaisesRegex(trouble.Trouble, r'sim --help shows no options \(exit status 7: no licence\)'):
            self.options('echo no licence >&2; exit 7\n')
        with self.assertRaisesRegex(trouble.Trouble, r'\(exit status 0: it printed nothing\)'):
            self.options('')
