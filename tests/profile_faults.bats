#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-profile --t-c on programs that die, stand still, change their folder or find a disk full: nothing of the
# user's is lost, and there is a zeta, or it is told why not.

load helpers
bats_require_minimum_version 1.5.0

teardown() {
    end_slow_disk
    ! mountpoint -q disk 2>/dev/null || umount disk
}

# program BODY [RUN]: ./p, which writes out.dat and d/in.dat; BODY is done in the second run with writes, or in that
# one, when both are begun anew. What the test has opened as ./runs and ./listed is written in all runs.
half='echo half >out.dat; echo half >d/in.dat; ls -a >&8;'
program() {
    cat >p <<END
#!/bin/sh
[ "\$NHT1_PROFILE_DROP" = 1 ] || echo with >&7
mkdir d
if [ "\$NHT1_PROFILE_DROP" != 1 ] && [ "\$(wc -l <runs)" -eq ${2:-2} ]; then
    $1
fi
dd if=/dev/zero of=out.dat bs=1000 count=5 status=none
echo whole >d/in.dat
END
    chmod +x p
    rm -rf out.dat* d d.* runs listed
}

# complete FILE FOLDER: they are those of a run that went to its end.
complete() {
    [ "$(stat -c %s "$1")" -eq 5000 ] && [ "$(cat "$2/in.dat")" = whole ]
}

@test "a later run with writes that fails or is ended does not lose what the one before has left" {
    slow
    local body
    # shellcheck disable=SC2016 # the program's own variables
    for body in 'exit 5' 'kill -TERM $$' 'kill -TERM $PPID; while :; do sleep 1; done'; do
        program "$half $body"
        run nht1-profile --t-c --repeat 3 -- ./p 7>>runs 8>listed
        [ "$status" -ne 0 ] && [ "$status" -ne 4 ]
        expect_text "the files are those of the one before"
        complete out.dat d
        [ -z "$(find . -name '*.before-*' -o -name '*.run-*')" ]
        grep -x out.dat listed
        ! grep -E 'before-|\.run-|\.own' listed || return 1
    done
    # With nothing in the way the files of the last run stay.
    program :
    run nht1-profile --t-c --repeat 2 -- ./p 7>>runs 8>listed
    expect_status 0
    [ "$(wc -l <runs)" -eq 3 ]
    complete out.dat d
    [ -z "$(find . -name '*.before-*')" ]
}

@test "where the program fails in a later run the pairs before it are reported, with its status" {
    mkdir here && cd here
    cat >p <<'END'
#!/bin/sh
echo run >&7
n=$(wc -l <../runs)
head -c 50000 /dev/zero >f
[ "$n" -lt 8 ] || [ "$NHT1_PROFILE_DROP" = "$1" ] || { echo half >f; exit 7; }
echo g >g
END
    run nht1-profile --t-c --repeat 9 --json ../p.json -o ../p.xml -- sh ./p 1 7>>../runs
    expect_status 7
    expect_text "no further pairs: the program ended with status 7"
    expect_text "zeta "
    expect_json ../p.json '.command_status == 0 and (.zeta.rounds | length) >= 2 and .profile.written_bytes == 50002'
    [ "$(stat -c %s f)" -eq 50000 ]
    [ "$(wc -l <../runs)" -ge 8 ]
    # Without its writes: nothing is wrong with what is there.
    rm -rf ../runs ../p.* f g
    run nht1-profile --t-c --repeat 9 --json ../p.json -o ../p.xml -- sh ./p 0 7>>../runs
    expect_status 0
    expect_text "no further pairs: with its writes dropped the program ended with status 7"
    expect_json ../p.json '(.zeta.rounds | length) >= 2 and any(.stamps[]; .code == "interrupted")'
    expect_text "not all pairs of runs were made, as one failed"
}

@test "the counters may lie where what is open keeps its folder, as on NFS and FUSE" {
    slow_disk
    cd disk
    run nht1-profile --t-c --repeat 2 -- sh -c 'echo text >f'
    cd ..
    expect_status 0
    expect_text "of 2 pairs"
    [ "$(ls -A disk)" = $'f\nprofile.xml' ]
}

@test "interrupted, the pairs that are complete are reported" {
    # shellcheck disable=SC2016 # the program's own variables
    program "$half"' kill -TERM $PPID; while :; do sleep 1; done' 3
    run nht1-profile --t-c --repeat auto --json p.json -- ./p 7>>runs 8>listed
    expect_status 3
    expect_text "certified: the same"
    expect_text "interrupted: 1 complete pair of runs is reported"
    expect_schema nht1-profile-1 p.json
    expect_json p.json '(.zeta.rounds | length) == 1 and (.certificates | length) == 1 and .command_status == 0'
    expect_json p.json '[.stamps[].code] | contains(["interrupted"])'
    expect_json p.json '.profile.written_bytes == 5006 and .profile.state == "finished"'
    complete out.dat d
    # A run that is in progress and goes on comes to its end.
    # shellcheck disable=SC2016
    program 'kill -TERM $PPID' 3
    sed -i '1a trap : TERM' p
    run nht1-profile --quiet --force --t-c --repeat 5 --json p.json -- ./p 7>>runs 8>listed
    expect_status 3
    expect_json p.json '(.zeta.rounds | length) | . == 1 or . == 2'
    complete out.dat d
    [ -z "$(find . -name '*.before-*' -o -name '*.run-*')" ]
}

# others_note N: somebody else puts a note into the folder that the program makes, in its Nth run with writes.
others_note() {
    wait_until folder_is_there "$1"
    echo mine >out/note
    : >noted
}

folder_is_there() {
    [ "$(wc -l <runs)" -ge "$1" ] && [ -e out/a ]
}

@test "FIFOs of a program are made anew in each run, and what others put into its folders stays, and loses no pair" {
    slow
    # shellcheck disable=SC2016 # the program's own variables
    run nht1-profile --t-c --repeat 2 --json p.json -- sh -ec 'mkdir out; for p in p out/p; do
        mkfifo "$p"; (echo "$p" >"$p") & cat "$p" >>out/a; done; wait; ! mkfifo p 2>/dev/null'
    expect_status 0
    expect_json p.json '.zeta.rounds | length == 2'
    [ -p p ] && [ -p out/p ] && [ "$(paste -sd' ' out/a)" = "p out/p" ]
    [ -z "$(find . -name '*.before-*')" ]
    rm -r out
    # A folder that stays is told, and the next one has another name.
    # shellcheck disable=SC2016
    local job='[ "$NHT1_PROFILE_DROP" = 1 ] || echo with >&7; mkdir out; echo text >out/a; echo text >b
        while [ "$NHT1_PROFILE_DROP$(wc -l <runs)" = "0$0" ] && [ ! -e noted ]; do sleep 0.05; done'
    : >runs
    others_note 1 3>&- &
    run nht1-profile --t-c --repeat 2 --json p.json -- sh -c "$job" 1 7>>runs
    wait $!
    expect_status 0
    [ "$(grep -c "out.before-[0-9]*, of the run before, stays: Directory not empty" <<<"$output")" -eq 1 ]
    expect_json p.json '.zeta.rounds | length == 2'
    [ "$(ls -A out)$(ls -A out.before-*)" = anote ]
    [ "$(find . -name '*.before-*' | wc -l)" -eq 1 ]
    # In a run that fails as well: what is in the way of nobody gets its name back.
    rm -r out* b noted
    : >runs
    others_note 2 3>&- &
    # shellcheck disable=SC2016
    run nht1-profile --t-c --repeat 2 -- sh -c "$job"'; [ "$NHT1_PROFILE_DROP$(wc -l <runs)" != 02 ] || exit 5' 2 7>>runs
    wait $!
    expect_status 5
    expect_text ", which is to become $PWD/out: File exists"
    [ "$(cat out/note out.before-*/a b)" = $'mine\ntext\ntext' ] && [ ! -e out/a ]
    # Where no further run can be begun, the pairs that are complete are reported.
    run nht1-profile --t-c --repeat 3 --json p.json --between 'rm c; [ ! -e once ] && : >once' -- sh -c 'echo text >c'
    expect_status 0
    expect_text "no further pairs: --between ended with status 1"
    expect_json p.json '.zeta.rounds | length == 1'
}

@test "a profiler that is killed in a later run with writes leaves the result of the one before under another name" {
    # shellcheck disable=SC2016 # the program's own variable
    program "$half"' kill -KILL $PPID; exit 1'
    run nht1-profile --t-c --repeat 3 -- ./p 7>>runs 8>listed
    [ "$status" -eq 137 ]
    no_process p
    complete out.dat.before-* d.before-*
}

@test "a program that dies without its writes has no zeta, its output is kept, and its files stay" {
    echo before >g.dat
    # shellcheck disable=SC2016 # the program's own variables
    run nht1-profile --t-c -- sh -c 'read word <g.dat; echo text >f.dat; echo after >g.dat; [ "$NHT1_PROFILE_DROP" != 1 ] || { echo last words; rm f.dat; kill -KILL $$; }'
    expect_status 4
    expect_text "with its writes dropped the program ended with status 137, output in profile.xml.run-"
    expect_text "output; sh has read $PWD/g.dat before it wrote or removed it"
    [ "$(cat profile.xml.run-*)" = "last words" ] # nothing else is left of it
    [ "$(cat f.dat g.dat)" = $'text\nafter' ]
}

@test "a program that stands still in both runs and goes on has a zeta" {
    # shellcheck disable=SC2016 # the program's own variable
    nht1-profile --t-c --json p.json -- sh -c 'echo one >f.dat; kill -STOP $$; echo two >>f.dat' >out 2>&1 3>&- &
    local profiler=$! first
    wait_stopped -p $profiler sh
    first=$stopped
    kill -CONT "$first"
    second_stands() { stands_still sh && [ "$stopped" != "$first" ]; }
    wait_until -p $profiler second_stands
    [ "$(cat f.dat)" = $'one\ntwo' ]
    kill -CONT "$stopped"
    wait $profiler
    grep -F "certified: the same" out
    [ "$(cat f.dat)" = $'one\ntwo' ]
}

@test "relative names are those of the folder that a program has changed to" {
    mkdir sub
    run nht1-profile --t-c --json p.json -- sh -c 'echo 1 >f.dat; cd sub; echo 22 >f.dat; mkdir new; cd new; echo 333 >f.dat; rm f.dat; cd ..; rmdir new; echo 4444 >../g.dat'
    expect_status 0
    expect_text "certified: the same"
    [ "$(cat f.dat sub/f.dat g.dat | paste -sd' ')" = "1 22 4444" ]
    expect_json p.json '.zeta.dropped_bytes == 14'
}

@test "a program that finds the disk full: its status, no zeta where it goes on, and what it could write stays" {
    memory_disk disk 200k
    run nht1-profile --t-c -- dd if=/dev/zero of=disk/f.dat bs=10000 count=100
    expect_status 1
    expect_text "No space left on device"
    [ "$(stat -c %s disk/f.dat)" -gt 100000 ]
    run nht1-profile --t-c -- sh -c 'dd if=/dev/zero of=disk/g.dat bs=10000 count=100; rm disk/f.dat; echo end >disk/h.dat'
    expect_status 4
    expect_text "no zeta: dd "
    [ "$(cat disk/h.dat)" = end ] && [ -e disk/g.dat ]
}

# printing REPEAT: a program that prints 229 kB into a file, where the disk ends sooner or later.
printing() {
    run sh -c "nht1-profile --t-c --repeat $1 -o p.xml --json p.json -- sh -c 'seq 40000 2>/dev/null || :; echo text >h' >disk/out"
}

@test "output in a file without room for that of a run without writes: no zeta, or that of the pairs before" {
    memory_disk disk 300k
    printing 1
    expect_status 4
    expect_text "zeta cannot be measured: the program prints 229 kB into a file, for which a run without writes has no room"
    [ "$(tail -n 1 disk/out)" = 40000 ]
    umount disk && rm h
    memory_disk disk 800k
    printing 9
    expect_status 0
    expect_text "no further pairs: the program prints "
    expect_text "certified: the same"
    expect_json p.json '.zeta.rounds | length >= 1'
}
