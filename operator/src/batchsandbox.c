// SPDX-License-Identifier: Apache-2.0
#include "batchsandbox.h"

#include <osb/alloc.h>
#include <osb/clock.h>

#include <stdlib.h>
#include <string.h>

#include "lenient.h"

/* Notes the first field that is not what it should be. */
static void note(struct batchsandbox *bs, bool is_right, const char *what)
{
    if (!is_right && !bs->spec_error)
        bs->spec_error = osb_strdup(what);
}

static void read_metadata(struct osb_json_reader *r, struct batchsandbox *bs)
{
    struct osb_slice key;
    if (!lenient_enter_object(r))
        return;
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "generation"))
            lenient_i64(r, &bs->generation);
        else if (osb_slice_eq_str(key, "creationTimestamp"))
            lenient_time(r, &bs->created_ns);
        else if (osb_slice_eq_str(key, "deletionTimestamp"))
            bs->is_deleting = osb_json_peek(r) == OSB_JSON_STRING, osb_json_skip(r);
        else if (osb_slice_eq_str(key, "labels"))
            pairs_read(r, &bs->labels);
        else if (osb_slice_eq_str(key, "annotations"))
            pairs_read(r, &bs->annotations);
        else
            osb_json_skip(r);
    }
}

/* ---- spec ---- */

static void read_expiry(struct osb_json_reader *r, struct batchsandbox *bs)
{
    note(bs, lenient_string(r, &bs->expire_time), "spec.expireTime must be a string");
    if (bs->expire_time)
        bs->has_expiry = osb_rfc3339_parse(osb_slice_str(bs->expire_time), &bs->expire_ns) == 0;
}

static void read_pause(struct osb_json_reader *r, struct batchsandbox *bs)
{
    bool value = false;
    bool is_bool = lenient_bool(r, &value);
    note(bs, is_bool, "spec.pause must be a boolean");
    if (is_bool)
        bs->pause = value ? TRISTATE_TRUE : TRISTATE_FALSE;
}

static void read_spec_field(struct osb_json_reader *r, struct osb_slice key,
                            struct batchsandbox *bs)
{
    if (osb_json_read_null(r))
        return;
    if (osb_slice_eq_str(key, "replicas"))
        note(bs, lenient_i64(r, &bs->replicas), "spec.replicas must be an integer");
    else if (osb_slice_eq_str(key, "poolRef"))
        note(bs, lenient_string(r, &bs->pool_ref), "spec.poolRef must be a string");
    else if (osb_slice_eq_str(key, "template"))
        note(bs, lenient_raw(r, OSB_JSON_OBJECT, &bs->template_),
             "spec.template must be an object");
    else if (osb_slice_eq_str(key, "shardPatches"))
        note(bs, lenient_raw(r, OSB_JSON_ARRAY, &bs->shard_patches),
             "spec.shardPatches must be an array");
    else if (osb_slice_eq_str(key, "expireTime"))
        read_expiry(r, bs);
    else if (osb_slice_eq_str(key, "pause"))
        read_pause(r, bs);
    else if (osb_slice_eq_str(key, "taskTemplate"))
        bs->has_task_template = true, osb_json_skip(r);
    else
        osb_json_skip(r);
}

static void read_spec(struct osb_json_reader *r, struct batchsandbox *bs)
{
    struct osb_slice key;
    if (!lenient_enter_object(r)) {
        note(bs, false, "spec must be an object");
        return;
    }
    while (osb_json_next_key(r, &key))
        read_spec_field(r, key, bs);
    if (bs->pool_ref && !bs->pool_ref[0]) {
        free(bs->pool_ref);
        bs->pool_ref = NULL;
    }
    note(bs, bs->replicas >= 0 && bs->replicas <= BATCHSANDBOX_MAX_REPLICAS,
         "spec.replicas must be 0 to 4000");
    note(bs, !bs->expire_time || bs->has_expiry, "spec.expireTime is no time in RFC 3339");
}

/* What the controller must know of the template at each turn. */
static void read_template(struct batchsandbox *bs)
{
    _cleanup_json_ struct osb_json *template_ = batchsandbox_template(bs);
    const struct osb_json *annotations = osb_json_get_path(template_, "metadata.annotations");
    bs->has_execd =
        osb_slice_eq_str(osb_json_str(osb_json_get(annotations, "opensandbox.io/inject")), "execd");
    struct osb_slice policy = osb_json_str(osb_json_get_path(template_, "spec.restartPolicy"));
    if (osb_slice_eq_str(policy, "Never"))
        bs->restart_policy = RESTART_NEVER;
    else if (osb_slice_eq_str(policy, "OnFailure"))
        bs->restart_policy = RESTART_ON_FAILURE;
}

/* ---- status ---- */

static void read_condition(struct osb_json_reader *r, struct batchsandbox_status *status)
{
    struct condition condition = {0};
    _cleanup_free_ char *truth = NULL;
    struct osb_slice key;
    if (!lenient_enter_object(r))
        return;
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "type"))
            lenient_string(r, &condition.type);
        else if (osb_slice_eq_str(key, "status"))
            lenient_string(r, &truth);
        else if (osb_slice_eq_str(key, "reason"))
            lenient_string(r, &condition.reason);
        else if (osb_slice_eq_str(key, "message"))
            lenient_string(r, &condition.message);
        else if (osb_slice_eq_str(key, "lastTransitionTime"))
            lenient_time(r, &condition.last_transition_ns);
        else
            osb_json_skip(r);
    }
    condition.is_true = truth && strcmp(truth, "True") == 0;
    if (!condition.type || status->condition_count == BATCHSANDBOX_MAX_CONDITIONS) {
        free(condition.type);
        free(condition.reason);
        free(condition.message);
        return;
    }
    osb_grow(status->conditions, status->condition_count, status->condition_cap);
    status->conditions[status->condition_count++] = condition;
}

static void read_conditions(struct osb_json_reader *r, struct batchsandbox_status *status)
{
    if (!lenient_enter_array(r))
        return;
    while (osb_json_next_item(r))
        read_condition(r, status);
    osb_shrink(status->conditions, status->condition_count, status->condition_cap);
}

static void read_phase(struct osb_json_reader *r, struct batchsandbox_status *status)
{
    _cleanup_free_ char *phase = NULL;
    if (lenient_string(r, &phase))
        status->phase = phase_parse(osb_slice_str(phase));
}

static void read_status(struct osb_json_reader *r, struct batchsandbox_status *status)
{
    struct osb_slice key;
    if (!lenient_enter_object(r))
        return;
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "observedGeneration"))
            lenient_i64(r, &status->observed_generation);
        else if (osb_slice_eq_str(key, "replicas"))
            status->is_present = lenient_i64(r, &status->replicas);
        else if (osb_slice_eq_str(key, "allocated"))
            lenient_i64(r, &status->allocated);
        else if (osb_slice_eq_str(key, "ready"))
            lenient_i64(r, &status->ready);
        else if (osb_slice_eq_str(key, "phase"))
            read_phase(r, status);
        else if (osb_slice_eq_str(key, "conditions"))
            read_conditions(r, status);
        else
            osb_json_skip(r);
    }
}

/* ---- the projection ---- */

static int decode(struct osb_slice raw, struct osb_kube_object *object, struct osb_err *err)
{
    struct batchsandbox *bs = (struct batchsandbox *)object;
    struct osb_json_reader r;
    struct osb_slice key;
    bs->replicas = 1;
    osb_json_reader_init(&r, raw);
    osb_json_enter_object(&r);
    while (osb_json_next_key(&r, &key)) {
        if (osb_slice_eq_str(key, "metadata"))
            read_metadata(&r, bs);
        else if (osb_slice_eq_str(key, "spec"))
            read_spec(&r, bs);
        else if (osb_slice_eq_str(key, "status"))
            read_status(&r, &bs->status);
        else
            osb_json_skip(&r);
    }
    int result = osb_json_reader_finish(&r, err);
    if (result >= 0)
        read_template(bs);
    return result;
}

static void clear(struct osb_kube_object *object)
{
    struct batchsandbox *bs = (struct batchsandbox *)object;
    pairs_clear(&bs->labels);
    pairs_clear(&bs->annotations);
    free(bs->pool_ref);
    free(bs->template_);
    free(bs->shard_patches);
    free(bs->expire_time);
    free(bs->spec_error);
    for (size_t i = 0; i < bs->status.condition_count; i++) {
        free(bs->status.conditions[i].type);
        free(bs->status.conditions[i].reason);
        free(bs->status.conditions[i].message);
    }
    free(bs->status.conditions);
}

const struct osb_kube_projection batchsandbox_projection = {
    .size = sizeof(struct batchsandbox),
    .decode = decode,
    .clear = clear,
};

const struct batchsandbox *batchsandbox_get(const struct osb_kube_store *store,
                                            const char *namespace_, const char *name)
{
    return batchsandbox_of(osb_kube_store_get(store, namespace_, name));
}

const char *batchsandbox_annotation(const struct batchsandbox *bs, const char *key)
{
    return pairs_get(&bs->annotations, key);
}

const struct condition *batchsandbox_condition(const struct batchsandbox *bs, const char *type)
{
    for (size_t i = 0; i < bs->status.condition_count; i++) {
        const struct condition *condition = &bs->status.conditions[i];
        if (condition->is_true && strcmp(condition->type, type) == 0)
            return condition;
    }
    return NULL;
}

struct osb_json *batchsandbox_template(const struct batchsandbox *bs)
{
    struct osb_json *tree = NULL;
    if (bs->template_ && osb_json_parse(osb_slice_str(bs->template_), &tree, NULL) < 0)
        return NULL;
    return tree;
}
