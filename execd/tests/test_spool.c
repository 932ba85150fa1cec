// SPDX-License-Identifier: Apache-2.0
#include "cmocka_all.h"
#include "spool.h"

#include <osb/alloc.h>

/* The byte that belongs at OFFSET. */
static char pattern(uint64_t offset)
{
    return (char)(offset * 31 + (offset >> 8));
}

static void append(struct spool *spool, size_t len)
{
    char *bytes = osb_calloc(1, len ? len : 1);

    for (size_t i = 0; i < len; i++)
        bytes[i] = pattern(spool->end + i);
    spool_append(spool, osb_slice(bytes, len));
    free(bytes);
}

static void check_content(const struct spool *spool)
{
    char piece[777];
    uint64_t offset = spool->begin;
    ssize_t n;

    while ((n = spool_read(spool, offset, piece, sizeof(piece))) > 0)
        for (ssize_t i = 0; i < n; i++)
            assert_int_equal(piece[i], pattern(offset++));
    assert_int_equal(n, 0);
    assert_int_equal(offset, spool->end);
}

static void little_output_stays_in_memory(void **state)
{
    struct spool spool;

    (void)state;
    spool_init(&spool, SPOOL_MAX);
    append(&spool, 100);
    append(&spool, SPOOL_MEMORY_MAX - 100);
    assert_int_equal(spool.fd, -1);
    assert_int_equal(spool_file_bytes(&spool), 0);
    check_content(&spool);
    spool_done(&spool);
}

static void more_moves_to_a_file_and_reads_back_whole(void **state)
{
    struct spool spool;

    (void)state;
    spool_init(&spool, SPOOL_MAX);
    append(&spool, 100);
    append(&spool, SPOOL_MEMORY_MAX);
    append(&spool, 3);
    assert_true(spool.fd >= 0);
    assert_int_equal(spool.begin, 0);
    assert_int_equal(spool_file_bytes(&spool), SPOOL_MEMORY_MAX + 103);
    check_content(&spool);
    spool_done(&spool);
}

static void beyond_the_limit_the_oldest_bytes_go_first(void **state)
{
    struct spool spool;
    const uint64_t limit = 10000;

    (void)state;
    spool_init(&spool, limit);
    for (size_t len = 1; len < 9000; len += 613) {
        append(&spool, len);
        assert_true(spool.end - spool.begin <= limit);
        check_content(&spool);
    }
    assert_true(spool.begin > 0);
    assert_int_equal(spool.end - spool.begin, limit);
    spool_done(&spool);
}

static void one_write_longer_than_the_limit_keeps_its_end(void **state)
{
    struct spool spool;

    (void)state;
    spool_init(&spool, 5000);
    append(&spool, 123);
    append(&spool, 17000);
    assert_int_equal(spool.end, 17123);
    assert_int_equal(spool.begin, 12123);
    check_content(&spool);
    spool_done(&spool);
}

static void what_is_forgotten_is_counted_on(void **state)
{
    struct spool spool;

    (void)state;
    spool_init(&spool, 5000);
    append(&spool, 4999);
    spool_forget(&spool);
    assert_int_equal(spool.begin, 4999);
    append(&spool, 10);
    check_content(&spool);
    spool_done(&spool);
}

static void without_a_place_for_a_file_the_output_still_counts(void **state)
{
    struct spool spool;

    (void)state;
    setenv("TMPDIR", "/nonexistent/for/this/test", 1);
    spool_init(&spool, SPOOL_MAX);
    append(&spool, 3 * SPOOL_MEMORY_MAX); /* goes to a file in memory */
    check_content(&spool);
    spool_done(&spool);
    unsetenv("TMPDIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_output_stays_in_memory),
        cmocka_unit_test(more_moves_to_a_file_and_reads_back_whole),
        cmocka_unit_test(beyond_the_limit_the_oldest_bytes_go_first),
        cmocka_unit_test(one_write_longer_than_the_limit_keeps_its_end),
        cmocka_unit_test(what_is_forgotten_is_counted_on),
        cmocka_unit_test(without_a_place_for_a_file_the_output_still_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
