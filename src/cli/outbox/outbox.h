/* outbox.h - fields and functions that both halves of `pawl outbox` use: outbox.c shows rows,
 * outbox_reset.c settles dead ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_OUTBOX_H
#define PAWL_CLI_OUTBOX_H

#include "cli/bulk/bulk_loop.h"
#include "cli/saga/saga_find.h"

typedef struct pawl__outbox_fields {
    pawl__store_fields at;
    pawl__bulk_words   words;
    const char        *states; /* --state, as it was given */
    const char        *dispatch_id;
    const char        *endpoint, *source, *destination, *type, *causation_id;
    const char        *saga;
    pawl__saga_book    book; /* of the application */
    int64_t            id, after, limit, attempts;
    bool               is_revealed;
} pawl__outbox_fields;

/* The selection of list and retry --all. PAWL_EINVAL names the option. */
pawl_code pawl__outbox_query(const pawl__outbox_fields *fields, pawl_outbox_query *query,
                             pawl_error *error);
/* Looks up the saga of --saga, and adds it to the query. PAWL_ENOTFOUND: there is no such saga. */
pawl_code pawl__outbox_query_saga(const pawl__outbox_fields *fields, pawl_store *store,
                                  pawl_arena *arena, pawl_outbox_query *query, pawl_error *error);
/* Finds the row of a number or dispatch id; PAWL_ENOTFOUND. */
pawl_code pawl__outbox_row_find(pawl_store *store, const char *word, pawl_arena *arena,
                                pawl_outbox_row *row, pawl_error *error);
/* The sentence about what happens next with the row, in the arena, and the number of the row of its source
 * that goes before it; 0: none. */
pawl_code pawl__outbox_next(pawl_store *store, const pawl_outbox_row *row, pawl_time now,
                            pawl_arena *arena, pawl_text *next, int64_t *blocker,
                            pawl_error *error);
/* The alarm that names the route of the row as unavailable, or NULL. */
pawl_code   pawl__outbox_alarm(pawl_store *store, const pawl_outbox_row *row, pawl_arena *arena,
                               const pawl_alarm **found, pawl_error *error);
const char *pawl__outbox_state_name(pawl_outbox_state state);

/* retry and discard; their words are checked before the store is opened. */
pawl_code       pawl__outbox_reset_check(const pawl__outbox_fields *fields, pawl_error *error);
pawl__action_fn pawl__outbox_reset;

#endif
