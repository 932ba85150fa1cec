// SPDX-License-Identifier: Apache-2.0
/* Layout versions of the store's file, and how one becomes the next. */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include <osb/err.h>
#include <sqlite3.h>

/* Runs SQL without results; the error names WHAT. */
int store_exec(sqlite3 *db, const char *sql, const char *what, struct osb_err *err);
/* An SQLite result as an error of ours: SQLITE_FULL is -ENOSPC, and so on. */
int store_fail(sqlite3 *db, const char *what, struct osb_err *err);
/* A layout and the way to it: step i, in SQL, brings version i to i + 1. */
struct store_layout {
    const char *const *steps;
    int version;
};

/* Of this program. */
extern const struct store_layout store_layout;

/*
 * Makes LAYOUT or migrates to it, one transaction a step, after a copy of the file to "PATH.vN". A
 * newer one is -OSB_E_UNSUPPORTED.
 */
int store_schema_apply(sqlite3 *db, const char *path, const struct store_layout *layout,
                       struct osb_err *err);

#endif
