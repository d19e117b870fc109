/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A note of temporary files, as it is and behind the line of a maker that is dead: each line is written as it was
 * read, and a sweep removes nothing that the note does not prove to be of this project. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "base/own_note.h"
#include "tests/fuzz/fuzz.h"

#define NOTE    ".nht1-0123456789abcdef.own"
#define OF_DEAD ".nht1-fedcba9876543210.own"

static void write_again(const struct own_line *l)
{
    char text[OWN_LINE_MAX];
    struct own_line again;
    own_line_write(l, text);
    text[strlen(text) - 1] = '\0';
    FUZZ_CHECK(!strchr(text, '\n'));
    FUZZ_CHECK(own_line_read(text, &again));
    FUZZ_CHECK(again.kind == l->kind && strcmp(again.name, l->name) == 0);
    FUZZ_CHECK(memcmp(&again.id, &l->id, sizeof again.id) == 0);
    if (l->kind == OWN_TEXT) FUZZ_CHECK(strncmp(again.mark, l->mark, OWN_MARK_MAX) == 0);
}

static void look_at(int dir, const char *name)
{
    struct own_note n;
    struct own_line l;
    char *line;
    FUZZ_CHECK(own_note_open(dir, name, &n));
    while ((line = own_note_next(&n)) != NULL)
        if (own_line_read(line, &l)) write_again(&l);
    own_note_close(&n);
}

void fuzz_one(const unsigned char *bytes, size_t size)
{
    struct own_maker dead;
    char head[512];
    const int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    FUZZ_CHECK(dir >= 0);
    own_maker_of((int64_t)getpid(), &dead);
    dead.held = 1;
    own_head_write(&dead, head, sizeof head);
    const size_t before = strlen(head);
    unsigned char *whole = malloc(before + size);
    if (!whole) abort();
    memcpy(whole, head, before);
    if (size > 0) memcpy(whole + before, bytes, size);
    fuzz_file("mine", "a user's\n", 9);
    fuzz_file(NOTE, bytes, size);
    look_at(dir, NOTE);
    own_sweep(".", 0);
    unlink(NOTE); /* what it lists, too, would stay noted */
    fuzz_file(OF_DEAD, whole, before + size);
    free(whole);
    look_at(dir, OF_DEAD);
    own_sweep(".", 0);
    FUZZ_CHECK(access("mine", F_OK) == 0);
    FUZZ_CHECK(access(OF_DEAD, F_OK) != 0);
    close(dir);
}
