/* family.c - operations that all families of servers share; only their SQL texts differ. See family.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/family.h"

#include "store/sql/script.h"

#include <stdio.h>

#define LIVES_AT_ONCE 50 /* workers in one statement */
#define TEXT_SIZE 1000
#define REST_S_MAX 86400

/* ---- Settings -------------------------------------------------------------- */

/* Lock timeouts are a second longer than the deadline of a call, so that the deadline comes first. */
pawl_code pawl__sql_set_session(pawl__sql_session *session, pawl_error *error)
{
    const pawl__sql_remote   *remote   = pawl__sql_remote_at(session);
    const pawl__sql_settings *settings = &remote->sql.family->settings;
    int64_t                   ms   = remote->sql.base.deadline_ms + 1000 + settings->unit_ms - 1;
    int64_t                   wait = ms / settings->unit_ms;
    char                      text[TEXT_SIZE];
    if (settings->wait_max != 0 && wait > settings->wait_max)
        wait = settings->wait_max;
    (void)snprintf(text, sizeof text, settings->text, (long long)wait,
                   (long long)remote->rest_s * 1000);
    return pawl__sql_query(session, text, error);
}

/* ---- The worker's lock ---------------------------------------------------- */

int64_t pawl__sql_lock_number(const pawl__sql_session *session)
{
    const pawl__sql_remote *remote = pawl__sql_remote_at(session);
    return session == remote->main ? remote->lock_number : remote->lock_number - 1;
}

pawl_code pawl__sql_lock_kept(const pawl__sql_remote *remote, const char *name, bool is_denied,
                              pawl_error *error)
{
    return pawl_error_set(
        error, PAWL_EBUSY, "%s: another session of this worker keeps its lock %s: %s",
        remote->sql.base.scheme, name,
        is_denied ? PAWL_STORE_KEEPS_SESSION : "it is in a statement that does not end");
}

/* ---- Who lives ----------------------------------------------------------- */

static pawl_code ask_lives(pawl__sql_remote *remote, pawl__sql_life *const *lives, size_t count,
                           pawl_error *error)
{
    const pawl__sql_life_words *words                     = &remote->sql.family->lives;
    char                        digits[LIVES_AT_ONCE + 1] = "";
    pawl__sql_text              text                      = {0};
    for (size_t i = 0; i < count; i++) {
        pawl__sql_append(&text, i == 0 ? words->begin : words->between);
        words->append(remote, &text, lives[i]);
    }
    pawl__sql_append(&text, words->end);
    pawl_code code =
        text.is_failed ? pawl__sql_no_memory(&remote->sql.base, "a text", error)
                       : pawl__sql_ask_text(remote->main, text.data, digits, sizeof digits, error);
    for (size_t i = 0; i < count; i++)
        lives[i]->is_alive = digits[0] != '\0' && digits[i] == '1';
    pawl__sql_text_free(&text);
    return code;
}

pawl_code pawl__sql_family_lives(pawl_store *store, pawl__sql_life *const *lives, size_t count,
                                 pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t at = 0; code == PAWL_OK && at < count; at += LIVES_AT_ONCE)
        code = ask_lives(pawl__sql_remote_of(store), lives + at,
                         count - at < LIVES_AT_ONCE ? count - at : LIVES_AT_ONCE, error);
    return code;
}

/* ---- Running a script ------------------------------------------------------ */

pawl_code pawl__sql_run_execute(pawl_store *base, const char *statement, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(base);
    return pawl__sql_query(remote->main, statement, error);
}

pawl_code pawl__sql_run_number(pawl_store *base, const char *select, int64_t *number,
                               pawl_error *error)
{
    return pawl__sql_ask_number(pawl__sql_remote_of(base)->main, select, number, error);
}

/* Runs a family's join or leave text, on a cluster only: another node may have created the tables just now. */
static pawl_code on_cluster(pawl__sql_remote *remote, const char *text, pawl_error *error)
{
    return remote->is_cluster ? pawl__sql_query(remote->main, text, error) : PAWL_OK;
}

pawl_code pawl__sql_run_connect(pawl_store *base, pawl_schema_verb verb, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(base);
    pawl_code         code   = PAWL_OK;
    (void)verb;
    if (!remote->main->is_made)
        code = pawl__sql_session_connect(remote->main, error);
    return code == PAWL_OK ? on_cluster(remote, remote->sql.family->run.join, error) : code;
}

/* Waits for the lock until shortly before the call's deadline, so that the server's answer arrives in time. */
static pawl_code take_lock(pawl_store *base, const pawl__sql_run_words *words, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(base);
    int64_t           got    = 0;
    char              text[TEXT_SIZE];
    (void)snprintf(text, sizeof text, words->lock, (long long)base->deadline_ms * 9 / 10);
    pawl_code code = pawl__sql_ask_number(remote->main, text, &got, error);
    if (code == PAWL_OK && got < 0)
        code = pawl_error_set(error, PAWL_EBUSY,
                              "%s: %s: another process makes or drops tables in this database, and "
                              "did not end within the deadline",
                              base->scheme, remote->given);
    return code;
}

pawl_code pawl__sql_run_begin(pawl_store *base, pawl_error *error)
{
    pawl__sql_remote          *remote = pawl__sql_remote_of(base);
    const pawl__sql_run_words *words  = &remote->sql.family->run;
    pawl_code                  code   = PAWL_OK;
    if (words->in_transaction)
        code = pawl__sql_session_begin(base, error);
    if (code == PAWL_OK && words->lock != NULL)
        code = take_lock(base, words, error);
    if (code == PAWL_OK && words->locked != NULL)
        code = pawl__sql_run_execute(base, words->locked, error);
    if (code != PAWL_OK && words->in_transaction)
        pawl__sql_session_undo(remote->main);
    return code;
}

/* The unlock may fail: a lost session has released its lock already. */
pawl_code pawl__sql_run_end(pawl_store *base, pawl_code code, pawl_error *error)
{
    pawl__sql_remote          *remote     = pawl__sql_remote_of(base);
    const pawl__sql_run_words *words      = &remote->sql.family->run;
    bool                       is_unknown = false;
    if (code == PAWL_OK && words->in_transaction)
        code = pawl__sql_session_commit(base, &is_unknown, error);
    if (words->in_transaction)
        pawl__sql_session_undo(remote->main);
    if (words->unlock != NULL)
        (void)pawl__sql_run_execute(base, words->unlock, NULL);
    return code;
}

/* ---- Tables ---------------------------------------------------------------- */

static pawl__sql_schema schema_of(pawl__sql_remote *remote, const char *prefix)
{
    return (pawl__sql_schema){.store   = &remote->sql.base,
                              .ops     = remote->sql.family->schema_ops,
                              .dialect = remote->sql.dialect,
                              .prefix  = prefix,
                              .given   = remote->given,
                              .scheme  = "",
                              .within  = remote->database};
}
static pawl_code check(pawl__sql_remote *remote, const pawl_store_options *options,
                       pawl_error *error)
{
    const pawl__sql_run_words *words  = &remote->sql.family->run;
    pawl__sql_schema           schema = schema_of(remote, remote->sql.base.system_prefix);
    pawl_code                  code = pawl__sql_prefix_check(schema.dialect, schema.prefix, error);
    if (code == PAWL_OK)
        code = on_cluster(remote, words->join, error);
    if (code == PAWL_OK)
        code = pawl__sql_schema_check(&schema, options->tables, options->table_count, error);
    return code == PAWL_OK ? on_cluster(remote, words->leave, error) : code;
}

pawl_code pawl__sql_family_open(pawl__sql_remote *remote, const pawl_store_options *options,
                                pawl_error *error)
{
    if (options->mode == PAWL_OPEN_SCHEMA)
        return PAWL_OK; /* schema() connects when it is called */
    int64_t rest_s = options->handler_time_max / PAWL_SECONDS(1) +
                     (options->handler_time_max % PAWL_SECONDS(1) != 0);
    if (rest_s > 0)
        remote->rest_s = (int)(rest_s < REST_S_MAX ? rest_s : REST_S_MAX);
    pawl_code code = pawl__sql_session_connect(remote->main, error);
    return code == PAWL_OK ? check(remote, options, error) : code;
}

/* Before the store is open, its family or its scheme determines the dialect. NULL: only the server can tell. */
static const pawl__sql_dialect *known_dialect(const pawl__sql_remote *remote)
{
    if (remote->sql.dialect != NULL)
        return remote->sql.dialect;
    return remote->sql.family != NULL && remote->sql.family->dialect != NULL
               ? remote->sql.family->dialect
               : pawl__sql_dialect_find(pawl_text_of(remote->sql.base.scheme));
}

static pawl_code print(pawl_store *base, const pawl_schema_spec *spec, pawl_line_fn *line,
                       void *context, pawl_error *error)
{
    const pawl__sql_dialect *dialect = known_dialect(pawl__sql_remote_of(base));
    pawl_code                code    = PAWL_OK;
    if (dialect == NULL) {
        code    = pawl__sql_run_connect(base, PAWL_SCHEMA_PRINT, error);
        dialect = pawl__sql_remote_of(base)->sql.dialect;
    }
    if (code == PAWL_OK)
        code = pawl__sql_prefix_check(dialect, spec->system_prefix, error);
    return code == PAWL_OK
               ? pawl__sql_print(dialect, spec->system_prefix, spec, line, context, error)
               : code;
}

pawl_code pawl__sql_family_schema(pawl_store *store, pawl_schema_verb verb,
                                  const pawl_schema_spec *spec, pawl_line_fn *line, void *context,
                                  pawl_error *error)
{
    if (verb == PAWL_SCHEMA_PRINT)
        return print(store, spec, line, context, error);
    pawl_code code = pawl__sql_run_connect(store, verb, error);
    if (code != PAWL_OK)
        return code;
    pawl__sql_schema schema = schema_of(pawl__sql_remote_of(store), spec->system_prefix);
    return pawl__sql_schema_run(&schema, verb, spec, line, context, error);
}

/* ---- Doctor ---------------------------------------------------------------- */

pawl_code pawl__sql_family_diagnose(pawl_store *store, const char *client,
                                    const pawl_diagnosis *asked, pawl_arena *arena,
                                    pawl_finding_rows *rows, pawl_error *error)
{
    const pawl__sql_remote *remote = pawl__sql_remote_of(store);
    char                    own[TEXT_SIZE];
    pawl__sql_text          database = {0};
    pawl__sql_append_quoted(&database, pawl_text_of(remote->database));
    if (database.is_failed)
        return pawl__sql_no_memory(store, "a check", error);
    (void)snprintf(own, sizeof own, remote->sql.family->client, remote->sql.dialect->name,
                   database.size != 0 ? database.data : "");
    pawl__sql_text_free(&database);
    pawl__sql_doctor doctor = {.store   = store,
                               .dialect = remote->sql.dialect,
                               .asked   = asked,
                               .ask     = pawl__sql_session_findings,
                               .client  = client != NULL ? client : own,
                               .arena   = arena,
                               .rows    = rows,
                               .error   = error};
    return pawl__sql_check_all(&doctor, remote->sql.family->checks);
}
