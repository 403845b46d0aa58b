/* words.c - parses and prints routes, rows of recovery and limits of health, as the command line and files have them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/run/run.h"

#include "runtime/endpoint/recovery.h"

#include <string.h>

/* ---- Routes -------------------------------------------------------------- */

pawl_code pawl__route_read(const char *text, pawl_arena *arena, pawl_route *route,
                           pawl_error *error)
{
    char  word[PAWL__WORD_SIZE];
    char *name  = pawl__must(pawl_arena_copy(arena, text, strlen(text) + 1));
    char *url   = strchr(name, '=');
    char *queue = url != NULL ? strrchr(url, '#') : NULL;
    if (url == NULL || url == name || (queue != NULL ? queue[1] : url[1]) == '\0')
        return pawl_error_set(
            error, PAWL_EINVAL,
            "expected NAME=URL#QUEUE, NAME=URL or NAME=#QUEUE, with %%23 for a '#' "
            "inside of the URL, got '%s'",
            pawl__shown(text, word));
    /* The name was left out, and the first '=' is one of the URL's "?a=b": the text before it has ":" and "/". */
    if (memchr(text, ':', (size_t)(url - name)) != NULL && memchr(text, '/', (size_t)(url - name)))
        return pawl_error_set(error, PAWL_EINVAL, "'%s' has no name: NAME=URL#QUEUE",
                              pawl__shown(text, word));
    *url++ = '\0';
    if (queue != NULL)
        *queue++ = '\0';
    if (pawl__text_check("name", name, error) != PAWL_OK ||
        pawl__text_check("queue", queue, error) != PAWL_OK)
        return pawl_error_wrap(error, PAWL_EINVAL, "'%s'", pawl__shown(name, word));
    if (strcmp(url, "outbox") == 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "'%s': 'outbox' is not a URL; '" PAWL__THROUGH_OUTBOX
                              "', with a colon, is the outbox of this store",
                              pawl__shown(name, word));
    *route = (pawl_route){.name = name, .url = url[0] != '\0' ? url : NULL, .queue = queue};
    route->is_outbox = strcmp(url, PAWL__THROUGH_OUTBOX) == 0;
    if (route->is_outbox)
        route->url = NULL;
    return PAWL_OK;
}

const char *pawl__route_words(const pawl_route *route, char text[PAWL__ROUTE_TEXT_SIZE])
{
    char        url[PAWL_URL_SIZE_MAX + 1];
    const char *leads = "";
    if (route->outbound != NULL)
        leads = "(code of the application)";
    else if (route->is_outbox)
        leads = PAWL__THROUGH_OUTBOX;
    else if (route->url != NULL)
        leads = pawl__masked(route->url, url, sizeof url);
    snprintf(text, PAWL__ROUTE_TEXT_SIZE, "%s=%s%s%s", route->name, leads,
             route->queue != NULL ? "#" : "", route->queue != NULL ? route->queue : "");
    return text;
}

/* ---- Rows of recovery ---------------------------------------------------- */

/* Words whose value is a number, and their limits. */
static const pawl__option numbers[] = {
    {.name     = "immediate",
     .kind     = PAWL__OPTION_COUNT,
     .max      = PAWL__RECOVERY_IMMEDIATE_MAX,
     .has_none = true},
    {.name     = "delayed",
     .kind     = PAWL__OPTION_COUNT,
     .max      = PAWL__RECOVERY_DELAYED_MAX,
     .has_none = true},
    {.name = "delay",
     .kind = PAWL__OPTION_DURATION,
     .min  = PAWL_MILLISECONDS(1),
     .max  = PAWL__RECOVERY_DELAY_MAX},
    {.name = "delay-max",
     .kind = PAWL__OPTION_DURATION,
     .min  = PAWL_MILLISECONDS(1),
     .max  = PAWL__RECOVERY_DELAY_MAX},
};
enum { NUMBER_IMMEDIATE, NUMBER_DELAYED, NUMBER_DELAY, NUMBER_DELAY_MAX, number_count };
_Static_assert(sizeof numbers / sizeof numbers[0] == number_count, "a row for each number");

static const char *const recovery_words[] = {"code",  "type",      "immediate", "delayed",
                                             "delay", "delay-max", "then",      NULL};
enum { WORD_CODE, WORD_TYPE, WORD_NUMBERS, WORD_THEN = WORD_NUMBERS + number_count, word_count };

static const char *const ends[] = {
    [PAWL_THEN_DEAD] = "dead", [PAWL_THEN_DISCARD] = "discard", NULL};

static const pawl_code codes[] = {
#define CODE_ROW(symbol, number, retry, exit_code, text) PAWL_##symbol,
    PAWL_CODES(CODE_ROW)
#undef CODE_ROW
};
#define CODE_COUNT (sizeof codes / sizeof codes[0])

static pawl_code read_code(const char *text, pawl_recovery *row, pawl_error *error)
{
    const char *names[CODE_COUNT + 1] = {NULL};
    size_t      count                 = 0;
    char        suggestion[600], shown[PAWL__WORD_SIZE];
    for (size_t i = 0; i < CODE_COUNT; i++) {
        const pawl_recovery plain = {.code = codes[i]};
        if (codes[i] == PAWL_OK)
            continue;
        if (strcmp(pawl_code_name(codes[i]), text) == 0) {
            row->code = codes[i];
            return PAWL_OK;
        }
        if (pawl__recovery_check_code(&plain, NULL) == PAWL_OK)
            names[count++] = pawl_code_name(codes[i]);
    }
    pawl__suggest(text, "", names, suggestion, sizeof suggestion);
    return pawl_error_set(error, PAWL_EINVAL, "there is no code '%s' of a failure%s",
                          pawl__shown(text, shown), suggestion);
}

static pawl_code read_end(const char *text, pawl_recovery *row, pawl_error *error)
{
    char   shown[PAWL__WORD_SIZE];
    size_t i = pawl__choice_of(ends, pawl_text_of(text));
    if (ends[i] == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "then: expected dead or discard, got '%s'",
                              pawl__shown(text, shown));
    row->then = (pawl_then)i;
    return PAWL_OK;
}

static pawl_code read_number(size_t i, const char *text, pawl_recovery *row, pawl_error *error)
{
    int64_t   value = 0;
    pawl_code code  = pawl__option_number(&numbers[i], text, &value, error);
    int32_t   tries = value == 0 ? -1 : (int32_t)value;
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "%s", numbers[i].name);
    switch (i) {
    case NUMBER_IMMEDIATE: row->immediate = tries; break;
    case NUMBER_DELAYED: row->delayed = tries; break;
    case NUMBER_DELAY: row->delay = value; break;
    default: row->delay_max = value; break;
    }
    return PAWL_OK;
}

/* Reads NAME=VALUE; `seen` has a bit for each name. */
static pawl_code read_word(char *text, unsigned *seen, pawl_recovery *row, pawl_error *error)
{
    char  suggestion[600], shown[PAWL__WORD_SIZE];
    char *equals = strchr(text, '=');
    if (equals == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "expected NAME=VALUE, got '%s'",
                              pawl__shown(text, shown));
    *equals  = '\0';
    size_t i = pawl__choice_of(recovery_words, pawl_text_of(text));
    if (recovery_words[i] == NULL) {
        pawl__suggest(text, "", recovery_words, suggestion, sizeof suggestion);
        return pawl_error_set(error, PAWL_EINVAL, "there is no '%s'%s", pawl__shown(text, shown),
                              suggestion);
    }
    if ((*seen & 1U << i) != 0)
        return pawl_error_set(error, PAWL_EINVAL, "%s is given twice", recovery_words[i]);
    *seen |= 1U << i;
    switch (i) {
    case WORD_CODE: return read_code(equals + 1, row, error);
    case WORD_TYPE: row->type = equals + 1; return PAWL_OK;
    case WORD_THEN: return read_end(equals + 1, row, error);
    default: return read_number(i - WORD_NUMBERS, equals + 1, row, error);
    }
}

static pawl_code read_row(const char *text, pawl_arena *arena, pawl_recovery *row,
                          pawl_error *error)
{
    unsigned  seen = 0;
    char     *rest = NULL;
    char     *copy = pawl__must(pawl_arena_copy(arena, text, strlen(text) + 1));
    pawl_code code = PAWL_OK;
    *row           = (pawl_recovery){.type = NULL};
    for (char *word = strtok_r(copy, " \t", &rest); word != NULL && code == PAWL_OK;
         word       = strtok_r(NULL, " \t", &rest))
        code = read_word(word, &seen, row, error);
    if (code == PAWL_OK && pawl__recovery_is_end(row))
        return pawl_error_set(error, PAWL_EINVAL,
                              "is empty: expected words such as code=EUNREACHABLE type=charge "
                              "immediate=0 delayed=10 delay=1m delay-max=2h then=discard");
    if (code != PAWL_OK || pawl__recovery_check(row, error) == PAWL_OK)
        return code;
    error->code = PAWL_EINVAL;
    return PAWL_EINVAL;
}

pawl_code pawl__recovery_add(pawl__recovery_rows *rows, const char *text, size_t line,
                             pawl_arena *arena, pawl_error *error)
{
    pawl_recovery row  = {.type = NULL};
    pawl_code     code = read_row(text, arena, &row, error);
    if (code != PAWL_OK)
        return code;
    size_t before = rows->count;
    if (!pawl__recovery_join(rows, &row, line))
        return pawl_error_set(error, PAWL_ELIMIT, "given more than %d times",
                              PAWL_RECOVERY_ROWS_MAX);
    if (rows->count == before)
        return pawl_error_set(error, PAWL_EINVAL,
                              "'%s' is never used: an earlier row covers all its failures", text);
    return PAWL_OK;
}

bool pawl__recovery_join(pawl__recovery_rows *rows, const pawl_recovery *row, size_t line)
{
    for (size_t i = 0; i < rows->count; i++)
        if (pawl__recovery_shadows(&rows->items[i], row))
            return true;
    if (rows->count == PAWL_RECOVERY_ROWS_MAX)
        return false;
    rows->items[rows->count]   = *row;
    rows->lines[rows->count++] = line;
    return true;
}

const char *pawl__recovery_text(const pawl_recovery *row, pawl_arena *arena)
{
    const int64_t values[number_count] = {row->immediate, row->delayed, row->delay, row->delay_max};
    char          number[40];
    pawl_text     made =
        pawl__must_printf(arena, "%s%s%s%s", row->code != PAWL_OK ? " code=" : "",
                          row->code != PAWL_OK ? pawl_code_name(row->code) : "",
                          row->type != NULL ? " type=" : "", row->type != NULL ? row->type : "");
    for (size_t i = 0; i < number_count; i++)
        if (values[i] != 0)
            made = pawl__must_printf(arena, "%s %s=%s", made.data, numbers[i].name,
                                     pawl__option_text(&numbers[i], values[i] < 0 ? 0 : values[i],
                                                       number, sizeof number));
    if (row->then != PAWL_THEN_DEAD)
        made = pawl__must_printf(arena, "%s then=%s", made.data, ends[row->then]);
    return made.size > 0 ? made.data + 1 : made.data;
}

/* ---- Limits of health ---------------------------------------------------- */

static const pawl__health_row limit_rows[] = {PAWL__HEALTH_ROWS(PAWL__HEALTH_ROW)};

static pawl_code refuse_check(const char *text, pawl_error *error)
{
    const char *names[PAWL__HEALTH_CHECK_COUNT + 1] = {NULL};
    char        suggestion[600], name[PAWL__WORD_SIZE], word[PAWL__WORD_SIZE];
    for (size_t i = 0; i < PAWL__HEALTH_CHECK_COUNT; i++)
        names[i] = limit_rows[i].check;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
    if (names[pawl__choice_of(names, pawl_text_of(text))] != NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s has no limit: expected %s=LIMIT or %s=LIMIT/LIMIT", name, name,
                              name);
    pawl__suggest(name, "", names, suggestion, sizeof suggestion);
    return pawl_error_set(error, PAWL_EINVAL, "there is no check '%s'%s", pawl__shown(name, word),
                          suggestion);
}

static pawl_code read_one(const pawl__health_row *row, const char *text, int64_t *limit,
                          pawl_error *error)
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
static const pawl__health_row *row_of(const char *text)
{
    size_t size = strcspn(text, "=");
    for (size_t i = 0; text[size] == '=' && i < PAWL__HEALTH_CHECK_COUNT; i++)
        if (strlen(limit_rows[i].check) == size && memcmp(limit_rows[i].check, text, size) == 0)
            return &limit_rows[i];
    return NULL;
}

static void set(pawl_health_options *health, size_t offset, int64_t limit)
{
    *(int64_t *)(void *)((char *)health + offset) = limit;
}

/* LIMIT or LIMIT/LIMIT. */
static pawl_code read_both(const pawl__health_row *row, char *values, pawl_health_options *health,
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

/* The line is 0 on the command line. */
pawl_code pawl__limit_read(const char *text, size_t line, pawl__limits *limits, pawl_error *error)
{
    char                    values[100];
    const pawl__health_row *row = row_of(text);
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

pawl_code pawl__limits_read(const pawl__texts *texts, pawl__limits *limits, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < texts->count; i++)
        code = pawl__limit_read(texts->items[i], 0, limits, error);
    return code == PAWL_OK ? pawl_health_options_check(&limits->health, error)
                           : pawl_error_wrap(error, code, "--health");
}

static const char *shown(const pawl__health_row *row, int64_t limit, int64_t value_default,
                         char *text, size_t size)
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
    if (check >= PAWL__HEALTH_CHECK_COUNT)
        return false;
    const pawl__health_row *row = &limit_rows[check];
    snprintf(text, size, "%s=%s/%s", row->check,
             shown(row, get(&limits->health, row->degraded), row->degraded_default, degraded,
                   sizeof degraded),
             shown(row, get(&limits->health, row->unhealthy), row->unhealthy_default, unhealthy,
                   sizeof unhealthy));
    return true;
}
