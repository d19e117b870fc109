#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# runs/nht1/sumfile.py on summaries with numbers worked out by hand, in the layout of the released
# programs and in ours.
load helpers

setup_file() {
    real_python
}

# One Python answers all questions of a case: a start takes longer than what is asked.
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    coproc PYTHON { PYTHONPATH="$NHT1_ROOT/runs" exec python3 -c '
import os
from nht1 import patterns, protfile, sumfile
def near(a, b): return abs(a - b) <= 1e-9 * abs(b)
asked = b""
while True:
    while asked.count(b"\0") < 3:
        more = os.read(0, 65536)
        if not more: raise SystemExit
        asked += more
    name, said, question, asked = asked.split(b"\0", 3)
    try:
        r = sumfile.read("x.sum") if name == b"x.sum" else protfile.read("x.prot")
        known = dict(globals())
        exec(said, known)
        answer = eval(b"(" + question + b")", known)
    except Exception as e:
        answer = repr(e)
    print(str(answer).replace("\n", " "), flush=True)
' 3>&-; }
}

# asked FILE EXPRESSION: whether a Python expression over r, what is read from that file, and what $said defines is
# true; the answer is in $output.
asked() {
    printf '%s\0' "$1" "${said:-}" "$2" >&"${PYTHON[1]}"
    read -r output <&"${PYTHON[0]}"
    [ "$output" = True ] && return 0
    echo "$2: $output"
    return 1
}

# says EXPRESSION: over the results in x.sum.
says() {
    asked x.sum "$1"
}

@test "the released programs' files: every value of a line, nothing that contradicts" {
    cp "$NHT1_ROOT/tests/samples/b_eff_io-2.1.sum" x.sum
    says "[p['procs'] for p in r] == [1, 2] and [p['headline'] for p in r] == [True, False] and r[0]['faults'] == []"
    says "all(not p['ours'] and p['definition'] == '2.1' and p['valid'] is False and p['scheduled_s'] == 3 for p in r)"
    says "near(r[1]['value'], 25.188e6) and r[0]['memory_per_process_bytes'] == 256 << 20 and r[0]['memory_total_bytes'] == 512 << 20"
    says "near(r[1]['access']['write'], 14.951e6) and near(r[1]['access']['rewrite'], 32.296e6) and near(r[1]['access']['read'], 34.732e6)"
    says "r[1]['types']['rewrite'] == [32.296e6, None, None, None, None] and near(r[1]['types']['read'][1], 6.623e6)"
    says "r[0]['chunks']['read'][7] == {'bytes': 2097152, 'rates': [v * 1e6 for v in (284.9, 2404.335, 2637.018, 1954.545, 2301.73)]}"
    says "all(sorted(p['chunks'][a]) == [1, 2, 3, 4, 5, 6, 7] for p in r for a in sumfile.ACCESSES)"
    says "near(r[1]['pattern_2']['rewrite'], 47.679e6) and r[0]['m_part_bytes'] == 2 << 20 and near(r[1]['amount_bytes'], 72.801 * 2 ** 20)"
    says "r[0]['system'].startswith('Linux vm 6.18') and r[0]['date'].startswith('Mon Nov 23') and r[0]['errors_n'] == 0 and r[0]['cache_honest'] is None"
    cp "$NHT1_ROOT/tests/samples/b_eff-3.6.sum" x.sum
    says "len(r) == 1 and r[0]['faults'] == [] and r[0]['valid'] and r[0]['procs'] == 4 and near(r[0]['value'], 1604.772e6)"
    says "near(r[0]['rings_at_lmax'], 3129e6) and near(r[0]['at_lmax'], 2417e6) and r[0]['lmax_bytes'] == 4 << 20"
    says "near(r[0]['latency_s'], 2.698e-6) and near(r[0]['rings_latency_s'], 2.886e-6) and near(r[0]['ping_pong_s'], 2.868e-6)"
    says "near(r[0]['ping_pong'], 696e6) and r[0]['elapsed_s'] == 41 and len(r[0]['sizes']) == 21 and r[0]['sizes'][-1] == 4 << 20"
    says "r[0]['rings'] == ['ring-2*2fix'] + ['ring-1*4fix'] * 5 and r[0]['memory_per_process_bytes'] == 512 << 20"
}

# seen SAMPLE SED WORDS TEXT: what is told of a changed sample has the words, and points to the text; '' for the
# end of a line.
seen() {
    sed "$2" "$NHT1_ROOT/tests/samples/$1" >x.sum
    says "(lambda lines: next((lines[l - 1][c - 1:] or 'END' for l, c, w in r[0]['faults'] if '$3' in w), r[0]['faults']))(open('x.sum', errors='replace').read().split(chr(10))).startswith('${4:-END}')"
}

@test "a file that contradicts itself: line and column" {
    slow
    local io=b_eff_io-2.1.sum beff=b_eff-3.6.sum
    seen $io '66s/249.304/259.304/' "the average of read is 259.304 here, and 249.304 computed" "259.304 MB/s on 1"
    seen $io '72s/151.494/161.494/' "b_eff_io is 161.494 here, and 151.494" "161.494 MB/s on 1"
    seen $io '70s/25.9/35.9/' "the share of the memory" "35.9 percent"
    seen $io '33s/  64.641/9964.641/' "more than twice" "   1 PEs      total-write"
    seen $io '$s/151.494/251.494/' "the largest value is 251.494" "251.494 MB/s on 1"
    seen $io '74s/NOT VALID/VALID/' "VALID, and a criterion is not reached" "NOT reached"
    seen $io '27s/1032/1033/' "position 2 is of chunks of 1032 bytes" "1033 write"
    seen $io '28s/   1 PEs/   3 PEs/' "processes among those of 1" "3 PEs"
    seen $io '29s/PEs 4/PEs 3/' "the same as in line 28" "   1 PEs 3    32776"
    seen $io '6s/-N  1,2/-N  1,2,4/' "the head names partitions of 1, 2, 4" " b_eff_io"
    seen $io '72s/time=0.1/time=9.1/' "the scheduled time in min is 9.100" "9.1 min"
    seen $beff 's/^\(per process .*\)782 /\1604 /' "a value per process is 604 here, and 782.250" "604  "
    seen $beff 's/^\(accumulated .*\)1605/\11705/' "b_eff is 1705 here" "1705  "
    seen $beff 's/= 401.193/= 501.193/' "b_eff is 1604.772 here" "1604.772 MB/s"
    seen $beff 's/^system parameters  : 4/system parameters  : 5/' "the number of processes is 5 here" "5 nodes"
}

@test "damaged and truncated files: line and column" {
    local io=b_eff_io-2.1.sum beff=b_eff-3.6.sum
    seen $io '29s/22.300/22.x00/' "is no rate" "22.x00"
    seen $io '29s/22.300/1e999/' "is no rate" "1e999"
    seen $io '29s/ 40.352.*//' "no row of the table" "86.241"
    seen $io '72s/0.1 min/x min/' "is no number that can stand here" "x min"
    seen $io '29,30d' "lacks 2 rows of write" "Summary of file"
    seen $io '100,$d' "the file ends before its last line" ""
    seen $io '9s/vm/v\x1bm/' "a character that has no place" "$(printf '\033')m"
    seen $io "9s/vm/$(printf '%3000s' x)/" "longer than 2000 characters" "  "
    seen $beff '52,$d' "the file ends before its last line" ""
    seen $beff 's/ 696 / 6i6 /' "is no number" "6i6"
    head -c 4010 "$NHT1_ROOT/tests/samples/$io" >x.sum
    says "any('ends within a line' in w for _, _, w in r[0]['faults'])"
    { echo b_eff_io && head -c 17000000 /dev/zero; } >x.sum
    says None || [[ $output == *"line 1, column 1: no summary is larger than 16 MiB"* ]]
}

@test "more findings than are told: the last one says how many" {
    # each of 24 rows three times more
    sed '/^   1 PEs/{p;p;p}' "$NHT1_ROOT/tests/samples/b_eff_io-2.1.sum" >x.sum
    says "len(r[0]['faults']) == 50 and r[0]['faults'][-1][2].endswith('; and 22 findings of which no more is told')"
    { sed -n '1,/^SECTION-HEAD-END/p' "$NHT1_ROOT/tests/samples/b_eff-3.6.sum" && echo SECTION-VALUES-BEGIN && yes 'L=1 mthd=0 min: 1 -> 1' | head -n 60 &&
        echo SECTION-VALUES-END; } >x.prot
    protocol "len(r['faults']) == 50 and r['faults'][-1][2].endswith('; and 11 findings of which no more is told')"
}

@test "partitions of one size: what is added is each one's own" {
    sed 's/^   1 PEs/   2 PEs/; s/-N  1,2/-N  2,2/; s/ on   1 proc/ on   2 proc/; s/ on 1 proc/ on 2 proc/; s/n=1/n=2/' \
        "$NHT1_ROOT/tests/samples/b_eff_io-2.1.sum" >two.sum
    "$NHT1_TESTBIN/mkreleased" two.sum | sed '0,/: buffers 0 to 0/s/: buffers 0 to 0/: buffers 0 to 16/; 0,/ NOT CACHE-HONEST: /s/NOT CACHE-HONEST: /CACHE-HONEST: 30 times the/' >x.sum
    says "r[0]['faults'] == [] and [(p['procs'], p['buffer_offset_bytes'], p['cache_honest'], p['cache_factor']) for p in r] == [
        (2, [0, 16], True, 30), (2, [0, 0], False, None)]"
    echo '  2 PEs: buffers 4 to 4 bytes off a page' >>x.sum
    says "[(column, words.startswith('of a partition of 2 processes')) for _, column, words in r[0]['faults']] == [(3, True)]"
}

@test "eight rows: the one of M_PART stands behind that of pattern 2" {
    sed '/^   [12] PEs 7/{h;s/PEs 7  2097152/PEs 8  4194304/;x;G}' "$NHT1_ROOT/tests/samples/b_eff_io-2.1.sum" >x.sum
    says "r[0]['faults'] == [] and all(sorted(p['chunks'][a]) == list(range(1, 9)) for p in r for a in sumfile.ACCESSES)"
    says "r[0]['chunks']['write'][8]['bytes'] == 4194304 and near(r[0]['chunks']['write'][8]['rates'][0], 62.87e6)"
    # beside tables of seven rows each stands with its like
    sed -i '/bw_pat2/d; s/^   1 PEs 7  2097152 write     62.870/   1 PEs 7  1048576 write     55.500/' x.sum
    says "(lambda p: near(p['write', 'scatter', '1M of L = 2M'], 55.5e6) and near(p['write', 'scatter', 'M_PART'], 62.87e6)
        and near(p['write', 'shared', 'M_PART'], 34.909e6) and ('write', 'shared', '1M of L = 2M') not in p)(__import__(
        'nht1.patterns', fromlist=['x']).of_sum(r[0]))"
}

@test "ours are read as they are written, value for value" {
    mkdir -p data
    run mpi_run 2 nht1-beffio -p data -MB 16 -MT 32 -T 0.01 -N 1,2,2 --definition 2.1 --sum x.sum --json r.json
    expect_status 4
    said='import json
from nht1 import patterns
j = json.load(open("r.json"))
def as_printed(a, b): return a is not None and abs(a - b) <= 500.001  # of three decimals in MB/s
def same(a, b): return sorted(a) == sorted(b) and all(as_printed(a[k], b[k]) for k in a)'
    says "[p['procs'] for p in r] == [1, 2, 2] and r[0]['faults'] == [] and all(p['ours'] and p['definition'] == '2.1' and not p['valid'] for p in r)"
    # rewriting of types 1 to 4 is in the JSON alone
    says "all(same(patterns.of_sum(p), {k: v for k, v in patterns.of_result(q).items() if k[:1] != ('rewrite',) or k[1] == 'scatter'})
        for p, q in zip(r, j['partitions']))"
    says "all(len(patterns.of_sum(p)) == 2 * (35 + 1 + 5) + 7 + 1 + 1 for p in r)"
    says "all(as_printed(p['access'][a['access']], a['bytes_per_s']) and (a['access'] != 'write' or abs(p['amount_bytes'] - a['bytes']) < 600)
        for p, q in zip(r, j['partitions']) for a in q['accesses'])"
    says "all(as_printed(p['value'], next(v['bytes_per_s'] for v in q['values'] if v['headline'])) for p, q in zip(r, j['partitions']))"
    says "all(p['buffer_offset_bytes'] == q['buffer_offset_bytes'] and p['cache_honest'] == q['cache_honest']
        and (p['cache_factor'] is None or abs(p['cache_factor'] / q['cache_factor'] - 1) < 6e-3) for p, q in zip(r, j['partitions']))"
    says "all(p['files_counted'] == j['b_eff_io']['files_counted'] and p['errors_n'] == j['wrong_n'] and p['m_part_bytes'] == j['schedule']['m_part_bytes']
        and p['memory_per_process_bytes'] == 16 << 20 and p['memory_total_bytes'] == 32 << 20 for p in r)"
    says "all(abs(p['scheduled_s'] - q['scheduled_s']) < 1e-6 for p, q in zip(r, j['partitions']))"
    says "as_printed(next(p['value'] for p in r if p['headline']), j['b_eff_io']['bytes_per_s'])"
}

@test "under 2.1 the .sum judges a partition by its own time, as released, and the head has the options" {
    slow
    mkdir -p data
    run mpi_run 2 nht1-beffio -p data -MB 16 -T 12 -N 1,2 --max-space 200M --definition 2.1 --nounique --noshared --sum x.sum --quiet
    expect_status 4
    grep -q "^-N  1,2 T=12, MT=[0-9]* MBytes, -noshared, -nounique$" x.sum
    [ "$(grep -c '^  criterion 1: scheduled time 0.1 min >= 30 min -- NOT reached$' x.sum)" -eq 2 ]
    [ "$(grep -c '^  criterion 2: .* -- NOT reached$' x.sum)" -eq 2 ]
    says "all(not p['valid'] for p in r) and r[0]['faults'] == []"
}

# written SAMPLE WORD SED: the sample's numbers as ours writes them for a run of WORD are the sample with SED, but for
# the line that names the program and what stands behind the last line; in x.sum.
written() {
    "$NHT1_TESTBIN/mkreleased" "$NHT1_ROOT/tests/samples/$1" "${2:-}" >x.sum
    diff <(sed -E "/^b_eff(_io)?\.c, /d; ${3:-}" "$NHT1_ROOT/tests/samples/$1") <(sed '/^nht1-beff/d; /^Added by/Q' x.sum | head -n -1)
}

@test "a released program's numbers written by ours are its file, byte for byte, and read as the same" {
    local sample ours="'path', 'ours', 'version', 'cache_honest', 'files_counted', 'buffer_offset_bytes'"
    for sample in b_eff_io-2.1.sum b_eff-3.6.sum; do
        written $sample
        says "(lambda a, b: a == b and len(a) > 0)(*([{k: v for k, v in p.items() if k not in ($ours)} for p in of]
            for of in (r, sumfile.read('$NHT1_ROOT/tests/samples/$sample'))))"
    done
}

@test "valid, with errors, without the shared file pointer: only the words about it differ from the release's" {
    slow
    local io=b_eff_io-2.1.sum
    written $io valid 's/ T=6,/ T=3600,/; s/(T|time)([ =])0.1/\1\230.0/; s/, NOT VALID \(see above\)$//; s/^NOT VALID/VALID/; s/NOT reached/reached/'
    says "all(p['valid'] and p['scheduled_s'] == 1800 for p in r) and r[0]['faults'] == []"
    written $io noshared "s/(MT=512 MBytes)$/\1, -noshared/; s/(criterion 2: .*) -- reached/\1 -- NOT reached/"
    says "not any(p['valid'] for p in r) and r[0]['faults'] == []"
    # a pattern with wrong data has no rate, pattern 2 neither
    written $io errors "s/  58.183 MB/-999.999 MB/; s/\(0\) == 0 -- reached/(12) == 0 -- NOT reached/; s/^(   2 PEs 3    32768 read    3173.210)    2.963/\1 -999.999/; s/(see above\))$/\1, with 12 ERRORS/"
    says "[p['errors_n'] for p in r] == [12, 12] and r[1]['chunks']['read'][3]['rates'][:3] == [3173.21e6, None, 2776.479e6]
        and r[1]['pattern_2'] == {'write': 10.084e6, 'rewrite': 47.679e6, 'read': None} and r[0]['faults'] == []"
    says "r[0]['system'].endswith('x86_64')"
    sed 's/(see above)$/&, with 3 ERRORS/' "$NHT1_ROOT/tests/samples/$io" >errors.sum
    "$NHT1_ROOT/tests/sum_shape.py" errors.sum <(sed 's/with 3 ERRORS/with 12 ERRORS/' errors.sum)
    if "$NHT1_ROOT/tests/sum_shape.py" "$NHT1_ROOT/tests/samples/$io" errors.sum; then false; fi
    written b_eff-3.6.sum not-valid "s/^b_eff =/b_eff(NOT_VALID) =/"
    says "r[0]['valid'] is False and near(r[0]['value'], 1604.772e6) and r[0]['faults'] == []"
}

# A number more or less, another word, a blank, a column: each is seen.
@test "our summaries have the shape of the released programs', number by number" {
    slow
    local shape=$NHT1_ROOT/tests/sum_shape.py samples=$NHT1_ROOT/tests/samples change
    mkdir -p data
    run mpi_run 2 nht1-beffio -p data -MB 256 -MT 512 -T 2 -N 1,2 --definition 2.1 --sum io.sum
    expect_status 4
    "$shape" "$samples/b_eff_io-2.1.sum" io.sum
    run mpi_run 4 nht1-beff --definition 3.6 --time-limit 1 --memory-per-process 512Mi --sum beff.sum
    expect_status 4
    "$shape" "$samples/b_eff-3.6.sum" beff.sum
    cp beff.sum x.sum
    says "len(r) == 1 and r[0]['ours'] and r[0]['definition'] == '3.6' and r[0]['faults'] == [] and r[0]['procs'] == 4
        and len(r[0]['sizes']) == 21 and r[0]['value'] > 0 and len(r[0]['buffer_offset_bytes']) == 2"
    for change in 's/PEs      total/PEs total/' 's/^  set xtics/set xtics/' 's/ -- reached/: met/' '/^(type=0/d' \
        's/write, /write,/' 's/^\(   2 PEs 3    32768 read  *[0-9.]*  *[0-9.]*\)/\1 /' \
        's/\(PEs 3    32768 write .*\.[0-9]*\)$/\10/' 's/^Maximum over all.*/& partitions/'; do
        sed "$change" io.sum >changed
        if "$shape" "$samples/b_eff_io-2.1.sum" changed; then false; fi
    done
    for change in 's/^accumulated | /accumulated |/' 's/Sndrcv/sendrecv/' 's/ 36=worst-cyc-1dim/ 36=worst-cycle/' '/^SECTION-BEFF/d'; do
        sed "$change" beff.sum >changed
        if "$shape" "$samples/b_eff-3.6.sum" changed; then false; fi
    done
}

# protocol EXPRESSION: over the protocol in x.prot.
protocol() {
    asked x.prot "$1"
}

@test "the protocol of b_eff: values by their labels, whatever the columns" {
    sed -n '1,/^SECTION-HEAD-END/p' "$NHT1_ROOT/tests/samples/b_eff-3.6.sum" >head
    { cat head && printf 'SECTION-VALUES-BEGIN\n%s\n%s\nmthd=2 pat=47 min 2.5 3.25 -> 3.25(0.1)\nSECTION-VALUES-END\nL=9 pat=0 mthd=0 min: 9 -> 9\n' \
        'L=   1 mthd=0 pat= 5 min:  1.000 - 1.500 ->  1.500 (0.004 sec)' ' avg: 4 4 4 -> 4 (1 sec)'; } >x.prot
    protocol "r['faults'] == [] and r['sizes'] == [1] and r['values'] == {(5, 1, 0): 1.5e6, (47, 1, 2): 3.25e6}"
    protocol "[r['names'][p] for p in (0, 5, 35, 37, 39, 47)] == ['ring-2*2fix', 'ring-1*4fix', 'random-cyc-1dim', 'best bi-section', 'one PingPong Pair', 'cyclic-3dim-all']"
    { cat head && printf '%s\n' SECTION-VALUES-BEGIN 'msglng = 4096' 'method: 2=non-blk' 'pattern 7' 'pattern: 6' 'min = 7.0 8.0 -> 8.0' \
        'Alltoal method=Alltoal min 5 -> 5' SECTION-VALUES-END; } >x.prot
    protocol "r['faults'] == [] and r['values'] == {(6, 4096, 2): 8e6, (6, 4096, 1): 5e6}"
    # random patterns stand together, and only where all of them are
    protocol "patterns.of_protocol(r) == {}"
    cp "$NHT1_ROOT/tests/samples/b_eff-3.6.sum" x.prot
    protocol "r is None"
}

@test "a damaged protocol of b_eff: line and column" {
    slow
    local line
    for line in 'L=1 mthd=0 min: 1 -> 1|a value without a pattern|min: 1' "L=1 mthd=0 pat=0 min: 1 2|no '->' with|min: 1 2" \
        "L=1 mthd=0 pat=0 min: 1 -> 1e99|'1e99' is no rate|1e99" "L=x mthd=0 pat=0 min: 1 -> 1|'x' is no number of a length|x mthd"; do
        printf 'b_eff\nSECTION-VALUES-BEGIN\n%s\nSECTION-VALUES-END\n' "${line%%|*}" >x.prot
        line=${line#*|}
        protocol "any(at == 3 and words.startswith(\"\"\"${line%|*}\"\"\")
            and open('x.prot').read().split(chr(10))[2][column - 1:].startswith('${line#*|}') for at, column, words in r['faults'])"
        protocol "r['values'] == {} and r['faults'][0] == (2, 1, 'no value with its length, method and pattern stands in this section')"
    done
    # What a protocol says of itself: the line of a second value, of a best that no repetition had, of a label that is
    # not in the head; of two values none counts.
    for line in 'L=1 mthd=0 pat=0 min: 2 -> 2|another value than in line 6|{(1, 2, 0): 2e6, (1, 1, 0): 1e6}' \
        'L=1 mthd=0 pat=2 min: 1 2 -> 3|the best, 3, is none|{(0, 1, 0): 1e6, (1, 2, 0): 2e6, (1, 1, 0): 1e6}' \
        'L=3 mthd=0 pat=0 min: 1 -> 1|the head of the file names no length 3|{(0, 1, 0): 1e6, (1, 2, 0): 2e6, (1, 1, 0): 1e6}' \
        'L=1 mthd=0 pat=0 max: 0.5 -> 0.5|max, 0.5, is below min, which is 1 in line 6|{(0, 1, 0): 1e6, (1, 2, 0): 2e6, (1, 1, 0): 1e6}' \
        'L=2 mthd=0 pat=0 avg: 1 -> 1|avg of what has no min|{(0, 1, 0): 1e6, (1, 2, 0): 2e6, (1, 1, 0): 1e6}' \
        'L=2 mthd=0 pat=0 m 1 -> 1|a value that is neither|{(0, 1, 0): 1e6, (1, 2, 0): 2e6, (1, 1, 0): 1e6}' \
        'L=2 mthd=0 L=2 pat=0 min: 1 -> 1|a second length in one line|{(0, 1, 0): 1e6, (1, 2, 0): 2e6, (1, 1, 0): 1e6}'; do
        printf '%s\n' 'msglng= 1 2' 'Used patterns: 0=ring-2*2fix 1=ring-1*4fix 2=x' SECTION-VALUES-BEGIN 'L=1 mthd=0 pat=1 min: 1 -> 1' \
            'L=2 mthd=0 pat=1 min: 2 -> 2' 'L=1 mthd=0 pat=0 min: 1 -> 1' "${line%%|*}" SECTION-VALUES-END >x.prot
        line=${line#*|}
        protocol "any(words.startswith('${line%|*}') for _, _, words in r['faults']) and r['values'] == ${line#*|}"
    done
    printf 'b_eff\nSECTION-VALUES-BEGIN\nL=1 mthd=0 pat=0 min: 1 -> 1\n' >x.prot
    protocol "r['values'] == {(0, 1, 0): 1e6} and r['faults'] == [(2, 1, 'the section does not end')]"
}

@test "ours is read as it is written, by every repetition's best" {
    slow
    run mpi_run 3 nht1-beff --quick --time-limit 1800 --definition 3.6 --memory-per-process 1Mi --random 2 --protocol x.prot --json r.json --sum x.sum
    expect_status 4
    protocol "r['faults'] == [] and len(r['sizes']) == 21 and sorted(r['values']) == sorted((m['pattern_index'], r['sizes'][i],
        ('sendrecv', 'alltoallv', 'nonblocking').index(m['method'])) for m in __import__('json').load(open('r.json'))['measurements']
        for i, v in enumerate(m['bytes_per_s'][0]) if v is not None)"
    protocol "all(abs(r['values'][m['pattern_index'], r['sizes'][i], ('sendrecv', 'alltoallv', 'nonblocking').index(m['method'])] - v) < 1
        for m in __import__('json').load(open('r.json'))['measurements'] for i, v in enumerate(m['process_min_bytes_per_s'][0]) if v is not None)"
    # the summary, value for value, as precise as its columns
    said='import json
j = json.load(open("r.json"))
v, s = j["result"], r[0]'
    says "len(r) == 1 and s['ours'] and s['faults'] == [] and s['definition'] == '3.6' and not s['valid'] and s['procs'] == 3"
    says "abs(s['value'] - v['b_eff_bytes_per_s']) <= 500.001 and abs(s['ping_pong'] - v['ping_pong_bytes_per_s']) <= 500001"
    says "all(abs(s[a] - v['at_lmax'][b]) <= 500001 for a, b in (('at_lmax', 'all_bytes_per_s'), ('rings_at_lmax', 'rings_bytes_per_s')))"
    says "all(abs(s[a] - v[b]) <= 0.50001e-9 for a, b in (('latency_s', 'latency_s'), ('rings_latency_s', 'rings_latency_s'), ('ping_pong_s', 'ping_pong_latency_s')))"
    says "s['sizes'] == [of['message_bytes'] for of in j['by_size']] and abs(s['lmax_bytes'] / j['memory']['lmax_bytes'] - 1) < 6e-3"
    says "s['memory_per_process_bytes'] == j['memory']['per_process_bytes'] and abs(s['elapsed_s'] - j['elapsed']['whole_s']) <= 0.5001"
    says "s['rings'] == [p['name'] for p in j['patterns'] if p['kind'] == 'ring'] and s['buffer_offset_bytes'] == j['buffer_offset_bytes']"
}

@test "a last line alone whose memory stands elsewhere is read, without a traceback" {
    echo ' b_eff_io =  151.494 MB/s on 1 processes and with 256 MByte/PE, scheduled time=0.1 Min, on Linux' >x.sum
    says "len(r) == 1 and near(r[0]['value'], 151.494e6) and r[0]['procs'] == 1 and r[0]['memory_per_process_bytes'] is None
        and any('no partition in the file but the last line' in w for _, _, w in r[0]['faults'])"
    sed -i 's/time=0.1/time=9e99/' x.sum
    says "r[0]['scheduled_s'] is None and any('9e99' in w for _, _, w in r[0]['faults'])"
}

@test "what is no summary is none; control characters do not come through" {
    echo "dear diary" >x.sum
    says "r is None"
    printf 'b_eff = 5.000 MB/s = 2.500 * 2 PEs with 512 MB/PE on \033[31mLinux' >x.sum
    says "chr(27) not in r[0]['system']"
    head -c 70000 /dev/urandom >x.sum
    says "r is None"
}
