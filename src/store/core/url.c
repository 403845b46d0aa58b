/* url.c - schemes, and URLs that may be shown.
 *
 * A password stands in two places: between the user's name and '@', and in
 * parameters such as "password=". Where a URL can be read in two ways, because
 * a password holds an unescaped '/', '?' or '@', more is masked, never less.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/core.h"

#include <string.h>
#include <strings.h>

#define MASK "***"

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

size_t pawl__url_scheme_size(const char *url)
{
    if (url == NULL || !is_lower(url[0]))
        return 0;
    size_t size = 1;
    while (is_lower(url[size]) || is_digit(url[size]) || url[size] == '+' || url[size] == '-')
        size++;
    return url[size] == ':' && size < PAWL_PREFIX_SIZE_MAX ? size : 0;
}

/* Where the user's part ends: at the last '@' before the parameters. When there
 * is none, but what stands before the path is no host and port either, '?' or
 * '#' belongs to a password and the last '@' of all ends it. */
static const char *user_part_end(const char *authority)
{
    const char *parameters = strchr(authority, '?');
    const char *last       = strrchr(authority, '@');
    if (last == NULL || parameters == NULL || last < parameters)
        return last;
    for (const char *at = parameters; at > authority; at--)
        if (at[-1] == '@')
            return at - 1;
    const char *colon = memchr(authority, ':', (size_t)(parameters - authority));
    if (colon == NULL)
        return NULL;
    const char *port = colon + 1;
    while (is_digit(*port))
        port++;
    return *port == '/' || *port == '?' ? NULL : last;
}

/* A growing text in a fixed buffer; what does not fit is left out. */
typedef struct sink {
    char  *text;
    size_t size; /* with room for the NUL */
    size_t used;
} sink;

static void put(sink *out, const char *text, size_t size)
{
    size_t room = out->size - 1 - out->used;
    size_t part = size < room ? size : room;
    memcpy(out->text + out->used, text, part);
    out->used += part;
}

static bool ends_with(const char *name, size_t size, const char *end)
{
    size_t end_size = strlen(end);
    return size >= end_size && strncasecmp(name + size - end_size, end, end_size) == 0;
}

static bool is_secret(const char *name, size_t size)
{
    static const char *const ends[] = {"password", "passwd", "pwd", "pass", "secret", "token"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends_with(name, size, ends[i]))
            return true;
    return false;
}

/* Copies "a=b&password=c" with secret values masked. Whatever stands between
 * two of the separators and has a '=' is taken for a parameter. */
static void put_parameters(sink *out, const char *text)
{
    while (*text != '\0') {
        size_t      size   = strcspn(text, "?&;");
        const char *equals = memchr(text, '=', size);
        if (equals != NULL && is_secret(text, (size_t)(equals - text))) {
            put(out, text, (size_t)(equals - text) + 1);
            put(out, MASK, sizeof MASK - 1);
        } else {
            put(out, text, size);
        }
        text += size;
        if (*text != '\0')
            put(out, text++, 1);
    }
}

void pawl__url_mask(const char *url, char *text, size_t size)
{
    sink        out       = {text, size, 0};
    const char *authority = url != NULL ? strstr(url, "://") : NULL;
    const char *rest      = url != NULL ? url : "";
    const char *end       = authority != NULL ? user_part_end(authority + 3) : NULL;
    if (end != NULL) {
        const char *colon = memchr(authority + 3, ':', (size_t)(end - authority - 3));
        put(&out, url, (size_t)((colon != NULL ? colon : end) - url));
        if (colon != NULL)
            put(&out, ":" MASK, sizeof MASK);
        rest = end;
    }
    put_parameters(&out, rest);
    text[out.used] = '\0';
}

pawl_text pawl_url_masked(const char *url, pawl_arena *arena)
{
    /* Each mask takes the place of a text that may be empty behind a separator
     * or '=', so that no URL becomes more than three times as long. */
    size_t size = url != NULL ? strlen(url) * 3 + sizeof MASK : 1;
    char  *text = pawl_arena_take(arena, size);
    if (text == NULL)
        return (pawl_text){0};
    pawl__url_mask(url, text, size);
    return pawl_text_of(text);
}
