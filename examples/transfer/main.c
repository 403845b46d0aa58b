/* main.c - transfer: moves money between accounts while its processes are killed, and proves by the event store that no
 * money was lost.
 *
 *     plan -> start the runners -> request transfers, kill runners -> read the events -> report
 *
 * To build in this folder with an installed pawl:
 *
 *     cc -std=c17 -D_GNU_SOURCE -I.. -o transfer [a-z]*.c ../support/[a-z]*.c $(pkg-config --cflags --libs pawl)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "options.h"
#include "report.h"
#include "runner.h"
#include "supervisor.h"
#include "support/interrupt.h"
#include "support/process.h"

#include <inttypes.h>
#include <stdio.h>

#define NOT_VERIFIED 1

static int fail(pawl_code code, const pawl_error *error)
{
    example_say("transfer", "%s", error->text);
    return pawl_code_exit(code);
}

static pawl_code report(transfer_supervisor *run, int *exit_code, pawl_error *error)
{
    transfer_found found;
    pawl_code      code = transfer_report_make(run, &found, error);
    if (code != PAWL_OK)
        return code;
    transfer_report_print(run, &found);
    if (fflush(stdout) != 0 || ferror(stdout))
        return pawl_error_set(error, PAWL_EFULL, "standard output cannot be written");
    *exit_code = found.difference_count == 0 ? 0 : NOT_VERIFIED;
    return PAWL_OK;
}

/* Drops the tables of a verified run; those of other runs stay for inspection. */
static pawl_code supervise(const transfer_options *options, const transfer_plan *plan,
                           int *exit_code, pawl_error *error)
{
    transfer_supervisor run;
    pawl_code           code     = transfer_supervisor_open(&run, options, plan, error);
    bool                is_begun = code == PAWL_OK;
    if (code == PAWL_OK && options->check == NULL)
        code = transfer_supervisor_work(&run, error);
    if (code == PAWL_OK)
        code = report(&run, exit_code, error);
    bool is_kept = is_begun && (options->is_kept || options->check != NULL || code != PAWL_OK ||
                                *exit_code != 0);
    if (is_kept && options->check == NULL)
        example_say("transfer", "run %s stays, its tables are %s*", run.run, run.prefix);
    transfer_supervisor_close(&run, is_kept);
    return code;
}

static pawl_code run_all(const transfer_options *options, int *exit_code, pawl_error *error)
{
    transfer_plan plan = {.accounts = NULL};
    uint64_t      seed;
    pawl_code     code = example_seed(options->seed, &seed, error);
    if (code == PAWL_OK && options->seed == 0)
        example_say("transfer", "--seed %" PRIu64, seed);
    if (code == PAWL_OK)
        code = transfer_plan_make(seed, options->accounts, options->transfers, &plan, error);
    if (code == PAWL_OK)
        code = supervise(options, &plan, exit_code, error);
    transfer_plan_clear(&plan);
    return code;
}

int main(int argc, char **argv)
{
    pawl_error       error     = PAWL_ERROR_INIT;
    int              exit_code = 0;
    transfer_options options;
    pawl_code        code = transfer_options_parse(argc - 1, argv + 1, &options, &error);
    if (code != PAWL_OK)
        return fail(code, &error);
    if (options.wants_help) {
        transfer_options_help();
        return 0;
    }
    if (options.run != NULL) {
        code = transfer_runner_work(&options, &error);
    } else {
        example_interrupt_watch();
        code = run_all(&options, &exit_code, &error);
    }
    return code == PAWL_OK ? exit_code : fail(code, &error);
}
