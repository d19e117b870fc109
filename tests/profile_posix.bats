#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-profile on programs that write by POSIX calls, stdio and Fortran: our own (tests/mkposix.c), which look
# at every answer, and programs that nobody here wrote.

load helpers
bats_require_minimum_version 1.5.0

mkposix() {
    "$NHT1_TESTBIN/mkposix" "$@"
}

# certified COMMAND...: it has a zeta, and what it leaves is what it leaves by itself; in a folder of its own.
certified() {
    run nht1-profile --t-c --json ../p.json -o ../p.xml -- "$@"
    expect_status 0
    expect_text "certified: the same"
    expect_schema nht1-profile-1 ../p.json
    [ -z "$(find .. -name '*.run-*')" ]
}

# refused TEXT COMMAND...: no zeta, the reason is TEXT, and the program has run once only.
refused() {
    local text=$1
    shift
    run nht1-profile --t-c --json p.json -- "$@"
    expect_status 4
    expect_text "no zeta: "
    expect_text "$text"
    expect_json p.json '.zeta == null'
    expect_schema nht1-profile-1 p.json
    [ -z "$(find . -name 'profile.xml.run*')" ]
}

@test "what the program writes under the name of an output stays, and the profile gets another name, which is told" {
    local how name
    for how in "" "--t-c --repeat 2"; do
        [ -n "$how" ] || echo '{"schema": "nht1-profile/1"}' >r.json # an earlier result
        # shellcheck disable=SC2086 # words
        run nht1-profile $how --json r.json --accesses a.jsonl -- sh -c 'for f in r.json profile.xml a.jsonl; do echo mine >$f; done'
        expect_status 0
        for name in r.json profile.xml a.jsonl; do
            expect_text "$name has been written while the program ran, and stays; this is written to ${name%.*}-2.${name##*.}"
            [ "$(cat $name)" = mine ]
            [ "$(stat -c %s "${name%.*}-2.${name##*.}")" -gt 100 ]
        done
        expect_schema nht1-profile-1 r-2.json
        expect_text "the workload is in profile-2.xml"
        rm ./*
    done
    # Not the name of another output, and a stream is none.
    run nht1-profile --out w.xml --json w-2.xml -- sh -c 'echo mine >w.xml'
    expect_status 0
    [ "$(cat w.xml)" = mine ]
    expect_schema nht1-profile-1 w-2.xml
    grep -q '<workload' w-3.xml
    nht1-profile --out p.xml --json /dev/stdout -- sh -c 'echo hi; echo x >b' >out.txt 2>/dev/null
    grep -qF '"nht1-profile/1"' out.txt
    [ "$(head -n 1 out.txt)" = hi ]
    # As it was: replaced, as ever.
    echo '{"schema": "nht1-profile/1"}' >r.json
    run nht1-profile --json r.json -- sh -c 'echo mine >b'
    expect_status 0
    expect_schema nht1-profile-1 r.json
    [ ! -e r-2.json ]
}

@test "the same calls as strace sees, by POSIX calls and stdio" {
    local word
    need_program strace
    for word in calls stdio; do
        rm -f f.dat*
        run strace -f -y -e trace=read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2 -o calls \
            "$NHT1_TESTBIN/mkposix" "$word" f.dat
        [ "$status" -eq 0 ] || not_permitted "to trace system calls"
        sed -i '/ = -1 EINVAL/d' calls # those that the kernel refuses move nothing
        rm -f f.dat*
        run nht1-profile --json p.json -- "$NHT1_TESTBIN/mkposix" "$word" f.dat
        expect_status 0
        expect_schema nht1-profile-1 p.json
        expect_json p.json ".profile | .writes_n == $(grep -cE 'write[^(]*\([0-9]+<[^>]*f\.dat' calls)
            and .reads_n == $(grep -cE 'read[^(]*\([0-9]+<[^>]*f\.dat' calls)
            and .mpi_ranks_n == 0 and .posix_writes_n == .writes_n and .not_seen == []"
        expect_json p.json ".profile.written_bytes == $(sed -nE '/write[^(]*\([0-9]+<[^>]*f\.dat/s/.* = ([0-9]+)$/\1/p' calls |
            awk '{ sum += $1 } END { printf "%d", sum }')"
    done
}

@test "sequential is by position, and the calls stand in the workload" {
    run nht1-profile --json p.json -- dd if=/dev/zero of=d.dat bs=65536 count=32 conv=fsync
    expect_status 0
    grep -F 'seqFrac="1"' profile.xml
    grep -F '<calls function="write" n="32" bytes="2097152"/>' profile.xml
    expect_json p.json '.profile | .other.sync.n == 1 and .points[0].interface == "posix" and .points[0].functions.write.n == 32
        and (.slowest | length) == 10 and .slowest[0].interface == "posix" and .ranks[0].program == "dd"'
    expect_text "Slowest calls"
}

@test "--files: what is read below a folder counts, and what lies elsewhere does not" {
    mkdir here
    head -c 100000 /dev/zero >here/in.dat
    run nht1-profile --json p.json --files here -- sh -c 'dd if=here/in.dat of=here/out.dat; dd if=here/in.dat of=elsewhere.dat'
    expect_status 0
    expect_json p.json '.profile | .written_bytes == 100000 and .read_bytes >= 100000'
    ! grep elsewhere profile.xml || return 1
    # A copy inside the kernel reads one file and writes another one.
    local copy
    for copy in 'cp here/in.dat here/copy.dat' \
        'python3 -c "import shutil; shutil.copyfile(\"here/in.dat\", \"here/copy.dat\")"'; do
        run nht1-profile --json p.json --files here --accesses a.jsonl -- sh -c "$copy"
        expect_status 0
        expect_json p.json '.profile | .written_bytes == 100000 and .read_bytes == 100000'
        [ "$(jq -s 'map(select(.bytes) | .bytes * .n) | add' a.jsonl)" -eq 200000 ]
        rm here/copy.dat
    done
    # Each has half of the time, but for a nanosecond of a call.
    expect_json p.json 'def took(f): [.profile.points[].functions | to_entries[] | select(.key | endswith(f)) | .value.total_s] | add;
        took("read") > 0 and (took("read") - took("write") | fabs) < 1e-8'
    expect_json p.json '[.profile.points[].file] | any(endswith("elsewhere.dat")) | not'
    run nht1-profile --files there -- true
    expect_status 1
    expect_text "--files"
    # With --t-c, if nothing is written elsewhere: the run without writes would write that as well.
    run nht1-profile --t-c --json p.json --files here -- dd if=here/in.dat of=here/new.dat bs=1000
    expect_status 0
    expect_text "certified: the same"
    expect_json p.json '.profile | .written_bytes == 100000 and .read_bytes == 100000'
    # Folders that are opened, and a file that is only read and sent.
    run nht1-profile --t-c --force --json p.json --files here -- python3 -c 'import os, shutil
shutil.copyfile("here/in.dat", "here/sent.dat")
os.fsync(os.open("here", os.O_RDONLY))'
    expect_status 0
    expect_text "certified: the same"
    run nht1-profile --t-c --json p.json --files here -- dd if=here/in.dat of=other.dat bs=1000
    expect_status 4
    expect_text "no zeta: dd writes $PWD/other.dat, which is not below the folder of --files"
    expect_json p.json '.profile.not_seen[0].what == "outside"'
    # shellcheck disable=SC2016 # the program's own variable
    run nht1-profile --t-c --files here -- sh -c 'echo text >here/x.dat; [ "$NHT1_PROFILE_DROP" != 1 ] || echo >>other.dat || exit 0'
    expect_status 4
    expect_text "other.dat, which is not below the folder of --files"
    [ "$(stat -c %s other.dat)" -eq 100000 ]
}

@test "while writes are dropped every call answers as it would" {
    slow
    local word
    for word in calls names folders endings stdio again threads forks; do
        rm -rf plain "$word"
        mkdir plain "$word"
        (cd plain && mkposix "$word" f.dat)
        cd "$word"
        certified "$NHT1_TESTBIN/mkposix" "$word" f.dat
        cd ..
        [ "$word" = forks ] || diff -r plain "$word" # there processes append to one file at will
        diff <(cd plain && stat -c '%n %s %a' ./*) <(cd "$word" && stat -c '%n %s %a' ./*)
    done
}

@test "a process that forks while threads open files and flush all streams does not hang" {
    slow
    mkdir forking && cd forking
    certified timeout "$NHT1_HANG_S" "$NHT1_TESTBIN/mkposix" forking f.dat
    [ "$(stat -c %s f.dat.flush f.dat.child.9 f.dat)" = $'100000\n500\n5000' ]
}

@test "16 threads do not race for what the library knows of files (ThreadSanitizer)" {
    slow
    # Without the functions that stand before those of the C library, as do ThreadSanitizer's own: what is behind them.
    local settings=(-std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=thread)
    need_program setarch gcc
    echo 'int main(void) { return 0; }' >empty.c
    gcc "${settings[@]}" -o empty empty.c || not_here "no ThreadSanitizer"
    cat >race.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "companions/profile/preload/follow.h"

static char block[1000];
static int common;

static void put(int fd, int64_t at)
{
    const struct iovec one = {block, sizeof block};
    struct access a;
    if (!follow_access(&a, fd, true, at, sizeof block)) _exit(3);
    follow_over(&a, at < 0 ? write(fd, block, sizeof block) : pwrite(fd, block, sizeof block, at), &one, 1);
}

static void *work(void *arg)
{
    const int number = *(int *)arg;
    for (int i = 0; i < 100; i++) {
        char name[64], whole[PROFILE_PATH_MAX];
        snprintf(name, sizeof name, "f.dat.%d", i % 2 ? number : i);
        if (paths_whole(AT_FDCWD, name, true, whole) < 0 || !paths_followed(whole)) _exit(4);
        struct profile_before *note = paths_note(whole);
        const int fd = open(name, O_RDWR | O_CREAT, 0644);
        if (!note || fd < 0 || follow_add(fd, whole, O_RDWR, note, NULL) < 0) _exit(5);
        put(fd, -1);
        put(common, 1000 * (16 * i + number));
        follow_other(follow_find(fd), PROFILE_CLOSE, 0, count_now_ns());
        struct followed *f = follow_take(fd);
        close(fd);
        follow_end(f);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[16];
    int number[16];
    char whole[PROFILE_PATH_MAX];
    if (!count_setup()) return 2;
    follow_begin();
    common = open("f.dat", O_RDWR | O_CREAT, 0644);
    paths_whole(AT_FDCWD, "f.dat", true, whole);
    follow_add(common, whole, O_RDWR, paths_note(whole), NULL);
    for (int t = 0; t < 16; t++) {
        number[t] = 200 + t;
        if (pthread_create(&thread[t], NULL, work, &number[t]) != 0) return 2;
    }
    for (int t = 0; t < 16; t++)
        pthread_join(thread[t], NULL);
    printf("%d bytes in a call\n", (int)count_map()->slow[0].bytes);
    return 0;
}
END
    gcc "${settings[@]}" -I"$NHT1_ROOT" -o race race.c "$NHT1_ROOT"/companions/profile/preload/{count,follow,paths,table,timeline}.c -ldl -pthread
    mkdir counters
    run timeout -s KILL "$NHT1_HANG_S" env NHT1_PROFILE_DIR="$PWD/counters" setarch -R ./race
    expect_status 0
    expect_no_text "ThreadSanitizer"
    expect_text "1000 bytes in a call"
}

@test "inside I/O is the time with at least one process inside: of programs one after the other all of it" {
    run nht1-profile --t-c --json p.json -- sh -c 'for i in 1 2 3; do dd if=/dev/zero of=f$i bs=1M count=8 conv=fsync status=none; done'
    expect_status 0
    expect_schema nht1-profile-1 p.json
    expect_text "with at least one process inside"
    expect_text "of it with a process inside I/O"
    expect_json p.json '(.profile | .inside_any_s > .inside_max_s and
        (.inside_any_s - ([.ranks[].inside_s] | add) | fabs) < 1e-9)
        and .zeta.rounds[0].inside_any_s == .profile.inside_any_s
        and (.zeta | .rounds[0] as $r | (($r.inside_any_s - $r.inside_any_dropped_s) / $r.t_c_s - .zeta_io | fabs) < 1e-9)'
}

@test "processes that write at once are replayed one after the other, which is told" {
    need_program python3
    cat >at-once.py <<'END'
import os
import sys
a = os.open("a", os.O_WRONLY | os.O_CREAT, 0o644)
os.pwrite(a, bytes(20000), 0)
child = os.fork()
if child == 0:
    b = os.open("b", os.O_WRONLY | os.O_CREAT, 0o644)
    for i in range(40):
        os.pwrite(b, bytes(20000), 20000 * i)
    os._exit(0)
if sys.argv[1] == "meanwhile":  # until it has ended
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        os.pwrite(a, bytes(20000), 0)
else:
    os.waitpid(child, 0)
os.pwrite(a, bytes(20000), 0)
END
    at_once() {
        run env LD_PRELOAD="$NHT1_TESTBIN/delay.so" NHT1_DELAY_US=5000 nht1-profile -- \
            "$(python3 -c 'import sys; print(sys.executable)')" at-once.py "$1"
        expect_status 0
    }
    at_once meanwhile
    expect_text "Apart     processes that read or wrote at once are replayed one after the other; --accesses replays them at once"
    at_once before-and-after
    expect_no_text "Apart"
    # Siblings, whose calls need not overlap: the second begins, the first ends.
    cat >siblings.py <<'END'
import os
import sys
def child(name, before, after):
    pid = os.fork()
    if pid == 0:
        fd = os.open(name, os.O_WRONLY | os.O_CREAT, 0o644)
        os.pwrite(fd, b"a", 0)
        before()
        after()
        os.pwrite(fd, b"b", 1)
        os._exit(0)
    return pid
begun, ended = os.pipe(), os.pipe()
nothing = lambda: None
if sys.argv[1] == "at-once":
    children = [child("a", lambda: os.write(begun[1], b"x"), lambda: os.read(ended[0], 1))]
    os.read(begun[0], 1)
    children.append(child("b", lambda: os.write(ended[1], b"x"), nothing))
    for pid in children:
        os.waitpid(pid, 0)
else:
    for name in "ab":
        os.waitpid(child(name, nothing, nothing), 0)
END
    run nht1-profile -- python3 siblings.py at-once
    expect_text "Apart     processes that read or wrote at once are replayed one after the other"
    run nht1-profile -- python3 siblings.py one-after-the-other
    expect_status 0
    expect_no_text "Apart"
    # A process that only flushes changes nothing.
    run nht1-profile -- sh -c 'dd if=/dev/zero of=x bs=64k count=64 status=none & sync x /etc/hostname; sync -f .; wait'
    expect_status 0
    expect_no_text "Apart"
}

@test "files that mkstemp names are known by these names, each by itself, and have a zeta" {
    # Python chooses its names itself; this is the C library's call.
    cat >temporary.py <<'END'
import ctypes
import os
libc = ctypes.CDLL(None)
names = [ctypes.create_string_buffer(b"partXXXXXX") for i in range(2)]
for i, name in enumerate(names):
    fd = libc.mkstemp(name)
    os.write(fd, bytes(1000 * (i + 1)))
    os.close(fd)
for i, name in enumerate(names):
    fd = os.open(name.value, os.O_RDONLY)
    os.read(fd, 1000 * (i + 1))
    os.close(fd)
END
    certified "$(python3 -c 'import sys; print(sys.executable)')" temporary.py
    expect_json ../p.json '[.profile.points[] | .file] | length == 4 and (unique | length == 2) and all(test("part[[:alnum:]]{6}$") and (endswith("XXXXXX") | not))'
}

@test "a rename counts once, as one call" {
    need_program python3
    certified python3 -c "import os
for i in range(10):
    open('x', 'w').write('a')
    os.rename('x', 'y')"
    expect_json ../p.json '.profile.other.rename.n == 10'
    expect_text "Renamed   replays know a file by its name: what is written again under one that was renamed lies over it"
    run nht1-profile -- python3 -c "import os
for i in range(2):
    open('x%d' % i, 'w').write('a')
    f = open('x%d' % i, 'r+')
    f.read()
    f.close()
    os.rename('x%d' % i, 'y%d' % i)"
    expect_status 0
    expect_no_text "Renamed"
}

@test "10,000 files have a zeta" {
    slow
    mkdir many && cd many
    certified "$NHT1_TESTBIN/mkposix" many f.dat
    expect_json ../p.json '.zeta.dropped_bytes == 100000 and .profile.lost_n == 0'
    [ "$(cat f.dat.* | wc -c)" -eq 100000 ]
}

@test "what the run with writes has left stays as it is, times and all" {
    # shellcheck disable=SC2016 # the program's own variables
    run nht1-profile --t-c --repeat 2 -- sh -c 'dd if=/dev/zero of=d.dat bs=10000 count=10 status=none
        [ "$NHT1_PROFILE_DROP" = 1 ] || LD_PRELOAD= stat -c "%s %y %i" d.dat >&7' 7>stats
    [ "$status" -eq 4 ] # stat does not see the library
    expect_text "its LD_PRELOAD was changed"
    run nht1-profile --t-c -- dd if=/dev/zero of=d.dat bs=10000 count=10 status=none
    expect_status 0
    [ "$(stat -c %s d.dat)" -eq 100000 ]
    run nht1-profile --t-c --repeat 2 -- dd if=/dev/zero of=d.dat bs=10000 count=10 status=none
    expect_status 4
    # At the end, where it is seen, behind what is told of the profile.
    [[ ${lines[-1]} == "nht1-profile: "*"d.dat was there before the first run and is written: remove it"* ]]
    run nht1-profile --t-c --repeat 2 --between 'rm d.dat' -- dd if=/dev/zero of=d.dat bs=10000 count=10 status=none
    expect_status 0
    run nht1-profile --t-c --repeat 2 -- "$NHT1_TESTBIN/mkposix" names n.dat
    expect_status 0
    [ "$(stat -c %s n.dat)" -eq 3000 ]
    [ ! -e n.dat.d ]
}

@test "without its writes a program changes no mode, no times and no attributes of files" {
    echo before >f.dat.before
    echo old >f.dat.old
    chmod 755 f.dat.old
    touch -d @1000000000 f.dat.old
    run nht1-profile --t-c -- "$NHT1_TESTBIN/mkposix" attributes f.dat
    expect_status 0
    expect_text "certified: the same"
    expect_text "$(stat -c '%n %a %Y %.9Z' f.dat)"
    expect_text "$(stat -c '%n %a %Y %.9Z' f.dat.before)"
    [ "$(echo f.dat*)" = "f.dat f.dat.before f.dat.old" ]
}

@test "interrupted without its writes the program leaves what the run with writes has made" {
    nht1-profile --t-c -- "$NHT1_TESTBIN/mkposix" waits w.dat 3>&- 2>err &
    profiler=$!
    dropped() { [ -n "$(find . -path '*.dropped/process-*')" ] && [ ! -e waiting ]; }
    wait_until -p $profiler dropped
    stat -c '%s %y %i' w.dat >before
    kill -TERM $profiler
    status=0
    wait $profiler || status=$?
    [ "$status" -eq 4 ]
    grep -F "stopped while the program ran with its writes dropped" err
    [ "$(stat -c %s w.dat)" -eq 1000 ]
    diff before <(stat -c '%s %y %i' w.dat)
    [ ! -e waiting ]
    [ -z "$(find . -name '*.run-*' -o -name '.nht1-*')" ]
}

@test "flushes that working points have not are told, also those of O_SYNC and O_DSYNC" {
    run nht1-profile -- sh -c 'dd if=/dev/zero of=a count=3 conv=fsync
        dd if=/dev/zero of=b count=3 oflag=sync; dd if=/dev/zero of=c count=3 oflag=dsync'
    expect_text "per process on average in flushing, 1 call in all, which"
    expect_text "2 openings with O_SYNC or O_DSYNC: each write flushes"
    run nht1-profile -- sh -c 'dd if=/dev/zero of=a count=3'
    [[ $output != *flushes* ]]
}

@test "flushing by programs that write nothing is I/O of the command, also that of folders" {
    mkdir flush && cd flush
    certified sh -c 'dd if=/dev/zero of=o bs=1000 count=1 status=none; sync; sync -f .; sync .'
    expect_text "4 processes with I/O"
    expect_json ../p.json '.profile | .other.sync.n == 3 and .other.sync.total_s > 0
        and (.inside_any_s - ([.ranks[].inside_s] | add) | fabs) < 1e-9
        and ([.ranks[] | select(.program == "sync" and .inside_s > 0)] | length) == 3'
}

@test "without its writes a program flushes neither folders nor file systems" {
    need_program strace python3
    mkdir flush && cd flush
    run strace -f -y -e trace=fsync,syncfs,sync -o ../calls nht1-profile --t-c --json ../p.json -o ../p.xml -- python3 -c "import ctypes, os
f = open('o', 'w')
f.write('x' * 100)
f.flush()
folder = os.open('.', os.O_RDONLY)
os.fsync(folder)
assert ctypes.CDLL(None).syncfs(folder) == 0
os.sync()"
    [ -s ../calls ] || not_permitted "to trace system calls"
    expect_status 0
    expect_text "certified: the same"
    expect_json ../p.json '.profile.other.sync.n == 3'
    [ "$(grep -cE ' (fsync\([0-9]*<[^>]*/flush>|syncfs\(|sync\()' ../calls)" -eq 3 ]
}

@test "names and sizes that change by numbers of system calls are followed, appended pieces lie where they came to lie" {
    mkdir by && cd by
    echo old >f.dat
    run nht1-profile --t-c --accesses ../a.jsonl -o ../p.xml -- "$NHT1_TESTBIN/mkposix" by-number f.dat
    expect_status 0
    expect_text "certified: the same"
    [ "$(ls)" = f.dat ]
    [ "$(stat -c %s f.dat)" -eq 13540 ]
    [ "$(jq -c 'select(.call == "pwrite" and .bytes < 10000) | [.offset, .bytes]' ../a.jsonl | tr -d '\n')" = "[20000,10][30,20][10000,3000][13000,500]" ]
}

@test "files that mknod makes are as those of open; FIFOs are made where the program makes them; one in the place of a file is told" {
    slow
    mkdir made && cd made
    : >empty.lock # which was there before, and is opened for writing
    run nht1-profile --t-c --repeat 2 -o ../p.xml -- python3 -c "import errno, fcntl, os
fcntl.lockf(open('empty.lock', 'a'), fcntl.LOCK_EX)
def fails(why, call, *arguments):
    try:
        call(*arguments)
    except OSError as e:
        assert e.errno == why, e
    else:
        raise AssertionError(arguments)
os.mknod('lock')
open('o', 'w').write('x' * 100)
os.remove('lock')
os.mknod('a')
os.rename('a', 'b')
open('b', 'r+').write('y' * 50)
fails(errno.ENOENT, os.mkfifo, 'd/p')
os.mkdir('d')
fails(errno.ENOENT, os.remove, 'd/q')
fails(errno.ENOENT, open, 'd/q')
assert not os.path.exists('d/q') and os.listdir('d') == []
os.mkfifo('d/q')
assert os.path.exists('d/q') and os.listdir('d') == ['q']
fails(errno.EEXIST, os.mkfifo, 'd/q')
os.remove('d/q')
os.mkfifo('d/q')
fails(errno.EEXIST, os.mkfifo, 'o')"
    expect_status 0
    expect_text "certified: the same"
    [ "$(wc -c b o | tr -s ' \n' ' ')" = " 50 b 100 o 150 total " ]
    [ "$(find . | sort | paste -sd' ')" = ". ./b ./d ./d/q ./empty.lock ./o" ] && [ -p d/q ]
    refused "no zeta: mkfifo has made, renamed or removed a link, renamed a folder, renamed or removed a special file (FIFO, device, socket) or put one in the place of a file: $PWD/p, which is not followed" \
        sh -c 'echo t >p; rm p; mkfifo p; echo u >f'
    # The other order, one that was there before, and one whose name is another in each run.
    refused "no zeta: mkfifo has made" sh -c 'mkfifo x; rm x; echo u >x'
    refused "no zeta: rm has made" sh -c 'rm p; mkfifo p; echo u >f'
    # shellcheck disable=SC2016
    certified sh -c 'mkfifo p.$$ && rm p.$$ && echo u >f'
}

@test "a process that writes little takes little room for its counters" {
    run nht1-profile --keep -- sh -c 'for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=f$i bs=1000 count=1; done'
    expect_status 0
    [ "$(du -k profile.xml.run-*/process-* | awk '$1 > most { most = $1 } END { print most }')" -le 48 ]
    rm -r profile.xml.run-*
}

@test "what a command leaves behind is waited for, and told where it runs on" {
    mkfifo go
    # It ends while it is waited for.
    run nht1-profile --json p.json -- sh -c 'echo a >a; { sleep 0.3; echo late >>a; } &'
    expect_status 0
    expect_json p.json '.profile | .written_bytes == 7 and .not_seen == [] and .wall_s >= 0.3'
    # So does what has another title, and has not written before.
    run nht1-profile --json p.json -- sh -c 'echo a >a; "$0" titled late &' "$NHT1_TESTBIN/mkposix"
    expect_status 0
    expect_json p.json '.profile | .written_bytes == 7 and .not_seen == [] and .wall_s >= 0.3'
    # What ends while the command runs leaves no zombies: asked behind one of them.
    run nht1-profile --quiet -- sh -c 'echo a >a; for i in 1 2 3; do (true &); done; while ps -o stat= --ppid $PPID | grep -q ^Z; do sleep 0.01; done'
    expect_status 0
    refused "sh, which the program has started, still ran when the command had ended" \
        sh -c 'echo a >a; { read line; echo $line >>a; } >/dev/null 2>&1 3>&- <go &'
    expect_json p.json '.profile.not_seen[0].what == "behind"'
    echo late >go
    # What a shell has started in the place of which nht1-profile runs is not the command's.
    run bash -c 'cat >/dev/null 2>&1 3>&- <go & exec nht1-profile --t-c -- sh -c "echo a >a"'
    echo end >go
    expect_status 0
    expect_text "certified: the same"
    # Nor is what --between has.
    rm a
    run nht1-profile --t-c --repeat 2 --between 'rm a; tail -f /dev/null >/dev/null 2>&1 3>&- & echo $! >>pids' -- sh -c 'echo a >a'
    # shellcheck disable=SC2046 # two numbers
    kill $(cat pids)
    expect_status 0
}

@test "a run that is ended among others ends what its shell has left, before files get their names again" {
    slow
    cat >job.sh <<'END'
echo "$NHT1_PROFILE_DROP" >&7
n=$(grep -c 0 runs)
echo "$n" >"$1"
[ "$NHT1_PROFILE_DROP$n" != 02 ] || kill -TERM "$2"
i=0
while [ "$NHT1_PROFILE_DROP$n" = 02 ] && [ $i -lt 600 ]; do
    echo late >"$1"
    sleep 0.1
    i=$((i + 1))
done
END
    # Names of 250 bytes can be set aside, too.
    local name
    name=$(printf 'x%.0s' {1..250})
    # shellcheck disable=SC2016 # the program's own variables
    run nht1-profile --t-c --repeat 2 -- sh -c 'sh -c "sh job.sh \$0 \$1 2>/dev/null; exit" "$0" $PPID; exit' "$name" 7>>runs
    [ "$status" -ne 0 ]
    expect_text "the run with writes failed: the files are those of the one before"
    [ "$(cat "$name")" = 1 ]
    [ -z "$(find . -name '*.before-*')" ]
    sleep 0.3
    [ "$(cat "$name")" = 1 ]
}

@test "what cannot be seen is told, and there is no zeta" {
    refused "has mapped" "$NHT1_TESTBIN/mkposix" mmap f.dat
    [ "$(stat -c %s f.dat)" -eq 10000 ]
    refused "1000 bytes by system calls of its own" "$NHT1_TESTBIN/mkposix" direct f.dat
    refused "uses io_uring" "$NHT1_TESTBIN/mkposix" uring f.dat
    refused "read other data from $PWD/f.dat in one run than in the other; does it read what it writes over or removes later?" "$NHT1_TESTBIN/mkposix" twice f.dat
    refused "before it wrote or removed it" "$NHT1_TESTBIN/mkposix" early f.dat
    refused "wrote $PWD/f.dat 402 times in one run and 2 in the other" "$NHT1_TESTBIN/mkposix" differs f.dat
    refused "made, renamed or removed a link" ln -s f.dat l.dat
    mkfifo q
    refused "renamed or removed a special file (FIFO, device, socket) or put one in the place of a file: $PWD/r, which" mv q r
    refused "opened" "$NHT1_TESTBIN/mkposix" borrowed b.dat
    refused "opened" "$NHT1_TESTBIN/mkposix" spawned f.dat
    refused "opened or changed f.dat by a call that is not seen" "$NHT1_TESTBIN/mkposix" ccs f.dat
    # Without --t-c it is told as well, and the status is the program's.
    run nht1-profile -- "$NHT1_TESTBIN/mkposix" mmap f.dat
    expect_status 0
    expect_text "Not seen  mkposix has mapped"
}

@test "what a program writes from another root folder or as another user is told not to be seen" {
    local word
    need_root "another root folder and user"
    mkdir there
    for word in away other-user; do
        run nht1-profile -- "$NHT1_TESTBIN/mkposix" "$word" there
        expect_status 0
        expect_text "has changed its root folder or its user"
    done
    rm -r there/*
    run nht1-profile --json p.json -- "$NHT1_TESTBIN/mkposix" calls f.dat
    expect_json p.json '.profile.not_seen == []'
}

@test "what lists a folder past the library is told where it would show other files" {
    run nht1-profile --t-c --json p.json -- "$NHT1_TESTBIN/mkposix" walks f.dat
    expect_status 4
    expect_text "no zeta: mkposix has listed $PWD/f.dat.d by fts, nftw or getdents64"
    expect_json p.json '.profile.not_seen == []' # the run with writes has seen what is there
}

@test "a program does not see the folder of the counters, and an archive of the folder that it works in is whole" {
    need_program python3 tar
    mkdir user && cd user
    echo text >in.dat
    cat >../list.py <<'END'
import ctypes, glob, os
names = sorted(os.listdir(".")), sorted(glob.glob("*") + glob.glob(".*")), sorted(e.name for e in os.scandir("."))
entry = ctypes.POINTER(ctypes.c_void_p)()
n = ctypes.CDLL(None).scandir(b".", ctypes.byref(entry), None, None)
with open("out.dat", "w") as f:
    print(*names, n, file=f)
assert sorted(os.listdir(".")) == ["in.dat", "out.dat"]
END
    run nht1-profile -- "$(python3 -c 'import sys; print(sys.executable)')" ../list.py
    expect_status 0
    [ "$(cat out.dat)" = "['in.dat'] ['in.dat'] ['in.dat'] 3" ]
    rm out.dat profile.xml
    run nht1-profile --t-c --json ../p.json -- "$(python3 -c 'import sys; print(sys.executable)')" ../list.py
    expect_status 0
    expect_text "certified: the same"
    rm profile.xml
    run nht1-profile --t-c -- bash -c 'ls -a >../ls.dat; echo * >../star.dat; find . >../find.dat; tar cf ../t.tar .'
    expect_status 0
    [ "$(paste -sd' ' ../ls.dat)" = ". .. in.dat out.dat" ]
    [ "$(cat ../star.dat)" = "in.dat out.dat" ]
    [ "$(sort ../find.dat | paste -sd' ')" = ". ./in.dat ./out.dat" ]
    [ "$(tar tf ../t.tar | sort | paste -sd' ')" = "./ ./in.dat ./out.dat" ]
}

@test "temporary folders of a Python script, and trees that rm -r removes, have a zeta" {
    slow
    need_program python3
    cat >s.py <<'END'
import os, shutil, tempfile
with tempfile.TemporaryDirectory(dir=".") as d:
    for i in range(5):
        with open(os.path.join(d, "%d.tmp" % i), "wb") as f:
            f.write(bytes(1000))
    os.mkdir(os.path.join(d, "deep"))
    with open(os.path.join(d, "deep", "x"), "wb") as f:
        f.write(bytes(100))
    assert sorted(os.listdir(d)) == ["%d.tmp" % i for i in range(5)] + ["deep"]
    assert sum(len(files) for _, _, files in os.walk(d)) == 6
    back = os.getcwd()
    os.chdir(d)
    with open("here.dat", "w") as f:
        f.write("x" * 10)
    assert os.path.getsize("here.dat") == 10 and os.path.exists("../s.py") and len(os.listdir()) == 7
    os.chdir("..")
    assert os.getcwd() == back
assert not os.path.exists(d)
END
    run nht1-profile --t-c --repeat 2 --json p.json -- "$(python3 -c 'import sys; print(sys.executable)')" s.py
    expect_status 0
    expect_text "certified: the same"
    [ -z "$(find . -maxdepth 1 -name 'tmp*')" ]
    # shellcheck disable=SC2016 # the inner shell's variable
    run nht1-profile --t-c --json p.json -- sh -c 'mkdir -p a/b/c; for f in a/1 a/b/2 a/b/c/3; do echo text >$f; done; ls -R a; rm -r a; echo end >z.dat'
    expect_status 0
    expect_text "certified: the same"
    [ "$(cat z.dat)" = end ] && [ ! -e a ]
}

@test "a removed file that is opened by its number once more is counted" {
    mkdir in && cd in
    certified "$NHT1_TESTBIN/mkposix" removed f.dat
    expect_json ../p.json '.profile.written_bytes == 1435 and .zeta.dropped_bytes == 1435'
}

@test "what is printed without writes goes to what is of the same kind, and its end alone is kept" {
    cat >print.sh <<'END'
[ "$1" /proc/$$/fd/1 ] || exit 1
seq 100000
ls "$NHT1_PROFILE_DIR" >&8
echo >out
END
    exec 8>>listed
    nht1-profile --t-c -- sh print.sh -p | cat >all
    rm out
    nht1-profile --t-c -- sh print.sh -c >/dev/null
    rm out
    nht1-profile --t-c -- sh print.sh -f >all
    exec 8>&-
    run nht1-profile --t-c -- sh -c 'echo >out; seq 100000; [ "$NHT1_PROFILE_DROP" != 1 ]'
    expect_status 4
    cmp profile.xml.run-*.output <(seq 100000 | tail -c 65536)
    rm profile.xml.run-*.output
    [ "$(grep -cx output listed)" -eq 0 ] || not_here "files without a name cannot be made here"
}

@test "an input that is opened for writing, too, and only read is left as it is" {
    echo 7 >in
    run nht1-profile --t-c --repeat 2 -- sh -c 'read -r x <>in; echo $x >out' # as Fortran opens it
    expect_status 0
    expect_text "certified"
    [ "$(cat in out)" = $'7\n7' ]
    rm out
    touch -d '2020-01-01 00:00:00' in # as out of an archive
    run nht1-profile --t-c --repeat 2 -- sh -c 'read -r x <>in; echo $x >out'
    expect_status 0
    rm out
    run nht1-profile --t-c --repeat 2 -- sh -c 'read -r x <>in; echo $((x + 1)) >in; touch -d "2020-01-01 00:00:00" in; echo $x >out'
    expect_status 4
    [ "$(cat in)" = 8 ]
    rm out
    run nht1-profile --t-c --repeat 2 -- sh -c 'read -r x <>in; echo $x >out; echo 8 >in'
    expect_status 4
}

@test "what a process writes and reads by descriptors that it was given of a removed file is counted" {
    mkdir in && cd in
    cat >scratch.sh <<'END'
exec 3>tmp 4<tmp
rm tmp
dd if=/dev/zero bs=1000 count=20 status=none >&3
md5sum <&4 >res
END
    certified sh scratch.sh
    expect_json ../p.json '.profile.written_bytes == 20036 and .profile.read_bytes == 20000 and .profile.not_seen == []'
}

@test "where descriptors or the length of a path are too few, that is said" {
    slow
    local folder
    run nht1-profile --t-c -- "$NHT1_TESTBIN/mkposix" few f.dat
    expect_status 4
    expect_text "mkposix had no file descriptor left to follow $PWD/f.dat.2"
    expect_text "ulimit -n"
    rm -r profile.xml*
    folder=$(printf %0250d 0)
    # shellcheck disable=SC2016 # the inner shell's variables
    refused "whose path is too long to be followed" \
        sh -c 'for i in $(seq 16); do mkdir "$1"; cd -P "$1"; done; mkdir "$1"' - "$folder"
    expect_json p.json '.profile.not_seen[0].what == "long"'
    # What is refused is nothing that has to be followed.
    run nht1-profile --force --t-c -- sh -c 'mkdir "$1"; echo text >f.dat' - "$(printf %05000d 0)"
    expect_status 0
    expect_text "certified: the same"
}

@test "what was not seen is told once, the first kinds where there is no room for all" {
    # shellcheck disable=SC2016 # the parameters of the inner shell
    run nht1-profile --json p.json -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do "$1" tmpfile f.dat; done
        "$1" mmap g.dat; "$1" mmap g.dat' - "$NHT1_TESTBIN/mkposix"
    expect_json p.json '.profile.not_seen | (unique | length) == length and .[0].what == "mapped"'
}

@test "files that never have a name are told, and there is no zeta" {
    slow
    refused "writes a file that never had a name" "$NHT1_TESTBIN/mkposix" tmpfile f.dat
    expect_json p.json '.profile.not_seen[0].what == "nameless"'
    run "$NHT1_TESTBIN/mkposix" o-tmpfile f.dat
    [ "$status" -eq 77 ] || refused "writes a file that never had a name ($PWD;" "$NHT1_TESTBIN/mkposix" o-tmpfile f.dat
    mkdir memory && cd memory
    certified "$NHT1_TESTBIN/mkposix" memory f.dat # it is none
}

@test "a statically linked program is told from one that writes nothing" {
    need_program gcc
    echo 'int main(void) { return 0; }' >empty.c
    gcc -static -o empty empty.c || not_here "no static C library"
    refused "statically linked" sh -c 'echo text >t.dat; ./empty'
    # A script for it, and a script for that.
    printf '#!%s/empty\n' "$PWD" >one.sh
    printf '#! %s/one.sh -x\n' "$PWD" >two.sh
    chmod +x one.sh two.sh
    refused "two.sh, into which no library can be loaded" sh -c 'echo text >t.dat; ./two.sh'
    run nht1-profile -- true
    expect_status 0
    expect_text "no process was seen to open a file for writing"
    # With --t-c as well, without a second run: there is nothing to drop. No folder stays.
    run nht1-profile --t-c -- sh -c 'ls | wc -l; echo run >&7' 7>>runs
    expect_status 4
    expect_text "no process was seen to open a file for writing: does it write none"
    expect_no_text "zeta cannot be measured"
    [ "$(cat runs)" = run ]
    [ -z "$(find . -name 'profile.xml.run*')" ]
}

@test "a folder that was there stays where the program tries to open it for writing" {
    mkdir in
    echo k >in/k
    run nht1-profile --t-c -- sh -c 'touch in; { echo x >in; } 2>y || cat in/k; ls in >z; seq 5 >in/x'
    expect_status 0
    expect_text "certified: the same"
    [ "$(cat z in/k)" = $'k\nk' ]
}

@test "why there is no zeta, or no profile: the program failed, LD_PRELOAD ends names at a blank" {
    run nht1-profile --t-c -- sh -c 'echo a >f; exit 3'
    expect_status 3
    expect_text "no zeta: the program ended with status 3"
    mkdir -p "a b/bin" "a b/lib/nht1"
    cp "$NHT1_BIN/nht1-profile" "a b/bin"
    cp "$NHT1_BIN/../lib/nht1/libnht1-profile.so" "a b/lib/nht1"
    run "a b/bin/nht1-profile" -- sh -c 'echo a >g'
    expect_status 1
    expect_text "its path has a blank or a colon: install nht1 in another folder"
    [ ! -e g ]
}

@test "the file in which Java shows its state costs no zeta" {
    local shown
    mkdir java && cd java
    shown=$(mktemp -d /tmp/hsperfdata_XXXXXX)
    certified python3 -c "import mmap, os
with open('$shown/1', 'w+b') as f: # as the virtual machine does it
    f.truncate(8192)
    f.write(b'x')
    mmap.mmap(f.fileno(), 8192)[:3] = b'abc'
os.remove('$shown/1')
open('o', 'w').write('x' * 100)"
    rmdir "$shown"
    expect_json ../p.json '.profile.written_bytes == 100'
}

@test "a program that writes to a pipe by stdio has a zeta" {
    mkdir in && cd in
    certified "$NHT1_TESTBIN/mkposix" piped f.dat
    [ "$(stat -c %s f.dat)" -eq 7 ]
}

@test "cp, tar and cat have a zeta, and leave what they leave by themselves" {
    head -c 3000000 /dev/urandom >in.dat
    mkdir cp tar cat
    cd cp
    certified cp ../in.dat copy.dat
    cmp ../in.dat copy.dat
    cd ../tar
    certified tar cf t.tar -C .. in.dat
    tar xOf t.tar in.dat | cmp - ../in.dat
    # Where Linux refuses to copy inside the kernel the programs read and write. A lock is opened for reading, and made.
    certified flock lock sh -c 'cat ../in.dat >>t.tar; seq 100 >part; cat part >>all'
    if [ -w /dev/shm ] && [ "$(stat -c %d /dev/shm)" != "$(stat -c %d .)" ]; then
        cp ../in.dat /dev/shm/nht1-$$.dat
        certified cp /dev/shm/nht1-$$.dat other.dat
        rm /dev/shm/nht1-$$.dat
    fi
    cd ../cat
    certified sh -c 'cat ../in.dat ../in.dat >twice.dat; mv twice.dat two.dat; wc -c <two.dat'
    cat ../in.dat ../in.dat | cmp - two.dat
    # Whether the kernel copies what is read depends on where standard output goes, which is not followed.
    nht1-profile --t-c -- sh -c 'cp ../in.dat three.dat; cat three.dat' >../seen 2>../said
    nht1-profile --t-c -- sh -c 'cp ../in.dat three.dat; cat three.dat' >>../seen 2>>../said
    [ "$(grep -c "certified: the same" ../said)" -eq 2 ]
    cat ../in.dat ../in.dat | cmp - ../seen
}

@test "sqlite3 has a zeta, and leaves what it leaves by itself" {
    slow
    need_program sqlite3
    mkdir db && cd db
    certified sqlite3 t.db 'begin; create table t(a); insert into t values (1), (2), (3); commit; select sum(a) from t;'
    [ "$(sqlite3 t.db 'select sum(a) from t')" = 6 ]
}

@test "a file that was there, renamed and read, and the time of one that is being written" {
    mkdir rotated && cd rotated
    echo 1 >conf
    run nht1-profile --t-c -- bash -c 'mv conf conf.bak; sed s/1/2/ conf.bak >conf
        exec 3>log; echo a >&3; sleep 0.1; touch mark; sleep 0.1; echo b >&3; [ log -nt mark ]
        touch mark; sleep 0.1; truncate -s 1 log; [ log -nt mark ]'
    expect_status 0
    expect_text "certified: the same"
    [ "$(cat conf.bak conf)" = $'1\n2' ]
}

@test "what the handler of a signal writes is told, and not done without writes" {
    slow
    need_program gcc
    # In each way that the word names, and only without writes where it says so.
    cat >h.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static FILE *log_file;
static const char *way;
static void work(int number)
{
    char name[] = "tempXXXXXX";
    (void)number;
    if (strcmp(way, "opens") == 0) close(open("kept", O_WRONLY | O_TRUNC));
    if (strcmp(way, "prints") == 0) fprintf(log_file, "step\n"), fflush(log_file);
    if (strcmp(way, "shortens") == 0 && ftruncate(fileno(log_file), 1)) _exit(2);
    if (strcmp(way, "links") == 0) (void)!symlink("kept", "link");
    if (strcmp(way, "makes") == 0) (void)!mkfifo("fifo", 0600);
    if (strcmp(way, "names") == 0) close(mkstemp(name));
    if (strcmp(way, "reopens") == 0) (void)!freopen("kept", "w", stdin);
    if (strcmp(way, "moves") == 0) rename("kept", "moved");
    if (strcmp(way, "closes") == 0) fclose(log_file);
    jmp_buf here;
    if (strcmp(way, "jumps") == 0 && setjmp(here) == 0) longjmp(here, 1);
    if (strcmp(way, "jumps") == 0) remove("kept");
    if (strcmp(way, "copies") == 0) sendfile(fileno(log_file), open("h.c", O_RDONLY), NULL, 9);
    if (strcmp(way, "allows") == 0) chmod("kept", 0400);
    if (strcmp(way, "numbers") == 0) syscall(SYS_unlinkat, AT_FDCWD, "kept", 0);
    if (strcmp(way, "descriptors") == 0) close(open("/proc/self/fd/3", O_WRONLY | O_TRUNC));
    if (strcmp(way, "doubles") == 0) write(dup(fileno(log_file)), "again", 5);
}
int begin(const char *how, FILE *file)
{
    way = how;
    log_file = file;
    return signal(SIGUSR1, work) == SIG_ERR;
}
END
    cat >m.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int begin(const char *how, FILE *file);
int main(int n, char **word)
{
    FILE *log = fopen("log", "w"), *kept = fopen("kept", "w");
    if (n < 2 || begin(word[1], log)) return 1;
    fprintf(log, "the first line\n");
    fflush(log);
    fprintf(kept, "content\n");
    fclose(kept);
    const char *dropping = n > 2 ? getenv(word[2]) : "1";
    if (dropping && strcmp(dropping, "1") == 0) raise(SIGUSR1);
    return 0;
}
END
    gcc -w -shared -fPIC -o libh.so h.c
    gcc -w -o m m.c -L. -lh -Wl,-rpath,"$PWD"
    local way ways=(opens prints shortens links makes names reopens moves closes doubles copies allows numbers descriptors jumps)
    refused "m has opened or changed $PWD/log by a call that is not seen" ./m prints
    [ "$(cat log)" = $'the first line\nstep' ]
    for way in "${ways[@]}"; do
        ln m "m.$way"
    done
    run nht1-profile --t-c --keep -- sh -c 'for way in "$@"; do ./m.$way $way NHT1_PROFILE_DROP; done' sh "${ways[@]}"
    expect_status 4
    expect_text "no zeta: m."
    [ "$(cat profile.xml.run*/unseen-opened-* | grep -c '^m\.')" -eq "${#ways[@]}" ]
    [ "$(cat kept log)" = $'content\nthe first line' ]
    [ -z "$(find . -name 'temp*' -o -name moved -o -type l -o -type p -o -name kept -perm 400)" ]
}

@test "handlers of signals are those of the program, and what comes behind them is followed" {
    need_program gcc
    cat >j.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static sigjmp_buf back;
static int seen;
static void jumps(int number, siginfo_t *info, void *context)
{
    seen += info->si_signo == number && context;
    siglongjmp(back, 1);
}
static void counts(int number) { seen += number == SIGUSR2; }
static void looks(int number, siginfo_t *info, void *context) { seen += number == SIGHUP && info && context; }
static void asks(int number) { struct stat st; seen += number == SIGQUIT && stat("/", &st) == 0; }
static void *writes(void *nothing)
{
    const int fd = open("thread", O_WRONLY | O_CREAT, 0644);
    struct stat st;
    if (write(fd, "thread", 6) != 6 || stat("thread", &st) || rename("thread", "moved")) exit(16);
    return nothing;
}
static void ends(int number) { exit(number != SIGTERM || seen != 5); }
int main(void)
{
    struct sigaction full = {.sa_flags = SA_SIGINFO}, was;
    full.sa_sigaction = jumps;
    if (sigaction(SIGUSR1, &full, &was) || was.sa_handler != SIG_DFL) return 2;
    if (sigaction(SIGUSR1, NULL, &was) || was.sa_sigaction != jumps || !(was.sa_flags & SA_SIGINFO)) return 3;
    if (signal(SIGUSR2, counts) != SIG_DFL || signal(SIGUSR2, counts) != counts) return 4;
    if (sigaction(SIGKILL, &full, NULL) == 0 || signal(0, counts) != SIG_ERR) return 5;
    if (!sigsetjmp(back, 1)) raise(SIGUSR1);
    raise(SIGUSR2);
    /* Linux passes all three to any handler. */
    if (signal(SIGHUP, (sighandler_t)looks) != SIG_DFL || raise(SIGHUP)) return 9;
    /* On stacks that would do without the profiler. */
    static char stack[1 << 14];
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction there = {.sa_handler = asks, .sa_flags = SA_ONSTACK};
    pthread_attr_t least;
    pthread_t thread;
    stack_t is;
    if (sigaltstack(&other, NULL) || sigaltstack(NULL, &is) || is.ss_sp != stack || is.ss_size != sizeof stack) return 12;
    if (sigaction(SIGQUIT, &there, NULL) || raise(SIGQUIT)) return 13;
    for (size_t i = 0; i < sizeof stack; i++)
        if (stack[i]) return 14;
    pthread_attr_init(&least);
    if (pthread_attr_setstacksize(&least, PTHREAD_STACK_MIN) || pthread_create(&thread, &least, writes, NULL) ||
        pthread_join(thread, NULL)) return 15;
    /* Out of a call that waits for ever. */
    full.sa_flags &= ~SA_RESTART;
    if (sigaction(SIGALRM, &full, NULL)) return 10;
    if (!sigsetjmp(back, 1)) {
        setitimer(ITIMER_REAL, &(struct itimerval){{0}, {0, 1000}}, NULL);
        open("fifo", O_RDONLY);
        return 11;
    }
    FILE *file = fopen("behind", "w");
    if (!file || fprintf(file, "written\n") != 8) return 6;
    if (signal(SIGTERM, ends) != SIG_DFL || signal(SIGUSR1, SIG_IGN) != (sighandler_t)jumps) return 7;
    raise(SIGTERM);
    return 8;
}
END
    gcc -w -o j j.c
    mkdir run && cd run
    mkfifo fifo
    certified ../j
    [ "$(cat behind)" = written ]
    expect_json ../p.json '.zeta.dropped_bytes == 14'
    # Out of a call of which half is counted, at last: that is noted.
    cat >l.c <<'END'
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
static sigjmp_buf back;
static void jumps(int number) { (void)number, siglongjmp(back, 1); }
int main(void)
{
    const struct itimerval soon = {{0}, {0, 200}};
    char pattern[4200];
    glob_t found = {0};
    const int fd = open("data", O_WRONLY | O_CREAT, 0644);
    snprintf(pattern, sizeof pattern, "%s/unseen-jump-%d", getenv("NHT1_PROFILE_DIR"), (int)getpid());
    signal(SIGALRM, jumps);
    while (glob(pattern, 0, NULL, &found) != 0) {
        if (sigsetjmp(back, 1)) continue;
        setitimer(ITIMER_REAL, &soon, NULL); /* not before there is a place to jump to */
        for (;;)
            if (pwrite(fd, "data", 4, 0) != 4) return 1;
    }
    return write(fd, "end", 3) != 3;
}
END
    gcc -o l l.c
    refused "l has left a call that was being counted, by the handler of a signal that does not return" ./l
}

@test "a run without writes that does not end is ended, and that is told" {
    slow
    run nht1-profile --t-c -- bash -c 'echo here >note; until grep -q here note; do sleep 0.1; done; ! [ "$NHT1_PROFILE_DROP" = 1 ] || sleep 999'
    expect_status 4
    expect_text "with its writes dropped the program had not ended after "
    [ "$(cat note)" = here ]
    ! pgrep -f 'sleep 999'
}

@test "an alarm that the profiler was started with ends it" {
    need_program perl
    mkfifo fifo
    local rc=0
    perl -e 'alarm 1; exec @ARGV' nht1-profile -- sh -c 'read -r word <fifo' >/dev/null 2>&1 || rc=$?
    exec 9<>fifo && echo word >&9 # what it had started goes on, and ends
    [ "$rc" -eq 142 ]
}

@test "a thread that is cancelled, or leaves a handler by pthread_exit, leaves nothing locked" {
    need_program gcc
    cat >c.c <<'END'
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
static atomic_int written;
static void *writes(void *nothing)
{
    char name[32];
    for (int i = 0;; i = (i + 1) % 9) {
        snprintf(name, sizeof name, "data.%d", i);
        const int fd = open(name, O_WRONLY | O_CREAT, 0644);
        if (write(fd, "data", 4) != 4) return nothing;
        written++;
        close(fd);
        rename(name, "data");
    }
}
static void leaves(int number)
{
    (void)number;
    pthread_exit(NULL);
}
int main(void)
{
    const struct itimerval soon = {{0}, {0, 200}};
    char note[4200]; // that a call was left half counted
    glob_t found = {0};
    pthread_t thread;
    sigset_t alarms;
    snprintf(note, sizeof note, "%s/unseen-jump-%d", getenv("NHT1_PROFILE_DIR"), (int)getpid());
    signal(SIGALRM, leaves);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    for (int i = 0; i < 40 || glob(note, 0, NULL, &found) != 0; i++) {
        const int before = written;
        if (pthread_create(&thread, NULL, writes, NULL)) return 1;
        pthread_sigmask(SIG_BLOCK, &alarms, NULL); // of this one alone
        while (written < before + 3)
            sched_yield();
        if ((i % 2 ? setitimer(ITIMER_REAL, &soon, NULL) : pthread_cancel(thread)) || pthread_join(thread, NULL)) return 2;
        pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    }
    return close(open("result", O_WRONLY | O_CREAT, 0644));
}
END
    gcc -pthread -o c c.c
    run nht1-profile -- ./c
    expect_status 0
    [ -e result ]
}

@test "a Python script has a zeta" {
    slow
    need_program python3
    cat >s.py <<'END'
import os, json
os.makedirs("out", exist_ok=True)
with open("out/a.tmp", "wb") as f:
    for i in range(50):
        f.write(os.urandom(0) + bytes([i]) * 20000)
os.replace("out/a.tmp", "out/a.dat")
assert os.path.getsize("out/a.dat") == 1000000 and os.listdir("out") == ["a.dat"]
with open("out/a.dat", "rb") as f:
    f.seek(20000)
    assert f.read(1) == b"\1"
with open("out/log.json", "w") as f:
    json.dump({"n": 50}, f)
assert json.load(open("out/log.json"))["n"] == 50
END
    certified_python() {
        run nht1-profile --t-c --repeat 2 --json p.json -- "$(python3 -c 'import sys; print(sys.executable)')" s.py
    }
    certified_python
    expect_status 0
    expect_text "certified: the same"
    expect_json p.json '.zeta.dropped_bytes == 1000009'
    [ "$(stat -c %s out/a.dat)" -eq 1000000 ]
}

@test "calls with NULL or nothing for a name, and at negative places, are answered as the kernel does" {
    need_program python3
    cat >s.py <<'END'
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
PATH, HERE, X, BUF = object(), -100, b"x", ctypes.create_string_buffer(512)
calls = (
    ("statx", HERE, PATH, 0, 0xfff, None), ("stat", PATH, BUF), ("lstat", PATH, BUF), ("fstatat", HERE, PATH, BUF, 0),
    ("access", PATH, 0), ("faccessat", HERE, PATH, 0, 0), ("open", PATH, 0), ("open", PATH, 0o101, 0o600), ("creat", PATH, 0o600),
    ("openat", HERE, PATH, 0), ("unlink", PATH), ("unlinkat", HERE, PATH, 0), ("rmdir", PATH), ("remove", PATH),
    ("mkdir", PATH, 0o700), ("mkdirat", HERE, PATH, 0o700), ("truncate", PATH, 1), ("rename", PATH, X), ("rename", X, PATH),
    ("link", PATH, X), ("link", X, PATH), ("symlink", PATH, X), ("symlink", X, PATH), ("chmod", PATH, 0o600),
    ("fchmodat", HERE, PATH, 0o600, 0), ("chown", PATH, 1, 1), ("lchown", PATH, 1, 1), ("utimensat", HERE, PATH, None, 0),
    ("utimes", PATH, None), ("lutimes", PATH, None), ("utime", PATH, None), ("setxattr", PATH, b"user.x", X, 1, 0),
    ("removexattr", PATH, b"user.x"), ("chdir", PATH), ("mkfifo", PATH, 0o600), ("mknod", PATH, 0o100600, 0),
    ("fopen", PATH, b"r"), ("fopen", PATH, b"w"), ("realpath", PATH, None),
    ("execve", PATH, None, None),
)
for path, (name, *given) in ((p, c) for p in (None, b"") for c in calls):
    ctypes.set_errno(0)
    rc = getattr(libc, name)(*[path if g is PATH else g for g in given])
    why = errno.errorcode.get(ctypes.get_errno())
    assert rc in (-1, 0) and why in ("EFAULT", "EINVAL", "ENOENT"), (name, path, given, rc, why)
with open("out.dat", "w+b", buffering=0) as f:
    f.write(b"a" * 1000)
    for call, what in (os.pwrite, b"x"), (os.pread, 1):
        try:
            call(f.fileno(), what, -1)
        except OSError as e:
            assert e.errno == errno.EINVAL, e
        else:
            assert False, call
END
    run nht1-profile --t-c --json p.json -- "$(python3 -c 'import sys; print(sys.executable)')" s.py
    expect_status 0
    expect_text "certified: the same"
    expect_json p.json '.zeta.dropped_bytes == 1000'
}

@test "what is moved or copied to memory, and links that fail, keep what the run with writes has made" {
    local there=/dev/shm/nht1-test-$$
    [ -w /dev/shm ] || not_here "no /dev/shm"
    # To another file system mv copies.
    refused "is not followed" sh -c 'echo data >out; mv out "$1"; echo more >out2' sh "$there"
    [ "$(cat "$there")" = data ]
    rm -f "$there" out2
    refused "or lies in /dev/shm" sh -c 'echo data >out; cp out "$1"; rm out' sh "$there"
    [ "$(cat "$there")" = data ]
    # What it removes there is gone, and what Python shares by it is no file of its own.
    nht1-profile --t-c --repeat 2 -- sh -c 'rm -f "$1"; echo data >out' sh "$there"
    [ ! -e "$there" ]
    rm out
    nht1-profile --t-c -- "$(python3 -c 'import sys; print(sys.executable)')" -c 'import multiprocessing
v = multiprocessing.Array("i", 100)
open("out", "w").write("data\n")'
    rm out
    run nht1-profile --t-c -- sh -c 'ln -s a nowhere/b 2>/dev/null; echo data >out'
    expect_status 0
    rm out
    refused "has made, renamed or removed a link" sh -c 'echo $$ >lock; ln -s x lock 2>/dev/null || rm lock; echo data >out'
    [ ! -L lock ]
    [ "$(cat out)" = data ]
}

@test "a terminal that the program reads is read once; one that it does not read costs no zeta" {
    # typed LINES COMMAND...: on a terminal of its own, on which something is typed whenever it says "go".
    cat >typed.py <<'END'
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
shown = b''
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    for _ in range((shown + piece).count(b'go?') - shown.count(b'go?')):
        os.write(terminal, b'yes\n')
    shown += piece
print(shown.decode().replace('\r', ''))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
END
    run python3 typed.py nht1-profile --t-c -- sh -c 'echo go?; read -r x; echo $x >out'
    expect_status 4
    expect_text "no zeta: the terminal was read"
    [ "$(cat out)" = yes ]
    run python3 typed.py nht1-profile --t-c -- sh -c 'echo go?; read -r x </dev/tty; echo $x >out'
    expect_status 4
    run python3 typed.py sh -c 'echo go?; nht1-profile --t-c -- sh -c "read -r x </dev/tty; echo \$x >out" </dev/null >said 2>&1'
    grep -q "no zeta: the terminal was read" said
    run python3 typed.py nht1-profile --t-c -- sh -c 'echo told >out'
    expect_status 0
    expect_text "certified"
}

@test "Fortran has a zeta: sequential, direct, formatted and scratch files" {
    slow
    need_program gfortran
    cat >f.f90 <<'END'
program f
  implicit none
  real(8) :: x(10000), y(10000)
  integer :: i
  x = 1.5
  open(10, file='seq.dat', form='unformatted', access='sequential', status='replace')
  do i = 1, 20
    write(10) x
  end do
  rewind(10)
  do i = 1, 20
    read(10) y
  end do
  close(10)
  if (any(y /= x)) stop 3
  open(11, file='direct.dat', form='unformatted', access='direct', recl=80000, status='replace')
  do i = 1, 20
    write(11, rec=21-i) x
  end do
  close(11)
  open(12, file='text.dat', status='replace')
  do i = 1, 1000
    write(12, '(i8, f12.4)') i, x(i)
  end do
  close(12)
  open(13, status='scratch')
  write(13, *) x
  close(13)
end program
END
    gfortran -o f f.f90
    mkdir run && cd run
    certified ../f
    # Records of 80000 bytes, those of the sequential file with 8 more.
    expect_json ../p.json '[.profile.points[] | select(.file | endswith("direct.dat")) | .functions | (.write // .pwrite).bytes]
        == [1600000]'
    expect_json ../p.json '[.profile.points[] | select(.file | endswith("seq.dat")) | .functions.write.bytes // 0] | add
        == 1600160'
}

@test "ranks that write by POSIX calls beside MPI have a zeta" {
    slow
    run nht1-profile --t-c --json p.json -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_BIN/nht1-bt" --class S --steps 4 \
        --interval 2 --io posix --verify never --tc 1
    expect_status 0
    expect_text "certified: the same"
    expect_json p.json '.profile | .mpi_ranks_n == 2 and .posix_written_bytes >= 2 * 5 * 8 * 12 * 12 * 12
        and any(.points[]; .interface == "posix" and .processes_n == 2)'
}

@test "where a file cannot be followed without its writes, it is not touched, and the program ends" {
    mkdir counters.dropped
    chmod 500 counters.dropped
    [ ! -w counters.dropped ] || rm -r counters.dropped # there root has nowhere to write, either
    echo kept >f.dat
    run env NHT1_PROFILE_DIR="$PWD/counters.dropped" NHT1_PROFILE_DROP=1 \
        LD_PRELOAD="${NHT1_BIN%/*}/lib/nht1/libnht1-profile.so" dd if=/dev/zero of=f.dat bs=10 count=1
    expect_status 4
    expect_text "f.dat cannot be followed"
    [ "$(cat f.dat)" = kept ]
}

@test "without room or numbers for what stands for a file, the file keeps its bytes and times" {
    local word before
    mkdir counters.dropped
    echo kept >f.dat
    before=$(stat -c '%s %.9Y %.9Z' f.dat)
    for word in refuses numbers; do
        # shellcheck disable=SC2016 # the parameters of the inner shell
        run env NHT1_PROFILE_DIR="$PWD/counters.dropped" NHT1_PROFILE_DROP=1 \
            LIBRARY="${NHT1_BIN%/*}/lib/nht1/libnht1-profile.so" bash -c '[ "$1" = numbers ] || ulimit -f 8
                LD_PRELOAD=$LIBRARY exec "$NHT1_TESTBIN/mkposix" "$1" f.dat' - "$word"
        [ "$status" -ne 0 ]
        [ "$(cat f.dat)" = kept ]
        [ "$(stat -c '%s %.9Y %.9Z' f.dat)" = "$before" ]
    done
}

@test "a delay of 20 ms in each pwrite is part of the time inside I/O, and of what writing costs" {
    cat >s.py <<'END'
import os
fd = os.open("d.dat", os.O_WRONLY | os.O_CREAT, 0o644)
for i in range(25):
    os.pwrite(fd, bytes(20000), 20000 * i)
END
    run env LD_PRELOAD="$NHT1_TESTBIN/delay.so" NHT1_DELAY_US=20000 nht1-profile --t-c --json p.json -- \
        "$(python3 -c 'import sys; print(sys.executable)')" s.py
    expect_status 0
    # The delay is of the processor's time, of which no more can pass than of the day's.
    expect_json p.json '.profile.points[0].functions.pwrite | .n == 25 and .total_s >= 0.5'
    expect_json p.json '.zeta.t_t_s >= 0.5 and .profile.inside_mean_s >= 0.5'
}

@test "what the profiler itself does about a new name is not computing" {
    local names='(9 + 3 + 1 + 2 + 1)'
    touch g1 g2 g3 h
    export NHT1_DELAY_LINK_US=20000
    # shellcheck disable=SC2016 # the program's own variable
    set -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo >f$i; done; rm g1 g2 g3; mkdir d; mv h i; truncate -s 9 j'
    run env LD_PRELOAD="$NHT1_TESTBIN/delay.so" nht1-profile --t-c --json p.json -- "$@"
    expect_status 0
    expect_text " of that are this profiler's own notes on the slowest process, of 16 names in all"
    expect_json p.json ".profile | .inside_any_s >= 0.02 * $names and .notes_inside and .notes_n == $names"
    expect_schema nht1-profile-1 p.json
    # Where nothing is compared that is none of the program's I/O either: without its delay.
    rm -r d f? i j
    touch g1 g2 g3 h
    export NHT1_DELAY_LINK_US=100000
    run env LD_PRELOAD="$NHT1_TESTBIN/delay.so" nht1-profile --json p.json -- "$@"
    expect_status 0
    expect_text " of the run, and none of that, are this profiler's own notes on the slowest process, of 16 names in all"
    expect_json p.json ".profile | .inside_any_s < .notes_s and .notes_s >= 0.1 * $names and .notes_n == $names"
    export NHT1_DELAY_LINK_US=1500000
    set -- "$NHT1_ROOT/tests/mpi-run" -np 1 "$NHT1_TESTBIN/mkcalls" seeks p.dat
    run env LD_PRELOAD="$NHT1_TESTBIN/delay.so" nht1-profile --t-c --json p.json -- "$@"
    expect_status 0
    expect_json p.json '.profile.other.open.max_s >= 1.5'
    run env LD_PRELOAD="$NHT1_TESTBIN/delay.so" nht1-profile --json p.json -- "$@"
    expect_status 0
    expect_json p.json '.profile | .other.open.max_s < .notes_s'
}

@test "what stdio has kept until the end of the process counts" {
    mkdir out && cd out
    cat >../late.py <<'END'
import ctypes
ctypes.CDLL(None).printf(b"hello\n")
END
    certified sh -c 'python3 -S ../late.py >hello.txt; :'
    [ "$(cat hello.txt)" = hello ]
}

@test "each run finds standard input as the first one did, or there is but one" {
    seq 5 >in
    run nht1-profile --t-c --repeat 2 -- sh -c 'cat >out' <in
    expect_status 0
    cmp in out
    rm out
    run nht1-profile --t-c --repeat 2 -- sh -c 'cat >out' <<<"$(seq 5)"
    expect_status 0
    cmp in out
    rm out
    run nht1-profile --t-c --repeat 2 -- sh -c 'cat <&5 >out' </dev/null 5<in
    expect_status 0
    expect_text "certified"
    cmp in out
    rm out
    run nht1-profile --t-c --repeat 2 -- sh -c 'cat <&5 >out' </dev/null 5<>in
    expect_status 0
    cmp in out
    rm out
    nht1-profile --t-c --repeat 2 -- sh -c 'echo said; echo >out' 1<>said
    [ "$(grep -c said said)" -eq 3 ]
    # What still waits in a pipe nobody has read to its end, although its writer has gone.
    rm out
    mkfifo line
    (seq 3 >&8; until [ -e out ]; do sleep 0.05; done) 8>line &
    exec 8<line
    read -r _ <&8
    wait_writer=$!
    run nht1-profile --t-c -- sh -c 'echo >out; while kill -0 "$1" 2>/dev/null; do sleep 0.05; done' sh "$wait_writer"
    expect_status 0
    exec 8<&-
    # A lock that the shell holds is its own for --between, too.
    rm out
    : >own
    {
        flock 8
        run nht1-profile --t-c --repeat 2 --between 'rm out; flock -n 8' -- sh -c 'echo >out'
        expect_status 0
    } 8<>own
    # The shell goes on reading where the first run has left the file, and keeps its lock on it.
    rm out
    {
        nht1-profile --t-c --repeat 2 -- sh -c 'read -r a; read -r b; echo $b >out'
        cat >rest
    } <in
    cmp rest <(seq 3 5)
    [ "$(cat out)" = 2 ]
    rm out
    true >lock
    {
        flock 0
        nht1-profile --t-c --repeat 2 -- sh -c 'exec 9<lock; flock -n 9 || echo held >out'
    } <lock
    [ "$(cat out)" = held ]
    # Nor by --between, which finds it whole each time; nor has one input that its output moves.
    rm out
    {
        nht1-profile --t-c --repeat 2 --between 'rm out; cat >>all; cat <&3 >>all' -- sh -c 'echo >out' 3<in
        cat >rest
    } <in
    cmp rest in
    [ "$(sort all | uniq -c | awk '{ print $1 }' | sort -u)" = 4 ]
    # A program that locks what it reads would wait for its own lock.
    rm out
    run nht1-profile --t-c --repeat 2 -- sh -c 'flock 9; read -r t <&9; echo $t >out' 9<in
    expect_status 4
    expect_text "descriptor 9 holds a lock on what it reads"
    # Two openings of one file are two.
    rm out
    run nht1-profile --t-c --repeat 2 -- sh -c 'while read -r a <&5 && read -r b <&6; do echo $a $b; done >out' 5<in 6<in
    expect_status 0
    cmp out <(paste -d ' ' in in)
    rm out
    cp in both
    status=0
    nht1-profile --t-c -- sh -c 'read -r x; echo $x >out' 0<>both >&0 2>said || status=$?
    [ "$status" -eq 4 ]
    grep -q "standard input has one place with standard output" said
    # Tokens that others take meanwhile are nothing to read.
    rm out
    mkfifo tokens
    run nht1-profile --t-c -- sh -c 'echo >out; [ -e token ] || { echo >token; echo >&5; }' 5<>tokens
    expect_status 0
    MAKEFLAGS=" -j --jobserver-auth=6,7" run nht1-profile --t-c -- sh -c 'echo >out; [ -e token2 ] || { echo >token2; echo >&7; }' \
        5<>tokens 6<tokens 7>tokens
    expect_status 0
    # A shell may go on reading beside it: its place is moved by the first run alone.
    rm out
    {
        nht1-profile --t-c --repeat 2 -- sh -c "sed -n 's/^pos:.//p' /proc/$BASHPID/fdinfo/3 >&7; read -r x <&3; echo \$x >out" 3<&3
        cat <&3 >rest
    } 3<in 7>places
    cmp rest <(seq 2 5)
    [ "$(sort places | uniq -c | tr -s ' ' | tr '\n' ,)" = " 1 0, 4 2," ]
    # One pipe on two descriptors stays one, one file, too; an open folder is listed again.
    rm out
    mkdir folder
    touch folder/x
    for from in in pipe; do
        : >lock
        [ $from = in ] || mkfifo pipe
        [ $from = in ] || { (cat in; : >lock.written) >pipe & }
        (
            exec <$from 3<&0 4<folder
            while [ $from = pipe ] && [ ! -e lock.written ]; do sleep 0.05; done
            nht1-profile --t-c --repeat 2 -- sh -c 'read -r a; echo $a >out; cat <&3 >>out' >said 2>&1
        )
        grep -q "certified" said
        cmp in out
        rm out
    done
    # What the program itself writes by its name, which --between replaces.
    for between in '' "rm state; echo 1 >state"; do
        for program in 'read -r x; echo $((x + 1)) >state' 'x=$(cat /dev/stdin); echo $((x + 1)) >state' 'read -r x <&3; echo $((x + 1)) >state'; do
            echo 1 >state
            run nht1-profile --t-c ${between:+--repeat 2 --between "$between"} -- sh -c "$program" <state 3<>state
            expect_status 4
            expect_text "reads has been written meanwhile"
            [ "$(cat state)" = 2 ]
        done
    done
    # Nobody reads what a lock is held by, or what the shell looks at later.
    : >lock
    for given in 9\<lock 9\<\>lock; do
        eval "exec $given"
        flock 9
        run nht1-profile --t-c -- sh -c 'echo >out; echo $$ >lock; echo note >&8' 8>>log
        expect_status 0
        expect_text "certified"
        exec 9<&-
        rm -f out lock
        : >lock
    done
    # A command's output is read once, unless it had all been written before.
    run nht1-profile --t-c --repeat 2 -- sh -c '{ echo title; cat "$1"; } >out' sh <(seq 100000)
    expect_status 4
    expect_text "of <(COMMAND) perhaps, can be read once"
    [ "$(wc -l <out)" -eq 100001 ]
    rm out
    # Others could still write into it.
    mkfifo hold
    exec 9<>hold
    (seq 5; read -r _ <&9) | {
        status=0
        nht1-profile --t-c --repeat 2 -- sh -c 'read -r x; echo $x >out' >said 2>&1 || status=$?
        echo go >&9
        [ "$status" -eq 4 ]
    }
    grep -q "no zeta: standard input can be read once" said
    [ "$(cat out)" = 1 ]
}
