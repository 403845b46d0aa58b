/* prepared.c - statements of a session, prepared at their first use and kept for its life.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/family.h"

#include <assert.h>
#include <string.h>

/* ---- Texts -------------------------------------------------------------- */

static int own_of(const pawl__sql_family *family, int statement)
{
    bool is_own = statement < PAWL__SQL_ROW_STATEMENT_END && family->overrides[statement] != 0;
    return is_own ? family->overrides[statement] : statement;
}

const char *pawl__sql_template_of(const pawl__sql_session *session, int statement, bool is_saga)
{
    const pawl__sql_family *family = session->store->family;
    return is_saga ? pawl__sql_saga_template_of((pawl__sql_saga_statement)statement)->text
                   : family->templates[own_of(family, statement)];
}

/* ---- Preparing ---------------------------------------------------------- */

static pawl_code no_memory(const pawl__sql_session *session, pawl_error *error)
{
    return pawl__sql_no_memory(&session->store->base, "a statement", error);
}

static void free_statement(pawl__sql_session *session, pawl__sql_prepared *statement)
{
    if (statement != NULL)
        session->store->ops->close(statement);
    pawl_free(statement);
}

static pawl_code finish(pawl__sql_session *session, pawl__sql_prepared **statement,
                        const pawl__field_list *fields, const char *template_text,
                        const pawl__sql_text *text, pawl_error *error)
{
    pawl__sql_prepared *made = *statement;
    assert(fields == NULL || fields->count <= PAWL__SQL_FIELDS_MAX);
    pawl_code code = text->is_failed ? no_memory(session, error)
                                     : session->store->ops->prepare(session, made, fields,
                                                                    template_text, text, error);
    made->is_made  = code == PAWL_OK;
    if (code == PAWL_OK)
        return PAWL_OK;
    free_statement(session, made);
    *statement = NULL;
    return code;
}

static pawl_code prepare(pawl__sql_session *session, int which, pawl__sql_prepared **statement,
                         const pawl__field_list *fields, pawl_error *error)
{
    const pawl__sql_store *store     = session->store;
    const char            *template_ = store->family->templates[which];
    pawl__sql_text         text      = {0};
    pawl__sql_prepared    *made      = *statement;
    made->placeholder_count =
        (unsigned)pawl__sql_parameter_order(template_, made->order, PAWL__SQL_PLACEHOLDERS_MAX);
    made->ignores = strstr(template_, "{ignore:") != NULL && store->dialect->ignores_failures;
    made->merges  = strncmp(template_, "merge ", 6) == 0;
    pawl__sql_expand(&text, store->dialect, store->base.system_prefix, template_);
    pawl_code code = finish(session, statement, fields, template_, &text, error);
    pawl__sql_text_free(&text);
    return code;
}

static pawl_code prepare_saga(pawl__sql_session *session, const pawl_saga_table *table, int which,
                              pawl__sql_prepared **statement, const pawl__field_list *fields,
                              pawl_error *error)
{
    pawl__sql_text      text = {0};
    pawl__sql_prepared *made = *statement;
    pawl__sql_saga_text(&text, session->store->dialect, table, (pawl__sql_saga_statement)which);
    for (const char *at = text.data;
         (at = pawl__sql_next_placeholder(session->store->dialect, at)) != NULL; at++) {
        made->order[made->placeholder_count] = made->placeholder_count + 1;
        made->placeholder_count++;
    }
    pawl_code code = finish(session, statement, fields, pawl__sql_template_of(session, which, true),
                            &text, error);
    pawl__sql_text_free(&text);
    if (code == PAWL_OK)
        return PAWL_OK;
    return pawl_error_wrap(error, code, "saga %.*s", PAWL_TEXT_ARGS(table->type));
}

/* ---- Statements of a saga's table ---------------------------------------- */

/* Finds time columns of the less precise type that tables older than pawl have (is_coarse). */
static pawl_code look_at_times(pawl__sql_session *session, pawl_saga_table *table,
                               pawl_error *error)
{
    pawl_correlation *const all[] = {&table->main, &table->transitional};
    pawl_code               code  = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < 2; i++) {
        pawl__sql_text column = {0};
        if (session->store->family->is_old_time == NULL || all[i]->type != PAWL_VALUE_TIME ||
            all[i]->with_offset)
            continue;
        pawl__sql_correlation_column(&column, session->store->dialect, all[i]);
        code = column.is_failed ? no_memory(session, error)
                                : session->store->family->is_old_time(session, table->name,
                                                                      pawl__sql_text_of(&column),
                                                                      &all[i]->is_coarse, error);
        pawl__sql_text_free(&column);
    }
    return code;
}

static pawl__sql_saga_cache *add_table(pawl__sql_session *session, const pawl_saga_table *table,
                                       pawl_code *code, pawl_error *error)
{
    pawl__sql_saga_cache *made = pawl_allocate(sizeof *made);
    *code                      = PAWL_ENOMEM;
    if (made == NULL) {
        (void)no_memory(session, error);
        return NULL;
    }
    made->next = session->sagas;
    *code = pawl__sql_saga_copy(session->store->dialect, table, &made->table, &made->texts, error);
    if (*code == PAWL_OK)
        *code = look_at_times(session, &made->table, error);
    if (*code != PAWL_OK) {
        pawl_free(made->texts);
        pawl_free(made);
        return NULL;
    }
    session->sagas = made;
    return made;
}

static pawl__sql_saga_cache *find_table(pawl__sql_session *session, const pawl_saga_table *table,
                                        pawl_code *code, pawl_error *error)
{
    pawl__sql_saga_cache *saga = session->sagas;
    while (saga != NULL && !pawl__sql_saga_same(&saga->table, table))
        saga = saga->next;
    return saga != NULL ? saga : add_table(session, table, code, error);
}

const pawl_saga_table *pawl__sql_saga_known(pawl__sql_session     *session,
                                            const pawl_saga_table *table)
{
    const pawl__sql_saga_cache *saga = session->sagas;
    while (saga != NULL && !pawl__sql_saga_same(&saga->table, table))
        saga = saga->next;
    return saga != NULL ? &saga->table : table;
}

/* ---- All of them --------------------------------------------------------- */

static pawl__sql_prepared **place_of(pawl__sql_session *session, int statement)
{
    const pawl__sql_family *family = session->store->family;
    if (session->statements == NULL)
        session->statements =
            pawl_allocate((size_t)family->statement_count * sizeof(pawl__sql_prepared *));
    return session->statements != NULL ? &session->statements[statement] : NULL;
}

pawl__sql_prepared *pawl__sql_prepared_of(pawl__sql_session *session, int statement,
                                          const pawl_saga_table  *table,
                                          const pawl__field_list *fields, pawl_code *code,
                                          pawl_error *error)
{
    pawl__sql_saga_cache *saga  = NULL;
    pawl__sql_prepared  **place = NULL;
    *code                       = PAWL_OK;
    if (table != NULL) {
        saga  = find_table(session, table, code, error);
        place = saga != NULL ? &saga->statements[statement] : NULL;
    } else {
        statement = own_of(session->store->family, statement);
        place     = place_of(session, statement);
    }
    if (place != NULL && *place == NULL)
        *place = pawl_allocate(session->store->ops->statement_size);
    if (*code == PAWL_OK && (place == NULL || *place == NULL))
        *code = no_memory(session, error);
    else if (*code == PAWL_OK && !(*place)->is_made)
        *code = saga != NULL ? prepare_saga(session, &saga->table, statement, place, fields, error)
                             : prepare(session, statement, place, fields, error);
    return *code == PAWL_OK ? *place : NULL;
}

void pawl__sql_close_statements(pawl__sql_session *session)
{
    for (int i = 0; session->statements != NULL && i < session->store->family->statement_count; i++)
        free_statement(session, session->statements[i]);
    pawl_free(session->statements);
    session->statements = NULL;
    while (session->sagas != NULL) {
        pawl__sql_saga_cache *saga = session->sagas;
        session->sagas             = saga->next;
        for (int i = 0; i < pawl__sql_saga_statement_count; i++)
            free_statement(session, saga->statements[i]);
        pawl_free(saga->texts);
        pawl_free(saga);
    }
}

void pawl__sql_session_closed(pawl__sql_session *session)
{
    pawl__sql_close_statements(session);
    pawl_free(session->spare);
    session->spare          = NULL;
    session->is_made        = false;
    session->id             = 0;
    session->is_lost        = false;
    session->is_undone      = false;
    session->in_transaction = false;
    session->is_marked      = false;
}
