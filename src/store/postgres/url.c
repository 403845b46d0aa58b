/* url.c - the URL: pawl's own parameters are taken out, the rest is libpq's.
 *
 *     postgres://user@host:port/database?sslmode=require&schema=shop&pooler=transaction
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/postgres.h"

#include "store/sql/tables.h"

#include <stdio.h>
#include <string.h>

#define SCHEMA_SIZE_MAX 63 /* an identifier of PostgreSQL */

static pawl_code set_schema(pawl__postgres *store, pawl_text value, pawl_error *error)
{
    pawl_code code = pawl__sql_name_check(value, "postgres: schema", SCHEMA_SIZE_MAX, error);
    if (code == PAWL_OK)
        (void)snprintf(store->schema, sizeof store->schema, "%.*s", PAWL_TEXT_ARGS(value));
    return code;
}

static pawl_code set_pooler(pawl__postgres *store, pawl_text value, pawl_error *error)
{
    if (pawl_text_equal(value, PAWL_TEXT("transaction")))
        store->is_pooled = true;
    else if (!pawl_text_equal(value, PAWL_TEXT("none")))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "postgres: pooler is '%.*s', may be none or transaction",
                              PAWL_TEXT_ARGS(value));
    return PAWL_OK;
}

static pawl_code set_create(pawl__postgres *store, pawl_text value, pawl_error *error)
{
    (void)store;
    if (pawl_text_equal(value, PAWL_TEXT("no")))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG,
                          "postgres: create is '%.*s', may be no: a server's tables are made by "
                          "'pawl schema apply'",
                          PAWL_TEXT_ARGS(value));
}

typedef struct own_parameter {
    const char *name;
    pawl_code (*set)(pawl__postgres *store, pawl_text value, pawl_error *error);
} own_parameter;

static const own_parameter own_parameters[] = {
    {"schema", set_schema},
    {"pooler", set_pooler},
    {"create", set_create},
};

/* Which of ours "name=value" is, or NULL. */
static const own_parameter *find_own(pawl_text pair, pawl_text *value)
{
    const char *sign = memchr(pair.data, '=', pair.size);
    size_t      size = sign != NULL ? (size_t)(sign - pair.data) : pair.size;
    for (size_t i = 0; i < sizeof own_parameters / sizeof own_parameters[0]; i++)
        if (pawl_text_equal((pawl_text){pair.data, size}, pawl_text_of(own_parameters[i].name))) {
            *value = sign != NULL ? (pawl_text){sign + 1, pair.size - size - 1} : (pawl_text){0};
            return &own_parameters[i];
        }
    return NULL;
}

static pawl_code take_parameters(pawl__postgres *store, const char *from, char *to,
                                 pawl_error *error)
{
    pawl_code code      = PAWL_OK;
    char      separator = '?';
    while (code == PAWL_OK && *from != '\0') {
        size_t               size  = strcspn(from, "&");
        pawl_text            pair  = {from, size};
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

pawl_code pawl__postgres_url(pawl__postgres *store, const char *url, pawl_error *error)
{
    /* The last one: a password may hold a '?' of its own. */
    const char *parameters = strrchr(url, '?');
    size_t      size       = parameters != NULL ? (size_t)(parameters - url) : strlen(url);
    pawl_arena *arena      = pawl_arena_create(1024);
    store->conninfo        = pawl_allocate(strlen(url) + 1);
    store->given           = pawl_allocate(strlen(url) + 40);
    pawl_text masked       = {0};
    if (arena != NULL)
        masked = pawl_url_masked(url, arena);
    if (masked.data == NULL || store->conninfo == NULL || store->given == NULL) {
        pawl_arena_destroy(arena);
        return pawl__postgres_no_memory(error);
    }
    (void)snprintf(store->given, strlen(url) + 40, "%.*s", PAWL_TEXT_ARGS(masked));
    pawl_arena_destroy(arena);
    memcpy(store->conninfo, url, size);
    memcpy(store->schema, "public", sizeof "public");
    return take_parameters(store, parameters != NULL ? parameters + 1 : "", store->conninfo + size,
                           error);
}
