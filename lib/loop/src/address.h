// SPDX-License-Identifier: Apache-2.0
/* Socket addresses from and to text. Literals only: no resolver, so that static programs work. */
#ifndef OSB_LOOP_ADDRESS_H
#define OSB_LOOP_ADDRESS_H

#include <osb/err.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { OSB_PEER_MAX = 64 }; /* bytes of the longest text, with its NUL */

struct osb_address {
    union {
        struct sockaddr any;
        struct sockaddr_storage storage;
        struct sockaddr_un un;
    };
    socklen_t len;
};

int osb_address_parse_ip(struct osb_address *ret, const char *text, int port, struct osb_err *err);
int osb_address_parse_path(struct osb_address *ret, const char *path, struct osb_err *err);
/* The port of an IP address; 0 for others. */
int osb_address_port(const struct osb_address *address);
/* "127.0.0.1:80", "[::1]:80", or for a UNIX socket's FD "unix:PID,UID". */
void osb_address_format_peer(const struct osb_address *address, int fd,
                             char buffer[static OSB_PEER_MAX]);
/* What every TCP connection gets: no delay, and keep-alive probes. */
void osb_address_tune_tcp(const struct osb_address *address, int fd);

#endif
