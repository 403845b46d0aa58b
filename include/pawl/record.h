/* record.h - the functions of records: from JSON to a struct and back, deep copies, single fields.
 * record_types.h says how a record is declared.
 *
 *     pawl_record_check at registration, then decode, encode, copy, equal
 *
 * A program that includes a record's header in two files has two descriptors
 * of it, alike in all: compare records by pawl_record_type, not by address.
 *
 * Threads: descriptors are constant; the functions have no shared state.
 * Tests: tests/unit/record
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RECORD_H
#define PAWL_RECORD_H

#include "pawl/base.h"
#include "pawl/record_types.h"
#include "pawl/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Descriptors ------------------------------------------------------- */

/* `type`, or the name when there is none. */
PAWL_API const char *pawl_record_type(const pawl_record *record);
PAWL_API int         pawl_record_version(const pawl_record *record);
/* The name in JSON. */
PAWL_API const char *pawl_field_json(const pawl_field *field);
/* For registration: names, duplicates, counts, depth, nested records, base
 * types that lead back to themselves. Recheck is harmless. */
PAWL_API pawl_code pawl_record_check(const pawl_record *record, pawl_error *error);
/* By the name in C; "address.city" leads through nested records and optional
 * ones, and `offset` of the result then counts from the nested one. NULL when
 * there is none. */
PAWL_API const pawl_field *pawl_record_field(const pawl_record *record, const char *path);

/* ---- JSON -------------------------------------------------------------- */

#define PAWL_DECODE_KEEP_EXTRA 1u /* members unknown here go to pawl_extra */
#define PAWL_ENCODE_DEFAULTS 1u   /* members with default values are written too */
#define PAWL_RECORD_TIMES(times) ((unsigned)(times) << 8) /* a flag of both directions */

/* Fills the whole of `*out`, which may be uninitialised. Memory that it points to is in
 * the arena and shares nothing with `json`. PAWL_EDECODE names the path:
 * "lines[3].qty: expected integer, got text of 5 bytes", and no value but a number that a number's field cannot
 * hold; so does PAWL_ELIMIT, of records nested more than
 * PAWL_RECORD_DEPTH_MAX deep or a list of more than PAWL_LIST_COUNT_MAX items. On failure
 * `*out` is not usable; the arena keeps what was taken until it is reset. */
PAWL_API pawl_code pawl_record_decode(const pawl_record *record, pawl_text json, unsigned flags,
                                      pawl_arena *arena, void *out, pawl_error *error);
/* Compact, in the order of the fields, unknown members last. Left out without
 * PAWL_ENCODE_DEFAULTS unless required: false, 0, the empty text, the zero uuid,
 * the epoch, the first enum name, the empty list, an unset optional, a record
 * that would be {}. PAWL_EINVAL names the path of what has no JSON form, and of a required
 * member that would be null: an unset optional, a JSON text that is empty or `null`. */
PAWL_API pawl_code pawl_record_encode(const pawl_record *record, const void *in, unsigned flags,
                                      pawl_arena *arena, pawl_text *json, pawl_error *error);
/* JSON stored by `version` as JSON of the record's own version: the same text
 * when they are equal, what `upcast` makes of an older one. PAWL_EVERSION for a newer one, and for
 * an older one without `upcast`; else what `upcast` answers. */
PAWL_API pawl_code pawl_record_upcast(const pawl_record *record, int version, pawl_text json,
                                      pawl_arena *arena, pawl_text *upcast, pawl_error *error);

/* JSON for people: values of secret members are PAWL_MASKED, those of records and lists as
 * well; so are members that the record does not have, which may be secret ones of another version, and
 * what is no object where the record has one. Null stays null. PAWL_EDECODE: no JSON. */
#define PAWL_MASKED "***"
PAWL_API pawl_code pawl_record_mask(const pawl_record *record, pawl_text json, pawl_arena *arena,
                                    pawl_text *masked, pawl_error *error);

/* ---- Structs ----------------------------------------------------------- */

/* A deep copy; texts get a NUL behind them. `from` and `to` may be the same. */
PAWL_API pawl_code pawl_record_copy(const pawl_record *record, const void *from, void *to,
                                    pawl_arena *arena);
/* By value, pawl_extra included; doubles by their bits. */
PAWL_API bool pawl_record_equal(const pawl_record *record, const void *left, const void *right);

/* ---- Single values (correlation) --------------------------------------- */

/* The type that pawl_field_value gives. PAWL_EINVAL for a field that cannot be
 * a correlation property: bool, double, bytes, JSON, records and lists. */
PAWL_API pawl_code pawl_field_value_type(const pawl_field *field, pawl_value_type *type,
                                         pawl_error *error);
/* The field's value in the struct that has it; text is borrowed from it.
 * An optional that is not set is PAWL_VALUE_NONE, an enum its name. */
PAWL_API pawl_code pawl_field_value(const pawl_field *field, const void *structure,
                                    pawl_value *value, pawl_error *error);
/* Writes the value into the field, coerced to its type and range-checked; text
 * is copied into the arena. PAWL_VALUE_NONE writes the default value. */
PAWL_API pawl_code pawl_value_set(const pawl_field *field, void *structure, const pawl_value *value,
                                  pawl_arena *arena, pawl_error *error);
/* The same by path. Reading through an optional record that is absent gives
 * PAWL_VALUE_NONE; writing through one is PAWL_EINVAL. */
PAWL_API pawl_code pawl_record_value(const pawl_record *record, const char *path,
                                     const void *structure, pawl_value *value, pawl_error *error);
PAWL_API pawl_code pawl_record_value_set(const pawl_record *record, const char *path,
                                         void *structure, const pawl_value *value,
                                         pawl_arena *arena, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
