#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The floor check finds what it is there to find: each rule is broken once in a copy of the tree.

load helpers

setup_copy() {
    mkdir -p tree
    mkdir -p tree/runs
    cp -r "$NHT1_ROOT"/{Makefile,base,io,bt,beff,verify,report,bench,tests,config} tree 2>/dev/null || true
    cp "$NHT1_ROOT"/runs/*.sh tree/runs
    export O=$BATS_TEST_TMPDIR/objects
    mkdir -p "$O"
    cp -r "$(dirname "$NHT1_BIN")"/{bin,obj} "$O"
}

# broken RULE-TEXT: the check fails that rule, and that one alone.
broken() {
    run "$NHT1_ROOT/tests/floors" tree
    expect_status 0
    expect_text "not ok"
    [ "$(grep -c '^not ok' <<<"$output")" -eq 1 ]
    grep -qE "^not ok [0-9]+ .*$1" <<<"$output" || { echo "$output" && return 1; }
}

@test "a tree in order passes" {
    setup_copy
    run "$NHT1_ROOT/tests/floors" tree
    [[ $output != *"not ok"* ]] || { echo "$output" && return 1; }
    [ "$(grep -c '^ok' <<<"$output")" -eq 17 ]
}

@test "an include of a higher floor is found, on every floor" {
    setup_copy
    echo '#include "io/file.h"' >>tree/base/err.c
    broken "base includes base only"
    cp "$NHT1_ROOT/base/err.c" tree/base/err.c
    echo '#  include "bt/solver/problem.h"' >>tree/io/view.c
    broken "io includes base and io only"
    cp "$NHT1_ROOT/io/view.c" tree/io/view.c
    echo '#include "io/view.h"' >>tree/bt/solver/rhs.c
    broken "bt/solver includes base and bt/solver only"
    cp "$NHT1_ROOT/bt/solver/rhs.c" tree/bt/solver/rhs.c
    echo '#include "verify/reader.h"' >>tree/bt/run.c
    broken "bt includes base, io and bt only"
    cp "$NHT1_ROOT/bt/run.c" tree/bt/run.c
    echo '#include "io/view.h"' >>tree/verify/main.c
    broken "verify includes base, verify and the problem only"
    cp "$NHT1_ROOT/verify/main.c" tree/verify/main.c
    echo '#include "bt/metrics.h"' >>tree/report/main.c
    broken "report includes base and report only"
    cp "$NHT1_ROOT/report/main.c" tree/report/main.c
    echo '#include "io/view.h"' >>tree/bench/model.c
    broken "bench includes base, bench, beff and bt/solver only"
    cp "$NHT1_ROOT/bench/model.c" tree/bench/model.c
    echo '#include "bt/solver/solver.h"' >>tree/bt/solver/exact.c
    broken "problem and exact include base and each other only"
}

@test "MPI where it must not be is found" {
    setup_copy
    echo '#include <mpi.h>' >>tree/base/watch.c
    broken "know MPI"
    cp "$NHT1_ROOT/base/watch.c" tree/base/watch.c
    echo '#include "base/par.h"' >>tree/verify/main.c
    broken "by way of base/"
}

@test "a driver's name in the solver is found" {
    setup_copy
    echo 'static const char *x = "posix";' >>tree/bt/run.c
    broken "bt names no driver"
}

@test "a verifier that links MPI is found" {
    setup_copy
    printf 'int MPI_Init(int *, char ***);\nint main(void) { return MPI_Init(0, 0); }\n' >m.c
    env -u OMPI_CC -u MPICH_CC mpicc -o "$O/bin/nht1-verify" m.c
    broken "nht1-verify and nht1-report link no MPI"
}

@test "a verifier that was not built is not passed over" {
    setup_copy
    rm "$O/bin/nht1-verify"
    broken "nht1-verify and nht1-report link no MPI"
}

@test "a file without licence is found" {
    setup_copy
    echo 'int lost;' >tree/base/lost.c
    broken "states its licence"
}

@test "a kernel without fused multiply-adds is found" {
    [ "$(uname -m)" = x86_64 ] || skip "the rule is about kernels for x86-64"
    setup_copy
    echo 'double f(double x) { return x * x + x; }' >k.c
    gcc -g -O2 -ffp-contract=off -c -o "$O/obj/bt/solver/kernel_avx2.o" k.c
    broken "the vector kernels hold fused multiply-adds"
}

@test "an object compiled with contraction left to the compiler is found" {
    setup_copy
    echo 'double f(double x) { return x * x + x; }' >k.c
    gcc -g -O2 -c -o "$O/obj/base/k.o" k.c
    broken "nothing is compiled without -ffp-contract=off"
}

@test "multiply-adds that the compiler fused are found" {
    [ "$(uname -m)" = x86_64 ] || skip "the rule is about x86-64 instructions"
    setup_copy
    echo 'double f(double x) { return __builtin_fma(x, x, x); }' >k.c
    gcc -g -O2 -mfma -ffp-contract=off -c -o "$O/obj/base/k.o" k.c
    broken "fused nothing by itself"
}
