// SPDX-License-Identifier: Apache-2.0
#include "stream_bio.h"
#include <pthread.h>

static BIO_METHOD *method;

static int carry_write(BIO *bio, const char *data, int len)
{
    struct osb_tls_carrier *carrier = BIO_get_data(bio);
    ssize_t put = osb_stream_write(carrier->stream, osb_slice(data, (size_t)len));
    BIO_clear_retry_flags(bio);
    if (put >= 0)
        return (int)put;
    if (put == -EAGAIN)
        BIO_set_retry_write(bio);
    else
        carrier->error = (int)put;
    return -1;
}

static int carry_read(BIO *bio, char *buffer, int len)
{
    struct osb_tls_carrier *carrier = BIO_get_data(bio);
    ssize_t got = osb_stream_read(carrier->stream, buffer, (size_t)len);
    BIO_clear_retry_flags(bio);
    if (got > 0)
        return (int)got;
    if (got == 0)
        carrier->is_at_end = true;
    else if (got == -EAGAIN)
        BIO_set_retry_read(bio);
    else
        carrier->error = (int)got;
    return got == 0 ? 0 : -1;
}

static long control(BIO *bio, int command, long number, void *pointer)
{
    const struct osb_tls_carrier *carrier = BIO_get_data(bio);
    (void)number;
    (void)pointer;
    switch (command) {
    case BIO_CTRL_FLUSH: /* nothing is held back */
        return 1;
    case BIO_CTRL_EOF:
        return carrier->is_at_end;
    default:
        return 0;
    }
}

static void make_method(void)
{
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "osb stream");
    osb_assert(method && BIO_meth_set_write(method, carry_write) &&
               BIO_meth_set_read(method, carry_read) && BIO_meth_set_ctrl(method, control));
}

BIO *osb_tls_bio_new(struct osb_tls_carrier *carrier)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_method);
    BIO *bio = BIO_new(method);
    osb_assert(bio);
    BIO_set_data(bio, carrier);
    BIO_set_init(bio, 1);
    return bio;
}
