/* store.c - opening and closing a store handle, schemas, commit.
 *
 * The core keeps its own members before the driver's struct: the process that
 * opened the handle, the random source of ids, and a copy of the
 * prefix.
 *
 *     | own part | pawl_store | what the driver adds |
 *                ^ the handle
 *
 * This is the only file below the runtime that draws random numbers from the
 * system: for the worker's id. If two workers had the same id, one could
 * commit under the other's fence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/pawl.h"
#include "pawl/store_driver.h"

#include "base/calm.h"
#include "base/sized.h"
#include "base/text.h"
#include "store/core/call.h"
#include "store/core/core.h"
#include "store/core/kinds.h"
#include "store/core/refusal.h"
#include "store/core/wait.h"

#include <errno.h>
#include <stdalign.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>
#include <unistd.h>

#define DEADLINE_DEFAULT PAWL_SECONDS(30)
#define SYSTEM_PREFIX_DEFAULT "pawl_"

typedef struct own_part {
    pid_t              process; /* a child after fork() may not use the handle */
    pawl_random        random;  /* for ids made by operations; seeded with the worker's id */
    pawl__timing       call;    /* the one that is under way */
    pawl__handle_state state;
    char               system_prefix[PAWL_PREFIX_SIZE_MAX + 1];
    char               scheme[PAWL_PREFIX_SIZE_MAX + 1];
    /* Texts of `self`, which every worker's row has: cut to the size of a name column. */
    char             host[PAWL_NAME_SIZE_MAX + 1];
    char             program[PAWL_NAME_SIZE_MAX + 1];
    char             program_version[PAWL_NAME_SIZE_MAX + 1];
    pawl_worker_info self; /* the program's part of the worker's row */
    alignas(max_align_t) char store[];
} own_part;

static own_part *own_of(pawl_store *store)
{
    return (own_part *)(void *)((char *)store - offsetof(own_part, store));
}

/* ---- The program ---------------------------------------------------------- */

/* Changes characters that no name column accepts, instead of refusing to open: a host or version may have
 * any name. */
static pawl_text keep_name(char kept[PAWL_NAME_SIZE_MAX + 1], pawl_text given)
{
    bool   is_cut = given.size > PAWL_NAME_SIZE_MAX;
    size_t size   = is_cut ? PAWL_NAME_SIZE_MAX : given.size;
    if (size > 0)
        memcpy(kept, given.data, size);
    kept[size] = '\0';
    pawl__calm_line(kept, size);
    if (is_cut)
        pawl__text_end_cut(kept, PAWL_NAME_SIZE_MAX + 1);
    return pawl_text_of(kept);
}

void pawl_store_program_set(pawl_store *store, pawl_text program, pawl_text version)
{
    own_part *own             = own_of(store);
    own->self.program         = keep_name(own->program, program);
    own->self.program_version = keep_name(own->program_version, version);
}

const pawl_worker_info *pawl_store_program(const pawl_store *store)
{
    return &own_of((pawl_store *)(uintptr_t)store)->self;
}

static void name_host(pawl_store *store)
{
    own_part *own       = own_of(store);
    char      host[256] = ""; /* stays empty if the system has no name */
    (void)gethostname(host, sizeof host - 1);
    own->self.host         = keep_name(own->host, pawl_text_of(host));
    own->self.pawl_version = PAWL_TEXT(PAWL_VERSION);
    pawl_store_program_set(store, PAWL_TEXT(""), PAWL_TEXT(""));
}

/* ---- Opening ------------------------------------------------------------ */

static pawl_code draw_worker_id(pawl_worker_id *worker, pawl_error *error)
{
    uint8_t random[16];
    ssize_t size;
    do
        size = getrandom(random, sizeof random, 0);
    while (size < 0 && errno == EINTR);
    if (size != (ssize_t)sizeof random)
        return pawl_error_set(error, PAWL_EPERSIST,
                              "worker id: the system gives no random numbers: %s", strerror(errno));
    worker->uuid = pawl_uuid_v4(random);
    return PAWL_OK;
}

/* Seeded with the worker's id, which is unique. */
static void seed_ids(pawl_random *random, pawl_worker_id worker)
{
    uint64_t seed = 0;
    for (size_t i = 0; i < sizeof worker.uuid.bytes; i++)
        seed = (seed << 8 | seed >> 56) ^ worker.uuid.bytes[i];
    pawl_random_seed(random, seed);
}

pawl_uuid pawl__store_new_id(pawl_store *store, pawl_time now)
{
    return pawl_uuid_v7(&own_of(store)->random, now);
}

static pawl_code check_prefix(const char *prefix, pawl_error *error)
{
    size_t size = strlen(prefix);
    if (size > PAWL_PREFIX_SIZE_MAX)
        return pawl_error_set(error, PAWL_ECONFIG, "system prefix: it has %zu bytes, limit %d",
                              size, PAWL_PREFIX_SIZE_MAX);
    for (size_t i = 0; i < size; i++) {
        char c = prefix[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_'))
            return pawl_error_set(error, PAWL_ECONFIG,
                                  "system prefix '%s': it may hold letters, digits and '_' only",
                                  prefix);
    }
    return PAWL_OK;
}

/* The options for the driver, with defaults filled in. */
static pawl_code settle_options(const pawl_store_options *given, pawl_store_options *options,
                                pawl_error *error)
{
    *options       = (pawl_store_options)PAWL_STORE_OPTIONS_INIT;
    pawl_code code = pawl__sized_read(given, options, sizeof *options, "options of a store",
                                      "PAWL_STORE_OPTIONS_INIT", error);
    if (code != PAWL_OK)
        return code;
    if ((unsigned)options->mode > PAWL_OPEN_SCHEMA)
        return pawl_error_set(error, PAWL_EINVAL, "options of a store: mode %d is unknown",
                              (int)options->mode);
    if (options->deadline < 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "options of a store: deadline is %lld, at least 0 is needed",
                              (long long)options->deadline);
    if (options->handler_time_max < 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "options of a store: handler_time_max is %lld, at least 0 is needed",
                              (long long)options->handler_time_max);
    if (options->deadline == 0)
        options->deadline = DEADLINE_DEFAULT;
    if (options->system_prefix == NULL)
        options->system_prefix = SYSTEM_PREFIX_DEFAULT;
    return check_prefix(options->system_prefix, error);
}

/* A broker's URL is no store: it belongs into a route or --transport. */
static bool is_of_broker(const char *url)
{
    size_t size = pawl__url_scheme_size(url);
    return (size == strlen("amqp") || size == strlen("amqps")) && memcmp(url, "amqps", size) == 0;
}

/* Finds the driver and makes a handle that is not opened yet. */
static pawl_code make_handle(const char *url, const pawl_store_options *options, pawl_store **store,
                             pawl_error *error)
{
    const pawl_store_ops *ops  = NULL;
    size_t                size = url != NULL ? strlen(url) : 0;
    if (size > PAWL_URL_SIZE_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "URL of a store: it has %zu bytes, limit %d",
                              size, PAWL_URL_SIZE_MAX);
    pawl_code code = pawl__driver_find(url, &ops, error);
    if (code != PAWL_OK && is_of_broker(url))
        return pawl_error_set(
            error, PAWL_EINVAL,
            "'%.*s://' is not a store: RabbitMQ is a transport, for a route (--route) or a queue "
            "that an endpoint reads (--transport)",
            (int)pawl__url_scheme_size(url), url);
    if (code != PAWL_OK)
        return code;
    own_part *own = pawl_allocate(sizeof *own + ops->store_size);
    if (own == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "opening a store: out of memory");
    pawl_store *made = (pawl_store *)(void *)own->store;
    own->process     = getpid();
    memcpy(own->system_prefix, options->system_prefix, strlen(options->system_prefix) + 1);
    memcpy(own->scheme, url, pawl__url_scheme_size(url));
    made->scheme        = own->scheme;
    made->ops           = ops;
    made->system_prefix = own->system_prefix;
    made->mode          = options->mode;
    made->deadline_ms   = options->deadline / 1000 + (options->deadline % 1000 != 0);
    code                = draw_worker_id(&made->worker, error);
    if (code != PAWL_OK) {
        pawl_free(own);
        return code;
    }
    seed_ids(&own->random, made->worker);
    name_host(made);
    *store = made;
    return PAWL_OK;
}

pawl_code pawl_store_open(const char *url, const pawl_store_options *options, pawl_store **store,
                          pawl_error *error)
{
    pawl_store_options settled;
    *store           = NULL;
    pawl_store *made = NULL;
    pawl_code   code = settle_options(options, &settled, error);
    if (code == PAWL_OK)
        code = make_handle(url, &settled, &made, error);
    if (code != PAWL_OK)
        return code;
    code = pawl__refuse_offsets(made, settled.tables, settled.table_count, error);
    if (code == PAWL_OK)
        code = made->ops->open(made, url, &settled, error);
    if (code != PAWL_OK) {
        pawl_store_close(made);
        return code;
    }
    *store = made;
    return PAWL_OK;
}

int64_t pawl__store_deadline_ms(const pawl_store *store)
{
    return store->deadline_ms;
}

void pawl_store_close(pawl_store *store)
{
    if (store == NULL)
        return;
    store->ops->close(store);
    pawl_free(own_of(store));
}

pawl__timing *pawl__store_timing_of(pawl_store *store)
{
    return &own_of(store)->call;
}

pawl__handle_state *pawl__store_state_of(pawl_store *store)
{
    return &own_of(store)->state;
}

bool pawl__store_call_is_ours(const pawl_store *store)
{
    return own_of((pawl_store *)(uintptr_t)store)->process == getpid();
}

pawl_code pawl__store_call_check(pawl_store *store, const char *name, pawl_error *error)
{
    if (!pawl__store_call_is_ours(store))
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s: the store was opened in process %ld, this is process %ld; "
                              "fork first, then open one",
                              name, (long)own_of(store)->process, (long)getpid());
    if (store->mode == PAWL_OPEN_SCHEMA)
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s: the store was opened for its schema alone (PAWL_OPEN_SCHEMA)",
                              name);
    return PAWL_OK;
}

pawl_code pawl__store_call_ready(pawl_store *store, const char *name, pawl_error *error)
{
    pawl_code code = pawl__store_call_check(store, name, error);
    return code == PAWL_OK && store->ops->ready != NULL ? store->ops->ready(store, error) : code;
}

/* ---- Schema ------------------------------------------------------------- */

pawl_code pawl_store_schema(const char *url, pawl_schema_verb verb, const pawl_schema_spec *spec,
                            pawl_line_fn *line, void *context, pawl_error *error)
{
    static const pawl_schema_spec none;
    const pawl_schema_spec       *given   = spec != NULL ? spec : &none;
    pawl_store_options            options = {
                   .options_size  = sizeof options,
                   .mode          = PAWL_OPEN_SCHEMA,
                   .system_prefix = given->system_prefix,
                   .tables        = given->tables,
                   .table_count   = given->table_count,
                   .deadline      = given->deadline,
    };
    pawl_store_options settled;
    pawl_store        *store = NULL;
    if ((unsigned)verb > PAWL_SCHEMA_PLAN)
        return pawl_error_set(error, PAWL_EINVAL, "schema of a store: verb %d is unknown",
                              (int)verb);
    pawl_code code = settle_options(&options, &settled, error);
    if (code == PAWL_OK)
        code = make_handle(url, &settled, &store, error);
    if (code != PAWL_OK)
        return code;
    pawl_schema_spec whole = *given;
    whole.system_prefix    = settled.system_prefix;

    bool is_connected = verb != PAWL_SCHEMA_PRINT;
    code              = pawl__refuse_offsets(store, settled.tables, settled.table_count, error);
    if (code != PAWL_OK) {
        pawl_free(own_of(store));
        return code;
    }
    if (is_connected)
        code = store->ops->open(store, url, &settled, error);
    if (code == PAWL_OK)
        code = store->ops->schema(store, verb, &whole, line, context, error);
    if (is_connected)
        store->ops->close(store);
    pawl_free(own_of(store));
    return code;
}

/* ---- Commit ------------------------------------------------------------- */

/* Does the set release a claim or a lease, or change a due time? */
static bool gives_back(const pawl_changes *changes)
{
    bool is_given = pawl__changes_free_leases(changes);
    for (size_t i = 0; i < changes->queue_settle.count; i++)
        is_given |= changes->queue_settle.items[i].action != PAWL_QUEUE_DONE;
    for (size_t i = 0; i < changes->outbox_block.count; i++)
        is_given |= changes->outbox_block.items[i].is_unblock;
    return is_given;
}

/* Could another worker of this process have new work after this commit? */
static bool brings_new_work(const pawl_changes *changes)
{
    if (changes->queue_send.count + changes->timeout_set.count + changes->outbox_add.count +
            changes->outbox_reset.count + changes->aggregator_add.count +
            changes->subscription_set.count !=
        0)
        return true;
    return gives_back(changes);
}

static pawl_code open_implied(pawl_store *store, pawl_time now, pawl_error *error)
{
    pawl_code code = pawl_store_worker_open(store, PAWL_TEXT(""), PAWL_TEXT("[]"), now, error);
    if (code == PAWL_OK)
        pawl__store_state_of(store)->is_implied = true;
    return code;
}

/* A sender's or operator's handle never claims: it gets a worker with its first
 * write. */
pawl_code pawl__store_attach(pawl_store *store, pawl_time now, pawl_error *error)
{
    if (store->is_attached || store->epoch != 0)
        return PAWL_OK;
    return open_implied(store, now, error);
}

bool pawl__store_attach_again(pawl_store *store, pawl_time now, pawl_code *code, pawl_error *error)
{
    if (*code != PAWL_EFENCED || !pawl__store_state_of(store)->is_implied)
        return false;
    *code = open_implied(store, now, error);
    return *code == PAWL_OK;
}

/* Unique within the worker: the counter continues when the epoch is raised. */
static pawl_uuid next_commit_id(pawl_store *store)
{
    uint64_t  parts[2] = {(uint64_t)store->epoch, ++store->commit_count};
    pawl_uuid id;
    for (size_t i = 0; i < sizeof id.bytes; i++)
        id.bytes[i] = (uint8_t)(parts[i / 8] >> (56 - 8 * (i % 8)));
    return id;
}

/* A send is refused only where it must be new. */
static bool has_refusable(const pawl_changes *changes)
{
    size_t count = 0;
#define COUNT(name, is_refusable) count += (is_refusable) ? changes->name.count : 0;
    PAWL_CHANGE_KINDS(COUNT)
#undef COUNT
    for (size_t i = 0; i < changes->queue_send.count; i++)
        count -= !changes->queue_send.items[i].is_new;
    return count != 0;
}

/* Resolves PAWL_EUNKNOWN into one of the two answers, if the store can be asked. Even if the commit was
 * applied, it may have left out groups that could be refused. */
static pawl_code settle_unknown(pawl_store *store, const pawl_changes *changes,
                                pawl_refusals *refused, pawl_error *error)
{
    bool       is_applied = false;
    pawl_error why        = PAWL_ERROR_INIT;
    pawl_code  code       = pawl_store_resolve(store, changes->commit_id, &is_applied, &why);
    if (code != PAWL_OK)
        return pawl_error_set(error, PAWL_EUNKNOWN,
                              "commit: the outcome is unknown and the store cannot be queried: %s",
                              why.text);
    if (!is_applied)
        return pawl_error_wrap(error, PAWL_ELOST, "commit: nothing was applied");
    if ((store->ops->promises & PAWL_STORE_KNOWS_REFUSED) != 0)
        return PAWL_OK;
    refused->count = 0;
    if (!has_refusable(changes))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EUNKNOWN,
                          "commit: its answer was lost; it was applied, but the driver cannot say "
                          "which changes it refused");
}

/* Callers index their own arrays by the unit and group of a refusal, so each must name a change of the set. A
 * driver that breaks this has applied the other groups, which nobody can name any more. */
static pawl_code check_refusals(const pawl_store *store, const pawl_changes *changes,
                                const pawl_refusals *refused, pawl_error *error)
{
    for (size_t i = 0; i < refused->count; i++) {
        const pawl_refusal *refusal = &refused->items[i];
        if (!pawl__changes_has(changes, refusal->kind, refusal->unit, refusal->group))
            return pawl_error_set(
                error, PAWL_EUNKNOWN,
                "commit: driver '%s' refused a change that is not in the set: %s (kind %d) of unit "
                "%u in group %u; the set has %u units and %u groups",
                store->scheme, pawl_change_kind_name(refusal->kind), (int)refusal->kind,
                refusal->unit, refusal->group, changes->unit_count, changes->group_count);
    }
    return PAWL_OK;
}

static pawl_code commit_checked(pawl_store *store, pawl_changes *changes, pawl_refusals *refused,
                                pawl_error *error)
{
    changes->commit_id = next_commit_id(store);
    pawl_code code     = store->ops->commit(store, changes, refused, error);
    if (code == PAWL_EUNKNOWN)
        code = settle_unknown(store, changes, refused, error);
    if (code == PAWL_OK)
        code = check_refusals(store, changes, refused, error);
    if (code != PAWL_OK)
        refused->count = 0;
    if (code == PAWL_OK && brings_new_work(changes))
        pawl__wake_all(store->identity);
    if (code == PAWL_OK && changes->event_append.count != 0)
        pawl__wake_readers(store->identity);
    if (error != NULL && code != PAWL_OK)
        error->code = code;
    return code;
}

/* Without a list for refusals the first one becomes the error. */
static pawl_code commit_strictly(pawl_store *store, pawl_changes *changes, pawl_error *error)
{
    pawl_refusals refused = {.arena = pawl_arena_create(1024)};
    if (refused.arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "commit: out of memory");
    pawl_code code = commit_checked(store, changes, &refused, error);
    if (code == PAWL_OK && refused.count != 0)
        code = pawl_error_set(error, refused.items[0].reason, "%.*s",
                              PAWL_TEXT_ARGS(refused.items[0].text));
    pawl_arena_destroy(refused.arena);
    return code;
}

static pawl_code commit_once(pawl_store *store, pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    return refused != NULL ? commit_checked(store, changes, refused, error)
                           : commit_strictly(store, changes, error);
}

/* If the worker was fenced, it is opened again. Only a set without claims and without a handler's SQL is then committed
 * again here; the others lost their claims or transaction with the worker, and the caller begins again. */
static pawl_code commit(pawl_store *store, pawl_changes *changes, pawl_refusals *refused,
                        pawl_error *error)
{
    /* Empties the list first: a set that never reaches the driver must not show old refusals. */
    if (refused != NULL)
        refused->count = 0;
    pawl_code code = pawl__store_call_ready(store, "commit", error);
    if (code == PAWL_OK)
        code = pawl_changes_check(changes, error);
    if (code == PAWL_OK)
        code = pawl__store_attach(store, changes->now, error);
    if (code != PAWL_OK) {
        pawl_store_handler_transaction_end(store); /* the driver, who ends it, is not asked */
        return code;
    }
    pawl__handle_state *state    = pawl__store_state_of(store);
    bool                is_whole = !state->has_own_sql && changes->queue_settle.count == 0;
    state->has_own_sql           = false;
    code                         = commit_once(store, changes, refused, error);
    if (pawl__store_attach_again(store, changes->now, &code, error))
        code = is_whole ? commit_once(store, changes, refused, error) : PAWL_EFENCED;
    return code;
}

pawl_code pawl_store_commit(pawl_store *store, pawl_changes *changes, pawl_refusals *refused,
                            pawl_error *error)
{
    pawl__timing call = pawl__timing_begin("commit");
    return pawl__timing_end(call, store, commit(store, changes, refused, error), error);
}
