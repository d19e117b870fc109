/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/plain.h: what a terminal could obey becomes '?', all other text stays as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/plain.h"

static void test_table(void **state)
{
    static const struct {
        const char *in, *out;
    } row[] = {
        {"", ""},
        {"plain text ~ 42", "plain text ~ 42"},
        {"M\xc3\xbcller \xe2\x82\xac \xf0\x9f\x98\x80",
         "M\xc3\xbcller \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\x1b[2J\x1b]0;t\x07", "?[2J?]0;t?"},
        {"a\rb\nc\td\x7f", "a?b?c?d?"},
        {"\xc2\x9b"
         "31m",
         "?31m"}, /* CSI as U+009B */
        {"\x9b"
         "31m",
         "?31m"}, /* and as a byte */
        {"x\xe2\x80\xae"
         "cod.exe",
         "x?cod.exe"}, /* U+202E */
        {"\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c", "???"},
        {"\xe2\x80\xa8|\xe2\x80\xa9", "?|?"},
        {"\xc0\x9b", "??"}, /* overlong */
        {"\xe0\x80\x9b", "???"},
        {"\xed\xa0\x80", "???"},           /* a surrogate */
        {"\xf4\x90\x80\x80\xff", "?????"}, /* above U+10FFFF */
        {"cut \xe2\x82", "cut ??"},        /* ends inside a character */
    };
    (void)state;
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        char text[64];
        strcpy(text, row[r].in);
        assert_string_equal(plain_text(text), row[r].out);
        assert_string_equal(plain_text(text), row[r].out);
        assert_string_equal(plain_copy(text, sizeof text, row[r].in), row[r].out);
    }
}

/* A copy that is cut inside a character has no half of it. */
static void test_cut(void **state)
{
    char text[4];
    (void)state;
    assert_string_equal(plain_copy(text, sizeof text, "ab\xc3\xa9"), "ab?");
}

/* All short byte strings: never longer, and nothing that is obeyed is left. */
static void test_all_pairs(void **state)
{
    (void)state;
    for (int a = 1; a < 256; a++)
        for (int b = 0; b < 256; b++) {
            const char in[3] = {(char)a, (char)b, '\0'};
            char out[3];
            plain_copy(out, sizeof out, in);
            assert_true(strlen(out) <= strlen(in));
            for (const char *c = out; *c; c++) {
                assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
                if ((unsigned char)*c == 0xc2) assert_true((unsigned char)c[1] >= 0xa0);
            }
        }
}

static void test_messages_and_notes(void **state)
{
    char *text = NULL;
    size_t size = 0;
    (void)state;
    err_clear();
    err_set(ERR_USAGE, "%s", "\x1b[1mowned\r");
    assert_string_equal(err_message(), "?[1mowned?");
    err_prefix("\x1b--json: ");
    assert_string_equal(err_message(), "?--json: ?[1mowned?");
    err_share("\x07");
    assert_string_equal(err_message(), "?");
    err_clear();
    FILE *to = open_memstream(&text, &size);
    plain_wrap(to, 80, "Note: ", 2, "a \x1b[2J b");
    fclose(to);
    assert_string_equal(text, "Note: a ?[2J b\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_all_pairs),
        cmocka_unit_test(test_messages_and_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
