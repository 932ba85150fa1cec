// SPDX-License-Identifier: Apache-2.0
#include "store_schema.h"
#include "store.h"

#include <osb/alloc.h>
#include <osb/cleanup.h>

/* A step is never edited once it was released. */
static const char *const steps[STORE_SCHEMA] = {
    "CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), schema INTEGER NOT NULL,"
    " revision INTEGER NOT NULL, floor INTEGER NOT NULL);"
    "INSERT INTO meta VALUES (1, 0, 1, 1);"
    "CREATE TABLE objects (resource TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL,"
    " object BLOB NOT NULL, PRIMARY KEY (resource, key)) WITHOUT ROWID;"
    "CREATE TABLE events (revision INTEGER PRIMARY KEY, type INTEGER NOT NULL,"
    " resource TEXT NOT NULL, key TEXT NOT NULL, object BLOB NOT NULL, previous BLOB);",
};

const struct store_layout store_layout = {steps, STORE_SCHEMA};

int store_fail(sqlite3 *db, const char *what, struct osb_err *err)
{
    int code = -OSB_E_INTERNAL;
    switch (sqlite3_errcode(db)) {
    case SQLITE_FULL:
        code = -ENOSPC;
        break;
    case SQLITE_IOERR:
        code = -EIO;
        break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        code = -EBUSY;
        break;
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        code = -EACCES;
        break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        code = -OSB_E_SYNTAX;
        break;
    default:
        break;
    }
    return osb_fail(err, code, "store: %s: %s", what, sqlite3_errmsg(db));
}

int store_exec(sqlite3 *db, const char *sql, const char *what, struct osb_err *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_fail(db, what, err);
}

/* 0 for a file without our tables. */
static int read_version(sqlite3 *db, int *ret, struct osb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(db, "SELECT count(*) FROM sqlite_master WHERE name = 'meta'", -1,
                               &stmt, NULL);
    bool is_new =
        r == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0) == 0;
    sqlite3_finalize(stmt);
    if (r != SQLITE_OK)
        return store_fail(db, "read the layout", err);
    if (is_new) {
        *ret = 0;
        return 0;
    }
    r = sqlite3_prepare_v2(db, "SELECT schema FROM meta", -1, &stmt, NULL);
    if (r == SQLITE_OK)
        r = sqlite3_step(stmt);
    if (r == SQLITE_ROW)
        *ret = sqlite3_column_int(stmt, 0);
    sqlite3_finalize(stmt);
    return r == SQLITE_ROW ? 0 : store_fail(db, "read the layout's version", err);
}

/* A copy of the whole file, also of what is in its write-ahead log. */
static int back_up(sqlite3 *db, const char *path, int version, struct osb_err *err)
{
    _cleanup_free_ char *copy = osb_asprintf("%s.v%d", path, version);
    char *sql = sqlite3_mprintf("VACUUM INTO %Q", copy);
    remove(copy); /* of an earlier try that did not end */
    int r = store_exec(db, sql, "back up before the migration", err);
    sqlite3_free(sql);
    return r;
}

static int run_step(sqlite3 *db, const struct store_layout *layout, int version,
                    struct osb_err *err)
{
    _cleanup_free_ char *sql = osb_asprintf("BEGIN IMMEDIATE; %s UPDATE meta SET schema = %d;"
                                            " COMMIT;",
                                            layout->steps[version], version + 1);
    int r = store_exec(db, sql, "migrate the layout", err);
    if (r < 0)
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}

int store_schema_apply(sqlite3 *db, const char *path, const struct store_layout *layout,
                       struct osb_err *err)
{
    int version = 0, r = read_version(db, &version, err);
    if (r < 0)
        return r;
    if (version > layout->version)
        return osb_fail(err, -OSB_E_UNSUPPORTED,
                        "store: the file has layout %d, this program knows up to %d", version,
                        layout->version);
    if (version > 0 && version < layout->version)
        r = back_up(db, path, version, err);
    for (; r >= 0 && version < layout->version; version++)
        r = run_step(db, layout, version, err);
    return r;
}
