/* cli.h - the command: its verbs, and functions that they share.
 *
 * A verb is one row of the table in main.c. Its file is called like it and stands in the folder of its noun. Its function
 * parses its words, does the work and returns the exit code; a failure ends in pawl__fail, which prints the one clear line
 * that is the last on standard error: "pawl: TEXT".
 *
 *     main.c, help.c, completion.c    the table of verbs, and what is made of it
 *     base/        options, tables of output, stores, an application, child processes
 *     bulk/        the loop that settles many rows at a rate, and the verb `bulk`, which goes on with it later
 *     queue/ dead/ outbox/ timeout/ saga/ schedule/ aggregator/ projection/ events/
 *                  what there is of a noun, and what an operator can do with it
 *     message/     `send` and `find`
 *     answers/     `doctor`, `stats` (and its --watch) and `why`: is something wrong, where, and what to do
 *     run/         `run` with its settings and its supervisor, and `worker`
 *     schema/ topology/ tools/    tables of a store; tables of an application; bench, conformance, version
 *     console/     the operator's page, which runs the verbs
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

/* Objects that a verb prints with --json: their keys stand in its help. */
typedef struct pawl__report {
    const char *what; /* "list, show"; "history, of show" for an array in it. NULL ends the list */
    const pawl__column *columns;
    const char         *keys; /* without columns: a space between two */
} pawl__report;

struct pawl__verb {
    const char           *name;
    const char           *help; /* one line */
    const pawl__argument *arguments;
    const pawl__option   *options;
    pawl__verb_fn        *run;
    const pawl__report   *reports;
};

/* Reads the words behind the verb into its fields: pawl__options_parse. */
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

/* The page of one verb, made from its row. */
void pawl__help_print(const pawl__verb *verb, FILE *out);

/* ---- Memory --------------------------------------------------------------- */

/* As the calls of pawl_arena, for answers of a verb: without memory they end the process as a failure of PAWL_ENOMEM does, with
 * its line and its exit code. Work that is under way in the store ends as after a kill. */
void       *pawl__must(void *made);          /* is it not NULL? */
void        pawl__must_have(pawl_code code); /* is it another than PAWL_ENOMEM? */
pawl_arena *pawl__must_create(void);
void       *pawl__must_take(pawl_arena *arena, size_t size);
void *pawl__must_grow(pawl_arena *arena, void *items, size_t count, size_t *capacity, size_t size);
pawl_text   pawl__must_text(pawl_arena *arena, pawl_text text);
const char *pawl__must_calm(pawl_arena *arena, pawl_text text); /* nothing that a terminal obeys */
pawl_text   pawl__must_printf(pawl_arena *arena, const char *format, ...) PAWL_PRINTF(2, 3);
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
/* The same, of a store that other processes have, too: not memory:. */
pawl_code pawl__shared_store_url(pawl__store_fields *fields, pawl_error *error);
/* The options to open the store with. */
pawl_store_options pawl__store_options(const pawl__store_fields *fields, pawl_open_mode mode);

/* The work of a verb on an open store; the arena is its own to reset. */
typedef pawl_code pawl__action_fn(const void *fields, pawl_store *store, pawl_arena *arena,
                                  pawl_error *error);
/* Refuses words that the table of options cannot, before the store is opened. */
typedef pawl_code pawl__check_fn(void *fields, pawl_error *error);
/* A whole verb: reads its words into the fields, checks them, and runs the action's of `actions` on the store at `at`, a part
 * of the fields; of a verb without actions the only one. */
int pawl__verb_on_store(const pawl__verb *verb, int count, char **words, void *fields,
                        pawl__store_fields *at, pawl__check_fn *check,
                        pawl__action_fn *const *actions);
/* The function of such a verb: behind the type of its fields, which are zero but for its words and have `at`, stand its
 * actions. It checks by check_words; what that opened, the member, `close` closes. */
#define PAWL__VERB_ON_STORE(name, type, ...) PAWL__VERB_CLOSED(name, type, (void), at, __VA_ARGS__)
#define PAWL__VERB_CLOSED(name, type, close, member, ...)                                       \
    int pawl__##name##_verb(const pawl__verb *verb, int count, char **words)                    \
    {                                                                                           \
        static pawl__action_fn *const actions[] = {__VA_ARGS__};                                \
        type                          fields    = {.at = {.store = NULL}};                      \
        int                           exit_code =                                               \
            pawl__verb_on_store(verb, count, words, &fields, &fields.at, check_words, actions); \
        close(&fields.member);                                                                  \
        return exit_code;                                                                       \
    }
/* Opens the store to look at it (a mistyped path is no new database), runs `action` and closes it;
 * prints a failure and returns the exit code. */
int pawl__on_store(pawl__store_fields *at, pawl__action_fn *action, const void *fields);

/* Of commands that are to be pasted: a text as a word of a shell, in quotes, and ended with a NUL; and the same without
 * quotes where it needs none. An id that came from outside may be a command of its own. In the arena. */
pawl_text pawl__shell_quoted(pawl_text text, pawl_arena *arena);
pawl_text pawl__shell_word(pawl_text text, pawl_arena *arena);
/* In quotes, as the first argument behind the options of a command: with "-- " before it where it would be read as an
 * option. */
pawl_text pawl__shell_argument(pawl_text text, pawl_arena *arena);
/* A command whose arguments stand among its options, in which each text is one of the words above: an argument that would
 * be read as an option stands behind "--" at the end. In the arena, and ended with a NUL. */
pawl_text pawl__shell_command(pawl_text command, pawl_arena *arena);
/* A command of pawl as it is to be pasted: the same with --store, and with --prefix where it was given. Other
 * texts stay. In the arena. */
pawl_text pawl__store_command(const pawl__store_fields *at, pawl_text command, pawl_arena *arena);

/* Is a worker of the endpoint alive? Without one nothing of it is handled or delivered. */
pawl_code pawl__has_worker(pawl_store *store, pawl_text endpoint, pawl_arena *arena, bool *is_there,
                           pawl_error *error);
/* Says on standard error when messages that go to the queue wait: it is paused, or nobody reads it. Nothing is said
 * where the look fails: a script that sees a failure behind the commit would send again. */
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
/* Prints the failure of work on a store and returns the exit code: the line names the store, masked, unless the text does
 * or the arguments were wrong (exit codes 1 and 2). `url` may be NULL. */
int pawl__fail_store(pawl_code code, const pawl_error *error, const char *url);
/* `url` without its password, cut to `size`. */
const char *pawl__masked(const char *url, char *text, size_t size);
/* The text behind `before` as one line of standard output, whatever the store has in it. */
void pawl__print_line(const char *before, pawl_text text);
/* Prints the document as one object on one line, and destroys it. PAWL_OK always, as the other functions that print, so
 * that a verb can return it. */
pawl_code pawl__json_print(yyjson_mut_doc *doc, FILE *out);
/* The root is an object. All that is added to it is there, or the process has ended: pawl__must. */
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
/* Zero at the begin. */
typedef struct pawl__progress_times {
    int64_t next; /* microseconds of a clock that is never set back */
} pawl__progress_times;
/* Whether progress is to be said now; then the next time is a period later. */
bool pawl__progress_is_due(pawl__progress_times *times, bool is_terminal, int64_t now);

/* Replaces the line of an interrupted verb, "what was committed stays": for verbs that write nothing, before their work
 * begins. NULL: "nothing was written". Borrowed for good. */
void pawl__interrupt_says(const char *text);

/* ---- Files that are written ------------------------------------------------- */

/* PAWL_EFULL or PAWL_EINPUT, by errno: "write PATH: no space left on device". */
pawl_code pawl__file_fail(const char *doing, const char *path, pawl_error *error);

/* A file under another name until it is whole: a reader sees the one that was there or the new one. The name is new,
 * so that no link of somebody else is followed, and only the user may read the file.
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
/* Gives it the name `path`, in place of a file or a link that is there; after a failed `code`, and when it cannot be
 * written, it is removed. The code, or that of the failure. */
pawl_code pawl__part_end(pawl__part *part, const char *path, pawl_code code, pawl_error *error);

/* ---- Input ---------------------------------------------------------------- */

/* Asks on the terminal; only "yes" agrees. PAWL_EINVAL without a terminal, PAWL_REJECT for any other answer; both say
 * that nothing was `done`: "dropped". */
pawl_code pawl__agree(const char *action, const char *done, pawl_error *error, const char *question,
                      ...) PAWL_PRINTF(4, 5);

/* The name of the user who runs the command, or "user NUMBER"; behind it that of the console's user, for whom the
 * console runs the command: "pawl (ann)". */
#define PAWL__CONSOLE_USER "PAWL_CONSOLE_USER" /* the variable that names him */
#define PAWL__ASKER_SIZE 100                   /* his name and a NUL */
#define PAWL__USER_SIZE 190
#define PAWL__REASON_SIZE_MAX 300 /* with the name it fits into the text of an error */
pawl_text pawl__user(void);       /* the same at each call, of main */
/* An id made here and not by the library, so that it can be printed. */
pawl_code pawl__id_make(char text[PAWL_UUID_TEXT_SIZE + 1], pawl_error *error);
/* From now on SIGINT and SIGTERM are noted, and end a wait for input; the flags are those of sigaction(). */
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
    bool is_now; /* set by the caller: a line that would have to be waited for is not handed out */
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
