/* limit_mysql.h - the hand-written loops on MySQL and MariaDB: prepared statements whose answers are
 * read later, rows in sets.
 *
 *     pawl__my_open -> { my_add_..., pawl__my_write | pawl__my_ask | pawl__my_query } -> pawl__my_read,
 *     or pawl__my_take and pawl__my_fetch for statements with rows, in the order in which they were
 *     sent -> ... -> pawl__my_close
 *
 * Each server gets a set in the form that was measured to be its fastest. MariaDB: writes by bulk
 * execute, one row's statement and arrays of its parameters. MySQL: inserts and updates by rows of
 * VALUES, as many as a power of two, so that few texts are prepared; deletions by one JSON text. On both
 * a set that is read goes in one JSON text.
 *
 * A loop runs on the connection that the driver opened, so that no setting of
 * the two sides can differ. The first failure is kept in `code`, and nothing is
 * done after it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_LIMIT_MYSQL_H
#define PAWL_BENCH_LIMIT_MYSQL_H

#include "limit.h"

#include <mysql.h>

#define MY_STATEMENTS_MAX 10
#define MY_COLUMNS_MAX 12
#define MY_PENDING_MAX 64 /* answers that are not read yet */
#define MY_SIZES 10       /* of rows of VALUES: 1, 2, 4 ... 512 */
#define MY_SINGLE_ROWS 8  /* fewer rows than this go one by one */
#define MY_TIME_SIZE 26   /* of the text of a time, without NUL */

/* The shared tables, and the saga's. */
#define TABLE(name) "`" PAWL__BENCH_PREFIX name "`"
#define INDEX(name) "force index (`" PAWL__BENCH_PREFIX name "`)"
#define SAGA_TABLE "`" PAWL__BENCH_SAGA_PREFIX PAWL__BENCH_SAGA "`"
/* Elements of a JSON array, in the order of which the table behind is read; `on` follows. */
#define MY_KEYS(type) "json_table(?, '$[*]' columns (k " type " path '$')) as j straight_join "

/* A statement, or with `row` its parts: head, as many rows as there are, tail. */
typedef struct my_text {
    const char *head; /* NULL in the text of MySQL: that of MariaDB */
    const char *row;
    const char *tail;
} my_text;

typedef struct my_texts {
    my_text mariadb;
    my_text mysql;
} my_texts;

#define MY_SAME(text)                \
    {                                \
        .mariadb = {.head = (text) } \
    }
#define MY_INSERT(into, row_text)                                            \
    {                                                                        \
        .mariadb = {.head = into " values ", .row = (row_text), .tail = "" } \
    }
#define MY_DELETE(table, key, type)                                                            \
    {                                                                                          \
        .mariadb = {.head = "delete from " TABLE(table) " where `" key "` = ?"}, .mysql = {    \
            .head = "delete t from " MY_KEYS(type) TABLE(table) " as t force index (primary) " \
                                                                "on t.`" key "` = j.k"         \
        }                                                                                      \
    }

/* A message for a queue. Columns: due, placed, message id, correlation id, causation id, body. */
#define MY_SEND_HEAD                                                                              \
    "insert into " TABLE(                                                                         \
        "queue") " (`Queue`, `Due`, `Placed`, `Attempts`, `Deaths`, "                             \
                 "`WaitingSince`, `Error`, `MessageId`, `Type`, `CorrelationId`, `CausationId`, " \
                 "`Headers`, `Body`)"
#define MY_SEND_ROW(queue, type, headers) \
    "('" queue "', ?, ?, 0, 0, '1970-01-01', '', ?, '" type "', ?, ?, '" headers "', ?)"

extern const my_texts pawl__my_saga_update; /* columns: state, id, version */

/* Parameters of one column of a set. */
typedef struct my_column {
    bool           is_int;
    bool           is_json; /* its texts are elements of a JSON array as they are */
    size_t         count;
    int64_t       *ints;
    const char   **texts; /* borrowed until the set is sent */
    unsigned long *sizes;
} my_column;

typedef struct my_statement {
    my_text     text;
    MYSQL_STMT *stmts[MY_SIZES]; /* with 1, 2, 4 ... rows; the first for all other forms */
} my_statement;

typedef struct my_answer {
    MYSQL_STMT *stmt; /* NULL: of a query */
    int64_t     rows; /* so many have to be changed; -1: any number */
    const char *what;
} my_answer;

typedef struct my_loop {
    pawl_store  *store;
    MYSQL       *db; /* borrowed from the store */
    bool         is_mariadb;
    my_statement statements[MY_STATEMENTS_MAX];
    size_t       statement_count;
    int          fence; /* the number of its statement */
    my_answer    pending[MY_PENDING_MAX];
    size_t       pending_count;
    MYSQL_BIND  *binds; /* of rows of VALUES */
    char        *json;
    size_t       json_size, json_capacity;
    uint64_t     commits;
    char         worker[PAWL_UUID_TEXT_SIZE + 1];
    pawl_code    code;
    pawl_error  *error;
} my_loop;

/* Takes the store over and prepares the statements, and one more, the fence. */
void pawl__my_open(my_loop *l, pawl_store *store, const my_texts *texts, size_t count,
                   pawl_error *error);
/* Reads what was not read; an open transaction is rolled back. */
void pawl__my_close(my_loop *l);

/* ---- Sets ------------------------------------------------------------------ */

/* The memory of columns for so many rows; `is_int` for each. */
pawl_code pawl__my_columns_create(my_column *columns, const bool *is_int, size_t count, size_t rows,
                                  pawl_error *error);
void      pawl__my_columns_destroy(my_column *columns, size_t count);

static inline void my_add_int(my_column *column, int64_t value)
{
    column->ints[column->count++] = value;
}

static inline void my_add_text(my_column *column, const char *text, size_t size)
{
    column->sizes[column->count]   = size;
    column->texts[column->count++] = text;
}

/* As the servers read it: without the letter of its zone. */
static inline void my_time(pawl_time time, char text[PAWL_TIME_TEXT_SIZE + 1])
{
    pawl_time_format(time, text);
    text[MY_TIME_SIZE] = '\0';
}

/* ---- Statements ------------------------------------------------------------ */

/* Sends a write of all rows, each of which has to change one row. */
void pawl__my_write(my_loop *l, size_t statement, const my_column *const *columns, size_t count,
                    const char *what);
/* A statement that is no write of a set; `rows` as of my_answer. */
void pawl__my_send(my_loop *l, size_t statement, MYSQL_BIND *parameters, int64_t rows,
                   const char *what);
/* A statement whose parameter is a set of keys, as JSON. */
void pawl__my_ask(my_loop *l, size_t statement, const my_column *keys, const char *what);
void pawl__my_send_fence(my_loop *l, const char *now, int64_t messages);
void pawl__my_query(my_loop *l, const char *text);

/* Where the rows of a statement go; once, after open. */
void pawl__my_bind(my_loop *l, size_t statement, MYSQL_BIND *columns);
/* Reads the answers to all that was sent, which have no rows. */
void pawl__my_read(my_loop *l);
/* Reads the first of these answers, that of a statement with rows. */
void pawl__my_take(my_loop *l, size_t statement);
/* The next row; false at the end. All have to be fetched. */
bool pawl__my_fetch(my_loop *l, size_t statement);

static inline MYSQL_BIND my_put_text(const char *text, size_t size)
{
    return (MYSQL_BIND){
        .buffer_type = MYSQL_TYPE_STRING, .buffer = (void *)text, .buffer_length = size};
}

static inline MYSQL_BIND my_put_int(const int64_t *value)
{
    return (MYSQL_BIND){.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = (void *)value};
}

/* For results: the text has its size behind it. */
static inline MYSQL_BIND my_get_text(char *text, size_t capacity, unsigned long *size)
{
    return (MYSQL_BIND){.buffer_type   = MYSQL_TYPE_STRING,
                        .buffer        = text,
                        .buffer_length = capacity,
                        .length        = size};
}

/* The value behind the text `key` in the JSON; it has to be there. */
int64_t pawl__my_number(my_loop *l, const char *json, size_t size, const char *key);
void    pawl__my_text_of(my_loop *l, const char *json, size_t size, const char *key, char *copy,
                         size_t copy_size);

/* ---- The parts of the module ------------------------------------------------ */

/* The loops: one file each. */
pawl__bench_timed_fn pawl__bench_mysql_append;
pawl__bench_timed_fn pawl__bench_mysql_latency;
pawl__bench_timed_fn pawl__bench_mysql_saga_step;
pawl__bench_timed_fn pawl__bench_mysql_outbox_drain;
pawl__bench_timed_fn pawl__bench_mysql_timeouts;

#endif
