/* odbc_scripted.c - writing a script, and comparing the calls that its driver got.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/odbc_scripted.h"

#ifdef PAWL_HAVE_ODBC

#include "support/odbc/script.h"
#include "support/tests.h"

#include <unistd.h>

/* A store of MariaDB's with its tables, in which nothing fails; the worker's epoch is 1. */
static const char rules_mysql[] =
    "on select version()*\n  row '10.11.6-MariaDB' session '16777216' 'shop' '0' '4711'\n"
    "on set session *\n"
    "on *wsrep_on*\n  row null\n"
    "on select left(sha2*\n  row 'id'\n"
    "on select table_name, column_name*\n"
    "  row 'pawl_schema' 'Part' 'varchar(100)' 'utf8mb4_nopad_bin' '1' '0'\n"
    "  row 'pawl_schema' 'Version' 'bigint(20)' '' '1' '0'\n"
    "on select table_name, index_name*\n  columns 7\n"
    "on select `Version` from `pawl_schema`*\n  row '5'\n"
    "on do 0\n"
    "on start transaction\n"
    "on commit\n"
    "on rollback\n"
    "on select get_lock*\n  row '1'\n"
    "on do release_lock*\n"
    "on insert into `pawl_workers`*\n  count 1\n"
    "on update `pawl_workers`*\n  count 1\n"
    "on select `Epoch`, `LastCommit` from `pawl_workers`*\n  row '1' null\n"
    "on select `Id`, `Endpoint`*from `pawl_workers`*\n  columns 19\n"
    "on insert into `pawl_queue`*\n  count 1\n"
    "on select count(*) from (select 1 from `pawl_queue`*\n  row '1'\n"
    "on delete from `pawl_queue`*\n  count 1\n";

/* The same on SQL Server 2016. */
static const char rules_mssql[] =
    "on select case when cast(serverproperty('EngineEdition')*\n  row '13' session '130' 'shop'\n"
    "on set quoted_identifier on*\n"
    "on select convert(char(32)*\n  row 'id'\n"
    "on select t.name, c.name*\n"
    "  row 'pawl_schema' 'Part' 'nvarchar(201)' 'Latin1_General_100_BIN2' '1' '0'\n"
    "  row 'pawl_schema' 'Version' 'bigint' '' '1' '0'\n"
    "on select t.name, i.name*\n  columns 7\n"
    "on select [Version] from [dbo].[pawl_schema]*\n  row '5'\n"
    "on select 1\n  row '1'\n"
    "on set implicit_transactions off; if @@trancount > 0*\n"
    "on if @@trancount <> 1*\n"
    "on if @@trancount > 0 rollback*\n"
    "on declare @pawl int; exec @pawl = sp_getapplock*\n  info 01000 0 Note\n  then\n  row '0'\n"
    "on exec sp_releaseapplock*\n"
    "on insert into [dbo].[pawl_workers]*\n  count 1\n"
    "on update [dbo].[pawl_workers]*\n  count 1\n"
    "on select [Epoch], [LastCommit] from [dbo].[pawl_workers]*\n  row '1' null\n"
    "on select [Id], [Endpoint]*from [dbo].[pawl_workers]*\n  columns 19\n"
    "on insert into [dbo].[pawl_queue]*\n  count 1\n"
    "on select count(*) from (select [Seq] from [dbo].[pawl_queue]*\n  row '1'\n"
    "on delete from [dbo].[pawl_queue]*\n  count 1\n";

/* The same on PostgreSQL, whose driver tells failures by state. */
static const char rules_postgres[] =
    "on select pg_backend_pid()*\n  row session '160004' 'public'\n"
    "on set client_encoding*\n"
    "on select md5(*\n  row 'id'\n"
    "on select c.relname::text, a.attname*\n"
    "  row 'pawl_schema' 'Part' 'text' 'C' '1' '0'\n"
    "  row 'pawl_schema' 'Version' 'bigint' '' '1' '0'\n"
    "on select c.relname::text, x.relname*\n  columns 7\n"
    "on select \"Version\" from \"pawl_schema\"*\n  row '5'\n"
    "on select 1\n  row '1'\n"
    "on start transaction\n"
    "on commit\n"
    "on rollback\n"
    "on savepoint pawl_set\n"
    "on release savepoint pawl_set\n"
    "on rollback to savepoint pawl_set\n"
    "on select pg_try_advisory_lock*\n  row '1'\n"
    "on select pg_advisory_unlock*\n  row '1'\n"
    "on insert into \"pawl_workers\"*\n  count 1\n"
    "on update \"pawl_workers\"*\n  count 1\n"
    "on select \"Epoch\", \"LastCommit\" from \"pawl_workers\"*\n  row '1' null\n"
    "on select \"Id\", \"Endpoint\"*from \"pawl_workers\"*\n  columns 19\n"
    "on insert into \"pawl_queue\"*\n  count 1\n"
    "on select count(*) from (select 1 from \"pawl_queue\"*\n  row '1'\n"
    "on delete from \"pawl_queue\"*\n  count 1\n";

/* The same of Oracle's. */
static const char rules_oracle[] =
    "on select (select max(version)*\n  row '19.0.0.0.0' 'PAWL' 'AL32UTF8' '1'\n"
    "on alter session set *\n"
    "on select rawtohex(*\n  row 'id'\n"
    "on select table_name, column_name*\n"
    "  row 'PAWL_SCHEMA' 'PART' 'VARCHAR2(201)' 'none' '1' '0'\n"
    "  row 'PAWL_SCHEMA' 'VERSION' 'NUMBER(19)' 'none' '1' '0'\n"
    "on select i.table_name*\n  columns 7\n"
    "on select \"VERSION\" from \"PAWL_SCHEMA\"*\n  row '5'\n"
    "on begin null; end;\n"
    "on declare i varchar2*\n"
    "on commit\n"
    "on rollback\n"
    "on end rollback\n"
    "on insert into \"PAWL_WORKERS\"*\n  count 1\n"
    "on update \"PAWL_WORKERS\"*\n  count 1\n"
    "on select \"EPOCH\", \"LASTCOMMIT\" from \"PAWL_WORKERS\"*\n  row '1' null\n"
    "on select \"ID\", \"ENDPOINT\"*from \"PAWL_WORKERS\"*\n  columns 19\n"
    "on insert into \"PAWL_QUEUE\"*\n  count 1\n"
    "on select count(*) from (select /*+ index(q (queue, due, seq)) */ 1 from \"PAWL_QUEUE\"*\n  row '1'\n"
    "on delete from \"PAWL_QUEUE\"*\n  count 1\n";

static const scripted_dialect dialects[] = {
    {.name     = "mysql",
     .driver   = "libmaodbc.so",
     .rules    = rules_mysql,
     .begin    = "start transaction",
     .commit   = "commit",
     .rollback = "rollback",
     .save     = "savepoint pawl_enlist",
     .undo     = "rollback to savepoint*",
     .release  = "release savepoint*",
     .is_open  = "on select @@in_transaction or not @@autocommit\n  row '1'\n"
                 "on select if(@@character_set_client*\n  row 'utf8mb4'\n"},
    {.name     = "postgres",
     .driver   = "psqlodbca.so",
     .rules    = rules_postgres,
     .begin    = "start transaction",
     .commit   = "commit",
     .rollback = "rollback",
     .save     = "savepoint pawl_enlist",
     .undo     = "rollback to savepoint pawl_enlist",
     .release  = "release savepoint pawl_enlist",
     .is_open  = "on savepoint pawl_open\non release savepoint pawl_open\n"
                 "on select case when pg_client_encoding()*\n  row 'UTF8'\n"},
    {.name     = "mssql",
     .driver   = "libtdsodbc.so",
     .rules    = rules_mssql,
     .begin    = "set implicit_transactions off; if @@trancount > 0*",
     .commit   = "if @@trancount <> 1*",
     .rollback = "if @@trancount > 0 rollback transaction*",
     .save     = "save transaction pawl_enlist",
     .undo     = "if @@trancount <> 1 and*",
     .is_open  = "on select xact_state()\n  row '1'\n"
                 "on select case when @@options*\n  row '0'\n"},
    {.name = "oracle", .driver = "libsqora.so.19.1", .rules = rules_oracle, .commit = "commit"},
};

static const scripted_dialect *dialect_of(const char *name)
{
    for (size_t i = 0; i < COUNT(dialects); i++)
        if (strncmp(dialects[i].name, name, strlen(dialects[i].name)) == 0)
            return &dialects[i];
    return NULL;
}

/* ---- The script ---------------------------------------------------------- */

int scripted_setup(void **state)
{
    scripted *p = calloc(1, sizeof *p);
    if (p == NULL)
        return -1;
    const scripted_case *row = *state;
    p->test                  = row->test;
    p->word                  = row->word;
    p->dialect               = dialect_of(row->word);
    *state                   = p;
    p->arena                 = pawl_arena_create(0);
    const char *parent       = getenv("TMPDIR");
    snprintf(p->folder, sizeof p->folder, "%.60s/pawl-odbc-XXXXXX",
             parent != NULL ? parent : "/tmp");
    if (mkdtemp(p->folder) == NULL)
        return -1;
    snprintf(p->log, sizeof p->log, "%s/log", p->folder);
    return 0;
}

void scripted_run(void **state)
{
    scripted *p = *state;
    p->test(p);
}

int scripted_teardown(void **state)
{
    scripted *p = *state;
    p->mark     = 0;
    int missing = scripted_count(p, "* missing *");
    pawl_store_close(p->store);
    for (int i = 1; i <= p->count; i++)
        (void)unlink(test_text("%s/script-%d", p->folder, i));
    (void)unlink(p->log);
    (void)rmdir(p->folder);
    pawl_arena_destroy(p->arena);
    free(p);
    return missing == 0 ? 0 : -1;
}

void scripted_write(scripted *p, const char *rules, const char *more)
{
    snprintf(p->script, sizeof p->script, "%s/script-%d", p->folder, ++p->count);
    FILE *file = fopen(p->script, "w");
    assert_non_null(file);
    fprintf(file, "name %s\n%s\n%s", p->dialect->driver, rules, p->dialect->rules);
    assert_int_equal(fclose(file), 0);
    const char *build = getenv("PAWL_BUILD_DIR");
    snprintf(p->url, sizeof p->url,
             "odbc:Driver=%.200s/tests/support/driver/scripted_odbc.so;Script=%s;Log=%s%.100s"
             "?dialect=%s",
             build != NULL ? build : ".", p->script, p->log, more, p->word);
}

pawl_code scripted_try(scripted *p, const char *rules, int64_t deadline_ms)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CHECK;
    options.deadline           = PAWL_MILLISECONDS(deadline_ms);
    scripted_close(p);
    scripted_write(p, rules, "");
    p->error.text[0] = '\0';
    return pawl_store_open(p->url, &options, &p->store, &p->error);
}

void scripted_open(scripted *p, const char *rules, int64_t deadline_ms)
{
    scripted_code(p, scripted_try(p, rules, deadline_ms), PAWL_OK);
    scripted_code(p,
                  pawl_store_worker_open(p->store, PAWL_TEXT("orders"), PAWL_TEXT("[]"),
                                         SCRIPTED_NOW, &p->error),
                  PAWL_OK);
    scripted_mark(p);
}

void scripted_close(scripted *p)
{
    pawl_store_close(p->store);
    p->store = NULL;
}

/* ---- Answers ------------------------------------------------------------- */

void scripted_code(const scripted *p, pawl_code code, pawl_code expected)
{
    if (code != expected)
        fail_msg("is %s, expected %s: %s\n%s", pawl_code_name(code), pawl_code_name(expected),
                 p->error.text, scripted_calls((scripted *)(uintptr_t)p));
}

void scripted_text(const scripted *p, const char *part)
{
    if (strstr(p->error.text, part) == NULL)
        fail_msg("'%s' does not say '%s'", p->error.text, part);
}

/* ---- Calls --------------------------------------------------------------- */

void scripted_mark(scripted *p)
{
    FILE *file = fopen(p->log, "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    p->mark = (size_t)ftell(file);
    (void)fclose(file);
}

const char *scripted_calls(scripted *p)
{
    FILE  *file = fopen(p->log, "r");
    size_t used = 0;
    if (file != NULL && fseek(file, (long)p->mark, SEEK_SET) == 0)
        used = fread(p->calls, 1, sizeof p->calls - 1, file);
    if (file != NULL)
        (void)fclose(file);
    p->calls[used] = '\0';
    return p->calls;
}

static bool is_compared(const char *call)
{
    return !script_fits("* prepare *", call) && !script_fits("* bind *", call) &&
           !script_fits("* piece *", call) && !script_fits("* run do 0", call) &&
           !script_fits("* run select 1", call) && !script_fits("* run begin null; end;", call);
}

/* The next line, cut out of the calls; NULL: there is none. */
static char *next_line(char **at)
{
    char *line = *at;
    if (*line == '\0')
        return NULL;
    size_t size = strcspn(line, "\n");
    *at         = line + size + (line[size] == '\n');
    line[size]  = '\0';
    return line;
}

static char *next_call(char **at)
{
    char *line = next_line(at);
    while (line != NULL && !is_compared(line))
        line = next_line(at);
    return line;
}

int scripted_count(scripted *p, const char *pattern)
{
    int count = 0;
    (void)scripted_calls(p);
    char *at = p->calls;
    for (const char *call = next_call(&at); call != NULL; call = next_call(&at))
        count += script_fits(pattern, call);
    return count;
}

static int count_lines(scripted *p, const char *pattern)
{
    int count = 0;
    (void)scripted_calls(p);
    char *at = p->calls;
    for (const char *line = next_line(&at); line != NULL; line = next_line(&at))
        count += script_fits(pattern, line);
    return count;
}

int scripted_bound(scripted *p, const char *pattern)
{
    return count_lines(p, test_text("* bind * of %s", pattern));
}

int scripted_pieces(scripted *p)
{
    return count_lines(p, "* piece *");
}

void scripted_expect(scripted *p, const char *const *patterns)
{
    (void)scripted_calls(p);
    char       *at   = p->calls;
    const char *call = next_call(&at);
    for (; call != NULL && *patterns != NULL; call = next_call(&at), patterns++)
        if (!script_fits(*patterns, call))
            fail_msg("'%s' is not '%s', in\n%s", call, *patterns, scripted_calls(p));
    if (call != NULL)
        fail_msg("'%s' was not expected, in\n%s", call, scripted_calls(p));
    if (*patterns != NULL)
        fail_msg("'%s' did not come, in\n%s", *patterns, scripted_calls(p));
}

/* ---- Work ---------------------------------------------------------------- */

pawl_code scripted_send(scripted *p)
{
    return pawl_store_commit(
        p->store,
        ONE_CHANGE(
            queue_send, SCRIPTED_NOW, .queue = PAWL_TEXT("orders"), .due = SCRIPTED_NOW,
            .message = {.id = PAWL_TEXT("m-1"), .type = PAWL_TEXT("t"), .body = PAWL_TEXT("{}")}),
        NULL, &p->error);
}

pawl_code scripted_claim(scripted *p, pawl_queue_rows *rows)
{
    pawl_queue_claim how = {
        .queue = PAWL_TEXT("orders"), .due_max = SCRIPTED_NOW, .count_max = 3, .now = SCRIPTED_NOW};
    *rows = (pawl_queue_rows){0};
    return pawl_store_queue_claim(p->store, &how, p->arena, rows, &p->error);
}

pawl_code scripted_settle_and_send(scripted *p)
{
    pawl_queue_settle settle = {.action = PAWL_QUEUE_DONE, .queue = PAWL_TEXT("orders"), .seq = 7};
    pawl_queue_send   send   = {
            .queue   = PAWL_TEXT("orders"),
            .due     = SCRIPTED_NOW,
            .message = {.id = PAWL_TEXT("m-8"), .type = PAWL_TEXT("t"), .body = PAWL_TEXT("{}")}};
    pawl_changes changes = {.now = SCRIPTED_NOW,
                            ONE_UNIT,
                            .queue_settle = {.items = &settle, .count = 1},
                            .queue_send   = {.items = &send, .count = 1}};
    return pawl_store_commit(p->store, &changes, NULL, &p->error);
}

pawl_code scripted_send_many(scripted *p, size_t count)
{
    pawl_queue_send *sends   = pawl_arena_take(p->arena, count * sizeof *sends);
    pawl_changes     changes = {.now = SCRIPTED_NOW, ONE_UNIT};
    assert_non_null(sends);
    for (size_t i = 0; i < count; i++)
        sends[i] = (pawl_queue_send){.queue   = PAWL_TEXT("orders"),
                                     .due     = SCRIPTED_NOW,
                                     .message = {.id   = pawl_arena_printf(p->arena, "m-%zu", i),
                                                 .type = PAWL_TEXT("t"),
                                                 .body = PAWL_TEXT("{}")}};
    changes.queue_send.items = sends;
    changes.queue_send.count = count;
    return pawl_store_commit(p->store, &changes, NULL, &p->error);
}

#endif
