/* version.c - the version of the library, which everything else may name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/pawl.h"

const char *pawl_version(void)
{
    return PAWL_VERSION;
}
