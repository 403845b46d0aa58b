/* options.c - the table of options.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "options.h"

#include "support/options.h"

#include <stdio.h>
#include <string.h>

#define TRANSFERS_MAX 1000000
#define ACCOUNTS_MAX 100000
#define KILLS_MAX 10000

#define AT(field) offsetof(transfer_options, field)

static const example_option rows[] = {
    {"accounts", EXAMPLE_COUNT, AT(accounts), ACCOUNTS_MAX, "N", "accounts [100]"},
    {"check", EXAMPLE_TEXT, AT(check), 0, "RUN",
     "read the journal of a run that stayed; with its --seed, --transfers, --accounts"},
    {"crash", EXAMPLE_COUNT, AT(kills), KILLS_MAX, "N",
     "kill a runner N times on the way; the report must come out the same"},
    {"help", EXAMPLE_FLAG, AT(wants_help), 0, NULL, "say this"},
    {"json", EXAMPLE_FLAG, AT(is_json), 0, NULL, "report one JSON object on standard output"},
    {"keep", EXAMPLE_FLAG, AT(is_kept), 0, NULL, "leave the tables of this run in the store"},
    {"late", EXAMPLE_DURATION, AT(late), 0, "DURATION",
     "a transfer that takes longer says that it is overdue [1m]"},
    {"resume", EXAMPLE_TEXT, AT(resume), 0, "RUN",
     "bring a run that broke off to its end; with its --seed, --transfers, --accounts"},
    {"run", EXAMPLE_TEXT, AT(run), 0, "RUN", NULL},
    {"runners", EXAMPLE_COUNT, AT(runners), TRANSFER_RUNNERS_MAX, "N",
     "processes that run the bank [4]"},
    {"seed", EXAMPLE_COUNT, AT(seed), INT64_MAX, "S",
     "of the transfers and the kills' moments [drawn and said]"},
    {"store", EXAMPLE_TEXT, AT(store), 0, "URL", "store of everything [sqlite:transfer.db]"},
    {"transfers", EXAMPLE_COUNT, AT(transfers), TRANSFERS_MAX, "N", "transfers [10000]"},
};
static const example_options table = {rows, sizeof rows / sizeof rows[0], AT(wants_help)};

static pawl_code refuse_word(const char *word, void *into, pawl_error *error)
{
    (void)into;
    return pawl_error_set(error, PAWL_EINVAL, "'%s' is not an option; --help lists all of them",
                          word);
}

/* The run is part of the tables' names; its requests are computed from its seed. */
static pawl_code check_run(const char *option, const char *run, int64_t seed, pawl_error *error)
{
    if (run != NULL && seed == 0)
        return pawl_error_set(error, PAWL_EINVAL, "--%s: the --seed of the run is needed", option);
    if (run == NULL ||
        (strlen(run) == TRANSFER_RUN_SIZE && strspn(run, "0123456789abcdef") == TRANSFER_RUN_SIZE))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL,
                          "--%s: '%s' is not the name of a run: expected %d of 0-9 and a-f", option,
                          run, TRANSFER_RUN_SIZE);
}

pawl_code transfer_options_parse(int count, char **words, transfer_options *options,
                                 pawl_error *error)
{
    *options       = (transfer_options){.store     = "sqlite:transfer.db",
                                        .transfers = 10000,
                                        .accounts  = 100,
                                        .runners   = 4,
                                        .late      = PAWL_MINUTES(1)};
    pawl_code code = example_options_parse(&table, count, words, options, refuse_word, error);
    if (code == PAWL_OK && options->accounts < 2)
        return pawl_error_set(error, PAWL_EINVAL, "--accounts: money moves between 2 at least");
    if (code == PAWL_OK && options->check != NULL && options->resume != NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "--check reads what --resume would write: one of them");
    if (code == PAWL_OK)
        code = check_run("check", options->check, options->seed, error);
    if (code == PAWL_OK)
        code = check_run("resume", options->resume, options->seed, error);
    return code == PAWL_OK ? check_run("run", options->run, 1, error) : code;
}

void transfer_options_help(void)
{
    puts("usage: transfer [OPTIONS]\n"
         "\n"
         "Moves money between accounts: transfers are processes, accounts are entities, the\n"
         "commands between them go through an outbox. Several processes run them and are\n"
         "killed on the way. At the end the journal is read once, from its first event to\n"
         "its last, to prove that nothing was lost and nothing happened twice. A duration is\n"
         "500ms, 5s, 15m, 2h, 30d or a number of seconds.\n");
    example_options_print(&table);
    puts("\nexit codes: 0 verified, 1 not verified, 2 refused option, 3 store cannot be reached,\n"
         "4 schema newer, 5 stopped part-way (disk full, store locked or lost)");
}
