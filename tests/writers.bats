#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # bats sets status and output
# The writers that collect, stage or write a file per rank, as a user meets them.
load helpers

teardown() {
    ! mountpoint -q small 2>/dev/null || umount small
}

# bt RANKS FILE ARGUMENT...: class S into FILE, silently.
bt() {
    local ranks=$1 file=$2
    shift 2
    run mpi_run "$ranks" nht1-bt --class S --quiet --out "$file" "$@"
    expect_status 0
}

# serial_file: the file of a serial writer, once.
serial_file() {
    bt 1 want.bin --io serial "$@"
}

@test "perrank: the merged file is the file of the other writers, in every layout" {
    slow
    for layout in mijk ijkm records; do
        rm -f want.bin* parts.bin*
        serial_file --layout $layout
        bt 4 parts.bin --io perrank --layout $layout --decomp 2x2x1
        [ ! -s parts.bin ]
        expect_schema nht1-dump-1 parts.bin.json
        run nht1-verify --merge parts.bin
        expect_status 0
        expect_text VERIFIED
        expect_schema nht1-dump-1 parts.bin.json
        cmp want.bin parts.bin
    done
}

@test "perrank: a part that is too short, missing or damaged is found" {
    bt 2 parts.bin --io perrank
    cp parts.bin.rank00001 kept
    truncate -s -8 parts.bin.rank00001
    run nht1-verify --merge parts.bin
    expect_status 3
    expect_text parts.bin.rank00001
    rm parts.bin.rank00001
    run nht1-verify --merge parts.bin
    expect_status 3
    cp kept parts.bin.rank00001
    echo mine >parts.bin.merging
    run nht1-verify --merge parts.bin
    expect_status 1
    expect_text "parts.bin.merging is there"
    [ "$(<parts.bin.merging)" = mine ]
    rm parts.bin.merging
    printf x | dd of=parts.bin.rank00001 bs=1 seek=1000 conv=notrunc 2>/dev/null
    # However few files a shell allows, it is not the parts that cannot be opened.
    local files
    for files in {5..16}; do
        status=0
        output=$(ulimit -Sn "$files" && exec nht1-verify --merge parts.bin 2>&1) || status=$?
        [[ $output != *"rank0000"*"Too many open files"* ]]
        [ "$status" -ne 2 ] || break
    done
    expect_status 2
    run nht1-verify --merge parts.bin
    expect_status 1
    expect_text "has content already"
}

@test "perrank: parts that overlap and leave a gap, of as many cells as the grid, are refused" {
    bt 2 parts.bin --io perrank --decomp 1x1x2
    cp parts.bin.rank00000 parts.bin.rank00001
    jq -c '.parts[1] = .parts[0]' parts.bin.json >m
    mv m parts.bin.json
    run nht1-verify --merge parts.bin
    expect_status 1
    expect_text "parts.bin.json: the boxes of two parts overlap"
    [ ! -s parts.bin ]
}

@test "perrank: files of an earlier run with the same name go, those of others stay" {
    slow
    serial_file
    bt 4 o.bin --io perrank
    touch o.bin.rank00004 # nobody's
    bt 2 o.bin --io perrank
    [ "$(echo o.bin*)" = "o.bin o.bin.json o.bin.rank00000 o.bin.rank00001 o.bin.rank00004" ]
    run nht1-verify --merge o.bin
    expect_status 0
    cmp want.bin o.bin
    bt 1 o.bin --io posix
    [ "$(echo o.bin*)" = "o.bin o.bin.json o.bin.rank00004" ]
    cmp want.bin o.bin
}

@test "perrank: a file that is not ours is refused, and taken with --force" {
    echo mine >o.bin.rank00001
    run mpi_run 2 nht1-bt --class S --quiet --io perrank --out o.bin
    expect_status 1
    expect_text "o.bin.rank00001 exists and was not written by this program"
    [ "$(ls)" = o.bin.rank00001 ]
    [ "$(<o.bin.rank00001)" = mine ]
    ln -s o.bin.rank00001 o.bin.rank00000
    run mpi_run 2 nht1-bt --class S --quiet --io perrank --force --out o.bin
    expect_status 1
    expect_text "o.bin.rank00000 is in the way"
    rm o.bin.rank00000
    bt 2 o.bin --io perrank --force
    run nht1-verify --merge o.bin
    expect_status 0
}

@test "perrank: --restart is refused until the files are merged, then another writer goes on" {
    slow
    local before
    serial_file
    bt 3 o.bin --io perrank
    jq '.dumps |= .[:3]' o.bin.json >cut
    mv cut o.bin.json
    before=$(cat o.bin* | cksum)
    for how in "" "--io perrank" "--io posix"; do
        # shellcheck disable=SC2086 # a list of words
        run mpi_run 2 nht1-bt --restart $how --out o.bin
        expect_status 1
        expect_text "nht1-verify --merge o.bin"
        [ "$(grep -c '^nht1-bt: ' <<<"$output")" -eq 1 ]
        [ "$(cat o.bin* | cksum)" = "$before" ]
    done
    run nht1-verify --merge o.bin
    expect_status 0
    expect_text "VERIFIED IN PART"
    run mpi_run 2 nht1-bt --restart --out o.bin
    expect_status 1
    run mpi_run 2 nht1-bt --restart --io posix --quiet --out o.bin
    expect_status 0
    cmp want.bin o.bin
    [ "$(echo o.bin*)" = "o.bin o.bin.json" ]
    [ "$(jq .parts o.bin.json)" = null ]
}

@test "merge beside a run that holds the file is refused, and changes nothing" {
    bt 2 parts.bin --io perrank
    ln -s parts.bin link
    exec 9>parts.bin.lock
    flock 9
    run nht1-verify --merge link
    exec 9>&-
    expect_status 3
    expect_text "parts.bin.lock"
    [ ! -s parts.bin ]
    [ "$(echo parts.bin*)" = \
        "parts.bin parts.bin.json parts.bin.lock parts.bin.rank00000 parts.bin.rank00001" ]
    run nht1-verify --merge link # a lock file that nobody holds is no lock
    expect_status 0
    [ -L link ]
    [ ! -e parts.bin.lock ]
}

@test "merge: a FIFO named as a part or as the file is refused, neither waited for nor replaced" {
    slow
    bt 2 parts.bin --io perrank
    mv parts.bin.rank00001 kept
    mkfifo parts.bin.rank00001
    run timeout "$NHT1_HANG_S" nht1-verify --merge parts.bin
    expect_status 3
    expect_text parts.bin.rank00001
    mv kept parts.bin.rank00001
    rm parts.bin
    mkfifo parts.bin
    run timeout "$NHT1_HANG_S" nht1-verify --merge parts.bin
    expect_status 1
    [ -p parts.bin ]
    rm parts.bin
    ln -s elsewhere parts.bin
    run timeout "$NHT1_HANG_S" nht1-verify --merge parts.bin
    expect_status 1
    [ -L parts.bin ]
    rm parts.bin
    run nht1-verify --merge parts.bin
    expect_status 0
}

@test "merge: the new file's name is durable before anybody may remove the parts" {
    bt 2 parts.bin --io perrank
    # The first fsync is the file's, the second that of the directory, after the renaming.
    run env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD" NHT1_FAULT=fsync:2:EIO:0 \
        NHT1_FAULT_PROGRAM=nht1-verify "$NHT1_BIN/nht1-verify" --merge parts.bin
    expect_status 3
    [ -s parts.bin ]
    [ -s parts.bin.rank00000 ]
}

@test "merge: a file that has no room is refused before it is written" {
    memory_disk small 2m
    bt 2 small/f.bin --io perrank
    head -c 1400000 /dev/zero >small/other
    ls -A small >before
    df --output=avail small >free
    run nht1-verify --merge small/f.bin
    expect_status 3
    expect_text "--merge: "
    expect_text "its file system has"
    ls -A small | cmp - before
    df --output=avail small | cmp - free
    rm small/other
    nht1-verify --merge small/f.bin
}

@test "merge: a file that has no parts is left alone" {
    bt 1 whole.bin --io posix
    cp whole.bin kept
    run nht1-verify --merge whole.bin
    expect_status 1
    expect_text "no parts"
    cmp whole.bin kept
}

@test "writers in the background: same bytes with one aggregator, small buffers and O_DIRECT" {
    slow
    serial_file
    local io
    for io in twophase async uring mpiio-async; do
        has_writer "$io" || continue
        bt 3 "got.$io" --io "$io" --aggregators 1 --buffer 4Ki --staging 1 --direct --sync dump
        cmp want.bin "got.$io"
        bt 2 "got2.$io" --io "$io" --direct --last
        run nht1-verify "got2.$io"
        expect_status 0
    done
}

@test "the overlap of computing and writing is reported" {
    slow
    bt 2 got.bin --io async --json result.json
    run jq -e '.runs[0].overlap | .io_s.max > 0 and .compute_s.max > 0 and .both_s.max <= .io_s.max' \
        result.json
    expect_status 0
    # Over all rounds, as the tables.
    run mpi_run 2 nht1-bt --class S --io async --repeat 4 --json rounds.json
    expect_status 0
    local want
    want=$(jq -r '[.runs[] | select(.driver == "async") | .overlap | .io_s.max] | sort | (.[1] + .[2]) / 2' rounds.json)
    [[ $(tr -s '\n ' ' ' <<<"$output") =~ "Overlap: async: of "([0-9.]+)" s of I/O time, ".*" s (medians of 4 runs)." ]]
    [ "${BASH_REMATCH[1]}" = "$(printf %.3f "$want")" ]
    bt 2 sync.bin --io posix --json result.json
    run jq -e '.runs[0].overlap | .io_s.max > 0 and .both_s.max < 1e-6' result.json
    expect_status 0
}

@test "writer options out of range are refused" {
    for option in "--aggregators=-1" "--buffer=100" "--staging=0" "--staging=65" "--buffer=2Gi"; do
        run mpi_run 1 nht1-bt --class S --io async "$option"
        expect_status 1
        expect_text "nht1-bt: ${option%=*}"
    done
}

@test "more than 2^31 bytes of a rank: every writer, both MPI-IO components" {
    slow
    need_space "$PWD" 10000
    local component
    for component in $(open_mpi && echo ompio romio321 || echo the-only-one); do
        TMPDIR=$PWD MPI_TIMEOUT=$((4 * NHT1_HANG_S)) OMPI_MCA_io=$component NHT1_LONG_DUMPS=all \
            run mpi_run 2 "$NHT1_TESTBIN/mpi_io_huge"
        expect_status 0
    done
}

@test "a file whose whole name is one letter" {
    slow
    local writer
    for writer in mpiio hdf5 pnetcdf; do # those that open a file in different ways
        has_writer "$writer" || continue
        run bt 2 x --io "$writer"
        expect_status 0
        nht1-verify x
    done
}

@test "hints: what makes no sense is refused, what is unknown to the component in force is told" {
    local notices='[.runs[0].file.notices[] | select(startswith("Hint "))] | length'
    local unknown=1 # to ROMIO; to Open MPI's own component those of ROMIO, too
    ! open_mpi || unknown=2
    for hint in cb_nodes=0 cb_buffer_size=0 cb_buffer_size=4Mi romio_cb_write=maybe; do
        run mpi_run 1 nht1-bt --class S --io mpiio --hint $hint --out o.bin
        expect_status 1
        expect_text "--hint '$hint'"
    done
    export OMPI_MCA_io=ompio
    bt 1 o.bin --io mpiio --hint cb_nodes=1 --json r.json
    [ "$(jq "$notices" r.json)" -eq 0 ]
    bt 1 o.bin --io mpiio --hint foo=bar --hint romio_cb_write=enable --json r.json
    [ "$(jq "$notices" r.json)" -eq $unknown ]
    OMPI_MCA_io=romio321 bt 1 o.bin --io mpiio --hint romio_cb_write=enable --json r.json
    [ "$(jq "$notices" r.json)" -eq 0 ]
    bt 1 o.bin --io posix --hint cb_nodes=1 --json r.json
    [ "$(jq "$notices" r.json)" -eq 1 ]
}

@test "settings that a writer does not obey are told, once each" {
    local idle='[.notices[] | select(contains("makes no difference"))]'
    bt 1 o.bin --io posix,token --direct --group 1 --json r.json
    expect_json r.json "$idle"' == ["--group makes no difference to posix.",
        "--direct makes no difference to posix, token."]'
    bt 1 o.bin --io async --direct --buffer 4Ki --json r.json
    expect_json r.json "$idle == []"
}
