/* op_worker.c - records crashes of processes, reported by their supervisors, as events.
 *
 *     note     with the supervisor's id of the process: the first event of the process's stream
 *              without an id: for each dead worker of that pid the first event of the worker's stream
 *     read     the first event of the worker's stream, or of the process's
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include "pawl/store_calls.h"

#include <signal.h>

/* ---- In words ------------------------------------------------------------- */

#define SIGNAL(name) \
    {                \
        name, #name  \
    }
static const struct {
    int         number;
    const char *name;
} signals[] = {
    SIGNAL(SIGABRT), SIGNAL(SIGALRM), SIGNAL(SIGBUS),  SIGNAL(SIGFPE),  SIGNAL(SIGHUP),
    SIGNAL(SIGILL),  SIGNAL(SIGINT),  SIGNAL(SIGKILL), SIGNAL(SIGPIPE), SIGNAL(SIGQUIT),
    SIGNAL(SIGSEGV), SIGNAL(SIGSYS),  SIGNAL(SIGTERM), SIGNAL(SIGTRAP), SIGNAL(SIGUSR1),
    SIGNAL(SIGUSR2), SIGNAL(SIGXCPU), SIGNAL(SIGXFSZ),
};

static const char *signal_name(int number)
{
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (signals[i].number == number)
            return signals[i].name;
    return NULL;
}

pawl_text pawl_worker_crash_text(const pawl_worker_crash *death, pawl_arena *arena)
{
    const char *name  = signal_name(death->signal);
    const char *colon = death->reason.size > 0 ? ": " : "";
    if (death->signal == 0)
        return pawl_arena_printf(arena, "exited with code %d%s%.*s", death->exit_code, colon,
                                 PAWL_TEXT_ARGS(death->reason));
    return pawl_arena_printf(arena, "was killed by signal %d%s%s%s%s%.*s", death->signal,
                             name != NULL ? " (" : "", name != NULL ? name : "",
                             name != NULL ? ")" : "", colon, PAWL_TEXT_ARGS(death->reason));
}

/* ---- Of this process -------------------------------------------------------- */

static const pawl_uuid no_process;
static pawl_uuid       own_process;

void pawl_worker_set_supervised(pawl_uuid process)
{
    own_process = process;
}

pawl_uuid pawl_worker_process(void)
{
    return own_process;
}

/* ---- Noting --------------------------------------------------------------- */

static yyjson_mut_doc *headers_of(const pawl_worker_crash *death, pawl_text text)
{
    yyjson_mut_doc *doc = text.data != NULL ? pawl__texts_begin() : NULL;
    return pawl__texts_kept(doc, doc != NULL && pawl__texts_put(doc, "text", text) &&
                                     pawl__texts_put_number(doc, "pid", death->pid) &&
                                     pawl__texts_put_number(doc, "signal", death->signal) &&
                                     pawl__texts_put_number(doc, "exit_code", death->exit_code));
}

/* Only the first note counts, also if two are written at the same time. */
static pawl_code note_one(pawl_store *store, const pawl_worker_crash *death,
                          const pawl__action *action, pawl_time now, pawl_arena *arena,
                          int64_t *count, pawl_error *error)
{
    pawl_event_append event   = {.version = 0};
    pawl_changes      changes = {PAWL__ONE_UNIT(now)};
    yyjson_mut_doc   *headers = headers_of(death, pawl_worker_crash_text(death, arena));
    pawl_code         code = pawl__action_event(store, action, headers, now, arena, &event, error);
    if (code != PAWL_OK || event.version > 1)
        return code;
    changes.event_append.items = &event;
    changes.event_append.count = 1;
    code                       = pawl_store_commit(store, &changes, NULL, error);
    *count += code == PAWL_OK;
    return code == PAWL_ECONFLICT ? PAWL_OK : code;
}

/* With the process's id no worker's row is needed: it may be gone before the supervisor reports. */
static pawl_code note_process(pawl_store *store, const pawl_worker_crash *death, pawl_time now,
                              pawl_arena *arena, int64_t *count, pawl_error *error)
{
    char id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(death->process, id);
    const pawl__action action = {PAWL_PROCESS_STREAMS, "process", pawl_text_of(id),
                                 PAWL_WORKER_CRASHED,  death->by, death->reason};
    pawl_code          code   = pawl__action_check(&action, error);
    return code == PAWL_OK ? note_one(store, death, &action, now, arena, count, error) : code;
}

static pawl_code note_workers(pawl_store *store, const pawl_worker_crash *death, pawl_time now,
                              pawl_arena *arena, int64_t *count, pawl_error *error)
{
    char              id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_worker_info *items      = NULL;
    size_t            item_count = 0;
    pawl_text         pid        = pawl_arena_printf(arena, "%lld", (long long)death->pid);
    pawl__action      action     = {PAWL_WORKER_STREAMS, "process", pid,
                                    PAWL_WORKER_CRASHED, death->by, death->reason};
    pawl_code         code       = pid.data != NULL ? pawl__action_check(&action, error)
                                                    : pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    if (code == PAWL_OK)
        code = pawl_store_worker_crashed(store, arena, &items, &item_count, error);
    for (size_t i = 0; i < item_count && code == PAWL_OK; i++) {
        if (items[i].pid != death->pid)
            continue;
        pawl_uuid_format(items[i].id.uuid, id);
        action.name = pawl_text_of(id);
        code        = note_one(store, death, &action, now, arena, count, error);
    }
    return code;
}

pawl_code pawl_store_worker_note_crash(pawl_store *store, const pawl_worker_crash *death,
                                       pawl_time now, int64_t *count, pawl_error *error)
{
    pawl_arena *arena = pawl_arena_create(0);
    *count            = 0;
    if (arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    pawl_code code = pawl_uuid_compare(death->process, no_process) != 0
                         ? note_process(store, death, now, arena, count, error)
                         : note_workers(store, death, now, arena, count, error);
    pawl_arena_destroy(arena);
    return code == PAWL_OK
               ? code
               : pawl_error_wrap(error, code, "the crash of process %lld", (long long)death->pid);
}

/* ---- Reading -------------------------------------------------------------- */

static pawl_code read_text(const pawl_event *event, pawl_arena *arena, pawl_text *text,
                           pawl_error *error)
{
    yyjson_doc *headers = pawl__texts_read(event->headers);
    if (headers != NULL)
        *text = pawl__texts_text(yyjson_doc_get_root(headers), "text", arena);
    yyjson_doc_free(headers);
    if (text->data != NULL)
        return PAWL_OK;
    *text = PAWL_TEXT("");
    return pawl_error_set(error, PAWL_EPERSIST, "event %s of a worker has no header 'text'",
                          PAWL_WORKER_CRASHED);
}

static pawl_code read_first(pawl_store *store, const char *streams, pawl_uuid of, pawl_arena *arena,
                            pawl_text *text, pawl_error *error)
{
    const pawl_event_query first = {.count_max = 1};
    char                   id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_event_rows        rows;
    *text = PAWL_TEXT("");
    pawl_uuid_format(of, id);
    pawl_code code =
        pawl__action_query(store, streams, pawl_text_of(id), first, arena, &rows, error);
    if (code != PAWL_OK || rows.count == 0)
        return code;
    return read_text(&rows.items[0].event, arena, text, error);
}

pawl_code pawl_store_worker_crash(pawl_store *store, pawl_worker_id worker, pawl_arena *arena,
                                  pawl_text *text, pawl_error *error)
{
    return read_first(store, PAWL_WORKER_STREAMS, worker.uuid, arena, text, error);
}

pawl_code pawl_store_process_crash(pawl_store *store, pawl_uuid process, pawl_arena *arena,
                                   pawl_text *text, pawl_error *error)
{
    return read_first(store, PAWL_PROCESS_STREAMS, process, arena, text, error);
}
