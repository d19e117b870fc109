# SPDX-License-Identifier: GPL-3.0-or-later
# Part of the Makefile: the library that nht1-profile loads into programs. It is built without
# sanitizers, which would have to be loaded first. Whether MPI has functions with large counts
# (MPI 4), its mpi.h knows. Where a program has a function of the same name as one of it, it calls its own.

PROFILE_LIB := $(B)/lib/nht1/libnht1-profile.so
$(PROFILE_LIB): $(wildcard companions/profile/preload/*.[ch]) companions/profile/record.h companions/workload/function.h companions/workload/runs.h companions/profile/rules.mk $(B)/settings
	$(call say,LIB)
	$(Q)large=$$(echo '#include <mpi.h>' | $(MPICC) -E -x c - | grep MPI_File_write_at_c >/dev/null && \
	    echo -DHAVE_LARGE_COUNT); \
	$(MPICC) $(filter-out $(SAN),$(ALL_CFLAGS)) $$large -fPIC -shared -Wl,-Bsymbolic-functions $(LDFLAGS) -o $@ \
	    $(filter %.c,$^) -ldl -pthread

$(B)/bin/nht1-profile: | $(PROFILE_LIB)
