// SPDX-License-Identifier: Apache-2.0
// The client object.
#include "client.h"

#include <osb/alloc.h>
#include <stdlib.h>

int osb_http_client_new(struct osb_loop *loop, const struct osb_http_client_options *options,
                        struct osb_http_client **ret, struct osb_err *err)
{
    (void)err;
    struct osb_http_client *client = osb_new(struct osb_http_client);
    client->loop = loop;
    if (options)
        client->options = *options;
    if (client->options.connect_timeout_ms == 0)
        client->options.connect_timeout_ms = 5 * 1000;
    if (client->options.idle_timeout_ms == 0)
        client->options.idle_timeout_ms = 30 * 1000;
    if (client->options.max_idle_per_origin == 0)
        client->options.max_idle_per_origin = 8;
    osb_list_init(&client->idle);
    osb_list_init(&client->calls);
    *ret = client;
    return 0;
}

void osb_http_client_free(struct osb_http_client *client)
{
    if (!client)
        return;
    struct osb_http_call *call;
    while ((call = osb_list_first(&client->calls, struct osb_http_call, list))) {
        struct http_link *link = osb_take_ptr(call->link);
        if (link) {
            osb_assert(!link->is_running);
            link->call = NULL;
            http_link_free(link);
        }
        osb_fail(&call->err, -ECANCELED, "the client was ended");
        http_call_finish(call, -ECANCELED);
    }
    struct http_link *link;
    while ((link = osb_list_first(&client->idle, struct http_link, list)))
        http_link_free(link);
    osb_buf_done(&client->spare_in);
    free(client);
}

struct osb_loop *osb_http_client_loop(const struct osb_http_client *client)
{
    return client->loop;
}
