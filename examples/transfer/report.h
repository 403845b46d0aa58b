/* report.h - the result of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_REPORT_H
#define TRANSFER_REPORT_H

#include "check.h"
#include "supervisor.h"

/* Reads the event store, and the rows left in queues and the outbox. Fails only if the store cannot be read. */
pawl_code transfer_report_make(transfer_supervisor *run, transfer_found *found, pawl_error *error);

/* Prints to standard output; with --json only an object, while differences go to standard error. */
void transfer_report_print(const transfer_supervisor *run, const transfer_found *found);

#endif
