// SPDX-License-Identifier: Apache-2.0
// Routes are few and fixed: a list sorted by how literal they are, matched segment by segment.
#include <osb/http_router.h>

#include <osb/alloc.h>
#include <osb/text.h>
#include <stdlib.h>

enum { MAX_SEGMENTS = 32 };

struct route {
    const char *method; /* borrowed, like all of the pattern */
    struct osb_slice segments[MAX_SEGMENTS];
    int segment_count;
    const char *names[OSB_ROUTE_MAX_PARAMS];
    int name_count;
    bool has_rest; /* the last segment takes the remaining path */
    osb_http_route_fn *fn;
    void *arg;
};

struct osb_http_router {
    struct route *routes;
    size_t count;
    size_t cap;
    char **owned; /* parameter names */
    size_t owned_count;
    size_t owned_cap;
};

struct osb_http_router *osb_http_router_new(void)
{
    return osb_new(struct osb_http_router);
}

void osb_http_router_free(struct osb_http_router *router)
{
    if (!router)
        return;
    for (size_t i = 0; i < router->owned_count; i++)
        free(router->owned[i]);
    free(router->owned);
    free(router->routes);
    free(router);
}

/* ---- patterns ---- */

static bool is_param(struct osb_slice segment)
{
    return segment.len > 2 && segment.data[0] == '{' && segment.data[segment.len - 1] == '}';
}

static const char *own_name(struct osb_http_router *router, struct osb_slice name)
{
    osb_grow(router->owned, router->owned_count, router->owned_cap);
    return router->owned[router->owned_count++] = osb_slice_dup(name);
}

static void add_segment(struct osb_http_router *router, struct route *route,
                        struct osb_slice segment)
{
    osb_assert(route->segment_count < MAX_SEGMENTS && !route->has_rest);
    route->segments[route->segment_count++] = segment;
    if (!is_param(segment))
        return;
    struct osb_slice name = osb_slice(segment.data + 1, segment.len - 2);
    route->has_rest = osb_slice_ends(name, OSB_SLICE("..."));
    if (route->has_rest)
        name = osb_slice_first(name, name.len - 3);
    osb_assert(route->name_count < OSB_ROUTE_MAX_PARAMS);
    route->names[route->name_count++] = own_name(router, name);
}

/* True when A is to be tried before B: at the first difference the literal wins, the rest loses. */
static bool is_before(const struct route *a, const struct route *b)
{
    for (int i = 0; i < a->segment_count && i < b->segment_count; i++) {
        bool is_a_rest = a->has_rest && i == a->segment_count - 1;
        bool is_b_rest = b->has_rest && i == b->segment_count - 1;
        bool is_a_param = is_param(a->segments[i]);
        bool is_b_param = is_param(b->segments[i]);
        if (is_a_rest != is_b_rest)
            return is_b_rest;
        if (is_a_param != is_b_param)
            return is_b_param;
    }
    return a->method[0] != '*' && b->method[0] == '*';
}

void osb_http_route(struct osb_http_router *router, const char *method, const char *pattern,
                    osb_http_route_fn *fn, void *arg)
{
    osb_assert(pattern[0] == '/');
    struct route route = {.method = method, .fn = fn, .arg = arg};
    struct osb_slice rest = osb_slice_str(pattern + 1);
    struct osb_slice segment;
    if (rest.len == 0)
        add_segment(router, &route, OSB_SLICE_NULL);
    while (osb_slice_split(&rest, '/', &segment))
        add_segment(router, &route, segment);

    osb_grow(router->routes, router->count, router->cap);
    size_t at = router->count++;
    for (; at > 0 && is_before(&route, &router->routes[at - 1]); at--)
        router->routes[at] = router->routes[at - 1];
    router->routes[at] = route;
}

/* ---- matching ---- */

struct path {
    struct osb_slice raw[MAX_SEGMENTS];
    struct osb_slice decoded[MAX_SEGMENTS]; /* in the exchange's arena */
    struct osb_slice rest[MAX_SEGMENTS];    /* from this segment on, raw */
    int count;
    bool is_cut; /* there are more segments than places; only a rest takes them */
};

/* False for a segment that no route may see: it hides a separator or an end of string. */
static bool decode_segment(struct osb_http_exchange *x, struct osb_slice raw,
                           struct osb_slice *ret_decoded)
{
    if (osb_slice_find(raw, '%') < 0) {
        *ret_decoded = raw;
        return osb_slice_find(raw, '\0') < 0;
    }
    _cleanup_buf_ struct osb_buf buf = {0};
    if (osb_percent_decode(&buf, raw, false) < 0 || buf.err < 0)
        return false;
    struct osb_slice plain = osb_buf_slice(&buf);
    if (osb_slice_find(plain, '/') >= 0 || osb_slice_find(plain, '\0') >= 0)
        return false;
    *ret_decoded = osb_slice(osb_arena_slice_dup(osb_http_arena(x), plain), plain.len);
    return true;
}

static void split_path(struct osb_http_exchange *x, struct osb_slice raw, struct path *path)
{
    struct osb_slice rest = osb_slice_from(raw, 1);
    struct osb_slice before = rest;
    struct osb_slice segment;
    path->count = 0;
    path->is_cut = false;
    if (rest.len == 0) {
        path->raw[0] = path->rest[0] = path->decoded[0] = OSB_SLICE_NULL;
        path->count = 1;
    }
    for (; osb_slice_split(&rest, '/', &segment); before = rest) {
        if (path->count == MAX_SEGMENTS) {
            path->is_cut = true;
            return;
        }
        path->raw[path->count] = segment;
        path->rest[path->count] = before;
        /* A NULL pointer marks what no literal and no parameter takes. */
        if (!decode_segment(x, segment, &path->decoded[path->count]))
            path->decoded[path->count] = (struct osb_slice){NULL, SIZE_MAX};
        path->count++;
    }
}

static bool is_malformed(struct osb_slice decoded)
{
    return !decoded.data && decoded.len == SIZE_MAX;
}

static bool match_segment(const struct route *route, int i, const struct path *path,
                          struct osb_http_params *params)
{
    struct osb_slice pattern = route->segments[i];
    if (is_malformed(path->decoded[i]))
        return false;
    if (!is_param(pattern))
        return osb_slice_eq(pattern, path->decoded[i]);
    if (path->decoded[i].len == 0)
        return false;
    params->values[params->count++] = path->decoded[i];
    return true;
}

static bool match(const struct route *route, const struct path *path,
                  struct osb_http_params *params)
{
    int fixed = route->segment_count - (route->has_rest ? 1 : 0);
    params->count = 0;
    if (path->count < fixed || (!route->has_rest && (path->count > fixed || path->is_cut)))
        return false;
    for (int i = 0; i < fixed; i++) {
        if (!match_segment(route, i, path, params))
            return false;
    }
    if (route->has_rest) {
        if (path->count == fixed)
            return false; /* "/files" is not "/files/" */
        params->values[params->count++] = path->rest[fixed];
    }
    memcpy(params->names, route->names, sizeof(params->names));
    return true;
}

static bool takes_method(const struct route *route, struct osb_slice method)
{
    if (route->method[0] == '*' || osb_slice_eq_str(method, route->method))
        return true;
    /* The server drops the body of an answer to HEAD. */
    return osb_slice_eq_str(method, "HEAD") && strcmp(route->method, "GET") == 0;
}

static void allow_method(struct osb_http_exchange *x, const char **allow, const char *method)
{
    if (!*allow)
        *allow = osb_arena_strdup(osb_http_arena(x), method);
    else
        *allow = osb_arena_printf(osb_http_arena(x), "%s, %s", *allow, method);
}

int osb_http_router_dispatch(struct osb_http_router *router, struct osb_http_exchange *x,
                             const char **ret_allow)
{
    struct path path;
    struct osb_http_params params;
    struct osb_slice raw = osb_http_raw_path(x);
    const char *allow = NULL;
    if (raw.len == 0 || raw.data[0] != '/')
        return -OSB_E_NOT_FOUND;
    split_path(x, raw, &path);
    for (size_t i = 0; i < router->count; i++) {
        const struct route *route = &router->routes[i];
        if (!match(route, &path, &params))
            continue;
        if (takes_method(route, osb_http_method(x))) {
            route->fn(x, &params, route->arg);
            return 0;
        }
        allow_method(x, &allow, route->method);
    }
    if (!allow)
        return -OSB_E_NOT_FOUND;
    if (ret_allow)
        *ret_allow = allow;
    return -EPERM;
}

bool osb_http_router_knows(const struct osb_http_router *router, struct osb_http_exchange *x,
                           struct osb_slice raw)
{
    struct path path;
    struct osb_http_params params;
    if (raw.len == 0 || raw.data[0] != '/')
        return false;
    split_path(x, raw, &path);
    for (size_t i = 0; i < router->count; i++) {
        if (match(&router->routes[i], &path, &params))
            return true;
    }
    return false;
}

struct osb_slice osb_http_param(const struct osb_http_params *params, const char *name)
{
    for (int i = 0; i < params->count; i++) {
        if (strcmp(params->names[i], name) == 0)
            return params->values[i];
    }
    return OSB_SLICE_NULL;
}
