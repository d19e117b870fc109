#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Bad input to nht1-bt: one message that names what to change, the right status, nothing harmed.
load helpers

tiny=(--n 13 --steps 6 --dt 0.001 --interval 2 --tc 1)

# refused STATUS TEXT RANKS ARGUMENT...: ends with the status, exactly one message, holding the text.
# That two ranks tell it once is seen at the first refusal of a case; the others take one rank.
refused() {
    local code=$1 text=$2 ranks=$3
    shift 3
    [ "$ranks" -ne 2 ] || [ -z "${refusals:-}" ] || [ -n "${NHT1_FULL:-}" ] || ranks=1
    refusals=1
    run mpi_run "$ranks" nht1-bt "$@"
    expect_status "$code" || return 1
    expect_text "$text" || return 1
    [ "$(grep -c '^nht1-bt: ' <<<"$output")" -eq 1 ] && return 0
    echo "not one message: $output"
    return 1
}

@test "a stack that is too small is told, of programs with and without MPI" {
    run bash -c "ulimit -s 128; nht1-bt --version"
    expect_status 1
    expect_text "nht1-bt: the stack is limited to 128 KiB"
    run bash -c "ulimit -s 128; nht1-stats 1 2 3"
    expect_status 1
    expect_text "nht1-stats: the stack is limited to 128 KiB"
}

@test "unknown option, unknown word" {
    refused 1 "--bogus" 2 --bogus
    refused 1 "did you mean --steps" 2 --stepz 3
    refused 1 "extra" 2 --class S extra
}

@test "unknown writer, layout, class, instruction set" {
    refused 1 "no such writer" 2 --class S --io nosuch
    refused 1 "posix" 2 --class S --io nosuch
    refused 1 "no such writer" 2 --class S --io posix,
    refused 1 "no such writer" 2 --class S --io check:nosuch
    refused 1 "--layout" 2 --class S --layout kjim
    refused 1 "--class" 2 --class Z
    refused 1 "--isa" 2 --class S --isa mmx --io none
}

@test "N too small, too large, no number" {
    refused 1 "--n" 2 --n 5 --steps 2 --dt 0.001
    refused 1 "--n" 2 --n 0
    refused 1 "--n" 2 --n -12
    refused 1 "--n" 2 --n twelve
    refused 1 "--n" 2 --n 12x
    refused 1 "--n" 2 --n 99999999999999999999
    refused 1 "--n" 2 --n ""
}

@test "a free N needs steps and dt; class and N exclude each other" {
    refused 1 "no class has N = 33: give --steps and --dt" 1 --n 33
    refused 1 "--dt" 1 --n 33 --steps 10
    refused 1 "exclude" 1 --class S --n 12
}

@test "steps, dt, interval, repeat, group out of range" {
    refused 1 "--interval" 2 --class S --interval 0
    refused 1 "--interval" 2 --class S --interval -5
    refused 1 "--steps" 2 --n 12 --steps 0 --dt 0.001
    refused 1 "--dt" 2 --n 12 --steps 10 --dt -1
    refused 1 "--dt" 2 --n 12 --steps 10 --dt nan
    refused 1 "2^63" 2 --n 65536 --steps 1000000000 --dt 1e-6 --interval 1 --io posix
    refused 1 "--repeat" 2 --class S --repeat 0
    refused 1 "--group" 2 --class S --group 0
    refused 1 "--tc" 2 --class S --tc soon
    refused 1 "--tc" 2 --class S --tc -3
    refused 1 "--hint" 2 --class S --hint cb_nodes
}

@test "decompositions that do not fit the ranks or the grid" {
    refused 1 "--decomp" 3 --class S --decomp 2x1x1
    refused 1 "--decomp" 2 --class S --decomp 1d:q
    refused 1 "--decomp" 2 --class S --decomp 2x0x1
    refused 1 "7 ranks" 7 --n 6 --steps 2 --dt 0.001 --interval 2 --decomp 1d:x
    refused 1 "without a cell" 8 --n 6 --steps 2 --dt 0.001 --interval 2 --decomp 1d:x
}

@test "a directory that is missing, a target that is a directory, a pipe or a device" {
    refused 3 "nowhere" 2 "${tiny[@]}" --io posix --out nowhere/out.bin
    mkdir folder
    refused 1 "directory" 2 "${tiny[@]}" --io posix --out folder
    mkfifo pipe
    refused 1 "pipe" 2 "${tiny[@]}" --io posix --out pipe
    refused 1 "/dev/null" 2 "${tiny[@]}" --io posix --out /dev/null
    [ -d folder ]
    [ -p pipe ]
    [ -c /dev/null ]
    [ -z "$(find folder -mindepth 1)" ]
}

@test "a directory where nobody may write" {
    mkdir closed
    chmod 555 closed
    run mpi_run 2 "${obedient[@]}" nht1-bt "${tiny[@]}" --io posix --out closed/out.bin
    expect_status 3
    expect_text "closed"
    [ "$(grep -c '^nht1-bt: ' <<<"$output")" -eq 1 ]
    [ -z "$(ls -A closed)" ]
    # Nor a result that may be read alone, although its folder lets it be replaced.
    mkdir -m 777 open
    echo '{"schema": "nht1-bt/1"}' >open/r.json
    chmod 444 open/r.json
    run mpi_run 1 "${obedient[@]}" nht1-bt "${tiny[@]}" --io null --json open/r.json
    expect_status 3
    expect_text "open/r.json: this file exists and cannot be written to: Permission denied"
    [ "$(ls open)" = r.json ]
}

@test "somebody else's file is not touched, unless forced" {
    echo "my thesis" >thesis
    refused 1 "thesis" 2 "${tiny[@]}" --io posix --out thesis
    [ "$(cat thesis)" = "my thesis" ]
    ln -s thesis link
    refused 1 "link" 2 "${tiny[@]}" --io posix --out link
    [ "$(cat thesis)" = "my thesis" ]
    run mpi_run 2 nht1-bt "${tiny[@]}" --io posix --out thesis --force
    expect_status 0
    [ "$(stat -c %s thesis)" -eq $((3 * 40 * 13 * 13 * 13)) ]
}

@test "an earlier dump of ours is overwritten without being forced" {
    run mpi_run 2 nht1-bt "${tiny[@]}" --io posix
    expect_status 0
    run mpi_run 2 nht1-bt "${tiny[@]}" --io serial
    expect_status 0
}

@test "result files that cannot be or must not be written" {
    refused 3 "--json: nowhere/r.json: cannot create a file in the directory nowhere" 2 "${tiny[@]}" --io posix --json nowhere/r.json
    mkdir folder
    refused 1 "directory" 2 "${tiny[@]}" --io posix --json folder
    refused 1 "manifest" 2 "${tiny[@]}" --io posix --out x --json x.json
    refused 1 "dump file" 2 "${tiny[@]}" --io posix --out x --json x
    refused 1 "dump file" 2 "${tiny[@]}" --io serial,posix --out x --json x.posix
    [ ! -e x ]
    [ ! -e x.json ]
    [ ! -e btout.bin ]
}

@test "no other spelling of a name lets the result replace the dump file" {
    refused 1 "dump file" 2 "${tiny[@]}" --io posix --out x --json ./x
    refused 1 "dump file" 2 "${tiny[@]}" --io posix --out ./x --json "$PWD/x.json"
    refused 1 "dump file" 2 "${tiny[@]}" --io posix --out x --json x.lock
    refused 1 "dump file" 2 "${tiny[@]}" --io posix --out x --tc-store ./x
    refused 1 "--tc-store" 2 "${tiny[@]}" --io posix --out x --json s --tc-store ./s
    refused 1 "--tc-store: the name of the file is empty" 1 --probe --tc-store ""
    [ -z "$(find . -name 'x*')" ]
}

@test "a result replaces an earlier result and nothing else" {
    echo "my thesis" >thesis
    refused 1 "not an earlier result" 2 "${tiny[@]}" --io posix --json thesis
    [ "$(cat thesis)" = "my thesis" ]
    refused 1 "names no file" 2 "${tiny[@]}" --io posix --json r/
    [ ! -e btout.bin ]
    for again in 1 2; do
        run mpi_run 2 nht1-bt "${tiny[@]}" --io posix --json r.json
        expect_status 0
    done
    refused 1 "not an earlier result" 2 "${tiny[@]}" --io posix --out y --json btout.bin.json
}

@test "a result for a pipe that nobody reads is an error before the run, not a wait" {
    mkfifo pipe
    refused 3 "--json: pipe: no process reads" 2 "${tiny[@]}" --io posix --quiet --json pipe
    [ ! -e btout.bin ]
    cat pipe >r.json &
    local reader=$!
    wait_until nht1-bt "${tiny[@]}" --io posix --quiet --json pipe
    wait "$reader"
    expect_json r.json '.status == 0 and (.runs | length == 1)'
}

@test "an interval without a dump, absurdly many threads" {
    refused 1 "--interval" 2 "${tiny[@]}" --io posix --interval 7
    OMP_NUM_THREADS=999999999 refused 1 "OMP_NUM_THREADS" 2 "${tiny[@]}" --io posix
}

@test "ranks with other options than rank 0; threads that are told are those that compute" {
    run mpi_run 2 sh -c 'exec nht1-bt --class S --io none --interval $((10 + ${OMPI_COMM_WORLD_RANK:-$PMI_RANK}))'
    expect_status 1
    expect_text "nht1-bt: rank 1 was started with another program or other options than rank 0"
    run mpi_run 2 sh -c '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || exec nht1-beff --quick; exec nht1-beffio --quick'
    expect_status 1
    expect_text "nht1-beffio: rank 1 was started with another program or other options than rank 0"

    run mpi_run 2 sh -c 'OMP_NUM_THREADS=$((1 + ${OMPI_COMM_WORLD_RANK:-$PMI_RANK})) exec nht1-bt "$@"' sh \
        "${tiny[@]}" --io none --tc-store tc.json --json r.json
    expect_status 0
    expect_text "The ranks were given 1 to 2 threads: each computes with 1."
    expect_json r.json '.system.threads == 1'
    local limit all=$(($(nproc) + 1))
    for limit in OMP_THREAD_LIMIT=1 OMP_MAX_ACTIVE_LEVELS=0; do
        run env "$limit" OMP_NUM_THREADS=2 nht1-bt "${tiny[@]}" --io none --json r.json
        expect_json r.json '.system.threads == 1'
    done
    # No more than there are processors, were it for OpenMP, and fewer by the load.
    OMP_DYNAMIC=true OMP_NUM_THREADS=$all OMP_DISPLAY_AFFINITY=true OMP_AFFINITY_FORMAT='a team of %N' \
        run nht1-bt "${tiny[@]}" --io none --json r.json
    expect_text "a team of $all"
    expect_json r.json ".system.threads == $all"
}

@test "standard output that is full" {
    [ -e /dev/full ] || not_here "no /dev/full"
    run bash -c "'$NHT1_ROOT'/tests/mpi-run -np 1 bash -c 'nht1-bt --help >/dev/full'"
    expect_status 3
    expect_text "standard output"
}

@test "more memory than the nodes have" {
    refused 3 "memory" 2 --class F --io none
}
