#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # bats sets status and output
# Control characters that come out of files never reach the terminal (base/plain.h).
load helpers

evil=$'\e]0;title\a\e[2J\u009b31m\u202e'

bt() {
    run mpi_run 1 nht1-bt --class S --tc 1 --io posix --out out.bin "$@"
}

@test "control characters in a manifest do not reach the terminal of a run" {
    slow
    bt --quiet
    expect_status 0
    cp out.bin.json whole.json
    for key in schema hash layout endian writer sync kernel; do
        jq --arg t "$evil" ".$key = \$t | .dumps |= .[:3]" whole.json >out.bin.json
        bt --restart
        expect_plain
        [ -n "$output" ]
    done
    printf '{"schema": %s' "$evil" >out.bin.json
    bt --restart
    expect_status 1
    expect_plain
}

@test "control characters in a T_C store do not reach the terminal of a run" {
    run mpi_run 1 nht1-bt --class S --io none --tc-store s.json
    expect_status 0
    jq --arg t "$evil" '.entries[0] += {host: $t, decomp: $t, isa: $t, t_c_s: 1e-6}' s.json >evil.json
    run mpi_run 1 nht1-bt --class S --io posix --out out.bin --tc-store evil.json
    expect_status 0
    expect_text "0;title" # the store's words are shown
    expect_plain
    jq --arg t "$evil" '.schema = $t' s.json >evil.json
    run mpi_run 1 nht1-bt --class S --io posix --out out.bin --tc-store evil.json
    expect_plain
}

@test "control characters in names, manifests and listings do not reach the terminal of nht1-verify" {
    local name="f${evil//\//}.bin"
    "$NHT1_TESTBIN/mkdump" f.bin
    mv f.bin "$name"
    mv f.bin.json "$name.json"
    run nht1-verify "$name"
    expect_status 0
    expect_text "title"
    expect_plain
    truncate -s 1000 "$name"
    run nht1-verify "$name"
    expect_status 2
    expect_plain
    rm "$name.json"
    run nht1-verify "$name"
    expect_plain
    "$NHT1_TESTBIN/mkdump" f.bin
    printf '%s\n' "$evil" >listing
    run nht1-verify f.bin --against listing
    expect_status 1
    expect_text "is not a number"
    expect_plain
    cp f.bin.json whole.json
    for key in schema hash layout endian writer kernel run_id file; do
        jq --arg t "$evil" ".$key = \$t" whole.json >f.bin.json
        run nht1-verify f.bin
        expect_plain
        [ -n "$output" ]
    done
    printf '{"schema": %s' "$evil" >f.bin.json
    run nht1-verify f.bin
    expect_status 1
    expect_plain
}

@test "names of files that a program opened do not reach the terminal of nht1-profile" {
    "$(wrapper mpicc)" -o opens -x c - <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_File f;
    MPI_Init(&argc, &argv);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_write(f, argv, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    return MPI_Finalize();
}
END
    run nht1-profile --force --json p.json -- "$PWD/opens" "f${evil}"$'\nWritten   none'
    expect_status 0
    expect_text "title"
    expect_plain
    [ "$(grep -c '^Written' <<<"$output")" -eq 1 ]
    run nht1-profile -o "o${evil}.xml" -- "$PWD/opens" x
    expect_plain
    run bash -c 'nht1-profile -- "$1"; true' profile "no${evil}"
    expect_plain
    expect_text "title"
}

@test "names on the command line and in the environment do not reach the terminal of any program" {
    slow
    local name="o${evil//\//}"
    run mpi_run 1 nht1-workload --reference --set uniqueBytes=100k --set processNum=1 --out "$name"
    expect_status 0
    expect_text "title"
    expect_plain
    run mpi_run 1 nht1-bt --dry-run --n 13 --steps 4 --dt 0.001 --tc 1 --io posix --out "$name"
    expect_plain
    run mpi_run 1 nht1-bt --probe --tc-store s.json --out "$name"
    expect_text "title"
    expect_plain
    mkdir "$name.d"
    own_clock 500
    run mpi_run 1 nht1-bt --n 13 --steps 4 --dt 0.001 --interval 2 --io auto:posix --minutes 0.05 --tc-store "$name.json" --out "$name.d/f" \
        --json "$name.r"
    unset NHT1_CLOCK LD_PRELOAD
    expect_text "title"
    expect_plain
    run mpi_run 1 nht1-beffio --dry-run --quick -p "$name.d"
    expect_plain
}
