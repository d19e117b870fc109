/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_MPILIB_H
#define BASE_MPILIB_H
/* Layer 0. Which MPI library this is, and which of its MPI-IO components is in use. base/mpilib.c is
 * free of MPI, base/mpilib_ask.c asks the library. Local, all functions. */
#include <jansson.h>
#include <stdbool.h>

enum mpilib_kind { MPILIB_OTHER, MPILIB_OPEN_MPI, MPILIB_MPICH, MPILIB_INTEL };

/* Components for MPI-IO; bits. Open MPI has both, MPICH ROMIO alone. */
enum mpilib_io { MPILIB_OMPIO = 1, MPILIB_ROMIO = 2 };

struct mpilib {
    enum mpilib_kind kind;
    const char *name; /* and version, without how it was built: "Open MPI v4.1.4" */
};

/* The library that this program runs with. Also before MPI is started. */
const struct mpilib *mpilib(void);

/* The kind of library by a version text: that of the library itself, or of mpirun --version. */
enum mpilib_kind mpilib_kind_of(const char *said);

/* The component in force as the library has it set: "ompio", a list such as "^ompio", "ROMIO", or
 * "unknown", with the reason in parentheses. Static text. Open MPI takes a third of a second for the
 * first answer: not for use inside timed sections. */
const char *mpilib_component(void);

/* The same as bits, as far as the library tells: where nothing is set, by the type of the file system
 * (base/sys.h), NULL: of any. */
unsigned mpilib_io(const char *fs_type);

/* The bits of a setting as mpilib_component returns them. */
unsigned mpilib_io_of(const char *setting, const char *fs_type);

/* Whether MPI-IO is, or may be, OMPIO. */
bool mpilib_may_be_ompio(void);

/* The components that are there and that the library's setting (OMPI_MCA_io) does not exclude, by their
 * names: a new array of texts, empty where there is none. */
json_t *mpilib_components(void);

#endif
