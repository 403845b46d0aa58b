/* test_model_process.c - mistakes in the tables of processes, entities and projections.
 *
 * One row per mistake: an endpoint that has it, and the text of its error. O17, E32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"
#include "unit/workflow/test_model_sample.h"

/* ---- Records and handlers ---------------------------------------------------- */

RECORD(account, (TEXT, account), (INT64, cents));
RECORD(other, (TEXT, account));
RECORD(credit, (TEXT, account), (DOUBLE, weight), (INT64, cents));
RECORD(credited, (INT64, cents));
RECORD_WITH(forged, ((INT64, cents)), .type = "pawl.x");

#define USELESS                                \
    {                                          \
        (void)ctx, (void)state, (void)message; \
        return PAWL_OK;                        \
    }
static pawl_code on_credit(pawl_context *ctx, const account *state, const credit *message) USELESS
    PAWL_ENTITY_HANDLER(on_credit, account, credit);
static pawl_code on_credit_other(pawl_context *ctx, const other *state,
                                 const credit *message) USELESS
    PAWL_ENTITY_HANDLER(on_credit_other, other, credit);
static pawl_code on_credit_saga(pawl_context *ctx, account *state, const credit *message) USELESS
    PAWL_HANDLER(on_credit_saga, account, credit);
static pawl_code on_credited(pawl_context *ctx, const account *state,
                             const credited *message) USELESS
    PAWL_PROCESS_HANDLER(on_credited, account, credited);
static pawl_code on_rejected(pawl_context *ctx, const account *state,
                             const pawl_rejected *message) USELESS
    PAWL_PROCESS_HANDLER(on_rejected, account, pawl_rejected);

static pawl_code on_accepted_saga(pawl_context *ctx, account *state,
                                  const pawl_accepted *message) USELESS
    PAWL_HANDLER(on_accepted_saga, account, pawl_accepted);
static pawl_code on_rejected_saga(pawl_context *ctx, account *state,
                                  const pawl_rejected *message) USELESS
    PAWL_HANDLER(on_rejected_saga, account, pawl_rejected);
static pawl_code find_nothing(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    return PAWL_OK;
}

static pawl_code on_late(pawl_context *ctx, const account *state)
{
    return PAWL_OK;
}
PAWL_PROCESS_TIMEOUT_HANDLER(on_late, account);

IDLE_MESSAGE_HANDLER(on_plain, credited);

static pawl_code on_batch(pawl_context *ctx, const credited *messages, size_t count)
{
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_batch, credited);

static void apply_credited(account *state, const credited *event)
{
    state->cents += event->cents;
}
PAWL_APPLY(apply_credited, account, credited);
static void apply_again(account *state, const credited *event)
{
    state->cents += event->cents;
}
PAWL_APPLY(apply_again, account, credited);
static void apply_other(other *state, const credited *event)
{
}
PAWL_APPLY(apply_other, other, credited);
static void apply_forged(account *state, const forged *event)
{
    state->cents += event->cents;
}
PAWL_APPLY(apply_forged, account, forged);

static pawl_code find_none(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    return PAWL_OK;
}

/* ---- Mistakes -------------------------------------------------------------------- */

#define STATE .state = PAWL_RECORD_OF(account)
#define APPLY(...)                       \
    .apply = (const pawl_apply *const[]) \
    {                                    \
        __VA_ARGS__, NULL                \
    }
#define HEARS(...) .on = PAWL_ON(__VA_ARGS__)
#define CREDIT_ROW                                         \
    {                                                      \
        .handle = PAWL_HANDLE(on_credit), .key = "account" \
    }
#define START_ROW                                                          \
    {                                                                      \
        .handle = PAWL_HANDLE(on_credit), .key = "account", .starts = true \
    }
#define LATE_ROW                                          \
    {                                                     \
        .handle = PAWL_HANDLE(on_late), .timeout = "late" \
    }
#define A_HUNDRED                                                            \
    "0123456789012345678901234567890123456789012345678901234567890123456789" \
    "012345678901234567890123456789"

static const mistake mistakes[] = {
    {.says = "entity has no name", .entity = {STATE, ON(CREDIT_ROW)}},
    {.says = "process has no name", .process = {STATE, ON(START_ROW)}},
    {.says   = "entity a/b: the name may not hold '/'",
     .entity = {.name = "a/b", STATE, ON(CREDIT_ROW)}},
    {.says = "entity E has no .state", .entity = {.name = "E", ON(CREDIT_ROW)}},
    {.says = "process P has no .on", .process = {.name = "P", STATE}},
    {.says   = "E: message credit needs .key to find its stream by",
     .entity = {.name = "E", STATE, ON({.handle = PAWL_HANDLE(on_credit)})}},
    {.says   = "E: message credit has no property 'colour'",
     .entity = {.name = "E", STATE, ON({.handle = PAWL_HANDLE(on_credit), .key = "colour"})}},
    {.says   = "E: message credit: weight",
     .entity = {.name = "E", STATE, ON({.handle = PAWL_HANDLE(on_credit), .key = "weight"})}},
    {.says    = "P: message credit has .find, which is for sagas",
     .process = {.name = "P",
                 STATE,
                 ON({.handle = PAWL_HANDLE(on_credit),
                     .key    = "account",
                     .find   = find_none,
                     .starts = true})}},
    {.says   = "E: the handler of credit is not made for its state record account by "
               "PAWL_ENTITY_HANDLER",
     .entity = {.name = "E", STATE, ON({.handle = PAWL_HANDLE(on_credit_saga), .key = "account"})}},
    {.says   = "E: the handler of credit is not made for its state record account",
     .entity = {.name = "E",
                STATE,
                ON({.handle = PAWL_HANDLE(on_credit_other), .key = "account"})}},
    {.says = "S: the handler of credit is not made for its state record account",
     .saga = {.name = "S", STATE, .correlation = "account", ON(START_ROW)}},
    {.says   = "E: the handler of credited is not made for its state record account",
     .entity = {.name = "E", STATE, ON({.handle = PAWL_HANDLE(on_plain), .key = "cents"})}},
    {.says   = "E: a function of .apply is not made for its state record account",
     .entity = {.name = "E", STATE, ON(CREDIT_ROW), APPLY(PAWL_APPLIES(apply_other))}},
    {.says   = "E: two functions of .apply are for event credited",
     .entity = {.name = "E",
                STATE,
                ON(CREDIT_ROW),
                APPLY(PAWL_APPLIES(apply_credited), PAWL_APPLIES(apply_again))}},
    {.says   = "E: event type pawl.x begins with 'pawl.', which is the library's",
     .entity = {.name = "E", STATE, ON(CREDIT_ROW), APPLY(PAWL_APPLIES(apply_forged))}},
    {.says   = "entity E: .snapshot_every is -1, it may not be negative",
     .entity = {.name = "E", STATE, ON(CREDIT_ROW), .snapshot_every = -1}},
    {.says   = "entity E: .dispatches_remembered is -1, the limit is 0 to 65536",
     .entity = {.name = "E", STATE, ON(CREDIT_ROW), .dispatches_remembered = -1}},
    {.says    = "process P: .dispatches_remembered is 65537, the limit is 0 to 65536",
     .process = {.name = "P", STATE, ON(START_ROW), .dispatches_remembered = 65537}},
    {.says    = "process P: no message starts it; set .starts on one",
     .process = {.name = "P", STATE, ON(CREDIT_ROW)}},
    {.says    = "P: a timeout handler needs .timeout",
     .process = {.name = "P", STATE, ON(START_ROW, {.handle = PAWL_HANDLE(on_late)})}},
    {.says    = "process P handles timeout 'late' twice",
     .process = {.name = "P", STATE, ON(START_ROW, LATE_ROW, LATE_ROW)}},
    {.says   = "entity E: timeout 'late' has a handler, but only a process has timeouts",
     .entity = {.name = "E", STATE, ON(CREDIT_ROW, LATE_ROW)}},
    {.says   = "entity E handles message credit twice",
     .entity = {.name = "E", STATE, ON(CREDIT_ROW, CREDIT_ROW)}},
    {.says   = "E: message pawl.rejected needs .key", /* answers are for processes */
     .entity = {.name = "E", STATE, ON(CREDIT_ROW, {.handle = PAWL_HANDLE(on_rejected)})}},
    {.says    = "P: message pawl.rejected needs .key", /* and start none */
     .process = {.name = "P", STATE, ON({.handle = PAWL_HANDLE(on_rejected), .starts = true})}},
    {.says    = "two sagas, processes or entities are named S",
     .saga    = {.name = "S",
                 STATE,
                 .correlation = "account",
                 ON({.handle = PAWL_HANDLE(on_credit_saga), .key = "account", .starts = true})},
     .process = {.name = "S", STATE, ON(START_ROW)}},
    {.says    = "two sagas, processes or entities are named S",
     .entity  = {.name = "S", STATE, ON(CREDIT_ROW)},
     .process = {.name = "S", STATE, ON(START_ROW)}},
    {.says       = "projection has no name",
     .projection = {.name = "", HEARS({.handle = PAWL_HANDLE(on_plain)})}},
    {.says       = "projection name '0123456789",
     .projection = {.name = A_HUNDRED A_HUNDRED, HEARS({.handle = PAWL_HANDLE(on_plain)})}},
    {.says       = "projection V has no handler in .on",
     .projection = {.name = "V", .on = (const pawl_on[]){{.handle = NULL}}}},
    {.says = "projection V has no handler in .on", .projection = {.name = "V", .batch = 1}},
    {.says       = "projection V: handler 2 of .on is not made by PAWL_MESSAGE_HANDLER",
     .projection = {.name = "V",
                    HEARS({.handle = PAWL_HANDLE(on_plain)},
                          {.handle = PAWL_HANDLE(on_credited)})}},
    {.says       = "projection V: handler 1 of .on is not made by PAWL_MESSAGE_HANDLER",
     .projection = {.name = "V", HEARS({.handle = PAWL_HANDLE(on_batch)})}},
    {.says       = "projection V: row 1 of .on has more than .handle",
     .projection = {.name = "V", HEARS({.handle = PAWL_HANDLE(on_plain), .key = "account"})}},
    {.says       = "projection V: row 2 of .on has more than .handle",
     .projection = {.name = "V",
                    HEARS({.handle = PAWL_HANDLE(on_plain)},
                          {.handle = PAWL_HANDLE(on_plain), .own_sql = true})}},
    {.says       = "projection V: row 1 of .on has more than .handle",
     .projection = {.name = "V",
                    HEARS({.handle = PAWL_HANDLE(on_plain), .does = PAWL_DOES_NOTHING})}},
    {.says       = "projection V: handler 1 of .on is not made by PAWL_MESSAGE_HANDLER",
     .projection = {.name = "V", HEARS({.handle = PAWL_HANDLE(on_late)})}},
    {.says       = "projection V handles event credited twice",
     .projection = {.name = "V",
                    HEARS({.handle = PAWL_HANDLE(on_plain)}, {.handle = PAWL_HANDLE(on_plain)})}},
    {.says       = "projection V: .batch is -1, the limit is 0 to",
     .projection = {.name = "V", HEARS({.handle = PAWL_HANDLE(on_plain)}), .batch = -1}},
    {.says       = "projection V: .batch is 1000001, the limit is 0 to",
     .projection = {.name = "V", HEARS({.handle = PAWL_HANDLE(on_plain)}), .batch = 1000001}},
    {.says              = "two projections are named V",
     .projection        = {.name = "V", HEARS({.handle = PAWL_HANDLE(on_plain)})},
     .second_projection = {.name = "V", HEARS({.handle = PAWL_HANDLE(on_plain)})}},
};

TEST(every_mistake_is_refused_and_named)
{
    check_refused(mistakes, COUNT(mistakes));
}

/* ---- What is right ------------------------------------------------------------------ */

static const pawl_entity        good_entity     = {.name = "Account",
                                                   STATE,
                                                   ON(CREDIT_ROW),
                                                   APPLY(PAWL_APPLIES(apply_credited)),
                                                   .snapshot_every        = 9,
                                                   .dispatches_remembered = PAWL_DISPATCHES_REMEMBERED_MAX};
static const pawl_process       good_process    = {.name = "Transfer",
                                                   STATE,
                                                   ON(START_ROW, {.handle = PAWL_HANDLE(on_rejected)},
                                                      LATE_ROW,
                                                      {.handle = PAWL_HANDLE(on_late), .timeout = "later"})};
static const pawl_projection    good_projection = {.name = "Totals",
                                                   HEARS({.handle = PAWL_HANDLE(on_plain)})};
static const pawl_endpoint_spec good            = {.name        = "bank",
                                                   .entities    = PAWL_ENTITIES(&good_entity),
                                                   .processes   = PAWL_PROCESSES(&good_process),
                                                   .projections = PAWL_PROJECTIONS(&good_projection)};
static const pawl_application   application     = {PAWL_APPLICATION_HEAD,
                                                   .endpoints = PAWL_ENDPOINTS(&good)};

TEST(a_good_table_is_found_again)
{
    pawl__model *model = NULL;
    must(pawl__model_create(&application, NULL, NULL, &model, world_error()));
    const pawl__saga_model *entity  = pawl__model_saga(model, PAWL_TEXT("Account"));
    const pawl__saga_model *process = pawl__model_saga(model, PAWL_TEXT("Transfer"));
    assert_true(entity->stream->is_entity);
    assert_int_equal(entity->stream->snapshot_every, 9);
    assert_int_equal(entity->stream->remembered, PAWL_DISPATCHES_REMEMBERED_MAX);
    assert_non_null(pawl__model_apply(entity->stream, PAWL_TEXT("credited")));
    assert_null(pawl__model_apply(entity->stream, PAWL_TEXT("credite")));
    assert_false(process->stream->is_entity);
    assert_int_equal(process->stream->remembered, PAWL_DISPATCHES_REMEMBERED);
    assert_int_equal(process->answers, PAWL__ANSWER_REJECTED);
    assert_non_null(pawl__model_timeout(model, PAWL_TEXT("Transfer"), PAWL_TEXT("later")));
    assert_int_equal(model->table_count, 0); /* processes have no tables of their own */
    assert_int_equal(model->projections[0].batch, 256);
    assert_string_equal(model->projections[0].source.data, "projection/Totals");
    pawl__model_destroy(model);
}

static const pawl_saga asking_sagas[] = {
    {.name        = "Both",
     .state       = PAWL_RECORD_OF(account),
     .correlation = "account",
     .on = PAWL_ON({.handle = PAWL_HANDLE(on_credit_saga), .key = "account", .starts = true},
                   {.handle = PAWL_HANDLE(on_accepted_saga)},
                   {.handle = PAWL_HANDLE(on_rejected_saga)})},
    {.name        = "Rejected",
     .state       = PAWL_RECORD_OF(account),
     .correlation = "account",
     .on = PAWL_ON({.handle = PAWL_HANDLE(on_credit_saga), .key = "account", .starts = true},
                   {.handle = PAWL_HANDLE(on_rejected_saga)},
                   {.handle = PAWL_HANDLE(on_accepted_saga), .key = "type"})},
    {.name        = "Finder",
     .state       = PAWL_RECORD_OF(account),
     .correlation = "account",
     .on = PAWL_ON({.handle = PAWL_HANDLE(on_credit_saga), .key = "account", .starts = true},
                   {.handle = PAWL_HANDLE(on_rejected_saga), .find = find_nothing})}};

/* A saga hears of its commands by rows for answers that have neither a key nor a finder: those find their
 * saga themselves, and no header asks for them. */
TEST(the_rows_of_a_saga_say_which_answers_it_asks_for)
{
    static const unsigned answers[] = {PAWL__ANSWER_ACCEPTED | PAWL__ANSWER_REJECTED,
                                       PAWL__ANSWER_REJECTED, PAWL__ANSWER_NONE};
    for (size_t i = 0; i < COUNT(asking_sagas); i++) {
        const pawl_endpoint_spec desk = {.name = "desk", .sagas = PAWL_SAGAS(&asking_sagas[i])};
        const pawl_application given  = {PAWL_APPLICATION_HEAD, .endpoints = PAWL_ENDPOINTS(&desk)};
        pawl__model           *model  = NULL;
        must(pawl__model_create(&given, NULL, NULL, &model, world_error()));
        assert_int_equal(model->sagas[0].answers, answers[i]);
        pawl__model_destroy(model);
    }
}

/* ---- Applications of another time ------------------------------------------------------ */

/* As they were before there were processes. */
typedef struct old_handler {
    pawl_record_fn *state;
    pawl_record_fn *message;
    bool            is_list;
    pawl_call_fn   *call;
} old_handler;

typedef struct old_endpoint {
    const char                   *name;
    const char                   *queue;
    const pawl_saga *const       *sagas;
    const pawl_on                *handlers;
    const pawl_aggregator *const *aggregators;
} old_endpoint;

typedef struct old_application {
    uint32_t abi;
    uint32_t application_size, endpoint_size, saga_size, on_size, aggregator_size, handler_size,
        filter_size;
    const char                *name;
    const old_endpoint *const *endpoints;
    const pawl_filter         *filters;
} old_application;

/* A library that read more than is there would find what follows: no process. */
typedef struct followed_endpoint {
    old_endpoint is;
    const void  *follows[3];
} followed_endpoint;

typedef struct followed_handler {
    old_handler is;
    bool        follows;
} followed_handler;

TEST(what_an_older_application_did_not_know_is_absent)
{
    static const followed_handler handler = {
        {PAWL_RECORD_OF(account), PAWL_RECORD_OF(credit), false, on_credit_saga_pawl_call}, true};
    static const pawl_on rows[] = {
        {.handle = (const pawl_handler *)(const void *)&handler, .key = "account", .starts = true},
        {.handle = NULL}};
    static const pawl_saga  saga     = {.name = "S", STATE, .correlation = "account", .on = rows};
    const followed_endpoint endpoint = {{.name = "old", .sagas = PAWL_SAGAS(&saga)},
                                        {"no list", "of any", "kind"}};
    const old_application   old      = {.abi              = PAWL_ABI,
                                        .application_size = sizeof(old_application),
                                        .endpoint_size    = sizeof(old_endpoint),
                                        .saga_size        = sizeof(pawl_saga),
                                        .on_size          = sizeof(pawl_on),
                                        .aggregator_size  = sizeof(pawl_aggregator),
                                        .handler_size     = sizeof(old_handler),
                                        .filter_size      = sizeof(pawl_filter),
                                        .endpoints = (const old_endpoint *const[]){&endpoint.is, NULL}};
    pawl__model            *model    = NULL;
    must(pawl__model_create((const pawl_application *)(const void *)&old, NULL, NULL, &model,
                            world_error()));
    assert_int_equal(model->saga_count, 1);
    assert_null(model->sagas[0].stream);
    assert_int_equal(model->projection_count, 0);
    pawl__model_destroy(model);
}

/* Fields that were appended to a process since read as zero. */
TEST(a_smaller_process_is_read_by_its_size)
{
    pawl_application old   = application;
    pawl_error       error = PAWL_ERROR_INIT;
    pawl__model     *model = NULL;
    old.process_size       = offsetof(pawl_process, snapshot_every);
    old.projection_size    = offsetof(pawl_projection, own_sql);
    must(pawl__model_create(&old, NULL, NULL, &model, world_error()));
    const pawl__saga_model *entity = pawl__model_saga(model, PAWL_TEXT("Account"));
    assert_int_equal(entity->stream->snapshot_every, 0);
    assert_int_equal(entity->stream->remembered, PAWL_DISPATCHES_REMEMBERED);
    assert_int_equal(entity->stream->apply_count, 1);
    pawl__model_destroy(model);
    old.process_size = 0;
    assert_int_equal(pawl__model_create(&old, NULL, NULL, &model, &error), PAWL_ECONFIG);
    assert_null(model);
}

TEST(every_allocation_fails_in_turn)
{
    long live        = fault_memory_live();
    bool was_reached = true;
    for (long n = 1; was_reached; n++) {
        pawl_error   error = PAWL_ERROR_INIT;
        pawl__model *model = NULL;
        fault_memory_begin(n);
        pawl_code code = pawl__model_create(&application, NULL, NULL, &model, &error);
        was_reached    = fault_memory_end();
        assert_int_equal(code, was_reached ? PAWL_ENOMEM : PAWL_OK);
        assert_int_equal(model == NULL, was_reached);
        pawl__model_destroy(model);
        assert_int_equal(fault_memory_live(), live);
        assert_true(n < 1000);
    }
}

void (*const tests_first)(void) = fault_memory_install;
