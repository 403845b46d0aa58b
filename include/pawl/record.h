/* record.h - converts records from JSON to structs and back, copies and compares them, and reads
 * single fields. record_types.h shows how a record is declared.
 *
 *     pawl_record_check at registration, then decode, encode, copy, equal
 *
 * Each source file has its own copy of a record's descriptor: compare records by pawl_record_type, not by address.
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

/* The record's `type`, or its name without one; "" for NULL. */
PAWL_API const char *pawl_record_type(const pawl_record *record);
PAWL_API int         pawl_record_version(const pawl_record *record);
/* The name in JSON. */
PAWL_API const char *pawl_field_json(const pawl_field *field);
/* Checks names, duplicates, counts, depth, nested records, and base types for cycles. Called
 * when an application is registered; a second check is harmless. */
PAWL_API pawl_code pawl_record_check(const pawl_record *record, pawl_error *error);
/* Finds a field by its name in C; "address.city" is a field of a nested or optional record, and
 * its `offset` counts from the nested struct. NULL when there is none. */
PAWL_API const pawl_field *pawl_record_field(const pawl_record *record, const char *path);

/* ---- JSON -------------------------------------------------------------- */

#define PAWL_DECODE_KEEP_EXTRA 1u /* members that the record does not have go to pawl_extra */
#define PAWL_ENCODE_DEFAULTS 1u   /* members with default values are written too */
#define PAWL_RECORD_TIMES(times) ((unsigned)(times) << 8) /* pawl_times; for both directions */

/* Decodes JSON into the struct `*out`, which may be uninitialised. Its texts and lists are in
 * the arena and share nothing with `json`. PAWL_EDECODE names the path, "lines[3].qty: expected integer, got text
 * of 5 bytes"; of values the text shows only numbers out of range, since others may be secret. PAWL_ELIMIT, with the
 * path: records nested more than PAWL_RECORD_DEPTH_MAX deep, or a list of more than PAWL_LIST_COUNT_MAX
 * items. On failure `*out` is not usable; the arena keeps what was taken until it is reset. */
PAWL_API pawl_code pawl_record_decode(const pawl_record *record, pawl_text json, unsigned flags,
                                      pawl_arena *arena, void *out, pawl_error *error);
/* Encodes a struct as compact JSON in the arena, in the order of the fields, with pawl_extra last.
 * Without PAWL_ENCODE_DEFAULTS, members with default values are left out unless they are required: false, 0,
 * the empty text, the zero uuid, the epoch, the first enum name, the empty list, an unset optional, a record
 * that would be {}. PAWL_EINVAL: the record or the struct is NULL; a value has no JSON form; or a required member
 * would be null (an unset optional, a JSON text that is empty or `null`). The text names the path. */
PAWL_API pawl_code pawl_record_encode(const pawl_record *record, const void *in, unsigned flags,
                                      pawl_arena *arena, pawl_text *json, pawl_error *error);
/* Converts JSON that version `version` of the record wrote to its current version: the same text
 * if they are equal, else the result of the record's upcaster. PAWL_EVERSION: a newer version, or an
 * older one without an upcaster. Other codes: the upcaster's. */
PAWL_API pawl_code pawl_record_upcast(const pawl_record *record, int version, pawl_text json,
                                      pawl_arena *arena, pawl_text *upcast, pawl_error *error);

/* JSON for people: PAWL_MASKED replaces the value of each secret member, also in nested records and
 * lists. So it does for members that the record does not have, which another version may have as
 * secret, and for a value that is no object where the record has a record. Null stays null. PAWL_EDECODE: no JSON. */
#define PAWL_MASKED "***"
PAWL_API pawl_code pawl_record_mask(const pawl_record *record, pawl_text json, pawl_arena *arena,
                                    pawl_text *masked, pawl_error *error);

/* ---- Structs ----------------------------------------------------------- */

/* A deep copy; texts get a NUL behind them. `from` and `to` may be the same. */
PAWL_API pawl_code pawl_record_copy(const pawl_record *record, const void *from, void *to,
                                    pawl_arena *arena);
/* Compares by value, pawl_extra included; doubles by their bits. */
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
