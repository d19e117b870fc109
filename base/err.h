/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_ERR_H
#define BASE_ERR_H
/* Layer 0. Error reporting inside one process: functions return 0 or one of the negative causes
 * below, and leave a message behind. The first message wins: later ones describe consequences.
 * Messages are plain text (base/plain.h), whatever the names and contents in them. Nothing here
 * prints or exits; only a main.c does. Agreement over ranks: base/par.h. */
#include <stdbool.h>

enum err_code {
    ERR_OK = 0,
    ERR_USAGE = -1,     /* wrong option, value or description; exit status 1 */
    ERR_VERIFY = -2,    /* the content is wrong; 2 */
    ERR_IO = -3,        /* a file system call failed; 3 */
    ERR_NOMEM = -4,     /* out of memory; 3 */
    ERR_MPI = -5,       /* an MPI call failed; 3 */
    ERR_INVALID = -6,   /* finished, but not valid as a result; 4 */
    ERR_INTERRUPT = -7, /* asked to stop by a signal; 3 */
};

#define ERR_MESSAGE_MAX 1024

/* Records the message unless one is already there. Local.
 * fmt: printf-style; says what failed, on which file or option, and what to change.
 * Returns code, so that callers write `return err_set(ERR_IO, ...)`. */
int err_set(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As err_set, with ": " and the text of the errno value appended. Local. */
int err_set_errno(int code, int errnum, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#ifdef __clang_analyzer__
/* `make analyze` looks at one file at a time: this tells it what the two above return. */
#define err_set(code, ...)               (err_set(code, __VA_ARGS__), (code))
#define err_set_errno(code, errnum, ...) (err_set_errno(code, errnum, __VA_ARGS__), (code))
#endif

/* Puts a text, such as the option at fault, in front of the message. Local. */
void err_prefix(const char *text);

/* The first message since the last err_clear, "" when there is none. Borrowed. Local. */
const char *err_message(void);

/* Forgets the message. Local. For tests and for programs that go on after an error. */
void err_clear(void);

/* The exit status that belongs to a code, as listed above: 0 for 0 and above. Local. */
int err_exit_status(int code);

/* What a code means, in a few words, for a failure that left no message. Static text. Local. */
const char *err_text(int code);

/* Replaces the message by one that every rank of a group has received; err_is_shared tells until the
 * message is cleared, so that a second agreement does not prefix it again. Local. For par_agree. */
void err_share(const char *text);
bool err_is_shared(void);

/* Returns from the calling function with the code of a failed expression. */
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        int try_rc_ = (expr);                                                                      \
        if (try_rc_ < 0) return try_rc_;                                                           \
    } while (0)

/* As TRY for functions that own something: sets rc and jumps to the label that frees it. */
#define TRY_TO(label, rc, expr)                                                                    \
    do {                                                                                           \
        (rc) = (expr);                                                                             \
        if ((rc) < 0) goto label;                                                                  \
    } while (0)

/* A broken contract between two parts of the program, never a user's mistake: prints and aborts. */
#define ERR_ASSERT(cond)                                                                           \
    do {                                                                                           \
        if (!(cond)) err_assert_failed(#cond, __FILE__, __LINE__);                                 \
    } while (0)
_Noreturn void err_assert_failed(const char *cond, const char *file, int line);

#endif
