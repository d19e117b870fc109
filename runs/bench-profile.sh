#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What nht1-profile adds to a call: write_at to a file in memory, alone and profiled in turns, the best
# of 40 windows of each run, medians over the runs. Programs are those of $NHT1_BIN; ROUNDS pairs (default 9).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=${NHT1_BIN:-$here/../build/bin}
calls=$(dirname "$bin")/tests/mkcalls
work=$(mktemp -d /dev/shm/nht1-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"

median() {
    "$bin/nht1-stats" "$@" | python3 -c 'import json, sys; print(json.load(sys.stdin)["median"])'
}

once() {
    "$here/../tests/mpi-run" -np 1 "$calls" cost "$work/file" "$1" "$2"
}

printf '%-12s %12s %12s %12s %8s\n' 'a call of' alone profiled more ratio
for size in 8 65536 1048576; do
    n=$((400000000 / (size + 2000)))
    alone=() profiled=()
    for _ in $(seq "${ROUNDS:-9}"); do
        alone+=("$(once "$n" "$size")")
        profiled+=("$("$bin/nht1-profile" --quiet -- "$here/../tests/mpi-run" -np 1 "$calls" cost "$work/file" "$n" "$size")")
    done
    python3 -c "a, b = $(median "${alone[@]}"), $(median "${profiled[@]}")
print('%-12s %9.2f us %9.2f us %9.2f us %8.3f' % ('$size B', a * 1e6, b * 1e6, (b - a) * 1e6, b / a))"
done
