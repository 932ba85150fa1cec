// SPDX-License-Identifier: Apache-2.0
/*
 * A gRPC client for tests that does one thing at a time and says what came of it: every operation
 * of a call can be started and awaited by itself. Waiting turns the loop, so that a server on the
 * same thread can answer.
 */
#ifndef GRPC_CALLER_H
#define GRPC_CALLER_H

#include <grpc/grpc.h>
#include <osb/buf.h>
#include <osb/list.h>
#include <osb/loop.h>
#include <osb/slice.h>
#include <stdbool.h>
#include <stdint.h>

struct grpc_caller;

/* A batch of a call. */
struct caller_batch {
    bool is_pending;
    bool is_ok;
};

struct caller_call {
    struct osb_list link;
    struct grpc_caller *caller;
    grpc_call *call;
    struct caller_batch opened, headers, sent, closed, received, status;
    grpc_byte_buffer *request;
    grpc_byte_buffer *answer;
    grpc_metadata_array initial;
    grpc_metadata_array trailing;
    grpc_status_code code;
    grpc_slice text;
};

/* Speaks over FD, which it takes. */
struct grpc_caller *grpc_caller_new(struct osb_loop *loop, int fd);
/* Closes the connection under its calls, as the death of the client does. */
void grpc_caller_hang_up(struct grpc_caller *caller);
/* Frees calls that a failed test has left. */
void grpc_caller_free(struct grpc_caller *caller);
/* Turns the loop until CONDITION holds; aborts the test after a bound. */
#define grpc_caller_until(caller, condition)                                                       \
    do {                                                                                           \
        uint64_t caller_end_ns_ = grpc_caller_bound_ns();                                          \
        while (!(condition))                                                                       \
            grpc_caller_turn(caller, caller_end_ns_);                                              \
    } while (0)
uint64_t grpc_caller_bound_ns(void);
/* Lets a millisecond of events happen; aborts the test when END_NS has passed. */
void grpc_caller_turn(struct grpc_caller *caller, uint64_t end_ns);

/* Opens a call with COUNT pairs of METADATA, and listens for headers and status. */
struct caller_call *caller_open(struct grpc_caller *caller, const char *method, uint64_t timeout_ms,
                                grpc_metadata *metadata, size_t count);
/* Cancels what is pending. */
void caller_free(struct caller_call *call);
void caller_cancel(struct caller_call *call);
/* Waits for BATCH; its is_ok. */
bool caller_wait(struct caller_call *call, struct caller_batch *batch);

void caller_start_send(struct caller_call *call, struct osb_slice message);
bool caller_send(struct caller_call *call, struct osb_slice message);
bool caller_close(struct caller_call *call);
void caller_start_receive(struct caller_call *call);
/* The next message into RET, which is cleared first; false when there is none. */
bool caller_receive(struct caller_call *call, struct osb_buf *ret);
/* Reads and drops what comes, waits for the end; the status code. */
int caller_status(struct caller_call *call);
struct osb_slice caller_text(const struct caller_call *call);
/* The value of pair number INDEX with that name; NULL slice when there is none. */
struct osb_slice caller_metadata(const grpc_metadata_array *pairs, const char *name, int index);

/* One request, one answer into RET (may be NULL), the status code. */
int caller_unary(struct grpc_caller *caller, const char *method, struct osb_slice request,
                 struct osb_buf *ret);

#endif
