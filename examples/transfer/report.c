/* report.c - prints the report as lines or as a JSON object.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "report.h"

#include "support/store.h"

#include <inttypes.h>
#include <stdio.h>

pawl_code transfer_report_make(transfer_supervisor *run, transfer_found *found, pawl_error *error)
{
    pawl_stats   stats = PAWL_STATS_INIT;
    example_left left[EXAMPLE_LEFT_MAX];
    pawl_code    code = transfer_check(run->store, run->plan, found, error);
    if (code == PAWL_OK)
        code = pawl_store_stats(run->store, pawl_clock_now(NULL), run->arena, &stats, error);
    if (code != PAWL_OK)
        return example_store_wrap(run->options->store, code, error);
    size_t count = example_store_left(&stats, left);
    for (size_t i = 0; i < count; i++)
        transfer_differ(found, "%" PRId64 " %s left", left[i].count, left[i].what);
    return PAWL_OK;
}

static int64_t settled(const transfer_found *found)
{
    return found->done + found->failed + found->refunded;
}

static double per_second(const transfer_supervisor *run, const transfer_found *found)
{
    return run->elapsed > 0 ? (double)settled(found) * 1e6 / (double)run->elapsed : 0;
}

static void print_differences(const transfer_found *found, FILE *out)
{
    for (uint64_t i = 0; i < found->difference_count && i < TRANSFER_DIFFERENCES_SHOWN; i++)
        fprintf(out, "differs: %s\n", found->differences[i]);
    if (found->difference_count > TRANSFER_DIFFERENCES_SHOWN)
        fprintf(out, "differs: %" PRIu64 " more\n",
                found->difference_count - TRANSFER_DIFFERENCES_SHOWN);
}

static void print_object(const transfer_supervisor *run, const transfer_found *found)
{
    printf("{\"transfers\":%" PRId64 ",\"done\":%" PRId64 ",\"failed\":%" PRId64
           ",\"refunded\":%" PRId64 ",\"overdue\":%" PRId64 ",\"accounts\":%zu,\"cents\":%" PRId64
           ",\"events\":%" PRId64 ",\"seconds\":%.1f,\"transfers_per_s\":%.0f,\"kills\":%" PRId64
           ",\"verified\":%s}\n",
           settled(found), found->done, found->failed, found->refunded, found->overdue,
           run->plan->account_count, found->cents, found->events, (double)run->elapsed / 1e6,
           per_second(run, found), run->kills, found->difference_count == 0 ? "true" : "false");
}

static void print_table(const transfer_supervisor *run, const transfer_found *found)
{
    const struct {
        const char *name;
        int64_t     value;
        const char *what;
    } lines[] = {
        {"transfers", settled(found), "each settled once"},
        {"done", found->done, "taken once and given once"},
        {"failed", found->failed, "nothing was taken: too little money"},
        {"refunded", found->refunded, "taken once and given back once: the account is closed"},
        {"overdue", found->overdue, "said so by their timeout before they were settled"},
        {"accounts", (int64_t)run->plan->account_count, ""},
        {"cents", found->cents, "in all accounts, as many as were paid in"},
        {"events", found->events, "read from the journal, versions without a gap"},
        {"seconds", run->elapsed / 1000000, ""},
        {"per second", (int64_t)per_second(run, found), "transfers"},
        {"kills", run->kills, ""},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        printf("%-10s %10" PRId64 "%s%s\n", lines[i].name, lines[i].value,
               lines[i].what[0] != '\0' ? "  " : "", lines[i].what);
}

void transfer_report_print(const transfer_supervisor *run, const transfer_found *found)
{
    if (run->options->is_json) {
        print_object(run, found);
        print_differences(found, stderr);
        return;
    }
    print_table(run, found);
    print_differences(found, stdout);
    if (found->difference_count == 0)
        printf("verified: the journal shows every transfer settled once and every cent\n");
    else
        printf("NOT verified: %" PRIu64 " differences\n", found->difference_count);
}
