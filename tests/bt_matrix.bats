#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The solver at rank counts that the runner leaves out, and the matrix of runs: that it notices what
# it is there to notice. tests/bt_matrix itself is started by tests/run.

load helpers

solver_tests() {
    run mpi_run "$1" "$NHT1_TESTBIN/mpi_bt" "${@:2}"
    expect_status 0
    expect_text "mpi_bt on $1 ranks: passed on every rank"
}

@test "the solver on 5 ranks" {
    slow
    solver_tests 5
}

@test "the solver on 7 ranks" {
    slow
    local part
    for part in $([ -n "${NHT1_FULL:-}" ] && echo '*' || echo test_every_decomposition test_n_33); do
        solver_tests 7 "$part"
    done
}

@test "one plane per rank: N = 12 on 12 ranks along x, y and z" {
    slow
    solver_tests 12 test_thin_slabs
}

@test "the intermediate values of classes S and W on 12 ranks" {
    slow # on 1 and 3 always
    run mpi_run 12 "$NHT1_TESTBIN/mpi_bt_values"
    expect_status 0
    expect_text "mpi_bt_values on 12 ranks: passed on every rank"
}

# fake_bt RESULT STATUS [COMMAND]: a solver that only writes a result, and takes part in the matrix.
fake_bt() {
    mkdir -p fake
    cat >fake/nht1-bt <<SCRIPT
#!/usr/bin/env bash
while [ \$# -gt 0 ]; do
    [ "\$1" = --json ] && json=\$2
    shift
done
cat >"\$json" <<'RESULT'
$1
RESULT
${3:-:}
exit $2
SCRIPT
    chmod +x fake/nht1-bt
}

norms_result() {
    echo '{"status": 0, "runs": [{"completed": true, "verified": '"$1"',' \
        '"norms": {"error": [1], "residual": ['"$2"'], "published": true}}]}'
}

matrix() {
    run env -u NHT1_FULL NHT1_BIN="$PWD/fake" "$NHT1_ROOT/tests/bt_matrix" "$1"
}

@test "a good result passes the matrix" {
    slow
    need_program jq
    fake_bt "$(norms_result true 2)" 0
    matrix "norms 1 . auto --class S"
    expect_text "1..2"
    [ "${lines[1]}" = "ok 1 norms: --class S, 1 ranks x 1, auto" ]
    [ "${lines[2]}" = "ok 2 norms: --class S, 1 ranks x 2, auto" ]
}

@test "a result that is not verified fails the matrix" {
    need_program jq
    fake_bt "$(norms_result false 2)" 0
    matrix "norms 1 1 auto --class S"
    expect_text "not ok 1"
    expect_text "not every run is verified"
}

@test "an exit status fails the matrix" {
    need_program jq
    fake_bt "$(norms_result true 2)" 4
    matrix "norms 1 1 auto --class S"
    expect_text "not ok 1"
    expect_text "exit status 4"
}

@test "norms that differ between thread counts fail the matrix" {
    slow
    need_program jq
    fake_bt "$(norms_result true 2)" 0 \
        "[ \"\$OMP_NUM_THREADS\" = 2 ] && sed -i 's/\\[2\\]/[2.0000000000000004]/' \"\$json\""
    sed -i 's/^exit .*/exit 0/' fake/nht1-bt
    matrix "norms 1 . auto --class S"
    [ "${lines[1]}" = "ok 1 norms: --class S, 1 ranks x 1, auto" ]
    expect_text "not ok 2"
}

@test "files that differ fail the matrix" {
    slow
    need_program jq
    fake_bt '{"status": 0, "runs": [{"completed": true, "verified": true},
        {"completed": true, "verified": true}]}' 0 'echo a >out.bin.one; echo b >out.bin.two'
    matrix "files 2 1 auto --class S --layout mijk"
    expect_text "not ok 1"
    expect_text "SHA-256 --class S --layout mijk"
}
