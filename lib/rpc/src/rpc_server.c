// SPDX-License-Identifier: Apache-2.0
/* The server's side is declared for its future callers and not built: it cannot be created. */
#include <osb/rpc.h>
#include <unistd.h>

int osb_rpc_server_new(struct osb_loop *loop, const struct osb_rpc_server_options *options,
                       struct osb_rpc_server **ret, struct osb_err *err)
{
    (void)loop;
    (void)options;
    (void)ret;
    return osb_fail(err, -OSB_E_UNSUPPORTED, "gRPC servers are not built");
}

int osb_rpc_server_serve_fd(struct osb_rpc_server *server, int fd, struct osb_err *err)
{
    (void)server;
    close(fd);
    return osb_fail(err, -OSB_E_UNSUPPORTED, "gRPC servers are not built");
}

void osb_rpc_server_free(struct osb_rpc_server *server)
{
    osb_assert(!server);
}
