#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# runs/nht1/sumfile.py on summaries with numbers worked out by hand, in the layout of the released
# programs and in ours.
load helpers

setup_file() {
    real_python
}

# says EXPRESSION: a Python expression over r, the results read from x.sum.
says() {
    PYTHONPATH="$NHT1_ROOT/runs" run python3 -c "
from nht1 import sumfile
r = sumfile.read('x.sum')
def near(a, b): return abs(a - b) <= 1e-9 * abs(b)
print($1)"
    [ "$output" = True ] && return 0
    echo "$1: $output"
    return 1
}

@test "b_eff_io: a released summary with two partitions" {
    {
        echo "b_eff_io, Revision 2.1"
        for n in 2 4; do
            echo "Summary of file I/O bandwidth accumulated on   $n processes with 256 MByte/PE"
            echo " number pos chunk-   access   type=0   type=1   type=2   type=3   type=4"
            echo " of PEs     size (l) methode scatter  shared  separate segmened seg-coll"
            echo "   $n PEs 1     1024 write     1.500    2.000    3.000    4.000    5.000"
            echo "   $n PEs 7  2097152 read     10.000 -999.999    3.000    4.000        -"
            echo "   $n PEs total-write       1.000    2.000    3.000    4.000    5.000"
            echo "   $n PEs total-rewrite     6.000        -        -        -        -"
            echo "weighted average bandwidth for write  :   12.500 MB/s on $n processes"
            echo "weighted average bandwidth for rewrite:    6.000 MB/s on $n processes"
            echo "b_eff_io of these measurements =   ${n}0.250 MB/s on $n processes with 256 MByte/PE and scheduled time=10.0 min"
            echo "NOT VALID for comparison"
        done
        echo " b_eff_io =   40.250 MB/s on 4 processes with 256 MByte/PE, scheduled time=10.0 Min, on Linux node 2.4, NOT VALID (see above)"
    } >x.sum
    says "len(r) == 2 and [p['procs'] for p in r] == [2, 4] and not r[0]['ours'] and r[0]['definition'] == '2.1'"
    says "near(r[1]['value'], 40.25e6) and [p['headline'] for p in r] == [False, True]"
    says "r[0]['scheduled_s'] == 600 and r[0]['valid'] is False and r[0]['memory_per_process_bytes'] == 256 << 20"
    says "near(r[0]['access']['write'], 12.5e6) and near(r[0]['access']['rewrite'], 6e6) and r[0]['access']['read'] is None"
    says "r[0]['types']['rewrite'] == [6e6, None, None, None, None]"
    says "r[0]['chunks']['read'][7] == {'bytes': 2097152, 'rates': [1e7, None, 3e6, 4e6, None]}"
    says "r[0]['system'] == 'Linux node 2.4' and r[0]['cache_honest'] is None"
}

@test "b_eff: the last line and the table" {
    {
        echo " number of processors | b_eff | Lmax"
        echo "accumulated        4     1000.500     4.000      2000.000      3000.000"
        echo "per process        4      250.125     4.000       500.000       750.000      2.500      1.250      0.500       900.000"
        echo "b_eff = 1000.500 MB/s = 250.125 * 4 PEs with 512 MB/PE on Linux node 2.4 #1 x86_64"
    } >x.sum
    says "len(r) == 1 and r[0]['procs'] == 4 and r[0]['valid'] and near(r[0]['value'], 1000.5e6)"
    says "r[0]['lmax_bytes'] == 4 << 20 and near(r[0]['rings_at_lmax'], 3e9) and near(r[0]['latency_s'], 2.5e-6)"
    says "near(r[0]['ping_pong'], 9e8) and near(r[0]['ping_pong_s'], 5e-7) and r[0]['system'] == 'Linux node 2.4 #1 x86_64'"
    echo "b_effTEST = 5.000 MB/s = 2.500 * 2 PEs with 512 MB/PE on Linux" >x.sum
    says "r[0]['valid'] is False and r[0]['latency_s'] is None and r[0]['procs'] == 2"
}

@test "ours are read as they are written" {
    mkdir -p data
    run mpi_run 2 nht1-beffio -p data -MB 16 -T 0.01 -N 1,2 --definition 2.1 --sum x.sum --json r.json
    expect_status 4
    says "[p['procs'] for p in r] == [1, 2] and r[0]['ours'] and r[0]['definition'] == '2.1' and r[0]['cache_honest'] is False"
    says "all(len(p['chunks'][a]) == 7 for p in r for a in sumfile.ACCESSES) and all(len(p['pattern_2']) == 3 for p in r)"
    says "abs(max(p['value'] for p in r) - $(jq .b_eff_io.bytes_per_s r.json)) <= 501"
}

@test "what is no summary is none; control characters do not come through" {
    echo "dear diary" >x.sum
    says "r is None"
    printf 'b_eff = 5.000 MB/s = 2.500 * 2 PEs with 512 MB/PE on \033[31mLinux' >x.sum
    says "chr(27) not in r[0]['system']"
    head -c 70000 /dev/urandom >x.sum
    says "r is None"
}
