/* words.c - the table of valid requests, and their translation into the words of a verb.
 *
 * Only options in the table are accepted: none that names a file of this machine or another store, or runs for ever.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/console/console.h"

#include "store/core/action.h"

#include <string.h>

#define LIMIT_MAX 500
#define LIMIT_USUAL "100"

/* ---- What may be asked --------------------------------------------------------- */

#define FILTER_DEAD "type code endpoint error since until newer older saga "
#define FILTER_OUTBOX \
    "state type destination endpoint source saga causation-id dispatch-id attempts id "

static const pawl__console_route routes[] = {
    {"stats", NULL, false, ""},
    {"doctor", NULL, false, ""},
    {"version", NULL, false, ""},
    {"why", NULL, false, ""},
    {"find", NULL, false, "in queue since limit deadline after "},
    {"topology", "print", false, ""},
    {"dead", "list", false, FILTER_DEAD "limit "},
    {"dead", "show", false, "endpoint reveal "},
    {"dead", "retry", true, "reason all dry-run rate " FILTER_DEAD},
    {"dead", "discard", true, "reason all dry-run rate " FILTER_DEAD},
    {"dead", "edit", true, "endpoint reason "},
    {"bulk", "list", false, "open limit "},
    {"bulk", "show", false, ""},
    {"bulk", "start", true, "reason "},
    {"bulk", "stop", true, "reason "},
    {"queue", "list", false, ""},
    {"queue", "show", false, ""},
    {"queue", "peek", false, "type due id limit reveal "},
    {"queue", "purge", true, "type due where discard dry-run rate reason "},
    {"queue", "move", true, "type due where dry-run rate reason "},
    {"queue", "pause", true, "reason "},
    {"queue", "resume", true, "reason "},
    {"worker", "list", false, "endpoint "},
    {"worker", "show", false, ""},
    {"outbox", "list", false, FILTER_OUTBOX "after limit "},
    {"outbox", "show", false, "reveal "},
    {"outbox", "retry", true, "reason "},
    {"outbox", "discard", true, "reason "},
    {"timeout", "list", false, "name destination saga saga-type since until limit "},
    {"timeout", "show", false, ""},
    {"timeout", "run-now", true, "reason "},
    {"timeout", "move", true, "reason by to "},
    {"timeout", "cancel", true, "reason "},
    {"saga", "list", false, "type after limit "},
    {"saga", "show", false, "reveal "},
    {"saga", "history", false, ""},
    {"schedule", "list", false, ""},
    {"schedule", "show", false, "reveal "},
    {"schedule", "pause", true, "reason "},
    {"schedule", "resume", true, "reason "},
    {"schedule", "run", true, "reason "},
    {"projection", "list", false, ""},
    {"projection", "show", false, ""},
    {"projection", "restart", true, "reason "},
    {"aggregator", "list", false, "limit "},
    {"aggregator", "show", false, ""},
    {"aggregator", "run-now", true, "reason "},
    {"events", "list", false,
     "stream type message-id correlation-id backward operators after limit "},
    {"events", "show", false, "reveal "},
};

static bool is_listed(const char *names, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = names; *at != '\0'; at = strchr(at, ' ') + 1)
        if (strncmp(at, name, size) == 0 && at[size] == ' ')
            return true;
    return false;
}

const pawl__console_route *pawl__console_route_find(const char *path)
{
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        const char *verb = routes[i].verb, *action = routes[i].action;
        size_t      size = strlen(verb);
        if (strncmp(path, verb, size) != 0)
            continue;
        const char *rest = path + size;
        if (action == NULL ? *rest == '\0' : *rest == '/' && strcmp(rest + 1, action) == 0)
            return &routes[i];
    }
    return NULL;
}

static void add_options(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *options)
{
    for (const char *at = options, *end; (end = strchr(at, ' ')) != NULL; at = end + 1)
        yyjson_mut_arr_add_strn(doc, list, at, (size_t)(end - at));
}

pawl_text pawl__console_paths(pawl_arena *arena)
{
    yyjson_mut_doc *doc   = pawl__texts_begin();
    yyjson_mut_val *root  = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *items = yyjson_mut_obj_add_arr(doc, root, "items");
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        const pawl__console_route *route = &routes[i];
        yyjson_mut_val            *item  = yyjson_mut_arr_add_obj(doc, items);
        pawl_text                  path  = route->action != NULL
                                               ? pawl_arena_printf(arena, "%s/%s", route->verb, route->action)
                                               : pawl_text_of(route->verb);
        yyjson_mut_obj_add_strn(doc, item, "path", path.data, path.size);
        yyjson_mut_obj_add_str(doc, item, "method", route->writes ? "POST" : "GET");
        add_options(doc, yyjson_mut_obj_add_arr(doc, item, "options"), route->options);
    }
    (void)yyjson_mut_obj_add_arr(doc, root, "notes");
    pawl_text made = pawl__texts_write(doc, arena);
    yyjson_mut_doc_free(doc);
    return made;
}

/* The option of the verb, or NULL if the action of the route does not use it. */
static const pawl__option *find_option(const pawl__console_route *way, const char *name)
{
    const pawl__verb   *verb   = pawl__verb_find(way->verb);
    const pawl__option *option = pawl__option_find(verb->options, name, strlen(name));
    if (option == NULL || option->actions == 0)
        return option;
    size_t action = pawl__choice_of(verb->arguments[0].choices, pawl_text_of(way->action));
    return (option->actions & 1U << action) != 0 ? option : NULL;
}

/* ---- The words of a call ------------------------------------------------------------ */

typedef struct asking {
    const pawl__console       *console;
    const pawl__console_route *way;
    pawl_arena                *arena;
    pawl__console_call         call;
    const char                *arguments[PAWL__CONSOLE_WORDS_MAX];
    size_t                     argument_count;
    bool                       has_limit, has_saga, is_bulk;
    char                       refusal[200]; /* or empty */
} asking;

static bool refuse_name(asking *it, const char *why, const char *name)
{
    (void)snprintf(it->refusal, sizeof it->refusal, "%s: %.60s", why, name);
    return false;
}

/* Adds an argument or an option. False: it is refused, or there are too many. */
static bool add(asking *it, const char *name, const char *value)
{
    const pawl__option *option;
    int64_t             limit = 0;
    if (strcmp(name, "arg") == 0) {
        if (it->argument_count == PAWL__CONSOLE_WORDS_MAX / 2)
            return refuse_name(it, "too many arguments", name);
        it->arguments[it->argument_count++] = value;
        return true;
    }
    option = is_listed(it->way->options, name) ? find_option(it->way, name) : NULL;
    if (option == NULL)
        return refuse_name(it, "there is no such option here", name);
    if (strcmp(name, "limit") == 0) {
        it->has_limit = true;
        if (!pawl__number_parse(value, &limit) || limit > LIMIT_MAX)
            return refuse_name(it, "a limit is 1 to 500, not", value);
    }
    if (option->kind == PAWL__OPTION_FLAG && strcmp(value, "true") != 0)
        return strcmp(value, "false") == 0 ||
               refuse_name(it, "an option that is true or false", name);
    it->has_saga |= strcmp(name, "saga") == 0;
    it->is_bulk |= strcmp(name, "all") == 0;
    it->call.is_dry |= strcmp(name, "dry-run") == 0;
    if (option->kind == PAWL__OPTION_FLAG) {
        pawl_text word = pawl_arena_printf(it->arena, "--%s", name);
        return word.data != NULL && pawl__console_word(&it->call, it->arena, NULL, word.data);
    }
    return pawl__console_word(&it->call, it->arena, name, value);
}

/* Adds a copy of the value, since the JSON document is freed before the verb runs. */
static bool add_copy(asking *it, const char *name, const char *value)
{
    pawl_text copy = pawl_arena_printf(it->arena, "%s", value);
    return copy.data != NULL && add(it, name, copy.data);
}

/* Adds a member of the body of a POST: a text, a number, true or false, or an array of them. */
static bool add_value(asking *it, const char *name, yyjson_val *value)
{
    yyjson_val *item;
    size_t      i, count;
    if (yyjson_is_arr(value)) {
        if (yyjson_arr_size(value) == 0)
            return refuse_name(it, "an array without a value selects nothing", name);
        yyjson_arr_foreach(value, i, count, item)
        {
            if (yyjson_is_arr(item))
                return refuse_name(it, "an array in an array", name);
            if (!add_value(it, name, item))
                return false;
        }
        return true;
    }
    if (yyjson_is_str(value) && strlen(yyjson_get_str(value)) == yyjson_get_len(value))
        return add_copy(it, name, yyjson_get_str(value));
    if (yyjson_is_bool(value))
        return add(it, name, yyjson_get_bool(value) ? "true" : "false");
    pawl_text number =
        yyjson_is_uint(value)
            ? pawl_arena_printf(it->arena, "%llu", (unsigned long long)yyjson_get_uint(value))
        : yyjson_is_sint(value)
            ? pawl_arena_printf(it->arena, "%lld", (long long)yyjson_get_sint(value))
            : (pawl_text){0};
    return number.data != NULL
               ? add(it, name, number.data)
               : refuse_name(it, "a text, a whole number, true or false is wanted", name);
}

/* Adds an option of the console itself, if the verb has it. */
static bool add_own(asking *it, const char *name, const char *value)
{
    return value == NULL || find_option(it->way, name) == NULL ||
           pawl__console_word(&it->call, it->arena, name, value);
}

/* Adds the words behind `pawl bulk start --`: the verb and action that the object names, with their options. */
static bool add_bulk(asking *it, yyjson_val *root)
{
    const char *verb   = yyjson_get_str(yyjson_obj_get(root, "verb"));
    const char *action = yyjson_get_str(yyjson_obj_get(root, "action"));
    pawl_text   path   = pawl_arena_printf(it->arena, "%s/%s", verb != NULL ? verb : "",
                                       action != NULL ? action : "");
    asking      inner  = {.console = it->console,
                          .way     = path.data != NULL ? pawl__console_route_find(path.data) : NULL,
                          .arena   = it->arena};
    yyjson_val *name, *value;
    size_t      i, count;
    if (inner.way == NULL || !inner.way->writes)
        return refuse_name(it, "there is no such action", path.data != NULL ? path.data : "");
    yyjson_obj_foreach(root, i, count, name, value)
    {
        const char *key = yyjson_get_str(name);
        if (strcmp(key, "verb") == 0 || strcmp(key, "action") == 0)
            continue;
        asking *to = strcmp(key, "reason") == 0 ? it : &inner;
        if (!add_value(to, key, value))
            return to == it ? false : refuse_name(it, "not for this action", inner.refusal);
    }
    if (inner.has_saga && !add_own(&inner, "saga-prefix", it->console->saga_prefix))
        return refuse_name(it, "too many words", inner.way->verb);
    if (inner.call.count + inner.argument_count + 3 > PAWL__CONSOLE_WORDS_MAX / 2)
        return refuse_name(it, "too many words", inner.way->verb);
    it->arguments[it->argument_count++] = inner.way->verb;
    it->arguments[it->argument_count++] = inner.way->action;
    for (i = 0; i < inner.call.count; i++)
        it->arguments[it->argument_count++] = inner.call.words[i];
    if (inner.argument_count > 0)
        it->arguments[it->argument_count++] = "--";
    for (i = 0; i < inner.argument_count; i++)
        it->arguments[it->argument_count++] = inner.arguments[i];
    return true;
}

/* Adds the members of a POST. `body` of an edit becomes the standard input, which its --body-file reads. */
static bool add_body(asking *it, yyjson_val *root)
{
    yyjson_val *name, *value;
    size_t      i, count;
    bool is_bulk = strcmp(it->way->verb, "bulk") == 0 && strcmp(it->way->action, "start") == 0;
    if (yyjson_is_obj(root) && is_bulk)
        return add_bulk(it, root);
    if (!yyjson_is_obj(root))
        return refuse_name(it, "the body of the request is not a JSON object", it->way->verb);
    yyjson_obj_foreach(root, i, count, name, value)
    {
        bool is_edit = strcmp(it->way->verb, "dead") == 0 && strcmp(it->way->action, "edit") == 0;
        if (is_edit && yyjson_equals_str(name, "body") && yyjson_is_str(value)) {
            it->call.input = pawl_arena_text(it->arena, (pawl_text){.data = yyjson_get_str(value),
                                                                    .size = yyjson_get_len(value)});
            if (it->call.input.data == NULL ||
                !pawl__console_word(&it->call, it->arena, "body-file", "-"))
                return false;
        } else if (!add_value(it, yyjson_get_str(name), value))
            return false;
    }
    return true;
}

/* Does the verb accept --app? `pawl dead` does only with --saga, or for an edit. */
static bool takes_app(const asking *it)
{
    return strcmp(it->way->verb, "dead") != 0 || it->has_saga ||
           strcmp(it->way->action, "edit") == 0;
}

/* Adds the options of the console itself. */
static bool add_usual(asking *it, const pawl__console *console)
{
    const char *app = takes_app(it) ? console->app : NULL;
    const char *saga_prefix =
        it->has_saga || strcmp(it->way->verb, "dead") != 0 ? console->saga_prefix : NULL;
    /* doctor makes up to three calls to a store that hangs, and must report that within the time limit of a verb. */
    const char *deadline = strcmp(it->way->verb, "doctor") == 0 ? "4s" : "10s";
    bool        is_well  = add_own(it, "prefix", console->prefix) && add_own(it, "app", app) &&
                   add_own(it, "saga-prefix", saga_prefix) &&
                   (is_listed(it->way->options, "deadline") || add_own(it, "deadline", deadline));
    if (is_well && !it->has_limit && is_listed(it->way->options, "limit"))
        is_well = add_own(it, "limit", LIMIT_USUAL);
    if (is_well && strcmp(it->way->verb, "topology") == 0)
        return pawl__console_word(&it->call, it->arena, "format", "json");
    /* The page has asked the user. Bulk actions ask, and so do actions without --all, such as `pawl queue purge`. */
    bool asks_always = find_option(it->way, "yes") != NULL && find_option(it->way, "all") == NULL;
    if (is_well && !it->call.is_dry && (it->is_bulk || asks_always))
        is_well = pawl__console_word(&it->call, it->arena, NULL, "--yes");
    return is_well && pawl__console_word(&it->call, it->arena, NULL, "--json");
}

static bool add_arguments(asking *it)
{
    bool is_well = it->argument_count == 0 || pawl__console_word(&it->call, it->arena, NULL, "--");
    for (size_t i = 0; is_well && i < it->argument_count; i++)
        is_well = pawl__console_word(&it->call, it->arena, NULL, it->arguments[i]);
    return is_well;
}

/* ---- The call ---------------------------------------------------------------------------- */

bool pawl__console_words(const pawl__console *console, const pawl_serve_request *request,
                         const pawl__console_route *way, pawl_arena *arena,
                         pawl__console_call *call, char refusal[PAWL__CONSOLE_REFUSAL_SIZE])
{
    asking      it = {.console = console, .way = way, .arena = arena, .call = {.user = call->user}};
    bool        is_get  = strcmp(request->method, "GET") == 0;
    bool        is_well = pawl__console_word(&it.call, arena, NULL, way->verb);
    yyjson_doc *doc     = NULL;
    if (is_well && way->action != NULL)
        is_well = pawl__console_word(&it.call, arena, NULL, way->action);
    if (is_well && !is_get && request->argument_count > 0)
        is_well = refuse_name(&it, "an option belongs in the body of the request",
                              request->arguments[0].name);
    if (is_well && !is_get) {
        pawl_text body = pawl_arena_text(arena, request->body);
        doc            = yyjson_read(body.data, body.size, YYJSON_READ_NOFLAG);
        is_well        = add_body(&it, yyjson_doc_get_root(doc));
    }
    for (size_t i = 0; is_well && is_get && i < request->argument_count; i++)
        is_well = add(&it, request->arguments[i].name, request->arguments[i].value);
    is_well = is_well && add_usual(&it, console) && add_arguments(&it);
    if (!is_well)
        (void)snprintf(refusal, PAWL__CONSOLE_REFUSAL_SIZE, "%s",
                       it.refusal[0] != '\0' ? it.refusal : "too much is asked for at once");
    yyjson_doc_free(doc);
    *call = it.call;
    return is_well;
}
