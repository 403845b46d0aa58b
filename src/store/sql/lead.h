/* lead.h - reads and writes rows of table leases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_LEAD_H
#define PAWL_STORE_SQL_LEAD_H

#include "store/sql/connection.h"

/* A lease as it was read, or as it is to be written. */
typedef struct pawl__sql_lease {
    pawl_text      name;
    pawl_uuid      worker; /* zero: the lease belongs to a process */
    int64_t        process;
    int64_t        pid;
    int64_t        epoch; /* 0: there is no such lease */
    pawl_time      expires;
    pawl_uuid      there; /* id of the worker's row; zero: the row is missing */
    pawl__sql_life life;  /* of that worker */
} pawl__sql_lease;

/* Name, worker, process, pid, epoch, expires. */
extern const pawl__field pawl__sql_lease_fields[6];
/* Raises the lease's epoch before it gets another holder. Fails for a damaged row. */
pawl_code pawl__sql_lease_raise(const pawl_store *store, pawl__sql_lease *lease, pawl_error *error);
/* Inserts or updates the lease. */
pawl_code pawl__sql_lease_write(pawl_store *store, const pawl__sql_lease *lease, bool is_there,
                                pawl_error *error);

/* A kind of up to 8 bytes ("queue:", "lead:") and a name that pawl_changes_check limits. */
typedef struct pawl__sql_lease_name_text {
    char      data[PAWL_NAME_SIZE_MAX + 8];
    pawl_text text;
} pawl__sql_lease_name_text;

pawl_code pawl__sql_lease_name(const pawl_store *store, const char *kind, pawl_text name,
                               pawl__sql_lease_name_text *result, pawl_error *error);

#endif
