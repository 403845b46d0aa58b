/* ids.c - ids that a replay makes again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/ids.h"

#include "pawl/limits.h"

#include <string.h>

/* The name space of pawl's dispatch ids; itself a UUIDv5 of "pawl.dispatch" in
 * the RFC's name space for URLs. Never changes. */
static const pawl_uuid name_space = {{0x87, 0x94, 0x5d, 0xda, 0xed, 0x60, 0x53, 0x46, 0xb8, 0x19,
                                      0xa7, 0x8c, 0x47, 0x09, 0x44, 0x41}};

static size_t put_number(uint8_t *out, uint64_t value)
{
    for (size_t i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> (56 - 8 * i));
    return 8;
}

static size_t put_text(uint8_t *out, pawl_text text)
{
    size_t size = put_number(out, text.size);
    if (text.size > 0)
        memcpy(out + size, text.data, text.size);
    return size + text.size;
}

pawl_dispatch_id pawl__dispatch_id(pawl_text endpoint, pawl_text source, pawl_text message_id,
                                   int64_t version, int32_t index)
{
    /* Two names and a source of a name, a slash and a uuid: all are limited. */
    uint8_t   name[4 * PAWL_NAME_SIZE_MAX + 64];
    pawl_text subject = source.size > 0 ? source : message_id;
    size_t    size    = put_text(name, endpoint);
    name[size++]      = source.size > 0 ? 's' : 'm';
    if (subject.size > 2 * PAWL_NAME_SIZE_MAX)
        subject.size = 2 * PAWL_NAME_SIZE_MAX;
    size += put_text(name + size, subject);
    size += put_number(name + size, (uint64_t)version);
    size += put_number(name + size, (uint64_t)(uint32_t)index);
    return (pawl_dispatch_id){pawl_uuid_v5(name_space, name, size)};
}
