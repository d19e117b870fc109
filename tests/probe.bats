#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-probe and nht1-bt --probe: what works on a file system, what fails, crashes and hangs; it ends in any case.
# shellcheck disable=SC2016,SC2030,SC2031 # jq filters have variables of their own; so have tests
# shellcheck disable=SC2154 # slow_disk sets server
load helpers

teardown() {
    end_slow_disk
}

# However slow the machine is, no check takes the time after which it counts as hanging: an hour, which a test
# lets pass where one shall (helpers.bash).
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
    own_clock 0
}

probe() {
    mpi_run "${ranks:-1}" nht1-bt --probe --probe-limit 3600 --json p.json "$@"
}

# state CHECK [COMPONENT]: as it was found.
state() {
    jq -r --arg check "$1" --arg of "${2:-}" \
        '.findings[] | select(.tried == $check and (.component // "") == $of) | .state' p.json
}

# The component that is asked for where only one is wanted: MPICH has no other.
component() {
    if open_mpi; then echo ompio; else echo ROMIO; fi
}

# What the library calls the error that the call of probe_call.so returns.
unsupported() {
    if open_mpi; then echo MPI_ERR_UNSUPPORTED_OPERATION; else echo "Unsupported file operation"; fi
}

# Nothing of the probe is in this folder, and none of its processes.
nothing_left() {
    [ -z "$(find "${1:-.}" -name '.nht1-probe*')" ]
    no_process nht1-bt
}

small_disk() {
    memory_disk disk "$1"
}

@test "every check is made, its outcome is printed and in the JSON, and nothing is left" {
    ranks=2 run probe
    expect_status 0
    expect_text "O_DIRECT"
    expect_text "fcntl locks"
    expect_plain
    expect_schema nht1-bt-probe-1 p.json
    expect_text "MPI       $(jq -r .mpi.library p.json), tried with 2 processes"
    expect_json p.json '.answers and .left_behind == [] and .mpi.processes == 2'
    expect_json p.json '[.findings[] | select(.component == null)] | length == 14
        and (.[0] | .tried == "write and read" and .state == "works")'
    expect_json p.json '(.mpi.components | length > 0) and (.mpi.components as $c
        | [.findings[].component | select(.)] | unique == ($c | sort))'
    expect_json p.json 'all(.findings[]; .state != "untried" and .state != "hangs")'
    nothing_left
    [ "$(ls)" = "p.json
state" ]
}

@test "what was found is kept by file system and MPI library, the last one" {
    slow
    local -x OMPI_MCA_io=ompio
    run probe
    expect_status 0
    expect_text "in $PWD/state/nht1/probe.json"
    run probe --tc-store "$PWD/other/tc.json"
    expect_text "in $PWD/other/probe.json"
    run mpi_run 1 nht1-bt --probe --tc-store tc.json --json ./probe.json
    expect_status 1
    expect_text "the store of findings and --json have the same file"
    run probe
    expect_json state/nht1/probe.json '.schema == "nht1-probe/1" and (.entries | length == 1)'
    [ "$(jq -c '.entries[0].findings' state/nht1/probe.json)" = \
        "$(jq -c '.findings | map({component, tried, state, note})' p.json)" ]
    expect_json state/nht1/probe.json '.entries[0] | .mount != "" and .type != "" and .mpi != ""'
    small_disk 64M
    run probe --out disk/x
    expect_status 0
    expect_json state/nht1/probe.json '.entries | length == 2'
    # A file that is no store is left alone.
    echo mine >state/nht1/probe.json
    run probe
    expect_status 0
    expect_text "not kept"
    [ "$(cat state/nht1/probe.json)" = mine ]
}

# tried FILE: what was tried and what the result says besides, but for times, rates and the program's own.
tried() {
    jq -S '[keys, .schema, .folder, .file_system.mount, .mpi, .left_out, (.findings | map([.component, .tried, .state]))]' "$1"
}

@test "nht1-probe is nht1-bt --probe: options, result, findings and exit status" {
    slow
    local option out
    for option in $(nht1-probe --help-json | jq -r '.options[].name'); do
        nht1-bt --help-json | jq -e --arg name "$option" 'any(.options[]; .name == $name)'
    done
    ! open_mpi || local -x OMPI_MCA_io=ompio
    run probe
    expect_status 0
    out=$(grep -E '^  [a-z]' <<<"$output" | cut -c1-35)
    run mpi_run 1 nht1-probe --probe-limit 3600 --json q.json
    expect_status 0
    [ "$(grep -E '^  [a-z]' <<<"$output" | cut -c1-35)" = "$out" ]
    expect_text "what works in ."
    expect_plain
    expect_schema nht1-bt-probe-1 q.json
    [ "$(tried p.json)" = "$(tried q.json)" ]
    expect_json q.json '.status == 0 and .options.probe_limit == 3600 and (.options | has("probe") | not)'
    # Both keep in one store: what one has found, the other knows.
    expect_json state/nht1/probe.json '.entries | length == 1'
    run mpi_run 1 nht1-bt --probe --known
    expect_text "without --known"
    run mpi_run 1 nht1-probe --known
    expect_text "without --known"
    local program
    for program in nht1-probe "nht1-bt --probe"; do
        # shellcheck disable=SC2086 # words
        run mpi_run 1 $program --known --json q.json
        expect_status 1
        expect_text "--known and --json"
    done
    ranks=2 run mpi_run 2 nht1-probe --out nowhere/x
    expect_status 3
    [ "$(grep -c '^nht1-probe: ' <<<"$output")" -eq 1 ]
    expect_text "No such file"
    nothing_left
    no_process nht1-probe
}

@test "a file system that tells of its errors when a file is closed: nothing can be written there, status 3" {
    LD_PRELOAD=$NHT1_TESTBIN/fault.so:$LD_PRELOAD NHT1_FAULT_IN=/.nht1-probe- NHT1_FAULT=close:1+:EIO:0 \
        run probe --probe-limit 60
    expect_status 3
    expect_text "a file cannot be written and read in"
    expect_text "close: Input/output error"
    [ "$(state "write and read")" = fails ]
}

@test "a folder that is read-only, full or not there: one message, status 3 on every rank" {
    run probe --out nowhere/x
    expect_status 3
    expect_text "No such file"
    small_disk 1M,ro
    ranks=2 run probe --out disk/x
    expect_status 3
    expect_text "Read-only file system"
    [ "$(grep -c '^nht1-bt: ' <<<"$output")" -eq 1 ]
    expect_schema nht1-bt-probe-1 p.json
    mount -o remount,rw disk
    run probe --out disk/x
    expect_status 3
    expect_text "disk has 1.05 MB free"
    nothing_left disk
}

@test "each check has the room that those before it have given back" {
    slow
    small_disk 9M
    OMPI_MCA_io=^ompio,romio321 run probe --out disk/x
    expect_status 0
    expect_json p.json '[.findings[] | select(.state == "crashes" or .errno == 28)] == []'
}

@test "what fails because the disk became full, or files are limited, is not kept" {
    slow
    need_open_mpi "one component takes half as long"
    unset LD_PRELOAD # without room MPI-IO may hang
    OMPI_MCA_io=ompio run mpi_run 1 bash -c 'ulimit -f 17000; exec nht1-bt --probe --probe-limit 5 --out x'
    expect_status 0
    expect_text "not kept: the size of files is limited (ulimit -f)"
    OMPI_MCA_io=ompio run mpi_run 1 bash -c 'ulimit -v 3900000; exec nht1-bt --probe --probe-limit 5 --out x'
    expect_text "not kept: the memory of a process is limited (ulimit -v)"
    # Others fill it when MPI-IO is about to be tried.
    mkdir -p alone/bin alone/share/nht1/runs
    cp "$NHT1_BIN/nht1-bt" alone/bin
    printf '#!/bin/sh\n[ "$1" = --version ] || dd if=/dev/zero of=%q bs=64k 2>/dev/null\nexec mpirun "$@"\n' "$PWD/disk/fill" >fills
    chmod +x fills
    echo "$PWD/fills" >alone/share/nht1/runs/launcher
    small_disk 40M
    OMPI_MCA_io=ompio run mpi_run 1 "$PWD/alone/bin/nht1-bt" --probe --probe-limit 5 --out disk/x
    expect_status 0
    expect_text "not kept: there was no room"
    [ ! -e state/nht1/probe.json ]
}

@test "a component that crashes, hangs, fails or babbles in one call: told, and the others are tried" {
    slow
    [ -e "$NHT1_TESTBIN/probe_call.so" ]
    local -x LD_PRELOAD=$NHT1_TESTBIN/probe_call.so:$LD_PRELOAD NHT1_PROBE_CALL OMPI_MCA_io=ompio
    local how of
    of=$(component)
    for how in crash hang garbage flood fail; do
        NHT1_PROBE_CALL=$how run probe
        expect_status 0
        case $how in crash) want=crashes ;; hang) want=hangs ;; fail) want=fails ;;
            garbage) want=works ;; flood) want=crashes ;; esac
        [ "$(state nonblocking "$of")" = "$want" ]
        [ "$(state sync "$of")" = works ]
        [ "$(state hints "$of")" = works ]
        nothing_left
        [ $how != flood ] || expect_text "it wrote more than 64 MiB"
    done
    expect_text "MPI_File_iwrite_at: $(unsupported)"
}

# writers ARGUMENT...: those that a run of --io all had.
writers() {
    mpi_run 2 nht1-bt --n 12 --steps 4 --dt 0.01 --interval 4 --tc 1 --quiet --verify never \
        --json r.json "$@"
    jq -r '.runs[].writer' r.json
}

@test "--io all leaves out what was found not to work, says why, and takes it up again" {
    slow
    local -x OMPI_MCA_io=ompio
    local all of
    of=$(component)
    all=$(writers --io all | sort)
    [[ $all == *mpiio-async* ]]
    expect_json r.json 'all(.notices[]; test("left out") | not)'
    LD_PRELOAD=$NHT1_TESTBIN/probe_call.so:$LD_PRELOAD NHT1_PROBE_CALL=fail run probe
    expect_status 0
    expect_text "of --io all from now on: mpiio-async"
    expect_json p.json '.left_out | map(.writer) == ["mpiio-async"]'
    [ "$(writers --io all | sort)" = "$(grep -v mpiio-async <<<"$all")" ]
    expect_json r.json 'any(.notices[]; test("mpiio-async is left out: MPI-IO '"$of"', nonblocking fails")
        and test("MPI_File_iwrite_at: '"$(unsupported)"'") and test("name it with --io"))'
    # Named, it runs; so it does through another component, and on another file system.
    [ "$(writers --io mpiio-async)" = mpiio-async ]
    ! open_mpi || [ "$(OMPI_MCA_io=romio321 writers --io all | sort)" = "$all" ]
    [ "$(writers --io all --out /dev/shm/nht1-probe-test.$$ | sort)" = "$all" ]
    run probe
    expect_json p.json '.left_out == []'
    [ "$(writers --io all | sort)" = "$all" ]
}

@test "a store of findings that is none is told of, and nothing is left out" {
    slow
    mkdir -p state/nht1
    echo mine >state/nht1/probe.json
    [ "$(writers --io all | wc -l)" -ge 8 ]
    expect_json r.json 'any(.notices[]; test("What --probe has found is not known"))'
    [ "$(cat state/nht1/probe.json)" = mine ]
}

@test "no component for MPI-IO: a note, and the file system is tried" {
    slow
    need_open_mpi "MPICH has one that cannot be taken away"
    OMPI_MCA_io=^ompio,romio321 run probe
    expect_status 0
    expect_text "no component for MPI-IO"
    expect_json p.json '.mpi.components == [] and all(.findings[]; .component == null)
        and any(.left_out[]; .writer == "mpiio")'
}

@test "no launcher: MPI-IO is tried with one process, and a note says so" {
    slow
    mkdir -p alone/bin alone/share/nht1/runs
    cp "$NHT1_BIN/nht1-bt" alone/bin
    echo "$PWD/no-such-launcher" >alone/share/nht1/runs/launcher
    run mpi_run 1 "$PWD/alone/bin/nht1-bt" --probe --json p.json
    expect_status 0
    expect_text "no-such-launcher"
    expect_json p.json '.mpi.processes == 1'
    [ "$(state collective "$(component)")" = works ]
}

@test "a slow file system: its rate is seen, and that it takes long is no hang" {
    slow
    slow_disk 20
    run probe --out disk/x
    expect_status 0
    [ "$(state nonblocking "$(component)")" = works ]
    expect_json p.json '.findings[] | select(.tried == "device rate")
        | .state == "works" and .values.bytes_per_s < 60e6'
    nothing_left disk
}

@test "a file system that does not answer: told within the limit, status 3" {
    slow_disk
    kill -STOP "$server"
    ranks=2 run probe --probe-limit 2 --out disk/x
    expect_status 3
    expect_text "(fuse, slowfs mounted at $PWD/disk) does not answer"
    expect_schema nht1-bt-probe-1 p.json
    expect_json p.json '.answers == false'
    [ ! -e state/nht1/probe.json ]
    # Nor is the result written into it.
    run mpi_run 1 nht1-bt --probe --probe-limit 2 --json disk/p.json
    expect_status 3
    expect_text "--json disk/p.json: its file system does not answer"
    kill -CONT "$server"
    nothing_left disk
}

@test "a file system that stops answering on the way: what hung is named, the rest is untried" {
    slow_disk 0 create 5
    local pid
    ("$NHT1_ROOT/tests/mpi-run" -np 2 stdbuf -oL nht1-bt --probe --probe-limit 4 --out disk/x --json p.json || echo "status $?") \
        >out 2>&1 3>&- &
    pid=$!
    wait_until -p "$pid" is_stopped "$server"
    # More than once: the first may pass before the check's beginning was read. Slowly: what is started then has 19 s.
    # What is asked last of all, once the outcome stands there, is not started in time as a rule, which takes nothing
    # away from the reason. Without a process of its own for each look.
    local said nap looks=0
    exec {nap}<> <(:)
    while kill -0 "$pid" 2>/dev/null; do
        read -rd '' said <out || true
        if [[ $said == *$'\nTook '* ]]; then pass 100; elif [ $((looks++ % 200)) -eq 0 ]; then pass 5; fi
        read -rt 0.01 -u "$nap" || true
    done
    exec {nap}>&-
    output=$(<out)
    expect_text "status 3"
    expect_text "no longer answers"
    expect_json p.json '(.answers | not) and ([.findings[] | select(.state == "hangs")] | length == 1)
        and .findings[-1].state == "untried" and any(.left_behind[]; test("^the folder disk/"))'
    kill -CONT "$server"
    no_process nht1-bt
}

# being_killed: a process of the probe is to end as soon as the file system lets it.
being_killed() {
    local pid
    for pid in $(own_processes nht1-bt); do
        ! grep -qsE '^S(ig|hd)Pnd:.*[13579bdf]..$' "/proc/$pid/status" || return 0 # SIGKILL
    done
    return 1
}

# interrupt COMMAND...: runs a probe of ./disk, in whose fifth check the file system stands still, and
# interrupts it there; $status, and what it has said in out and err.
interrupt() {
    own_clock
    slow_disk 0 create 7
    "$@" nht1-bt --probe --out disk/x --json p.json >out 2>err 3>&- &
    local pid=$!
    wait_until -p "$pid" is_stopped "$server"
    kill -INT "$pid"
    wait_until -p "$pid" being_killed
    kill -CONT "$server"
    status=0
    wait "$pid" || status=$?
}

@test "Ctrl-C: what was found is told, the folder is as before, no process stays" {
    slow
    interrupt
    [ "$status" -eq 3 ]
    grep -q "^nht1-bt: .*interrupted" err
    grep -q "^  fsync  *works" out
    grep -q "^  striping  *untried" out
    grep -q "^Note *Interrupted" out
    expect_schema nht1-bt-probe-1 p.json
    expect_json p.json '.status == 3 and .store == null and .left_behind == []
        and ([.findings[4:][].state] | unique == ["untried"])'
    [ ! -e state/nht1/probe.json ]
    nothing_left disk
}

@test "Ctrl-C under the launcher: what was found is told before it kills" {
    # A second by itself: time that this machine may need for other things.
    OMPI_MCA_odls_base_sigkill_timeout=5 interrupt "$NHT1_ROOT/tests/mpi-run" -np 2
    # The status is the launcher's own: 1 of Open MPI, 3 or now and then 0 of MPICH.
    grep -q "^nht1-bt: .*interrupted" err
    grep -q "^  fsync  *works" out
    grep -q "^Note *Interrupted" out
    nothing_left disk
}

@test "Ctrl-C when the folder has just been made: it goes" {
    [ -e "$NHT1_TESTBIN/probe_call.so" ]
    LD_PRELOAD=$NHT1_TESTBIN/probe_call.so:$LD_PRELOAD NHT1_PROBE_CALL=interrupt \
        run nht1-bt --probe
    expect_status 3
    expect_text interrupted
    nothing_left
}

@test "the process that makes the folder dies at any of its calls: nothing of it stays" {
    slow
    local fault
    mkdir disk
    for fault in write:1:SIGINT write:1:kill write:2:SIGINT write:2:kill; do
        LD_PRELOAD=$NHT1_TESTBIN/fault.so:$LD_PRELOAD NHT1_FAULT_IN=$PWD/disk NHT1_FAULT=$fault:0 \
            run mpi_run 1 nht1-bt --probe --out disk/f
        expect_status 3
        expect_text "ended by signal"
        [ -z "$(ls -A disk)" ]
    done
    no_process nht1-bt
}

@test "--known: what is known is not tried again" {
    slow
    run mpi_run 1 nht1-bt --probe --known
    expect_status 0
    expect_text "flock"
    jq '.entries[0] |= (.utc = "2001-01-31T12:00:00Z"
        | (.findings[] | select(.component == null and .tried == "io_uring") | .state) = "hangs")' \
        state/nht1/probe.json >new
    cp new state/nht1/probe.json
    run mpi_run 1 nht1-bt --probe --known
    expect_status 0
    expect_text "since 2001-01-31T12:00; without --known"
    [[ $output != *flock* ]]
    expect_text "of --io all from now on: uring, since io_uring hangs here"
    cmp new state/nht1/probe.json
    nothing_left
    run mpi_run 1 nht1-bt --class S --io auto:uring
    expect_status 3
    expect_text "--io auto:uring: no writer of these can work here; uring: io_uring hangs here"
    # What a terminal would obey is not passed on. The search goes by the clock: as in race.bats.
    own_clock 500
    jq '.entries[0].utc = "2001\u001b[2J"' new >state/nht1/probe.json
    run mpi_run 1 nht1-bt --n 13 --steps 6 --dt 0.001 --interval 2 --io auto:uring,posix --minutes 0.05 --json r.json
    expect_json r.json 'any(.search.left_out[]; .why | endswith("as --probe found on 2001?[2J"))'
}

@test "a file system that does not tell what is free is not taken for a full one" {
    slow
    slow_disk 0 unsized
    OMPI_MCA_io=^ompio,romio321 run probe --out disk/x
    expect_status 0
    expect_schema nht1-bt-probe-1 p.json
    expect_json p.json '.file_system.free_bytes == null'
    run nht1-bt --class A --dry-run --out disk/x --json plan.json
    expect_status 0
    expect_schema nht1-bt-plan-1 plan.json
    expect_json plan.json '.fits and .disk_free_bytes == null'
    run mpi_run 1 nht1-bt --class S --steps 10 --io posix --out disk/x
    expect_status 0
    run mpi_run 1 nht1-beffio -p disk -N 1 -MB 16 -T 0.01
    expect_status 4
    expect_text "(slowfs); it does not tell what is free"
    expect_text "met: space did not limit the writing"
    nothing_left disk
}

@test "what does not go together is refused" {
    run probe --known
    expect_status 1
    expect_text "--known and --json"
    run probe --dry-run
    expect_status 1
    expect_text "--probe and --dry-run"
    run mpi_run 1 nht1-bt --probe-limit 3 --class S
    expect_status 1
    expect_text "--probe-limit is for --probe"
}
