// SPDX-License-Identifier: Apache-2.0
#include "json_pointer.h"

bool json_pointer_index(struct osb_slice token, size_t *ret)
{
    uint64_t index;
    if (token.len > 1 && token.data[0] == '0')
        return false;
    if (osb_slice_to_u64(token, &index) < 0 || index > SIZE_MAX)
        return false;
    *ret = (size_t)index;
    return true;
}

/* Replaces ~1 by a slash and ~0 by a tilde. */
static int unescape(struct osb_slice raw, struct osb_arena *arena, struct osb_slice *ret,
                    struct osb_err *err)
{
    if (osb_slice_find(raw, '~') < 0) {
        *ret = raw;
        return 0;
    }
    char *text = osb_arena_alloc(arena, raw.len);
    size_t len = 0;
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.data[i];
        if (c == '~') {
            char code = ++i < raw.len ? raw.data[i] : '\0';
            if (code != '0' && code != '1')
                return osb_fail(err, -OSB_E_INVALID, "a tilde in a pointer without 0 or 1");
            c = code == '0' ? '~' : '/';
        }
        text[len++] = c;
    }
    *ret = osb_slice(text, len);
    return 0;
}

static struct osb_json *child(struct osb_json *parent, struct osb_slice token)
{
    size_t index;
    if (osb_json_type(parent) == OSB_JSON_ARRAY)
        return json_pointer_index(token, &index) ? osb_json_at(parent, index) : NULL;
    return osb_json_get_slice(parent, token);
}

int json_pointer_resolve(struct osb_json *root, struct osb_slice pointer, struct osb_arena *arena,
                         struct json_place *ret, struct osb_err *err)
{
    struct json_place place = {0};
    struct osb_slice raw;
    if (pointer.len == 0) {
        *ret = place;
        return 0;
    }
    if (pointer.data[0] != '/')
        return osb_fail(err, -OSB_E_INVALID, "a pointer must be empty or start with a slash");
    /* Split by hand: a trailing slash is one more, empty token. */
    struct osb_json *value = root;
    for (size_t at = 1; at <= pointer.len;) {
        struct osb_slice rest = osb_slice_from(pointer, at);
        ptrdiff_t slash = osb_slice_find(rest, '/');
        raw = slash < 0 ? rest : osb_slice_first(rest, (size_t)slash);
        at += raw.len + 1;
        if (place.depth > 0)
            value = child(place.parent, place.token);
        enum osb_json_type type = osb_json_type(value);
        if (type != OSB_JSON_OBJECT && type != OSB_JSON_ARRAY)
            return osb_fail(err, -OSB_E_NOT_FOUND, "the path does not exist");
        place.parent = value;
        place.depth++;
        int r = unescape(raw, arena, &place.token, err);
        if (r < 0)
            return r;
    }
    *ret = place;
    return 0;
}

struct osb_json *json_place_get(struct osb_json *root, const struct json_place *place)
{
    return place->parent ? child(place->parent, place->token) : root;
}
