#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-stats: requests as JSON, answers as JSON, against values worked out by hand (R where said).
load helpers

# asked REQUEST...: into answers.json.
asked() {
    local IFS=,
    echo "{\"requests\": [$*]}" >requests.json
    "$NHT1_ROOT/tests/schema" "$NHT1_ROOT/docs/schema/nht1-stats-requests-1.json" requests.json
    nht1-stats --requests - <requests.json >answers.json
    expect_schema nht1-stats-1 answers.json
}

# near FILTER VALUE: the number in the answers, to 9 digits.
near() {
    jq -e --argjson want "$2" "(.answers | $1) as \$got | (\$got - \$want) | fabs <= 1e-9 * (\$want | fabs)" \
        answers.json >/dev/null || { jq -c ".answers | $1" answers.json && echo "is not $2" && return 1; }
}

@test "summary: median, quartiles, spread, outliers; an interval where a level asks for it" {
    asked '{"what": "summary", "values": [3.1, 1.2, 9.7, 4.4, 2.8]}' \
        '{"what": "summary", "values": [1, 1.1, 0.9, 1.05, 0.95, 50], "level": 0.95}' \
        '{"what": "summary", "values": [2.5], "level": 0.9}'
    near '.[0].median' 3.1
    near '.[0].q3' 4.4
    near '.[0].mean' 4.24
    near '.[0].sd' 3.2577599669957264
    expect_json answers.json '.answers[0].ci_lo == null'
    expect_json answers.json '.answers[1] | .outliers == 1 and .ci_lo >= 0.9 and .ci_lo < .median and .ci_hi > .median'
    expect_json answers.json '.answers[2] | .ci_lo == 2.5 and .ci_hi == 2.5 and .n == 1'
}

@test "percentiles are linear between order statistics" {
    asked '{"what": "percentiles", "values": [40, 10, 30, 20, 50], "at": [0, 25, 50, 90, 100]}'
    expect_json answers.json '.answers[0].values == [10, 20, 30, 46, 50]'
}

@test "ratios: of medians, and of values that belong together" {
    asked '{"what": "ratio", "a": [1, 2, 3], "b": [4, 4.2, 3.8], "level": 0.95}' \
        '{"what": "paired", "a": [1, 2, 4], "b": [1.1, 2.4, 4.4], "level": 0.95}' \
        '{"what": "paired", "a": [2], "b": [3]}' \
        '{"what": "paired", "a": [1, 1, 1], "b": [1.1, 1.4, 1.2], "level": 0.95, "goal": 1.1}' \
        '{"what": "paired", "a": [1, 1, 1], "b": [1, 1.5, 2], "level": 0.95, "goal": 1.5}'
    near '.[0].ratio' 2
    expect_json answers.json '.answers[0] | .ratio_lo < 2 and .ratio_hi > 2'
    near '.[1].ratio' 1.1
    near '.[1].ratio_hi' 1.2
    near '.[2].ratio' 1.5
    # As far from the goal as the interval is wide there: no fewer than one more.
    expect_json answers.json '.answers[3] | .needed_n == 4 and .ratio_lo == 1.1'
    expect_json answers.json '.answers[4] | has("needed_n") and .needed_n == null'
    expect_json answers.json '.answers[1] | has("needed_n") | not'
}

@test "balance: zeta and data of rounds, judged at one look or at those of rounds that go on" {
    local eight='"zeta": [0.05, 0.06, 0.04, 0.05, 0.055, 0.045, 0.05, 0.06], "data": [0.004, 0.003, 0.005, 0.004, 0.004, 0.003, 0.005, 0.004]'
    local quiet='[0, 0, 0, 0, 0, 0, 0, 0]' half='[1, 0, 1, 0, 1, 0, 1, 0]'
    asked "{\"what\": \"balance\", $eight, \"disturbed\": $quiet, \"shared\": $quiet}" \
        "{\"what\": \"balance\", $eight, \"disturbed\": $half, \"shared\": $quiet, \"rounds_max\": 64}" \
        "{\"what\": \"balance\", $eight, \"disturbed\": $quiet, \"shared\": $half, \"rounds_max\": 64}" \
        '{"what": "balance", "zeta": [0.05], "data": [0.05], "disturbed": [0], "shared": [0], "rounds_max": 6, "level": 0.9}'
    expect_json answers.json '.answers[0] | .answer == "io-faster-than-needed" and .settled and .zeta == {median: 0.05, lo: 0.04, hi: 0.06}'
    near ".[0].data_factor" 9 # 1 + (0.10 - 0.06) / 0.005
    expect_json answers.json '.answers[1] | [.answer, .reason, .settled] == ["not-measurable", "disturbed", false] and (.why | contains("4 of 8 rounds"))'
    expect_json answers.json '.answers[2] | [.answer, .reason, .settled] == ["not-measurable", "processors-shared", true]'
    expect_json answers.json '.answers[3] | .answer == "undecided" and (.settled | not) and .zeta.lo == null and .rounds_needed == null'
}

# p of R: wilcox.test, t.test of the logarithms, p.adjust(method = "holm").
@test "differences: rank test, Welch's test, Holm's correction, and all on average" {
    asked '{"what": "differences", "level": 0.95, "pairs": [
        {"a": [1.00, 1.01, 1.02, 0.99, 0.98, 1.03], "b": [1.10, 1.12, 1.09, 1.11, 1.13, 1.08], "pool": true},
        {"a": [2.00, 2.02, 1.99, 2.01], "b": [2.01, 2.00, 2.03, 1.98], "pool": true},
        {"a": [1, 2], "b": [1, 2, 3]}]}'
    near '.[0].pairs[0].p_mann_whitney' 0.0021645021645021645
    expect_json answers.json '.answers[0].pairs[0] | .test == "Mann-Whitney" and .tested and .p_corrected < 0.01 and .ratio_lo > 1.05'
    expect_json answers.json '.answers[0].pairs[1] | .test == "Welch" and .p_corrected > 0.5'
    expect_json answers.json '.answers[0].pairs[2] | .tested == false and .p_corrected == null and .test == null'
    expect_json answers.json '.answers[0].pooled | .n == 2 and .ratio > 1.03 and .ratio < 1.07 and .p_corrected < 0.001'
}

# Means of logarithms over one pair, then over the pairs: sqrt(2 * 8) and sqrt(4 * 8); the medians
# would say sqrt(2 * 9) for a.
@test "the average of pooled pairs is one estimate: means, ratio and interval" {
    asked '{"what": "differences", "level": 0.95, "runs_min": 3, "pairs": [
        {"a": [1, 2, 4], "b": [2, 4, 8], "pool": true},
        {"a": [4, 9, 14.222222222222221], "b": [4, 16, 8], "pool": true}]}'
    near '.[0].pooled.a_mean' 4
    near '.[0].pooled.b_mean' 5.656854249492381
    near '.[0].pooled.ratio' 1.4142135623730951
    expect_json answers.json '.answers[0].pairs[1] | .a_median == 9 and .b_median == 8'
    expect_json answers.json '.answers[0].pooled | has("a_median") or has("b_median") | not'
    # Lower and upper end are equally far off the ratio, as ratios go.
    near '.[0].pooled | .ratio_lo * .ratio_hi / .ratio' 1.4142135623730951
}

@test "every ratio is that of the two values beside it, for random values" {
    python3 - >requests.json <<'END'
import json, random
rng = random.Random(1993)
def sample():
    scale = 10 ** rng.uniform(-9, 9)
    return [scale * rng.lognormvariate(0, rng.choice((0, 0.01, 1, 3)))
            for _ in range(rng.randrange(2, 12))]
print(json.dumps({'requests': [
    {'what': 'differences', 'level': 0.95, 'runs_min': rng.choice((2, 3)), 'pairs': [
        {'a': sample(), 'b': sample(), 'pool': rng.random() < 0.7}
        for _ in range(rng.randrange(1, 9))]} for _ in range(200)] + [
    {'what': 'ratio', 'a': sample(), 'b': sample(), 'level': 0.9} for _ in range(200)]}))
END
    nht1-stats --requests requests.json >answers.json
    expect_schema nht1-stats-1 answers.json
    expect_json answers.json '[.answers[].pooled | select(. != null)] | length > 100'
    expect_json answers.json '[.answers[] | (if .pairs then .pairs[], .pooled else . end) | select(. != null)
        | (.ratio / ((.b_mean // .b_median) / (.a_mean // .a_median)) - 1) | fabs < 1e-12] | length > 900 and all'
    # That of a mean of logarithms holds its own ratio; the one of medians is of medians of resampled values.
    expect_json answers.json '[.answers[].pooled | select(. != null) | .ratio * (1 + 1e-12) >= .ratio_lo
        and .ratio <= .ratio_hi * (1 + 1e-12)] | all'
}

@test "fits: power law, parabola and where it reaches a level" {
    asked '{"what": "power", "x": [1, 2, 4, 8], "y": [3, 1.5, 0.75, 0.375]}' \
        '{"what": "polynomial", "degree": 2, "x": [0, 1, 2, 3], "y": [1, 2, 5, 10], "at": [4],
          "reaches": {"level": 5, "from": 0, "to": 6}}' \
        '{"what": "polynomial", "degree": 1, "x": [0, 1], "y": [1, 0], "reaches": {"level": 5, "from": 0, "to": 6}}'
    near '.[0].exponent' -1
    near '.[0].factor' 3
    near '.[1].at[0].y' 17
    near '.[1].reaches.x' 2
    expect_json answers.json '.answers[2].reaches == null'
}

@test "rank correlation: exact for few points, none of two" {
    asked '{"what": "correlation", "x": [1, 2, 3, 4], "y": [10, 20, 40, 30]}' \
        '{"what": "correlation", "x": [1, 2, 3, 4, 5], "y": [5, 4, 3, 2, 1]}' \
        '{"what": "correlation", "x": [1, 2], "y": [1, 2]}' \
        '{"what": "correlation", "x": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "y": [2, 1, 4, 3, 6, 5, 8, 7, 10, 9]}'
    near '.[0].spearman' 0.8
    near '.[0].p' 0.3333333333333333
    near '.[1].spearman' -1
    near '.[1].p' 0.016666666666666666
    expect_json answers.json '.answers[2].error | length > 0'
    near '.[3].spearman' 0.9393939393939394
    expect_json answers.json '.answers[3].p | . > 5.4e-05 and . < 5.5e-05'
}

@test "a statistic that does not exist is said, and the others are answered" {
    asked '{"what": "power", "x": [1, 1], "y": [2, 3]}' '{"what": "summary", "values": [1]}'
    expect_json answers.json '.answers | (.[0].error | length > 0) and .[1].median == 1'
}

@test "requests that are not understood are refused by number" {
    local bad
    for bad in '{"what": "mode", "values": [1]}' '{"what": "summary"}' '{"what": "summary", "values": []}' \
        '{"what": "summary", "values": [1, "x"]}' '{"what": "summary", "values": [1], "level": 2}' \
        '{"what": "ratio", "a": [0], "b": [1]}' '{"what": "paired", "a": [1], "b": [1, 2]}' \
        '{"what": "percentiles", "values": [1], "at": [101]}' '7' \
        '{"what": "polynomial", "x": [1], "y": [1], "degree": 3}'; do
        echo "{\"requests\": [{\"what\": \"summary\", \"values\": [1]}, $bad]}" >requests.json
        run nht1-stats --requests requests.json
        expect_status 1
        expect_text "requests[1]"
    done
    for bad in '' '[]' '{}' '{"requests": 1}' '{"requests": [{"what": "summary", "values": [1e999]}]}'; do
        echo "$bad" >requests.json
        run nht1-stats --requests requests.json
        expect_status 1
    done
    run nht1-stats --requests missing.json
    expect_status 3
    run nht1-stats
    expect_status 1
}

@test "numbers on the command line are summed up" {
    nht1-stats --level 0.9 -- 0.01 -0.02 0.04 >s.json
    expect_schema nht1-report-stats-1 s.json
    expect_json s.json '.median == 0.01 and .n == 3 and .level == 0.9'
    run nht1-stats 1 x
    expect_status 1
}
