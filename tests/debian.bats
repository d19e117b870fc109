#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The Debian packages: built, installed on this very system, used, removed. Of what is committed.

load helpers

teardown() {
    [ ! -e "$BATS_TEST_TMPDIR/installed" ] || dpkg --purge nht1 nht1-doc
}

# As a user has it: nothing of the build folder in the path.
as_user() {
    env -u NHT1_BIN -u NHT1_TESTBIN -u NHT1_PRELOAD -u PYTHONDONTWRITEBYTECODE \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

@test "Debian packages are built, installed, measure, report, and leave nothing behind" {
    slow
    need_program git
    need_large dpkg-buildpackage dh lintian
    [ -e /usr/share/perl5/Debian/Debhelper/Sequence/python3.pm ] || large "dh-python is not installed (make setup-full)"
    need_root "installing packages"
    git -C "$NHT1_ROOT" rev-parse HEAD || not_here "no git checkout"
    [ "$(dpkg-query -W -f '${Status}' nht1 2>/dev/null)" != "install ok installed" ] || not_here "nht1 is installed, and would be replaced"
    local version package
    version=$(sed -n 's/.*NHT1_VERSION "\(.*\)"/\1/p' "$NHT1_ROOT/base/version.h")

    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O DEB_BUILD_OPTIONS=noautodbgsym \
        make -C "$NHT1_ROOT" deb DEB="$PWD/deb" DIST="$PWD/dist.tar.gz" 2>&1 | tail -n 30
    [ "$(find deb -name '*.deb' | wc -l)" -eq 2 ]
    lintian --fail-on error deb/*.deb

    touch installed
    dpkg -i deb/*.deb
    mkdir work && cd work
    [[ $(as_user nht1-verify --version) == "nht1-verify $version"* ]]
    as_user "$NHT1_ROOT/tests/mpi-run" -np 2 nht1-bt --class S --io posix,mpiio --json r.json --out f.bin
    expect_json r.json '.status == 0 and ([.runs[] | select(.driver != "none") | .verified] == [true, true])'
    as_user nht1-verify f.bin.mpiio
    as_user nht1-verify f.bin.posix --against reference
    as_user nht1-report r.json -o r.html
    grep -q 'Made by nht1-report' r.html
    as_user nht1-study --list | grep -q processors
    as_user nht1-profile -o p.xml -- "$NHT1_ROOT/tests/mpi-run" -np 2 nht1-bt --class S --io mpiio --out g.bin
    [ -s p.xml ]
    for package in nht1 nht1-doc; do
        dpkg --verify "$package"
    done
    dpkg -L nht1 | grep -qx /usr/share/man/man1/nht1-bt.1.gz
    dpkg-deb --fsys-tarfile ../deb/nht1_*.deb | tar xO ./usr/share/man/man1/nht1-bt.1.gz | gzip -d | grep -q "NHT1"
    dpkg-deb --fsys-tarfile ../deb/nht1-doc_*.deb | tar tf - | grep -qx ./usr/share/doc/nht1/docs/example.svg
    cd ..

    dpkg --purge nht1 nht1-doc
    rm installed
    run find /usr/bin /usr/lib /usr/share /etc /var/lib/dpkg/info -maxdepth 4 -name '*nht1*'
    [ -z "$output" ]
}
