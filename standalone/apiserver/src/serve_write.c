// SPDX-License-Identifier: Apache-2.0
/* Bodies in, writes through the group commit, answers out. */
#include "protobuf.h"
#include "server.h"

#include <osb/api_status.h>
#include <osb/log.h>
#include <osb/yaml.h>

/* ---- bodies ---- */

static bool is_media(struct osb_slice header, const char *type)
{
    struct osb_slice media;
    osb_slice_split(&header, ';', &media);
    return osb_slice_ieq_str(osb_slice_trim(media), type);
}

static int refuse_media(struct call *call, const char *accepted)
{
    return refuse(&call->refusal, 415, "UnsupportedMediaType",
                  "the body of the request was in an unknown format - accepted media types "
                  "include: %s",
                  accepted);
}

static int decode_error(struct call *call, const struct osb_err *err)
{
    return refuse_bad_request(&call->refusal, "the body cannot be read: %s", err->message);
}

#define MEDIA_PROTOBUF "application/vnd.kubernetes.protobuf"

/* JSON, or YAML or protobuf where it says so. */
static int parse_body(struct call *call, struct osb_slice body, struct osb_slice type)
{
    struct osb_err err = {0};
    int r;
    if (is_media(type, "application/yaml"))
        r = osb_yaml_parse(body, &call->body, &err);
    else if (is_media(type, MEDIA_PROTOBUF))
        r = protobuf_decode(body, &call->body, &err);
    else if (!type.len || is_media(type, "application/json"))
        r = osb_json_parse(body, &call->body, &err);
    else
        return refuse_media(call, "application/json, application/yaml, " MEDIA_PROTOBUF);
    if (r == -OSB_E_UNSUPPORTED)
        return refuse(&call->refusal, 415, "UnsupportedMediaType", "%s", err.message);
    return r < 0 ? decode_error(call, &err) : 0;
}

static int parse_patch(struct call *call, struct osb_slice body, struct osb_slice type)
{
    bool is_custom = call->request.resource->is_custom;
    if (is_media(type, "application/apply-patch+yaml") ||
        is_media(type, "application/apply-patch+cbor"))
        return refuse(&call->refusal, 415, "UnsupportedMediaType",
                      "server-side apply is not served here; use client-side apply");
    if (is_media(type, "application/merge-patch+json"))
        call->patch_type = PATCH_MERGE;
    else if (is_media(type, "application/json-patch+json"))
        call->patch_type = PATCH_JSON;
    else if (is_media(type, "application/strategic-merge-patch+json") && !is_custom)
        call->patch_type = PATCH_STRATEGIC;
    else
        return refuse_media(call, is_custom ? "application/json-patch+json, "
                                              "application/merge-patch+json"
                                            : "application/json-patch+json, "
                                              "application/merge-patch+json, "
                                              "application/strategic-merge-patch+json");
    struct osb_err err = {0};
    return osb_json_parse(body, &call->body, &err) < 0 ? decode_error(call, &err) : 0;
}

static int parse_delete_options(struct call *call, struct osb_slice body, struct osb_slice type)
{
    int r = osb_slice_trim(body).len ? parse_body(call, body, type) : 0;
    call->deletion = call->request.deletion;
    return r < 0 ? r
                 : delete_options_read(call->body, &call->arena, &call->deletion,
                                       &call->request.is_dry_run, &call->refusal);
}

static int read_body(struct call *call, struct osb_slice body)
{
    struct osb_slice type = OSB_SLICE_NULL;
    osb_http_header(call->x, "Content-Type", &type);
    switch (call->request.verb) {
    case VERB_DELETE:
    case VERB_DELETE_COLLECTION:
        return parse_delete_options(call, body, type);
    case VERB_PATCH:
        return parse_patch(call, body, type);
    default:
        return parse_body(call, body, type);
    }
}

/* ---- the write ---- */

static int evaluate(struct write *write, struct txn *txn)
{
    struct call *call = osb_container_of(write, struct call, write);
    struct verb_context *c = &call->context;
    c->txn = txn;
    switch (call->request.verb) {
    case VERB_CREATE:
        return verb_create(c, call->body, &call->outcome);
    case VERB_UPDATE:
        return verb_update(c, call->body, &call->outcome);
    case VERB_PATCH:
        return verb_patch(c, call->patch_type, call->body, &call->outcome);
    case VERB_DELETE:
        return verb_delete(c, &call->deletion, &call->outcome);
    default:
        return verb_delete_collection(c, &call->deletion, &call->deleted_count);
    }
}

static void reply_deleted(struct call *call)
{
    const struct osb_api_kind *kind = &call->request.resource->kind;
    const struct object *object = call->outcome.object;
    _cleanup_buf_ struct osb_buf body = {0};
    osb_api_status_print_success(kind->group, kind->plural, object ? object->name : NULL,
                                 object ? object->uid : NULL, &body);
    reply_json(call, 200, osb_buf_slice(&body));
}

static void reply_scale(struct call *call)
{
    _cleanup_json_ struct osb_json *tree = object_tree(call->outcome.object);
    _cleanup_json_ struct osb_json *scale = scale_of(call->request.resource, tree);
    _cleanup_buf_ struct osb_buf body = {0};
    osb_json_print(scale, &body);
    reply_json(call, 200, osb_buf_slice(&body));
}

static void done(struct write *write, int result)
{
    struct call *call = osb_container_of(write, struct call, write);
    call->is_writing = false;
    if (!call->x) { /* the client left; the change stands */
        call_maybe_free(call);
        return;
    }
    if (result < 0)
        reply_refusal(call, &write->refusal);
    else if (call->outcome.is_deleted || call->request.verb == VERB_DELETE_COLLECTION)
        reply_deleted(call);
    else if (call->request.sub == SUB_SCALE)
        reply_scale(call);
    else
        reply_object(call, call->request.verb == VERB_CREATE ? 201 : 200, call->outcome.object);
}

static void on_body(struct osb_http_exchange *x, struct osb_slice body, void *arg)
{
    struct call *call = arg;
    (void)x;
    if (read_body(call, body) < 0) {
        reply_refusal(call, &call->refusal);
        return;
    }
    const struct cluster *cluster = call->server->cluster;
    call->context = (struct verb_context){.registry = &cluster->registry,
                                          .request = &call->request,
                                          .node_name = cluster->node_name,
                                          .arena = &call->arena,
                                          .refusal = &call->write.refusal};
    call->write.evaluate = evaluate;
    call->write.done = done;
    call->is_writing = true;
    writer_submit(cluster->writer, &call->write);
}

void serve_write(struct call *call)
{
    osb_http_collect(call->x, REQUEST_MAX_BODY, on_body, call);
}
