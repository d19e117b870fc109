#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that nobody here wrote, profiled and replayed: the accesses of nht1-profile are the system calls that strace
# sees, and the replay makes the same ones, with the same bytes at the same offsets.

load helpers
bats_require_minimum_version 1.5.0

accesses() {
    python3 "$BATS_TEST_DIRNAME/accesses.py" "$@"
}

# traced COMMAND...: runs it in ./there; its data accesses on files there, as "R bytes" or "W bytes", sorted, to ./traced.
traced() {
    (cd there && strace -f -y -o ../calls -e trace=read,pread64,readv,preadv,write,pwrite64,writev,pwritev,copy_file_range,sendfile \
        "$@") >out 2>&1 || not_permitted "to trace system calls"
    # The file of a copy inside the kernel is the one that is written.
    grep -vE ' = -1 | = \?' calls | sed -nE -e 's|^[0-9]+ +copy_file_range\([^,]*, [^,]*, [0-9]+<'"$PWD"'/there/.* = ([0-9]+)$|W \1|p' \
        -e 's|^[0-9]+ +p?writev?(64)?\([0-9]+<'"$PWD"'/there/.* = ([0-9]+)$|W \2|p' \
        -e 's|^[0-9]+ +sendfile\([0-9]+<'"$PWD"'/there/.* = ([0-9]+)$|W \1|p' \
        -e 's|^[0-9]+ +p?readv?(64)?\([0-9]+<'"$PWD"'/there/.* = ([0-9]+)$|R \2|p' | sort >traced
}

# same COMMAND...: which writes files in its folder, ./there, by one process.
same() {
    rm -rf there p.jsonl r.jsonl
    mkdir there
    traced "$@"
    [ -s traced ]
    rm -rf there
    mkdir there
    (cd there && run nht1-profile --accesses ../p.jsonl -o ../p.xml --quiet -- "$@" && expect_status 0)
    expect_json <(head -n 1 p.jsonl) '.processes_n == 1 and .lost_n == 0 and .unplaced_n == 0'
    accesses p.jsonl numbered >program
    diff traced <(awk '{ print $3, $5 }' program | sort)
    run nht1-profile --accesses r.jsonl -o r.xml --quiet -- nht1-workload p.jsonl --out r.dat --check none --quiet
    expect_status 0
    diff program <(accesses r.jsonl laid-out)
    # By the same calls, on files that were open in the same way.
    diff <(accesses p.jsonl numbered calls) <(accesses r.jsonl laid-out calls)
}

setup_file() {
    real_python
}

@test "dd, by write, and in any order of blocks" {
    slow
    same dd if=/dev/zero of=f bs=4096 count=100 status=none
    same dd if=/dev/zero of=f bs=1000 seek=7 count=3 conv=fsync,notrunc status=none
}

@test "cp" {
    slow
    head -c 3000000 /dev/urandom >in
    same cp "$PWD/in" copy
}

@test "tar" {
    slow
    mkdir in
    head -c 700000 /dev/urandom >in/a
    seq 10000 >in/b
    same tar cf t.tar -C "$PWD" in
}

@test "sqlite3" {
    slow
    need_program sqlite3
    same sqlite3 t.db 'create table t(a, b); begin; insert into t values (1, randomblob(9000)); insert into t values (2, zeroblob(20000)); commit;
        update t set b = zeroblob(10) where a = 1; delete from t where a = 2;'
}

@test "a Fortran program, sequential and direct" {
    slow
    need_program gfortran
    cat >f.f90 <<'END'
program f
  implicit none
  real(8) :: x(3000)
  integer :: i
  x = 1.5
  open(10, file='seq', form='unformatted', access='sequential', status='replace')
  do i = 1, 10
    write(10) x
  end do
  close(10)
  open(11, file='direct', form='unformatted', access='direct', recl=8000, status='replace')
  do i = 1, 20
    write(11, rec=mod(7 * i, 20) + 1) x(1:1000)
  end do
  read(11, rec=3) x(1:1000)
  close(11)
end program
END
    gfortran -o f f.f90
    same "$PWD/f"
}

@test "a Python script" {
    slow
    cat >s.py <<'END'
import os
with open("buffered", "w+b") as f:
    for i in range(1000):
        f.write(b"x" * 37)
    f.seek(1000)
    f.read(100)
fd = os.open("random", os.O_RDWR | os.O_CREAT)
for name, how in ("log", 0), ("synced", os.O_SYNC), ("data", os.O_DSYNC), ("new", os.O_EXCL | os.O_TRUNC):
    log = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | how)
    for i in range(3):
        os.write(log, b"l" * (10 + i))
with open("log", "ab") as log:
    log.write(b"more")
for i in range(50):
    os.pwrite(fd, b"y" * 512, 4096 * (i * 17 % 50))
os.pread(fd, 512, 4096)
END
    same python3 "$PWD/s.py"
    # Those of replay and of the program, but for what makes a file.
    opens() {
        grep -o "$1.*" | sed -E -e 's/"[^,]*, //' -e 's/[,)].*//' -e 's/O_(CREAT|EXCL|CLOEXEC|NOFOLLOW)\|?//g' -e 's/\|$//' | sort -u
    }
    (rm -rf there && mkdir there && cd there && strace -f -o ../opens -e trace=openat python3 ../s.py)
    opens '"\(buffered\|random\|log\|synced\|data\|new\)"' <opens >of.program
    strace -f -o opens -e trace=openat "$NHT1_BIN/nht1-workload" p.jsonl --out r.dat --check none --quiet
    opens '"r\.dat[^"/]*"' <opens >of.replay
    [ "$(grep -c -e APPEND -e TRUNC -e SYNC of.program)" -ge 4 ]
    [ -z "$(comm -23 of.program of.replay)" ]
}
