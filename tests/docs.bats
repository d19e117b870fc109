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
    ln -s "${NHT1_BIN%/*}" build
    mkdir bin
    # Ranks that wait sleep, as in tests/mpi-run.
    printf '#!/bin/sh\nLD_PRELOAD="%s" exec "%s" "$@"\n' "${NHT1_PRELOAD:-}" "$(command -v "$(launcher)")" >bin/mpirun
    chmod +x bin/mpirun
    local -x PATH=$PWD/bin:$PATH
    [ "$(id -u)" = 0 ] && export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    [ "$(nproc)" -lt 2 ] && export OMPI_MCA_rmaps_base_oversubscribe=1
    unset OMPI_MCA_ess_singleton_isolated # which no reader has
    while read -r line; do
        line=$(sed -E "$1" <<<"$line")
        echo "$line"
        timeout "$NHT1_HANG_S" bash -c "$line" </dev/null || return 1
        count=$((count + 1))
    done < <(readme_commands)
    [ "$count" -ge 6 ]
}

@test "the commands of the README work, on class S" {
    # Beside other tests it takes long until it is decided.
    run_commands 's/--class [AWB]/--class S/; s/--n 102/--n 12/; s/--repeat auto/& --minutes 0.1/'
}

@test "the commands of the README work as they stand" {
    slow
    need_space . 9000
    run_commands ''
}

@test "what the commands of the documents leave in the sources is not offered to git" {
    git -C "$NHT1_ROOT" rev-parse 2>/dev/null || not_here "no repository"
    local name count=0
    while read -r name; do
        git -C "$NHT1_ROOT" check-ignore -q "$name" || { echo "$name" && return 1; }
        count=$((count + 1))
    done < <(cat "$NHT1_ROOT/README.md" "$NHT1_ROOT"/docs/*.md | grep -E '^ *(mpirun|srun|(build/bin/)?nht1-)' |
        grep -oE -e '( |--?)(json|html|o|out|make|accesses) [a-z]+\.[a-z]+' -e '> [a-z]+\.[a-z]+' | sed 's/.* //' | sort -u)
    [ "$count" -ge 10 ]
}

@test "links in the documents lead to files of the tree, and to headings in them" {
    python3 - "$NHT1_ROOT"/*.md "$NHT1_ROOT"/docs/*.md "$NHT1_ROOT"/docs/*/*.md <<'END'
import functools, os, re, sys

@functools.lru_cache(None)
def anchors(path):
    """What its headings are linked by."""
    with open(path) as f:
        headings = re.findall(r'^#+ +(.*)$', f.read(), re.M)
    return {re.sub(r'[^a-z0-9 _-]', '', re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', h).lower()).replace(' ', '-') for h in headings}

links = {False: 0, True: 0}
bad = []
for document in sys.argv[1:]:
    with open(document) as f:
        found = re.findall(r'\]\(([^):]+)\)', f.read())
    for link in found:
        name, mark, anchor = link.partition('#')
        path = os.path.join(os.path.dirname(document), name) if name else document
        links[bool(mark)] += 1
        if not os.path.exists(path) or (mark and anchor not in anchors(path)):
            bad.append('%s: no %s' % (document, link))
sys.exit('\n'.join(bad) or (min(links.values()) < 20 and 'too few links: %s' % links) or 0)
END
}

@test "keys of references in the sources are in docs/references.md" {
    local key keys=0 bad=0
    for key in $(grep -rhoE --include='*.[ch]' '\[[A-Z][A-Za-z]*[0-9]{0,2}\] (section|eq|[0-9])|\[[A-Z][a-z]+\]\.' \
        "$NHT1_ROOT"/{base,io,bt,companions,verify,tests} | grep -oE '^\[[A-Za-z0-9]+\]' | sort -u); do
        grep -qF "| $key |" "$NHT1_ROOT/docs/references.md" || { echo "no $key" && bad=1; }
        keys=$((keys + 1))
    done
    [ "$keys" -ge 3 ]
    [ "$bad" -eq 0 ]
}

@test "sections that sources and documents cite exist" {
    local line file section cited=0 bad=0
    cd "$NHT1_ROOT"
    # "docs/format.md section 4", "docs/format.md, section 6", "[bt-fast.md](bt-fast.md) section 3", "sections 1 and 2";
    # [BT] and [BTF] are docs/bt.md and docs/bt-fast.md (docs/references.md).
    while read -r file section; do
        case $file in "[BT]") file=bt.md ;; "[BTF]") file=bt-fast.md ;; esac
        grep -qE "^## $section\. " "docs/${file#docs/}" || { echo "$file has no section $section" && bad=1; }
        cited=$((cited + 1))
    done < <(git ls-files -z '*.[ch]' '*.py' '*.md' '*.json' '*.bats' '*.bash' | xargs -0 cat | tr -s '\n' ' ' | sed 's/ \* / /g' |
        grep -oE '([a-z-]+\.md\)?|\[BTF?\]),? sections? [0-9]+((, | to | and )[0-9]+)*' |
        sed -E 's/\)?,? sections? / /; s/,|to|and/ /g' | awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | sort -u)
    [ "$cited" -ge 20 ]
    [ "$bad" -eq 0 ]
}

@test "every document is on both maps of the documentation" {
    local file name bad=0
    for file in "$NHT1_ROOT"/docs/*.md; do
        name=$(basename "$file")
        grep -qF "](docs/$name)" "$NHT1_ROOT/README.md" || { echo "README: no $name" && bad=1; }
        [ "$name" = README.md ] || grep -qF "]($name)" "$NHT1_ROOT/docs/README.md" ||
            { echo "docs/README: no $name" && bad=1; }
    done
    [ "$bad" -eq 0 ]
}

@test "exit statuses are explained once, zeta and T_C, too: documents that use them link there" {
    local file bad=0
    cd "$NHT1_ROOT/docs"
    grep -q '^## Exit status' commands.md
    for file in $(grep -il "exit status" ./*.md | grep -vE '/(commands|zeta).md'); do # the stamps of zeta.md are listed
        grep -q "(commands.md#exit-status)" "$file" || { echo "$file: no link to the exit statuses" && bad=1; }
    done
    # In the equations of bt.md and bt-fast.md zeta is a coordinate.
    for file in $(grep -lwE "zeta|T_C" ./*.md | grep -vE '/(zeta|bt|bt-fast).md'); do
        grep -qE "\((zeta|glossary).md" "$file" || { echo "$file: no link to zeta.md" && bad=1; }
    done
    [ "$bad" -eq 0 ]
}

# Commands in code blocks, and in backticks: from the program on, without mpirun and its options.
document_commands() {
    {
        awk '/^```/ { inside = !inside; next } inside' "$@"
        awk '/^```/ { inside = !inside; next } !inside' "$@" | tr '`' '\n'
    } | grep -oE '^(mpirun .*)?build/bin/nht1-[^#]*'
}

@test "programs are shown by the path where they are, with options that they know" {
    local line program option options=0
    declare -A help
    cd "$NHT1_ROOT"
    run grep -nE '^(mpirun -np [0-9]+ )?nht1-(bt|beff|beffio|report)( [^0-9]|$)' README.md docs/*.md
    expect_status 1
    while read -r line; do
        line=${line#*build/bin/}
        program=${line%% *}
        [[ $line == "$program compare "* ]] && program="$program compare"
        [[ $line == "$program stats "* ]] && program="$program stats"
        [[ $line == "$program trend "* ]] && program="$program trend"
        [ -n "${help[$program]:-}" ] || help[$program]=$($NHT1_BIN/$program --help)
        for option in $line; do
            [[ $option =~ ^--?[a-zA-Z][a-z-]* ]] || continue
            option=${BASH_REMATCH[0]}
            [[ ${help[$program]} =~ (^|[[:space:]/])$option(,|=|[[:space:]]|$) ]] ||
                { echo "$program has no $option" && return 1; }
            options=$((options + 1))
        done
    done < <(document_commands README.md docs/*.md)
    [ "$options" -ge 20 ]
}

@test "what the documents name in backquotes is there: files, functions, options, targets, programs" {
    run "$NHT1_ROOT/tests/doc_symbols.py"
    expect_status 0
    [ "${lines[0]% symbols}" -ge 300 ]
    cat >wrong.md <<'END'
Good: `io/view.h`, `io_file_write`, `--sync dump`, `make check`, `nht1-verify`, `IO_CAP_PARTS`.
Bad: `io/no_such.h`, `io_no_such_call`, `--no-such-option`, `make nothing`, `nht1-nothing`, `IO_CAP_NOTHING`.
END
    run "$NHT1_ROOT/tests/doc_symbols.py" "$PWD/wrong.md"
    expect_status 1
    [ "${#lines[@]}" -eq 7 ]
    [ "${lines[6]}" = "12 symbols" ]
}
