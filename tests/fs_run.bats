#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/fs/run leaves nothing behind, however it ends. What it tries is tests/fs/fs.bats.
load helpers

# begun: in the background with the pid $job, all in the process group of that number; its first file
# system is in use.
begun() {
    unshare --mount --pid --net --fork --mount-proc mount -t tmpfs none /mnt 2>/dev/null ||
        not_permitted "no namespaces to mount in"
    mkdir work
    TMPDIR=$PWD/work setsid "$NHT1_ROOT/tests/fs/run" tmpfs >out 2>&1 3>&- &
    job=$!
    wait_text -p $job out '^1[.][.]'
}

# gone: waits until no process of the group is left.
gone() {
    wait_until no_process_of_group && ! grep -F "$PWD" /proc/mounts
}

no_process_of_group() {
    ! pgrep -g "$job" >/dev/null
}

@test "ended by a signal to all, as Ctrl-C is: no process, no mount, no file is left" {
    slow
    begun
    kill -TERM -- "-$job"
    wait "$job" || true
    gone
    [ -z "$(ls -A work)" ]
}

@test "killed: no process and no mount is left" {
    slow
    begun
    kill -KILL "$job"
    wait "$job" || true
    gone
}

@test "a name that is none is refused" {
    run "$NHT1_ROOT/tests/fs/run" tmpfs minix
    expect_status 1
    expect_text "no file system 'minix'"
}
