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

# tree TARGET: the files on standard input, named from here, each into its folder below TARGET.
tree() {
    local file folder target=$DESTDIR$1
    local -A files=()
    while read -r file; do
        case $file in */*) folder=${file%/*} ;; *) folder=. ;; esac
        files[$folder]+=$file$'\n'
    done
    for folder in "${!files[@]}"; do
        if [ "$do" = install ]; then
            mkdir -p "$target/$folder"
            printf %s "${files[$folder]}" | tr '\n' '\0' | xargs -0 install -m 644 -t "$target/$folder"
        elif [ -d "$target/$folder" ]; then
            printf %s "${files[$folder]}" | sed 's|.*/||' | tr '\n' '\0' | (cd "$target/$folder" && xargs -0 rm -f)
        fi
    done
}

# Folders that an installation has made, a line each: uninstalling removes those that are empty then. With DESTDIR in
# front: what is missing in a stage may be there where that is copied to.
case $DESTDIR in '' | /*) ;; *) DESTDIR=$PWD/$DESTDIR ;; esac
made=$DESTDIR$DATADIR/folders
missing() {
    local folder
    for folder in "$BINDIR" "$LIBDIR" "$MANDIR/man1" "$COMPLETIONS" "$DATADIR" "$DOCDIR"; do
        while [ -n "$folder" ] && [ ! -d "$DESTDIR$folder" ]; do
            printf '%s\n' "$DESTDIR$folder"
            case $folder in */*) folder=${folder%/*} ;; *) folder= ;; esac
        done
    done
}
case $do in
install)
    folders=$(missing)
    mkdir -p "$DESTDIR$DATADIR"
    printf '%s' "${folders:+$folders$'\n'}" >>"$made"
    ;;
uninstall)
    folders=$([ ! -e "$made" ] || sort -ru "$made")
    rm -f "$made"
    ;;
esac

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
find runs/nht1 config/*.ini config/*.conf docs/schema -type f ! -name '*.pyc' | tree "$DATADIR"
put 644 "$SHARE/runs/nht1/version" "$DATADIR/runs/nht1/version"
for file in options-bt.json stamps.json; do
    put 644 "$SHARE/runs/$file" "$DATADIR/runs/$file"
done
for file in verify/listings/*; do
    put 644 "$file" "$DATADIR/listings/${file##*/}"
done
# The documents, and the sources that they point to.
find README.md LICENSE CHANGELOG.md CITATION.cff CONTRIBUTING.md docs bench/*.ini \
    bench/model.c companions/workload/point.h config/spack config/easybuild config/Containerfile -type f | tree "$DOCDIR"
[ "$do" = uninstall ] || exit 0
for folder in "$LIBDIR/nht1" "$DATADIR" "$DOCDIR"; do
    [ ! -d "$DESTDIR$folder" ] || find "$DESTDIR$folder" -depth -type d -empty -delete
done
while read -r folder; do
    [ ! -d "$folder" ] || find "$folder" -maxdepth 0 -empty -delete
done <<<"$folders"
