#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Measures the example of docs/example anew and draws it: four studies of class A and nht1-beff, about
# half an hour on 2 cores.
#
#     runs/example.sh [FOLDER]      raw results into FOLDER, default runs/out/example
#
# Programs are those of build/bin or $NHT1_BIN. Writes report.html and figures into docs/example, and
# puts the verdict of the report into its README.md, between the two comments that name it.
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=${NHT1_BIN:-$root/build/bin}
out=${1:-runs/out/example} # told in the page as it is here
to=$root/docs/example
cd "$root"
runs/study processors --set study.repeats=5 --out "$out/processors"
runs/study groups --set study.repeats=3 --out "$out/groups"
runs/study writers --set study.repeats=5 --set writing.sync=end --out "$out/writers"
runs/study restart --set study.repeats=3 --out "$out/restart"
mkdir -p "$out/beff"
tests/mpi-run -np 2 -t 600 "$bin/nht1-beff" --json "$out/beff/result.json"
"$bin/nht1-report" "$out" --mtbf 6,24,168 --downtime 120 -o "$out/report.html" --figures "$out/figures" --markdown "$out/report.md"
cp "$out/report.html" "$to/report.html"
for figure in fig1-groups fig2-times fig5-overhead writers phases reading cycle beff-sizes; do
    cp "$out/figures/$figure.svg" "$to/$figure.svg"
done
awk -v verdict="$out/report.md" '
    /<!-- end of the verdict -->/ { inside = 0 }
    !inside { print }
    /<!-- verdict -->/ {
        inside = 1
        print ""
        while ((getline line <verdict) > 0) {
            if (line ~ /^## /) show = line == "## Verdict"
            else if (show && line != "") { # up to what the verdict is about
                print "> " line
                show = line !~ /^Problem/
                if (show) print ">"
            }
        }
        print ""
    }' "$to/README.md" >"$out/README.md"
cp "$out/README.md" "$to/README.md"
echo "docs/example is written; its README.md explains figures: read it once more beside them"
