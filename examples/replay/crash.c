/* crash.c - parent and child of --crash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "crash.h"

#include "progress.h"
#include "support/interrupt.h"
#include "support/process.h"
#include "support/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DELAY_MAX PAWL_MILLISECONDS(20)
#define EVENT_TIME 500 /* limit of a child's time for each event, in microseconds, with a broker */
#define LOOK_MS 200    /* between two checks for an interrupt */
#define CHILD_WORDS 9  /* before the user's words */

/* A report of a child, one packet each. */
typedef struct notice {
    bool    is_finished;
    int64_t position; /* events of the log that are sent */
    int64_t commits;  /* of this child */
    int64_t messages;
} notice;

/* ---- The child ------------------------------------------------------------- */

pawl_code replay_child_parse(const char *text, replay_child *child, pawl_error *error)
{
    if (sscanf(text, "%d:%" SCNd64 ":%" SCNd64, &child->socket, &child->kills, &child->started) !=
        3)
        return pawl_error_set(error, PAWL_EINVAL, "--child: '%s' is not what a parent says", text);
    /* Processes started by the child must not keep the parent waiting. */
    fcntl(child->socket, F_SETFD, FD_CLOEXEC);
    return PAWL_OK;
}

static pawl_code say(const replay_run *run, const replay_child *child, bool is_finished,
                     pawl_error *error)
{
    notice said = {is_finished, (int64_t)run->job.position, run->commits, run->messages};
    if (send(child->socket, &said, sizeof said, MSG_NOSIGNAL) == (ssize_t)sizeof said)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINTERRUPTED, "the process that started this one is gone");
}

pawl_code replay_child_committed(const replay_run *run, void *context, pawl_error *error)
{
    return say(run, context, false, error);
}

pawl_code replay_child_finished(const replay_run *run, replay_child *child, pawl_error *error)
{
    char      go;
    pawl_code code = say(run, child, true, error);
    if (code != PAWL_OK)
        return code;
    ssize_t size;
    do
        size = recv(child->socket, &go, sizeof go, 0);
    while (size < 0 && errno == EINTR && !example_interrupted());
    if (size == 1)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINTERRUPTED, "the process that started this one is gone");
}

/* ---- The parent: one child --------------------------------------------------- */

typedef struct crash_parent {
    const replay_options   *options;
    const replay_workspace *workspace;
    const replay_log       *log;
    char                  **words;
    pawl_random             random;
    int64_t                 kills;
    int64_t                 started;
    pid_t                   child;
    int                     socket;
    notice                  last; /* the child's last report */
} crash_parent;

/* Uses only functions that are safe between fork and exec. */
static void become_child(int socket, char **words)
{
    fcntl(socket, F_SETFD, 0);
    example_run_self(words);
}

static pawl_code spawn(crash_parent *parent, char **words, int sockets[2], pawl_error *error)
{
    parent->last  = (notice){.is_finished = false};
    parent->child = fork();
    if (parent->child == 0)
        become_child(sockets[1], words);
    close(sockets[1]);
    if (parent->child < 0) {
        close(sockets[0]);
        return pawl_error_set(error, PAWL_EPERSIST, "no process for child %" PRId64 ": %s",
                              parent->kills + 1, strerror(errno));
    }
    parent->socket = sockets[0];
    return PAWL_OK;
}

/* Puts the words for the child before the user's, so that a "--" of the user does not hide them. */
static pawl_code start_child(crash_parent *parent, pawl_error *error)
{
    size_t count = 0;
    while (parent->words[count] != NULL)
        count++;
    char   told[80];
    int    sockets[2];
    char **words = pawl_allocate((count + CHILD_WORDS + 1) * sizeof *words);
    if (words == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
        pawl_free(words);
        return pawl_error_set(error, PAWL_EPERSIST, "no socket for a child: %s", strerror(errno));
    }
    snprintf(told, sizeof told, "%d:%" PRId64 ":%" PRId64, sockets[1], parent->kills,
             parent->started);
    char *const own[CHILD_WORDS] = {parent->words[0],
                                    "--child",
                                    told,
                                    "--run",
                                    (char *)parent->workspace->run,
                                    "--store",
                                    parent->workspace->store,
                                    "--archive",
                                    parent->workspace->archive};
    memcpy(words, own, sizeof own);
    memcpy(words + CHILD_WORDS, parent->words + 1, count * sizeof *words);
    pawl_code code = spawn(parent, words, sockets, error);
    pawl_free(words);
    return code;
}

static void report_child(const crash_parent *parent, const char *what)
{
    fprintf(stderr,
            "pawl-replay: %s: child %" PRId64 " came to event %" PRId64 " of %zu, %" PRId64
            " commits, %" PRId64 " messages\n",
            what, parent->kills + 1, parent->last.position, parent->log->event_count,
            parent->last.commits, parent->last.messages);
}

/* Reads the child's reports. False: it has ended, or sends no more. */
static bool listen_to(crash_parent *parent, int flags)
{
    notice  said;
    ssize_t size = recv(parent->socket, &said, sizeof said, flags);
    if (size < 0 && errno == EINTR)
        return true;
    if (size != (ssize_t)sizeof said)
        return false;
    parent->last = said;
    return true;
}

/* Waits for a report, at most until the moment (-1: no limit). */
static bool hears_child(const crash_parent *parent, int64_t moment)
{
    int64_t         rest    = moment - example_monotonic();
    int64_t         longest = PAWL_MILLISECONDS(LOOK_MS);
    int64_t         wait    = moment < 0 || rest > longest ? longest : rest > 0 ? rest : 0;
    struct timespec timeout = {wait / 1000000, (wait % 1000000) * 1000};
    struct pollfd   child   = {.fd = parent->socket, .events = POLLIN};
    return ppoll(&child, 1, &timeout, NULL) == 1;
}

/* The longest delay between a target and its kill. With a broker an event is sent long before it is handled. */
static int64_t delay_max(const crash_parent *parent)
{
    int64_t share = (int64_t)parent->log->event_count * EVENT_TIME / parent->options->kills;
    return parent->options->transport != NULL && share > DELAY_MAX ? share : DELAY_MAX;
}

/* Draws the event after which the next kill is due: each kill has an equal part of the log. */
static int64_t draw_target(crash_parent *parent)
{
    double part = (double)parent->log->event_count / (double)parent->options->kills;
    double at =
        (double)pawl_random_below(&parent->random, 900) / 1000; /* the rest is time to die */
    return (int64_t)(part * ((double)parent->kills + at));
}

/* Watches a child until it is time to kill it (true) or it has ended (false). A child without commits is not killed, as
 * such a kill would prove nothing. */
static bool watch_child(crash_parent *parent, bool is_to_die)
{
    int64_t moment = -1, target = is_to_die ? draw_target(parent) : 0;
    bool    told = false;
    for (;;) {
        bool has_news = hears_child(parent, moment);
        if (example_interrupted() || (moment >= 0 && example_monotonic() >= moment))
            return true;
        if (!has_news)
            continue;
        if (!listen_to(parent, 0))
            return false;
        bool is_there = parent->last.position >= target || parent->last.is_finished;
        if (is_to_die && moment < 0 && parent->last.commits > 0 && is_there)
            moment = example_monotonic() +
                     (int64_t)pawl_random_below(&parent->random, (uint64_t)delay_max(parent) + 1);
        if (parent->last.is_finished && moment < 0 && !told)
            told = send(parent->socket, "g", 1, MSG_NOSIGNAL) == 1;
    }
}

/* ---- The parent: all of them --------------------------------------------------- */

static int end_child(crash_parent *parent)
{
    int status = 0;
    while (waitpid(parent->child, &status, 0) < 0 && errno == EINTR)
        continue;
    while (listen_to(parent, MSG_DONTWAIT))
        continue; /* reports from before its end */
    close(parent->socket);
    return status;
}

/* Kills children until the number is reached; the next child ends by itself. */
static pawl_code run_children(crash_parent *parent, int *status, pawl_error *error)
{
    for (;;) {
        bool      is_to_die = parent->kills < parent->options->kills;
        char      what[60];
        pawl_code code = start_child(parent, error);
        if (code != PAWL_OK)
            return code;
        bool is_alive = watch_child(parent, is_to_die);
        if (is_alive)
            kill(parent->child, SIGKILL);
        *status = end_child(parent);
        if (example_interrupted())
            return example_interrupt_check(error);
        if (!is_alive || !WIFSIGNALED(*status) || WTERMSIG(*status) != SIGKILL) {
            /* a failed child has printed the reason, which must stay the last line */
            if (!WIFEXITED(*status) || WEXITSTATUS(*status) <= REPLAY_NOT_VERIFIED)
                report_child(parent, "the end");
            return PAWL_OK;
        }
        snprintf(what, sizeof what, "kill %" PRId64 " of %" PRId64, parent->kills + 1,
                 parent->options->kills);
        report_child(parent, what);
        parent->kills++;
    }
}

static pawl_code seed_random(crash_parent *parent, pawl_error *error)
{
    uint64_t  seed;
    pawl_code code = example_seed(parent->options->seed, &seed, error);
    if (code != PAWL_OK)
        return code;
    pawl_random_seed(&parent->random, seed);
    fprintf(stderr,
            "pawl-replay: run %s, %" PRId64 " kills, --seed %" PRIu64 ", --batch-messages %" PRId64
            "\n",
            parent->workspace->run, parent->options->kills, seed,
            replay_run_batch(parent->options, parent->log));
    return PAWL_OK;
}

pawl_code replay_crash_check(const replay_workspace *workspace, pawl_error *error)
{
    pawl_code code = example_store_stays(workspace->store, error);
    if (code == PAWL_OK)
        code = example_store_stays(workspace->archive, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "--crash");
}

pawl_code replay_crash(const replay_options *options, const replay_workspace *workspace,
                       const replay_log *log, char **words, int *exit_code, pawl_error *error)
{
    crash_parent parent = {.options = options, .workspace = workspace, .log = log, .words = words};
    int          status = 0;
    pawl_code    code   = seed_random(&parent, error);
    parent.started      = example_monotonic();
    if (code == PAWL_OK)
        code = run_children(&parent, &status, error);
    if (code != PAWL_OK)
        return code;
    if (!WIFEXITED(status))
        return pawl_error_set(error, PAWL_EBUG, "child %" PRId64 " was ended by signal %d",
                              parent.kills + 1, WTERMSIG(status));
    *exit_code = WEXITSTATUS(status);
    return PAWL_OK;
}
