/* schema.h - fields and functions that the files of the verb `schema` share.
 *
 * Tests: tests/system/command_schema.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_SCHEMA_H
#define PAWL_CLI_SCHEMA_H

#include "cli/cli.h"

typedef struct pawl__schema_fields {
    const char        *action;
    pawl__store_fields at;
    const char        *dialect;
    const char        *application;
    const char        *endpoint;
    const char        *saga_prefix;
    const char        *schema;
    const char        *kinds;
    const char        *folder;
    const char        *rights, *to;
    bool               is_agreed;
    bool               is_drop;
    bool               is_dry;
    bool               is_purge;
} pawl__schema_fields;

/* Prints a line to the FILE *`context`. */
void pawl__schema_line(pawl_text line, void *context);

/* The script, to standard output or to files. `*is_printed` is false for a store whose driver alone
 * knows its script. */
pawl_code pawl__schema_print(const pawl__schema_fields *fields, const pawl_schema_spec *spec,
                             bool *is_printed, pawl_error *error);

#endif
