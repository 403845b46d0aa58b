/* report.h - the result of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_REPORT_H
#define TRANSFER_REPORT_H

#include "check.h"
#include "supervisor.h"

/* Reads the journal, and what is left in queues and the outbox. An error only when the
 * store cannot be read. */
pawl_code transfer_report_make(transfer_supervisor *run, transfer_found *found, pawl_error *error);

/* On standard output; with --json one object and nothing else there, the
 * differences then on standard error. */
void transfer_report_print(const transfer_supervisor *run, const transfer_found *found);

#endif
