#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-verify with a manifest: what is right passes, what is wrong is found and located.

load helpers
load verify_lib

@test "an intact file passes in every layout and byte order" {
    for layout in mijk ijkm records; do
        for endian in little big; do
            make_dump f.bin 13 $layout $endian 3
            verify f.bin
            expect_status 0
            expect_text "layout $layout, $endian endian"
            expect_text "VERIFIED: every value of 3 dumps"
        done
    done
}

@test "a flipped bit is found in every layout and byte order: dump, place, bit and values" {
    for layout in mijk ijkm records; do
        make_dump f.bin 12 $layout little 4
        flip f.bin "$(offset $layout 12 2 3 4 5 6)" 0
        verify f.bin
        expect_status 2
        expect_text "WRONG: dump 2 (step 15): U_3 at (i,j,k) = (4,5,6) is "
        expect_text "bit 0 is flipped"
        make_dump f.bin 12 $layout big 4
        flip f.bin $(($(offset $layout 12 2 3 4 5 6) + 7)) 0
        verify f.bin
        expect_status 2
        expect_text "U_3 at (i,j,k) = (4,5,6) is "
        expect_text "bit 0 is flipped"
    done
}

@test "a flipped bit tells the value that was written" {
    make_dump f.bin
    flip f.bin $(($(offset mijk 12 0 0 0 0 0) + 6)) 0 # 2.0 becomes 2.125
    verify f.bin
    expect_status 2
    expect_text "U_0 at (i,j,k) = (0,0,0) is 2.125 and was written as 2: bit 48 is flipped"
}

@test "a flipped bit is found wherever it is" {
    slow
    make_dump good.bin 7 mijk little 3
    cp good.bin.json f.bin.json
    size=$(stat -c %s good.bin)
    for n in $(seq 1 40); do
        at=$((n * 7919 * 31 % size))
        value=$((at / 8 % (5 * 7 * 7 * 7)))
        cp good.bin f.bin
        flip f.bin $at $((n % 8))
        verify f.bin
        expect_status 2
        expect_text "dump $((at / (40 * 7 * 7 * 7))) "
        expect_text "U_$((value % 5)) at (i,j,k) = ($((value / 5 % 7)),$((value / 35 % 7)),$((value / 245)))"
        expect_text "bit $((at % 8 * 8 + n % 8)) is flipped"
    done
}

@test "two flipped bits in one dump are both located" {
    make_dump f.bin
    flip f.bin "$(offset mijk 12 1 0 2 3 4)" 3
    flip f.bin "$(offset mijk 12 1 4 5 6 7)" 4
    verify f.bin
    expect_status 2
    expect_text "U_0 at (i,j,k) = (2,3,4)"
    expect_text "U_4 at (i,j,k) = (5,6,7)"
}

@test "two flipped bits in one row are both located" {
    make_dump f.bin
    flip f.bin "$(offset mijk 12 1 2 2 3 4)" 3
    flip f.bin "$(offset mijk 12 1 2 9 3 4)" 4
    verify f.bin
    expect_status 2
    expect_text "U_2 at (i,j,k) = (2,3,4)"
    expect_text "U_2 at (i,j,k) = (9,3,4)"
}

@test "an overwritten value is located and printed" {
    make_dump f.bin
    put_bytes f.bin 0 f.bin "$(offset mijk 12 4 1 3 3 3)" 8
    verify f.bin
    expect_status 2
    expect_text "dump 4 (step 25): U_1 at (i,j,k) = (3,3,3) is 2, which is not what was written"
}

@test "swapped cells are both named, in every layout of cells along a row, a column and apart" {
    for to in "9 3 4" "2 8 4" "2 3 9" "9 8 7"; do
        # shellcheck disable=SC2086 # three indices
        set -- $to
        make_dump f.bin
        swap f.bin "$(offset mijk 12 1 0 2 3 4)" "$(offset mijk 12 1 0 "$1" "$2" "$3")" 40
        verify f.bin
        expect_status 2
        expect_text "dump 1 (step 10): the cells (i,j,k) = "
        expect_text "(2,3,4)"
        expect_text "($1,$2,$3)"
        expect_text "are swapped"
    done
}

@test "swapped values of one cell are named" {
    make_dump f.bin
    swap f.bin "$(offset mijk 12 1 1 2 3 4)" "$(offset mijk 12 1 4 2 3 4)" 8
    verify f.bin
    expect_status 2
    expect_text "U_1 at (i,j,k) = (2,3,4) and U_4 at (i,j,k) = (2,3,4) are swapped"
}

@test "a short file: which dump, how many bytes" {
    make_dump f.bin
    truncate -s $((4 * 69120 + 1000)) f.bin
    verify f.bin
    expect_status 2
    expect_text "the file is short: 277480 of 414720 bytes are there; it ends inside dump 4 (step 25), of which 1000 of 69120"
    expect_text "missing"
}

@test "a file that lacks its last dump, or its last byte" {
    make_dump f.bin
    truncate -s $((5 * 69120)) f.bin
    verify f.bin
    expect_status 2
    expect_text "dump 5 (step 30), of which 0 of 69120"
    make_dump f.bin
    truncate -s $((6 * 69120 - 1)) f.bin
    verify f.bin
    expect_status 2
    expect_text "dump 5 (step 30), of which 69119 of 69120"
}

@test "bytes after the last dump" {
    make_dump f.bin
    printf 'tail' >>f.bin
    verify f.bin
    expect_status 2
    expect_text "4 bytes follow the last dump"
}

@test "a stale dump: which dump's data it holds" {
    make_dump f.bin
    put_bytes f.bin $((2 * 69120)) f.bin $((3 * 69120)) 69120
    verify f.bin
    expect_status 2
    expect_text "dump 3 (step 20) holds the data of dump 2 (step 15)"
}

@test "exchanged dumps are both named" {
    make_dump f.bin
    swap f.bin 0 $((5 * 69120)) 69120
    verify f.bin
    expect_status 2
    expect_text "dump 0 (step 5) holds the data of dump 5 (step 30)"
    expect_text "dump 5 (step 30) holds the data of dump 0 (step 5)"
}

@test "planes that were not written again" {
    make_dump f.bin
    put_bytes f.bin $((2 * 69120 + 4 * 5760)) f.bin $((3 * 69120 + 4 * 5760)) $((3 * 5760))
    verify f.bin
    expect_status 2
    expect_text "dump 3 (step 20): planes k = 4..6 hold the data of dump 2 (step 15)"
}

@test "a hole is told by its planes and zero bytes" {
    make_dump f.bin
    dd if=/dev/zero of=f.bin bs=1 seek="$(offset mijk 12 3 0 0 4 5)" count=1440 conv=notrunc status=none
    verify f.bin
    expect_status 2
    expect_text "wrong values within the planes i = 0..11; j = 4..6; k = 5; m = 0..4"
    expect_text "180 values are zero bytes"
}

@test "a damaged record marker" {
    make_dump f.bin 12 records
    flip f.bin $((69216 * 2 + 5768 * 7)) 1
    verify f.bin
    expect_status 2
    expect_text "dump 2 (step 15): 1 records have a wrong length marker, the first in plane k = 7"
    make_dump f.bin 12 records
    flip f.bin $((5768 - 1)) 7
    verify f.bin
    expect_status 2
    expect_text "dump 0 (step 5): 1 records have a wrong length marker, the first in plane k = 0"
}

@test "data of another run" {
    make_dump other.bin 12 mijk little 12
    make_dump f.bin
    put_bytes other.bin $((9 * 69120)) f.bin $((3 * 69120)) 69120
    verify f.bin
    expect_status 2
    # The faces are the same in every run: only inner planes differ.
    expect_text "dump 3 (step 20): wrong values within the planes i = 1..10; j = 1..10; k = 1..10"
}

@test "what is wrong is on standard error too when nobody reads the table" {
    make_dump f.bin
    flip f.bin "$(offset mijk 12 2 3 4 5 6)" 0
    run bash -c 'nht1-verify f.bin 2>&1 >/dev/null'
    expect_status 2
    expect_text "nht1-verify: f.bin: WRONG: dump 2 (step 15): U_3 at (i,j,k) = (4,5,6)"
}

@test "the JSON result names the place" {
    need_program jq
    make_dump f.bin
    flip f.bin "$(offset mijk 12 2 3 4 5 6)" 5
    verify f.bin --json r.json
    expect_status 2
    expect_schema nht1-verify-1 r.json
    run jq -r '.schema, .verdict, .exit_status, .findings_n, .findings[0].kind, .findings[0].dump,
        (.findings[0].places[0] | .i, .j, .k, .m), .dumps[2].verdict, .dumps[3].verdict' r.json
    expect_status 0
    [ "$(echo "$output" | tr '\n' ' ')" = "nht1-verify/1 WRONG 2 1 digest 2 4 5 6 3 WRONG right " ]
}

@test "the JSON result of an intact file" {
    need_program jq
    make_dump f.bin
    verify f.bin --json r.json
    expect_status 0
    expect_schema nht1-verify-1 r.json
    run jq -r '.verdict, .exit_status, .findings_n, .shape.n, .shape.layout, (.dumps | length),
        (.proved | length), .dumps[1].xce[1]' r.json
    [ "$(echo "$output" | tr '\n' ' ' | cut -c 1-27)" = "VERIFIED 0 0 12 mijk 6 1 0." ]
}

@test "a run that was cut short: the complete dumps are verified" {
    make_dump f.bin 12 mijk little 6 4
    verify f.bin --json r.json
    expect_status 0
    expect_schema nht1-verify-1 r.json
    expect_text "VERIFIED IN PART: every value of 4 dumps"
    expect_text "2 of 6 dumps are not complete"
    truncate -s $((4 * 69120 + 17)) f.bin
    verify f.bin
    expect_status 0
    flip f.bin $((3 * 69120 + 100)) 1
    verify f.bin
    expect_status 2
}

@test "an incomplete dump listed in the manifest is not judged" {
    need_program jq
    make_dump f.bin
    jq '.dumps[5].complete = false' f.bin.json >m
    mv m f.bin.json
    flip f.bin $((5 * 69120 + 100)) 1
    verify f.bin
    expect_status 0
    expect_text "VERIFIED IN PART: every value of 5 dumps"
}

@test "a file without a complete dump verifies nothing" {
    make_dump f.bin 12 mijk little 6 0
    verify f.bin
    expect_status 2
    expect_text "no dump of this file is complete"
}
