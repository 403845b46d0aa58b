/* test_postgres_libpq.c - the first, second, third ... allocation of libpq fails, alone or
 * with some behind it: the call ends soon, nothing is half written, and another try works.
 *
 * malloc is this program's own: what libpq asks for is counted, and refused when it is its
 * turn. The driver's memory is another test's, test_postgres_memory.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"

#if !defined PAWL_HAVE_POSTGRES || !defined __GLIBC__ || defined PAWL_SANITIZED

int main(void)
{
    puts("skipped: built without libpq, or with an allocator that is not to be replaced");
    return 77;
}
#else

#include "contract/postgres_trouble.h"

#include <limits.h>
#include <link.h>
#include <stdatomic.h>

#define FAULTS_MAX 2000
#define COMMIT_FAULT 22 /* an allocation of the commit, whose answer is dropped for it */
#define LASTING 8       /* allocations that a shortage refuses, before it is over */
#define SOON_MS 10000   /* the deadline is three times as long */

/* ---- The allocator -------------------------------------------------------- */

extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static struct {
    uintptr_t   begin, end; /* libpq's code */
    atomic_long left;       /* allocations until one fails; negative: it did */
    atomic_long lasting;    /* refused in all, 0: one */
    atomic_bool is_on;
} libpq;

static bool is_refused(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    if (!atomic_load(&libpq.is_on) || at < libpq.begin || at >= libpq.end)
        return false;
    long left = atomic_fetch_sub(&libpq.left, 1) - 1;
    long last = -atomic_load(&libpq.lasting);
    return left == 0 || (left < 0 && left > last);
}

PAWL_API void *malloc(size_t size)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

PAWL_API void *realloc(void *memory, size_t size)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

static int find_libpq(struct dl_phdr_info *info, size_t size, void *context)
{
    if (strstr(info->dlpi_name, "/libpq.so") == NULL)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0)
            continue;
        libpq.begin = info->dlpi_addr + part->p_vaddr;
        libpq.end   = libpq.begin + part->p_memsz;
    }
    return 1;
}

static void begin_refusing(long n, long lasting)
{
    atomic_store(&libpq.left, n);
    atomic_store(&libpq.lasting, lasting);
    atomic_store(&libpq.is_on, true);
}

/* Was the n-th asked for? */
static bool end_refusing(void)
{
    atomic_store(&libpq.is_on, false);
    return atomic_load(&libpq.left) <= 0;
}

/* ---- A message -------------------------------------------------------------- */

/* A message is claimed, its saga loaded, and one set settles it, saves the saga and sends. */
typedef struct message_trip {
    fixture          *p;
    pawl_store       *store;
    pawl_arena       *arena;
    char              id[30];
    int64_t           version;
    pawl_queue_settle settle;
    pawl_saga_update  update;
    pawl_queue_send   send;
    pawl_changes      changes;
} message_trip;

static int64_t count_of(const message_trip *t, const char *queue)
{
    char sql[300];
    snprintf(sql, sizeof sql,
             "select count(*) from pawl_queue where \"Queue\" = '%s' and \"MessageId\" = '%s'",
             queue, t->id);
    return raw_number(t->p->pg, sql);
}

static void make_changes(message_trip *t, pawl_text body)
{
    t->settle                     = (pawl_queue_settle){.queue = TEXT("orders")};
    t->update                     = (pawl_saga_update){.table    = &order_table,
                                                       .id       = {uuid_of(1)},
                                                       .version  = t->version,
                                                       .metadata = TEXT("{}"),
                                                       .data     = TEXT("{\"n\":2}")};
    t->send                       = send_of("bills", t->id);
    t->send.message.body          = body;
    t->changes                    = (pawl_changes){.now = NOW, ONE_UNIT};
    t->changes.queue_settle.items = &t->settle;
    t->changes.queue_settle.count = 1;
    t->changes.saga_update.items  = &t->update;
    t->changes.saga_update.count  = 1;
    t->changes.queue_send.items   = &t->send;
    t->changes.queue_send.count   = 1;
}

/* The first code that is not OK. */
static pawl_code go(message_trip *t)
{
    pawl_error      *error   = &t->p->error;
    pawl_queue_rows  rows    = {0};
    pawl_saga_row    row     = {0};
    pawl_refusals    refused = {.arena = t->arena};
    pawl_value       id      = {.type = PAWL_VALUE_UUID, .as.uuid = uuid_of(1)};
    pawl_queue_claim claim = {.queue = TEXT("orders"), .due_max = NOW, .count_max = 9, .now = NOW};
    pawl_code        code  = pawl_store_queue_claim(t->store, &claim, t->arena, &rows, error);
    if (code == PAWL_OK) {
        assert_int_equal(rows.count, 1);
        t->settle.seq = rows.items[0].seq;
        code          = pawl_store_saga_load(t->store, &order_table, PAWL_SAGA_BY_ID, &id, 1,
                                             PAWL_SAGA_UNLOCKED, t->arena, &row, error);
    }
    if (code == PAWL_OK)
        code = pawl_store_commit(t->store, &t->changes, &refused, error);
    assert_int_equal(refused.count, 0);
    return code;
}

static void check_applied(const message_trip *t, bool is_applied)
{
    assert_int_equal(count_of(t, "orders"), !is_applied);
    assert_int_equal(count_of(t, "bills"), is_applied);
    assert_int_equal(order_version(t->p, 1), t->version + is_applied);
}

static bool try_message(message_trip *t, long n, bool is_lasting)
{
    fixture *p = t->p;
    t->store   = open_more(p, p->url);
    t->arena   = pawl_arena_create(0);
    assert_non_null(t->arena);
    int64_t begun = clock_ms();
    begin_refusing(n, is_lasting ? LASTING : 0);
    pawl_code code        = go(t);
    bool      was_reached = end_refusing();
    int64_t   taken       = clock_ms() - begun;
    if (taken > SOON_MS)
        fail_msg("allocation %ld of libpq failed, and the call took %lld ms", n, (long long)taken);
    if (!was_reached)
        ok(p, code);
    check_applied(t, code == PAWL_OK);
    if (code != PAWL_OK) {
        test_now(t->store);
        t->store = open_more(p, p->url);
        ok(p, go(t));
        check_applied(t, true);
    }
    test_now(t->store);
    pawl_arena_destroy(t->arena);
    return was_reached;
}

static void try_messages(fixture *p, size_t size, bool is_lasting)
{
    char        name        = is_lasting ? 'l' : 'o';
    char       *body        = malloc(size + 10);
    pawl_store *keeper      = open_store(p, p->url);
    bool        was_reached = true;
    assert_non_null(body);
    memset(body, 'x', size + 2);
    body[0] = body[size + 1] = '"';
    pawl_text text           = {.data = body, .size = size + 2};
    begin_order(p, keeper, 1);
    for (long n = 1; was_reached; n++) {
        message_trip    t = {.p = p, .version = order_version(p, 1)};
        pawl_queue_send send;
        snprintf(t.id, sizeof t.id, "%c-%ld", name, n);
        send                 = send_of("orders", t.id);
        send.message.body    = text;
        pawl_changes changes = one_send(&send);
        assert_true(n < FAULTS_MAX);
        ok(p, pawl_store_commit(keeper, &changes, NULL, &p->error));
        make_changes(&t, text);
        was_reached = try_message(&t, n, is_lasting);
    }
    test_now(keeper);
    free(body);
}

ON_TROUBLE(a_message_survives_one_failure, fixture *p)
{
    try_messages(p, 2, false);
}

ON_TROUBLE(a_message_survives_a_shortage, fixture *p)
{
    try_messages(p, 2, true);
}

ON_TROUBLE(a_large_message_survives_one_failure, fixture *p)
{
    try_messages(p, 100000, false);
}

#define DEADLINE_MS 3200 /* tries pause for 50, 100 ... 1600 ms, 3150 in all */
#define COMMIT_MS 1000   /* until a dropped answer is noticed */

/* Tries are over when the deadline is: the last pause and the last try do not go on behind it. */
ON_TROUBLE(an_unknown_outcome_keeps_the_deadline, fixture *p)
{
    pawl_store     *keeper = open_store(p, p->url);
    pawl_queue_send send   = send_of("orders", "e-1");
    message_trip    t      = {.p = p, .id = "e-1"};
    pawl_changes    one    = one_send(&send);
    begin_order(p, keeper, 1);
    t.version = order_version(p, 1);
    ok(p, pawl_store_commit(keeper, &one, NULL, &p->error));
    make_changes(&t, TEXT("1"));
    t.store = open_more(p, p->url);
    t.arena = pawl_arena_create(0);
    assert_non_null(t.arena);
    set_deadline(t.store, DEADLINE_MS);
    int64_t begun = clock_ms();
    begin_refusing(COMMIT_FAULT, LONG_MAX / 2);
    expect_code(p, go(&t), PAWL_EUNKNOWN);
    int64_t taken = clock_ms() - begun;
    assert_true(end_refusing());
    assert_in_range(taken, 0, COMMIT_MS + DEADLINE_MS + 1000);
    pawl_arena_destroy(t.arena);
}

int main(void)
{
    if (fixture_server() == NULL)
        return fixture_skip();
    (void)dl_iterate_phdr(find_libpq, NULL);
    if (libpq.end == 0) {
        print_error("libpq is not among the loaded libraries\n");
        return 1;
    }
    return tests_run(NULL, NULL);
}

#endif
