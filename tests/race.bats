#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-bt --io auto: the search for the fastest way to write, end to end. The race itself, on made-up
# times, is tests/test_race.c, the space of candidates tests/test_space.c.
# shellcheck disable=SC2154 # slow_disk sets server
load helpers

# The clock is the test's: a search takes as many looks at it as its time holds, on whatever machine.
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
    own_clock 500
}

teardown() {
    end_slow_disk
}

# A problem whose runs take a few hundredths of a second: 13^3 points, 3 dumps.
tiny=(--n 13 --steps 6 --dt 0.001 --interval 2)

@test "a search finds a setting, proves every file, says what to run, and leaves nothing" {
    run mpi_run 2 nht1-bt "${tiny[@]}" --io auto --minutes 0.1 --seed 5 --json r.json
    expect_status 0
    expect_text "Search "
    expect_text "Rung 1 "
    expect_text "Run it with"
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.search | (.ended == "settled" or .ended == "budget") and .known == null'
    expect_json r.json '.search.candidates | length >= 20 and ([.[].id] | unique | length) == length'
    expect_json r.json '[.search.candidates[] | select(.state == "best")] | length == 1'
    expect_json r.json '.search | .best.id as $id | .candidates[$id - 1].label == .best.label'
    expect_json r.json '.search | ([.candidates[] | select(.state == "untried")] | length) as $n | (.candidates | length) as $of
        | .best.answer | if $n > 0 then contains("\($n) of \($of) candidates were not tried for lack of time") else contains("not tried") | not end'
    expect_json r.json '.search.rungs[0].candidates_n >= .search.rungs[-1].candidates_n - 2'
    expect_json r.json '.runs == [] and .ranking == []'
    [ -z "$(find . -name 'btout*')" ]
    # What it says to run is a command that runs.
    local command
    command=$(jq -r .search.best.command r.json)
    [[ $command =~ ^(OMP_NUM_THREADS=[0-9]+ )?"$(MPIRUN= launcher) -np 2 "(.*)"nht1-bt "(.*)$ ]]
    command=${BASH_REMATCH[3]}
    eval "run mpi_run 2 nht1-bt $command --tc 1 --json again.json"
    expect_status 0
    expect_json again.json '.runs | length == 1 and .[0].proof.state == "right"'
    rm -f btout.bin*
    run nht1-bt "${tiny[@]}" --io auto:perrank --minutes 0.02
    expect_status 0
    expect_text "1 candidate of 1 writer,"
    [ -z "$(find . -name 'btout*')" ]
    [ "$(jq -r '.search.best.label | split(" ")[0]' r.json)" = "$(jq -r '.runs[0].writer' again.json)" ]
}

@test "settings that are given stay, and the others are varied" {
    slow
    run mpi_run 2 nht1-bt "${tiny[@]}" --io auto --minutes 0.1 --direct --hint cb_nodes=1 --json r.json
    expect_status 0
    expect_json r.json '[.search.candidates[] | select(.writer == "async" or .writer == "uring")
        | .options | index("--direct") != null] | length >= 1 and all'
    expect_json r.json '[.search.candidates[].options | map(select(startswith("cb_")))[]]
        | unique == ["cb_nodes=1"]'
    expect_json r.json '[.search.candidates[] | select(.writer == "mpiio-async")] | length > 1'
    run mpi_run 1 nht1-bt "${tiny[@]}" --io auto:mpiio --minutes 0.05 --hint cb_nodes=1 \
        --hint "name=a b" --json r.json
    expect_status 0
    # For other programs, in what the MPI-IO in force reads.
    local read=ROMIO_HINTS
    ! open_mpi || read=OMPI_MCA
    expect_json r.json '[.search.best.hints[].form] == ["MPI_Info", "'$read'"]'
    # For a shell.
    expect_json r.json '.search.best.command | contains(" --hint \u0027name=a b\u0027")'
}

@test "a search whose files are proved slowly makes as many runs" {
    slow
    mkdir bin
    cp "$NHT1_BIN/nht1-bt" bin/
    printf '#!/bin/sh\nsleep "$SLOW_S"\nexec "%s/nht1-verify" "$@"\n' "$NHT1_BIN" >bin/nht1-verify
    chmod +x bin/nht1-verify
    local slow_s
    for slow_s in 0 0.4; do
        SLOW_S=$slow_s run mpi_run 1 bin/nht1-bt "${tiny[@]}" --io auto:posix --minutes 0.04 --seed 5 --json "$slow_s.json"
        expect_status 0
    done
    expect_json 0.json '.search.ended == "settled"'
    diff <(jq .search.rungs 0.json) <(jq .search.rungs 0.4.json)
}

@test "a search among some writers, whose choice is none of a search of all" {
    slow
    run mpi_run 2 nht1-bt "${tiny[@]}" --io auto:posix,async --minutes 0.2 --json r.json
    expect_status 0
    expect_json r.json '[.search.candidates[].writer] | unique == ["async", "posix"]'
    [ ! -e state/nht1/choices.json ] || expect_json state/nht1/choices.json \
        '.entries[0].key.fixed == {"io": "auto:posix,async"}'
}

@test "a candidate that fails is told and left out, and the search goes on" {
    slow
    mkdir disk
    run mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so:$LD_PRELOAD" NHT1_FAULT_IN="$PWD/disk" \
        NHT1_FAULT=pwrite:40:EIO:1 nht1-bt "${tiny[@]}" --io auto --minutes 0.25 \
        --out disk/o.bin --json r.json
    expect_status 0
    expect_json r.json '[.search.candidates[] | select(.state == "failed")] | length == 1
        and (.[0].why | contains("Input/output error"))'
    expect_json r.json '.search.best.label != null'
    expect_text "Failed, and left out:"
    [ -z "$(ls -A disk)" ]
}

@test "where nothing can be written the first failure is the message" {
    memory_disk disk 64k
    run mpi_run 2 nht1-bt "${tiny[@]}" --io auto --minutes 0.2 --out disk/o.bin --json r.json
    umount disk
    expect_status 3
    expect_text "every candidate of --io auto has failed"
    expect_text "disk/o.bin.auto"
    [ ! -e r.json ]
}

@test "a file of somebody else in the way ends the search, and stays" {
    echo mine >btout.bin.auto
    run mpi_run 2 nht1-bt "${tiny[@]}" --io auto --minutes 0.2 --json r.json
    expect_status 1
    expect_text "was not written by this program"
    [ "$(<btout.bin.auto)" = mine ]
}

@test "another job that writes the file of the candidates ends the search before it begins" {
    flock --no-fork btout.bin.auto.lock sleep infinity 3>&- &
    wait_until held_lock btout.bin.auto.lock
    run mpi_run 2 nht1-bt "${tiny[@]}" --io auto --minutes 0.2 --json r.json
    kill $!
    expect_status 3
    expect_text "another run is writing to the same file (btout.bin.auto.lock is held)"
    [[ $output != *"no candidate"* && $output != *"Search "* ]]
    [ -e btout.bin.auto.lock ]
}

@test "asked to stop: the best so far, status 3, no file" {
    local pid rc=0 try
    # In the second rung.
    LD_PRELOAD=$NHT1_TESTBIN/fault.so:$LD_PRELOAD NHT1_FAULT_IN=$PWD NHT1_FAULT_STOP=pwrite:100:0 OMP_NUM_THREADS=1 \
        nht1-bt "${tiny[@]}" --minutes 2 \
        --io auto:posix,token,twophase,serial --json r.json >out 2>err 3>&- &
    pid=$!
    wait_text -p "$pid" out "^Search "
    for try in {1..30}; do # nor does another job come between two runs
        run flock -n btout.bin.auto.lock true
        [ "$status" -eq 1 ]
        sleep 0.02
    done
    wait_stopped -p "$pid" nht1-bt
    grep -q "^Rung 1" out
    kill -INT $pid
    kill -CONT $pid
    wait $pid || rc=$?
    cat out err
    [ "$rc" -eq 3 ]
    grep -q "interrupted: the search was not finished" err
    grep -q "Run it with" out
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.status == 3 and .search.ended == "interrupted" and .search.best.label != null'
    # How many there are depends on which writers came into it.
    grep -qE "^zeta .* [0-9]+ rounds? of the last rung$" out
    grep -q "^Not judged: T_T over that of the best$" out
    expect_json r.json '[.search.candidates[].state] | index("unjudged") != null and index("tied") == null'
    [ -z "$(find . -name 'btout*')" ]
}

@test "a disk that something else fills: the best so far, status 3, and no candidate is blamed" {
    local pid rc=0
    memory_disk disk 1M
    LD_PRELOAD=$NHT1_TESTBIN/fault.so:$LD_PRELOAD NHT1_FAULT_IN=$PWD/disk NHT1_FAULT_STOP=open:60:0 OMP_NUM_THREADS=1 \
        nht1-bt "${tiny[@]}" --minutes 2 --io auto:posix,token,twophase,serial --out disk/o --json r.json >out 2>err 3>&- &
    pid=$!
    wait_stopped -p "$pid" nht1-bt
    ! head -c 2M /dev/zero >disk/fill
    kill -CONT $pid
    wait $pid || rc=$?
    umount disk
    cat out err
    [ "$rc" -eq 3 ]
    grep -q "the search was not finished: a run of it writes [0-9.]* kB and a manifest to disk/o.auto, and its file system has .* free now" err
    # In the first rung, whose rounds take part in the choice of finalists: nothing is concluded of them.
    grep -q "^zeta .* rounds\? of the newest rung$" out
    grep -q "^Not judged: T_T over that of the best$" out
    expect_json r.json '[.search.candidates[].state] | index("unjudged") != null and index("tied") == null'
    grep -q "Run it with" out
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.search | .best.label != null and [.candidates[] | select(.state == "failed")] == []'
}

@test "a file system that stops answering: told, waited for; the best so far when asked to stop" {
    slow
    local pid rc=0
    # The file system stands still behind the first rung of these writers, and again.
    slow_disk 0 write 700 730
    OMP_NUM_THREADS=1 nht1-bt "${tiny[@]}" --minutes 2 \
        --io auto:serial,posix,token,token-gather,twophase,async,mpiio,mpiio-indep,mpiio-async \
        --out disk/o.bin --json r.json >out 2>err 3>&- &
    pid=$!
    wait_until -p "$pid" is_stopped "$server"
    grep -q "^Rung 1" out
    pass 20
    wait_text -p "$pid" err "rung .*, round .*: .* has not answered for 2[0-9].* Ctrl-C ends it"
    # A search that is killed now leaves what it had.
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.status == 3 and .search.ended == "interrupted" and .search.best.label != null
        and .search.seconds > 0'
    kill -CONT "$server"
    wait_text -p "$pid" err "it answered, the search continues"
    wait_until -p "$pid" is_stopped "$server"
    # Asked to stop, it says what it has, although it hangs; a second later it may be killed.
    kill -INT "$pid"
    pass 20
    wait_text out "Run it with"
    wait_text err "interrupted: rung .* had not answered"
    kill -CONT "$server"
    wait "$pid" || rc=$?
    [ "$rc" -eq 3 ]
    [ "$(grep -c "Run it with" out)" -eq 1 ]
}

# remember RANKS JQ: the choice of a search among all writers, made of one that has nothing to decide
remember() {
    mpi_run "$1" nht1-bt "${tiny[@]}" --io auto:posix --minutes 0.3 --quiet
    jq ".entries[0] |= (.key.fixed = {} | $2)" state/nht1/choices.json >new
    cp new state/nht1/choices.json
}

@test "what is settled is kept with its evidence: where posix stands alone, posix" {
    slow
    run mpi_run 2 nht1-bt "${tiny[@]}" --io auto:posix --minutes 0.3 --json r.json
    expect_status 0
    expect_text "Answer    No winner: posix will do."
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.search | .ended == "settled" and .best.verdict == "no winner" and .best.rounds >= 8
        and .best.plain == {label: "posix", ratio: null, lo: null, hi: null}'
    expect_json state/nht1/choices.json '.entries | length == 1 and (.[0] | .writer == "posix" and .options == []
        and (.version | length > 0) and .best.zeta_lo <= .best.zeta and .best.zeta <= .best.zeta_hi
        and .best.disturbed_runs >= 0)'
    # Too little time to know: posix, and nothing is kept.
    run mpi_run 2 nht1-bt "${tiny[@]}" --io auto:posix,serial,twophase --minutes 0.02 --json r.json
    expect_status 0
    expect_text "Undecided: posix will do until another is shown to be faster."
    expect_json r.json '.search.best | .label == "posix" and .verdict == "undecided"'
    expect_json r.json 'any(.notices[]; test("not remembered: its search had not settled"))'
    expect_json state/nht1/choices.json '.entries | length == 1'
}

@test "beside other work a search finds nothing: told, and nothing is kept" {
    NHT1_PROC=$NHT1_ROOT/tests/proc/busy run mpi_run 1 nht1-bt "${tiny[@]}" --io auto:posix --minutes 0.06 --json r.json
    expect_status 0
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.search.best | .verdict == "undecided" and .rung_runs >= 16 and .disturbed_runs == .rung_runs
        and (.answer | test("In [0-9]+ of [0-9]+ runs of the last rung other programs, .* or a suspension took processors"))'
    expect_json r.json 'any(.notices[]; test("not remembered: its search had not settled"))'
    [ "$(tr -s ' \n' ' ' <<<"$output" | grep -o 'took processors' | wc -l)" -eq 1 ]
    [ ! -e state/nht1/choices.json ]
    # Threads that share a CPU say so, instead of other programs.
    OMP_NUM_THREADS=2 NHT1_PROC=$NHT1_ROOT/tests/proc/busy run taskset -c "$(taskset -cp $$ | grep -oE '[0-9]+' | tail -n 1)" \
        nht1-bt "${tiny[@]}" --io auto:posix --minutes 0.06 --json r.json
    expect_json r.json '.search.best.answer | test("Ranks lacked processors in [0-9]+ of [0-9]+ runs of the last rung: .*2 .*threads .*share 1 ")'
}

@test "what was found is run at once the next time, and has to be beaten by a new search" {
    slow
    local choices=state/nht1/choices.json
    remember 2 '.writer = "async" | .options = ["--buffer", "64Ki", "--direct"] | .best.label = "async --buffer 64Ki --direct"
        | .best.verdict = "winner" | .best.plain = {label: "posix", ratio: 0.8, lo: 0.7, hi: 0.9}
        | .utc = (now - 864000 | todate)'
    run mpi_run 2 nht1-bt "${tiny[@]}" --io auto --tc 1 --json known.json
    expect_status 0
    expect_text "Known     async --buffer 64Ki --direct: found 20"
    expect_text "--minutes 5 searches anew"
    expect_schema nht1-bt-1 known.json
    expect_json known.json '.search.ended == "known" and .search.known.age_s > 8e5 and .search.known.age_s < 9e5
        and .search.known.label == "async --buffer 64Ki --direct" and .search.best.plain.hi == 0.9'
    expect_json known.json '.runs | length == 1 and .[0].writer == "async" and .[0].verified
        and .[0].options == {"buffer": 65536, "direct": true}'
    [ -z "$(find . -name 'btout*')" ]
    # The same with a time for the search, were one needed.
    run mpi_run 2 nht1-bt "${tiny[@]}" --io auto --minutes 3 --known --tc 1 --json known.json
    expect_json known.json '.search.ended == "known" and (.runs | length == 1)'
    # A choice is that of a component of MPI-IO; one that was kept without naming it is of no use.
    if open_mpi; then
        expect_json "$choices" '.entries[0].key.component == "ompio"'
        jq '.entries[0] as $e | .entries += [$e | .key.component = "romio" | .writer = "mpiio" | .options = []]
            | .entries = [$e | del(.key.component) | .writer = "serial"] + .entries' "$choices" >new
    mv new "$choices"
        for component in ompio romio321; do
            OMPI_MCA_io=$component run mpi_run 2 nht1-bt "${tiny[@]}" --io auto --tc 1 --json $component.json
            expect_status 0
        done
        run mpi_run 2 nht1-bt "${tiny[@]}" --io auto --tc 1 --json plain.json
        [ "$(jq -c '[.search.ended, .runs[0].writer]' romio321.json ompio.json plain.json | tr '\n' ' ')" = \
            '["known","mpiio"] ["known","async"] ["known","async"] ' ]
        expect_json "$choices" '.entries | length == 3'
    fi
    # Another problem is not known, nor is this one with a setting given.
    run mpi_run 1 nht1-bt "${tiny[@]}" --io auto --sync none --minutes 0.05 --json r.json
    expect_json r.json '.search.known == null'
    # Asked to search anew.
    run mpi_run 2 nht1-bt "${tiny[@]}" --io auto --minutes 0.2 --json again.json
    expect_status 0
    expect_text "has to be beaten in the last rung"
    expect_json again.json '[.search.candidates[].label] | index("async --buffer 64Ki --direct") != null'
}

@test "a choice that says nothing is told and not run: chance, no evidence, unsettled, another release, old" {
    slow
    local case
    # As one that was kept on a busy machine: zeta 0.854 (-0.392 to 3.133).
    for case in '.best |= (.zeta = 0.854 | .zeta_lo = -0.392 | .zeta_hi = 3.133)#the interval of its zeta, -0.392 to 3.133' \
        '.best.verdict = "undecided"#its search had not settled' 'del(.best.verdict)#it has no evidence' \
        '.version = "0.0.1"#another release found it' '.utc = "2001-01-31T12:00:00Z"#it was found [0-9]* days ago'; do
        rm -rf state
        remember 1 "${case%%#*}"
        run mpi_run 1 nht1-bt "${tiny[@]}" --io auto --minutes 0.05 --known --json r.json
        expect_status 0
        expect_json r.json '.search.known == null and .search.ended != "known"
            and any(.notices[]; test("what an earlier search found is not used: '"${case##*#}"'"))'
    done
}

@test "a choice that cannot be run any more, or is none, is told, and a search takes its place" {
    slow
    local choices=state/nht1/choices.json
    remember 1 '.writer = "no-such"'
    # No --minutes, or it would not look; five minutes are too long to wait for.
    OMP_NUM_THREADS=1 nht1-bt "${tiny[@]}" --io auto >out 2>&1 3>&- &
    wait_text -p $! out "^Search "
    kill -TERM $!
    wait $! || true
    # A file among the settings would be written to.
    jq '.entries[0] |= (.writer = "posix" | .options = ["--json", "other.json"])' new >"$choices"
    run mpi_run 1 nht1-bt "${tiny[@]}" --io auto --minutes 0.05 --json r.json
    expect_status 0
    expect_json r.json '.search.known == null and any(.notices[]; test("its option --json is not a setting of writers"))'
    [ ! -e other.json ]
    echo '{"schema": "nht1-choices/1", "entries": [3]}' >"$choices"
    run mpi_run 1 nht1-bt "${tiny[@]}" --io auto --minutes 0.1 --json r.json
    expect_status 0
    expect_json r.json 'any(.notices[]; test("is no store of choices"))'
    [ "$(<"$choices")" = '{"schema": "nht1-choices/1", "entries": [3]}' ]
}

@test "what a search cannot be combined with is refused, with the way out" {
    local option
    for option in auto,posix posix,auto:async; do
        run mpi_run 1 nht1-bt --io "$option"
        expect_status 1
        expect_text "auto stands alone"
    done
    run mpi_run 1 nht1-bt --io auto:posix,no-such
    expect_status 1
    expect_text "no-such"
    for option in --restart "--read last" --keep "--repeat 3"; do
        # shellcheck disable=SC2086 # an option and its value
        run mpi_run 1 nht1-bt --io auto $option
        expect_status 1
        expect_text "--io auto exclude each other"
    done
    run mpi_run 1 nht1-bt --io posix --minutes 3
    expect_status 1
    expect_text "for --io auto, the search"
    run mpi_run 1 nht1-bt --io posix --known
    expect_status 1
    expect_text "--known is for --io auto"
    run mpi_run 1 nht1-bt --io auto --minutes 0
    expect_status 1
    expect_text "--minutes"
}
