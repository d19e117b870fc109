/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Striping as the tools of parallel file systems tell it: recorded answers, and tools that stand in
 * for them. And hints: which make sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/err.h"
#include "io/writers/hint.h"
#include "io/target/striping.h"

static const char lustre_plain[] = "/mnt/lustre/f.bin\n"
                                   "lmm_stripe_count:  4\n"
                                   "lmm_stripe_size:   1048576\n"
                                   "lmm_pattern:       raid0\n"
                                   "lmm_layout_gen:    0\n"
                                   "lmm_stripe_offset: 2\n"
                                   "lmm_pool:          flash\n"
                                   "\tobdidx\t\t objid\t\t objid\t\t group\n"
                                   "\t     2\t         21316\t       0x5344\t             0\n";

static const char lustre_pfl[] = "/mnt/lustre/f.bin\n"
                                 "  lcm_layout_gen:    5\n"
                                 "  lcm_mirror_count:  1\n"
                                 "  lcm_entry_count:   2\n"
                                 "    lcme_id:             1\n"
                                 "    lcme_flags:          init\n"
                                 "    lcme_extent.e_start: 0\n"
                                 "    lcme_extent.e_end:   4194304\n"
                                 "      lmm_stripe_count:  1\n"
                                 "      lmm_stripe_size:   1048576\n"
                                 "    lcme_id:             2\n"
                                 "    lcme_flags:          init\n"
                                 "    lcme_extent.e_start: 4194304\n"
                                 "    lcme_extent.e_end:   EOF\n"
                                 "      lmm_stripe_count:  8\n"
                                 "      lmm_stripe_size:   4194304\n";

static const char beegfs_7[] = "Entry type: file\n"
                               "EntryID: 0-5E1F0C7B-1\n"
                               "Metadata node: meta01 [ID: 1]\n"
                               "Stripe pattern details:\n"
                               "+ Type: RAID0\n"
                               "+ Chunksize: 512K\n"
                               "+ Number of storage targets: desired: 4; actual: 3\n"
                               "+ Storage targets:\n"
                               "  + 101 @ storage01 [ID: 1]\n"
                               "+ Storage Pool: 1 (Default)\n";

static const char beegfs_8[] = "PATH    ENTRY ID  TYPE  META NODE  META MIRROR   STORAGE POOL  "
                               "STRIPE PATTERN  STORAGE TARGETS\n"
                               "/f.bin  2-6-1     file  meta (1)   (unmirrored)  Default (1)   "
                               "RAID0 (4x1M)    101,102,201,202\n";

static const char gpfs[] = "file name:            /gpfs/f.bin\n"
                           "metadata replication: 1 max 2\n"
                           "storage pool name:    data\n"
                           "fileset name:         root\n";

static void striping_is_read_from_recorded_answers(void **state)
{
    (void)state;
    static const struct {
        const char *fs_type, *answer;
        int64_t count, unit_bytes;
        const char *pool;
    } cases[] = {
        {"lustre", lustre_plain, 4, 1048576, "flash"},
        {"lustre", lustre_pfl, 8, 4194304, ""},
        {"beegfs", beegfs_7, 3, 524288, "Default"},
        {"beegfs", beegfs_8, 4, 1048576, ""},
        {"gpfs", gpfs, 0, 0, "data"},
    };
    struct io_striping s;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        assert_true(io_striping_parse(cases[c].fs_type, cases[c].answer, &s));
        assert_int_equal(s.count, cases[c].count);
        assert_int_equal(s.unit_bytes, cases[c].unit_bytes);
        assert_string_equal(s.pool, cases[c].pool);
    }
    assert_false(io_striping_parse("ext4", lustre_plain, &s));
    assert_false(io_striping_parse("lustre", "lfs getstripe: cannot open\n", &s));
    assert_false(io_striping_parse("beegfs", "", &s));
}

/* A program of this name in front of all others, which says text and ends with a status. */
static void stand_in(const char *folder, const char *name, const char *text, int status)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\necho \"$*\" >>%s/asked\ncat <<'END'\n%sEND\nexit %d\n", folder, text,
            status);
    fclose(f);
    chmod(path, 0755);
}

static void tools_are_asked_and_told(void **state)
{
    (void)state;
    char folder[] = "/tmp/nht1-striping-XXXXXX", path[4096], command[1024];
    struct io_striping s;
    assert_non_null(mkdtemp(folder));
    const char *before = getenv("PATH");
    snprintf(path, sizeof path, "%s:%s", folder, before);
    stand_in(folder, "lfs", lustre_plain, 0);
    stand_in(folder, "beegfs", beegfs_8, 0);
    setenv("PATH", path, 1);
    assert_true(io_striping_ask("lustre", "/dev/null", &s));
    assert_int_equal(s.count, 4);
    assert_true(io_striping_ask("beegfs", "/dev/null", &s)); /* there is no beegfs-ctl */
    assert_int_equal(s.unit_bytes, 1048576);
    assert_false(io_striping_ask("gpfs", "/dev/null", &s));
    assert_false(io_striping_ask("ext4", "/dev/null", &s));
    assert_int_equal(io_striping_make("lustre", "/x/f.bin", 8, 0), 1);
    assert_int_equal(io_striping_make("lustre", "/x/f.bin", 0, 0), 0);
    assert_int_equal(io_striping_make("ext4", "/x/f.bin", 8, 0), 0);
    stand_in(folder, "lfs", "Invalid stripe count\n", 22);
    assert_int_equal(io_striping_make("lustre", "/x/f.bin", 9999, 4096), ERR_IO);
    assert_non_null(strstr(err_message(), "Invalid stripe count"));
    err_clear();
    snprintf(command, sizeof command,
             "grep -qx 'getstripe /dev/null' %s/asked && grep -qx 'setstripe -c 8 -S 0 /x/f.bin' "
             "%s/asked && rm -r %s",
             folder, folder, folder);
    assert_int_equal(system(command), 0);
    setenv("PATH", strchr(path, ':') + 1, 1);
}

static void hints_without_sense_are_refused(void **state)
{
    (void)state;
    static const char *const good[] = {"cb_nodes=2",
                                       "cb_buffer_size=4194304",
                                       "romio_cb_write=enable",
                                       "foo=bar",
                                       "collective_buffering=true",
                                       "cb_config_list=*:1",
                                       "romio_cb_pfr=automatic",
                                       "nc_header_align_size=1",
                                       "nc_var_align_size=100008"};
    static const char *const bad[] = {"cb_nodes",
                                      "=2",
                                      "cb_nodes=",
                                      "cb_nodes=0",
                                      "cb_nodes=-1",
                                      "cb_nodes=x",
                                      "cb_buffer_size=0",
                                      "cb_buffer_size=1",
                                      "cb_buffer_size=4Mi",
                                      "romio_cb_write=yes",
                                      "romio_cb_pfr=enable",
                                      "nc_in_place_swap=automatic",
                                      "nc_header_align_size=100004",
                                      "nc_var_align_size=1048577",
                                      "cb_nodes=1x",
                                      "cb_nodes=99999999999",
                                      "collective_buffering=2"};
    assert_int_equal(io_hints_check(9, good), 0);
    for (size_t b = 0; b < sizeof bad / sizeof bad[0]; b++) {
        assert_int_equal(io_hints_check(1, &bad[b]), ERR_USAGE);
        assert_non_null(strstr(err_message(), bad[b]));
        err_clear();
    }
    setenv("OMPI_MCA_io_ompio_bytes_per_agg", "1", 1);
    assert_int_equal(io_hints_check(9, good), ERR_USAGE);
    assert_non_null(strstr(err_message(), "OMPI_MCA_io_ompio_bytes_per_agg=1"));
    err_clear();
    unsetenv("OMPI_MCA_io_ompio_bytes_per_agg");
    assert_int_equal(io_hint_readers("cb_nodes=2"), IO_HINT_OMPIO | IO_HINT_ROMIO);
    assert_int_equal(io_hint_readers("romio_ds_write=disable"), IO_HINT_ROMIO);
    assert_int_equal(io_hint_readers("nc_in_place_swap=auto"), IO_HINT_PNETCDF);
    assert_int_equal(io_hint_readers("foo=bar"), 0);
    assert_string_equal(io_hint_value(6, good, "foo"), "bar");
    assert_null(io_hint_value(6, good, "fo"));
}

static void expect_json(const struct io_striping *s, const char *text)
{
    json_t *o = io_striping_json(s);
    char *got = json_dumps(o, JSON_COMPACT);
    assert_non_null(got);
    assert_string_equal(got, text);
    free(got);
    json_decref(o);
}

/* What a tool printed need not be UTF-8. */
static void striping_as_json(void **state)
{
    (void)state;
    expect_json(&(struct io_striping){0}, "{\"count\":null,\"unit_bytes\":null,\"pool\":null}");
    expect_json(&(struct io_striping){.count = 4, .unit_bytes = 1 << 20, .pool = "flash"},
                "{\"count\":4,\"unit_bytes\":1048576,\"pool\":\"flash\"}");
    expect_json(&(struct io_striping){.count = 4, .pool = "a\xff"},
                "{\"count\":4,\"unit_bytes\":null,\"pool\":\"a?\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(striping_is_read_from_recorded_answers),
        cmocka_unit_test(striping_as_json),
        cmocka_unit_test(tools_are_asked_and_told),
        cmocka_unit_test(hints_without_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
