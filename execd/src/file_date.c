// SPDX-License-Identifier: Apache-2.0
#include "file_date.h"

#include <stdio.h>

static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

const char *file_date_format(time_t time, char buffer[static FILE_DATE_MAX])
{
    struct tm tm;

    gmtime_r(&time, &tm);
    snprintf(buffer, FILE_DATE_MAX, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT",
             days[(unsigned)tm.tm_wday % 7], (unsigned)tm.tm_mday % 100,
             months[(unsigned)tm.tm_mon % 12], (unsigned)(tm.tm_year + 1900) % 10000,
             (unsigned)tm.tm_hour % 100, (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100);
    return buffer;
}

static bool parse_month(const char *name, int *ret)
{
    for (int i = 0; i < 12; i++) {
        if (memcmp(name, months[i], 3) == 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

bool file_date_parse(struct osb_slice text, time_t *ret)
{
    char copy[FILE_DATE_MAX];
    char month[4];
    char check[FILE_DATE_MAX];
    struct tm tm = {0};
    int year;

    if (text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    if (sscanf(copy, "%*3s, %2d %3s %4d %2d:%2d:%2d GMT", &tm.tm_mday, month, &year, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec) != 6 ||
        !parse_month(month, &tm.tm_mon))
        return false;
    tm.tm_year = year - 1900;
    time_t time = timegm(&tm);
    /* Written back it must be the same: that checks every field. */
    if (!osb_slice_eq_str(text, file_date_format(time, check)))
        return false;
    *ret = time;
    return true;
}
