/* world.h - runs an application under a virtual clock, and reads everything from its store.
 *
 *     scenario_run: url -> world_begin -> { world_post, world_go, world_* }*
 *
 * A scenario is a function that gets the URL of an empty store. ON_ALL_STORES runs it in memory, on a new SQLite file,
 * and on an empty store of every server that the environment names (server.h). Every failure fails the test.
 *
 * Threads: a world belongs to one thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_WORLD_H
#define PAWL_TESTS_WORLD_H

#include "pawl/driver.h"
#include "pawl/operate.h"
#include "support/server.h"
#include "support/tests.h"

#define WORLD_START INT64_C(1767258000000000) /* 2026-01-01T09:00:00Z */

/* ---- Scenarios ------------------------------------------------------------ */

typedef void scenario_fn(const char *url);

typedef struct scenario {
    scenario_fn *run;
    const char  *scheme; /* "memory", "sqlite", a server's, LONG_MONGODB, MARIADB_ODBC */
} scenario;

/* For cmocka: the state is a scenario. Without driver or server it is skipped, or fails if PAWL_REQUIRE is "all". */
void scenario_run(void **state);
/* Returns the URL of an empty store of the scheme; false: no driver or no server. */
bool scenario_url(const char *scheme, char *url, size_t size);
/* Puts files of stores in memory if possible, for tests without power loss. */
void scenario_files_in_memory(void);
/* Returns another empty store of the same kind as `given`. */
void scenario_url_like(const char *given, char *url, size_t size);
/* Releases a store made by scenario_url. */
void scenario_forget(const char *url);

#define STORE_ROW(function, scheme)                                    \
    {                                                                  \
#function " on " scheme, scenario_run, NULL, NULL, &(scenario) \
        {                                                              \
            function, scheme                                           \
        }                                                              \
    }
/* Without the servers: a sentence beside the row says why. */
#define STORES_ROWS(function) STORE_ROW(function, "memory"), STORE_ROW(function, "sqlite")
#define SERVER_ROW(function, scheme, variable) , STORE_ROW(function, #scheme)
#define ALL_STORES_ROWS(function) STORES_ROWS(function) SERVERS(SERVER_ROW, function)
#define ON_STORE(function, parameter, scheme) \
    TESTS(function, parameter, STORE_ROW(function, scheme))
#define ON_STORES(function, parameter) TESTS(function, parameter, STORES_ROWS(function))
#define ON_ALL_STORES(function, parameter) TESTS(function, parameter, ALL_STORES_ROWS(function))
/* MongoDB, but only in the long run, in which ctest runs the program a second time. */
#define LONG_MONGODB "mongodb, long"
/* MariaDB through its ODBC driver. For scenarios that access the store only through pawl, and need one store. */
#define MARIADB_ODBC "mariadb, odbc"
#define ON_ALL_STORES_AND_ODBC(function, parameter) \
    TESTS(function, parameter, ALL_STORES_ROWS(function), STORE_ROW(function, MARIADB_ODBC))
#define ON_ALL_STORES_IN_TIME(function, parameter)                                      \
    TESTS(function, parameter, STORES_ROWS(function) SQL_SERVERS(SERVER_ROW, function), \
          STORE_ROW(function, LONG_MONGODB))

/* ---- The world -------------------------------------------------------------- */

typedef struct world {
    const char           *url;
    const char           *queue;
    pawl_clock           *business, *machine;
    pawl_endpoint_options options;
    pawl_endpoint        *endpoint;
    pawl_store           *store; /* the test's own handle, to read and to interfere */
    pawl_sender          *sender;
    pawl_arena           *arena;
} world;

/* Creates an endpoint's tables, in stores that do not create them at open. Opening a world or a runner does so, too.
 * NULL name: the application's only endpoint. */
void world_make_tables_of(const char *url, const pawl_application *application, const char *name,
                          const char *saga_prefix);
/* Creates the tables of all its endpoints. */
void world_make_tables(const char *url, const pawl_application *application);

/* Zero options mean the library's defaults; store, clocks and seed are set here. NULL name: the application's only
 * endpoint. */
void world_open(world *it, const char *url, const pawl_application *application, const char *name,
                const pawl_endpoint_options *options);
/* The same for existing tables: none is created. */
void world_open_made(world *it, const char *url, const pawl_application *application,
                     const char *name, const pawl_endpoint_options *options);
void world_close(world *it);
/* The same for a world that is closed when its test (TEST or ON_STORE) ends, unless it is closed before. */
world *world_begin(const char *url, const pawl_application *application, const char *name,
                   const pawl_endpoint_options *options);
/* For test runners: closes the remaining worlds. */
void world_end_all(void);
/* Keeps a memory store, which otherwise ends with its last handle, until the test (TEST or ON_STORE) ends or
 * scenario_forget. */
void world_hold(const char *url);

/* Sends to the endpoint's queue, due now. `id` NULL: generated. */
void world_post(world *it, const char *id, const pawl_record *record, const void *message);
/* The same with a due time. */
void world_post_at(world *it, const char *id, pawl_time due, const pawl_record *record,
                   const void *message);
/* Claims the oldest message of the queue through the test's handle, as if by another worker, until it is released. */
pawl_queue_row world_claim_oldest(world *it, const char *queue);
void           world_give_back(world *it, const char *queue, const pawl_queue_row *row,
                               pawl_queue_action action);
/* Sends any JSON as the body. */
void world_post_json(world *it, const char *id, const char *type, const char *json);
/* Sends a body that is not JSON, which no sender accepts. */
void world_post_text(world *it, const char *id, const char *type, const char *text);

/* Steps until nothing is due; returns the sum of the steps. */
pawl_step world_drain(world *it);
/* One step. */
pawl_step world_step(world *it);
/* Advances the business clock, the machine clock, or both, then drains. */
pawl_step world_go(world *it, int64_t duration);
pawl_step world_go_machine(world *it, int64_t duration);
pawl_step world_go_both(world *it, int64_t duration);
pawl_time world_now(const world *it);
/* Sets the machine's clock back, which programs cannot do with a pawl_clock. */
void world_set_back(world *it, int64_t duration);

/* ---- What is there ------------------------------------------------------------ */

/* The saga's state as JSON, and its version; "" and 0: no such saga. */
const char *world_saga(world *it, const char *saga, const pawl_value *value, int64_t *version);
const char *world_saga_text(world *it, const char *saga, const char *value, int64_t *version);
int64_t     world_saga_count(world *it, const char *saga);
/* The table of a saga of the application's only endpoint. */
const pawl_saga_table *world_table(const world *it, const pawl_application *of, size_t number);
/* Begins a saga of the first table as another worker. */
void world_insert(world *it, const pawl_application *of, const char *correlation, const char *data);
/* Saves the saga of the application's first table through `store`, as another worker: unchanged or with this data, at
 * its next version. */
pawl_saga_id world_overwrite(pawl_store *store, pawl_arena *arena,
                             const pawl_application *application, const char *correlation,
                             const char *data);
/* Is the state that was read equal to this JSON? Compared byte by byte, on servers member by member, as they may
 * reformat JSON. */
bool world_json_is(const char *url, const char *found, const char *expected);
/* Fails unless they are equal. */
void world_json_equal(const world *it, const char *found, const char *expected);
/* A number in a JSON object; fails if the name is missing. */
int64_t world_json_number(const char *json, const char *name);

pawl_queue_rows   world_queue(world *it, const char *queue);
pawl_timeout_rows world_timeouts(world *it);
pawl_outbox_rows  world_outbox(world *it, pawl_outbox_state state);
pawl_attempt_rows world_attempts(world *it, int64_t id);
pawl_dead_rows    world_dead(world *it);
pawl_event_rows   world_events(world *it, const char *stream);
/* The only row of each; fails unless there is one. */
pawl_queue_row         world_queue_row(world *it, const char *queue);
pawl_timeout_row       world_timeout(world *it);
pawl_outbox_row        world_outbox_row(world *it, pawl_outbox_state state);
pawl_dead_row          world_dead_letter(world *it);
pawl_stats             world_stats(world *it);
bool                   world_is_marked(world *it, const char *message_id);
pawl_aggregator_counts world_aggregated(world *it, const char *partition, const char *type);

/* Suppresses log lines on the terminal. */
void world_quiet(void);
/* Fails with the error's text. */
void world_ok(pawl_code code, const pawl_error *error);
/* Does `text` contain `part`? */
bool world_says(pawl_text text, const char *part);

/* A line of events in their order: "place(7) late(7)". */
typedef struct world_log {
    char   text[4000];
    size_t size;
} world_log;

/* After the step, such as world_drain(it), the log has this text. */
#define LOG_AFTER(step, log, expected) ((void)(step), assert_string_equal((log).text, expected))

/* Does nothing without a log. */
void world_note(world_log *log, const char *format, ...) PAWL_PRINTF(2, 3);
void world_forget(world_log *log);

#endif
