/* bench_run.c - the rounds of one benchmark.
 *
 *     fill -> { copy -> run -> check } * sides * rounds -> after -> medians -> verdict
 *     grow -> { fill -> run } * { grown, empty } * rounds -> medians              with --grown
 *
 * The sides of a round are pawl, what the workload measures beside it, and the
 * loop. They take turns, so that a machine that becomes slower or faster does
 * so for all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include "job.h"
#include "result.h"
#include "verdict.h"

#include <string.h>

#define SEED 1

static const pawl__bench_workload *const workloads[] = {
    &pawl__bench_append,       &pawl__bench_broker,    &pawl__bench_history,
    &pawl__bench_hot_saga,     &pawl__bench_latency,   &pawl__bench_no_op,
    &pawl__bench_outbox_drain, &pawl__bench_processes, &pawl__bench_retention,
    &pawl__bench_saga_step,    &pawl__bench_steady,    &pawl__bench_timeouts,
};

typedef struct session {
    pawl__bench_options         options; /* defaults filled in */
    const pawl__bench_workload *workload;
    pawl__bench_timed_fn       *limit; /* or NULL */
    pawl__bench_fixture         fixture;
    pawl__bench_job             job;
    pawl__bench_handle          kept[2]; /* of a store that is gone with its last handle */
    double                      pawl_rates[PAWL__BENCH_ROUNDS_MAX];
    double                      beside_rates[PAWL__BENCH_ROUNDS_MAX];
    double                      limit_rates[PAWL__BENCH_ROUNDS_MAX];
    pawl__bench_figures         figures;
    pawl__bench_peers           peers;
    pawl_error                  missed; /* the failure that came after the rounds */
} session;

/* A side that takes its turn in a round. */
typedef struct side {
    const char           *who;
    pawl__bench_fn       *prepare; /* or NULL */
    pawl__bench_timed_fn *run;
    pawl__bench_fn       *check;
    double               *rates;
} side;

/* ---- Rounds --------------------------------------------------------------- */

static pawl_code fill(const session *s, const char *url, pawl_error *error)
{
    pawl__bench_job job = s->job;
    job.url             = url;
    pawl__bench_progress("filling", 0, 0);
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
    if (s->fixture.kind->copy != NULL)
        return s->fixture.kind->copy(&s->fixture, error);
    close_kept(s);
    pawl_code code = pawl__bench_open(s->fixture.round, &s->kept[0], error);
    if (code == PAWL_OK)
        code = pawl__bench_open(s->fixture.target, &s->kept[1], error);
    return code == PAWL_OK ? fill(s, s->fixture.round, error) : code;
}

static pawl_code take_turn(session *s, const side *turn, int64_t round, pawl_error *error)
{
    int64_t   microseconds = 0;
    pawl_code code         = PAWL_OK;
    if (turn->run == NULL)
        return PAWL_OK;
    code = renew(s, error);
    if (code == PAWL_OK && turn->prepare != NULL)
        code = turn->prepare(&s->job, error);
    pawl__bench_progress("measuring, round", round + 1, s->options.rounds);
    if (code == PAWL_OK)
        code = turn->run(&s->job, &microseconds, error);
    if (code == PAWL_OK)
        code = turn->check(&s->job, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "%s, %s", s->workload->name, turn->who);
    turn->rates[round] = pawl__bench_rate(s->job.messages, microseconds);
    return pawl__bench_go_on(error);
}

/* ---- Rounds on large tables ------------------------------------------------- */

static pawl_code grow(const session *s, pawl_error *error)
{
    pawl__bench_job job = s->job;
    job.url             = s->fixture.filled;
    pawl_code code      = s->workload->grow(&job, error);
    pawl__bench_progress("settling", 0, 0);
    if (code == PAWL_OK && s->fixture.kind->settle != NULL)
        code = s->fixture.kind->settle(&s->fixture, error);
    return code;
}

/* Each turn has messages of its own, which differ by the seed, and what earlier ones left stays. So
 * nothing is checked but that each message was handled. */
static pawl_code take_grown_turn(session *s, const char *url, double *rates, int64_t round,
                                 pawl_error *error)
{
    pawl__bench_job job          = s->job;
    int64_t         microseconds = 0;
    job.url                      = url;
    job.seed                     = s->job.seed + 1 + (uint64_t)round;
    pawl_code code               = s->workload->fill(&job, error);
    pawl__bench_progress("measuring, round", round + 1, s->options.rounds);
    if (code == PAWL_OK)
        code = s->workload->run(&job, &microseconds, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "%s", s->workload->name);
    rates[round] = pawl__bench_rate(job.messages, microseconds);
    return pawl__bench_go_on(error);
}

static pawl_code run_grown_rounds(session *s, pawl_error *error)
{
    pawl_code code = grow(s, error);
    /* Each store is the first in every second round. */
    for (int64_t i = 0; code == PAWL_OK && i < 2 * s->options.rounds; i++) {
        bool is_grown = (i + i / 2) % 2 == 0;
        code          = take_grown_turn(s, is_grown ? s->fixture.filled : s->fixture.round,
                               is_grown ? s->pawl_rates : s->beside_rates, i / 2, error);
    }
    pawl__bench_progress_end();
    return code;
}

static pawl_code run_after(session *s, pawl_error *error)
{
    double    rate = pawl__bench_median(s->pawl_rates, (size_t)s->options.rounds);
    pawl_code code = s->workload->after(&s->job, rate, &s->missed);
    if (code == PAWL_OK || code == PAWL_REJECT)
        return PAWL_OK;
    return pawl_error_set(error, code, "%s: %s", s->workload->name, s->missed.text);
}

static pawl_code run_rounds(session *s, pawl_error *error)
{
    static const pawl__bench_beside none    = {.who = "nothing"};
    const pawl__bench_workload     *w       = s->workload;
    const pawl__bench_beside       *beside  = w->beside != NULL ? w->beside : &none;
    const side                      sides[] = {
                             {"pawl", NULL, w->run, w->check, s->pawl_rates},
                             {beside->who, beside->prepare, beside->run, beside->check, s->beside_rates},
                             {"limit", NULL, s->limit, w->check, s->limit_rates},
    };
    pawl_code code = PAWL_OK;
    if (s->fixture.kind->copy != NULL)
        code = fill(s, s->fixture.filled, error);
    for (int64_t i = 0; i < s->options.rounds; i++)
        for (size_t j = 0; code == PAWL_OK && j < sizeof sides / sizeof sides[0]; j++)
            code = take_turn(s, &sides[j], i, error);
    if (code == PAWL_OK && w->after != NULL)
        code = run_after(s, error);
    pawl__bench_progress_end();
    return code;
}

/* Drops all tables. An earlier failure counts before a failure to drop them. */
static pawl_code drop_all(session *s, pawl_code code, pawl_error *error)
{
    const char *urls[] = {s->fixture.filled, s->fixture.round, s->fixture.target};
    close_kept(s);
    for (size_t i = 0; s->fixture.kind->drop != NULL && i < sizeof urls / sizeof urls[0]; i++) {
        pawl_error failed = PAWL_ERROR_INIT;
        if (s->fixture.kind->drop(urls[i], &failed) != PAWL_OK && code == PAWL_OK)
            code = pawl_error_set(error, failed.code, "%s", failed.text);
    }
    return code;
}

/* ---- Results -------------------------------------------------------------- */

static const pawl__bench_beside on_empty = {.rate  = pawl__bench_empty_per_s,
                                            .ratio = pawl__bench_ratio_to_empty};

static pawl__bench_result result_of(session *s)
{
    size_t                    rounds = (size_t)s->options.rounds;
    const pawl__bench_beside *beside = s->options.grown > 0 ? &on_empty : s->workload->beside;
    pawl__bench_result        r      = {
                    .workload       = s->workload->name,
                    .job            = &s->job,
                    .messages_per_s = pawl__bench_median(s->pawl_rates, rounds),
    };
    double beside_per_s = pawl__bench_median(s->beside_rates, rounds);
    if (beside != NULL) {
        pawl__bench_note(&s->figures, beside->rate, beside_per_s);
        pawl__bench_note(&s->figures, beside->ratio, r.messages_per_s / beside_per_s);
    }
    if (s->limit != NULL) {
        r.limit_per_s = pawl__bench_median(s->limit_rates, rounds);
        r.ratio       = r.messages_per_s / r.limit_per_s;
        if (beside != NULL)
            pawl__bench_note(&s->figures, beside->limit_ratio, beside_per_s / r.limit_per_s);
    } else if (s->options.grown > 0) {
        r.no_limit = "it is measured beside the same on a store that was empty";
    } else {
        r.no_limit =
            s->workload->no_limit != NULL ? s->workload->no_limit : s->fixture.kind->no_limit;
    }
    return r;
}

static pawl_code judge(const session *s, const pawl__bench_result *r, pawl_error *error)
{
    if (s->missed.code != PAWL_OK)
        return pawl_error_set(error, s->missed.code, "%s: %s", s->workload->name, s->missed.text);
    if (s->limit == NULL || !pawl__bench_is_broken(r->ratio))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_REJECT,
                          "%s: the limit is broken: pawl reached %.3f of it, at most %.2f is "
                          "possible, so the loop beside it does too much",
                          s->workload->name, r->ratio, PAWL__BENCH_RATIO_MAX);
}

static pawl_code print(session *s, FILE *out, pawl_error *error)
{
    pawl__bench_result r     = result_of(s);
    pawl_arena        *arena = pawl_arena_create(0);
    pawl_code          code  = PAWL_OK;
    if (arena != NULL)
        r.store = pawl_url_masked(s->options.store, arena).data;
    if (r.store == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory for the result");
    else if (s->options.is_json)
        code = pawl__bench_print_json(&r, out, error);
    else
        pawl__bench_print_table(&r, out);
    pawl_arena_destroy(arena);
    return code == PAWL_OK ? judge(s, &r, error) : code;
}

/* ---- One benchmark -------------------------------------------------------- */

static void fill_in(int64_t *option, int64_t value)
{
    if (*option == 0)
        *option = value;
}

static pawl_code settle_options(session *s, const pawl__bench_options *given, pawl_error *error)
{
    const pawl__bench_workload *w = s->workload;
    pawl__bench_options        *o = &s->options;
    *o                            = *given;
    fill_in(&o->batch, w->batch != 0 ? w->batch : PAWL__BENCH_BATCH);
    fill_in(&o->rounds, w->rounds);
    fill_in(&o->workers, w->workers);
    fill_in(&o->rate, w->rate);
    if (w->seconds != 0) {
        fill_in(&o->seconds, w->seconds);
        o->messages = o->rate * o->seconds;
    }
    if (o->rounds < 1 || o->rounds > PAWL__BENCH_ROUNDS_MAX)
        return pawl_error_set(error, PAWL_EINVAL, "rounds are %lld, the limits are 1 to %d",
                              (long long)o->rounds, PAWL__BENCH_ROUNDS_MAX);
    if (o->grown > 0 && w->grow == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "%s has no option --grown", w->name);
    if (o->due > o->messages)
        return pawl_error_set(
            error, PAWL_EINVAL,
            "due are %lld timeouts, the limit is that of the messages, %lld: each "
            "of those is a saga that can have one",
            (long long)o->due, (long long)o->messages);
    return PAWL_OK;
}

static pawl_code begin(session *s, const pawl__bench_options *options, pawl_error *error)
{
    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++)
        if (strcmp(workloads[i]->name, options->workload) == 0)
            s->workload = workloads[i];
    if (s->workload == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "there is no benchmark '%s'", options->workload);
    pawl_code code = settle_options(s, options, error);
    if (code == PAWL_OK)
        code = pawl__bench_peer_find(options, error);
    if (code == PAWL_OK)
        code = pawl__bench_fixture_take(options->store, &s->fixture, error);
    if (code != PAWL_OK)
        return code;
    if (s->options.grown > 0 && s->fixture.kind->copy == NULL)
        return pawl_error_set(error, PAWL_EUNSUPPORTED,
                              "--grown needs a store that keeps its rows: this one loses them with "
                              "its last handle");
    const pawl__bench_limit *limit = s->options.grown > 0 ? NULL : s->fixture.kind->limits;
    for (; limit != NULL && limit->workload != NULL; limit++)
        if (strcmp(limit->workload, s->workload->name) == 0)
            s->limit = limit->run;
    if (s->workload->limit != NULL)
        s->limit = s->workload->limit;
    s->missed = (pawl_error)PAWL_ERROR_INIT;
    s->job    = (pawl__bench_job){.messages = s->options.messages,
                                  .batch    = s->options.batch,
                                  .handler  = s->workload->handler,
                                  .seed     = SEED,
                                  .url      = s->fixture.round,
                                  .target   = s->fixture.target,
                                  .kind     = s->fixture.kind,
                                  .options  = &s->options,
                                  .figures  = &s->figures,
                                  .peers    = &s->peers};
    return PAWL_OK;
}

static pawl_code run_session(session *s, pawl_error *error)
{
    const pawl__bench_workload *w      = s->workload;
    pawl_error                  failed = PAWL_ERROR_INIT;
    pawl__bench_signals_take();
    pawl_code code = w->begin != NULL ? w->begin(&s->job, error) : PAWL_OK;
    if (code == PAWL_OK)
        code = s->options.grown > 0 ? run_grown_rounds(s, error) : run_rounds(s, error);
    if (w->end != NULL && w->end(&s->job, &failed) != PAWL_OK && code == PAWL_OK)
        code = pawl_error_set(error, failed.code, "%s", failed.text);
    code = drop_all(s, code, error);
    pawl__bench_signals_give_back();
    return code;
}

static int run_bench(const pawl__bench_options *options, FILE *out, pawl_error *error)
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

const pawl__bench_ops pawl_bench_module = {.ops_size     = sizeof(pawl__bench_ops),
                                           .options_size = sizeof(pawl__bench_options),
                                           .run          = run_bench};
