/* cli.h - the verbs of the command `pawl`, and the functions that they share.
 *
 * Each verb is a row of PAWL__VERBS. Its code is in the file of the same name, in the folder of its noun. Its
 * function parses the arguments, does the work and returns the exit code. A failure ends in pawl__fail, which prints
 * "pawl: TEXT" as the last line on standard error.
 *
 *     main.c, help.c, completion.c    find and run the verb; make help and shell completion from the verbs' tables
 *     base/        parses options, prints tables, opens stores, loads an application, runs child processes
 *     bulk/        the loop that settles many rows at a rate, and the verb `bulk`, which resumes it later
 *     queue/ dead/ outbox/ timeout/ saga/ schedule/ aggregator/ projection/ events/
 *                  list and show the rows of a noun, and act on them
 *     message/     `send` and `find`
 *     answers/     `doctor`, `stats` (and its --watch) and `why`: is something wrong, where, and what to do
 *     run/         `run` with its settings and its supervisor, and `worker`
 *     schema/ topology/ tools/    tables of a store; tables of an application; bench, conformance, version
 *     console/     HTTP server of the operator's page, which runs the verbs
 *
 * Tests: tests/system/command_*.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_CLI_H
#define PAWL_CLI_CLI_H

#include "cli/base/options.h"
#include "cli/base/table.h"
#include "pawl/operate.h"

#include <stdio.h>
#include <yyjson.h>

/* ---- Verbs ---------------------------------------------------------------- */

typedef struct pawl__verb pawl__verb;
typedef int               pawl__verb_fn(const pawl__verb *verb, int count, char **words);

/* An object that a verb prints with --json, for the list of keys in its help. */
typedef struct pawl__report {
    const char *what; /* "list, show"; of an array inside: "history, of show". NULL ends the list */
    const pawl__column *columns;
    const char         *keys; /* instead of columns: names, separated by spaces */
} pawl__report;

struct pawl__verb {
    const char           *name;
    const char           *help; /* one line */
    const pawl__argument *arguments;
    const pawl__option   *options;
    pawl__verb_fn        *run;
    const pawl__report   *reports;
};

/* Parses the words behind the verb into the struct `fields`, by pawl__options_parse. */
pawl_code pawl__verb_parse(const pawl__verb *verb, int count, char **words, void *fields,
                           pawl_error *error);

/* The table that main.c makes of PAWL__VERBS. */
const pawl__verb *pawl__verbs(size_t *count);
const pawl__verb *pawl__verb_find(const char *name);
/* PAWL_EINVAL: "there is no verb 'sned'; did you mean send?" */
pawl_code pawl__verb_refuse(const char *name, pawl_error *error);

/* The verbs, sorted by name as the help shows them: each has a function, arguments, options, and reports of what it prints
 * with --json. */
#define PAWL__VERBS(X)                                                                             \
    X(aggregator, "show what aggregators collect; run a partition now, or remove it")              \
    X(bench, "measure pawl beside a hand-written loop on the same tables")                         \
    X(bulk, "act on all that matches, and go on after an interruption; show how far it is")        \
    X(completion, "print the script with which a shell completes the words of this command")       \
    X(conformance, "check that a store keeps every promise, on tables of its own")                 \
    X(console, "serve a page that shows what is stuck and why, and repairs it, to a browser")      \
    X(dead, "show dead letters; retry, edit or discard them")                                      \
    X(doctor, "find what is wrong with a store, its server and what waits; name the remedy")       \
    X(events, "show what happened: the event store, also what operators did")                      \
    X(find, "find messages by what is in them: customer_id=4711, header:tenant=acme")              \
    X(help, "say what the command or one verb can do")                                             \
    X(outbox, "show what is to be delivered to other systems; retry or discard what is dead")      \
    X(projection, "show projections, restart one that waits, have one read events again")          \
    X(queue, "show queues and messages in them; pause, resume, purge or move what is in one")      \
    X(run, "run the endpoints of an application until it is told to stop")                         \
    X(saga, "show sagas and the history of one, delete one; verify that a new program reads all")  \
    X(schedule, "show messages that come again; add, pause, run or remove them")                   \
    X(schema, "print, apply, verify or drop the tables of a store; print who needs which rights")  \
    X(send, "send a message, or one for each line of a file")                                      \
    X(stats, "count what is in a store, and judge its health; again and again with --watch")       \
    X(timeout,                                                                                     \
      "show what is to happen and when; cancel, move or run it now, clear leases of dead workers") \
    X(topology, "print who handles, sends, publishes and times what, by an application's tables")  \
    X(version, "say which pawl this is")                                                           \
    X(why,                                                                                         \
      "say where a message, timeout, saga, outbox row ... is, what it waits for, and what helps")  \
    X(worker, "show the workers that are alive, who of them leads, and what one has in flight")
#define PAWL__VERB_DECLARE(name, help)                           \
    extern const pawl__argument pawl__##name##_verb_arguments[]; \
    extern const pawl__option   pawl__##name##_verb_options[];   \
    extern const pawl__report   pawl__##name##_verb_reports[];   \
    pawl__verb_fn               pawl__##name##_verb;
PAWL__VERBS(PAWL__VERB_DECLARE)
#undef PAWL__VERB_DECLARE

/* The page of one verb, made from its row, or of its action, if it has one of that name. */
void pawl__help_print(const pawl__verb *verb, const char *action, FILE *out);

/* ---- Memory --------------------------------------------------------------- */

/* The calls of pawl_arena, but a memory shortage ends the process, with the line and the exit code of PAWL_ENOMEM.
 * For the store this is like a kill: an open transaction is rolled back. */
void       *pawl__must(void *made);          /* ends the process if NULL */
void        pawl__must_have(pawl_code code); /* ends it if PAWL_ENOMEM */
pawl_arena *pawl__must_create(void);
void       *pawl__must_take(pawl_arena *arena, size_t size);
void *pawl__must_grow(pawl_arena *arena, void *items, size_t count, size_t *capacity, size_t size);
pawl_text pawl__must_text(pawl_arena *arena, pawl_text text);
pawl_text pawl__must_printf(pawl_arena *arena, const char *format, ...) PAWL_PRINTF(2, 3);
/* The list with one more text at its end, `between` the two unless it is empty. */
pawl_text pawl__must_join(pawl_arena *arena, pawl_text list, const char *between, pawl_text text);

/* ---- Stores --------------------------------------------------------------- */

/* The options that say which store, with which prefix of its tables, and how long one call of it may take. */
typedef struct pawl__store_fields {
    const char *store;  /* --store; pawl__store_url fills it from PAWL_STORE */
    const char *prefix; /* NULL: as PAWL__PREFIX_DEFAULT */
    int64_t     deadline;
} pawl__store_fields;

/* Fills `store` from PAWL_STORE; PAWL_EINVAL when there is none. */
pawl_code pawl__store_url(pawl__store_fields *fields, pawl_error *error);
/* The same, but refuses memory:, which no other process can open. */
pawl_code pawl__shared_store_url(pawl__store_fields *fields, pawl_error *error);
/* The options to open the store with. */
pawl_store_options pawl__store_options(const pawl__store_fields *fields, pawl_open_mode mode);

/* The work of a verb on an open store; the arena is its own to reset. */
typedef pawl_code pawl__action_fn(const void *fields, pawl_store *store, pawl_arena *arena,
                                  pawl_error *error);
/* Checks that the table of options cannot express. Called before the store is opened. */
typedef pawl_code pawl__check_fn(void *fields, pawl_error *error);
/* Runs a whole verb: parses its words into `fields`, calls `check`, opens the store of `at` (a member of `fields`)
 * and calls the function of the chosen action in `actions`; of a verb without actions the only one. */
int pawl__verb_on_store(const pawl__verb *verb, int count, char **words, void *fields,
                        pawl__store_fields *at, pawl__check_fn *check,
                        pawl__action_fn *const *actions);
/* Defines the function of such a verb. `type` is the struct of its fields, with a member `at`; its actions follow. The
 * check is check_words; if that opens something in `fields`, PAWL__VERB_CLOSED calls close(opened) at the end. */
#define PAWL__VERB_ON_STORE(name, type, ...) \
    PAWL__VERB_CLOSED(name, type, (void), fields, __VA_ARGS__)
#define PAWL__VERB_CLOSED(name, type, close, opened, ...)                                       \
    int pawl__##name##_verb(const pawl__verb *verb, int count, char **words)                    \
    {                                                                                           \
        static pawl__action_fn *const actions[] = {__VA_ARGS__};                                \
        type                          fields    = {.at = {.store = NULL}};                      \
        int                           exit_code =                                               \
            pawl__verb_on_store(verb, count, words, &fields, &fields.at, check_words, actions); \
        close(opened);                                                                          \
        return exit_code;                                                                       \
    }
/* Opens an existing store (a mistyped path creates none), runs `action`, closes it, prints a failure; the exit code. */
int pawl__on_store(pawl__store_fields *at, pawl__action_fn *action, const void *fields);

/* The text as one word of a shell, for commands that an operator pastes: unquoted, an id from outside could run a
 * command. pawl__shell_word leaves the quotes out if the text needs none. In the arena, with a NUL at the end. */
pawl_text pawl__shell_quoted(pawl_text text, pawl_arena *arena);
pawl_text pawl__shell_word(pawl_text text, pawl_arena *arena);
/* The quoted text as the first argument behind the options; "-- " precedes it if it begins with a dash. */
pawl_text pawl__shell_argument(pawl_text text, pawl_arena *arena);
/* Moves arguments of the command that begin with a dash behind "--" at its end, so that they are not parsed as
 * options. Its texts are quoted by the functions above. In the arena, with a NUL at the end. */
pawl_text pawl__shell_command(pawl_text command, pawl_arena *arena);
/* Adds --store, and --prefix if it was given, to a command of pawl; other texts stay unchanged. In the arena. */
pawl_text pawl__store_command(const pawl__store_fields *at, pawl_text command, pawl_arena *arena);

/* Is a worker of the endpoint alive? Without one nothing of it is handled or delivered. */
pawl_code pawl__has_worker(pawl_store *store, pawl_text endpoint, pawl_arena *arena, bool *is_there,
                           pawl_error *error);
/* The endpoint's alarm `what` ("breaker", "route" ...) if it is raised now; NULL: it is not, or the store has none. */
pawl_code pawl__alarm_find(pawl_store *store, pawl_text endpoint, const char *what,
                           pawl_arena *arena, const pawl_alarm **found, pawl_error *error);
/* Warns on standard error if messages of the queue will wait, because it is paused or nobody reads it. A failure of
 * this check is not reported: the messages are committed, and a script that sees a failure would send them again. */
void pawl__reader_warn(pawl_store *store, pawl_text queue, pawl_arena *arena);

/* ---- Applications --------------------------------------------------------- */

typedef struct pawl__loaded {
    void                   *library;
    const pawl_application *application;
} pawl__loaded;

/* PAWL_ECONFIG: no such file, not an application, or built for another ABI. */
pawl_code pawl__application_load(const char *path, pawl__loaded *loaded, pawl_error *error);
void      pawl__application_unload(pawl__loaded *loaded); /* harmless when nothing is loaded */
/* PAWL_ECONFIG lists the endpoints when `name` is none of them. */
pawl_code pawl__application_check_endpoint(const pawl_application *application, const char *name,
                                           pawl_error *error);

/* ---- Output --------------------------------------------------------------- */

/* Prints "pawl: TEXT" and returns the exit code; PAWL_OK prints nothing. */
int pawl__fail(pawl_code code, const pawl_error *error);
/* Prints the failure of work on a store and returns the exit code. The line names the store, without its password,
 * unless the text names it already or the exit code is 1 or 2. `url` may be NULL. */
int pawl__fail_store(pawl_code code, const pawl_error *error, const char *url);
/* `url` without its password, cut to `size`. */
const char *pawl__masked(const char *url, char *text, size_t size);
/* Prints a result or a remark as one line, without control characters: a name from the arguments or the store could
 * have escape sequences of a terminal. All sentences with names are printed by this function. */
void pawl__say(FILE *out, const char *format, ...) PAWL_PRINTF(2, 3);
/* Prints the document on one line, and destroys it. Always PAWL_OK, like other printing functions, for `return`. */
pawl_code pawl__json_print(yyjson_mut_doc *doc, FILE *out);
/* A document whose root is an object. A memory shortage while it is filled ends the process, as pawl__must does. */
yyjson_mut_doc *pawl__json_create(void);
/* The JSON value that the text is, or a JSON string of a text that is no JSON. */
yyjson_mut_val *pawl__json_value(yyjson_mut_doc *doc, pawl_text text);
/* PAWL_EINPUT: the text is not JSON, and why. */
pawl_code pawl__json_check(pawl_text text, pawl_error *error);

/* Microseconds of a clock that is never set back. */
int64_t pawl__steady_now(void);
/* Progress of long work on standard error, "sent 512 of 2000": a line that is drawn again ten times in a second on a
 * terminal, a line every 10 s elsewhere. */
void pawl__progress(const char *done, int64_t count, int64_t total); /* total 0: not known */
void pawl__progress_end(int64_t count);                              /* takes the line away */
typedef struct pawl__progress_times {                                /* zero at first */
    int64_t next; /* by pawl__steady_now; progress is printed again from then on */
} pawl__progress_times;
/* Is progress to be printed now? Then `next` moves one period further. */
bool pawl__progress_is_due(pawl__progress_times *times, bool is_terminal, int64_t now);

/* Replaces the text that an interrupted verb prints, "what was committed stays", for verbs that write nothing; they
 * call it before their work. NULL: "nothing was written". The text is borrowed until the process ends. */
void pawl__interrupt_says(const char *text);

/* ---- Files that are written ------------------------------------------------- */

/* PAWL_EFULL or PAWL_EINPUT, by errno: "write PATH: no space left on device". */
pawl_code pawl__file_fail(const char *doing, const char *path, pawl_error *error);

/* Writes a file under a temporary name and renames it when it is complete, so that readers see the old file or the
 * new one. The temporary name is new, so that no link of another user is followed; only the user may read the file.
 *
 *     pawl__part_open -> { writes to file }* -> pawl__part_end
 */
#define PAWL__PATH_SIZE 4096
typedef struct pawl__part {
    FILE *file;
    char  name[PAWL__PATH_SIZE];
} pawl__part;

/* PAWL_EINPUT, PAWL_EFULL: it cannot be made; the text names it. */
pawl_code pawl__part_open(pawl__part *part, const char *path, pawl_error *error);
/* Renames the file to `path`, replacing a file or a link there. If `code` is a failure, or the file cannot be
 * written, the file is removed. Returns `code`, or the code of the failed write. */
pawl_code pawl__part_end(pawl__part *part, const char *path, pawl_code code, pawl_error *error);

/* ---- Input ---------------------------------------------------------------- */

/* Asks on the terminal; only "yes" agrees. PAWL_EINVAL without a terminal, PAWL_REJECT for any other answer. `done` is
 * the participle in their text: "nothing was dropped". */
pawl_code pawl__agree(const char *action, const char *done, pawl_error *error, const char *question,
                      ...) PAWL_PRINTF(4, 5);

/* The name of the user who runs the command, or "user NUMBER"; behind it that of the console's user, for whom the
 * console runs the command: "pawl (ann)". */
#define PAWL__CONSOLE_USER "PAWL_CONSOLE_USER" /* environment variable with the console's user */
#define PAWL__ASKER_SIZE 100                   /* its size with a NUL */
#define PAWL__USER_SIZE 190
pawl_text pawl__user(void); /* static text; for the main thread */
/* Makes the id of a message that is to be sent, so that the verb can print it. */
pawl_code pawl__id_make(char text[PAWL_UUID_TEXT_SIZE + 1], pawl_error *error);
/* From now on SIGINT and SIGTERM only set a flag, and end a wait for input. `flags` are those of sigaction(). */
void pawl__interrupts_note(int flags);
bool pawl__is_interrupted(void);
/* A file read to its end, or line by line. */
typedef struct pawl__input {
    FILE       *file;
    const char *name; /* for error texts */
    char       *data;
    size_t      size; /* bytes of `data` that were read */
    size_t      capacity;
    size_t      at;   /* start of the next line */
    size_t      line; /* number of the line handed out last, from 1 */
    bool        is_end;
    bool        is_now; /* set by the caller: return only lines that are there already */
} pawl__input;

/* "-" is standard input. PAWL_EINPUT names the file. */
pawl_code pawl__input_open(pawl__input *input, const char *path, pawl_error *error);
/* Reads the whole file; at most PAWL_BODY_SIZE_MAX bytes. */
pawl_code pawl__input_all(pawl__input *input, pawl_text *text, pawl_error *error);
/* The next line without its end; data NULL at the end of the file, or `is_now`. Borrowed until the next call. */
pawl_code pawl__input_line(pawl__input *input, pawl_text *line, pawl_error *error);
void      pawl__input_close(pawl__input *input);
/* The text of --body, or of the file of --body-file, in the arena. PAWL_EINPUT: no JSON. */
pawl_code pawl__body_read(const char *body, const char *file, pawl_arena *arena, pawl_text *text,
                          pawl_error *error);

#endif
