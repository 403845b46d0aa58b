/* test_engine_format.c - states of sagas that are written and read by formats of their own: a reader
 * and a writer, forms of times, one for each version; and what comes of those that fail. S25, S26, S27.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/test.h"
#include "runtime/runtime.h"

static world_log seen;

#define DEAL(F)     \
    F(TEXT, name)   \
    F(INT64, steps) \
    F(TIME, at)
PAWL_RECORD(deal, DEAL);
PAWL_RECORD_WITH(deal_2, DEAL, .version = 2);

/* In version 3 the steps are counted in tens. */
static pawl_upcast_fn upcast_deal;
RECORD_WITH(deal_3, ((TEXT, name), (INT64, tens), (TIME, at)), .version = 3, .upcast = upcast_deal);

#define GO_ON(F)  \
    F(TEXT, name) \
    F(TIME, at)   \
    F(BOOL, only_looks)
PAWL_RECORD(go_on, GO_ON);

static char upcast_saw[200];

static pawl_code upcast_deal(int version, pawl_text json, pawl_arena *arena, pawl_text *upcast,
                             pawl_error *error)
{
    snprintf(upcast_saw, sizeof upcast_saw, "%d %.*s", version, PAWL_TEXT_ARGS(json));
    const char *at = strstr(json.data, "\"at\":"); /* and no other member: a server moves them */
    *upcast        = pawl_arena_printf(arena, "{\"name\":\"a\",\"tens\":%d,%.*s}",
                                       (int)world_json_number(json.data, "steps") * 10,
                                       (int)strcspn(at, ",}"), at);
    return upcast->data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

#define AT INT64_C(1769903999123000) /* 2026-01-31T23:59:59.123Z */

#define ON_GO_ON(state_type, member, step)                                                       \
    static pawl_code on_##state_type(pawl_context *ctx, state_type *state, const go_on *message) \
    {                                                                                            \
        (void)ctx;                                                                               \
        if (message->only_looks)                                                                 \
            return PAWL_OK;                                                                      \
        state->member += (step);                                                                 \
        if (message->at != 0)                                                                    \
            state->at = message->at;                                                             \
        world_note(&seen, "%d%s", (int)state->member, state->at == AT ? "" : "?");               \
        return PAWL_OK;                                                                          \
    }                                                                                            \
    PAWL_HANDLER(on_##state_type, state_type, go_on)
ON_GO_ON(deal, steps, 1);
ON_GO_ON(deal_2, steps, 1);
ON_GO_ON(deal_3, tens, 10);

/* ---- A format that seals: {"sealed":"7B..."} --------------------------------------------- */

typedef struct lock {
    int         reads, writes;
    pawl_code   read_code, write_code; /* of the reader; of the writer of the saga "b" */
    const char *made; /* the writer's output for the saga "b"; NULL: its usual one */
    char        about[200];
} lock;
static lock keys;

static void note_about(const pawl_state_about *about)
{
    char id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(about->id.uuid, id);
    snprintf(keys.about, sizeof keys.about, "%s %s %d", about->saga, id, about->version);
    assert_ptr_equal(about->context, &keys);
}

static pawl_code seal(const pawl_state_about *about, pawl_text json, pawl_arena *arena,
                      pawl_text *stored, pawl_error *error)
{
    bool is_bad = strstr(json.data, "\"name\":\"b\"") != NULL;
    keys.writes++;
    note_about(about);
    if (is_bad && keys.write_code != PAWL_OK)
        return pawl_error_set(error, keys.write_code, "no key");
    if (is_bad && keys.made != NULL) {
        *stored = pawl_text_of(keys.made);
        return PAWL_OK;
    }
    char *text = pawl_arena_take(arena, 2 * json.size + 20);
    int   size = sprintf(text, "{\"sealed\":\"");
    for (size_t i = 0; i < json.size; i++)
        size += sprintf(text + size, "%02X", (unsigned)(unsigned char)json.data[i]);
    size += sprintf(text + size, "\"}");
    *stored = (pawl_text){.data = text, .size = (size_t)size};
    return PAWL_OK;
}

static pawl_code unseal(const pawl_state_about *about, pawl_text stored, pawl_arena *arena,
                        pawl_text *json, pawl_error *error)
{
    keys.reads++;
    note_about(about);
    if (keys.read_code != PAWL_OK)
        return pawl_error_set(error, keys.read_code, "the seal is broken");
    const char *at = strstr(stored.data, "\"7B");
    if (at == NULL)
        return pawl_error_set(error, PAWL_EDECODE, "no seal");
    char  *text = pawl_arena_take(arena, stored.size);
    size_t size = 0;
    for (unsigned byte; sscanf(++at, "%2X", &byte) == 1; at++)
        text[size++] = (char)byte;
    text[size] = '\0';
    *json      = (pawl_text){.data = text, .size = size};
    return PAWL_OK;
}

/* ---- Programs, one after another on one store ---------------------------------------------- */

static const pawl_state_format sealed = {PAWL_STATE_FORMAT_HEAD, .read = unseal, .write = seal,
                                         .context = &keys};
static const pawl_state_format sealed_dates = {PAWL_STATE_FORMAT_HEAD,
                                               .times = PAWL_TIMES_MICROSOFT, .read = unseal,
                                               .write = seal, .context = &keys};
static const pawl_state_format dates      = {PAWL_STATE_FORMAT_HEAD, .times = PAWL_TIMES_MICROSOFT};
static const pawl_state_format numbers    = {PAWL_STATE_FORMAT_HEAD, .times = PAWL_TIMES_UNIX_US,
                                             .stores_defaults = true};
static const pawl_state_format dates_of_1 = {PAWL_STATE_FORMAT_HEAD, .below = 2,
                                             .times = PAWL_TIMES_MICROSOFT};
static const pawl_state_format sealed_of_1 = {PAWL_STATE_FORMAT_HEAD, .below = 2,
                                              .times = PAWL_TIMES_MICROSOFT, .read = unseal,
                                              .context = &keys};
static const pawl_state_format plain_of_2  = {PAWL_STATE_FORMAT_HEAD, .below = 3};

#define PROGRAM(program, of_state, of_endpoint, ...)                                     \
    static const pawl_saga program##_saga = {                                            \
        .name        = "Deal",                                                           \
        .state       = PAWL_RECORD_OF(of_state),                                         \
        .correlation = "name",                                                           \
        .on =                                                                            \
            (const pawl_on[]){                                                           \
                {.handle = PAWL_HANDLE(on_##of_state), .key = "name", .starts = true},   \
                {.handle = NULL}},                                                       \
        __VA_ARGS__};                                                                    \
    static const pawl_endpoint_spec program##_endpoint = {                               \
        .name = "deals", .sagas = PAWL_SAGAS(&program##_saga), .format = (of_endpoint)}; \
    static const pawl_application program = {PAWL_APPLICATION_HEAD, .name = "deals",     \
                                             .endpoints = PAWL_ENDPOINTS(&program##_endpoint)}
#define OLDER(...)                                      \
    .older_formats = (const pawl_state_format *const[]) \
    {                                                   \
        __VA_ARGS__, NULL                               \
    }

PROGRAM(sealed_1, deal, &dates, .format = &sealed);
PROGRAM(dates_1, deal, &dates, .format = NULL);
PROGRAM(sealed_dates_1, deal, NULL, .format = &sealed_dates);
PROGRAM(numbers_2, deal_2, NULL, .format = &numbers, OLDER(&dates_of_1));
PROGRAM(plain_2, deal_2, NULL, .format = NULL, OLDER(&dates_of_1));
PROGRAM(sealed_2, deal_2, NULL, .format = &sealed);
PROGRAM(sealed_3, deal_3, NULL, .format = &sealed);
PROGRAM(numbers_3, deal_3, NULL, .format = &numbers, OLDER(&sealed_of_1, &plain_of_2));

static pawl_time last;

static void begin(const char *url)
{
    world_hold(url);
    keys          = (lock){.reads = 0};
    last          = WORLD_START;
    upcast_saw[0] = '\0';
    world_forget(&seen);
}

static world *open_with(const char *url, const pawl_application *program)
{
    world *it = world_begin(url, program, NULL, &(pawl_endpoint_options){.delayed_retries = 2});
    last += PAWL_SECONDS(1); /* the ids are made of the seed and the time */
    pawl_clock_set(it->machine, last);
    return it;
}

static void post(world *it, const char *name)
{
    world_post(it, NULL, PAWL_MESSAGE(go_on, .name = pawl_text_of(name), .at = AT));
}

static pawl_saga_row row_of(world *it, const char *name)
{
    pawl_saga_row row;
    must(pawl_store_saga_find(it->store, &it->endpoint->model->sagas[0].table, PAWL_SAGA_BY_MAIN,
                              pawl_value_text(pawl_text_of(name)), it->arena, &row, world_error()));
    return row;
}

/* A worker of the program handles a message to the saga "a"; its row is compared then. */
static void go_with(const char *url, const pawl_application *program, const char *data,
                    const char *version)
{
    world *it = open_with(url, program);
    post(it, "a");
    world_drain(it);
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "deals").count, 0);
    world_json_equal(it, row_of(it, "a").data.data, data);
    assert_true(pawl_text_equal(row_of(it, "a").type_version, pawl_text_of(version)));
    world_close(it);
}

#define RFC "\"at\":\"2026-01-31T23:59:59.123000Z\"}"
#define DATE "\"at\":\"/Date(1769903999123)/\"}"
#define NUMBER "\"at\":1769903999123000}"

/* ---- Reader and writer -------------------------------------------------------------------- */

ON_ALL_STORES(s26_reader_and_writer_are_used_for_each_load_and_save, const char *url)
{
    char id[PAWL_UUID_TEXT_SIZE + 1];
    begin(url);
    world *it = open_with(url, &sealed_1);
    for (int i = 0; i < 3; i++) {
        post(it, "a");
        world_drain(it);
        assert_int_equal(keys.reads, i);
        assert_int_equal(keys.writes, i + 1);
        assert_non_null(
            strstr(row_of(it, "a").data.data, "7B226E616D65223A2261222C")); /* {"name":"a", */
        assert_null(strstr(row_of(it, "a").data.data, "steps"));
    }
    assert_string_equal(seen.text, "1 2 3 ");
    pawl_uuid_format(row_of(it, "a").id.uuid, id);
    assert_string_equal(keys.about, test_text("Deal %s 1", id));
    /* pawl_endpoint_saga gives the record's JSON. */
    assert_string_equal(world_saga_text(it, "Deal", "a", NULL), "{\"name\":\"a\",\"steps\":3," RFC);
}

/* A saga whose state did not change is not written, and its writer not called. */
ON_ALL_STORES(s26_a_state_that_stayed_the_same_is_not_written, const char *url)
{
    begin(url);
    world *it = open_with(url, &sealed_1);
    post(it, "a");
    world_drain(it);
    world_post(it, NULL, PAWL_MESSAGE(go_on, .name = PAWL_TEXT("a"), .only_looks = true));
    world_drain(it);
    assert_int_equal(keys.writes, 1);
    assert_int_equal(keys.reads, 1);
    assert_int_equal(row_of(it, "a").version, 1);
}

/* ---- One for each version ------------------------------------------------------------------- */

ON_ALL_STORES(s26_times_are_read_in_the_form_of_their_version, const char *url)
{
    begin(url);
    go_with(url, &dates_1, "{\"name\":\"a\",\"steps\":1," DATE, "1.0");
    go_with(url, &numbers_2, "{\"name\":\"a\",\"steps\":2," NUMBER, "2.0");
    LOG_AFTER(go_with(url, &numbers_2, "{\"name\":\"a\",\"steps\":3," NUMBER, "2.0"), seen,
              "1 2 3 ");
}

/* The choice is by the version of the row, not of the program. */
ON_ALL_STORES(s26_two_older_versions_have_a_format_each, const char *url)
{
    begin(url);
    go_with(url, &sealed_dates_1,
            "{\"sealed\":\"7B226E616D65223A2261222C227374657073223A312C226174"
            "223A222F446174652831373639393033393939313233292F227D\"}",
            "1.0");
    go_with(url, &numbers_3, "{\"name\":\"a\",\"tens\":20," NUMBER, "3.0");
    assert_string_equal(upcast_saw, "1 {\"name\":\"a\",\"steps\":1," DATE);
    assert_int_equal(keys.reads, 1);
}

ON_ALL_STORES(s26_a_later_of_two_older_versions, const char *url)
{
    begin(url);
    go_with(url, &plain_2, "{\"name\":\"a\",\"steps\":1," RFC, "2.0");
    go_with(url, &numbers_3, "{\"name\":\"a\",\"tens\":20," NUMBER, "3.0");
    assert_non_null(strstr(upcast_saw, "2 {"));
    assert_int_equal(keys.reads, 0);
    assert_string_equal(seen.text, "1 20 ");
}

/* "None" for a version is the one of today, and then the upcaster. */
ON_ALL_STORES(s26_without_a_choice_the_usual_reader_reads, const char *url)
{
    begin(url);
    go_with(url, &sealed_1,
            "{\"sealed\":\"7B226E616D65223A2261222C227374657073223A312C226174223A22"
            "323032362D30312D33315432333A35393A35392E3132333030305A227D\"}",
            "1.0");
    world *it = open_with(url, &sealed_3);
    post(it, "a");
    LOG_AFTER(world_drain(it), seen, "1 20 ");
    assert_int_equal(keys.reads, 1);
    assert_string_equal(upcast_saw, "1 {\"name\":\"a\",\"steps\":1," RFC);
}

ON_ALL_STORES(s25_defaults_are_stored_when_the_format_says_so, const char *url)
{
    begin(url);
    world *it = open_with(url, &numbers_2);
    world_post(it, NULL, PAWL_MESSAGE(go_on, .name = PAWL_TEXT("a")));
    world_drain(it);
    world_json_equal(it, row_of(it, "a").data.data, "{\"name\":\"a\",\"steps\":1,\"at\":0}");
}

/* ---- What cannot be read ---------------------------------------------------------------------- */

/* The saga "a" with its seal, and a message that finds it; the reader answers the code. */
static world *open_failing(const char *url, const pawl_application *program, pawl_code code)
{
    world *it = world_begin(url, program, NULL, &(pawl_endpoint_options){.delayed_retries = 2});
    last += PAWL_SECONDS(1);
    pawl_clock_set(it->machine, last);
    keys.read_code = code;
    keys.reads     = 0;
    world_forget(&seen);
    post(it, "a");
    LOG_AFTER(world_drain(it), seen, "");
    return it;
}

static void begin_sealed(const char *url)
{
    begin(url);
    world *it = open_with(url, &sealed_1);
    post(it, "a");
    world_drain(it);
    world_close(it);
}

/* The reader is mended: whatever the row's reader said, the row is as it was. */
static void mend(world *it, int64_t after, const char *expected)
{
    assert_int_equal(row_of(it, "a").version, 1);
    assert_int_equal(world_saga_count(it, "Deal"), 1);
    keys.read_code = PAWL_OK;
    LOG_AFTER(world_go_both(it, after), seen, expected);
    assert_int_equal(world_queue(it, "deals").count, 0);
    world_close(it);
}

ON_ALL_STORES(s26_s27_what_the_reader_has_no_version_of_waits, const char *url)
{
    begin_sealed(url);
    world *it = open_failing(url, &sealed_1, PAWL_EVERSION);
    for (int i = 0; i < 5; i++)
        world_go_both(it, PAWL_SECONDS(12));
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "deals").items[0].attempts, 0);
    mend(it, PAWL_SECONDS(12), "2 ");
}

ON_ALL_STORES(s26_s27_what_the_reader_cannot_decode_is_a_dead_letter, const char *url)
{
    char id[PAWL_UUID_TEXT_SIZE + 1];
    begin_sealed(url);
    world *it = open_failing(url, &sealed_1, PAWL_EDECODE);
    assert_int_equal(world_dead(it).count, 1);
    pawl_uuid_format(row_of(it, "a").id.uuid, id);
    assert_true(world_says(
        world_dead(it).items[0].error,
        test_text("saga Deal %s of version 1: the format's reader: the seal is broken", id)));
    mend(it, 0, "");
}

ON_ALL_STORES(s26_a_reader_that_fails_for_now_is_asked_again, const char *url)
{
    begin_sealed(url);
    world *it = open_failing(url, &sealed_1, PAWL_EBUSY);
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "deals").items[0].attempts, 1);
    mend(it, PAWL_MINUTES(2), "2 ");
}

/* A handler's answers would discard the message, or kill it at once; memory of its own is not the
 * engine's. */
ON_ALL_STORES(s26_a_readers_other_answers_are_failures, const char *url)
{
    static const pawl_code codes[] = {PAWL_DISCARD, PAWL_REJECT, PAWL_RETRY, PAWL_ENOMEM};
    begin_sealed(url);
    for (size_t i = 0; i < COUNT(codes); i++) {
        world *it = open_failing(url, &sealed_1, codes[i]);
        assert_int_equal(world_dead(it).count, 0);
        assert_int_equal(world_queue(it, "deals").items[0].attempts, 1);
        assert_true(world_says(world_queue(it, "deals").items[0].history, "ECONFIG"));
        keys.read_code = PAWL_OK;
        world_go_both(it, PAWL_MINUTES(2));
        assert_int_equal(world_queue(it, "deals").count, 0);
        last = world_now(it);
        world_close(it);
    }
}

/* No reader of this program knows what a newer one wrote, nor, without an upcaster and a format for
 * it, an older one. */
ON_ALL_STORES(s27_versions_that_are_not_read_are_not_given_to_the_reader, const char *url)
{
    begin_sealed(url);
    world *it = open_failing(url, &sealed_2, PAWL_EDECODE);
    assert_int_equal(keys.reads, 0);
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "deals").count, 1);
    world_close(it);
    keys.read_code = PAWL_OK;
    world *newest  = open_with(url, &sealed_3); /* raises the row to version 3 */
    LOG_AFTER(world_go_both(newest, PAWL_SECONDS(12)), seen, "20 ");
    last = world_now(newest);
    world_close(newest);
    it = open_failing(url, &sealed_1, PAWL_EDECODE);
    assert_int_equal(keys.reads, 0);
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "deals").count, 1);
    assert_non_null(strstr(world_saga_text(it, "Deal", "a", NULL), "sealed"));
}

/* ---- What cannot be written ------------------------------------------------------------------- */

static void post_three(world *it)
{
    post(it, "a");
    post(it, "b");
    post(it, "c");
    world_drain(it);
}

ON_ALL_STORES(s26_what_a_writer_refuses_is_one_messages_failure, const char *url)
{
    begin(url);
    keys.write_code = PAWL_EINVAL;
    world *it       = open_with(url, &sealed_1);
    post_three(it);
    assert_int_equal(world_saga_count(it, "Deal"), 2);
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "saga Deal "));
    assert_true(
        world_says(world_dead(it).items[0].error, " of version 1: the format's writer: no key"));
}

ON_ALL_STORES(s26_a_writer_that_fails_for_now_is_asked_again, const char *url)
{
    static const pawl_code codes[] = {PAWL_EBUSY,   PAWL_ECONFIG, PAWL_ELOST,  PAWL_EVERSION,
                                      PAWL_DISCARD, PAWL_ENOMEM,  PAWL_EFENCED};
    begin(url);
    world *it = open_with(url, &sealed_1);
    for (size_t i = 0; i < COUNT(codes); i++) {
        keys.write_code = codes[i];
        post_three(it);
        assert_int_equal(world_dead(it).count, 0);
        assert_int_equal(world_queue(it, "deals").count, 1);
        assert_int_equal(world_queue(it, "deals").items[0].attempts, 1);
        assert_int_equal(row_of(it, "a").version, i + 1);
        assert_int_equal(row_of(it, "b").version, i);
        keys.write_code = PAWL_OK;
        world_go_both(it, PAWL_MINUTES(2));
        assert_int_equal(row_of(it, "b").version, i + 1);
    }
}

ON_ALL_STORES(s26_what_a_writer_makes_is_checked, const char *url)
{
    static const char *const texts[] = {"", "sealed", "[1]", "{\"a\":\"\\u0000\"}", "{\"a\":1} x"};
    static const char *const says[]  = {"what it made: expected JSON", "what it made: invalid JSON",
                                        "is not a JSON object", "NUL in a text",
                                        "what it made: invalid JSON"};
    begin(url);
    world *it = open_with(url, &sealed_1);
    for (size_t i = 0; i < COUNT(texts); i++) {
        keys.made = texts[i];
        post_three(it);
        assert_int_equal(world_dead(it).count, i + 1);
        bool is_said = false;
        for (size_t j = 0; j <= i; j++)
            is_said |= world_says(world_dead(it).items[j].error, says[i]);
        assert_true(is_said);
        assert_int_equal(world_saga_count(it, "Deal"), 2);
    }
}

ON_ALL_STORES(s26_a_state_that_is_too_large_is_named, const char *url)
{
    static const char begins[] = "{\"sealed\":\"";
    size_t            size     = PAWL_STATE_SIZE_MAX + 1;
    char             *text     = malloc(size + 1);
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, begins, sizeof begins - 1);
    memcpy(text + size - 2, "\"}", 3);
    begin(url);
    keys.made = text;
    world *it = open_with(url, &sealed_1);
    post_three(it);
    assert_int_equal(world_saga_count(it, "Deal"), 2);
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "saga Deal "));
    assert_true(world_says(world_dead(it).items[0].error,
                           " of version 1: its state has 16777217 bytes, limit 16777216"));
    keys.made = NULL;
    free(text);
}

/* ---- The test kit --------------------------------------------------------------------------- */

TEST(s26_the_test_kit_reads_by_the_format)
{
    pawl_test *test = NULL;
    deal       found;
    keys = (lock){.reads = 0};
    must(pawl_test_create(&sealed_dates_1, NULL, &test, world_error()));
    must(pawl_test_deliver(test, NULL, PAWL_MESSAGE(go_on, .name = PAWL_TEXT("a"), .at = AT),
                           world_error()));
    must(pawl_test_saga(test, "Deal", "a", PAWL_RECORD_OF(deal), &found, NULL, world_error()));
    assert_int_equal(found.at, AT);
    pawl_test_destroy(test);
}
