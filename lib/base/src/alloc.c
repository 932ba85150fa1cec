// SPDX-License-Identifier: Apache-2.0
#include <osb/alloc.h>

#include <osb/err.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *osb_calloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);
    osb_assert(p && "memory");
    return p;
}

void *osb_realloc(void *p, size_t size)
{
    void *grown = realloc(p, size ? size : 1);
    osb_assert(grown && "memory");
    return grown;
}

char *osb_strdup(const char *s)
{
    return s ? osb_strndup(s, strlen(s)) : NULL;
}

char *osb_strndup(const char *s, size_t len)
{
    if (!s)
        return NULL;
    osb_assert(len < SIZE_MAX);
    char *copy = osb_realloc(NULL, len + 1);
    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *osb_asprintf(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    osb_assert(n >= 0 && "memory");
    return text;
}
