/* liar.c - a module whose tables say that they are large, and are their size alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/base.h"

PAWL_API extern const size_t pawl_store_driver;
PAWL_API extern const size_t pawl_transport_driver;

const size_t pawl_store_driver     = 100000;
const size_t pawl_transport_driver = 100000;
