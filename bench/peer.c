/* peer.c - a workload done by another program. saga-step: on the same server and the
 * same messages, after pawl's rounds: so many times as pawl had rounds.
 *
 * The program of a peer NAME is peers/NAME/saga_step.mjs (no_op.mjs: peers.c), run
 * with node. It gets the store's URL in its environment, where nobody else can read it,
 * and prints one line of JSON with the member per_second, or error. Its folder is
 * looked for under PAWL_BENCH_PEERS, else bench/peers; packages that its
 * package.json asks for and that are not there are installed by npm. One of these
 * packages may be a newer node. A peer that cannot be run is refused before anything
 * is measured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yyjson.h>

#define MESSAGES_MAX 20000 /* of a round; a peer is slower */
#define SAGA_STEP_FILE "saga_step.mjs"
#define OWN_NODE "node_modules/.bin/node"

extern char **environ;

/* ---- Finding ---------------------------------------------------------------- */

static const char *path_of(const pawl__bench_peer *p, const char *name,
                           char path[2 * PAWL__BENCH_PEER_PATH_SIZE])
{
    (void)snprintf(path, 2 * PAWL__BENCH_PEER_PATH_SIZE, "%s/%s", p->folder, name);
    return path;
}

static bool has_file(const pawl__bench_peer *p, const char *name)
{
    char path[2 * PAWL__BENCH_PEER_PATH_SIZE];
    return access(path_of(p, name, path), R_OK) == 0;
}

const char *pawl__bench_peers_folder(void)
{
    const char *given = getenv("PAWL_BENCH_PEERS");
    return given != NULL ? given : "bench/peers";
}

pawl_code pawl__bench_peer_locate(pawl__bench_peer *p, pawl_error *error)
{
    const char *folder = pawl__bench_peers_folder();
    (void)snprintf(p->folder, sizeof p->folder, "%s/%s", folder, p->name);
    int size = snprintf(p->program, sizeof p->program, "%s/%s", p->folder, p->file);
    if (size >= 0 && size < PAWL__BENCH_PEER_PATH_SIZE && has_file(p, p->file))
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL,
                          "peer %s: there is no %s/%s/%s; run the command in the folder "
                          "of pawl's sources, or name its bench/peers in PAWL_BENCH_PEERS",
                          p->name, folder, p->name, p->file);
}

/* Starts the program; 0, or the errno of a failure. Its output goes to the end `output`. */
static int spawn(char *const *arguments, int output, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int                        failed = posix_spawn_file_actions_init(&actions);
    if (failed != 0)
        return failed;
    failed = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (failed == 0)
        failed = posix_spawnp(pid, arguments[0], &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* The exit code of a program that has ended, from the status of a wait. */
static int exit_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* npm writes the list of what it installed when it is done, so one that was stopped half
 * way begins again. */
pawl_code pawl__bench_peer_install(const pawl__bench_peer *p, pawl_error *error)
{
    char *arguments[] = {"npm",
                         "ci",
                         "--no-audit",
                         "--no-fund",
                         "--ignore-scripts",
                         "--fetch-retries=1",
                         "--fetch-retry-mintimeout=1000",
                         "--loglevel=error",
                         "--prefix",
                         (char *)p->folder,
                         NULL};
    pid_t pid;
    int   status = 0;
    if (!has_file(p, "package.json") || has_file(p, "node_modules/.package-lock.json"))
        return PAWL_OK;
    fprintf(stderr, "pawl: peer %s: installing its packages by npm into %s/node_modules\n", p->name,
            p->folder);
    int failed = spawn(arguments, STDERR_FILENO, &pid);
    if (failed != 0)
        return pawl_error_set(error, PAWL_EINVAL, "peer %s: npm cannot be run: %s", p->name,
                              strerror(failed));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status == 0 ? PAWL_OK
                       : pawl_error_set(error, PAWL_EINVAL,
                                        "peer %s: 'npm ci' in %s ended with exit code %d", p->name,
                                        p->folder, exit_of(status));
}

pawl_code pawl__bench_peer_find(const pawl__bench_options *options, pawl_error *error)
{
    pawl__bench_peer p     = {.name = options->peer, .file = SAGA_STEP_FILE};
    bool             no_op = strcmp(options->workload, pawl__bench_no_op.name) == 0;
    if (options->has_peers && !no_op)
        return pawl_error_set(error, PAWL_EINVAL, "--peers is for no-op, not for %s",
                              options->workload);
    if (p.name == NULL || no_op)
        return PAWL_OK;
    if (strcmp(options->workload, pawl__bench_saga_step.name) != 0)
        return pawl_error_set(error, PAWL_EINVAL, "peer %s: it does saga-step, no %s", p.name,
                              options->workload);
    if (strncmp(options->store, "postgres", strlen("postgres")) != 0)
        return pawl_error_set(error, PAWL_EINVAL, "peer %s: it runs on PostgreSQL only", p.name);
    pawl_code code = pawl__bench_peer_locate(&p, error);
    return code == PAWL_OK ? pawl__bench_peer_install(&p, error) : code;
}

/* ---- Running ---------------------------------------------------------------- */

static pawl_code start(const pawl__bench_peer *p, const char *url, const int64_t *numbers,
                       size_t count, int output, pid_t *pid, pawl_error *error)
{
    char  texts[PAWL__BENCH_PEER_NUMBERS_MAX][32], path[2 * PAWL__BENCH_PEER_PATH_SIZE];
    char *arguments[PAWL__BENCH_PEER_NUMBERS_MAX + 3] = {"node", (char *)p->program};
    if (has_file(p, OWN_NODE))
        arguments[0] = (char *)path_of(p, OWN_NODE, path);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "%lld", (long long)numbers[i]);
        arguments[2 + i] = texts[i];
    }
    if (url != NULL && setenv("PAWL_BENCH_URL", url, 1) != 0)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the environment of a peer");
    int failed = spawn(arguments, output, pid);
    (void)unsetenv("PAWL_BENCH_URL");
    return failed == 0 ? PAWL_OK
                       : pawl_error_set(error, PAWL_REJECT, "peer %s: node cannot be run: %s",
                                        p->name, strerror(failed));
}

/* Reads to the end; on an interrupt the program is told to drop its tables and
 * to end. */
static pawl_code read_output(pawl__bench_peer *p, int from, pid_t pid, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    size_t    used = 0;
    for (;;) {
        ssize_t got = read(from, p->output + used, sizeof p->output - 1 - used);
        if (got > 0)
            used += (size_t)got;
        if (got == 0 || (got < 0 && errno != EINTR))
            break;
        if (got < 0 && code == PAWL_OK) {
            code = pawl__bench_go_on(error);
            if (code != PAWL_OK)
                (void)kill(pid, SIGTERM);
        }
    }
    p->output[used] = '\0';
    return code;
}

pawl_code pawl__bench_peer_run(pawl__bench_peer *p, const char *url, const int64_t *numbers,
                               size_t count, int *exit_code, pawl_error *error)
{
    int   ends[2];
    pid_t pid;
    int   status = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return pawl_error_set(error, PAWL_EPERSIST, "a pipe: %s", strerror(errno));
    pawl_code code       = start(p, url, numbers, count, ends[1], &pid, error);
    bool      is_started = code == PAWL_OK;
    (void)close(ends[1]);
    if (is_started)
        code = read_output(p, ends[0], pid, error);
    (void)close(ends[0]);
    while (is_started && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    *exit_code = exit_of(status);
    return code;
}

/* ---- saga-step -------------------------------------------------------------- */

/* The rate that it printed, or the error. */
static pawl_code take_result(const pawl__bench_peer *p, int exit_code, double *per_second,
                             pawl_error *error)
{
    yyjson_doc *doc  = yyjson_read(p->output, strlen(p->output), 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *said = yyjson_get_str(yyjson_obj_get(root, "error"));
    pawl_code   code = PAWL_OK;
    *per_second      = yyjson_get_num(yyjson_obj_get(root, "per_second"));
    if (said != NULL)
        code = pawl_error_set(error, PAWL_REJECT, "peer %s failed: %s", p->name, said);
    else if (exit_code != 0 || !(*per_second > 0))
        code = pawl_error_set(error, PAWL_REJECT,
                              "peer %s failed: %s printed no result and ended with exit code %d",
                              p->name, p->program, exit_code);
    yyjson_doc_free(doc);
    return code;
}

pawl_code pawl__bench_peer_saga_step(const pawl__bench_job *job, double messages_per_s,
                                     pawl_error *error)
{
    pawl__bench_peer p        = {.name = job->options->peer, .file = SAGA_STEP_FILE};
    int64_t          messages = job->messages < MESSAGES_MAX ? job->messages : MESSAGES_MAX;
    if (p.name == NULL)
        return PAWL_OK;
    pawl_code code = pawl__bench_peer_locate(&p, error);
    for (int64_t i = 0; code == PAWL_OK && i < job->options->rounds; i++) {
        double per_second = 0;
        int    exit_code  = 0;
        pawl__bench_progress("measuring the peer, round", i + 1, job->options->rounds);
        code = pawl__bench_peer_run(&p, job->url, &messages, 1, &exit_code, error);
        if (code == PAWL_OK)
            code = take_result(&p, exit_code, &per_second, error);
        if (code != PAWL_OK)
            break;
        pawl__bench_note(job->figures, pawl__bench_peer_per_second, per_second);
        pawl__bench_note(job->figures, pawl__bench_peer_ratio, messages_per_s / per_second);
    }
    return code;
}
