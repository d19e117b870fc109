# SPDX-License-Identifier: GPL-3.0-or-later
# Part of the Makefile: the plug-ins through which nht1-verify reads dump files in HDF5 and netCDF, each built
# where its library is. Of HDF5 only the serial one will do: the others bring MPI. HDF5_SERIAL= and NETCDF=
# on the command line leave them out. Sanitizers would have to be in the libraries, too.

ifeq ($(origin HDF5_SERIAL),undefined)
HDF5_SERIAL := $(shell for p in hdf5-serial hdf5; do flags=$$($(PKG) --cflags --libs $$p 2>/dev/null) && \
    printf '\#include <hdf5.h>\n\#ifdef H5_HAVE_PARALLEL\n\#error\n\#endif\n' | \
    $(CC) $$flags -E -x c - >/dev/null 2>&1 && { echo "$$flags"; break; }; done)
endif
ifeq ($(origin NETCDF),undefined)
NETCDF := $(shell $(PKG) --cflags --libs netcdf 2>/dev/null)
endif
VERIFY_PLUGINS := $(if $(HDF5_SERIAL),$(B)/lib/nht1/libnht1-read-hdf5.so) $(if $(NETCDF),$(B)/lib/nht1/libnht1-read-netcdf.so)

$(B)/lib/nht1/libnht1-read-hdf5.so: PLUGIN_FLAGS = $(HDF5_SERIAL)
$(B)/lib/nht1/libnht1-read-netcdf.so: PLUGIN_FLAGS = $(NETCDF)
$(VERIFY_PLUGINS): $(B)/lib/nht1/libnht1-read-%.so: verify/plugin/%.c verify/plugin/plugin.h $(B)/settings
	$(call say,LIB)
	$(Q)$(CC) $(filter-out $(SAN),$(ALL_CFLAGS)) -fPIC -shared $(LDFLAGS) -o $@ $< $(PLUGIN_FLAGS) -lm

$(B)/bin/nht1-verify: | $(VERIFY_PLUGINS)

# Makes such files for the tests, through the same libraries.
MKCONTAINER := $(if $(HDF5_SERIAL)$(NETCDF),$(B)/tests/mkcontainer)
$(B)/tests/mkcontainer: tests/mkcontainer.c $(B)/settings
	$(call say,CC)
	$(Q)$(CC) $(filter-out $(SAN),$(ALL_CFLAGS)) $(if $(HDF5_SERIAL),-DHAVE_HDF5) $(if $(NETCDF),-DHAVE_NETCDF) \
	    $(LDFLAGS) -o $@ $< $(HDF5_SERIAL) $(NETCDF) $(shell $(PKG) --libs jansson)
