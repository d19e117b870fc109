#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""accesses.py FILE.jsonl [numbered|laid-out [calls]]: the data accesses of a file of nht1-profile --accesses, sorted, a line
each: process, file (a number), R or W, offset, size. The numbers of files follow their names, NAME, NAME.1, ...
in a replay. numbered: their numbers are those in FILE.jsonl, whatever their names. laid-out: leave out of each
file that is read the first write of each process. calls: instead of R or W the call, and how the file was open."""
import json
import re
import sys

mode = sys.argv[2] if len(sys.argv) > 2 else ''
by_call = len(sys.argv) > 3
lines = [json.loads(line) for line in open(sys.argv[1], encoding='utf-8')]
head, rest = lines[0], lines[1:]
number, calls = {}, []
for line in rest[:head['files_n']]:
    found = re.search(r'\.dat(?:\.(\d+))?$', line['name'])
    number[line['file']] = line['file'] if mode == 'numbered' else int(found[1] or 0) if found else None
for run in rest[head['files_n']:]:
    if run['call'] not in ('fsync', 'fdatasync') and number[run['file']] is not None:
        calls += [(run['process'], run['order'] + i * run['step'], number[run['file']],
                   'W' if run['call'].endswith('write') else 'R', run['call'], run['flags'], run['offset'] + i * run['stride'],
                   run['bytes']) for i in range(run['n'])]
calls.sort()
if mode == 'laid-out':
    reads = {c[2] for c in calls if c[3] == 'R'}
    seen = set()
    for c in list(calls):
        if c[2] in reads and c[3] == 'W' and (c[0], c[2]) not in seen:
            seen.add((c[0], c[2]))
            calls.remove(c)
for call in sorted((c[0],) + c[2:] for c in calls):
    print(*call[:2], *(call[3:5] if by_call else call[2:3]), *call[5:])
