#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-verify: what it must not need.

load helpers
load verify_lib

@test "links no MPI and no writer" {
    run bash -c 'nm -D "$NHT1_BIN/nht1-verify"; nm "$NHT1_BIN/nht1-verify"; ldd "$NHT1_BIN/nht1-verify"'
    expect_status 0
    expect_text "main"
    run bash -c 'echo "$1" | grep -E " (U|T|t) (MPI_|PMPI_|io_)|libmpi|libpmpi"' - "$output"
    [ "$output" = "" ]
}

@test "a dump of class C needs less than 64 MiB of memory" {
    slow
    need_program /usr/bin/time
    need_space . 200
    for layout in mijk ijkm records; do
        make_dump f.bin 162 $layout little 1
        run /usr/bin/time -f 'resident %M KiB' nht1-verify f.bin
        expect_status 0
        expect_text "VERIFIED"
        kib=$(echo "$output" | sed -n 's/^resident \([0-9]*\) KiB$/\1/p')
        [ -n "$kib" ]
        [ "$kib" -lt 65536 ]
    done
    rm -f f.bin
}

@test "progress is shown when asked for and only then" {
    make_dump f.bin 40 mijk little 4
    nht1-verify f.bin --progress always 2>seen >/dev/null
    grep -q "verifying" seen
    nht1-verify f.bin 2>seen >/dev/null
    [ ! -s seen ]
}
