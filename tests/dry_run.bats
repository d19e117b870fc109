#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-bt --dry-run: what a run would take, without a file and without the run.

load helpers

plan() {
    run nht1-bt --dry-run --json plan.json --quiet "$@"
}

value() {
    jq -r "$1" plan.json
}

holds() {
    jq -e "$1" plan.json >/dev/null || { jq . plan.json && echo "not so: $1" && return 1; }
}

@test "bytes, files and memory of class A, by arithmetic" {
    plan --class A --io posix,token --ranks 8 --repeat 3
    expect_status 0
    expect_schema nht1-bt-plan-1 plan.json
    holds '.problem.dumps_n == 40 and .problem.dump_bytes == 10485760'
    # From the second round on a new file lies beside the old one, where blocks are not used again.
    holds '.file_bytes == 419430400 and (.disk_bytes == 838860800 or .disk_bytes == 1258291200) and .written_bytes == 2516582400'
    holds '.files_n == 4 and .ranks == 8 and .fits'
    holds '.rank_memory_bytes >= 64*64*64/8*160 and .memory_bytes >= 64*64*64*160'
    # Chunks that reach past the end of the cube count whole, as they do in the file.
    if has_writer hdf5; then
        plan --n 33 --steps 2 --interval 1 --dt 0.001 --io posix,hdf5 --chunk 32
        holds '.disk_bytes == .file_bytes + 2*40*33*33*33 and .written_bytes == .disk_bytes'
        holds '.file_bytes - 2*40*64*64*64 | . > 0 and . < 30000'
    fi
}

# peak COMMAND...: the most memory that a child had, in bytes, in $peak.
peak() {
    peak=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@")
}

@test "memory that a writer takes for its dumps is announced" {
    slow
    local writer one job
    for writer in mpiio-async ${NHT1_FULL:+async}; do
        job=(nht1-bt --n 36 --steps 1 --interval 1 --dt 0.001 --io "$writer" --quiet)
        peak "${job[@]}" --staging 1
        one=$peak
        peak "${job[@]}" --staging 64
        plan "${job[@]:1}" --staging 64
        # 63 dumps of 36^3 cells more, and all of it no more than was said but for MPI's own.
        [ $((peak - one)) -gt $((60 * 40 * 36 ** 3)) ]
        [ "$(value .rank_memory_bytes)" -gt $((peak - one)) ]
        holds ".rank_memory_bytes >= 64 * 40 * 36*36*36 and .node_memory_bytes >= .rank_memory_bytes"
    done
    # What is read at a time is no longer than a dump, however large --buffer.
    job=(nht1-bt --n 12 --steps 1 --interval 1 --dt 0.001 --io async --quiet --read last)
    peak "${job[@]}"
    one=$peak
    peak "${job[@]}" --buffer 1Gi
    [ $((peak - one)) -lt 100000000 ]
    plan "${job[@]:1}" --n 200 --buffer 1Gi
    holds '.rank_memory_bytes > (3 + 4) * 40 * 200*200*200'
    # One aggregator for 64 ranks has every dump whole; on its node the others have none.
    plan --class A --ranks 64 --nodes 4 --io async --aggregators 1 --staging 8
    holds '.rank_memory_bytes > 8 * 10485760 and .node_memory_bytes < 16 * .rank_memory_bytes / 4'
}

@test "a search counts the memory of the candidate that takes most, and is refused without" {
    need_root "another /proc/meminfo"
    local plain how job=(--class W --steps 40 --tc 1 --io)
    # shellcheck disable=SC2016 # expanded by that shell
    local inside=(unshare --mount bash -c 'mount --bind meminfo /proc/meminfo && "$@"' bash)
    plan "${job[@]}" async
    plain=$(value .rank_memory_bytes)
    plan "${job[@]}" async --staging 4
    # Enough for the default, too little for that.
    echo "MemAvailable: $(((plain + $(value .rank_memory_bytes)) / 2048)) kB" >meminfo
    "${inside[@]}" true || not_permitted "unshare --mount"
    for how in "--dry-run" "--minutes 0.05"; do
        # shellcheck disable=SC2086 # words
        run "${inside[@]}" nht1-bt "${job[@]}" auto:async $how
        expect_status 3
        expect_text "memory"
        expect_text "available"
    done
    "${inside[@]}" nht1-bt "${job[@]}" async --quiet
}

@test "files that are left: FILE, its manifest, and the part of each rank" {
    plan --n 12 --steps 2 --interval 1 --dt 0.001 --io perrank --ranks 3
    holds '.files_n == 2 + 3'
}

@test "parts of an earlier run give their room back" {
    need_root "a file system of one's own"
    memory_disk data 12m
    local r
    for r in 0 1 2; do head -c 3500000 /dev/zero >data/f.rank0000$r; done
    : >data/f
    plan --n 64 --steps 1 --interval 1 --dt 0.001 --io perrank --ranks 3 --out data/f
    holds '.fits and .disk_bytes == 10485760'
    # Each part that of its own name alone, and no other file.
    plan --n 64 --steps 1 --interval 1 --dt 0.001 --io perrank --ranks 2 --out data/f
    holds '.fits == false'
    rm data/f*
    head -c 9000000 /dev/zero >data/f
    plan --n 64 --steps 1 --interval 1 --dt 0.001 --io perrank --ranks 3 --out data/f
    holds '.fits == false'
    mount -o remount,size=16m data
    # Of several writers each finds the room of its own old file, and what those before it did not need of theirs.
    rm data/f*
    head -c 9000000 /dev/zero >data/f.posix
    plan --n 12 --steps 2 --interval 1 --dt 0.001 --io serial,posix --out data/f
    holds '.disk_free_bytes < 8000000'
    rm data/f*
    head -c 12000000 /dev/zero >data/f.serial
    mount -o remount,size=21m data # two new files and the rest of the old one are 1 MB less
    plan --n 64 --steps 1 --interval 1 --dt 0.001 --io serial,posix --out data/f --repeat 2
    holds '.fits and .disk_bytes == 2 * .file_bytes'
    plan --n 64 --steps 1 --interval 1 --dt 0.001 --io posix,serial --out data/f
    holds '.fits == false'
    mount -o remount,size=16m data
    # Blocks that have a second name are not given back.
    rm data/f*
    plan --n 12 --steps 2 --interval 1 --dt 0.001 --io posix --out data/g
    holds '.disk_free_bytes == 16 * 1024 * 1024'
    head -c 9000000 /dev/zero >data/g
    ln data/g data/h
    plan --n 12 --steps 2 --interval 1 --dt 0.001 --io posix --out data/g
    holds '.disk_free_bytes < 8000000'
    umount data
}

@test "where a round replaces the file of the one before, both are there: on a disk with room, not in memory" {
    need_root "a file system of one's own"
    local job=(--n 24 --steps 4 --interval 1 --dt 0.001)
    plan "${job[@]}" --io posix,mpiio --repeat 3
    holds '.disk_bytes == 2 * .file_bytes and .disk_peak_bytes == 3 * .file_bytes'
    run nht1-bt --dry-run "${job[@]}" --io posix,mpiio --repeat 3
    expect_text "6.64 MB while a round replaces the file of the one before"
    plan "${job[@]}" --io posix
    holds '.disk_peak_bytes == .file_bytes'
    memory_disk data 16m
    plan "${job[@]}" --io posix --repeat 3 --out data/f
    holds '.disk_peak_bytes == .file_bytes'
    umount data
}

@test "a search: its candidates, its time, one file at a time" {
    plan --class A --io auto --minutes 3 --ranks 8
    expect_status 0
    expect_schema nht1-bt-plan-1 plan.json
    holds '.search.minutes == 3 and (.search.candidates | length >= 20 and index("posix") != null
        and index("async --direct") != null)'
    holds '.time_s == 180 and .disk_bytes - 419430400 < 30000'
    run nht1-bt --dry-run --io auto
    expect_text "at most 5"
    expect_text "async --direct"
}

@test "--io all has one file at a time, none stays; --io none has none" {
    plan --class W --io all
    holds '.disk_bytes == .file_bytes and .files_n == 0'
    plan --class W --io all --keep
    holds '.disk_bytes > .file_bytes and .files_n > 2'
    plan --class W --io none
    holds '.file_bytes == 0 and .balance_rate_bytes_per_s == null'
}

@test "T_C is the remembered one, else estimated" {
    slow
    plan --class S --io posix
    holds '.t_c_origin == "probe" and .t_c_s > 0'
    OMP_NUM_THREADS=1 mpi_run 1 nht1-bt --class S --io none --quiet
    OMP_NUM_THREADS=1 plan --class S --io posix
    holds '.t_c_origin == "store"'
    [ "$(value .t_c_s)" = "$(jq '.entries[0].t_c_s' state/nht1/tc.json)" ]
    plan --class S --io posix --tc 7
    holds '.t_c_origin == "given" and .t_c_s == 7'
    holds '(.balance_rate_bytes_per_s - .file_bytes / 0.7 | fabs) < 1'
}

@test "class F: 2560^3 points, 33.6 TB, the rule of 20 times the memory over the nodes" {
    plan --class F --io posix --ranks 4096 --nodes 64
    expect_schema nht1-bt-plan-1 plan.json
    holds '.file_bytes == 33554432000000 and .problem.n == 2560'
    holds '(.memory_ratio - .file_bytes / .memory_total_bytes / 64 | fabs) < 1e-9'
    holds '.memory_rule_holds == (.memory_ratio >= 20)'
}

@test "a problem too small for its ranks is warned of, with the class that would do" {
    slow
    plan --class A --io posix --ranks 1024 --nodes 16
    expect_status 0
    holds '.warnings | length == 1 and (.[0] | test("256 cells.*class [B-F]"))'
    expect_schema nht1-bt-plan-1 plan.json
    plan --class A --io posix --ranks 4
    holds '.warnings == []'
}

@test "what does not fit: status 3, the reasons in words and in the JSON" {
    plan --n 4000 --steps 5000 --dt 1e-7 --io posix
    expect_status 3
    expect_text "does not fit"
    holds '.fits == false'
    holds 'any(.misfits[]; test("^memory")) and any(.misfits[]; test("^space"))'
}

@test "a limit on file sizes counts" {
    run bash -c 'ulimit -f 300000; nht1-bt --dry-run --class A --io posix'
    expect_status 3
    expect_text "ulimit"
}

@test "what cannot be is refused: decomposition, folder, options that do not go together" {
    plan --class S --ranks 2 --nodes 99
    expect_status 1
    expect_text "--nodes 99: 2 ranks cannot be on so many"
    plan --class S --ranks 7 --decomp 2x2x2
    expect_status 1
    plan --class S --io posix --out nowhere/x
    expect_status 3
    expect_text "nowhere"
    run nht1-bt --class S --ranks 2
    expect_status 1
    expect_text "--dry-run"
    plan --restart
    expect_status 1
}

@test "a run takes the place of its plan, but no plan that of a result" {
    plan --n 12 --steps 2 --interval 1 --dt 0.001 --io none
    nht1-bt --n 12 --steps 2 --interval 1 --dt 0.001 --io none --json plan.json --quiet
    holds '.schema == "nht1-bt/1"'
    plan --n 12 --steps 2 --interval 1 --dt 0.001 --io none
    expect_status 1
}

@test "no file is made, none is changed" {
    echo mine >btout.bin
    mkdir -p state/nht1
    run nht1-bt --dry-run --class S --io posix,perrank
    expect_status 0
    [ "$(cat btout.bin)" = mine ]
    [ "$(find . -type f | sort | xargs)" = ./btout.bin ]
}

@test "every rank leaves with the same status, one message" {
    run mpi_run 3 nht1-bt --dry-run --n 4000 --steps 5000 --dt 1e-7 --io posix
    expect_status 3
    [ "$(grep -c '^nht1-bt: ' <<<"$output")" -eq 1 ]
}

@test "docs/tuning.md counts the candidates of a search as a dry run does" {
    need_open_mpi "its components are OMPIO and ROMIO"
    local writer romio
    for writer in uring hdf5 pnetcdf; do
        need_writer "$writer"
    done
    romio=$(ompi_info --parsable 2>/dev/null | grep -oE 'mca:io:romio[0-9]*:' | head -n 1 | cut -d: -f3)
    [ -n "$romio" ] || not_here "ROMIO in this Open MPI"
    # candidates COMPONENT ARGUMENT...
    candidates() {
        OMPI_MCA_io=$1 nht1-bt --dry-run --tc 100 "${@:2}" | sed -n 's/^Search *\([0-9]*\) candidates.*/\1/p'
    }
    run tr -s '\n' ' ' <"$NHT1_ROOT/docs/tuning.md"
    expect_text "$(candidates ompio --io auto --class S --ranks 1) candidates (class S, one rank)"
    expect_text "to $(candidates "$romio" --io auto --class E --ranks 1024 --nodes 16) (class E, 1024 ranks on 16 nodes, ROMIO)"
    expect_text "class A on two ranks $(candidates ompio --io auto --class A --ranks 2) with OMPIO"
    expect_text "has $(candidates "$romio" --io auto:mpiio,mpiio-indep,mpiio-async,hdf5,hdf5-indep,pnetcdf,pnetcdf-indep \
        --class A --ranks 2) with ROMIO"
}

@test "an instruction set that does not exist is refused, whether or not T_C is known" {
    for tc in "--tc 1" "--tc best"; do
        # shellcheck disable=SC2086 # words
        run mpi_run 1 nht1-bt --dry-run --class S --isa nosuch $tc
        expect_status 1
        expect_text "not one of: auto"
    done
}

@test "ranks x threads: every way that fills the nodes, one recommended; none where the grid leaves no choice" {
    plan --class D --io none --nodes 64 --ranks 64 --decomp 3d
    expect_status 0
    expect_schema nht1-bt-plan-1 plan.json
    holds '.cores_of_nodes as $cores | [.splits[] | .ranks * .threads == $cores and .s_per_step > 0] | all'
    holds '(.splits | length) == 0 or ([.splits[] | select(.recommended)] | length == 1)'
    holds '(.splits | length) == 0 or (.splits as $s | $s[] | select(.recommended) | .s_per_step <= 1.02 * ([$s[].s_per_step] | min))'
    holds '((.cores_of_nodes > 64) == (.splits | length > 1))'
    plan --class D --io none --nodes 64 --ranks 64 --decomp 4x4x4
    expect_status 0
    holds '.splits == []'
}
