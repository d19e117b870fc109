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

@test "options that make no other cell in reports are options of nht1-bt" {
    PYTHONPATH=$NHT1_ROOT/runs python3 -B -c 'from nht1 import results; print(*sorted(results.NOT_VARIED), sep="\n")' >apart
    nht1-bt --help-json | jq -r '.options[].name | gsub("-"; "_")' | sort >options
    [ -s apart ] && [ -z "$(sort apart | comm -23 - options)" ]
    # Of those that are no settings, two say how data are computed.
    nht1-bt --help-json | jq -r '.options[] | select(.kind != "setting") | .name | gsub("-"; "_")' | sort |
        comm -23 - <(sort apart) >varied
    [ "$(grep -vx charge varied)" = isa ]
}

# In a copy of the tree whose build knows a setting more, by its row and the word of the writer that obeys it. As
# slow as compiling what includes io/setting.h.
@test "a new setting is one row: option, check, search, manifest, result and reports know it" {
    slow
    local copy=$PWD/copy build
    build=${NHT1_BIN%/*}
    mkdir copy
    (cd "$NHT1_ROOT" && git ls-files -z | xargs -0 cp -a --parents -t "$copy")
    mkdir copy/build
    cp -a "$build"/{bin,lib,obj,share,settings,build} copy/build
    cp "$build/build" copy/.build
    cat >>copy/io/setting_list.h <<'END'
IO_SETTING(depth, int64_t, depth, IO_CAP_DEPTH, "N", "3", 1, 8, ranks,
           "Made up for a test. Of no use.")
END
    sed -i 's/\.caps = IO_CAP_SERIAL_FILE/& | IO_CAP_DEPTH/' copy/io/writers/writer_posix.c
    [ "$(grep -rl --include='*.[ch]' IO_CAP_DEPTH copy | sort | tr '\n' ' ')" = \
        "copy/io/setting_list.h copy/io/writers/writer_posix.c " ]
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O make -C copy -j2 O=build CC="$(awk '{ print $1 }' "$build/settings")" \
        MPICC="$(mpicc_of_build)" all >log 2>&1 || { cat log && return 1; }
    export NHT1_BIN=$copy/build/bin
    PATH=$NHT1_BIN:$PATH

    nht1-bt --help-json | jq -e '.options[] | select(.name == "depth") | .value == "N" and .kind == "setting" and
        .help == "Made up for a test. Of no use. A number from 1 to 8. Default: 3."'
    run -0 nht1-bt --help
    expect_text "--depth=N"
    run -1 nht1-bt --depth 9 --dry-run
    expect_text '--depth: "9" is not allowed; give a whole number from 1 to 8'
    run -0 nht1-bt --io auto:posix,serial --dry-run --ranks 4 --json dry.json
    jq -e '[.. | strings | select(test("^(posix|serial) --depth"))] == ["posix --depth 1", "posix --depth 4"]' dry.json

    run -0 mpi_run 1 nht1-bt --class S --io posix,serial --depth 2 --tc 1 --json result.json --out o.bin
    expect_text "--depth makes no difference to serial."
    jq -e '[.runs[] | {(.writer): .options}] | add == {posix: {depth: 2}, serial: {}}' result.json
    jq -e '.options.depth == 2 and .options_changed.depth == 2' result.json
    jq -e '.settings.depth == 2' o.bin.posix.json
    run -0 nht1-verify o.bin.posix
    run -0 mpi_run 1 nht1-bt --class S --io posix,serial --tc 1 --json default.json --out o.bin
    jq -e '.settings.depth == 3' o.bin.posix.json
    run -0 nht1-report result.json default.json -o report.html
    grep -q "posix, --depth 2" report.html
    grep -q "serial, --depth 2" report.html && return 1
    run -1 "$copy/tests/settings"
    expect_text '+    "depth": {'
}
