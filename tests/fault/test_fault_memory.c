/* test_fault_memory.c - the n-th allocation fails, for n = 1, 2, 3 ... until a
 * scenario passes untouched. After each: nothing lost, nothing twice, nothing
 * leaked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_strides.h"
#include "support/trip.h"

/* On a server one allocation of so many fails: each run begins with stores that are empty. */
#define SERVER_STRIDE 17

/* ---- The allocator ---------------------------------------------------------------- */

static long live;      /* blocks that were not freed */
static long countdown; /* the allocation that fails; 0: none */
static bool has_failed;

static void *resize(void *memory, size_t size, void *context)
{
    if (size == 0) {
        live -= memory != NULL;
        free(memory);
        return NULL;
    }
    if (countdown > 0 && --countdown == 0) {
        has_failed = true;
        return NULL;
    }
    void *made = realloc(memory, size);
    live += made != NULL && memory == NULL;
    return made;
}

static void arm(long n)
{
    countdown  = n;
    has_failed = false;
}

/* ---- The loops ----------------------------------------------------------------------- */

/* False when the scenario passed untouched. */
static bool run_once(const char *url, const char *target, long n)
{
    trip self = {.has_failed = &has_failed, .code = PAWL_ENOMEM};
    snprintf(self.label, sizeof self.label, "allocation %ld", n);
    trip_open(&self, url, target);
    arm(n);
    trip_go(&self);
    bool was_touched = has_failed;
    arm(0);
    trip_end(&self);
    trip_close(&self);
    return was_touched;
}

ON_ALL_STORES(the_nth_allocation_fails, const char *url)
{
    const char *scheme = test_text("%.*s", (int)(strchr(url, ':') - url), url);
    const long  stride = stride_of(url, SERVER_STRIDE);
    long        n      = 1;
    for (bool goes_on = true; goes_on; n += stride) {
        char here[1000], target[1000];
        assert_true(scenario_url(scheme, here, sizeof here));
        assert_true(scenario_url(scheme, target, sizeof target));
        long before = live;
        goes_on     = run_once(here, target, n);
        if (live != before)
            fail_msg("allocation %ld: %ld blocks are left", n, live - before);
        scenario_forget(here);
        scenario_forget(target);
    }
    print_message("%ld allocations failed in turn\n", (n - 1) / stride - 1);
    assert_true(n > 100);
}

ON_ALL_STORES(creating_fails_and_leaves_nothing, const char *url)
{
    const pawl_route      routes[] = {{.name = "far", .url = "memory:far"}, {.name = NULL}};
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_endpoint        *endpoint = NULL;
    pawl_error            error    = PAWL_ERROR_INIT;
    world_make_tables(url, &trip_application);
    options.store  = url;
    options.routes = routes;
    long      n    = 0;
    pawl_code code = PAWL_ENOMEM;
    while (code != PAWL_OK && n < 10000) {
        long before = live;
        arm(++n);
        code = pawl_endpoint_create(&trip_application, NULL, &options, &endpoint, &error);
        arm(0);
        if (code == PAWL_OK)
            continue;
        assert_int_equal(code, PAWL_ENOMEM);
        assert_null(endpoint);
        if (live != before)
            fail_msg("allocation %ld: %ld blocks are left", n, live - before);
    }
    pawl_endpoint_destroy(endpoint);
    assert_true(n > 5 && n < 10000);
}

int main(void)
{
    const pawl_allocator allocator = {resize, NULL};
    pawl_allocator_set(&allocator);
    world_quiet();
    int result = tests_run(NULL, NULL);
    pawl_allocator_set(NULL);
    return result;
}
