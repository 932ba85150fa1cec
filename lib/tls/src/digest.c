// SPDX-License-Identifier: Apache-2.0
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <osb/digest.h>
#include <osb/err.h>

static const unsigned char *bytes(struct osb_slice data)
{
    return (const unsigned char *)(data.data ? data.data : "");
}

void osb_sha1(struct osb_slice data, uint8_t ret[static OSB_SHA1_LEN])
{
    SHA1(bytes(data), data.len, ret);
}

void osb_sha256(struct osb_slice data, uint8_t ret[static OSB_SHA256_LEN])
{
    SHA256(bytes(data), data.len, ret);
}

void osb_hmac_sha256(struct osb_slice key, struct osb_slice data,
                     uint8_t ret[static OSB_SHA256_LEN])
{
    unsigned len = OSB_SHA256_LEN;
    osb_assert(HMAC(EVP_sha256(), bytes(key), (int)key.len, bytes(data), data.len, ret, &len));
}

/* Only a name for OpenSSL's context, so that its headers stay in here. */
static EVP_MD_CTX *context_of(struct osb_sha256_stream *stream)
{
    return (EVP_MD_CTX *)stream;
}

struct osb_sha256_stream *osb_sha256_new(void)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    osb_assert(context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1);
    return (struct osb_sha256_stream *)context;
}

void osb_sha256_update(struct osb_sha256_stream *stream, struct osb_slice data)
{
    osb_assert(EVP_DigestUpdate(context_of(stream), bytes(data), data.len) == 1);
}

void osb_sha256_final(struct osb_sha256_stream *stream, uint8_t ret[static OSB_SHA256_LEN])
{
    osb_assert(EVP_DigestFinal_ex(context_of(stream), ret, NULL) == 1);
    EVP_MD_CTX_free(context_of(stream));
}
