/* fuzz_amqp.c - messages of AMQP, as librabbitmq decodes them from a server's frames: read, and sent on by a route.
 *
 * Input: a byte chooses the route's URL; the size of the properties as AMQP writes them, two bytes; the properties; the
 * body.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

#include "transport/rabbitmq/envelope.h"

#include <string.h>

static const char *const urls[] = {"amqp://h/", "amqp://h/?headers=nservicebus",
                                   "amqp://h/?headers=serviceconnect&delay=header"};

/* False: librabbitmq refuses them. */
static bool decode(fuzz_input *in, amqp_pool_t *pool, amqp_message_t *message)
{
    void  *decoded                = NULL;
    size_t size                   = fuzz_byte(in);
    size                          = size << 8 | fuzz_byte(in);
    const amqp_bytes_t properties = {.len   = size < in->left ? size : in->left,
                                     .bytes = (void *)(uintptr_t)in->at};
    in->at += properties.len;
    in->left -= properties.len;
    if (amqp_decode_properties(AMQP_BASIC_CLASS, pool, properties, &decoded) != AMQP_STATUS_OK)
        return false;
    memcpy(&message->properties, decoded, sizeof message->properties);
    message->body = pawl__amqp_bytes(fuzz_rest(in));
    return true;
}

static void check_same(const pawl_message *left, const pawl_message *right)
{
    FUZZ_CHECK(pawl_text_equal(left->id, right->id) && pawl_text_equal(left->type, right->type));
    FUZZ_CHECK(pawl_text_equal(left->body, right->body));
    FUZZ_CHECK(pawl_text_equal(left->correlation_id, right->correlation_id));
    FUZZ_CHECK(pawl_text_equal(left->causation_id, right->causation_id));
}

/* A message that a route takes comes out as it went in. */
static void check_route(const char *text, const pawl_message *message, pawl_arena *arena)
{
    const pawl_delivery item = {.queue = PAWL_TEXT("far"), .message = *message};
    pawl__rabbitmq_url  url  = {.is_tls = false};
    pawl__envelope      envelope;
    pawl_text           why = {.size = 0};
    pawl_taken          taken;
    FUZZ_CHECK(pawl__rabbitmq_url_read(&url, PAWL__RABBITMQ_ROUTE, text, NULL) == PAWL_OK);
    FUZZ_CHECK(pawl__envelope_make(&url, &item, PAWL_SECONDS(1000), arena, &envelope, &why) ==
               PAWL_OK);
    const amqp_message_t sent = {.properties = envelope.properties, .body = envelope.body};
    FUZZ_CHECK(pawl__letter_read(&sent, arena, &taken) == PAWL_OK);
    if (why.size == 0 && taken.refusal.size == 0)
        check_same(message, &taken.message);
    pawl__rabbitmq_url_free(&url);
}

static bool is_valid(const pawl_message *message)
{
    const pawl_text texts[] = {message->id, message->type, message->correlation_id,
                               message->causation_id};
    bool            is_ok   = message->type.size > 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        is_ok = is_ok && pawl_text_is_valid(texts[i], NULL);
    return is_ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input     in      = {data, size};
    pawl_arena    *arena   = fuzz_arena();
    const char    *url     = urls[fuzz_below(&in, sizeof urls / sizeof urls[0])];
    amqp_message_t message = {.body = {.len = 0}};
    amqp_pool_t    pool;
    pawl_taken     taken;
    init_amqp_pool(&pool, 4096);
    if (decode(&in, &pool, &message)) {
        FUZZ_CHECK(pawl__letter_read(&message, arena, &taken) == PAWL_OK);
        FUZZ_CHECK(taken.message.headers.size == 0 || fuzz_is_json(taken.message.headers));
        if (taken.refusal.size == 0 && is_valid(&taken.message))
            check_route(url, &taken.message, arena);
    }
    empty_amqp_pool(&pool);
    pawl_arena_destroy(arena);
    return 0;
}
