# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# For the tests of nht1-verify: files with known content, and ways to damage them. Offsets follow
# docs/format.md.

# make_dump FILE [N LAYOUT ENDIAN DUMPS COMPLETE SIZE]: see tests/mkdump.c.
make_dump() {
    "$NHT1_TESTBIN/mkdump" "$@"
}

# offset LAYOUT N DUMP M I J K: first byte of a value.
offset() {
    local n=$2 d=$3 m=$4 i=$5 j=$6 k=$7
    case $1 in
    mijk) echo $((40 * n * n * n * d + 8 * (m + 5 * (i + n * (j + n * k))))) ;;
    ijkm) echo $((40 * n * n * n * d + 8 * (i + n * (j + n * (k + n * m))))) ;;
    records) echo $((n * (40 * n * n + 8) * d + k * (40 * n * n + 8) + 4 + 8 * (i + n * (j + n * m)))) ;;
    esac
}

# flip FILE OFFSET BIT: flips one bit, BIT 0..7 of that byte.
flip() {
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    # shellcheck disable=SC2059 # the format is the byte
    printf "\\x$(printf %02x $((byte ^ (1 << $3))))" |
        dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# put_bytes FROM OFFSET TO OFFSET COUNT: copies bytes from a file into another, or the same.
put_bytes() {
    dd if="$1" of=piece bs=64K iflag=skip_bytes,count_bytes skip="$2" count="$5" status=none
    dd if=piece of="$3" bs=64K oflag=seek_bytes seek="$4" conv=notrunc status=none
}

# swap FILE OFFSET OFFSET COUNT: exchanges two pieces.
swap() {
    cp "$1" before
    put_bytes before "$2" "$1" "$3" "$4"
    put_bytes before "$3" "$1" "$2" "$4"
}

# verify ARGUMENT...: runs nht1-verify, which must not take longer than a minute.
verify() {
    run timeout "$NHT1_HANG_S" nht1-verify "$@"
}
