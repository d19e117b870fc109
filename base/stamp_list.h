/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stamps of all programs, a row for each:
 *
 *   STAMP(name, code, programs, severities, spoils, meaning)
 *
 * name        of the enumerator STAMP_name (base/stamp.h): the code in capitals
 * code        as it stands in results; never changed once released, as others read it
 * programs    that give it, separated by spaces
 * severities  that it can have, separated by spaces
 * spoils      why nothing can be concluded from a result that is stamped so: what was measured is not
 *             what was asked for; comparisons refuse it. "": it can
 * meaning     one sentence for documents, by program where they differ
 *
 * A new stamp is a row here, the program that gives it, a test of that, and docs/zeta.md and
 * docs/schema brought up to date by tests/stamps --write. No include guard: each who includes this
 * defines STAMP. */
STAMP(
    BALANCED, "balanced", "nht1-bt nht1-profile nht1-report", "good", "",
    "the paired zeta's interval lies at or below 0.10; this or one of the next four wherever there "
    "is a T_C and a right serial file ([the answer](zeta.md#the-answer)), and the same of what is "
    "read back ([reading](zeta.md#reading-back))")
STAMP(IO_FASTER_THAN_NEEDED, "io-faster-than-needed", "nht1-bt nht1-profile nht1-report", "good",
      "", "besides, the interval of data lies at or below 0.01: slower I/O would do")
STAMP(IO_TOO_SLOW, "io-too-slow", "nht1-bt nht1-profile nht1-report", "bad", "",
      "the intervals of the paired zeta and of data lie above 0.10")
STAMP(
    NOT_MEASURABLE, "not-measurable", "nht1-bt nht1-profile nht1-report", "warn", "",
    "nothing can be concluded: processors are shared, the page cache alone was measured, runs are "
    "too short or disturbed, or the paired zeta is above 0.10 by bookkeeping or slowdown of "
    "computing and not by data")
STAMP(UNDECIDED, "undecided", "nht1-bt nht1-profile nht1-report", "note", "",
      "the intervals hold 0.10, or there are too few rounds for intervals")
STAMP(
    DISTURBED, "disturbed", "nht1-bt nht1-beff nht1-beffio nht1-workload nht1-profile", "note warn",
    "something else used the machine",
    "a run: other programs, a hypervisor, a CPU quota or a suspension took processors that its "
    "ranks needed "
    "(docs/disturbance.md), "
    "and a writer: one of its runs (note: in fewer than half of the rounds, so that there is an "
    "answer); a writer of nht1-bt: computing between the writer's calls took "
    "more than 2 T_C; a result of "
    "nht1-bt: computing alone took over 10 % more than T_C in this job; nht1-beff: all repetitions "
    "took much longer than the fastest ones")
STAMP(PROCESSORS_SHARED, "processors-shared",
      "nht1-bt nht1-beff nht1-beffio nht1-workload nht1-profile", "note warn",
      "ranks did not get the processors that they are to have",
      "a run, and a writer: ranks did not have their processors, and no other program took them: "
      "more "
      "ranks or threads than processors, or the kernel flushed the job's files (note: beside a "
      "writer, and not in computing alone)")
STAMP(DISTURBANCE_UNKNOWN, "disturbance-unknown",
      "nht1-bt nht1-beff nht1-beffio nht1-workload nht1-profile", "note", "",
      "neither the ranks' share of their processors nor other programs nor steal can be read here: "
      "whether something else used the machine is not known")
STAMP(IMPLIED_RATE, "implied-rate", "nht1-bt", "note", "",
      "the effective write rate, bytes / (T_T - T_C), and the rate that would meet the goal (of a "
      "writer in the background: bytes over the time of its I/O, and with all of it there, bytes / "
      "(1.10 T_C)); only "
      "where the answer is not not-measurable and the extra time is more than noise: the paired "
      "interval above 0, or, without an interval, zeta above 0.05")
STAMP(TC_NOT_BEST, "tc-not-best", "nht1-bt", "note warn", "",
      "a writer: zeta is below 0 (note where T_C was given with `--tc`); a result: T_C was given "
      "with "
      "`--tc`")
STAMP(OFFICIAL, "official", "nht1-bt", "good", "",
      "N = 102, 200 steps, a dump every 5, serial file, verified")
STAMP(NOT_VERIFIED, "not-verified", "nht1-bt nht1-workload", "warn bad",
      "the dumps are not proved to be right",
      "nht1-bt: norms or file are wrong (bad), or were not checked (warn); nht1-workload: no data "
      "were checked (`--check none`)")
STAMP(
    PAGE_CACHE, "page-cache", "nht1-bt nht1-workload", "note warn",
    "T_T measures memory, not a device",
    "nht1-bt: the file system is in memory; or more than 5 % of the file had not reached the "
    "device when the clock stopped, as nothing was flushed (`--sync none`) or flushing does "
    "nothing there ([durability.md](durability.md#memory-or-device)); nht1-workload: what was read "
    "was cached, or may have been; or what was written was not flushed inside the clock")
STAMP(READ_WRONG, "read-wrong", "nht1-bt", "bad", "dumps were read back wrong",
      "what was read back of a dump is not what the manifest's digest says; the exit status is 2")
STAMP(READ_CACHED, "read-cached", "nht1-bt", "warn", "",
      "asked for cold, but the file system is in memory, more than 5 % of the dumps was still in "
      "memory, or the system cannot tell")
STAMP(
    READ_NOT_CACHED, "read-not-cached", "nht1-bt", "warn", "",
    "asked for warm, but less than 95 % of the dumps was in memory after they had been read once: "
    "they do not fit, or `--direct` bypasses the page cache; or the system cannot tell")
STAMP(READ_SERVER_CACHE, "read-server-cache", "nht1-bt", "note", "",
      "read cold, but on a network file system or a virtual machine: what servers or the host hold "
      "in "
      "memory can be neither dropped nor seen")
STAMP(TOO_SHORT, "too-short", "nht1-bt nht1-workload", "note warn", "noise and start-up dominate",
      "nht1-bt: T_T below 1 s; nht1-workload: too little data for the clocks, or too large a share "
      "of "
      "the time in the second barrier")
STAMP(WRITER_NULL, "writer-null", "nht1-bt", "note", "",
      "no file at all: the writer `null` drops the data, and so has no rates")
STAMP(NO_SERIAL_FILE, "no-serial-file", "nht1-bt", "note", "",
      "one file per rank: not a result of the benchmark")
STAMP(OVERSUBSCRIBED, "oversubscribed", "nht1-bt nht1-beff nht1-beffio", "warn",
      "more ranks and threads than cores", "ranks x threads above the number of cores")
STAMP(CORES_UNUSED, "cores-unused", "nht1-bt nht1-beff", "note", "",
      "ranks x threads below the number of cores")
STAMP(BOUND, "bound", "nht1-bt", "warn", "",
      "a rank, or all of them together, may use fewer CPUs than there are threads")
STAMP(INTERRUPTED, "interrupted", "nht1-bt nht1-beffio nht1-profile", "warn",
      "the job did not come to its end",
      "fewer complete rounds or repetitions than `--repeat` asks for, or, with auto, no end of "
      "them: the job was "
      "stopped, was killed or failed; its complete runs are there; nht1-profile: or the program "
      "did not end by itself")
STAMP(SIMULATED, "simulated", "nht1-bt", "warn", "its times are those of a simulation",
      "ranks and network were simulated ([simulation.md](simulation.md)): nothing was measured on "
      "the "
      "system that is named")
STAMP(EXTRAPOLATED, "extrapolated", "nht1-bt", "note", "", "fewer steps than the class has")
STAMP(VALID, "valid", "nht1-beff nht1-beffio nht1-workload", "good note", "",
      "nht1-beff, nht1-beffio: every rule of the definition was kept; nht1-workload: the run "
      "finished, every measurement held enough data, and all checked data were right")
STAMP(
    NOT_VALID, "not-valid", "nht1-beff nht1-beffio nht1-workload", "bad",
    "not valid by its own definition",
    "one for each rule of the definition that was broken; nht1-workload: data were wrong, the run "
    "did not finish, or some measurements held too little data")
STAMP(QUICK, "quick", "nht1-beff nht1-beffio", "note", "",
      "a trial run (`--quick`), not a measurement")
STAMP(CAPPED, "capped", "nht1-beff nht1-beffio", "note warn", "",
      "nht1-beff: to end in time, some rounds used one method only or were left out; nht1-beffio: "
      "writing ended at the limit of space")
STAMP(PLACEMENT, "placement", "nht1-beff", "note", "",
      "how the processes lie on several nodes, on which the value depends")
STAMP(CACHE_HONEST, "cache-honest", "nht1-beffio nht1-workload", "good", "",
      "what was read came from a device, as far as this can be known")
STAMP(NOT_CACHE_HONEST, "not-cache-honest", "nht1-beffio nht1-workload", "note warn",
      "what was read may have come from memory",
      "what was read, or written and not flushed, may have been in memory")
STAMP(INCOMPLETE, "incomplete", "nht1-workload nht1-profile", "warn",
      "only a part of the accesses is in it",
      "nht1-workload: some accesses of the profiled program are not in the file, and were not "
      "replayed; nht1-profile: some ranks left no counters")
STAMP(DIRECTIVE_OVERRIDDEN, "directive-overridden", "nht1-workload", "note", "",
      "something that the job file asks for was not done as it says")
