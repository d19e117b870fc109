#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-workload from its command line to its files: all patterns, all functions, wrong descriptions,
# full disks, files that are there already. No statement about times.
load helpers

teardown() {
    ! mountpoint -q data 2>/dev/null || umount data
}

# workload RANKS ARGUMENT...
workload() {
    local ranks=$1
    shift
    mkdir -p data
    run mpi_run "$ranks" nht1-workload --out data/d "$@"
}

# sweep RANKS...: numbers of processes to try; all of them in make check-full.
sweep() {
    [ -n "${NHT1_FULL:-}" ] && echo 1 2 3 4 8 || echo "$@"
}

# faulty PLAN RANKS ARGUMENT...: a run in which one call fails (tests/shim).
faulty() {
    local plan=$1 ranks=$2
    shift 2
    mkdir -p data
    run mpi_run "$ranks" env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD/data" \
        NHT1_FAULT_PROGRAM=nht1-workload NHT1_FAULT="$plan" "$NHT1_BIN/nht1-workload" --out data/d "$@"
}

# told TEXT...: status 3 and one message that holds the texts; no file is left.
told() {
    local text
    expect_status 3 || return 1
    for text in "$@"; do
        expect_text "$text" || return 1
    done
    [ "$(grep -c '^nht1-workload: ' <<<"$output")" -eq 1 ] || { echo "not one message: $output" && return 1; }
    nothing_left
}

# nothing_left: no file of a run in data.
nothing_left() {
    [ -z "$(ls -A data)" ] && return 0
    echo "left behind: $(ls -A data)"
    return 1
}

# small_patterns FILE: the shipped job with little data.
small_patterns() {
    {
        printf 'Data 256k\nRecord 1000\nCells 4\nGuard 2\nVariables 6\n'
        cat "$NHT1_ROOT/config/patterns.conf"
    } >"$1"
}

# points RANKS KIND FILE: twelve working points through all functions of MPI-IO; KIND is what is
# nonblocking and collective.
points() {
    local n=$1 p='<workingPoint processNum="%d" sizeMean="%s" uniqueBytes="60000" readFrac="%s" collFrac="%s" syncFrac="%s" seqFrac="%s" sharedFrac="%s" contMean="%s" file="%d" %s/>\n'
    {
        echo '<workload version="1" seed="3">'
        # shellcheck disable=SC2059 # the format is a point
        {
            printf "$p" "$n" 1000.5 0 0 1 1 0 1000.5 0 ''
            printf "$p" "$n" 1000.5 0.5 1 1 0.5 0 1000.5 0 ''
            printf "$p" "$n" 1000.5 0.5 0 0 0.5 0 1000.5 0 ''
            printf "$p" "$n" 1000.5 0.5 1 0 0.5 0 1000.5 0 ''
            printf "$p" "$n" 1000.5 0 0 1 1 1 1000.5 1 ''
            printf "$p" "$n" 1000.5 1 0 0.5 1 1 1000.5 1 ''
            printf "$p" "$n" 1000.5 0.5 1 0.5 0.5 1 1000.5 2 ''
            printf "$p" "$n" 1000.5 0.5 0.5 0 0.3 0.5 1000.5 2 ''
            printf "$p" "$n" 1000.5 0.5 0.5 0.5 0.5 0 100 0 ''
            printf "$p" "$n" 1000.5 0.5 1 1 0 0 7 0 ''
            printf "$p" "$n" 333 0.5 1 0 0.5 0 333 0 "nonblockingCollective=\"$2\""
            printf "$p" "$n" 1000.5 0.3 0.3 0.3 0.3 0.3 1000.5 0 ''
        }
        echo '</workload>'
    } >"$3"
}

@test "all 40 patterns: every byte right, times add up, JSON conforms" {
    need_program jq
    small_patterns p.conf
    for ranks in $(sweep 4); do
        workload "$ranks" p.conf --json r.json
        expect_status 4
        expect_schema nht1-workload-1 r.json
        jq -e '.wrong_n == 0 and ([.phases[] | .title] | unique | length == 40)' r.json
        jq -e '[.phases[] | .completed and .checked_bytes >= 100000] | all' r.json
        jq -e --argjson n "$ranks" '[.phases[].times | (.first_s | length) == $n and (.last_s | length) == $n
            and ([.first_s, .last_s] | transpose | map(.[0] <= .[1]) | all)] | all' r.json
        jq -e '[.phases[].times | (.s_s + .t_s + .b_s - .aggregate_s | fabs) < 1e-9 and .setup_s > 0
            and .cleanup_s > 0 and (.first_s | min) <= .s_s + 1e-9] | all' r.json
        nothing_left
    done
}

@test "all patterns: collective, POSIX, gaps in memory and in the file" {
    slow
    need_program jq
    small_patterns p.conf
    for way in "method=posix memory=strided memory-block=64" \
        "access=view memory=strided memory-block=100 group=3" "method=collective memory=strided"; do
        set_all=(--set "temporal=${NHT1_FULL:+re-write,re-read,}write,read,read-modify-write")
        for one in $way; do
            set_all+=(--set "$one")
        done
        [[ $way == *group* ]] && sed '/flash/d' p.conf >q.conf || cp p.conf q.conf
        workload 3 q.conf "${set_all[@]}" --json r.json
        expect_status 4
        jq -e '.wrong_n == 0 and (.phases | length >= 21)' r.json
    done
    sed -i '/sequential\|segmented/d' p.conf
    workload 3 p.conf --set file=contiguous --set temporal=write,read,read-modify-write --json r.json
    expect_status 4
    jq -e '.wrong_n == 0 and ([.phases[].file] | unique == ["contiguous"])' r.json
}

@test "all patterns and 12 points with ROMIO" {
    slow
    need_open_mpi "components are Open MPI's"
    small_patterns p.conf
    for ranks in $(sweep 3); do
        MPIRUN_FLAGS="--mca io romio321" workload "$ranks" p.conf --set method=collective --json r.json
        expect_status 4
        jq -e '.wrong_n == 0 and (.system.mpiio_component == "romio321") and (.phases | length == 40)' r.json
        points "$ranks" split w.xml
        MPIRUN_FLAGS="--mca io romio321" workload "$ranks" w.xml --json r.json
        expect_status 0
        jq -e '.wrong_n == 0 and (.points | length == 12)' r.json
    done
    points 2 request w.xml
    MPIRUN_FLAGS="--mca io romio321" workload 2 w.xml
    expect_status 1
    expect_text "w.xml:12:1:"
}

@test "12 points call all 34 functions, and every byte is right" {
    need_program jq
    # Else OMPIO's collective writes undo now and then what others write into their gaps (docs/portability.md).
    export OMPI_MCA_fbtl_posix_write_datasieving=0
    for ranks in $(sweep 2); do
        points "$ranks" request w.xml
        workload "$ranks" w.xml --json r.json
        expect_status 0
        expect_schema nht1-workload-1 r.json
        jq -e '.wrong_n == 0 and ([.points[].completed] | all)' r.json
        jq -e '[.points[] | .bytes == .asked.uniqueBytes] | all' r.json
        # A pair of begin and end is one call of two functions.
        [ "$ranks" -gt 2 ] || jq -e '[.points[].calls[].function] | unique
            | length == 28 and length + (map(select(endswith("_begin"))) | length) == 34' r.json
        nothing_left
    done
}

@test "fractions are met to within a call, nonblocking calls are in flight" {
    slow
    need_program jq
    nht1-workload --make w.xml processNum=2 uniqueBytes=800000 collFrac=0.3 sharedFrac=0.1 syncFrac=0.5
    workload 2 w.xml --depth 3 --json r.json
    expect_status 0
    jq -e '.points[0] | . as $p | ["readFrac", "collFrac", "syncFrac", "seqFrac", "sharedFrac"]
        | map(($p.asked[.] - $p.achieved[.]) | fabs <= 0.5001 / 50) | all' r.json
    jq -e '.points[0].in_flight_most_n == 3' r.json
    workload 2 w.xml --depth 1 --json s.json
    jq -e '.points[0].in_flight_most_n == 1' s.json
    [ "$(jq -c .points[0].calls r.json)" = "$(jq -c .points[0].calls s.json)" ]
    workload 2 w.xml --seed 99 --json s.json
    [ "$(jq -c .points[0].calls r.json)" != "$(jq -c .points[0].calls s.json)" ]
}

@test "processes that differ, lists of calls, files of their own" {
    slow
    need_program jq
    cat >w.xml <<'X'
<workload version="1"><workingPoint processNum="3" sizeMean="100" uniqueBytes="1450" readFrac="0" collFrac="0.8" syncFrac="1" seqFrac="0" sharedFrac="0" contMean="100">
<calls function="write_at_all" n="4" bytes="400"/>
<rank of="0" calls="5" bytes="450"><calls function="write_at_all" n="4" bytes="400"/><calls function="write_at" n="1" bytes="50"/></rank>
<rank of="2" calls="4" bytes="600"/></workingPoint></workload>
X
    workload 3 w.xml --json r.json
    expect_status 0
    jq -e '.points[0] | .bytes == 1450 and .bytes_min_of_rank == 400 and .bytes_max_of_rank == 600
        and .wrong_n == 0 and .calls == [{"function": "write_at", "n": 1, "bytes": 50},
        {"function": "write_at_all", "n": 12, "bytes": 1400}]' r.json
    # What the calls say no number changes, and they are those of so many processes.
    workload 3 w.xml --set readFrac=1
    expect_status 1
    expect_text "--set readFrac=1: w.xml:1:23: this point is replayed from its <calls> and <rank>"
    workload 2 w.xml
    expect_status 1
    expect_text 'processNum="3", 2 processes were started: start 3'
    expect_no_text "--set"
    nht1-workload --make s.xml processNum=3 uniqueBytes=100001 sizeMean=1000
    workload 2 s.xml
    expect_text 'processNum="3", 2 processes were started: start 3, or give --set processNum=2'
    workload 2 s.xml --set processNum=2 --json "a b.json"
    expect_status 0
    jq -e '.command_line | test("--set processNum=2 .*--json .a b.json. s.xml$")' "a b.json"
    sed -i 's/mode="common"/mode="separate"/' s.xml
    workload 3 s.xml --keep --json r.json
    expect_status 0
    jq -e '.mode == "separate" and .points[0].bytes == 100001 and .wrong_n == 0' r.json
    [ "$(cat data/d.00000 data/d.00001 data/d.00002 | wc -c)" -eq 100001 ]
}

@test "a job of repetitions and thinking, in both spellings" {
    slow
    need_program jq
    cat >j.conf <<'X'
Data 100k Record 10k   # for all
Think 0.05
<Repeat 2>
    <Pattern segmented> Temporal write </Pattern>
    Think 0.05
</Repeat>
<Pattern Simple-Strided> temporal "read, re-read" Fraction 0.25 think 0.01 </Pattern>
X
    cat >j.ini <<'X'
[job]
data = 100k
record = 10k
[think 0.05]
[repeat 2]
[pattern segmented]
temporal = write   ; one
[think 0.05]
[end]
[pattern simple-strided]
temporal = read, re-read
fraction = 0.25
think = 0.01
X
    for job in j.conf j.ini; do
        workload 2 "$job" --json r.json
        expect_status 4
        jq -e '[.phases[].title] == ["Segmented (write)", "Segmented (write)", "Simple Strided (read)",
            "Simple Strided (re-read)"] and .paused_s >= 0.15' r.json
        jq -e '[.phases[].accesses_n] == [10, 10, 4, 4] and .phases[2].times.think_s >= 0.02' r.json
        jq -e '[.phases[].settings] | .[0] == {data: 100000} and .[2] == {data: 100000, think: 0.01}' r.json
    done
}

@test "the amount of data is found, or the limit that kept it small is named" {
    slow
    need_program jq
    # The first amount takes 32 accesses, two thirds of a second by the test's clock.
    own_clock 10000
    echo '<Pattern segmented> Temporal write Record 64k Think 0.02 Time-Limit 8 </Pattern>' >j.conf
    workload 2 j.conf --sync none --json r.json
    jq -e '.phases[0] | (.tries_n >= 2 or .enough) and if .enough then .times.aggregate_s >= 1 and .times.b_share <= 0.01
        else .limit_met != null end' r.json
    echo '<Pattern segmented> Temporal write Record 64k Limit 8M </Pattern>' >j.conf
    workload 2 j.conf --sync none --json r.json
    expect_status 4
    jq -e '.phases[0] | .limit_met == "bytes" and .file_bytes <= 8000000
        and ([.stamps[].code] | index("too-short"))' r.json
    jq -e '[.stamps[].code] | index("not-valid")' r.json
    # The first amount as well.
    sed -i 's/8M/300k/' j.conf
    workload 2 j.conf --sync none --json r.json
    jq -e '.phases[0] | .limit_met == "bytes" and .file_bytes <= 300000 and .tries_n == 1' r.json
}

@test "a complete try is reported where a larger one is not allowed, or fails" {
    need_program jq
    mkdir data
    echo '<Pattern random-strided> Temporal write Record 64k </Pattern>' >j.conf
    own_clock # no amount is enough
    # shellcheck disable=SC2016 # the inner shell's
    run bash -c 'ulimit -f 6000; exec nht1-workload --out data/d "$@"' - j.conf --json r.json
    expect_status 4
    expect_text "(limit: file size)"
    jq -e '.phases[0] | .limit_met == "file size" and .tries_n > 1 and .file_bytes <= 6144000' r.json
    LD_PRELOAD=$NHT1_TESTBIN/fault.so:$LD_PRELOAD NHT1_FAULT_IN=$PWD/data NHT1_FAULT_PROGRAM=nht1-workload \
        NHT1_FAULT=pwrite:100:EIO:0 run nht1-workload --out data/d j.conf --json r.json
    told "j.conf:1: " "Input/output error"
    expect_text "too little data"
    jq -e '.status == 3 and (.phases[0] | .completed and .tries_n == 1 and .limit_met == null and .bytes > 4000000)' r.json
}

@test "the heading has the component of MPI-IO that was chosen, or says that the library chooses" {
    need_open_mpi "components are Open MPI's"
    local component
    for component in '' ompio; do
        run mpi_run 1 env -u OMPI_MCA_io ${component:+OMPI_MCA_io=$component} "$NHT1_BIN/nht1-workload" --reference \
            --set uniqueBytes=100k --set processNum=1 --out d.bin
        [[ ${lines[1]} == "files: d.bin ("*", MPI-IO ${component:-as the library chooses})" ]]
    done
}

@test "what was not checked is not said to be right" {
    points 2 request w.xml
    for check in all none; do
        workload 2 w.xml --check "$check" --json "$check.json"
        expect_status 0
    done
    expect_json all.json 'any(.stamps[]; .code == "valid" and (.sentence | endswith("The run finished, and all checked data were right.")))'
    expect_json none.json 'any(.stamps[]; .code == "valid" and (.sentence | endswith("The run finished."))) and any(.stamps[]; .code == "not-verified")'
}

@test "files that are not ours stay as they are" {
    mkdir data
    echo precious >data/d
    nht1-workload --make w.xml processNum=1 uniqueBytes=10000
    workload 1 w.xml
    expect_status 1
    [ "$(cat data/d)" = precious ]
    # Nothing was read or written: nothing is claimed of how.
    expect_text "[not-valid] The run did not finish."
    [[ $output != *cache-honest* ]]
    ln -s ../w.xml data/e
    workload 1 w.xml --out data/e --force
    expect_status 1
    grep -q workingPoint w.xml
    workload 1 w.xml --force
    expect_status 0
    [ ! -e data/d ]
    run nht1-workload --make w processNum=2
    expect_status 1
    expect_text "does not end in .xml"
    [ ! -e w ]
    echo precious >o.xml
    run nht1-workload --make o.xml
    expect_status 1
    [ "$(cat o.xml)" = precious ]
    run nht1-workload --make w.xml processNum=2
    expect_status 1
    [[ $output = *--force* ]]
    grep -q 'processNum="1"' w.xml
    nht1-workload --make w.xml processNum=2 --force
    grep -q 'processNum="2"' w.xml
    workload 1 w.xml --json o.xml
    expect_status 1
    [ "$(cat o.xml)" = precious ]
}

@test "a data file whose name is one letter" {
    slow
    run mpi_run 2 nht1-workload --reference --set uniqueBytes=16000 --out d
    expect_status 0
    [ ! -e d ]
}

@test "a description whose plan needs more memory than there is is refused before a file is made" {
    # 40 times 2^59 + 1 accesses is a small number when it wraps.
    workload 2 --patterns --set data=576460752303423488 --set record=1
    expect_status 1
    expect_text "patterns:1: Simple Strided (write): data 576460752303423488, record 1: 288230376151711744 accesses"
    expect_text "lower data, raise record"
    nothing_left
    # The same without a run.
    run nht1-workload --out data/d --patterns --set data=576460752303423488 --set record=1 --dry-run
    expect_status 1
    # A slot of 2^59 bytes, of which there would be more than 16.
    cat >w.xml <<'END'
<workload version="1">
 <workingPoint processNum="1" sizeMean="1e9" uniqueBytes="576460752303424488" readFrac="1" collFrac="0"
  syncFrac="1" seqFrac="1" sharedFrac="0" contMean="1e9">
  <calls function="read_at" n="1" bytes="576460752303423488"/><calls function="read" n="500" bytes="1000"/>
 </workingPoint>
</workload>
END
    run nht1-workload --out data/d --depth 20 w.xml
    expect_status 1
    expect_text 'w.xml:2:2: uniqueBytes="576460752303424488" in 501 calls'
    nothing_left
}

@test "what a section overrides is told" {
    printf 'Record 512 Data 1k\n<Pattern mesh> Values 8 Temporal write </Pattern>\n' >j.conf
    workload 1 j.conf --json r.json
    expect_text "[directive-overridden] j.conf:2:1: values 8 of the section"
    workload 1 --dry-run j.conf
    expect_status 0
    expect_text "j.conf:2:1: values 8 of the section overrides record 512 of the job"
    expect_text "record 64,"
    jq -e '.phases[0].record_bytes == 64' r.json
    jq -e '[.stamps[] | select(.code == "directive-overridden")] | length == 1' r.json
}

@test "a collective write that fails on one of three ranks ends them all" {
    printf 'Data 6M\n<Pattern segmented> Record 64Ki Method collective Temporal write </Pattern>\n' >j.conf
    mkdir -p data
    run mpi_run 3 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_PROGRAM=nht1-workload NHT1_FAULT_IN="$PWD/data" \
        NHT1_FAULT=pwrite:1:ENOSPC:0 "$NHT1_BIN/nht1-workload" --out data/d j.conf
    expect_status 3
    expect_text "No space left on device"
    [ -z "$(ls data)" ]
}

@test "wrong descriptions end all ranks with status 1 and the place" {
    nht1-workload --make w.xml processNum=4 uniqueBytes=10000
    workload 2 w.xml
    expect_status 1
    expect_text "w.xml:3:3: processNum"
    # What follows is found in the same place, on one.
    sed 's/readFrac="0.8"/readFrac="1.8"/' w.xml >x.xml
    run nht1-workload --out data/d x.xml
    expect_status 1
    expect_text "x.xml:3:3: readFrac"
    printf 'Record 4k\n<Pattern tiled>\n  Overlap 200x1\n</Pattern>\n' >j.conf
    run nht1-workload --out data/d j.conf
    expect_status 1
    expect_text "j.conf:2:1: overlap"
    printf '[pattern tiled]\ncolour = blue\n' >j.ini
    run nht1-workload --out data/d j.ini
    expect_status 1
    expect_text "j.ini:2:1:"
    # What cannot lie ready in the second phase is told before the first is measured, and without a run.
    printf '<Pattern simple-strided> Temporal write Record 4Ki Data %s </Pattern>\n' 64Ki '6400Ki Memory strided' >two.conf
    for dry in "" ${NHT1_FULL:+--dry-run}; do
        run nht1-workload --out data/d --buffer 10000 $dry two.conf
        expect_status 1
        expect_text "two.conf:2: Simple Strided (write): data with gaps must lie ready in memory, here 1.47e+03 times the buffer"
        [[ $output != *"S + T + B"* ]]
    done
    # Calls of many accesses are written as they are where these follow each other in the file.
    echo '<Pattern segmented> Temporal write Access view Group 16 Record 4Ki Data 6400Ki </Pattern>' >view.conf
    run nht1-workload --out data/d --buffer 10000 --sync none view.conf
    [ "$status" -eq 0 ] || expect_status 4
    expect_text "Segmented (write)  "
    if [ -n "${NHT1_FULL:-}" ]; then
        sed -i 's/segmented/simple-strided/; s/Data 6400Ki//' view.conf
        workload 2 --buffer 10000 --dry-run view.conf
        expect_status 1
        expect_text "calls of 16 accesses with gaps in the file between them" "give group 1"
    fi
    cat >two.xml <<'END'
<workload version="1" mode="common" seed="1">
  <workingPoint file="0" processNum="2" sizeMean="8000" uniqueBytes="80000" readFrac="0" collFrac="0" syncFrac="1" seqFrac="1" sharedFrac="0" contMean="8000"/>
  <workingPoint file="0" processNum="2" sizeMean="65536" uniqueBytes="2000000" readFrac="0" collFrac="0" syncFrac="1" seqFrac="1" sharedFrac="0" contMean="100"/>
</workload>
END
    for dry in "" ${NHT1_FULL:+--dry-run}; do
        run mpi_run 2 nht1-workload --out data/d --buffer 256Ki $dry two.xml
        expect_status 1
        expect_text "two.xml:3:3: a working point with holes (contMean) writes"
        expect_text "raise --buffer to "
        [[ $output != *"S + T + B"* && $output != *"point 1"* ]]
    done
    run nht1-workload --out data/d missing.xml
    expect_status 1
    # Nor does --force write over what describes the run, whatever its name there.
    cp w.xml data/w.xml
    ln data/w.xml data/other
    for dry in "" --dry-run; do
        for name in data/w.xml data/other; do
            run mpi_run 1 nht1-workload --force --out $name $dry data/w.xml --set processNum=1
            expect_status 1
            expect_text "$name is what this run was read from: choose another --out"
        done
    done
    cmp w.xml data/w.xml
    rm data/w.xml data/other
    run nht1-workload --out data/d --json data/../data/d w.xml
    expect_status 1
    expect_text "--json and --out have the same file"
    mkfifo pipe.xml # of which nobody could end the reading by Ctrl-C
    run timeout "$NHT1_HANG_S" nht1-workload --out data/d pipe.xml
    expect_status 1
    expect_text "pipe.xml: no process writes to this pipe"
    run nht1-workload --out data/d w.xml --set readFrac=2
    expect_status 1
    run nht1-workload --out data/d w.xml --set processNum
    expect_status 1
    run nht1-workload --out data/d w.xml --hint cb_nodes=many
    expect_status 1
    expect_text "cb_nodes"
    run nht1-workload --out data/d w.txt
    expect_status 1
    nothing_left
}

@test "a dry run says what would be done and writes nothing" {
    need_program jq
    nht1-workload --make w.xml processNum=2
    workload 2 w.xml --dry-run
    expect_status 0
    expect_text "calls per process 62500"
    workload 2 "$NHT1_ROOT/config/patterns.conf" --dry-run
    expect_status 0
    [ "$(grep -c '^phase' <<<"$output")" -eq 40 ]
    [ "$(grep -c '^    at least: calls per process [0-9]*, ' <<<"$output")" -eq 40 ]
    expect_text "file: at least 17.1 MB"
    # The bytes that it announces are those that are moved.
    cat >j.conf <<'END'
<Pattern simple-strided> Temporal write,read-modify-write Record 1000 Data 100k Fraction 0.01 </Pattern>
<Pattern random-strided> Temporal re-write Record 4k Data 1 </Pattern>
END
    workload 2 j.conf --dry-run
    expect_status 0
    expect_text "data 100 kB (2.00 kB in a repetition), fraction 0.01"
    [ "$(grep '^ ' <<<"$output")" = "    calls per process 1, 2.00 kB in all, file of 100 kB
    calls per process 1, 4.00 kB in all, file of 100 kB
    calls per process 1, 8.00 kB in all, file of 8.00 kB" ]
    expect_text "file: 100 kB"
    workload 2 j.conf --json r.json
    jq -e '[.phases[] | [.calls_n, .bytes, .file_bytes]] == [[2, 2000, 100000], [2, 4000, 100000], [2, 8000, 8000]]' r.json
    nothing_left
}

@test "a full disk is found before the clock starts, without filling it" {
    slow
    memory_disk data 1m
    nht1-workload --make w.xml processNum=2 uniqueBytes=4000000
    mkdir log
    NHT1_FAULT_LOG=$PWD/log faulty pwrite:1:EIO:7 2 w.xml
    told "data/d: needs 4000000 bytes" "its file system has 10" "free"
    [[ $output != *cache-honest* ]] # nothing was measured
    # Nobody has asked for room that is not there.
    grep -q . log/0.trace
    [ -z "$(grep -E '^(fallocate|ftruncate)' log/*.trace)" ]
    # Each process's own, of which every single one has room.
    sed -i 's/mode="common"/mode="separate"/; s/uniqueBytes="[0-9]*"/uniqueBytes="1500000"/' w.xml
    workload 2 w.xml
    told "data/d: needs 1500000 bytes"
}

@test "a later phase that finds no room is told before the first is measured, and without a run" {
    printf '<Pattern segmented> Temporal write Record 4k Data %s </Pattern>\n' 8k 400M >j.conf
    mkdir data
    for dry in "" --dry-run; do
        # shellcheck disable=SC2016 # the inner shell's
        run bash -c 'ulimit -f 300000; exec nht1-workload --out data/d "$@"' - $dry j.conf
        told "j.conf:2: Segmented (write): rank 0" "cannot preallocate 400000000 bytes" "data/d" "ulimit"
        [[ $output != *"Segmented (write)  "* ]]
    done
    memory_disk data 1m
    for dry in "" --dry-run; do
        workload 1 $dry j.conf
        told "j.conf:2: Segmented (write): rank 0" "data/d: needs 400000000 bytes" "its file system has 10" "free"
        [[ $output != *"Segmented (write)  "* ]]
    done
    # Of an amount that is to be found, the first try.
    for dry in "" --dry-run; do
        run nht1-workload --out data/d $dry --patterns
        told "data/d: needs" "its file system has 10"
    done
    # The old file makes room.
    head -c 900000 /dev/zero >data/d
    run nht1-workload --out data/d --dry-run --force j.conf --set data=1M
    expect_status 0
    # But not where another name has its blocks, too.
    ln data/d data/other
    for dry in "" --dry-run; do
        run nht1-workload --out data/d $dry --force j.conf --set data=1M
        expect_status 3
        expect_text "data/d: needs 1000000 bytes"
    done
    [ "$(stat -c %s data/d data/other | sort -u)" = 900000 ]
}

@test "a dry run of points and of accesses is refused as the run is, behind the plan" {
    local what dry
    memory_disk data 1m
    # Two files, for each of which there is room.
    nht1-workload --make one.xml uniqueBytes=800000 processNum=1
    sed '/workingPoint/{p;s/file="0"/file="1"/}' one.xml >w.xml
    {
        echo '{"schema": "nht1-accesses/1", "processes_n": 1, "files_n": 2, "runs_n": 2, "unplaced_n": 0, "unplaced_bytes": 0, "lost_n": 0, "lost_bytes": 0}'
        printf '{"file": %d, "name": "x"}\n' 0 1
        printf '{"process": 0, "file": %d, "call": "pwrite", "flags": "rdwr", "offset": 0, "bytes": 80000, "stride": 80000, "n": 10, "order": %d, "step": 1}\n' 0 0 1 10
    } >a.jsonl
    for what in w.xml a.jsonl; do
        for dry in "" --dry-run; do
            run nht1-workload --out data/d $dry $what
            told "data/d: needs 1600000 bytes" "its file system has 10"
            [ -z "$dry" ] || expect_text "file 0: "
        done
    done
    : >data/d
    for dry in "" --dry-run; do
        run nht1-workload --out data/d $dry --patterns
        expect_status 1
        expect_text "data/d exists"
    done
}

@test "no room for the new file: the old one stays whole" {
    slow
    memory_disk data 1m
    head -c 300000 /dev/urandom >old
    cp old data/d
    nht1-workload --make w.xml processNum=2 uniqueBytes=4000000
    workload 2 w.xml --force
    expect_status 3
    expect_text "data/d: needs 36" # its own blocks count
    [ "$(ls -A data)" = d ]
    cmp old data/d
    # Room for what the old file lacks is enough.
    workload 2 w.xml --set uniqueBytes=900000 --force
    expect_status 0
    nothing_left
}

@test "a report has a figure per pattern and the panels of the paper" {
    slow
    need_program jq
    workload 2 --patterns --set data=64k --set record=4k,8k --set "temporal=write,re-read" --json p.json --quiet
    expect_status 4
    jq '.phases[].method = "collective"' p.json >c.json
    local seq other
    workload 2 --reference --set uniqueBytes=160000 --json s0.2.json --quiet
    expect_status 0
    for seq in 0 0.5 1; do
        jq ".points[0].asked.seqFrac = $seq | .bytes_per_s *= 1 + $seq" s0.2.json >"s$seq.json"
    done
    for other in uniqueBytes=320000 sizeMean=4000 processNum=1 readFrac=0.2 collFrac=1 syncFrac=1 sharedFrac=1 contMean=500; do
        jq ".points[0].asked |= (.${other/=/ = } | if .sizeMean == 4000 then .contMean = 4000 else . end)" \
            s0.2.json >"o-${other%=*}.json"
    done
    run nht1-report p.json c.json s*.json o*.json --markdown r.md --figures figures -o r.html
    expect_status 0
    [ "$(find figures -name "workload-*-*.csv" | wc -l)" -eq 9 ]
    # One figure for each pattern, a panel for each way to access it.
    grep -q '^collective' figures/workload-simple-strided-0.csv
    grep -q '^independent' figures/workload-simple-strided-0.csv
    cut -d, -f1 figures/workload-figure-1.csv | LC_ALL=C sort -u | paste -sd, | grep -qx \
        'collFrac,contMean,panel,processNum,readFrac,seqFrac,sharedFrac,sizeMean,syncFrac,uniqueBytes'
    grep -q '^| seqFrac | throughput goes up |' r.md
}

@test "a report of repeated workloads does without a share in memory that is not known" {
    slow
    need_program jq
    workload 2 --reference --set uniqueBytes=160000 --json r.json --quiet
    expect_status 0
    jq '.points[0].cached_share_after = null' r.json >a.json
    jq '.bytes_per_s *= 1.01' a.json >b.json
    jq '.points[0].asked.uniqueBytes *= 2' a.json >c.json
    run nht1-report --no-figures a.json b.json c.json -o r.html --markdown r.md
    expect_status 0
    grep -q '^\*\*Note:\*\* Share of the file in memory .*: not known\.$' r.md
}

@test "what is read first is not in memory, what is read again is" {
    need_program jq
    echo 'Data 4M <Pattern segmented> Record 64k Temporal write,read,re-read </Pattern>' >j.conf
    workload 2 j.conf --json r.json
    jq -e '.system.file_system.in_memory or .phases[1].cached_share_before == null' r.json >/dev/null &&
        not_here "this file system cannot be taken out of memory"
    jq -e '.phases[1].cached_share_before <= 0.05 and .phases[2].cached_share_before >= 0.5' r.json
    jq -e '[.phases[] | [.stamps[].code] | index("page-cache") != null] == [false, false, true]' r.json
    # Nor is it of the device alone where a measurement reads what it has itself read or written.
    local what again
    nht1-workload --make p.xml processNum=2 uniqueBytes=64000 sizeMean=8000 readFrac=1 seqFrac=1 syncFrac=1 collFrac=0 sharedFrac=0
    sed 's/seqFrac="[^"]*"/seqFrac="0"/' p.xml >random.xml
    sed 's/readFrac="[^"]*"/readFrac="0.5"/' p.xml >mixed.xml
    sed 's/sharedFrac="[^"]*"/sharedFrac="0.5"/' p.xml >pointers.xml
    sed 's/sharedFrac="[^"]*"/sharedFrac="1"/' p.xml >shared.xml
    echo 'Data 4M <Pattern segmented> Record 64k Temporal read </Pattern>' >own.conf
    echo 'Data 4M <Pattern sequential> Record 64k Temporal read </Pattern>' >same.conf
    sed 's/Temporal read/Temporal write/' own.conf >ownwrite.conf
    sed 's/Temporal read/Temporal write/' same.conf >samewrite.conf
    sed 's/readFrac="[^"]*"/readFrac="0"/' random.xml >write.xml
    sed 's|/> *$|><calls function="write" n="2" bytes="16000"/><calls function="write_at" n="2" bytes="16000"/></workingPoint>|' p.xml >behind.xml
    sed 's|/> *$|><calls function="read_at" n="2" bytes="16000"/><calls function="write_at" n="2" bytes="16000"/></workingPoint>|' p.xml >listed.xml
    head='{"schema": "nht1-accesses/1", "processes_n": 1, "files_n": 1, "runs_n": 1, "unplaced_n": 0, "unplaced_bytes": 0, "lost_n": 0, "lost_bytes": 0}'
    run='{"process": 0, "file": 0, "call": "pread", "flags": "rdonly", "offset": 0, "bytes": 4096, "stride": STRIDE, "n": 9, "order": 0, "step": 1}'
    printf '%s\n' "$head" '{"file": 0, "name": "x"}' "${run/STRIDE/4096}" >once.jsonl
    printf '%s\n' "$head" '{"file": 0, "name": "x"}' "${run/STRIDE/4000}" >twice.jsonl
    sed -e 's/"processes_n": 1/"processes_n": 2/; s/"runs_n": 1/"runs_n": 2/' once.jsonl >halves.jsonl
    sed -n 's/"process": 0/"process": 1/; s/"offset": 0/"offset": 40000/p' once.jsonl >>halves.jsonl
    # Two read the same, and together less than the file has.
    sed -e 's/"runs_n": 2/"runs_n": 3/; s/"offset": 40000/"offset": 4096/' halves.jsonl >common.jsonl
    sed -n 's/"process": 0/"process": 1/; s/"offset": 0/"offset": 400000/; s/"order": 0/"order": 9/p' once.jsonl >>common.jsonl
    for what in halves.jsonl:false common.jsonl:true pointers.xml:true shared.xml:false listed.xml:true own.conf:false same.conf:true p.xml:false random.xml:true mixed.xml:false write.xml:true behind.xml:false ownwrite.conf:false samewrite.conf:true once.jsonl:false twice.jsonl:true; do
        again=${what#*:}
        workload 2 "${what%:*}" --json r.json
        jq -e --argjson again "$again" '[.phases, .points, .replays | arrays[].moves_again] == [$again]
            and ([.stamps[].code] | index("cache-honest") == null) == $again' r.json
        [[ $output == *"may have stayed in memory."* ]] || [ "$again" = false ]
        expect_schema nht1-workload-1 r.json
    done
}

@test "data are flushed when --sync says" {
    slow
    mkdir data
    local when
    echo 'Data 64k <Pattern simple-strided> Record 8k Temporal write Method collective Group 1 </Pattern>' >j.conf
    for when in none end call; do
        mkdir $when
        NHT1_FAULT_LOG=$PWD/$when faulty rename:9:EIO:0 2 j.conf --sync $when
        expect_status 4
    done
    # 4 calls of each process, and the end: MPICH's ROMIO flushes nothing where nothing was written since.
    local calls=4
    ! open_mpi || calls=5
    [ "$(grep -ch '^fsync .*data/d$' none/1.trace)" -eq 0 ]
    [ "$(grep -ch '^fsync .*data/d$' end/1.trace)" -eq 1 ]
    [ "$(grep -ch '^fsync .*data/d$' call/1.trace)" -eq $calls ]
}

@test "a call that fails ends all processes with status 3 and one message, and nothing is left" {
    slow
    local way plan
    nht1-workload --make w.xml processNum=2 uniqueBytes=400000 readFrac=0.5 syncFrac=1
    nht1-workload --make c.xml processNum=2 uniqueBytes=400000 readFrac=0 syncFrac=1 collFrac=1
    for plan in pwrite:3:EIO:1 pread:2:EIO:0 fsync:1:EIO:1; do
        faulty "$plan" 2 w.xml
        told "data/d" "rank ${plan: -1} "
    done
    # The library opens the file on all ranks but one.
    faulty open:2:EIO:1 2 c.xml
    told "rank 1 " "MPI_File_open on data/d" "Input/output error"
    for way in "" $(! open_mpi || echo romio321); do
        MPIRUN_FLAGS=${way:+--mca io $way} faulty pwrite:3:EIO:0 2 c.xml --check none
        told "MPI_File_" "data/d" "Input/output error"
        # Flushing after each call is collective: it neither hangs nor hides the error.
        MPIRUN_FLAGS=${way:+--mca io $way} faulty pwrite:3:EIO:0 2 c.xml --check none --sync call
        told "MPI_File_" "data/d"
    done
    echo 'Data 64k <Pattern simple-strided> Record 8k Temporal write </Pattern>' >j.conf
    local no=2
    open_mpi || no=1 # ROMIO makes one call of several pieces
    for way in independent collective posix; do
        faulty pwrite:$no:EIO:0 2 j.conf --set method=$way --check none
        told "j.conf:1: Simple Strided (write)" "data/d" "Input/output error"
    done
}

@test "a nonblocking call that fails in the background is told, and the MPI-IO library does not crash" {
    slow
    need_open_mpi "ompio crashes by itself"
    nht1-workload --make w.xml processNum=2 uniqueBytes=400000 readFrac=0 syncFrac=0 seqFrac=0
    MPIRUN_FLAGS="--mca io ompio" faulty aio:2:EIO:1 2 w.xml --check none
    expect_status 3
    told "data/d" "rank 1 " "Input/output error"
}

@test "a crash of the MPI-IO library is told with rank, function and file" {
    need_open_mpi "known of Open MPI's ompio"
    nht1-workload --make w.xml processNum=2 uniqueBytes=400000 readFrac=0 syncFrac=0 seqFrac=0
    MPIRUN_FLAGS="--mca io ompio" faulty aio:2:SIGSEGV:1 2 w.xml --check none
    [ "$status" -ge 128 ]
    expect_text "nht1-workload: rank 1 on $(hostname): SIGSEGV in MPI_File_iwrite_at on data/d"
    [[ $output != *"durable dump"* ]]
    nothing_left
}

@test "a disk that fills up during a replay is told" {
    nht1-workload --make w.xml processNum=2 uniqueBytes=400000 readFrac=0 syncFrac=1
    faulty pwrite:2+:ENOSPC:1 2 w.xml --check none
    told "rank 1 " "MPI_File_write" "data/d" "No space left on device"
}

@test "a process that is killed during a replay: no hang, and nothing is left" {
    slow
    local plan
    nht1-workload --make w.xml processNum=2 uniqueBytes=400000 readFrac=0 syncFrac=1
    for plan in pwrite:3:kill:0 pwrite:3:kill:1; do
        faulty "$plan" 2 w.xml
        [ "$status" -ne 0 ]
        [ "$status" -ne 124 ]
        expect_text "signal 9"
        # MPICH's launcher kills the others as well, before they can remove anything.
        if open_mpi; then nothing_left; else rm -r data; fi
    done
}

@test "an interrupted run leaves no file" {
    nht1-workload --make w.xml processNum=2 uniqueBytes=40000000 sizeMean=1000
    sed -i 's/contMean/think="0.02" contMean/' w.xml
    mkdir -p data
    "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_BIN/nht1-workload" w.xml --think --out data/d >out 2>&1 3>&- &
    local runner=$!
    wait_until -p $runner test -s data/d
    kill -INT "$(pgrep -P "$runner" mpirun || echo "$runner")" 2>/dev/null || kill -TERM "$runner"
    wait "$runner" || true
    [ -z "$(ls -A data)" ]
    [ -z "$(grep -e 'S + T + B' -e 'In all' out)" ] # nothing was measured
}

@test "interrupted while files are made, opened or read, a run says so, and not that they are gone" {
    local n opens=0 kind
    printf '<Pattern segmented> Temporal %s Record 6400 Data 64000 </Pattern>\n' write read 'write Method posix' >j.conf
    mkdir log data
    interrupt() { env NHT1_FAULT_PROGRAM=nht1-workload NHT1_FAULT_IN="$PWD/data" LD_PRELOAD="$NHT1_TESTBIN/fault.so" "$@" \
        nht1-workload --out data/d j.conf; }
    run interrupt NHT1_FAULT_LOG="$PWD/log"
    for kind in open fdatasync; do
        opens=$(sed -n "s/^$kind //p" log/0)
        [ "$opens" -gt 1 ]
        for ((n = 1; n <= opens; n++)); do
            run interrupt NHT1_FAULT=$kind:$n:SIGINT:0
            [[ $status:$output == 3:*interrupted ]] # not: No such file
            [ -z "$(ls -A data)" ]
        done
    done
}

@test "interrupted, a run says so at once, and the rate is that of what was complete" {
    need_program jq
    mkdir data
    printf '<Pattern segmented> Temporal write Record 6400 Data %s </Pattern>\n' 64000 '640000 Think 0.5' >j.conf
    nht1-workload --out data/d j.conf --json r.json --progress always >out 2>&1 3>&- &
    local runner=$! before
    wait_text -p $runner out "phase 1 of 2" # it is over
    before=$(stat -c %y data/d 2>&1) || true # the file may be made anew just now
    wait_until -p $runner bash -c 'now=$(stat -c %y data/d) && [ "$now" != "$1" ]' - "$before" # the second one
    kill -INT $runner
    status=0
    wait $runner || status=$?
    output=$(cat out)
    told "j.conf:2: Segmented (write): " "interrupted"
    jq -e '[.phases[].completed] == [true, false] and .bytes == 64000 and .bytes_per_s == .phases[0].bytes_per_s
        and .phases[1].times.think_s < 50' r.json
}
