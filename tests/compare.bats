#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-report compare: what is better, worse, the same, and what cannot be compared.
load helpers
load report_lib

# What this machine does to so small a run is not what is tested.
unstamped() {
    local file
    for file in "$@"; do change "$file" 'walk(if type == "object" and has("stamps") then .stamps = [] else . end)'; done
}

# Members of a result that was made on a quiet machine.
quiet='"stamps": [], "disturbance": {"disturbed": false, "processors_shared": false},'

# A and B with 6 runs of every writer and a spread of 1 %; B slower by the factor.
pair() {
    results r2
    unstamped r2.json
    cp r2.json a.json
    mv r2.json b.json
    times a.json 1 0.01
    times b.json "$1" 0.012
}

@test "a result, or a copy, compared with itself says nothing; where that is asked for, it is the same" {
    pair 1
    cp a.json copy.json
    run nht1-report compare a.json copy.json
    expect_status 1
    expect_text "A and B have 1 result in common (a.json in A, copy.json in B): a copy is no further measurement; --nevertheless"
    run nht1-report compare a.json a.json --nevertheless --json c.json
    expect_status 0
    expect_text "Note: A and B have 1 result in common"
    expect_schema nht1-compare-1 c.json
    jq -e '.verdict == "same" and .comparable and (.metrics | length) == 5
        and ([.metrics[].ratio] | all(. == 1))' c.json
}

@test "10 percent are found, in either direction, unless the threshold allows them" {
    pair 1.1
    run nht1-report compare a.json b.json --json c.json --html c.html
    expect_status 2
    expect_text "B is worse than A"
    expect_schema nht1-compare-1 c.json
    jq -e '.verdict == "worse" and ([.metrics[] | select(.unit == "s") | .ratio]
        | length > 0 and all(. > 1.08 and . < 1.12))' c.json
    expect_file_text c.html "B is worse than A"
    run nht1-report compare b.json a.json --json c.json
    expect_status 0
    jq -e '.verdict == "better"' c.json
    run nht1-report compare a.json b.json --threshold 20
    expect_status 0
    run nht1-report compare a.json b.json --quiet
    expect_status 2
    [ -z "$output" ]
}

@test "what the medians alone call the same is unclear when its interval is wide" {
    pair 1
    times b.json 1.01 0.5
    run nht1-report compare a.json b.json --json c.json
    expect_status 0
    jq -e '.verdict == "unclear" and ([.metrics[] | select(.unit == "s" and (.a | length) > 0)]
        | length > 0 and all(.verdict == "unclear"))' c.json
    run nht1-report compare a.json b.json --fail-on unclear
    expect_status 4
    times b.json 1.1 0.01
    run nht1-report compare a.json b.json --fail-on unclear
    expect_status 2
    run nht1-report compare a.json a.json --fail-on unclear --nevertheless
    expect_status 0
}

# The first row is an average: an outlier moves the mean of a writer's times, and not their median.
@test "B / A is that of the A and B beside it, in every row, and lies in its interval" {
    local i
    pair 1.05
    for i in 1 2 3 4 5; do
        # shellcheck disable=SC2016 # variables of jq
        for side in a b; do
            change $side.json '.runs |= (to_entries | map(.value + {t_t_s: (.value.t_t_s *
                (1 + ((.key * 7919 + $i * 104729 + $side) % 101) / (if (.key + $i) % 5 == 0 then 20 else 500 end)))}))' \
                --argjson i "$i" --argjson side "$([ $side = a ] && echo 0 || echo 37)"
        done
        run nht1-report compare a.json b.json --json c.json
        expect_schema nht1-compare-1 c.json
        jq -e '[.metrics[].primary] == [true, false, false, false, false]
            and ([.metrics[] | (.ratio - .b_median / .a_median) | fabs < 1e-12] | all)
            and ([.metrics[] | .ratio_lo == null or (.ratio_lo <= .ratio and .ratio <= .ratio_hi)] | all)' c.json
        # As printed: "38.1 ms  39.7 ms  1.042"; three digits each, so 0.5 % at most.
        awk '/^metric/ { on = 1; next } !NF { on = 0 }
            on && match($0, /[0-9.]+ [a-zA-Z\/]+ +[0-9.]+ [a-zA-Z\/]+ +[0-9.]+ +([0-9.]+ )?- /) {
                split(substr($0, RSTART, RLENGTH), w, / +/)
                if (w[2] != w[4]) { print "other units: " $0; bad = 1 }
                off = w[5] / (w[3] / w[1]) - 1
                if (off > 0.011 || off < -0.011) { print "not its ratio: " $0; bad = 1 }
                rows++ }
            END { exit bad || rows != 5 }' <<<"$output"
    done
}

# junit XPATH-LIKE: how many elements of a kind.
elements() {
    python3 -c 'import sys, xml.etree.ElementTree as E
print(len(E.parse(sys.argv[1]).getroot().findall(".//" + sys.argv[2])))' "$1" "$2"
}

@test "JUnit XML: worse fails, unclear is skipped or fails as asked for" {
    pair 1.1
    run nht1-report compare a.json b.json --junit c.xml
    expect_status 2
    [ "$(elements c.xml testcase)" = 5 ]
    [ "$(elements c.xml failure)" = 1 ]
    run nht1-report compare a.json b.json --junit c.xml --fail-on any
    expect_status 2
    [ "$(elements c.xml failure)" = 5 ]
    times b.json 1.01 0.5
    run nht1-report compare a.json b.json --junit c.xml
    expect_status 0
    [ "$(elements c.xml failure)" = 0 ]
    [ "$(elements c.xml skipped)" = 5 ]
    run nht1-report compare a.json b.json --junit c.xml --fail-on unclear
    expect_status 4
    [ "$(elements c.xml failure)" = 1 ]
    change b.json '.problem.n = 64'
    run nht1-report compare a.json b.json --junit c.xml
    expect_status 1
    [ "$(elements c.xml error)" = 1 ]
    echo mine >mine.xml
    run nht1-report compare a.json b.json --junit mine.xml
    expect_status 1
    [ "$(cat mine.xml)" = mine ]
}

@test "T_R is compared in every way in which both sides have read" {
    slow
    pair 1
    read_back a.json
    cp a.json b.json
    change b.json '.runs[].read[0].t_r_s *= 1.3'
    run nht1-report compare a.json b.json --json c.json
    expect_status 0
    expect_text "Beside it, worse: T_R of mpiio, cold, 2 processors (1.300); T_R of posix, cold, 2 processors (1.300)"
    run nht1-report compare a.json b.json --metric "T_R of posix, cold, 2"
    expect_status 2
    run nht1-report compare a.json b.json --metric nothing
    expect_status 1
    expect_text "begins with 'nothing'"
    run nht1-report compare a.json b.json --json c.json --fail-on any
    expect_status 2
    expect_schema nht1-compare-1 c.json
    jq -e '[.metrics[] | select(.name | startswith("T_R of posix")) | [.name, .unit, .verdict]] == [
        ["T_R of posix, cold, 2 processors", "s", "worse"], ["T_R of posix, warm, 2 processors", "s", "same"],
        ["T_R of posix, cold, as 1x1x2, 2 processors", "s", "same"]]
        and ([.metrics[] | select(.name | startswith("T_R of posix, cold, 2")) | .ratio > 1.29 and .ratio < 1.31] | all)
        and .metrics[0].name == "T_T, geometric mean over the 2 below"' c.json
    # What is found in memory now and then is no repetition of what comes from the device.
    jq '(first(.runs[] | select(.driver == "posix")).read[0]) |= (.t_r_s /= 100 | .stamps = [{code: "read-cached", severity: "warn",
        sentence: "In memory."}])' a.json >some.json
    run nht1-report compare some.json a.json --json c.json
    expect_status 0
    expect_text "T_R of posix, cold, 2 processors, A: 1 reading left out: in memory"
    jq -e '[.metrics[] | select(.name == "T_R of posix, cold, 2 processors") | .ratio > 0.9 and .ratio < 1.1] == [true]' c.json
    # What one side found in memory, or did not read in that way, is not compared; what was wrong does not count.
    change b.json '.runs |= map(if .driver == "posix" then .read[0].stamps = [{code: "read-cached", severity: "warn",
        sentence: "In memory."}] | del(.read[1]) | .read[1].digest_ok = false else .read[0].t_r_s /= 1.3 end)'
    run nht1-report compare a.json b.json --json c.json
    expect_status 0
    jq -e '([.metrics[].name | select(startswith("T_R of posix"))] == [])
        and ([.metrics[] | select(.name | startswith("T_R of mpiio")) | .verdict] == ["same", "same", "same"])
        and ([.notes[] | select(test("^T_R of posix, cold, 2 processors is not compared.*in all readings of B"))] | length == 1)
        and ([.notes[] | select(test("^T_R of posix, .*nothing like it in B"))] | length == 2)' c.json
    change b.json '.runs[].read[].digest_ok = false'
    run nht1-report compare a.json b.json
    expect_status 0
    grep -q "T_R of posix, 2 processors: [0-9]* readings in B found wrong data, left out" <<<"$output"
    if grep -q "read back in A only" <<<"$output"; then false; fi
    change b.json 'del(.runs[].read)'
    run nht1-report compare a.json b.json
    expect_status 0
    expect_text "T_R of posix, 2 processors: read back in A only"
    if grep -q "^T_R" <<<"$output"; then false; fi
}

@test "a value that is no measurement is named, or unknown where it is as good as 0" {
    pair 1
    read_back a.json
    cp a.json b.json
    change b.json '(.runs[] | select(.driver == "posix") | .read[0].t_r_s) = 1e308'
    run nht1-report compare a.json b.json --json c.json
    expect_status 1
    grep -q 'b.json: runs\[[0-9]*\].read\[0\].t_r_s: 1.*e+308 is no number that can have been measured' <<<"$output"
    cp a.json b.json
    change b.json '(.runs[] | select(.driver == "posix") | .read[0].t_r_s) = 1e-308'
    run nht1-report compare a.json b.json --json c.json
    expect_status 0
    jq -e '([.notes[] | select(test("^T_R of posix, cold, 2 processors: nothing like it in B"))] | length == 1)
        and ([.metrics[] | select(.name | startswith("T_R of mpiio"))] | length == 3)' c.json
    # Both values are plausible, their ratio is not.
    jq -n '{schema: "nht1-profile/1", stamps: [], profile: {ranks_n: 2, state: "finished", wall_s: 9, read_bytes: 0, written_bytes: 1},
        zeta: {rounds: [range(6) | {t_t_s: 1e60, t_c_s: 1e-60,
        disturbance: {disturbed: false, processors_shared: false}}]}}' >p.json
    jq '.job_id = "again"' p.json >q.json
    run nht1-report compare p.json q.json --json c.json
    expect_status 0
    jq -e '.notes == ["1 + zeta of the program is not compared: a value is no measurement"]' c.json
}

@test "a difference that may be chance is called unclear" {
    pair 1
    times b.json 1.07 0.9
    run nht1-report compare a.json b.json --json c.json
    expect_status 0
    expect_text "unclear"
    jq -e '[.metrics[].verdict] | index("unclear") != null and index("worse") == null' c.json
    jq -e '.verdict == "unclear"' c.json
    expect_schema nht1-compare-1 c.json
    expect_text "Inconclusive"
}

# not_comparable FILTER TEXT: B changed by the filter is not to be compared with A.
not_comparable() {
    cp a.json b.json
    change b.json "$1"
    rm -f c.json
    run nht1-report compare a.json b.json --json c.json
    expect_status 1
    expect_text "$2"
    expect_schema nht1-compare-1 c.json
    jq -e '.comparable == false and .verdict == "not comparable"' c.json
}

@test "what is not comparable is refused with the reason" {
    pair 1
    not_comparable '.problem.n = 64' "N: 12 in A, 64 in B"
    not_comparable '.problem.steps = 200' "steps: 60 in A, 200 in B"
    not_comparable '.problem.interval = 5 | .problem.dumps_n = 12' "write interval: 10 in A, 5 in B"
    not_comparable '.problem.dt = 0.5' "dt: 0.01 in A, 0.5 in B"
    not_comparable '.problem.layout = "ijkm"' "layout: mijk in A, ijkm in B"
    not_comparable '.options.sync = "none"' "durability (--sync): end in A, none in B"
    not_comparable '.runs[].cache.page_cache = true' "measured the page cache in B only"
    not_comparable '.runs[].driver |= "new-" + .' "no writer in common"
    not_comparable '.runs[].completed = false' "B has no run that came to its end"
    not_comparable '.runs |= .[:2]' "at least 4 values"
    echo '{"schema": "nht1-beff/1", "result": {"b_eff_bytes_per_s": 1}}' >b.json
    run nht1-report compare a.json b.json
    expect_status 1
    expect_text "A holds results of nht1-bt, B of nht1-beff"
}

@test "another system is compared, and that is noted" {
    slow
    pair 1
    change b.json '.system.cpu.model = "Other" | .system.host = "elsewhere" | .runs[].file.file_system = "nfs4"'
    run nht1-report compare a.json b.json
    expect_status 0
    expect_text "Note: host differs"
    expect_text "Other in B"
    expect_text "nfs4 at /"
    change a.json '.system.cpu.model = "Some CPU"'
    change b.json '.system.cpu.model = "Some  CPU  "'
    run nht1-report compare a.json b.json
    [[ $output != *"processor differs"* ]]
}

@test "folders are compared as the results in them; a copy of one is no further measurement" {
    pair 1
    mkdir a b
    jq '.job_id = "again"' a.json >a/again.json
    mv a.json a
    cp a/a.json a/copy.json
    ln -s a.json a/latest.json
    mv b.json b
    run nht1-report compare a b --json c.json
    expect_status 0
    jq -e '.metrics[1].a | length == 12' c.json
    expect_text "Note: A: 2 files left out, with the content of another one: a/copy.json, a/latest.json"
}

@test "results with one value each are compared by definition and size" {
    slow
    local i value
    for i in 1 2 3 4 5; do
        value=$((1000 + 7 * i % 5))
        echo "{\"schema\": \"nht1-beff/1\", $quiet \"definition\": \"paper\", \"system\": {\"ranks\": 2},
            \"result\": {\"b_eff_bytes_per_s\": $value, \"valid\": true}}" >a$i.json
    done
    mkdir a b
    mv a?.json a
    cp a/* b
    for i in b/*; do change "$i" '.result.b_eff_bytes_per_s *= 0.8'; done
    run nht1-report compare a b
    expect_status 2
    run nht1-report compare b a
    expect_status 0
    for i in b/*; do change "$i" '.definition = "3.6"'; done
    run nht1-report compare a b
    expect_status 1
    expect_text 'definition is "paper"'
}

@test "buffers that begin elsewhere: refused, unless they are what is studied" {
    slow
    local i
    mkdir a b
    for i in 1 2 3 4 5; do
        echo "{\"schema\": \"nht1-beff/1\", $quiet \"definition\": \"paper\", \"system\": {\"ranks\": 2}, \"buffer_offset_bytes\": [0, 0],
            \"result\": {\"b_eff_bytes_per_s\": $((1000 + 7 * i % 5)), \"valid\": true}}" >a/$i.json
        jq '.job_id = "again"' a/$i.json >b/$i.json
    done
    run nht1-report compare a b
    expect_status 0
    for i in b/*; do change "$i" '.buffer_offset_bytes = [16, 16]'; done
    run nht1-report compare a b
    expect_status 1
    expect_text "buffers: buffer_offset_bytes is [0, 0] in a/1.json, [16, 16] in b/1.json; --nevertheless compares it"
    run nht1-report compare a b --nevertheless
    expect_status 0
    expect_text "Note: buffers: buffer_offset_bytes is [0, 0]"
    rm a/* b/*
    for i in 1 2 3 4 5; do
        echo "{\"schema\": \"nht1-beffio/1\", $quiet \"b_eff_io\": {\"definition\": \"2.1\", \"procs\": 2, \"valid\": true,
            \"bytes_per_s\": $((1000 + 7 * i % 5)), \"buffer_offset_bytes\": [0, 0]}, \"partitions\": [
            {\"procs\": 2, \"buffer_offset_bytes\": [0, 0], \"values\": [{\"headline\": true, \"bytes_per_s\": 1000}]}]}" >a/$i.json
    done
    cp a/* b
    for i in b/*; do change "$i" '.b_eff_io.buffer_offset_bytes = [16, 16] | .partitions[].buffer_offset_bytes = [16, 16]'; done
    run nht1-report compare a b
    expect_status 1
    expect_text "buffers: b_eff_io.buffer_offset_bytes is [0, 0]"
    # a summary of the released program does not say it, one of ours does
    cp "$NHT1_ROOT/tests/samples/b_eff_io-2.1.sum" old.sum
    sed '$a\  2 PEs: buffers 0 to 0 bytes off a page' old.sum >a.sum
    sed '$a\  2 PEs: buffers 16 to 16 bytes off a page' old.sum >b.sum
    run nht1-report compare old.sum b
    expect_no_text "off a page"
    run nht1-report compare a.sum b
    expect_text "buffers of b_eff_io begin 0 to 0 bytes off a page in A, 16 to 16 in B"
    run nht1-report compare a.sum b.sum
    expect_text "buffers of b_eff_io begin 0 to 0 bytes off a page in A, 16 to 16 in B"
    { cat "$NHT1_ROOT/tests/samples/b_eff-3.6.sum" && echo "Buffers    0 to 0 bytes off a page"; } >a.sum
    sed 's/    0 to 0 bytes/    16 to 16 bytes/' a.sum >b.sum
    run nht1-report compare a.sum b.sum
    expect_text "buffers of b_eff begin 0 to 0 bytes off a page in A, 16 to 16 in B"
}

@test "values of b_eff_io are not compared where one side alone counts making and removing files" {
    slow
    local side i
    mkdir a b
    for side in a:true b:false; do
        for i in 1 2 3 4 5; do
            echo "{\"schema\": \"nht1-beffio/1\", $quiet \"b_eff_io\": {\"definition\": \"2.1\", \"procs\": 2, \"valid\": true,
                \"files_counted\": ${side#*:}, \"bytes_per_s\": $((1000 + 7 * i % 5))}, \"partitions\": [
                {\"procs\": 2, \"values\": [{\"headline\": true, \"bytes_per_s\": 1000}]}]}" >"${side%:*}/$i.json"
        done
    done
    run nht1-report compare a b
    expect_status 1
    expect_text "b_eff_io.files_counted is true in a/1.json, false in b/1.json"
    # the released program counts it and does not say so; a summary of ours says it
    cp "$NHT1_ROOT/tests/samples/b_eff_io-2.1.sum" old.sum
    { sed 's/^b_eff_io.c, .*/nht1-beffio 0.1.0, definition 2.1/' old.sum && echo "  creation and removal of files are not counted"; } >new.sum
    for i in old.sum a; do
        run nht1-report compare new.sum $i
        expect_status 1
        expect_text "b_eff_io: making and removing files is not counted in A, counted in B"
    done
    run nht1-report compare new.sum b
    expect_no_text "making and removing files"
}

# workloads DESCRIPTION: folders a and b with 6 results each of a description, bandwidths 1, 2 ... GB/s
# by pattern or point, with a spread of 1 %.
workloads() {
    local i
    mpi_run 2 nht1-workload "$@" --quiet --json w.json || [ $? -eq 4 ]
    unstamped w.json
    rm -rf a b
    mkdir a b
    for i in 1 2 3 4 5 6; do
        jq --argjson i "$i" 'def rates: [to_entries[] | .key as $k | .value
            | .bytes_per_s = 1e9 * ($k + 1) * (1 + 0.01 * (($i * 5) % 11 / 5 - 1))];
            .phases |= rates | .points |= rates' w.json >a/$i.json
        jq '.job_id = "again"' a/$i.json >b/$i.json
    done
}

@test "workloads are compared by pattern" {
    slow
    local f
    echo 'Data 64k <Pattern segmented> Record 4Ki,8Ki Temporal write,re-write </Pattern>' >j.conf
    workloads j.conf
    run nht1-report compare a b --json c.json
    expect_status 0
    expect_schema nht1-compare-1 c.json
    jq -e '.verdict == "same" and [.metrics[].name] == ["bandwidth, geometric mean over the 4 below",
        "Segmented (write), 2 processes, record 4 KiB", "Segmented (re-write), 2 processes, record 4 KiB",
        "Segmented (write), 2 processes, record 8 KiB", "Segmented (re-write), 2 processes, record 8 KiB"]' c.json
    for f in b/*; do change "$f" '.phases[3].bytes_per_s *= 0.8'; done # 0.8^(1/4) is 0.946: 5 % are not shown
    run nht1-report compare a b --json c.json
    expect_status 0
    expect_text "B is worse than A, but whether by more than 5 % is not shown"
    for f in b/*; do change "$f" '.phases[3].bytes_per_s *= 0.8'; done
    run nht1-report compare a b --json c.json --html c.html
    expect_status 2
    jq -e '[.metrics[1:][].verdict] == ["same", "same", "same", "worse"] and .metrics[4].unit == "bytes/s"
        and .metrics[4].ratio > 0.63 and .metrics[4].ratio < 0.65' c.json
    run nht1-report compare b a --json c.json
    expect_status 0
    jq -e '.verdict == "better"' c.json
    # What was wrong counts for nothing; what one side found in memory is not compared.
    for f in b/*; do change "$f" '.phases[3].wrong_n = 1 | .phases[2].stamps |=
        if any(.code == "page-cache") then map(select(.code != "page-cache"))
        else . + [{"code": "page-cache", "sentence": "In memory."}] end'; done
    run nht1-report compare a b --nevertheless --json c.json
    expect_status 0
    jq -e '(.metrics | length == 3) and ([.notes[] | select(test("memory in [AB] only"))] | length == 1)
        and ([.notes[] | select(startswith("6 measurements of A"))] | length == 1)' c.json
}

@test "workloads that are not the same are not compared" {
    slow
    local f
    echo 'Data 64k <Pattern segmented> Record 4k Temporal write </Pattern>' >j.conf
    workloads j.conf
    for f in b/*; do change "$f" '.options.depth = 9 | .options.hint = ["cb_nodes=1"]'; done
    run nht1-report compare a b
    expect_status 0
    expect_text "hint cb_nodes=1"
    for f in b/*; do change "$f" '.options.sync = "none"'; done
    run nht1-report compare a b --json c.json
    expect_status 1
    jq -e '.reasons | index("durability (--sync): end in A, none in B") != null' c.json
    for f in b/*; do change "$f" '.system.ranks = 4'; done
    run nht1-report compare a b --json c.json
    expect_status 1
    jq -e '.reasons | index("processes: 2 in A, 4 in B") != null' c.json
}

@test "workloads are compared by working point, with the number that differs" {
    slow
    local f
    nht1-workload --make p.xml processNum=2 uniqueBytes=32000 readFrac=0 seqFrac=1 syncFrac=1
    sed -i '/<workingPoint/ { p; s/seqFrac="1"/seqFrac="0"/ }' p.xml
    workloads p.xml
    for f in b/*; do change "$f" '.points[1].bytes_per_s *= 1.3'; done
    run nht1-report compare a b --json c.json
    expect_status 0
    jq -e '.verdict == "better" and [.metrics[1:][] | [.name, .verdict]] ==
        [["point 1, write, 2 processes, seqFrac 1", "same"],
         ["point 2, write_at, 2 processes, seqFrac 0", "better"]]' c.json
    # Another number is another point.
    for f in b/*; do change "$f" '.points[].asked.sizeMean = 4000'; done
    run nht1-report compare a b --json c.json
    expect_status 1
    jq -e '.reasons | index("sizeMean: 8000 in A, 4000 in B") != null' c.json
}

@test "profiled programs are compared by T_T and 1 + zeta" {
    slow
    jq -n '{schema: "nht1-profile/1", stamps: [], profile: {ranks_n: 2, state: "finished", wall_s: 9, read_bytes: 0,
        written_bytes: 100}, zeta: {rounds: [range(6) | {t_t_s: (1 + . * 5 % 7 * 0.001), t_c_s: 1,
        disturbance: {disturbed: false, processors_shared: false}}]}}' >a.json
    jq '.zeta.rounds[].t_t_s *= 1.5' a.json >b.json
    run nht1-report compare a.json b.json --json c.json
    expect_status 2
    expect_schema nht1-compare-1 c.json
    jq -e '[.metrics[] | [.name, .unit, .verdict]] == [["1 + zeta of the program", "1", "worse"],
        ["T_T of the program", "s", "worse"]] and .metrics[0].b_median > 1.5' c.json
    change b.json '.profile.written_bytes = 90'
    run nht1-report compare a.json b.json
    expect_status 1
    expect_text "profile.written_bytes"
    # Without evidence of a pair, or of a profile without pairs, nobody knows what else went on.
    change b.json '.profile.written_bytes = 100 | .zeta.rounds[3].disturbance = null'
    run nht1-report compare a.json b.json
    expect_status 1
    expect_text "B does not tell whether something else used the machine"
    jq '.zeta = null' a.json >c.json
    run nht1-report compare a.json c.json
    expect_text "B does not tell whether something else used the machine"
}

@test "wrong words on the command line" {
    pair 1
    run nht1-report compare a.json
    expect_status 1
    expect_text "two results are compared"
    run nht1-report compare a.json b.json b.json
    expect_status 1
    run nht1-report compare a.json missing.json
    expect_status 3
    run nht1-report compare a.json b.json --json a.json
    expect_status 1
    expect_text "--json: a.json"
    run nht1-report compare a.json b.json --threshold -1
    expect_status 1
}

# stamped FILE CODE WRITER: a writer and its runs have this stamp.
stamped() {
    change "$1" '((.runs, .ranking)[] | select(.driver == $writer)).stamps = [{code: $code, severity: "warn", numbers: {}, sentence: "It is."}]' \
        --arg code "$2" --arg writer "$3"
}

@test "what is stamped as spoiled is not judged, unless asked for, and what is not compared does not count" {
    local code
    pair 1.3
    for code in disturbed page-cache ${NHT1_FULL:+too-short not-verified oversubscribed}; do
        cp b.json spoiled.json
        stamped spoiled.json $code posix
        run nht1-report compare a.json spoiled.json --json c.json --junit c.xml
        expect_status 1
        expect_text "B is stamped $code ("
        expect_schema nht1-compare-1 c.json
        jq -e --arg c $code '.verdict == "not comparable" and .stamps == {a: {}, b: {($c): 1}}
            and ([.metrics[].verdict] | length == 5 and all(. == "not comparable"))' c.json
        [ "$(elements c.xml error)" = 1 ]
        run nht1-report compare a.json spoiled.json --nevertheless
        expect_status 2
        expect_text "Note: B is stamped $code ("
    done
    stamped b.json balanced posix
    run nht1-report compare a.json b.json
    expect_status 2
    # In fewer than half of the rounds: there is an answer.
    stamped b.json disturbed posix
    change b.json '(.ranking[] | select(.driver == "posix")).stamps[].severity = "note"'
    run nht1-report compare a.json b.json
    expect_status 2
    # Without evidence there is nothing to be believed.
    cp b.json bare.json
    change bare.json 'del(.runs[].disturbance)'
    run nht1-report compare a.json bare.json
    expect_status 1
    expect_text "B does not tell whether something else used the machine (1 result); --nevertheless compares it"
    run nht1-report compare a.json bare.json --nevertheless
    expect_status 2
    expect_text "Note: B does not tell whether something else used the machine"
    # Of a writer that A has not.
    change a.json '.runs |= map(select(.driver == "posix"))'
    stamped b.json disturbed mpiio
    run nht1-report compare a.json b.json --json c.json
    expect_status 2
    jq -e '.stamps == {a: {}, b: {}}' c.json
}

@test "with compute-only runs in every round the paired zeta decides, whatever the machine did to both" {
    pair 1
    # Every round of B was slowed by half, computing and writing alike; writing costs 10 % of that.
    for f in a b; do
        change $f.json '.runs |= (to_entries | map(.key as $k | .value | .round = ($k % 6 + 1) | .t_t_s = 1.1 * $slow * (1 + 0.002 * [0, 3, 1, 4, 2, 0][$k % 6]))
            | . + [range(6) as $i | .[0] | .driver = "none" | .round = $i + 1 | .t_t_s = $slow | del(.file)])' \
            --argjson slow "$([ $f = a ] && echo 1 || echo 1.5)"
    done
    run nht1-report compare a.json b.json --json c.json
    expect_status 0
    expect_schema nht1-compare-1 c.json
    jq -e '.verdict == "same" and (.metrics[0] | .primary and .unit == "1" and .name == "T_T / T_C, geometric mean over the 2 below")
        and ([.metrics[] | select(.name | startswith("T_T of")) | .verdict] == ["worse", "worse"])' c.json
    expect_text "Beside it, worse: "
    run nht1-report compare a.json b.json --metric "T_T of"
    expect_status 2
}

@test "few or wide values: how many rounds would tell; JUnit cases carry their values" {
    slow
    pair 1
    times b.json 1.01 0.5
    run nht1-report compare a.json b.json --json c.json --junit c.xml
    expect_status 0
    jq -e '.rounds_needed > 6 and .metrics[0].rounds_needed == .rounds_needed' c.json
    grep -q "about [0-9.]* runs on each side would probably tell" <<<"$output"
    python3 - <<'END'
import xml.etree.ElementTree as E
case = E.parse('c.xml').getroot().find('testcase')
values = {p.get('name'): p.get('value') for p in case.iter('property')}
assert {'a', 'b', 'ratio', 'ratio_lo', 'ratio_hi', 'p_corrected', 'verdict'} <= set(values) and values['primary'] == '1', values
END
}
