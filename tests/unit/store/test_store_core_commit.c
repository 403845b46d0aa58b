/* test_store_core_commit.c - commit around a driver: what is answered and which refusals are
 * shown, whatever the driver says; whom a commit wakes; its id; the worker that it needs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/changes.h"
#include "support/minimal.h"

#include "store/core/wait.h"

#include <sys/eventfd.h>
#include <unistd.h>

#define WITH_WAITERS(test) TESTS(test, void, TEST_ROW(test, open_waiters, close_waiters))

#define NOW INT64_C(1767225600000000)

/* ---- A driver that answers what the test says --------------------------- */

static struct {
    pawl_code    commit_code, resolve_code, worker_code;
    size_t       refusal_count; /* how many it adds */
    pawl_refusal wrong;         /* with a text: takes the place of the last one */
    bool         is_silent;     /* the driver writes no error */
    bool         is_attached_without_epoch;
    unsigned     commit_count, worker_count, fenced_until;
    pawl_uuid    commit_id;
    pawl_time    worker_now;
    char         endpoint[20], types[20];
    unsigned     interrupt_count;
    const char  *refusal_text;
    char         buffer[40]; /* the driver's own, used again for the next text */
} fake;

static pawl_code add_refusals(pawl_refusals *refused)
{
    for (size_t i = 0; i < fake.refusal_count; i++) {
        snprintf(fake.buffer, sizeof fake.buffer, "row %zu is gone", i);
        if (pawl_refusals_add(refused, pawl_change_saga_update, (uint32_t)i + 1, (uint32_t)i,
                              i == 0 ? PAWL_EGONE : PAWL_ECONFLICT,
                              pawl_text_of(fake.buffer)) != PAWL_OK)
            return PAWL_ENOMEM;
    }
    return PAWL_OK;
}

static pawl_code fake_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    fake.commit_count++;
    if (fake.commit_count <= fake.fenced_until)
        return minimal_answer(PAWL_EFENCED, error);
    fake.commit_id = changes->commit_id;
    assert_int_equal(refused->count, 0); /* the driver adds to an empty list */
    assert_int_equal(add_refusals(refused), PAWL_OK);
    if (fake.wrong.text.data != NULL)
        refused->items[refused->count - 1] = fake.wrong;
    return fake.is_silent ? fake.commit_code : minimal_answer(fake.commit_code, error);
}

static pawl_code fake_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                              pawl_error *error)
{
    assert_int_equal(pawl_uuid_compare(commit_id, fake.commit_id), 0);
    *is_applied = minimal_is_applied;
    return fake.resolve_code == PAWL_OK
               ? PAWL_OK
               : pawl_error_set(error, fake.resolve_code, "the line is dead");
}

static pawl_code fake_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types,
                                  pawl_time now, pawl_error *error)
{
    fake.worker_count++;
    fake.worker_now = now;
    snprintf(fake.endpoint, sizeof fake.endpoint, "<%.*s>", PAWL_TEXT_ARGS(endpoint));
    snprintf(fake.types, sizeof fake.types, "%.*s", PAWL_TEXT_ARGS(types));
    if (fake.worker_code == PAWL_OK && !fake.is_attached_without_epoch)
        store->epoch = 0x0102;
    return minimal_answer(fake.worker_code, error);
}

static void fake_interrupt(pawl_store *store)
{
    fake.interrupt_count++;
}

#define FAKE                                                                                      \
    .ops_size = sizeof(pawl_store_ops), .abi = PAWL_ABI, .store_size = sizeof(pawl_store),        \
    .open = minimal_store_open, .close = minimal_store_close, .schema = minimal_schema,           \
    .worker_open = fake_worker_open, .worker_close = minimal_worker_close, .commit = fake_commit, \
    .resolve = fake_resolve

static const pawl_store_ops plain_driver = {FAKE, .scheme = "plain"};
static const pawl_store_ops knows_driver = {
    FAKE, .scheme = "knows", .promises = PAWL_STORE_KNOWS_REFUSED, .interrupt = fake_interrupt};

static pawl_code fake_begin(pawl_store *store, pawl_error *error)
{
    return PAWL_OK;
}

static void fake_end(pawl_store *store)
{
}

static const pawl_store_ops sql_driver = {FAKE, .scheme = "sql",
                                          .handler_transaction_begin = fake_begin,
                                          .handler_transaction_end   = fake_end};

static good_set good;

/* The driver refuses updates of sagas, each of its own unit and group. */
static void make_good(void)
{
    good_make(&good);
    for (uint32_t i = 0; i < COUNT(good.saga_update); i++) {
        good.saga_update[i].unit  = i + 1;
        good.saga_update[i].group = i;
    }
}

static fixture *open_fixture(const char *url)
{
    memset(&fake, 0, sizeof fake);
    make_good();
    return minimal_begin(url);
}

/* The changes of one kind alone. */
static pawl_changes *only(pawl_change_kind kind)
{
    good_make(&good);
    for (int other = 0; other < (int)pawl_change_kind_count; other++)
        if (other != (int)kind)
            *good_count(&good, (pawl_change_kind)other) = 0;
    return &good.changes;
}

/* ---- The answer and its refusals ---------------------------------------- */

typedef struct trial {
    const char *url;
    pawl_code   commit;  /* the driver's answer */
    bool        landed;  /* its later answer about a commit in doubt */
    pawl_code   resolve; /* or why it cannot say it */
    pawl_code   answer;  /* of pawl_store_commit */
    size_t      shown;   /* refusals; the driver adds 2 */
} trial;

static const trial trials[] = {
    {"knows:", PAWL_OK, true, PAWL_OK, PAWL_OK, 2},
    {"plain:", PAWL_OK, true, PAWL_OK, PAWL_OK, 2},
    {"knows:", PAWL_EBUSY, true, PAWL_OK, PAWL_EBUSY, 0},
    {"plain:", PAWL_EBUSY, true, PAWL_OK, PAWL_EBUSY, 0},
    {"knows:", PAWL_EFENCED, true, PAWL_OK, PAWL_EFENCED, 0},
    {"knows:", PAWL_EPERSIST, true, PAWL_OK, PAWL_EPERSIST, 0},
    {"knows:", PAWL_EUNKNOWN, true, PAWL_OK, PAWL_OK, 2},
    {"knows:", PAWL_EUNKNOWN, false, PAWL_OK, PAWL_ELOST, 0},
    {"knows:", PAWL_EUNKNOWN, true, PAWL_EUNREACHABLE, PAWL_EUNKNOWN, 0},
    {"plain:", PAWL_EUNKNOWN, true, PAWL_OK, PAWL_EUNKNOWN, 0}, /* its list is not believed */
    {"plain:", PAWL_EUNKNOWN, false, PAWL_OK, PAWL_ELOST, 0},
    {"plain:", PAWL_EUNKNOWN, false, PAWL_EBUSY, PAWL_EUNKNOWN, 0},
};

/* O32: whatever was in the list before. */
TEST(o32_the_refusals_are_those_of_a_commit_that_landed)
{
    for (size_t i = 0; i < COUNT(trials); i++) {
        fixture      *f       = open_fixture(trials[i].url);
        pawl_refusals refused = {.arena = f->arena};
        for (int j = 0; j < 3; j++)
            assert_int_equal(pawl_refusals_add(&refused, pawl_change_saga_insert, 0, 0,
                                               PAWL_EDUPLICATE, PAWL_TEXT("of an earlier one")),
                             PAWL_OK);
        fake.commit_code   = trials[i].commit;
        fake.resolve_code  = trials[i].resolve;
        minimal_is_applied = trials[i].landed;
        fake.refusal_count = 2;
        assert_int_equal(pawl_store_commit(f->store, &good.changes, &refused, &f->error),
                         trials[i].answer);
        assert_int_equal(refused.count, trials[i].shown);
        assert_int_equal(f->error.code,
                         trials[i].answer == PAWL_OK ? f->error.code : trials[i].answer);
        for (size_t j = 0; j < refused.count; j++) {
            assert_true(pawl_text_equal(refused.items[j].text,
                                        pawl_text_of(test_text("row %zu is gone", j))));
            assert_int_equal(refused.items[j].kind, pawl_change_saga_update);
            assert_int_equal(refused.items[j].unit, j + 1);
            assert_int_equal(refused.items[j].group, j);
            assert_int_equal(refused.items[j].reason, j == 0 ? PAWL_EGONE : PAWL_ECONFLICT);
        }
        test_now(f);
    }
}

/* Nor does a set that never came to the driver show those of an earlier one. */
TEST(a_commit_that_is_not_begun_shows_no_refusals)
{
    fixture      *f       = open_fixture("knows:");
    pawl_refusals refused = {.arena = f->arena};
    fake.refusal_count    = 1;
    assert_int_equal(pawl_store_commit(f->store, &good.changes, &refused, &f->error), PAWL_OK);
    assert_int_equal(refused.count, 1);
    good.changes.unit_count = 5000;
    assert_int_equal(pawl_store_commit(f->store, &good.changes, &refused, &f->error), PAWL_ELIMIT);
    assert_int_equal(refused.count, 0);
    test_now(f);

    f                = open_fixture("knows:");
    refused          = (pawl_refusals){.arena = f->arena};
    fake.worker_code = PAWL_EBUSY;
    assert_int_equal(pawl_refusals_add(&refused, pawl_change_saga_insert, 0, 0, PAWL_EDUPLICATE,
                                       PAWL_TEXT("of an earlier one")),
                     PAWL_OK);
    assert_int_equal(pawl_store_commit(f->store, &good.changes, &refused, &f->error), PAWL_EBUSY);
    assert_int_equal(refused.count, 0);
    assert_int_equal(fake.commit_count, 0);
}

/* O32: of changes that nobody can refuse "it landed" says all. */
TEST(o32_what_cannot_be_refused_needs_no_list)
{
    static const pawl_change_kind never[] = {
        pawl_change_timeout_cancel, pawl_change_outbox_block,     pawl_change_stream_snapshot_set,
        pawl_change_queue_send,     pawl_change_aggregator_add,   pawl_change_leased_batch_release,
        pawl_change_flush_set,      pawl_change_subscription_set, pawl_change_history_add};
    for (int kind = 0; kind < (int)pawl_change_kind_count; kind++) {
        fixture      *f       = open_fixture("plain:");
        pawl_refusals refused = {.arena = f->arena};
        pawl_code     code    = PAWL_EUNKNOWN;
        for (size_t i = 0; i < COUNT(never); i++)
            if ((int)never[i] == kind)
                code = PAWL_OK;
        fake.commit_code   = PAWL_EUNKNOWN;
        fake.refusal_count = 1; /* of a driver that promised no list */
        minimal_is_applied = true;
        pawl_code answer =
            pawl_store_commit(f->store, only((pawl_change_kind)kind), &refused, &f->error);
        if (answer != code)
            fail_msg("%s: %s", pawl_change_kind_name((pawl_change_kind)kind), f->error.text);
        assert_int_equal(refused.count, 0);
        test_now(f);
    }
}

/* O32: only a send that must be new can be refused. */
TEST(o32_a_send_that_must_be_new_needs_a_list)
{
    fixture      *f                     = open_fixture("plain:");
    pawl_refusals refused               = {.arena = f->arena};
    pawl_changes *changes               = only(pawl_change_queue_send);
    changes->queue_send.items[0].is_new = true;
    fake.commit_code                    = PAWL_EUNKNOWN;
    minimal_is_applied                  = true;
    assert_int_equal(pawl_store_commit(f->store, changes, &refused, &f->error), PAWL_EUNKNOWN);
}

TEST(an_unknown_outcome_is_explained)
{
    fixture *f        = open_fixture("plain:");
    fake.commit_code  = PAWL_EUNKNOWN;
    fake.resolve_code = PAWL_EUNREACHABLE;
    assert_int_equal(pawl_store_commit(f->store, &good.changes, NULL, &f->error), PAWL_EUNKNOWN);
    assert_string_equal(
        f->error.text,
        "commit: the outcome is unknown and the store cannot be queried: the line is dead");
    fake.resolve_code  = PAWL_OK;
    minimal_is_applied = true;
    assert_int_equal(pawl_store_commit(f->store, &good.changes, NULL, &f->error), PAWL_EUNKNOWN);
    assert_string_equal(f->error.text,
                        "commit: its answer was lost; it was applied, but the driver "
                        "cannot say which changes it refused");
    minimal_is_applied = false;
    assert_int_equal(pawl_store_commit(f->store, &good.changes, NULL, &f->error), PAWL_ELOST);
    assert_string_equal(f->error.text, "commit: nothing was applied: page 7 is damaged");
}

/* A driver that forgot to write the error does not leave the code of an earlier one. */
TEST(the_errors_code_is_the_answer)
{
    fixture      *f       = open_fixture("knows:");
    pawl_refusals refused = {.arena = f->arena};
    fake.is_silent        = true;
    fake.commit_code      = PAWL_EBUSY;
    f->error.code         = PAWL_ESCHEMA;
    assert_int_equal(pawl_store_commit(f->store, &good.changes, &refused, &f->error), PAWL_EBUSY);
    assert_int_equal(f->error.code, PAWL_EBUSY);
    assert_int_equal(pawl_store_commit(f->store, &good.changes, &refused, NULL), PAWL_EBUSY);
}

TEST(without_a_list_the_first_refusal_is_the_answer)
{
    static const struct {
        size_t    refusals;
        pawl_code code, answer;
    } cases[] = {{0, PAWL_OK, PAWL_OK},
                 {1, PAWL_OK, PAWL_EGONE},
                 {2, PAWL_OK, PAWL_EGONE},
                 {2, PAWL_EBUSY, PAWL_EBUSY}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        fixture *f         = open_fixture("knows:");
        fake.refusal_count = cases[i].refusals;
        fake.commit_code   = cases[i].code;
        assert_int_equal(pawl_store_commit(f->store, &good.changes, NULL, &f->error),
                         cases[i].answer);
        if (cases[i].answer == PAWL_EGONE)
            assert_string_equal(f->error.text, "row 0 is gone");
        assert_int_equal(pawl_store_commit(f->store, &good.changes, NULL, NULL), cases[i].answer);
        test_now(f);
    }
}

/* E35: callers index arrays by what a refusal names. */
TEST(e35_a_refusal_of_a_change_that_is_not_in_the_set_is_an_error)
{
    const struct {
        pawl_refusal refusal;
        const char  *text;
    } cases[] = {
        {{pawl_change_saga_update, 2, 77777, PAWL_EGONE, PAWL_TEXT("x")},
         "saga_update (kind 4) of unit 2 in group 77777"},
        {{pawl_change_saga_update, 7, 1, PAWL_EGONE, PAWL_TEXT("x")},
         "saga_update (kind 4) of unit 7 in group 1"},
        {{pawl_change_queue_send, 2, 1, PAWL_EGONE, PAWL_TEXT("x")},
         "queue_send (kind 16) of unit 2 in group 1"},
        {{(pawl_change_kind)99, 2, 1, PAWL_EGONE, PAWL_TEXT("x")},
         "? (kind 99) of unit 2 in group 1"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        fixture      *f       = open_fixture("knows:");
        pawl_refusals refused = {.arena = f->arena};
        fake.refusal_count    = 2;
        fake.wrong            = cases[i].refusal;
        assert_int_equal(pawl_store_commit(f->store, &good.changes, &refused, &f->error),
                         PAWL_EUNKNOWN);
        assert_int_equal(refused.count, 0);
        assert_string_equal(
            f->error.text,
            test_text("commit: driver 'knows' refused a change that is not in the set: %s; the set "
                      "has 3 units and 2 groups",
                      cases[i].text));
        assert_int_equal(pawl_store_commit(f->store, &good.changes, NULL, &f->error),
                         PAWL_EUNKNOWN);
        test_now(f);
    }
}

TEST(a_refusal_without_its_text_is_a_shortage)
{
    pawl_arena   *arena   = test_arena();
    pawl_refusals refused = {.arena = arena};
    assert_int_equal(
        pawl_refusals_add(&refused, pawl_change_saga_insert, 0, 0, PAWL_EGONE, (pawl_text){0}),
        PAWL_ENOMEM);
    assert_int_equal(refused.count, 0);
}

/* ---- The worker and the ids --------------------------------------------- */

TEST(a_handle_gets_a_worker_before_its_first_commit)
{
    fixture *f       = open_fixture("knows:");
    good.changes.now = NOW;
    fake.worker_code = PAWL_EBUSY;
    assert_int_equal(pawl_store_commit(f->store, &good.changes, NULL, &f->error), PAWL_EBUSY);
    fake.worker_code               = PAWL_OK; /* a failed worker_open is tried again */
    fake.is_attached_without_epoch = true;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pawl_store_commit(f->store, &good.changes, NULL, &f->error), PAWL_OK);
    assert_int_equal(fake.worker_count, 2);
    assert_int_equal(fake.commit_count, 3);
    assert_string_equal(fake.endpoint, "<>");
    assert_string_equal(fake.types, "[]");
    assert_int_equal(fake.worker_now, NOW);
    test_now(f);

    f               = open_fixture("knows:"); /* the handle has a worker already */
    f->store->epoch = 3;
    assert_int_equal(pawl_store_commit(f->store, &good.changes, NULL, &f->error), PAWL_OK);
    assert_int_equal(fake.worker_count, 0);
}

/* The row of a handle's worker is gone. Commits of a driver that finds it gone until then. */
static void expect_fenced(fixture *f, pawl_changes *changes, pawl_code code, unsigned commits,
                          unsigned workers)
{
    fake.commit_count = fake.worker_count = 0;
    fake.fenced_until                     = 1;
    assert_int_equal(pawl_store_commit(f->store, changes, NULL, &f->error), code);
    assert_int_equal(fake.commit_count, commits);
    assert_int_equal(fake.worker_count, workers);
}

/* Claims, and SQL of the handler's, were lost with the row: the caller of such a commit begins again. */
TEST(a_handle_that_opened_no_worker_gets_another_one)
{
    fixture *f       = open_fixture("sql:");
    fake.worker_code = PAWL_OK;
    assert_int_equal(pawl_store_commit(f->store, only(pawl_change_queue_send), NULL, NULL),
                     PAWL_OK);
    expect_fenced(f, only(pawl_change_queue_send), PAWL_OK, 2, 1);
    expect_fenced(f, only(pawl_change_queue_settle), PAWL_EFENCED, 1, 1);
    assert_int_equal(pawl_store_handler_transaction_begin(f->store, &f->error), PAWL_OK);
    expect_fenced(f, only(pawl_change_queue_send), PAWL_EFENCED, 1, 1);
    expect_fenced(f, only(pawl_change_queue_send), PAWL_OK, 2, 1);
    assert_int_equal(pawl_store_handler_transaction_begin(f->store, &f->error), PAWL_OK);
    pawl_store_handler_transaction_end(f->store);
    expect_fenced(f, only(pawl_change_queue_send), PAWL_OK, 2, 1);

    fake.worker_code = PAWL_EBUSY; /* and is tried again */
    expect_fenced(f, only(pawl_change_queue_send), PAWL_EBUSY, 1, 1);
    fake.worker_code = PAWL_OK;
    expect_fenced(f, only(pawl_change_queue_send), PAWL_OK, 2, 1);
    test_now(f);
}

TEST(a_worker_that_the_caller_opened_is_the_callers)
{
    fixture *f = open_fixture("sql:");
    assert_int_equal(pawl_store_commit(f->store, only(pawl_change_queue_send), NULL, NULL),
                     PAWL_OK);
    assert_int_equal(pawl_store_worker_open(f->store, PAWL_TEXT("e"), PAWL_TEXT("[]"), NOW, NULL),
                     PAWL_OK);
    expect_fenced(f, only(pawl_change_queue_send), PAWL_EFENCED, 1, 0);
    test_now(f);

    f = open_fixture("sql:");
    assert_int_equal(pawl_store_commit(f->store, only(pawl_change_queue_send), NULL, NULL),
                     PAWL_OK);
    assert_int_equal(pawl_store_worker_close(f->store, NOW, &f->error), PAWL_OK);
    expect_fenced(f, only(pawl_change_queue_send), PAWL_EFENCED, 1, 0);
}

static void expect_id(uint8_t epoch, uint8_t count)
{
    const pawl_uuid id = {{0, 0, 0, 0, 0, 0, 1, epoch, 0, 0, 0, 0, 0, 0, 0, count}};
    assert_memory_equal(&fake.commit_id, &id, sizeof id);
}

/* The epoch, then a count that goes on when the epoch is raised. */
TEST(each_commit_has_an_id_of_its_own)
{
    fixture *f = open_fixture("knows:");
    assert_int_equal(pawl_store_commit(f->store, &good.changes, NULL, NULL), PAWL_OK);
    expect_id(2, 1);
    fake.commit_code = PAWL_EBUSY;
    assert_int_equal(pawl_store_commit(f->store, &good.changes, NULL, NULL), PAWL_EBUSY);
    expect_id(2, 2);
    f->store->epoch++;
    assert_int_equal(pawl_store_commit(f->store, &good.changes, NULL, NULL), PAWL_EBUSY);
    expect_id(3, 3);
    assert_memory_equal(&good.changes.commit_id, &fake.commit_id, sizeof fake.commit_id);
}

TEST(an_interrupt_goes_to_a_driver_that_has_one)
{
    fixture *f = open_fixture("plain:");
    pawl_store_interrupt(f->store);
    assert_int_equal(fake.interrupt_count, 0);
    test_now(f);
    f = open_fixture("knows:");
    pawl_store_interrupt(f->store);
    assert_int_equal(fake.interrupt_count, 1);
}

/* ---- Whom it wakes ------------------------------------------------------ */

static int worker = -1, reader = -1;

static uint64_t wakes_of(int fd)
{
    uint64_t count = 0;
    return read(fd, &count, sizeof count) == (ssize_t)sizeof count ? count : 0;
}

static int open_waiters(void **state)
{
    worker = eventfd(0, EFD_NONBLOCK);
    reader = eventfd(0, EFD_NONBLOCK);
    return pawl__wake_add("minimal", worker, NULL) == PAWL_OK &&
                   pawl__wake_add_reader("minimal", reader, NULL) == PAWL_OK
               ? 0
               : -1;
}

static int close_waiters(void **state)
{
    pawl__wake_remove(worker);
    pawl__wake_remove(reader);
    close(worker);
    close(reader);
    return 0;
}

static void expect_wakes(const char *what, bool of_worker, bool of_reader)
{
    uint64_t workers = wakes_of(worker), readers = wakes_of(reader);
    if (workers != of_worker || readers != of_reader)
        fail_msg("%s: workers are woken %d times, readers %d times", what, (int)workers,
                 (int)readers);
}

/* New work wakes the workers, and work that is given back, as the release and the flush of the
 * good set; new events wake the readers of the event store, the rest nobody. */
WITH_WAITERS(a_commit_wakes_whom_it_concerns)
{
    static const pawl_change_kind work[] = {
        pawl_change_queue_send,   pawl_change_timeout_set,     pawl_change_outbox_add,
        pawl_change_outbox_reset, pawl_change_aggregator_add,  pawl_change_leased_batch_release,
        pawl_change_flush_set,    pawl_change_subscription_set};
    fixture *f = open_fixture("knows:");
    for (int kind = 0; kind < (int)pawl_change_kind_count; kind++) {
        bool is_work = false;
        for (size_t i = 0; i < COUNT(work); i++)
            is_work |= (int)work[i] == kind;
        for (size_t count = 1; count <= 2; count++) {
            pawl_changes *changes                      = only((pawl_change_kind)kind);
            *good_count(&good, (pawl_change_kind)kind) = count;
            assert_int_equal(pawl_store_commit(f->store, changes, NULL, NULL), PAWL_OK);
            expect_wakes(pawl_change_kind_name((pawl_change_kind)kind), is_work,
                         kind == (int)pawl_change_event_append);
        }
    }
    test_now(f);
}

/* A message that is handled wakes nobody, one that is put back does. */
WITH_WAITERS(a_message_that_is_put_back_wakes_the_workers)
{
    static const struct {
        pawl_queue_action first, second;
        bool              wakes;
    } cases[]  = {{PAWL_QUEUE_DONE, PAWL_QUEUE_DONE, false},
                  {PAWL_QUEUE_DONE, PAWL_QUEUE_RELEASE, true},
                  {PAWL_QUEUE_DONE, PAWL_QUEUE_RETRY, true},
                  {PAWL_QUEUE_RETRY, PAWL_QUEUE_DONE, true},
                  {PAWL_QUEUE_RELEASE, PAWL_QUEUE_DONE, true}};
    fixture *f = open_fixture("knows:");
    for (size_t i = 0; i < COUNT(cases); i++) {
        pawl_changes *changes       = only(pawl_change_queue_settle);
        good.queue_settle[0].action = cases[i].first;
        good.queue_settle[1].action = cases[i].second;
        assert_int_equal(pawl_store_commit(f->store, changes, NULL, NULL), PAWL_OK);
        expect_wakes("queue_settle", cases[i].wakes, false);
    }
    test_now(f);
}

WITH_WAITERS(only_a_commit_that_landed_wakes)
{
    for (size_t i = 0; i < COUNT(trials); i++) {
        fixture      *f       = open_fixture(trials[i].url);
        pawl_refusals refused = {.arena = f->arena};
        fake.commit_code      = trials[i].commit;
        fake.resolve_code     = trials[i].resolve;
        minimal_is_applied    = trials[i].landed;
        assert_int_equal(pawl_store_commit(f->store, &good.changes, &refused, NULL),
                         trials[i].answer);
        expect_wakes("all", trials[i].answer == PAWL_OK, trials[i].answer == PAWL_OK);
        test_now(f);
    }
}

const pawl_store_ops *const tests_drivers[] = {&plain_driver, &knows_driver, &sql_driver, NULL};
