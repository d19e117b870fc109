#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What the programs that read sources say of them, and of sources that are wrong.

load helpers

# lint [ARGUMENT...]: make lint in this build, free of the settings of the make that runs the tests.
lint() {
    local configs=1 # which take three quarters of the time of two
    [ -z "${NHT1_FULL:-}" ] || configs=2
    run env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL LINT_CONFIGS=$configs make -C "$NHT1_ROOT" MPICC="$(mpicc_of_build)" \
        O="$(dirname "${NHT1_BIN_REAL:-$NHT1_BIN}")" "$@" lint
    echo "$output"
}

@test "cppcheck, shellcheck and pyflakes find nothing" {
    need_program cppcheck shellcheck pyflakes3
    # Others know other things, which are for who works on the sources.
    case $(cppcheck --version)/$(shellcheck --version | sed -n 's/^version: //p') in
    "Cppcheck 2.10/0.9.0") ;;
    *) not_here "cppcheck 2.10 and shellcheck 0.9.0, with which these sources were read" ;;
    esac
    lint
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
    local name
    cd "$NHT1_ROOT"
    [ -e .git ] || not_here "a tree under version control"
    for name in SOURCES SCRIPTS PYTHON; do
        env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -pn help 2>/dev/null | sed -n "s/^$name := //p" | tr ' ' '\n'
    done | sort >"$BATS_TEST_TMPDIR/read"
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
