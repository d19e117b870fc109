# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154 # bats sets status and output
# Fast stand-ins for the tests of runs/study: a program `sim` and the launchers, all in ./bin, where
# NHT1_BIN then leads. nht1-report is missing there: no report is written.

setup_file() {
    real_python
    warm_python study
}

teardown_file() {
    cold_python
}

# Tests that kill a study start it themselves.
study() {
    run warm "$NHT1_ROOT/runs/study" "$@"
}

# A program with a result of its own: --value is its time, --noise what each further start adds,
# --status how it ends, --sleep how long it takes by the clock of the test, NHT1_CLOCK, which tests/warm goes by.
# With --stall R a start in each R-th pair of them has three times that value.
# Every start is noted in ./starts; start N goes on as long as there is a file hold.N, one that takes time as
# long as there is hold.sleep.
make_sim() {
    cat >bin/sim <<'END'
#!/bin/bash
value=1 noise=0 status=0 pause=0 stall=0 json=
echo "$*" >>"$SIM_FOLDER/starts"
while [ $# -gt 0 ]; do
    case $1 in
    --help) printf '  --%s  words\n' 'value X' 'noise X' 'status N' 'sleep S' 'stall R' 'json FILE' 'tag T' 'flag'
        exit 0 ;;
    --version) echo sim 1; exit 0 ;;
    --flag) shift ;;
    --value) value=$2; shift 2 ;;
    --noise) noise=$2; shift 2 ;;
    --status) status=$2; shift 2 ;;
    --sleep) pause=$2; shift 2 ;;
    --stall) stall=$2; shift 2 ;;
    --json) json=$2; shift 2 ;;
    *) shift 2 ;;
    esac
done
n=$(grep -vc -e --help -e --version "$SIM_FOLDER/starts")
trap 'exit 3' TERM
if [ "$pause" != 0 ]; then
    printf "%${pause}s" '' >>"$NHT1_CLOCK"
fi
while [ -e "$SIM_FOLDER/hold.$n" ] || { [ "$pause" != 0 ] && [ -e "$SIM_FOLDER/hold.sleep" ]; }; do sleep 0.05; done
[ "$status" = 0 ] || [ "$status" = 4 ] || { echo "sim: refused, as asked" >&2; exit "$status"; }
awk -v v="$value" -v d="$noise" -v n="$n" -v r="$stall" \
    'BEGIN { if (r && int((n + 1) / 2) % r == 0) v *= 3; printf "{\"took_s\": %.6f}\n", v + d * n }' >"$json"
exit "$status"
END
    chmod +x bin/sim
    export SIM_FOLDER=$PWD
}

# launcher NAME VERSION-LINE: notes its words in ./launched and starts the program once.
make_launcher() {
    cat >"bin/$1" <<END
#!/bin/bash
[ "\$1" = --version ] && { echo "$2"; exit 0; }
[ "\$1" = --mpi=list ] && { echo "none pmix pmi2"; exit 0; }
echo "$1 \$*" >>"\$SIM_FOLDER/launched"
while [ \$# -gt 0 ] && [ "\${1##*/}" != sim ] && [ "\${1##*/}" != nht1-bt ]; do shift; done
exec "\$@"
END
    chmod +x "bin/$1"
}

begin_study() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
    make_fakes
    export NHT1_CLOCK=$BATS_TEST_TMPDIR.clock
    : >"$NHT1_CLOCK"
}

make_fakes() {
    mkdir -p bin
    make_sim
    ln -s "$NHT1_BIN/nht1-stats" bin
    make_launcher mpirun "mpirun (Open MPI) 4.1.4"
    export NHT1_BIN_REAL=$NHT1_BIN NHT1_BIN=$PWD/bin PATH=$PWD/bin:$PATH
    unset MPIRUN MPIRUN_FLAGS
}

# description FILE: stdin under a heading for sim; `repeats` as given.
description() {
    { printf '[study]\nseed = 7\nrepeats = %s\n' "${REPEATS:-2}"
        sed 's/^program = sim$/&\nmetric = took_s/'; } >"$1"
}

# The runs of a study, one line each: name and settings.
set_of() {
    local run
    for run in "$1"/runs/*/run.json; do
        jq -r '"\(.name) \(.settings | to_entries | map("\(.key)=\(.value)") | join(" "))"' "$run"
    done | sort
}

# sims N: whether that many have been started.
sims() {
    [ -e starts ] && [ "$(starts)" -ge "$1" ]
}

starts() {
    grep -vc -e --help -e --version starts
}

# Whether no program of the test is left.
no_sim() {
    if pgrep -f "$PWD/bin/sim" >/dev/null; then return 1; fi
}
