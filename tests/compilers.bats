#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Another compiler builds the solver without a warning, and gives the same bits.

load helpers

setup_file() {
    export CLANG_BUILD
    CLANG_BUILD=$(dirname "${NHT1_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/build/bin}")/clang
}

# A build of its own: make check-full, which asks for clang and its OpenMP library.
need_clang() {
    slow
    local why=
    command -v clang >/dev/null || why="clang is not installed"
    [ -n "$why" ] || echo 'int main(void) { return 0; }' |
        clang -fopenmp -x c -o openmp - 2>/dev/null || why="clang cannot link with -fopenmp (libomp)"
    [ -n "$why" ] || return 0
    echo "$why (make setup-full)"
    return 1
}

# Without the folders that nht1-bt needs not, unless all is asked for.
clang_make() {
    local part=(SERIAL_DIRS= "MPI_DIRS=bt bt/solver bt/search io/probe")
    [ -z "${NHT1_FULL:-}" ] || part=()
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O make -C "$NHT1_ROOT" O="$CLANG_BUILD" CC=clang \
        CFLAGS=-g0 "${part[@]}" "$@"
}

@test "clang builds nht1-bt without a warning" {
    need_clang
    clang_make -j2 "$CLANG_BUILD/bin/nht1-bt" >log 2>&1 || { cat log && return 1; }
    grep -i 'warning' log && return 1
    "$CLANG_BUILD/bin/nht1-bt" --version
    strings -a "$CLANG_BUILD/bin/nht1-bt" | grep -q 'clang version'
}

# file_of BIN ISA: the dump file of a run with that program; fails where it does not verify.
file_of() {
    local file=$2
    OMP_NUM_THREADS=2 NHT1_ISA=$2 mpi_run 2 "$1/nht1-bt" --class S --io posix --tc 1 \
        --verify never --quiet --out "$file.bin" --json "$file.result"
    [ "$(jq '.runs[0].norms.ok' "$file.result")" = true ]
    [ "$2" = auto ] || [ "$(jq -r '.system.solver_kernel | split("/")[1]' "$file.result")" = "$2" ]
}

# That gcc's kernels give the same bits among themselves is shown by isa.bats.
@test "gcc and clang give the same bits with every instruction set" {
    need_clang
    [ -x "$CLANG_BUILD/bin/nht1-bt" ]
    local isa tried=0
    file_of "$NHT1_BIN" auto
    for isa in avx512 avx2 generic; do
        NHT1_ISA=$isa mpi_run 1 nht1-bt --n 6 --steps 1 --dt 0.01 --io none --tc 1 --quiet || continue
        file_of "$CLANG_BUILD/bin" $isa
        tried=$((tried + 1))
    done
    [ "$tried" -ge 1 ]
    sha256sum ./*.bin
    [ "$(sha256sum ./*.bin | cut -d' ' -f1 | sort -u | wc -l)" -eq 1 ]
}
