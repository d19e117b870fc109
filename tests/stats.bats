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
        '{"what": "summary", "values": [2.5], "level": 0.9}' \
        '{"what": "summary", "values": [1.6e308, 1.2e308]}' '{"what": "summary", "values": [1e-200, 3e-200]}' \
        '{"what": "summary", "values": [1.7e308, -1.7e308]}'
    near '.[0].median' 3.1
    near '.[0].q3' 4.4
    near '.[0].mean' 4.24
    near '.[0].sd' 3.2577599669957264
    expect_json answers.json '.answers[0].ci_lo == null'
    expect_json answers.json '.answers[1] | .outliers == 1 and .ci_lo == 0.9 and .ci_hi == 50'
    expect_json answers.json '.answers[2] | .ci_lo == null and .ci_hi == null and .n == 1'
    # Sums and squares need not be numbers.
    near '.[3].median' 1.4e308
    near '.[3].sd' 2.8284271247461903e307
    near '.[4].sd' 1.4142135623730951e-200
    expect_json answers.json '.answers[5] | .median == 0 and .sd == null'
}

@test "percentiles are linear between order statistics" {
    asked '{"what": "percentiles", "values": [40, 10, 30, 20, 50], "at": [0, 25, 50, 90, 100]}'
    expect_json answers.json '.answers[0].values == [10, 20, 30, 46, 50]'
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
    expect_json answers.json '.answers[3] | .answer == "undecided" and (.settled | not) and .zeta.lo == null and .rounds_needed == null and .above_n == 0'
    # The median says nothing of a stall: all values count here, also where jobs have several.
    asked '{"what": "balance", "zeta": [0.05, 0.95, 0.04, 0.05, 0.055, 0.045, 0.05, 0.1], "data": [0, 0, 0, 0, 0, 0, 0, 0],
        "disturbed": [0, 0, 0, 0, 0, 0, 0, 0], "shared": [0, 0, 0, 0, 0, 0, 0, 0], "jobs": [0, 0, 0, 0, 1, 1, 1, 1]}'
    expect_json answers.json '.answers[0] | .jobs == 2 and .above_n == 1 and (.mean - 0.1675 | fabs) < 1e-12'
}

@test "jobs count by their medians, in the order of their first values" {
    # That the medians rise can be seen in this order alone.
    local rising='0.02, 0.04, 0.06, 0.08, 0.10, 0.12, 0.14, 0.16, 0.18' jobs='9, 8, 7, 6, 5, 4, 3, 2, 1'
    asked "{\"what\": \"centres\", \"level\": 0.95, \"metrics\": [
            {\"values\": [$rising, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
             \"jobs\": [$jobs, $jobs, $jobs]},
            {\"values\": [0.08, 0.02, 0.18, 0.06, 0.14, 0.04, 0.12, 0.10, 0.16, $rising], \"jobs\": [6, 9, 1, 7, 3, 8, 4, 5, 2, $jobs]}]}" \
        "{\"what\": \"summary\", \"level\": 0.95, \"values\": [$rising, 0.01, 0.02], \"jobs\": [$jobs, 9, 8]}"
    expect_json answers.json '.answers[0].metrics[0] | .jobs == 9 and .drifting and .centre == 0.1'
    expect_json answers.json '.answers[0].metrics[1] | .jobs == 9 and (.drifting | not) and .lo == 0.04 and .hi == 0.16'
    expect_json answers.json '.answers[1] | .ci_lo == 0.03 and .ci_hi == 0.16'
}

@test "an interval exists at the level that its values attain" {
    asked '{"what": "summary", "values": [1, 2, 3, 4, 5], "level": 0.9375}' \
        '{"what": "unpaired", "level": 0.9714285714285715, "quantities": [{"a": [1, 4, 2, 3], "b": [1, 4, 2, 3]}]}'
    expect_json answers.json '.answers[0] | .ci_lo == 1 and .ci_hi == 5'
    near '.[1].quantities[0].ratio_lo' 0.25
}

@test "fits: power law, parabola and where it reaches a level" {
    asked '{"what": "power", "x": [1, 2, 4, 8], "y": [3, 1.5, 0.75, 0.375]}' \
        '{"what": "polynomial", "degree": 2, "x": [0, 1, 2, 3], "y": [1, 2, 5, 10], "at": [4],
          "reaches": {"level": 5, "from": 0, "to": 6}}' \
        '{"what": "polynomial", "degree": 1, "x": [0, 1], "y": [1, 0], "reaches": {"level": 5, "from": 0, "to": 6}}' \
        '{"what": "polynomial", "degree": 2, "x": [1700000000, 1700000001, 1700000002, 1700000003, 1700000004], "y": [4, 1, 0, 1, 4],
          "at": [1700000005], "reaches": {"level": 1, "from": 1700000000, "to": 1700000004}}'
    near '.[0].exponent' -1
    near '.[0].factor' 3
    near '.[1].at[0].y' 17
    near '.[1].reaches.x' 2
    expect_json answers.json '.answers[2].reaches == null'
    # Far from 0 (seconds of an epoch) it is the same parabola.
    near '.[3].at[0].y' 9
    near '.[3].reaches.x' 1700000003
    near '.[3].coefficients[2]' 1
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
        '{"what": "unpaired", "level": 0.95, "margin": 0.05, "pairs": [{"a": [0], "b": [1]}]}' '{"what": "ratio", "a": [1], "b": [1]}' \
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
