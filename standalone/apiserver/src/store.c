// SPDX-License-Identifier: Apache-2.0
#include "store.h"
#include "store_schema.h"

#include <osb/alloc.h>

enum statement {
    STMT_BEGIN,
    STMT_COMMIT,
    STMT_ROLLBACK,
    STMT_PUT,
    STMT_REMOVE,
    STMT_EVENT,
    STMT_REVISION,
    STMT_COUNT
};

static const char *const statements[STMT_COUNT] = {
    [STMT_BEGIN] = "BEGIN IMMEDIATE",
    [STMT_COMMIT] = "COMMIT",
    [STMT_ROLLBACK] = "ROLLBACK",
    [STMT_PUT] = "INSERT OR REPLACE INTO objects VALUES (?1, ?2, ?3, ?4)",
    [STMT_REMOVE] = "DELETE FROM objects WHERE resource = ?1 AND key = ?2",
    [STMT_EVENT] = "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [STMT_REVISION] = "UPDATE meta SET revision = ?1",
};

struct store {
    sqlite3 *db;
    sqlite3_stmt *stmts[STMT_COUNT];
    int commits; /* since the last pruning */
};

static const char pragmas[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                              "PRAGMA wal_autocheckpoint = 1000; PRAGMA temp_store = MEMORY;";

static int prepare_all(struct store *store, struct osb_err *err)
{
    for (int i = 0; i < STMT_COUNT; i++)
        if (sqlite3_prepare_v2(store->db, statements[i], -1, &store->stmts[i], NULL) != SQLITE_OK)
            return store_fail(store->db, "prepare a statement", err);
    return 0;
}

static int set_up(struct store *store, const char *path, struct osb_err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &store->db, flags, NULL) != SQLITE_OK)
        return store_fail(store->db, path, err);
    sqlite3_busy_timeout(store->db, STORE_BUSY_TIMEOUT_MS);
    sqlite3_extended_result_codes(store->db, 0);
    int r = store_exec(store->db, pragmas, path, err);
    if (r >= 0)
        r = store_schema_apply(store->db, path, &store_layout, err);
    return r >= 0 ? prepare_all(store, err) : r;
}

int store_open(const char *path, struct store **ret, struct osb_err *err)
{
    struct store *store = osb_new(struct store);
    int r = set_up(store, path, err);
    if (r < 0) {
        store_close(store);
        return r;
    }
    *ret = store;
    return 0;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    for (int i = 0; i < STMT_COUNT; i++)
        sqlite3_finalize(store->stmts[i]);
    sqlite3_close(store->db);
    free(store);
}

static struct osb_slice column_blob(sqlite3_stmt *stmt, int column)
{
    const void *data = sqlite3_column_blob(stmt, column);
    return osb_slice(data, (size_t)sqlite3_column_bytes(stmt, column));
}

static const char *column_str(sqlite3_stmt *stmt, int column)
{
    return (const char *)sqlite3_column_text(stmt, column);
}

/* Runs a query and hands its rows to ROW. */
static int each_row(struct store *store, const char *sql, int (*row)(sqlite3_stmt *, void *),
                    void *arg, struct osb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return store_fail(store->db, "read", err);
    int step, r = 0;
    while (r >= 0 && (step = sqlite3_step(stmt)) == SQLITE_ROW)
        r = row(stmt, arg);
    if (r >= 0 && step != SQLITE_DONE)
        r = store_fail(store->db, "read", err);
    else if (r < 0)
        osb_fail(err, r, "store: a row cannot be read");
    sqlite3_finalize(stmt);
    return r;
}

struct load {
    int (*on_object)(const char *, uint64_t, struct osb_slice, void *);
    int (*on_event)(const struct store_change *, void *);
    void *arg;
    uint64_t revision, floor;
};

static int meta_row(sqlite3_stmt *stmt, void *arg)
{
    struct load *load = arg;
    load->revision = (uint64_t)sqlite3_column_int64(stmt, 0);
    load->floor = (uint64_t)sqlite3_column_int64(stmt, 1);
    return 0;
}

static int object_row(sqlite3_stmt *stmt, void *arg)
{
    struct load *load = arg;
    return load->on_object(column_str(stmt, 0), (uint64_t)sqlite3_column_int64(stmt, 1),
                           column_blob(stmt, 2), load->arg);
}

static int event_row(sqlite3_stmt *stmt, void *arg)
{
    struct load *load = arg;
    struct store_change event = {
        .revision = (uint64_t)sqlite3_column_int64(stmt, 0),
        .type = (enum event_type)sqlite3_column_int(stmt, 1),
        .resource = column_str(stmt, 2),
        .key = column_str(stmt, 3),
        .object = column_blob(stmt, 4),
        .previous = column_blob(stmt, 5),
    };
    return load->on_event(&event, load->arg);
}

int store_load(struct store *store,
               int (*on_object)(const char *resource, uint64_t revision, struct osb_slice object,
                                void *arg),
               int (*on_event)(const struct store_change *event, void *arg), void *arg,
               uint64_t *ret_revision, uint64_t *ret_floor, struct osb_err *err)
{
    struct load load = {on_object, on_event, arg, 0, 0};
    int r = each_row(store, "SELECT revision, floor FROM meta", meta_row, &load, err);
    if (r >= 0)
        r = each_row(store, "SELECT resource, revision, object FROM objects", object_row, &load,
                     err);
    if (r >= 0)
        r = each_row(store,
                     "SELECT revision, type, resource, key, object, previous FROM events"
                     " ORDER BY revision",
                     event_row, &load, err);
    if (r < 0)
        return r;
    *ret_revision = load.revision;
    *ret_floor = load.floor;
    return 0;
}

static void bind_blob(sqlite3_stmt *stmt, int at, struct osb_slice s)
{
    if (s.len)
        sqlite3_bind_blob64(stmt, at, s.data, s.len, SQLITE_STATIC);
    else
        sqlite3_bind_null(stmt, at);
}

/* Runs a prepared statement whose parameters are bound. */
static int run(struct store *store, enum statement which, struct osb_err *err)
{
    sqlite3_stmt *stmt = store->stmts[which];
    int r = sqlite3_step(stmt) == SQLITE_DONE ? 0 : store_fail(store->db, "commit", err);
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    return r;
}

static int write_current(struct store *store, const struct store_change *c, struct osb_err *err)
{
    bool is_removal = c->type == EVENT_DELETED;
    sqlite3_stmt *stmt = store->stmts[is_removal ? STMT_REMOVE : STMT_PUT];
    sqlite3_bind_text(stmt, 1, c->resource, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 2, c->key, -1, SQLITE_STATIC);
    if (!is_removal) {
        sqlite3_bind_int64(stmt, 3, (sqlite3_int64)c->revision);
        bind_blob(stmt, 4, c->object);
    }
    return run(store, is_removal ? STMT_REMOVE : STMT_PUT, err);
}

static int write_event(struct store *store, const struct store_change *c, struct osb_err *err)
{
    sqlite3_stmt *stmt = store->stmts[STMT_EVENT];
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)c->revision);
    sqlite3_bind_int(stmt, 2, (int)c->type);
    sqlite3_bind_text(stmt, 3, c->resource, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 4, c->key, -1, SQLITE_STATIC);
    bind_blob(stmt, 5, c->object);
    bind_blob(stmt, 6, c->previous);
    return run(store, STMT_EVENT, err);
}

/*
 * Keeps no more event rows than the history in memory holds. By count only: the rows are read
 * back through history_push(), which applies the limit of bytes.
 */
static int prune(struct store *store, struct osb_err *err)
{
    if (++store->commits < STORE_PRUNE_EVERY)
        return 0;
    store->commits = 0;
    char *sql =
        sqlite3_mprintf("UPDATE meta SET floor = max(floor, coalesce((SELECT revision FROM events"
                        " ORDER BY revision DESC LIMIT 1 OFFSET %d), 0));"
                        "DELETE FROM events WHERE revision <= (SELECT floor FROM meta);",
                        HISTORY_MAX_EVENTS);
    int r = store_exec(store->db, sql, "prune events", err);
    sqlite3_free(sql);
    return r;
}

static int write_all(struct store *store, const struct store_change *changes, int count,
                     struct osb_err *err)
{
    int r = 0;
    for (int i = 0; i < count && r >= 0; i++) {
        r = write_current(store, &changes[i], err);
        if (r >= 0)
            r = write_event(store, &changes[i], err);
    }
    if (r < 0)
        return r;
    sqlite3_bind_int64(store->stmts[STMT_REVISION], 1, (sqlite3_int64)changes[count - 1].revision);
    r = run(store, STMT_REVISION, err);
    if (r >= 0)
        r = prune(store, err);
    return r >= 0 ? run(store, STMT_COMMIT, err) : r;
}

int store_commit(struct store *store, const struct store_change *changes, int count,
                 struct osb_err *err)
{
    int r = run(store, STMT_BEGIN, err);
    if (r < 0)
        return r;
    r = write_all(store, changes, count, err);
    if (r < 0 && !sqlite3_get_autocommit(store->db))
        run(store, STMT_ROLLBACK, NULL); /* a failed COMMIT may have ended it already */
    return r;
}

void store_limit_pages_for_test(struct store *store, int pages)
{
    char *sql = sqlite3_mprintf("PRAGMA max_page_count = %d", pages);
    sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
}
