/* operations.h - operations that are the driver's own, one file for each noun.
 * pawl/store.h says what each must do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQLITE_OPERATIONS_H
#define PAWL_STORE_SQLITE_OPERATIONS_H

#include "store/sqlite/sqlite.h"

/* queue.c */
pawl_code pawl__sqlite_queue_claim(pawl_store *base, const pawl_queue_claim *claim,
                                   pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error);
pawl_code pawl__sqlite_queue_oldest(pawl_store *base, pawl_text queue, pawl_time due_max,
                                    const int64_t *except, size_t except_count, pawl_time *placed,
                                    int64_t *seq, pawl_error *error);

/* outbox.c */
pawl_code pawl__sqlite_outbox_find(pawl_store *base, const pawl_outbox_query *query,
                                   pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error);

/* journal.c */
pawl_code pawl__sqlite_event_number(pawl_store *base, size_t count_max, int64_t *count,
                                    pawl_error *error);

/* wait.c */
pawl_code pawl__sqlite_wait(pawl_store *base, int64_t microseconds, int wake_fd, pawl_error *error);
void      pawl__sqlite_interrupt(pawl_store *base);

#endif
