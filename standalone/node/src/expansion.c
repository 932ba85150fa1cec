// SPDX-License-Identifier: Apache-2.0
#include "expansion.h"

#include <osb/buf.h>
#include <string.h>

static const char *find_value(struct osb_slice name, const struct resolved_env *env,
                              size_t env_count)
{
    for (size_t i = env_count; i-- > 0;) {
        if (osb_slice_eq_str(name, env[i].name))
            return env[i].value;
    }
    return NULL;
}

/* Appends what stands for the reference at TEXT, which begins with '$'; its length in TEXT. */
static size_t expand_one(const char *text, const struct resolved_env *env, size_t env_count,
                         struct osb_buf *out)
{
    if (text[1] == '$') {
        osb_buf_append_char(out, '$');
        return 2;
    }
    const char *end = text[1] == '(' ? strchr(text, ')') : NULL;
    if (!end) {
        osb_buf_append_char(out, '$');
        return 1;
    }
    size_t len = (size_t)(end + 1 - text);
    const char *value = find_value(osb_slice(text + 2, len - 3), env, env_count);
    if (value)
        osb_buf_append_str(out, value);
    else
        osb_buf_append(out, text, len);
    return len;
}

const char *expand_variables(struct osb_arena *arena, const char *text,
                             const struct resolved_env *env, size_t env_count)
{
    _cleanup_buf_ struct osb_buf out = {0};
    if (!strchr(text, '$'))
        return text;
    while (*text) {
        size_t plain = strcspn(text, "$");
        osb_buf_append(&out, text, plain);
        text += plain;
        if (*text)
            text += expand_one(text, env, env_count, &out);
    }
    return osb_arena_slice_dup(arena, osb_buf_slice(&out));
}
