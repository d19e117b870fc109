#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Instruction sets: every one that the processor has is right, is chosen as asked, and gives the
# same bits.

load helpers

# ISAS: names in this binary, as it lists them itself. USABLE: those that this processor has. A run
# of class S with each of these, by --isa, for the cases to look at: ISA.bin, ISA.json.
setup_file() {
    local isa
    cd "$BATS_FILE_TMPDIR" || return 1
    export XDG_STATE_HOME=$BATS_FILE_TMPDIR/state ISAS USABLE=
    ISAS=$(mpi_run 1 nht1-bt --class S --io none --isa no-such 2>&1 |
        sed -n 's/.*not one of: auto //p' | head -n 1)
    for isa in $ISAS; do
        OMP_NUM_THREADS=2 mpi_run 2 nht1-bt --class S --io posix --tc 1 --isa "$isa" --out "$isa.bin" \
            --json "$isa.json" --quiet 2>"$isa.err" && USABLE+="$isa "
    done
}

@test "class S verifies with every instruction set, asked for by --isa" {
    local isa
    [ -n "$USABLE" ]
    cd "$BATS_FILE_TMPDIR"
    for isa in $USABLE; do
        [ "$(jq -r .system.solver_kernel "$isa.json")" = "$(jq -r '.system.solver_kernel
            | split("/")[0]' "$isa.json")/$isa" ]
        [ "$(jq '[.runs[] | .verified and .norms.ok] | all' "$isa.json")" = true ]
        nht1-verify "$isa.bin"
    done
}

@test "class S verifies with every instruction set, asked for by NHT1_ISA" {
    slow
    local isa
    [ -n "$USABLE" ]
    for isa in $USABLE; do
        NHT1_ISA=$isa run mpi_run 1 nht1-bt --class S --io none --tc 1 --json r.json
        expect_status 0
        [ "$(jq -r '.system.solver_kernel | split("/")[1]' r.json)" = "$isa" ]
        [ "$(jq '[.runs[] | .verified and .norms.ok] | all' r.json)" = true ]
    done
}

@test "the files of all instruction sets hold the same bytes" {
    cd "$BATS_FILE_TMPDIR"
    [ "$(sha256sum ./*.bin | wc -l)" -eq "$(wc -w <<<"$USABLE")" ]
    [ "$(sha256sum ./*.bin | cut -d' ' -f1 | sort -u | wc -l)" -eq 1 ]
}

@test "--isa is stronger than NHT1_ISA, and auto is the first that the processor has" {
    local last=${USABLE% }
    last=${last##* }
    NHT1_ISA=no-such run mpi_run 1 nht1-bt --class S --io none --tc 1 --isa "$last" --json r.json
    expect_status 0
    [ "$(jq -r '.system.solver_kernel | split("/")[1]' r.json)" = "$last" ]
    NHT1_ISA=$last run mpi_run 1 nht1-bt --class S --io none --tc 1 --isa auto --json r.json
    expect_status 0
    [ "$(jq -r '.system.solver_kernel | split("/")[1]' r.json)" = "${USABLE%% *}" ]
}

@test "an unknown instruction set is refused, with the known ones" {
    run mpi_run 2 nht1-bt --class S --io none --isa sse17
    expect_status 1
    expect_text "--isa sse17: not one of: auto $ISAS"
    NHT1_ISA=sse17 run mpi_run 2 nht1-bt --class S --io none
    expect_status 1
    expect_text "NHT1_ISA sse17: not one of: auto $ISAS"
}

@test "an instruction set that the processor lacks is refused, with what to do" {
    local isa lacking=
    for isa in $ISAS; do
        [[ " $USABLE" == *" $isa "* ]] || lacking=$isa
    done
    [ -n "$lacking" ] || not_here "this processor has every instruction set of the binary"
    run mpi_run 1 nht1-bt --class S --io none --isa "$lacking"
    expect_status 1
    expect_text "--isa $lacking: this processor does not have it; try --isa auto"
}
