/* storable.c - checks the texts of a message that pawl did not write itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/storable.h"

#include "pawl/limits.h"

typedef struct field {
    const char *name;
    size_t      size_min, size_max;
} field;

/* An empty type has an error text of its own (engine/lookup.c). */
static const field fields[PAWL__STORABLE_COUNT] = {
    {"message id", 1, PAWL_MESSAGE_ID_SIZE_MAX},     {"type", 0, PAWL_NAME_SIZE_MAX},
    {"correlation id", 0, PAWL_MESSAGE_ID_SIZE_MAX}, {"causation id", 0, PAWL_MESSAGE_ID_SIZE_MAX},
    {"headers", 0, PAWL_HEADERS_SIZE_MAX},
};

/* Empties a text that cannot be stored, and tells why; the answer's data is NULL if memory is short. */
static pawl_text empty_unfit(const field *of, pawl_text *text, pawl_arena *arena)
{
    const pawl_text was   = *text;
    bool            is_it = was.size >= of->size_min && was.size <= of->size_max;
    size_t          at    = 0;
    if (is_it && pawl_text_is_valid(was, &at))
        return (pawl_text){.data = "", .size = 0};
    *text = (pawl_text){.data = "", .size = 0};
    if (is_it)
        return pawl_arena_printf(
            arena, "field '%s' is not a text in UTF-8, or has a NUL, at byte %zu", of->name, at);
    return pawl_arena_printf(arena, "field '%s' has %zu bytes, the limit is %s%zu", of->name,
                             was.size, of->size_min > 0 ? "1 to " : "", of->size_max);
}

pawl_code pawl__make_storable(pawl_text *const texts[PAWL__STORABLE_COUNT], pawl_arena *arena,
                              pawl_text *why)
{
    *why = (pawl_text){.data = "", .size = 0};
    for (size_t i = 0; i < PAWL__STORABLE_COUNT; i++) {
        pawl_text found = empty_unfit(&fields[i], texts[i], arena);
        if (found.data == NULL)
            return PAWL_ENOMEM;
        if (why->size == 0)
            *why = found;
    }
    return PAWL_OK;
}

/* The body is that of a row which another program wrote. */
pawl_code pawl__fit_body(pawl_text *body, pawl_arena *arena, pawl_text *why)
{
    if (body->size <= PAWL_BODY_SIZE_MAX)
        return PAWL_OK;
    *why  = pawl_arena_printf(arena,
                              "its body has %zu bytes, the limit is %d: its body is left out of "
                               "this dead letter, and gone",
                              body->size, PAWL_BODY_SIZE_MAX);
    *body = (pawl_text){.data = "", .size = 0};
    return why->data != NULL ? PAWL_OK : PAWL_ENOMEM;
}
