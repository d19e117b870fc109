#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# nht1-verify --export: what viewers get holds the values of the dumps, and nothing is lost for it.

# shellcheck disable=SC2154 # wait_stopped sets stopped
load helpers
load verify_lib

setup_file() {
    real_python
}

# export_all FILE: in all formats.
teardown() {
    ! mountpoint -q small 2>/dev/null || umount small
}

export_all() {
    local format
    for format in xdmf vti plot3d; do
        verify "$1" --export $format
        expect_status 0
    done
}

# nothing_left: no file under a temporary name is there.
nothing_left() {
    run find . -name '*.tmp'
    [ "$output" = "" ]
}

@test "exports hold the values of the complete dumps, in every layout and byte order" {
    for layout in mijk ijkm records; do
        for endian in little big; do
            make_dump f.bin 6 $layout $endian 3 2
            export_all f.bin
            expect_text "Exported: 2 dumps"
            expect_text "Left out: 1 dump, not complete or wrong."
            run python3 "$NHT1_ROOT/tests/view_values.py" f.bin 6 $layout $endian 0 1
            expect_status 0
            # 216 points of 2 dumps: 9 values each, in PLOT3D the 5 of the dump
            [ "$output" = "check_xdmf 3888
check_vti 3888
check_plot3d 2160" ]
        done
    done
    nothing_left
}

@test "planes that are read in several blocks are exported whole" {
    slow
    for layout in mijk ijkm records; do
        make_dump f.bin 37 $layout little 1
        for format in vti plot3d; do
            verify f.bin --export $format
            expect_status 0
        done
        sha256sum f.bin.0000.* f.bin.xyz >sums.$layout
    done
    cmp sums.mijk sums.ijkm
    cmp sums.mijk sums.records
    [ "$(stat -c %s f.bin.0000.q)" -eq $((12 + 32 + 40 * 37 * 37 * 37)) ]
    [ "$(stat -c %s f.bin.xyz)" -eq $((12 + 24 * 37 * 37 * 37)) ]
}

@test "a file without a manifest is exported with its dumps' numbers as times" {
    make_dump f.bin 6 ijkm big 2
    rm f.bin.json
    verify f.bin --export vti
    expect_status 0
    grep -q 'timestep="0" part="0" file="f.bin.0000.vti"' f.bin.pvd
    grep -q 'timestep="1" part="0" file="f.bin.0001.vti"' f.bin.pvd
}

@test "a wrong dump is left out, and the exit status stays 2" {
    make_dump f.bin 6 mijk little 3
    flip f.bin "$(offset mijk 6 1 2 3 3 3)" 5
    for format in xdmf vti plot3d; do
        verify f.bin --export $format
        expect_status 2
        expect_text "Exported: 2 dumps"
    done
    [ ! -e f.bin.0001.vti ]
    [ ! -e f.bin.0001.q ]
    run python3 "$NHT1_ROOT/tests/view_values.py" f.bin 6 mijk little 0 2
    expect_status 0
}

@test "a file of which no dump is right gives no export" {
    make_dump f.bin 6 mijk little 1 0
    verify f.bin --export vti
    expect_status 2
    expect_text "Nothing exported"
    verify f.bin --export xdmf --export vti
    expect_status 1
    expect_text "--export takes one value: run nht1-verify once for each"
    [ "$(echo f.bin*)" = "f.bin f.bin.json" ]
}

@test "no file of somebody else is replaced, and nothing is exported beside it" {
    make_dump f.bin 6 mijk little 2
    for name in xdmf:f.bin.xdmf vti:f.bin.pvd vti:f.bin.0001.vti plot3d:f.bin.p3d \
        plot3d:f.bin.xyz plot3d:f.bin.0001.q; do
        file=${name#*:}
        echo '<?xml version="1.0"?> mine' >"$file"
        cp "$file" kept
        verify f.bin --export "${name%:*}"
        expect_status 1
        expect_text "$file exists and is not an earlier export"
        cmp "$file" kept
        [ "$(echo f.bin*)" = "$(printf '%s\n' f.bin f.bin.json "$file" | sort | xargs)" ]
        rm "$file"
        verify f.bin --export "${name%:*}" --json "./$file"
        expect_status 1
        expect_text "--json: ./$file is a file that --export ${name%:*} makes"
        [ "$(echo f.bin*)" = "f.bin f.bin.json" ]
    done
    mkdir f.bin.pvd
    verify f.bin --export vti
    expect_status 1
    rmdir f.bin.pvd
    ln -s f.bin f.bin.0000.q # not even through a link
    verify f.bin --export plot3d
    expect_status 1
    verify f.bin
    expect_status 0
}

@test "an earlier export is replaced by a later one" {
    make_dump f.bin 6 mijk little 2 1
    export_all f.bin
    make_dump f.bin 6 mijk little 2
    ln -s f.bin link
    export_all link # beside the file, as its manifest
    run python3 "$NHT1_ROOT/tests/view_values.py" f.bin 6 mijk little 0 1
    expect_status 0
    # Where the first file is not replaced the earlier export stays; where another one fails no list has both.
    local n
    for n in 1 2; do
        NHT1_FAULT=fsync:$n:EIO:0 NHT1_FAULT_IN=$PWD NHT1_FAULT_PROGRAM=nht1-verify LD_PRELOAD=$NHT1_TESTBIN/fault.so \
            run nht1-verify f.bin --export vti
        expect_status 3
        [ $n -eq 2 ] || [ -e f.bin.pvd ]
    done
    [ ! -e f.bin.pvd ]
}

@test "names that XML would misread arrive whole, those that it cannot hold are refused" {
    mkdir "a b"
    name="a b/x & 'y' <z>.bin"
    make_dump "$name" 6 ijkm little 1
    export_all "$name"
    run python3 "$NHT1_ROOT/tests/view_values.py" "$name" 6 ijkm little 0
    expect_status 0
    mv "$name" $'bell\a.bin'
    mv "$name.json" $'bell\a.bin.json'
    verify $'bell\a.bin' --export xdmf
    expect_status 1
    expect_plain
    expect_text "characters in its name"
}

@test "an export that cannot be written ends with status 3 and leaves no part of a file" {
    make_dump f.bin 12 mijk little 3 # a VTI file of it has 125 kB
    run bash -c 'ulimit -f 100; exec nht1-verify f.bin --export vti'
    expect_status 3
    expect_text "f.bin.0000.vti: writing at offset"
    nothing_left
    [ "$(echo f.bin*)" = "f.bin f.bin.json" ]
}

@test "an export that does not reach the device ends with status 3 and leaves nothing" {
    make_dump f.bin 6 mijk little 2
    NHT1_FAULT=fsync:1:EIO:0 NHT1_FAULT_IN=$PWD NHT1_FAULT_PROGRAM=nht1-verify LD_PRELOAD=$NHT1_TESTBIN/fault.so \
        run nht1-verify f.bin --export vti
    expect_status 3
    expect_text "flushing: Input/output error"
    nothing_left
    [ "$(echo f.bin*)" = "f.bin f.bin.json" ]
}

@test "an export that is interrupted leaves whole files and no list of them" {
    slow
    make_dump f.bin 48 mijk little 12
    # Before the third name is given.
    LD_PRELOAD=$NHT1_TESTBIN/fault.so NHT1_FAULT_PROGRAM=nht1-verify NHT1_FAULT_IN=$PWD/f.bin. NHT1_FAULT_STOP=rename:3:0 \
        nht1-verify f.bin --export vti >log 2>&1 3>&- &
    pid=$!
    wait_stopped -p $pid nht1-verify
    [ -e f.bin.0001.vti ]
    kill -INT $pid
    kill -CONT $pid
    status=0
    wait $pid || status=$?
    [ "$status" -eq 3 ]
    grep -q interrupted log
    nothing_left
    [ ! -e f.bin.pvd ]
    for file in f.bin.*.vti; do
        tail -c 11 "$file" | grep -q '</VTKFile>'
    done
}

@test "an export of class C needs less than 64 MiB of memory" {
    slow
    need_program /usr/bin/time
    need_space . 1000
    for layout in mijk ijkm records; do
        make_dump f.bin 162 $layout little 1
        for format in vti plot3d; do
            run /usr/bin/time -f 'resident %M KiB' nht1-verify f.bin --export $format
            expect_status 0
            kib=$(echo "$output" | sed -n 's/^resident \([0-9]*\) KiB$/\1/p')
            [ "$kib" -lt 65536 ]
        done
        rm -f f.bin*
    done
}

@test "XDMF describes an HDF5 file, contiguous or chunked, and refuses a netCDF file" {
    slow
    for format in hdf5 netcdf; do
        [ -e "$NHT1_BIN/../lib/nht1/libnht1-read-$format.so" ] || not_here "built without $format"
    done
    for layout in mijk ijkm; do
        make_dump f.bin 6 $layout little 3 2
        for chunked in "" chunked; do
            "$NHT1_TESTBIN/mkcontainer" f.bin f hdf5 $chunked
            verify f --export xdmf
            expect_status 0
            run python3 "$NHT1_ROOT/tests/view_values.py" f:f.bin 6 $layout little 0 1
            expect_status 0
            [ "$output" = "check_xdmf 3888" ]
        done
    done
    "$NHT1_TESTBIN/mkcontainer" f.bin g netcdf
    verify g --export xdmf
    expect_status 1
    expect_text "export g as vti"
    [ ! -e g.xdmf ]
}

@test "ParaView reads the values of the dumps out of every export" {
    slow
    need_large pvpython
    for layout in mijk ijkm records; do
        make_dump $layout.bin 7 $layout little 3 2
        make_dump $layout-big.bin 7 $layout big 3 2
        export_all $layout.bin
        export_all $layout-big.bin
    done
    files='' count=$((18 * 6174)) # 343 points of 2 dumps with 9 values each, 6 files in 3 formats
    if [ -e "$NHT1_BIN/../lib/nht1/libnht1-read-hdf5.so" ]; then
        for layout in mijk ijkm; do
            "$NHT1_TESTBIN/mkcontainer" $layout.bin $layout hdf5
            "$NHT1_TESTBIN/mkcontainer" $layout.bin $layout-chunked hdf5 chunked
            verify $layout --export xdmf
            expect_status 0
            verify $layout-chunked --export xdmf
            expect_status 0
            for file in $layout $layout-chunked; do
                files="$files $file:$layout:little:$layout.bin"
                count=$((count + 6174))
            done
        done
    fi
    # Debian's module stands with the system's Python; elsewhere pvpython brings its own.
    python=pvpython
    ! /usr/bin/python3 -c 'import paraview' 2>/dev/null || python=/usr/bin/python3
    # shellcheck disable=SC2086 # a list of files
    run timeout "$NHT1_HANG_S" $python "$NHT1_ROOT/tests/view_paraview.py" 7 0,1 mijk.bin:mijk:little \
        mijk-big.bin:mijk:big ijkm.bin:ijkm:little ijkm-big.bin:ijkm:big \
        records.bin:records:little records-big.bin:records:big $files
    expect_status 0
    expect_text "$count values agree"
}

@test "an export that does not fit is refused before a byte of it is written" {
    memory_disk small 2m
    run mpi_run 1 nht1-bt --class S --io posix --tc 1 --out small/d
    head -c 1300000 /dev/zero >small/other
    ls -A small >before
    for format in vti plot3d; do
        run nht1-verify --export $format small/d
        expect_status 3
        expect_text "its file system has"
        ls -A small | cmp - before
    done
    rm small/other
    run nht1-verify --export plot3d small/d
    expect_status 0
    run nht1-verify --export plot3d small/d # each file takes the place of the one before it
    expect_status 0
}
