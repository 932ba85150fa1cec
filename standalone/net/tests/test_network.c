// SPDX-License-Identifier: Apache-2.0
/*
 * Table, sysctls and bridge in a user and network namespace of the test's own, where nobody needs
 * to be root. A machine that makes no such namespaces skips the cases.
 */
#include "bridge_link.h"
#include "forwarding.h"
#include "nat_table.h"

#include <osb/fd.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SUBNET 0x0a010200

static bool has_namespace;
static char undo[64];

/* A new namespace starts with the machine's setting, which another engine may have changed. */
static bool clear_forwarding(void)
{
    FILE *file = fopen("/proc/sys/net/ipv4/ip_forward", "we");
    if (!file)
        return false;
    bool is_written = fputs("0", file) >= 0;
    return fclose(file) == 0 && is_written;
}

static int enter(void **state)
{
    char folder[] = "/tmp/osb-net-XXXXXX";
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(undo, sizeof(undo), "%s/undo.json", folder);
    has_namespace = (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 || unshare(CLONE_NEWNET) == 0) &&
                    clear_forwarding();
    return 0;
}

static int leave(void **state)
{
    (void)state;
    (void)unlink(undo);
    *strrchr(undo, '/') = '\0';
    return rmdir(undo);
}

static char forwarding(void)
{
    char text[2] = "?";
    FILE *file = fopen("/proc/sys/net/ipv4/ip_forward", "re");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    return text[0];
}

static void a_table_is_replaced_as_a_whole_and_removed(void **state)
{
    (void)state;
    if (!has_namespace)
        skip(); /* neither root nor user namespaces */
    assert_int_equal(nat_table_exists("osb_test", NULL), 0);
    assert_int_equal(nat_table_make("osb_test", "osb-test", SUBNET, 24, NULL), 0);
    assert_int_equal(nat_table_make("osb_test", "osb-test", SUBNET, 24, NULL), 0);
    assert_int_equal(nat_table_exists("osb_test", NULL), 1);
    assert_int_equal(nat_table_remove("osb_test", NULL), 0);
    assert_int_equal(nat_table_exists("osb_test", NULL), 0);
    assert_int_equal(nat_table_remove("osb_test", NULL), 0); /* again */
}

static void the_last_user_takes_forwarding_back(void **state)
{
    (void)state;
    if (!has_namespace)
        skip(); /* neither root nor user namespaces */
    assert_int_equal(forwarding(), '0');
    assert_int_equal(nat_table_make("a", "osb-a", SUBNET, 24, NULL), 0);
    assert_int_equal(forwarding_acquire(undo, "a", NULL), 0);
    assert_int_equal(forwarding(), '1');
    assert_int_equal(nat_table_make("b", "osb-b", SUBNET + 256, 24, NULL), 0);
    assert_int_equal(forwarding_acquire(undo, "b", NULL), 0);
    assert_int_equal(forwarding_acquire(undo, "b", NULL), 0); /* again counts once */
    assert_int_equal(forwarding_release(undo, "a", NULL), 0);
    assert_int_equal(forwarding(), '1');
    assert_int_equal(forwarding_release(undo, "b", NULL), 0);
    assert_int_equal(forwarding(), '0');
    assert_int_equal(access(undo, F_OK), -1);
    assert_int_equal(forwarding_release(undo, "b", NULL), 0); /* again */
    assert_int_equal(nat_table_remove("a", NULL), 0);
    assert_int_equal(nat_table_remove("b", NULL), 0);
}

/* An instance whose machine lost its tables, or that was removed by hand, holds nothing for ever.
 */
static void a_user_whose_table_is_gone_counts_no_more(void **state)
{
    (void)state;
    if (!has_namespace)
        skip(); /* neither root nor user namespaces */
    assert_int_equal(nat_table_make("a", "osb-a", SUBNET, 24, NULL), 0);
    assert_int_equal(nat_table_make("b", "osb-b", SUBNET + 256, 24, NULL), 0);
    assert_int_equal(forwarding_acquire(undo, "a", NULL), 0);
    assert_int_equal(forwarding_acquire(undo, "b", NULL), 0);
    assert_int_equal(nat_table_remove("a", NULL), 0);
    assert_int_equal(forwarding_release(undo, "b", NULL), 0);
    assert_int_equal(forwarding(), '0');
    assert_int_equal(nat_table_remove("b", NULL), 0);
}

static void a_damaged_list_of_sysctls_is_reported_and_not_trusted(void **state)
{
    struct osb_err err = {0};
    (void)state;
    if (!has_namespace)
        skip(); /* neither root nor user namespaces */
    assert_int_equal(osb_write_file(undo, OSB_SLICE("{\"users\":["), 0600, NULL), 0);
    assert_true(forwarding_acquire(undo, "a", &err) < 0);
    assert_non_null(strstr(err.message, "undo.json"));
    assert_int_equal(forwarding(), '0');
    assert_int_equal(unlink(undo), 0);
}

static void a_bridge_that_is_not_there_needs_no_removal(void **state)
{
    (void)state;
    if (!has_namespace)
        skip(); /* neither root nor user namespaces */
    assert_int_equal(bridge_link_remove("osb-none", NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_is_replaced_as_a_whole_and_removed),
        cmocka_unit_test(the_last_user_takes_forwarding_back),
        cmocka_unit_test(a_user_whose_table_is_gone_counts_no_more),
        cmocka_unit_test(a_damaged_list_of_sysctls_is_reported_and_not_trusted),
        cmocka_unit_test(a_bridge_that_is_not_there_needs_no_removal),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
