/* text.c - text as pointer and size; UTF-8.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/text.h"

#include <string.h>

pawl_text pawl_text_of(const char *string)
{
    return (pawl_text){.data = string, .size = string != NULL ? strlen(string) : 0};
}

bool pawl_text_equal(pawl_text left, pawl_text right)
{
    return left.size == right.size &&
           (left.size == 0 || memcmp(left.data, right.data, left.size) == 0);
}

int pawl_text_compare(pawl_text left, pawl_text right)
{
    size_t size  = left.size < right.size ? left.size : right.size;
    int    order = size == 0 ? 0 : memcmp(left.data, right.data, size);
    if (order != 0)
        return order;
    return left.size < right.size ? -1 : left.size > right.size;
}

void *pawl__row_of(const void *rows, size_t count, size_t size, size_t offset, pawl_text text)
{
    const char *row = rows;
    for (; count > 0; count--, row += size)
        if (pawl_text_equal(*(const pawl_text *)(const void *)(row + offset), text))
            return (void *)(uintptr_t)row;
    return NULL;
}

bool pawl__text_begins(pawl_text text, const char *prefix)
{
    size_t size = strlen(prefix);
    return text.size >= size && memcmp(text.data, prefix, size) == 0;
}

pawl_text pawl__text_behind(pawl_text text, const char *prefix)
{
    size_t size = strlen(prefix);
    if (text.size <= size || !pawl__text_begins(text, prefix))
        return (pawl_text){0};
    return (pawl_text){.data = text.data + size, .size = text.size - size};
}

bool pawl__text_has_nul_escape(pawl_text json, size_t *at)
{
    static const char nul[] = "\\u0000";
    for (size_t i = 0; i < json.size; i += 2) {
        const char *found = memchr(json.data + i, '\\', json.size - i);
        if (found == NULL)
            return false;
        i   = (size_t)(found - json.data);
        *at = i;
        if (json.size - i >= sizeof nul - 1 && memcmp(found, nul, sizeof nul - 1) == 0)
            return true;
    }
    return false;
}

void pawl__text_end_cut(char *text, size_t size)
{
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    memcpy(text + end, "...", 4);
}

/* Size of the UTF-8 character at `at`, 0 if it is not well-formed. Overlong forms, surrogates and values above
 * U+10FFFF are refused. */
static size_t character_size(const unsigned char *at, size_t left)
{
    unsigned char first = at[0];
    if (first < 0x80)
        return first != 0;
    size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || size > left)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    if ((first == 0xE0 && at[1] < 0xA0) || (first == 0xED && at[1] > 0x9F) ||
        (first == 0xF0 && at[1] < 0x90) || (first == 0xF4 && at[1] > 0x8F))
        return 0;
    return size;
}

/* Are eight bytes ASCII and not NUL? Subtracting 1 from each byte sets the top bit of a zero byte; the borrow changes
 * only bytes after the first zero. */
static bool is_plain(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return ((word | (word - UINT64_C(0x0101010101010101))) & UINT64_C(0x8080808080808080)) == 0;
}

/* Number of ASCII bytes other than NUL from `at` on, found eight at a time, since nearly all texts are ASCII. The last
 * eight may overlap those before. */
static size_t plain_size(const unsigned char *at, size_t left)
{
    size_t size = 0;
    while (left - size >= 8 && is_plain(at + size))
        size += 8;
    return size != 0 && left - size < 8 && is_plain(at + left - 8) ? left : size;
}

bool pawl_text_is_valid(pawl_text text, size_t *at)
{
    const unsigned char *data = (const unsigned char *)text.data;
    size_t               i    = 0;
    while (i < text.size) {
        i += plain_size(data + i, text.size - i);
        if (i == text.size)
            break;
        size_t size = character_size(data + i, text.size - i);
        if (size == 0) {
            if (at != NULL)
                *at = i;
            return false;
        }
        i += size;
    }
    return true;
}
