// SPDX-License-Identifier: Apache-2.0
/* A client of the REST facade over a socket pair, on the virtual clock. */
#ifndef OPERATOR_TEST_REST_TALK_H
#define OPERATOR_TEST_REST_TALK_H

#include <osb/json_tree.h>

#include "rest_server.h"

struct talk {
    int fd; /* ours; -1 once closed */
    struct osb_buf in;
    int status; /* 0: no whole answer yet */
    struct osb_json *body;
};

#define TALK_KEY "k3y"

/* Sends a request with the right key; HEADERS are whole lines, BODY may be NULL. */
void talk_send(struct talk *talk, struct rest *rest, const char *method, const char *path,
               const char *headers, const char *body);
/* The same without the key. */
void talk_send_bare(struct talk *talk, struct rest *rest, const char *method, const char *path,
                    const char *headers, const char *body);
/* Takes in what has come; true once the answer is whole. */
bool talk_read(struct talk *talk);
/* A member of the answer by dotted path, as text; "" when there is none. */
const char *talk_text(const struct talk *talk, const char *path);
/* The client goes away. */
void talk_hang_up(struct talk *talk);
/* Forgets everything; may be used again. */
void talk_done(struct talk *talk);

#endif
