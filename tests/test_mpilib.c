/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MPI libraries by what they say of themselves, and components of MPI-IO by the library's setting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/mpilib.h"

static void libraries_by_their_words(void **state)
{
    (void)state;
    static const struct {
        const char *said;
        enum mpilib_kind kind;
    } each[] = {
        {"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", MPILIB_OPEN_MPI},
        {"mpirun (Open MPI) 4.1.4", MPILIB_OPEN_MPI},
        {"mpiexec (OpenRTE) 4.0.3", MPILIB_OPEN_MPI},
        {"prterun (PRRTE) 3.0.2", MPILIB_OPEN_MPI},
        {"MPICH Version:\t4.0.2\nMPICH CC:\ticc (Intel)", MPILIB_MPICH},
        {"MPI VERSION    : CRAY MPICH version 8.1.27.26 (ANL base 3.4a2)", MPILIB_MPICH},
        {"Intel(R) MPI Library 2021.10 for Linux* OS", MPILIB_INTEL},
        {"MVAPICH2 Version      :\t2.3.7", MPILIB_OTHER},
        {"HYDRA build details:", MPILIB_OTHER},
        {"", MPILIB_OTHER},
    };
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++)
        assert_int_equal(mpilib_kind_of(each[i].said), each[i].kind);
}

static void components_by_the_setting(void **state)
{
    (void)state;
    static const char by_default[] = "unknown (Open MPI's default: ompio, on Lustre romio)";
    const unsigned both = MPILIB_OMPIO | MPILIB_ROMIO;
    static const struct {
        const char *setting;
        unsigned io;
    } each[] = {{"ompio", MPILIB_OMPIO},
                {"romio321", MPILIB_ROMIO},
                {"ROMIO", MPILIB_ROMIO},
                {"^ompio", MPILIB_ROMIO},
                {"^romio321", MPILIB_OMPIO}};
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        assert_int_equal(mpilib_io_of(each[i].setting, "ext4"), each[i].io);
        assert_int_equal(mpilib_io_of(each[i].setting, NULL), each[i].io);
    }
    assert_int_equal(mpilib_io_of("romio321,ompio", "ext4"), both);
    assert_int_equal(mpilib_io_of("unknown", "lustre"), both);
    assert_int_equal(mpilib_io_of(by_default, "ext4"), MPILIB_OMPIO);
    assert_int_equal(mpilib_io_of(by_default, "lustre"), MPILIB_ROMIO);
    assert_int_equal(mpilib_io_of(by_default, NULL), both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libraries_by_their_words),
        cmocka_unit_test(components_by_the_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
