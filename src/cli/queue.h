/* queue.h - fields and functions that the parts of `pawl queue` share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_QUEUE_H
#define PAWL_CLI_QUEUE_H

#include "cli/cli.h"

typedef struct pawl__queue_fields {
    pawl__store_fields at;
    const char        *action, *queue;
    const char        *due, *id, *type; /* as they were given, or NULL */
    int64_t            limit;
    bool               is_json, is_revealed;
} pawl__queue_fields;

/* PAWL_ENOTFOUND: nothing in the store names the queue. */
pawl_code pawl__queue_info_find(pawl_store *store, const char *queue, pawl_time now,
                                pawl_arena *arena, pawl_queue_info *info, pawl_error *error);

#endif
