#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-beff from its command line: results at many numbers of ranks, reports, bad input.
# shellcheck disable=SC2016 # jq filters have variables of their own
load helpers

# Short: small messages, few random patterns, once. Never valid, so the status is 4.
short=(--quick --lmax 16Ki --random 2)
# Shorter, where only what stands around the measurement counts.
brief=(--quick --lmax 8Ki --random 1 --no-analysis --methods nonblocking)

# Runs that several cases look at: 7 and 3 processes.
setup_file() {
    local rc=0
    cd "$BATS_FILE_TMPDIR" || return 1
    mpi_run 7 nht1-beff "${short[@]}" --json r7.json >out7 2>&1 || rc=$?
    [ $rc -eq 4 ] || { cat out7 && return 1; }
    rc=0
    mpi_run 3 nht1-beff "${short[@]}" --details --rmax "45.3 Gflop/s" --sum s.txt --protocol p.txt \
        --json r3.json >out3 2>&1 || rc=$?
    [ $rc -eq 4 ] || { cat out3 && return 1; }
}

# refused STATUS TEXT ARGUMENT...: ends with the status and one message that holds the text, on
# $RANKS processes; 1: one without a launcher.
refused() {
    local code=$1 text=$2 launch=(env)
    shift 2
    [ "${RANKS:-2}" -eq 1 ] || launch=(mpi_run "${RANKS:-2}")
    run "${launch[@]}" nht1-beff "$@"
    expect_status "$code" || return 1
    expect_text "$text" || return 1
    [ "$(grep -c '^nht1-beff: ' <<<"$output")" -eq 1 ] && return 0
    echo "not one message: $output"
    return 1
}

# The average of the definition, once more, from the single measurements.
average='
    def logmean: (map(log) | add / length) | exp;
    def best($p; $i): [.measurements[] | select(.pattern_index == $p)
        | .bytes_per_s[][$i] | select(. != null)] | max;
    def value($p): [range(21) as $i | best($p; $i)] | add / 21;
    def of($kind): [. as $d | range(.patterns | length) | select($d.patterns[.].kind == $kind)
        | . as $p | $d | value($p)] | logmean;
    [of("ring"), of("random")] | logmean'

@test "help teaches, with examples, and the version is told" {
    run nht1-beff --help
    expect_status 0
    expect_text "--memory-per-process=BYTES"
    expect_text "mpirun -np 16 nht1-beff"
    expect_text "Exit status:"
    run nht1-beff --version
    expect_status 0
    [[ $output =~ ^nht1-beff\ [0-9] ]]
}

# conforms FILE RANKS: with its own average, and rings that take in every process.
conforms() {
    expect_schema nht1-beff-1 "$1" &&
        expect_json "$1" ".system.ranks == $2 and .status == 4 and (.result.valid | not)" &&
        expect_json "$1" "($average) as \$mine | (\$mine / .result.b_eff_bytes_per_s - 1) | fabs < 1e-9" &&
        expect_json "$1" \
            "[.patterns[] | select(.kind == \"ring\") | [.rings[] | .rings_n * .processes_n] | add] | all(. == $2)"
}

@test "at many numbers of ranks: a result that conforms, with its own average" {
    slow
    local n
    conforms "$BATS_FILE_TMPDIR/r3.json" 3
    conforms "$BATS_FILE_TMPDIR/r7.json" 7
    for n in 2 ${NHT1_FULL:+4 5 8 11}; do
        run mpi_run "$n" nht1-beff "${short[@]}" --json "r$n.json"
        expect_status 4
        expect_text "b_eff = "
        conforms "r$n.json" "$n"
    done
}

@test "release 3.6: the other rings for seven processes, one message in rings of two" {
    slow
    run mpi_run 7 nht1-beff "${short[@]}" --no-analysis --methods nonblocking --definition 3.6 \
        --json a.json
    expect_status 4
    expect_schema nht1-beff-1 a.json
    expect_json a.json '.definition == "3.6" and .patterns[1].name == "ring-2*4&-1"'
    expect_json a.json '.patterns[0].messages_n == 10'
    expect_json "$BATS_FILE_TMPDIR/r7.json" \
        '.definition == "paper" and .patterns[1].name == "ring-1*7fix" and .patterns[0].messages_n == 14'
}

@test "the same seed gives the same patterns, another one others" {
    slow
    local seed
    for seed in 1 1 2; do
        run mpi_run 4 nht1-beff "${short[@]}" --random 4 --no-analysis --methods nonblocking \
            --seed $seed --json r.json
        expect_status 4
        jq -r .patterns_digest r.json >>digests
    done
    [ "$(sort -u digests | wc -l)" -eq 2 ]
    [ "$(sed -n 1p digests)" = "$(sed -n 2p digests)" ]
}

@test "texts: table, closing line, every measurement" {
    local made=$BATS_FILE_TMPDIR
    output=$(<"$made/out3")
    expect_text "b_eff = "
    expect_text "by method"
    expect_text "worst-cycle"
    expect_text "ping-pong"
    # one latency of the ping-pong, wherever it stands
    awk '/^Latency, us:/ { said = $NF } /^ping-pong .*[0-9]$/ && $2 == 2 { row = $NF }
        END { exit said == "" || said != row }' "$made/out3"
    # the columns and the last line of release 3.6
    grep -qE '^b_eff\(NOT_VALID\) = +[0-9]+\.[0-9]{3} MB/s = +[0-9]+\.[0-9]{3} \*   3 PEs with [0-9]+ MB/PE on Linux ' "$made/s.txt"
    awk -v v="$(jq .result.b_eff_bytes_per_s "$made/r3.json")" '/^accumulated/ { n = NF; x = $4; p = $3; l = $5 }
        END { exit !(n == 12 && p == 3 && l == 0.0156 && (x - v / 1e6) ^ 2 <= 0.5 ^ 2) }' "$made/s.txt"
    [ "$(awk '/^per process/ { print NF }' "$made/s.txt")" -eq 6 ]
    # the sections of release 3.6, every measurement in its place
    [ "$(grep -o 'SECTION-[A-Z]*-[A-Z]*' "$made/p.txt" | tr '\n' ' ')" = "$(printf 'SECTION-%s-BEGIN SECTION-%s-END ' \
        HEAD HEAD LOOP LOOP LOOPLNGS LOOPLNGS VALUES VALUES)" ]
    grep -qE '^b_eff\(NOT_VALID\) = ' "$made/p.txt"
    # where buffers begin, in each of them
    local at
    at=$(jq -r '.buffer_offset_bytes | "\(.[0]) to \(.[1]) bytes off a page"' "$made/r3.json")
    [ "$(grep -cx "Buffers    $at" "$made/s.txt" "$made/p.txt" | grep -c ':1$')" -eq 2 ]
    expect_text "Buffers    0 bytes off a page"
    awk -v want="$(jq '[.measurements[].bytes_per_s[0][] | select(. != null)] | length' "$made/r3.json")" '
        /^L= *[0-9]+ mthd=[0-2] pat= *[0-9]+ (min|avg|max): / { n[$0 ~ "min" ? 0 : $0 ~ "avg" ? 1 : 2]++ }
        END { exit n[0] != want || n[1] != want || n[2] != want }' "$made/p.txt"
    grep -qF "$(jq -r '.measurements[] | select(.pattern_index == 2 and .method == "alltoallv") | .process_mean_bytes_per_s[0][20] / 1e6
        | . * 1e3 | floor / 1e3' "$made/r3.json")" <<<"$(grep '^L= *16384 mthd=1 pat= 2 avg:' "$made/p.txt")"
}

@test "buffers that begin elsewhere on some processes: the text says least and most" {
    run "$NHT1_TESTBIN/mkreleased" "$NHT1_ROOT/tests/samples/b_eff-3.6.sum" text
    expect_status 0
    expect_text "Buffers    0 to 16 bytes off a page"
}

@test "results are written over earlier ones, but not over somebody else's file" {
    slow
    cp "$BATS_FILE_TMPDIR"/{s.txt,p.txt,r3.json} .
    run mpi_run 2 nht1-beff "${brief[@]}" --sum s.txt --protocol p.txt --json r3.json
    expect_status 4
    expect_json r3.json '.system.ranks == 2'
    echo "dear diary" >diary
    refused 1 "not an earlier result" --sum diary
    refused 1 "diary" --json diary
    run mpi_run 2 nht1-beff "${brief[@]}" --quiet --sum /dev/stdout
    expect_status 4
    expect_text "accumulated"
    if grep -q '^b_eff = ' <<<"$output"; then false; fi # quiet is quiet
    [ "$(cat diary)" = "dear diary" ]
}

@test "insight beside the value: other ways, message rate, what HPCC prints" {
    local json=$BATS_FILE_TMPDIR/r3.json
    expect_json "$json" '.insight | [.ring[].method] == ["persistent", "neighbourhood", "put"]
        and ([.ring[].by_size_bytes_per_s[]] | length == 63 and all(. > 0))
        and ([.message_rate[].messages_per_s] | length == 4 and all(. > 0))
        and ([.hpcc[]] | length == 4 and all(. > 0))'
    expect_json "$json" '[.stamps[].code] | index("not-valid") != null and index("quick") != null'
}

@test "balance: given, from HPL and HPCC, from BT, labelled" {
    slow
    printf '%s\n' 'T/V                N    NB     P     Q               Time                 Gflops' \
        'WR11C2R4       29184   192     2     2             305.63             5.4221e+01' \
        'WR11C2R4       29184   192     4     1             305.63             4.4221e+01' >HPL.out
    printf 'HPL_N=1000\nHPL_Tflops=0.0421\n' >hpccoutf.txt
    expect_json "$BATS_FILE_TMPDIR/r3.json" '.balance.flop_per_s == 45300000000 and .balance.rate == "R_max"'
    expect_json "$BATS_FILE_TMPDIR/r3.json" '.balance.bytes_per_flop * 45.3e9 / .result.b_eff_bytes_per_s - 1 | fabs < 1e-9'
    run mpi_run 2 nht1-beff "${brief[@]}" --hpl HPL.out --json r.json
    expect_text "bytes per flop"
    expect_json r.json '.balance.flop_per_s == 54221000000'
    run mpi_run 2 nht1-beff "${brief[@]}" --hpl hpccoutf.txt --json r.json
    expect_json r.json '.balance.flop_per_s == 42100000000'
    # A result that failed the check of HPL is none.
    printf '||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 1.2e+05 ...... FAILED\n' >failed
    sed 2q HPL.out | cat - failed >failed.out
    printf 'HPL_Tflops=0.054\n' >>failed.out # the sum of HPCC, which says nothing of the check
    refused 1 "every result in it has FAILED" --hpl failed.out
    tail -n 1 HPL.out >>failed.out
    run mpi_run 2 nht1-beff "${brief[@]}" --hpl failed.out --json r.json
    expect_json r.json '.balance.flop_per_s == 44221000000'
    mpi_run 1 nht1-bt --class S --io none --json bt.json
    run mpi_run 2 nht1-beff "${brief[@]}" --bt-result bt.json --json r.json
    expect_text "BT rate, not R_max"
    expect_schema nht1-beff-1 r.json
    expect_json r.json '.balance.rate == "BT rate, not R_max" and .balance.cores_n == ('"$(jq .system.cores_in_use bt.json)"')'
    jq '.system.cores_in_use = 7' bt.json >seven.json
    run mpi_run 2 nht1-beff "${brief[@]}" --bt-result seven.json
    expect_text "the rate is that of 7 cores, b_eff that of 2 processes: take both of the same processors"
    jq '.t_c.origin = "given"' bt.json >given.json
    refused 1 "its compute-only time was given (--tc) and is no measurement" --bt-result given.json
    refused 1 "no result of HPL" --hpl r.json
    refused 1 "not of nht1-bt" --bt-result r.json
    refused 3 "nowhere" --hpl nowhere
    mkfifo pipe # without a writer
    refused 1 "no result of HPL" --hpl pipe
    refused 1 "not valid JSON" --bt-result pipe
    refused 1 "no result of HPL" --hpl /dev/zero # which has no end
    printf 'WR11C2R4 29184 192 2 2 305.63 1e305\n' >absurd
    refused 1 "no result of HPL" --hpl absurd
    jq '.problem.nominal_flop = 1e300 | .t_c.t_c_s = 1e-300' bt.json >absurd
    refused 1 "no rate" --bt-result absurd
    RANKS=1
    refused 1 "exclude" --rmax 1G --hpl HPL.out
    refused 1 "--rmax" --rmax 45Q
    refused 1 "--rmax" --rmax -3G
    refused 1 "--rmax" --rmax ""
    refused 1 "--rmax" --rmax 1e308T # more than a number holds, and so little that nothing can be divided by it
    refused 1 "--rmax" --rmax 1e-320
}

@test "one process is refused" {
    run mpi_run 1 nht1-beff --quick
    expect_status 1
    expect_text "at least 2 processes"
}

@test "bad input: one message that names the option" {
    refused 1 "--buffers" --buffers 64 --lmax 128Mi
    refused 3 "nowhere" --sum nowhere/s.txt
    refused 3 "nowhere" --json nowhere/r.json
    refused 1 "--sum" --sum ""
    # However they are spelled.
    refused 1 "same file" --json x --sum ./x
    refused 1 "same file" --sum "$PWD/x" --protocol x
    : >there
    ln -s there link
    refused 1 "same file" --json there --protocol link
    RANKS=1
    refused 1 "--bogus" --bogus
    refused 1 "extra" extra
    refused 1 "--definition" --definition 4
    refused 1 "--memory-per-process" --memory-per-process 1000
    refused 1 "--lmax" --lmax 1
    refused 1 "--lmax" --lmax 1G
    refused 1 "--random" --random 0
    refused 1 "--repetitions" --repetitions 0
    refused 1 "--methods" --methods sendrecv,shout
    refused 1 "--methods" --methods ""
    refused 1 "--time-limit" --time-limit 0
    refused 1 "--seed" --seed -1
    refused 1 "--no-analysis" --buffers 2
    refused 1 "--buffers" --buffers 1 --no-analysis
}

@test "no memory for the buffers: one message that says what to give" {
    run mpi_run 2 bash -c 'ulimit -v 1500000; exec nht1-beff --memory-per-process 16Gi'
    expect_status 3
    expect_text "smaller --memory-per-process"
    [ "$(grep -c '^nht1-beff: ' <<<"$output")" -eq 1 ]
}

@test "what makes a result not valid is said; methods can be chosen" {
    run mpi_run 2 nht1-beff --lmax 8Ki --random 1 --repetitions 1 --methods nonblocking --no-analysis \
        --json r.json
    expect_status 4
    expect_text "not valid as b_eff"
    expect_schema nht1-beff-1 r.json
    expect_json r.json '.result.not_valid_because | length == 4'
    expect_json r.json '[.measurements[].method] | unique == ["nonblocking"]'
    expect_json r.json '.result.ping_pong_bytes_per_s == null'
}

@test "a limit below the default that leaves messages out is not valid" {
    slow
    own_clock 1000
    run mpi_run 2 nht1-beff --lmax 1Mi --random 1 --no-analysis --time-limit 1 --json r.json
    expect_status 4
    expect_json r.json '[.result.not_valid_because[] | select(startswith("--time-limit"))] | length == 1'
    expect_json r.json '[.stamps[].code] | index("capped") != null'
}

@test "a valid run: nothing is left to wish for" {
    slow # mpi_beff has a short one
    # 1 MiB of memory gives messages up to 8 KiB.
    run mpi_run 2 nht1-beff --memory-per-process 1MiB --no-analysis --json r.json
    expect_status 0
    expect_schema nht1-beff-1 r.json
    expect_json r.json '.result.valid and .status == 0 and .memory.lmax_bytes == 8192'
    # 300 where a message of 1 B is fast enough: tests/test_beff_values.c.
    expect_json r.json '.measurements[0].loop_n | all(.[0] >= 1 and .[0] <= 300)'
}

@test "an interrupt ends the run with status 3 or the launcher's, and leaves no result" {
    slow
    local rc=0
    "$NHT1_ROOT/tests/mpi-run" -np 2 nht1-beff --memory-per-process 256Mi --progress always --json r.json \
        >out 2>&1 3>&- &
    wait_text -p $! out "left"
    pkill -INT -P $! || kill -INT $!
    wait $! || rc=$?
    [[ $rc =~ ^(1|3|130)$ ]] # mpirun has one of its own
    no_process nht1-beff
    [ ! -s r.json ]
}

@test "the report shows it: figures, both halves of the size axis, the published systems" {
    slow
    local json=$BATS_FILE_TMPDIR/r3.json
    run nht1-report --no-figures "$json" -o r.html --figures fig --csv tab
    expect_status 0
    [ "$(grep -c '^1 B to 4 KiB,rings,' fig/beff-sizes.csv)" -eq 13 ]
    [ "$(grep -c '^from 4 KiB to L_max,random,' fig/beff-sizes.csv)" -eq 9 ]
    grep -q ',alltoallv,' fig/beff-methods.csv
    [ "$(grep -c ',at L_max,' fig/beff-patterns.csv)" -eq "$(jq '.patterns | length - 1' "$json")" ]
    grep -q '^Cray T3E/900 \[RK01\],512,19919' tab/beff.csv
    [ "$(wc -l <tab/beff.csv)" -eq 18 ]
    python3 -c 'import csv; names = next(csv.reader(open("tab/beff.csv"))); assert len(set(names)) == len(names), names'
    grep -q 'bytes per flop' r.html
    grep -q 'Not valid as b_eff' r.html
}

@test "a run stopped or killed at a random moment: the next one leaves nothing" {
    slow
    local i n=2 status
    local command=(nht1-beff "${brief[@]}" --json data/r.json --sum data/b.sum --protocol data/b.prot)
    [ -z "${NHT1_FULL:-}" ] || n=50
    for i in $(seq "$n"); do
        random_stop "$([ $((i % 2)) = 0 ] && echo INT || echo KILL)" nht1-beff "${command[@]}"
        status=0
        mpi_run 2 "${command[@]}" >out 2>&1 || status=$?
        [ "$status" -eq 4 ]
        [ "$(LC_ALL=C ls -A data | tr '\n' ' ')" = "b.prot b.sum r.json " ]
    done
}
