// SPDX-License-Identifier: Apache-2.0
/* The Range header of a download (RFC 9110 section 14; execd contract 9.6). */
#ifndef EXECD_BYTE_RANGE_H
#define EXECD_BYTE_RANGE_H

#include <osb/slice.h>
#include <stdint.h>

struct byte_range {
    int64_t offset;
    int64_t len;
};

enum byte_range_result {
    RANGE_OK,
    RANGE_MALFORMED,     /* 416 with a code */
    RANGE_UNSATISFIABLE, /* 416 with Content-Range */
};

/*
 * The first range of VALUE ("bytes=0-9, -5") that a file of SIZE bytes satisfies; its end is cut
 * to the file. *RET is written for RANGE_OK only.
 */
enum byte_range_result byte_range_parse(struct osb_slice value, int64_t size,
                                        struct byte_range *ret);

#endif
