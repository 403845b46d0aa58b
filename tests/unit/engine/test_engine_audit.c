/* test_engine_audit.c - copies of handled messages by the option audit: one for each, in its commit, and none of what
 * was not handled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"
#include "support/world.h"

#include <unistd.h>

RECORD(note, (TEXT, how));
RECORD(desk_state, (TEXT, how));
RECORD(begin, (TEXT, how));

static world *meddler; /* marks the message in hand while its handler runs */
static int    failures_left;

static void mark(const char *id)
{
    MUST_COMMIT(meddler->store, inbox_entry, world_now(meddler), .endpoint = PAWL_TEXT("desk"),
                .message_id = pawl_text_of(id), .outcome = PAWL_INBOX_HANDLED,
                .at = world_now(meddler));
}

static pawl_code on_note(pawl_context *ctx, const note *message)
{
    if (pawl_text_equal(message->how, PAWL_TEXT("discard")))
        return PAWL_DISCARD;
    if (pawl_text_equal(message->how, PAWL_TEXT("reject")))
        return pawl_fail(ctx, PAWL_REJECT, "never");
    if (pawl_text_equal(message->how, PAWL_TEXT("send")))
        return pawl_send(ctx, "out", PAWL_MESSAGE(note, .how = PAWL_TEXT("sent")));
    if (pawl_text_equal(message->how, PAWL_TEXT("taken")) && meddler != NULL) {
        mark("m-taken");
        meddler = NULL;
    }
    if (failures_left > 0) {
        failures_left--;
        return pawl_fail(ctx, PAWL_RETRY, "not yet");
    }
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_note, note);

static pawl_code on_begin(pawl_context *ctx, desk_state *state, const begin *message)
{
    return pawl_timeout(ctx, "late", PAWL_SECONDS(1));
}
PAWL_HANDLER(on_begin, desk_state, begin);

static pawl_code on_late(pawl_context *ctx, desk_state *state)
{
    return pawl_complete(ctx);
}
PAWL_TIMEOUT_HANDLER(on_late, desk_state);

static const pawl_saga talk = SAGA_OF(
    "Talk", desk_state, "how", {.handle = PAWL_HANDLE(on_begin), .key = "how", .starts = true},
    {.handle = PAWL_HANDLE(on_late), .timeout = "late"});
static const pawl_endpoint_spec desk        = {.name     = "desk",
                                               .sagas    = PAWL_SAGAS(&talk),
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)})};
static const pawl_endpoint_spec other       = {.name     = "other",
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)}),
                                               .options  = PAWL_OPTIONS(.audit = "#audits")};
static const pawl_application   application = APPLICATION("audited", &desk, &other);

static world *open_audited(const char *url, const char *address)
{
    static const pawl_route routes[] = {{.name = "out", .is_outbox = true}, {.name = NULL}};
    failures_left                    = 0;
    meddler                          = NULL;
    return world_begin(url, &application, "desk",
                       &(pawl_endpoint_options){.audit             = address,
                                                .routes            = routes,
                                                .immediate_retries = -1,
                                                .delayed_retries   = 2,
                                                .batch_messages    = 16});
}

static void post(world *it, const char *queue, const char *id, const char *how,
                 const pawl_header *headers)
{
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .id = id, .headers = headers,
                                 .correlation_id = "talk-1", .due = world_now(it)};
    test_send(it->sender, queue, &options, PAWL_MESSAGE(note, .how = pawl_text_of(how)));
}

/* The copies that came into the queue, oldest first. */
static pawl_queue_rows copies(world *it)
{
    return world_queue(it, "audits");
}

static void has_header(const pawl_message *message, const char *name, const char *value)
{
    const char *part = test_text("\"%s\":\"%s\"", name, value);
    if (!world_says(message->headers, part))
        fail_msg("%s is not in %.*s", part, PAWL_TEXT_ARGS(message->headers));
}

/* ---- What is copied ----------------------------------------------------------- */

ON_ALL_STORES(a_handled_message_is_copied_as_it_was, const char *url)
{
    const pawl_header headers[]    = {{"tone", "kind"}, {"pawl.reply_to", "home"}, {NULL, NULL}};
    char              machine[300] = "";
    world            *it           = open_audited(url, "#audits");
    post(it, "desk", "m-1", "well", headers);
    world_drain(it);
    assert_int_equal(copies(it).count, 1);
    const pawl_message *copy = &copies(it).items[0].message;
    assert_true(world_json_is(url, copy->body.data, "{\"how\":\"well\"}"));
    assert_string_equal(copy->type.data, "note");
    assert_string_equal(copy->correlation_id.data, "talk-1");
    assert_int_equal(copy->causation_id.size, 0);
    assert_int_equal(copy->id.size, PAWL_UUID_TEXT_SIZE); /* of its own */
    assert_int_equal(gethostname(machine, sizeof machine - 1), 0);
    has_header(copy, "tone", "kind");
    has_header(copy, "pawl.reply_to", "home");
    has_header(copy, "pawl.audit.endpoint", "desk");
    has_header(copy, "pawl.audit.machine", machine);
    has_header(copy, "pawl.audit.id", "m-1");
    has_header(copy, "pawl.audit.started", "2026-01-01T09:00:00.000000Z");
    has_header(copy, "pawl.audit.ended", "2026-01-01T09:00:00.000000Z");
    assert_false(world_says(copy->headers, "pawl.audit.expires"));
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_DISPATCHED).count, 1);
}

ON_ALL_STORES(all_of_a_batch_are_copied_beside_what_they_send, const char *url)
{
    world *it = open_audited(url, "#audits");
    for (int i = 0; i < 12; i++)
        post(it, "desk", test_text("m-%d", i), i % 3 == 0 ? "send" : "well", NULL);
    world_drain(it);
    assert_int_equal(copies(it).count, 12);
    assert_int_equal(world_queue(it, "out").count, 4);
    for (size_t i = 0; i < 12; i++)
        has_header(&copies(it).items[i].message, "pawl.audit.id", test_text("m-%d", (int)i));
}

ON_ALL_STORES(of_what_is_not_handled_there_is_no_copy, const char *url)
{
    const pawl_header over[] = {{PAWL_HEADER_EXPIRES, "2026-01-01T08:00:00.000000Z"}, {NULL, NULL}};
    world            *it     = open_audited(url, "#audits");
    post(it, "desk", "m-discarded", "discard", NULL);
    post(it, "desk", "m-rejected", "reject", NULL);
    post(it, "desk", "m-expired", "well", over);
    world_post_text(it, "m-odd", "note", "no JSON");
    world_drain(it);
    assert_int_equal(world_dead(it).count, 2);
    assert_int_equal(copies(it).count, 0);
    failures_left = 1;
    post(it, "desk", "m-late", "well", NULL);
    world_drain(it);
    assert_int_equal(copies(it).count, 0);
    world_go_both(it, PAWL_MINUTES(1)); /* handled by its retry */
    assert_int_equal(copies(it).count, 1);
    post(it, "desk", "m-late", "well", NULL); /* a copy, behind the mark */
    world_drain(it);
    assert_int_equal(world_queue(it, "desk").count, 0);
    assert_int_equal(copies(it).count, 1);
}

ON_STORES(a_timeout_is_no_message, const char *url)
{
    world *it = open_audited(url, "#audits");
    world_post(it, "m-1", PAWL_MESSAGE(begin, .how = PAWL_TEXT("x")));
    world_drain(it);
    assert_int_equal(copies(it).count, 1);
    world_go(it, PAWL_SECONDS(2));
    assert_int_equal(world_saga_count(it, "Talk"), 0);
    assert_int_equal(copies(it).count, 1);
}

ON_ALL_STORES(what_a_commit_refuses_leaves_no_copy, const char *url)
{
    world *it = open_audited(url, "#audits");
    meddler   = it;
    post(it, "desk", "m-taken", "taken", NULL); /* another one marks it first */
    post(it, "desk", "m-1", "well", NULL);
    world_drain(it);
    assert_null(meddler);
    assert_int_equal(copies(it).count, 1);
    has_header(&copies(it).items[0].message, "pawl.audit.id", "m-1");
}

ON_ALL_STORES(one_event_of_two_endpoints_has_two_copies, const char *url)
{
    world *it     = open_audited(url, "#audits");
    world *second = world_begin(url, &application, "other", &(pawl_endpoint_options){.workers = 1});
    post(it, "desk", "m-1", "well", NULL);
    post(it, "other", "m-1", "well", NULL);
    world_drain(it);
    world_drain(second); /* its table has the address */
    assert_int_equal(copies(it).count, 2);
    world_close(second);
    second = world_begin(url, &application, "other", &(pawl_endpoint_options){.audit = "none"});
    post(it, "other", "m-2", "well", NULL);
    world_drain(second);
    assert_int_equal(copies(it).count, 2);
}

/* An id that is sent again when its mark is gone is a message of its own. */
/* nothing of a store is in it */
ON_STORES(an_id_whose_mark_is_old_is_copied_anew, const char *url)
{
    world *it = open_audited(url, "#audits");
    post(it, "desk", "m-1", "well", NULL);
    world_drain(it);
    world_go_both(it, PAWL_DAYS(8));
    world_go_both(it, PAWL_DAYS(8));
    assert_false(world_is_marked(it, "m-1"));
    post(it, "desk", "m-1", "else", NULL);
    world_drain(it);
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(copies(it).count, 2);
}

/* ---- Headers -------------------------------------------------------------------- */

ON_STORES(a_copy_does_not_expire, const char *url)
{
    static const char end[]     = "2026-01-01T09:00:10.000000Z";
    const pawl_header headers[] = {{PAWL_HEADER_EXPIRES, end},
                                   {"NServiceBus.TimeToBeReceived", "00:00:10"},
                                   {"tone", "kind"},
                                   {NULL, NULL}};
    world            *it        = open_audited(url, "#audits");
    post(it, "desk", "m-1", "well", headers);
    world_drain(it);
    const pawl_message *copy = &copies(it).items[0].message;
    has_header(copy, "pawl.audit.expires", end);
    has_header(copy, "tone", "kind");
    assert_false(world_says(copy->headers, "\"pawl.expires\""));
    assert_false(world_says(copy->headers, "TimeToBeReceived"));
}

ON_ALL_STORES(headers_without_room_stay_as_they_are, const char *url)
{
    static char       long_one[PAWL_HEADERS_SIZE_MAX - 20];
    const pawl_header headers[] = {{"long", long_one}, {NULL, NULL}};
    memset(long_one, 'x', sizeof long_one - 1);
    world *it = open_audited(url, "#audits");
    post(it, "desk", "m-1", "well", headers);
    world_drain(it);
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(copies(it).count, 1);
    assert_true(world_says(copies(it).items[0].message.headers, "\"long\":\"xxx"));
    assert_false(world_says(copies(it).items[0].message.headers, "pawl.audit"));
}

/* ---- Addresses -------------------------------------------------------------------- */

static char letters[400];

static pawl_code open_pigeon(pawl_transport *transport, const char *url, const char *system_prefix,
                             pawl_error *error)
{
    if (strcmp(url, "pigeon://away/") == 0)
        return pawl_error_set(error, PAWL_EUNREACHABLE, "it is away");
    return strcmp(url, "pigeon://here/") == 0
               ? PAWL_OK
               : pawl_error_set(error, PAWL_EINVAL, "pigeon: no loft '%s'", url);
}

static void close_pigeon(pawl_transport *transport)
{
}

static pawl_code deliver(pawl_transport *transport, pawl_delivery *items, size_t count,
                         pawl_arena *arena, pawl_error *error)
{
    for (size_t i = 0; i < count; i++)
        snprintf(letters + strlen(letters), sizeof letters - strlen(letters), "%.*s:%.*s ",
                 PAWL_TEXT_ARGS(items[i].queue), PAWL_TEXT_ARGS(items[i].message.id));
    return PAWL_OK;
}

static const pawl_transport_ops pigeon = {.ops_size       = sizeof pigeon,
                                          .transport_size = sizeof(pawl_transport),
                                          .scheme         = "pigeon",
                                          .open           = open_pigeon,
                                          .close          = close_pigeon,
                                          .deliver        = deliver};

ON_STORES(a_transport_gets_copies_under_the_ids_of_their_messages, const char *url)
{
    letters[0] = '\0';
    must(pawl_transport_register(&pigeon, world_error()));
    world *it = open_audited(url, "pigeon://here/#loft");
    post(it, "desk", "m-1", "well", NULL);
    post(it, "desk", "m-2", "well", NULL);
    world_drain(it);
    assert_string_equal(letters, "loft:m-1 loft:m-2 ");
    world_close(it);
    it = open_audited(url, "pigeon://away/#loft"); /* starts all the same */
}

ON_ALL_STORES(copies_go_to_another_store, const char *url)
{
    char away[PAWL_URL_SIZE_MAX];
    scenario_url_like(url, away, sizeof away);
    world *there = world_begin(away, &application, "other", &(pawl_endpoint_options){.workers = 1});
    const char *address = test_text("%s#desk", away); /* its own name, of another store */
    world      *it      = open_audited(url, address);
    post(it, "desk", "m-1", "well", NULL);
    world_drain(it);
    assert_int_equal(world_queue(there, "desk").count, 1);
    has_header(&world_queue(there, "desk").items[0].message, "pawl.audit.id", "m-1");
    assert_string_not_equal(world_queue(there, "desk").items[0].message.id.data, "m-1");
}

static void refuses(const char *address, const pawl_route *routes, const char *expected)
{
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                  = "memory:audits";
    options.audit                  = address;
    options.routes                 = routes;
    must_fail(pawl_endpoint_create(&application, "desk", &options, &endpoint, world_error()),
              PAWL_ECONFIG, expected);
    assert_null(endpoint);
}

TEST(a_bad_address_is_refused_at_the_start)
{
    static char long_queue[PAWL_NAME_SIZE_MAX + 3];
    must(pawl_transport_register(&pigeon, world_error()));
    memset(long_queue, 'q', sizeof long_queue - 1);
    long_queue[0] = '#';
#define NO_QUEUE                                                                                  \
    "it names no queue; expected URL#QUEUE, or #QUEUE of this store; a '#' inside of the URL is " \
    "written %23"
    refuses("audits", NULL, "option audit is 'audits': " NO_QUEUE);
    refuses("", NULL, "option audit is '': " NO_QUEUE);
    refuses("#", NULL, "option audit is '#': " NO_QUEUE);
    refuses("pigeon://u:secret@here/", NULL, "option audit is 'pigeon://u:***@here/': " NO_QUEUE);
    refuses("#desk", NULL,
            "option audit is '#desk': it is the endpoint's own queue, which would never be empty");
    refuses("memory:audits#desk", NULL,
            "option audit is 'memory:audits#desk': it is the endpoint's own queue, which would "
            "never be empty");
    refuses("pigeon://there/#x", NULL,
            "option audit is 'pigeon://there/#x': route 'pawl.audit': pigeon: no loft "
            "'pigeon://there/'");
    refuses(
        "#a\xff", NULL,
        "option audit is '#a\xff': the queue's name is not a text in UTF-8 of at most 200 bytes");
    refuses("#x", PAWL_ROUTES({.name = "pawl.audit", .queue = "y"}),
            "option audit is '#x': a route is named 'pawl.audit', which is its own");
}

TEST(schemes_that_nobody_knows_are_refused)
{
    pawl_error            error    = PAWL_ERROR_INIT;
    pawl_endpoint        *endpoint = NULL;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                  = "memory:audits";
    options.audit                  = "goose://u:secret@here/#x";
    assert_int_equal(pawl_endpoint_create(&application, "desk", &options, &endpoint, &error),
                     PAWL_ECONFIG);
    assert_true(world_says(pawl_text_of(error.text), "option audit is 'goose:"));
    assert_false(world_says(pawl_text_of(error.text), "secret"));
    assert_non_null(strstr(error.text, "': "));
}
