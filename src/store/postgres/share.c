/* share.c - the sessions of a share, and waiting without a session; see share.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/share.h"

#include "store/core/wait.h"
#include "store/sql/operations.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define SET_MS 1000 /* a larger jump: the wall clock was set */

static pthread_mutex_t        shares_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct pawl__pg_share *shares;

/* ---- Sessions ----------------------------------------------------------- */

/* Has the server ended the session while no handle used it? */
static bool is_over(pawl__pg_connection *connection)
{
    struct pollfd socket = {.fd = PQsocket(connection->pg), .events = POLLIN};
    while (poll(&socket, 1, 0) > 0) /* the server's message comes before the end of the stream */
        if (PQconsumeInput(connection->pg) == 0 || PQstatus(connection->pg) == CONNECTION_BAD)
            return true;
    return false;
}

static pawl__pg_connection *pop(pawl__pg *store)
{
    struct pawl__pg_share *share = store->member.share;
    pthread_mutex_lock(&share->mutex);
    pawl__pg_connection *found = share->idle;
    memcpy(store->channel, share->channel, sizeof store->channel);
    if (found != NULL) {
        share->idle = found->next_idle;
        share->idle_count--;
    }
    pthread_mutex_unlock(&share->mutex);
    return found;
}

/* Opens a session with an advisory lock of its own. The lock tells which session to end if its handle has lost it
 * and the server has not noticed. */
static pawl_code open_session(pawl__pg *store, pawl__pg_connection *connection, pawl_error *error)
{
    struct pawl__pg_share *share = store->member.share;
    pawl_code              code  = pawl__pg_connect_directly(store, connection, error);
    if (code != PAWL_OK)
        return code;
    pthread_mutex_lock(&share->mutex);
    int64_t number = pawl__sql_worker_number(store->sql.base.worker.uuid) ^ ++share->sessions;
    memcpy(share->channel, store->channel, sizeof share->channel);
    pthread_mutex_unlock(&share->mutex);
    code = pawl__pg_session_lock(connection, number, error);
    if (code == PAWL_OK)
        connection->session_number = number;
    else
        pawl__pg_disconnect(connection);
    return code;
}

static pawl_code take(pawl__pg *store, pawl__pg_connection *connection, pawl_error *error)
{
    pawl__pg_connection *found;
    while ((found = pop(store)) != NULL && is_over(found)) {
        pawl__pg_disconnect(found);
        pawl_free(found);
    }
    if (found == NULL)
        return open_session(store, connection, error);
    *connection = *found;
    pawl_free(found);
    pawl__pg_adopt(store, connection);
    connection->is_unconfirmed = false;
    return PAWL_OK;
}

/* Ends the session that the handle has lost: it may still exist on the server, with the row locks of its claims. */
pawl_code pawl__pg_share_take(pawl__pg *store, pawl__pg_connection *connection, pawl_error *error)
{
    int64_t number = connection->session_number;
    pawl__pg_disconnect(connection);
    pawl_code code = take(store, connection, error);
    if (code == PAWL_OK && number != 0)
        pawl__pg_end_session(connection, number);
    if (code != PAWL_OK) /* for the next try */
        connection->session_number = number;
    if (code == PAWL_OK && connection == &store->main) {
        store->ahead.transaction = 0;
        atomic_store(&store->member.session, connection->session_number);
    }
    return code;
}

/* Puts the session into the share. The handle keeps one with an open transaction or a failure, and one on which a
 * handler ran its own SQL, which may have left settings and temporary tables. */
static void give_back(pawl__pg *store, pawl__pg_connection *connection)
{
    struct pawl__pg_share *share = store->member.share;
    if (connection->pg == NULL || connection->is_lost || connection->is_read_only ||
        connection->in_transaction || !connection->is_pipelined || connection->sent_count != 0 ||
        connection->failed != PAWL_OK || connection->is_handlers)
        return;
    for (unsigned i = 0; i < PAWL__PG_PLAIN_MAX; i++)
        pawl__pg_end(&connection->plain[i]);
    pawl__pg_connection *idle = pawl_allocate(sizeof *idle);
    if (connection == &store->main) /* before another handle takes it */
        atomic_store(&store->member.session, 0);
    pthread_mutex_lock(&share->mutex);
    bool is_kept = idle != NULL && share->idle_count < store->member.session_max;
    if (is_kept) {
        *idle           = *connection;
        idle->next_idle = share->idle;
        share->idle     = idle;
        share->idle_count++;
        memset(connection, 0, sizeof *connection);
    }
    pthread_mutex_unlock(&share->mutex);
    if (!is_kept) {
        pawl__pg_disconnect(connection);
        pawl_free(idle);
    }
}

/* ---- Waiting ------------------------------------------------------------ */

/* The keeper takes the sleeper's locks, and checks once more: a commit from before the locks sent no NOTIFY. */
static pawl_code begin_sleep(pawl__pg *store, pawl_error *error)
{
    struct pawl__pg_share *share = store->member.share;
    pawl_code              code  = pawl__pg_keeper_enter(share, error);
    if (code == PAWL_OK) {
        pawl__pg_list_sleep_locks(store);
        code = pawl__pg_sleep_locks(store, &share->keeper.main, PAWL__PG_LISTEN_LOCKS, error);
        store->sleeps      = code == PAWL_OK;
        store->busy_claims = 0;
    }
    if (code == PAWL_OK)
        code = pawl__pg_check(store, &share->keeper.main, error);
    pawl__pg_keeper_leave(share);
    return code;
}

/* The time by which the wall clock is ahead of the monotonic clock. */
static int64_t clock_offset_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - pawl__clock_ms();
}

/* Polls until the end, a wake-up, or a jump of the wall clock, which decides what is due. */
static pawl_code sleep_until(pawl__pg *store, int64_t end_ms, int64_t offset, int wake_fd,
                             pawl_error *error)
{
    struct pollfd list[3] = {{.fd = wake_fd, .events = POLLIN},
                             {.fd = atomic_load(&store->wait.interrupt_fd), .events = POLLIN},
                             {.fd = store->member.fd, .events = POLLIN}};
    int64_t       moved   = 0;
    int           ready   = 0;
    for (int64_t rest = 1; ready == 0 && rest > 0 && moved > -SET_MS && moved < SET_MS;) {
        rest = end_ms - pawl__clock_ms();
        if (rest > 0)
            ready = poll(list, 3, rest < PAWL__PG_CHECK_MS ? (int)rest : PAWL__PG_CHECK_MS);
        moved = clock_offset_ms() - offset;
    }
    if (ready < 0 && errno != EINTR)
        return pawl_error_set(error, PAWL_EPERSIST, "postgres: cannot wait: %s", strerror(errno));
    if (list[1].revents != 0)
        return pawl_error_set(error, PAWL_EINTERRUPTED, "postgres: the wait was interrupted");
    store->is_woken |= list[0].revents != 0;
    return PAWL_OK;
}

static void take_wake(pawl__pg *store)
{
    store->is_woken |= store->member.is_woken;
    store->member.is_woken = false;
}

/* Without the keeper's session waits are short, and handles do not try to connect it: each would wait for all
 * earlier tries. */
pawl_code pawl__pg_share_wait(pawl__pg *store, int64_t microseconds, int wake_fd, pawl_error *error)
{
    struct pawl__pg_share *share = store->member.share;
    int64_t   end_ms  = pawl__clock_ms() + pawl__pg_slice_of(store, (microseconds + 999) / 1000);
    int64_t   offset  = clock_offset_ms(); /* before the first check of what is due */
    bool      sleeps  = pawl__pg_has_topics(store);
    bool      is_deaf = sleeps && atomic_load(&share->is_away);
    pawl_code code    = PAWL_OK;
    eventfd_t count;
    (void)pawl__wait_take(&store->wait); /* drops an interrupt from before the call */
    give_back(store, &store->main);
    give_back(store, &store->side);
    if (microseconds <= 0)
        return PAWL_OK;
    if (sleeps && !store->sleeps && !is_deaf)
        code = begin_sleep(store, error);
    pthread_mutex_lock(&share->mutex);
    take_wake(store);
    bool is_over = code != PAWL_OK || store->is_woken || store->has_events;
    if (is_deaf && end_ms > pawl__clock_ms() + PAWL__PG_AWAY_MS_MAX)
        end_ms = pawl__clock_ms() + PAWL__PG_AWAY_MS_MAX;
    store->member.is_waiting = !is_over;
    pthread_mutex_unlock(&share->mutex);
    if (!is_over)
        code = sleep_until(store, end_ms, offset, wake_fd, error);
    pthread_mutex_lock(&share->mutex);
    take_wake(store);
    store->member.is_waiting = false;
    (void)eventfd_read(store->member.fd, &count);
    pthread_mutex_unlock(&share->mutex);
    return code;
}

/* ---- The share ---------------------------------------------------------- */

static void share_destroy(struct pawl__pg_share *share)
{
    pawl__pg_disconnect(&share->keeper.main);
    pawl__pg_close_idle(share);
    pawl__wait_close(&share->keeper.wait);
    if (share->kick_fd >= 0)
        close(share->kick_fd);
    pawl_free(share->keeper.given);
    pawl_free(share->keeper.conninfo);
    pthread_mutex_destroy(&share->keeper_mutex);
    pthread_mutex_destroy(&share->mutex);
    pawl_free(share);
}

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char  *made = pawl_allocate(size);
    return made != NULL ? memcpy(made, text, size) : NULL;
}

static struct pawl__pg_share *share_create(const pawl__pg *store)
{
    struct pawl__pg_share *share = pawl_allocate(sizeof *share);
    if (share == NULL)
        return NULL;
    pawl__pg *keeper = &share->keeper;
    pthread_mutex_init(&share->keeper_mutex, NULL);
    pthread_mutex_init(&share->mutex, NULL);
    (void)snprintf(share->prefix, sizeof share->prefix, "%s", store->sql.base.system_prefix);
    (void)snprintf(keeper->schema, sizeof keeper->schema, "%s", store->schema);
    keeper->sql.ops                = store->sql.ops;
    keeper->sql.base.ops           = store->sql.base.ops;
    keeper->sql.base.system_prefix = share->prefix;
    keeper->sql.base.deadline_ms   = store->sql.base.deadline_ms < PAWL__PG_AWAY_MS_MAX
                                         ? store->sql.base.deadline_ms
                                         : PAWL__PG_AWAY_MS_MAX;
    keeper->last_now               = PAWL_TIME_MIN;
    keeper->idle_ms                = store->idle_ms;
    keeper->member.session_max     = store->member.session_max;
    keeper->given                  = copy(store->given);
    keeper->conninfo               = copy(store->conninfo);
    share->kick_fd                 = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (keeper->given != NULL && keeper->conninfo != NULL && share->kick_fd >= 0 &&
        pawl__wait_open(&keeper->wait, "postgres", NULL) == PAWL_OK)
        return share;
    share_destroy(share);
    return NULL;
}

static bool is_for(const struct pawl__pg_share *share, const pawl__pg *store)
{
    const pawl__pg *keeper = &share->keeper;
    return keeper->wait.pid == store->wait.pid && keeper->idle_ms == store->idle_ms &&
           keeper->member.session_max == store->member.session_max &&
           strcmp(keeper->conninfo, store->conninfo) == 0 &&
           strcmp(keeper->schema, store->schema) == 0 &&
           strcmp(share->prefix, store->sql.base.system_prefix) == 0;
}

pawl_code pawl__pg_share_join(pawl__pg *store, pawl_error *error)
{
    store->member.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (store->member.fd < 0)
        return pawl_error_set(error, PAWL_EPERSIST, "postgres: no descriptor: %s", strerror(errno));
    pthread_mutex_lock(&shares_mutex);
    struct pawl__pg_share *share = shares;
    while (share != NULL && !is_for(share, store))
        share = share->next;
    if (share == NULL && (share = share_create(store)) != NULL) {
        share->next = shares;
        shares      = share;
    }
    if (share != NULL) {
        share->handles++;
        pthread_mutex_lock(&share->mutex);
        store->member.share = share;
        store->member.next  = share->members;
        share->members      = store;
        pthread_mutex_unlock(&share->mutex);
    }
    pthread_mutex_unlock(&shares_mutex);
    if (share == NULL)
        close(store->member.fd);
    store->sql.base.waits_long = share != NULL;
    return share != NULL ? PAWL_OK : pawl__pg_no_memory(error);
}

static void leave_members(struct pawl__pg_share *share, const pawl__pg *store)
{
    pthread_mutex_lock(&share->keeper_mutex);
    pthread_mutex_lock(&share->mutex);
    pawl__pg **place = &share->members;
    while (*place != store)
        place = &(*place)->member.next;
    *place = store->member.next;
    pthread_mutex_unlock(&share->mutex);
    pthread_mutex_unlock(&share->keeper_mutex);
}

/* Removes the share from the list if this was its last handle; NULL: it was not. */
static struct pawl__pg_share *end_share(struct pawl__pg_share *share)
{
    pthread_mutex_lock(&shares_mutex);
    bool                    is_last = --share->handles == 0;
    struct pawl__pg_share **place   = &shares;
    while (is_last && *place != share)
        place = &(*place)->next;
    if (is_last)
        *place = share->next;
    pthread_mutex_unlock(&shares_mutex);
    return is_last ? share : NULL;
}

void pawl__pg_share_leave(pawl__pg *store)
{
    struct pawl__pg_share *share = store->member.share;
    if (share == NULL)
        return;
    pawl__pg_share_stop_sleeping(store);
    pawl__pg_share_unlock(store);
    give_back(store, &store->main);
    give_back(store, &store->side);
    leave_members(share, store);
    close(store->member.fd);
    store->member.share = NULL;
    share               = end_share(share);
    if (share == NULL)
        return;
    atomic_store(&share->is_ended, true);
    (void)eventfd_write(share->kick_fd, 1);
    if (share->has_thread)
        pthread_join(share->thread, NULL);
    share_destroy(share);
}
