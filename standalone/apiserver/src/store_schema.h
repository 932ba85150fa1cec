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
/* Makes or migrates the layout; a newer one is -OSB_E_UNSUPPORTED. PATH is for the backup. */
int store_schema_apply(sqlite3 *db, const char *path, struct osb_err *err);

#endif
