# SPDX-License-Identifier: GPL-3.0-or-later
# Part of the Makefile: the plug-ins for file formats that belong to a library, each optional: what is
# not found is not built, and the writers that need it say so. A library made for another MPI cannot
# be used: Debian has an HDF5 for each of them, and PnetCDF for Open MPI. HDF5= or PNETCDF= on the
# command line leaves one out; with flags for compiler and linker it names one that pkg-config does
# not know.

FORMAT_MPI := $(shell $(MPICC) --showme:version >/dev/null 2>&1 && echo openmpi || echo mpich)
HDF5    ?= $(shell $(PKG) --cflags --libs hdf5-$(FORMAT_MPI) 2>/dev/null)
PNETCDF ?= $(if $(filter openmpi,$(FORMAT_MPI)),$(shell $(PKG) --cflags --libs pnetcdf 2>/dev/null))

FORMAT_LIBS := $(if $(HDF5),$(B)/lib/nht1/libnht1-hdf5.so) $(if $(PNETCDF),$(B)/lib/nht1/libnht1-netcdf.so)
$(B)/lib/nht1/libnht1-hdf5.so: io/writers/format/hdf5.c
$(B)/lib/nht1/libnht1-hdf5.so: FORMAT_FLAGS = $(HDF5) -lhdf5_hl
$(B)/lib/nht1/libnht1-netcdf.so: io/writers/format/netcdf.c
$(B)/lib/nht1/libnht1-netcdf.so: FORMAT_FLAGS = $(PNETCDF)
$(FORMAT_LIBS): io/writers/format.h io/writers/format/rules.mk $(B)/settings
	$(call say,LIB)
	$(Q)$(MPICC) $(filter-out $(SAN),$(ALL_CFLAGS)) -fPIC -shared $(LDFLAGS) -o $@ $(filter %.c,$^) \
	    $(FORMAT_FLAGS)

$(B)/bin/nht1-bt $(call testbin,$(filter tests/mpi_io_%,$(TEST_MPI))): | $(FORMAT_LIBS)
