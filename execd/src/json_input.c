// SPDX-License-Identifier: Apache-2.0
#include "json_input.h"

int json_input_object(struct osb_json_reader *r, struct osb_slice body, struct osb_err *err)
{
    osb_json_reader_init(r, body);
    if (osb_json_peek(r) == OSB_JSON_NONE && osb_json_reader_check(r, NULL) == 0)
        return osb_fail(err, -OSB_E_INVALID, "the request needs a JSON body");
    if (osb_json_read_null(r)) {
        osb_json_reader_init(r, OSB_SLICE("{}"));
        osb_json_enter_object(r);
        return 0;
    }
    osb_json_enter_object(r);
    return osb_json_reader_check(r, err);
}

bool json_input_next_key(struct osb_json_reader *r, struct osb_arena *arena,
                         struct osb_slice *ret_key)
{
    while (osb_json_next_key_arena(r, arena, ret_key))
        if (!osb_json_read_null(r))
            return true;
    return false;
}
