/* lists.h - macros that write the lists of an application's tables, each with its end.
 *
 * Included by application.h, which declares the rows.
 *
 * Tests: tests/unit/workflow/test_model.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_LISTS_H
#define PAWL_LISTS_H

/* For initialisers of tables. The library would read past the end of a list without its end row.
 * Inside a function a list lives until the end of the block. */
#define PAWL_ON(...) ((const pawl_on[]){__VA_ARGS__, {.handle = NULL}})
#define PAWL_FILTERS(...) ((const pawl_filter[]){__VA_ARGS__, {.before = NULL}})
#define PAWL_APPLY_LIST(...) ((const pawl_apply *const[]){__VA_ARGS__, NULL})
#define PAWL_SAGAS(...) ((const pawl_saga *const[]){__VA_ARGS__, NULL})
#define PAWL_AGGREGATORS(...) ((const pawl_aggregator *const[]){__VA_ARGS__, NULL})
#define PAWL_PROCESSES(...) ((const pawl_process *const[]){__VA_ARGS__, NULL})
#define PAWL_ENTITIES(...) ((const pawl_entity *const[]){__VA_ARGS__, NULL})
#define PAWL_PROJECTIONS(...) ((const pawl_projection *const[]){__VA_ARGS__, NULL})
#define PAWL_ENDPOINTS(...) ((const pawl_endpoint_spec *const[]){__VA_ARGS__, NULL})
#define PAWL_FORMATS(...) ((const pawl_state_format *const[]){__VA_ARGS__, NULL})

#endif
