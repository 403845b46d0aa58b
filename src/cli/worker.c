/* worker.c - `pawl worker list`: who is alive and what it did.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

typedef struct verb_fields {
    pawl__store_fields at;
    const char        *action;
    const char        *endpoint;
    bool               is_json;
} verb_fields;

static const char *const action_names[] = {"list", NULL};

const pawl__argument pawl__worker_verb_arguments[] = {
    {.name = "ACTION", .offset = offsetof(verb_fields, action), .choices = action_names},
    {.name = NULL},
};
const pawl__option pawl__worker_verb_options[] = {
    PAWL__OPTION_DEADLINE(verb_fields, at),
    {.name   = "endpoint",
     .kind   = PAWL__OPTION_TEXT,
     .offset = offsetof(verb_fields, endpoint),
     .value  = "NAME",
     .help   = "of this endpoint only"},
    {.name   = "json",
     .kind   = PAWL__OPTION_FLAG,
     .offset = offsetof(verb_fields, is_json),
     .help   = "one JSON object on a line each"},
    PAWL__OPTION_PREFIX(verb_fields, at),
    PAWL__OPTION_STORE(verb_fields, at),
    {.name = NULL},
};

#define WORKER(key, kind, member, heading)                                                       \
    {                                                                                            \
        key, PAWL__COLUMN_##kind, offsetof(pawl_worker_info, member), heading, PAWL__LEVEL_LIST, \
            NULL                                                                                 \
    }
static const pawl__column columns[] = {
    WORKER("id", ID, id, "id"),
    WORKER("endpoint", TEXT, endpoint, "endpoint"),
    WORKER("pid", PLACE, pid, "pid"),
    WORKER("epoch", COUNT, epoch, "epoch"),
    WORKER("messages", COUNT, counters.messages, "handled"),
    WORKER("timeouts", COUNT, counters.timeouts, NULL),
    WORKER("flushes", COUNT, counters.flushes, NULL),
    WORKER("failures", COUNT, counters.failures, "failures"),
    WORKER("conflicts", COUNT, counters.conflicts, "conflicts"),
    WORKER("dead", COUNT, counters.dead, "dead letters"),
    WORKER("seen", TIME, seen, "last seen"),
    WORKER("types", JSON, types, NULL),
    {.key = NULL},
};
const pawl__report pawl__worker_verb_reports[] = {{"list", columns}, {NULL, NULL}};

static void keep_endpoint(pawl_worker_info *items, size_t *count, const char *endpoint)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (endpoint == NULL || pawl_text_equal(items[i].endpoint, pawl_text_of(endpoint)))
            items[kept++] = items[i];
    *count = kept;
}

static pawl_code list(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields *fields = context;
    pawl_worker_info  *items  = NULL;
    size_t             count  = 0;
    pawl_code          code   = store->ops->worker_list(store, arena, &items, &count, error);
    if (code != PAWL_OK)
        return code;
    keep_endpoint(items, &count, fields->endpoint);
    pawl__view view = {.columns  = columns,
                       .noun     = "worker",
                       .row_size = sizeof *items,
                       .is_json  = fields->is_json,
                       .now      = pawl_clock_now(NULL),
                       .arena    = arena,
                       .out      = stdout};
    if (count == 0 && !fields->is_json)
        fputs(fields->endpoint == NULL ? "no worker is alive\n"
                                       : "no worker of this endpoint is alive\n",
              stderr);
    return pawl__rows_print(&view, items, count, error);
}

int pawl__worker_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields = {.action = NULL};
    pawl_error  error  = PAWL_ERROR_INIT;
    pawl_code   code = pawl__options_parse(verb->name, verb->arguments, verb->options, count, words,
                                           &fields, &error);
    /* A sender's endpoint is empty. */
    if (code == PAWL_OK)
        code = pawl__filter_check("--endpoint", fields.endpoint, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    return pawl__store_look(&fields.at, list, &fields);
}
