/* run.h - `pawl run`: what its files share.
 *
 *     run.c         the verb: load -> settings -> pawl_application_run until a signal -> unload
 *     settings.c    the options of the command line, the file and the application, by precedence
 *     words.c       parses and prints routes, rows of recovery and limits of health
 *     supervise.c   --restart: a parent that starts the process again; messages to systemd
 *     worker.c      `pawl worker`: the processes that run now
 *
 * Tests: tests/system/command_run.sh, command_options.sh, command_restart.sh, command_service.sh, command_health.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_RUN_H
#define PAWL_CLI_RUN_H

#include "cli/cli.h"
#include "pawl/pawl.h"
#include "runtime/common/health_rows.h"
#include "runtime/endpoint/option_rows.h"

/* ---- Routes: NAME=URL#QUEUE ------------------------------------------------- */

#define PAWL__THROUGH_OUTBOX "outbox:" /* instead of a URL: this store, through the outbox */

/* Parses a route; its parts are copied into the arena. PAWL_EINVAL. */
pawl_code pawl__route_read(const char *text, pawl_arena *arena, pawl_route *route,
                           pawl_error *error);

#define PAWL__ROUTE_TEXT_SIZE (PAWL_URL_SIZE_MAX * 2)
/* As it would be given, without a password; cut to the size. Returns `text`. */
const char *pawl__route_words(const pawl_route *route, char text[PAWL__ROUTE_TEXT_SIZE]);

/* ---- Rows of recoverability (pawl/recovery.h) -------------------------------- *
 *
 *     code=EUNREACHABLE type=charge immediate=0 delayed=10 delay=1m delay-max=2h then=discard
 *
 * Each word may be left out. `immediate=0` means no retries, while 0 in pawl_recovery means the default. */

/* Rows of one place: of the command line, or of a part of the file. */
typedef struct pawl__recovery_rows {
    pawl_recovery items[PAWL_RECOVERY_ROWS_MAX];
    size_t        lines[PAWL_RECOVERY_ROWS_MAX]; /* of the file; 0: none */
    size_t        count;
} pawl__recovery_rows;

/* Parses a row and adds it. PAWL_EINVAL names the word and the limit, or an earlier row of the same place that applies
 * to all failures of this one, which would never be used. */
pawl_code pawl__recovery_add(pawl__recovery_rows *rows, const char *text, size_t line,
                             pawl_arena *arena, pawl_error *error);
/* Adds the row unless an earlier one applies to all its failures. False: the list is full. */
bool pawl__recovery_join(pawl__recovery_rows *rows, const pawl_recovery *row, size_t line);
/* The row as it would be given; in the arena. */
const char *pawl__recovery_text(const pawl_recovery *row, pawl_arena *arena);

/* ---- systemd ------------------------------------------------------------------- *
 *
 * READY=1 when all endpoints run, STOPPING=1 when it stops. A service of Type=notify has a socket in NOTIFY_SOCKET;
 * without it every call does nothing. libsystemd is not used: it would be one more library, for two datagrams. */

#define PAWL__NOTIFY_STOPPING "STOPPING=1" /* an exit without it is a crash for --restart */

/* Connects to NOTIFY_SOCKET, a path or "@NAME"; logs a warning when that fails. */
void pawl__notify_open(void);
/* Sends "READY=1\nSTATUS=...", from any thread and from a signal handler. Never waits: what cannot be sent is lost. */
void pawl__notify(const char *state);

/* ---- --restart: a parent process, which records a crash of its child and starts another ---- */

/* Returns true in each child, which runs the endpoints; false in the parent, after the last child: `exit_code` is then
 * that of this child, or 128 plus the signal that killed it. Called while the process has one thread, and no store
 * open. `listen` installs the signal handlers of each child, before a signal can reach it. */
bool pawl__supervise(const pawl__store_fields *at, void (*listen)(void), int *exit_code);

/* ---- Limits of health (words.c) ---------------------------------------------- *
 *
 * As --health gives them, CHECK=DEGRADED[/UNHEALTHY]:
 *
 *     queue_age=5m         dead_letters=10/1000         queue_no_consumer=off
 *
 * A limit that is not named keeps its value; "off" is a limit that is never reached. */

/* The option of a verb; `member` is a pawl__texts. */
#define PAWL__OPTION_HEALTH(fields, member)                                \
    PAWL__OPTION(fields, "health", LIST, member, "CHECK=LIMIT[/LIMIT]", 0, \
                 "from where on a check of health is degraded, and unhealthy; off: never")

typedef struct pawl__limits {
    pawl_health_options health;
    size_t              lines[PAWL__HEALTH_CHECK_COUNT]; /* by check, of the file; 0: not in it */
    bool                is_given[PAWL__HEALTH_CHECK_COUNT]; /* by the command line */
} pawl__limits;

/* Sets the limit of a line of the file. PAWL_EINVAL: an unknown or repeated check, or a limit of another kind. */
pawl_code pawl__limit_read(const char *text, size_t line, pawl__limits *limits, pawl_error *error);
/* Sets those of the command line. PAWL_EINVAL also when the unhealthy limit of a check is below the
 * degraded one. */
pawl_code pawl__limits_read(const pawl__texts *texts, pawl__limits *limits, pawl_error *error);
/* The limits in effect as CHECK=DEGRADED/UNHEALTHY; false: there is no check of that number. */
bool pawl__limit_text(const pawl__limits *limits, size_t check, char *text, size_t size);

/* ---- Settings (settings.c) ------------------------------------------------------ *
 *
 * Options, routes and rows of recovery that `pawl run` gives its endpoints: from the command line, from a file, from
 * the endpoint's own table, or built in; the first that has one counts.
 *
 *     pawl__settings_create -> pawl__settings_read -> { pawl__settings_check | pawl__settings_fill | pawl__settings_list }*
 *
 * The file has a line KEY = VALUE for each option, without "--", `route` as often as there are
 * routes, and `recovery` as often as there are rows of it; `health` as often as there are limits,
 * above the first heading. Lines before the first [ENDPOINT] are for all endpoints, lines below it for that
 * endpoint. Empty lines, and lines that begin with "#", are ignored. */

/* Options that are one word, in the file as on the command line. */
enum { PAWL__WORD_AUDIT, PAWL__WORD_ORDERED, PAWL__WORD_TRANSPORT, PAWL__WORDS_COUNT };

/* The options of the command line, as their fields. */
typedef struct pawl__settings_words {
    int64_t     numbers[pawl__number_count]; /* -1: not given */
    pawl__texts routes, recovery;
    pawl__texts health;                   /* limits */
    const char *file;                     /* --config; NULL: none */
    const char *words[PAWL__WORDS_COUNT]; /* NULL: not given */
} pawl__settings_words;

/* Rows of a verb's options, for fields with a member `words`. */
#define PAWL__SETTINGS_OPTION(field, kind, value_default, low, high, name, help)                   \
    PAWL__SETTINGS_OPTION_##kind(                                                                  \
        name, help, offsetof(verb_fields, words.numbers) + sizeof(int64_t) * pawl__number_##field, \
        value_default, low, high),
#define PAWL__SETTINGS_OPTION_COUNT(name_, help_, offset_, default_, low_, high_)                  \
    {                                                                                              \
        .name = name_, .kind = PAWL__OPTION_COUNT, .offset = offset_, .value = "N", .help = help_, \
        .min = (low_) < 0 ? 0 : (low_), .max = high_, .has_default = true, .is_layered = true,     \
        .value_default = (default_) < 0 ? 0 : (default_), .has_none = (low_) < 0                   \
    }
#define PAWL__SETTINGS_OPTION_LIMIT(name_, help_, offset_, default_, low_, high_)                  \
    {                                                                                              \
        .name = name_, .kind = PAWL__OPTION_COUNT, .offset = offset_, .value = "N", .help = help_, \
        .min = 1, .max = high_, .has_default = true, .is_layered = true,                           \
        .value_default = (default_) < 0 ? 0 : (default_), .has_none = true                         \
    }
/* Durations are "none", or at least 1 ms, the smallest unit of the command line. */
#define PAWL__SETTINGS_OPTION_DURATION(name_, help_, offset_, default_, low_, high_)               \
    {                                                                                              \
        .name = name_, .kind = PAWL__OPTION_DURATION, .offset = offset_, .value = "TIME",          \
        .help = help_, .min = (low_) < 0 ? 0 : PAWL_MILLISECONDS(1), .max = high_,                 \
        .has_default = true, .is_layered = true, .value_default = default_, .has_none = (low_) < 0 \
    }
#define PAWL__SETTINGS_OPTION_MILLISECONDS(name_, help_, offset_, default_, low_, high_)     \
    PAWL__SETTINGS_OPTION_DURATION(name_, help_, offset_, PAWL_MILLISECONDS(default_), low_, \
                                   PAWL_MILLISECONDS(high_))

typedef struct pawl__settings pawl__settings;

/* Reads the routes and the rows of recovery of the command line; everything lives in the arena. `options` is the
 * verb's list, for the limits. PAWL_EINVAL. */
pawl_code pawl__settings_create(const pawl__settings_words *words, const pawl__option *options,
                                pawl_arena *arena, pawl__settings **settings, pawl_error *error);
/* Reads the file. PAWL_EINVAL names it, the line, the key and the value. */
pawl_code pawl__settings_read(pawl__settings *settings, const pawl_application *application,
                              pawl_error *error);
/* Sets the numbers, the routes, the words and the rows of recovery of the options; a number that neither command line nor file has
 * is left to the endpoint's own table. */
pawl_code pawl__settings_fill(const pawl__settings *settings, const char *endpoint,
                              pawl_endpoint_options *options, pawl_error *error);
/* Checks the endpoint's options with what pawl__settings_fill sets, without a store. The error names the file and the line
 * that it comes from. */
pawl_code pawl__settings_check(const pawl__settings *settings, const char *endpoint,
                               const pawl_endpoint_options *options, pawl_error *error);
/* Sets the limits of health, which all endpoints of the process share, that command line or file
 * have. PAWL_EINVAL. */
pawl_code pawl__settings_health(const pawl__settings *settings, pawl__limits *limits,
                                pawl_error *error);
/* An option, a route or a row of recovery of an endpoint, as `pawl run --show-options` shows it. */
typedef struct pawl__setting {
    pawl_text endpoint, option;
    pawl_text value;        /* as it would be given; a route without its password */
    pawl_text count;        /* of an option with a number, as JSON; else empty */
    pawl_text microseconds; /* of an option with a duration, as JSON; else empty */
    pawl_text from;         /* "command line", "FILE:LINE", "application" or "built in" */
    pawl_text file;         /* empty: not from the file */
    int64_t   line;
} pawl__setting;

typedef struct pawl__setting_list {
    pawl__setting *items;
    size_t         count, capacity;
    pawl_arena    *arena; /* of the settings */
    const char    *file;
} pawl__setting_list;

/* Adds each option, route and row of recovery of the endpoint to the list. */
pawl_code pawl__settings_list(const pawl__settings *settings, const pawl_endpoint_spec *endpoint,
                              pawl__setting_list *list, pawl_error *error);
/* Adds the limits of health, which belong to no endpoint. PAWL_EINVAL as pawl__settings_health. */
pawl_code pawl__settings_list_health(const pawl__settings *settings, pawl__setting_list *list,
                                     pawl_error *error);

#endif
