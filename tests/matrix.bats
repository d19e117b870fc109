#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Every program that writes meets every trouble: a disk that is full, a folder that is read-only, somebody
# else's file, each call that fails on one rank, SIGKILL of a rank and of the launcher, SIGINT. It ends, says
# why, and leaves nothing that is not a result or that the next run does not sweep. Of the calls, make check
# takes a sample, make check-full more.
# shellcheck disable=SC2044,SC2154 # names without blanks; wait_stopped sets stopped
load helpers

# Name, ranks, status of a run that goes well, names that it may leave in ./data, and its command.
table() {
    local bt="nht1-bt --n 12 --steps 4 --dt 0.001 --interval 2 --tc 1 --quiet --verify never --out data/f --json data/result"
    local study="s|runs|p01-r01|p01-r01.part|p01-r01-1|dumps|dump.bin.json?(.journal)|interrupted|lock|study.ini|@(study|summary|run|result).json|@(runs|summary).csv|summary.txt|std@(out|err)"
    cat <<END
posix     2 0 f|f.json|result            $bt --io posix
perrank   2 0 f|f.json|f.rank?????|result  $bt --io perrank
mpiio     2 0 f|f.json|result            $bt --io mpiio
async     2 0 f|f.json|result            $bt --io async
auto      1 0 result                     $bt --io auto:posix,token --minutes 0.01
probe     1 0 result                     nht1-probe --quiet --out data/f --json data/result
beffio    2 4 result                     nht1-beffio --quiet -p data --force -MB 16 -T 0.01 -N 2 --json data/result
patterns  2 4 result                     nht1-workload job.conf --quiet --force --out data/f --json data/result
common    2 0 result                     nht1-workload common.xml --quiet --force --out data/f --json data/result
separate  2 0 result                     nht1-workload separate.xml --quiet --force --out data/f --json data/result
accesses  2 0 result                     nht1-workload a.jsonl --quiet --force --out data/f --json data/result
merge     1 0 f|f.json|f.rank?????       nht1-verify --merge data/f
export    1 0 f|f.json|f.*.vti|f.pvd     nht1-verify --export vti data/f
profile   1 0 f.xml|result               nht1-profile --quiet --out data/f.xml --json data/result -- true
written   1 0 f.xml|f.jsonl|g|mine|result  nht1-profile --quiet --out data/f.xml --accesses data/f.jsonl --json data/result -- cp data/mine data/g
dropped   1 0 f.xml|g|mine|result|f.xml.run-*.output  nht1-profile --quiet --t-c --out data/f.xml --json data/result -- cp data/mine data/g
beff      2 4 result|sum                 nht1-beff --quick --quiet --time-limit 1 --memory-per-process 16M --sum data/sum --json data/result
stats     1 0 result                     nht1-stats --json data/result 1 2 3
study     1 0 $study  nht1-study x.ini --quiet --no-plan --no-report --out data/s
report    1 0 f.html                     nht1-report --no-figures -o data/f.html one.json
END
}

setup_file() {
    real_python
    cd "$BATS_FILE_TMPDIR" || return 1
    mkdir made made/merge made/export made/written made/dropped
    printf '%08191d\n' 1 | tee made/written/mine >made/dropped/mine
    local bt=(nht1-bt --n 12 --steps 4 --dt 0.001 --interval 2 --tc 1 --quiet --verify never)
    mpi_run 2 "${bt[@]}" --io perrank --out made/merge/f
    mpi_run 1 "${bt[@]}" --io posix --out made/export/f --json made/one.json
    printf 'Data 4k\nRecord 512\nCells 4\nTemporal write,read\n<Pattern sequential> </Pattern>\n' >made/job.conf
    (cd made && nht1-workload --make common.xml processNum=2 uniqueBytes=8000 sizeMean=1000 contMean=1000 collFrac=0)
    printf '[study]\nrepeats = 1\n[run]\nprogram = nht1-bt\nranks = 1\nio = posix\nn = 12\nsteps = 4\ndt = 0.001\ninterval = 2\ntc = 1\n' >made/x.ini
    # By two processes, the first of which writes in pieces.
    (cd made && nht1-profile --quiet --out a.xml --accesses a.jsonl -- \
        sh -c 'dd if=/dev/zero of=a bs=4096 count=6 conv=fsync status=none & cp one.json b; wait' && rm a b a.xml)
    sed "s/mode=.common./mode=\"separate\"/" made/common.xml >made/separate.xml
}

teardown() {
    ! mountpoint -q data 2>/dev/null || umount data
}

# each COMMAND...: of every row, with $name, $ranks, $good, $results and $command. $NHT1_MATRIX: of these alone.
each() {
    local name ranks good results command problems='' row=0 asked=0
    cp "$BATS_FILE_TMPDIR"/made/*.* .
    export NHT1_FAULT_IN=$PWD/data
    while read -r -u 5 name ranks good results command; do
        case " ${NHT1_MATRIX:-$name} " in *" $name "*) ;; *) continue ;; esac
        # One program's ways to write share what ends it; tests/mpi_io_fault.c has their calls fail.
        case ${NHT1_FULL:-$name} in mpiio | async | common) continue ;; esac
        # In make check every program meets every second trouble, and every trouble every second program.
        asked=$((asked + 1))
        [ -n "${NHT1_FULL:-}${NHT1_MATRIX:-}" ] || [ $(((asked + BATS_TEST_NUMBER) % 2)) -eq 0 ] || continue
        program=${command%% *}
        read -ra command <<<"$command"
        # A search goes by the clock: 6000 readings of one that no load disturbs are enough for it.
        if [ "$name" = auto ]; then own_clock 100; else unset NHT1_CLOCK LD_PRELOAD; fi
        "$@"
        row=$((row + 1))
    done 5< <(table)
    [ -z "$problems" ] || { echo "$problems" && return 1; }
}

bad() {
    problems+="$name: $*"$'\n'"$(head -n 5 err 2>/dev/null | sed 's/^/    /')"$'\n'
}

# fresh: ./data as the program finds it.
fresh() {
    mkdir -p data
    find data -mindepth 1 -delete
    [ ! -d "$BATS_FILE_TMPDIR/made/$name" ] || cp "$BATS_FILE_TMPDIR/made/$name"/* data
}

# go [VARIABLE=VALUE...]: the program, its status in $got, what it says in err. $by: ranks.
go() {
    got=0
    mpi_run "${by:-$ranks}" env "$@" "${command[@]}" </dev/null >err 2>&1 || got=$?
}

# told WHAT [STATUS]: it ended by itself, in vain, and says so.
told() {
    [[ $got =~ ^(${2:-1|3})$ ]] || bad "$1: status $got"
    case $(<err) in *"$program: "*) ;; *) bad "$1: says nothing" ;; esac
}

# only PATTERN: nothing else is in ./data, but what was given and what somebody else has put there; what a user has
# there beside is as it was.
only() {
    local file mine=$BATS_FILE_TMPDIR/made/$name/mine
    [ ! -e "$mine" ] || cmp -s "$mine" data/mine || bad "$2: data/mine is not as it was"
    for file in $(find data -mindepth 1 -printf '%f\n'); do
        # shellcheck disable=SC2053 # a pattern
        [[ $file == @($1|foreign) ]] || { bad "$2: left $file" && return 0; }
    done
}

# goes_on WHAT: the next run does what it should, and sweeps.
goes_on() {
    # A file that was made is proved, and not made again.
    [ "$name" != merge ] || [ ! -s data/f ] || local -a command=(nht1-verify data/f)
    # A study goes on under the conditions in which it was begun.
    if [ "$name" = study ]; then faulty; else go; fi
    [ "$got" -eq "$good" ] || bad "$1: the next run ends with status $got"
    # What only reads sweeps nothing.
    [ "${command[*]}" != "nht1-verify data/f" ] || ! nht1-verify --merge data/nothing 2>sweep.log || bad "$1: merged nothing"
    only "$results" "after $1 and one more run"
}


# faulty PLAN|LOG [VARIABLE=VALUE...]: with the fault shim (tests/shim/fault.c).
faulty() {
    local of=$program
    case $program in nht1-report | nht1-study) of=python3 ;; esac
    go LD_PRELOAD="$NHT1_TESTBIN/fault.so${LD_PRELOAD:+:$LD_PRELOAD}" NHT1_FAULT_PROGRAM="$of" "$@"
}

# sites MOST: the calls on files below ./data, "CALL NUMBER RANK" a line: in make check-full all of them, but of
# one call of one rank at most 16, from the first to the last; else MOST, of different kinds, and other ones for
# each program.
sites() {
    local rank call calls n most all="$BATS_FILE_TMPDIR/sites.$name"
    if [ ! -e "$all" ]; then
        # A launcher kills what is left when the first rank ends with a status of its own, also one on its way out.
        for ((n = 0; n < 5; n++)); do
            fresh
            rm -rf log
            mkdir log
            faulty NHT1_FAULT_LOG="$PWD/log"
            [ ! -e log/0 ] || [ ! -e "log/$((ranks - 1))" ] || break
        done
        [ "$got" -eq "$good" ] || echo "no run without a fault" >>"$all"
        for ((rank = 0; rank < ranks; rank++)); do
            [ -e "log/$rank" ] || echo "no shim in rank $rank" >>"$all"
            while read -r call calls; do
                [ "$call" != openr ] || continue
                if [ -n "${NHT1_FULL:-}" ]; then
                    most=$((calls < 16 ? calls : 16))
                    for ((n = 0; n < most; n++)); do
                        echo "$call $((most < 2 ? 1 : 1 + n * (calls - 1) / (most - 1))) $rank"
                    done
                elif [ "$calls" -gt 0 ]; then
                    echo "$call $((1 + row * 7 % calls)) $rank"
                fi
            done <"log/$rank"
        done >>"$all"
    fi
    [ -z "${NHT1_FULL:-}" ] || { cat "$all" && return 0; }
    awk -v most="$1" -v row="$row" '
        $1 == "no" { print }
        { line[NR - 1] = $0 }
        END { for (k = 0; k < most && k < NR; k++) print line[(row * 5 + int(k * NR / most)) % NR] }' "$all"
}

# What a call fails with.
what_of() {
    case $1 in
    pwrite | write | fallocate | ftruncate) echo ENOSPC ;;
    open) echo EROFS ;;
    *) echo EIO ;;
    esac
}

# room BYTES: ./data has so much and somebody's file.
room() {
    memory_disk data 16m
    fresh
    head -c "$(($(df --output=avail -B1 data | tail -n 1) - $1))" /dev/zero >data/foreign
}

full_disk() {
    local left status='1|3'
    # No zeta where there was no room to follow the program.
    [ "$name" != dropped ] || status+='|4'
    for left in ${NHT1_FULL:+0 4096 8192 12288 32768 65536} 16384; do
        rm -rf data
        room "$left"
        go
        [ "$got" -eq "$good" ] || told "$left bytes of room" "$status"
        only "$results" "$left bytes of room"
        umount data
    done
}

read_only() {
    rm -rf data
    memory_disk data 16m
    fresh
    find data | sort >before
    mount -o remount,ro data
    go
    told "a read-only folder" 3
    find data | sort | cmp -s - before || bad "a read-only folder: changed"
    umount data
}

@test "a disk that is full" {
    need_root "a file system of one's own"
    each full_disk
}

@test "a folder that is read-only" {
    need_root "a file system of one's own"
    each read_only
}

foreign() {
    local target file
    fresh
    # What it would make, as a run that goes well shows.
    go
    for target in $(find data -mindepth 1 -maxdepth 1 -printf '%f\n'); do
        fresh
        # What is given, and what the profiled program writes over of itself.
        [ ! -e "data/$target" ] && [ "$target" != g ] || continue
        echo "dear diary" >"data/$target"
        go
        told "somebody else's $target"
        [ "$(cat "data/$target")" = "dear diary" ] || bad "somebody else's $target: lost"
    done
}

@test "a file of somebody else" {
    each foreign
}

# What --force writes over: with room for it; without any, the old one stays. Searches and probes make no file
# of the name itself, what profile runs here has nothing to profile, and the other programs have no --force.
forced() {
    local target
    case $name in
    posix | perrank | mpiio | async | patterns | common) target=data/f ;;
    separate) target=data/f.00001 ;;
    beffio) target=data/b_eff_io_data_i00_002_0 ;;
    *) return 0 ;;
    esac
    local -a command=("$program" --force "${command[@]:1}")
    room 4096
    echo "dear diary" >"$target"
    go
    told "--force without room"
    [ "$(cat "$target")" = "dear diary" ] || bad "--force without room: lost $target"
    umount data
    fresh
    echo "dear diary" >"$target"
    go
    [ "$got" -eq "$good" ] || bad "--force: status $got"
    ! grep -qs "dear diary" "$target" || bad "--force: $target stays"
    only "$results" "--force"
}

@test "a file of somebody else, and --force" {
    need_root "a file system of one's own"
    each forced
}

# at_sites MOST FUNCTION: it, at so many $site, "$call:$n" of $rank.
at_sites() {
    local call n rank site
    while read -r -u 6 call n rank; do
        [ "$call" != no ] || { bad "$call $n $rank" && continue; }
        site=$call:$n
        fresh
        "$2"
    done 6< <(sites "$1")
}

failing_call() {
    local what
    what=$(what_of "$call")
    faulty NHT1_FAULT="$site:$what:$rank"
    # A call on which nothing depends, or that is not made each time. What OMPIO calls a success although pwrite or
    # pread failed, the check of nht1-beffio finds in the data (docs/beffio.md).
    case $name:$call in
    beffio:pwrite | beffio:pread) [ "$got" -eq "$good" ] || told "$site:$what:$rank" "2|3" ;;
    # No zeta, and what the run without writes has said is where it says.
    dropped:*) [ "$got" -eq "$good" ] || told "$site:$what:$rank" "1|3|4" ;;
    *) [ "$got" -eq "$good" ] || told "$site:$what:$rank" ;;
    esac
    only "$results" "$site:$what:$rank"
    goes_on "$site:$what:$rank"
}

@test "each call fails on one rank" {
    each at_sites 1 failing_call
}

killed_rank() {
    faulty NHT1_FAULT="$site:kill:$rank"
    no_process "$program"
    goes_on "$site:kill:$rank"
}

@test "SIGKILL of a rank" {
    slow
    each at_sites 1 killed_rank
}

# The rank stands still at the call until its launcher is gone.
killed_launcher() {
    local job
    [ "$ranks" -gt 1 ] || return 0
    "$NHT1_ROOT/tests/mpi-run" -np "$ranks" env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_PROGRAM="$program" \
        NHT1_FAULT_STOP="$site:$rank" "${command[@]}" </dev/null >err 2>&1 3>&- &
    job=$!
    # A call that is not made each time.
    wait_stopped -p "$job" "$program" >wait.log || { wait "$job" || true; return 0; }
    kill -KILL "$(ps -o ppid= -p "$stopped" | tr -d ' ')"
    kill -CONT "$stopped"
    wait "$job" || true
    no_process "$program" || bad "the launcher killed at $site:$rank: a process stays"
    goes_on "the launcher killed at $site:$rank"
}

@test "SIGKILL of the launcher" {
    slow
    each at_sites 1 killed_launcher
}

interrupted() {
    faulty NHT1_FAULT="$site:SIGINT:$rank"
    # It may have been at its end, a program that holds nothing simply dies, and one in its run without writes has no zeta.
    [[ $name:$got =~ ^(.*:($good|130)|dropped:4)$ ]] || told "$site:SIGINT:$rank"
    no_process "$program"
    [ "$got" -eq 130 ] || only "$results|.nht1-*.own|*.tmp" "$site:SIGINT:$rank" # swept by the next run: goes_on
    goes_on "$site:SIGINT:$rank"
}

@test "SIGINT" {
    slow
    each at_sites 1 interrupted
}
