// SPDX-License-Identifier: Apache-2.0
#include "rpc_channel.h"
#include "rpc_ops.h"

#include <grpc/grpc_security.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <sys/un.h>

enum {
    /* A restarted runtime is found again within a tenth of a second ... */
    RECONNECT_FIRST_MS = 20,
    RECONNECT_MAX_MS = 100,
    /* ... but one that accepts and is slow to speak HTTP/2 has this long (it is the time-out). */
    CONNECT_TIMEOUT_MS = 5000,
};

#define UNIX_SCHEME "unix://"

static grpc_channel *create(const char *target)
{
    grpc_arg args[] = {
        rpc_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, OSB_RPC_MAX_MESSAGE),
        rpc_arg(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, OSB_RPC_MAX_MESSAGE),
        /* The default of 8 KiB turns a long error text into "Internal, RST_STREAM". */
        rpc_arg(GRPC_ARG_MAX_METADATA_SIZE, OSB_RPC_MAX_METADATA),
        /* Whether a call may be repeated is for its caller to say. */
        rpc_arg(GRPC_ARG_ENABLE_RETRIES, 0),
        rpc_arg(GRPC_ARG_ENABLE_HTTP_PROXY, 0),
        /* What a peer compressed is read; sending stays on this machine. */
        rpc_arg(GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, 0),
        /* Windows that grow with the bandwidth would let a stream that nobody reads hold MBs. */
        rpc_arg(GRPC_ARG_HTTP2_BDP_PROBE, 0),
        rpc_arg(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, RECONNECT_FIRST_MS),
        rpc_arg(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, RECONNECT_MAX_MS),
        rpc_arg(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, CONNECT_TIMEOUT_MS),
    };
    grpc_channel_args list = {.num_args = sizeof(args) / sizeof(*args), .args = args};
    grpc_channel_credentials *plain = grpc_insecure_credentials_create();
    grpc_channel *channel = grpc_channel_create(target, plain, &list);

    grpc_channel_credentials_release(plain);
    return channel;
}

static int check_target(const char *target, struct osb_err *err)
{
    struct osb_slice rest = osb_slice_str(target);

    if (!osb_slice_starts(rest, OSB_SLICE(UNIX_SCHEME "/")))
        return osb_fail(err, -OSB_E_INVALID, "%s is not unix:///path", target);
    rest = osb_slice_from(rest, sizeof(UNIX_SCHEME) - 1);
    if (rest.len >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
        return osb_fail(err, -OSB_E_INVALID, "%s: a socket path has at most %zu bytes", target,
                        sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1);
    return 0;
}

static void on_ready(struct osb_watch *watch, int events)
{
    struct osb_rpc_channel *channel = watch->arg;

    (void)events;
    rpc_channel_enter(channel);
    rpc_mailbox_run(&channel->mailbox, &channel->is_closing);
    rpc_channel_leave(channel);
}

int osb_rpc_channel_new(struct osb_loop *loop, const char *target, struct osb_rpc_channel **ret,
                        struct osb_err *err)
{
    _cleanup_free_ struct osb_rpc_channel *channel = osb_new(struct osb_rpc_channel);
    int r;

    r = check_target(target, err);
    if (r < 0)
        return r;
    channel->loop = loop;
    osb_list_init(&channel->calls);
    r = rpc_mailbox_init(&channel->mailbox, loop, on_ready, channel, err);
    if (r < 0)
        return r;
    r = rpc_queue_ref(&channel->cq, err);
    if (r < 0) {
        rpc_mailbox_done(&channel->mailbox);
        return r;
    }
    channel->channel = create(target);
    *ret = osb_take_ptr(channel);
    return 0;
}

static void clear_metadata(struct osb_rpc_channel *channel)
{
    for (size_t i = 0; i < channel->metadata_count; i++) {
        grpc_slice_unref(channel->metadata[i].key);
        grpc_slice_unref(channel->metadata[i].value);
    }
    channel->metadata_count = 0;
}

void osb_rpc_channel_set_metadata(struct osb_rpc_channel *channel,
                                  const struct osb_rpc_metadata *metadata, int count)
{
    osb_assert(count >= 0 && count <= RPC_METADATA_MAX);
    clear_metadata(channel);
    for (int i = 0; i < count; i++) {
        grpc_metadata *pair = &channel->metadata[i];

        pair->key = grpc_slice_from_copied_string(metadata[i].name);
        pair->value = grpc_slice_from_copied_string(metadata[i].value);
        osb_assert(grpc_header_key_is_legal(pair->key));
        osb_assert(grpc_header_nonbin_value_is_legal(pair->value));
    }
    channel->metadata_count = (size_t)count;
}

static void destroy(struct osb_rpc_channel *channel)
{
    struct osb_list *link;

    channel->depth++; /* the events that are awaited enter and leave, and are not the last */
    grpc_channel_destroy(channel->channel);
    while (channel->in_flight > 0)
        rpc_mailbox_wait(&channel->mailbox);
    while ((link = channel->calls.next) != &channel->calls)
        rpc_call_free(rpc_call_of_link(link));
    clear_metadata(channel);
    rpc_queue_unref();
    rpc_mailbox_done(&channel->mailbox);
    free(channel);
}

void osb_rpc_channel_free(struct osb_rpc_channel *channel)
{
    if (!channel || channel->is_closing)
        return;
    channel->is_closing = true;
    for (struct osb_list *link = channel->calls.next; link != &channel->calls; link = link->next)
        rpc_call_abandon(rpc_call_of_link(link));
    if (channel->depth == 0)
        destroy(channel);
}

bool osb_rpc_channel_is_connected(struct osb_rpc_channel *channel)
{
    return grpc_channel_check_connectivity_state(channel->channel, 1) == GRPC_CHANNEL_READY;
}

void rpc_channel_enter(struct osb_rpc_channel *channel)
{
    channel->depth++;
}

void rpc_channel_leave(struct osb_rpc_channel *channel)
{
    if (--channel->depth == 0 && channel->is_closing)
        destroy(channel);
}
