#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# MPICH beside Open MPI: the same program, the same bytes. docs/portability.md says what differs.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
    need_program mpicc.mpich mpirun.mpich
    need_open_mpi "this build is MPICH's already"
}

# mpich_make FOLDER ARGUMENT...: make into that folder beside bin, free of the settings of the make that
# runs the tests.
mpich_make() {
    local folder=$1
    shift
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O -u MPIRUN -u OMPI_CC -u MPICH_CC \
        make -C "$NHT1_ROOT" O="$(dirname "$NHT1_BIN")/$folder" MPICC=mpicc.mpich "$@"
}

# What knows MPI is compiled with MPICH, the rest comes from the library of this build.
@test "MPICH: class S from every writer, the same bytes" {
    local bin rest writer n=0
    bin=$(dirname "$NHT1_BIN")/mpich/bin
    rest="$(dirname "$NHT1_BIN")/lib/libnht1.a $(mpich_make mpich info | sed -n 's/^LIBS *= //p')"
    mpich_make mpich -j2 CFLAGS="-g0 -Wno-stringop-overflow" OPT=-O0 SERIAL= KERNELS= SERIAL_DIRS= \
        "MPI_DIRS=bt bt/solver" LIBS="$rest" "$bin/nht1-bt" "$(dirname "$bin")/share/nht1/runs/launcher" \
        >log 2>&1 || { cat log && return 1; }
    mpi_run 2 nht1-bt --class S --io posix --tc 1 --quiet --verify never --out want.bin
    [ "$(NHT1_BIN=$bin launcher)" = mpirun.mpich ]
    "$NHT1_ROOT/tests/mpi-run" -np 2 "$bin/nht1-bt" --class S --io all --tc 1 --quiet --verify never \
        --keep --out got.bin --json r.json
    expect_json r.json '(.system.mpi.library | startswith("MPICH")) and .system.ranks == 2
        and ([.runs[].norms.ok] | all)'
    for writer in $(jq -r '.runs[].writer' r.json); do
        cmp want.bin "got.bin.$writer"
        n=$((n + 1))
    done
    [ "$n" -ge 8 ]
}

@test "MPICH: make check passes" {
    slow
    mpich_make mpich-full -k -j2 all tests >log 2>&1 || { tail -n 40 log && return 1; }
    run env -u MAKEFLAGS -u NHT1_FULL -u NHT1_BIN -u NHT1_TESTBIN -u NHT1_PRELOAD -u MPIRUN \
        O="$(dirname "$NHT1_BIN")/mpich-full" "$NHT1_ROOT/tests/run" e2e mpi serial layers
    expect_status 0
    expect_text " 0 failed,"
    echo "# $(tail -n 1 <<<"$output")" >&3
}
