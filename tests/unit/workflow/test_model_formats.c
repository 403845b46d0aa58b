/* test_model_formats.c - mistakes in the formats of a saga's states, whose formats count, and programs
 * built before there were any. S26.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/workflow/test_model_sample.h"

RECORD_WITH(deal, ((TEXT, name), (TIME, at)), .version = 3);
RECORD(first_deal, (TEXT, name), (TIME, at));
RECORD(open_deal, (TEXT, name), (TIME, at));

IDLE_HANDLER(on_open, deal, open_deal);

IDLE_HANDLER(on_open_first, first_deal, open_deal);

static const pawl_state_format plain     = {PAWL_STATE_FORMAT_HEAD, .below = 0};
static const pawl_state_format below_1   = {PAWL_STATE_FORMAT_HEAD, .below = 1};
static const pawl_state_format below_2   = {PAWL_STATE_FORMAT_HEAD, .below = 2};
static const pawl_state_format below_3   = {PAWL_STATE_FORMAT_HEAD, .below = 3};
static const pawl_state_format below_4   = {PAWL_STATE_FORMAT_HEAD, .below = 4};
static const pawl_state_format unsized   = {.below = 2};
static const pawl_state_format cut       = {.format_size = offsetof(pawl_state_format, context) +
                                                           sizeof(void *) - 1};
static const pawl_state_format in_ms     = {PAWL_STATE_FORMAT_HEAD, .times = PAWL_TIMES_UNIX_MS};
static const pawl_state_format in_us     = {PAWL_STATE_FORMAT_HEAD, .times = PAWL_TIMES_UNIX_US};
static const pawl_state_format microsoft = {PAWL_STATE_FORMAT_HEAD, .below = 2,
                                            .times = PAWL_TIMES_MICROSOFT};
static const pawl_state_format unknown   = {PAWL_STATE_FORMAT_HEAD, .times = (pawl_times)4};

#define SAGA(property)                                                        \
    .name = "Deal", .state = PAWL_RECORD_OF(deal), .correlation = (property), \
    ON({.handle = PAWL_HANDLE(on_open), .key = (property), .starts = true})
#define OLDER(...)                                      \
    .older_formats = (const pawl_state_format *const[]) \
    {                                                   \
        __VA_ARGS__, NULL                               \
    }

static const mistake mistakes[] = {
    {.says = "saga Deal: a format of 0 bytes, at least ",
     .saga = {SAGA("name"), .format = &unsized}},
    {.says = "does not begin with PAWL_STATE_FORMAT_HEAD", .saga = {SAGA("name"), .format = &cut}},
    {.says = "saga Deal: a format of 0 bytes", .saga = {SAGA("name"), OLDER(&unsized)}},
    {.says = "saga Deal: times in form 4,", .saga = {SAGA("name"), .format = &unknown}},
    {.says = "saga Deal: format 1 of .older_formats is for versions below 0; it can be for those "
             "below 2 to 3, the version of record deal",
     .saga = {SAGA("name"), OLDER(&plain)}},
    {.says = "below 1; it can be", .saga = {SAGA("name"), OLDER(&below_1)}},
    {.says = "format 2 of .older_formats is for versions below 4; it can be for those below 3 to 3",
     .saga = {SAGA("name"), OLDER(&below_2, &below_4)}},
    {.says = "format 2 of .older_formats is for versions below 2; it can be for those below 3 to 3",
     .saga = {SAGA("name"), OLDER(&below_2, &below_2)}},
    {.says = "format 2 of .older_formats is for versions below 2; it can be for those below 4 to 3",
     .saga = {SAGA("name"), OLDER(&below_3, &below_2)}},
    {.says = "saga Deal: correlation property 'at' is a time, which the form of times in .format "
             "would cut to milliseconds",
     .saga = {SAGA("at"), .format = &in_ms}},
    {.says = "correlation property 'at' is a time",
     .saga = {SAGA("name"), .transitional = "at", .format = &in_ms}},
};

TEST(s26_every_mistake_is_refused_and_named)
{
    check_refused(mistakes, COUNT(mistakes));
}

/* Built with these tables; NULL: refused. */
static pawl__model *build(const pawl_saga *saga, const pawl_state_format *of_endpoint,
                          uint32_t saga_size, uint32_t endpoint_size)
{
    const pawl_saga *const          sagas[] = {saga, NULL};
    const pawl_endpoint_spec        spec = {.name = "deals", .sagas = sagas, .format = of_endpoint};
    const pawl_endpoint_spec *const specs[]     = {&spec, NULL};
    pawl_application                application = {PAWL_APPLICATION_HEAD, .endpoints = specs};
    pawl__model                    *model       = NULL;
    application.saga_size                       = saga_size;
    application.endpoint_size                   = endpoint_size;
    must(pawl__model_create(&application, NULL, NULL, &model, world_error()));
    return model;
}

static void times_are(const pawl_saga *saga, const pawl_state_format *of_endpoint,
                      uint32_t saga_size, uint32_t endpoint_size, pawl_times expected, size_t older)
{
    pawl__model *model = build(saga, of_endpoint, saga_size, endpoint_size);
    assert_int_equal(model->sagas[0].format.times, expected);
    assert_int_equal(model->sagas[0].older_count, older);
    pawl__model_destroy(model);
}

TEST(s26_the_sagas_format_goes_before_the_endpoints)
{
    const pawl_saga own    = {SAGA("name"), .format = &in_us, OLDER(&microsoft, &below_3)};
    const pawl_saga others = {SAGA("name"), .format = NULL};
    times_are(&own, &in_ms, sizeof own, sizeof(pawl_endpoint_spec), PAWL_TIMES_UNIX_US, 2);
    times_are(&others, &in_ms, sizeof own, sizeof(pawl_endpoint_spec), PAWL_TIMES_UNIX_MS, 0);
    times_are(&others, NULL, sizeof own, sizeof(pawl_endpoint_spec), PAWL_TIMES_RFC3339, 0);
}

/* Memory behind the tables that an older program was built with is not read. */
STATE_TEST(s26_programs_built_before_have_no_format, void **state)
{
    const pawl_saga saga = {
        .name        = "Deal",
        .state       = PAWL_RECORD_OF(first_deal),
        .correlation = "name",
        ON({.handle = PAWL_HANDLE(on_open_first), .key = "name", .starts = true}),
        .stores_defaults = true,
        .format          = &unsized,
        OLDER(&unsized)};
    uint32_t before = offsetof(pawl_saga, format);
    times_are(&saga, &unsized, before, offsetof(pawl_endpoint_spec, format), PAWL_TIMES_RFC3339, 0);
    pawl__model *model = build(&saga, NULL, before, sizeof(pawl_endpoint_spec));
    assert_true(model->sagas[0].format.stores_defaults);
    pawl__model_destroy(model);
    model = build(&saga, NULL, offsetof(pawl_saga, stores_defaults), sizeof(pawl_endpoint_spec));
    assert_false(model->sagas[0].format.stores_defaults);
    pawl__model_destroy(model);
}
