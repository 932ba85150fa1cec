// SPDX-License-Identifier: Apache-2.0
/* What the headers of a head mean for framing and for the connection, checked strictly. */
#ifndef OSB_HTTP_HEAD_FRAMING_H
#define OSB_HTTP_HEAD_FRAMING_H

#include <osb/http.h>

/* Fills the framing members of HEAD from its headers; 0 or a negative code. */
int http_head_framing(struct osb_http_head *head, struct osb_err *err);
/* The authority of an absolute-form target ("http://host:80/path"), empty for other forms. */
struct osb_slice http_target_authority(struct osb_slice target);

#endif
