/* session_rows.c - requests of drivers with sessions: sending, rows, texts, findings. See session_rows.h.
 *
 * Some libraries return a column only once, so a column that was read is kept until the next row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/session_rows.h"

#include "store/sql/diagnose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const pawl__sql_ops *ops_of(const pawl__sql_request *request)
{
    return request->session->store->ops;
}

/* ---- Sending -------------------------------------------------------------- */

pawl__sql_request *pawl__sql_request_make(pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    pawl__sql_session *session = pawl__sql_session_of(((pawl__sql_store *)store)->connection);
    pawl__sql_request *made = session->spare != NULL ? session->spare : pawl_allocate(sizeof *made);
    session->spare          = NULL;
    if (made == NULL) {
        (void)pawl__sql_no_memory(store, "a request", error);
        return NULL;
    }
    made->session     = session;
    made->statement   = NULL;
    made->arena       = arena;
    made->error       = error;
    made->code        = PAWL_OK;
    made->peeked_size = 0;
    return made;
}

pawl_code pawl__sql_request_send(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                                 pawl__sql_request **request, pawl_error *error)
{
    pawl__sql_request *made = *request = pawl__sql_request_make(store, arena, error);
    if (made == NULL)
        return PAWL_ENOMEM;
    made->statement = pawl__sql_session_send(made->session, asked, &made->code, error);
    return made->code;
}

/* ---- Rows ----------------------------------------------------------------- */

bool pawl__sql_request_next(pawl__sql_request *request)
{
    bool is_row = false;
    if (request->code != PAWL_OK || request->statement->column_count == 0)
        return false;
    memset(request->is_read, 0, sizeof request->is_read);
    request->peeked_size = 0;
    request->code =
        ops_of(request)->fetch(request->session, request->statement, &is_row, request->error);
    return is_row && request->code == PAWL_OK;
}

char *pawl__sql_room_of(pawl__sql_request *request, size_t size)
{
    if (request->arena != NULL)
        return pawl_arena_take(request->arena, size);
    if (size > PAWL__SQL_PEEKED_MAX - request->peeked_size)
        return NULL;
    request->peeked_size += size;
    return request->peeked + request->peeked_size - size;
}

static void read_column(pawl__sql_request *request, unsigned column, int wire, pawl__sql_kind kind)
{
    pawl__sql_got *got = &request->got[column];
    *got               = (pawl__sql_got){.is_null = true, .text = PAWL_TEXT("")};
    pawl_code code = ops_of(request)->read(request->session, request->statement, column, wire, kind,
                                           request, got);
    request->is_read[column] = true;
    if (code != PAWL_OK && request->code == PAWL_OK)
        request->code = pawl_error_set(request->error, code, "%s: column %u: %s",
                                       request->session->store->base.scheme, column + 1,
                                       code == PAWL_ENOMEM ? "out of memory for a row"
                                                           : "could not be read whole");
}

static void get_field(pawl__sql_request *request, unsigned column, int wire, void *member)
{
    pawl__sql_kind kind = pawl__sql_kind_of(wire, member);
    if (kind == PAWL__SQL_SKIPPED)
        return;
    if (!request->is_read[column])
        read_column(request, column, wire, kind);
    const pawl__sql_got *got  = &request->got[column];
    const char          *what = pawl__sql_take(wire, member, got);
    if (what != NULL && request->code == PAWL_OK)
        request->code = pawl_error_set(
            request->error, PAWL_EPERSIST, "%s: column %u holds '%.*s', no %s",
            request->session->store->base.scheme, column + 1, PAWL_TEXT_ARGS(got->text), what);
}

void pawl__sql_request_get(pawl__sql_request *request, const pawl__field_list *columns, void *row)
{
    for (size_t i = 0; i < columns->count && i < PAWL__SQL_COLUMNS_MAX; i++)
        get_field(request, (unsigned)i, columns->items[i].wire,
                  (char *)row + columns->items[i].offset);
}

int64_t pawl__sql_request_changed(pawl__sql_request *request)
{
    int64_t found = ops_of(request)->found(request->statement);
    if (found < 0 && request->code == PAWL_OK)
        request->code = pawl__sql_not_counted(request->session, request->error);
    return found;
}

pawl_code pawl__sql_request_end(pawl__sql_request *request)
{
    if (request == NULL)
        return PAWL_OK;
    pawl__sql_session *session = request->session;
    pawl_code          code    = request->code;
    if (request->statement != NULL && request->statement->column_count != 0)
        ops_of(request)->free_rows(session, request->statement);
    if (session->spare != NULL)
        pawl_free(request);
    else
        session->spare = request;
    return code;
}

/* ---- Texts -------------------------------------------------------------- */

typedef struct first_text {
    char  *to;
    size_t size;
    bool   is_there;
} first_text;

static void take_text(void *context, const pawl_text *columns)
{
    first_text *first = context;
    if (!first->is_there && columns[0].data != NULL)
        (void)snprintf(first->to, first->size, "%.*s", PAWL_TEXT_ARGS(columns[0]));
    first->is_there = true;
}

pawl_code pawl__sql_ask_text(pawl__sql_session *session, const char *text, char *to, size_t size,
                             pawl_error *error)
{
    first_text first = {.to = to, .size = size};
    to[0]            = '\0';
    return session->store->ops->ask(session, text, take_text, &first, error);
}

pawl_code pawl__sql_ask_number(pawl__sql_session *session, const char *text, int64_t *number,
                               pawl_error *error)
{
    char      digits[40];
    pawl_code code = pawl__sql_ask_text(session, text, digits, sizeof digits, error);
    *number        = strtoll(digits, NULL, 10);
    return code;
}

/* ---- Findings ------------------------------------------------------------ */

static pawl_text kept(pawl_arena *arena, pawl_text text)
{
    return text.data != NULL ? pawl_arena_text(arena, text) : PAWL_TEXT("");
}

typedef struct finding_rows {
    pawl_arena *arena;
    pawl_found *found;
    size_t      capacity;
    bool        is_failed;
} finding_rows;

static void take_finding(void *context, const pawl_text *columns)
{
    finding_rows    *to = context;
    pawl__sql_found *item =
        pawl_arena_grow(to->arena, to->found->items, to->found->count, &to->capacity, sizeof *item);
    to->is_failed |= item == NULL;
    if (item == NULL)
        return;
    to->found->items         = item;
    item[to->found->count++] = (pawl__sql_found){
        .number = columns[0].data != NULL ? strtoll(columns[0].data, NULL, 10) : 0,
        .text   = kept(to->arena, columns[1]),
        .remedy = kept(to->arena, columns[2]),
    };
}

pawl_code pawl__sql_session_findings(pawl_store *base, const char *text, pawl_arena *arena,
                                     pawl_found *found, pawl_error *error)
{
    const pawl__sql_store *store   = (const pawl__sql_store *)base;
    pawl__sql_session     *session = pawl__sql_session_of(store->connection);
    finding_rows           to      = {.arena = arena, .found = found};
    pawl_code              code    = store->ops->ask(session, text, take_finding, &to, error);
    return code == PAWL_OK && to.is_failed ? pawl__sql_no_memory(base, "rows", error) : code;
}
