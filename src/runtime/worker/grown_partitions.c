/* grown_partitions.c - the partitions that the commits of a step added to, so that they can be flushed
 * by size when it is done.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

static bool is_noted(const pawl__worker *worker, pawl_text partition)
{
    for (size_t i = 0; i < worker->added_count; i++)
        if (pawl_text_equal(worker->added[i].partition, partition))
            return true;
    return false;
}

pawl_code pawl__added_note(pawl__worker *worker, pawl_error *error)
{
    const pawl__effects *effects = &worker->batch->effects;
    for (size_t i = 0; i < effects->add_count; i++) {
        const pawl_aggregator_add *add = &effects->adds[i];
        if (add->due < worker->flush_due)
            worker->flush_due = add->due;
        if (is_noted(worker, add->partition))
            continue;
        pawl__added *grown = pawl_arena_grow(worker->read, worker->added, worker->added_count,
                                             &worker->added_capacity, sizeof worker->added[0]);
        pawl_text    copy  = pawl_arena_text(worker->read, add->partition);
        if (grown == NULL || copy.data == NULL)
            return pawl_error_set(error, PAWL_ENOMEM, "no memory for a partition's name");
        worker->added = grown;
        worker->added[worker->added_count++] =
            (pawl__added){pawl__model_aggregator(worker->endpoint->model, add->name), copy};
    }
    return PAWL_OK;
}
