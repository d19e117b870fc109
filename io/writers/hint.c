/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/writers/hint.h"

#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum kind { COUNT, ALIGNMENT, SWITCH, NOT_ENABLED, AUTO, TRUTH, TEXT };

/* OMPIO halves a buffer (fcoll vulcan, dynamic_gen2), and with one of 0 its collective writes write
 * nothing and report full counts. */
#define CB_BUFFER_LEAST 2
#define OMPIO_CB_BUFFER "OMPI_MCA_io_ompio_bytes_per_agg" /* the same in the environment */

/* What the components of Open MPI 4.1 (their sources and the strings in their libraries), ROMIO in
 * MPICH 4.0, the MPI standard and PnetCDF 1.12 know; of the last not those of what Debian's library is
 * built without, writing to several files or to a log first: dumps would not be where the manifest
 * says. */
static const struct {
    const char *key;
    unsigned readers;
    enum kind kind;
    int64_t least; /* of a COUNT */
} known[] = {
    {"access_style", IO_HINT_ROMIO, TEXT, 0},
    {"cb_buffer_size", IO_HINT_OMPIO | IO_HINT_ROMIO, COUNT, CB_BUFFER_LEAST},
    {"cb_config_list", IO_HINT_ROMIO, TEXT, 0},
    {"cb_nodes", IO_HINT_OMPIO | IO_HINT_ROMIO, COUNT, 1},
    {"collective_buffering", IO_HINT_OMPIO, TRUTH, 0},
    {"direct_read", IO_HINT_ROMIO, TRUTH, 0},
    {"direct_write", IO_HINT_ROMIO, TRUTH, 0},
    {"file_perm", IO_HINT_ROMIO, TEXT, 0},
    {"ind_rd_buffer_size", IO_HINT_ROMIO, COUNT, 1},
    {"ind_wr_buffer_size", IO_HINT_ROMIO, COUNT, 1},
    {"nc_header_align_size", IO_HINT_PNETCDF, ALIGNMENT, 0},
    {"nc_header_read_chunk_size", IO_HINT_PNETCDF, COUNT, 0},
    {"nc_ibuf_size", IO_HINT_PNETCDF, COUNT, 0},
    {"nc_in_place_swap", IO_HINT_PNETCDF, AUTO, 0},
    {"nc_record_align_size", IO_HINT_PNETCDF, COUNT, 0},
    {"nc_var_align_size", IO_HINT_PNETCDF, ALIGNMENT, 0},
    {"romio_aggregator_list", IO_HINT_ROMIO, TEXT, 0},
    {"romio_cb_alltoall", IO_HINT_ROMIO, SWITCH, 0},
    {"romio_cb_ds_threshold", IO_HINT_ROMIO, COUNT, 0},
    {"romio_cb_fr_alignment", IO_HINT_ROMIO, COUNT, 1},
    {"romio_cb_fr_type", IO_HINT_ROMIO, TEXT, 0},
    {"romio_cb_fr_types", IO_HINT_ROMIO, TEXT, 0},
    {"romio_cb_pfr", IO_HINT_ROMIO, NOT_ENABLED, 0}, /* ROMIO of Open MPI hangs or crashes */
    {"romio_cb_read", IO_HINT_ROMIO, SWITCH, 0},
    {"romio_cb_write", IO_HINT_ROMIO, SWITCH, 0},
    {"romio_ds_read", IO_HINT_ROMIO, SWITCH, 0},
    {"romio_ds_write", IO_HINT_ROMIO, SWITCH, 0},
    {"romio_filesystem_type", IO_HINT_ROMIO, TEXT, 0},
    {"romio_lustre_co_ratio", IO_HINT_ROMIO, COUNT, 1},
    {"romio_lustre_coll_threshold", IO_HINT_ROMIO, COUNT, 0},
    {"romio_lustre_ds_in_coll", IO_HINT_ROMIO, SWITCH, 0},
    {"romio_lustre_start_iodevice", IO_HINT_ROMIO, COUNT, 0},
    {"romio_min_fdomain_size", IO_HINT_ROMIO, COUNT, 1},
    {"romio_no_indep_rw", IO_HINT_ROMIO, TRUTH, 0},
    {"romio_visibility_immediate", IO_HINT_ROMIO, TRUTH, 0},
    {"start_iodevice", IO_HINT_ROMIO, COUNT, 0},
    {"striping_factor", IO_HINT_FILE | IO_HINT_ROMIO, COUNT, 1},
    {"striping_unit", IO_HINT_FILE | IO_HINT_ROMIO, COUNT, 1},
};

/* Index of the key of a hint in the list, -1 when it is not there. */
static int find(const char *hint)
{
    const size_t length = strcspn(hint, "=");
    for (int k = 0; k < (int)(sizeof known / sizeof known[0]); k++)
        if (strlen(known[k].key) == length && memcmp(known[k].key, hint, length) == 0) return k;
    return -1;
}

static bool is_one_of(const char *value, const char *const *words)
{
    while (*words && strcmp(*words, value) != 0)
        words++;
    return *words != NULL;
}

static int value_check(const char *hint, int k, const char *value)
{
    static const char *const switches[] = {"enable", "disable", "automatic", NULL};
    static const char *const autos[] = {"enable", "disable", "auto", NULL};
    static const char *const truths[] = {"true", "false", NULL};
    const size_t digits = strspn(value, "0123456789");
    const int64_t n = digits < 11 && !value[digits] ? strtoll(value, NULL, 10) : -1;
    switch (known[k].kind) {
    case COUNT: /* the libraries read digits alone, "4Mi" is 4 to them */
        if (n >= known[k].least && n <= INT_MAX) return 0;
        return err_set(ERR_USAGE, "--hint '%s': a whole number from %" PRId64 " to %d is expected",
                       hint, known[k].least, INT_MAX);
    case ALIGNMENT: /* else PnetCDF may put values at no multiple of their 8 bytes; 1: none */
        if (n >= 0 && n <= INT_MAX && (n <= 8 || n % 8 == 0)) return 0;
        return err_set(ERR_USAGE, "--hint '%s': a multiple of 8 up to %d is expected", hint,
                       INT_MAX / 8 * 8);
    case SWITCH:
        if (is_one_of(value, switches)) return 0;
        return err_set(ERR_USAGE, "--hint '%s': enable, disable or automatic is expected", hint);
    case NOT_ENABLED:
        if (is_one_of(value, switches + 1)) return 0;
        return err_set(ERR_USAGE, "--hint '%s': disable or automatic is expected", hint);
    case AUTO:
        if (is_one_of(value, autos)) return 0;
        return err_set(ERR_USAGE, "--hint '%s': enable, disable or auto is expected", hint);
    case TRUTH:
        if (is_one_of(value, truths)) return 0;
        return err_set(ERR_USAGE, "--hint '%s': true or false is expected", hint);
    case TEXT:
        break;
    }
    return 0;
}

int io_hints_check(int n, const char *const *hint)
{
    const char *buffer = getenv(OMPIO_CB_BUFFER);
    if (buffer && (strcmp(buffer, "0") == 0 || strcmp(buffer, "1") == 0))
        return err_set(ERR_USAGE,
                       OMPIO_CB_BUFFER "=%s: OMPIO writes nothing with it; give it %d or more",
                       buffer, CB_BUFFER_LEAST);
    for (int h = 0; h < n; h++) {
        const char *equals = strchr(hint[h], '=');
        const int k = find(hint[h]);
        if (!equals || equals == hint[h] || !equals[1])
            return err_set(ERR_USAGE, "--hint '%s': KEY=VALUE expected, such as cb_nodes=2",
                           hint[h]);
        if (equals - hint[h] > MPI_MAX_INFO_KEY - 1 || strlen(equals + 1) > MPI_MAX_INFO_VAL - 1)
            return err_set(ERR_USAGE, "--hint '%s' is too long for this MPI library", hint[h]);
        if (k >= 0) TRY(value_check(hint[h], k, equals + 1));
    }
    return 0;
}

unsigned io_hint_readers(const char *hint)
{
    const int k = find(hint);
    return k >= 0 ? known[k].readers : 0;
}

const char *io_hint_value(int n, const char *const *hint, const char *key)
{
    const size_t length = strlen(key);
    for (int h = n - 1; h >= 0; h--)
        if (strncmp(hint[h], key, length) == 0 && hint[h][length] == '=')
            return hint[h] + length + 1;
    return NULL;
}
