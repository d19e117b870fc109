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

@test "the released programs and ours in turn: a ratio for every pattern, with rounds, notes and JSON" {
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

@test "b_eff: the same, its quantities by name" {
    mkdir source
    cp "$NHT1_ROOT/tests/standin/b_eff.c" source
    # ours takes its minutes: a stand-in for it, too
    mkdir bin
    ln -s "$NHT1_BIN/nht1-stats" "$NHT1_BIN/nht1-beffio" bin
    cat >bin/nht1-beff <<'END'
#!/usr/bin/env bash
while [ $# -gt 0 ]; do [ "$1" != --sum ] || to=$2; shift; done
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" != 0 ] ||
    sed 's/3129 /6258 /; s/      782 /     1564 /' "$NHT1_ROOT/tests/samples/b_eff-3.6.sum" >"$to"
END
    chmod +x bin/nht1-beff
    NHT1_BIN=$PWD/bin released --source source --out x --ranks 4 --mb 512 --json r.json
    expect_status 0
    expect_json r.json '.programs[0].program == "b_eff" and ([.programs[0].ratios[].pattern[0]] | length == 7 and .[2] == "rings at L_max")
        and (.programs[0].ratios[2].ratio - 6258 / 3800 | fabs) < 1e-6'
}

@test "what does not go: no sources, no compiler, no summary" {
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
