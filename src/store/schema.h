/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - the tables of a journal, and how a file of an older version comes to have them. */
#pragma once
#include "store/sql.h"

/* "brth", by which the file is known (PRAGMA application_id). */
#define SCHEMA_APPLICATION 0x62727468
#define SCHEMA_VERSION     2

/* Makes the tables, or changes them step by step, each step whole or not at all. -EPROTO: the file
 * is of a later version. -EBADMSG: it is another program's. */
int schema_bring_up(const struct sql *sql, struct err *err);
