// SPDX-License-Identifier: Apache-2.0
/*
 * TLS over the byte-stream interface (OpenSSL): a wrapped stream behaves like the plain one, with
 * reads that need writes and the reverse kept inside. TLS 1.2 and 1.3, ALPN http/1.1.
 */
#ifndef OSB_TLS_H
#define OSB_TLS_H

#include <osb/err.h>
#include <osb/stream.h>
#include <stdbool.h>

struct osb_tls_context;

/*
 * A server context. CERTIFICATE and KEY are PEM files. CLIENT_CA (PEM file, or NULL) asks clients
 * for a certificate and verifies one that is given.
 */
int osb_tls_server_new(const char *certificate, const char *key, const char *client_ca,
                       struct osb_tls_context **ret, struct osb_err *err);
/* Loads the files anew for later connections; on failure the old ones stay. */
int osb_tls_server_reload(struct osb_tls_context *context, struct osb_err *err);
/* A client context. CA is a PEM file, NULL for the system's; CERTIFICATE and KEY may be NULL. */
int osb_tls_client_new(const char *ca, const char *certificate, const char *key,
                       struct osb_tls_context **ret, struct osb_err *err);
void osb_tls_context_free(struct osb_tls_context *context);

/*
 * Wraps INNER, which it takes in every case. The handshake runs inside reads and writes; a failed
 * one shows as -EPROTO. SERVER_NAME (client only) is checked against the peer's certificate.
 */
int osb_tls_server_wrap(struct osb_tls_context *context, struct osb_stream *inner,
                        struct osb_stream **ret, struct osb_err *err);
int osb_tls_client_wrap(struct osb_tls_context *context, struct osb_stream *inner,
                        const char *server_name, struct osb_stream **ret, struct osb_err *err);
/*
 * The verified client certificate's common name as a new string owned by the caller, or NULL
 * without one; valid after the first successful read.
 */
char *osb_tls_peer_name(const struct osb_stream *stream);
/* Its organisation, likewise; NULL when it has none. */
char *osb_tls_peer_organization(const struct osb_stream *stream);

#endif
