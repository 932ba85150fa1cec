// SPDX-License-Identifier: Apache-2.0
/* A transport without a network: it notes what is sent, and the test plays the server. */
#ifndef OSB_KUBE_SCRIPT_TRANSPORT_H
#define OSB_KUBE_SCRIPT_TRANSPORT_H

#include <osb/kube_client.h>

enum { SCRIPT_MAX_REQUESTS = 256 };

struct script_request {
    struct script *script;
    char *method;
    char *path;
    char *content_type;
    char *request_id;
    char *body;
    uint64_t timeout_ms;
    struct osb_kube_transport_callbacks callbacks;
    void *arg;
    bool is_open; /* neither ended nor cancelled */
    bool is_cancelled;
};

struct script {
    struct osb_kube_transport transport;
    struct script_request requests[SCRIPT_MAX_REQUESTS];
    int count;
    int refuse; /* so many starts fail at once */
};

/* Freed with the client that takes it. */
struct script *script_new(void);
/* The newest request; asserts that there are COUNT in all. */
struct script_request *script_last(struct script *script, int count);
/* A whole answer. */
void script_answer(struct script_request *request, int status, const char *body);
void script_answer_later(struct script_request *request, int status, int retry_after_s,
                         const char *body);
/* A streamed one. */
void script_begin(struct script_request *request);
void script_data(struct script_request *request, const char *text);
void script_end(struct script_request *request, int r);

#endif
