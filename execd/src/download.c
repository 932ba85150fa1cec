// SPDX-License-Identifier: Apache-2.0
/* GET /files/download (execd contract 9.6), whole or by a byte range; lines are in line_reader.c.
 */
#include "byte_range.h"
#include "execd.h"
#include "file_date.h"
#include "line_reader.h"
#include "path.h"
#include "reply.h"

#include <fcntl.h>
#include <osb/cleanup.h>
#include <osb/text.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char binary_type[] = "application/octet-stream";

static bool is_plain(const char *name)
{
    for (; *name; name++)
        if (*name < ' ' || *name == 0x7f || (unsigned char)*name >= 0x80 || *name == '"' ||
            *name == '\\' || *name == '%')
            return false;
    return true;
}

/* Names that a quoted string cannot hold as they are go percent-encoded (RFC 6266, RFC 8187). */
static void set_disposition(struct osb_http_exchange *x, const char *path)
{
    _cleanup_buf_ struct osb_buf encoded = {0};
    const char *name = path_base(path);

    if (is_plain(name)) {
        osb_http_reply_headerf(x, "Content-Disposition", "attachment; filename=\"%s\"", name);
        return;
    }
    osb_percent_encode(&encoded, osb_slice_str(name));
    const char *text = osb_buf_cstr(&encoded);
    osb_http_reply_headerf(x, "Content-Disposition",
                           "attachment; filename=\"%s\"; filename*=UTF-8''%s", text, text);
}

/* Opens a regular file; a FIFO must not hold the loop. */
static int open_regular(const char *path, struct stat *ret_st, struct osb_err *err)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0 || fstat(fd, ret_st) < 0)
        return osb_fail(err, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISREG(ret_st->st_mode))
        return osb_fail(err, -OSB_E_INVALID, "%s is not a regular file", path);
    return osb_take_fd(&fd);
}

static bool is_not_modified(struct osb_http_exchange *x, const struct stat *st)
{
    struct osb_slice since;
    time_t time = 0;

    return osb_http_header(x, "If-Modified-Since", &since) && file_date_parse(since, &time) &&
           st->st_mtim.tv_sec <= time;
}

static void set_file_headers(struct osb_http_exchange *x, const char *path, const struct stat *st)
{
    char date[FILE_DATE_MAX];

    osb_http_reply_header(x, "Accept-Ranges", OSB_SLICE("bytes"));
    osb_http_reply_header(x, "Last-Modified",
                          osb_slice_str(file_date_format(st->st_mtim.tv_sec, date)));
    set_disposition(x, path);
}

/* Takes FD. */
static void send_range(struct osb_http_exchange *x, const char *path, int fd, const struct stat *st,
                       struct osb_slice range_text)
{
    struct byte_range range;

    switch (byte_range_parse(range_text, st->st_size, &range)) {
    case RANGE_OK:
        set_file_headers(x, path, st);
        osb_http_reply_headerf(x, "Content-Range", "bytes %lld-%lld/%lld", (long long)range.offset,
                               (long long)(range.offset + range.len - 1), (long long)st->st_size);
        osb_http_reply_file(x, 206, binary_type, fd, range.offset, range.len);
        return;
    case RANGE_MALFORMED:
        reply_error(x, 416, "UNKNOWN", "malformed Range");
        break;
    case RANGE_UNSATISFIABLE:
        osb_http_reply_headerf(x, "Content-Range", "bytes */%lld", (long long)st->st_size);
        reply_error(x, 416, "UNKNOWN", "the file has %lld bytes", (long long)st->st_size);
        break;
    }
    close(fd);
}

static void get_download(struct osb_http_exchange *x, const struct osb_http_params *params,
                         void *arg)
{
    struct osb_slice query = OSB_SLICE_NULL;
    struct osb_slice range = OSB_SLICE_NULL;
    struct osb_err err = {0};
    struct line_window window;
    struct stat st = {0};
    char *path = NULL;

    (void)params;
    (void)arg;
    if (!osb_http_query(x, "path", &query) || query.len == 0) {
        reply_error(x, 400, "MISSING_QUERY", "the query parameter path is missing");
        return;
    }
    if (line_window_parse(x, &window, &err) < 0) {
        reply_bad_request(x, &err);
        return;
    }
    bool has_range = osb_http_header(x, "Range", &range);
    if (has_range && window.is_set) {
        reply_error(x, 400, "INVALID_REQUEST_BODY", "offset and limit exclude a Range");
        return;
    }
    int fd = path_resolve(osb_http_arena(x), query, &path, &err);
    if (fd == 0)
        fd = open_regular(path, &st, &err);
    if (fd == -OSB_E_INVALID)
        reply_bad_request(x, &err);
    else if (fd < 0)
        reply_file_error(x, fd, err.message);
    else if (window.is_set)
        line_reader_start(x, fd, &window);
    else if (has_range)
        send_range(x, path, fd, &st, range);
    else if (is_not_modified(x, &st)) {
        close(fd);
        osb_http_reply(x, 304, NULL, OSB_SLICE_NULL);
    } else {
        set_file_headers(x, path, &st);
        osb_http_reply_file(x, 200, binary_type, fd, 0, st.st_size);
    }
}

void download_routes(struct execd *execd)
{
    osb_http_route(execd->router, "GET", "/files/download", get_download, execd);
}
