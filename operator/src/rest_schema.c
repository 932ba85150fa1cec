// SPDX-License-Identifier: Apache-2.0
#include "rest_schema.h"

#include <string.h>

const struct osb_json *rest_field(const struct osb_json *object, const char *key)
{
    const struct osb_json *value = osb_json_get(object, key);
    return osb_json_type(value) == OSB_JSON_NULL ? NULL : value;
}

const char *rest_text_field(const struct osb_json *object, const char *key)
{
    const struct osb_json *value = rest_field(object, key);
    return osb_slice_trim(osb_json_str(value)).len > 0 ? osb_json_cstr(value) : NULL;
}

/* ---- types, as one table ---- */

enum kind {
    STRING,
    BOOLEAN,
    INTEGER,
    OBJECT,
    STRINGS,      /* a list of strings */
    OBJECTS,      /* a list of objects */
    MAP,          /* of strings */
    NULLABLE_MAP, /* of strings and nulls */
};

struct member {
    const char *parent; /* NULL: the body */
    const char *key;
    enum kind kind;
    bool is_required; /* where the parent is */
    const char *place;
};

static const struct member members[] = {
    {NULL, "image", OBJECT, false, "body.image"},
    {"image", "uri", STRING, true, "body.image.uri"},
    {"image", "auth", OBJECT, false, "body.image.auth"},
    {"image.auth", "username", STRING, true, "body.image.auth.username"},
    {"image.auth", "password", STRING, true, "body.image.auth.password"},
    {NULL, "snapshotId", STRING, false, "body.snapshotId"},
    {NULL, "templateId", STRING, false, "body.templateId"},
    {NULL, "platform", OBJECT, false, "body.platform"},
    {"platform", "os", STRING, true, "body.platform.os"},
    {"platform", "arch", STRING, true, "body.platform.arch"},
    {NULL, "timeout", INTEGER, false, "body.timeout"},
    {NULL, "resourceLimits", MAP, false, "body.resourceLimits"},
    {NULL, "resourceRequests", MAP, false, "body.resourceRequests"},
    {NULL, "env", NULLABLE_MAP, false, "body.env"},
    {NULL, "lifecycle", OBJECT, false, "body.lifecycle"},
    {NULL, "metadata", MAP, false, "body.metadata"},
    {NULL, "entrypoint", STRINGS, false, "body.entrypoint"},
    {NULL, "networkPolicy", OBJECT, false, "body.networkPolicy"},
    {NULL, "credentialProxy", OBJECT, false, "body.credentialProxy"},
    {"credentialProxy", "enabled", BOOLEAN, false, "body.credentialProxy.enabled"},
    {NULL, "secureAccess", BOOLEAN, false, "body.secureAccess"},
    {NULL, "volumes", OBJECTS, false, "body.volumes"},
    {NULL, "extensions", MAP, false, "body.extensions"},
};

static bool are_all(const struct osb_json *list, enum osb_json_type type)
{
    if (osb_json_type(list) != OSB_JSON_ARRAY)
        return false;
    for (size_t i = 0; i < osb_json_count(list); i++)
        if (osb_json_type(osb_json_at(list, i)) != type)
            return false;
    return true;
}

static bool is_map(const struct osb_json *map, bool may_be_null)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *value;
    if (osb_json_type(map) != OSB_JSON_OBJECT)
        return false;
    while (osb_json_next_member(map, &cursor, &key, &value)) {
        bool is_null = osb_json_type(value) == OSB_JSON_NULL;
        if (osb_json_type(value) != OSB_JSON_STRING && !(is_null && may_be_null))
            return false;
    }
    return true;
}

static void check_type(const struct member *member, const struct osb_json *value,
                       struct rest_problems *problems)
{
    enum osb_json_type type = osb_json_type(value);
    if (member->kind == STRING && type != OSB_JSON_STRING)
        rest_problem_add(problems, "string_type", member->place, "must be a string");
    else if (member->kind == BOOLEAN && type != OSB_JSON_BOOL)
        rest_problem_add(problems, "bool_parsing", member->place, "must be true or false");
    else if (member->kind == INTEGER && !osb_json_is_i64(value))
        rest_problem_add(problems, "int_parsing", member->place, "must be an integer");
    else if (member->kind == OBJECT && type != OSB_JSON_OBJECT)
        rest_problem_add(problems, "dict_type", member->place, "must be an object");
    else if (member->kind == STRINGS && !are_all(value, OSB_JSON_STRING))
        rest_problem_add(problems, "list_type", member->place, "must be a list of strings");
    else if (member->kind == OBJECTS && !are_all(value, OSB_JSON_OBJECT))
        rest_problem_add(problems, "list_type", member->place, "must be a list of objects");
    else if (member->kind == MAP && !is_map(value, false))
        rest_problem_add(problems, "dict_type", member->place, "must be an object of strings");
    else if (member->kind == NULLABLE_MAP && !is_map(value, true))
        rest_problem_add(problems, "dict_type", member->place,
                         "must be an object of strings or nulls");
}

static void check_members(const struct osb_json *body, struct rest_problems *problems)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const struct member *member = &members[i];
        const struct osb_json *parent =
            member->parent ? osb_json_get_path(body, member->parent) : body;
        const struct osb_json *value = rest_field(parent, member->key);
        if (value)
            check_type(member, value, problems);
        else if (member->is_required && osb_json_type(parent) == OSB_JSON_OBJECT)
            rest_problem_add(problems, "missing", member->place, "is required");
    }
}

/* ---- values ---- */

/* Neither arguments nor variables nor names can carry it. */
static bool has_nul(const struct osb_json *value)
{
    void *cursor = NULL;
    struct osb_slice key;
    struct osb_json *member;
    struct osb_slice text = osb_json_str(value);
    if (text.len > 0)
        return osb_slice_find(text, '\0') >= 0;
    if (osb_json_type(value) == OSB_JSON_ARRAY)
        for (size_t i = 0; i < osb_json_count(value); i++)
            if (has_nul(osb_json_at(value, i)))
                return true;
    if (osb_json_type(value) == OSB_JSON_OBJECT)
        while (osb_json_next_member(value, &cursor, &key, &member))
            if (has_nul(member))
                return true;
    return false;
}

static void check_timeout(const struct osb_json *body, struct rest_problems *problems)
{
    const struct osb_json *timeout = rest_field(body, "timeout");
    if (osb_json_is_i64(timeout) && osb_json_i64_or(timeout, 0) < REST_MIN_TIMEOUT_S)
        rest_problem_add(problems, "greater_than_equal", "body.timeout",
                         "must be at least 60 seconds");
}

static void check_entrypoint(const struct osb_json *body, struct rest_problems *problems)
{
    const struct osb_json *entrypoint = rest_field(body, "entrypoint");
    size_t bytes = 0;
    if (!are_all(entrypoint, OSB_JSON_STRING))
        return;
    for (size_t i = 0; i < osb_json_count(entrypoint); i++)
        bytes += osb_json_str(osb_json_at(entrypoint, i)).len;
    if (osb_json_count(entrypoint) == 0)
        rest_problem_add(problems, "too_short", "body.entrypoint", "must not be empty");
    else if (osb_json_str(osb_json_at(entrypoint, 0)).len == 0)
        rest_problem_add(problems, "string_too_short", "body.entrypoint",
                         "must begin with the program to run");
    else if (bytes > REST_MAX_ENTRYPOINT)
        rest_problem_add(problems, "too_long", "body.entrypoint", "is longer than 128 KiB");
}

static void check_variable(struct osb_slice name, struct rest_problems *problems)
{
    bool is_plain = name.len > 0 && osb_slice_find(name, '=') < 0;
    for (size_t i = 0; is_plain && i < name.len; i++)
        is_plain = name.data[i] >= ' ' && name.data[i] < 0x7f;
    if (!is_plain)
        rest_problem_add(problems, "string_pattern_mismatch", "body.env",
                         "names must be printable ASCII without \"=\"");
    else if (osb_slice_eq_str(name, "OPENSANDBOX_LIFECYCLE"))
        rest_problem_add(problems, "value_error", "body.env",
                         "OPENSANDBOX_LIFECYCLE is set by the server");
}

static void check_env(const struct osb_json *body, struct rest_problems *problems)
{
    void *cursor = NULL;
    struct osb_slice name;
    struct osb_json *value;
    const struct osb_json *env = rest_field(body, "env");
    if (osb_json_type(env) != OSB_JSON_OBJECT)
        return;
    while (osb_json_next_member(env, &cursor, &name, &value))
        check_variable(name, problems);
}

/* ---- what excludes what ---- */

static void check_source(const struct osb_json *body, struct rest_problems *problems)
{
    bool has_image = rest_text_field(rest_field(body, "image"), "uri");
    bool has_snapshot = rest_text_field(body, "snapshotId");
    if (rest_text_field(rest_field(body, "extensions"), "poolRef") ||
        rest_text_field(body, "templateId"))
        return; /* other sources, with rules of their own */
    if (has_image == has_snapshot)
        rest_problem_add(problems, has_image ? "value_error" : "missing", "body.image",
                         "give exactly one of image and snapshotId");
    if (has_image && !rest_field(body, "entrypoint"))
        rest_problem_add(problems, "missing", "body.entrypoint", "is required with an image");
    if (!rest_field(body, "resourceLimits"))
        rest_problem_add(problems, "missing", "body.resourceLimits", "is required");
    if (osb_json_bool_or(osb_json_get_path(body, "credentialProxy.enabled"), false) &&
        !rest_field(body, "networkPolicy"))
        rest_problem_add(problems, "value_error", "body.credentialProxy", "needs a networkPolicy");
}

void rest_schema_check(const struct osb_json *body, struct rest_problems *problems)
{
    check_members(body, problems);
    if (has_nul(body))
        rest_problem_add(problems, "string_pattern_mismatch", "body", "has a string with U+0000");
    check_timeout(body, problems);
    check_entrypoint(body, problems);
    check_env(body, problems);
    if (problems->count == 0)
        check_source(body, problems);
}
