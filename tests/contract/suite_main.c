/* suite_main.c - the main of a program that runs the contract suite.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/suite_main.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void print_name(const suite_report *report, void *context)
{
    printf("%s: %s\n", report->noun, report->name);
}

static void print_result(const suite_report *report, void *context)
{
    if (report->result == SUITE_FAIL)
        printf("FAIL %s: %s\n     %s\n", report->noun, report->name, report->reason);
    fflush(stdout); /* a later case may crash */
}

#ifdef PAWL_SANITIZED /* each run sees others, and all of them run without a sanitizer */
#define ONE_OF 3
#else
#define ONE_OF 0
#endif

int suite_main(const suite_fixture *fixture, int argument_count, char **arguments)
{
    const char *filter = argument_count > 1 ? arguments[1] : NULL;
    if (filter != NULL && strcmp(filter, "--list") == 0) {
        suite_list(print_name, NULL);
        return 0;
    }
    const char   *given   = getenv("PAWL_SEED");
    uint64_t      seed    = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    suite_options options = {.filter = filter,
                             .seed   = seed,
                             .one_of = filter == NULL ? ONE_OF : 0,
                             .report = print_result};
    unsigned      count   = suite_count(filter);
    unsigned      failed  = suite_run(fixture, &options);
    if (options.one_of != 0)
        printf("one of %u cases was run\n", options.one_of);
    printf("%s: %u cases, %u failed; seed %" PRIu64 " (again with PAWL_SEED=%" PRIu64 ")\n",
           fixture->name, count, failed, seed, seed);
    if (count == 0)
        printf("%s: no case is named like '%s'\n", fixture->name, filter);
    return count > 0 && failed == 0 ? 0 : 1;
}
