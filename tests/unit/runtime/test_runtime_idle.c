/* test_runtime_idle.c - the cost of an endpoint on PostgreSQL while nothing happens.
 *
 * An hour of idling passes in moments: a driver stands before PostgreSQL's whose wait() does what
 * the real one does and then waits for the machine clock, which moves on when all threads of the
 * endpoint wait. The endpoint's statements meanwhile are counted twice: on its way into libpq,
 * whose functions stand here once more; and by the server (pg_stat_statements), for a role of the
 * endpoint's own, which tells what it was but counts a begin that was prepared only once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/ping.h"
#include "support/tests.h"

#ifdef PAWL_HAVE_POSTGRES

#include "contract/postgres_fixture.h"
#include "support/thread.h"

#include <dlfcn.h>
#include <poll.h>

#define BUDGET 10 /* statements a minute and worker, what keeps a lease apart */
#define MINUTES 60
#define HOUR_SECONDS 120 /* as long as they may take on a busy machine */

RECORD(order_state, (TEXT, order_id));
RECORD(place_order, (TEXT, order_id));
PAWL_RECORD(part, A_NUMBER);
PAWL_RECORD(line, A_NUMBER);
static pawl_code on_place_order(pawl_context *ctx, order_state *order, const place_order *message)
{
    return pawl_timeout(ctx, "payment", PAWL_MINUTES(15));
}
PAWL_HANDLER(on_place_order, order_state, place_order);

IDLE_TIMEOUT_HANDLER(on_payment, order_state);

static pawl_code on_parts(pawl_context *ctx, const part *messages, size_t count)
{
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_parts, part);

static pawl_code on_lines(pawl_context *ctx, const line *messages, size_t count)
{
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_lines, line);

static const pawl_saga order_saga =
    SAGA_OF("Order", order_state, "order_id",
            {.handle = PAWL_HANDLE(on_place_order), .key = "order_id", .starts = true},
            {.handle = PAWL_HANDLE(on_payment), .timeout = "payment"});
static const pawl_aggregator parts = {
    .name = "Parts", .handle = PAWL_HANDLE(on_parts), .size = 50, .max = 50};
static const pawl_aggregator lines_of = {
    .name = "Lines", .handle = PAWL_HANDLE(on_lines), .period = PAWL_HOURS(1), .max = 50};

static const pawl_endpoint_spec orders     = {.name = "orders", .sagas = PAWL_SAGAS(&order_saga)};
static const pawl_endpoint_spec packing    = {.name        = "packing",
                                              .aggregators = PAWL_AGGREGATORS(&parts)};
static const pawl_projection    pings      = {.name = "Pings",
                                              .on   = PAWL_ON({.handle = PAWL_HANDLE(on_ping)})};
static const pawl_projection    all_pings  = {.name = "AllPings",
                                              .on   = PAWL_ON({.handle = PAWL_HANDLE(on_ping)})};
static const pawl_endpoint_spec reading    = {.name        = "reading",
                                              .projections = PAWL_PROJECTIONS(&pings)};
static const pawl_endpoint_spec everything = {.name        = "everything",
                                              .sagas       = PAWL_SAGAS(&order_saga),
                                              .aggregators = PAWL_AGGREGATORS(&parts, &lines_of),
                                              .projections = PAWL_PROJECTIONS(&all_pings)};
static const pawl_application   application =
    APPLICATION("idle", &plain, &orders, &packing, &reading, &everything);

/* ---- Counting ---------------------------------------------------------------- */

static atomic_llong sent_count;

/* The driver's calls come here, since the program is searched first. */
#define REAL(name) ((__typeof__(&name))real_function(#name))

static void (*real_function(const char *name))(void)
{
    union {
        void *object;
        void (*function)(void);
    } found = {.object = dlsym(RTLD_NEXT, name)};
    assert_non_null(found.object);
    return found.function;
}

PAWL_API int PQsendQueryPrepared(PGconn *pg, const char *name, int count, const char *const *values,
                                 const int *sizes, const int *formats, int format)
{
    atomic_fetch_add(&sent_count, 1);
    return REAL(PQsendQueryPrepared)(pg, name, count, values, sizes, formats, format);
}

PAWL_API int PQsendQueryParams(PGconn *pg, const char *text, int count, const Oid *types,
                               const char *const *values, const int *sizes, const int *formats,
                               int format)
{
    atomic_fetch_add(&sent_count, 1);
    return REAL(PQsendQueryParams)(pg, text, count, types, values, sizes, formats, format);
}

PAWL_API PGresult *PQexecParams(PGconn *pg, const char *text, int count, const Oid *types,
                                const char *const *values, const int *sizes, const int *formats,
                                int format)
{
    atomic_fetch_add(&sent_count, 1);
    return REAL(PQexecParams)(pg, text, count, types, values, sizes, formats, format);
}

/* ---- A driver whose waits pass in moments ----------------------------------- */

#define SLEEPERS_MAX 16

static pawl_store_ops        outer;
static const pawl_store_ops *inner;
static char                  inner_url[1400];

static pthread_mutex_t mutex    = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static pthread_cond_t  is_moved = PTHREAD_COND_INITIALIZER;
static pawl_clock     *machine;
static pawl_time       limit; /* the clock stops here */
static int             thread_count;
static pawl_time       deadlines[SLEEPERS_MAX];
static int             sleeper_count;

/* When all sleep, the first to wake is due. */
static void move_clock(void)
{
    pawl_time first = PAWL_TIME_MAX;
    for (int i = 0; i < sleeper_count; i++)
        first = deadlines[i] < first ? deadlines[i] : first;
    if (sleeper_count == thread_count)
        pawl_clock_set(machine, first < limit ? first : limit);
    pthread_cond_broadcast(&is_moved);
}

static bool can_read(int fd)
{
    struct pollfd wake = {.fd = fd, .events = POLLIN};
    return poll(&wake, 1, 0) > 0;
}

static void wait_a_moment(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 5000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&is_moved, &mutex, &until);
}

static pawl_code wait_for_clock(pawl_store *store, int64_t microseconds, int wake_fd,
                                pawl_error *error)
{
    pawl_time before = pawl_clock_now(machine);
    pawl_code code   = inner->wait(store, 1, wake_fd, error);
    if (code != PAWL_OK)
        return code;
    pthread_mutex_lock(&mutex);
    pawl_time deadline         = pawl_time_add(before, microseconds);
    deadlines[sleeper_count++] = deadline;
    move_clock();
    while (pawl_clock_now(machine) < deadline && !can_read(wake_fd))
        wait_a_moment();
    for (int i = 0; i < sleeper_count; i++)
        if (deadlines[i] == deadline) {
            deadlines[i] = deadlines[--sleeper_count];
            break;
        }
    pthread_mutex_unlock(&mutex);
    return PAWL_OK;
}

static pawl_code open_inner(pawl_store *store, const char *url, const pawl_store_options *options,
                            pawl_error *error)
{
    return inner->open(store, inner_url, options, error);
}

static void use_driver(const char *url)
{
    static bool is_registered;
    pawl_store *store = NULL;
    snprintf(inner_url, sizeof inner_url, "%s", url);
    if (is_registered)
        return;
    must(pawl_store_open(url, NULL, &store, world_error()));
    inner = store->ops;
    pawl_store_close(store);
    outer        = *inner;
    outer.scheme = "idle";
    outer.open   = open_inner;
    outer.wait   = wait_for_clock;
    must(pawl_store_register(&outer, world_error()));
    is_registered = true;
}

/* ---- What an idle endpoint costs ---------------------------------------------- */

typedef struct idle_case {
    const char *endpoint;
    int         workers;
    bool        has_route;
    double      count_max;   /* statements a minute */
    int         keeping_max; /* of those that keep leases */
} idle_case;

/* The clock stands at `time`, and all threads sleep. */
static void idle_until(pawl_time time)
{
    patience left = patience_of(HOUR_SECONDS);
    bool     is_there;
    pthread_mutex_lock(&mutex);
    limit = time;
    move_clock();
    pthread_mutex_unlock(&mutex);
    for (;;) {
        pthread_mutex_lock(&mutex);
        is_there = pawl_clock_now(machine) == limit && sleeper_count == thread_count;
        for (int j = 0; j < sleeper_count; j++)
            is_there &= deadlines[j] > limit;
        pthread_mutex_unlock(&mutex);
        if (is_there)
            return;
        patience_wait(&left, "the endpoint does not come to rest");
    }
}

static int64_t count_of(fixture *p, const char *condition)
{
    return raw_number(
        p->pg, test_text("select coalesce(sum(s.calls), 0) from public.pg_stat_statements as s "
                         "join pg_roles as r on r.oid = s.userid where r.rolname = '%s' and %s",
                         p->schema, condition));
}

static void show_statements(fixture *p)
{
    PGresult *result;
    result = PQexec(
        p->pg,
        test_text("select s.calls, left(regexp_replace(s.query, '\\s+', ' ', 'g'), 150) "
                  "from public.pg_stat_statements as s join pg_roles as r on r.oid = s.userid "
                  "where r.rolname = '%s' order by 1 desc limit 25",
                  p->schema));
    for (int i = 0; i < PQntuples(result); i++)
        print_message("%8s  %s\n", PQgetvalue(result, i, 0), PQgetvalue(result, i, 1));
    PQclear(result);
}

typedef struct counts {
    int64_t sent;    /* by the driver */
    int64_t seen;    /* by the server: begin and the like are missing */
    int64_t keeping; /* of those seen: what keeps leases */
    int64_t gone;    /* how often the server forgot statements */
} counts;

static counts count_all(fixture *p)
{
    return (counts){.sent    = atomic_load(&sent_count),
                    .seen    = count_of(p, "true"),
                    .keeping = count_of(p, "s.query like '%_leases\" as l%'"),
                    .gone =
                        raw_number(p->pg, "select dealloc from public.pg_stat_statements_info")};
}

/* Of an hour, after six minutes in which all comes to rest. */
static counts measure(fixture *p)
{
    counts    first, last;
    pawl_time begin = pawl_clock_now(machine) + PAWL_MINUTES(6);
    do {
        idle_until(begin);
        first = count_all(p);
        idle_until(begin + PAWL_MINUTES(MINUTES));
        last = count_all(p);
        begin += PAWL_MINUTES(MINUTES);
    } while (last.gone != first.gone); /* statements that it forgot are missing */
    return (counts){.sent    = last.sent - first.sent,
                    .seen    = last.seen - first.seen,
                    .keeping = last.keeping - first.keeping};
}

static void make_role(fixture *p)
{
    raw_run(p->pg, "create extension if not exists pg_stat_statements schema public");
    raw_run(p->pg, test_text("create role %s superuser", p->schema));
    /* A server that does not track statements tracks these: where it keeps those of others,
     * too, it forgets some of them all the time. */
    snprintf(p->url + strlen(p->url), sizeof p->url - strlen(p->url),
             "&options=-c%%20role%%3D%s%%20-c%%20pg_stat_statements.track%%3Dtop", p->schema);
}

static void drop_role(fixture *p)
{
    raw_run(p->pg, test_text("drop owned by %s cascade; drop role %s", p->schema, p->schema));
}

/* Marks and messages for later lie there, as they do in real tables. */
static void fill_tables(fixture *p)
{
    raw_run(p->pg, "insert into pawl_inbox (\"Endpoint\", \"MessageId\", \"Outcome\", \"At\") "
                   "select 'orders', gen_random_uuid()::text, 'handled', now() "
                   "from generate_series(1, 1000)");
    raw_run(p->pg, "select pawl_send(q, 'ping', '{}', due => now() + interval '1 day') "
                   "from unnest(array['plain', 'orders', 'packing', 'everything']) as q");
}

static void idle_within_budget(fixture *p, const idle_case *it)
{
    const pawl_route routes[] = {{.name = "abroad", .url = "memory:abroad"}, {.name = NULL}};
    make_role(p);
    world_make_tables(p->url, &application);
    fill_tables(p);
    use_driver(p->url);
    machine          = pawl_clock_create(pawl_clock_now(NULL));
    limit            = pawl_clock_now(machine);
    thread_count     = it->workers + 1;
    sleeper_count    = 0;
    runner *endpoint = runner_begin(
        &application, it->endpoint, "idle:store",
        (pawl_endpoint_options){
            .workers = it->workers, .machine = machine, .routes = it->has_route ? routes : NULL});
    counts hour  = measure(p);
    double count = (double)(hour.sent - hour.keeping) / MINUTES;
    print_message("%s, %d workers%s: %.1f a minute, and %.1f for the lease\n", it->endpoint,
                  it->workers, it->has_route ? ", a route" : "", count,
                  (double)hour.keeping / MINUTES);
    if (count > it->count_max)
        show_statements(p);
    test_now(endpoint);
    pawl_clock_destroy(machine);
    drop_role(p);
    assert_true(hour.seen > MINUTES && hour.seen <= hour.sent);
    assert_true(count <= it->count_max);
    assert_true(count <= BUDGET * (it->workers + 1));
    assert_true(hour.keeping <= it->keeping_max * MINUTES);
}

ON_FIXTURE(a_plain_endpoint_is_idle, fixture *p)
{
    idle_within_budget(p, &(idle_case){"plain", 1, false, 7, 0});
}

ON_FIXTURE(four_workers_are_idle, fixture *p)
{
    idle_within_budget(p, &(idle_case){"plain", 4, false, 14, 0});
}

ON_FIXTURE(an_endpoint_with_timeouts_is_idle, fixture *p)
{
    idle_within_budget(p, &(idle_case){"orders", 1, false, 13, 0});
}

ON_FIXTURE(an_endpoint_with_an_aggregator_is_idle, fixture *p)
{
    idle_within_budget(p, &(idle_case){"packing", 1, false, 13, 0});
}

ON_FIXTURE(an_endpoint_with_a_route_is_idle, fixture *p)
{
    idle_within_budget(p, &(idle_case){"plain", 1, true, 10, 9});
}

ON_FIXTURE(an_endpoint_with_a_projection_is_idle, fixture *p)
{
    idle_within_budget(p, &(idle_case){"reading", 1, false, 17, 4});
}

ON_FIXTURE(an_endpoint_with_everything_is_idle, fixture *p)
{
    idle_within_budget(p, &(idle_case){"everything", 4, true, 48, 13});
}

#endif
