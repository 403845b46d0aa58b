/* fuzz_headers.c - headers, traces, versions and histories of messages, as a store may have them.
 *
 * Input: a line with a name, a line with a value, the rest is the JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

#include "engine/headers.h"
#include "engine/history_marker.h"

#include <string.h>

static void check_headers(pawl_text headers, const char *name, pawl_text value, pawl_arena *arena)
{
    const char *const names[] = {name, NULL};
    pawl_text         made, without, merged, found;
    FUZZ_CHECK(pawl__headers_value(headers, pawl_text_of(name), arena, &found) == PAWL_OK);
    FUZZ_CHECK(pawl__headers_without(headers, names, arena, &without) == PAWL_OK);
    FUZZ_CHECK(pawl__headers_value(without, pawl_text_of(name), arena, &found) == PAWL_OK);
    FUZZ_CHECK(found.data == NULL && fuzz_is_json(without));
    FUZZ_CHECK(pawl__headers_set(headers, name, value, arena, &made) == PAWL_OK);
    FUZZ_CHECK(pawl__headers_value(made, pawl_text_of(name), arena, &found) == PAWL_OK);
    FUZZ_CHECK(value.size == 0 || pawl_text_equal(found, value));
    FUZZ_CHECK(pawl__headers_merge(headers, made, arena, &merged) == PAWL_OK);
    FUZZ_CHECK(fuzz_is_json(merged));
    (void)pawl__headers_may_have(headers, name);
}

static void check_trace(pawl_text text)
{
    char        made[PAWL__TRACE_TEXT_SIZE + 1];
    pawl__trace trace, again;
    if (!pawl__trace_parse(text, &trace))
        return;
    pawl__trace_format(&trace, made);
    FUZZ_CHECK(pawl__trace_parse(pawl_text_of(made), &again));
    FUZZ_CHECK(memcmp(&trace.span_id, &again.span_id, sizeof again.span_id) == 0);
}

static void check_history(pawl_text history, pawl_arena *arena)
{
    const pawl__history_marker stamp = {
        .worker = {{1}}, .epoch = 3, .pid = 77, .at = PAWL_SECONDS(1)};
    pawl__history_marker found;
    pawl_text            made = pawl__history_marker_add(arena, history, &stamp);
    (void)pawl__history_crashes(arena, history);
    (void)pawl__history_last_error(arena, history);
    (void)pawl__history_marker_remove(arena, history);
    (void)pawl__history_marker_to_crash(arena, history, PAWL_TEXT("died"));
    (void)pawl__history_marker_read(arena, history, &found);
    if (made.data == NULL)
        return;
    FUZZ_CHECK(fuzz_is_json(made));
    FUZZ_CHECK(pawl__history_marker_read(arena, made, &found) && found.epoch == stamp.epoch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input  in      = {data, size};
    pawl_arena *arena   = fuzz_arena();
    pawl_text   name    = fuzz_line(&in);
    pawl_text   value   = fuzz_line(&in);
    pawl_text   json    = fuzz_rest(&in);
    int         version = 0;
    check_trace(value);
    if (pawl_text_is_valid(name, NULL) && pawl_text_is_valid(value, NULL))
        check_headers(json, fuzz_string(name, arena), value, arena);
    const pawl_message message = {.type = name, .headers = json, .body = json};
    (void)pawl__version_of(&message, name, arena, &version, NULL);
    check_history(json, arena);
    pawl_arena_destroy(arena);
    return 0;
}
