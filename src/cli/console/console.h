/* console.h - `pawl console`: an HTTP server through which a browser runs verbs of the command.
 *
 *     browser --HTTP--> answer.c: user, rights, which verb     -> call.c: runs `pawl VERB ... --json` as a process
 *                                                              -> assets: the page, its script and its style
 *                       live.c: `stats` and `doctor` once for all browsers, sent on as server-sent events
 *
 * A request of the API becomes the words of a verb, so that the API has the columns, the limits and the texts of the
 * command and no others. The verb runs in a process of its own: it can be ended when it takes too long, and what goes
 * wrong in it does not end the console.
 *
 * Threads: the server has one for each connection, live.c one. The struct pawl__console, which they share, is written before
 * the server starts or under its mutex.
 * Tests: tests/system/console.sh, tests/system/console_browser.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_CONSOLE_CONSOLE_H
#define PAWL_CLI_CONSOLE_CONSOLE_H

#include "cli/base/child.h"
#include "cli/cli.h"
#include "pawl/observe.h"

#include <pthread.h>

/* ---- Users (users.c) ------------------------------------------------------- */

#define PAWL__CONSOLE_USERS_MAX 256
#define PAWL__CONSOLE_BULKS_MAX 8 /* bulk actions that run at a time */

typedef struct pawl__console_user {
    const char *name;
    const char *hash; /* as crypt(3) makes it */
    bool        may_write;
} pawl__console_user;

typedef struct pawl__console_users {
    pawl__console_user items[PAWL__CONSOLE_USERS_MAX];
    size_t             count;
    pawl_text          text; /* the file, with its lines ended by NULs */
} pawl__console_users;

/* Lines NAME:HASH or NAME:HASH:write. PAWL_EINPUT names the line. pawl__console_users_free afterwards. */
pawl_code pawl__console_users_read(const char *path, pawl__console_users *users, pawl_error *error);
void      pawl__console_users_free(pawl__console_users *users);
/* Is the name UTF-8 without control characters, and short enough for the record of operators' actions? */
bool pawl__console_name_is_well(const char *name);
/* NULL: no such user, or a wrong password; both take the same time. One thread at a time hashes. */
const pawl__console_user *pawl__console_users_find(const pawl__console_users *users,
                                                   const char *name, const char *password);

/* ---- The console ----------------------------------------------------------- */

/* A server-sent event. */
typedef struct pawl__console_news {
    unsigned holders; /* the console, and browsers to which it is sent */
    size_t   size;
    char     text[];
} pawl__console_news;

typedef struct pawl__console {
    const char *store, *prefix, *saga_prefix, *app; /* options of the verbs; the last two or NULL */
    char        masked[PAWL_URL_SIZE_MAX + 1];      /* the store's URL without its password */
    bool        may_write;
    const char *user_header; /* of a proxy; or NULL */
    const char *host;        /* name by which browsers reach the proxy; or NULL */
    pawl__console_users users;
    bool                has_users;
    const char         *address; /* numeric; the server listens there */
    int                 port;
    int64_t             failure_due; /* when the last wrong password so far is answered */
    /* Verbs that run (call.c). */
    pthread_mutex_t mutex;
    pthread_cond_t  is_free;
    int             running, waiting;
    /* live.c, under the mutex. */
    pthread_t           thread;
    pthread_cond_t      is_news;    /* timed waits are by CLOCK_MONOTONIC, as of is_bulk */
    int                 streams;    /* browsers with a stream */
    int64_t             doctor_due; /* when doctor runs next; 0: at once, for the first browser */
    uint64_t            number;     /* of the last event; they are counted */
    pawl__console_news *news[2];    /* last event of stats and of doctor; NULL: none yet */
    uint64_t            news_number[2];
    bool                has_thread, is_over;
    /* bulk.c, under the mutex. */
    pthread_t      bulk_thread;
    pthread_cond_t is_bulk;
    char           bulk_ids[PAWL__CONSOLE_BULKS_MAX][64];
    size_t         bulk_count;
    bool           has_bulk_thread;
} pawl__console;

/* Waits after a wrong password: all connections together get one such answer in 0.3 s, so that many of them guess no
 * faster than one. The wait ends when the console stops. */
void pawl__console_users_delay(pawl__console *console);

/* ---- Verbs (call.c) --------------------------------------------------------- */

#define PAWL__CONSOLE_WORDS_MAX 700 /* of one call */

typedef struct pawl__console_call {
    const char *words[PAWL__CONSOLE_WORDS_MAX +
                      1]; /* VERB ACTION --OPTION=VALUE ... -- ARGUMENT ...; ends with NULL */
    size_t      count;
    pawl_text   input;  /* the verb's standard input */
    const char *user;   /* name for the record of operators' actions; or NULL */
    bool        is_dry; /* a count, which changes nothing */
} pawl__console_call;

/* Runs the verb. PAWL_EBUSY: too many run and wait, or the console ends; other errors: it could not be started. */
pawl_code pawl__console_run(pawl__console *console, const pawl__console_call *call,
                            pawl_arena *arena, pawl__child_result *result, pawl_error *error);
/* Runs the verb without the limits on time and on the number of processes. */
pawl_code pawl__console_run_long(pawl__console *console, const pawl__console_call *call,
                                 pawl_arena *arena, pawl__child_result *result, pawl_error *error);
/* Adds the words, up to a NULL, then --prefix and --json. False: too many, or no memory. */
bool pawl__console_verb_words(const pawl__console *console, pawl__console_call *call,
                              pawl_arena *arena, const char *const *words);
bool pawl__console_is_over(pawl__console *console);
/* Under the mutex: waits for is_news or is_bulk. False: pawl__steady_now has reached `until`, or the console ends. */
bool pawl__console_wait(pawl__console *console, pthread_cond_t *condition, int64_t until);
/* Adds a word, "--NAME=VALUE" where a name is given. False: too many, or no memory. */
bool pawl__console_word(pawl__console_call *call, pawl_arena *arena, const char *name,
                        const char *value);
/* The lines of JSON as an array: "[{...},{...}]". Data NULL without memory. */
pawl_text pawl__console_array(pawl_text lines, pawl_arena *arena);

/* ---- Requests (words.c) ------------------------------------------------------- */

typedef struct pawl__console_route {
    const char *verb, *action; /* action NULL: the verb has none */
    bool        writes;
    const char *options; /* names, each with a space behind it */
} pawl__console_route;

/* The route of a path such as "dead/list", or NULL. */
const pawl__console_route *pawl__console_route_find(const char *path);
/* All of them as JSON: {"items":[{"path":"dead/list","method":"GET","options":["type",...]},...],"notes":[]}. */
pawl_text pawl__console_paths(pawl_arena *arena);

#define PAWL__CONSOLE_REFUSAL_SIZE 200
/* Translates the request into the words of a verb; `call` has the user. False: the refusal says why. */
bool pawl__console_words(const pawl__console *console, const pawl_serve_request *request,
                         const pawl__console_route *way, pawl_arena *arena,
                         pawl__console_call *call, char refusal[PAWL__CONSOLE_REFUSAL_SIZE]);

/* ---- Answers (answer.c) ------------------------------------------------------ */

void pawl__console_answer(void *context, const pawl_serve_request *request, pawl_arena *arena,
                          pawl_serve_answer *answer);

/* ---- Live figures (live.c) ---------------------------------------------------- */

pawl_code pawl__console_live_start(pawl__console *console, pawl_error *error);
/* Ends the thread and every stream. */
void pawl__console_live_stop(pawl__console *console);
/* False: so many browsers have a stream that others would find no connection. */
bool pawl__console_live_has_room(pawl__console *console);
long pawl__console_live_read(void *context, uint64_t *state, char *buffer, size_t size);

/* ---- Bulk actions (bulk.c) ------------------------------------------------------ */

pawl_code pawl__console_bulk_start(pawl__console *console, pawl_error *error);
/* Runs the actions whose "id" is in the lines of JSON. If too many run already, the next look finds the others. */
void pawl__console_bulk_begin(pawl__console *console, pawl_text lines, pawl_arena *arena);
/* Waits until the running actions have stopped. Called after is_over was set. */
void pawl__console_bulk_stop(pawl__console *console);

/* ---- The page (assets.c, which the build makes of src/cli/console/page) -------- */

typedef struct pawl__asset {
    const char          *path; /* "/console.js" */
    const char          *content_type;
    const unsigned char *data;
    size_t               size;
} pawl__asset;

extern const pawl__asset pawl__assets[];
extern const size_t      pawl__asset_count;

#endif
