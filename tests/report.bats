#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-report: the report with its figures and tables, and what is given to it by mistake.
load helpers
load report_lib

@test "help teaches, with examples, for every command" {
    local command
    for command in "" compare stats; do
        run nht1-report $command --help
        expect_status 0
        expect_text "nht1-report"
        [[ $output == *"  nht1-report "* ]]
    done
    run nht1-report --version
    expect_status 0
    [[ $output =~ ^nht1-report\ [0-9] ]]
    run nht1-report
    expect_status 1
    expect_text "which results?"
}

@test "one page with everything in it, every figure as four files, every table as CSV" {
    need_program gnuplot
    results r1 r2 r4 g1 g2
    run nht1-report r1.json r2.json r4.json g1.json g2.json -o r.html --figures fig --csv tab \
        --markdown r.md
    expect_status 0
    local figure
    for figure in fig1-groups fig2-times fig3-systems fig4-rate fig5-overhead writers phases dumps-1; do
        [ -s fig/$figure.csv ]
        [ -s fig/$figure.gp ]
        [ -s fig/$figure.svg ]
        [ -s fig/$figure.png ]
        expect_file_text r.html "id=\"$figure\""
        expect_file_text r.md "fig/$figure.png"
    done
    [ "$(grep -c '<svg' r.html)" -eq "$(find fig -name '*.svg' | wc -l)" ]
    if grep -qE '<(script|img|link rel="stylesheet")|src=|@import' r.html; then false; fi
    if grep -oE 'https?://[^"'\'' ]+' r.html | grep -v '^http://www.w3.org/'; then false; fi
    for figure in writers processors slowest-dumps published-1993 balance system results; do
        [ "$(wc -l <tab/$figure.csv)" -ge 2 ]
    done
}

@test "the verdict comes first, in words, with what makes the result less than it seems" {
    results r2
    times r2.json 1 0.01
    change r2.json '.t_c.t_c_s = 0.8 | .runs[].t_c_s = 0.8 | .system.cores_of_nodes = 2'
    nht1-report r2.json -o r.html --markdown r.md
    [ "$(grep -n -m 1 'Verdict' r.md | cut -d: -f1)" -lt "$(grep -n -m 1 'N = 12' r.md | cut -d: -f1)" ]
    expect_file_text r.md "Not balanced: writing costs"
    expect_file_text r.md "Not an official NHT-1 result"
    change r2.json '.runs[].cache.page_cache = true | .runs[].verified = false
        | .system.cores_of_nodes = 1'
    nht1-report r2.json -o r.html --markdown r.md
    expect_file_text r.md "Page cache:"
    expect_file_text r.md "Oversubscribed:"
    expect_file_text r.md "Not verified:"
    change r2.json '.runs[].t_c_s = 0.99'
    nht1-report r2.json -o r.html --markdown r.md
    expect_file_text r.md "Balanced: writing costs"
}

@test "T_T, zeta and R_IO in the tables are those of the runs" {
    results r1
    change r1.json '.runs |= [.[] | select(.driver == "posix")][:3]
        | .runs[0].t_t_s = 1.2 | .runs[1].t_t_s = 1.1 | .runs[2].t_t_s = 1.4
        | .runs[].t_c_s = 1'
    nht1-report r1.json -o r.html --csv tab
    # 6 dumps of 69120 bytes
    awk -F, 'NR == 2 { right = ($1 == "posix" && $2 == 3 && $3 == 1.2 && $4 == 1.1 && $5 == 1.4 &&
        $6 == 1.1 && ($7 - 0.2) ^ 2 < 1e-20 && ($8 - 0.3456) ^ 2 < 1e-20) }
        END { exit !right }' tab/writers.csv
}

@test "the labels of Figure 3's three narrow axes do not run into each other" {
    local factor
    results r1
    for factor in 0.2 3 50; do
        # from less than a decade to several of them, between this system and those of 1993
        change r1.json '.runs[].t_t_s = $factor | .runs[].t_c_s = $factor / 2' \
            --argjson factor "$factor"
        nht1-report r1.json -o r.html --figures fig
        awk '/set xtics \(/ && NF > 12 { print; bad = 1 } /set xtics (\(|10)/ { n++ }
            END { exit bad || n != 3 }' fig/fig3-systems.gp
    done
}

@test "without gnuplot the report has its tables and says how to get it" {
    results r1 r2
    NHT1_GNUPLOT=/nowhere/gnuplot run nht1-report r1.json r2.json -o r.html --figures fig
    expect_status 0
    expect_text "apt-get install gnuplot-nox"
    expect_file_text r.html "apt-get install gnuplot-nox"
    expect_file_text r.html "<caption>By processors</caption>"
    [ -s fig/fig2-times.csv ]
    [ -s fig/fig2-times.gp ]
    [ ! -e fig/fig2-times.svg ]
}

@test "a gnuplot that fails costs the figures, not the report" {
    results r2
    printf '#!/bin/sh\necho no fonts today >&2\nexit 1\n' >broken
    chmod +x broken
    NHT1_GNUPLOT=$PWD/broken run nht1-report r2.json -o r.html
    expect_status 0
    expect_text "no fonts today"
    expect_file_text r.html "no fonts today"
}

@test "a figure's script draws it again" {
    need_program gnuplot
    results r1 r2
    nht1-report r1.json r2.json -o r.html --figures fig
    local script
    for script in fig/*.gp; do
        rm "${script%.gp}.svg" "${script%.gp}.png"
        (cd fig && gnuplot "$(basename "$script")")
        [ -s "${script%.gp}.svg" ]
        [ -s "${script%.gp}.png" ]
    done
}

@test "names out of results are shown, never obeyed" {
    need_program gnuplot
    results r2
    change r2.json '.system.host = "</title><script>alert(1)</script>" | .system.cpu.model = "a\"b|c`d"
        | .runs[].driver |= (if . == "none" then . else . + "\",\n$(touch owned)`touch owned`<b>_^{x}"
            end)
        | .runs[].dumps[].post_s.slowest_host = "<img src=x>"
        | .command_line = "--out \"</code><script>\""
        | .notices += ["<script>x</script>"]'
    run nht1-report r2.json -o r.html --figures fig --markdown r.md --csv tab
    expect_status 0
    [ "$output" = "1 result, 9 runs: r.html" ] || { echo "$output" && return 1; }
    if grep -qE '<(script|img|b)>|<img' r.html; then false; fi
    if grep -vE '^    ' r.md | grep -qE '<(script|img|b)>|<img'; then false; fi
    [ -s fig/writers.svg ]
    [ ! -e owned ]
    [ ! -e fig/owned ]
    expect_file_text r.html "&lt;script&gt;x&lt;/script&gt;"
}

@test "a folder stands for the results in it, whatever else it holds" {
    mkdir -p all/deep
    results r1 r2
    mv r1.json all
    mv r2.json all/deep
    echo '{"schema": "nht1-verify/1"}' >all/verify.json
    echo 'not json' >all/broken.json
    echo '{"some": "thing"}' >all/deep/other.json
    ln -s ../.. all/deep/loop
    run nht1-report all -o r.html
    expect_status 0
    expect_text "2 results, 18 runs"
    expect_text "3 other JSON files"
}

@test "*.json may meet the manifest of a dump, which is passed over" {
    results r1
    echo '{"schema": "nht1-dump/1"}' >btout.bin.json
    run nht1-report ./*.json -o r.html
    expect_status 0
    expect_text "1 result, "
    expect_text "1 other JSON file passed over"
    run nht1-report btout.bin.json -o none.html
    expect_status 1
    expect_text "btout.bin.json: no result"
    [ ! -e none.html ]
}

@test "computing that was disturbed is not blamed on writing" {
    results r1
    nht1-report r1.json -o r.html --markdown r.md
    run grep "says more about that than about writing" r.md
    expect_status 1
    change r1.json '.runs[].overlap |= (if . == null then . else .compute_s.min = 1000 end)
        | .runs[].t_t_s |= 2000 * .'
    nht1-report r1.json -o r.html --markdown r.md
    expect_file_text r.md "says more about that than about writing"
    expect_file_text r.md "Undecided: the run takes"
    if grep -qE "Balanced|Not balanced|The extra time is|coffee cup:" r.md; then false; fi
}

@test "a writer that drops the data is the floor of the others, never the fastest" {
    results r1
    change r1.json '.runs[] |= if .driver == "mpiio" then .driver = "null" | .t_t_s = 1e-6
        | .file.file_system = "none" | .file.run_id = null else . end'
    nht1-report r1.json -o r.html --markdown r.md
    expect_file_text r.md "null takes the data and drops them"
    if grep -q "came up even with the data dropped" r.md; then false; fi
    change r1.json '.runs[] |= if .driver == "null" then .t_t_s = 1000 else . end'
    nht1-report r1.json -o r.html --markdown r.md
    expect_file_text r.md "came up even with the data dropped (writer null)"
    expect_file_text r.md "the fastest writer, posix"
    expect_file_text r.md "drops the data"
    run grep -c '^## N = ' r.md
    [ "$output" = 1 ]
}

@test "runs that drop the data, alone, are no balanced system" {
    results r1
    change r1.json '.runs |= map(select(.driver == "mpiio") | .driver = "null" | .t_c_s = 1
        | .t_t_s = 1.01 | .file.file_system = "none" | .file.run_id = null)'
    nht1-report r1.json -o r.html --markdown r.md --csv tab
    expect_file_text r.md "No run that leaves a serial file came to its end"
    run grep -iE "balanced: writing|fastest writer, null|came up even" r.md
    expect_status 1
    expect_file_text r.md "null takes the data and drops them: T\_T = 1.01 s, zeta = +1.0 %"
    expect_file_text tab/writers.csv "drops the data"
    change r1.json '.runs[].t_t_s = 0.9'
    nht1-report r1.json -o r.html --markdown r.md
    expect_file_text r.md "drops them: T\_T = 0.9 s, less than T\_C"
}

@test "a file per rank is no result of the benchmark, but is not called dropped" {
    results r1
    change r1.json '.runs[] |= if .driver == "mpiio" then .driver = "perrank" | .t_t_s = 1e-6
        | .verified = false | .file.file_system = "none" else . end'
    nht1-report r1.json -o r.html --markdown r.md
    expect_file_text r.md "the fastest writer, posix"
    expect_file_text r.md "not verified, parts of a file"
    run grep -iE "drops|perrank (is|and)|and perrank" r.md
    expect_status 1
    change r1.json '.runs |= map(select(.driver == "perrank"))'
    nht1-report r1.json -o r.html --markdown r.md
    expect_file_text r.md "No run that leaves a serial file came to its end"
}

@test "the verdict is about a problem that was written, whatever else was computed only" {
    results r1 r2
    change r2.json '.problem.n = 24 | .problem.class = "W" | .runs |= map(select(.driver == "none"))'
    nht1-report r1.json r2.json -o r.html --markdown r.md
    expect_file_text r.md "Problem N = 12, class S"
    run grep -c "nothing to judge" r.md
    [ "$output" = 0 ]
}

@test "as many processors by more ranks or by more threads: the names tell which" {
    results r2 r4
    change r2.json '.system.threads = 2'
    nht1-report r2.json r4.json -o r.html --markdown r.md --csv tab
    expect_file_text tab/writers.csv '"posix, 2 ranks x 2 threads"'
    expect_file_text tab/writers.csv '"posix, 4 ranks x 1 thread"'
    [ "$(cut -d, -f1,2 tab/writers.csv | sort | uniq -d | wc -l)" -eq 0 ]
    nht1-report r4.json -o r.html --csv tab
    expect_file_text tab/writers.csv "posix,3,"
}

@test "runs that drop the data belong to the file system of their result, in any order" {
    results r1 r2
    change r1.json '.runs[].file |= (if . then .file_system = "ext4" else . end)'
    cp r1.json x.json
    change x.json '.runs |= map(select(.driver != "none")
        | if .driver == "mpiio" then .driver = "null" | .file.file_system = "none" | .file.run_id = null
            else .file.file_system = "nfs4" end) | .runs |= sort_by(.driver)'
    nht1-report r1.json x.json -o r.html --markdown r.md
    [ "$(grep -c '^## N = 12' r.md)" -eq 2 ]
    sed -n '/file system nfs4/,$p' r.md >nfs
    sed -n '/file system ext4/,/^## N/p' r.md >ext
    grep -q '^| null ' nfs
    run grep -c '^| null ' ext
    [ "$output" = 0 ]
}

@test "without T_C there is no number for it" {
    results r2
    change r2.json '.runs |= map(select(.driver != "none") | .t_c_s = null) | .t_c = null'
    nht1-report r2.json -o r.html --markdown r.md
    expect_file_text r.md "(T\_C is not known)"
    run grep -iwE "nan|the dashed line" r.md
    expect_status 1
}

@test "Figure 3 shows systems of 1993 beside the same problem only" {
    results r2
    nht1-report r2.json -o r.html --markdown r.md
    expect_file_text r.md "beside the systems of"
    change r2.json '.problem.interval = 5 | .problem.dumps_n = 12'
    nht1-report r2.json -o r.html --markdown r.md
    expect_file_text r.md "Figure 3 (systems side by side) needs"
}

@test "Figure 1 is not said to be missing where another problem has it" {
    results r2 g1 g2
    change r2.json '.problem.n = 24 | .problem.class = "W"'
    nht1-report r2.json g1.json g2.json -o r.html --markdown r.md
    expect_file_text r.md "Shortest median here: group"
    run grep -c "Figure 1 .* needs" r.md
    [ "$output" = 0 ]
}

@test "group sizes are compared in a decomposition that was asked for, too" {
    results g1 g2
    change g1.json '.options.decomp = "3d"'
    change g2.json '.options.decomp = "3d"'
    nht1-report g1.json g2.json -o r.html --csv tab --figures fig --markdown r.md
    if grep -q "Figure 1 .* needs" r.md; then false; fi
    expect_file_text r.md "Shortest median here: group"
}

@test "one writer has no figure of writers side by side, but its table" {
    need_program gnuplot
    results g1
    nht1-report g1.json -o r.html --figures fig --csv tab
    [ ! -e fig/writers.svg ]
    [ -s tab/writers.csv ]
}

@test "one of a thing is not written as several" {
    results r1
    run nht1-report r1.json -o r.html --markdown r.md
    expect_status 0
    expect_file_text r.md "on 1 processor (1 rank x "
    run grep -E '\b1 (processors|ranks)\b' r.md
    expect_status 1
}

# refuse STATUS TEXT FILE...: one line on stderr with the text, and no report.
refuse() {
    local want=$1 text=$2
    shift 2
    run nht1-report "$@" -o refused.html
    expect_status "$want"
    expect_text "$text"
    [ "${#lines[@]}" -eq 1 ]
    [ ! -e refused.html ]
}

@test "what is no result is refused with its name and the reason" {
    results r1
    : >empty.json
    echo '[1, 2]' >array.json
    head -c 3000 r1.json >cut.json
    echo '{"answer": 42}' >foreign.json
    echo '{"schema": "nht1-verify/1"}' >verify.json
    echo '{"schema": 7}' >number.json
    truncate -s 2G huge.json
    mkdir none
    head -c 100000 /dev/zero | tr '\0' '[' >deep.json
    refuse 1 "empty.json" r1.json empty.json
    refuse 1 "array.json" array.json
    refuse 1 "cut.json" cut.json
    refuse 1 "foreign.json: this JSON is no result" foreign.json
    refuse 1 "verify.json: \"schema\" is \"nht1-verify/1\"" verify.json
    refuse 1 "number.json" number.json
    refuse 1 "huge.json: 2.1 GB" huge.json
    refuse 1 "none: no result" none
    refuse 1 "deep.json" deep.json
    refuse 3 "missing.json" missing.json
    refuse 3 "no command: those are compare and stats" statz
    refuse 1 "--frob" r1.json --frob
}

@test "a pipe that nobody writes to does not keep the program from ending" {
    mkfifo pipe
    run timeout -k 5 2 "$NHT1_BIN/nht1-report" pipe
    [ "$status" -eq 124 ]
    [ ! -e report.html ]
}

@test "no file of others is overwritten, an earlier report is" {
    results r1
    echo "my thesis" >thesis.html
    run nht1-report r1.json -o thesis.html
    expect_status 1
    expect_text "thesis.html is there and is no earlier report"
    [ "$(cat thesis.html)" = "my thesis" ]
    nht1-report r1.json -o r.html
    nht1-report r1.json -o r.html --markdown r.md
    nht1-report r1.json -o r.html --markdown r.md
    run nht1-report r1.json -o r.html --figures r1.json
    expect_status 1
    expect_text "r1.json is there and is no folder"
    run nht1-report r1.json -o no/where.html
    expect_status 3
    run nht1-report r1.json -o .
    expect_status 1
}

@test "a result without the members that came later is read, a newer one as far as known" {
    results r2
    change r2.json 'del(.ranking, .notices, .seed, .t_c, .system.decomp, .problem.dumps_n)
        | .runs[] |= del(.cache, .overlap, .resumed, .proof, .implied_rate_bytes_per_s,
            .open_s, .phases_s.stop)'
    run nht1-report r2.json -o r.html --csv tab
    expect_status 0
    [ "$(wc -l <tab/writers.csv)" -eq 3 ]
    change r2.json '.schema = "nht1-bt/7" | .surprise = {}'
    run nht1-report r2.json -o r.html
    expect_status 0
    expect_file_text r.html "1 result of a newer version"
}

@test "runs that were wrong or cut short are left out, and that is said" {
    results r2
    change r2.json '.runs[0].proof.state = "wrong" | .runs[1].completed = false'
    nht1-report r2.json -o r.html --markdown r.md
    expect_file_text r.md "1 run left out: what was computed or written was wrong"
    expect_file_text r.md "1 run left out: interrupted"
}

@test "a browser finds no broken image, asks the network for nothing and meets no error" {
    local browser
    browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
        skip "no chromium (Debian: apt-get install chromium)"
    need_program gnuplot
    results r1 r2 g1 g2
    nht1-report ./*.json -o good.html
    printf '<!DOCTYPE html><img src="http://127.0.0.1:9/x.png"><script>nothing()</script>' >bad.html
    local page
    for page in good bad; do
        timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-sync --no-first-run \
            --disable-background-networking --disable-component-update --enable-logging=stderr \
            --user-data-dir="$PWD/profile" --log-net-log="$PWD/$page.net" --dump-dom \
            "file://$PWD/$page.html" >$page.dom 2>$page.log
        # What the browser asks its maker for is none of the page's.
        grep -oE '"url":"(https?|wss?|ftp):[^"]*' $page.net |
            grep -vE '://[a-z0-9.-]*(google|googleapis)\.com/' >$page.asked || true
    done
    [ -s bad.asked ]
    grep -q CONSOLE bad.log
    [ ! -s good.asked ] || { cat good.asked && return 1; }
    if grep CONSOLE good.log; then false; fi
    [ "$(grep -c "<svg" good.dom)" -eq "$(grep -c "<svg" good.html)" ] || { cat good.log && return 1; }
    [ "$(grep -c '<img' good.dom)" -eq 0 ]
    expect_file_text good.dom "Made by nht1-report"
}

@test "stats prints what a script needs" {
    run nht1-report stats --level 0.95 10 20 30 40 1000
    expect_status 0
    echo "$output" >s.json
    expect_schema nht1-report-stats-1 s.json
    jq -e '.n == 5 and .median == 30 and .ci_lo == 10 and .ci_hi == 1000 and .outliers == 1' s.json
    run nht1-report stats 7
    jq -e '.ci_lo == 7 and .ci_hi == 7 and .sd == 0' <<<"$output"
    run nht1-report stats --json f.json 1 2 3
    expect_status 0
    expect_schema nht1-report-stats-1 f.json
    local bad
    for bad in "1 x" "1 nan" "1 inf" "" "--level 2 1" "--level 0.1 1"; do
        # shellcheck disable=SC2086 # words
        run nht1-report stats $bad
        expect_status 1
        [ "${#lines[@]}" -eq 1 ]
    done
    run nht1-report stats 1 --json r.html/x
    expect_status 3
}
