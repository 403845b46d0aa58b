/* model.h - an application's tables, checked and made ready for look-ups.
 *
 * Built when an endpoint is created, and constant afterwards, so that any thread may read it. All of it lives in one
 * arena.
 *
 *     message type -> bindings (saga, plain, aggregator handlers)
 *     (saga, timeout name) -> binding
 *
 * Tests: tests/unit/workflow/test_model.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_WORKFLOW_MODEL_H
#define PAWL_WORKFLOW_MODEL_H

#include "base/text.h"
#include "pawl/application.h"
#include "pawl/endpoint.h"
#include "pawl/limits.h"
#include "pawl/process.h"
#include "pawl/record.h"
#include "pawl/saga_rows.h"

#include <string.h>

#define PAWL__BASES_MAX 16 /* base types of a message type; further ones are ignored */
#define PAWL__AGGREGATOR_SIZE_DEFAULT 10 /* E17 */
#define PAWL__AGGREGATOR_LEASE_DEFAULT PAWL_MINUTES(5)
#define PAWL__AGGREGATOR_ATTEMPTS_DEFAULT 10

/* The function that folds an event into the state. */
typedef struct pawl__apply_model {
    pawl_text          type;
    const pawl_record *event;
    pawl_apply_fn     *call;
} pawl__apply_model;

/* Kinds of answer to a command that a saga or process sent, as bits. */
typedef enum pawl__answer_kind {
    PAWL__ANSWER_NONE     = 0,
    PAWL__ANSWER_ACCEPTED = 1,
    PAWL__ANSWER_REJECTED = 2,
} pawl__answer_kind;

/* Fields of a process or an entity that sagas do not have. */
typedef struct pawl__stream_model {
    bool               is_entity;
    pawl__apply_model *applies; /* sorted bytewise by type */
    size_t             apply_count;
    int64_t            snapshot_every;
    size_t             remembered; /* number of dispatch ids that a stream keeps */
} pawl__stream_model;

/* A saga, a process or an entity. The state of the last two is computed from the events of a stream; their `saga` and
 * `table` contain only the name and the type of the key. */
typedef struct pawl__saga_model {
    const pawl_saga          *saga;
    const pawl__stream_model *stream; /* NULL: a saga */
    const pawl_record        *state;
    pawl_saga_table           table;
    pawl_text                 type_version; /* of the state's record: "1.0" */
    pawl_text                 metadata; /* members of a new row's metadata besides its originator */
    size_t                    index;    /* among the endpoint's sagas */
    pawl_state_format  format; /* writes states, and reads those that no format of `older` is for */
    pawl_state_format *older;  /* sorted by `below` */
    size_t             older_count;
    unsigned answers; /* bits of the answers that have a handler; each command requests them */
} pawl__saga_model;

/* A projection's handler for an event type. */
typedef struct pawl__projection_on {
    pawl_text           type;
    const pawl_handler *handler;
    const pawl_record  *event;
} pawl__projection_on;

typedef struct pawl__projection_model {
    pawl_text            name;
    pawl_text            source; /* "projection/NAME": of its lease, checkpoint and messages */
    pawl__projection_on *on;     /* sorted bytewise by type */
    size_t               on_count;
    bool                 own_sql;
    pawl_code (*reset)(pawl_context *ctx); /* or NULL */
    size_t             batch;
    const pawl_effect *does; /* NULL: effects are not declared; the same in the structs below */
} pawl__projection_model;

typedef struct pawl__aggregator_model {
    const pawl_aggregator *aggregator;
    const pawl_record     *message;
    pawl_text              name;
    pawl_text              type; /* of the message */
    pawl_text         *types; /* types of the rows that it collects: its own, then derived ones */
    size_t             type_count;
    int64_t            size, max, period, lease;
    int32_t            attempts_max;
    bool               own_sql;
    const pawl_effect *does;
} pawl__aggregator_model;

typedef enum pawl__binding_kind {
    PAWL__BINDING_SAGA,
    PAWL__BINDING_PLAIN,
    PAWL__BINDING_AGGREGATOR,
} pawl__binding_kind;

/* One handler for one message type, or for one timeout. */
typedef struct pawl__binding {
    pawl__binding_kind            kind;
    const pawl_handler           *handler;
    const pawl_record            *message; /* NULL for a timeout */
    const pawl__saga_model       *saga;
    const pawl__aggregator_model *aggregator;
    const char                   *key;
    const char                   *transitional_key;
    pawl__answer_kind   answer; /* an answer: a header names the saga, so there is no key */
    bool                starts;
    bool                zero_is_key; /* of a stream's key: 0 is a key, not a missing value */
    bool                is_alone;    /* runs alone: own SQL, own finder or pessimistic */
    bool                has_sql;     /* a transaction is open while it runs */
    pawl_not_found      not_found;
    const pawl_handler *missing;
    pawl_find_fn       *find;
    const pawl_effect  *does;
} pawl__binding;

typedef struct pawl__type_model {
    pawl_text             type;
    const pawl_record    *record;
    const pawl__binding **bindings; /* of this type only; base types have lists of their own */
    size_t                count;
    size_t                capacity;
} pawl__type_model;

typedef struct pawl__timeout_model {
    const pawl__saga_model *saga;
    pawl_text               name;
    const pawl__binding    *binding;
} pawl__timeout_model;

/* A schedule of the endpoint's table. Its row in the store is found by the name `row`. */
typedef struct pawl__schedule_model {
    pawl_schedule      schedule;
    const pawl_record *message;
    pawl_text          name;
    pawl_text          row;  /* "QUEUE/NAME" */
    pawl_text          body; /* of each message */
} pawl__schedule_model;

typedef struct pawl__model {
    pawl_arena               *arena;
    const pawl_application   *application;
    const pawl_endpoint_spec *spec;
    pawl_text                 endpoint;
    pawl_text                 queue;
    pawl__saga_model         *sagas; /* the sagas, then processes and entities */
    size_t                    saga_count;
    const pawl_saga_table   **tables; /* of the sagas only */
    size_t                    table_count;
    pawl__projection_model   *projections;
    size_t                    projection_count;
    pawl__aggregator_model   *aggregators;
    size_t                    aggregator_count;
    pawl_text                *aggregator_names;
    pawl__timeout_model      *timeouts;
    size_t                    timeout_count;
    pawl__schedule_model     *schedules;
    size_t                    schedule_count;
    pawl__type_model        **types; /* sorted bytewise by type */
    size_t                    type_count, type_capacity;
    const char *own_sql;    /* a message or timeout whose handler has its own SQL, or NULL */
    pawl_text   types_json; /* JSON array of what the endpoint handles, for the worker's row */
    pawl_filter filters[PAWL_FILTERS_MAX];
    size_t      filter_count;
} pawl__model;

/* PAWL_ECONFIG names the saga or aggregator and what is wrong (D3,
 * D32, E32, S19, S29). `name` NULL: the only endpoint. `saga_prefix` NULL: the
 * default of D2. */
pawl_code pawl__model_create(const pawl_application *application, const char *name,
                             const char *saga_prefix, pawl__model **model, pawl_error *error);
void      pawl__model_destroy(pawl__model *model); /* accepts NULL */

/* Index of the first type that sorts at or after `type`. */
size_t pawl__model_type_index(const pawl__model *model, pawl_text type);
/* NULL when the type is not handled here. */
const pawl__type_model *pawl__model_type(const pawl__model *model, pawl_text type);
/* Name of a timeout in a worker's list of types: printed with the saga's type and the timeout's name. */
#define PAWL__TIMEOUT_TYPE "timeout:%.*s/%.*s"
/* Name of a schedule in that list: printed with its name. */
#define PAWL__SCHEDULE_TYPE "schedule:%.*s"
/* Name in that list of an event that a projection handles: printed with the names of projection and type. */
#define PAWL__PROJECTION_TYPE "projection:%.*s/%.*s"
/* Behind that name and a blank in an entry of its own: the first and the last version of the event that the program reads. A program
 * without this entry reads version 1. */
#define PAWL__VERSIONS "%d-%d"
/* Does the list of types in a worker's row contain the name, which is given in quotes? */
static inline bool pawl__types_list(pawl_text types, pawl_text quoted)
{
    return types.data != NULL && strstr(types.data, quoted.data) != NULL;
}
#define PAWL__MISSED_DEFAULT 100 /* for PAWL_MISSED_ALL without .missed_max */
const pawl__binding          *pawl__model_timeout(const pawl__model *model, pawl_text saga_type,
                                                  pawl_text name);
const pawl__saga_model       *pawl__model_saga(const pawl__model *model, pawl_text saga_type);
const pawl__aggregator_model *pawl__model_aggregator(const pawl__model *model, pawl_text name);

/* NULL when the endpoint's table has no schedule of the name. */
const pawl__schedule_model *pawl__model_schedule(const pawl__model *model, pawl_text name);
/* Does the endpoint claim timeouts with its messages? */
bool pawl__model_has_timeouts(const pawl__model *model);

/* "saga", "process" or "entity". */
const char *pawl__model_kind(const pawl__saga_model *saga);

/* NULL when the stream has no function that applies the event. */
const pawl__apply_model *pawl__model_apply(const pawl__stream_model *stream, pawl_text type);
/* NULL when the projection has no handler for events of the type. */
const pawl__projection_on *pawl__model_projection_on(const pawl__projection_model *projection,
                                                     pawl_text                     type);

/* Is the type a base of the record, directly or through others? */
bool pawl__record_is_derived(const pawl_record *record, pawl_text type);

/* Copies row `index` of a table in which the application's rows have `stride` bytes each. Fields that an older,
 * smaller row does not have become zero. */
void pawl__table_row(const void *rows, size_t index, uint32_t stride, void *row, size_t size);

/* Copies route `index` of the options' list, with the row size that the options give. False: the list is shorter. */
bool pawl__route_at(const pawl_endpoint_options *options, size_t index, pawl_route *route);
/* NULL: none of the routes has the name. */
const pawl_route *pawl__route_named(const pawl_route *routes, size_t count, const char *name);

/* Does the row have a member that finds the message's saga, or says what to do without one? Rows of timeouts, of
 * handlers without state and of projections must have none. */
bool pawl__row_finds_saga(const pawl_on *row);
#define PAWL__FINDING_MEMBERS                                                \
    "one of .key, .transitional_key, .starts, .find, .not_found, .missing, " \
    "which a message to a saga alone has"

/* Number of pointers before the NULL that ends the list; 0 when the list itself is NULL. */
size_t pawl__list_count(const void *list);

/* Was the handler made for the state of a stream? False in older programs, which have no streams. */
bool pawl__handler_is_folded(const pawl_application *application, const pawl_handler *handler);
/* The name of the handler's function; NULL in older programs, which do not give it. */
const char *pawl__handler_name(const pawl_application *application, const pawl_handler *handler);
/* The program's own version; NULL when it gives none, as older programs do. */
const char *pawl__application_version(const pawl_application *application);

/* formats.c: checks and reads the formats in which the saga's states are written and read. */
pawl_code pawl__model_formats(pawl__model *model, pawl__saga_model *made, pawl_error *error);

/* streams.c: builds the model's processes, entities and projections. */
pawl_code pawl__model_streams(pawl__model *model, pawl_error *error);

/* aggregators.c: builds the aggregators; called when all other bindings exist. */
pawl_code pawl__model_aggregators(pawl__model *model, pawl_error *error);

/* schedules.c: builds the schedules; called when all message types exist. PAWL_ECONFIG names the schedule and what is
 * wrong. */
pawl_code pawl__model_schedules(pawl__model *model, pawl_error *error);

/* effects.c: checks the declared effects; called last but one. PAWL_ECONFIG names the row's owner and the effect. */
pawl_code pawl__model_effects(const pawl__model *model, pawl_error *error);
/* Reads effect `index` of a row's list `does`; false at the list's end. */
bool pawl__effect_row(const pawl_application *application, const pawl_effect *does, size_t index,
                      pawl_effect *effect);
/* Does `does` declare the effect? `type` NULL: a timeout. `name` is the name of the destination or of the timeout. */
bool pawl__effect_is_declared(const pawl_application *application, const pawl_effect *does,
                              pawl_effect_kind kind, const char *type, const char *name);

/* names.c: sets types_json from messages, timeouts, schedules and events of projections; called last. PAWL_ENOMEM. */
pawl_code pawl__model_types_json(pawl__model *model);

/* Shared by model.c, aggregators.c and streams.c. */
pawl_code pawl__model_bind(pawl__model *model, const pawl_record *record,
                           const pawl__binding *binding, pawl_error *error);
pawl_code pawl__model_rows(pawl__model *model, pawl__saga_model *saga, pawl_error *error);
/* The kind of answer that a row handles; NONE for other messages. A row for an answer has no .key. */
pawl__answer_kind pawl__model_answer(const pawl__saga_model *saga, const pawl_on *row,
                                     const pawl_record *message);
/* Checks a row of a process or an entity that has a message. */
pawl_code pawl__model_stream_row(const pawl__saga_model *saga, const pawl_on *row,
                                 const pawl_record *message, pawl_error *error);
/* Can the message's key field, of a process or an entity, tell 0 from a missing value? */
bool      pawl__model_zero_is_key(const pawl__saga_model *saga, const pawl_record *message,
                                  const char *key);
size_t    pawl__model_row_count(const pawl__model *model, const pawl_on *rows);
pawl_code pawl__model_unique(const pawl__model *model, const pawl__saga_model *made,
                             pawl_error *error);

/* Finds the endpoint of that name, or the only one when `name` is NULL. */
pawl_code pawl__application_endpoint(const pawl_application *application, const char *name,
                                     const pawl_endpoint_spec **spec, pawl_error *error);

#endif
