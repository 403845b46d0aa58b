/* upgrade.h - a database of schema version 1: its tables, rows as its programs
 * wrote them, and what has to come of them; and one of the version after this one. Included behind the header of a fixture.
 *
 *     load schema_1_X.sql -> OLD_ROWS -> expect_refused_as_old -> apply
 *         -> expect_differences of none -> expect_delivered
 *     NEXT_VERSION -> expect_goes_on_a_version_behind -> a version more -> expect_refused_as_new
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_UPGRADE_H
#define PAWL_TESTS_CONTRACT_UPGRADE_H

#include "contract/at_once.h"
#include "store/sql/tables.h"
#include "support/world.h"

#include "pawl/store_outbox.h"

/* ---- Version 1 ---------------------------------------------------------------- */

/* Its insert, without the column that came later. `n` is one digit, `at` a time. */
#define OLD_ROW(n, state, attempts, at, ended)                                                     \
    "insert into pawl_outbox (\"DispatchId\", \"State\", \"Attempts\", \"NextAttempt\", \"Due\", " \
    "\"At\", \"DispatchedAt\", \"Source\", \"Version\", \"Index\", \"Endpoint\", "                 \
    "\"Destination\", \"MessageId\", \"Type\", \"CorrelationId\", \"CausationId\", \"Headers\", "  \
    "\"Body\") values ('00000000-0000-5000-8000-00000000000" n "', '" state "', " attempts ", " at \
    ", " at ", " at ", " ended ", '', 0, 0, 'source', 'far', 'm-" n "', 'upgrade_note', "          \
    "'m-" n "', '', '{}', '{\"number\":" n "}');"

#define OLD_ATTEMPT(n, attempt, at)                                                         \
    "insert into pawl_outbox_attempts (\"OutboxId\", \"Attempt\", \"Outcome\", \"At\", "    \
    "\"Duration\", \"Error\") select \"Id\", " attempt ", 'rejected', " at ", 1, 'no such " \
    "queue' from pawl_outbox where \"MessageId\" = 'm-" n "';"

/* Rows that are pending, dispatched and dead. */
#define OLD_ROWS(at)                         \
    OLD_ROW("1", "pending", "2", at, "null") \
    OLD_ROW("2", "dispatched", "1", at, at)  \
    OLD_ROW("3", "dead", "10", at, "null") OLD_ATTEMPT("3", "10", at)

/* A checked-in script; free() it. */
static inline char *old_script(const char *name)
{
    const char *root = getenv("PAWL_SOURCE_DIR");
    char       *text = calloc(1, 60000);
    assert_non_null(root);
    assert_non_null(text);
    const char *path = test_text("%s/tests/contract/%s", root, name);
    FILE       *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s cannot be read", path);
    size_t size = fread(text, 1, 59999, file);
    assert_true(size > 0 && size < 59999);
    fclose(file);
    return text;
}

/* ---- The schema's verbs ------------------------------------------------------- */

typedef struct upgrade_lines {
    char   text[60000];
    size_t size;
    size_t count;
} upgrade_lines;

static inline void keep_upgrade_line(pawl_text line, void *context)
{
    upgrade_lines *l = context;
    assert_true(l->size + line.size + 2 < sizeof l->text);
    l->size += (size_t)sprintf(l->text + l->size, "%.*s\n", PAWL_TEXT_ARGS(line));
    l->count++;
}

static inline upgrade_lines *run_verb(fixture *p, pawl_schema_verb verb, pawl_code expected)
{
    pawl_schema_spec spec = {.table_count = 0};
    upgrade_lines   *out  = calloc(1, sizeof *out);
    assert_non_null(out);
    expect_code(p, pawl_store_schema(p->url, verb, &spec, keep_upgrade_line, out, &p->error),
                expected);
    return out;
}

static inline void apply_upgrade(fixture *p, pawl_code expected)
{
    free(run_verb(p, PAWL_SCHEMA_APPLY, expected));
}

static inline void expect_differences(fixture *p, const char *const *expected, size_t count)
{
    upgrade_lines *out = run_verb(p, PAWL_SCHEMA_VERIFY, count == 0 ? PAWL_OK : PAWL_ESCHEMA);
    for (size_t i = 0; i < count; i++)
        if (strstr(out->text, expected[i]) == NULL)
            fail_msg("verify says '%s', not '%s'", out->text, expected[i]);
    if (out->count != count)
        fail_msg("verify says '%s', %zu lines, expected %zu", out->text, out->count, count);
    free(out);
}

/* ---- Before -------------------------------------------------------------------- */

#define WORKER_DIFFERENCES                                        \
    "table pawl_workers: column Host is missing\n",               \
        "table pawl_workers: column Program is missing\n",        \
        "table pawl_workers: column ProgramVersion is missing\n", \
        "table pawl_workers: column PawlVersion is missing\n",    \
        "table pawl_workers: column Started is missing\n"
#ifndef OWN_DIFFERENCES
#define OWN_DIFFERENCES /* of the database alone, a comma behind each */
#endif
static const char *const old_differences[] = {
    "table pawl_schema: expected version 5, found 1\n",
    "table pawl_queue: column History is missing\n",
    WORKER_DIFFERENCES,
    "table pawl_dead: index pawl_dead_at is missing\n",
    "table pawl_dead: index pawl_dead_queue is missing\n",
    "table pawl_outbox: column AttemptsBefore is missing\n",
    "table pawl_outbox: index pawl_outbox_ended is missing\n",
    "table pawl_outbox: index pawl_outbox_held_id is missing\n",
    "table pawl_outbox: index pawl_outbox_tried is missing\n",
    "table pawl_events is missing\n",
    "table pawl_folds is missing\n",
    "table pawl_checkpoints is missing\n",
    "table pawl_history is missing\n",
    OWN_DIFFERENCES};
#define OLD_DIFFERENCE_COUNT (COUNT(old_differences))

static inline void expect_refused_as_old(fixture *p)
{
    static const pawl_open_mode modes[] = {PAWL_OPEN_CHECK, PAWL_OPEN_EXISTING};
    for (size_t i = 0; i < 2; i++) {
        pawl_store        *store   = NULL;
        pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
        options.mode               = modes[i];
        pawl_code code             = pawl_store_open(p->url, &options, &store, &p->error);
        expect_code(p, code, PAWL_ESCHEMA);
        assert_null(store);
        assert_int_equal(pawl_code_exit(code), 4);
        expect_text(p, "its schema has version 1, this program needs version 5; run: pawl schema "
                       "apply --store ");
    }
    expect_differences(p, old_differences, OLD_DIFFERENCE_COUNT);
}

/* ---- After --------------------------------------------------------------------- */

PAWL_RECORD(upgrade_note, A_NUMBER);

static inline pawl_code on_upgrade_note(pawl_context *ctx, const upgrade_note *message)
{
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_upgrade_note, upgrade_note);

static const pawl_application upgrade_application = ONE_ENDPOINT(
    "upgrade", .name = "source", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_upgrade_note)}));

static inline pawl_outbox_row one_row(world *it, pawl_outbox_state state)
{
    pawl_outbox_row rows = world_outbox_row(it, state);
    assert_int_equal(rows.attempts_before, 0);
    return rows;
}

static inline void expect_arrived(pawl_store *target, pawl_arena *arena, size_t count)
{
    pawl_queue_rows rows = {.count = 0};
    must(pawl_store_queue_list(target, PAWL_TEXT("notes"), 0, arena, &rows, world_error()));
    assert_int_equal(rows.count, count);
}

/* An endpoint finds the rows as they were and goes on with them: the one that waits
 * is delivered, the dead one after an operator enabled it. */
static inline void expect_delivered(fixture *p)
{
    static const pawl_route routes[] = {{.name = "far", .url = "memory:upgraded", .queue = "notes"},
                                        {.name = NULL}};
    pawl_endpoint_options   options  = {.routes = routes};
    pawl_store             *target   = NULL;
    world                   it;
    world_ok(pawl_store_open("memory:upgraded", NULL, &target, &p->error), &p->error);
    world_open_made(&it, p->url, &upgrade_application, NULL, &options);
    assert_int_equal(one_row(&it, PAWL_OUTBOX_PENDING).attempts, 2);
    (void)one_row(&it, PAWL_OUTBOX_DISPATCHED);
    pawl_outbox_row dead = one_row(&it, PAWL_OUTBOX_DEAD);
    assert_int_equal(dead.attempts, 10);
    assert_int_equal(world_attempts(&it, dead.id).count, 1);

    assert_int_equal(world_drain(&it).sent, 1);
    expect_arrived(target, it.arena, 1);
    assert_int_equal(world_outbox(&it, PAWL_OUTBOX_PENDING).count, 0);
    world_ok(
        pawl_store_outbox_retry(it.store, dead.id, PAWL_TEXT("again"), world_now(&it), &p->error),
        &p->error);
    assert_int_equal(world_drain(&it).sent, 1);
    expect_arrived(target, it.arena, 2);
    assert_int_equal(world_outbox(&it, PAWL_OUTBOX_DISPATCHED).count, 3);
    world_close(&it);
    pawl_store_close(target);
}

/* ---- The version after this one ------------------------------------------------- */

#define MORE_COLUMN(table) \
    "alter table pawl_" table " add column \"Later\" integer default 7 not null;"

/* Its steps may make columns with a default, an index, a table. */
#define NEXT_VERSION                                                                             \
    MORE_COLUMN("queue")                                                                         \
    MORE_COLUMN("inbox")                                                                         \
    MORE_COLUMN("dead")                                                                          \
    MORE_COLUMN("subscriptions")                                                                 \
    MORE_COLUMN("outbox")                                                                        \
    MORE_COLUMN("outbox_attempts")                                                               \
    MORE_COLUMN("timeouts")                                                                      \
    MORE_COLUMN("aggregator")                                                                    \
    MORE_COLUMN("aggregator_flush")                                                              \
    MORE_COLUMN("events")                                                                        \
    MORE_COLUMN("folds")                                                                         \
    MORE_COLUMN("checkpoints")                                                                   \
    MORE_COLUMN("workers")                                                                       \
    MORE_COLUMN("leases")                                                                        \
    "create table pawl_later (id integer); create index pawl_later_due on pawl_queue (\"Due\");" \
    "update pawl_schema set \"Version\" = \"Version\" + 1"

/* Its tables are opened in every mode, and worked with; only its own command changes them. */
static inline void expect_goes_on_a_version_behind(fixture *p)
{
    static const pawl_open_mode   modes[] = {PAWL_OPEN_CHECK, PAWL_OPEN_EXISTING, PAWL_OPEN_CREATE};
    static const pawl_schema_verb verbs[] = {PAWL_SCHEMA_APPLY, PAWL_SCHEMA_PLAN,
                                             PAWL_SCHEMA_VERIFY, PAWL_SCHEMA_DROP};
    for (size_t i = 0; i < COUNT(modes); i++) {
        pawl_store        *store   = NULL;
        pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
        options.mode               = modes[i];
        ok(p, pawl_store_open(p->url, &options, &store, &p->error));
        pawl_store_close(store);
    }
    expect_delivered(p);
    for (size_t i = 0; i < COUNT(verbs); i++) {
        free(run_verb(p, verbs[i], PAWL_ESCHEMA));
        expect_text(p, "a newer pawl made it");
    }
}

static inline void expect_refused_as_new(fixture *p)
{
    static const pawl_open_mode modes[] = {PAWL_OPEN_CHECK, PAWL_OPEN_EXISTING, PAWL_OPEN_CREATE};
    const char                 *text =
        test_text("programs of version %d and newer work on it", PAWL__SQL_SCHEMA_VERSION + 1);
    for (size_t i = 0; i < COUNT(modes); i++) {
        pawl_store        *store   = NULL;
        pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
        options.mode               = modes[i];
        refuses(p, pawl_store_open(p->url, &options, &store, &p->error), PAWL_ESCHEMA, text);
    }
}

/* ---- At once ------------------------------------------------------------------- */

static inline pawl_code apply_in_child(void *context, pawl_error *error)
{
    fixture         *p    = context;
    pawl_schema_spec spec = {.table_count = 0};
    return pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, error);
}

/* The schema's lock lets the second apply wait, and find the work done. */
static inline void apply_at_once(fixture *p)
{
    run_at_once(apply_in_child, p);
}

#endif
