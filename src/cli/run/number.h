/* number.h - fields of an endpoint's options that are numbers, each by its row.
 *
 * Threads: plain data. Tests: tests/system/command_options.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_NUMBER_H
#define PAWL_CLI_NUMBER_H

#include "runtime/endpoint/option_rows.h"

/* Sets a field: a value of 0 becomes -1, since 0 in the field is the default, and a deadline is in
 * milliseconds. */
void pawl__number_put(pawl_endpoint_options *options, const pawl__number_row *row, int64_t value);
int64_t pawl__number_get(const pawl_endpoint_options *options, const pawl__number_row *row);

#endif
