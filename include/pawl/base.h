/* base.h - further calls on the types of types.h, for stores and tools: comparing and parsing
 * texts, times and ids, random numbers, arenas, the allocator, log lines.
 *
 * Threads: everything here is safe to call from any thread as long as two
 * threads do not touch one object at once; pawl_allocator_set is for
 * the start of the program.
 * Tests: tests/unit/base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_H
#define PAWL_BASE_H

#include <stdarg.h>

#include "pawl/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Text, codes and errors --------------------------------------------- */

/* Bytewise, as every store compares: <0, 0, >0. */
PAWL_API int pawl_text_compare(pawl_text left, pawl_text right);
/* Well-formed UTF-8 without NUL. On false `*at` (may be NULL) is the offset of
 * the first bad byte. */
PAWL_API bool pawl_text_is_valid(pawl_text text, size_t *at);

/* The code's name, "ECONFLICT"; "?" for a number that is no code. Static text. */
PAWL_API const char *pawl_code_name(pawl_code code);
PAWL_API pawl_retry  pawl_code_retry(pawl_code code);
/* The sentence of PAWL_CODES. Static text. */
PAWL_API const char *pawl_code_text(pawl_code code);
/* The exit code the command gives for this code (0 1 2 3 4 5 6 70; docs/COMMAND.md). */
PAWL_API int pawl_code_exit(pawl_code code);

PAWL_API pawl_code pawl_error_setv(pawl_error *error, pawl_code code, const char *format,
                                   va_list arguments) PAWL_PRINTF(3, 0);
/* Puts "what: " before the text that is there, sets the error's code to `code`, and returns `code`.
 * "database is locked" becomes "commit order 17: database is locked". */
PAWL_API pawl_code pawl_error_wrap(pawl_error *error, pawl_code code, const char *format, ...)
    PAWL_PRINTF(3, 4);

/* ---- Ids, time and random numbers ----------------------------------------- */

/* Reads 36 characters, either case. PAWL_EINVAL names the text. */
PAWL_API pawl_code pawl_uuid_parse(pawl_text text, pawl_uuid *uuid, pawl_error *error);
PAWL_API bool      pawl_uuid_is_zero(pawl_uuid uuid);
PAWL_API int       pawl_uuid_compare(pawl_uuid left, pawl_uuid right);
/* Version 4 of 16 random bytes. */
PAWL_API pawl_uuid pawl_uuid_v4(const uint8_t random[16]);
/* Version 5 (SHA-1) of a name in a name space (RFC 9562). */
PAWL_API pawl_uuid pawl_uuid_v5(pawl_uuid name_space, const void *name, size_t size);
/* The id of a dispatch: version 5 over endpoint, ordering key (`source`), version and index, the same on
 * every platform (O5, docs/dispatch-ids.md). `version` is that of the sender's
 * last event, `index` counts its dispatches from 0. Zero, which no store takes,
 * when the endpoint or the ordering key is over its limit. From any thread. */
PAWL_API pawl_dispatch_id pawl_dispatch_id_make(pawl_text endpoint, pawl_text source,
                                                int64_t version, int32_t index);

/* RFC 3339 and its common relatives: date, 'T' or blank, time, optional
 * fraction of any length (cut to microseconds), 'Z' or an offset +hh:mm, +hhmm,
 * +hh; no zone means UTC. PAWL_EINVAL names the text and what is wrong. */
PAWL_API pawl_code pawl_time_parse(pawl_text text, pawl_time *time, pawl_error *error);
/* Saturates at PAWL_TIME_MIN and PAWL_TIME_MAX. */
PAWL_API pawl_time pawl_time_add(pawl_time time, int64_t duration);

/* A repeatable source of random numbers: seed once, from the system outside
 * tests. One per thread. */
typedef struct pawl_random {
    uint64_t state[4];
    uint64_t last_v7; /* keeps v7 ids of one source in order */
} pawl_random;

PAWL_API void     pawl_random_seed(pawl_random *random, uint64_t seed);
PAWL_API uint64_t pawl_random_next(pawl_random *random);
/* Uniform in 0 .. limit-1; 0 for limit 0. */
PAWL_API uint64_t pawl_random_below(pawl_random *random, uint64_t limit);
/* Version 7: ids made from one source in sequence sort in that order. */
PAWL_API pawl_uuid pawl_uuid_v7(pawl_random *random, pawl_time now);

/* ---- Memory ------------------------------------------------------------ */

/* All memory of the library comes through one allocator. `resize` works as
 * realloc; size 0 frees and returns NULL. Set before anything else is called. */
typedef struct pawl_allocator {
    void *(*resize)(void *memory, size_t size, void *context);
    void *context;
} pawl_allocator;

/* NULL restores the C library's. */
PAWL_API void  pawl_allocator_set(const pawl_allocator *allocator);
PAWL_API void *pawl_resize(void *memory, size_t size);
PAWL_API void *pawl_allocate(size_t size); /* zeroed */
PAWL_API void  pawl_free(void *memory);

typedef struct pawl_arena_point {
    void  *block;
    size_t used;
} pawl_arena_point;

/* NULL when out of memory. `block_size` in bytes, 0 for the default (64 KiB). */
PAWL_API pawl_arena *pawl_arena_create(size_t block_size);
PAWL_API void        pawl_arena_destroy(pawl_arena *arena); /* accepts NULL */
/* Frees all that was taken; the arena keeps up to 4 MiB of blocks for reuse. */
PAWL_API void pawl_arena_reset(pawl_arena *arena);
/* The arena's current point, and a return to an earlier one, which frees all memory taken since. */
PAWL_API pawl_arena_point pawl_arena_position(pawl_arena *arena);
PAWL_API void             pawl_arena_rewind(pawl_arena *arena, pawl_arena_point point);
PAWL_API void            *pawl_arena_copy(pawl_arena *arena, const void *data, size_t size);
/* data == NULL when out of memory. */
PAWL_API pawl_text pawl_arena_printf(pawl_arena *arena, const char *format, ...) PAWL_PRINTF(2, 3);
/* Makes room for one more item in a growing array that lives in the arena:
 * returns `items`, or a larger copy when `count` has reached `*capacity`.
 * NULL when out of memory; the old array is then still good. */
PAWL_API void *pawl_arena_grow(pawl_arena *arena, void *items, size_t count, size_t *capacity,
                               size_t item_size);

/* ---- Logging ----------------------------------------------------------- */

/* Passes a line to the function of pawl_log_set. */
PAWL_API void pawl_log(pawl_log_level level, const char *format, ...) PAWL_PRINTF(2, 3);

#ifdef __cplusplus
}
#endif
#endif
