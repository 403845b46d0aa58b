/* template.h - builds documents from a text with placeholders, written as in MongoDB's manual.
 *
 *     pawl__mongo_put(&filter, "queue: %t, due: {$lte: %i}, claimed_by: {$exists: false}", queue, now);
 *
 * Members are written without quotes, texts in '...'; numbers are int64. Placeholders take the arguments in order:
 *
 *     %t pawl_text   %c const char *   %i int64_t   %n int   %b bool   %u pawl_uuid   %v const pawl_value *
 *     %d const bson_t *, a sub-document       %a const bson_t *, an array      %k const char *, the name of a member
 *     %l const pawl__mongo_list *, an array   %r const pawl__field_list *, const void *: all members of that row
 *     %m const bson_t *: all its members                %e const bson_t *, const char *: its member of that name
 *
 * Fields of a change by name: @seq is its value, @@seq an array of the values of all changes of the run, @* all
 * members. Also @worker; @number, a new row number; @same, the last @number again; @before, the change's version minus
 * 1. @@{...} is an array with one such document for each change of the run. Only in a member's name, @main and
 * @transitional are the names of the saga's properties; without such a property the member is left out. A name followed
 * by ? is left out if its value is empty: an empty text, list or document, 0, a zero id, no value. So is an array item
 * preceded by ?.
 *
 * Threads: plain data. Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_MONGO_TEMPLATE_H
#define PAWL_MONGO_TEMPLATE_H

#include "pawl/message.h"
#include "store/mongo/document.h"

#include <stdarg.h>

#define PAWL__MONGO_PATH_SIZE 300 /* of a member */

/* Values of one member of structs: `stride` bytes apart, or, if it is 0, behind an array of pointers. */
typedef struct pawl__mongo_list {
    const void *items;
    size_t      stride, count, offset;
    int         wire;
} pawl__mongo_list;

#define PAWL__MONGO_LIST(items_, count_, row, member, type_) \
    (&(pawl__mongo_list){.items  = (items_),                 \
                         .stride = sizeof(row),              \
                         .count  = (count_),                 \
                         .offset = offsetof(row, member),    \
                         .wire   = PAWL__WIRE_##type_})
/* A list of an array of values. */
#define PAWL__MONGO_VALUES(items_, count_, type_)    \
    (&(pawl__mongo_list){.items  = (items_),         \
                         .stride = sizeof *(items_), \
                         .count  = (count_),         \
                         .wire   = PAWL__WIRE_##type_})

/* Values of the names in a template. */
typedef struct pawl__mongo_scope {
    const pawl__field_list *fields;
    const void             *change;
    const void *const      *changes; /* all changes of the run */
    size_t                  count;
    const pawl_saga_table  *table; /* NULL: not a saga's */
    pawl_uuid               worker;
    int64_t                *number; /* next number; each use raises it */
} pawl__mongo_scope;

/* Appends the members. False: no memory, or a JSON text that no document can hold. */
bool pawl__mongo_put(bson_t *document, const char *text, ...);
bool pawl__mongo_put_arguments(bson_t *document, const char *text, va_list arguments);
bool pawl__mongo_put_scope(bson_t *document, const char *text, const pawl__mongo_scope *scope);
/* Appends a value to an array with `count` items. */
bool pawl__mongo_push(bson_t *array, uint32_t *count, const char *text, ...);
/* The property's name as a member's name, such as "OrderRef"; "-" if the saga has no such property. */
void pawl__mongo_property(const pawl_correlation *correlation, char name[PAWL__MONGO_PATH_SIZE]);
/* The document or array of a member, without a copy; empty if there is none. */
void pawl__mongo_part(const bson_t *document, const char *key, bson_t *part);

#endif
