// SPDX-License-Identifier: Apache-2.0
/*
 * Ordered worker pool for calls that block (tar, compress, hash, fsync, SQLite): WORK runs on a
 * pool thread, DONE afterwards on the loop thread. Jobs of the same key run one after the other in
 * the order they were submitted; a bounded queue refuses more with -OSB_E_RATE_LIMITED.
 */
#ifndef OSB_WORKER_H
#define OSB_WORKER_H

#include <osb/err.h>
#include <osb/loop.h>
#include <stdint.h>

struct osb_workers;

/* QUEUE_LIMIT is the number of jobs that wait for a thread. The threads take no signals. */
int osb_workers_new(struct osb_loop *loop, int threads, size_t queue_limit,
                    struct osb_workers **ret, struct osb_err *err);
/*
 * Waits for running jobs, then runs the DONE of each that finished, and with -ECANCELED of each
 * that had not started, all before it returns. NULL is allowed; also inside a DONE.
 */
void osb_workers_free(struct osb_workers *workers);
/*
 * DONE gets the value that WORK returned. KEY 0 is unordered. 0, -OSB_E_RATE_LIMITED when the queue
 * is full, -ECANCELED while the pool is being freed; after an error DONE does not run.
 */
int osb_workers_submit(struct osb_workers *workers, uint64_t key, int (*work)(void *arg),
                       void (*done)(int r, void *arg), void *arg);

#endif
