#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# config/setup.sh: silent when all is there, says and installs what is missing, never hangs on
# rights that it does not have. The systems here are folders of stand-ins for the real commands.

load helpers

# A system with nothing but a shell's tools; further stand-ins are added by the tests.
bare_system() {
    mkdir -p box
    local name
    for name in bash env cat tr sed dirname grep; do
        ln -s "$(command -v "$name")" "box/$name"
    done
}

# stand_in NAME SCRIPT-LINE: a command of the box.
stand_in() {
    printf '#!/bin/bash\n%s\n' "$2" >"box/$1"
    chmod +x "box/$1"
}

in_box() {
    run env -i PATH="$PWD/box" BOX="$PWD/box" bash "$NHT1_ROOT/config/setup.sh" "$@"
}

@test "set-up does nothing and says nothing when all is there" {
    run bash "$NHT1_ROOT/config/setup.sh" check
    expect_status 0
    [ -z "$output" ]
}

@test "a wrong word on the command line is refused" {
    run bash "$NHT1_ROOT/config/setup.sh" everything
    expect_status 1
    expect_text "usage"
}

@test "without apt-get, dnf and zypper it names what is missing" {
    slow
    bare_system
    in_box
    expect_status 3
    expect_text "cmd:mpicc"
    expect_text "lib:gsl"
}

@test "without rights it names the command to be run by somebody else" {
    bare_system
    stand_in apt-get 'echo must not run; exit 1'
    stand_in id 'echo 1000'
    in_box
    expect_status 3
    expect_text "no sudo"
    expect_text "apt-get install"
    expect_text "libopenmpi-dev"
    [[ $output != *"must not run"* ]]
}

@test "the level run leaves the test tools out" {
    slow
    bare_system
    stand_in apt-get 'exit 1'
    in_box run --list
    expect_status 0
    expect_text "libgsl-dev"
    [[ $output != *bats* ]]
    in_box check --list
    expect_text "bats"
    [[ $output != *lintian* ]]
    in_box full --list
    expect_text "libgsl-dev"
    expect_text "bats"
    expect_text "lintian"
}

@test "a system that has no such package does without it" {
    bare_system
    stand_in dnf 'exit 1'
    in_box full --list
    expect_status 0
    expect_text "gcc-aarch64-linux-gnu"
    [[ $output != *lintian* && $output != *mpich* && $output != *"  "* ]]
}

@test "every line of the packages has a level, a thing to look for and three columns" {
    run awk -F '|' '!/^#/ && NF && (NF != 5 || $1 !~ /^(run|check[*]?|full) *$/ ||
        $2 !~ /^ (cmd|lib|py|file):[^ ]+ *$/ || $3 ~ /^ *$/)' "$NHT1_ROOT/config/packages"
    [ -z "$output" ]
}

@test "set-up installs each program that a test says it would" {
    # What comes with the system, or with another program that is looked for.
    local basics=" flock taskset setarch unshare localedef perl tar gcc nm h5diff mpirun.mpich " name names
    names=$(grep -h '^ *need_program' "$NHT1_ROOT"/tests/*.bats "$NHT1_ROOT"/tests/fs/*.bats |
        sed 's/"[^"]*\$[^"]*)*"//g; s/^ *need_program//' | tr ' ' '\n' | sort -u)
    [ "$(wc -w <<<"$names")" -ge 20 ]
    for name in $names; do
        [[ $basics == *" $name "* ]] || grep -qE "^check[* ]*\\| (cmd:$name|file:$name) |^run +\\| cmd:$name " "$NHT1_ROOT/config/packages" ||
            { echo "config/packages: no $name" && return 1; }
    done
}

@test "dnf and zypper get the names of their own packages" {
    slow
    bare_system
    stand_in dnf 'exit 1'
    in_box --list
    expect_text "openmpi-devel"
    [[ $output != *libopenmpi-dev* ]]
    rm box/dnf
    stand_in zypper 'exit 1'
    in_box --list
    expect_text "openmpi4-devel"
}

@test "an installation that helps ends well" {
    bare_system
    stand_in id 'echo 0'
    stand_in pkg-config 'exit 0'
    stand_in apt-get 'case $* in *install*)
        for p in gcc make mpicc mpirun jq python3 bats prove objdump pgrep; do
            echo exit >$BOX/$p; /bin/chmod +x $BOX/$p; done ;; esac'
    in_box
    expect_status 0
    expect_text "installing"
}

@test "full installs servers and starts none: a policy for that time, unless there is one" {
    slow
    bare_system
    ln -s /bin/rm /bin/chmod box/
    stand_in id 'echo 0'
    # shellcheck disable=SC2016 # for the stand-in
    stand_in apt-get 'case $* in *install*) "$NHT1_RC_POLICY" >/dev/null; echo "policy says $?"; exit ${APT:-0} ;; esac'
    local apt
    for apt in 0 100; do
        run env -i PATH="$PWD/box" NHT1_RC_POLICY="$PWD/policy" APT=$apt bash "$NHT1_ROOT/config/setup.sh" full
        expect_status 3
        expect_text "policy says 101"
        [ ! -e policy ]
    done
    printf '#!/bin/bash\nexit 7\n' >policy
    chmod +x policy
    run env -i PATH="$PWD/box" NHT1_RC_POLICY="$PWD/policy" bash "$NHT1_ROOT/config/setup.sh" full
    expect_text "policy says 7"
    [ -e policy ]
    rm policy
    run env -i PATH="$PWD/box" NHT1_RC_POLICY="$PWD/policy" bash "$NHT1_ROOT/config/setup.sh" check
    [[ $output != *"policy says 101"* && ! -e policy ]]
}

@test "an installation that does not help is an error that names the rest" {
    slow
    bare_system
    stand_in id 'echo 0'
    stand_in apt-get 'exit 0'
    in_box
    expect_status 3
    expect_text "still missing"
    expect_text "bats"
}

# A system that has all but what parts of the tests need.
basic_system() {
    bare_system
    local name
    for name in gcc make mpicc mpirun jq python3 bats prove objdump pgrep; do
        stand_in "$name" 'exit 0'
    done
    stand_in id 'echo 0'
    # shellcheck disable=SC2016 # for the stand-in
    stand_in pkg-config 'case $* in *hdf5* | *netcdf* | *fuse*) exit 1 ;; esac'
}

@test "what only a part of the tests needs is installed, and no error where it cannot be" {
    slow
    basic_system
    in_box --list
    expect_status 0
    expect_text "lib:hdf5-openmpi"
    in_box
    expect_status 0
    expect_text "missing: "
    expect_text "tests that need it are left out"
    in_box run
    expect_status 0
    [ -z "$output" ]
    # One that knows no such package.
    stand_in apt-get 'case $* in *install*) exit 100 ;; esac'
    in_box
    expect_status 0
    expect_text "libhdf5-openmpi-dev"
    expect_text "the installation failed"
    expect_text "tests that need it are left out"
    # What is needed is installed all the same.
    rm box/jq
    # shellcheck disable=SC2016 # for the stand-in
    stand_in apt-get 'case $* in *hdf5*) exit 100 ;; *install*) echo exit >$BOX/jq; /bin/chmod +x $BOX/jq ;; esac'
    in_box
    expect_status 0
    expect_text "still missing after the installation: "
    [[ ${lines[-2]} != *" jq"* ]]
    rm box/jq
    stand_in apt-get 'exit 100'
    in_box
    expect_status 3
    expect_text "the installation failed"
}

@test "where MPICH is the only MPI nothing is installed that would take its place" {
    slow
    basic_system
    # shellcheck disable=SC2016 # for the stand-in
    stand_in mpicc 'case $* in *--showme*) exit 1 ;; esac'
    in_box --list
    expect_status 0
    expect_text "lib:hdf5-serial"
    [[ $output != *openmpi* ]]
    [[ $output != *pnetcdf* ]]
    stand_in apt-get true
    in_box --list
    expect_status 0
    expect_text "libhdf5-dev"
    [[ $output != *openmpi* ]]
    [[ $output != *pnetcdf* ]]
}

@test "a failing package manager is an error" {
    bare_system
    stand_in id 'echo 0'
    stand_in apt-get 'exit 100'
    in_box
    expect_status 3
    expect_text "the installation failed"
}

@test "modules of Python count when one Python has them all" {
    bare_system
    stand_in dnf 'exit 1'
    stand_in python3 'case $2 in *jinja2*matplotlib*) exit 1 ;; *jinja2*) exit 0 ;; *) exit 1 ;; esac'
    stand_in system 'case $2 in *jinja2*) exit 1 ;; *) exit 0 ;; esac'
    mkdir config
    cp "$NHT1_ROOT/config/packages" config/
    sed "s:/usr/bin/python3:$PWD/box/system:" "$NHT1_ROOT/config/setup.sh" >config/setup.sh
    run env -i PATH="$PWD/box" bash config/setup.sh run --list
    expect_text "python3-jinja2" # python3 has it, but not matplotlib
    [[ $output != *matplotlib* ]] # the system's has that
}
