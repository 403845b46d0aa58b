/* url.c - the URL: pawl's own parameters are taken out, the others are libpq's.
 *
 *     postgres://user@host:port/database?sslmode=require&schema=shop&pooler=transaction
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/share.h"

#include "store/sql/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the URL asks for TLS, for error texts and the log. */
#define TLS_REMEDY "sslmode=verify-full asks for both, sslmode=require for encryption alone"

#define SCHEMA_SIZE_MAX 63 /* the longest identifier of PostgreSQL */

pawl_code pawl__pg_refuse_sessions(const pawl__pg *store, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ECONFIG,
                          "postgres: %s: sessions=N cannot be used behind a pooler, which shares "
                          "sessions itself: leave sessions out of the URL",
                          store->given);
}

static const char *const poolers[] = {"none", "transaction", NULL};
static const char *const creates[] = {"no", NULL};

/* pawl's own parameters. */
typedef struct own_parameters {
    const char *schema;
    int         is_pooled; /* the index in `poolers` */
    int         creates;
    int         session_max;
} own_parameters;

#define AT(member) offsetof(own_parameters, member)
static const pawl__url_option options[] = {
    {"create", PAWL__URL_WORD, AT(creates), "no: a server's tables are made by 'pawl schema apply'",
     .words = creates},
    {"pooler", PAWL__URL_WORD, AT(is_pooled), "none or transaction", .words = poolers},
    {"schema", PAWL__URL_TEXT, AT(schema), .allowed = "any name"},
    {"sessions", PAWL__URL_NUMBER, AT(session_max), "1 to 1000", .min = 1,
     .max = PAWL__PG_SESSIONS_MAX},
};
#define OPTION_COUNT (sizeof options / sizeof options[0])
_Static_assert(PAWL__PG_SESSIONS_MAX == 1000, "the text says so");
static const pawl__url_kind kind = {
    .driver = "postgres", .options = options, .option_count = OPTION_COUNT};

static bool is_own(const char *pair)
{
    size_t size = strcspn(pair, "=&");
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (strlen(options[i].name) == size && memcmp(pair, options[i].name, size) == 0)
            return true;
    return false;
}

/* The parameters that are libpq's go to `theirs`, behind a '?', and pawl's to `own`. */
static void split(const char *from, char *theirs, char *own)
{
    char *first = theirs;
    while (*from != '\0') {
        size_t size = strcspn(from, "&");
        char **to   = is_own(from) ? &own : &theirs;
        if (size != 0) {
            *(*to)++ = '&';
            memcpy(*to, from, size);
            *to += size;
        }
        from += size + (from[size] == '&');
    }
    *theirs = *own = '\0';
    if (*first == '&')
        *first = '?';
}

static pawl_code take_own(pawl__pg *store, char *text, pawl_error *error)
{
    own_parameters own    = {.schema = "public"};
    pawl_code      code   = pawl__url_options(&kind, NULL, text, &own, error);
    pawl_text      schema = pawl_text_of(own.schema);
    if (code == PAWL_OK)
        code = pawl__sql_name_check(schema, "postgres: schema", SCHEMA_SIZE_MAX, error);
    if (code != PAWL_OK)
        return code;
    (void)snprintf(store->schema, sizeof store->schema, "%s", own.schema);
    store->is_pooled          = own.is_pooled != 0;
    store->member.session_max = own.session_max;
    return own.is_pooled != 0 && own.session_max != 0 ? pawl__pg_refuse_sessions(store, error)
                                                      : PAWL_OK;
}

/* ---- The rest ----------------------------------------------------------- */

/* Has the password a '/' or '@'? libpq would end it at another byte than pawl_url_masked, and a part of it would be
 * shown as the name of a host. */
static bool is_ambiguous(const char *url, const char *masked)
{
    const char *mask = strstr(masked, ":***@");
    if (mask == NULL)
        return false;
    size_t      begin     = (size_t)(mask - masked) + 1;
    const char *rest      = masked + begin + 3;
    const char *next      = strstr(rest, "***");
    size_t      rest_size = next != NULL ? (size_t)(next - rest) : strlen(rest);
    size_t      end       = begin;
    for (size_t at = begin; url[at] != '\0'; at++)
        if (strncmp(url + at, rest, rest_size) == 0)
            end = at;
    return memchr(url + begin, '@', end - begin) != NULL ||
           memchr(url + begin, '/', end - begin) != NULL;
}

/* libpq's error text may quote the URL, with its password: so the masked URL is parsed for the
 * text. When nothing is wrong with that, the password itself is what cannot be read. */
static pawl_code refuse_conninfo(const pawl__pg *store, pawl_arena *arena, pawl_error *error)
{
    pawl_text masked = pawl_url_masked(store->conninfo, arena);
    char     *text   = NULL;
    if (masked.data == NULL)
        return pawl__pg_no_memory(error);
    PQconninfoOption *list = PQconninfoParse(masked.data, &text);
    if (list != NULL)
        (void)pawl_error_set(error, PAWL_EINVAL,
                             "postgres: %s: the password cannot be read: '%%' in it must be "
                             "written as %%25, '&' as %%26",
                             store->given);
    else
        (void)pawl_error_set(error, PAWL_EINVAL, "postgres: %s: %.*s", store->given,
                             text != NULL ? (int)strcspn(text, "\n") : 0, text != NULL ? text : "");
    PQconninfoFree(list);
    PQfreemem(text);
    return PAWL_EINVAL;
}

static pawl_code check_conninfo(pawl__pg *store, const char *url, const char *masked,
                                pawl_arena *arena, pawl_error *error)
{
    if (is_ambiguous(url, masked))
        return pawl_error_set(error, PAWL_EINVAL,
                              "postgres: %s: '/' and '@' in a password must be written as %%2F "
                              "and %%40",
                              store->given);
    PQconninfoOption *list = PQconninfoParse(store->conninfo, NULL);
    if (list == NULL)
        return refuse_conninfo(store, arena, error);
    PQconninfoFree(list);
    return PAWL_OK;
}

static pawl_code read_url(pawl__pg *store, const char *url, pawl_arena *arena, pawl_error *error)
{
    /* the last '?': a password may have one */
    const char *parameters = strrchr(url, '?');
    size_t      size       = parameters != NULL ? (size_t)(parameters - url) : strlen(url);
    pawl_text   masked     = pawl_url_masked(url, arena);
    char       *own        = pawl_arena_take(arena, strlen(url) + 1);
    store->conninfo        = pawl_allocate(strlen(url) + 1);
    store->given           = pawl__url_given(url);
    if (masked.data == NULL || own == NULL || store->conninfo == NULL || store->given == NULL)
        return pawl__pg_no_memory(error);
    memcpy(store->conninfo, url, size);
    split(parameters != NULL ? parameters + 1 : "", store->conninfo + size, own);
    pawl_code code = take_own(store, own, error);
    return code == PAWL_OK ? check_conninfo(store, url, masked.data, arena, error) : code;
}

pawl_code pawl__pg_url(pawl__pg *store, const char *url, pawl_error *error)
{
    pawl_arena *arena = pawl_arena_create(1024);
    pawl_code code = arena != NULL ? read_url(store, url, arena, error) : pawl__pg_no_memory(error);
    pawl_arena_destroy(arena);
    return code;
}

/* ---- TLS ---------------------------------------------------------------- */

static const char *value_of(const PQconninfoOption *list, const char *name)
{
    while (list->keyword != NULL && strcmp(list->keyword, name) != 0)
        list++;
    return list->keyword != NULL && list->val != NULL ? list->val : "";
}

/* Without sslmode libpq encrypts if the server can (prefer), and verifies nothing. hostaddr takes precedence over
 * host, which may be a socket's folder. */
pawl_code pawl__pg_require_tls(const PQconninfoOption *list, pawl_error *error)
{
    const char   *mode = value_of(list, "sslmode"), *host = value_of(list, "host");
    pawl__url_tls promised  = strncmp(mode, "verify-", 7) == 0 ? PAWL__URL_TLS_VERIFIED
                              : strcmp(mode, "require") == 0   ? PAWL__URL_TLS_ENCRYPTED
                                                               : PAWL__URL_TLS_NONE;
    bool          is_socket = value_of(list, "hostaddr")[0] == '\0' &&
                     (host[0] == '\0' || (host[0] == '/' && strchr(host, ',') == NULL));
    return is_socket ? PAWL_OK : pawl__url_require_tls("postgres", promised, TLS_REMEDY, error);
}

void pawl__pg_warn_tls(const pawl__pg *store, PGconn *pg)
{
    PQconninfoOption *list = PQconninfo(pg);
    const char       *mode = list != NULL ? value_of(list, "sslmode") : "";
    if (mode[0] == '\0' || strcmp(mode, "prefer") == 0)              /* the default */
        pawl__url_warn_tls("postgres", store->given, PQhostaddr(pg), /* "": a socket */
                           PQsslInUse(pg) != 0 ? PAWL__URL_TLS_ENCRYPTED : PAWL__URL_TLS_NONE,
                           TLS_REMEDY);
    PQconninfoFree(list);
}
