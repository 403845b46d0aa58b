/* test_picky_sample.h - a store that does not take the row of one message.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_UNIT_PICKY_SAMPLE_H
#define PAWL_TESTS_UNIT_PICKY_SAMPLE_H

#include "test_intake_sample.h"

static pawl_store_ops        picky;
static const pawl_store_ops *behind_picky;

/* As a server whose packets are smaller than a body: m-2 is too large for it, with its neighbours, too. */
static inline pawl_code commit_small(pawl_store *store, const pawl_changes *changes,
                                     pawl_refusals *refused, pawl_error *error)
{
    assert_null(broker.call->waits);
    for (size_t i = 0; i < changes->queue_send.count; i++)
        if (pawl_text_equal(changes->queue_send.items[i].message.id, PAWL_TEXT("m-2")))
            return pawl_error_set(error, PAWL_ELIMIT, "a packet of 9 MB");
    return behind_picky->commit(store, changes, refused, error);
}

/* The intake's handle, which is open: from now on. */
static inline void make_picky(reading *r)
{
    behind_picky           = r->inbound->store->ops;
    picky                  = *behind_picky;
    picky.commit           = commit_small;
    r->inbound->store->ops = &picky;
}

#endif
