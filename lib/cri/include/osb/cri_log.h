// SPDX-License-Identifier: Apache-2.0
/*
 * The CRI log format: "2026-12-01T04:10:54.123456789Z stdout F text\n"; tag P marks a part of a
 * longer line, F its end.
 */
#ifndef OSB_CRI_LOG_H
#define OSB_CRI_LOG_H

#include <osb/slice.h>
#include <stdbool.h>
#include <stdint.h>

struct osb_cri_log_line {
    int64_t realtime_ns;
    struct osb_slice timestamp; /* as it stands */
    bool is_stderr;
    bool is_partial;
    struct osb_slice text; /* without the line feed */
};

/* LINE without its line feed. 0 or -OSB_E_SYNTAX. */
int osb_cri_log_parse(struct osb_slice line, struct osb_cri_log_line *ret);

#endif
