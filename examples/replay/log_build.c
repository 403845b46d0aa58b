/* log_build.c - collects texts (each once) and events, and formats errors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log_build.h"

#include "pawl/limits.h"

#include <stdio.h>
#include <string.h>

/* A table that cannot grow still works; the entry that was not added is marked, and reading ends. */
#define HASH_NONFATAL_OOM 1
#define uthash_malloc(size) pawl_resize(NULL, size)
#define uthash_free(memory, size) pawl_free(memory)
#define uthash_nonfatal_oom(entry) ((entry)->is_lost = true)
#include <uthash.h>

struct known_text {
    pawl_text      text;
    uint32_t       index;
    bool           is_lost;
    UT_hash_handle hh;
};

/* A case id becomes a correlation value, a group the key of a partition, with their limits. */
typedef struct text_rule {
    const char *what;
    size_t      characters_max;
    size_t      size_max;
} text_rule;

static const text_rule text_rules[] = {
    [ROLE_CASE]     = {"case id", PAWL_CORRELATION_CHARS_MAX, REPLAY_VALUE_SIZE_MAX},
    [ROLE_ACTIVITY] = {"activity", REPLAY_VALUE_SIZE_MAX, REPLAY_VALUE_SIZE_MAX},
    [ROLE_GROUP]    = {"group", PAWL_PARTITION_SIZE_MAX, PAWL_PARTITION_SIZE_MAX},
};
_Static_assert(sizeof text_rules / sizeof text_rules[0] == ROLE_TEXT_COUNT, "a rule for each");

static const char *name_or(const char *name, const char *fallback)
{
    return name != NULL ? name : fallback;
}

pawl_code replay__builder_init(log_builder *builder, const char *path,
                               const replay_columns *columns, replay_log *log, pawl_error *error)
{
    replay_columns none = {0};
    if (columns == NULL)
        columns = &none;
    memset(builder, 0, sizeof *builder);
    memset(log, 0, sizeof *log);
    builder->path                 = path;
    builder->names[ROLE_CASE]     = name_or(columns->case_id, "case:concept:name");
    builder->names[ROLE_ACTIVITY] = name_or(columns->activity, "concept:name");
    builder->names[ROLE_GROUP]    = name_or(columns->group, "org:group");
    builder->names[ROLE_TIME]     = name_or(columns->time, "time:timestamp");
    builder->group_is_required    = columns->group_is_required;
    builder->log                  = log;
    builder->error                = error;
    builder->scratch              = pawl_arena_create(0);
    log->texts                    = pawl_arena_create(0);
    if (builder->scratch == NULL || log->texts == NULL)
        return replay__fail(builder, PAWL_ENOMEM, 0, "out of memory");
    return PAWL_OK;
}

void replay__builder_clear(log_builder *builder)
{
    for (size_t role = 0; role < ROLE_TEXT_COUNT; role++)
        HASH_CLEAR(hh, builder->known[role]);
    pawl_arena_destroy(builder->scratch);
    builder->scratch = NULL;
}

/* ---- Errors ------------------------------------------------------------ */

/* Replaces characters that would break the line or the terminal by '?', so that an error is one clean line. */
static void clean_line(char *text)
{
    size_t size = strlen(text);
    size_t at;
    while (!pawl_text_is_valid((pawl_text){.data = text, .size = size}, &at))
        text[at] = '?';
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7F)
            *c = '?';
}

pawl_code replay__fail(log_builder *builder, pawl_code code, uint64_t line, const char *format, ...)
{
    if (builder->error == NULL)
        return code;
    va_list arguments;
    va_start(arguments, format);
    pawl_error_setv(builder->error, code, format, arguments);
    va_end(arguments);

    /* of a longer path only the end is shown, so that the reason fits */
    enum { PATH_SIZE_MAX = 200 };
    size_t      size = strlen(builder->path);
    bool        fits = size <= PATH_SIZE_MAX;
    const char *path = fits ? builder->path : builder->path + size - PATH_SIZE_MAX;
    const char *dots = fits ? "" : "...";
    if (line != 0)
        pawl_error_wrap(builder->error, code, "%s%s: line %llu", dots, path,
                        (unsigned long long)line);
    else
        pawl_error_wrap(builder->error, code, "%s%s", dots, path);
    clean_line(builder->error->text);
    return code;
}

/* ---- Texts, times, events ---------------------------------------------- */

static size_t character_count(pawl_text text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return count;
}

static pawl_code check_text(log_builder *builder, log_role role, pawl_text text, uint64_t line)
{
    const text_rule *rule = &text_rules[role];
    size_t           at;
    if (!pawl_text_is_valid(text, &at))
        return replay__fail(builder, PAWL_EINPUT, line, "the %s holds %s at byte %zu", rule->what,
                            text.data[at] == '\0' ? "a NUL" : "text that is not UTF-8", at + 1);
    if (role == ROLE_CASE && text.size == 0)
        return replay__fail(builder, PAWL_EINPUT, line, "the event has no case id ('%s' is empty)",
                            builder->names[role]);
    if (text.size > rule->size_max)
        return replay__fail(builder, PAWL_EINPUT, line,
                            "the %s has %zu bytes, over the %zu allowed", rule->what, text.size,
                            rule->size_max);
    if (character_count(text) > rule->characters_max)
        return replay__fail(builder, PAWL_EINPUT, line,
                            "the %s has %zu characters, over the %zu allowed", rule->what,
                            character_count(text), rule->characters_max);
    return PAWL_OK;
}

/* Makes room for one more item; may move the array. */
static void *grow(void *items, size_t count, size_t *capacity, size_t item_size)
{
    if (count < *capacity)
        return items;
    size_t larger = *capacity < 64 ? 64 : *capacity * 2;
    if (larger > SIZE_MAX / 2 / item_size)
        return NULL;
    void *grown = pawl_resize(items, larger * item_size);
    if (grown != NULL)
        *capacity = larger;
    return grown;
}

static void list_of_role(replay_log *log, log_role role, pawl_text ***items, size_t **count)
{
    *items = role == ROLE_CASE ? &log->cases : role == ROLE_GROUP ? &log->groups : &log->activities;
    *count = role == ROLE_CASE    ? &log->case_count
             : role == ROLE_GROUP ? &log->group_count
                                  : &log->activity_count;
}

static known_text *learn(log_builder *builder, log_role role, pawl_text text)
{
    pawl_text **items;
    size_t     *count;
    list_of_role(builder->log, role, &items, &count);
    known_text *entry = pawl_arena_take(builder->scratch, sizeof *entry);
    pawl_text   kept  = pawl_arena_text(builder->log->texts, text);
    pawl_text  *grown = grow(*items, *count, &builder->text_capacities[role], sizeof *grown);
    if (grown != NULL)
        *items = grown;
    if (entry == NULL || kept.data == NULL || grown == NULL)
        return NULL;
    entry->text  = kept;
    entry->index = (uint32_t)*count;
    HASH_ADD_KEYPTR(hh, builder->known[role], kept.data, kept.size, entry);
    if (entry->is_lost)
        return NULL;
    grown[(*count)++] = kept;
    return entry;
}

pawl_code replay__text_index(log_builder *builder, log_role role, pawl_text text, uint64_t line,
                             uint32_t *index)
{
    known_text *entry = NULL;
    const char *bytes = text.data != NULL ? text.data : "";
    HASH_FIND(hh, builder->known[role], bytes, text.size, entry);
    if (entry == NULL) {
        pawl_code code = check_text(builder, role, text, line);
        if (code != PAWL_OK)
            return code;
        entry = learn(builder, role, text);
    }
    if (entry == NULL)
        return replay__fail(builder, PAWL_ENOMEM, line, "out of memory");
    *index = entry->index;
    return PAWL_OK;
}

pawl_code replay__time_of(log_builder *builder, pawl_text text, uint64_t line, pawl_time *time)
{
    if (text.size == 0)
        return replay__fail(builder, PAWL_EINPUT, line, "the event has no time ('%s')",
                            builder->names[ROLE_TIME]);
    pawl_error detail = PAWL_ERROR_INIT;
    if (pawl_time_parse(text, time, &detail) != PAWL_OK)
        return replay__fail(builder, PAWL_EINPUT, line, "bad timestamp: %s", detail.text);
    /* an offset can move a time out of the calendar's range */
    if (*time < PAWL_TIME_MIN || *time > PAWL_TIME_MAX)
        return replay__fail(builder, PAWL_EINPUT, line,
                            "bad timestamp: '%.*s' is not in the years 0001 to 9999 of UTC",
                            PAWL_TEXT_ARGS(text));
    return PAWL_OK;
}

pawl_code replay__event_add(log_builder *builder, replay_event event, uint64_t line)
{
    replay_log *log = builder->log;
    if (log->event_count >= UINT32_MAX)
        return replay__fail(builder, PAWL_EINPUT, line, "more than %lu events",
                            (unsigned long)UINT32_MAX);
    replay_event *grown =
        grow(log->events, log->event_count, &builder->event_capacity, sizeof *grown);
    if (grown == NULL)
        return replay__fail(builder, PAWL_ENOMEM, line, "out of memory");
    event.order               = (uint32_t)log->event_count;
    log->events               = grown;
    grown[log->event_count++] = event;
    return PAWL_OK;
}

/* ---- Buffers ----------------------------------------------------------- */

bool replay__buffer_append(log_buffer *buffer, const char *data, size_t size)
{
    if (buffer->capacity - buffer->size < size) {
        size_t larger = buffer->capacity < 128 ? 128 : buffer->capacity * 2;
        if (larger < buffer->size + size)
            larger = buffer->size + size;
        char *grown = pawl_resize(buffer->data, larger);
        if (grown == NULL)
            return false;
        buffer->data     = grown;
        buffer->capacity = larger;
    }
    if (size != 0)
        memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return true;
}

pawl_text replay__buffer_text(const log_buffer *buffer)
{
    return (pawl_text){.data = buffer->data, .size = buffer->size};
}
