// SPDX-License-Identifier: Apache-2.0
/* cmocka.h needs these before it. */
#ifndef EXECD_CMOCKA_ALL_H
#define EXECD_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#endif
