#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# MPI libraries beside each other: nht1-bt with every writer, and nht1-beff, of two or more builds, in
# turn on the same machine. Prints the tables of docs/measurements/portability.md.
#
#     runs/compare-mpi.sh [-c "CLASS..."] [-r REPEATS] [-n RANKS] [-o FOLDER] BUILD...
#
#     make && make MPICC=mpicc.mpich O=build-mpich && runs/compare-mpi.sh build build-mpich
#
# Default: classes W and A, 5 rounds, a rank per core, results and files in runs/out/compare-mpi.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
classes="W A" repeats=5 ranks=$(nproc) out=$here/runs/out/compare-mpi
while getopts c:r:n:o: option; do
    case $option in
    c) classes=$OPTARG ;;
    r) repeats=$OPTARG ;;
    n) ranks=$OPTARG ;;
    o) out=$OPTARG ;;
    *) sed -n '6,10s/^# *//p' "$0" >&2 && exit 1 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || { sed -n '6,10s/^# *//p' "$0" >&2 && exit 1; }
mkdir -p "$out"

# Turn by turn, so that a slow hour of the machine meets all of them.
builds=()
for build in "$@"; do
    builds+=("$(cd "$build" && pwd)")
done
for class in $classes; do
    for build in "${builds[@]}"; do
        XDG_STATE_HOME=$out/state-${build##*/} "$here/tests/mpi-run" -np "$ranks" -t 7200 "$build/bin/nht1-bt" \
            --class "$class" --io all --repeat "$repeats" --quiet --out "$out/dump.bin" \
            --json "$out/bt-$class-${build##*/}.json"
    done
done
for build in "${builds[@]}"; do
    "$here/tests/mpi-run" -np "$ranks" -t 7200 "$build/bin/nht1-beff" --quick \
        --json "$out/beff-${build##*/}.json" >"$out/beff-${build##*/}.txt" || [ $? -eq 4 ]
done

for class in $classes; do
    for build in "${builds[@]}"; do
        file=$out/bt-$class-${build##*/}.json
        printf '\nclass %s, %s\n\n| writer | T_T, s | R_IO, MB/s | zeta |\n|---|---|---|---|\n' "$class" \
            "$(jq -r '.system.mpi.library | gsub("\\s+"; " ") | split(",")[0]' "$file")"
        jq -r 'def d(n): if . == null then "-" else . * pow(10; n) | round / pow(10; n) end;
            .ranking[] | "| \(.writer) | \(.t_t_s | d(3)) | \(.r_io_bytes_per_s | if . then . / 1e6 else . end | d(1)) | \(.zeta | d(3)) |"' \
            "$file"
    done
done
printf '\n| nht1-beff --quick | b_eff, MB/s | ping-pong, us | ping-pong, MB/s |\n|---|---|---|---|\n'
for build in "${builds[@]}"; do
    jq -r '(.system.mpi.library | gsub("\\s+"; " ") | split(",")[0]) as $mpi | .result |
        "| \($mpi) | \(.b_eff_bytes_per_s / 1e6 | round) | \(.ping_pong_latency_s * 1e7 | round / 10) | \(
        .ping_pong_bytes_per_s / 1e6 | round) |"' "$out/beff-${build##*/}.json"
done
