/* run.c - `pawl run APP.so`: runs the endpoints of an application, by pawl_application_run.
 *
 *     load -> settings -> pawl_application_run until a signal -> unload
 *
 * With --restart all of this happens in a child (supervise.c).
 *
 * The first SIGTERM, SIGINT or SIGHUP stops gracefully: messages in flight are finished and the command exits 0. A
 * handler that does not return within --stop-wait is named, and the command exits 5 without waiting for it. A second
 * signal, half a second later or more, exits 5 at once. A batch that was not committed leaves no trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/run/run.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STOP_SPAN PAWL_MILLISECONDS(500) /* signals within it are the same stop */

typedef struct verb_fields {
    pawl__store_fields   at;
    const char          *application, *endpoint, *saga_prefix, *http, *log, *otlp;
    pawl__settings_words words;
    bool                 is_created, is_shown, is_json, is_restarted;
} verb_fields;

/* "trace" is debug and also logs each call of a store. */
static const char *const log_levels[] = {"error", "warning", "info", "debug", "trace", NULL};

const pawl__argument pawl__run_verb_arguments[] = {
    PAWL__ARGUMENT(verb_fields, "APP.so", application,
                   "the application: a shared object that PAWL_EXPORT_APPLICATION is in"),
    {.name = NULL},
};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__run_verb_options[] = {
    PAWL__NUMBER_ROWS(PAWL__SETTINGS_OPTION) OPTION(
        "audit", TEXT, words.words[PAWL__WORD_AUDIT], "URL#QUEUE", 0,
        "copy each handled message to this queue, by the outbox; no URL: of this store; none: copy nothing"),
    OPTION(
        "config", TEXT, words.file, "FILE", 0,
        "lines KEY = VALUE: the numbers here, audit, health, ordered, recovery, route and transport, for all endpoints or under [ENDPOINT]"),
    OPTION("create", YES_NO, is_created, NULL, 0,
           "make missing tables (never on a database server)", .has_default = true,
           .value_default = true),
    OPTION("endpoint", TEXT, endpoint, "NAME", 0, "run this endpoint only",
           .default_words = "all of the application"),
    PAWL__OPTION_HEALTH(verb_fields, words.health),
    OPTION("http", TEXT, http, "PORT", 0,
           "/livez, /readyz and /metrics on 127.0.0.1, or on ADDRESS:PORT; 0: any port"),
    OPTION("json", FLAG, is_json, NULL, 0,
           "with --show-options: one JSON object for each option, route and row of recovery"),
    OPTION("log", TEXT, log, "LEVEL", 0,
           "error, warning, info, debug or trace (each call of a store), on standard error",
           .choices = log_levels, .text_default = "info"),
    OPTION(
        "ordered", TEXT, words.words[PAWL__WORD_ORDERED], "KEY", 0,
        "handle the messages of one key in their order: saga, header:NAME, property:NAME; none: in any"),
    OPTION("otlp", TEXT, otlp, "URL", 0,
           "send traces and metrics to this collector, http://HOST:4318"),
    /* The application may have another default. */
    OPTION("prefix", TEXT, at.prefix, "NAME", 0, "what the names of the shared tables begin with",
           .text_default = PAWL__PREFIX_DEFAULT, .is_layered = true),
    OPTION(
        "recovery", LIST, words.recovery, "WORDS", 0,
        "retries by error and type: code=CODE type=TYPE immediate=N delayed=N delay=TIME delay-max=TIME then=dead|discard"),
    OPTION(
        "restart", FLAG, is_restarted, NULL, 0,
        "run it in a child process, which is started again when it crashes; its signal is in the history of the message"),
    OPTION(
        "route", LIST, words.routes, "NAME=URL#QUEUE", 0,
        "where a destination leads; no URL: this store, 'outbox:' for one: this store by the outbox; no QUEUE: the name"),
    PAWL__OPTION_SAGA_PREFIX(verb_fields, saga_prefix, 0),
    OPTION("show-options", FLAG, is_shown, NULL, 0,
           "print the settings of each endpoint with their sources; run nothing"),
    PAWL__OPTION_STORE(verb_fields, at),
    OPTION("transport", TEXT, words.words[PAWL__WORD_TRANSPORT], "URL#QUEUE", 0,
           "read this queue of a broker, too, amqp://HOST/; no QUEUE: that of the endpoint's name"),
    {.name = NULL},
};

/* ---- Log ------------------------------------------------------------------ */

static void write_log(pawl_log_level level, const char *text, void *context)
{
    char now[PAWL_TIME_TEXT_SIZE + 1];
    (void)context;
    pawl_time_format(pawl_clock_now(NULL), now);
    fprintf(stderr, "%s %s %s\n", now, log_levels[level], text);
}

static void set_log(const char *level)
{
    int i = (int)pawl__choice_of(log_levels, pawl_text_of(level));
    pawl_log_set(write_log, i < PAWL_LOG_DEBUG ? (pawl_log_level)i : PAWL_LOG_DEBUG, NULL);
    pawl_store_trace_set(i > PAWL_LOG_DEBUG ? pawl_store_trace_log : NULL, NULL);
}

/* ---- Health, metrics, traces ------------------------------------------------ */

/* PORT, ADDRESS:PORT or [ADDRESS]:PORT. */
static pawl_code read_http(const char *text, pawl_arena *arena, pawl_observe_options *observe,
                           pawl_error *error)
{
    pawl_text address;
    int       port;
    if (!pawl__address_split(text, &address, &port))
        return pawl_error_set(error, PAWL_EINVAL,
                              "--http: expected PORT or ADDRESS:PORT with a port up to 65535, got "
                              "'%s'",
                              text);
    bool has_address = strchr(text, ':') != NULL;
    observe->address = has_address ? pawl__must_text(arena, address).data : NULL;
    observe->port    = port != 0 ? port : PAWL_OBSERVE_PORT_ANY;
    return PAWL_OK;
}

static pawl_code read_observe(const verb_fields *fields, pawl_arena *arena,
                              const pawl_observe_options **observe, pawl_error *error)
{
    static const pawl_observe_options defaults = PAWL_OBSERVE_OPTIONS_INIT;
    pawl_observe_options *made = pawl__must(pawl_arena_copy(arena, &defaults, sizeof defaults));
    made->otlp                 = fields->otlp;
    *observe                   = made;
    return fields->http != NULL ? read_http(fields->http, arena, made, error) : PAWL_OK;
}

/* ---- Endpoints ------------------------------------------------------------ */

/* The run, for the signal handler; NULL before all endpoints are created and after they stopped. */
static _Atomic(pawl_run *) running;
static _Atomic int64_t     stop_begin;  /* by pawl__steady_now; 0: no signal came */
static atomic_bool         has_started; /* a signal stops the run gracefully */
static pid_t               process;     /* the one that handles signals: not a fork of it */

/* The first signal stops gracefully, or at once while no endpoint runs yet; a second signal does not wait for handlers.
 * One stop may arrive as two signals: systemd signals all of a control group, timeout(1) the process and its group, and
 * the parent of --restart passes its own signal on. Those within STOP_SPAN count as one. A process that a handler
 * forked is ended by the signal as by default. */
static void on_signal(int number)
{
    static const char line[] =
        "pawl: stopped at once by a second signal; what was committed stays\n";
    int64_t begin = 0, now = pawl__steady_now();
    if (getpid() != process) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    if (!atomic_compare_exchange_strong(&stop_begin, &begin, now)) {
        if (now - begin < STOP_SPAN)
            return;
        ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
        (void)written;
        _exit(pawl_code_exit(PAWL_EINTERRUPTED));
    }
    pawl__notify(PAWL__NOTIFY_STOPPING);
    if (!atomic_load(&has_started))
        _exit(0);
    pawl_run *run = atomic_load(&running);
    if (run != NULL)
        pawl_run_stop(run);
}

static void on_pipe(int number)
{
    (void)number;
}

/* SIGPIPE does not end the process if the reader of its log is gone. It has an empty handler: programs that the
 * application starts would inherit SIG_IGN. */
static void handle_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    process                 = getpid();
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, NULL, &before);
    if (before.sa_handler != SIG_IGN) /* not started by nohup */
        sigaction(SIGHUP, &action, NULL);
    action.sa_handler = on_pipe;
    sigaction(SIGPIPE, &action, NULL);
}

static pawl_code configure(void *context, const char *endpoint, pawl_endpoint_options *options,
                           pawl_error *error)
{
    return pawl__settings_fill(context, endpoint, options, error);
}

static void on_changed(void *context, pawl_run *run, pawl_run_state state)
{
    (void)context;
    atomic_store(&running, state != PAWL_RUN_STOPPED ? run : NULL);
    atomic_store(&has_started, true);
    if (state == PAWL_RUN_STARTED)
        pawl__notify("READY=1");
}

/* Completes the command at the end of an error about tables: the store that made the text knows no application, and
 * writes "--app APP" at most. Without --app the command would make the shared tables and not those of the sagas. */
static void complete_advice(const verb_fields *fields, pawl_arena *arena, pawl_error *error)
{
    static const char open_end[] = " --app APP";
    size_t            size       = strlen(error->text);
    size_t            cut        = sizeof open_end - 1;
    bool              is_open    = size >= cut && strcmp(error->text + size - cut, open_end) == 0;
    bool              has_prefix = fields->saga_prefix != NULL;
    if (strstr(error->text, "run: pawl schema apply") == NULL)
        return;
    if (is_open)
        size -= cut;
    snprintf(error->text + size, sizeof error->text - size, " --app %s%s%s",
             pawl__shell_word(pawl_text_of(fields->application), arena).data,
             has_prefix ? " --saga-prefix " : "",
             has_prefix ? pawl__shell_word(pawl_text_of(fields->saga_prefix), arena).data : "");
}

static bool is_wanted(const verb_fields *fields, const pawl_endpoint_spec *endpoint)
{
    return fields->endpoint == NULL || strcmp(endpoint->name, fields->endpoint) == 0;
}

/* Checks the options of all endpoints before the first one opens the store. */
static pawl_code check_endpoints(const verb_fields *fields, const pawl_application *application,
                                 const pawl__settings        *settings,
                                 const pawl_endpoint_options *options, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && application->endpoints[i] != NULL; i++)
        if (is_wanted(fields, application->endpoints[i]))
            code = pawl__settings_check(settings, application->endpoints[i]->name, options, error);
    return code;
}

static pawl_code run_endpoints(const verb_fields *fields, const pawl_application *application,
                               pawl__settings *settings, const pawl_endpoint_options *options,
                               pawl_arena *arena, pawl_error *error)
{
    const pawl_run_options run  = {.options_size  = sizeof run,
                                   .endpoint      = options,
                                   .only          = fields->endpoint,
                                   .configure     = configure,
                                   .changed       = on_changed,
                                   .context       = settings,
                                   .keeps_signals = true};
    pawl_code              code = pawl_application_run(application, &run, error);
    if (code == PAWL_ESCHEMA)
        complete_advice(fields, arena, error);
    return code;
}

/* ---- The verb ------------------------------------------------------------- */

#define SETTING(key, kind, member, ...) PAWL__COLUMN(pawl__setting, key, kind, member, __VA_ARGS__)
static const pawl__column setting_columns[] = {
    SETTING("endpoint", TEXT, endpoint, "endpoint"),
    SETTING("option", TEXT, option, "option"),
    SETTING("value", TEXT, value, "value"),
    SETTING("from", TEXT, from, "from"),
    SETTING("count", JSON, count, NULL),
    SETTING("microseconds", JSON, microseconds, NULL),
    SETTING("file", TEXT, file, NULL),
    SETTING("line", NUMBER, line, NULL),
    {.key = NULL},
};
static const pawl__noun options_shown = {"option", setting_columns, sizeof(pawl__setting)};
const pawl__report      pawl__run_verb_reports[] = {{"show-options", setting_columns, NULL},
                                                    {.what = NULL}};

static pawl_code show_options(const verb_fields *fields, const pawl_application *application,
                              const pawl__settings *settings, pawl_arena *arena, pawl_error *error)
{
    pawl__setting_list list = {.items = NULL};
    pawl_code          code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && application->endpoints[i] != NULL; i++)
        if (is_wanted(fields, application->endpoints[i]))
            code = pawl__settings_list(settings, application->endpoints[i], &list, error);
    if (code == PAWL_OK)
        code = pawl__settings_list_health(settings, &list, error);
    pawl__view view = pawl__view_of(&options_shown, fields->is_json, arena);
    return code == PAWL_OK ? pawl__rows_print(&view, list.items, list.count) : code;
}

/* Refuses a pipe as --config: it would be empty for the second child. The child says why a file cannot be read. */
static pawl_code check_config(const char *file, pawl_error *error)
{
    struct stat status;
    bool        is_input = strcmp(file, "-") == 0;
    if (!is_input && (stat(file, &status) != 0 || S_ISREG(status.st_mode)))
        return PAWL_OK;
    return pawl_error_set(
        error, PAWL_EINVAL,
        "--config %s: each process of --restart reads it again: give a regular file", file);
}

/* Checks the words of the command line, before the application is loaded. */
static pawl_code check_words(verb_fields *fields, pawl_arena *arena, pawl_endpoint_options *options,
                             pawl__settings **settings, pawl_error *error)
{
    if (fields->is_json && !fields->is_shown)
        return pawl_error_set(error, PAWL_EINVAL, "--json goes with --show-options");
    set_log(fields->log);
    if (fields->is_restarted && !fields->is_shown && fields->words.file != NULL &&
        check_config(fields->words.file, error) != PAWL_OK)
        return PAWL_EINVAL;
    pawl_code code = fields->is_shown ? PAWL_OK : pawl__store_url(&fields->at, error);
    if (code == PAWL_OK)
        code =
            pawl__settings_create(&fields->words, pawl__run_verb_options, arena, settings, error);
    if (code == PAWL_OK)
        code = read_observe(fields, arena, &options->observe, error);
    options->store         = fields->at.store;
    options->mode          = fields->is_created ? PAWL_OPEN_CREATE : PAWL_OPEN_CHECK;
    options->system_prefix = fields->at.prefix;
    options->saga_prefix   = fields->saga_prefix;
    return code;
}

static pawl_code run_application(const verb_fields *fields, const pawl_application *application,
                                 pawl__settings *settings, const pawl_endpoint_options *options,
                                 pawl_arena *arena, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (fields->endpoint != NULL)
        code = pawl__application_check_endpoint(application, fields->endpoint, error);
    if (code == PAWL_OK && fields->words.words[PAWL__WORD_TRANSPORT] != NULL &&
        fields->endpoint == NULL && application->endpoints[1] != NULL &&
        strchr(fields->words.words[PAWL__WORD_TRANSPORT], '#') != NULL)
        code =
            pawl_error_set(error, PAWL_EINVAL,
                           "--transport names a queue, which one endpoint reads: give --endpoint, "
                           "or give it under [ENDPOINT] of a --config");
    if (code == PAWL_OK)
        code = pawl__settings_read(settings, application, error);
    if (code == PAWL_OK)
        code = check_endpoints(fields, application, settings, options, error);
    if (code == PAWL_OK && fields->is_shown)
        return show_options(fields, application, settings, arena, error);
    pawl_endpoint_options with    = *options;
    pawl_observe_options  observe = *options->observe;
    pawl__limits          limits  = {.health = {0}};
    with.observe                  = &observe;
    if (code == PAWL_OK)
        code = pawl__settings_health(settings, &limits, error);
    observe.health = limits.health;
    return code == PAWL_OK ? run_endpoints(fields, application, settings, &with, arena, error)
                           : code;
}

int pawl__run_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields           fields    = {.application = NULL};
    pawl__loaded          loaded    = {NULL, NULL};
    pawl__settings       *settings  = NULL;
    pawl_error            error     = PAWL_ERROR_INIT;
    pawl_endpoint_options options   = PAWL_ENDPOINT_OPTIONS_INIT;
    int                   exit_code = 0;
    pawl_code             code      = pawl__verb_parse(verb, count, words, &fields, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    pawl_arena *arena = pawl__must_create();
    code              = check_words(&fields, arena, &options, &settings, &error);
    if (code == PAWL_OK && !fields.is_shown) {
        pawl__notify_open();
        handle_signals(); /* before the load, which may be slow */
    }
    if (code == PAWL_OK && fields.is_restarted && !fields.is_shown &&
        !pawl__supervise(&fields.at, handle_signals, &exit_code)) {
        pawl_arena_destroy(arena);
        return exit_code;
    }
    if (code == PAWL_OK)
        code = pawl__application_load(fields.application, &loaded, &error);
    if (code == PAWL_OK)
        code = run_application(&fields, loaded.application, settings, &options, arena, &error);
    if (fields.is_restarted && atomic_load(&stop_begin) == 0)
        pawl__notify(PAWL__NOTIFY_STOPPING);
    if (code == PAWL_ETIMEOUT) /* a handler that still runs needs the application loaded */
        _exit(pawl__fail_store(code, &error, fields.at.store));
    pawl__application_unload(&loaded);
    pawl_arena_destroy(arena);
    return pawl__fail_store(code, &error, fields.at.store);
}
