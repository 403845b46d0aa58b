/* bench_run.c - the rounds of one benchmark.
 *
 *     fill -> { copy -> run -> check } * 2 * rounds -> medians -> verdict
 *
 * pawl and the loop take turns, so that a machine that becomes slower or faster
 * does so for both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include "job.h"
#include "verdict.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <yyjson.h>

#define SEED 1
#define ROUNDS_MAX 99

static const pawl__bench_workload *const workloads[] = {
    &pawl__bench_outbox_drain,
    &pawl__bench_saga_step,
    &pawl__bench_timeouts,
};

typedef struct session {
    const pawl__bench_options  *options;
    const pawl__bench_workload *workload;
    pawl__bench_timed_fn       *limit; /* or NULL */
    pawl__bench_place           place;
    pawl__bench_job             job;
    pawl__bench_handle          kept[2]; /* of a store that is gone with its last handle */
    double                      pawl_rates[ROUNDS_MAX];
    double                      limit_rates[ROUNDS_MAX];
} session;

typedef struct result {
    double messages_per_s;
    double limit_per_s; /* 0: there is none */
    double ratio;
} result;

/* ---- What the workloads share --------------------------------------------- */

static volatile sig_atomic_t was_signalled;

static void note_signal(int number)
{
    was_signalled = number;
}

int64_t pawl__bench_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

pawl_code pawl__bench_go_on(pawl_error *error)
{
    if (was_signalled == 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINTERRUPTED, "the benchmark was interrupted by signal %d",
                          (int)was_signalled);
}

pawl_code pawl__bench_expect(const char *what, int64_t found, int64_t wanted, pawl_error *error)
{
    if (found == wanted)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EBUG, "%s: %lld, should be %lld", what, (long long)found,
                          (long long)wanted);
}

/* ---- Progress ------------------------------------------------------------- */

static void report_progress(const char *what, int64_t round, int64_t rounds, const char *rate)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s%s%.0lld%s%.0lld%s", what, round > 0 ? " " : "",
                (long long)round, rounds > 0 ? "/" : "", (long long)rounds, rate);
}

static void clear_progress(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* ---- Rounds --------------------------------------------------------------- */

static pawl_code fill(const session *s, const char *url, pawl_error *error)
{
    pawl__bench_job job = s->job;
    job.url             = url;
    report_progress("filling", 0, 0, "");
    return s->workload->fill(&job, error);
}

static void close_kept(session *s)
{
    for (size_t i = 0; i < 2; i++)
        if (s->kept[i].arena != NULL)
            pawl__bench_close(&s->kept[i]);
}

static pawl_code renew(session *s, pawl_error *error)
{
    if (s->place.kind->copy != NULL)
        return s->place.kind->copy(&s->place, error);
    close_kept(s);
    pawl_code code = pawl__bench_open(s->place.round, &s->kept[0], error);
    if (code == PAWL_OK)
        code = pawl__bench_open(s->place.target, &s->kept[1], error);
    return code == PAWL_OK ? fill(s, s->place.round, error) : code;
}

static pawl_code run_round(session *s, pawl__bench_timed_fn *run, const char *who, double *rate,
                           pawl_error *error)
{
    int64_t   microseconds = 0;
    pawl_code code         = renew(s, error);
    if (code == PAWL_OK)
        code = run(&s->job, &microseconds, error);
    if (code == PAWL_OK)
        code = s->workload->check(&s->job, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "%s, %s", s->workload->name, who);
    *rate = pawl__bench_rate(s->job.messages, microseconds);
    return pawl__bench_go_on(error);
}

static pawl_code run_rounds(session *s, pawl_error *error)
{
    int64_t   rounds = s->options->rounds;
    pawl_code code   = PAWL_OK;
    if (s->place.kind->copy != NULL)
        code = fill(s, s->place.filled, error);
    for (int64_t i = 0; code == PAWL_OK && i < rounds; i++) {
        report_progress("pawl, round", i + 1, rounds, "");
        code = run_round(s, s->workload->run, "pawl", &s->pawl_rates[i], error);
        if (code != PAWL_OK || s->limit == NULL)
            continue;
        report_progress("limit, round", i + 1, rounds, "");
        code = run_round(s, s->limit, "limit", &s->limit_rates[i], error);
    }
    clear_progress();
    return code;
}

/* What failed counts; that the tables could not be dropped counts after it. */
static pawl_code drop_all(session *s, pawl_code code, pawl_error *error)
{
    const char *urls[] = {s->place.filled, s->place.round, s->place.target};
    close_kept(s);
    for (size_t i = 0; s->place.kind->drop != NULL && i < sizeof urls / sizeof urls[0]; i++) {
        pawl_error failed = PAWL_ERROR_INIT;
        if (s->place.kind->drop(urls[i], &failed) != PAWL_OK && code == PAWL_OK)
            code = pawl_error_set(error, failed.code, "%s", failed.text);
    }
    return code;
}

/* ---- Results -------------------------------------------------------------- */

static result results_of(session *s)
{
    size_t rounds = (size_t)s->options->rounds;
    result r      = {.messages_per_s = pawl__bench_median(s->pawl_rates, rounds)};
    if (s->limit != NULL) {
        r.limit_per_s = pawl__bench_median(s->limit_rates, rounds);
        r.ratio       = r.messages_per_s / r.limit_per_s;
    }
    return r;
}

static void print_table(const session *s, const char *store, const result *r, FILE *out)
{
    fprintf(out, "%s on %s: %lld messages, %lld a batch, %lld rounds, seed %llu\n",
            s->workload->name, store, (long long)s->job.messages, (long long)s->job.batch,
            (long long)s->options->rounds, (unsigned long long)s->job.seed);
    fprintf(out, "  %-8s %12.0f /s\n", "pawl", r->messages_per_s);
    if (s->limit != NULL)
        fprintf(out, "  %-8s %12.0f /s\n  %-8s %12.3f\n", "limit", r->limit_per_s, "ratio",
                r->ratio);
    else
        fprintf(out, "  no limit: %s\n", s->place.kind->no_limit);
}

static void add_rate(yyjson_mut_doc *doc, const char *name, double value, double scale)
{
    double rounded = (double)(int64_t)(value * scale + 0.5) / scale;
    yyjson_mut_obj_add_val(doc, yyjson_mut_doc_get_root(doc), name,
                           value > 0 ? yyjson_mut_real(doc, rounded) : yyjson_mut_null(doc));
}

static pawl_code print_json(const session *s, const char *store, const result *r, FILE *out,
                            pawl_error *error)
{
    yyjson_mut_doc *doc    = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, object);
    yyjson_mut_obj_add_str(doc, object, "workload", s->workload->name);
    yyjson_mut_obj_add_str(doc, object, "store", store);
    yyjson_mut_obj_add_int(doc, object, "messages", s->job.messages);
    yyjson_mut_obj_add_int(doc, object, "batch", s->job.batch);
    yyjson_mut_obj_add_int(doc, object, "rounds", s->options->rounds);
    yyjson_mut_obj_add_uint(doc, object, "seed", s->job.seed);
    if (doc != NULL) {
        add_rate(doc, "messages_per_s", r->messages_per_s, 10);
        add_rate(doc, "limit_per_s", r->limit_per_s, 10);
        add_rate(doc, "ratio", r->ratio, 1000);
    }
    if (s->limit == NULL)
        yyjson_mut_obj_add_str(doc, object, "no_limit", s->place.kind->no_limit);
    char *text = doc != NULL ? yyjson_mut_write(doc, 0, NULL) : NULL;
    if (text != NULL)
        fprintf(out, "%s\n", text);
    pawl_code code =
        text != NULL ? PAWL_OK : pawl_error_set(error, PAWL_ENOMEM, "no memory for JSON");
    free(text);
    yyjson_mut_doc_free(doc);
    return code;
}

static pawl_code judge(const session *s, const result *r, pawl_error *error)
{
    if (s->limit == NULL || !pawl__bench_is_broken(r->ratio))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_REJECT,
                          "%s: the limit is broken: pawl reached %.3f of it, at most %.2f is "
                          "possible, so the loop beside it does too much",
                          s->workload->name, r->ratio, PAWL__BENCH_RATIO_MAX);
}

static pawl_code print(session *s, FILE *out, pawl_error *error)
{
    result      r     = results_of(s);
    pawl_arena *arena = pawl_arena_create(0);
    pawl_text   store =
        arena != NULL ? pawl_url_masked(s->options->store, arena) : (pawl_text){NULL, 0};
    pawl_code code = PAWL_OK;
    if (store.data == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory for the result");
    else if (s->options->is_json)
        code = print_json(s, store.data, &r, out, error);
    else
        print_table(s, store.data, &r, out);
    pawl_arena_destroy(arena);
    return code == PAWL_OK ? judge(s, &r, error) : code;
}

/* ---- One benchmark -------------------------------------------------------- */

static pawl_code begin(session *s, const pawl__bench_options *options, pawl_error *error)
{
    s->options = options;
    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++)
        if (strcmp(workloads[i]->name, options->workload) == 0)
            s->workload = workloads[i];
    if (s->workload == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "there is no benchmark '%s'", options->workload);
    if (options->rounds < 1 || options->rounds > ROUNDS_MAX)
        return pawl_error_set(error, PAWL_EINVAL, "rounds are %lld, the limits are 1 to %d",
                              (long long)options->rounds, ROUNDS_MAX);
    pawl_code code = pawl__bench_place_take(options->store, &s->place, error);
    if (code != PAWL_OK)
        return code;
    const pawl__bench_limit *limit = s->place.kind->limits;
    for (; limit != NULL && limit->workload != NULL; limit++)
        if (strcmp(limit->workload, s->workload->name) == 0)
            s->limit = limit->run;
    s->job = (pawl__bench_job){.messages = options->messages,
                               .batch    = options->batch,
                               .seed     = SEED,
                               .url      = s->place.round,
                               .target   = s->place.target};
    return PAWL_OK;
}

static pawl_code run_session(session *s, pawl_error *error)
{
    struct sigaction action = {.sa_handler = note_signal}, old_int, old_term;
    was_signalled           = 0;
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
    pawl_code code = run_rounds(s, error);
    code           = drop_all(s, code, error);
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    return code;
}

int pawl__bench_run(const pawl__bench_options *options, FILE *out, pawl_error *error)
{
    session  *s    = pawl_allocate(sizeof *s);
    pawl_code code = s != NULL ? begin(s, options, error)
                               : pawl_error_set(error, PAWL_ENOMEM, "no memory for a benchmark");
    if (code == PAWL_OK)
        code = run_session(s, error);
    if (code == PAWL_OK)
        code = print(s, out, error);
    pawl_free(s);
    return pawl_code_exit(code);
}
