#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# `make bench`: the programs behind it and the result they leave. No test here looks at a speed.

load helpers

setup_file() {
    real_python
    export BENCH
    BENCH=$(dirname "${NHT1_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/build/bin}")/bench
}

# bench PART NAME=VALUE...: compute or io, with results in ./out.
bench() {
    local part=$1
    shift
    mkdir -p out
    cp "$BENCH"/{peak,rawfile} out
    # Nothing is measured here: who waits, sleeps.
    run env LD_PRELOAD="${NHT1_PRELOAD:-}" OMP_WAIT_POLICY=passive QUICK=1 PEAK_S=0.02 PEAK_ARRAY=1Mi \
        CORES=$(($(nproc) < 4 ? $(nproc) : 4)) PYTHONPATH="$NHT1_ROOT/runs" "$@" \
        python3 -B -m nht1.bench "$part" "$PWD/out"
}

# expect FILTER [FILE]: the filter yields true.
expect() {
    [ "$(jq "$1" "${2:-out/bench.json}")" = true ] || { echo "not so: $1" && return 1; }
}

@test "the quick bench on class S: tables, and a result that fits together" {
    slow
    bench compute CLASSES=S
    expect_status 0
    expect_text "% peak"
    expect_text "Milliseconds per step"
    expect_text "pipe_wait"
    expect '.schema == "nht1-bench/1" and .quick and .rounds == 1'
    expect '.results | length >= 1 and all(.class == "S" and .verified and .runs_n == 20)'
    expect '[.results[] | .best_s <= .median_s and .best_s > 0] | all'
    # Of times measured in milliseconds on a busy machine there is no more to say.
    expect '[.results[] | .fraction_of_peak > 0 and (.gop_per_s / .peak_gflop_per_s / .fraction_of_peak - 1 | fabs) < 1e-9] | all'
    expect '[.results[] | (.gop_per_s * .median_s / 0.22831380 - 1) | fabs < 1e-6] | all'
    expect '[.results[] | .memory_bytes_per_cell > 100 and .setup_s >= 0] | all'
    expect '[.results[] | ([.phases[] | .s_per_step] | add) > 0] | all'
    expect '.results[0] | .ranks == 1 and .threads == 1 and .parallel_efficiency == 1'
    [ "$(jq '[.results[].ranks] | max' out/bench.json)" -le "$(nproc)" ]
}

@test "settings are taken from outside, and every round runs each" {
    slow
    local isa=avx2 # generic code takes ten times as long
    grep -qw avx2 /proc/cpuinfo || isa=generic
    bench compute CLASSES=S ROUNDS=2 SETTINGS="1 1 auto $isa"$'\n2 1 1d:y auto'
    expect_status 0
    expect '.rounds == 2 and (.results | length == 2 and all(.runs_n == 40))'
    expect '.results[0].isa == "'$isa'" and .results[0].isa_asked == "'$isa'" and .results[1].decomp == "1d:y"'
    expect '.results[1].grid == "1x2x1"'
}

@test "an unknown class is refused, a run that fails is told" {
    slow
    bench compute CLASSES=Q
    expect_status 1
    expect_text "no class 'Q'"
    bench compute CLASSES=S SETTINGS="1 1 auto sse17"
    expect_status 3
    expect_text "sse17"
    [ ! -e out/bench.json ]
}

@test "the bench of writing: raw rates, every writer, layouts and groups" {
    slow
    bench io CLASS=S RANKS=2 WRITERS=posix
    expect_status 0
    [ "$(grep -c '^raw, .* MB/s$' <<<"$output")" -eq 3 ]
    expect_text "durable at the end"
    grep -Eq '^posix +[0-9.]+ +-?[0-9.]+ ' <<<"$output"
    grep -q '^twophase, records ' <<<"$output"
    grep -Eq '^raw reading of a dump: cold [0-9]+ MB/s, warm [0-9]+ MB/s$' <<<"$output"
    sed '1,/^reading the last dump/d' <<<"$output" | grep -Eq '^posix +([0-9]+ [0-9.]+ *){6}$'
    grep -q '^token-gather --group 2 ' <<<"$output"
    bench io CLASS=Q
    expect_status 1
}

@test "the bench of bookkeeping: manifest and agreement, staging with its two bounds" {
    slow
    mkdir out
    cp "$BENCH/staging" out
    bench bookkeeping CLASSES=S RANKS=1 STAGING_S=0.001
    expect_status 0
    grep -Eq '^S +none +6( +[0-9.]+){4}$' <<<"$output"
    [ "$(grep -Ec '^[SWAB] +[0-9]+( +[0-9.]+){5} *$' <<<"$output")" -eq 8 ]
    "$BENCH/staging" --seconds 0.001 --json s.json
    expect '[.results[] | .warm, .cold | .pairs_n >= 15 and ([.copy_s, .take_s, .ratio, .bound, .rows] | min) > 0]
        | length == 8 and all' s.json
}

@test "injected slowdowns: with a relative folder of the build, within the time, a row for each amount, and no more when asked again" {
    slow
    local build here=$PWD
    build=$(realpath --relative-to="$NHT1_ROOT" "$(dirname "$BENCH")")
    verdicts() {
        cd "$NHT1_ROOT" && O=$build bench/verdicts slower --n 1 --percent "$1" --minutes 0.02 --files "$here" --out "$here/rows"
    }
    run verdicts 5,30
    expect_status 0
    [ "$(grep -Ec '^\| (5|30) % \| 1 \| [01] ' <<<"$output")" -eq 2 ]
    [ "$(jq -s 'map(.percent) | sort == [5, 30]' rows)" = true ]
    [ "$(jq -s 'map(.rounds >= 1 and .delay_us > 0 and .what == "slower") | all' rows)" = true ]
    run verdicts 5,30
    expect_status 0
    [ "$(wc -l <rows)" -eq 2 ]
}

@test "peak rates: every instruction set, positive where the processor has it" {
    "$BENCH/peak" --seconds 0.02 --array 1Mi --threads 2 --json p.json
    expect '[.fma[] | select(.supported) | .rates[] | .flop_per_s > 0] | length > 0 and all' p.json
    expect '[.fma[] | select(.supported | not) | .rates == []] | all' p.json
    expect '[.fma[] | select(.supported) | [.rates[].threads] == [1, 2]] | all' p.json
    expect '[.triad.rates[].bytes_per_s > 0] | length > 0 and all' p.json
    run "$BENCH/peak" --threads 0
    expect_status 1
}

@test "kernels alone: every one of every instruction set that is here, or of one" {
    "$BENCH/kernels" --seconds 0.01 --n 12 --json k.json >table
    expect '.n == 12 and ([.kernels[] | .cell_ns > 0] | all)' k.json
    expect '[.kernels[].isa] | unique | length > 0' k.json
    expect '.kernels | group_by(.isa) | map([.[].kernel] | sort) | unique | length == 1' k.json
    [ "$(grep -c 'elimination' table)" = "$(jq '[.kernels[] | select(.kernel | startswith("elim"))] | length' k.json)" ]
    "$BENCH/kernels" --seconds 0.01 --n 6 --isa generic --json - 2>/dev/null >k.json
    expect '[.kernels[].isa] | unique == ["generic"]' k.json
    run "$BENCH/kernels" --isa no-such
    expect_status 1
}

# A result of a computer that behaves as the model says: c = 10 ns, l = 0 in every phase. Along xi, rows
# that whole vectors leave over share vectors; the other phases pad each row.
perfect() {
    jq -n '{schema: "nht1-bench/1", results: [{c: "W", n: 24}, {c: "A", n: 64}] | map(. as $p
        | ($p.n - 2) as $i | (($i / 8 | ceil) * 8 * $i * $i * 1e-8) as $s
        | ((($i / 8 | floor) * $i + ($i % 8 * $i / 8 | ceil)) * 8 * $i * 1e-8) as $xi
        | {class: $p.c, n: $p.n, steps: 200, ranks: 1, threads: 1, decomp: "auto", grid: "1x1x1",
            isa_asked: "auto", median_s: ((3 * $s + $xi) * 200),
            phases: ({rhs: $s, xi: $xi, eta: $s, zeta: $s} | map_values({s_per_step: .}))})}'
}

@test "the model finds the parameters that a result was made with" {
    perfect >perfect.json
    run "$BENCH/model" --json m.json perfect.json
    expect_status 0
    expect_text "PREDICTED, not measured: class D"
    expect '[.parameters.rhs, .parameters.xi, .parameters.eta, .parameters.zeta
        | (.s_per_cell * 1e8 - 1 | fabs < 1e-6) and .s_per_line < 1e-13] | all' m.json
    expect '[.comparison[] | .model_s_per_step / .measured_s_per_step - 1 | fabs < 1e-6]
        | length > 0 and all' m.json
    expect '[.predictions[].ranks[]["3d"].parallel_efficiency | . > 0 and . <= 1.001]
        | length > 0 and all' m.json
}

# Blocks of fewer cells have no inner lines behind which a halo could be exchanged: one more division may then cost what it brings.
@test "in the model more ranks are never slower while each has 20^3 cells, and a better network helps" {
    perfect >perfect.json
    "$BENCH/model" --json slow.json --bandwidth 0.1 perfect.json
    "$BENCH/model" --json fast.json --bandwidth 10 perfect.json
    expect '[.predictions[] | (.n * .n * .n / 8000) as $most
        | [.ranks[] | select(.ranks <= $most)["3d"].s_per_step] | . == (sort | reverse)]
        | length > 0 and all' fast.json
    jq '[.predictions[].ranks[]["3d"].s_per_step]' slow.json >slow
    jq '[.predictions[].ranks[]["3d"].s_per_step]' fast.json >fast
    [ "$(jq -n --slurpfile a slow --slurpfile b fast '[range($a[0] | length)
        | $a[0][.] > $b[0][.]] | length > 0 and all')" = true ]
}

@test "in the model a long chain of small blocks has enough groups under way not to wait for them" {
    perfect >perfect.json
    "$BENCH/model" --json m.json --bandwidth 1000 perfect.json
    expect '.predictions[] | select(.class == "D") | [.ranks[] | select(.ranks == 512 or .ranks == 4096)["3d"].pipe_s]
        | .[1] < .[0]' m.json
    "$BENCH/model" --json near.json --latency 0 --overhead 0 --bandwidth 1000 perfect.json
    jq '.predictions[] | select(.class == "D") | .ranks[] | select(.ranks == 4096)["3d"].pipe_s' m.json near.json >pipe
    [ "$(jq -s '.[1] < 0.5 * .[0]' pipe)" = true ]
}

@test "the model predicts ranks x threads on nodes of many cores; the link of a node counts" {
    run "$BENCH/model" --reference --classes D --cores 64 --json near.json
    expect_status 0
    expect_text "Nodes of 64 cores on 2 sockets"
    expect '.predictions[0].splits | group_by(.nodes) | map(map(select(.best)) | length == 1) | length == 11 and all' near.json
    expect '.predictions[0].splits | [.[] | .ranks * .threads == .nodes * 64] | all' near.json
    "$BENCH/model" --reference --classes D --cores 64 --link 1 --json far.json
    jq '.predictions[0].splits[] | select(.nodes == 64 and .per == "core").s_per_step' near.json far.json >step
    [ "$(jq -s '.[0] < .[1]' step)" = true ]
    run "$BENCH/model" --reference far.json
    expect_status 1
}

@test "the model refuses what it cannot read" {
    run "$BENCH/model" missing.json
    expect_status 3
    echo '{"results": []}' >empty.json
    run "$BENCH/model" empty.json
    expect_status 1
    expect_text "no results"
    run "$BENCH/model"
    expect_status 1
    expect_text "BENCH.json"
}

# recorded SPREAD: a record of 100 rounds, T_C 1 s and T_T 1.1 s, which vary by so much, evenly.
recorded() {
    jq -n --argjson spread "$1" '{runs: [range(1; 101) as $k | (1 + $spread * (($k * 37 % 101) / 101 - 0.5)) as $by |
        {driver: "none", round: $k, t_t_s: 1}, {driver: "posix", round: $k, t_t_s: (1.1 * $by)}]}' >record.json
}

@test "resampled rounds: what is slower is found where noise is small, what is the same is not called different" {
    slow
    recorded 0.04
    run "$NHT1_ROOT/bench/resample" record.json --n 40 --percent 0,5 --rounds 64 --each 20
    expect_status 0
    # 40 tries: at most two wrong ones, and all that is 5 % slower, by both metrics.
    [ "$(grep -cE '^\| T_T( / T_C)? \| 5 % \| 64 \| 100.0 \| 0.0 \|' <<<"$output")" -eq 2 ]
    [ "$(grep -cE '^\| T_T( / T_C)? \| 0 % \| 64 \| [0-5]\.[05] \| [0-5]\.[05] \|' <<<"$output")" -eq 2 ]
    [ "$(grep -cE '^\| T_T( / T_C)? \| 5 % \| 20 \| (9[0-9]\.[05]|100\.0) \| 0.0 \|' <<<"$output")" -eq 2 ]
    # Hidden in noise it is undecided, and never called better.
    recorded 1
    run "$NHT1_ROOT/bench/resample" record.json --n 40 --percent 5 --rounds 20 --each 8
    expect_status 0
    [ "$(grep -cE '^\| T_T \| 5 % \| 20 \| [0-9.]+ \| [0-5]\.[05] \|' <<<"$output")" -eq 1 ]
    # The same noise, a hundredth of it, hides nothing.
    run "$NHT1_ROOT/bench/resample" record.json --n 40 --percent 5 --rounds 20 --each 8 --noise 0.01
    expect_status 0
    [ "$(grep -cE '^\| T_T \| 5 % \| 20 \| 100.0 \| 0.0 \|' <<<"$output")" -eq 1 ]
    run "$NHT1_ROOT/bench/resample" record.json --each 60
    expect_status 1
    expect_text "holds 100 rounds with a compute-only run; 120 are needed"
}
