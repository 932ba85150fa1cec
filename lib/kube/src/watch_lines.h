// SPDX-License-Identifier: Apache-2.0
/*
 * Splits the bytes of a watch into lines. A line that lies whole in one piece of input is not
 * copied; a longer one than the limit ends the watch with -OSB_E_TOO_LARGE.
 */
#ifndef OSB_KUBE_WATCH_LINES_H
#define OSB_KUBE_WATCH_LINES_H

#include <osb/buf.h>
#include <osb/slice.h>

struct watch_lines {
    struct osb_buf partial; /* a line whose end has not come yet */
    size_t limit;
};

void watch_lines_init(struct watch_lines *lines, size_t limit);
void watch_lines_done(struct watch_lines *lines);
/*
 * Calls FN for each complete, non-empty line, without its line feed. A negative value from FN
 * stops and is returned.
 */
int watch_lines_feed(struct watch_lines *lines, struct osb_slice data,
                     int (*fn)(struct osb_slice line, void *arg), void *arg);
/* Forgets an unfinished line; true when there was one: the watch was cut in its middle. */
bool watch_lines_reset(struct watch_lines *lines);

#endif
