/* server.c - news by polling: a wait checks whether rows came, after pauses of 20 ms that grow to 1 s while
 * none do, and returns after one second at most, since what others change in place (a retry, a
 * timeout that is set anew) shows in no number.
 *
 * A check is one statement of four numbers, each the end of a primary key. The numbers are remembered
 * from one wait to the next: a commit between a claim that found nothing and the wait is not missed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/server.h"

#include "store/sql/operations.h"
#include "store/sql/row_statements.h"
#include "store/sql/worker.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_MS_MIN 20
#define PAUSE_MS_MAX 1000
#define BEAT_MS 5000
#define TRIES_MAX 20

int64_t pawl__sql_clock_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- The handle ---------------------------------------------------------- */

pawl_code pawl__sql_server_open(pawl_store *store, pawl__sql_server *server, pawl_error *error)
{
    ((pawl__sql_store *)store)->server = server;
    server->pid                        = getpid();
    atomic_store(&server->interrupt_fd, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (atomic_load(&server->interrupt_fd) >= 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EPERSIST, "%s: no descriptor: %s", store->scheme,
                          strerror(errno));
}

bool pawl__sql_server_is_ours(const pawl__sql_server *server)
{
    return server->pid == getpid();
}

void pawl__sql_server_close(pawl__sql_server *server)
{
    int descriptor = atomic_exchange(&server->interrupt_fd, -1);
    if (descriptor >= 0 && pawl__sql_server_is_ours(server))
        (void)close(descriptor);
}

/* ---- Interrupts ---------------------------------------------------------- */

void pawl__sql_server_calm(const pawl__sql_server *server)
{
    uint64_t count;
    while (read(atomic_load(&server->interrupt_fd), &count, sizeof count) > 0) {
    }
}

void pawl__sql_interrupt(pawl_store *store)
{
    const uint64_t          one        = 1;
    const pawl__sql_server *server     = ((pawl__sql_store *)store)->server;
    int                     descriptor = atomic_load(&server->interrupt_fd);
    /* The descriptor of a child process is its parent's. A counter that is full is readable. */
    if (descriptor >= 0 && pawl__sql_server_is_ours(server)) {
        ssize_t written = write(descriptor, &one, sizeof one);
        (void)written;
    }
}

/* A signal ends it as the caller's descriptor does: its handler may have asked to stop. */
pawl_code pawl__sql_server_pause(pawl_store *store, int64_t milliseconds, int wake_fd,
                                 int session_fd, bool *is_woken, pawl_error *error)
{
    const pawl__sql_server *server   = ((pawl__sql_store *)store)->server;
    struct pollfd           items[3] = {
                  {.fd = wake_fd, .events = POLLIN},
                  {.fd = atomic_load(&server->interrupt_fd), .events = POLLIN},
                  {.fd = session_fd, .events = POLLIN},
    };
    int ready = poll(items, 3, (int)milliseconds);
    *is_woken = items[0].revents != 0 || (ready < 0 && errno == EINTR);
    if (ready < 0 && errno != EINTR)
        return pawl_error_set(error, PAWL_EPERSIST, "%s: cannot wait: %s", store->scheme,
                              strerror(errno));
    if (ready > 0 && items[1].revents != 0)
        return pawl_error_set(error, PAWL_EINTERRUPTED, "%s: the wait was interrupted",
                              store->scheme);
    if (ready <= 0 || items[2].revents == 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ELOST, "%s: the server ended the session while it waited",
                          store->scheme);
}

/* ---- Heartbeats ---------------------------------------------------------- */

/* The claims of a worker that died with its session are rows, which nobody else would free. */
static pawl_code free_dead(pawl_store *store, pawl_error *error)
{
    pawl_code code = pawl__sql_stamp_begin(store, error);
    if (code == PAWL_OK)
        code = pawl__sql_stamp_end(store, pawl__sql_free_dead(store, error), error);
    return code == PAWL_EBUSY ? PAWL_OK : code; /* another worker does the same */
}

/* Says that the worker lives, where no lock does and the last time is long ago. */
static pawl_code beat(pawl_store *store, pawl__sql_server *server, pawl_error *error)
{
    const pawl__sql_asked asked  = {PAWL__SQL_WORKER_BEAT, &pawl__one_uuid, &store->worker.uuid,
                                    NULL, 0};
    int64_t               now_ms = pawl__sql_clock_ms();
    if (!server->beats || !store->is_attached || now_ms - server->beat_ms < BEAT_MS)
        return PAWL_OK;
    server->beat_ms = now_ms;
    pawl_code code  = pawl__sql_read_first(store, &asked, NULL, NULL, error);
    return code == PAWL_OK && server->frees_dead ? free_dead(store, error) : code;
}

/* ---- Waiting ------------------------------------------------------------- */

typedef struct news {
    int64_t numbers[PAWL__SQL_NEWS_COUNT];
} news;

static pawl_code check(pawl_store *store, pawl__sql_server *server, bool *is_news,
                       pawl_error *error)
{
    static const pawl__field numbers[] = {
        PAWL__AS_OF(news, numbers[0], INT), PAWL__AS_OF(news, numbers[1], INT),
        PAWL__AS_OF(news, numbers[2], INT), PAWL__AS_OF(news, numbers[3], INT)};
    static const pawl__field_list columns = PAWL__FIELD_ARRAY(numbers);
    const pawl__sql_asked         asked   = {PAWL__SQL_NEWS, NULL, NULL, &columns, 0};
    news                          found   = {{0}};
    pawl_code                     code = pawl__sql_read_first(store, &asked, NULL, &found, error);
    for (size_t i = 0; code == PAWL_OK && i < PAWL__SQL_NEWS_COUNT; i++)
        if (found.numbers[i] > server->news[i]) {
            server->news[i] = found.numbers[i];
            *is_news        = true;
        }
    return code;
}

static pawl_code begin_wait(pawl_store *store, pawl__sql_server *server, pawl_error *error)
{
    const pawl__sql_ops *ops = pawl__sql_ops_of(store);
    if (((pawl__sql_store *)store)->in_hold)
        return pawl_error_set(error, PAWL_EINVAL, "%s: cannot wait while a hold is open",
                              store->scheme);
    if (ops->rest != NULL)
        ops->rest(store);
    return beat(store, server, error);
}

pawl_code pawl__sql_wait(pawl_store *store, int64_t microseconds, int wake_fd, pawl_error *error)
{
    pawl__sql_server *server  = ((pawl__sql_store *)store)->server;
    bool              is_news = false, is_woken = false;
    pawl_code         code = begin_wait(store, server, error);
    int64_t           now  = pawl__sql_clock_ms();
    int64_t           rest = (microseconds + 999) / 1000;
    int64_t           end  = now + (rest < PAUSE_MS_MAX ? rest : PAUSE_MS_MAX);
    while (code == PAWL_OK && now < end) {
        code = check(store, server, &is_news, error);
        if (is_news || code != PAWL_OK)
            break;
        server->pause_ms = server->pause_ms < PAUSE_MS_MIN ? PAUSE_MS_MIN : server->pause_ms;
        int64_t pause    = server->pause_ms < end - now ? server->pause_ms : end - now;
        code             = pawl__sql_server_pause(store, pause, wake_fd,
                                                  pawl__sql_ops_of(store)->session_fd(store), &is_woken, error);
        if (is_woken)
            return code;
        server->pause_ms =
            server->pause_ms * 2 < PAUSE_MS_MAX ? server->pause_ms * 2 : PAUSE_MS_MAX;
        now = pawl__sql_clock_ms();
    }
    if (is_news)
        server->pause_ms = PAUSE_MS_MIN;
    return code;
}

/* ---- Again --------------------------------------------------------------- */

/* Within a hold the handler's own statements were undone, too, which nobody can do again here. */
pawl__sql_tries pawl__sql_tries_begin(pawl_store *store)
{
    const pawl__sql_store *own = (const pawl__sql_store *)store;
    if (own->server == NULL || own->in_hold)
        return (pawl__sql_tries){.store = NULL};
    return (pawl__sql_tries){.store = store, .begun_ms = pawl__sql_clock_ms()};
}

/* A deadlock is told to one of its transactions, and a cluster tells it to whoever changed what another
 * node had changed: it is undone, and done again at once. A wait for a lock that took the
 * whole deadline is none of these. */
bool pawl__sql_again(pawl__sql_tries *tries, pawl_code code)
{
    return code == PAWL_EBUSY && tries->store != NULL &&
           pawl__sql_clock_ms() - tries->begun_ms < tries->store->deadline_ms &&
           ++tries->count < TRIES_MAX;
}
