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
    for f in fsync fdatasync; do
        grep -F '"call": "'$f'", "flags": "rdwr", "offset": 0, "bytes": 0, "stride": 0, "n": 1' a.jsonl
    done
    expect_json <(head -n 1 a.jsonl) '.lost_n == 0 and .unplaced_n == 0 and .files_n == 2'
}

@test "ranks, MPI-IO, views with gaps and the shared pointer" {
    # ROMIO of MPICH fills gaps by data sieving with what was in its memory.
    echo "romio_ds_write disable" >hints
    export ROMIO_HINTS=$PWD/hints
    run nht1-profile --accesses a.jsonl -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" past m.dat
    expect_status 0
    expect_json <(head -n 1 a.jsonl) '.processes_n == 2 and .lost_n == 0'
    run nht1-profile --json p.json --accesses h.jsonl -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" views v.dat
    expect_status 0
    expect_json <(head -n 1 h.jsonl) '.unplaced_n == 0 and .lost_n == 0'
    # Each piece by itself, and where there is none the file has a hole.
    accesses h.jsonl >pieces
    [ "$(awk '{ n += $5 } END { print n }' pieces)" -eq "$(jq .profile.written_bytes p.json)" ]
    python3 - <<'END'
covered = set()
for line in open('pieces'):
    offset, size = (int(n) for n in line.split()[3:])
    covered.update(range(offset // 8, (offset + size) // 8))
data = open('v.dat', 'rb').read()
assert covered == {i for i in range(len(data) // 8) if any(data[8 * i:8 * i + 8])}
END
    # The replay moves the same pieces.
    run nht1-profile --accesses r.jsonl -- "$NHT1_ROOT/tests/mpi-run" -np 2 nht1-workload h.jsonl --out r.dat --check none --quiet
    expect_status 0
    diff <(accesses h.jsonl numbered) <(accesses r.jsonl)
    run nht1-profile --json p.json --accesses h.jsonl -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" pointer h.dat
    expect_status 0
    expect_text "h.jsonl is not complete"
    expect_json <(head -n 1 h.jsonl) '.unplaced_n > 0 and .unplaced_bytes > 0'
    # Nothing is counted twice, and nothing is missing.
    [ "$(accesses h.jsonl | awk '{ n += $5 } END { print n + 0 }')" -eq \
        "$(($(jq '.profile.written_bytes + .profile.read_bytes' p.json) - $(head -n 1 h.jsonl | jq .unplaced_bytes)))" ]
}

@test "more runs than there is room for are told with their bytes" {
    slow
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

@test "accesses to files for which there is no room are lost, not another file's" {
    slow
    cat >folders.py <<'END'
import os
os.mkdir('d')
for i in range(16384):
    os.mkdir('d/%d' % i)
for i in range(3):
    with open('f.dat.%d' % i, 'wb') as f:
        f.write(b'x' * 100)
END
    run nht1-profile --accesses a.jsonl --json p.json -- python3 folders.py
    expect_status 0
    expect_text "a.jsonl is not complete: 3 accesses of 300 B found no room"
    expect_json <(head -n 1 a.jsonl) '.runs_n == 0 and .lost_n == 3 and .lost_bytes == 300'
    expect_json p.json '.profile.lost_n > 0 and .profile.written_bytes == 300'
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

@test "nht1-workload replays accesses: the same bytes at the same offsets, by the same calls" {
    cat >program.py <<'END'
import os
a = os.open('p.dat', os.O_RDWR | os.O_CREAT)
b = os.open('p.dat.1', os.O_WRONLY | os.O_CREAT)
for i in range(40):                     # in turns: a header, a record far away, a line of a log
    os.pwrite(a, b'h' * 512, 0)
    os.pwrite(a, b'r' * 3000, 4096 + 5000 * i)
    os.write(b, b'l' * 77)
for i in (7, 3, 31, 20):
    os.pread(a, 1000, 4096 + 5000 * i)
os.lseek(a, 100, os.SEEK_SET)
os.read(a, 400)
os.read(a, 400)
os.fsync(b)
for i in range(3):
    os.fdatasync(a)
for i in range(2, 300):                 # more than a process may have open
    c = os.open('p.dat.%d' % i, os.O_WRONLY | os.O_CREAT)
    os.write(c, b'c' * 10)
    os.close(c)
END
    run nht1-profile --accesses p.jsonl --quiet -- python3 program.py
    expect_status 0
    accesses p.jsonl >program
    [ "$(wc -l <program)" -eq 424 ]
    rm p.dat*
    run bash -c 'ulimit -Sn 256; nht1-profile --accesses r.jsonl --quiet -- nht1-workload p.jsonl --out r.dat --check none --json r.json'
    expect_status 0
    accesses r.jsonl laid-out >replay
    diff program replay
    [ -z "$(compgen -G 'r.dat*')" ]
    # In the order that they had; data that were not checked are said to be.
    for f in p r; do
        jq -c 'select(.call == "pwrite" and .bytes == 512) | .step, .n' $f.jsonl >$f.steps
    done
    diff p.steps r.steps
    expect_json r.json '.kind == "accesses" and (.replays[0] | .bytes == 151340 and .bytes_min_of_rank == .bytes
        and ([.calls[] | {(.function): .n}] | add) == {"read": 2, "write": 338, "pread": 4, "pwrite": 80, "fsync": 1, "fdatasync": 3})'
    expect_schema nht1-workload-1 r.json
    # With checks: what was read and what was written is right.
    run nht1-workload p.jsonl --out r.dat --json r.json
    expect_status 0
    expect_text "calls    read 2 write 338 pread 4 pwrite 80 fsync 1 fdatasync 3"
    expect_json r.json '.wrong_n == 0 and .replays[0].checked_bytes == .bytes'
}

@test "replayed accesses of MPI-IO and of two ranks; what is not in the file is told" {
    slow
    run nht1-profile --accesses m.jsonl -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" past m.dat
    expect_status 0
    run nht1-profile --accesses r.jsonl -- "$NHT1_ROOT/tests/mpi-run" -np 2 nht1-workload m.jsonl --out r.dat --check none --quiet
    expect_status 0
    diff <(accesses m.jsonl numbered) <(accesses r.jsonl)
    run mpi_run 3 nht1-workload m.jsonl --out r.dat --json r.json
    expect_status 0
    expect_json r.json '.replays[0].processes_n == 2 and ([.stamps[].code] | index("incomplete") == null)'
    run mpi_run 1 nht1-workload m.jsonl --out r.dat
    expect_status 1
    expect_text "m.jsonl: accesses of 2 processes, 1 was started: start 2"
    # As after accesses through a view with gaps beside these.
    sed '1s/"unplaced_n": 0, "unplaced_bytes": 0/"unplaced_n": 2, "unplaced_bytes": 2048/' m.jsonl >h.jsonl
    run mpi_run 2 nht1-workload h.jsonl --out r.dat --json r.json
    expect_status 0
    expect_text "[incomplete] 2 of the program's 452 accesses are not in h.jsonl"
    expect_json r.json '.stamps[] | select(.code == "incomplete") | .numbers.unplaced_n == 2 and .numbers.lost_n == 0'
}

# jsonl CALL FLAGS OFFSET BYTES STRIDE N: a file of one run.
jsonl() {
    echo '{"schema": "nht1-accesses/1", "processes_n": 1, "files_n": 1, "runs_n": 1, "unplaced_n": 0, "unplaced_bytes": 0, "lost_n": 0, "lost_bytes": 0}'
    echo '{"file": 0, "name": "x"}'
    printf '{"process": 0, "file": 0, "call": "%s", "flags": "%s", "offset": %s, "bytes": %s, "stride": %s, "n": %s, "order": 0, "step": 1}\n' "$@"
}

# many_files N: a file of runs, one in each of N files, which it writes.
many_files() {
    awk -v n="$1" 'BEGIN {
        printf "{\"schema\": \"nht1-accesses/1\", \"processes_n\": 1, \"files_n\": %d, \"runs_n\": %d, \"unplaced_n\": 0, \"unplaced_bytes\": 0, \"lost_n\": 0, \"lost_bytes\": 0}\n", n, n
        for (f = 0; f < n; f++) printf "{\"file\": %d, \"name\": \"x\"}\n", f
        for (f = 0; f < n; f++) printf "{\"process\": 0, \"file\": %d, \"call\": \"write\", \"flags\": \"wronly\", \"offset\": 0, \"bytes\": 9, \"stride\": 0, \"n\": 1, \"order\": %d, \"step\": 0}\n", f, f
    }'
}

@test "accesses that cannot be replayed are refused before any file is made" {
    echo mine >theirs.dat
    jsonl pwrite wronly 0 100 100 5 >a.jsonl
    run nht1-workload a.jsonl --out theirs.dat
    expect_status 1
    expect_text "theirs.dat exists"
    [ "$(cat theirs.dat)" = mine ]
    local option
    for option in "--set record=1" "--hint cb_nodes=1"; do
        # shellcheck disable=SC2086 # two words
        run nht1-workload a.jsonl $option
        expect_status 1
        expect_text "${option%% *}: accesses are replayed as they were"
    done
    jsonl pwrite wronly 0 1048576 1048576 1000000000 >b.jsonl
    run nht1-workload b.jsonl --out b.dat
    [ "$status" -eq 1 ] || [ "$status" -eq 3 ]
    [[ "$output" == *"b.dat"* || "$output" == *"memory"* ]]
    jsonl read rdonly 0 1152921504606846976 0 1 >c.jsonl
    run nht1-workload c.jsonl --out c.dat
    expect_status 1
    expect_text "lower --buffer"
    jsonl pwrite wronly+direct 0 4096 4096 1000 >d.jsonl
    run nht1-workload d.jsonl --buffer 1Mi --out d.dat
    expect_status 1
    expect_text "past the page cache (O_DIRECT), which must lie ready in memory: raise --buffer"
    jsonl fsync wronly 0 0 0 0 >e.jsonl
    run nht1-workload e.jsonl
    expect_status 1
    expect_text "e.jsonl:3"
    many_files 300 >g.jsonl
    run bash -c 'ulimit -n 300; nht1-workload g.jsonl --out g.dat'
    expect_status 1
    expect_text "g.jsonl: process 0 has 300 files open at a time, 44 are allowed here: raise the limit"
    echo '{"schema": "nht1-accesses/1", "processes_n": 0, "files_n": 0, "runs_n": 0, "unplaced_n": 0, "unplaced_bytes": 0, "lost_n": 0, "lost_bytes": 0}' >f.jsonl
    run nht1-workload f.jsonl
    expect_status 1
    expect_text "holds no access"
    [ -z "$(compgen -G '*.dat*' | grep -v theirs)" ]
}

@test "a call that fails while accesses are replayed ends all ranks, and no file is left" {
    nht1-profile --accesses m.jsonl -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" past m.dat
    mkdir disk
    run mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so:$LD_PRELOAD" NHT1_FAULT_IN="$PWD/disk" \
        NHT1_FAULT_PROGRAM=nht1-workload NHT1_FAULT=pwrite:3:EIO:1 nht1-workload m.jsonl --out disk/r.dat
    expect_status 3
    expect_text "Input/output error"
    [ -z "$(ls -A disk)" ]
}
