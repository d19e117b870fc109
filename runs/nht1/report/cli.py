# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of nht1-report."""
import os
import signal
import sys

from .. import command, compare, results, stats, text, trouble
from . import cycle, frame, trend

EPILOG = """
examples:
  nht1-report result.json                     report.html out of one result
  nht1-report runs/out/processors -o p.html   all results below a folder
  nht1-report *.json --figures fig --csv tab  figures and tables as files, too
  nht1-report result.json --mtbf 6,24,168     interval of checkpoints, losses
  nht1-report compare old.json new.json       better or worse, beyond chance
  nht1-report trend runs/out --metric zeta    a metric over time and versions
  nht1-report stats 2.31 2.35 2.29            median, interval, outliers as JSON

Results are what nht1-bt, nht1-beff, nht1-beffio, nht1-workload and nht1-profile
write with --json, and summaries (.sum) of b_eff and b_eff_io. Runs of the same
problem, writer and configuration are repetitions of each other, whichever file
they stand in. The page needs Jinja2; figures are drawn by matplotlib, without
which their data stand in the page as tables.

Exit status: 0 success; 1 wrong option, or a file that is not a result; 3 a file
cannot be read or written, Jinja2 is missing (install it: on Debian and Ubuntu
apt-get install python3-jinja2 python3-matplotlib), or nht1-stats is missing
(make builds it).
"""


def _report(argv):
    parser = frame.parser_of('nht1-report', 'One page out of any number of results; comparisons and '
                       'statistics of them.', EPILOG, 'report.html', sorted(COMMANDS))
    cycle.options(parser)
    options = parser.parse_args(argv)
    if options.downtime and not options.mtbf:
        raise trouble.usage('--downtime: it is part of a restart after a failure, which is looked at '
                            'with --mtbf HOURS alone')
    found = results.load(options.results)
    frame.libraries()
    from .build import Report
    report = Report(found, options.level, options.title, options.mtbf, options.downtime)
    if options.mtbf and not any(r.writes and not r.drops for r in report.runs.all):
        raise trouble.usage('--mtbf: %s: no run of nht1-bt there has written a dump' % text.clean(
            options.results[0]))
    frame.publish(report.page, options)
    if options.output != '-' and not options.output.startswith('/dev/'):  # the page is the output
        files = len(found) + len({s['path'] for s in found.sums})
        print('%s%s: %s' % (text.plural(files, 'result'), ', ' + text.plural(
            len(report.runs.all), 'run') if report.runs.all else '', text.clean(options.output)))
        if found.passed_over:
            print('%s passed over' % text.plural(found.passed_over, 'other JSON file'))
        if found.left_out:
            print(found.left_out)
    return 0


def _stats(argv):
    program = stats.program()
    sys.stdout.flush()
    os.execv(program, [program] + argv)


COMMANDS = {'compare': compare.main, 'stats': _stats, 'trend': trend.main}


def main(argv):
    """Returns the exit status."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # files that are read may never end
    act, argv = (COMMANDS[argv[0]], argv[1:]) if argv and argv[0] in COMMANDS else (_report, argv)
    return command.run('nht1-report', lambda: act(argv))
