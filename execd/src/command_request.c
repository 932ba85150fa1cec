// SPDX-License-Identifier: Apache-2.0
#include "command_request.h"

#include "json_input.h"

static size_t count_items(struct osb_slice array)
{
    struct osb_json_reader r;
    size_t count = 0;

    osb_json_reader_init(&r, array);
    osb_json_enter_array(&r);
    while (osb_json_next_item(&r)) {
        osb_json_skip(&r);
        count++;
    }
    return count;
}

static void read_argv(struct osb_json_reader *r, struct osb_arena *arena,
                      struct command_request *request)
{
    struct osb_slice raw = OSB_SLICE_NULL;
    struct osb_json_reader items;

    osb_json_read_raw(r, &raw);
    size_t len = count_items(raw);
    char **argv = osb_arena_calloc(arena, len + 1, sizeof(*argv));
    osb_json_reader_init(&items, raw);
    osb_json_enter_array(&items);
    for (size_t i = 0; osb_json_next_item(&items) && i < len; i++)
        osb_json_read_cstr(&items, arena, &argv[i]);
    if (osb_json_reader_check(&items, NULL) < 0)
        osb_json_reader_fail(r, -OSB_E_INVALID, "argv must be an array of strings without NUL");
    else if (len == 0 || !*argv[0])
        osb_json_reader_fail(r, -OSB_E_INVALID, "argv must start with a program");
    request->argv = (const char *const *)argv;
    request->content = raw;
}

static void read_variables(struct osb_json_reader *r, struct osb_arena *arena,
                           struct command_request *request)
{
    struct osb_slice name;
    size_t cap = 0;

    osb_json_enter_object(r);
    while (osb_json_next_key_arena(r, arena, &name)) {
        char *value = "";
        if (!osb_json_read_null(r))
            osb_json_read_cstr(r, arena, &value);
        if (name.len == 0 || osb_slice_find(name, '=') >= 0 || osb_slice_find(name, '\0') >= 0) {
            osb_json_reader_fail(r, -OSB_E_INVALID, "envs holds a name that cannot be one");
            return;
        }
        if (request->variable_count == cap) {
            size_t grown = cap ? cap * 2 : 16;
            struct command_variable *more = osb_arena_calloc(arena, grown, sizeof(*more));
            if (cap > 0)
                memcpy(more, request->variables, cap * sizeof(*more));
            request->variables = more;
            cap = grown;
        }
        request->variables[request->variable_count++] =
            (struct command_variable){name, osb_slice_str(value)};
    }
}

static void read_id(struct osb_json_reader *r, bool *ret_has, uint32_t *ret)
{
    int64_t value = 0;

    osb_json_read_i64(r, &value);
    /* The largest number means "unchanged" to the kernel. */
    if (value < 0 || value >= UINT32_MAX)
        osb_json_reader_fail(r, -OSB_E_INVALID, "uid or gid out of range");
    *ret_has = true;
    *ret = (uint32_t)value;
}

static void read_member(struct osb_json_reader *r, struct osb_slice key, struct osb_arena *arena,
                        struct command_request *request)
{
    char *text = NULL;

    if (osb_slice_ieq_str(key, "command")) {
        osb_json_read_cstr(r, arena, &text);
        request->command = text;
    } else if (osb_slice_ieq_str(key, "argv")) {
        read_argv(r, arena, request);
    } else if (osb_slice_ieq_str(key, "cwd")) {
        osb_json_read_string(r, arena, &request->cwd);
    } else if (osb_slice_ieq_str(key, "background")) {
        osb_json_read_bool(r, &request->is_background);
    } else if (osb_slice_ieq_str(key, "timeout")) {
        osb_json_read_i64(r, &request->timeout_ms);
    } else if (osb_slice_ieq_str(key, "uid")) {
        read_id(r, &request->has_uid, &request->uid);
    } else if (osb_slice_ieq_str(key, "gid")) {
        read_id(r, &request->has_gid, &request->gid);
    } else if (osb_slice_ieq_str(key, "envs")) {
        read_variables(r, arena, request);
    } else {
        osb_json_skip(r);
    }
}

static int check(const struct command_request *request, struct osb_err *err)
{
    bool has_command = request->command && *request->command;

    if (has_command && request->argv)
        return osb_fail(err, -OSB_E_INVALID, "command and argv exclude each other");
    if (!has_command && !request->argv)
        return osb_fail(err, -OSB_E_INVALID, "one of command and argv is required");
    if (request->timeout_ms < 0)
        return osb_fail(err, -OSB_E_INVALID, "timeout must not be negative");
    if (request->has_gid && !request->has_uid)
        return osb_fail(err, -OSB_E_INVALID, "gid requires uid");
    return 0;
}

int command_request_parse(struct osb_slice body, struct osb_arena *arena,
                          struct command_request *ret, struct osb_err *err)
{
    struct command_request request = {0};
    struct osb_json_reader r;
    struct osb_slice key;

    int r_start = json_input_object(&r, body, err);
    if (r_start < 0)
        return r_start;
    while (json_input_next_key(&r, arena, &key))
        read_member(&r, key, arena, &request);
    int result = osb_json_reader_check(&r, err);
    if (result == 0)
        result = check(&request, err);
    if (result < 0)
        return result;
    if (!request.argv)
        request.content = osb_slice_str(request.command);
    *ret = request;
    return 0;
}
