#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-beffio from its command line to its files: short runs, texts that scripts parse, JSON, wrong
# data, full disks, signals, bad input. No statement about times.
# shellcheck disable=SC2154 # wait_stopped sets stopped, slow_disk server
load helpers

teardown() {
    end_slow_disk
}

# beffio RANKS ARGUMENT...: as small a run as there is, in the folder data; RANKS alone: one process
# without a launcher.
beffio() {
    local launch=(mpi_run "$1")
    [ "$1" != alone ] || launch=(timeout "$NHT1_HANG_S")
    shift
    mkdir -p data
    run "${launch[@]}" nht1-beffio -p data -MB 16 -T 0.01 "$@"
}

# Runs that several cases look at, one by each definition; that of 0.5 keeps its files, that of 2.1
# opens them uniquely.
setup_file() {
    local definition more=(--keep)
    cd "$BATS_FILE_TMPDIR" || return 1
    for definition in 0.5 1.x 2.1; do
        [ "$definition" != 1.x ] || more=()
        [ "$definition" != 2.1 ] || more=(--unique)
        mkdir "$definition"
        cd "$definition" || return 1
        # as the released program, without -f
        beffio 2 -N "$([ "$definition" = 0.5 ] || echo 1,)2" -MT 1000 --definition "$definition" \
            --json r.json "${more[@]}"
        expect_status 4 || return 1
        echo "$output" >out
        cd ..
    done
}

# nothing_left: no file of a run in data.
nothing_left() {
    [ -z "$(ls -A data)" ] && return 0
    echo "left behind: $(ls -A data)"
    return 1
}

@test "a short run at 1 to 4 ranks: all data right, not valid, JSON conforms" {
    for ranks in 3 ${NHT1_FULL:+1 2 4}; do
        beffio "$ranks" -N "$([ "$ranks" -ge 3 ] && echo $((ranks - 1)),)$ranks" --json r.json --check every
        expect_status 4
        expect_text "scheduled time 0.01 s"
        expect_schema nht1-beffio-1 r.json
        jq -e '[.partitions[].accesses[] | .wrong_n] | add == 0' r.json
        jq -e '[.partitions[] | .file_bytes == .accesses[0].checked_bytes] | all' r.json
        jq -e '[.partitions[].accesses[] | .types | length == 5] | all' r.json
        jq -e --argjson n "$ranks" '.partitions[-1].procs == $n' r.json
        nothing_left
    done
}

@test "the same with ROMIO" {
    slow
    need_open_mpi "components are Open MPI's"
    for ranks in 2 ${NHT1_FULL:+1 4}; do
        MPIRUN_FLAGS="--mca io romio321" beffio "$ranks" -N "$ranks" --json r.json
        expect_status 4
        jq -e '[.partitions[].accesses[] | .wrong_n] | add == 0' r.json
        jq -e '.partitions[0].library[0].mpiio_component | test("romio321")' r.json
        nothing_left
    done
}

@test "without the shared file pointer, or with MPI_MODE_UNIQUE_OPEN, it is not valid, but in 2.1" {
    beffio alone -N 1 --noshared --unique
    expect_status 4
    expect_text "NOT MET: type 1 ran without the shared file pointer"
    expect_text "NOT MET: files were opened with MPI_MODE_UNIQUE_OPEN"
    grep -q " met: files were opened with MPI_MODE_UNIQUE_OPEN" "$BATS_FILE_TMPDIR/2.1/out"
}

@test "what is as released under 2.1 is not by the papers: buffers, opening, decisions; each is told and may be set" {
    slow
    local definition
    for definition in 0.5 1.x 2.1; do
        expect_json "$BATS_FILE_TMPDIR/$definition/r.json" '(if .b_eff_io.definition == "2.1" then 16 else 0 end) as $of
            | .b_eff_io.buffer_offset_bytes == [$of, $of]
            and all(.partitions[]; .buffer_offset_bytes == [$of, $of])
            and .schedule.termination == if $of == 16 then "per-call" else "geometric" end
            and .b_eff_io.maximum_bytes_per_s == .b_eff_io.bytes_per_s' 
        grep -q "^Buffers  .* bytes off a page" "$BATS_FILE_TMPDIR/$definition/out"
    done
    beffio 2 -N 2 --definition 2.1 --buffer-offset 8 --termination geometric --nounique --json r.json
    expect_json r.json '.b_eff_io.buffer_offset_bytes == [8, 8] and .schedule.termination == "geometric"'
    expect_text "met: files were opened without MPI_MODE_UNIQUE_OPEN"
    for definition in 4 4096 -8 x; do
        beffio alone --buffer-offset "$definition"
        expect_status 1
        expect_text "--buffer-offset '$definition'"
    done
}

@test "release 0.5 measures all processes, and half of them for half of the time" {
    slow
    beffio alone --dry-run --rate 1G --ranks 7 -T 600 --definition 0.5 --json plan.json
    expect_json plan.json '.schedule.partitions == [7, 3] and .time_s >= 900 and .time_s < 1000'
    beffio 2 --definition 0.5 --json r.json
    expect_json r.json '[.partitions[] | [.procs, .scheduled_s]] == [[2, 0.01], [1, 0.005]]'
    beffio 2 --definition 0.5 -N 2,1 --json r.json
    expect_json r.json '[.partitions[] | [.procs, .scheduled_s]] == [[2, 0.01], [1, 0.01]]'
}

@test "values in the JSON are those of its bytes and seconds, under each definition" {
    for definition in 0.5 1.x 2.1; do
        jq -e --arg d "$definition" '
            def near($a; $b): ($a - $b) as $x | ($x < 0 and -$x or $x) <= 1e-9 * $b
                or (($x | fabs) <= 1e-9 * $b);
            .b_eff_io as $head
            | .partitions[]
            | . as $p
            | [$p.accesses[] | [.types[] | .bytes / .s]] as $t
            | [$t[] | (.[0] + add) / 6] as $a
            | ((($t[0] | add) + $t[1][0]) / 6 * $a[2] | sqrt) as $v21
            | (0.25 * $a[0] + 0.25 * $a[1] + 0.5 * $a[2]) as $v1x
            | ([$p.accesses[] | [.types[].patterns[] | select(.u > 0) | .u * .bytes / .s] | add / 64]
                | add / 3) as $v05
            | near($p.values[0].bytes_per_s; $v05)
                # making and removing files count under 2.1, in what is printed and in its value
                and ($d == "2.1" or near($p.values[1].bytes_per_s; $v1x))
                and ($d != "2.1" or near($p.values[2].bytes_per_s; $v21))
                and $head.files_counted == ($d == "2.1")
                and ([$p.accesses[].types[] | .s - .open_s - .close_s - ([.patterns[].s] | add)
                    - (if $d == "2.1" then .create_s + .remove_s else 0 end) | fabs < 1e-9] | all)
                and ([$p.values[] | select(.headline) | .definition] == [$d])
                and $head.definition == $d' "$BATS_FILE_TMPDIR/$definition/r.json" >verdicts
        [ "$(sort -u verdicts)" = true ]
    done
}

@test "what is repeated is what was written" {
    slow
    beffio 2 -N 2 -T 0.3 --json r.json
    jq -e '.partitions[0] | [.accesses[] | [.types[].patterns[] | .calls_n]]
        | .[0] == .[1] and .[0] == .[2]' r.json
    # r = min(r0 (L0 / l0), 10 r1, r2) and whole megabytes per segment
    jq -e '.partitions[0] | . as $p | .accesses[0].types as $t
        | [range(1; 8)] | map(. as $k
            | $t[0].patterns[if $k == 1 then 1 else $k + 1 end] as $a
            | [$a.calls_n * ($a.call_bytes / $a.chunk_bytes), 10 * $t[1].patterns[$k].calls_n,
                $t[2].patterns[$k].calls_n] | min == $t[3].patterns[$k].calls_n) | all' r.json
    jq -e '.partitions[0] | .segment_bytes % 1048576 == 0
        and .accesses[0].types[3].bytes == 2 * .segment_bytes' r.json
    # samples after writing; after reading all, and the last call of each timed read
    jq -e '.partitions[0] | .accesses[0].checked_bytes < .file_bytes / 10
        and .accesses[2].checked_bytes > .file_bytes' r.json
}

@test "the summary parses as the released program's: awk, columns, value from its totals" {
    ln -s "$BATS_FILE_TMPDIR/2.1/b_eff_io.sum" res.sum
    ln -s "$BATS_FILE_TMPDIR/2.1/b_eff_io.prot" res.prot
    [ -s res.sum ]
    [ -s res.prot ]
    # seven lines of five columns per access and partition, and a line of totals
    awk '$2 == "PEs" && $3 ~ /^[1-7]$/ && NF == 10 { n[$1, $5]++ }
        $2 == "PEs" && $3 ~ /^total-/ && NF == 8 { t[$1, substr($3, 7)]++ }
        END { split("write rewrite read", a)
            for (i in a) for (p = 1; p <= 2; p++)
                if (n[p, a[i]] != 7 || t[p, a[i]] != 1) { print "partition", p, a[i]; exit 1 } }' res.sum
    # [BIO21] sqrt(WR RD), from the totals, against what is printed
    awk '$2 == "PEs" && $3 ~ /^total-/ { for (k = 4; k <= 8; k++) v[$1, substr($3, 7), k] = $k }
        /^b_eff_io of these/ { said[$9] = $6 }
        END { for (p = 1; p <= 2; p++) {
            w = v[p, "rewrite", 4]; r = v[p, "read", 4]
            for (k = 4; k <= 8; k++) { w += v[p, "write", k]; r += v[p, "read", k] }
            x = sqrt(w / 6 * r / 6)
            if (said[p] == "" || (x - said[p]) ^ 2 > (1e-3 * x) ^ 2) { print p, x, said[p]; exit 1 } } }' \
        res.sum
    for file in res.sum res.prot out; do # what is added comes behind it
        [ "$file" != out ] || ln -s "$BATS_FILE_TMPDIR/2.1/out" out
        grep -E '^ b_eff_io = +[0-9.]+ MB/s on [12] processes with 16 MByte/PE, scheduled time=0\.0 Min, on .*, NOT VALID \(see above\)$' "$file" >last
        grep -qF "$(uname -s) $(uname -n) $(uname -r) $(uname -v) $(uname -m)" last
    done
    sed -n '/^Added by nht1-beffio:$/,$p' res.sum >added
    grep -q '^  creation and removal of files are counted$' added
    [ "$(grep -c '^  [12] PEs: NOT CACHE-HONEST: ' added)" -eq 2 ]
    [ "$(grep -c '^  [12] PEs: buffers 16 to 16 bytes off a page$' added)" -eq 2 ]
    [ "$(grep -c '^n= ' res.prot)" -ge 250 ]
    [ "$(sed -n '/^Added by nht1-beffio:$/,$p' res.prot | grep -c '^  n=[12] buffers 16 to 16 bytes off a page$')" -eq 2 ]
    # the value of rewriting is that of scatter alone, or with -rewrite that of all types
    local rewritten='
        /PEs      total-rewrite/ { for (k = 4; k <= 8; k++) s[$1] += $k / 6; t[$1] = $4; s[$1] += $4 / 6; e += $5 == "-" }
        /^weighted average bandwidth for rewrite/ { said[$10] = $7; n++; if (all && e || !all && e != n) bad = 1 }
        END { for (p in said) { x = all ? s[p] : t[p]; if ((x - said[p]) ^ 2 > 0.01 ^ 2) bad = 1 }
            exit bad || n < 1 }'
    awk -v all=0 "$rewritten" res.sum
    mkdir here
    beffio alone -N 1 --definition 2.1 -rewrite -f here/all # with -f both texts lie beside it
    [ -s here/all.prot ]
    awk -v all=1 "$rewritten" here/all.sum
    grep -q "b_eff_io_read_seg_coll=" res.prot
    grep -q "b_eff_io_write_separated=" res.prot
    # the fields of a pattern in the order of the release, and the segment in MBytes
    awk '/^n= / && !/^n= *[12] a=[012] type=[0-4] p= ?[0-9]+ Tp= *[0-9.]+ l= *[0-9]+ L= *[0-9]+ i0[01]_00[12]_[0-4](.000)? r= *[0-9]+ S= *[0-9.]+ MB t= *[0-9.]+ =[0-9.]+\+[0-9.]+\+[0-9.]+\+[0-9.]+, last io [0-9.]+, last barrier\+bcast [0-9.]+, bw= *[0-9.]+$/ { print; bad = 1 }
        /^total pattern type: / && !/ S=[0-9.]+ MB t=[0-9.]+ t_op=[0-9.]+ t_cl=[0-9.]+ wbw=[0-9.]+ b_eff_io_[a-z]+_[a-z_]+= [0-9.]+ MB\/s( Lseg=[0-9]+\.000 MBytes)?$/ { print; bad = 1 }
        END { exit bad }' res.prot
    [ "$(grep -c ' Lseg=' res.prot)" -eq 12 ]
    [ "$(awk '/^weighted average/ && $6 == ":" && $7 > 0 && $8 == "MB/s" && $10 ~ /^[12]$/' res.sum | wc -l)" -eq 6 ]
    # the authors' scripts find a partition by its heading
    [ "$(awk '$1 == "of" && $2 == "PEs" { n++ } END { print n }' res.sum)" -eq 2 ]
}

@test "dry run: patterns, times, space; nothing is written; far beyond 16 GB" {
    beffio alone --ranks 2 --dry-run --rate 20G -MB 1048576 -T 900 --max-space 1T --json plan.json
    [[ $status == [03] ]] # how much is free decides
    expect_text "17179869184" # M_PART, the 128th part of a node's memory, 16 GiB
    expect_schema nht1-beffio-plan-1 plan.json
    expect_json plan.json '.time_s >= 1800 and .disk_bytes > 1e11
        and .memory_bytes == 2 * 17179869184 and (.misfits | length) == 1'
    beffio alone --ranks 2 --dry-run --rate 20G -MB 1048576 --m-part process
    expect_text "8589934592"
    # of another job: eight processes on four nodes
    beffio alone --dry-run --rate 20G -MB 1048576 --ranks 8 --nodes 4 --json plan.json
    [[ $status == [013] ]]
    expect_schema nht1-beffio-plan-1 plan.json
    expect_json plan.json '.schedule.partitions == [2, 4, 8] and .schedule.m_part_bytes == 17179869184'
    beffio alone --ranks 8
    expect_status 1
    beffio alone --ranks 2 --dry-run --rate 20G -MB 1048576 -T 900
    expect_text "18.750"     # 900 / 3 * 4 / 64
    awk '/bytes in one file/ { if (match($0, /\(([0-9]+) bytes/)) found = 1 } END { exit !found }' \
        <<<"$output"
    nothing_left
    beffio alone --ranks 2 --dry-run --rate 20G -MB 1048576 --definition 2.1
    expect_text "1073741824" # at most 1 GB there
}

@test "space that fits the files of all partitions together warns of nothing, less warns of the partition that it ends" {
    slow
    local ranks bytes
    # Under 2.1 the files of all exist together, and the largest partition has far more than a third of them.
    for ranks in 3 48 64; do
        beffio alone --dry-run --ranks "$ranks" --rate 1G -T 60 --definition 2.1 --max-space 60G --json plan.json
        bytes=$(jq .disk_bytes plan.json)
        beffio alone --dry-run --ranks "$ranks" --rate 1G -T 60 --definition 2.1 --max-space $((bytes + 200000000))
        expect_status 0
        [[ $output != *"lack of space"* ]]
        beffio alone --dry-run --ranks "$ranks" --rate 1G -T 60 --definition 2.1 --max-space $((bytes - 200000000))
        [ "$(tr -s ' \n' ' ' <<<"$output" | grep -o "rate [0-9]* processes would write" | sort -u)" = "rate $ranks processes would write" ]
    done
}

@test "a dry run is refused as the run is" {
    need_root "a file system of one's own"
    local refused how
    memory_disk data 64m
    for how in "-MB 1 -T 1 --max-space 3M" "-MB 1 -T 60 --rate 100M"; do
        # shellcheck disable=SC2086 # a list of words
        beffio alone $how
        refused="$status: $(grep '^nht1-beffio: ' <<<"$output" | sed 's/[0-9.]* [kMG]B/N/g')"
        [[ $refused == [13]:* ]]
        # shellcheck disable=SC2086
        beffio alone $how --dry-run --json plan.json
        [ "$status: $(grep '^nht1-beffio: ' <<<"$output" | sed 's/[0-9.]* [kMG]B/N/g')" = "$refused" ]
        [[ $output != *"will stop for lack of space"* ]]
        expect_json plan.json '.misfits | length == 1 and (.[0] | test("lacks|more than a tenth"))'
    done
    # A trial run divides what there is.
    run timeout "$NHT1_HANG_S" nht1-beffio -p data --quick -MB 1 --rate 50G --dry-run --json plan.json
    [ "$status" -eq 3 ] || expect_json plan.json '.misfits == []'
    umount data
    run timeout "$NHT1_HANG_S" nht1-beffio -p data --quick -MB 1 --rate 50G --dry-run --max-space 100M --json plan.json
    expect_status 0
    expect_json plan.json '.misfits == [] and .disk_bytes == 100000000'
}

@test "a dry run overwrites no file but a plan" {
    echo precious >notes
    beffio alone --dry-run --rate 1G -MB 16 --json notes
    expect_status 1
    expect_text "not an earlier result"
    [ "$(cat notes)" = precious ]
    beffio alone --dry-run --rate 1G -MB 16 --json ""
    expect_status 1
}

@test "a wrong bit on the disk is found: pattern, rank, offset, expected and found" {
    mkdir -p data
    run mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD/data" \
        NHT1_FAULT=pwrite:40:flip:0 "$NHT1_BIN/nht1-beffio" -p data -MB 16 -T 0.01 -N 2 \
        --check every --json r.json
    expect_status 2
    expect_text "shim: pwrite 40"
    expect_text "1 wrong values in what was read back"
    [[ $output =~ pattern\ [0-9]+,\ data\ of\ rank\ [01],\ offset\ [0-9]+:\ expected\ [0-9a-f]{16},\ found\ [0-9a-f]{16} ]]
    jq -e '.status == 2 and ([.partitions[].accesses[] | .wrong_n] | add) == 1' r.json
    jq -e '[.partitions[].accesses[].types[].patterns[].wrong_n] | add == 1' r.json
    nothing_left
}

@test "wrong data in one of several repetitions or partitions: status 2, not valid, wherever the median is" {
    slow
    local arguments
    mkdir -p data
    for arguments in "-N 1 --repeat 4" "-N 1,2"; do
        # shellcheck disable=SC2086 # words
        run mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD/data" \
            NHT1_FAULT=pwrite:40:flip:0 "$NHT1_BIN/nht1-beffio" -p data -MB 16 -T 0.01 $arguments \
            --check every --json r.json --sum r.sum
        expect_status 2
        expect_text "1 wrong values in what was read back; the first"
        expect_text "WRONG"
        expect_schema nht1-beffio-1 r.json
        expect_json r.json '.status == 2 and .wrong_n == 1 and ([.repetitions[].wrong_n] | add) == 1
            and (.b_eff_io.valid or .b_eff_io.maximum_valid | not)
            and all(.partitions[]; .criteria[] | select(.name == "no_errors") | .verdict == "failed")
            and ([.stamps[] | select(.code == "not-valid").sentence] | any(test("wrong values")))'
        grep -q "^  criterion 3: error count (1) == 0 -- NOT reached" r.sum
        nothing_left
    done
}

@test "errors of the file system end the run on all ranks, and nothing is left" {
    slow
    for plan in pwrite:100+:ENOSPC:0 open:1:EIO:1 open:3:EIO:1 fsync:4:EIO:0; do
        mkdir -p data
        run mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD/data" \
            NHT1_FAULT="$plan" "$NHT1_BIN/nht1-beffio" -p data -MB 16 -T 0.01 -N 2
        expect_status 3
        [ "$(grep -c '^nht1-beffio: ' <<<"$output")" -eq 1 ]
        nothing_left
    done
}

@test "where one result file cannot be written, the others are, and each that cannot is named" {
    mkdir data full
    run mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="full/" NHT1_FAULT=write:1+:ENOSPC:0 \
        "$NHT1_BIN/nht1-beffio" -p data -MB 16 -T 0.01 -N 2 --protocol full/p.prot --sum full/s.sum --json r.json
    expect_status 3
    expect_text "--protocol: full/p.prot"
    expect_text "No space left on device; --sum: full/s.sum"
    jq -e '.status == 3 and (.partitions | length == 1)' r.json
    [ -z "$(ls full)" ]
}

@test "a collective write that fails on one of three ranks ends them all" {
    local type
    for type in ${NHT1_FULL:+0 1} 4; do
        mkdir -p data
        run mpi_run 3 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_PROGRAM=nht1-beffio NHT1_FAULT_IN="_003_$type" \
            NHT1_FAULT=pwrite:1:ENOSPC:0 "$NHT1_BIN/nht1-beffio" -p data -MB 16 -T 0.01 -N 3
        expect_status 3
        expect_text "No space left on device"
        [ "$(grep -c '^nht1-beffio: ' <<<"$output")" -eq 1 ]
        nothing_left
    done
}

@test "a file size limit" {
    mkdir -p data
    run bash -c "ulimit -f 16384; '$NHT1_ROOT/tests/mpi-run' -np 2 '$NHT1_BIN/nht1-beffio' -p data -MB 16 -T 0.01 -N 2"
    expect_status 3
    expect_text "_data_i00_002"
    nothing_left
}

@test "two stamps: valid by definition, and cache-honest with the factor" {
    local made=$BATS_FILE_TMPDIR/1.x/r.json
    expect_json "$made" '[.stamps[] | .code] | index("not-valid") and index("not-cache-honest")'
    expect_json "$made" '(.stamps[] | select(.code == "not-cache-honest") | .numbers.cache_factor) == .b_eff_io.cache_factor
        and .b_eff_io.cache_factor < 1 and (.b_eff_io.cache_honest | not)'
    beffio alone -N 1 --cache 1 --json r.json
    expect_json r.json '.b_eff_io.cache_honest and ([.stamps[] | .code] | index("cache-honest"))'
    expect_json r.json '.partitions[0].stamps | map(.code) | index("cache-honest") != null'
}

@test "what is dropped from memory before reading is cache-honest" {
    beffio alone -N 1 --drop-cache --json r.json
    expect_status 4
    [ "$(stat -f -c %T data)" != tmpfs ] || not_here "files of the tests lie in memory"
    jq -e '[.partitions[0].accesses[2].types[].cached_share_before] | all(. == null or . < 0.05)' r.json
    jq -e '.b_eff_io.cache_honest' r.json
}

@test "shifted reading reads right data; to another node needs one" {
    slow
    beffio 3 -N 3 --shift-read 1 --json r.json
    expect_status 4
    expect_text "Shifted   each process read what the one 1 rank further wrote"
    expect_json r.json '.partitions[0].shift_ranks == 1 and ([.partitions[].accesses[].wrong_n] | add) == 0'
    beffio alone -N 1 --shift-read node
    expect_status 1
    expect_text "--shift-read node"
    nothing_left
}

@test "repetitions: the median one is the result, the values of all stand beside it" {
    slow
    beffio 2 -N 1,2 --repeat 3 --json r.json
    expect_status 4
    expect_schema nht1-beffio-1 r.json
    expect_json r.json '(.repetitions | length) == 3 and all(.repetitions[]; .valid or .wrong_n > 0 | not)
        and ([.repetitions[].bytes_per_s] | sort | .[1]) == .b_eff_io.bytes_per_s
        and .b_eff_io.bytes_per_s == ([.partitions[].values[1].bytes_per_s] | max)'
    nothing_left
}

@test "more than a tenth of the free space has to be said" {
    beffio alone -N 1 -T 1000000 --rate 1T
    expect_status 1
    expect_text "--max-space"
    nothing_left
}

@test "too little room is found out before anything is written" {
    slow
    beffio 2 --max-space 10M
    expect_status 3
    expect_text "does not fit into the 10.0 MB"
    expect_text "-MB"
    nothing_left
    # Nor is an old file given up for it.
    echo "dear diary" >data/b_eff_io_data_i00_001_0
    beffio alone -N 1 --max-space 10M --force
    expect_status 3
    [ "$(cat data/b_eff_io_data_i00_001_0)" = "dear diary" ]
    rm data/*
}

@test "writing that space ended is told, and the files stay within it" {
    beffio alone -N 1 -T 30 --max-space 60M --json r.json --termination per-call
    expect_status 4
    expect_text "NOT MET: writing was cut short for want of space"
    # cut short is what used its space up
    jq -e '.partitions[0] | .capped and .file_bytes <= 60000000 and .file_bytes > 50000000' r.json
    expect_json r.json '.partitions[0].stamps | map(.code) | index("capped") != null'
    # a decision after each call
    jq -e '[.partitions[0].accesses[0].types[0, 1, 2].patterns[] | .batches_n == .calls_n]
        | length > 0 and all' r.json
}

@test "a run that ends before its last partition is not valid" {
    mkdir -p data
    run mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_PROGRAM=nht1-beffio NHT1_FAULT_IN="_002_0" \
        NHT1_FAULT=pwrite:1:EIO:0 "$NHT1_BIN/nht1-beffio" -p data -MB 16 -T 0.01 -N 1,2 --json r.json --sum r.sum
    expect_status 3
    expect_schema nht1-beffio-1 r.json
    expect_json r.json '[.partitions[].completed] == [true, false] and (.b_eff_io.valid | not)
        and (.partitions[0].criteria[] | select(.name == "all_partitions") | .verdict == "failed")
        and any(.stamps[]; .code == "not-valid" and (.sentence | contains("1 of 2 partitions were measured, then the run ended")))'
    expect_json r.json '(.stamps | any(.code == "interrupted" and .sentence == "Interrupted: the job did not finish; 0 of 1 repetitions are complete."))
        and .disturbance != null'
    expect_text "NOT MET: 1 of 2 partitions were measured, then the run ended"
    grep -q "1 PEs: NOT VALID: 1 of 2 partitions were measured" r.sum
}

@test "a run that ends before its last repetition says how many are complete, and one before its first partition that none is" {
    slow
    mkdir -p data
    # The pwrites of one repetition, by a run of one.
    count() { mpi_run 1 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_PROGRAM=nht1-beffio NHT1_FAULT_IN="_001_0" \
        NHT1_FAULT="$1" "$NHT1_BIN/nht1-beffio" -p data -MB 16 -T 0.01 -N 1 "${@:2}"; }
    run count pwrite:1:EIO:0 --json none.json
    expect_status 3
    expect_json none.json '.b_eff_io == null and any(.stamps[]; .code == "interrupted")'
    run nht1-report --output - --format markdown none.json
    expect_text "Interrupted: the job did not finish; 0 of 1 repetitions are complete."
    i=0
    while # until it is in the second one or later
        i=$((i + 20))
        run count "pwrite:$i:EIO:0" --repeat 50 --json some.json --sum some.sum
        expect_status 3
        ! jq -e '.b_eff_io != null' some.json; do :; done
    done_n=$(jq '[.stamps[] | select(.code == "interrupted")][0].numbers.repetitions_done_n' some.json)
    [ "$done_n" -ge 1 ]
    expect_text "the job did not finish; $done_n of 50 repetitions"
    grep -q "INTERRUPTED: $done_n of 50 repetitions are complete" some.sum
}

# held STOP FILE RANKS ARGUMENT...: a run in the background, $job, one rank of which stops in front of a call on
# a file of such a name (NHT1_FAULT_STOP of tests/shim/fault.c); $stopped: its process. Its time is long enough
# for whatever a test does meanwhile.
held() {
    local stop=$1 file=$2 ranks=$3
    shift 3
    mkdir -p data
    "$NHT1_ROOT/tests/mpi-run" -np "$ranks" env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$file" \
        NHT1_FAULT_STOP="$stop" "$NHT1_BIN/nht1-beffio" -p data -MB 16 -T 6000 "$@" >out 2>&1 3>&- &
    job=$!
    wait_stopped -p "$job" nht1-beffio
}

@test "Ctrl-C: files are removed, status 3 or the launcher's, no process is left" {
    local rc=0
    held pwrite:20:1 _data_ 2 --max-space 500M
    pkill -INT -P "$job" || kill -INT "$job"
    kill -CONT "$stopped"
    wait "$job" || rc=$?
    [[ $rc =~ ^(1|3|130)$ ]] # mpirun has one of its own
    no_process nht1-beffio
    nothing_left
    # The launcher may end first, and takes what is printed after that with it.
    [ "$rc" -ne 3 ] || grep -q "interrupted by signal" out
}

@test "a disk that fills up meanwhile" {
    slow
    memory_disk disk 640m
    # Held up while it writes its first file, until the disk is full.
    held pwrite:5:0 _data_i00 2 -p disk -N 2 --max-space 590M
    head -c 700M /dev/zero >disk/full 2>/dev/null || true
    kill -CONT "$stopped"
    status=0
    wait "$job" || status=$?
    output=$(<out) left=$(ls -A disk)
    umount -l disk
    expect_status 3
    expect_text "the file system is full"
    [ "$left" = full ]
}

@test "Ctrl-C while a rank is held up: nothing is left" {
    slow
    local rc=0
    held pwrite:20:1 _data_i00_002_0 2 -N 2 --max-space 2G
    pkill -INT -P "$job" || kill -INT "$job"
    wait "$job" || rc=$?
    [ "$rc" -ne 0 ]
    no_process nht1-beffio
    nothing_left
}

@test "a run stopped at a random moment leaves nothing" {
    slow
    local i n=2
    [ -z "${NHT1_FULL:-}" ] || n=80
    for i in $(seq $n); do
        random_stop -l "$([ $((i % 2)) = 0 ] && echo INT || echo TERM)" nht1-beffio \
            nht1-beffio -p data -N 2 -MB 16 -T 0.01 --max-space 1G
        nothing_left
    done
}

@test "a run stopped or killed at a random moment, from its start on: the next one leaves nothing" {
    slow
    local i n=2 status
    local command=(nht1-beffio -p data -N "2,1" -MB 16 -T 0.01 --max-space 300M
        --json data/r.json --sum data/b.sum --protocol data/b.prot)
    [ -z "${NHT1_FULL:-}" ] || n=50
    for i in $(seq "$n"); do
        random_stop "$([ $((i % 2)) = 0 ] && echo INT || echo KILL)" nht1-beffio "${command[@]}"
        status=0
        mpi_run 2 "${command[@]}" >out 2>&1 || status=$?
        [ "$status" -eq 4 ]
        rm data/r.json data/b.sum data/b.prot
        nothing_left
    done
}

@test "where a link is another file than what it is of, as with sshfs, nothing is left" {
    slow
    slow_disk
    beffio 2 -p disk -N 2
    expect_status 4
    [ -z "$(ls -A disk)" ]
}

@test "a run stopped over files of several GB leaves nothing" {
    slow
    need_space . 16384
    local i
    for i in $(seq 20); do
        random_stop -l "$([ $((i % 2)) = 0 ] && echo INT || echo TERM)" nht1-beffio \
            nht1-beffio -p data -N 2 -MB 512 -T 30 --max-space 12G
        nothing_left
    done
}

@test "what a killed run left is cleaned away by the next one, whatever its partitions" {
    slow
    held pwrite:3:2 _data_i00_003_2.002 3 -T 5 -N 3 --max-space 300M
    kill_ranks nht1-beffio
    wait "$job" || true
    no_process nht1-beffio
    compgen -G "data/.nht1-*.own"
    [ -e data/b_eff_io_data_i00_003_2.002 ]
    : >data/b_eff_io_data_i00_003_9 # of no type
    # what somebody else has put in the place of one
    rm data/b_eff_io_data_i00_003_2.001
    cp data/b_eff_io_data_i00_003_2.002 data/b_eff_io_data_i00_003_2.001
    # a dry run only looks
    beffio alone --dry-run
    expect_status 0
    [ -e data/b_eff_io_data_i00_003_2.002 ]
    beffio 2 -N 2
    expect_status 4
    [ "$(ls -A data)" = "b_eff_io_data_i00_003_2.001
b_eff_io_data_i00_003_9" ]
}

@test "a file that took a data file's name meanwhile is not removed" {
    slow
    held pwrite:20:0 _data_i00_001_0 1 -N 1 --max-space 300M
    rm data/b_eff_io_data_i00_001_0
    echo "dear diary" >data/b_eff_io_data_i00_001_0
    pkill -INT -P "$job"
    kill -CONT "$stopped"
    wait "$job" || true
    no_process nht1-beffio
    [ "$(cat data/*)" = "dear diary" ]
}

@test "--keep leaves the files, of the lengths reported, and the next run takes them over" {
    slow
    mv "$BATS_FILE_TMPDIR/0.5/data" .
    [ "$(stat -c %s data/b_eff_io_data_i00_002_* | awk '{ s += $1 } END { print s }')" -eq \
        "$(jq .partitions[0].file_bytes "$BATS_FILE_TMPDIR/0.5/r.json")" ]
    [ -e data/b_eff_io_data_i00_002_2.001 ]
    beffio 2 -N 2
    expect_status 4
    nothing_left
}

@test "somebody else's file is left alone" {
    mkdir -p data
    echo "not from here, but long enough to be looked at" >data/b_eff_io_data_i00_002_3
    beffio 2 -N 2
    expect_status 1
    expect_text "was not written by this program"
    grep -q "not from here" data/b_eff_io_data_i00_002_3
    rm data/*
    mkdir data/b_eff_io_data_i00_001_3
    beffio alone -N 1 --force
    expect_status 1
}

@test "somebody else's text is left alone, and one name is not taken twice" {
    slow
    local words
    echo "dear diary" >diary
    cp diary diary.sum
    beffio 2 -N 2 --sum diary
    expect_status 1
    expect_text "is not an earlier result"
    while read -r -a words; do
        beffio alone -N 1 "${words[@]}"
        expect_status 1
        expect_text "diary"
    done <<'LIST'
--protocol diary
--json diary
-f diary
LIST
    [ "$(cat diary diary.sum)" = "$(printf 'dear diary\ndear diary')" ]
    beffio alone -N 1 --sum twice --json ./twice
    expect_status 1
    expect_text "have the same file"
    [ ! -e twice ]
    [ ! -e diary.prot ]
    beffio 2 --sum nowhere/x.sum
    expect_status 3
    expect_text "nowhere/x.sum"
    nothing_left
}

@test "hints reach the library, at opening and for a chunk size" {
    slow
    printf 'all all all on_open cb_nodes 1\n2 write scatter 1032 nht1_mark of1032\n' >hints
    beffio 2 -N 2 -i hints --json r.json --protocol r.prot
    expect_status 4
    grep -q '^file_info set cb_nodes = 1' r.prot
    grep -q '^file_info reported n=2 write scatter cb_nodes = 1' r.prot
    grep -q '^  n=2 p=25 was read by one call$' r.prot
    jq -e '.hints | length == 2 and .[1].position == 2 and .[1].value == "of1032"' r.json
    jq -e '[.partitions[0].library[] | .hints_reported | has("cb_nodes")] | length > 0 and all' r.json
    printf 'all all all 4096 cb_nodes 1\n' >hints
    beffio alone -i hints
    expect_status 1
    expect_text "hints:1: '4096' is no chunk size"
}

@test "bad input: one message that names the option, nothing is touched" {
    local words
    while read -r -a words; do
        beffio "${words[0]}" "${words[@]:2}"
        expect_status 1
        expect_text "${words[1]}"
        [ "$(grep -c '^nht1-beffio: ' <<<"$output")" -eq 1 ]
        nothing_left
    done <<'LIST'
2 -N -N 3
alone -N -N 0
alone -N -N 1,x
alone -N -N 1,1,1,1,1,1,1,1,1,1,1
alone --definition --definition 3.0
2 --time -T -5
alone --mb -MB zero
alone -MB -MB 1000000000000
alone -MT -MT 1000000000000000
alone exclude --unique -nounique
alone exclude --quick
alone -f -f sub/
alone --bogus --bogus
LIST
    run mpi_run 2 nht1-beffio -p nowhere
    expect_status 3
    expect_text "nowhere"
    run nht1-beffio -p data -i no-such-hints
    expect_status 1
    expect_text "no-such-hints"
}

@test "a second run of the same names is refused while the first one works" {
    mkdir -p data
    : >data/b_eff_io.lock
    exec 9<data/b_eff_io.lock
    flock 9
    beffio alone
    expect_status 3
    expect_text "another run"
    exec 9<&-
    beffio alone
    expect_status 4
}

@test "help and version" {
    run nht1-beffio --help
    expect_status 0
    expect_text "--definition"
    expect_text "Exit status"
    run mpi_run 2 nht1-beffio --version
    expect_status 0
    [ "$(grep -c '^nht1-beffio [0-9]' <<<"$output")" -eq 1 ]
}

@test "the report draws it: a panel per access, a curve per type, values over partitions" {
    slow
    local json=$BATS_FILE_TMPDIR/1.x/r.json
    run nht1-report --no-figures "$json" -o r.html --figures fig --csv tab
    expect_status 0
    # 7 chunk sizes of 5 types in 3 panels
    [ "$(grep -cE '^(write|rewrite|read),(scatter|shared|separate|segmented|seg_coll),' fig/beffio-chunks-2.csv)" -eq 105 ]
    want=$(jq '.partitions[1].accesses[2].types[1].patterns[4] | .bytes_per_s / 1e6' "$json")
    awk -F, -v want="$want" '$1 == "read" && $2 == "shared" && $3 == 1 { found = ($4 - want) ^ 2 < (1e-6 * want) ^ 2 }
        END { exit !found }' fig/beffio-chunks-2.csv
    [ "$(grep -c 'definition 1.x,' fig/beffio-partitions.csv)" -eq 2 ]
    [ "$(grep -c ', computed",' fig/beffio-partitions.csv)" -eq 4 ]
    [ "$(grep -c seg_coll fig/beffio-types.csv)" -eq 6 ]
    grep -q "Not valid" r.html
    [ "$(wc -l <tab/beffio.csv)" -eq 3 ]
}

@test "a result that cannot be written is an error, valid or not" {
    slow
    mkdir gone
    held pwrite:20:0 _data_ 1 -N 1 -T 0.01 --json gone/r.json
    rm -rf gone
    kill -CONT "$stopped"
    status=0
    wait "$job" || status=$?
    output=$(<out)
    expect_status 3
    expect_text "gone/r.json"
    nothing_left
}

@test "accesses beyond 2 GiB, of one process and of two together, by each MPI-IO component" {
    slow
    need_space . 27000
    need_open_mpi "components are Open MPI's"
    local component
    for component in ompio romio321; do
        MPIRUN_FLAGS="--mca io $component" beffio 1 -MB 300000 -N 1 --max-space 26G --check every --json r.json
        expect_status 4
        # one access stays one in count and bytes
        expect_json r.json '.schedule.m_part_bytes > 2147483648 and .schedule.m_part_bytes as $m
            | [.partitions[].accesses[] | .wrong_n] == [0, 0, 0]
            and ([.partitions[].accesses[].types[].patterns[] | select(.no == 18) | .calls_n * $m == .bytes] | all)'
        MPIRUN_FLAGS="--mca io $component" beffio 2 -MB 150000 -N 2 --max-space 26G --json r.json
        expect_status 4
        expect_json r.json '.schedule.m_part_bytes * 2 > 2147483648
            and ([.partitions[].accesses[].wrong_n] | add) == 0'
        expect_schema nht1-beffio-1 r.json
    done
}
