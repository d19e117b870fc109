#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-profile --accesses: every access with its place, as strace sees it; what is missing is told.

load helpers
bats_require_minimum_version 1.5.0

accesses() {
    python3 "$BATS_TEST_DIRNAME/accesses.py" "$@"
}

@test "accesses are those of strace, with their sizes and places" {
    need_program strace
    run strace -f -y -e trace=pread64,pwrite64 -o calls "$NHT1_TESTBIN/mkposix" calls f.dat
    [ "$status" -eq 0 ] || not_permitted "to trace system calls"
    rm -f f.dat*
    run nht1-profile --accesses a.jsonl -- "$NHT1_TESTBIN/mkposix" calls f.dat
    expect_status 0
    grep '"call": "p\(read\|write\)"' a.jsonl | sed -E 's/.*"call": "([a-z]*)".*"offset": ([0-9]*), "bytes": ([0-9]*).*/\1 \2 \3/' |
        sort >seen
    # pwritev and preadv are other system calls: 1500 bytes at 5000, 300 at 5900.
    { sed -nE 's/.*(pread|pwrite)64\([0-9]+<[^>]*f\.dat.*, ([0-9]+)\) += ([0-9]+)$/\1 \2 \3/p' calls &&
        echo "pwrite 5000 1500" && echo "pread 5900 300"; } | sort >traced
    diff traced seen
    grep -F '"call": "fsync", "flags": "rdwr", "offset": 0, "bytes": 0, "stride": 0, "n": 2' a.jsonl
    expect_json <(head -n 1 a.jsonl) '.lost_n == 0 and .unplaced_n == 0 and .files_n == 2'
}

@test "ranks, MPI-IO and views with gaps" {
    run nht1-profile --accesses a.jsonl -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" past m.dat
    expect_status 0
    expect_json <(head -n 1 a.jsonl) '.processes_n == 2 and .lost_n == 0'
    run nht1-profile --json p.json --accesses h.jsonl -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" holes h.dat
    expect_status 0
    expect_text "h.jsonl is not complete"
    expect_json <(head -n 1 h.jsonl) '.unplaced_n > 0 and .unplaced_bytes > 0'
    # Nothing is counted twice, and nothing is missing.
    [ "$(accesses h.jsonl | awk '{ n += $5 } END { print n + 0 }')" -eq \
        "$(($(jq '.profile.written_bytes + .profile.read_bytes' p.json) - $(head -n 1 h.jsonl | jq .unplaced_bytes)))" ]
}

@test "more runs than there is room for are told with their bytes" {
    cat >random.py <<'END'
import os
fd = os.open('r.dat', os.O_RDWR | os.O_CREAT)
at = 12345
for i in range(140000):
    at = (1103515245 * at + 12345) % 2147483648
    os.pwrite(fd, b'x', at % 100003)
END
    run nht1-profile --accesses a.jsonl --json p.json -- python3 random.py
    expect_status 0
    expect_text "a.jsonl is not complete"
    local lost
    lost=$(head -n 1 a.jsonl | jq .lost_n)
    [ "$lost" -gt 5000 ]
    expect_json <(head -n 1 a.jsonl) '.runs_n == 65536 and .lost_bytes == .lost_n'
    [ "$(($(accesses a.jsonl | wc -l) + lost))" -eq 140000 ]
}

@test "--accesses: a wrong name, another file, no recording without it" {
    run nht1-profile --accesses a.json -- touch started
    expect_status 1
    expect_text "--accesses: a.json does not end in .jsonl"
    echo mine >a.jsonl
    run nht1-profile --accesses a.jsonl -- touch started
    expect_status 1
    expect_text "--accesses: a.jsonl"
    [ ! -e started ] && [ "$(cat a.jsonl)" = mine ]
    rm a.jsonl
    # With --t-c they are those of the run with writes.
    run nht1-profile --t-c --accesses a.jsonl -- dd if=/dev/zero of=d.dat bs=1000 count=10
    expect_status 0
    [ "$(accesses a.jsonl | wc -l)" -eq 10 ]
    run nht1-profile --accesses a.jsonl -- dd if=/dev/zero of=d.dat bs=1000 count=3
    expect_status 0
    [ "$(accesses a.jsonl | wc -l)" -eq 3 ]
}
