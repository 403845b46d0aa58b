/* test_model.c - mistakes in an application's tables.
 *
 * One row per mistake: an endpoint that has it, and the text of its error. D3, D32, E17, E32, S17,
 * S19, S29.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/workflow/test_model_sample.h"

/* ---- Records and handlers ---------------------------------------------------- */

RECORD(address, (TEXT, city));
RECORD(order_state, (TEXT, order_id), (INT64, number), (DOUBLE, weight), (RECORD, home, address));
RECORD(other_state, (TEXT, order_id));
#define PLACE(F)      \
    F(TEXT, order_id) \
    F(UUID, uuid)     \
    F(DOUBLE, weight)
PAWL_RECORD(place, PLACE);

/* Another struct of the same message, as a second file declares it. */
RECORD_WITH(other_place, ((UUID, uuid), (TEXT, order_id), (DOUBLE, weight)), .type = "place");

IDLE_MESSAGE_HANDLER(on_other_place, other_place);

IDLE_HANDLER(on_place, order_state, place);

IDLE_HANDLER(on_place_other, other_state, place);

IDLE_TIMEOUT_HANDLER(on_late, order_state);

IDLE_MESSAGE_HANDLER(on_plain, place);

static pawl_code on_batch(pawl_context *ctx, const place *messages, size_t count)
{
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_batch, place);

static pawl_code find_none(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    return PAWL_OK;
}

/* ---- Mistakes -------------------------------------------------------------------- */

#define STATE .state = PAWL_RECORD_OF(order_state)
#define START                                                              \
    {                                                                      \
        .handle = PAWL_HANDLE(on_place), .key = "order_id", .starts = true \
    }

/* A saga with such rows of handlers. */
#define S_ON(...)                                                      \
    {                                                                  \
        .name = "S", STATE, .correlation = "order_id", ON(__VA_ARGS__) \
    }

static const mistake mistakes[] = {
    {.says = "saga has no name", .saga = {STATE, .correlation = "order_id", ON(START)}},
    {.says = "saga name 'a\"b'",
     .saga = {.name = "a\"b", STATE, .correlation = "order_id", ON(START)}},
    {.says = "saga S has no .state", .saga = {.name = "S", .correlation = "order_id", ON(START)}},
    {.says = "saga S has no .on", .saga = {.name = "S", STATE, .correlation = "order_id"}},
    {.says = "'colour' is not a field of record order_state",
     .saga = {.name = "S", STATE, .correlation = "colour", ON(START)}},
    {.says = "'order_id, number' is not a field of record order_state; a saga has one, while it is "
             "replaced a .transitional one beside it, and .find looks by any other",
     .saga = {.name = "S", STATE, .correlation = "order_id, number", ON(START)}},
    {.says = "saga S: correlation property 'home.city' lies in a nested record; it has to be a "
             "field of record order_state itself",
     .saga = {.name = "S", STATE, .correlation = "home.city", ON(START)}},
    {.says = "saga S: correlation property 'weight'",
     .saga = {.name = "S", STATE, .correlation = "weight", ON(START)}},
    {.says = "message place has no property 'nothing'",
     .saga = S_ON({.handle = PAWL_HANDLE(on_place), .key = "nothing", .starts = true})},
    {.says = "saga S: message place: weight: only",
     .saga = S_ON({.handle = PAWL_HANDLE(on_place), .key = "weight", .starts = true})},
    {.says = "finds the saga by 'uuid', a uuid, which cannot become the integer 'number'",
     .saga = {.name = "S",
              STATE,
              .correlation = "number",
              ON({.handle = PAWL_HANDLE(on_place), .key = "uuid", .starts = true})}},
    {.says = "needs .key", .saga = S_ON({.handle = PAWL_HANDLE(on_place), .starts = true})},
    {.says = "needs .key", /* a finder that finds none begins a saga */
     .saga = S_ON({.handle = PAWL_HANDLE(on_place), .find = find_none, .starts = true})},
    {.says = "needs a .correlation property",
     .saga = {.name = "S", STATE, ON({.handle = PAWL_HANDLE(on_place), .key = "order_id"})}},
    {.says = "no message starts it",
     .saga = S_ON({.handle = PAWL_HANDLE(on_place), .key = "order_id"})},
    {.says = "saga S handles message place twice", .saga = S_ON(START, START)},
    {.says = "is not made for its state record order_state",
     .saga = S_ON({.handle = PAWL_HANDLE(on_place_other), .key = "order_id", .starts = true})},
    {.says = "a timeout handler needs .timeout",
     .saga = S_ON(START, {.handle = PAWL_HANDLE(on_late)})},
    {.says = "saga S handles timeout 't' twice",
     .saga = S_ON(START, {.handle = PAWL_HANDLE(on_late), .timeout = "t"},
                  {.handle = PAWL_HANDLE(on_late), .timeout = "t"})},
    {.says = "saga S: a timeout handler has one of .key, .transitional_key, .starts",
     .saga = S_ON(START, {.handle = PAWL_HANDLE(on_late), .timeout = "t", .starts = true})},
    {.says = "endpoint books: handler 1 of .handlers has one of .key, .transitional_key, .starts",
     .handler = {.handle = PAWL_HANDLE(on_plain), .not_found = PAWL_NOT_FOUND_DEAD}},
    {.says    = "endpoint books: handler 1 of .handlers has .timeout, and no saga",
     .handler = {.handle = PAWL_HANDLE(on_plain), .timeout = "t"}},
    {.says    = "record place is declared twice, and not alike",
     .saga    = S_ON(START),
     .handler = {.handle = PAWL_HANDLE(on_other_place)}},
    {.says = "record place is declared twice, and not alike",
     .saga = S_ON({.handle    = PAWL_HANDLE(on_place),
                   .key       = "order_id",
                   .starts    = true,
                   .not_found = PAWL_NOT_FOUND_CALL,
                   .missing   = PAWL_HANDLE(on_other_place)})},
    {.says = "saga S: .idle_after may not be negative",
     .saga = {.name = "S", STATE, .correlation = "order_id", .idle_after = -1, ON(START)}},
    {.says = ".idle_after of saga S is 60 microseconds, the least is 1 ms",
     .saga = {.name = "S", STATE, .correlation = "order_id", .idle_after = 60, ON(START)}},
    {.says = "PAWL_NOT_FOUND_CALL needs .missing",
     .saga = S_ON({.handle    = PAWL_HANDLE(on_place),
                   .key       = "order_id",
                   .starts    = true,
                   .not_found = PAWL_NOT_FOUND_CALL})},
    {.says = "S: .missing would never run: it goes with .not_found = PAWL_NOT_FOUND_CALL",
     .saga = S_ON({.handle  = PAWL_HANDLE(on_place),
                   .key     = "order_id",
                   .starts  = true,
                   .missing = PAWL_HANDLE(on_place_other)})},
    {.says = "a transitional property needs a correlation property",
     .saga = {.name = "S", STATE, .transitional = "order_id", ON(START)}},
    {.says = "table name 'books_a]b' may not contain",
     .saga = {.name = "S", .table = "a]b", STATE, .correlation = "order_id", ON(START)}},
    {.says = "two sagas are named S", .saga = S_ON(START), .second_saga = S_ON(START)},
    {.says        = "share the table 'books_S'",
     .saga        = S_ON(START),
     .second_saga = {.name = "R", .table = "S", STATE, .correlation = "order_id", ON(START)}},
    {.says        = "sagas S and R share the state record order_state",
     .saga        = S_ON(START),
     .second_saga = {.name = "R", STATE, .correlation = "order_id", ON(START)}},
    {.says    = "handler 1 of .handlers is not made by PAWL_MESSAGE_HANDLER",
     .handler = {.handle = PAWL_HANDLE(on_place)}},
    {.says       = "aggregator A: .handle is not made by PAWL_BATCH_HANDLER",
     .aggregator = {.name = "A", .handle = PAWL_HANDLE(on_plain)}},
    {.says       = "may not be negative",
     .aggregator = {.name = "A", .handle = PAWL_HANDLE(on_batch), .lease = -1}},
    {.says       = ".period of aggregator A is 60 microseconds, the least is 1 ms",
     .aggregator = {.name = "A", .handle = PAWL_HANDLE(on_batch), .period = 60}},
    {.says       = ".lease of aggregator A is 5 microseconds",
     .aggregator = {.name = "A", .handle = PAWL_HANDLE(on_batch), .lease = 5}},
    {.says       = "size 5 is above max 4",
     .aggregator = {.name = "A", .handle = PAWL_HANDLE(on_batch), .size = 5, .max = 4}},
    {.says       = "aggregator A: 'weight' is not a property",
     .aggregator = {.name = "A", .handle = PAWL_HANDLE(on_batch), .key = "weight"}},
    {.says       = "aggregator A/x: a name may not hold '/'",
     .aggregator = {.name = "A/x", .handle = PAWL_HANDLE(on_batch)}},
    {.says              = "two aggregators are named A",
     .aggregator        = {.name = "A", .handle = PAWL_HANDLE(on_batch)},
     .second_aggregator = {.name = "A", .handle = PAWL_HANDLE(on_batch)}},
};

TEST(every_mistake_is_refused_and_named)
{
    check_refused(mistakes, COUNT(mistakes));
}

/* The prefix of an endpoint's tables is its name: two may have one table. */
TEST(sagas_of_two_endpoints_have_different_tables)
{
    const pawl_on      on[] = {{.handle = PAWL_HANDLE(on_place), .key = "order_id", .starts = true},
                               {.handle = NULL}};
    pawl_saga          first           = {.name        = "line_item",
                                          .state       = PAWL_RECORD_OF(order_state),
                                          .correlation = "order_id",
                                          .on          = on};
    pawl_saga          second          = first;
    pawl_endpoint_spec order           = {.name = "order", .sagas = PAWL_SAGAS(&first)},
                       line            = {.name = "order_line", .sagas = PAWL_SAGAS(&second)};
    const pawl_application application = {PAWL_APPLICATION_HEAD,
                                          .endpoints = PAWL_ENDPOINTS(&order, &line)};
    const char *const      names[]     = {"order", "order_line"};
    pawl_error             error       = PAWL_ERROR_INIT;
    pawl__model           *model       = NULL;
    second.name                        = "item";
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_int_equal(pawl__model_create(&application, names[i], NULL, &model, &error),
                         PAWL_ECONFIG);
        assert_string_equal(error.text,
                            "saga line_item of endpoint order and saga item of endpoint order_line "
                            "share the table 'order_line_item'; give one of them another .table");
        must(pawl__model_create(&application, names[i], "my_", &model, world_error()));
        pawl__model_destroy(model);
    }
    second.table = "things";
    must(pawl__model_create(&application, "order", NULL, &model, world_error()));
    pawl__model_destroy(model);
    first.table = "line_things";
    assert_int_equal(pawl__model_create(&application, "order", NULL, &model, NULL), PAWL_ECONFIG);
    order.name = "order.line", first.table = "things"; /* a "." is written as "_" */
    assert_int_equal(pawl__model_create(&application, "order_line", NULL, &model, &error),
                     PAWL_ECONFIG);
    first.name = NULL;
    must(pawl__model_create(&application, "order_line", NULL, &model, world_error()));
    pawl__model_destroy(model);
    first.name = "line_item", order.name = "order";
    line.sagas = PAWL_SAGAS(&second, &first); /* of one endpoint */
    assert_int_equal(pawl__model_create(&application, "order_line", NULL, &model, &error),
                     PAWL_ECONFIG);
    assert_string_equal(error.text, "sagas item and line_item share the table 'order_line_things'");
}

/* ---- Transitional properties ------------------------------------------------------- */

static const mistake transitional_mistakes[] = {
    {.says = "saga S: a transitional property needs a correlation property other than itself",
     .saga = {.name = "S", STATE, .transitional = "order_id", ON(START)}},
    {.says = "saga S: a transitional property needs a correlation property other than itself",
     .saga =
         {.name = "S", STATE, .correlation = "order_id", .transitional = "order_id", ON(START)}},
};

TEST(d32_transitional_properties_that_cannot_be_are_refused)
{
    check_refused(transitional_mistakes, COUNT(transitional_mistakes));
}

/* None at all, a main one alone, and both. */
TEST(d32_all_other_ways_are_accepted)
{
    const pawl_saga sagas[] = {
        {.name = "S", STATE, ON({.handle = PAWL_HANDLE(on_place), .starts = true})},
        S_ON(START),
        {.name = "S",
         STATE,
         .correlation  = "order_id",
         .transitional = "number",
         ON({.handle           = PAWL_HANDLE(on_place),
             .key              = "order_id",
             .transitional_key = "order_id",
             .starts           = true})},
    };
    for (size_t i = 0; i < COUNT(sagas); i++) {
        const pawl_endpoint_spec spec = {.name = "e", .sagas = PAWL_SAGAS(&sagas[i])};
        const pawl_application built  = {PAWL_APPLICATION_HEAD, .endpoints = PAWL_ENDPOINTS(&spec)};
        pawl__model           *model  = NULL;
        must(pawl__model_create(&built, NULL, NULL, &model, world_error()));
        assert_int_equal(model->sagas[0].table.main.property.size > 0, i > 0);
        assert_int_equal(model->sagas[0].table.transitional.property.size > 0, i == 2);
        pawl__model_destroy(model);
    }
}

/* ---- Times with an offset ------------------------------------------------------------ */

RECORD(alarm_state, (TIME, rings_at, .with_offset = true), (TIME, rings_next));
RECORD(ring, (TIME, at));

IDLE_HANDLER(on_ring, alarm_state, ring);

STATE_TEST(d17_a_property_asks_for_an_offset, void **state)
{
    const mistake row   = {.saga = {.name         = "Alarm",
                                    .state        = PAWL_RECORD_OF(alarm_state),
                                    .correlation  = "rings_at",
                                    .transitional = "rings_next",
                                    ON({.handle           = PAWL_HANDLE(on_ring),
                                        .key              = "at",
                                        .transitional_key = "at",
                                        .starts           = true})}};
    pawl__model  *model = NULL;
    must(create_with(&row, &model, world_error()));
    assert_true(model->sagas[0].table.main.with_offset);
    assert_false(model->sagas[0].table.transitional.with_offset);
    pawl__model_destroy(model);
}

/* ---- What is right ------------------------------------------------------------------ */

static const pawl_saga          good     = {.name = "Order",
                                            STATE,
                                            .correlation = "order_id",
                                            ON(START, {.handle = PAWL_HANDLE(on_late), .timeout = "late"})};
static const pawl_aggregator    batch    = {.name = "Batch", .handle = PAWL_HANDLE(on_batch)};
static const pawl_endpoint_spec endpoint = {
    .name = "my.shop", .sagas = PAWL_SAGAS(&good), .aggregators = PAWL_AGGREGATORS(&batch)};
static const pawl_application application = {PAWL_APPLICATION_HEAD,
                                             .endpoints = PAWL_ENDPOINTS(&endpoint)};

TEST(a_good_table_is_found_again)
{
    pawl__model *model = NULL;
    must(pawl__model_create(&application, NULL, NULL, &model, world_error()));
    assert_string_equal(model->sagas[0].table.name.data, "my_shop_Order");
    assert_string_equal(model->sagas[0].table.main.property.data, "order_id");
    assert_int_equal(model->sagas[0].table.main.type, PAWL_VALUE_TEXT);
    assert_string_equal(model->types_json.data, "[\"place\",\"timeout:Order/late\"]");
    const pawl__type_model *type = pawl__model_type(model, PAWL_TEXT("place"));
    assert_non_null(type);
    assert_int_equal(type->count, 2);
    assert_null(pawl__model_type(model, PAWL_TEXT("plac")));
    assert_non_null(pawl__model_timeout(model, PAWL_TEXT("Order"), PAWL_TEXT("late")));
    assert_null(pawl__model_timeout(model, PAWL_TEXT("Order"), PAWL_TEXT("later")));
    assert_null(pawl__model_timeout(model, PAWL_TEXT("Other"), PAWL_TEXT("late")));
    /* E17. */
    assert_int_equal(pawl__model_aggregator(model, PAWL_TEXT("Batch"))->size, 10);
    pawl__model_destroy(model);
    must(pawl__model_create(&application, "my.shop", "Exactly.", &model, world_error()));
    assert_string_equal(model->sagas[0].table.name.data, "Exactly.Order");
    pawl__model_destroy(model);
}

TEST(an_application_of_another_time_is_refused)
{
    pawl_error       error = PAWL_ERROR_INIT;
    pawl__model     *model = NULL;
    pawl_application other = application;
    other.abi              = PAWL_ABI + 1;
    const char *own        = test_text("ABI %d", PAWL_ABI);
    assert_int_equal(pawl__model_create(&other, NULL, NULL, &model, &error), PAWL_ECONFIG);
    assert_non_null(strstr(error.text, own));
    other         = application;
    other.on_size = 0;
    assert_int_equal(pawl__model_create(&other, NULL, NULL, &model, &error), PAWL_ECONFIG);
    assert_int_equal(pawl__model_create(NULL, NULL, NULL, &model, &error), PAWL_EINVAL);
    assert_int_equal(pawl__model_create(&application, "other", NULL, &model, &error),
                     PAWL_ENOTFOUND);
    assert_null(model);
}

/* Each size that an application says, one byte below the least: all that is read without a
 * look at it must be there. */
TEST(an_application_whose_tables_are_too_small_is_refused)
{
    static const struct {
        const char *name;
        size_t      offset;
    } sizes[] = {
        {"pawl_application", offsetof(pawl_application, application_size)},
        {"pawl_endpoint_spec", offsetof(pawl_application, endpoint_size)},
        {"pawl_saga", offsetof(pawl_application, saga_size)},
        {"pawl_on", offsetof(pawl_application, on_size)},
        {"pawl_aggregator", offsetof(pawl_application, aggregator_size)},
        {"pawl_handler", offsetof(pawl_application, handler_size)},
        {"pawl_filter", offsetof(pawl_application, filter_size)},
        {"pawl_process", offsetof(pawl_application, process_size)},
        {"pawl_projection", offsetof(pawl_application, projection_size)},
        {"pawl_effect", offsetof(pawl_application, effect_size)},
    };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        pawl_application other  = application;
        uint32_t         said[] = {1, sizeof(void *)};
        for (size_t j = 0; j < 2; j++) {
            pawl_error error = PAWL_ERROR_INIT;
            memcpy((char *)&other + sizes[i].offset, &said[j], sizeof said[j]);
            const char *expected =
                test_text("its %s has %u bytes, at least ", sizes[i].name, said[j]);
            assert_int_equal(pawl_application_check(&other, &error), PAWL_ECONFIG);
            if (strstr(error.text, expected) == NULL)
                fail_msg("'%s' lacks '%s'", error.text, expected);
        }
    }
}

/* Nor is one that was built with newer headers: what was appended would be dropped without a word. */
TEST(an_application_whose_tables_are_too_large_is_refused)
{
    static const size_t at[] = {
        offsetof(pawl_application, application_size), offsetof(pawl_application, endpoint_size),
        offsetof(pawl_application, saga_size),        offsetof(pawl_application, on_size),
        offsetof(pawl_application, aggregator_size),  offsetof(pawl_application, handler_size),
        offsetof(pawl_application, filter_size),      offsetof(pawl_application, process_size),
        offsetof(pawl_application, projection_size),  offsetof(pawl_application, effect_size),
        offsetof(pawl_application, schedule_size)};
    for (size_t i = 0; i < COUNT(at); i++) {
        pawl_application other = application;
        pawl_error       error = PAWL_ERROR_INIT;
        uint32_t         said;
        memcpy(&said, (char *)&other + at[i], sizeof said);
        must(pawl_application_check(&other, world_error()));
        said++;
        memcpy((char *)&other + at[i], &said, sizeof said);
        assert_int_equal(pawl_application_check(&other, &error), PAWL_ECONFIG);
        assert_non_null(strstr(error.text, "run it with a library as new as its headers"));
    }
}

/* The size of a row in the first version is enough, and a byte less is not. */
TEST(the_first_version_of_a_row_is_enough)
{
    pawl_error       error = PAWL_ERROR_INIT;
    pawl_application other = application;
    other.on_size          = offsetof(pawl_on, starts) + sizeof(bool);
    other.aggregator_size  = offsetof(pawl_aggregator, attempts_max) + sizeof(int32_t);
    other.endpoint_size    = offsetof(pawl_endpoint_spec, aggregators) + sizeof(void *);
    other.handler_size     = offsetof(pawl_handler, call) + sizeof(void *);
    other.process_size     = offsetof(pawl_process, apply) + sizeof(void *);
    other.projection_size  = offsetof(pawl_projection, on) + sizeof(void *);
    must(pawl_application_check(&other, world_error()));
    other.application_size = offsetof(pawl_application, filters) + sizeof(void *);
    other.process_size     = 1; /* the table does not say so any more */
    must(pawl_application_check(&other, world_error()));
    other.on_size--;
    assert_int_equal(pawl_application_check(&other, &error), PAWL_ECONFIG);
    other.on_size = 0;
    assert_int_equal(pawl_application_check(&other, &error), PAWL_ECONFIG);
    assert_string_equal(error.text, "application does not begin with PAWL_APPLICATION_HEAD");
}

/* Rows of an older, smaller layout: what it did not know reads as zero. */
typedef struct old_on {
    const pawl_handler *handle;
    const char         *timeout;
    const char         *key;
    const char         *transitional_key;
    bool                starts;
} old_on;

TEST(rows_are_read_by_their_stride)
{
    static const old_on      rows[] = {{PAWL_HANDLE(on_place), NULL, "order_id", NULL, true},
                                       {PAWL_HANDLE(on_late), "late", NULL, NULL, false},
                                       {NULL, NULL, NULL, NULL, false}};
    pawl_saga                saga   = {.name = "Order",
                                       STATE,
                                       .correlation = "order_id",
                                       .on          = (const pawl_on *)(const void *)rows};
    const pawl_endpoint_spec spec   = {.name = "old", .sagas = PAWL_SAGAS(&saga)};
    pawl_application         old    = application;
    pawl__model             *model  = NULL;
    old.endpoints                   = PAWL_ENDPOINTS(&spec);
    old.on_size                     = sizeof(old_on);
    must(pawl__model_create(&old, NULL, NULL, &model, world_error()));
    const pawl__type_model *type = pawl__model_type(model, PAWL_TEXT("place"));
    assert_true(type->bindings[0]->starts);
    assert_false(type->bindings[0]->is_alone);
    assert_non_null(pawl__model_timeout(model, PAWL_TEXT("Order"), PAWL_TEXT("late")));
    pawl__model_destroy(model);
}

/* The macros write the end: one row or pointer more than was given, and it is empty. */
STATE_TEST(lists_have_their_end, void **state)
{
    static const pawl_saga   saga    = {.name = "S"};
    const pawl_on           *on      = PAWL_ON({.key = "a"}, {.key = "b"});
    const pawl_filter       *filters = PAWL_FILTERS({.context = *state});
    const pawl_saga *const  *sagas   = PAWL_SAGAS(&saga, &saga);
    const pawl_endpoint_spec shop    = {.sagas = PAWL_SAGAS(&saga)};
    assert_string_equal(on[1].key, "b");
    assert_null(on[2].key);
    assert_null(on[2].handle);
    assert_null(filters[1].before);
    assert_ptr_equal(sagas[1], &saga);
    assert_null(sagas[2]);
    assert_null(shop.sagas[1]);
    assert_null(PAWL_ENDPOINTS(&shop)[1]);
    assert_null(PAWL_AGGREGATORS(NULL)[1]);
    assert_null(PAWL_PROCESSES(NULL)[1]);
    assert_null(PAWL_ENTITIES(NULL)[1]);
    assert_null(PAWL_PROJECTIONS(NULL)[1]);
    assert_null(PAWL_APPLY_LIST(NULL)[1]);
}
