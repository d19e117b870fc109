# SPDX-License-Identifier: GPL-3.0-or-later
"""What a driver does with its children."""
import os
import signal
import unittest

from nht1.study import child


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
