// SPDX-License-Identifier: Apache-2.0
/*
 * One JSON object a line: time, level, program, msg, then the given keys. Libraries return errors
 * and do not log; the edge of a program logs once. Keys come from docs/interfaces.md, values never
 * hold payloads or secrets. Thread-safe; a line is one write(2).
 */
#ifndef OSB_LOG_H
#define OSB_LOG_H

#include <osb/err.h>
#include <osb/slice.h>
#include <stdint.h>

enum osb_log_level { OSB_LOG_DEBUG, OSB_LOG_INFO, OSB_LOG_WARN, OSB_LOG_ERROR };

struct osb_log_field {
    const char *key; /* NULL ends the list */
    enum { OSB_LOG_STR, OSB_LOG_INT, OSB_LOG_BOOL } type;
    struct osb_slice str;
    int64_t number;
};

#define OSB_KV_STR(k, v)   ((struct osb_log_field){(k), OSB_LOG_STR, osb_slice_str(v), 0})
#define OSB_KV_SLICE(k, v) ((struct osb_log_field){(k), OSB_LOG_STR, (v), 0})
#define OSB_KV_INT(k, v)   ((struct osb_log_field){(k), OSB_LOG_INT, OSB_SLICE_NULL, (int64_t)(v)})
#define OSB_KV_BOOL(k, v)  ((struct osb_log_field){(k), OSB_LOG_BOOL, OSB_SLICE_NULL, (v) ? 1 : 0})
/* "error" (message) of a raised error. */
#define OSB_KV_ERR(e) OSB_KV_STR("error", (e)->message)

/* PROGRAM is borrowed for the life of the process; FD is not closed. Default: stderr, info. */
void osb_log_setup(const char *program, enum osb_log_level level, int fd);
/* "debug", "info", "warn", "error"; 0 or -OSB_E_INVALID. */
int osb_log_level_parse(const char *text, enum osb_log_level *ret_level);
enum osb_log_level osb_log_level(void);
void osb_log_fields(enum osb_log_level level, const char *msg, const struct osb_log_field *fields);

#define osb_log(level, msg, ...)                                                                   \
    do {                                                                                           \
        if ((level) >= osb_log_level())                                                            \
            osb_log_fields((level), (msg),                                                         \
                           (const struct osb_log_field[]){__VA_ARGS__ __VA_OPT__(, ){NULL}});      \
    } while (0)

#endif
