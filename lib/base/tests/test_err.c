// SPDX-License-Identifier: Apache-2.0
#include <osb/err.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void every_code_has_one_row(void **state)
{
    (void)state;
    size_t count;
    const struct osb_err_info *rows = osb_err_table(&count);
    for (size_t i = 0; i < count; i++) {
        assert_true(rows[i].code < 0);
        for (size_t k = i + 1; k < count; k++) {
            assert_int_not_equal(rows[i].code, rows[k].code);
            assert_string_not_equal(rows[i].name, rows[k].name);
            assert_string_not_equal(rows[i].reason, rows[k].reason);
        }
        assert_ptr_equal(osb_err_info(rows[i].code), &rows[i]);
    }
    for (int code = OSB_E_BASE + 1; code < OSB_E_LAST; code++)
        assert_int_equal(osb_err_info(-code)->code, -code);
}

static void rows_hold_valid_statuses(void **state)
{
    (void)state;
    size_t count;
    const struct osb_err_info *rows = osb_err_table(&count);
    for (size_t i = 0; i < count; i++) {
        assert_in_range(rows[i].http_status, 400, 599);
        assert_in_range(rows[i].grpc_status, 1, 16);
        assert_true(strspn(rows[i].name, "abcdefghijklmnopqrstuvwxyz0123456789_") ==
                    strlen(rows[i].name));
        assert_in_range(rows[i].reason[0], 'A', 'Z');
        assert_null(strpbrk(rows[i].reason, " _-"));
    }
}

static void an_unknown_code_reads_as_internal(void **state)
{
    (void)state;
    assert_int_equal(osb_err_info(-3999)->http_status, 500);
    assert_int_equal(osb_err_info(-3999)->code, -OSB_E_INTERNAL);
}

static void raising_fills_the_error_from_the_table(void **state)
{
    (void)state;
    struct osb_err err = {0};
    assert_int_equal(osb_fail(&err, -OSB_E_NOT_FOUND, "pool %s not found", "a"), -OSB_E_NOT_FOUND);
    assert_int_equal(err.code, -OSB_E_NOT_FOUND);
    assert_int_equal(err.http_status, 404);
    assert_false(err.is_retriable);
    assert_string_equal(err.message, "pool a not found");
    assert_int_equal(osb_fail(NULL, -ETIMEDOUT, "%d", 1), -ETIMEDOUT);
}

static void wrapping_puts_context_in_front(void **state)
{
    (void)state;
    struct osb_err err = {0};
    int r = osb_fail(&err, -ETIMEDOUT, "connect");
    assert_int_equal(osb_wrap(&err, r, "list %s", "pods"), -ETIMEDOUT);
    assert_string_equal(err.message, "list pods: connect");
    assert_true(err.is_retriable);
    assert_int_equal(osb_wrap(&err, 3, "nothing"), 3);
    assert_string_equal(err.message, "list pods: connect");
    assert_int_equal(osb_wrap(NULL, -EIO, "nobody"), -EIO);
}

static void wrapping_a_bare_code_names_it(void **state)
{
    (void)state;
    struct osb_err err = {0};
    osb_wrap(&err, -ENOSPC, "write");
    assert_string_equal(err.message, "write: no_space");
    assert_int_equal(err.code, -ENOSPC);
    assert_int_equal(err.http_status, 507);
}

static void a_message_may_quote_the_one_it_replaces(void **state)
{
    (void)state;
    struct osb_err err = {0};
    osb_fail(&err, -EIO, "disk");
    osb_fail(&err, -OSB_E_UNAVAILABLE, "store: %s", err.message);
    assert_string_equal(err.message, "store: disk");
}

static void long_messages_are_cut_not_overrun(void **state)
{
    (void)state;
    struct osb_err err = {0};
    char text[2 * OSB_ERR_MESSAGE_MAX];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    osb_fail(&err, -EIO, "%s", text);
    assert_int_equal(strlen(err.message), OSB_ERR_MESSAGE_MAX - 1);
    osb_wrap(&err, -EIO, "context");
    assert_int_equal(strlen(err.message), OSB_ERR_MESSAGE_MAX - 1);
    assert_memory_equal(err.message, "context: x", 10);
    osb_wrap(&err, -EIO, "%s", text);
    assert_int_equal(strlen(err.message), OSB_ERR_MESSAGE_MAX - 1);
}

static void the_http_status_can_be_overridden_and_all_be_cleared(void **state)
{
    (void)state;
    struct osb_err err = {0};
    osb_fail(&err, -OSB_E_INVALID, "bad");
    osb_err_set_http(&err, 422);
    osb_wrap(&err, err.code, "spec");
    assert_int_equal(err.http_status, 422);
    osb_err_clear(&err);
    assert_int_equal(err.code, 0);
    assert_string_equal(err.message, "");
}

static void http_statuses_of_peers_become_codes(void **state)
{
    (void)state;
    static const struct {
        int status, code;
    } cases[] = {{200, 0},
                 {204, 0},
                 {302, -OSB_E_UNSUPPORTED},
                 {400, -OSB_E_INVALID},
                 {401, -OSB_E_UNAUTHENTICATED},
                 {403, -OSB_E_FORBIDDEN},
                 {404, -OSB_E_NOT_FOUND},
                 {409, -OSB_E_CONFLICT},
                 {410, -OSB_E_EXPIRED},
                 {413, -OSB_E_TOO_LARGE},
                 {422, -OSB_E_INVALID},
                 {429, -OSB_E_RATE_LIMITED},
                 {500, -OSB_E_INTERNAL},
                 {501, -OSB_E_UNSUPPORTED},
                 {503, -OSB_E_UNAVAILABLE},
                 {504, -OSB_E_TIMEOUT},
                 {0, -OSB_E_INTERNAL},
                 {999, -OSB_E_INTERNAL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(osb_err_from_http(cases[i].status), cases[i].code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_one_row),
        cmocka_unit_test(rows_hold_valid_statuses),
        cmocka_unit_test(an_unknown_code_reads_as_internal),
        cmocka_unit_test(raising_fills_the_error_from_the_table),
        cmocka_unit_test(wrapping_puts_context_in_front),
        cmocka_unit_test(wrapping_a_bare_code_names_it),
        cmocka_unit_test(a_message_may_quote_the_one_it_replaces),
        cmocka_unit_test(long_messages_are_cut_not_overrun),
        cmocka_unit_test(the_http_status_can_be_overridden_and_all_be_cleared),
        cmocka_unit_test(http_statuses_of_peers_become_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
