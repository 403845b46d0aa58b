/* timeout.h - fields and functions that the parts of `pawl timeout` share: timeout.c shows timeouts,
 * timeout_find.c selects them, timeout_settle.c cancels, moves, reaps and releases them, and sets one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_TIMEOUT_H
#define PAWL_CLI_TIMEOUT_H

#include "cli/bulk/bulk_loop.h"
#include "cli/saga/saga_find.h"

typedef struct pawl__timeout_fields {
    pawl__store_fields at;
    pawl__bulk_words   words;
    const char        *destination, *name, *saga, *saga_type;
    pawl_time          since, until, to;
    pawl__saga_book    book; /* of the application */
    int64_t            by, limit;
} pawl__timeout_fields;

/* Reads the matching timeouts page by page, in the order of their due times. */
typedef struct pawl__timeout_cursor {
    const pawl__timeout_fields *fields;
    pawl_store                 *store;
    pawl_timeout_query          query;     /* --saga is read into it */
    pawl_text                   type;      /* of --saga; may be empty */
    pawl_time                   lease_max; /* only those whose lease expired by then; 0: any */
    bool                        is_brief;  /* rows without headers and correlation id */
    bool                        is_over;
    pawl_timeout_row            last;
    pawl_arena                 *looked;
    pawl_timeout_rows           page; /* rows of the store, in the arena `looked` */
    size_t                      at;   /* index in `page` of the next row */
} pawl__timeout_cursor;
/* Sets lease_max and is_brief to zero. The saga's texts live in the arena. `end` is called after a failure, too. */
pawl_code pawl__timeout_cursor_begin(const pawl__timeout_fields *fields, pawl_store *store,
                                     pawl_arena *arena, pawl__timeout_cursor *cursor,
                                     pawl_error *error);
void      pawl__timeout_cursor_end(pawl__timeout_cursor *cursor);
/* A page of `count_max` timeouts, or of fewer at the end. */
pawl_code pawl__timeout_page(pawl__timeout_cursor *cursor, size_t count_max, pawl_arena *arena,
                             pawl_timeout_rows *found, pawl_error *error);
/* The timeouts with the ids that were given, each once, in that order; with --saga they must be of this saga.
 * PAWL_ENOTFOUND names an id without a timeout. */
pawl_code pawl__timeout_named(const pawl__timeout_cursor *cursor, pawl_arena *arena,
                              pawl_timeout_rows *rows, pawl_error *error);

/* Has the timeout a lease that expired by `now`? */
bool pawl__timeout_is_expired(const pawl_timeout_row *row, pawl_time now);
/* The timeout of an id, by indexes. */
pawl_code pawl__timeout_find(pawl_store *store, pawl_uuid id, pawl_arena *arena,
                             pawl_timeout_row *row, bool *is_there, pawl_error *error);

typedef struct pawl__shown_timeout {
    pawl_timeout_row row; /* first: list and show have columns of it in common */
    pawl_text        next;
    pawl_text        saga; /* TYPE/VALUE */
} pawl__shown_timeout;

extern const pawl__column pawl__timeout_columns[];
extern const pawl__noun   pawl__timeouts;
/* Makes the rows to print, with the names of sagas that exist: people see the name instead of the saga's type. */
pawl_code pawl__timeout_shown(const pawl__timeout_fields *fields, pawl_store *store,
                              const pawl_timeout_row *rows, size_t count, pawl_arena *arena,
                              pawl__shown_timeout **shown, pawl_error *error);
/* The same rows with other columns: who leases them until when. */
extern const pawl__noun pawl__timeout_leases;

/* cancel, move, reap and release; their words are checked before the store is opened. */
pawl_code       pawl__timeout_settle_check(const pawl__timeout_fields *fields, pawl_error *error);
pawl__action_fn pawl__timeout_settle;
/* set; likewise. */
pawl_code       pawl__timeout_set_check(const pawl__timeout_fields *fields, pawl_error *error);
pawl__action_fn pawl__timeout_set;

#endif
