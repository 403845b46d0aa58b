/* options.c - reads options by a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number without a unit is in seconds. */
static const struct {
    const char *name;
    int64_t     microseconds;
} units[] = {
    {"", 1000000},
    {"d", INT64_C(86400000000)},
    {"h", INT64_C(3600000000)},
    {"m", 60000000},
    {"ms", 1000},
    {"s", 1000000},
};

static pawl_code parse_duration(const example_option *row, const char *text, int64_t *duration,
                                pawl_error *error)
{
    size_t digits = strspn(text, "0123456789");
    errno         = 0;
    int64_t value = strtoll(text, NULL, 10);
    for (size_t i = 0; digits > 0 && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text + digits, units[i].name) != 0)
            continue;
        if (errno != 0 || value > PAWL_TIME_MAX / units[i].microseconds)
            return pawl_error_set(error, PAWL_EINVAL, "--%s: '%s' is too long", row->name, text);
        if (value == 0)
            return pawl_error_set(error, PAWL_EINVAL, "--%s: '%s' is not a time at all", row->name,
                                  text);
        *duration = value * units[i].microseconds;
        return PAWL_OK;
    }
    return pawl_error_set(
        error, PAWL_EINVAL,
        "--%s: '%s' is not a duration: expected seconds, or a number and ms, s, m, "
        "h or d",
        row->name, text);
}

static pawl_code parse_count(const example_option *row, const char *text, int64_t *count,
                             pawl_error *error)
{
    size_t digits = strspn(text, "0123456789");
    errno         = 0;
    int64_t value = strtoll(text, NULL, 10);
    if (digits == 0 || text[digits] != '\0' || errno != 0 || value < 1 || value > row->max)
        return pawl_error_set(error, PAWL_EINVAL, "--%s: '%s' is not a number from 1 to %" PRId64,
                              row->name, text, row->max);
    *count = value;
    return PAWL_OK;
}

static pawl_code set_value(const example_option *row, const char *text, void *into,
                           pawl_error *error)
{
    void *field = (char *)into + row->offset;
    if (text[0] == '\0')
        return pawl_error_set(error, PAWL_EINVAL, "--%s: the value is empty", row->name);
    switch (row->kind) {
    case EXAMPLE_TEXT: *(const char **)field = text; return PAWL_OK;
    case EXAMPLE_COUNT: return parse_count(row, text, field, error);
    case EXAMPLE_DURATION: return parse_duration(row, text, field, error);
    case EXAMPLE_FLAG: break;
    }
    return pawl_error_set(error, PAWL_EINVAL, "--%s takes no value", row->name);
}

static const example_option *find_row(const example_options *table, const char *name, size_t size)
{
    for (size_t i = 0; i < table->count; i++)
        if (strlen(table->rows[i].name) == size && memcmp(table->rows[i].name, name, size) == 0)
            return &table->rows[i];
    return NULL;
}

/* Reads the option at words[*at], "--name value" or "--name=value". */
static pawl_code parse_option(const example_options *table, int count, char **words, int *at,
                              void *into, pawl_error *error)
{
    const char           *word  = words[*at];
    size_t                size  = strcspn(word, "=");
    const example_option *row   = size > 2 ? find_row(table, word + 2, size - 2) : NULL;
    const char           *value = word[size] == '=' ? word + size + 1 : NULL;
    if (row == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "there is no option '%.*s'; --help lists all of them", (int)size,
                              word);
    if (row->kind == EXAMPLE_FLAG && value == NULL) {
        *(bool *)((char *)into + row->offset) = true;
        return PAWL_OK;
    }
    if (value == NULL && *at + 1 < count)
        value = words[++*at];
    if (value == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "--%s needs a value: %s", row->name, row->value);
    return set_value(row, value, into, error);
}

pawl_code example_options_parse(const example_options *table, int count, char **words, void *into,
                                example_word_fn *word, pawl_error *error)
{
    bool      options_ended = false;
    pawl_code code          = PAWL_OK;
    for (int i = 0; i < count && code == PAWL_OK; i++) {
        if (!options_ended && strcmp(words[i], "--") == 0)
            options_ended = true;
        else if (!options_ended && strcmp(words[i], "-h") == 0)
            *(bool *)((char *)into + table->help_offset) = true;
        else if (!options_ended && words[i][0] == '-')
            code = parse_option(table, count, words, &i, into, error);
        else
            code = word(words[i], into, error);
    }
    return code;
}

void example_options_print(const example_options *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const example_option *row = &table->rows[i];
        char                  left[40];
        if (row->help == NULL)
            continue;
        snprintf(left, sizeof left, "--%s %s", row->name, row->value != NULL ? row->value : "");
        printf("  %-20s %s\n", left, row->help);
    }
}
