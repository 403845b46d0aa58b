/* set.c - writes or loads several items with one statement (a set). MariaDB takes a bulk execute: the text for one
 * item, and the parameters of all items in one packet. MySQL, and loads of sagas, take rows of values
 * (sql/dialects/mysql_sets.h).
 *
 * The server returns only the total number of rows. A set is done if that shows that each item found its row, or that
 * none did (as for timeouts, which are usually new). Otherwise the set is undone, by a savepoint, and its items are
 * written one by one, which is exact. A failed insert of rows of values leaves no rows, and needs no savepoint.
 *
 * Texts with rows of values have 8, 16 ... 256 rows, so that few are prepared. A join is padded with rows of nulls,
 * which find nothing; an insert takes the largest such number of items, and the next set the others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

#include <string.h>

#define SET_MIN 4    /* fewer items are as fast one by one */
#define ROWS_MIN 8   /* the same for rows of values; rows of the smallest text */
#define ROWS_MAX 256 /* rows of the largest text */

_Static_assert(ROWS_MIN << (PAWL__MYSQL_SETS_COUNT - 1) == ROWS_MAX,
               "a text for each power of two");

typedef struct set {
    pawl__mysql_connection *connection;
    const pawl__sql_write  *write;
    pawl__mysql_statement  *statement; /* for a single item */
    const void *const      *items;
    size_t                  count;
    unsigned                affected;   /* rows found by all items together */
    bool                    is_refused; /* a bulk execute that was not sent */
    /* Of a bulk execute. */
    pawl__mysql_put  put;
    pawl__mysql_room rooms[PAWL__SQL_FIELDS_MAX];
    char             indicators[PAWL__SQL_PLACEHOLDERS_MAX];
} set;

static const pawl_saga_table *table_of(const pawl__sql_write *write, const void *item)
{
    return write->is_saga ? pawl__saga_table_of(item) : NULL;
}

/* ---- Bulk execute ------------------------------------------------------- */

/* Called by the library for each item: sets the parameters to be put into the packet. If the type of a parameter
 * differs from that of the first item, the set is not sent, and its items are written one by one. */
static my_bool fill(void *data, MYSQL_BIND *placeholders, unsigned row)
{
    set       *s = data;
    MYSQL_BIND own[PAWL__SQL_PLACEHOLDERS_MAX];
    pawl__mysql_put_end(&s->put);
    pawl__mysql_put_item(&s->put, &s->write->parameters, s->items[row]);
    pawl__mysql_put_placeholders(s->statement, &s->put, own);
    for (unsigned i = 0; i < s->statement->base.placeholder_count; i++) {
        bool is_null           = own[i].is_null != NULL && *own[i].is_null;
        s->is_refused          = s->is_refused || own[i].buffer_type != placeholders[i].buffer_type;
        s->indicators[i]       = is_null ? STMT_INDICATOR_NULL : STMT_INDICATOR_NONE;
        placeholders[i].buffer = own[i].buffer;
        *placeholders[i].length = own[i].length != NULL ? *own[i].length : own[i].buffer_length;
        /* The library reserves buffer_length bytes, and writes `length` of them. */
        placeholders[i].buffer_length = *placeholders[i].length;
    }
    return s->is_refused;
}

/* The function in the form that mysql_stmt_attr_set takes. */
static const void *address_of(ps_param_callback *function)
{
    const void *address;
    memcpy(&address, function, sizeof address);
    return address;
}

/* Sets the statement up for `count` items; 0 and NULL: for single items again. */
static void set_size(MYSQL_STMT *stmt, unsigned count, set *s)
{
    ps_param_callback function = s != NULL ? fill : NULL;
    (void)mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &count);
    (void)mysql_stmt_attr_set(stmt, STMT_ATTR_CB_USER_DATA, s);
    (void)mysql_stmt_attr_set(stmt, STMT_ATTR_CB_PARAM, address_of(&function));
}

static pawl_code run_bulk(set *s, pawl_error *error)
{
    MYSQL_BIND             placeholders[PAWL__SQL_PLACEHOLDERS_MAX];
    unsigned long          lengths[PAWL__SQL_PLACEHOLDERS_MAX];
    pawl__mysql_statement *statement = s->statement;
    s->put.rooms                     = s->rooms;
    pawl__mysql_put_item(&s->put, &s->write->parameters, s->items[0]);
    pawl__mysql_put_placeholders(statement, &s->put, placeholders);
    for (unsigned i = 0; i < statement->base.placeholder_count; i++) {
        placeholders[i].length      = &lengths[i];
        placeholders[i].is_null     = NULL;
        placeholders[i].u.indicator = &s->indicators[i];
    }
    set_size(statement->stmt, (unsigned)s->count, s);
    bool      is_bound = mysql_stmt_bind_param(statement->stmt, placeholders) == 0;
    pawl_code code     = is_bound ? pawl__mysql_run(s->connection, statement, error) : PAWL_OK;
    set_size(statement->stmt, 0, NULL);
    pawl__mysql_put_end(&s->put);
    s->is_refused = s->is_refused || !is_bound;
    s->affected   = (unsigned)mysql_stmt_affected_rows(statement->stmt);
    return code;
}

/* Can the server execute in bulk? MySQL cannot, nor can poolers that do not announce it. Inserts with a subquery are
 * left out: MariaDB would use its result for the first row in all rows. */
static bool can_bulk(const set *s)
{
    const char *one =
        pawl__sql_template_of(&s->connection->session, s->write->statement, s->write->is_saga);
    unsigned long capabilities = 0;
    (void)mariadb_get_infov(s->connection->mysql, MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES,
                            &capabilities);
    return (capabilities & (MARIADB_CLIENT_STMT_BULK_OPERATIONS >> 32)) != 0 &&
           (s->statement->form.shape != PAWL__MYSQL_VALUES || strstr(one, "(select ") == NULL);
}

/* ---- Rows of values ----------------------------------------------------- */

static unsigned placeholder_count_of(const set *s)
{
    bool is_join = s->statement->form.shape != PAWL__MYSQL_VALUES;
    return is_join ? (unsigned)s->write->parameters.count : s->statement->base.placeholder_count;
}

static pawl_code no_memory(const set *s, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory for a set",
                          s->connection->session.store->base.scheme);
}

static pawl_code prepare(const set *s, unsigned rows, pawl__mysql_statement *made,
                         pawl_error *error)
{
    pawl__sql_text        text   = {0};
    const pawl__mysql_set many   = {.session = &s->connection->session,
                                    .write   = s->write,
                                    .form    = s->statement->form,
                                    .item    = s->items[0]};
    made->base.placeholder_count = rows * placeholder_count_of(s);
    pawl__mysql_set_text(&text, &many, rows);
    pawl_code code = pawl__mysql_prepare_text(s->connection, made, &text, error);
    pawl__sql_text_free(&text);
    return code;
}

/* Finds the statement with so many rows, or prepares it. */
static pawl_code find_text(const set *s, unsigned rows, pawl__mysql_statement **found,
                           pawl_error *error)
{
    int which = 0;
    while (ROWS_MIN << which < (int)rows)
        which++;
    if (s->statement->sets == NULL)
        s->statement->sets = pawl_allocate(PAWL__MYSQL_SETS_COUNT * sizeof **found);
    if (s->statement->sets == NULL)
        return no_memory(s, error);
    *found = &s->statement->sets[which];
    return (*found)->stmt != NULL ? PAWL_OK : prepare(s, rows, *found, error);
}

/* Room for the binds of all rows, and for their values. */
static MYSQL_BIND *make_room(const set *s, unsigned rows, pawl__mysql_room **rooms)
{
    pawl__mysql_connection *connection = s->connection;
    size_t                  binds      = rows * placeholder_count_of(s) * sizeof(MYSQL_BIND);
    size_t size = binds + rows * s->write->parameters.count * sizeof(pawl__mysql_room);
    if (size > connection->set_size) {
        pawl_free(connection->set);
        connection->set      = pawl_allocate(size);
        connection->set_size = connection->set != NULL ? size : 0;
    }
    *rooms = (void *)((char *)connection->set + binds);
    return connection->set;
}

static void put_rows(const set *s, unsigned rows, pawl__mysql_put *put, MYSQL_BIND *to)
{
    static my_bool          is_null           = 1;
    const pawl__field_list *fields            = &s->write->parameters;
    unsigned                placeholder_count = placeholder_count_of(s);
    bool                    is_join           = s->statement->form.shape != PAWL__MYSQL_VALUES;
    for (unsigned row = 0; row < rows; row++, to += placeholder_count) {
        if (row >= s->count) {
            memcpy(to, to - placeholder_count, placeholder_count * sizeof *to);
            for (unsigned i = 0; i < placeholder_count; i++)
                to[i].is_null = &is_null;
            continue;
        }
        pawl__mysql_put_item(put, fields, s->items[row]);
        put->rooms += fields->count;
        if (is_join)
            memcpy(to, put->binds, placeholder_count * sizeof *to);
        else
            pawl__mysql_put_placeholders(s->statement, put, to);
    }
}

static pawl__mysql_statement *run_rows(set *s, pawl_code *code, pawl_error *error)
{
    pawl__mysql_statement *statement = NULL;
    unsigned               rows      = ROWS_MIN;
    while (rows < s->count)
        rows *= 2;
    *code             = find_text(s, rows, &statement, error);
    MYSQL_BIND *binds = make_room(s, rows, &s->put.rooms);
    if (*code == PAWL_OK && binds == NULL)
        *code = no_memory(s, error);
    if (*code != PAWL_OK)
        return NULL;
    put_rows(s, rows, &s->put, binds);
    *code = mysql_stmt_bind_param(statement->stmt, binds) == 0
                ? pawl__mysql_run(s->connection, statement, error)
                : no_memory(s, error);
    pawl__mysql_put_end(&s->put);
    s->affected = (unsigned)mysql_stmt_affected_rows(statement->stmt);
    return *code == PAWL_OK ? statement : NULL;
}

/* ---- Sets --------------------------------------------------------------- */

/* AGGREGATOR_DELETE_ALL is left out: an item removes several rows, so their number does not show which items found
 * some. */
static bool can_be_set(const set *s, bool is_bulk)
{
    bool is_join = s->statement->form.index != NULL &&
                   !pawl__mysql_is_mariadb(pawl__sql_remote_at(&s->connection->session));
    if (!is_bulk)
        return s->statement->form.shape == PAWL__MYSQL_VALUES || is_join;
    bool counts_items = s->write->is_saga || s->write->statement != PAWL__SQL_AGGREGATOR_DELETE_ALL;
    return counts_items && s->statement->base.column_count == 0 &&
           s->statement->base.placeholder_count != 0;
}

/* Counts the first items that go together: those of one table that fit into a packet, and into a text. */
static size_t take(const set *s, size_t count, bool is_bulk)
{
    size_t                 size_max = s->connection->session.packet_max - PAWL__MYSQL_PACKET_REST;
    const pawl_saga_table *table    = table_of(s->write, s->items[0]);
    size_t                 taken = 0, size = 0, rows = ROWS_MAX;
    for (; taken < count && taken < ROWS_MAX; taken++) {
        if (table != NULL && !pawl__sql_saga_same(table, pawl__saga_table_of(s->items[taken])))
            break;
        size += pawl__mysql_size_of(&s->write->parameters, s->items[taken]);
        if (size > size_max)
            break;
    }
    if (is_bulk || s->statement->form.shape != PAWL__MYSQL_VALUES)
        return taken >= SET_MIN ? taken : 1;
    while (rows > taken)
        rows /= 2;
    return rows >= ROWS_MIN ? rows : 1;
}

static pawl_code run(set *s, bool is_bulk, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (is_bulk)
        return run_bulk(s, error);
    (void)run_rows(s, &code, error);
    return code;
}

/* An unexpected answer undoes the whole round, so the set needs no savepoint. */
static pawl_code send_set_ahead(set *s, bool is_bulk, bool is_counted, bool *is_done,
                                pawl_error *error)
{
    pawl_code code = run(s, is_bulk, error);
    if (s->is_refused)
        return PAWL_OK;
    *is_done = code == PAWL_OK;
    if (*is_done)
        pawl__sql_expect(
            &s->connection->session,
            (pawl__sql_unread){.item = s->items[0], .wanted = is_counted ? (unsigned)s->count : 0});
    return code;
}

/* If only the statement failed, a single item may be the cause, which is found by writing the items one by one. If no
 * row was found, every item has missed. */
static pawl_code run_set(set *s, bool is_bulk, pawl__sql_result *results, bool *is_done,
                         pawl_error *error)
{
    bool is_insert  = s->statement->form.shape == PAWL__MYSQL_VALUES;
    bool is_counted = s->statement->form.shape == PAWL__MYSQL_UPDATE ||
                      (!is_insert && pawl__sql_expects(s->write, PAWL__SQL_MISSED));
    if (pawl__sql_is_ahead(&s->connection->session))
        return send_set_ahead(s, is_bulk, is_counted, is_done, error);
    pawl_code code =
        is_insert ? PAWL_OK : pawl__mysql_query(s->connection, "savepoint pawl_set", error);
    if (code != PAWL_OK) /* else the rollback below would use an older savepoint of this name */
        return code;
    code = run(s, is_bulk, error);
    if (code != PAWL_OK && !s->is_refused && !pawl__sql_may_go_on(&s->connection->session, code))
        return code;
    bool is_none = is_counted && s->affected == 0;
    *is_done =
        code == PAWL_OK && !s->is_refused && (!is_counted || is_none || s->affected >= s->count);
    for (size_t i = 0; *is_done && is_none && i < s->count; i++)
        results[i] = PAWL__SQL_MISSED;
    if (*is_done || is_insert)
        return PAWL_OK;
    return pawl__mysql_query(s->connection, "rollback to savepoint pawl_set", error);
}

pawl_code pawl__mysql_write_set(pawl__sql_session *session, const pawl__sql_write *write,
                                const void *const *items, size_t count, pawl__sql_result *results,
                                size_t *taken, bool *is_done, pawl_error *error)
{
    pawl__mysql_connection *connection = pawl__mysql_connection_of(session);
    set                     s          = {.connection = connection, .write = write, .items = items};
    pawl_code               code       = PAWL_OK;
    *taken                             = 1;
    *is_done                           = false;
    /* `is_there`: an existing row would undo the set, or be taken for the result of all items. */
    if (count < SET_MIN || connection->session.is_callers || write->is_there)
        return PAWL_OK;
    s.statement =
        pawl__mysql_prepared(connection, write->statement, table_of(write, items[0]), &code, error);
    bool is_bulk = s.statement != NULL && can_bulk(&s);
    if (s.statement == NULL || !can_be_set(&s, is_bulk))
        return code;
    s.count = *taken = take(&s, count, is_bulk);
    return s.count > 1 ? run_set(&s, is_bulk, results, is_done, error) : PAWL_OK;
}

pawl__sql_prepared *pawl__mysql_load_set(pawl__sql_session *session, int statement,
                                         const pawl__field_list *fields, const void *const *items,
                                         size_t count, pawl_code *code, pawl_error *error)
{
    pawl__mysql_connection *connection = pawl__mysql_connection_of(session);
    const pawl__sql_write write = {.statement = statement, .is_saga = true, .parameters = *fields};
    set s = {.connection = connection, .write = &write, .items = items, .count = count};
    s.statement =
        pawl__mysql_prepared(connection, statement, table_of(&write, items[0]), code, error);
    pawl__mysql_statement *run = s.statement != NULL ? run_rows(&s, code, error) : NULL;
    return run != NULL ? &run->base : NULL;
}
