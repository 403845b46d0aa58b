/* bulk_loop.h - the one loop in which a verb settles many rows: dead and outbox retry|discard, queue purge|move, timeout
 * cancel|move|reap|run-now.
 *
 *     the verb selects, and counts -> asked, or a dry run's line -> { page -> { waits for the rate -> settles a slice } }
 *                                  -> the counts
 *
 * The verb freezes its selection, fills the words and has the functions; all else is here. SIGINT and SIGTERM end the loop
 * behind a slice, whose rows stay done. The rate is kept by the clock since the begin, so that a slow commit is made up for; a longer wait, for a
 * lock or another server for example, is made up for by one slice, as rows that come all at once would exceed the rate.
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
    const char *action; /* "retry" */
    pawl__texts ids;
    const char *reason;
    int64_t     rate; /* rows a second; 0: as fast as can be */
    bool
        is_all; /* not of rows that are named: these are neither asked about nor told of in between */
    bool is_agreed, is_dry, is_json;
} pawl__bulk_words;

/* Rows that were not done, and why: "was no longer dead". */
typedef struct pawl__bulk_count {
    const char *key; /* in JSON; NULL ends the list */
    size_t      count;
    const char *one, *many; /* behind the number */
} pawl__bulk_count;

typedef struct pawl__bulk_loop {
    const pawl__store_fields *at;
    const pawl__bulk_words   *words;

    /* "send 12 dead letters of URL again?": verb, noun, place and ending. All behind the noun, and `command`, may be NULL. */
    const char *command; /* asks first; NULL: the action and " --all" */
    const char *question, *noun, *place, *ending;
    const char *asked;            /* the noun in the question; NULL: the same */
    const char *done, *key;       /* "run now", and its key in JSON */
    const char *to, *until;       /* said behind the rows that were done, and that would be */
    const char *note;             /* behind a number that is not 0 */
    const char *resume;           /* "; --until TIME goes on" */
    pawl__fact  first, dry, last; /* the dry run has `dry`, and `last` */
    pawl__fact  moment; /* the time that freezes the selection beside `last`; no key: none */

    /* Reads the next rows, at best `size`. NULL: the whole selection is one page. */
    pawl_code (*page)(void *context, size_t size, size_t *count, bool *is_last, pawl_error *error);
    /* Settles rows of the page in one commit, and counts those that it did. */
    pawl_code (*settle)(void *context, size_t first, size_t count, size_t *done, pawl_error *error);
    /* Called before the first page, once it is agreed to; or NULL. */
    pawl_code (*begin)(void *context, pawl_error *error);
    void *context;

    size_t           total; /* rows of the selection */
    size_t           seen, did;
    pawl__bulk_count left[PAWL__BULK_COUNTS_MAX + 1]; /* counted by `settle` */
} pawl__bulk_loop;

pawl_code pawl__bulk_loop_run(pawl__bulk_loop *it, pawl_error *error);
/* The line or the object at the end: rows that were done, or would be. */
pawl_code pawl__bulk_loop_print(const pawl__bulk_loop *it);

/* PAWL_EINVAL: neither rows nor --all, or both; or a filter or an option that goes with --all, without it. `verb`, `ids`
 * and `rows`: "dead", "message IDs", "dead letters". */
pawl_code pawl__bulk_words_check(const pawl__bulk_words *words, const char *verb, const char *ids,
                                 const char *rows, bool has_filter, pawl_error *error);

/* ---- The pace, also of verbs that only read ------------------------------------- */

/* Waits until the next is due when `done` are done since `begun`; a signal ends it. Later than a slice of bulk actions takes:
 * `begun` is put off. */
void pawl__pace_wait(int64_t *begun, int64_t done, int64_t rate);

#endif
