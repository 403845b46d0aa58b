/* doctor.c - `pawl doctor`: finds problems of a store, its server and the rows that wait, each with its
 * remedy. Has the table of checks, and those of workers, queues, timeouts, outbox and dead letters.
 *
 * A check that cannot be made is a finding, too, so that the page is printed in every state of the
 * store; the exit code follows from the findings. Dead rows, and rows that nobody reads, need an operator and are
 * failures. Rows that will be retried are only reported.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/doctor.h"

#include "store/core/action.h"
#include "store/core/core.h"

#include <inttypes.h>
#include <string.h>

#define EXIT_FINDINGS 1
#define LATE PAWL_SECONDS(60)
#define ROWS_MAX 10000 /* of the outbox, the oldest ones */
#define ROWS_PAGE 500

typedef struct verb_fields {
    pawl__store_fields at;
    int64_t            transactions;
    pawl__saga_book    book; /* options of sagas */
    bool               is_thorough, is_json;
} verb_fields;

const pawl__argument pawl__doctor_verb_arguments[] = {{.name = NULL}};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__doctor_verb_options[] = {
    OPTION("app", TEXT, book.app, "APP.so", 0,
           "the program that has the sagas: those that nothing wakes are named"),
    PAWL__OPTIONS_ROWS(verb_fields, at, is_json),
    PAWL__OPTION_SAGA_PREFIX(verb_fields, book.prefix, 0),
    OPTION("thorough", FLAG, is_thorough, NULL, 0,
           "checks that read all of the data, too: that of an SQLite file"),
    OPTION("transactions", DURATION, transactions, "DURATION", 0,
           "transactions that are open for as long are named", .max = PAWL_SECONDS(86400),
           .has_default = true, .value_default = PAWL_SECONDS(60)),
    {.name = NULL},
};

static const char *const level_names[] = {"ok", "warn", "fail"};

#define FINDING(key, kind, member, names_) \
    PAWL__COLUMN(pawl_finding, key, kind, member, key, .names = names_)
static const pawl__column columns[] = {
    FINDING("check", TEXT, name, NULL),
    FINDING("level", NAME, level, level_names),
    FINDING("text", TEXT, text, NULL),
    FINDING("remedy", TEXT, remedy, NULL),
    {.key = NULL},
};
static const pawl__noun findings               = {"finding", columns, sizeof(pawl_finding)};
const pawl__report pawl__doctor_verb_reports[] = {{"a finding", columns, NULL}, {.what = NULL}};

/* ---- Workers and queues ------------------------------------------------- */

/* Counts the rows that a worker would handle now. */
static pawl_code count_waiting(pawl__doctor *doctor, int64_t *waiting)
{
    pawl_projection_rows rows = {.count = 0};
    *waiting =
        doctor->stats.timeouts_due + doctor->stats.outbox_pending + doctor->stats.flushes_due;
    for (size_t i = 0; i < doctor->stats.queue_count; i++)
        *waiting += doctor->stats.queues[i].ready;
    pawl_code code =
        pawl_store_projection_list(doctor->store, doctor->now, doctor->arena, &rows, doctor->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        *waiting += rows.items[i].lag;
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

static pawl_code check_workers(pawl__doctor *doctor)
{
    char    count[PAWL__SPAN_SIZE];
    size_t  live    = 0; /* senders have no endpoint */
    int64_t waiting = 0;
    for (size_t i = 0; i < doctor->worker_count; i++)
        live += doctor->workers[i].endpoint.size > 0;
    if (live > 0)
        return pawl__doctor_find(doctor, PAWL_FINDING_OK, "", "%zu live", live);
    pawl_code code = count_waiting(doctor, &waiting);
    if (code != PAWL_OK)
        return code;
    if (waiting == 0)
        return pawl__doctor_find(doctor, PAWL_FINDING_OK, "", "none lives, and nothing is due");
    return pawl__doctor_find(doctor, PAWL_FINDING_FAIL, "pawl run APP.so",
                             "none lives, and %s %s due", pawl__rows_text(waiting, count),
                             waiting == 1
                                 ? "message, timeout, delivery, partition or event is"
                                 : "messages, timeouts, deliveries, partitions or events are");
}

static pawl_code check_queue(pawl__doctor *doctor, const pawl_queue_stats *queue)
{
    char                      text[PAWL__SPAN_SIZE], rows[PAWL__SPAN_SIZE];
    int64_t                   count = queue->ready + queue->scheduled;
    const pawl_subscriptions *list  = &doctor->subscriptions;
    if (count == 0)
        return PAWL_OK;
    if (!pawl__doctor_has_worker(doctor, pawl__queue_reader(list, queue->queue)))
        return pawl__doctor_find(
            doctor, PAWL_FINDING_FAIL, "pawl run APP.so",
            "queue %.*s has no consumer: %s message%s wait%s%s", PAWL_TEXT_ARGS(queue->queue),
            pawl__rows_text(count, rows), PAWL__PLURAL(count), count == 1 ? "s" : "",
            PAWL__ROW_OF(pawl_subscription, queue, list->items, list->count, queue->queue) != NULL
                ? ""
                : ", and no endpoint of this store ever read it");
    if (queue->ready > 0 && queue->oldest < doctor->now - LATE)
        return pawl__doctor_find(doctor, PAWL_FINDING_WARN, "pawl worker list",
                                 "queue %.*s: the oldest of %s due message%s is due since %s",
                                 PAWL_TEXT_ARGS(queue->queue), pawl__rows_text(queue->ready, rows),
                                 PAWL__PLURAL(queue->ready),
                                 pawl__age_text(queue->oldest, doctor->now, text));
    return PAWL_OK;
}

/* ---- Timeouts ----------------------------------------------------------- */

static pawl_code check_timeouts(pawl__doctor *doctor)
{
    pawl_foreign_rows rows;
    pawl_code         code = pawl_store_timeout_foreign(doctor->store, PAWL_TEXT(""), doctor->now,
                                                        doctor->arena, &rows, doctor->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        (void)pawl__doctor_find(doctor, PAWL_FINDING_FAIL, "pawl run APP.so",
                                "timeouts lead to %.*s, which no endpoint of this store handles",
                                PAWL_TEXT_ARGS(rows.items[i].destination));
    return code;
}

/* ---- The outbox --------------------------------------------------------- */

/* Collects endpoints with pending rows but without workers: only the endpoint that made a row delivers it. */
static void find_orphans(pawl__doctor *doctor, pawl__text_set *producers,
                         const pawl_outbox_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const pawl_outbox_row *row = &rows->items[i];
        if (pawl__text_set_add(producers, row->endpoint) &&
            !pawl__doctor_has_worker(doctor, row->endpoint))
            (void)pawl__doctor_find(doctor, PAWL_FINDING_FAIL, "pawl run APP.so",
                                    "nobody delivers what endpoint %.*s produced, row %" PRId64
                                    " and others: no worker of it lives",
                                    PAWL_TEXT_ARGS(row->endpoint), row->id);
    }
}

/* Reads many pages, since one endpoint may have many rows before those of another. */
static pawl_code check_orphans(pawl__doctor *doctor)
{
    pawl_outbox_query query     = {.states = 1U << PAWL_OUTBOX_PENDING, .count_max = ROWS_PAGE};
    pawl__text_set    producers = {.arena = doctor->arena};
    pawl_arena       *page      = pawl__must_create();
    size_t            seen = 0, found = doctor->found.count;
    bool              is_last = false;
    pawl_code         code    = PAWL_OK;
    while (code == PAWL_OK && !is_last && seen < ROWS_MAX) {
        pawl_outbox_rows rows = {.count = 0};
        pawl_arena_reset(page);
        code = pawl_store_outbox_find(doctor->store, &query, page, &rows, doctor->error);
        if (code == PAWL_OK)
            find_orphans(doctor, &producers, &rows);
        is_last = rows.count < ROWS_PAGE;
        seen += rows.count;
        query.after = rows.count > 0 ? rows.items[rows.count - 1].id : query.after;
    }
    pawl_arena_destroy(page);
    if (code != PAWL_OK || is_last || doctor->found.count > found)
        return code;
    return pawl__doctor_find(doctor, PAWL_FINDING_OK, "",
                             "none of the %d oldest pending rows is without a worker; the others "
                             "were not checked",
                             ROWS_MAX);
}

static pawl_code check_outbox(pawl__doctor *doctor)
{
    char      text[PAWL__SPAN_SIZE];
    int64_t   count = doctor->stats.outbox_dead;
    pawl_code code  = check_orphans(doctor);
    if (code == PAWL_OK && count > 0)
        (void)pawl__doctor_find(doctor, PAWL_FINDING_FAIL, "pawl outbox list --state dead",
                                "%s row%s dead: not delivered, and not tried again",
                                pawl__rows_text(count, text), count == 1 ? " is" : "s are");
    return code;
}

/* ---- Dead letters -------------------------------------------------------- */

static pawl_code check_dead(pawl__doctor *doctor)
{
    char    text[PAWL__SPAN_SIZE];
    int64_t count = doctor->stats.dead;
    if (count == 0)
        return PAWL_OK;
    return pawl__doctor_find(doctor, PAWL_FINDING_FAIL, "pawl dead list",
                             "%s message%s dead-lettered", pawl__rows_text(count, text),
                             count == 1 ? " is" : "s are");
}

/* ---- Partitions ---------------------------------------------------------- */

/* The statistics only have the number of partitions; `pawl aggregator list`, the remedy, names them. */
static pawl_code check_partitions(pawl__doctor *doctor)
{
    char    due[PAWL__SPAN_SIZE], rows[PAWL__SPAN_SIZE];
    int64_t count = doctor->stats.flushes_due;
    if (count > 0 && doctor->stats.flushes_oldest < doctor->now - LATE)
        (void)pawl__doctor_find(doctor, PAWL_FINDING_WARN, "pawl aggregator list",
                                "%s partition%s due, the earliest since %s: no worker has the "
                                "aggregator, or a flush runs for long",
                                pawl__rows_text(count, rows), count == 1 ? " is" : "s are",
                                pawl__age_text(doctor->stats.flushes_oldest, doctor->now, due));
    return pawl__doctor_partitions(doctor);
}

/* ---- All of them -------------------------------------------------------- */

/* A kind of problem, and the functions that look for it. */
typedef struct situation {
    const char               *name;
    pawl__doctor_check       *check;    /* or NULL */
    pawl__doctor_queue_check *of_queue; /* called for each queue, after `check`; or NULL */
    const char *well; /* printed if nothing is found; NULL: the check prints that itself */
} situation;

static const situation situations[] = {
    {"workers", check_workers, NULL, NULL},
    {"queues", NULL, check_queue, "no queue with messages is without a consumer"},
    {"paused", NULL, pawl__doctor_paused, "no queue that has messages is paused"},
    {"alarms", pawl__doctor_alarms, NULL,
     "no circuit breaker is open, and each endpoint can deliver and clean up"},
    {"retries", pawl__doctor_timeout_retries, pawl__doctor_retries,
     "no message or timeout waits to be tried again"},
    {"versions", NULL, pawl__doctor_versions,
     "no message waits for a program that reads its version"},
    {"timeouts", check_timeouts, NULL, "each leads to an endpoint of this store"},
    {"outbox", check_outbox, NULL, "no row is dead, and none is without a worker"},
    {"sources", pawl__doctor_sources, NULL, "no row is blocked"},
    {"routes", pawl__doctor_routes, NULL, "no row waits for a route that is missing"},
    {"retention", pawl__doctor_retention, NULL,
     "nothing waits for longer than deduplication records are kept by default"},
    {"projections", pawl__doctor_projections, NULL, "none fails, and none is far behind"},
    {"dead_letters", check_dead, NULL, "there is none"},
    {"partitions", check_partitions, NULL,
     "no partition of an aggregator is dead, long overdue, or has messages that cannot be decoded"},
    {"sagas", pawl__doctor_sagas, NULL, NULL},
};

/* Keeps the first findings; the others become one finding with their number and their worst level. */
static pawl_code check_queues(pawl__doctor *doctor, const situation *row)
{
    pawl_finding_rows *found = &doctor->found;
    size_t             most = found->count + PAWL__DOCTOR_NAMED_MAX, more = 0;
    pawl_finding_level worst = PAWL_FINDING_OK;
    pawl_code          code  = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < doctor->stats.queue_count; i++) {
        code = row->of_queue(doctor, &doctor->stats.queues[i]);
        for (; found->count > most; found->count--, more++)
            if (found->items[found->count - 1].level > worst)
                worst = found->items[found->count - 1].level;
    }
    if (code == PAWL_OK && more > 0)
        (void)pawl__doctor_find(doctor, worst, "pawl stats", "%zu more findings like these", more);
    return code;
}

/* Runs one row. A store that does not support the list which is read has no such problem. */
static pawl_code run(pawl__doctor *doctor, const situation *row)
{
    size_t    count = doctor->found.count;
    pawl_code code  = PAWL_OK;
    doctor->check   = row->name;
    if (row->check != NULL)
        code = row->check(doctor);
    if (row->of_queue != NULL && code == PAWL_OK)
        code = check_queues(doctor, row);
    if (code == PAWL_OK && doctor->found.count == count && row->well != NULL)
        code = pawl__doctor_find(doctor, PAWL_FINDING_OK, "", "%s", row->well);
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

static pawl_code read_all(pawl__doctor *doctor)
{
    doctor->stats = (pawl_stats)PAWL_STATS_INIT;
    pawl_code code =
        pawl_store_stats(doctor->store, doctor->now, doctor->arena, &doctor->stats, doctor->error);
    if (code == PAWL_OK)
        code = pawl_store_worker_list(doctor->store, doctor->arena, &doctor->workers,
                                      &doctor->worker_count, doctor->error);
    if (code == PAWL_OK)
        code = pawl_store_subscriptions(doctor->store, doctor->arena, &doctor->subscriptions,
                                        doctor->error);
    return code;
}

static pawl_code run_situations(pawl__doctor *doctor)
{
    pawl_code code = read_all(doctor);
    for (size_t i = 0; code == PAWL_OK && i < sizeof situations / sizeof situations[0]; i++)
        code = run(doctor, &situations[i]);
    if (code == PAWL_OK || code == PAWL_ENOMEM)
        return code;
    doctor->check = "store";
    return pawl__doctor_find(doctor, PAWL_FINDING_FAIL, "", "cannot be read: %s",
                             doctor->error->text);
}

/* ---- The store itself --------------------------------------------------- */

static void add_difference(pawl_text line, void *context)
{
    static const pawl_text warning = PAWL_TEXT_INIT("warning: ");
    if (line.size > warning.size && memcmp(line.data, warning.data, warning.size) == 0) {
        (void)pawl__doctor_find(context, PAWL_FINDING_WARN, "", "%.*s",
                                (int)(line.size - warning.size), line.data + warning.size);
        return;
    }
    (void)pawl__doctor_find(context, PAWL_FINDING_FAIL, "pawl schema apply", "%.*s",
                            PAWL_TEXT_ARGS(line));
}

static void check_schema(pawl__doctor *doctor)
{
    pawl_error       why   = PAWL_ERROR_INIT;
    size_t           count = doctor->found.count;
    pawl_schema_spec spec = {.system_prefix = doctor->at->prefix, .deadline = doctor->at->deadline};
    pawl_code code = pawl_store_schema(doctor->at->store, PAWL_SCHEMA_VERIFY, &spec, add_difference,
                                       doctor, &why);
    bool      is_well = code == PAWL_OK || code == PAWL_EUNSUPPORTED;
    for (size_t i = count; strstr(why.text, PAWL__SCHEMA_LEFT) != NULL && i < doctor->found.count;
         i++)
        doctor->found.items[i].remedy = PAWL_TEXT("");
    if (code != PAWL_ESCHEMA || doctor->found.count == count)
        (void)pawl__doctor_find(doctor, is_well ? PAWL_FINDING_OK : PAWL_FINDING_FAIL, "", "%s",
                                code == PAWL_OK ? "tables and indexes are those of this pawl"
                                                : why.text);
}

/* Adds the driver's findings. They come before those about the rows. */
static void check_driver(pawl__doctor *doctor, const verb_fields *fields)
{
    pawl_finding_rows rows;
    pawl_error        why   = PAWL_ERROR_INIT;
    pawl_diagnosis    asked = {.now             = pawl_clock_now(NULL),
                               .transaction_age = fields->transactions,
                               .is_thorough     = fields->is_thorough};
    pawl_code         code = pawl_store_diagnose(doctor->store, &asked, doctor->arena, &rows, &why);
    if (code != PAWL_OK)
        (void)pawl__doctor_find(doctor,
                                code == PAWL_EUNSUPPORTED ? PAWL_FINDING_OK : PAWL_FINDING_FAIL, "",
                                "%s", why.text);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
        rows.items[i].remedy = pawl__store_command(doctor->at, rows.items[i].remedy, doctor->arena);
        pawl__doctor_add(doctor, &rows.items[i]);
    }
}

/* The store cannot be opened. Without tables, or with those of another version, `schema` fails and not `connection`. */
static pawl_code say_closed(pawl__doctor *doctor, pawl_code code, const pawl_error *why)
{
    doctor->check      = code == PAWL_ESCHEMA   ? "schema"
                         : code == PAWL_EDENIED ? "rights"
                                                : "connection";
    const char *remedy = code == PAWL_ESCHEMA ? "pawl schema apply" : "";
    return pawl__doctor_find(doctor, PAWL_FINDING_FAIL, remedy, "%s",
                             why->text[0] != '\0' ? why->text : pawl_code_text(code));
}

static pawl_code run_checks(pawl__doctor *doctor, const verb_fields *fields)
{
    char               url[PAWL_URL_SIZE_MAX + 1];
    pawl_error         why     = PAWL_ERROR_INIT;
    pawl_store_options options = pawl__store_options(doctor->at, PAWL_OPEN_EXISTING);
    pawl_code          opened  = pawl_store_open(doctor->at->store, &options, &doctor->store, &why);
    if (opened != PAWL_OK)
        return say_closed(doctor, opened, &why);
    doctor->check = "connection";
    (void)pawl__doctor_find(doctor, PAWL_FINDING_OK, "", "connected to %s",
                            pawl__masked(doctor->at->store, url, sizeof url));
    doctor->check = "schema";
    check_schema(doctor);
    doctor->check = "driver";
    check_driver(doctor, fields);
    return run_situations(doctor);
}

/* ---- Printing ----------------------------------------------------------- */

static void print_page(const pawl_finding_rows *found)
{
    static const char *const words[] = {"OK", "WARN", "FAIL"};
    int                      width   = 0;
    for (size_t i = 0; i < found->count; i++)
        width = (int)found->items[i].name.size > width ? (int)found->items[i].name.size : width;
    for (size_t i = 0; i < found->count; i++) {
        char                before[80];
        const pawl_finding *finding = &found->items[i];
        snprintf(before, sizeof before, "%-5s %-*.*s  ", words[finding->level], width,
                 PAWL_TEXT_ARGS(finding->name));
        pawl__say(stdout, "%s%.*s", before, PAWL_TEXT_ARGS(finding->text));
        if (finding->remedy.size != 0)
            pawl__say(stdout, "      run: %.*s", PAWL_TEXT_ARGS(finding->remedy));
    }
}

/* The exit code, by the worst of the findings. */
static int print(pawl__doctor *doctor, bool is_json)
{
    size_t     bad  = 0;
    pawl__view view = pawl__view_of(&findings, true, doctor->arena);
    if (is_json)
        (void)pawl__rows_print(&view, doctor->found.items, doctor->found.count);
    else
        print_page(&doctor->found);
    for (size_t i = 0; i < doctor->found.count; i++)
        bad += doctor->found.items[i].level == PAWL_FINDING_FAIL;
    if (bad == 0)
        return 0;
    fflush(stdout); /* so that the line below is the last one if both go to one file */
    fprintf(stderr, "pawl: %zu of %zu findings must be dealt with\n", bad, doctor->found.count);
    return EXIT_FINDINGS;
}

int pawl__doctor_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields  fields = {.is_json = false};
    pawl_error   error  = PAWL_ERROR_INIT;
    pawl__doctor doctor = {.at    = &fields.at,
                           .now   = pawl_clock_now(NULL),
                           .error = &error,
                           .arena = pawl__must_create()};
    pawl_code    code   = pawl__verb_parse(verb, count, words, &fields, &error);
    pawl__interrupt_says(NULL);
    if (code == PAWL_OK)
        code = pawl__shared_store_url(&fields.at, &error);
    doctor.book = fields.book;
    if (code == PAWL_OK)
        code = pawl__saga_book_open(&doctor.book, &error);
    if (code == PAWL_OK)
        code = run_checks(&doctor, &fields);
    int exit_code = code == PAWL_OK ? print(&doctor, fields.is_json) : pawl__fail(code, &error);
    pawl_store_close(doctor.store);
    pawl__saga_book_close(&doctor.book);
    pawl_arena_destroy(doctor.arena);
    return exit_code;
}
