// SPDX-License-Identifier: Apache-2.0
#include "rest_talk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

void talk_send_bare(struct talk *talk, struct rest *rest, const char *method, const char *path,
                    const char *headers, const char *body)
{
    int fds[2];
    struct osb_stream *stream = NULL;
    _cleanup_buf_ struct osb_buf text = {0};
    *talk = (struct talk){.fd = -1};
    osb_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    talk->fd = fds[0];
    osb_assert(fcntl(talk->fd, F_SETFL, O_NONBLOCK) == 0);
    osb_assert(osb_stream_from_fd(rest->op->loop, fds[1], &stream, NULL) == 0);
    osb_buf_appendf(&text, "%s %s HTTP/1.1\r\nHost: h\r\n%s", method, path, headers);
    if (body)
        osb_buf_appendf(&text, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                        strlen(body));
    osb_buf_appendf(&text, "\r\n%s", body ? body : "");
    osb_assert(write(talk->fd, osb_buf_cstr(&text), text.len) == (ssize_t)text.len);
    osb_http_server_serve(rest->server, stream, "test");
}

void talk_send(struct talk *talk, struct rest *rest, const char *method, const char *path,
               const char *headers, const char *body)
{
    _cleanup_buf_ struct osb_buf text = {0};
    osb_buf_appendf(&text, "OPEN-SANDBOX-API-KEY: " TALK_KEY "\r\n%s", headers);
    talk_send_bare(talk, rest, method, path, osb_buf_cstr(&text), body);
}

bool talk_read(struct talk *talk)
{
    struct osb_http_head head;
    char *room;
    while (talk->fd >= 0 && (room = osb_buf_reserve(&talk->in, 4096))) {
        ssize_t got = read(talk->fd, room, 4096);
        if (got <= 0)
            break;
        osb_buf_commit(&talk->in, (size_t)got);
    }
    struct osb_slice text = osb_buf_slice(&talk->in);
    ptrdiff_t len = osb_http_head_parse(text, true, &head, NULL);
    if (talk->status || len <= 0 || text.len < (size_t)len + head.content_length)
        return talk->status;
    talk->status = head.status;
    if (head.content_length > 0)
        osb_assert(osb_json_parse(osb_slice_from(text, (size_t)len), &talk->body, NULL) == 0);
    return true;
}

const char *talk_text(const struct talk *talk, const char *path)
{
    const char *text = osb_json_cstr(osb_json_get_path(talk->body, path));
    return text ? text : "";
}

void talk_hang_up(struct talk *talk)
{
    close(talk->fd);
    talk->fd = -1;
}

void talk_done(struct talk *talk)
{
    if (talk->fd >= 0)
        close(talk->fd);
    osb_buf_done(&talk->in);
    if (talk->body)
        osb_json_free(talk->body);
    *talk = (struct talk){.fd = -1};
}
