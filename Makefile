# SPDX-License-Identifier: GPL-3.0-or-later
# nht1: one non-recursive Makefile. `make help` lists the targets, `make info` the settings.

-include config.mk
SITE    ?=
-include $(SITE:%=config/%.mk)
O       ?= build
# Settings of this build folder alone: whatever make is called with, it stays what it was made for.
-include $(O)/config.mk
ifeq ($(origin CC),default)
CC      := gcc
else
export OMPI_CC = $(CC)
export MPICH_CC = $(CC)
endif
MPICC   ?= mpicc
OPT     ?= -O3
PKG     ?= pkg-config
OBJDUMP ?= objdump
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
LIBDIR  ?= $(PREFIX)/lib
MANDIR  ?= $(PREFIX)/share/man
DOCDIR  ?= $(PREFIX)/share/doc/nht1
VERSION := $(shell sed -n 's/.*NHT1_VERSION "\(.*\)"/\1/p' base/version.h)
CLANG_FORMAT ?= clang-format
JOBS    ?= $(shell env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc 2>/dev/null || echo 1)
CONFIG_VARS := O SITE CC MPICC OPT CFLAGS LDFLAGS PKG OBJDUMP PREFIX BINDIR LIBDIR MANDIR DOCDIR JOBS MPIRUN \
               MPIRUN_FLAGS
export MPIRUN MPIRUN_FLAGS OBJDUMP

.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all
MAKEFLAGS += -r --no-print-directory
comma := ,
hash := \#
Q   := $(if $(V),,@)
# Without a process for each line; $(empty) keeps the blanks.
PAD_CC := $(empty)  $(empty)
PAD_MPI := $(empty) $(empty)
PAD_LIB := $(PAD_MPI)
PAD_MAN := $(PAD_MPI)
say  = $(if $(V),,$(info $(empty)  $1$(PAD_$1) $@))

B     := $(O)
# MPICH's special addresses, small integers, look to gcc like buffers without room.
WARN  := -Wall -Wextra -Wshadow -Wvla -Wconversion -Wstrict-prototypes \
         $(if $(CI),-Werror $(if $(findstring clang,$(CC)),,-Wno-error=stringop-overflow))
SAN   := $(if $(SANITIZE),-fsanitize=address -fsanitize=undefined -fno-omit-frame-pointer)
OPENMP := -fopenmp
# -ffp-contract=off: fused multiply-adds are written out, so every build gives the same bits.
BASEFLAGS := -std=c11 -D_GNU_SOURCE -I. $(OPT) -g -ffp-contract=off -fno-math-errno $(WARN) $(SAN)
# liburing is optional: without it there is no writer uring. URING= on the command line leaves it out.
URING     ?= $(shell $(PKG) --libs liburing 2>/dev/null)
ALL_CFLAGS := $(BASEFLAGS) $(if $(URING),-DHAVE_LIBURING) $(CFLAGS)
ALL_LDFLAGS := $(SAN) $(LDFLAGS)
COMPILE      = $(ALL_CFLAGS) $(FILEFLAGS) -MMD -MP -c -o $@ $<
LIBS      := $(or $(shell $(PKG) --libs jansson gsl hwloc zlib expat 2>/dev/null),-ljansson \
               -lgsl -lgslcblas -lhwloc -lz -lexpat) $(URING) -lm -pthread

# One object of the kernel per instruction set; the program chooses when it starts.
ISAS_x86_64  := avx512 avx2 generic
ISAS_aarch64 := sve512 sve256 neon
# A machine of ARM's has one width of SVE, and the kernel for that one alone can run on it.
TARGET := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null || uname -m)))
ISAS ?= $(or $(ISAS_$(TARGET)),generic)
ISA_avx512  := -mavx512f -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512
ISA_avx2    := -mavx2 -mfma
ISA_generic := -Wno-psabi
ISA_sve512  := -march=armv8.2-a+sve -msve-vector-bits=512
ISA_sve256  := -march=armv8.2-a+sve -msve-vector-bits=256

# offers CALL: whether the MPI library has it. Of two files that do a thing with and without it, one is built.
offers       = $(shell printf '$(hash)include <mpi.h>\nint main(void) { return $1; }\n' | \
    $(MPICC) -fsyntax-only -Werror=implicit-function-declaration -x c - >/dev/null 2>&1 && echo yes)
MPI_TOOL    := $(call offers,MPI_T_finalize())
SIMULATED   := $(call offers,(smpi_execute(0)$(comma) 0))
BASE_MPI    := base/par.c base/nodes.c base/cache.c base/own_all.c base/program.c base/mpilib_ask.c \
    base/mpilib_$(if $(MPI_TOOL),tool,notool).c base/simulation_$(if $(SIMULATED),smpi,none).c
BASE_SERIAL := $(filter-out $(BASE_MPI) base/mpilib_%tool.c base/simulation_%.c,$(wildcard base/*.c))
IO          := $(filter-out $(if $(URING),,io/writers/%_uring.c),$(wildcard io/*.c io/target/*.c io/writers/*.c))
BT_SERIAL   := bt/solver/problem.c bt/solver/exact.c
# listed KEY,VALUE: folders of the programs that have it in config/programs.conf. A folder that has a main.c
# makes the program nht1-FOLDER, by the last part of its name.
listed       = $(shell awk -F ' = ' '$$1 == "folder" { f = $$2 } $$1 == "$1" && $$2 == "$2" { print f }' config/programs.conf)
# Folders of what is free of MPI, and of what is not.
SERIAL_DIRS := $(call listed,kind,serial)
MPI_DIRS    := $(call listed,kind,mpi) bt/solver bt/search
SERIAL      := $(BASE_SERIAL) $(BT_SERIAL) $(filter-out %/main.c,$(wildcard $(SERIAL_DIRS:%=%/*.c)))
MPI         := $(BASE_MPI) $(IO) $(filter-out %/main.c bt/solver/kernel.c $(BT_SERIAL),$(wildcard $(MPI_DIRS:%=%/*.c)))
SERIAL_MAINS := $(wildcard $(SERIAL_DIRS:%=%/main.c))
MPI_MAINS   := $(wildcard $(MPI_DIRS:%=%/main.c))
program      = $(foreach m,$1,$(B)/bin/nht1-$(notdir $(m:%/main.c=%)))
obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
KERNELS     := $(ISAS:%=$(B)/obj/bt/solver/kernel_%.o)
SHARE       := $(B)/share/nht1
include runs/rules.mk
# All objects but those of main(): every program takes what it needs out of it.
LIBNHT1     := $(B)/lib/libnht1.a
# Brings a pwrite, which would go into every program that calls one: whose writing goes through io/writers/mpiio
# says so, or does not link.
GUARD       := $(call obj,io/writers/guard.c)
PROGRAMS    := $(call program,$(SERIAL_MAINS) $(MPI_MAINS)) $(PY_PROGRAMS)
include verify/rules.mk tests/rules.mk bench/rules.mk companions/profile/rules.mk io/writers/format/rules.mk config/rules.mk

all: $(PROGRAMS) ## build the programs into build/bin (the default)
	@:

# Settings of the last build: objects are made again when they change.
SETTINGS := $(strip $(CC) $(MPICC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LIBS) $(HDF5) $(PNETCDF) \
              $(MPI_TOOL) $(SIMULATED) \
              $(foreach i,$(ISAS),$(ISA_$i)))
ifneq ($(strip $(file <$(B)/settings)),$(SETTINGS))
.PHONY: $(B)/settings
endif
$(B)/settings: export NHT1_SETTINGS = $(SETTINGS)
$(B)/settings:
	@for p in $(CC) $(MPICC); do command -v $$p >/dev/null || \
	    { echo "$$p is not there: 'make setup' installs what is missing" >&2; exit 1; }; done
	@echo 'int main(void){return 0;}' | $(CC) $(OPENMP) -x c -o $@.linked - 2>/dev/null || \
	    { echo "$(CC) cannot link with $(OPENMP) (clang needs libomp-dev)" >&2; exit 1; }
	@rm -f $@.linked
	@printf '%s' "$$NHT1_SETTINGS" >$@

# The build that results name: git's word for it, or that of a release, or the version alone.
BUILD := $(shell { [ -e .git ] && { git describe --match 'v[0-9]*' --dirty || \
           echo $(VERSION)-g$$(git describe --always --dirty --exclude '*'); } || \
           cat .build; } 2>/dev/null || echo $(VERSION))
# Where libraries are, if not beside the programs.
APART := $(filter-out $(dir $(BINDIR))lib,$(LIBDIR))
ifneq ($(strip $(file <$(B)/build)),$(strip $(BUILD) $(APART)))
.PHONY: $(B)/build
endif
$(B)/build:
	@mkdir -p $(@D) && printf '%s' '$(strip $(BUILD) $(APART))' >$@
$(B)/obj/build.o: $(B)/build $(B)/settings
	@echo 'extern const char nht1_build[], nht1_libdir[];' \
	    'const char nht1_build[] = "$(BUILD)", nht1_libdir[] = "$(APART)";' | \
	    $(CC) -x c $(BASEFLAGS) -c -o $@ -
$(call program,$(SERIAL_MAINS) $(MPI_MAINS)): $(B)/obj/build.o

$(LIBNHT1): $(filter-out $(GUARD),$(call obj,$(SERIAL) $(MPI))) $(KERNELS)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(foreach m,$(SERIAL_MAINS) $(MPI_MAINS),$(eval $(call program,$m): $(call obj,$m) $(LIBNHT1)))
WRITING     := $(call program,$(addsuffix /main.c,$(call listed,writes,mpiio)))
$(WRITING): $(GUARD)
# What a library that is loaded later shall find in the program (io/writers/guard.c).
$(WRITING): ALL_LDFLAGS += -Wl,--dynamic-list=io/writers/guard.syms
$(call program,$(SERIAL_MAINS)): LINKER = $(CC)
$(call program,$(MPI_MAINS)): LINKER = $(MPICC) $(OPENMP)
$(call program,$(SERIAL_MAINS) $(MPI_MAINS)):
	@mkdir -p $(SHARE) && ln -sfn $(CURDIR)/verify/listings $(SHARE)/
	$(call say,LINK)
	$(Q)$(LINKER) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(call obj,$(SERIAL) $(SERIAL_MAINS)): $(B)/obj/%.o: %.c $(B)/settings
	$(call say,CC)
	$(Q)$(CC) $(COMPILE)

$(call obj,$(MPI) $(MPI_MAINS)) $(TEST_OBJS) $(FUZZ_OBJS): $(B)/obj/%.o: %.c $(B)/settings
	$(call say,MPI)
	$(Q)$(MPICC) $(OPENMP) $(COMPILE)

# UBSan takes minutes to compile vectors made of scalars, and following variables a sixth of the rest.
$(KERNELS): FILEFLAGS = -g1 $(if $(SANITIZE),-fno-sanitize=undefined)
$(KERNELS): $(B)/obj/bt/solver/kernel_%.o: bt/solver/kernel.c $(B)/settings
	$(call say,CC)
	$(Q)$(CC) $(ISA_$*) -DBT_ISA=$* $(COMPILE)

$(B)/obj/bt/options.o: FILEFLAGS = $(if $(SIMULATED),-DSIMULATED)
$(B)/obj/bt/solver/kernels.o: FILEFLAGS = -DBT_ISAS='$(foreach i,$(ISAS),KERNEL($i))'

# What the result record says about the build.
$(B)/obj/base/sys.o: FILEFLAGS = -DBUILD_FLAGS='"$(subst ','\'',$(subst ",\",$(CC) $(ALL_CFLAGS)))"'

setup: ## install what is missing (compiler, MPI, libraries, test tools)
	@bash config/setup.sh check
setup-full: ## also what check-full, lint and other targets can make use of: gigabytes
	@bash config/setup.sh full

SOURCES := $(wildcard $(foreach d,base io $(SERIAL_DIRS) $(MPI_DIRS) io/target io/writers companions/profile/preload verify/plugin io/writers/format bench tests tests/fuzz tests/shim tests/standin,$d/*.[ch]))
# Where all that depends on the settings goes.
FOLDERS := $(sort $(patsubst %/,$(B)/obj/%,$(dir $(SOURCES)))) $(B)/bin $(B)/lib/nht1 $(B)/tests $(B)/fuzz $(B)/bench
$(FOLDERS):
	@mkdir -p $@
$(B)/settings: | $(FOLDERS)

SCRIPTS := $(wildcard .ci/run config/*.sh runs/*.sh tests/*.bash $(addprefix tests/,layers mpi-run \
             cmocka-tap fuzz/run lint analyze sanitized bt_matrix kill_restart fault_sites raw_dumps \
             slurm_node fs/run many_ranks aarch64_tools two-nodes))
PYTHON  := runs/study bench/resample bench/verdicts docs/flow.py $(addprefix tests/,warm schema stamps settings programs manifest \
    coverage python/tap fuzz/fuzz.py) $(wildcard tests/*.py tests/python/*.py) $(shell find runs/nht1 -name '*.py')
lint: ## cppcheck, shellcheck, pyflakes and the layout by clang-format, as far as they are installed
	@O=$(B) bash tests/lint '$(SOURCES)' '$(SCRIPTS)' '$(PYTHON)'

# What the compiler gets, for the kernels those of one instruction set; what needs a library that is not here is left out.
ANALYZE_FLAGS = -std=c11 -D_GNU_SOURCE -I. $(OPENMP) $(if $(URING),-DHAVE_LIBURING) '-DBUILD_FLAGS=""' -DBT_ISA=generic \
    -DMEMORY_PER_PROCESSOR=512 \
    '-DBT_ISAS=KERNEL(generic)' -DPEAK_ISA=generic '-DPEAK_ISAS=KERNEL(generic)' $(filter -I% -D%,\
    $(shell $(MPICC) --showme:compile 2>/dev/null || $(MPICC) -compile_info) $(HDF5_SERIAL) $(HDF5) $(NETCDF) $(PNETCDF) $(FUSE))
ANALYZE_NOT = $(if $(URING),,%_uring.c) $(if $(HDF5),,io/writers/format/hdf5.c) $(if $(PNETCDF),,io/writers/format/netcdf.c) \
    $(if $(HDF5_SERIAL),,verify/plugin/hdf5.c) $(if $(NETCDF),,verify/plugin/netcdf.c) $(if $(FUSE),,tests/shim/slowfs.c)
analyze: ## clang's static analyzer, and functions that are hard to follow; part of check-full
	@bash tests/analyze '$(filter-out $(ANALYZE_NOT),$(SOURCES))' $(ANALYZE_FLAGS)

format: ## lay out the sources with clang-format
	$(Q)$(CLANG_FORMAT) -i $(SOURCES)

info: ## print the settings
	@$(foreach v,$(CONFIG_VARS) DESTDIR SANITIZE ISAS LIBS ALL_CFLAGS ALL_LDFLAGS, \
	    printf '%-12s = %s\n' $(v) '$(subst ','\'',$($(v)))';)
	@printf '%-12s = %s\n' 'C compiler' "$$($(CC) --version 2>/dev/null | head -n 1)" \
	    'MPI' "$$($(MPICC) --showme:version 2>/dev/null || $(MPICC) -v 2>&1 | head -n 1)"

configure: ## make configure VAR=VALUE...: remember these settings in config.mk
	$(file >config.mk)$(foreach v,$(CONFIG_VARS),\
	    $(if $(filter command,$(origin $v)),$(file >>config.mk,$v ?= $($v))))
	@cat config.mk

clean: ## remove the build folder
	rm -rf $(B)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z$$(].*:.*## / { sub(/^\$$\(CHECKS.*/, "check-PART", $$1); \
	    printf "  %-12s %s\n", $$1, $$2 }' Makefile runs/rules.mk tests/rules.mk bench/rules.mk config/rules.mk
	@echo "Variables: $(CONFIG_VARS) V=1 SANITIZE=1; see make info."

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
.PHONY: all tests setup setup-full run study example check check-full $(CHECKS:%=check-%) bench bench-beff bench-bookkeeping bench-kernels bench-model \
        bench-profile bench-programs bench-sequential bench-slower bench-verdicts simulate simulate-check simulate-programs fuzz fuzz-programs lint analyze coverage format info configure man install uninstall dist deb clean help
