# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Results to report on, made once per file of tests, when a case asks for them: `load report_lib`
# after helpers.

setup_file() {
    export REPORT_PYTHON
    REPORT_PYTHON=$(report_python)
    real_python "$REPORT_PYTHON" # which has the libraries: nht1-report need not look for it
    warm_python nht1-report
}

teardown_file() {
    cold_python
}

# Tests that look at how the program starts take the one in $NHT1_BIN.
nht1-report() {
    warm "$NHT1_BIN/nht1-report" "$@"
}

# make_result NAME: NAME.json, of class S with three writers on 1, 2 or 4 ranks (r1, r2, r4), of token
# with groups of 1 or 2 ranks (g1, g2), with hints (h1, h2), or of a bandwidth program. 4 says that the
# result is not valid as one.
make_result() {
    local rc=0 tiny=(--class S --repeat 3 --out d.bin --quiet --json "$1.json")
    export XDG_STATE_HOME=$PWD/state
    case $1 in
    r*) mpi_run "${1#r}" nht1-bt --io posix,mpiio,none "${tiny[@]}" ;;
    g*) mpi_run 4 nht1-bt --io token --group "${1#g}" --tc 1 "${tiny[@]}" ;;
    h*) mpi_run 2 nht1-bt --io mpiio --hint "cb_nodes=${1#h}" --tc 1 "${tiny[@]}" ;;
    beff) mpi_run 2 nht1-beff --quick --time-limit 3 --json beff.json ;;
    beffio) mpi_run 2 nht1-beffio -T 0.02 -N 1,2 --mb 16 --mt 32 --sum beffio.sum --json beffio.json ;;
    esac >log 2>&1 || rc=$?
    [ $rc -eq 0 ] || [ $rc -eq 4 ] || { cat log && return 1; }
}

# results NAME...: copies of them into the current folder.
results() {
    local name
    for name in "$@"; do
        [ -e "$BATS_FILE_TMPDIR/$name.json" ] || (cd "$BATS_FILE_TMPDIR" && make_result "$name") ||
            return 1
        cp "$BATS_FILE_TMPDIR/$name.json" .
    done
}

# The Python that nht1-report draws with.
report_python() {
    local python
    for python in "${NHT1_PYTHON:-}" /usr/bin/python3 python3; do
        [ -n "$python" ] && "$python" -c 'import matplotlib, jinja2' 2>/dev/null && break
    done
    command -v "$python"
}

# pages FILE...: a report without drawings of each file alone, by one process.
pages() {
    PYTHONPATH=$NHT1_ROOT/runs PYTHONDONTWRITEBYTECODE=1 "$REPORT_PYTHON" - "$@" <<'END'
import sys
from nht1.report import cli
for path in sys.argv[1:]:
    print(path, flush=True)
    if cli.main(['--no-figures', '-o', path + '.html', path]) != 0:
        sys.exit(1)
END
}

# The same file with other content: change FILE FILTER [JQ-ARGUMENT...]. A run's "writer" is its
# "driver", which filters change.
change() {
    local file=$1 filter=$2
    shift 2
    jq "$@" "($filter) | if (.runs | type) == \"array\" then .runs |= map(if type == \"object\" and
        has(\"writer\") then .writer = .driver else . end) else . end" "$file" >changed.tmp &&
        mv changed.tmp "$file"
}

# expect_file_text FILE TEXT
expect_file_text() {
    grep -qF -- "$2" "$1" && return 0
    echo "$1 does not hold: $2"
    return 1
}

# read_back FILE: every run that wrote has read its last dump back: cold in 0.2, 0.4 ... s by writer,
# warm in a tenth of that, cold as 1x1x2 in 1.5 times that, with noise of 1 % by round.
read_back() {
    # shellcheck disable=SC2016 # variables of jq
    change "$1" '([.runs[].driver] | unique) as $writers | .system.ranks as $ranks
        | (40 * .problem.n * .problem.n * .problem.n) as $bytes
        | def reading($cache; $decomp; $t): {cache: $cache, decomp: $decomp, own_decomp: ($decomp == "own"),
            ranks: $ranks, t_r_s: $t, bytes: $bytes, rate_bytes_per_s: ($bytes / $t), requests_n: 2,
            file_bytes: (6 * $bytes), cached_bytes_before: (if $cache == "warm" then $bytes else 0 end),
            digest_ok: true, dumps: [{dump: 6, step: 60, t_s: $t, digest_ok: true}], stamps: []};
        .options_changed += {read: "last", "read-cache": "cold,warm"}
        | .runs |= map(if .driver == "none" then . else .driver as $d
            | (0.2 * (1 + ($writers | index($d))) * (1 + 0.01 * ((.round * 3) % 5 - 2))) as $t
            | .read = [reading("cold"; "own"; $t), reading("warm"; "own"; $t / 10),
                       reading("cold"; "1x1x2"; 1.5 * $t)] end)'
}

# times FILE FACTOR NOISE [N]: N (6) runs of every writer instead of those there; T_T is 1, 2 ... s
# by writer, times the factor, off by up to NOISE either way in a pattern that differs by writer.
times() {
    # shellcheck disable=SC2016 # variables of jq
    change "$1" '.runs |= ([.[] | select(.driver != "none")] | unique_by(.driver)
        | [to_entries[] | .key as $w | .value as $run | range($n) as $i
            | $run | .t_t_s = ($w + 1) * $f * (1 + $e * ((($i * 5 + $w * 3) % 11) / 5 - 1))
            | .write_rate_bytes_per_s = .bytes / .t_t_s])' \
        --argjson f "$2" --argjson e "$3" --argjson n "${4:-6}"
}

# searched FILE: with a search of 12 candidates in two rungs; the label of the fourth is strange.
searched() {
    change "$1" '.search = {ended: "budget", seconds: 60, minutes: 1, seed: 1, known: null,
        left_out: [{writer: "uring", why: "not permitted"}],
        rungs: [{rung: 1, steps: 10, dumps: 2, rounds: 2, candidates_n: 12}, {rung: 2, steps: 60, dumps: 6, rounds: 5, candidates_n: 4, last: true}],
        candidates: [range(1; 13) | {id: ., writer: "posix", options: ["--buffer", "\(.)Mi"], label: "posix --buffer \(.)Mi",
            rung: (if . < 5 then 2 else 1 end), runs: (if . < 5 then 7 else 2 end), ratio: (1 + (. - 1) / 40),
            lo: (if . == 1 then null else 0.97 + (. - 1) / 40 end), hi: (if . == 1 then null else 1.03 + (. - 1) / 40 end),
            state: (if . == 1 then "best" elif . == 2 then "tied" elif . == 12 then "failed" else "beaten" end),
            why: (if . == 12 then "no space left" else "" end)}
            | if .id == 4 then .label = "mpiio --hint a=<b>&c" else . end | if .id == 12 then .ratio = null else . end],
        effects: [{writer: "posix", setting: "--direct", value: "yes", against: "no", ratio: 0.9, lo: 0.85, hi: 0.95, pairs: 6},
                  {writer: "mpiio", setting: "--hint cb_nodes", value: "1", against: "-", ratio: 1.02, lo: 0.95, hi: 1.1, pairs: 6}],
        best: {id: 1, label: "posix --buffer 1Mi", command: "mpirun -np 2 nht1-bt --class S --io posix --buffer 1Mi", t_t_s: 0.5, steps: 60, dumps: 6, rounds: 5,
            zeta: 0.083, zeta_lo: 0.05, zeta_hi: 0.11, against: [{label: "mpiio", ratio: 1.2, lo: 1.1, hi: 1.3}],
            hints: [{form: "ROMIO_HINTS", text: "cb_nodes 1\nromio_cb_write enable"}]}}'
}
