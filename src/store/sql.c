/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sql.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

static int errno_of(sqlite3 *db)
{
    const int system = sqlite3_system_errno(db);

    switch (sqlite3_errcode(db) & 0xff) {
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return -EBADMSG;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_READONLY:
        return -EROFS;
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return -EACCES;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return system > 0 ? -system : -EIO;
    default:
        return -EINVAL;
    }
}

static const char *advice(int rc)
{
    switch (rc) {
    case -ENOSPC:
    case -EDQUOT:
        return "; free some space on that disk";
    case -EBUSY:
        return "; another process uses it";
    case -EBADMSG:
        return "; it is damaged or no journal";
    default:
        return "";
    }
}

int sql_error(const struct sql *sql, const char *what, struct err *err)
{
    const int rc = errno_of(sql->db);
    const char *why = rc == -ENOSPC ? strerror(ENOSPC) : sqlite3_errmsg(sql->db);

    return err_set(err, rc, "journal '%s': %s: %s%s", sql->path, what, why, advice(rc));
}

int sql_run(const struct sql *sql, const char *statements, struct err *err)
{
    if (sqlite3_exec(sql->db, statements, NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    return sql_error(sql, "cannot use it", err);
}

int sql_prepare(const struct sql *sql, const char *text, sqlite3_stmt **out, struct err *err)
{
    if (sqlite3_prepare_v3(sql->db, text, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) == SQLITE_OK)
        return 0;
    return sql_error(sql, "cannot use it", err);
}

int sql_step(const struct sql *sql, sqlite3_stmt *statement, struct err *err)
{
    const int rc =
        sqlite3_step(statement) == SQLITE_DONE ? 0 : sql_error(sql, "cannot write it", err);

    sqlite3_reset(statement);
    return rc;
}

void sql_roll_back(const struct sql *sql)
{
    if (!sqlite3_get_autocommit(sql->db))
        (void)sql_run(sql, "ROLLBACK", NULL);
}

int sql_number(const struct sql *sql, const char *statement, int64_t *out, struct err *err)
{
    sqlite3_stmt *query;
    int rc = sql_prepare(sql, statement, &query, err);

    if (rc < 0)
        return rc;
    if (sqlite3_step(query) == SQLITE_ROW)
        *out = sqlite3_column_int64(query, 0);
    else
        rc = sql_error(sql, "cannot read it", err);
    sqlite3_finalize(query);
    return rc;
}
