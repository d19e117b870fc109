#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What nht1-profile adds to a call on a file in memory, in one process with the library in front of MPI and
# past it in turns, with many requests outstanding, many files open and nested types. Programs are those of $NHT1_BIN.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=${NHT1_BIN:-$here/../build/bin}
# Files in /dev are never followed by their POSIX calls, so that a call past the library does not cost what it adds
# to those inside MPI-IO.
work=$(mktemp -d /dev/shm/nht1-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"

calls() {
    "$bin/nht1-profile" --quiet -- "$here/../tests/mpi-run" -np 1 "$(dirname "$bin")/tests/mkcalls" "$@"
}

printf '%-26s %12s %12s\n' 'a call' takes 'profiled, more'
for turn in 8:100 65536:20 1048576:1; do # bytes:calls
    calls cost file "${turn#*:}" "${turn%:*}"
done
# Those that are to be followed lie in $TMPDIR, in the page cache.
folder=$(mktemp -d)
trap 'rm -rf "$work" "$folder"' EXIT
for turn in 8:1000 65536:100; do
    (cd "$folder" && calls cost-posix file "${turn#*:}" "${turn%:*}")
done
for n in 2000 10000; do
    calls cost-waitany file "$n"
done
calls cost-view file 1
calls cost-view file 20
for n in 300 ${FILES:-10000}; do
    calls cost-open file "$n"
    rm -f file.*
done
