#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-verify and the shape of files: contradicted by the content, given by options, found out.

load helpers
load verify_lib

@test "a manifest with the wrong layout or byte order: says what the file looks like" {
    make_dump f.bin
    sed -i 's/"mijk"/"ijkm"/' f.bin.json
    verify f.bin
    expect_status 2
    expect_text "wrong shape: the file is not N = 12, layout ijkm, little endian; it looks like N = 12, layout mijk, little endian"
    make_dump f.bin
    sed -i 's/"little"/"big"/' f.bin.json
    verify f.bin
    expect_status 2
    expect_text "it looks like N = 12, layout mijk, little endian"
}

@test "options that contradict the file" {
    make_dump f.bin 12 ijkm
    verify f.bin --layout records
    expect_status 2
    expect_text "it looks like N = 12, layout ijkm, little endian"
    verify f.bin --endian big
    expect_status 2
    expect_text "it looks like N = 12, layout ijkm, little endian"
    verify f.bin --n 13
    expect_status 2
    expect_text "it looks like N = 12, layout ijkm, little endian"
    verify f.bin --dumps 5
    expect_status 2
    expect_text "--dumps is 5, the manifest says 6"
}

@test "a manifest of another file" {
    make_dump f.bin 13 records big 2
    make_dump other.bin 12 mijk little 6
    cp other.bin.json f.bin.json
    verify f.bin
    expect_status 2
    expect_text "it looks like N = 13, layout records, big endian"
}

@test "without a manifest the shape is found out, and the limits are said" {
    for layout in mijk ijkm records; do
        for endian in little big; do
            make_dump f.bin 13 $layout $endian 3
            rm f.bin.json
            verify f.bin
            expect_status 0
            expect_text "N = 13, layout $layout, $endian endian (inferred from the values)"
            expect_text "PLAUSIBLE"
            expect_text "single wrong values may go unnoticed"
        done
    done
}

@test "without a manifest options give the shape, and are checked" {
    make_dump f.bin 13 records big 3
    rm f.bin.json
    verify f.bin --n 13 --layout records --endian big --dumps 3
    expect_status 0
    verify f.bin --n 13 --layout mijk
    expect_status 2
    expect_text "it looks like N = 13, layout records, big endian"
    verify f.bin --n 12
    expect_status 2
    expect_text "it looks like N = 13, layout records, big endian"
    verify f.bin --dumps 4
    expect_status 2
    expect_text "ends inside dump 3, of which 0 of"
    verify f.bin --dumps 2
    expect_status 2
    expect_text "follow the last dump"
}

@test "without a manifest a short file, a wrong face and a NaN are found" {
    make_dump f.bin
    rm f.bin.json
    cp f.bin good.bin
    truncate -s $((3 * 69120 + 5)) f.bin
    verify f.bin
    expect_status 2
    expect_text "it ends inside dump 3, of which 5 of 69120"
    cp good.bin f.bin
    flip f.bin $(($(offset mijk 12 4 2 0 5 6) + 5)) 1
    verify f.bin
    expect_status 2
    expect_text "dump 4: 1 values on the faces of the grid are not the exact solution, the first is U_2 at (i,j,k) = (0,5,6)"
    cp good.bin f.bin
    printf '\377\377\377\377\377\377\377\377' |
        dd of=f.bin bs=1 seek="$(offset mijk 12 4 2 5 5 6)" conv=notrunc status=none
    verify f.bin --json r.json
    expect_status 2
    expect_schema nht1-verify-1 r.json
    expect_text "dump 4: 1 values are NaN or infinite"
}

# put_double FILE OFFSET VALUE: as a double of this machine, little endian.
put_double() {
    perl -e 'print pack("d<", $ARGV[0])' -- "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# class_s INTERVAL: a run of class S with dumps every INTERVAL steps, without a manifest.
class_s() {
    "$NHT1_TESTBIN/mklisting" 12 60 0.01 "$1" f.bin >list 2>/dev/null
}

@test "without a manifest the published norms judge a run of a class" {
    class_s 5
    verify f.bin --json r.json
    expect_status 0
    expect_schema nht1-verify-1 r.json
    expect_json r.json '.verdict == "NORMS RIGHT"'
    expect_text "NORMS RIGHT: the mean error norms of dumps 0 to 11 are the published ones of class S"
    expect_text "the final state, dump 11, has the published error norms of class S"
    expect_text "the norms fall from dump to dump, as those of class S do"
    expect_text "values were not checked one by one"
    expect_no_text "VERIFIED"
    expect_no_text "order in which they were made"
    flip f.bin $(($(offset mijk 12 4 2 5 5 6) + 6)) 0
    verify f.bin
    expect_status 2
    expect_text "the mean error norms are not the published ones of class S"
}

@test "without a manifest the official S run is judged by its final state" {
    class_s 10
    verify f.bin
    expect_status 0
    expect_text "NORMS RIGHT: the final state, dump 5, has the published error norms of class S"
    expect_text "Not proved: there is no manifest"
    expect_text "dumps 0 to 4: no norms are published for them"
    verify f.bin --against list
    expect_status 0
    expect_text "VERIFIED: the final state"
    expect_no_text "dumps 0 to 4"
    flip f.bin $(($(offset mijk 12 5 2 5 5 6) + 6)) 0
    verify f.bin
    expect_status 2
    expect_text "error norms of the final state are not the published ones"
}

@test "a norm that is not a finite number is wrong, with a manifest and without" {
    need_program perl
    class_s 10
    cp f.bin good.bin
    for value in 1e300 -1e160; do
        cp good.bin f.bin
        put_double f.bin "$(offset mijk 12 2 3 4 5 6)" $value
        verify f.bin --json r.json
        expect_status 2
        expect_schema nht1-verify-1 r.json
        expect_text "WRONG: dump 2: the error norm of U_3 is not a finite number: 1 values are too large, the first is U_3 at (i,j,k) = (4,5,6)"
    done
    cp good.bin f.bin # each square is finite, their sum is not
    for j in 1 2 3 4 5; do
        put_double f.bin "$(offset mijk 12 2 3 4 $j 6)" 1e154
    done
    verify f.bin
    expect_status 2
    expect_text "WRONG: dump 2: the error norm of U_3 is not a finite number: the values are too large"
    make_dump f.bin 12 mijk little 6 6 1e300
    verify f.bin
    expect_status 2
    expect_text "WRONG: dump 0 (step 5): the error norm of U_0 is not a finite number: 5000 values"
}

@test "without a manifest dumps exchanged as a whole are found by their norms, or not vouched for" {
    for interval in 5 10; do
        class_s $interval
        swap f.bin 69120 $((3 * 69120)) 69120
        verify f.bin --json r.json
        expect_status 2
        expect_schema nht1-verify-1 r.json
        expect_text "WRONG: the dumps are not those of a run of class S in their order"
        expect_text "rises from"
    done
    make_dump f.bin 13 # of no class: the order cannot be known
    rm f.bin.json
    nht1-verify f.bin --diagonal >list 2>/dev/null
    verify f.bin --against list
    expect_status 0
    expect_no_text "order in which they were made"
    swap f.bin $((40 * 13 * 13 * 13)) $((3 * 40 * 13 * 13 * 13)) $((40 * 13 * 13 * 13))
    verify f.bin
    expect_status 0
    expect_text "PLAUSIBLE"
    expect_text "            that the dumps are in the order in which they were made"
    verify f.bin --against list
    expect_status 2
    expect_text "first in dump 1"
}

@test "a run with wrong physics is wrong though its manifest agrees" {
    make_dump f.bin 12 mijk little 12
    sed -i 's/"dt": 0.0123/"dt": 0.01/' f.bin.json
    verify f.bin
    expect_status 2
    expect_text "the mean error norms are not the published ones of class S"
}
