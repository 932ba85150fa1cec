// SPDX-License-Identifier: Apache-2.0
/* Dates of HTTP headers (RFC 9110 section 5.6.7), the preferred form only. */
#ifndef EXECD_FILE_DATE_H
#define EXECD_FILE_DATE_H

#include <osb/slice.h>
#include <time.h>

enum { FILE_DATE_MAX = 32 };

const char *file_date_format(time_t time, char buffer[static FILE_DATE_MAX]);
/* False for other forms: as good as no header. */
bool file_date_parse(struct osb_slice text, time_t *ret);

#endif
