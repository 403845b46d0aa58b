/* record.h - C structs that know their JSON form.
 *
 * Fields are listed once; the struct, its descriptor and its JSON form come
 * from that list:
 *
 *     #define ORDER_STAGE(E) E(STAGE_PLACED, "placed") E(STAGE_PAID, "paid")
 *     PAWL_ENUM(order_stage, ORDER_STAGE)
 *
 *     #define ORDER_STATE(F)                          \
 *         F(TEXT, order_id, .required = true)         \
 *         F(INT64, total_cents)                       \
 *         F(OPT_TIME, paid_at)                        \
 *         F(FIXED, country, 2)                        \
 *         F(ENUM, stage, order_stage)                 \
 *         F(RECORD, address, address)                 \
 *         F(LIST_RECORD, lines, order_line)           \
 *         F(TEXT, iban, .secret = true)               \
 *         F(TEXT, note, .json = "Note")               \
 *         F(TIME, rings_at, .with_offset = true)
 *     PAWL_RECORD(order_state, ORDER_STATE)
 *
 * Kinds: BOOL INT16 INT32 INT64 UINT16 UINT32 UINT64 DOUBLE TEXT FIXED BYTES
 * UUID TIME ENUM JSON RECORD, each also as OPT_kind and LIST_kind. FIXED takes
 * the text's size, ENUM and RECORD the name of what was declared before; a
 * record may contain itself as OPT_RECORD or LIST_RECORD. The C types are in
 * record_macros.h, one line each.
 *
 *     pawl_record_check at registration, then decode, encode, copy, equal
 *
 * A program that includes a record's header in two files has two descriptors
 * of it, alike in all: compare records by pawl_record_type, not by address.
 *
 * Threads: descriptors are constant; the functions have no shared state.
 * Tests: tests/unit/record, tests/must_not_compile.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RECORD_H
#define PAWL_RECORD_H

#include "pawl/base.h"
#include "pawl/limits.h"
#include "pawl/value.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pawl_kind {
    PAWL_KIND_NONE,
    PAWL_KIND_BOOL,
    PAWL_KIND_INT16,
    PAWL_KIND_INT32,
    PAWL_KIND_INT64,
    PAWL_KIND_UINT16,
    PAWL_KIND_UINT32,
    PAWL_KIND_UINT64, /* a value above 2^63-1 is refused in both directions */
    PAWL_KIND_DOUBLE,
    PAWL_KIND_TEXT,
    PAWL_KIND_FIXED, /* char[size + 1], ends with NUL */
    PAWL_KIND_BYTES, /* base64 (RFC 4648) in JSON */
    PAWL_KIND_UUID,
    PAWL_KIND_TIME, /* RFC 3339 in JSON */
    PAWL_KIND_ENUM, /* int in C, a name in JSON */
    PAWL_KIND_JSON, /* any JSON value, as text; empty = null */
    PAWL_KIND_RECORD,
} pawl_kind;

typedef enum pawl_shape {
    PAWL_ONE,      /* the value itself */
    PAWL_OPTIONAL, /* {bool is_set; T value;}; for a record a pointer, NULL = absent */
    PAWL_LIST,     /* {T *items; size_t count;} */
} pawl_shape;

typedef struct pawl_record pawl_record;
typedef struct pawl_enum   pawl_enum;
typedef const pawl_record *pawl_record_fn(void);
typedef const pawl_enum   *pawl_enum_fn(void);

struct pawl_enum {
    const char        *name;
    const char *const *names; /* JSON name of value i */
    size_t             count;
};

typedef struct pawl_field {
    const char     *name; /* in C */
    const char     *json; /* in JSON; NULL = `name` */
    pawl_kind       kind;
    pawl_shape      shape;
    size_t          offset;
    size_t          value_offset; /* of `value` behind `offset` in an optional, else 0 */
    size_t          item_size;    /* sizeof(T) */
    size_t          fixed_size;   /* FIXED: bytes without the NUL */
    pawl_record_fn *record;       /* RECORD */
    pawl_enum_fn   *enumeration;  /* ENUM */
    bool            secret;       /* masked wherever people look */
    bool            required;     /* JSON without it, or with null, is refused */
    /* TIME, that a saga is found by: its column is a datetimeoffset, which SQL Server alone has; any
     * other store refuses the saga. Values are in UTC; a row of another program may have any offset. */
    bool with_offset;
    int  reserved; /* keeps the "..." of the macros from being empty */
} pawl_field;

/* Turns JSON of an older version into JSON of the record's own version. PAWL_EVERSION: it does not
 * know the version, and rows that have it wait for a program that does; any other failure is one of the
 * JSON. */
typedef pawl_code pawl_upcast_fn(int version, pawl_text json, pawl_arena *arena, pawl_text *upcast,
                                 pawl_error *error);

struct pawl_record {
    size_t            table_size; /* sizeof(pawl_record) the program was built with */
    size_t            field_size; /* sizeof(pawl_field) likewise; the stride of `fields` */
    const char       *name;
    const char       *type; /* of the message; NULL = `name` */
    size_t            size; /* of the C struct, which begins with pawl_text pawl_extra */
    const pawl_field *fields;
    size_t            field_count;
    pawl_record_fn   *base;    /* handlers of the base type run as well; NULL = none */
    int               version; /* the major one, of what is written; 0 means 1 */
    pawl_upcast_fn   *upcast;  /* NULL = older versions are refused */
    int               reserved;
};

#include "pawl/record_macros.h"

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

/* The form of a TIME in JSON. RFC 3339 is read in each of them, too. */
typedef enum pawl_times {
    PAWL_TIMES_RFC3339,   /* "2026-01-31T23:59:59.000000Z" */
    PAWL_TIMES_UNIX_US,   /* 1769903999000000: microseconds since 1970, as exact */
    PAWL_TIMES_UNIX_MS,   /* 1769903999000: what is below a millisecond is cut off when written */
    PAWL_TIMES_MICROSOFT, /* "/Date(1769903999000)/", likewise; an offset behind is read over */
} pawl_times;
#define PAWL_RECORD_TIMES(times) ((unsigned)(times) << 8) /* a flag of both directions */

/* Fills the whole of `*out`, which may be uninitialised. Memory that it points to is in
 * the arena and shares nothing with `json`. PAWL_EDECODE names the path:
 * "lines[3].qty: expected integer, got "x"". On failure `*out` is not usable;
 * the arena keeps what was taken until it is reset. */
PAWL_API pawl_code pawl_record_decode(const pawl_record *record, pawl_text json, unsigned flags,
                                      pawl_arena *arena, void *out, pawl_error *error);
/* Compact, in the order of the fields, unknown members last. Left out without
 * PAWL_ENCODE_DEFAULTS unless required: false, 0, the empty text, the zero uuid,
 * the epoch, the first enum name, the empty list, an unset optional, a record
 * that would be {}. PAWL_EINVAL names the path of what has no JSON form. */
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
