/* record_macros.h - the macros of record_types.h, which includes it.
 *
 * A list of fields is a macro that calls its parameter F once per field. PAWL_RECORD expands the list
 * twice: with F = PAWL__MEMBER for the struct, with F = PAWL__FIELD for the
 * descriptor. Both expand PAWL__KIND_x, of which each kind has one line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RECORD_MACROS_H
#define PAWL_RECORD_MACROS_H

#include "pawl/types.h"

#if defined(__GNUC__)
#define PAWL__UNUSED __attribute__((unused))
#else
#define PAWL__UNUSED
#endif

/* g++ -Wextra warns of each member that a designated initialiser leaves out; gcc and clang do not. */
#if defined(__cplusplus) && defined(__GNUC__) && !defined(__clang__)
#define PAWL__PARTIAL_BEGIN        \
    _Pragma("GCC diagnostic push") \
        _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"")
#define PAWL__PARTIAL_END _Pragma("GCC diagnostic pop")
#else
#define PAWL__PARTIAL_BEGIN
#define PAWL__PARTIAL_END
#endif

/* ---- Named types of optionals and lists, so that they can be assigned --- */

#define PAWL__TYPES(X)   \
    X(bool, bool)        \
    X(int16, int16_t)    \
    X(int32, int32_t)    \
    X(int64, int64_t)    \
    X(uint16, uint16_t)  \
    X(uint32, uint32_t)  \
    X(uint64, uint64_t)  \
    X(double, double)    \
    X(text, pawl_text)   \
    X(bytes, pawl_bytes) \
    X(uuid, pawl_uuid)   \
    X(time, pawl_time)   \
    X(enum, int)         \
    X(json, pawl_text)

#define PAWL__NAMED_TYPES(name, type)     \
    typedef struct pawl_optional_##name { \
        bool is_set;                      \
        type value;                       \
    } pawl_optional_##name;               \
    typedef struct pawl_list_##name {     \
        type  *items;                     \
        size_t count;                     \
    } pawl_list_##name;
PAWL__TYPES(PAWL__NAMED_TYPES)
#undef PAWL__NAMED_TYPES

/* ---- Kinds: F(kind, member, ...) --------------------------------------- */

#define PAWL__MEMBER(kind, ...) PAWL__KIND_##kind(MEMBER, __VA_ARGS__, .reserved = 0)
#define PAWL__FIELD(kind, ...) PAWL__KIND_##kind(FIELD, __VA_ARGS__, .reserved = 0)

#define PAWL__KIND_BOOL(use, ...) PAWL__##use##_ONE(PAWL_KIND_BOOL, bool, __VA_ARGS__)
#define PAWL__KIND_INT16(use, ...) PAWL__##use##_ONE(PAWL_KIND_INT16, int16_t, __VA_ARGS__)
#define PAWL__KIND_INT32(use, ...) PAWL__##use##_ONE(PAWL_KIND_INT32, int32_t, __VA_ARGS__)
#define PAWL__KIND_INT64(use, ...) PAWL__##use##_ONE(PAWL_KIND_INT64, int64_t, __VA_ARGS__)
#define PAWL__KIND_UINT16(use, ...) PAWL__##use##_ONE(PAWL_KIND_UINT16, uint16_t, __VA_ARGS__)
#define PAWL__KIND_UINT32(use, ...) PAWL__##use##_ONE(PAWL_KIND_UINT32, uint32_t, __VA_ARGS__)
#define PAWL__KIND_UINT64(use, ...) PAWL__##use##_ONE(PAWL_KIND_UINT64, uint64_t, __VA_ARGS__)
#define PAWL__KIND_DOUBLE(use, ...) PAWL__##use##_ONE(PAWL_KIND_DOUBLE, double, __VA_ARGS__)
#define PAWL__KIND_TEXT(use, ...) PAWL__##use##_ONE(PAWL_KIND_TEXT, pawl_text, __VA_ARGS__)
#define PAWL__KIND_BYTES(use, ...) PAWL__##use##_ONE(PAWL_KIND_BYTES, pawl_bytes, __VA_ARGS__)
#define PAWL__KIND_UUID(use, ...) PAWL__##use##_ONE(PAWL_KIND_UUID, pawl_uuid, __VA_ARGS__)
#define PAWL__KIND_TIME(use, ...) PAWL__##use##_ONE(PAWL_KIND_TIME, pawl_time, __VA_ARGS__)
#define PAWL__KIND_JSON(use, ...) PAWL__##use##_ONE(PAWL_KIND_JSON, pawl_text, __VA_ARGS__)

#define PAWL__KIND_OPT_BOOL(use, ...) PAWL__##use##_OPT(PAWL_KIND_BOOL, bool, __VA_ARGS__)
#define PAWL__KIND_OPT_INT16(use, ...) PAWL__##use##_OPT(PAWL_KIND_INT16, int16, __VA_ARGS__)
#define PAWL__KIND_OPT_INT32(use, ...) PAWL__##use##_OPT(PAWL_KIND_INT32, int32, __VA_ARGS__)
#define PAWL__KIND_OPT_INT64(use, ...) PAWL__##use##_OPT(PAWL_KIND_INT64, int64, __VA_ARGS__)
#define PAWL__KIND_OPT_UINT16(use, ...) PAWL__##use##_OPT(PAWL_KIND_UINT16, uint16, __VA_ARGS__)
#define PAWL__KIND_OPT_UINT32(use, ...) PAWL__##use##_OPT(PAWL_KIND_UINT32, uint32, __VA_ARGS__)
#define PAWL__KIND_OPT_UINT64(use, ...) PAWL__##use##_OPT(PAWL_KIND_UINT64, uint64, __VA_ARGS__)
#define PAWL__KIND_OPT_DOUBLE(use, ...) PAWL__##use##_OPT(PAWL_KIND_DOUBLE, double, __VA_ARGS__)
#define PAWL__KIND_OPT_TEXT(use, ...) PAWL__##use##_OPT(PAWL_KIND_TEXT, text, __VA_ARGS__)
#define PAWL__KIND_OPT_BYTES(use, ...) PAWL__##use##_OPT(PAWL_KIND_BYTES, bytes, __VA_ARGS__)
#define PAWL__KIND_OPT_UUID(use, ...) PAWL__##use##_OPT(PAWL_KIND_UUID, uuid, __VA_ARGS__)
#define PAWL__KIND_OPT_TIME(use, ...) PAWL__##use##_OPT(PAWL_KIND_TIME, time, __VA_ARGS__)
#define PAWL__KIND_OPT_JSON(use, ...) PAWL__##use##_OPT(PAWL_KIND_JSON, json, __VA_ARGS__)

#define PAWL__KIND_LIST_BOOL(use, ...) PAWL__##use##_LIST(PAWL_KIND_BOOL, bool, __VA_ARGS__)
#define PAWL__KIND_LIST_INT16(use, ...) PAWL__##use##_LIST(PAWL_KIND_INT16, int16, __VA_ARGS__)
#define PAWL__KIND_LIST_INT32(use, ...) PAWL__##use##_LIST(PAWL_KIND_INT32, int32, __VA_ARGS__)
#define PAWL__KIND_LIST_INT64(use, ...) PAWL__##use##_LIST(PAWL_KIND_INT64, int64, __VA_ARGS__)
#define PAWL__KIND_LIST_UINT16(use, ...) PAWL__##use##_LIST(PAWL_KIND_UINT16, uint16, __VA_ARGS__)
#define PAWL__KIND_LIST_UINT32(use, ...) PAWL__##use##_LIST(PAWL_KIND_UINT32, uint32, __VA_ARGS__)
#define PAWL__KIND_LIST_UINT64(use, ...) PAWL__##use##_LIST(PAWL_KIND_UINT64, uint64, __VA_ARGS__)
#define PAWL__KIND_LIST_DOUBLE(use, ...) PAWL__##use##_LIST(PAWL_KIND_DOUBLE, double, __VA_ARGS__)
#define PAWL__KIND_LIST_TEXT(use, ...) PAWL__##use##_LIST(PAWL_KIND_TEXT, text, __VA_ARGS__)
#define PAWL__KIND_LIST_BYTES(use, ...) PAWL__##use##_LIST(PAWL_KIND_BYTES, bytes, __VA_ARGS__)
#define PAWL__KIND_LIST_UUID(use, ...) PAWL__##use##_LIST(PAWL_KIND_UUID, uuid, __VA_ARGS__)
#define PAWL__KIND_LIST_TIME(use, ...) PAWL__##use##_LIST(PAWL_KIND_TIME, time, __VA_ARGS__)
#define PAWL__KIND_LIST_JSON(use, ...) PAWL__##use##_LIST(PAWL_KIND_JSON, json, __VA_ARGS__)

/* These kinds take one more argument: the size, or the name of an enum or record. */
#define PAWL__KIND_FIXED(use, ...) PAWL__##use##_FIXED(__VA_ARGS__)
#define PAWL__KIND_OPT_FIXED(use, ...) PAWL__##use##_OPT_FIXED(__VA_ARGS__)
#define PAWL__KIND_LIST_FIXED(use, ...) PAWL__##use##_LIST_FIXED(__VA_ARGS__)
#define PAWL__KIND_ENUM(use, ...) PAWL__##use##_ENUM(__VA_ARGS__)
#define PAWL__KIND_OPT_ENUM(use, ...) PAWL__##use##_OPT_ENUM(__VA_ARGS__)
#define PAWL__KIND_LIST_ENUM(use, ...) PAWL__##use##_LIST_ENUM(__VA_ARGS__)
#define PAWL__KIND_RECORD(use, ...) PAWL__##use##_RECORD(__VA_ARGS__)
#define PAWL__KIND_OPT_RECORD(use, ...) PAWL__##use##_OPT_RECORD(__VA_ARGS__)
#define PAWL__KIND_LIST_RECORD(use, ...) PAWL__##use##_LIST_RECORD(__VA_ARGS__)

/* ---- Members of the struct --------------------------------------------- */

#define PAWL__MEMBER_ONE(kind_value, c_type, member, ...) c_type member;
#define PAWL__MEMBER_OPT(kind_value, suffix, member, ...) pawl_optional_##suffix member;
#define PAWL__MEMBER_LIST(kind_value, suffix, member, ...) pawl_list_##suffix member;
#define PAWL__MEMBER_FIXED(member, bytes, ...) char member[(bytes) + 1];
#define PAWL__MEMBER_OPT_FIXED(member, bytes, ...) \
    struct {                                       \
        bool is_set;                               \
        char value[(bytes) + 1];                   \
    } member;
#define PAWL__MEMBER_LIST_FIXED(member, bytes, ...) \
    struct {                                        \
        char (*items)[(bytes) + 1];                 \
        size_t count;                               \
    } member;
#define PAWL__MEMBER_ENUM(member, c_enum, ...) int member;
#define PAWL__MEMBER_OPT_ENUM(member, c_enum, ...) pawl_optional_enum member;
#define PAWL__MEMBER_LIST_ENUM(member, c_enum, ...) pawl_list_enum member;
#define PAWL__MEMBER_RECORD(member, c_struct, ...) struct c_struct member;
#define PAWL__MEMBER_OPT_RECORD(member, c_struct, ...) struct c_struct *member;
#define PAWL__MEMBER_LIST_RECORD(member, c_struct, ...) \
    struct {                                            \
        struct c_struct *items;                         \
        size_t           count;                         \
    } member;

/* ---- Rows of the descriptor; pawl__self is the struct ------------------- */

#define PAWL__ROW(kind_value, shape_value, member, ...) \
    {.name   = #member,                                 \
     .kind   = kind_value,                              \
     .shape  = shape_value,                             \
     .offset = offsetof(pawl__self, member),            \
     __VA_ARGS__},
#define PAWL__ROW_ONE(kind_value, member, ...)                                              \
    PAWL__ROW(kind_value, PAWL_ONE, member, .item_size = sizeof(((pawl__self *)0)->member), \
              __VA_ARGS__)
#define PAWL__ROW_OPT(kind_value, member, ...)                                                   \
    PAWL__ROW(kind_value, PAWL_OPTIONAL, member,                                                 \
              .value_offset = offsetof(pawl__self, member.value) - offsetof(pawl__self, member), \
              .item_size    = sizeof(((pawl__self *)0)->member.value), __VA_ARGS__)
#define PAWL__ROW_LIST(kind_value, member, ...) \
    PAWL__ROW(kind_value, PAWL_LIST, member,    \
              .item_size = sizeof(*((pawl__self *)0)->member.items), __VA_ARGS__)

#define PAWL__FIELD_ONE(kind_value, c_type, ...) PAWL__ROW_ONE(kind_value, __VA_ARGS__)
#define PAWL__FIELD_OPT(kind_value, suffix, ...) PAWL__ROW_OPT(kind_value, __VA_ARGS__)
#define PAWL__FIELD_LIST(kind_value, suffix, ...) PAWL__ROW_LIST(kind_value, __VA_ARGS__)
#define PAWL__FIELD_FIXED(member, bytes, ...) \
    PAWL__ROW_ONE(PAWL_KIND_FIXED, member, .fixed_size = (bytes), __VA_ARGS__)
#define PAWL__FIELD_OPT_FIXED(member, bytes, ...) \
    PAWL__ROW_OPT(PAWL_KIND_FIXED, member, .fixed_size = (bytes), __VA_ARGS__)
#define PAWL__FIELD_LIST_FIXED(member, bytes, ...) \
    PAWL__ROW_LIST(PAWL_KIND_FIXED, member, .fixed_size = (bytes), __VA_ARGS__)
#define PAWL__FIELD_ENUM(member, c_enum, ...) \
    PAWL__ROW_ONE(PAWL_KIND_ENUM, member, .enumeration = c_enum##_pawl_enum, __VA_ARGS__)
#define PAWL__FIELD_OPT_ENUM(member, c_enum, ...) \
    PAWL__ROW_OPT(PAWL_KIND_ENUM, member, .enumeration = c_enum##_pawl_enum, __VA_ARGS__)
#define PAWL__FIELD_LIST_ENUM(member, c_enum, ...) \
    PAWL__ROW_LIST(PAWL_KIND_ENUM, member, .enumeration = c_enum##_pawl_enum, __VA_ARGS__)
#define PAWL__FIELD_RECORD(member, c_struct, ...) \
    PAWL__ROW_ONE(PAWL_KIND_RECORD, member, .record = c_struct##_pawl_record, __VA_ARGS__)
#define PAWL__FIELD_OPT_RECORD(member, c_struct, ...)                                        \
    PAWL__ROW(PAWL_KIND_RECORD, PAWL_OPTIONAL, member, .item_size = sizeof(struct c_struct), \
              .record = c_struct##_pawl_record, __VA_ARGS__)
#define PAWL__FIELD_LIST_RECORD(member, c_struct, ...) \
    PAWL__ROW_LIST(PAWL_KIND_RECORD, member, .record = c_struct##_pawl_record, __VA_ARGS__)

/* ---- Declaring ----------------------------------------------------------- */

/* PAWL_RECORD(name, LIST); declares the struct `name` and its descriptor. Each declaring macro of pawl is followed by
 * a semicolon. */
#define PAWL_RECORD(name_, FIELDS) PAWL_RECORD_WITH(name_, FIELDS, .reserved = 0)

/* PAWL_RECORD_WITH(name, LIST, .type = "Shop.OrderPlaced", .version = 2, ...);
 * initialisers of pawl_record follow the list. */
#define PAWL_RECORD_WITH(name_, FIELDS, ...) \
    PAWL__RECORD(name_, FIELDS(PAWL__MEMBER), FIELDS(PAWL__FIELD), __VA_ARGS__)
#define PAWL__RECORD(name_, MEMBERS, ROWS, ...)                                \
    typedef struct name_ {                                                     \
        pawl_text pawl_extra; /* JSON members unknown to this program */       \
        MEMBERS                                                                \
    } name_;                                                                   \
    PAWL__UNUSED static inline const pawl_record *name_##_pawl_record(void)    \
    {                                                                          \
        typedef name_ pawl__self;                                              \
        PAWL__PARTIAL_BEGIN                                                    \
        static const pawl_field  pawl__fields[] = {ROWS{.name = NULL}};        \
        static const pawl_record pawl__record   = {                            \
              .table_size  = sizeof(pawl_record),                              \
              .field_size  = sizeof(pawl_field),                               \
              .name        = #name_,                                           \
              .size        = sizeof(pawl__self),                               \
              .fields      = pawl__fields,                                     \
              .field_count = sizeof pawl__fields / sizeof pawl__fields[0] - 1, \
              __VA_ARGS__};                                                    \
        PAWL__PARTIAL_END                                                      \
        return &pawl__record;                                                  \
    }                                                                          \
    typedef name_ name_##_pawl_declared

/* PAWL_ENUM(name, LIST); with one E(CONSTANT, "name in JSON") per value, numbered from 0. JSON has
 * the names, so values may be reordered, except the first one: it is the default, which JSON leaves out. */
#define PAWL__ENUM_CONSTANT(constant, text) constant,
#define PAWL__ENUM_TEXT(constant, text) text,
#define PAWL_ENUM(name_, ITEMS)                                                                \
    typedef enum name_ { ITEMS(PAWL__ENUM_CONSTANT) } name_;                                   \
    PAWL__UNUSED static inline const pawl_enum *name_##_pawl_enum(void)                        \
    {                                                                                          \
        static const char *const pawl__names[] = {ITEMS(PAWL__ENUM_TEXT)};                     \
        static const pawl_enum   pawl__enum    = {#name_, pawl__names,                         \
                                                  sizeof pawl__names / sizeof pawl__names[0]}; \
        return &pawl__enum;                                                                    \
    }                                                                                          \
    typedef name_ name_##_pawl_declared

/* Constant expressions of type pawl_record_fn * and pawl_enum_fn *. */
#define PAWL_RECORD_OF(name) name##_pawl_record
#define PAWL_ENUM_OF(name) name##_pawl_enum

/* ---- Messages: two arguments, the descriptor and the struct ------------- */

/* pawl_send(ctx, "billing", PAWL_MESSAGE(charge_card, .cents = 5)). The struct lives until
 * the end of the enclosing block, in C++ (20 or later, members in their order) until that of
 * the call. A C string for a text does not compile: PAWL_TEXT("literal"), or
 * pawl_text_of(string), is one. */
#define PAWL_MESSAGE(...) PAWL__MESSAGE(__VA_ARGS__, )
#ifdef __cplusplus
#define PAWL__MESSAGE(c_struct, ...)                                                    \
    c_struct##_pawl_record(), static_cast<const void *>(&static_cast<const c_struct &>( \
                                  c_struct PAWL__BRACES(.pawl_extra = {}, __VA_ARGS__)))
#else
#define PAWL__MESSAGE(c_struct, ...)                          \
    c_struct##_pawl_record(), (const void *)&(const c_struct) \
    {                                                         \
        .pawl_extra = {.size = 0}, __VA_ARGS__                \
    }
#endif

/* The same for an existing struct; a pointer of another type does not compile. */
#ifdef __cplusplus
#define PAWL_MESSAGE_OF(c_struct, pointer) \
    c_struct##_pawl_record(), static_cast<const void *>(static_cast<const c_struct *>(pointer))
#else
#define PAWL_MESSAGE_OF(c_struct, pointer) \
    c_struct##_pawl_record(),              \
        (const void *)_Generic((pointer), c_struct * : (pointer), const c_struct * : (pointer))
#endif

#endif
