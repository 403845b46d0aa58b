/* log.c - opens a log, detects its format, and sorts its events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log_build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK_SIZE ((unsigned)64 * 1024)

typedef struct source {
    gzFile              file; /* zlib reads plain files, too */
    uint64_t            size; /* on disk; 0: unknown */
    char               *chunk;
    replay_progress_fn *progress;
    void               *context;
} source;

static pawl_code open_source(log_builder *builder, source *from)
{
    int file = open(builder->path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return replay__fail(builder, PAWL_EINPUT, 0, "cannot be opened: %s", strerror(errno));
    struct stat facts;
    bool        is_known = fstat(file, &facts) == 0;
    if (is_known && S_ISDIR(facts.st_mode)) {
        close(file);
        return replay__fail(builder, PAWL_EINPUT, 0, "is a directory, not an event log");
    }
    from->size  = is_known && S_ISREG(facts.st_mode) ? (uint64_t)facts.st_size : 0;
    from->file  = gzdopen(file, "rb");
    from->chunk = pawl_resize(NULL, CHUNK_SIZE);
    if (from->file == NULL)
        close(file);
    if (from->file == NULL || from->chunk == NULL || gzbuffer(from->file, CHUNK_SIZE) != 0)
        return replay__fail(builder, PAWL_ENOMEM, 0, "out of memory");
    return PAWL_OK;
}

static void close_source(source *from)
{
    if (from->file != NULL)
        gzclose_r(from->file);
    pawl_free(from->chunk);
}

/* zlib returns the data of a truncated gzip stream before it reports the error, so the state is checked at the end of
 * the file. */
static pawl_code read_chunk(log_builder *builder, source *from, size_t *size)
{
    errno            = 0;
    int         got  = gzread(from->file, from->chunk, CHUNK_SIZE);
    int         code = Z_OK;
    const char *text = gzerror(from->file, &code);
    *size            = got > 0 ? (size_t)got : 0;
    if (got > 0 && (code == Z_OK || code == Z_BUF_ERROR)) {
        z_off_t done = gzoffset(from->file);
        if (from->progress != NULL)
            from->progress(done > 0 ? (uint64_t)done : 0, from->size, from->context);
        return PAWL_OK;
    }
    if (code == Z_OK || code == Z_STREAM_END)
        return PAWL_OK;
    if (code == Z_ERRNO)
        return replay__fail(builder, PAWL_EINPUT, 0, "cannot be read: %s", strerror(errno));
    if (code == Z_MEM_ERROR)
        return replay__fail(builder, PAWL_ENOMEM, 0, "out of memory");
    if (code == Z_BUF_ERROR)
        return replay__fail(builder, PAWL_EINPUT, 0, "the gzip data is cut: it ends too early");
    return replay__fail(builder, PAWL_EINPUT, 0, "the gzip data is damaged: %s", text);
}

/* XML begins with '<', also in UTF-16; everything else counts as CSV. */
static const log_format *format_of(const char *data, size_t size)
{
    size_t i = 0;
    if (size >= 4 && (memcmp(data, "\xFF\xFE<", 4) == 0 || memcmp(data, "\xFE\xFF\0<", 4) == 0))
        return &replay__xes;
    if (size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0)
        i = 3;
    while (i < size && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r' || data[i] == '\n'))
        i++;
    return i < size && data[i] == '<' ? &replay__xes : &replay__csv;
}

static pawl_code read_events(log_builder *builder, source *from)
{
    size_t    size = 0;
    pawl_code code = read_chunk(builder, from, &size);
    if (code != PAWL_OK)
        return code;
    if (size == 0)
        return replay__fail(builder, PAWL_EINPUT, 0, "is empty");
    const log_format *format = format_of(from->chunk, size);
    void             *reader = NULL;
    code                     = format->open(builder, &reader);
    while (code == PAWL_OK && size != 0) {
        code = format->feed(reader, from->chunk, size);
        if (code == PAWL_OK)
            code = read_chunk(builder, from, &size);
    }
    if (code == PAWL_OK)
        code = format->finish(reader);
    format->close(reader);
    if (code == PAWL_OK && builder->log->event_count == 0)
        code = replay__fail(builder, PAWL_EINPUT, 0, "holds no events");
    return code;
}

static int compare_events(const void *left, const void *right)
{
    const replay_event *l = left, *r = right;
    if (l->time != r->time)
        return l->time < r->time ? -1 : 1;
    return l->order < r->order ? -1 : l->order > r->order;
}

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
    return hash_bytes(hash, bytes, sizeof bytes);
}

/* Hashes the size first, so that adjacent texts cannot be confused. */
static uint64_t hash_text(uint64_t hash, pawl_text text)
{
    return hash_bytes(hash_number(hash, text.size), text.data, text.size);
}

static uint64_t fingerprint_of(const replay_log *log)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < log->event_count; i++) {
        const replay_event *event = &log->events[i];
        hash                      = hash_text(hash, log->cases[event->case_index]);
        hash                      = hash_text(hash, log->activities[event->activity_index]);
        hash                      = hash_text(hash, log->groups[event->group_index]);
        hash                      = hash_number(hash, (uint64_t)event->time);
    }
    return hash;
}

pawl_code replay_log_read(const char *path, const replay_columns *columns,
                          replay_progress_fn *progress, void *context, replay_log *log,
                          pawl_error *error)
{
    log_builder builder;
    source      from = {.progress = progress, .context = context};
    pawl_code   code = replay__builder_init(&builder, path, columns, log, error);
    if (code == PAWL_OK)
        code = open_source(&builder, &from);
    if (code == PAWL_OK)
        code = read_events(&builder, &from);
    close_source(&from);
    replay__builder_clear(&builder);
    if (code != PAWL_OK) {
        replay_log_free(log);
        return code;
    }
    qsort(log->events, log->event_count, sizeof *log->events, compare_events);
    log->fingerprint = fingerprint_of(log);
    return PAWL_OK;
}

void replay_log_free(replay_log *log)
{
    pawl_free(log->events);
    pawl_free(log->cases);
    pawl_free(log->groups);
    pawl_free(log->activities);
    pawl_arena_destroy(log->texts);
    memset(log, 0, sizeof *log);
}
