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

#define SCHEMA_SIZE_MAX 63 /* the longest identifier of PostgreSQL */

/* Percent-decoding, "caf%C3%A9". A value that does not fit is cut to a size that is refused as too
 * long. */
static pawl_text decode(pawl_text value, char *to, size_t size_max)
{
    size_t size = 0;
    for (size_t i = 0; i < value.size && size < size_max; i++) {
        int high   = value.data[i] == '%' && i + 2 < value.size
                         ? pawl__url_hex_digit(value.data[i + 1])
                         : -1;
        int low    = high >= 0 ? pawl__url_hex_digit(value.data[i + 2]) : -1;
        to[size++] = low >= 0 ? (char)(high * 16 + low) : value.data[i];
        i += low >= 0 ? 2 : 0;
    }
    return (pawl_text){.data = to, .size = size};
}

static pawl_code set_schema(pawl__pg *store, pawl_text value, pawl_error *error)
{
    char      text[SCHEMA_SIZE_MAX + 1];
    pawl_text name = decode(value, text, sizeof text);
    pawl_code code = pawl__sql_name_check(name, "postgres: schema", SCHEMA_SIZE_MAX, error);
    if (code == PAWL_OK)
        (void)snprintf(store->schema, sizeof store->schema, "%.*s", PAWL_TEXT_ARGS(name));
    return code;
}

static pawl_code set_pooler(pawl__pg *store, pawl_text value, pawl_error *error)
{
    if (pawl_text_equal(value, PAWL_TEXT("transaction")))
        store->is_pooled = true;
    else if (!pawl_text_equal(value, PAWL_TEXT("none")))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "postgres: pooler is '%.*s', may be none or transaction",
                              PAWL_TEXT_ARGS(value));
    return PAWL_OK;
}

static pawl_code set_create(pawl__pg *store, pawl_text value, pawl_error *error)
{
    (void)store;
    if (pawl_text_equal(value, PAWL_TEXT("no")))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG,
                          "postgres: create is '%.*s', may be no: a server's tables are made by "
                          "'pawl schema apply'",
                          PAWL_TEXT_ARGS(value));
}

static pawl_code set_sessions(pawl__pg *store, pawl_text value, pawl_error *error)
{
    int64_t count = 0;
    for (size_t i = 0; i < value.size && count <= PAWL__PG_SESSIONS_MAX; i++)
        count = value.data[i] >= '0' && value.data[i] <= '9' ? count * 10 + (value.data[i] - '0')
                                                             : PAWL__PG_SESSIONS_MAX + 1;
    if (count < 1 || count > PAWL__PG_SESSIONS_MAX)
        return pawl_error_set(error, PAWL_ECONFIG, "postgres: sessions is '%.*s', may be 1 to %d",
                              PAWL_TEXT_ARGS(value), PAWL__PG_SESSIONS_MAX);
    store->member.session_max = (int)count;
    return PAWL_OK;
}

pawl_code pawl__pg_refuse_sessions(const pawl__pg *store, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ECONFIG,
                          "postgres: %s: sessions are not lent behind a pooler, which does that "
                          "itself: leave sessions out of the URL",
                          store->given);
}

typedef struct own_parameter {
    const char *name;
    pawl_code (*set)(pawl__pg *store, pawl_text value, pawl_error *error);
} own_parameter;

static const own_parameter own_parameters[] = {
    {"schema", set_schema},
    {"pooler", set_pooler},
    {"create", set_create},
    {"sessions", set_sessions},
};

/* The parameter of pawl that "name=value" is, or NULL for one of libpq. */
static const own_parameter *find_own(pawl_text pair, pawl_text *value)
{
    const char *sign = memchr(pair.data, '=', pair.size);
    size_t      size = sign != NULL ? (size_t)(sign - pair.data) : pair.size;
    for (size_t i = 0; i < sizeof own_parameters / sizeof own_parameters[0]; i++)
        if (pawl_text_equal((pawl_text){.data = pair.data, .size = size},
                            pawl_text_of(own_parameters[i].name))) {
            *value = sign != NULL ? (pawl_text){.data = sign + 1, .size = pair.size - size - 1}
                                  : (pawl_text){0};
            return &own_parameters[i];
        }
    return NULL;
}

static pawl_code take_parameters(pawl__pg *store, const char *from, char *to, pawl_error *error)
{
    pawl_code code      = PAWL_OK;
    char      separator = '?';
    while (code == PAWL_OK && *from != '\0') {
        size_t               size  = strcspn(from, "&");
        pawl_text            pair  = {.data = from, .size = size};
        pawl_text            value = {0};
        const own_parameter *own   = find_own(pair, &value);
        if (own != NULL) {
            code = own->set(store, value, error);
        } else if (size != 0) {
            *to++     = separator;
            separator = '&';
            memcpy(to, from, size);
            to += size;
        }
        from += size + (from[size] == '&');
    }
    *to = '\0';
    return code;
}

/* ---- The rest ----------------------------------------------------------- */

/* A '/' or '@' in the password ends it for libpq at another byte than for pawl_url_masked: a part of it
 * would be shown as a host's name. */
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

/* The value of a parameter: the URL's, the environment's, or libpq's own. */
static const char *value_of(const PQconninfoOption *list, const char *name)
{
    while (list->keyword != NULL && strcmp(list->keyword, name) != 0)
        list++;
    const char *found = list->keyword == NULL ? NULL : list->val;
    if (found == NULL && list->keyword != NULL && list->envvar != NULL)
        found = getenv(list->envvar);
    return found != NULL ? found : "";
}

/* libpq encrypts where the server has it (prefer), and checks nobody, unless sslmode says otherwise. */
static pawl_code check_tls(pawl__pg *store, const PQconninfoOption *list, pawl_error *error)
{
    const char   *mode = value_of(list, "sslmode"), *host = value_of(list, "host");
    pawl__url_tls promised = strncmp(mode, "verify-", 7) == 0 ? PAWL__URL_TLS_VERIFIED
                             : strcmp(mode, "require") == 0   ? PAWL__URL_TLS_ENCRYPTED
                                                              : PAWL__URL_TLS_NONE;
    store->tls_is_chosen   = mode[0] != '\0' && strcmp(mode, "prefer") != 0;
    bool is_socket         = (host[0] == '\0' && value_of(list, "hostaddr")[0] == '\0') ||
                     (host[0] == '/' && strchr(host, ',') == NULL);
    return is_socket ? PAWL_OK
                     : pawl__url_require_tls("postgres", promised, PAWL__PG_TLS_REMEDY, error);
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
    pawl_code code = check_tls(store, list, error);
    PQconninfoFree(list);
    return code;
}

static pawl_code read_url(pawl__pg *store, const char *url, pawl_arena *arena, pawl_error *error)
{
    /* the last '?': a password may have one */
    const char *parameters = strrchr(url, '?');
    size_t      size       = parameters != NULL ? (size_t)(parameters - url) : strlen(url);
    pawl_text   masked     = pawl_url_masked(url, arena);
    store->conninfo        = pawl_allocate(strlen(url) + 1);
    store->given           = pawl__url_given(url);
    if (masked.data == NULL || store->conninfo == NULL || store->given == NULL)
        return pawl__pg_no_memory(error);
    memcpy(store->conninfo, url, size);
    memcpy(store->schema, "public", sizeof "public");
    pawl_code code = take_parameters(store, parameters != NULL ? parameters + 1 : "",
                                     store->conninfo + size, error);
    if (code == PAWL_OK && store->is_pooled && store->member.session_max > 0)
        code = pawl__pg_refuse_sessions(store, error);
    return code == PAWL_OK ? check_conninfo(store, url, masked.data, arena, error) : code;
}

pawl_code pawl__pg_url(pawl__pg *store, const char *url, pawl_error *error)
{
    pawl_arena *arena = pawl_arena_create(1024);
    pawl_code code = arena != NULL ? read_url(store, url, arena, error) : pawl__pg_no_memory(error);
    pawl_arena_destroy(arena);
    return code;
}
