#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What a file system has to do for nht1, on one that tests/fs/run has made: BATS_TEST_TMPDIR lies on it,
# and NHT1_FS_SMALL is one of 320 MiB of the same kind. What it does in its own way is noted for the table.
# shellcheck disable=SC2016 # jq filters have variables of their own
load ../helpers

tiny=(--n 13 --steps 12 --dt 0.001 --interval 2 --tc 1 --quiet)
# 16 dumps of 1 MiB: whole pages, and more than one read-ahead.
some=(--n 30 --steps 16 --dt 0.001 --interval 1 --tc 1 --quiet)

teardown() {
    [ -z "${NHT1_FS_SMALL:-}" ] || rm -rf "$NHT1_FS_SMALL"/*.*
}

setup() {
    [ -n "${NHT1_FS:-}" ] || skip "run by tests/fs/run"
    cd "$BATS_TEST_TMPDIR" || return 1
    export XDG_STATE_HOME=$BATS_FILE_TMPDIR/state
}

# fact WHAT VALUE...: for the table.
fact() {
    echo "$1 | ${*:2}" >>"$NHT1_FS_FACTS"
}

bt() {
    mpi_run 2 nht1-bt "$@"
}

# told TEXT...: status 3 and one message with the texts.
told() {
    local text
    expect_status 3 || return 1
    for text; do
        expect_text "$text" || return 1
    done
    [ "$(grep -c '^nht1-bt: ' <<<"$output")" -eq 1 ] || { echo "$output" && return 1; }
}

@test "every writer: verified, the same bytes; parts of ranks are merged" {
    local file
    bt "${some[@]}" --io all --keep --out d.bin --json r.json
    expect_json r.json '[.runs[] | .completed and .verified] | all and length >= 9'
    for file in d.bin.*[a-z0-9]; do
        case $file in *.json | *.lock) continue ;; esac
        cmp d.bin.posix "$file"
    done
    bt "${some[@]}" --io perrank --out p.bin
    nht1-verify --merge p.bin
    cmp d.bin.posix p.bin
    fact "type" "$(jq -r '.runs[0].file.file_system' r.json)"
    fact "preallocation" "$(jq -r '[.runs[].file.preallocation] | unique | join(", ")' r.json)"
    fact "locks" "$(jq -r 'if all(.runs[]; .file.locked) then "yes" else "no" end' r.json)"
    fact "time of birth" "$(jq -r '.inodes[0] | if split(":")[2] == "0" then "no" else "yes" end' d.bin.posix.json)"
    fact "notices" "$(jq -r '[.runs[].file.notices[] | select(test("mpiio-async") | not)] | unique | join(" ")' r.json)"
}

@test "every layout, from uneven boxes, is the same from all writers" {
    local layout
    for layout in ijkm records; do
        mpi_run 3 nht1-bt "${tiny[@]}" --layout $layout --io posix,mpiio,twophase,uring --keep --out d.bin --json r.json
        expect_json r.json '[.runs[] | .verified] | all and length == 4'
        cmp d.bin.posix d.bin.mpiio
        cmp d.bin.posix d.bin.twophase
        cmp d.bin.posix d.bin.uring
    done
}

@test "past the page cache: O_DIRECT where it can be had, right in any case" {
    bt "${some[@]}" --io posix --out ref.bin
    bt "${some[@]}" --io async,uring --direct --read all --keep --out d.bin --json r.json
    expect_json r.json '[.runs[] | .verified and all(.read[]; .digest_ok)] | all and length == 2'
    cmp ref.bin d.bin.async
    cmp ref.bin d.bin.uring
    fact "O_DIRECT" "$(jq -r '[.runs[] | .file.direct | if . then "yes" else "no" end] | unique | join(", ")' r.json)"
    # btrfs takes any and reads it through the page cache.
    fact "the shortest direct read, bytes" "$(stat_direct ref.bin)"
}

# stat_direct FILE: the smallest of some powers of two that an aligned O_DIRECT read of that length takes.
stat_direct() {
    local bytes
    for bytes in 1 512 1024 2048 4096; do
        dd if="$1" of=/dev/null bs=$bytes count=1 skip=1 iflag=direct status=none 2>/dev/null && echo $bytes && return
    done
    echo none
}

@test "flushed after each dump, and at the end" {
    bt "${tiny[@]}" --io posix,mpiio,async --sync dump --keep --out d.bin --json r.json
    expect_json r.json '[.runs[] | .verified] | all'
    expect_json d.bin.posix.json '[.dumps[] | .durable] | all and length == 6'
    fact "flush of a dump of 88 kB, ms" "$(jq -r '.runs[] | select(.writer == "posix") | .phases_s.sync.max / 6 * 1000 * 100 | round / 100' r.json)"
    fact "entry in the manifest, flushed, ms" "$(jq -r '.runs[] | select(.writer == "posix") | .phases_s.manifest.max / 6 * 1000 * 100 | round / 100' r.json)"
}

@test "read back cold and warm by every writer: right, and the cache is what was asked for" {
    bt "${some[@]}" --io all --read last --read-cache cold,warm --out d.bin --json r.json
    expect_json r.json '[.runs[].read[] | .digest_ok] | all'
    local state
    for state in cold warm; do
        fact "$state: in memory before reading" "$(jq -r --arg s $state '[.runs[].read[] | select(.cache == $s) |
            if .cached_bytes_before == null then "unknown" else
            (100 * .cached_bytes_before / .bytes | round | tostring) + " %" end] | unique | join(", ")' r.json)"
    done
    # What is not as asked for is stamped.
    expect_json r.json '[.runs[].read[] | select(.cached_bytes_before != null) |
        ((.cached_bytes_before > 0.05 * .dump_bytes) == (.cache == "warm")) or
        any(.stamps[]; .code | startswith("read-"))] | all'
    fact "stamps of reading" "$(jq -r '[.runs[].read[].stamps[].code] | unique | join(", ")' r.json)"
}

@test "a full file system is found before anything is written" {
    cd "$NHT1_FS_SMALL"
    run bt --n 64 --steps 40 --dt 0.0004 --interval 1 --tc 1 --quiet --io posix --out o.bin
    told "o.bin" "419430400 bytes"
    [ -z "$(find . -maxdepth 1 -name 'o.bin*')" ]
    case $output in
    *"cannot preallocate"*) fact "no space is found by" "preallocating" ;;
    *) fact "no space is found by" "the free space that is reported" ;;
    esac
}

@test "no room for a second file: the old one stays whole, or its blocks are used again" {
    cd "$NHT1_FS_SMALL"
    local long=(--n 64 --dt 0.0004 --interval 1 --tc 1 --quiet --io posix --out o.bin)
    bt "${long[@]}" --steps 16
    bt "${long[@]}" --steps 2 --out ref.bin
    cp o.bin.json before.json
    run bt "${long[@]}" --steps 17
    # ext4, XFS and tmpfs write where the blocks lie (docs/durability.md); others need not.
    case $NHT1_FS in ext4 | xfs | tmpfs) expect_status 0 ;; esac
    if [ "$status" -eq 0 ]; then
        cmp -n $((2 * 40 * 64 ** 3)) ref.bin o.bin
        fact "a second file does not fit" "the old blocks are used again"
    else
        told "o.bin stays as it is"
        cmp before.json o.bin.json
        nht1-verify o.bin
        fact "a second file does not fit" "refused, the old file stays"
    fi
}

@test "--restart where less is free than the file is long: nothing has to be allocated" {
    cd "$NHT1_FS_SMALL"
    bt --n 64 --dt 0.0004 --interval 1 --steps 16 --tc 1 --quiet --io posix --out o.bin
    jq '.dumps |= .[:12]' o.bin.json >cut.json
    mv cut.json o.bin.json
    local free bytes
    sync .
    free=$(df --output=avail -B1 . | tail -n 1)
    bytes=$(stat -c %s o.bin)
    # btrfs says that more is free than can be had.
    [ "$free" -lt "$bytes" ] || fallocate -l $((free - bytes / 2)) filler.1 || true
    run bt --restart --quiet --out o.bin
    expect_status 0
    nht1-verify o.bin
}

@test "it fills up while a sparse file is written: told, complete dumps are there; --restart goes on" {
    cd "$NHT1_FS_SMALL"
    local n free
    # 200 dumps of 320 kB, of which no block is allocated.
    mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD" NHT1_FAULT=fallocate:1+:EOPNOTSUPP:0 \
        "$NHT1_BIN/nht1-bt" --n 20 --steps 4000 --dt 0.0001 --interval 20 --tc 1 --quiet --io posix \
        --out o.bin >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    local job=$!
    until jq -e '.dumps[0].complete' o.bin.json >/dev/null 2>&1; do
        kill -0 $job || { cat "$BATS_TEST_TMPDIR/out" && return 1; }
        sleep 0.05
    done
    free=$(df --output=avail -B1M . | tail -n 1)
    [ "$free" -lt 30 ] || fallocate -l $((free - 25))M filler.1 || true
    dd if=/dev/zero of=filler.2 bs=64k status=none 2>/dev/null || true
    status=0
    wait $job || status=$?
    output=$(<"$BATS_TEST_TMPDIR/out") # not on the full one
    if [ "$status" -eq 0 ]; then
        skip "the run was faster than the filling"
    fi
    told "o.bin"
    fact "full while writing" "$(sed -n 's/^nht1-bt: rank [0-9]* on [^:]*: //p' "$BATS_TEST_TMPDIR/out" | sed "s#$PWD/##g")"
    n=$(jq '[.dumps[] | select(.complete)] | length' o.bin.json)
    [ "$n" -ge 1 ] && [ "$n" -lt 200 ]
    rm filler.*
    nht1-verify o.bin
    run bt --restart --quiet --out o.bin
    expect_status 0
    nht1-verify o.bin
}

@test "a second run on the same file is refused while the first one lasts" {
    need_program flock
    bt "${tiny[@]}" --io posix --out o.bin
    flock o.bin.lock sleep infinity 3>&- &
    local holder=$!
    until ! flock -n o.bin.lock true; do sleep 0.1; done
    run bt "${tiny[@]}" --io posix --out o.bin
    kill $holder
    expect_status 3
    expect_text "another run is writing"
}

@test "killed at random times: continued to the same bytes" {
    TMPDIR=$PWD run "$NHT1_ROOT/tests/kill_restart" "${NHT1_FS_KILLS:-4}" "${NHT1_SEED:-3}"
    echo "$output"
    expect_status 0
}

@test "one call after the other fails, a sample" {
    TMPDIR=$PWD run "$NHT1_ROOT/tests/fault_sites" "${NHT1_STRIDE:-61}" posix mpiio "uring --direct" perrank +
    echo "$output"
    expect_status 0
}

@test "b_eff_io, short: all data right" {
    mkdir data
    run mpi_run 2 nht1-beffio -p data -MB 16 -T 0.01 -N 2 --json r.json --check every
    expect_status 4
    jq -e '[.partitions[].accesses[] | .wrong_n] | add == 0' r.json
    [ -z "$(ls -A data)" ]
}
