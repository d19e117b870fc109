# SPDX-License-Identifier: GPL-3.0-or-later
"""What the driver says while it works: a line that is kept for each run, and on a terminal one that
changes, with the time left. Results go to stdout, the rest to stderr."""
import os
import sys
import time

from . import figures

REFRESH_S = 0.5


class Speaker:
    def __init__(self, keys, quiet, show):
        self.keys, self.quiet, self.show = keys, quiet, show
        self.live = sys.stderr.isatty() and not quiet and os.environ.get('TERM') != 'dumb'
        self.shown_s, self.line, self.now = 0.0, '', None

    def say(self, text=''):
        if not self.quiet:
            self.clear()
            print(text, file=sys.stderr, flush=True)

    def clear(self):
        if self.line:
            sys.stderr.write('\r' + ' ' * len(self.line) + '\r')
            sys.stderr.flush()
            self.line = ''

    def status(self, text):
        """The changing line, on a terminal."""
        if not self.live or time.monotonic() - self.shown_s < REFRESH_S:
            return
        try:
            width = os.get_terminal_size(sys.stderr.fileno()).columns - 1
        except OSError:
            width = 79
        self.clear()
        self.line, self.shown_s = text[:width], time.monotonic()
        sys.stderr.write(self.line)
        sys.stderr.flush()

    def _name(self, tally):
        settings = dict(tally.point.settings, section=tally.point.section)
        words = ['%s = %s' % (k, settings[k]) for k in self.keys if k in settings]
        return ', '.join(words) or tally.program.name

    def begin(self, tally, number, driver):
        self.now = '%s, run %d' % (self._name(tally), number)

    def tick(self, part, driver):
        """A function for child.run: shows the time, passes on what the program prints."""
        state = {'at': 0}

        def tick(seconds):
            left = driver.left_s() if self.live else None
            self.status('%s: %s%s' % (self.now, figures.duration(seconds),
                                      '; about %s left' % figures.duration(max(0, left - seconds))
                                      if left is not None else ''))
            if self.show:
                state['at'] = self._pass_on(os.path.join(part, 'stdout'), state['at'])
        return tick

    def _pass_on(self, path, at):
        with open(path, 'rb') as f:
            f.seek(at)
            new = f.read()
        if new:
            self.clear()
            sys.stdout.write(new.decode('utf-8', 'replace'))
            sys.stdout.flush()
        return at + len(new)

    def end(self, tally, number, record, driver):
        if self.show and record['ok']:
            return
        found = []
        for label, numbers in tally.series().items():
            factor, unit = figures.scale_of(tally.metric)
            found.append('%s%s %s' % (label + ' ' if label else '',
                                      figures.number(numbers[-1] / factor), unit))
        left = driver.left_s()
        self.say('%s  %s, run %d: %s%s' % (
            tally.name(number), self._name(tally), number,
            ', '.join(found) if record['ok'] else 'FAILED, ' + record['trouble'],
            '; about %s left' % figures.duration(left) if left else ''))
