#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-bt on simulated ranks (docs/simulation.md): right results, no deadlock, charged times, stamps.
load helpers

SYNCHRONOUS="--cfg=smpi/async-small-thresh:0 --cfg=smpi/send-is-detached-thresh:0"

setup_file() {
    [ -z "${NHT1_FULL:-}" ] || ! command -v smpicc >/dev/null || ! command -v smpirun >/dev/null ||
        env -u MAKEFLAGS -u MFLAGS make -C "$NHT1_ROOT" -j2 O="${NHT1_BIN%/bin}" simulate-programs bench-programs >&2
}

setup() {
    slow # another build
    need_large smpicc smpirun
    cd "$BATS_TEST_TMPDIR" || return 1
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
}

# simulated RANKS PLATFORM [ARGUMENT...]: of nht1-bt; SMPI_FLAGS: of SimGrid.
simulated() {
    local ranks=$1 platform=$NHT1_ROOT/config/platforms/$2.xml
    shift 2
    # A node for each, as far as the platform has them.
    seq 0 "$((ranks - 1))" | awk -v nodes="$(sed -n 's/.*radical="0-\([0-9]*\)".*/\1/p' "$platform")" \
        '{ print "node-" $1 % (nodes + 1) }' >hosts
    # shellcheck disable=SC2086 # a list of flags
    OMP_NUM_THREADS=1 timeout "$((4 * NHT1_HANG_S))" smpirun -np "$ranks" -platform "$platform" -hostfile hosts \
        --log=root.thres:critical --cfg=smpi/simulate-computation:no --cfg=smpi/test:0 --cfg=smpi/coll-selector:ompi \
        --cfg=smpi/allreduce:rdb --cfg=smpi/bcast:binomial_tree ${SMPI_FLAGS:-} "${NHT1_BIN%/bin}/simulation/bin/nht1-bt" "$@"
}

@test "8 simulated ranks: norms verified, stamped simulated, never T_C" {
    run simulated 8 fat-tree --class S --decomp 3d --io none --json r.json
    expect_status 0
    expect_json r.json '.runs[0].verified and .system.ranks == 8 and .system.nodes == 8'
    expect_json r.json '.system.simulation == {platform: "fat-tree", computing: "free"}'
    expect_json r.json '[.stamps[].code] | index("simulated") != null'
    expect_json r.json '.t_c.origin == "unknown"'
    [ ! -e "$XDG_STATE_HOME/nht1/tc.json" ]
}

@test "216 simulated ranks: the same dumps as one rank, on every platform, with synchronous sends" {
    local platform
    mpi_run 1 nht1-bt --class S --steps 10 --io posix --out one.bin --tc 1 --quiet
    for platform in flat fat-tree dragonfly torus ethernet; do
        SMPI_FLAGS=$SYNCHRONOUS \
            run simulated 216 "$platform" --class S --steps 10 --decomp 3d --io posix --out many.bin --force --tc 1 --verify never --quiet
        expect_status 0
        cmp one.bin many.bin
    done
}

@test "synchronous sends end where the halo is exchanged behind the right-hand side" {
    # Blocks of class W have inner lines, those of S on many ranks have none.
    local decomp
    mpi_run 1 nht1-bt --class W --steps 2 --interval 2 --io posix --out one.bin --tc 1 --quiet
    for decomp in 3d 1d:y; do
        SMPI_FLAGS=$SYNCHRONOUS run simulated 8 flat --class W --steps 2 --interval 2 --decomp "$decomp" --io posix \
            --out many.bin --force --tc 1 --verify never --quiet
        expect_status 0
        cmp one.bin many.bin
    done
}

@test "charged computing: a step takes its time twice, nothing is computed, nothing can be written" {
    run simulated 8 flat --class W --steps 2 --decomp 3d --io none --charge k.json --json a.json
    expect_status 0
    run simulated 8 flat --class W --steps 2 --decomp 3d --io none --charge k.json --json b.json
    expect_status 0
    expect_json k.json '.schema == "nht1-kernels/1" and (.entries | length == 1)'
    expect_json a.json '.runs[0].t_t_s > 0 and (.runs[0].verified | not) and .system.simulation.computing == "charged"'
    # When they were timed stands in the table, the result and its stamp.
    expect_json a.json ".system.simulation.kernels_utc == $(jq '.entries[0].utc' k.json)"
    expect_text "$(jq -r '.entries[0].utc' k.json)"
    [ "$(jq -s '.[0].runs[0].t_t_s == .[1].runs[0].t_t_s' a.json b.json)" = true ]
    # Times of another build are not charged: they are measured again.
    jq '.entries[0].build = "another"' k.json >k2.json
    run simulated 8 flat --class W --steps 2 --decomp 3d --io none --charge k2.json
    expect_status 0
    expect_json k2.json '.entries | length == 2'
    expect_schema nht1-bt-1 a.json
    run simulated 8 flat --class W --steps 2 --io posix --charge k.json
    expect_status 1
    expect_text "--io none"
}

@test "make simulate-check: this machine, calibrated, simulated and measured side by side" {
    check() {
        run env CLASS=S STEPS=2 ROUNDS=1 RANKS="$1" PYTHONPATH="$NHT1_ROOT/runs" \
            python3 -B -m nht1.simulate "${NHT1_BIN%/bin}/simulation" check
    }
    check 1000
    expect_status 1
    expect_text "RANKS: 1000: this machine has"
    [ "$(nproc)" -ge 2 ] || not_permitted "two ranks that share a core"
    check 2
    expect_status 0
    expect_text "class S, 2 ranks, ms per step; measured: median of 1; ping-pong"
    expect_json "${NHT1_BIN%/bin}/simulation/check.json" '[.rows[].decomp] == ["1d:z", "1d:y", "1d:x"]
        and all(.rows[]; .s_per_step > 0 and .measured_s_per_step > 0 and .platform == "this-machine")'
}

@test "make simulate: this machine is a platform, of one node" {
    local folder=$BATS_TEST_TMPDIR/folder
    mkdir -p "$folder/simulation"
    ln -s "${NHT1_BIN%/bin}/simulation/bin" "$folder/simulation/bin"
    ln -s "$NHT1_BIN" "$folder/bin"
    ln -s "${NHT1_BIN%/bin}/bench" "$folder/bench"
    [ "$(nproc)" -ge 2 ] || not_permitted "two ranks that share a core"
    run env CLASS=S STEPS=2 RANKS=2 PLATFORMS=this-machine PYTHONPATH="$NHT1_ROOT/runs" \
        python3 -B -m nht1.simulate "$folder/simulation"
    expect_status 0
    expect_json "$folder/simulation/simulation.json" '[.rows[] | .platform, .ranks] == ["this-machine", 2]'
    run env CLASS=S STEPS=2 RANKS=1000 PLATFORMS=this-machine PYTHONPATH="$NHT1_ROOT/runs" \
        python3 -B -m nht1.simulate "$folder/simulation"
    expect_status 1
    expect_text "1000 ranks need"
}

@test "make simulate: the cost model with the kernel times that are charged stands beside flat" {
    local folder=$BATS_TEST_TMPDIR/folder
    mkdir -p "$folder/simulation"
    ln -s "${NHT1_BIN%/bin}/simulation/bin" "$folder/simulation/bin"
    ln -s "${NHT1_BIN%/bin}/bench" "$folder/bench"
    run env CLASS=W STEPS=2 RANKS=27 PLATFORMS=flat PYTHONPATH="$NHT1_ROOT/runs" \
        python3 -B -m nht1.simulate "$folder/simulation"
    expect_status 0
    grep -E '^flat +27 +27 +3x3x3 .*[+-][0-9]+ %$' "$folder/simulation/simulation.txt"
    # Work alone does not know of messages: batches times what one took.
    expect_json "$folder/simulation/model.json" '.blocks == [.blocks[] | select(.grid == "3x3x3" and .n == 24)]
        and (.blocks[0] | .s_per_step > .work_s and ((.work_s + .exchange_s + .pipe_s) / .s_per_step - 1 | fabs) < 1e-9)'
    run "$folder/bench/model" --kernels "$folder/simulation/kernels.json" --reference
    expect_status 1
    jq '.entries[0].grid = "many"' "$folder/simulation/kernels.json" >k.json
    run "$folder/bench/model" --kernels k.json
    expect_status 1
    expect_text 'grid many'
}

@test "S on 1000 and 1728 ranks verified" {
    local ranks
    for ranks in 1000 1728; do
        run simulated "$ranks" flat --class S --decomp 3d --io none --json r.json --quiet
        expect_status 0
        expect_json r.json '.runs[0].verified'
    done
}

@test "S on 1000 ranks: the dump of one rank" {
    mpi_run 1 nht1-bt --class S --steps 10 --io posix --out one.bin --tc 1 --quiet
    SMPI_FLAGS=$SYNCHRONOUS run simulated 1000 flat --class S --steps 10 --decomp 3d --io posix --out many.bin --tc 1 --verify never --quiet
    expect_status 0
    cmp one.bin many.bin
}
