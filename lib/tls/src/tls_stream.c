// SPDX-License-Identifier: Apache-2.0
/*
 * A stream whose bytes are TLS records in the stream below. Three things make readiness exact:
 *
 *  - A read may wait for the peer to take something and a write for it to send something (in the
 *    handshake); read_needs and write_needs say what to wait for below.
 *  - OpenSSL reads ahead: there may be plaintext or whole records in its buffers while nothing
 *    arrives below. Then a deferred call tells the owner.
 *  - A record that was sealed but did not fit below has to go out unchanged. The caller was told
 *    -EAGAIN, so the record is kept, and once it is out its bytes are counted as written when the
 *    caller offers them again.
 */
#include "tls_stream.h"
#include "openssl_err.h"
#include "stream_bio.h"
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <osb/alloc.h>
#include <osb/tls.h>
#include <stdio.h>
#include <string.h>

enum {
    RECORD_MAX = 16 * 1024, /* plaintext of one record (RFC 8446 section 5.1) */
    REASON_MAX = 160,
};

struct tls_stream {
    struct osb_stream base;
    struct osb_tls_carrier inner;
    SSL *ssl;
    int read_needs;       /* events below that let a read go on */
    int write_needs;      /* and a write */
    bool has_started;     /* OpenSSL was called: a handshake is under way, or done */
    bool is_read_blocked; /* the last read used up what OpenSSL has */
    bool is_at_end;       /* the peer's close_notify was read */
    bool is_shutting;     /* our close_notify waits for room below */
    bool is_shut;         /* it was sent */
    int failure;          /* the first error; every later call gives it again */
    char reason[REASON_MAX];
    char *sealed; /* plaintext of a record that OpenSSL has sealed but not got rid of */
    size_t sealed_len;
    size_t sent_ahead; /* bytes sent of which the caller does not know */
    struct osb_defer notify;
};

static const struct osb_stream_ops tls_ops;

static struct tls_stream *downcast(struct osb_stream *stream)
{
    return osb_container_of(stream, struct tls_stream, base);
}

/* ---- readiness ---- */

/* What the owner can be told without anything happening below. */
static int ready_events(const struct tls_stream *self)
{
    int ready = 0;
    if (self->failure)
        return OSB_READABLE | OSB_WRITABLE;
    if (!self->has_started || self->is_at_end)
        ready |= OSB_READABLE; /* somebody must begin a handshake; an end stays readable */
    if (!self->is_read_blocked && SSL_has_pending(self->ssl))
        ready |= OSB_READABLE;
    return ready;
}

/* To be called after everything that changes what is needed or wanted. */
static int rearm(struct tls_stream *self)
{
    int events = 0;
    if (self->base.events & OSB_READABLE)
        events |= self->read_needs;
    if (self->base.events & OSB_WRITABLE)
        events |= self->write_needs;
    if (self->is_shutting)
        events |= OSB_WRITABLE;
    if (ready_events(self) & self->base.events)
        osb_defer_post(&self->notify);
    return osb_stream_want(self->inner.stream, events);
}

static void on_notify(struct osb_defer *defer)
{
    struct tls_stream *self = osb_container_of(defer, struct tls_stream, notify);
    int ready = ready_events(self) & self->base.events;
    if (ready == 0)
        return;
    osb_defer_post(defer); /* level-triggered: look again in the next turn. A close cancels it. */
    self->base.fn(&self->base, ready, self->base.arg);
}

/* ---- results of OpenSSL ---- */

static int fail_stream(struct tls_stream *self, int code)
{
    long verified = SSL_get_verify_result(self->ssl);
    self->failure = code;
    if (code == -OSB_E_CLOSED)
        snprintf(self->reason, sizeof(self->reason), "the peer closed without saying so");
    else if (verified != X509_V_OK)
        snprintf(self->reason, sizeof(self->reason), "certificate verify failed: %s",
                 X509_verify_cert_error_string(verified));
    else if (self->inner.error)
        snprintf(self->reason, sizeof(self->reason), "%s", osb_err_info(code)->name);
    else
        snprintf(self->reason, sizeof(self->reason), "%s", osb_openssl_reason());
    ERR_clear_error();
    return code;
}

static int fail_protocol(struct tls_stream *self)
{
    if (self->inner.error)
        return fail_stream(self, self->inner.error);
    if (self->inner.is_at_end)
        return fail_stream(self, -OSB_E_CLOSED);
    return fail_stream(self, -EPROTO);
}

/* The code for RESULT of an SSL call that did not succeed; *NEEDS is what it waits for. */
static int classify(struct tls_stream *self, int result, int *needs)
{
    switch (SSL_get_error(self->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        *needs = OSB_READABLE;
        return -EAGAIN;
    case SSL_ERROR_WANT_WRITE:
        *needs = OSB_WRITABLE;
        return -EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        return fail_protocol(self);
    }
}

/* ---- reading ---- */

static ssize_t tls_read(struct osb_stream *stream, void *buffer, size_t len)
{
    struct tls_stream *self = downcast(stream);
    if (self->failure)
        return self->failure;
    if (len == 0)
        return 0;
    ERR_clear_error();
    self->has_started = true;
    int got = SSL_read(self->ssl, buffer, len < INT_MAX ? (int)len : INT_MAX);
    if (got > 0) {
        self->read_needs = OSB_READABLE;
        self->is_read_blocked = false;
    } else {
        got = classify(self, got, &self->read_needs);
        self->is_read_blocked = got == -EAGAIN;
        self->is_at_end = got == 0;
    }
    rearm(self);
    return got;
}

/* ---- writing ---- */

static void forget_sealed(struct tls_stream *self)
{
    if (self->sealed)
        OPENSSL_cleanse(self->sealed, self->sealed_len);
    free(self->sealed);
    self->sealed = NULL;
    self->sealed_len = 0;
}

static void keep_sealed(struct tls_stream *self, const char *data, size_t len)
{
    self->sealed = osb_calloc(1, len);
    self->sealed_len = len;
    memcpy(self->sealed, data, len);
}

/* Plaintext bytes sent, or a code. LEN is at most RECORD_MAX. */
static int seal(struct tls_stream *self, const char *data, size_t len)
{
    ERR_clear_error();
    self->has_started = true;
    int put = SSL_write(self->ssl, data, (int)len);
    if (put > 0) {
        self->write_needs = OSB_WRITABLE;
        return put;
    }
    int r = classify(self, put, &self->write_needs);
    return r == 0 ? -EPIPE : r;
}

static int push_sealed(struct tls_stream *self)
{
    if (!self->sealed)
        return 0;
    int put = seal(self, self->sealed, self->sealed_len);
    if (put == -EAGAIN)
        return put;
    forget_sealed(self);
    if (put < 0)
        return put;
    self->sent_ahead += (size_t)put;
    return 0;
}

/* The next piece of at most a record behind SKIP bytes: in place where one vector fills it. */
static struct osb_slice gather(const struct iovec *iov, int count, size_t skip,
                               char scratch[static RECORD_MAX])
{
    size_t len = 0;
    while (count > 0 && skip >= iov->iov_len) {
        skip -= iov->iov_len;
        iov++;
        count--;
    }
    if (count > 0 && (count == 1 || iov->iov_len - skip >= RECORD_MAX))
        return osb_slice_first(osb_slice((const char *)iov->iov_base + skip, iov->iov_len - skip),
                               RECORD_MAX);
    for (; count > 0 && len < RECORD_MAX; iov++, count--, skip = 0) {
        size_t n = iov->iov_len - skip;
        if (n > RECORD_MAX - len)
            n = RECORD_MAX - len;
        if (n > 0)
            memcpy(scratch + len, (const char *)iov->iov_base + skip, n);
        len += n;
    }
    return osb_slice(scratch, len);
}

static ssize_t seal_all(struct tls_stream *self, const struct iovec *iov, int count)
{
    char scratch[RECORD_MAX];
    size_t total = 0;
    for (;;) {
        struct osb_slice piece = gather(iov, count, total, scratch);
        if (piece.len == 0)
            return (ssize_t)total;
        int put = seal(self, piece.data, piece.len);
        if (put == -EAGAIN && self->write_needs == OSB_WRITABLE && SSL_is_init_finished(self->ssl))
            keep_sealed(self, piece.data, piece.len);
        if (put < 0)
            return total > 0 ? (ssize_t)total : put;
        total += (size_t)put;
    }
}

static size_t length_of(const struct iovec *iov, int count)
{
    size_t total = 0;
    for (int i = 0; i < count; i++)
        total += iov[i].iov_len;
    return total;
}

static ssize_t tls_writev(struct osb_stream *stream, const struct iovec *iov, int count)
{
    struct tls_stream *self = downcast(stream);
    if (self->failure)
        return self->failure;
    if (self->is_shutting || self->is_shut)
        return -EPIPE;
    ssize_t r = push_sealed(self);
    if (r == 0 && self->sent_ahead > 0) {
        size_t offered = length_of(iov, count);
        r = (ssize_t)(offered < self->sent_ahead ? offered : self->sent_ahead);
        self->sent_ahead -= (size_t)r;
    } else if (r == 0) {
        r = seal_all(self, iov, count);
    }
    rearm(self);
    return r;
}

/* ---- the end ---- */

static int continue_shutdown(struct tls_stream *self)
{
    int needs;
    int r = push_sealed(self);
    if (r == 0) {
        ERR_clear_error();
        int sent = SSL_shutdown(self->ssl);
        r = sent >= 0 ? 0 : classify(self, sent, &needs);
    }
    if (r == -EAGAIN)
        return 0;
    self->is_shutting = false;
    self->is_shut = true;
    return r < 0 ? r : osb_stream_shutdown(self->inner.stream);
}

static int tls_shutdown(struct osb_stream *stream)
{
    struct tls_stream *self = downcast(stream);
    if (self->failure)
        return self->failure;
    if (self->is_shutting || self->is_shut)
        return 0;
    if (!SSL_is_init_finished(self->ssl)) { /* OpenSSL has nothing to say yet */
        self->is_shut = true;
        return osb_stream_shutdown(self->inner.stream);
    }
    self->is_shutting = true;
    int r = continue_shutdown(self);
    rearm(self);
    return r;
}

static void tls_close(struct osb_stream *stream)
{
    struct tls_stream *self = downcast(stream);
    osb_defer_cancel(&self->notify);
    if (!self->failure && !self->is_shut && !self->sealed && SSL_is_init_finished(self->ssl))
        SSL_shutdown(self->ssl); /* if there is room below: we cannot wait */
    ERR_clear_error();
    SSL_free(self->ssl);
    osb_stream_close(self->inner.stream);
    forget_sealed(self);
    free(self);
}

static int tls_want(struct osb_stream *stream, int events)
{
    struct tls_stream *self = downcast(stream);
    self->base.events = events;
    return rearm(self);
}

static const struct osb_stream_ops tls_ops = {
    .read = tls_read,
    .writev = tls_writev,
    .want = tls_want,
    .shutdown = tls_shutdown,
    .close = tls_close,
};

/* ---- the stream below ---- */

static void on_inner(struct osb_stream *inner, int events, void *arg)
{
    struct tls_stream *self = arg;
    int ready = 0;
    (void)inner;
    if (self->is_shutting && (events & OSB_WRITABLE))
        continue_shutdown(self);
    self->is_read_blocked = self->is_read_blocked && !(events & self->read_needs);
    if (events & self->read_needs)
        ready |= OSB_READABLE;
    if (events & self->write_needs)
        ready |= OSB_WRITABLE;
    ready &= self->base.events;
    if (ready)
        self->base.fn(&self->base, ready, self->base.arg);
    else
        rearm(self);
}

struct osb_stream *osb_tls_stream_new(SSL *ssl, struct osb_stream *inner)
{
    struct tls_stream *self = osb_new(struct tls_stream);
    self->base.ops = &tls_ops;
    self->base.loop = inner->loop;
    self->inner.stream = inner;
    self->ssl = ssl;
    self->read_needs = OSB_READABLE;
    self->write_needs = OSB_WRITABLE;
    osb_defer_init(&self->notify, inner->loop, on_notify, NULL);
    BIO *bio = osb_tls_bio_new(&self->inner);
    SSL_set_bio(ssl, bio, bio);
    osb_stream_want(inner, 0);
    osb_stream_set_callback(inner, on_inner, self);
    return &self->base;
}

SSL *osb_tls_stream_ssl(const struct osb_stream *stream)
{
    return stream->ops == &tls_ops ? osb_container_of(stream, const struct tls_stream, base)->ssl
                                   : NULL;
}

const char *osb_tls_failure(const struct osb_stream *stream)
{
    if (stream->ops != &tls_ops)
        return "";
    return osb_container_of(stream, const struct tls_stream, base)->reason;
}
