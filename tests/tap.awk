# SPDX-License-Identifier: GPL-3.0-or-later
# Counts the results in the TAP output of one test program: one file, or a file per rank. A case
# counts once: it failed when it failed on any rank, and is skipped when no rank ran it. A plan that
# was not kept, and an exit status that contradicts the cases, add one failure. A program that
# prints no cases is one case, judged by its exit status.
#
#     awk -v status=STATUS -f tap.awk FILE...
#
# Prints "passed failed skipped", then a line "fail NAME" or "skip NAME: REASON" for each such case.
FNR == 1 { close_group(); group = 0; last = "" }
/^1\.\.[0-9]+/ { close_group(); group++; planned = substr($1, 4) + 0; next }
/^ok([ \t]|$)/ { take_case("pass"); next }
/^not ok([ \t]|$)/ { take_case("fail"); next }
NF { last = $0; sub(/^[ \t#]+/, "", last) }

# A plan stands before its cases; a program may run several groups.
function close_group() {
    if (seen < planned) short_n++
    seen = 0
    planned = 0
}

# cmocka prints a skipped case as "not ok 2 # SKIP name", and its reason, if any, on the line before;
# bats as "ok 2 name # skip reason".
function take_case(result,    text, number, key) {
    text = $0
    sub(/^(not )?ok[ \t]*/, "", text)
    seen++
    number = text ~ /^[0-9]/ ? text + 0 : seen
    sub(/^[0-9]+[ \t]*(-[ \t]*)?/, "", text)
    key = group SUBSEP number
    if (!(key in state)) { order[++cases] = key; state[key] = "skip" }
    if (match(tolower(text), /#[ \t]*skip/)) {
        note[key] = skip_text(substr(text, 1, RSTART - 1), substr(text, RSTART + RLENGTH))
    } else if (result == "fail" || state[key] != "fail") {
        state[key] = result
        note[key] = text
    }
    last = ""
}

function skip_text(before, after) {
    gsub(/^[ \t:-]+|[ \t]+$/, "", before)
    gsub(/^[ \t:-]+|[ \t]+$/, "", after)
    if (before == "") return after ": " (last == "" ? "no reason given" : last)
    return before ": " (after == "" ? "no reason given" : after)
}

function contradiction() {
    if (count["fail"]) return ""
    if (status == 124 || status == 137) return "ran out of time"
    if (status != 0) return "ended with exit status " status
    if (short_n) return "fewer cases than planned"
    return ""
}

END {
    close_group()
    for (c = 1; c <= cases; c++) count[state[order[c]]]++
    odd = contradiction()
    if (odd != "") count["fail"]++
    else if (cases == 0) count["pass"]++
    printf "%d %d %d\n", count["pass"], count["fail"], count["skip"]
    for (c = 1; c <= cases; c++)
        if (state[order[c]] != "pass") print state[order[c]], note[order[c]]
    if (odd != "") print "fail " odd
}
