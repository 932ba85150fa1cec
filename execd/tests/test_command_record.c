// SPDX-License-Identifier: Apache-2.0
#include "cmocka_all.h"
#include "command_record.h"

#include <osb/alloc.h>
#include <osb/clock.h>

static struct osb_loop *loop;
static struct command_records records;

static int setup(void **state)
{
    (void)state;
    assert_int_equal(osb_loop_new_sim(&loop, NULL), 0);
    command_records_init(&records, loop);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    command_records_done(&records);
    osb_loop_free(loop);
    return 0;
}

static char *finish_one(size_t output)
{
    struct command_record *record = command_record_new(&records, OSB_SLICE("echo"));
    char *id = osb_strdup(record->id);
    char *bytes = osb_calloc(1, output + 1);

    spool_append(&record->spool, osb_slice(bytes, output));
    free(bytes);
    command_record_finish(&records, record, 0, NULL);
    return id;
}

static void a_record_is_found_by_its_id_while_it_runs_and_after(void **state)
{
    (void)state;
    struct command_record *record = command_record_new(&records, OSB_SLICE("sleep 1"));
    assert_int_equal(strlen(record->id), 32);
    assert_ptr_equal(command_record_find(&records, osb_slice_str(record->id)), record);
    command_record_finish(&records, record, 3, osb_strdup("exit status 3"));
    assert_ptr_equal(command_record_find(&records, osb_slice_str(record->id)), record);
    assert_int_equal(record->exit_code, 3);
    assert_null(command_record_find(&records, OSB_SLICE("nope")));
}

static void the_one_that_ended_first_goes_first_when_there_are_too_many(void **state)
{
    char *first = finish_one(0);

    (void)state;
    struct command_record *running = command_record_new(&records, OSB_SLICE("runs"));
    for (int i = 0; i < RECORDS_MAX_FINISHED - 1; i++)
        free(finish_one(0));
    assert_non_null(command_record_find(&records, osb_slice_str(first)));
    free(finish_one(0));
    assert_null(command_record_find(&records, osb_slice_str(first)));
    assert_int_equal(records.finished_count, RECORDS_MAX_FINISHED);
    assert_non_null(command_record_find(&records, osb_slice_str(running->id)));
    free(first);
}

static void files_are_bounded_in_number(void **state)
{
    char *first = finish_one(SPOOL_MEMORY_MAX + 1);

    (void)state;
    for (int i = 0; i < RECORDS_MAX_FILES; i++)
        free(finish_one(SPOOL_MEMORY_MAX + 1));
    assert_null(command_record_find(&records, osb_slice_str(first)));
    assert_int_equal(records.file_count, RECORDS_MAX_FILES);
    free(first);
}

static void a_day_later_records_are_gone(void **state)
{
    char *id = finish_one(10);

    (void)state;
    osb_loop_sim_advance(loop, 2 * 3600 * OSB_NS_PER_S);
    struct command_record *record = command_record_find(&records, osb_slice_str(id));
    assert_non_null(record);
    record->finished_ns = osb_loop_realtime_ns(loop) - (int64_t)25 * 3600 * 1000000000;
    osb_loop_sim_advance(loop, 2 * 3600 * OSB_NS_PER_S);
    assert_null(command_record_find(&records, osb_slice_str(id)));
    assert_int_equal(records.memory_bytes, 0);
    free(id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_record_is_found_by_its_id_while_it_runs_and_after, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_one_that_ended_first_goes_first_when_there_are_too_many,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(files_are_bounded_in_number, setup, teardown),
        cmocka_unit_test_setup_teardown(a_day_later_records_are_gone, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
