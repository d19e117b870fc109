#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-verify and bad input: one message that says what to change, the right exit status, no waiting.

load helpers
load verify_lib

# expect_damaged JQ-PROGRAM TEXT: a manifest edited like that is refused, with the text.
expect_damaged() {
    make_dump f.bin
    jq -c "$1" f.bin.json >m
    mv m f.bin.json
    verify f.bin
    expect_status 1
    expect_text "$2"
    expect_text "f.bin.json"
}

@test "wrong options" {
    make_dump f.bin
    for bad in "" "f.bin g.bin" "f.bin --nosuch" "f.bin --layout kji" "f.bin --n 5" "f.bin --n x" \
        "f.bin --endian middle" "f.bin --dumps 0" "f.bin --json"; do
        # shellcheck disable=SC2086 # words
        verify $bad
        expect_status 1
        expect_text "nht1-verify: "
    done
}

@test "an empty name" {
    verify ""
    expect_status 1
    expect_text "the name of the file is empty"
}

@test "help and version" {
    verify --help
    expect_status 0
    for word in --diagonal --against --n --layout --dumps --endian --json "Exit status"; do
        expect_text "$word"
    done
    verify --version
    expect_status 0
    expect_text "nht1-verify "
}

@test "a file that is not there, a directory, a FIFO, a device" {
    verify nosuch.bin
    expect_status 3
    expect_text "nosuch.bin"
    mkdir d
    verify d
    expect_status 3
    expect_text "directory"
    mkfifo p
    verify p
    expect_status 3
    expect_text "not a regular file"
    verify /dev/null
    expect_status 3
}

@test "a file that may not be read" {
    make_dump f.bin
    chmod 0 f.bin
    run "${obedient[@]}" nht1-verify f.bin
    expect_status 3
    expect_text "Permission denied"
}

@test "an empty file" {
    : >f.bin
    verify f.bin --json r.json
    expect_status 2
    expect_text "the file is empty"
    expect_schema nht1-verify-1 r.json
    make_dump f.bin
    : >f.bin
    verify f.bin --json r.json
    expect_status 2
    expect_text "the file is empty"
    expect_schema nht1-verify-1 r.json
    # Parts of ranks lie beside one.
    mpi_run 1 nht1-bt --n 12 --steps 2 --interval 1 --dt 0.001 --tc 1 --io perrank --out p --quiet --verify never
    verify p
    expect_status 1
    expect_text "nht1-verify --merge p"
}

@test "foreign files" {
    cp "$NHT1_BIN/nht1-verify" f.bin
    verify f.bin
    expect_status 2
    expect_text "not a dump file"
    echo "hello" >f.bin
    verify f.bin
    expect_status 2
    head -c 1000000 /dev/zero >f.bin
    verify f.bin --json r.json
    expect_status 2
    expect_schema nht1-verify-1 r.json
    expect_json r.json '.shape | .n == 0 and .layout == "unknown" and .endian == "unknown"'
    verify f.bin --n 12 --layout mijk --json r.json
    expect_status 2
    expect_schema nht1-verify-1 r.json
}

@test "a foreign file in place of a dump file" {
    make_dump f.bin
    head -c 414720 /dev/zero >f.bin
    verify f.bin
    expect_status 2
    expect_text "dump 0 (step 5): no plane agrees with the manifest"
    expect_text "8640 values are zero bytes, as in a hole"
}

@test "damaged manifests" {
    need_program jq
    expect_damaged '.schema = "nht1-bt/1"' '"schema"'
    expect_damaged 'del(.schema)' '"schema"'
    expect_damaged '{}' '"schema"'
    expect_damaged '.hash = "md5"' '"hash"'
    expect_damaged '.n = "12"' '"n"'
    expect_damaged '.n = 5' '"n"'
    expect_damaged '.n = 1e18' '"n"'
    expect_damaged '.n = 13' '"dump_bytes"'
    expect_damaged '.layout = "kji"' '"layout"'
    expect_damaged '.layout = "records"' '"dump_bytes"'
    expect_damaged '.endian = 1' '"endian"'
    expect_damaged '.components = 6' '"components"'
    expect_damaged '.word_bytes = 4' '"word_bytes"'
    expect_damaged '.dumps_planned = -1' '"dumps_planned"'
    expect_damaged '.dumps_planned = 5' '"dumps"'
    expect_damaged '.dumps = 3' '"dumps"'
    expect_damaged '.dumps[2] = 3' 'dumps[2]'
    expect_damaged '.dumps[2].step = 10' 'dumps[2]'
    expect_damaged '.dumps[2].step = 1000' 'dumps[2]'
    expect_damaged 'del(.dumps[2].complete)' 'dumps[2]'
    expect_damaged 'del(.dumps[2].digest)' 'dumps[2]'
    expect_damaged '.dumps[2].digest.j = "12"' 'dumps[2]'
    expect_damaged '.dumps[2].digest.j |= (.[0:20] + "g" + .[21:])' 'dumps[2]'
    expect_damaged '.dumps[2].digest.k |= (.[16:32] + .[16:])' 'contradicts itself'
    expect_damaged 'del(.dt)' '"dt"'
    expect_damaged '.interval = 0' '"interval"'
    expect_damaged '.dt = 0' '"dt"'
    expect_damaged '.dt = -0.01' '"dt"'
    expect_damaged '.writer = "p\u001b[2Josix"' '"writer"'
    expect_damaged '.kernel = "1/\u00e4"' '"kernel"'
    expect_damaged '.run_id = "0\n1"' '"run_id"'
}

@test "manifests that are no JSON, cut off or odd" {
    slow
    make_dump f.bin
    truncate -s 500 f.bin.json
    verify f.bin
    expect_status 1
    expect_text "f.bin.json"
    expect_text "moved away"
    : >f.bin.json
    verify f.bin
    expect_status 1
    echo '[1, 2]' >f.bin.json
    verify f.bin
    expect_status 1
    head -c 3000 /dev/urandom >f.bin.json
    verify f.bin
    expect_status 1
    head -c 100000 /dev/zero | tr '\0' '[' >f.bin.json
    verify f.bin
    expect_status 1
}

@test "a manifest of an absurd size is refused" {
    make_dump f.bin
    truncate -s 300M f.bin.json
    verify f.bin
    expect_status 1
    expect_text "314572800 bytes are more than"
}

@test "a manifest that names another file gets a note" {
    need_program jq
    make_dump f.bin
    verify f.bin
    [[ $output != *note:* ]]
    mv f.bin g.bin
    jq -c '.file = "f\u001b.bin" | .run_id = "no digits"' f.bin.json >g.bin.json
    verify ./g.bin --json r.json
    expect_status 0
    expect_text "note: the manifest names another file: f?.bin"
    jq -e '.notes | length == 1' r.json
    expect_schema nht1-verify-1 r.json
}

@test "a dump of absurd size that is not there costs no memory" {
    need_program jq
    make_dump f.bin 12 mijk little 1
    jq -c '.n = 65536 | .dump_bytes = 40 * .n * .n * .n | (("0" * 16) * .n) as $w
        | .dumps[0].digest = {i: $w, j: $w, k: $w, m: (("0" * 16) * 5)}' f.bin.json >m
    mv m f.bin.json
    head -c 1000 /dev/urandom >f.bin
    (ulimit -v 1000000 && exec nht1-verify f.bin) >out 2>&1 || status=$?
    output=$(cat out)
    expect_status 2
    expect_text "the file is short"
}

@test "a manifest that cannot be read" {
    make_dump f.bin
    rm f.bin.json && mkdir f.bin.json
    verify f.bin
    expect_status 3
    rmdir f.bin.json && mkfifo f.bin.json
    verify f.bin
    expect_status 3
}

@test "the result file may not replace what is verified" {
    make_dump f.bin
    cp f.bin.json kept
    verify f.bin --json f.bin.json
    expect_status 1
    cmp f.bin.json kept
    cp f.bin kept
    verify f.bin --json ./f.bin
    expect_status 1
    cmp f.bin kept
    rm f.bin.json
    for name in json json.journal lock; do
        verify f.bin --json ./f.bin.$name
        expect_status 1
        [ "$(echo f.bin*)" = f.bin ]
    done
}

@test "the result file may not replace another file" {
    make_dump f.bin
    make_dump g.bin
    cp g.bin.json kept
    verify f.bin --json g.bin
    expect_status 1
    expect_text "not an earlier result"
    verify f.bin --json g.bin.json
    expect_status 1
    cmp g.bin.json kept
    verify f.bin --json r.json
    expect_status 0
    verify f.bin --json r.json
    expect_status 0
}

@test "a result file that cannot be written" {
    make_dump f.bin
    mkfifo pipe
    verify f.bin --json pipe
    expect_status 3
    expect_text "--json: pipe: no process reads from this pipe"
    verify f.bin --json nosuch/r.json
    expect_status 3
    expect_text "--json: nosuch/r.json: cannot create a file in the directory nosuch: "
}

@test "standard output that is full" {
    [ -e /dev/full ] || not_here "no /dev/full"
    make_dump f.bin
    run bash -c 'nht1-verify f.bin >/dev/full'
    expect_status 3
    run bash -c 'nht1-verify f.bin --diagonal >/dev/full'
    expect_status 3
    run bash -c 'nht1-verify --help >/dev/full'
    expect_status 3
}

@test "a file that is cut while damage is located: one message that says so" {
    local reads
    make_dump f.bin
    flip f.bin "$(offset mijk 12 5 2 3 4 5)" 3
    export LD_PRELOAD=$NHT1_TESTBIN/fault.so NHT1_FAULT_IN=$PWD NHT1_FAULT_PROGRAM=nht1-verify
    mkdir log
    NHT1_FAULT_LOG=log verify f.bin
    expect_status 2
    reads=$(awk '$1 == "pread" { print $2 }' log/0)
    # The last reads of all look for the bit that was flipped in the last dump.
    NHT1_FAULT="pread:$((reads - 1))+:end:0" verify f.bin
    expect_status 3
    expect_text "f.bin: became shorter"
    NHT1_FAULT="pread:1+:EIO:0" verify f.bin
    expect_status 3
    expect_text "f.bin: reading at byte"
}

@test "nothing is changed by verifying" {
    make_dump f.bin
    cp -p f.bin a
    cp -p f.bin.json b
    verify f.bin
    expect_status 0
    cmp f.bin a
    cmp f.bin.json b
    run find . -type f
    [ "${#lines[@]}" -eq 4 ]
}

@test "absurd numbers of dumps cost neither memory nor time" {
    need_program jq
    make_dump f.bin
    jq -c '.dumps_planned = 4000000000' f.bin.json >m
    mv f.bin.json kept
    verify f.bin --dumps 4000000000
    expect_status 2
    expect_text "the file is short"
    mv m f.bin.json
    verify f.bin
    expect_status 0
    expect_text "3999999994 of 4000000000 dumps are not complete"
}
