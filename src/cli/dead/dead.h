/* dead.h - fields and functions that the parts of `pawl dead` share: dead.c shows letters, dead_settle.c retries,
 * discards and edits them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_DEAD_H
#define PAWL_CLI_DEAD_H

#include "cli/bulk/bulk_loop.h"
#include "cli/saga/saga_find.h"

typedef struct pawl__dead_fields {
    pawl__store_fields at;
    pawl__bulk_words   words;
    const char        *endpoint, *type, *code, *error_part;
    pawl_time          since, until;
    const char        *body_file, *saga;
    pawl__saga_book    book; /* of the application, with --saga */
    int64_t            newer, older, limit;
    bool               is_revealed;
} pawl__dead_fields;

/* The selection of list and of retry --all. */
pawl_dead_query pawl__dead_query(const pawl__dead_fields *fields, pawl_time now);
/* Finds the letter of a message. PAWL_ENOTFOUND; PAWL_EINVAL if several endpoints have one with this id, and no
 * endpoint is named. */
pawl_code pawl__dead_letter_find(const pawl__dead_fields *fields, pawl_store *store, const char *id,
                                 pawl_arena *arena, pawl_dead_row *letter, pawl_error *error);

/* False: the letter has no type or no queue, which happens with messages from brokers, and can only be discarded. */
bool pawl__dead_is_sendable(const pawl_dead_row *letter);

/* Reads letters page by page; keeps the key of the last one. */
typedef struct pawl__dead_cursor {
    pawl_store     *store;
    pawl_dead_query query;
    pawl_dead_row   last;
    char            endpoint[PAWL_NAME_SIZE_MAX], id[PAWL_MESSAGE_ID_SIZE_MAX];
    /* selects letters of a saga; without a model all letters match */
    pawl__saga_letters of;
} pawl__dead_cursor;
/* Begins at the first letter, of the saga if --saga is given. Texts of the saga live in the arena. */
pawl_code pawl__dead_cursor_begin(const pawl__dead_fields *fields, pawl_store *store,
                                  pawl_arena *arena, pawl__dead_cursor *cursor, pawl_error *error);
/* Reads `count_max` letters, or fewer at the end or if the size limit cuts the page. */
pawl_code pawl__dead_page(pawl__dead_cursor *cursor, size_t count_max, pawl_arena *arena,
                          pawl_dead_rows *found, pawl_error *error);

/* retry, discard and edit: checks their options before the store is opened. */
pawl_code       pawl__dead_settle_check(const pawl__dead_fields *fields, pawl_error *error);
pawl__action_fn pawl__dead_settle;
pawl__action_fn pawl__dead_edit;

#endif
