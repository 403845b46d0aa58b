/* diagnose.c - checks an SQLite file: its settings, the files beside it, and the disk.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/diagnose.h"
#include "store/sqlite/sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define NOW_US "cast((julianday('now') - 2440587.5) * 86400000000.0 as integer)"
#define MINUTE_AGO "(" NOW_US " - 60000000)"

static const pawl__sql_check checks[] = {
    {.name = "library", .select = "select 0, 'SQLite ' || sqlite_version(), ''"},
    {.name = "journal_mode",
     .select =
         "select case journal_mode when 'wal' then 0 else 1 end, journal_mode || case journal_mode when 'wal' then '' else ': readers and writers "
         "wait for each other' end, case journal_mode when 'wal' then '' else "
         "'pragma journal_mode = wal' end from pragma_journal_mode"},
    {.name   = "synchronous",
     .select = "select case synchronous when 0 then 1 else 0 end, "
               "case synchronous when 0 then 'off: a power cut loses commits, or the file; take "
               "synchronous=off out of the URL' when 1 then 'normal' else 'full' end, '' "
               "from pragma_synchronous"},
    {.name = "leases",
     .select =
         "select 1, count(*) || ' timeouts of ' || t.[Destination] || ' are leased by nobody "
         "who lives, since ' || strftime('%Y-%m-%dT%H:%M:%SZ', min(t.[LeaseExpires]) / "
         "1000000, 'unixepoch') || ': the next worker of the endpoint takes them', '' "
         "from {timeouts} as t indexed by {timeouts_lease} where t.[LeaseExpires] < " MINUTE_AGO
         " group by t.[Destination]",
     .none = "no lease has run out"},
    /* uses several records, so that a few written by a wrong clock do not decide */
    {.name    = "recorded",
     .select  = "select [At], '', '' from (select rowid as r, [At] from {inbox} "
                "order by rowid desc limit 1000) order by r limit 1",
     .measure = PAWL__SQL_MEASURE_RECORDED},
    {.name   = "file",
     .select = "select case quick_check when 'ok' then 0 else 2 end, case quick_check when 'ok' "
               "then 'the whole file was read: it is sound' else quick_check end, "
               "case quick_check when 'ok' then '' else '.recover' end from pragma_quick_check",
     .unable = ".recover",
     .is_thorough = true},
};

/* ---- Files -------------------------------------------------------------- */

/* SQLite creates files beside the database, so the folder must be writable, too. */
static pawl_code check_rights(pawl__sql_doctor *doctor, const pawl__sqlite *store)
{
    char        folder[PAWL_URL_SIZE_MAX + 2], lock_file[PAWL_URL_SIZE_MAX + 8];
    const char *denied = NULL;
    bool        is_alive;
    pawl_error  error = PAWL_ERROR_INIT;
    (void)snprintf(lock_file, sizeof lock_file, "%s-pawl", store->path);
    (void)snprintf(folder, sizeof folder, "%s", store->path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        (void)snprintf(folder, sizeof folder, ".");
    else
        slash[slash == folder] = '\0';
    if (access(store->path, R_OK | W_OK) != 0)
        denied = store->path;
    else if (access(folder, W_OK | X_OK) != 0)
        denied = folder;
    else if (access(lock_file, R_OK | W_OK) != 0 && errno != ENOENT)
        denied = lock_file;
    if (denied == NULL && pawl__program_alive(NULL, store->path, 1, &is_alive, &error) != PAWL_OK)
        return pawl__sql_findf(doctor, "rights", PAWL_FINDING_FAIL, "", "%s", error.text);
    if (denied == NULL)
        return pawl__sql_findf(doctor, "rights", PAWL_FINDING_OK, "",
                               "file and folder can be written");
    return pawl__sql_findf(doctor, "rights", PAWL_FINDING_FAIL, "",
                           "%s cannot be written: %s; a worker needs the file, its folder and "
                           "the files beside it (chown, chmod u+w)",
                           denied, strerror(errno));
}

#define ROOM_WARN (INT64_C(1) << 30)
#define ROOM_FAIL (INT64_C(64) << 20)

static pawl_code check_disk(pawl__sql_doctor *doctor, const pawl__sqlite *store)
{
    struct statvfs disk;
    if (statvfs(store->path, &disk) != 0)
        return pawl__sql_findf(doctor, "disk", PAWL_FINDING_WARN, "", "cannot be read: %s",
                               strerror(errno));
    int64_t            room  = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
    pawl_finding_level level = room < ROOM_FAIL   ? PAWL_FINDING_FAIL
                               : room < ROOM_WARN ? PAWL_FINDING_WARN
                                                  : PAWL_FINDING_OK;
    return pawl__sql_findf(doctor, "disk", level, "", "%lld MB are free", (long long)(room >> 20));
}

#define CLIENT "sqlite3 " /* before the path, in quotes */
#define LOG_PARTS_WARN 4  /* times the size at which it is copied */

/* The log is restarted when nobody reads it. A large log is therefore kept by an old transaction; but that may also be
 * so for a smaller one. */
static pawl_code check_log(pawl__sql_doctor *doctor, const pawl__sqlite *store)
{
    char        path[PAWL_URL_SIZE_MAX + 10];
    struct stat file = {0};
    (void)snprintf(path, sizeof path, "%s-wal", store->path);
    int64_t size = stat(path, &file) == 0 ? (int64_t)file.st_size : 0;
    if (size < LOG_PARTS_WARN * ((int64_t)store->log_mb << 20))
        return pawl__sql_findf(doctor, "transactions", PAWL_FINDING_OK, "", "the log has %lld kB",
                               (long long)(size >> 10));
    return pawl__sql_findf(doctor, "transactions", PAWL_FINDING_WARN,
                           "pragma wal_checkpoint(truncate)",
                           "the log has %lld MB: a program keeps a transaction open (fuser -v "
                           "%s names those that have the file)",
                           (long long)(size >> 20), doctor->client + sizeof CLIENT - 1);
}

#define LOCK_WAIT_MS 1000 /* a commit takes milliseconds */

/* A file that is not writable has no finding here: `rights` reports it. */
static pawl_code check_lock(pawl__sql_doctor *doctor, pawl__sqlite *store)
{
    int busy_ms    = store->busy_ms;
    store->busy_ms = LOCK_WAIT_MS;
    pawl_code code = pawl__sqlite_begin(doctor->store, NULL);
    store->busy_ms = busy_ms;
    if (code == PAWL_OK) {
        pawl__sqlite_rollback(doctor->store);
        return pawl__sql_findf(doctor, "lock", PAWL_FINDING_OK, "", "the write lock is free");
    }
    if (code != PAWL_EBUSY)
        return PAWL_OK;
    return pawl__sql_findf(doctor, "lock", PAWL_FINDING_WARN, "",
                           "the write lock was not free for %d ms: nothing can be written while a "
                           "program holds it (fuser -v %s names those that have the file)",
                           LOCK_WAIT_MS, doctor->client + sizeof CLIENT - 1);
}

/* ---- Statistics ----------------------------------------------------------- */

/* pawl's statements are written for SQLite's plans without statistics. ANALYZE of a table with few rows makes SQLite
 * read the whole table instead of an index, even after the table has grown. The table of statistics does not exist
 * before the first ANALYZE. */
static pawl_code check_statistics(pawl__sql_doctor *doctor, pawl__sqlite *store)
{
    static const char there[] = "select count(*) from sqlite_schema where name = 'sqlite_stat1'";
    static const char format[] =
        "select 1, 'ANALYZE counted ' || group_concat(tbl || ' (' || n || ')', ', ') || ', while "
        "there were few: statements read such tables whole, also when they have grown; after the "
        "remedy start the programs anew', 'delete from sqlite_stat1 where tbl like ''%s%%''' "
        "from (select tbl, min(cast(stat as integer)) as n from sqlite_stat1 where tbl in "
        "(select '%s' || column1 from (values ('queue'), ('timeouts'), ('inbox'), ('outbox'), "
        "('dead'), ('events'), ('aggregator'), ('history'))) group by tbl) "
        "where n < 500 group by 'all of them'";
    const char *prefix = store->sql.base.system_prefix;
    char        select[sizeof format + 200];
    int64_t     count = 0;
    pawl_code code = pawl__sql_ask_number(&store->connection.session, there, &count, doctor->error);
    pawl__sql_check check = {.name   = "statistics",
                             .select = count > 0 ? select : "select 0, '', '' where 0 = 1",
                             .none   = "no table was counted while it had few rows"};
    (void)snprintf(select, sizeof select, format, prefix, prefix);
    return code == PAWL_OK ? pawl__sql_checks(doctor, &check, 1) : code;
}

/* ---- All of it ---------------------------------------------------------- */

pawl_code pawl__sqlite_diagnose(pawl_store *base, const pawl_diagnosis *asked, pawl_arena *arena,
                                pawl_finding_rows *rows, pawl_error *error)
{
    pawl__sqlite  *store  = pawl__sqlite_of(base);
    pawl__sql_text client = {0};
    pawl__sql_append(&client, CLIENT "'");
    pawl__sql_append_quoted(&client, pawl_text_of(store->path));
    pawl__sql_append(&client, "'");
    if (client.is_failed) {
        pawl__sql_text_free(&client);
        return pawl__sql_no_memory(base, "findings", error);
    }
    pawl__sql_doctor doctor = {.store   = base,
                               .dialect = &pawl__sqlite_dialect,
                               .asked   = asked,
                               .ask     = pawl__sql_session_findings,
                               .client  = client.data,
                               .arena   = arena,
                               .rows    = rows,
                               .error   = error};
    pawl_code        code   = asked->is_brief ? PAWL_OK : check_rights(&doctor, store);
    if (code == PAWL_OK && !asked->is_brief)
        code = check_disk(&doctor, store);
    if (code == PAWL_OK && !asked->is_brief)
        code = check_log(&doctor, store);
    if (code == PAWL_OK && !asked->is_brief)
        code = check_lock(&doctor, store);
    if (code == PAWL_OK && !asked->is_brief)
        code = check_statistics(&doctor, store);
    if (code == PAWL_OK)
        code = pawl__sql_checks(&doctor, checks, sizeof checks / sizeof checks[0]);
    pawl__sql_text_free(&client);
    return code;
}
