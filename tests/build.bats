#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The Makefile and the scripts around it, on small parts of the tree.

load helpers

# make in the tree, into a folder of the test, free of the settings of the make that runs the tests.
mk() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O make -C "$NHT1_ROOT" O="$PWD/b" "$@"
}

@test "make help names every target" {
    run mk help
    expect_status 0
    for target in all setup run check check-full bench lint format info help install clean; do
        grep -qE "^ +$target " <<<"$output" || { echo "no $target" && return 1; }
    done
}

@test "make info prints the settings" {
    run mk info CFLAGS=-DX_TEST
    expect_status 0
    expect_text "CC "
    expect_text "-ffp-contract=off"
    expect_text "-DX_TEST"
}

@test "an object is made once, and again when the settings change" {
    mk b/obj/base/watch.o O=b -n >/dev/null
    mk "$PWD/b/obj/base/watch.o"
    run mk -q "$PWD/b/obj/base/watch.o"
    expect_status 0
    run mk -q "$PWD/b/obj/base/watch.o" OPT=-O1
    expect_status 1
    mk "$PWD/b/obj/base/watch.o" OPT=-O1
    run mk -q "$PWD/b/obj/base/watch.o" OPT=-O1
    expect_status 0
}

@test "an object is made again when a header that it includes changes" {
    mkdir -p copy/tests copy/bench
    cp -r "$NHT1_ROOT"/{Makefile,base} copy
    cp "$NHT1_ROOT/tests/rules.mk" copy/tests
    cp "$NHT1_ROOT/bench/rules.mk" copy/bench
    env -u MAKEFLAGS -u O make -C copy build/obj/base/watch.o
    sleep 0.1
    touch copy/base/watch.h
    run env -u MAKEFLAGS -u O make -C copy -q build/obj/base/watch.o
    expect_status 1
}

@test "CFLAGS are added to, never replaced" {
    run mk -n V=1 "$PWD/b/obj/base/watch.o" CFLAGS=-DX_TEST
    expect_status 0
    expect_text "-DX_TEST"
    expect_text "-ffp-contract=off"
}

@test "make configure remembers what was given and nothing else" {
    mkdir -p tests bench
    cp "$NHT1_ROOT/Makefile" .
    cp "$NHT1_ROOT/tests/rules.mk" tests
    cp "$NHT1_ROOT/bench/rules.mk" bench
    env -u MAKEFLAGS -u O make configure OPT="-O2 -g1" PREFIX=/opt/x
    grep -qx 'OPT ?= -O2 -g1' config.mk
    grep -qx 'PREFIX ?= /opt/x' config.mk
    [ "$(grep -c . config.mk)" -eq 2 ]
    run env -u MAKEFLAGS -u O make info
    expect_text "-O2 -g1"
}

@test "a missing compiler is named" {
    run mk "$PWD/b/obj/base/watch.o" CC=no-such-cc
    expect_status 2
    expect_text "no-such-cc is not there"
}

@test "make install copies programs that work from where they lie" {
    run mk O="$(dirname "$NHT1_BIN")" -o all install DESTDIR="$PWD/root" PREFIX=/usr
    expect_status 0
    [ -s root/usr/share/doc/nht1/README.md ]
    [ -s root/usr/share/doc/nht1/docs/README.md ]
    root/usr/bin/nht1-verify --version
    mpi_run 1 root/usr/bin/nht1-bt --version
}

@test "ranks are started with their limit in time and their status" {
    cat >prog <<'END'
#!/bin/bash
[ "$1" = sleep ] && exec sleep 60
exit "$1"
END
    chmod +x prog
    run "$NHT1_ROOT/tests/mpi-run" -np 2 ./prog 0
    expect_status 0
    run "$NHT1_ROOT/tests/mpi-run" -np 1 ./prog 4
    expect_status 4
    run "$NHT1_ROOT/tests/mpi-run" -np 2 -t 1 ./prog sleep
    expect_status 124
    run env MPIRUN=no-such-launcher "$NHT1_ROOT/tests/mpi-run" -np 1 ./prog 0
    expect_status 3
    expect_text "no-such-launcher"
    run "$NHT1_ROOT/tests/mpi-run" ./prog 0
    expect_status 1
}
