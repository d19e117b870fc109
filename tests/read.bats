#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# --read: dumps read back by every writer's own way, from memory and not, in other decompositions,
# with what is wrong found; what is refused.
# shellcheck disable=SC2016 # jq filters have variables of their own
# shellcheck disable=SC2154 # wait_stopped sets stopped
load helpers

tiny=(--n 12 --steps 6 --dt 0.01 --interval 1 --tc 1 --verify never --quiet)
dump_bytes=$((40 * 12 * 12 * 12))

# bt RANKS ARGUMENT...: a run into out.bin with its result in r.json, which is right and follows the
# schema.
bt() {
    local ranks=$1
    shift
    run mpi_run "$ranks" nht1-bt "${tiny[@]}" --out out.bin --json r.json "$@"
    expect_status 0
    expect_schema nht1-bt-1 r.json
}

# refused RANKS TEXT ARGUMENT...: status 1, one message that holds the text, nothing written.
refused() {
    local ranks=$1 text=$2
    shift 2
    run mpi_run "$ranks" nht1-bt "${tiny[@]}" --io posix --out out.bin "$@"
    expect_status 1 || { echo "of: $*" && return 1; }
    expect_text "$text"
    [ "$(grep -c '^nht1-bt: ' <<<"$output")" -eq 1 ]
    [ ! -e out.bin ]
}

@test "every writer in one run: its own decomposition and another, cold and warm, the right bytes" {
    slow
    run mpi_run 4 nht1-bt --class S --decomp 1d --io all,perrank --tc 1 --out out.bin --json r.json \
        --read last --read-cache cold,warm --read-decomp own,1d:x
    expect_status 0
    expect_text "cold T_R"
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.runs | length >= 9'
    expect_json r.json '[.runs[].read | length == 4] | all'
    expect_json r.json '[.runs[].read[] | [.cache, .decomp, .own_decomp]] | unique ==
        [["cold", "1x1x4", true], ["cold", "4x1x1", false], ["warm", "1x1x4", true], ["warm", "4x1x1", false]]'
    expect_json r.json "[.runs[].read[] | .digest_ok and .bytes == $dump_bytes and .ranks == 4 and
        .t_r_s > 0 and .requests_n >= 1 and .file_bytes == 6 * $dump_bytes] | all"
    expect_json r.json '[.runs[].read[].dumps | length == 1 and .[0].dump == 6 and .[0].step == 60] | all'
    expect_json r.json '[.runs[].read[] | .dumps[0].t_s <= .t_r_s and
        (.rate_bytes_per_s * .t_r_s / .bytes - 1 | fabs) < 1e-9] | all'
    expect_json r.json '[.ranking[].read | length == 4 and all(.runs_n == 1 and .digest_ok)] | all'
    expect_json r.json '[.runs[] | .verified or .path == null] | all'
}

@test "all dumps, in goes of four, at 1 to 4 ranks, and T_R is at least the time of the calls" {
    slow
    local ranks
    for ranks in 1 2 3 4; do
        bt $ranks --io posix,async --read all --read-decomp own,3d
        expect_json r.json "[.runs[].read[] | .digest_ok and .bytes == 6 * $dump_bytes and
            .dump_bytes >= .bytes and ([.dumps[].dump] == [1,2,3,4,5,6]) and
            ([.dumps[].step] == [1,2,3,4,5,6]) and all(.dumps[]; .digest_ok)] | all"
        expect_json r.json '[.runs[].read[] | .t_r_s > 0 and .t_r_s >= ([.dumps[].t_s] | max)] | all'
    done
}

@test "every layout is read, by blocks and by fewer ranks than have written" {
    slow
    local layout
    for layout in mijk ijkm records; do
        bt 4 --io serial,twophase,mpiio --layout $layout --decomp 2x2x1 --read 3 \
            --read-decomp 3x1x1,auto --read-ranks 3
        expect_json r.json '[.runs[].read[] | [.decomp, .own_decomp, .ranks]] | unique ==
            [["1x1x3", false, 3], ["3x1x1", false, 3]]'
        expect_json r.json '[.runs[].read[] | .digest_ok and ([.dumps[].dump] == [3])] | all'
    done
}

@test "a list of decompositions that are the same gives one reading" {
    slow
    bt 2 --io posix --read last --read-decomp own,1d:z,1x1x2 --read-cache cold,cold
    expect_json r.json '.runs[0].read | length == 1 and .[0].own_decomp'
}

@test "random: one dump for all writers of a round, another seed another choice, repeatable" {
    slow
    local seed
    for seed in 1 2 3 3; do
        bt 1 --io posix,serial --read random --repeat 4 --seed $seed
        expect_json r.json '[.runs | group_by(.round)[] | [.[].read[].dumps[].dump] | unique | length == 1] | all'
        expect_json r.json '[.runs[].read[].dumps[].dump | . >= 1 and . <= 6] | all'
        jq -c '[.runs | group_by(.round)[] | .[0].read[0].dumps[0].dump]' r.json >>chosen
        expect_json r.json '[.ranking[].read[] | .runs_n == 4] | all'
    done
    [ "$(sort -u chosen | wc -l)" -eq 3 ]
    [ "$(tail -n 1 chosen)" = "$(sed -n 3p chosen)" ]
}

@test "medians over rounds are those of the runs" {
    slow
    bt 2 --io posix --read last --repeat 3
    expect_json r.json '([.runs[].read[0].t_r_s] | sort | .[1]) == .ranking[0].read[0].t_r_s'
    expect_json r.json '([.runs[].read[0].rate_bytes_per_s] | sort | .[1]) == .ranking[0].read[0].rate_bytes_per_s'
}

@test "what was in memory before is measured; cold that is not and warm that is not are stamped" {
    bt 2 --io posix,perrank --read last --read-cache cold,warm
    expect_json r.json '[.runs[].read[] | .cached_bytes_before == null or .cached_bytes_before <= .dump_bytes] | all'
    expect_json r.json '[.runs[].read[] | select(.cache == "cold" and .cached_bytes_before != null) |
        (.cached_bytes_before > 0.05 * .dump_bytes) == any(.stamps[]; .code == "read-cached")] | all'
    expect_json r.json '[.runs[].read[] | select(.cache == "cold" and .cached_bytes_before == null) |
        any(.stamps[]; .code == "read-cached")] | all'
    expect_json r.json '[.runs[].read[] | select(.cache == "warm" and .cached_bytes_before != null) |
        (.cached_bytes_before < 0.95 * .dump_bytes) == any(.stamps[]; .code == "read-not-cached")] | all'
    expect_json r.json '[.ranking[].read[] | .cached_share == null or .cached_share <= 1] | all'
}

# answered STEPS INTERVAL REPEAT: posix writes and reads all its dumps cold on the test's clock, by which reading
# them takes always as long, and computing as long as there are steps.
answered() {
    own_clock 15625 # a second in 64 steps: sums of it are exact
    run mpi_run 1 nht1-bt --n 12 --steps "$1" --dt 0.001 --interval "$2" --io none,posix --repeat "$3" \
        --verify never --force --out out.bin --json r.json --read all
    expect_status 0
    unset LD_PRELOAD
    expect_schema nht1-bt-1 r.json
}

# expect_read CODE [REASON]: the answer about reading back; where nothing is ever read cold, that.
expect_read() {
    local code=$1 reason=${2:+\"${2:-}\"}
    if jq -e '[.ranking[0].read[0].stamps[].code] | index("read-cached")' r.json >/dev/null; then
        code=not-measurable reason='"page-cache"'
    fi
    expect_json r.json ".ranking[0].read[0] | .answer == \"$code\" and .reason == ${reason:-null}"
    expect_json r.json '[.ranking[0].read[0] | .answer as $a | .stamps[] | select(.code == $a)] | length == 1'
}

@test "reading back has one of the four answers, by the time that it takes of computing" {
    slow
    answered 1000 200 8
    expect_read io-faster-than-needed
    expect_json r.json '.ranking[0].read[0] | .rounds_n == 8 and .zeta.ci95_lo <= .zeta.zeta and
        .terms.data.ci95_hi <= 0.01 and (.zeta.zeta - .terms.data.zeta - .terms.bookkeeping.zeta | fabs) < 1e-9'
    expect_json r.json '[.runs[].read[]? | .paired and .data_s < .t_r_s and .disturbance.undisturbed and
        (.zeta - .t_r_s / .computing_s | fabs) < 1e-9] | all and length == 8'
    answered 60 10 8
    expect_read balanced
    answered 20 4 8
    expect_read not-measurable bookkeeping
    answered 6 1 8
    expect_read io-too-slow
    # No verdict without an interval, and none about the reading of a file that nobody needs to read.
    answered 60 10 5
    expect_read undecided
    run mpi_run 1 nht1-bt "${tiny[@]}" --io perrank --out out.bin --json r.json --read last
    expect_json r.json '.ranking[0].read[0].answer == null'
}

@test "what is read warm, disturbed or in no time has no answer but the reason" {
    slow
    bt 1 --io posix --read last --repeat 6 --read-cache warm
    expect_json r.json '.ranking[0].read[0] | .answer == "not-measurable" and .reason == "page-cache"'
    NHT1_PROC=$NHT1_ROOT/tests/proc/busy answered 60 10 8
    expect_read not-measurable disturbed
    expect_json r.json '[.ranking[0].read[0].stamps[].code] | index("disturbed") != null'
    run mpi_run 1 nht1-bt --n 12 --steps 6 --dt 0.01 --interval 1 --verify never --out out.bin --json r.json \
        --io none,posix --repeat 6 --read last --force
    expect_read not-measurable too-short
}

@test "the answer stands in the text and in the report, and over several jobs follows from their rounds" {
    slow
    local i
    answered 60 10 8
    expect_text "answer"
    expect_text "posix, read back cold (1x1x1): "
    run nht1-report r.json -o r.html
    expect_status 0
    if jq -e '.ranking[0].read[0].answer == "balanced"' r.json >/dev/null; then
        grep -q "Balanced.*of reading" r.html
    fi
    answered 6 1 2
    expect_json r.json '.ranking[0].read[0].answer | . == "undecided" or . == "not-measurable"'
    for i in 1 2 3 4; do
        jq ".started_utc = \"2026-01-0${i}T00:00:00Z\"" r.json >job$i.json
    done
    run nht1-report job?.json -o r.html
    expect_status 0
    if jq -e '.ranking[0].read[0].answer == "undecided"' r.json >/dev/null; then
        grep -q "I/O is too slow: over 8 rounds of several jobs" r.html
    fi
}

@test "a file system in memory is never called cold" {
    slow
    [ "$(stat -f -c %T /dev/shm)" = tmpfs ] || not_here "/dev/shm is no tmpfs"
    bt 2 --io posix --read last --out "/dev/shm/nht1-read-$$"
    rm -f "/dev/shm/nht1-read-$$"*
    expect_json r.json '.runs[0].read[0].stamps | any(.code == "read-cached" and .severity == "warn")'
}

@test "without --read nothing is read and nothing is said of it" {
    bt 2 --io posix
    expect_json r.json '[.runs[], .ranking[] | has("read") | not] | all'
}

@test "a writer that leaves nothing has no readings beside one that does" {
    slow
    bt 2 --io null,posix --read last
    expect_json r.json '[.runs[] | {(.writer): (.read | length)}] | add == {"null": 0, "posix": 1}'
}

@test "a damaged dump: status 2, the dump is named, the others are right" {
    run mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD" \
        NHT1_FAULT=pwrite:3:flip:1 "$NHT1_BIN/nht1-bt" "${tiny[@]}" --io posix --out out.bin \
        --json r.json --read all --read-decomp own,1d:x
    expect_status 2
    expect_text "differs from the digests"
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.status == 2 and (.runs[0].verified | not)'
    expect_json r.json '[.runs[0].read[] | (.digest_ok | not) and
        ([.dumps[] | select(.digest_ok | not).dump] == [3])] | all and length == 2'
    expect_json r.json '[.runs[0].read[].stamps[] | select(.code == "read-wrong").numbers.dump_n] == [3, 3]'
    expect_json r.json '.ranking[0].read | all(.digest_ok | not)'
}

@test "a call that fails while reading: status 3 on all ranks, the time of writing is kept" {
    local plan
    for plan in pread:1:EIO:1 pread:1:end:0; do
        rm -f out.bin*
        run mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD" \
            NHT1_FAULT=$plan "$NHT1_BIN/nht1-bt" "${tiny[@]}" --io posix --out out.bin \
            --json r.json --read last
        expect_status 3
        expect_schema nht1-bt-1 r.json
        expect_json r.json '.status == 3 and .runs[0].t_t_s > 0 and .runs[0].read == []'
        expect_json r.json '.runs[0].verdict == "not verified: it could not be read back"'
    done
}

@test "a read behind the program's back fails on one rank: status 3 on all; a short one is gone on with" {
    local writer plan
    while read -r writer plan; do
        rm -f out.bin*
        run mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD" \
            NHT1_FAULT="$plan" "$NHT1_BIN/nht1-bt" "${tiny[@]}" --io "$writer" --out out.bin \
            --json r.json --read last --read-cache warm
        # Where there is no io_uring, and in libraries that do not use aio, nothing fails.
        grep -q '^shim:' <<<"$output" || continue
        case $plan in
        *short*)
            expect_status 0
            expect_json r.json '.runs[0].read[0].digest_ok'
            ;;
        *)
            expect_status 3
            expect_text "nht1-bt: rank 1 on "
            expect_text "take an"
            expect_json r.json '.status == 3 and .runs[0].t_t_s > 0 and .runs[0].read == []'
            ;;
        esac
    done <<<"mpiio-async aio:8:EIO:1
        uring uring_read:1:EIO:1
        uring uring_read:2:end:1
        uring uring_read:2:short:1"
}

@test "a finished file is read again by --restart" {
    slow
    bt 2 --io posix
    run mpi_run 3 nht1-bt --restart --out out.bin --json r.json --tc 1 --read last
    expect_status 0
    expect_text "cold T_R"
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.ranking == [] and (.runs[0].read | length == 1 and .[0].digest_ok)'
}

@test "what cannot be is refused before anything is written" {
    refused 1 "--read 'first'" --read first
    refused 1 "--read '0'" --read 0
    refused 1 "--read '-1'" --read -1
    refused 1 "--read ''" --read ''
    refused 1 "the run writes 6 dumps: give a number from 1 to 6" --read 7
    refused 1 "choose a shorter --interval, or add --last" --read last --interval 7
    refused 1 "no writer of --io none leaves a file" --read last --io none
    refused 1 "no writer of --io null leaves a file" --read last --io null
    refused 1 "--read-cache 'hot'" --read last --read-cache hot
    refused 1 "--read-cache 'cold,'" --read last --read-cache cold,
    refused 1 "--read-decomp 'x'" --read last --read-decomp x
    refused 2 "--read-decomp 3x1x1 has 3 blocks" --read last --read-decomp own,3x1x1
    refused 2 "the number of ranks that read is 1 (all, or --read-ranks)" --read last --read-ranks 1 --read-decomp 2x1x1
    refused 2 "--read-ranks 3: there are 2" --read last --read-ranks 3
    refused 1 "--read-ranks" --read last --read-ranks 0
    refused 2 "--read-decomp own is for 2 ranks" --read last --read-decomp own --read-ranks 1
    refused 1 "--read-cache is for --read" --read-cache warm
    refused 1 "--read-decomp is for --read" --read-decomp own
    refused 1 "--read-ranks is for --read" --read-ranks 1
    refused 1 "--read-drop-system is for --read" --read-drop-system
    refused 1 "is for reading cold" --read last --read-cache warm --read-drop-system
    refused 1 "give own, auto, 1d" --read last --read-decomp own,,1d:x
}

@test "whether the system's caches may be dropped is known before the run" {
    need_root "another user"
    local folder user=(setpriv --reuid 65534 --regid 65534 --clear-groups) plan
    "${user[@]}" test -x "$NHT1_BIN/nht1-bt" || not_here "the programs are where another user cannot reach them"
    folder=$(TMPDIR=/tmp mktemp -d) # the folder of the tests is the user's alone
    chmod 777 "$folder"
    cd "$folder" || return 1
    for plan in --quiet --dry-run; do
        run "${user[@]}" env HOME="$folder" OMPI_MCA_orte_tmpdir_base="$folder" nht1-bt "${tiny[@]}" --io posix --out f --read last --read-drop-system $plan
        [[ $status:$output == 1:*"--read-drop-system: only root may drop the system's caches"* ]]
        [ ! -e f ]
    done
    rm -rf "$folder"
}

@test "dry run: readings, bytes and memory by arithmetic; what cannot be is refused there, too" {
    slow
    run nht1-bt --dry-run --class A --io posix,token --ranks 8 --repeat 3 --json plan.json \
        --read last --read-cache cold,warm --read-decomp own,1d:x
    expect_status 0
    expect_text "Reading   4 times after each run"
    expect_schema nht1-bt-plan-1 plan.json
    expect_json plan.json '.read.readings_n == 4 and .read.bytes == 2 * 3 * 4 * 10485760'
    expect_json plan.json '.read.rank_memory_bytes == 64 * 64 * 64 / 8 * 40'
    # Beside what collects the pieces that are read, which any reading has.
    nht1-bt --dry-run --class A --io posix,token --ranks 8 --json own.json --quiet --read last
    [ "$(jq .rank_memory_bytes plan.json)" -eq $(($(jq .rank_memory_bytes own.json) + 64 * 64 * 64 * 5)) ]
    nht1-bt --dry-run --class A --io posix,token --ranks 8 --json without.json --quiet
    [ "$(jq .rank_memory_bytes own.json)" -gt "$(jq .rank_memory_bytes without.json)" ]
    expect_json without.json 'has("read") | not'
    run nht1-bt --dry-run --class A --io posix --ranks 8 --json plan.json --quiet --read all --read-ranks 2
    expect_json plan.json '.read.bytes == 40 * 10485760 and .read.rank_memory_bytes == 4 * 64 * 64 * 64 / 2 * 40'
    run nht1-bt --dry-run --class A --io posix --ranks 8 --read last --read-decomp 2x2x1
    expect_status 1
    expect_text "--read-decomp 2x2x1 has 4 blocks"
}

# stopped_reading CALL:N COMMAND...: reading back, with the command in front of that call.
stopped_reading() {
    local pid at=$1
    shift
    mkdir -p log
    LD_PRELOAD=$NHT1_TESTBIN/fault.so NHT1_FAULT_IN=$PWD/out.bin NHT1_FAULT_STOP=$at:0 NHT1_FAULT_LOG=$PWD/log \
        OMP_NUM_THREADS=1 timeout --foreground -k 1 "$NHT1_HANG_S" "$NHT1_BIN/nht1-bt" \
        --n 12 --steps 20 --dt 0.001 --interval 1 --tc 1 --verify never --quiet --io posix --out out.bin --json r.json \
        --read all --read-cache warm,cold </dev/null >told 2>&1 3>&- &
    pid=$!
    wait_stopped -p $pid nht1-bt
    "$@"
    kill -CONT "$(own_processes nht1-bt)"
    status=0
    wait $pid || status=$?
    output=$(<told)
}

@test "a manifest that goes while dumps are read, or a pipe in the file's place: status 3 and not wrong usage" {
    slow
    # Before it reads the first byte.
    stopped_reading pread:1 rm out.bin.json
    expect_status 3
    expect_text out.bin
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.status == 3 and .runs[0].t_t_s > 0'
    # Before it opens the file for that: nobody writes into the pipe.
    rm out.bin
    stopped_reading "openr:$(awk '$1 == "pread" { print n; exit } $1 == "openr" { n++ }' log/0.trace)" \
        bash -c 'mv out.bin old && mkfifo out.bin'
    expect_status 3
    expect_text "out.bin ends at byte 0"
}

@test "a signal while dumps are read: status 3, the readings before it are kept" {
    slow
    local pid
    # Little computing and much reading: three steps, then the three dumps twice, and once before the warm reading.
    LD_PRELOAD=$NHT1_TESTBIN/fault.so NHT1_FAULT_IN=$PWD/out.bin NHT1_FAULT_STOP=pread:40:0 \
        OMP_NUM_THREADS=1 "$NHT1_BIN/nht1-bt" --n 12 --steps 3 \
        --dt 0.01 --interval 1 --tc 1 --verify never --quiet --io posix,serial,token,twophase \
        --out out.bin --json r.json --repeat 1000 --read all --read-cache cold,warm \
        </dev/null >told 2>&1 3>&- &
    pid=$!
    wait_stopped -p $pid nht1-bt
    kill -INT $pid
    kill -CONT $pid
    status=0
    wait $pid || status=$?
    output=$(<told)
    expect_status 3
    expect_text interrupted
    expect_schema nht1-bt-1 r.json
    expect_json r.json '.status == 3 and (.runs | length >= 1)'
    expect_json r.json '[.runs[].read[] | .digest_ok and (.dumps | length == 3)] | all'
}
