#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What documents name in backquotes is there:

    tests/doc_symbols.py [FILE.md...]        default: README.md, CONTRIBUTING.md, docs/*.md

Paths of the tree (base/err.h, io/view without its ending, patterns), functions, macros and members
with an underscore (which more than tests use), long options, targets of make, programs. Prints
"FILE: SYMBOL: what is wrong" and ends with status 1 when there is any; the last line counts."""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
os.chdir(ROOT)
CODE = [f for pattern in ('*/*.[ch]', '*/*/*.[ch]', '*/*/*/*.[ch]', 'runs/**/*.py', 'runs/*', 'bench/*.sh', 'config/*',
                          'docs/schema/*.json', 'Makefile', '**/rules.mk', '.ci/*')
        for f in glob.glob(pattern, recursive=True) if os.path.isfile(f)]
# Of other programs: mpirun, srun, sbatch, compilers.
FOREIGN = set('--oversubscribe --bind-to --mca --cpu-bind --cpus-per-task --overcommit --mpi --time '
              '--np --display'.split())


def read(name):
    with open(name, encoding='utf-8') as f:
        return f.read()


PROJECT = {f: read(f) for f in CODE if not f.startswith('tests/')}
TESTS = {f: read(f) for f in CODE if f.startswith('tests/')}
WORDS = {f: set(re.findall(r'\w+', t)) for f, t in PROJECT.items()}
HEADERS = ''.join(t for f, t in PROJECT.items() if f.endswith('.h'))
OPTIONS = set(re.findall(r'\.name = "([a-zA-Z-]+)"', ''.join(PROJECT.values())))
OPTIONS |= set(re.findall(r'^IO_SETTING\(([a-z]+),', PROJECT['io/setting_list.h'], re.M))
OPTIONS |= set(re.findall(r"'--([a-z-]+)", ''.join(PROJECT.values())))
OPTIONS |= set(re.findall(r"^    \('([a-z-]+)', ", PROJECT['runs/nht1/study/job.py'], re.M))
OPTIONS |= set(re.findall(r"'--([a-z-]+)'", read('tests/stamps') + read('tests/programs') + read('tests/settings')))
OPTIONS |= {'help', 'version'}
SCRIPTED = ''.join(t for f, t in PROJECT.items() if f.endswith(('.py', '.sh')))
TARGETS = {t for f, text in {**PROJECT, **TESTS}.items() if f.endswith(('Makefile', 'rules.mk'))
           for line in re.findall(r'^([a-z][a-z -]*):', text, re.M) for t in line.split()}
TARGETS |= {'check-' + p for p in 'serial python mpi e2e layers sanitize'.split()}
# Of the tree, and folders of C sources without those above them, as a path may be left behind that has moved.
FOLDERS = sorted({f.split('/')[0] for f in CODE if '/' in f} | {'docs'} | {
    f.split('/')[-2] for f in CODE if f.endswith('.c') and '/' in f})


def path_wrong(path):
    """None, or why no file of the tree is meant. Names in capitals stand for any."""
    if path.startswith(('runs/out', 'docs/schema')) or re.search('NAME|/n?N\\.', path):
        return None
    for name in (path, path + '.[ch]', path + '.c', path + '.py'):
        if glob.glob(name):
            return None
    if re.fullmatch('tests/mk[a-z]+', path) and os.path.exists(path + '.c'):
        return None
    return 'no such file'


# Functions for those who write tests are named where that is explained.
HELPERS = set(re.findall(r'^(\w+)\(\) \{', read('tests/helpers.bash'), re.M))


def word_wrong(word):
    if word in HELPERS:
        return None
    there = [f for f, words in WORDS.items() if word in words]
    if not there:
        return 'only tests have it' if any(word in t for t in TESTS.values()) else 'nobody has it'
    if re.search(r'\b%s\(' % word, HEADERS) and word.islower():
        calls = sum(len(re.findall(r'\b%s\b' % word, PROJECT[f])) for f in there if f.endswith('.c'))
        in_headers = len(re.findall(r'inline[^;{]*\b%s\(' % word, HEADERS))
        if calls + in_headers < 2 and not re.search(r'#define %s\(' % word, HEADERS):
            return 'nobody but tests calls it'
    return None


def wrong(text):
    """The symbols in one backquoted text that are not there, with the reason."""
    for path in re.findall(r'(?<![\w/.$~-])((?:%s)/[\w./*-]*\w)' % '|'.join(FOLDERS), text):
        yield path, path_wrong(path)
    for option in re.findall(r'(?<![\w-])--([a-zA-Z][a-zA-Z-]*)', text):
        known = option in OPTIONS or '--' + option in FOREIGN or '--' + option in SCRIPTED
        yield '--' + option, None if known else 'no program has this option'
    for target in re.findall(r'^make ((?:[a-z-]+ ?)+)', text):
        for t in target.split():
            yield 'make ' + t, None if t in TARGETS else 'no such target'
    for program in re.findall(r'(?<![\w./-])nht1-([a-z]+)(?![\w/.-]|$)|^nht1-([a-z]+)$', text):
        name = program[0] or program[1]
        there = '[nht1-%s]\n' % name in PROJECT['config/programs.conf']
        yield 'nht1-' + name, None if there else 'no such program'
    whole = re.fullmatch(r'(?:\*?ctx->)?([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)(?:\(.*\))?', text)
    member = re.fullmatch(r'\*?ctx->(\w+)', text)
    if (whole or member) and not re.fullmatch('U_m|N_S|T_[TC]|I_W|R_IO|b_eff(_io)?', text[:8]):
        name = (whole or member).group(1)
        if not name.startswith(('MPI_', 'OMPI_', 'OMP_', 'XDG_', 'U_')):
            yield text, word_wrong(name)


def main():
    count = bad = 0
    for name in sys.argv[1:] or ['README.md', 'CONTRIBUTING.md'] + sorted(glob.glob('docs/*.md')):
        text = re.sub(r'^```.*?^```', '', read(name), flags=re.S | re.M)
        for quoted in re.findall(r'`([^`\n]+)`', text):
            for symbol, reason in wrong(quoted):
                count += 1
                if reason:
                    print('%s: %s: %s' % (name, symbol, reason))
                    bad = 1
    print('%d symbols' % count)
    return bad


if __name__ == '__main__':
    sys.exit(main())
