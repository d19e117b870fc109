#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# runs/study: sweeps, repetitions, limits, what is kept and what is never written over. The programs
# are stand-ins, so that a study takes a second.

load helpers
load study_lib

setup() {
    begin_study
}

# points EXPECTED...: the settings that --dry-run shows, one word per point, "a/b" for two columns.
points() {
    local got
    study --dry-run x.ini
    expect_status 0 || return 1
    got=$(awk '/^p[0-9]/ { w = $2; for (i = 3; i <= NF - 4; i++) w = w "/" $i; printf "%s ", w }' <<<"$output")
    [ "$got" = "$* " ] || { echo "points: $got" && return 1; }
}

@test "the sweep is the product of the lists, ranges and arithmetic included" {
    description x.ini <<<$'[run]\nprogram = sim\nranks = 1 2\nvalue = 5 7..9'
    points 1/5 1/7 1/8 1/9 2/5 2/7 2/8 2/9
    description x.ini <<<$'[run]\nprogram = sim\nranks = 1 4 {2 * 2}\nvalue = {10 * ranks} {max(ranks, 20)}'
    points 1/10 1/20 4/40 4/20
    description x.ini <<<$'[run]\nprogram = sim\nranks = {cores}\nvalue = {cores + nodes} 0'
    study --dry-run x.ini --cores 31
    expect_text " 32 "
}

@test "a condition leaves combinations out, sections are added up, common keys are shared" {
    description x.ini <<<$'[common]\nprogram = sim\nvalue = 1 2\n[run a]\nranks = 1..3
when = ranks + value <= 3 and not (ranks == 1 and value == 1)\n[run b]\nvalue = 9\nranks = 8'
    points a/1/2 a/2/1 b/9/8
    description x.ini <<<$'[run]\nprogram = sim\ntag = x y "x z"\nranks = 1 2\nwhen = tag in ("x", "x z") and ranks > 1'
    points x "x/z"
}

@test "options reach the program: - leaves one out, flags are yes and no, env. sets a variable" {
    REPEATS=1 description x.ini <<<$'[run]\nprogram = sim\ntag = - a\nflag = no yes\nenv.NHT1_X = 5\nenv.NHT1_Y = -'
    study x.ini --under out
    expect_status 0
    for expected in '[]' '["--flag"]' '["--tag","a"]' '["--tag","a","--flag"]'; do
        jq -se --argjson e "$expected" 'any(.[]; (.command | .[(index("--bind-to") + 3):-2]) == $e)' \
            out/x/runs/*/run.json >/dev/null || { cat out/x/runs/*/run.json && return 1; }
    done
    jq -se 'all(.[]; .environment.NHT1_X == "5" and (.environment | has("NHT1_Y") | not) and .environment.OMP_NUM_THREADS == "1")' out/x/runs/*/run.json
}

@test "--set changes a key, and says so when there is no such section" {
    slow
    description x.ini <<<$'[run a]\nprogram = sim\nranks = 1 2'
    study --dry-run x.ini --set a.ranks='3 4 5'
    [ "$(grep -c '^p0' <<<"$output")" -eq 3 ]
    study --dry-run x.ini --set b.ranks=1
    expect_status 1
    expect_text "no [b]"
    study --dry-run x.ini --set ranks
    expect_status 1
    expect_text "SECTION.KEY=VALUE"
}

@test "every run keeps command, environment and raw result; study and summary fit their schemas" {
    description x.ini <<<$'[run]\nprogram = sim\nranks = 1 2'
    study x.ini --under out
    expect_status 0
    expect_text "took [s]"
    expect_text "1 of 4  "
    expect_text "4 of 4  "
    [ "$(find out/x/runs -mindepth 1 -maxdepth 1 | wc -l)" -eq 4 ]
    for run in out/x/runs/*; do
        [ "$(find "$run" -type f -printf '%f ')" ]
        [ -e "$run/result.json" ]
        [ -e "$run/stderr" ]
        expect_schema nht1-study-run-1 "$run/run.json"
    done
    expect_schema nht1-study-1 out/x/study.json
    expect_schema nht1-study-summary-1 out/x/summary.json
    cmp x.ini out/x/study.ini
    jq -e '.finished and .status == 0 and (.points | length == 2)
        and all(.points[]; .series[0].n == 2)' out/x/summary.json
    [ "$(head -n 1 out/x/summary.csv)" = \
        "point,section,ranks,threads,label,metric,unit,state,runs,median,ci_lo,ci_hi,best,outliers" ]
    grep -qx 'p02,run,2,1,,took_s,s,enough runs,2,1,,,1,0' out/x/summary.csv
    grep -qE '^p02-r01,p02,run,2,1,1,20[0-9T:-]*Z,[0-9.]+,0,,took_s,s,1,1$' out/x/runs.csv
    # What --set changes later is recorded, too.
    study x.ini --out out/x --set study.repeats=3
    expect_status 0
    expect_text "6 of 6  "
    expect_json out/x/study.json '.set == []'
    expect_json out/x/summary.json '.set == ["study.repeats=3"] and all(.points[]; .series[0].n == 3)'
    # So do keys of a section that change no run.
    study x.ini --out out/x --set run.repeats=4 --set run.estimate_s=1 --set run.better=high
    expect_status 0
    expect_json out/x/summary.json 'all(.points[]; .series[0].n == 4 and .settings.better == "high")'
    # Of a rate, by its name or by better, the best is the highest.
    sed -i 's/took_s/moved_per_s/' bin/sim x.ini
    study x.ini --under rates --set run.noise=1
    expect_json rates/x/summary.json '[.points[].series[0].values | length > 1 and max > min] | all'
    python3 - <<'END'
import csv, json
best = [float(row['best']) for row in csv.DictReader(open('rates/x/summary.csv'))]
most = [max(p['series'][0]['values']) for p in json.load(open('rates/x/summary.json'))['points']]
assert len(best) == 2 and all(abs(b / m - 1) < 1e-3 for b, m in zip(best, most)), (best, most)
END
    sed -i 's/^program/better = higher\n&/' x.ini
    study x.ini --under wrong
    expect_status 1
    expect_text "'higher' is not understood: low or high"
    sed -i '/^better/d; s/moved_per_s/took_s/' bin/sim x.ini
    # What was measured counts where fewer are asked for.
    study x.ini --out out/x --set study.repeats=2
    expect_json out/x/summary.json 'all(.points[]; .series[0].n == 4)'
}

@test "a point is repeated until its interval is narrow, or there were enough runs" {
    slow
    REPEATS=3..8 description x.ini <<<$'[run]\nprogram = sim\nnoise = 0 0.5'
    study x.ini --under out
    expect_status 0
    [ "$(jq -c '[.points[] | [.state, (.runs | length)]]' out/x/summary.json)" = \
        '[["narrow",6],["enough runs",8]]' ] # no interval of 95 % before
    expect_text "1 of 2 points ended early with a narrow interval: such intervals are right less often than in 95 % of cases"
    REPEATS=6 description x.ini <<<$'[run]\nprogram = sim'
    study x.ini --out fixed
    expect_status 0
    expect_no_text "ended early"
}

# bt_that [OPTION...]: an nht1-bt that has these options, too. What it does stands on stdin: $json and $io are what these
# options say, $read all that is said of reading back.
bt_that() {
    {
        cat <<END
#!/bin/bash
io=none read=
while [ \$# -gt 0 ]; do
    case \$1 in
    --help) printf '  --%s  words\n' 'json FILE' 'out FILE' 'progress WHEN' 'io NAMES'$([ $# -eq 0 ] || printf " '%s'" "$@") && exit 0 ;;
    --version) echo nht1-bt 1 && exit 0 ;;
    --json) json=\$2 ;;
    --io) io=\$2 ;;
    --read | --read-cache | --read-decomp) read+="\$1=\$2 " ;;
    esac
    shift
done
END
        cat
    } >bin/nht1-bt
    chmod +x bin/nht1-bt
}

@test "a compute-only point is run in each round in which a point that is compared with it is" {
    slow
    bt_that <<'END'
echo start >>"$SIM_FOLDER/starts"
time=1
[ "$io" != posix ] || time=$(wc -l <"$SIM_FOLDER/starts") # never the same
jq -n --arg io "$io" --argjson time "$time" '{runs: [{driver: $io, t_t_s: $time}]}' >"$json"
END
    REPEATS=6..8 description x.ini <<<$'[common]\nprogram = nht1-bt\n[run computing]\nio = none\nranks = 1 2
[run writing]\nio = posix token\nranks = 1'
    study --no-plan --out out x.ini
    expect_status 0
    expect_text "28 of 28  "
    [ "$(jq -c '[.points[].runs | length]' out/summary.json)" = '[8,6,8,6]' ]
}

# keeping_bt: an nht1-bt whose T_T are known: 1 s without writing, with a writer as many more as a line of ./cost.WRITER says, of
# which data are nine tenths; a line for each run, the last for all that follow. A second word: whether it was disturbed.
keeping_bt() {
    bt_that 'read WHICH' <<'END'
echo "$io" >>"$SIM_FOLDER/starts"
n=$(grep -cx -e "$io" "$SIM_FOLDER/starts")
cost=0 disturbed=false fs=ext4
[ "$io" = none ] || read -r cost disturbed < <(sed -n "$n p; \$ p" "$SIM_FOLDER/cost.$io" | head -n 1)
[ "$io" != null ] || fs=none
jq -n --arg io "$io" --argjson cost "$cost" --argjson disturbed "${disturbed:-false}" --arg fs "$fs" '{schema: "nht1-bt/1",
    problem: {n: 64, steps: 200, dt: 0.0008, interval: 5}, system: {ranks: 1, threads: 1, nodes: 1, cores_in_use: 1}, options: {},
    stamps: [], ranking: [], runs: [{driver: $io, round: 1, t_t_s: (1 + $cost), t_c_s: 1, zeta: $cost, computing_s: 1,
        data_s: (0.9 * $cost), bookkeeping_s: (0.1 * $cost), file: (if $io == "none" then {} else {file_system: $fs} end),
        stamps: [], norms: {ok: true}, completed: true, verified: true,
        disturbance: {disturbed: $disturbed, processors_shared: false}}]}' >"$json"
END
}

# With 64 rounds at most the first look is at 8, and eight on one side of the goal decide; with 10 it is at 6.
@test "repeats = auto: rounds go on until it is decided whether writing keeps up, and it is said why they ended" {
    slow
    keeping_bt
    echo 0.05 >cost.posix
    echo 0.3 >cost.token
    seq 10 | awk '{ print $1 % 2 ? 0.08 : 0.12 }' >cost.serial
    echo 0.5 >cost.null
    REPEATS=auto description x.ini <<<$'[common]\nprogram = nht1-bt\n[run computing]\nio = none
[run writing]\nio = posix token null\n[run open]\nio = serial\nrepeats = auto..10'
    study --no-plan --no-report --out out x.ini
    expect_status 0
    expect_text 'rounds until it is decided whether writing keeps up, 64 at most'
    expect_text 'posix: decided after 8 rounds: balanced'
    expect_text 'token: decided after 8 rounds: io too slow'
    expect_text 'ended     1 of 3 points undecided: no more rounds were to be made'
    [ "$(jq -c '.points[] | [.settings.io, .state, (.runs | length), .series[0].answer]' out/summary.json)" = \
        '["none","enough runs",10,null]
["posix","decided",8,"balanced"]
["token","decided",8,"io-too-slow"]
["null","narrow",8,null]
["serial","undecided",10,"undecided"]' ]
    jq -e .finished out/summary.json
    expect_schema nht1-study-summary-1 out/summary.json
    expect_schema nht1-study-run-1 out/runs/p02-r01/run.json
    [ "$(jq .rounds_max out/runs/p02-r01/run.json)" = 64 ]
    grep -qE 'balance$' out/summary.txt
    grep -qE 'posix .* balanced$' out/summary.txt
    # A number stays a number, and is judged with one look at it.
    study --no-plan --no-report --out fixed --set study.repeats=1 --set open.repeats=1 x.ini
    [ "$(jq -c '[.points[] | [.state, (.runs | length)]] | unique' fixed/summary.json)" = '[["enough runs",1]]' ]
    expect_json fixed/runs/p02-r01/run.json '.rounds_given == 1 and (has("rounds_max") | not)'
    if grep -q balance fixed/summary.txt; then false; fi
}

@test "repeats = auto: a disturbance lets rounds go on, the time ends them, and more of it continues them to the same runs" {
    slow
    keeping_bt
    { seq 4 && echo; } | sed 's/.*/0.05 true/; $ s/true/false/' >cost.posix
    description x.ini <<<$'minutes = 10\n[common]\nprogram = nht1-bt\n[run computing]\nio = none\n[run writing]\nio = posix'
    sed -i '/^repeats/d' x.ini # it is the default
    sed -i '1a printf "%60s" "" >>"$NHT1_CLOCK"' bin/nht1-bt
    study --no-plan --no-report --out out x.ini
    expect_status 5 # too few rounds for any answer
    expect_text 'ended     1 of 1 points undecided: the time is over'
    jq -e '(.finished | not) and .why == "time" and .points[1].state == "undecided"' out/summary.json
    study --no-plan --no-report --out out --minutes 100 x.ini
    expect_status 0
    expect_text 'posix: decided after 11 rounds: balanced' # at the look at 8, half of them were disturbed
    expect_text 'ended     every point is decided, 1 of 1'
    set_of out >interrupted
    rm starts
    study --no-plan --no-report --out whole --minutes 100 x.ini
    set_of whole | cmp - interrupted
}

@test "repeats = auto: what is compared with nothing is run until its interval is narrow, and a wrong number is refused" {
    slow
    REPEATS=auto description x.ini <<<$'[run]\nprogram = sim\nnoise = 0 0.5'
    study x.ini --no-report --under out
    expect_status 0
    expect_text 'runs of each, until the interval is within 5 % of the median'
    [ "$(jq -c '[.points[] | [.state, (.runs | length)]]' out/x/summary.json)" = '[["narrow",6],["enough runs",10]]' ]
    for wrong in auto..5 auto..501 3..auto auto8; do
        REPEATS=$wrong description x.ini <<<$'[run]\nprogram = sim'
        study --dry-run x.ini
        expect_status 1
        expect_text '[study] repeats'
    done
}

@test "zeta is over the best T_C of the study, not over what each run knew of it" {
    bt_that <<'END'
echo start >>"$SIM_FOLDER/starts"
t_c=$(($(wc -l <"$SIM_FOLDER/starts") == 1 ? 4 : 1)) # the first run knows a worse one
jq -n --argjson t_c $t_c '{problem: {n: 64, steps: 200, dt: 0.0008},
    system: {nodes: 1, cores_in_use: 2}, runs: [{driver: "token", t_t_s: 2, t_c_s: $t_c,
    zeta: (2 / $t_c - 1), r_io_bytes_per_s: 1e6}]}' >"$json"
END
    description x.ini <<<$'[run]\nprogram = nht1-bt\nio = token'
    study --no-plan --out out x.ini
    expect_status 0
    run awk 'NR == 2 { print $(NF - 1) }' out/summary.txt # before R_IO
    [ "$output" = 1.000 ]
}

@test "the paired zeta stands beside zeta over T_C, which may be stored and of a quieter hour" {
    bt_that <<'END'
echo start >>"$SIM_FOLDER/$io"
slow=$((2 * $(wc -l <"$SIM_FOLDER/$io"))) # each round slower than the one before, and than the T_C that is known
jq -n --arg io "$io" --argjson slow $slow '{schema: "nht1-bt/1", problem: {n: 64, steps: 200, dt: 0.0008},
    system: {ranks: 1, threads: 1, nodes: 1, cores_in_use: 1}, options: {}, stamps: [], ranking: [],
    runs: [{driver: $io, round: 1, t_c_s: 1, t_t_s: ($slow * (if $io == "none" then 1 else 1.25 end)), norms: {ok: true},
        zeta: (if $io == "none" then null else 0 end), r_io_bytes_per_s: 1e6, completed: true, verified: true, file: {file_system: "ext4"}, stamps: []}]}' >"$json"
END
    REPEATS=3 description x.ini <<<$'[run]\nprogram = nht1-bt\nio = none posix'
    study --no-plan --no-report --out out x.ini
    expect_status 0
    run python3 -c 'import csv
for r in csv.DictReader(open("out/summary.csv")):
    print(r["label"], r["zeta"] or "-", r["zeta_paired"] or "-")'
    [ "$output" = $'none - -\nposix 4 0.25' ]
    grep -q 'zeta  paired zeta  R_IO' out/summary.txt
}

@test "dumps that were read back have their T_R beside T_T, where there are any" {
    slow
    bt_that 'read WHICH' 'read-cache HOW' 'read-decomp DECOMP' <<'END'
echo "$io $read" >>"$SIM_FOLDER/starts"
jq -n --arg io $io --arg read "$read" 'def of($cache; $own; $t): {cache: $cache, own_decomp: $own, decomp: "1x2x1", ranks: 1,
        t_r_s: $t, bytes: 8, digest_ok: true, dumps: [{}]};
    {problem: {n: 64, steps: 200, dt: 0.0008}, system: {ranks: 1}, runs: [{driver: $io, t_t_s: 2, r_io_bytes_per_s: 1e6}
        | if $read == "" then . else .read = [of("cold"; true; 0.25), of("warm"; true; 0.125), of("cold"; false; 0.5)] end]}' >"$json"
END
    REPEATS=1 description x.ini <<<$'[common]\nprogram = nht1-bt\n[run a]\nio = token
[run b]\nio = posix\nread = last\nread-cache = cold,warm\nread-decomp = own,1x2x1'
    study --no-plan --out out x.ini
    expect_status 0
    grep -qF 'posix --read=last --read-cache=cold,warm --read-decomp=own,1x2x1' starts
    run python3 -c 'import csv
for r in csv.DictReader(open("out/summary.csv")):
    print(r["io"], r["t_r_cold_s"] or "-", r["t_r_warm_s"] or "-", r["t_r_cold_other_s"] or "-")'
    [ "$output" = $'token - - -\nposix 0.25 0.125 0.5' ]
    grep -q 'T_R cold s.*T_R cold, other s.*T_R warm s' out/summary.txt
    study --no-plan --out out2 --set b.read=- --set b.read-cache=- --set b.read-decomp=- x.ini
    expect_status 0
    if grep -q T_R out2/summary.txt; then false; fi
    if grep -q t_r_ out2/summary.csv; then false; fi
}

# writers_bt: an nht1-bt that runs each writer of --io; the first start measures T_C beside them, 0.5 s.
writers_bt() {
    bt_that 'group N' <<'END'
echo "$io" >>"$SIM_FOLDER/starts"
[ "$io" != broken ] || exit 3
[ "$(wc -l <"$SIM_FOLDER/starts")" -gt 1 ] || [ "$io" = none ] || io+=,none
jq -n --arg io "$io" '{runs: [$io / "," | .[] | if . == "none" then {driver: ., t_t_s: 0.5}
    else {driver: ., t_t_s: 2, zeta: 3, r_io_bytes_per_s: (if . == "null" then null else 1e6 end)} end]}' >"$json"
END
}

@test "a run without writing is never taken for one with it: table, progress, repetitions" {
    writers_bt
    REPEATS=3..9 description x.ini <<<$'order = written\n[common]\nprogram = nht1-bt\n[run writing]\nio = token
group = 2 4\n[run computing]\nio = none'
    study --no-plan --out out x.ini
    expect_status 0
    grep -q ' token 2.000 s (computing alone 0.5000 s)' <<<"$output"
    [ "$(grep -c 'p01-r.*token 2.000 s' <<<"$output")" -eq 6 ] # T_C, which the first run alone has, holds nothing up
    [ "$(grep -c 'computing alone' <<<"$output")" -eq 1 ]
    grep -q ' none 0.5000 s' <<<"$output"
    [ "$(awk '{ print $1, $2, $3, $4, $5 }' out/summary.txt)" = "section group writer runs t_t
writing 2 token 6 2.000
writing 2 none 1 0.5000
writing 4 token 6 2.000
computing - none 6 0.5000" ]
    # Several writers in one point, as in make run.
    rm starts
    REPEATS=1 description x.ini <<<$'order = written\n[common]\nprogram = nht1-bt\n[run]\nio = serial,mpiio\n[run auto]\nio = posix'
    study --no-plan --out out2 x.ini
    expect_status 0
    [ "$(awk '{ print $1, $2, $3, $4 }' out2/summary.txt | sort)" = "$(sort <<<"section writer runs t_t
auto posix 1 2.000
run mpiio 1 2.000
run none 1 0.5000
run serial 1 2.000")" ]
}

@test "CSV of a study: one table in a file, numbers alone, texts that are no formula" {
    writers_bt
    # What io says, tells the rows apart; null is no missing value.
    REPEATS=2 description x.ini <<<$'[common]\nprogram = nht1-bt\n[run -2+3+cmd|]\nio = null token broken "=1+1"
[run other]\nprogram = sim\nvalue = 5\ntag = - @x -7 1e5'
    study --no-plan --out out x.ini
    expect_status 3 # broken
    python3 - <<'END'
import csv
NUMBERS = {'summary.csv': 'runs median ci_lo ci_hi best outliers zeta r_io_bytes_per_s value',
           'runs.csv': 'number wall_s status n value setting.value'}
for name, numbers in NUMBERS.items():
    with open('out/' + name, newline='') as f:
        lines = list(csv.reader(f))
    assert all(len(line) == len(lines[0]) for line in lines), name
    assert len(set(lines[0])) == len(lines[0]), lines[0]
    with open('out/' + name, newline='') as f:
        rows = list(csv.DictReader(f))
    for row in rows:
        for column in numbers.split():
            assert row[column] == '' or float(row[column]) >= 0, (name, column, row)
        for cell in row.values():
            try:
                float(cell)
            except ValueError:
                assert cell[:1] not in tuple('=+-@\t\r'), row
                assert cell not in ('null', 'None', 'NA', 'nan'), row
    by = {}
    for row in rows:
        by.setdefault((row['io'], row['tag']), []).append(row)
    assert {"'null", 'token', 'broken', "'=1+1"} == {io for io, tag in by if io}, by.keys()
    assert {"'@x", '-7', '1e5', ''} == {tag for io, tag in by if not io}, by.keys()
    if name == 'summary.csv':
        assert by['broken', ''][0]['state'] == 'failed' and by['broken', ''][0]['runs'] == '0'
        assert by["'null", ''][0]['r_io_bytes_per_s'] == '' and by["'null", ''][0]['median'] == '2'
        assert by['token', ''][0]['r_io_bytes_per_s'] == '1000000'
        assert by['', '-7'][0]['unit'] == 's'
    else:
        assert [r['status'] for r in by['broken', '']] == ['3', '3'] and by['broken', ''][0]['value'] == ''
        assert [r['run'] for r in by['', '-7']][0].endswith('-r01')
        assert by['token', ''][0]['section'] == "'-2+3+cmd|"
END
}

@test "a result that nothing can have measured fails its run; one that was changed later is named" {
    cat >bin/odd <<'END'
#!/bin/bash
case $1 in --help) printf '  --%s  words\n' 'value X' 'json FILE' && exit 0 ;; --version) echo odd 1 && exit 0 ;; esac
echo "{\"a\": [{\"took_s\": $2}]}" >"$4"
END
    chmod +x bin/odd
    REPEATS=3 description x.ini <<<$'[run]\nprogram = odd\nmetric = a[].took_s\nvalue = 1 1e308'
    study --launcher none --out out x.ini
    expect_status 3
    expect_text "result.json: a[0].took_s: 1e+308 is no number that can have been measured"
    grep -q '^p01,.*,3,1,,,1,0$' out/summary.csv
    echo '{"a": [{"took_s": -1e200}]}' >out/runs/p01-r02/result.json
    study --launcher none --out out x.ini
    expect_status 1
    expect_text "out/runs/p01-r02/result.json: a[0].took_s: -1e+200 is no number"
    expect_text "move the folder of this run away"
}

@test "without nht1-stats a study says what to do, and runs nothing" {
    rm bin/nht1-stats
    description x.ini <<<$'[run]\nprogram = sim'
    PATH=$PWD/bin:/usr/bin:/bin study x.ini --under out
    expect_status 3
    expect_text "nht1-stats is not there"
    [ ! -e out ]
}

@test "the order is random, follows from the seed, and the seed is recorded" {
    REPEATS=1 description x.ini <<<$'[run]\nprogram = sim\nvalue = 1..8'
    for out in a b; do
        rm -f starts
        study x.ini --out $out
        grep -o 'value [0-9]' starts >order.$out
    done
    cmp order.a order.b
    if sort -c order.a 2>/dev/null; then false; fi
    rm starts
    study x.ini --out c --set study.seed=8
    grep -o 'value [0-9]' starts >order.c
    if cmp -s order.a order.c; then false; fi
    [ "$(jq .seed c/study.json)" -eq 8 ]
}

@test "killed with -9 in the middle, a study goes on to the same set of runs" {
    slow
    REPEATS=2..4 description x.ini <<<$'[run]\nprogram = sim\nvalue = 1..3\nnoise = 0.1'
    study x.ini --out whole
    rm starts && touch hold.3
    "$NHT1_ROOT/runs/study" x.ini --out cut >/dev/null 2>&1 3>&- &
    wait_until -p $! sims 3
    kill -9 $!
    wait $! || true
    wait_until no_sim
    rm hold.3
    (cd cut/runs && find . -name run.json -exec md5sum {} +) >before
    study x.ini --out cut
    expect_status 0
    expect_text "going on"
    [ "$(set_of whole | wc -l)" -ge 6 ]
    diff <(set_of whole) <(set_of cut)
    (cd cut/runs && md5sum --quiet -c ../../before)
    [ "$(find cut/interrupted -mindepth 1 -maxdepth 1 | wc -l)" -eq 1 ]
    [ -z "$(find cut -name '*.part')" ]
}

@test "when the driver is killed its program ends, too" {
    slow
    description x.ini <<<$'[run]\nprogram = sim'
    touch hold.1
    "$NHT1_ROOT/runs/study" x.ini --out cut >/dev/null 2>&1 3>&- &
    wait_until -p $! sims 1
    kill -9 $!
    wait $! || true
    wait_until no_sim
}

@test "interrupted, it ends its program, keeps its state, leaves with 3, and goes on" {
    description x.ini <<<$'[run]\nprogram = sim\nvalue = 1..2'
    touch hold.2
    "$NHT1_ROOT/runs/study" x.ini --under out >said 2>&1 3>&- &
    wait_until -p $! sims 2
    kill -TERM $!
    status=0
    wait $! || status=$?
    [ $status -eq 3 ]
    no_sim
    rm hold.2
    grep -q "interrupted" said
    jq -e '.finished == false and .why == "interrupted"' out/x/summary.json
    study x.ini --under out
    expect_status 0
    [ ! -e out/x-2 ]
    [ "$(set_of out/x | wc -l)" -eq 4 ]
}

@test "where the driver itself fails the runs before it are summed up, status 3, and it goes on" {
    REPEATS=3 description x.ini <<<$'[run]\nprogram = sim\nvalue = 1..2'
    mkdir f
    touch hold.2
    "$NHT1_ROOT/runs/study" x.ini --under out --files f >said 2>&1 3>&- &
    wait_until -p $! sims 2
    rm -r f
    rm hold.2
    status=0
    wait $! || status=$?
    [ $status -eq 3 ]
    grep -q "f/nht1-files-.*: No such file or directory; the same command goes on from here" said
    jq -e '.finished == false and .why == "failed" and any(.points[]; .series[0].n == 1)' out/x/summary.json
    [ -s out/x/runs.csv ]
    mkdir f
    study x.ini --under out --files f
    expect_status 0
    [ "$(set_of out/x | wc -l)" -eq 6 ]
}

@test "where the disk of a study is full it shows what it has, status 3" {
    memory_disk m 700k
    REPEATS=3 description x.ini <<<$'[run]\nprogram = sim\nvalue = 1..2'
    touch hold.2
    "$NHT1_ROOT/runs/study" x.ini --out m/o >said 2>&1 3>&- &
    wait_until -p $! sims 2
    ! head -c 1M /dev/zero >m/fill
    rm hold.2
    status=0
    wait $! || status=$?
    umount m
    [ $status -eq 3 ]
    grep -q "No space left on device; the same command goes on from here" said
    grep -q "^point" said # the closing table
}

@test "on a terminal a study shows k of N, and Ctrl-C ends the line" {
    description x.ini <<<$'[run]\nprogram = sim\nvalue = 1..2'
    touch hold.1
    cat >terminal.py <<'END'
import os, pty, re, sys
said = b''


def read(terminal):
    global said
    new = os.read(terminal, 1024)
    if b'1 of 4: ' not in said and b'1 of 4: ' in said + new:
        os.write(terminal, b'\x03')
    said += new
    return new


status = pty.spawn(sys.argv[1:], read)
assert re.search(rb'1 of 4: value = [12], run 1: ', said), said
assert b'\nruns/study: interrupted' in said, said
sys.exit(os.WEXITSTATUS(status) != 3)
END
    run env TERM=xterm timeout "$NHT1_HANG_S" python3 terminal.py "$NHT1_ROOT/runs/study" x.ini --no-plan --out out
    expect_status 0
}

@test "interrupted before it has begun, it says so and leaves with 3" {
    local number command
    mkdir hook
    cat >hook/sitecustomize.py <<'END'
import os, signal, sys


class Hook:
    @staticmethod
    def find_spec(name, path, target=None):
        if name in ('nht1.study.cli', 'nht1.report.cli'):
            os.kill(os.getpid(), int(os.environ['NUMBER']))


sys.meta_path.insert(0, Hook)
END
    for number in 1 2 15; do
        for command in "$NHT1_ROOT/runs/study" "$NHT1_TESTBIN/../bin/nht1-report"; do
            NUMBER=$number PYTHONPATH=hook run "$command" --help
            expect_status 3
            [[ $output == *": interrupted" ]]
        done
    done
    # Under nohup a hangup is none.
    (trap '' HUP && NUMBER=1 PYTHONPATH=hook "$NHT1_ROOT/runs/study" --help >/dev/null)
    PYTHONPATH=$NHT1_ROOT/runs python3 -c 'import signal
from nht1.study import child
signal.signal(signal.SIGHUP, signal.SIG_IGN)
child.Stop().install()
assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN'
}

@test "nothing is written over: a finished study gets a new folder, a strange folder is refused" {
    slow
    REPEATS=1 description x.ini <<<$'[run]\nprogram = sim\nranks = 1 2'
    study x.ini --under out
    study x.ini --under out
    [ -e out/x-2/summary.json ]
    [ "$(starts)" -eq 4 ]
    study x.ini --out out/x
    expect_status 0
    [ "$(starts)" -eq 4 ]
    study x.ini --out out/x --set run.ranks='1 3'
    expect_status 1
    expect_text "other points"
    mkdir mine && echo precious >mine/data
    study x.ini --out mine
    expect_status 1
    expect_text "holds no study"
    [ "$(ls mine)" = data ]
    study x.ini --under out --new
    [ -e out/x-3/summary.json ]
}

@test "two drivers do not work in one folder" {
    slow
    REPEATS=1 description x.ini <<<$'[run]\nprogram = sim'
    touch hold.1
    "$NHT1_ROOT/runs/study" x.ini --out one >/dev/null 2>&1 3>&- &
    wait_until -p $! sims 1
    study x.ini --out one
    expect_status 1
    expect_text "another driver"
    kill $!
    wait $! || true
}

@test "a run that fails is recorded, the others go on, and the study ends with an error" {
    # shellcheck disable=SC2016 # as it stands
    sed -i 's/^n=/[ "$status" != 3 ] || [ ! -e "$SIM_FOLDER\/well" ] || status=0\n&/' bin/sim
    REPEATS=3 description x.ini <<<$'[run]\nprogram = sim\nstatus = 0 3 4'
    study x.ini --under out
    expect_status 3
    expect_text "p02-r01 failed: exit status 3: sim: refused"
    [ "$(jq -c '[.points[] | [.state, (.runs | length), (.failed | length)]]' out/x/summary.json)" = \
        '[["enough runs",3,0],["failed",2,2],["enough runs",3,0]]' ]
    expect_schema nht1-study-summary-1 out/x/summary.json
    # The cause is gone: these two are made again once they are moved away, as is said.
    expect_text "p02 has failed 2 times and is not tried again; to have it tried, move out/x/runs/p02-r01 and out/x/runs/p02-r02 away"
    touch well
    rm -r out/x/runs/p02-r0[12]
    study x.ini --out out/x
    expect_status 0
    expect_no_text "not tried again"
    [ "$(jq -c '[.points[] | (.runs | length)]' out/x/summary.json)" = '[3,3,3]' ]
    study x.ini --out wrong --set run.status='0 2'
    expect_status 2
}

@test "a run that failed among others is made up for by one more round, with what it is compared with" {
    # shellcheck disable=SC2016 # as it stands
    sed -i 's/^trap/[ "$n" != 3 ] || status=3\n&/' bin/sim
    REPEATS=3 description x.ini <<<$'[run]\nprogram = sim\nvalue = 1 2\n[run once]\nprogram = sim\nrepeats = 1\nvalue = 3'
    study x.ini --under out
    expect_status 3
    failed=$(jq -r '[.points[] | select(.failed != []).id][0]' out/x/summary.json)
    [ "$(jq -c --arg id "$failed" '[.points[] | [.state, (.runs | length) - (if .id == $id then 1 else 0 end)]]' out/x/summary.json)" = \
        '[["enough runs",3],["enough runs",3],["enough runs",1]]' ]
    starts=$(starts)
    study x.ini --out out/x --set study.repeats=3
    [ "$(starts)" = "$starts" ]
    study x.ini --out out/x --set study.repeats=4
    [ "$(starts)" = $((starts + 2)) ]
}

@test "runs of several values count once each: the interval is of their medians, and few do not end a point" {
    # shellcheck disable=SC2016 # as it stands
    sed -i 's/printf "{.*$/printf "{\\"t\\": [{\\"v_s\\": %.6f}, {\\"v_s\\": %.6f}, {\\"v_s\\": %.6f}]}\\n", v + d * n, v + d * n, v + d * n }'"'"' >"$json"/' bin/sim
    printf '[study]\nrepeats = 2..8\n[run]\nprogram = sim\nmetric = t[].v_s\nvalue = 40\nnoise = 0.1\n' >x.ini
    study x.ini --under out
    expect_status 0
    expect_json out/x/summary.json '.points[0] | .state == "narrow" and (.runs | length) == 6 and .series[0].n == 18 and
        .series[0].ci_lo == 40.1 and .series[0].ci_hi == 40.6'
    rm starts
    study x.ini --under few --set study.repeats=3
    # Student's t of three medians: 40.2 -+ 4.303 * 0.1 / sqrt(3)
    expect_json few/x/summary.json '.points[0].series[0] | .n == 9 and (.ci_lo - 39.9516 | fabs) < 1e-3 and (.ci_hi - 40.4484 | fabs) < 1e-3'
}

@test "a run that takes too long is ended, and the others go on" {
    slow
    REPEATS=1 description x.ini <<<$'timeout_s = 20\n[run]\nprogram = sim\nsleep = 0 30'
    touch hold.sleep
    study x.ini --under out
    expect_status 3
    expect_text "timed out"
    [ "$(jq -s '[.[] | select(.status == 5)] | length' out/x/runs/*/run.json)" -eq 1 ]
    no_sim
}

# refused WORDS [OPTION...]: the study in ./limited does not go on with these options.
refused() {
    study x.ini --out limited "${@:2}"
    expect_status 1 || return 1
    grep -qE "limited: this study was begun under other conditions, $1" <<<"$output" || { echo "$output" && return 1; }
}

@test "a limit of time: what was not run is told by status 5, and more time goes on" {
    REPEATS=1 description x.ini <<<$'[run]\nprogram = sim\nsleep = 70 80\nestimate_s = 70'
    mkdir disk disk/7 other
    ln -s 7 disk/link
    study x.ini --out limited --minutes 2 --files disk/link
    expect_status 5
    expect_text "--minutes gives more"
    expect_schema nht1-study-1 limited/study.json
    # Under other conditions it does not go on, nor does it plan to.
    cp starts before
    refused "files: $PWD/disk/7 before, $PWD/other now; give --files $PWD/disk/7 again, or begin .* --out" --files other
    OMPI_MCA_io=romio321 refused '\$OMPI_MCA_io: not set before, romio321 now; unset it, or'
    cp bin/sim sim
    echo >>bin/sim
    refused "build of sim: [0-9a-f]{12} before, [0-9a-f]{12} now"
    if [ -n "${NHT1_FULL:-}" ]; then
        sed -i 's/echo sim 1/echo sim 2/' bin/sim
        refused "version of sim: sim 1 before, sim 2 now"
        refused "cores: [0-9]+ before, 4321 now; give --cores" --cores 4321
        refused "files: $PWD/disk/7 before, $PWD/other now" --files other --dry-run
        cp sim bin/sim
        refused "flags of the launcher: none before, --x=y now" --launcher-flags=--x=y
        refused "launcher: $PWD/bin/mpirun before, none now" --launcher none
    fi
    cp sim bin/sim
    diff <(grep -v -e --help -e --version before) <(grep -v -e --help -e --version starts)
    SLURM_JOB_NODELIST=n1 study x.ini --out limited # a job that is submitted again has others
    expect_status 0
    expect_text "going on with files in disk/7"
    [ "$(set_of limited | wc -l)" -eq 2 ]
    # Fewer runs than a point is to have are too few, too.
    REPEATS=2 description z.ini <<<$'[run]\nprogram = sim\nsleep = 70\nestimate_s = 70'
    study z.ini --out few --minutes 2
    expect_status 5
    jq -e '[.points[].state] == ["too few runs"]' few/summary.json
    REPEATS=1..9 description y.ini <<<$'[run]\nprogram = sim\nsleep = 50\nnoise = 9'
    study y.ini --out enough --minutes 2
    expect_status 0
    # The time bounds how many runs are said to come.
    [ "$(grep -cE '^[0-9]+ of [0-9]+ to (9|[0-9]{2,})' <<<"$output")" -eq 0 ]
    jq -e '.finished and .why == "time" and (.points[0].runs | length < 9)' enough/summary.json
}

@test "the launchers' words: Open MPI, MPICH, srun, none" {
    slow
    make_launcher mpiexec.hydra "HYDRA build details:"
    make_launcher srun "slurm 22.05.8"
    REPEATS=1 description x.ini <<<$'[run]\nprogram = sim\nranks = 3\nthreads = 2'
    study x.ini --out a --cores 2
    grep -q -- '^mpirun -np 3 --bind-to none --oversubscribe --mca mpi_yield_when_idle 1 /' launched
    study x.ini --out b --cores 8 --launcher mpiexec.hydra --launcher-flags='-hosts a,b'
    grep -q -- '^mpiexec.hydra -np 3 -bind-to none -hosts a,b /' launched
    study x.ini --out c --cores 2 --launcher srun
    grep -q -- '^srun --ntasks 3 --cpu-bind=none --kill-on-bad-exit=1 --cpus-per-task=2 --overcommit --mpi=pmix /' launched
    jq -e '.environment.OMP_NUM_THREADS == "2" and .environment.OMP_WAIT_POLICY == "passive"' c/runs/*/run.json
    study x.ini --out d --launcher none
    expect_status 1
    study x.ini --out e --launcher none --set run.ranks=1
    expect_status 0
    study x.ini --out f --launcher nosuchmpirun
    expect_status 3
    expect_text "nosuchmpirun"
}

# again NAME: what the report of study NAME says about measuring it again, as a script.
again() {
    "$NHT1_BIN_REAL/nht1-report" "out/$1" --no-figures -o "$1.html" --markdown "$1.md" >/dev/null
    awk '/^## / { on = /How to measure/ } on && sub(/^    /, "")' "$1.md" >"$1.sh"
}

@test "the report says how the runs were started, for a shell: mpirun, mpiexec, srun" {
    slow
    make_launcher mpiexec.hydra "HYDRA build details:"
    make_launcher srun "slurm 22.05.8"
    cat >bin/nht1-bt <<'END'
#!/bin/bash
if [ "$1" = --help ]; then printf '  --%s  words\n' 'json FILE' 'out FILE' 'progress WHEN' 'io NAMES' 'hint HINT'; exit; fi
[ "$1" != --version ] || { echo nht1-bt 1 && exit; }
{ printf '%q ' "$PWD" "$OMP_NUM_THREADS" "$OMP_WAIT_POLICY" "$OMPI_ALLOW_RUN_AS_ROOT" "$NHT1_ISA" "$MY_TAG"; json=
    for w; do
        [ "$before" = --out ] && { [ -d "$(dirname "$w")" ] || echo no folder; }
        [ "$before" = --json ] && json=$w
        [ "$before" = --json ] || [ "$w" = --json ] || printf '%q ' "$w"
        before=$w
    done; echo; } >>"$SIM_FOLDER/seen"
echo '{"schema": "nht1-bt/1", "version": "1", "system": {"ranks": 3}, "command_line": "--io x", "runs": []}' >"${json:-/dev/null}"
END
    chmod +x bin/nht1-bt
    description x.ini <<<$'[run]\nprogram = nht1-bt\nio = x\nranks = 3\nthreads = 2\nmetric = system.ranks
hint = "a=it\'s$(touch owned)"\nenv.MY_TAG = "b; touch owned `touch owned`"'
    mkdir "my files"
    local launcher
    for launcher in mpirun mpiexec.hydra srun; do
        rm -f launched seen
        NHT1_ISA=scalar SLURM_JOB_ID=7 study --no-plan --cores 2 --launcher $launcher --launcher-flags="--x 'a b'" \
            --files "my files" --out out/$launcher x.ini
        expect_status 0
        again $launcher
        cat $launcher.sh
        if grep -q SLURM_JOB_ID $launcher.sh; then false; fi
        (cd / && env -u NHT1_ISA -u OMPI_ALLOW_RUN_AS_ROOT PATH="$PATH" SIM_FOLDER="$SIM_FOLDER" bash -eu "$OLDPWD/$launcher.sh")
        # Two runs of the study, which are one command here: the same words, variables and folder.
        sed -i 's/ --json [^ ]*$//' launched
        [ "$(wc -l <launched)" -eq 3 ]
        [ "$(sort -u launched | wc -l)" -eq 1 ]
        [ "$(sort -u seen | wc -l)" -eq 1 ] || { cat seen && return 1; }
        if grep -q 'no folder' seen; then false; fi
        grep -qE "^[^ ]+ 2 passive ('')?1? scalar " seen
        grep -qF "$(printf '%q ' "$PWD" 2 passive)" seen
        # shellcheck disable=SC2016 # as it stands
        grep -qF "$(printf '%q' 'b; touch owned `touch owned`') " seen
    done
    [ ! -e owned ]
}

@test "the report of a study shows what is nht1's beside results of a program of one's own" {
    printf '#!/bin/sh\necho "$*" >asked\nexec "%s" "$@"\n' "$NHT1_BIN_REAL/nht1-report" >bin/nht1-report
    chmod +x bin/nht1-report
    bt_that <<<"cp '$NHT1_ROOT/tests/corpus/report/bt1.json' \"\$json\""
    REPEATS=1 description x.ini <<<$'level = 0.9\n[run mine]\nprogram = sim\n[run ours]\nprogram = nht1-bt\nio = serial'
    study x.ini --no-plan --out out
    expect_status 0
    expect_text "report    out/report.html"
    grep -q '1 result,' out/report.html
    grep -q -- '--level=0\.9$' asked
    # Of one's own alone there is nothing to report of.
    REPEATS=1 description y.ini <<<$'[run]\nprogram = sim'
    study y.ini --out own
    expect_status 0
    expect_no_text report
}

@test "job scripts: headings of each system, bash agrees, no file is written over" {
    description x.ini <<<$'[run]\nprogram = sim'
    study --job slurm --nodes 3 --cores 48 --time 90 --queue fast x.ini --set run.value=7 --launcher-flags=--oversubscribe
    expect_status 0
    expect_text "sbatch x.slurm"
    grep -qx '#SBATCH --ntasks-per-node=16' x.slurm
    grep -qx '#SBATCH --partition=fast' x.slurm
    grep -qx '#SBATCH --mem=0' x.slurm
    grep -q -- "--cores=48 --launcher-flags=--oversubscribe --set=run.value=7" x.slurm
    if grep -q UNTRIED x.slurm; then false; fi
    MPIRUN_FLAGS='--mca a b' study --job pbs --nodes 3 --cores 48 --time 90 --no-report --quiet x.ini
    grep -qx "export MPIRUN_FLAGS='--mca a b'" x.pbs
    grep -q -- ' --no-report --quiet$' x.pbs
    grep -q 'select=3:ncpus=16' x.pbs
    grep -q 'walltime=1:30:00' x.pbs
    grep -q " $PWD/x.ini " x.pbs
    grep -q UNTRIED x.pbs
    # The driver is told to stop before the end of the job, and still has all of its minutes.
    study --job slurm --minutes 9.5 --job-file - x.ini
    grep -qx '#SBATCH --time=15' <<<"$output"
    study --job slurm --time 3 --job-file - x.ini
    expect_status 1
    expect_text "--time 3: the driver is told to stop up to 3 minutes before the end: 4 at least"
    study --job lsf --nodes 3 --cores 48 --account me x.ini
    grep -qx '#BSUB -n 48' x.lsf
    grep -qx '#BSUB -P me' x.lsf
    grep -q UNTRIED x.lsf
    for file in x.slurm x.pbs x.lsf; do bash -n $file; done
    study --job pbs x.ini
    expect_status 1
    expect_text "not written over"
    study --job pbs --nodes 3 --cores 10 --job-file - x.ini
    expect_status 1
    expect_text "--cores 10: as many on each of 3 nodes are asked for: 9 or 12"
    study --job pbs --new --job-file - x.ini
    expect_status 1
    expect_text "--new: a job script goes on with its study"
    study --job lsf --nodes 3 --cores 48 --account me x.ini # the same script again
    expect_status 0
    expect_text "bsub <x.lsf"
    mkdir writers # a folder as studies make them is not the study of this name
    study --job pbs --cores 2 --job-file - writers
    expect_text "/runs/study writers --cores=2"
    study --job lsf --job-file nosuch/x.lsf x.ini
    expect_status 3
    expect_text "nosuch/x.lsf: No such file or directory; --job-file names another"
    bash x.slurm
    jq -e '.set == ["run.value=7"]' nht1-studies/x/study.json # where it was submitted, not among the sources
    [ "$(grep -c PBS_O_WORKDIR x.pbs)" -eq 1 ]
    ! grep PBS x.slurm x.lsf
}

@test "job scripts stay where they are submitted; times, set-up and names are what people write" {
    slow
    mkdir "my study" && description "my study/a b%.ini" <<<$'[run]\nprogram = sim'
    study --job slurm --time 2:00:00 --setup "module load openmpi" --job-file j "my study/a b%.ini"
    expect_status 0
    grep -qx '#SBATCH --time=120' j
    grep -qx '#SBATCH --job-name=nht1-a_b_' j
    grep -qx 'module load openmpi' j
    bash -n j
    if grep -q "cd $NHT1_ROOT" j; then false; fi
    local given minutes
    while read -r given minutes; do
        study --job slurm --time "$given" --job-file - writers
        grep -qx -- "#SBATCH --time=$minutes" <<<"$output"
    done <<<$'90 90\n3:30 4\n1-0 1440\n1-2:30 1590\n0:10:01 11'
    for given in 0 x 1:2:3:4 -5 ''; do
        study --job slurm --time "$given" --job-file - writers
        expect_status 1
    done
    study --job slurm --queue $'a\n#SBATCH --evil' --job-file - writers
    expect_status 1
}

@test "the class of the study of processors follows ranks and memory" {
    slow
    ln -s "$NHT1_BIN_REAL/nht1-bt" bin
    local cores class
    while read -r cores class; do
        study --dry-run --no-plan processors --cores "$cores" --out "o$cores"
        expect_status 0
        study --dry-run --no-plan processors --cores "$cores" --set "common.when=class == \"$class\""
        expect_status 0
    done <<<$'8 A\n64 A\n128 B\n512 C'
    study --dry-run --no-plan processors --cores 512 --set 'common.when=class == "A"'
    expect_status 1
}

@test "the studies that come with nht1 expand, and each explains itself" {
    local study name
    for name in nht1-beff nht1-beffio; do
        [ -x "$NHT1_BIN_REAL/$name" ] || printf '#!/bin/sh\necho "  --quick  x"\n' >"bin/$name"
        [ -x "bin/$name" ] || { [ -e "bin/$name" ] && chmod +x "bin/$name"; } || ln -s "$NHT1_BIN_REAL/$name" bin
    done
    ln -s "$NHT1_BIN_REAL/nht1-bt" bin
    for study in "$NHT1_ROOT"/config/*.ini; do
        study --dry-run --no-plan "$(basename "$study" .ini)" --cores 64
        expect_status 0
        expect_text "p01"
        grep -q '^title = ' "$study"
        [ "$(grep -c '^#' "$study")" -ge 3 ]
    done
    study --list
    expect_text "processors"
}

@test "what does not fit is said before anything runs; --leave-out runs the rest" {
    slow
    ln -s "$NHT1_BIN_REAL"/nht1-{bt,verify} bin
    REPEATS=1 description x.ini <<<$'[run]\nprogram = nht1-bt\nn = 12 4000\nsteps = 60
dt = 1e-9\ninterval = 5\nio = posix\ntc = 1'
    study x.ini --under out
    expect_status 3
    expect_text "p02 does not fit: memory"
    expect_text "1 of 2 points"
    expect_text "--leave-out"
    [ ! -e out ]
    study x.ini --under out --leave-out
    expect_status 0
    [ "$(ls out/x/runs)" = p01-r01 ]
}

@test "the example of docs/studies.md is a description" {
    ln -s "$NHT1_BIN_REAL"/nht1-bt bin
    awk '/^```/ { inside = !inside } /^\[study\]/ && inside { on = 1 } !inside { on = 0 } on' \
        "$NHT1_ROOT/docs/studies.md" >x.ini
    study --dry-run --no-plan x.ini --cores 4
    expect_status 0
    expect_text "p11 "
    expect_no_text "p12 "
    [ "$(grep -c ' posix ' <<<"$output")" -eq 3 ] # once for each number of ranks
}

@test "installed, the driver finds programs and studies, and writes where one is" {
    slow
    make -C "$NHT1_ROOT" O="$(dirname "$NHT1_BIN_REAL")" MPICC="$(mpicc_of_build)" -o all install DESTDIR="$PWD/root" PREFIX=/usr >/dev/null
    unset NHT1_BIN
    rm bin/mpirun
    mkdir files
    run root/usr/bin/nht1-study check files --class S --io posix --minutes 0.1
    expect_status 4
    expect_text "No time was left to search for the best way to write here: nht1-study tune"
    [ -e nht1-studies/check/run/result.json ]
    [ -s nht1-studies/check/report.html ]
    run root/usr/bin/nht1-study classes --set common.repeat=1 --dry-run
    expect_status 0
    run root/usr/bin/nht1-study nosuch
    expect_status 1
    [[ $output == "nht1-study: no study 'nosuch'"* ]]
    run root/usr/bin/nht1-study tune --nosuch
    [[ $output == "nht1-study tune: '--nosuch' is an option neither of nht1-study tune nor of nht1-bt"* ]]
    for command in "" ab check tune; do
        run root/usr/bin/nht1-study $command --help
        expect_text "usage: nht1-study"
        expect_text "nht1-studies"
        expect_no_text "runs/study"
    done
}

@test "order = written: the points of a round run as they stand" {
    slow
    REPEATS=2 description x.ini <<<$'order = written\n[run]\nprogram = sim\nvalue = 1..8'
    study x.ini --under out
    expect_status 0
    [ "$(grep -o 'value [0-9]' starts | tr -d 'a-z \n')" = 1234567812345678 ]
}
