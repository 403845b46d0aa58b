/* foreign.h - timeouts that a saga has set for a destination in another program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_FOREIGN_H
#define PAWL_TESTS_FOREIGN_H

#include "pawl/operations.h"
#include "support/world.h"

/* The ids are computed from the number; the timeout is due so many seconds after the world's start. */
static inline pawl_timeout_row foreign_timeout(const char *destination, uint8_t number, int seconds)
{
    return (pawl_timeout_row){.id             = {{{number}}},
                              .saga_id        = {{{0xAB, number}}},
                              .saga_type      = PAWL_TEXT("Parcel"),
                              .name           = PAWL_TEXT("remind"),
                              .destination    = pawl_text_of(destination),
                              .due            = WORLD_START + PAWL_SECONDS(seconds),
                              .headers        = PAWL_TEXT("{\"tenant\":\"t1\"}"),
                              .correlation_id = PAWL_TEXT("talk-1")};
}

static inline void foreign_insert(world *it, const pawl_timeout_row *row)
{
    must(pawl_store_timeout_insert(it->store, row, pawl_clock_now(it->machine), world_error()));
}

static inline void foreign_insert_for(world *it, const char *destination, uint8_t number,
                                      int seconds)
{
    pawl_timeout_row row = foreign_timeout(destination, number, seconds);
    foreign_insert(it, &row);
}

#endif
