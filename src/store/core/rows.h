/* rows.h - the fields of the rows that stores hand out, and the words that enums are stored as.
 *
 * Threads: plain data.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_ROWS_H
#define PAWL_STORE_CORE_ROWS_H

#include "pawl/store_driver.h"
#include "store/core/field.h"

extern const pawl__field_list pawl__queue_row_fields;
extern const pawl__field_list pawl__queue_message_fields;
extern const pawl__field_list pawl__history_row_fields;
extern const pawl__field_list pawl__timeout_row_fields;
extern const pawl__field_list pawl__foreign_row_fields;
extern const pawl__field_list pawl__aggregator_row_fields;
extern const pawl__field_list pawl__flush_row_fields;
extern const pawl__field_list pawl__outbox_row_fields;
extern const pawl__field_list
    pawl__outbox_claimed_fields; /* the same without the last two, which are
                                                           equal in all pending rows */
extern const pawl__field_list pawl__attempt_row_fields;
extern const pawl__field_list pawl__dead_row_fields;
extern const pawl__field_list pawl__subscription_fields;
extern const pawl__field_list pawl__event_row_fields;
extern const pawl__field_list pawl__event_fields; /* of a pawl_event */
extern const pawl__field_list pawl__counters_fields;

/* ---- Words -------------------------------------------------------------- */

#define PAWL__STATE_COUNT (PAWL_OUTBOX_DISCARDED + 1)
#define PAWL__OUTCOME_COUNT (PAWL_ATTEMPT_DISCARDED + 1)

extern const pawl_text pawl__state_words[];   /* by pawl_outbox_state */
extern const pawl_text pawl__outcome_words[]; /* by pawl_attempt_outcome */

extern const pawl_text pawl__inbox_words[]; /* by pawl_inbox_outcome */
/* The word of the attempt row that an operator's action writes. */
pawl_text pawl__reset_word(pawl_outbox_action action);

/* The number of a word; -1: it is none of them. */
int pawl__find_word(pawl_text word, const pawl_text *words, int count);

#endif
