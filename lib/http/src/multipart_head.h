// SPDX-License-Identifier: Apache-2.0
/* Header values of multipart/form-data: parameters, quoted strings, the head of a part. */
#ifndef OSB_HTTP_MULTIPART_HEAD_H
#define OSB_HTTP_MULTIPART_HEAD_H

#include <osb/buf.h>
#include <osb/err.h>
#include <osb/multipart.h>

struct multipart_part {
    struct osb_buf name;
    struct osb_buf filename;
    bool has_filename;
    struct osb_slice content_type; /* inside the head */
};

/* The boundary of a Content-Type value. */
int multipart_boundary(struct osb_slice content_type, char boundary[OSB_MULTIPART_MAX_BOUNDARY],
                       size_t *ret_len, struct osb_err *err);
/* HEAD is the header lines with the empty line. The buffers of PART are the caller's to free. */
int multipart_parse_head(struct osb_slice head, struct multipart_part *part, struct osb_err *err);

#endif
