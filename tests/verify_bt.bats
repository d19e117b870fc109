#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-verify on files that nht1-bt wrote.

load helpers
load verify_lib

# bt_run ARGUMENT...: two ranks; the status of a run too short to be a result is no matter here.
bt_run() {
    mpi_run 2 nht1-bt --io posix --tc 1 --out f.bin --force "$@" >log 2>&1 || true
    [ -s f.bin ]
}

@test "class S with published mean norms, in every layout" {
    for layout in mijk ijkm records; do
        bt_run --class S --interval 5 --layout $layout
        verify f.bin
        expect_status 0
        expect_text "layout $layout"
        expect_text "VERIFIED: every value of 12 dumps"
        expect_text "the mean error norms of dumps 0 to 11 are the published ones of class S"
        expect_text "the final state, dump 11, has the published error norms of class S"
    done
}

@test "class S agrees with the reference listing, also without its manifest" {
    export NHT1_LISTINGS=$NHT1_ROOT/verify/listings
    bt_run --class S
    verify f.bin --against reference
    expect_status 0
    expect_text "VERIFIED: every value of 6 dumps"
    expect_text "360 values on the diagonal agree"
    rm f.bin.json
    verify f.bin --against reference
    expect_status 0
    expect_text "360 values on the diagonal agree"
    # Of another run with this N nothing is wrong.
    bt_run --class S --interval 20
    verify f.bin --against reference
    expect_status 1
    expect_text "is of 60 steps of dt = 0.01 with a dump every 10, and f.bin is of 60 steps of dt = 0.01 with one every 20"
}

@test "class W without its manifest: its norms, and that they fall" {
    mpi_run 1 nht1-bt --class W --io posix --tc 1 --out f.bin --verify never >log 2>&1 || true
    rm f.bin.json
    verify f.bin
    expect_status 0
    expect_text "NORMS RIGHT: the mean error norms of dumps 0 to 39 are the published ones of class W"
    expect_text "the norms fall from dump to dump, as those of class W do"
}

@test "a free problem is verified by its digests" {
    bt_run --n 17 --steps 7 --dt 0.001 --interval 3 --last
    verify f.bin
    expect_status 0
    expect_text "N = 17"
    expect_text "VERIFIED: every value of 3 dumps"
    expect_text "no published norms"
}
