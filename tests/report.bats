#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-report: the page with its figures and tables, and what is given to it by mistake.
load helpers
load report_lib

# page ARGUMENT...: a report without drawings, which are tested apart: they take seconds.
page() {
    nht1-report --no-figures -o r.html --markdown r.md "$@"
}

# drawn: goes to the one page with everything in it, which several cases look at.
drawn() {
    mkdir -p "$BATS_FILE_TMPDIR/all" && cd "$BATS_FILE_TMPDIR/all" || return 1
    [ -e r.html ] || { results r1 r2 r4 g1 g2 &&
        nht1-report ./*.json -o r.html --figures fig --csv tab --markdown r.md; }
}

# no_text FILE TEXT
no_text() {
    if grep -qF -- "$2" "$1"; then
        echo "$1 holds: $2"
        return 1
    fi
}

# without_libraries: python3 is one that has nothing but its standard library.
without_libraries() {
    mkdir -p bare
    printf '#!/bin/sh\nexec /usr/bin/python3 -S "$@"\n' >bare/python3
    chmod +x bare/python3
    export PATH=$PWD/bare:$PATH NHT1_PYTHON_TAKEN=$PWD/bare/python3
}

@test "help teaches, with examples, for every command" {
    local command
    for command in "" compare trend; do
        run "$NHT1_BIN/nht1-report" $command --help
        expect_status 0
        [[ $output == *"  nht1-report "* ]]
    done
    for command in --version --vers "compare --vers"; do
        run "$NHT1_BIN/nht1-report" $command
        expect_status 0
        [[ $output =~ ^nht1-report\ [0-9] ]]
    done
    run "$NHT1_BIN/nht1-report"
    expect_status 1
}

@test "one page with everything in it, every figure as files, every table as CSV" {
    drawn
    local figure kind
    for figure in fig1-groups fig2-times fig3-systems fig4-rate fig5-overhead writers phases dumps-1; do
        for kind in csv py svg png pdf; do
            [ -s fig/$figure.$kind ]
        done
        expect_file_text r.html "id=\"$figure\""
        expect_file_text r.md "fig/$figure.png"
    done
    if grep -qE '<(script|img|link rel="stylesheet")|src=|@import' r.html; then false; fi
    if grep -oE 'https?://[^"'\'' ]+' r.html | grep -v '^http://www.w3.org/'; then false; fi
    for figure in writers processors dumps slowest-dumps published-1993 balance system results; do
        [ "$(wc -l <tab/$figure.csv)" -ge 2 ]
    done
    # ids are unique, and every figure stands there as a table, too
    [ -z "$(grep -oE ' id="[^"]*"' r.html | sort | uniq -d)" ]
    [ "$(grep -c '<summary>' r.html)" -eq "$(grep -c '<figure' r.html)" ]
    # scripts draw the figures again
    rm fig/*.svg fig/*.pdf
    (cd / && "$REPORT_PYTHON" "$OLDPWD/fig/fig2-times.py")
    [ -s fig/fig2-times.svg ]
    [ -s fig/fig2-times.pdf ]
    # no label of an axis runs into another one
    "$REPORT_PYTHON" "$NHT1_ROOT/tests/report_labels.py" fig
}

@test "every file of a report is known as its own, pictures too" {
    drawn
    PYTHONPATH=$NHT1_ROOT/runs PYTHONDONTWRITEBYTECODE=1 "$REPORT_PYTHON" -c '
import sys
from nht1.report import output
sys.exit(" ".join(path for path in sys.argv[1:] if not output.is_ours(path)) or 0)' r.html r.md fig/* tab/*
}

@test "labels of Figure 3's narrow axes do not run into each other, from a part of a decade to several" {
    slow
    local factor
    results r1
    for factor in 0.2 50; do
        change r1.json '.runs[].t_t_s = $factor | .runs[].t_c_s = $factor / 2' \
            --argjson factor "$factor"
        page r1.json --figures fig
        "$REPORT_PYTHON" "$NHT1_ROOT/tests/report_labels.py" fig fig3-systems
    done
}

@test "stamps are repeated, the verdict first; results without any are shown without judgement, which is said once" {
    local result
    results r1 r2
    for result in r1 r2; do
        change $result.json 'del(.stamps) | .ranking[] |= del(.stamps) | .runs[] |= del(.stamps)'
    done
    page r1.json r2.json
    [ "$(grep -c 'without judgement' r.md)" -eq 1 ]
    change r2.json '.stamps = [{code: "page-cache", severity: "warn", numbers: {cached_share: 1}, sentence: "STAMP-WHOLE"}]
        | .ranking |= map(if .driver == "posix" then .stamps = [{code: "io-too-slow", severity: "bad", numbers: {zeta: 1}, sentence: "STAMP-POSIX"}]
            else .stamps = [{code: "balanced", severity: "good", numbers: {}, sentence: "STAMP-OTHER"}] end)
        | .runs |= map(.t_t_s = (if .driver == "posix" then 1 elif .driver == "none" then 0.5 else 2 end)
            | .stamps = [{code: "not-verified", severity: "warn", numbers: {}, sentence: "STAMP-RUN"}])'
    page r2.json
    no_text r.md "without judgement"
    [ "$(grep -cE '^\*\*(Poor|Care):\*\* STAMP' r.md)" -eq 3 ]
    [ "$(grep -m 1 -o 'STAMP-[A-Z]*' r.md)" = STAMP-POSIX ]
    no_text r.md STAMP-OTHER
    expect_file_text r.html '<p class="bad">STAMP-POSIX'
    [ "$(grep -n -m 1 STAMP r.md | cut -d: -f1)" -lt "$(grep -n -m 1 '^## N = 12' r.md | cut -d: -f1)" ]
}

@test "what one of several results says about its own rounds gives way to a verdict over all" {
    results r2
    change r2.json '.runs |= [.[] | select(.driver == "posix" or .driver == "none") | .t_t_s = (if .driver == "none" then 1 else 1.5 end)
            | .data_s = 0.375 | .bookkeeping_s = 0 | .computing_s = 1.125 | del(.t_c_round_s)]
        | .stamps = [{code: "balanced", severity: "good", numbers: {}, sentence: "STAMP-ALONE"}]
        | .ranking[].stamps = []' # of the times that it was made with
    jq '.job_id = "x"' r2.json >x.json
    page r2.json x.json
    no_text r.md STAMP-ALONE
    expect_file_text r.html '<p class="bad">I/O is too slow'
    expect_file_text r.md "6 rounds"
    change r2.json '.runs[].t_t_s = 1.05 | .runs |= map(if .driver == "none" then .t_t_s = 1 else . end)'
    jq '.job_id = "x"' r2.json >x.json
    page r2.json x.json
    expect_file_text r.html '<p class="good">Balanced'
}

@test "a study's rounds give a verdict: each run over the compute-only run of its own round" {
    results r2
    PYTHONPATH=$NHT1_ROOT/runs PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
import copy, json, math, os, random, shutil
from nht1 import results
from nht1.report.rounds import Rounds

with open('r2.json') as f:
    model = json.load(f)
for row in model['ranking']:  # of the times that it was made with
    row.update(stamps=[], reason=None)


def study(pairs, change=lambda root, run, writer: None):
    """zeta and verdict of posix in a study of rounds (T_C, T_T)."""
    shutil.rmtree('study', ignore_errors=True)
    for number, pair in enumerate(pairs, 1):
        for writer, seconds in zip(('none', 'posix'), pair):
            root = dict(copy.deepcopy(model), job_id='%s-%d' % (writer, number))
            root['runs'] = [dict(r, round=1, t_t_s=seconds, t_c_s=1.0, data_s=0.05)
                            for r in root['runs'] if r['driver'] == writer][:seconds is not None]
            run = {'schema': 'nht1-study-run/1', 'run': number, 'settings': {}}
            change(root, run, writer)
            folder = 'study/runs/%s-r%d' % (writer, number)
            os.makedirs(folder)
            for name, value in (('result', root), ('run', run)):
                with open('%s/%s.json' % (folder, name), 'w') as f:
                    json.dump(value, f)
    runs = results.Runs(results.load(['study']))
    rounds = Rounds(runs, 0.95)
    cells = [c for g in runs.groups for c in g.cells]
    cell = next(c for c in cells if c.writes)
    study.seen = rounds, cells
    return rounds.zeta(cell), rounds.verdict(cell)


def fewer_ranks(root, run, writer):
    root['system']['ranks'] = 1 if writer == 'none' else 2


def environment(root, run, writer):
    run['settings'] = {} if writer == where else {'env.X': '1'}


drift = (1, 1.5, 2, 2.5, 3, 3.5)  # slower from round to round, with and without writing
z, v = study([(c, 1.3 * c) for c in drift])
assert v['code'] == 'undecided' and abs(z.paired - 0.3) < 1e-9, (z, v)  # but is it the data?
assert 'whether that is data' in v['sentence'], v
for share, code in ((0.375, 'io-too-slow'), (0.0625, 'not-measurable')):
    z, v = study([(c, 1.5 * c) for c in drift], lambda root, run, writer: [r.update(
        data_s=share * (r['t_t_s'] / 1.5), bookkeeping_s=(0.5 - share) * (r['t_t_s'] / 1.5),
        computing_s=r['t_t_s'] / 1.5) for r in root['runs']])
    assert v['code'] == code and abs(z.terms['data'].zeta - share) < 1e-9, (z, v)
    assert abs(sum(t.zeta for t in z.terms.values()) - z.paired) < 1e-9, z
assert 'bookkeeping 0.438' in v['sentence'], v
z, v = study([(1, t) for t in (1.06, 1.12, 1.02, 1.08, 1.19, 1.07)])
assert v['code'] == 'undecided' and z.rounds == 6 and z.lo < 0.1 < z.hi, (z, v)
assert v['numbers']['rounds_needed_n'] > 6, (z, v)
z, v = study([(1, 1.01)] * 3)
assert v['code'] == 'undecided' and z.rounds == 3 and v['numbers']['rounds_needed_n'] == 6, (z, v)
assert z.lo != z.lo and 'study.repeats=6' in v['sentence'], v
z, v = study([(None, 1.01)] + [(1, 1.01)] * 6)
assert v['code'] == 'balanced' and z.rounds == 6, (z, v)
z, v = study([(None, 1.01)] * 6)
assert v['code'] == 'undecided' and z.rounds == 0, (z, v)
assert 'No round holds a compute-only run' in v['sentence'], v
z, v = study([(1, 1.01)] * 5, fewer_ranks)
assert z.rounds == 0, z
for where, rounds in (('none', 5), ('posix', 0), ('', 5)):  # has no variable, others have one
    z, v = study([(1, 1.01)] * 5, environment)
    assert z.rounds == rounds, (where, z)
z, v = study([(c, c * r) for c, r in zip(drift, (1.05, 1.04, 1.06, 1.045, 1.055, 1.05))])
assert v['code'] == 'balanced' and z.rounds == 6 and abs(z.paired - 0.05) < 1e-9, (z, v)
assert 0.04 - 1e-9 <= z.lo <= z.hi <= 0.06 + 1e-9, z

# Rounds 7 to 12 were disturbed, writing or computing alone, or none; page cache, or a short run, in some of the jobs.
def spoil(writer_, key, first):
    def change(root, run, writer):
        if writer == writer_ and run['run'] >= first:
            root['runs'][0]['disturbance'] = dict(root['runs'][0]['disturbance'], **{key: True})
    return change


def say(reason, first):
    def change(root, run, writer):
        if run['run'] >= first:
            next(r for r in root['ranking'] if r['driver'] == 'posix').update(reason=reason, stamps=[
                {'code': 'not-measurable', 'severity': 'warn', 'numbers': {}, 'sentence': 'So it is.'}])
    return change


loud = (1, 1.05)
for pairs, change, code in (
        ([loud] * 12, spoil('posix', 'disturbed', 8), 'balanced'),
        ([loud] * 12, spoil('posix', 'disturbed', 7), 'not-measurable'),
        ([loud] * 12, spoil('none', 'disturbed', 7), 'not-measurable'),
        ([loud] * 12, spoil('none', 'processors_shared', 7), 'not-measurable'),
        ([loud] * 12, spoil('posix', 'processors_shared', 1), 'balanced'),
        ([loud] * 12, say('page-cache', 12), 'not-measurable'),
        ([loud] * 12, say('too-short', 8), 'balanced'),
        ([loud] * 12, say('too-short', 7), 'not-measurable')):
    z, v = study(pairs, change)
    assert v['code'] == code, (z, v, code)
# Different reasons are reasons: three jobs in twelve say one, three another.
z, v = study([loud] * 12, lambda root, run, writer: run['run'] <= 6 and say(('too-short', 'unbound')[run['run'] % 2], 1)(
    root, run, writer))
assert v['code'] == 'not-measurable' and '(3 of 12 runs)' in v['sentence'], v

# Rounds that go on until it is decided are judged at the looks of their plan, not at whatever number there is.
def plain(root, run, writer):
    pass


def auto(root, run, writer):
    run['rounds_max'] = 64


off = [loud] * 4 + [(1, 1.2)] + [loud] * 5
for pairs, change, code in (([loud] * 6, plain, 'balanced'), ([loud] * 6, auto, 'undecided'), ([loud] * 8, auto, 'balanced'),
                            (off, plain, 'balanced'), (off, auto, 'undecided'), (off + [loud] * 5, auto, 'balanced')):
    z, v = study(pairs, change)
    assert v['code'] == code, (len(pairs), z, v, code)
z, v = study([loud] * 6, auto)
assert 'The first interval comes with 8 rounds, some' in v['sentence'] and z.lo != z.lo, v
# An interval stands beside the median of the same rounds: those of the last look, and of all where there are more than the plan.
def eight(root, run, writer):
    run['rounds_max'], root['started_utc'] = 8, '2026-01-01T10:%02d:00Z' % run['run']


def eight_first(root, run, writer):
    eight(root, run, writer)
    del run['rounds_max']
    run.update({'rounds_max': 8} if run['run'] <= 8 else {'rounds_given': 20})


z, v = study([(1, 1.05)] * 8 + [(1, 1.3)] * 2, auto)
assert (z.rounds, z.paired) == (8, z.lo) and 'over 8 rounds' in v['sentence'], (z, v)
near = [(1, 1.1 + 0.01 * d) for d in (-3, 4, -1, 2, -2, 1, 3, -4)]
for change in (eight, eight_first):
    z, v = study(near + [(1, 1.09 + 0.001 * d) for d in (4, -2, 3, -5, 0, 6, -4, 1, -1, 5, -3, 2)], change)
    assert z.rounds == 20 and abs(z.paired - 0.0905) < 1e-9 and 0.085 < z.lo <= z.paired <= z.hi < 0.0961, (change, z, v)
    assert v['code'] == 'balanced' and 'over 20 rounds' in v['sentence'], v
z, v = study([(1, 1.3 + 0.01 * k) for k in (1, 6, 0, 5, 3, 7, 2, 4)] + [(1, 1.03 + 0.001 * (k * 5 % 7)) for k in range(32)], eight)
assert v['code'] == 'undecided' and z.rounds == 40 and z.lo != z.lo and 'the rounds rise, fall' in v['sentence'], (z, v)
# All of them give an answer that those that were not disturbed would not give.
rounds = [(1.05, True)] * 19 + [(1.09, False)] * 10 + [(1.101, False)] * 11
random.Random(1).shuffle(rounds)
z, v = study([(1, t) for t, _ in rounds], lambda root, run, writer: rounds[run['run'] - 1][1] and spoil(
    writer, 'disturbed', 0)(root, run, writer))
assert z.hi <= 0.1, z
assert v['code'] == 'not-measurable' and 'the answer would be another' in v['sentence'], v


def eight_rounds(root, run, writer):  # in each job, nearly alike
    root['runs'] = [dict(r, round=k, t_t_s=r['t_t_s'] + 1e-4 * (k * 3 % 8) * (writer != 'none'))
                    for r in root['runs'] for k in range(1, 9)]


# Jobs that differ, of which each counts once: 16 rounds from 0.07 to 0.09 say little about 0.10.
z, v = study([(1, 1.07), (1, 1.09)], eight_rounds)
assert v['code'] == 'undecided' and z.rounds == 16 and z.jobs == 2 and z.lo < 0.07 and z.hi > 0.10, (z, v)
assert 'each of which counts once (2)' in v['sentence'] and 'More jobs would decide' in v['sentence'], v
rounds, cells = study.seen
alone, writing = sorted(cells, key=lambda c: c.writes)
assert writing.lo_s < 1.07 and writing.hi_s > 1.1, (writing.lo_s, writing.hi_s)
r, = rounds.slower(alone, [writing])
assert (r.rounds, r.jobs, r.slower) == (16, 2, False) and r.lo < 1 < r.centre < r.hi, r
z, v = study([(1, 1.07), (1, 1.071)], eight_rounds)
assert v['code'] == 'balanced' and z.jobs == 2 and z.hi < 0.1, (z, v)
rounds, cells = study.seen
alone, writing = sorted(cells, key=lambda c: c.writes)
assert rounds.slower(alone, [writing])[0].slower
study([(c, c * r) for c, r in zip(drift, (1.05, 1.04, 1.06, 1.045, 1.055, 1.05))])
END
    page study --csv tab
    expect_file_text r.html '<p class="good">Balanced'
    grep -q '^posix,.*,6,0.05.*,95,balanced$' tab/zeta.csv
    expect_file_text r.md "Intervals are at 95 %."
    grep -q '^2,.*,balanced,' tab/processors.csv
}

@test "the fastest writer is told by ratios within rounds, not by intervals that overlap" {
    results r2
    # Rounds get slower: each interval spans all of them, and token takes 5 % longer in every round.
    change r2.json '.ranking = [] | .runs |= (map(select(.driver == "posix"))[0] as $one | [range(1; 9) as $n | $one + {round: $n,
        t_t_s: (1 + 0.1 * ($n * 5 % 8)), t_c_s: 1}, $one + {driver: "token", round: $n, t_t_s: (1.05 * (1 + 0.1 * ($n * 5 % 8))), t_c_s: 1}])'
    page r2.json
    expect_file_text r.md "posix is the fastest: token, group 2 takes 1.050 times as long (1.050 to 1.050, 8 rounds)."
    change r2.json '.runs |= map(if .driver == "token" and (.round == 2 or .round == 6) then .t_t_s *= 0.9 else . end)'
    page r2.json
    expect_file_text r.md "cannot be told apart from token, group 2 (1.050 times as long): the ratios"
    change r2.json '.runs |= map(select(.round <= 5))'
    page r2.json
    expect_file_text r.md "that says nothing about chance before each was measured in 6 rounds"
}

@test "Figure 1 has a line for each grouped writer" {
    local n
    results g1 g2
    for n in 1 2; do
        change g$n.json '.runs[].t_t_s = $n' --argjson n $n
        cp g$n.json gather$n.json
        change gather$n.json '.runs[] |= (.driver = "token-gather" | .t_t_s /= 2)'
    done
    page ./*.json --figures fig
    [ "$(sed 's/^,\([^,]*,[0-9]*,[0-9.]*\),.*/\1/; 1d' fig/fig1-groups.csv)" = "token on 4 ranks,1,1
token on 4 ranks,2,2
token-gather on 4 ranks,1,0.5
token-gather on 4 ranks,2,1" ]
    expect_file_text r.md "Shortest median here: token-gather, group 1 with 0.500 s"
}

@test "zeta is told in two parts, and paired as the program says" {
    results r2
    change r2.json '.runs |= map(. + {t_c_s: 1, in_io_s: 0.04, t_t_s: (if .driver == "none" then 1 else 1.25 end)})
        | .ranking |= map(. + {paired: {rounds_n: 5, zeta: 0.06, ci95_lo: 0.05, ci95_hi: 0.07}})'
    page r2.json --csv tab
    expect_file_text tab/zeta.csv ",0.04,0.21,5,0.06,0.05,0.07,95,"
    # This interval, which --level does not change, has its own level; the page names that of the others.
    page r2.json --csv tab --level 0.99
    expect_file_text r.md "Intervals are at 99 %, but for those that a program gives itself"
    expect_file_text r.md "is 0.060 (0.050 to 0.070, at 95 %) over"
    expect_file_text r.md "Writers by median T\_T, with its 99 % interval"
    expect_file_text tab/zeta.csv ",0.04,0.21,5,0.06,0.05,0.07,95,"
}

@test "T_T, zeta and R_IO in the tables are those of the runs" {
    results r1
    change r1.json '.runs |= [.[] | select(.driver == "posix")][:3]
        | .runs[0].t_t_s = 1.2 | .runs[1].t_t_s = 1.1 | .runs[2].t_t_s = 1.4
        | .runs[].t_c_s = 1'
    page r1.json --csv tab
    # 6 dumps of 69120 bytes
    awk -F, 'NR == 2 { right = ($1 == "posix" && $2 == 3 && $3 == 1.2 && $4 == "" && $5 == "" &&
        $6 == 1.1 && ($7 - 0.2) ^ 2 < 1e-20 && ($8 - 0.3456) ^ 2 < 1e-20) }
        END { exit !right }' tab/writers.csv
}

@test "T_C is fitted as a power of the processors, zeta by where it comes up to 0.10" {
    local n
    results r1 r2 r4
    for n in 1 2 4; do
        change r$n.json '.system.cores_of_nodes = 64 | .system.cores_in_use = $n | .runs[] |= (.t_c_s = 8 / $n
            | .t_t_s = .t_c_s * (if .driver == "none" then 1 else 1 + 0.03 * $n end))
            | .ranking[] |= (.stamps = [] | .paired = {})' --argjson n $n
    done
    page r1.json r2.json r4.json
    expect_file_text r.md 'T\_C scales as P^-1.00'
    expect_file_text r.md "On this system the fitted line reaches 0.10 at 3.3 processors"
    expect_file_text r.md "On the Y-MP the fitted parabola reaches 0.10 at 4.8 processors"
}

@test "values published in 1993 agree with each other but in the two rows that say so" {
    results r1
    page r1.json --csv tab
    python3 - <<'END'
import csv
rows = list(csv.reader(open('tab/published-1993.csv')))[1:]
odd = [r for r in rows if abs(float(r[5]) / float(r[6]) - 1) > 0.003 or abs(float(r[7]) - float(r[8])) > 0.0021]
assert len(rows) == 17 and len(odd) == 2, odd
assert odd == [r for r in rows if 'do not agree' in r[9]], odd
END
}

@test "numbers, sizes, rates and durations are written as people read them" {
    PYTHONPATH=$NHT1_ROOT/runs PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
from nht1 import text
nan = float('nan')
for of, pairs in (
        (text.number, ((0, '0'), (1.2345, '1.23'), (9.996, '10.0'), (99.96, '100'), (12345, '12345'),
                       (1e-5, '1.00e-05'), (2e7, '2.00e+07'), (nan, '-'), (-0.5, '-0.500'))),
        (text.zeta, ((12.45, '12.450'), (-0.005, '-0.005'), (nan, '-'))),
        (text.size, ((512, '512 B'), (42448320, '42.4 MB'), (999.9e6, '1.00 GB'))),
        (text.rate, ((1.25e9, '1.25 GB/s'),)),
        (text.size_iec, ((42448320, '40.5 MiB'), (4096, '4 KiB'), (1 << 20, '1 MiB'))),
        (text.duration, ((250e-9, '250 ns'), (3.42, '3.42 s'), (72, '1 min 12 s'), (59.97, '1 min 0 s'),
                         (7500, '2 h 5 min'), (273600, '3 d 4 h'), (0, '0 s'), (nan, '-'))),
        (text.clean, (('a\rb\x1b[1m\u202ec', 'a b?[1m?c'),)),
        (text.csv_cell, (('=1+1', "'=1+1"), ('-0.5', '-0.5'), ('-x', "'-x"), ('-2+3+cmd|', "'-2+3+cmd|"),
                         ('+1e-3', '+1e-3'), ('+1e', "'+1e"), ('@x', "'@x"), ('\t=1', "' =1"), ('\r-1-1', "' -1-1"),
                         ('-inf', "'-inf"), ('\uff1d1', "'\uff1d1"), ("'=1", "''=1"), ("it's", "it's"), ('null', "'null"),
                         ('nullify', 'nullify'), ('', ''), ('-', "'-"))),
        (text.csv_number, ((5.0, '5'), (0.1, '0.1'), (-2.5, '-2.5'), (nan, ''), (None, ''), (1e300, '1e+300'))),
        (text.markdown, (('<b>|_x_\r', '&lt;b&gt;\\|\\_x\\_ '),))):
    for value, want in pairs:
        assert of(value) == want, (of.__name__, value, of(value), want)
END
}

@test "a figure's script finds its series whatever they are called" {
    slow
    PYTHONPATH=$NHT1_ROOT/runs PYTHONDONTWRITEBYTECODE=1 "$REPORT_PYTHON" - <<'END'
from nht1 import text
from nht1.report import draw, page
names = ['=1+1', "'=1+1", "''@x", '-5', "'-5", "'5", '-2+3+cmd|', 'null', "'null", '  =1', 'a,b', 'it"s', '\uff0b1', "'"]
f = page.Figure('f', 'f')
f.panel('=panel')
for i, name in enumerate(names):
    f.series(name, 'points', [(i, -i)])
with open('f.csv', 'w', encoding='utf-8') as out:
    out.write(f.csv())
read = draw.read('f.csv')
assert {('=panel', text.clean(n)): [(i, -i)] for i, n in enumerate(names)} == \
    {k: [(x, y) for x, y, _, _ in rows] for k, rows in read.items()}, read
END
    run cut -d, -f1,2 f.csv
    if grep -qE '(^|,)"?[=@+-][^0-9,]' <<<"$output"; then false; fi
}

@test "the time of a dump has percentiles per writer, over all dumps of all runs" {
    results r1
    change r1.json '.runs |= [.[] | select(.driver == "posix")][:1]
        | .runs[0].dumps = [range(101) | {step: ., start_s: ., window_s: 1,
            post_s: {min: 0, median: 0, max: (. / 100), mean: 0, slowest_rank: 0, slowest_host: "h"},
            wait_s: {min: 0, median: 0, max: 1, mean: 0, slowest_rank: 0, slowest_host: "h"}}]'
    page r1.json --csv tab
    awk -F, 'NR == 2 { exit !($1 == "posix" && $2 == 101 && ($3 - 1.5) ^ 2 < 1e-12 &&
        ($4 - 1.9) ^ 2 < 1e-12 && ($5 - 1.99) ^ 2 < 1e-12 && $6 == 2) }' tab/dumps.csv
}

@test "without matplotlib the page is complete in tables and says so at the top" {
    results r1 r2
    mkdir matplotlib
    echo 'raise ImportError' >matplotlib/__init__.py
    PYTHONPATH=$PWD run "$NHT1_BIN/nht1-report" r1.json r2.json -o r.html --figures fig
    expect_status 0
    expect_text "python3-matplotlib"
    [ "$(grep -n -m 1 'python3-matplotlib' r.html | cut -d: -f1)" -lt "$(grep -n -m 1 '<nav' r.html | cut -d: -f1)" ]
    expect_file_text r.html 'id="fig2-times"'
    no_text r.html '<svg'
    [ -s fig/fig2-times.csv ]
    [ -s fig/fig2-times.py ]
    [ ! -e fig/fig2-times.svg ]
}

@test "without Jinja2 one line says what to install" {
    results r1
    without_libraries
    run "$NHT1_BIN/nht1-report" r1.json -o r.html
    expect_status 3
    expect_text "python3-jinja2"
    [ "${#lines[@]}" -eq 1 ]
    [ ! -e r.html ]
}

@test "a number that nothing can have measured is refused with file and key, in a folder left out and told" {
    slow
    results r2
    read_back r2.json
    cp r2.json right.json
    local key value
    for key in t_t_s zeta 'read[0].t_r_s' 'read[1].bytes'; do
        for value in 1e308 -1e200 1e100; do
            cp right.json r2.json
            change r2.json ".runs |= map(if .read then .$key = $value else . end)"
            refuse 1 "r2.json: runs[" r2.json
            expect_text ".$key: "
            expect_text "is no number that can have been measured"
        done
    done
    sed 's/"seed": *[0-9]*/"seed": NaN/' right.json >nan.json
    refuse 1 "seed: nan is no number" nan.json
    sed 's/"seed": *[0-9]*/"seed": -1e999/' right.json >inf.json
    refuse 1 "seed: -inf is no number" inf.json
    sed "s/\"seed\": *[0-9]*/\"seed\": 1$(printf '%0350d' 0)/" right.json >long.json
    refuse 1 "seed: inf is no number" long.json
    run nht1-report compare right.json r2.json
    expect_status 1
    expect_text "r2.json: runs["
    mkdir d
    cp right.json r2.json d
    page d
    expect_file_text r.md "Left out: d/r2.json: runs"
    run nht1-report trend d --no-figures -o t.html
    expect_status 0
    # What is too small for any ratio counts as 0, which is unknown.
    change right.json '.runs |= map(if .t_c_s then .t_c_s = 1e-308 else . end)'
    page right.json
}

@test "names out of results are shown, never obeyed" {
    results r2
    change r2.json '.system.host = "</title><script>alert(1)</script>" | .system.cpu.model = "a\"b|c`d\r<script>\u001b[31mred\u202e"
        | .runs[].driver |= (if . == "none" then . else . + "\",\n$(touch owned)`touch owned`<b>_^{x}%s$\\frac$"
            end)
        | .ranking = [] | .runs[].dumps[].post_s.slowest_host = "<img src=x>"
        | .command_line = "--out \"</code><script>\" \r<script>x"
        | .notices += ["<script>x</script>", "\u001b]0;owned\u0007"]'
    run nht1-report --no-figures r2.json -o r.html --figures fig --markdown r.md --csv tab
    expect_status 0
    [[ $output =~ ^1\ result,\ [0-9]+\ runs:\ r.html$ ]] || { echo "$output" && return 1; }
    if grep -qE '<(script|img|b)>|<img' r.html; then false; fi
    # Markdown: neither tags nor lines that break out of a block of code
    if tr '\r' '\n' <r.md | grep -vE '^    ' | grep -qE '<(script|img|b)>|<img'; then false; fi
    if LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae' r.html r.md tab/*.csv fig/*.csv fig/*.py; then false; fi
    # What the names stand in of the drawings.
    (cd fig && "$REPORT_PYTHON" writers.py)
    expect_file_text fig/writers.svg owned
    if grep -qE '<(script|img|b)>|<img' fig/writers.svg; then false; fi
    [ ! -e owned ]
    [ ! -e fig/owned ]
    expect_file_text r.html "&lt;script&gt;x&lt;/script&gt;"
}

@test "a writer's name with % or a leading _ keeps its row in the figure" {
    slow
    results r1
    change r1.json '.runs[].driver |= (if . == "mpiio" then "100%d" elif . == "posix" then "_p" else . end)'
    page r1.json --figures fig
    "$REPORT_PYTHON" fig/writers.py
    expect_file_text fig/writers.svg "100%d"
    expect_file_text fig/writers.svg "_p"
    expect_file_text r.html "100%d"
}

@test "ranks times threads above any machine are a number, too" {
    slow
    results r1
    change r1.json '.system.ranks = 2000000000 | .system.threads = 2000000000'
    page r1.json --csv tab
    grep -q '^4e+18,' tab/processors.csv
    change r1.json '.system.ranks = 1e98 | .system.threads = -5 | .problem.n = 9e18 | .problem.interval = -1'
    page r1.json
}

@test "swept hints, component and environment tell runs apart, and what all have in common is said once" {
    slow
    results h1 h2 r2
    page h1.json h2.json r2.json --csv tab
    grep -q '^"mpiio, hint cb_nodes=1",3,' tab/writers.csv
    grep -q '^"mpiio, hint cb_nodes=2",3,' tab/writers.csv
    no_text r.html '["cb_nodes'
    page h1.json --csv tab
    mkdir a b
    cp r2.json a/result.json
    jq '.job_id = "b"' r2.json >b/result.json
    echo '{"schema": "nht1-study-run/1", "settings": {"env.OMPI_MCA_io": "ompio"}}' >a/run.json
    echo '{"schema": "nht1-study-run/1", "settings": {"env.OMPI_MCA_io": "romio321"}}' >b/run.json
    page a b --csv tab
    grep -q '^"mpiio, OMPI_MCA_io=ompio",3,' tab/writers.csv
    grep -q '^"mpiio, OMPI_MCA_io=romio321",3,' tab/writers.csv
    page a --csv tab
    grep -q '^mpiio,3,' tab/writers.csv
    grep -q 'All runs: .*OMPI\\_MCA\\_io=ompio' r.md
    # The component of those that have one, which other writers have not.
    change r2.json '(.runs[].file | select(.mpiio_component?)).mpiio_component = "romio321"'
    page r2.json --csv tab
    grep -q '^mpiio,3,' tab/writers.csv
    expect_file_text r.md "All runs: MPI-IO by romio321."
    cp r2.json unknown.json
    change unknown.json '(.runs[].file | select(.mpiio_component?)).mpiio_component = "unknown (default)"'
    page r2.json unknown.json --csv tab
    grep -q '^"mpiio, romio321",3,' tab/writers.csv
    grep -q '^mpiio,3,' tab/writers.csv
}

@test "results of two systems: each section, row, legend and line of trend says whose it is, none is averaged" {
    local kind name
    cp "$NHT1_ROOT"/tests/corpus/report/{bt1,beff,beffio,point}.json .
    jq '(.b_eff_io.valid, .partitions[].valid) = true' beffio.json >changed && mv changed beffio.json
    for kind in bt1 beff beffio point; do
        jq '.system.host = "node7" | (.. | objects | (.t_t_s, .t_c_s) | numbers) *= 0.1
            | (.. | objects | (.bytes_per_s, .maximum_bytes_per_s) | numbers) *= 10' $kind.json >x$kind.json
    done
    page ./*.json --csv tab --figures fig
    expect_file_text r.md "# Does I/O keep up? vm and node7, AMD EPYC"
    expect_file_text r.md "On 2 systems, which are kept apart: vm; node7."
    for name in vm node7; do
        grep -qx "Of $name:" r.md # in the verdict
        for kind in "N = 12, class S, 60 steps, a dump every 10, --sync end, mijk" "Communication: .* of 2 processes" \
            "b.*io = .*, definition 1.x"; do
            [ "$(grep -c "^## $kind, $name$" r.md)" -eq 1 ]
        done
        grep -q "^System record of $name$" r.md
        grep -q "^\"AMD EPYC, $name\"" tab/beff.csv
        grep -q "^$name,b_eff" tab/balance.csv
        grep -q "$name, run [12]" fig/beffio-processes.csv
    done
    [[ "$(grep '^## b.*io of systems:' r.md)" == *"B/s, node7 (definition 1.x)"*"; "*"B/s, vm (definition 1.x)"* ]]
    no_text r.md "this system"
    # zeta is that of either alone; each row of problems, and each table as CSV, is of one
    page bt1.json --csv one
    [ "$(tail -n +2 tab/problems.csv | cut -d, -f1 | paste -sd,)" = vm,node7 ]
    cmp <(cut -d, -f7 one/writers.csv | cut -c1-8) <(cut -d, -f7 tab/writers.csv | cut -c1-8)
    cmp <(cut -d, -f7 one/writers.csv | cut -c1-8) <(cut -d, -f7 tab/writers-2.csv | cut -c1-8)
    [ "$(sed 's/.*,//' tab/writers-2.csv | sort -u | paste -sd,)" = node7,system ]
    no_text one/writers.csv ",system"
    run nht1-report trend {,x}bt1.json --no-figures -o t.html --csv tab
    expect_text "6 points in 6 lines"
    grep -q '"posix, node7"' tab/trend-1.csv
    run nht1-report trend {,x}beff.json --metric b_eff --no-figures -o t.html
    expect_text "2 points in 2 lines"
    # one machine, two mounts
    jq '.runs[].file.mount = "/b"' bt1.json >b.json
    page bt1.json b.json
    expect_file_text r.md "On 2 systems, which are kept apart: ext4 at /; ext4 at /b."
    grep -q "file system ext4 at /b" r.md
}

@test "a folder stands for the results in it, whatever else it holds" {
    mkdir -p all/deep all/interrupted
    results r1 r2
    cp r1.json all/interrupted/result.json
    echo '{}' >all/study.json
    mv r1.json all
    mv r2.json all/deep
    echo '{"schema": "nht1-verify/1"}' >all/verify.json
    echo 'not json' >all/broken.json
    echo '{"some": "thing"}' >all/deep/other.json
    ln -s ../.. all/deep/loop
    run page all
    expect_status 0
    expect_text "2 results, "
    expect_text "4 other JSON files"
}

@test "*.json may meet the manifest of a dump, which is passed over" {
    slow
    results r1
    echo '{"schema": "nht1-dump/1"}' >btout.bin.json
    run page ./*.json
    expect_status 0
    expect_text "1 result, "
    expect_text "1 other JSON file passed over"
    run nht1-report btout.bin.json -o none.html
    expect_status 1
    expect_text "btout.bin.json: no result"
    [ ! -e none.html ]
}

@test "a writer that drops the data is the floor of the others, never the fastest" {
    results r1
    change r1.json '.runs[] |= if .driver == "mpiio" then .driver = "null" | .t_t_s = 1e-6
        | .file.file_system = "none" | .file.run_id = null else . end'
    page r1.json --csv tab
    expect_file_text r.md "the fastest writer, posix"
    expect_file_text r.md "null takes the data and drops them"
    expect_file_text tab/writers.csv "drops the data"
    # Neither R_IO nor a rate of writing; three runs have no interval.
    grep -qE "^'null,3,[^,]+,,,([^,]+,){2},,[^0-9]*drops the data" tab/writers.csv
    grep -qE '^posix,3,[^,]+,,,([^,]+,){2}[0-9.]+,[0-9.]+,verified' tab/writers.csv
    [ "$(grep -c '^## N = ' r.md)" = 1 ]
    change r1.json '.runs |= map(select(.driver == "null") | .t_c_s = 1 | .t_t_s = 1.01)'
    page r1.json --csv tab
    expect_file_text r.md "there is nothing to judge"
    no_text r.md "fastest writer, null"
    expect_file_text r.md "zeta = 0.010"
    change r1.json '.runs[].t_t_s = 0.9'
    page r1.json
    expect_file_text r.md "drops them: T\_T = 0.9000 s, less than T\_C"
}

@test "a file per rank is no result of the benchmark, but is not called dropped" {
    results r1
    change r1.json '.runs[] |= if .driver == "mpiio" then .driver = "perrank" | .t_t_s = 1e-6
        | .verified = false | .file.file_system = "none" else . end'
    page r1.json --csv tab
    expect_file_text r.md "the fastest writer, posix"
    expect_file_text tab/writers.csv "not verified, parts of a file"
    no_text tab/writers.csv "drops"
    change r1.json '.runs |= map(select(.driver == "perrank"))'
    page r1.json
    expect_file_text r.md "there is nothing to judge"
}

@test "the verdict is about a problem that was written, whatever else was computed only" {
    results r1 r2
    change r2.json '.problem.n = 24 | .problem.class = "W" | .runs |= map(select(.driver == "none"))'
    page r1.json r2.json
    expect_file_text r.md "Problem N = 12, class S"
    no_text r.md "nothing to judge"
}

@test "as many processors by more ranks or by more threads: the names tell which" {
    slow
    results r2 r4
    change r2.json '.system.threads = 2'
    page r2.json r4.json --csv tab
    expect_file_text tab/writers.csv '"posix, 2 ranks x 2 threads"'
    expect_file_text tab/writers.csv '"posix, 4 ranks x 1 thread"'
    page r4.json --csv tab
    expect_file_text tab/writers.csv "posix,3,"
}

@test "runs that drop the data belong to the file system of their result, in any order" {
    slow
    results r1 r2
    change r1.json '.runs[].file |= (if . then .file_system = "ext4" else . end)'
    cp r1.json x.json
    change x.json '.runs |= map(select(.driver != "none")
        | if .driver == "mpiio" then .driver = "null" | .file.file_system = "none" | .file.run_id = null
            else .file.file_system = "nfs4" end) | .runs |= sort_by(.driver)'
    page r1.json x.json
    [ "$(grep -c '^## N = 12' r.md)" -eq 2 ]
    sed -n '/file system nfs4/,$p' r.md | grep -q '^| null '
    [ "$(sed -n '/file system ext4/,/^## N/p' r.md | grep -c '^| null ')" = 0 ]
}

@test "without T_C there is no number for it" {
    results r2
    change r2.json '.runs |= map(select(.driver != "none") | .t_c_s = null) | .t_c = null'
    page r2.json
    expect_file_text r.md "(T\_C is not known)"
    run grep -iwE "nan|the dashed line" r.md
    expect_status 1
}

@test "systems and tables of 1993 stand beside a problem that they had only" {
    slow
    results r2
    page r2.json
    expect_file_text r.html 'id="fig3-systems"'
    expect_file_text r.html 'id="published"'
    change r2.json '.problem.interval = 5 | .problem.dumps_n = 12'
    page r2.json
    expect_file_text r.md "Figure 3 (systems side by side) needs"
    no_text r.html 'id="fig3-systems"'
    no_text r.html 'id="published"'
}

@test "Figure 1 needs group sizes of one configuration, and is missed once at most" {
    slow
    results r2 g1 g2
    change r2.json '.problem.n = 24 | .problem.class = "W"'
    page r2.json g1.json g2.json
    expect_file_text r.html 'id="fig1-groups'
    no_text r.md "Figure 1 (run time against group size) needs"
    change g1.json '.runs[].decomp = "4x1x1"'
    page r2.json g1.json g2.json
    no_text r.html 'id="fig1-groups'
    [ "$(grep -c 'Figure 1 (run time against group size) needs' r.md)" -eq 1 ]
    change g2.json '.runs[].decomp = "4x1x1"'
    page r2.json g1.json g2.json
    expect_file_text r.html 'id="fig1-groups'
}

@test "one writer has no figure of writers side by side, but its table" {
    slow
    results g1
    page g1.json --figures fig --csv tab
    [ ! -e fig/writers.csv ]
    [ -s tab/writers.csv ]
}

@test "one of a thing is not written as several" {
    slow
    results r1
    page r1.json
    expect_file_text r.md "on 1 processor (1 rank x "
    run grep -E '\b1 (processors|ranks|runs|dumps|results)\b' r.md
    expect_status 1
}

# refuse STATUS TEXT FILE...: one line on stderr with the text, and no report.
refuse() {
    local want=$1 text=$2
    shift 2
    run nht1-report "$@" -o refused.html
    expect_status "$want"
    expect_text "$text"
    [ "${#lines[@]}" -eq 1 ]
    expect_plain
    [ ! -e refused.html ]
}

@test "what is no result is refused with its name and the reason" {
    results r1
    : >empty.json
    echo '[1, 2]' >array.json
    head -c 3000 r1.json >cut.json
    echo '{"answer": 42}' >foreign.json
    echo '{"schema": "nht1-verify/1"}' >verify.json
    echo '{"schema": "\u001b[2J\u202e"}' >escape.json
    echo '{"schema": 7}' >number.json
    truncate -s 2G huge.json
    mkdir none
    head -c 100000 /dev/zero | tr '\0' '[' >deep.json
    printf '{"schema": "nht1-bt/1",\n"a": 1e999}' >infinite.json
    printf '{"schema": "nht1-bt/1", "a": NaN}' >nan.json
    printf '{"a": "\xff"}' >latin.json
    { printf '{"schema": "nht1-bt/1", "a": ' && head -c 5000 /dev/zero | tr '\0' 9 && echo '}'; } >digits.json
    refuse 1 "empty.json:1" r1.json empty.json
    refuse 1 "array.json" array.json
    refuse 1 "cut.json:" cut.json
    refuse 1 "foreign.json: this JSON is not a result" foreign.json
    refuse 1 "verify.json: \"schema\" is \"nht1-verify/1\"" verify.json
    refuse 1 "escape.json" escape.json
    refuse 1 "number.json" number.json
    refuse 1 "huge.json: 2.15 GB" huge.json
    refuse 1 "none: no result" none
    refuse 1 "deep.json" deep.json
    refuse 1 "infinite.json" infinite.json
    refuse 1 "nan.json" nan.json
    refuse 1 "latin.json" latin.json
    refuse 1 "digits.json" digits.json
    refuse 3 "missing.json" missing.json
    refuse 3 "no command: those are compare, stats, trend" statz
    refuse 1 "--frob" r1.json --frob
    refuse 1 "--level" r1.json --level 2
}

@test "members of another type than expected are unknown, nothing more" {
    slow
    local filter number=0
    for filter in '.runs = 7' '.runs = [1, null, "x", []]' '.problem = []' '.system = "x"' \
        '.options = null' '.runs[].dumps = [[], 1]' '.runs[].phases_s = [1]' '.ranking = {}' \
        '.runs[].file = "x"' '.notices = {"a": 1}' '.stamps = [1, {"code": 2}, []]' \
        '.runs[].stamps = "x"' '.command_line = 7' '.runs[].dumps[].post_s = 3' \
        '.system.openmp = [1]' '.started_utc = {}' '.runs[].options = {"hint": 4, "group": "x"}' \
        '.command_line = "--out \"unclosed"'; do
        results r1
        change r1.json "$filter"
        mv r1.json odd-$((++number)).json
    done
    for filter in '.insight = []' '.insight.ring = 7' '.insight.ring[].by_size_bytes_per_s = "x"' \
        '.insight.message_rate = [1, {}]' '.by_size = 3' '.patterns = {}' '.result = []'; do
        results beff
        change beff.json "$filter"
        mv beff.json odd-$((++number)).json
    done
    run pages odd-*.json
    expect_status 0
    [ "$(find . -name 'odd-*.html' | wc -l)" -eq "$number" ]
}

# writes_to_pipe PID: whether it has opened it, which takes a reader.
writes_to_pipe() {
    [ "/proc/$1/fd/1" -ef pipe ]
}

@test "waiting for a pipe that nobody writes to, the program can be ended" {
    local pid writer rc=0
    mkfifo pipe
    "$NHT1_BIN/nht1-report" pipe 3>&- &
    pid=$!
    sleep infinity >pipe 3>&- &
    writer=$!
    wait_until -p "$pid" writes_to_pipe "$writer" || { kill "$writer" && return 1; }
    kill -TERM "$pid"
    wait "$pid" || rc=$?
    kill "$writer"
    [ "$rc" -eq 3 ]
    [ ! -e report.html ]
}

@test "a page for a pipe that nobody reads is refused, one for a pipe with a reader arrives whole" {
    slow
    results r1
    mkfifo pipe
    run timeout -k 60 "$NHT1_HANG_S" nht1-report --no-figures -o pipe r1.json
    [ "$status" -eq 3 ]
    [[ $output == *"no process reads from this pipe: start its reader first"* ]]
    cat pipe >read.html &
    local reader=$!
    wait_until nht1-report --no-figures -o pipe r1.json
    wait "$reader"
    grep -q "</html>" read.html
}

@test "closed standard input and standard error keep no page from being made" {
    slow
    results r1
    run bash -c 'exec "$@" 0<&- 2>&-' report nht1-report --no-figures -o page.html r1.json
    [ "$status" -eq 0 ]
    grep -q "</html>" page.html
    run bash -c 'exec "$@" 0<&- 2>&-' study nht1-study --dry-run writers
    [ "$status" -eq 0 ]
}

@test "no file of others is overwritten by any output, earlier ones of the report are" {
    slow
    results r1
    echo "my thesis" >thesis.html
    refuse_output() {
        run nht1-report --no-figures r1.json "$@"
        expect_status 1
        [ "${#lines[@]}" -eq 1 ]
    }
    refuse_output -o thesis.html
    refuse_output -o r.html --markdown thesis.html
    [ "$(cat thesis.html)" = "my thesis" ]
    echo a,b,c >results.csv
    cp results.csv writers.csv
    echo "plot 1" >phases.py
    refuse_output -o r.html --csv .
    refuse_output -o r.html --figures .
    [ "$(cat results.csv writers.csv phases.py)" = "a,b,c
a,b,c
plot 1" ]
    [ ! -e r.html ]
    page r1.json --csv tab --figures fig
    page r1.json --csv tab --figures fig
    sed -i 's/posix/mine/' tab/writers.csv
    refuse_output -o r.html --csv tab
    expect_text "tab/writers.csv"
    grep -q mine tab/writers.csv
    refuse_output -o r.html --figures r1.json
    refuse_output -o .
    refuse_output -o ""
    refuse_output -o x.html --markdown x.html
    run nht1-report --no-figures r1.json -o no/where.html
    expect_status 3
    run nht1-report --no-figures r1.json -o /dev/stdout
    expect_status 0
    [[ $output == "<!DOCTYPE html>"* ]]
}

@test "a result without the members that came later is read, a newer one as far as known" {
    results r2
    change r2.json 'del(.ranking, .notices, .seed, .t_c, .system.decomp, .problem.dumps_n, .stamps)
        | .runs[] |= del(.cache, .overlap, .resumed, .proof, .implied_rate_bytes_per_s, .stamps,
            .open_s, .phases_s.stop)'
    page r2.json --csv tab
    [ "$(wc -l <tab/writers.csv)" -eq 3 ]
    change r2.json '.schema = "nht1-bt/7" | .surprise = {}'
    page r2.json
    expect_file_text r.html "1 result of a newer version"
}

@test "runs that were wrong or cut short are left out, and that is said" {
    results r2
    change r2.json '.runs[0].proof.state = "wrong" | .runs[1].completed = false'
    page r2.json
    expect_file_text r.md "1 run left out: what was computed or written was wrong"
    expect_file_text r.md "1 run left out: interrupted"
}

@test "dates, versions and jobs of all results are listed" {
    slow
    results r1 r2
    change r1.json '.started_utc = "2026-01-02T03:04:05Z" | .ended_utc = "2026-01-02T03:05:05Z" | .version = "9.8.7"'
    page r1.json r2.json --csv tab
    grep -q '^r1.json,nht1-bt/1,9.8.7,2026-01-02T03:04:05Z,2026-01-02T03:05:05Z,' tab/results.csv
    expect_file_text r.html "2026-01-02T03:04:05Z"
}

@test "the command to measure again keeps its quotes and leaves the name of its result out" {
    results r1
    change r1.json '.command_line = "--out \"my dump.bin\" --json \"my results.json\" --repeat 3"'
    page r1.json
    grep -qF -- "nht1-bt --out 'my dump.bin' --repeat 3" r.md
}

@test "b_eff: the published table flags where the paper contradicts itself; message rate, rings and other ways stand beside" {
    slow
    results beff
    page beff.json --csv tab
    grep '^NEC SX-4/32.*,8,5766,' tab/beff.csv | grep -q '641.*721'
    [ "$(grep -c 'paper prints' tab/beff.csv)" -eq 1 ]
    # outside of the value: what HPCC prints, the message rate, other ways
    [ "$(wc -l <tab/beff-rings.csv)" -eq 2 ]
    [ "$(wc -l <tab/beff-ways.csv)" -eq 4 ]
    paste -d, <(sed 1d tab/beff-message-rate.csv) <(jq '.insight.message_rate[].messages_per_s' beff.json) |
        awk -F, '($(NF - 2) * 1e6 / $NF - 1) ^ 2 > 1e-20 { bad = 1 } END { exit bad || NR != 4 }'
    local figure
    for figure in beff-sizes beff-methods beff-patterns; do
        expect_file_text r.html "id=\"$figure\""
    done
}

@test "b_eff: a trial is called one, and its marks are hollow; a valid one is called b_eff" {
    slow
    results beff
    change beff.json '.result.valid = false'
    page beff.json --figures fig
    expect_file_text r.html "Communication: trial of b_eff, not valid, of "
    no_text r.html "Communication: b_eff of"
    local figure
    for figure in sizes methods patterns; do
        grep -q "hollow'" fig/beff-$figure.py
        [ "$(grep -c "'points'\|'line-points'" fig/beff-$figure.py)" -eq 0 ]
    done
    nht1-report trend beff.json --metric b_eff -o t.html --figures trend
    grep -q "'line-hollow'" trend/trend-1.py
    change beff.json '.result.valid = true'
    page beff.json --figures fig
    expect_file_text r.html "Communication: b_eff of "
    no_text r.html "trial of b_eff"
    for figure in sizes methods patterns; do
        [ "$(grep -c "hollow'" fig/beff-$figure.py)" -eq 0 ]
    done
}

@test "b_eff_io: the largest of all runs is the value of the system, over processes, T and systems" {
    slow
    results beffio
    change beffio.json '.b_eff_io.bytes_per_s = 5e8 | .b_eff_io.maximum_bytes_per_s = 9e8 | .schedule.partition_s = 60'
    cp beffio.json x.json
    change x.json '.b_eff_io.bytes_per_s = 6e8 | .b_eff_io.maximum_bytes_per_s = 7e8 | .schedule.partition_s = 120'
    # what is not valid is not called that of the system, and its marks are hollow
    page beffio.json x.json --csv tab --figures fig
    no_text r.html "b_eff_io of this system:"
    no_text r.html "value of this system"
    expect_file_text r.html "b_eff_io: no valid result"
    expect_file_text r.html "Trial of b_eff_io, not valid: value = "
    grep -q "'line-hollow'" fig/beffio-processes.py
    [ "$(grep -c "'line-points'" fig/beffio-processes.py)" -eq 0 ]
    # in every figure of its values, nowhere under the name of this system
    local figure
    for figure in fig/beffio-{processes,times,partitions,types,chunks-1,chunks-2}; do
        [ "$(grep -c "'points'\|'line-points'" <(grep -v "'published'\|'IBM\|'Cray\|'Hitachi\|'NEC" $figure.py))" -eq 0 ] || { echo $figure && return 1; }
    done
    [ "$(cat fig/beffio-*.csv tab/beffio-*.csv | grep -c 'this system')" -eq 0 ]
    # the larger one is a trial; of the valid one the largest of its repetitions counts
    change x.json '.b_eff_io.valid = true | .partitions[].valid = true'
    page beffio.json x.json --csv tab --figures fig
    expect_file_text r.html "b_eff_io of this system: 700 MB/s (definition 1.x)"
    no_text r.html "b_eff_io of this system: 900 MB/s"
    grep -q "'line-points'" fig/beffio-processes.py
    grep -q "'line-hollow'" fig/beffio-processes.py
    # a panel for each definition
    [ "$(cut -d, -f1 fig/beffio-published.csv | sort -u | grep -c definition)" -ge 2 ]
    [ "$(cut -d, -f1 fig/beffio-partitions.csv | sort -u | grep -c '^"\?definition')" -eq 3 ]
    expect_file_text r.html "ot cache-honest: each access moved"
    local figure
    for figure in beffio-processes beffio-times beffio-published beffio-partitions beffio-types; do
        [ -s fig/$figure.csv ]
    done
    grep -q '^"\?IBM RS 6000/SP, LLNL"\?,128,10,0.5,311' tab/beffio-systems.csv
    grep -q '^"\?IBM RS 6000/SP, LLNL"\?,128,30,1.x,63' tab/beffio-systems.csv
}

@test "a profile shows zeta, calls, sizes and a timeline" {
    cat >p.json <<'END'
{"schema": "nht1-profile/1", "version": "1", "command": ["mpirun", "/opt/app", "a b"], "command_status": 0,
 "options": {"out": "p.xml", "json": "p.json", "accesses": null, "force": false, "t_c": true, "t_c_add": ["-v", "x y"], "repeat": "8", "minutes": 0},
 "stamps": [{"code": "disturbed", "severity": "warn", "numbers": {}, "sentence": "STAMP"}],
 "profile": {"ranks_n": 2, "wall_s": 10, "inside_mean_s": 1, "inside_any_s": 2.25, "inside_max_s": 2, "inside_max_rank": 1,
  "read_bytes": 0, "written_bytes": 4000000, "outside_read_bytes": 0, "outside_written_bytes": 500, "reads_n": 0, "writes_n": 4,
  "not_seen": [{"what": "direct", "program": "app", "name": "3", "sentence": "app has written 3 bytes by system calls of its own"}],
  "points": [{"file": "<b>", "begin_s": 1, "functions": {"write_at_all": {"n": 4, "bytes": 4000000, "total_s": 2, "max_s": 1}},
    "sizes": [{"from_bytes": 524288, "reads_n": 0, "writes_n": 4}]}],
  "timeline": {"bin_s": 5, "read_bytes": [0, 0], "written_bytes": [4000000, 0], "inside_share": [0.2, 0]},
  "ranks": [{"rank": 0, "host": "h", "state": "finished", "wall_s": 10, "inside_s": 0.5}, {"rank": 1, "host": "h", "state": "finished", "wall_s": 10, "inside_s": 2}]},
 "zeta": {"t_t_s": 10, "t_c_s": 8, "zeta": 0.25, "zeta_io": 0.125, "zeta_ci95_lo": null, "zeta_ci95_hi": null}}
END
    page p.json --csv tab --figures fig
    grep -q '^10,8,0.25,,,0.125$' tab/profile-zeta.csv
    grep -q '^<b>,1,write_at_all,4,4000000,2,1,2$' tab/profile-functions.csv
    sed -n 2p tab/profile-ranks.csv | grep -q '^1,h,2,10,'
    grep -q '^bytes,written,2.5,0.8,,$' fig/profile-timeline.csv
    expect_file_text fig/profile-sizes.csv writes
    expect_file_text r.md "500 B of it written and 0 B read before"
    expect_file_text r.md '**Care:** Not seen: app has written 3 bytes by system calls of its own.'
    expect_file_text r.md STAMP
    expect_file_text r.md "mean over ranks; most: 2.00 s, rank 1; at least one of them: 2.25 s"
    no_text r.html '<b>'
    no_text r.md "thread"
    no_text r.md "Verdict" # a heading with nothing below it
    no_text r.html 'href="#verdict"'
    jq '.profile.inside_max_any_s = 1.5' p.json >threads.json
    nht1-report threads.json -o threads.md
    expect_file_text threads.md "1.00 s of all threads together inside I/O (mean over ranks; most: 2.00 s, rank 1, with at least one thread inside 1.50 s; at least one"
    # as it was started: no launcher of its own
    grep -qFx -- "    nht1-profile --out=p.xml --t-c --t-c-add=-v '--t-c-add=x y' --repeat=8 -- mpirun /opt/app 'a b'" r.md
    no_text r.md "mpirun -np"
}

@test "a heat map shows bytes over time and processes, of a program without MPI, in page, files and table" {
    slow
    nht1-profile --json p.json -- bash -c 'head -c 3000000 /dev/zero >a; head -c 1000000 a >b' 2>log || { cat log && return 1; }
    expect_json p.json '.profile | .written_bytes == 4000000
        and ([.timeline.by_rank.rows[].written_bytes[]] | add) == .written_bytes
        and ([.timeline.by_rank.rows[].read_bytes[]] | add) == .read_bytes'
    nht1-report p.json -o r.html --figures fig
    grep -q '^written,process [0-9]*,' fig/profile-heat-map.csv
    expect_file_text r.html 'aria-label="Reading and writing over time and processes: written"'
    expect_file_text r.html 'data:image/png;base64'
    rm fig/profile-heat-map.png
    "$REPORT_PYTHON" fig/profile-heat-map.py
    [ -s fig/profile-heat-map.png ]
}

@test "summaries (.sum) of other programs stand beside results; those of this suite do, too, when they are named" {
    results beffio
    cp "$BATS_FILE_TMPDIR/beffio.sum" .
    echo ' b_eff =    5500.123 MB/s =   91.7 *   60 PEs with  256 MB/PE on OTHER SYSTEM' >other.sum
    echo 'no summary' >x.sum
    page beffio.sum other.sum --csv tab
    grep -q '^OTHER SYSTEM,60,5500.123,' tab/beff.csv
    [ "$(grep -c ',beffio.sum$' tab/beffio-systems.csv)" -eq 2 ]
    expect_file_text r.html "other.sum: line 2, column 1: there is no row"
    mkdir all
    cp ./*.sum beffio.json all
    page all --csv tab2
    grep -q '^OTHER SYSTEM,60,5500.123,' tab2/beff.csv
    no_text tab2/beffio-systems.csv "beffio.sum"
    refuse 1 "x.sum" x.sum
    cp other.sum other.prot
    refuse 1 "name the JSON or the summary" other.prot
}

@test "old summaries and new results stand side by side, per type and chunk size" {
    slow
    results beffio
    cp "$NHT1_ROOT/tests/samples/b_eff_io-2.1.sum" old.sum
    page old.sum beffio.json --csv tab --figures fig
    [ "$(grep -c '^\(write\|rewrite\|read\),' tab/beffio-beside-2.csv)" -eq 123 ]
    local want
    want=$(jq '[.partitions[] | select(.procs == 2)][0].accesses[2].types[3].patterns[] | select(.position == 5) | .bytes_per_s / 1e6' beffio.json)
    awk -F, -v want="$want" '$1 == "read" && $2 == "segmented" && $3 == "1M" { a = $4; b = $5 }
        END { exit !((a - want) ^ 2 < 1e-6 && b == 32.808) }' tab/beffio-beside-2.csv
    [ "$(cut -d, -f1 fig/beffio-beside-2-read.csv | sort -u | wc -l)" -eq 6 ]
    cp "$NHT1_ROOT/tests/samples/b_eff-3.6.sum" .
    page b_eff-3.6.sum --csv tab3
    grep -q ',4,1604.772,401.193,4.194304,696,2417,604.25,782.25,2.698,2.886,2.868,b_eff-3.6.sum$' tab3/beff.csv
    # compared: the value decides, the patterns stand below it; one value on a side is too few
    run "$NHT1_BIN/nht1-report" compare old.sum beffio.json --json c.json
    expect_status 1
    expect_json c.json '[.metrics[].name] | (.[0] | startswith("b_eff_io"))
        and index("read segmented 1M, 2 processes") > 0'
    sed 's/249.304/259.304/' old.sum >odd.sum
    expect_json c.json '.reasons | any(test("the definition is 2.1 in A, 1.x in B")) and any(test("old.sum is not valid by its own definition; --nevertheless"))'
    # b_eff likewise: quantities of a summary and of a result, if they are of one kind
    results beff
    change beff.json '.definition = "3.6" | .system.ranks = 4 | .memory.lmax_bytes = 4194304 | .result.at_lmax.rings_bytes_per_s = 6258e6'
    run "$NHT1_BIN/nht1-report" compare b_eff-3.6.sum beff.json --json c.json
    expect_json c.json '(.metrics[] | select(.name == "rings at L_max, 4 processes") | .ratio - 2 | fabs) < 1e-9
        and all(.reasons[]; test("the definition|L_max|processes") | not)'
    change beff.json '.definition = "paper" | .memory.lmax_bytes = 1048576'
    run "$NHT1_BIN/nht1-report" compare b_eff-3.6.sum beff.json
    expect_text "b_eff: the definition is 3.6 in A, paper in B"
    expect_text "b_eff: L_max is 4194304 bytes in A, 1048576 in B"
    change beff.json '.system.ranks = 5'
    run "$NHT1_BIN/nht1-report" compare b_eff-3.6.sum beff.json
    expect_text "A and B have no values of one program with as many processes"
    run "$NHT1_BIN/nht1-report" compare odd.sum old.sum
    expect_text "Note: A, odd.sum: line 66, column 43: the average of read is 259.304 here"
}

@test "summaries of this suite in a folder count where there is no JSON; those that are not valid are compared nevertheless only" {
    slow
    results beffio
    mkdir a b
    for i in 1 2 3 4; do
        { cat "$BATS_FILE_TMPDIR/beffio.sum" && echo "job $i"; } >a/$i.sum
        sed 's/on Linux/on LINUX/' a/$i.sum >b/$i.sum
    done
    run "$NHT1_BIN/nht1-report" compare a b
    expect_status 1
    expect_text "A: a/1.sum is not valid by its own definition; --nevertheless compares it"
    run "$NHT1_BIN/nht1-report" compare a b --nevertheless
    expect_status 0
    expect_text "B is the same as A"
    # beside its JSON a summary says nothing more
    cp beffio.json a
    page a --csv tab
    no_text tab/beffio-systems.csv ".sum"
}

@test "panels that show the same series share one key" {
    slow
    cp "$NHT1_ROOT/tests/samples/b_eff_io-2.1.sum" old.sum
    sed 's/vm/other/' old.sum >new.sum
    nht1-report old.sum new.sum -o r.html --figures fig
    # five panels: every file is named once in the drawing and, below the panels, once in the page
    [ "$(grep -o '>old.sum<' fig/beffio-beside-2-read.svg | wc -l)" -eq 1 ]
    awk '/<figure id="beffio-beside-2-read"/ { inside = 1 } /<figcaption/ { inside = 0 } inside { n += gsub(/>old.sum</, ""); key += /panel-key/ }
        END { exit !(n == 1 && key == 1) }' r.html
    [ -z "$(grep -oE ' id="[^"]*"' r.html | sort | uniq -d)" ]
    # of panels that differ, each has its own
    awk '/<figure id="beffio-processes"/ { inside = 1 } /<figcaption/ { inside = 0 } inside { key += /panel-key/ } END { exit key != 0 }' r.html
    [ "$(grep -o '>published<' fig/beffio-processes.svg | wc -l)" -ge 2 ]
}

@test "b_eff_io over processes: more than 8 runs are two series, valid ones and trials" {
    slow
    results beffio
    local i
    for i in 1 2 3 4 5 6 7 8; do jq -c ".job_id = \"$i\" | (.b_eff_io.valid, .partitions[].valid) = $([ "$i" -le 5 ] && echo true || echo false)" beffio.json >r$i.json; done
    rm beffio.json
    page . --csv tab --figures fig
    [ "$(grep -o 'this system, run [1-8]' fig/beffio-processes.csv | sort -u | wc -l)" -eq 5 ]
    [ "$(grep -o 'trial, not valid, run [1-8]' fig/beffio-processes.csv | sort -u | wc -l)" -eq 3 ]
    jq '.job_id = "9"' r8.json >r9.json
    page . --csv tab --figures fig
    [ "$(grep -c ', run' fig/beffio-processes.csv)" -eq 0 ]
    # a point for each partition of each run
    local partitions
    partitions=$(jq '[.partitions[].values[] | select(.headline)] | length' r1.json)
    [ "$(grep -c 'this system,[0-9]' fig/beffio-processes.csv)" -eq $((5 * partitions)) ]
    [ "$(grep -c 'trial, not valid' fig/beffio-processes.csv)" -eq $((4 * partitions)) ]
    grep -q "'hollow'" fig/beffio-processes.py
    # beside many results a summary keeps its curve
    cp "$NHT1_ROOT/tests/samples/b_eff_io-2.1.sum" old.sum
    page . --figures fig
    grep -q 'old.sum' fig/beffio-beside-2-read.csv
    grep -q 'run 7' fig/beffio-beside-2-read.csv
    [ "$(grep -c "run 8" fig/beffio-beside-2-read.csv)" -eq 0 ]
}

@test "buffers that begin elsewhere: ratios of the patterns, of the runs of the same round" {
    slow
    results beffio
    local i
    for i in 1 2 3 4 5 6 7; do
        mkdir -p s/p01-r0$i s/p02-r0$i
        jq -c '.job_id = "'$i'"' beffio.json >s/p01-r0$i/result.json
        jq -c '.job_id = "'$i'" | .b_eff_io.buffer_offset_bytes = [16, 16]
            | (.partitions[].accesses[].types[].patterns[] | select(.position == 5) | .bytes_per_s) /= 2' beffio.json >s/p02-r0$i/result.json
        echo '{"schema": "nht1-study-run/1", "run": '$i', "settings": {}}' | tee s/p01-r0$i/run.json >s/p02-r0$i/run.json
    done
    page s --csv tab --figures fig
    awk -F, '$4 == 7 { want = $3 == "1M" ? 0.5 : 1; n++; for (i = 5; i <= 7; i++) if (($i - want) ^ 2 > 1e-18) { print; bad = 1 } }
        END { exit bad || n != 123 }' tab/beffio-alignment-2-1x-16.csv
    [ "$(cut -d, -f1 fig/beffio-alignment-2-1x-16.csv | sort -u | wc -l)" -eq 4 ]
}

@test "trend draws a metric over time and versions" {
    local i
    for i in 1 2 3; do
        results r2
        change r2.json ".started_utc = \"2026-01-0${i}T00:00:00Z\" | .version = \"0.$i\""
        mv r2.json t$i.json
    done
    run nht1-report trend ./*.json -o t.html --csv tab --figures fig
    expect_status 0
    [[ $output =~ ([0-9]+)\ points\ in\ ([0-9]+)\ lines ]]
    [ "${BASH_REMATCH[1]}" -eq $((3 * BASH_REMATCH[2])) ]
    [ "$(wc -l <tab/trend-1.csv)" -eq $((BASH_REMATCH[1] + 1)) ]
    grep -q '^2026-01-02 00:00:00,0.2,posix,' tab/trend-1.csv
    [ -s fig/trend-1.png ]
    run nht1-report trend ./*.json --metric R_IO --no-figures -o r.html
    expect_status 0
    run nht1-report trend t1.json --metric b_eff -o x.html
    expect_status 1
    [ ! -e x.html ]
}

@test "trend of b_eff and b_eff_io: another definition, partition or offset of buffers is another curve" {
    slow
    local i=0 other
    results beffio beff
    for other in . '.b_eff_io.definition = "2.1"' '.schedule.partitions += [9]' '.b_eff_io.buffer_offset_bytes = [16, 32]' .; do
        jq --arg i $((++i)) ".job_id = \$i | $other" beffio.json >t$i.json
    done
    run nht1-report trend t?.json --metric b_eff_io --no-figures -o t.html --csv tab
    expect_status 0
    expect_text "5 points in 4 lines"
    for other in "partitions of [0-9, ]*9 processes, definition 1.x, buffers 0 bytes off a page" "definition 2.1" "buffers 16 to 32 bytes off"; do
        grep -q "$other" tab/trend-1.csv
    done
    cp beff.json u.json
    change u.json '.buffer_offset_bytes = [8, 8]'
    run nht1-report trend beff.json u.json --metric b_eff --no-figures -o t.html --csv tab
    expect_status 0
    expect_text "2 points in 2 lines"
    grep -q "buffers 8 bytes off a page" tab/trend-1.csv
}

@test "the axis of trend has two to six ticks, the first of each day with its date, however short or long the time" {
    slow
    PYTHONPATH=$NHT1_ROOT/runs PYTHONDONTWRITEBYTECODE=1 "$REPORT_PYTHON" - <<'END'
import random, re
from nht1.report import draw
rng = random.Random(1)
spans = [0, 1, 2, 60, 3600, 86400, 1e10] + [10 ** rng.uniform(-3, 10) for _ in range(2000)]
for span in spans:
    start = rng.choice((1.7e9, 1.767265e9, -6e10)) + rng.uniform(0, 1e6)
    ticks, low, high = draw.time_ticks(start, start + span)
    assert low < start and start + span < high
    assert 2 <= len(ticks) <= 6, (span, ticks)
    assert all(low <= at <= high for at, _ in ticks), (span, ticks)
    day, seen = '', set()
    for _, label in ticks:
        found = re.fullmatch(r'(\d\d:\d\d(:\d\d)?)?\n?(-?\d+-\d\d-\d\d)?', label)
        assert found and (found[3] or day) and found[3] != day, ticks
        day = found[3] or day
        seen.add((day, found[1]))
    assert len(seen) == len(ticks), ticks
ticks, _, _ = draw.time_ticks(1767264901, 1767264903)
assert [label for _, label in ticks] == ['10:55:00\n2026-01-01', '10:55:01', '10:55:02', '10:55:03', '10:55:04'], ticks
END
    local i
    results r2
    for i in 1 2; do
        jq ".started_utc = \"2026-01-01T10:55:0${i}Z\"" r2.json >t$i.json
    done
    nht1-report trend t1.json t2.json -o t.html --figures fig
    expect_file_text fig/trend-1.svg 2026-01-01
    expect_file_text fig/trend-1.svg 10:55:01
}

browser() {
    command -v chromium || command -v chromium-browser || command -v google-chrome
}

browse() {
    timeout "$NHT1_HANG_S" "$(browser)" --headless --no-sandbox --disable-gpu --disable-sync --no-first-run \
        --disable-background-networking --disable-component-update --user-data-dir="$PWD/profile" "$@"
}

@test "a browser finds no broken image, asks the network for nothing and meets no error" {
    browser || large "no chromium (make setup-full)"
    drawn
    cp r.html "$BATS_TEST_TMPDIR/good.html"
    cd "$BATS_TEST_TMPDIR"
    printf '<!DOCTYPE html><img src="http://127.0.0.1:9/x.png"><script>nothing()</script>' >bad.html
    local page
    for page in good bad; do
        browse --enable-logging=stderr --log-net-log="$PWD/$page.net" --dump-dom \
            "file://$PWD/$page.html" >$page.dom 2>$page.log
        # What the browser asks its maker for is none of the page's.
        grep -oE '"url":"(https?|wss?|ftp):[^"]*' $page.net |
            grep -vE '://[a-z0-9.-]*(google|googleapis)\.com/' >$page.asked || true
    done
    [ -s bad.asked ]
    grep -q CONSOLE bad.log
    [ ! -s good.asked ] || { cat good.asked && return 1; }
    if grep CONSOLE good.log; then false; fi
    [ "$(grep -c "<svg" good.dom)" -eq "$(grep -c "<svg" good.html)" ]
    [ "$(grep -c '<img' good.dom)" -eq 0 ]
    expect_file_text good.dom "Made by nht1-report"
}

@test "the report prints without losing a column" {
    slow
    browser || large "no chromium (make setup-full)"
    need_large pdftotext
    results r2 beff
    page r2.json beff.json
    browse --print-to-pdf=r.pdf --no-pdf-header-footer "file://$PWD/r.html" 2>log
    pdftotext -layout r.pdf r.txt
    tr -s ' \n-' ' ' <r.txt >words.txt
    # notes stand in the last columns
    expect_file_text words.txt "extrapolated from 25 steps"
    grep -qE 'do not agree' words.txt
    expect_file_text words.txt "721"
}

@test "the page obeys a dark scheme, and is no wider than a telephone" {
    slow
    browser || large "no chromium (make setup-full)"
    drawn
    cp r.html "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR"
    # The width that the page takes in a frame of 390 pixels.
    cat >frame.html <<'END'
<!DOCTYPE html><body><iframe id=f src="r.html" width=390 height=800></iframe><script>
onload = () => { const d = f.contentDocument.documentElement;
  document.title = 'width ' + d.scrollWidth; }</script>
END
    browse --allow-file-access-from-files --dump-dom "file://$PWD/frame.html" >dom 2>log
    grep -oE '<title>width [0-9]+' dom | awk '{ exit !($2 > 200 && $2 <= 390) }'
    browse --blink-settings=preferredColorScheme=0 --hide-scrollbars --window-size=600,600 \
        --screenshot="$PWD/dark.png" "file://$PWD/r.html" 2>log
    browse --hide-scrollbars --window-size=600,600 --screenshot="$PWD/light.png" \
        "file://$PWD/r.html" 2>log
    "$REPORT_PYTHON" - <<'END'
from matplotlib import image
dark, light = (image.imread(n + '.png')[5, 5, :3].mean() for n in ('dark', 'light'))
assert dark < 0.3 and light > 0.9, (dark, light)
END
}

@test "stats prints what a script needs" {
    run nht1-report stats --level 0.95 10 20 30 32 40 1000
    expect_status 0
    echo "$output" >s.json
    jq -e '.n == 6 and .median == 31 and .ci_lo == 10 and .ci_hi == 1000 and .outliers == 1' s.json
    nht1-report stats --level 0.95 10 20 30 40 1000 | jq -e '.ci_lo == null' # five have no such interval
}

# of_table FILE WRITER COLUMN: a cell of a table by the writer's row and the heading.
of_table() {
    python3 - "$@" <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline='')))
print(next(r for r in rows if r['writer'] == sys.argv[2])[sys.argv[3]])
END
}

# near VALUE EXPECTED [SHARE]: within 1 %.
near() {
    awk -v a="$1" -v b="$2" -v e="${3:-0.01}" 'BEGIN { exit !(a != "" && (a - b) ^ 2 <= (e * b) ^ 2) }' && return 0
    echo "$1 is not $2"
    return 1
}

@test "dumps read back stand beside writing: cold, warm and in another decomposition" {
    slow
    results r2
    page r2.json
    no_text r.md "Reading back"
    cp r2.json plain.json
    read_back r2.json
    page r2.json --csv tab --figures fig
    expect_file_text r.md 'without the flush at the end'
    # Writers by name: mpiio reads in 0.2 s, posix in 0.6; a dump of N = 12 has 69120 bytes.
    near "$(of_table tab/reading.csv mpiio 'T_R cold, in s')" 0.2 0.02
    near "$(of_table tab/reading.csv mpiio 'T_R warm, in s')" 0.02 0.02
    near "$(of_table tab/reading.csv posix 'T_R cold, as 1x1x2, in s')" 0.9 0.02
    near "$(of_table tab/reading.csv posix 'a dump costs, in s')" \
        "$(jq '[.runs[] | select(.driver == "posix") | .in_io_s / 6] | sort | .[1]' r2.json)"
    near "$(awk -F, '$1 == "posix" && $2 == "warm" { print $7 }' tab/readings.csv)" 1.152 0.02
    [ "$(grep -c '^posix,' tab/readings.csv)" -eq 3 ]
    grep -qE '^cold: not in memory before,read,[01],0[.]34' fig/reading.csv
    grep -qE '^warm: in memory before,read,[01],3[.]4' fig/reading.csv
    grep -q '^cold: not in memory before,written,1,' fig/reading.csv
    "$REPORT_PYTHON" "$NHT1_ROOT/tests/report_labels.py" fig reading
    # What a run reads has no part in what it repeats: with or without, it is the same writer.
    page r2.json plain.json --csv both
    [ "$(of_table both/writers.csv posix runs)" = 6 ]
    [ "$(of_table both/reading.csv posix runs)" = 6 ]
}

@test "what nht1-bt has read back is what the report shows" {
    slow
    mpi_run 1 nht1-bt --class S --io posix --tc 1 --out d.bin --read last --read-cache cold,warm --quiet --json b.json ||
        [ $? -eq 4 ]
    page b.json --mtbf 24 --csv tab
    near "$(of_table tab/reading.csv posix 'T_R cold, in s')" "$(jq '.runs[0].read[0].t_r_s' b.json)"
    near "$(of_table tab/reading.csv posix 'T_R warm, in s')" "$(jq '.runs[0].read[1].t_r_s' b.json)"
    [ "$(grep -c '^posix,' tab/readings.csv)" -eq 2 ]
}

@test "readings that found wrong data are left out, those that met memory are marked" {
    results r2
    read_back r2.json
    change r2.json '.runs |= map(if .driver == "posix" then .read[0].digest_ok = false
        elif .driver == "mpiio" then del(.read[2]) | .read[0] |= (.cached_bytes_before = .bytes | .stamps = [{code: "read-cached",
            severity: "warn", numbers: {}, sentence: "STAMP-READ"}]) else . end)
        | def disturbed($severity; $sentence): [{code: "disturbed", severity: $severity, numbers: {}, sentence: $sentence}];
        (first(.runs[] | select(.driver == "posix")).read[] | select(.cache == "warm").stamps) = disturbed("warn"; "STAMP-ONE")
        | (first(.runs[] | select(.driver == "mpiio")).read[] | select(.cache == "warm").stamps) = disturbed("warn"; "STAMP-SOME.")
        | .system.ranks as $ranks | (.ranking[] | select(.driver == "posix").read) = [{cache: "warm", decomp: "own", own_decomp: true,
            ranks: $ranks, answer: "undecided", stamps: ([{code: "undecided", severity: "note", numbers: {}, sentence: "STAMP-ANSWER"}]
                + disturbed("note"; "In 1 of 3 rounds. STAMP-ONE"))}]'
    page r2.json --csv tab
    expect_file_text r.md "3 readings left out"
    [ "$(grep -c '^posix,' tab/readings.csv)" -eq 2 ]
    [ "$(grep -cE '^mpiio,cold,.*,100,in memory(,|$)' tab/readings.csv)" -eq 1 ]
    [ "$(grep -c 'STAMP-READ' r.md)" -eq 1 ]
    # what is true of some rounds is said as the program says it over all, and of readings with their number
    grep -qF '**Note:** posix: In 1 of 3 rounds. STAMP-ONE' r.md
    grep -qF '**Care:** mpiio: STAMP-SOME (1 of 3 readings)' r.md
    [ "$(grep -c 'STAMP-\(ONE\|SOME\|ANSWER\)' r.md)" -eq 2 ]
    page r2.json --mtbf 24
    expect_file_text r.md "T\\_R of mpiio is that of memory"
    # not of all of them: those from the device are the measurement
    change r2.json '[.runs[] | select(.driver == "mpiio")][0].round as $first
        | .runs |= map(if .driver == "mpiio" and .round != $first then .read[0].stamps = [] else . end)'
    page r2.json --csv tab --mtbf 24
    [ "$(grep -cE '^mpiio,cold,2,.*,1 reading left out: in memory(,|$)' tab/readings.csv)" -eq 1 ]
    if grep -q 'is that of memory' r.md; then false; fi
}

@test "of several dumps in a row T_R is that of one" {
    slow
    results r2
    read_back r2.json
    change r2.json '.runs |= map(if .read then .read |= map(.t_r_s *= 6 | .bytes *= 6
        | .dumps = [range(6) as $i | .dumps[0]]) else . end)'
    page r2.json --csv tab
    near "$(of_table tab/reading.csv mpiio 'T_R cold, 6 dumps, in s')" 0.2 0.02
}

@test "the best interval: Daly's examples, Young where dumps are short, and the shares of a simulated machine" {
    PYTHONPATH=$NHT1_ROOT/runs PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
import math, random
from nht1 import checkpoint as c

# [Daly], figures 3 to 5: a dump takes 5 minutes
for mtbf_min, best_min in (24 * 60, 117), (6 * 60, 57), (15, 9.1):
    assert abs(c.daly(5, mtbf_min) / best_min - 1) < 0.006, (mtbf_min, c.daly(5, mtbf_min))
for mtbf_s in 1, 1e3, 1e9:
    dump_s = 1e-8 * mtbf_s
    assert abs(c.daly(dump_s, mtbf_s) / c.young(dump_s, mtbf_s) - 1) < 1e-4
    assert abs(c.young(dump_s, mtbf_s) ** 2 / (2 * dump_s * mtbf_s) - 1) < 1e-12
    lost = sum(c.loss(c.daly(dump_s, mtbf_s), dump_s, dump_s, mtbf_s))
    assert abs(lost / math.sqrt(2e-8) - 1) < 1e-3
assert c.daly(2, 1) == c.daly(50, 1) == 1

# The complete model, as it stands in the paper, and its minimum by a scan.
def wall(tau, delta, r, m):
    return m * math.exp(r / m) * (math.exp((tau + delta) / m) - 1) / tau
for delta, r, m, off in (5, 10, 1440, 0.002), (5, 10, 100, 0.002), (1, 0, 2, 0.02), (3, 1, 2, 0.08):
    scan = [m * 10 ** (-3 + i / 500) for i in range(1750)]
    best = min(scan, key=lambda tau: wall(tau, delta, r, m))
    daly = c.daly(delta, m)
    assert abs(daly / best - 1) < off + 0.005, (daly, best)
    assert wall(daly, delta, r, m) < wall(best, delta, r, m) * (1 + 0.01)
    for tau in best, daly, 3 * best:
        loss = c.loss(tau, delta, r, m)
        assert abs(1 - sum(loss) - 1 / wall(tau, delta, r, m)) < 1e-12
        assert min(loss) >= 0
# Nothing overflows where nothing gets done.
assert sum(c.loss(1e9, 1e9, 1e9, 1e-3)) == 1

# A machine that fails at random.
random.seed(1)
tau, delta, r, m = 30.0, 5.0, 10.0, 50.0
spent = [0.0] * 4  # computing, dumps, lost work, restarts
for _ in range(40000):
    while (fails := random.expovariate(1 / m)) < tau + delta:
        spent[2] += fails
        while (fails := random.expovariate(1 / m)) < r:
            spent[3] += fails
        spent[3] += r
    spent[0] += tau
    spent[1] += delta
shares = [s / sum(spent) for s in spent]
for share, expected in zip(shares[1:], c.loss(tau, delta, r, m)):
    assert abs(share / expected - 1) < 0.02, (shares, c.loss(tau, delta, r, m))
END
}

@test "--mtbf: the interval of each writer in seconds and steps, what is lost, a figure over the MTBF" {
    slow
    results r2
    read_back r2.json
    change r2.json '.runs |= map(.in_io_s = (if .driver == "posix" then 60 else 6 end))'
    change r2.json '.runs |= map(.t_c_s = 12 | if .driver == "none" then .t_t_s = 12 else . end)'
    page r2.json --mtbf 24,0.5 --downtime 100 --csv tab --figures fig
    # posix: a dump costs 10 s; a step is 0.2 s; M = 1800 s: Young 189.7, Daly 183.1, a row each
    [ "$(grep -c '^posix,' tab/cycle.csv)" -eq 2 ]
    near "$(of_table tab/cycle.csv posix 'a dump costs, in s')" 10
    near "$(of_table tab/cycle.csv posix 'interval [Young], in s')" 189.737 1e-5
    near "$(of_table tab/cycle.csv posix '[Daly], in s')" 183.130 1e-4
    [ "$(of_table tab/cycle.csv posix 'in steps')" = 916 ]
    near "$(of_table tab/cycle.csv posix 'lost, %')" \
        "$(awk 'BEGIN { m = 1800; print 100 * (1 - 183.130 / m * exp(-100.6 / m) / (exp(193.130 / m) - 1)) }')" 1e-3
    near "$(of_table tab/cycle.csv posix restarts)" \
        "$(awk 'BEGIN { print 100 * (1 - exp(-100.6 / 1800)) }')" 1e-3
    # the curves pass through the rows of the table
    awk -F, -v l="$(of_table tab/cycle.csv posix 'lost, %')" '$1 == "time lost" && $2 == "posix" &&
        $3 > 0.499 && $3 < 0.501 { n++; if (($4 / l - 1) ^ 2 > 1e-10) exit 1 } END { exit n != 1 }' fig/cycle.csv
    awk -F, '$1 == "best interval" && $2 == "mpiio" { n++; if ($4 <= y) exit 1; y = $4 } END { exit n < 50 }' fig/cycle.csv
    "$REPORT_PYTHON" "$NHT1_ROOT/tests/report_labels.py" fig cycle
    expect_file_text r.md "mpiio"
}

@test "--mtbf: what is missing is named, with the run that measures it" {
    slow
    results r2
    page r2.json --mtbf 24 --csv tab
    expect_file_text r.md "T\\_R is not known of"
    expect_file_text r.md "--read last"
    [ -n "$(of_table tab/cycle.csv posix '[Daly], in s')" ]
    [ -z "$(of_table tab/cycle.csv posix 'lost, %')" ]
    change r2.json 'del(.t_c) | .runs |= map(select(.driver != "none") | .t_c_s = null)'
    read_back r2.json
    page r2.json --mtbf 24 --csv tab
    expect_file_text r.md "--tc measure"
    [ -z "$(of_table tab/cycle.csv posix 'in steps')" ]
    [ -n "$(of_table tab/cycle.csv posix 'lost, %')" ]
    change r2.json '.runs |= map(if .driver == "posix" then del(.in_io_s) else . end)'
    page r2.json --mtbf 24 --csv tab
    expect_file_text r.md "What a dump costs is not known of posix"
    # Numbers that no run has break nothing.
    change r2.json '.runs |= map(.in_io_s = 1e98 | .t_c_s = 1e-320 | if .read then .read |= map(.t_r_s = 1e-320
        | .bytes = 1e98 | .requests_n = 1e98) else . end)'
    page r2.json --mtbf 1e-4,1e8 --csv tab
    expect_file_text r.md "What a dump costs is not known of"
    change r2.json '.runs |= map(.in_io_s = 1e9 | if .read then .read |= map(.t_r_s = 1e98) else . end)'
    page r2.json --mtbf 1e-4,1e8 --downtime 1e9 --csv tab
    near "$(of_table tab/cycle.csv posix 'lost, %')" 100
    expect_file_text r.md "nearly all time is lost"
}

@test "--mtbf: what is no time between failures is refused" {
    results r2
    refuse 1 "argument --mtbf: 'x': hours from" --mtbf 24,x r2.json
    refuse 1 "argument --downtime" --mtbf 24 --downtime=-1 r2.json
    refuse 1 "--downtime: it is part of a restart" --downtime 60 r2.json
    PYTHONPATH=$NHT1_ROOT/runs PYTHONDONTWRITEBYTECODE=1 python3 - 2>errors <<'END'
from nht1 import command
from nht1.report import cycle
parser = command.Parser(prog='nht1-report')
cycle.options(parser)
assert parser.parse_args(['--mtbf', '24,6,6,0.5']).mtbf == [0.5, 6, 24]
for option, values in (('--mtbf', ('0', '-1', 'nan', 'inf', '1e-9', '1e300', '', '24,', ',24', '6 12', '24h',
                                   '1,2,3,4,5,6,7,8,9')), ('--downtime', ('nan', 'inf', 'x', ''))):
    for wrong in values:
        try:
            parser.parse_args(['%s=%s' % (option, wrong)])
        except SystemExit as e:
            assert e.code == 1, wrong
        else:
            raise AssertionError(wrong)
END
    [ "$(wc -l <errors)" -eq 16 ]
    change r2.json '.runs |= map(select(.driver == "none"))'
    refuse 1 "no run of nht1-bt there has written a dump" --mtbf 24 r2.json
    page r2.json
}

@test "a search: the setting found, every candidate with its interval, the rungs, what mattered, what was left out" {
    slow
    results r2
    searched r2.json
    nht1-report r2.json -o r.html --markdown r.md --figures fig --csv tab
    expect_file_text r.md "    mpirun -np 2 nht1-bt --class S --io posix --buffer 1Mi"
    expect_file_text r.md "mpiio takes 1.20 (1.10 to 1.30) times as long."
    expect_file_text r.md "Cannot be told apart from it: posix --buffer 2Mi."
    expect_file_text r.md "**Note:** The time was used up before the search had settled"
    expect_file_text r.md "| uring | not permitted |"
    expect_file_text r.md "    romio_cb_write enable"
    [ "$(grep -n -m 1 '^## The best way' r.md | cut -d: -f1)" -lt "$(grep -n -m 1 '^## N = 12' r.md | cut -d: -f1)" ]
    [ "$(wc -l <tab/search-candidates.csv)" -eq 13 ]
    grep -q '^posix --buffer 12Mi,.*failed: no space left$' tab/search-candidates.csv
    [ "$(cut -d, -f2,6 tab/search-rungs.csv | tr '\n' ' ')" = "candidates,note 12, 4,the best so far against the others and the default writers " ]
    expect_file_text r.md "T\\_T = 0.5000 s for 60 steps, 6 dumps (median of 5 rounds); zeta = 0.083"
    [ "$(sed -n 2p tab/search-effects.csv)" = "posix,'--direct,yes,no,0.9,0.85,0.95,6" ]
    # of 12 candidates one has no time; the interval of each is drawn
    [ "$(grep -c . fig/search.csv)" -eq 12 ]
    grep -q '^,left out after rung 1,' fig/search.csv
    grep -q '^,slower in the last rung,3,1.075,1.045,1.105$' fig/search.csv
    "$REPORT_PYTHON" "$NHT1_ROOT/tests/report_labels.py" fig search search-effects
    expect_file_text r.html "hint a=&lt;b&gt;&amp;c"
}

@test "a choice that was known, several searches, nonsense in a search" {
    slow
    results r2
    searched r2.json
    cp r2.json a.json
    change r2.json '.search |= (.ended = "known" | .known = {utc: "2026-11-01T00:00:00Z", age_s: 1} | .candidates = [] | .rungs = []
        | .effects = [])'
    page r2.json a.json
    expect_file_text r.md "This was found by an earlier search, on 2026-11-01T00:00:00Z"
    [ "$(grep -c '^### Search: ' r.md)" -eq 2 ]
    local wrong
    for wrong in 'null' '[]' '{best: 1}' '{best: {label: "x"}, candidates: [1, {}, {ratio: -1}, {ratio: "x", state: 5}], rungs: {}}' \
        '{best: {label: "x", hints: [{text: 1}], against: [3]}, candidates: [{ratio: 1e98, state: "new"}, {ratio: 1e-300, rung: -7}],
          effects: [{ratio: 2}, {}], known: 3, rungs: [{}], left_out: "x"}'; do
        change a.json ".search = $wrong"
        page a.json
    done
}

@test "the verdict of runs/study tune leads, the winners of the searches stand side by side" {
    results r2
    mkdir t
    cp r2.json t
    jq -n '{schema: "nht1-tune/1", ended: "settled", settings: {}, searches: [{component: "ompio", trouble: "it crashed"}],
        best: {name: "mpiio (romio321)", label: "mpiio", component: "romio321", command: "OMPI_MCA_io=romio321 mpirun x", t_t_s: 1,
            against: [], hints: [], tied: []},
        final: {rounds: 7, steps: 50, ways: [{name: "mpiio (romio321)", runs: 7, median_s: 1, ratio: 1, state: "best"},
            {name: "posix", runs: 7, median_s: 1.1, ratio: 1.1, lo: 1.05, hi: 1.2, state: "beaten"}]},
        check: {best: "posix", candidates_n: 30, same: false, rounds: 7, ratio: 1.01, lo: 0.98, hi: 1.04}}' >t/tune.json
    page t
    expect_file_text r.md "    OMPI_MCA_io=romio321 mpirun x"
    expect_file_text r.md "| posix | 7 | 1.10 | 1.10 | 1.05 | 1.20 | slower |"
    expect_file_text r.md "**Good:** Check of the search: its choice takes 1.01 (0.980 to 1.04) times as long as posix"
    expect_file_text r.md "**Care:** ompio: it crashed"
    expect_file_text r.md "Their runs had 50 steps"
    expect_file_text r.md "    export OMPI_MCA_io=romio321"
}
