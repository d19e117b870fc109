/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/err.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

/* The one message of the process. A lock, because an I/O thread may fail at the same time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char message[ERR_MESSAGE_MAX];
static bool shared;

/* What a caller may print when a function failed without saying why. */
static const struct {
    int code, exit_status;
    const char *text;
} cause[] = {
    {ERR_USAGE, 1, "wrong option, value or description"},
    {ERR_VERIFY, 2, "the content is wrong"},
    {ERR_IO, 3, "a file system call failed"},
    {ERR_NOMEM, 3, "out of memory"},
    {ERR_MPI, 3, "an MPI call failed"},
    {ERR_INVALID, 4, "finished, but not valid as a result"},
    {ERR_INTERRUPT, 3, "asked to stop by a signal"},
};
enum { CAUSES = sizeof cause / sizeof cause[0] };

static void record(const char *fmt, va_list ap, const char *tail)
{
    pthread_mutex_lock(&lock);
    if (!message[0]) {
        int len = vsnprintf(message, sizeof message, fmt, ap);
        if (len < 0) message[0] = '\0';
        size_t used = strlen(message);
        /* Of a text that is too long the reason stays. */
        const size_t room = tail ? sizeof message - strlen(tail) - sizeof ": " : used;
        if (used > room) used = room;
        if (tail) snprintf(message + used, sizeof message - used, ": %s", tail);
        plain_text(message);
        shared = false;
    }
    pthread_mutex_unlock(&lock);
}

int(err_set)(int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(fmt, ap, NULL);
    va_end(ap);
    return code;
}

int(err_set_errno)(int code, int errnum, const char *fmt, ...)
{
    char text[128];
    const char *tail = strerror_r(errnum, text, sizeof text); /* GNU form: returns the text */
    va_list ap;
    va_start(ap, fmt);
    record(fmt, ap, tail);
    va_end(ap);
    return code;
}

void err_prefix(const char *text)
{
    char whole[ERR_MESSAGE_MAX];
    pthread_mutex_lock(&lock);
    const int used = snprintf(whole, sizeof whole, "%s", text);
    if (used < (int)sizeof whole)
        snprintf(whole + used, sizeof whole - (size_t)used, "%s", message);
    if (message[0]) memcpy(message, plain_text(whole), sizeof message);
    pthread_mutex_unlock(&lock);
}

const char *err_message(void)
{
    return message;
}

void err_clear(void)
{
    pthread_mutex_lock(&lock);
    message[0] = '\0';
    shared = false;
    pthread_mutex_unlock(&lock);
}

void err_share(const char *text)
{
    pthread_mutex_lock(&lock);
    plain_copy(message, sizeof message, text);
    shared = true;
    pthread_mutex_unlock(&lock);
}

bool err_is_shared(void)
{
    return shared && message[0];
}

const char *err_text(int code)
{
    for (int c = 0; c < CAUSES; c++) {
        if (cause[c].code == code) return cause[c].text;
    }
    return code < 0 ? "unknown error" : "no error";
}

int err_exit_status(int code)
{
    for (int c = 0; c < CAUSES; c++) {
        if (cause[c].code == code) return cause[c].exit_status;
    }
    return code < 0 ? 3 : 0;
}

_Noreturn void err_assert_failed(const char *cond, const char *file, int line)
{
    fprintf(stderr, "%s:%d: this must hold and does not: %s\n", file, line, cond);
    abort();
}
