/* wait.c - news by polling: a wait checks whether rows came, after pauses of 20 ms that grow to 1 s while
 * none do, and returns after one second at most, since what others change in place (a retry, a
 * timeout that is set anew) shows in no number.
 *
 * A check is one statement of four numbers, each the end of a primary key. The numbers are remembered
 * from one wait to the next: a commit between a claim that found nothing and the wait is not missed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define PAUSE_MS_MIN 20
#define PAUSE_MS_MAX 1000

typedef struct news {
    int64_t numbers[PAWL__MYSQL_NEWS_COUNT];
} news;

static pawl_code check(pawl__mysql *store, bool *is_news, pawl_error *error)
{
    static const pawl__sql_field  numbers[] = {{offsetof(news, numbers[0]), PAWL__WIRE_INT},
                                               {offsetof(news, numbers[1]), PAWL__WIRE_INT},
                                               {offsetof(news, numbers[2]), PAWL__WIRE_INT},
                                               {offsetof(news, numbers[3]), PAWL__WIRE_INT}};
    static const pawl__sql_fields columns   = PAWL__SQL_LIST(numbers);
    const pawl__sql_asked         asked     = {PAWL__MYSQL_NEWS, NULL, NULL, &columns, 0};
    news                          found     = {{0}};
    pawl_code code = pawl__sql_read_first(&store->sql.base, &asked, NULL, &found, error);
    for (size_t i = 0; code == PAWL_OK && i < PAWL__MYSQL_NEWS_COUNT; i++)
        if (found.numbers[i] > store->news[i]) {
            store->news[i] = found.numbers[i];
            *is_news       = true;
        }
    return code;
}

/* Until the caller's descriptor, an interrupt, the server's goodbye or the time. A signal ends it as
 * the caller's descriptor does: its handler may have asked to stop. */
static pawl_code pause_for(pawl__mysql *store, int64_t milliseconds, int wake_fd, bool *is_woken,
                           pawl_error *error)
{
    struct pollfd items[3] = {
        {.fd = wake_fd, .events = POLLIN},
        {.fd = atomic_load(&store->interrupt_fd), .events = POLLIN},
        {.fd = (int)mysql_get_socket(store->main.mysql), .events = POLLIN},
    };
    int ready = poll(items, 3, (int)milliseconds);
    *is_woken = items[0].revents != 0 || (ready < 0 && errno == EINTR);
    if (ready < 0 && errno != EINTR)
        return pawl_error_set(error, PAWL_EPERSIST, "%s: cannot wait: %s", store->sql.base.scheme,
                              strerror(errno));
    if (ready > 0 && items[1].revents != 0)
        return pawl_error_set(error, PAWL_EINTERRUPTED, "%s: the wait was interrupted",
                              store->sql.base.scheme);
    if (ready <= 0 || items[2].revents == 0)
        return PAWL_OK;
    store->main.is_lost = true;
    return pawl_error_set(error, PAWL_ELOST, "%s: the server ended the session while it waited",
                          store->sql.base.scheme);
}

static pawl_code begin_wait(pawl__mysql *store, pawl_error *error)
{
    if (store->sql.in_hold)
        return pawl_error_set(error, PAWL_EINVAL, "%s: cannot wait while a hold is open",
                              store->sql.base.scheme);
    if (store->main.in_transaction && store->claim_count == 0)
        pawl__mysql_rollback(&store->main);
    return pawl__mysql_beat(store, false, error);
}

pawl_code pawl__mysql_wait(pawl_store *base, int64_t microseconds, int wake_fd, pawl_error *error)
{
    pawl__mysql *store   = pawl__mysql_of(base);
    bool         is_news = false, is_woken = false;
    pawl_code    code = begin_wait(store, error);
    int64_t      now  = pawl__mysql_clock_ms();
    int64_t      rest = (microseconds + 999) / 1000;
    int64_t      end  = now + (rest < PAUSE_MS_MAX ? rest : PAUSE_MS_MAX);
    while (code == PAWL_OK && now < end) {
        code = check(store, &is_news, error);
        if (is_news || code != PAWL_OK)
            break;
        store->pause_ms = store->pause_ms < PAUSE_MS_MIN ? PAUSE_MS_MIN : store->pause_ms;
        int64_t pause   = store->pause_ms < end - now ? store->pause_ms : end - now;
        code            = pause_for(store, pause, wake_fd, &is_woken, error);
        if (is_woken)
            return code;
        store->pause_ms = store->pause_ms * 2 < PAUSE_MS_MAX ? store->pause_ms * 2 : PAUSE_MS_MAX;
        now             = pawl__mysql_clock_ms();
    }
    if (is_news)
        store->pause_ms = PAUSE_MS_MIN;
    return code;
}

void pawl__mysql_interrupt(pawl_store *base)
{
    const uint64_t one        = 1;
    pawl__mysql   *store      = pawl__mysql_of(base);
    int            descriptor = atomic_load(&store->interrupt_fd);
    /* The descriptor of a child process is its parent's. A counter that is full is readable. */
    if (descriptor >= 0 && store->pid == getpid()) {
        ssize_t written = write(descriptor, &one, sizeof one);
        (void)written;
    }
}
