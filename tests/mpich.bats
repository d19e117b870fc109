#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# MPICH beside Open MPI: every program runs, the same bytes. docs/portability.md says what differs.

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
        make -C "$NHT1_ROOT" O="${NHT1_BIN%/*}/$folder" MPICC=mpicc.mpich "$@"
}

bin=${NHT1_BIN%/*}/mpich/bin

# mpich RANKS PROGRAM [ARGUMENT...]: of the build with MPICH, which knows its launcher.
mpich() {
    local ranks=$1 program=$2
    shift 2
    NHT1_BIN=$bin PATH=$bin:$PATH "$NHT1_ROOT/tests/mpi-run" -np "$ranks" "$bin/$program" "$@"
}

# of_mpich FILE: a result by it.
of_mpich() {
    expect_json "$1" '(.system.mpi.library | startswith("MPICH")) and .system.ranks == 2'
}

@test "MPICH beside Open MPI: make takes the one that mpicc is" {
    [ "$(update-alternatives --query mpi 2>&1 | sed -n 's/^Status: //p')" = auto ] ||
        not_here "mpicc is no alternative of Debian, or was chosen by hand"
    run env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O -u MPIRUN make -C "$NHT1_ROOT" O="$PWD/b" info
    expect_status 0
    grep -q "^MPI  *= .*Open MPI" <<<"$output"
    grep -q "^MPICC  *= mpicc$" <<<"$output"
}

# quick_mpicc: what MPICH's own wrapper would start, without the shell script that takes longer than a compiler.
quick_mpicc() {
    local show
    read -r -a show < <(mpicc.mpich -show)
    mkdir bin
    printf '#!/bin/sh\nexec %s "$@" %s\n' "${show[0]}" "${show[*]:1}" >bin/mpicc.mpich
    # Where the build looks for the launcher.
    printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v mpirun.mpich)" >bin/mpirun.mpich
    chmod +x bin/mpi*
    PATH=$PWD/bin:$PATH
}

# What knows MPI is compiled with MPICH, the rest comes from the library of this build.
@test "MPICH: class S from every writer, the same bytes; the file is verified" {
    local rest writer n=0
    rest="${NHT1_BIN%/*}/lib/libnht1.a $(mpich_make mpich info | sed -n 's/^LIBS *= //p')"
    quick_mpicc
    mpich_make mpich -j2 CFLAGS=-g0 WARN=-w OPT=-O0 SERIAL= KERNELS= HDF5_SERIAL= NETCDF= \
        LIBS="$rest" all >log 2>&1 || { cat log && return 1; }
    mpi_run 2 nht1-bt --class S --io posix --tc 1 --quiet --verify never --out want.bin
    [ "$(NHT1_BIN=$bin launcher)" = mpirun.mpich ]
    mpich 2 nht1-bt --class S --io all --tc 1 --quiet --verify never --keep --out got.bin --json r.json
    of_mpich r.json
    expect_json r.json '[.runs[].norms.ok] | all'
    for writer in $(jq -r '.runs[].writer' r.json); do
        "$NHT1_ROOT/tests/raw_dumps" "got.bin.$writer" | cmp want.bin -
        n=$((n + 1))
    done
    [ "$n" -ge 8 ]
    "$bin/nht1-verify" got.bin.posix
    "$bin/nht1-report" r.json --no-figures -o r.html
    grep -q MPICH r.html
}

@test "MPICH: b_eff and b_eff_io" {
    [ -x "$bin/nht1-beff" ]
    run mpich 2 nht1-beff --quick --lmax 8Ki --random 1 --no-analysis --methods nonblocking --json beff.json
    expect_status 4
    of_mpich beff.json
    expect_json beff.json '.result.b_eff_bytes_per_s > 0'
    run mpich 2 nht1-beffio -MB 16 -T 0.01 --json beffio.json
    expect_status 4
    of_mpich beffio.json
    expect_json beffio.json '([.partitions[].accesses[].wrong_n] | add) == 0'
}

@test "MPICH: nht1-probe" {
    [ -x "$bin/nht1-probe" ]
    run mpich 2 nht1-probe --probe-limit 3600 --tc-store s.json --json p.json
    expect_status 0
    expect_json p.json '.mpi.library | startswith("MPICH")'
}

@test "MPICH: a workload, seen by nht1-profile, is replayed with the same calls" {
    [ -x "$bin/nht1-workload" ]
    "$bin/nht1-workload" --make w.xml processNum=2 uniqueBytes=400000 collFrac=0.4 sharedFrac=0.2
    NHT1_BIN=$bin "$bin/nht1-profile" -o p.xml -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$bin/nht1-workload" w.xml \
        --out d --json w.json --quiet
    of_mpich w.json
    mpich 2 nht1-workload p.xml --out d --json p.json --quiet
    expect_json p.json '.wrong_n == 0'
    [ "$(grep -c '<calls' p.xml)" -ge 2 ]
    # UCX has not taken the call by which mapped files are seen.
    run "$bin/nht1-profile" -- "$NHT1_TESTBIN/mkposix" mmap mapped
    expect_text "has mapped"
}

@test "MPICH: a study starts its launcher" {
    slow
    [ -x "$bin/nht1-study" ]
    printf '[study]\nrepeats = 1\n[run]\nprogram = nht1-bt\nclass = S\nranks = 2\nio = posix\ntc = 1\n' >s.ini
    NHT1_BIN=$bin "$bin/nht1-study" s.ini --out out
    local result
    result=$(find out -name 'run.json' | head -n 1)
    grep -q mpirun.mpich "$result"
    "$bin/nht1-stats" 1 2 3
}

@test "MPICH: make check passes" {
    slow
    mpich_make mpich-full -k -j2 all tests >log 2>&1 || { tail -n 40 log && return 1; }
    run env -u MAKEFLAGS -u NHT1_FULL -u NHT1_BIN -u NHT1_TESTBIN -u NHT1_PRELOAD -u MPIRUN \
        O="${NHT1_BIN%/*}/mpich-full" "$NHT1_ROOT/tests/run" e2e mpi serial layers
    expect_status 0
    expect_text " 0 failed,"
    echo "# $(tail -n 1 <<<"$output")" >&3
}
