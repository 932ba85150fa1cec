// SPDX-License-Identifier: Apache-2.0
#include "rpc_mailbox.h"

#include <osb/fd.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A busy stream leaves the loop to others after so many messages. */
enum { EVENTS_A_TURN = 64 };

int rpc_mailbox_init(struct rpc_mailbox *mailbox, struct osb_loop *loop,
                     void (*fn)(struct osb_watch *watch, int events), void *arg,
                     struct osb_err *err)
{
    _cleanup_close_ int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int r;

    if (wake_fd < 0)
        return osb_fail(err, -errno, "eventfd: %s", strerror(errno));
    osb_watch_init(&mailbox->watch, loop, wake_fd, fn, arg);
    r = osb_watch_set(&mailbox->watch, OSB_READABLE);
    if (r < 0)
        return osb_fail(err, r, "watch an eventfd: %s", strerror(-r));
    pthread_mutex_init(&mailbox->lock, NULL);
    osb_list_init(&mailbox->done);
    mailbox->wake_fd = osb_take_fd(&wake_fd);
    return 0;
}

void rpc_mailbox_done(struct rpc_mailbox *mailbox)
{
    osb_watch_stop(&mailbox->watch);
    pthread_mutex_destroy(&mailbox->lock);
    close(mailbox->wake_fd);
}

static void ring(struct rpc_mailbox *mailbox)
{
    osb_assert(osb_write_all(mailbox->wake_fd, &(uint64_t){1}, sizeof(uint64_t)) >= 0);
}

void rpc_mailbox_push(struct rpc_mailbox *mailbox, struct rpc_event *event)
{
    bool was_empty;

    pthread_mutex_lock(&mailbox->lock);
    was_empty = osb_list_is_empty(&mailbox->done);
    osb_list_append(&mailbox->done, &event->link);
    /* Under the lock: behind it the mailbox may be gone. */
    if (was_empty)
        ring(mailbox);
    pthread_mutex_unlock(&mailbox->lock);
}

static struct rpc_event *pop(struct rpc_mailbox *mailbox)
{
    struct rpc_event *event;

    pthread_mutex_lock(&mailbox->lock);
    event = osb_list_first(&mailbox->done, struct rpc_event, link);
    if (event)
        osb_list_remove(&event->link);
    pthread_mutex_unlock(&mailbox->lock);
    return event;
}

/* Ready to be rung again; to be called before popping. */
static void hear(struct rpc_mailbox *mailbox)
{
    uint64_t count;

    /* EAGAIN when a former turn popped what this ring was for. */
    if (read(mailbox->wake_fd, &count, sizeof(count)) < 0)
        osb_assert(errno == EAGAIN || errno == EINTR);
}

/* Rings if something was left unpopped. */
static void ring_again(struct rpc_mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    if (!osb_list_is_empty(&mailbox->done))
        ring(mailbox);
    pthread_mutex_unlock(&mailbox->lock);
}

void rpc_mailbox_run(struct rpc_mailbox *mailbox, const bool *is_closing)
{
    struct rpc_event *event;

    hear(mailbox);
    for (int i = 0; i < EVENTS_A_TURN && !*is_closing; i++) {
        event = pop(mailbox);
        if (!event)
            break;
        event->on_done(event);
    }
    ring_again(mailbox);
}

void rpc_mailbox_wait(struct rpc_mailbox *mailbox)
{
    struct pollfd bell = {.fd = mailbox->wake_fd, .events = POLLIN};
    struct rpc_event *event;

    while (poll(&bell, 1, -1) < 0)
        osb_assert(errno == EINTR);
    hear(mailbox);
    while ((event = pop(mailbox)))
        event->on_done(event);
}
