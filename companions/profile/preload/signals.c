/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The handlers of signals. One may come while this library, or the C library on its behalf, holds a lock, so what
 * a handler does is not followed: it passes, and where it writes or changes files that is told (posix_refused).
 * So each handler of the program is called by one of two functions here, which notes that. */
#undef _FORTIFY_SOURCE

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "companions/profile/preload/count.h"
#include "companions/profile/preload/next.h"

typedef void plain_handler(int);
typedef void full_handler(int, siginfo_t *, void *);

static plain_handler *plain[NSIG];
static full_handler *full[NSIG];

static void run_plain(int number)
{
    const struct count_back was = count_called_back();
    __atomic_load_n(&plain[number], __ATOMIC_RELAXED)(number);
    count_returned(was);
}

static void run_full(int number, siginfo_t *info, void *context)
{
    const struct count_back was = count_called_back();
    __atomic_load_n(&full[number], __ATOMIC_RELAXED)(number, info, context);
    count_returned(was);
}

/* Whether it is a function of the program, and no word such as SIG_IGN. */
static bool is_program(plain_handler *h)
{
    return h != SIG_DFL && h != SIG_IGN && h != SIG_ERR && h != SIG_HOLD && h != run_plain &&
           (uintptr_t)h != (uintptr_t)run_full;
}

int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
    REAL(int, sigaction, int, const struct sigaction *, struct sigaction *);
    if (number <= 0 || number >= NSIG) return real(number, act, old);
    plain_handler *const plain_was = plain[number];
    full_handler *const full_was = full[number];
    struct sigaction ours, was;
    if (act) {
        ours = *act;
        if (!is_program(act->sa_handler)) {
        } else if (act->sa_flags & SA_SIGINFO) {
            __atomic_store_n(&full[number], act->sa_sigaction, __ATOMIC_RELAXED);
            ours.sa_sigaction = run_full;
        } else {
            __atomic_store_n(&plain[number], act->sa_handler, __ATOMIC_RELAXED);
            ours.sa_handler = run_plain;
        }
    }
    if (real(number, act ? &ours : NULL, &was) < 0) {
        plain[number] = plain_was;
        full[number] = full_was;
        return -1;
    }
    if (!old) return 0;
    *old = was;
    if (was.sa_handler == run_plain) old->sa_handler = plain_was;
    if ((uintptr_t)was.sa_handler == (uintptr_t)run_full) old->sa_sigaction = full_was;
    return 0;
}

static plain_handler *exchange(plain_handler *(*real)(int, plain_handler *), int number,
                               plain_handler *handler)
{
    if (number <= 0 || number >= NSIG) return real(number, handler);
    plain_handler *const plain_was = plain[number];
    full_handler *const full_was = full[number];
    const bool ours = is_program(handler);
    if (ours) __atomic_store_n(&plain[number], handler, __ATOMIC_RELAXED);
    plain_handler *const was = real(number, ours ? run_plain : handler);
    if (was == SIG_ERR) plain[number] = plain_was;
    return was == run_plain                        ? plain_was
           : (uintptr_t)was == (uintptr_t)run_full ? (plain_handler *)(uintptr_t)full_was
                                                   : was;
}

#define SIGNAL(name)                                                                               \
    plain_handler *name(int number, plain_handler *handler);                                       \
    plain_handler *name(int number, plain_handler *handler)                                        \
    {                                                                                              \
        REAL(plain_handler *, name, int, plain_handler *);                                         \
        return exchange(real, number, handler);                                                    \
    }
SIGNAL(signal)
SIGNAL(ssignal)
SIGNAL(bsd_signal)
SIGNAL(sysv_signal)
SIGNAL(__sysv_signal)
SIGNAL(sigset)

/* ------------------------------------------------------------------ handlers that do not return */

#define JUMP(name)                                                                                 \
    __attribute__((noreturn)) void name(struct __jmp_buf_tag to[1], int value);                    \
    void name(struct __jmp_buf_tag to[1], int value)                                               \
    {                                                                                              \
        REAL(void, name, struct __jmp_buf_tag *, int);                                             \
        count_left();                                                                              \
        real(to, value);                                                                           \
        __builtin_unreachable();                                                                   \
    }
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

void exit(int status)
{
    REAL(void, exit, int);
    count_left();
    real(status);
    __builtin_unreachable();
}
