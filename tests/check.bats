#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# runs/study check: one question, one sentence. nht1-bt is a stand-in that says of each writer what the test has
# told it, but for the runs at the end.
load helpers
load study_lib

setup() {
    begin_study
    make_bt
    export ANSWERS='posix:balanced:0.031' STEP_S=0.0075 SEARCH=posix STATUS=0
    mkdir files
}

# A step takes $STEP_S. $ANSWERS: writer:answer:zeta ...
make_bt() {
    cat >bin/nht1-bt <<'END'
#!/usr/bin/env -S python3 -IS
import json, os, signal, sys
args = sys.argv[1:]
if '--help' in args:
    for name in ('json FILE', 'out FILE', 'progress WHEN', 'io NAMES', 'minutes M', 'class C', 'n N', 'steps NS',
                 'sync WHEN', 'direct', 'tc T', 'repeat R', 'tc-store F', 'known'):
        print('  --%s  words' % name)
    sys.exit()
if '--version' in args:
    sys.exit(print('nht1-bt 1'))
said = {a[2:]: b for a, b in zip(args, args[1:] + ['']) if a.startswith('--')}
with open('starts', 'a') as f:
    f.write(' '.join(a for a in args if a not in (said['json'], said['out'])) + '\n')
kind = 'search' if said['io'] == 'auto' else 'rounds' if 'repeat' in said else 'pilot'
if kind == 'rounds' and int(os.environ['STATUS']):
    sys.stderr.write('nht1-bt: the disk is broken\n')
    sys.exit(int(os.environ['STATUS']))
assert os.path.isdir(os.path.dirname(said['out']))
open(said['out'], 'w').close()
stopped = os.path.exists('stop.' + kind)  # is interrupted, and says what it has
if os.path.exists('hold.' + kind) or stopped:
    if stopped:
        signal.signal(signal.SIGTERM, lambda *_: None)
    open('holds', 'w').close()
    signal.pause()
steps = int(said.get('steps', 200))
n = {'W': 24, 'A': 64, 'B': 102}[said.get('class', 'A')]
alone = float(os.environ['STEP_S']) * steps * (n / 64) ** 3
root = {'schema': 'nht1-bt/1', 'version': '9.9', 'status': 0, 'system': {
    'host': 'h', 'cores_in_use': 2, 'cpu': {'model': 'CPU'}, 'ranks': 2, 'threads': 1}, 'problem': {
        'class': 'A' if steps == 200 else 'U', 'n': n, 'steps': steps, 'interval': 5, 'dumps_n': steps // 5, 'dt': 8e-4,
        'dump_bytes': 40 * n ** 3}, 'runs': [], 'stamps': []}
if kind == 'search':
    label = os.environ['SEARCH']
    root['search'] = {'best': {'label': label, 'answer': label + ' will do.', 'command': 'nht1-bt --out %s --io %s' % (
        said['out'], label)} if label else None}
    json.dump(root, open(said['json'], 'w'))
    sys.exit()
rows = []
for number, w in enumerate(os.environ['ANSWERS'].split()):
    writer, answer, zeta = w.split(':')
    zeta = float(zeta)
    open_ = answer == 'undecided'
    root['runs'].append({'driver': writer, 't_t_s': alone * (1 + zeta), 'proof': {'took_s': 0.01},
                         'file': {'file_system': 'ext4'}})
    numbers = {'rounds_needed_n': 27, 'minutes_needed': 4.0} if open_ else \
        {'data_factor_at_goal': 2.67} if answer == 'io-faster-than-needed' else {}
    stamp = {'code': answer, 'severity': 'note', 'numbers': numbers, 'sentence': 'Not measurable here and now: why; do this.'}
    rows.append({'driver': writer, 'writer': writer, 't_t_s': alone * (1 + zeta), 'answer': answer,
                 'reason': 'disturbed' if answer == 'not-measurable' else None, 'stamps': [stamp],
                 'paired': {'rounds_n': 8, 'zeta': zeta, 'ci95_lo': zeta * 0.8, 'ci95_hi': zeta * 1.2},
                 'terms': {'data': {'zeta': zeta, 'ci95_lo': zeta * 0.8, 'ci95_hi': zeta * 1.2}}})
rows.append({'driver': 'none', 'writer': 'none', 't_t_s': alone, 'answer': None, 'reason': None})
root['runs'].append({'driver': 'none', 't_t_s': alone})
root['ranking'] = rows
json.dump(root, open(said['json'], 'w'))
print('the table of the program')
sys.exit(3 if stopped else 0)
END
    chmod +x bin/nht1-bt
}

# check OPTION...: of the stand-in, in files/.
check() {
    study check files --io posix,mpiio --ranks 2 --cores 2 --out result --no-report "$@"
}

# found FILTER: of the result, which keeps to its schema.
found() {
    expect_schema nht1-check-1 result/check.json
    jq -e "$1" result/check.json >/dev/null || { cat result/check.json && return 1; }
}

@test "one sentence heads the output, then a line to quote, then the table, then the search" {
    check --json check.json
    expect_status 0
    local said="Checkpoints of 10.5 MB every 38 ms on $PWD/files cost 3.1 % (2.5 to 3.7 %) with posix: yes, balanced (goal 10 %)."
    [ "${lines[0]}" = "$said" ]
    [[ ${lines[1]} == "nht1 9.9, h, 2 cores of CPU, ext4, 20"??-??-??": $said" ]]
    [ "${lines[2]}" = "the table of the program" ]
    expect_text "Search    posix will do."
    expect_text "nht1-bt --out files/btout.bin --io posix"
    found '.answer == "balanced" and .writer == "posix" and .rounds == 8 and .reason == null and .search.label == "posix"
        and .file_system == "ext4" and (.writers | length) == 1 and .problem.steps == 200 and .ranks == 2'
    [ "$(jq -r .sentence check.json)" = "$said" ]
    [ -z "$(ls files)" ]
    [ "$(ls result)" = "check.json
run
search" ]
}

@test "exit status and sentence of each answer" {
    local answer status said
    while IFS='|' read -r answer status said; do
        ANSWERS="serial:io-too-slow:0.5 posix:$answer" check --no-search
        expect_status "$status"
        [[ ${lines[0]} == *"$said"* ]]
        found ".answer == \"${answer%:*}\" and .writer == \"posix\" and .search == null and (.writers | length) == 2"
        rm -r result
    done <<'END'
balanced:0.05|0|cost 5.0 % (4.0 to 6.0 %) with posix: yes, balanced (goal 10 %).
io-faster-than-needed:0.005|0|yes, faster than this computation needs: data 2.67 times as slow would do
io-too-slow:0.3|2|cost 30 % (24 to 36 %) with posix: no, I/O is too slow: 3.0 times the goal of 10 %.
undecided:0.11|4|is undecided: 11 % (8.8 to 13 %) in 8 rounds; about 27 rounds, --minutes 
not-measurable:0.2|4|cost with posix is not measurable here and now: why; do this.
END
}

@test "the problem: class A, fewer of its steps, or class W, as time allows; a class that is given stays" {
    slow
    while read -r step words; do
        STEP_S=$step check --no-search --quiet
        expect_status 0
        [ "${#lines[@]}" = 1 ]
        grep -e "--class $words --io posix,mpiio --repeat auto --minutes" starts
        rm -r result starts
    done <<'END'
0.0075 A
0.04 A --steps 80
1.5 W
END
    check --class B --sync dump --no-search
    grep -e '--io posix,mpiio --repeat auto --minutes .* --class B --sync dump' starts
    [ "$(grep -c -e --io starts)" = 1 ] # no pilot
}

@test "time is for the rounds first: where none is left, a line names the search" {
    check --minutes 0.45
    expect_status 0
    expect_text "No time was left to search for the best way to write here: runs/study tune --files $PWD/files"
    found '.search == null'
    ! grep -e '--io auto' starts
    # The rounds get what is left of all, not all.
    awk '/repeat auto/ { for (i = 1; i < NF; i++) if ($i == "--minutes") exit !($(i + 1) < 0.42) }' starts
}

@test "a search that finds nothing does not take the answer back" {
    slow
    SEARCH='' check
    expect_status 0
    expect_text "The search found nothing"
    found '.answer == "balanced" and .search == null'
}

@test "interrupted in the search or in the rounds, it has written the answer, leaves with 3, and removes its files" {
    local step
    printf '#!/bin/sh\necho page >result/report.html\n' >bin/nht1-report
    chmod +x bin/nht1-report
    for step in search run; do
        [ $step = search ] && touch hold.search || touch stop.rounds
        "$NHT1_ROOT/runs/study" check files --io posix --ranks 2 --cores 2 --class A --out result --json check.json >said 2>&1 3>&- &
        wait_until -p $! test -e holds
        kill -INT $!
        status=0
        wait $! || status=$?
        [ "$status" -eq 3 ]
        grep -q ': yes, balanced' said
        grep -q 'the table of the program' said
        grep -q "check: interrupted; what there is, is in result/$step" said
        found '.answer == "balanced" and .search == null'
        expect_schema nht1-check-1 check.json
        [ -s result/report.html ]
        [ -z "$(ls files)" ]
        rm -r result holds check.json
    done
}

@test "wrong words, a folder that is not there, and a run that fails" {
    study check files --nosuch
    expect_status 1
    expect_text "'--nosuch' is an option neither of runs/study check"
    study check files --repeat 5
    expect_status 1
    study check files extra
    expect_status 1
    expect_text "'extra' is no option"
    # What the program alone knows to be wrong.
    STATUS=1 study check files --io posix --ranks 2 --class Q --no-report
    expect_status 1
    expect_text "nht1-bt: the disk is broken"
    [ ! -e nht1-studies ]
    # The real program, before anything is run.
    ln -sf "$NHT1_BIN_REAL"/nht1-{bt,verify} bin
    : >launched
    study check files --io posix --decomp 1x2x2 --no-report # right or wrong by the number of ranks
    expect_status 1
    grep -q -e '--class A --steps 20 .*--decomp 1x2x2' launched
    : >launched
    for words in io=posx sync=dmp; do
        study check files --io posix --${words} --no-report
        expect_status 1
        [[ $output == "runs/study check: nht1-bt: --${words%=*}"*"; did you mean "* ]]
    done
    [ -s launched ]
    if grep -v -e ' --dry-run ' launched; then return 1; fi
    rm bin/nht1-bt && make_bt
    study check nowhere
    expect_status 1
    expect_text "nowhere: no such folder"
    study check files --io auto
    expect_status 1
    rm starts
    for io in perrank null null,check:perrank; do
        study check files --io $io
        expect_status 1
        expect_text "--io $io: leaves no serial file, so there is no answer; name a writer that leaves one, such as posix"
    done
    [ ! -e nht1-studies ]
    [ ! -e starts ]
    STATUS=2 check
    expect_status 3
    expect_text "the disk is broken"
    [ -z "$(ls files)" ]
    STATUS=3 check
    expect_status 1
    expect_text "result is there, and is not written over"
}

@test "writers that are refused, as they leave no serial file, are those of the program" {
    rm bin/mpirun
    mpi_run 1 "$NHT1_BIN_REAL/nht1-bt" --io help >help
    PYTHONPATH=$NHT1_ROOT/runs python3 - <<'END'
import re
from nht1.study.check import UNANSWERED
text = open('help').read()
serial = re.search('--io all .*: (.*)', text).group(1).split()
others = set(re.findall(r'(?m)^([a-z]\S*) ', text)) - {*serial, 'none', 'check'}
assert others == set(UNANSWERED), others
END
}

@test "killed, its files go with the next one in the same folder" {
    touch hold.rounds
    "$NHT1_ROOT/runs/study" check files --io posix --ranks 2 --out result --no-search >said 2>&1 3>&- &
    wait_until -p $! test -e holds
    kill -9 $!
    wait $! || true
    [ -n "$(ls files)" ]
    rm -r hold.rounds result
    check --no-search
    expect_status 0
    [ -z "$(ls files)" ]
}

@test "the report is headed by the sentence and by one figure" {
    slow
    ln -s "$NHT1_BIN_REAL/nht1-report" bin
    ANSWERS='posix:balanced:0.031 mpiio:io-too-slow:0.2' study check files --io posix,mpiio --ranks 2 --out result --no-search
    expect_status 0
    [ -s result/report.html ]
    [ -s result/figures/check.png ]
    [ "$(tail -n +2 result/figures/check.csv | cut -d, -f2 | paste -sd ' ')" = "balanced too slow" ]
    python3 - <<'END'
import json, re
page, said = open('result/report.html').read(), json.load(open('result/check.json'))['sentence']
text = re.sub('<[^>]*>', '', page[page.index('id="answer"'):])
assert text.index(said) < text.index('Verdict'), text[:2000]
assert page.index('<figure id="check">') < page.index('id="verdict"')
END
}

@test "the real program: too short a run is not measurable, and nothing of it stays in the folder" {
    ln -sf "$NHT1_BIN_REAL"/nht1-{bt,verify} bin
    rm bin/mpirun
    study check files --class S --io posix --minutes 0.15 --out result --no-report
    expect_status 4
    [[ ${lines[0]} == "What checkpoints of 69.1 kB every "*" on $PWD/files cost with posix is not measurable here and now: "* ]]
    expect_text "writer                T_T"
    found '.answer == "not-measurable" and .problem.n == 12 and .search == null and .problem.dumps == 6'
    jq -e 'all(.runs[]; .verified)' result/run/result.json
    [ -z "$(ls files)" ]
}
