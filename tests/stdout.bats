#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Standard output that takes nothing: every program says so, with the reason of the call that failed.
load helpers

# lost COMMAND...: ends with status 3 and one message with the reason.
lost() {
    run bash -c '"$@" >/dev/full' - "$@"
    expect_status 3 || return 1
    expect_text "standard output: No space left on device" || return 1
    [ "$(grep -c "standard output" <<<"$output")" -eq 1 ]
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    [ -e /dev/full ] || not_here "there is no /dev/full"
    export OMP_NUM_THREADS=1
}

@test "standard output that is full is told by every program, whether it failed early or at the end" {
    local program
    for program in $(programs mpi serial); do
        lost "$program" --help
        lost "$program" --version
        lost "$program" --help-json
    done
    lost nht1-report --help
    lost nht1-report --version
    lost "$NHT1_ROOT/runs/study" --list
    lost "$NHT1_ROOT/runs/study" --version
}

# More than a buffer holds is lost before the end, and another call has set errno by then.
@test "results that standard output does not take are told, with status 3 also where 4 would follow" {
    lost nht1-bt --n 12 --steps 4 --dt 0.001 --interval 2 --io posix --tc 1
    "$NHT1_TESTBIN/mkdump" f.bin >/dev/null
    lost nht1-verify f.bin
    lost nht1-verify f.bin --diagonal
    lost nht1-workload --patterns --set data=4096 --set record=512
    # shellcheck disable=SC2046 # words
    lost nht1-stats $(seq 500)
}

@test "what is lost when standard output is closed, as on NFS, is told" {
    export NHT1_FAULT=close:1+:ENOSPC:0 NHT1_FAULT_IN=$PWD NHT1_FAULT_PROGRAM=nht1-stats
    run bash -c 'LD_PRELOAD=$1 nht1-stats 1 2 3 >out' - "$NHT1_TESTBIN/fault.so"
    expect_status 3
    expect_text "nht1-stats: writing to standard output: No space left on device"
}

@test "a current folder that is gone is told as such, not as standard output" {
    real_python
    mkdir gone
    run bash -c 'cd gone && rmdir ../gone && exec "$@" --list' - "$NHT1_ROOT/runs/study"
    expect_status 3
    expect_text "the current folder: No such file or directory"
}

@test "a character that the encoding of standard output lacks is told by its number, but for paths in a job's script" {
    export PYTHONIOENCODING=ascii
    echo '{"schema": "nht1-bt/1", "runs": []}' >Ω.json
    run nht1-report compare Ω.json Ω.json
    expect_status 1
    expect_text 'A  \u03a9.json'
    run "$NHT1_ROOT/runs/study" --job slurm --job-file - --cores 2 --nodes 1 --time 60 --files Ω classes
    expect_status 0
    expect_text "$PWD/Ω"
}

@test "where standard error takes nothing either, the status is that of what went wrong" {
    run bash -c '"$@" --list >/dev/full 2>&1' - "$NHT1_ROOT/runs/study"
    expect_status 3
    run bash -c '"$@" nowhere.json 2>/dev/full' - nht1-report
    expect_status 3
    run bash -c '"$@" . 2>/dev/full' - nht1-report
    expect_status 1
    # What nht1-profile has found stands there.
    run bash -c '"$@" 2>/dev/full' - nht1-profile -- sh -c 'echo text >f.dat'
    expect_status 3
    run bash -c '"$@" 2>/dev/full' - nht1-profile --quiet --force -- sh -c 'echo text >f.dat'
    expect_status 0
}

@test "a result that cannot be written is told beside what the run ended with" {
    [ -e /dev/full ] || not_here "there is no /dev/full"
    mkdir data
    run env NHT1_FAULT=pwrite:3:EIO:0 NHT1_FAULT_IN="$PWD/data" LD_PRELOAD="$NHT1_TESTBIN/fault.so" nht1-bt --n 12 --steps 6 --dt 0.01 \
        --interval 1 --tc 1 --verify never --quiet --io posix --out data/f --json /dev/full
    expect_status 3
    expect_text "Input/output error; rank 0 on" "--json: /dev/full: write failed: No space left on device"
}
