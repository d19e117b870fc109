#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Bad descriptions: one message that names file, line, section and key, status 1, nothing made.

load helpers
load study_lib

setup() {
    begin_study
}

# refused TEXT...: the description on stdin is refused with one message that holds the texts.
refused() {
    local text
    cat >x.ini
    study x.ini --under out
    expect_status 1 || return 1
    for text in "$@"; do expect_text "$text" || return 1; done
    [ "$(wc -l <<<"$output")" -eq 1 ] || { echo "more than one line: $output" && return 1; }
    [ ! -e out ]
}

@test "unknown keys, with the nearest known one" {
    refused 'x.ini:2: [study] repeat' 'did you mean repeats' <<<$'[study]\nrepeat = 3\n[run]\nprogram = sim'
    refused 'x.ini:3: [run] rank' 'did you mean ranks' <<<$'[run]\nprogram = sim\nrank = 3'
    refused 'x.ini:4: [common] vaule' 'did you mean value' <<<$'[run]\nprogram = sim\n[common]\nvaule = 3'
    refused 'x.ini:3: [run] json' 'driver gives' <<<$'[run]\nprogram = sim\njson = f'
}

@test "empty lists, values that are no numbers, expressions that cannot be" {
    slow
    refused 'x.ini:3: [run] ranks: nothing' <<<$'[run]\nprogram = sim\nranks ='
    refused 'x.ini:3: [run] ranks' "'two'" <<<$'[run]\nprogram = sim\nranks = 1 two'
    refused 'x.ini:3: [run] ranks' "'0'" <<<$'[run]\nprogram = sim\nranks = 0'
    refused 'x.ini:3: [run] ranks' "9..3" <<<$'[run]\nprogram = sim\nranks = 9..3'
    refused 'x.ini:3: [run] value' 'nosuch' 'cores' <<<$'[run]\nprogram = sim\nvalue = {2 * nosuch}'
    refused 'x.ini:3: [run] value' 'no such function' <<<$'[run]\nprogram = sim\nvalue = {open("x")}'
    refused 'x.ini:3: [run] value' 'not allowed' <<<$'[run]\nprogram = sim\nvalue = {cores.real}'
    refused 'x.ini:3: [run] value' 'exponent' <<<$'[run]\nprogram = sim\nvalue = {9 ** 9999}'
    refused 'x.ini:3: [run] value' 'division' <<<$'[run]\nprogram = sim\nvalue = {1 / 0}'
    refused 'x.ini:3: [run] when' 'not understood' <<<$'[run]\nprogram = sim\nwhen = ranks <'
    refused 'x.ini:2: [run] program' 'no combination' <<<$'[run]\nprogram = sim\nwhen = ranks > 5'
    refused 'x.ini:3: [run] tag' 'no partner' <<<$'[run]\nprogram = sim\ntag = "a b'
    refused 'x.ini:3: [run] flag' 'yes or no' <<<$'[run]\nprogram = sim\nflag = maybe'
    refused 'x.ini:2: [study] repeats' <<<$'[study]\nrepeats = many\n[run]\nprogram = sim'
    refused 'x.ini:2: [study] repeats' <<<$'[study]\nrepeats = 5..3\n[run]\nprogram = sim'
    refused 'x.ini:4: [run] estimate_s' <<<$'[run]\nprogram = sim\nmetric = x\nestimate_s = soon'
    refused 'x.ini:4: [run] ranks' '10000' <<<$'[run]\nprogram = sim\nvalue = 1..9999\nranks = 1..9999'
}

@test "an option that would have no effect is refused before anything starts" {
    local words said
    REPEATS=1 description x.ini <<<$'[run]\nprogram = sim'
    while IFS='|' read -r words said; do
        eval "study $words"
        expect_status 1
        expect_text "$said; see --help"
        [ ! -e out ]
        [ ! -e starts ]
    done <<'END'
x.ini --out out --time 30|--time is for --job
x.ini --out out --nodes 1|--nodes is for --job
x.ini --out out --setup ''|--setup is for --job
x.ini --out out --queue q|--queue is for --job
x.ini --out out --account a|--account is for --job
x.ini --out out --job-file -|--job-file is for --job
x.ini --job pbs --job-file out --dry-run|--dry-run has no effect with --job
x.ini --out out --under .|--under has no effect with --out
x.ini --out out --new|--new has no effect with --out
x.ini --out out --no-plan --leave-out|--leave-out has no effect with --no-plan
x.ini --list|STUDY has no effect with --list
--list --quiet|--quiet has no effect with --list
tune --out out --under .|--under has no effect with --out
tune --under out --exhaustive 1 --against .|--against has no effect with --exhaustive
END
}

@test "sections: none, unknown, twice, text outside, keys twice, lines that are nothing" {
    refused 'no [run] section' <<<$'[study]\ntitle = x'
    refused 'x.ini:3: [runs]' 'no such section' <<<$'[run]\nprogram = sim\n[runs]\nx = 1'
    refused 'x.ini:3: [run]' 'twice' <<<$'[run]\nprogram = sim\n[run]\nprogram = sim'
    refused 'x.ini:3: [run] program' 'twice' <<<$'[run]\nprogram = sim\nprogram = sim'
    refused 'x.ini:1: text before' <<<$'program = sim'
    refused 'x.ini:3: neither' <<<$'[run]\nprogram = sim\nhello'
    refused 'x.ini:1: [run]' 'names no program' <<<$'[run]\nranks = 1'
}

@test "programs: missing, without options, unknown to the driver and without a metric" {
    refused 'x.ini:2: [run] program' 'nosuch' 'make' <<<$'[run]\nprogram = nosuch'
    refused 'x.ini:2: [run] program' 'no options' <<<$'[run]\nprogram = /bin/false'
    refused 'x.ini:2: [run] program' 'metric' <<<$'[run]\nprogram = sim'
}

@test "what the program itself refuses is told with the place of the option" {
    export NHT1_BIN=$NHT1_BIN_REAL
    refused 'x.ini:3: [run] class' 'choose one of' <<<$'[run]\nprogram = nht1-bt\nclass = Q'
    refused 'x.ini:4: [run] decomp' <<<$'[run]\nprogram = nht1-bt\nclass = S\ndecomp = 2x2x2'
}

@test "values made to hurt: one line with file and line, no traceback" {
    local digits deep
    digits=$(printf '9%.0s' {1..5000})
    deep=$(printf -- '-%.0s' {1..3000})
    refused 'x.ini:3: [run] value' <<<$'[run]\nprogram = sim\nvalue = {9 ** 64 ** 2}'
    refused 'x.ini:3: [run] value' <<<$'[run]\nprogram = sim\nvalue = {1e999}'
    refused 'x.ini:3: [run] value' <<<$'[run]\nprogram = sim\nvalue = {((9**64)**64)**64}'
    refused 'x.ini:3: [run] value' <<<$'[run]\nprogram = sim\nvalue = {'"$deep"'1}'
    refused 'x.ini:3: [run] value' <<<$'[run]\nprogram = sim\nvalue = {'"$digits"'}'
    refused 'x.ini:3: [run] ranks' <<<$'[run]\nprogram = sim\nranks = 1..'"$digits"
    refused 'x.ini:3: [run] ranks' <<<$'[run]\nprogram = sim\nranks = ²'
    refused 'x.ini:2: [study] repeats' <<<$'[study]\nrepeats = ²\n[run]\nprogram = sim'
    refused 'x.ini:2: [study] seed' <<<$'[study]\nseed = '"$digits"$'\n[run]\nprogram = sim'
    refused 'x.ini:2: [study] minutes' <<<$'[study]\nminutes = '"$digits"$'\n[run]\nprogram = sim'
    refused 'x.ini:3: [run] repeats' <<<$'[run]\nprogram = sim\nrepeats = ٣'
    for bad in inf nan -5 1e300; do
        refused 'x.ini:4: [run] estimate_s' <<<$'[run]\nprogram = sim\nmetric = x\nestimate_s = '"$bad"
    done
    refused 'x.ini:2: [study] launcher_flags' "it's" <<<$'[study]\nlauncher_flags = it\'s\n[run]\nprogram = sim\nmetric = x'
    printf '[run]\nprogram = sim\nmetric = x\ntag = a\0b\n' >x.ini
    study x.ini --under out
    expect_status 1
    expect_text "x.ini:4: a control character"
    [ "${#lines[@]}" -eq 1 ]
    study writers --launcher-flags "it's"
    expect_status 1
    expect_text "--launcher-flags: it's"
    [ "${#lines[@]}" -eq 1 ]
    study writers --set run.ranks=$'\xff'
    expect_status 1
    [ "${#lines[@]}" -eq 1 ]
}

@test "records of a study that are not as the driver wrote them" {
    slow
    REPEATS=1 description x.ini <<<$'[run]\nprogram = sim\nranks = 1 2'
    study x.ini --out s
    expect_status 0
    echo '[1]' >s/summary.json
    study x.ini --out s
    expect_status 0
    for bad in 'del(.wall_s)' '.wall_s = -1' '.ok = "yes"' '.status = null' '[1]'; do
        cp s/runs/p01-r01/run.json good.json
        jq "$bad" good.json >s/runs/p01-r01/run.json
        study x.ini --out s
        expect_status 1
        expect_text "s/runs/p01-r01/run.json"
        [ "${#lines[@]}" -le 6 ]
        cp good.json s/runs/p01-r01/run.json
    done
    jq '.id = "../../victim"' s/study.json >bad.json
    cp bad.json s/study.json
    study x.ini --out s
    expect_status 1
    expect_text "s/study.json"
}

@test "a dry run starts nothing that the description names but programs of nht1" {
    printf '#!/bin/sh\ntouch "%s/started"\n' "$PWD" | tee bin/evil >bin/evilmpirun
    chmod +x bin/evil bin/evilmpirun
    ln -sf "$NHT1_BIN_REAL"/nht1-bt bin
    printf '[study]\nlauncher = %s\n[run evil]\nprogram = %s\nmetric = x\n[run bt]\nprogram = nht1-bt\nclass = S\nenv.LD_PRELOAD = %s\n' \
        "$PWD/bin/evilmpirun" "$PWD/bin/evil" "$PWD/bin/evil.so" >x.ini
    study --dry-run x.ini
    expect_status 0
    [ ! -e started ]
    expect_text "p02"
}

@test "names of studies and of files that are not there" {
    study nosuch
    expect_status 1
    expect_text "processors"
    study procesors
    expect_text "did you mean processors"
    study ./nosuch.ini
    expect_status 1
    study
    expect_status 1
    head -c 3000 /dev/urandom >bad.ini
    study ./bad.ini
    expect_status 1
    study ./bad.ini/x
    expect_status 1
    [ "$output" = "runs/study: ./bad.ini/x: Not a directory" ]
}

@test "options that make no sense: one message, status 1" {
    local words
    while read -r -a words; do
        study writers --dry-run "${words[@]}"
        expect_status 1
        expect_text "${words[0]}"
        [ "${#lines[@]}" -eq 1 ]
    done <<'LIST'
--minutes -3
--minutes nan
--minutes x
--cores 0
--cores x
--nosuch
LIST
}

@test "commands behind options, misspelt ones, and options of programs are answered with the right form" {
    local words said
    while IFS='|' read -r words said; do
        eval "study $words"
        expect_status 1
        [ "${#lines[@]}" -eq 1 ]
        expect_text "$said"
    done <<'END'
--minutes 1 check .|runs/study: check comes first: runs/study check --minutes 1 .
--minutes 1 check|runs/study: check comes first: runs/study check --minutes 1
--out 'a b' ab --class S|ab comes first: runs/study ab --out 'a b' --class S
--sync dump tune|tune comes first: runs/study tune --sync dump
--set common.class=S check .|runs/study: check comes first, and has no --set: see runs/study check --help
--dry-run tune|tune comes first, and has no --dry-run: see runs/study tune --help
chekc .|no study 'chekc' (did you mean check?); there are alignment
processors --class S|unrecognized arguments: --class S; an option of the program is given as --set common.class=S; see --help
processors --direct|an option of the program is given as --set common.direct=yes
processors --minuts=5|unrecognized arguments: --minuts=5 (did you mean minutes?)
--out check processors more|unrecognized arguments: more; see --help
END
}

@test "behind a launcher it is said that the study starts that, before anything is made" {
    local name variable front words
    mkdir files launchers
    for name in mpirun hydra_pmi_proxy slurmstepd; do
        printf '#!/bin/bash\n"$@"\nexit $?\n' >launchers/$name
    done
    chmod +x launchers/*
    while read -r name variable front; do
        for words in 'check files' 'ab --program sim' tune 'writers --dry-run'; do
            run env "$variable" launchers/$name "$NHT1_ROOT/runs/study" $words
            expect_status 1
            [ "$output" = "runs/study: $name has started runs/study ($variable), which starts the launcher itself: the same command without $front" ]
        done
        run env "$variable" launchers/$name "$NHT1_ROOT/runs/study" --list
        expect_status 0
        # A shell of a launcher, and a job that has come by its variables, are places to work in.
        run env "$variable" launchers/$name sh -c '"$NHT1_ROOT/runs/study" chekc; exit $?'
        expect_text "did you mean check"
    done <<'END'
mpirun OMPI_COMM_WORLD_SIZE=1 mpirun in front
hydra_pmi_proxy PMI_SIZE=2 mpirun in front
slurmstepd SLURM_STEP_NUM_TASKS=2 srun in front, in a shell of salloc or a job of sbatch
END
    [ ! -e nht1-studies ]
    run env PMI_SIZE=1 SLURM_STEP_NUM_TASKS=1 launchers/slurmstepd "$NHT1_ROOT/runs/study" chekc
    expect_text "did you mean check"
}

@test "output that cannot be written, and folders that cannot be made, are told" {
    slow
    run bash -c '"$NHT1_ROOT/runs/study" --list >/dev/full'
    expect_status 3
    expect_text "standard output: No space left on device"
    [ "${#lines[@]}" -eq 1 ]
    run bash -c '"$NHT1_ROOT/runs/study" --help >/dev/full'
    expect_status 3
    run bash -c '"$NHT1_ROOT/runs/study" --list >&-'
    expect_status 3
    expect_text "standard output is closed"
    echo x >file
    study writers --dry-run --out file
    expect_status 1
    expect_text "file is there and holds no study"
    mkdir -m 500 closed
    run "${obedient[@]}" "$NHT1_ROOT/runs/study" writers --dry-run --out closed/x
    expect_status 3
    expect_text "no folder can be made in"
}
