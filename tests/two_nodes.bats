#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The programs on two emulated nodes: messages by TCP, two host names, one file system.

load helpers

two_nodes() {
    need_open_mpi "the second node is Open MPI's daemon there"
    need_program ip unshare mpirun
    run "$NHT1_ROOT/tests/two-nodes" "$@"
    [ "$status" -ne 77 ] || not_permitted "$output"
}

@test "on two nodes every writer leaves the bytes of one node" {
    slow
    two_nodes 4 "$NHT1_BIN/nht1-bt" --n 12 --steps 20 --dt 0.01 --io all --tc 1 --keep --out two.bin --json two.json
    expect_status 0
    mpi_run 1 nht1-bt --n 12 --steps 20 --dt 0.01 --io serial --tc 1 --keep --out one.bin
    n=0
    for file in two.bin.*; do
        case $file in *.json | *.lock) continue ;; esac
        "$NHT1_ROOT/tests/raw_dumps" "$file" | cmp one.bin -
        n=$((n + 1))
    done
    [ "$n" -ge 8 ]
    expect_json two.json '[.runs[] | select(.driver != "none") | .verified] | length >= 8 and all'
}

@test "nodes are counted by their names, and each has its part in the statistics" {
    slow
    two_nodes 3 "$NHT1_BIN/nht1-bt" --n 12 --steps 20 --dt 0.01 --io posix --tc 1 --json two.json
    expect_status 0
    expect_json two.json '.system.mpi.nodes_n == 2'
    expect_json two.json '[.system.mpi.hosts[] | [.name, .ranks_n]] == [["nodea", 2], ["nodeb", 1]]'
    expect_json two.json '[.runs[] | select(.driver == "posix") | .dumps[].post_s.slowest_host] | length > 0 and all(. == "nodea" or . == "nodeb")'
}

@test "b_eff_io and b_eff on two nodes" {
    slow
    two_nodes 2 "$NHT1_BIN/nht1-beff" --quick --json beff.json
    [ "$status" -eq 4 ]
    expect_json beff.json '.schema == "nht1-beff/1" and ([.. | .nodes_n? // empty] | any(. == 2))
        and ([.stamps[].code] | index("placement") != null)'
    two_nodes 2 "$NHT1_BIN/nht1-beffio" -MB 16 -T 1 -p . --json beffio.json
    [ "$status" -eq 4 ]
    expect_json beffio.json '.schema == "nht1-beffio/1"'
}

@test "b_eff names its rings as the release does, however ranks lie on two nodes" {
    slow
    # rings by the names of the release, whatever the order of ranks on the nodes
    local where
    for where in node slot; do
        rm -f beff.sum
        OMPI_MCA_rmaps_base_mapping_policy=$where two_nodes 5 "$NHT1_BIN/nht1-beff" --definition 3.6 --quick --lmax 8Ki --random 1 --no-analysis \
            --memory-per-process 1Mi --sum beff.sum --json beff.json
        [ "$status" -eq 4 ]
        tr -s ' ' '\n' <beff.sum | grep '^[0-5]=ring' | paste -sd ' ' >rings
        [ "$(<rings)" = "0=ring-2*2&+1 1=ring-1*5fix 2=ring-1*5fix 3=ring-1*5fix 4=ring-1*5fix 5=ring-1*5fix" ]
    done
}
