// SPDX-License-Identifier: Apache-2.0
#include "bridge_link.h"

#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <time.h>

enum { ANSWER_BYTES = 8192 };

static int exchange(struct nlmsghdr *nlh, char *answer, size_t size)
{
    struct mnl_socket *socket = mnl_socket_open(NETLINK_ROUTE);
    if (!socket)
        return -errno;
    int r = 0;
    ssize_t received = -1;
    if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) >= 0 &&
        mnl_socket_sendto(socket, nlh, nlh->nlmsg_len) >= 0)
        received = mnl_socket_recvfrom(socket, answer, size);
    if (received < 0)
        r = -errno;
    mnl_socket_close(socket);
    if (r < 0)
        return r;
    const struct nlmsghdr *head = (struct nlmsghdr *)answer;
    if ((size_t)received < NLMSG_LENGTH(sizeof(struct nlmsgerr)) || head->nlmsg_type != NLMSG_ERROR)
        return -EPROTO;
    return ((const struct nlmsgerr *)mnl_nlmsg_get_payload(head))->error;
}

int bridge_link_remove(const char *bridge, struct osb_err *err)
{
    char buffer[ANSWER_BYTES];
    struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
    nlh->nlmsg_type = RTM_DELLINK;
    nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    nlh->nlmsg_seq = (uint32_t)time(NULL);
    (void)mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
    mnl_attr_put_strz(nlh, IFLA_IFNAME, bridge);
    char answer[ANSWER_BYTES] = {0};
    int r = exchange(nlh, answer, sizeof(answer));
    if (r < 0 && r != -ENODEV)
        return osb_fail(err, r, "remove link %s: %s", bridge, strerror(-r));
    return 0;
}
