/* limit.c - opening a loop, its statements, and what goes over the wire.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

#include "limit_mysql.h"

#include "pawl/store_driver.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_ROOM (PAWL_NAME_SIZE_MAX + 4) /* a key, its quotes and its comma */

const my_texts pawl__my_saga_update = {
    .mariadb = {.head = "update " SAGA_TABLE " set `Concurrency` = `Concurrency` + 1, `Data` = ? "
                        "where `Id` = ? and `Concurrency` = ?"},
    /* The key is turned into the column's character set: else its index is not used. */
    .mysql = {.head = "update (values ",
              .row  = "row(?, ?, ?)",
              .tail = ") as j (state, id, version) straight_join " SAGA_TABLE
                      " as t force index (primary) on t.`Id` = convert(j.id using ascii) "
                      "set t.`Concurrency` = t.`Concurrency` + 1, t.`Data` = j.state "
                      "where t.`Concurrency` = j.version"},
};

static const my_texts fence = MY_SAME(
    "update " TABLE("workers") " set `LastCommit` = ?, `Seen` = ?, `Messages` = `Messages` + ? "
                               "where `Id` = ? and `Epoch` = ?");

/* ---- Failures -------------------------------------------------------------- */

static void set_failed(my_loop *l, MYSQL_STMT *stmt, const char *what)
{
    const char *text = stmt != NULL ? mysql_stmt_error(stmt) : mysql_error(l->db);
    if (l->code == PAWL_OK)
        l->code = pawl_error_set(l->error, PAWL_EPERSIST, "the loop: %s: %s: %s",
                                 l->is_mariadb ? "mariadb" : "mysql", what, text);
}

/* ---- Opening and closing --------------------------------------------------- */

/* Whether each answer is read before the next statement is sent. */
static void set_reading(my_loop *l, bool is_read)
{
    my_bool skips = !is_read;
    (void)mysql_optionsv(l->db, MARIADB_OPT_SKIP_READ_RESPONSE, &skips);
}

static void prepare(my_loop *l, const my_text *text, size_t rows, MYSQL_STMT **stmt)
{
    size_t size = strlen(text->head) + 1;
    if (l->code != PAWL_OK)
        return;
    if (text->row != NULL)
        size += rows * (strlen(text->row) + 1) + strlen(text->tail);
    char *sql = pawl_allocate(size);
    if (sql == NULL) {
        l->code = pawl_error_set(l->error, PAWL_ENOMEM, "no memory for a statement");
        return;
    }
    char *at = stpcpy(sql, text->head);
    for (size_t i = 0; text->row != NULL && i < rows; i++)
        at = stpcpy(i > 0 ? stpcpy(at, ",") : at, text->row);
    if (text->row != NULL)
        at = stpcpy(at, text->tail);
    *stmt = mysql_stmt_init(l->db);
    if (*stmt == NULL || mysql_stmt_prepare(*stmt, sql, (unsigned long)(at - sql)) != 0)
        set_failed(l, *stmt, sql);
    pawl_free(sql);
}

static void add_statement(my_loop *l, const my_texts *texts)
{
    bool          is_own = !l->is_mariadb && texts->mysql.head != NULL;
    my_statement *added  = &l->statements[l->statement_count++];
    assert(l->statement_count <= MY_STATEMENTS_MAX);
    added->text     = is_own ? texts->mysql : texts->mariadb;
    bool   has_rows = !l->is_mariadb && added->text.row != NULL;
    size_t sizes    = has_rows ? MY_SIZES : 1;
    for (size_t i = 0; i < sizes; i++)
        if (i == 0 || (size_t)1 << i >= MY_SINGLE_ROWS)
            prepare(l, &added->text, (size_t)1 << i, &added->stmts[i]);
}

void pawl__my_open(my_loop *l, pawl_store *store, const my_texts *texts, size_t count,
                   pawl_error *error)
{
    *l      = (my_loop){.store = store, .db = pawl_store_native(store, "MYSQL"), .error = error};
    l->code = pawl_store_worker_open(store, PAWL_TEXT(PAWL__BENCH_QUEUE), PAWL_TEXT("[]"),
                                     pawl_clock_now(NULL), error);
    l->is_mariadb = mariadb_connection(l->db);
    l->binds      = pawl_allocate(((size_t)1 << MY_SIZES) / 2 * MY_COLUMNS_MAX * sizeof *l->binds);
    if (l->code == PAWL_OK && l->binds == NULL)
        l->code = pawl_error_set(error, PAWL_ENOMEM, "no memory for a batch");
    pawl_uuid_format(pawl_store_worker(store).uuid, l->worker);
    for (size_t i = 0; i < count; i++)
        add_statement(l, &texts[i]);
    l->fence = (int)count;
    add_statement(l, &fence);
    if (l->code == PAWL_OK && mysql_autocommit(l->db, 0) != 0)
        set_failed(l, NULL, "autocommit");
    set_reading(l, false);
}

void pawl__my_close(my_loop *l)
{
    if (l->db == NULL)
        return;
    pawl__my_read(l);
    set_reading(l, true);
    (void)mysql_rollback(l->db);
    (void)mysql_autocommit(l->db, 1);
    for (size_t i = 0; i < l->statement_count; i++)
        for (size_t j = 0; j < MY_SIZES; j++)
            if (l->statements[i].stmts[j] != NULL)
                (void)mysql_stmt_close(l->statements[i].stmts[j]);
    pawl_free(l->binds);
    pawl_free(l->json);
    l->db = NULL;
}

/* ---- Sets ------------------------------------------------------------------ */

pawl_code pawl__my_columns_create(my_column *columns, const bool *is_int, size_t count, size_t rows,
                                  pawl_error *error)
{
    bool has_all = true;
    for (size_t i = 0; i < count; i++) {
        columns[i] = (my_column){.is_int = is_int[i]};
        if (is_int[i])
            columns[i].ints = pawl_allocate(rows * sizeof(int64_t));
        else
            columns[i].texts = pawl_allocate(rows * sizeof(char *));
        columns[i].sizes = pawl_allocate(rows * sizeof(unsigned long));
        has_all &=
            columns[i].sizes != NULL && (columns[i].ints != NULL || columns[i].texts != NULL);
    }
    return has_all ? PAWL_OK : pawl_error_set(error, PAWL_ENOMEM, "no memory for a batch");
}

void pawl__my_columns_destroy(my_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pawl_free(columns[i].ints);
        pawl_free(columns[i].texts);
        pawl_free(columns[i].sizes);
    }
}

static void add_json_key(my_loop *l, const my_column *keys, size_t row)
{
    const char *quote = keys->is_json ? "" : "\"";
    char       *at    = l->json + l->json_size;
    l->json_size += keys->is_int ? (size_t)sprintf(at, "%lld,", (long long)keys->ints[row])
                                 : (size_t)sprintf(at, "%s%.*s%s,", quote, (int)keys->sizes[row],
                                                   keys->texts[row], quote);
}

/* Keys of the loops have no letter that JSON escapes. */
static void build_json(my_loop *l, const my_column *keys)
{
    if (l->json_capacity < keys->count * KEY_ROOM + 2) {
        l->json_capacity = (keys->count * KEY_ROOM + 2) * 2;
        pawl_free(l->json);
        l->json = pawl_allocate(l->json_capacity);
    }
    if (l->json == NULL) {
        l->code          = pawl_error_set(l->error, PAWL_ENOMEM, "no memory for a batch");
        l->json_capacity = 0;
        return;
    }
    l->json[0]   = '[';
    l->json_size = 1;
    for (size_t i = 0; i < keys->count; i++)
        add_json_key(l, keys, i);
    l->json_size -= l->json_size > 1;
    l->json[l->json_size++] = ']';
}

/* ---- Sending --------------------------------------------------------------- */

static void make_room(my_loop *l)
{
    if (l->pending_count == MY_PENDING_MAX)
        pawl__my_read(l);
}

static void execute(my_loop *l, MYSQL_STMT *stmt, unsigned array_size, MYSQL_BIND *parameters,
                    int64_t rows, const char *what)
{
    make_room(l);
    if (l->code != PAWL_OK)
        return;
    if (array_size > 0)
        (void)mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &array_size);
    if (mysql_stmt_bind_param(stmt, parameters) != 0 || mysql_stmt_execute(stmt) != 0) {
        set_failed(l, stmt, what);
        return;
    }
    l->pending[l->pending_count++] = (my_answer){.stmt = stmt, .rows = rows, .what = what};
}

/* MariaDB: one statement, and an array for each of its parameters. */
static void write_bulk(my_loop *l, const my_statement *statement, const my_column *const *columns,
                       size_t count, const char *what)
{
    MYSQL_BIND binds[MY_COLUMNS_MAX];
    for (size_t i = 0; i < count; i++) {
        const my_column *column = columns[i];
        binds[i] =
            (MYSQL_BIND){.buffer_type = column->is_int ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_STRING,
                         .buffer = column->is_int ? (void *)column->ints : (void *)column->texts,
                         .length = column->is_int ? NULL : column->sizes};
    }
    size_t rows = columns[0]->count;
    execute(l, statement->stmts[0], (unsigned)rows, binds, (int64_t)rows, what);
}

static void write_rows(my_loop *l, MYSQL_STMT *stmt, const my_column *const *columns, size_t count,
                       size_t first, size_t rows, const char *what)
{
    MYSQL_BIND *to = l->binds;
    for (size_t row = first; row < first + rows; row++)
        for (size_t i = 0; i < count; i++)
            *to++ = columns[i]->is_int
                        ? my_put_int(&columns[i]->ints[row])
                        : my_put_text(columns[i]->texts[row], columns[i]->sizes[row]);
    execute(l, stmt, 0, l->binds, (int64_t)rows, what);
}

/* MySQL: the largest powers of two first. */
static void write_values(my_loop *l, const my_statement *statement, const my_column *const *columns,
                         size_t count, const char *what)
{
    size_t size = MY_SIZES - 1;
    for (size_t first = 0; l->code == PAWL_OK && first < columns[0]->count;) {
        while (size > 0 &&
               (first + ((size_t)1 << size) > columns[0]->count || statement->stmts[size] == NULL))
            size--;
        write_rows(l, statement->stmts[size], columns, count, first, (size_t)1 << size, what);
        first += (size_t)1 << size;
    }
}

void pawl__my_write(my_loop *l, size_t statement, const my_column *const *columns, size_t count,
                    const char *what)
{
    const my_statement *it   = &l->statements[statement];
    int64_t             rows = (int64_t)columns[0]->count;
    if (rows == 0 || l->code != PAWL_OK)
        return;
    if (l->is_mariadb)
        write_bulk(l, it, columns, count, what);
    else if (it->text.row != NULL)
        write_values(l, it, columns, count, what);
    else {
        pawl__my_ask(l, statement, columns[0], what);
        l->pending[l->pending_count - 1].rows = rows;
    }
}

void pawl__my_send(my_loop *l, size_t statement, MYSQL_BIND *parameters, int64_t rows,
                   const char *what)
{
    execute(l, l->statements[statement].stmts[0], 0, parameters, rows, what);
}

void pawl__my_ask(my_loop *l, size_t statement, const my_column *keys, const char *what)
{
    build_json(l, keys);
    MYSQL_BIND json = my_put_text(l->json, l->json_size);
    pawl__my_send(l, statement, &json, -1, what);
}

void pawl__my_send_fence(my_loop *l, const char *now, int64_t messages)
{
    char commit[PAWL_UUID_TEXT_SIZE];
    pawl__loop_uuid(commit, 1, ++l->commits);
    int64_t    epoch    = l->store->epoch;
    MYSQL_BIND values[] = {my_put_text(commit, sizeof commit), my_put_text(now, MY_TIME_SIZE),
                           my_put_int(&messages), my_put_text(l->worker, PAWL_UUID_TEXT_SIZE),
                           my_put_int(&epoch)};
    pawl__my_send(l, (size_t)l->fence, values, 1, "fence");
}

void pawl__my_query(my_loop *l, const char *text)
{
    make_room(l);
    if (l->code != PAWL_OK)
        return;
    if (mysql_send_query(l->db, text, (unsigned long)strlen(text)) != 0)
        set_failed(l, NULL, text);
    else
        l->pending[l->pending_count++] = (my_answer){.rows = -1, .what = text};
}

/* ---- Answers --------------------------------------------------------------- */

static void read_answer(my_loop *l, const my_answer *answer)
{
    MYSQL_STMT *stmt   = answer->stmt;
    int         failed = stmt != NULL ? l->db->methods->db_read_execute_response(stmt)
                                      : mysql_read_query_result(l->db);
    if (failed != 0)
        set_failed(l, stmt, answer->what);
    else if (answer->rows >= 0 && l->code == PAWL_OK &&
             (int64_t)mysql_stmt_affected_rows(stmt) != answer->rows)
        l->code = pawl_error_set(l->error, PAWL_EBUG, "the loop: %s: %lld rows, should be %lld",
                                 answer->what, (long long)mysql_stmt_affected_rows(stmt),
                                 (long long)answer->rows);
}

void pawl__my_read(my_loop *l)
{
    for (size_t i = 0; i < l->pending_count; i++) {
        read_answer(l, &l->pending[i]);
        if (l->pending[i].stmt != NULL) /* rows that nobody fetches are read, too */
            (void)mysql_stmt_free_result(l->pending[i].stmt);
    }
    l->pending_count = 0;
}

void pawl__my_bind(my_loop *l, size_t statement, MYSQL_BIND *columns)
{
    MYSQL_STMT *stmt = l->statements[statement].stmts[0];
    if (l->code == PAWL_OK && mysql_stmt_bind_result(stmt, columns) != 0)
        set_failed(l, stmt, "columns");
}

void pawl__my_take(my_loop *l, size_t statement)
{
    size_t at = 0;
    while (at < l->pending_count && l->pending[at].stmt != l->statements[statement].stmts[0])
        read_answer(l, &l->pending[at++]);
    assert(at < l->pending_count || l->code != PAWL_OK);
    if (at < l->pending_count)
        read_answer(l, &l->pending[at++]);
    memmove(l->pending, l->pending + at, (l->pending_count - at) * sizeof *l->pending);
    l->pending_count -= at;
}

bool pawl__my_fetch(my_loop *l, size_t statement)
{
    MYSQL_STMT *stmt = l->statements[statement].stmts[0];
    if (l->code != PAWL_OK)
        return false;
    int result = mysql_stmt_fetch(stmt);
    if (result != 0 && result != MYSQL_NO_DATA)
        set_failed(l, stmt, "a row");
    return result == 0;
}

/* ---- JSON ------------------------------------------------------------------ */

static const char *find(my_loop *l, const char *json, size_t size, const char *key)
{
    const char *found = pawl__loop_find(json, size, key);
    if (found == NULL && l->code == PAWL_OK)
        l->code = pawl_error_set(l->error, PAWL_EBUG, "the loop found no %s in %.*s", key,
                                 (int)size, json);
    return found;
}

int64_t pawl__my_number(my_loop *l, const char *json, size_t size, const char *key)
{
    const char *found = find(l, json, size, key);
    return found != NULL ? strtoll(found, NULL, 10) : 0;
}

void pawl__my_text_of(my_loop *l, const char *json, size_t size, const char *key, char *copy,
                      size_t copy_size)
{
    const char *found = find(l, json, size, key);
    if (found != NULL && found + copy_size <= json + size)
        memcpy(copy, found, copy_size);
}
