/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

int err_set(struct err *err, int code, const char *fmt, ...)
{
    struct err fresh;
    va_list args;

    check(code < 0);
    if (!err)
        return code;
    va_start(args, fmt);
    vsnprintf(fresh.text, sizeof fresh.text, fmt, args);
    va_end(args);
    memcpy(err->text, fresh.text, strlen(fresh.text) + 1);
    return code;
}

int err_prefix(struct err *err, int code, const char *fmt, ...)
{
    struct err front;
    size_t front_len, room, tail_len;
    va_list args;

    check(code < 0);
    if (!err)
        return code;
    va_start(args, fmt);
    vsnprintf(front.text, sizeof front.text, fmt, args);
    va_end(args);
    front_len = strlen(front.text);
    room = sizeof err->text - 1 - front_len;
    tail_len = strlen(err->text);
    if (tail_len > room)
        tail_len = room;
    memmove(err->text + front_len, err->text, tail_len);
    memcpy(err->text, front.text, front_len);
    err->text[front_len + tail_len] = '\0';
    return code;
}
