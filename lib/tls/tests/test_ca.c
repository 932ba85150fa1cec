// SPDX-License-Identifier: Apache-2.0
#include "cert.h"
#include "handles.h"
#include "pem.h"
#include "support.h"
#include <openssl/x509v3.h>

enum { DAY_S = 24 * 60 * 60 };

static const char *const dns_names[] = {"localhost", "api.example", NULL};
static const char *const ip_addresses[] = {"127.0.0.1", "::1", NULL};

static const struct osb_leaf server_leaf = {
    .common_name = "api", .dns_names = dns_names, .ip_addresses = ip_addresses, .is_server = true};

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static ino_t inode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

static int issue(const struct osb_leaf *leaf)
{
    return osb_ca_issue(folder, leaf, in_folder("leaf.crt"), in_folder("leaf.key"), NULL);
}

/* True when a second look at the pair makes a new one. */
static bool is_renewed(const struct osb_leaf *leaf)
{
    /* An open file keeps its inode number from being used again. */
    FILE *old = fopen(in_folder("leaf.crt"), "r");
    ino_t before = inode_of(in_folder("leaf.crt"));
    assert_non_null(old);
    assert_int_equal(issue(leaf), 0);
    fclose(old);
    return inode_of(in_folder("leaf.crt")) != before;
}

static void a_ca_is_made_once_and_its_key_is_private(void **state)
{
    (void)state;
    mode_t old = umask(0);
    must(osb_ca_ensure(folder, "test CA", &err));
    umask(old);
    assert_int_equal(mode_of(in_folder("ca.key")), 0600);
    assert_int_equal(mode_of(in_folder("ca.crt")), 0644);
    FILE *held = fopen(in_folder("ca.crt"), "r");
    ino_t first = inode_of(in_folder("ca.crt"));
    must(osb_ca_ensure(folder, "test CA", &err));
    assert_int_equal(inode_of(in_folder("ca.crt")), first);
    unlink(in_folder("ca.key"));
    must(osb_ca_ensure(folder, "test CA", &err));
    assert_int_not_equal(inode_of(in_folder("ca.crt")), first);
    fclose(held);
    int64_t end = osb_certificate_not_after(in_folder("ca.crt"), NULL);
    assert_in_range(end, time(NULL) + (OSB_CA_DAYS - 1) * (int64_t)DAY_S,
                    time(NULL) + (OSB_CA_DAYS + 1) * (int64_t)DAY_S);
}

static void a_ca_that_has_ended_is_replaced(void **state)
{
    _cleanup_pkey_ EVP_PKEY *key = NULL;
    _cleanup_x509_ X509 *ca = NULL;
    time_t now = time(NULL);
    (void)state;
    must(osb_cert_new_key(&key, &err));
    must(osb_cert_new_ca("old", key, (struct osb_cert_life){now - DAY_S, now - 1}, &ca, &err));
    must(osb_pem_write_certificate(in_folder("ca.crt"), ca, &err));
    must(osb_pem_write_key(in_folder("ca.key"), key, &err));
    must(osb_ca_ensure(folder, "new", &err));
    assert_true(osb_certificate_not_after(in_folder("ca.crt"), NULL) > now);
}

static void a_file_that_cannot_be_read_is_an_error_and_nothing_is_overwritten(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_folder("ca.key"), 0700), 0);
    _cleanup_pkey_ EVP_PKEY *key = NULL;
    _cleanup_x509_ X509 *ca = NULL;
    must(osb_cert_new_key(&key, &err));
    must(osb_cert_new_ca("mine", key, osb_cert_life(10), &ca, &err));
    must(osb_pem_write_certificate(in_folder("ca.crt"), ca, &err));
    ino_t before = inode_of(in_folder("ca.crt"));
    assert_true(osb_ca_ensure(folder, "test CA", &err) < 0);
    assert_int_equal(inode_of(in_folder("ca.crt")), before);
}

static void a_leaf_says_what_it_was_asked_to_say(void **state)
{
    _cleanup_x509_ X509 *leaf = NULL;
    _cleanup_x509_ X509 *ca = NULL;
    (void)state;
    must(osb_ca_ensure(folder, "test CA", &err));
    assert_int_equal(issue(&server_leaf), 0);
    assert_int_equal(mode_of(in_folder("leaf.key")), 0600);
    must(osb_pem_read_certificate(in_folder("leaf.crt"), &leaf, &err));
    must(osb_pem_read_certificate(in_folder("ca.crt"), &ca, &err));
    assert_int_equal(X509_check_host(leaf, "api.example", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(leaf, "other.example", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ip_asc(leaf, "::1", 0), 1);
    assert_int_equal(X509_check_ip_asc(leaf, "127.0.0.2", 0), 0);
    assert_int_equal(X509_check_issued(ca, leaf), X509_V_OK);
    assert_int_equal(X509_verify(leaf, X509_get0_pubkey(ca)), 1);
    assert_int_equal(X509_check_purpose(leaf, X509_PURPOSE_SSL_SERVER, 0), 1);
    assert_int_equal(X509_check_purpose(leaf, X509_PURPOSE_SSL_CLIENT, 0), 0);
    assert_int_equal(X509_check_ca(leaf), 0);
    assert_int_equal(X509_check_ca(ca), 1);
}

static void a_good_leaf_is_kept_and_another_wish_makes_a_new_one(void **state)
{
    static const char *const other_names[] = {"localhost", NULL};
    struct osb_leaf leaf = server_leaf;
    (void)state;
    must(osb_ca_ensure(folder, "test CA", &err));
    assert_int_equal(issue(&leaf), 0);
    assert_false(is_renewed(&leaf));
    leaf.dns_names = other_names;
    assert_true(is_renewed(&leaf));
    assert_false(is_renewed(&leaf));
    leaf.organization = "system:masters";
    assert_true(is_renewed(&leaf));
    leaf.is_client = true;
    assert_true(is_renewed(&leaf));
    unlink(in_folder("leaf.key"));
    assert_true(is_renewed(&leaf));
    unlink(in_folder("ca.key"));
    must(osb_ca_ensure(folder, "test CA", &err));
    assert_true(is_renewed(&leaf));
}

static void put_leaf(time_t not_before, time_t not_after)
{
    _cleanup_x509_ X509 *ca = NULL;
    _cleanup_x509_ X509 *leaf = NULL;
    _cleanup_pkey_ EVP_PKEY *ca_key = NULL;
    _cleanup_pkey_ EVP_PKEY *key = NULL;
    must(osb_pem_read_certificate(in_folder("ca.crt"), &ca, &err));
    must(osb_pem_read_key(in_folder("ca.key"), &ca_key, &err));
    must(osb_cert_new_key(&key, &err));
    must(osb_cert_new_leaf(&server_leaf, key, ca, ca_key,
                           (struct osb_cert_life){not_before, not_after}, &leaf, &err));
    must(osb_pem_write_certificate(in_folder("leaf.crt"), leaf, &err));
    must(osb_pem_write_key(in_folder("leaf.key"), key, &err));
}

static void a_leaf_with_less_than_a_third_of_its_life_left_is_renewed(void **state)
{
    time_t now = time(NULL);
    (void)state;
    must(osb_ca_ensure(folder, "test CA", &err));
    put_leaf(now - 50 * DAY_S, now + 50 * DAY_S);
    assert_false(is_renewed(&server_leaf));
    put_leaf(now - 80 * DAY_S, now + 30 * DAY_S);
    assert_true(is_renewed(&server_leaf));
    put_leaf(now - 80 * DAY_S, now - DAY_S);
    assert_true(is_renewed(&server_leaf));
}

static void wishes_that_cannot_be_certified_are_refused(void **state)
{
    static const char *const not_an_address[] = {"localhost", NULL};
    char long_name[66] = {0};
    struct osb_leaf leaf = {.common_name = long_name, .is_client = true};
    (void)state;
    assert_int_equal(issue(&leaf), -ENOENT); /* no CA yet */
    must(osb_ca_ensure(folder, "test CA", &err));
    memset(long_name, 'x', 65);
    assert_int_equal(issue(&leaf), -OSB_E_INVALID);
    long_name[64] = '\0';
    assert_int_equal(issue(&leaf), 0);
    leaf.ip_addresses = not_an_address;
    assert_int_equal(issue(&leaf), -OSB_E_INVALID);
    must(osb_write_file(in_folder("broken.crt"), OSB_SLICE("no PEM"), 0644, &err));
    assert_int_equal(osb_certificate_not_after(in_folder("broken.crt"), &err), -OSB_E_SYNTAX);
}

#define CA_TEST(fn) cmocka_unit_test_setup_teardown(fn, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CA_TEST(a_ca_is_made_once_and_its_key_is_private),
        CA_TEST(a_ca_that_has_ended_is_replaced),
        CA_TEST(a_file_that_cannot_be_read_is_an_error_and_nothing_is_overwritten),
        CA_TEST(a_leaf_says_what_it_was_asked_to_say),
        CA_TEST(a_good_leaf_is_kept_and_another_wish_makes_a_new_one),
        CA_TEST(a_leaf_with_less_than_a_third_of_its_life_left_is_renewed),
        CA_TEST(wishes_that_cannot_be_certified_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
