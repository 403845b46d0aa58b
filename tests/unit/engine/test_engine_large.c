/* test_engine_large.c - messages whose effects are too large for one commit: each is
 * committed alone; one that is too large by itself is a dead letter, and the others go on.
 * An event over the limit of bodies is refused at once. A snapshot over its limit is left out.
 *
 * E35, O18.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/process.h"
#include "pawl/store_event_store.h"

#define PIECE_SIZE ((size_t)15 * 1024 * 1024)
#define PIECES_TOO_MANY 18 /* 270 MB together */
#define PIECE_TOO_LARGE ((size_t)PAWL_BODY_SIZE_MAX)

static char *piece; /* the text of an event */

RECORD(box, (INT64, count));
RECORD(fill, (TEXT, name), (INT32, pieces));
RECORD(filled, (TEXT, piece));

static pawl_code on_fill(pawl_context *ctx, const box *state, const fill *command)
{
    pawl_code code = PAWL_OK;
    if (command->pieces == 0)
        return pawl_emit(ctx,
                         PAWL_MESSAGE(filled, .piece = {.data = piece, .size = PIECE_TOO_LARGE}));
    for (int i = 0; i < command->pieces && code == PAWL_OK; i++)
        code = pawl_emit(ctx, PAWL_MESSAGE(filled, .piece = {.data = piece, .size = PIECE_SIZE}));
    return code;
}
PAWL_ENTITY_HANDLER(on_fill, box, fill);

static void apply_filled(box *state, const filled *event)
{
    state->count++;
}
PAWL_APPLY(apply_filled, box, filled);

static const pawl_entity box_entity = {.name  = "Box",
                                       .state = PAWL_RECORD_OF(box),
                                       .on =
                                           PAWL_ON({.handle = PAWL_HANDLE(on_fill), .key = "name"}),
                                       .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_filled))};

/* ---- A state that is about as large as a snapshot may be --------------------------- */

RECORD(heap, (TEXT, pile));
PAWL_RECORD(pile_up, A_NAME);
PAWL_RECORD(piled, A_NAME);

static pawl_code on_pile_up(pawl_context *ctx, const heap *state, const pile_up *command)
{
    return pawl_emit(ctx, PAWL_MESSAGE(piled, .name = command->name));
}
PAWL_ENTITY_HANDLER(on_pile_up, heap, pile_up);

/* With no dispatch id the snapshot has the size of the limit. */
static void apply_piled(heap *state, const piled *event)
{
    state->pile =
        (pawl_text){.data = piece, .size = PAWL_SNAPSHOT_SIZE_MAX - strlen("{\"pile\":\"\"}[]")};
}
PAWL_APPLY(apply_piled, heap, piled);

static const pawl_entity heap_entity = {
    .name           = "Heap",
    .state          = PAWL_RECORD_OF(heap),
    .on             = PAWL_ON({.handle = PAWL_HANDLE(on_pile_up), .key = "name"}),
    .apply          = PAWL_APPLY_LIST(PAWL_APPLIES(apply_piled)),
    .snapshot_every = 1};

/* ------------------------------------------------------------------------------------ */

static const pawl_application application =
    ONE_ENDPOINT("boxes", .name = "boxes", .entities = PAWL_ENTITIES(&box_entity, &heap_entity));

static world *open_world(const char *url)
{
    const pawl_endpoint_options options = {.delayed_retries = -1};
    return world_begin(url, &application, NULL, &options);
}

static void post_fill(world *it, int number, int pieces)
{
    const char name[] = {(char)('a' + number), '\0'};
    world_post(it, NULL, PAWL_MESSAGE(fill, .name = pawl_text_of(name), .pieces = pieces));
}

static int64_t count_of(world *it, const char *name)
{
    int64_t version;
    (void)world_saga_text(it, "Box", name, &version);
    return version;
}

/* The limit is that of every change set, before a driver sees it. */
ON_STORE(e35_what_is_too_large_for_a_commit_spoils_no_other, const char *url, "memory")
{
    world *it = open_world(url);
    post_fill(it, 0, PIECES_TOO_MANY);
    post_fill(it, 1, 1);
    world_drain(it);
    assert_true(world_says(world_dead_letter(it).error, "change set: its texts have "));
    assert_int_equal(count_of(it, "a"), 0);
    assert_int_equal(count_of(it, "b"), 1);
}

ON_STORE(e35_an_event_over_the_limit_of_bodies_is_refused, const char *url, "memory")
{
    world *it = open_world(url);
    post_fill(it, 0, 0);
    world_drain(it);
    assert_true(
        world_says(world_dead_letter(it).error, "body has 16777228 bytes, the limit is 16777216"));
    assert_int_equal(count_of(it, "a"), 0);
}

static int64_t snapshot_version(world *it)
{
    const pawl_stream_read read = {.stream = PAWL_TEXT("Heap/a"), .snapshot_version_max = 1};
    pawl_stream            stream;
    must(pawl_store_stream_read(it->store, &read, it->arena, &stream, world_error()));
    return stream.snapshot.version;
}

/* The dispatch ids are counted with the state. */
ON_ALL_STORES(o18_a_snapshot_over_its_limit_is_left_out, const char *url)
{
    static const char *const ids[] = {NULL, "00000001-7d7e-5c4e-9d5b-0c2f4e6a8b1c", NULL};
    world                   *it    = open_world(url);
    for (int i = 0; i < 3; i++) {
        world_post(it, ids[i], PAWL_MESSAGE(pile_up, .name = PAWL_TEXT("a")));
        world_drain(it);
        assert_int_equal(world_dead(it).count, 0);
        assert_int_equal(world_events(it, "Heap/a").count, i + 1);
        assert_int_equal(snapshot_version(it), 1);
    }
}

static int make_piece(void **state)
{
    piece = malloc(PIECE_TOO_LARGE);
    if (piece != NULL)
        memset(piece, 'x', PIECE_TOO_LARGE);
    return piece != NULL ? 0 : -1;
}

static int free_piece(void **state)
{
    free(piece);
    return 0;
}

int main(void)
{
    world_quiet();
    return tests_run(make_piece, free_piece);
}
