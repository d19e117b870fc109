#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # bats sets status and output
# The fuzzers' driver finds a fault, keeps the input that shows it, and makes the same inputs again.
load helpers

fuzzer=$NHT1_TESTBIN/../fuzz/selftest
corpus=$NHT1_ROOT/tests/corpus/selftest

@test "a fuzzer finds a fault, and what it keeps shows it again" {
    run "$fuzzer" "$corpus"
    expect_status 0
    run "$fuzzer" --tries 100000 --seed 1 --save "$PWD" "$corpus"
    expect_status 1
    expect_text "saved as $PWD/selftest."
    mv selftest.* first
    run "$fuzzer" --tries 100000 --seed 1 --save "$PWD" "$corpus"
    cmp selftest.* first
    rm selftest.*
    run "$fuzzer" --save "$PWD" first
    expect_status 1
    cmp selftest.0 first
    run "$fuzzer" --tries 3
    expect_status 2
}

@test "the Python programs take hostile results: no traceback, an answer to each" {
    slow
    real_python
    local target
    for target in $(python3 "$NHT1_ROOT/tests/fuzz/fuzz.py" --list); do
        run python3 "$NHT1_ROOT/tests/fuzz/fuzz.py" --tries "${NHT1_FULL:+1}5" --seed 4 "$target"
        expect_status 0
    done
}
