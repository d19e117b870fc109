# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the result of `make bench`, nht1-bench/1, from its parts:
#
#     jq -n --slurpfile peaks PEAKS --slurpfile launches LAUNCHES -f bench/summary.jq
#
# PEAKS: results of the program peak, one per round. LAUNCHES: one object per start of nht1-bt, with
# its setting and what came out. The best of the peaks counts; times are medians over all runs of a
# setting, with the best beside them.

def median: sort | if length % 2 == 1 then .[length / 2 | floor]
    else (.[length / 2 - 1] + .[length / 2]) / 2 end;

# [{threads, KEY}] of several peaks, the best for each number of threads.
def best($key): add | group_by(.threads)
    | map({threads: .[0].threads, ($key): (map(.[$key]) | max)});

def fma: [$peaks[].fma[]] | group_by(.isa)
    | map({isa: .[0].isa, arithmetic: .[0].arithmetic, width_bits: .[0].width_bits,
        supported: .[0].supported, rates: (map(.rates) | best("flop_per_s"))})
    | sort_by(-.width_bits);

def triad: $peaks | {isa: .[0].triad.isa, array_bytes: .[0].triad.array_bytes,
    rates: (map(.triad.rates) | best("bytes_per_s"))};

# Of so many cores: as measured, else as many times one core.
def peak_of($fma; $isa; $cores): ($fma[] | select(.isa == $isa) | .rates)
    | (map(select(.threads == $cores)) | .[0].flop_per_s)
        // ((map(select(.threads == 1)) | .[0].flop_per_s) * $cores);

def phases: .[0] as $one | ($one.n - 2 | . * . * .) as $cells
    | [.[].runs[].phases_s] as $all
    | reduce ($all[0] | keys_unsorted[]) as $p ({};
        ($all | map(.[$p]) | median / $one.steps) as $s
        | .[$p] = {s_per_step: $s, ns_per_cell: (1e9 * $s * $one.cores / $cells)});

# One line of the table, from all launches of a setting.
def result($fma): .[0] as $one | [.[].runs[].t_t_s] as $t
    | peak_of($fma; $one.isa; $one.cores) as $peak
    | ($one | {class, n, steps, ranks, threads, cores, decomp, grid, isa, isa_asked})
    + {runs_n: ($t | length), verified: ([.[].runs[].verified] | all),
        median_s: ($t | median), best_s: ($t | min),
        gop_per_s: (1e-9 * $one.nominal_flop / ($t | median)),
        best_gop_per_s: (1e-9 * $one.nominal_flop / ($t | min)),
        peak_gflop_per_s: (1e-9 * $peak)}
    | .fraction_of_peak = .gop_per_s / .peak_gflop_per_s
    | .best_fraction_of_peak = .best_gop_per_s / .peak_gflop_per_s;

def costs: {setup_s: (map(.setup_s) | median),
    memory_bytes_per_cell: .[0].memory_bytes_per_cell, phases: phases};

# Against one rank with one thread on the same problem with the same instructions.
def efficiency($all): . as $r
    | ($all | map(select(.class == $r.class and .isa == $r.isa and .cores == 1)) | .[0]) as $one
    | .parallel_efficiency = (if $one then $one.median_s / ($r.cores * $r.median_s) else null end)
    | .best_parallel_efficiency = (if $one then $one.best_s / ($r.cores * $r.best_s) else null end);

fma as $fma
| ($launches | group_by([.order, .class, .ranks, .threads, .decomp, .isa_asked])
    | map(result($fma) + costs)) as $results
| {schema: "nht1-bench/1", rounds: ([$launches[].round] | max), quick: ($launches[0].quick),
    peak: {fma: $fma, triad: triad}, results: ($results | map(efficiency($results))),
    system: $peaks[0].system}
