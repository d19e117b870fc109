#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What the programs that read sources say of them, and of sources that are wrong.

load helpers

# lint [ARGUMENT...]: make lint in this build, free of the settings of the make that runs the tests.
lint() {
    run env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$NHT1_ROOT" MPICC="$(mpicc_of_build)" \
        O="$(dirname "${NHT1_BIN_REAL:-$NHT1_BIN}")" "$@" lint
    echo "$output"
}

# these: the versions with which the sources were read. Others know other things, which are for who works on them.
these() {
    need_program "${@%%=*}"
    local one said
    for one in "$@"; do
        said=$("${one%%=*}" --version)
        [[ $said == *"${one#*=}"* ]] || not_here "$one, with which these sources were read"
    done
}

@test "cppcheck finds nothing" {
    slow
    these cppcheck=2.10
    lint SCRIPTS= PYTHON=
    expect_status 0
}

@test "shellcheck, pyflakes and clang-format find nothing" {
    these shellcheck=0.9.0 pyflakes3=
    LINT_CPPCHECK=no lint
    expect_status 0
}

@test "what each of them finds is an error" {
    slow
    need_program cppcheck shellcheck pyflakes3
    # shellcheck disable=SC2016 # for another shell
    { echo 'int f(void); int f(void) { int a[2] = {0}; return a[2]; }' >x.c
        printf '#!/bin/sh\nrm $1\n' >x.sh
        echo 'import os' >x.py; }
    local which
    # Whatever version would change this.
    printf 'int    f(void)\n{ return\n0; }\n' >layout.c
    if clang-format --version | grep -q ' version 14\.'; then
        lint SOURCES="$PWD/layout.c" SCRIPTS= PYTHON= O="$PWD"
        [ "$status" -ne 0 ]
        expect_text "layout.c:1"
    fi
    for which in SOURCES=x.c SCRIPTS=x.sh PYTHON=x.py; do
        lint SOURCES= SCRIPTS= PYTHON= "${which%%=*}=$PWD/${which#*=}" O="$PWD"
        [ "$status" -ne 0 ]
        expect_text "${which#*=}"
    done
}

@test "every source, script and module is read" {
    slow
    local name
    cd "$NHT1_ROOT"
    [ -e .git ] || not_here "a tree under version control"
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -pn help 2>/dev/null |
        sed -nE 's/^(SOURCES|SCRIPTS|PYTHON) := //p' | tr ' ' '\n' | sort >"$BATS_TEST_TMPDIR/read"
    { git ls-files '*.[ch]' '*.py' '*.sh' '*.bash'
        git grep -lE -e '^#!.*[ /](sh|bash|python3)$'; } | sort -u | while read -r name; do
        # spack/package.py takes all names of Spack, which is not here.
        case $name in *.bats | config/spack/package.py) continue ;; *.[ch] | *.py | *.sh | *.bash) ;;
        *) head -n 1 "$name" | grep -qE '^#!' || continue ;;
        esac
        [ ! -f "$name" ] || echo "$name"
    done | comm -23 - "$BATS_TEST_TMPDIR/read" >"$BATS_TEST_TMPDIR/left"
    cat "$BATS_TEST_TMPDIR/left"
    [ ! -s "$BATS_TEST_TMPDIR/left" ]
}
