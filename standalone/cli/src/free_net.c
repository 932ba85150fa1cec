// SPDX-License-Identifier: Apache-2.0
#include "free_net.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <osb/alloc.h>
#include <osb/buf.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <osb/uuid.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ROUTES_MAX = 1024 * 1024, /* bytes of /proc/net/route */
    SUBNET_TRIES = 1000,
};

static int bind_port(int port)
{
    _cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    socklen_t len = sizeof(address);
    int on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    /* listen() too: with SO_REUSEADDR alone, bind() succeeds beside a listener on 0.0.0.0. */
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 1) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        return -errno;
    return ntohs(address.sin_port);
}

int free_net_port(int preferred, int *ret_port, struct osb_err *err)
{
    int port = preferred ? bind_port(preferred) : -EADDRINUSE;
    if (port < 0)
        port = bind_port(0);
    if (port < 0)
        return osb_fail(err, port, "no free TCP port on 127.0.0.1");
    *ret_port = port;
    return 0;
}

bool free_net_overlaps(uint32_t network, const char *table)
{
    const uint32_t own_mask = 0xffffff00;
    const char *line = strchr(table, '\n'); /* the first line is the head */
    for (; line && line[1]; line = strchr(line + 1, '\n')) {
        unsigned destination, mask;
        if (sscanf(line + 1, "%*s %x %*x %*x %*d %*d %*d %x", &destination, &mask) != 2)
            continue;
        uint32_t route = ntohl(destination);
        uint32_t both = ntohl(mask) & own_mask;
        if (mask && (route & both) == (network & both))
            return true;
    }
    return false;
}

int free_net_subnet(char **ret_cidr, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf routes = {0};
    int r = osb_read_file("/proc/net/route", ROUTES_MAX, &routes, err);
    if (r < 0)
        return r;
    for (int i = 0; i < SUBNET_TRIES; i++) {
        uint8_t random[2];
        osb_random_bytes(random, sizeof(random));
        /* 10.64/10: away from the ranges that clusters and container tools take by default. */
        unsigned second = 64U + random[0] % 64U;
        uint32_t network = 10U << 24 | second << 16 | (uint32_t)random[1] << 8;
        if (free_net_overlaps(network, osb_buf_cstr(&routes)))
            continue;
        *ret_cidr = osb_asprintf("10.%u.%u.0/24", second, random[1]);
        return 0;
    }
    return osb_fail(err, -EADDRINUSE, "no free /24 in 10.64.0.0/10");
}
