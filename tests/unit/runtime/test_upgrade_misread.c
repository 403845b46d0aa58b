/* test_upgrade_misread.c - two programs whose declarations differ so that rows of the first can be
 * decoded by the second, but to other values: pawl_upgrade_compare, and pawl_upgrade_rows with
 * pawl_upgrade_from; and how rows are counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "pawl/pawl.h"
#include "pawl/process.h"
#include "pawl/upgrade.h"
#include "support/world.h"

#include <limits.h>

/* ---- The two programs ------------------------------------------------------ */

#define WAS_STAGE(E) E(WAS_NEW, "new") E(WAS_PAID, "paid")
PAWL_ENUM(was_stage, WAS_STAGE);
#define IS_STAGE(E) E(IS_PAID, "paid") E(IS_NEW, "new")
PAWL_ENUM(is_stage, IS_STAGE);
#define LONGER(E) E(LONGER_NEW, "new") E(LONGER_LATE, "late") E(LONGER_PAID, "paid")
PAWL_ENUM(longer, LONGER);
/* These have the name of a default of another kind. */
#define UNSET(E) E(UNSET_ONE, "unset") E(UNSET_TWO, "set")
PAWL_ENUM(unset, UNSET);
#define EMPTY(E) E(EMPTY_ONE, "empty") E(EMPTY_TWO, "full")
PAWL_ENUM(empty, EMPTY);

RECORD_WITH(was_part, ((ENUM, stage, was_stage)), .type = "part");
RECORD_WITH(is_part, ((ENUM, stage, is_stage)), .type = "part");

#define WAS(F)                                 \
    F(ENUM, stage, was_stage)                  \
    F(ENUM, longer, was_stage)                 \
    F(ENUM, must, was_stage, .required = true) \
    F(OPT_ENUM, maybe, was_stage)              \
    F(LIST_ENUM, stages, was_stage)            \
    F(ENUM, word, was_stage)                   \
    F(INT64, count)                            \
    F(TEXT, note, .secret = true)              \
    F(OPT_TIME, due)                           \
    F(INT32, wide)                             \
    F(INT32, amount)                           \
    F(INT64, exact)                            \
    F(BYTES, raw)                              \
    F(ENUM, unset, unset)                      \
    F(ENUM, empty, empty)                      \
    F(TEXT, first)                             \
    F(TEXT, second)                            \
    F(TEXT, third)                             \
    F(INT32, sign)                             \
    F(RECORD, part, was_part)                  \
    F(LIST_RECORD, parts, was_part)            \
    F(RECORD, address, was_part)
PAWL_RECORD_WITH(was, WAS, .type = "sample");
#define IS(F)                                 \
    F(ENUM, stage, is_stage)                  \
    F(ENUM, longer, longer)                   \
    F(ENUM, must, is_stage, .required = true) \
    F(OPT_ENUM, maybe, is_stage)              \
    F(LIST_ENUM, stages, is_stage)            \
    F(TEXT, word)                             \
    F(OPT_INT64, count)                       \
    F(OPT_TEXT, note, .secret = true)         \
    F(TIME, due)                              \
    F(INT64, wide)                            \
    F(DOUBLE, amount)                         \
    F(DOUBLE, exact)                          \
    F(TEXT, raw)                              \
    F(OPT_ENUM, unset, unset)                 \
    F(TEXT, empty)                            \
    F(TEXT, first, .json = "second")          \
    F(TEXT, second, .json = "first")          \
    F(TEXT, last, .json = "third")            \
    F(UINT32, sign)                           \
    F(RECORD, part, is_part)                  \
    F(LIST_RECORD, parts, is_part)            \
    F(OPT_RECORD, address, is_part)
PAWL_RECORD_WITH(is, IS, .type = "sample");
PAWL_RECORD_WITH(is_2, IS, .type = "sample", .version = 2);

static pawl_code upcast(int version, pawl_text json, pawl_arena *arena, pawl_text *made,
                        pawl_error *error)
{
    *made = json;
    return PAWL_OK;
}
PAWL_RECORD_WITH(is_upcast, IS, .type = "sample", .version = 2, .upcast = upcast);

RECORD(begin, (TEXT, id));
RECORD_WITH(was_state, ((TEXT, id), (ENUM, stage, was_stage), (OPT_INT64, count), (TIME, seen)),
            .type = "state");
RECORD_WITH(is_state, ((TEXT, id), (ENUM, stage, is_stage), (INT64, count), (TIME, seen)),
            .type = "state");

/* A program that handles the message, projects it as an event, and has the saga Order and the process Ledger. */
#define PROGRAM(name_, message_, part_, state_, times_)                                                   \
    static pawl_code name_##_on_sample(pawl_context *ctx, const message_ *message)                        \
    {                                                                                                     \
        (void)ctx, (void)message;                                                                         \
        return PAWL_OK;                                                                                   \
    }                                                                                                     \
    PAWL_MESSAGE_HANDLER(name_##_on_sample, message_);                                                    \
    static pawl_code name_##_on_begin(pawl_context *ctx, state_ *state, const begin *message)             \
    {                                                                                                     \
        (void)ctx, (void)state, (void)message;                                                            \
        return PAWL_OK;                                                                                   \
    }                                                                                                     \
    PAWL_HANDLER(name_##_on_begin, state_, begin);                                                        \
    static pawl_code name_##_on_entry(pawl_context *ctx, const part_ *state, const begin *message)        \
    {                                                                                                     \
        (void)ctx, (void)state, (void)message;                                                            \
        return PAWL_OK;                                                                                   \
    }                                                                                                     \
    PAWL_PROCESS_HANDLER(name_##_on_entry, part_, begin);                                                 \
    static void name_##_apply(part_ *state, const part_ *event)                                           \
    {                                                                                                     \
        state->stage = event->stage;                                                                      \
    }                                                                                                     \
    PAWL_APPLY(name_##_apply, part_, part_);                                                              \
    static const pawl_state_format name_##_format = {PAWL_STATE_FORMAT_HEAD, .times = times_,             \
                                                     .stores_defaults = true};                            \
    static const pawl_saga         name_##_saga   = {                                                     \
                  .name        = "Order",                                                                 \
                  .state       = PAWL_RECORD_OF(state_),                                                  \
                  .correlation = "id",                                                                    \
                  .format      = &name_##_format,                                                         \
                  .on = PAWL_ON({.handle = PAWL_HANDLE(name_##_on_begin), .key = "id", .starts = true})}; \
    static const pawl_process name_##_process = {                                                         \
        .name  = "Ledger",                                                                                \
        .state = PAWL_RECORD_OF(part_),                                                                   \
        .on    = PAWL_ON({.handle = PAWL_HANDLE(name_##_on_entry), .key = "id", .starts = true}),         \
        .apply = PAWL_APPLY_LIST(PAWL_APPLIES(name_##_apply))};                                           \
    static const pawl_projection name_##_projection = {                                                   \
        .name = "samples", .on = PAWL_ON({.handle = PAWL_HANDLE(name_##_on_sample)})};                    \
    static const pawl_endpoint_spec name_##_shop = {                                                      \
        .name        = "shop",                                                                            \
        .sagas       = PAWL_SAGAS(&name_##_saga),                                                         \
        .processes   = PAWL_PROCESSES(&name_##_process),                                                  \
        .projections = PAWL_PROJECTIONS(&name_##_projection),                                             \
        .handlers    = PAWL_ON({.handle = PAWL_HANDLE(name_##_on_sample)})};                                 \
    static const pawl_application name_ = {PAWL_APPLICATION_HEAD, .name = "shop",                         \
                                           .endpoints = PAWL_ENDPOINTS(&name_##_shop)}

PROGRAM(old_program, was, was_part, was_state, PAWL_TIMES_UNIX_US);
PROGRAM(new_program, is, is_part, is_state, PAWL_TIMES_UNIX_MS);
PROGRAM(without_upcaster, is_2, was_part, was_state, PAWL_TIMES_RFC3339);
PROGRAM(with_upcaster, is_upcast, was_part, was_state, PAWL_TIMES_UNIX_US);

/* ---- What is found --------------------------------------------------------- */

typedef struct findings {
    char   lines[60][300]; /* "misread message stage ID: text" */
    size_t count;
    bool   is_used[60];
} findings;

static void add(const pawl_upgrade_found *found, void *context)
{
    findings *all = context;
    assert_true(all->count < 60);
    snprintf(all->lines[all->count++], sizeof all->lines[0], "%s %s %.*s %.*s: %.*s",
             pawl_upgrade_reason_name(found->reason), found->kind, PAWL_TEXT_ARGS(found->member),
             PAWL_TEXT_ARGS(found->id), PAWL_TEXT_ARGS(found->text));
}

/* One finding begins so, and has these words in its text. */
static void has(findings *all, const char *start, const char *words)
{
    for (size_t i = 0; i < all->count; i++)
        if (strncmp(all->lines[i], start, strlen(start)) == 0 && !all->is_used[i]) {
            all->is_used[i] = true;
            if (strstr(all->lines[i], words) == NULL)
                fail_msg("'%s' lacks '%s'", all->lines[i], words);
            return;
        }
    fail_msg("no finding '%s'", start);
}

/* Two, of the message and of the same record as an event. */
static void has_both(findings *all, const char *reason, const char *member, const char *words)
{
    static const char *const kinds[] = {"message", "event"};
    for (size_t i = 0; i < COUNT(kinds); i++)
        has(all, test_text("%s %s %s :", reason, kinds[i], member), words);
}

static void has_no_more(const findings *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (!all->is_used[i])
            fail_msg("not expected: '%s'", all->lines[i]);
}

static pawl_upgrade *look_at(const pawl_application *application)
{
    pawl_upgrade *made;
    must(pawl_upgrade_create(application, NULL, &made, world_error()));
    return made;
}

static void compare(const pawl_application *from, const pawl_application *to, findings *all)
{
    pawl_arena   *arena = pawl_arena_create(0);
    pawl_upgrade *old = look_at(from), *new = look_at(to);
    must(pawl_upgrade_compare(old, new, arena, add, all, world_error()));
    pawl_upgrade_destroy(old);
    pawl_upgrade_destroy(new);
    pawl_arena_destroy(arena);
}

/* ---- Declarations ---------------------------------------------------------- */

TEST(another_default_is_found)
{
    findings all = {.count = 0};
    compare(&old_program, &new_program, &all);
    has_both(&all, "misread", "stage", "where it was new, and they read as paid: keep the default");
    has_both(&all, "misread", "word", "where it was new, and they read as empty");
    has_both(&all, "misread", "count", "where it was 0, and they read as unset");
    has_both(&all, "misread", "note", "where it was empty, and they read as unset");
    has_both(&all, "misread", "due", "where it was unset, and they read as 1970-01-01T00:00:00Z");
    has_both(&all, "misread", "unset", "where it was unset, and they read as unset");
    has_both(&all, "misread", "empty", "where it was empty, and they read as empty");
    has_both(&all, "misread", "part.stage", "raise .version and add an upcaster");
    has_both(&all, "misread", "parts[].stage", "where it was new, and they read as paid");
    has_both(&all, "misread", "address", "where it was {}, and they read as unset");
    has_both(&all, "misread", "address.stage", "where it was new, and they read as paid");
    has_both(&all, "misread", "first",
             "first wrote it, and second reads it, while first reads second");
    has_both(&all, "misread", "second", "were two .json names exchanged?");
    has_both(&all, "narrowed", "exact", "does not take all values");
    has_both(&all, "narrowed", "raw", "does not take all values");
    has_both(&all, "narrowed", "sign", "does not take all values");
    /* The saga stores defaults: the first value of its enum is in its rows. */
    has(&all, "misread saga count :", "where it was unset, and they read as 0");
    has(&all, "misread saga seen :", "the unit of .times is another one");
    has(&all, "misread snapshot stage :", "where it was new, and they read as paid");
    has(&all, "misread event stage :", "where it was new, and they read as paid");
    has_no_more(&all);
}

TEST(a_way_back_is_found_too)
{
    findings all = {.count = 0};
    compare(&new_program, &old_program, &all);
    has(&all, "misread message stage :", "where it was paid, and they read as new");
    has(&all, "misread message count :", "where it was unset, and they read as 0");
    has(&all, "misread message due :", "where it was 1970-01-01T00:00:00Z, and they read as unset");
    has(&all, "misread message address :", "where it was unset, and they read as {}");
}

TEST(another_version_is_the_upcasters)
{
    findings all = {.count = 0};
    compare(&old_program, &without_upcaster, &all);
    has_both(&all, "no-upcast", "", "version 1 becomes 2");
    compare(&old_program, &with_upcaster, &all);
    has_no_more(&all);
}

TEST(the_same_program_misreads_nothing)
{
    findings all = {.count = 0};
    compare(&old_program, &old_program, &all);
    compare(&new_program, &new_program, &all);
    has_no_more(&all);
}

/* ---- Rows ------------------------------------------------------------------ */

static void look_at_row(const pawl_application *from, const pawl_application *to,
                        pawl_scan_kind kind, const pawl_scan_row *row, findings *all)
{
    pawl_arena    *arena = pawl_arena_create(0);
    pawl_upgrade  *old = from != NULL ? look_at(from) : NULL, *new = look_at(to);
    pawl_scan      scan = {.kind = kind};
    pawl_scan_row  copy = *row;
    pawl_scan_rows page = {.items = &copy, .count = 1};
    pawl_upgrade_from(new, old);
    must(pawl_upgrade_rows(new, NULL, &scan, &page, arena, add, all, world_error()));
    pawl_upgrade_destroy(new);
    pawl_upgrade_destroy(old);
    pawl_arena_destroy(arena);
}

static void look_at_message(const pawl_application *from, const pawl_application *to,
                            const char *headers, const char *body, findings *all)
{
    look_at_row(from, to, PAWL_SCAN_QUEUE,
                &(pawl_scan_row){.belongs_to = PAWL_TEXT("shop"),
                                 .message    = {.id      = PAWL_TEXT("m-1"),
                                                .type    = PAWL_TEXT("sample"),
                                                .headers = pawl_text_of(headers),
                                                .body    = pawl_text_of(body)}},
                all);
}

static void look_at_stream(pawl_scan_kind kind, const char *stream, const char *type,
                           const char *body, findings *all)
{
    look_at_row(
        &old_program, &new_program, kind,
        &(pawl_scan_row){.belongs_to = pawl_text_of(stream),
                         .version    = 1,
                         .number     = 1,
                         .message    = {.type = pawl_text_of(type), .body = pawl_text_of(body)}},
        all);
}

TEST(a_row_without_the_member_is_found)
{
    findings all = {.count = 0};
    look_at_message(&old_program, &new_program, "",
                    "{\"must\":\"new\",\"due\":null,\"parts\":[{}]}", &all);
    has(&all,
        "misread message stage m-1:", "stage: it is left out, which meant new and means paid");
    has(&all, "misread message word m-1:", "which meant new and means empty");
    has(&all, "misread message count m-1:", "which meant 0 and means unset");
    has(&all, "misread message note m-1: note: it is left out", "");
    has(&all, "misread message due m-1:", "which meant unset and means 1970");
    has(&all, "misread message unset m-1:", "");
    has(&all, "misread message empty m-1:", "");
    has(&all, "misread message part.stage m-1:", "which meant new and means paid");
    has(&all, "misread message parts[].stage m-1:", "which meant new and means paid");
    has(&all, "misread message address m-1:", "which meant {} and means unset");
    has_no_more(&all);
}

TEST(a_row_with_the_member_is_not)
{
    findings all = {.count = 0};
    look_at_message(
        &old_program, &new_program, "",
        "{\"must\":\"new\",\"stage\":\"new\",\"word\":\"new\",\"unset\":\"unset\",\"empty\":\"empty\","
        "\"count\":0,\"note\":\"\","
        "\"due\":\"2026-01-01T00:00:00Z\",\"part\":{\"stage\":\"new\"},"
        "\"parts\":[{\"stage\":\"paid\"}],\"address\":{\"stage\":\"paid\"}}",
        &all);
    has_no_more(&all);
    look_at_message(NULL, &new_program, "", "{\"must\":\"new\"}", &all);
    look_at_message(&new_program, &new_program, "", "{\"must\":\"new\"}", &all);
    has_no_more(&all);
}

TEST(a_row_of_another_version_is_not)
{
    findings all = {.count = 0};
    look_at_message(&old_program, &with_upcaster, "", "{\"must\":\"new\"}", &all);
    look_at_message(&old_program, &with_upcaster, "{\"pawl.version\":\"2\"}", "{\"must\":\"new\"}",
                    &all);
    has_no_more(&all);
}

TEST(events_and_snapshots_are_found)
{
    findings all = {.count = 0};
    look_at_stream(PAWL_SCAN_EVENTS, "Ledger/a-1", "part", "{}", &all);
    has(&all, "misread event stage Ledger/a-1, number 1:", "which meant new and means paid");
    look_at_stream(PAWL_SCAN_STREAM_SNAPSHOTS, "Ledger/a-1", "", "{}", &all);
    has(&all, "misread snapshot stage Ledger/a-1:", "which meant new and means paid");
    has_no_more(&all);
    look_at_stream(PAWL_SCAN_EVENTS, "Visit/v-1", "sample", "{\"must\":\"new\"}", &all);
    has(&all, "misread event stage Visit/v-1, number 1:", "which meant new and means paid");
}

/* A process, a projection with the record of the process and one with a view of its own, in one endpoint and in two. */
RECORD_WITH(view, ((TEXT, shop, .required = true)), .type = "part");
IDLE_MESSAGE_HANDLER(on_part, was_part);
IDLE_MESSAGE_HANDLER(on_view, view);
static const pawl_projection    parts      = {.name = "parts",
                                              .on   = PAWL_ON({.handle = PAWL_HANDLE(on_part)})};
static const pawl_projection    views      = {.name = "views",
                                              .on   = PAWL_ON({.handle = PAWL_HANDLE(on_view)})};
static const pawl_endpoint_spec all_in_one = {.name        = "one",
                                              .processes   = PAWL_PROCESSES(&old_program_process),
                                              .projections = PAWL_PROJECTIONS(&parts, &views)};
static const pawl_endpoint_spec apart      = {.name      = "apart",
                                              .processes = PAWL_PROCESSES(&old_program_process)};
static const pawl_endpoint_spec beside     = {.name        = "beside",
                                              .projections = PAWL_PROJECTIONS(&parts, &views)};
static const pawl_application   together   = {PAWL_APPLICATION_HEAD, .name = "together",
                                              .endpoints = PAWL_ENDPOINTS(&all_in_one)};
static const pawl_application   separate   = {PAWL_APPLICATION_HEAD, .name = "separate",
                                              .endpoints = PAWL_ENDPOINTS(&apart, &beside)};

/* Parts are read as views are, and views pass over parts. */
static const pawl_projection parts_as_views = {.name = "parts",
                                               .on   = PAWL_ON({.handle = PAWL_HANDLE(on_view)})};
static const pawl_projection no_views       = {
          .name = "views", .on = PAWL_ON({.handle = PAWL_HANDLE(old_program_on_sample)})};
static const pawl_endpoint_spec beside_others = {
    .name = "beside", .projections = PAWL_PROJECTIONS(&parts_as_views, &no_views)};
static const pawl_application others = {PAWL_APPLICATION_HEAD, .name = "others",
                                        .endpoints = PAWL_ENDPOINTS(&apart, &beside_others)};
static const pawl_application alone  = {PAWL_APPLICATION_HEAD, .name = "alone",
                                        .endpoints = PAWL_ENDPOINTS(&apart)};

TEST(projections_are_compared_in_whatever_endpoint)
{
    findings all = {.count = 0};
    compare(&together, &separate, &all);
    has(&all, "removed endpoint one :", "no endpoint of that name");
    has_no_more(&all);
    compare(&together, &others, &all);
    has(&all, "removed endpoint one :", "no endpoint of that name");
    has(&all, "unread-member event stage :", "has a new shop: was it renamed?");
    has(&all, "narrowed event shop :", "it is required, and is not written yet");
    has_no_more(&all);
    compare(&together, &alone, &all);
    has(&all, "removed endpoint one :", "no endpoint of that name");
    has(&all, "removed projection  :", "no table registers it");
    has(&all, "removed projection  :", "no table registers it");
    has_no_more(&all);
}

TEST(an_event_is_tried_with_each_record_once)
{
    static const pawl_application *const programs[] = {&together, &separate};
    for (size_t i = 0; i < COUNT(programs); i++) {
        const pawl_scan_row row = {
            .belongs_to = PAWL_TEXT("Ledger/a-1"),
            .version    = 1,
            .number     = 1,
            .message    = {.type = PAWL_TEXT("part"), .body = PAWL_TEXT("{\"stage\":7}")}};
        findings all = {.count = 0};
        look_at_row(NULL, programs[i], PAWL_SCAN_EVENTS, &row, &all);
        has(&all, "undecodable event stage Ledger/a-1, number 1:", "expected");
        has(&all, "undecodable event shop Ledger/a-1, number 1:", "required");
        has_no_more(&all);
    }
}

/* Of a saga that knows no timeout: dead of just that, or of what its handler said. */
TEST(a_timeout_that_is_dead_for_want_of_a_handler_is_passed_over)
{
    static const char *const codes[] = {"EDECODE", "REJECT"};
    static const char *const found[] = {"passed-over dead late m-1:", "unhandled dead late m-1:"};
    for (size_t i = 0; i < COUNT(codes); i++) {
        const pawl_scan_row row = {.belongs_to = PAWL_TEXT("shop"),
                                   .code       = pawl_text_of(codes[i]),
                                   .message    = {.id      = PAWL_TEXT("m-1"),
                                                  .type    = PAWL_TEXT("late"),
                                                  .headers = PAWL_TEXT("{\"pawl.saga\":\"Order\"}")}};
        findings            all = {.count = 0};
        look_at_row(NULL, &old_program, PAWL_SCAN_DEAD, &row, &all);
        has(&all, found[i], "saga Order knows no timeout 'late'");
        has_no_more(&all);
    }
}

/* A message's handler never sees the members that its record does not know, so that they may hold anything. */
TEST(unknown_members_of_a_message_may_hold_anything)
{
    findings    all  = {.count = 0};
    const char *body = "{\"must\":\"new\",\"remark\":[1e999,\"a\\u0000\"]}";
    look_at_message(NULL, &old_program, "", body, &all);
    has(&all, "unread-member message remark m-1:", "several that could hold its value are missing");
    has_no_more(&all);
}

/* A state keeps them, and cannot keep a NUL: such a snapshot is passed over. */
TEST(unknown_members_of_a_snapshot_are_kept)
{
    findings all = {.count = 0};
    look_at_stream(PAWL_SCAN_STREAM_SNAPSHOTS, "Ledger/a-1", "",
                   "{\"stage\":\"new\",\"remark\":\"a\\u0000\"}", &all);
    has(&all, "passed-over snapshot  Ledger/a-1:", "NUL in the unknown member");
    look_at_stream(PAWL_SCAN_STREAM_SNAPSHOTS, "Ledger/a-1", "",
                   "{\"stage\":\"new\",\"remark\":1e999}", &all);
    has(&all, "unknown-member snapshot remark Ledger/a-1:", "does not know it");
    has_no_more(&all);
}

/* ---- Sagas of a store ------------------------------------------------------ */

RECORD(parcel, (TEXT, number), (TEXT, barcode));
RECORD(label, (TEXT, number), (TEXT, barcode));
#define PARCELS(name_, state_, label_, key_, transitional_key_)                                              \
    static pawl_code name_##_on_label(pawl_context *ctx, state_ *state, const label_ *message)               \
    {                                                                                                        \
        (void)ctx;                                                                                           \
        state->barcode = message->barcode;                                                                   \
        return PAWL_OK;                                                                                      \
    }                                                                                                        \
    PAWL_HANDLER(name_##_on_label, state_, label_);                                                          \
    static const pawl_saga          name_##_saga  = {.name         = "Parcel",                               \
                                                     .state        = PAWL_RECORD_OF(state_),                 \
                                                     .correlation  = key_,                                   \
                                                     .transitional = transitional_key_,                      \
                                                     .on = PAWL_ON({.handle = PAWL_HANDLE(name_##_on_label), \
                                                                    .key              = key_,                \
                                                                    .transitional_key = transitional_key_,   \
                                                                    .starts           = true})};                       \
    static const pawl_endpoint_spec name_##_depot = {.name  = "depot",                                       \
                                                     .sagas = PAWL_SAGAS(&name_##_saga)};                    \
    static const pawl_application   name_         = {PAWL_APPLICATION_HEAD, .name = "depot",                 \
                                                     .endpoints = PAWL_ENDPOINTS(&name_##_depot)}
PARCELS(parcels, parcel, label, "number", "barcode");
/* The number is one now. */
#define NUMBERED(F) F(INT64, number) F(TEXT, barcode) F(TEXT, color)
PAWL_RECORD_WITH(numbered, NUMBERED, .type = "parcel");
PAWL_RECORD_WITH(numbered_label, NUMBERED, .type = "label");
PARCELS(by_number, numbered, numbered_label, "number", "barcode");
PARCELS(by_color, numbered, numbered_label, "color", "number");
PARCELS(by_color_alone, numbered, numbered_label, "color", "barcode");

TEST(a_correlation_property_of_another_type_is_told)
{
    static const struct {
        const pawl_application *to;
        const char             *start, *words;
    } changes[] = {
        {&by_number, "correlation saga number :", "its type is another one"},
        {&by_color, "correlation saga number :", "its type is another one"},
        {&by_color_alone, "correlation saga color :", "it was number, which is neither"},
    };
    for (size_t i = 0; i < COUNT(changes); i++) {
        findings all = {.count = 0};
        compare(&parcels, changes[i].to, &all);
        has(&all, "narrowed saga number :", "does not take all values");
        has(&all, "narrowed message number :", "does not take all values");
        has(&all, changes[i].start, changes[i].words);
        has_no_more(&all);
    }
}

/* The page was read before sagas completed, whose values find none, or one that began since. */
ON_ALL_STORES(a_saga_that_has_completed_is_not_unreachable, const char *url)
{
    static const char *const bodies[] = {"{\"number\":\"n-9\",\"barcode\":\"b-9\"}",
                                         "{\"number\":\"n-8\",\"barcode\":\"b-1\"}",
                                         "{\"number\":\"n-1\",\"barcode\":\"b-9\"}"};
    findings                 all      = {.count = 0};
    world                   *it       = world_begin(url, &parcels, NULL, NULL);
    pawl_upgrade            *made     = look_at(&parcels);
    size_t                   count;
    pawl_scan_row            rows[2 * COUNT(bodies)];
    pawl_scan_rows           page = {.items = rows, .count = COUNT(rows)}, read;
    const pawl_scan          scan = {
                 .kind = PAWL_SCAN_SAGAS, .table = *pawl_upgrade_tables(made, &count), .count_max = 9};
    world_post(it, NULL,
               PAWL_MESSAGE(label, .number = PAWL_TEXT("n-1"), .barcode = PAWL_TEXT("b-1")));
    world_drain(it);
    must(pawl_store_scan(it->store, &scan, it->arena, &read, world_error()));
    assert_int_equal(read.count, 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        rows[i]              = read.items[0];
        rows[i].message.body = pawl_text_of(bodies[i % COUNT(bodies)]);
        if (i >= COUNT(bodies))
            rows[i].id = (pawl_uuid){.bytes = {1}};
    }
    must(pawl_upgrade_rows(made, it->store, &scan, &page, it->arena, add, &all, world_error()));
    has(&all, "unreachable saga number ", "no row is found by number 'n-9'");
    has_no_more(&all);
    pawl_upgrade_destroy(made);
}

TEST(a_number_that_is_no_reason_has_neither_word_nor_text)
{
    static const int numbers[] = {-1, 99, INT_MAX};
    for (int i = 0; i < PAWL_UPGRADE_REASON_COUNT; i++) {
        assert_non_null(pawl_upgrade_reason_name((pawl_upgrade_reason)i));
        assert_non_null(pawl_upgrade_reason_text((pawl_upgrade_reason)i));
    }
    for (size_t i = 0; i < COUNT(numbers); i++) {
        pawl_upgrade_reason reason = (pawl_upgrade_reason)numbers[i];
        assert_null(pawl_upgrade_reason_name(reason));
        assert_null(pawl_upgrade_reason_text(reason));
        assert_false(pawl_upgrade_is_finding(reason));
    }
}
