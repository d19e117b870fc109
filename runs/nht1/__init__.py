# SPDX-License-Identifier: GPL-3.0-or-later
"""nht1 in Python: studies, comparisons and reports. What is measured, computed or proved is done by
the programs in C; every statistic comes from nht1-stats. From the bottom up:

trouble  errors with the exit statuses of the project
command  options of a command, and how it ends
tools    where the programs and the files of this installation are, which Python can do what
stats    the only door to nht1-stats
text     words, numbers and units as people read them, cleaned of control characters
results  result files
compare  nht1-report compare: what became better or worse
study/   nht1-study: drives a study; its __init__ lists its parts
report/  nht1-report: the page and its figures; its __init__ lists its parts
bench    the tables of make bench, out of two studies
"""
import os


def _version():
    """The build that the programs in C name, too: built and installed packages have the file version;
    the sources take that of the build whose programs they start."""
    here = os.path.dirname(os.path.realpath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    bin_folder = os.environ.get('NHT1_BIN') or os.path.join(root, 'build', 'bin')
    for folder in (here, os.path.join(bin_folder, '..', 'share', 'nht1', 'runs', 'nht1')):
        try:
            with open(os.path.join(folder, 'version'), encoding='utf-8') as f:
                return f.read(200).strip()
        except OSError:
            pass
    try:
        with open(os.path.join(root, 'base', 'version.h'), encoding='utf-8') as f:
            return f.read().split('NHT1_VERSION "')[1].split('"')[0]
    except (OSError, IndexError):
        return 'unknown'


VERSION = _version()
