/* test_fault_commit.c - the n-th commit fails in each way that a commit can, for
 * n = 1, 2, 3 ... until a scenario passes untouched. After each: nothing lost,
 * nothing twice.
 *
 *     before, ELOST      the connection broke, nothing was applied
 *     before, EBUSY      somebody else had the store for too long
 *     before, EFENCED    another worker was put in our place
 *     before, EUNKNOWN   nobody can tell; nothing was applied
 *     after, EUNKNOWN    nobody can tell; all was applied
 *     after, ELOST       what a driver must never say, for the worker's handle:
 *                        the store is asked again through a new one
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "support/trip.h"

#define SERVER_STRIDE 4 /* a run takes longer there: one commit of so many fails */

typedef struct way {
    const char *name;
    hook_point  point;
    pawl_code   code;
    pawl_code   answer; /* of the step that meets it */
} way;

static const way ways[] = {
    {"lost before", HOOK_BEFORE_COMMIT, PAWL_ELOST, PAWL_ELOST},
    {"busy before", HOOK_BEFORE_COMMIT, PAWL_EBUSY, PAWL_EBUSY},
    {"fenced before", HOOK_BEFORE_COMMIT, PAWL_EFENCED, PAWL_EFENCED},
    {"unknown before", HOOK_BEFORE_COMMIT, PAWL_EUNKNOWN, PAWL_ELOST},
    {"unknown after", HOOK_AFTER_COMMIT, PAWL_EUNKNOWN, PAWL_OK},
    {"lost after", HOOK_AFTER_COMMIT, PAWL_ELOST, PAWL_ELOST},
};

static const way *current;
static long       countdown;
static bool       has_failed;

static pawl_code fail_nth(hook_point point, void *context)
{
    if (point != current->point || countdown == 0 || --countdown > 0)
        return PAWL_OK;
    has_failed = true;
    return current->code;
}

/* False when the scenario passed untouched. */
static bool run_once(const char *url, const char *target, long n)
{
    trip self = {.has_failed = &has_failed, .code = current->answer};
    snprintf(self.label, sizeof self.label, "commit %ld, %s", n, current->name);
    trip_open(&self, hook_url(url), target);
    countdown  = n;
    has_failed = false;
    hook_set(fail_nth, NULL);
    trip_go(&self);
    bool was_touched = has_failed;
    countdown        = 0;
    trip_end(&self);
    hook_set(NULL, NULL);
    trip_close(&self);
    return was_touched;
}

ON_ALL_STORES(the_nth_commit_fails, const char *url)
{
    const long  stride = server_is(url) ? SERVER_STRIDE : 1;
    const char *scheme = test_text("%.*s", (int)(strchr(url, ':') - url), url);
    for (size_t i = 0; i < COUNT(ways); i++) {
        long n  = 0;
        current = &ways[i];
        for (bool goes_on = true; goes_on; n++) {
            char here[1000], target[1000];
            assert_true(scenario_url(scheme, here, sizeof here));
            assert_true(scenario_url(scheme, target, sizeof target));
            goes_on = run_once(here, target, n * stride + 1);
            scenario_forget(here);
            scenario_forget(target);
        }
        print_message("%s: %ld commits failed in turn\n", ways[i].name, n - 1);
        assert_true(n > 3 || server_is(url));
        assert_true(n > 1);
    }
}
