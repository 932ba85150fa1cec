// SPDX-License-Identifier: Apache-2.0
#include "address.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

enum {
    KEEPALIVE_IDLE_S = 60, /* below the idle limits of common NAT gateways */
    KEEPALIVE_INTERVAL_S = 10,
    KEEPALIVE_PROBES = 6,
    PORT_MAX = 65535,
};

int osb_address_parse_ip(struct osb_address *ret, const char *text, int port, struct osb_err *err)
{
    struct osb_address address = {0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&address.storage;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address.storage;
    if (port < 0 || port > PORT_MAX)
        return osb_fail(err, -OSB_E_INVALID, "port %d is out of range", port);
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)port);
        address.len = sizeof(*v4);
    } else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)port);
        address.len = sizeof(*v6);
    } else {
        return osb_fail(err, -OSB_E_INVALID, "\"%s\" is not an IP address", text);
    }
    *ret = address;
    return 0;
}

int osb_address_parse_path(struct osb_address *ret, const char *path, struct osb_err *err)
{
    struct osb_address address = {.un.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len == 0)
        return osb_fail(err, -OSB_E_INVALID, "the path of a socket is empty");
    if (len >= sizeof(address.un.sun_path))
        return osb_fail(err, -ENAMETOOLONG, "the path of a socket may have %zu bytes: %s",
                        sizeof(address.un.sun_path) - 1, path);
    memcpy(address.un.sun_path, path, len + 1);
    address.len = sizeof(address.un);
    *ret = address;
    return 0;
}

int osb_address_port(const struct osb_address *address)
{
    switch (address->any.sa_family) {
    case AF_INET:
        return ntohs(((const struct sockaddr_in *)&address->storage)->sin_port);
    case AF_INET6:
        return ntohs(((const struct sockaddr_in6 *)&address->storage)->sin6_port);
    default:
        return 0;
    }
}

static void format_unix(int fd, char buffer[static OSB_PEER_MAX])
{
    struct ucred peer = {0};
    socklen_t len = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        snprintf(buffer, OSB_PEER_MAX, "unix:");
    else
        snprintf(buffer, OSB_PEER_MAX, "unix:%d,%u", (int)peer.pid, (unsigned)peer.uid);
}

void osb_address_format_peer(const struct osb_address *address, int fd,
                             char buffer[static OSB_PEER_MAX])
{
    char text[INET6_ADDRSTRLEN];
    int port = osb_address_port(address);
    if (address->any.sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->storage;
        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
        snprintf(buffer, OSB_PEER_MAX, "%s:%d", text, port);
    } else if (address->any.sa_family == AF_INET6) {
        const struct in6_addr *v6 = &((const struct sockaddr_in6 *)&address->storage)->sin6_addr;
        bool is_mapped = IN6_IS_ADDR_V4MAPPED(v6); /* an IPv4 peer of a socket for both families */
        if (is_mapped)
            inet_ntop(AF_INET, &v6->s6_addr[12], text, sizeof(text));
        else
            inet_ntop(AF_INET6, v6, text, sizeof(text));
        snprintf(buffer, OSB_PEER_MAX, is_mapped ? "%s:%d" : "[%s]:%d", text, port);
    } else {
        format_unix(fd, buffer);
    }
}

static void set_option(int fd, int level, int name, int value)
{
    /* Each one makes a connection better; none is needed for it to work. */
    (void)setsockopt(fd, level, name, &value, sizeof(value));
}

void osb_address_tune_tcp(const struct osb_address *address, int fd)
{
    if (address->any.sa_family != AF_INET && address->any.sa_family != AF_INET6)
        return;
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
}
