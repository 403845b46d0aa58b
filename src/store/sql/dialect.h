/* dialect.h - differences between SQL databases, in one table for each (store/sql/dialects).
 *
 * Statements and tables are written once, as templates:
 *
 *     {queue}                  the shared table (or index) of that name, prefix put before, quoted
 *     [Due]                    an identifier, quoted
 *     ?1                       a parameter, counted from 1; where a database numbers none, each
 *                              occurrence is one more: pawl__sql_parameter_order says which
 *     {ignore:[Queue], [Id]}   behind an insert: a row whose key of these columns exists is left
 *     {keep:[Part]}            the same as words of the statement always, also where a row that
 *                              exists is told as a failure else: it is locked as if it were written
 *     {integer:sum([A])}       a number as one of 64 bits
 *     {index:dead|ended}       behind a table of a select: this index is to be used; the second where
 *                              no index leaves rows out; nothing where the dialect has it not
 *     {seen:[Process]|?2}      the second, a time; where the database has a clock for workers without
 *                              a lock, that clock for those whose first is 0
 *     {bits:[A]|?1}            the bits that both numbers have
 *     {has:[Error]|?1}         whether the first text has the second one in it
 *     {epoch}                  the time 0, which stands where no time is set
 *     {empty}, ''              the text without characters, as it is stored
 *     {limit:?3}               behind "order by": no more rows than that
 *     {any:?3}                 the same where the order is not asked for
 *     {name:queue_due}         the index of that name, prefix put before, quoted, without a schema
 *     {lock}                   behind a select: its rows are locked, where the database locks rows
 *     {skip}                   the same, and rows that are locked are passed over
 *     {share}                  behind a select: it sees what is committed, also where the caller's transaction
 *                              sees an older state
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
    PAWL__SQL_KEY_OFFSET_TIME, /* without such a type sagas that ask for it are refused */
    pawl__sql_type_count
} pawl__sql_type;

/* Takes each statement of a script in turn, without its semicolon. */
typedef pawl_code pawl__sql_emit_fn(const char *statement, void *context, pawl_error *error);

/* The work of a statement of a script, where running it again needs more than the words "if [not]
 * exists". */
typedef enum pawl__sql_act {
    PAWL__SQL_MAKE_TABLE,
    PAWL__SQL_MAKE_COLUMN,
    PAWL__SQL_MAKE_INDEX,
    PAWL__SQL_MAKE_ROW, /* of the table of versions */
    PAWL__SQL_CHANGE,   /* harmless as it stands */
    PAWL__SQL_DROP_TABLE,
    PAWL__SQL_DROP_INDEX,
} pawl__sql_act;

struct pawl__sql_dialect;

/* A statement of a script, with what it is about: names as they stand in a statement, without
 * quotes. */
typedef struct pawl__sql_action {
    const struct pawl__sql_dialect *dialect;
    pawl__sql_act                   act;
    pawl_text                       table;
    pawl_text                       name; /* of the column or index; else empty */
    const char                     *statement;
} pawl__sql_action;

/* Calls `each` with what is to be run so that the statement is harmless where its work is done. */
typedef pawl_code pawl__sql_guard_fn(const pawl__sql_action *action, pawl__sql_emit_fn *each,
                                     void *context, pawl_error *error);

#define PAWL__SQL_ACT(act) (1U << PAWL__SQL_##act)

/* Something of a table that only one database has. */
typedef struct pawl__sql_extra {
    const char *table; /* NULL ends the list */
    const char *text;  /* template */
} pawl__sql_extra;

typedef struct pawl__sql_dialect {
    const char *name;      /* the scheme of the URL */
    const char *product;   /* for people: "SQLite 3.37 or later" */
    const char *client;    /* the command that runs a script; FILE stands for it */
    const char *safety;    /* of a script that is broken off, and of two at once */
    const char *schema;    /* put before every table, quoted; NULL: none */
    const char *in_schema; /* of a script, for a given schema: a pattern with its name; NULL: there
                              are no schemas */
    char        quote_open;
    char        quote_close;
    const char *types[pawl__sql_type_count];
    /* As the catalog writes it; case does not matter. NULL: the first word of `types`. */
    const char *catalog_types[pawl__sql_type_count];
    const char *collation;  /* of what is compared bytewise, in the catalog; NULL: not looked at */
    const char *json_check; /* behind a JSON column, a pattern with it; or "" */
    const char *parameter;  /* %u is its number; without it parameters have none */
    const char *ignore;     /* %s is the list of the key's columns, %c the first of them */
    const char *row;        /* a number of a row that its next statement may find it by, or NULL */
    const char *integer;    /* %s is the number */
    const char *epoch;
    const char *bits; /* %a and %b are the numbers; NULL: (%a & %b) */
    const char *has;  /* the same of two texts; NULL: replacing the second one changes the length */
    const char *limit;     /* %s is the number of rows; NULL: limit %s */
    const char *any_order; /* in front of a limit where a statement has no order; NULL: "" */
    const char
        *clock; /* of the server, in microseconds: a worker without a lock lives by it; or NULL */
    const char *empty;    /* stands where a template has ''; NULL: '' */
    const char *index;    /* %s is the name of an index that a statement is to use; or NULL */
    const char *hints[3]; /* the same behind the table; NULL: "" */
    const char *value;    /* in front of a saga's table where a text of it is looked for: %s is the
                              parameter; NULL: the column is compared with that by '=' */
    const char *same;     /* behind the column then, which %s is, too */
    const char *utc;      /* a pattern with a column of a time with an offset: as a time in UTC */
    /* The type of times in tables from before pawl, which keeps less of them; or NULL. Patterns: a parameter cut to
     * it, and in front of the column and ")", with a path in the state, the value as the state has it. */
    const char *old_time;
    /* The same of texts that sagas are found by, in the catalog: half as many characters of four bytes; or NULL. */
    const char *old_key_text;
    const char *old_value;
    const char *old_read;
    const char *locks[3];  /* by pawl_saga_lock, behind a select of rows: "" and, where a row can be
                              locked, " for update" and the like */
    const char *share;     /* {share}; NULL: nothing */
    const char *free_row;  /* "and ...": nobody claims the queue row; NULL where columns say so */
    const char *table_end; /* after the closing parenthesis */
    const char *keyed_end; /* the same for a table that is its own index */
    const char *saga_end;  /* the same for a saga table; NULL: as table_end */
    size_t      name_size_max;   /* bytes of an identifier; 0: PAWL__SQL_TABLE_NAME_SIZE_MAX */
    size_t      prefix_size_max; /* 0: PAWL_PREFIX_SIZE_MAX */
    bool        keeps_ties; /* equal entries of an index come in the order of the rows' numbers */
    /* {ignore:...} is nothing: the insert fails, alone, where the row is there, and that is a row that was left if
     * the write's `taken` finds it. */
    bool        ignores_failures;
    bool        adds_columns;      /* the script does so: "add column if not exists" */
    bool        keys_every_table;  /* a table without a key has its first unique index as one */
    bool        indexes_every_row; /* an index cannot leave rows out: pawl__sql_index.every_row */
    bool        indexes_inside;    /* indexes stand in "create table" */
    bool        has_own_indexes;   /* two tables may have indexes of one name */
    bool        tells_case;        /* columns A and a are two */
    bool        is_upper;          /* names are in capitals, and ASCII alone */
    size_t      name_chars_max;    /* characters of an identifier; 0: bytes are counted */
    int         first_version;     /* of the schema that it has had; 0: all */
    const char *add_column;        /* behind "alter table x"; NULL: " add column " */
    size_t      correlation_size_max; /* bytes of a property in the name of its column; 0: all */
    const char *correlation;  /* before a property in the name of its column; NULL: Correlation_ */
    const char *hashed_index; /* before the hash that an index on a saga table is named by; NULL: it
                                 has a name to read */
    unsigned    hash_digits;
    const char *unique_where; /* behind a unique index, a pattern with its column: where null is a
                                 value like others */
    const char
        *exact_size; /* a pattern with a column of text: the definition of another one that tells
                               values apart which are equal there; NULL: none are */
    unsigned               guards; /* acts whose statements go through `guard` */
    pawl__sql_guard_fn    *guard;
    const char *const     *no_indexes;   /* indexes left out; NULL ends them, or: none */
    const pawl__sql_extra *after_create; /* behind their tables; or NULL */
    const pawl__sql_extra
        *in_scripts; /* the same of a script alone: apply looks into the catalog */
    /* Template: gives the index of pending outbox rows its endpoint; NULL: not needed. */
    const char            *widen_outbox_index;
    const pawl__sql_extra *before_drop;
    const char            *script_begin;
    const char            *script_end;
    const char            *statement_end; /* NULL: a semicolon */
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
/* The same without quotes, as a catalog has it. */
void pawl__sql_append_bare(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                           const char *before, pawl_text name);
/* As a literal, in a session without backslash escapes. */
void pawl__sql_append_literal(pawl__sql_text *text, pawl_text value);
/* As it stands between single quotes of a shell: it'\''s. */
void pawl__sql_append_quoted(pawl__sql_text *text, pawl_text word);
/* " -D 'word'" for the option " -D ". */
void pawl__sql_append_option(pawl__sql_text *text, const char *option, pawl_text word);
/* In the pattern %n is the quoted name, %l the literal of that, %s the literal of the bare name. */
void               pawl__sql_append_pattern(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                            const char *pattern, pawl_text name);
static inline bool pawl__sql_guards(const pawl__sql_dialect *dialect, pawl__sql_act act)
{
    return (dialect->guards & 1U << act) != 0;
}
static inline const char *pawl__sql_limit_of(const pawl__sql_dialect *dialect)
{
    return dialect->limit != NULL ? dialect->limit : "limit %s";
}
/* An insert of one row, a text or a template, as that of so many: its group of values is there so often. Returns what
 * stands behind the values; NULL: it is no insert of values, and nothing was appended. */
const char *pawl__sql_append_rows(pawl__sql_text *text, const char *insert, unsigned rows);
/* Appends the pattern as far as its "%s" or "%u"; returns what stands behind that, NULL: it has none. */
const char *pawl__sql_append_before(pawl__sql_text *text, const char *pattern);
/* As the dialect writes the parameter of that number, from 1. */
void pawl__sql_append_parameter(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                unsigned number);
void pawl__sql_expand(pawl__sql_text *text, const pawl__sql_dialect *dialect, const char *prefix,
                      const char *template_text);
/* The number of the parameter at each marker of the template; returns how many markers there are,
 * of which at most `max` were written. */
size_t pawl__sql_parameter_order(const char *template_text, unsigned *order, size_t max);
/* The next '?' of a text that was written out, which a name or a literal may have, too; NULL: there is none. */
const char *pawl__sql_next_marker(const pawl__sql_dialect *dialect, const char *text);

/* The command to run where tables are missing or old, for the end of an error's text. */
typedef struct pawl__sql_advice {
    char text[PAWL_ERROR_TEXT_SIZE_MAX]; /* "run: pawl schema apply --store 'sqlite:a.db'" */
} pawl__sql_advice;

/* `scheme` and `rest` are the URL as it was given, without a password. A prefix that is not
 * the default's is named: without it the command would make other tables. */
pawl__sql_advice pawl__sql_advise(const char *scheme, const char *rest, const char *prefix);

/* Names become parts of statements: none may have a quote of any dialect or a
 * NUL, or be empty or longer than `size_max`. PAWL_EINVAL says `what` and the
 * name (D3). */
pawl_code pawl__sql_name_check(pawl_text name, const char *what, size_t size_max,
                               pawl_error *error);

#endif
