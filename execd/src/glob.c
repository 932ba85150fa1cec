// SPDX-License-Identifier: Apache-2.0
#include "glob.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <string.h>

/* The end of the class that starts at P ('['), or NULL when it never closes. */
static const char *class_end(const char *p)
{
    p++;
    if (*p == '!' || *p == '^')
        p++;
    if (*p == ']')
        p++;
    while (*p && *p != ']')
        p += *p == '\\' && p[1] ? 2 : 1;
    return *p ? p : NULL;
}

static bool class_holds(const char *p, const char *end, unsigned char c)
{
    bool is_negated = *++p == '!' || *p == '^';
    bool holds = false;

    if (is_negated)
        p++;
    while (p < end) {
        if (*p == '\\' && p + 1 < end)
            p++;
        unsigned char low = (unsigned char)*p++;
        unsigned char high = low;
        if (p + 1 < end && *p == '-') {
            p++;
            if (*p == '\\' && p + 1 < end)
                p++;
            high = (unsigned char)*p++;
        }
        holds = holds || (low <= c && c <= high);
    }
    return holds != is_negated;
}

/* Matches one element at P against C; the element's end, or NULL. `*` is the caller's. */
static const char *match_one(const char *p, unsigned char c)
{
    const char *end;

    if (c == '\0')
        return NULL;
    if (*p == '?')
        return p + 1;
    if (*p == '[' && (end = class_end(p)))
        return class_holds(p, end, c) ? end + 1 : NULL;
    if (*p == '\\' && p[1])
        p++;
    return (unsigned char)*p == c ? p + 1 : NULL;
}

/* Without braces; a `*` is only ever extended for the last one seen, so the cost is bounded. */
static bool match_plain(const char *p, const char *name)
{
    const char *star = NULL;
    const char *star_name = NULL;

    for (;;) {
        const char *next;
        if (*p == '*') {
            star = ++p;
            star_name = name;
        } else if (*p == '\0' && *name == '\0') {
            return true;
        } else if (*p && (next = match_one(p, (unsigned char)*name))) {
            p = next;
            name++;
        } else if (star && *star_name) {
            p = star;
            name = ++star_name;
        } else {
            return false;
        }
    }
}

/* The first brace outside escapes and classes, or NULL. */
static const char *find_brace(const char *p)
{
    const char *end;

    for (; *p; p++) {
        if (*p == '\\' && p[1])
            p++;
        else if (*p == '[' && (end = class_end(p)))
            p = end;
        else if (*p == '{')
            return p;
    }
    return NULL;
}

/* The next ',' or '}' of the level that P is in; NULL when the brace never closes. */
static const char *alternative_end(const char *p)
{
    int depth = 0;

    for (; *p; p++) {
        if (*p == '\\' && p[1])
            p++;
        else if (*p == '{')
            depth++;
        else if (*p == '}' && depth-- == 0)
            return p;
        else if (*p == ',' && depth == 0)
            return p;
    }
    return NULL;
}

static const char *brace_end(const char *p)
{
    while ((p = alternative_end(p)) && *p == ',')
        p++;
    return p;
}

static bool match_braces(const char *pattern, const char *name, int *budget)
{
    const char *brace = find_brace(pattern);
    const char *close = brace ? brace_end(brace + 1) : NULL;

    if (--*budget < 0)
        return false;
    if (!close)
        return match_plain(pattern, name);
    for (const char *start = brace + 1;; start++) {
        const char *end = alternative_end(start);
        _cleanup_free_ char *one = osb_asprintf("%.*s%.*s%s", (int)(brace - pattern), pattern,
                                                (int)(end - start), start, close + 1);
        if (match_braces(one, name, budget))
            return true;
        if (end == close)
            return false;
        start = end;
    }
}

bool glob_match(const char *pattern, const char *name)
{
    int budget = GLOB_MAX_ALTERNATIVES;

    if (strlen(pattern) > GLOB_MAX_PATTERN)
        return false;
    while (strncmp(pattern, "**/", 3) == 0)
        pattern += 3;
    return match_braces(pattern, name, &budget);
}
