# SPDX-License-Identifier: GPL-3.0-or-later
# Part of the Makefile: what builds and runs the measurements of `make bench`.

BENCH       := bench/peak.c bench/sequential.c
BENCH_MPI   := bench/kernels.c bench/model.c bench/pingpong.c bench/rawfile.c bench/staging.c
PEAKS       := $(ISAS:%=$(B)/obj/bench/peak_%.o)

$(PEAKS): $(B)/obj/bench/peak_%.o: bench/peak_unit.c $(B)/settings
	$(call say,CC)
	$(Q)$(CC) $(ISA_$*) -DPEAK_ISA=$* $(COMPILE)

$(B)/obj/bench/peak.o: FILEFLAGS = -DPEAK_ISAS='$(foreach i,$(ISAS),KERNEL($i))'

$(call obj,$(BENCH)): $(B)/obj/%.o: %.c $(B)/settings
	$(call say,CC)
	$(Q)$(CC) $(OPENMP) $(COMPILE)

$(B)/bench/peak: $(call obj,bench/peak.c) $(PEAKS)
$(B)/bench/sequential: $(call obj,bench/sequential.c)
$(patsubst %.c,$(B)/%,$(BENCH)): $(B)/obj/build.o $(LIBNHT1)
	$(call say,LINK)
	$(Q)$(CC) $(OPENMP) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIBNHT1) $(LIBS)

$(call obj,$(BENCH_MPI)): $(B)/obj/%.o: %.c $(B)/settings
	$(call say,MPI)
	$(Q)$(MPICC) $(OPENMP) $(COMPILE)

$(patsubst %.c,$(B)/%,$(BENCH_MPI)): $(B)/%: $(B)/obj/%.o $(B)/obj/build.o $(LIBNHT1)
	$(call say,LINK)
	$(Q)$(MPICC) $(OPENMP) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

bench-programs: $(patsubst %.c,$(B)/%,$(BENCH) $(BENCH_MPI))

# Results and tables are kept in $(B)/bench.
bench: ## peak rates, BT over threads and ranks, cost model, every writer; QUICK=1: a short one
	@bash config/setup.sh run
	@$(MAKE) -j$(JOBS) all bench-programs
	@NHT1_BIN=$(abspath $(B)/bin) PYTHONPATH=runs python3 -B -m nht1.bench compute $(abspath $(B)/bench)
	@$(MAKE) bench-model
	@NHT1_BIN=$(abspath $(B)/bin) PYTHONPATH=runs python3 -B -m nht1.bench io $(abspath $(B)/bench)
	@$(MAKE) bench-bookkeeping bench-beff

bench-bookkeeping: all bench-programs ## what a dump costs beside its data: manifest, agreement, staging, digests
	@NHT1_BIN=$(abspath $(B)/bin) PYTHONPATH=runs python3 -B -m nht1.bench bookkeeping $(abspath $(B)/bench)

bench-kernels: bench-programs ## each kernel of the solver alone, on data in cache; KERNELS_FLAGS="--isa avx2"
	@OMP_NUM_THREADS=1 $(B)/bench/kernels --json $(B)/bench/kernels.json $(KERNELS_FLAGS)

bench-beff: bench-programs ## what the harness of nht1-beff adds to a message
	@tests/mpi-run -np 2 $(B)/bench/pingpong --json $(B)/bench/pingpong.json \
	    $(if $(QUICK),--pairs 200)

bench-model: bench-programs ## predictions of the cost model, fitted to the last make bench
	@$(B)/bench/model --json $(B)/bench/model.json $(MODEL_FLAGS) $(B)/bench/bench.json

bench-sequential: bench-programs ## how often sequential verdicts are wrong: docs/statistics.md
	@$(B)/bench/sequential --fixed --check

bench-verdicts: all $(B)/tests/delay.so ## how often verdicts are wrong on this machine, hours: docs/measurements/verdicts.md
	@O=$(B) bench/verdicts same --load 4 --jobs 2
	@$(MAKE) bench-slower
	@O=$(B) bench/verdicts search --load 4

bench-slower: all $(B)/tests/delay.so ## slowdowns of 5, 10 and 30 % that ab finds live, 20 minutes on a quiet machine; SLOWER_FLAGS="--minutes 5"
	@mkdir -p $(B)/bench
	@O=$(B) bench/verdicts slower --class W --rounds 64 $(SLOWER_FLAGS)

bench-resample: all ## slowdowns of 5, 10, 30 % that verdicts find, in rounds recorded here: docs/measurements/verdicts.md
	@mkdir -p $(B)/bench
	@O=$(B) bench/resample $(B)/bench/rounds.json

bench-profile: all $(B)/tests/mkcalls ## what nht1-profile adds to a call of MPI-IO or POSIX
	@NHT1_BIN=$(abspath $(B)/bin) bash runs/bench-profile.sh
