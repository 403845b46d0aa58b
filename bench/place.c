/* place.c - which kind of store a URL names: one row for each scheme.
 *
 * memory: data sets NAME-bench-1 and NAME-bench-2, filled for each round.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job.h"

#include <stdio.h>
#include <string.h>

/* "SCHEME:PATH?OPTIONS" becomes "SCHEME:PATH-bench-2?OPTIONS". */
static pawl_code name_url(const char *url, int number, char named[PAWL_URL_SIZE_MAX + 1],
                          pawl_error *error)
{
    int path_size = (int)strcspn(url, "?");
    int size = snprintf(named, PAWL_URL_SIZE_MAX + 1, "%.*s-bench-%d%s", path_size, url, number,
                        url + path_size);
    if (size < 0 || size > PAWL_URL_SIZE_MAX)
        return pawl_error_set(error, PAWL_ELIMIT,
                              "URL of the store: with '-bench-%d' it has %d bytes, limit %d",
                              number, size, PAWL_URL_SIZE_MAX);
    return PAWL_OK;
}

pawl_code pawl__bench_name_urls(const char *url, pawl__bench_place *place, pawl_error *error)
{
    pawl_code code = name_url(url, 0, place->filled, error);
    if (code == PAWL_OK)
        code = name_url(url, 1, place->round, error);
    return code == PAWL_OK ? name_url(url, 2, place->target, error) : code;
}

static const pawl__bench_kind memory_kind = {
    .take     = pawl__bench_name_urls,
    .no_limit = "a loop without pawl on the memory store would be a loop without a store"};

static const struct {
    const char             *scheme;
    const pawl__bench_kind *kind;
} kinds[] = {
    {"memory", &memory_kind},
#ifdef PAWL_HAVE_POSTGRES
    {"postgres", &pawl__bench_postgres_kind},
    {"postgresql", &pawl__bench_postgres_kind},
#endif
#ifdef PAWL_HAVE_SQLITE
    {"sqlite", &pawl__bench_sqlite_kind},
#endif
};

/* A URL that is none, or of a driver that is not here, is refused in the words
 * that every verb uses. Printing a schema needs no connection. */
static pawl_code refuse_kind(const char *url, size_t scheme_size, pawl_error *error)
{
    pawl_schema_spec spec = {.system_prefix = PAWL__BENCH_PREFIX};
    pawl_code        code =
        pawl_store_schema(url, PAWL_SCHEMA_PRINT, &spec, pawl__bench_no_line, NULL, error);
    if (code != PAWL_OK)
        return code;
    return pawl_error_set(error, PAWL_EUNSUPPORTED,
                          "there are no benchmarks for a store of the kind '%.*s'",
                          (int)scheme_size, url);
}

pawl_code pawl__bench_place_take(const char *url, pawl__bench_place *place, pawl_error *error)
{
    size_t size = strcspn(url, ":");
    place->kind = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strlen(kinds[i].scheme) == size && memcmp(kinds[i].scheme, url, size) == 0)
            place->kind = kinds[i].kind;
    if (place->kind == NULL || url[size] == '\0')
        return refuse_kind(url, size, error);
    return place->kind->take(url, place, error);
}
