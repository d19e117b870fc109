#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What results say of a busy machine, by recorded files of /proc (tests/proc).
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

proc() {
    export NHT1_PROC=$NHT1_ROOT/tests/proc/$1
}

@test "nht1-bt: every run carries the evidence, and a quiet machine no stamp" {
    mpi_run 2 nht1-bt --class S --io posix --out d.bin --tc-store tc.json --json r.json
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.runs | length >= 2 and all(.disturbance.undisturbed)'
    expect_json r.json '.runs[0].disturbance | .nodes_n == 1 and .nodes[0].ranks_n == 2 and .share_min == 0.999'
    expect_json r.json '[.runs[].stamps[].code] | any(. == "disturbed" or . == "processors-shared") | not'
}

@test "nht1-bt: a busy machine is told in numbers, of runs with and without writing" {
    proc busy
    run mpi_run 2 nht1-bt --class S --io posix --out d.bin --tc-store tc.json --json r.json
    [ "$status" -eq 0 ]
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.runs | length >= 2 and all(.disturbance.disturbed)'
    expect_json r.json '[.runs[].stamps[] | select(.code == "disturbed").numbers.share_min] | length >= 2 and all(. > 0.0899 and . < 0.0901)'
    expect_json r.json '[.ranking[].stamps[] | select(.code == "disturbed").numbers.steal] | length == 2 and all(. > 0.0299 and . < 0.0301)'
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"posix: Disturbed: ranks got 9 % of their processors"* ]]
}

@test "nht1-bt: what cannot be read is null and named" {
    proc bare
    mpi_run 1 nht1-bt --class S --io none --tc-store tc.json --json r.json
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.runs[0].disturbance | .steal == null and .others == null and (.not_readable | test("steal, other programs"))'
    expect_json r.json '.runs[0].stamps | map([.code, .severity]) == [["disturbance-unknown", "note"]]'
    expect_json r.json '[.ranking[].stamps[] | select(.code == "disturbance-unknown")] | length == 1'
}

@test "nht1-beff, nht1-beffio and nht1-workload: a busy machine is told, a quiet one is not" {
    slow
    local n p
    mkdir data
    nht1-workload --make w.xml processNum=2 uniqueBytes=10000
    for n in quiet busy; do
        proc $n
        mpi_run 2 nht1-beff --quick --lmax 8Ki --random 1 --no-analysis --methods nonblocking --json beff-$n.json || [ $? -eq 4 ]
        mpi_run 2 nht1-beffio -p data -MB 16 -T 0.01 -N 2 --json beffio-$n.json >beffio-$n.txt || [ $? -eq 4 ]
        mpi_run 2 nht1-workload --out data/d --force --json workload-$n.json w.xml || [ $? -eq 4 ]
    done
    [[ $(tr -s ' \n' ' ' <beffio-busy.txt) == *"Disturbed: ranks got 9 % of their processors"* ]]
    [[ $(tr -s ' \n' ' ' <beffio-quiet.txt) != *"isturbed:"* ]]
    # Valid by its definition, and no good stamp beside "disturbed"; nht1-beffio in tests/mpi_beffio.c.
    expect_json workload-quiet.json '[.stamps[] | select(.code == "valid").severity] == ["good"]'
    expect_json workload-busy.json '[.stamps[] | select(.code == "valid") | .severity == "note" and (.sentence | test("but disturbed"))] == [true]'
    for p in beff beffio workload; do
        expect_schema nht1-$p-1 $p-quiet.json
        expect_schema nht1-$p-1 $p-busy.json
        expect_json $p-quiet.json '.disturbance.undisturbed and ([.stamps[].code] | any(. == "processors-shared") | not)'
        expect_json $p-busy.json '[.stamps[] | select(.code == "disturbed") | .numbers.share_min > 0.08 and .numbers.share_min < 0.1] == [true]'
    done
}

@test "nht1-beff: a valid value of a busy machine is told as disturbed, and has no good stamp" {
    slow
    proc busy
    run mpi_run 2 nht1-beff --memory-per-process 1Mi --no-analysis --json r.json
    [ "$status" -eq 0 ]
    [[ $output == *"(valid by definition, but disturbed)"* ]]
    expect_schema nht1-beff-1 r.json
    expect_json r.json '.result.valid and ([.stamps[] | select(.code == "valid") | .severity == "note" and (.sentence | test("but disturbed"))] == [true])'
}
