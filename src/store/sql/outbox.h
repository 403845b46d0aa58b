/* outbox.h - outbox rows as every SQL database has them: the words in their
 * columns, and the order in which they are handed out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_OUTBOX_H
#define PAWL_STORE_SQL_OUTBOX_H

#include "pawl/store_rows.h"

#define PAWL__SQL_STATE_COUNT (PAWL_OUTBOX_DISCARDED + 1)
#define PAWL__SQL_OUTCOME_COUNT (PAWL_ATTEMPT_DISCARDED + 1)

extern const pawl_text pawl__sql_state_words[];   /* by pawl_outbox_state */
extern const pawl_text pawl__sql_outcome_words[]; /* by pawl_attempt_outcome */

extern const pawl_text pawl__sql_inbox_words[]; /* by pawl_inbox_outcome */
/* The word of the attempt that an operator's change leaves. */
pawl_text pawl__sql_reset_word(pawl_outbox_action action);

/* The number of a word; -1: it is none of them. */
int pawl__sql_find_word(pawl_text word, const pawl_text *words, int count);

/* Rows of one source come in the order (version, index), at the indexes that rows of that source have
 * among all: ids 1:A2 2:B1 3:A1 become A1 B1 A2. */
pawl_code pawl__sql_order_sources(pawl_outbox_rows *rows, pawl_arena *arena, pawl_error *error);

#endif
