// SPDX-License-Identifier: Apache-2.0
/* Answers that are an array of FileInfo from a walk: directory listings and searches. */
#ifndef EXECD_LISTING_H
#define EXECD_LISTING_H

#include "walk.h"

#include <osb/http_server.h>

/* True for the entries that belong into the answer. */
typedef bool listing_filter_fn(const char *path, const struct stat *st, const char *pattern);

/*
 * Walks ROOT and answers X, streamed. FILTER NULL takes everything; PATTERN is copied. Errors that
 * are known at once are answered: 404, else 500.
 */
void listing_start(struct osb_http_exchange *x, const char *root, uint64_t depth,
                   listing_filter_fn *filter, const char *pattern);

#endif
