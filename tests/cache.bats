#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Cache honesty: what the report says about where the data were when the clock stopped.
load helpers

tiny=(--n 24 --steps 20 --dt 0.001 --interval 1 --tc 1)

teardown() {
    end_slow_disk
    [ -z "${group:-}" ] || rmdir "$group"
}

# hidden FOLDER: what lies in memory below it is neither cold nor cache-honest, and what was not flushed no device's.
hidden() {
    run mpi_run 2 nht1-bt "${tiny[@]}" --io posix --sync none --read last --read-cache cold --out "$1/f" --json r.json
    expect_status 0
    expect_json r.json '(.runs[0].cache | . == null or .dirty_bytes == null) and any(.runs[0].stamps[]; .code == "page-cache")'
    expect_json r.json '.runs[0].read[0] | .cached_bytes_before == null and any(.stamps[]; .code == "read-cached")'
    expect_json r.json 'any(.runs[0].file.notices[]; test("below"))'
    printf '<Pattern segmented> Temporal %s Record 6400 Data 64000 </Pattern>\n' write read re-read >j.conf
    run nht1-workload --out "$1/w" j.conf --json w.json
    expect_json w.json '[.stamps[].code] | index("not-cache-honest") != null and index("cache-honest") == null'
    run nht1-beffio -p "$1" -MB 16 -T 0.01 --max-space 60M --drop-cache --json b.json
    expect_json b.json '.b_eff_io.cache_honest | not'
}

# The file system of the test keeps files on a device.
on_a_device() {
    case $(stat -f -c %T .) in tmpfs | ramfs) not_here "files of the tests lie in memory" ;; esac
}

@test "data that nobody flushed: stamped page cache, also where each rank has a file of its own" {
    on_a_device
    local io
    for io in posix perrank; do
        run mpi_run 2 nht1-bt "${tiny[@]}" --io $io --sync none --json r.json
        expect_status 0
        expect_schema nht1-bt-1 r.json
        expect_json r.json '.runs[0].cache | .page_cache and (.flushed | not) and .file_bytes == 11059200'
        expect_json r.json '.runs[0].cache | .cached_bytes > 0 and .cached_bytes <= .file_bytes'
        expect_json r.json '.ranking[0] | .page_cache and ([.stamps[] | select(.code == "page-cache")
            | .numbers.cached_share] | length == 1 and .[0] > 0 and .[0] <= 1)'
    done
}

@test "flushed data are no page cache, though they are in memory" {
    on_a_device
    local how
    for how in "posix end" "posix dump" "perrank end"; do
        run mpi_run 2 nht1-bt "${tiny[@]}" --io "${how% *}" --sync "${how#* }" --json r.json
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

@test "what memory holds below FUSE is not seen: not cold, not cache-honest, not on a device" {
    slow_disk
    hidden disk
}

@test "nor what it holds below a loop device without direct I/O; with it that is seen" {
    need_root "mounts"
    on_a_device
    loop_disk btrfs 512M
    hidden disk
    losetup --direct-io=on "$(findmnt -no SOURCE disk)" || not_here "no direct I/O where the tests are"
    run mpi_run 1 nht1-bt "${tiny[@]}" --io posix --read last --read-cache cold --out disk/g --json r.json
    expect_json r.json '.runs[0].read[0].cached_bytes_before == 0'
}

@test "where flushing does nothing, what was flushed is no device's" {
    need_program gcc
    on_a_device
    echo 'int fsync(int f) { return 0; } int fdatasync(int f) { return 0; } int sync_file_range() { return 0; }' >eat.c
    gcc -shared -fPIC -w -o eat.so eat.c
    run mpi_run 2 env LD_PRELOAD="$PWD/eat.so" nht1-bt "${tiny[@]}" --io posix --sync end --json r.json
    expect_status 0
    expect_json r.json '.runs[0].cache | .dirty_bytes == null or .page_cache'
    jq -e '.runs[0].cache.dirty_bytes != null' r.json || not_permitted "cachestat, of Linux 6.5"
    expect_text "flushing does nothing here"
    printf '<Pattern segmented> Temporal write Record 6400 Data 64000 </Pattern>\n' >j.conf
    run env LD_PRELOAD="$PWD/eat.so" nht1-workload --out w j.conf --json w.json
    expect_json w.json '[.stamps[].code] | contains(["not-cache-honest"])'
}

@test "a file in memory counts as memory: one that a control group does not allow is refused, not killed" {
    need_root "control groups"
    [ "$(stat -f -c %T /dev/shm)" = tmpfs ] || not_here "/dev/shm is no tmpfs"
    group=/sys/fs/cgroup/memory/nht1-test-$$
    mkdir "$group" 2>why || { group='' && not_permitted "control groups of memory, version 1: $(<why)"; }
    echo 200M >"$group/memory.limit_in_bytes"
    within() { bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"; }
    local file=/dev/shm/nht1-cache-test.$$ plan
    for plan in --dry-run --quiet; do
        run within nht1-bt --n 64 --steps 100 --dt 0.0008 --interval 2 --tc 1 --io posix --out $file $plan
        rm -f $file $file.*
        expect_status 3
        [[ $output == *free* ]]
    done
    # What fits beside the ranks alone, but not together with them.
    for plan in --dry-run --quiet; do
        run within nht1-bt --n 64 --steps 30 --dt 0.0008 --interval 2 --tc 1 --io posix --out $file $plan
        rm -f $file $file.*
        expect_status 3
        expect_text "does not fit: memory: files and ranks need"
    done
    echo '<Pattern segmented> Temporal read Record 1M Data 120M </Pattern>' >j.conf
    for plan in --dry-run --quiet; do
        run within nht1-workload --out $file j.conf $plan
        rm -f $file $file.*
        expect_status 3
        expect_text "the file system is in memory, where files of 120 MB and the processes of this node,"
    done
}

@test "an overlay over the folder of its own upper folder is looked into once" {
    need_root "mounts"
    mkdir -p lo/up up wk
    cp -r state lo 2>/dev/null || true
    run unshare -m sh -c 'mount -t overlay overlay -o "lowerdir=$PWD/lo,upperdir=$PWD/up,workdir=$PWD/wk" "$PWD" || exit 77
        cd "$PWD" && exec "$@"' - nht1-bt "${tiny[@]}" --io posix --json r.json
    [ "$status" -ne 77 ] || not_permitted "$output"
    expect_status 0
}

@test "no file, nothing to ask about" {
    run mpi_run 1 nht1-bt "${tiny[@]}" --io null,none --json r.json
    expect_status 0
    expect_schema nht1-bt-1 r.json
    expect_json r.json '[.runs[] | .cache] | length == 2 and all(. == null)'
    [[ $output != *"was in memory"* ]]
}
