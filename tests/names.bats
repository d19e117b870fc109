#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Names that no file can have, and links to nothing: refused by every program before anything is made.
load helpers

# refused OPTION COMMAND...: status 1 or 3, a message that names the option, and nothing is made or changed,
# here and in the folder above.
refused() {
    local option=$1 before
    shift
    before=$(cd .. && find . ! -path './state*' -printf '%p %l %s\n' | sort)
    run "$@"
    [ "$status" -eq 1 ] || [ "$status" -eq 3 ] || { echo "status $status: $output" && return 1; }
    expect_text "$option" || return 1
    [ "$before" = "$(cd .. && find . ! -path './state*' -printf '%p %l %s\n' | sort)" ] && return 0
    echo "something was made by: $*" && (cd .. && find .)
    return 1
}

setup() {
    mkdir -p "$BATS_TEST_TMPDIR/above/here/folder"
    cd "$BATS_TEST_TMPDIR/above/here" || return 1
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state OMP_NUM_THREADS=1
}

bt=(nht1-bt --n 12 --steps 4 --dt 0.001 --interval 2 --tc 1 --quiet)
work=(nht1-workload --patterns --set data=4096 --set record=512 --quiet)

@test "--out without a name of a file is refused before anything is made" {
    local name
    for name in . / folder/. ${NHT1_FULL:+./ .. folder/ folder nosuch/ nosuch/..}; do
        refused --out "${bt[@]}" --io posix --out "$name"
        refused --out nht1-profile --force --out "$name" -- true
    done
    for name in . folder/ nosuch/..; do
        refused --out "${bt[@]}" --io posix,serial --out "$name"
        refused --out "${work[@]}" --out "$name"
        refused --out nht1-profile --out "$name" -- true
    done
    refused --out "${bt[@]}" --dry-run --out folder
    for name in .. ${NHT1_FULL:+. folder/ folder/..}; do
        refused -f nht1-beffio -p . --quick -f "$name"
    done
}

@test "a folder where a result or a store is to be is refused, with the option" {
    slow
    local name
    for name in . ./ folder folder/. ..; do
        refused --json "${bt[@]}" --io posix --json "$name"
        refused --tc-store "${bt[@]}" --io none --tc-store "$name"
        refused --tc-store "${bt[@]}" --dry-run --tc-store "$name"
        refused --tc-store nht1-bt --probe --tc-store "$name"
        refused --tc-store nht1-probe --tc-store "$name"
        refused --json nht1-probe --json "$name"
        refused --json "${work[@]}" --json "$name"
        refused --make nht1-workload --make "$name"
        refused --json nht1-beffio -p . --quick --json "$name"
        refused --json nht1-profile --json "$name" -- true
        refused --json nht1-stats --json "$name" 1 2 3
        refused "-o" nht1-report -o "$name" "$NHT1_ROOT/tests/corpus/report/bt1.json"
    done
    refused -o nht1-report -o nosuch/. "$NHT1_ROOT/tests/corpus/report/bt1.json"
    refused --json mpi_run 2 nht1-beff --quick --json folder
}

@test "a link to nothing is neither followed nor replaced by what any program writes" {
    slow
    ln -s nothing link
    ln -s nothing.lock store.lock
    refused link "${bt[@]}" --io posix --out link
    refused --json "${bt[@]}" --io posix --json link
    refused --json "${work[@]}" --json link
    refused --make nht1-workload --make link
    refused --out nht1-profile --out link -- true
    refused --out nht1-profile --force --out link -- true
    refused -o nht1-report -o link "$NHT1_ROOT/tests/corpus/report/bt1.json"
    refused --json nht1-stats --json link 1 2 3
    # The store of T_C is no reason to fail: that it cannot be kept is told.
    run nht1-bt --class S --io none --tc-store store
    expect_status 0
    expect_text "store.lock is in the way"
    [ -L store.lock ]
    [ ! -e store ]
    [ ! -e nothing.lock ]
    run nht1-bt --class S --io none --tc-store link
    expect_status 0
    [ -L link ]
    [ ! -e nothing ]
    # What a study writes.
    python3 - "$NHT1_ROOT/runs" <<'PY'
import os, sys
sys.path.insert(0, sys.argv[1])
from nht1.study import folder
from nht1.trouble import Trouble
os.symlink('nothing', 'x.tmp')
folder.write_text('x', 'text', True)
for replace in True, False:
    try:
        folder.write_text('link', 'text', replace)
    except (Trouble, OSError):
        continue
    sys.exit('link was written')
PY
    [ -L link ] && [ -L x.tmp ] && [ ! -e nothing ] && [ "$(cat x)" = text ]
}

@test "files that are longer than any of ours are not loaded" {
    local before
    printf '{"schema": "nht1-tc/1", "entries": []}' >s.json
    truncate -s 1T s.json
    run bash -c 'ulimit -v 4000000 && nht1-bt --class S --io none --tc-store s.json'
    expect_status 0
    expect_text "s.json is no store of compute-only times (longer than 64 MiB"
    printf 'panel,series\n' >t.csv
    truncate -s 1T t.csv
    python3 - "$NHT1_ROOT/runs" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from nht1.report import output
sys.exit(output.is_ours('t.csv'))
PY
    printf '{"schema": "nht1-dump/1", "file": "d.bin"' >d.bin.json
    truncate -s 1T d.bin.json
    refused d.bin.json "${bt[@]}" --io posix --out d.bin
    refused "too many for a manifest" nht1-bt --restart --out d.bin
}
