# SPDX-License-Identifier: GPL-3.0-or-later
"""What commands that make a page share: options, libraries, and the way of a page to its files."""
import os
import signal
import sys

from .. import VERSION, command, tools, trouble
from . import figures, output


def parser_of(prog, what, epilog, output_name, commands=()):
    """A parser with the options that all pages have."""
    parser = command.Parser(commands, prog=prog, description=what, epilog=epilog)
    add = parser.add_argument
    add('results', nargs='+', metavar='RESULT.json', help='files, and folders for all below them')
    add('-o', '--output', metavar='FILE', default=output_name,
        help='write the page to FILE, one HTML file with all figures in it, which needs no network '
             'and prints well; - is standard output; default %(default)s')
    add('--figures', metavar='DIR', help='keep every figure in DIR: NAME.svg, .png and .pdf, its '
                                         'data NAME.csv, and NAME.py, which draws it again')
    add('--no-figures', action='store_true', help='data of figures as tables: nothing is drawn')
    add('--markdown', metavar='FILE', help='write the page as Markdown, too; with --figures it '
                                           'shows the drawings')
    add('--csv', metavar='DIR', help='write every table as NAME.csv into DIR')
    add('--title', metavar='TEXT', help='heading of the page')
    add('--level', metavar='P', type=command.number(*command.LEVELS), default=0.95,
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


def publish(page, options):
    """Draws the figures and writes all outputs of a page."""
    drawn = not options.no_figures and figures.can_draw()
    outputs = output.Outputs()
    outputs.add(options.output, lambda: page.html(VERSION), '-o')
    if options.markdown is not None:
        way = options.figures and os.path.relpath(options.figures,
                                                  os.path.dirname(options.markdown) or '.')
        outputs.add(options.markdown, lambda: page.markdown(VERSION, way), '--markdown')
    if options.figures is not None:
        outputs.folder(options.figures, figures.files(page.figures, drawn), '--figures')
    if options.csv is not None:
        outputs.folder(options.csv, {t.name + '.csv': t.csv for t in page.tables}, '--csv')
    outputs.check()  # what would be in the way is found before the work

    def stop(number, frame):
        raise trouble.failed('interrupted')
    for number in (signal.SIGINT, signal.SIGTERM):  # between files, which are whole
        signal.signal(number, stop)
    if drawn:
        total = len(page.figures)
        shown = options.progress == 'always' or options.progress == 'auto' and sys.stderr.isatty()

        def tick(done):
            if shown:
                sys.stderr.write('\rDrawing: figure %d of %d%s' % (
                    done, total, '\n' if done == total else ''))
                sys.stderr.flush()
        figures.draw(page.figures, options.figures is not None, tick)
    elif page.figures and not options.no_figures:
        page.top.append(figures.WISH)
        sys.stderr.write('nht1-report: %s\n' % figures.WISH)
    outputs.write()
