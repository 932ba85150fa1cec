// SPDX-License-Identifier: Apache-2.0
/*
 * A streaming multipart/form-data reader (RFC 7578, RFC 2046): fed runs of bytes, it calls back
 * with part heads and content without buffering more than a boundary's length.
 */
#ifndef OSB_MULTIPART_H
#define OSB_MULTIPART_H

#include <osb/err.h>
#include <osb/slice.h>
#include <stdbool.h>

enum {
    OSB_MULTIPART_MAX_HEAD = 16 * 1024, /* one part's headers */
    OSB_MULTIPART_MAX_BOUNDARY = 70,    /* RFC 2046 section 5.1.1 */
};

struct osb_multipart;

/* Slices are valid during the call. A negative return ends the parse with that code. */
struct osb_multipart_callbacks {
    /* NAME and FILENAME are unquoted; HAS_FILENAME tells an absent one from an empty one. */
    int (*on_part)(struct osb_slice name, bool has_filename, struct osb_slice filename,
                   struct osb_slice content_type, void *arg);
    int (*on_data)(struct osb_slice data, void *arg);
    int (*on_part_end)(void *arg);
};

/* CONTENT_TYPE is the request's header value; it must be multipart/form-data with a boundary. */
int osb_multipart_new(struct osb_slice content_type,
                      const struct osb_multipart_callbacks *callbacks, void *arg,
                      struct osb_multipart **ret, struct osb_err *err);
int osb_multipart_feed(struct osb_multipart *multipart, struct osb_slice data, struct osb_err *err);
/* 0 when the closing boundary was seen; else -OSB_E_SYNTAX. */
int osb_multipart_finish(struct osb_multipart *multipart, struct osb_err *err);
void osb_multipart_free(struct osb_multipart *multipart);

#endif
