// SPDX-License-Identifier: Apache-2.0
/*
 * What clang-tidy cannot see of functions in other files, told by macros. `cmake/checks/tidy` puts
 * this in front of each source; no compiler sees it. A raised error is negative, and wrapping one
 * gives back the value that went in: without that every `r < 0` after a failed call is a path to
 * it.
 */
#ifndef OSB_TIDY_MODEL_H
#define OSB_TIDY_MODEL_H

#if __has_include(<osb/err.h>)
#include <osb/err.h>

#define osb_fail(...)                                                                              \
    ({                                                                                             \
        int osb_raised_ = (osb_fail)(__VA_ARGS__);                                                 \
        if (osb_raised_ >= 0)                                                                      \
            __builtin_unreachable();                                                               \
        osb_raised_;                                                                               \
    })

#define osb_wrap(err, r, ...)                                                                      \
    ({                                                                                             \
        int osb_given_ = (r);                                                                      \
        (void)(osb_wrap)((err), osb_given_, __VA_ARGS__);                                          \
        osb_given_;                                                                                \
    })
#endif

#endif
