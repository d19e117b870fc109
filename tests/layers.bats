#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The layer check finds what it is there to find: every rule is broken once, in one copy of the tree.

load helpers

setup_copy() {
    mkdir -p tree/docs
    cp "$NHT1_ROOT"/docs/design.md tree/docs
    local folder
    while read -r folder; do
        mkdir -p "tree/$folder"
        cp "$NHT1_ROOT/$folder"/*.[ch] "tree/$folder" 2>/dev/null || true
    done < <(awk -F '`' '/^## / { here = /Layers/ } here && /^\| `/ { print $2 }' tree/docs/design.md)
    export O=$BATS_TEST_TMPDIR/objects
    mkdir -p "$O/bin" "$O/obj/base" "$O/obj/bt/solver"
    cp "$NHT1_BIN"/nht1-verify "$O/bin"
    cp "${NHT1_BIN%/*}"/obj/bt/solver/{kernel_*,exact,problem}.o "$O/obj/bt/solver"
}

@test "every broken rule is found" {
    slow
    [ "$(uname -m)" = x86_64 ] || not_here "some rules are about kernels for x86-64"
    setup_copy
    cd tree
    echo '#  include "bt/solver/problem.h"' >>io/view.c
    sed -i 's/^| `verify` | `base`/| `verify` | `base` `io`/' docs/design.md
    mkdir strange && echo 'int x;' >strange/x.c
    sed -i 's/^\/\* Layer 1/\/* Layer 3/' io/view.h
    echo '#include <mpi.h>' >>base/watch.c
    echo '#include "base/par.h"' >>verify/main.c
    echo '#include "bt/solver/decomp.h"' >>bt/solver/exact.c
    echo 'static const char *x = "posix";' >>bt/run.c
    echo '#include "bt/search/race.h"' >>bt/job.c
    echo 'int b(void); int a(void) { return b(); }' >../a.c
    echo 'int a(void); int b(void) { return a(); }' >../b.c
    gcc -g -ffp-contract=off -c -o "$O/obj/base/units.o" ../a.c
    gcc -g -ffp-contract=off -c -o "$O/obj/base/watch.o" ../b.c
    printf 'int MPI_Init(int *, char ***);\nint main(void) { return MPI_Init(0, 0); }\n' >../m.c
    env -u OMPI_CC -u MPICH_CC mpicc -o "$O/bin/nht1-verify" ../m.c
    printf '#!/bin/sh\ntrue\n' >strange/script
    echo 'double f(double x) { return x * x + x; }' >../k.c
    gcc -g -O2 -ffp-contract=off -c -o "$O/obj/bt/solver/kernel_avx2.o" ../k.c
    gcc -g -O2 -c -o "$O/obj/base/contracted.o" ../k.c
    echo 'double f(double x) { return __builtin_fma(x, x, x); }' >../k.c
    gcc -g -O2 -mfma -ffp-contract=off -c -o "$O/obj/base/fused.o" ../k.c
    run "$NHT1_ROOT/tests/layers" .
    expect_status 0
    if grep '^ok' <<<"$output"; then return 1; fi
    [ "$(grep -c '^not ok' <<<"$output")" -eq "$(sed -n 's/^1\.\.//p' <<<"$output")" ]
    for found in 'io bt/solver' 'verify io' strange base/watch.c verify/main.c io/view.h bt/solver/exact.c bt/run.c bt/job.c 'tsort: base/units' MPI_Init \
        strange/script kernel_avx2.o contracted.o fused.o; do
        expect_text "$found"
    done
}

@test "a verifier that was not built is not passed over" {
    slow
    setup_copy
    rm "$O/bin/nht1-verify"
    run "$NHT1_ROOT/tests/layers" tree
    expect_text "nht1-verify is not built"
}
