// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "writer.h"

#include <osb/alloc.h>
#include <osb/fd.h>
#include <osb/loop.h>
#include <stdio.h>
#include <stdlib.h>

/* A real store and a real worker under a loop that is turned by hand. */
struct bench {
    struct world *world;
    struct osb_loop *loop;
    struct osb_workers *workers;
    struct store *store;
    struct writer *writer;
    char folder[64];
    int commits;
    uint64_t first_sequence;
};

struct test_write {
    struct write write;
    struct bench *bench;
    const char *name;
    int result;
    bool is_done;
    uint64_t revision_when_done; /* of the cache: durable things only */
    bool is_bad;
};

static void on_committed(uint64_t sequence, void *arg)
{
    struct bench *b = arg;
    if (!b->commits++)
        b->first_sequence = sequence;
}

static int setup(void **state)
{
    struct bench *b = osb_new(struct bench);
    b->world = world_new();
    snprintf(b->folder, sizeof(b->folder), "/tmp/osb-writer-XXXXXX");
    assert_non_null(mkdtemp(b->folder));
    _cleanup_free_ char *path = osb_path_join(b->folder, "db");
    assert_int_equal(osb_loop_new_epoll(&b->loop, NULL), 0);
    assert_int_equal(osb_workers_new(b->loop, 1, 4, &b->workers, NULL), 0);
    assert_int_equal(store_open(path, &b->store, NULL), 0);
    struct writer_options options = {
        b->loop, b->workers, b->store, &b->world->cache, &b->world->history, on_committed, b};
    b->writer = writer_new(&options);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    osb_workers_free(b->workers);
    writer_free(b->writer);
    store_close(b->store);
    osb_loop_free(b->loop);
    world_free(b->world);
    osb_remove_tree(b->folder, NULL);
    free(b);
    return 0;
}

static int evaluate(struct write *write, struct txn *txn)
{
    struct test_write *t = osb_container_of(write, struct test_write, write);
    if (t->is_bad)
        return refuse_bad_request(&write->refusal, "no");
    const struct resource *secrets = registry_by_storage(&t->bench->world->registry, "secrets");
    _cleanup_json_ struct osb_json *tree = osb_json_new_object();
    struct osb_json *metadata = osb_json_ensure_object(tree, "metadata");
    osb_json_set(metadata, "name", osb_json_new_str(t->name));
    osb_json_set(metadata, "uid", osb_json_new_str(t->name));
    txn_put(txn, secrets, tree);
    return 0;
}

static void done(struct write *write, int result)
{
    struct test_write *t = osb_container_of(write, struct test_write, write);
    t->result = result;
    t->is_done = true;
    t->revision_when_done = t->bench->world->cache.revision;
    refusal_done(&write->refusal);
}

static struct test_write new_write(struct bench *b, const char *name)
{
    struct test_write t = {.bench = b, .name = name};
    t.write.evaluate = evaluate;
    t.write.done = done;
    return t;
}

static void turn_until_idle(struct bench *b)
{
    for (int i = 0; i < 1000 && !writer_is_idle(b->writer); i++)
        osb_loop_turn(b->loop, 1000);
    assert_true(writer_is_idle(b->writer));
}

static void writes_that_wait_share_a_commit(void **state)
{
    struct bench *b = *state;
    struct test_write one = new_write(b, "one"), two = new_write(b, "two");
    uint64_t before = b->world->cache.revision;
    writer_submit(b->writer, &one.write);
    writer_submit(b->writer, &two.write);
    assert_false(one.is_done);
    assert_int_equal(b->world->cache.revision, before); /* nothing is visible before the disk */
    turn_until_idle(b);
    assert_true(one.is_done && two.is_done);
    assert_int_equal(b->commits, 1);
    assert_int_equal(b->world->cache.revision, before + 2);
    assert_int_equal(one.revision_when_done, before + 2);
}

static void a_refused_write_disturbs_no_other(void **state)
{
    struct bench *b = *state;
    struct test_write bad = new_write(b, "bad"), good = new_write(b, "good");
    bad.is_bad = true;
    writer_submit(b->writer, &bad.write);
    writer_submit(b->writer, &good.write);
    turn_until_idle(b);
    assert_true(bad.result < 0);
    assert_int_equal(good.result, 0);
}

static void a_failed_commit_refuses_its_writes_and_shows_nothing(void **state)
{
    struct bench *b = *state;
    struct test_write lost = new_write(b, "lost"), kept = new_write(b, "kept");
    uint64_t before = b->world->cache.revision;
    store_limit_pages_for_test(b->store, 1);
    _cleanup_free_ char *long_name = osb_calloc(1, 65536);
    memset(long_name, 'x', 65535);
    lost.name = long_name;
    writer_submit(b->writer, &lost.write);
    turn_until_idle(b);
    assert_true(lost.result < 0);
    assert_int_equal(b->world->cache.revision, before);
    store_limit_pages_for_test(b->store, 100000);
    writer_submit(b->writer, &kept.write);
    turn_until_idle(b);
    assert_int_equal(kept.result, 0);
    assert_int_equal(b->world->cache.revision,
                     before + 2); /* the lost revision is not used again */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(writes_that_wait_share_a_commit),
        T(a_refused_write_disturbs_no_other),
        T(a_failed_commit_refuses_its_writes_and_shows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
