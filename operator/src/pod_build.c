// SPDX-License-Identifier: Apache-2.0
#include "pod_build.h"

#include <osb/alloc.h>
#include <osb/api_kinds.h>
#include <osb/api_strategic.h>

#include <string.h>

#include "pod.h"
#include "pod_execd.h"

struct osb_json *owner_reference(const struct batchsandbox *bs)
{
    char version[128];
    struct osb_json *reference = osb_json_new_object();
    osb_json_set(reference, "apiVersion",
                 osb_json_new_str(osb_api_kind_version(&osb_kind_batchsandbox, version)));
    osb_json_set(reference, "kind", osb_json_new_str(osb_kind_batchsandbox.kind));
    osb_json_set(reference, "name", osb_json_new_str(bs->object.name));
    osb_json_set(reference, "uid", osb_json_new_str(bs->object.uid));
    osb_json_set(reference, "controller", osb_json_new_bool(true));
    osb_json_set(reference, "blockOwnerDeletion", osb_json_new_bool(true));
    return reference;
}

/* What a pod takes over of the template's metadata. */
static struct osb_json *copy_metadata(const struct osb_json *template_)
{
    static const char *const keys[] = {"labels", "annotations", "finalizers"};
    const struct osb_json *from = osb_json_get(template_, "metadata");
    struct osb_json *metadata = osb_json_new_object();
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct osb_json *value = osb_json_get(from, keys[i]);
        if (value && osb_json_type(value) != OSB_JSON_NULL)
            osb_json_set(metadata, keys[i], osb_json_copy(value));
    }
    return metadata;
}

static int from_template(const struct batchsandbox *bs, struct osb_json **ret, struct osb_err *err)
{
    _cleanup_json_ struct osb_json *template_ = batchsandbox_template(bs);
    const struct osb_json *spec = osb_json_get(template_, "spec");
    if (osb_json_type(spec) != OSB_JSON_OBJECT)
        return osb_fail(err, -OSB_E_INVALID, "spec.template.spec must be an object");
    struct osb_json *pod = osb_json_new_object();
    osb_json_set(pod, "apiVersion", osb_json_new_str("v1"));
    osb_json_set(pod, "kind", osb_json_new_str("Pod"));
    osb_json_set(pod, "metadata", copy_metadata(template_));
    osb_json_set(pod, "spec", osb_json_copy(spec));
    *ret = pod;
    return 0;
}

static int apply_shard_patch(const struct batchsandbox *bs, int index, struct osb_json **pod,
                             struct osb_err *err)
{
    _cleanup_json_ struct osb_json *patches = NULL;
    if (!bs->shard_patches)
        return 0;
    int r = osb_json_parse(osb_slice_str(bs->shard_patches), &patches, err);
    if (r < 0)
        return r;
    const struct osb_json *patch = osb_json_at(patches, (size_t)index);
    if (!patch || osb_json_type(patch) == OSB_JSON_NULL)
        return 0;
    if (osb_json_type(patch) != OSB_JSON_OBJECT)
        return osb_fail(err, -OSB_E_INVALID, "spec.shardPatches[%d] must be an object", index);
    r = osb_strategic_merge(pod, patch, "Pod", err);
    return osb_wrap(err, r, "spec.shardPatches[%d]", index);
}

/* Whatever template and patch say: who it is, whose it is. */
static void set_identity(const struct batchsandbox *bs, int index, struct osb_json *pod)
{
    struct osb_json *metadata = osb_json_ensure_object(pod, "metadata");
    struct osb_json *labels = osb_json_ensure_object(metadata, "labels");
    _cleanup_free_ char *name = osb_asprintf("%s-%d", bs->object.name, index);
    _cleanup_free_ char *number = osb_asprintf("%d", index);
    osb_json_del(metadata, OSB_SLICE("generateName"));
    osb_json_del(metadata, OSB_SLICE("uid"));
    osb_json_del(metadata, OSB_SLICE("resourceVersion"));
    osb_json_set(metadata, "name", osb_json_new_str(name));
    osb_json_set(metadata, "namespace", osb_json_new_str(bs->object.namespace_));
    osb_json_set(labels, LABEL_POD_INDEX, osb_json_new_str(number));
    osb_json_set(labels, LABEL_POD_NAME, osb_json_new_str(bs->object.name));
    struct osb_json *owners = osb_json_new_array();
    osb_json_append(owners, owner_reference(bs));
    osb_json_set(metadata, "ownerReferences", owners);
    osb_json_del(pod, OSB_SLICE("status"));
}

int pod_build(const struct batchsandbox *bs, int index, const struct config *config,
              struct osb_json **ret, struct osb_err *err)
{
    _cleanup_json_ struct osb_json *pod = NULL;
    int r = from_template(bs, &pod, err);
    if (r < 0)
        return r;
    r = apply_shard_patch(bs, index, &pod, err);
    if (r < 0)
        return r;
    set_identity(bs, index, pod);
    _cleanup_free_ char *secret = tokens_name(bs);
    r = pod_add_execd(pod, secret, config, err);
    if (r < 0)
        return r;
    *ret = osb_take_ptr(pod);
    return 0;
}
