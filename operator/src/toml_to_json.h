// SPDX-License-Identifier: Apache-2.0
/* TOML 1.0 as JSON text, by toml++: the C face of the one C++ file of this tree. */
#ifndef OPERATOR_TOML_TO_JSON_H
#define OPERATOR_TOML_TO_JSON_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns JSON text (an object), NUL-terminated, to be freed; NULL with a message that names line
 * and column in ERROR. Dates and times become strings; infinities and NaN become strings too.
 */
char *toml_to_json(const char *text, size_t len, char *error, size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
