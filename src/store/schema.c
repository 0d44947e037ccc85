/* SPDX-License-Identifier: Apache-2.0 */
#include "store/schema.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"

/* steps[v] makes version v + 1 of version v. A step that was released is never changed. */
static const char *const steps[SCHEMA_VERSION] = {
    /* journal: kind as in journal.h. snapshot: stands for all rows up to seq. */
    "CREATE TABLE journal (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, at_us INTEGER NOT NULL,"
    " text TEXT NOT NULL) STRICT;"
    "CREATE TABLE snapshot (seq INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, bytes BLOB NOT NULL)"
    " STRICT;",
    /* job: what the core does not need of it; ended_us is NULL until it has ended. */
    "CREATE TABLE job (job_id INTEGER PRIMARY KEY, user TEXT NOT NULL, submitted_us INTEGER NOT "
    "NULL,"
    " ended_us INTEGER, spec TEXT NOT NULL, secret BLOB, result TEXT) STRICT;"
    "CREATE INDEX job_ended ON job (ended_us) WHERE ended_us IS NOT NULL;",
};

static int take_step(const struct sql *sql, int64_t version, struct err *err)
{
    char end[128];
    int rc = sql_run(sql, "BEGIN IMMEDIATE", err);

    if (rc == 0)
        rc = sql_run(sql, steps[version], err);
    snprintf(end, sizeof end, "PRAGMA user_version = %lld; PRAGMA application_id = %d; COMMIT",
             (long long)version + 1, SCHEMA_APPLICATION);
    if (rc == 0)
        rc = sql_run(sql, end, err);
    if (rc < 0)
        (void)sql_run(sql, "ROLLBACK", NULL);
    return rc;
}

static int check_application(const struct sql *sql, struct err *err)
{
    int64_t application, tables;
    int rc = sql_number(sql, "PRAGMA application_id", &application, err);

    if (rc == 0)
        rc = sql_number(sql, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (rc < 0 || application == SCHEMA_APPLICATION || (application == 0 && tables == 0))
        return rc;
    return err_set(err, -EBADMSG, "journal '%s': a database of another program", sql->path);
}

int schema_bring_up(const struct sql *sql, struct err *err)
{
    int64_t version;
    int rc = check_application(sql, err);

    if (rc == 0)
        rc = sql_number(sql, "PRAGMA user_version", &version, err);
    if (rc < 0)
        return rc;
    if (version < 0 || version > SCHEMA_VERSION)
        return err_set(err, -EPROTO,
                       "journal '%s': of version %lld, this berth knows up to %d; use a newer one",
                       sql->path, (long long)version, SCHEMA_VERSION);
    for (; version < SCHEMA_VERSION && rc == 0; version++)
        rc = take_step(sql, version, err);
    return rc;
}
