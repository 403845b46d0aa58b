/* log_build.h - interface between a format's reader and the log. Internal.
 *
 *     format->open -> feed ... feed -> finish -> close
 *
 * A reader splits the bytes into events; the builder keeps each distinct text once, checks values, and formats errors.
 * close() follows every open(), also a failed one, and accepts NULL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_LOG_BUILD_H
#define REPLAY_LOG_BUILD_H

#include "log.h"

/* Longest value, column name or XML element; limits memory if the file is not a log. */
#define REPLAY_VALUE_SIZE_MAX ((size_t)64 * 1024)
#define REPLAY_COLUMNS_MAX 4096  /* of a CSV; known logs have some hundred at most */
#define REPLAY_XML_DEPTH_MAX 100 /* nested attributes; real logs have three levels */

/* The role of a column or an attribute. */
typedef enum log_role {
    ROLE_CASE,
    ROLE_ACTIVITY,
    ROLE_GROUP,
    ROLE_TIME,
    ROLE_COUNT,
} log_role;

#define ROLE_TEXT_COUNT ROLE_TIME /* roles before ROLE_TIME are texts, each kept once */

/* A distinct text; uthash finds it by its bytes. */
typedef struct known_text known_text;

typedef struct log_builder {
    const char *path;
    const char *names[ROLE_COUNT]; /* of the columns or keys */
    bool        group_is_required;
    replay_log *log;
    size_t      event_capacity;
    size_t      text_capacities[ROLE_TEXT_COUNT];
    known_text *known[ROLE_TEXT_COUNT];
    pawl_arena *scratch; /* for the known_texts */
    pawl_error *error;
} log_builder;

/* A growing buffer; data is NULL while it is empty. */
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

/* Formats an error as one line, "PATH: line 12: ..." (line 0: none), and returns `code`. */
pawl_code replay__fail(log_builder *builder, pawl_code code, uint64_t line, const char *format, ...)
    PAWL_PRINTF(4, 5);

/* Returns the index of `text` among the role's texts; adds it if it is new. Refuses texts that a message cannot
 * contain: NUL, invalid UTF-8, and ids above their limit. */
pawl_code replay__text_index(log_builder *builder, log_role role, pawl_text text, uint64_t line,
                             uint32_t *index);
pawl_code replay__time_of(log_builder *builder, pawl_text text, uint64_t line, pawl_time *time);
/* Appends the event, and sets its `order`. */
pawl_code replay__event_add(log_builder *builder, replay_event event, uint64_t line);

/* Appends `size` bytes. False: out of memory. */
bool      replay__buffer_append(log_buffer *buffer, const char *data, size_t size);
pawl_text replay__buffer_text(const log_buffer *buffer);

#endif
