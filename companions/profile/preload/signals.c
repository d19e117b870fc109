/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The handlers of signals. One may come while this library, or the C library on its behalf, holds a lock, so what
 * a handler does is not followed: it passes, and where it writes or changes files that is told (posix_refused).
 * So each handler of the program is called by a function here, which notes that. */
#include "companions/profile/preload/declared.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "companions/profile/preload/count.h"
#include "companions/profile/preload/next.h"

/* With or without SA_SIGINFO Linux passes all three. */
typedef void full_handler(int, siginfo_t *, void *);
typedef void plain_handler(int);

static full_handler *handler[NSIG];

/* The handlers that run, the last one last: where the frame is that has called it, and what was before. Not on the
 * stack: a handler may be left by ways that nobody sees, such as an exception. */
#define LEVELS 32 /* that are told apart */
struct level {
    uintptr_t at;
    struct count_back was;
};
static _Thread_local struct level level[LEVELS];
static _Thread_local int levels_n;

static void run(int number, siginfo_t *info, void *context)
{
    const struct level here = {(uintptr_t)__builtin_frame_address(0), count_called_back()};
    const int before_n = levels_n;
    if (before_n < LEVELS) level[levels_n++] = here;
    __atomic_load_n(&handler[number], __ATOMIC_RELAXED)(number, info, context);
    levels_n = before_n;
    count_returned(here.was);
}

/* Whether it is a function of the program, and no word such as SIG_IGN. */
static bool is_program(full_handler *h)
{
    plain_handler *p = (plain_handler *)(uintptr_t)h;
    return p != SIG_DFL && p != SIG_IGN && p != SIG_ERR && p != SIG_HOLD && h != run;
}

int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
    REAL(int, sigaction, int, const struct sigaction *, struct sigaction *);
    if (number <= 0 || number >= NSIG) return real(number, act, old);
    full_handler *const handler_was = handler[number];
    struct sigaction ours, was;
    if (act) ours = *act;
    if (act && is_program(act->sa_sigaction)) {
        __atomic_store_n(&handler[number], act->sa_sigaction, __ATOMIC_RELAXED);
        ours.sa_sigaction = run;
    }
    if (real(number, act ? &ours : NULL, &was) < 0) {
        handler[number] = handler_was;
        return -1;
    }
    if (old) *old = was;
    if (old && was.sa_sigaction == run) old->sa_sigaction = handler_was;
    return 0;
}

static full_handler *exchange(full_handler *(*real)(int, full_handler *), int number,
                              full_handler *becomes)
{
    if (number <= 0 || number >= NSIG) return real(number, becomes);
    full_handler *const handler_was = handler[number];
    const bool ours = is_program(becomes);
    if (ours) __atomic_store_n(&handler[number], becomes, __ATOMIC_RELAXED);
    full_handler *const was = real(number, ours ? run : becomes);
    if ((uintptr_t)was == (uintptr_t)SIG_ERR) handler[number] = handler_was;
    return was == run ? handler_was : was;
}

#define SIGNAL(name)                                                                               \
    plain_handler *name(int number, plain_handler *becomes);                                       \
    plain_handler *name(int number, plain_handler *becomes)                                        \
    {                                                                                              \
        REAL(full_handler *, name, int, full_handler *);                                           \
        return (plain_handler *)(uintptr_t)exchange(real, number,                                  \
                                                    (full_handler *)(uintptr_t)becomes);           \
    }
SIGNAL(signal)
SIGNAL(ssignal)
SIGNAL(bsd_signal)
SIGNAL(sysv_signal)
SIGNAL(__sysv_signal)
SIGNAL(sigset)

/* ------------------------------------------------------------------ small stacks */

/* What the functions here put on a stack, above all paths, does not fit on one of a few pages: those that are smaller
 * than ENOUGH are replaced, or made longer, by MORE. Coroutines that live on stacks for handlers need as much themselves. */
enum { ENOUGH = 1 << 16, MORE = 1 << 17, LEAST = 2048 /* that Linux takes */ };

/* By the program, in its place, and the one that there is; ss_sp NULL: none is. */
static _Thread_local stack_t wanted, ours, installed;

/* A thread ends, and has not given its stack for handlers up. */
static void drop_stack(void *unused)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    (void)unused;
    (void)sigaltstack(&none, NULL);
}

static pthread_key_t at_end; /* of threads */
static bool has_key;

static void make_key(void)
{
    has_key = pthread_key_create(&at_end, drop_stack) == 0;
}

int sigaltstack(const stack_t *becomes, stack_t *old)
{
    REAL(int, sigaltstack, const stack_t *, stack_t *);
    const stack_t wanted_was = wanted, ours_was = ours;
    stack_t was;
    if (!becomes || (becomes->ss_flags & SS_DISABLE) || becomes->ss_size < LEAST ||
        becomes->ss_size >= ENOUGH || becomes->ss_sp == ours.ss_sp) {
        if (real(becomes, &was) < 0) return -1;
        if (becomes && ours.ss_sp && becomes->ss_sp != ours.ss_sp) {
            munmap(ours.ss_sp, ours.ss_size);
            ours.ss_sp = NULL;
        }
        const stack_t none = {0};
        if (becomes) installed = becomes->ss_flags & SS_DISABLE ? none : *becomes;
    } else {
        wanted = ours = *becomes;
        ours.ss_size += MORE;
        ours.ss_sp = mmap(NULL, ours.ss_size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (ours.ss_sp == MAP_FAILED || real(&ours, &was) < 0) {
            const int why = errno;
            if (ours.ss_sp != MAP_FAILED) munmap(ours.ss_sp, ours.ss_size);
            wanted = wanted_was;
            ours = ours_was;
            errno = why;
            return -1;
        }
        if (ours_was.ss_sp) munmap(ours_was.ss_sp, ours_was.ss_size);
        installed = ours;
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        pthread_once(&once, make_key);
        if (has_key) pthread_setspecific(at_end, &ours);
    }
    if (!old) return 0;
    *old = was;
    if (!ours_was.ss_sp || was.ss_sp != ours_was.ss_sp) return 0;
    old->ss_sp = wanted_was.ss_sp;
    old->ss_size = wanted_was.ss_size;
    return 0;
}

int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t bytes)
{
    REAL(int, pthread_attr_setstacksize, pthread_attr_t *, size_t);
    const bool small = bytes >= (size_t)PTHREAD_STACK_MIN && bytes < ENOUGH;
    return real(attributes, small ? bytes + MORE : bytes);
}

/* ------------------------------------------------------------------ handlers that do not return */

/* Where the stack is after a jump, 0: not known. The GNU C library keeps that mangled. */
static uintptr_t stack_after(const struct __jmp_buf_tag *to)
{
#ifdef __x86_64__
    uintptr_t guard;
    const uintptr_t mangled = (uintptr_t)to->__jmpbuf[6];
    __asm__("mov %%fs:0x30, %0" : "=r"(guard));
    return (mangled >> 17 | mangled << 47) ^ guard;
#else
    (void)to;
    return 0;
#endif
}

/* Whether that is so here. */
static bool is_known(void)
{
    jmp_buf here;
    if (setjmp(here) != 0) return false;
    const uintptr_t at = (uintptr_t)__builtin_frame_address(0), found = stack_after(here);
    return found < at + 4096 && found + 4096 > at;
}

static bool is_on(const stack_t *stack, uintptr_t at)
{
    const uintptr_t begin = (uintptr_t)stack->ss_sp;
    return begin && at >= begin && at < begin + stack->ss_size;
}

/* Whether a jump to there leaves a handler: its frame is on the same stack, which grows down, or on that for handlers,
 * and the other is not. */
static bool leaves(uintptr_t at, uintptr_t after)
{
    if (is_on(&installed, at) != is_on(&installed, after)) return is_on(&installed, at);
    return at < after;
}

/* Where it is not known where a jump goes, it goes out of all. */
static void jump(const struct __jmp_buf_tag *to)
{
    if (levels_n == 0) return;
    const uintptr_t after = is_known() ? stack_after(to) : UINTPTR_MAX;
    const int was_n = levels_n;
    while (levels_n > 0 && leaves(level[levels_n - 1].at, after))
        levels_n--;
    if (levels_n == was_n) return;
    const struct count_back none = {0, 0}, *was = &level[levels_n > 0 ? levels_n - 1 : 0].was;
    count_left_for(levels_n > 0 ? (struct count_back){was->inside + 1, was->deep + 1} : none);
}

#define JUMP(name)                                                                                 \
    __attribute__((noreturn)) void name(struct __jmp_buf_tag to[1], int value);                    \
    void name(struct __jmp_buf_tag to[1], int value)                                               \
    {                                                                                              \
        REAL(void, name, struct __jmp_buf_tag *, int);                                             \
        jump(to);                                                                                  \
        real(to, value);                                                                           \
        __builtin_unreachable();                                                                   \
    }
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

#define EXIT(name, type)                                                                           \
    void name(type value)                                                                          \
    {                                                                                              \
        REAL(void, name, type);                                                                    \
        count_left();                                                                              \
        real(value);                                                                               \
        __builtin_unreachable();                                                                   \
    }
EXIT(exit, int)
EXIT(pthread_exit, void *)
