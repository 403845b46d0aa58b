/* supervisor.c - the parent process of the runners.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "supervisor.h"

#include "application.h"
#include "runner.h"
#include "support/interrupt.h"
#include "support/process.h"
#include "support/store.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 10
#define WINDOW_MAX 1000
#define WINDOW_MIN 10
#define RESERVE_ONE_IN 20
#define AGAIN_ONE_IN 50 /* share of requests that are sent twice */
#define OVERLAP 2000    /* events that are read again, since they commit in any order */
#define STALLED PAWL_SECONDS(2)
#define PATIENCE PAWL_SECONDS(120) /* limit without a settled transfer */

/* ---- Runners ------------------------------------------------------------------- */

static pawl_code start_runner(transfer_supervisor *self, int64_t place, pawl_error *error)
{
    char late[40];
    snprintf(late, sizeof late, "%" PRId64 "ms", self->options->late / 1000);
    char *words[] = {"transfer", "--run", self->run, "--store", (char *)self->options->store,
                     "--late",   late,    NULL};
    pid_t child   = fork();
    if (child == 0)
        example_run_self(words);
    if (child < 0)
        return pawl_error_set(error, PAWL_EPERSIST, "no process for a runner: %s", strerror(errno));
    self->runners[place] = child;
    return PAWL_OK;
}

static int end_runner(transfer_supervisor *self, int64_t place, int number)
{
    int status = 0;
    kill(self->runners[place], number);
    while (waitpid(self->runners[place], &status, 0) < 0 && errno == EINTR)
        continue;
    self->runners[place] = 0;
    return status;
}

static pawl_code name_end(int64_t place, int status, pawl_error *error)
{
    if (WIFSIGNALED(status))
        return pawl_error_set(error, PAWL_EBUG, "runner %" PRId64 " was ended by signal %d",
                              place + 1, WTERMSIG(status));
    return pawl_error_set(error, PAWL_EPERSIST, "runner %" PRId64 " ended with exit code %d",
                          place + 1, WEXITSTATUS(status));
}

/* Fails if a runner has ended by itself. */
static pawl_code check_runners(transfer_supervisor *self, pawl_error *error)
{
    int status;
    for (int64_t i = 0; i < self->options->runners; i++) {
        if (waitpid(self->runners[i], &status, WNOHANG) != self->runners[i])
            continue;
        self->runners[i] = 0;
        pawl_code code   = example_interrupt_check(error);
        return code == PAWL_OK ? name_end(i, status, error) : code;
    }
    return PAWL_OK;
}

/* Did the child end without error? If it was still starting, it had no handler for the signal. */
static bool is_good_end(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGTERM;
}

static pawl_code stop_runners(transfer_supervisor *self, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (int64_t i = 0; i < self->options->runners; i++) {
        int status = end_runner(self, i, SIGTERM);
        if (code == PAWL_OK && !is_good_end(status))
            code = name_end(i, status, error);
    }
    return code;
}

/* ---- Kills --------------------------------------------------------------------- */

static int compare_moments(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return (a > b) - (a < b);
}

/* Number of requests that are kept back until the last kill, so that every kill has work left. */
static size_t reserve(const transfer_supervisor *self)
{
    size_t count = self->plan->transfer_count;
    return self->kills == self->options->kills ? 0 : (count + RESERVE_ONE_IN - 1) / RESERVE_ONE_IN;
}

static pawl_code draw_moments(transfer_supervisor *self, pawl_error *error)
{
    size_t count  = (size_t)self->options->kills;
    self->moments = pawl_allocate((count + 1) * sizeof self->moments[0]);
    if (self->moments == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    size_t last = self->plan->transfer_count - reserve(self);
    if (last < self->settled) /* settled before, by a run that was aborted near its end */
        last = self->settled;
    for (size_t i = 0; i < count; i++)
        self->moments[i] =
            self->settled + (size_t)pawl_random_below(&self->random, last - self->settled + 1);
    qsort(self->moments, count, sizeof self->moments[0], compare_moments);
    return PAWL_OK;
}

/* Kills in turn: the runner with the most messages of one endpoint, of the other, or any. With a file as store one
 * runner may handle all messages of an endpoint. */
static const char *const kill_targets[] = {TRANSFER_TRANSFERS, TRANSFER_ACCOUNTS, NULL};

static pawl_code choose_victim(transfer_supervisor *self, int64_t *place, pawl_error *error)
{
    const char *aim =
        kill_targets[self->kills % (int64_t)(sizeof kill_targets / sizeof kill_targets[0])];
    pawl_worker_info *workers = NULL;
    size_t            count   = 0;
    int64_t           most = 0, handled[TRANSFER_RUNNERS_MAX] = {0};
    pawl_code         code = PAWL_OK;
    *place = (int64_t)pawl_random_below(&self->random, (uint64_t)self->options->runners);
    if (aim != NULL)
        code = pawl_store_worker_list(self->store, self->arena, &workers, &count, error);
    for (size_t i = 0; i < count && code == PAWL_OK; i++)
        for (int64_t r = 0; r < self->options->runners; r++)
            if (workers[i].pid == self->runners[r] &&
                pawl_text_equal(workers[i].endpoint, pawl_text_of(aim)))
                handled[r] += workers[i].counters.messages;
    for (int64_t r = 0; r < self->options->runners && code == PAWL_OK; r++)
        if (handled[r] > most) {
            most   = handled[r];
            *place = r;
        }
    return code;
}

static pawl_code kill_when_due(transfer_supervisor *self, pawl_error *error)
{
    int64_t place;
    if (self->kills == self->options->kills || self->settled < self->moments[self->kills])
        return PAWL_OK;
    pawl_code code = choose_victim(self, &place, error);
    if (code != PAWL_OK)
        return code;
    poll(NULL, 0, (int)pawl_random_below(&self->random, LOOK_MS));
    end_runner(self, place, SIGKILL);
    self->kills++;
    return start_runner(self, place, error);
}

/* ---- What is settled ------------------------------------------------------------- */

static void note_settled(transfer_supervisor *self, const pawl_event_row *row)
{
    int64_t number = row->stream.size > strlen("Transfer/")
                         ? strtoll(row->stream.data + strlen("Transfer/"), NULL, 10)
                         : 0;
    if (row->seq > self->seq)
        self->seq = row->seq;
    if (number < 1 || (size_t)number > self->plan->transfer_count || self->is_settled[number - 1])
        return;
    self->is_settled[number - 1] = true;
    self->settled++;
    self->moved_at = example_monotonic();
}

/* Seqs are assigned before the commit, so each read begins a little earlier; without progress, at the first event. */
static pawl_code look(transfer_supervisor *self, pawl_error *error)
{
    pawl_event_rows  rows;
    pawl_event_query query = {.type  = PAWL_TEXT("pawl.completed"),
                              .after = self->seq > OVERLAP ? self->seq - OVERLAP : 0};
    if (example_monotonic() - self->moved_at > STALLED)
        query.after = 0;
    pawl_code code = pawl_store_events(self->store, &query, self->arena, &rows, error);
    for (size_t i = 0; i < rows.count && code == PAWL_OK; i++)
        note_settled(self, &rows.items[i]);
    if (code == PAWL_OK && example_monotonic() - self->moved_at > PATIENCE)
        return pawl_error_set(
            error, PAWL_ETIMEOUT,
            "run %s: %zu of %zu transfers are settled, and none in the last 120 s", self->run,
            self->settled, self->plan->transfer_count);
    return code;
}

static pawl_code count_opened(transfer_supervisor *self, size_t *count, pawl_error *error)
{
    pawl_event_rows  rows;
    pawl_event_query query = {.type = PAWL_TEXT("account_opened")};
    pawl_code        code  = pawl_store_events(self->store, &query, self->arena, &rows, error);
    *count                 = code == PAWL_OK ? rows.count : 0;
    return code;
}

/* Number of rows that are still to be handled or delivered. */
static pawl_code count_left(transfer_supervisor *self, int64_t *left, pawl_error *error)
{
    pawl_stats stats = PAWL_STATS_INIT;
    pawl_code  code =
        pawl_store_stats(self->store, pawl_clock_now(NULL), self->arena, &stats, error);
    if (code != PAWL_OK)
        return code;
    *left =
        stats.timeouts_due + stats.timeouts_pending + stats.outbox_pending + stats.outbox_blocked;
    for (size_t i = 0; i < stats.queue_count; i++)
        *left += stats.queues[i].ready + stats.queues[i].scheduled;
    return PAWL_OK;
}

/* ---- Asking ---------------------------------------------------------------------- */

/* Repeats the commit while the store is busy; in that case nothing was applied. */
static pawl_code commit(transfer_supervisor *self, pawl_error *error)
{
    pawl_code code;
    do
        code = pawl_sender_commit(self->sender, error);
    while ((code == PAWL_EBUSY || code == PAWL_ETIMEOUT) && !example_interrupted());
    return code;
}

static pawl_code open_accounts(transfer_supervisor *self, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < self->plan->account_count && code == PAWL_OK; i++)
        code = pawl_sender_send(self->sender, TRANSFER_ACCOUNTS, NULL,
                                PAWL_RECORD_OF(open_account)(), &self->plan->accounts[i], error);
    return code == PAWL_OK ? commit(self, error) : code;
}

static pawl_code request(transfer_supervisor *self, size_t place, pawl_error *error)
{
    char              id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .id = id};
    transfer_plan_id(self->plan, (int64_t)place + 1, id);
    return pawl_sender_send(self->sender, TRANSFER_TRANSFERS, &options,
                            PAWL_RECORD_OF(request_transfer)(), &self->plan->transfers[place],
                            error);
}

/* Fills the window when half of it is free. Some requests are sent twice with the same id, as by a sender that did not
 * get the answer. */
static pawl_code request_more(transfer_supervisor *self, pawl_error *error)
{
    size_t    begin = self->sent, end = self->settled + self->window;
    size_t    most = self->plan->transfer_count - reserve(self);
    pawl_code code = PAWL_OK;
    if (begin > self->settled + self->window / 2)
        return PAWL_OK;
    while (code == PAWL_OK && self->sent < end && self->sent < most) {
        code = request(self, self->sent++, error);
        if (code == PAWL_OK && pawl_random_below(&self->random, AGAIN_ONE_IN) == 0)
            code = request(self, (size_t)pawl_random_below(&self->random, self->sent), error);
    }
    return code == PAWL_OK && self->sent > begin ? commit(self, error) : code;
}

/* ---- The whole run --------------------------------------------------------------- */

static pawl_code rest(transfer_supervisor *self, pawl_error *error)
{
    pawl_arena_reset(self->arena);
    poll(NULL, 0, LOOK_MS);
    pawl_code code = example_interrupt_check(error);
    return code == PAWL_OK ? check_runners(self, error) : code;
}

static pawl_code await_accounts(transfer_supervisor *self, pawl_error *error)
{
    size_t    count = 0;
    int64_t   begun = example_monotonic();
    pawl_code code  = count_opened(self, &count, error);
    if (code == PAWL_OK && count == 0)
        code = open_accounts(self, error);
    while (code == PAWL_OK && count < self->plan->account_count) {
        code = rest(self, error);
        if (code == PAWL_OK)
            code = count_opened(self, &count, error);
        if (code == PAWL_OK && example_monotonic() - begun > PATIENCE)
            return pawl_error_set(error, PAWL_ETIMEOUT,
                                  "run %s: %zu of %zu accounts are open after 120 s", self->run,
                                  count, self->plan->account_count);
    }
    return code;
}

static pawl_code settle(transfer_supervisor *self, pawl_error *error)
{
    self->moved_at = example_monotonic();
    pawl_code code = look(self, error);
    if (code == PAWL_OK)
        code = draw_moments(self, error);
    while (code == PAWL_OK && self->settled < self->plan->transfer_count) {
        code = request_more(self, error);
        if (code == PAWL_OK)
            code = rest(self, error);
        if (code == PAWL_OK)
            code = look(self, error);
        if (code == PAWL_OK)
            code = kill_when_due(self, error);
        if (example_progress_begin(&self->progress))
            fprintf(stderr, "%zu of %zu transfers settled, %" PRId64 " of %" PRId64 " kills",
                    self->settled, self->plan->transfer_count, self->kills, self->options->kills);
    }
    return code;
}

/* Waits until duplicate requests are handled, and delivered outbox rows are settled. The report lists those that never
 * are. */
static pawl_code await_rest(transfer_supervisor *self, pawl_error *error)
{
    int64_t   left = 1, begun = example_monotonic();
    pawl_code code = PAWL_OK;
    while (code == PAWL_OK && left > 0 && example_monotonic() - begun < PATIENCE) {
        code = rest(self, error);
        if (code == PAWL_OK)
            code = count_left(self, &left, error);
    }
    return code;
}

pawl_code transfer_supervisor_work(transfer_supervisor *self, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (int64_t i = 0; i < self->options->runners && code == PAWL_OK; i++)
        code = start_runner(self, i, error);
    if (code == PAWL_OK)
        code = await_accounts(self, error);
    int64_t begun = example_monotonic();
    if (code == PAWL_OK)
        code = settle(self, error);
    self->elapsed = example_monotonic() - begun;
    if (code == PAWL_OK)
        code = await_rest(self, error);
    example_progress_clear(&self->progress);
    if (code == PAWL_OK)
        code = stop_runners(self, error);
    return code == PAWL_OK ? code : example_store_wrap(self->options->store, code, error);
}

/* ---- Opening and closing ----------------------------------------------------------- */

static pawl_code name_run(transfer_supervisor *self, pawl_error *error)
{
    uint64_t  drawn;
    pawl_code code = example_seed(0, &drawn, error);
    if (code != PAWL_OK)
        return code;
    snprintf(self->run, sizeof self->run, "%08x", (unsigned)(drawn & 0xFFFFFFFFu));
    const char *given = self->options->check != NULL ? self->options->check : self->options->resume;
    if (given != NULL)
        snprintf(self->run, sizeof self->run, "%s", given);
    snprintf(self->prefix, sizeof self->prefix, TRANSFER_PREFIX_FORMAT, self->run);
    return PAWL_OK;
}

static pawl_code make_tables(const transfer_supervisor *self, pawl_error *error)
{
    const pawl_schema_spec spec = {.system_prefix = self->prefix};
    pawl_code              code = example_store_stays(self->options->store, error);
    if (code != PAWL_OK || self->options->check != NULL || self->options->resume != NULL)
        return code;
    return example_store_schema(self->options->store, PAWL_SCHEMA_APPLY, &spec, error);
}

static pawl_code open_store(transfer_supervisor *self, pawl_error *error)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_EXISTING;
    options.system_prefix      = self->prefix;
    const char *url            = self->options->store;
    pawl_code   code           = pawl_store_open(url, &options, &self->store, error);
    if (code == PAWL_OK && self->options->check == NULL)
        code = pawl_sender_open(url, &options, &self->sender, error);
    return code == PAWL_OK ? code : example_store_wrap(url, code, error);
}

/* Small enough for a good number of transfers between two kills. */
static size_t window_of(const transfer_options *options)
{
    int64_t window = options->transfers / (2 * (options->kills + 1));
    return (size_t)(window < WINDOW_MIN ? WINDOW_MIN : window > WINDOW_MAX ? WINDOW_MAX : window);
}

pawl_code transfer_supervisor_open(transfer_supervisor *self, const transfer_options *options,
                                   const transfer_plan *plan, pawl_error *error)
{
    *self = (transfer_supervisor){.options = options, .plan = plan, .window = window_of(options)};
    pawl_code code = name_run(self, error);
    if (code != PAWL_OK)
        return code;
    pawl_random_seed(&self->random, plan->seed + 1);
    example_progress_init(&self->progress);
    self->arena      = pawl_arena_create(0);
    self->is_settled = pawl_allocate(plan->transfer_count * sizeof self->is_settled[0]);
    if (self->arena == NULL || self->is_settled == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    code = make_tables(self, error);
    return code == PAWL_OK ? open_store(self, error) : code;
}

void transfer_supervisor_close(transfer_supervisor *self, bool is_kept)
{
    const pawl_schema_spec spec       = {.system_prefix = self->prefix};
    pawl_error             error      = PAWL_ERROR_INIT;
    bool                   has_tables = self->store != NULL;
    for (int64_t i = 0; i < self->options->runners; i++)
        if (self->runners[i] != 0)
            end_runner(self, i, SIGKILL);
    pawl_sender_close(self->sender);
    pawl_store_close(self->store);
    pawl_arena_destroy(self->arena);
    pawl_free(self->is_settled);
    pawl_free(self->moments);
    if (has_tables && !is_kept)
        example_store_schema(self->options->store, PAWL_SCHEMA_DROP, &spec, &error);
    if (error.text[0] != '\0')
        example_say("transfer", "%s", error.text);
}
