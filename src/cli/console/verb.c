/* verb.c - `pawl console`: checks the options and the store, starts the server, and stops it at a signal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/console/console.h"

#include "store/core/module.h"

#include <signal.h>
#include <string.h>

#define BODY_SIZE_MAX ((size_t)PAWL_BODY_SIZE_MAX * 2 + 65536) /* for an escaped message body */
#define LISTEN_DEFAULT "127.0.0.1:8090"

typedef struct verb_fields {
    pawl__store_fields at;
    const char        *app, *host, *listen, *saga_prefix, *users, *user_header;
    bool               may_write;
} verb_fields;

const pawl__argument pawl__console_verb_arguments[] = {{.name = NULL}};

#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__console_verb_options[] = {
    OPTION("app", TEXT, app, "APP.so", 0, "the program that has the sagas"),
    OPTION("host", TEXT, host, "NAME", 0,
           "the name in the address of the proxy, such as console.example"),
    OPTION("listen", TEXT, listen, "ADDRESS:PORT", 0,
           "a numeric address; port 0: a free one. Another than a loopback address needs --users",
           .text_default = LISTEN_DEFAULT),
    PAWL__OPTION_PREFIX(verb_fields, at),
    PAWL__OPTION_SAGA_PREFIX(verb_fields, saga_prefix, 0),
    PAWL__OPTION_STORE(verb_fields, at),
    OPTION("user-header", TEXT, user_header, "NAME", 0,
           "the header in which a proxy on this machine names the user"),
    OPTION("users", TEXT, users, "FILE", 0,
           "who may use it: lines NAME:HASH or NAME:HASH:write, hashes as mkpasswd makes them"),
    OPTION("write", FLAG, may_write, NULL, 0, "let its users change what is in the store"),
    {.name = NULL},
};
const pawl__report pawl__console_verb_reports[] = {{.what = NULL}};

/* ---- Where it listens -------------------------------------------------------- */

static pawl_code read_listen(const char *text, char address[64], int *port, pawl_error *error)
{
    pawl_text found;
    if (!pawl__address_split(text, &found, port) || found.size == 0 || found.size >= 64)
        return pawl_error_set(error, PAWL_EINVAL,
                              "--listen: expected ADDRESS:PORT with a port up to 65535, got '%s'",
                              text);
    memcpy(address, found.data, found.size);
    address[found.size] = '\0';
    *port               = *port == 0 ? PAWL_OBSERVE_PORT_ANY : *port;
    return PAWL_OK;
}

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static pawl_code check_access(const verb_fields *fields, const char *address, pawl_error *error)
{
    if (fields->users != NULL && fields->user_header != NULL)
        return pawl_error_set(error, PAWL_EINVAL, "give --users or --user-header, not both");
    if (fields->user_header != NULL && fields->host == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "--user-header needs --host NAME, the name in the address of the "
                              "proxy: requests for other names are refused");
    if (is_loopback(address) || fields->users != NULL)
        return PAWL_OK;
    if (fields->user_header != NULL)
        return pawl_error_set(
            error, PAWL_EINVAL,
            "--listen %s: everybody who reaches the port could name himself in the header %s; "
            "listen on 127.0.0.1, behind the proxy, or give --users",
            address, fields->user_header);
    return pawl_error_set(
        error, PAWL_EINVAL,
        "--listen %s: others than this machine could read the store: give --users FILE", address);
}

/* ---- The store ----------------------------------------------------------------- */

/* Opens the store once, so that a missing store, missing tables or denied access end the console at its start. */
static pawl_code check_store(pawl__console *console, pawl_error *error)
{
    pawl_store        *store = NULL;
    pawl__store_fields at    = {
           .store = console->store, .prefix = console->prefix, .deadline = PAWL_SECONDS(10)};
    pawl_store_options with = pawl__store_options(&at, PAWL_OPEN_EXISTING);
    pawl_code          code = pawl_store_open(console->store, &with, &store, error);
    pawl_store_close(store);
    return code;
}

/* ---- The run ---------------------------------------------------------------------- */

static pawl_code serve(pawl__console *console, const pawl_observe_ops *ops, int port,
                       pawl_error *error)
{
    const pawl_serve_plan plan   = {.context       = console,
                                    .answer        = pawl__console_answer,
                                    .read          = pawl__console_live_read,
                                    .address       = console->address,
                                    .port          = port,
                                    .body_size_max = BODY_SIZE_MAX};
    void                 *server = NULL;
    int                   number = 0;
    sigset_t              ends;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    /* Blocked before any thread starts, and taken by sigwait, so that the console stops in order. */
    (void)pthread_sigmask(SIG_BLOCK, &ends, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    pawl_code code = pawl__console_live_start(console, error);
    if (code == PAWL_OK)
        code = pawl__console_bulk_start(console, error);
    if (code == PAWL_OK)
        code = ops->serve(&plan, &server, &console->port, error);
    if (code == PAWL_OK) {
        bool is_six = strchr(console->address, ':') != NULL;
        fprintf(stderr, "pawl: console of %s at http://%s%s%s:%d/%s; Ctrl-C ends it\n",
                console->masked, is_six ? "[" : "", console->address, is_six ? "]" : "",
                console->port, console->may_write ? "" : ", read only");
        (void)sigwait(&ends, &number);
    }
    pawl__console_live_stop(console);
    pawl__console_bulk_stop(console);
    if (server != NULL)
        ops->serve_stop(server);
    return code;
}

static pawl_code start(const verb_fields *fields, pawl__console *console, pawl_error *error)
{
    char        address[64];
    int         port = 0;
    const void *ops  = NULL;
    pawl_code   code = read_listen(fields->listen, address, &port, error);
    if (code == PAWL_OK)
        code = check_access(fields, address, error);
    if (code == PAWL_OK && fields->users != NULL) {
        console->has_users = true;
        code               = pawl__console_users_read(fields->users, &console->users, error);
    }
    console->address = address;
    if (code == PAWL_OK)
        code = check_store(console, error);
    if (code == PAWL_OK)
        code = pawl__module_load("observe", "the console", PAWL_OBSERVE_MODULE_SYMBOL,
                                 sizeof(pawl_observe_ops), &ops, error);
    return code == PAWL_OK ? serve(console, ops, port, error) : code;
}

/* Waits use CLOCK_MONOTONIC, so that setting the clock does not make them longer. */
static void init_monotonic(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

int pawl__console_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields   fields  = {.app = NULL};
    pawl_error    error   = PAWL_ERROR_INIT;
    pawl__console console = {.mutex   = PTHREAD_MUTEX_INITIALIZER,
                             .is_free = PTHREAD_COND_INITIALIZER};
    init_monotonic(&console.is_news);
    init_monotonic(&console.is_bulk);
    pawl_code code = pawl__verb_parse(verb, count, words, &fields, &error);
    if (code == PAWL_OK)
        code = pawl__shared_store_url(&fields.at, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    console.store       = fields.at.store;
    console.prefix      = fields.at.prefix;
    console.saga_prefix = fields.saga_prefix;
    console.app         = fields.app;
    console.may_write   = fields.may_write;
    console.user_header = fields.user_header;
    console.host        = fields.host;
    (void)pawl__masked(fields.at.store, console.masked, sizeof console.masked);
    pawl__interrupt_says(NULL);
    code = start(&fields, &console, &error);
    pawl__console_users_free(&console.users);
    return code == PAWL_OK ? 0 : pawl__fail_store(code, &error, fields.at.store);
}
