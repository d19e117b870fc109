# SPDX-License-Identifier: GPL-3.0-or-later
# Part of the Makefile: nht1-profile, and the library that it loads into programs. That one is built
# without sanitizers, which would have to be loaded first.

PROFILE_LIB     := $(B)/lib/nht1/libnht1-profile.so
PROFILE_SOURCES := profile/preload.c profile/pieces.c

$(PROFILE_LIB): $(PROFILE_SOURCES) $(wildcard profile/*.h) workload/function.h $(B)/settings
	@mkdir -p $(@D)
	$(call say,LIB)
	$(Q)$(MPICC) $(filter-out $(SAN),$(ALL_CFLAGS)) -fPIC -shared $(LDFLAGS) -o $@ \
	    $(PROFILE_SOURCES) -ldl -pthread

$(B)/bin/nht1-profile: $(call obj,profile/main.c profile/merge.c workload/function.c workload/point.c) \
    $(SERIAL_OBJS) | $(PROFILE_LIB)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
