// SPDX-License-Identifier: Apache-2.0
#include "date.h"

#include <stdio.h>

const char *http_date_format(char buffer[static HTTP_DATE_MAX], time_t seconds)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct tm tm;
    if (!gmtime_r(&seconds, &tm))
        tm = (struct tm){.tm_mday = 1, .tm_year = 70, .tm_wday = 4};
    /* The remainders only tell the compiler that the text fits. */
    snprintf(buffer, HTTP_DATE_MAX, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT",
             days[(unsigned)tm.tm_wday % 7], (unsigned)tm.tm_mday % 100,
             months[(unsigned)tm.tm_mon % 12], (unsigned)(tm.tm_year + 1900) % 10000,
             (unsigned)tm.tm_hour % 100, (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100);
    return buffer;
}
