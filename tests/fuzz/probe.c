/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store of what --probe has found: looked up, asked about every writer, an entry put into it and found again. */
#include <jansson.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mpilib.h"
#include "base/plain.h"
#include "base/sys.h"
#include "io/probe/kept.h"
#include "io/writers/writer.h"
#include "tests/fuzz/fuzz.h"

#define STORE "probe.json"

/* The MPI library keeps memory to the end, which is no leak of ours: it is asked what it is made of before. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static void ask_library(void)
{
    static bool asked;
    if (asked) return;
    asked = true;
    if (__lsan_disable) __lsan_disable();
    (void)mpilib_component();
    (void)mpilib_io("ext4");
    if (__lsan_enable) __lsan_enable();
}

static void ask(const json_t *entry)
{
    char why[1024], text[1024];
    const struct io_writer *writer;
    for (int w = 0; (writer = io_writer_at(w)) != NULL; w++)
        if (probe_denies(entry, writer->name, why, sizeof why))
            FUZZ_CHECK(why[0] && strcmp(why, plain_copy(text, sizeof text, why)) == 0);
}

/* An entry that anything but its key is taken from is asked, too: no input would hit the key of this computer. */
static void ask_all(void)
{
    size_t i;
    const json_t *e;
    json_t *root = json_load_file(STORE, 0, NULL);
    json_array_foreach(json_object_get(root, "entries"), i,
                       e) if (json_is_object(e) && json_is_array(json_object_get(e, "findings")))
        ask(e);
    json_decref(root);
}

/* An entry put into what is there is found again. */
static void put(void)
{
    struct sys_fs fs;
    FUZZ_CHECK(sys_path_fs(".", &fs) == 0);
    json_t *none = json_array(), *notices = json_array(), *entry = probe_entry(&fs, none, none);
    const int rc = probe_store_put(STORE, &fs, entry);
    fuzz_message(rc);
    json_t *again = probe_store_get(STORE, ".", notices);
    FUZZ_CHECK(rc <= 0 || json_equal(json_object_get(again, "findings"), none));
    json_decref(again);
    json_decref(entry);
    json_decref(none);
    json_decref(notices);
}

void fuzz_one(const unsigned char *bytes, size_t size)
{
    json_t *notices = json_array();
    ask_library();
    fuzz_file(STORE, bytes, size);
    json_t *known = probe_store_get(STORE, ".", notices);
    FUZZ_CHECK(json_array_size(notices) <= 1);
    ask(known);
    ask_all();
    json_decref(known);
    json_decref(notices);
    if (size % 64 == 0) put(); /* which takes longer than all the rest */
}
