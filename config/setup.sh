#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what the project needs and the system lacks:
#
#     bash config/setup.sh [run|check|full] [--list]
#
# run: compiler, MPI and libraries; check (default): the test tools as well; full: also what single
# tests of `make check-full` and targets of their own need. What is needed is in config/packages.
# Nothing is done, nothing printed and no rights are needed when all is there.
# --list prints what is missing and installs nothing.
# Exit status: 0 all there or installed, 1 wrong call, 3 something is missing and stays so. What only a part of
# the tests needs (check*) is told and no error: these tests are left out.
set -u
here=$(cd "$(dirname "$0")" && pwd)

die() {
    local status=$1
    shift
    printf 'setup: %s\n' "$@" >&2
    exit "$status"
}

# Column of config/packages for this system's package manager.
manager() {
    if command -v apt-get >/dev/null; then
        echo apt
    elif command -v dnf >/dev/null; then
        echo dnf
    elif command -v zypper >/dev/null; then
        echo zypper
    else
        echo none
    fi
}

# The Python that has all modules up to level $1, else that of the system, which the packages are for.
# The python3 of pyenv or conda may have some of them: no use, since a program runs in one Python
# (runs/nht1/tools.py).
python_of() {
    local want=$1 level what _ names='' python
    while IFS='|' read -r level what _; do
        level=${level// /} what=${what// /}
        case $want:$level:$what in
        *:run:py:* | check:check:py:* | full:check:py:* | full:full:py:*) names+=" ${what#py:}" ;;
        esac
    done <"$here/packages"
    for python in "${NHT1_PYTHON:-python3}" /usr/bin/python3; do
        "$python" -c "from importlib.util import find_spec as f; exit(not all(map(f, '$names'.split())))" \
            2>/dev/null && break
    done
    echo "$python"
}

# Is one thing (cmd:NAME, lib:NAME, py:NAME, file:NAME) there?
have() {
    local kind=${1%%:*} name=${1#*:}
    case $kind in
    cmd) command -v "$name" >/dev/null ;;
    lib) command -v pkg-config >/dev/null && pkg-config --exists "$name" ;;
    py) "$python" -c "from importlib.util import find_spec as f; exit(not f('$name'))" 2>/dev/null ;;
    file) [ -e "$name" ] ;;
    *) die 1 "config/packages: cannot look for '$1'" ;;
    esac
}

# Whether the MPI library that mpicc leads to is another than Open MPI. Debian's packages of Open MPI, and
# those made for it, would take its place.
other_mpi() {
    command -v mpicc >/dev/null && ! mpicc --showme:version >/dev/null 2>&1
}

# Packages, by the names of manager $2, of everything up to level $1 that is missing; with a third word only
# of what the tests cannot do without.
missing() {
    local want=$1 column=$2 must=${3:-} level what apt dnf zypper python other=
    python=$(python_of "$want")
    ! other_mpi || other=1
    while IFS='|' read -r level what apt dnf zypper; do
        level=${level// /} what=${what// /}
        case $level in '' | '#'*) continue ;; esac
        [[ -z $must || $level != *'*' ]] || continue
        case $want:${level%'*'} in run:run | check:run | check:check | full:*) ;; *) continue ;; esac
        case $other:$level:$what in
        1:check\*:lib:*openmpi | 1:check\*:lib:pnetcdf | 1:check\*:cmd:ncmpidiff | 1:check\*:file:*mpi*) continue ;;
        esac
        have "$what" && continue
        case $column in
        apt) echo "$apt" ;;
        dnf) echo "$dnf" ;;
        zypper) echo "$zypper" ;;
        *) echo "$what" ;;
        esac
    done <"$here/packages"
}

# MPI libraries that stand in a folder of their own until a module is loaded.
hint_modules() {
    local folder
    for folder in /usr/lib64/openmpi/bin /usr/lib64/mpi/gcc/openmpi*/bin; do
        [ -x "$folder/mpicc" ] || continue
        echo "setup: MPI is installed in $folder: load its module or add the folder to PATH" >&2
    done
}

# Runs a command with the rights to install.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif [ -t 0 ] && [ -z "${CI:-}" ]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

# Debian starts a server as soon as it is installed, unless a policy says no. Tests start their own, so this
# is one for the time of the installation; one that is there is the administrator's and stays.
policy=${NHT1_RC_POLICY:-/usr/sbin/policy-rc.d}
# shellcheck disable=SC2016 # for another shell
without_servers='policy=$1
shift
if [ ! -e "$policy" ]; then
    trap "rm -f \"$policy\"" EXIT
    trap "exit 130" INT
    trap "exit 143" TERM
    printf "#!/bin/sh\nexit 101\n" >"$policy" && chmod 755 "$policy"
fi
"$@"'

install_with() {
    local tool=$1 start=(env)
    shift
    [ "$level" != full ] || start=(bash -c "$without_servers" bash "$policy" env)
    case $tool in
    apt)
        as_root apt-get -q -o DPkg::Lock::Timeout=300 update >&2
        as_root "${start[@]}" DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
            install --no-install-recommends "$@" >&2
        ;;
    dnf) as_root dnf -y install "$@" >&2 ;;
    zypper) as_root zypper --non-interactive install "$@" >&2 ;;
    esac
}

# What to tell somebody who has to install by hand.
advice() {
    case $1 in
    apt) echo "apt-get install $2" ;;
    dnf) echo "dnf install $2" ;;
    zypper) echo "zypper install $2" ;;
    esac
}

level=check
list=
for word in "$@"; do
    case $word in
    run | check | full) level=$word ;;
    --list) list=1 ;;
    *) die 1 "usage: bash config/setup.sh [run|check|full] [--list]" ;;
    esac
done

tool=$(manager)
# missing [must]: as one line.
missing_line() {
    missing "$level" "$tool" "$@" | tr -s ' \n' '  ' | sed 's/^ //; s/ $//'
}
need=$(missing_line)
[ -n "$list" ] && { [ -z "$need" ] || echo "$need"; exit 0; }
[ -z "$need" ] && exit 0
must=$(missing_line must)

# give_up WHY...: what is missing stays so: an error, unless only parts of the tests need it.
give_up() {
    [ -z "$must" ] || die 3 "$@"
    printf 'setup: %s\n' "$@" "tests that need it are left out" >&2
    exit 0
}

[ "$tool" = none ] && give_up "missing: $need" \
    "there is no apt-get, dnf or zypper here: install these by hand, or load the modules that have them"

by_hand="to be installed by somebody who may: $(advice "$tool" "$need")"
if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    hint_modules
    give_up "missing: $need" "not root, and no sudo here" "$by_hand"
fi
[ "$tool" = apt ] || echo "setup: the package names for $tool are untried$([ "$level" != full ] || echo ", those of level full are guesses")" >&2
takes=
case $need in
*matplotlib* | *hdf5* | *mpich*) takes=", about a minute, most of it for the libraries of the reports, of file formats and MPICH" ;;
esac
echo "setup: installing $need$takes" >&2
# A name that this system does not know keeps no package from being installed that is needed.
# shellcheck disable=SC2086 # lists of names
install_with "$tool" $need || { [ -n "$must" ] && [ "$must" != "$need" ] && install_with "$tool" $must; } ||
    give_up "the installation failed" "$by_hand"

case $need in *slurm* | *glusterfs* | *nfs*)
    echo "setup: servers for tests were installed and not started; where systemd runs they start with the" \
        "system unless you say: systemctl disable munge slurmctld slurmd glusterd nfs-server" >&2 ;;
esac
left=$(missing_line)
[ -z "$left" ] && exit 0
must=$(missing_line must)
hint_modules
give_up "still missing after the installation: $left"
