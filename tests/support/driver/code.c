/* code.c - a module whose symbol is a function where a table belongs.
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
