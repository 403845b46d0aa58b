/* text.c - builds texts of statements: appends, quotes, and writes templates in a dialect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialect.h"

#include "pawl/saga_rows.h"

#include <stdio.h>
#include <string.h>

void pawl__sql_text_free(pawl__sql_text *text)
{
    pawl_free(text->data);
    *text = (pawl__sql_text){0};
}

void pawl__sql_text_clear(pawl__sql_text *text)
{
    text->size = 0;
    if (text->data != NULL)
        text->data[0] = '\0';
}

/* Makes room for `size` bytes and a NUL. */
static bool reserve(pawl__sql_text *text, size_t size)
{
    size_t needed = text->size + size + 1;
    if (text->is_failed || needed <= text->capacity)
        return !text->is_failed;
    size_t capacity = text->capacity < 256 ? 256 : text->capacity;
    while (capacity < needed)
        capacity *= 2;
    char *grown = pawl_resize(text->data, capacity);
    if (grown == NULL) {
        text->is_failed = true;
        return false;
    }
    text->data     = grown;
    text->capacity = capacity;
    return true;
}

void pawl__sql_append_text(pawl__sql_text *text, pawl_text piece)
{
    if (!reserve(text, piece.size))
        return;
    if (piece.size != 0)
        memcpy(text->data + text->size, piece.data, piece.size);
    text->size += piece.size;
    text->data[text->size] = '\0';
}

void pawl__sql_append(pawl__sql_text *text, const char *string)
{
    pawl__sql_append_text(text, pawl_text_of(string));
}

void pawl__sql_appendf(pawl__sql_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size < 0 || !reserve(text, (size_t)size))
        return;
    va_start(arguments, format);
    vsnprintf(text->data + text->size, (size_t)size + 1, format, arguments);
    va_end(arguments);
    text->size += (size_t)size;
}

static void append_char(pawl__sql_text *text, char character)
{
    pawl__sql_append_text(text, (pawl_text){.data = &character, .size = 1});
}

/* A character of a name, as the dialect spells it. */
static char letter(const pawl__sql_dialect *dialect, char c)
{
    return dialect->is_upper && c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

void pawl__sql_append_bare(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                           const char *before, pawl_text name)
{
    for (; *before != '\0'; before++)
        append_char(text, letter(dialect, *before));
    for (size_t i = 0; i < name.size; i++)
        append_char(text, letter(dialect, name.data[i]));
}

void pawl__sql_append_name(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                           const char *before, pawl_text name)
{
    append_char(text, dialect->quote_open);
    pawl__sql_append_bare(text, dialect, before, name);
    append_char(text, dialect->quote_close);
}

void pawl__sql_append_literal(pawl__sql_text *text, pawl_text value)
{
    append_char(text, '\'');
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] == '\'')
            append_char(text, '\'');
        append_char(text, value.data[i]);
    }
    append_char(text, '\'');
}

void pawl__sql_append_quoted(pawl__sql_text *text, pawl_text word)
{
    for (size_t i = 0; i < word.size; i++)
        if (word.data[i] == '\'')
            pawl__sql_append(text, "'\\''");
        else
            append_char(text, word.data[i]);
}

void pawl__sql_append_option(pawl__sql_text *text, const char *option, pawl_text word)
{
    pawl__sql_append(text, option);
    append_char(text, '\'');
    pawl__sql_append_quoted(text, word);
    append_char(text, '\'');
}

void pawl__sql_append_pattern(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                              const char *pattern, pawl_text name)
{
    pawl__sql_text quoted = {0};
    pawl__sql_append_name(&quoted, dialect, "", name);
    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '%')
            append_char(text, *pattern);
        else if (*++pattern == 'n')
            pawl__sql_append_text(text, pawl__sql_text_of(&quoted));
        else
            pawl__sql_append_literal(text, *pattern == 'l' ? pawl__sql_text_of(&quoted) : name);
    }
    text->is_failed |= quoted.is_failed;
    pawl__sql_text_free(&quoted);
}

void pawl__sql_append_table(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                            const char *before, pawl_text name)
{
    if (dialect->schema != NULL) {
        pawl__sql_append_name(text, dialect, "", pawl_text_of(dialect->schema));
        append_char(text, '.');
    }
    pawl__sql_append_name(text, dialect, before, name);
}

/* Appends the identifier in brackets at `open`; returns the closing bracket. */
static const char *append_bracketed(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                    const char *open)
{
    const char *close = strchr(open, ']');
    pawl__sql_append_name(text, dialect, "",
                          (pawl_text){.data = open + 1, .size = (size_t)(close - open - 1)});
    return close;
}

static unsigned expand_parameter(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                 const char *digits);

/* The default of dialect->has: no function that searches a text exists on all databases. */
#define HAS "length(replace(%a, %b, '')) <> length(%a)"

/* Appends a list such as "[A], ?1" with the dialect's quotes and placeholders. */
static void append_columns(pawl__sql_text *text, const pawl__sql_dialect *dialect, pawl_text list)
{
    for (const char *at = list.data; at < list.data + list.size; at++) {
        if (*at == '[')
            at = append_bracketed(text, dialect, at);
        else if (*at == '?')
            at += expand_parameter(text, dialect, at + 1);
        else
            append_char(text, *at);
    }
}

static bool has_word(pawl_text *token, const char *word)
{
    size_t size = strlen(word);
    if (token->size < size || memcmp(token->data, word, size) != 0)
        return false;
    *token = (pawl_text){.data = token->data + size, .size = token->size - size};
    return true;
}

static void append_ignore(pawl__sql_text *text, const pawl__sql_dialect *dialect, pawl_text columns)
{
    const char *end   = memchr(columns.data, ']', columns.size);
    pawl_text   first = {.data = columns.data, .size = (size_t)(end - columns.data) + 1};
    for (const char *at = dialect->ignore; *at != '\0'; at++) {
        if (*at != '%')
            append_char(text, *at);
        else
            append_columns(text, dialect, *++at == 'c' ? first : columns);
    }
}

static bool goes_without(const pawl__sql_dialect *dialect, pawl_text index)
{
    const char *const *name = dialect->no_indexes;
    while (name != NULL && *name != NULL && !pawl_text_equal(pawl_text_of(*name), index))
        name++;
    return name != NULL && *name != NULL;
}

const char *pawl__sql_append_before(pawl__sql_text *text, const char *pattern)
{
    size_t size = strcspn(pattern, "%");
    pawl__sql_append_text(text, (pawl_text){.data = pattern, .size = size});
    return pattern[size] != '\0' ? pattern + size + 2 : NULL;
}

#define VALUES " values ("

const char *pawl__sql_append_rows(pawl__sql_text *text, const char *insert, unsigned rows)
{
    const char *group = strstr(insert, VALUES);
    if (strncmp(insert, "insert ", 7) != 0 || group == NULL)
        return NULL;
    group += sizeof VALUES - 2;
    const char *end = group;
    for (int depth = 0; depth > 0 || end == group; end++)
        depth += (*end == '(') - (*end == ')');
    pawl__sql_append_text(text, (pawl_text){.data = insert, .size = (size_t)(group - insert)});
    for (unsigned i = 0; i < rows; i++) {
        pawl__sql_append(text, i != 0 ? ", " : "");
        pawl__sql_append_text(text, (pawl_text){.data = group, .size = (size_t)(end - group)});
    }
    pawl__sql_append(text, end);
    return end;
}

/* {index:a|b}: b, if the dialect has no partial indexes, else a. */
static void append_index(pawl__sql_text *text, const pawl__sql_dialect *dialect, const char *prefix,
                         pawl_text index)
{
    const char *bar = memchr(index.data, '|', index.size);
    if (bar != NULL && dialect->indexes_every_row)
        index = (pawl_text){.data = bar + 1, .size = index.size - (size_t)(bar + 1 - index.data)};
    else if (bar != NULL)
        index.size = (size_t)(bar - index.data);
    if (dialect->index == NULL || goes_without(dialect, index))
        return;
    const char *rest = pawl__sql_append_before(text, dialect->index);
    pawl__sql_append_table(text, dialect, prefix, index);
    pawl__sql_append(text, rest);
}

/* {seen:a|b}: b. If the dialect has a clock: that, in rows where a is 0. */
static void append_seen(pawl__sql_text *text, const pawl__sql_dialect *dialect, pawl_text token)
{
    const char *bar     = memchr(token.data, '|', token.size);
    pawl_text   process = {.data = token.data, .size = (size_t)(bar - token.data)};
    pawl_text   now     = {.data = bar + 1, .size = token.size - process.size - 1};
    if (dialect->clock == NULL) {
        append_columns(text, dialect, now);
        return;
    }
    pawl__sql_append(text, "case when ");
    append_columns(text, dialect, process);
    pawl__sql_appendf(text, " = 0 then %s else ", dialect->clock);
    append_columns(text, dialect, now);
    pawl__sql_append(text, " end");
}

/* {bits:a|b} and {has:a|b}: puts a and b into the pattern. */
static void append_both(pawl__sql_text *text, const pawl__sql_dialect *dialect, const char *pattern,
                        pawl_text token)
{
    const char *bar    = memchr(token.data, '|', token.size);
    pawl_text   first  = {.data = token.data, .size = (size_t)(bar - token.data)};
    pawl_text   second = {.data = bar + 1, .size = token.size - first.size - 1};
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '%')
            append_columns(text, dialect, *++pattern == 'a' ? first : second);
        else
            append_char(text, *pattern);
    }
}

static void append_limit(pawl__sql_text *text, const pawl__sql_dialect *dialect, pawl_text number)
{
    const char *rest = pawl__sql_append_before(text, pawl__sql_limit_of(dialect));
    append_columns(text, dialect, number);
    pawl__sql_append(text, rest);
}

/* Expands the text between '{' and '}': the name of a table, or a word of dialect.h. */
static void expand_token(pawl__sql_text *text, const pawl__sql_dialect *dialect, const char *prefix,
                         pawl_text token)
{
    if (has_word(&token, "tie:")) {
        if (dialect->keeps_ties)
            return;
        pawl__sql_append(text, ", ");
        append_columns(text, dialect, token);
    } else if (has_word(&token, "index:")) {
        append_index(text, dialect, prefix, token);
    } else if (has_word(&token, "bits:")) {
        append_both(text, dialect, dialect->bits != NULL ? dialect->bits : "(%a & %b)", token);
    } else if (has_word(&token, "has:")) {
        append_both(text, dialect, dialect->has != NULL ? dialect->has : HAS, token);
    } else if (has_word(&token, "name:")) {
        pawl__sql_append_name(text, dialect, prefix, token);
    } else if (has_word(&token, "seen:")) {
        append_seen(text, dialect, token);
    } else if (pawl_text_equal(token, PAWL_TEXT("free"))) {
        if (dialect->free_row != NULL)
            append_columns(text, dialect, pawl_text_of(dialect->free_row));
    } else if (pawl_text_equal(token, PAWL_TEXT("lock"))) {
        pawl__sql_append(text, dialect->locks[PAWL_SAGA_LOCKED]);
    } else if (pawl_text_equal(token, PAWL_TEXT("skip"))) {
        pawl__sql_append(text, dialect->locks[PAWL_SAGA_SKIP_LOCKED]);
    } else if (pawl_text_equal(token, PAWL_TEXT("share"))) {
        pawl__sql_append(text, dialect->share != NULL ? dialect->share : "");
    } else if (has_word(&token, "keep:")) {
        append_ignore(text, dialect, token);
    } else if (has_word(&token, "ignore:")) {
        if (!dialect->ignores_failures)
            append_ignore(text, dialect, token);
    } else if (has_word(&token, "integer:")) {
        const char *rest = pawl__sql_append_before(text, dialect->integer);
        append_columns(text, dialect, token);
        pawl__sql_append(text, rest);
    } else if (has_word(&token, "any:")) {
        pawl__sql_append(text, dialect->any_order != NULL ? dialect->any_order : "");
        append_limit(text, dialect, token);
    } else if (has_word(&token, "limit:")) {
        append_limit(text, dialect, token);
    } else if (pawl_text_equal(token, PAWL_TEXT("epoch"))) {
        pawl__sql_append(text, dialect->epoch);
    } else if (pawl_text_equal(token, PAWL_TEXT("empty"))) {
        pawl__sql_append(text, dialect->empty != NULL ? dialect->empty : "''");
    } else {
        pawl__sql_append_table(text, dialect, prefix, token);
    }
}

static unsigned read_number(const char *digits, unsigned *number)
{
    unsigned count = 0;
    *number        = 0;
    for (; digits[count] >= '0' && digits[count] <= '9'; count++)
        *number = *number * 10 + (unsigned)(digits[count] - '0');
    return count;
}

size_t pawl__sql_parameter_order(const char *template_text, unsigned *order, size_t max)
{
    size_t   count = 0;
    unsigned number;
    for (const char *at = template_text; *at != '\0'; at++) {
        if (*at != '?')
            continue;
        at += read_number(at + 1, &number);
        if (count < max)
            order[count] = number;
        count++;
    }
    return count;
}

const char *pawl__sql_next_placeholder(const pawl__sql_dialect *dialect, const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        if (*text == '?')
            return text;
        if (*text == '\'' || *text == dialect->quote_open)
            text = strchr(text + 1, *text == '\'' ? '\'' : dialect->quote_close);
        if (text == NULL)
            return NULL;
    }
    return NULL;
}

void pawl__sql_append_parameter(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                unsigned number)
{
    const char *rest = pawl__sql_append_before(text, dialect->parameter);
    if (rest != NULL)
        pawl__sql_appendf(text, "%u%s", number, rest);
}

static unsigned expand_parameter(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                 const char *digits)
{
    unsigned number;
    unsigned count = read_number(digits, &number);
    pawl__sql_append_parameter(text, dialect, number);
    return count;
}

/* Expands the token at `open`; returns its '}'. */
static const char *expand_braces(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                 const char *prefix, const char *open)
{
    const char *end = strchr(open, '}');
    expand_token(text, dialect, prefix,
                 (pawl_text){.data = open + 1, .size = (size_t)(end - open - 1)});
    return end;
}

/* Copies a literal; '' becomes the dialect's empty text, and names of tables are expanded. Returns its last quote. */
static const char *expand_literal(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                  const char *prefix, const char *open)
{
    const char *end = open + 1;
    while (*end != '\'' || end[1] == '\'')
        end += *end == '\'' ? 2 : 1;
    if (end == open + 1)
        pawl__sql_append(text, dialect->empty);
    for (const char *at = open; end != open + 1 && at <= end; at++)
        if (*at == '{')
            at = expand_braces(text, dialect, prefix, at);
        else
            append_char(text, *at);
    return end;
}

void pawl__sql_expand(pawl__sql_text *text, const pawl__sql_dialect *dialect, const char *prefix,
                      const char *template_text)
{
    for (const char *at = template_text; *at != '\0'; at++) {
        if (*at == '{') {
            at = expand_braces(text, dialect, prefix, at);
        } else if (*at == '[') {
            at = append_bracketed(text, dialect, at);
        } else if (*at == '?') {
            at += expand_parameter(text, dialect, at + 1);
        } else if (*at == '\'' && dialect->empty != NULL) {
            at = expand_literal(text, dialect, prefix, at);
        } else {
            append_char(text, *at);
        }
    }
}

pawl__sql_advice pawl__sql_advise(const char *scheme, const char *rest, const char *prefix)
{
    pawl__sql_advice advice;
    pawl__sql_text   text = {0};
    pawl__sql_append(&text, "run: pawl schema apply --store '");
    pawl__sql_append_quoted(&text, pawl_text_of(scheme));
    pawl__sql_append_quoted(&text, pawl_text_of(rest));
    if (strcmp(prefix, "pawl_") != 0)
        pawl__sql_appendf(&text, "' --prefix '%s", prefix);
    pawl__sql_append(&text, "'");
    snprintf(advice.text, sizeof advice.text, "%s",
             text.is_failed ? "run: pawl schema apply" : text.data);
    pawl__sql_text_free(&text);
    return advice;
}

pawl_code pawl__sql_name_check(pawl_text name, const char *what, size_t size_max, pawl_error *error)
{
    if (name.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, "%s is empty", what);
    if (name.size > size_max)
        return pawl_error_set(error, PAWL_EINVAL, "%s '%.*s...' has %zu bytes, limit %zu", what, 40,
                              name.data, name.size, size_max);
    for (size_t i = 0; i < name.size; i++)
        if (name.data[i] == '\0' || strchr("[]`\"", name.data[i]) != NULL)
            return pawl_error_set(error, PAWL_EINVAL,
                                  "%s '%.*s' has a character that may not stand in a name at byte "
                                  "%zu: names are quoted for you, [ ] ` \" and NUL are refused",
                                  what, (int)name.size, name.data, i);
    if (!pawl_text_is_valid(name, NULL))
        return pawl_error_set(error, PAWL_EINVAL, "%s has bytes that are not UTF-8", what);
    static const char quote[] = "$pawl$"; /* around names in texts of statements */
    if (memmem(name.data, name.size, quote, sizeof quote - 1) != NULL)
        return pawl_error_set(error, PAWL_EINVAL, "%s '%.*s' has '%s' in it, which is refused",
                              what, (int)name.size, name.data, quote);
    return PAWL_OK;
}
