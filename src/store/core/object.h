/* object.h - small objects of texts, as operations leave them: headers of events, and folds.
 *
 *     begin -> { put } -> write -> yyjson_mut_doc_free
 *     read -> { text } -> yyjson_doc_free
 *
 * All memory is pawl's own, so that tests can fail it.
 *
 * Threads: any; plain functions.
 * Tests: src/conformance/operation/dead.c, projection.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_OBJECT_H
#define PAWL_STORE_CORE_OBJECT_H

#include "pawl/base.h"

#include <yyjson.h>

/* The root is an object. NULL: out of memory. */
yyjson_mut_doc *pawl__object_begin(void);
/* Adds a member. False: out of memory. */
bool pawl__object_put(yyjson_mut_doc *doc, const char *key, pawl_text text);
bool pawl__object_put_number(yyjson_mut_doc *doc, const char *key, int64_t number);
/* The object as text. data NULL: out of memory. */
pawl_text pawl__object_write(yyjson_mut_doc *doc, pawl_arena *arena);

/* NULL: the text is no JSON, or out of memory. */
yyjson_doc *pawl__object_read(pawl_text text);
/* A copy of the member; data NULL: there is none. */
pawl_text pawl__object_text(yyjson_val *object, const char *key, pawl_arena *arena);

#endif
