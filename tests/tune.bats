#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# runs/study tune: searches by component, their winners against each other, the verdict. nht1-bt is a
# stand-in that knows how long each way to write takes.

load helpers
load study_lib

setup() {
    begin_study
    make_bt
    printf '#!/bin/sh\nprintf "mca:io:%%s:version:\\"api:2.0.0\\"\\n" romio321 ompio ompio\n' >bin/ompi_info
    chmod +x bin/ompi_info
    export COMPONENTS_FAIL='' NOISE=0 BUFFERED=0.8 ROMIO=0.7 ROMIO_PLAIN=0.9 PROBE_FAILS=''
    unset OMPI_MCA_io
}

# T_T: posix 1 s, with --buffer 4Mi $BUFFERED; mpiio by OMPIO 1.2, by ROMIO $ROMIO_PLAIN and with cb_nodes=1 $ROMIO; off
# by up to $NOISE from run to run of a writer, in whatever order writers come.
make_bt() {
    cat >bin/nht1-bt <<'END'
#!/usr/bin/env perl
use strict;
use warnings;
my %given;
for my $i (grep { $ARGV[$_] =~ /^--/ } 0 .. $#ARGV) {
    $given{substr $ARGV[$i], 2} = $ARGV[$i + 1] // '';
}
if (exists $given{help}) {
    print "  --$_  words\n" for 'json FILE', 'out FILE', 'progress WHEN', 'io NAMES', 'minutes M', 'buffer BYTES',
        'hint KEY=VALUE', 'class C', 'steps NS', 'sync WHEN', 'direct', 'tc T', 'probe';
    exit;
}
print("nht1-bt 1\n"), exit if exists $given{version};

sub note {
    my ($file, $line) = @_;
    open my $f, '>>', $file or die;
    print $f "$line\n";
}

if (exists $given{probe}) {
    note('probes', "@ARGV");
    exit if $ENV{PROBE_FAILS} eq '';
    print STDERR "a line\nnht1-bt: $ENV{PROBE_FAILS}\n";
    exit 1;
}
my $component = $ENV{OMPI_MCA_io} // '';
note('starts', join ' ', $component || '-', grep { $_ ne $given{json} && $_ ne $given{out} } @ARGV);
open my $starts, '<', 'starts' or die;
my $number = grep { /--io \Q$given{io}\E/ } <$starts>;
my $search = $given{io} =~ /^auto/;
if ($search && grep { $_ eq $component } split ' ', $ENV{COMPONENTS_FAIL}) {
    print STDERR "nht1-bt: mpiio: the component crashed\n";
    exit($ENV{FAILS_WITH} // 3);
}

sub seconds {
    my ($writer, @options) = @_;
    my $t = $writer eq 'mpiio' ? 1.2 : grep({ $_ eq '--buffer' } @options) ? $ENV{BUFFERED} : 1.0;
    $t = $ENV{grep({ $_ eq 'cb_nodes=1' } @options) ? 'ROMIO' : 'ROMIO_PLAIN'}
        if $writer eq 'mpiio' && $component eq 'romio321';
    return $t * (1 + $ENV{NOISE} * (($number * 7 + 2 * ($writer eq 'mpiio')) % 5 - 2) / 2);
}

sub list { '[' . join(', ', @_) . ']' }
sub text { '"' . join(' ', @_) . '"' }

my ($runs, $found) = ('', '');
if ($search) {
    my @ways = (['posix'], ['posix', '--buffer', '4Mi'], ['mpiio'], ['mpiio', '--hint', 'cb_nodes=1']);
    @ways = grep { $given{io} eq 'auto' || $given{io} =~ /[:,]$$_[0]\b/ } @ways;
    @ways = sort { seconds(@$a) <=> seconds(@$b) } @ways;
    my ($best, $label, $id) = (seconds(@{$ways[0]}), "@{$ways[0]}", 0);
    my @rows = map {
        my ($writer, @options) = @$_;
        $id++;
        my $state = $id == 1 ? 'best' : $id == 2 ? 'tied' : 'beaten';
        sprintf '{"id": %d, "writer": "%s", "options": %s, "label": "%s", "rung": 1, "runs": 3, "ratio": %.9g, '
            . '"lo": null, "hi": null, "why": "", "state": "%s"}',
            $id, $writer, list(map { text($_) } @options), "@$_", seconds(@$_) / $best, $state;
    } @ways;
    my $hints = $label =~ /^mpiio/ ? '{"form": "ROMIO_HINTS", "text": "cb_nodes 1\ncb_other 2"}' : '';
    print "Run it with nht1-bt --out $given{out}\n";
    $found = sprintf ', "search": {"ended": "settled", "seconds": 1.5, "minutes": %s, "seed": 1, "known": null,
        "left_out": [{"writer": "uring", "why": "not permitted"}], "effects": [], "candidates": %s,
        "rungs": [{"rung": 1, "steps": 10, "dumps": 2, "rounds": 3, "candidates_n": 4}],
        "best": {"id": 1, "label": "%s", "verdict": "winner", "answer": "%s is faster.",
            "command": "mpirun -np 2 nht1-bt --out %s --io %s", "t_t_s": %.9g, "steps": 20, "dumps": 4, "rounds": 3,
            "zeta": 0.08, "zeta_lo": 0.05, "zeta_hi": 0.11,
            "against": [{"label": "mpiio", "ratio": 1.3, "lo": 1.2, "hi": 1.4}], "hints": [%s]}}',
        $given{minutes}, list(@rows), $label, $label, $given{out}, $label, $best / 10, $hints;
} else {
    $runs = sprintf '{"driver": "%s", "t_t_s": %.9g, "disturbance": {"disturbed": %s}}', $given{io},
        seconds($given{io}, @ARGV), $given{io} eq 'mpiio' && $number == 5 ? 'true' : 'false';
}
open my $json, '>', $given{json} or die;
printf $json '{"schema": "nht1-bt/1", "problem": {"n": 64, "class": "A", "steps": %d, "dt": 0.0008, "interval": 5},
    "system": {"ranks": 2, "threads": 1, "host": "h"}, "status": 0, "runs": [%s]%s}', $given{steps} // 200, $runs, $found;
close $json or die;
sleep if -e 'slow' && !$search; # until a signal
END
    chmod +x bin/nht1-bt
}

# tune ARGUMENT...: without a report, which takes seconds.
tune() {
    study tune --ranks 2 --threads 1 --under out --no-report "$@"
}

@test "each component has a search, winners and posix run against each other in random rounds, one verdict" {
    ln -s "$NHT1_BIN_REAL/nht1-report" bin
    study tune --ranks 2 --threads 1 --under out --class A --sync dump --minutes 30
    rm bin/nht1-report
    expect_status 0
    expect_text "    OMPI_MCA_io=romio321 mpirun -np 2 nht1-bt --io mpiio --hint cb_nodes=1"
    expect_text "mpiio --hint cb_nodes=1 (romio321) takes 0."
    expect_text "took processors from the ranks in 1 of 36 runs of the comparison."
    # T_T is that of the newest and longest runs
    expect_text "s for 200 steps with 40 dumps, median of 12 rounds; 2 ranks x 1 thread, --class A, --sync dump."
    expect_text "zeta 0.080 (0.050 to 0.110), in the search, with 20 steps."
    expect_text "export OMPI_MCA_io=romio321"
    expect_text "cb_other 2"
    expect_text "uring: not permitted"
    expect_schema nht1-tune-1 out/tune/tune.json
    expect_json out/tune/tune.json '.ended == "settled" and .best.name == "mpiio --hint cb_nodes=1 (romio321)"
        and ([.searches[].best] == ["posix --buffer 4Mi", "mpiio --hint cb_nodes=1"])
        and .verdict == "winner" and .best.rounds == 12 and .best.steps == 200 and .best.dumps == 40
        and .final.rounds == 12 and .final.disturbed_runs == 1 and (.final.ways | map(.state) == ["best", "beaten", "beaten"])
        and (.final.ways | map(.name) | .[1:] == ["posix --buffer 4Mi", "posix"]) and .final.ways[1].component == null
        and (.final.ways[1] | .lo > 1.1 and .hi < 1.2 and .pairs == 12)'
    # OMPIO is what a run without a choice would get; the other search leaves out what is the same by both
    [ "$(sed -nE 's/^([^ ]*) .*--io (auto[^ ]*).*/\1 \2/p' starts)" = "ompio auto
romio321 auto:mpiio" ]
    [ "$(cat probes)" = "--probe --known --progress never --out out/tune/btout.bin" ]
    [ "$(grep -c '^- .*--io posix --buffer 4Mi' starts)" -eq 12 ]
    [ "$(grep -c '^romio321 .*--io mpiio --hint cb_nodes=1' starts)" -eq 12 ]
    [ "$(grep -vc -- '--class A --sync dump' starts)" -eq 0 ]
    expect_text "$(cat out/tune/tune.txt)"
    [ -s out/tune/report.html ]
    # a run of which nothing is known has failed after ten times the minutes
    grep -qx 'timeout_s = 18000' out/tune/final/study.ini
    # each step is a study that can be made again
    study out/tune/final/study.ini --no-plan --out again --set study.minutes=0
    expect_status 0
    [ "$(set_of again | cut -d' ' -f2-)" = "$(set_of out/tune/final | cut -d' ' -f2-)" ]
    # what a search prints leads to the folder that stays
    mkdir files
    tune --rounds 3 --files files
    [ -e out/tune-2/tune.json ]
    grep -qx 'Run it with nht1-bt --out files/dump.bin' <<<"$output"
    [ -z "$(ls files)" ]
}

@test "of winners that are tied the simplest is taken, not another component" {
    slow
    ROMIO=0.8 tune
    expect_status 0
    expect_text "    mpirun -np 2 nht1-bt --io posix --buffer 4Mi"
    expect_text "cannot be told apart"
    expect_json out/tune/tune.json '.verdict == "winner" and .best.name == "posix --buffer 4Mi"
        and (.final.ways | map(.state) == ["best", "tied", "beaten"])'
}

@test "where no winner is shown to be faster than posix it does not matter, and posix is the answer" {
    slow
    BUFFERED=0.999 NOISE=0.1 ROMIO=0.997 ROMIO_PLAIN=1.2 tune
    expect_status 0
    expect_text "posix will do"
    expect_text " nht1-bt --io posix"
    expect_schema nht1-tune-1 out/tune/tune.json
    expect_json out/tune/tune.json '.verdict != "winner" and .best.name == "posix" and .best.component == null
        and .best.rounds == 12 and (.best.command | test("romio|buffer") | not)'
}

@test "too few rounds for an interval: undecided, and posix until more is known" {
    slow
    tune --rounds 3
    expect_status 0
    expect_text "Undecided: posix will do until another way is shown to be faster"
    [[ $output =~ "The first interval takes 7 rounds of the comparison, --rounds 7 --minutes "[0-9.]+"." ]]
    expect_json out/tune/tune.json '.verdict == "undecided" and .best.name == "posix" and .best.rounds == 3'
}

@test "a winner that obeys no component runs against the best of those that do" {
    slow
    ROMIO=2 tune
    expect_status 0
    expect_json out/tune/tune.json '.best.name == "posix --buffer 4Mi" and .best.component == null
        and (.final.ways | map(.name) == ["posix --buffer 4Mi", "mpiio (romio321)", "posix"])'
    expect_text "    mpirun -np 2 nht1-bt --io posix --buffer 4Mi"
    [[ $output != *OMPI_MCA_io* ]]
}

@test "a component whose search fails is told and left out; where all fail the status is 3" {
    slow
    COMPONENTS_FAIL=romio321 tune
    expect_status 0
    expect_text "romio321: exit status 3: nht1-bt: mpiio: the component crashed"
    expect_json out/tune/tune.json '.best.label == "posix --buffer 4Mi" and .searches[1].best == null
        and (.final.ways | map(.name) == ["posix --buffer 4Mi", "posix"])'
    COMPONENTS_FAIL=ompio tune # the other one's search is of all writers then
    grep -qE '^romio321 .*--io auto --minutes' starts
    COMPONENTS_FAIL='romio321 ompio' tune
    expect_status 3
    expect_text "Nothing was found"
    expect_schema nht1-tune-1 out/tune-3/tune.json
}

@test "a component is a name: what is none is the option's or the variable's fault" {
    tune --components $'ompio\nx'
    expect_status 1
    expect_text "--components: 'ompio\\nx' is no name of a component"
    [ ! -e out/tune ] && [ ! -e starts ]
    OMPI_MCA_io=../x tune
    expect_status 1
    expect_text "OMPI_MCA_io: '../x' names no component"
    [ ! -e out/x ]
}

@test "without a choice of components there is one search: a named one, or another MPI library" {
    slow
    tune --components ompio
    expect_status 0
    grep -qE '^ompio .*--io auto --minutes [2345]' starts
    OMPI_MCA_io=romio321 tune
    expect_text "OMPI_MCA_io=romio321 mpirun"
    [ "$(tail -n 1 starts | cut -d' ' -f1)" = romio321 ]
    make_launcher mpirun "HYDRA build details:"
    tune
    expect_status 0
    [ "$(tail -n 1 starts | cut -d' ' -f1)" = - ]
    expect_json out/tune-3/tune.json '.searches | length == 1 and .[0].component == null'
}

@test "--exhaustive runs every candidate and measures the choice against the best of them" {
    slow
    tune --exhaustive 0.1
    expect_status 0
    expect_text "Check: it is also the best of all 6 candidates"
    expect_json out/tune/tune.json '.check | .same and .candidates_n == 6'
    # a search that chose something else
    ROMIO=0.9 tune --components ompio --against out/tune
    expect_status 0
    expect_text "times as long as mpiio --hint cb_nodes=1 (romio321)"
    expect_text ": within 5 %"
    ROMIO=0.6 tune --components ompio --against out/tune/exhaustive
    expect_text ": not within 5 %"
    expect_schema nht1-tune-1 out/tune-3/tune.json
    expect_json out/tune-3/tune.json '.check | .rounds == 12 and .lo > 1.3 and .ratio < 1.4 and (.same | not)'
}

@test "where the probe finds that nothing can be measured nothing is searched" {
    PROBE_FAILS='x: its file system does not answer' tune
    expect_status 3
    expect_text "the probe: nht1-bt: x: its file system does not answer"
    [ ! -e starts ]
    # Nor where its launcher fails, which is quoted.
    printf '#!/bin/sh\n[ "$1" != --version ] || exec echo other 1\necho "go: no such host" >&2\nexit 7\n' >bin/go
    chmod +x bin/go
    tune --launcher bin/go
    expect_status 3
    expect_text "the probe: exit status 7: go: no such host"
    [ ! -e starts ]
}

@test "little time: the runs of the comparison are shorter, so that its rounds fit" {
    slow
    sed -i "s/'t_t_s': best \/ 10/'t_t_s': best/" bin/nht1-bt # as if they took longer
    tune --minutes 1.5
    expect_status 0
    expect_json out/tune/tune.json '.final | .steps % 5 == 0 and .steps >= 10 and .steps < 100 and .rounds == 12'
    grep -q -- "--steps $(jq .final.steps out/tune/tune.json) " starts
}

@test "what is wrong is told before anything runs" {
    tune --unknown 3
    expect_status 1
    expect_text "'--unknown' is an option neither of runs/study tune nor of nht1-bt"
    tune --io posix
    expect_status 1
    expect_text "--io: it is given by runs/study tune itself"
    tune --probe
    expect_status 1
    expect_text "--probe: it is given by runs/study tune itself"
    [[ $output != *"study tune: runs/study"* ]]
    tune --class
    expect_status 1
    expect_text "--class needs a value"
    tune --direct=yes
    expect_status 1
    tune --files nowhere
    expect_status 1
    mkdir full && touch full/x
    study tune --ranks 2 --threads 1 --no-report --out full
    expect_status 1
    expect_text "not empty"
    tune --against nowhere
    expect_status 1
    expect_text "no exhaustive study"
    # A damaged one, which would end the whole after the search.
    mkdir damaged
    for damage in '.hint = 3' '.hint = ["a=1"]' '.io = null' '.["env.OMPI_MCA_io"] = {}' '.json = "/tmp/x"' '.minutes = "2"'; do
        jq -n "{schema: \"nht1-study-summary/1\", points: [{id: \"p01\", section: \"mpiio\", series: [{median: 1}],
            settings: ({io: \"mpiio\"} | $damage)}]}" >damaged/summary.json
        tune --against damaged
        expect_status 1
        expect_text "--against damaged: point p01 is none of an exhaustive study"
    done
    [ ! -e starts ]
    # What the program alone knows to be wrong.
    FAILS_WITH=1 COMPONENTS_FAIL=ompio tune --class Q
    expect_status 1
    expect_text "tune: nht1-bt: mpiio: the component crashed"
    [ ! -e out ]
}

@test "a step that fails behind a search leaves the best so far, and leaves with 3" {
    mkdir files
    # shellcheck disable=SC2016 # as it stands
    sed -i 's/^sleep if/rmdir(substr($given{out}, 0, rindex($given{out}, "\/"))), rmdir("files") if $component eq "romio321";\n&/' bin/nht1-bt
    tune --files files
    expect_status 3
    expect_text "The way to write here so far"
    expect_text "files: no such folder for the files"
    expect_schema nht1-tune-1 out/tune/tune.json
    expect_json out/tune/tune.json '.ended == "failed" and .best.name == "posix" and .verdict == "undecided"
        and ([.searches[].best] == ["posix --buffer 4Mi", "mpiio --hint cb_nodes=1"])'
    [ -s out/tune/tune.txt ]
}

final_begun() { # whichever of the points comes first: their order is random
    compgen -G 'out/tune/final/runs/*.part' >/dev/null
}

@test "interrupted, it prints the best so far and leaves with 3" {
    slow
    touch slow
    "$NHT1_ROOT/runs/study" tune --ranks 2 --threads 1 --under out >said 2>&1 3>&- &
    wait_until -p $! final_begun
    kill -INT $!
    status=0
    wait $! || status=$?
    [ $status -eq 3 ]
    grep -q 'The way to write here so far' said
    expect_schema nht1-tune-1 out/tune/tune.json
    # and changes no component on what was not compared
    expect_json out/tune/tune.json '.ended == "interrupted" and .best.name == "posix" and .verdict == "undecided"'
}
