# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of nht1-report compare."""
import sys

from .. import VERSION, command, results, text, trouble
from .metric import ANY, RUNS_MIN, UNCLEAR, WORSE
from .output import as_json, as_junit, as_page, as_text
from .verdict import Comparison

EPILOG = """
examples:
  nht1-report compare before.json after.json
  nht1-report compare runs/monday runs/friday --threshold 10 --html c.html
  nht1-report compare good.json new.json --fail-on unclear --junit compare.xml

A and B are result files, or folders of them. Runs of the same problem, writer and configuration are
compared. One quantity decides: T_T over the T_C of the same round (1 + paired zeta) where both sides
have it in every round, else T_T; of nht1-workload the bandwidth; of several writers or patterns the
geometric mean. All others, such as the rate while writing, T_C, T_R, are tested, too, corrected for
their number, and named. Each needs 4 runs or more on each side, better 8 (--repeat 8). Results that
are stamped as spoiled, or do not tell whether they are, are not judged without --nevertheless.

Exit status: 0 B is the same or better, or nothing is shown; 2 worse than the threshold; 4 unclear,
with --fail-on unclear; 1 not comparable (other N, steps, interval, layout, durability, definition,
nothing in common, a result on both sides, too few runs, spoiled by its stamps, or without them), with the reasons;
3 a file cannot be read or written, or nht1-stats is missing (for --html: Jinja2).
"""


def _options(argv):
    parser = command.Parser(
        prog='nht1-report compare', epilog=EPILOG,
        description='Whether result B is better or worse than A, beyond chance.')
    add = parser.add_argument
    add('results', nargs='*', metavar='A B', help='files, or folders for all results below them')
    add('--threshold', metavar='PCT', type=command.number(0, 1000), default=5.0,
        help='by how many percent B may differ and still be the same, default 5')
    add('--level', metavar='P', type=command.number(*command.LEVELS), default=0.95,
        help='confidence of intervals, and certainty that not one of the differences found is '
             'there by chance, default 0.95')
    add('--fail-on', metavar='WHAT', choices=(WORSE, UNCLEAR, ANY), default=WORSE,
        help='worse: status 2 where the quantity that decides is worse; unclear: and 4 where it is unclear; '
             'any: 2 where another quantity is worse, too')
    add('--metric', metavar='TEXT', default='',
        help='let the quantities decide that are called so, such as T_R or T_T, or where none is, whose names begin so; '
             'default: T_T / T_C (1 + paired zeta) where both sides have it, else T_T; bandwidth')
    add('--nevertheless', action='store_true',
        help='compare results that are stamped as spoiled (disturbed, too-short, page-cache, not-verified ...), do not '
             'tell whether they are, stand on both sides, or have other buffers (--buffer-offset), too')
    add('--json', metavar='FILE', help='write the comparison to FILE as JSON; - is standard output: the text '
                                      'goes to standard error then')
    add('--html', metavar='FILE', help='write the comparison to FILE as a page with a figure; or -')
    add('--junit', metavar='FILE', help='write it to FILE as JUnit XML, a test case for each metric; or -')
    add('--quiet', action='store_true', help='print nothing; the exit status tells')
    add('-V', '--version', action='version', version='nht1-report ' + VERSION)
    options = parser.parse_args(argv)
    if len(options.results) != 2:
        raise trouble.usage('two results are compared: nht1-report compare [OPTION...] A B; '
                            'see --help')
    return options


def main(argv):
    """Returns the exit status."""
    from ..report import frame, figures, output
    options = _options(argv)
    names = [text.clean(name) for name in options.results]
    outputs = output.Outputs()
    for path, option, content in (
            (options.json, '--json', lambda: as_json(c, *names)),
            (options.junit, '--junit', lambda: as_junit(c, *names, options.fail_on)),
            (options.html, '--html', lambda: page.html(VERSION))):
        if path is not None:
            outputs.add(path, content, option)
    outputs.check()  # what would be in the way is found before the work
    if options.html is not None:
        frame.libraries()
    c = Comparison(*(results.load([side]) for side in options.results),
                   level=options.level, threshold=options.threshold / 100,
                   metric=options.metric, nevertheless=options.nevertheless)
    if not options.quiet:
        sys.stdout.write(as_text(c, *names))
        sys.stdout.flush()
    if options.html is not None:
        page = as_page(c, *names)
        if figures.can_draw():
            figures.draw(page.figures)
        else:
            page.top.append(figures.WISH)
    outputs.write()
    if not c.possible:
        raise trouble.usage('not comparable: %s' % (
            c.reasons[0] if c.reasons else 'fewer than %d values of the same quantity on a side' %
            RUNS_MIN))
    if c.verdict == WORSE or (options.fail_on == ANY and c.beside(WORSE)):
        return trouble.WRONG
    return trouble.INVALID if options.fail_on == UNCLEAR and c.verdict == UNCLEAR else trouble.OK
