#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Cross-built for aarch64 and run under QEMU: docs/portability.md.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
    slow
    local why
    ARM=${NHT1_BIN%/*}/aarch64 TOOLS=${NHT1_BIN%/*}/aarch64/tools
    why=$("$NHT1_ROOT/tests/aarch64_tools" "$TOOLS") || large "$why (make setup-full)"
}

# Without the packages' word for the libraries, which is about those of this system.
arm_make() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O -u OMPI_CC -u MPICH_CC make -C "$NHT1_ROOT" O="$ARM" \
        CC="$TOOLS/cc" MPICC="$TOOLS/mpicc" AR="$TOOLS/ar" PKG=false URING= CFLAGS=-Wno-stringop-overflow \
        -j2 "$@" >log 2>&1 || { tail -n 40 log && return 1; }
}

# The processor that QEMU makes of it -> kernel that is chosen.
@test "aarch64: class S is verified with NEON and SVE, with the bits of x86" {
    local cpu kernel
    arm_make "$ARM/bin/nht1-bt" "$ARM/bin/nht1-verify"
    file -b "$ARM/bin/nht1-bt" | grep -q aarch64
    mpi_run 2 nht1-bt --class S --io posix --tc 1 --quiet --verify never --out x86.bin --json x86.json
    while read -r kernel cpu; do
        QEMU_CPU=$cpu "$TOOLS/run" "$ARM/bin/nht1-bt" --class S --io posix --tc 1 --quiet --verify never \
            --out arm.bin --json arm.json
        expect_json arm.json ".runs[0].norms.ok and (.system.solver_kernel | endswith(\"/$kernel\"))"
        cmp x86.bin arm.bin
        [ "$(jq -c '[.dumps[].digest]' arm.bin.json)" = "$(jq -c '[.dumps[].digest]' x86.bin.json)" ]
    done <<<$'neon cortex-a72\nsve512 max,sve-default-vector-length=64\nsve256 max,sve-default-vector-length=32'
    nht1-verify arm.bin
    "$TOOLS/run" "$ARM/bin/nht1-verify" x86.bin
}

# Now and then a rank under QEMU hangs, mostly when all is written (docs/portability.md): it is tried again.
@test "aarch64: two and three ranks write the bytes of x86" {
    need_program mpirun.mpich
    arm_make "$ARM/bin/nht1-bt"
    mpi_run 2 nht1-bt --class S --io posix --tc 1 --quiet --verify never --out x86.bin
    local ranks writer
    while read -r ranks writer; do
        for _ in 1 2 3 4; do
            rm -f arm.*
            timeout -k 60 "$NHT1_HANG_S" mpirun.mpich -np "$ranks" "$TOOLS/run" "$ARM/bin/nht1-bt" --class S --io "$writer" --tc 1 \
                --quiet --verify never --out arm.bin --json arm.json && break
        done
        expect_json arm.json ".runs[0].norms.ok and .system.ranks == $ranks"
        cmp x86.bin arm.bin
    done <<<$'2 mpiio\n3 twophase'
}

@test "aarch64: fused multiply-adds are instructions, and no call of fma() is left" {
    local kernel
    arm_make "$ARM/bin/nht1-bt"
    for kernel in neon sve256 sve512; do
        "$TOOLS/objdump" -d "$ARM/obj/bt/solver/kernel_$kernel.o" | grep -qE '\bfm(la|ls)\b'
        if nm -u "$ARM/obj/bt/solver/kernel_$kernel.o" | grep -w fma; then return 1; fi
    done
}

# Not those that ask the kernel or a terminal about processes, which are QEMU's here, that of writers, of which this build has not
# all, and the slow second solver, which takes an hour.
@test "aarch64: the serial tests pass" {
    local test bad=0 programs=()
    for test in "$NHT1_ROOT"/tests/test_*.c; do
        case $test in
        */test_child.c | */test_disturbance.c | */test_own.c | */test_progress.c | */test_sys.c | */test_space.c | */test_oracle.c) ;;
        *) programs+=("$(basename "$test" .c)") ;;
        esac
    done
    arm_make "${programs[@]/#/$ARM/tests/}"
    for test in "${programs[@]}"; do
        timeout "$((4 * NHT1_HANG_S))" "$TOOLS/run" "$ARM/tests/$test" >"$test.log" 2>&1 || { bad=1 && tail -n 20 "$test.log"; }
    done
    [ "$bad" -eq 0 ]
}
