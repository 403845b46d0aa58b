/* report.c - compares the stores' contents with the single pass.
 *
 * Looks up every case and every group; unexpected rows are noticed by the number of sagas.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "report.h"

#include "pawl/loop.h"
#include "records.h"
#include "support/store.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static void differ(replay_report *report, const char *format, ...) PAWL_PRINTF(2, 3);

static void differ(replay_report *report, const char *format, ...)
{
    uint64_t number = report->difference_count++;
    if (number >= REPLAY_DIFFERENCES_SHOWN)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->differences[number], sizeof report->differences[0], format, arguments);
    va_end(arguments);
}

static void expect_equal(replay_report *report, const char *what, int64_t found, uint64_t expected)
{
    if (found < 0 || (uint64_t)found != expected)
        differ(report, "%s: %" PRId64 ", expected %" PRIu64, what, found, expected);
}

/* ---- Reading back ---------------------------------------------------------- */

/* A read of a store. Reads are retried one by one, so that even a store that ends its sessions every second is read
 * completely. */
typedef struct reading {
    const replay_run *run;
    replay_report    *report;
    pawl_endpoint    *endpoint;
    const char       *saga;
    pawl_value        key;
    pawl_text         data;
    int64_t           version;
} reading;

static pawl_code load(void *context, pawl_error *error)
{
    reading *r = context;
    return pawl_endpoint_saga(r->endpoint, r->saga, &r->key, r->run->arena, &r->data, &r->version,
                              error);
}

/* The saga's state, in the run's arena; all zero if it does not exist. */
static pawl_code find(const replay_run *run, pawl_endpoint *endpoint, const char *saga,
                      pawl_text key, const pawl_record *record, void *state, bool *is_found,
                      pawl_error *error)
{
    reading   r    = {.run = run, .endpoint = endpoint, .saga = saga, .key = pawl_value_text(key)};
    pawl_code code = replay_patiently(run->patience, load, &r, error);
    *is_found      = r.version != 0;
    if (code == PAWL_OK && r.version != 0)
        code = pawl_record_decode(record, r.data, 0, run->arena, state, error);
    return code;
}

static pawl_code compare_case(const replay_run *run, size_t number,
                              const replay_expected_case *expected, replay_report *report,
                              pawl_error *error)
{
    pawl_text     name = run->job.log->cases[number];
    bool          is_found;
    archived_case found = {.closings = 0};
    pawl_code     code  = find(run, run->archive, "ArchivedCase", name, archived_case_pawl_record(),
                               &found, &is_found, error);
    if (code != PAWL_OK)
        return code;
    if (!is_found)
        differ(report, "case %.*s: not archived", PAWL_TEXT_ARGS(name));
    else if (found.events < 0 || (uint64_t)found.events != expected->events || found.closings < 0 ||
             (uint64_t)found.closings != expected->closings)
        differ(report,
               "case %.*s: %" PRId64 " closings of %" PRId64 " events, expected %" PRIu64
               " of %" PRIu64,
               PAWL_TEXT_ARGS(name), found.closings, found.events, expected->closings,
               expected->events);
    if (found.misplaced != 0)
        differ(report, "case %.*s: %" PRId64 " events or closings not at their time",
               PAWL_TEXT_ARGS(name), found.misplaced);
    report->events += found.events;
    report->archived += found.closings;
    return PAWL_OK;
}

/* Only the last batch of a group may have another size, and only if the number of events is no multiple of the size. */
static pawl_code compare_group(const replay_run *run, size_t number,
                               const replay_expected_group *expected, replay_report *report,
                               pawl_error *error)
{
    char        buffer[REPLAY_GROUP_KEY_SIZE];
    pawl_text   key = replay_group_key(run->job.log, number, buffer);
    bool        is_found;
    group_tally found = {.batches = 0};
    pawl_code   code  = find(run, run->replay, "GroupTally", key, group_tally_pawl_record(), &found,
                             &is_found, error);
    if (code != PAWL_OK)
        return code;
    int64_t uneven = expected->events % (uint64_t)run->options->batch != 0 ? 1 : 0;
    if (!is_found)
        differ(report, "group %.*s: no batch", PAWL_TEXT_ARGS(key));
    else if (found.events < 0 || (uint64_t)found.events != expected->events || found.batches < 0 ||
             (uint64_t)found.batches != expected->batches)
        differ(report,
               "group %.*s: %" PRId64 " batches of %" PRId64 " events, expected %" PRIu64
               " of %" PRIu64,
               PAWL_TEXT_ARGS(key), found.batches, found.events, expected->batches,
               expected->events);
    else if (found.uneven != uneven || (uneven == 1 && found.uneven_last != found.batches))
        differ(report, "group %.*s: %" PRId64 " batches of another size than %" PRId64,
               PAWL_TEXT_ARGS(key), found.uneven, run->options->batch);
    report->batches += found.batches;
    return PAWL_OK;
}

static pawl_code compare_all(const replay_run *run, const replay_expected *expected,
                             replay_report *report, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < run->job.log->case_count; i++) {
        if (expected->by_case[i].events != 0)
            code = compare_case(run, i, &expected->by_case[i], report, error);
        pawl_arena_reset(run->arena);
    }
    if (code != PAWL_OK)
        return example_store_wrap(run->workspace->archive, code, error);
    for (size_t i = 0; code == PAWL_OK && i < run->job.log->group_count; i++) {
        if (expected->by_group[i].events != 0)
            code = compare_group(run, i, &expected->by_group[i], report, error);
        pawl_arena_reset(run->arena);
    }
    return code == PAWL_OK ? code : example_store_wrap(run->workspace->store, code, error);
}

static pawl_code compare_reader(const replay_run *run, const replay_expected *expected,
                                replay_report *report, pawl_error *error)
{
    bool       is_found;
    log_reader found = {.position = 0};
    pawl_code  code  = find(run, run->replay, "Reader", pawl_text_of(run->workspace->run),
                            log_reader_pawl_record(), &found, &is_found, error);
    report->closings = found.closings;
    if (code == PAWL_OK && (!is_found || !found.is_done))
        differ(report, "the log was read to event %" PRId64 " of %" PRIu64, found.position,
               expected->events);
    pawl_arena_reset(run->arena);
    return code;
}

/* ---- Totals ------------------------------------------------------------------ */

static pawl_code count_sagas(void *context, pawl_error *error)
{
    const replay_run *run    = ((reading *)context)->run;
    replay_report    *report = ((reading *)context)->report;
    int64_t           open = 0, readers = 0;
    pawl_code code = pawl_endpoint_saga_count(run->archive, "ArchivedCase", &report->cases, error);
    if (code == PAWL_OK)
        code = pawl_endpoint_saga_count(run->replay, "GroupTally", &report->groups, error);
    if (code == PAWL_OK)
        code = pawl_endpoint_saga_count(run->replay, "OpenCase", &open, error);
    if (code == PAWL_OK)
        code = pawl_endpoint_saga_count(run->replay, "Reader", &readers, error);
    if (code != PAWL_OK)
        return code;
    expect_equal(report, "cases still open", open, 0);
    expect_equal(report, "readers", readers, 1);
    return PAWL_OK;
}

/* Expects that no work is left. */
static void check_leftovers(const char *store, const pawl_stats *stats, replay_report *report)
{
    example_left left[EXAMPLE_LEFT_MAX];
    size_t       count = example_store_left(stats, left);
    for (size_t i = 0; i < count; i++)
        differ(report, "%s: %" PRId64 " %s left", store, left[i].count, left[i].what);
}

static pawl_code count_messages(void *context, pawl_error *error)
{
    const replay_run *run    = ((reading *)context)->run;
    replay_report    *report = ((reading *)context)->report;
    pawl_stats        stats = PAWL_STATS_INIT, archive = PAWL_STATS_INIT;
    pawl_code         code = pawl_endpoint_stats(run->replay, run->arena, &stats, error);
    if (code == PAWL_OK && !run->workspace->is_one_store) {
        code = pawl_endpoint_stats(run->archive, run->arena, &archive, error);
        if (code != PAWL_OK)
            return example_store_wrap(run->workspace->archive, code, error);
    }
    if (code != PAWL_OK)
        return code;
    check_leftovers("replay", &stats, report);
    report->messages = stats.counters.messages;
    if (run->workspace->is_one_store)
        return PAWL_OK;
    check_leftovers("archive", &archive, report);
    report->messages += archive.counters.messages;
    return PAWL_OK;
}

static void compare_totals(const replay_run *run, const replay_expected *expected,
                           replay_report *report)
{
    expect_equal(report, "events", report->events, expected->events);
    expect_equal(report, "cases", report->cases, expected->cases);
    expect_equal(report, "closings", report->closings, expected->closings);
    expect_equal(report, "groups", report->groups, expected->groups);
    expect_equal(report, "batches", report->batches, expected->batches);
    expect_equal(report, "archived", report->archived, expected->closings);
    if (report->kills < run->options->kills)
        differ(report, "%" PRId64 " of %" PRId64 " kills were delivered before the end",
               report->kills, run->options->kills);
}

pawl_code replay_report_make(replay_run *run, int64_t elapsed, int64_t kills, replay_report *report,
                             pawl_error *error)
{
    replay_expected expected;
    *report = (replay_report){.kills = kills};
    pawl_code code =
        replay_expect(run->job.log, run->options->quiet, run->options->batch, &expected, error);
    if (code != PAWL_OK)
        return code;
    code = compare_all(run, &expected, report, error);
    if (code == PAWL_OK) {
        reading r = {.run = run, .report = report};
        code      = compare_reader(run, &expected, report, error);
        if (code == PAWL_OK)
            code = replay_patiently(run->patience, count_sagas, &r, error);
        if (code == PAWL_OK)
            code = replay_patiently(run->patience, count_messages, &r, error);
        if (code != PAWL_OK)
            example_store_wrap(run->workspace->store, code, error);
    }
    if (code == PAWL_OK)
        compare_totals(run, &expected, report);
    report->messages_per_s = (double)report->messages / ((double)(elapsed > 0 ? elapsed : 1) / 1e6);
    replay_expected_free(&expected);
    return code;
}

/* ---- Printing ------------------------------------------------------------------ */

static void print_differences(const replay_report *report, FILE *out)
{
    for (uint64_t i = 0; i < report->difference_count && i < REPLAY_DIFFERENCES_SHOWN; i++)
        fprintf(out, "differs: %s\n", report->differences[i]);
    if (report->difference_count > REPLAY_DIFFERENCES_SHOWN)
        fprintf(out, "differs: %" PRIu64 " more\n",
                report->difference_count - REPLAY_DIFFERENCES_SHOWN);
}

static void print_object(const replay_report *report)
{
    printf("{\"events\":%" PRId64 ",\"cases\":%" PRId64 ",\"closings\":%" PRId64
           ",\"groups\":%" PRId64 ",\"batches\":%" PRId64 ",\"archived\":%" PRId64
           ",\"messages\":%" PRId64 ",\"messages_per_s\":%.0f,\"verified\":%s,\"kills\":%" PRId64
           "}\n",
           report->events, report->cases, report->closings, report->groups, report->batches,
           report->archived, report->messages, report->messages_per_s,
           report->difference_count == 0 ? "true" : "false", report->kills);
}

static void print_table(const replay_report *report)
{
    const struct {
        const char *name;
        int64_t     value;
        const char *what;
    } lines[] = {
        {"events", report->events, "of the log, in the order of their time"},
        {"cases", report->cases, ""},
        {"closings", report->closings, "of cases that were quiet for the quiet period"},
        {"groups", report->groups, ""},
        {"batches", report->batches, "of events of one group, handed over together"},
        {"archived", report->archived, "closings that reached the second store, each once"},
        {"messages", report->messages, "handled in both stores, timeouts and flushes included"},
        {"messages/s", (int64_t)report->messages_per_s, ""},
        {"kills", report->kills, ""},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        printf("%-10s %10" PRId64 "%s%s\n", lines[i].name, lines[i].value,
               lines[i].what[0] != '\0' ? "  " : "", lines[i].what);
}

void replay_report_print(const replay_report *report, bool is_json)
{
    if (is_json) {
        print_object(report);
        print_differences(report, stderr);
        return;
    }
    print_table(report);
    print_differences(report, stdout);
    if (report->difference_count == 0)
        printf("verified: every case and every group equals a single pass over the log\n");
    else
        printf("NOT verified: %" PRIu64 " differences\n", report->difference_count);
}
