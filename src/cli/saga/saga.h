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
    pawl__store_fields at;
    const char        *action;
    const char        *shown;         /* delete and show: TYPE/VALUE */
    pawl__saga_book    book;          /* of the application */
    const char        *format;        /* history; NULL: text */
    const char        *type, *after;  /* list */
    const char        *reason;        /* delete */
    const char        *from, *resume; /* verify-upgrade */
    pawl__texts removed, intended;    /* TYPE.MEMBER: known to be gone, to have another default */
    int64_t     rate;                 /* rows in a second */
    int64_t     limit;
    bool        is_json, is_revealed, is_agreed;
} pawl__saga_fields;

/* saga_history.c: history, which needs no application. */
pawl__action_fn pawl__saga_history;

extern const pawl__column pawl__history_columns[];

#define PAWL__VERIFY_EXAMPLES 3  /* of a group */
#define PAWL__VERIFY_GROUPS 1000 /* findings outside of these groups are only counted */

/* ---- The report ----------------------------------------------------------- */

typedef struct pawl__verify_example {
    pawl_text id, text;
} pawl__verify_example;

/* Findings with the same reason, kind, type, version and member. */
typedef struct pawl__verify_group {
    pawl_upgrade_reason  reason;
    pawl_text            kind, type, member;
    int32_t              version;
    int64_t              count, last; /* rows; number of the last one, counted over all pages */
    pawl__verify_example examples[PAWL__VERIFY_EXAMPLES];
    size_t               example_count;
} pawl__verify_group;

typedef struct pawl__verify_report {
    pawl_arena         *arena; /* of its texts */
    const pawl__texts  *removed, *intended;
    pawl__verify_group *groups;
    size_t              count, capacity;
    int64_t             more; /* findings without a group of their own */
    int64_t             rows; /* looked at */
} pawl__verify_report;

/* A pawl_upgrade_fn whose context is the report. */
pawl_upgrade_fn pawl__verify_add;
/* Groups that are findings; the others are warnings. */
size_t    pawl__verify_findings(const pawl__verify_report *report);
pawl_code pawl__verify_print(const pawl__verify_report *report, bool is_json);
/* The groups as a JSON array, findings or warnings. */
void pawl__verify_json(const pawl__verify_report *report, bool are_findings, yyjson_mut_doc *doc,
                       yyjson_mut_val *array);

/* ---- Resuming an interrupted run ------------------------------------------ */

#define PAWL__VERIFY_OF 7 /* options that must be the same when a run is resumed */

/* Where a run stands: behind `row` of a stage. */
typedef struct pawl__verify_cursor {
    pawl_text     of[PAWL__VERIFY_OF]; /* their values; a file with others is refused */
    pawl_text     stage;               /* empty: at the begin */
    pawl_scan_row row;
} pawl__verify_cursor;

/* Fills `of`; the value of a program is its path and a digest of the file. */
pawl_code pawl__verify_resume_of(const pawl__saga_fields *fields, pawl_arena *arena,
                                 pawl__verify_cursor *cursor, pawl_error *error);

/* Reads the file of --resume, if it exists. Texts live in the arena of the report. */
pawl_code pawl__verify_resume_read(const char *path, pawl__verify_cursor *cursor,
                                   pawl__verify_report *report, pawl_error *error);
pawl_code pawl__verify_resume_write(const char *path, const pawl__verify_cursor *cursor,
                                    const pawl__verify_report *report, pawl_error *error);

/* ---- The action ----------------------------------------------------------- */

pawl_code pawl__verify_check(pawl__saga_fields *fields, pawl_error *error);
/* Returns the exit code. */
int pawl__verify(const pawl__saga_fields *fields);

#endif
