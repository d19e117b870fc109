#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-profile on programs whose calls are known (tests/mkcalls.c).

load helpers
bats_require_minimum_version 1.5.0

# profiled [OPTION...] RANKS WORD...: mkcalls WORD... under the profiler.
profiled() {
    local options=()
    while [[ $1 == -* ]]; do
        options+=("$1" "$2")
        shift 2
    done
    local ranks=$1
    shift
    run nht1-profile "${options[@]}" -- "$NHT1_ROOT/tests/mpi-run" -np "$ranks" "$NHT1_TESTBIN/mkcalls" "$@"
}

# has TEXT...: lines that the workload holds, once each.
has() {
    local text
    for text in "$@"; do
        [ "$(grep -cF "$text" profile.xml)" -eq 1 ] || { echo "not once: $text" && cat profile.xml && return 1; }
    done
}

@test "every data access function is counted, with its bytes, and does what it did" {
    mpi_run 2 "$NHT1_TESTBIN/mkcalls" all plain.dat
    NHT1_PROC=$NHT1_ROOT/tests/proc/busy profiled --json p.json --split run 2 all seen.dat
    expect_status 0
    cmp plain.dat seen.dat
    # What else went on is told without --t-c as well.
    expect_schema nht1-profile-1 p.json
    expect_json p.json '.disturbance.disturbed and .zeta == null and [.stamps[] | .code, .severity] == ["disturbed", "warn"]
        and (.disturbance.share_min | . > 0 and . <= 1) and (.disturbance.steal | . > 0.0299 and . < 0.0301)'
    expect_text "Disturbed: ranks got "
    k=0
    for f in write_at write_at_all iwrite_at write_at_all_begin write write_all iwrite write_all_begin write_shared \
        write_ordered iwrite_shared write_ordered_begin iwrite_at_all iwrite_all read_at read_at_all iread_at \
        read_at_all_begin read read_all iread read_all_begin read_shared read_ordered iread_shared \
        read_ordered_begin iread_at_all iread_all; do
        k=$((k + 1))
        has "<calls function=\"$f\" n=\"$k\" bytes=\"$((8 * k * k))\""
    done
    [ "$(grep -c '<workingPoint' profile.xml)" -eq 1 ]
}

@test "functions with large counts are counted like the others" {
    profiled --split run 2 large seen.dat
    [ "$status" -ne 77 ] || not_here "this MPI library has none"
    expect_status 0
    mv profile.xml large.xml
    profiled --split run 2 all seen.dat
    expect_status 0
    [ "$(grep -c '<calls' profile.xml)" -eq 28 ]
    diff <(grep '<calls' large.xml) <(grep '<calls' profile.xml)
}

@test "a point ends where the user says" {
    slow
    profiled --split direction 1 all seen.dat
    expect_status 0
    [ "$(grep -c '<workingPoint' profile.xml)" -eq 2 ]
    profiled --split 10 1 all seen.dat
    expect_status 0
    [ "$(grep -c '<workingPoint' profile.xml)" -eq 41 ] # 406 calls
}

@test "Fortran callers are counted once" {
    slow
    need_program gfortran "$(wrapper mpif90)"
    cat >f08.f90 <<'END'
program f
  use mpi_f08
  implicit none
  type(MPI_File) :: fh
  type(MPI_Status) :: st
  integer :: buf(1000), i
  integer(MPI_OFFSET_KIND) :: off
  call MPI_Init()
  call MPI_File_open(MPI_COMM_WORLD, 'f.dat', MPI_MODE_CREATE+MPI_MODE_RDWR, MPI_INFO_NULL, fh)
  do i = 1, 5
    off = 4000*i
    call MPI_File_write_at_all(fh, off, buf, 1000, MPI_INTEGER, st)
  end do
  call MPI_File_write_ordered(fh, buf, 10, MPI_INTEGER, st)
  call MPI_File_close(fh)
  call MPI_Finalize()
end program
END
    sed -e 's/  use mpi_f08//; s/implicit none/implicit none\n  include "mpif.h"\n  integer :: e/' \
        -e 's/type(MPI_File) :: fh/integer :: fh/; s/type(MPI_Status) :: st/integer :: st(MPI_STATUS_SIZE)/' \
        -e '/call/s/()/(e)/; /call/s/\([^(]\))$/\1, e)/; s/(e, e)/(e)/' f08.f90 >old.f90
    for source in f08 old; do
        env -u OMPI_CC "$(wrapper mpif90)" -o "$source" "$source.f90" || not_here "no Fortran module of this MPI library"
        rm -f f.dat
        run nht1-profile -- "$NHT1_ROOT/tests/mpi-run" -np 2 "./$source"
        expect_status 0
        has '<calls function="write_at_all" n="5" bytes="20000" shift="0"/>' '<calls function="write_ordered" n="1" bytes="40"/>'
    done
}

@test "a view with holes tells the length of its pieces" {
    profiled 2 holes h.dat
    expect_status 0
    has 'sizeMean="1024"' 'contMean="64"'
}

# views_are_told WORD: mkcalls WORD, and the lengths of the pieces of its views.
# Not profiled, ROMIO of Open MPI 4.1 ends a program with a view of Fortran's kinds, that of MPICH 4.0
# one of types with large counts.
views_are_told() {
    mpi_run 2 "$NHT1_TESTBIN/mkcalls" "$1" plain.dat || not_here "this MPI-IO library has no such views"
    profiled --split 1 2 "$1" v.dat
    expect_status 0
    grep -o 'contMean="[0-9.]*"' profile.xml | tr -dc '0-9.\n' | paste -sd' ' >pieces
    [ "$(cat pieces)" = '32 32 16 16 64 8 32 8 128' ] || { cat pieces && return 1; }
}

@test "views of every constructor tell the length of their pieces" {
    slow
    views_are_told views
}

@test "views of constructors with large counts tell it too" {
    views_are_told views-large
}

@test "calls before which the pointer was moved are not sequential" {
    profiled 1 seeks s.dat
    expect_status 0
    has 'seqFrac="0.5"' '<calls function="write" n="8" bytes="640" span="7080" skips="4" lead="1"/>'
}

@test "sequential is by position, whichever pointer a call uses" {
    profiled 1 consecutive c.dat
    expect_status 0
    has 'seqFrac="1"' # five write_at and five writes after a seek, in one row
    profiled 1 permuted p.dat
    expect_status 0
    has 'seqFrac="0.1"' # the first one alone
}

@test "a program without MPI-IO: the summary says that there is nothing to replay" {
    profiled 2 nothing n.dat
    expect_status 0
    expect_text "Nothing   read or written through MPI-IO"
    [ "$(grep -c workingPoint profile.xml)" -eq 0 ]
}

@test "several files and communicators" {
    slow
    profiled --json p.json 4 halves h.dat
    expect_status 0
    [ "$(grep -c 'processNum="2"' profile.xml)" -eq 4 ]
    [ "$(grep -c '<calls function="write_at_all" n="1" bytes="80" shift="160"/>' profile.xml)" -eq 2 ]
    [ "$(grep -c '<calls function="write_at" n="1" bytes="16" .*shift="[0-9]*"/>' profile.xml)" -eq 2 ]
    expect_json p.json '[.profile.points[].file] | sort == ["h.dat", "h.dat", "h.dat.0", "h.dat.1"]'
}

@test "300 files that are open at once are counted, each by itself" {
    slow
    profiled --json p.json 1 many m
    expect_status 0
    expect_json p.json '.profile | .writes_n == 300 and .written_bytes == 3000 and .lost_n == 0 and (.points | length) == 300'
    run nht1-workload profile.xml --out w.dat --sync none --quiet
    expect_status 0
    [ -z "$(compgen -G 'w.dat*')" ]
    [ "$(grep -c '<file ' profile.xml)" -eq 300 ]
}

@test "files of threads are counted, each by itself" {
    profiled --json p.json 1 threads t
    [ "$status" -ne 77 ] || not_here "this MPI library has no threads"
    expect_status 0
    expect_json p.json '.profile | .writes_n == 400 and .written_bytes == 4000 and (.points | length) == 40'
    [ "$(grep -c '<calls function="write_at" n="10" bytes="100"/>' profile.xml)" -eq 40 ]
}

@test "threads do not race for what the library counts (ThreadSanitizer)" {
    slow
    # Without the functions that stand before those of the C library, as do ThreadSanitizer's own.
    local sources=("$NHT1_ROOT"/companions/profile/preload/{count,follow,paths,pieces,preload,requests,table,timeline}.c) settings=(-std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=thread)
    need_program setarch "$(wrapper mpicc)"
    echo 'int main(void) { return 0; }' >empty.c
    env -u OMPI_CC "$(wrapper mpicc)" "${settings[@]}" -o empty empty.c || not_here "no ThreadSanitizer"
    env -u OMPI_CC "$(wrapper mpicc)" "${settings[@]}" -I"$NHT1_ROOT" -o mkcalls "$NHT1_ROOT/tests/mkcalls.c" "${sources[@]}" -ldl -pthread
    run timeout "$NHT1_HANG_S" env NHT1_PROFILE_DIR="$PWD" TSAN_OPTIONS=exitcode=0 setarch -R "$NHT1_ROOT/tests/mpi-run" -np 1 ./mkcalls threads t.dat
    expect_status 0
    [ -s rank-0 ]
    # The MPI library itself is not compiled for it.
    ! grep 'SUMMARY: ThreadSanitizer.*companions/profile' <<<"$output"
}

@test "waiting for one of 2000 requests is told, whichever they are" {
    profiled --json p.json 1 waitany w.dat
    expect_status 0
    expect_json p.json '.profile | .writes_n == 50 and .other.wait.n == 50'
}

@test "a view of 30 nested levels does not take for ever" {
    profiled 1 nested n.dat
    expect_status 0
    has 'sizeMean="64"' 'contMean="64"'
}

@test "ranks that do not do the same stand apart" {
    slow
    profiled --json p.json 4 uneven u.dat
    expect_status 0
    expect_text "Longest inside MPI-IO: rank"
    expect_json p.json '.profile | .inside_max_rank as $r | .inside_max_s == ([.ranks[].inside_s] | max)
        and .inside_max_s == .ranks[$r].inside_s'
    expect_json p.json '[.profile.points[].sizes[]] | map({(.from_bytes | tostring): .writes_n}) | add
        == {"64": 1, "4096": 10}'
    has 'uniqueBytes="41060"' '<calls function="write_at" n="2" bytes="4196" shift="0"/>' '<calls function="write_at" n="4" bytes="16384" begin="196708" shift="0"/>'
    [ "$(grep -c '<rank ' profile.xml)" -eq 3 ]
    expect_json p.json '.profile.writes_n == 11 and .profile.written_bytes == 41060 and (.profile.ranks | length) == 4'
    expect_json p.json '[.profile.timeline.written_bytes[]] | add | . - 41060 | fabs < 0.5'
    expect_schema nht1-profile-1 p.json
}

@test "a call of no bytes counts none, whatever the library leaves in its status" {
    OMPI_MCA_io=romio321 profiled --json p.json --split run 2 of-no-bytes n.dat
    expect_status 0
    expect_json p.json '.profile.written_bytes == 20 and .profile.read_bytes == 0'
    has 'uniqueBytes="20"' '<calls function="write_at" n="1" bytes="10" shift="10"/>'
}

@test "files of relative names are known by their whole paths, by POSIX calls and by MPI-IO" {
    profiled --accesses a.jsonl 2 relative r.dat
    expect_status 0
    has "<file index=\"0\" name=\"$PWD/r.dat\"/>" "<file index=\"1\" name=\"$PWD/other/r.dat\"/>" \
        '<calls function="write_at_all" n="1" bytes="1000" begin="512"/>'
    [ "$(grep -c '<file ' profile.xml)" -eq 2 ]
    [ "$(jq -r 'select(.name) | .name' a.jsonl)" = "$PWD/r.dat"$'\n'"$PWD/other/r.dat" ]
}

@test "a name with a colon is whole where the MPI library takes it so" {
    profiled 2 relative "run_12:00:00.dat"
    [ "$status" -eq 0 ] || not_here "ROMIO takes what stands before a colon for the kind of a file system"
    has "<file index=\"0\" name=\"$PWD/run_12:00:00.dat\"/>" "<file index=\"1\" name=\"$PWD/other/run_12:00:00.dat\"/>"
}

@test "a file that each rank opens by itself is one of all, and files of some ranks are told to be replayed apart" {
    profiled 2 each s.dat
    expect_status 0
    expect_no_text "Apart"
    has 'mode="common"' '<file ' 'processNum="2"' 'uniqueBytes="6000"'
    profiled 4 halves-of h.dat
    expect_status 0
    expect_text "Apart     files that not all ranks have opened are replayed one after the other"
}

@test "what all ranks do to a file together and each by itself, and what one writes and all read, are points of their own" {
    profiled 2 both-ways b.dat
    expect_status 0
    expect_no_text "left out"
    [ "$(grep '<calls\|<rank' profile.xml | sed 's/^ *//')" = '<calls function="write_at_all" n="1" bytes="1000"/>
<calls function="write_at" n="1" bytes="500"/>
<calls function="read_at_all" n="1" bytes="1000"/>' ]
    profiled 2 mesh m.dat
    expect_status 0
    [ "$(grep '<calls\|<rank' profile.xml | sed 's/^ *//')" = '<calls function="write_at" n="1" bytes="1000" shift="0"/>
<rank of="1" calls="0" bytes="0"/>
<calls function="read_at" n="1" bytes="1000" shift="0"/>
<calls function="write_at" n="1" bytes="1000" begin="1000"/>' ]
    for split in direction open; do
        profiled --split "$split" 2 late l.dat
        expect_status 0
        expect_no_text "left out"
        [ "$(grep '<calls\|<rank' profile.xml | sed 's/^ *//; s/ shift.*/>/; s/ begin.*/>/; s/"\/>/">/' | uniq -c | sed 's/^ *//')" = \
            '1 <calls function="write_at" n="1" bytes="500">
1 <rank of="1" calls="0" bytes="0">
1 <calls function="write_at_all" n="1" bytes="1000">
1 <calls function="write_at" n="1" bytes="500">
1 <rank of="1" calls="0" bytes="0">
1 <calls function="write_at_all" n="1" bytes="1000">' ]
    done
    # What is not split by direction is joined whatever the ranks do besides.
    profiled --split run 2 mesh n.dat
    expect_status 0
    expect_no_text "left out"
    [ "$(grep -c '<workingPoint' profile.xml)" -eq 1 ]
}

@test "a file per process is told from a common one" {
    slow
    profiled 3 separate s.dat
    expect_status 0
    has 'mode="separate"' 'processNum="3"' 'uniqueBytes="9000"' '<calls function="write" n="3" bytes="3000"/>'
    profiled 3 self t.dat
    expect_status 0
    has 'mode="common"' 'processNum="1"' 'processNum="3"' '<calls function="write" n="1" bytes="80"/>'
}

@test "more files of each rank than a workload can name: none of their calls is lost, and the last file has the rest" {
    slow
    profiled 2 own-many m
    expect_status 0
    has 'mode="separate"' "<file index=\"1022\" name=\"$PWD/m.0.1022\"/>" '<file index="1023"'
    [ "$(grep -c '<file ' profile.xml)" -eq 1024 ]
    [ "$(grep -c '<workingPoint .*processNum="2".* uniqueBytes="20"' profile.xml)" -eq 1100 ]
    [ "$(grep -c '<workingPoint file="1023"' profile.xml)" -eq 77 ]
    expect_text "profile.xml names 1024 files at most, the last one stands for any further ones"
}

@test "a program that aborts or is killed leaves what was counted" {
    slow
    profiled --json p.json 2 abort a.dat
    [ "$status" -ne 0 ]
    has '<calls function="write_at" n="10" bytes="10000"/>'
    expect_json p.json '[.profile.ranks[].state] | any(. == "aborted")'
    profiled --json p.json 2 kill k.dat
    [ "$status" -ne 0 ]
    has '<calls function="write_at" n="10" bytes="10000"/>'
    expect_json p.json '.profile.state == "died" and .command_status != 0 and any(.stamps[]; .code == "interrupted")'
    profiled --json p.json 2 segv s.dat
    [ "$status" -ne 0 ]
    has '<calls function="write_at" n="10" bytes="10000"/>'
}

@test "a signal to the profiler is the program's, and what was counted is told" {
    local signal
    for signal in TERM HUP; do
        rm -f p.json w.dat.?
        nht1-profile --json p.json -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" wait w.dat 3>&- &
        wait_until -p $! test -e w.dat.0 -a -e w.dat.1
        kill -$signal $!
        status=0
        wait $! || status=$?
        # Now and then the launcher of MPICH ends with 0 behind SIGTERM.
        [ "$status" -ne 0 ] || ! open_mpi
        expect_json p.json '.profile.writes_n == 20 and .profile.state == "died"'
        no_process mkcalls
    done
    # shellcheck disable=SC2016 # the program's own variable
    run nht1-profile --quiet -- sh -c 'trap "exit 6" HUP; kill -HUP "$PPID"; while kill -0 "$PPID"; do sleep 0.05; done'
    expect_status 6
    # One that comes before the program is there, too.
    # shellcheck disable=SC2016
    LD_PRELOAD=$NHT1_TESTBIN/fault.so NHT1_FAULT_PROGRAM=nht1-profile NHT1_FAULT_IN=$PWD NHT1_FAULT_STOP=open:1:0 \
        timeout -s KILL "${NHT1_HANG_S:-1800}" nht1-profile --quiet -- sh -c 'while kill -0 "$PPID"; do sleep 0.05; done' 3>&- &
    wait_stopped -p $! nht1-profile
    kill -TERM "$stopped"
    kill -CONT "$stopped"
    status=0
    wait $! || status=$?
    expect_status 143
    # nohup has it ignored, by both.
    # shellcheck disable=SC2016
    run env --ignore-signal=HUP nht1-profile --quiet -- sh -c 'kill -HUP "$PPID" $$; exit 5'
    expect_status 5
}

@test "what the program inherits is what the profiler inherited" {
    run nht1-profile --quiet -- sh -c 'ulimit -f 1; exec head -c 100000 /dev/zero >big'
    expect_status 153 # 128 + SIGXFSZ
    run nht1-profile --quiet -- sh -c 'ulimit -f 1; echo text >small; exec cat small'
    expect_status 0
    expect_text "text"
    run nht1-profile --quiet -- sh -c 'kill -TERM $$'
    expect_status 143
    (
        trap '' TERM
        run nht1-profile --quiet -- sh -c 'kill -TERM $$; exit 5'
        expect_status 5
    )
}

@test "no room for the counters: the program runs as it would" {
    slow
    run bash -c "ulimit -f 20000; nht1-profile -- '$NHT1_ROOT/tests/mpi-run' -np 1 '$NHT1_TESTBIN/mkcalls' all a.dat"
    expect_status 0
    expect_text "rank 0 is not profiled"
    # Nor do some ranks drop their writes and others not.
    run bash -c "ulimit -f 20000; nht1-profile --t-c -- '$NHT1_ROOT/tests/mpi-run' -np 1 '$NHT1_TESTBIN/mkcalls' all a.dat"
    expect_status 4
    expect_text "no zeta: mkcalls has a limit on file sizes that leaves no room to follow"
    expect_text "raise the limit (ulimit -f)"
    memory_disk disk 580k
    # The first 64 working points find their space, the others do not.
    profiled -o disk/profile.xml --json p.json --split 1 1 all b.dat
    umount disk
    expect_status 0
    expect_text "counted with others"
    expect_json p.json '.profile | .lost_n > 0 and .reads_n + .writes_n == 406'
    cmp a.dat b.dat
}

@test "counters that were written over are no rank's" {
    # shellcheck disable=SC2016 # the program's own variable
    run nht1-profile -- sh -c 'head -c 5000 /dev/urandom >"$NHT1_PROFILE_DIR/rank-0"
        cp "$NHT1_PROFILE_DIR/rank-0" "$NHT1_PROFILE_DIR/rank-1" && truncate -s 40M "$NHT1_PROFILE_DIR/rank-1"'
    expect_status 0
    expect_text "no rank of the command has called MPI_Init"
    # Nor are those of a rank that lie where the others' are not: what is counted is not the whole. What that rank
    # writes would be written without writes, too.
    # shellcheck disable=SC2016
    run nht1-profile --t-c --json r.json -- sh -c '"$0" -np 2 "$1" all t.dat && rm "$NHT1_PROFILE_DIR/rank-1"; echo run >>runs' "$NHT1_ROOT/tests/mpi-run" "$NHT1_TESTBIN/mkcalls"
    expect_status 4
    expect_text "Incomplete: of 2 ranks, 1 left counters"
    expect_text "no zeta: of 2 ranks, 1 left counters"
    [ "$(cat runs)" = run ]
    expect_schema nht1-profile-1 r.json
    expect_json r.json '[.stamps[] | select(.code == "incomplete" and .severity == "warn") | .numbers.ranks_seen_n] == [1]'
}

@test "the program's exit status is that of the profiler" {
    run nht1-profile --quiet -- sh -c 'exit 42'
    expect_status 42
    [ ! -e profile.xml ]
    run nht1-profile -- sh -c 'exit 0'
    expect_status 0
    expect_text "MPI_Init"
    run -127 nht1-profile -- ./is-not-there
    # It says 0 only of a program whose profile is there.
    profile_unwritten() {
        LD_PRELOAD=$NHT1_TESTBIN/fault.so NHT1_FAULT_PROGRAM=nht1-profile NHT1_FAULT_IN=$PWD/profile.xml \
            NHT1_FAULT=rename:2:EIO:0 run nht1-profile --quiet -- sh -c "\
            '$NHT1_ROOT/tests/mpi-run' -np 1 '$NHT1_TESTBIN/mkcalls' all a.dat >/dev/null; exit $1"
    }
    profile_unwritten 0
    expect_status 3
    expect_text "Input/output error"
    profile_unwritten 42
    expect_status 42
}

@test "zeta: writes are dropped in one run and made in the other" {
    # shellcheck disable=SC2016 # the program's own variables
    # What the test has opened is written in all runs.
    run nht1-profile --t-c --repeat 2 --json p.json -- sh -c 'echo "$NHT1_PROFILE_DROP" >&7; exec "$@"' sh \
        "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" sleep z.dat 7>>order
    expect_status 0
    # One that warms up, then pairs.
    [[ "$(paste -sd' ' order)" =~ ^0(\ 0\ 1|\ 1\ 0){2}$ ]]
    [ "$(stat -c %s z.dat)" -eq $((160 << 20)) ]
    expect_json p.json '.zeta | .zeta_ci95_lo == null and .dropped_bytes == (160 * 1048576) and .t_c_s >= 0.5'
    expect_json p.json '.zeta | (.rounds | length) == 2 and .r_io_bytes_per_s > 0'
    expect_schema nht1-profile-1 p.json
    # Ten times 50 ms, nine of them between two of the 80 calls of a rank.
    awk -F'think="' 'NF > 1 { split($2, s, "\""); n++; ok = s[1] >= 0.0056 } END { exit n != 1 || !ok }' profile.xml
    [ -z "$(find . -name 'profile.xml.run*')" ]
}

@test "zeta of a program has one answer, with its reason, and says what disturbed the runs" {
    slow
    # The node's part of the evidence is a recorded one: a hypervisor had 3 % of it.
    run env NHT1_PROC="$NHT1_ROOT/tests/proc/busy" nht1-profile --t-c --repeat 6 --json p.json -- \
        "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" fresh f.dat
    expect_status 0
    expect_schema nht1-profile-1 p.json
    # Seconds would be needed, and a device.
    expect_json p.json '.zeta | .answer == "not-measurable" and (.reason | IN("too-short", "page-cache"))'
    expect_json p.json '[.stamps[].code] == ["not-measurable", "disturbed"]'
    expect_json p.json '.stamps[1].numbers.steal | . > 0.0299 and . < 0.0301'
    expect_json p.json '.zeta.rounds | length == 6 and all(.disturbance.disturbed and .disturbance_dropped.disturbed
        and (.disturbance.share_min | . > 0 and . <= 1))'
    expect_text "Not measurable here and now: "
    expect_text "Disturbed: ranks got "
}

@test "--repeat auto: pairs go on until it is decided, or the time is over; what is wrong is refused" {
    slow
    local program=("$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" fresh f.dat)
    # That these runs are too short is known at the first look.
    run nht1-profile --quiet --t-c --repeat auto --minutes 1000 --json p.json -- "${program[@]}"
    expect_status 0
    expect_schema nht1-profile-1 p.json
    expect_json p.json '.zeta | (.rounds | length) == 8 and .answer == "not-measurable" and .zeta_ci95_lo <= .zeta_ci95_hi
        or .zeta_ci95_lo == null'
    expect_json p.json '.certificates | length == 8'
    rm f.dat
    # By the test's clock a pair takes 6000 s: three of them in 21000 s.
    own_clock 0
    run nht1-profile --quiet --t-c --repeat auto --minutes 350 --json p.json \
        --between 'rm f.dat && printf "%6000s" "" >>"$NHT1_CLOCK"' -- "${program[@]}"
    unset LD_PRELOAD
    expect_status 0
    expect_json p.json '.zeta.rounds | length == 3'
    run nht1-profile --repeat auto -- touch started
    expect_status 1
    expect_text "--repeat and --t-c-add belong to --t-c"
    run nht1-profile --t-c --minutes 3 -- touch started
    expect_status 1
    expect_text "--minutes is for --repeat auto"
    run nht1-profile --t-c --repeat atuo -- touch started
    expect_status 1
    expect_text "auto"
    run nht1-profile --t-c --repeat 0 -- touch started
    expect_status 1
    [ ! -e started ]
}

@test "the launcher is asked for its version once, before the clock of any run" {
    slow
    mkdir launcher
    cat >launcher/mpirun <<'END'
#!/bin/sh
[ "$1" = --version ] && { echo version >>asked; echo "mpirun (Open MPI) 4.1.4"; exit; }
echo run >&7
while [ "$1" = -x ]; do export "$2"; shift 2; done
exec "$@"
END
    chmod +x launcher/mpirun
    # What the test has opened is written in all runs.
    run nht1-profile --t-c --repeat 2 -- "$PWD/launcher/mpirun" \
        "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" fresh f.dat 7>>asked
    expect_status 0
    [ "$(paste -sd' ' asked)" = "version run run run run run" ]
}

@test "a job of several programs is profiled as a whole, by Open MPI in whatever way variables are passed on" {
    need_open_mpi "other launchers pass their environment on"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    local one="-np 1 $NHT1_TESTBIN/mkcalls all f.dat"
    # shellcheck disable=SC2086 # words
    run nht1-profile --json r.json -- "$(launcher)" --oversubscribe -x LD_PRELOAD="$NHT1_TESTBIN/wait.so" $one : -x LD_PRELOAD $one
    expect_status 0
    expect_json r.json '.profile | .mpi_ranks_n == 2'
    expect_json r.json '[.stamps[].code] | contains(["incomplete"]) | not'
    # Neither a file of contexts nor another list of variables can have -x beside it.
    printf '%s\n%s\n' "$one" "$one" >contexts
    run env OMPI_MCA_mca_base_env_list=X=1 nht1-profile --json r.json -- "$(launcher)" --oversubscribe --app contexts
    expect_status 0
    expect_json r.json '.profile | .mpi_ranks_n == 2'
}

@test "pointers and statuses are right while writes are dropped" {
    # What it writes, it reads from a file that was there: mkcalls looks at every status.
    run env NHT1_PROFILE_DIR="$PWD" NHT1_PROFILE_DROP=1 \
        LD_PRELOAD="${NHT1_BIN%/*}/lib/nht1/libnht1-profile.so" \
        "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" uneven w.dat
    expect_status 0
    [ ! -e w.dat ]
}

@test "a folder that any of the ranks makes first costs no zeta" {
    run nht1-profile --t-c --json p.json -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" folder z.dat
    expect_status 0
    expect_json p.json '.certificates[0].agree and .profile.written_bytes == 20'
    [ -f z.dat/0 ] && [ -f z.dat/1 ]
}

@test "a program that does not do the same in both runs has no zeta" {
    slow
    profiled_t_c() {
        run nht1-profile --t-c --json p.json -- "$NHT1_ROOT/tests/mpi-run" -np "$1" "$NHT1_TESTBIN/mkcalls" "$2" z.dat
    }
    profiled_t_c 4 differs
    expect_status 4
    expect_text "nht1-profile: no zeta: rank 3 wrote z.dat 402 times in one run and 2 in the other"
    expect_json p.json '.zeta == null and .certificates[0].agree == false and .certificates[0].difference != null'
    expect_schema nht1-profile-1 p.json
    profiled_t_c 1 disorder
    expect_status 4
    expect_text "nht1-profile: no zeta: rank 0 accessed z.dat in another order or at other places in one run than in the other"
    profiled_t_c 2 uneven
    expect_status 0
    expect_text "certified: the same"
    expect_json p.json '.certificates == [{"agree": true, "ranks_n": 2, "files_n": 2, "ordered_files_n": 2, "calls_n": 8,
        "bytes": 12388, "difference": null}]'
}

# kept WORD FILE: mkcalls WORD on two ranks has a zeta, and its run without writes leaves FILE as it was.
kept() {
    # shellcheck disable=SC2016 # the program's own variables
    # What the test has opened is written in all runs.
    run nht1-profile --t-c -- sh -c '"$@" || exit; stat -c "%s %y %i" "$0" >&7; cksum <"$0" >&8' "$2" \
        "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" "$1" "$2" 7>>stats 8>>sums
    expect_status 0
    expect_text "certified: the same"
    [ "$(wc -l <stats)" -eq 2 ]
    # In the run without writes the program sees what stands for the file.
    [ "$(head -n 1 stats)" = "$(stat -c "%s %y %i" "$2")" ]
    [ "$(sort -u sums | wc -l)" -eq 1 ]
    [ -z "$(find . -name 'profile.xml.run*')" ]
    rm stats sums
}

@test "a program that reads back what it has written has a zeta" {
    kept read-back r.dat
    has '<calls function="write_at_all" n="1" bytes="500" shift="1000"/>' '<calls function="iwrite_at" n="1" bytes="500" begin="500" shift="1000"/>' '<calls function="read_at_all" n="1" bytes="1000"/>'
}

@test "while writes are dropped files exist and end as the program has made them" {
    kept sizes s.dat
    [ "$(stat -c %s s.dat)" -eq 10000 ]
    kept fresh f.dat
    [ "$(stat -c %s f.dat)" -eq 3000 ]
    [ ! -e f.dat.other ]
    kept pointer p.dat
    [ "$(stat -c %s p.dat)" -eq 22000 ]
    expect_text "read instead of dropped"
}

@test "without its writes a program flushes nothing by MPI_File_sync" {
    slow
    need_program strace
    run strace -f -y -e trace=fsync,fdatasync -o calls mpirun --version
    [ "$status" -eq 0 ] || not_permitted "to trace system calls"
    run strace -f -y -e trace=fsync,fdatasync -o calls nht1-profile --t-c --json p.json -- \
        "$NHT1_ROOT/tests/mpi-run" -np 1 "$NHT1_TESTBIN/mkcalls" sync f.dat
    expect_status 0
    expect_text "certified: the same"
    expect_json p.json '.profile.other.sync.n == 10'
    [ "$(grep -c 'sync([0-9]*<[^>]*f\.dat>) ' calls)" -eq 10 ]
}

@test "MPI_File_sync of ROMIO, in which no rank waits for another, is a call of each rank" {
    local way
    export NHT1_DELAY_FSYNC_US=600000
    for way in io=romio321 io_romio321_priority=100 io_ompio_priority=1; do
        run env "OMPI_MCA_$way" LD_PRELOAD="$NHT1_TESTBIN/delay.so" nht1-profile --json p.json -- \
            "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" sync-late f.dat
        expect_status 0
        expect_json p.json '.profile | .other.sync.n == 2 and .inside_any_s >= 0.6'
    done
}

@test "what MPI_File_delete removes is counted" {
    slow
    profiled --json p.json 2 fresh f.dat
    expect_status 0
    expect_json p.json '.profile.other.remove.n == 2'
}

@test "MPI_File_delete of a link leaves what the link leads to, and is told" {
    ln -s real.dat f.dat
    run nht1-profile --t-c --repeat 2 -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" deleted f.dat
    expect_status 4
    expect_text "no zeta: mkcalls has made, renamed or removed a link"
    [ "$(stat -c %s real.dat)" -eq 2000 ]
    [ ! -e f.dat ]
}

@test "the slowest calls are told, with file, place, rank and host" {
    slow
    profiled --json p.json 3 slow s.dat
    expect_status 0
    expect_text "Slowest calls"
    [ "$(sed -n '/^Slowest calls/,$p' <<<"$output" | grep -c ' of s.dat, rank ')" -eq 10 ]
    expect_json p.json '.profile.slowest | length == 10 and (map(.inside_s) | . == (sort | reverse))'
    expect_json p.json '[.profile.slowest[] | select(.bytes == 1048576)] | .[0] | .file == "s.dat" and .function == "write_at"
        and .rank == 2 and .offset_bytes == 5000 and (.host | length) > 0'
    expect_json p.json '.profile | [.timeline.by_rank.rows[].first_rank] == [0, 1, 2]
        and ([.timeline.by_rank.rows[].written_bytes[]] | add) == .written_bytes'
    expect_schema nht1-profile-1 p.json
}

@test "what is written past MPI-IO is profiled and dropped, stdio too, as often as strace sees it" {
    # And before MPI_Init, after MPI_Finalize, or by another process: not in what is said of the time in between.
    # shellcheck disable=SC2016 # the parameters of the inner shell
    run nht1-profile --t-c --json p.json -- sh -c '"$1/tests/mpi-run" -np 1 "$2" before p.dat; head -c 7000 /dev/zero >copy' - \
        "$NHT1_ROOT" "$NHT1_TESTBIN/mkcalls"
    expect_status 0
    expect_text "certified: the same"
    expect_text "Outside   0 B of it read and 7.61 kB written before MPI_Init or after MPI_Finalize, or by processes that began or ended there"
    expect_json p.json '.profile | .written_bytes == 307610 and .posix_written_bytes == 207610 and .outside_written_bytes == 7610'
    expect_json p.json '.zeta.dropped_bytes == 307610'
    expect_json p.json '.zeta | .r_io_bytes_per_s * .t_t_s / 300000 - 1 | fabs < 1e-9'
    # The slowest is a rank, and what it did in between is part of its time.
    expect_json p.json '.profile | .inside_max_rank == 0 and .inside_max_s == .ranks[0].inside_s and .inside_mean_s == .inside_max_s
        and .inside_max_s < .wall_s'
    expect_schema nht1-profile-1 p.json
    need_program strace
    rm -f p.dat*
    run mpi_run 1 strace -f -y -e trace=write,writev,pwrite64 -o calls "$NHT1_TESTBIN/mkcalls" past p.dat
    [ "$status" -eq 0 ] || not_permitted "to trace system calls"
    expect_json p.json "[.profile.points[] | select(.file | test(\"p.dat.(posix|stdio)$\")).functions[].n] | add ==
        $(grep -cE 'p\.dat\.(posix|stdio)>' calls)"
}

@test "what a rank has other processes do while it runs is part of the run" {
    run nht1-profile --t-c --json p.json -- "$NHT1_ROOT/tests/mpi-run" -np 1 "$NHT1_TESTBIN/mkcalls" children c.dat
    expect_status 0
    expect_text "with at least one rank or process beside them inside"
    expect_text "of it with a rank or process beside them inside I/O"
    expect_no_text "Outside "
    expect_json p.json '.profile | .written_bytes == 7305 and .outside_written_bytes == 0 and .mpi_ranks_n == 1 and .ranks_n == 3'
    expect_json p.json '.zeta | .r_io_bytes_per_s * .t_t_s / 7305 - 1 | fabs < 1e-9'
    # One after the other; the mean is of ranks.
    expect_json p.json '.profile | (.inside_any_s - ([.ranks[].inside_s] | add) | fabs) < 1e-9 and .inside_mean_s == .ranks[0].inside_s'
    expect_schema nht1-profile-1 p.json
}

@test "each run with writes begins as the first one did, or is refused" {
    slow
    run nht1-profile --t-c --repeat 2 -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" fresh f.dat
    expect_status 0
    [ "$(stat -c %s f.dat)" -eq 3000 ]
    # So does one whose file the program has created by other means.
    run nht1-profile --t-c --repeat 2 -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_BIN/nht1-bt" --class S --steps 4 --interval 2 \
        --io mpiio --verify never --tc 1
    expect_status 0
    expect_text "certified: the same"
    # What was there before nobody has kept.
    head -c 5000 /dev/zero >u.dat
    run nht1-profile --t-c --repeat 2 -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" uneven u.dat
    expect_status 4
    expect_text "u.dat was there before the first run and is written: remove it, or give --between COMMAND"
    run nht1-profile --t-c --repeat 2 --between 'echo >>between; head -c 5000 /dev/zero >u.dat' -- \
        "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" uneven u.dat
    expect_status 0
    [ "$(wc -l <between)" -eq 2 ]
    run nht1-profile --t-c --repeat 2 --between 'exit 7' -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" uneven u.dat
    expect_status 4
    expect_text "--between ended with status 7"
}

@test "the time in the calls on a file is what nht1-bt says of itself, its warm-up file stands apart" {
    local writer
    for writer in posix mpiio; do
        rm -f btout.bin*
        run nht1-profile --json p.json -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_BIN/nht1-bt" --class S --steps 4 --interval 2 \
            --io $writer --verify never --tc 1 --json own.json
        expect_status 0
        jq -n --slurpfile own own.json --slurpfile p p.json '$own[0].runs[0] as $run |
            [$p[0].profile.points[] | select(.file | endswith("btout.bin")) | .functions[]] |
            {bytes: map(.bytes) | add, total_s: map(.total_s) | add, run_bytes: $run.bytes, write_s: (2 * $run.phases_s.write.mean),
                warmup: ([$p[0].profile.points[] | select(.file | contains(".warmup-")) | .functions[].bytes] | add),
                warmup_bytes: $own[0].warmup_bytes}' >seconds
        cat seconds
        # All of it lies within the phase that nht1-bt times, on both ranks.
        jq -e '.bytes == .run_bytes and .total_s > 0 and .total_s <= .write_s and .warmup == .warmup_bytes' seconds
    done
}

@test "wrong options and files that are not ours are refused before the program starts" {
    run nht1-profile
    expect_status 1
    run nht1-profile --split never -- touch started
    expect_status 1
    expect_text "--split"
    echo mine >profile.xml
    run nht1-profile -- touch started
    expect_status 1
    [ "$(cat profile.xml)" = mine ]
    printf '<?xml version="1.0" encoding="UTF-8"?>\n<svg/>\n' >profile.xml
    run nht1-profile -- touch started
    expect_status 1
    [ "$(grep -c svg profile.xml)" -eq 1 ]
    run nht1-profile -o ./p.xml --json p.xml -- touch started
    expect_status 1
    expect_text "--out and --json have the same file"
    run nht1-profile -o there/is/no/such/folder.xml -- touch started
    [ "$status" -ne 0 ]
    run nht1-profile --repeat 3 -- touch started
    expect_status 1
    # It is no rank: each would profile one, and all would write the same files.
    rm profile.xml
    run mpi_run 2 nht1-profile --t-c -- touch started
    [ "$status" -ne 0 ]
    expect_text "a launcher has started nht1-profile 2 times"
    expect_text "nht1-profile [OPTION...] -- mpirun -np 2 PROGRAM"
    [ ! -e started ]
    [ -z "$(find . -name 'profile.xml*')" ]
    # A single one could start MPI only once.
    run "$NHT1_ROOT/tests/mpi-run" -np 1 nht1-profile --t-c -- touch started
    [ "$status" -ne 0 ]
    expect_text "nht1-profile --t-c [OPTION...] -- mpirun -np 1 PROGRAM"
    [ ! -e started ]
    # Without --t-c it is none of several, nor is what a shell starts that a launcher has started.
    run env OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 PMI_SIZE=2 PMI_RANK=0 SLURM_STEP_NUM_TASKS=2 nht1-profile -- sh -c 'echo text >started'
    expect_status 0
    expect_text "the workload is in profile.xml"
}

@test "help that does not arrive is an error" {
    [ -e /dev/full ] || not_here "no /dev/full"
    run bash -c 'nht1-profile --help >/dev/full'
    expect_status 3
}

@test "functions that MPI-IO calls back, and another library that intercepts MPI, are told" {
    slow
    need_program "$(wrapper mpicc)"
    cat >e.c <<'END'
#include <mpi.h>
static void failed(MPI_File *file, int *code, ...) { (void)file, (void)code; }
int main(int n, char **word)
{
    MPI_Errhandler handler;
    MPI_File file;
    MPI_Init(&n, &word);
    if (n > 1) MPI_File_create_errhandler(failed, &handler);
    MPI_File_open(MPI_COMM_WORLD, "e.dat", MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    MPI_File_write(file, "e", 1, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    return MPI_Finalize();
}
END
    cat >tool.c <<'END'
#include <mpi.h>
int MPI_File_close(MPI_File *file) { return PMPI_File_close(file); }
END
    env -u OMPI_CC "$(wrapper mpicc)" -o e e.c
    env -u OMPI_CC "$(wrapper mpicc)" -shared -fPIC -o tool.so tool.c
    run nht1-profile --t-c -- "$NHT1_ROOT/tests/mpi-run" -np 1 ./e
    expect_status 0
    expect_text "certified: the same"
    run nht1-profile --t-c --json p.json -- "$NHT1_ROOT/tests/mpi-run" -np 1 ./e handler
    expect_status 4
    expect_text "no zeta: e has functions that MPI-IO calls back (MPI_File_create_errhandler)"
    expect_schema nht1-profile-1 p.json
    run nht1-profile --t-c -- "$NHT1_ROOT/tests/mpi-run" -np 1 env LD_PRELOAD="$PWD/tool.so:$NHT1_BIN/../lib/nht1/libnht1-profile.so" ./e
    expect_status 0 # it is called before
    run nht1-profile --t-c -- "$NHT1_ROOT/tests/mpi-run" -np 1 sh -c 'LD_PRELOAD=$LD_PRELOAD:$PWD/tool.so exec ./e'
    expect_status 4
    expect_text "no zeta: e runs with a library that intercepts MPI, too, and is not called ($PWD/tool.so)"
}

@test "a second MPI program in a command is told, and leaves the first one's counters" {
    # shellcheck disable=SC2016 # the parameters of the inner shell
    run nht1-profile --json p.json -- \
        sh -c '"$1" before "$2/a"; "$1" before "$2/b"' - "$NHT1_TESTBIN/mkcalls" "$PWD"
    expect_text "rank 0 is not profiled"
    expect_text "more than one MPI program"
    expect_schema nht1-profile-1 p.json
    expect_json p.json '[.profile.not_seen[].what] == ["second"]'
    expect_json p.json '.profile | .mpi_ranks_n == 1 and any(.points[]; (.file | endswith("a.posix")) and .functions.write.n == 100)'
    expect_json p.json 'any(.profile.points[]; .file | endswith("b.before"))'
}
