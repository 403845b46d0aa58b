/* trace.c - reading and writing `traceparent`.
 *
 *     00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *     |  |                                |                |
 *     |  trace id                         span id          flags
 *     version; a later one may be longer, its first 55 characters mean the same
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/headers.h"

#include "pawl/base.h"
#include "pawl/limits.h"

#include <string.h>

#define VERSION_INVALID 0xFF
#define FLAGS_KNOWN 3u

/* Upper case is invalid by the standard. */
static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(const char *text, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        int high = digit_of(text[2 * i]);
        int low  = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    size_t i = 0;
    while (i < size && bytes[i] == 0)
        i++;
    return i == size;
}

bool pawl__trace_parse(pawl_text text, pawl__trace *trace)
{
    pawl__trace read;
    uint8_t     version;
    const char *at = text.data;
    if (text.size < PAWL__TRACE_TEXT_SIZE || at[2] != '-' || at[35] != '-' || at[52] != '-')
        return false;
    if (!read_hex(at, &version, 1) || version == VERSION_INVALID)
        return false;
    if (text.size > PAWL__TRACE_TEXT_SIZE && (version == 0 || at[PAWL__TRACE_TEXT_SIZE] != '-'))
        return false;
    if (!read_hex(at + 3, read.trace_id, sizeof read.trace_id) ||
        !read_hex(at + 36, read.span_id, sizeof read.span_id) || !read_hex(at + 53, &read.flags, 1))
        return false;
    if (is_zero(read.trace_id, sizeof read.trace_id) || is_zero(read.span_id, sizeof read.span_id))
        return false;
    read.flags &= FLAGS_KNOWN;
    *trace = read;
    return true;
}

void pawl__trace_hex(const uint8_t *bytes, size_t size, char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        *text++ = digits[bytes[i] >> 4];
        *text++ = digits[bytes[i] & 15];
    }
    *text = '\0';
}

void pawl__trace_format(const pawl__trace *trace, char text[PAWL__TRACE_TEXT_SIZE + 1])
{
    memcpy(text, "00-", 3);
    pawl__trace_hex(trace->trace_id, sizeof trace->trace_id, text + 3);
    text[35] = '-';
    pawl__trace_hex(trace->span_id, sizeof trace->span_id, text + 36);
    text[52] = '-';
    pawl__trace_hex(&trace->flags, 1, text + 53);
}

static size_t put(uint8_t *out, size_t used, const void *data, size_t size, size_t size_max)
{
    size_t part = size < size_max ? size : size_max;
    if (part > 0)
        memcpy(out + used, data, part);
    return used + part;
}

pawl__trace pawl__trace_child(const pawl__trace *parent, pawl_text queue, pawl_text message_id)
{
    uint8_t     name[8 + PAWL_NAME_SIZE_MAX + 1 + PAWL_MESSAGE_ID_SIZE_MAX];
    pawl__trace child = *parent;
    pawl_uuid   space;
    memcpy(space.bytes, parent->trace_id, sizeof space.bytes);
    size_t size    = put(name, 0, parent->span_id, 8, 8);
    size           = put(name, size, queue.data, queue.size, PAWL_NAME_SIZE_MAX);
    name[size++]   = '\0'; /* names have none */
    size           = put(name, size, message_id.data, message_id.size, PAWL_MESSAGE_ID_SIZE_MAX);
    pawl_uuid hash = pawl_uuid_v5(space, name, size);
    /* The last eight bytes: their first two bits are set, so that they are not zero. */
    memcpy(child.span_id, hash.bytes + 8, sizeof child.span_id);
    return child;
}
