// SPDX-License-Identifier: Apache-2.0
/*
 * The delimiter begins with CR and has no other one, so a broken match can only begin anew at the
 * byte that broke it: how far it had come is all there is to remember, and nothing is buffered.
 */
#include "multipart_head.h"

#include <osb/multipart.h>

#include <osb/alloc.h>
#include <osb/buf.h>
#include <stdlib.h>

enum state {
    PREAMBLE,
    AFTER_BOUNDARY, /* "--", or blanks and the end of the line */
    AFTER_DASH,
    AFTER_CR,
    HEAD,
    CONTENT,
    EPILOGUE,
};

enum { DELIMITER_MAX = OSB_MULTIPART_MAX_BOUNDARY + 4 };

struct osb_multipart {
    struct osb_multipart_callbacks callbacks;
    void *arg;
    char delimiter[DELIMITER_MAX]; /* CR LF "--" boundary */
    size_t delimiter_len;
    size_t matched; /* bytes of the delimiter seen at the end of what was fed */
    size_t implied; /* of these: the line end of a head, which is no content */
    enum state state;
    struct osb_buf head;
    int failure; /* sticky */
};

int osb_multipart_new(struct osb_slice content_type,
                      const struct osb_multipart_callbacks *callbacks, void *arg,
                      struct osb_multipart **ret, struct osb_err *err)
{
    char boundary[OSB_MULTIPART_MAX_BOUNDARY];
    size_t len;
    int r = multipart_boundary(content_type, boundary, &len, err);
    if (r < 0)
        return r;
    struct osb_multipart *multipart = osb_new(struct osb_multipart);
    multipart->callbacks = *callbacks;
    multipart->arg = arg;
    memcpy(multipart->delimiter, "\r\n--", 4);
    memcpy(multipart->delimiter + 4, boundary, len);
    multipart->delimiter_len = len + 4;
    multipart->matched = multipart->implied = 2; /* the first one needs no line end before it */
    osb_buf_init(&multipart->head, OSB_MULTIPART_MAX_HEAD);
    *ret = multipart;
    return 0;
}

void osb_multipart_free(struct osb_multipart *multipart)
{
    if (!multipart)
        return;
    osb_buf_done(&multipart->head);
    free(multipart);
}

static int emit(struct osb_multipart *multipart, const char *data, size_t len)
{
    if (len == 0 || multipart->state != CONTENT || !multipart->callbacks.on_data)
        return 0;
    return multipart->callbacks.on_data(osb_slice(data, len), multipart->arg);
}

/* ---- content, up to the delimiter ---- */

static int end_part(struct osb_multipart *multipart)
{
    bool had_part = multipart->state == CONTENT;
    multipart->state = AFTER_BOUNDARY;
    multipart->matched = multipart->implied = 0;
    osb_buf_clear(&multipart->head);
    return had_part && multipart->callbacks.on_part_end
               ? multipart->callbacks.on_part_end(multipart->arg)
               : 0;
}

/* Goes on with a match that has begun; returns the bytes used of DATA. */
static ptrdiff_t continue_match(struct osb_multipart *multipart, struct osb_slice data)
{
    size_t used = 0;
    while (used < data.len && multipart->matched < multipart->delimiter_len &&
           data.data[used] == multipart->delimiter[multipart->matched]) {
        multipart->matched++;
        used++;
    }
    if (multipart->matched == multipart->delimiter_len) {
        int r = end_part(multipart);
        return r < 0 ? r : (ptrdiff_t)used;
    }
    if (used == data.len)
        return (ptrdiff_t)used;
    size_t literal = multipart->matched - multipart->implied; /* it was content after all */
    int r = emit(multipart, multipart->delimiter + multipart->implied, literal);
    multipart->matched = multipart->implied = 0;
    return r < 0 ? r : (ptrdiff_t)used;
}

static ptrdiff_t feed_content(struct osb_multipart *multipart, struct osb_slice data)
{
    if (multipart->matched > 0)
        return continue_match(multipart, data);
    ptrdiff_t cr = osb_slice_find(data, '\r');
    size_t len = cr < 0 ? data.len : (size_t)cr;
    multipart->matched = cr < 0 ? 0 : 1;
    int r = emit(multipart, data.data, len);
    return r < 0 ? r : (ptrdiff_t)(len + multipart->matched);
}

/* ---- the rest of a boundary line ---- */

static int syntax(struct osb_err *err, const char *message)
{
    return osb_fail(err, -OSB_E_SYNTAX, "multipart: %s", message);
}

static int feed_boundary_byte(struct osb_multipart *multipart, char c, struct osb_err *err)
{
    switch (multipart->state) {
    case AFTER_BOUNDARY:
        if (c == '\r')
            multipart->state = AFTER_CR;
        else if (c == '-')
            multipart->state = AFTER_DASH;
        else if (c != ' ' && c != '\t')
            return syntax(err, "a boundary line goes on with other bytes");
        return 0;
    case AFTER_DASH:
        if (c != '-')
            return syntax(err, "half a closing boundary");
        multipart->state = EPILOGUE;
        return 0;
    default: /* AFTER_CR */
        if (c != '\n')
            return syntax(err, "carriage return without line feed");
        multipart->state = HEAD;
        return 0;
    }
}

/* ---- part heads ---- */

static int start_part(struct osb_multipart *multipart, struct osb_err *err)
{
    struct multipart_part part = {0};
    int r = multipart_parse_head(osb_buf_slice(&multipart->head), &part, err);
    if (r >= 0 && multipart->callbacks.on_part)
        r = multipart->callbacks.on_part(osb_buf_slice(&part.name), part.has_filename,
                                         osb_buf_slice(&part.filename), part.content_type,
                                         multipart->arg);
    osb_buf_done(&part.name);
    osb_buf_done(&part.filename);
    multipart->state = CONTENT;
    /* A part without content has its delimiter right behind the head's empty line. */
    multipart->matched = multipart->implied = 2;
    return r;
}

static bool is_head_end(struct osb_slice head)
{
    return osb_slice_ends(head, OSB_SLICE("\r\n\r\n")) || osb_slice_eq_str(head, "\r\n");
}

/* Takes bytes up to and with the next line feed. */
static ptrdiff_t feed_head(struct osb_multipart *multipart, struct osb_slice data,
                           struct osb_err *err)
{
    ptrdiff_t lf = osb_slice_find(data, '\n');
    size_t len = lf < 0 ? data.len : (size_t)lf + 1;
    osb_buf_append(&multipart->head, data.data, len);
    if (multipart->head.err < 0)
        return osb_fail(err, multipart->head.err, "multipart: the head of a part is too large");
    if (lf >= 0 && is_head_end(osb_buf_slice(&multipart->head))) {
        int r = start_part(multipart, err);
        if (r < 0)
            return r;
    }
    return (ptrdiff_t)len;
}

static ptrdiff_t feed_some(struct osb_multipart *multipart, struct osb_slice data,
                           struct osb_err *err)
{
    switch (multipart->state) {
    case PREAMBLE:
    case CONTENT:
        return feed_content(multipart, data);
    case HEAD:
        return feed_head(multipart, data, err);
    case EPILOGUE:
        return (ptrdiff_t)data.len;
    default: {
        int r = feed_boundary_byte(multipart, data.data[0], err);
        return r < 0 ? r : 1;
    }
    }
}

int osb_multipart_feed(struct osb_multipart *multipart, struct osb_slice data, struct osb_err *err)
{
    if (multipart->failure < 0)
        return osb_fail(err, multipart->failure, "multipart: fed after a failure");
    while (data.len > 0) {
        struct osb_err own = {0};
        ptrdiff_t n = feed_some(multipart, data, &own);
        if (n < 0) {
            multipart->failure = (int)n;
            return own.code ? osb_fail(err, (int)n, "%s", own.message)
                            : osb_fail(err, (int)n, "multipart: refused by its reader");
        }
        data = osb_slice_from(data, (size_t)n);
    }
    return 0;
}

int osb_multipart_finish(struct osb_multipart *multipart, struct osb_err *err)
{
    if (multipart->failure < 0)
        return osb_fail(err, multipart->failure, "multipart: ended after a failure");
    if (multipart->state != EPILOGUE)
        return syntax(err, "the closing boundary is missing");
    return 0;
}
