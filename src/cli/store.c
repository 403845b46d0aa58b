/* store.c - which store a verb works on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include <stdlib.h>

pawl_code pawl__store_url(pawl__store_fields *fields, pawl_error *error)
{
    if (fields->store == NULL)
        fields->store = getenv("PAWL_STORE");
    if (fields->store == NULL || fields->store[0] == '\0')
        return pawl_error_set(error, PAWL_EINVAL,
                              "no store: give --store URL or set the variable PAWL_STORE");
    return PAWL_OK;
}

pawl_store_options pawl__store_options(const pawl__store_fields *fields, pawl_open_mode mode)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = mode;
    options.system_prefix      = fields->prefix;
    /* Zero would be the default: the shortest wait that can be asked for is 1 ms. */
    options.deadline_ms = (fields->deadline + 999) / 1000;
    return options;
}
