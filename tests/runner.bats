#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The test runner counts right: programs made up for it pass, fail, skip, crash and hang.

load helpers

# A tree with the runner and nothing to run.
empty_tree() {
    mkdir -p tree/tests tree/b/tests tree/b/bin
    cp "$NHT1_ROOT"/tests/{run,cmocka-tap,mpi-run} tree/tests
    ln -s "$NHT1_ROOT/runs" tree # where mpi-run looks
}

# program NAME SCRIPT: a test program and the source that says it should be there.
program() {
    printf '#!/bin/bash\n%s\n' "$2" >"tree/b/tests/$1"
    chmod +x "tree/b/tests/$1"
    touch "tree/tests/$1.c"
}

run_tree() {
    run env -u NHT1_FULL -u NHT1_PLAIN O=b NHT1_RANKS="${NHT1_RANKS_HERE:-2}" tree/tests/run "$@"
}

closing() {
    [ "${lines[-1]}" = "$1" ] || { echo "$output" && return 1; }
}

@test "nothing run is a failure" {
    empty_tree
    run_tree serial
    expect_status 1
    closing "0 passed, 0 failed, 0 skipped"
}

@test "passed, failed and skipped cases are counted" {
    empty_tree
    program test_a 'echo 1..2; echo ok 1 - a; [ -z "${OMP_NUM_THREADS:-}" ] || echo -n "not "; echo ok 2 - b'
    OMP_NUM_THREADS=1 run_tree serial
    expect_status 0
    closing "2 passed, 0 failed, 0 skipped"
    program test_b 'echo 1..3; echo not ok 1 - a; echo "skipped: large: b"; echo "not ok 2 # SKIP b"
        echo ok 3 - c; exit 1'
    # As from within an earlier start: the Python that this one finds is not its own link.
    PATH=$PWD/tree/b/log/path:$PATH run_tree serial
    expect_status 1
    [ ! -L tree/b/log/path/python3 ] || tree/b/log/path/python3 --version
    closing "3 passed, 1 failed, 1 skipped"
    expect_text "not ok 1 - a"
    run env -u NHT1_FULL NHT1_PLAIN=a O=b tree/tests/run serial
    closing "2 passed, 0 failed, 0 skipped"
}

@test "what a failed case said is told, however many cases passed after it" {
    empty_tree
    program test_a 'echo 1..100; echo ok 1 - a; echo not ok 2 - b; echo "# why b failed"
        for i in {3..100}; do echo "ok $i - c$i"; done; exit 1'
    run_tree serial
    expect_status 1
    expect_text "not ok 2 - b" "# why b failed" "ok 100 - c100"
    expect_no_text "ok 50 - c50"
}

@test "a crash after passed cases is a failure" {
    empty_tree
    program test_a 'echo 1..2; echo ok 1 - a; kill -SEGV $$'
    run_tree serial
    expect_status 1
    closing "1 passed, 1 failed, 0 skipped"
}

@test "a quiet end before the last planned case is a failure" {
    empty_tree
    program test_a 'echo 1..2; echo ok 1 - a'
    run_tree serial
    expect_status 1
    closing "1 passed, 1 failed, 0 skipped"
}

@test "a program that prints no cases is a failure" {
    empty_tree
    program test_a 'echo all is well'
    run_tree serial
    expect_status 1
    closing "0 passed, 1 failed, 0 skipped"
}

@test "a program that was not built is a failure" {
    empty_tree
    touch tree/tests/test_a.c
    run_tree serial
    expect_status 1
    closing "0 passed, 1 failed, 0 skipped"
    expect_text "not built"
}

@test "a case on several ranks counts once, and fails when one rank fails" {
    slow
    empty_tree
    # The launcher stops all when one has failed: as after MPI_Finalize, rank 0 has said all by then.
    program mpi_a 'echo 1..2; echo ok 1 - a
        r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK} said=said-${OMPI_COMM_WORLD_SIZE:-$PMI_SIZE}
        if [ $r = 1 ]; then
            until [ -e $said ]; do sleep 0.01; done
            echo not ok 2 - b
            exit 1
        fi
        echo ok 2 - b
        [ $r != 0 ] || touch $said'
    NHT1_RANKS_HERE="1 3" run_tree mpi
    expect_status 1
    closing "4 passed, 1 failed, 0 skipped"
    expect_text "mpi_a, 3 rank(s)"
    expect_text "not ok 2 - b"
}

@test "end-to-end tests are counted as bats says" {
    slow
    empty_tree
    sed 's/^case/@test/' >tree/tests/x.bats <<'END'
case "good" { true; }
case "left out" { skip "slow: part of make check-full"; }
case "bad" { false; }
END
    # One that begins with `slow` is not started, whatever signs its name has, and nothing where all do.
    sed 's/^case/@test/' >tree/tests/y.bats <<'END'
case "a (b)" {
    slow
    false
}
case "a.*b|c?" { true; }
case "a ~b [{^} 'c'" { true; }
END
    sed 's/^case/@test/' >tree/tests/z.bats <<'END'
 setup_file() { false; }
case "all" {
    slow
}
END
    run_tree e2e
    expect_status 1
    closing "3 passed, 1 failed, 3 skipped"
    expect_text "  3  slow: part of make check-full"
}

@test "what should follow a schema is looked at in the end" {
    empty_tree
    ln -s "${NHT1_BIN%/*}/share" tree/b
    ln -s "$NHT1_ROOT/tests/schema" tree/tests
    sed 's/^case/@test/' >tree/tests/x.bats <<END
load "$NHT1_ROOT/tests/helpers"
case "a/b" { echo '{"schema": "nht1-stats/1", "version": "1", "answers": []}' >r.json; expect_schema nht1-stats-1 r.json; }
case "c" { echo '{"version": "1", "answers": []}' >r.json; expect_schema nht1-stats-1 r.json; }
END
    run_tree e2e
    expect_status 1
    closing "3 passed, 1 failed, 0 skipped"
    expect_text "ok 1 - nht1-stats-1, x.bats, a:b, "
    expect_text "not ok 2 - nht1-stats-1, x.bats, c, "
    expect_text "# \$: 'schema' is a required property"
}

@test "a skip says which of four reasons it has, which are counted; one without is a failure" {
    slow
    empty_tree
    sed 's/^case/@test/' >tree/tests/x.bats <<END
load "$NHT1_ROOT/tests/helpers"
case "good" { true; }
case "of check-full" { slow; }
case "of check-full, too" { slow; }
case "much" { need_large no-such-program; }
case "not there" { need_program no-such-program; }
case "closed" { not_permitted "mount: no"; }
END
    run_tree e2e
    expect_status 0
    closing "1 passed, 0 failed, 5 skipped"
    expect_text "  2  slow: part of make check-full"
    expect_text "  1  large: no-such-program is not installed (make setup-full)"
    expect_text "  1  not on this system: no-such-program is not installed (make setup)"
    expect_text "  1  not permitted by the kernel here: mount: no"
    echo '@test "because" { skip "it is Monday"; }' >>tree/tests/x.bats
    program test_a 'echo 1..2; echo ok 1 - a; echo "not ok 2 # SKIP b"'
    program test_b 'echo 1..1; echo "skipped: slow: part of make check-full"; echo "not ok 1 # SKIP b"'
    run_tree e2e serial
    expect_status 1
    closing "2 passed, 2 failed, 6 skipped"
    expect_text "FAIL x.bats: skipped without a reason that is known: because"
    expect_text "FAIL test_a: skipped without a reason that is known: b"
    # The words are the helpers'.
    run grep -nE '(^|[ ;{&|])skip( |$)' "$NHT1_ROOT"/tests/*.bats
    [ "$(grep -v 'tests/runner.bats:' <<<"$output")" = "" ]
    run grep -nw 'skip()' "$NHT1_ROOT"/tests/*.c
    [ -z "$output" ]
}

@test "an unknown part is refused" {
    empty_tree
    run_tree nothing
    expect_status 1
    expect_text "no part 'nothing'"
}

@test "what a whole file needs, its cases ask for: a skip in setup_file is a failure to bats" {
    run awk 'FNR == 1 { inside = 0 }
        /^setup_file\(\)/ { inside = 1 }
        inside && /^ *(skip|slow|large|not_here|not_permitted|need_[a-z]+)( |$)/ { print FILENAME ": " $0 }
        /^}/ { inside = 0 }' "$NHT1_ROOT"/tests/*.bats "$NHT1_ROOT"/tests/*.bash
    [ -z "$output" ]
}
