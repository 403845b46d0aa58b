/* settings.c - reads the options of endpoints from the command line, a file and the tables. See run.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cli.h"
#include "cli/run/run.h"
#include "runtime/endpoint/recovery.h"

#include <stdlib.h>
#include <string.h>

static const char *const word_names[PAWL__WORDS_COUNT] = {[PAWL__WORD_AUDIT]     = "audit",
                                                          [PAWL__WORD_ORDERED]   = "ordered",
                                                          [PAWL__WORD_TRANSPORT] = "transport"};

static const pawl__number_row number_rows[] = {PAWL__NUMBER_ROWS(PAWL__NUMBER_ROW)};

/* Options by key: the numbers, and behind them the words. */
#define KEY_COUNT (pawl__number_count + PAWL__WORDS_COUNT)
#define KEY_OF(word) (pawl__number_count + PAWL__WORD_##word)

static const char *name_of(size_t key)
{
    return key < pawl__number_count ? number_rows[key].name : word_names[key - pawl__number_count];
}

/* The value of an option in one place: the command line, or a part of the file. */
typedef struct said {
    bool        is_there;
    int64_t     number;
    const char *word;
    size_t      line; /* of the file; 0: on the command line */
} said;

/* One part of the file: a heading and the lines below it. */
typedef struct part {
    const char *endpoint; /* NULL: the lines above the first heading, for all */
    size_t      line;     /* line of its heading */
    said        keys[KEY_COUNT];
    pawl_route  routes[PAWL__TEXTS_MAX];
    size_t      route_lines[PAWL__TEXTS_MAX];
    size_t      route_count;

    pawl__recovery_rows recovery;
} part;

struct pawl__settings {
    const pawl__settings_words *words;
    const pawl__option         *options;
    const pawl_application     *application;
    const char                 *file;
    pawl_arena                 *arena;
    part                       *command; /* the command line as a part */
    part                      **parts;   /* of the file; the first part is for all endpoints */
    size_t                      part_count;
    pawl__limits                limits; /* of the file */
};

/* ---- Routes ----------------------------------------------------------------------- */

static pawl_code add_route(part *to, const char *text, size_t line, pawl_arena *arena,
                           pawl_error *error)
{
    pawl_route route;
    if (to->route_count == PAWL__TEXTS_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "given more than %d times", PAWL__TEXTS_MAX);
    pawl_code code = pawl__route_read(text, arena, &route, error);
    if (code != PAWL_OK)
        return code;
    if (pawl__route_named(to->routes, to->route_count, route.name) != NULL)
        return pawl_error_set(error, PAWL_EINVAL, "'%s' is given twice", route.name);
    to->routes[to->route_count]        = route;
    to->route_lines[to->route_count++] = line;
    return PAWL_OK;
}

/* ---- The file ---------------------------------------------------------------------- */

static void add_part(pawl__settings *settings, const char *endpoint, size_t line)
{
    part *made                              = pawl__must_take(settings->arena, sizeof *made);
    made->endpoint                          = endpoint;
    made->line                              = line;
    settings->parts[settings->part_count++] = made;
}

static char *trim(char *text)
{
    char *end = text + strlen(text);
    while (end > text && strchr(" \t", end[-1]) != NULL)
        *--end = '\0';
    return text + strspn(text, " \t");
}

/* [ENDPOINT] */
static pawl_code begin_part(pawl__settings *settings, char *text, size_t line, pawl_error *error)
{
    size_t size = strlen(text);
    char   word[PAWL__WORD_SIZE];
    if (text[size - 1] != ']')
        return pawl_error_set(error, PAWL_EINVAL, "expected [ENDPOINT], got '%s'",
                              pawl__shown(text, word));
    text[size - 1]   = '\0';
    const char *name = trim(text + 1);
    if (pawl__application_check_endpoint(settings->application, name, error) != PAWL_OK)
        return PAWL_EINVAL;
    for (size_t i = 1; i < settings->part_count; i++)
        if (strcmp(settings->parts[i]->endpoint, name) == 0)
            return pawl_error_set(error, PAWL_EINVAL, "[%s] is given twice, first on line %zu",
                                  name, settings->parts[i]->line);
    add_part(settings, name, line);
    return PAWL_OK;
}

static pawl_code refuse_key(const char *key, pawl_error *error)
{
    const char *names[KEY_COUNT + 4] = {NULL};
    char        suggestion[400], word[PAWL__WORD_SIZE];
    for (size_t i = 0; i < KEY_COUNT; i++)
        names[i < pawl__number_count ? i : i + 3] = name_of(i);
    names[pawl__number_count]     = "route";
    names[pawl__number_count + 1] = "recovery";
    names[pawl__number_count + 2] = "health";
    if (!pawl__suggest(key, "", names, suggestion, sizeof suggestion)) {
        (void)pawl__suggest("", "", names + pawl__number_count, suggestion, sizeof suggestion);
        pawl__append(suggestion, sizeof suggestion, ", and the numbers of `pawl help run`");
    }
    return pawl_error_set(error, PAWL_EINVAL, "there is no option '%s'%s", pawl__shown(key, word),
                          suggestion);
}

/* A queue of a broker is read by a single endpoint. */
static pawl_code take_value(const pawl__settings *settings, const char *key, const char *value,
                            size_t line, pawl_error *error)
{
    size_t i = 0;
    while (i < KEY_COUNT && strcmp(name_of(i), key) != 0)
        i++;
    if (i == KEY_COUNT)
        return refuse_key(key, error);
    said *to = &settings->parts[settings->part_count - 1]->keys[i];
    if (to->is_there)
        return pawl_error_set(error, PAWL_EINVAL, "%s%s is given twice, first on line %zu", key,
                              i < pawl__number_count ? "" : ": it", to->line);
    *to = (said){.is_there = true, .word = value, .line = line};
    if (i == KEY_OF(TRANSPORT) && settings->part_count == 1 &&
        settings->application->endpoints[1] != NULL && strchr(value, '#') != NULL)
        return pawl_error_set(
            error, PAWL_EINVAL,
            "%s: it names a queue, which one endpoint reads: give it under [ENDPOINT]", key);
    if (i >= pawl__number_count)
        return PAWL_OK;
    pawl_code code = pawl__option_number(pawl__option_find(settings->options, key, strlen(key)),
                                         value, &to->number, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "%s", key);
}

static pawl_code take_health(pawl__settings *settings, const char *value, size_t line,
                             pawl_error *error)
{
    if (settings->part_count > 1) /* a process has one health */
        return pawl_error_set(error, PAWL_EINVAL,
                              "health is for all endpoints: give it above the first [ENDPOINT]");
    pawl_code code = pawl__limit_read(value, line, &settings->limits, error);
    return code == PAWL_OK ? pawl_health_options_check(&settings->limits.health, error) : code;
}

pawl_code pawl__settings_health(const pawl__settings *settings, pawl__limits *limits,
                                pawl_error *error)
{
    *limits = settings->limits;
    return pawl__limits_read(&settings->words->health, limits, error);
}

/* Takes a line KEY = VALUE; the value goes to the end of the line, as routes have "#" and "=" in
 * them. */
static pawl_code take_key(pawl__settings *settings, char *text, size_t line, pawl_error *error)
{
    char  word[PAWL__WORD_SIZE];
    char *equals = strchr(text, '=');
    if (equals == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "expected KEY = VALUE or [ENDPOINT], got '%s'",
                              pawl__shown(text, word));
    *equals           = '\0';
    const char *key   = trim(text);
    const char *value = trim(equals + 1);
    part       *to    = settings->parts[settings->part_count - 1];
    pawl_code   code  = PAWL_OK;
    if (strcmp(key, "health") == 0)
        return take_health(settings, value, line, error);
    if (strcmp(key, "route") == 0)
        code = add_route(to, value, line, settings->arena, error);
    else if (strcmp(key, "recovery") == 0)
        code = pawl__recovery_add(&to->recovery, value, line, settings->arena, error);
    else
        return take_value(settings, key, value, line, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, PAWL_EINVAL, "%s", key);
}

static pawl_code take_line(pawl__settings *settings, pawl_text line, size_t number,
                           pawl_error *error)
{
    size_t at   = 0;
    char  *copy = pawl__must_take(settings->arena, line.size + 1);
    memcpy(copy, line.data, line.size);
    if (strlen(copy) != line.size)
        return pawl_error_set(error, PAWL_EINVAL, "it has a NUL byte");
    if (!pawl_text_is_valid(line, &at))
        return pawl_error_set(error, PAWL_EINVAL, "byte %zu is not UTF-8", at);
    char *text = trim(copy);
    if (text[0] == '\0' || text[0] == '#')
        return PAWL_OK;
    return text[0] == '[' ? begin_part(settings, text, number, error)
                          : take_key(settings, text, number, error);
}

static pawl_code read_lines(pawl__settings *settings, pawl__input *input, pawl_error *error)
{
    for (;;) {
        pawl_text line;
        pawl_code code = pawl__input_line(input, &line, error);
        if (code != PAWL_OK || line.data == NULL)
            return code;
        code = take_line(settings, line, input->line, error);
        if (code != PAWL_OK)
            return pawl_error_wrap(error, code, "%s:%zu", settings->file, input->line);
    }
}

static pawl_code read_file(pawl__settings *settings, pawl_error *error)
{
    pawl__input input;
    if (settings->file == NULL)
        return PAWL_OK;
    pawl_code code = pawl__input_open(&input, settings->file, error);
    if (code != PAWL_OK)
        return code;
    code = read_lines(settings, &input, error);
    pawl__input_close(&input);
    return code;
}

/* ---- All of it ----------------------------------------------------------------------- */

static pawl_code read_words(pawl__settings *settings, pawl_error *error)
{
    const pawl__texts *routes = &settings->words->routes;
    const pawl__texts *rows   = &settings->words->recovery;
    said              *keys   = settings->command->keys;
    pawl_code          code   = PAWL_OK;
    for (size_t i = 0; i < pawl__number_count; i++)
        keys[i] = (said){.is_there = settings->words->numbers[i] != -1,
                         .number   = settings->words->numbers[i]};
    for (size_t i = 0; i < PAWL__WORDS_COUNT; i++)
        keys[pawl__number_count + i] = (said){.is_there = settings->words->words[i] != NULL,
                                              .word     = settings->words->words[i]};
    for (size_t i = 0; code == PAWL_OK && i < routes->count; i++)
        code = add_route(settings->command, routes->items[i], 0, settings->arena, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "--route");
    for (size_t i = 0; code == PAWL_OK && i < rows->count; i++)
        code = pawl__recovery_add(&settings->command->recovery, rows->items[i], 0, settings->arena,
                                  error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "--recovery");
    pawl__limits tried = {.health = {0}};
    return pawl__limits_read(&settings->words->health, &tried, error);
}

pawl_code pawl__settings_create(const pawl__settings_words *words, const pawl__option *options,
                                pawl_arena *arena, pawl__settings **settings, pawl_error *error)
{
    *settings  = pawl__must_take(arena, sizeof **settings);
    **settings = (pawl__settings){.words   = words,
                                  .options = options,
                                  .file    = words->file,
                                  .arena   = arena,
                                  .command = pawl__must_take(arena, sizeof(part))};
    return read_words(*settings, error);
}

pawl_code pawl__settings_read(pawl__settings *settings, const pawl_application *application,
                              pawl_error *error)
{
    size_t count          = 0;
    settings->application = application;
    while (application->endpoints[count] != NULL)
        count++;
    settings->parts = pawl__must_take(settings->arena, (count + 1) * sizeof(part *));
    add_part(settings, NULL, 0);
    return read_file(settings, error);
}

/* The part of an endpoint; NULL when the file has none. */
static const part *part_of(const pawl__settings *settings, const char *endpoint)
{
    for (size_t i = 1; i < settings->part_count; i++)
        if (strcmp(settings->parts[i]->endpoint, endpoint) == 0)
            return settings->parts[i];
    return NULL;
}

/* The value of the command line, else of the endpoint's part of the file, else of the part for all. */
static said said_of(const pawl__settings *settings, const char *endpoint, size_t key)
{
    const part *parts[] = {settings->command, part_of(settings, endpoint), settings->parts[0]};
    for (size_t j = 0; j < 3; j++)
        if (parts[j] != NULL && parts[j]->keys[key].is_there)
            return parts[j]->keys[key];
    return (said){.is_there = false};
}

/* Collects the routes of the command line, of the endpoint's part of the file, and of the part for all; of routes with
 * the same name the first counts. `lines` may be NULL. */
static size_t routes_of(const pawl__settings *settings, const char *endpoint, pawl_route *routes,
                        size_t *lines)
{
    const part *parts[] = {settings->command, part_of(settings, endpoint), settings->parts[0]};
    size_t      count   = 0;
    for (size_t j = 0; j < 3; j++)
        for (size_t i = 0; parts[j] != NULL && i < parts[j]->route_count; i++) {
            if (pawl__route_named(routes, count, parts[j]->routes[i].name) != NULL)
                continue;
            if (lines != NULL)
                lines[count] = parts[j]->route_lines[i];
            routes[count++] = parts[j]->routes[i];
        }
    return count;
}

/* Collects the rows of the command line, of the endpoint's part of the file, and of the part for all. */
static pawl_code recovery_of(const pawl__settings *settings, const char *endpoint,
                             pawl__recovery_rows **rows, pawl_error *error)
{
    const part *parts[] = {settings->command, part_of(settings, endpoint), settings->parts[0]};
    *rows               = pawl__must_take(settings->arena, sizeof **rows);
    for (size_t j = 0; j < 3; j++)
        for (size_t i = 0; parts[j] != NULL && i < parts[j]->recovery.count; i++)
            if (!pawl__recovery_join(*rows, &parts[j]->recovery.items[i],
                                     parts[j]->recovery.lines[i]))
                return pawl_error_set(error, PAWL_ELIMIT,
                                      "endpoint %s: more than %d rows of recovery", endpoint,
                                      PAWL_RECOVERY_ROWS_MAX);
    return PAWL_OK;
}

pawl_code pawl__settings_fill(const pawl__settings *settings, const char *endpoint,
                              pawl_endpoint_options *options, pawl_error *error)
{
    for (size_t i = 0; i < pawl__number_count; i++) {
        said own = said_of(settings, endpoint, i);
        if (own.is_there) /* in pawl_endpoint_options 0 means the default, and -1 none */
            pawl__number_put(options, &number_rows[i], own.number != 0 ? own.number : -1);
    }
    pawl__recovery_rows *rows;
    pawl_route          *routes =
        pawl__must_take(settings->arena, (PAWL__TEXTS_MAX * 3 + 1) * sizeof *routes);
    routes_of(settings, endpoint, routes, NULL);
    options->routes    = routes;
    options->transport = said_of(settings, endpoint, KEY_OF(TRANSPORT)).word;
    options->ordered   = said_of(settings, endpoint, KEY_OF(ORDERED)).word;
    options->audit     = said_of(settings, endpoint, KEY_OF(AUDIT)).word;
    pawl_code code     = recovery_of(settings, endpoint, &rows, error);
    if (code == PAWL_OK) {
        pawl_recovery *list =
            pawl__must_take(settings->arena, (rows->count + 1) * sizeof *list); /* with its end */
        memcpy(list, rows->items, rows->count * sizeof *list);
        options->recovery = list;
    }
    return code;
}

static bool begins(const char *text, pawl_text start)
{
    return strncmp(text, start.data, start.size) == 0;
}

/* The line of the file with the option or route whose name begins `text`, an error of pawl_endpoint_check; 0: none. */
static size_t line_of(const pawl__settings *settings, const char *endpoint, const char *text)
{
    size_t      lines[PAWL__TEXTS_MAX * 3];
    pawl_arena *arena  = settings->arena;
    pawl_route *routes = pawl__must_take(arena, PAWL__TEXTS_MAX * 3 * sizeof *routes);
    size_t      count  = routes_of(settings, endpoint, routes, lines);
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const char *name = i < pawl__number_count ? number_rows[i].field : name_of(i);
        if (begins(text, pawl__must_printf(arena, "option %s ", name)) ||
            begins(text, pawl__must_printf(arena, "option %s:", name)))
            return said_of(settings, endpoint, i).line;
    }
    for (size_t i = 0; i < count; i++)
        if (begins(text, pawl__must_printf(arena, "route '%s':", routes[i].name)))
            return lines[i];
    return 0;
}

pawl_code pawl__settings_check(const pawl__settings *settings, const char *endpoint,
                               const pawl_endpoint_options *options, pawl_error *error)
{
    pawl_endpoint_options with = *options;
    pawl_code             code = pawl__settings_fill(settings, endpoint, &with, error);
    if (code == PAWL_OK)
        code = pawl_endpoint_check(settings->application, endpoint, &with, error);
    size_t line = code != PAWL_OK ? line_of(settings, endpoint, error->text) : 0;
    return line != 0 ? pawl_error_wrap(error, code, "%s:%zu", settings->file, line) : code;
}

/* ---- Showing -------------------------------------------------------------------------- */

/* A copy of the endpoint's own options; the struct is shorter in a program that was built for an earlier pawl. */
static pawl_endpoint_options table_of(const pawl__settings     *settings,
                                      const pawl_endpoint_spec *endpoint)
{
    pawl_endpoint_options table = {.options_size = 0};
    if (settings->application->endpoint_size <= offsetof(pawl_endpoint_spec, options) ||
        endpoint->options == NULL)
        return table;
    size_t size = endpoint->options->options_size;
    memcpy(&table, endpoint->options, size < sizeof table ? size : sizeof table);
    return table;
}

/* Adds `made`, whose value and origin are copied; a line of 0 is not of the file. */
static void add_setting(pawl__setting_list *list, pawl__setting made, const char *value,
                        size_t line, const char *from)
{
    pawl_arena *arena = list->arena;
    list->items =
        pawl__must_grow(arena, list->items, list->count, &list->capacity, sizeof *list->items);
    made.value = pawl__must_text(arena, pawl_text_of(value));
    made.from  = line != 0 ? pawl__must_printf(arena, "%s:%zu", list->file, line)
                           : pawl__must_text(arena, pawl_text_of(from));
    made.line  = (int64_t)line;
    if (line != 0)
        made.file = pawl_text_of(list->file);
    list->items[list->count++] = made;
}

/* The value in effect where neither the operator nor the application gives one. */
static int64_t built_in(const pawl__settings *settings, const char *endpoint,
                        const pawl_endpoint_options *table, size_t i)
{
    size_t other = pawl__number_partner(i);
    if (other == pawl__number_count)
        return number_rows[i].value_default;
    said partner = said_of(settings, endpoint, other);
    return pawl__number_default(&number_rows[i], other < i,
                                partner.is_there ? partner.number
                                                 : pawl__number_get(table, &number_rows[other]));
}

static void list_number(const pawl__settings *settings, const char *endpoint,
                        const pawl_endpoint_options *table, size_t i, pawl__setting_list *list)
{
    const pawl__number_row *row   = &number_rows[i];
    said                    value = said_of(settings, endpoint, i);
    int64_t                 own   = pawl__number_get(table, row);
    char                    text[40];
    const char             *from = "command line";
    if (!value.is_there) {
        from         = own != 0 ? "application" : "built in";
        value.number = own != 0 ? own : built_in(settings, endpoint, table, i);
        value.number = value.number < 0 ? 0 : value.number;
    }
    pawl__setting made = {.endpoint = pawl_text_of(endpoint), .option = pawl_text_of(row->name)};
    pawl_text     json = pawl__must_printf(settings->arena, "%lld", (long long)value.number);
    *(row->kind == PAWL__NUMBER_DURATION ? &made.microseconds : &made.count) = json;
    add_setting(
        list, made,
        pawl__option_text(pawl__option_find(settings->options, row->name, strlen(row->name)),
                          value.number, text, sizeof text),
        value.line, from);
}

static void list_route(const char *endpoint, const pawl_route *route, size_t line, const char *from,
                       pawl__setting_list *list)
{
    char                text[PAWL__ROUTE_TEXT_SIZE];
    const pawl__setting made = {.endpoint = pawl_text_of(endpoint),
                                .option   = PAWL_TEXT_INIT("route")};
    add_setting(list, made, pawl__route_words(route, text), line, from);
}

/* Adds the routes in effect: those of command line and file, then those of the application's table. */
static void list_routes(const pawl__settings *settings, const char *endpoint,
                        const pawl_endpoint_options *table, pawl__setting_list *list)
{
    size_t      lines[PAWL__TEXTS_MAX * 3];
    pawl_route  route;
    pawl_route *routes = pawl__must_take(settings->arena, PAWL__TEXTS_MAX * 3 * sizeof *routes);
    size_t      count  = routes_of(settings, endpoint, routes, lines);
    for (size_t i = 0; i < count; i++)
        list_route(endpoint, &routes[i], lines[i], "command line", list);
    for (size_t i = 0; pawl__route_at(table, i, &route); i++)
        if (pawl__route_named(routes, count, route.name) == NULL)
            list_route(endpoint, &route, 0, "application", list);
}

static void list_word(const pawl__settings *settings, const char *endpoint, size_t key,
                      const char *own, pawl__setting_list *list)
{
    char                text[PAWL_URL_SIZE_MAX + 1];
    said                value = said_of(settings, endpoint, key);
    const char         *word  = value.is_there ? value.word : own;
    const pawl__setting made  = {.endpoint = pawl_text_of(endpoint),
                                 .option   = pawl_text_of(name_of(key))};
    if (word == NULL)
        return;
    if (word[0] != '#') /* "#QUEUE" has no password */
        word = pawl__masked(word, text, sizeof text);
    add_setting(list, made, word, value.line, value.is_there ? "command line" : "application");
}

/* Adds the rows in effect, in the order in which they are tried. */
static pawl_code list_recovery(const pawl__settings *settings, const char *endpoint,
                               const pawl_endpoint_options *table, pawl__setting_list *list,
                               pawl_error *error)
{
    const pawl__setting  made = {.endpoint = pawl_text_of(endpoint),
                                 .option   = PAWL_TEXT_INIT("recovery")};
    pawl__recovery_rows *rows = NULL;
    pawl_recovery        row;
    pawl_code            code = recovery_of(settings, endpoint, &rows, error);
    if (code != PAWL_OK)
        return code;
    size_t given = rows->count;
    for (size_t i = 0; pawl__recovery_at(table, i, &row) && pawl__recovery_join(rows, &row, 0);)
        i++;
    for (size_t i = 0; i < rows->count; i++)
        add_setting(list, made, pawl__recovery_text(&rows->items[i], settings->arena),
                    rows->lines[i], i < given ? "command line" : "application");
    return PAWL_OK;
}

pawl_code pawl__settings_list(const pawl__settings *settings, const pawl_endpoint_spec *endpoint,
                              pawl__setting_list *list, pawl_error *error)
{
    pawl_endpoint_options table = table_of(settings, endpoint);
    list->arena                 = settings->arena;
    list->file                  = settings->file;
    for (size_t i = 0; i < pawl__number_count; i++)
        list_number(settings, endpoint->name, &table, i, list);
    list_word(settings, endpoint->name, KEY_OF(AUDIT), table.audit, list);
    list_word(settings, endpoint->name, KEY_OF(ORDERED), table.ordered, list);
    list_word(settings, endpoint->name, KEY_OF(TRANSPORT), NULL, list);
    list_routes(settings, endpoint->name, &table, list);
    return list_recovery(settings, endpoint->name, &table, list, error);
}

pawl_code pawl__settings_list_health(const pawl__settings *settings, pawl__setting_list *list,
                                     pawl_error *error)
{
    static const pawl__setting made = {.option = PAWL_TEXT_INIT("health")};
    pawl__limits               limits;
    char                       text[160];
    pawl_code                  code = pawl__settings_health(settings, &limits, error);
    list->arena                     = settings->arena;
    list->file                      = settings->file;
    for (size_t i = 0; code == PAWL_OK && pawl__limit_text(&limits, i, text, sizeof text); i++)
        add_setting(list, made, text, limits.is_given[i] ? 0 : limits.lines[i],
                    limits.is_given[i] ? "command line" : "built in");
    return code;
}
