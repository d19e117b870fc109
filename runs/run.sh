#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `make run`: class A on all cores of this computer, written in three ways, every file verified, the
# results in one ranked table. Environment: OUT the folder to write in (default runs/out), RANKS
# (default: one per core, at most 64), IO the writers (default serial,token,mpiio), NHT1_BIN where
# the programs are. Further options of nht1-bt may be given as arguments.
set -u
cd "$(dirname "$0")/.." || exit 1
bin=${NHT1_BIN:-build/bin}
out=${OUT:-runs/out}
io=${IO:-serial,token,mpiio}

say() {
    printf '%s\n' "$@" >&2
}

# Ends unless the folder can take one file of 419 MB per writer, and some room beside.
need_room() {
    local writers need_mb free_mb
    writers=$(($(tr -cd ',' <<<"$io" | wc -c) + 1))
    need_mb=$((writers * 425))
    free_mb=$(df -P --block-size=1000000 "$out" | awk 'NR == 2 { print $4 }')
    [ "$free_mb" -ge "$need_mb" ] && return
    say "make run: $out has $free_mb MB free, and class A with $io writes $need_mb MB." \
        "Name a folder with more room: make run OUT=/path, or fewer writers: make run IO=serial"
    exit 3
}

mkdir -p "$out" || exit 3
[ -x "$bin/nht1-bt" ] || { say "make run: $bin/nht1-bt is not built" && exit 1; }
need_room
cores=$(nproc)
ranks=${RANKS:-$((cores < 64 ? cores : 64))}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((cores / ranks > 0 ? cores / ranks : 1))}
dumps=$(mktemp -d "$out/dumps.XXXXXX") || exit 3
trap 'rm -rf "$dumps"' EXIT
say "nht1-bt: class A on $ranks ranks of $OMP_NUM_THREADS thread(s), files in $out" ""
tests/mpi-run -np "$ranks" -t "${TIMEOUT:-1800}" "$bin/nht1-bt" --class A --io "$io" \
    --out "$dumps/A.bin" --json "$out/run-A.json" "$@"
status=$?
[ $status -eq 0 ] && say "" "The whole result: $out/run-A.json"
exit $status
