#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What the documents show works when it is pasted, and what they point to is there.

load helpers

# The commands in the README's code blocks that run a program of the project.
readme_commands() {
    awk '/^```/ { inside = !inside; next } inside' "$NHT1_ROOT/README.md" |
        grep -E '^(mpirun|build/bin)'
}

# run_commands SED-SCRIPT: runs them in a folder where build/ is the build folder.
run_commands() {
    local line count=0
    ln -s "$(dirname "$NHT1_BIN")" build
    [ "$(id -u)" = 0 ] && export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    [ "$(nproc)" -lt 2 ] && export OMPI_MCA_rmaps_base_oversubscribe=1
    while read -r line; do
        line=$(sed -E "$1" <<<"$line")
        echo "$line"
        timeout 900 bash -c "$line" </dev/null || return 1
        count=$((count + 1))
    done < <(readme_commands)
    [ "$count" -ge 6 ]
}

@test "the commands of the README work, on class S" {
    run_commands 's/--class [AWB]/--class S/; s/--n 102/--n 12/'
}

@test "the commands of the README work as they stand" {
    full_only
    need_space . 9000
    run_commands ''
}

@test "links in the documents lead to files of the tree" {
    local file link bad=0
    for file in "$NHT1_ROOT"/*.md "$NHT1_ROOT"/docs/*.md; do
        for link in $(grep -oE '\]\([^)#:]+\)' "$file" | sed 's/^](//; s/)$//'); do
            [ -e "$(dirname "$file")/$link" ] || { echo "$file: no $link" && bad=1; }
        done
    done
    [ "$bad" -eq 0 ]
}

@test "keys of references in the sources are in docs/references.md" {
    local key bad=0
    for key in $(grep -rhoE --include='*.[ch]' '\[[A-Z][A-Za-z]*[0-9]{0,2}\] (section|eq|[0-9])|\[[A-Z][a-z]+\]\.' \
        "$NHT1_ROOT"/{base,io,bt,verify,tests} | grep -oE '^\[[A-Za-z0-9]+\]' | sort -u); do
        grep -qF "| $key |" "$NHT1_ROOT/docs/references.md" || { echo "no $key" && bad=1; }
    done
    [ "$bad" -eq 0 ]
}

@test "every option of the programs that the README uses is known to them" {
    local option help
    help=$(mpi_run 1 "$NHT1_BIN/nht1-bt" --help && "$NHT1_BIN/nht1-verify" --help)
    for option in $(readme_commands | grep -oE ' --[a-z-]+' | grep -v bind-to | sort -u); do
        grep -qE -- "$option( |$)" <<<"$help" || { echo "no $option" && return 1; }
    done
}
