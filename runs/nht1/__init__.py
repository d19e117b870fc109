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
    """As base/version.h says it, of which built and installed packages have a copy."""
    here = os.path.dirname(os.path.realpath(__file__))
    for folder in (here, os.path.join(here, '..', '..', 'base')):
        if os.path.exists(os.path.join(folder, 'version.h')):
            with open(os.path.join(folder, 'version.h'), encoding='ascii') as f:
                return f.read().split('NHT1_VERSION "')[1].split('"')[0]
    return 'unknown'


VERSION = _version()
