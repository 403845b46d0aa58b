/* bulk_loop.h - the loop in which verbs settle many rows: dead and outbox retry|discard, queue purge|move, timeout
 * cancel|move|reap|run-now.
 *
 *     verb selects and counts -> question, or dry run's output -> { page -> { wait for the rate -> settle a slice } }
 *                                  -> counts
 *
 * The verb freezes its selection, and supplies texts and functions. SIGINT and SIGTERM end the loop after a slice,
 * whose rows stay done. The rate is an average since the start, so later slices make up for a slow commit. After a
 * longer wait, for example for a lock, only one slice is made up for: more rows at once would exceed the rate.
 *
 * Threads: none; called from main.
 * Tests: tests/unit/cli/test_command_bulk.c, tests/system/command_dead.sh, command_outbox.sh, command_queue.sh,
 * command_timeout.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_BULK_LOOP_H
#define PAWL_CLI_BULK_LOOP_H

#include "cli/cli.h"

#define PAWL__BULK_PAGE 256 /* rows of one commit, at most */
#define PAWL__BULK_COUNTS_MAX 3

/* The options that all of these verbs have. */
typedef struct pawl__bulk_words {
    const char *action; /* such as "retry" */
    pawl__texts ids;
    const char *reason;
    int64_t     rate; /* rows per second; 0: no limit */
    bool is_all; /* false: rows are named, so there is neither a question nor a progress report */
    bool is_agreed, is_dry, is_json;
} pawl__bulk_words;

/* Rows that were not settled for a reason, such as "was no longer dead". */
typedef struct pawl__bulk_count {
    const char *key; /* in JSON; NULL ends the list */
    size_t      count;
    const char *one, *many; /* texts after the number */
} pawl__bulk_count;

typedef struct pawl__bulk_loop {
    const pawl__store_fields *at;
    const pawl__bulk_words   *words;

    /* "send 12 dead letters of URL again?": verb, noun, place and ending; the last two may be NULL. */
    const char *command; /* the command that asks; NULL: the action and " --all" */
    const char *question, *noun, *place, *ending;
    const char *asked;      /* the noun in the question; NULL: `noun` */
    const char *done, *key; /* "run now", and its key in JSON */
    const char *to, *until; /* texts after the number of rows that were settled, or would be */
    const char *note;       /* after a number that is not 0 */
    const char *resume;     /* "; --until TIME goes on" */
    pawl__fact  first, dry, last; /* `dry` and `last` are printed by a dry run */
    pawl__fact  time_limit;       /* a further time that freezes the selection; no key: none */

    /* Reads the next rows, at most `size`. NULL: the whole selection is one page. */
    pawl_code (*page)(void *context, size_t size, size_t *count, bool *is_last, pawl_error *error);
    /* Settles rows of the page in one commit, and counts the settled ones. */
    pawl_code (*settle)(void *context, size_t first, size_t count, size_t *done, pawl_error *error);
    /* Called before the first page, after the confirmation; or NULL. */
    pawl_code (*begin)(void *context, pawl_error *error);
    void *context;

    size_t           total; /* rows of the selection */
    size_t           seen, did;
    pawl__bulk_count left[PAWL__BULK_COUNTS_MAX + 1]; /* counted by `settle` */
} pawl__bulk_loop;

pawl_code pawl__bulk_loop_run(pawl__bulk_loop *it, pawl_error *error);
/* Prints the last line, or the object: rows that were done, or would be. */
pawl_code pawl__bulk_loop_print(const pawl__bulk_loop *it);

/* PAWL_EINVAL: neither rows nor --all, or both; or a filter, or an option for --all only, without --all. `verb`, `ids`
 * and `rows`: "dead", "message IDs", "dead letters". */
pawl_code pawl__bulk_words_check(const pawl__bulk_words *words, const char *verb, const char *ids,
                                 const char *rows, bool has_filter, pawl_error *error);

/* ---- The pace, also of verbs that only read ------------------------------------- */

/* Waits until the next row is due, if `done` rows were done since `begun`; a signal ends the wait. If it is late by
 * more than a slice, moves `begun`. */
void pawl__pace_wait(int64_t *begun, int64_t done, int64_t rate);

#endif
