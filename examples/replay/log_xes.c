/* log_xes.c - reads XES through expat.
 *
 *     depth 1   log
 *     depth 2     trace               global, classifier, extension: skipped
 *     depth 3       string key value    the trace's own attributes
 *     depth 3       event
 *     depth 4         string key value    the event's own attributes
 *     depth 5           ...                 attributes of attributes: skipped
 *
 * A trace may have its attributes after its events, so they are copied into the events at the end of the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log_build.h"

#include <expat.h>
#include <string.h>

#define CASE_PREFIX "case:"

typedef struct xes_value {
    log_buffer text;
    uint64_t   line;
    bool       is_there;
} xes_value;

typedef struct xes_reader {
    log_builder *builder;
    XML_Parser   parser;
    pawl_code    code; /* of the first failure in a handler; parsing stops there */
    size_t       depth;
    bool         is_in_trace;
    bool         is_in_event;
    bool         is_group_seen;
    uint64_t     trace_line;
    uint64_t     event_line;
    size_t       trace_begin; /* index of the trace's first event */
    uint64_t     fed_size;
    const char  *keys[ROLE_COUNT]; /* the names without CASE_PREFIX */
    bool         is_of_trace[ROLE_COUNT];
    xes_value    values[ROLE_COUNT];
} xes_reader;

static uint64_t line_of(const xes_reader *xes)
{
    return XML_GetCurrentLineNumber(xes->parser);
}

/* Keeps the first failure, as expat may call handlers after a stop. */
static void stop_on(xes_reader *xes, pawl_code code)
{
    if (code == PAWL_OK || xes->code != PAWL_OK)
        return;
    xes->code = code;
    XML_StopParser(xes->parser, XML_FALSE);
}

static void refuse(xes_reader *xes, const char *what)
{
    stop_on(xes, replay__fail(xes->builder, PAWL_EINPUT, line_of(xes), "%s", what));
}

/* ---- Attributes -------------------------------------------------------- */

static const char *find_attribute(const XML_Char **attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static void forget_values(xes_reader *xes, bool is_of_trace)
{
    for (size_t role = 0; role < ROLE_COUNT; role++)
        if (xes->is_of_trace[role] == is_of_trace) {
            xes->values[role].text.size = 0;
            xes->values[role].is_there  = false;
        }
}

static pawl_code take_attribute(xes_reader *xes, const XML_Char **attributes)
{
    const char *key   = find_attribute(attributes, "key");
    const char *value = find_attribute(attributes, "value");
    if (key == NULL || value == NULL)
        return PAWL_OK;
    for (size_t role = 0; role < ROLE_COUNT; role++) {
        xes_value *kept = &xes->values[role];
        if (xes->is_of_trace[role] == xes->is_in_event || strcmp(xes->keys[role], key) != 0)
            continue;
        kept->text.size = 0;
        kept->line      = line_of(xes);
        kept->is_there  = true;
        xes->is_group_seen |= role == ROLE_GROUP;
        if (!replay__buffer_append(&kept->text, value, strlen(value)))
            return replay__fail(xes->builder, PAWL_ENOMEM, kept->line, "out of memory");
    }
    return PAWL_OK;
}

/* ---- Events and traces ------------------------------------------------- */

static pawl_code value_index(xes_reader *xes, log_role role, uint64_t line, uint32_t *index)
{
    const xes_value *value = &xes->values[role];
    return replay__text_index(xes->builder, role, replay__buffer_text(&value->text),
                              value->is_there ? value->line : line, index);
}

static pawl_code end_event(xes_reader *xes)
{
    replay_event     event = {0};
    const xes_value *time  = &xes->values[ROLE_TIME];
    pawl_code        code  = replay__time_of(xes->builder, replay__buffer_text(&time->text),
                                     time->is_there ? time->line : xes->event_line, &event.time);
    if (code == PAWL_OK)
        code = value_index(xes, ROLE_ACTIVITY, xes->event_line, &event.activity_index);
    if (code == PAWL_OK && !xes->is_of_trace[ROLE_GROUP])
        code = value_index(xes, ROLE_GROUP, xes->event_line, &event.group_index);
    return code == PAWL_OK ? replay__event_add(xes->builder, event, xes->event_line) : code;
}

/* Ignores a trace without events: it is not a case. */
static pawl_code end_trace(xes_reader *xes)
{
    replay_log *log         = xes->builder->log;
    uint32_t    case_index  = 0;
    uint32_t    group_index = 0;
    if (xes->trace_begin == log->event_count)
        return PAWL_OK;
    if (!xes->values[ROLE_CASE].is_there)
        return replay__fail(xes->builder, PAWL_EINPUT, xes->trace_line,
                            "the trace has no case id (no attribute '%s')", xes->keys[ROLE_CASE]);
    pawl_code code = value_index(xes, ROLE_CASE, xes->trace_line, &case_index);
    if (code == PAWL_OK && xes->is_of_trace[ROLE_GROUP])
        code = value_index(xes, ROLE_GROUP, xes->trace_line, &group_index);
    for (size_t i = xes->trace_begin; code == PAWL_OK && i < log->event_count; i++) {
        log->events[i].case_index = case_index;
        if (xes->is_of_trace[ROLE_GROUP])
            log->events[i].group_index = group_index;
    }
    return code;
}

static void begin_trace(xes_reader *xes)
{
    xes->is_in_trace = true;
    xes->trace_line  = line_of(xes);
    xes->trace_begin = xes->builder->log->event_count;
    forget_values(xes, true);
}

static void begin_event(xes_reader *xes)
{
    xes->is_in_event = true;
    xes->event_line  = line_of(xes);
    forget_values(xes, false);
}

/* ---- Elements ---------------------------------------------------------- */

/* Ignores a prefix, which some writers use: xes:event. */
static bool is_named(const char *element, const char *name)
{
    const char *colon = strchr(element, ':');
    return strcmp(colon != NULL ? colon + 1 : element, name) == 0;
}

static void on_start(void *context, const XML_Char *element, const XML_Char **attributes)
{
    xes_reader *xes = context;
    if (xes->code != PAWL_OK)
        return;
    xes->depth++;
    if (xes->depth > REPLAY_XML_DEPTH_MAX)
        refuse(xes, "elements are nested too deeply for an event log");
    else if (xes->depth == 1 && !is_named(element, "log"))
        stop_on(xes, replay__fail(xes->builder, PAWL_EINPUT, line_of(xes),
                                  "this is XML but no XES log: it begins with <%.100s>", element));
    else if (xes->depth == 2 && is_named(element, "trace"))
        begin_trace(xes);
    else if (xes->depth == 2 && is_named(element, "event"))
        refuse(xes, "the event is outside of a trace, so it has no case");
    else if (xes->depth == 3 && xes->is_in_trace && is_named(element, "event"))
        begin_event(xes);
    else if ((xes->depth == 3 && xes->is_in_trace) || (xes->depth == 4 && xes->is_in_event))
        stop_on(xes, take_attribute(xes, attributes));
}

static void on_end(void *context, const XML_Char *element)
{
    xes_reader *xes = context;
    (void)element;
    if (xes->code != PAWL_OK)
        return;
    if (xes->depth == 3 && xes->is_in_event) {
        stop_on(xes, end_event(xes));
        xes->is_in_event = false;
    } else if (xes->depth == 2 && xes->is_in_trace) {
        stop_on(xes, end_trace(xes));
        xes->is_in_trace = false;
    }
    xes->depth--;
}

/* ---- The reader -------------------------------------------------------- */

static void *xml_allocate(size_t size)
{
    return pawl_resize(NULL, size != 0 ? size : 1);
}

static void *xml_resize(void *memory, size_t size)
{
    return pawl_resize(memory, size != 0 ? size : 1);
}

static void set_keys(xes_reader *xes)
{
    size_t prefix_size = strlen(CASE_PREFIX);
    for (size_t role = 0; role < ROLE_COUNT; role++) {
        const char *name       = xes->builder->names[role];
        bool        has_prefix = strncmp(name, CASE_PREFIX, prefix_size) == 0;
        bool        may_be     = role == ROLE_CASE || role == ROLE_GROUP;
        xes->keys[role]        = has_prefix && may_be ? name + prefix_size : name;
        xes->is_of_trace[role] = role == ROLE_CASE || (has_prefix && may_be);
    }
}

static pawl_code open_xes(log_builder *builder, void **reader)
{
    static const XML_Memory_Handling_Suite memory = {xml_allocate, xml_resize, pawl_free};
    xes_reader                            *made   = pawl_allocate(sizeof *made);
    *reader                                       = made;
    if (made != NULL)
        made->parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    if (made == NULL || made->parser == NULL)
        return replay__fail(builder, PAWL_ENOMEM, 0, "out of memory");
    made->builder = builder;
    set_keys(made);
    XML_SetUserData(made->parser, made);
    XML_SetElementHandler(made->parser, on_start, on_end);
    return PAWL_OK;
}

static void close_xes(void *reader)
{
    xes_reader *xes = reader;
    if (xes == NULL)
        return;
    if (xes->parser != NULL)
        XML_ParserFree(xes->parser);
    for (size_t role = 0; role < ROLE_COUNT; role++)
        pawl_free(xes->values[role].text.data);
    pawl_free(xes);
}

static pawl_code xml_failure(xes_reader *xes, bool is_final)
{
    enum XML_Error problem = XML_GetErrorCode(xes->parser);
    if (xes->code != PAWL_OK)
        return xes->code;
    if (problem == XML_ERROR_NO_MEMORY)
        return replay__fail(xes->builder, PAWL_ENOMEM, line_of(xes), "out of memory");
    return replay__fail(xes->builder, PAWL_EINPUT, line_of(xes), "%s: %s",
                        is_final ? "the XML ends before the log does" : "malformed XML",
                        XML_ErrorString(problem));
}

/* Limits the size of an element that is not complete: expat parses it again with each piece. */
static pawl_code check_pending(xes_reader *xes)
{
    XML_Index at = XML_GetCurrentByteIndex(xes->parser);
    if (at < 0 || xes->fed_size - (uint64_t)at <= 2 * REPLAY_VALUE_SIZE_MAX)
        return PAWL_OK;
    return replay__fail(xes->builder, PAWL_EINPUT, line_of(xes),
                        "an XML element or comment is longer than the %zu bytes allowed",
                        2 * REPLAY_VALUE_SIZE_MAX);
}

static pawl_code feed_xes(void *reader, const char *data, size_t size)
{
    xes_reader *xes = reader;
    xes->fed_size += size;
    if (XML_Parse(xes->parser, data, (int)size, 0) != XML_STATUS_OK)
        return xml_failure(xes, false);
    return check_pending(xes);
}

static pawl_code finish_xes(void *reader)
{
    xes_reader *xes = reader;
    if (XML_Parse(xes->parser, "", 0, 1) != XML_STATUS_OK)
        return xml_failure(xes, true);
    if (xes->builder->group_is_required && !xes->is_group_seen &&
        xes->builder->log->event_count != 0)
        return replay__fail(xes->builder, PAWL_EINPUT, 0, "no event has an attribute '%s'",
                            xes->builder->names[ROLE_GROUP]);
    return PAWL_OK;
}

const log_format replay__xes = {
    .open = open_xes, .feed = feed_xes, .finish = finish_xes, .close = close_xes};
