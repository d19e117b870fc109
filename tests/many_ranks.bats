#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Many more ranks than cores.
load helpers

@test "512 ranks with a few cells each: every writer writes the right bytes" {
    slow
    run "$NHT1_ROOT/tests/many_ranks" "${NHT1_MANY:-512}"
    echo "$output"
    [ "$status" -ne 77 ] || large "$output"
    expect_status 0
    expect_text "all right"
}
