/* queue.h - fields and functions that the parts of `pawl queue` share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_QUEUE_H
#define PAWL_CLI_QUEUE_H

#include "cli/base/actions.h"
#include "cli/bulk/bulk_loop.h"

typedef struct pawl__queue_fields {
    pawl__store_fields at;
    pawl__bulk_words   words;
    const char        *queue;
    const char        *due, *id, *type, *to; /* as they were given, or NULL */
    pawl__texts        where;                /* conditions as those of `pawl find` */
    int64_t            limit, last;
    bool               is_revealed, is_discarding;
} pawl__queue_fields;

/* PAWL_ENOTFOUND: nothing in the store names the queue. */
pawl_code pawl__queue_info_find(pawl_store *store, const char *queue, pawl_time now,
                                pawl_arena *arena, pawl_queue_info *info, pawl_error *error);

/* Says what happens next with it. Out of memory: data NULL. */
pawl_text pawl__queue_next(const pawl_queue_info *info, pawl_arena *arena);

/* Prints the row of a queue, and what operators did with it. */
pawl_code pawl__queue_show(pawl_store *store, const pawl__view *view, const void *row,
                           pawl_text queue, pawl_error *error);
/* pause and resume. */
pawl__look_fn pawl__queue_settle;
/* purge and move; their words are checked before the store is opened. */
pawl_code     pawl__queue_take_check(const pawl__queue_fields *fields, pawl_error *error);
pawl__look_fn pawl__queue_take;

#endif
