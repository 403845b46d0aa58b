/* test_model_sample.h - mistakes in the tables of an application, and what the tests
 * do with them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_UNIT_MODEL_SAMPLE_H
#define PAWL_TESTS_UNIT_MODEL_SAMPLE_H

#include "support/world.h"

#include "pawl/process.h"
#include "workflow/model.h"

#define ON(...)             \
    .on = (const pawl_on[]) \
    {                       \
        __VA_ARGS__,        \
        {                   \
            .handle = NULL  \
        }                   \
    }

/* An endpoint of what is filled in, and what the error about it must say. */
typedef struct mistake {
    const char     *says;
    pawl_saga       saga, second_saga;
    pawl_entity     entity;
    pawl_process    process;
    pawl_aggregator aggregator, second_aggregator;
    pawl_projection projection, second_projection;
    pawl_on         handler;
} mistake;

#define IF_FILLED(table) ((table).name != NULL || (table).on != NULL ? &(table) : NULL)
#define IF_NAMED(table) ((table).name != NULL ? &(table) : NULL)

static inline pawl_code create_with(const mistake *row, pawl__model **model, pawl_error *error)
{
    const pawl_saga *const    sagas[] = {IF_FILLED(row->saga), IF_FILLED(row->second_saga), NULL};
    const pawl_entity *const  entities[]       = {IF_FILLED(row->entity), NULL};
    const pawl_process *const processes[]      = {IF_FILLED(row->process), NULL};
    const pawl_aggregator *const aggregators[] = {IF_NAMED(row->aggregator),
                                                  IF_NAMED(row->second_aggregator), NULL};
    const pawl_projection *const projections[] = {IF_FILLED(row->projection),
                                                  IF_FILLED(row->second_projection), NULL};
    const pawl_on                handlers[]    = {row->handler, {.handle = NULL}};
    const pawl_endpoint_spec     spec          = {.name        = "books",
                                                  .sagas       = sagas,
                                                  .handlers    = handlers,
                                                  .aggregators = aggregators,
                                                  .processes   = processes,
                                                  .entities    = entities,
                                                  .projections = projections};
    const pawl_application       application   = {PAWL_APPLICATION_HEAD,
                                                  .endpoints = PAWL_ENDPOINTS(&spec)};
    return pawl__model_create(&application, NULL, NULL, model, error);
}

static inline void check_refused(const mistake *mistakes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pawl_error   error = PAWL_ERROR_INIT;
        pawl__model *model = NULL;
        pawl_code    code  = create_with(&mistakes[i], &model, &error);
        if (code != PAWL_ECONFIG || strstr(error.text, mistakes[i].says) == NULL)
            fail_msg("mistake %zu: %s '%s' does not say '%s'", i, pawl_code_name(code), error.text,
                     mistakes[i].says);
        assert_null(model);
    }
}

#endif
