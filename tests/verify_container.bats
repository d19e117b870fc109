#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-verify and dump files in HDF5 and netCDF: as with raw files, and what only such files can have.

load helpers
load verify_lib

PLUGINS=${NHT1_BIN%/*}/lib/nht1

# need_format NAME...: skips the test where nht1 was built without that library.
need_format() {
    local format
    for format in "$@"; do
        [ -e "$PLUGINS/libnht1-read-$format.so" ] || not_here "built without the serial library of $format"
    done
}

# every_format: those of the two that are there; skips the test where none is.
every_format() {
    local format there=
    for format in hdf5 netcdf; do
        [ ! -e "$PLUGINS/libnht1-read-$format.so" ] || there="$there $format"
    done
    formats=$there
    [ -n "$formats" ] || not_here "built without the serial libraries of HDF5 and netCDF"
}

# contain FILE FORMAT [WORD...]: FILE.bin as a container FILE; see tests/mkcontainer.c.
contain() {
    "$NHT1_TESTBIN/mkcontainer" "$1.bin" "$@"
}

# expect_wrong TEXT: exit status 2, and one line on standard error with the text.
expect_wrong() {
    local rc=0
    timeout "$NHT1_HANG_S" nht1-verify f --json r.json >out 2>err || rc=$?
    [ "$rc" = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$1" err && grep -qF -- "$1" out && return
    echo "status $rc, expected: $1"
    cat err out
    return 1
}

# same_result WORD...: of the container f and of the raw file f.bin all that is measured is the same.
same_result() {
    contain f "$@"
    nht1-verify f.bin --json raw.json >/dev/null
    verify f --json r.json
    expect_status 0
    expect_text "VERIFIED: every value of 3 dumps is bit for bit what the run passed to its writer"
    [ "$(jq -cS '[.dumps, .mean_xce, .shape, .proved]' r.json)" = \
        "$(jq -cS '[.dumps, .mean_xce, .shape, .proved]' raw.json)" ]
}

@test "an intact HDF5 file passes, chunked, compressed and in either byte order as well" {
    need_format hdf5
    need_program jq
    for layout in mijk ijkm; do
        make_dump f.bin 13 $layout little 3
        same_result hdf5
        expect_json r.json '.format == "hdf5" and (.library | startswith("HDF5 ")) and .file_bytes > 263640'
        expect_text "N = 13, layout $layout, HDF5 "
        for words in chunked deflate big "chunked big"; do
            # shellcheck disable=SC2086 # words
            same_result hdf5 $words
        done
    done
}

@test "an intact netCDF file passes, in the older formats and as netCDF-4, too" {
    need_format netcdf
    need_program jq
    for layout in mijk ijkm; do
        make_dump f.bin 13 $layout little 3
        same_result netcdf
        expect_json r.json '.format == "netcdf" and (.library | startswith("netCDF "))'
        expect_text "N = 13, layout $layout, netCDF "
        [ "$(head -c 4 f | od -An -c | tr -d ' ')" = 'CDF005' ]
        same_result netcdf cdf1
        same_result netcdf cdf2
    done
    need_format hdf5
    same_result netcdf netcdf4
    expect_json r.json '.format == "hdf5"'
}

@test "a container that is read in blocks, some of which go across components" {
    slow
    every_format
    need_program jq
    for layout in mijk ijkm; do
        make_dump f.bin 40 $layout little 3 # a megabyte is 16 planes, or 81 of a component each
        for format in $formats; do
            same_result "$format"
        done
    done
}

@test "the diagonal of a container, printed and compared" {
    slow
    every_format
    for layout in mijk ijkm; do
        make_dump f.bin 12 $layout
        nht1-verify f.bin --diagonal >list 2>/dev/null
        [ "$(wc -l <list)" = 360 ]
        for format in $formats; do
            contain f "$format"
            nht1-verify f --diagonal 2>/dev/null | cmp - list
            verify f --against list
            expect_status 0
            expect_text "360 values on the diagonal agree"
        done
        sed -i '123s/.*/ 7.0/' list
        verify f --against list
        expect_status 2
        expect_text "disagrees in 1 of 360"
    done
}

@test "a wrong value in a container is found: dump, place, bit and values" {
    every_format
    for layout in mijk ijkm; do
        make_dump f.bin 12 $layout
        for format in $formats; do
            flip f.bin "$(offset $layout 12 2 3 4 5 6)" 0
            contain f "$format"
            expect_wrong "dump 2 (step 15): U_3 at (i,j,k) = (4,5,6) is "
            grep -q "bit 0 is flipped" out
            flip f.bin "$(offset $layout 12 2 3 4 5 6)" 0
        done
    done
}

@test "swapped cells, a stale dump and a hole in a container" {
    slow
    every_format
    for format in $formats; do
        make_dump f.bin
        swap f.bin "$(offset mijk 12 1 0 4 5 6)" "$(offset mijk 12 1 0 7 8 9)" 40
        contain f "$format"
        expect_wrong "the cells (i,j,k) = (4,5,6) and (i,j,k) = (7,8,9) are swapped"
        make_dump f.bin
        put_bytes f.bin $((3 * 69120)) f.bin $((2 * 69120)) 69120
        contain f "$format"
        expect_wrong "dump 2 (step 15) holds the data of dump 3 (step 20)"
        make_dump f.bin
        put_bytes /dev/zero 0 f.bin $((2 * 69120 + 5760)) 5760
        contain f "$format"
        expect_wrong "720 values are zero bytes, as in a hole"
    done
}

@test "a byte that was changed in the container itself is found" {
    every_format
    make_dump f.bin
    for format in $formats; do
        contain f "$format"
        # U(0,0,0) of dump 0 begins with 2, 1, 2, in netCDF the other way around; U_1 becomes 0.5.
        local two='\x00{7}\x40' one='\x00{6}\xf0\x3f' at
        [ "$format" = hdf5 ] || { two='\x40\x00{7}' one='\x3f\xf0\x00{6}'; }
        at=$(LC_ALL=C grep -obUaP "$two$one$two" f | head -n 1 | cut -d: -f1)
        flip f $((at + $([ "$format" = hdf5 ] && echo 14 || echo 9))) 4
        expect_wrong "dump 0 (step 5): U_1 at (i,j,k) = (0,0,0) is 0.5 and was written as 1: bit 52 is flipped"
    done
}

@test "a run cut short: the complete dumps of a container are verified" {
    every_format
    make_dump f.bin 12 mijk little 6 2
    for format in $formats; do
        contain f "$format"
        verify f
        expect_status 0
        expect_text "VERIFIED IN PART"
        expect_text "4 of 6 dumps are not complete"
    done
    truncate -s -100000 f # netCDF, whose library reads zeros there, if both are here
    case $formats in *netcdf) verify f && expect_status 0 ;; esac
}

@test "a container without a manifest: the shape is its own, single wrong values may go unnoticed" {
    slow
    every_format
    make_dump f.bin 13 ijkm little 3
    for format in $formats; do
        contain f "$format" bare
        rm f.json
        verify f --json r.json
        expect_status 0
        expect_text "N = 13, layout ijkm, "
        expect_text "PLAUSIBLE"
        expect_text "single wrong values may go unnoticed"
        verify f --n 13 --layout ijkm --dumps 3
        expect_status 0
        verify f --n 12
        expect_status 2
        expect_text "wrong shape: the file has N = 13, not 12 as the options say"
        verify f --layout mijk
        expect_status 2
        expect_text "wrong shape: the file has layout ijkm, not mijk as the options say"
        verify f --dumps 4
        expect_status 2
        expect_text "wrong shape: the file has 3 dumps, not 4 as the options say"
        verify f --endian big
        expect_status 1
        expect_text "--endian: f is $format, whose library knows the byte order"
    done
    flip f.bin $(($(offset ijkm 13 1 2 0 5 6) + 5)) 1
    contain f "$format"
    rm f.json
    expect_wrong "dump 1: 1 values on the faces of the grid are not the exact solution, the first is U_2 at (i,j,k) = (0,5,6)"
}

@test "a manifest of another shape than the container" {
    slow
    every_format
    make_dump f.bin
    make_dump other.bin 13 ijkm little 5
    for format in $formats; do
        contain f "$format"
        "$NHT1_TESTBIN/mkcontainer" other.bin other "$format"
        mv other.json f.json
        expect_wrong "wrong shape: the file has N = 12, not 13 as manifest and options say"
        grep -q "layout mijk, not ijkm" out
        grep -q "6 dumps, not 5" out
    done
}

@test "attributes and times of a container that contradict the manifest" {
    slow
    every_format
    need_program jq
    make_dump f.bin
    for format in $formats; do
        while IFS=';' read -r edit text; do
            contain f "$format"
            jq -c "$edit" f.json >m
            mv m f.json
            expect_wrong "$text"
        done <<'EDITS'
.dt = 0.0124;the attribute dt is 0.0123, the manifest says 0.0124
.steps = 31;the attribute steps is 30, the manifest says 31
.interval = 4 | .dumps[].step |= . / 5 * 4;the attribute interval is 5, the manifest says 4
.run_id = "another";the attribute run_id is "0123456789abcdef0123456789abcdef", the manifest says "another"
.format = "raw";the manifest says raw
EDITS
        contain f "$format"
        jq -c '.run_id = "another" | .resumed = [{}]' f.json >m # of the run that continued it
        mv m f.json
        verify f
        expect_status 0
        contain f "$format" bare
        expect_wrong "the attribute n is not there"
        contain f "$format" astray
        expect_wrong "step of dump 1 is 9, by the manifest 10"
        contain f "$format" names
        expect_wrong 'dimension 1 of solution is called "height", not "z"'
    done
}

@test "a manifest of a container that names an unknown format or another variable" {
    make_dump f.bin
    for edit in 's/"schema"/"format": "zarr", &/' 's/"schema"/"format": "hdf5", "variable": "u", &/' \
        's/"schema"/"format": 5, &/' 's/"schema"/"format": "netcdf", &/'; do
        make_dump f.bin
        sed -i "$edit" f.bin.json
        verify f.bin
        expect_status 1
        expect_text "damaged manifest f.bin.json"
    done
    make_dump f.bin
    sed -i 's/"schema"/"format": "hdf5", "variable": "solution", &/' f.bin.json
    verify f.bin
    expect_status 2
    expect_text "wrong format: by its first bytes the file is raw, the manifest says hdf5"
}

@test "HDF5 files that are no dump files: one line, no other file is read" {
    slow
    need_format hdf5
    make_dump f.bin
    while IFS='|' read -r word text; do
        contain f hdf5 "$word"
        expect_wrong "$text"
    done <<'WORDS'
missing|solution is not there
group|solution is no dataset
float|solution is not of 8-byte IEEE numbers
rank4|solution does not have 5 dimensions
link|solution is a link to something else
external|solution has its values in other files
virtual|solution has its values in other files
WORDS
}

@test "netCDF files that are no dump files: one line" {
    slow
    need_format netcdf
    make_dump f.bin
    for kind in netcdf "netcdf cdf1"; do
        # shellcheck disable=SC2086 # words
        contain f $kind missing
        expect_wrong "solution is not there"
        # shellcheck disable=SC2086 # words
        contain f $kind float
        expect_wrong "solution is not of 8-byte IEEE numbers"
    done
}

@test "a container that was cut off" {
    slow
    every_format
    make_dump f.bin
    for format in $formats; do
        for bytes in 300000 2000 9; do
            contain f "$format"
            truncate -s $bytes f
            case $format$bytes in
            hdf5*) expect_wrong "HDF5 cannot open the file" ;;
            netcdf9) expect_wrong "solution is not there" ;;
            *) expect_wrong "the file is short: it has $bytes bytes, its 6 dumps alone have 414720" ;;
            esac
        done
    done
    expect_schema nht1-verify-1 r.json
}

@test "a compressed chunk that is damaged: its dump is wrong, the others are judged" {
    slow
    need_format hdf5
    need_program jq
    make_dump f.bin
    contain f hdf5 deflate
    for back in 3 4 5 6 7 8; do
        flip f $(($(stat -c %s f) - back)) 2
    done
    expect_wrong "dump 5: HDF5 cannot read its values"
    expect_json r.json '[.dumps[].verdict] == ["right","right","right","right","right","WRONG"]'
    expect_schema nht1-verify-1 r.json
}

@test "flipped bits in the header of a container: one line, in time" {
    slow
    every_format
    make_dump f.bin
    for format in $formats; do
        contain f "$format"
        cp f good
        for byte in 20 71 100 216 360 376 396 805 968 2600 4741; do
            cp good f
            flip f $byte $((byte % 8))
            local rc=0
            timeout "$NHT1_HANG_S" nht1-verify f >out 2>err || rc=$?
            echo "$format: byte $byte, status $rc, $(cat err)"
            [ $rc = 0 ] || [ $rc = 2 ] || [ $rc = 3 ]
            [ "$(wc -l <err)" = $((rc != 0)) ]
        done
    done
}

@test "a header that asks for gigabytes of memory does not get them" {
    need_format netcdf
    make_dump f.bin
    contain f netcdf
    flip f 199 1 # the text run_id has 8 GiB
    [ "$(od -An -tx1 -j 196 -N 8 f | tr -d ' ')" = 0000000200000020 ]
    expect_wrong "netCDF cannot open the file"
    /usr/bin/time -f %M -o kb nht1-verify f || true
    [ "$(tail -n 1 kb)" -lt 200000 ]
}

@test "chunks that are larger than their dataset are refused before they take memory" {
    need_format hdf5
    make_dump f.bin
    contain f hdf5 chunked
    local at
    at=$(LC_ALL=C grep -obUaP '\x01\x00{3}(\x05\x00{3}){4}' f | head -n 1 | cut -d: -f1)
    flip f $((at + 1)) 2 # 1025 dumps
    expect_wrong "solution is in chunks of an impossible size"
}

@test "without the libraries raw files are verified, and others say what is missing" {
    mkdir bin
    cp "$NHT1_BIN/nht1-verify" bin
    make_dump f.bin
    run bin/nht1-verify f.bin
    expect_status 0
    printf '\211HDF\r\n\032\n' >h
    printf 'CDF\005' >n
    run bin/nht1-verify h
    expect_status 3
    expect_text "h: this is HDF5, and nht1 was built without that library: install it (on Debian libhdf5-dev)"
    run bin/nht1-verify n
    expect_status 3
    expect_text "n: this is netCDF, and nht1 was built without that library: install it (on Debian libnetcdf-dev)"
    mkdir -p lib/nht1
    echo "no library" >lib/nht1/libnht1-read-hdf5.so
    run bin/nht1-verify h
    expect_status 3
    expect_text "h: this is HDF5, and that library cannot be loaded"
}

@test "a container that cannot be read is not called wrong: status 3, whichever read fails" {
    every_format
    local format n unread limit errors=([1]=ESHUTDOWN EUCLEAN ENODATA [5]=EIO [10]=ESHUTDOWN EUCLEAN [13]=EIO)
    make_dump f.bin 13 mijk little 3
    for format in $formats; do
        contain f "$format"
        unread=0
        for n in "${!errors[@]}"; do
            LD_PRELOAD=$NHT1_TESTBIN/fault.so NHT1_FAULT_PROGRAM=nht1-verify NHT1_FAULT_IN=$PWD NHT1_FAULT=pread:$n:${errors[n]}:0 \
                run nht1-verify "$PWD/f"
            # Some reads a library can do without.
            [ "$status" -eq 0 ] || { expect_status 3 && expect_text "$PWD/f: " && unread=$((unread + 1)); }
        done
        [ "$unread" -ge 1 ]
        # Nor where memory is short, in the library or around it.
        for limit in $(seq 1000 1500 13000); do
            run bash -c 'ulimit -d "$1" && exec nht1-verify f' bash "$limit"
            [ "$status" -ne 0 ] || break
            expect_status 3
        done
    done
}

@test "a library that crashes on a file: one line and exit status 3" {
    need_program gcc
    mkdir -p bin lib/nht1
    cp "$NHT1_BIN/nht1-verify" bin
    printf '\211HDF\r\n\032\n' >h
    local said=crashed
    for crash in 'abort()' '*(volatile int *)0 = 1' 'deep(1)' ${NHT1_FULL:+'for (;;) zero++'}; do
        [ "$crash" != 'for (;;) zero++' ] || said="goes in circles"
        cat >crash.c <<CODE
#include <stdlib.h>
#include "verify/plugin/plugin.h"
static volatile int zero;
int deep(int n) { volatile char room[4096]; room[0] = 1; return n + deep(n + zero) + room[0]; }
static int open_file(struct plugin_file *f, const char *path, const char *variable)
{ $crash; return (long)f + (long)path + (long)variable != 0; }
const struct plugin nht1_plugin = {.open = open_file};
CODE
        gcc -w -O0 -I "$NHT1_ROOT" -shared -fPIC -o lib/nht1/libnht1-read-hdf5.so crash.c
        run timeout "$NHT1_HANG_S" bin/nht1-verify h
        expect_status 3
        [ "$output" = "nht1-verify: h: cannot be read: HDF5 $said, as it may on a damaged file" ]
    done
}

@test "a container exports what its raw file exports" {
    slow
    every_format
    make_dump f.bin 12 ijkm little 2
    for kind in vti plot3d; do
        nht1-verify f.bin --export $kind >/dev/null
        for format in $formats; do
            contain f "$format"
            nht1-verify f --export $kind >/dev/null
            for file in f.bin.*; do
                case $file in *.json | *.pvd | *.p3d) continue ;; esac
                cmp "$file" "f${file#f.bin}"
            done
        done
    done
}
