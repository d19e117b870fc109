#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Measures and draws the report that docs/example.md explains: four studies of class A and nht1-beff,
# about an hour on 2 cores; of fewer than 6 runs there is no interval.
#
#     runs/example.sh [FOLDER]      default: build/example
#
# Programs are those of build/bin or $NHT1_BIN. Leaves the results of the studies, report.html,
# report.md and figures/ in FOLDER.
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=${NHT1_BIN:-$root/build/bin}
mkdir -p "${1:-$root/build/example}"
out=$(cd "${1:-$root/build/example}" && pwd)
cd "$root"
runs/study processors --set study.repeats=6 --out "$out/processors"
runs/study groups --set study.repeats=6 --out "$out/groups"
runs/study writers --set study.repeats=6 --set writing.sync=end --out "$out/writers"
runs/study restart --set study.repeats=6 --out "$out/restart"
mkdir -p "$out/beff"
tests/mpi-run -np 2 -t 600 "$bin/nht1-beff" --json "$out/beff/result.json"
"$bin/nht1-report" "$out" --mtbf 6,24,168 --downtime 120 -o "$out/report.html" \
    --figures "$out/figures" --markdown "$out/report.md"
echo "$out/report.html is written; docs/example.md explains its figures"
