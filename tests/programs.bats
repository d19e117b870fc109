#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The list of programs (config/programs.conf): each answers as all do, and is where programs are told of. With
# a program that is made up, that CONTRIBUTING.md names every file that one touches.
# shellcheck disable=SC2016 # backquotes and $a for sed
bats_require_minimum_version 1.5.0
load helpers

# touched FILE SCRIPT: changes a file of the copy by sed.
touched() {
    cp "$1" "$BATS_TEST_TMPDIR/before"
    sed -i "$2" "$1"
    ! cmp -s "$1" "$BATS_TEST_TMPDIR/before" || { echo "$1 is as it was" && return 1; }
    echo "$1" >>"$BATS_TEST_TMPDIR/touched"
}

@test "programs: those that are listed are those that are built, and documents tell of each" {
    [ "$(programs mpi serial python | sort)" = "$(cd "$NHT1_BIN" && printf '%s\n' nht1-* | sort)" ]
    run -0 "$NHT1_ROOT/tests/programs"
    [ -z "$output" ]
}

@test "programs: each has help, a version and a table, and refuses an option that it has not" {
    local program
    for program in $(programs mpi serial python); do
        run -0 "$program" --help
        [[ ${lines[0],,} == "usage: $program "* ]]
        [ "$(wc -L <<<"$output")" -le 80 ]
        run -0 "$program" --version
        [[ $output == "$program "* ]]
        "$program" --help-json | jq -e --arg name "$program" '.name == $name and (.options | length > 0)
            and (.examples | contains("Exit status:"))'
        run -1 "$program" --no-such-option word
        expect_text "$program: "
        expect_text --no-such-option
    done
}

# In a copy of the tree with a program added by these files alone, its own beside: what is built, installed,
# documented and checked is what would be for any other.
@test "programs: a new one touches the files that CONTRIBUTING.md names, and no others" {
    slow
    local copy=$BATS_TEST_TMPDIR/copy own=companions/dummy
    mkdir "$copy"
    (cd "$NHT1_ROOT" && git ls-files -z | xargs -0 cp -a --parents -t "$copy" &&
        cp -a --parents -t "$copy" "$(realpath --relative-to . "$NHT1_BIN/..")"/{bin,lib,obj,share,settings,build})
    cd "$copy" || return 1
    cp build/build .build
    mkdir $own
    cat >$own/main.c <<'END'
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>
#include "base/conf.h"
#include "base/start.h"
#include "base/version.h"

struct options {
    const char *json;
};

static const struct conf_option options[] = {{.name = "json",
                                              .arg = "FILE",
                                              .help = "Write the result to FILE.",
                                              CONF_AT(struct options, json),
                                              .output = true},
                                             {.name = NULL}};
static const struct conf_program program = {.name = "nht1-dummy",
                                            .version = nht1_build,
                                            .summary = "Does nothing.",
                                            .examples = "  nht1-dummy\n\nExit status: 0.\n",
                                            .options = options};

static int run(const void *opts, const struct conf_list *args)
{
    (void)opts;
    (void)args;
    return 0;
}

int main(int argc, char **argv)
{
    struct options o;
    return start_program(&program, argc, argv, &o, run);
}
END
    echo "# nht1-dummy" >docs/dummy.md
    touched config/programs.conf "\$a [nht1-dummy]\nfolder = $own\nkind = serial\npurpose = does nothing\ndocument = dummy.md"
    touched README.md 's/^| `nht1-report` /| `nht1-dummy` | does nothing ([docs\/dummy.md](docs\/dummy.md)) | |\n&/'
    touched docs/README.md '$a | do nothing | [dummy.md](dummy.md) |'
    touched docs/design.md "s#^| .companions/profile. #| \`$own\` | \`base\` | no | | \`nht1-dummy\` |\n&#"
    touched tests/matrix.bats 's/^stats  /dummy     1 0 -                          nht1-dummy\n&/'

    tests/programs --write
    echo docs/commands.md >>"$BATS_TEST_TMPDIR/touched"
    # The list in CONTRIBUTING.md is these.
    diff <(sort "$BATS_TEST_TMPDIR/touched") <(awk -F '|' '$2 == " program " { print $3 }' CONTRIBUTING.md |
        sed 's/([^)]*)//g' | grep -oE '`[^`]+`' | tr -d '`' | sort)
    make -j2 O=build CC="$(awk '{ print $1 }' build/settings)" MPICC="$(mpicc_of_build)" install DESTDIR="$BATS_TEST_TMPDIR/root" PREFIX=/usr
    [ -x "$BATS_TEST_TMPDIR/root/usr/bin/nht1-dummy" ]
    grep -q "dummy .- does nothing" "$BATS_TEST_TMPDIR/root/usr/share/man/man1/nht1-dummy.1"
    grep -q "nht1-dummy" "$BATS_TEST_TMPDIR/root/usr/share/bash-completion/completions/nht1-dummy"
    O=build tests/layers | grep -E "^not ok" && return 1
    env -u NHT1_MATRIX NHT1_ROOT="$PWD" NHT1_BIN="$PWD/build/bin" bats tests/programs.bats -f "listed|each has"
    NHT1_BIN=$PWD/build/bin bats tests/docs.bats -f "both maps|links in"
    NHT1_BIN=$PWD/build/bin bats tests/options.bats -f "are documented where"
}
