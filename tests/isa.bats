#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Instruction sets: every one that the processor has is right, is chosen as asked, and gives the
# same bits.

load helpers

# Names in this binary, as it lists them itself.
isas() {
    mpi_run 1 nht1-bt --class S --io none --isa no-such 2>&1 | sed -n 's/.*not one of: auto //p' |
        head -n 1
}

# Of these, the ones that this processor has; the message of a run tells the others.
usable() {
    local isa
    for isa in $(isas); do
        mpi_run 1 nht1-bt --n 6 --steps 1 --dt 0.01 --io none --tc 1 --isa "$isa" --quiet \
            2>/dev/null && echo "$isa"
    done
}

@test "class S verifies with every instruction set, asked for by --isa" {
    local isa
    [ -n "$(usable)" ]
    for isa in $(usable); do
        run mpi_run 2 nht1-bt --class S --io posix --tc 1 --isa "$isa" --json r.json
        expect_status 0
        [ "$(jq -r .system.solver_kernel r.json)" = "$(jq -r '.system.solver_kernel
            | split("/")[0]' r.json)/$isa" ]
        [ "$(jq '[.runs[] | .verified and .norms.ok] | all' r.json)" = true ]
        nht1-verify btout.bin
    done
}

@test "class S verifies with every instruction set, asked for by NHT1_ISA" {
    local isa
    [ -n "$(usable)" ]
    for isa in $(usable); do
        NHT1_ISA=$isa run mpi_run 1 nht1-bt --class S --io none --json r.json
        expect_status 0
        [ "$(jq -r '.system.solver_kernel | split("/")[1]' r.json)" = "$isa" ]
        [ "$(jq '[.runs[] | .verified and .norms.ok] | all' r.json)" = true ]
    done
}

@test "the files of all instruction sets hold the same bytes" {
    local isa
    for isa in $(usable); do
        OMP_NUM_THREADS=2 mpi_run 2 nht1-bt --class S --io posix --tc 1 --isa "$isa" \
            --out "$isa.bin" --quiet
    done
    [ "$(sha256sum ./*.bin | cut -d' ' -f1 | sort -u | wc -l)" -eq 1 ]
}

@test "--isa is stronger than NHT1_ISA, and auto is the first that the processor has" {
    NHT1_ISA=no-such run mpi_run 1 nht1-bt --class S --io none --isa generic --json r.json
    expect_status 0
    [ "$(jq -r '.system.solver_kernel | split("/")[1]' r.json)" = generic ]
    NHT1_ISA=generic run mpi_run 1 nht1-bt --class S --io none --isa auto --json r.json
    expect_status 0
    [ "$(jq -r '.system.solver_kernel | split("/")[1]' r.json)" = "$(usable | head -n 1)" ]
}

@test "an unknown instruction set is refused, with the known ones" {
    run mpi_run 2 nht1-bt --class S --io none --isa sse17
    expect_status 1
    expect_text "--isa sse17: not one of: auto $(isas)"
    NHT1_ISA=sse17 run mpi_run 2 nht1-bt --class S --io none
    expect_status 1
    expect_text "NHT1_ISA sse17: not one of: auto $(isas)"
}

@test "an instruction set that the processor lacks is refused, with what to do" {
    local isa lacking=
    for isa in $(isas); do
        usable | grep -qx "$isa" || lacking=$isa
    done
    [ -n "$lacking" ] || skip "this processor has every instruction set of the binary"
    run mpi_run 1 nht1-bt --class S --io none --isa "$lacking"
    expect_status 1
    expect_text "--isa $lacking: this processor does not have it; try --isa auto"
}
