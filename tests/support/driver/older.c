/* older.c - a module built for another version of pawl: its table contains only the size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_driver.h"

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size = 8,
    .scheme   = "older",
};
