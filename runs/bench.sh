#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `make bench`: the rate of the computation alone, in Gop/s of BT's nominal operation count, for
# classes S, W and A on one rank of 1, 2, 4 ... threads up to all cores. Environment: CLASSES,
# THREADS, REPEAT (best of, default 3), NHT1_BIN.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${NHT1_BIN:-$root/build/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
result=$work/result.json

# 1 2 4 ... and the number of cores.
thread_counts() {
    local t=1 cores
    cores=$(nproc)
    while [ "$t" -lt "$cores" ]; do
        echo "$t"
        t=$((t * 2))
    done
    echo "$cores"
}

# Nominal operations of a class in Gop, from N and the number of steps.
gop() {
    local n steps
    case $1 in
    S) n=12 steps=60 ;;
    W) n=24 steps=200 ;;
    A) n=64 steps=200 ;;
    B) n=102 steps=200 ;;
    C) n=162 steps=200 ;;
    *) echo "bench: no class '$1': S, W, A, B or C" >&2 && return 1 ;;
    esac
    awk -v n=$n -v t=$steps 'BEGIN {
        printf "%.9f", 1e-9 * t * (3478.8 * n ^ 3 - 17655.7 * n ^ 2 + 28023.7 * n) }'
}

# best CLASS THREADS: shortest verified time in seconds.
best() {
    local i seconds shortest=
    for ((i = 0; i < ${REPEAT:-3}; i++)); do
        OMP_NUM_THREADS=$2 "$root/tests/mpi-run" -np 1 -t 1800 "$bin/nht1-bt" --class "$1" --io none \
            --tc-store "$work/tc.json" --json "$result" >/dev/null || return 1
        seconds=$(jq -er '[.runs[] | select(.verified) | .t_t_s] | min // empty' "$result") || return 1
        shortest=$(printf '%s\n' ${shortest:+"$shortest"} "$seconds" | sort -g | head -n 1)
    done
    echo "$shortest"
}

printf '%-6s %8s %12s %10s\n' class threads seconds Gop/s
for class in ${CLASSES:-S W A}; do
    operations=$(gop "$class") || exit 1
    for threads in ${THREADS:-$(thread_counts)}; do
        seconds=$(best "$class" "$threads") || { echo "bench: class $class failed" >&2 && exit 2; }
        awk -v c="$class" -v t="$threads" -v s="$seconds" -v w="$operations" \
            'BEGIN { printf "%-6s %8d %12.4f %10.2f\n", c, t, s, w / s }'
    done
done
