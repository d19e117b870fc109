# SPDX-License-Identifier: GPL-3.0-or-later
"""nht1-report compare A B: two sets of results of the same thing, A and then B; what became better
or worse beyond chance, as text, JSON (docs/schema/nht1-compare-1.json), HTML and JUnit XML.

A metric is a sample on each side. It is the same when the whole interval of the ratio lies inside
the threshold, better or worse when the ratio is beyond it and a test, corrected for the number of
metrics, excludes chance; everything between is unclear. The tests are those of nht1-stats.

    metric    a quantity on both sides, and what was found to compare
    systems   whose each part of a side is, and which of the other side is its own
    runs, workload, values    what of A belongs to what of B, by program
    verdict   the statistics, and what follows from them
    output    text, JSON, JUnit XML, a page
    cli       the command line"""
from .cli import main

__all__ = ['main']
