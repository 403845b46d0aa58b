/* recovery.c - see run.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/run/run.h"

#include "cli/base/options.h"
#include "runtime/endpoint/recovery.h"

/* Words with numbers, and their limits. */
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

static const char *const words[] = {"code",  "type",      "immediate", "delayed",
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
    char        suggestion[600], shown[PAWL__WORD_SIZE];
    for (size_t i = 0; i < CODE_COUNT; i++) {
        names[i] = pawl_code_name(codes[i]);
        if (strcmp(names[i], text) == 0 && codes[i] != PAWL_OK) {
            row->code = codes[i];
            return PAWL_OK;
        }
    }
    pawl__suggest(text, "", names, suggestion, sizeof suggestion);
    return pawl_error_set(error, PAWL_EINVAL, "there is no code '%s' of a failure%s",
                          pawl__shown(text, shown), suggestion);
}

static pawl_code read_end(const char *text, pawl_recovery *row, pawl_error *error)
{
    char   shown[PAWL__WORD_SIZE];
    size_t i = 0;
    while (ends[i] != NULL && strcmp(ends[i], text) != 0)
        i++;
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
    char   suggestion[600], shown[PAWL__WORD_SIZE];
    char  *equals = strchr(text, '=');
    size_t i      = 0;
    if (equals == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "expected NAME=VALUE, got '%s'",
                              pawl__shown(text, shown));
    *equals = '\0';
    while (words[i] != NULL && strcmp(words[i], text) != 0)
        i++;
    if (words[i] == NULL) {
        pawl__suggest(text, "", words, suggestion, sizeof suggestion);
        return pawl_error_set(error, PAWL_EINVAL, "there is no '%s'%s", pawl__shown(text, shown),
                              suggestion);
    }
    if ((*seen & 1U << i) != 0)
        return pawl_error_set(error, PAWL_EINVAL, "%s is given twice", words[i]);
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
    char     *copy = pawl_arena_copy(arena, text, strlen(text) + 1);
    pawl_code code = PAWL_OK;
    if (copy == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    *row = (pawl_recovery){.type = NULL};
    for (char *word = strtok_r(copy, " \t", &rest); word != NULL && code == PAWL_OK;
         word       = strtok_r(NULL, " \t", &rest))
        code = read_word(word, &seen, row, error);
    if (code == PAWL_OK && pawl__recovery_is_end(row))
        return pawl_error_set(error, PAWL_EINVAL,
                              "says nothing: expected words as code=EUNREACHABLE type=charge "
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
                              "'%s' is never reached: an earlier one takes all that it is for",
                              text);
    return PAWL_OK;
}

bool pawl__recovery_join(pawl__recovery_rows *rows, const pawl_recovery *row, size_t line)
{
    for (size_t i = 0; i < rows->count; i++)
        if (pawl__recovery_hides(&rows->items[i], row))
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
        pawl_arena_printf(arena, "%s%s%s%s", row->code != PAWL_OK ? " code=" : "",
                          row->code != PAWL_OK ? pawl_code_name(row->code) : "",
                          row->type != NULL ? " type=" : "", row->type != NULL ? row->type : "");
    for (size_t i = 0; i < number_count && made.data != NULL; i++)
        if (values[i] != 0)
            made = pawl_arena_printf(arena, "%s %s=%s", made.data, numbers[i].name,
                                     pawl__option_text(&numbers[i], values[i] < 0 ? 0 : values[i],
                                                       number, sizeof number));
    if (made.data != NULL && row->then != PAWL_THEN_DEAD)
        made = pawl_arena_printf(arena, "%s then=%s", made.data, ends[row->then]);
    return made.data != NULL && made.size > 0 ? made.data + 1 : made.data;
}
