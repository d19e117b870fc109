#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-bt from its command line: results, files, T_C, reports, ends.
# shellcheck disable=SC2016 # jq filters have variables of their own
# shellcheck disable=SC2154 # wait_stopped sets stopped
load helpers

# A problem that takes no time: 13^3 points, 6 steps, a dump every 2.
tiny=(--n 13 --steps 6 --dt 0.001 --interval 2 --tc 1)

@test "help teaches, with examples, and the version is told" {
    run nht1-bt --help
    expect_status 0
    expect_text "--interval=IW"
    expect_text "mpirun -np 4 nht1-bt"
    expect_text "Exit status:"
    run nht1-bt --version
    expect_status 0
    [[ $output =~ ^nht1-bt\ [0-9] ]]
}

@test "help and version need no MPI, and a job answers once" {
    local what
    for what in --help --version; do
        OMPI_MCA_pml=none_such run nht1-bt "$what"
        expect_status 0
        run mpi_run 2 nht1-bt "$what"
        expect_status 0
        [ "$(grep -cE '^(Usage: )?nht1-bt ' <<<"$output")" -eq 1 ]
    done
}

@test "the list of writers tells what each does" {
    run mpi_run 2 nht1-bt --io help
    expect_status 0
    expect_text "collective"
    [ "$(grep -c '^none ' <<<"$output")" -eq 1 ]
    grep -qE '^posix {9}[a-z]' <<<"$output"
    grep -qE '^mpiio-indep {3}[A-Z]' <<<"$output"
}

@test "class S with every writer: verified, ranked, explained, files removed" {
    run mpi_run 2 nht1-bt --class S --json r.json
    expect_status 0
    expect_schema nht1-bt-1 r.json
    expect_json r.json '[.runs[] | .verified] | all'
    expect_json r.json '.status == 0 and (.ranking | length) >= 4'
    expect_json r.json '[.ranking[] | select(.zeta != null) | .t_t_s] | . == sort'
    expect_json r.json '[.runs[] | select(.driver != "none") | .proof.state] | all(. == "right")'
    expect_json r.json '[.runs[] | .norms | .published and .ok] | all'
    expect_json r.json '[.ranking[] | select(.writer != "none") | .answer] | length >= 4
        and all(. == "undecided" or . == "not-measurable")'
    [ -z "$(find . -name 'btout.bin*')" ]
}

@test "computing far slower than T_C is noticed, since zeta is then not the cost of writing" {
    run mpi_run 1 nht1-bt --class S --io posix --tc 0.0000001 --json r.json
    expect_status 0
    expect_json r.json '[.ranking[0].stamps[].code] | contains(["not-measurable", "disturbed"])
        and (contains(["implied-rate"]) | not)'
    run mpi_run 1 nht1-bt --class S --io posix --tc 100 --json r.json
    expect_status 0
    expect_json r.json '[.ranking[0].stamps[].code] | contains(["disturbed"]) | not'
}

@test "zeta is told in parts that add up, and every round pairs the writers with a compute-only run" {
    run mpi_run 2 nht1-bt --class S --io posix,serial --repeat 6 --json r.json
    expect_status 0
    expect_schema nht1-bt-1 r.json
    expect_json r.json '[.runs[] | select(.driver != "none")] | length == 12 and all(
        (.zeta_io + .zeta_compute - .zeta | fabs) < 1e-9
        and (.in_io_s + .computing_s - .t_t_s | fabs) < 1e-9
        and (.data_s + .bookkeeping_s - .in_io_s | fabs) < 1e-9 and .data_s >= 0 and .bookkeeping_s >= 0
        and (.zeta_data + .zeta_bookkeeping + .zeta_slowdown - .zeta_paired | fabs) < 1e-9
        and (.t_t_s / .t_c_round_s - 1 - .zeta_paired | fabs) < 1e-9)'
    expect_json r.json '[.runs[] | select(.driver == "none" and .round > 0) | .round] | sort == [1, 2, 3, 4, 5, 6]'
    expect_json r.json '.runs as $r | [.runs[] | select(.driver != "none") | . as $w
        | $r[] | select(.driver == "none" and .round == $w.round) | .t_t_s == $w.t_c_round_s] | all'
    # One answer, with the reason where nothing can be concluded; rounds that go up or down have no interval.
    expect_json r.json '[.ranking[] | select(.driver != "none")] | all(.paired.rounds_n == 6
        and (.paired.ci95_lo == null or (.paired.ci95_lo <= .paired.zeta and .paired.zeta <= .paired.ci95_hi))
        and .answer as $answer | ([.stamps[].code | select(IN("balanced", "io-too-slow",
            "io-faster-than-needed", "not-measurable", "undecided"))] == [$answer])
        and (($answer == "not-measurable") == (.reason != null)))'
    expect_json r.json '[.ranking[] | select(.driver != "none") | .dump_s] | all(
        .n == 36 and .p50_s <= .p90_s and .p90_s <= .p99_s and .p99_s <= .max_s)'
}

@test "where now this rank is slow and now that, data are the time of the slow one of each dump, not slowdown" {
    # 6 dumps of 100 ms, where each rank's own sum is half of that.
    run mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/delay.so" NHT1_DELAY_US=100000 NHT1_DELAY_IN_TURN=34560 \
        nht1-bt --class S --decomp 1x1x2 --io posix,none --read all --out out.bin --json r.json
    expect_status 0
    expect_schema nht1-bt-1 r.json
    expect_json r.json '[.runs[] | select(.driver == "posix") | ([.dumps[].post_s.max] | add) as $calls
        | ([.dumps[].post_s.slowest_rank] == [0, 1, 0, 1, 0, 1])
        and .data_s >= $calls - 1e-9 and $calls >= 0.6 and .in_io_s >= .data_s and .bookkeeping_s >= 0
        and (.in_io_s + .computing_s - .t_t_s | fabs) < 1e-9 and .computing_s >= 0
        and (.data_s + .bookkeeping_s - .in_io_s | fabs) < 1e-9
        and (.zeta_data + .zeta_bookkeeping + .zeta_slowdown - .zeta_paired | fabs) < 1e-9] | . == [true]'
    # Read in groups of 4 and 2.
    expect_json r.json '[.runs[].read[]? | (.dumps | length) == 6 and .data_s >= 0.6 and .data_s <= .t_r_s
        and .data_s > 0.75 * .t_r_s] | . == [true]'
}

@test "--repeat auto: rounds until the answers are settled at the first look, or --minutes are over" {
    # Too short to be measured, so there is nothing to wait for after eight rounds.
    run mpi_run 1 nht1-bt --n 13 --dt 0.001 --steps 6 --interval 2 --io posix,serial --repeat auto --minutes 9 --json r.json
    expect_status 0
    expect_schema nht1-bt-1 r.json
    expect_json r.json '[.ranking[] | select(.writer != "none")] | length == 2
        and all(.answer == "not-measurable" and .paired.rounds_n == 8)'
    expect_json r.json '([.stamps[].code] | contains(["interrupted"]) | not) and .options.repeat == "auto"
        and .options.minutes == 9'
    run mpi_run 1 nht1-bt --n 13 --dt 0.001 --steps 6 --interval 2 --io posix --repeat auto --minutes 0.01 --progress always --json r.json 2>err
    expect_status 0
    expect_json r.json '.ranking[0].paired | .rounds_n >= 1 and .rounds_n <= 8'
    expect_json r.json '[.stamps[].code] | contains(["interrupted"]) | not'
    run nht1-bt --dry-run --class A --io posix --repeat auto --tc-store s.json --json plan.json
    expect_status 0
    expect_json plan.json '.time_s <= 130'
}

@test "--repeat auto is refused where no round could decide anything" {
    run nht1-bt --n 13 --dt 0.001 --steps 6 --interval 2 --io posix --repeat auto --tc 5
    expect_status 1
    expect_text "--repeat auto and --tc SECONDS exclude each other"
    run nht1-bt --n 13 --dt 0.001 --steps 6 --interval 2 --io none --repeat auto
    expect_status 1
    expect_text "name a writer"
    run nht1-bt --n 13 --dt 0.001 --steps 6 --interval 2 --io posix --restart --repeat auto
    expect_status 1
    run nht1-bt --n 13 --dt 0.001 --steps 6 --interval 2 --io posix --repeat autp
    expect_status 1
    expect_text "did you mean auto?"
    run nht1-bt --n 13 --dt 0.001 --steps 6 --interval 2 --io posix --repeat 3 --minutes 3
    expect_status 1
    expect_text "--minutes is for --repeat auto"
}

@test "--tc SECONDS adds no compute-only runs, and such a T_C is not called the best one" {
    run mpi_run 1 nht1-bt --class S --io posix --tc 1000 --repeat 2 --json r.json
    expect_status 0
    [[ $output != *"best compute-only"* ]]
    expect_json r.json '[.runs[].driver] == ["posix", "posix"]'
    expect_json r.json '[.stamps[].code] | contains(["tc-not-best"])'
    expect_json r.json '[.ranking[0].stamps[] | select(.code == "tc-not-best") | .severity] == ["note"]'
}

@test "a result tells its build, when it was made, by which batch job, and what was not default" {
    SLURM_JOB_ID=4711 run nht1-bt "${tiny[@]}" --io posix --json r.json
    expect_status 0
    expect_json r.json '.job_id == "4711" and (.version | test("^[0-9]+[.]|^v"))'
    expect_json r.json '(.started_utc | fromdate) <= (.ended_utc | fromdate)'
    expect_json r.json '.options_changed | .io == "posix" and .n == 13 and (has("layout") | not)'
}

@test "the progress line shows the rate of writing" {
    slow
    nht1-bt --n 24 --dt 0.0008 --steps 4000 --interval 100 --io posix --progress always --tc 1 2>err >out
    grep -qE '[0-9] [kMG]B/s' err
}

@test "--keep keeps the files of all writers, and they hold the same bytes" {
    slow
    run mpi_run 3 nht1-bt "${tiny[@]}" --keep --json r.json
    expect_status 0
    local file files=0
    for file in btout.bin.*.json; do
        "$NHT1_ROOT/tests/raw_dumps" "${file%.json}" | sha256sum >>sums
        files=$((files + 1))
    done
    [ "$files" -ge 4 ]
    [ "$(sort -u sums | wc -l)" -eq 1 ]
    [ "$(stat -c %s btout.bin.serial)" -eq $((3 * 40 * 13 * 13 * 13)) ]
}

@test "one writer: the file stays under the name given and verifies" {
    run mpi_run 2 nht1-bt "${tiny[@]}" --io posix --out my.bin
    expect_status 0
    run nht1-verify my.bin
    expect_status 0
    expect_text "VERIFIED"
}

@test "all layouts are written and proved" {
    slow
    local layout
    for layout in mijk ijkm records; do
        run mpi_run 3 nht1-bt "${tiny[@]}" --io serial,posix --layout $layout --json $layout.json
        expect_status 0
        expect_json $layout.json '[.runs[] | .verified] | length == 2 and all'
        expect_json $layout.json ".problem.layout == \"$layout\""
    done
}

@test "R_IO and zeta in the result are those of the formulas" {
    run mpi_run 1 nht1-bt --class S --io posix --tc 2.5 --json r.json
    expect_status 0
    expect_json r.json '.runs[0] | (.t_t_s / .t_c_s - 1 - .zeta) | fabs < 1e-12'
    expect_json r.json '.runs[0] | (.r_io_bytes_per_s * .t_t_s / (40 * 1728 * 6) - 1) | fabs < 1e-12'
    expect_json r.json '.runs[0].t_c_s == 2.5 and .t_c.origin == "given"'
    expect_json r.json '.runs[0].bytes == 40 * 1728 * 6'
    expect_json r.json '.runs[0].r_io_basis == "steps/interval"'
}

@test "a number of dumps that is not N_S / I_W: R_IO counts dumps and says so" {
    run mpi_run 1 nht1-bt --n 12 --steps 7 --dt 0.01 --interval 3 --last --io posix --tc 1 \
        --json r.json
    expect_status 0
    expect_text "counts the dumps"
    expect_json r.json '.problem.dumps_n == 3 and .runs[0].r_io_basis == "dumps"'
    expect_json r.json '.runs[0] | (.r_io_bytes_per_s * .t_t_s / (40 * 1728 * 3) - 1) | fabs < 1e-12'
    expect_json r.json '[.runs[0].dumps[].step] == [3, 6, 7]'
}

@test "the phases of a run fill T_T on every rank" {
    slow
    own_clock 10 # what is in no phase is a few looks at it, and no turn of another process
    run mpi_run 2 nht1-bt --class W --io posix --tc 1 --json r.json
    expect_status 0
    expect_json r.json '.runs[0] | .t_t_s as $t | [.phases_s[] | .min] | add < $t * 1.001'
    expect_json r.json '.runs[0] | .t_t_s as $t | [.phases_s[] | .max] | add > $t * 0.999'
    expect_json r.json '[.runs[0].dumps[] | .post_s | .min <= .median and .median <= .max] | all'
    expect_json r.json '[.runs[0].dumps[].start_s] | . == sort and .[0] > 0'
    # The time of day goes back an hour whenever it is asked for: no run ends before it has begun.
    expect_json r.json '.ended_utc >= .started_utc'
}

@test "--profile prints the parts of T_T, and they are those of the result" {
    slow
    run mpi_run 2 nht1-bt --class S --io none,posix --tc 1 --profile --json r.json
    expect_status 0
    [ "$(grep -c '^Phases of ' <<<"$output")" -eq 2 ]
    local phase phases=0
    for phase in $(jq -r '.runs[] | select(.driver == "none") | .phases_s | to_entries[]
        | select(.value.max > 0) | .key' r.json); do
        [ "$(grep -cE "^$phase +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+\$" <<<"$output")" -eq 2 ] ||
            { echo "$phase" && return 1; }
        phases=$((phases + 1))
    done
    [ "$phases" -ge 4 ] # rhs, xi, eta, zeta at least
    local shown
    shown=$(awk '/^Phases of posix/ { on = 1 } on && $1 == "eta" { print $4; exit }' <<<"$output")
    expect_json r.json "[.runs[] | select(.driver == \"posix\")][0].phases_s.eta.max
        | (. - $shown) | fabs < 0.00006"
    run mpi_run 1 nht1-bt --class S --io none
    [[ $output != *"Phases of"* ]]
}

@test "that threads wait before their work and behind it is in the phases of computing and staging, not in idle" {
    need_program gcc nm
    nm -D "$NHT1_BIN/nht1-bt" | grep -q GOMP_parallel || not_here "another OpenMP than gcc's"
    cat >late.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
void GOMP_parallel(void (*f)(void *), void *data, unsigned threads, unsigned flags)
{
    void (*real)(void (*)(void *), void *, unsigned, unsigned);
    *(void **)&real = dlsym(RTLD_NEXT, "GOMP_parallel");
    usleep(10000);
    real(f, data, threads, flags);
    usleep(10000);
}
END
    gcc -shared -fPIC -o late.so late.c -ldl
    run mpi_run 1 env LD_PRELOAD="$PWD/late.so" nht1-bt --class S --io posix --tc 1 --out out.bin --json r.json
    expect_status 0
    # 60 steps, of a team each, and 6 dumps, each of which waits 20 ms.
    expect_json r.json '.runs[0].phases_s | ([.rhs, .xi, .eta, .zeta | .mean] | add) >= 1.19 and .stage.mean >= 0.119'
    expect_json r.json '.runs[0].bookkeeping_s >= 0.119'
}

@test "the result tells the time of making the solver and its memory per cell" {
    slow
    run mpi_run 2 nht1-bt --n 24 --steps 2 --dt 0.0008 --interval 1 --io none --tc 1 --json r.json
    expect_status 0
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.system | .setup_s > 0'
    expect_json r.json '.system | (.memory_bytes_per_cell * 24 * 24 * 24 / .solver_memory_bytes - 1) | fabs < 1e-12'
}

@test "T_C is measured once, remembered, and found again" {
    run mpi_run 1 nht1-bt --class S --io posix --json a.json
    expect_status 0
    expect_json a.json '.t_c | .origin == "measured" and .verified and .stored'
    expect_json state/nht1/tc.json '.entries | length == 1 and (.[0]
        | .hosts == .host and .memory_gib > 0 and (.mpi | length > 3) and .host != "")'
    [ -f state/nht1/tc.json ]
    # No run contradicts it, however busy the machine is.
    jq '.entries[0].t_c_s = 1e-3' state/nht1/tc.json >fast && mv fast state/nht1/tc.json
    run mpi_run 1 nht1-bt --class S --io posix --json b.json
    expect_status 0
    expect_json b.json '.t_c | .origin == "store" and .verified and .undisturbed and .host != null
        and (.measured_utc | fromdate) > 0 and .t_c_s == 1e-3'
}

@test "a better compute-only run improves the store, a worse one does not" {
    slow
    run mpi_run 1 nht1-bt --class S --io none --tc-store s.json
    expect_status 0
    jq '.entries[0].t_c_s = 100' s.json >slow.json
    run mpi_run 1 nht1-bt --class S --io none --tc-store slow.json --json a.json
    expect_json slow.json '.entries | length == 1 and .[0].t_c_s < 100 and .[0].verified'
    expect_json a.json '.t_c.stored'
    jq '.entries[0].t_c_s = 1e-6' s.json >fast.json
    run mpi_run 1 nht1-bt --class S --io none --tc-store fast.json --json b.json
    expect_json fast.json '.entries[0].t_c_s == 1e-6'
    expect_json b.json '(.t_c.stored | not) and .t_c.t_c_s == 1e-6'
    # Today's time is told where it is slower by more than a tenth.
    expect_json b.json '[.stamps[] | select(.code == "disturbed") | .numbers.t_c_s] == [1e-6]'
}

@test "T_C of another host, MPI library or memory is not taken for this system's" {
    slow
    run mpi_run 1 nht1-bt --class S --io none --tc-store s.json
    expect_status 0
    local other
    for other in '.hosts = "x" | .host = "x"' '.mpi = "x"' '.memory_gib = 1'; do
        jq ".entries[0] |= ($other | .t_c_s = 1e-6)" s.json >o.json
        run mpi_run 1 nht1-bt --class S --io none --tc-store o.json --json r.json
        expect_status 0
        expect_json r.json '.t_c.t_c_s > 1e-6'
        expect_json o.json '.entries | length == 2'
    done
    # An entry that lacks a part of the key is nobody's.
    jq '.entries[0] |= (del(.mpi) | .t_c_s = 1e-6)' s.json >o.json
    run mpi_run 1 nht1-bt --class S --io none --tc-store o.json --json r.json
    expect_json r.json '.t_c | .t_c_s > 1e-6 and (has("keyed") | not)'
}

@test "a stored T_C that a run with writing contradicts is told, and measured again" {
    local tiny=(--n 13 --steps 6 --dt 0.001 --interval 2)
    run mpi_run 1 nht1-bt "${tiny[@]}" --io none --tc-store s.json
    jq '.entries[0].t_c_s = 1000' s.json >slow.json
    run mpi_run 1 nht1-bt "${tiny[@]}" --io posix --repeat 1 --tc-store slow.json --json r.json
    expect_status 0
    expect_json r.json '.t_c | .origin == "measured" and .t_c_s < 100'
    expect_json slow.json '.entries | length == 1 and .[0].t_c_s < 100 and .[0].undisturbed'
}

@test "a T_C of a busy machine is told and not stored, and one stored without evidence is not used" {
    NHT1_PROC=$NHT1_ROOT/tests/proc/busy run mpi_run 1 nht1-bt --class S --io none --tc-store s.json --json a.json
    expect_status 0
    expect_json a.json '[.notices[] | select(test("is not stored"))] | length == 1'
    expect_json a.json '.t_c | .origin == "measured" and .undisturbed == false and (.stored | not)'
    [ ! -e s.json ] || expect_json s.json '.entries == []'
    run mpi_run 1 nht1-bt --class S --io none --tc-store s.json
    expect_json s.json '.entries | length == 1 and .[0].undisturbed and .[0].share_min == 0.999'
    jq '.entries[0] |= (del(.undisturbed) | .t_c_s = 1e-6)' s.json >old.json
    run env OMP_NUM_THREADS=1 nht1-bt --class S --io none --tc-store old.json --dry-run
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"without sound evidence"* ]]
    run mpi_run 1 nht1-bt --class S --io none --tc-store old.json --json b.json
    expect_status 0
    expect_json b.json '.t_c | .origin == "measured" and .t_c_s > 1e-6'
    expect_json old.json '.entries | length == 1 and .[0].undisturbed and .[0].t_c_s > 1e-6'
}

@test "a stored T_C that undisturbed computing never reaches again is told and not used" {
    slow
    run mpi_run 1 nht1-bt --class S --io none --tc-store s.json
    jq '.entries[0].t_c_s = 1e-6' s.json >fast.json
    run mpi_run 1 nht1-bt --class S --io none --repeat 3 --tc-store fast.json --json r.json
    expect_status 0
    expect_json r.json '[.notices[] | select(test("undisturbed compute-only runs of this job none took less"))] | length == 1'
    expect_json r.json '.t_c | .origin == "measured" and .t_c_s > 1e-6'
    expect_json fast.json '.entries[0].t_c_s == 1e-6'
    # Runs of which nothing is known say nothing about it.
    NHT1_PROC=$NHT1_ROOT/tests/proc/busy run mpi_run 1 nht1-bt --class S --io none --repeat 3 --tc-store fast.json --json r.json
    expect_json r.json '.t_c | .origin == "store" and .t_c_s == 1e-6'
}

@test "a problem without published norms has no verified T_C" {
    slow
    run mpi_run 2 nht1-bt --n 13 --steps 6 --dt 0.001 --io posix --json r.json
    expect_status 0
    expect_json r.json '.t_c | .origin == "measured" and (.verified | not)'
    expect_json r.json '.runs[0] | .verified and (.norms.published | not)'
}

@test "class A with fewer steps is verified by norms that the oracle has computed" {
    run mpi_run 2 nht1-bt --class A --steps 20 --io none,posix --out x.bin --json r.json
    expect_status 0
    expect_json r.json '.problem.class == "U" and all(.runs[]; .verified and .norms.ok and .norms.computed and
        (.norms.published | not)) and .t_c.verified'
    expect_json r.json '.runs[] | select(.driver == "posix") | .verdict == "verified: norms as computed, file right"'
    run nht1-verify x.bin --json v.json
    expect_status 0
    expect_text "has the computed error norms of class A with fewer steps"
    expect_json v.json '.published_mean.computed and .published_final.computed'
}

@test "a damaged store is told, left alone, and does not stop the run" {
    echo '{ "schema": "nht1-tc/1", "entries": [' >tc.json
    cp tc.json before
    run mpi_run 1 nht1-bt --class S --io posix --tc-store tc.json --json r.json
    expect_status 0
    expect_text "tc.json is no store"
    cmp tc.json before
    expect_json r.json '.t_c.origin == "measured"'
}

@test "repeats: every writer once per round, the headline is the median" {
    run mpi_run 2 nht1-bt "${tiny[@]}" --io serial,posix --repeat 3 --seed 7 --json r.json
    expect_status 0
    expect_json r.json '[.runs[] | {driver, round}] | unique | length == 6'
    expect_json r.json '.ranking | length == 2 and all(.runs_n == 3 and .paired.rounds_n == 0)'
    expect_json r.json '(.ranking[0].driver) as $d | ([.runs[] | select(.driver == $d) | .t_t_s]
        | sort | .[1]) == .ranking[0].t_t_s'
    expect_json r.json '(.ranking[0].driver) as $d | ([.runs[] | select(.driver == $d) | .t_t_s]
        | min) == .ranking[0].best_t_t_s'
}

@test "the same seed gives the same order" {
    slow
    local order=()
    for try in 1 2; do
        mpi_run 1 nht1-bt "${tiny[@]}" --seed 12345 --json $try.json --quiet
        order+=("$(jq -c '[.seed, .runs[].driver]' $try.json)")
    done
    [ "${order[0]}" = "${order[1]}" ]
}

@test "only the official case is stamped official" {
    run mpi_run 1 nht1-bt --class S --io posix --json r.json
    expect_json r.json '.runs[0].official == false and .ranking[0].official == false'
    expect_json r.json '[.ranking[].stamps[].code, .runs[].stamps[].code] | contains(["official"]) | not'
}

@test "the official case is stamped official" {
    slow
    need_space . 4000
    OMP_NUM_THREADS=1 run mpi_run 2 nht1-bt --class B --io posix --tc 100 --json r.json
    expect_status 0
    expect_json r.json '.runs[0].official and ([.ranking[0].stamps[].code] | contains(["official"]))'
}

@test "what reads nothing back is not called verified" {
    run mpi_run 1 nht1-bt "${tiny[@]}" --io posix --verify never --json r.json
    expect_status 0
    expect_json r.json '.runs[0] | (.verified | not) and .proof.state == "none"'
    run mpi_run 1 nht1-bt "${tiny[@]}" --io null --json n.json
    expect_status 0
    expect_json n.json '[.ranking[0].stamps[].code] | contains(["writer-null", "not-verified"])'
    # What is dropped is not written: no rate, in the table either.
    expect_json n.json '[.runs[0], .ranking[0] | .r_io_bytes_per_s, .write_rate_bytes_per_s,
        .implied_rate_bytes_per_s, .best_r_io_bytes_per_s] | all(. == null)'
    awk '$1 == "null" && NF == 8 && !found { found = 1; bad = $5 != "-" || $6 != "-" } END { exit bad || !found }' <<<"$output"
    expect_text "The whole run came to"
    expect_json n.json '.runs[0] | (.verified | not) and .path == null'
    expect_schema nht1-bt-1 n.json
    run mpi_run 1 nht1-bt "${tiny[@]}" --io perrank --json p.json
    expect_status 0
    expect_json p.json '[.ranking[0].stamps[].code] | contains(["no-serial-file"])'
}

@test "with --io all only files that a writer left are removed" {
    : >btout.bin.null # somebody's, though empty
    run mpi_run 1 nht1-bt "${tiny[@]}" --io all,null
    expect_status 0
    [ -e btout.bin.null ]
    [ ! -e btout.bin.posix ]
}

@test "a file that nht1-verify cannot read back is not called wrong: status 3" {
    mkdir unable
    cp "$NHT1_BIN/nht1-bt" unable
    printf '#!/bin/sh\necho "cannot read it" >&2\nexit 3\n' >unable/nht1-verify
    chmod +x unable/nht1-verify
    run mpi_run 1 unable/nht1-bt "${tiny[@]}" --json r.json
    expect_status 3
    expect_text "not verified: cannot read it"
    [[ $output != *WRONG* ]]
    expect_json r.json '.runs[0] | (.verified | not) and .proof.state == "failed"'
    [ -n "$(find . -name 'btout.bin.*')" ] # what could not be judged stays
}

@test "the result of nht1-verify is not read byte by byte" {
    need_program strace
    run mpi_run 1 strace -e trace=read -o calls "$NHT1_BIN/nht1-bt" "${tiny[@]}" --io posix --json r.json
    [ "$status" -eq 0 ] || not_permitted "to trace system calls"
    expect_json r.json '.runs[0].proof.summary.verdict == "VERIFIED"'
    [ "$(grep -c ', 1) ' calls)" -lt 100 ]
}

@test "where statx is refused, as by old lists of system calls of containers, files are ours all the same" {
    need_program strace
    local run
    for run in 1 2; do
        run mpi_run 1 strace -o calls -e trace=statx -e inject=statx:error=EPERM "$NHT1_BIN/nht1-bt" "${tiny[@]}" --io posix --json r.json --verify never
        [[ $output != *ptrace* ]] || not_permitted "to trace system calls"
        expect_status 0
    done
    grep -q EPERM calls
}

@test "a file of which nht1-verify compared no values is not called right" {
    mkdir blind
    cp "$NHT1_BIN"/nht1-{bt,verify} blind
    mv blind/nht1-verify blind/verify
    printf '#!/bin/sh\nfor file; do :; done\nmv "$file.json" away\nexec "%s" "$@"\n' \
        "$PWD/blind/verify" >blind/nht1-verify
    chmod +x blind/nht1-verify
    run mpi_run 1 blind/nht1-bt "${tiny[@]}" --io posix --json r.json
    expect_status 3
    expect_text "nht1-verify could not prove every value: its verdict is PLAUSIBLE"
    expect_json r.json '.runs[0] | (.verified | not) and .proof.state == "failed"'
}

@test "a file that another run took before it was read back is not judged and stays" {
    mkdir late
    cp "$NHT1_BIN/nht1-bt" late
    cat >late/nht1-verify <<'END'
#!/bin/sh
for file; do :; done
sed 's/"run_id": "................/"run_id": "0123456789abcdef/' "$file.json" >new
mv new "$file.json"
echo "dump 2: U_0(1,2,3) is wrong" >&2
exit 2
END
    chmod +x late/nht1-verify
    run mpi_run 2 late/nht1-bt "${tiny[@]}" --io posix --json r.json
    expect_status 3
    expect_text "not this run's any more"
    [[ $output != *WRONG* ]]
    expect_json r.json '.runs[0] | (.verified | not) and .proof.state == "failed"'
    [ -e btout.bin ]
    [ -e btout.bin.json ]
}

@test "OMP_NUM_THREADS that is no number of threads gets a notice" {
    slow
    for value in garbage 0 -3 2x; do
        OMP_NUM_THREADS=$value run mpi_run 2 nht1-bt "${tiny[@]}" --io none --json r.json
        expect_status 0
        expect_json r.json "[.notices[] | contains(\"OMP_NUM_THREADS is '$value'\")] | any"
        expect_json r.json '[.stamps[].code] | contains(["oversubscribed"]) | not'
    done
    OMP_NUM_THREADS=1,2 run mpi_run 1 nht1-bt "${tiny[@]}" --io none --json r.json
    expect_json r.json '[.notices[] | test("OMP_NUM_THREADS")] | any | not'
}

@test "without nht1-verify beside it the result is not valid" {
    mkdir alone
    cp "$NHT1_BIN/nht1-bt" alone
    run mpi_run 1 alone/nht1-bt "${tiny[@]}" --io posix --json r.json
    expect_status 4
    expect_text "nht1-verify was not found"
    expect_json r.json '.runs[0] | (.verified | not) and .proof.state == "missing"'
}

@test "a file that nht1-verify finds wrong: status 2 and its words" {
    mkdir liar
    cp "$NHT1_BIN/nht1-bt" liar
    printf '#!/bin/sh\necho "dump 2: U_0(1,2,3) is wrong" >&2\nexit 2\n' >liar/nht1-verify
    chmod +x liar/nht1-verify
    run mpi_run 2 liar/nht1-bt "${tiny[@]}" --json r.json
    expect_status 2
    expect_text "dump 2: U_0(1,2,3) is wrong"
    [[ $output != *alanced* ]] # times of wrong files mean nothing
    expect_json r.json '.status == 2 and (.runs[0].verified | not)'
    [ -n "$(find . -name 'btout.bin.*')" ] # the evidence stays
}

@test "too many threads for the binding, too many ranks for the cores: told" {
    need_program taskset
    OMP_NUM_THREADS=3 run taskset -c "$(taskset -cp $$ | grep -oE '[0-9]+' | tail -n 1)" \
        nht1-bt "${tiny[@]}" --io posix --json r.json
    expect_status 0
    expect_json r.json '[.stamps[] | select(.code == "bound") | .numbers]
        == [{ranks_n: 1, threads_n: 3, cores_n: .system.cores_of_nodes, cpus_allowed_n: 1}]'
    taskset -c "$(taskset -cp $$ | grep -oE '[0-9]+' | tail -n 1)" "$NHT1_ROOT/tests/mpi-run" -np 2 env OMP_NUM_THREADS=1 \
        "$NHT1_BIN/nht1-bt" "${tiny[@]}" --io posix --json s.json
    [ "$(nproc)" -lt 2 ] || expect_json s.json 'any(.stamps[]; .code == "bound" and
        (.sentence | startswith("Binding: 2 threads of all ranks may use only 1 CPU; start with mpirun --bind-to none")))'
    # Without a word on how threads wait, the program starts itself again with one.
    OMP_NUM_THREADS=$(($(nproc) + 1)) run mpi_run 1 env -u OMP_WAIT_POLICY "$NHT1_BIN/nht1-bt" "${tiny[@]}" --io posix --json r.json
    expect_status 0
    expect_json r.json '[.stamps[].code] | contains(["oversubscribed"])'
}

@test "threads that OpenMP binds, each to a CPU of its own, do not share one" {
    [ "$(nproc)" -ge 2 ] || not_here "one CPU"
    # The last one starts itself again, with threads that wait passively.
    for threads in OMP_NUM_THREADS=2 X=1 "OMP_NUM_THREADS=2 SLURM_NTASKS_PER_NODE=$(nproc)"; do
        # shellcheck disable=SC2086 # words
        run env -u OMP_NUM_THREADS -u OMP_WAIT_POLICY $threads OMP_PROC_BIND=true nht1-bt "${tiny[@]}" --io posix --json r.json
        expect_status 0
        expect_json r.json '(.stamps | all(.code != "bound")) and .system.threads >= 2 and .system.narrowest_affinity_cpus == .system.threads'
    done
}

@test "an interrupted run leaves its complete dumps and status 3" {
    OMP_NUM_THREADS=1 nht1-bt --n 40 --steps 100000 --dt 0.0001 --interval 1000000 --last \
        --io none --tc 1 --progress always --json none.json >none.out 2>none.err 3>&- &
    local pid=$! rc=0
    wait_text -p $pid none.err " left"
    kill -INT $pid
    wait $pid || rc=$?
    [ "$rc" -eq 3 ]
    grep -q "interrupted after step" none.err
    [ "$(grep -c dumps none.err)" -eq 0 ] # none were written

    OMP_NUM_THREADS=1 nht1-bt --n 20 --steps 100000 --dt 0.0001 --interval 100 --io posix \
        --tc 1 --quiet --json r.json 2>err 3>&- &
    pid=$!
    wait_until -p $pid bash -c '[ "$(stat -c %s btout.bin.json.journal 2>/dev/null)" -gt 512 ] 2>/dev/null'
    kill -TERM $pid
    rc=0
    wait $pid || rc=$?
    [ "$rc" -eq 3 ]
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.status == 3 and (.runs[0] | .interrupted and (.completed | not))'
    expect_json btout.bin.json '(.dumps | map(select(.complete)) | length) >= 1'
    run nht1-verify btout.bin
    expect_status 0
    expect_text "cut short"
}

# rounds_of FILE: complete rounds that an unfinished result tells, -1 while there is none.
rounds_of() {
    jq '[.stamps[] | select(.code == "interrupted").numbers.rounds_done_n][0] // -1' "$1" 2>/dev/null ||
        echo -1
}

@test "a job that is killed leaves the rounds that it has completed" {
    slow
    # In the second round or later: a run has six dumps.
    LD_PRELOAD=$NHT1_TESTBIN/fault.so NHT1_FAULT_IN=btout.bin NHT1_FAULT_STOP=pwrite:100:0 \
        OMP_NUM_THREADS=1 nht1-bt --class S --io posix --repeat 1000 --tc-store s.json --quiet \
        --json r.json 3>&- &
    local pid=$!
    wait_stopped -p $pid nht1-bt
    kill -KILL $pid
    wait $pid || true
    [ "$(rounds_of r.json)" -ge 1 ]
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.status == 3 and .t_c.t_c_s > 0
        and ([.ranking[].writer] | sort) == ["none", "posix"]
        and ([.runs[] | .completed and .verified] | all)'
}

@test "a job that was suspended is disturbed: stopped and continued as a batch system does" {
    LD_PRELOAD=$NHT1_TESTBIN/fault.so:$LD_PRELOAD NHT1_FAULT_IN=btout.bin NHT1_FAULT_STOP=pwrite:3:0 \
        OMP_NUM_THREADS=1 nht1-bt "${tiny[@]}" --io posix --tc 1 --quiet --json r.json 3>&- &
    local pid=$!
    wait_stopped -p $pid nht1-bt
    kill -CONT $pid
    wait $pid
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.runs[0] | .disturbance.suspended and .disturbance.disturbed
        and any(.stamps[]; .code == "disturbed" and (.sentence | test("the job was suspended for some time")))'
    run nht1-bt "${tiny[@]}" --io posix --tc 1 --quiet --json r.json
    expect_json r.json '.runs[0].disturbance.suspended == false'
}

@test "quiet prints nothing; progress on demand goes to standard error" {
    run mpi_run 1 nht1-bt "${tiny[@]}" --io posix --quiet
    expect_status 0
    [ -z "$output" ]
    nht1-bt --class W --io none --progress always --tc 1 2>err >out
    grep -q step err
    [ "$(grep -c $'\r' err)" -ge 1 ]
    [ "$(grep -c $'\r' out)" -eq 0 ]
}
