/* saga.h - `pawl saga`: what its files share.
 *
 * Tests: tests/system/command_saga*.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_SAGA_H
#define PAWL_CLI_SAGA_H

#include "cli/saga/saga_find.h"

typedef struct pawl__saga_fields {
    const char        *action;
    const char        *shown; /* delete and show: TYPE/VALUE */
    pawl__store_fields at;
    const char        *application;
    const char        *saga_prefix;
    pawl__saga_book    book; /* of the application */
    bool               is_json;
    const char        *format; /* history; NULL: text */
    /* list and show */
    const char *type;
    const char *after;
    int64_t     limit;
    bool        is_revealed;
    /* delete */
    const char *reason;
    bool        is_agreed;
    /* verify-upgrade */
    const char *from;
    const char *resume;
    pawl__texts removed;  /* TYPE.MEMBER: known to be gone */
    pawl__texts intended; /* TYPE.MEMBER: known to have another default */
    int64_t     rate;     /* rows in a second */
} pawl__saga_fields;

/* saga_list.c: list and show; delete as well needs an application, which has the tables of its sagas. */
pawl_code     pawl__saga_look_check(const pawl__saga_fields *fields, pawl_error *error);
pawl__look_fn pawl__saga_list, pawl__saga_show;
/* PAWL_EINVAL: the application has no sagas of the type; it names those that it has. */
pawl_code pawl__saga_type_check(const pawl__saga_fields *fields, pawl_text type, pawl_error *error);

/* saga_delete.c: deletes the saga that TYPE/VALUE names, with its timeouts. */
pawl__look_fn pawl__saga_delete;
/* saga_history.c: history, which needs no application. */
pawl__look_fn pawl__saga_history;

/* ---- The lines of a saga, and how they are drawn ---- */

extern const pawl__column pawl__history_columns[];

/* Prints the lines as "text", "mermaid", "dot" or "xes". */
pawl_code pawl__history_print(const char *format, pawl_text name, const pawl_history_row *lines,
                              size_t count, FILE *out, pawl_error *error);

#endif
