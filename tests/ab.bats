#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# runs/study ab: two things in alternation until it is decided. The program is a stand-in whose result is the
# time that it is told.
load helpers
load study_lib

setup() {
    begin_study
}

# ab OPTION...: on the stand-in.
ab() {
    study ab --program sim --metric took_s --cores 2 --out result "$@"
}

# found FILTER: of the result, which keeps to its schema.
found() {
    expect_schema nht1-ab-1 result/ab.json
    jq -e "$1" result/ab.json >/dev/null || { cat result/ab.json && return 1; }
}

@test "what is slower is found at the first look, told in one line, and fails in JUnit" {
    ab --a='--value 1' --b='--value 1.3' --junit ab.xml --json ab.json
    expect_status 2
    [[ ${lines[-1]} == "B is worse than A by more than 5 %: B / A = 1.300 (1.300 to 1.300) of took_s, 8 rounds, "* ]]
    found '.verdict == "worse" and .rounds == 8 and .looked_at == 8 and .ended == "decided" and (.ratio - 1.3 | fabs) < 1e-9
        and .rounds_needed == null and (.a.costs | length) == 8 and .a.options == ["--value", "1"]'
    expect_schema nht1-ab-1 ab.json
    [ "$(sims_of A)" = 8 ]
    [ "$(sims_of B)" = 8 ]
    python3 - <<'END'
import xml.etree.ElementTree as E
root = E.parse('ab.xml').getroot()
case = root.find('testcase')
assert root.get('failures') == '1' and case.find('failure').get('type') == 'worse'
values = {p.get('name'): p.get('value') for p in case.iter('property')}
assert values['ratio'] == '1.3' and values['rounds'] == '8' and values['verdict'] == 'worse', values
END
}

sims_of() {
    find "result/$1" -name result.json | wc -l
}

@test "of a rate more is better, by its name or by --better" {
    sed -i 's/took_s/moved_per_s/' bin/sim
    study ab --program sim --metric moved_per_s --cores 2 --out result --a='--value 1' --b='--value 1.5'
    expect_status 0
    found '.verdict == "better" and .better == "high" and .metric == "moved_per_s"
        and ([.ratio, .ratio_lo, .ratio_hi] | map((. - 1.5 | fabs) < 0.001) | all)'
    expect_text "round 1  A 1.000  B 1.500  B / A 1.500"
    [[ ${lines[-1]} == "B is better than A: B / A = 1.500 (1.500 to 1.500) of moved_per_s"* ]]
    rm -r result
    study ab --program sim --metric moved_per_s --better low --cores 2 --out result --a='--value 1' --b='--value 1.5'
    expect_status 2
    found '.verdict == "worse" and .better == "low"'
    expect_text "round 1  A 1.000  B 1.500  B / A 1.500"
}

@test "the same, what is faster, and what is slower by less than the threshold are no failures" {
    ab --value 1
    expect_status 0
    found '.verdict == "same" and .rounds == 8'
    rm -r result
    ab --a='--value 1' --b='--value 0.5'
    expect_status 0
    found '.verdict == "better"'
    [[ ${lines[-1]} == "B is better than A: "* ]]
    rm -r result
    ab --a='--value 1' --b='--value 1.08' --threshold 10
    expect_status 0
    found '.verdict == "same"'
    rm -r result
    ab --a='--value 1' --b='--value 1.02' --threshold 1
    expect_status 2
}

@test "the same but for some rounds far off is undecided, and what means say stands in the line" {
    ab --value 1 --b='--stall 4' --error 0.3 --rounds-max 12 --junit ab.xml
    expect_status 4
    [[ ${lines[-1]} == "undecided whether B is worse than A by more than 5 %: B / A = 1.000 (1.000 to 1.000) of took_s, 12 rounds, "*"; in 3 of 12 rounds B / A lies more than 1.25 times above its median, in 0 below it (means B / A 1.500)" ]]
    found '.verdict == "undecided" and .ended == "rounds" and .far_worse_n == 3 and .far_better_n == 0 and (.far_p - 0.25 | fabs) < 1e-9 and (.mean_ratio - 1.5 | fabs) < 1e-9'
    grep -q '<skipped' ab.xml
    rm -r result starts
    ab --value 1 --b='--stall 4' --error 0.3 --rounds-max 15
    expect_status 0
    [[ ${lines[-1]} == "B is the same as A within 5 %: "*" of took_s, 11 rounds, "*"; means differ: B / A 1.364" ]]
    found '.verdict == "same" and .far_worse_n == 2 and (.far_p - 0.5 | fabs) < 1e-9'
}

@test "a ratio that three decimals do not show is shown by its digits" {
    slow
    ab --a='--value 20000' --b='--value 0.02'
    [[ ${lines[-1]} == *": B / A = 1e-06 (1e-06 to 1e-06) of "* ]]
    rm -r result
    ab --a='--value 0.01' --b='--value 123456'
    [[ ${lines[-1]} == *": B / A = 1.23e+07 ("* ]]
}

@test "what lies on the threshold stays undecided, and the line says so" {
    slow
    ab --a='--value 1' --b='--value 1.05' --noise 0.01 --order-seed 1 --threshold 4.6 --rounds-max 8 --junit ab.xml
    expect_status 4
    found '.verdict == "undecided" and .ended == "rounds" and .rounds == 8'
    grep -q '<skipped' ab.xml
    expect_text '; 500 rounds, the most that can be judged, would not decide'
    rm -r result
    # Without any interval: measuring ended before the first look that could have one.
    ab --value 1 --minutes 0
    expect_status 4
    found '.ended == "time" and .rounds == 1 and .ratio_lo == null'
    expect_text "no interval yet"
}

@test "the order within the rounds is random, follows from its seed, and both sides take turns" {
    slow
    ab --a='--value 1' --b='--value 1.3' --order-seed 3
    found '(.order | unique) == ["AB", "BA"] and (.order | length) == 8'
    cp result/ab.json first.json
    rm -r result
    ab --a='--value 1' --b='--value 1.3' --order-seed 3
    [ "$(jq -c .order first.json)" = "$(jq -c .order result/ab.json)" ]
    # In each pair of starts there is one of each.
    paste - - <starts | grep -v -e --help -e --version | awk '/value 1 / && /value 1.3/ { n++ } END { exit n != NR }'
}

@test "a drift of the machine is shared by both and decides nothing" {
    slow
    ab --value 1 --noise 0.004 --order-seed 5
    expect_status 0
    found '.verdict == "same" or .verdict == "no worse"'
}

@test "two builds, two folders, two environments" {
    local side
    mkdir -p old new files_a files_b
    for side in old new; do
        sed "s/^value=1 /value=$([ $side = old ] && echo 1 || echo 2) /" bin/sim >$side/sim
        chmod +x $side/sim
    done
    ab --a-bin old --b-bin new --a-files files_a --b-files files_b --b-env NHT1_X=5 --a-env NHT1_X=4
    expect_status 2
    found '(.ratio - 2 | fabs) < 1e-9 and (.a.program | endswith("/old/sim")) and (.b.program | endswith("/new/sim"))
        and .a.environment == {"NHT1_X": "4"} and .b.files == "files_b"'
    jq -e '.environment.NHT1_X == "5" and .ok' result/B/r01/run.json
    expect_schema nht1-study-run-1 result/B/r01/run.json
    [ -z "$(ls files_a files_b | grep -v ':$')" ]
}

@test "a run that fails ends it with 3 and its last words" {
    ab --a='--value 1' --b='--status 2'
    expect_status 3
    expect_text "B, round 1: exit status 2: sim: refused, as asked"
    [ -z "$(find result -name 'nht1-files-*')" ]
}

@test "a first run that does not end has failed after ten times --minutes, a later one after ten times those before it" {
    touch hold.sleep
    ab --sleep 130000 --minutes 200
    expect_status 3
    expect_text ", round 1: timed out after 33 h 20 min; a larger --minutes allows more; its output is in"
    rm -r result starts
    # shellcheck disable=SC2016 # as it stands
    sed -i 's/^trap/[ "$n" -lt 3 ] || pause=1000\n&/' bin/sim
    ab --minutes 200
    expect_status 3
    expect_text ", round 2: timed out after 10 min; its output is in"
}

@test "a run that fails later loses none of the rounds before it" {
    sed -i 's/^awk/[ ! -e "$SIM_FOLDER\/fail.$n" ] || { echo "sim: failed" >\&2; exit 2; }\nawk/' bin/sim
    touch fail.6
    ab --value 1 --junit ab.xml --json ab.json
    expect_status 3
    expect_text "failed; undecided"
    expect_text "round 3: exit status 2: sim: failed"
    found '.ended == "failed" and .rounds == 2 and (.a.costs | length == 2)'
    expect_schema nht1-ab-1 ab.json
    grep -q '<error ' ab.xml
}

@test "a file of its own that fails later loses none of the rounds before it, nor --json and the line" {
    # shellcheck disable=SC2016 # as it stands
    sed -i 's/^awk/[ "$n" != 5 ] || [ ! -d files ] || { rm -r files \&\& mkdir result\/ab.json; }\n&/' bin/sim
    mkdir files
    ab --value 1 --files files --junit ab.xml --json ab.json
    expect_status 3
    expect_text "failed; undecided"
    expect_text "ab: files/nht1-files-"
    expect_json ab.json '.ended == "failed" and .rounds == 2 and (.a.costs | length == 2)'
    expect_schema nht1-ab-1 ab.json
    grep -q '<error ' ab.xml
}

@test "a result that is damaged ends it with 3" {
    local damage
    for damage in '{"took_s": ' '[1]' '{"took_s": 1e999}'; do
        rm -rf result damaged
        mkdir damaged
        { sed '$d' bin/sim && printf "echo '%s' >\"\$json\"\n" "$damage" && sed -n '$p' bin/sim; } >damaged/sim
        chmod +x damaged/sim
        ab --value 1 --b-bin damaged
        expect_status 3
        expect_text "B, round 1: "
    done
}

@test "a value that is not above 0 is told as what it is, and ends it with 3" {
    ab --value 1 --b='--value 0'
    expect_status 3
    expect_text "B, round 1: took_s is 0, and B / A needs values above 0; the result is result/B/r01/result.json"
    [ -e result/B/r01/result.json ]
}

@test "interrupted, it ends its program, says what it knows, removes its files and leaves with 3" {
    slow
    touch hold.3
    "$NHT1_ROOT/runs/study" ab --program sim --metric took_s --cores 2 --out result --value 1 --junit ab.xml >said 2>&1 3>&- &
    wait_until -p $! sims 3
    kill -TERM $!
    status=0
    wait $! || status=$?
    [ "$status" -eq 3 ]
    no_sim
    grep -q '^interrupted; undecided' said
    found '.ended == "interrupted" and .rounds == 1 and .verdict == "undecided"'
    grep -q '<error ' ab.xml
    [ -z "$(find result -name 'nht1-files-*')" ]
}

@test "interrupted between the two runs of a round, it counts neither" {
    touch hold.2
    sed -i 's/{\\"took_s/{\\"stamps\\": [{\\"code\\": \\"too-short\\", \\"severity\\": \\"warn\\", \\"sentence\\": \\"It is.\\"}], \\"took_s/' bin/sim
    "$NHT1_ROOT/runs/study" ab --program sim --metric took_s --cores 2 --out result --value 1 >said 2>&1 3>&- &
    wait_until -p $! sims 2
    kill -TERM $!
    wait $! || true
    found '.rounds == 0 and .a.costs == [] and .a.stamps == {} and .b.stamps == {}'
}

@test "a run that only computes, of the side that measured T_C, brings no stamp into the line; notes of one side alone stand there" {
    { sed '$d' bin/sim | sed '/^awk/d' && cat <<'END' && sed -n '$p' bin/sim; } >bin/nht1-bt
stamps() { printf '"stamps": [{"code": "%s", "severity": "warn", "sentence": "It is."}]' "$1"; }
none=", {\"driver\": \"none\", \"t_t_s\": 1, $(stamps not-verified)}"
[ "$value" = 1 ] || none=
notices='"Note 1.5", "Left 1 s."'
[ "$value" = 1 ] || notices='"Note 2.5", "--direct makes no difference to posix."'
echo "{\"notices\": [$notices], \"runs\": [{\"driver\": \"posix\", \"t_t_s\": $value, $(stamps too-short)}$none]}" >"$json"
END
    chmod +x bin/nht1-bt
    study ab --a='--value 1' --b='--value 2' --cores 2 --out result
    expect_status 2
    found '.a.stamps == {"too-short": 8} and .b.stamps == {"too-short": 8}'
    [[ ${lines[-1]} == *"; A: too-short (8 of 8 runs), B: too-short (8 of 8 runs), A: Left 1 s, B: --direct makes no difference to posix" ]]
}

@test "of several writers those count that both sides have, and one is compared with another one" {
    { sed '$d' bin/sim | sed '/^awk/d' && cat <<'END' && sed -n '$p' bin/sim; } >bin/nht1-bt
runs=
for pair in $WRITERS; do
    runs+="${runs:+, }{\"driver\": \"${pair%=*}\", \"t_t_s\": ${pair#*=}}"
done
echo "{\"runs\": [$runs]}" >"$json"
END
    chmod +x bin/nht1-bt
    study ab --a-env WRITERS="posix=5 mpiio=5 hdf5=10 token=9" --b-env WRITERS="posix=5 mpiio=5 uring=1" --cores 2 --out result
    expect_status 0
    [[ ${lines[-1]} == "B is the same as A within 5 %: B / A = 1.000 "*"; left out: hdf5, token of A alone, left out: uring of B alone" ]]
    rm -r result
    study ab --a-env WRITERS=posix=5 --b-env WRITERS="none=1 mpiio=10" --cores 2 --out result
    expect_status 2
    found '(.ratio - 2 | fabs) < 1e-9'
    rm -r result
    study ab --a-env WRITERS=posix=5 --b-env WRITERS="hdf5=1 mpiio=10" --cores 2 --out result
    expect_status 1
    expect_text "A measures posix, B hdf5, mpiio: they have nothing in common"
    rm -r result
    # One that is lost later on is no other mean.
    sed -i 's/^runs=$/[ "$n" -lt 3 ] || WRITERS=posix=5\nruns=/' bin/nht1-bt
    rm -f starts
    study ab --a-env WRITERS="posix=5 mpiio=9" --b-env WRITERS="posix=5 mpiio=9" --cores 2 --out result
    expect_status 3
    expect_text "round 2: nothing of mpiio, which was there before"
}

@test "readings that did not find the dump where it was asked for are counted in the line" {
    { sed '$d' bin/sim | sed '/^awk/d' && cat <<'END' && sed -n '$p' bin/sim; } >bin/nht1-bt
stamp='{"code": "read-cached", "severity": "warn", "sentence": "It is."}'
[ "$value" = 1 ] || stamp=
echo "{\"runs\": [{\"driver\": \"posix\", \"t_t_s\": 1, \"read\": [{\"t_r_s\": $value, \"stamps\": [$stamp]}]}]}" >"$json"
END
    chmod +x bin/nht1-bt
    study ab --metric 'runs[].read[].t_r_s' --a='--value 1' --b='--value 2' --cores 2 --out result
    expect_status 2
    [[ ${lines[-1]} == *"; A: read-cached (8 of 8 runs)" ]]
    # Not of a writer that does not count.
    rm -r result
    sed -i 's/^echo .*runs.*$/more=\n[ "$value" != 2 ] || more=", {\\"driver\\": \\"mpiio\\", \\"t_t_s\\": 1, \\"read\\": [{\\"t_r_s\\": 1, \\"stamps\\": [{\\"code\\": \\"read-cached\\", \\"severity\\": \\"warn\\", \\"sentence\\": \\"It is.\\"}]}]}"\n&/; s/}]}]}" >"$json"$/}]}$more]}" >"$json"/' bin/nht1-bt
    study ab --metric 'runs[].read[].t_r_s' --a='--value 1' --b='--value 2' --cores 2 --out result
    expect_status 2
    [[ ${lines[-1]} == *"; A: read-cached (8 of 8 runs), left out: mpiio of B alone" ]]
}

@test "killed, its files go with the next one among the same files" {
    slow
    mkdir files
    touch hold.3
    "$NHT1_ROOT/runs/study" ab --program sim --metric took_s --cores 2 --out result --files files --value 1 >said 2>&1 3>&- &
    wait_until -p $! sims 3
    kill -9 $!
    wait $! || true
    wait_until no_sim
    [ -n "$(ls files)" ]
    rm -r hold.3 result
    ab --files files --value 1 --b='--value 2'
    expect_status 2
    [ -z "$(ls files)" ]
}

@test "killed, its files beside the result go with the next one there" {
    slow
    touch hold.3
    local ab=("$NHT1_ROOT/runs/study" ab --program sim --metric took_s --cores 2 --value 1)
    "${ab[@]}" >said 2>&1 3>&- &
    wait_until -p $! sims 3
    kill -9 $!
    wait $! || true
    wait_until no_sim
    [ -n "$(find nht1-studies/ab -name 'nht1-files-*')" ]
    rm hold.3
    run "${ab[@]}" --b='--value 2'
    expect_status 2
    [ -e nht1-studies/ab-2/ab.json ]
    [ -z "$(find nht1-studies -name 'nht1-files-*')" ]
}

@test "wrong words are refused before anything is run" {
    local words
    mkdir full
    touch full/mine
    while IFS='|' read -r words said; do
        eval "study ab --program sim --metric took_s --cores 2 --out result $words"
        expect_status 1
        expect_text "$said"
        [ ! -e result ]
    done <<'END'
--nosuch|'--nosuch' is an option neither of
--value|--value needs a value
--flag=7|--flag takes no value
--b=--nosuch|--b: '--nosuch' is an option
5|'5' is no option
--b="'"|No closing quotation
--json-x 1|'--json-x' is an option neither
--a-env NAME|'NAME' is not NAME=VALUE
--a-bin nowhere|nowhere/sim is not there
--files nowhere|no such folder for the files
--threshold x|--threshold
--rounds-max 5|--rounds-max
--minutes 1e308|--minutes: 1e308: a number from 0 to 100000 is expected
--ranks 99999999999|--ranks: 99999999999: a number from 1 to 1048576 is expected
--threads 99999999999|--threads: 99999999999: a number from 1 to 4096 is expected
END
    study ab --program sim --metric took_s --cores 2 --out full
    expect_status 1
    expect_text "is not written over"
    study ab --program sim --cores 2 --out result
    expect_status 1
    expect_text "--metric: name the member"
    study ab --program sim --metric nothing --cores 2 --out result
    expect_status 1
    expect_text "has no nothing; there are took_s"
    [ ! -e result ]
    # What no result has, by the schema of the program, is refused before anything is run.
    cp bin/sim bin/nht1-bt
    study ab --metric 'runs[].t_s' --cores 2 --out result
    expect_status 1
    expect_text "--metric: no result of nht1-bt has runs[].t_s (did you mean runs[].t_t_s?)"
    [ ! -e result ]
    # What the program alone knows to be wrong; a folder that was there stays.
    mkdir result
    ab --a='--status 1' --order-seed 1
    expect_status 1
    expect_text "A: sim: refused, as asked"
    [ -z "$(ls result)" ]
    # A run that is complete stays.
    ab --b='--status 1' --order-seed 1
    expect_status 1
    expect_text "B: sim: refused, as asked"
    [ -e result/A/r01/result.json ]
    rm -r result
    # Status 1 of what does not say so itself, such as a launcher or an interpreter, is a run that has failed.
    mkdir other
    sed 's/echo "sim: refused, as asked"/echo "KeyError: x"/' bin/sim >other/sim
    chmod +x other/sim
    ab --a='--status 1' --a-bin other --order-seed 1
    expect_status 3
    expect_text "exit status 1: KeyError: x; its output is in"
    [ -n "$(find result -name stderr)" ]
    rm -r result
    study ab --help=3
    expect_status 1
    expect_text "--help takes no value"
    study ab --help
    expect_status 0
    expect_text "examples:"
}

@test "a result that has no place is refused before the work, not after it" {
    slow
    local option
    mkdir closed
    chmod 555 closed
    for option in --json --junit; do
        run "${obedient[@]}" "$NHT1_ROOT/runs/study" ab --program sim --metric took_s --out result "$option" nowhere/x
        expect_status 3
        expect_text "nowhere/x: cannot write: No such file or directory"
        run "${obedient[@]}" "$NHT1_ROOT/runs/study" ab --program sim --metric took_s --out result "$option" closed/x
        expect_status 3
        expect_text "closed/x: cannot write: Permission denied"
    done
    [ ! -e result ]
    [ ! -e starts ]
}
