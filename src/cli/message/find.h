/* find.h - `pawl find`, the search for messages by their content: find.c parses the words and prints, find_match.c
 * compares a message with the conditions, find_pages.c reads the places page by page.
 *
 *     pawl__find_read -> { pawl__find_page -> pawl__find_match -> pawl__find_detail }* -> pawl__find_free
 *
 * Threads: none; called from main.
 * Tests: tests/unit/cli/test_command_find.c, tests/system/command_find.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_FIND_H
#define PAWL_CLI_FIND_H

#include "cli/cli.h"

/* ---- Conditions ---------------------------------------------------------- */

#define PAWL__FIND_STEPS_MAX 32 /* members of a path plus nested arrays; bounds the recursion */

typedef enum pawl__find_part {
    PAWL__FIND_BODY, /* a member; the only part whose test parses the body */
    PAWL__FIND_HEADER,
    PAWL__FIND_ID,
    PAWL__FIND_TYPE,
    PAWL__FIND_CORRELATION,
    PAWL__FIND_CAUSATION,
} pawl__find_part;

/* One NAME=VALUE. Texts are borrowed from the word. */
typedef struct pawl__find_condition {
    pawl__find_part part;
    pawl_text       name; /* path of the member, or name of the header; else empty */
    pawl_text       value;
    yyjson_doc     *json; /* BODY: the value where it is a number, true, false, null or "text" */
} pawl__find_condition;

typedef struct pawl__find_conditions {
    pawl__find_condition items[PAWL__TEXTS_MAX];
    size_t               count;
} pawl__find_conditions;

/* PAWL_EINVAL names what is wrong with a word. pawl__find_free afterwards, after a failure too. */
pawl_code pawl__find_read(const pawl__texts *words, pawl__find_conditions *conditions,
                          pawl_error *error);
void      pawl__find_free(pawl__find_conditions *conditions);

typedef enum pawl__find_verdict {
    PAWL__FIND_NO,
    PAWL__FIND_YES,       /* all conditions hold */
    PAWL__FIND_UNREADABLE /* a condition asks for a member, and the body is no JSON */
} pawl__find_verdict;

pawl__find_verdict pawl__find_match(const pawl__find_conditions *conditions,
                                    const pawl_message          *message);

/* ---- Places -------------------------------------------------------------- */

/* The kinds of tables that are searched, in this order. */
typedef enum pawl__find_place {
    PAWL__FIND_DEAD,
    PAWL__FIND_QUEUE,
    PAWL__FIND_OUTBOX,
    PAWL__FIND_AGGREGATOR,
    PAWL__FIND_HISTORY,
    PAWL__FIND_PLACES
} pawl__find_place;

extern const char *const pawl__find_place_names[]; /* as --in has them; ends with NULL */
extern const char *const pawl__find_place_nouns[]; /* "dead letters" */

/* A message where it was found. Texts live in the arena of the page. */
typedef struct pawl__found {
    pawl_text    place;
    pawl_message message;
    pawl_text    queue;    /* or destination, or aggregator */
    pawl_text    endpoint; /* or empty */
    pawl_text    state;    /* for people */
    pawl_text    error;    /* the last one */
    pawl_time    at;       /* when it was placed, dead-lettered, sent or settled; 0: not known */
    int32_t      attempts;
    int64_t      number; /* of the row; 0: it has none */
    pawl_time    due;    /* of a message in a queue */
    pawl_text    run;    /* the command that shows it */
} pawl__found;

typedef struct pawl__find_cursor {
    pawl_store      *store;
    pawl_text        queue;      /* --queue, or empty */
    pawl_text        message_id; /* of the condition id=, or empty */
    pawl_time        now;
    pawl__find_place place;
    /* Key of the last row that was looked at. */
    bool      has_key;
    int64_t   number;
    pawl_time due;
    char      endpoint[PAWL_NAME_SIZE_MAX], id[PAWL_MESSAGE_ID_SIZE_MAX];
    size_t    endpoint_size, id_size;
    size_t    page_rows; /* of the next page */
} pawl__find_cursor;

/* The cursor before the first row of a place. */
void pawl__find_enter(pawl__find_cursor *cursor, pawl__find_place place);
/* The rows behind the cursor; `*is_last`: there are no more. The cursor does not move. */
pawl_code pawl__find_page(pawl__find_cursor *cursor, pawl_arena *arena, pawl__found **rows,
                          size_t *count, bool *is_last, pawl_error *error);
/* Moves the cursor behind the row. */
void pawl__find_pass(pawl__find_cursor *cursor, const pawl__found *row);
/* Fills the fields for people; `*is_there` is false when the row is gone, or belongs to another queue. */
pawl_code pawl__find_detail(const pawl__find_cursor *cursor, pawl__found *row, pawl_arena *arena,
                            bool *is_there, pawl_error *error);

/* The cursor as text, for --after: "queue:4711". */
pawl_text pawl__find_cursor_text(const pawl__find_cursor *cursor, pawl_arena *arena);
/* PAWL_EINVAL: the text is no cursor, or that of a search with another --queue. */
pawl_code pawl__find_cursor_read(const char *text, pawl__find_cursor *cursor, pawl_error *error);

#endif
