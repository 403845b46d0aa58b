/* transaction.c - runs, repeats and resolves transactions as MongoDB's driver specification says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/mongo.h"

#include <poll.h>
#include <time.h>

#define PAUSE_MS_MAX 64

static mongoc_transaction_opt_t *make_options(const pawl_store *store)
{
    mongoc_transaction_opt_t *options = mongoc_transaction_opts_new();
    mongoc_read_concern_t    *read    = mongoc_read_concern_new();
    mongoc_write_concern_t   *write   = mongoc_write_concern_new();
    (void)mongoc_read_concern_set_level(read, MONGOC_READ_CONCERN_LEVEL_SNAPSHOT);
    mongoc_write_concern_set_wmajority(write, pawl__mongo_deadline_ms(store));
    mongoc_transaction_opts_set_read_concern(options, read);
    mongoc_transaction_opts_set_write_concern(options, write);
    mongoc_transaction_opts_set_max_commit_time_ms(options, pawl__mongo_deadline_ms(store));
    mongoc_read_concern_destroy(read);
    mongoc_write_concern_destroy(write);
    return options;
}

pawl_code pawl__mongo_transaction_begin(pawl_store *store, pawl_error *error)
{
    pawl__mongo              *self    = pawl__mongo_of(store);
    mongoc_transaction_opt_t *options = make_options(store);
    bson_error_t              why;
    bool is_ok = mongoc_client_session_start_transaction(self->session, options, &why);
    mongoc_transaction_opts_destroy(options);
    if (!is_ok)
        return pawl__mongo_fail(store, &why, NULL, error);
    self->at_session = self->session;
    return PAWL_OK;
}

void pawl__mongo_transaction_abort(pawl_store *store)
{
    pawl__mongo *self          = pawl__mongo_of(store);
    bool         was_transient = self->is_transient;
    if (self->at_session == NULL)
        return;
    self->at_session = NULL;
    if (mongoc_client_session_in_transaction(self->session))
        (void)mongoc_client_session_abort_transaction(self->session, NULL);
    self->is_transient = was_transient;
}

/* Repeats a commit whose result is unknown: the server then returns the result of the first try. */
pawl_code pawl__mongo_transaction_commit(pawl_store *store, pawl_error *error)
{
    pawl__mongo *self         = pawl__mongo_of(store);
    int64_t      begun_ms     = pawl__clock_ms();
    bool         was_in_doubt = false;
    unsigned     tries        = 0;
    pawl_code    code;
    self->at_session = NULL;
    do {
        bson_error_t why;
        bson_t       reply;
        self->is_in_doubt = self->is_transient = false;
        bool is_ok = mongoc_client_session_commit_transaction(self->session, &reply, &why);
        code       = is_ok ? PAWL_OK : pawl__mongo_fail(store, &why, &reply, error);
        bson_destroy(&reply);
        was_in_doubt |= self->is_in_doubt;
    } while (code != PAWL_OK && self->is_in_doubt && ++tries < PAWL__MONGO_TRIES_MAX &&
             pawl__clock_ms() - begun_ms < store->deadline_ms &&
             poll(NULL, 0, tries < PAUSE_MS_MAX ? (int)tries : PAUSE_MS_MAX) == 0);
    self->is_in_doubt = was_in_doubt && code != PAWL_OK;
    if (!self->is_in_doubt)
        return code;
    self->is_transient = false;
    return pawl_error_wrap(error, PAWL_EUNKNOWN, "mongodb: the commit was not answered");
}

/* Pauses differ between processes, by the clock's last digits. Write conflicts are retried until the deadline;
 * duplicates PAWL__MONGO_TRIES_MAX times at most, since a unique index that keeps refusing is no conflict. */
bool pawl__mongo_again(pawl_store *store, pawl_code code, int64_t begun_ms, unsigned *tries)
{
    pawl__mongo    *self = pawl__mongo_of(store);
    struct timespec now;
    if (*tries == 0)
        self->duplicates = 0;
    if (code == PAWL_OK || !(self->is_transient || self->is_duplicate || code == PAWL_EBUSY))
        return false;
    ++*tries;
    self->duplicates += self->is_duplicate;
    if ((self->is_duplicate && self->duplicates >= PAWL__MONGO_TRIES_MAX) ||
        pawl__clock_ms() - begun_ms >= store->deadline_ms)
        return false;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    long pause_ms = now.tv_nsec / 1000 % (*tries < PAUSE_MS_MAX / 4 ? *tries * 4 : PAUSE_MS_MAX);
    (void)poll(NULL, 0, (int)pause_ms);
    return true;
}

static pawl_code try_once(pawl_store *store, pawl__mongo_work *work, void *context,
                          pawl_error *error)
{
    pawl__mongo *self  = pawl__mongo_of(store);
    self->is_transient = self->is_duplicate = self->is_in_doubt = false;
    pawl_code code = pawl__mongo_transaction_begin(store, error);
    if (code == PAWL_OK)
        code = work(store, context, error);
    if (code == PAWL_OK)
        return pawl__mongo_transaction_commit(store, error);
    pawl__mongo_transaction_abort(store);
    return code;
}

/* After an unknown result the work runs again, and must find what the first try did. */
pawl_code pawl__mongo_transact(pawl_store *store, pawl__mongo_work *work, void *context,
                               pawl_error *error)
{
    pawl__mongo *self     = pawl__mongo_of(store);
    int64_t      begun_ms = pawl__clock_ms();
    unsigned     tries    = 0;
    pawl_code    code;
    do {
        code = try_once(store, work, context, error);
        self->is_transient |= code == PAWL_EUNKNOWN;
    } while (pawl__mongo_again(store, code, begun_ms, &tries));
    return code;
}
