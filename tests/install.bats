#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What is made for users beside the programs: manual pages, completion, installations, releases.

load helpers

# mk [ARGUMENT...]: make in the tree, with the programs as they were built; into folders of the test.
mk() {
    local program as_it_is=()
    for program in "$NHT1_BIN"/nht1-*; do
        as_it_is+=(-o "$program")
    done
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O make -C "$NHT1_ROOT" O="${NHT1_BIN%/*}" MPICC="$(mpicc_of_build)" -o all \
        "${as_it_is[@]}" MANUAL="$MANUAL" "$@"
}

setup_file() {
    export MANUAL=$BATS_FILE_TMPDIR/manual
    mk man
}

# long_options PROGRAM: a line each.
long_options() {
    "$@" --help-json | jq -r '.options[].name'
}

# complete_words WORD...: what bash offers for the last word of a command line.
complete_words() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _nht1 "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    output=${COMPREPLY[*]}
}

@test "every program has a manual page with all of its options" {
    slow
    local program name count=0
    for program in "$NHT1_BIN"/nht1-*; do
        name=${program##*/}
        sed 's/\\-/-/g; s/\\f[BIR]//g' "$MANUAL/man1/$name.1" >page
        grep -q "^$name - [a-z0-9A-Z]" page
        for name in $(long_options "$program") help version; do
            grep -qE -- "^(-., )?--$name(=.*)?$" page || { echo "$program: no --$name" && return 1; }
            count=$((count + 1))
        done
        for name in SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
            [ -n "$(sed -n "/^\.SH $name$/{n;/^[^.]\|^\.[^S]\|^\.SS/p}" page)" ] ||
                { echo "$program: nothing under $name" && return 1; }
        done
    done
    [ "$count" -ge 100 ]
    [ "$(sed -n '/SH COMMANDS/,/SH EXAMPLES/s/^\.SS nht1\\-report //p' "$MANUAL/man1/nht1-report.1" | xargs)" = \
        "compare stats trend" ]
}

@test "manual pages are what roff wants to have" {
    need_program mandoc
    run mandoc -T lint "$MANUAL"/man1/*.1
    [ -z "$output" ]
    expect_status 0
}

@test "variables that manual pages explain are read somewhere" {
    local name names=0
    for name in $(sed -n '/^\.SH ENVIRONMENT/,/^\.SH FILES/s/^\\fI\([A-Z0-9_]*\)\\fR$/\1/p' "$MANUAL"/man1/*.1 | sort -u); do
        grep -rqE --include='*.[ch]' --include='*.py' "(getenv\(|environ.*)[\"']${name}[\"']" "$NHT1_ROOT"/{base,bt,verify,runs} ||
            { echo "nobody reads $name" && return 1; }
        names=$((names + 1))
    done
    [ "$names" -ge 6 ]
}

@test "the table of options is there without MPI" {
    slow
    local program
    for program in "$NHT1_BIN"/nht1-*; do
        env -i PATH=/usr/bin:/bin OMPI_MCA_pml=none MPICH_NO_MPI=1 "$program" --help-json >table.json
        expect_json table.json '(.options | length > 0) and (.options | all(.name and .help))'
    done
    run nht1-bt --help-json --quiet
    expect_status 1
}

@test "bash completes options, choices, writers, files, studies and commands" {
    slow
    # shellcheck source=/dev/null
    source "$MANUAL"/completion/nht1
    touch result.json 'two words.json' a.bin
    mkdir results
    complete_words build/bin/nht1-bt --cl
    [ "$output" = --class ]
    complete_words nht1-bt --class ''
    [ "$output" = "S W A B C D E F" ]
    complete_words nht1-bt --class = W
    [ "$output" = W ]
    complete_words nht1-bt --layout =
    [ "$output" = "mijk ijkm records" ]
    complete_words nht1-bt --layout=ij
    [ "$output" = --layout=ijkm ]
    complete_words nht1-bt --io posix,tw
    [ "$output" = posix,twophase ]
    complete_words nht1-bt --io token
    [ "$output" = "token token-gather" ]
    complete_words nht1-bt --n ''
    [ -z "$output" ]
    complete_words nht1-bt --out a
    [ "$output" = a.bin ]
    complete_words nht1-bt --quiet --cl
    [ "$output" = --class ]
    complete_words nht1-beffio -p res
    [ "$output" = results ]
    complete_words nht1-report compare two
    [ "$output" = "two words.json" ]
    [ "${#COMPREPLY[@]}" -eq 1 ]
    complete_words nht1-report comp
    [ "$output" = compare ]
    complete_words nht1-report compare --fail
    [ "$output" = --fail-on ]
    complete_words nht1-report compare --mtb
    [ -z "$output" ]
    complete_words nht1-study proc
    [ "$output" = processors ]
    complete_words nht1-profile -- nht1-b
    [[ " $output " == *" nht1-bt "* ]]
    complete_words nht1-verify --against ref
    [ "$output" = reference ]
    run complete -p nht1-bt
    expect_text _nht1
}

@test "completion offers every long option of every program and command, and no others" {
    slow
    local program command
    # shellcheck source=/dev/null
    source "$MANUAL"/completion/nht1
    for program in "$NHT1_BIN"/nht1-*; do
        for command in '' $("$program" --help-json | jq -r '.commands[]?'); do
            complete_words "$program" ${command:+"$command"} --
            diff <(tr ' ' '\n' <<<"$output" | sort) \
                <({ long_options "$program" ${command:+"$command"} && echo help &&
                    { ! "$program" ${command:+"$command"} --version >/dev/null 2>&1 || echo version; }; } | sed 's/^/--/' | sort -u) ||
                { echo "$program $command" && return 1; }
        done
    done
}

@test "make install: programs work from where they lie, documents lead to each other, uninstall leaves nothing" {
    local file link links=0
    mkdir -p root/usr/bin root/usr/share/nht1
    touch root/usr/bin/other root/usr/share/nht1/mine
    find root | sort >before
    run mk install DESTDIR="$PWD/root" PREFIX=/usr
    expect_status 0
    [ ! -e root/usr/local ]
    root/usr/bin/nht1-verify --version
    (unset NHT1_BIN && cd / && "$OLDPWD"/root/usr/bin/nht1-study --list && "$OLDPWD"/root/usr/bin/nht1-report --version)
    run mpi_run 1 root/usr/bin/nht1-bt --class S --steps 5 --dt 0.01 --interval 5 --io posix --out f.bin --tc 1
    expect_status 0
    root/usr/bin/nht1-verify f.bin
    root/usr/bin/nht1-profile --help
    for file in root/usr/bin/nht1-*; do
        [ -s "root/usr/share/man/man1/${file##*/}.1" ]
        [ -s "root/usr/share/bash-completion/completions/${file##*/}" ]
    done
    for file in root/usr/share/doc/nht1/*.md root/usr/share/doc/nht1/docs/*.md root/usr/share/doc/nht1/docs/*/*.md; do
        for link in $(grep -oE '\]\([^)#:]+\)' "$file" | sed 's/^](//; s/)$//'); do
            [ -e "${file%/*}/$link" ] || { echo "$file: no $link" && return 1; }
            links=$((links + 1))
        done
    done
    [ "$links" -ge 40 ]
    (unset NHT1_BIN PYTHONDONTWRITEBYTECODE && root/usr/bin/nht1-report --version)
    # Copied to its place, it has made none of the folders that are there.
    cp -a root place
    run mk uninstall PREFIX="$PWD/place/usr"
    expect_status 0
    [ -d place/usr/bin ] && [ ! -e place/usr/bin/nht1-bt ]
    run mk uninstall DESTDIR="$PWD/root" PREFIX=/usr
    expect_status 0
    find root | sort | diff before -
}

@test "make install follows BINDIR, LIBDIR, MANDIR and DOCDIR, without DESTDIR" {
    slow
    local places=(PREFIX="$PWD/opt" BINDIR="$PWD/opt/x/bin" LIBDIR="$PWD/opt/lib64" MANDIR="$PWD/opt/man" DOCDIR="$PWD/opt/doc")
    run mk install "${places[@]}"
    expect_status 0
    [ -x opt/x/bin/nht1-bt ]
    [ -e opt/lib64/nht1/libnht1-profile.so ]
    [ -e opt/man/man1/nht1-bt.1 ]
    [ -e opt/doc/README.md ]
    (unset NHT1_BIN && cd / && "$OLDPWD/opt/x/bin/nht1-study" --list >/dev/null)
    run mk uninstall "${places[@]}"
    expect_status 0
    [ ! -e opt ]
}

# one_word BUILD FOLDER: every program there names this build, in --version and in its results.
one_word() {
    local program
    for program in "$2"/nht1-*; do
        run "$program" --version
        [ "$output" = "${program##*/} $1" ] || { echo "$output, not $1" && return 1; }
    done
    run mpi_run 1 "$2/nht1-bt" --n 12 --steps 4 --dt 0.001 --interval 2 --tc 1 --io posix --out v.bin --json bt.json
    expect_status 0
    [ "${lines[0]}" = "nht1-bt $1: application I/O benchmark (NAS BT with dumps of the solution)" ]
    "$2/nht1-stats" 1 2 --json stats.json
    "$2/nht1-report" bt.json -o page.html
    run "$2/nht1-report" compare bt.json bt.json --json compare.json --html compare.html # too few runs
    (cd / && "$2/nht1-bt" --dry-run --json - --n 12 --steps 4 --dt 0.001 --tc 1 --io none 2>/dev/null) >plan.json
    for file in bt stats compare plan; do
        expect_json $file.json ".version == \"$1\""
    done
    grep -qF "$1" page.html
    grep -qF "$1" compare.html
}

@test "all programs of a build, and all that are installed, call themselves by one word" {
    slow
    local word command
    word=$(cat "$NHT1_BIN/../share/nht1/runs/nht1/version")
    [[ $word == *"$(sed -n 's/.*NHT1_VERSION "\(.*\)"/\1/p' "$NHT1_ROOT/base/version.h")"* ]]
    one_word "$word" "$NHT1_BIN"
    for command in '' ab check released tune; do
        [ "$("$NHT1_ROOT/runs/study" ${command:+"$command"} --version)" = "runs/study $word" ]
    done
    mk install DESTDIR="$PWD/root" PREFIX=/usr
    unset NHT1_BIN
    one_word "$word" "$PWD/root/usr/bin"
}

@test "the version is the same everywhere" {
    local version
    version=$(sed -n 's/.*NHT1_VERSION "\(.*\)"/\1/p' "$NHT1_ROOT/base/version.h")
    grep -qx "version: $version" "$NHT1_ROOT/CITATION.cff"
    grep -qE "^## $version( |$)" "$NHT1_ROOT/CHANGELOG.md"
    [[ $(head -n 1 "$NHT1_ROOT/config/debian/changelog") == "nht1 ($version-"* ]]
    grep -q "version(\"$version\"," "$NHT1_ROOT/config/spack/package.py"
    grep -qx "version = '$version'" "$NHT1_ROOT"/config/easybuild/nht1-"$version"-*.eb
}

@test "a release builds without git, knows its version, and installs what works" {
    slow
    need_program git
    local version archive=$PWD/dist
    git -C "$NHT1_ROOT" rev-parse HEAD || not_here "no git checkout"
    version=$(sed -n 's/.*NHT1_VERSION "\(.*\)"/\1/p' "$NHT1_ROOT/base/version.h")
    mk dist DIST="$archive.tar.gz"
    tar xzf dist.tar.gz
    cd "nht1-$version"
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O make -j2 install PREFIX="$archive" LIBDIR="$archive/lib64"
    mpi_run 2 "$archive/bin/nht1-bt" --class S --io posix --out f.bin --json r.json
    expect_json r.json '.status == 0 and (.version | startswith("'"$version"'"))'
    expect_json r.json '.version | test("g[0-9a-f]{7}") and (test("dirty") | not)'
    "$archive/bin/nht1-verify" f.bin
    (unset NHT1_BIN && "$archive/bin/nht1-report" r.json -o r.html --no-figures)
    "$archive/bin/nht1-profile" -o p.xml -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$archive/bin/nht1-bt" --class S --io mpiio --out g.bin
    [ -s p.xml ]
}
