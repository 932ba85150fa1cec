// SPDX-License-Identifier: Apache-2.0
/* Starting TLS on a stream, and what the peer's certificate says. */
#include "context.h"
#include "handles.h"
#include "openssl_err.h"
#include "tls_stream.h"
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <osb/alloc.h>
#include <string.h>

int osb_tls_server_wrap(struct osb_tls_context *context, struct osb_stream *inner,
                        struct osb_stream **ret, struct osb_err *err)
{
    SSL *ssl = SSL_new(context->ctx);
    if (!ssl) {
        osb_stream_close(inner);
        return osb_openssl_fail(err, -ENOMEM, "TLS of the server");
    }
    if (context->requires_client)
        SSL_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_set_accept_state(ssl);
    *ret = osb_tls_stream_new(ssl, inner);
    return 0;
}

static bool is_ip_address(const char *name)
{
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

/* An IP literal is checked against the address entries, and is not sent (RFC 6066 section 3). */
static bool set_server_name(SSL *ssl, const char *name)
{
    if (is_ip_address(name))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, name) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1;
}

int osb_tls_client_wrap(struct osb_tls_context *context, struct osb_stream *inner,
                        const char *server_name, struct osb_stream **ret, struct osb_err *err)
{
    osb_assert(server_name);
    SSL *ssl = SSL_new(context->ctx);
    if (!ssl || *server_name == '\0' || !set_server_name(ssl, server_name)) {
        SSL_free(ssl);
        osb_stream_close(inner);
        ERR_clear_error();
        return osb_fail(err, -OSB_E_INVALID, "\"%s\" cannot be a server's name", server_name);
    }
    SSL_set_connect_state(ssl);
    *ret = osb_tls_stream_new(ssl, inner);
    return 0;
}

/* ---- the peer ---- */

/* The INDEX-th entry NID of the subject; NULL when there is none, or when it hides a NUL. */
static char *subject_entry(X509 *certificate, int nid, int index)
{
    const X509_NAME *subject = X509_get_subject_name(certificate);
    unsigned char *text = NULL;
    int at = -1;
    for (int i = 0; i <= index; i++) {
        at = X509_NAME_get_index_by_NID(subject, nid, at);
        if (at < 0)
            return NULL;
    }
    int len =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    char *copy = len < 0 || memchr(text, '\0', (size_t)len)
                     ? NULL
                     : osb_strndup((const char *)text, (size_t)len);
    if (len >= 0)
        OPENSSL_free(text);
    return copy;
}

static char *peer_entry(const struct osb_stream *stream, int nid, int index)
{
    SSL *ssl = osb_tls_stream_ssl(stream);
    if (!ssl || !SSL_is_init_finished(ssl) || SSL_get_verify_result(ssl) != X509_V_OK)
        return NULL;
    _cleanup_x509_ X509 *certificate = SSL_get1_peer_certificate(ssl);
    return certificate ? subject_entry(certificate, nid, index) : NULL;
}

char *osb_tls_peer_name(const struct osb_stream *stream)
{
    return peer_entry(stream, NID_commonName, 0);
}

char *osb_tls_peer_organization(const struct osb_stream *stream)
{
    return peer_entry(stream, NID_organizationName, 0);
}

char *osb_tls_peer_organization_at(const struct osb_stream *stream, int index)
{
    return index < 0 ? NULL : peer_entry(stream, NID_organizationName, index);
}

struct osb_stream *osb_tls_client_wrap_hook(struct osb_stream *inner, const char *server_name,
                                            void *context)
{
    struct osb_stream *stream = NULL;
    return osb_tls_client_wrap(context, inner, server_name, &stream, NULL) < 0 ? NULL : stream;
}
