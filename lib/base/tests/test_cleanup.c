// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void a_scope_closes_its_descriptor_and_keeps_errno(void **state)
{
    (void)state;
    int number;
    {
        _cleanup_close_ int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        number = fd;
        errno = EXDEV;
    }
    assert_int_equal(errno, EXDEV);
    assert_int_equal(fcntl(number, F_GETFD), -1);
}

static void a_taken_descriptor_stays_open(void **state)
{
    (void)state;
    int number;
    {
        _cleanup_close_ int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        number = osb_take_fd(&fd);
        assert_int_equal(fd, -1);
    }
    assert_true(fcntl(number, F_GETFD) >= 0);
    close(number);
}

static void a_taken_pointer_is_not_freed(void **state)
{
    (void)state;
    char *kept;
    {
        _cleanup_free_ char *text = osb_strdup("kept");
        kept = osb_take_ptr(text);
        assert_null(text);
    }
    assert_string_equal(kept, "kept");
    free(kept);
}

static void a_scope_closes_its_stream(void **state)
{
    (void)state;
    int number;
    {
        _cleanup_fclose_ FILE *file = fopen("/dev/null", "re");
        number = fileno(file);
    }
    assert_int_equal(fcntl(number, F_GETFD), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scope_closes_its_descriptor_and_keeps_errno),
        cmocka_unit_test(a_taken_descriptor_stays_open),
        cmocka_unit_test(a_taken_pointer_is_not_freed),
        cmocka_unit_test(a_scope_closes_its_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
