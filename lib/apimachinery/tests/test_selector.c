// SPDX-License-Identifier: Apache-2.0
#include <osb/api_selector.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test_json.h"

static struct osb_selector *labels_selector(const char *text)
{
    struct osb_selector *s = NULL;
    struct osb_err err = {0};
    if (osb_selector_parse_labels(osb_slice_str(text), &s, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return s;
}

static void test_label_selectors_match_as_in_kubernetes(void **state)
{
    static const struct {
        const char *selector;
        bool is_match; /* of {"a":"b","n":"5","e":"","x/y":"z"} */
    } CASES[] = {
        {"", true},
        {" ", true},
        {"a=b", true},
        {"a==b", true},
        {"a = b , n=5", true},
        {"a=c", false},
        {"a!=c", true},
        {"a!=b", false},
        {"missing!=b", true},
        {"missing=b", false},
        {"a", true},
        {"missing", false},
        {"!missing", true},
        {"! a", false},
        {"a in (b,c)", true},
        {"a in (c)", false},
        {"a notin (c,d)", true},
        {"a notin (b)", false},
        {"missing notin (b)", true},
        {"missing in (b)", false},
        {"e=", true},
        {"a=,n=5", false},
        {"e in ()", true},
        {"a in (,b)", true},
        {"n>4", true},
        {"n > 5", false},
        {"n<6", true},
        {"a>1", false},
        {"missing<6", false},
        {"x/y=z", true},
        {"in in (b)", false},
        {"a=b,a!=b", false},
    };
    (void)state;
    _cleanup_json_ struct osb_json *labels =
        parse("{\"a\":\"b\",\"n\":\"5\",\"e\":\"\",\"x/y\":\"z\"}");
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct osb_selector *s = labels_selector(CASES[i].selector);
        if (osb_selector_matches_labels(s, labels) != CASES[i].is_match)
            fail_msg("%s", CASES[i].selector);
        osb_selector_free(s);
    }
}

static void test_bad_label_selectors_are_refused(void **state)
{
    static const char *const BAD[] = {
        ",",   "a,", ",a",   "a=b c", "a in b", "a in (b",   "a in (b c)",    "a in",
        "a!b", "=b", "!",    "!a=b",  "a=(b)",  "-a=b",      "a=-b",          "a/b/c=d",
        "n>x", "n>", "a=b)", "(a)",   "a=!b",   "a notin b", "a between (b)",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct osb_selector *s = NULL;
        if (osb_selector_parse_labels(osb_slice_str(BAD[i]), &s, NULL) != -OSB_E_INVALID)
            fail_msg("accepted: %s", BAD[i]);
        assert_null(s);
    }
    struct osb_selector *s = NULL;
    assert_int_equal(osb_selector_parse_labels(osb_slice("a\0b", 3), &s, NULL), -OSB_E_INVALID);
}

static void test_the_number_of_requirements_is_bounded(void **state)
{
    struct osb_buf text = {0};
    struct osb_selector *s = NULL;
    (void)state;
    for (int i = 0; i < OSB_SELECTOR_MAX_REQUIREMENTS; i++)
        osb_buf_appendf(&text, "%sk%d", i ? "," : "", i);
    assert_int_equal(osb_selector_parse_labels(osb_buf_slice(&text), &s, NULL), 0);
    osb_selector_free(s);
    osb_buf_append_str(&text, ",more");
    assert_int_equal(osb_selector_parse_labels(osb_buf_slice(&text), &s, NULL), -OSB_E_INVALID);
    osb_buf_clear(&text);
    osb_buf_append_str(&text, "a in (");
    for (int i = 0; i < 300; i++)
        osb_buf_append_str(&text, "v,");
    osb_buf_append_str(&text, ")");
    assert_int_equal(osb_selector_parse_labels(osb_buf_slice(&text), &s, NULL), -OSB_E_INVALID);
    osb_buf_done(&text);
}

static void test_field_selectors_match_by_path(void **state)
{
    static const struct {
        const char *selector;
        bool is_match;
    } CASES[] = {
        {"", true},
        {"metadata.name=x", true},
        {"metadata.name==x", true},
        {"metadata.name!=x", false},
        {"metadata.name=x,status.phase!=Running", true},
        {"status.phase=", true},
        {"status.phase!=", false},
        {"spec.n=5", true},
        {"spec.on=true", true},
        {"spec.odd=a\\,b\\=c\\\\d", true},
        {"metadata.name=x,,", true},
    };
    (void)state;
    _cleanup_json_ struct osb_json *object = parse(
        "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"n\":5,\"on\":true,\"odd\":\"a,b=c\\\\d\"}}");
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct osb_selector *s = NULL;
        assert_int_equal(osb_selector_parse_fields(osb_slice_str(CASES[i].selector), &s, NULL), 0);
        if (osb_selector_matches_fields(s, object) != CASES[i].is_match)
            fail_msg("%s", CASES[i].selector);
        osb_selector_free(s);
    }
}

static void test_bad_field_selectors_are_refused(void **state)
{
    static const char *const BAD[] = {"a",      "=b",    "a in (b)", "a=b=c",
                                      "a=b\\x", "a=b\\", "!a",       "!=b"};
    (void)state;
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct osb_selector *s = NULL;
        if (osb_selector_parse_fields(osb_slice_str(BAD[i]), &s, NULL) != -OSB_E_INVALID)
            fail_msg("accepted: %s", BAD[i]);
    }
}

static void collect_key(const char *key, void *arg)
{
    osb_buf_appendf(arg, "%s;", key);
}

static void test_keys_are_listed(void **state)
{
    struct osb_selector *s = NULL;
    struct osb_buf keys = {0};
    (void)state;
    assert_int_equal(osb_selector_parse_fields(OSB_SLICE("a=1,b!=2"), &s, NULL), 0);
    osb_selector_each_key(s, collect_key, &keys);
    assert_string_equal(osb_buf_cstr(&keys), "a;b;");
    assert_false(osb_selector_is_empty(s));
    osb_buf_done(&keys);
    osb_selector_free(s);
    osb_selector_free(NULL);
}

static int from_object(const char *object, const char *labels, bool *ret_match)
{
    _cleanup_json_ struct osb_json *selector = object ? parse(object) : NULL;
    _cleanup_json_ struct osb_json *set = labels ? parse(labels) : NULL;
    struct osb_selector *s = NULL;
    int r = osb_selector_from_object(selector, &s, NULL);
    if (r < 0)
        return r;
    *ret_match = osb_selector_matches_labels(s, set);
    osb_selector_free(s);
    return 0;
}

static void test_selector_objects_match_as_their_text_would(void **state)
{
    bool m = false;
    (void)state;
    assert_int_equal(from_object(NULL, NULL, &m), 0);
    assert_true(m);
    assert_int_equal(from_object("{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[{\"key\":"
                                 "\"c\",\"operator\":\"In\",\"values\":[\"d\",\"e\"]},{\"key\":"
                                 "\"f\",\"operator\":\"DoesNotExist\"}]}",
                                 "{\"a\":\"b\",\"c\":\"e\"}", &m),
                     0);
    assert_true(m);
    assert_int_equal(
        from_object("{\"matchExpressions\":[{\"key\":\"c\",\"operator\":\"Exists\"}]}", NULL, &m),
        0);
    assert_false(m);
    assert_int_equal(from_object("{\"matchExpressions\":[{\"key\":\"c\",\"operator\":\"NotIn\","
                                 "\"values\":[\"d\"]}]}",
                                 "{}", &m),
                     0);
    assert_true(m);
}

static void test_bad_selector_objects_are_refused(void **state)
{
    static const char *const BAD[] = {
        "{\"matchLabels\":{\"a\":1}}",
        "{\"matchLabels\":{\"-a\":\"b\"}}",
        "{\"matchLabels\":{\"a\":\"b c\"}}",
        "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Gt\",\"values\":[\"1\"]}]}",
        "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}",
        "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"1\"]}]}",
        "{\"matchExpressions\":[{\"operator\":\"Exists\"}]}",
        "{\"matchExpressions\":[1]}",
    };
    bool m;
    (void)state;
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        if (from_object(BAD[i], "{}", &m) != -OSB_E_INVALID)
            fail_msg("accepted: %s", BAD[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_label_selectors_match_as_in_kubernetes),
        cmocka_unit_test(test_bad_label_selectors_are_refused),
        cmocka_unit_test(test_the_number_of_requirements_is_bounded),
        cmocka_unit_test(test_field_selectors_match_by_path),
        cmocka_unit_test(test_bad_field_selectors_are_refused),
        cmocka_unit_test(test_keys_are_listed),
        cmocka_unit_test(test_selector_objects_match_as_their_text_would),
        cmocka_unit_test(test_bad_selector_objects_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
