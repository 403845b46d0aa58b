/* version.h - the version that a message was written in, in its header pawl.version.
 *
 * Threads: as the batch.
 * Tests: tests/unit/engine/test_engine_message_version.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_VERSION_H
#define PAWL_ENGINE_VERSION_H

#include "engine/batch.h"

/* The version of that one of the message's types; 1 when no header says it. PAWL_EDECODE names a
 * header that says no version. */
pawl_code pawl__version_of(const pawl_message *message, pawl_text type, pawl_arena *arena,
                           int *version, pawl_error *error);
/* The body, brought up to the record's version, as its struct; `decoded` is as in
 * pawl_record_decode. PAWL_EVERSION: as in pawl_record_upcast. */
pawl_code pawl__version_decode(const pawl_message *message, const pawl_record *record,
                               pawl_arena *arena, void *decoded, pawl_error *error);

#endif
