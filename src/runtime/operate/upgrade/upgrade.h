/* upgrade.h - checks whether a program can read stored rows, page by page; functions shared by the files of this
 * folder. pawl/upgrade.h has the public calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_UPGRADE_H
#define PAWL_RUNTIME_UPGRADE_H

#include "pawl/upgrade.h"
#include "record/record_internal.h"
#include "workflow/model.h"

#define PAWL__UPGRADE_PATH_SIZE \
    240 /* of a member's path in the body, "lines[].qty", NUL included */

struct pawl_upgrade {
    const pawl_application *application; /* borrowed */
    pawl_arena             *arena;
    pawl__model           **models; /* one for each endpoint */
    size_t                  model_count;
    const pawl_saga_table **tables; /* of all of them */
    size_t                  table_count;
    const pawl_upgrade     *from; /* the program that wrote the rows; NULL: not known */
};

/* The check of a page of rows. */
typedef struct pawl__upgrade_check {
    const pawl_upgrade *upgrade;
    pawl_arena         *arena;
    pawl_upgrade_fn    *found;
    void               *context;
    pawl_upgrade_found  at; /* the current row: common part of its findings */
    bool is_lenient;        /* reports nothing: the row is a dead letter already, or skipped */
    const pawl_state_format *was_format, *is_format; /* of the sagas that are compared, else NULL */
    pawl_error              *error;
} pawl__upgrade_check;

/* Reports a finding about the current row. */
void pawl__upgrade_report(const pawl__upgrade_check *check, pawl_upgrade_reason reason,
                          pawl_text member, const char *format, ...) PAWL_PRINTF(4, 5);
/* The program's model of the endpoint, or NULL. */
const pawl__model *pawl__upgrade_model(const pawl_upgrade *upgrade, pawl_text endpoint);
/* The queue of this store that messages of the endpoint for this destination reach: the one of its route, or the one of
 * this name. Empty: the route leads to another store or a broker, or is an outbound transport. */
pawl_text pawl__upgrade_queue(const pawl_upgrade *upgrade, pawl_text endpoint,
                              pawl_text destination);

/* Reports a body that the record's decoder or upcaster refused; `text` says why. */
void pawl__upgrade_refused(const pawl__upgrade_check *check, const pawl_record *record,
                           pawl_code code, const char *text);
/* Reads a body of that version. `state` is for a snapshot, whose unknown members are kept: `*state` is NULL if it could
 * not be read, which has been reported. PAWL_ENOMEM is the only failure. */
pawl_code pawl__upgrade_body(pawl__upgrade_check *check, const pawl_record *record, int version,
                             pawl_text body, bool has_members, void **state);
/* The value that a row without the member has, as text for operators. */
const char *pawl__upgrade_default(const pawl_field *field);
/* Does a row without the member have another value as field `is` than as field `was`? */
bool pawl__upgrade_misreads(const pawl_field *was, const pawl_field *is);
/* The old program's record for the current row, which the new program reads as `record`; NULL: unknown, or the versions
 * of both records and the row are not the same. */
const pawl_record *pawl__upgrade_record_before(const pawl__upgrade_check *check,
                                               const pawl_record         *record);
/* The field with that name in JSON, or NULL. */
const pawl_field *pawl__upgrade_field(const pawl_record *record, const char *name);
/* Reports members of the body that the record does not have, and members that it would misread.
 * PAWL_ENOMEM is the only failure. */
pawl_code pawl__upgrade_members(pawl__upgrade_check *check, const pawl_record *record,
                                pawl_text body);

/* A page of sagas. */
pawl_code pawl__upgrade_sagas(pawl__upgrade_check *check, pawl_store *store,
                              const pawl_saga_table *table, const pawl_scan_rows *rows);

#endif
