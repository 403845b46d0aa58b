/* record_types.h - declares records: C structs with a JSON form. Messages, events and states are records.
 *
 * A program lists the fields once; macros make the struct and its descriptor from that
 * list:
 *
 *     #define ORDER_STAGE(E) E(STAGE_PLACED, "placed") E(STAGE_PAID, "paid")
 *     PAWL_ENUM(order_stage, ORDER_STAGE);
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
 *     PAWL_RECORD(order_state, ORDER_STATE);
 *
 * Kinds: BOOL INT16 INT32 INT64 UINT16 UINT32 UINT64 DOUBLE TEXT FIXED BYTES
 * UUID TIME ENUM JSON RECORD, each also as OPT_kind and LIST_kind. FIXED takes
 * the text's size, ENUM and RECORD the name of an enum or record declared before. A
 * record may contain itself as OPT_RECORD or LIST_RECORD. The C types are in
 * record_macros.h, one line each.
 *
 * Each source file has its own copy of a record's descriptor: compare records by pawl_record_type, not by address.
 *
 * Threads: descriptors are constant.
 * Tests: tests/unit/record, tests/must_not_compile.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RECORD_TYPES_H
#define PAWL_RECORD_TYPES_H

#include "pawl/limits.h"
#include "pawl/types.h"

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
    size_t          value_offset; /* of an optional: offset of `value` in it; else 0 */
    size_t          item_size;    /* sizeof(T) */
    size_t          fixed_size;   /* FIXED: bytes without the NUL */
    pawl_record_fn *record;       /* RECORD */
    pawl_enum_fn   *enumeration;  /* ENUM */
    bool            secret;       /* masked wherever people read it */
    bool            required;     /* JSON without it, or with null, is refused */
    /* For a TIME that is a correlation property: its column has the type datetimeoffset. Only SQL Server has that;
     * other stores refuse the saga. pawl writes UTC; rows of another program may have any offset. */
    bool with_offset;
    int  reserved; /* keeps the "..." of the macros from being empty */
} pawl_field;

/* An upcaster: converts JSON of an older version to the record's current version. `*upcast` is in the
 * arena, or `json` itself. PAWL_EVERSION: the upcaster does not know the version; rows of that version wait for a
 * program that does. Any other failure means that the JSON is invalid. */
typedef pawl_code pawl_upcast_fn(int version, pawl_text json, pawl_arena *arena, pawl_text *upcast,
                                 pawl_error *error);

struct pawl_record {
    size_t            table_size; /* sizeof(pawl_record) the program was built with */
    size_t            field_size; /* sizeof(pawl_field) likewise; the stride of `fields` */
    const char       *name;
    const char       *type; /* of the message, without , " and \; NULL = `name` */
    size_t            size; /* of the C struct, which begins with pawl_text pawl_extra */
    const pawl_field *fields;
    size_t            field_count;
    pawl_record_fn   *base; /* handlers of the base type run as well; NULL = none */
    int version; /* major version that is written; at most PAWL_RECORD_VERSION_MAX; 0 means 1 */
    pawl_upcast_fn *upcast; /* NULL = older versions are refused */
    int             reserved;
};

/* The form of a TIME in JSON. With each of them RFC 3339 can be read, too. */
typedef enum pawl_times {
    PAWL_TIMES_RFC3339,   /* "2026-01-31T23:59:59.000000Z" */
    PAWL_TIMES_UNIX_US,   /* 1769903999000000: microseconds since 1970, as exact */
    PAWL_TIMES_UNIX_MS,   /* 1769903999000: writing cuts off fractions of a millisecond */
    PAWL_TIMES_MICROSOFT, /* "/Date(1769903999000)/", likewise; reading ignores an offset */
} pawl_times;

#include "pawl/record_macros.h"

#ifdef __cplusplus
}
#endif
#endif
