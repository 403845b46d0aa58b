/* dialect.h - differences between SQL databases, in one table for each.
 *
 * Statements and tables are written once, as templates:
 *
 *     {queue}                  the shared table (or index) of that name, prefix put before, quoted
 *     [Due]                    an identifier, quoted
 *     ?1                       a parameter, counted from 1; where a database numbers none, each
 *                              occurrence is one more: pawl__sql_parameter_order says which
 *     {ignore:[Queue], [Id]}   behind an insert: a row whose key of these columns exists is left
 *     {keep:[Part]}            the same in the script of the tables
 *     {integer:sum([A])}       a number as one of 64 bits
 *     {index:dead|ended}       behind a table of a select: this index is to be used; the second where
 *                              no index leaves rows out; nothing where the dialect has it not
 *     {epoch}                  the time 0, which stands where no time is set
 *     {lock}                   behind a select: its rows are locked, where the database locks rows
 *     {skip}                   the same, and rows that are locked are passed over
 *     {tie:[Seq]}              in an index: the column that puts equal entries in order, where the
 *                              database does not do so by itself
 *
 * pawl__sql_expand writes a template the way a dialect wants it. A value never
 * becomes text of a statement; an identifier does, quoted, after
 * pawl__sql_name_check.
 *
 * Tests: tests/contract/test_sqlite_schema.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECT_H
#define PAWL_STORE_SQL_DIALECT_H

#include "pawl/base.h"
#include "pawl/limits.h"

/* The type of a column. */
typedef enum pawl__sql_type {
    PAWL__SQL_SERIAL,  /* given by the database, never used again; the primary key */
    PAWL__SQL_INTEGER, /* 64 bits */
    PAWL__SQL_TIME,
    PAWL__SQL_NAME,      /* compared bytewise, up to PAWL_NAME_SIZE_MAX */
    PAWL__SQL_LONG_NAME, /* the same, up to PAWL_SOURCE_SIZE_MAX: a kind or a type before a name */
    PAWL__SQL_UUID,
    PAWL__SQL_TEXT, /* any length */
    PAWL__SQL_BODY, /* any length, any bytes */
    PAWL__SQL_JSON, /* saga data: readable with the database's own JSON functions */
    PAWL__SQL_METADATA,
    PAWL__SQL_VERSION,
    PAWL__SQL_KEY_TEXT, /* values that sagas are found by, up to PAWL_CORRELATION_CHARS_MAX */
    PAWL__SQL_KEY_INT,
    PAWL__SQL_KEY_TIME,
    pawl__sql_type_count
} pawl__sql_type;

typedef struct pawl__sql_dialect {
    const char *name;   /* the scheme of the URL */
    const char *schema; /* put before every table, quoted; NULL: none */
    char        quote_open;
    char        quote_close;
    const char *types[pawl__sql_type_count];
    const char *json_check; /* behind a JSON column, %s is the quoted column; or "" */
    const char *parameter;  /* %u is its number; without it parameters have none */
    const char *ignore;     /* %s is the list of the key's columns, %c the first of them */
    const char *row;        /* a number of a row that its next statement may find it by, or NULL */
    const char *integer;    /* %s is the number */
    const char *epoch;
    const char *index;     /* %s is the name of an index that a statement is to use; or NULL */
    const char *locks[3];  /* by pawl_saga_lock, behind a select of rows: "" and, where a row can be
                              locked, " for update" and the like */
    const char *free_row;  /* "and ...": nobody claims the queue row; NULL where columns say so */
    const char *table_end; /* after the closing parenthesis */
    const char *keyed_end; /* the same for a table that is its own index */
    const char *saga_end;  /* the same for a saga table; NULL: as table_end */
    size_t      name_size_max;   /* bytes of an identifier; 0: PAWL__SQL_TABLE_NAME_SIZE_MAX */
    size_t      prefix_size_max; /* 0: PAWL_PREFIX_SIZE_MAX */
    bool        keeps_ties; /* equal entries of an index come in the order of the rows' numbers */
    /* {ignore:...} is nothing: the insert fails, alone, where the row is there, and the driver takes
     * that for a row that was left. */
    bool   ignores_failures;
    bool   has_short_names;          /* names of indexes on saga tables are made from a hash */
    bool   adds_columns;             /* the script does so: "add column if not exists" */
    bool   looks_before;             /* has no "if not exists" there: the script looks (guard.c) */
    bool   keys_every_table;         /* a table without a key has its first unique index as one */
    bool   indexes_every_row;        /* an index cannot leave rows out: pawl__sql_index.every_row */
    bool   indexes_inside;           /* indexes stand in "create table" */
    size_t name_chars_max;           /* characters of an identifier; 0: bytes are counted */
    int    first_version;            /* of the schema that it has had; 0: all */
    const char *const *no_indexes;   /* names of those it goes without; NULL ends them, or: none */
    const char *const *after_create; /* templates, run behind the tables; NULL ends them */
    const char *const *before_drop;
    const char        *script_begin;
    const char        *script_end;
} pawl__sql_dialect;

/* A text that grows. Once memory is short it stays as it is and is_failed is
 * set: one check at the end is enough. */
typedef struct pawl__sql_text {
    char  *data; /* NUL-terminated, or NULL while empty */
    size_t size;
    size_t capacity;
    bool   is_failed;
} pawl__sql_text;

static inline pawl_text pawl__sql_text_of(const pawl__sql_text *text)
{
    return (pawl_text){.data = text->data, .size = text->size};
}
void pawl__sql_text_free(pawl__sql_text *text);
void pawl__sql_text_clear(pawl__sql_text *text);
void pawl__sql_append(pawl__sql_text *text, const char *string);
void pawl__sql_append_text(pawl__sql_text *text, pawl_text piece);
void pawl__sql_appendf(pawl__sql_text *text, const char *format, ...) PAWL_PRINTF(2, 3);
/* `before` and `name` as one quoted identifier. */
void pawl__sql_append_name(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                           const char *before, pawl_text name);
/* The same for a table: the dialect's schema stands before it. */
void pawl__sql_append_table(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                            const char *before, pawl_text name);
/* As the dialect writes the parameter of that number, from 1. */
void pawl__sql_append_parameter(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                unsigned number);
void pawl__sql_expand(pawl__sql_text *text, const pawl__sql_dialect *dialect, const char *prefix,
                      const char *template_text);
/* The number of the parameter that stands at each place of the template where one is asked
 * for; returns how many places there are, of which at most `max` were written. */
size_t pawl__sql_parameter_order(const char *template_text, unsigned *order, size_t max);

/* The command to run where tables are missing or old, for the end of an error's text. */
typedef struct pawl__sql_advice {
    char text[PAWL_ERROR_TEXT_SIZE_MAX]; /* "run: pawl schema apply --store 'sqlite:a.db'" */
} pawl__sql_advice;

/* `scheme` and `rest` are the URL as it was given, without a password. A prefix that is not
 * the default's is named: without it the command would make other tables. */
pawl__sql_advice pawl__sql_advise(const char *scheme, const char *rest, const char *prefix);

/* Names become parts of statements: none may hold a quote of any dialect or a
 * NUL, or be empty or longer than `size_max`. PAWL_EINVAL says `what` and the
 * name (D3). */
pawl_code pawl__sql_name_check(pawl_text name, const char *what, size_t size_max,
                               pawl_error *error);

#endif
