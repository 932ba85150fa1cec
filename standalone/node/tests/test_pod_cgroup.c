// SPDX-License-Identifier: Apache-2.0
#include "pod_cgroup.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const folders[] = {
    "cpu",    "cpu/e",  "cpu/e/poda", "cpu/e/podb",    "e",
    "e/poda", "memory", "memory/e",   "memory/e/poda", "memory/e/poda/busy"};

static void a_pods_folders_go_from_each_hierarchy_and_no_others(void **state)
{
    char root[] = "/tmp/osb-cgroup-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        _cleanup_free_ char *path = osb_asprintf("%s/%s", root, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    pod_cgroup_remove(root, "/e", "a");
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        _cleanup_free_ char *path = osb_asprintf("%s/%s", root, folders[i]);
        int is_gone = i == 2 || i == 5; /* memory's is in use */
        assert_int_equal(access(path, F_OK), is_gone ? -1 : 0);
    }
    assert_int_equal(osb_remove_tree(root, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pods_folders_go_from_each_hierarchy_and_no_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
