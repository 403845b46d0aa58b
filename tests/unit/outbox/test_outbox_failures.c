/* test_outbox_failures.c - failures on the way out, case by case: the end of the row, and the row
 * as an operator sees it with `pawl outbox show`.
 *
 *     o1    the commit that persists and dispatches fails
 *     o16   the runner is gone between sending and settling
 *     o10   the receiver fails for the moment
 *     o11   the receiver rejects
 *     o12   the attempts are used up
 *     o13   nobody there knows the type
 *     o20   the leader's connection drops
 *
 * On memory, which no other process can look into, the row is read instead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/outbox/test_outbox_sample.h"

#ifdef PAWL_HAVE_POSTGRES
#include "contract/postgres_fixture.h"
#endif
#include "support/hook.h"

#include <inttypes.h>
#include <unistd.h>

/* ---- The application -------------------------------------------------------- */

#define ADVANCE(F) \
    F(TEXT, name)  \
    F(INT32, number)
PAWL_RECORD(advance, ADVANCE);

static pawl_code on_advance(pawl_context *ctx, flow_state *flow, const advance *message)
{
    flow->steps++;
    return pawl_send(ctx, "far", PAWL_MESSAGE(note, .number = message->number));
}
PAWL_HANDLER(on_advance, flow_state, advance);

static const pawl_saga          flow_saga   = FLOW_SAGA(on_advance);
static const pawl_endpoint_spec source      = {.name = "source", .sagas = PAWL_SAGAS(&flow_saga)};
static const pawl_application   application = APPLICATION("failures", &source, &notes);

/* ---- The receiver: answers as it is told, or is another store ----------------------- */

static pawl_attempt_outcome answers[4];
static size_t               sent;

static pawl_code receive(pawl_transport *transport, pawl_delivery *items, size_t count,
                         pawl_arena *arena, pawl_error *error)
{
    static const char *const words[] = {
        [PAWL_ATTEMPT_REJECTED]  = "the account is closed",
        [PAWL_ATTEMPT_TRANSIENT] = "the receiver is busy",
        [PAWL_ATTEMPT_POISON]    = "type note is not known here",
    };
    (void)transport, (void)arena, (void)error;
    for (size_t i = 0; i < count; i++) {
        items[i].outcome = sent < 4 ? answers[sent] : PAWL_ATTEMPT_SUCCESS;
        if (items[i].outcome != PAWL_ATTEMPT_SUCCESS)
            items[i].error = pawl_text_of(words[items[i].outcome]);
        sent++;
    }
    return PAWL_OK;
}
static const pawl_transport_ops receiver = PAWL_OUTBOUND(receive);
static const pawl_route to_an_outbound[] = {{.name = "far", .outbound = &receiver}, {.name = NULL}};

static world *open_source(const char *url, const pawl_endpoint_options *wanted)
{
    pawl_endpoint_options options = wanted != NULL ? *wanted : (pawl_endpoint_options){0};
    if (options.routes == NULL)
        options.routes = to_an_outbound;
    memset(answers, 0, sizeof answers);
    sent = 0;
    world_forget(&seen);
    return world_begin(url, &application, "source", &options);
}

static void advance_flow(world *it, int32_t number)
{
    world_post(it, NULL, PAWL_MESSAGE(advance, .name = PAWL_TEXT("f"), .number = number));
}

/* ---- What an operator sees ------------------------------------------------------------- */

typedef struct view {
    const char *state;
    int32_t     attempts;
    pawl_time   next;     /* 0: there is no next attempt */
    const char *what;     /* part of what happens next */
    const char *outcomes; /* of the history: "transient poison " */
    const char *error;    /* of its last line, or NULL */
} view;

static const char *const states[]   = {"pending", "held", "dispatched", "dead", "discarded"};
static const char *const outcomes[] = {"success", "rejected", "transient",
                                       "poison",  "enabled",  "discarded"};

static pawl_outbox_row row_of(world *it, int64_t id)
{
    pawl_outbox_query query = {.id = id};
    pawl_outbox_rows  rows  = {.count = 0};
    must(pawl_store_outbox_find(it->store, &query, it->arena, &rows, world_error()));
    assert_int_equal(rows.count, 1);
    return rows.items[0];
}

/* By the store's own reads. */
static void check_row(world *it, int64_t id, const view *expected)
{
    char              text[200] = "";
    pawl_outbox_row   row       = row_of(it, id);
    pawl_attempt_rows history   = world_attempts(it, id);
    assert_string_equal(states[row.state], expected->state);
    assert_int_equal(row.attempts, expected->attempts);
    if (expected->next != 0)
        assert_int_equal(row.next_attempt, expected->next);
    for (size_t i = 0; i < history.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s ",
                 outcomes[history.items[i].outcome]);
    assert_string_equal(text, expected->outcomes);
    if (expected->error != NULL)
        assert_string_equal(history.items[history.count - 1].error.data, expected->error);
}

/* Runs the command and prints what it says. */
static int run_command(const char *url, const char *words, char *text, size_t size)
{
    const char *folder  = getenv("PAWL_BUILD_DIR");
    FILE       *command = popen(
              test_text("%s/pawl outbox %s --store '%s' 2>&1", folder != NULL ? folder : ".", words, url),
              "r");
    assert_non_null(command);
    size_t used = fread(text, 1, size - 1, command);
    text[used]  = '\0';
    int status  = pclose(command);
    print_message("%s", text);
    return status;
}

static void says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not say '%s'", text, part);
}

static void check_object(const char *text, const view *expected)
{
    char part[300], time[PAWL_TIME_TEXT_SIZE + 1], history[200] = "";
    snprintf(part, sizeof part, "\"state\":\"%s\"", expected->state);
    says(text, part);
    snprintf(part, sizeof part, "\"attempts\":%d,", (int)expected->attempts);
    says(text, part);
    says(text, "\"endpoint\":\"source\"");
    says(text, "\"destination\":\"far\"");
    if (expected->next != 0) {
        pawl_time_format(expected->next, time);
        snprintf(part, sizeof part, "\"next_attempt\":\"%s\"", time);
        says(text, part);
    }
    says(text, expected->what);
    for (const char *at = text; (at = strstr(at, "\"outcome\":\"")) != NULL;) {
        at += strlen("\"outcome\":\"");
        snprintf(history + strlen(history), sizeof history - strlen(history), "%.*s ",
                 (int)strcspn(at, "\""), at);
    }
    assert_string_equal(history, expected->outcomes);
    if (expected->error != NULL)
        says(text, expected->error);
}

static void check_view(world *it, const char *url, int64_t id, const view *expected)
{
    char text[6000];
    check_row(it, id, expected);
    if (strncmp(url, "memory:", 7) == 0)
        return;
    assert_int_equal(run_command(url, test_text("show %" PRId64, id), text, sizeof text), 0);
    says(text, expected->state);
    assert_int_equal(run_command(url, test_text("show %" PRId64 " --json", id), text, sizeof text),
                     0);
    check_object(text, expected);
}

static int64_t only_row(world *it, pawl_outbox_state state)
{
    pawl_outbox_rows rows = world_outbox(it, state);
    assert_int_equal(rows.count, 1);
    return rows.items[0].id;
}

static pawl_time next_of(world *it, int64_t id)
{
    pawl_time next = row_of(it, id).next_attempt;
    assert_true(next > pawl_clock_now(it->machine)); /* strictly later (O10) */
    return next;
}

/* ---- The cases ------------------------------------------------------------------------------ */

static int       commits_left;
static pawl_code commit_code;

static pawl_code fail_commit(hook_point when, void *context)
{
    (void)context;
    return when == HOOK_BEFORE_COMMIT && commits_left-- == 0 ? commit_code : PAWL_OK;
}

ON_ALL_STORES(o1_a_commit_that_fails_leaves_and_sends_nothing, const char *url)
{
    pawl_step  step = PAWL_STEP_INIT;
    char       text[2000];
    int64_t    version = 0;
    pawl_error error   = PAWL_ERROR_INIT;
    world_make_tables(url, &application); /* the hook wants them there */
    world *it = open_source(hook_url(url), NULL);
    advance_flow(it, 1);
    commits_left = 0;
    commit_code  = PAWL_ELOST;
    hook_set(fail_commit, NULL);
    assert_int_equal(pawl_endpoint_step(it->endpoint, &step, &error), PAWL_ELOST);
    hook_set(NULL, NULL);
    world_json_equal(it, world_saga_text(it, "Flow", "f", &version), "");
    for (int state = PAWL_OUTBOX_PENDING; state <= PAWL_OUTBOX_DISCARDED; state++)
        assert_int_equal(world_outbox(it, (pawl_outbox_state)state).count, 0);
    if (strncmp(url, "memory:", 7) != 0)
        assert_int_not_equal(run_command(url, "show 1", text, sizeof text), 0);
    assert_int_equal(sent, 0);
    /* The message is still there, and is handled again. */
    world_drain(it);
    assert_int_equal(sent, 1);
    world_saga_text(it, "Flow", "f", &version);
    assert_int_equal(version, 1);
    check_view(it, url, only_row(it, PAWL_OUTBOX_DISPATCHED),
               &(view){.state    = "dispatched",
                       .attempts = 1,
                       .what     = "it was delivered",
                       .outcomes = "success "});
}

ON_ALL_STORES(o16_a_runner_gone_before_it_settles_sends_again, const char *url)
{
    world                *there;
    pawl_step             step = PAWL_STEP_INIT;
    char                  target[1000];
    pawl_error            error    = PAWL_ERROR_INIT;
    pawl_route            routes[] = {{.name = "far", .url = target, .queue = "notes"}, {0}};
    pawl_endpoint_options options  = {.routes = routes};
    assert_true(scenario_url("memory", target, sizeof target));
    world_make_tables(url, &application); /* the hook wants them there */
    world *it = open_source(hook_url(url), &options);
    there     = world_begin(target, &application, "notes", NULL);
    advance_flow(it, 1);
    commits_left = 2; /* the message's and the take-over's are good, the settling is not */
    commit_code  = PAWL_ELOST;
    hook_set(fail_commit, NULL);
    assert_int_equal(pawl_endpoint_step(it->endpoint, &step, &error), PAWL_ELOST);
    hook_set(NULL, NULL);
    pawl_endpoint_destroy(it->endpoint);
    it->endpoint = NULL;
    int64_t id   = only_row(it, PAWL_OUTBOX_PENDING);
    check_view(it, url, id,
               &(view){.state = "pending", .what = "no worker of it is alive", .outcomes = ""});
    world_drain(there);
    assert_string_equal(seen.text, "note1 ");
    must(pawl_endpoint_create(&application, "source", &it->options, &it->endpoint, world_error()));
    world_drain(it); /* the message comes to the receiver again, which knows it */
    assert_int_equal(world_queue(there, "notes").count, 1);
    world_drain(there);
    assert_int_equal(world_queue(there, "notes").count, 0);
    assert_string_equal(seen.text, "note1 ");
    check_view(it, url, id,
               &(view){.state    = "dispatched",
                       .attempts = 1,
                       .what     = "it was delivered",
                       .outcomes = "success "});
}

ON_ALL_STORES(o10_a_transient_failure_waits_for_its_next_attempt, const char *url)
{
    world *it  = open_source(url, NULL);
    answers[0] = answers[1] = PAWL_ATTEMPT_TRANSIENT;
    advance_flow(it, 1);
    world_drain(it);
    int64_t id       = only_row(it, PAWL_OUTBOX_PENDING);
    view    expected = {.state    = "pending",
                        .attempts = 1,
                        .next     = next_of(it, id),
                        .what     = "due",
                        .outcomes = "transient ",
                        .error    = "the receiver is busy"};
    check_view(it, url, id, &expected);
    /* Not before that time, and the next one is further away. */
    int64_t delay = expected.next - pawl_clock_now(it->machine);
    world_go_machine(it, delay - 1);
    assert_int_equal(sent, 1);
    world_go_machine(it, 1);
    expected.attempts = 2;
    expected.next     = next_of(it, id);
    expected.outcomes = "transient transient ";
    check_view(it, url, id, &expected);
    assert_true(expected.next - pawl_clock_now(it->machine) > delay);
    world_go_machine(it, PAWL_MINUTES(1));
    check_view(it, url, id,
               &(view){.state    = "dispatched",
                       .attempts = 3,
                       .what     = "it was delivered",
                       .outcomes = "transient transient success "});
}

static void dead_at_once(const char *url, pawl_attempt_outcome answer, const char *outcome,
                         const char *error)
{
    world *it  = open_source(url, NULL);
    answers[0] = answer;
    advance_flow(it, 1);
    world_drain(it);
    world_go_machine(it, PAWL_DAYS(1));
    assert_int_equal(sent, 1);
    check_view(it, url, only_row(it, PAWL_OUTBOX_DEAD),
               &(view){.state    = "dead",
                       .attempts = 1,
                       .what     = "pawl outbox retry",
                       .outcomes = outcome,
                       .error    = error});
    world_close(it);
}

ON_ALL_STORES(o11_a_rejection_is_dead_at_once, const char *url)
{
    dead_at_once(url, PAWL_ATTEMPT_REJECTED, "rejected ", "the account is closed");
}

ON_ALL_STORES(o12_a_budget_used_up_is_poison, const char *url)
{
    pawl_endpoint_options options = {.outbox_attempts = 3};
    world                *it      = open_source(url, &options);
    for (int i = 0; i < 4; i++)
        answers[i] = PAWL_ATTEMPT_TRANSIENT;
    advance_flow(it, 1);
    for (int i = 0; i < 5; i++)
        world_go_machine(it, PAWL_HOURS(1));
    assert_int_equal(sent, 3);
    check_view(it, url, only_row(it, PAWL_OUTBOX_DEAD),
               &(view){.state    = "dead",
                       .attempts = 3,
                       .what     = "pawl outbox retry",
                       .outcomes = "transient transient poison ",
                       .error    = "the receiver is busy"});
}

ON_ALL_STORES(o13_a_type_that_is_not_known_is_dead_at_once, const char *url)
{
    dead_at_once(url, PAWL_ATTEMPT_POISON, "poison ", "type note is not known here");
}

/* Ends the connections of the first world; on a store without any, the handle. */
static void drop_connection(world *first, const char *url)
{
#ifdef PAWL_HAVE_POSTGRES
    if (strncmp(url, "postgres:", 9) == 0) {
        PGconn *pg = raw_open("public");
        assert_true(
            raw_number(
                pg,
                test_text(
                    "select count(pg_terminate_backend(pid, 60000) or null) from pg_stat_activity "
                    "where application_name = 'the_first_%ld'",
                    (long)getpid())) > 0); /* the sessions are gone */
        PQfinish(pg);
        return;
    }
#endif
    (void)url;
    pawl_endpoint_destroy(first->endpoint);
    first->endpoint = NULL;
}

ON_ALL_STORES(o20_another_runner_goes_on_when_the_connection_drops, const char *url)
{
    char       named[1200];
    pawl_step  step           = PAWL_STEP_INIT;
    pawl_error error          = PAWL_ERROR_INIT;
    bool       has_connection = strncmp(url, "postgres:", 9) == 0;
    snprintf(named, sizeof named, "%s", url);
    if (has_connection)
        snprintf(named + strlen(named), sizeof named - strlen(named),
                 "&application_name=the_first_%ld", (long)getpid());
    world *first = open_source(named, NULL);
    world_drain(first); /* the first runner leads */
    world *second = world_begin(url, &application, "source",
                                &(pawl_endpoint_options){.routes = to_an_outbound});
    advance_flow(second, 1);
    world_drain(second);
    assert_int_equal(sent, 0); /* handled by the second, which does not lead */
    int64_t id = only_row(second, PAWL_OUTBOX_PENDING);
    check_view(second, url, id, &(view){.state = "pending", .what = "due", .outcomes = ""});
    drop_connection(first, url);
    if (has_connection)
        assert_int_not_equal(pawl_endpoint_step(first->endpoint, &step, &error), PAWL_OK);
    world_drain(second);
    assert_int_equal(sent, 1);
    check_view(second, url, id,
               &(view){.state    = "dispatched",
                       .attempts = 1,
                       .what     = "it was delivered",
                       .outcomes = "success "});
}
