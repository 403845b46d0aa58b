/* answer.c - answers one request: finds the user, checks the rights, chooses the verb.
 *
 *     GET  /  /console.js  /console.css  ...          the page
 *     GET  /api/about                                 store, user, right to write
 *     GET  /api/paths                                 the verbs and options that are answered
 *     GET  /api/live                                  server-sent events
 *     GET  /api/VERB[/ACTION]?arg=WORD&OPTION=VALUE   {"items":[...],"notes":[...]}
 *     POST /api/bulk/start   {"verb":"dead","action":"retry","OPTION":VALUE,"reason":"..."}
 *     POST /api/VERB/ACTION  {"arg":[...],"OPTION":VALUE}   GET is enough with dry-run=true, which changes nothing
 *
 * words.c has the table of valid requests, and translates them into words of a verb.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/console/console.h"

#include "base/calm.h"
#include "store/core/action.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ERROR_SIZE_MAX 2000

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

/* The text with a question mark for each byte that is not UTF-8: a request may have such bytes, JSON may not. */
static pawl_text valid_text(pawl_text text, pawl_arena *arena)
{
    pawl_text made = pawl_arena_text(arena, text);
    if (made.data != NULL)
        pawl__make_utf8((char *)(uintptr_t)made.data, made.size);
    return made;
}

/* {"error":"..."} */
static void refuse(pawl_serve_answer *answer, pawl_arena *arena, int status, const char *text)
{
    yyjson_mut_doc *doc  = pawl__texts_begin();
    pawl_text       body = {0};
    pawl_text       why  = valid_text(pawl_text_of(text), arena);
    if (doc != NULL && why.data != NULL)
        yyjson_mut_obj_add_strn(doc, yyjson_mut_doc_get_root(doc), "error", why.data, why.size);
    if (why.data != NULL)
        body = pawl__texts_write(doc, arena);
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
    case 5: return 200; /* a verb that stopped part-way: the answer has what it found or did */
    case 6: return 404;
    default: return exit_code < 0 ? 504 : 500;
    }
}

/* The lines that the verb printed for people, as an array of texts. */
static pawl_text notes_of(pawl_text lines, pawl_arena *arena)
{
    yyjson_mut_doc *doc   = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root  = yyjson_mut_arr(doc);
    pawl_text       valid = valid_text(lines, arena);
    yyjson_mut_doc_set_root(doc, root);
    for (size_t at = 0; valid.data != NULL && at < lines.size;) {
        const char *end  = memchr(lines.data + at, '\n', lines.size - at);
        size_t      line = end != NULL ? (size_t)(end - lines.data) - at : lines.size - at;
        if (line > 0)
            yyjson_mut_arr_add_strn(doc, root, valid.data + at, line);
        at += line + 1;
    }
    pawl_text made = pawl__texts_write(doc, arena);
    yyjson_mut_doc_free(doc);
    return made;
}

/* ---- Who asks -------------------------------------------------------------------- */

typedef struct asker {
    const char *name; /* NULL: the console has no users */
    bool        may_write;
} asker;

/* Is Host a name of this console? With DNS rebinding a page of another site can send requests here in the name of the
 * user, with any header of the proxy; but their Host is the name of that site. */
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
    const char *others[] = {console->address, console->host != NULL ? console->host : ""};
    for (size_t i = 0; size > 0 && i < sizeof others / sizeof others[0]; i++)
        if (size == strlen(others[i]) && strncasecmp(host, others[i], size) == 0)
            return true;
    return false;
}

/* Finds the user. False: refused, and the answer is filled. */
static bool ask_who(pawl__console *console, const pawl_serve_request *request, pawl_arena *arena,
                    asker *who, pawl_serve_answer *answer)
{
    *who = (asker){.may_write = console->may_write};
    if (console->has_users) {
        const pawl__console_user *user =
            request->user == NULL
                ? NULL
                : pawl__console_users_find(&console->users, request->user,
                                           request->password != NULL ? request->password : "");
        if (user == NULL) {
            if (request->user != NULL)
                pawl__console_users_delay(console);
            refuse(answer, arena, 401, "give a user and a password");
            return false;
        }
        *who = (asker){user->name, console->may_write && user->may_write};
        return true;
    }
    if (!is_own_host(console, request->header(request, "Host"))) {
        refuse(answer, arena, 421, "this console answers as localhost, and as the name of --host");
        return false;
    }
    if (console->user_header != NULL) {
        who->name = request->header(request, console->user_header);
        if (who->name == NULL || !pawl__console_name_is_well(who->name)) {
            refuse(answer, arena, 401, "the proxy names no user");
            return false;
        }
    }
    return true;
}

/* Did a page of another site make the browser send the request? Browsers say so in Sec-Fetch-Site. That page cannot
 * read the answer, but it could keep the store busy, and learn from the response time what is stored. */
static bool is_of_other_site(const pawl_serve_request *request)
{
    const char *site = request->header(request, "Sec-Fetch-Site");
    return site != NULL && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

/* Does the request come from the console's page? Other sites can send a POST, but not with this header and Origin. */
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

/* ---- Verbs --------------------------------------------------------------------------- */

static void run(pawl__console *console, const pawl__console_route *way,
                const pawl__console_call *call, pawl_arena *arena, pawl_serve_answer *answer)
{
    pawl__child_result result = {.exit_code = -1};
    pawl_error         error  = PAWL_ERROR_INIT;
    bool is_start             = strcmp(way->verb, "bulk") == 0 && strcmp(way->action, "start") == 0;
    bool changes              = way->writes && !call->is_dry;
    /* `pawl bulk start` counts all matching rows, which may take long. */
    pawl_code code = (is_start ? pawl__console_run_long : pawl__console_run)(console, call, arena,
                                                                             &result, &error);
    if (code != PAWL_OK) {
        refuse(answer, arena, 503, error.text);
        return;
    }
    /* A change that ran out of time still prints how far it came. */
    int status = status_of(result.is_late && !changes ? -1 : result.exit_code);
    if (status == 200 && result.exit_code == 5 && result.out.size == 0)
        status = 503; /* stopped without any row; the last note says why */
    if (status != 200) {
        pawl_text said = pawl__child_said(&result);
        said.size      = said.size < ERROR_SIZE_MAX ? said.size : ERROR_SIZE_MAX;
        pawl_text why  = status != 504 ? pawl_arena_text(arena, said)
                         : changes     ? PAWL_TEXT("it took too long; what was committed stays")
                         : way->writes
                             ? PAWL_TEXT("it took too long; nothing was changed")
                             : PAWL_TEXT("it took too long, or there is too much: ask for less");
        refuse(answer, arena, status, why.data != NULL ? why.data : "out of memory");
        return;
    }
    if (strcmp(way->verb, "bulk") == 0 && way->writes)
        pawl__console_bulk_begin(console, result.out, arena);
    pawl_text items = pawl__console_array(result.out, arena);
    pawl_text notes = notes_of(result.err, arena);
    pawl_text body  = {0};
    if (items.data != NULL && notes.data != NULL)
        body = pawl_arena_printf(arena, "{\"items\":%s,\"notes\":%s}", items.data, notes.data);
    set(answer, 200, "application/json", body);
}

static void call_verb(pawl__console *console, const pawl_serve_request *request,
                      const pawl__console_route *way, const asker *who, pawl_arena *arena,
                      pawl_serve_answer *answer)
{
    char               refusal[PAWL__CONSOLE_REFUSAL_SIZE];
    pawl__console_call call = {.user = who->name};
    if (!pawl__console_words(console, request, way, arena, &call, refusal))
        refuse(answer, arena, 400, refusal);
    else
        run(console, way, &call, arena, answer);
}

/* ---- Pages ----------------------------------------------------------------------------- */

static void tell_about(const pawl__console *console, const asker *who, pawl_arena *arena,
                       pawl_serve_answer *answer)
{
    yyjson_mut_doc *doc  = pawl__texts_begin();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_obj_add_str(doc, root, "version", PAWL_VERSION);
    yyjson_mut_obj_add_str(doc, root, "store", console->masked);
    yyjson_mut_obj_add_bool(doc, root, "has_app", console->app != NULL);
    yyjson_mut_obj_add_bool(doc, root, "may_write", who->may_write);
    if (who->name != NULL)
        yyjson_mut_obj_add_str(doc, root, "user", who->name);
    else
        yyjson_mut_obj_add_null(doc, root, "user");
    pawl_text body = pawl__texts_write(doc, arena);
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

/* Is it a dry run? That changes nothing, so users without the right to write may ask for it. */
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
    bool is_get                    = strcmp(request->method, "GET") == 0,
         is_post                   = strcmp(request->method, "POST") == 0;
    const pawl__console_route *way = pawl__console_route_find(path);
    if (is_of_other_site(request))
        refuse(answer, arena, 403, "another site sent this request");
    else if (is_get && strcmp(path, "about") == 0)
        tell_about(console, who, arena, answer);
    else if (is_get && strcmp(path, "paths") == 0)
        set(answer, 200, "application/json", pawl__console_paths(arena));
    else if (is_get && strcmp(path, "live") == 0) {
        set(answer, 200, "text/event-stream", PAWL_TEXT(""));
        answer->is_stream = pawl__console_live_has_room(console);
        if (!answer->is_stream)
            refuse(answer, arena, 503, "too many pages are open: close some");
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
    else if (request->is_too_large) /* checked last: pages.c takes this answer for "admitted" */
        refuse(answer, arena, 413, "the request is too large");
    else
        call_verb(console, request, way, who, arena, answer);
}

void pawl__console_answer(void *context, const pawl_serve_request *request, pawl_arena *arena,
                          pawl_serve_answer *answer)
{
    static const char api[]   = "/api/";
    pawl__console    *console = context;
    asker             who;
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
