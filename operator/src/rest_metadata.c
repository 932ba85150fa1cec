// SPDX-License-Identifier: Apache-2.0
/*
 * PATCH of metadata: labels of the object, of which only the keys that were sent are touched, so
 * that two writers of different keys do not lose each other's. Pods keep the labels they began
 * with.
 */
#include "rest_find.h"
#include "rest_labels.h"
#include "rest_sandbox.h"

struct patch {
    struct osb_slice id;
    struct osb_slice text; /* the merge patch; in the arena */
    bool is_empty;
    struct osb_slice answer; /* in the arena */
};

static void reply(struct rest_request *request)
{
    const struct patch *patch = request->data;
    rest_reply(request, 200, patch->answer);
}

static void print(struct rest_request *request, const struct batchsandbox *bs)
{
    struct patch *patch = request->data;
    _cleanup_buf_ struct osb_buf body = {0};
    struct osb_json_writer w;
    osb_json_writer_init(&w, &body);
    rest_sandbox_print(&w, bs, REST_FULL);
    osb_assert(osb_json_writer_finish(&w, NULL) == 0);
    patch->answer = osb_slice_str(osb_arena_slice_dup(request->arena, osb_buf_slice(&body)));
}

static void on_patched(struct rest_request *request, int r, struct osb_slice body,
                       const struct osb_err *err)
{
    if (r == -OSB_E_NOT_FOUND) {
        rest_fail_not_found(request);
        return;
    }
    if (r < 0) {
        rest_fail_backend(request, r, err);
        return;
    }
    struct rest_object object = rest_object_read(body);
    if (object.bs) {
        print(request, object.bs);
        rest_after_cache(request, object.bs->object.version, reply);
    } else {
        rest_fail(request, 500, REST_API_ERROR, "the API server's answer cannot be read");
    }
    rest_object_done(&object);
}

static void apply(struct rest_request *request, const struct batchsandbox *bs)
{
    const struct patch *patch = request->data;
    if (bs->is_deleting) {
        rest_fail(request, 409, REST_INVALID_STATE, "the sandbox is being deleted");
    } else if (patch->is_empty) {
        print(request, bs);
        reply(request);
    } else {
        rest_call_patch(request, request->sandbox, patch->text, on_patched);
    }
}

/* ---- the body ---- */

static int check(const struct osb_json *body, struct rest_error *error)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    while (osb_json_next_member(body, &cursor, &key, &value)) {
        enum osb_json_type type = osb_json_type(value);
        if (rest_label_is_reserved(key))
            return rest_error_set(error, 400, "INVALID_METADATA_LABEL",
                                  "keys that begin with opensandbox.io/ are the platform's");
        if (type != OSB_JSON_STRING && type != OSB_JSON_NULL) {
            rest_problem_add(&error->problems, "string_type", "body",
                             "values must be strings or null");
            return rest_error_from_problems(error);
        }
        const char *problem = rest_label_problem(key, osb_json_str(value));
        if (type == OSB_JSON_STRING && problem)
            return rest_error_set(error, 400, "SANDBOX::INVALID_METADATA_LABEL", "metadata: %s",
                                  problem);
    }
    return 0;
}

static void on_body(struct rest_request *request, struct osb_json *body)
{
    struct patch *patch = request->data;
    struct rest_error error = {0};
    if (check(body, &error) < 0) {
        rest_fail_with(request, &error);
        return;
    }
    _cleanup_buf_ struct osb_buf text = {0};
    osb_buf_append_str(&text, "{\"metadata\":{\"labels\":");
    osb_json_print(body, &text);
    osb_buf_append_str(&text, "}}");
    patch->is_empty = osb_json_count(body) == 0;
    patch->text = osb_slice_str(osb_arena_slice_dup(request->arena, osb_buf_slice(&text)));
    rest_find(request, patch->id, apply);
}

void rest_metadata_handle(struct rest_request *request, const struct osb_http_params *params)
{
    struct patch *patch = osb_arena_new(request->arena, struct patch);
    patch->id = osb_http_param(params, "id");
    request->data = patch;
    rest_read_body(request, on_body);
}
