#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Cache honesty: what the report says about where the data were when the clock stopped.
load helpers

tiny=(--n 24 --steps 20 --dt 0.001 --interval 1 --tc 1)

# The file system of the test keeps files on a device.
on_a_device() {
    case $(stat -f -c %T .) in tmpfs | ramfs) not_here "files of the tests lie in memory" ;; esac
}

@test "data that nobody flushed: stamped page cache" {
    on_a_device
    run mpi_run 2 nht1-bt "${tiny[@]}" --io posix --sync none --json r.json
    expect_status 0
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.runs[0].cache | .page_cache and (.flushed | not) and .file_bytes == 11059200'
    expect_json r.json '.runs[0].cache | .cached_bytes > 0 and .cached_bytes <= .file_bytes'
    expect_json r.json '.ranking[0] | .page_cache and ([.stamps[] | select(.code == "page-cache")
        | .numbers.cached_share] | length == 1 and .[0] > 0 and .[0] <= 1)'
}

@test "flushed data are no page cache, though they are in memory" {
    on_a_device
    local sync
    for sync in end dump; do
        run mpi_run 2 nht1-bt "${tiny[@]}" --io posix --sync $sync --json r.json
        expect_status 0
        expect_schema nht1-bt-1 r.json
        expect_json r.json '.runs[0].cache | .flushed and .cached_bytes > 0'
        expect_json r.json '.runs[0].cache | .dirty_bytes == null or .dirty_bytes == 0'
        expect_json r.json '.runs[0].cache.page_cache | not'
        expect_json r.json '[.ranking[0].stamps[].code] | contains(["page-cache"]) | not'
    done
}

@test "a file system in memory: stamped, whatever is flushed" {
    [ "$(stat -f -c %T /dev/shm)" = tmpfs ] || not_here "/dev/shm is no tmpfs"
    local file=/dev/shm/nht1-cache-test.$$
    run mpi_run 2 nht1-bt "${tiny[@]}" --io posix --sync end --out $file --json r.json
    rm -f $file $file.*
    expect_status 0
    expect_text "lies in memory"
    expect_json r.json '[.runs[0].stamps[].code, .ranking[0].stamps[].code]
        | map(select(. == "page-cache")) | length == 2'
    expect_json r.json '.runs[0].cache | .page_cache and .in_memory_file_system'
}

@test "on overlayfs, as containers have it: what is in memory is seen, and an upper folder in memory is" {
    need_root "mounts"
    on_a_device
    mkdir u w l o
    mount -t overlay overlay -o "lowerdir=$PWD/l,upperdir=$PWD/u,workdir=$PWD/w" o 2>why || not_permitted "$(<why)"
    run mpi_run 2 nht1-bt "${tiny[@]}" --io posix --sync none --read last --read-cache cold,warm --out o/f --keep --json r.json
    umount o
    expect_status 0
    expect_json r.json '.runs[0].cache | .page_cache and .cached_bytes > 0.9 * .file_bytes and .how == "mincore" and .dirty_bytes == null'
    expect_json r.json '[.runs[0].read[] | .cached_bytes_before / .dump_bytes] == [0, 1]'
    memory_disk m 64m
    mkdir m/u m/w
    mount -t overlay overlay -o "lowerdir=$PWD/l,upperdir=$PWD/m/u,workdir=$PWD/m/w" o
    run mpi_run 2 nht1-bt "${tiny[@]}" --io posix --sync end --out o/f --json r.json
    umount o m
    expect_json r.json '.runs[0].cache | .page_cache and .in_memory_file_system'
}

@test "no file, nothing to ask about" {
    run mpi_run 1 nht1-bt "${tiny[@]}" --io null,none --json r.json
    expect_status 0
    expect_schema nht1-bt-1 r.json
    expect_json r.json '[.runs[] | .cache] | length == 2 and all(. == null)'
    [[ $output != *"was in memory"* ]]
}
