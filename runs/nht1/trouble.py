# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors that end the driver, with the exit status that the whole project uses for them."""

OK, USAGE, WRONG, FAILED, INVALID, TIMED_OUT = range(6)


class Trouble(Exception):
    """A message for people, in one line: what is wrong, where, and what to do about it. What comes
    out of files may stand in it: it is cleaned here."""

    def __init__(self, status, message):
        from . import text  # takes longer to import than what may never be in trouble
        super().__init__(text.clean(message))
        self.status = status


def usage(message):
    return Trouble(USAGE, message)


def failed(message):
    return Trouble(FAILED, message)
