// SPDX-License-Identifier: Apache-2.0
/*
 * What is known of a command, running or over: status and kept output. A record is made before the
 * client learns the id, lives as long as its run, and afterwards for a day, unless newer ones push
 * it out: the number of finished records, the memory and the disk space that they hold are bounded,
 * the one that ended first goes first.
 */
#ifndef EXECD_COMMAND_RECORD_H
#define EXECD_COMMAND_RECORD_H

#include "spool.h"

#include <osb/list.h>
#include <osb/loop.h>
#include <osb/map.h>
#include <osb/slice.h>
#include <osb/uuid.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    RECORDS_MAX_FINISHED = 2048,
    RECORDS_MAX_FILES = 256,              /* finished records whose output is in a file */
    RECORDS_MAX_MEMORY = 8 * 1024 * 1024, /* bytes of content and output in memory */
    RECORDS_MAX_DISK = 512 * 1024 * 1024, /* bytes of output in files */
    RECORD_MAX_CONTENT = 64 * 1024,       /* bytes of the command text that are kept */
    RECORD_KEPT_H = 24,                   /* hours after the end */
    RECORD_EXIT_START_FAILED = 255,       /* recorded when a background command cannot start */
};

struct command_run;

struct command_record {
    char id[OSB_UUID_HEX_MAX];
    char *content;           /* the command as it was asked for */
    char *error;             /* why it failed, or NULL */
    struct command_run *run; /* NULL once it is over */
    int exit_code;
    int64_t started_ns; /* since 1970 */
    int64_t finished_ns;
    struct spool spool;
    struct osb_list link; /* in `running`, or in `finished` by time of the end */
};

struct command_records {
    struct osb_loop *loop;
    struct osb_map by_id;
    struct osb_list running;
    struct osb_list finished;
    size_t finished_count;
    size_t file_count;
    uint64_t memory_bytes;
    uint64_t disk_bytes;
    struct osb_timer sweep;
};

void command_records_init(struct command_records *records, struct osb_loop *loop);
/* Frees all records; none may be running. */
void command_records_done(struct command_records *records);
/* A record with a new id, running. */
struct command_record *command_record_new(struct command_records *records,
                                          struct osb_slice content);
/* NULL when there is none (any more). */
struct command_record *command_record_find(const struct command_records *records,
                                           struct osb_slice id);
/* Its run is over: from now on it may be pushed out, also by this call. Takes ERROR. */
void command_record_finish(struct command_records *records, struct command_record *record,
                           int exit_code, char *error);
/* Forgets a record that is not running and was not finished. */
void command_record_drop(struct command_records *records, struct command_record *record);

#endif
