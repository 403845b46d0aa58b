/* test_record_sample.h - the records that the tests of src/record share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TEST_RECORD_SAMPLE_H
#define TEST_RECORD_SAMPLE_H

#include "pawl/record.h"
#include "support/tests.h"

#define COLOR(E) E(COLOR_RED, "red") E(COLOR_GREEN, "green") E(COLOR_BLUE, "light blue")
PAWL_ENUM(color, COLOR);

#define ADDRESS(F) F(TEXT, city) F(INT32, zip) F(TEXT, street, .json = "Street")
PAWL_RECORD(address, ADDRESS);

#define ORDER_LINE(F) F(TEXT, sku) F(INT32, qty) F(RECORD, origin, address)
PAWL_RECORD(order_line, ORDER_LINE);

/* Every kind in every shape. */
#define SAMPLE(F)                    \
    F(BOOL, a_bool)                  \
    F(INT16, a_int16)                \
    F(INT32, a_int32)                \
    F(INT64, a_int64)                \
    F(UINT16, a_uint16)              \
    F(UINT32, a_uint32)              \
    F(UINT64, a_uint64)              \
    F(DOUBLE, a_double)              \
    F(TEXT, a_text)                  \
    F(FIXED, a_fixed, 3)             \
    F(BYTES, a_bytes)                \
    F(UUID, a_uuid)                  \
    F(TIME, a_time)                  \
    F(ENUM, a_enum, color)           \
    F(JSON, a_json)                  \
    F(RECORD, a_record, address)     \
    F(OPT_BOOL, o_bool)              \
    F(OPT_INT16, o_int16)            \
    F(OPT_INT32, o_int32)            \
    F(OPT_INT64, o_int64)            \
    F(OPT_UINT16, o_uint16)          \
    F(OPT_UINT32, o_uint32)          \
    F(OPT_UINT64, o_uint64)          \
    F(OPT_DOUBLE, o_double)          \
    F(OPT_TEXT, o_text)              \
    F(OPT_FIXED, o_fixed, 3)         \
    F(OPT_BYTES, o_bytes)            \
    F(OPT_UUID, o_uuid)              \
    F(OPT_TIME, o_time)              \
    F(OPT_ENUM, o_enum, color)       \
    F(OPT_JSON, o_json)              \
    F(OPT_RECORD, o_record, address) \
    F(LIST_BOOL, l_bool)             \
    F(LIST_INT16, l_int16)           \
    F(LIST_INT32, l_int32)           \
    F(LIST_INT64, l_int64)           \
    F(LIST_UINT16, l_uint16)         \
    F(LIST_UINT32, l_uint32)         \
    F(LIST_UINT64, l_uint64)         \
    F(LIST_DOUBLE, l_double)         \
    F(LIST_TEXT, l_text)             \
    F(LIST_FIXED, l_fixed, 3)        \
    F(LIST_BYTES, l_bytes)           \
    F(LIST_UUID, l_uuid)             \
    F(LIST_TIME, l_time)             \
    F(LIST_ENUM, l_enum, color)      \
    F(LIST_JSON, l_json)             \
    F(LIST_RECORD, l_record, address)
PAWL_RECORD(sample, SAMPLE);

#define ORDER(F)                        \
    F(TEXT, order_id, .required = true) \
    F(RECORD, home, address)            \
    F(OPT_RECORD, work, address)        \
    F(LIST_RECORD, lines, order_line)   \
    F(TEXT, note, .json = "Note")       \
    F(INT32, pin, .secret = true)       \
    F(RECORD, vault, address, .secret = true)
PAWL_RECORD(order, ORDER);

/* Holds itself, by list and by pointer. */
#define NODE(F) F(INT32, id) F(LIST_RECORD, kids, node) F(OPT_RECORD, next, node)
PAWL_RECORD(node, NODE);

#define NOTHING(F)
PAWL_RECORD(nothing, NOTHING);

/* Of all tests of a program. */
static pawl_arena *shared;

__attribute__((constructor)) static void make_arena(void)
{
    shared = pawl_arena_create(0);
}

#endif
