/* lease_name.c - makes the names of leases. The command has a copy of this file (CMakeLists.txt).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include <string.h>

pawl_text pawl__lease_name(const char *kind, pawl_text of, pawl_arena *arena)
{
    char id[PAWL_UUID_TEXT_SIZE + 1];
    if (strlen(kind) + 1 + of.size < PAWL_NAME_SIZE_MAX)
        return pawl_arena_printf(arena, "%s/%.*s", kind, PAWL_TEXT_ARGS(of));
    pawl_uuid_format(pawl_uuid_v5((pawl_uuid){{0}}, of.data, of.size), id);
    return pawl_arena_printf(arena, "%s/%s", kind, id);
}
