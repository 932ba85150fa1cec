// SPDX-License-Identifier: Apache-2.0
/*
 * IPv4 forwarding for as long as an instance needs it. Turning it on changes more sysctls than one
 * (the kernel sets every link's `forwarding` and the redirect policy), so all of them are written
 * down first, in one file that the instances of a machine share; the last user takes them back.
 */
#ifndef NET_FORWARDING_H
#define NET_FORWARDING_H

#include <osb/err.h>

/* USER is the instance's table name. FILE is shared, locked during the call. */
int forwarding_acquire(const char *file, const char *user, struct osb_err *err);
int forwarding_release(const char *file, const char *user, struct osb_err *err);

#endif
