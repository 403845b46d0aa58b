/* test_runtime_mark.c - whose a marker is, and what follows (E26): of a worker that lives, was cut off
 * and is back, died just now or a while ago, or ended; of what ran alone, and of what ran among others.
 *
 * In memory: the stores tell which workers live, and the rest lies in the process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/worker/isolation/marker.h"
#include "test_deaths_sample.h"

/* ---- Whose ------------------------------------------------------------------ */

typedef enum whose { OWN, LIVING, BACK, REVIVED, DEAD_NOW, DEAD, ENDED, WHOSE_COUNT } whose;

static const char *const names[WHOSE_COUNT] = {"own",      "living", "back", "revived",
                                               "dead now", "dead",   "ended"};

typedef struct fixture {
    world               *it;
    pawl_store          *living, *back, *revived;
    pawl__worker        *worker;
    pawl__history_marker markers[WHOSE_COUNT];
    pawl_store_ops       ops;
} fixture;

static int lists; /* of workers */

static const pawl_store_ops *quick;

static pawl_code count_lists(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                             pawl_found *found, pawl_error *error)
{
    lists += asked->kind == PAWL_FIND_WORKERS;
    return quick->find(store, asked, arena, found, error);
}

static pawl__history_marker stamp_of(pawl_store *store)
{
    return (pawl__history_marker){.worker = pawl_store_worker(store).uuid,
                                  .epoch  = pawl_store_epoch(store),
                                  .pid    = getpid(),
                                  .at     = WORLD_START};
}

static pawl_code judge(fixture *p, pawl_queue_row *row, pawl__marker_verdict *way)
{
    must(pawl__marker_judge(p->worker, row, way, world_error()));
    return PAWL_OK;
}

static pawl_queue_row row_with(const fixture *p, whose of, int64_t among)
{
    pawl__history_marker marker = p->markers[of];
    marker.among                = among;
    return (pawl_queue_row){
        .message = {.id = PAWL_TEXT("m-1"), .type = PAWL_TEXT("load")},
        .crashes = among == 0 ? 1 : 0,
        .history = pawl__history_marker_add(p->it->arena, PAWL_TEXT(""), &marker),
    };
}

/* A worker that this process saw dead lives again, under the next epoch. */
static void revive(fixture *p, const char *url)
{
    pawl__marker_verdict way;
    pawl_worker_id       id  = {p->markers[REVIVED].worker};
    pawl_queue_row       row = row_with(p, REVIVED, 0);
    pawl_store_close(p->revived);
    judge(p, &row, &way);
    assert_int_equal(way, PAWL__MARKER_LATER);
    p->revived = open_worker_as(url, &id);
    assert_int_not_equal(pawl_store_epoch(p->revived), p->markers[REVIVED].epoch);
}

static void open_fixture(fixture *p)
{
    const char *url = "memory:marks";
    prepare(url);
    p->it = open_world(url, 2);
    world_drain(p->it);
    p->worker          = p->it->endpoint->worker;
    p->markers[OWN]    = stamp_of(p->worker->store);
    p->living          = open_worker(url);
    p->markers[LIVING] = stamp_of(p->living);
    p->back            = open_worker(url);
    p->markers[BACK]   = stamp_of(p->back);
    must(pawl_store_worker_open(p->back, DOCK, PAWL_TEXT("[]"), WORLD_START, world_error()));
    p->revived          = open_worker(url);
    p->markers[REVIVED] = stamp_of(p->revived);
    revive(p, url);
    pawl_store *dead[2] = {open_worker(url), open_worker(url)};
    for (int i = 0; i < 2; i++)
        p->markers[DEAD_NOW + i] = stamp_of(dead[i]);
    pawl_store_close(dead[1]);
    pawl__marker_verdict way;
    pawl_queue_row       row = row_with(p, DEAD, 0);
    judge(p, &row, &way); /* is seen for the first time */
    p->worker->engine.machine_now += PAWL_SECONDS(2);
    pawl_clock_set(p->it->machine, p->worker->engine.machine_now);
    pawl_store_close(dead[0]);
    pawl_store *ended = open_worker(url);
    p->markers[ENDED] = stamp_of(ended);
    must(pawl_store_worker_close(ended, WORLD_START, world_error()));
    pawl_store_close(ended);
    quick                 = p->worker->store->ops;
    p->ops                = *quick;
    p->ops.find           = count_lists;
    p->worker->store->ops = &p->ops;
}

static void close_fixture(fixture *p)
{
    p->worker->store->ops = quick;
    pawl_store_close(p->living);
    pawl_store_close(p->back);
    pawl_store_close(p->revived);
}

/* ---- What follows ------------------------------------------------------------- */

static void expect(const char *what, whose of, int64_t among, int64_t actual, int64_t expected)
{
    if (actual != expected)
        fail_msg("%s of %s, %s: %d, expected %d", what, names[of], among > 0 ? "among" : "alone",
                 (int)actual, (int)expected);
}

static bool has_stamp(const fixture *p, const pawl_queue_row *row)
{
    pawl__history_marker marker;
    return row->history.size > 0 && pawl__history_marker_read(p->it->arena, row->history, &marker);
}

TEST(e26_what_a_stamp_alone_means)
{
    static const struct {
        pawl__marker_verdict way;
        pawl__marker_owner   found;
        int32_t crashes; /* of the row that is taken; the marker stays while nobody knows */
    } means[WHOSE_COUNT] = {
        [OWN]      = {PAWL__MARKER_ISOLATED, PAWL__MARKER_LIVES, 0},
        [LIVING]   = {PAWL__MARKER_LATER, PAWL__MARKER_IN_FLIGHT, 1},
        [BACK]     = {PAWL__MARKER_ISOLATED, PAWL__MARKER_LIVES, 0},
        [REVIVED]  = {PAWL__MARKER_ISOLATED, PAWL__MARKER_LIVES, 0},
        [DEAD_NOW] = {PAWL__MARKER_LATER, PAWL__MARKER_UNSURE, 1},
        [DEAD]     = {PAWL__MARKER_ISOLATED, PAWL__MARKER_DIED, 1},
        [ENDED]    = {PAWL__MARKER_ISOLATED, PAWL__MARKER_LIVES, 0},
    };
    fixture p;
    open_fixture(&p);
    for (whose of = OWN; of < WHOSE_COUNT; of++) {
        pawl__marker_verdict way;
        pawl__marker_owner   found;
        pawl_queue_row       row = row_with(&p, of, 0);
        lists                    = 0;
        judge(&p, &row, &way);
        expect("way", of, 0, way, means[of].way);
        expect("marker, judged,", of, 0, has_stamp(&p, &row), true);
        must(pawl__marker_take(p.worker, "message", &row, &found, world_error()));
        expect("mark", of, 0, found, means[of].found);
        expect("deaths", of, 0, row.crashes, means[of].crashes);
        expect("marker", of, 0, has_stamp(&p, &row),
               means[of].found == PAWL__MARKER_IN_FLIGHT || means[of].found == PAWL__MARKER_UNSURE);
        expect("note", of, 0,
               world_says(row.history, "crashed while it ran this message in isolation"),
               means[of].found == PAWL__MARKER_DIED);
        if (of == OWN)
            expect("lists", of, 0, lists, 0); /* nobody else is asked for */
    }
    close_fixture(&p);
}

TEST(e26_what_a_stamp_among_others_means)
{
    static const pawl__marker_verdict ways[WHOSE_COUNT] = {[DEAD_NOW] = PAWL__MARKER_ISOLATED,
                                                           [DEAD]     = PAWL__MARKER_ISOLATED,
                                                           [ENDED]    = PAWL__MARKER_ISOLATED};
    fixture                           p;
    open_fixture(&p);
    for (whose of = OWN; of < WHOSE_COUNT; of++) {
        pawl__marker_verdict way;
        pawl__marker_owner   found;
        pawl_queue_row       row = row_with(&p, of, 2);
        lists                    = 0;
        judge(&p, &row, &way);
        expect("way", of, 2, way, ways[of]);
        expect("marker, judged,", of, 2, has_stamp(&p, &row), ways[of] == PAWL__MARKER_ISOLATED);
        if (of == OWN)
            expect("lists", of, 2, lists, 0);
        row = row_with(&p, of, 2);
        must(pawl__marker_take(p.worker, "message", &row, &found, world_error()));
        expect("mark", of, 2, found, PAWL__MARKER_NONE);
        expect("deaths", of, 2, row.crashes, 0);
        expect("marker", of, 2, has_stamp(&p, &row), false);
    }
    close_fixture(&p);
}

TEST(e26_a_row_without_a_stamp)
{
    fixture              p;
    pawl__marker_verdict way;
    pawl__marker_owner   found;
    open_fixture(&p);
    for (int32_t crashes = 0; crashes < 2; crashes++) {
        pawl_queue_row row = {.crashes = crashes, .history = PAWL_TEXT("")};
        judge(&p, &row, &way);
        assert_int_equal(way, crashes == 0 ? PAWL__MARKER_AMONG : PAWL__MARKER_ISOLATED);
        must(pawl__marker_take(p.worker, "message", &row, &found, world_error()));
        assert_int_equal(found, PAWL__MARKER_NONE);
        assert_int_equal(row.crashes, crashes);
    }
    pawl_queue_row row = row_with(&p, DEAD, 0);
    row.crashes        = 0; /* no death was counted ahead */
    judge(&p, &row, &way);
    assert_int_equal(way, PAWL__MARKER_AMONG);
    must(pawl__marker_take(p.worker, "message", &row, &found, world_error()));
    assert_int_equal(found, PAWL__MARKER_NONE);
    close_fixture(&p);
}
