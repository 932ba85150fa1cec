// SPDX-License-Identifier: Apache-2.0
/* Creations and deletions asked for and not yet seen: a set of children a owner. */
#include <osb/alloc.h>
#include <osb/kube_queue.h>
#include <osb/map.h>

#include <stdlib.h>

/* A child waited for; creations and deletions of one name are told apart. */
struct expected {
    struct osb_list link;
    char *child;
    bool is_deletion;
    uint64_t deadline_ns;
};

struct owner {
    struct osb_list expected;
};

struct osb_kube_expectations {
    struct osb_loop *loop;
    struct osb_map owners;
};

struct osb_kube_expectations *osb_kube_expectations_new(struct osb_loop *loop)
{
    struct osb_kube_expectations *e = osb_new(struct osb_kube_expectations);
    e->loop = loop;
    return e;
}

static void expected_free(struct expected *expected)
{
    osb_list_remove(&expected->link);
    free(expected->child);
    free(expected);
}

static void owner_free(void *value)
{
    struct owner *owner = value;
    struct expected *expected, *next;
    osb_list_foreach_safe (expected, next, &owner->expected, link)
        expected_free(expected);
    free(owner);
}

void osb_kube_expectations_free(struct osb_kube_expectations *e)
{
    if (!e)
        return;
    osb_map_done(&e->owners, owner_free);
    free(e);
}

static struct expected *find(struct owner *owner, const char *child, bool is_deletion)
{
    struct expected *expected;
    osb_list_foreach (expected, &owner->expected, link)
        if (expected->is_deletion == is_deletion &&
            osb_slice_eq_str(osb_slice_str(expected->child), child))
            return expected;
    return NULL;
}

static void expect(struct osb_kube_expectations *e, const char *name, const char *child,
                   bool is_deletion)
{
    struct owner *owner = osb_map_get(&e->owners, osb_slice_str(name));
    if (!owner) {
        owner = osb_new(struct owner);
        osb_list_init(&owner->expected);
        osb_map_set(&e->owners, osb_slice_str(name), owner);
    }
    struct expected *expected = find(owner, child, is_deletion);
    if (!expected) {
        expected = osb_new(struct expected);
        expected->child = osb_strdup(child);
        expected->is_deletion = is_deletion;
        osb_list_append(&owner->expected, &expected->link);
    }
    expected->deadline_ns = osb_loop_now_ns(e->loop) + OSB_EXPECTATION_TIMEOUT_MS * 1000000ULL;
}

static void forget_empty(struct osb_kube_expectations *e, const char *name, struct owner *owner)
{
    if (!osb_list_is_empty(&owner->expected))
        return;
    osb_map_remove(&e->owners, osb_slice_str(name));
    free(owner);
}

static void observe(struct osb_kube_expectations *e, const char *name, const char *child,
                    bool is_deletion)
{
    struct owner *owner = osb_map_get(&e->owners, osb_slice_str(name));
    struct expected *expected = owner ? find(owner, child, is_deletion) : NULL;
    if (!expected)
        return;
    expected_free(expected);
    forget_empty(e, name, owner);
}

void osb_kube_expect_create(struct osb_kube_expectations *e, const char *owner, const char *child)
{
    expect(e, owner, child, false);
}

void osb_kube_expect_delete(struct osb_kube_expectations *e, const char *owner, const char *child)
{
    expect(e, owner, child, true);
}

void osb_kube_observe_create(struct osb_kube_expectations *e, const char *owner, const char *child)
{
    observe(e, owner, child, false);
}

void osb_kube_observe_delete(struct osb_kube_expectations *e, const char *owner, const char *child)
{
    observe(e, owner, child, true);
}

bool osb_kube_expectations_are_met(struct osb_kube_expectations *e, const char *name,
                                   uint64_t *ret_remaining_ms)
{
    struct owner *owner = osb_map_get(&e->owners, osb_slice_str(name));
    if (!owner)
        return true;
    uint64_t now_ns = osb_loop_now_ns(e->loop);
    uint64_t last_ns = now_ns;
    struct expected *expected, *next;
    osb_list_foreach_safe (expected, next, &owner->expected, link) {
        if (expected->deadline_ns <= now_ns)
            expected_free(expected);
        else if (expected->deadline_ns > last_ns)
            last_ns = expected->deadline_ns;
    }
    bool are_met = osb_list_is_empty(&owner->expected);
    if (!are_met && ret_remaining_ms)
        *ret_remaining_ms = (last_ns - now_ns + 999999) / 1000000;
    forget_empty(e, name, owner);
    return are_met;
}

void osb_kube_expectations_forget(struct osb_kube_expectations *e, const char *name)
{
    struct owner *owner = osb_map_remove(&e->owners, osb_slice_str(name));
    if (owner)
        owner_free(owner);
}
