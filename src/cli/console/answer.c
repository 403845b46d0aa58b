/* answer.c - answers one request: who asks, whether he may, and which verb it is.
 *
 *     GET  /  /console.js  /console.css  ...          the page
 *     GET  /api/about                                 store, user, whether he may write
 *     GET  /api/live                                  server-sent events
 *     GET  /api/VERB[/ACTION]?arg=WORD&OPTION=VALUE   {"items":[...],"notes":[...]}
 *     POST /api/VERB/ACTION  {"arg":[...],"OPTION":VALUE}   with dry-run=true, which changes nothing, a GET does
 *
 * Only the options of the table below are taken: none that names a file of this machine, another store or a loop
 * without an end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/console/console.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT_MAX 500
#define LIMIT_USUAL "100"
#define ERROR_SIZE_MAX 2000

/* ---- What may be asked --------------------------------------------------------- */

#define FILTER_DEAD "type code endpoint error since until newer older saga "
#define FILTER_OUTBOX \
    "state type destination endpoint source saga causation-id dispatch-id attempts id "

typedef struct route {
    const char *verb, *action; /* the action is NULL of a verb without */
    bool        writes;
    const char *options; /* with a space behind each */
} route;

static const route routes[] = {
    {"stats", NULL, false, ""},
    {"doctor", NULL, false, ""},
    {"version", NULL, false, ""},
    {"why", NULL, false, ""},
    {"find", NULL, false, "in queue since limit deadline after "},
    {"topology", "print", false, ""},
    {"dead", "list", false, FILTER_DEAD "limit "},
    {"dead", "show", false, "endpoint reveal "},
    {"dead", "retry", true, "endpoint reason all dry-run rate " FILTER_DEAD},
    {"dead", "discard", true, "endpoint reason all dry-run rate " FILTER_DEAD},
    {"dead", "edit", true, "endpoint reason "},
    {"queue", "list", false, ""},
    {"queue", "show", false, ""},
    {"queue", "peek", false, "type due id limit reveal "},
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
    {"events", "list", false, "stream type message-id correlation-id backward after limit "},
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

static const route *find_route(const char *path)
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

/* The option of the verb, when the route's action has it. */
static const pawl__option *find_option(const route *way, const char *name)
{
    const pawl__verb *verb   = pawl__verb_find(way->verb);
    unsigned          action = 0;
    for (size_t i = 0; way->action != NULL && verb->arguments[0].choices != NULL &&
                       verb->arguments[0].choices[i] != NULL;
         i++)
        if (strcmp(verb->arguments[0].choices[i], way->action) == 0)
            action = 1U << i;
    for (const pawl__option *option = verb->options; option->name != NULL; option++)
        if (strcmp(option->name, name) == 0 &&
            (option->actions == 0 || (option->actions & action) != 0))
            return option;
    return NULL;
}

/* ---- Answers ------------------------------------------------------------------- */

static const pawl_serve_pair headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
     "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
    {"WWW-Authenticate", "Basic realm=\"pawl\", charset=\"UTF-8\""}, /* of status 401 alone */
};
#define HEADER_COUNT (sizeof headers / sizeof headers[0])

static void set(pawl_serve_answer *answer, int status, const char *type, pawl_text body)
{
    *answer = (pawl_serve_answer){.status       = body.data != NULL ? status : 500,
                                  .content_type = type,
                                  .body         = body,
                                  .headers      = headers,
                                  .header_count = HEADER_COUNT - (status != 401)};
}

/* {"error":"..."} */
static void refuse(pawl_serve_answer *answer, pawl_arena *arena, int status, const char *text)
{
    yyjson_mut_doc *doc  = pawl__json_create();
    pawl_text       body = {0};
    size_t          size = 0;
    if (doc != NULL)
        yyjson_mut_obj_add_str(doc, yyjson_mut_doc_get_root(doc), "error", text);
    char *made = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &size);
    if (made != NULL)
        body = pawl_arena_text(arena, (pawl_text){.data = made, .size = size});
    free(made);
    yyjson_mut_doc_free(doc);
    set(answer, status, "application/json", body);
}

/* The status that an exit code of the command stands for. */
static int status_of(int exit_code)
{
    switch (exit_code) {
    case 0:
    case 1: return 200; /* a check said no: the answer tells which */
    case 2: return 400;
    case 3:
    case 4: return 503;
    case 5: return 200; /* stopped part-way: the answer tells where */
    case 6: return 404;
    default: return exit_code < 0 ? 504 : 500;
    }
}

/* The lines that the verb printed for people, as an array of texts. */
static pawl_text notes_of(pawl_text lines, pawl_arena *arena)
{
    yyjson_mut_doc *doc  = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_arr(doc);
    pawl_text       made = {0};
    size_t          size = 0;
    yyjson_mut_doc_set_root(doc, root);
    for (size_t at = 0; at < lines.size;) {
        const char *end  = memchr(lines.data + at, '\n', lines.size - at);
        size_t      line = end != NULL ? (size_t)(end - lines.data) - at : lines.size - at;
        if (line > 0)
            yyjson_mut_arr_add_strn(doc, root, lines.data + at, line);
        at += line + 1;
    }
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &size);
    if (text != NULL)
        made = pawl_arena_text(arena, (pawl_text){.data = text, .size = size});
    free(text);
    yyjson_mut_doc_free(doc);
    return made;
}

/* The last line of a failure, without "pawl: ". */
static const char *last_line(pawl_text lines, pawl_arena *arena)
{
    static const char mark[] = "pawl: ";
    while (lines.size > 0 && lines.data[lines.size - 1] == '\n')
        lines.size--;
    for (size_t i = lines.size; i > 0; i--)
        if (lines.data[i - 1] == '\n') {
            lines.data += i;
            lines.size -= i;
            break;
        }
    if (lines.size >= sizeof mark - 1 && memcmp(lines.data, mark, sizeof mark - 1) == 0) {
        lines.data += sizeof mark - 1;
        lines.size -= sizeof mark - 1;
    }
    pawl_text made = pawl_arena_printf(
        arena, "%.*s", (int)(lines.size < ERROR_SIZE_MAX ? lines.size : ERROR_SIZE_MAX),
        lines.data);
    return made.data != NULL ? made.data : "out of memory";
}

/* ---- Who asks -------------------------------------------------------------------- */

typedef struct asker {
    const char *name; /* NULL: nobody in particular, where no users are asked for */
    bool        may_write;
} asker;

/* Without users, a page of another site whose name leads here could ask in the name of the browser's user. */
static bool is_own_host(const pawl__console *console, const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    const char              *colon   = host != NULL ? strrchr(host, ':') : NULL;
    size_t size = colon != NULL && colon[strspn(colon + 1, "0123456789") + 1] == '\0'
                      ? (size_t)(colon - host)
                  : host != NULL ? strlen(host)
                                 : 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (size == strlen(names[i]) && strncmp(host, names[i], size) == 0)
            return true;
    return size > 0 && size == strlen(console->address) &&
           strncmp(host, console->address, size) == 0;
}

/* False: answered. */
static bool ask_who(const pawl__console *console, const pawl_serve_request *request,
                    pawl_arena *arena, asker *who, pawl_serve_answer *answer)
{
    pawl_error error = PAWL_ERROR_INIT;
    *who             = (asker){.may_write = console->may_write};
    if (console->has_users) {
        const pawl__console_user *user =
            request->user == NULL
                ? NULL
                : pawl__console_users_find(&console->users, request->user,
                                           request->password != NULL ? request->password : "");
        if (user == NULL) {
            refuse(answer, arena, 401, "give a user and a password");
            return false;
        }
        *who = (asker){user->name, console->may_write && user->may_write};
        return true;
    }
    if (console->user_header != NULL) {
        who->name = request->header(request, console->user_header);
        if (who->name == NULL || who->name[0] == '\0' || strlen(who->name) >= PAWL__USER_SIZE ||
            pawl__text_check("user", who->name, &error) != PAWL_OK) {
            refuse(answer, arena, 401, "the proxy names no user");
            return false;
        }
        return true;
    }
    if (is_own_host(console, request->header(request, "Host")))
        return true;
    refuse(answer, arena, 421, "this console answers as localhost alone");
    return false;
}

/* A page of another site can send a POST, but not with this header, and not with this Origin. */
static bool is_own_page(const pawl_serve_request *request)
{
    const char *origin = request->header(request, "Origin"),
               *host   = request->header(request, "Host");
    const char *site   = request->header(request, "Sec-Fetch-Site");
    const char *type   = request->header(request, "Content-Type");
    if (request->header(request, "X-Pawl-Console") == NULL || host == NULL ||
        (site != NULL && strcmp(site, "same-origin") != 0))
        return false;
    if (type == NULL || strncmp(type, "application/json", strlen("application/json")) != 0)
        return false;
    const char *slashes = origin != NULL ? strstr(origin, "://") : NULL;
    return origin == NULL || (slashes != NULL && strcmp(slashes + 3, host) == 0);
}

/* ---- The words of a call ------------------------------------------------------------ */

typedef struct asking {
    const route       *way;
    pawl_arena        *arena;
    pawl__console_call call;
    const char        *arguments[PAWL__CONSOLE_WORDS_MAX];
    size_t             argument_count;
    bool               has_limit, is_bulk, is_dry;
    char               refusal[200]; /* or empty */
} asking;

static bool refuse_name(asking *it, const char *why, const char *name)
{
    (void)snprintf(it->refusal, sizeof it->refusal, "%s: %.60s", why, name);
    return false;
}

/* One argument or option. False: refused, or too many. */
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
    it->is_bulk |= strcmp(name, "all") == 0;
    it->is_dry |= strcmp(name, "dry-run") == 0;
    if (option->kind == PAWL__OPTION_FLAG) {
        pawl_text word = pawl_arena_printf(it->arena, "--%s", name);
        return word.data != NULL && pawl__console_word(&it->call, it->arena, NULL, word.data);
    }
    return pawl__console_word(&it->call, it->arena, name, value);
}

/* A member of the body of a POST: a text, a number, true or false, or an array of them. */
static bool add_value(asking *it, const char *name, yyjson_val *value)
{
    yyjson_val *item;
    size_t      i, count;
    if (yyjson_is_arr(value)) {
        yyjson_arr_foreach(value, i, count, item) if (yyjson_is_arr(item) ||
                                                      !add_value(it, name, item)) return false;
        return true;
    }
    if (yyjson_is_str(value) && strlen(yyjson_get_str(value)) == yyjson_get_len(value))
        return add(it, name, yyjson_get_str(value));
    if (yyjson_is_bool(value))
        return add(it, name, yyjson_get_bool(value) ? "true" : "false");
    pawl_text number = yyjson_is_int(value)
                           ? pawl_arena_printf(it->arena, "%lld", (long long)yyjson_get_sint(value))
                           : (pawl_text){0};
    return number.data != NULL
               ? add(it, name, number.data)
               : refuse_name(it, "a text, a whole number, true or false is wanted", name);
}

/* `body` of an edit is what its --body-file reads. */
static bool add_body(asking *it, yyjson_val *root)
{
    yyjson_val *name, *value;
    size_t      i, count;
    if (!yyjson_is_obj(root))
        return refuse_name(it, "the body of the request is no JSON object", it->way->verb);
    yyjson_obj_foreach(root, i, count, name, value)
    {
        bool is_edit = strcmp(it->way->verb, "dead") == 0 && strcmp(it->way->action, "edit") == 0;
        if (is_edit && yyjson_equals_str(name, "body") && yyjson_is_str(value)) {
            it->call.input =
                (pawl_text){.data = yyjson_get_str(value), .size = yyjson_get_len(value)};
            if (!pawl__console_word(&it->call, it->arena, "body-file", "-"))
                return false;
        } else if (!add_value(it, yyjson_get_str(name), value))
            return false;
    }
    return true;
}

static bool add_own(asking *it, const char *name, const char *value)
{
    return value == NULL || find_option(it->way, name) == NULL ||
           pawl__console_word(&it->call, it->arena, name, value);
}

/* The options that the console gives to each verb that has them. */
static bool add_usual(asking *it, const pawl__console *console)
{
    bool is_well = add_own(it, "prefix", console->prefix) && add_own(it, "app", console->app) &&
                   add_own(it, "saga-prefix", console->saga_prefix) &&
                   (is_listed(it->way->options, "deadline") || add_own(it, "deadline", "10s"));
    if (is_well && !it->has_limit && is_listed(it->way->options, "limit"))
        is_well = add_own(it, "limit", LIMIT_USUAL);
    if (is_well && strcmp(it->way->verb, "topology") == 0)
        return pawl__console_word(&it->call, it->arena, "format", "json");
    if (is_well && it->is_bulk && !it->is_dry)
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

/* ---- Verbs --------------------------------------------------------------------------- */

static void run(pawl__console *console, asking *it, pawl_serve_answer *answer)
{
    pawl__console_result result = {.exit_code = -1};
    pawl_error           error  = PAWL_ERROR_INIT;
    pawl_code            code   = pawl__console_run(console, &it->call, it->arena, &result, &error);
    if (code != PAWL_OK) {
        refuse(answer, it->arena, 503, error.text);
        return;
    }
    int status = status_of(result.exit_code);
    if (status != 200) {
        const char *why = result.exit_code < 0
                              ? "it took too long, or there is too much: ask for less"
                              : last_line(result.err, it->arena);
        refuse(answer, it->arena, status, why);
        return;
    }
    pawl_text items = pawl__console_array(result.out, it->arena);
    pawl_text notes = notes_of(result.err, it->arena);
    pawl_text body  = {0};
    if (items.data != NULL && notes.data != NULL)
        body = pawl_arena_printf(it->arena, "{\"items\":%s,\"notes\":%s}", items.data, notes.data);
    set(answer, 200, "application/json", body);
}

static void call_verb(pawl__console *console, const pawl_serve_request *request, const route *way,
                      const asker *who, pawl_arena *arena, pawl_serve_answer *answer)
{
    asking      it      = {.way = way, .arena = arena, .call = {.user = who->name}};
    bool        is_well = pawl__console_word(&it.call, arena, NULL, way->verb);
    yyjson_doc *doc     = NULL;
    if (is_well && way->action != NULL)
        is_well = pawl__console_word(&it.call, arena, NULL, way->action);
    bool is_get = strcmp(request->method, "GET") == 0;
    if (!is_get) {
        doc     = yyjson_read(request->body.data, request->body.size, YYJSON_READ_NOFLAG);
        is_well = is_well && add_body(&it, yyjson_doc_get_root(doc));
    }
    for (size_t i = 0; is_well && is_get && i < request->argument_count; i++)
        is_well = add(&it, request->arguments[i].name, request->arguments[i].value);
    is_well = is_well && add_usual(&it, console) && add_arguments(&it);
    if (is_well)
        run(console, &it, answer);
    else
        refuse(answer, arena, 400,
               it.refusal[0] != '\0' ? it.refusal : "too much is asked for at once");
    yyjson_doc_free(doc);
}

/* ---- Pages ----------------------------------------------------------------------------- */

static void tell_about(const pawl__console *console, const asker *who, pawl_arena *arena,
                       pawl_serve_answer *answer)
{
    yyjson_mut_doc *doc  = pawl__json_create();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    pawl_text       body = {0};
    size_t          size = 0;
    yyjson_mut_obj_add_str(doc, root, "version", PAWL_VERSION);
    yyjson_mut_obj_add_str(doc, root, "store", console->masked);
    yyjson_mut_obj_add_bool(doc, root, "has_app", console->app != NULL);
    yyjson_mut_obj_add_bool(doc, root, "may_write", who->may_write);
    if (who->name != NULL)
        yyjson_mut_obj_add_str(doc, root, "user", who->name);
    else
        yyjson_mut_obj_add_null(doc, root, "user");
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &size);
    if (text != NULL)
        body = pawl_arena_text(arena, (pawl_text){.data = text, .size = size});
    free(text);
    yyjson_mut_doc_free(doc);
    set(answer, 200, "application/json", body);
}

static bool find_asset(const char *path, pawl_serve_answer *answer)
{
    for (size_t i = 0; i < pawl__asset_count; i++)
        if (strcmp(pawl__assets[i].path, path) == 0) {
            set(answer, 200, pawl__assets[i].content_type,
                (pawl_text){.data = (const char *)pawl__assets[i].data,
                            .size = pawl__assets[i].size});
            return true;
        }
    return false;
}

/* A dry run changes nothing: how many would be retried may be asked by everybody. */
static bool is_count(const pawl_serve_request *request)
{
    for (size_t i = 0; i < request->argument_count; i++)
        if (strcmp(request->arguments[i].name, "dry-run") == 0)
            return strcmp(request->arguments[i].value, "true") == 0;
    return false;
}

static void answer_api(pawl__console *console, const pawl_serve_request *request, const char *path,
                       const asker *who, pawl_arena *arena, pawl_serve_answer *answer)
{
    bool is_get      = strcmp(request->method, "GET") == 0,
         is_post     = strcmp(request->method, "POST") == 0;
    const route *way = find_route(path);
    if (is_get && strcmp(path, "about") == 0)
        tell_about(console, who, arena, answer);
    else if (is_get && strcmp(path, "live") == 0) {
        set(answer, 200, "text/event-stream", PAWL_TEXT(""));
        answer->is_stream = true;
    } else if (way == NULL)
        refuse(answer, arena, 404, "there is no such page");
    else if (way->writes && !is_count(request) ? !is_post : !is_get)
        refuse(answer, arena, 405,
               way->writes ? "only POST is answered here" : "only GET is answered here");
    else if (is_post && !is_own_page(request))
        refuse(answer, arena, 403,
               "the request does not come from the console's page: X-Pawl-Console, Origin and "
               "Content-Type: application/json are checked");
    else if (is_post && !who->may_write)
        refuse(answer, arena, 403,
               console->may_write ? "this user may only read" : "this console only reads: --write");
    else
        call_verb(console, request, way, who, arena, answer);
}

void pawl__console_answer(void *context, const pawl_serve_request *request, pawl_arena *arena,
                          pawl_serve_answer *answer)
{
    static const char api[]   = "/api/";
    pawl__console    *console = context;
    asker             who;
    if (request->is_too_large) {
        refuse(answer, arena, 413, "the request is too large");
        return;
    }
    if (!ask_who(console, request, arena, &who, answer))
        return;
    if (strncmp(request->path, api, sizeof api - 1) == 0) {
        answer_api(console, request, request->path + sizeof api - 1, &who, arena, answer);
        return;
    }
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0)
        refuse(answer, arena, 405, "only GET is answered here");
    else if (!find_asset(request->path, answer))
        refuse(answer, arena, 404, "there is no such page");
}
