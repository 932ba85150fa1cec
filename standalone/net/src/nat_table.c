// SPDX-License-Identifier: Apache-2.0
#include "nat_table.h"

#include <arpa/inet.h> /* before libmnl's kernel headers, which clash otherwise */
#include <libmnl/libmnl.h>
#include <libnftnl/chain.h>
#include <libnftnl/common.h>
#include <libnftnl/expr.h>
#include <libnftnl/rule.h>
#include <libnftnl/table.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter_ipv4.h>
#include <net/if.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BATCH_BYTES = 16 * 1024,
    IP_SOURCE_OFFSET = 12, /* in the IPv4 header, RFC 791 */
    IFNAME_LEN = 16,
};

static const char *const chain_name = "postrouting";

/* A transaction being written: begin, messages, end. */
struct transaction {
    char buffer[BATCH_BYTES];
    struct mnl_nlmsg_batch *batch;
    uint32_t sequence;
    uint32_t first;
};

static void transaction_begin(struct transaction *t)
{
    t->sequence = (uint32_t)time(NULL);
    t->batch = mnl_nlmsg_batch_start(t->buffer, sizeof(t->buffer));
    nftnl_batch_begin(mnl_nlmsg_batch_current(t->batch), t->sequence++);
    mnl_nlmsg_batch_next(t->batch);
    t->first = t->sequence;
}

static struct nlmsghdr *transaction_message(struct transaction *t, uint16_t type, uint16_t flags)
{
    return nftnl_nlmsg_build_hdr(mnl_nlmsg_batch_current(t->batch), type, NFPROTO_IPV4,
                                 (uint16_t)(flags | NLM_F_ACK), t->sequence++);
}

static int on_error(const struct nlmsghdr *nlh, void *data)
{
    const struct nlmsgerr *error = mnl_nlmsg_get_payload(nlh);
    int *first = data;
    if (error->error && !*first)
        *first = error->error;
    return MNL_CB_OK;
}

/* Sends the transaction and collects an answer for each message. */
static int transaction_commit(struct transaction *t)
{
    char buffer[BATCH_BYTES];
    int first = 0, answers = (int)(t->sequence - t->first);
    nftnl_batch_end(mnl_nlmsg_batch_current(t->batch), t->sequence++);
    mnl_nlmsg_batch_next(t->batch);
    struct mnl_socket *socket = mnl_socket_open(NETLINK_NETFILTER);
    if (!socket)
        return -errno;
    int r = 0;
    if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
        mnl_socket_sendto(socket, mnl_nlmsg_batch_head(t->batch), mnl_nlmsg_batch_size(t->batch)) <
            0)
        r = -errno;
    mnl_cb_t control[NLMSG_MIN_TYPE] = {[NLMSG_ERROR] = on_error};
    while (r >= 0 && answers > 0) {
        ssize_t n = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
        if (n < 0) {
            r = -errno;
            break;
        }
        for (struct nlmsghdr *nlh = (struct nlmsghdr *)buffer; mnl_nlmsg_ok(nlh, (int)n);) {
            int rest = (int)n;
            if (nlh->nlmsg_type == NLMSG_ERROR)
                (void)control[NLMSG_ERROR](nlh, &first);
            answers--;
            nlh = mnl_nlmsg_next(nlh, &rest);
            n = rest;
        }
        if (first)
            break; /* the kernel aborts the whole transaction at the first failure */
    }
    mnl_socket_close(socket);
    mnl_nlmsg_batch_stop(t->batch);
    return r < 0 ? r : first;
}

static void put_table(struct transaction *t, const char *table, uint16_t type, uint16_t flags)
{
    struct nftnl_table *object = nftnl_table_alloc();
    nftnl_table_set_str(object, NFTNL_TABLE_NAME, table);
    nftnl_table_set_u32(object, NFTNL_TABLE_FAMILY, NFPROTO_IPV4);
    nftnl_table_nlmsg_build_payload(transaction_message(t, type, flags), object);
    nftnl_table_free(object);
    mnl_nlmsg_batch_next(t->batch);
}

static void put_chain(struct transaction *t, const char *table)
{
    struct nftnl_chain *chain = nftnl_chain_alloc();
    nftnl_chain_set_str(chain, NFTNL_CHAIN_TABLE, table);
    nftnl_chain_set_str(chain, NFTNL_CHAIN_NAME, chain_name);
    nftnl_chain_set_str(chain, NFTNL_CHAIN_TYPE, "nat");
    nftnl_chain_set_u32(chain, NFTNL_CHAIN_HOOKNUM, NF_INET_POST_ROUTING);
    nftnl_chain_set_s32(chain, NFTNL_CHAIN_PRIO, NF_IP_PRI_NAT_SRC);
    nftnl_chain_nlmsg_build_payload(transaction_message(t, NFT_MSG_NEWCHAIN, NLM_F_CREATE), chain);
    nftnl_chain_free(chain);
    mnl_nlmsg_batch_next(t->batch);
}

static struct nftnl_expr *add_expr(struct nftnl_rule *rule, const char *name)
{
    struct nftnl_expr *expr = nftnl_expr_alloc(name);
    nftnl_rule_add_expr(rule, expr);
    return expr;
}

static void add_compare(struct nftnl_rule *rule, uint32_t operation, const void *data, uint32_t len)
{
    struct nftnl_expr *expr = add_expr(rule, "cmp");
    nftnl_expr_set_u32(expr, NFTNL_EXPR_CMP_SREG, NFT_REG_1);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_CMP_OP, operation);
    nftnl_expr_set(expr, NFTNL_EXPR_CMP_DATA, data, len);
}

/* ip saddr & MASK == NETWORK */
static void match_source(struct nftnl_rule *rule, uint32_t network, int prefix_len)
{
    uint32_t mask = htonl(prefix_len ? ~0U << (32 - prefix_len) : 0);
    uint32_t masked = htonl(network) & mask, none = 0;
    struct nftnl_expr *expr = add_expr(rule, "payload");
    nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_DREG, NFT_REG_1);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_OFFSET, IP_SOURCE_OFFSET);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_LEN, sizeof(uint32_t));
    expr = add_expr(rule, "bitwise");
    nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_SREG, NFT_REG_1);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_DREG, NFT_REG_1);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_LEN, sizeof(uint32_t));
    nftnl_expr_set(expr, NFTNL_EXPR_BITWISE_MASK, &mask, sizeof(mask));
    nftnl_expr_set(expr, NFTNL_EXPR_BITWISE_XOR, &none, sizeof(none));
    add_compare(rule, NFT_CMP_EQ, &masked, sizeof(masked));
}

static void put_rule(struct transaction *t, const char *table, const char *bridge, uint32_t network,
                     int prefix_len)
{
    char ifname[IFNAME_LEN] = {0};
    memcpy(ifname, bridge, strnlen(bridge, IFNAME_LEN - 1));
    struct nftnl_rule *rule = nftnl_rule_alloc();
    nftnl_rule_set_str(rule, NFTNL_RULE_TABLE, table);
    nftnl_rule_set_str(rule, NFTNL_RULE_CHAIN, chain_name);
    nftnl_rule_set_u32(rule, NFTNL_RULE_FAMILY, NFPROTO_IPV4);
    match_source(rule, network, prefix_len);
    struct nftnl_expr *meta = add_expr(rule, "meta");
    nftnl_expr_set_u32(meta, NFTNL_EXPR_META_KEY, NFT_META_OIFNAME);
    nftnl_expr_set_u32(meta, NFTNL_EXPR_META_DREG, NFT_REG_1);
    add_compare(rule, NFT_CMP_NEQ, ifname, sizeof(ifname));
    (void)add_expr(rule, "masq");
    nftnl_rule_nlmsg_build_payload(
        transaction_message(t, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND), rule);
    nftnl_rule_free(rule);
    mnl_nlmsg_batch_next(t->batch);
}

int nat_table_make(const char *table, const char *bridge, uint32_t network, int prefix_len,
                   struct osb_err *err)
{
    struct transaction t;
    transaction_begin(&t);
    /* Add, delete, add: whatever an earlier run left is replaced, and a missing table is no error.
     */
    put_table(&t, table, NFT_MSG_NEWTABLE, NLM_F_CREATE);
    put_table(&t, table, NFT_MSG_DELTABLE, 0);
    put_table(&t, table, NFT_MSG_NEWTABLE, NLM_F_CREATE);
    put_chain(&t, table);
    put_rule(&t, table, bridge, network, prefix_len);
    int r = transaction_commit(&t);
    if (r < 0)
        return osb_fail(err, r, "nft table %s: %s", table, strerror(-r));
    return 0;
}

int nat_table_remove(const char *table, struct osb_err *err)
{
    struct transaction t;
    transaction_begin(&t);
    put_table(&t, table, NFT_MSG_DELTABLE, 0);
    int r = transaction_commit(&t);
    if (r < 0 && r != -ENOENT)
        return osb_fail(err, r, "remove nft table %s: %s", table, strerror(-r));
    return 0;
}

int nat_table_exists(const char *table, struct osb_err *err)
{
    /* A batch of one "add, exclusively" that is sure to fail when the table is there would make it
     * when it is not; a plain get changes nothing. */
    char buffer[BATCH_BYTES];
    struct nftnl_table *object = nftnl_table_alloc();
    nftnl_table_set_str(object, NFTNL_TABLE_NAME, table);
    struct nlmsghdr *nlh = nftnl_nlmsg_build_hdr(buffer, NFT_MSG_GETTABLE, NFPROTO_IPV4, NLM_F_ACK,
                                                 (uint32_t)time(NULL));
    nftnl_table_nlmsg_build_payload(nlh, object);
    nftnl_table_free(object);
    struct mnl_socket *socket = mnl_socket_open(NETLINK_NETFILTER);
    if (!socket)
        return osb_fail(err, -errno, "netlink: %s", strerror(errno));
    ssize_t n = -1;
    if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) >= 0 &&
        mnl_socket_sendto(socket, nlh, nlh->nlmsg_len) >= 0)
        n = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
    int saved = errno;
    mnl_socket_close(socket);
    if (n < 0)
        return osb_fail(err, -saved, "netlink: %s", strerror(saved));
    const struct nlmsghdr *answer = (struct nlmsghdr *)buffer;
    if (answer->nlmsg_type != NLMSG_ERROR)
        return 1;
    const struct nlmsgerr *error = mnl_nlmsg_get_payload(answer);
    return error->error == 0;
}
