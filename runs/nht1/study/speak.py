# SPDX-License-Identifier: GPL-3.0-or-later
"""What the driver says while it works: a line that is kept for each run, and on a terminal one that
changes, with the time left. Results go to stdout, the rest to stderr."""
import os
import sys
import time

from .. import stats, text
from . import summary

REFRESH_S = 0.5


def _left(seconds, passed):
    """'; 3 min to 8 min left'. seconds: (at least, at most) before the run that is passed."""
    if seconds is None or seconds[1] <= passed:
        return ''
    least, most = (text.about(max(0, s - passed)) for s in seconds)
    if seconds[0] <= passed:
        return '; up to %s left' % most
    return '; %s left' % (least if least == most else '%s to %s' % (least, most))


def _of(driver, begun=1):
    """'3 of 12', '3 of 12 to 30': which run this is, of how many."""
    done, least, most = driver.progress()
    return '%d of %s' % (done + begun, done + least if least == most else '%d to %d' % (
        done + least, done + most))


class Speaker:
    def __init__(self, keys, quiet, show):
        self.keys, self.quiet, self.show = keys, quiet, show
        self.live = sys.stderr.isatty() and not quiet and os.environ.get('TERM') != 'dumb'
        self.shown_s, self.line, self.now, self.passed = 0.0, '', None, False

    def say(self, text=''):
        if not self.quiet:
            self.clear()
            print(text, file=sys.stderr, flush=True)

    def clear(self):
        if self.line:
            sys.stderr.write('\r' + ' ' * len(self.line) + '\r')
            sys.stderr.flush()
            self.line = ''

    def break_off(self):
        """Ends the changing line where it is: the terminal has put ^C behind it."""
        if self.line:
            sys.stderr.write('\n')
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
        words = [settings[k] if k == 'section' else '%s = %s' % (k.replace('env.', ''), settings[k])
                 for k in self.keys if k in settings]
        return ', '.join(words) or tally.program.name

    def begin(self, tally, number, driver):
        self.now = '%s: %s, run %d' % (_of(driver), self._name(tally), number)

    def tick(self, part, driver, reworded):
        """A function for child.run: shows the time, passes on what the program prints, a line at a time: reworded(text)
        of it."""
        self.at, self.reworded = 0, reworded

        def tick(seconds):
            if self.live:
                self.status('%s: %s%s' % (self.now, text.about(seconds),
                                          _left(driver.left_s(), seconds)))
            if self.show:
                self.pass_on(part)
        return tick

    def pass_on(self, part, ended=False):
        """What is new in the output of a run; a line without an end once the program has ended."""
        with open(os.path.join(part, 'stdout'), 'rb') as f:
            f.seek(self.at)
            new = f.read()
        if not ended:
            new = new[:new.rfind(b'\n') + 1]
        if new:
            self.clear()
            sys.stdout.write('\n' if self.passed and not self.at else '')
            self.passed = True
            sys.stdout.write(self.reworded(new.decode('utf-8', 'replace')))
            sys.stdout.flush()
        self.at += len(new)

    def settled(self, tally):
        """A point whose question needs no more runs."""
        answers = tally.question.answers()
        if answers:
            words = ', '.join(code.replace('-', ' ') if len(answers) == 1 else '%s %s' % (label, code.replace('-', ' '))
                              for label, code in answers.items())
            self.say('          %s: decided after %s: %s' % (
                self._name(tally), text.plural(len(tally.question.pairs()), 'round'), words))

    def end(self, tally, number, record, driver):
        if self.show and record['ok']:
            return
        found, alone = [], ''  # of this run; alone: beside the writers that were asked for
        factor, unit = summary.scale_of(tally.metric)
        for label, numbers in tally.runs[number][1].items():
            said = '%s %s' % (text.number(stats.median(numbers) / factor, 4), unit)
            if tally.computes_beside(label):
                alone = ' (computing alone %s)' % said
            else:
                found.append('%s %s' % (label, said) if label else said)
        self.say('%s  %s  %s, run %d: %s%s' % (
            _of(driver, 0), tally.name(number), self._name(tally), number,
            (', '.join(found) + alone).strip() if record['ok'] else 'FAILED, ' + record['trouble'],
            _left(driver.left_s(), 0)))
