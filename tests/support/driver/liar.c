/* liar.c - an invalid module: the size in its tables is larger than the tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/base.h"

/* A table of eight bytes on every machine, which begins with its size. */
typedef const size_t table[8 / sizeof(size_t)];

PAWL_API extern table pawl_store_driver;
PAWL_API extern table pawl_transport_driver;

table pawl_store_driver     = {100000};
table pawl_transport_driver = {100000};
