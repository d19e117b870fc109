#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # bats sets status and output
# HDF5 and netCDF files of nht1-bt, as their users meet them: with the formats' own tools, under
# --restart, and where a library is not there. Bytes from every writer: mpi_io_writers.c.
load helpers

# bt RANKS FILE ARGUMENT...: class S into FILE.
bt() {
    local ranks=$1 file=$2
    shift 2
    run mpi_run "$ranks" nht1-bt --class S --quiet --tc 1 --out "$file" "$@"
}

# expect_announced FILE ARGUMENT...: a dry run gives its length, and at most 5 % more.
expect_announced() {
    local bytes
    bytes=$(stat -c %s "$1")
    nht1-bt --dry-run --class S --quiet --tc 1 --json plan.json "${@:2}"
    expect_json plan.json ".file_bytes >= $bytes and .file_bytes <= 1.05 * $bytes"
}

# raw FILE: as the writers without a container have it.
raw() {
    "$NHT1_ROOT/tests/raw_dumps" "$1"
}

# false_place FILE: nht1-verify tells which of what the manifest says of the place of the dumps is false.
false_place() {
    local code edit text
    cp "$1.json" true
    while IFS=';' read -r code edit text; do
        jq "$edit" true >"$1.json"
        run nht1-verify "$1"
        expect_status "$code"
        expect_text "$text"
    done
    mv true "$1.json"
}

@test "hdf5: the tools of HDF5 see names, dimensions and steps; chunks change no value" {
    need_writer hdf5
    need_program h5dump h5diff
    bt 2 a.h5 --io hdf5
    expect_status 0
    expect_schema nht1-dump-1 a.h5.json
    expect_json a.h5.json '.format == "hdf5" and .variable == "solution" and .endian == "little"'
    run h5dump -H a.h5
    expect_text '( 6, 12, 12, 12, 5 )'
    expect_text 'STRSIZE 38'
    run h5dump -y -d step a.h5
    expect_text '10, 20, 30, 40, 50, 60'
    run h5dump -a solution/DIMENSION_LABELS a.h5
    expect_text '"dump", "z", "y", "x", "component"'
    bt 3 b.h5 --io hdf5-indep --chunk 5
    expect_status 0
    expect_schema nht1-dump-1 b.h5.json
    expect_json b.h5.json '.chunk == 5 and .data_offset == null'
    run h5dump -H -p b.h5
    expect_text 'CHUNKED ( 1, 5, 5, 5, 5 )'
    h5diff a.h5 b.h5 /solution
    expect_announced b.h5 --io hdf5-indep --chunk 5 --ranks 3
    expect_json b.h5.json ".file_bytes == $(stat -c %s b.h5)"
    bt 1 want.bin --io serial
    raw a.h5 | cmp want.bin -
    false_place a.h5 <<'EDITS'
1;.data_offset += 8;a.h5.json: "data_offset" does not fit "file_bytes" and the dumps
1;.file_bytes -= 1;a.h5.json: "data_offset" does not fit "file_bytes" and the dumps
1;del(.file_bytes);"file_bytes"
0;.data_offset += 8 | .file_bytes += 8;note: the manifest says of another file where its dumps lie
1;.dumps[1].step += 1;a.h5.json: dumps[1]: "step": 
0;.endian = "big";note: the manifest says of another file where its dumps lie
EDITS
    false_place b.h5 <<'EDITS'
0;.file_bytes += 8;note: the manifest says of another file where its dumps lie
0;.chunk = 6;note: the manifest says of another file where its dumps lie
EDITS
}

@test "pnetcdf: ncdump sees names, dimensions and steps" {
    need_writer pnetcdf
    need_program ncdump
    bt 2 a.nc --io pnetcdf --layout ijkm
    expect_status 0
    expect_schema nht1-dump-1 a.nc.json
    run ncdump -v step a.nc
    expect_text 'double solution(dump, component, z, y, x)'
    expect_text 'solution:units = "1"'
    expect_text 'step = 10, 20, 30, 40, 50, 60'
    [ "$(ncdump -k a.nc)" = "cdf5" ]
    expect_announced a.nc --io pnetcdf --layout ijkm --ranks 2
    bt 1 want.bin --io serial --layout ijkm
    raw a.nc | cmp want.bin -
    false_place a.nc <<'EDITS'
1;.data_offset += 8;a.nc.json: "data_offset" does not fit "file_bytes" and the dumps
0;.data_offset += 8 | .file_bytes += 8;note: the manifest says of another file where its dumps lie
0;.endian = "little";note: the manifest says of another file where its dumps lie
EDITS
}

@test "a library that crashes or goes in circles on the file of a restart: one line, status 3, nothing is lost" {
    slow
    need_writer hdf5
    need_program mpicc
    local crash said
    mkdir -p bin lib/nht1
    cp "$NHT1_BIN/nht1-bt" bin
    bt 2 o.bin --io hdf5
    expect_status 0
    jq '.dumps |= .[:3]' o.bin.json >part.json
    cp part.json o.bin.json
    for crash in 'abort()' ${NHT1_FULL:+'for (;;) zero++'}; do
        said=crashed
        [ "$crash" = 'abort()' ] || said="goes in circles"
        cat >crash.c <<CODE
#include <stdlib.h>
#include "io/writers/format.h"
static volatile int zero;
static int open_file(MPI_Comm comm, const char *path, bool write, bool collective, MPI_Info info, void **file, char *why)
{ $crash; return -1; }
const struct io_format_plugin nht1_format = {.bytes = sizeof(struct io_format_plugin), .open = open_file};
CODE
        mpicc -w -O0 -I "$NHT1_ROOT" -shared -fPIC -o lib/nht1/libnht1-hdf5.so crash.c
        run mpi_run 2 bin/nht1-bt --class S --quiet --tc 1 --out o.bin --restart
        expect_status 3
        [ "$(grep "^nht1-bt:" <<<"$output")" = "nht1-bt: o.bin: cannot be read: HDF5 $said, as it may on a damaged file" ]
    done
    cmp part.json o.bin.json
    bt 2 o.bin --restart --json r.json
    expect_status 0
    expect_json r.json '.runs[0] | .resumed.kept_n == 3 and .verified'
}

@test "a container of an interrupted run goes on: whole, cut short, in chunks; not by another format" {
    slow
    local how
    need_writer hdf5
    need_writer pnetcdf
    bt 1 want.bin --io serial
    for how in "hdf5" "pnetcdf-indep" "hdf5 --chunk 6"; do
        rm -f o.bin o.bin.json
        # shellcheck disable=SC2086 # a list
        bt 2 o.bin --io $how
        expect_status 0
        mv o.bin.json all.json
        jq '.dumps |= .[:3]' all.json >o.bin.json
        case $how in *chunk*) ;; *) truncate -s -100000 o.bin ;; esac
        bt 2 o.bin --restart --io posix
        expect_status 1
        expect_text "writer posix writes raw"
        bt 3 o.bin --restart --json r.json
        expect_status 0
        expect_json r.json '.runs[0] | .resumed.kept_n == 3 and .verified'
        [ "$how" = "hdf5 --chunk 6" ] || raw o.bin | cmp want.bin -
        rm r.json
    done
}

@test "a container whose structure is damaged goes on with its dumps, and the formats' tools read it again" {
    slow
    local how
    need_writer hdf5
    need_writer pnetcdf
    need_program h5dump ncdump
    bt 1 want.bin --io serial
    for how in hdf5 pnetcdf; do
        rm -f o.bin o.bin.json
        bt 2 o.bin --io $how
        jq '.dumps |= .[:3]' o.bin.json >part.json
        mv part.json o.bin.json
        dd if=/dev/zero of=o.bin bs=2048 count=1 conv=notrunc status=none
        bt 3 o.bin --restart --json r.json
        expect_status 0
        expect_json r.json '.runs[0] | .resumed.kept_n == 3 and .verified'
        expect_json r.json '[.notices[] | select(contains("did not lead to its dumps, being damaged or because a read failed"))] | length == 1'
        case $how in
        pnetcdf) ncdump -h o.bin ;;
        *) h5dump -H o.bin ;;
        esac
        raw o.bin | cmp want.bin -
        rm r.json
    done
}

@test "small chunks share pages with the structure: where they cannot be read a restart ends and changes nothing" {
    need_writer hdf5
    bt 1 o.bin --io hdf5 --chunk 6
    jq '.dumps |= .[:3]' o.bin.json >part.json
    mv part.json o.bin.json
    cp o.bin whole.bin
    cp o.bin.json part.json
    # One read fails, of the values.
    run env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD" NHT1_FAULT=pread:30:EIO:0 \
        NHT1_FAULT_PROGRAM=nht1-bt nht1-bt --restart --out o.bin --quiet
    expect_status 3
    expect_text "Input/output error"
    cmp whole.bin o.bin && cmp part.json o.bin.json
    dd if=/dev/zero of=o.bin bs=2048 count=1 conv=notrunc status=none
    cp o.bin harmed.bin
    run nht1-bt --restart --out o.bin --quiet
    expect_status 3
    expect_text "its structure cannot be made again around chunks of less than 32768 bytes"
    cmp harmed.bin o.bin && cmp part.json o.bin.json
}

@test "a structure among chunks that one rank alone cannot read, once or ever: the run ends" {
    slow
    local n
    need_writer hdf5
    mkdir data
    # Before the library opens the file; while it does; while it reads a dump.
    for n in 2 2+ 35 40; do
        run mpi_run 2 env LD_PRELOAD="$NHT1_TESTBIN/fault.so" NHT1_FAULT_IN="$PWD/data" NHT1_FAULT="pread:$n:EIO:1" \
            "$NHT1_BIN/nht1-bt" --n 12 --steps 6 --dt 0.001 --interval 2 --tc 1 --quiet --verify never --io hdf5 --chunk 6 \
            --out data/o.h5 --read all --read-cache warm
        expect_status 3
        expect_text "rank 1 on "
        expect_text "Input/output error"
        rm -rf data/*
    done
}

@test "hints of PnetCDF are known to its writers, and to no other" {
    slow
    local notices='[.runs[0].file.notices[] | select(startswith("Hint "))] | length'
    need_writer pnetcdf
    bt 2 a.nc --io pnetcdf --hint nc_var_align_size=512 --json r.json
    expect_status 0
    [ "$(jq "$notices" r.json)" -eq 0 ]
    bt 2 a.nc --io pnetcdf --hint nc_such=1 --json r.json
    [ "$(jq "$notices" r.json)" -eq 1 ]
    jq -r '.runs[0].file.notices[]' r.json | grep -q "unknown to PnetCDF and the MPI-IO component"
    PNETCDF_HINTS="nc_header_align_size=100004" bt 2 b.nc --io pnetcdf
    expect_status 3
    expect_text "PNETCDF_HINTS"
    [ ! -e b.nc ]
    bt 2 a.bin --io mpiio --hint nc_var_align_size=512 --json r.json
    [ "$(jq "$notices" r.json)" -eq 1 ]
}

@test "a file that is not ours stays, and records are no layout of a container" {
    need_writer hdf5
    echo mine >o.bin
    bt 2 o.bin --io hdf5
    expect_status 1
    expect_text "was not written by this program"
    [ "$(<o.bin)" = mine ]
    bt 2 o.bin --io posix,hdf5 --layout records --force
    expect_status 1
    expect_text "--layout records"
    [ "$(<o.bin)" = mine ]
}

@test "without a library its writers are left out of all, and say what to install" {
    mkdir bin
    cp "$NHT1_BIN/nht1-bt" "$NHT1_BIN/nht1-verify" bin/
    run bin/nht1-bt --io help
    expect_status 0
    [ "$(grep -c '^--io all.* hdf5' <<<"$output")" -eq 0 ]
    [[ $(tr -s '\n ' ' ' <<<"$output") == *"(not here: this program was built without a parallel HDF5 library for its MPI: install one (on Debian libhdf5-openmpi-dev)"* ]]
    (own_clock 500 && mpi_run 1 bin/nht1-bt --n 13 --steps 4 --dt 0.001 --interval 2 --tc 1 --io auto --minutes 0.05 --json r.json)
    expect_json r.json '[.search.left_out[] | select(.writer == "hdf5") | .why | contains("libhdf5-openmpi-dev")] == [true]'
    run mpi_run 2 "$PWD/bin/nht1-bt" --class S --quiet --tc 1 --io hdf5
    expect_status 1
    expect_text "writer hdf5: "
    expect_text "libhdf5-openmpi-dev"
    [ "$(grep -c '^nht1-bt: ' <<<"$output")" -eq 1 ]
    [ ! -e btout.bin ]
}
