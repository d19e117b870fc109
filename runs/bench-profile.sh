#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What nht1-profile adds to a call: write_at to a file in memory, in one process with the library in
# front of MPI and past it in turns. Programs are those of $NHT1_BIN.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=${NHT1_BIN:-$here/../build/bin}
work=$(mktemp -d /dev/shm/nht1-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"

printf '%12s %12s %12s\n' 'a call of' takes 'profiled, more'
for turn in 8:100 65536:20 1048576:1; do # bytes:calls
    "$bin/nht1-profile" --quiet -- "$here/../tests/mpi-run" -np 1 \
        "$(dirname "$bin")/tests/mkcalls" cost file "${turn#*:}" "${turn%:*}"
done
