/* state.h - a saga's state as its row has it, by the formats of the saga (state_format.h).
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

/* The major number of the record that wrote a row: 2 for "2.0"; 0 for a row that says none; above
 * PAWL_RECORD_VERSION_MAX for every number that is. */
int pawl__state_version(pawl_text type_version);
/* The row's state as the struct of `record`, which is the model's or one like it: read, brought up
 * to today's version, decoded; `state` is as in pawl_record_decode. Errors name saga, id and version.
 * PAWL_EVERSION: of a version that this program does not read (S27). */
pawl_code pawl__state_read(const pawl__saga_model *model, const pawl_record *record,
                           const pawl_saga_row *row, pawl_arena *arena, void *state,
                           pawl_error *error);
/* The row's state as its version wrote it, through the reader of that version; a newer one as it is
 * in the row. */
pawl_code pawl__state_json(const pawl__saga_model *model, const pawl_saga_row *row,
                           pawl_arena *arena, pawl_text *json, pawl_error *error);
/* Makes the JSON of the saga's row. */
pawl_code pawl__state_write(const pawl__saga_model *model, pawl_saga_id id, const void *state,
                            pawl_arena *arena, pawl_text *data, pawl_error *error);

#endif
