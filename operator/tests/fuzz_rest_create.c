// SPDX-License-Identifier: Apache-2.0
/* The body of a create: refused with a code, or an object that the API can show. */
#include <stddef.h>
#include <stdint.h>

#include "rest_create_object.h"
#include "rest_find.h"
#include "rest_idempotency.h"
#include "rest_sandbox.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_and_show(const struct create_spec *spec, const struct config *config)
{
    struct create_identity identity = {.id = "fuzzed", .namespace_ = "default", .request_id = "r"};
    _cleanup_json_ struct osb_json *object = create_object(spec, &identity, config, 0);
    _cleanup_buf_ struct osb_buf text = {0};
    _cleanup_buf_ struct osb_buf shown = {0};
    struct osb_json_writer w;
    osb_json_print(object, &text);
    struct rest_object read = rest_object_read(osb_buf_slice(&text));
    osb_assert(read.bs && rest_is_sandbox(read.bs));
    osb_json_writer_init(&w, &shown);
    rest_sandbox_print(&w, read.bs, REST_FULL);
    osb_assert(osb_json_writer_finish(&w, NULL) == 0);
    rest_object_done(&read);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config config = {.kubernetes.request_fraction = 0.1};
    struct create_spec spec;
    struct rest_error error = {0};
    char digest[REST_DIGEST_MAX];
    _cleanup_json_ struct osb_json *body = NULL;
    if (osb_json_parse(osb_slice(data, size), &body, NULL) < 0 ||
        osb_json_type(body) != OSB_JSON_OBJECT)
        return 0;
    rest_body_digest(body, digest);
    if (create_spec_read(body, &config, &spec, &error) < 0)
        osb_assert(error.status >= 400 && error.code && error.message[0]);
    else
        make_and_show(&spec, &config);
    return 0;
}
