/* bulk.h - bulk actions: a verb on all matching rows, which continues after the operator who started it has left.
 *
 * An action is a stream in the event store: the selection, its operator, the progress and the result. The selection is
 * frozen at the start, by the verb's own --until, or --last and --due-at. Rows that are done no longer match, so
 * running the same command again continues where it stopped.
 *
 *     pawl.bulk/ID   pawl.bulk_started   { pawl.bulk_progress }   pawl.bulk_finished or pawl.bulk_stopped
 *
 * bulk.c has the verb, bulk_stream.c the stream, bulk_run.c runs an action.
 *
 * Threads: none; called from main.
 * Tests: tests/system/command_bulk.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_BULK_H
#define PAWL_CLI_BULK_H

#include "cli/base/child.h"
#include "cli/cli.h"

#define PAWL__BULK_STREAMS "pawl.bulk"
#define PAWL__BULK_LIST "pawl.bulk_list/all" /* stream of an event per action, with the ID */
#define PAWL__BULK_LISTED_EVENT "pawl.bulk_listed"
#define PAWL__BULK_STARTED_EVENT "pawl.bulk_started"
#define PAWL__BULK_PROGRESS_EVENT "pawl.bulk_progress"
#define PAWL__BULK_FINISHED_EVENT "pawl.bulk_finished"
#define PAWL__BULK_STOPPED_EVENT "pawl.bulk_stopped"
#define PAWL__BULK_WORDS_MAX (PAWL__TEXTS_MAX + 16)

typedef struct pawl__bulk_fields {
    pawl__store_fields at;
    const char        *action, *reason, *app;
    pawl__texts        words;
    int64_t            limit;
    bool               is_json, is_open;
} pawl__bulk_fields;

/* ---- The stream (bulk_stream.c) ---------------------------------------------- */

typedef enum pawl__bulk_state {
    PAWL__BULK_OPEN,
    PAWL__BULK_FINISHED,
    PAWL__BULK_STOPPED
} pawl__bulk_state;

typedef struct pawl__bulk_row {
    pawl_text        id;
    pawl__bulk_state state;
    pawl_text        command; /* the words as a command line, for people */
    pawl_text        words;   /* a JSON array */
    int64_t          total, done;
    pawl_text        left; /* of a finished action: number of rows that stay as they were */
    pawl_time        started, ended;
    pawl_text        by, reason, asker, result;
} pawl__bulk_row;

extern const char *const pawl__bulk_state_names[]; /* ends with NULL */

/* PAWL_ENOTFOUND: there is no such action. */
pawl_code pawl__bulk_load(pawl_store *store, pawl_text id, pawl_arena *arena, pawl__bulk_row *row,
                          pawl_event_rows *events, pawl_error *error);

/* The action that an event of PAWL__BULK_LIST names. */
pawl_text pawl__bulk_listed(const pawl_event_row *event, pawl_arena *arena);

/* An event, with up to three members of its own. */
typedef struct pawl__bulk_note {
    const char *type;
    pawl_text   by, reason;
    const char *keys[3]; /* NULL: fewer */
    pawl_text   values[3];
} pawl__bulk_note;

/* Appends the event; tries again while other processes append to the stream. PAWL_ECONFLICT: they did for too long, or
 * the action is over. */
pawl_code pawl__bulk_append(pawl_store *store, pawl_text id, const pawl__bulk_note *what,
                            pawl_error *error);

/* ---- Words of an action, its arguments (bulk_run.c) ---------------------------- */

/* A verb and its action that can run as a bulk action. */
typedef struct pawl__bulk_kind {
    const char *verb, *action;
    const char *all;    /* an option that it requires; or NULL */
    const char *option; /* the option that freezes the selection; a dry run prints its value */
} pawl__bulk_kind;

/* NULL: no such action, or the words have an option that `start` and `run` set themselves, or that names a program or
 * another store. `run` checks again, as it reads the words from the store. */
const pawl__bulk_kind *pawl__bulk_kind_find(const char *const *words, size_t count,
                                            pawl_error *error);
/* Index of the option, as "--rate" or "--rate=5"; `count`: not found. The words must be those of a kind. */
size_t pawl__bulk_find(const char *const *words, size_t count, const char *option);
/* Inserts the word after the verb and its action; after a "--" it would be an argument. */
void pawl__bulk_word(const char **words, size_t *count, const char *word);
/* Runs the words plus those that all actions need: `words` has room for PAWL__BULK_WORDS_MAX. */
pawl_code pawl__bulk_run_words(const pawl__bulk_fields *fields, const char **words, size_t count,
                               const pawl__child *how, pawl_text asker, pawl_arena *arena,
                               pawl__child_result *result, pawl_error *error);
/* Returns the last line that the verb printed as an error. */
pawl_code pawl__bulk_pass_on(const pawl__child_result *result, pawl_error *error);
/* `pawl bulk run`. */
pawl__action_fn pawl__bulk_run;

#endif
