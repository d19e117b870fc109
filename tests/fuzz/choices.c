/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store of choices of --io auto: each is looked up by its own key, doubted, and made the options of a run, as
 * nht1-bt --io auto does with the one of its system. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/plain.h"
#include "bt/search/choice.h"
#include "tests/fuzz/fuzz.h"

#define STORE "choices.json"

static struct bt_setup setup;

static void make_setup(void)
{
    char *words[] = {"nht1-bt", "--io", "auto",       "--n", "12",         "--steps", "4",
                     "--dt",    "0.01", "--interval", "2",   "--tc-store", STORE,     "--quiet"};
    if (setup.writers_n > 0) return;
    if (bt_setup_parse(&setup, (int)(sizeof words / sizeof words[0]), words) != 0) abort();
}

/* What is applied is a writer of the command line's, and changes nothing but settings of writers. */
static void apply(const json_t *choice)
{
    struct bt_setup copy = setup;
    copy.opt.hints = (struct conf_list){0};
    const int rc = bt_choice_apply(&copy, choice);
    fuzz_message(rc);
    FUZZ_CHECK(strcmp(copy.opt.out, setup.opt.out) == 0 && copy.opt.json == setup.opt.json);
    FUZZ_CHECK(copy.problem.n == setup.problem.n && copy.sync == setup.sync);
    FUZZ_CHECK(rc < 0 || copy.writers_n == 1);
    free(copy.opt.hints.item);
}

void fuzz_one(const unsigned char *bytes, size_t size)
{
    char why[ERR_MESSAGE_MAX];
    json_t *entry = NULL, *root;
    const json_t *e;
    struct bt_job job = {.setup = &setup};
    size_t i;
    make_setup();
    fuzz_file(STORE, bytes, size);
    json_t *any = json_object();
    const int rc = bt_choice_find(&job, any, &entry);
    fuzz_message(rc);
    json_decref(any);
    json_decref(entry);
    if (rc < 0) return;
    root = json_load_file(STORE, 0, NULL);
    json_array_foreach(json_object_get(root, "entries"), i, e)
    {
        const json_t *key = json_object_get(e, "key");
        FUZZ_CHECK(bt_choice_find(&job, key, &entry) == 1);
        FUZZ_CHECK(json_equal(json_object_get(entry, "key"), key));
        bt_choice_stale(entry, why);
        apply(entry);
        json_decref(entry);
    }
    json_decref(root);
}
