/* SPDX-License-Identifier: Apache-2.0 */
/* strict_fields.h - private to the readers of what machines wrote: rows of tables of fields that
 * are all required, with whole numbers of any size. AT(member) is the offset in the caller's
 * struct; each table defines it. */
#pragma once
#include "wire/fields.h"

#define STRICT(label, type, member, min, max)                                                      \
    {                                                                                              \
        label, type, NUMBER_WHOLE, true, AT(member), min, max                                      \
    }
#define TEXT(label, member)       STRICT(label, FIELD_TEXT, member, 0, 0)
#define TEXTS(label, member, max) STRICT(label, FIELD_TEXTS, member, 0, max)
#define I64(label, member)        STRICT(label, FIELD_I64, member, INT64_MIN, INT64_MAX)
#define U32(label, member)        STRICT(label, FIELD_U32, member, 0, UINT32_MAX)
#define U64(label, member)        STRICT(label, FIELD_U64, member, 0, 0)
#define BOOL(label, member)       STRICT(label, FIELD_BOOL, member, 0, 0)
#define NODE(label, member)       STRICT(label, FIELD_NODE, member, 0, 0)
