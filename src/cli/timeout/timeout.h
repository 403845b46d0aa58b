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

/* The timeouts that match now, by due time, `count_max` of them (0: all) and more if they were read with these; with ids the
 * named ones, in their order. PAWL_ENOTFOUND names one that is not there. */
pawl_code pawl__timeout_select(const pawl__timeout_fields *fields, size_t count_max,
                               pawl_store *store, pawl_arena *arena, pawl_timeout_rows *rows,
                               pawl_error *error);

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
/* Makes the rows to print; each is named by its saga, where that is there. For people the name stands
 * in the place of the saga's type. */
pawl_code pawl__timeout_shown(const pawl__timeout_fields *fields, pawl_store *store,
                              const pawl_timeout_row *rows, size_t count, pawl_arena *arena,
                              pawl__shown_timeout **shown, pawl_error *error);
/* Prints whose timeouts these are, and who leases them until when. */
pawl_code pawl__timeout_print_leases(const pawl__timeout_fields *fields, pawl_store *store,
                                     const pawl_timeout_row *rows, size_t count, pawl_arena *arena,
                                     pawl_error *error);

/* cancel, move, reap and release; their words are checked before the store is opened. */
pawl_code       pawl__timeout_settle_check(const pawl__timeout_fields *fields, pawl_error *error);
pawl__action_fn pawl__timeout_settle;
/* set; likewise. */
pawl_code       pawl__timeout_set_check(const pawl__timeout_fields *fields, pawl_error *error);
pawl__action_fn pawl__timeout_set;

#endif
