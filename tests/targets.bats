#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What lies where a run is going to write: whose it is, and room for the new before the old goes.
# shellcheck disable=SC2016 # jq filters have variables of their own
load helpers

tiny=(--n 13 --steps 12 --dt 0.001 --interval 2 --tc 1 --quiet --verify never)
file_bytes=$((6 * 40 * 13 * 13 * 13))

teardown() {
    mountpoint -q disk 2>/dev/null && umount disk
    return 0
}

bt() {
    mpi_run "${ranks:-2}" nht1-bt "${tiny[@]}" "$@"
}

# faulty PLAN ARGUMENT...: a run in which calls on files below this folder fail.
faulty() {
    local plan=$1
    shift
    # Where one rank is killed, mpirun need not wait for the other one.
    [[ $plan != *:kill:* ]] || local -x OMPI_MCA_odls_base_sigkill_timeout=0
    mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD" NHT1_FAULT="$plan" \
        "$NHT1_BIN/nht1-bt" "${tiny[@]}" "$@"
}

# kept FILE...: copies to compare with; same FILE...: nothing has changed, and nothing is beside.
kept() {
    mkdir -p kept && cp -p "$@" kept/
}
same() {
    local file
    for file in "$@"; do
        cmp "$file" "kept/${file##*/}" || return 1
    done
}

# refused STATUS TEXT ARGUMENT...: with one message.
refused() {
    local wanted=$1 text=$2
    shift 2
    run bt "$@"
    expect_status "$wanted" && expect_text "$text"
}

small_disk() {
    memory_disk disk "$1"
}

# in_place: this folder's file system writes where a file's blocks lie.
in_place() {
    case $(stat -f -c %T .) in
    ext2/ext3 | xfs | tmpfs) ;;
    *) not_here "blocks are not known to be used again on $(stat -f -c %T .)" ;;
    esac
}

@test "no room for a second file, and blocks that cannot be had: the old result stays whole" {
    slow
    bt --io posix --out d.bin
    kept d.bin d.bin.json
    run faulty fallocate:1+:ENOSPC:0 --steps 14 --io posix --out d.bin
    expect_status 3
    expect_text "d.bin stays as it is"
    same d.bin d.bin.json
    [ "$(ls d.bin*)" = "d.bin
d.bin.json" ]
    # The same file again needs no more blocks than the old one has.
    in_place
    faulty fallocate:1:ENOSPC:0 --io posix --out d.bin
    same d.bin
    [ "$(stat -c %i d.bin)" = "$(jq -r '.inodes[0]' d.bin.json | cut -d: -f2)" ]
}

@test "values of the old file are not taken for new ones where its blocks are used again" {
    slow
    in_place
    bt --io posix --out d.bin
    run faulty fallocate:1:ENOSPC:0 --io posix --out d.bin --sync none --steps 12 --interval 12
    expect_status 0
    bt --io posix --out d.bin
    # A run that ends before its first write leaves nothing but zeros.
    run mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD" \
        NHT1_FAULT=pwrite:1:EIO:0 "$NHT1_BIN/nht1-bt" "${tiny[@]}" --io serial --out d.bin
    expect_status 3
    cmp -n "$file_bytes" d.bin /dev/zero
}

@test "a part of perrank has no room on one rank: the old parts stay whole" {
    slow
    bt --io perrank --out d.bin
    kept d.bin d.bin.json d.bin.rank00000 d.bin.rank00001
    run faulty fallocate:1+:ENOSPC:1 --steps 14 --io perrank --out d.bin
    expect_status 3
    expect_text "rank 1 on"
    same d.bin d.bin.json d.bin.rank00000 d.bin.rank00001
    [ "$(ls -d d.bin* | wc -l)" -eq 4 ]
    bt --io perrank --out d.bin
    same d.bin.rank00000 d.bin.rank00001
    # One after the other: where the first one's room is not there, the second one takes none.
    mkdir log
    NHT1_FAULT_LOG=$PWD/log run faulty fallocate:1+:ENOSPC:0 --io perrank --out new.bin
    expect_status 3
    ! grep -q fallocate log/1.trace
    [ -z "$(ls -d new.bin* 2>/dev/null)" ]
}

@test "btrfs: a snapshot or reflink of the old file, whose blocks free nothing" {
    slow
    loop_disk btrfs 256M
    local problem=(--n 50 --steps 24 --interval 1 --io posix --out disk/f.bin) # 120 MB
    bt "${problem[@]}"
    cp --reflink=always disk/f.bin disk/copy.bin
    kept disk/f.bin disk/f.bin.json
    run bt "${problem[@]}"
    expect_status 3
    expect_text "disk/f.bin stays as it is"
    same disk/f.bin disk/f.bin.json
    cmp disk/f.bin disk/copy.bin
    rm disk/f.bin disk/copy.bin
    btrfs filesystem sync disk
    run nht1-bt --dry-run --repeat 2 --dt 0.001 "${problem[@]}"
    expect_status 3
    expect_text "240 MB are needed"
    bt "${problem[@]}"
    nht1-verify disk/f.bin
}

@test "xfs: blocks are used again, unless a reflink shares them" {
    slow
    loop_disk xfs 320M
    local problem=(--n 60 --steps 20 --interval 1 --io posix --out disk/f.bin) # 173 MB
    bt "${problem[@]}"
    local inode
    inode=$(stat -c %i disk/f.bin)
    bt "${problem[@]}"
    [ "$(stat -c %i disk/f.bin)" -eq "$inode" ]
    nht1-verify disk/f.bin
    cp --reflink=always disk/f.bin disk/copy.bin
    kept disk/f.bin disk/f.bin.json
    run bt "${problem[@]}"
    expect_status 3
    expect_text "reflink"
    same disk/f.bin disk/f.bin.json
}

@test "room for the manifest's digests is asked for before the clock starts" {
    small_disk $((40 * 40 * 13 * 13 * 13 + 24576))
    run bt --steps 80 --io posix --out disk/d.bin
    expect_status 3
    expect_text "disk/d.bin.json"
    [ -z "$(ls -A disk)" ]
}

@test "so are inodes: a run that begins comes to its end" {
    local inodes ended=()
    # The folder, the note, the lock, the file and its manifest, the journal; the seventh for what replaces the manifest.
    for inodes in 6 7; do
        small_disk "1M,nr_inodes=$inodes"
        run bt --io posix --out disk/d.bin
        ended+=("$status")
        [ "$status" -eq 0 ] || [ -z "$(ls -A disk)" ]
        umount disk
    done
    [ "${ended[*]}" = "3 0" ] || fail "$output"
}

@test "killed between any two steps of replacing a file: claims are true, the next run goes on" {
    slow
    local plan
    bt --io posix --out ref.bin
    bt --io posix --out d.bin
    for plan in open:1 fallocate:1 fallocate:2 write:1 rename:1 rename:2 rename:3 pwrite:1; do
        run faulty "$plan:kill:0" --io posix --out d.bin
        [ "$status" -ne 0 ]
        [ -s d.bin ]
        # All dumps are complete and there, or none is claimed.
        [ "$(jq '.dumps | length' d.bin.json)" -eq 0 ] || nht1-verify d.bin
        run bt --io posix --out d.bin
        expect_status 0
        cmp ref.bin d.bin
        [ "$(ls -d d.bin* | wc -l)" -eq 2 ]
    done
}

@test "killed while a file of another length is replaced: the next run goes on" {
    slow
    local plan steps
    bt --io posix --out ref.bin
    for plan in rename:2 rename:3; do
        for steps in 10 14; do
            bt --io posix --out d.bin
            run faulty "$plan:kill:0" --io posix --steps $steps --out d.bin
            [ "$status" -ne 0 ]
            [ "$(jq '.dumps | length' d.bin.json)" -eq 0 ]
            run bt --io posix --out d.bin
            expect_status 0
            cmp ref.bin d.bin
        done
    done
}

@test "killed between any two steps of replacing parts: claims are true, the next run goes on" {
    slow
    local plan
    bt --io perrank --out d.bin
    for plan in fallocate:1 rename:1 rename:2 rename:3 rename:4; do
        run faulty "$plan:kill:0" --io perrank --out d.bin
        [ "$status" -ne 0 ]
        [ "$(jq '.dumps | length' d.bin.json)" -eq 0 ] || [ -s d.bin.rank00001 ]
        run bt --io perrank --out d.bin
        expect_status 0
        [ "$(ls -d d.bin* | wc -l)" -eq 4 ]
    done
    nht1-verify --merge d.bin
    nht1-verify d.bin
}

@test "a file that took the place of ours is not overwritten, whatever lies beside it" {
    slow
    bt --io posix --out d.bin
    printf 'years of work\n' >work
    cp d.bin.json manifest
    local how ranks=2
    for how in 'tar cf d.bin work' "head -c $file_bytes /dev/urandom >d.bin" 'rm d.bin; cp work d.bin' \
        "head -c $((file_bytes + 1)) /dev/urandom >d.bin" 'head -c 5000 /dev/urandom >d.bin'; do
        eval "$how"
        kept d.bin
        refused 1 "d.bin" --io posix --out d.bin
        refused 1 "d.bin" --io perrank --out d.bin
        run mpi_run $ranks nht1-bt --restart --quiet --out d.bin
        expect_status 1
        same d.bin
        cmp d.bin.json manifest
        ranks=1 # two have told it once
    done
    bt --io posix --out d.bin --force
    nht1-verify d.bin
}

@test "without a complete dump a file is known by its inode" {
    bt --io posix --out d.bin
    jq '.dumps = []' d.bin.json >cut
    cat cut >d.bin.json
    cp d.bin other.bin
    run bt --io posix --out d.bin
    expect_status 0
    jq '.dumps = []' d.bin.json >cut
    cat cut >d.bin.json
    cat other.bin >new.bin
    mv new.bin d.bin
    kept d.bin
    refused 1 "not the file that" --io posix --out d.bin
    run mpi_run 2 nht1-bt --restart --quiet --out d.bin
    expect_status 1
    same d.bin
}

@test "files whose manifest lists no identities, copied ones, and damaged ones are ours by their content" {
    slow
    bt --io posix --out ref.bin
    cp ref.bin d.bin
    jq '.file = "d.bin" | del(.inodes)' ref.bin.json >d.bin.json
    bt --io posix --out d.bin
    cmp ref.bin d.bin
    jq '.file = "d.bin" | del(.inodes)' ref.bin.json >d.bin.json
    dd if=/dev/urandom of=d.bin bs=1000 count=1 conv=notrunc status=none # the first dump is damaged
    bt --io posix --out d.bin
    bt --io perrank --out p.bin
    jq 'del(.inodes)' p.bin.json >cut
    mv cut p.bin.json
    bt --io perrank --out p.bin
    jq 'del(.inodes)' p.bin.json >cut
    mv cut p.bin.json
    bt --io posix --out p.bin
    [ "$(ls -d p.bin* | wc -l)" -eq 2 ]
    cmp ref.bin p.bin
}

@test "a part that took the place of ours is not overwritten" {
    slow
    bt --io perrank --out d.bin
    head -c "$(stat -c %s d.bin.rank00001)" /dev/urandom >new
    mv new d.bin.rank00001
    kept d.bin.rank00001
    refused 1 "d.bin" --io perrank --out d.bin
    refused 1 "d.bin" --io posix --out d.bin
    same d.bin.rank00001
    bt --io perrank --out d.bin --force
}

@test "parts whose manifest cannot be read keep it" {
    slow
    bt --io perrank --out d.bin
    sed -i 's/"endian": "[a-z]*"/"endian": "big"/' d.bin.json
    kept d.bin.json d.bin.rank00000 d.bin.rank00001
    refused 1 "d.bin.rank00000" --io posix --out d.bin
    refused 1 "d.bin.rank00000" --io perrank --out d.bin
    same d.bin.json d.bin.rank00000 d.bin.rank00001
    bt --io posix --out d.bin --force
    nht1-verify d.bin
}

@test "an old file's permissions, other names and links outlive it" {
    bt --io posix --out d.bin
    chmod 640 d.bin
    ln d.bin second.bin
    ln -s d.bin link.bin
    kept d.bin
    bt --io posix --out link.bin --layout ijkm --verify auto
    [ -L link.bin ]
    [ "$(stat -c %a d.bin)" = 640 ]
    same d.bin && return 1
    cmp second.bin kept/d.bin
    for name in d.bin link.bin; do
        run nht1-verify $name
        expect_text VERIFIED
    done
}

@test "an empty file's second name does not get the run's data" {
    : >d.bin
    ln d.bin second.bin
    bt --io posix --out d.bin
    [ ! -s second.bin ]
    nht1-verify d.bin
}

@test "leftovers of long names are swept" {
    slow
    local name
    name=$(printf 'n%.0s' {1..230}).bin
    bt --io posix --out "$name"
    for plan in fallocate:1 rename:1; do
        run faulty "$plan:kill:0" --io posix --out "$name"
        [ "$(find . -maxdepth 1 -name '*.tmp' | wc -l)" -ge 1 ]
        bt --io posix --out "$name"
        [ "$(find . -maxdepth 1 -name '*.tmp' | wc -l)" -eq 0 ]
    done
}

@test "no other output may take a name that the run makes or may remove" {
    slow
    bt --io posix --out d.bin
    ln -s d.bin.json link
    mkdir sub
    local name ranks=2
    for name in d.bin d.bin.json d.bin.lock ./d.bin sub/../d.bin.json "$PWD/d.bin" link \
        d.bin.json.0123abcd.tmp d.bin.nht1.0123abcd.tmp; do
        refused 1 "belongs to" --io posix --out d.bin --json "$name"
        ranks=1 # two have told it once
        refused 1 "belongs to" --io posix --out d.bin --tc-store "$name"
    done
    for name in d.bin.rank00000 d.bin.rank00007 ./d.bin.rank123456; do
        refused 1 "belongs to" --io perrank --out d.bin --json "$name"
        refused 1 "belongs to" --io posix,perrank --out e.bin --json "${name/d.bin/e.bin.perrank}"
    done
    ranks=2
    bt --io posix --out d.bin --json d.bin.rank00000
    bt --io posix --out d.bin --json d.bin.rank0000x
}

@test "a proof needs no temporary files, and a parent that ignores SIGCHLD is no harm" {
    TMPDIR=$PWD/missing run bash -c 'trap "" CHLD; exec "$@"' bt \
        nht1-bt --n 12 --steps 4 --interval 2 --dt 0.001 --tc 1 --io posix --out d.bin --json r.json
    expect_status 0
    expect_json r.json '.runs[0].verified'
}

@test "closed standard descriptors are taken by no data file" {
    run bash -c 'exec "$@" 0<&- 1>&- 2>&-' bt \
        nht1-bt --n 12 --steps 4 --interval 2 --dt 0.001 --tc 1 --quiet --io posix --out d.bin
    nht1-verify d.bin
    cp d.bin before
    run bash -c 'exec "$@" 0<&- 1>&- 2>&-' verify nht1-verify --json v.json d.bin
    jq -e '.verdict == "VERIFIED"' v.json
    cmp d.bin before
}

@test "a forecast counts bytes above 2^63 without turning round" {
    run mpi_run 1 nht1-bt --dry-run --n 2000 --steps 20000000 --dt 0.00001 --interval 1 --repeat 1000 \
        --io posix,token,serial --keep --tc 1 --json p.json
    expect_json p.json '.disk_bytes > 9e18 and .written_bytes > 9e18 and (.misfits | length > 0)'
}

@test "after several writers --restart tells the files that can be continued" {
    slow
    bt --io posix,token --out d.bin
    touch d.bin.other.json
    run mpi_run 2 nht1-bt --restart --quiet --out d.bin
    expect_status 1
    expect_text "d.bin.posix"
    expect_text "d.bin.token"
    [[ $output != *other* ]]
    run mpi_run 2 nht1-bt --restart --quiet --out ./d.bin.token
    expect_status 0
}
