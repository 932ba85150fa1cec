// SPDX-License-Identifier: Apache-2.0
/*
 * WebSocket (RFC 6455), both ends, on a stream that an HTTP upgrade has handed over. Messages come
 * whole, within a limit; frames are checked strictly (masks, lengths, reserved bits, UTF-8, close
 * codes); pings keep the connection and find a peer that is gone. No extensions are offered.
 *
 * Life cycle: a socket is made by osb_ws_accept() or osb_ws_connect(), runs its callbacks from the
 * loop, and ends with on_close, exactly once, after which it is freed. Calls on it are allowed
 * inside its callbacks.
 */
#ifndef OSB_WEBSOCKET_H
#define OSB_WEBSOCKET_H

#include <osb/http_client.h>
#include <osb/http_server.h>

struct osb_ws;

enum osb_ws_type { OSB_WS_TEXT = 1, OSB_WS_BINARY = 2 };

/* Close codes of RFC 6455 section 7.4.1. */
enum {
    OSB_WS_NORMAL = 1000,
    OSB_WS_GOING_AWAY = 1001,
    OSB_WS_PROTOCOL_ERROR = 1002,
    OSB_WS_NO_STATUS = 1005, /* the peer gave none; never sent */
    OSB_WS_ABNORMAL = 1006,  /* no close handshake; never sent */
    OSB_WS_BAD_DATA = 1007,
    OSB_WS_POLICY = 1008,
    OSB_WS_TOO_LARGE = 1009,
    OSB_WS_INTERNAL = 1011,
};

struct osb_ws_options {
    size_t max_message;  /* bytes; 0: 1 MiB; over it 1009 */
    uint64_t ping_ms;    /* 0: 30 s */
    uint64_t timeout_ms; /* nothing received, pongs included; 0: 60 s */
    /* Subprotocols by preference, NULL-terminated, borrowed during the call; NULL for none. */
    const char *const *protocols;
    bool needs_protocol; /* the handshake fails when none is common */
};

struct osb_ws_callbacks {
    /* Client only: the handshake is done. May be NULL. */
    void (*on_open)(struct osb_ws *ws, void *arg);
    /* A whole message; valid during the call. TEXT is well-formed UTF-8. */
    void (*on_message)(struct osb_ws *ws, enum osb_ws_type type, struct osb_slice data, void *arg);
    /* The output queue has become empty. May be NULL. */
    void (*on_drain)(struct osb_ws *ws, void *arg);
    /* Last, once: the peer's close code and reason, or 1006, or what we ended it with. */
    void (*on_close)(struct osb_ws *ws, int code, struct osb_slice reason, void *arg);
};

/*
 * Answers a WebSocket handshake with 101. On failure nothing is answered; ERR has the HTTP status:
 * 400, or 426 for another version (answer that with "Sec-WebSocket-Version: 13"). Headers set with
 * osb_http_reply_header() before are sent. The exchange ends as with osb_http_upgrade().
 */
int osb_ws_accept(struct osb_http_exchange *x, const struct osb_ws_options *options,
                  const struct osb_ws_callbacks *callbacks, void *arg, struct osb_ws **ret,
                  struct osb_err *err);
/*
 * Starts a handshake: REQUEST as for osb_http_call_start(), method and body are ignored. A failed
 * one ends with on_close (1006; its reason says why). CLIENT must live until then.
 */
int osb_ws_connect(struct osb_http_client *client, const struct osb_http_request *request,
                   const struct osb_ws_options *options, const struct osb_ws_callbacks *callbacks,
                   void *arg, struct osb_ws **ret, struct osb_err *err);
/* The subprotocol agreed on, or NULL. Lives with the socket. */
const char *osb_ws_protocol(const struct osb_ws *ws);

/* Queues a message in one frame (copied); returns the bytes queued. Dropped once closing. */
size_t osb_ws_send(struct osb_ws *ws, enum osb_ws_type type, struct osb_slice data);
/* Stops and starts reading; a paused socket is not timed out. */
void osb_ws_pause(struct osb_ws *ws);
void osb_ws_resume(struct osb_ws *ws);
/* Starts the close handshake after what is queued; REASON at most 123 bytes of UTF-8, or NULL. */
void osb_ws_close(struct osb_ws *ws, int code, const char *reason);
/* Ends at once: on_close does not run. Not from inside its own on_close. */
void osb_ws_free(struct osb_ws *ws);

#endif
