#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The list of settings of writers (io/setting_list.h): what a row changes elsewhere.
bats_require_minimum_version 1.5.0
load helpers

@test "the schema of manifests has the settings of writers" {
    run -0 "$NHT1_ROOT/tests/settings"
}

@test "a new setting: what it changes in the schema is told, written, and in CONTRIBUTING.md" {
    mkdir -p tree/tests tree/docs bin
    cp "$NHT1_ROOT/tests/settings" tree/tests
    cp -r "$NHT1_ROOT/docs/schema" tree/docs
    nht1-bt --help-json | jq '.options += [{name: "depth", value: "N", help: "Requests under way. A number.", kind: "setting"}]' >told.json
    printf '#!/bin/sh\ncat %s/told.json\n' "$PWD" >bin/nht1-bt
    chmod +x bin/nht1-bt
    NHT1_BIN=$PWD/bin run -1 tree/tests/settings
    expect_text '+    "depth": {'
    NHT1_BIN=$PWD/bin run -0 tree/tests/settings --write
    NHT1_BIN=$PWD/bin run -0 tree/tests/settings
    jq -e '.properties.settings | .properties.depth.description == "Requests under way." and (.required | index("depth")) != null' \
        tree/docs/schema/nht1-dump-1.json
    diff -rq "$NHT1_ROOT/docs" tree/docs | sed -n 's|^Files .* and tree/\(.*\) differ$|\1|p' >touched
    [ "$(cat touched)" = docs/schema/nht1-dump-1.json ]
    grep '^| setting of writers |' "$NHT1_ROOT/CONTRIBUTING.md" | grep -qF "\`$(cat touched)\`"
}
