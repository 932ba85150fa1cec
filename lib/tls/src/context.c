// SPDX-License-Identifier: Apache-2.0
#include "context.h"
#include "handles.h"
#include "openssl_err.h"
#include <openssl/err.h>
#include <osb/alloc.h>
#include <string.h>

/* Wire form of RFC 7301: length and name. */
static const unsigned char alpn[] = "\x08http/1.1";

static const unsigned char session_context[] = "opensandbox";

/* A client that offers only what we do not speak is served without ALPN, not refused. */
static int select_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                       const unsigned char *in, unsigned in_len, void *arg)
{
    unsigned char *selected;
    (void)ssl;
    (void)arg;
    if (SSL_select_next_proto(&selected, out_len, alpn, sizeof(alpn) - 1, in, in_len) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = selected;
    return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *new_ctx(const SSL_METHOD *method)
{
    SSL_CTX *ctx = SSL_CTX_new(method);
    osb_assert(ctx);
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    /* Memory of idle connections goes back; one call reads header and body of records. */
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(ctx, 1);
    return ctx;
}

static int load_pair(SSL_CTX *ctx, const char *certificate, const char *key, struct osb_err *err)
{
    if (SSL_CTX_use_certificate_chain_file(ctx, certificate) != 1)
        return osb_openssl_fail(err, -OSB_E_INVALID, certificate);
    if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(ctx) != 1)
        return osb_openssl_fail(err, -OSB_E_INVALID, key);
    return 0;
}

static int load_client_ca(SSL_CTX *ctx, const char *ca, struct osb_err *err)
{
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(ca); /* shown to clients, to choose by */
    if (!names || SSL_CTX_load_verify_file(ctx, ca) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        return osb_openssl_fail(err, -OSB_E_INVALID, ca);
    }
    SSL_CTX_set_client_CA_list(ctx, names);
    SSL_CTX_set_session_id_context(ctx, session_context, sizeof(session_context) - 1);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    return 0;
}

static int build_server(const struct osb_tls_context *context, SSL_CTX **ret, struct osb_err *err)
{
    _cleanup_ssl_ctx_ SSL_CTX *ctx = new_ctx(TLS_server_method());
    int r = load_pair(ctx, context->certificate, context->key, err);
    if (r == 0 && context->ca)
        r = load_client_ca(ctx, context->ca, err);
    if (r < 0)
        return r;
    SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_alpn_select_cb(ctx, select_alpn, NULL);
    *ret = osb_take_ptr(ctx);
    return 0;
}

static int build_client(const struct osb_tls_context *context, SSL_CTX **ret, struct osb_err *err)
{
    _cleanup_ssl_ctx_ SSL_CTX *ctx = new_ctx(TLS_client_method());
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    if (context->ca && SSL_CTX_load_verify_file(ctx, context->ca) != 1)
        return osb_openssl_fail(err, -OSB_E_INVALID, context->ca);
    if (!context->ca && SSL_CTX_set_default_verify_paths(ctx) != 1)
        return osb_openssl_fail(err, -OSB_E_INVALID, "the system's certificates");
    if (SSL_CTX_set_alpn_protos(ctx, alpn, sizeof(alpn) - 1) != 0) /* 0 is success, here alone */
        return osb_openssl_fail(err, -OSB_E_INTERNAL, "ALPN");
    int r = context->certificate ? load_pair(ctx, context->certificate, context->key, err) : 0;
    if (r < 0)
        return r;
    *ret = osb_take_ptr(ctx);
    return 0;
}

static struct osb_tls_context *new_context(const char *certificate, const char *key, const char *ca)
{
    struct osb_tls_context *context = osb_new(struct osb_tls_context);
    context->certificate = osb_strdup(certificate);
    context->key = osb_strdup(key);
    context->ca = osb_strdup(ca);
    ERR_clear_error();
    return context;
}

int osb_tls_server_new(const char *certificate, const char *key, const char *client_ca,
                       struct osb_tls_context **ret, struct osb_err *err)
{
    struct osb_tls_context *context = new_context(certificate, key, client_ca);
    int r = build_server(context, &context->ctx, err);
    if (r < 0) {
        osb_tls_context_free(context);
        return osb_wrap(err, r, "TLS of the server");
    }
    *ret = context;
    return 0;
}

void osb_tls_server_require_client(struct osb_tls_context *context)
{
    osb_assert(context->ca);
    context->requires_client = true;
}

int osb_tls_server_reload(struct osb_tls_context *context, struct osb_err *err)
{
    SSL_CTX *fresh;
    int r = build_server(context, &fresh, err);
    if (r < 0)
        return osb_wrap(err, r, "TLS of the server");
    SSL_CTX_free(context->ctx);
    context->ctx = fresh;
    return 0;
}

int osb_tls_client_new(const char *ca, const char *certificate, const char *key,
                       struct osb_tls_context **ret, struct osb_err *err)
{
    osb_assert(!certificate == !key);
    struct osb_tls_context *context = new_context(certificate, key, ca);
    int r = build_client(context, &context->ctx, err);
    if (r < 0) {
        osb_tls_context_free(context);
        return osb_wrap(err, r, "TLS of the client");
    }
    *ret = context;
    return 0;
}

void osb_tls_context_free(struct osb_tls_context *context)
{
    if (!context)
        return;
    SSL_CTX_free(context->ctx);
    free(context->certificate);
    free(context->key);
    free(context->ca);
    free(context);
}
