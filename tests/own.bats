#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What a killed program has left, any program removes when it next writes in the same folder, and
# nothing else (base/own.h).
load helpers

mine=(b.json c.lock d.txt .nht1-0123456789abcdef.own)

# Files that are nobody's own, one of which has the name of a note; nothing of them changes.
setup_files() {
    mkdir data
    echo "dear diary" >data/b.json
    : >data/c.lock
    echo "dear diary" >data/d.txt
    echo "not a note" >data/.nht1-0123456789abcdef.own
}

# left FILE...: these and the foreign files are in the folder.
left() {
    local file
    [ "$(find data -mindepth 1 -printf '%f\n' | sort)" = "$(printf '%s\n' "${mine[@]}" "$@" | sort)" ] || {
        echo "there is: $(ls -A data)" && return 1
    }
    for file in data/b.json data/d.txt; do
        [ "$(cat "$file")" = "dear diary" ] || return 1
    done
}

# there PATTERN: a file of that name is there.
there() {
    compgen -G "$1" >/dev/null
}

# killed PROGRAM PATTERN ARGUMENT...: one process that is killed when a file of that name is there, which it is
# for long.
killed() {
    local program=$1 pattern=$2
    shift 2
    "$NHT1_BIN/$program" "$@" >out 2>&1 3>&- &
    local pid=$!
    wait_until -p "$pid" there "$pattern"
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    no_process "$program"
    there "data/.nht1-*.own"
}

killed_workload() {
    nht1-workload --make w.xml processNum=1 uniqueBytes=400000 sizeMean=1000 --force
    sed -i 's/contMean/think="1" contMean/' w.xml
    killed nht1-workload data/a w.xml --think --out data/a
    [ -e data/a.lock ]
    : >data/a.locktest.0 # OMPIO's, of a process that was killed while it opened the file
}

one() {
    run "$@"
}

@test "a workload that was killed: each program removes what it left" {
    slow
    setup_files
    killed_workload
    one nht1-workload w.xml --out data/a
    expect_status 0
    left
    killed_workload
    one nht1-beffio -p data -MB 16 -T 0.01 -N 1
    expect_status 4
    left
    killed_workload
    one nht1-bt --n 12 --steps 2 --dt 0.001 --interval 2 --tc 1 --quiet --verify never --io posix --out data/r
    expect_status 0
    left r r.json
    rm data/r data/r.json
    killed_workload
    one nht1-bt --probe --out data/r
    left
}

@test "a benchmark of patterns and a probe that were killed" {
    slow
    setup_files
    killed nht1-beffio "data/*_data_*" -p data -MB 16 -T 60 -N 1 --max-space 300M
    one nht1-workload --reference --set uniqueBytes=16000 --out data/a
    expect_status 0
    left
    # In front of a write of one of its checks, with files in its folder.
    LD_PRELOAD=$NHT1_TESTBIN/fault.so NHT1_FAULT_IN=$PWD/data/.nht1-probe NHT1_FAULT_STOP=pwrite:2:0 \
        "$NHT1_BIN/nht1-bt" --probe --out data/r >out 2>&1 3>&- &
    wait_stopped -p $! nht1-bt
    there "data/.nht1-probe-*/*"
    kill -KILL $!
    wait $! || true
    no_process nht1-bt
    there "data/.nht1-*.own"
    one nht1-workload --reference --set uniqueBytes=16000 --out data/a
    expect_status 0
    left
}

@test "a run of the benchmark that was killed leaves its dumps alone" {
    setup_files
    killed nht1-bt data/r.json.journal --n 24 --steps 100000 --dt 0.0001 --interval 1000 --tc 1 --quiet \
        --verify never --io posix --out data/r
    [ -e data/r.lock ]
    : >data/r.nht1.0123abcd.tmp
    one nht1-workload --reference --set uniqueBytes=16000 --out data/a
    expect_status 0
    left r r.json r.json.journal
}

@test "a search that was killed: the file of its trial and the manifest go" {
    local site
    setup_files
    for site in rename:2 rename:3 pwrite:3 fsync:2; do
        run env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD/data" NHT1_FAULT="$site:kill:0" \
            "$NHT1_BIN/nht1-bt" --n 12 --steps 4 --dt 0.001 --interval 2 --tc 1 \
            --quiet --verify never --io auto:posix,token --minutes 10 --sync dump --out data/r
        expect_status 137
        [ -e data/r.auto.json ]
        one nht1-verify --merge data/nothing
        left
    done
}

@test "a rank, and the launcher, that were killed" {
    local pids signal
    setup_files
    nht1-workload --make w.xml processNum=2 uniqueBytes=400000 sizeMean=1000
    sed -i 's/contMean/think="1" contMean/' w.xml
    for signal in rank launcher; do
        "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_BIN/nht1-workload" w.xml --think --out data/a >out 2>&1 3>&- &
        local job=$!
        wait_until -p "$job" test -e data/a
        pids=$(own_processes nht1-workload)
        [ $signal = launcher ] || kill -KILL "${pids%%[!0-9]*}"
        [ $signal = rank ] || kill -KILL "$(ps -o ppid= -p "${pids%%[!0-9]*}" | tr -d ' ')"
        wait "$job" || true
        no_process nht1-workload
        one nht1-workload --reference --set uniqueBytes=16000 --out data/a
        expect_status 0
        left
    done
}

@test "what a living program has made stays" {
    setup_files
    nht1-workload --make w.xml processNum=1 uniqueBytes=400000 sizeMean=1000
    sed -i 's/contMean/think="1" contMean/' w.xml
    "$NHT1_BIN/nht1-workload" w.xml --think --out data/a >out 2>&1 3>&- &
    local pid=$!
    wait_until -p "$pid" test -e data/a
    one nht1-beffio -p data -MB 16 -T 0.01 -N 1
    expect_status 4
    [ -e data/a ]
    [ -e data/a.lock ]
    kill -INT "$pid"
    wait "$pid" || true
    left
}

@test "a merge and an export that were killed" {
    local what
    setup_files
    mpi_run 2 nht1-bt --n 12 --steps 4 --dt 0.001 --interval 2 --tc 1 --quiet --verify never --io perrank --out data/r
    for what in "--merge data/r" "--export vti data/r"; do
        # shellcheck disable=SC2086 # words
        run env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD/data" NHT1_FAULT_PROGRAM=nht1-verify \
            NHT1_FAULT=rename:1:kill:0 "$NHT1_BIN/nht1-verify" $what
        expect_status 137
        [ "$(find data -name '*.merging' -o -name '*.tmp' -o -name '.nht1-*.own' | wc -l)" -eq 3 ]
        # shellcheck disable=SC2086
        run nht1-verify $what
        expect_status 0
        [ -z "$(find data -name '*.merging' -o -name '*.tmp' -o -name 'r.lock')" ]
    done
}

@test "temporaries of a result: what nobody holds goes with the next one" {
    local target command
    mkdir data
    nht1-bt --n 12 --steps 2 --dt 0.001 --interval 2 --tc 1 --quiet --verify never --io none --json one.json
    for command in "nht1-stats 1 2 3 --json" "nht1-report one.json --no-figures -o"; do
        target=data/result.html
        : >"$target.0123abcd.tmp"
        : >"$target.0123abcx.tmp"
        : >"$target.ffffffff.tmp"
        # shellcheck disable=SC2086 # words
        run flock "$target.ffffffff.tmp" $command "$target"
        expect_status 0
        [ "$(ls -A data)" = "result.html
result.html.0123abcx.tmp
result.html.ffffffff.tmp" ]
        rm data/*
    done
}
