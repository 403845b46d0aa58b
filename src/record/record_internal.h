/* record_internal.h - types and functions that the files of src/record share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RECORD_INTERNAL_H
#define PAWL_RECORD_INTERNAL_H

#include "pawl/record.h"

#include <string.h>
#include <yyjson.h>

/* ---- Path of a field, for error texts ------------------------------------ */

#define PAWL__NO_INDEX SIZE_MAX

/* A step of the path from the root record to a field; lives on the C stack. */
typedef struct pawl__path {
    const struct pawl__path *parent; /* NULL at the root */
    const pawl_field        *field;  /* NULL at the root */
    const pawl_record       *record; /* the root's, else NULL */
    size_t                   index;  /* of an item in a list, else PAWL__NO_INDEX */
} pawl__path;

#define PAWL__PATH_TEXT_SIZE 240

/* Writes the path, such as "lines[3].qty"; the record's name at the root. Of long paths the start is cut off. */
const char *pawl__path_text(const pawl__path *path, char text[PAWL__PATH_TEXT_SIZE]);
/* Is the field, or a record that contains it, secret? Its value must then not be shown. */
bool pawl__path_is_secret(const pawl__path *path);
/* Sets the error "PATH: text made by `format`". */
pawl_code pawl__path_error(const pawl__path *path, pawl_error *error, pawl_code code,
                           const char *format, ...) PAWL_PRINTF(4, 5);

/* ---- JSON --------------------------------------------------------------- */

/* An allocator for yyjson that allocates from the arena, and whose free does nothing. */
yyjson_alc pawl__json_allocator(pawl_arena *arena);
/* Parses JSON; the document lives in the arena. PAWL_ENOMEM, or PAWL_EDECODE with the fault and its byte. */
pawl_code pawl__json_read(pawl_text json, pawl_arena *arena, yyjson_doc **doc, pawl_error *error);
/* Parses JSON with all numbers kept as text, so that a copy of a value keeps digits that a double would round. */
pawl_code pawl__json_read_exact(pawl_text json, pawl_arena *arena, yyjson_doc **doc,
                                pawl_error *error);
/* Reads the field that `path` names from JSON that need not decode as a whole. A step that the record does not know
 * (or any, if it is NULL) is a JSON member's name. A member that does not fit its field, or has none, is read as text
 * or as a 64-bit integer; other members have no value. PAWL_ENOMEM is the only error. */
pawl_code pawl__json_field_value(const pawl_record *record, const char *path, pawl_text json,
                                 pawl_arena *arena, pawl_value *value);
/* Is the text JSON? Frees its arena memory again. PAWL_ENOMEM, or PAWL_EINVAL with the fault and its byte. */
pawl_code pawl__json_try(pawl_text json, pawl_arena *arena, pawl_error *error);
/* PAWL_EINVAL when the descriptor or the value of a message or state is NULL. */
pawl_code pawl__value_check(const pawl_record *record, const void *value, pawl_error *error);
/* Does any string in the value, keys included, contain a NUL? */
bool pawl__json_has_nul(yyjson_val *value);

pawl_code pawl__base64_decode(pawl_text text, pawl_arena *arena, pawl_bytes *bytes);
/* data == NULL when out of memory. */
pawl_text pawl__base64_encode(pawl_bytes bytes, pawl_arena *arena);

/* ---- Decoding ----------------------------------------------------------- */

/* Is the version the record's own, or an older one for which it has an upcaster? */
bool pawl__record_reads(const pawl_record *record, int version);

typedef struct pawl__decoder {
    pawl_arena *arena;
    pawl_error *error;
    unsigned    flags;
} pawl__decoder;

/* Decodes one value of the field's kind, except records; `value` is not null. */
pawl_code pawl__decode_scalar(pawl__decoder *decoder, const pawl__path *path, yyjson_val *value,
                              void *to);
/* Sets the error "PATH: expected WHAT, got VALUE". */
pawl_code pawl__decode_mismatch(pawl__decoder *decoder, const pawl__path *path, const char *what,
                                yyjson_val *value);

/* ---- Encoding ----------------------------------------------------------- */

typedef struct pawl__encoder {
    pawl_arena     *arena;
    pawl_error     *error;
    yyjson_mut_doc *doc;
    unsigned        flags;
} pawl__encoder;

/* Encodes one value of the field's kind, except records. */
pawl_code pawl__encode_scalar(pawl__encoder *encoder, const pawl__path *path, const void *from,
                              yyjson_mut_val **value);
/* Is the value the one that a missing member stands for? */
bool pawl__scalar_is_default(const pawl_field *field, const void *from);

/* ---- Times (times.c), in the form that the flags name ---------------------- */

/* False when the value is not a time of that form, or outside the range of years. */
bool pawl__times_from_number(unsigned flags, int64_t number, pawl_time *time);
bool pawl__times_from_text(unsigned flags, pawl_text text, pawl_time *time);
/* For errors: "time such as 2026-01-31T23:59:59Z". */
const char *pawl__times_expected(unsigned flags);
/* NULL when out of memory. */
yyjson_mut_val *pawl__times_value(unsigned flags, yyjson_mut_doc *doc, pawl_time time);

/* Checks that two descriptors with one type name describe the same struct and JSON. `known` has been checked; `record`
 * is checked here. PAWL_ECONFIG: they differ. */
pawl_code pawl__record_check_twin(const pawl_record *known, const pawl_record *record,
                                  pawl_error *error);

/* ---- Memory of fields --------------------------------------------------- */

static inline const pawl_field *pawl__field_at(const pawl_record *record, size_t index)
{
    return (const pawl_field *)(const void *)((const char *)record->fields +
                                              index * record->field_size);
}

/* All lists have the layout {T *items; size_t count;}, and all pointers to objects the same representation, so they
 * can be copied without knowing T. */
typedef struct pawl__list {
    char  *items;
    size_t count;
} pawl__list;

static inline pawl__list pawl__list_get(const void *at)
{
    pawl__list list;
    memcpy(&list.items, at, sizeof list.items);
    memcpy(&list.count, (const char *)at + sizeof list.items, sizeof list.count);
    return list;
}

static inline void pawl__list_set(void *at, pawl__list list)
{
    memcpy(at, &list.items, sizeof list.items);
    memcpy((char *)at + sizeof list.items, &list.count, sizeof list.count);
}

/* The nested struct of an OPT_RECORD, NULL when absent. */
static inline void *pawl__pointer_get(const void *at)
{
    void *pointer;
    memcpy(&pointer, at, sizeof pointer);
    return pointer;
}

static inline void pawl__pointer_set(void *at, void *pointer)
{
    memcpy(at, &pointer, sizeof pointer);
}

/* The text of a FIXED up to its NUL, or all of it without one. */
static inline pawl_text pawl__fixed_text(const pawl_field *field, const void *at)
{
    const char *end = memchr(at, '\0', field->item_size);
    return (pawl_text){.data = at,
                       .size = end != NULL ? (size_t)(end - (const char *)at) : field->item_size};
}

typedef struct pawl__range {
    int64_t low;
    int64_t high;
} pawl__range;

/* Integers of all widths, selected by kind. */
bool        pawl__kind_is_integer(pawl_kind kind);
pawl__range pawl__integer_range(pawl_kind kind);
/* False when an unsigned value is above 2^63-1. */
bool pawl__integer_get(pawl_kind kind, const void *from, int64_t *value);
void pawl__integer_set(pawl_kind kind, void *to, int64_t value);

/* Index of the enum's value with this name, -1 when there is none. */
int pawl__enum_find(const pawl_enum *enumeration, pawl_text name);
/* "placed, paid": the known names, for error texts. */
#define PAWL__ENUM_NAMES_SIZE 200
const char *pawl__enum_names(const pawl_enum *enumeration, char text[PAWL__ENUM_NAMES_SIZE]);

#endif
