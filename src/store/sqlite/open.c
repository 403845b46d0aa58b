/* open.c - the URL, the connection and its settings.
 *
 *     sqlite:PATH[?synchronous=full|normal|off&cache_mb=N&log_mb=N&busy_ms=N&create=yes|no]
 *
 * PATH is not decoded; it is absolute, or relative to the working directory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/sqlite.h"

#include "store/core/url_read.h"
#include "store/sql/operations.h"
#include "store/sql/tables.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Page size of a new file. A commit writes each changed page whole, and changed saga rows and dispatch ids are spread
 * randomly, about one to a page. Half of SQLite's default writes 26 % less for the same messages and is a tenth to a
 * sixth faster; with a quarter that gain is lost to the larger number of pages. */
#define PAGE_SIZE_NEW 2048
/* A batch of 256 messages changes hundreds of pages, many of them again in the next batch. A log of 64 MB was measured
 * to give 1.5 times the throughput of SQLite's default of 4 MB; more gained nothing. */
#define LOG_MB_DEFAULT 64
#define LOG_PARTS_KEPT 2 /* times its size: a log that grew larger is cut to that */
#define CACHE_MB_DEFAULT 64
#define ANSWER_SIZE 20    /* of a pragma's answer; a longer one is cut */
#define WAL_TRIES_MAX 500 /* of 10 ms, while another process creates the file */

/* ---- The URL ------------------------------------------------------------ */

static const char *const levels[]  = {"off", "normal", "full", NULL};
static const char *const answers[] = {"no", "yes", NULL};

#define AT(member) offsetof(pawl__sqlite, member)

static const pawl__url_option known[] = {
    {"synchronous", PAWL__URL_WORD, AT(synchronous), "full, normal or off", .words = levels},
    {"cache_mb", PAWL__URL_NUMBER, AT(cache_mb), "0 to 1048576", .min = 0, .max = 1048576},
    {"log_mb", PAWL__URL_NUMBER, AT(log_mb), "1 to 65536", .min = 1, .max = 65536},
    {"busy_ms", PAWL__URL_NUMBER, AT(busy_ms), "0 to 2147483647", .min = 0, .max = INT_MAX},
    {"create", PAWL__URL_WORD, AT(may_make), "yes or no", .words = answers},
};

static const pawl__url_kind kind = {
    .driver = "sqlite", .options = known, .option_count = sizeof known / sizeof known[0]};

static pawl_code read_url(pawl__sqlite *store, const char *url, pawl_error *error)
{
    static const char scheme[] = "sqlite:";
    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return pawl_error_set(error, PAWL_ECONFIG, "sqlite: the URL does not begin with '%s'",
                              scheme);
    const char *path = url + sizeof scheme - 1;
    const char *before =
        strncmp(path, "file:", 5) == 0 ? "./" : ""; /* without it SQLite would read a URI */
    size_t size = strlen(before) + strlen(path) + 1;
    if ((store->given_path = pawl_allocate(size)) == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
    (void)snprintf(store->given_path, size, "%s%s", before, path);
    char *options = strchr(store->given_path, '?');
    if (options != NULL)
        *options++ = '\0';
    if (store->given_path[0] == '\0' || store->given_path[0] == ':')
        return pawl_error_set(error, PAWL_ECONFIG,
                              "sqlite: the path is '%s': a file is needed (memory: is a store "
                              "without one)",
                              store->given_path);
    return pawl__url_options(&kind, NULL, options, store, error);
}

/* ---- The connection ----------------------------------------------------- */

static void is_free(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    pawl__sqlite *store = sqlite3_user_data(context);
    int64_t       seq   = sqlite3_value_int64(values[0]);
    sqlite3_result_int(context, store->claim_table == NULL ||
                                    pawl__claim_table_is_free(store->claim_table, seq));
}

static pawl_code unreachable(const pawl__sqlite *store, const char *why, pawl_error *error)
{
    return pawl_error_set(error, PAWL_EUNREACHABLE, "sqlite: %s: %s", store->given_path, why);
}

static pawl_code identify(pawl__sqlite *store, pawl_error *error)
{
    const char *path = sqlite3_db_filename(store->connection.db, "main");
    struct stat status;
    if (path == NULL || stat(path, &status) != 0)
        return unreachable(store, strerror(errno), error);
    size_t size = strlen(path) + 1;
    char  *copy = pawl_allocate(size);
    if (copy == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
    memcpy(copy, path, size);
    if (store->file == NULL &&
        (store->file = pawl__program_file_enter(status.st_dev, status.st_ino)) == NULL) {
        pawl_free(copy);
        return pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
    }
    pawl_free(store->path);
    store->path   = copy;
    store->device = status.st_dev;
    store->inode  = status.st_ino;
    (void)snprintf(store->sql.base.identity, sizeof store->sql.base.identity, "sqlite:%llu:%llu",
                   (unsigned long long)status.st_dev, (unsigned long long)status.st_ino);
    return PAWL_OK;
}

/* secure_delete overwrites every freed page with zeroes; some distributions switch it on. QPSG keeps plans independent
 * of the parameters' values: otherwise SQLite would prepare a statement that could use a partial index again for each
 * value, which takes longer than running it. */
static pawl_code configure(pawl__sqlite *store, pawl_error *error)
{
    char text[400];
    (void)snprintf(text, sizeof text,
                   "pragma page_size = %d; pragma foreign_keys = on; pragma secure_delete = off; "
                   "pragma synchronous = %s; pragma cache_size = -%lld; "
                   "pragma journal_size_limit = %lld; pragma temp_store = memory; "
                   "pragma recursive_triggers = off",
                   PAGE_SIZE_NEW, levels[store->synchronous], (long long)store->cache_mb * 1024,
                   LOG_PARTS_KEPT * ((long long)store->log_mb << 20));
    (void)sqlite3_db_config(store->connection.db, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
    pawl_code code  = pawl__sql_query(&store->connection.session, text, error);
    int       flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
    int result = sqlite3_create_function_v2(store->connection.db, "pawl_is_free", 1, flags, store,
                                            is_free, NULL, NULL, NULL);
    if (code == PAWL_OK && result != SQLITE_OK)
        code = pawl__sqlite_failed(store->connection.db, result, "", error);
    if (code != PAWL_OK)
        return code;
    /* prepared now, since there may be no memory when it is needed */
    (void)pawl__sql_prepared_of(&store->connection.session, PAWL__SQLITE_TRANSACTION_ROLLBACK, NULL,
                                NULL, &code, error);
    return code;
}

/* Texts must be stored and compared byte for byte, which only UTF-8 guarantees. */
static pawl_code check_encoding(pawl__sqlite *store, pawl_error *error)
{
    char      encoding[ANSWER_SIZE];
    pawl_code code = pawl__sql_ask_text(&store->connection.session, "pragma encoding", encoding,
                                        sizeof encoding, error);
    if (code == PAWL_OK && strcmp(encoding, "UTF-8") != 0)
        code =
            pawl_error_set(error, PAWL_ENOTSTORE, "sqlite: %s: its encoding is %s, must be UTF-8",
                           store->given_path, encoding);
    return code;
}

/* An existing file keeps its page size, so it is read. */
static pawl_code begin_checkpoints(pawl__sqlite *store, pawl_error *error)
{
    char      size[ANSWER_SIZE];
    pawl_code code = pawl__sql_ask_text(&store->connection.session, "pragma page_size", size,
                                        sizeof size, error);
    if (code == PAWL_OK)
        pawl__sqlite_checkpoint_begin(store, atoi(size));
    return code;
}

/* A reconnect uses the resolved path: the process may have changed its working directory. */
static const char *path_of(const pawl__sqlite *store)
{
    return store->path != NULL ? store->path : store->given_path;
}

static pawl_code check_file(pawl__sqlite *store, bool is_made, pawl_error *error)
{
    struct stat status;
    if (stat(path_of(store), &status) != 0) {
        if (errno == ENOENT && is_made)
            return PAWL_OK;
        bool is_new = errno == ENOENT && store->path == NULL;
        return unreachable(store,
                           is_new ? "No such file or directory; pawl schema apply makes it, if the "
                                    "path is right"
                                  : strerror(errno),
                           error);
    }
    if (!S_ISREG(status.st_mode))
        return unreachable(store, "is not a file", error);
    pid_t parent = pawl__program_file_inherited(status.st_dev, status.st_ino);
    if (parent != 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "sqlite: %s: process %ld had it open when this one was forked, which "
                              "leaves SQLite without locks here: fork before it is opened, or exec",
                              store->given_path, (long)parent);
    return PAWL_OK;
}

/* A file that was closed properly has no log beside it, and SQLite creates one even for reading. SQLite's own error
 * speaks of writing. */
static pawl_code refuse_closed(const pawl__sqlite *store, pawl_code code, pawl_error *error)
{
    int why    = sqlite3_errcode(store->connection.db) & 0xFF;
    int reason = sqlite3_system_errno(store->connection.db);
    if ((why != SQLITE_READONLY && why != SQLITE_CANTOPEN) || reason == EMFILE || reason == ENFILE)
        return pawl_error_wrap(error, code, "%s", store->given_path);
    return unreachable(store,
                       "the file or its folder may not be written, which reading needs too: a "
                       "database in WAL mode keeps files beside itself",
                       error);
}

/* SQLite's memory statistics take a process-wide lock on each allocation, so they are switched off. SQLite refuses that
 * if it is in use already, for example by an application that reads the statistics or limits memory. */
static void use_no_memory_count(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

pawl_code pawl__sqlite_connect(pawl__sqlite *store, bool is_made, pawl_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, use_no_memory_count);
    pawl_code code = check_file(store, is_made, error);
    if (code != PAWL_OK)
        return code;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                (is_made ? SQLITE_OPEN_CREATE : 0);
    int result = sqlite3_open_v2(path_of(store), &store->connection.db, flags, NULL);
    if (result != SQLITE_OK) {
        code = pawl__sqlite_failed(store->connection.db, result, store->given_path, error);
        return code == PAWL_EPERSIST || code == PAWL_EDENIED
                   ? pawl_error_set(error, PAWL_EUNREACHABLE, "sqlite: %s: %s", store->given_path,
                                    sqlite3_errstr(result))
                   : code;
    }
    if (is_made && sqlite3_db_readonly(store->connection.db, "main") == 1)
        return unreachable(store, "may not be written", error);
    sqlite3_busy_handler(store->connection.db, pawl__sqlite_busy, store);
    if ((code = configure(store, error)) == PAWL_OK &&
        (code = check_encoding(store, error)) == PAWL_OK &&
        (code = begin_checkpoints(store, error)) == PAWL_OK)
        code = identify(store, error);
    return code == PAWL_OK ? PAWL_OK : refuse_closed(store, code, error);
}

/* The busy handler is not called for the lock that this takes, so it is retried here. */
pawl_code pawl__sqlite_use_wal(pawl__sqlite *store, pawl_error *error)
{
    char      mode[ANSWER_SIZE] = "";
    pawl_code code              = PAWL_EBUSY;
    for (int i = 0; code == PAWL_EBUSY && i < WAL_TRIES_MAX; i++) {
        code = pawl__sql_ask_text(&store->connection.session, "pragma journal_mode = wal", mode,
                                  sizeof mode, error);
        if (code == PAWL_EBUSY)
            (void)nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    if (code == PAWL_OK && strcmp(mode, "wal") != 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "sqlite: %s: the journal mode is '%s', WAL was refused (a network "
                              "file system, or another VFS, cannot hold a store)",
                              store->given_path, mode);
    return code;
}

/* ---- Open and close ----------------------------------------------------- */

static pawl_code open_for_work(pawl__sqlite *store, pawl_open_mode mode,
                               const pawl_store_options *options, pawl_error *error)
{
    bool             is_made = mode == PAWL_OPEN_CREATE;
    pawl__sql_schema schema  = pawl__sqlite_schema_of(store);
    pawl_code        code    = pawl__sqlite_connect(store, is_made, error);
    if (code == PAWL_OK && is_made)
        code = pawl__sqlite_use_wal(store, error);
    if (code == PAWL_OK && is_made)
        code = pawl__sql_schema_make(&schema, options->tables, options->table_count, error);
    else if (code == PAWL_OK)
        code = pawl__sql_schema_check(&schema, options->tables, options->table_count, error);
    if (code == PAWL_OK && mode == PAWL_OPEN_CHECK)
        code = pawl__sqlite_use_wal(store, error);
    /* the first wait reports commits from now on */
    bool changed;
    return code == PAWL_OK ? pawl__sqlite_has_changed(store, &changed, error) : code;
}

pawl_code pawl__sqlite_open(pawl_store *base, const char *url, const pawl_store_options *options,
                            pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    int64_t deadline_ms = store->sql.base.deadline_ms > 0 && store->sql.base.deadline_ms < INT_MAX
                              ? store->sql.base.deadline_ms
                              : INT_MAX;
    store->sql.ops      = &pawl__sqlite_ops;
    store->sql.family   = &pawl__sqlite_family;
    store->sql.dialect  = &pawl__sqlite_dialect;
    store->connection.session.store = &store->sql;
    store->sql.connection           = &store->connection;
    store->pid                      = getpid();
    store->busy_ms                  = (int)deadline_ms;
    store->cache_mb                 = CACHE_MB_DEFAULT;
    store->log_mb                   = LOG_MB_DEFAULT;
    store->synchronous              = 2;
    store->may_make                 = true;
    store->data_version             = -1;
    atomic_init(&store->is_interrupted, false);
    (void)pthread_mutex_init(&store->mutex, NULL);

    pawl_code code = read_url(store, url, error);
    if (code == PAWL_OK)
        code = pawl__sql_prefix_check(&pawl__sqlite_dialect, base->system_prefix, error);
    if (code != PAWL_OK)
        return code;
    if (base->mode == PAWL_OPEN_SCHEMA) /* schema() decides whether to create the file */
        return PAWL_OK;
    bool is_looking = base->mode == PAWL_OPEN_CREATE && !store->may_make;
    return open_for_work(store, is_looking ? PAWL_OPEN_CHECK : base->mode, options, error);
}

/* ---- Lost and found ------------------------------------------------------- */

void pawl__sqlite_lose(pawl__sqlite *store)
{
    sqlite3 *db = store->connection.db;
    pawl__sql_session_closed(&store->connection.session);
    pthread_mutex_lock(&store->mutex);
    store->connection.db = NULL;
    pthread_mutex_unlock(&store->mutex);
    (void)pawl__sqlite_reset_all(db, false);
    (void)sqlite3_close_v2(db);
    store->is_lost = true;
}

pawl_code pawl__sqlite_same_file(const pawl__sqlite *store, pawl_error *error)
{
    struct stat status;
    if (stat(store->path, &status) != 0)
        return unreachable(store,
                           errno == ENOENT ? "the file was deleted, or moved away, while it was "
                                             "open"
                                           : strerror(errno),
                           error);
    if (status.st_dev != store->device || status.st_ino != store->inode)
        return unreachable(store, "another file took the place of the one that is open", error);
    return PAWL_OK;
}

/* Current claims belong to the file that was opened: a different file at its path is refused. */
pawl_code pawl__sqlite_connected(pawl__sqlite *store, pawl_error *error)
{
    dev_t device = store->device;
    ino_t inode  = store->inode;
    if (store->connection.db != NULL)
        return PAWL_OK;
    pawl_code code = pawl__sqlite_connect(store, false, error);
    if (code == PAWL_OK) {
        store->device = device;
        store->inode  = inode;
        code          = pawl__sqlite_same_file(store, error);
    }
    if (code != PAWL_OK)
        pawl__sqlite_lose(store);
    store->is_lost      = code != PAWL_OK;
    store->data_version = -1; /* so that the first wait reads it */
    return code;
}

pawl_code pawl__sqlite_ready(pawl_store *base, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = pawl__sqlite_same_file(store, error);
    return code == PAWL_OK ? pawl__sqlite_connected(store, error) : code;
}

/* ---- Close ------------------------------------------------------------------ */

static void say_goodbye(pawl__sqlite *store)
{
    pawl__sql_handler_transaction_end(&store->sql.base);
    if (store->sql.has_worker && pawl__sqlite_ready(&store->sql.base, NULL) == PAWL_OK)
        (void)pawl__sql_worker_close(&store->sql.base, 0, NULL);
    (void)pawl__sqlite_leave_queues(&store->sql.base, NULL);
}

void pawl__sqlite_close(pawl_store *base)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    /* In a child process closing the parent's connection would release locks and remove files that are in use. */
    if (store->pid == getpid()) {
        if (store->connection.db != NULL || store->is_lost)
            say_goodbye(store);
        pawl__sql_session_closed(&store->connection.session);
        (void)pawl__sqlite_reset_all(store->connection.db, false);
        (void)sqlite3_close_v2(store->connection.db);
        pawl__program_leave(store->program);
        pawl__program_file_leave(store->file);
        (void)pthread_mutex_destroy(&store->mutex);
    }
    store->connection.db = NULL;
    store->program       = NULL;
    pawl_free(store->unresolved_seqs);
    pawl_free(store->path);
    pawl_free(store->given_path);
    store->path = store->given_path = NULL;
    store->unresolved_seqs          = NULL;
}
