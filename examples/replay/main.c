/* main.c - pawl-replay: replays an event log under a virtual clock and compares the result with a single pass over the
 * log.
 *
 *     read the log -> prepare the stores -> run (with --crash killed repeatedly) -> report
 *
 * To build in this folder with an installed pawl:
 *
 *     cc -std=c17 -D_GNU_SOURCE -I.. -o pawl-replay [a-z]*.c ../support/[a-z]*.c \
 *         $(pkg-config --cflags --libs pawl yyjson expat zlib)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "crash.h"
#include "options.h"
#include "pawl/store.h"
#include "progress.h"
#include "report.h"
#include "run.h"
#include "support/interrupt.h"
#include "workspace.h"

#include <stdio.h>

static int fail(pawl_code code, const pawl_error *error)
{
    replay_say("%s", error->text);
    return pawl_code_exit(code);
}

/* Refuses logs whose last closing would be later than PAWL_TIME_MAX, which means never. */
static pawl_code check_times(const replay_options *options, const replay_log *log,
                             pawl_error *error)
{
    char      text[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time last = log->events[log->event_count - 1].time;
    if (last < PAWL_TIME_MAX - options->quiet)
        return PAWL_OK;
    pawl_time_format(last, text);
    return pawl_error_set(error, PAWL_EINPUT,
                          "%s: the last event, at %s, leaves no quiet period before the end of the "
                          "year 9999",
                          options->log, text);
}

/* ---- One process, or the child of one ------------------------------------------ */

static pawl_code draw(const replay_run *run, void *context, pawl_error *error)
{
    static int64_t started;
    (void)error;
    if (started == 0)
        started = example_monotonic();
    replay_progress_events(context, run->job.position, run->job.log->event_count, run->messages,
                           started);
    return PAWL_OK;
}

/* Runs to the end and makes the report. */
static pawl_code work(replay_run *run, replay_report *report, pawl_error *error)
{
    const char  *told  = run->options->child;
    replay_child child = {.started = example_monotonic()};
    pawl_code    code  = told != NULL ? replay_child_parse(told, &child, error) : PAWL_OK;
    if (code != PAWL_OK)
        return code;
    example_progress progress;
    example_progress_init(&progress);
    if (told != NULL)
        code = replay_run_work(run, replay_child_committed, &child, error);
    else
        code = replay_run_work(run, draw, &progress, error);
    int64_t elapsed = example_monotonic() - child.started;
    example_progress_clear(&progress);
    if (code == PAWL_OK && told != NULL)
        code = replay_child_finished(run, &child, error);
    return code == PAWL_OK ? replay_report_make(run, elapsed, child.kills, report, error) : code;
}

static pawl_code run_here(const replay_options *options, const replay_workspace *workspace,
                          const replay_log *log, replay_patience *patience, int *exit_code,
                          pawl_error *error)
{
    replay_run    run;
    replay_report report = {.events = 0};
    pawl_code     code   = replay_run_open(&run, options, workspace, log, patience, error);
    if (code == PAWL_OK)
        code = work(&run, &report, error);
    replay_run_close(&run);
    if (code != PAWL_OK)
        return code;
    replay_report_print(&report, options->is_json);
    if (fflush(stdout) != 0 || ferror(stdout))
        return pawl_error_set(error, PAWL_EFULL, "standard output cannot be written");
    *exit_code = report.difference_count == 0 ? 0 : REPLAY_NOT_VERIFIED;
    return PAWL_OK;
}

/* ---- All of it ------------------------------------------------------------------- */

typedef struct site {
    const replay_options   *options;
    const replay_workspace *workspace;
    replay_patience        *patience;
} site;

static pawl_code prepare(void *context, pawl_error *error)
{
    const site *s = context;
    return replay_workspace_prepare(s->workspace, s->options, &s->patience->was_reached, error);
}

static pawl_code drop(void *context, pawl_error *error)
{
    const site *s    = context;
    pawl_code   code = replay_workspace_drop(s->workspace, error);
    if (code == PAWL_OK && s->options->transport != NULL)
        code = replay_workspace_remove_queue(s->workspace, s->options, error);
    return code;
}

/* Removes the work folder of a run that used nothing outside of it. In the user's stores drops the tables of a run that
 * was verified or never began, unless they are to be kept. Otherwise prints how to continue, and returns true if the
 * folder is needed for that, as it may contain the archive. */
static bool clean_up(const replay_options *options, const replay_workspace *workspace,
                     replay_patience *patience, int exit_code)
{
    pawl_error error = PAWL_ERROR_INIT;
    site       s     = {options, workspace, patience};
    bool       has_outside =
        options->store != NULL || options->archive != NULL || options->transport != NULL;
    if (!options->is_kept && options->work == NULL) {
        if (!has_outside ||
            (exit_code == 0 && replay_patiently(patience, drop, &s, &error) == PAWL_OK))
            return false;
    }
    if (options->run == NULL && !replay_workspace_is_begun(workspace, options))
        return false;
    /* a failed child has printed the reason, which must stay the last line */
    if (options->kills > 0 && exit_code > REPLAY_NOT_VERIFIED)
        return true;
    pawl_arena *arena = pawl_arena_create(0);
    if (arena != NULL)
        fprintf(stderr, "pawl-replay: run %s stays in %.*s and %.*s, its tables are %s*\n",
                workspace->run, PAWL_TEXT_ARGS(pawl_url_masked(workspace->store, arena)),
                PAWL_TEXT_ARGS(pawl_url_masked(workspace->archive, arena)),
                workspace->system_prefix);
    pawl_arena_destroy(arena);
    return true;
}

/* Runs as the parent, or as the only process. */
static pawl_code run_all(const replay_options *options, const replay_log *log, char **words,
                         int *exit_code, pawl_error *error)
{
    replay_workspace workspace;
    replay_patience  patience = {.was_reached = false};
    site             s        = {options, &workspace, &patience};
    bool             is_kept  = false;
    pawl_code        code     = replay_workspace_init(options, &workspace, error);
    if (code == PAWL_OK && options->kills > 0)
        code = replay_crash_check(&workspace, error);
    if (code == PAWL_OK)
        code = replay_patiently(&patience, prepare, &s, error);
    bool is_prepared = code == PAWL_OK;
    if (code == PAWL_OK && options->kills > 0)
        code = replay_crash(options, &workspace, log, words, exit_code, error);
    else if (code == PAWL_OK)
        code = run_here(options, &workspace, log, &patience, exit_code, error);
    if (is_prepared)
        is_kept = clean_up(options, &workspace, &patience,
                           code == PAWL_OK ? *exit_code : REPLAY_NOT_VERIFIED);
    replay_workspace_clear(&workspace, is_kept);
    return code;
}

static pawl_code run_child(const replay_options *options, const replay_log *log, int *exit_code,
                           pawl_error *error)
{
    replay_workspace workspace;
    replay_patience  patience = {.was_reached = true}; /* the parent has reached them */
    pawl_code        code     = replay_workspace_init(options, &workspace, error);
    if (code == PAWL_OK)
        code = run_here(options, &workspace, log, &patience, exit_code, error);
    replay_workspace_clear(&workspace, false);
    return code;
}

static pawl_code replay(const replay_options *options, char **words, int *exit_code,
                        pawl_error *error)
{
    replay_log       log = {.events = NULL};
    example_progress progress;
    example_progress_init(&progress);
    progress.is_shown = progress.is_shown && options->child == NULL;
    pawl_code code    = replay_log_read(options->log, &options->columns, replay_progress_reading,
                                        &progress, &log, error);
    example_progress_clear(&progress);
    if (code == PAWL_OK)
        code = check_times(options, &log, error);
    if (code == PAWL_OK && options->child != NULL)
        code = run_child(options, &log, exit_code, error);
    else if (code == PAWL_OK)
        code = run_all(options, &log, words, exit_code, error);
    replay_log_free(&log);
    return code;
}

int main(int argc, char **argv)
{
    pawl_error     error     = PAWL_ERROR_INIT;
    int            exit_code = 0;
    replay_options options;
    pawl_code      code = replay_options_parse(argc - 1, argv + 1, &options, &error);
    if (code != PAWL_OK)
        return fail(code, &error);
    if (options.wants_help) {
        replay_options_help();
        return 0;
    }
    if (options.wants_version) {
        printf("pawl-replay %s\n", pawl_version());
        return 0;
    }
    example_interrupt_watch();
    code = replay(&options, argv, &exit_code, &error);
    return code == PAWL_OK ? exit_code : fail(code, &error);
}
