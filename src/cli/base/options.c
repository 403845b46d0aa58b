/* options.c - parses the words behind a verb by its table of options. See options.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/base/options.h"

#include "base/delay.h"
#include "pawl/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Suggestions --------------------------------------------------------- */

#define WORD_SIZE_MAX 40 /* longer words are compared by their first bytes */
#define DISTANCE_MAX 3   /* further away is not a typing error */
#define SUGGESTIONS_MAX 3

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters must be inserted, removed, replaced or swapped to make `b` of `a`. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][WORD_SIZE_MAX + 1]; /* this one and the two before */
    size_t a_size = least(strlen(a), WORD_SIZE_MAX);
    size_t b_size = least(strlen(b), WORD_SIZE_MAX);
    for (size_t j = 0; j <= b_size; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            row[j] = least(least(row[j - 1], above[j]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], rows[(i - 2) % 3][j - 2] + 1);
        }
    }
    return rows[a_size % 3][b_size];
}

void pawl__append(char *text, size_t size, const char *what)
{
    size_t used = strlen(text);
    if (used < size)
        snprintf(text + used, size - used, "%s", what);
}

static void append_name(char *text, size_t size, bool is_first, const char *prefix,
                        const char *name)
{
    pawl__append(text, size, is_first ? "" : ", ");
    pawl__append(text, size, prefix);
    pawl__append(text, size, name);
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The distance of a typing error: at most a third of the longer word. If the name begins with the word, it is 1. */
static size_t remoteness(const char *word, const char *name)
{
    size_t size   = strlen(word);
    size_t longer = most(size, strlen(name));
    if (size >= 2 && strncmp(word, name, size) == 0)
        return 1;
    size_t steps = distance(word, name);
    return steps <= least(DISTANCE_MAX, most(longer / 3, 1)) ? steps : DISTANCE_MAX + 1;
}

bool pawl__suggest(const char *word, const char *prefix, const char *const *names, char *text,
                   size_t size)
{
    size_t found = 0;
    text[0]      = '\0';
    for (size_t steps = 0; steps <= DISTANCE_MAX && found == 0; steps++)
        for (size_t i = 0; names[i] != NULL && found < SUGGESTIONS_MAX; i++)
            if (remoteness(word, names[i]) == steps) {
                pawl__append(text, size, found == 0 ? "; did you mean " : "");
                append_name(text, size, found++ == 0, prefix, names[i]);
            }
    if (found > 0) {
        pawl__append(text, size, "?");
        return true;
    }
    pawl__append(text, size, names[0] != NULL ? "; valid are " : "; there are none");
    for (size_t i = 0; names[i] != NULL; i++)
        append_name(text, size, i == 0, prefix, names[i]);
    return strlen(text) + 1 < size;
}

const char *pawl__shown(const char *word, char text[PAWL__WORD_SIZE])
{
    pawl_arena *arena  = pawl_arena_create(1024);
    pawl_text   masked = pawl_text_of(strpbrk(word, "@=") != NULL ? "***" : word);
    if (arena != NULL && (strpbrk(word, "@=") != NULL || strstr(word, "://") != NULL))
        masked = pawl_url_masked(word, arena);
    snprintf(text, PAWL__WORD_SIZE, "%.*s", PAWL_TEXT_ARGS(masked));
    pawl_arena_destroy(arena);
    return text;
}

/* ---- Values -------------------------------------------------------------- */

pawl_code pawl__duration_parse(const char *text, int64_t *duration, pawl_error *error)
{
    size_t digits = strspn(text, "0123456789");
    char   word[PAWL__WORD_SIZE];
    errno         = 0;
    int64_t value = strtoll(text, NULL, 10);
    for (const pawl__time_unit *unit = pawl__time_units; digits > 0 && unit->microseconds > 1;
         unit++) {
        if (strcmp(text + digits, unit->name) != 0)
            continue;
        if (errno != 0 || value > PAWL_TIME_MAX / unit->microseconds)
            return pawl_error_set(error, PAWL_EINVAL, "'%s' is too long a duration",
                                  pawl__shown(text, word));
        *duration = value * unit->microseconds;
        return PAWL_OK;
    }
    return pawl_error_set(error, PAWL_EINVAL,
                          "'%s' is not a duration: expected a number and ms, s, m, h or d",
                          pawl__shown(text, word));
}

bool pawl__number_parse(const char *text, int64_t *number)
{
    errno           = 0;
    int64_t value   = strtoll(text, NULL, 10);
    bool    is_read = errno == 0 && value > 0 && strspn(text, "0123456789") == strlen(text);
    *number         = is_read ? value : 0;
    return is_read;
}

pawl_code pawl__text_check(const char *name, const char *value, pawl_error *error)
{
    size_t at;
    if (value == NULL || pawl_text_is_valid(pawl_text_of(value), &at))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL, "%s%sbyte %zu is not UTF-8", name != NULL ? name : "",
                          name != NULL ? ": " : "", at);
}

static pawl_code parse_count(const pawl__option *option, const char *text, int64_t *count,
                             pawl_error *error)
{
    char *end;
    char  word[PAWL__WORD_SIZE];
    errno         = 0;
    int64_t value = strtoll(text, &end, 10);
    if (end == text || *end != '\0')
        return pawl_error_set(error, PAWL_EINVAL, "'%s' is not a whole number",
                              pawl__shown(text, word));
    if (errno != 0 || value < option->min || value > option->max)
        return pawl_error_set(error, PAWL_EINVAL, "%s is not within %" PRId64 " and %" PRId64 "%s",
                              text, option->min, option->max,
                              option->has_none ? ", nor the word none" : "");
    *count = value;
    return PAWL_OK;
}

const char *pawl__option_text(const pawl__option *option, int64_t value, char *text, size_t size)
{
    if (option->has_none && value == 0)
        return "none";
    if (option->kind == PAWL__OPTION_YES_NO)
        return value != 0 ? "yes" : "no";
    if (option->kind == PAWL__OPTION_DURATION)
        return pawl__duration_text(value, text, size);
    snprintf(text, size, "%" PRId64, value);
    return text;
}

static pawl_code parse_duration(const pawl__option *option, const char *text, int64_t *duration,
                                pawl_error *error)
{
    char      low[40], high[40];
    int64_t   value = 0;
    pawl_code code  = pawl__duration_parse(text, &value, error);
    if (code != PAWL_OK)
        return code;
    if (option->max != 0 && (value < option->min || value > option->max))
        return pawl_error_set(error, PAWL_EINVAL, "%s is not within %s and %s", text,
                              pawl__option_text(option, option->min, low, sizeof low),
                              pawl__option_text(option, option->max, high, sizeof high));
    *duration = value;
    return PAWL_OK;
}

pawl_code pawl__option_number(const pawl__option *option, const char *text, int64_t *number,
                              pawl_error *error)
{
    if (option->has_none && strcmp(text, "none") == 0) {
        *number = 0;
        return PAWL_OK;
    }
    return option->kind == PAWL__OPTION_DURATION ? parse_duration(option, text, number, error)
                                                 : parse_count(option, text, number, error);
}

static pawl_code parse_yes_no(const char *text, bool *is_yes, pawl_error *error)
{
    char word[PAWL__WORD_SIZE];
    *is_yes = strcmp(text, "yes") == 0;
    if (!*is_yes && strcmp(text, "no") != 0)
        return pawl_error_set(error, PAWL_EINVAL, "'%s' is neither yes nor no",
                              pawl__shown(text, word));
    return PAWL_OK;
}

static pawl_code add_text(pawl__texts *texts, const char *text, pawl_error *error)
{
    if (texts->count == PAWL__TEXTS_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "given more than %d times", PAWL__TEXTS_MAX);
    texts->items[texts->count++] = text;
    return PAWL_OK;
}

size_t pawl__choice_of(const char *const *choices, pawl_text word)
{
    size_t i = 0;
    while (choices[i] != NULL && !pawl_text_equal(pawl_text_of(choices[i]), word))
        i++;
    return i;
}

/* The text before the next comma, and where the one behind it begins; NULL at the end. */
static pawl_text cut_word(const char **words)
{
    pawl_text word = {.data = *words, .size = strcspn(*words, ",")};
    *words         = word.data[word.size] == ',' ? word.data + word.size + 1 : NULL;
    return word;
}

unsigned pawl__choices_of(const char *const *choices, const char *words)
{
    unsigned bits = 0;
    while (words != NULL) {
        size_t i = pawl__choice_of(choices, cut_word(&words));
        if (choices[i] != NULL)
            bits |= 1U << i;
    }
    return bits;
}

/* Refuses an unknown choice: "'x' is not a valid STATE", by the placeholder "STATE,...". */
static pawl_code check_choice(const pawl__option *option, pawl_text value, pawl_error *error)
{
    char word[PAWL__WORD_SIZE], shown[PAWL__WORD_SIZE], hint[400];
    if (option->choices[pawl__choice_of(option->choices, value)] != NULL)
        return PAWL_OK;
    snprintf(word, sizeof word, "%.*s", (int)least(value.size, sizeof word - 1), value.data);
    pawl__suggest(word, "", option->choices, hint, sizeof hint);
    return pawl_error_set(error, PAWL_EINVAL, "'%s' is not a valid %.*s%s",
                          pawl__shown(word, shown), (int)strcspn(option->value, ","), option->value,
                          hint);
}

/* Refuses a text that is not UTF-8, or longer than the option's max. */
static pawl_code check_size(const pawl__option *option, const char *text, pawl_error *error)
{
    pawl_code code = pawl__text_check(NULL, text, error);
    size_t    size = strlen(text);
    return code != PAWL_OK || size <= (size_t)option->max
               ? code
               : pawl_error_set(error, PAWL_ELIMIT, "it has %zu bytes, limit %" PRId64, size,
                                option->max);
}

static pawl_code put_text(const pawl__option *option, const char *text, const char **field,
                          pawl_error *error)
{
    pawl_code   code = option->max != 0 ? check_size(option, text, error) : PAWL_OK;
    const char *left = option->choices != NULL && !option->is_open ? text : NULL;
    *field           = text;
    while (code == PAWL_OK && left != NULL) {
        pawl_text word = pawl_text_of(left);
        if (option->is_set)
            word = cut_word(&left);
        else
            left = NULL;
        code = check_choice(option, word, error);
    }
    return code;
}

static pawl_code put_value(const pawl__option *option, const char *text, void *fields,
                           pawl_error *error)
{
    void     *field = (char *)fields + option->offset;
    pawl_code code;
    switch (option->kind) {
    case PAWL__OPTION_FLAG: *(bool *)field = true; return PAWL_OK;
    case PAWL__OPTION_TEXT:
    case PAWL__OPTION_FILTER: return put_text(option, text, field, error);
    case PAWL__OPTION_TIME: /* 0: not given */
        code = pawl_time_parse(pawl_text_of(text), field, error);
        return code != PAWL_OK || *(pawl_time *)field != 0
                   ? code
                   : pawl_error_set(error, PAWL_EINVAL, "nothing is as old as %s", text);
    case PAWL__OPTION_YES_NO: return parse_yes_no(text, field, error);
    case PAWL__OPTION_LIST: return add_text(field, text, error);
    case PAWL__OPTION_COUNT:
    case PAWL__OPTION_DURATION: return pawl__option_number(option, text, field, error);
    }
    return pawl_error_set(error, PAWL_EBUG, "option kind %d", (int)option->kind);
}

/* ---- Options ------------------------------------------------------------- */

size_t pawl__options_sorted(const pawl__option *options,
                            const pawl__option *sorted[PAWL__OPTIONS_MAX])
{
    size_t count = 0;
    for (const pawl__option *option = options; option->name != NULL; option++) {
        size_t at = count++;
        for (; at > 0 && strcmp(sorted[at - 1]->name, option->name) > 0; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = option;
    }
    return count;
}

const pawl__option *pawl__option_find(const pawl__option *options, const char *name, size_t size)
{
    for (const pawl__option *option = options; option->name != NULL; option++)
        if (strlen(option->name) == size && strncmp(option->name, name, size) == 0)
            return option;
    return NULL;
}

/* ---- Words --------------------------------------------------------------- */

typedef struct word_reader {
    const char           *verb;
    const pawl__argument *arguments;
    const pawl__option   *options;
    char                **words;
    int                   count;
    int                   at;
    size_t                argument_count;
    size_t                action;       /* index of the first argument among its choices */
    size_t                words_behind; /* the action */
    const char           *first_behind;
    uint64_t              seen; /* a bit for each option */
    void                 *fields;
} word_reader;

/* `dashes` are those of the word: a negative number has one, and must not be shown with two. */
static pawl_code refuse_option(const word_reader *reader, const char *dashes, const char *name,
                               size_t size, pawl_error *error)
{
    const pawl__option *sorted[PAWL__OPTIONS_MAX];
    const char         *names[PAWL__OPTIONS_MAX + 1] = {NULL};
    char                word[WORD_SIZE_MAX], suggestion[400], shown[PAWL__WORD_SIZE];
    for (size_t i = pawl__options_sorted(reader->options, sorted); i-- > 0;)
        names[i] = sorted[i]->name;
    snprintf(word, sizeof word, "%.*s", (int)least(size, sizeof word - 1), name);
    if (strcmp(word, "load") == 0)
        snprintf(suggestion, sizeof suggestion, "; it stands before the verb: pawl --load FILE %s",
                 reader->verb);
    else if (!pawl__suggest(word, "--", names, suggestion, sizeof suggestion))
        snprintf(suggestion, sizeof suggestion, "; `pawl help %s` lists them", reader->verb);
    return pawl_error_set(error, PAWL_EINVAL, "pawl %s has no option %s%s%s", reader->verb, dashes,
                          pawl__shown(word, shown), suggestion);
}

void pawl__actions_text(const pawl__argument *argument, unsigned actions, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; argument->choices != NULL && argument->choices[i] != NULL; i++)
        if ((actions & 1U << i) != 0)
            append_name(text, size, text[0] == '\0', "", argument->choices[i]);
}

static bool is_seen(const word_reader *reader, const pawl__option *option)
{
    return (reader->seen & UINT64_C(1) << (option - reader->options)) != 0;
}

/* Refuses another number of words than the help of the action shows. */
static pawl_code check_words(const word_reader *reader, pawl_error *error)
{
    const pawl__argument *first = &reader->arguments[0];
    const char           *words = first->lines != NULL ? first->lines[reader->action].words : "...";
    size_t                least_count = 0, most_count = 0, count = reader->words_behind;
    bool                  has_show = false;
    if (strstr(words, "...") != NULL)
        return PAWL_OK;
    for (const char *at = words; *at != '\0'; at += strcspn(at, " "), at += *at == ' ') {
        least_count += *at != '[';
        most_count++;
    }
    if (count >= least_count && count <= most_count)
        return PAWL_OK;
    const char *action = first->choices[reader->action];
    for (size_t i = 0; first->choices[i] != NULL; i++)
        has_show |= strcmp(first->choices[i], "show") == 0;
    if (most_count > 0)
        return pawl_error_set(error, PAWL_EINVAL, "pawl %s %s needs %s%s, got %zu", reader->verb,
                              action, most_count == 1 ? "one " : "", words, count);
    char text[PAWL__WORD_SIZE];
    return pawl_error_set(error, PAWL_EINVAL, "pawl %s %s takes options, not '%s'%s%s%s",
                          reader->verb, action, pawl__shown(reader->first_behind, text),
                          has_show ? "; did you mean show " : "", has_show ? text : "",
                          has_show ? "?" : "");
}

/* Refuses an option without the flag that it needs. */
static pawl_code check_with(const word_reader *reader, pawl_error *error)
{
    for (const pawl__option *option = reader->options; option->name != NULL; option++)
        if (option->with != NULL && is_seen(reader, option) &&
            !is_seen(reader,
                     pawl__option_find(reader->options, option->with, strlen(option->with))))
            return pawl_error_set(error, PAWL_EINVAL, "--%s is for --%s", option->name,
                                  option->with);
    return PAWL_OK;
}

/* Refuses an option that the chosen action does not use. */
static pawl_code check_actions(const word_reader *reader, pawl_error *error)
{
    char valid[200];
    for (const pawl__option *option = reader->options; option->name != NULL; option++) {
        if (!is_seen(reader, option) || option->actions == 0 ||
            (option->actions & 1U << reader->action) != 0)
            continue;
        pawl__actions_text(reader->arguments, option->actions, valid, sizeof valid);
        return pawl_error_set(error, PAWL_EINVAL, "pawl %s %s has no option --%s: it is for %s",
                              reader->verb, reader->arguments->choices[reader->action],
                              option->name, valid);
    }
    return PAWL_OK;
}

/* The text behind "=", or the next word. */
static pawl_code take_value(word_reader *reader, const pawl__option *option, const char *equals,
                            const char **text, pawl_error *error)
{
    char word[PAWL__WORD_SIZE];
    *text = equals != NULL ? equals + 1 : NULL;
    if (option->kind == PAWL__OPTION_FLAG) {
        if (equals != NULL)
            return pawl_error_set(error, PAWL_EINVAL, "--%s takes no value, but has '%s'",
                                  option->name, pawl__shown(equals + 1, word));
        return PAWL_OK;
    }
    if (equals == NULL && reader->at < reader->count)
        *text = reader->words[reader->at++];
    if (*text == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "--%s needs a value: %s", option->name,
                              option->value != NULL ? option->value : "yes or no");
    return PAWL_OK;
}

static pawl_code read_option(word_reader *reader, const char *name, pawl_error *error)
{
    const char         *equals = strchr(name, '=');
    size_t              size   = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const pawl__option *option = pawl__option_find(reader->options, name, size);
    if (option == NULL)
        return refuse_option(reader, "--", name, size, error);
    if (is_seen(reader, option) && option->kind != PAWL__OPTION_LIST)
        return pawl_error_set(error, PAWL_EINVAL, "--%s is given twice", option->name);
    reader->seen |= UINT64_C(1) << (option - reader->options);
    const char *text;
    pawl_code   code = take_value(reader, option, equals, &text, error);
    if (code != PAWL_OK)
        return code;
    bool is_filter = option->kind == PAWL__OPTION_FILTER;
    if ((is_filter || option->kind == PAWL__OPTION_TIME) && text[0] == '\0')
        return pawl_error_set(error, PAWL_EINVAL, "--%s is empty: leave it out to match all",
                              option->name);
    code = is_filter ? pawl__text_check(NULL, text, error) : PAWL_OK;
    if (code == PAWL_OK)
        code = put_value(option, text, reader->fields, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "--%s", option->name);
}

static pawl_code read_argument(word_reader *reader, const char *word, pawl_error *error)
{
    const pawl__argument *argument = &reader->arguments[reader->argument_count];
    char                  suggestion[400], shown[PAWL__WORD_SIZE];
    if (argument->name == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "pawl %s: '%s' is one argument too many",
                              reader->verb, pawl__shown(word, shown));
    for (size_t i = 0; argument->choices != NULL; i++) {
        if (argument->choices[i] == NULL) {
            pawl__suggest(word, "", argument->choices, suggestion, sizeof suggestion);
            return pawl_error_set(error, PAWL_EINVAL, "pawl %s: '%s' is not a valid %s%s",
                                  reader->verb, pawl__shown(word, shown), argument->name,
                                  suggestion);
        }
        if (strcmp(argument->choices[i], word) != 0)
            continue;
        if (reader->argument_count == 0)
            reader->action = i;
        break;
    }
    void     *field = (char *)reader->fields + argument->offset;
    pawl_code code  = argument->is_open ? PAWL_OK : pawl__text_check(NULL, word, error);
    if (word[0] == '\0' && !argument->is_open)
        return pawl_error_set(error, PAWL_EINVAL, "%s is empty", argument->name);
    if (argument != reader->arguments && reader->words_behind++ == 0)
        reader->first_behind = word;
    if (code == PAWL_OK && argument->is_list)
        code = add_text(field, word, error);
    if (code != PAWL_OK || argument->is_list)
        return code == PAWL_OK ? code : pawl_error_wrap(error, code, "%s", argument->name);
    *(const char **)field = word;
    reader->argument_count++;
    return PAWL_OK;
}

static pawl_code refuse_missing(const word_reader *reader, const pawl__argument *argument,
                                pawl_error *error)
{
    char suggestion[400] = "";
    if (argument->choices != NULL)
        pawl__suggest("", "", argument->choices, suggestion, sizeof suggestion);
    return pawl_error_set(error, PAWL_EINVAL, "pawl %s needs %s%s", reader->verb, argument->name,
                          suggestion);
}

static void put_default(const pawl__option *option, void *fields)
{
    void *field = (char *)fields + option->offset;
    if (option->kind == PAWL__OPTION_TEXT && option->text_default != NULL && !option->is_layered)
        *(const char **)field = option->text_default;
    if (option->kind == PAWL__OPTION_YES_NO && option->has_default)
        *(bool *)field = option->value_default != 0;
    if (option->kind != PAWL__OPTION_COUNT && option->kind != PAWL__OPTION_DURATION)
        return;
    if (option->is_layered || option->has_default)
        *(int64_t *)field = option->is_layered ? -1 : option->value_default;
}

pawl_code pawl__options_parse(const char *verb, const pawl__argument *arguments,
                              const pawl__option *options, int count, char **words, void *fields,
                              pawl_error *error)
{
    word_reader reader     = {.verb      = verb,
                              .arguments = arguments,
                              .options   = options,
                              .words     = words,
                              .count     = count,
                              .fields    = fields};
    bool        is_options = true; /* until "--" */
    for (const pawl__option *option = options; option->name != NULL; option++)
        put_default(option, fields);
    while (reader.at < reader.count) {
        const char *word = reader.words[reader.at++];
        pawl_code   code = PAWL_OK;
        if (is_options && strcmp(word, "--") == 0)
            is_options = false;
        else if (is_options && strncmp(word, "--", 2) == 0)
            code = read_option(&reader, word + 2, error);
        else if (is_options && word[0] == '-' && word[1] != '\0')
            code = refuse_option(&reader, "-", word + 1, strlen(word + 1), error);
        else
            code = read_argument(&reader, word, error);
        if (code != PAWL_OK)
            return code;
    }
    const pawl__argument *next = &arguments[reader.argument_count];
    if (next->name != NULL && !next->is_optional)
        return refuse_missing(&reader, next, error);
    pawl_code code = check_words(&reader, error);
    if (code == PAWL_OK)
        code = check_actions(&reader, error);
    return code == PAWL_OK ? check_with(&reader, error) : code;
}

bool pawl__address_split(const char *text, pawl_text *address, int *port)
{
    const char *colon  = strrchr(text, ':');
    const char *digits = colon != NULL ? colon + 1 : text;
    char       *end    = NULL;
    long        value  = strtol(digits, &end, 10);
    *address = (pawl_text){.data = text, .size = colon != NULL ? (size_t)(colon - text) : 0};
    *port    = (int)value;
    if (digits[0] < '0' || digits[0] > '9' || *end != '\0' || value > 65535 ||
        (colon != NULL && address->size == 0))
        return false;
    if (address->size > 1 && text[0] == '[' && text[address->size - 1] == ']')
        *address = (pawl_text){.data = text + 1, .size = address->size - 2};
    return true;
}
