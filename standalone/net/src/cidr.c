// SPDX-License-Identifier: Apache-2.0
#include "cidr.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int cidr_parse(const char *text, uint32_t *ret_address, int *ret_prefix_len)
{
    char address[INET_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    struct in_addr in;
    if (!slash || (size_t)(slash - text) >= sizeof(address))
        return -OSB_E_INVALID;
    memcpy(address, text, (size_t)(slash - text));
    address[slash - text] = '\0';
    char *end;
    long prefix_len = strtol(slash + 1, &end, 10);
    if (!isdigit((unsigned char)slash[1]) || *end || prefix_len < 1 || prefix_len > 32 ||
        inet_pton(AF_INET, address, &in) != 1)
        return -OSB_E_INVALID;
    *ret_address = ntohl(in.s_addr);
    *ret_prefix_len = (int)prefix_len;
    return 0;
}
