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

/* There is no server, hence nothing to shut down, and no call of one. */
void osb_rpc_server_shutdown(struct osb_rpc_server *server, uint64_t grace_ms,
                             void (*fn)(void *arg), void *arg)
{
    (void)grace_ms;
    (void)fn;
    (void)arg;
    osb_assert(server && false);
}

void osb_rpc_server_free(struct osb_rpc_server *server)
{
    osb_assert(!server);
}
