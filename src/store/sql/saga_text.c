/* saga_text.c - writes statements on saga tables from templates, and copies descriptions of such tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/saga_text.h"

#include "pawl/pawl.h"

#include <assert.h>
#include <string.h>

/* ---- Texts -------------------------------------------------------------- */

typedef struct maker {
    pawl__sql_text          *text;
    const pawl__sql_dialect *dialect;
    const pawl_saga_table   *table;
    pawl_saga_key            key;
    pawl_saga_lock           lock;
    unsigned                 parameter_count; /* written by {?} */
    pawl__sql_text           plain;           /* a piece of the template without tokens */
} maker;

static void write_plain(maker *m, const char *begin, const char *end)
{
    pawl__sql_text_clear(&m->plain);
    pawl__sql_append_text(&m->plain, (pawl_text){.data = begin, .size = (size_t)(end - begin)});
    if (m->plain.is_failed)
        m->text->is_failed = true;
    else if (begin != end)
        pawl__sql_expand(m->text, m->dialect, "", m->plain.data);
}

static void write_column(maker *m, const pawl_correlation *correlation)
{
    pawl__sql_append_name(m->text, m->dialect,
                          m->dialect->correlation != NULL ? m->dialect->correlation
                                                          : "Correlation_",
                          pawl__sql_property_of(m->dialect, correlation));
}

static const pawl_correlation *key_of(const maker *m)
{
    return m->key == PAWL_SAGA_BY_MAIN ? &m->table->main : &m->table->transitional;
}

static void write_key(maker *m)
{
    if (m->key == PAWL_SAGA_BY_ID)
        pawl__sql_append_name(m->text, m->dialect, "", PAWL_TEXT("Id"));
    else
        write_column(m, key_of(m));
}

/* Is the key compared by the dialect's `value` and `same`, in place of '='? */
static bool has_value(const maker *m)
{
    bool is_main = m->key == PAWL_SAGA_BY_MAIN;
    if (m->dialect->value == NULL || m->key == PAWL_SAGA_BY_ID)
        return false;
    return (is_main ? m->table->main.type : m->table->transitional.type) == PAWL_VALUE_TEXT;
}

static void write_parameter(maker *m)
{
    pawl__sql_append_parameter(m->text, m->dialect, ++m->parameter_count);
}

/* Writes the parameter for a correlation column, rounded if the column is less precise (is_coarse). */
static void write_cut(maker *m, const pawl_correlation *correlation)
{
    const char *rest =
        correlation->is_coarse ? pawl__sql_append_before(m->text, m->dialect->old_value) : "";
    write_parameter(m);
    pawl__sql_append(m->text, rest);
}

static void write_value(maker *m)
{
    if (!has_value(m))
        return;
    const char *rest = pawl__sql_append_before(m->text, m->dialect->value);
    write_parameter(m);
    pawl__sql_append(m->text, rest);
}

static void write_is(maker *m)
{
    if (!has_value(m)) {
        pawl__sql_append(m->text, " = ");
        if (m->key == PAWL_SAGA_BY_ID)
            write_parameter(m);
        else
            write_cut(m, key_of(m));
        return;
    }
    const char *rest = pawl__sql_append_before(m->text, m->dialect->same);
    write_key(m);
    pawl__sql_append(m->text, rest);
}

static void write_hint(maker *m)
{
    const char *hint = m->dialect->hints[m->lock];
    pawl__sql_append(m->text, hint != NULL ? hint : "");
}

static void write_columns(maker *m, const char *before, const char *before_end)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(m->table, list);
    for (size_t i = 0; i < count; i++) {
        pawl__sql_append(m->text, ", ");
        write_plain(m, before, before_end);
        write_column(m, list[i]);
    }
}

/* Writes a JSON path such as '$."At"'. Names have no character that would need an escape. */
static void write_path(maker *m, pawl_text property)
{
    pawl__sql_text path = {0};
    pawl__sql_appendf(&path, "$.\"%.*s\"", PAWL_TEXT_ARGS(property));
    m->text->is_failed |= path.is_failed;
    pawl__sql_append_literal(m->text, pawl__sql_text_of(&path));
    pawl__sql_text_free(&path);
}

/* Reads the value from the state: a less precise column has another one, and the engine compares the two. */
static void write_coarse(maker *m, const pawl_correlation *correlation)
{
    const char *rest = pawl__sql_append_before(m->text, m->dialect->old_read);
    write_path(m, correlation->property);
    pawl__sql_append(m->text, rest);
    write_column(m, correlation);
    pawl__sql_append(m->text, ")");
}

/* A column with an offset is read in UTC: drivers turn it into the time of their own zone, or do not know its type. */
static void write_read(maker *m, const pawl_correlation *correlation)
{
    pawl__sql_text column = {0};
    if (!correlation->with_offset || m->dialect->utc == NULL) {
        (correlation->is_coarse ? write_coarse : write_column)(m, correlation);
        return;
    }
    pawl__sql_correlation_column(&column, m->dialect, correlation);
    pawl__sql_append_pattern(m->text, m->dialect, m->dialect->utc, pawl__sql_text_of(&column));
    m->text->is_failed |= column.is_failed;
    pawl__sql_text_free(&column);
}

static void write_reads(maker *m)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(m->table, list);
    for (size_t i = 0; i < count; i++) {
        pawl__sql_append(m->text, ", ");
        write_read(m, list[i]);
    }
}

/* The '}' of the token that begins at `open`. */
static const char *end_of_token(const char *open, const char *end)
{
    unsigned depth = 0;
    for (const char *at = open; at < end; at++) {
        depth += *at == '{';
        if (*at == '}' && --depth == 0)
            return at;
    }
    assert(false && "a template whose token has no end");
    return end;
}

/* The first ('1') or second ('2') correlation that the table has, or its transitional one ('b'). */
static const pawl_correlation *correlation_of(const maker *m, char letter)
{
    const pawl_correlation *list[2] = {&m->table->main, &m->table->transitional};
    (void)pawl__sql_correlations(m->table, list);
    return letter == 'b' ? &m->table->transitional : list[letter - '1'];
}

/* Has the table the correlation that {1:...}, {2:...}, {b:...} asks for, or not ({-b:...})? */
static bool is_wanted(const maker *m, pawl_text name)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(m->table, list);
    bool                    has_b = m->table->transitional.type != PAWL_VALUE_NONE;
    if (pawl_text_equal(name, PAWL_TEXT("b")))
        return has_b;
    if (pawl_text_equal(name, PAWL_TEXT("-b")))
        return !has_b;
    return count >= (name.data[0] == '1' ? 1 : 2);
}

static void write_part(maker *m, const char *begin, const char *end);

static void write_limit(maker *m, const char *begin, const char *end)
{
    const char *rest = pawl__sql_append_before(m->text, pawl__sql_limit_of(m->dialect));
    write_part(m, begin, end);
    pawl__sql_append(m->text, rest);
}

/* Writes the word between '{' and '}'. */
static void write_token(maker *m, const char *begin, const char *end)
{
    const char *colon = memchr(begin, ':', (size_t)(end - begin));
    pawl_text   name  = {.data = begin, .size = (size_t)((colon != NULL ? colon : end) - begin)};
    if (pawl_text_equal(name, PAWL_TEXT("saga")))
        pawl__sql_append_table(m->text, m->dialect, "", m->table->name);
    else if (pawl_text_equal(name, PAWL_TEXT("key")))
        write_key(m);
    else if (pawl_text_equal(name, PAWL_TEXT("row")))
        pawl__sql_append(m->text, m->dialect->row != NULL ? m->dialect->row : "0");
    else if (pawl_text_equal(name, PAWL_TEXT("?")))
        write_parameter(m);
    else if (name.size == 2 && name.data[0] == '?')
        write_cut(m, correlation_of(m, name.data[1]));
    else if (pawl_text_equal(name, PAWL_TEXT("value")))
        write_value(m);
    else if (pawl_text_equal(name, PAWL_TEXT("is")))
        write_is(m);
    else if (pawl_text_equal(name, PAWL_TEXT("hint")))
        write_hint(m);
    else if (pawl_text_equal(name, PAWL_TEXT("lock")))
        pawl__sql_append(m->text, m->dialect->locks[m->lock]);
    else if (pawl_text_equal(name, PAWL_TEXT("columns")))
        write_columns(m, colon + 1, end);
    else if (pawl_text_equal(name, PAWL_TEXT("reads")))
        write_reads(m);
    else if (pawl_text_equal(name, PAWL_TEXT("limit")))
        write_limit(m, colon + 1, end);
    else if (colon == NULL)
        write_column(m, &m->table->transitional);
    else if (is_wanted(m, name))
        write_part(m, colon + 1, end);
}

static void write_part(maker *m, const char *begin, const char *end)
{
    while (begin < end) {
        const char *open = memchr(begin, '{', (size_t)(end - begin));
        write_plain(m, begin, open != NULL ? open : end);
        if (open == NULL)
            return;
        const char *close = end_of_token(open, end);
        write_token(m, open + 1, close);
        begin = close + 1;
    }
}

void pawl__sql_saga_expand(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                           const pawl_saga_table *table, const pawl__sql_saga_template *statement)
{
    maker m = {.text    = text,
               .dialect = dialect,
               .table   = table,
               .key     = statement->key,
               .lock    = statement->lock};
    write_part(&m, statement->text, statement->text + strlen(statement->text));
    pawl__sql_text_free(&m.plain);
}

/* ---- The statements of one row ------------------------------------------ */

#define LOAD                                                                           \
    "select {row}, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion]{reads} " \
    "from {value}{saga}{hint} where {key}{is}{lock}"
#define LOADS(first, lock)                                                              \
    [(first) + PAWL_SAGA_BY_ID]                      = {LOAD, PAWL_SAGA_BY_ID, lock},   \
               [(first) + PAWL_SAGA_BY_MAIN]         = {LOAD, PAWL_SAGA_BY_MAIN, lock}, \
               [(first) + PAWL_SAGA_BY_TRANSITIONAL] = {LOAD, PAWL_SAGA_BY_TRANSITIONAL, lock}
#define INSERT                                                                                \
    "insert into {saga} ([Id], [Metadata], [Data], [PersistenceVersion], [SagaTypeVersion], " \
    "[Concurrency]{columns:}) values ({?}, {?}, {?}, '" PAWL_VERSION                          \
    "', {?}, 1{1:, {?1}}{2:, {?2}})"
#define UPDATE(where)                                                                         \
    "update {saga} set [Concurrency] = [Concurrency] + 1{b:, {b} = {?b}}, [Metadata] = {?}, " \
    "[Data] = {?}, [PersistenceVersion] = '" PAWL_VERSION "', [SagaTypeVersion] = {?} "       \
    "where " where "[Id] = {?} and [Concurrency] = {?}"

static const pawl__sql_saga_template statements[] = {
    LOADS(PAWL__SQL_SAGA_BY_ID, PAWL_SAGA_UNLOCKED),
    LOADS(PAWL__SQL_SAGA_LOCKED, PAWL_SAGA_LOCKED),
    LOADS(PAWL__SQL_SAGA_SKIP_LOCKED, PAWL_SAGA_SKIP_LOCKED),
    [PAWL__SQL_SAGA_INSERT]     = {.text = INSERT},
    [PAWL__SQL_SAGA_UPDATE_ROW] = {.text = UPDATE("{row} = {?} and ")},
    [PAWL__SQL_SAGA_UPDATE]     = {.text = UPDATE("")},
    [PAWL__SQL_SAGA_DELETE]     = {.text =
                                       "delete from {saga} where [Id] = {?} and [Concurrency] = {?}"},
    [PAWL__SQL_SAGA_COUNT]      = {.text = "select count(*) from {saga}"},
    [PAWL__SQL_SAGA_SCAN]       = {.text = PAWL__SQL_SAGA_SCAN_TEXT("{?}", "{?}")},
    [PAWL__SQL_SAGA_BY_OTHER] = {.text = "select 1 from {saga} where [Id] <> {?}{b: and {b} = {?b}}"
                                         "{-b: and 1 = 0}"},
};
_Static_assert(sizeof statements / sizeof statements[0] == pawl__sql_saga_statement_count,
               "a text for each statement");

const pawl__sql_saga_template *pawl__sql_saga_template_of(pawl__sql_saga_statement which)
{
    return &statements[which];
}

void pawl__sql_saga_text(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                         const pawl_saga_table *table, pawl__sql_saga_statement which)
{
    pawl__sql_saga_expand(text, dialect, table, &statements[which]);
}

/* ---- Tables ------------------------------------------------------------- */

static pawl_text copy_text(char **at, pawl_text text)
{
    pawl_text copy = {.data = *at, .size = text.size};
    if (text.size != 0)
        memcpy(*at, text.data, text.size);
    *at += text.size;
    return copy;
}

pawl_code pawl__sql_saga_copy(const pawl__sql_dialect *dialect, const pawl_saga_table *table,
                              pawl_saga_table *copy, char **texts, pawl_error *error)
{
    pawl_code code = pawl__sql_saga_check(dialect, table, error);
    if (code != PAWL_OK)
        return code;
    char *at = pawl_allocate(table->type.size + table->name.size + table->main.property.size +
                             table->transitional.property.size);
    if (at == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory", dialect->name);
    *texts                      = at;
    *copy                       = *table;
    copy->type                  = copy_text(&at, table->type);
    copy->name                  = copy_text(&at, table->name);
    copy->main.property         = copy_text(&at, table->main.property);
    copy->transitional.property = copy_text(&at, table->transitional.property);
    return PAWL_OK;
}
