# SPDX-License-Identifier: GPL-3.0-or-later
# Part of the Makefile: studies and reports in Python, and what they are made of.

# Studies and reports in Python: runs/study is the start of them all, by its name.
PY_PROGRAMS := $(addprefix $(B)/bin/nht1-,$(notdir $(call listed,kind,python)))

# The package, the studies and the schemas beside the programs, so that they start from any folder. Put in place as a whole,
# under a lock: another make may be at the same, and a study may be reading.
$(SHARE)/runs/nht1/copied: $(B)/build $(shell find runs/nht1 config docs/schema -type f ! -name '*.pyc')
	@mkdir -p $(SHARE)/runs $(SHARE)/config $(SHARE)/docs/schema
	$(Q)exec 9>$(B)/copying && flock 9 && new=$(abspath $(SHARE)/runs/new) && rm -rf $$new && mkdir $$new && \
	    (cd runs && find nht1 -type f ! -path '*/__pycache__/*' -exec cp --parents -t $$new {} +) && \
	    cp config/*.ini config/*.conf $(SHARE)/config && cp docs/schema/*.json $(SHARE)/docs/schema && \
	    echo '$(BUILD)' >$$new/nht1/version && touch $$new/nht1/copied && \
	    rm -rf $(SHARE)/runs/nht1 && mv $$new/nht1 $(SHARE)/runs && rmdir $$new

$(PY_PROGRAMS): runs/study $(SHARE)/runs/nht1/copied
	@mkdir -p $(@D)
	$(call say,COPY)
	$(Q)cp runs/study $@

# The launcher of the MPI library that MPICC links with, for studies and tests: named like MPICC and
# beside it (mpicc.mpich: mpirun.mpich). By its name alone where that leads to the same.
LAUNCHER := $(SHARE)/runs/launcher
$(LAUNCHER): $(B)/settings
	@mkdir -p $(@D)
	@cc=$$(command -v $(firstword $(MPICC))); run=$$(echo "$${cc##*/}" | sed -n 's/^mpi[a-z+]*/mpirun/p'); \
	path=$${cc%/*}/$${run:-none}; [ -x "$$path" ] || run=mpirun path=; \
	[ -z "$$path" ] || [ "$$(command -v "$$run")" = "$$path" ] || run=$$path; \
	echo "$$run" >$@
$(PY_PROGRAMS) $(call program,$(MPI_MAINS)): | $(LAUNCHER)

# The table of nht1-bt's options, of which Python takes the settings of writers.
OPTIONS := $(SHARE)/runs/options-bt.json
$(OPTIONS): $(B)/bin/nht1-bt
	@mkdir -p $(@D) && $< --help-json >$@.$$$$ && mv $@.$$$$ $@
# The codes of stamps (base/stamp_list.h), of which Python takes those that it knows by name.
STAMPS := $(SHARE)/runs/stamps.json
$(STAMPS): $(B)/bin/nht1-stats
	@mkdir -p $(@D) && $< --stamps >$@.$$$$ && mv $@.$$$$ $@
$(PY_PROGRAMS): | $(OPTIONS) $(STAMPS)

run: ## whether the file system keeps up with all cores (OUT=DIR: the one there), then the best way to write: two minutes
	@bash config/setup.sh run
	@$(MAKE) -j$(JOBS) all
	@NHT1_BIN=$(abspath $(B)/bin) runs/study check '$(or $(OUT),.)' $(if $(WRITERS),--io '$(WRITERS)') \
	    $(if $(RANKS),--ranks '$(RANKS)') $(STUDY_FLAGS) || case $$? in 2|4) ;; *) exit 1 ;; esac

example: ## the report that docs/example.md explains, into build/example: about an hour
	@bash config/setup.sh run
	@$(MAKE) -j$(JOBS) all
	@NHT1_BIN=$(abspath $(B)/bin) runs/example.sh $(B)/example

study: ## make study STUDY=NAME: one of config/*.ini or an INI file; STUDY= lists them
	@bash config/setup.sh run
	@$(MAKE) -j$(JOBS) all
	@NHT1_BIN=$(abspath $(B)/bin) runs/study $(or $(STUDY),--list) $(STUDY_FLAGS)

# nht1-bt as SimGrid simulates it, in a build folder of its own.
SIMULATION := $(B)/simulation
simulate-programs:
	@$(MAKE) -j$(JOBS) O=$(SIMULATION) CC=smpicc MPICC=smpicc URING= \
	    CFLAGS='$(CFLAGS) -DSMPI_NO_OVERRIDE_MALLOC -Wno-discarded-qualifiers' $(SIMULATION)/bin/nht1-bt
	$(Q)strip $(SIMULATION)/bin/nht1-bt
# simulate [check]: of SimGrid, where it is installed.
simulated = @command -v smpicc >/dev/null && command -v smpirun >/dev/null || \
    { echo "make $@: left out: SimGrid is not installed: make setup-full, or apt-get install libsimgrid-dev"; exit 0; }; \
	$(MAKE) simulate-programs && PYTHONPATH=runs python3 -B -m nht1.simulate $(abspath $(SIMULATION))
simulate: all bench-programs ## thousands of ranks with the real code, by SimGrid: docs/simulation.md; PLATFORMS, RANKS, CLASS
	$(simulated)
simulate-check: all ## 2 ranks of this machine, simulated and measured side by side; CLASS, STEPS, ROUNDS
	$(simulated) check
