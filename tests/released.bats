#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# runs/study released with programs of this project's own that leave summaries shaped as released (tests/standin).
load helpers

setup_file() {
    real_python
    mpicc=$(mpicc_of_build)
    export mpicc
}

released() {
    run "$NHT1_ROOT/runs/study" released --cc "$mpicc" --cflags "-O0 -w" --rounds 1 --ranks 2 --seconds 1 --mb 16 "$@"
}

@test "what stands in for the released programs writes summaries of their whole shape" {
    local standin=$NHT1_ROOT/tests/standin samples=$NHT1_ROOT/tests/samples
    "$mpicc" -O0 -w -o io "$standin/b_eff_io.c"
    "$mpicc" -O0 -w -DMEMORY_PER_PROCESSOR=512 -o beff "$standin/b_eff.c" -lm
    mpi_run 2 ./io -MB 256 -MT 512 -T 6 -N 1,2 -f io
    mpi_run 4 ./beff -f beff
    "$NHT1_ROOT/tests/sum_shape.py" "$samples/b_eff_io-2.1.sum" io.sum
    "$NHT1_ROOT/tests/sum_shape.py" "$samples/b_eff-3.6.sum" beff.sum
    # and nothing in them contradicts the rest
    PYTHONPATH="$NHT1_ROOT/runs" python3 -c "
from nht1 import sumfile
told = [t for name in ('io.sum', 'beff.sum') for r in sumfile.read(name) for t in r['faults']]
assert told == [], told"
}

@test "the released programs and ours in turn: a ratio for every pattern, with rounds, notes and JSON" {
    slow
    mkdir -p source/io
    cp "$NHT1_ROOT/tests/standin/b_eff_io.c" source/io
    released --source source --out x --json r.json --rounds 2
    expect_status 0
    # 35 patterns written and read, 7 rewritten, pattern 2 and the totals
    expect_json r.json '.schema == "nht1-released/1" and (.programs | length) == 1 and .interrupted == false
        and (.programs[0].ratios | length) == 35 * 2 + 7 + 3 + 11 and .programs[0].rounds == 2 and (.order | length) == 2
        and all(.programs[0].ratios[]; .n == 2 and .ratio > 0 and .lo == null)'
    expect_schema nht1-released-1 r.json
    # the ratio is that of the two files
    jq -r '.programs[0].ratios[] | select(.pattern == ["read", "segmented", "1M"]) | .ratio' r.json >ratio
    awk '$2 == "PEs" && $3 == 5 && $5 == "read" { p = (p ? p : 1) * $9 / 100; n++ }
        END { getline r < "ratio"; exit !(n == 2 && (sqrt(p) - r) ^ 2 < (1e-4 * r) ^ 2) }' x/b_eff_io-ours-0[12]/b_eff_io.sum
    [ "$(grep -c "^b_eff_io  *read segmented 1M " <<<"$output")" -eq 1 ]
    [ -s x/b_eff_io.build ]
    [ ! -e x/files ]
    grep -q -- "--definition 2.1" x/b_eff_io-ours-01/command
    released --source source --out x
    expect_status 1
    expect_text "the folder is not empty"
}

# A compiler whose programs, as nht1-beffio here, leave a summary of one process that was measured once.
ready_made() {
    mkdir bin source
    ln -s "$NHT1_BIN/nht1-stats" bin
    : >source/b_eff_io.c
    cat >bin/nht1-beffio <<END
#!/bin/bash
echo >>"$PWD/starts"
while [ "\$1" != -f ]; do shift; done
for how in '' hold fail; do
    [ -z "\$how" ] || [ ! -e "$PWD/\$how.\$(wc -l <"$PWD/starts")" ] || break
    how=
done
[ "\$how" != hold ] || exec sleep 1000
[ "\$how" != fail ] || { echo "no space" >&2; exit 3; }
cp "$NHT1_ROOT/tests/samples/b_eff_io-2.1.sum" "\$2.sum"
END
    printf '#!/bin/bash\nwhile [ "$1" != -o ]; do shift; done\ncp "%s" "$2"\n' "$PWD/bin/nht1-beffio" >bin/cc
    chmod +x bin/*
    export NHT1_BIN=$PWD/bin
}

started() {
    [ -e starts ] && [ "$(wc -l <starts)" -ge "$1" ]
}

@test "a run that fails, or Ctrl-C, loses none of the complete rounds" {
    slow
    ready_made
    # By a relative path, and not from the folder in which a run is started.
    printf '#!/bin/sh\n[ "$1" != --version ] || exit 0\nshift 2\nexec "$@"\n' >bin/launch
    chmod +x bin/launch
    local command=("$NHT1_ROOT/runs/study" released --cc "$PWD/bin/cc" --source source --ranks 1 --launcher bin/launch --out x --json r.json)
    touch fail.5
    run "${command[@]}"
    expect_status 3
    expect_text "-03 ended with status 3, without a .sum that can be read: no space"
    expect_text "b_eff_io  read scatter 1k "
    for file in r.json x/released.json; do
        expect_schema nht1-released-1 $file
        expect_json $file '.programs[0].rounds == 2 and .interrupted == false and all(.programs[0].ratios[]; .n == 2)'
    done
    mv fail.5 hold.5
    rm -r x r.json starts
    "${command[@]}" >said 2>&1 3>&- &
    wait_until -p $! started 5
    kill -INT $!
    status=0
    wait $! || status=$?
    [ "$status" -eq 3 ]
    grep -q 'released: interrupted$' said
    expect_json r.json '.programs[0].rounds == 2 and .interrupted == true'
}

@test "killed, its files go with the next one among the same files" {
    slow
    mkdir source files
    cat >source/b_eff_io.c <<'END'
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char name[4096];
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "-p") == 0) snprintf(name, sizeof name, "%s/b_eff_io_data", argv[i + 1]);
    fclose(fopen(name, "w"));
    for (;;) pause();
}
END
    "$NHT1_ROOT/runs/study" released --cc "$mpicc" --cflags "-O0 -w" --source source --rounds 1 --ranks 1 --seconds 1 \
        --mb 16 --seed 2 --out x --files files >said 2>&1 3>&- &
    wait_until -p $! data_there
    kill -9 $!
    wait $! || true
    no_process b_eff_io
    [ -n "$(ls files)" ]
    cp "$NHT1_ROOT/tests/standin/b_eff_io.c" source
    released --source source --out y --files files
    expect_status 0
    [ -z "$(ls files)" ]
}

data_there() {
    [ -n "$(find files -name b_eff_io_data)" ]
}

# Ours takes its minutes: here it is brief, and keeps what it measured.
brief_beff() {
    mkdir source bin
    cp "$NHT1_ROOT/tests/standin/b_eff.c" source
    ln -s "$NHT1_BIN/nht1-stats" "$NHT1_BIN/nht1-beffio" bin
    printf '#!/bin/sh\nexec "%s/nht1-beff" --quick --no-analysis --random "${BEFF_RANDOM:-30}" --json "$BEFF_JSON" "$@"\n' "$NHT1_BIN" >bin/nht1-beff
    chmod +x bin/nht1-beff
    export BEFF_JSON=$PWD/measured.json
}

@test "b_eff: its quantities by name, and pattern by pattern, size by size" {
    slow
    brief_beff
    NHT1_BIN=$PWD/bin released --source source --out x --mb 1 --json r.json
    expect_status 0
    expect_schema nht1-released-1 r.json
    expect_json r.json '.programs[0].program == "b_eff" and ([.programs[0].ratios[].pattern[0]] | index("rings at L_max") == 2)'
    # six rings, and the random patterns as one: each program draws its own
    expect_json r.json '[.programs[0].by_pattern[].pattern[0]] == [range(6) | "pat=\(.) ring-1*2fix"] + ["random (30)"]'
    expect_text "pat=0 ring-1*2fix "
    # the ratio of two measurements: of a pattern at a size, by the best method and by one of them
    jq -r '[.measurements[] | select(.pattern_index == 3)] | (map(.process_min_bytes_per_s[0][20]) | max / 4e6),
        (.[] | select(.method == "alltoallv") | .process_min_bytes_per_s[0][20] / 4e6)' measured.json >expected
    awk -F, 'NR == FNR { want[n++] = $1; next } $1 == "pat=3 ring-1*2fix" && $3 == 8192 && ($2 == "best" || $2 == "Alltoal") {
            w = want[$2 != "best"]; if (($5 - w) ^ 2 < (1e-3 * w) ^ 2) hits++ }
        END { exit hits != 2 }' expected x/b_eff.csv
    [ "$(wc -l <x/b_eff.csv)" -eq $((1 + 7 * 4 * 21)) ]
    # geometric means: 7 to 36 MB/s of the stand-in
    jq -r '[.measurements[] | select(.pattern_index >= 6)] | group_by(.pattern_index)
        | [.[] | (map(.process_min_bytes_per_s[0][20]) | max) / 1e6 / (1 + .[0].pattern_index) | log] | add / length | exp' measured.json >expected
    awk -F, 'NR == FNR { w = $1; next } $1 == "random (30)" && $2 == "best" && $3 == 8192 && ($5 - w) ^ 2 < (1e-3 * w) ^ 2 { hits++ }
        END { exit hits != 1 }' expected x/b_eff.csv
    # the median over 21 sizes is one of them
    expect_json r.json '.programs[0].by_pattern | all(.[]; (.by_size | length) == 21 and .lo == null and .n == 1
        and ((.by_size | map(.ratio) | sort[10]) / .ratio - 1 | fabs) < 1e-9)'
}

@test "b_eff: where a protocol is missing, that is told, and the quantities remain" {
    slow
    brief_beff
    BEFF_RANDOM=2 NHT1_BIN=$PWD/bin STANDIN_NO_PROTOCOL=1 released --source source --out x --mb 1 --json r.json
    expect_status 0
    expect_text "b_eff-released-01/b_eff.prot: there is no section VALUES"
    expect_json r.json '.programs[0] | (.ratios | length) >= 5 and .by_pattern == []'
    [ ! -e x/b_eff.csv ]
}

@test "what does not go: no sources, no compiler, no summary" {
    slow
    mkdir source
    released --source source
    expect_status 1
    expect_text "neither b_eff_io.c nor b_eff.c is there"
    released --source nowhere
    expect_status 1
    cp "$NHT1_ROOT/tests/standin/b_eff_io.c" source
    STANDIN_FAILS=1 released --source source --out x
    expect_status 3
    expect_text "without a .sum that can be read"
    # what stands there is a pipe, which nobody writes to
    printf '#include <sys/stat.h>\nint main(void) { mkfifo("b_eff_io.sum", 0600); return 0; }\n' >source/b_eff_io.c
    released --source source --out z
    expect_status 3
    expect_text "without a .sum that can be read"
    echo "int main(" >source/b_eff_io.c
    released --source source --out y
    expect_status 3
    expect_text "does not compile: "
    expect_text "error"
    run "$NHT1_ROOT/runs/study" released --source source --cflags "'"
    expect_status 1
    expect_text "No closing quotation"
    run "$NHT1_ROOT/runs/study" released --source source --cc "mpicc '"
    expect_status 1
}
