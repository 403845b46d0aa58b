/* state.h - converts a saga's state between its row and the struct of its handlers (formats: state_format.h).
 *
 * Threads: any; formats are constant.
 * Tests: tests/unit/engine/test_engine_format.c, tests/unit/engine/test_engine_version.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_STATE_H
#define PAWL_ENGINE_STATE_H

#include "pawl/store_calls.h"
#include "workflow/model.h"

/* The major record version that wrote a row: 2 for "2.0"; 0 if the row has none. For a number above
 * PAWL_RECORD_VERSION_MAX the result is above it, too. */
int pawl__state_version(pawl_text type_version);
/* Reads the row's state, upcasts it to today's version and decodes it into `state`, as pawl_record_decode; `record`:
 * the model's, or one of the same layout. Errors name saga, id and version. PAWL_EVERSION: this program cannot read the
 * row's version (S27). */
pawl_code pawl__state_read(const pawl__saga_model *model, const pawl_record *record,
                           const pawl_saga_row *row, pawl_arena *arena, void *state,
                           pawl_error *error);
/* The row's state as JSON, by the reader of the row's version and not upcast; of a newer version unchanged. */
pawl_code pawl__state_json(const pawl__saga_model *model, const pawl_saga_row *row,
                           pawl_arena *arena, pawl_text *json, pawl_error *error);
/* Makes the JSON of the saga's row. */
pawl_code pawl__state_write(const pawl__saga_model *model, pawl_saga_id id, const void *state,
                            pawl_arena *arena, pawl_text *data, pawl_error *error);

#endif
