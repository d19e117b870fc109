# SPDX-License-Identifier: GPL-3.0-or-later
# Part of the Makefile: what builds and runs the tests.

TEST_SERIAL := $(wildcard tests/test_*.c)
TEST_MPI    := $(wildcard tests/mpi_*.c)
TEST_TOOL   := $(filter-out tests/mkcontainer.c,$(wildcard tests/mk*.c))
TEST_LIB    := $(filter-out $(TEST_SERIAL) $(TEST_MPI) tests/mk%,$(wildcard tests/*.c))
# Of the library that nht1-profile loads into programs, which no program is linked with.
TEST_PRELOAD := $(call obj,companions/profile/preload/timeline.c)
TEST_OBJS   := $(call obj,$(TEST_SERIAL) $(TEST_MPI) $(TEST_TOOL) $(TEST_LIB)) $(TEST_PRELOAD)
# A fuzzer is a file of tests/fuzz/ and the driver: tests/fuzz/fuzz.h.
FUZZ        := $(filter-out driver,$(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c)))
FUZZ_OBJS   := $(call obj,$(wildcard tests/fuzz/*.c))
# No test is about its own speed, but the oracle computes.
$(filter-out %/oracle.o,$(TEST_OBJS)) $(FUZZ_OBJS): FILEFLAGS = $(if $(SANITIZE),,-O1 -g1)
$(call obj,tests/oracle.c): FILEFLAGS = $(if $(SANITIZE),-O1)
LIBTEST     := $(B)/lib/libtest.a
testbin      = $(patsubst tests/%.c,$(B)/tests/%,$(1))

$(LIBTEST): $(call obj,$(TEST_LIB))
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(call testbin,tests/mpi_io_read.c tests/mpi_io_fault.c): ALL_LDFLAGS += -Wl,--dynamic-list=io/writers/guard.syms
$(call testbin,tests/test_profile.c): $(TEST_PRELOAD)
$(call testbin,$(TEST_SERIAL) $(TEST_MPI) $(TEST_TOOL)): $(B)/tests/%: $(B)/obj/tests/%.o \
    $(LIBTEST) $(LIBNHT1) $(GUARD)
	$(call say,LINK)
	$(Q)$(MPICC) $(OPENMP) $(ALL_LDFLAGS) -o $@ $^ $(if $(filter mk%,$*),,-lcmocka) $(LIBS)

$(FUZZ:%=$(B)/fuzz/%): $(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(B)/obj/tests/fuzz/driver.o $(LIBNHT1) $(GUARD)
	$(call say,LINK)
	$(Q)$(MPICC) $(OPENMP) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
fuzz-programs: $(FUZZ:%=$(B)/fuzz/%)

# With AFL++ where it is installed, else by the driver's own mutations.
FUZZ_SECONDS ?= 60
FUZZ_TRIES ?= 0
AFL_CC := $(if $(shell command -v afl-fuzz),$(shell command -v afl-clang-fast))
fuzz: ## hostile inputs for everything that reads files, FUZZ_SECONDS=60 in all, or FUZZ_TRIES=N each
	@$(MAKE) -k -j$(JOBS) O=$(B)/asan SANITIZE=1 OPT=-O1 fuzz-programs
	$(if $(AFL_CC),@$(MAKE) -k -j$(JOBS) O=$(B)/afl CC=$(AFL_CC) SANITIZE=1 OPT=-O1 fuzz-programs)
	@O=$(B)/asan $(if $(filter-out 0,$(FUZZ_TRIES)),TRIES=$(FUZZ_TRIES) tests/fuzz/run 0,\
	    AFL=$(if $(AFL_CC),$(B)/afl) tests/fuzz/run $(FUZZ_SECONDS))

# In front of the C library's calls: fault.so lets those on files fail (and those of liburing where the
# writer uring is built), wait.so lets ranks sleep that wait, which fault.so does, too; clock.so is a clock
# that tests hold, delay.so slows writes down (bench/verdicts); of MPI's: probe_call.so. slowfs is a file system, where FUSE is there.
SHIMS := $(B)/tests/fault.so $(B)/tests/wait.so $(B)/tests/clock.so $(B)/tests/delay.so
FUSE  := $(shell $(PKG) --cflags --libs fuse3 2>/dev/null)
SLOWFS := $(if $(FUSE),$(B)/tests/slowfs)
$(B)/tests/fault.so: tests/shim/fault.c tests/shim/wait.c $(if $(URING),tests/shim/fault_uring.c) tests/shim/fault.h
$(B)/tests/wait.so: tests/shim/wait.c
$(B)/tests/clock.so: tests/shim/clock.c
$(B)/tests/delay.so: tests/shim/delay.c
$(SHIMS): $(B)/settings
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(WARN) -shared -fPIC -o $@ \
	    $(filter %.c,$^) -ldl

$(B)/tests/probe_call.so: tests/shim/probe_call.c $(B)/settings
	$(Q)$(MPICC) -std=c11 -D_GNU_SOURCE $(WARN) -shared -fPIC -o $@ $< -ldl
$(B)/tests/slowfs: tests/shim/slowfs.c $(B)/settings
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(WARN) -o $@ $< $(FUSE)

# What tests/run starts of a build with sanitizers.
sanitized: all $(call testbin,$(filter-out $(NHT1_PLAIN:%=tests/test_%.c),$(TEST_SERIAL))) fuzz-programs
tests: $(call testbin,$(or $(NHT1_PLAIN:%=tests/test_%.c),$(TEST_SERIAL)) $(TEST_MPI) $(TEST_TOOL)) $(MKCONTAINER) $(SHIMS) $(B)/tests/probe_call.so $(SLOWFS) $(B)/fuzz/selftest bench-programs ## build the test programs

# The runner counts what could not be built as failed.
CHECKS := serial python mpi e2e layers sanitize
check: ## set up, build, run the tests
check-full: export NHT1_FULL = 1
check-full: ## as check, and every test that takes long
$(CHECKS:%=check-%): check-%: ## one part of the tests: serial, python, mpi, e2e, layers or sanitize
# Of the serial tests, check runs these without sanitizers alone, which compute for seconds, the others with
# sanitizers alone; a part by itself, and check-full, run all.
check: export NHT1_PLAIN = oracle judge race sequential view
check check-full $(CHECKS:%=check-%):
	@bash config/setup.sh check
	-@$(MAKE) -k -j$(JOBS) all tests
	@O=$(B) tests/run $(filter $(CHECKS),$(@:check-%=%))
# Programs built by gcc for gcov in a folder of their own, which tests that call make there find as it is. PARTS: of
# tests/run; BATS: files of end-to-end tests beside them. The table of the last run: docs/coverage.md.
# The counts go to a folder below /dev, whose files nht1-profile does not follow: gcov writes them from within
# the programs, also the ones that are profiled. Threads may lose a count to each other: with
# atomic counters the solver takes four times as long.
COUNTS = /dev/shm/nht1-coverage-$(shell id -u)-$(subst /,-,$(patsubst /%,%,$(abspath $(B))))
PARTS ?= serial mpi e2e
BATS  ?=
coverage: ## lines and branches that the tests execute, by folder; longer than check: PARTS="serial mpi" BATS="beff read" for some
	@mkdir -p $(B)/coverage
	@printf '%s\n' 'OPT = -O1' 'ISAS = generic' 'CFLAGS = --coverage' 'LDFLAGS = --coverage' \
	    >$(B)/coverage/config.mk
	-@$(MAKE) -k -j$(JOBS) O=$(B)/coverage all tests
	@find $(B)/coverage -name '*.gcda' -delete
	@rm -rf $(COUNTS)
	-@$(if $(PARTS),GCOV_PREFIX=$(COUNTS) O=$(B)/coverage tests/run $(PARTS))
	-@$(if $(BATS),GCOV_PREFIX=$(COUNTS) O=$(B)/coverage NHT1_BIN=$(abspath $(B)/coverage/bin) \
	    NHT1_TESTBIN=$(abspath $(B)/coverage/tests) bats $(BATS:%=tests/%.bats))
	@cp -r $(COUNTS)$(abspath $(B)/coverage)/. $(B)/coverage
	@rm -rf $(COUNTS)
	@tests/coverage $(B)/coverage | tee $(B)/coverage/table.md
check-fs: all tests ## try file systems that are made for it: xfs, btrfs, tmpfs, NFS, GlusterFS
	@O=$(B) tests/fs/run
.PHONY: sanitized check-fs coverage
