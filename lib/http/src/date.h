// SPDX-License-Identifier: Apache-2.0
/* The date of RFC 9110 section 5.6.7: "Tue, 15 Nov 1994 08:12:31 GMT", without the locale. */
#ifndef OSB_HTTP_DATE_H
#define OSB_HTTP_DATE_H

#include <time.h>

enum { HTTP_DATE_MAX = 48 };

const char *http_date_format(char buffer[static HTTP_DATE_MAX], time_t seconds);

#endif
