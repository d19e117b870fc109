#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Sequential verdicts: how often they are wrong, by simulation, and the requests of nht1-stats.
load helpers

setup_file() {
    export SIMULATION
    SIMULATION=$(dirname "${NHT1_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/build/bin}")/bench/sequential
}

# asked REQUEST...: into answers.json.
asked() {
    local IFS=,
    echo "{\"requests\": [$*]}" >requests.json
    expect_schema nht1-stats-requests-1 requests.json
    nht1-stats --requests - <requests.json >answers.json
    expect_schema nht1-stats-1 answers.json
}

@test "no more than 5 % of all verdicts are wrong, on quiet and on disturbed machines" {
    local repeats=300
    [ -z "${NHT1_FULL:-}" ] || repeats=3000
    run "$SIMULATION" --check --repeats "$repeats"
    expect_status 0
    expect_text "bursts of 20 runs, 30 %"
    [ "$(grep -c '^| paired |' <<<"$output")" -ge 13 ]
    [ "$(grep -c '^| single |' <<<"$output")" -ge 14 ]
}

@test "the simulation calls itself by the word of its build" {
    run "$SIMULATION" --version
    [ "$output" = "sequential $(cat "$NHT1_BIN/../share/nht1/runs/nht1/version")" ]
}

@test "looking as often without a plan is wrong more often, and the simulation sees it" {
    slow
    run "$SIMULATION" --check --repeats 1000 --only normal --naive
    expect_status 2
    expect_text "make more errors than 5 %"
}

@test "a simulation that does not exist is refused" {
    run "$SIMULATION" --only nowhere
    expect_status 1
}

@test "centres: exact intervals, none where there is none, p corrected for the number of metrics" {
    asked '{"what": "centres", "level": 0.95, "metrics": [
            {"a": [1, 1, 1, 1, 1, 1, 1, 1], "b": [1.1, 1.11, 1.12, 1.09, 1.13, 1.10, 1.105, 1.12]},
            {"values": [0.1, 0.2, 0.15, 0.12], "against": 0},
            {"values": [0.952, -0.147, 1.022, 0.430, 0.620, 0.590, 0.490, -0.080, 0.010], "symmetric": true, "against": 0}]}' \
        '{"what": "centres", "level": 0.5, "metrics": [{"values": [3, 1, 2]}]}'
    expect_json answers.json '.answers[0].metrics[0] | .method == "signed ranks" and .attained == 0.9609375
        and (.lo - 1.09 | fabs) < 1e-12 and (.hi - 1.13 | fabs) < 1e-12 and .p == 0.0078125 and (.p_corrected - 0.0234375 | fabs) < 1e-12'
    expect_json answers.json '.answers[0].metrics[1] | .method == "sign test" and (.centre - 0.135 | fabs) < 1e-12 and .lo == null
        and .hi == null and .attained == null and .p == 0.125 and .p_corrected == 0.25'
    # Signed ranks alone would have 0.01 to 0.786; the sign test does not confirm that.
    expect_json answers.json '.answers[0].metrics[2] | .n == 9 and .p == 0.1796875 and .lo == -0.08 and .hi == 0.952'
    expect_json answers.json '.answers[1].metrics[0] | .lo == 1 and .hi == 3 and .attained == 0.75 and .p == null and .p_corrected == null'
}

@test "sequential: the bounds of zeta are decided at the first look that can" {
    local data='[0.031, 0.035, 0.029, 0.04, 0.033, 0.03, 0.037, 0.032, 0.034, 0.036]'
    local a='[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]' b='[1.03, 1.05, 1.02, 1.04, 1.031, 1.06, 1.01, 1.045, 1.02, 1.05]'
    asked "{\"what\": \"sequential\", \"questions\": [{\"values\": $data, \"bounds\": [0.01, 0.10, 0.034]}]}" \
        "{\"what\": \"sequential\", \"questions\": [
            {\"name\": \"data\", \"values\": $data, \"bounds\": [0.01, 0.10], \"share\": 0.4},
            {\"name\": \"zeta\", \"a\": $a, \"b\": $b, \"bounds\": [1.1]}]}" \
        "{\"what\": \"sequential\", \"questions\": [{\"a\": $a, \"b\": $b, \"margin\": 0.2}]}" \
        "{\"what\": \"sequential\", \"questions\": [{\"a\": $b, \"b\": $a, \"margin\": 0.005}]}"
    expect_json answers.json '.answers[0] | .looks[0] == 8 and .next_look == 11 and (.decided | not)'
    expect_json answers.json '.answers[0].questions[0] | .looked_at == 8 and .lo == 0.029 and .hi == 0.04
        and [.bounds[].verdict] == ["above", "at or below", null] and [.bounds[].rounds] == [8, 8, null]
        and .bounds[2].rounds_needed > 64 and .bounds[0].rounds_needed == null'
    # Two questions share the error: a later first look, in common.
    expect_json answers.json '.answers[1] | .looks[0] > 8 and .decided and .next_look == null
        and ([.questions[].error] | (.[0] - 0.02 | fabs) < 1e-12 and (.[1] - 0.03 | fabs) < 1e-12)'
    expect_json answers.json '.answers[1].questions[1] | .name == "zeta" and .bounds[0].verdict == "at or below"
        and .lo > 1 and .hi < 1.1'
    expect_json answers.json '.answers[2].questions[0].verdict == "inside"'
    expect_json answers.json '.answers[3].questions[0] | .verdict == "below" and .decided and .hi < 0.995'
}

@test "sequential: too few rounds have no interval; the time being over spends what is left" {
    local x='[3, 5, 4, 6, 2, 5.5, 3.5]'
    asked "{\"what\": \"sequential\", \"questions\": [{\"values\": $x, \"bounds\": [1]}]}" \
        "{\"what\": \"sequential\", \"final\": true, \"questions\": [{\"values\": $x, \"bounds\": [1]}]}" \
        "{\"what\": \"sequential\", \"final\": true, \"questions\": [{\"values\": [1, 2, 1.5], \"bounds\": [0]}]}" \
        "{\"what\": \"sequential\", \"error\": 0.01, \"rounds_max\": 6, \"questions\": [{\"values\": [2, 2, 2, 2, 2, 2], \"bounds\": [1]}]}" \
        "{\"what\": \"sequential\", \"error\": 0.01, \"rounds_max\": 8, \"questions\": [{\"values\": [2, 2, 2, 2, 2, 2, 2, 2], \"bounds\": [1]}]}"
    expect_json answers.json '.answers[0].questions[0] | .looked_at == null and .lo == null and .method == null
        and .bounds[0].verdict == null and .bounds[0].rounds_needed == 8'
    expect_json answers.json '.answers[1].questions[0] | .looked_at == 7 and .lo == 2 and .bounds[0].verdict == "above"'
    expect_json answers.json '.answers[2].questions[0] | .looked_at == 3 and .lo == null and (.decided | not)'
    # No fewer are said to be needed than can decide: 7 rounds have no interval of 99 %.
    expect_json answers.json '.answers[3].questions[0] | .lo == null and .bounds[0].rounds_needed == 8'
    expect_json answers.json '.answers[4].decided'
}

@test "sequential: what drifts or is alike from round to round is not decided" {
    asked '{"what": "sequential", "questions": [{"values": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], "bounds": [0]}]}' \
        '{"what": "sequential", "questions": [{"values": [3, 5, 4, 6, 2, 5.5, 3.5, 4.5], "burst": 3, "bounds": [1]}]}'
    expect_json answers.json '.answers[0].questions[0] | .drifting and .lo == null and (.decided | not)'
    expect_json answers.json '.answers[1].questions[0] | .lo == null and .widening > 1.4 and (.decided | not)'
}

@test "unpaired: exact interval of the ratio of two samples, p corrected, no interval from too few values or a drift" {
    asked '{"what": "unpaired", "level": 0.95, "margin": 0.05, "quantities": [
            {"a": [1, 1.01, 1.02, 0.99], "b": [1.1, 1.11, 1.09, 1.12]}, {"a": [1, 3, 2], "b": [2, 1, 3]},
            {"a": [1, 2, 3, 4, 5, 6, 7, 8, 9], "b": [9, 8, 9.5, 8.5, 9.1, 8.2, 9.2]},
            {"a": [1, 3, 2, 4, 1.5, 3.5], "b": [1, 3, 2, 4, 1.5, 3.5]}]}'
    # With 4 and 4 values the whole range of ratios has 1 - 2 / 70.
    expect_json answers.json '.answers[0].quantities[0] | (.attained - 34 / 35 | fabs) < 1e-12 and (.ratio_lo - 1.09 / 1.02 | fabs) < 1e-12
        and (.ratio_hi - 1.12 / 0.99 | fabs) < 1e-12 and (.p - 1 / 35 | fabs) < 1e-12 and (.p_corrected - 4 / 35 | fabs) < 1e-12'
    expect_json answers.json '.answers[0].quantities[1] | .ratio == 1 and .ratio_lo == null and .attained == null and .p == 1 and .rounds_needed == null'
    expect_json answers.json '.answers[0].quantities[2] | .drifting and .ratio_lo == null and .p == 1 and .rounds_needed == null'
    expect_json answers.json '.answers[0].quantities[3] | .p == 1 and .ratio == 1 and .ratio_lo < 1 and .ratio_hi > 1 and .rounds_needed > 6'
}

@test "unpaired: jobs count once each, p is that of the nearer edge of the margin, the method is named" {
    local a='[1, 1.2, 1.21, 1.01, 0.99, 1.19, 1.22, 1.02]' b='[1.3, 1.5, 1.51, 1.31, 1.29, 1.49, 1.52, 1.32]'
    local two='[0, 1, 1, 0, 0, 1, 1, 0]' eight='[0, 1, 2, 3, 4, 5, 6, 7]' one='[3, 3, 3, 3, 3, 3, 3, 3]' few='[0, 0, 1, 0, 2, 2, 2, 2]' many
    many=$(seq -s, 1 51)
    asked "{\"what\": \"unpaired\", \"level\": 0.95, \"margin\": 0, \"quantities\": [{\"a\": $a, \"b\": $b, \"a_jobs\": $two, \"b_jobs\": $two}]}" \
        "{\"what\": \"unpaired\", \"level\": 0.95, \"quantities\": [{\"a\": $a, \"b\": $b, \"a_jobs\": $eight, \"b_jobs\": $eight}]}" \
        "{\"what\": \"unpaired\", \"level\": 0.95, \"quantities\": [{\"a\": $a, \"b\": $b, \"a_jobs\": $one, \"b_jobs\": $one}]}" \
        "{\"what\": \"unpaired\", \"level\": 0.95, \"margin\": 0.25, \"quantities\": [{\"a\": $a, \"b\": $b}, {\"a\": $b, \"b\": $a}, {\"a\": $a, \"b\": $a}]}" \
        "{\"what\": \"unpaired\", \"level\": 0.95, \"quantities\": [{\"a\": $a, \"b\": $b, \"a_jobs\": $eight, \"b_jobs\": $few},
            {\"a\": $a, \"b\": [1.3, 1.51, 1.29], \"a_jobs\": $eight, \"b_jobs\": [0, 1, 2]}, {\"a\": $a, \"b\": [$many]}]}"
    # Medians 1.005 and 1.205, 1.305 and 1.505; Student's t with 1.893920 degrees (Welch) 4.542052.
    expect_json answers.json '.answers[0].quantities[0] | [.jobs, .method, .widening, .rounds_needed] == [4, "Student'"'"'s t", 1, null]
        and (.ratio_lo - 0.7539712 | fabs) < 1e-6 and (.ratio_hi - 2.1509937 | fabs) < 1e-6 and (.p - 0.1782629 | fabs) < 1e-6'
    expect_json answers.json '.answers[1].quantities[0] == .answers[2].quantities[0] and (.answers[1].quantities[0] |
        [.jobs, .method] == [null, "ranks, exact"] and .ratio_lo > 1 and .p < 0.01)'
    expect_json answers.json '.answers[3].quantities | .[0].p == .[1].p and .[0].p > 0.05 and .[0].p < 1 and .[2].p == 1'
    # Jobs of one value against jobs of three, one and four: the first of each.
    expect_json answers.json '.answers[4].quantities | .[0].jobs == 11 and .[1].jobs == null and .[2].method == "ranks, normal approximation"'
}

@test "unpaired and ratios: shares of values far from their median, and means" {
    local even='[10, 10.1, 9.9, 10, 10.1, 9.9, 10, 10.1, 9.9, 10]' some='[10, 30, 9.9, 30, 10.1, 30, 10, 30, 9.9, 10]'
    local few='[10, 1, 9.9, 1, 10.1, 1, 10, 1, 9.9, 10]' jobs='[0, 0, 0, 0, 0, 1, 1, 1, 1, 1]'
    asked "{\"what\": \"unpaired\", \"level\": 0.95, \"quantities\": [{\"a\": $even, \"b\": $some}, {\"a\": $few, \"b\": $even},
            {\"a\": $few, \"b\": $even, \"higher_is_better\": true}, {\"a\": $even, \"b\": $some, \"a_jobs\": $jobs, \"b_jobs\": $jobs}]}" \
        "{\"what\": \"sequential\", \"rounds_max\": 10, \"questions\": [{\"a\": $even, \"b\": $some, \"bounds\": [1]},
            {\"a\": $some, \"b\": $even, \"bounds\": [1]}, {\"values\": $some, \"bounds\": [1]}, {\"a\": [1], \"b\": [2], \"bounds\": [1]}]}"
    # Of 20 values 4 are far: all on one side in 2 C(10, 4) of C(20, 4) ways.
    expect_json answers.json '.answers[0].quantities | map([.a_far_n, .b_far_n]) == [[0, 4], [0, 0], [4, 0], [0, 4]] and
        (.[0].far_p - 420 / 4845 | fabs) < 1e-12 and .[1].far_p == 1 and (.[2].far_p - 420 / 4845 | fabs) < 1e-12 and .[3].far_p == null and
        (.[0].mean_ratio - 1.799 | fabs) < 1e-12 and (.[3].mean_ratio - 1.799 | fabs) < 1e-12'
    # Of the rounds that were looked at.
    expect_json answers.json '.answers[1].questions | map([.looked_at, .far_above_n, .far_below_n]) == [[10, 4, 0], [10, 0, 4], [10, null, null], [null, null, null]]
        and (.[0].far_p - 0.125 | fabs) < 1e-12 and (.[0].mean_ratio - 1.799 | fabs) < 1e-12 and .[2].far_p == null and .[3].mean_ratio == null'
}

@test "unpaired: jobs that differ are no drift, and a job counts with as many values as the one with the fewest" {
    local a='[1, 1, 1.2, 1.2, 1.1, 1.1, 0.9, 0.9, 1.05, 1.05]' jobs='[4, 4, 1, 1, 0, 0, 2, 2, 3, 3]'
    asked "{\"what\": \"unpaired\", \"level\": 0.95, \"quantities\": [
            {\"a\": [1, 1, 1, 1, 2, 2, 2, 2], \"b\": [3, 3, 3, 3], \"a_jobs\": [0, 0, 0, 0, 1, 1, 1, 1], \"b_jobs\": [2, 2, 2, 2]},
            {\"a\": $a, \"b\": [2, 9, 2.1, 9, 9, 1.9], \"a_jobs\": $jobs, \"b_jobs\": [5, 5, 6, 6, 6, 7]},
            {\"a\": $a, \"b\": [2, 2.1, 1.9], \"a_jobs\": $jobs, \"b_jobs\": [5, 6, 7]},
            {\"a\": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8], \"b\": [3, 3], \"b_jobs\": [9, 9],
             \"a_jobs\": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]}]}" \
        '{"what": "unpaired", "level": 0.999, "quantities": [{"a": [1, 1], "b": [1, 1, 50, 50], "a_jobs": [0, 0], "b_jobs": [1, 1, 2, 2]}]}'
    expect_json answers.json '.answers[0].quantities | (.[0] | (.drifting | not) and .ratio_lo < 1) and .[3].drifting and .[3].ratio_lo == null'
    expect_json answers.json '.answers[0].quantities | .[1].jobs == 8 and .[2].jobs == 8 and .[1].ratio_lo == .[2].ratio_lo and .[1].p == .[2].p'
    # From 0 to more than there are numbers for.
    expect_json answers.json '.answers[1].quantities[0] | [.jobs, .ratio_lo, .ratio_hi, .attained] == [3, null, null, null] and .p > 0.5'
}

@test "jobs that have several rounds count once each, by their medians" {
    local z='[0.07, 0.071, 0.072, 0.073, 0.074, 0.09, 0.091, 0.092, 0.093, 0.094]' b='[1.07, 1.071, 1.072, 1.073, 1.074, 1.09, 1.091, 1.092, 1.093, 1.094]'
    local one='[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]' none='[0, 0, 0, 0, 0, 0, 0, 0, 0, 0]' jobs balance
    local two='[5, 5, 5, 5, 5, 7, 7, 7, 7, 7]' each='[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]' six='[0, 0, 1, 1, 2, 2, 3, 3, 4, 5]'
    local of=()
    for jobs in "$two" "$each" "$one" "$six"; do
        balance="\"what\": \"balance\", \"zeta\": $z, \"data\": $z, \"disturbed\": $none, \"shared\": $none, \"jobs\": $jobs"
        of+=("{$balance}" "{$balance, \"rounds_max\": 64}"
            "{\"what\": \"centres\", \"level\": 0.95, \"metrics\": [{\"a\": $one, \"b\": $b, \"jobs\": $jobs, \"symmetric\": false}]}"
            "{\"what\": \"summary\", \"level\": 0.95, \"values\": $z, \"jobs\": $jobs}"
            "{\"what\": \"sequential\", \"questions\": [{\"values\": $z, \"bounds\": [0.1], \"jobs\": $jobs}]}")
    done
    asked "${of[@]}" "{\"what\": \"summary\", \"level\": 0.95, \"values\": $z}"
    # Two medians, 0.072 and 0.092: 0.082 and Student's t with one degree of freedom, 12.706, times 0.01.
    expect_json answers.json '.answers[0] | .n == 10 and .jobs == 2 and .answer == "undecided" and .rounds_needed == null
        and (.zeta.median - 0.082 | fabs) < 1e-12 and (.zeta.lo + 0.04506 | fabs) < 1e-4 and (.zeta.hi - 0.20906 | fabs) < 1e-4'
    expect_json answers.json '.answers[1] | .jobs == 2 and .answer == "undecided" and .zeta.lo == null'
    expect_json answers.json '.answers[2].metrics[0] | .jobs == 2 and .n == 10 and .method == "Student'"'"'s t" and .lo < 1 and .hi > 1.2
        and .p > 0.05 and .p < 0.1'
    expect_json answers.json '.answers[3] | .n == 10 and .ci_lo == 0 and (.ci_hi - 0.20906 | fabs) < 1e-4'
    expect_json answers.json '.answers[4].questions[0] | .jobs == 2 and .rounds == 10 and .lo == null and (.decided | not)'
    # One round a job, and one job: every round counts. Six jobs: the sign test of their medians.
    expect_json answers.json '.answers[5:10] == .answers[10:15] and .answers[8] == .answers[20] and .answers[5].jobs == null'
    expect_json answers.json '(.answers[18].ci_lo - 0.0705 | fabs) < 1e-12 and .answers[18].ci_hi == 0.094 and .answers[15].jobs == 6'
}

@test "questions that are not understood are refused" {
    local bad
    for bad in '{"what": "sequential"}' '{"what": "sequential", "questions": []}' \
        '{"what": "sequential", "questions": [{"values": [1]}]}' \
        '{"what": "sequential", "questions": [{"values": [1], "margin": 0.1}]}' \
        '{"what": "sequential", "questions": [{"a": [1], "b": [1], "margin": 0}]}' \
        '{"what": "sequential", "questions": [{"a": [1], "b": [1], "bounds": [0]}]}' \
        '{"what": "sequential", "questions": [{"a": [1], "b": [1, 2], "bounds": [1]}]}' \
        '{"what": "sequential", "questions": [{"values": [1], "bounds": [1], "share": 1.1}]}' \
        '{"what": "sequential", "questions": [{"values": [1], "bounds": [1], "share": 1}, {"values": [1], "bounds": [1]}]}' \
        '{"what": "sequential", "questions": [{"values": [1], "bounds": [1], "burst": 0.5}]}' \
        '{"what": "sequential", "error": 0, "questions": [{"values": [1], "bounds": [1]}]}' \
        '{"what": "sequential", "error": 1e-300, "questions": [{"values": [1], "bounds": [1], "share": 1e-300}]}' \
        '{"what": "sequential", "rounds_max": 5, "questions": [{"values": [1], "bounds": [1]}]}' \
        '{"what": "sequential", "rounds_max": 6, "questions": [{"values": [1, 2, 3, 4, 5, 6, 7], "bounds": [1]}]}' \
        '{"what": "balance", "rounds_max": 6, "zeta": [1, 1, 1, 1, 1, 1, 1], "data": [1, 1, 1, 1, 1, 1, 1], "disturbed": [0, 0, 0, 0, 0, 0, 0], "shared": [0, 0, 0, 0, 0, 0, 0]}' \
        '{"what": "sequential", "stages": [], "questions": [{"values": [1], "bounds": [1]}]}' \
        '{"what": "sequential", "stages": [7], "questions": [{"values": [1], "bounds": [1]}]}' \
        '{"what": "sequential", "stages": [{"rounds": 7}, {"rounds": 7}], "questions": [{"values": [1], "bounds": [1]}]}' \
        '{"what": "sequential", "stages": [{"rounds": 7}, {"rounds_max": 7}], "questions": [{"values": [1], "bounds": [1]}]}' \
        '{"what": "sequential", "stages": [{"rounds": 5, "rounds_max": 8}], "questions": [{"values": [1], "bounds": [1]}]}' \
        '{"what": "sequential", "stages": [{"rounds": 7}], "questions": [{"values": [1], "bounds": [1]}, {"values": [1], "bounds": [1]}]}' \
        '{"what": "unpaired", "quantities": [{"a": [1], "b": [1]}]}' '{"what": "unpaired", "level": 0.9, "quantities": []}' \
        '{"what": "unpaired", "level": 0.9, "quantities": [{"a": [0], "b": [1]}]}' \
        '{"what": "unpaired", "level": 0.9, "margin": -1, "quantities": [{"a": [1], "b": [1]}]}' \
        '{"what": "unpaired", "level": 0.9, "quantities": [{"a": [1], "b": [1], "a_jobs": [0]}]}' \
        '{"what": "unpaired", "level": 0.9, "quantities": [{"a": [1], "b": [1], "a_jobs": [0], "b_jobs": [0, 0]}]}' \
        '{"what": "summary", "values": [1, 2], "jobs": [1]}' \
        '{"what": "centres", "metrics": [{"values": [1]}]}' '{"what": "centres", "level": 0.95, "metrics": []}' \
        '{"what": "centres", "level": 0.95, "metrics": [{"a": [1], "b": [2], "against": 0}]}' \
        '{"what": "centres", "level": 0.95, "metrics": [7]}'; do
        echo "{\"requests\": [$bad]}" >requests.json
        run nht1-stats --requests requests.json
        expect_status 1
        expect_text "requests[0]"
    done
}
