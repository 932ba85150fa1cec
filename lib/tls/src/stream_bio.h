// SPDX-License-Identifier: Apache-2.0
/* What OpenSSL reads from and writes to: the stream below. */
#ifndef OSB_TLS_STREAM_BIO_H
#define OSB_TLS_STREAM_BIO_H

#include <openssl/bio.h>
#include <osb/stream.h>

struct osb_tls_carrier {
    struct osb_stream *stream;
    int error; /* the stream's last one other than -EAGAIN */
    bool is_at_end;
};

/* A BIO over CARRIER, which is borrowed. */
BIO *osb_tls_bio_new(struct osb_tls_carrier *carrier);

#endif
