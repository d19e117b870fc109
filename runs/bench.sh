#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `make bench`: what the processors can do at most (bench/peak.c) and how near to it BT without
# writing comes, over classes, threads, ranks and decompositions. Settings are run in rounds, each
# in an order of its own, so that a disturbance does not meet one setting alone. Prints tables;
# everything is in bench.json. Environment:
#
#   CLASSES    default S W A B; with QUICK=1 S W A
#   ROUNDS     default 3; with QUICK=1 one
#   CORES      use at most so many; default all
#   SETTINGS   lines "RANKS THREADS DECOMP ISA" instead of those that fit the cores
#   PEAK_S     seconds for each peak rate, default 1; with QUICK=1 0.2
#   NHT1_BIN, NHT1_BENCH   folders of nht1-bt and of peak; results go to NHT1_BENCH
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${NHT1_BIN:-$root/build/bin}
bench=${NHT1_BENCH:-$(dirname "$bin")/bench}
quick=${QUICK:+true}
classes=${CLASSES:-S W A${quick:- B}}
classes=${classes/true/}
rounds=${ROUNDS:-$([ -n "$quick" ] && echo 1 || echo 3)}
peak_s=${PEAK_S:-$([ -n "$quick" ] && echo 0.2 || echo 1)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

die() {
    echo "bench: $1" >&2
    exit "${2:-1}"
}

# Physical cores that this process may use.
cores() {
    local allowed physical
    allowed=$(nproc)
    physical=$(lscpu -p=Core,Socket 2>/dev/null | grep -v '^#' | sort -u | wc -l)
    [ "$physical" -ge 1 ] && [ "$physical" -lt "$allowed" ] && allowed=$physical
    echo "$allowed"
}

# 2 4 ... and the number of cores.
counts() {
    local n
    for ((n = 2; n < $1; n *= 2)); do
        echo "$n"
    done
    [ "$1" -gt 1 ] && echo "$1"
}

# RANKS THREADS DECOMP ISA, one line each, in the order of the table.
settings() {
    local all=${CORES:-$(cores)} n decomp
    echo "1 1 auto auto"
    for n in $(counts "$all"); do
        echo "1 $n auto auto"
    done
    for n in $(counts "$all"); do
        for decomp in 1d:z 1d:y 1d:x 3d; do
            echo "$n 1 $decomp auto"
        done
    done
    narrower "$all"
}

# The narrower vectors, where the processor has wider ones.
narrower() {
    jq -e '[.fma[] | select(.supported) | .isa] | index("avx512")' "$work/peak" >/dev/null || return 0
    echo "1 1 auto avx2"
    [ "$1" -gt 1 ] && echo "1 $1 auto avx2"
}

# Runs in one start: short problems are repeated.
repeats() {
    case $1 in
    S) echo 20 ;;
    W) echo 5 ;;
    *) echo 1 ;;
    esac
}

# What the summary needs of a result. On two ranks the middle of a phase is the mean of both. Phases
# of writing do not occur here.
# shellcheck disable=SC2016 # variables of jq
extract='{$class, $round, $order, $quick, $ranks, $threads, cores: ($ranks * $threads), $decomp,
    isa_asked: $isa, isa: (.system.solver_kernel | split("/")[1]), grid: .system.decomp,
    n: .problem.n, steps: .problem.steps, nominal_flop: .problem.nominal_flop,
    setup_s: .system.setup_s, memory_bytes_per_cell: .system.memory_bytes_per_cell,
    runs: [.runs[] | select(.driver == "none" and .completed) | {t_t_s, verified,
        phases_s: (.phases_s
            | map_values(if $ranks == 2 then (.min + .max) / 2 else .median end)
            | .other = .stop + .idle
            | del(.stage, .digest, .write, .agree, .manifest, .sync, .close, .stop, .idle))}]}'

# launch ROUND ORDER CLASS RANKS THREADS DECOMP ISA
launch() {
    OMP_NUM_THREADS=$5 "$root/tests/mpi-run" -np "$4" -t 7200 "$bin/nht1-bt" --class "$3" --io none \
        --decomp "$6" --isa "$7" --repeat "$(repeats "$3")" --tc 1 --progress never --quiet \
        --json "$work/result" || die "class $3 on $4 ranks x $5, $6, $7 failed" 2
    jq -c --argjson round "$1" --argjson order "$2" --arg class "$3" --argjson ranks "$4" \
        --argjson threads "$5" --arg decomp "$6" --arg isa "$7" --argjson quick "${quick:-false}" \
        "$extract" "$work/result" >>"$work/launches" || die "no result" 2
}

# N of a class: slabs for more ranks than that do not exist.
size() {
    case $1 in
    S) echo 12 ;;
    W) echo 24 ;;
    A) echo 64 ;;
    B) echo 102 ;;
    C) echo 162 ;;
    D) echo 408 ;;
    E) echo 1020 ;;
    F) echo 2560 ;;
    *) die "no class '$1': S, W, A, B, C, D, E or F" ;;
    esac
}

# Jobs "ORDER CLASS RANKS THREADS DECOMP ISA".
jobs_list() {
    local class n order=0 ranks threads decomp isa
    for class in $classes; do
        n=$(size "$class") || exit 1
        while read -r ranks threads decomp isa; do
            [ -n "$ranks" ] || continue
            case $decomp in 1d*) [ "$ranks" -le "$n" ] || continue ;; esac
            echo "$((order += 1)) $class $ranks $threads $decomp $isa"
        done <<<"${SETTINGS:-$(settings)}"
    done
}

say() {
    [ -t 2 ] && printf '\r%-70s' "$1" >&2
}

measure() {
    local round order class ranks threads decomp isa
    for ((round = 1; round <= rounds; round++)); do
        say "round $round of $rounds: peak rates"
        "$bench/peak" --seconds "$peak_s" --threads "${CORES:-$(cores)}" --json "$work/peak" ||
            die "peak failed" 2
        cat "$work/peak" >>"$work/peaks"
        [ "$round" -gt 1 ] || jobs_list >"$work/jobs" || exit 1
        while read -r order class ranks threads decomp isa; do
            say "round $round of $rounds: class $class, $ranks x $threads, $decomp, $isa"
            launch "$round" "$order" "$class" "$ranks" "$threads" "$decomp" "$isa"
        done < <(shuf "$work/jobs")
    done
    say ""
    [ -t 2 ] && printf '\r' >&2
}

peak_table() {
    echo "Peak rates (best window)"
    jq -r '.peak | (.fma[] | select(.supported) | . as $u | .rates[]
        | ["\($u.isa), \($u.width_bits) bits, \($u.arithmetic)", .threads, .flop_per_s / 1e9,
            "Gflop/s"]),
        (.triad | .array_bytes as $b | .rates[]
            | ["triad, arrays of \($b / 1048576 | floor) MiB", .threads, .bytes_per_s / 1e9,
                "GB/s"])
        | @tsv' "$1" | awk -F '\t' '{ printf "  %-32s %4d thread%s %9.1f %s\n", $1, $2,
            $2 == 1 ? " " : "s", $3, $4 }'
}

rate_table() {
    echo
    printf '%-5s %7s %-6s %-7s %8s %8s %7s %6s %6s %6s %6s %6s %6s\n' class "rk x th" decomp isa \
        "median s" "best s" Gop/s "% peak" "best %" "eff %" "best %" "setup" B/cell
    jq -r '.results[] | [.class, "\(.ranks) x \(.threads)", .decomp, .isa, .median_s, .best_s,
        .gop_per_s, 100 * .fraction_of_peak, 100 * .best_fraction_of_peak,
        100 * (.parallel_efficiency // 0), 100 * (.best_parallel_efficiency // 0), .setup_s,
        .memory_bytes_per_cell, (if .verified then "" else "NOT VERIFIED" end)] | @tsv' "$1" |
        awk -F '\t' '{
            printf "%-5s %7s %-6s %-7s %8.4f %8.4f %7.2f", $1, $2, $3, $4, $5, $6, $7
            printf " %6.1f %6.1f %6.1f %6.1f %6.3f %6.1f %s\n", $8, $9, $10, $11, $12, $13, $14 }'
}

# phase_table FILE TITLE FIELD SCALE
phase_table() {
    echo
    echo "$2"
    jq -r --arg field "$3" --argjson scale "$4" '(.results[0].phases | keys_unsorted) as $names
        | (["class", "rk x th", "decomp", "isa"] + $names),
        (.results[] | . as $r | [.class, "\(.ranks) x \(.threads)", .decomp, .isa]
            + [$names[] | $r.phases[.][$field] * $scale]) | @tsv' "$1" |
        awk -F '\t' '{ printf "%-5s %7s %-6s %-7s", $1, $2, $3, $4
            for (i = 5; i <= NF; i++) printf NR == 1 ? " %9s" : " %9.3f", $i
            print "" }'
}

[ -x "$bin/nht1-bt" ] && [ -x "$bench/peak" ] ||
    die "nothing is built in $bin and $bench: make bench builds first"
measure
jq -n --slurpfile peaks "$work/peaks" --slurpfile launches "$work/launches" \
    -f "$root/bench/summary.jq" >"$bench/bench.json.new" || die "no summary" 2
mv "$bench/bench.json.new" "$bench/bench.json"
{
    peak_table "$bench/bench.json"
    rate_table "$bench/bench.json"
    phase_table "$bench/bench.json" "Milliseconds per step" s_per_step 1e3
    phase_table "$bench/bench.json" "Nanoseconds per interior cell and core" ns_per_cell 1
} | tee "$bench/bench.txt"
echo "Complete result: $bench/bench.json"
jq -e '[.results[].verified] | all' "$bench/bench.json" >/dev/null || die "a run is not verified" 2
