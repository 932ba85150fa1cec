// SPDX-License-Identifier: Apache-2.0
#include "openssl_err.h"
#include <openssl/err.h>

const char *osb_openssl_reason(void)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason ? reason : "unknown reason";
}

int osb_openssl_fail(struct osb_err *err, int code, const char *what)
{
    osb_fail(err, code, "%s: %s", what, osb_openssl_reason());
    ERR_clear_error();
    return code;
}
