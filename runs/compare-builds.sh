#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two builds of nht1-bt beside each other, without writing: OLD and NEW in turn, the first of a round changing,
# and the median over rounds of NEW's time over OLD's, for the whole run, the right-hand side and the three sweeps.
#
#     runs/compare-builds.sh [-c "CLASS..."] [-r ROUNDS] [-i "ISA..."] [-s STEPS] OLD NEW
#
#     git worktree add ../old COMMIT && make -C ../old && make && runs/compare-builds.sh ../old/build build
#
# Default: classes A and B, 7 rounds, avx512 and avx2, all steps of a class; one core, two threads, two ranks in
# each direction. Fewer steps, more rounds: on a busy machine the ratio of a short pair is disturbed less often.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
classes="A B" rounds=7 isas="avx512 avx2" steps=
while getopts c:r:i:s: option; do
    case $option in
    c) classes=$OPTARG ;;
    r) rounds=$OPTARG ;;
    i) isas=$OPTARG ;;
    s) steps=$OPTARG ;;
    *) sed -n '6,11s/^# *//p' "$0" >&2 && exit 1 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -eq 2 ] || { sed -n '6,11s/^# *//p' "$0" >&2 && exit 1; }
declare -A build
build[old]=$(cd "$1" && pwd) build[new]=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

measure() { # BUILD CLASS ISA RANKS THREADS DECOMP RESULT
    OMP_NUM_THREADS=$5 "$here/tests/mpi-run" -np "$4" -t 600 "$1/bin/nht1-bt" --io none --tc 1 --quiet \
        --class "$2" ${steps:+--steps="$steps"} --isa "$3" --decomp "$6" --profile --json "$7" >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; exit 1; }
}

printf '%-6s %-7s %-6s %-5s  %8s %8s  %6s %6s %6s\n' class isa setting split 'old s' 'new s' run rhs sweeps
for class in $classes; do
    for isa in $isas; do
        while read -r ranks threads decomp; do
            rm -f "$work"/*.json
            for ((i = 1; i <= rounds; i++)); do
                order="old new"
                [ $((i % 2)) -eq 1 ] || order="new old"
                for which in $order; do
                    measure "${build[$which]}" "$class" "$isa" "$ranks" "$threads" "$decomp" \
                        "$work/$which.$i.json"
                done
            done
            NHT1_BIN=${build[new]}/bin PYTHONPATH=$here/runs python3 -B - "$work" "$rounds" "$class" "$isa" \
                "$ranks x $threads" "$decomp" <<'PYTHON'
import json
import sys

from nht1 import stats

folder, rounds, *labels = sys.argv[1:]


def seconds(build, i):
    run = json.load(open(f"{folder}/{build}.{i}.json"))["runs"][0]
    part = {name: phase["mean"] for name, phase in run["phases_s"].items()}
    return run["t_t_s"], part["rhs"], part["xi"] + part["eta"] + part["zeta"]


pairs = [(seconds("old", i), seconds("new", i)) for i in range(1, int(rounds) + 1)]
median = [stats.median([pair[k][0] for pair in pairs]) for k in (0, 1)]
ratio = [stats.median([new[p] / old[p] for old, new in pairs]) for p in range(3)]
print("%-6s %-7s %-6s %-5s  %8.3f %8.3f  %6.3f %6.3f %6.3f" % (*labels, *median, *ratio))
PYTHON
        done <<'SETTINGS'
1 1 auto
1 2 auto
2 1 1d:z
2 1 1d:y
2 1 1d:x
SETTINGS
    done
done
