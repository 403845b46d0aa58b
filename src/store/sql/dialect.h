/* dialect.h - a struct with all differences between SQL databases; store/sql/dialects has one per database.
 *
 * Statements and tables are written once, as templates:
 *
 *     {queue}                  the shared table (or index) of that name, prefix put before, quoted
 *     [Due]                    an identifier, quoted
 *     ?1                       a parameter, counted from 1. If the database has only unnumbered ones,
 *                              each occurrence is bound separately: pawl__sql_parameter_order
 *     {ignore:[Queue], [Id]}   after an insert: does nothing if a row with this key exists
 *     {keep:[Part]}            the same, but never by a failed insert (ignores_failures): an existing
 *                              row is locked as if it were written
 *     {integer:sum([A])}       a number, converted to 64 bits
 *     {index:dead|ended}       after a table of a select: use this index; the second if the dialect has
 *                              no partial indexes; nothing if the dialect has no such hint
 *     {seen:[Process]|?2}      the time ?2; but if the dialect has a server clock for workers without a
 *                              lock, that clock for rows whose first value is 0
 *     {bits:[A]|?1}            the bits that both numbers have
 *     {has:[Error]|?1}         whether the first text has the second one in it
 *     {epoch}                  the time 0, which means "no time"
 *     {empty}, ''              the text without characters, as it is stored
 *     {limit:?3}               after "order by": limits the number of rows
 *     {any:?3}                 the same without an "order by"
 *     {name:queue_due}         the index of that name, prefix put before, quoted, without a schema
 *     {lock}                   after a select: locks its rows, if the database has row locks
 *     {skip}                   the same, skipping rows that are locked
 *     {share}                  after a select: reads the latest committed rows, even if the caller's
 *                              transaction has an older snapshot
 *     {tie:[Seq]}              in an index: a last column that orders equal entries, unless the
 *                              database orders them by row number itself
 *
 * pawl__sql_expand writes a template in a dialect. Values are never written into
 * statements, only identifiers, quoted and checked by
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
    PAWL__SQL_SERIAL,  /* primary key, assigned by the database, never reused */
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
    PAWL__SQL_KEY_OFFSET_TIME, /* if a dialect lacks it, sagas that need it are refused */
    pawl__sql_type_count
} pawl__sql_type;

/* Called for each statement of a script, without its semicolon. */
typedef pawl_code pawl__sql_emit_fn(const char *statement, void *context, pawl_error *error);

/* The effect of a script's statement, for databases where "if [not] exists" is not enough to make it
 * repeatable. */
typedef enum pawl__sql_act {
    PAWL__SQL_MAKE_TABLE,
    PAWL__SQL_MAKE_COLUMN,
    PAWL__SQL_MAKE_INDEX,
    PAWL__SQL_MAKE_ROW, /* of the table of versions */
    PAWL__SQL_CHANGE,   /* repeatable as it is */
    PAWL__SQL_DROP_TABLE,
    PAWL__SQL_DROP_INDEX,
} pawl__sql_act;

struct pawl__sql_dialect;

/* A statement of a script, and the objects that it makes or drops: unquoted names, as the database has
 * them. */
typedef struct pawl__sql_action {
    const struct pawl__sql_dialect *dialect;
    pawl__sql_act                   act;
    pawl_text                       table;
    pawl_text                       name; /* of the column or index; else empty */
    const char                     *statement;
} pawl__sql_action;

/* Calls `each` with the statements to run in its place, which do nothing if its effect is there already. */
typedef pawl_code pawl__sql_guard_fn(const pawl__sql_action *action, pawl__sql_emit_fn *each,
                                     void *context, pawl_error *error);

#define PAWL__SQL_ACT(act) (1U << PAWL__SQL_##act)

/* An additional statement for a table, on one database. */
typedef struct pawl__sql_extra {
    const char *table; /* NULL ends the list */
    const char *text;  /* template */
} pawl__sql_extra;

typedef struct pawl__sql_dialect {
    const char *name;      /* the scheme of the URL */
    const char *product;   /* for people: "SQLite 3.37 or later" */
    const char *client;    /* the command that runs a script, called FILE */
    const char *safety;    /* for people: is it safe to break a script off, or to run two at once */
    const char *schema;    /* put before every table, quoted; NULL: none */
    const char *in_schema; /* script's statement that selects a schema, a pattern; NULL: no
                              schemas */
    char        quote_open;
    char        quote_close;
    const char *types[pawl__sql_type_count];
    /* As the catalog writes it; case does not matter. NULL: the first word of `types`. */
    const char *catalog_types[pawl__sql_type_count];
    const char *collation;  /* of bytewise columns, in the catalog; NULL: not checked */
    const char *json_check; /* behind a JSON column, a pattern with it; or "" */
    const char *parameter;  /* a placeholder; %u, if there, is its number */
    const char *ignore;     /* %s is the list of the key's columns, %c the first of them */
    const char *row;        /* pseudo-column with a row's address (rowid, ctid), or NULL */
    const char *integer;    /* %s is the number */
    const char *epoch;
    const char *bits; /* %a and %b are the numbers; NULL: (%a & %b) */
    const char *has;  /* the same of two texts; NULL: replacing the second one changes the length */
    const char *limit;     /* %s is the number of rows; NULL: limit %s */
    const char *any_order; /* before a limit without "order by"; NULL: "" */
    const char *clock;     /* the server's, for heartbeats of workers without a lock; or NULL */
    const char *empty;     /* replaces '' of templates; NULL: '' */
    const char *index;     /* hint to use the index %s; or NULL */
    const char *hints[3];  /* the same behind the table; NULL: "" */
    const char *value;     /* to find a saga by a text: goes before its table, %s is the
                              parameter; NULL: the column is compared by '=' */
    const char *same;      /* with `value`: comparison after the column; %s is the column */
    const char *utc;       /* a pattern with a column of a time with an offset: as a time in UTC */
    /* The less precise type of times in tables that are older than pawl; or NULL. old_value: a pattern that rounds a
     * parameter to it; old_read: before the column, a pattern that reads the exact value from the state. */
    const char *old_time;
    /* The older type of correlation texts in the catalog, with half as many characters; or NULL. */
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
    bool        own_order;  /* texts do not sort by their bytes: ranges of texts are not queried */
    bool        keeps_ties; /* indexes order equal entries by row number: {tie:...} is empty */
    /* {ignore:...} is empty: if the row exists, only the insert fails. That counts as ignored if the write's `taken`
     * finds the row. */
    bool        ignores_failures;
    bool        adds_columns;         /* has "add column if not exists", which scripts use */
    bool        keys_every_table;     /* without a primary key the first unique index becomes one */
    bool        indexes_every_row;    /* no partial indexes: pawl__sql_index.every_row */
    bool        indexes_inside;       /* indexes stand in "create table" */
    bool        has_own_indexes;      /* two tables may have indexes of one name */
    bool        tells_case;           /* columns A and a are different */
    bool        is_upper;             /* names are in capitals, and only ASCII */
    size_t      name_chars_max;       /* characters of an identifier; 0: bytes are counted */
    int         first_version;        /* oldest schema version on this database; 0: any */
    const char *add_column;           /* behind "alter table x"; NULL: " add column " */
    size_t      correlation_size_max; /* bytes of a property in the name of its column; 0: all */
    const char *correlation;  /* before a property in the name of its column; NULL: Correlation_ */
    const char *hashed_index; /* prefix of names of saga indexes, before a hash; NULL: readable
                                 names */
    unsigned    hash_digits;
    const char *unique_where; /* after a unique index, pattern with its column: leaves nulls out
                                 where nulls are equal */
    const char
            *exact_size; /* pattern with a text column: defines an extra column that distinguishes
                               texts which '=' does not; NULL: not needed */
    unsigned guards;     /* acts whose statements go through `guard` */
    pawl__sql_guard_fn    *guard;
    const char *const     *no_indexes;   /* indexes left out, ended by NULL; or NULL */
    const pawl__sql_extra *after_create; /* run after their tables; or NULL */
    const pawl__sql_extra
        *in_scripts; /* the same, only in printed scripts: apply checks the catalog instead */
    /* Template: adds the endpoint to the index of pending outbox rows; NULL: not needed. */
    const char            *widen_outbox_index;
    const pawl__sql_extra *before_drop;
    const char            *script_begin;
    const char            *script_end;
    const char            *statement_end; /* NULL: a semicolon */
} pawl__sql_dialect;

/* A text that grows. When memory runs out, is_failed is set and further appends do
 * nothing: one check at the end is enough. */
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
/* Appends a SQL literal, for a session without backslash escapes. */
void pawl__sql_append_literal(pawl__sql_text *text, pawl_text value);
/* Appends the text for use between single quotes of a shell: it'\''s. */
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
/* Appends an insert of one row, text or template, with its group of values repeated `rows` times. Returns the rest of
 * the insert after the values; NULL: it has no values, and nothing was appended. */
const char *pawl__sql_append_rows(pawl__sql_text *text, const char *insert, unsigned rows);
/* Appends the pattern up to its "%s" or "%u"; returns the rest after that, or NULL if it has none. */
const char *pawl__sql_append_before(pawl__sql_text *text, const char *pattern);
/* Appends the placeholder of the parameter with this number, from 1. */
void pawl__sql_append_parameter(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                unsigned number);
void pawl__sql_expand(pawl__sql_text *text, const pawl__sql_dialect *dialect, const char *prefix,
                      const char *template_text);
/* Writes the parameter's number for each placeholder of the template, at most `max`; returns how many
 * placeholders there are. */
size_t pawl__sql_parameter_order(const char *template_text, unsigned *order, size_t max);
/* The next placeholder '?' of an expanded text, skipping names and literals; NULL: there is none. */
const char *pawl__sql_next_placeholder(const pawl__sql_dialect *dialect, const char *text);

/* The end of an error about missing or old tables: the command to run. */
typedef struct pawl__sql_advice {
    char text[PAWL_ERROR_TEXT_SIZE_MAX]; /* "run: pawl schema apply --store 'sqlite:a.db'" */
} pawl__sql_advice;

/* `scheme` and `rest` are the URL as given, without password. A prefix other than the default
 * is part of the command, which would make other tables without it. */
pawl__sql_advice pawl__sql_advise(const char *scheme, const char *rest, const char *prefix);

/* Names become parts of statements: PAWL_EINVAL, with `what` and the name, for a quote
 * of any dialect, a NUL, an empty name or one longer than `size_max`
 * (D3). */
pawl_code pawl__sql_name_check(pawl_text name, const char *what, size_t size_max,
                               pawl_error *error);

#endif
