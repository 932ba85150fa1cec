// SPDX-License-Identifier: Apache-2.0
#include <osb/log.h>

#include <limits.h>
#include <osb/clock.h>
#include <osb/text.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum {
    LOG_LINE_MAX = PIPE_BUF, /* so that lines of several processes do not mix in one pipe */
    LOG_VALUE_MAX = 1024,    /* bytes taken of one value */
};

/* What ends a line from which something was left out; room for it is always kept. */
#define LOG_END       "}\n"
#define LOG_END_SHORT ",\"truncated\":true}\n"
#define LOG_BODY_MAX  (LOG_LINE_MAX - (sizeof(LOG_END_SHORT) - 1))

static const char *const level_names[] = {"debug", "info", "warn", "error"};

static const char *log_program = "";
static int log_fd = STDERR_FILENO;
static _Atomic int log_level = OSB_LOG_INFO;

void osb_log_setup(const char *program, enum osb_log_level level, int fd)
{
    log_program = program;
    log_fd = fd;
    atomic_store_explicit(&log_level, (int)level, memory_order_relaxed);
}

int osb_log_level_parse(const char *text, enum osb_log_level *ret_level)
{
    for (int i = OSB_LOG_DEBUG; i <= OSB_LOG_ERROR; i++) {
        if (osb_slice_eq_str(osb_slice_str(text), level_names[i])) {
            *ret_level = (enum osb_log_level)i;
            return 0;
        }
    }
    return -OSB_E_INVALID;
}

enum osb_log_level osb_log_level(void)
{
    return (enum osb_log_level)atomic_load_explicit(&log_level, memory_order_relaxed);
}

/* At most LEN bytes of S, not ending inside a UTF-8 sequence. */
static struct osb_slice cut(struct osb_slice s, size_t len)
{
    if (s.len <= len)
        return s;
    while (len && ((unsigned char)s.data[len] & 0xc0) == 0x80)
        len--;
    return osb_slice_first(s, len);
}

/* ,"KEY":"VALUE", with as much of VALUE as fits; false when some was left out. */
static bool append_string(struct osb_buf *line, const char *key, struct osb_slice value)
{
    size_t before = line->len;
    for (struct osb_slice part = cut(value, LOG_VALUE_MAX);; part = cut(part, part.len / 2)) {
        osb_buf_appendf(line, "%s\"%s\":\"", before > 1 ? "," : "", key);
        osb_json_escape(line, part);
        osb_buf_append_char(line, '"');
        if (!line->err)
            return part.len == value.len;
        osb_buf_truncate(line, before);
        line->err = 0;
        if (part.len == 0)
            return false;
    }
}

static bool append_field(struct osb_buf *line, const struct osb_log_field *field)
{
    size_t before = line->len;
    switch (field->type) {
    case OSB_LOG_STR:
        return append_string(line, field->key, field->str);
    case OSB_LOG_INT:
        osb_buf_appendf(line, ",\"%s\":%lld", field->key, (long long)field->number);
        break;
    case OSB_LOG_BOOL:
        osb_buf_appendf(line, ",\"%s\":%s", field->key, field->number ? "true" : "false");
        break;
    }
    if (!line->err)
        return true;
    osb_buf_truncate(line, before);
    line->err = 0;
    return false;
}

/*
 * The buffer stands on the stack: its limit leaves one byte of the storage, so that it never has
 * to grow, and it is never freed. A line that cannot be written is lost; there is nobody to tell.
 */
void osb_log_fields(enum osb_log_level level, const char *msg, const struct osb_log_field *fields)
{
    if (level < osb_log_level())
        return;
    char storage[LOG_LINE_MAX + 1];
    struct osb_buf line = {.base = storage, .cap = sizeof(storage), .limit = LOG_BODY_MAX};
    char time[OSB_RFC3339_MAX];
    osb_rfc3339_format(time, osb_realtime_ns(), 3);

    osb_buf_append_char(&line, '{');
    bool is_whole = append_string(&line, "time", osb_slice_str(time));
    is_whole &= append_string(&line, "level", osb_slice_str(level_names[level]));
    is_whole &= append_string(&line, "program", osb_slice_str(log_program));
    is_whole &= append_string(&line, "msg", osb_slice_str(msg));
    for (; fields && fields->key; fields++)
        is_whole &= append_field(&line, fields);

    line.limit = LOG_LINE_MAX;
    osb_buf_append_str(&line, is_whole ? LOG_END : LOG_END_SHORT);
    ssize_t n;
    do
        n = write(log_fd, line.base, line.len);
    while (n < 0 && errno == EINTR);
}
