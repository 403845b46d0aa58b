/* worker.c - `pawl worker list`: the workers, their leases and their counts.
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

typedef struct worker_row {
    pawl_worker_info info;
    pawl__text_list  leads;
} worker_row;

#define WORKER(key, kind, member, heading)                                                      \
    {                                                                                           \
        key, PAWL__COLUMN_##kind, offsetof(worker_row, member), heading, PAWL__LEVEL_LIST, NULL \
    }
static const pawl__column columns[] = {
    WORKER("id", ID, info.id, "id"),
    WORKER("endpoint", TEXT, info.endpoint, "endpoint"),
    WORKER("pid", NUMBER, info.pid, "pid"),
    WORKER("epoch", COUNT, info.epoch, "epoch"),
    WORKER("leads", LIST, leads, "leads"),
    WORKER("messages", COUNT, info.counters.messages, "handled"),
    WORKER("timeouts", COUNT, info.counters.timeouts, NULL),
    WORKER("flushes", COUNT, info.counters.flushes, NULL),
    WORKER("failures", COUNT, info.counters.failures, "failures"),
    WORKER("conflicts", COUNT, info.counters.conflicts, "conflicts"),
    WORKER("dead", COUNT, info.counters.dead, "dead letters"),
    WORKER("seen", TIME, info.seen, "last seen"),
    WORKER("types", JSON, info.types, NULL),
    {.key = NULL},
};
const pawl__report pawl__worker_verb_reports[] = {{"list", columns, NULL}, {.what = NULL}};

typedef struct lead_rows {
    pawl_lead_row *items;
    size_t         count;
    bool           is_known; /* false: the store has no list of leases */
} lead_rows;

/* Takes the leases of one worker. */
static pawl_code take_leads(const lead_rows *leads, pawl_arena *arena, worker_row *row)
{
    pawl_text *names = pawl_arena_take(arena, (leads->count + 1) * sizeof *names);
    row->leads       = (pawl__text_list){.items = names};
    if (names == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < leads->count; i++)
        if (pawl_uuid_compare(leads->items[i].worker.uuid, row->info.id.uuid) == 0)
            names[row->leads.count++] = leads->items[i].name;
    return PAWL_OK;
}

static pawl_code make_rows(const pawl_worker_info *items, size_t *count, const char *endpoint,
                           const lead_rows *leads, pawl_arena *arena, worker_row **rows,
                           pawl_error *error)
{
    size_t      kept = 0;
    pawl_code   code = PAWL_OK;
    worker_row *made = pawl_arena_take(arena, (*count + 1) * sizeof *made);
    for (size_t i = 0; made != NULL && code == PAWL_OK && i < *count; i++) {
        if (endpoint != NULL && !pawl_text_equal(items[i].endpoint, pawl_text_of(endpoint)))
            continue;
        made[kept] = (worker_row){.info = items[i]};
        if (leads->is_known)
            code = take_leads(leads, arena, &made[kept]);
        kept++;
    }
    *rows  = made;
    *count = kept;
    return made != NULL && code == PAWL_OK
               ? PAWL_OK
               : pawl_error_set(error, PAWL_ENOMEM, "out of memory for the answer");
}

static pawl_code list(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields *fields = context;
    pawl_worker_info  *items  = NULL;
    worker_row        *rows   = NULL;
    size_t             count  = 0;
    lead_rows          leads  = {.is_known = true};
    pawl_time          now    = pawl_clock_now(NULL);
    pawl_code          code   = pawl_store_worker_list(store, arena, &items, &count, error);
    if (code == PAWL_OK)
        code = pawl_store_lead_list(store, now, arena, &leads.items, &leads.count, error);
    leads.is_known = code != PAWL_EUNSUPPORTED;
    if (!leads.is_known)
        code = PAWL_OK;
    if (code == PAWL_OK)
        code = make_rows(items, &count, fields->endpoint, &leads, arena, &rows, error);
    if (code != PAWL_OK)
        return code;
    pawl__view view = {.columns  = columns,
                       .noun     = "worker",
                       .row_size = sizeof *rows,
                       .is_json  = fields->is_json,
                       .now      = now,
                       .arena    = arena,
                       .out      = stdout};
    if (count == 0 && !fields->is_json)
        fputs(fields->endpoint == NULL ? "no worker is alive\n"
                                       : "no worker of this endpoint is alive\n",
              stderr);
    return pawl__rows_print(&view, rows, count, error);
}

int pawl__worker_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields = {.action = NULL};
    pawl_error  error  = PAWL_ERROR_INIT;
    pawl_code   code = pawl__options_parse(verb->name, verb->arguments, verb->options, count, words,
                                           &fields, &error);
    /* An empty filter is refused: a sender's endpoint is empty. */
    pawl__interrupt_says(NULL);
    if (code == PAWL_OK)
        code = pawl__filter_check("--endpoint", fields.endpoint, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    return pawl__store_look(&fields.at, list, &fields);
}
