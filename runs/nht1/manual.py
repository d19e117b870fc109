# SPDX-License-Identifier: GPL-3.0-or-later
"""Manual pages and completion for bash, made of the tables of options that the programs themselves
have (--help-json):

    python3 -m nht1.manual FOLDER PROGRAM...

writes FOLDER/man1/PROGRAM.1 for each and FOLDER/completion/nht1 for all of them."""
import json
import os
import re
import subprocess
import sys
import textwrap
import time

from . import VERSION, tools


def listed(program, what):
    """[(name, text)] of config/programs.conf: what the tables do not know, variables of the environment
    and files."""
    return [line.split(': ', 1) for line in tools.programs()[program].get(what, '').strip().splitlines()]


class Program:
    """The table of a program, or of one of its commands; examples cut into examples, remarks and
    exit status."""

    def __init__(self, path, command=None):
        words = [path] + ([command] if command else []) + ['--help-json']
        table = json.loads(subprocess.run(words, stdin=subprocess.DEVNULL, check=True, text=True,
                                          stdout=subprocess.PIPE).stdout)
        self.name = os.path.basename(path)
        self.whole = self.name + (' ' + command if command else '')
        named = table['name']
        self.foreign = command and named != self.whole and named
        said = table.get('examples') or ''
        self.summary, self.args = table['summary'], table.get('args') or ''
        self.words = table.get('words', [])
        self.options = table['options'] + self._usual(table['options'])
        self.examples, self.remarks, self.status = self._cut(said)
        self.commands = [Program(path, c) for c in table.get('commands', [])]

    @staticmethod
    def _usual(options):
        """What all programs in C take, whose tables have the others alone. A table that has help has all."""
        if any(o['name'] == 'help' for o in options):
            return []
        letter = {} if any(o.get('letter') == 'h' for o in options) else {'letter': 'h'}
        return [{'name': 'help', 'help': 'Print the options.', 'words': [], **letter},
                {'name': 'version', 'help': 'Print the version.', 'words': []}]

    @staticmethod
    def _cut(said):
        """Examples are indented; "Exit status:" begins what goes to the end of its paragraph."""
        lines = re.sub(r'^\s*examples:\n', '', said).rstrip().split('\n')
        first = next((i for i, line in enumerate(lines) if line and line[0] != ' '), len(lines))
        rest = '\n'.join(lines[first:])
        status = re.search(r'Exit status:\s(.*?)(?=\n\n|\Z)', rest, re.S)
        if status:
            rest = rest[:status.start()] + rest[status.end():]
        return ('\n'.join(lines[:first]).strip('\n'),
                [' '.join(p.split()) for p in rest.split('\n\n') if p.strip()],
                status and ' '.join(status.group(1).split()))


# --- manual pages ------------------------------------------------------------------------------

def literal(text):
    """For roff: characters that stay as they are."""
    for plain, roff in (('\\', '\\e'), ('-', '\\-'), ("'", '\\(aq'), ('`', '\\(ga'), ('^', '\\(ha'),
                        ('~', '\\(ti')):
        text = text.replace(plain, roff)
    return re.sub(r'^\.', r'\\&.', text, flags=re.M)


def prose(text):
    """Text to be filled: options and programs in bold, each sentence on lines of its own."""
    words = re.split(r'((?<![\w-])--?[a-zA-Z][\w-]*|\bnht1-[a-z]+\b)', text)
    text = ''.join('\\fB%s\\fR' % literal(w) if i % 2 else w.replace('\\', '\\e').replace('~', '\\(ti')
                   for i, w in enumerate(words))
    text = '\n'.join(textwrap.fill(sentence, 79, break_long_words=False, break_on_hyphens=False)
                     for sentence in re.split(r'(?<=[\w)][.]) (?=[A-Z])', text))
    return re.sub(r"^(?=[.'])", r'\\&', text, flags=re.M)


def _items(items):
    return ''.join('.TP\n%s\n%s\n' % (head, prose(text)) for head, text in items)


def _options(program):
    """Options under their headings."""
    out = ''
    for o in program.options:
        head = '\\fB%s\\-\\-%s\\fR' % ('\\-%s\\fR, \\fB' % o['letter'] if 'letter' in o else '',
                                       literal(o['name']))
        if 'value' in o:
            head += '=\\fI%s\\fR' % literal(o['value'])
        if o.get('group'):
            heading, _, more = o['group'].partition(', ') if len(o['group']) > 60 else (o['group'], '', '')
            out += '.SS %s\n' % heading + (prose(more[0].upper() + more[1:]) + '.\n' if more else '')
        out += _items([(head, o['help'])])
    return out


def _synopsis(program):
    return '.B %s\n[\\fIOPTION\\fR...]%s\n' % (
        literal(program.whole), ' ' + literal(program.args) if program.args else '')


def page(program, date):
    short = literal(tools.programs()[program.name]['purpose'].replace('`', ''))
    every = [program] + [c for c in program.commands if not c.foreign]
    out = '.\\" Made of the options table of %s by runs/nht1/manual.py.\n' % program.name
    out += '.TH %s 1 %s "nht1 %s" "nht1 manual"\n' % (literal(program.name.upper()), date, VERSION)
    out += '.SH NAME\n%s\n.SH SYNOPSIS\n' % textwrap.fill(
        '%s \\- %s' % (literal(program.name), short), 79, break_long_words=False, break_on_hyphens=False)
    out += '.br\n'.join(_synopsis(p) for p in every)
    out += '.SH DESCRIPTION\n' + '.PP\n'.join(
        prose(text) + '\n' for text in [program.summary] + program.remarks)
    out += '.SH OPTIONS\n' + _options(program)
    if program.commands:
        out += '.SH COMMANDS\n'
    for c in program.commands:
        out += '.SS %s\n' % literal(c.whole)
        out += prose('As %s(1).' % c.foreign if c.foreign else c.summary) + '\n'
        out += '' if c.foreign else ''.join('.PP\n%s\n' % prose(r) for r in c.remarks) + _options(c)
    examples = '\n'.join(p.examples for p in every if p.examples)
    if examples:
        out += '.SH EXAMPLES\n.EX\n%s\n.EE\n' % literal(examples)
    out += '.SH EXIT STATUS\n' + '.PP\n'.join(
        prose((p.whole + ': ' if p is not program else '') + p.status[0].upper() + p.status[1:]) + '\n'
        for p in every if p.status)
    for what in ('environment', 'files'):
        if listed(program.name, what):
            out += '.SH %s\n' % what.upper() + _items(
                ('\\fI%s\\fR' % literal(name), text) for name, text in listed(program.name, what))
    out += '.SH SEE ALSO\n' + ',\n'.join(
        '.BR %s (1)' % literal(p) for p in tools.programs() if p != program.name).replace('),\n', ') ,\n')
    return out + '\n.PP\nThe documentation of nht1, installed in share/doc/nht1, begins with README.md.\n'


# --- completion --------------------------------------------------------------------------------

COMPLETION = r'''# Completion for bash, made of the options tables of the programs by runs/nht1/manual.py.
# shellcheck shell=bash

# Options and values of a program or command, a line each: OPTION KIND WORD...; the kind is "flag",
# "file", "folder" or "words". The option "args" stands for what follows the options.
_nht1_table() {
    case $1 in
%s    esac
}

_nht1() {
    local program=${1##*/} word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
    local name kind words front='' offered='' names='' wanted=file i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case $program:${COMP_WORDS[i]} in
        nht1-profile:--) wanted=program ;;
        %s)
            [ "$i" -gt 1 ] || program="$program ${COMP_WORDS[i]}" ;;
        esac
    done
    # In --io=posix the = is a word of its own, unless somebody took it out of COMP_WORDBREAKS.
    case $option$word in
    *[!=]=) [ "$word" != = ] || word='' ;;
    =*) option=${COMP_WORDS[COMP_CWORD - 2]} ;;
    esac
    case $word in --*=*) option=${word%%%%=*} front=$option= word=${word#*=} ;; esac
    while read -r name kind words; do
        [ "$name" = args ] || names+="$name "
        [ "$name" != args ] || [ "$wanted" = program ] || offered=$words
        if [ "$name" = "$option" ] && [ "$kind" != flag ] && [ "$wanted" != program ]; then
            wanted=$kind names='' offered=$words
            break
        fi
    done < <(_nht1_table "$program")
    COMPREPLY=()
    case $wanted:$word in
    file:-*) [ -z "$names" ] || mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word") ;;
    program:*) mapfile -t COMPREPLY < <(compgen -c -f -- "$word") ;;
    folder:*) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    file:*) mapfile -t COMPREPLY < <(compgen -f -W "$offered" -- "$word") ;;
    words:*) # also the last of several, A,B
        front+=${word%%"${word##*,}"}
        mapfile -t COMPREPLY < <(compgen -W "$offered" -- "${word##*,}") ;;
    esac
    [ "$wanted" = words ] || compopt -o filenames 2>/dev/null || true
    [ -z "$front" ] || COMPREPLY=("${COMPREPLY[@]/#/$front}")
} && complete -F _nht1 %s
'''


def kind(value):
    """What the name of a value tells about it."""
    return 'folder' if re.match('DIR|FOLDER', value) else \
        'file' if re.match('FILE|LISTING|RESULT', value) else 'words'


def lines(program):
    yield 'args file ' + ' '.join(program.words + [c.whole.split()[1] for c in program.commands])
    for o in program.options:
        how = kind(o['value']) + ' ' + ' '.join(o['words']) if 'value' in o else 'flag'
        yield '--%s %s' % (o['name'], how)
        if 'letter' in o:
            yield '-%s %s' % (o['letter'], how)


def completion(programs):
    cases = ''
    for p in programs:
        for each in [p] + p.commands:
            cases += "    '%s') echo '%s' ;;\n" % (
                each.whole, '\n'.join(line.rstrip() for line in lines(each)))
    commands = [c.whole.replace(' ', ':') for p in programs for c in p.commands]
    return COMPLETION % (cases, ' | '.join(commands), ' '.join(p.name for p in programs))


def main(folder, paths):
    built = float(os.environ.get('SOURCE_DATE_EPOCH') or os.path.getmtime(paths[0]))
    programs = [Program(path) for path in paths]
    written = {'man1/%s.1' % p.name: page(p, time.strftime('%Y-%m-%d', time.gmtime(built)))
               for p in programs}
    written['completion/nht1'] = completion(programs)
    for name, text in written.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
            f.write(text)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
