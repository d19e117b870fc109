/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a case of a C test is left out: always by one of these, with the words of tests/helpers.bash. The reason
 * is a line before cmocka's own, with which tests/cmocka-tap makes one of them. Ends the case, as skip(). */
#ifndef TESTS_SKIP_H
#define TESTS_SKIP_H

#define SKIP_NOT_PERMITTED(why) SKIP_WITH("not permitted by the kernel here: " why)
#define SKIP_NOT_HERE(why)      SKIP_WITH("not on this system: " why)
#define SKIP_WITH(why)                                                                             \
    do {                                                                                           \
        print_message("skipped: %s\n", "" why);                                                    \
        skip();                                                                                    \
    } while (0)

#endif
