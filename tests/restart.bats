#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# --restart: what it takes over, what it refuses, what it says; kills at random times.
# shellcheck disable=SC2016 # jq filters have variables of their own
load helpers

tiny=(--n 13 --steps 12 --dt 0.001 --interval 2 --tc 1)
dump_bytes=$((40 * 13 * 13 * 13))

# whole FILE ARGUMENT...: a run that nothing interrupts.
whole() {
    local file=$1
    shift
    mpi_run 2 nht1-bt "${tiny[@]}" --io posix --quiet --out "$file" "$@"
}

# cut_short FILE DUMPS: the file as a run leaves it that is killed after so many complete dumps.
cut_short() {
    jq --argjson d "$2" '.dumps |= .[:$d]' "$1.json" >cut || return 1
    mv cut "$1.json"
    dd if=/dev/zero of="$1" bs=$dump_bytes seek="$2" count=$((6 - $2)) conv=notrunc status=none
}

# flip FILE OFFSET: one bit.
flip() {
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    # shellcheck disable=SC2059 # the format is the byte
    printf "\\x$(printf %x $((byte ^ 4)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

@test "from every dump on, at other ranks and decompositions: the same bytes, a whole manifest" {
    slow
    whole ref.bin
    whole out.bin
    cp out.bin.json all.json
    local from ranks=(1 3 4 2 3 4) decomp=(1d:x 3d 2x2x1 1d:y 3x1x1 auto)
    for from in 0 ${NHT1_FULL:+1 2 3} 4 5; do
        cat ref.bin >out.bin # the same file: without a complete dump it is known by its inode
        cp all.json out.bin.json
        cut_short out.bin $from
        run mpi_run "${ranks[from]}" nht1-bt --restart --decomp "${decomp[from]}" --out out.bin \
            --json r.json
        expect_status 0
        expect_text "Resumed after step $((2 * from)), not a result: $from of the file's 6 dumps"
        expect_text "verified"
        cmp ref.bin out.bin
        expect_schema nht1-dump-1 out.bin.json
        expect_json out.bin.json '[.dumps[] | .complete and .durable] | all and length == 6'
        expect_json out.bin.json ".resumed[0] | .dump == $from and .step == 2 * $from"
        [ "$(jq -c .dumps[].digest ref.bin.json | cksum)" = "$(jq -c .dumps[].digest out.bin.json | cksum)" ]
        expect_json r.json ".runs[0].resumed | .step == 2 * $from and .kept_n == $from and .bitwise"
        expect_json r.json '.runs[0] | .completed and .verified and .t_t_s == null and .zeta == null'
        expect_json r.json '.status == 0 and .ranking == [] and (.runs[0].official | not)'
    done
}

@test "every writer and layout goes on" {
    slow
    local layout writer writers first=0 turn from
    writers=$(mpi_run 1 nht1-bt --io help | awk -F: '/^--io all/ { print $2 }')
    [ "$(wc -w <<<"$writers")" -ge 4 ]
    for layout in mijk ijkm records; do
        whole ref.bin --layout $layout
        turn=$((first++))
        for writer in $writers check:posix; do
            # Writers that differ in how they go on, each with one of the layouts; make check-full meets all pairs.
            case ${NHT1_FULL:-$writer} in 1) ;; serial | token | twophase | uring | *-*) continue ;; esac
            turn=$((turn + 1))
            [ -n "${NHT1_FULL:-}" ] || [ $((turn % 3)) -eq 0 ] || continue
            from=ref.bin
            case $writer in
            hdf5* | pnetcdf*)
                [ $layout != records ] || continue
                from=begun.bin
                whole $from --layout $layout --io "$writer" --force
                ;;
            esac
            cp $from out.bin
            jq '.file = "out.bin" | .dumps |= .[:3]' $from.json >out.bin.json
            run mpi_run 3 nht1-bt --restart --io "$writer" --out out.bin --quiet
            expect_status 0
            "$NHT1_ROOT/tests/raw_dumps" out.bin | cmp ref.bin -
        done
    done
}

@test "a damaged dump and all after it are made again" {
    slow
    whole ref.bin
    cp ref.bin out.bin
    jq '.file = "out.bin"' ref.bin.json >out.bin.json
    cut_short out.bin 5
    flip out.bin $((2 * dump_bytes + 1001))
    run mpi_run 2 nht1-bt --restart --out out.bin --json r.json
    expect_status 0
    expect_text "Resumed after step 4, not a result: 2 of"
    expect_text "3 more were damaged"
    expect_json r.json '.runs[0].resumed | .kept_n == 2 and .claimed_n == 5'
    expect_text "Of the dumps taken over one was wrong"
    expect_json out.bin.json '[.resumed[].dump] == [5, 2]'
    cmp ref.bin out.bin
}

@test "the last dump damaged: no other is lost, and the one before it is gone on from" {
    whole ref.bin
    cp ref.bin out.bin
    jq '.file = "out.bin"' ref.bin.json >out.bin.json
    cut_short out.bin 5
    # A step that is not the dump's would be gone on from.
    cp out.bin.json right.json
    jq '.dumps[-1].step += 1' right.json >out.bin.json
    run nht1-bt --restart --out out.bin
    expect_status 1
    expect_text '"step": 10 is expected, there is 11'
    mv right.json out.bin.json
    flip out.bin $((4 * dump_bytes + 1001))
    run mpi_run 2 nht1-bt --restart --out out.bin --json r.json
    expect_status 0
    expect_text "Resumed after step 8, not a result: 4 of"
    expect_json r.json '.runs[0].resumed | .kept_n == 4 and .claimed_n == 5'
    expect_json r.json '.runs[0].resumed | .read_s > 0 and .read_s < .ready_s'
    expect_json out.bin.json '[.resumed[].dump] == [4]'
    cmp ref.bin out.bin
}

@test "a file that lost its end, or its data altogether, is made again" {
    slow
    whole ref.bin
    cp ref.bin.json out.bin.json
    sed -i 's/"ref.bin"/"out.bin"/' out.bin.json
    head -c $((3 * dump_bytes + 77)) ref.bin >out.bin
    run mpi_run 2 nht1-bt --restart --out out.bin
    expect_status 0
    expect_text "Resumed after step 6, not a result: 3 of"
    cmp ref.bin out.bin
    rm out.bin
    run mpi_run 2 nht1-bt --restart --out out.bin
    expect_status 0
    expect_text "Resumed after step 0, not a result: 0 of"
    cmp ref.bin out.bin
}

@test "a finished file stays as it is" {
    whole ref.bin
    cp ref.bin before
    run mpi_run 2 nht1-bt --restart --out ref.bin
    expect_status 0
    expect_text "6 of the file's 6 dumps"
    cmp ref.bin before
}

@test "a kernel that would not go on with the same bits is told" {
    slow
    whole out.bin
    cut_short out.bin 3
    sed -i 's/"kernel": "[^"]*"/"kernel": "0\/avx2"/' out.bin.json
    run mpi_run 2 nht1-bt --restart --out out.bin --json r.json
    expect_status 0
    expect_text "computed by kernel 0/avx2"
    expect_json r.json '.runs[0].resumed.bitwise == false'
}

@test "leftovers of a killed run are swept, names that only look alike are not" {
    whole out.bin
    cut_short out.bin 3
    touch out.bin.json.0123abcd.tmp out.bin.json.0123ABCD.tmp out.bin.json.0123abcd.tmp2 \
        out.bin.json.012abcd.tmp xout.bin.json.0123abcd.tmp out.bin.lock
    mkdir out.bin.json.89abcdef.tmp
    run mpi_run 2 nht1-bt --restart --out out.bin --quiet
    expect_status 0
    [ ! -e out.bin.json.0123abcd.tmp ]
    [ ! -e out.bin.lock ]
    [ -e out.bin.json.0123ABCD.tmp ]
    [ -e out.bin.json.0123abcd.tmp2 ]
    [ -e out.bin.json.012abcd.tmp ]
    [ -e xout.bin.json.0123abcd.tmp ]
    [ -d out.bin.json.89abcdef.tmp ]
}

# refused TEXT ARGUMENT...: status 1, one message, nothing changed. Two ranks at the first refusal of
# a case, then one.
refused() {
    local text=$1 before after
    shift
    before=$(cat -- * | cksum)
    run mpi_run $((refusals++ ? 1 : 2)) nht1-bt --restart "$@"
    after=$(cat -- * | cksum)
    expect_status 1 || return 1
    expect_text "$text" || return 1
    [ "$before" = "$after" ] || return 1
    [ "$(grep -c '^nht1-bt: ' <<<"$output")" -eq 1 ]
}

@test "what cannot be continued is refused, with one message" {
    whole out.bin
    cut_short out.bin 3
    refused "nothing to continue" --out none.bin
    refused "--repeat" --repeat 2 --out out.bin
    refused "one writer" --io posix,token --out out.bin
    refused "one writer" --io all --out out.bin
    refused "one writer" --io none --out out.bin
    refused "--force" --force --out out.bin
    refused "no file in serial format" --io null --out out.bin
    refused "layout mijk" --layout ijkm --out out.bin
    refused "N = 13" --class S --out out.bin
    refused "dt = " --n 13 --steps 12 --dt 0.002 --interval 2 --out out.bin
    refused "interval" --n 13 --steps 12 --dt 0.001 --interval 3 --out out.bin
    refused "belongs to the dump file" --out out.bin --json out.bin.json
    sed -i 's/"endian": "[a-z]*"/"endian": "big"/' out.bin.json
    refused "endian" --out out.bin
    echo '{' >out.bin.json
    refused "out.bin.json" --out out.bin
}

@test "a held lock refuses a second run, the lock of a killed run does not" {
    whole out.bin
    cut_short out.bin 3
    need_program flock
    flock --no-fork out.bin.lock sleep infinity 3>&- &
    local holder=$!
    wait_until held_lock out.bin.lock
    run mpi_run 2 nht1-bt --restart --out out.bin
    kill -KILL $holder
    expect_status 3
    expect_text "another run is writing"
}

@test "three kills at random times: continued to the same bytes" {
    slow
    run "$NHT1_ROOT/tests/kill_restart" 3 "${NHT1_SEED:-7}"
    expect_status 0
    [[ $output =~ [0-9]" kills," ]] # the first job goes on until a kill has come between two dumps
}

@test "two hundred kills at random times: continued to the same bytes" {
    slow
    run "$NHT1_ROOT/tests/kill_restart" 200 "${NHT1_SEED:-$RANDOM}"
    echo "$output"
    expect_status 0
    expect_text "200 kills"
}

# of_data SYNC: calls of that kind on the dump file itself, in the trace of rank 0.
of_data() {
    grep -c "^$1 .*/out[.]bin\$" log/0.trace
}

# advised: the command line that the message of an interruption names.
advised() {
    sed -n 's/^nht1-bt: .*; continue with //p' <<<"$output"
}

@test "interrupted, the command advised goes on with the writer, its settings and the durability of the run" {
    local begun=(--n 12 --steps 37 --dt 0.001 --interval 2 --last --tc 1 --layout ijkm) settings command
    mkdir log
    export NHT1_FAULT_IN=$PWD NHT1_FAULT_LOG=$PWD/log
    # The SIGINT comes with the tenth of 19 flushes.
    run mpi_run 1 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT=fsync:10:SIGINT:0 \
        "$NHT1_BIN/nht1-bt" "${begun[@]}" --sync dump --io twophase --buffer 64Ki --aggregators 1 \
        --hint cb_nodes=1 --decomp 1d:x --verify never --out out.bin
    expect_status 3
    command=$(advised)
    [[ $command = *nht1-bt*" --restart"* ]]
    expect_schema nht1-dump-1 out.bin.json
    expect_json out.bin.json '.sync == "dump" and .settings == {group: 16, aggregators: 1,
        buffer: 65536, staging: 2, chunk: 0, direct: false, hints: ["cb_nodes=1"]}'
    settings=$(jq -c '[.sync, .settings, .layout, .interval, .writer]' out.bin.json)
    local kept
    kept=$(jq '[.dumps[] | select(.complete and .durable)] | length' out.bin.json)
    [ "$kept" -ge 1 ]
    [ "$kept" -lt 19 ]
    cp out.bin begun.bin
    jq '.file = "begun.bin"' out.bin.json >begun.bin.json

    # As it is said: a flush for each dump that is left, and, first of all, one before reading.
    export LD_PRELOAD=$NHT1_TESTBIN/fault.so
    run eval "$command --json r.json"
    unset LD_PRELOAD
    expect_status 0
    [ "$(of_data fsync)" -ge $((19 - kept)) ]
    expect_json r.json '.options | .sync == "dump" and .io == "twophase" and .layout == "ijkm" and
        .buffer == 65536 and .aggregators == 1 and .hint == ["cb_nodes=1"] and .decomp == "1d:x"'
    expect_json r.json '.runs[0].file.sync == "dump"'
    expect_json out.bin.json '[.dumps[] | .complete and .durable] | all and length == 19'
    [ "$(jq -c '[.sync, .settings, .layout, .interval, .writer]' out.bin.json)" = "$settings" ]
    nht1-verify out.bin

    # What is given on the command line wins.
    mv begun.bin out.bin
    jq '.file = "out.bin"' begun.bin.json >out.bin.json
    run mpi_run 1 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" "$NHT1_BIN/nht1-bt" --restart --sync end \
        --interval 2 --buffer 128Ki --out out.bin
    expect_status 0
    [ "$(of_data fsync)" -lt $((19 - kept)) ]
    expect_json out.bin.json '.sync == "end" and .settings.buffer == 131072 and .settings.aggregators == 1'
    nht1-verify out.bin
}

@test "interrupted before its first dump is complete, a run says so, and is started anew as it was" {
    local of begun
    for of in perrank "posix --read last"; do
        # shellcheck disable=SC2086 # words
        begun=("$NHT1_BIN/nht1-bt" "${tiny[@]}" --interval 12 --out out.bin --io $of)
        run env NHT1_FAULT_IN="$PWD" LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT=open:1:SIGINT:0 "${begun[@]}"
        expect_status 3
        expect_text ", before the first dump was complete: start anew"
        [ -z "$(advised)" ]
        [[ $output != *"read back "* ]] # nor is there a table without a row
        run "${begun[@]}"
        expect_status 0
        rm out.bin*
    done
    expect_text "read back "
}

@test "interrupted again, a file goes on by the writer of the last restart" {
    slow
    local plan
    whole out.bin
    cut_short out.bin 2
    export NHT1_FAULT_IN=$PWD
    run mpi_run 1 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT=pwrite:2:SIGINT:0 \
        "$NHT1_BIN/nht1-bt" --restart --io token --group 3 --out out.bin
    expect_status 3
    [[ $(advised) = *" --out out.bin --restart" ]]
    run mpi_run 1 nht1-bt --restart --out out.bin --json r.json
    expect_status 0
    expect_json r.json '.runs[0].writer == "token" and .options.group == 3'
    expect_json out.bin.json '.writer == "posix" and ([.resumed[].writer] == ["token", "token"])'
}

@test "interrupted, files of single ranks are merged and continued as advised; what leaves no file has no advice" {
    slow
    local command
    export NHT1_FAULT_IN=$PWD
    run mpi_run 1 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT=pwrite:3:SIGINT:0 \
        "$NHT1_BIN/nht1-bt" "${tiny[@]}" --io perrank --out 'o u.bin'
    expect_status 3
    command=$(advised)
    [[ $command = *"nht1-verify --merge 'o u.bin' && "* ]]
    run nht1-verify 'o u.bin'
    expect_text "nht1-verify --merge 'o u.bin' makes"
    run mpi_run 1 nht1-bt --restart --tc 1 --out 'o u.bin'
    expect_text "nht1-verify --merge 'o u.bin', then"
    run eval "$command"
    expect_status 0
    nht1-verify 'o u.bin'

    run mpi_run 1 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT=open:1:SIGINT:0 \
        "$NHT1_BIN/nht1-bt" "${tiny[@]}" --steps 200 --io null --json r.json
    expect_status 3
    expect_text "interrupted after step"
    [ -z "$(advised)" ]
}

many=(--n 12 --steps 36 --dt 0.001 --interval 1 --tc 1 --quiet --io posix --verify never)

# traced FILE SYNC PLAN: such a run of one rank in which a call may be the last; calls go to the folder
# log.
traced() {
    mkdir -p log
    mpi_run 1 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD" NHT1_FAULT="$3" \
        NHT1_FAULT_LOG="$PWD/log" "$NHT1_BIN/nht1-bt" "${many[@]}" --sync "$2" --out "$1"
}

# killed_while_entering SYNC STRIDE: at every STRIDE-th of the calls that concern manifest and journal, and
# at those by which the journal comes and goes.
killed_while_entering() {
    local plan n last=0
    rm -rf log ref.bin*
    traced ref.bin "$1" close:999:kill:0
    # A call is named by its kind and how many of that kind came before.
    awk -v stride="$2" '{ n[$1]++ }
        /[.]json/ && (++seen % stride == 0 || /[.]tmp/ || $1 == "rename") { print $1 ":" n[$1] ":kill:0" }' \
        log/0.trace >plans
    [ "$(wc -l <plans)" -ge 8 ]
    [ "$(wc -l <plans)" -ge 3 ]
    while read -r plan; do
        rm -f out.bin*
        run traced out.bin "$1" "$plan"
        expect_status 137 || return 1
        [ -e out.bin.json ] || continue # before there was a file
        "$NHT1_ROOT/tests/manifest" out.bin.json >whole.json || return 1
        n=$(jq '[.dumps[].complete] | index(false) // length' whole.json) || return 1
        jq -e "[.dumps[$n:][].complete] | any | not" whole.json >/dev/null || return 1
        # Calls go forward, and so do the claims.
        [ "$n" -ge "$last" ] || [[ $plan != pwrite* ]] || return 1
        [[ $plan != pwrite* ]] || last=$n
        [ "$n" -eq 0 ] || cmp -n $((n * 69120)) ref.bin out.bin || return 1
        [ "$n" -eq 0 ] || nht1-verify out.bin >verified || { cat verified && return 1; }
        run mpi_run 1 nht1-bt --restart --quiet --out out.bin
        expect_status 0 || return 1
        cmp ref.bin out.bin || return 1
        [ "$(jq -c .dumps[].digest ref.bin.json)" = "$(jq -c .dumps[].digest out.bin.json)" ] || return 1
        [ "$(ls -d out.bin* | wc -l)" -eq 2 ] || { ls && return 1; }
    done <plans
    [ "$last" -gt 16 ]
}

@test "killed between two steps of entering a dump into the manifest: claims are true, the run goes on" {
    slow
    killed_while_entering dump 37
}

@test "killed between any two steps of entering a dump into the manifest" {
    slow
    killed_while_entering none 1
    killed_while_entering dump 1
}

@test "a dump is entered after its data are down, with one write" {
    traced ref.bin dump close:999:kill:0
    # D data, J journal, each written; d j flushed; R a file replaced.
    local calls
    calls=$(awk '/^pwrite .*journal$/ { printf "J" } /^fdatasync .*journal$/ { printf "j" }
        /^pwrite .*ref[.]bin$/ { printf "D" } /^fsync .*ref[.]bin$/ { printf "d" }
        /^rename / { printf "R" }' log/0.trace)
    [[ $calls =~ ^R+(DdJj){35}DdJjR$ ]] || { echo "$calls" && return 1; }

    rm -r log ref.bin*
    traced ref.bin none close:999:kill:0
    calls=$(awk '/^pwrite .*journal$/ { n++ } /sync/ { bad = 1 } END { print n, bad + 0 }' log/0.trace)
    [ "$calls" = "36 0" ]
}

@test "a dump that cannot be entered ends the run, the dumps before it stay; a short write is continued" {
    local plan
    traced ref.bin dump close:999:kill:0
    awk '{ n[$1]++ } /^(pwrite|fdatasync) .*journal/ && ++seen[$1] == 5 { print $1 ":" n[$1] }' log/0.trace >calls
    [ "$(wc -l <calls)" -eq 2 ]
    while read -r plan; do
        rm -f out.bin*
        run traced out.bin dump "$plan:ENOSPC:0"
        expect_status 3
        expect_text "out.bin.json.journal: No space left on device"
        expect_json out.bin.json '([.dumps[] | select(.complete)] | length) >= 4 and .journal == null'
        nht1-verify out.bin
        run mpi_run 1 nht1-bt --restart --quiet --out out.bin
        expect_status 0
        cmp ref.bin out.bin
    done <calls
    rm -f out.bin*
    traced out.bin dump "$(grep pwrite calls):short:0"
    [ "$(jq -c .dumps ref.bin.json)" = "$(jq -c .dumps out.bin.json)" ]
}

@test "the journal of a killed run: read by --merge, cut off where it is damaged, another's file of that name stays" {
    export NHT1_FAULT_IN=$PWD
    run mpi_run 1 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT=pwrite:12:kill:0 \
        "$NHT1_BIN/nht1-bt" "${many[@]}" --io perrank --out p.bin
    expect_status 137
    [ -e p.bin.json.journal ]
    nht1-verify --merge p.bin
    run nht1-verify p.bin
    expect_status 0
    expect_text "every value of 5 dumps"
    run mpi_run 1 nht1-bt --restart --io posix --quiet --out p.bin
    expect_status 0
    [ ! -e p.bin.json.journal ]

    run mpi_run 1 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT=pwrite:21:kill:0 \
        "$NHT1_BIN/nht1-bt" "${many[@]}" --out o.bin
    expect_status 137
    cp o.bin.json.journal whole
    local damage
    for damage in "conv=notrunc bs=1 seek=$((512 * 4 + 99))" "bs=1 seek=$((512 * 4 + 99))"; do
        cp whole o.bin.json.journal
        # shellcheck disable=SC2086 # words
        printf x | dd of=o.bin.json.journal status=none $damage
        run nht1-verify o.bin
        expect_status 0
        expect_text "every value of 3 dumps"
        [ "$("$NHT1_ROOT/tests/manifest" o.bin.json | jq '[.dumps[] | select(.complete)] | length')" -eq 3 ]
    done
    run mpi_run 1 nht1-bt --restart --quiet --out o.bin
    expect_status 0

    echo "by hand" >o.bin.json.journal
    run mpi_run 1 nht1-bt "${many[@]}" --out o.bin
    expect_status 1
    expect_text "o.bin.json.journal exists and is not a journal of o.bin.json"
    [ "$(<o.bin.json.journal)" = "by hand" ]
    nht1-verify o.bin
}
