/* byte.c - an invalid module: its tables have a size of one byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/base.h"

PAWL_API extern const char pawl_store_driver;
PAWL_API extern const char pawl_transport_driver;

const char pawl_store_driver     = 1;
const char pawl_transport_driver = 1;
