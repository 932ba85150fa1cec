// SPDX-License-Identifier: Apache-2.0
/*
 * TLS over the byte-stream interface (OpenSSL): a wrapped stream behaves like the plain one, with
 * reads that need writes and the reverse kept inside. TLS 1.2 and 1.3, ALPN http/1.1.
 *
 * A context outlives the calls that wrap with it, not the streams. All calls are for the loop
 * thread. What a wrapped stream adds to the rules of osb/stream.h:
 *  - a read gives 0 only after the peer's close_notify; a connection that just ends is
 *    -OSB_E_CLOSED, so that nobody can cut a message short unseen;
 *  - after -EAGAIN the next write must begin with the same bytes (they may be sealed already);
 *  - OSB_READABLE may be told once too often: then the read says -EAGAIN;
 *  - osb_stream_shutdown() sends close_notify, osb_stream_close() tries to.
 */
#ifndef OSB_TLS_H
#define OSB_TLS_H

#include <osb/err.h>
#include <osb/stream.h>
#include <stdbool.h>

struct osb_tls_context;

/*
 * A server context. CERTIFICATE and KEY are PEM files. CLIENT_CA (PEM file, or NULL) asks clients
 * for a certificate and verifies one that is given; a bad one fails the handshake.
 */
int osb_tls_server_new(const char *certificate, const char *key, const char *client_ca,
                       struct osb_tls_context **ret, struct osb_err *err);
/* From now on clients without a certificate fail the handshake. Needs CLIENT_CA. */
void osb_tls_server_require_client(struct osb_tls_context *context);
/* Loads the files anew for later connections; on failure the old ones stay. */
int osb_tls_server_reload(struct osb_tls_context *context, struct osb_err *err);
/* A client context. CA is a PEM file, NULL for the system's; CERTIFICATE and KEY may be NULL. */
int osb_tls_client_new(const char *ca, const char *certificate, const char *key,
                       struct osb_tls_context **ret, struct osb_err *err);
/* NULL is allowed. */
void osb_tls_context_free(struct osb_tls_context *context);

/*
 * Wraps INNER, which it takes in every case. The handshake runs inside reads and writes; a failed
 * one shows as -EPROTO. SERVER_NAME (client only; a DNS name or an IP literal) is checked against
 * the peer's certificate.
 */
int osb_tls_server_wrap(struct osb_tls_context *context, struct osb_stream *inner,
                        struct osb_stream **ret, struct osb_err *err);
int osb_tls_client_wrap(struct osb_tls_context *context, struct osb_stream *inner,
                        const char *server_name, struct osb_stream **ret, struct osb_err *err);
/*
 * The same as the wrap_tls hook of an HTTP client's options: CONTEXT is the client context, NULL is
 * returned on failure.
 */
struct osb_stream *osb_tls_client_wrap_hook(struct osb_stream *inner, const char *server_name,
                                            void *context);
/*
 * The verified client certificate's common name as a new string owned by the caller, or NULL
 * without one; valid after the first successful read.
 */
char *osb_tls_peer_name(const struct osb_stream *stream);
/*
 * Likewise its organisation, which Kubernetes reads as a group; the second one takes the INDEX-th
 * (from 0) of several and gives NULL behind the last. NULL also for streams that are not TLS.
 */
char *osb_tls_peer_organization(const struct osb_stream *stream);
char *osb_tls_peer_organization_at(const struct osb_stream *stream, int index);
/*
 * Why the stream failed, for people ("certificate verify failed: certificate has expired");
 * borrowed from the stream, "" while it has not.
 */
const char *osb_tls_failure(const struct osb_stream *stream);

#endif
