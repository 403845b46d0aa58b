/* test_model_parts.c - the parts of a model: each row's binding, the types in their order,
 * aggregators with their defaults, queues, filters; and the limits of names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"
#include "unit/workflow/test_model_sample.h"

#include "workflow/names.h"

RECORD(zone, (INT64, zip, .required = true));
RECORD(tab, (TEXT, ref), (INT64, number), (RECORD, place, zone));
RECORD(m_order, (TEXT, ref), (INT64, number), (DOUBLE, weight), (INT64, needed, .required = true),
       (OPT_INT64, maybe), (UUID, mark), (RECORD, place, zone));
#define CHILD(F) F(TEXT, ref)
PAWL_RECORD_WITH(b_child, CHILD, .base = PAWL_RECORD_OF(m_order));
PAWL_RECORD_WITH(z_grandchild, CHILD, .base = PAWL_RECORD_OF(b_child));
PAWL_RECORD(a_other, CHILD);
PAWL_RECORD(q_plain, CHILD);

#define HANDLES(name, message_type)                                                   \
    static pawl_code name(pawl_context *ctx, tab *state, const message_type *message) \
    {                                                                                 \
        (void)ctx;                                                                    \
        (void)state;                                                                  \
        (void)message;                                                                \
        return PAWL_OK;                                                               \
    }                                                                                 \
    PAWL_HANDLER(name, tab, message_type);
HANDLES(on_order, m_order)
HANDLES(on_other, a_other)
HANDLES(on_child, b_child)
HANDLES(on_grandchild, z_grandchild)

#define HEARS_OF(name, message_type)                                      \
    static pawl_code name(pawl_context *ctx, const message_type *message) \
    {                                                                     \
        (void)ctx;                                                        \
        (void)message;                                                    \
        return PAWL_OK;                                                   \
    }                                                                     \
    PAWL_MESSAGE_HANDLER(name, message_type);
HEARS_OF(hear_order, m_order)
HEARS_OF(hear_other, a_other)
HEARS_OF(hear_plain, q_plain)

static pawl_code on_batch(pawl_context *ctx, const m_order *messages, size_t count)
{
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_batch, m_order);

static pawl_code on_entity(pawl_context *ctx, const tab *state, const m_order *message)
{
    return PAWL_OK;
}
PAWL_ENTITY_HANDLER(on_entity, tab, m_order);

static pawl_code find_one(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    return PAWL_OK;
}

static pawl_code filter(pawl_context *ctx, const pawl_message *message, void *context)
{
    return PAWL_OK;
}

#define STATE .state = PAWL_RECORD_OF(tab)
#define START                                                         \
    {                                                                 \
        .handle = PAWL_HANDLE(on_other), .key = "ref", .starts = true \
    }

/* A model of one endpoint, which is to be destroyed. */
static pawl__model *create(const pawl_endpoint_spec *spec, const pawl_filter *filters)
{
    pawl__model           *model       = NULL;
    const pawl_application application = {PAWL_APPLICATION_HEAD, .endpoints = PAWL_ENDPOINTS(spec),
                                          .filters = filters};
    must(pawl__model_create(&application, NULL, NULL, &model, world_error()));
    return model;
}

static const pawl__binding *binding_of(const pawl__model *model, const char *type)
{
    const pawl__type_model *found = pawl__model_type(model, pawl_text_of(type));
    assert_non_null(found);
    assert_int_equal(found->count, 1);
    return found->bindings[0];
}

/* ---- Bindings ----------------------------------------------------------------- */

/* The other row of each saga begins it. */
static const struct {
    bool    is_pessimistic;
    pawl_on row;
    bool    is_alone, has_sql;
} rows[] = {
    {false,
     {.handle = PAWL_HANDLE(on_order), .key = "ref", .transitional_key = "needed"},
     false,
     false},
    {false, {.handle = PAWL_HANDLE(on_order), .key = "needed"}, false, false},
    {false, {.handle = PAWL_HANDLE(on_order), .key = "needed", .own_sql = true}, true, true},
    {false, {.handle = PAWL_HANDLE(on_order), .find = find_one}, true, false},
    {true, {.handle = PAWL_HANDLE(on_order), .key = "needed"}, true, true},
    {false,
     {.handle    = PAWL_HANDLE(on_order),
      .key       = "needed",
      .not_found = PAWL_NOT_FOUND_CALL,
      .missing   = PAWL_HANDLE(hear_order)},
     false,
     false},
};

TEST(each_row_of_a_saga_is_bound_as_it_is)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const pawl_on            on[]    = {rows[i].row, START, {.handle = NULL}};
        const pawl_saga          saga    = {.name = "S",
                                            STATE,
                                            .correlation    = "ref",
                                            .transitional   = "number",
                                            .on             = on,
                                            .is_pessimistic = rows[i].is_pessimistic};
        const pawl_endpoint_spec spec    = {.name = "e", .sagas = PAWL_SAGAS(&saga)};
        pawl__model             *model   = create(&spec, NULL);
        const pawl__binding     *binding = binding_of(model, "m_order");
        const pawl_on           *row     = &rows[i].row;
        const char *transitional = row->transitional_key != NULL ? row->transitional_key : row->key;
        assert_int_equal(binding->kind, PAWL__BINDING_SAGA);
        assert_ptr_equal(binding->handler, row->handle);
        assert_ptr_equal(binding->saga, &model->sagas[0]);
        assert_ptr_equal(binding->key, row->key);
        assert_ptr_equal(binding->transitional_key, transitional);
        assert_ptr_equal(binding->find, row->find);
        assert_ptr_equal(binding->missing, row->missing);
        assert_int_equal(binding->not_found, row->not_found);
        assert_int_equal(binding->is_alone, rows[i].is_alone);
        assert_int_equal(binding->has_sql, rows[i].has_sql);
        assert_false(binding->starts);
        assert_true(binding_of(model, "a_other")->starts);
        assert_int_equal(model->own_sql != NULL, row->own_sql);
        pawl__model_destroy(model);
    }
}

TEST(a_plain_row_is_bound_as_it_is)
{
    for (int own_sql = 0; own_sql < 2; own_sql++) {
        const pawl_on on[] = {{.handle = PAWL_HANDLE(hear_plain), .own_sql = own_sql != 0},
                              {.handle = PAWL_HANDLE(hear_other)},
                              {.handle = NULL}};
        const pawl_endpoint_spec spec    = {.name = "e", .handlers = on};
        pawl__model             *model   = create(&spec, NULL);
        const pawl__binding     *binding = binding_of(model, "q_plain");
        assert_int_equal(binding->kind, PAWL__BINDING_PLAIN);
        assert_int_equal(binding->is_alone, own_sql);
        assert_int_equal(binding->has_sql, own_sql);
        assert_false(binding_of(model, "a_other")->is_alone);
        if (own_sql != 0)
            assert_string_equal(model->own_sql, "q_plain");
        else
            assert_null(model->own_sql);
        pawl__model_destroy(model);
    }
}

#define S_ON(...)                                                                           \
    {                                                                                       \
        .name = "S", STATE, .correlation = "ref", .transitional = "number", ON(__VA_ARGS__) \
    }

static const mistake mistakes[] = {
    {.says = "m_order: weight: only",
     .saga = S_ON(START,
                  {.handle = PAWL_HANDLE(on_order), .key = "ref", .transitional_key = "weight"})},
    {.says = "m_order has no property 'colour'",
     .saga = S_ON(START,
                  {.handle = PAWL_HANDLE(on_order), .key = "ref", .transitional_key = "colour"})},
    {.says = "cannot become the integer 'number'", /* the key is tried, where there is no other */
     .saga = S_ON(START, {.handle = PAWL_HANDLE(on_order), .key = "mark"})},
    {.says = "missing",
     .saga = {.name = "S",
              STATE,
              .correlation = "ref",
              ON(START, {.handle    = PAWL_HANDLE(on_order),
                         .key       = "ref",
                         .not_found = PAWL_NOT_FOUND_CALL,
                         .missing   = PAWL_HANDLE(hear_other)})}},
    {.says = "'place.zip'", .saga = {.name = "S", STATE, .correlation = "place.zip", ON(START)}},
};

TEST(what_no_row_can_be_is_refused)
{
    check_refused(mistakes, COUNT(mistakes));
}

/* Both ends and the middle of the list are found, and nothing beside it. */
TEST(types_are_sorted_and_found)
{
    static const char *const types[] = {"a_other", "b_child", "m_order", "q_plain", "z_grandchild"};
    const pawl_on            on[]    = {{.handle = PAWL_HANDLE(on_order), .key = "ref"},
                                        {.handle = PAWL_HANDLE(on_grandchild), .key = "ref"},
                                        START,
                                        {.handle = PAWL_HANDLE(on_child), .key = "ref"},
                                        {.handle = NULL}};
    const pawl_saga          saga    = {.name = "S", STATE, .correlation = "ref", .on = on};
    const pawl_on            plain[] = {{.handle = PAWL_HANDLE(hear_plain)}, {.handle = NULL}};
    const pawl_endpoint_spec spec    = {.name = "e", .sagas = PAWL_SAGAS(&saga), .handlers = plain};
    pawl__model             *model   = create(&spec, NULL);
    assert_int_equal(model->type_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(model->types[i]->type.data, types[i]);
        assert_ptr_equal(pawl__model_type(model, pawl_text_of(types[i])), model->types[i]);
    }
    assert_string_equal(model->types_json.data,
                        "[\"a_other\",\"b_child\",\"m_order\",\"q_plain\",\"z_grandchild\"]");
    assert_null(pawl__model_type(model, PAWL_TEXT("")));
    assert_null(pawl__model_type(model, PAWL_TEXT("zz")));
    pawl__model_destroy(model);
}

/* ---- Aggregators ---------------------------------------------------------------- */

TEST(e17_an_aggregator_has_defaults)
{
    static const struct {
        pawl_aggregator given;
        int64_t         size, lease;
        int32_t         attempts_max;
    } cases[] = {
        {{.size = 0}, 10, PAWL_MINUTES(5), 10},
        {{.size = 3}, 3, PAWL_MINUTES(5), 10},
        {{.period = 7000}, 0, PAWL_MINUTES(5), 10},
        {{.size = 4, .period = 7000, .max = 9, .lease = 5000, .attempts_max = 2, .own_sql = true},
         4,
         5000,
         2},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        pawl_aggregator given              = cases[i].given;
        given.name                         = "A";
        given.handle                       = PAWL_HANDLE(on_batch);
        const pawl_endpoint_spec      spec = {.name = "e", .aggregators = PAWL_AGGREGATORS(&given)};
        pawl__model                  *model = create(&spec, NULL);
        const pawl__aggregator_model *made  = pawl__model_aggregator(model, PAWL_TEXT("A"));
        assert_int_equal(made->size, cases[i].size);
        assert_int_equal(made->period, given.period);
        assert_int_equal(made->max, given.max);
        assert_int_equal(made->lease, cases[i].lease);
        assert_int_equal(made->attempts_max, cases[i].attempts_max);
        assert_int_equal(made->own_sql, given.own_sql);
        assert_string_equal(made->type.data, "m_order");
        assert_null(pawl__model_aggregator(model, PAWL_TEXT("B")));
        pawl__model_destroy(model);
    }
}

/* E9: rows of its own type, of those made from it, and of those made from these. */
TEST(e9_an_aggregator_finds_rows_of_derived_types)
{
    const pawl_aggregator    batch = {.name = "A", .handle = PAWL_HANDLE(on_batch)};
    const pawl_on            on[]  = {START,
                                      {.handle = PAWL_HANDLE(on_child), .key = "ref"},
                                      {.handle = PAWL_HANDLE(on_grandchild), .key = "ref"},
                                      {.handle = NULL}};
    const pawl_saga          saga  = {.name = "S", STATE, .correlation = "ref", .on = on};
    const pawl_endpoint_spec spec  = {
         .name = "e", .sagas = PAWL_SAGAS(&saga), .aggregators = PAWL_AGGREGATORS(&batch)};
    pawl__model                  *model = create(&spec, NULL);
    const pawl__aggregator_model *made  = pawl__model_aggregator(model, PAWL_TEXT("A"));
    assert_int_equal(made->type_count, 3);
    assert_string_equal(made->types[0].data, "m_order");
    assert_string_equal(made->types[1].data, "b_child");
    assert_string_equal(made->types[2].data, "z_grandchild");
    pawl__model_destroy(model);
}

/* ---- Streams and projections ------------------------------------------------------ */

TEST(a_zero_is_a_key_where_it_cannot_be_a_missing_value)
{
    static const struct {
        const char *key;
        bool        is_key;
    } cases[] = {{"number", false}, {"needed", true}, {"maybe", true}, {"place.zip", false}};
    const pawl__stream_model stream = {.is_entity = true};
    const pawl__saga_model   of = {.stream = &stream}, saga = {.stream = NULL};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(pawl__model_zero_is_key(&of, PAWL_RECORD_OF(m_order)(), cases[i].key),
                         cases[i].is_key);
        assert_false(pawl__model_zero_is_key(&saga, PAWL_RECORD_OF(m_order)(), cases[i].key));
    }
    assert_false(pawl__model_zero_is_key(&of, NULL, "needed"));
    assert_false(pawl__model_zero_is_key(&of, PAWL_RECORD_OF(m_order)(), NULL));
}

/* Any message may be an entity's first one; zero is a key of it. */
TEST(each_message_starts_an_entity)
{
    static const pawl_on     on[]    = {{.handle = PAWL_HANDLE(on_entity), .key = "needed"},
                                        {.handle = NULL}};
    const pawl_entity        entity  = {.name = "E", STATE, .on = on};
    const pawl_endpoint_spec spec    = {.name = "e", .entities = PAWL_ENTITIES(&entity)};
    pawl__model             *model   = create(&spec, NULL);
    const pawl__binding     *binding = binding_of(model, "m_order");
    assert_true(binding->starts);
    assert_true(binding->zero_is_key);
    assert_false(binding->is_alone);
    assert_ptr_equal(binding->saga, pawl__model_saga(model, PAWL_TEXT("E")));
    pawl__model_destroy(model);
}

TEST(a_projection_is_made_as_it_is)
{
    for (int own_sql = 0; own_sql < 2; own_sql++) {
        const pawl_projection         given = {.name = "V",
                                               .on   = PAWL_ON({.handle = PAWL_HANDLE(hear_plain)},
                                                               {.handle = PAWL_HANDLE(hear_other)},
                                                               {.handle = PAWL_HANDLE(hear_order)}),
                                               .own_sql = own_sql != 0,
                                               .batch   = own_sql == 0 ? 1 : 4096};
        const pawl_endpoint_spec      spec = {.name = "e", .projections = PAWL_PROJECTIONS(&given)};
        pawl__model                  *model   = create(&spec, NULL);
        const pawl__projection_model *made    = &model->projections[0];
        static const char *const      types[] = {"a_other", "m_order", "q_plain"};
        assert_int_equal(made->own_sql, own_sql);
        assert_int_equal(made->batch, given.batch);
        assert_int_equal(made->on_count, 3);
        for (size_t i = 0; i < 3; i++) {
            const pawl__projection_on *on = pawl__model_projection_on(made, pawl_text_of(types[i]));
            assert_ptr_equal(on, &made->on[i]);
            assert_string_equal(on->type.data, types[i]);
        }
        assert_null(pawl__model_projection_on(made, PAWL_TEXT("b_child")));
        pawl__model_destroy(model);
    }
}

/* ---- The endpoint ------------------------------------------------------------------ */

TEST(a_queue_may_have_a_name_of_its_own)
{
    const pawl_on plain[] = {{.handle = PAWL_HANDLE(hear_plain)}, {.handle = NULL}};
    for (int i = 0; i < 2; i++) {
        const pawl_endpoint_spec spec = {
            .name = "e", .queue = i == 0 ? NULL : "incoming", .handlers = plain};
        pawl__model *model = create(&spec, NULL);
        assert_string_equal(model->endpoint.data, "e");
        assert_string_equal(model->queue.data, i == 0 ? "e" : "incoming");
        pawl__model_destroy(model);
    }
}

TEST(there_are_16_filters_at_most)
{
    const pawl_on            plain[]     = {{.handle = PAWL_HANDLE(hear_plain)}, {.handle = NULL}};
    const pawl_endpoint_spec spec        = {.name = "e", .handlers = plain};
    pawl_filter              filters[18] = {{0}};
    for (size_t i = 0; i < 16; i++)
        filters[i] = (pawl_filter){.before  = i % 2 == 0 ? filter : NULL,
                                   .after   = i % 2 == 0 ? NULL : filter,
                                   .context = &filters[i]};
    pawl__model *model = create(&spec, filters);
    assert_int_equal(model->filter_count, 16);
    for (size_t i = 0; i < 16; i++)
        assert_ptr_equal(model->filters[i].context, &filters[i]);
    pawl__model_destroy(model);

    filters[16].before                 = filter;
    const pawl_application application = {PAWL_APPLICATION_HEAD, .endpoints = PAWL_ENDPOINTS(&spec),
                                          .filters = filters};
    must_fail_with(pawl__model_create(&application, NULL, NULL, &model, world_error()),
                   PAWL_ECONFIG, "16");
}

TEST(one_of_several_endpoints_has_to_be_said)
{
    const pawl_on            plain[]   = {{.handle = PAWL_HANDLE(hear_plain)}, {.handle = NULL}};
    const pawl_endpoint_spec first     = {.name = "e", .handlers = plain},
                             second    = {.name = "f", .handlers = plain};
    const pawl_application application = {PAWL_APPLICATION_HEAD,
                                          .endpoints = PAWL_ENDPOINTS(&first, &second)};
    pawl__model           *model       = NULL;
    must_fail(pawl__model_create(&application, NULL, NULL, &model, world_error()), PAWL_EINVAL,
              "application has 2 endpoints; say which one to run");
    must(pawl__model_create(&application, "f", NULL, &model, world_error()));
    assert_string_equal(model->endpoint.data, "f");
    pawl__model_destroy(model);
    for (int abi = -1; abi <= 1; abi++) { /* an older one is another one, too */
        pawl_application other = application;
        other.abi              = (uint32_t)((int)PAWL_ABI + abi);
        assert_int_equal(pawl_application_check(&other, NULL), abi == 0 ? PAWL_OK : PAWL_ECONFIG);
    }
}

TEST(endpoints_of_an_application_have_different_names)
{
    pawl_endpoint_spec     first = {.name = "e"}, second = {.name = "e"};
    const pawl_application application = {PAWL_APPLICATION_HEAD,
                                          .endpoints = PAWL_ENDPOINTS(&first, &second)};
    must_fail(pawl_application_check(&application, world_error()), PAWL_ECONFIG,
              "application has two endpoints named 'e'");
    second.name = NULL;
    must_fail(pawl_application_check(&application, world_error()), PAWL_ECONFIG,
              "endpoint 2 of the application has no name");
    second.name = "f", second.queue = "e";
    must_fail(pawl_application_check(&application, world_error()), PAWL_ECONFIG,
              "endpoints e and f read one queue, 'e': each would take messages "
              "that only the other handles");
    first.queue = "f";
    must(pawl_application_check(&application, world_error()));
    first.queue = second.queue = NULL;
    must(pawl_application_check(&application, world_error()));
}

TEST(a_projection_stands_in_one_endpoint)
{
    const pawl_on   heard[] = {{.handle = PAWL_HANDLE(hear_plain)}, {.handle = NULL}};
    pawl_projection v = {.name = "V", .on = heard}, w = {.name = "W", .on = heard},
                    other     = {.name = "V", .on = heard};
    pawl_endpoint_spec first  = {.name = "e"},
                       second = {.name = "f", .projections = PAWL_PROJECTIONS(&v)},
                       third  = {.name = "g", .projections = PAWL_PROJECTIONS(&w, &other)};
    pawl_application given    = {PAWL_APPLICATION_HEAD,
                                 .endpoints = PAWL_ENDPOINTS(&first, &second, &third)};
    pawl__model     *model    = NULL;
    must_fail(pawl_application_check(&given, world_error()), PAWL_ECONFIG,
              "endpoints f and g both have a projection V, of which one would "
              "never run");
    assert_int_equal(pawl__model_create(&given, "e", NULL, &model, NULL), PAWL_ECONFIG);
    given.endpoint_size = offsetof(pawl_endpoint_spec, processes); /* older than projections */
    must(pawl_application_check(&given, world_error()));
    given.endpoint_size = sizeof(pawl_endpoint_spec);
    other.name          = "VV";
    must(pawl_application_check(&given, world_error()));
    v.name = other.name = NULL; /* refused when its endpoint is created */
    must(pawl_application_check(&given, world_error()));
}

/* A model that is refused, or for which there is no memory, leaves nothing. */
TEST(what_is_refused_leaves_nothing)
{
    const long live = fault_memory_live();
    for (size_t i = 0; i < COUNT(mistakes); i++) {
        pawl__model *model = NULL;
        assert_int_equal(create_with(&mistakes[i], &model, NULL), PAWL_ECONFIG);
    }
    assert_int_equal(fault_memory_live(), live);
}

/* ---- Names ------------------------------------------------------------------------ */

TEST(names_have_200_bytes_at_most)
{
    char name[202];
    memset(name, 'n', sizeof name);
    name[200] = '\0';
    must(pawl__name_check("endpoint", name, world_error()));
    name[200] = 'n';
    name[201] = '\0';
    must_fail_with(pawl__name_check("endpoint", name, world_error()), PAWL_ECONFIG,
                   "has 201 bytes, the limit is 200");
    must_fail(pawl__name_check("endpoint", "", world_error()), PAWL_ECONFIG,
              "endpoint has no name");
    assert_int_equal(pawl__name_check("endpoint", NULL, world_error()), PAWL_ECONFIG);
}

/* Every character by itself: in a name, in a table's, in a column's. */
TEST(each_character_of_a_name_is_looked_at)
{
    for (int c = 1; c < 128; c++) {
        char       name[] = "a?b";
        bool       is_odd = c < ' ' || c == '"' || c == '\\';
        bool       is_sql = is_odd || c == '[' || c == ']' || c == '`';
        pawl_error error  = PAWL_ERROR_INIT;
        name[1]           = (char)c;
        assert_int_equal(pawl__name_check("endpoint", name, &error),
                         is_odd ? PAWL_ECONFIG : PAWL_OK);
        assert_int_equal(pawl__table_name_check("S", pawl_text_of(name), &error),
                         is_sql ? PAWL_ECONFIG : PAWL_OK);
        assert_int_equal(pawl__column_check(pawl_text_of(name), &error),
                         is_sql ? PAWL_ECONFIG : PAWL_OK);
    }
    assert_int_equal(pawl__name_check("endpoint", "a\xC3", NULL), PAWL_ECONFIG);
    assert_int_equal(pawl__name_check("endpoint", "a\xC3\xA9", NULL), PAWL_OK);
}

/* "Correlation_" stands before it. */
TEST(a_columns_property_has_51_bytes_at_most)
{
    char name[53];
    memset(name, 'n', sizeof name);
    name[51] = '\0';
    must(pawl__column_check(pawl_text_of(name), world_error()));
    name[51] = 'n';
    name[52] = '\0';
    must_fail_with(pawl__column_check(pawl_text_of(name), world_error()), PAWL_ECONFIG,
                   "52 bytes where the limit is 51");
}

void (*const tests_first)(void) = fault_memory_install;
