/* log_build.h - between a format's reader and the log it fills. Internal.
 *
 *     format->open -> feed ... feed -> finish -> close
 *
 * A reader cuts the bytes into events; the builder keeps each distinct text
 * once, checks what an event may hold, and words the errors. close() follows
 * every open(), failed or not, and accepts NULL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_LOG_BUILD_H
#define REPLAY_LOG_BUILD_H

#include "log.h"

/* Longest value, column name or XML element that is read; bounds memory
 * against a file that is no log. */
#define REPLAY_VALUE_SIZE_MAX ((size_t)64 * 1024)
#define REPLAY_COLUMNS_MAX 4096  /* of a CSV; the widest known logs have some hundred */
#define REPLAY_XML_DEPTH_MAX 100 /* nested attributes; real logs have three levels */

/* The role of a column or an attribute. */
typedef enum log_role {
    ROLE_CASE,
    ROLE_ACTIVITY,
    ROLE_GROUP,
    ROLE_TIME,
    ROLE_COUNT,
} log_role;

#define ROLE_TEXT_COUNT ROLE_TIME /* the roles before it are texts, kept once each */

/* One distinct text while the log is read; uthash finds it by its bytes. */
typedef struct known_text known_text;

typedef struct log_builder {
    const char *path;
    const char *names[ROLE_COUNT]; /* of the columns or keys */
    bool        group_is_required;
    replay_log *log;
    size_t      event_capacity;
    size_t      text_capacities[ROLE_TEXT_COUNT];
    known_text *known[ROLE_TEXT_COUNT];
    pawl_arena *scratch; /* the known_texts */
    pawl_error *error;
} log_builder;

/* Bytes that grow; data is NULL until the first one comes. */
typedef struct log_buffer {
    char  *data;
    size_t size;
    size_t capacity;
} log_buffer;

typedef struct log_format {
    pawl_code (*open)(log_builder *builder, void **reader);
    pawl_code (*feed)(void *reader, const char *data, size_t size);
    pawl_code (*finish)(void *reader);
    void (*close)(void *reader);
} log_format;

extern const log_format replay__csv;
extern const log_format replay__xes;

pawl_code replay__builder_init(log_builder *builder, const char *path,
                               const replay_columns *columns, replay_log *log, pawl_error *error);
void      replay__builder_clear(log_builder *builder);

/* Words an error as one line, "PATH: line 12: ..." (no line when it is 0), and
 * returns `code`. */
pawl_code replay__fail(log_builder *builder, pawl_code code, uint64_t line, const char *format, ...)
    PAWL_PRINTF(4, 5);

/* The index of `text` among the log's texts of that role, which it joins when
 * it is new. Refuses what a message could not carry: NUL, bad UTF-8, and ids
 * over their limit. */
pawl_code replay__text_index(log_builder *builder, log_role role, pawl_text text, uint64_t line,
                             uint32_t *index);
pawl_code replay__time_of(log_builder *builder, pawl_text text, uint64_t line, pawl_time *time);
/* Appends; `order` is set here. */
pawl_code replay__event_add(log_builder *builder, replay_event event, uint64_t line);

/* Puts `size` bytes behind those that are there. False when out of memory. */
bool      replay__buffer_append(log_buffer *buffer, const char *data, size_t size);
pawl_text replay__buffer_text(const log_buffer *buffer);

#endif
