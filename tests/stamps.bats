#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The list of stamps (base/stamp_list.h): who else tells their codes tells the same. That programs give only
# these, with these severities, is checked wherever a test checks a result (tests/schema).
bats_require_minimum_version 1.5.0
load helpers

@test "documents and schemas have the codes of stamps, their programs, severities and meanings" {
    run -0 "$NHT1_ROOT/tests/stamps"
    nht1-stats --stamps >list.json
    cmp list.json "$NHT1_BIN/../share/nht1/runs/stamps.json"
    expect_schema nht1-stamps-1 list.json
    expect_json list.json '.stamps | length > 20'
}

@test "every stamp is expected by a test" {
    local code name
    nht1-stats --stamps | jq -r '.stamps | keys_unsorted[]' >codes
    while read -r code; do
        name=${code^^}
        grep -qE "STAMP_${name//-/_}\b|[\"']$code[\"']" "$NHT1_ROOT"/tests/test_*.c "$NHT1_ROOT"/tests/mpi_*.c \
            "$NHT1_ROOT"/tests/*.bats "$NHT1_ROOT"/tests/fs/*.bats || { echo "$code" && return 1; }
    done <codes
    [ -s codes ]
}

@test "a result with a stamp that is not on the list is found out" {
    slow
    nht1-stats --stamps >list.json
    jq '{stamps: [{code: "quick", severity: "note", numbers: {}, sentence: "A trial."}]}' list.json >one.json
    echo '{}' >nht1-beff-1.json
    run -0 "$NHT1_ROOT/tests/schema" nht1-beff-1.json one.json
    jq '.stamps[0].severity = "bad"' one.json >bad.json
    run -1 "$NHT1_ROOT/tests/schema" nht1-beff-1.json bad.json
    [ "$output" = "not on the list of stamps: quick, bad" ]
    jq '.stamps[0].code = "slow"' one.json >slow.json
    run -1 "$NHT1_ROOT/tests/schema" nht1-beff-1.json slow.json
    mv nht1-beff-1.json nht1-bt-1.json
    run -1 "$NHT1_ROOT/tests/schema" nht1-bt-1.json one.json
}
