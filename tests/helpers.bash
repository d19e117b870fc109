# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154 # bats sets status and output
# Loaded by every end-to-end test: `load helpers`. Programs lie in $NHT1_BIN, helper programs of the
# tests (mkdump, mklisting) in $NHT1_TESTBIN; tests/run sets both.

# Every case reads this file anew: what starts a process here is started a thousand times.
export NHT1_ROOT=${BASH_SOURCE[0]%/tests/*} # an absolute path: `load` sees to that
export NHT1_BIN=${NHT1_BIN:-$NHT1_ROOT/build/bin}
export NHT1_TESTBIN=${NHT1_TESTBIN:-${NHT1_BIN%/*}/tests}
export PATH=$NHT1_BIN:$PATH
export OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1} # as in tests/run
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}                      # so, too
[ ! -e "$NHT1_TESTBIN/wait.so" ] || export NHT1_PRELOAD=${NHT1_PRELOAD-$NHT1_TESTBIN/wait.so} # so, too

# Without a launcher, all processes of Open MPI have one session folder, and the first that ends removes it.
export OMPI_MCA_orte_tmpdir_base=${BATS_FILE_TMPDIR:-${TMPDIR:-/tmp}}
# Launchers share it, too: where two make it at once, or one removes it meanwhile, one of them fails. So it is there
# before, and stays.
[ -z "${BATS_FILE_TMPDIR:-}" ] || [ -d "$BATS_FILE_TMPDIR/ompi.${HOSTNAME%%.*}.$EUID/tests" ] ||
    mkdir -p "$BATS_FILE_TMPDIR/ompi.${HOSTNAME%%.*}.$EUID/tests"
# Without a launcher, Open MPI starts a daemon of its own, which takes as long as the program.
export OMPI_MCA_ess_singleton_isolated=${OMPI_MCA_ess_singleton_isolated:-1}

# A quiet machine, as recorded: what a test expects must not depend on what else runs (base/disturbance.h).
export NHT1_PROC=${NHT1_PROC-$NHT1_ROOT/tests/proc/quiet}

# A limit for what hangs, in seconds: however busy the machine is, nothing that goes well takes so long.
export NHT1_HANG_S=${NHT1_HANG_S:-1800}

# wait_until [-p PID] COMMAND...: until it succeeds; in vain where the process has ended before.
wait_until() {
    local end=$((SECONDS + NHT1_HANG_S)) process=
    [ "$1" != -p ] || { process=$2 && shift 2; }
    until "$@"; do
        if [ "$SECONDS" -ge "$end" ] || { [ -n "$process" ] && ! kill -0 "$process" 2>/dev/null && ! "$@"; }; then
            echo "waited in vain for: $*"
            return 1
        fi
        sleep 0.05
    done
}

# mpi_run RANKS PROGRAM [ARGUMENT...]: under mpirun, at most $MPI_TIMEOUT (default $NHT1_HANG_S) seconds. One
# rank needs no launcher, which would take longer than most of what it starts; options for the launcher do.
mpi_run() {
    local ranks=$1
    shift
    if [ "$ranks" = 1 ] && [ -z "${MPIRUN:-}${MPIRUN_FLAGS:-}" ]; then
        OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} \
            timeout --foreground -k 60 "${MPI_TIMEOUT:-$NHT1_HANG_S}" "$@" </dev/null
        return
    fi
    "$NHT1_ROOT/tests/mpi-run" -np "$ranks" -t "${MPI_TIMEOUT:-$NHT1_HANG_S}" "$@"
}

# launcher: that of the MPI library that the programs were built with.
launcher() {
    echo "${MPIRUN:-$(cat "${NHT1_BIN%/*}/share/nht1/runs/launcher" 2>/dev/null || echo mpirun)}"
}

# programs VALUE...: those of config/programs.conf that are of this kind, or write this way.
programs() {
    awk -F ' = ' -v values=" $* " '/^\[/ { name = substr($1, 2, length($1) - 2) }
        ($1 == "kind" || $1 == "writes") && index(values, " " $2 " ") { print name }' "$NHT1_ROOT/config/programs.conf"
}

# has_writer NAME: whether this build has it; need_writer NAME: skips the test where its library is not there.
has_writer() {
    nht1-bt --io help | grep -q "^--io all.* $1\b"
}

need_writer() {
    has_writer "$1" || not_here "built without the library of writer $1"
}

# wrapper mpif90: the compiler wrapper of that library.
wrapper() {
    launcher | sed "s/mpirun/$1/"
}

# mpicc_of_build: the compiler wrapper, which a make that tests start would otherwise not know and build
# everything anew with another.
mpicc_of_build() {
    awk '{ print $2 }' "$(dirname "${NHT1_BIN_REAL:-$NHT1_BIN}")/settings"
}

# open_mpi: whether that library is Open MPI, which has components to choose from.
open_mpi() {
    "$(launcher)" --version | grep -qE "Open MPI|OpenRTE"
}

# Why a test is left out is one of four things, and the first words of the reason; the runner takes no other.
# What is slow is part of make check-full; what is large, `make setup-full` installs, or needs much room; what
# the kernel does not permit to this user, or in this container; what this system or this build is not, or
# has not: an option of the build, another MPI library, another processor.
slow() {
    [ -n "${NHT1_FULL:-}" ] || skip "slow: part of make check-full"
}

large() {
    skip "large: $*"
}

not_permitted() {
    skip "not permitted by the kernel here: $*"
}

not_here() {
    skip "not on this system: $*"
}

# need_open_mpi WHY: skips the test where it is another one.
need_open_mpi() {
    open_mpi || not_here "$1"
}

# real_python [PATH]: for setup_file. python3 is from here on a program itself, the one named, that of
# the system, or what comes first: one of pyenv is a script, which takes longer than what it starts.
real_python() {
    local python=${1:-/usr/bin/python3}
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
        python=$(python3 -c 'import sys; print(sys.executable)')
    mkdir "$BATS_FILE_TMPDIR/python"
    ln -s "$python" "$BATS_FILE_TMPDIR/python/python3"
    export PATH=$BATS_FILE_TMPDIR/python:$PATH
}

# warm_python COMMAND: for setup_file, after real_python; cold_python: for teardown_file. In between `warm COMMAND
# [ARGUMENT...]` starts nht1-report or study by tests/warm, which has imported all that the one named here needs.
warm_python() {
    mkfifo "$BATS_FILE_TMPDIR"/{ask,ended}
    python3 "$NHT1_ROOT/tests/warm" "$BATS_FILE_TMPDIR" "$@" </dev/null >&2 3>&- &
    export WARM_PYTHON=$!
}

cold_python() {
    kill "$WARM_PYTHON"
}

warm() {
    local status
    kill -0 "$WARM_PYTHON" || return
    { printf '%s\0' "$BASHPID" "$PWD" $# "$@" && env -0; } >"$BATS_FILE_TMPDIR/ask"
    read -r status <"$BATS_FILE_TMPDIR/ended"
    return "$status"
}

# need_program NAME...: skips the test when a program of the system is not there.
need_program() {
    local name
    for name in "$@"; do
        command -v "$name" >/dev/null || not_here "$name is not installed (make setup)"
    done
}

# need_large NAME...: one that make setup does not install.
need_large() {
    local name
    for name in "$@"; do
        command -v "$name" >/dev/null || large "$name is not installed (make setup-full)"
    done
}

# need_root WHAT: skips the test where somebody else must not do that.
need_root() {
    [ "$EUID" = 0 ] || not_permitted "$1 needs root"
}

# memory_disk FOLDER SIZE[,OPTION]: a file system in memory, mounted there.
memory_disk() {
    mkdir -p "$1"
    mount -t tmpfs -o "size=$2" none "$1" 2>mount.log || not_permitted "mount: $(head -n 1 mount.log)"
    rm mount.log
}

# "${obedient[@]}" COMMAND: to which files are closed that are closed to their owner; root is not held up by that.
# shellcheck disable=SC2034 # used by tests
obedient=()
# shellcheck disable=SC2034
[ "$EUID" != 0 ] ||
    obedient=(setpriv "--bounding-set=-dac_override,-dac_read_search" "--inh-caps=-dac_override,-dac_read_search")

# need_space DIRECTORY MIB: skips the test when the file system has less room.
need_space() {
    local free_mib
    free_mib=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
    [ "$free_mib" -ge "$2" ] || large "$1 has $free_mib MiB free, the test needs $2 MiB"
}

# own_processes PROGRAM: those that work in this test's folder.
own_processes() {
    local pid
    for pid in $(pgrep -x "$1"); do
        [ "$(readlink "/proc/$pid/cwd")" != "$PWD" ] || echo "$pid"
    done
}

# kill_ranks PROGRAM: all of those that work in this test's folder at once, as when a node fails. The launcher is held
# meanwhile: it would end the others in good order as soon as the first one is gone.
kill_ranks() {
    local launchers
    launchers=$(for name in mpirun mpiexec mpiexec.hydra hydra_pmi_proxy; do own_processes "$name"; done)
    # shellcheck disable=SC2046,SC2086 # words
    kill -STOP $launchers && kill -KILL $(own_processes "$1") && kill -CONT $launchers
}

# no_process PROGRAM: waits until none works in this test's folder any more.
no_process() {
    wait_until no_own_process "$1" && return 0
    echo "left over: $1 $(own_processes "$1")"
    return 1
}

no_own_process() {
    [ -z "$(own_processes "$1")" ]
}

# own_clock [US]: from here on the clock of the project's programs is the test's (tests/shim/clock.c): it goes
# on by US microseconds whenever one of them asks for the time, 0: as the machine's, and by what `pass` says.
own_clock() {
    export NHT1_CLOCK=$BATS_TEST_TMPDIR.clock NHT1_CLOCK_US=${1:-1} LD_PRELOAD=$NHT1_TESTBIN/clock.so
    : >"$NHT1_CLOCK"
}

# pass SECONDS: on the test's clock.
pass() {
    printf "%$1s" '' >>"$NHT1_CLOCK"
}

# wait_stopped [-p PID] PROGRAM: until one that works in this test's folder stands still (NHT1_FAULT_STOP of
# tests/shim/fault.c); $stopped: its number.
wait_stopped() {
    local process=()
    [ "$1" != -p ] || { process=(-p "$2") && shift 2; }
    wait_until "${process[@]}" stands_still "$1"
}

stands_still() {
    for stopped in $(own_processes "$1"); do
        ! is_stopped "$stopped" || return 0
    done
    return 1
}

# is_stopped PID: whether it stands still.
is_stopped() {
    grep -qs '^State:.T' "/proc/$1/status"
}

# random_stop [-l] SIGNAL PROGRAM COMMAND...: two ranks of a command whose program gets a signal in front of one of
# its calls on files of ./data, whichever, -l: by way of the launcher; it says in front of which. A first run, which
# goes to its end, counts the calls in ./log. Where there are fewer the other time it ends by itself.
random_stop() {
    local by=ranks signal program rank call calls job status=0 fault
    [ "$1" != -l ] || { by=launcher && shift; }
    signal=$1 program=$2
    shift 2
    fault=(env "LD_PRELOAD=$NHT1_TESTBIN/fault.so${LD_PRELOAD:+:$LD_PRELOAD}" "NHT1_FAULT_PROGRAM=$program"
        "NHT1_FAULT_IN=$PWD/data")
    mkdir -p data
    if [ ! -e log ]; then
        mkdir log
        "$NHT1_ROOT/tests/mpi-run" -np 2 "${fault[@]}" NHT1_FAULT_LOG="$PWD/log" "$@" >out 2>&1 || true
    fi
    read -r rank call calls < <(cd log && awk '$2 > 0 && $1 != "openr" { print FILENAME, $1, $2 }' [01] | shuf -n 1)
    call=$call:$((RANDOM % calls + 1)):$rank
    "$NHT1_ROOT/tests/mpi-run" -np 2 "${fault[@]}" NHT1_FAULT_STOP="$call" "$@" >out 2>&1 3>&- &
    job=$!
    if wait_stopped -p "$job" "$program" >wait.log; then
        # shellcheck disable=SC2046 # words
        if [ "$by" = ranks ]; then
            kill "-$signal" $(own_processes "$program")
        else
            pkill "-$signal" -P "$job" || kill "-$signal" "$job"
        fi
        kill -CONT "$stopped" 2>/dev/null || true
    fi
    wait "$job" || status=$?
    echo "SIG$signal by the $by at $call, status $status: $(ls -A data)"
    no_process "$program"
}

# held_lock FILE: whether somebody holds it.
held_lock() {
    [ -e "$1" ] && ! flock -n "$1" true
}

# expect_status STATUS: of the last `run`; shows its output when it is another one.
expect_status() {
    [ "$status" -eq "$1" ] && return 0
    echo "expected exit status $1, got $status; output:"
    echo "$output"
    return 1
}

# expect_text TEXT: the last `run` printed it somewhere.
expect_text() {
    case $output in *"$1"*) return 0 ;; esac
    echo "expected to read: $1"
    echo "output: $output"
    return 1
}

# expect_no_text TEXT: the last `run` printed it nowhere.
expect_no_text() {
    case $output in *"$1"*) ;; *) return 0 ;; esac
    echo "not expected to read: $1"
    echo "output: $output"
    return 1
}

# expect_plain: the last `run` printed nothing that a terminal obeys.
expect_plain() {
    local wrong
    wrong=$(LC_ALL=C grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]' \
        <<<"$output" | cat -v)
    [ -z "$wrong" ] && return 0
    echo "control characters: $wrong"
    return 1
}

# expect_json FILE FILTER: the filter of jq must yield true.
expect_json() {
    local got
    got=$(jq -e "$2" "$1") && [ "$got" = true ] && return 0
    echo "$1: $2 gives $got"
    return 1
}

# expect_schema NAME FILE: the file follows docs/schema/NAME.json, and its stamps the list of the build. In tests/run,
# which gives the folder NHT1_SCHEMAS, a copy of it is kept there, and all are looked at together in the end: that
# takes one start of Python instead of a hundred.
expect_schema() {
    if [ -n "${NHT1_SCHEMAS:-}" ]; then
        kept_n=$((${kept_n:-0} + 1))
        cp "$2" "$NHT1_SCHEMAS/$1, ${BATS_TEST_FILENAME##*/}, ${BATS_TEST_DESCRIPTION//\//:}, $BASHPID.$kept_n"
        return
    fi
    NHT1_BIN=${NHT1_BIN_REAL:-$NHT1_BIN} "$NHT1_ROOT/tests/schema" "$NHT1_ROOT/docs/schema/$1.json" "$2"
}

# Every test works in a folder of its own, with a store of compute times of its own.
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
}

# loop_disk TYPE SIZE: a file system of its own at ./disk.
loop_disk() {
    need_program "mkfs.$1"
    truncate -s "$2" image
    "mkfs.$1" -q image >mkfs.log 2>&1 || not_permitted "mkfs.$1: $(tail -n 1 mkfs.log)"
    mkdir disk
    mount -o loop image disk 2>mount.log || not_permitted "mount: $(head -n 1 mount.log)"
}

# slow_disk [MB_PER_S [unsized | CALL N...]]: ./disk, by the program slowfs, whose number is in $server; it stops in
# front of its N-th CALL, or does not tell what is free.
slow_disk() {
    [ -x "$NHT1_TESTBIN/slowfs" ] || not_here "libfuse3 is not installed: there is no slowfs (make setup)"
    [ -w /dev/fuse ] || not_permitted "/dev/fuse cannot be written"
    mkdir disk below
    "$NHT1_TESTBIN/slowfs" "$PWD/below" disk "$@" >slowfs.log 2>&1 3>&- &
    server=$!
    ! wait_until -p "$server" mountpoint -q disk || return 0
    server=
    not_permitted "FUSE: $(head -n 1 slowfs.log)"
}

# end_slow_disk: for teardown, also where there was none, and of another ./disk.
end_slow_disk() {
    [ -z "${server:-}" ] || kill -CONT "$server" 2>/dev/null
    ! mountpoint -q disk 2>/dev/null || umount disk || umount -l disk
    [ -z "${server:-}" ] || wait "$server" || true
}

# wait_text [-p PID] FILE PATTERN: until a line of it matches; in vain where the process has ended before.
wait_text() {
    local process=()
    [ "$1" != -p ] || { process=(-p "$2") && shift 2; }
    wait_until "${process[@]}" grep -qs -- "$2" "$1" && return 0
    cat "$1"
    return 1
}
