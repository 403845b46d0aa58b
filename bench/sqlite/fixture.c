/* fixture.c - FILE-bench-0 is filled once, FILE-bench-1 is the copy that a
 * round works off, FILE-bench-2 is the second store. FILE itself is never
 * opened: rounds in one file would make it grow, and a later round would find
 * a file unlike the first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "limit_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

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

static pawl_code take_files(const char *url, pawl__bench_fixture *fixture, pawl_error *error)
{
    pawl_code code = pawl__bench_name_urls(url, fixture, error);
    if (code == PAWL_OK)
        code = refuse_file(fixture->filled, error);
    if (code == PAWL_OK)
        code = refuse_file(fixture->round, error);
    return code == PAWL_OK ? refuse_file(fixture->target, error) : code;
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

static pawl_code copy_file(const pawl__bench_fixture *fixture, pawl_error *error)
{
    char      from_path[PAWL_URL_SIZE_MAX + 10];
    char      path[PAWL_URL_SIZE_MAX + 10];
    pawl_code code = drop_file(fixture->round, error);
    if (code == PAWL_OK)
        code = drop_file(fixture->target, error);
    /* All handles are closed: what was in the log is in the file. */
    if (code == PAWL_OK && access(path_of(fixture->filled, "-wal", path), F_OK) == 0)
        return pawl_error_set(error, PAWL_EBUG, "%s is left: another program has the file open",
                              path);
    if (code != PAWL_OK)
        return code;
    int from = open(path_of(fixture->filled, "", from_path), O_RDONLY | O_CLOEXEC);
    int to = open(path_of(fixture->round, "", path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
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
    {"append", pawl__bench_sqlite_append},
    {"latency", pawl__bench_sqlite_latency},
    {"no-op", pawl__bench_sqlite_saga_step},
    {"outbox-drain", pawl__bench_sqlite_outbox_drain},
    {"saga-step", pawl__bench_sqlite_saga_step},
    {"timeouts", pawl__bench_sqlite_timeouts},
    {NULL, NULL},
};

const pawl__bench_kind pawl_bench_kind = {.kind_size = sizeof(pawl__bench_kind),
                                          .take      = take_files,
                                          .copy      = copy_file,
                                          .drop      = drop_file,
                                          .limits    = sqlite_limits};
