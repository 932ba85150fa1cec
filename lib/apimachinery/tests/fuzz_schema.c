// SPDX-License-Identifier: Apache-2.0
/* Schemas: any value; what was pruned has nothing unknown left, defaults settle in one pass. */
#include <osb/api_schema.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char SCHEMA[] =
    "{\"type\":\"object\",\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":\"integer\","
    "\"default\":1,\"minimum\":0},\"b\":{\"type\":\"string\",\"pattern\":\"^[a-z]*$\",\"maxLength\""
    ":3},\"c\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-"
    "keys\""
    ":[\"k\"],\"items\":{\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"string\","
    "\"default\":"
    "\"x\"},\"n\":{\"nullable\":true,\"type\":\"number\"}}}},\"d\":{"
    "\"x-kubernetes-preserve-unknown-fields\":true},\"e\":{\"x-kubernetes-int-or-string\":true},"
    "\"f\":{\"type\":\"object\",\"additionalProperties\":{\"format\":\"date-time\",\"type\":"
    "\"string\"}},\"g\":{\"anyOf\":[{\"type\":\"boolean\"},{\"enum\":[1,\"x\",null]}]}}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct osb_json *schema;
    _cleanup_json_ struct osb_json *value = NULL;
    struct osb_schema_report report = {0};
    if (!schema && osb_json_parse(osb_slice_str(SCHEMA), &schema, NULL) < 0)
        abort();
    if (osb_json_parse(osb_slice(data, size), &value, NULL) < 0)
        return 0;
    osb_schema_prune(schema, value, NULL);
    osb_schema_prune(schema, value, &report);
    if (report.count)
        abort();
    osb_schema_default(schema, value);
    _cleanup_json_ struct osb_json *once = osb_json_copy(value);
    osb_schema_default(schema, value);
    if (!osb_json_equal(once, value))
        abort();
    if (osb_schema_validate(schema, value, &report) != (report.count == 0))
        abort();
    osb_schema_report_done(&report);
    return 0;
}
