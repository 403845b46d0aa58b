/* version_check.c - checks before a write: versions of sagas, and predecessors of events.
 *
 * An update waits for a row that another session has locked, even if the row has another version already and the
 * update must fail; that session may keep the lock as long as its handlers run. A plain read waits for nobody. So one
 * read per saga table finds the outdated items, which are refused without a write. If a row changes after the check,
 * the write finds that, as always.
 *
 * Events are never removed. So if all predecessors exist, the inserts need no subquery that looks for them: with it
 * MariaDB cannot insert a set, and MySQL only slowly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/family.h"

#include <stdlib.h>
#include <string.h>

/* A row that the check read. */
typedef struct seen_row {
    pawl_uuid id; /* first: the key of the search */
    int64_t   version;
} seen_row;

typedef struct version_check {
    seen_row         *rows; /* by id */
    size_t            row_count;
    const void      **items;   /* of one table; later: still to be written */
    pawl__sql_result *results; /* of these */
} version_check;

/* Id and version are the last parameters of each write that expects a version. */
static const void *member_of(const pawl__sql_write *write, const void *item, size_t from_end)
{
    const pawl__field_list *fields = &write->parameters;
    return (const char *)item + fields->items[fields->count - from_end].offset;
}

static pawl_uuid id_of(const pawl__sql_write *write, const void *item)
{
    return *(const pawl_uuid *)member_of(write, item, 2);
}

static int by_id(const void *left, const void *right)
{
    return pawl_uuid_compare(((const seen_row *)left)->id, ((const seen_row *)right)->id);
}

static pawl__sql_connection *connection_of(pawl__sql_session *session)
{
    return (pawl__sql_connection *)(void *)session;
}

static pawl_code no_memory(const pawl__sql_session *session, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory", session->store->base.scheme);
}

/* A check reads no more rows than it has items. */
static void take_row(void *context, const pawl_text *columns)
{
    version_check *it   = context;
    seen_row      *seen = &it->rows[it->row_count++];
    seen->version       = strtoll(columns[1].data, NULL, 10);
    (void)pawl_uuid_parse(columns[0], &seen->id, NULL);
}

/* Reads the rows of all items, which have one table. Ids need no parameters: they are digits and hyphens. */
static pawl_code find_rows(pawl__sql_session *session, const pawl__sql_write *write,
                           version_check *it, size_t count, pawl_error *error)
{
    const pawl__sql_dialect *dialect = session->store->dialect;
    pawl__sql_text           text    = {0};
    char                     id[PAWL_UUID_TEXT_SIZE + 1];
    pawl__sql_append(&text, "select ");
    pawl__sql_append_name(&text, dialect, "", PAWL_TEXT("Id"));
    pawl__sql_append(&text, ", ");
    pawl__sql_append_name(&text, dialect, "", PAWL_TEXT("Concurrency"));
    pawl__sql_append(&text, " from ");
    pawl__sql_append_table(&text, dialect, "", pawl__saga_table_of(it->items[0])->name);
    pawl__sql_append(&text, " where ");
    pawl__sql_append_name(&text, dialect, "", PAWL_TEXT("Id"));
    for (size_t i = 0; i < count; i++) {
        pawl_uuid_format(id_of(write, it->items[i]), id);
        pawl__sql_appendf(&text, "%s'%s'", i == 0 ? " in (" : ",", id);
    }
    pawl__sql_append(&text, ")");
    it->row_count  = 0;
    pawl_code code = text.is_failed
                         ? no_memory(session, error)
                         : session->store->ops->ask(session, text.data, take_row, it, error);
    pawl__sql_text_free(&text);
    qsort(it->rows, it->row_count, sizeof *it->rows, by_id);
    return code;
}

/* Is the row gone, or newer than the item expects? An older row is accepted: an earlier item raises its version. */
static bool is_past(const version_check *it, const pawl__sql_write *write, const void *item)
{
    const seen_row  key = {.id = id_of(write, item)};
    const seen_row *seen =
        it->row_count == 0 ? NULL : bsearch(&key, it->rows, it->row_count, sizeof key, by_id);
    return seen == NULL || seen->version > *(const int64_t *)member_of(write, item, 1);
}

static bool is_of(const pawl_saga_table *table, const void *item)
{
    return pawl_text_equal(pawl__saga_table_of(item)->name, table->name);
}

/* Reads the versions of the sagas in the first item's table, and writes the results of these items. */
static pawl_code check_items(pawl__sql_session *session, const pawl__sql_write *write,
                             version_check *it, const void *const *items, size_t first,
                             size_t count, pawl__sql_result *results, pawl_error *error)
{
    const pawl_saga_table *table = pawl__saga_table_of(items[first]);
    pawl_code              code;
    size_t                 found = 0;
    /* Preparing checks the table's names, too, before they stand in a text. */
    if (pawl__sql_prepared_of(session, write->statement, table, &write->parameters, &code, error) ==
        NULL)
        return code;
    for (size_t i = first; i < count; i++)
        if (is_of(table, items[i]))
            it->items[found++] = items[i];
    code = find_rows(session, write, it, found, error);
    for (size_t i = first; code == PAWL_OK && i < count; i++)
        if (is_of(table, items[i]))
            results[i] = is_past(it, write, items[i]) ? PAWL__SQL_MISSED : PAWL__SQL_APPLIED;
    return code;
}

/* A result that is not known yet. */
#define UNKNOWN pawl__sql_result_count

static pawl_code check_all(pawl__sql_session *session, const pawl__sql_write *write,
                           version_check *it, const void *const *items, size_t count,
                           pawl__sql_result *results, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < count; i++)
        results[i] = UNKNOWN;
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        if (results[i] == UNKNOWN)
            code = check_items(session, write, it, items, i, count, results, error);
    return code;
}

/* Writes the items that are not outdated, in their order. */
static pawl_code write_rest(pawl__sql_session *session, const pawl__sql_write *write,
                            version_check *it, const void *const *items, size_t count,
                            pawl__sql_result *results, size_t *failed, pawl_error *error)
{
    size_t rest = 0, bad = 0;
    for (size_t i = 0; i < count; i++)
        if (results[i] != PAWL__SQL_MISSED)
            it->items[rest++] = items[i];
    if (rest == 0)
        return PAWL_OK;
    pawl_code code = pawl__sql_session_write(connection_of(session), write, it->items, rest,
                                             it->results, &bad, error);
    for (size_t i = 0, at = 0; i < count; i++) {
        if (results[i] == PAWL__SQL_MISSED)
            continue;
        *failed    = at == bad ? i : *failed;
        results[i] = it->results[at++];
    }
    return code;
}

/* ---- Events ------------------------------------------------------------- */

#define EVENTS_MIN 8 /* fewer are as fast one by one */

static void append_json(pawl__sql_text *json, pawl_text text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (byte < ' ' || byte == '"' || byte == '\\')
            pawl__sql_appendf(json, "\\u%04x", byte);
        else
            pawl__sql_append_text(json, (pawl_text){.data = &text.data[i], .size = 1});
    }
}

/* Lists the predecessors of the events as members of a JSON object; returns their number. */
static int64_t list_before(pawl__sql_text *json, const void *const *items, size_t count)
{
    int64_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        const pawl_event_append *append = items[i];
        if (!append->is_first || append->version == 1)
            continue;
        pawl__sql_appendf(json, "%s\"%zu\":{\"v\":%lld,\"s\":\"", listed++ == 0 ? "{" : ",", i,
                          (long long)append->version - 1);
        append_json(json, append->stream);
        pawl__sql_append(json, "\"}");
    }
    pawl__sql_append(json, "}");
    return listed;
}

static pawl_code count_listed(const pawl__sql_session *session, const pawl_text *json,
                              int64_t *found, pawl_error *error)
{
    const pawl__sql_asked asked = {session->store->family->event_count, &pawl__one_text, json,
                                   &pawl__one_int, 0};
    return pawl__sql_read_first(&session->store->base, &asked, NULL, found, error);
}

static pawl_code write_events(pawl__sql_session *session, const pawl__sql_write *write,
                              const void *const *items, size_t count, pawl__sql_result *results,
                              size_t *failed, pawl_error *error)
{
    pawl__sql_write sure   = *write;
    pawl__sql_text  text   = {0};
    int64_t         found  = 0;
    int64_t         listed = list_before(&text, items, count);
    pawl_text       json   = pawl__sql_text_of(&text);
    pawl_code       code   = text.is_failed ? no_memory(session, error) : PAWL_OK;
    if (code == PAWL_OK && listed != 0)
        code = count_listed(session, &json, &found, error);
    pawl__sql_text_free(&text);
    *failed = 0;
    if (code != PAWL_OK)
        return code;
    sure.statement = session->store->family->event_insert_sure;
    return pawl__sql_session_write(connection_of(session), found == listed ? &sure : write, items,
                                   count, results, failed, error);
}

/* ---- Both --------------------------------------------------------------- */

pawl_code pawl__sql_write_checked(pawl__sql_connection *connection, const pawl__sql_write *write,
                                  const void *const *items, size_t count, pawl__sql_result *results,
                                  size_t *failed, pawl_error *error)
{
    pawl__sql_session *session  = pawl__sql_session_of(connection);
    bool               is_event = !write->is_saga && write->statement == PAWL__SQL_EVENT_INSERT;
    /* Not in a caller's transaction, which may have an older snapshot. */
    if (session->store->family->event_count != 0 && is_event && count >= EVENTS_MIN &&
        !session->is_callers)
        return write_events(session, write, items, count, results, failed, error);
    if (!write->is_saga || !pawl__sql_expects(write, PAWL__SQL_MISSED) || session->is_callers)
        return pawl__sql_session_write(connection_of(session), write, items, count, results, failed,
                                       error);
    version_check it = {
        .rows = pawl_allocate(count * (sizeof *it.rows + sizeof *it.items + sizeof *it.results))};
    *failed = 0;
    if (it.rows == NULL)
        return no_memory(session, error);
    it.items       = (const void **)(void *)&it.rows[count];
    it.results     = (pawl__sql_result *)(void *)&it.items[count];
    pawl_code code = check_all(session, write, &it, items, count, results, error);
    if (code == PAWL_OK)
        code = write_rest(session, write, &it, items, count, results, failed, error);
    pawl_free(it.rows);
    return code;
}
