/* conformance.c - `pawl conformance`: runs the contract suite on a store of the
 * user.
 *
 * The cases run one after another with the same table prefix; the tables are made for each case and
 * dropped after it. At first the store must have no table with this prefix: it would be left of a
 * killed run, or belong to an application.
 *
 * A driver that crashes ends the process: the case is named first, its tables stay.
 *
 * At the first SIGINT or SIGTERM the case that runs ends, and its tables are dropped; a second one ends the process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"
#include "conformance/suite/run.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PREFIX_DEFAULT "pawl_conf_"
#define PREFIX_SIZE_MAX 20 /* leaves room for the saga's name in every database */
#define LONG_S 10 /* a case that takes longer is named before it ends, which it may never do */

typedef struct verb_fields {
    pawl__store_fields at; /* store and prefix */
    const char        *filter;
    int64_t            seed; /* negative: from the clock */
    bool               is_json, is_drop;
} verb_fields;

const pawl__argument pawl__conformance_verb_arguments[] = {{.name = NULL}};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__conformance_verb_options[] = {
    OPTION("case", TEXT, filter, "TEXT", 0, "only the cases whose \"group: name\" holds the text"),
    OPTION("drop", FLAG, is_drop, NULL, 0, "drop the tables that a killed run left, and stop"),
    OPTION("json", FLAG, is_json, NULL, 0, "print one JSON object for each item of a case"),
    OPTION("prefix", TEXT, at.prefix, "NAME", 0, "what the names of all its tables begin with",
           .text_default = PREFIX_DEFAULT),
    OPTION("seed", COUNT, seed, "N", 0, "of the random cases", 0, INT64_MAX, .is_layered = true,
           .default_words = "from the clock"),
    PAWL__OPTION_STORE(verb_fields, at),
    {.name = NULL},
};

const pawl__report pawl__conformance_verb_reports[] = {
    {"a line", NULL, "item group case result reason"},
    {.what = NULL},
};

/* ---- The store ------------------------------------------------------------ */

static void fresh(const suite_fixture *fixture, unsigned number, suite_address *address)
{
    const verb_fields *fields = fixture->context;
    (void)number;
    snprintf(address->url, sizeof address->url, "%s", fields->at.store);
    snprintf(address->prefix, sizeof address->prefix, "%s", fields->at.prefix);
}

static void ignore_line(pawl_text line, void *context)
{
    (void)line;
    (void)context;
}

static pawl_code make(const suite_fixture *fixture, const suite_address *address,
                      const pawl_schema_spec *spec, pawl_error *error)
{
    (void)fixture;
    return pawl_store_schema(address->url, PAWL_SCHEMA_APPLY, spec, ignore_line, NULL, error);
}

static pawl_code drop(const suite_fixture *fixture, const suite_address *address,
                      const pawl_schema_spec *spec, pawl_error *error)
{
    (void)fixture;
    return pawl_store_schema(address->url, PAWL_SCHEMA_DROP, spec, ignore_line, NULL, error);
}

/* ---- Whether the tables are free ------------------------------------------ */

/* Lines of `schema verify`, counted and summed. */
typedef struct differences {
    const char *prefix, *instead; /* prefix of the names, and that which replaces it in the sum */
    uint64_t    sum;              /* of the lines' bytes, in their order */
    size_t      count;
} differences;

static void add_byte(differences *found, char byte)
{
    found->sum = found->sum * 31 + (uint8_t)byte;
}

static void add_difference(pawl_text line, void *context)
{
    differences *found = context;
    size_t       size  = strlen(found->prefix);
    found->count++;
    for (size_t i = 0; i < line.size; i++) {
        if (line.size - i < size || memcmp(line.data + i, found->prefix, size) != 0) {
            add_byte(found, line.data[i]);
            continue;
        }
        for (const char *at = found->instead; *at != '\0'; at++)
            add_byte(found, *at);
        i += size - 1;
    }
}

/* Verifies the schema for `prefix`, and sums the lines with `instead` in its place. PAWL_OK also if there
 * is no store, or no table yet (PAWL_ESCHEMA). */
static pawl_code find_differences(const char *url, const char *prefix, const char *instead,
                                  differences *found, pawl_error *error)
{
    suite_address address = {.url = ""};
    suite_tables  tables;
    snprintf(address.url, sizeof address.url, "%s", url);
    snprintf(address.prefix, sizeof address.prefix, "%s", prefix);
    suite_tables_make(&tables, &address);
    *found = (differences){.prefix = prefix, .instead = instead};
    pawl_code code =
        pawl_store_schema(url, PAWL_SCHEMA_VERIFY, &tables.spec, add_difference, found, error);
    return code == PAWL_ESCHEMA || code == PAWL_EUNREACHABLE ? PAWL_OK : code;
}

/* Refuses a prefix that has tables. Without tables verify prints the same lines as for a random prefix that
 * was never used, except for the prefix. Only the random one is replaced in the lines: a user's prefix may also
 * be a part of other words. */
static pawl_code check_free(const verb_fields *fields, pawl_error *error)
{
    char        unused[PREFIX_SIZE_MAX + 1];
    pawl_random random;
    differences found, nothing;
    pawl_random_seed(&random, (uint64_t)pawl_clock_now(NULL) ^ (uint64_t)getpid());
    snprintf(unused, sizeof unused, "pc%016" PRIx64 "_", pawl_random_next(&random));
    const char *prefix = fields->at.prefix;
    pawl_code   code   = find_differences(fields->at.store, prefix, prefix, &found, error);
    if (code == PAWL_OK)
        code = find_differences(fields->at.store, unused, prefix, &nothing, error);
    if (code != PAWL_OK || (found.count == nothing.count && found.sum == nothing.sum))
        return code;
    return pawl_error_set(error, PAWL_EDUPLICATE,
                          "it holds tables whose names begin with %s already; give another "
                          "--prefix, or drop what a killed run left with --drop",
                          prefix);
}

/* ---- Cases that take long -------------------------------------------------- */

/* The case that runs, for a thread that looks at it. */
typedef struct watch {
    pthread_mutex_t mutex;
    pthread_cond_t  changed;
    suite_report    now; /* number 0: none yet */
    bool            is_over;
} watch;

/* Does not use stdio: a case may fork, and the stream would be locked in the child. */
static void name_long(const suite_report *now)
{
    char line[500];
    int size = snprintf(line, sizeof line, "%spawl: case %u of %u takes longer than %d s: %s: %s\n",
                        isatty(STDERR_FILENO) ? "\r\033[K" : "", now->number, now->count, LONG_S,
                        now->noun, now->name);
    ssize_t written = write(STDERR_FILENO, line, (size_t)size);
    (void)written;
}

static void *watch_cases(void *context)
{
    watch   *w    = context;
    unsigned told = 0;
    pthread_mutex_lock(&w->mutex);
    while (!w->is_over) {
        unsigned        number = w->now.number;
        int             code   = 0;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += LONG_S;
        while (code == 0 && !w->is_over && w->now.number == number)
            code = pthread_cond_timedwait(&w->changed, &w->mutex, &until);
        if (code == ETIMEDOUT && number != told)
            name_long(&w->now);
        told = code == ETIMEDOUT ? number : told;
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

/* Tells the thread which case begins; NULL: the last one has ended. */
static void watch_next(watch *w, const suite_report *begun)
{
    pthread_mutex_lock(&w->mutex);
    w->is_over = begun == NULL;
    if (begun != NULL)
        w->now = *begun;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->mutex);
}

/* ---- A crash --------------------------------------------------------------- */

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define CRASH_SIGNALS (sizeof crash_signals / sizeof crash_signals[0])

/* The text that a crash in the case that runs prints: a signal handler cannot format. */
static struct {
    struct sigaction before[CRASH_SIGNALS];
    pid_t            pid; /* children of cases report to their parent, and print nothing */
    int              size;
    char             text[900];
} crash;

/* Names the case, and leaves the rest to the handler before this one: a core dump, a sanitizer's report. */
static void take_crash(int signal)
{
    if (getpid() == crash.pid) {
        ssize_t written = write(STDERR_FILENO, crash.text, (size_t)crash.size);
        (void)written;
    }
    for (size_t i = 0; i < CRASH_SIGNALS; i++)
        sigaction(crash_signals[i], &crash.before[i], NULL);
    raise(signal); /* delivered when this handler returns */
}

static void crash_watch(void)
{
    struct sigaction action = {.sa_handler = take_crash};
    sigemptyset(&action.sa_mask);
    crash.pid = getpid();
    for (size_t i = 0; i < CRASH_SIGNALS; i++)
        sigaction(crash_signals[i], &action, &crash.before[i]);
}

static void crash_next(const suite_report *begun, const char *prefix)
{
    int size =
        snprintf(crash.text, sizeof crash.text,
                 "%spawl: it crashed in case %u of %u, which counts as failed: %s: %s\n"
                 "pawl: the tables whose names begin with %s may be left; the same command with "
                 "--drop drops them\n",
                 isatty(STDERR_FILENO) ? "\r\033[K" : "", begun->number, begun->count, begun->noun,
                 begun->name, prefix);
    crash.size = size < (int)sizeof crash.text ? size : (int)sizeof crash.text - 1;
}

/* ---- Results -------------------------------------------------------------- */

/* Results of an item over all its cases. */
typedef struct item_sum {
    unsigned counts[SUITE_RESULT_COUNT];
    char     reason[400]; /* of the first failure, else of the first case left out */
} item_sum;

typedef struct results {
    const verb_fields *fields;
    item_sum           items[SUITE_ITEM_COUNT];
    suite_item         list[SUITE_ITEM_COUNT];
    unsigned           cases[SUITE_RESULT_COUNT];
    watch              watch;
} results;

static void item_name(const suite_item *item, char name[16])
{
    snprintf(name, 16, "%c%u", item->letter, item->number);
}

/* `item` and `of` may be NULL. */
static void print_line(const suite_item *item, const suite_report *of, suite_result result,
                       const char *reason)
{
    char id[16] = "";
    if (item != NULL)
        item_name(item, id);
    bool has_reason = reason != NULL && reason[0] != '\0';
    (void)pawl__facts_print(
        PAWL__FACTS({.key = "item", .text = id, .is_null = item == NULL},
                    {.key = "group", .text = of != NULL ? of->noun : NULL, .is_null = of == NULL},
                    {.key = "case", .text = of != NULL ? of->name : NULL, .is_null = of == NULL},
                    {.key = "result", .text = suite_result_name(result)},
                    {.key = "reason", .text = reason, .is_null = !has_reason}));
}

static void add_to_item(item_sum *sum, const suite_report *report)
{
    bool is_first_failure = report->result == SUITE_FAIL && sum->counts[SUITE_FAIL] == 0;
    sum->counts[report->result]++;
    if (is_first_failure || sum->reason[0] == '\0')
        snprintf(sum->reason, sizeof sum->reason, "%s", report->reason);
}

static void show_progress(const results *all, const suite_report *report)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%u of %u cases, %u failed: %s: %.50s", report->number,
                report->count, all->cases[SUITE_FAIL], report->noun, report->name);
}

static void take_begin(const suite_report *report, void *context)
{
    results *all = context;
    watch_next(&all->watch, report);
    crash_next(report, all->fields->at.prefix);
}

static void take_report(const suite_report *report, void *context)
{
    results    *all      = context;
    const char *name     = report->name;
    bool        has_item = false;
    if (pawl__is_interrupted()) /* the signal may be why it failed */
        return;
    all->cases[report->result]++;
    show_progress(all, report);
    for (int index = suite_item_next(&name); index >= 0; index = suite_item_next(&name)) {
        add_to_item(&all->items[index], report);
        has_item = true;
        if (all->fields->is_json)
            print_line(&all->list[index], report, report->result, report->reason);
    }
    if (all->fields->is_json && !has_item)
        print_line(NULL, report, report->result, report->reason);
    if (!all->fields->is_json && report->result == SUITE_FAIL) {
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r\033[K");
        printf("FAIL  %s: %s\n      %s\n", report->noun, report->name, report->reason);
    }
    fflush(stdout);
}

static bool is_over(void *context)
{
    (void)context;
    return pawl__is_interrupted();
}

/* Result of an item when all cases have run. If it has none, the result and the reason are those of the item's row. */
static suite_result conclude(const item_sum *sum, const suite_item *item, const char **reason)
{
    *reason = sum->reason;
    if (sum->counts[SUITE_FAIL] > 0)
        return SUITE_FAIL;
    bool has_passed = sum->counts[SUITE_PASS] > 0;
    if (item->result != SUITE_PASS && !has_passed) {
        *reason = item->reason;
        return item->result;
    }
    if (has_passed)
        *reason = "";
    return has_passed ? SUITE_PASS : SUITE_NOT_APPLICABLE;
}

static unsigned sum_cases(const item_sum *sum)
{
    unsigned count = 0;
    for (size_t i = 0; i < SUITE_RESULT_COUNT; i++)
        count += sum->counts[i];
    return count;
}

/* Prints the items, with a filter those asked for, and counts their results. */
static void print_items(results *all, unsigned counts[SUITE_RESULT_COUNT])
{
    if (!all->fields->is_json)
        printf("%-5s %-15s %5s  %s\n", "item", "result", "cases", "reason");
    for (size_t i = 0; i < SUITE_ITEM_COUNT; i++) {
        const char  *reason = "";
        char         id[16];
        unsigned     count  = sum_cases(&all->items[i]);
        suite_result result = conclude(&all->items[i], &all->list[i], &reason);
        if (all->fields->filter != NULL && count == 0)
            continue;
        counts[result]++;
        item_name(&all->list[i], id);
        if (!all->fields->is_json)
            printf("%-5s %-15s %5u%s%s\n", id, suite_result_name(result), count,
                   reason[0] != '\0' ? "  " : "", reason);
        else if (count == 0)
            print_line(&all->list[i], NULL, result, reason);
    }
}

/* ---- The verb ------------------------------------------------------------- */

static pawl_code check_fields(const verb_fields *fields, pawl_error *error)
{
    size_t size = strlen(fields->at.prefix);
    if (size == 0 || size > PREFIX_SIZE_MAX)
        return pawl_error_set(error, PAWL_EINVAL, "--prefix: it has %zu bytes, expected 1 to %d",
                              size, PREFIX_SIZE_MAX);
    if (strlen(fields->at.store) >= sizeof((suite_address *)NULL)->url)
        return pawl_error_set(error, PAWL_ELIMIT, "--store: the URL has %zu bytes, limit %zu",
                              strlen(fields->at.store), sizeof((suite_address *)NULL)->url - 1);
    if (suite_count(fields->filter) == 0)
        return pawl_error_set(error, PAWL_EINVAL, "--case: no case is named like '%s'",
                              fields->filter);
    return PAWL_OK;
}

static void tables_of(const verb_fields *fields, suite_address *address, suite_tables *tables)
{
    const suite_fixture fixture = {.context = (void *)(uintptr_t)fields};
    fresh(&fixture, 0, address);
    suite_tables_make(tables, address);
}

static pawl_code drop_tables(const verb_fields *fields, pawl_error *error)
{
    suite_address address = {.url = ""};
    suite_tables  tables;
    tables_of(fields, &address, &tables);
    return drop(NULL, &address, &tables.spec, error);
}

/* Makes and drops tables once, so that a store which cannot be used gives one error and not one for each case. */
static pawl_code prepare(const verb_fields *fields, pawl_error *error)
{
    suite_address address = {.url = ""};
    suite_tables  tables;
    pawl_code     code = check_free(fields, error);
    if (code != PAWL_OK)
        return code;
    pawl__interrupts_note((int)(SA_RESETHAND | SA_RESTART));
    tables_of(fields, &address, &tables);
    code = make(NULL, &address, &tables.spec, error);
    return code == PAWL_OK ? drop(NULL, &address, &tables.spec, error) : code;
}

/* Drops the tables again, to say whether they are gone: what became of the last case is not known. */
static int fail_interrupted(results *all)
{
    const verb_fields *fields = all->fields;
    pawl_error         error  = PAWL_ERROR_INIT;
    unsigned           count  = 0;
    pawl_code          code   = drop_tables(fields, &error);
    for (size_t i = 0; i < SUITE_RESULT_COUNT; i++)
        count += all->cases[i];
    if (code == PAWL_OK)
        code = pawl_error_set(&error, PAWL_EINTERRUPTED,
                              "interrupted after %u of %u cases, %u failed; its tables are dropped",
                              count, suite_count(fields->filter), all->cases[SUITE_FAIL]);
    pawl_free(all);
    return pawl__fail_store(code, &error, fields->at.store);
}

static int run(const verb_fields *fields)
{
    results *all = pawl_allocate(sizeof *all);
    if (all == NULL)
        return pawl__fail(PAWL_ENOMEM, NULL);
    unsigned            items[SUITE_RESULT_COUNT] = {0};
    const suite_fixture fixture                   = {.name    = fields->at.store,
                                                     .context = (void *)(uintptr_t)fields,
                                                     .fresh   = fresh,
                                                     .make    = make,
                                                     .drop    = drop};
    const suite_options options                   = {.filter  = fields->filter,
                                                     .seed    = (uint64_t)fields->seed,
                                                     .report  = take_report,
                                                     .begin   = take_begin,
                                                     .is_over = is_over,
                                                     .context = all};
    pthread_t           watcher;
    all->fields = fields;
    suite_items_make(all->list);
    pthread_mutex_init(&all->watch.mutex, NULL);
    pthread_cond_init(&all->watch.changed, NULL);
    bool is_watched = pthread_create(&watcher, NULL, watch_cases, &all->watch) == 0;
    crash_watch();
    unsigned failed = suite_run(&fixture, &options);
    watch_next(&all->watch, NULL);
    if (is_watched)
        pthread_join(watcher, NULL);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    if (pawl__is_interrupted())
        return fail_interrupted(all);
    print_items(all, items);
    if (!fields->is_json)
        printf("cases: %u pass, %u fail, %u not applicable; items: %u pass, %u fail, "
               "%u not applicable; seed %" PRId64 "\n",
               all->cases[SUITE_PASS], failed, all->cases[SUITE_NOT_APPLICABLE], items[SUITE_PASS],
               items[SUITE_FAIL], items[SUITE_NOT_APPLICABLE], fields->seed);
    pawl_free(all);
    if (failed == 0)
        return 0;
    fflush(stdout);
    fprintf(stderr, "pawl: %u case%s failed; seed %" PRId64 "\n", failed, PAWL__PLURAL(failed),
            fields->seed);
    return 1;
}

int pawl__conformance_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields = {.filter = NULL};
    pawl_error  error  = PAWL_ERROR_INIT;
    pawl_code   code   = pawl__verb_parse(verb, count, words, &fields, &error);
    if (code == PAWL_OK)
        code = pawl__store_url(&fields.at, &error);
    if (code == PAWL_OK)
        code = check_fields(&fields, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    if (fields.seed < 0)
        fields.seed = (int64_t)time(NULL);
    code = fields.is_drop ? drop_tables(&fields, &error) : prepare(&fields, &error);
    if (code != PAWL_OK || fields.is_drop)
        return pawl__fail_store(code, &error, fields.at.store);
    return run(&fields);
}
