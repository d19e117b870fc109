#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# A study under a real Slurm of one node: the job script is submitted, runs, is told to stop when
# its time is nearly over, and goes on when it is submitted again.

load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
    slow
    need_large slurmctld slurmd munged sbatch srun
    need_root "starting the daemons"
    export NHT1_BIN
}

study() {
    "$NHT1_ROOT/runs/study" "$@"
}

on_slurm() {
    run timeout "$NHT1_HANG_S" "$NHT1_ROOT/tests/slurm_node" "$PWD/slurm" bash -c "$*"
    echo "$output"
}

small() {
    cat >small.ini <<'END'
[study]
repeats = 2
[run]
program = nht1-bt
class = S
ranks = 1 2 4
io = posix
END
}

@test "a job script with mpirun: every run is there, more ranks than cores included" {
    small
    study --job slurm --cores 2 --time 5 --out "$PWD/out" small.ini
    on_slurm sbatch --wait small.slurm
    cat small.*.log
    jq -e '.finished and .status == 0 and (.points | length == 3)
        and all(.points[]; .runs | length == 2)' out/summary.json
    jq -e '.system.cores == 2 and .system.nodes == 1 and .launcher.kind == "openmpi"' out/study.json
    jq -se 'all(.[]; .environment.SLURM_JOB_ID != null)' out/runs/*/run.json
}

@test "a job script with srun" {
    small
    study --job slurm --cores 2 --time 5 --launcher srun --out "$PWD/out" small.ini
    on_slurm sbatch --wait small.slurm
    cat small.*.log
    jq -e '.finished and .status == 0' out/summary.json
    jq -se 'all(.[]; .command[0] == "srun")' out/runs/*/run.json
    jq -se 'map(.system.ranks) | unique == [1, 2, 4]' out/runs/*/result.json
}

@test "a shell of srun, and a job submitted in one, are places to work in; behind srun a study is refused" {
    local mpi n
    small
    printf '#!/bin/bash\n"%s/runs/study" --dry-run small.ini\n' "$NHT1_ROOT" >job
    for mpi in none pmi2; do
        for n in 1 2; do  # tasks, of which a shell with a terminal is the first
            echo "srun --mpi=$mpi -n $n bash -c '[ \$SLURM_PROCID != 0 ] || { \"\$NHT1_ROOT/runs/study\" --dry-run small.ini; true; }'"
        done
    done >shells
    printf '%s\n' "srun --mpi=none -n 2 bash -c '[ \$SLURM_PROCID != 0 ] || sbatch -n 2 -o job.out job; true'" \
        'for i in $(seq 60); do [ ! -s job.out ] || break; sleep 1; done; sleep 1; cat job.out' >>shells
    on_slurm bash shells
    [ "$(grep -c '^points    3 of nht1-bt' <<<"$output")" -eq 5 ]
    on_slurm srun --mpi=none -n 2 "$NHT1_ROOT/runs/study" --dry-run small.ini
    expect_text "slurmstepd has started runs/study (SLURM_STEP_NUM_TASKS=2), which starts the launcher itself"
}

@test "nht1-profile counts a program that srun starts, and passes its status on" {
    on_slurm nht1-profile --split run -- srun --mpi=pmix -n 2 "$NHT1_TESTBIN/mkcalls" all s.dat
    expect_status 0
    [ "$(grep -c '<calls' profile.xml)" -eq 28 ]
    grep -qF '<calls function="write_at_all" n="2" bytes="32" span="1040" skips="1"/>' profile.xml
    grep -qF 'processNum="2"' profile.xml
    on_slurm nht1-profile --quiet -- srun --mpi=pmix -n 2 "$NHT1_TESTBIN/mkcalls" abort s.dat
    expect_status 7
}

@test "a job that is told to stop goes on when it is submitted again" {
    small
    study --job slurm --cores 2 --time 5 --out "$PWD/out" small.ini --set study.repeats=8 --no-plan
    cat >twice.sh <<'END'
id=$(sbatch --parsable small.slurm)
until [ "$(ls out/runs 2>/dev/null | grep -vc part)" -ge 3 ]; do sleep 0.1; done
scancel --batch --signal=TERM "$id"
while squeue -h | grep -q .; do sleep 0.5; done
jq -e '.why == "interrupted"' out/summary.json || exit 9
sbatch --wait small.slurm
END
    on_slurm bash twice.sh
    cat small.*.log
    expect_status 0
    jq -e '.finished and (.points | length == 3)
        and all(.points[]; .runs | length == 8)' out/summary.json
    grep -q "going on" small.*.log
}
