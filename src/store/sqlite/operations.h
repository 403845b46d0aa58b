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

/* wait.c */
pawl_code pawl__sqlite_wait(pawl_store *base, int64_t microseconds, int wake_fd, pawl_error *error);
void      pawl__sqlite_interrupt(pawl_store *base);

#endif
