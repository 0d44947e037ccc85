/* SPDX-License-Identifier: Apache-2.0 */
/* sql.h - SQLite as the store uses it: errors as errnos with a text, and statements that are made
 * once. */
#pragma once
#include <sqlite3.h>
#include <stdint.h>

struct err;

struct sql {
    sqlite3 *db;
    const char *path; /* borrowed, for errors */
};

/* The errno for what SQLite last said, with err set: "journal 'PATH': WHAT: ...". */
int sql_error(const struct sql *sql, const char *what, struct err *err);

/* Runs statements that give no rows. */
int sql_run(const struct sql *sql, const char *statements, struct err *err);

int sql_prepare(const struct sql *sql, const char *text, sqlite3_stmt **out, struct err *err);

/* Runs a statement that gives no rows once, and makes it ready for the next time. */
int sql_step(const struct sql *sql, sqlite3_stmt *statement, struct err *err);

/* Ends a transaction without its changes, if one is open: some errors end it by themselves. */
void sql_roll_back(const struct sql *sql);

/* The one number that a statement gives. */
int sql_number(const struct sql *sql, const char *statement, int64_t *out, struct err *err);
