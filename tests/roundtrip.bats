#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What nht1-profile writes, nht1-workload replays: the same functions as often with the same bytes.
load helpers

# profile FILE.xml RANKS PROGRAM...: of its MPI-IO. No file lies in the folder whose POSIX calls count.
profile() {
    local to=$1 ranks=$2
    shift 2
    mkdir -p no_files
    run nht1-profile -o "$to" --json "${to%.xml}.json" --files no_files --quiet -- "$NHT1_ROOT/tests/mpi-run" -np "$ranks" "$@"
    expect_status 0
}

# counts FILE.xml: calls and bytes of each function of all processes, from a profile's text.
counts() {
    python3 - "$1" <<'X'
import sys, xml.etree.ElementTree as tree
total = {}
for point in tree.parse(sys.argv[1]).getroot().iter('workingPoint'):
    own = {int(r.get('of')): r for r in point.findall('rank')}
    for rank in range(int(point.get('processNum'))):
        lists = own[rank].findall('calls') if rank in own else []
        calls = lists or point.findall('calls')
        scale = int(own[rank].get('bytes')) if rank in own and not lists else None
        for i, c in enumerate(calls):
            n, b = total.get(c.get('function'), (0, 0))
            total[c.get('function')] = n + int(c.get('n')), b + (int(c.get('bytes')) if scale is None
                else (scale if i == 0 and len(calls) == 1 else int(c.get('bytes'))))
for f in sorted(total):
    if total[f][0]:
        print(f, *total[f])
X
}

# replayed RESULT.json: the same of what a replay did.
replayed() {
    jq -r '[.points[].calls[]] | group_by(.function)[]
        | "\(.[0].function) \(map(.n) | add) \(map(.bytes) | add)"' "$1" | LC_ALL=C sort
}

# pieces FILE: mean length of contiguous pieces of each point.
pieces() {
    jq -c '[.points[].achieved.contMean * 1000 | round]' "$1"
}

# contiguity FILE.xml: sizeMean and contMean of each point, contMean of each process.
contiguity() {
    python3 - "$1" <<'X'
import sys, xml.etree.ElementTree as tree
for point in tree.parse(sys.argv[1]).getroot().iter('workingPoint'):
    own = {int(r.get('of')): r.get('contMean') for r in point.findall('rank')}
    mean = point.get('contMean')
    print(point.get('sizeMean'), mean, *[own.get(r) or mean for r in range(int(point.get('processNum')))])
X
}

# places FILE.xml: span, skips and the first byte of each function of each process, of those that have any.
places() {
    python3 - "$1" <<'X'
import sys, xml.etree.ElementTree as tree
for point in tree.parse(sys.argv[1]).getroot().iter('workingPoint'):
    own = {int(r.get('of')): r for r in point.findall('rank')}
    for rank in range(int(point.get('processNum'))):
        for c in (own[rank] if rank in own else point).findall('calls'):
            if c.get('span'):
                shift = int(c.get('shift') or round(float(point.get('sizeMean'))))
                print(rank, c.get('function'), c.get('span'), c.get('skips'), int(c.get('begin') or 0) + rank * shift)
X
}

@test "the profile of a replayed workload is the workload" {
    need_program jq python3
    nht1-workload --make w.xml processNum=2 uniqueBytes=400000 collFrac=0.4 sharedFrac=0.2 syncFrac=0.5
    profile p.xml 2 "$NHT1_BIN/nht1-workload" w.xml --out d --json a.json --quiet
    [ "$(counts p.xml)" = "$(replayed a.json)" ]
    # And the replay of that profile.
    run mpi_run 2 nht1-workload p.xml --out d --json b.json --quiet
    expect_status 0
    [ "$(replayed b.json)" = "$(replayed a.json)" ]
    jq -e '.wrong_n == 0' b.json
}

@test "half of the calls asked to be sequential are, by position" {
    need_program jq
    nht1-workload --make w.xml processNum=2 uniqueBytes=400000 sizeMean=1000 seqFrac=0.5 readFrac=0 syncFrac=1
    run nht1-profile -o p.xml --split run --quiet -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_BIN/nht1-workload" w.xml --out d --json a.json
    expect_status 0
    expect_json a.json '.points[0].achieved.seqFrac == 0.5'
    grep -q ' seqFrac="0.5" ' p.xml
}

@test "holes come back: the same contiguity" {
    slow
    need_program jq python3
    nht1-workload --make w.xml processNum=3 uniqueBytes=300000 sizeMean=1000 contMean=100 readFrac=0 seqFrac=1 collFrac=1 syncFrac=1
    profile p.xml 3 "$NHT1_BIN/nht1-workload" w.xml --out d --json a.json --quiet
    run mpi_run 3 nht1-workload p.xml --out d --json b.json --quiet
    expect_status 0
    [ "$(replayed b.json)" = "$(replayed a.json)" ]
    [ "$(pieces b.json)" = "$(pieces a.json)" ]
}

@test "what rank 0 does alone, at places apart, is replayed so" {
    slow
    profile p.xml 3 "$NHT1_TESTBIN/mkcalls" header h.dat
    [ "$(grep -c '<calls function="write_at" n="3" bytes="30" span="2010" skips="2"/>' p.xml)" -eq 1 ]
    profile q.xml 3 "$NHT1_BIN/nht1-workload" p.xml --out d --json b.json --quiet
    [ "$(replayed b.json)" = "write_at 3 30" ]
    [ "$(places q.xml)" = "$(places p.xml)" ]
}

# moved FILE.jsonl CALL: the bytes that its processes move so, [begin, end) of each piece of the file, in order, and how many bytes.
moved() {
    python3 - "$1" "$2" <<'X'
import json, sys
pieces, moved = [], 0
for line in open(sys.argv[1]):
    run = json.loads(line)
    if run.get('call') == sys.argv[2] and run['bytes']:
        pieces += [(run['offset'] + i * run['stride'], run['bytes']) for i in range(run['n'])]
merged = []
for begin, n in sorted(pieces):
    moved += n
    if merged and begin <= merged[-1][1]:
        merged[-1][1] = max(merged[-1][1], begin + n)
    else:
        merged.append([begin, begin + n])
print(moved, *merged)
X
}

@test "records of several ranks in one file are replayed at their places: segments, regions, a grid, a header and regions, appended, in place" {
    need_program jq python3
    local how call
    for how in segments mirrored regions grid restart reopened in-place; do
        call=pwrite
        [[ $how != restart && $how != in-place ]] || call=pread # what they read is laid out by pwrite
        head -c 16000 /dev/zero >in-place.dat
        run nht1-profile -o p.xml --accesses p.jsonl --force -- "$NHT1_ROOT/tests/mpi-run" -np 4 "$NHT1_TESTBIN/mkcalls" $how $how.dat
        expect_status 0
        [[ $how == reopened || $how == in-place ]] ||
            expect_text "Places    calls that leave gaps in a file are replayed in pieces of equal length at even distances"
        run nht1-profile -o q.xml --accesses q.jsonl --force --quiet -- "$NHT1_ROOT/tests/mpi-run" -np 4 "$NHT1_BIN/nht1-workload" p.xml \
            --out d --keep --check none --quiet
        expect_status 0
        [ "$(stat -c %s d)" -eq "$(stat -c %s $how.dat)" ]
        [ "$(moved q.jsonl $call)" = "$(moved p.jsonl $call)" ] || { moved p.jsonl $call; moved q.jsonl $call; cat p.xml; false; }
        rm -f p.* q.* d*
    done
}

@test "slices of a large file are replayed close together, and take no room for what lies between" {
    profile p.xml 2 "$NHT1_TESTBIN/mkcalls" slices s.dat
    run nht1-profile -o q.xml --json q.json -- "$NHT1_ROOT/tests/mpi-run" -np 2 "$NHT1_TESTBIN/mkcalls" slices s.dat
    expect_text "Places    processes or working points that are far apart, in a file of more than 8 times what they cover, are replayed close together"
    grep -qF '<calls function="write_at" n="3" bytes="3000"/>' p.xml
    mpi_run 2 nht1-workload p.xml --out d --keep --quiet
    [ "$(stat -c %s d)" -eq 6000 ]
}

@test "where the individual pointer is moved, a replay moves it as often" {
    slow
    local name
    profile p.xml 1 "$NHT1_TESTBIN/mkcalls" seeks s.dat
    profile q.xml 1 "$NHT1_BIN/nht1-workload" p.xml --out d --json b.json --quiet
    [ "$(places p.xml)" = "0 write 7080 4 0" ]
    [ "$(places q.xml)" = "$(places p.xml)" ]
    for name in p q; do
        grep -q ' seqFrac="0.5" ' $name.xml
    done
    jq -e '.wrong_n == 0 and .points[0].achieved.seqFrac == 0.5' b.json
}

@test "programs of others: mpi4py, h5py, PnetCDF's ncmpidiff" {
    slow
    need_open_mpi "Debian's mpi4py and h5py are linked with Open MPI"
    need_program jq python3
    local name found=""
    cat >use-mpi4py.py <<'X'
from mpi4py import MPI
comm = MPI.COMM_WORLD
f = MPI.File.Open(comm, 'm.dat', MPI.MODE_CREATE | MPI.MODE_RDWR)
for i in range(5):
    f.Write_at_all(8000 * (comm.size * i + comm.rank), bytes(8000))
    f.Write_at(8000 * (comm.size * (5 + i) + comm.rank), bytes(8000))
f.Close()
X
    cat >use-h5py.py <<'X'
from mpi4py import MPI
import h5py
comm = MPI.COMM_WORLD
with h5py.File('t.h5', 'w', driver='mpio', comm=comm) as f:
    d = f.create_dataset('d', (4, comm.size, 1000), 'd')
    for step in range(4):
        d[step, comm.rank, :] = comm.rank
X
    for name in mpi4py h5py; do
        mpi_run 2 /usr/bin/python3 "use-$name.py" 2>/dev/null || continue
        found+=" $name"
        profile "$name.xml" 2 /usr/bin/python3 "use-$name.py"
    done
    if command -v ncmpigen ncmpidiff >/dev/null; then
        echo 'netcdf n { dimensions: x = 100; variables: double a(x); data: a = 1, 2, 3; }' >n.cdl
        ncmpigen -o a.nc n.cdl
        cp a.nc b.nc
        found+=" ncmpidiff"
        profile ncmpidiff.xml 2 ncmpidiff a.nc b.nc
    fi
    [ -n "$found" ] || not_here "none is installed (Debian: python3-mpi4py python3-h5py-mpi pnetcdf-bin)"
    for name in $found; do
        profile q.xml 2 "$NHT1_BIN/nht1-workload" "$name.xml" --out d --json b.json --quiet
        diff <(counts "$name.xml") <(replayed b.json)
        diff <(places "$name.xml") <(places q.xml)
        jq -e '.wrong_n == 0' b.json
    done
    # Five records of each rank by each function, those of the other between them.
    [[ $found != *mpi4py* ]] || [ "$(places mpi4py.xml | sort)" = "0 write_at 72000 4 80000
0 write_at_all 72000 4 0
1 write_at 72000 4 88000
1 write_at_all 72000 4 8000" ]
}

@test "nht1-bt with mpiio and mpiio-indep, at even and uneven rank counts: calls, bytes, contiguity" {
    slow
    need_program jq python3
    local n ranks io dump
    # 2 x 2 ranks alike; 3 ranks with slabs of 5 and 4 planes; 2 x 2 with rows of 7 and 6.
    for n in ${NHT1_FULL:+12:4 13:3} 13:4; do
        ranks=${n#*:} n=${n%:*} dump=$((40 * n * n * n))
        for io in mpiio-indep mpiio; do
            profile p.xml "$ranks" "$NHT1_BIN/nht1-bt" --n "$n" --steps 6 --interval 2 --dt 0.001 \
                --io "$io" --out bt.bin --tc 1 --verify never --quiet
            rm -f bt.bin*
            profile q.xml "$ranks" "$NHT1_BIN/nht1-workload" p.xml --out d --json b.json --quiet
            counts p.xml >asked
            replayed b.json >made
            diff asked made
            # 3 dumps of 5 values in n^3 points, all of them.
            [ "$(awk '{ sum += $3 } END { print sum }' made)" -eq $((3 * dump)) ]
            # As the replay counts its pieces, and as the profiler sees them.
            jq -e '.wrong_n == 0 and ([.points[] | .asked.contMean == .achieved.contMean] | all)' b.json
            contiguity p.xml >asked
            contiguity q.xml >made
            diff asked made
            # The gaps between calls that are contiguous themselves.
            [ "$io" = mpiio ] || [ "$(places p.xml | wc -l)" -eq "$ranks" ]
            diff <(places p.xml) <(places q.xml)
            [ "$io" != mpiio ] || [ "$ranks" = 3 ] || awk '$2 >= $1 / 4 { exit 1 }' asked
        done
    done
    # Of the last one, each process has pieces of its own length.
    [ "$(cut -d' ' -f3- asked | tr ' ' '\n' | sort -u | wc -l)" -gt 1 ]
}
