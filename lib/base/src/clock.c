// SPDX-License-Identifier: Apache-2.0
#include <osb/clock.h>

#include <osb/err.h>
#include <time.h>

static struct timespec now(clockid_t clock)
{
    struct timespec ts;
    osb_assert(clock_gettime(clock, &ts) == 0);
    return ts;
}

uint64_t osb_monotonic_ns(void)
{
    struct timespec ts = now(CLOCK_MONOTONIC);
    return (uint64_t)ts.tv_sec * OSB_NS_PER_S + (uint64_t)ts.tv_nsec;
}

int64_t osb_realtime_ns(void)
{
    struct timespec ts = now(CLOCK_REALTIME);
    return (int64_t)ts.tv_sec * (int64_t)OSB_NS_PER_S + ts.tv_nsec;
}
