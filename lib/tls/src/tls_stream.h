// SPDX-License-Identifier: Apache-2.0
#ifndef OSB_TLS_TLS_STREAM_H
#define OSB_TLS_TLS_STREAM_H

#include <openssl/ssl.h>
#include <osb/stream.h>

/* Wraps INNER by SSL, which it takes both in every case. */
struct osb_stream *osb_tls_stream_new(SSL *ssl, struct osb_stream *inner);
/* The SSL of a TLS stream, borrowed; NULL for other streams. */
SSL *osb_tls_stream_ssl(const struct osb_stream *stream);

#endif
