#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-verify and the diagonal listing: printing it, comparing with one.

load helpers
load verify_lib

@test "--diagonal prints F15.10 for each dump, i and m, and nothing else" {
    make_dump f.bin 12 records big 3
    nht1-verify f.bin --diagonal >list 2>messages
    [ "$(wc -l <list)" -eq $((3 * 12 * 5)) ]
    run grep -vcE '^ *-?[0-9]+\.[0-9]{10}$' list
    [ "$output" = 0 ]
    run awk 'length($0) != 15' list
    [ "$output" = "" ]
    [ "$(sed -n 1p list)" = "   2.0000000000" ]
    [ "$(sed -n 5p list)" = "   5.0000000000" ]
    grep -q VERIFIED messages
}

@test "the listing is the same for every layout and byte order" {
    make_dump f.bin
    nht1-verify f.bin --diagonal >want 2>/dev/null
    for layout in mijk ijkm records; do
        for endian in little big; do
            make_dump f.bin 12 $layout $endian
            nht1-verify f.bin --diagonal >have 2>/dev/null
            cmp have want
        done
    done
}

@test "the listing of the dense solver is the diagonal of its dumps" {
    "$NHT1_TESTBIN/mklisting" 12 60 0.01 10 f.bin >want 2>/dev/null
    nht1-verify f.bin --diagonal >have 2>/dev/null
    cmp have want
}

@test "--diagonal of a wrong file: status 2, the listing alone on standard output" {
    make_dump f.bin
    flip f.bin "$(offset mijk 12 2 3 4 5 6)" 0
    run bash -c 'nht1-verify f.bin --diagonal 2>messages >list'
    expect_status 2
    [ "$(wc -l <list)" -eq 360 ]
    grep -q "WRONG: dump 2" messages
}

@test "--against agrees with its own listing, plain and gzipped, with other spacing" {
    make_dump f.bin
    nht1-verify f.bin --diagonal >list 2>/dev/null
    verify f.bin --against list --json r.json
    expect_schema nht1-verify-1 r.json
    expect_status 0
    expect_text "360 values on the diagonal agree with the listing"
    gzip -k list
    verify f.bin --against list.gz
    expect_status 0
    sed 's/^ */\t/; s/$/  \r/' list | awk '{ print; print "" }' >odd
    verify f.bin --against odd
    expect_status 0
}

@test "--against finds a value that differs by more than the tolerance, and no smaller one" {
    make_dump f.bin
    nht1-verify f.bin --diagonal >list 2>/dev/null
    awk 'NR == 200 { printf "%15.10f\n", $1 + 0.0000000050; next } { print }' list >near
    verify f.bin --against near
    expect_status 0
    awk 'NR == 200 { printf "%15.10f\n", $1 + 0.0000001; next } { print }' list >far
    verify f.bin --against far
    expect_status 2
    # Line 200 is dump 3, i = 3, m = 4.
    expect_text "in 1 of 360 values, first in dump 3, U_4(3,3,3)"
    expect_text "in line 200"
}

@test "--against a listing that is too short or too long" {
    make_dump f.bin
    nht1-verify f.bin --diagonal >list 2>/dev/null
    head -n 300 list >short
    verify f.bin --against short
    expect_status 2
    expect_text "ends after 300 values"
    cat list list >long
    verify f.bin --against long
    expect_status 2
    expect_text "goes on after"
}

@test "--against what is no listing" {
    make_dump f.bin
    nht1-verify f.bin --diagonal >list 2>/dev/null
    sed '7s/.*/seven/' list >odd
    verify f.bin --against odd
    expect_status 1
    expect_text "odd, line 7: \"seven\" is not a number"
    sed '7s/$/ 3.3129122988/' list >odd
    verify f.bin --against odd
    expect_status 1
    expect_text "3.3129122988\" is not a number"
    for line in '2.0\x003.0' "$(printf '%120s')2.0000000000"; do
        sed "7s/.*/$line/" list >odd
        verify f.bin --against odd
        expect_status 1
        expect_text "odd, line 7: has a zero byte, or more than 126 characters"
    done
    verify f.bin --against nosuch
    expect_status 3
    verify f.bin --against .
    expect_status 3
    verify f.bin --against "$(printf '%01100d' 0)"
    expect_status 1
    expect_text "the name is too long"
    mkfifo p
    verify f.bin --against p
    expect_status 3
    gzip -k list
    head -c 600 list.gz >cut.gz
    verify f.bin --against cut.gz
    expect_status 3
}

@test "--against reference: the official run of N = 12" {
    "$NHT1_TESTBIN/mklisting" 12 60 0.01 10 f.bin >/dev/null 2>&1
    NHT1_LISTINGS=$NHT1_ROOT/verify/listings verify f.bin --against reference
    expect_status 0
    expect_text "360 values on the diagonal agree"
    make_dump f.bin
    rm f.bin.json # which tells that it is of another run
    NHT1_LISTINGS=$NHT1_ROOT/verify/listings verify f.bin --against reference
    expect_status 2
}

@test "--against reference: there is none for N = 13" {
    make_dump f.bin 13
    verify f.bin --against reference
    expect_status 1
    expect_text "N = 12, 64 and 102"
}

@test "reference listings have a value for every dump, point and component" {
    for spec in "12 6" "64 40" "102 40"; do
        # shellcheck disable=SC2086 # two numbers
        set -- $spec
        [ "$(gzip -dc "$NHT1_ROOT/verify/listings/n$1.txt.gz" | wc -l)" -eq $(($2 * $1 * 5)) ]
    done
}

@test "a run that was cut short is compared in its complete dumps" {
    make_dump f.bin
    nht1-verify f.bin --diagonal >list 2>/dev/null
    make_dump f.bin 12 mijk little 6 4
    verify f.bin --against list
    expect_status 0
    expect_text "240 values on the diagonal agree"
}
