/* nameless.c - a module that is not a driver: it exports another name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_driver.h"

PAWL_API extern const int pawl_something_else;

const int pawl_something_else = 1;
