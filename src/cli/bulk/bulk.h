/* bulk.h - actions on all that matches, which go on after whoever began them is gone.
 *
 * An action is a stream of the event store: what was selected, by whom, how far it is and how it ended. The selection is
 * frozen when it begins, by the verb's own --until, or --last and --due-at, and the verb works it off: what is done matches no longer, so
 * that the same words go on wherever they stopped.
 *
 *     pawl.bulk/ID   pawl.bulk_started   { pawl.bulk_progress }   pawl.bulk_finished or pawl.bulk_stopped
 *
 * bulk.c has the verb, bulk_stream.c the stream, bulk_run.c works an action off.
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
    pawl_text        command; /* its words, for people */
    pawl_text        words;   /* a JSON array */
    int64_t          total, done;
    pawl_time        started, ended, progress_at;
    pawl_text        by, reason, asker, result;
} pawl__bulk_row;

extern const char *const pawl__bulk_state_names[]; /* ends with NULL */

/* PAWL_ENOTFOUND: there is no such action. */
pawl_code pawl__bulk_load(pawl_store *store, pawl_text id, pawl_arena *arena, pawl__bulk_row *row,
                          pawl_event_rows *events, pawl_error *error);

/* An event, with members of its own. */
typedef struct pawl__bulk_note {
    const char *type;
    pawl_text   by, reason;
    const char *keys[3]; /* NULL: fewer */
    pawl_text   values[3];
} pawl__bulk_note;

/* Appends it to the stream; again while another process appends. PAWL_ECONFLICT: it did so for too long, or the action is
 * over. */
pawl_code pawl__bulk_append(pawl_store *store, pawl_text id, const pawl__bulk_note *what,
                            pawl_error *error);

/* ---- Its words (bulk_run.c) ---------------------------------------------------- */

/* An action that may be a bulk action. */
typedef struct pawl__bulk_kind {
    const char *verb, *action;
    const char *all;    /* a word that it needs; or NULL */
    const char *option; /* freezes the selection; a dry run prints its value */
} pawl__bulk_kind;

/* NULL: the words are of no such action, or have an option that `start` and `run` give themselves or that names a program or
 * another store. The words of an action come from the store, so `run` checks them again. */
const pawl__bulk_kind *pawl__bulk_kind_find(const char *const *words, size_t count,
                                            pawl_error *error);
/* Where "--rate", or "--rate=5", stands behind the verb and its action; `count`: nowhere. Of words that are of a kind. */
size_t pawl__bulk_find(const char *const *words, size_t count, const char *option);
/* Puts an option behind the verb and its action: behind "--" it would be an argument. */
void pawl__bulk_word(const char **words, size_t *count, const char *word);
/* Runs the words, to which it adds those that all of them have: `words` has room for PAWL__BULK_WORDS_MAX. */
pawl_code pawl__bulk_run_words(const pawl__bulk_fields *fields, const char **words, size_t count,
                               const pawl__child *how, pawl_text asker, pawl_arena *arena,
                               pawl__child_result *result, pawl_error *error);
/* The last line that the verb said, as a failure of this one. */
pawl_code pawl__bulk_pass_on(const pawl__child_result *result, pawl_error *error);
/* `pawl bulk run`. */
pawl__action_fn pawl__bulk_run;

#endif
