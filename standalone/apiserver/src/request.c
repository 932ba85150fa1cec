// SPDX-License-Identifier: Apache-2.0
#include "request.h"

#include <osb/json_tree.h>
#include <osb/text.h>

struct segments {
    struct osb_slice items[REQUEST_MAX_SEGMENTS];
    int count;
};

static int not_found(struct refusal *refusal)
{
    return refuse(refusal, 404, "NotFound", "the server could not find the requested resource");
}

/* Cuts "/a/b/c" and decodes each piece; a piece that decodes to a slash or NUL names nothing. */
static int split_path(struct osb_slice path, struct osb_arena *arena, struct segments *ret,
                      struct refusal *refusal)
{
    struct osb_slice rest = path, piece;
    if (!rest.len || rest.data[0] != '/')
        return not_found(refusal);
    rest = osb_slice_from(rest, 1);
    while (osb_slice_split(&rest, '/', &piece)) {
        _cleanup_buf_ struct osb_buf decoded = {0};
        if (!piece.len && !rest.len)
            break; /* a slash at the end */
        if (ret->count == REQUEST_MAX_SEGMENTS || osb_percent_decode(&decoded, piece, false) < 0)
            return not_found(refusal);
        struct osb_slice s = osb_buf_slice(&decoded);
        if (!s.len || osb_slice_find(s, '/') >= 0 || osb_slice_find(s, 0) >= 0)
            return not_found(refusal);
        ret->items[ret->count++] = osb_slice_str(osb_arena_slice_dup(arena, s));
    }
    return 0;
}

/* The subresources that a resource has. */
static bool find_subresource(const struct resource *resource, struct osb_slice name,
                             enum subresource *ret)
{
    static const struct {
        const char *name;
        enum subresource sub;
    } of_pods[] = {{"log", SUB_LOG},
                   {"exec", SUB_STREAM},
                   {"attach", SUB_STREAM},
                   {"portforward", SUB_STREAM}};
    if (resource->has_status && osb_slice_eq_str(name, "status")) {
        *ret = SUB_STATUS;
        return true;
    }
    if (resource->has_scale && osb_slice_eq_str(name, "scale")) {
        *ret = SUB_SCALE;
        return true;
    }
    for (size_t i = 0; resource->has_grace && i < sizeof(of_pods) / sizeof(*of_pods); i++) {
        if (osb_slice_eq_str(name, of_pods[i].name)) {
            *ret = of_pods[i].sub;
            return true;
        }
    }
    return false;
}

/* What follows group and version: [namespaces/NS/]PLURAL[/NAME[/SUB]]. */
static int parse_names(const struct registry *registry, struct osb_slice group,
                       struct osb_slice version, const struct osb_slice *s, int count,
                       struct request *ret, struct refusal *refusal)
{
    bool is_in_namespace =
        count >= 3 && osb_slice_eq_str(s[0], "namespaces") && !osb_slice_eq_str(s[2], "status");
    if (is_in_namespace) {
        ret->namespace_ = s[1].data;
        s += 2;
        count -= 2;
    }
    if (count < 1 || count > 3)
        return not_found(refusal);
    ret->resource = registry_find(registry, group, version, s[0]);
    if (!ret->resource || (is_in_namespace && !ret->resource->kind.is_namespaced))
        return not_found(refusal);
    if (count >= 2)
        ret->name = s[1].data;
    if (ret->name && ret->resource->kind.is_namespaced && !is_in_namespace)
        return not_found(refusal);
    ret->sub_name = count == 3 ? s[2].data : "";
    if (count == 3 && !find_subresource(ret->resource, s[2], &ret->sub))
        return not_found(refusal);
    return 0;
}

static int method_refused(struct refusal *refusal)
{
    return refuse(refusal, 405, "MethodNotAllowed",
                  "the server does not allow this method on the requested resource");
}

static int parse_verb(struct osb_slice method, struct request *q, struct refusal *refusal)
{
    bool is_one = q->name;
    bool is_across = q->resource->kind.is_namespaced && !q->namespace_;
    bool is_log = q->sub == SUB_LOG;
    if (osb_slice_eq_str(method, "GET") || osb_slice_eq_str(method, "HEAD")) {
        q->verb = q->is_watch && q->sub == SUB_NONE ? VERB_WATCH : is_one ? VERB_GET : VERB_LIST;
        return 0;
    }
    if (q->sub == SUB_STREAM) {
        q->verb = VERB_CREATE;
        return osb_slice_eq_str(method, "POST") ? 0 : method_refused(refusal);
    }
    if (is_across || is_log)
        return method_refused(refusal);
    if (osb_slice_eq_str(method, "POST") && !is_one)
        q->verb = VERB_CREATE;
    else if (osb_slice_eq_str(method, "PUT") && is_one)
        q->verb = VERB_UPDATE;
    else if (osb_slice_eq_str(method, "PATCH") && is_one)
        q->verb = VERB_PATCH;
    else if (osb_slice_eq_str(method, "DELETE") && q->sub == SUB_NONE)
        q->verb = is_one ? VERB_DELETE : VERB_DELETE_COLLECTION;
    else
        return method_refused(refusal);
    bool is_birth_or_death = q->sub == SUB_NONE && q->verb != VERB_UPDATE && q->verb != VERB_PATCH;
    if (q->resource->is_fixed && is_birth_or_death)
        return method_refused(refusal);
    return 0;
}

int request_parse(const struct registry *registry, struct osb_slice method, struct osb_slice path,
                  struct osb_slice query, struct osb_arena *arena, struct request *ret,
                  struct refusal *refusal)
{
    *ret = (struct request){.sub_name = "", .raw_query = query};
    struct segments s = {0};
    int r = split_path(path, arena, &s, refusal);
    if (r < 0)
        return r;
    if (s.count >= 3 && osb_slice_eq_str(s.items[0], "api"))
        r = parse_names(registry, OSB_SLICE(""), s.items[1], s.items + 2, s.count - 2, ret,
                        refusal);
    else if (s.count >= 4 && osb_slice_eq_str(s.items[0], "apis"))
        r = parse_names(registry, s.items[1], s.items[2], s.items + 3, s.count - 3, ret, refusal);
    else
        r = not_found(refusal);
    if (r >= 0)
        r = request_query_parse(query, arena, ret, refusal);
    return r >= 0 ? parse_verb(method, ret, refusal) : r;
}

void request_done(struct request *request)
{
    osb_selector_free(request->labels);
    osb_selector_free(request->fields);
    request->labels = request->fields = NULL;
}

const char *verb_name(enum verb verb)
{
    static const char *const names[] = {
        [VERB_GET] = "get",       [VERB_LIST] = "list",
        [VERB_WATCH] = "watch",   [VERB_CREATE] = "create",
        [VERB_UPDATE] = "update", [VERB_PATCH] = "patch",
        [VERB_DELETE] = "delete", [VERB_DELETE_COLLECTION] = "deletecollection",
    };
    return names[verb];
}

int delete_options_read(const struct osb_json *tree, struct osb_arena *arena,
                        struct delete_options *options, bool *ret_dry_run, struct refusal *refusal)
{
    int r;
    if (!tree)
        return 0;
    if (osb_json_type(tree) != OSB_JSON_OBJECT)
        return refuse_bad_request(refusal, "DeleteOptions must be an object");
    const struct osb_json *grace = osb_json_get(tree, "gracePeriodSeconds");
    if (osb_json_type(grace) == OSB_JSON_NUMBER) {
        options->has_grace = true;
        options->grace_s = osb_json_i64_or(grace, 0);
    }
    struct osb_slice policy = osb_json_str(osb_json_get(tree, "propagationPolicy"));
    if (policy.len && (r = propagation_parse(policy, &options->propagation, refusal)) < 0)
        return r;
    const struct osb_json *orphan = osb_json_get(tree, "orphanDependents");
    if (osb_json_type(orphan) == OSB_JSON_BOOL)
        options->propagation =
            osb_json_bool_or(orphan, false) ? PROPAGATE_ORPHAN : PROPAGATE_BACKGROUND;
    struct osb_slice uid = osb_json_str(osb_json_get_path(tree, "preconditions.uid"));
    struct osb_slice version =
        osb_json_str(osb_json_get_path(tree, "preconditions.resourceVersion"));
    if (uid.len)
        options->uid = osb_arena_slice_dup(arena, uid);
    if (version.len)
        options->resource_version = osb_arena_slice_dup(arena, version);
    if (osb_json_count(osb_json_get(tree, "dryRun")))
        *ret_dry_run = true;
    return 0;
}
