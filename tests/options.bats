#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What people type: results to standard output, sizes and words in small letters, words misspelt.
load helpers

tiny=(--n 13 --steps 6 --dt 0.001 --interval 2 --tc 1 --io posix --out d.bin --force)

# to_stdout SCHEMA STATUS PROGRAM...: the program's result with --json -, alone on standard output, and
# what it prints on standard error; status and result are those that a file gets.
to_stdout() {
    local schema=$1 want=$2 status=0
    shift 2
    mpi_run "${RANKS:-1}" "$@" --json - >out.json 2>said || status=$?
    [ "$status" -eq "$want" ] || { echo "status $status" && cat said && return 1; }
    expect_schema "$schema" out.json
    [ ! -e ./- ]
}

@test "--json -: the result alone on standard output, the text on standard error, for every program" {
    slow
    to_stdout nht1-bt-1 0 nht1-bt "${tiny[@]}"
    grep -q "^writer " said
    expect_json out.json '.options.json == "-" and .runs[0].verified'
    to_stdout nht1-verify-1 0 nht1-verify d.bin
    grep -q "^VERIFIED: " said
    to_stdout nht1-bt-plan-1 0 nht1-bt --dry-run "${tiny[@]}"
    grep -q "dry run" said
    to_stdout nht1-bt-probe-1 0 nht1-bt --probe --out d.bin --tc-store tc.json
    grep -q "what works" said
    to_stdout nht1-bt-probe-1 0 nht1-probe --tc-store tc.json
    grep -q "what works" said
    to_stdout nht1-report-stats-1 0 nht1-stats 1 2 3
    RANKS=2 to_stdout nht1-beff-1 4 nht1-beff --quick --lmax 8192
    grep -q "b_eff" said
    to_stdout nht1-workload-1 0 nht1-workload --reference --set uniqueBytes=100k --set processNum=1
    grep -q "In all" said
    to_stdout nht1-beffio-plan-1 0 nht1-beffio --quick --dry-run -p .
    printf 'not a dump file\n' >wrong.bin
    to_stdout nht1-verify-1 2 nht1-verify wrong.bin
    grep -q "^WRONG: " said
}

@test "--json -: what a profiled program prints does not mix with the result" {
    "$(wrapper mpicc)" -o hello -x c - <<<'#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) { MPI_Init(&argc, &argv); puts("hello"); return MPI_Finalize(); }'
    nht1-profile --json - -- "$PWD/hello" >out.json 2>said
    expect_schema nht1-profile-1 out.json
    grep -qx hello said
}

@test "--json -: errors are those of a file" {
    run bash -c 'nht1-stats 1 2 --json - >/dev/full'
    expect_status 3
    expect_text "standard output: write failed: No space left on device"
    run bash -c 'exec "$@" >&-' stats nht1-stats 1 2 --json -
    expect_status 3
    expect_text "standard output: Bad file descriptor"
    run bash -c 'exec "$@" >&-' bt nht1-bt "${tiny[@]}" --json -
    expect_status 3
    expect_text "--json: standard output: Bad file descriptor"
    [ ! -e d.bin ] # found before the work
    run nht1-verify d.bin --diagonal --json -
    expect_status 1
    expect_text "both are for standard output"
    run mpi_run 2 nht1-beff --quick --json - --sum -
    expect_status 1
    expect_text "have the same file"
}

@test "--json - of nht1-report compare, and a page on standard output" {
    local a=$NHT1_ROOT/tests/corpus/compare/bt1.json b=$NHT1_ROOT/tests/corpus/compare/bt2.json want=0 got=0
    nht1-report compare "$a" "$b" --json file.json >text 2>&1 || want=$?
    nht1-report compare "$a" "$b" --json - >out.json 2>said || got=$?
    [ "$got" -eq "$want" ]
    cmp out.json file.json
    cmp said text
    run nht1-report compare "$a" "$b" --json - --junit -
    expect_status 1
    run bash -c 'nht1-report compare "$@" --json - >/dev/full' compare "$a" "$b"
    expect_status 3
    expect_text "standard output: cannot write"
    nht1-report "$a" --no-figures -o - >page.html
    [[ $(head -n 1 page.html) == "<!DOCTYPE html>"* ]]
    [ ! -e ./- ]
}

@test "--json - and other results are documented where they are offered" {
    local program
    for program in $(programs mpi serial); do
        run "$program" --help
        [[ $(tr -s ' \n' ' ' <<<"$output") == *"--json=FILE "*"'-' is standard output; what is printed goes to standard error then."* ]]
    done
}

@test "sizes in small letters, in options, lists and job files" {
    run mpi_run 1 nht1-bt "${tiny[@]}" --buffer=8m --json r.json --dry-run
    expect_status 0
    run mpi_run 1 nht1-bt "${tiny[@]}" --buffer 8m --json p.json --quiet
    expect_status 0
    expect_json p.json '.options.buffer == 8000000'
    run mpi_run 1 nht1-bt "${tiny[@]}" --buffer 1g --json p.json --quiet
    expect_status 0
    expect_json p.json '.options.buffer == 1000000000'
    for size in 64k 64K 64kb 64KB; do
        printf '<Pattern sequential>\nData %s\nRecord 8ki\n</Pattern>\n' $size >job.conf
        run mpi_run 1 nht1-workload job.conf --dry-run
        expect_status 0
        expect_text "64.0 kB"
    done
}

@test "a class in a small letter is that class, in results and in studies" {
    run mpi_run 1 nht1-bt --class s --io none --json r.json
    expect_status 0
    expect_json r.json '.options.class == "S" and .problem.class == "S"'
    printf '[study]\nrepeats = 1\n[run]\nprogram = nht1-bt\nclass = s\nio = none\n' >x.ini
    run "$NHT1_ROOT/runs/study" x.ini --no-report --out out --launcher none
    expect_status 0
    expect_json out/study.json '.points[0].settings.class == "S"'
}

@test "misspelt words: what was meant is told, of options, writers and all values that have names" {
    meant() {
        run mpi_run 1 "${@:2}"
        expect_status 1
        expect_text "did you mean $1?"
    }
    meant --class nht1-bt --calss S
    meant mpiio nht1-bt --io mpio
    meant posix nht1-bt --io serial,POSX
    meant posix nht1-bt --io auto:posx
    meant check:mpiio nht1-bt --io check:mpio
    meant auto nht1-bt --io aut
    meant end nht1-bt --sync edn
    meant records nht1-bt --layout record
    meant measure nht1-bt --tc meassure
    meant random nht1-bt --read radnom
    meant cold nht1-bt --read last --read-cache colt
    meant auto nht1-bt --isa uto "${tiny[@]}"
    meant vti nht1-verify --export vtu x
    meant alltoallv nht1-beff --methods alltoall
    meant direction nht1-profile --split directon -- true
    meant seqFrac nht1-workload --make - seqfra=1
    printf '<Pattern tilde>\n</Pattern>\n' >job.conf
    meant tiled nht1-workload job.conf
    printf '<Pattern tiled>\nTemporl all\n</Pattern>\n' >job.conf
    meant temporal nht1-workload job.conf
    printf '<Patern tiled>\n</Patern>\n' >job.conf
    meant pattern nht1-workload job.conf
    run nht1-bt --class X
    expect_status 1
    expect_no_text "did you mean"
}
