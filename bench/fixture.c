/* fixture.c - which kind of store a URL names: the one that is built in, or a module
 * libpawl-bench-SCHEME.so, which lies where the drivers are.
 *
 * memory: data sets NAME-bench-1 and NAME-bench-2, filled for each round.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job.h"
#include "store/core/module.h"

#include <stdio.h>
#include <string.h>

#define KIND_NAME_SIZE (sizeof "bench-" + PAWL_PREFIX_SIZE_MAX)

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

pawl_code pawl__bench_name_urls(const char *url, pawl__bench_fixture *fixture, pawl_error *error)
{
    pawl_code code = name_url(url, 0, fixture->filled, error);
    if (code == PAWL_OK)
        code = name_url(url, 1, fixture->round, error);
    return code == PAWL_OK ? name_url(url, 2, fixture->target, error) : code;
}

static const pawl__bench_kind memory_kind = {
    .take     = pawl__bench_name_urls,
    .no_limit = "a loop without pawl on the memory store would be a loop without a store"};

/* The name of the kind: two schemes are usual for one database. */
static void name_kind(const char *url, size_t scheme_size, char name[KIND_NAME_SIZE])
{
    (void)snprintf(name, KIND_NAME_SIZE, "bench-%.*s", (int)scheme_size, url);
    if (strcmp(name, "bench-postgresql") == 0)
        name[strlen("bench-postgres")] = '\0';
    if (strcmp(name, "bench-mariadb") == 0)
        (void)snprintf(name, KIND_NAME_SIZE, "bench-mysql");
    if (strcmp(name, "bench-mongodb") == 0 || strcmp(name, "bench-mongodb+srv") == 0)
        (void)snprintf(name, KIND_NAME_SIZE, "bench-mongo");
}

/* A URL that is none, or of a driver that is not here, is refused in the words
 * that every verb uses. Printing a schema needs no connection. */
static pawl_code check_url(const char *url, pawl_error *error)
{
    pawl_schema_spec spec = {.system_prefix = PAWL__BENCH_PREFIX};
    return pawl_store_schema(url, PAWL_SCHEMA_PRINT, &spec, pawl__bench_no_line, NULL, error);
}

static pawl_code load_kind(const char *url, size_t scheme_size, const pawl__bench_kind **kind,
                           pawl_error *error)
{
    char        name[KIND_NAME_SIZE], path[PAWL__OBJECT_PATH_SIZE], absent[sizeof error->text];
    const void *table = NULL;
    name_kind(url, scheme_size, name);
    if (!pawl__module_find(name, path))
        return pawl_error_set(
            error, PAWL_EUNSUPPORTED, "there are no benchmarks for a store of the kind '%.*s': %s",
            (int)scheme_size, url,
            pawl__module_absent(name, ", if there is one", absent, sizeof absent));
    pawl_code code = pawl__module_load(name, "benchmarks", PAWL__BENCH_KIND_SYMBOL,
                                       sizeof(pawl__bench_kind), &table, error);
    *kind          = table;
    return code;
}

pawl_code pawl__bench_fixture_take(const char *url, pawl__bench_fixture *fixture, pawl_error *error)
{
    size_t    size = strcspn(url, ":");
    pawl_code code = check_url(url, error);
    fixture->kind  = &memory_kind;
    if (code == PAWL_OK && (size != strlen("memory") || strncmp(url, "memory", size) != 0))
        code = load_kind(url, size, &fixture->kind, error);
    return code == PAWL_OK ? fixture->kind->take(url, fixture, error) : code;
}
