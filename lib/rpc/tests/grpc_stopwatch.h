// SPDX-License-Identifier: Apache-2.0
/* A gRPC client for benchmarks: one thread, one batch a call, times by the monotonic clock. */
#ifndef GRPC_STOPWATCH_H
#define GRPC_STOPWATCH_H

#include <grpc/grpc.h>
#include <stddef.h>

struct grpc_stopwatch;

/* TARGET is "unix:///…". */
struct grpc_stopwatch *grpc_stopwatch_new(const char *target);
void grpc_stopwatch_free(struct grpc_stopwatch *client);
/* Microseconds of one unary call that echoes LEN bytes; ends the process when it fails. */
double grpc_stopwatch_echo(struct grpc_stopwatch *client, const char *method, size_t len);
/* COUNT streams that have sent LEN bytes each and are left open. */
grpc_call **grpc_stopwatch_open(struct grpc_stopwatch *client, const char *method, int count,
                                size_t len);
void grpc_stopwatch_close(grpc_call **calls, int count);

#endif
