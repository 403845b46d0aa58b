/* otlp_answer.c - answers of a collector, in JSON:
 *
 *     {"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}     with status 200
 *     {"code":3,"message":"no tenant"}                                      with others
 *
 * A proxy in front of it may answer anything. An unexpected answer is no error here, as the export is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/observe/otlp.h"

#include "record/record_internal.h"

#include <stdlib.h>

/* Reads the answer; NULL: no JSON, or no memory. */
static yyjson_val *read(pawl_text answer, pawl_arena *arena)
{
    yyjson_doc *doc = NULL;
    return pawl__json_read(answer, arena, &doc, NULL) == PAWL_OK ? yyjson_doc_get_root(doc) : NULL;
}

static pawl_text text_at(yyjson_val *object, const char *key)
{
    return pawl_text_of(yyjson_get_str(yyjson_obj_get(object, key)));
}

/* Reads a count: the protocol writes numbers of 64 bits as text, and allows plain numbers. */
static int64_t count_at(yyjson_val *object, const char *key)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    double      count = yyjson_is_str(value) ? (double)strtoll(yyjson_get_str(value), NULL, 10)
                                             : yyjson_get_num(value);
    if (count < 0)
        return 0;
    return count < PAWL__REJECTED_MAX ? (int64_t)count : PAWL__REJECTED_MAX;
}

pawl__otlp_partial pawl__otlp_accepted(pawl_observe_signal signal, pawl_text answer,
                                       pawl_arena *arena)
{
    static const char *const counts[] = {"rejectedSpans", "rejectedDataPoints"};
    yyjson_val              *partial  = yyjson_obj_get(read(answer, arena), "partialSuccess");
    return (pawl__otlp_partial){count_at(partial, counts[signal]),
                                text_at(partial, "errorMessage")};
}

pawl_text pawl__otlp_refused(pawl_text answer, pawl_arena *arena)
{
    pawl_text message = text_at(read(answer, arena), "message");
    return message.size > 0 ? message : answer;
}
