// SPDX-License-Identifier: Apache-2.0
#include <osb/api_table.h>

#include <osb/clock.h>
#include <stdio.h>

/* Two units, the second left out when it is zero. */
static void two_units(char buffer[static 24], int64_t big, char big_unit, int64_t small,
                      char small_unit)
{
    if (small)
        snprintf(buffer, 24, "%lld%c%lld%c", (long long)big, big_unit, (long long)small,
                 small_unit);
    else
        snprintf(buffer, 24, "%lld%c", (long long)big, big_unit);
}

/* The older, the coarser: the steps are those of kubectl. */
const char *osb_api_age(int64_t age_ns, char buffer[static 24])
{
    int64_t s = age_ns / (int64_t)OSB_NS_PER_S;
    int64_t minutes = s / 60;
    int64_t hours = minutes / 60;
    int64_t days = hours / 24;
    if (s < -1)
        snprintf(buffer, 24, "<invalid>"); /* the future, beyond what clocks may differ */
    else if (s < 0)
        snprintf(buffer, 24, "0s");
    else if (s < 120)
        two_units(buffer, s, 's', 0, ' ');
    else if (minutes < 10)
        two_units(buffer, minutes, 'm', s % 60, 's');
    else if (minutes < 180)
        two_units(buffer, minutes, 'm', 0, ' ');
    else if (hours < 8)
        two_units(buffer, hours, 'h', minutes % 60, 'm');
    else if (hours < 48)
        two_units(buffer, hours, 'h', 0, ' ');
    else if (days < 8)
        two_units(buffer, days, 'd', hours % 24, 'h');
    else if (days < 2 * 365)
        two_units(buffer, days, 'd', 0, ' ');
    else if (days < 8 * 365)
        two_units(buffer, days / 365, 'y', days % 365, 'd');
    else
        two_units(buffer, days / 365, 'y', 0, ' ');
    return buffer;
}
