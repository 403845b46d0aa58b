/* dispatch.c - computes ids of dispatches, so that a replay computes the same ids again.
 *
 * A version 5 UUID over this name, numbers in network order (docs/dispatch-ids.md):
 *
 *     size of the endpoint  8 bytes
 *     the endpoint
 *     's' or 'm'            1 byte: the subject is a source, or a message's id
 *     size of the subject   8 bytes
 *     the subject
 *     version               8 bytes
 *     index                 8 bytes
 *
 * A size stands before each text, so that different inputs never give the same bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/dispatch.h"

#include "pawl/limits.h"

#include <string.h>

/* The name space is a version 5 UUID of "pawl.dispatch" in the RFC's name space for URLs. It never changes. */
static const pawl_uuid name_space = {{0x87, 0x94, 0x5d, 0xda, 0xed, 0x60, 0x53, 0x46, 0xb8, 0x19,
                                      0xa7, 0x8c, 0x47, 0x09, 0x44, 0x41}};

#define NUMBER_SIZE 8
#define NAME_SIZE_MAX (PAWL_NAME_SIZE_MAX + PAWL_SOURCE_SIZE_MAX + 4 * NUMBER_SIZE + 1)
_Static_assert(PAWL_SOURCE_SIZE_MAX >= PAWL_MESSAGE_ID_SIZE_MAX, "the subject may be either");
_Static_assert(PAWL_SOURCE_SIZE_MAX >= PAWL_STREAM_SIZE_MAX, "a stream is a source");

static size_t put_number(uint8_t *out, uint64_t value)
{
    for (size_t i = 0; i < NUMBER_SIZE; i++)
        out[i] = (uint8_t)(value >> (56 - 8 * i));
    return NUMBER_SIZE;
}

static size_t put_text(uint8_t *out, pawl_text text)
{
    size_t size = put_number(out, text.size);
    if (text.size > 0)
        memcpy(out + size, text.data, text.size);
    return size + text.size;
}

pawl_dispatch_id pawl__dispatch_id_of(pawl_text endpoint, char kind, pawl_text subject,
                                      int64_t version, int32_t index)
{
    uint8_t name[NAME_SIZE_MAX];
    if (endpoint.size > PAWL_NAME_SIZE_MAX || subject.size > PAWL_SOURCE_SIZE_MAX)
        return (pawl_dispatch_id){{{0}}};
    size_t size  = put_text(name, endpoint);
    name[size++] = (uint8_t)kind;
    size += put_text(name + size, subject);
    size += put_number(name + size, (uint64_t)version);
    size += put_number(name + size, (uint64_t)(uint32_t)index);
    return (pawl_dispatch_id){pawl_uuid_v5(name_space, name, size)};
}

pawl_dispatch_id pawl_dispatch_id_make(pawl_text endpoint, pawl_text source, int64_t version,
                                       int32_t index)
{
    return pawl__dispatch_id_of(endpoint, PAWL__SUBJECT_SOURCE, source, version, index);
}

pawl_dispatch_id pawl__dispatch_id(pawl_text endpoint, pawl_text source, pawl_text message_id,
                                   int64_t version, int32_t index)
{
    if (source.size == 0)
        return pawl__dispatch_id_of(endpoint, PAWL__SUBJECT_MESSAGE, message_id, version, index);
    return pawl_dispatch_id_make(endpoint, source, version, index);
}
