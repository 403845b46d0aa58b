/* history_marker.c - in-flight markers in the history of rows; see history_marker.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/history_marker.h"

#include "pawl/store_worker.h"

#include "record/record_internal.h"

#define PROCESS "process"
#define AMONG "among"

static const pawl_text nothing = {.data = NULL, .size = 0};

/* Parses the history; one that another program wrote, and that is no JSON list, counts as empty. NULL: out of memory. */
static yyjson_mut_doc *read_list(pawl_arena *arena, const yyjson_alc *memory, pawl_text history)
{
    yyjson_doc *read = NULL;
    if (history.size > 0 && pawl__json_read(history, arena, &read, NULL) == PAWL_ENOMEM)
        return NULL;
    if (yyjson_is_arr(yyjson_doc_get_root(read)))
        return yyjson_doc_mut_copy(read, memory);
    yyjson_mut_doc *made = yyjson_mut_doc_new(memory);
    if (made != NULL)
        yyjson_mut_doc_set_root(made, yyjson_mut_arr(made));
    return made;
}

static pawl_text write_list(pawl_arena *arena, const yyjson_alc *memory, yyjson_mut_doc *doc)
{
    size_t      size = 0;
    const char *text = yyjson_mut_write_opts(doc, 0, memory, &size, NULL);
    return text != NULL ? pawl_arena_text(arena, (pawl_text){.data = text, .size = size}) : nothing;
}

static int64_t last_number(yyjson_mut_val *list)
{
    return yyjson_mut_get_sint(yyjson_mut_obj_get(yyjson_mut_arr_get_last(list), "attempt"));
}

bool pawl__history_marker_is_supervised(const pawl__history_marker *marker)
{
    static const pawl_uuid zeros = {{0}};
    return pawl_uuid_compare(marker->process, zeros) != 0;
}

pawl_text pawl__history_marker_add(pawl_arena *arena, pawl_text history,
                                   const pawl__history_marker *marker)
{
    char            worker[PAWL_UUID_TEXT_SIZE + 1], at[PAWL_TIME_TEXT_SIZE + 1];
    char            process[PAWL_UUID_TEXT_SIZE + 1];
    yyjson_alc      memory = pawl__json_allocator(arena);
    yyjson_mut_doc *doc    = read_list(arena, &memory, history);
    if (doc == NULL)
        return nothing;
    yyjson_mut_val *list = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *made = yyjson_mut_obj(doc);
    pawl_uuid_format(marker->worker, worker);
    pawl_uuid_format(marker->process, process);
    pawl_time_format(marker->at, at);
    const char *hand = marker->among > 0 ? "in flight, among others" : "in flight, isolated";
    bool        is_whole =
        yyjson_mut_obj_add_sint(doc, made, "attempt", last_number(list) + 1) &&
        yyjson_mut_obj_add_str(doc, made, "at", at) &&
        yyjson_mut_obj_add_str(doc, made, "code", pawl_code_name(PAWL_ECRASHED)) &&
        yyjson_mut_obj_add_str(doc, made, "error", hand) &&
        yyjson_mut_obj_add_str(doc, made, "worker", worker) &&
        yyjson_mut_obj_add_sint(doc, made, "epoch", marker->epoch) &&
        yyjson_mut_obj_add_sint(doc, made, "pid", marker->pid) &&
        (marker->among == 0 || yyjson_mut_obj_add_sint(doc, made, AMONG, marker->among)) &&
        (!pawl__history_marker_is_supervised(marker) ||
         yyjson_mut_obj_add_str(doc, made, PROCESS, process)) &&
        yyjson_mut_arr_append(list, made);
    return is_whole ? write_list(arena, &memory, doc) : nothing;
}

pawl_text pawl__history_marker_remove(pawl_arena *arena, pawl_text history)
{
    yyjson_alc      memory = pawl__json_allocator(arena);
    yyjson_mut_doc *doc    = read_list(arena, &memory, history);
    if (doc == NULL)
        return nothing;
    yyjson_mut_arr_remove_last(yyjson_mut_doc_get_root(doc));
    if (yyjson_mut_arr_size(yyjson_mut_doc_get_root(doc)) == 0)
        return (pawl_text){.data = "", .size = 0};
    return write_list(arena, &memory, doc);
}

pawl_text pawl__history_marker_to_crash(pawl_arena *arena, pawl_text history, pawl_text error)
{
    yyjson_alc      memory = pawl__json_allocator(arena);
    yyjson_mut_doc *doc    = read_list(arena, &memory, history);
    if (doc == NULL)
        return nothing;
    yyjson_mut_val *last = yyjson_mut_arr_get_last(yyjson_mut_doc_get_root(doc));
    yyjson_mut_obj_remove_key(last, "epoch");
    yyjson_mut_obj_remove_key(last, PROCESS);
    yyjson_mut_obj_remove_key(last, "error");
    if (!yyjson_mut_obj_add_strn(doc, last, "error", error.data, error.size))
        return nothing;
    return write_list(arena, &memory, doc);
}

pawl_text pawl__history_last_error(pawl_arena *arena, pawl_text history)
{
    yyjson_doc *doc = NULL;
    if (history.size == 0 || pawl__json_read(history, arena, &doc, NULL) != PAWL_OK)
        return PAWL_TEXT("");
    const char *error =
        yyjson_get_str(yyjson_obj_get(yyjson_arr_get_last(yyjson_doc_get_root(doc)), "error"));
    return error != NULL ? pawl_text_of(error) : PAWL_TEXT("");
}

int32_t pawl__history_crashes(pawl_arena *arena, pawl_text history)
{
    yyjson_doc *doc = NULL;
    if (history.size == 0 || pawl__json_read(history, arena, &doc, NULL) != PAWL_OK)
        return 0;
    yyjson_val *list     = yyjson_doc_get_root(doc);
    bool        is_among = yyjson_obj_get(yyjson_arr_get_last(list), AMONG) != NULL;
    return (int32_t)yyjson_arr_size(list) - is_among;
}

bool pawl__history_marker_read(pawl_arena *arena, pawl_text history, pawl__history_marker *marker)
{
    yyjson_doc *doc = NULL;
    if (history.size == 0 || pawl__json_read(history, arena, &doc, NULL) != PAWL_OK)
        return false;
    yyjson_val *last    = yyjson_arr_get_last(yyjson_doc_get_root(doc));
    yyjson_val *epoch   = yyjson_obj_get(last, "epoch");
    const char *worker  = yyjson_get_str(yyjson_obj_get(last, "worker"));
    const char *at      = yyjson_get_str(yyjson_obj_get(last, "at"));
    const char *process = yyjson_get_str(yyjson_obj_get(last, PROCESS));
    if (epoch == NULL || worker == NULL || at == NULL)
        return false;
    *marker = (pawl__history_marker){.epoch = yyjson_get_sint(epoch),
                                     .pid   = yyjson_get_sint(yyjson_obj_get(last, "pid")),
                                     .among = yyjson_get_sint(yyjson_obj_get(last, AMONG))};
    if (process != NULL &&
        pawl_uuid_parse(pawl_text_of(process), &marker->process, NULL) != PAWL_OK)
        return false;
    return pawl_uuid_parse(pawl_text_of(worker), &marker->worker, NULL) == PAWL_OK &&
           pawl_time_parse(pawl_text_of(at), &marker->at, NULL) == PAWL_OK;
}

bool pawl_worker_in_flight_read(pawl_arena *arena, pawl_text history, pawl_worker_in_flight *marker)
{
    pawl__history_marker found;
    if (!pawl__history_marker_read(arena, history, &found) || found.among > 0)
        return false;
    *marker = (pawl_worker_in_flight){.worker = {found.worker}, .pid = found.pid, .at = found.at};
    return true;
}
