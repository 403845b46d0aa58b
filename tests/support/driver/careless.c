/* careless.c - a driver module with a defect: the memory store, but claims miss a timeout at exactly its due time. For
 * tests of `pawl conformance`, which must find that. The first claim of "careless:slow" takes eleven seconds; claims of
 * "careless:crash" crash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_driver.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern const pawl_store_ops    pawl__memory_driver;
PAWL_API extern pawl_store_ops pawl_store_driver;
pawl_store_ops                 pawl_store_driver;
static unsigned                slow_s; /* duration of the next claim, in seconds */
static bool                    is_crash;

static pawl_code careless_open(pawl_store *store, const char *url,
                               const pawl_store_options *options, pawl_error *error)
{
    static bool was_slow;
    char        memory_url[200];
    if (strcmp(url, "careless:slow") == 0 && !was_slow)
        slow_s = 11;
    was_slow |= slow_s != 0;
    is_crash = strcmp(url, "careless:crash") == 0;
    snprintf(memory_url, sizeof memory_url, "memory:%s", strchr(url, ':') + 1);
    return pawl__memory_driver.open(store, memory_url, options, error);
}

static pawl_code careless_claim(pawl_store *store, const pawl_timeout_claim *claim,
                                pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl_timeout_claim changed = *claim;
    if (is_crash)
        raise(SIGSEGV);
    changed.due_max--;
    sleep(slow_s);
    slow_s = 0;
    return pawl__memory_driver.timeout_claim(store, &changed, arena, rows, error);
}

/* The memory store's table is available only after both are loaded. */
__attribute__((constructor)) static void fill_in(void)
{
    pawl_store_driver               = pawl__memory_driver;
    pawl_store_driver.scheme        = "careless";
    pawl_store_driver.open          = careless_open;
    pawl_store_driver.timeout_claim = careless_claim;
}
