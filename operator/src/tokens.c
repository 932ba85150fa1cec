// SPDX-License-Identifier: Apache-2.0
/* The Secret with the tokens of a sandbox: made before its first pod, gone with the object. */
#include <osb/alloc.h>
#include <osb/secret.h>
#include <osb/text.h>

#include <string.h>

#include "pod_build.h"

char *tokens_name(const struct batchsandbox *bs)
{
    return osb_asprintf("%s-tokens", bs->object.name);
}

static struct osb_json *new_token(void)
{
    _cleanup_secret_ struct osb_secret token = {0};
    struct osb_buf text = {0};
    osb_secret_generate(&token);
    osb_base64_encode(&text, osb_secret_reveal(&token));
    struct osb_json *value = osb_json_new_string(osb_buf_slice(&text));
    explicit_bzero(text.base, text.cap);
    osb_buf_done(&text);
    return value;
}

struct osb_json *tokens_build(const struct batchsandbox *bs)
{
    static const char *const keys[] = {"execd", "egress", "gateway"};
    struct osb_json *secret = osb_json_new_object();
    osb_json_set(secret, "apiVersion", osb_json_new_str("v1"));
    osb_json_set(secret, "kind", osb_json_new_str("Secret"));
    osb_json_set(secret, "type", osb_json_new_str("Opaque"));
    struct osb_json *metadata = osb_json_ensure_object(secret, "metadata");
    _cleanup_free_ char *name = tokens_name(bs);
    osb_json_set(metadata, "name", osb_json_new_str(name));
    osb_json_set(metadata, "namespace", osb_json_new_str(bs->object.namespace_));
    struct osb_json *owners = osb_json_new_array();
    osb_json_append(owners, owner_reference(bs));
    osb_json_set(metadata, "ownerReferences", owners);
    struct osb_json *data = osb_json_ensure_object(secret, "data");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        osb_json_set(data, keys[i], new_token());
    return secret;
}
