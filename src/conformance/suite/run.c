/* run.c - the table of cases, and the runner.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/run.h"

#include <string.h>

static const suite_cases *const all_cases[] = {
    &cases_queue,
    &cases_inbox,
    &cases_saga,
    &cases_saga_value,
    &cases_timeout,
    &cases_timeout_set,
    &cases_aggregator,
    &cases_snapshot,
    &cases_flush,
    &cases_outbox,
    &cases_set,
    &cases_group,
    &cases_lead,
    &cases_worker,
    &cases_subscription,
    &cases_dead,
    &cases_stats,
    &cases_sweep,
    &cases_text,
    &cases_size,
    &cases_concurrent,
    &cases_program,
    &cases_number,
    &cases_random,
    &cases_op_saga,
    &cases_op_timeout,
    &cases_op_aggregator,
    &cases_op_snapshot,
    &cases_op_outbox,
    &cases_saga_lock,
    &cases_event_store,
    &cases_events,
    &cases_event_store_race,
    &cases_event_store_random,
    &cases_op_event_store,
    &cases_op_message,
    &cases_op_enable,
    &cases_prefix,
    &cases_scan,
    &cases_op_dead,
    &cases_op_dead_changed,
    &cases_alarm,
    &cases_died,
    &cases_diagnose,
    &cases_op_projection,
    &cases_op_partition,
    &cases_queue_find,
    &cases_op_saga_remove,
    &cases_op_pause,
    &cases_history,
    &cases_op_take,
    &cases_op_amend,
};
#define CASES_COUNT (sizeof all_cases / sizeof all_cases[0])

const char *suite_result_name(suite_result result)
{
    static const char *const names[] = {
#define RESULT_NAME(name, text) text,
        SUITE_RESULTS(RESULT_NAME)
#undef RESULT_NAME
    };
    return names[result];
}

/* ---- Tables ------------------------------------------------------------- */

static const struct {
    const char     *type;
    const char     *main;
    pawl_value_type main_type;
    const char     *transitional;
    pawl_value_type transitional_type;
} table_rows[SUITE_TABLE_COUNT] = {
    [SUITE_ORDER]  = {"Order", "OrderRef", PAWL_VALUE_TEXT, NULL, PAWL_VALUE_NONE},
    [SUITE_TWIN]   = {"Twin", "OrderRef", PAWL_VALUE_TEXT, NULL, PAWL_VALUE_NONE},
    [SUITE_TICKET] = {"Ticket", "Number", PAWL_VALUE_INT, NULL, PAWL_VALUE_NONE},
    [SUITE_PARCEL] = {"Parcel", "ParcelId", PAWL_VALUE_UUID, NULL, PAWL_VALUE_NONE},
    [SUITE_ALARM]  = {"Alarm", "RingsAt", PAWL_VALUE_TIME, "RingsNext", PAWL_VALUE_TIME},
    [SUITE_MOVE]   = {"Move", "OldRef", PAWL_VALUE_TEXT, "NewNumber", PAWL_VALUE_INT},
    [SUITE_SHIFT]  = {"Shift of Work", "Old Number", PAWL_VALUE_INT, "New Ref?", PAWL_VALUE_TEXT},
    [SUITE_PLAIN]  = {"Plain", NULL, PAWL_VALUE_NONE, NULL, PAWL_VALUE_NONE},
};

void suite_tables_make(suite_tables *tables, const suite_address *address)
{
    bool        has_prefix = address->prefix[0] != '\0';
    const char *prefix     = has_prefix ? address->prefix : "suite_";
    for (size_t i = 0; i < SUITE_TABLE_COUNT; i++) {
        snprintf(tables->names[i], sizeof tables->names[i], "%s%s", prefix, table_rows[i].type);
        tables->tables[i] = (pawl_saga_table){
            .type = pawl_text_of(table_rows[i].type),
            .name = pawl_text_of(tables->names[i]),
            .main = {.property = pawl_text_of(table_rows[i].main), .type = table_rows[i].main_type},
            .transitional = {.property = pawl_text_of(table_rows[i].transitional),
                             .type     = table_rows[i].transitional_type},
        };
        tables->list[i] = &tables->tables[i];
    }
    tables->spec = (pawl_schema_spec){.system_prefix = has_prefix ? prefix : NULL,
                                      .tables        = tables->list,
                                      .table_count   = SUITE_TABLE_COUNT};
}

/* ---- One case ----------------------------------------------------------- */

typedef struct case_run {
    suite_address address;
    suite_tables  tables;
    suite         s;
} case_run;

static void run_guarded(suite *s, const suite_case *item)
{
    if (setjmp(s->failed) == 0)
        item->run(s);
}

/* A failure to create or drop the tables fails the case, unless the case failed itself. */
static void note_failure(suite *s, const char *what, pawl_code code)
{
    if (code != PAWL_OK && s->failure[0] == '\0')
        snprintf(s->failure, sizeof s->failure, "%s: %s: %s", what, suite_code_name(s, code),
                 s->error.text);
}

static void drop(const suite_fixture *fixture, suite *s, const suite_address *address,
                 const suite_tables *tables)
{
    if (fixture->drop != NULL)
        note_failure(s, "dropping the tables",
                     fixture->drop(fixture, address, &tables->spec, &s->error));
}

static void run_at(const suite_fixture *fixture, case_run *run, const suite_case *item,
                   unsigned number, uint64_t seed)
{
    suite *s = &run->s;
    fixture->fresh(fixture, number, &run->address);
    suite_tables_make(&run->tables, &run->address);
    memcpy(s->tables, run->tables.list, sizeof s->tables);
    s->address = &run->address;
    pawl_random_seed(&s->random, seed + number);

    pawl_code code = PAWL_OK;
    if (fixture->make != NULL)
        code = fixture->make(fixture, &run->address, &run->tables.spec, &s->error);
    note_failure(s, "making the tables", code);
    if (code == PAWL_OK)
        run_guarded(s, item);
    suite_close_all(s);
    drop(fixture, s, &run->address, &run->tables);
    if (s->other.prefix[0] == '\0')
        return;
    suite_tables_make(&run->tables, &s->other);
    drop(fixture, s, &s->other, &run->tables);
}

/* `reason`: why the case did not pass. */
static suite_result run_case(const suite_fixture *fixture, const suite_options *options,
                             const suite_case *item, unsigned number, char *reason,
                             size_t reason_size)
{
    case_run run = {.s = {.arena   = pawl_arena_create(0),
                          .is_over = options->is_over,
                          .context = options->context,
                          .rounds  = fixture->rounds != 0 ? fixture->rounds : SUITE_ROUNDS}};
    if (run.s.arena == NULL) {
        snprintf(reason, reason_size, "out of memory");
        return SUITE_FAIL;
    }
    run_at(fixture, &run, item, number, options->seed);
    pawl_arena_destroy(run.s.arena);
    bool is_left = run.s.failure[0] == '\0' && run.s.not_applicable != NULL;
    snprintf(reason, reason_size, "%s", is_left ? run.s.not_applicable : run.s.failure);
    if (is_left)
        return SUITE_NOT_APPLICABLE;
    return reason[0] == '\0' ? SUITE_PASS : SUITE_FAIL;
}

/* ---- All of them -------------------------------------------------------- */

static bool is_chosen(const char *noun, const suite_case *item, const char *filter)
{
    char name[400];
    snprintf(name, sizeof name, "%s: %s", noun, item->name);
    return filter == NULL || strstr(name, filter) != NULL;
}

unsigned suite_count(const char *filter)
{
    unsigned count = 0;
    for (size_t i = 0; i < CASES_COUNT; i++)
        for (size_t j = 0; j < all_cases[i]->count; j++)
            count += is_chosen(all_cases[i]->noun, &all_cases[i]->items[j], filter);
    return count;
}

unsigned suite_run(const suite_fixture *fixture, const suite_options *options)
{
    unsigned run = 0, failed = 0, number = 0, count = suite_count(options->filter);
    for (size_t i = 0; i < CASES_COUNT; i++) {
        for (size_t j = 0; j < all_cases[i]->count; j++) {
            const suite_case *item = &all_cases[i]->items[j];
            char              reason[sizeof((suite *)NULL)->failure];
            number++;
            if (!is_chosen(all_cases[i]->noun, item, options->filter) ||
                (options->one_of != 0 && (number + options->seed) % options->one_of != 0))
                continue;
            if (options->is_over != NULL && options->is_over(options->context))
                return failed;
            suite_report report = {.noun   = all_cases[i]->noun,
                                   .name   = item->name,
                                   .reason = "",
                                   .number = ++run,
                                   .count  = count};
            if (options->begin != NULL)
                options->begin(&report, options->context);
            report.result = run_case(fixture, options, item, number, reason, sizeof reason);
            report.reason = reason;
            failed += report.result == SUITE_FAIL;
            options->report(&report, options->context);
        }
    }
    return failed;
}

void suite_list(suite_report_fn *report, void *context)
{
    unsigned number = 0, count = suite_count(NULL);
    for (size_t i = 0; i < CASES_COUNT; i++)
        for (size_t j = 0; j < all_cases[i]->count; j++) {
            suite_report listed = {.noun   = all_cases[i]->noun,
                                   .name   = all_cases[i]->items[j].name,
                                   .reason = "",
                                   .number = ++number,
                                   .count  = count};
            report(&listed, context);
        }
}
