/* place.c - where the tables of a round are: one row for each kind of store.
 *
 *     sqlite    FILE-bench-0 is filled once, FILE-bench-1 is the copy that a
 *               round works off, FILE-bench-2 is the second store. FILE itself
 *               is never opened: rounds in one file would make it grow, and a
 *               later round would find a file unlike the first.
 *     memory    data sets NAME-bench-1 and NAME-bench-2, filled for each round
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

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

static pawl_code name_all(const char *url, pawl__bench_place *place, pawl_error *error)
{
    pawl_code code = name_url(url, 0, place->filled, error);
    if (code == PAWL_OK)
        code = name_url(url, 1, place->round, error);
    return code == PAWL_OK ? name_url(url, 2, place->target, error) : code;
}

/* ---- SQLite --------------------------------------------------------------- */

#ifdef PAWL_HAVE_SQLITE

/* The file itself, its log and index, and pawl's lock file. */
static const char *const suffixes[] = {"", "-wal", "-shm", "-pawl"};
#define SUFFIX_COUNT (sizeof suffixes / sizeof suffixes[0])

static const char *path_of(const char *url, const char *suffix, char path[PAWL_URL_SIZE_MAX + 10])
{
    const char *from = strchr(url, ':') + 1;
    (void)snprintf(path, PAWL_URL_SIZE_MAX + 10, "%.*s%s", (int)strcspn(from, "?"), from, suffix);
    return path;
}

static pawl_code refuse_file(const char *url, pawl_error *error)
{
    char path[PAWL_URL_SIZE_MAX + 10];
    for (size_t i = 0; i < SUFFIX_COUNT; i++)
        if (access(path_of(url, suffixes[i], path), F_OK) == 0)
            return pawl_error_set(error, PAWL_ECONFIG,
                                  "%s exists: the benchmark makes that file and removes it; move "
                                  "it away, or name another store",
                                  path);
    return PAWL_OK;
}

static pawl_code take_files(const char *url, pawl__bench_place *place, pawl_error *error)
{
    pawl_code code = name_all(url, place, error);
    if (code == PAWL_OK)
        code = refuse_file(place->filled, error);
    if (code == PAWL_OK)
        code = refuse_file(place->round, error);
    return code == PAWL_OK ? refuse_file(place->target, error) : code;
}

static pawl_code drop_file(const char *url, pawl_error *error)
{
    char path[PAWL_URL_SIZE_MAX + 10];
    for (size_t i = 0; i < SUFFIX_COUNT; i++)
        if (unlink(path_of(url, suffixes[i], path)) != 0 && errno != ENOENT)
            return pawl_error_set(error, PAWL_EPERSIST, "%s cannot be removed: %s", path,
                                  strerror(errno));
    return PAWL_OK;
}

static pawl_code copy_bytes(int from, int to, const char *path, pawl_error *error)
{
    struct stat status;
    if (fstat(from, &status) != 0)
        return pawl_error_set(error, PAWL_EPERSIST, "%s: %s", path, strerror(errno));
    for (off_t left = status.st_size; left > 0;) {
        ssize_t sent = sendfile(to, from, NULL, (size_t)left);
        if (sent <= 0)
            return pawl_error_set(error, errno == ENOSPC ? PAWL_EFULL : PAWL_EPERSIST,
                                  "%s cannot be written: %s", path, strerror(errno));
        left -= sent;
    }
    /* The disk is idle when the round begins. */
    if (fsync(to) != 0)
        return pawl_error_set(error, PAWL_EPERSIST, "%s: %s", path, strerror(errno));
    return PAWL_OK;
}

static pawl_code copy_file(const pawl__bench_place *place, pawl_error *error)
{
    char      from_path[PAWL_URL_SIZE_MAX + 10];
    char      path[PAWL_URL_SIZE_MAX + 10];
    pawl_code code = drop_file(place->round, error);
    if (code == PAWL_OK)
        code = drop_file(place->target, error);
    /* All handles are closed: what was in the log is in the file. */
    if (code == PAWL_OK && access(path_of(place->filled, "-wal", path), F_OK) == 0)
        return pawl_error_set(error, PAWL_EBUG, "%s is left: another program has the file open",
                              path);
    if (code != PAWL_OK)
        return code;
    int from = open(path_of(place->filled, "", from_path), O_RDONLY | O_CLOEXEC);
    int to   = open(path_of(place->round, "", path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (from < 0 || to < 0)
        code = pawl_error_set(error, PAWL_EUNREACHABLE, "%s: %s", from < 0 ? from_path : path,
                              strerror(errno));
    else
        code = copy_bytes(from, to, path, error);
    if (from >= 0)
        (void)close(from);
    if (to >= 0)
        (void)close(to);
    return code;
}

static const pawl__bench_limit sqlite_limits[] = {
    {"outbox-drain", pawl__bench_sqlite_outbox_drain},
    {"saga-step", pawl__bench_sqlite_saga_step},
    {"timeouts", pawl__bench_sqlite_timeouts},
    {NULL, NULL},
};

#endif

/* ---- All kinds ------------------------------------------------------------ */

static const pawl__bench_kind kinds[] = {
    {.scheme   = "memory",
     .take     = name_all,
     .no_limit = "a loop without pawl on the memory store would be a loop without a store"},
#ifdef PAWL_HAVE_SQLITE
    {.scheme = "sqlite",
     .take   = take_files,
     .copy   = copy_file,
     .drop   = drop_file,
     .limits = sqlite_limits},
#endif
};

static void drop_line(pawl_text line, void *context)
{
    (void)line;
    (void)context;
}

/* A URL that is none, or of a driver that is not here, is refused in the words
 * that every verb uses. Printing a schema needs no connection. */
static pawl_code refuse_kind(const char *url, size_t scheme_size, pawl_error *error)
{
    pawl_schema_spec spec = {.system_prefix = PAWL__BENCH_PREFIX};
    pawl_code code = pawl_store_schema(url, PAWL_SCHEMA_PRINT, &spec, drop_line, NULL, error);
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
            place->kind = &kinds[i];
    if (place->kind == NULL || url[size] == '\0')
        return refuse_kind(url, size, error);
    return place->kind->take(url, place, error);
}
