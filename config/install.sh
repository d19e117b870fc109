#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Started by `make install` and `make uninstall`, which set the variables: puts every file of an
# installation where it belongs, or removes it from there.
set -eu
do=$1
cd "$(dirname "$0")/.."

# put MODE FILE TARGET
put() {
    case $do in
    install) install -D -m "$1" "$2" "$DESTDIR$3" ;;
    uninstall) rm -f "$DESTDIR$3" ;;
    esac
}

# Modules of an earlier version, and what Python has made of them.
rm -rf "$DESTDIR${DATADIR:?}/runs/nht1"
for file in $PROGRAMS; do
    name=${file##*/}
    put 755 "$file" "$BINDIR/$name"
    put 644 "$MANUAL/man1/$name.1" "$MANDIR/man1/$name.1"
    put 644 "$MANUAL/completion/nht1" "$COMPLETIONS/$name"
done
for file in $LIBRARIES; do
    put 755 "$file" "$LIBDIR/nht1/${file##*/}"
done
find runs/nht1 config/*.ini config/*.conf -type f ! -name '*.pyc' | while read -r file; do
    put 644 "$file" "$DATADIR/$file"
done
put 644 "$SHARE/runs/nht1/version" "$DATADIR/runs/nht1/version"
for file in options-bt.json stamps.json; do
    put 644 "$SHARE/runs/$file" "$DATADIR/runs/$file"
done
for file in verify/listings/*; do
    put 644 "$file" "$DATADIR/listings/${file##*/}"
done
# The documents, and the sources that they point to.
find README.md LICENSE CHANGELOG.md CITATION.cff CONTRIBUTING.md docs bench/*.ini \
    bench/model.c companions/workload/point.h config/spack config/easybuild config/Containerfile -type f | while read -r file; do
    put 644 "$file" "$DOCDIR/$file"
done
[ "$do" = install ] || for folder in "$LIBDIR/nht1" "$DATADIR" "$DOCDIR"; do
    [ ! -d "$DESTDIR$folder" ] || find "$DESTDIR$folder" -depth -type d -empty -delete
done
