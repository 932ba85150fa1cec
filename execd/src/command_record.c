// SPDX-License-Identifier: Apache-2.0
#include "command_record.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <stdlib.h>

static const uint64_t sweep_interval_ms = 3600 * 1000;
static const int64_t kept_ns = (int64_t)RECORD_KEPT_H * 3600 * (int64_t)OSB_NS_PER_S;

static uint64_t memory_of(const struct command_record *record)
{
    return (record->content ? strlen(record->content) : 0) + record->spool.memory.len;
}

static void record_free(void *value)
{
    struct command_record *record = value;

    spool_done(&record->spool);
    free(record->content);
    free(record->error);
    free(record);
}

static void forget_finished(struct command_records *records, struct command_record *record)
{
    records->finished_count--;
    records->memory_bytes -= memory_of(record);
    records->disk_bytes -= spool_file_bytes(&record->spool);
    records->file_count -= record->spool.fd >= 0;
    command_record_drop(records, record);
}

static struct command_record *oldest(const struct command_records *records)
{
    return osb_list_first(&records->finished, struct command_record, link);
}

static void sweep(struct osb_timer *timer)
{
    struct command_records *records = timer->arg;
    int64_t limit_ns = osb_loop_realtime_ns(records->loop) - kept_ns;
    struct command_record *record;

    while ((record = oldest(records)) && record->finished_ns < limit_ns)
        forget_finished(records, record);
    osb_timer_set(timer, sweep_interval_ms);
}

void command_records_init(struct command_records *records, struct osb_loop *loop)
{
    *records = (struct command_records){.loop = loop};
    osb_list_init(&records->running);
    osb_list_init(&records->finished);
    osb_timer_init(&records->sweep, loop, sweep, records);
    osb_timer_set(&records->sweep, sweep_interval_ms);
}

void command_records_done(struct command_records *records)
{
    osb_timer_stop(&records->sweep);
    osb_map_done(&records->by_id, record_free);
}

struct command_record *command_record_new(struct command_records *records, struct osb_slice content)
{
    struct command_record *record = osb_new(struct command_record);

    osb_uuid_format_hex(osb_uuid_v4(), record->id);
    record->content = osb_slice_dup(osb_slice_first(content, RECORD_MAX_CONTENT));
    record->started_ns = osb_loop_realtime_ns(records->loop);
    spool_init(&record->spool, SPOOL_MAX);
    osb_map_set(&records->by_id, osb_slice_str(record->id), record);
    osb_list_append(&records->running, &record->link);
    return record;
}

struct command_record *command_record_find(const struct command_records *records,
                                           struct osb_slice id)
{
    return osb_map_get(&records->by_id, id);
}

void command_record_drop(struct command_records *records, struct command_record *record)
{
    osb_list_remove(&record->link);
    osb_map_remove(&records->by_id, osb_slice_str(record->id));
    record_free(record);
}

static bool is_over_limits(const struct command_records *records)
{
    return records->finished_count > RECORDS_MAX_FINISHED ||
           records->file_count > RECORDS_MAX_FILES || records->memory_bytes > RECORDS_MAX_MEMORY ||
           records->disk_bytes > RECORDS_MAX_DISK;
}

void command_record_finish(struct command_records *records, struct command_record *record,
                           int exit_code, char *error)
{
    record->run = NULL;
    record->exit_code = exit_code;
    record->error = error;
    record->finished_ns = osb_realtime_ns();
    osb_list_remove(&record->link);
    osb_list_append(&records->finished, &record->link);
    records->finished_count++;
    records->memory_bytes += memory_of(record);
    records->disk_bytes += spool_file_bytes(&record->spool);
    records->file_count += record->spool.fd >= 0;
    while (is_over_limits(records))
        forget_finished(records, oldest(records));
}
