/* lead.h - the names of leases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_LEAD_H
#define PAWL_STORE_SQL_LEAD_H

#include "store/sql/connection.h"

/* A kind of up to 8 bytes ("queue:", "lead:") and a name that pawl_changes_check limits. */
typedef struct pawl__sql_lease_name_text {
    char      data[PAWL_NAME_SIZE_MAX + 8];
    pawl_text text;
} pawl__sql_lease_name_text;

pawl_code pawl__sql_lease_name(const pawl_store *store, const char *kind, pawl_text name,
                               pawl__sql_lease_name_text *result, pawl_error *error);

#endif
