// SPDX-License-Identifier: Apache-2.0
#include <osb/api_table.h>

#include <osb/buf.h>

/* ['key'] or [3]; P is behind the bracket. Returns where the path goes on, or NULL. */
static const char *bracket_step(const char *p, const struct osb_json **value)
{
    uint64_t index;
    if (*p == '\'' || *p == '"') {
        const char *end = strchr(p + 1, *p);
        if (!end || end[1] != ']')
            return NULL;
        *value = osb_json_get_slice(*value, osb_slice(p + 1, (size_t)(end - p) - 1));
        return end + 2;
    }
    const char *end = strchr(p, ']');
    if (!end || osb_slice_to_u64(osb_slice(p, (size_t)(end - p)), &index) < 0)
        return NULL;
    *value = osb_json_at(*value, (size_t)index);
    return end + 1;
}

/* .key, in which a backslash takes a dot for itself; P is behind the dot. */
static const char *dot_step(const char *p, const struct osb_json **value)
{
    _cleanup_buf_ struct osb_buf key = {0};
    for (; *p && *p != '.' && *p != '['; p++) {
        if (*p == '\\' && p[1])
            p++;
        osb_buf_append_char(&key, *p);
    }
    if (key.len == 0)
        return NULL;
    *value = osb_json_get_slice(*value, osb_buf_slice(&key));
    return p;
}

const struct osb_json *osb_api_json_path(const struct osb_json *object, const char *path)
{
    const struct osb_json *value = object;
    const char *p = path;
    while (p && value && *p) {
        if (*p == '.')
            p = dot_step(p + 1, &value);
        else if (*p == '[')
            p = bracket_step(p + 1, &value);
        else
            p = NULL;
    }
    return p ? value : NULL;
}
