# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of nht1-report."""
import argparse
import os
import signal
import sys

from .. import VERSION, results, stats, text, tools, trouble
from . import figures, output

EPILOG = """
examples:
  nht1-report result.json                     report.html out of one result
  nht1-report runs/out/processors -o p.html   all results below a folder
  nht1-report *.json --figures fig --csv tab  figures and tables as files, too
  nht1-report compare old.json new.json       better or worse, beyond chance
  nht1-report trend runs/out --metric zeta    a metric over time and versions
  nht1-report stats 2.31 2.35 2.29            median, interval, outliers as JSON

Results are what nht1-bt, nht1-beff and nht1-beffio write with --json. Runs of the same problem,
writer and configuration are repetitions of each other, whichever file they stand in. The page needs
Jinja2; figures are drawn by matplotlib, without which their data stand in the page as tables.

Exit status: 0 success; 1 wrong option, or a file that is no result; 3 a file cannot be read or
written, or Jinja2 is missing.
"""


class Parser(argparse.ArgumentParser):
    """Ends as all programs do: one message, status 1."""

    def error(self, message):
        self.exit(trouble.USAGE, '%s: %s; see --help\n' % (self.prog, text.clean(message)))


def level(said):
    value = float(said)
    if not 0.5 <= value <= 0.999:
        raise argparse.ArgumentTypeError('%s: a number from 0.5 to 0.999 is expected' % said)
    return value


level.__name__ = 'number'


def parser_of(prog, what, epilog, output_name):
    """A parser with the options that all pages have."""
    parser = Parser(prog=prog, description=what, epilog=epilog, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('results', nargs='*', metavar='RESULT.json', help='files, and folders for all below them')
    add('-o', '--output', metavar='FILE', default=output_name,
        help='write the page to FILE, one HTML file with all figures in it, which needs no network '
             'and prints well; default %(default)s')
    add('--figures', metavar='DIR', help='keep every figure in DIR: NAME.svg, .png and .pdf, its '
                                         'data NAME.csv, and NAME.py, which draws it again')
    add('--no-figures', action='store_true', help='data of figures as tables: nothing is drawn')
    add('--markdown', metavar='FILE', help='write the page as Markdown, too; with --figures it '
                                           'shows the drawings')
    add('--csv', metavar='DIR', help='write every table as NAME.csv into DIR')
    add('--title', metavar='TEXT', help='heading of the page')
    add('--level', metavar='P', type=level, default=0.95,
        help='confidence of the intervals, default %(default)s')
    add('--progress', metavar='WHEN', choices=('auto', 'always', 'never'), default='auto',
        help='show how far the drawing has come, on standard error: auto (on a terminal), always, '
             'never')
    add('-V', '--version', action='version', version='nht1-report ' + VERSION)
    return parser


def libraries():
    """A Python with Jinja2, and matplotlib if there is one."""
    if 'jinja2' in tools.need(('jinja2',), ('matplotlib',)):
        raise trouble.failed('pages need Jinja2: install it (Debian and Ubuntu: apt-get install '
                             'python3-jinja2 python3-matplotlib; others: the packages jinja2 and '
                             'matplotlib)')


def interruptible():
    """From here on a signal ends the program between files, which are whole."""
    def stop(number, frame):
        raise trouble.failed('interrupted')
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


def publish(page, options):
    """Draws the figures and writes all outputs of a page."""
    outputs = output.Outputs()
    outputs.add(options.output, b'', '-o')  # what would be in the way is found out before the work
    for path, option in ((options.markdown, '--markdown'),):
        if path is not None:
            outputs.add(path, b'', option)
    for path, option in ((options.figures, '--figures'), (options.csv, '--csv')):
        if path is not None:
            outputs.folder(path, {}, option)
    outputs.check()
    interruptible()
    drawn = not options.no_figures and figures.can_draw()
    if drawn:
        total = len(page.figures)
        shown = options.progress == 'always' or options.progress == 'auto' and sys.stderr.isatty()

        def tick(done):
            if shown:
                sys.stderr.write('\rDrawing: figure %d of %d%s' % (
                    done, total, '\n' if done == total else ''))
                sys.stderr.flush()
        figures.draw(page.figures, tick)
    elif page.figures and not options.no_figures:
        page.top.append(figures.WISH)
        sys.stderr.write('nht1-report: %s\n' % figures.WISH)
    outputs = output.Outputs()
    if options.figures is not None:
        files = figures.library()
        for f in page.figures:
            files.update(figures.files(f, drawn))
        outputs.folder(options.figures, files, '--figures')
    if options.csv is not None:
        outputs.folder(options.csv, {t.name + '.csv': t.csv() for t in page.tables}, '--csv')
    if options.markdown is not None:
        outputs.add(options.markdown, page.markdown(VERSION, output.way_to(
            options.markdown, options.figures) if options.figures else None), '--markdown')
    outputs.add(options.output, page.html(VERSION), '-o')
    outputs.write()


def _report(argv):
    parser = parser_of('nht1-report', 'One page out of any number of results; comparisons and '
                       'statistics of them.', EPILOG, 'report.html')
    options = parser.parse_args(argv)
    if not options.results:
        raise trouble.usage('which results? usage: nht1-report RESULT.json...; see --help')
    found = results.load(options.results)
    libraries()
    from .build import Report
    report = Report(found, stats.ask, options.level, options.title)
    publish(report.page, options)
    if not options.output.startswith('/dev/'):  # the page is the output
        print('%s%s: %s' % (text.plural(len(found), 'result'), ', ' + text.plural(
            len(report.runs.all), 'run') if report.runs.all else '', text.clean(options.output)))
        if found.passed_over:
            print('%s passed over' % text.plural(found.passed_over, 'other JSON file'))
    return 0


def _compare(argv):
    from .. import compare
    return compare.main(argv)


def _trend(argv):
    from . import trend
    return trend.main(argv)


def _stats(argv):
    program = stats.program()
    sys.stdout.flush()
    os.execv(program, [program] + argv)


COMMANDS = {'compare': _compare, 'stats': _stats, 'trend': _trend}


def main(argv):
    """Returns the exit status."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # files that are read may never end
    try:
        if argv and argv[0] in COMMANDS:
            return COMMANDS[argv[0]](argv[1:])
        return _report(argv)
    except trouble.Trouble as e:
        sys.stderr.write('nht1-report: %s\n' % text.clean(e))
        return e.status
    except stats.Unavailable as e:
        sys.stderr.write('nht1-report: %s\n' % text.clean(e))
        return trouble.FAILED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return trouble.FAILED
    except MemoryError:
        sys.stderr.write('nht1-report: not enough memory for these results\n')
        return trouble.FAILED
