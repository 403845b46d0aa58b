/* lost_answers.c - commits, and what is lost of them.
 *
 *     for each way of committing, and each choice of what is to be refused:
 *         for the 1st, 2nd, 3rd ... request of the commit, until it needs no more:
 *             a handle -> prepare -> commit, with that request or its answer lost
 *             -> what was told of each change is what another handle sees
 *             -> nothing applied: the same set again
 *
 * A set holds a change of every kind that can be refused, each in a group of its own, and a
 * message beside each; or one change alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/lost_answers.h"

#include "contract/proxy.h"
#include "contract/refusable.h"
#include "support/fault_strides.h"

#include <string.h>

/* ---- Ways of committing ------------------------------------------------- */

typedef enum manner {
    FRESH,    /* the handle's first commit */
    CAREFUL,  /* after one that was refused */
    CLAIMING, /* while it has claimed what is in no set */
    HELD,     /* in the transaction of a hold */
    ALONE,    /* one change, and no list for refusals */
    MANNER_COUNT
} manner;

typedef enum choice {
    REFUSE_NONE,
    REFUSE_ALL,
    REFUSE_ODD, /* every second kind */
    REFUSE_EVEN,
    CHOICE_COUNT
} choice;

static const char *const manner_names[MANNER_COUNT] = {"fresh", "careful", "claiming", "held",
                                                       "alone"};
static const char *const choice_names[CHOICE_COUNT] = {"none", "all", "odd", "even"};

typedef struct loss {
    manner     how;
    choice     refuses;
    size_t     only; /* ALONE: the kind */
    lossy_what what;
    int        number; /* of the request */
} loss;

static bool is_chosen(const loss *l, size_t kind)
{
    return l->how != ALONE || kind == l->only;
}

static bool is_refused(const loss *l, size_t kind)
{
    return l->refuses == REFUSE_ALL || (l->refuses == REFUSE_ODD && kind % 2 != 0) ||
           (l->refuses == REFUSE_EVEN && kind % 2 == 0);
}

/* In a hold one refusal refuses all. */
static bool is_to_be_applied(const loss *l, size_t kind, bool is_again)
{
    bool is_whole = l->how == HELD && !is_again;
    return is_whole ? l->refuses == REFUSE_NONE : !is_refused(l, kind);
}

/* ---- A commit ----------------------------------------------------------- */

#define KINDS_MAX 32

typedef struct committed {
    suite      *s;
    const loss *loss;
    pawl_store *store;
    pawl_store *other;
    unsigned    number; /* no two commits have the same */
    trial       trials[KINDS_MAX];
    suite_set   set;
    pawl_code   code;
    bool        is_refused[KINDS_MAX + 1]; /* by group */
} committed;

static void make_trials(committed *c)
{
    EXPECT(c->s, refusable_count <= KINDS_MAX);
    for (size_t i = 0; i < refusable_count; i++) {
        c->trials[i] = (trial){.s          = c->s,
                               .store      = c->store,
                               .other      = c->other,
                               .number     = c->number * KINDS_MAX + (unsigned)i,
                               .is_refused = is_refused(c->loss, i)};
        if (is_chosen(c->loss, i))
            refusables[i].prepare(&c->trials[i]);
    }
}

/* A message of its own in group 0; the changes, and a message beside each, in the others. */
static void make_set(committed *c)
{
    c->set        = suite_changes(c->s);
    bool is_alone = c->loss->how == ALONE;
    if (!is_alone)
        ADD(&c->set, queue_send, .queue = trial_name(&c->trials[0], "own"), .due = SUITE_NOW,
            .message = suite_message(c->s, TEXT("own")));
    for (size_t i = 0; i < refusable_count; i++) {
        if (!is_chosen(c->loss, i))
            continue;
        suite_unit(&c->set, (uint32_t)i + 1, (uint32_t)i + 1);
        refusables[i].add(&c->trials[i], &c->set);
        if (!is_alone)
            ADD(&c->set, queue_send, .queue = trial_name(&c->trials[i], "beside"), .due = SUITE_NOW,
                .message = suite_message(c->s, TEXT("beside")));
    }
}

static void take_manner(committed *c)
{
    pawl_text queue = trial_name(&c->trials[0], "held");
    if (c->loss->how == CAREFUL)
        REFUSE_ONE(c->s, c->store, PAWL_ECONFLICT, saga_delete, .table = c->s->tables[SUITE_ORDER],
                   .id = suite_saga_id(3000000), .version = 9);
    if (c->loss->how == CLAIMING) {
        suite_send(c->s, c->other, queue, "held", SUITE_NOW);
        EXPECT_EQ(c->s, suite_claim(c->s, c->store, queue, SUITE_NOW, 1).count, 1);
    }
    if (c->loss->how == HELD)
        EXPECT_OK(c->s, pawl_store_handler_transaction_begin(c->store, &c->s->error));
}

/* ---- What was told ------------------------------------------------------ */

/* The refusal's own reason; in a hold that of all others is another. */
static void check_reason(const committed *c, const pawl_refusal *refusal)
{
    EXPECT(c->s, refusal->text.size != 0);
    if (c->loss->how == HELD || refusal->group == 0)
        return;
    const refusable *kind = &refusables[refusal->group - 1];
    EXPECT_EQ(c->s, refusal->kind, kind->kind);
    EXPECT_EQ(c->s, refusal->reason, kind->reason);
}

static void commit_alone(committed *c)
{
    c->code = pawl_store_commit(c->store, &c->set.changes, NULL, &c->s->error);
    if (c->code != refusables[c->loss->only].reason)
        return;
    c->is_refused[c->loss->only + 1] = true;
    c->code                          = PAWL_OK;
}

static void commit_all(committed *c)
{
    pawl_refusals refused = {.arena = c->s->arena};
    c->code               = pawl_store_commit(c->store, &c->set.changes, &refused, &c->s->error);
    for (size_t i = 0; i < refused.count; i++) {
        EXPECT(c->s, refused.items[i].group <= refusable_count);
        c->is_refused[refused.items[i].group] = true;
        check_reason(c, &refused.items[i]);
    }
}

static void commit(committed *c)
{
    memset(c->is_refused, 0, sizeof c->is_refused);
    if (c->loss->how == ALONE)
        commit_alone(c);
    else
        commit_all(c);
    if (c->code != PAWL_ELOST && c->code != PAWL_EUNKNOWN)
        EXPECT_OK(c->s, c->code);
}

/* ---- What is there ------------------------------------------------------ */

static void expect_equal(const committed *c, size_t kind, const char *what, bool is_there,
                         bool expected)
{
    if (is_there != expected)
        suite_fail(c->s, __FILE__, __LINE__, "%s (row %zu): %s is %sthere, which was not told",
                   pawl_change_kind_name(refusables[kind].kind), kind, what,
                   is_there ? "" : "not ");
}

static void compare(const committed *c)
{
    bool is_alone = c->loss->how == ALONE;
    for (size_t i = 0; i < refusable_count; i++) {
        const trial *t          = &c->trials[i];
        bool         is_applied = c->code == PAWL_OK && !c->is_refused[i + 1];
        if (is_chosen(c->loss, i))
            expect_equal(c, i, "the change", refusables[i].is_there(t), is_applied);
        if (!is_alone)
            expect_equal(c, i, "the message beside it",
                         suite_queue(c->s, c->other, trial_name(t, "beside")).count != 0,
                         is_applied);
    }
    if (!is_alone)
        expect_equal(c, 0, "the message of its own",
                     suite_queue(c->s, c->other, trial_name(&c->trials[0], "own")).count != 0,
                     c->code == PAWL_OK && !c->is_refused[0]);
}

/* A claim that went with the connection is refused from then on. */
static void expect_outcome(const committed *c, bool is_again)
{
    for (size_t i = 0; i < refusable_count; i++)
        if (is_chosen(c->loss, i) && !(is_again && refusables[i].kind == pawl_change_queue_settle))
            EXPECT_EQ(c->s, !c->is_refused[i + 1], is_to_be_applied(c->loss, i, is_again));
}

/* ---- Losses ------------------------------------------------------------- */

static void try_loss(committed *c, const lossy *way, bool *was_lost)
{
    const loss *l = c->loss;
    make_trials(c);
    make_set(c);
    take_manner(c);
    way->lose(way, l->what, l->number, c->number % 2 == 0);
    commit(c);
    *was_lost = way->was_lost(way);
    if (c->code == PAWL_EUNKNOWN) { /* and so there is nothing that could be wrong */
        EXPECT(c->s, way->is_ignorant && *was_lost && l->what == LOSSY_ANSWER);
        return;
    }
    compare(c);
    if (c->code == PAWL_OK) {
        expect_outcome(c, false);
        return;
    }
    EXPECT(c->s, *was_lost);
    commit(c);
    compare(c);
    EXPECT_OK(c->s, c->code);
    expect_outcome(c, true);
}

static void name_failure(const suite *s, const loss *l, char *failure, size_t failure_size)
{
    snprintf(failure, failure_size, "%s%s%s, refused: %s, %s %d lost: %s", manner_names[l->how],
             l->how == ALONE ? " " : "",
             l->how == ALONE ? pawl_change_kind_name(refusables[l->only].kind) : "",
             choice_names[l->refuses], l->what == LOSSY_REQUEST ? "request" : "answer", l->number,
             s->failure);
}

typedef struct run {
    const lossy *way;
    suite        s; /* of the other handle */
    unsigned     commits;
    unsigned     losses;
    char        *failure;
    size_t       failure_size;
} run;

/* In an arena of its own, with a handle of its own. False when there was no such request. */
static bool run_loss(run *r, const loss *l)
{
    suite     s        = {.address = &r->way->through, .arena = pawl_arena_create(0)};
    bool      was_lost = false;
    committed c        = {.s = &s, .loss = l, .other = r->s.stores[0], .number = ++r->commits};
    memcpy(s.tables, r->s.tables, sizeof s.tables);
    if (setjmp(s.failed) == 0) {
        c.store = suite_open(&s);
        try_loss(&c, r->way, &was_lost);
        r->way->lose(r->way, LOSSY_NOTHING, 1, false);
        suite_end_worker(&s, c.store);
    } else {
        name_failure(&s, l, r->failure, r->failure_size);
    }
    r->way->lose(r->way, LOSSY_NOTHING, 1, false);
    suite_close_all(&s);
    pawl_arena_destroy(s.arena);
    return was_lost && r->failure[0] == '\0';
}

#define REQUESTS_MAX 400 /* a commit that needs more has no end */
#define LAST_REQUESTS 4  /* the commit, and what takes the locks of claims again */

/* How many requests the commit needs, of which none is lost; 0: not known. */
static int count_requests(run *r, loss l)
{
    l.number = REQUESTS_MAX;
    if (r->way->requests == NULL || run_loss(r, &l))
        return 0;
    return r->way->requests(r->way);
}

static void run_requests(run *r, loss l)
{
    int last = count_requests(r, l) - LAST_REQUESTS;
    for (l.number = 1; run_loss(r, &l); r->losses++) {
        l.number += l.number + r->way->stride < last ? r->way->stride : 1;
        if (l.number >= REQUESTS_MAX) {
            snprintf(r->failure, r->failure_size, "%s: a commit needs more than %d requests",
                     manner_names[l.how], REQUESTS_MAX);
            return;
        }
    }
}

/* A request that is lost tells what the answer to the one before told, but for the first and
 * the last: not every row loses both. */
static const struct {
    manner how;
    choice refuses;
    bool   loses_requests;
} run_rows[] = {
    {FRESH, REFUSE_NONE, true},  {FRESH, REFUSE_ALL, true},     {FRESH, REFUSE_ODD, false},
    {FRESH, REFUSE_EVEN, false}, {CAREFUL, REFUSE_NONE, true},  {CAREFUL, REFUSE_ALL, false},
    {CAREFUL, REFUSE_ODD, true}, {CLAIMING, REFUSE_NONE, true}, {CLAIMING, REFUSE_ODD, false},
    {HELD, REFUSE_NONE, true},   {HELD, REFUSE_ODD, false},     {ALONE, REFUSE_NONE, false},
    {ALONE, REFUSE_ALL, false},
};

static bool is_taken(const lossy *way, unsigned number)
{
    return way->part == 0 || runs_case(number, way->part);
}

static void run_all(run *r)
{
    unsigned cases = 0;
    for (size_t i = 0; i < sizeof run_rows / sizeof run_rows[0]; i++) {
        loss   l     = {.how = run_rows[i].how, .refuses = run_rows[i].refuses};
        size_t count = l.how != ALONE ? 1 : r->way->is_brief ? 0 : refusable_count;
        if (l.how == HELD && r->way->has_no_hold)
            continue;
        for (l.only = 0; l.only < count && r->failure[0] == '\0'; l.only++) {
            l.what = LOSSY_ANSWER;
            if (is_taken(r->way, ++cases))
                run_requests(r, l);
            l.what = LOSSY_REQUEST;
            if (run_rows[i].loses_requests && is_taken(r->way, ++cases) && r->failure[0] == '\0')
                run_requests(r, l);
        }
    }
}

void lossy_by_proxy(const lossy *way, lossy_what what, int number, bool is_kept)
{
    static const proxy_loss losses[] = {[LOSSY_NOTHING] = PROXY_LOSES_NOTHING,
                                        [LOSSY_REQUEST] = PROXY_LOSES_REQUEST,
                                        [LOSSY_ANSWER]  = PROXY_LOSES_ANSWER};
    proxy_cut(way->context, losses[what], number, is_kept);
    if (what == LOSSY_NOTHING)
        proxy_end_kept(way->context);
}

bool lossy_proxy_was_cut(const lossy *way)
{
    return proxy_was_cut(way->context);
}

unsigned lost_answers_run(const lossy *way, char *failure, size_t failure_size)
{
    suite_tables tables;
    run          r = {.way          = way,
                      .s            = {.address = &way->direct, .arena = pawl_arena_create(0)},
                      .failure      = failure,
                      .failure_size = failure_size};
    failure[0]     = '\0';
    suite_tables_make(&tables, &way->direct);
    memcpy(r.s.tables, tables.list, sizeof r.s.tables);
    if (setjmp(r.s.failed) == 0) {
        refusables_check(&r.s);
        (void)suite_open(&r.s);
        run_all(&r);
    } else {
        snprintf(failure, failure_size, "%s", r.s.failure);
    }
    suite_close_all(&r.s);
    pawl_arena_destroy(r.s.arena);
    return r.losses;
}
