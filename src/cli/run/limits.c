/* limits.c - limits of health.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/run/limits.h"

#include <stdio.h>
#include <string.h>

typedef struct limit_row {
    const char       *check;
    size_t            degraded, unhealthy; /* offsets in pawl_health_options */
    pawl__health_kind kind;
    int64_t           degraded_default, unhealthy_default;
} limit_row;

#define LIMIT_ROW(check, field, kind, degraded_default, unhealthy_default, reason, help) \
    {#check,                                                                             \
     offsetof(pawl_health_options, field##_degraded),                                    \
     offsetof(pawl_health_options, field##_unhealthy),                                   \
     PAWL__HEALTH_##kind,                                                                \
     degraded_default,                                                                   \
     unhealthy_default},
static const limit_row limit_rows[] = {PAWL__HEALTH_ROWS(LIMIT_ROW)};
#define LIMIT_COUNT (sizeof limit_rows / sizeof limit_rows[0])

static pawl_code refuse_check(const char *text, pawl_error *error)
{
    const char *names[LIMIT_COUNT + 1] = {NULL};
    char        suggestion[600], name[PAWL__WORD_SIZE], word[PAWL__WORD_SIZE];
    for (size_t i = 0; i < LIMIT_COUNT; i++)
        names[i] = limit_rows[i].check;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
    pawl__suggest(name, "", names, suggestion, sizeof suggestion);
    return pawl_error_set(error, PAWL_EINVAL, "there is no check '%s'%s", pawl__shown(name, word),
                          suggestion);
}

static pawl_code read_one(const limit_row *row, const char *text, int64_t *limit, pawl_error *error)
{
    bool is_duration = row->kind == PAWL__HEALTH_DURATION;
    char word[PAWL__WORD_SIZE];
    *limit = PAWL__HEALTH_OFF;
    if (strcmp(text, "off") == 0)
        return PAWL_OK;
    if (is_duration ? pawl__duration_parse(text, limit, NULL) == PAWL_OK && *limit > 0
                    : pawl__number_parse(text, limit))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL, "%s: expected %s or off, got '%s'", row->check,
                          is_duration ? "a duration like 5m" : "a number from 1",
                          pawl__shown(text, word));
}

/* The row of the check before the '='; NULL: there is none. */
static const limit_row *row_of(const char *text)
{
    size_t size = strcspn(text, "=");
    for (size_t i = 0; text[size] == '=' && i < LIMIT_COUNT; i++)
        if (strlen(limit_rows[i].check) == size && memcmp(limit_rows[i].check, text, size) == 0)
            return &limit_rows[i];
    return NULL;
}

static void set(pawl_health_options *health, size_t offset, int64_t limit)
{
    *(int64_t *)(void *)((char *)health + offset) = limit;
}

/* LIMIT or LIMIT/LIMIT. */
static pawl_code read_both(const limit_row *row, char *values, pawl_health_options *health,
                           pawl_error *error)
{
    char   *slash     = strchr(values, '/');
    int64_t degraded  = 0;
    int64_t unhealthy = 0;
    if (slash != NULL)
        *slash = '\0';
    pawl_code code = read_one(row, values, &degraded, error);
    if (code == PAWL_OK && slash != NULL)
        code = read_one(row, slash + 1, &unhealthy, error);
    if (code != PAWL_OK)
        return code;
    set(health, row->degraded, degraded);
    if (slash != NULL)
        set(health, row->unhealthy, unhealthy);
    return PAWL_OK;
}

static pawl_code read_limit(const char *text, pawl__limits *limits, size_t line, pawl_error *error)
{
    char             values[100];
    const limit_row *row = row_of(text);
    if (row == NULL)
        return refuse_check(text, error);
    size_t check = (size_t)(row - limit_rows);
    if (line != 0 ? limits->lines[check] != 0 : limits->is_given[check])
        return pawl_error_set(error, PAWL_EINVAL, "%s is given twice", row->check);
    if (line != 0)
        limits->lines[check] = line;
    else
        limits->is_given[check] = true;
    snprintf(values, sizeof values, "%s", strchr(text, '=') + 1);
    return read_both(row, values, &limits->health, error);
}

pawl_code pawl__limit_read(const char *text, size_t line, pawl__limits *limits, pawl_error *error)
{
    return read_limit(text, limits, line, error);
}

pawl_code pawl__limits_read(const pawl__texts *texts, pawl__limits *limits, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < texts->count; i++)
        code = read_limit(texts->items[i], limits, 0, error);
    return code == PAWL_OK ? pawl_health_options_check(&limits->health, error)
                           : pawl_error_wrap(error, code, "--health");
}

/* ---- Showing ------------------------------------------------------------- */

static const char *shown(const limit_row *row, int64_t limit, int64_t value_default, char *text,
                         size_t size)
{
    const pawl__option option = {.kind = row->kind == PAWL__HEALTH_DURATION ? PAWL__OPTION_DURATION
                                                                            : PAWL__OPTION_COUNT};
    limit                     = limit != 0 ? limit : value_default;
    return limit == PAWL__HEALTH_OFF ? "off" : pawl__option_text(&option, limit, text, size);
}

static int64_t get(const pawl_health_options *health, size_t offset)
{
    return *(const int64_t *)(const void *)((const char *)health + offset);
}

bool pawl__limit_text(const pawl__limits *limits, size_t check, char *text, size_t size)
{
    char degraded[40], unhealthy[40];
    if (check >= LIMIT_COUNT)
        return false;
    const limit_row *row = &limit_rows[check];
    snprintf(text, size, "%s=%s/%s", row->check,
             shown(row, get(&limits->health, row->degraded), row->degraded_default, degraded,
                   sizeof degraded),
             shown(row, get(&limits->health, row->unhealthy), row->unhealthy_default, unhealthy,
                   sizeof unhealthy));
    return true;
}
