#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The Makefile and the scripts around it, on small parts of the tree.

load helpers

# make in the tree, into a folder of the test, free of the settings of the make that runs the tests.
mk() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O make -C "$NHT1_ROOT" O="$PWD/b" "$@"
}

# makefiles FOLDER: the Makefile and its parts.
makefiles() {
    local part
    mkdir -p "$1"
    cp "$NHT1_ROOT/Makefile" "$1"
    for part in $(sed -n 's/^include //p' "$NHT1_ROOT/Makefile"); do
        mkdir -p "$1/$(dirname "$part")"
        cp "$NHT1_ROOT/$part" "$1/$part"
    done
}

@test "make help names every target" {
    run mk help
    expect_status 0
    for target in all setup setup-full run check check-full bench lint format info help man install uninstall dist clean; do
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
    slow
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
    slow
    makefiles copy
    cp -r "$NHT1_ROOT/base" copy
    env -u MAKEFLAGS -u O make -C copy build/obj/base/watch.o
    touch -d '1 minute' copy/base/watch.h
    run env -u MAKEFLAGS -u O make -C copy -q build/obj/base/watch.o
    expect_status 1
}

@test "two makes put the studies' files in place at once" {
    slow
    local i one two target=$PWD/b/share/nht1/runs/nht1/copied
    mk "$target" >/dev/null
    for i in 1 2 3 4; do
        rm -rf b/share
        mk "$target" >one 2>&1 & one=$!
        mk "$target" >two 2>&1 & two=$!
        wait "$one" || { cat one && return 1; }
        wait "$two" || { cat two && return 1; }
        diff -r -x __pycache__ -x copied -x version "$NHT1_ROOT/runs/nht1" b/share/nht1/runs/nht1
        [ "$(ls b/share/nht1/runs)" = nht1 ]
    done
}

@test "CFLAGS are added to, never replaced" {
    run mk -n V=1 "$PWD/b/obj/base/watch.o" CFLAGS=-DX_TEST
    expect_status 0
    expect_text "-DX_TEST"
    expect_text "-ffp-contract=off"
}

@test "make configure remembers what was given and nothing else" {
    slow
    makefiles .
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

@test "studies, reports and statistics start from any folder, wherever they were built" {
    slow
    local copy=$PWD/some/where
    mkdir -p "$copy"
    cp -R "$NHT1_BIN" "$copy/bin"
    mkdir -p "$copy/share/nht1"
    cp -R "${NHT1_BIN%/*}"/share/nht1/{runs,config} "$copy/share/nht1"
    unset NHT1_BIN
    cd /
    run env PATH=/usr/bin:/bin "$copy/bin/nht1-study" --list
    expect_status 0
    expect_text "processors"
    run env PATH=/usr/bin:/bin "$copy/bin/nht1-report" stats 1 2 3
    expect_status 0
    run "$copy/bin/nht1-report" --help
    expect_status 0
    "$copy/bin/nht1-stats" 1 2 3 | jq -e '.median == 2'
}

@test "ranks are started with their limit in time and their status" {
    cat >prog <<'END'
#!/bin/bash
[ "$1" = sleep ] && exec sleep infinity
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

# A launcher of each library, in a folder as a module has it and in one as Debian has it.
@test "the launcher is that of the MPI library that the programs are built with" {
    slow
    local name
    mkdir -p site/bin b/bin build/bin
    for name in site/bin/mpicc site/bin/mpirun site/mpicc.other site/mpirun.other; do
        printf '#!/bin/sh\necho "%s $*" >>"%s/started"\n' "$name" "$PWD" >"$name"
        chmod +x "$name"
    done
    cp site/bin/mpirun b/bin/program
    launcher_of() {
        rm -f b/share/nht1/runs/launcher
        mk "$PWD/b/share/nht1/runs/launcher" "$@" >&2 && cat b/share/nht1/runs/launcher
    }
    [ "$(launcher_of MPICC=mpicc)" = mpirun ]
    [ "$(launcher_of MPICC="$PWD/site/bin/mpicc")" = "$PWD/site/bin/mpirun" ]
    [ "$(launcher_of MPICC=cc)" = mpirun ]
    [ "$(PATH=$PWD/site:$PATH launcher_of MPICC=mpicc.other)" = mpirun.other ]
    # By the programs of the folder, by those of NHT1_BIN for another program, and not if told.
    unset MPIRUN MPIRUN_FLAGS
    export PATH=$PWD/site:$PATH
    "$NHT1_ROOT/tests/mpi-run" -np 3 b/bin/program x
    NHT1_BIN=$PWD/b/bin "$NHT1_ROOT/tests/mpi-run" -np 4 true
    MPIRUN=site/bin/mpirun "$NHT1_ROOT/tests/mpi-run" -np 5 b/bin/program
    [ "$(grep -c '^site/mpirun.other -np [34] .*\(program x\|true\)$' started)" -eq 2 ]
    grep -q '^site/bin/mpirun -np 5 ' started
}

@test "under the launcher of another MPI library a program refuses to run once per process" {
    run env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 \
        "$NHT1_BIN/nht1-bt" --class S --io posix --out o.bin
    expect_status 1
    expect_text "nht1-bt: 2 processes were started by the launcher of another MPI library"
    [ ! -e o.bin ]
    run env PMI_SIZE=3 PMI_RANK=1 "$NHT1_BIN/nht1-beff" --quick
    expect_status 1
    [ -z "$output" ]
    # mpirun in a shell of srun hands on what that has of PMI.
    run env PMI_SIZE=2 PMI_RANK=0 OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 "$NHT1_BIN/nht1-bt" --class S --io none --dry-run
    expect_status 0
}

@test "numbers are written and read with a point in a locale that has a comma" {
    slow
    local program
    need_program localedef
    localedef -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8" || not_here "no locale with a comma can be made (Debian: locales)"
    export LOCPATH=$PWD LC_ALL=de_DE.UTF-8
    [ "$(bash -c 'printf %.1f 1,5')" = 1,5 ] # the locale is in force for who asks for it
    mpi_run 2 nht1-bt --n 12 --steps 60 --dt 0.010 --interval 5 --tc 0.5 --io posix --out f.bin \
        --json r.json --quiet
    expect_json r.json '.problem.dt == 0.01 and .runs[0].t_t_s > 0 and .t_c.t_c_s == 0.5'
    run nht1-verify f.bin
    expect_status 0
    expect_text "dt = 0.01,"
    run nht1-stats 1.5 2.5 --json s.json
    expect_json s.json '.median == 2'
    # No program sets a locale, so none needs a layer below its numbers.
    for program in "$NHT1_BIN"/nht1-*; do
        file -b "$program" | grep -q ELF || continue
        if nm -D "$program" | grep -wE 'setlocale|uselocale'; then return 1; fi
    done
}

@test "only programs that write through MPI-IO bring a pwrite of their own" {
    slow
    local program brought
    for program in "$NHT1_BIN"/nht1-*; do
        file -b "$program" | grep -q ELF || continue
        brought=$(nm "$program" | grep -cE ' [TW] pwritev?(64)?$') || true
        case " $(programs mpiio | xargs) " in
        *" ${program##*/} "*) [ "$brought" -eq 4 ] ;;
        *) [ "$brought" -eq 0 ] ;;
        esac || { echo "$program: $brought" && return 1; }
    done
    # The library's calls meet it only where the program shows it to others.
    nm -D --defined-only "$NHT1_BIN/nht1-bt" | grep -q ' pwritev$'
}

@test "what a build links goes into its folder" {
    printf '#!/bin/sh\necho "$@" >>"%s/calls"\nexec gcc "$@"\n' "$PWD" >cc
    chmod +x cc
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$NHT1_ROOT" O="$PWD/b" CC="$PWD/cc" "$PWD/b/settings"
    grep -q -- -fopenmp calls
    run grep -oE -- '-o [^ ]+' calls
    [ -n "$output" ]
    [ -z "$(grep -v -- "-o $PWD/b/" <<<"$output")" ]
    [ "$(cd b && find . -type f)" = ./settings ]
}

@test "packages, the linked libraries and the README name the same" {
    local name wanted linked
    linked=$(sed -n 's/.*$(PKG) --libs \([a-z0-9 ]* [a-z0-9 ]*\) 2.*/\1/p' "$NHT1_ROOT/Makefile" | tr ' ' '\n' | sort)
    wanted=$(sed -n 's/^run .*lib:\([a-z0-9]*\) .*/\1/p' "$NHT1_ROOT/config/packages" | sort)
    [ "$(wc -l <<<"$linked")" -ge 3 ]
    [ "$linked" = "$wanted" ] || { echo "Makefile: $linked; config/packages: $wanted" && false; }
    sed -n '/Needed are/,/^$/p' "$NHT1_ROOT/README.md" >needed
    for name in $wanted $(sed -n '/^full/d; s/^[a-z]* .*py:\([a-z0-9]*\) .*/\1/p' "$NHT1_ROOT/config/packages") \
        cmocka bats python3; do
        grep -qiw "$name" needed || { echo "README: no $name" && false; }
    done
    for name in $(grep -A 2 '^LIBS ' "$NHT1_ROOT/Makefile" | grep -oE '(^|[ ,])-l[a-z0-9]+' | tr -d ' ,' | sort -u); do
        case $name in -lgslcblas | -lm | -lz) continue ;; esac
        grep -qx "${name#-l}" <<<"$wanted" || { echo "Makefile: $name" && false; }
    done
}

@test "make coverage in two trees: neither removes the counts of the other" {
    slow
    local tree
    for tree in one two; do
        # shellcheck disable=SC2016 # for make
        env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory -C "$NHT1_ROOT" O="$PWD/$tree" \
            --eval 'counts:;@echo $(COUNTS)' counts
    done >counts
    [ "$(grep -c '^/dev/shm/nht1-coverage-' counts)" -eq 2 ]
    [ "$(sort -u counts | wc -l)" -eq 2 ]
}
