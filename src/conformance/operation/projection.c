/* projection.c - positions of projections and the failures that block them, as other programs see them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/event_store.h"
#include "conformance/suite/suite.h"
#include "pawl/operations.h"
#include "pawl/store_calls.h"

#include <string.h>

#define LONG_NAME_SIZE 180 /* makes "pawl.projection/NAME" too long for a stream */

static void append_some(suite *s, pawl_store *store, int64_t count)
{
    for (int64_t version = 1; version <= count; version++)
        COMMIT_ONE(s, store, event_append, .stream = TEXT("Account/1"), .version = version,
                   .is_first = true, .event = suite_event(s, TEXT("m")));
    suite_number(s, store);
}

static int64_t position_of(suite *s, pawl_store *store, int64_t version)
{
    pawl_event_rows  rows;
    pawl_event_query query = {.is_by_position = true};
    READ_ROWS(s, pawl_store_events(store, &query, s->arena, &rows, &s->error), rows);
    EXPECT(s, rows.count >= (size_t)version);
    return rows.items[version - 1].position;
}

static void reach(suite *s, pawl_store *store, const char *name, int64_t from, int64_t to)
{
    EXPECT_OK(s, pawl_store_checkpoint_set(store, suite_printf(s, "projection/%s", name), from, to,
                                           SUITE_NOW, &s->error));
}

static pawl_projection_rows list(suite *s, pawl_store *store, pawl_time now)
{
    pawl_projection_rows rows;
    READ_ROWS(s, pawl_store_projection_list(store, now, s->arena, &rows, &s->error), rows);
    return rows;
}

static pawl_projection_failure failure_at(int64_t position, int64_t attempts)
{
    return (pawl_projection_failure){.position = position,
                                     .stream   = TEXT("Account/1"),
                                     .version  = 2,
                                     .type     = TEXT("opened"),
                                     .next     = SUITE_NOW + PAWL_SECONDS(9),
                                     .attempts = attempts,
                                     .code     = TEXT("EPERSIST"),
                                     .error    = TEXT("the \"bank\" is closed"),
                                     .endpoint = TEXT("desk")};
}

static void fail(suite *s, pawl_store *store, pawl_text name, int64_t position, int64_t attempts,
                 pawl_time now)
{
    const pawl_projection_failure failure = failure_at(position, attempts);
    EXPECT_OK(s, pawl_store_projection_fail(store, name, &failure, now, &s->error));
}

static void projections_are_listed_by_name_with_their_positions_and_lags(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open_bare(s);
    EXPECT_EQ(s, list(s, b, SUITE_NOW).count, 0);
    append_some(s, a, 3);
    int64_t first = position_of(s, a, 1), last = position_of(s, a, 3);
    reach(s, a, "totals", 0, first);
    reach(s, a, "names", 0, last);
    EXPECT_OK(s, pawl_store_checkpoint_set(a, TEXT("outbox/desk"), 0, 7, SUITE_NOW, &s->error));
    EXPECT_OK(s, pawl_store_checkpoint_set(a, TEXT("zebra"), 0, 7, SUITE_NOW, &s->error));
    pawl_projection_rows rows = list(s, b, SUITE_NOW);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_TEXT(s, rows.items[0].name, TEXT("names"));
    EXPECT_EQ(s, rows.items[0].position, last);
    EXPECT_EQ(s, rows.items[0].lag, 0);
    EXPECT_TEXT(s, rows.items[1].name, TEXT("totals"));
    EXPECT_EQ(s, rows.items[1].position, first);
    EXPECT_EQ(s, rows.items[1].last, last);
    EXPECT_EQ(s, rows.items[1].lag, last - first);
    EXPECT_EQ(s, rows.items[1].failure.position, 0);
    EXPECT(s, pawl_uuid_is_zero(rows.items[1].worker.uuid));
    /* After an event that has no position yet, in stores that assign positions later. */
    COMMIT_ONE(s, a, event_append, .stream = TEXT("Account/1"), .version = 4, .is_first = true,
               .event = suite_event(s, TEXT("m")));
    rows = list(s, b, SUITE_NOW);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT(s, rows.items[1].last >= last && rows.items[1].lag >= last - first);
}

static void more_projections_than_fit_on_a_page_are_listed(suite *s)
{
    pawl_store *a = suite_open(s);
    for (int i = 0; i < 103; i++) {
        pawl_text name = suite_printf(s, "p%03d", i);
        if (i % 2 == 0)
            reach(s, a, name.data, 0, 1);
        fail(s, a, name, 2 + i, 1, SUITE_NOW);
    }
    pawl_projection_rows rows = list(s, a, SUITE_NOW);
    EXPECT_EQ(s, rows.count, 103);
    for (size_t i = 0; i < rows.count; i++)
        EXPECT_EQ(s, rows.items[i].failure.position, 2 + (int)i);
}

static void a_projection_is_listed_with_the_worker_that_runs_it(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open_bare(s);
    bool        is_held = false;
    EXPECT_OK(s, pawl_store_lead(a, TEXT("projection/totals"), SUITE_NOW, SUITE_LEASE, &is_held,
                                 &s->error));
    EXPECT(s, is_held);
    pawl_projection_rows rows = list(s, b, SUITE_NOW + SUITE_LEASE - 1);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].name, TEXT("totals"));
    EXPECT_EQ(s, rows.items[0].position, 0);
    EXPECT_EQ(s, pawl_uuid_compare(rows.items[0].worker.uuid, pawl_store_worker(a).uuid), 0);
    EXPECT_EQ(s, list(s, b, SUITE_NOW + SUITE_LEASE).count, 0);
}

static void a_projections_failure_is_shown_until_its_checkpoint_passes_the_event(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open_bare(s);
    append_some(s, a, 3);
    int64_t             second = position_of(s, a, 2);
    pawl_projection_row row;
    fail(s, a, TEXT("totals"), second, 1, SUITE_NOW);
    reach(s, a, "totals", 0, position_of(s, a, 1));
    fail(s, a, TEXT("totals"), second, 2, SUITE_NOW + 5);
    EXPECT_OK(s,
              pawl_store_projection_find(b, TEXT("totals"), SUITE_NOW, s->arena, &row, &s->error));
    EXPECT_EQ(s, row.lag, position_of(s, a, 3) - row.position);
    EXPECT_EQ(s, row.failure.position, second);
    EXPECT_TEXT(s, row.failure.stream, TEXT("Account/1"));
    EXPECT_EQ(s, row.failure.version, 2);
    EXPECT_TEXT(s, row.failure.type, TEXT("opened"));
    EXPECT_EQ(s, row.failure.since, SUITE_NOW);
    EXPECT_EQ(s, row.failure.at, SUITE_NOW + 5);
    EXPECT_EQ(s, row.failure.next, SUITE_NOW + PAWL_SECONDS(9));
    EXPECT_EQ(s, row.failure.attempts, 2);
    EXPECT_TEXT(s, row.failure.code, TEXT("EPERSIST"));
    EXPECT_TEXT(s, row.failure.error, TEXT("the \"bank\" is closed"));
    EXPECT_TEXT(s, row.failure.endpoint, TEXT("desk"));
    reach(s, a, "totals", row.position, second);
    EXPECT_OK(s,
              pawl_store_projection_find(b, TEXT("totals"), SUITE_NOW, s->arena, &row, &s->error));
    EXPECT_EQ(s, row.failure.position, 0);
    EXPECT_EQ(s, row.failure.since, 0);
}

static void the_failure_of_another_event_replaces_a_projections_earlier_failure(suite *s)
{
    pawl_store         *a = suite_open(s);
    pawl_projection_row row;
    fail(s, a, TEXT("totals"), 2, 4, SUITE_NOW);
    fail(s, a, TEXT("totals"), 3, 1, SUITE_NOW + 5);
    EXPECT_OK(s,
              pawl_store_projection_find(a, TEXT("totals"), SUITE_NOW, s->arena, &row, &s->error));
    EXPECT_EQ(s, row.failure.position, 3);
    EXPECT_EQ(s, row.failure.since, SUITE_NOW + 5);
}

static void a_projections_failure_may_have_a_long_name_and_invalid_bytes(suite *s)
{
    pawl_store             *a = suite_open(s);
    char                    letters[LONG_NAME_SIZE + 1];
    pawl_text               name    = {.data = letters, .size = LONG_NAME_SIZE};
    pawl_projection_failure failure = failure_at(2, 1);
    pawl_projection_row     row;
    memset(letters, 'n', LONG_NAME_SIZE);
    letters[LONG_NAME_SIZE] = '\0';
    failure.error           = (pawl_text){.data = "caf\xe9 \xc3\xa9", .size = 7};
    EXPECT_OK(s, pawl_store_projection_fail(a, name, &failure, SUITE_NOW, &s->error));
    EXPECT_OK(s, pawl_store_projection_find(a, name, SUITE_NOW, s->arena, &row, &s->error));
    EXPECT_TEXT(s, row.name, name);
    EXPECT_TEXT(s, row.failure.error, TEXT("caf? \xc3\xa9"));
}

static void a_projection_that_does_not_exist_is_reported_with_those_that_do(suite *s)
{
    pawl_store             *a       = suite_open(s);
    pawl_projection_failure failure = failure_at(0, 1);
    pawl_projection_row     row;
    reach(s, a, "names", 0, 1);
    EXPECT_CODE(s,
                pawl_store_projection_find(a, TEXT("totals"), SUITE_NOW, s->arena, &row, &s->error),
                PAWL_ENOTFOUND);
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text), TEXT("'totals'; there are: names")));
    EXPECT_CODE(s, pawl_store_projection_fail(a, TEXT("totals"), &failure, SUITE_NOW, &s->error),
                PAWL_EINVAL);
    failure.position = 1;
    EXPECT_CODE(s, pawl_store_projection_fail(a, TEXT(""), &failure, SUITE_NOW, &s->error),
                PAWL_EINVAL);
    EXPECT_EQ(s, list(s, a, SUITE_NOW).count, 1);
}

/* ---- Actions ------------------------------------------------------------ */

static pawl_projection_row find(suite *s, pawl_store *store, const char *name)
{
    pawl_projection_row row;
    EXPECT_OK(s, pawl_store_projection_find(store, pawl_text_of(name), SUITE_NOW, s->arena, &row,
                                            &s->error));
    return row;
}

static pawl_event_rows actions_of(suite *s, pawl_store *store, const char *name)
{
    pawl_event_rows rows;
    READ_ROWS(s,
              pawl_store_projection_actions(store, pawl_text_of(name), s->arena, &rows, &s->error),
              rows);
    return rows;
}

static int64_t action_count(suite *s, pawl_store *store, const char *name)
{
    int64_t count = -1;
    EXPECT_OK(s, pawl_store_projection_action_count(store, pawl_text_of(name), &count, &s->error));
    return count;
}

static pawl_code rebuild(suite *s, pawl_store *store, int64_t from, bool while_read, int64_t *count)
{
    const pawl_projection_rebuild request = {.name       = TEXT("totals"),
                                             .from       = from,
                                             .while_read = while_read,
                                             .by         = TEXT("ada"),
                                             .reason     = TEXT("a column was wrong")};
    return pawl_store_projection_rebuild(store, &request, SUITE_NOW + 7, count, &s->error);
}

static void a_blocked_projection_can_be_restarted_by_an_operator(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open_bare(s);
    append_some(s, a, 3);
    int64_t second = position_of(s, a, 2);
    reach(s, a, "totals", 0, position_of(s, a, 1));
    EXPECT_EQ(s, action_count(s, a, "totals"), 0);
    EXPECT_CODE(s,
                pawl_store_projection_restart(b, TEXT("totals"), TEXT("ada"), TEXT(""), SUITE_NOW,
                                              &s->error),
                PAWL_ENOTFOUND);
    EXPECT(s,
           suite_text_has(pawl_text_of(s->error.text), TEXT("nothing blocks projection totals")));
    fail(s, a, TEXT("totals"), second, 4, SUITE_NOW);
    EXPECT_CODE(
        s,
        pawl_store_projection_restart(b, TEXT("totals"), TEXT(""), TEXT(""), SUITE_NOW, &s->error),
        PAWL_EINVAL);
    EXPECT_EQ(s, action_count(s, a, "totals"), 0);
    EXPECT_OK(s, pawl_store_projection_restart(b, TEXT("totals"), TEXT("ada"), TEXT("bank opened"),
                                               SUITE_NOW + 7, &s->error));
    pawl_projection_row row = find(s, a, "totals");
    EXPECT_EQ(s, row.failure.position, second);
    EXPECT_EQ(s, row.failure.next, SUITE_NOW + 7);
    EXPECT_EQ(s, row.failure.since, SUITE_NOW);
    EXPECT_EQ(s, row.failure.attempts, 4);
    EXPECT_EQ(s, row.position, second - 1);
    EXPECT_EQ(s, action_count(s, a, "totals"), 1);
    EXPECT_EQ(s, action_count(s, a, "names"), 0);
    pawl_event_rows done = actions_of(s, a, "totals");
    EXPECT_EQ(s, done.count, 1);
    EXPECT_TEXT(s, done.items[0].event.type, TEXT(PAWL_PROJECTION_RESTARTED));
    EXPECT_EQ(s, done.items[0].event.at, SUITE_NOW + 7);
    EXPECT(s, suite_text_has(done.items[0].event.headers, TEXT("\"by\":\"ada\"")));
    EXPECT(s, suite_text_has(done.items[0].event.headers, TEXT("\"reason\":\"bank opened\"")));
}

static void a_projection_can_be_rebuilt_from_the_beginning(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open_bare(s);
    int64_t     count = -1;
    append_some(s, a, 3);
    int64_t last = position_of(s, a, 3);
    fail(s, a, TEXT("totals"), position_of(s, a, 2), 4, SUITE_NOW);
    reach(s, a, "totals", 0, last);
    reach(s, a, "names", 0, last);
    EXPECT_OK(s, rebuild(s, b, 0, false, &count));
    EXPECT_EQ(s, count, last);
    pawl_projection_row row = find(s, a, "totals");
    EXPECT_EQ(s, row.position, 0);
    EXPECT_EQ(s, row.failure.position, 0); /* the earlier failure is over */
    EXPECT_EQ(s, find(s, a, "names").position, last);
    EXPECT_EQ(s, action_count(s, a, "totals"), 1);
    EXPECT_TEXT(s, actions_of(s, a, "totals").items[0].event.type, TEXT(PAWL_PROJECTION_REBUILT));
    /* A reader from before the rebuild is refused; a new reader continues. */
    EXPECT_CODE(
        s, pawl_store_checkpoint_set(a, TEXT("projection/totals"), last, last + 1, 0, &s->error),
        PAWL_ECONFLICT);
    EXPECT_CODE(s, pawl_store_checkpoint_set(a, TEXT("projection/totals"), 0, 1, 0, &s->error),
                PAWL_ECONFLICT);
    reach(s, a, "totals", PAWL_CHECKPOINT_START, last);
    EXPECT_EQ(s, find(s, a, "totals").position, last);
}

static void a_projection_can_be_rebuilt_from_an_earlier_position(suite *s)
{
    pawl_store *a     = suite_open(s);
    int64_t     count = -1;
    append_some(s, a, 4);
    int64_t third = position_of(s, a, 3);
    reach(s, a, "totals", 0, position_of(s, a, 4));
    EXPECT_OK(s, rebuild(s, a, third, false, &count));
    EXPECT_EQ(s, count, 2);
    EXPECT_EQ(s, find(s, a, "totals").position, third - 1);
    /* No event is skipped. */
    EXPECT_CODE(s, rebuild(s, a, third + 1, false, &count), PAWL_EINVAL);
    EXPECT_EQ(s, count, 0);
    EXPECT_EQ(s, action_count(s, a, "totals"), 1);
    EXPECT_OK(s, rebuild(s, a, third, false, &count));
    EXPECT_EQ(s, count, 0);
    EXPECT_OK(s, rebuild(s, a, 1, false, &count));
    EXPECT_OK(s, rebuild(s, a, 1, false, &count));
    EXPECT_EQ(s, find(s, a, "totals").position, 0);
    EXPECT_EQ(s, action_count(s, a, "totals"), 4);
    fail(s, a, TEXT("totals"), position_of(s, a, 1), 4, SUITE_NOW);
    EXPECT_EQ(s, find(s, a, "totals").failure.position, position_of(s, a, 1));
    EXPECT_OK(s, rebuild(s, a, 1, false, &count));
    EXPECT_EQ(s, find(s, a, "totals").failure.position, 0);
}

static void a_projection_that_a_worker_runs_is_rebuilt_only_on_explicit_request(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open_bare(s);
    bool        is_held = false;
    int64_t     count   = -1;
    append_some(s, a, 2);
    EXPECT_CODE(s, rebuild(s, b, 0, false, NULL), PAWL_ENOTFOUND);
    reach(s, a, "totals", 0, position_of(s, a, 2));
    EXPECT_OK(s, pawl_store_lead(a, TEXT("projection/totals"), SUITE_NOW, SUITE_LEASE, &is_held,
                                 &s->error));
    if (pawl_uuid_is_zero(find(s, b, "totals").worker.uuid))
        return; /* the store cannot tell who reads */
    EXPECT_CODE(s, rebuild(s, b, 0, false, &count), PAWL_ECONFLICT);
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text), TEXT("reads for projection totals")));
    EXPECT_EQ(s, find(s, b, "totals").position, position_of(s, a, 2));
    EXPECT_OK(s, rebuild(s, b, 0, true, &count));
    EXPECT_EQ(s, find(s, b, "totals").position, 0);
}

static void the_global_position_of_a_given_time_can_be_found(suite *s)
{
    pawl_store *a        = suite_open(s);
    int64_t     position = -1;
    EXPECT_OK(s, pawl_store_global_position_at(a, SUITE_NOW, &position, &s->error));
    EXPECT_EQ(s, position, 0);
    for (int64_t version = 1; version <= 9; version++) {
        pawl_event event = suite_event(s, TEXT("m"));
        event.at         = SUITE_NOW + PAWL_SECONDS(version);
        COMMIT_ONE(s, a, event_append, .stream = TEXT("Account/1"), .version = version,
                   .is_first = true, .event = event);
    }
    suite_number(s, a);
    for (int64_t version = 1; version <= 9; version++) {
        EXPECT_OK(s, pawl_store_global_position_at(a, SUITE_NOW + PAWL_SECONDS(version), &position,
                                                   &s->error));
        EXPECT_EQ(s, position, position_of(s, a, version));
        EXPECT_OK(s, pawl_store_global_position_at(a, SUITE_NOW + PAWL_SECONDS(version) - 1,
                                                   &position, &s->error));
        EXPECT_EQ(s, position, position_of(s, a, version));
    }
    EXPECT_OK(
        s, pawl_store_global_position_at(a, SUITE_NOW + PAWL_SECONDS(9) + 1, &position, &s->error));
    EXPECT_EQ(s, position, 0);
}

static const suite_case cases[] = {
    {"O4 projections are listed by name with their positions and lags",
     projections_are_listed_by_name_with_their_positions_and_lags},
    {"O4 more projections than fit on a page are listed",
     more_projections_than_fit_on_a_page_are_listed},
    {"O4 a projection is listed with the worker that runs it",
     a_projection_is_listed_with_the_worker_that_runs_it},
    {"O4 a projection's failure is shown until its checkpoint passes the event",
     a_projections_failure_is_shown_until_its_checkpoint_passes_the_event},
    {"O4 the failure of another event replaces a projection's earlier failure",
     the_failure_of_another_event_replaces_a_projections_earlier_failure},
    {"O4 a projection's failure may have a long name and invalid bytes",
     a_projections_failure_may_have_a_long_name_and_invalid_bytes},
    {"O4 a projection that does not exist is reported with those that do",
     a_projection_that_does_not_exist_is_reported_with_those_that_do},
    {"O4 a blocked projection can be restarted by an operator",
     a_blocked_projection_can_be_restarted_by_an_operator},
    {"O4 a projection can be rebuilt from the beginning",
     a_projection_can_be_rebuilt_from_the_beginning},
    {"O4 a projection can be rebuilt from an earlier position",
     a_projection_can_be_rebuilt_from_an_earlier_position},
    {"O4 a projection that a worker runs is rebuilt only on explicit request",
     a_projection_that_a_worker_runs_is_rebuilt_only_on_explicit_request},
    {"O4 the global position of a given time can be found",
     the_global_position_of_a_given_time_can_be_found},
};

const suite_cases cases_op_projection = SUITE_CASES("operation projection", cases);
