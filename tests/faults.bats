#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Calls that fail, file systems that are full or read-only, limits: one message, status 3, complete
# dumps that are there, and --restart.
# shellcheck disable=SC2154 # wait_stopped sets stopped
load helpers

tiny=(--n 13 --steps 12 --dt 0.001 --interval 2 --tc 1 --quiet)
# 20 dumps of 320 kB.
long=(--n 20 --steps 400 --dt 0.0001 --interval 20 --tc 1 --quiet)

teardown() {
    mountpoint -q disk 2>/dev/null && umount disk
    return 0
}

# small_disk SIZE: a file system in memory at ./disk.
small_disk() {
    memory_disk disk "$1"
}

# told TEXT...: status 3 and one message that holds the texts.
told() {
    local text
    expect_status 3 || return 1
    for text in "$@"; do
        expect_text "$text" || return 1
    done
    [ "$(grep -c '^nht1-bt: ' <<<"$output")" -eq 1 ] && return 0
    echo "not one message: $output"
    return 1
}

# start ARGUMENT...: a run in the background; its process is $job, its output in the file out.
start() {
    mpi_run 2 env LD_PRELOAD="${preload:-}" NHT1_FAULT_IN="$PWD/disk" NHT1_FAULT="${plan:-}" \
        NHT1_FAULT_STOP="${stop:-}" "$NHT1_BIN/nht1-bt" "$@" >out 2>&1 3>&- &
    job=$!
}

# ended: status and output of the run in the background, as `run` gives them.
ended() {
    status=0
    wait "$job" || status=$?
    output=$(<out)
}

@test "one call after the other fails, each writer, a sample" {
    slow
    run "$NHT1_ROOT/tests/fault_sites" "${NHT1_STRIDE:-199}"
    echo "$output"
    expect_status 0
}

@test "every call of every writer fails in turn" {
    slow
    run "$NHT1_ROOT/tests/fault_sites" 1
    echo "$output"
    expect_status 0
}

@test "the shim fails what it is told to, on the rank it is told to" {
    mkdir disk
    preload=$NHT1_TESTBIN/fault.so plan=pwrite:2:EIO:1 start "${tiny[@]}" --io posix --out disk/o.bin
    ended
    told "rank 1 on" "pwrite" "disk/o.bin" "Input/output error"
    [ "$(jq '[.dumps[].complete]' -c disk/o.bin.json)" = "[true,false]" ]
}

@test "flushed before it is claimed: data, then journal; every new file, then its directory" {
    mkdir disk log
    local rank
    mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD/disk" \
        NHT1_FAULT_LOG="$PWD/log" "$NHT1_BIN/nht1-bt" "${tiny[@]}" --sync dump --io posix \
        --out disk/o.bin --verify never
    # In front of every rename and every record of the journal: all written data flushed, and the new
    # text. After a rename the directory, after a record the journal, before anything else is written.
    awk '/^open .*[.]tmp$/ { text = 0 }
        /^fsync .*[.]tmp$/ { text = 1 }
        /^pwrite / && renamed { print "directory not flushed at line " NR; exit 1 }
        /^pwrite / && claimed { print "journal not flushed at line " NR; exit 1 }
        /^pwrite .*o[.]bin$/ { dirty = 1 }
        /^fsync .*o[.]bin$/ { dirty = 0; data++ }
        /^pwrite .*[.]journal$/ { records++; claimed = 1; if (dirty) { print "claimed too early: line " NR; exit 1 } }
        /^fdatasync .*[.]journal$/ { claimed = 0 }
        /^rename / { names++; renamed = 1
            if (dirty || !text) { print "rename of what is not down, line " NR; exit 1 } }
        /^fsync .*disk$/ { renamed = 0 }
        END { if (names < 5 || data < 6 || records < 6 || renamed || claimed) {
            print names, data, records, renamed, claimed; exit 1 } }' log/0.trace
    awk '/^pwrite / { dirty++ } /^fsync .*o[.]bin$/ { data++; dirty = 0 }
        END { if (data < 6 || dirty) { print data, dirty; exit 1 } }' log/1.trace
}

@test "a directory that cannot be flushed: told, and no journal stays" {
    mkdir disk log
    local n run=("$NHT1_BIN/nht1-bt" "${tiny[@]}" --sync dump --io posix --out disk/o.bin --verify never)
    mpi_run 1 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD/disk" NHT1_FAULT_LOG="$PWD/log" "${run[@]}"
    awk '/^fsync / && ++n && /disk$/ { print n }' log/0.trace >directory
    [ "$(wc -l <directory)" -ge 3 ]
    while read -r n; do
        rm -f disk/*
        run mpi_run 1 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD/disk" NHT1_FAULT="fsync:$n:EIO:0" "${run[@]}"
        told "fsync of its directory failed"
        [ ! -e disk/o.bin.json.journal ]
    done <directory
}

@test "a full disk is found when the file is made: nothing is left" {
    small_disk 400k
    run mpi_run 2 nht1-bt "${tiny[@]}" --io posix --out disk/o.bin
    told "disk/o.bin" "527280 bytes" "free" "make room"
    [ -z "$(ls -A disk)" ]
}

@test "no space for a longer file: the old one stays whole" {
    slow
    small_disk 700k
    mpi_run 2 nht1-bt "${tiny[@]}" --io posix --out disk/o.bin
    cp disk/o.bin* .
    run mpi_run 2 nht1-bt "${tiny[@]}" --steps 20 --io posix --out disk/o.bin
    told "disk/o.bin"
    cmp o.bin disk/o.bin
    cmp o.bin.json disk/o.bin.json
}

@test "a disk that fills up while a sparse file is written; --restart after room was made" {
    slow
    small_disk 10m
    preload=$NHT1_TESTBIN/fault.so plan=fallocate:1+:EOPNOTSUPP:0 stop=pwrite:5:1 \
        start "${long[@]}" --io posix --out disk/o.bin
    wait_stopped -p "$job" nht1-bt
    dd if=/dev/zero of=disk/filler bs=64k status=none 2>/dev/null || true
    kill -CONT "$stopped"
    ended
    told "disk/o.bin" "No space left on device"
    local n
    # On a full disk the journal stays.
    n=$("$NHT1_ROOT/tests/manifest" disk/o.bin.json | jq '[.dumps[] | select(.complete)] | length')
    [ "$n" -ge 1 ]
    [ "$n" -lt 20 ]
    nht1-verify disk/o.bin
    run mpi_run 2 nht1-bt --restart --quiet --out disk/o.bin
    told "disk/o.bin"
    rm disk/filler
    run mpi_run 2 nht1-bt --restart --quiet --out disk/o.bin
    expect_status 0
    [ "$(jq '[.dumps[] | select(.complete)] | length' disk/o.bin.json)" -eq 20 ]
    run nht1-verify disk/o.bin
    expect_status 0
}

@test "a limit on file sizes is found when the file is made" {
    # 16 MiB: MPI libraries need files of their own of some MiB.
    run mpi_run 2 bash -c 'ulimit -f 16384; exec nht1-bt "$@"' bt --n 24 --steps 80 --dt 0.001 \
        --interval 2 --tc 1 --quiet --io posix --out o.bin
    told "o.bin" "ulimit -f"
    [ -z "$(ls)" ]
    # UCX of MPICH makes files in memory of some MiB even for one rank.
    open_mpi && has_writer hdf5 || return 0
    # Of chunks, those at the end of the cube reach past it: 214 KiB are written for values of 135.
    local limit
    for limit in 100 '210 --chunk 7'; do
        run mpi_run 1 bash -c 'ulimit -f $1; shift; exec nht1-bt --n 12 --steps 4 --dt 0.001 --interval 2 --tc 1 --quiet --io hdf5 --out o.bin "$@"' bt $limit
        told "o.bin" "ulimit -f"
        [ -z "$(ls)" ]
    done
}

@test "a device that turns read-only while it is written to" {
    slow
    mkdir disk
    preload=$NHT1_TESTBIN/fault.so plan=pwrite:3+:EROFS:1 start "${tiny[@]}" --io posix \
        --out disk/o.bin
    ended
    told "rank 1 on" "disk/o.bin" "Read-only file system"
    [ "$(jq '[.dumps[] | select(.complete)] | length' disk/o.bin.json)" -eq 2 ]
    run mpi_run 2 nht1-bt --restart --quiet --out disk/o.bin
    expect_status 0
}

@test "a file system that was remounted read-only" {
    slow
    small_disk 4m
    mpi_run 2 nht1-bt "${tiny[@]}" --io posix --out disk/o.bin
    cp disk/o.bin* .
    mount -o remount,ro disk
    run mpi_run 2 nht1-bt "${tiny[@]}" --io posix --out disk/o.bin
    told "disk" "Read-only file system"
    run mpi_run 2 nht1-bt --restart --quiet --out disk/o.bin
    told "disk" "Read-only file system"
    mount -o remount,rw disk
    cmp o.bin disk/o.bin
    cmp o.bin.json disk/o.bin.json
    [ "$(ls disk | wc -l)" -eq 2 ]
}

@test "MPI-IO: a short write of an aggregator is not lost, an error is told" {
    slow
    mkdir disk
    local way ways=the-only-one
    ! open_mpi || ways="vulcan dynamic_gen2 romio321"
    for way in $ways; do
        export OMPI_MCA_io=ompio OMPI_MCA_fcoll=$way
        [ "$way" != romio321 ] || export OMPI_MCA_io=$way OMPI_MCA_fcoll=
        preload=$NHT1_TESTBIN/fault.so plan=pwrite:1:short:0 start "${tiny[@]}" --io mpiio \
            --decomp 1d:x --out disk/o.bin
        ended
        expect_status 0
        expect_text "shim: pwrite 1"
        preload=$NHT1_TESTBIN/fault.so plan=pwrite:1:EIO:0 start "${tiny[@]}" --io mpiio \
            --decomp 1d:x --out disk/o.bin
        ended
        told "rank 0 on" "MPI_File_write_at_all" "disk/o.bin"
        rm disk/*
    done
}

@test "MPI-IO: a rank that fails holds no lock that others wait for" {
    mkdir disk
    export OMPI_MCA_io=romio321
    preload=$NHT1_TESTBIN/fault.so plan=pwrite:3:EIO:1 start "${tiny[@]}" --io mpiio-async \
        --decomp 1d:x --out disk/o.bin
    ended
    told "rank 1 on" "MPI_File_iwrite_at" "disk/o.bin" "Input/output error"
}

@test "MPI-IO: a crash of the library is told with the last durable dump" {
    need_open_mpi "known of Open MPI's ompio"
    mkdir disk
    export OMPI_MCA_io=ompio
    preload=$NHT1_TESTBIN/fault.so plan=aio:2:SIGSEGV:1 start "${tiny[@]}" --io mpiio-async \
        --sync dump --out disk/o.bin
    ended
    [ "$status" -ge 128 ]
    expect_text "rank 1 on $(hostname): SIGSEGV in MPI_File_iwrite_at on disk/o.bin; last durable dump: 0"
}

@test "MPI-IO: a nonblocking write that fails in the background is told, and the library does not crash" {
    local plan
    need_open_mpi "known of Open MPI's ompio"
    mkdir disk
    export OMPI_MCA_io=ompio
    for plan in aio:1:ENOSPC:0 aio:2:EIO:1; do
        preload=$NHT1_TESTBIN/fault.so start "${tiny[@]}" --io mpiio-async --sync dump --out disk/o.bin
        ended
        told "rank ${plan##*:} on" "MPI_File_iwrite_at on disk/o.bin: "
        rm disk/*
    done
}

@test "a failed write ends the run soon, not at the next dump" {
    mkdir disk
    preload=$NHT1_TESTBIN/fault.so plan=pwrite:1:EIO:1 start "${tiny[@]}" --steps 800 --interval 400 \
        --io posix --out disk/o.bin --json r.json
    ended
    told "rank 1 on" "Input/output error"
    [ "$(jq '.runs[0].steps_done' r.json)" -ge 400 ]
    [ "$(jq '.runs[0].steps_done' r.json)" -le 403 ]
}

@test "a kernel that refuses io_uring on one rank: told, and no part of --io all" {
    slow
    need_writer uring
    mkdir disk
    preload=$NHT1_TESTBIN/fault.so plan=uring_init:1:EPERM:1 start "${tiny[@]}" --io uring --out disk/o.bin
    ended
    told "rank 1 on" "the kernel refuses io_uring" "--io async" "disk/o.bin"
    [ -z "$(ls -A disk)" ]
    preload=$NHT1_TESTBIN/fault.so plan=uring_init:1+:EPERM:1 start "${tiny[@]}" --steps 2 --io all \
        --out disk/o.bin --json r.json
    ended
    expect_status 0
    [ "$(jq '[.runs[].driver] | index("uring")' r.json)" = null ]
    [ "$(jq '[.runs[].driver] | index("posix") != null' r.json)" = true ]
}

@test "a library that cannot open the container on one rank comes back on all" {
    local writer tried=0
    mkdir disk
    for writer in hdf5 pnetcdf; do
        has_writer "$writer" || continue
        preload=$NHT1_TESTBIN/fault.so plan=open:2:EROFS:1 start "${tiny[@]}" --io "$writer" --out disk/o.bin
        ended
        told "rank 1 on" "disk/o.bin: Read-only file system"
        rm -f disk/*
        tried=1
    done
    [ $tried = 1 ] || not_here "built without HDF5 and PnetCDF"
}

@test "a collective write of HDF5 that fails on one rank comes back on all, by each MPI-IO component" {
    need_writer hdf5
    local component plan
    mkdir disk
    for component in $(open_mpi && echo romio321 ${NHT1_FULL:+ompio} || echo the-only-one); do
        for plan in pwrite:3+:ENOSPC:0 ${NHT1_FULL:+pwrite:2:EIO:1}; do
            OMPI_MCA_io=$component preload=$NHT1_TESTBIN/fault.so start "${tiny[@]}" --io hdf5 --verify never --out disk/o.bin
            ended
            told "rank ${plan##*:} on" "H5Dwrite on disk/o.bin: "
            rm -f disk/*
        done
    done
}
