/* code.c - an invalid module: its symbol is a function, not a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/base.h"

PAWL_API int pawl_store_driver(void);
PAWL_API int pawl_transport_driver(void);

int pawl_store_driver(void)
{
    return 1;
}

int pawl_transport_driver(void)
{
    return 2;
}
