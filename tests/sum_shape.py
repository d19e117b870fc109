#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a summary (.sum) has the shape of one that a released program wrote: line by line the same words and
blanks, and where there is a number, one with as many decimals in a field as wide. Where no blank but one is before
both numbers there is no room to tell the field by, and either may be longer, as are rates from 10000 MB/s on.

    sum_shape.py SAMPLE FILE        FILE up to the line "Added by ..."

What is no number and may differ: the identity line, the system, the date, names of files, how many errors there
were, and that b_eff is not valid, for which the release has no word. Other words of validity are compared: for a
valid run, one with errors or one with options behind MT=, give a SAMPLE that has them."""
import re
import sys

NUMBER = re.compile(r'( *)(-?\d+)(\.\d+)?')
FREE = (  # lines that say what the program, the system and the run are
    (r'^(b_eff_io\.c, Revision|nht1-beffio \S+, definition) .*', 'IDENTITY'),
    (r'^(b_eff\.c, Revision|nht1-beff \S+, definition) .*', 'IDENTITY'),
    (r'^PATH=.*, PREFIX=.*', 'PATH'),
    (r'^( {7}(?:system name|hostname   |OS release |OS version |machine    ) : ).*', r'\1SYSTEM'),
    (r'^Date of measurement: [A-Z][a-z]{2} [A-Z][a-z]{2} [ 123]\d \d\d:\d\d:\d\d \d{4}$', 'DATE'),
    (r"^(  set title ').*(' -4)$", r'\1SYSTEM\2'),
    (r'( Min, on ).*?((?:, NOT VALID \(see above\))?(?:, with \d+ ERRORS)?)$', r'\1SYSTEM\2'),
    (r'( MB/PE on ).*$', r'\1SYSTEM'),
    (r'^b_eff\(NOT_VALID\)', 'b_eff'))


def tokens(line):
    """Words with their blanks, and numbers as (characters with the blanks before, those from the point on, blanks)."""
    for pattern, free in FREE:
        line = re.sub(pattern, free, line)
    found, at = [], 0
    for m in NUMBER.finditer(line):
        if m.start() > 0 and line[m.start(2) - 1].isalnum() and not m.group(1):
            continue  # part of a word
        found += [line[at:m.start()], (len(m.group(0)), len(m.group(3) or ''), len(m.group(1)))]
        at = m.end()
    return found + [line[at:]]


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    # A number of three decimals that does not fit into its eight columns makes the line longer.
    field, field_b = ((width - max(0, width - blanks - 8) if decimals == 4 else width)
                      for width, decimals, blanks in (a, b))
    return a[1] == b[1] and (field == field_b or max(a[2], b[2]) <= 1)


def lines_of(path):
    with open(path) as f:
        text = f.read().split('\nAdded by ')[0]
    return text.rstrip('\n').split('\n')


def main(sample, path):
    want, have = lines_of(sample), lines_of(path)
    for number, (a, b) in enumerate(zip(want, have), 1):
        x, y = tokens(a), tokens(b)
        if len(x) != len(y) or not all(map(same, x, y)):
            sys.exit('line %d:\n|%s|\n|%s|' % (number, a, b))
    if len(want) != len(have):
        sys.exit('%d lines instead of %d' % (len(have), len(want)))


if __name__ == '__main__':
    main(*sys.argv[1:])
