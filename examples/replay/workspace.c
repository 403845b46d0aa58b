/* workspace.c - the work folder, the stores and the tables of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "workspace.h"

#include "pawl/inbound.h"
#include "pawl/loop.h"
#include "support/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char  *copy = pawl_allocate(size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

char *replay_workspace_join(const char *first, const char *second, const char *third)
{
    size_t size = strlen(first) + strlen(second) + strlen(third) + 1;
    char  *text = pawl_allocate(size);
    if (text != NULL)
        snprintf(text, size, "%s%s%s", first, second, third);
    return text;
}

/* ---- The run's name -------------------------------------------------------- */

static pawl_code name_run(const replay_options *options, replay_workspace *workspace,
                          pawl_error *error)
{
    uint32_t drawn;
    if (options->run != NULL) {
        if (strlen(options->run) != REPLAY_RUN_SIZE ||
            strspn(options->run, "0123456789abcdef") != REPLAY_RUN_SIZE)
            return pawl_error_set(error, PAWL_EINVAL,
                                  "--run: '%s' is not the name of a run: expected 8 of 0-9 and a-f",
                                  options->run);
        memcpy(workspace->run, options->run, REPLAY_RUN_SIZE + 1);
    } else if (getrandom(&drawn, sizeof drawn, 0) == (ssize_t)sizeof drawn) {
        snprintf(workspace->run, sizeof workspace->run, "%08x", (unsigned)drawn);
    } else {
        return pawl_error_set(error, PAWL_EPERSIST, "the system gives no random numbers: %s",
                              strerror(errno));
    }
    snprintf(workspace->system_prefix, sizeof workspace->system_prefix, "replay_%s_",
             workspace->run);
    return PAWL_OK;
}

/* ---- The work folder ------------------------------------------------------- */

static pawl_code make_folder(replay_workspace *workspace, pawl_error *error)
{
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] == '\0')
        parent = "/tmp";
    char *name = replay_workspace_join(parent, "/pawl-replay-", "XXXXXX");
    if (name == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    if (mkdtemp(name) == NULL) {
        pawl_error_set(error, PAWL_EUNREACHABLE, "%s: the work folder cannot be made: %s", name,
                       strerror(errno));
        pawl_free(name);
        return PAWL_EUNREACHABLE;
    }
    workspace->folder = name;
    return PAWL_OK;
}

static pawl_code use_folder(const char *work, pawl_error *error)
{
    struct stat state;
    if (mkdir(work, 0777) != 0 && errno != EEXIST)
        return pawl_error_set(error, PAWL_EUNREACHABLE, "%s: the work folder cannot be made: %s",
                              work, strerror(errno));
    if (stat(work, &state) != 0 || !S_ISDIR(state.st_mode))
        return pawl_error_set(error, PAWL_EUNREACHABLE, "%s: the work folder is not a folder",
                              work);
    return PAWL_OK;
}

/* Removes the stores' files; a folder with other files stays. */
static void remove_folder(const char *folder)
{
    DIR *list = opendir(folder);
    if (list == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        if (strncmp(entry->d_name, "replay.db", 9) == 0 ||
            strncmp(entry->d_name, "archive.db", 10) == 0)
            unlinkat(dirfd(list), entry->d_name, 0);
    closedir(list);
    rmdir(folder);
}

static char *url_of(const char *given, const char *folder, const char *file)
{
    if (given != NULL)
        return copy_text(given);
    char *path = replay_workspace_join(folder, "/", file);
    char *url  = path != NULL ? replay_workspace_join("sqlite:", path, "") : NULL;
    pawl_free(path);
    return url;
}

pawl_code replay_workspace_init(const replay_options *options, replay_workspace *workspace,
                                pawl_error *error)
{
    *workspace     = (replay_workspace){.folder = NULL};
    pawl_code code = name_run(options, workspace, error);
    if (code == PAWL_OK && (options->store == NULL || options->archive == NULL))
        code = options->work != NULL ? use_folder(options->work, error)
                                     : make_folder(workspace, error);
    if (code != PAWL_OK)
        return code;
    const char *folder = options->work != NULL ? options->work : workspace->folder;
    workspace->store   = url_of(options->store, folder, "replay.db");
    workspace->archive = url_of(options->archive, folder, "archive.db");
    if (workspace->store == NULL || workspace->archive == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    workspace->is_one_store = strcmp(workspace->store, workspace->archive) == 0;
    return PAWL_OK;
}

void replay_workspace_clear(replay_workspace *workspace, bool is_kept)
{
    if (workspace->folder != NULL && !is_kept)
        remove_folder(workspace->folder);
    pawl_free(workspace->folder);
    pawl_free(workspace->store);
    pawl_free(workspace->archive);
    *workspace = (replay_workspace){.folder = NULL};
}

/* ---- The tables ------------------------------------------------------------ */

/* Runs a schema verb for the tables of one endpoint. */
static pawl_code run_schema(const replay_workspace *workspace, pawl_schema_verb verb,
                            const char *endpoint, const char *url, pawl_error *error)
{
    replay_application            made;
    const pawl_saga_table *const *tables = NULL;
    size_t                        count  = 0;
    pawl_arena                   *arena  = pawl_arena_create(0);
    if (arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    replay_application_make(REPLAY_BATCH_DEFAULT, &made);
    pawl_code code = pawl_endpoint_tables(&made.application, endpoint, workspace->system_prefix,
                                          arena, &tables, &count, error);
    if (code == PAWL_OK) {
        pawl_schema_spec spec = {
            .system_prefix = workspace->system_prefix, .tables = tables, .table_count = count};
        code = example_store_schema(url, verb, &spec, error);
    }
    pawl_arena_destroy(arena);
    return code;
}

/* Refuses a store with pawl tables of a newer version, since this program cannot tell what they mean. */
static pawl_code check_version(const char *url, int64_t deadline, pawl_error *error)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    pawl_error         detail  = PAWL_ERROR_INIT;
    if (strncmp(url, "memory:", 7) == 0)
        return PAWL_OK;
    options.mode     = PAWL_OPEN_EXISTING;
    options.deadline = deadline;
    pawl_code code   = pawl_store_open(url, &options, &store, &detail);
    pawl_store_close(store);
    /* other errors are left to the run itself */
    if (code != PAWL_ESCHEMA || strstr(detail.text, "newer") == NULL)
        return PAWL_OK;
    pawl_error_set(error, code, "%s", detail.text);
    return example_store_wrap(url, code, error);
}

/* For files the kernel tells whether a process still uses them, and memory ends with its process, so there is no wait
 * for a killed process. */
static bool end_is_visible_at_once(const char *url)
{
    return strncmp(url, "memory:", strlen("memory:")) == 0 ||
           strncmp(url, "sqlite:", strlen("sqlite:")) == 0;
}

/* Whether the store can be reached, and whether this program must create the tables: a memory store or a file gets
 * them when it is opened, a server before the first process that may be killed starts. */
static pawl_code check_store(const char *url, int64_t deadline, bool *needs_tables,
                             pawl_error *error)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    options.mode               = PAWL_OPEN_SCHEMA;
    options.deadline           = deadline;
    pawl_code code             = check_version(url, deadline, error);
    if (code != PAWL_OK)
        return code;
    code = pawl_store_open(url, &options, &store, error);
    if (code != PAWL_OK)
        return example_store_wrap(url, code, error);
    *needs_tables = !end_is_visible_at_once(url);
    pawl_store_close(store);
    return PAWL_OK;
}

/* ---- The queue of a broker ------------------------------------------------- */

void replay_workspace_queue(const replay_workspace *workspace, char name[REPLAY_QUEUE_SIZE])
{
    snprintf(name, REPLAY_QUEUE_SIZE, "replay_%s", workspace->run);
}

pawl_code replay_workspace_remove_queue(const replay_workspace *workspace,
                                        const replay_options *options, pawl_error *error)
{
    char                    name[REPLAY_QUEUE_SIZE];
    const pawl_inbound_ops *ops  = NULL;
    pawl_code               code = pawl_inbound_find(options->transport, &ops, error);
    pawl_inbound_options    how  = {.options_size = sizeof how, .queue = name, .prefetch = 1};
    if (code != PAWL_OK || ops->remove == NULL)
        return code;
    pawl_inbound *inbound = pawl_allocate(ops->inbound_size);
    if (inbound == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    replay_workspace_queue(workspace, name);
    inbound->ops = ops;
    code         = ops->open(inbound, options->transport, &how, error);
    if (code == PAWL_OK)
        code = ops->remove(inbound, error);
    ops->close(inbound);
    pawl_free(inbound);
    return code;
}

pawl_code replay_workspace_prepare(const replay_workspace *workspace, const replay_options *options,
                                   bool *is_reached, pawl_error *error)
{
    bool      store_needs = false, archive_needs = false;
    pawl_code code = check_store(workspace->store, options->deadline, &store_needs, error);
    if (code == PAWL_OK)
        code = check_store(workspace->archive, options->deadline, &archive_needs, error);
    if (code == PAWL_OK && store_needs)
        code = run_schema(workspace, PAWL_SCHEMA_APPLY, REPLAY_ENDPOINT, workspace->store, error);
    if (code == PAWL_OK && archive_needs)
        code = run_schema(workspace, PAWL_SCHEMA_APPLY, REPLAY_ARCHIVE, workspace->archive, error);
    /* reports an unreachable broker before anything runs */
    if (code == PAWL_OK && options->transport != NULL && options->run == NULL)
        code = replay_workspace_remove_queue(workspace, options, error);
    *is_reached = code == PAWL_OK && store_needs && archive_needs;
    return code;
}

static pawl_code count_workers(const replay_workspace *workspace, const char *url, int64_t deadline,
                               size_t *count, pawl_error *error)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    pawl_worker_info  *workers = NULL;
    size_t             found   = 0;
    if (end_is_visible_at_once(url))
        return PAWL_OK;
    pawl_arena *arena = pawl_arena_create(0);
    if (arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    options.mode          = PAWL_OPEN_EXISTING;
    options.system_prefix = workspace->system_prefix;
    options.deadline      = deadline;
    pawl_code code        = pawl_store_open(url, &options, &store, error);
    if (code == PAWL_OK)
        code = pawl_store_worker_list(store, arena, &workers, &found, error);
    *count += found;
    pawl_store_close(store);
    pawl_arena_destroy(arena);
    return code;
}

pawl_code replay_workspace_count_workers(const replay_workspace *workspace,
                                         const replay_options *options, size_t *count,
                                         pawl_error *error)
{
    *count         = 0;
    pawl_code code = count_workers(workspace, workspace->store, options->deadline, count, error);
    if (code == PAWL_OK)
        code = count_workers(workspace, workspace->archive, options->deadline, count, error);
    return code;
}

pawl_code replay_workspace_drop(const replay_workspace *workspace, pawl_error *error)
{
    pawl_code code =
        run_schema(workspace, PAWL_SCHEMA_DROP, REPLAY_ENDPOINT, workspace->store, error);
    if (code == PAWL_OK)
        code = run_schema(workspace, PAWL_SCHEMA_DROP, REPLAY_ARCHIVE, workspace->archive, error);
    return code;
}

/* False only if the store certainly does not have them. */
static bool may_hold_tables(const replay_workspace *workspace, const char *url, int64_t deadline)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    options.mode               = PAWL_OPEN_EXISTING;
    options.system_prefix      = workspace->system_prefix;
    options.deadline           = deadline;
    pawl_code code             = pawl_store_open(url, &options, &store, NULL);
    pawl_store_close(store);
    return code != PAWL_ESCHEMA && code != PAWL_EUNREACHABLE && code != PAWL_ENOTSTORE &&
           code != PAWL_EDENIED;
}

bool replay_workspace_is_begun(const replay_workspace *workspace, const replay_options *options)
{
    pawl_error error = PAWL_ERROR_INIT;
    if (!may_hold_tables(workspace, workspace->store, options->deadline))
        return false;
    if (may_hold_tables(workspace, workspace->archive, options->deadline))
        return true;
    run_schema(workspace, PAWL_SCHEMA_DROP, REPLAY_ENDPOINT, workspace->store, &error);
    return false;
}
