/* main.c - pawl-sim: plays plans, and makes one that fails shorter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/heap.h"
#include "simulation/model.h"
#include "simulation/simulation.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACE_EVERY 50 /* each so many-th seed runs twice */
#define RUNS_OF_ALL_KINDS 1000

typedef struct sim_options {
    uint64_t    seed;
    int64_t     seconds; /* 0: one seed */
    int64_t     count;   /* seeds; 0: as long as `seconds` */
    char      **plans;   /* files; NULL: drawn */
    int         plan_count;
    const char *store;
    const char *app; /* a module; NULL: traffic */
    bool        is_traced;
    bool        shrinks;
    bool        has_canary; /* a defect is planted that must be found */
} sim_options;

typedef struct totals {
    uint64_t runs, steps, failed;
    int64_t  lasted, commits, refused, done, cuts;
    bool     kinds[pawl_change_kind_count], refused_kinds[pawl_change_kind_count];
} totals;

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- Shrinking ------------------------------------------------------------------- */

/* Do both say the same, but for numbers? */
static bool is_alike(const char *left, const char *right)
{
    for (;; left++, right++) {
        left += strspn(left, "0123456789.");
        right += strspn(right, "0123456789.");
        if (*left != *right || *left == '\0')
            return *left == *right;
    }
}

/* Does the plan still fail in the same way without `count` events from `from` on? Then it is that plan. */
static bool leave_out(sim_plan *it, int from, int count, const char *store,
                      simulation_result *result)
{
    sim_plan shorter = *it;
    memmove(&shorter.events[from], &shorter.events[from + count],
            (size_t)(it->event_count - from - count) * sizeof shorter.events[0]);
    shorter.event_count -= count;
    simulation_result tried;
    simulation_run(&shorter, store, &tried);
    if (!tried.is_failed || !is_alike(tried.failure, result->failure))
        return false;
    *it     = shorter;
    *result = tried;
    return true;
}

/* Leaves out halves, quarters ... and single events, again until none can be left out. */
static void shrink(sim_plan *it, const char *store, simulation_result *result)
{
    bool is_shorter = true;
    while (is_shorter) {
        is_shorter = false;
        for (int size = it->event_count / 2; size > 0; size /= 2)
            for (int from = 0; from + size <= it->event_count;)
                if (leave_out(it, from, size, store, result))
                    is_shorter = true;
                else
                    from += size;
    }
}

/* ---- Runs --------------------------------------------------------------------------- */

static void report(const sim_plan *failed, const simulation_result *result,
                   const sim_options *options)
{
    sim_plan          shorter = *failed;
    simulation_result last    = *result;
    printf("FAILED seed %" PRIu64 ": %s\n", failed->seed, result->failure);
    if (options->shrinks)
        shrink(&shorter, options->store, &last);
    printf("# pawl-sim --plan FILE\n# %s\n", last.failure);
    plan_print(&shorter, stdout);
    printf("\n");
    fflush(stdout);
}

static void add(totals *all, const simulation_result *result)
{
    all->runs++;
    all->failed += result->is_failed;
    all->steps += result->steps;
    all->lasted += result->lasted;
    all->commits += result->counts.commits;
    all->refused += result->counts.refused;
    all->done += result->done;
    all->cuts += result->counts.cuts;
    for (int i = 0; i < pawl_change_kind_count; i++) {
        all->kinds[i] |= result->counts.kinds[i];
        all->refused_kinds[i] |= result->counts.refused_kinds[i];
    }
}

static void run_one(const sim_plan *plan, const sim_options *options, bool is_twice, totals *all)
{
    simulation_result result, second;
    simulation_run(plan, options->store, &result);
    add(all, &result);
    if (result.is_failed)
        report(plan, &result, options);
    if (!is_twice)
        return;
    heap_garbage(0x5A); /* nothing may depend on memory that was not written */
    simulation_run(plan, options->store, &second);
    heap_garbage(0);
    if (second.trace == result.trace && second.steps == result.steps)
        return;
    printf("FAILED seed %" PRIu64 ": it ran in two ways, of %" PRIu64 " and %" PRIu64 " steps\n",
           plan->seed, result.steps, second.steps);
    all->failed++;
}

static void print_totals(const totals *all, double seconds)
{
    printf("%" PRIu64 " runs, %" PRIu64 " failed, %" PRIu64
           " steps in %.1f s: %.0f a second; %.1f days of "
           "virtual time\n",
           all->runs, all->failed, all->steps, seconds, (double)all->steps / seconds,
           (double)all->lasted / 86400e6);
    printf("%" PRId64 " commits, %" PRId64 " refusals, %" PRId64 " effects", all->commits,
           all->refused, all->done);
    if (all->cuts > 0)
        printf(", %" PRId64 " power cuts", all->cuts);
    printf("\n");
}

/* Nobody makes these here: no row of the outbox is dead, and parcels leave by flushes alone. */
static bool is_never(pawl_change_kind kind)
{
    return kind == pawl_change_outbox_reset || kind == pawl_change_aggregator_remove;
}

/* Names kinds of change that no run had, and those that no run refused. How many of the first should have been there. */
static int print_missing(const totals *all)
{
    int missing = 0;
#define KIND(name, is_refusable)                                          \
    if (!all->kinds[pawl_change_##name]) {                                \
        printf("no run had a " #name "\n");                               \
        missing += !is_never(pawl_change_##name);                         \
    } else if ((is_refusable) && !all->refused_kinds[pawl_change_##name]) \
        printf("no run refused a " #name "\n");
    PAWL_CHANGE_KINDS(KIND)
#undef KIND
    return missing;
}

static bool run_all(const sim_options *options)
{
    static sim_plan plan;
    totals          all   = {.runs = 0};
    double          begin = seconds_now(), told = begin;
    for (uint64_t seed = options->seed; all.failed < 5; seed++) {
        double now = seconds_now();
        if (isatty(2) && now - told > 1) {
            fprintf(stderr, "\r%" PRIu64 " runs, %" PRIu64 " failed ", all.runs, all.failed);
            told = now;
        }
        plan_draw(seed, &plan);
        run_one(&plan, options, seed % TRACE_EVERY == 0, &all);
        if (options->count > 0 ? all.runs >= (uint64_t)options->count
                               : seconds_now() - begin >= (double)options->seconds)
            break;
    }
    print_totals(&all, seconds_now() - begin);
    bool has_gap = print_missing(&all) > 0 && options->app == NULL && all.runs >= RUNS_OF_ALL_KINDS;
    if (has_gap)
        printf("FAILED: so many runs have all other kinds of change\n");
    return all.failed == 0 && !has_gap;
}

static void read_plan(const char *name, sim_plan *plan)
{
    char  why[200] = "cannot be read";
    FILE *file     = fopen(name, "r");
    if (file == NULL || !plan_read(file, plan, why, sizeof why)) {
        fprintf(stderr, "pawl-sim: %s: %s\n", name, why);
        exit(2);
    }
    fclose(file);
}

static bool run_files(const sim_options *options)
{
    static sim_plan plan;
    totals          all   = {.runs = 0};
    double          begin = seconds_now();
    for (int i = 0; i < options->plan_count; i++) {
        read_plan(options->plans[i], &plan);
        run_one(&plan, options, !options->is_traced, &all);
    }
    print_totals(&all, seconds_now() - begin);
    return all.failed == 0;
}

/* ---- Options ---------------------------------------------------------------------------- */

static void usage(void)
{
    fprintf(
        stderr,
        "usage: pawl-sim [--app FILE.so] [--store URL] [--seed N | --seed today] [--seconds S | --count N] [--shrink] [--canary]\n"
        "       pawl-sim [--app FILE.so] [--store URL] [--trace] [--shrink] --plan FILE ...\n"
        "Plays plans drawn from seeds, from N on (PAWL_TEST_SEED, or by the time), or those of files.\n"
        "--seed today: by the date in UTC, the same all day and everywhere.\n"
        "The store is in memory; --store sqlite: is SQLite on a disk whose power is cut.\n");
    exit(2);
}

static int64_t number_of(const char *text)
{
    char   *end;
    int64_t number = text != NULL ? strtoll(text, &end, 10) : 0;
    if (text == NULL || *text == '\0' || *end != '\0' || number < 0)
        usage();
    return number;
}

/* 20261126000000 and so on: a day has room for a million plans. */
static uint64_t seed_of(const char *text)
{
    time_t    now = time(NULL);
    struct tm day = {.tm_mday = 1};
    if (text == NULL || strcmp(text, "today") != 0)
        return (uint64_t)number_of(text);
    (void)gmtime_r(&now, &day);
    return (((uint64_t)day.tm_year + 1900) * 10000 + ((uint64_t)day.tm_mon + 1) * 100 +
            (uint64_t)day.tm_mday) *
           1000000;
}

static bool take_flag(const char *word, sim_options *it)
{
    bool *flag = strcmp(word, "--trace") == 0    ? &it->is_traced
                 : strcmp(word, "--shrink") == 0 ? &it->shrinks
                 : strcmp(word, "--canary") == 0 ? &it->has_canary
                                                 : NULL;
    if (flag != NULL)
        *flag = true;
    return flag != NULL;
}

static void take_options(int count, char **words, sim_options *it)
{
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = words[i + 1]; /* a NULL behind the last */
        if (take_flag(word, it))
            continue;
        i++;
        if (strcmp(word, "--seed") == 0)
            it->seed = seed_of(value);
        else if (strcmp(word, "--seconds") == 0)
            it->seconds = number_of(value);
        else if (strcmp(word, "--count") == 0)
            it->count = number_of(value);
        else if (strcmp(word, "--store") == 0 && value != NULL)
            it->store = value;
        else if (strcmp(word, "--app") == 0 && value != NULL)
            it->app = value;
        else if (strcmp(word, "--plan") == 0 && value != NULL) {
            it->plans      = &words[i];
            it->plan_count = count - i;
            return;
        } else
            usage();
    }
}

static const simulation_application *load(const char *file)
{
    void                         *module = dlopen(file, RTLD_NOW);
    const simulation_application *found  = module != NULL ? dlsym(module, SIMULATION_SYMBOL) : NULL;
    if (found == NULL || found->application_size != sizeof *found) {
        fprintf(stderr, "pawl-sim: %s\n",
                module == NULL  ? dlerror()
                : found == NULL ? "the module has no " SIMULATION_SYMBOL
                                : "the module was built with another application.h");
        exit(2);
    }
    return found;
}

static uint64_t default_seed(void)
{
    const char *given = getenv("PAWL_TEST_SEED");
    return given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
}

int main(int count, char **words)
{
    sim_options it = {.seed = default_seed(), .store = "memory:simulation"};
    take_options(count, words, &it);
    if (it.count == 0 && it.seconds == 0)
        it.count = 1;
    const char *most = getenv("PAWL_SIMULATION_SECONDS");
    if (most != NULL && it.seconds > number_of(most))
        it.seconds = number_of(most);
    simulation_init(it.app != NULL ? load(it.app) : &traffic_simulation, it.is_traced,
                    it.has_canary);
    if (it.plans == NULL)
        printf("seeds from %" PRIu64 " on; again: pawl-sim --seed N\n", it.seed);
    bool is_fine = it.plans != NULL ? run_files(&it) : run_all(&it);
    return is_fine == it.has_canary;
}
