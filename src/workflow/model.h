/* model.h - an application's tables, checked and made ready for look-ups.
 *
 * Built once when an endpoint is created and constant from then on, so any
 * thread may read it. Everything lives in one arena.
 *
 *     message type -> bindings (saga, plain, aggregator handlers)
 *     (saga, timeout name) -> binding
 *
 * Tests: tests/unit/test_model.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_WORKFLOW_MODEL_H
#define PAWL_WORKFLOW_MODEL_H

#include "pawl/application.h"
#include "pawl/limits.h"

#define PAWL__AGGREGATOR_SIZE_DEFAULT 10 /* contracts E17 */
#define PAWL__AGGREGATOR_LEASE_DEFAULT PAWL_MINUTES(5)
#define PAWL__AGGREGATOR_ATTEMPTS_DEFAULT 10

typedef struct pawl__saga_model {
    const pawl_saga   *saga;
    const pawl_record *state;
    pawl_saga_table    table;
    pawl_text          type_version; /* of the state's record: "1.0" */
    pawl_text          metadata;     /* what a new row carries beside its originator */
    size_t             index;        /* among the endpoint's sagas */
} pawl__saga_model;

typedef struct pawl__aggregator_model {
    const pawl_aggregator *aggregator;
    const pawl_record     *message;
    pawl_text              name;
    pawl_text              type; /* of the message */
    int64_t                size, max, period, lease;
    int32_t                attempts_max;
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
    bool                          starts;
    bool                          is_alone; /* own SQL, own finder or a pessimistic saga */
    bool                          has_sql;  /* needs the transaction open while it runs */
    pawl_not_found                not_found;
    const pawl_handler           *missing;
    pawl_find_fn                 *find;
} pawl__binding;

typedef struct pawl__type_model {
    pawl_text             type;
    const pawl_record    *record;
    const pawl__binding **bindings; /* of this very type; base types have their own */
    size_t                count;
    size_t                capacity;
} pawl__type_model;

typedef struct pawl__timeout_model {
    const pawl__saga_model *saga;
    pawl_text               name;
    const pawl__binding    *binding;
} pawl__timeout_model;

typedef struct pawl__model {
    pawl_arena               *arena;
    const pawl_application   *application;
    const pawl_endpoint_spec *spec;
    pawl_text                 endpoint;
    pawl_text                 queue;
    pawl__saga_model         *sagas;
    size_t                    saga_count;
    const pawl_saga_table   **tables; /* of the sagas */
    pawl__aggregator_model   *aggregators;
    size_t                    aggregator_count;
    pawl_text                *aggregator_names;
    pawl__timeout_model      *timeouts;
    size_t                    timeout_count;
    pawl__type_model        **types; /* sorted bytewise by type */
    size_t                    type_count, type_capacity;
    const char *own_sql;    /* a message or timeout whose handler has its own SQL, or NULL */
    pawl_text   types_json; /* JSON array of the types, for the worker's row */
    pawl_filter filters[PAWL_FILTERS_MAX];
    size_t      filter_count;
} pawl__model;

/* PAWL_ECONFIG names the saga or aggregator and what is wrong (contracts D3,
 * D32, E32, S19, S29). `name` NULL: the only endpoint. `saga_prefix` NULL: the
 * default of contracts D2. */
pawl_code pawl__model_create(const pawl_application *application, const char *name,
                             const char *saga_prefix, pawl__model **model, pawl_error *error);
void      pawl__model_destroy(pawl__model *model); /* accepts NULL */

/* NULL when the type is not handled here. */
const pawl__type_model       *pawl__model_type(const pawl__model *model, pawl_text type);
const pawl__binding          *pawl__model_timeout(const pawl__model *model, pawl_text saga_type,
                                                  pawl_text name);
const pawl__saga_model       *pawl__model_saga(const pawl__model *model, pawl_text saga_type);
const pawl__aggregator_model *pawl__model_aggregator(const pawl__model *model, pawl_text name);

/* Row `index` of a table whose rows the application was built with `stride`
 * bytes each. Fields beyond an older, smaller row read as zero. */
void pawl__table_row(const void *rows, size_t index, uint32_t stride, void *row, size_t size);

/* Items of a list of pointers that ends with NULL; 0 for no list. */
size_t pawl__list_count(const void *list);

/* The endpoint of that name, or the only one. */
pawl_code pawl__application_endpoint(const pawl_application *application, const char *name,
                                     const pawl_endpoint_spec **spec, pawl_error *error);
/* ABI number and the sizes of the tables. */
pawl_code pawl__application_check(const pawl_application *application, pawl_error *error);

#endif
