#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The I/O section of `make bench`: what the file system gives to a program that only writes (raw), and
# what of it each writer of nht1-bt reaches, by layout, group size and durability policy. Writers
# and raw limits take turns, ROUNDS times, each with a fresh file; medians are printed.
# Environment: CLASS (default B), RANKS (default all cores), ROUNDS (default 3), DIR (default: here),
# WRITERS (default all), NHT1_BIN.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${NHT1_BIN:-$root/build/bin}
raw=$(dirname "$bin")/tests/mkraw
class=${CLASS:-B}
ranks=${RANKS:-$(nproc)}
rounds=${ROUNDS:-3}
work=$(mktemp -d "${DIR:-.}/nht1-bench-XXXXXX") || exit 3
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

median() {
    sort -g | awk '{ v[NR] = $1 } END { if (NR) printf "%.6g\n", v[int((NR + 1) / 2)] }'
}

# bt NAME ARGUMENT...: one run, its result in NAME.ROUND.json.
bt() {
    local name=$1
    shift
    rm -f "$work"/dump.bin*
    "$root/tests/mpi-run" -np "$ranks" -t 900 "$bin/nht1-bt" --class "$class" --verify never --quiet \
        --tc-store "$work/tc.json" --out "$work/dump.bin" --json "$work/$name.$round.json" "$@" \
        >"$work/log" 2>&1
    local status=$?
    [ $status = 0 ] || [ $status = 4 ] || { tail -n 2 "$work/log" >&2; return 1; }
}

# raw MODE SYNC: the measure for the writers, in bytes, seconds and seconds.
measure_raw() {
    rm -f "$work"/raw.bin
    "$root/tests/mpi-run" -np "$ranks" -t 900 "$raw" "$work/raw.bin" "$dump_bytes" "$dumps" "$1" "$2" \
        >>"$work/raw.$1.$2"
    rm -f "$work"/raw.bin
}

# value NAME FILTER: median over the rounds.
value() {
    jq -r "$2 // empty" "$work/$1".*.json 2>/dev/null | median
}

# MB/s of raw writing, of its writes alone or with the flush.
raw_rate() {
    awk -v with="$3" '{ print $1 / ($2 + with * $3) / 1e6 }' "$work/raw.$1.$2" | median
}

# row NAME WORDS: one line of the table.
row() {
    local t_t zeta rate sync both
    t_t=$(value "$1" '.runs[0].t_t_s')
    [ -n "$t_t" ] || { printf '%-34s %s\n' "$2" failed; return; }
    zeta=$(value "$1" '.runs[0] | .t_t_s / .t_c_s - 1')
    rate=$(value "$1" '.runs[0] | if .writing_s > 0 then .bytes / .writing_s / 1e6 else 0 end')
    sync=$(value "$1" '.runs[0].phases_s.sync.max')
    both=$(value "$1" '.runs[0].overlap | if .io_s.max > 0 then 100 * .both_s.max / .io_s.max else 0 end')
    awk -v n="$2" -v t="$t_t" -v z="$zeta" -v r="$rate" -v s="$sync" -v b="$both" -v raw="$raw_mb_s" \
        'BEGIN { printf "%-34s %8.3f %7.3f %9.0f %7.2f %8.3f %6.0f %%\n", n, t, z, r, r / raw, s, b }'
}

head_row() {
    printf '\n%s\n%-34s %8s %7s %9s %7s %8s %8s\n' "$1" writer 'T_T s' zeta MB/s 'of raw' 'sync s' overlap
}

writers() {
    if [ -n "${WRITERS:-}" ]; then
        echo "$WRITERS"
    else
        "$bin/nht1-bt" --io help | sed -n 's/^--io all runs.*format: //p'
    fi
}

round=0
bt tc --io none --tc measure || exit 3
dump_bytes=$(jq .problem.dump_bytes "$work/tc.0.json")
dumps=$(jq '.problem.steps / .problem.interval | floor' "$work/tc.0.json")
list=$(writers)
block=$([ $((ranks % 2)) = 0 ] && echo "2x1x$((ranks / 2))" || echo "${ranks}x1x1")

for ((round = 1; round <= rounds; round++)); do
    bt tc --io none --tc measure
    measure_raw buffered none
    for w in $list; do bt "none-$w" --io "$w" --sync none; done
    measure_raw buffered end
    measure_raw direct end
    for w in $list; do bt "end-$w" --io "$w" --sync end; done
    for w in async uring; do [[ " $list " == *" $w "* ]] && bt "direct-$w" --io "$w" --sync end --direct; done
    for w in posix twophase async; do
        for layout in ijkm records; do bt "$layout-$w" --io "$w" --sync none --layout $layout; done
        bt "block-$w" --io "$w" --sync none --decomp "$block"
    done
    for ((g = 1; g <= ranks; g++)); do bt "group$g" --io token-gather --group "$g" --sync none --decomp "$block"; done
done

raw_mb_s=$(raw_rate buffered none 0)
direct_mb_s=$(raw_rate direct end 1)
t_c=$(value tc '.t_c.t_c_s')
echo "class $class, $ranks ranks, $dumps dumps of $dump_bytes bytes, T_C $t_c s, medians of $rounds rounds"
printf '%-52s %9.0f MB/s\n' "raw, page cache, not durable" "$raw_mb_s" \
    "raw, page cache, with fsync" "$(raw_rate buffered end 1)" \
    "raw, O_DIRECT, with fsync" "$direct_mb_s"
awk -v b=$((dump_bytes * dumps)) -v t="$t_c" -v d="$direct_mb_s" 'BEGIN {
    printf "the computation makes %.0f MB/s, half of what the device takes is %.0f MB/s: %s\n", b / t / 1e6,
        d / 2, b / t / 1e6 < d / 2 ? "the device can keep up" : "the device cannot keep up" }'
head_row "not durable (--sync none), layout mijk, decomposition auto"
for w in $list; do row "none-$w" "$w"; done
head_row "durable at the end (--sync end)"
for w in $list; do row "end-$w" "$w"; done
for w in async uring; do [ -e "$work/direct-$w.1.json" ] && row "direct-$w" "$w --direct"; done
head_row "other layouts, not durable"
for layout in ijkm records; do for w in posix twophase async; do row "$layout-$w" "$w, $layout"; done; done
head_row "blocks, decomposition $block, not durable"
for w in posix twophase async; do row "block-$w" "$w"; done
for ((g = 1; g <= ranks; g++)); do row "group$g" "token-gather --group $g"; done
