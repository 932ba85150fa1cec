// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "store.h"
#include "store_schema.h"

#include <osb/alloc.h>
#include <osb/fd.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

struct files {
    char folder[64];
    char path[96];
};

static int make_files(void **state)
{
    struct files *f = osb_new(struct files);
    snprintf(f->folder, sizeof(f->folder), "/tmp/osb-store-XXXXXX");
    if (!mkdtemp(f->folder))
        return -1;
    snprintf(f->path, sizeof(f->path), "%s/store.sqlite", f->folder);
    *state = f;
    return 0;
}

static int remove_files(void **state)
{
    struct files *f = *state;
    int r = osb_remove_tree(f->folder, NULL);
    free(f);
    return r;
}

static struct store *open_store(struct files *f)
{
    struct store *store = NULL;
    struct osb_err err = {0};
    if (store_open(f->path, &store, &err) < 0)
        fail_msg("%s", err.message);
    return store;
}

static void commit(struct store *store, enum event_type type, uint64_t revision, const char *key,
                   const char *text)
{
    struct osb_err err = {0};
    struct store_change change = {type, revision, "pods", key, osb_slice_str(text), OSB_SLICE_NULL};
    if (store_commit(store, &change, 1, &err) < 0)
        fail_msg("%s", err.message);
}

struct seen {
    int objects, events;
    uint64_t last_event;
    char text[64];
};

static int on_object(const char *resource, uint64_t revision, struct osb_slice object, void *arg)
{
    struct seen *seen = arg;
    assert_string_equal(resource, "pods");
    assert_true(revision > 0);
    snprintf(seen->text, sizeof(seen->text), "%.*s", OSB_SLICE_ARG(object));
    seen->objects++;
    return 0;
}

static int on_event(const struct store_change *event, void *arg)
{
    struct seen *seen = arg;
    assert_true(event->revision > seen->last_event);
    seen->last_event = event->revision;
    seen->events++;
    return 0;
}

static struct seen load(struct store *store, uint64_t *revision, uint64_t *floor)
{
    struct seen seen = {0};
    struct osb_err err = {0};
    if (store_load(store, on_object, on_event, &seen, revision, floor, &err) < 0)
        fail_msg("%s", err.message);
    return seen;
}

static void what_was_committed_is_there_after_a_reopen(void **state)
{
    struct store *store = open_store(*state);
    commit(store, EVENT_ADDED, 2, "n/a", "{\"v\":1}");
    commit(store, EVENT_MODIFIED, 3, "n/a", "{\"v\":2}");
    commit(store, EVENT_ADDED, 4, "n/b", "{\"v\":3}");
    commit(store, EVENT_DELETED, 5, "n/b", "{\"v\":3}");
    store_close(store);
    store = open_store(*state);
    uint64_t revision, floor;
    struct seen seen = load(store, &revision, &floor);
    assert_int_equal(revision, 5);
    assert_int_equal(floor, 1);
    assert_int_equal(seen.objects, 1);
    assert_int_equal(seen.events, 4);
    assert_string_equal(seen.text, "{\"v\":2}");
    store_close(store);
}

static void a_commit_that_fails_leaves_nothing(void **state)
{
    struct store *store = open_store(*state);
    commit(store, EVENT_ADDED, 2, "n/a", "{}");
    struct store_change changes[] = {
        {EVENT_ADDED, 3, "pods", "n/b", OSB_SLICE("{}"), OSB_SLICE_NULL},
        {EVENT_ADDED, 2, "pods", "n/c", OSB_SLICE("{}"), OSB_SLICE_NULL}, /* a revision again */
    };
    assert_true(store_commit(store, changes, 2, NULL) < 0);
    uint64_t revision, floor;
    struct seen seen = load(store, &revision, &floor);
    assert_int_equal(seen.objects, 1);
    assert_int_equal(revision, 2);
    commit(store, EVENT_ADDED, 3, "n/b", "{}"); /* and it goes on */
    store_close(store);
}

static void a_full_disk_is_an_error_of_its_own(void **state)
{
    struct store *store = open_store(*state);
    store_close(store);
    /* The smallest page limit that holds what is there stands for a full disk. */
    store = open_store(*state);
    store_limit_pages_for_test(store, 8);
    size_t len = 256 * 1024;
    _cleanup_free_ char *big = osb_calloc(1, len);
    memset(big, ' ', len);
    struct osb_err err = {0};
    struct store_change change = {EVENT_ADDED,   2, "pods", "n/a", osb_slice(big, len),
                                  OSB_SLICE_NULL};
    assert_int_equal(store_commit(store, &change, 1, &err), -ENOSPC);
    assert_int_equal(err.code, -ENOSPC);
    store_limit_pages_for_test(store, 100000);
    commit(store, EVENT_ADDED, 2, "n/a", "{}");
    store_close(store);
}

static void run_sql(struct files *f, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void a_newer_layout_is_refused_and_left_alone(void **state)
{
    struct store *store = open_store(*state);
    store_close(store);
    run_sql(*state, "UPDATE meta SET schema = 99");
    struct osb_err err = {0};
    store = NULL;
    assert_int_equal(store_open(((struct files *)*state)->path, &store, &err), -OSB_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "99"));
    run_sql(*state, "SELECT schema FROM meta WHERE schema = 99");
}

/* One number that SQL gives; -1 when it fails. */
static int number(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    int n = -1;
    if (sqlite3_open(path, &db) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        n = sqlite3_column_int(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return n;
}

static int migrate(struct files *f, const char *second_step)
{
    const char *const steps[] = {store_layout.steps[0], second_step};
    const struct store_layout next = {steps, 2};
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    int r = store_schema_apply(db, f->path, &next, NULL);
    sqlite3_close(db);
    return r;
}

static void an_older_layout_is_copied_and_migrated(void **state)
{
    struct files *f = *state;
    struct store *store = open_store(f);
    commit(store, EVENT_ADDED, 2, "n/a", "{}");
    store_close(store);
    _cleanup_free_ char *copy = osb_asprintf("%s.v1", f->path);
    assert_true(migrate(f, "CREATE TABLE broken (;") < 0); /* nothing of it stays */
    assert_int_equal(number(f->path, "SELECT schema FROM meta"), 1);
    assert_int_equal(migrate(f, "ALTER TABLE meta ADD COLUMN more INTEGER DEFAULT 7;"), 0);
    assert_int_equal(number(f->path, "SELECT schema FROM meta"), 2);
    assert_int_equal(number(f->path, "SELECT more FROM meta"), 7);
    assert_int_equal(number(f->path, "SELECT count(*) FROM objects"), 1);
    assert_int_equal(number(copy, "SELECT schema FROM meta"), 1);
    assert_int_equal(number(copy, "SELECT count(*) FROM objects"), 1);
    store = NULL;
    assert_int_equal(store_open(f->path, &store, NULL), -OSB_E_UNSUPPORTED); /* newer than ours */
}

static void a_file_that_is_no_database_is_refused(void **state)
{
    struct files *f = *state;
    struct store *store = NULL;
    char junk[4096];
    memset(junk, 'x', sizeof(junk));
    assert_int_equal(osb_write_file(f->path, osb_slice(junk, sizeof(junk)), 0600, NULL), 0);
    assert_true(store_open(f->path, &store, NULL) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, make_files, remove_files)
        T(what_was_committed_is_there_after_a_reopen), T(a_commit_that_fails_leaves_nothing),
        T(a_full_disk_is_an_error_of_its_own),         T(a_newer_layout_is_refused_and_left_alone),
        T(an_older_layout_is_copied_and_migrated),     T(a_file_that_is_no_database_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
