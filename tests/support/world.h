/* world.h - an application under the virtual clock, and everything that can be
 * seen of its store.
 *
 *     scenario_run: url -> world_begin -> { world_post, world_go, world_* }*
 *
 * A scenario is a function that takes the URL of an empty store; ON_ALL_STORES runs it
 * in memory, on a fresh SQLite file, and on an empty store of every server that the
 * environment names (server.h). Whatever fails fails the test.
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

/* For cmocka: the state is a scenario. Skips what has no driver or no server, or
 * fails when PAWL_REQUIRE is "all". */
void scenario_run(void **state);
/* A URL of an empty store of the scheme; false when its driver is not built, or its
 * server not there. */
bool scenario_url(const char *scheme, char *url, size_t size);
/* Files of stores are in memory where they can be: for tests in which no power is lost. */
void scenario_files_in_memory(void);
/* Another empty store of the kind that a scenario was given. */
void scenario_url_like(const char *given, char *url, size_t size);
/* Gives back what is behind a URL made by scenario_url. */
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
/* On MongoDB in the long run alone, where ctest runs the program a second time. */
#define LONG_MONGODB "mongodb, long"
/* On a MariaDB through its ODBC driver. For scenarios that ask the store by pawl alone, and need one. */
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
    pawl_store           *store; /* a handle of its own, to look and to meddle */
    pawl_sender          *sender;
    pawl_arena           *arena;
} world;

/* The tables of an endpoint, in a store that does not make them on the way; who opens a
 * world or a runner has them. NULL name: the application's only endpoint. */
void world_make_tables_of(const char *url, const pawl_application *application, const char *name,
                          const char *saga_prefix);
/* Makes the tables of all its endpoints. */
void world_make_tables(const char *url, const pawl_application *application);

/* Options: zero means what the library takes by default; store, clocks and seed
 * are set here. NULL name: the application's only endpoint. */
void world_open(world *it, const char *url, const pawl_application *application, const char *name,
                const pawl_endpoint_options *options);
/* The same where the tables are there already: none is made. */
void world_open_made(world *it, const char *url, const pawl_application *application,
                     const char *name, const pawl_endpoint_options *options);
void world_close(world *it);
/* The same in a world that ends with its test, a row TEST or ON_STORE, unless it is closed before. */
world *world_begin(const char *url, const pawl_application *application, const char *name,
                   const pawl_endpoint_options *options);
/* For those that run tests: closes the worlds that are left. */
void world_end_all(void);
/* A store in memory lives as long as somebody has it open: it stays until its test ends, a row TEST or ON_STORE, or
 * scenario_forget. */
void world_hold(const char *url);

/* Sends to the endpoint's queue, due now. `id` NULL: made by pawl. */
void world_post(world *it, const char *id, const pawl_record *record, const void *message);
/* The same with a due time. */
void world_post_at(world *it, const char *id, pawl_time due, const pawl_record *record,
                   const void *message);
/* The oldest message of the queue is in another worker's hand: it is claimed through the
 * handle of the test's own, until it is given back. */
pawl_queue_row world_claim_oldest(world *it, const char *queue);
void           world_give_back(world *it, const char *queue, const pawl_queue_row *row,
                               pawl_queue_action action);
/* A body that may be anything. */
void world_post_json(world *it, const char *id, const char *type, const char *json);
/* A body that is no JSON, which no sender takes. */
void world_post_text(world *it, const char *id, const char *type, const char *text);

/* Steps until nothing is due; the sum. */
pawl_step world_drain(world *it);
/* One step. */
pawl_step world_step(world *it);
/* Moves the business clock, the machine clock, or both, then drains. */
pawl_step world_go(world *it, int64_t duration);
pawl_step world_go_machine(world *it, int64_t duration);
pawl_step world_go_both(world *it, int64_t duration);
pawl_time world_now(const world *it);
/* Sets the machine's clock back by so much, which a program cannot do with a pawl_clock. */
void world_set_back(world *it, int64_t duration);

/* ---- What is there ------------------------------------------------------------ */

/* The saga's state as JSON, and its version; "" and 0 when there is none. */
const char *world_saga(world *it, const char *saga, const pawl_value *value, int64_t *version);
const char *world_saga_text(world *it, const char *saga, const char *value, int64_t *version);
int64_t     world_saga_count(world *it, const char *saga);
/* The table of a saga of the application's only endpoint. */
const pawl_saga_table *world_table(const world *it, const pawl_application *of, size_t number);
/* Another worker begins a saga of the first table. */
void world_insert(world *it, const pawl_application *of, const char *correlation, const char *data);
/* Another worker writes the saga of the application's first table: the same row, or with this
 * data, at its next version. Through `store`, beside the endpoint. */
pawl_saga_id world_overwrite(pawl_store *store, pawl_arena *arena,
                             const pawl_application *application, const char *correlation,
                             const char *data);
/* A state read from a store is this JSON: byte by byte, or on a server, which may keep JSON
 * in a form of its own, member by member. */
bool world_json_is(const char *url, const char *found, const char *expected);
/* Fails unless it is. */
void world_json_equal(const world *it, const char *found, const char *expected);
/* A number in a JSON object; fails when there is none of the name. */
int64_t world_json_number(const char *json, const char *name);

pawl_queue_rows        world_queue(world *it, const char *queue);
pawl_timeout_rows      world_timeouts(world *it);
pawl_outbox_rows       world_outbox(world *it, pawl_outbox_state state);
pawl_attempt_rows      world_attempts(world *it, int64_t id);
pawl_dead_rows         world_dead(world *it);
pawl_event_rows        world_events(world *it, const char *stream);
pawl_stats             world_stats(world *it);
bool                   world_is_marked(world *it, const char *message_id);
pawl_aggregator_counts world_aggregated(world *it, const char *partition, const char *type);

/* No lines of the log on the terminal. */
void world_quiet(void);
/* Fails with the error's text. */
void world_ok(pawl_code code, const pawl_error *error);
/* True when `text` holds `part`. */
bool world_says(pawl_text text, const char *part);

/* A line of what happened, in the order it happened: "place(7) late(7)". */
typedef struct world_log {
    char   text[4000];
    size_t size;
} world_log;

/* Nothing without a log. */
void world_note(world_log *log, const char *format, ...) PAWL_PRINTF(2, 3);
void world_forget(world_log *log);

#endif
