/* peer.c - the saga step done by another program, on the same server and the
 * same messages, after pawl's rounds: so many times as pawl had rounds.
 *
 * The program of a peer NAME is peers/NAME/saga_step.mjs, run with node. It
 * gets the store's URL in its environment, where nobody else can read it, and
 * prints one line of JSON with the member per_second. Its folder is looked for
 * under PAWL_BENCH_PEERS, else bench/peers. What cannot be run is not measured:
 * the benchmark says so and goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job.h"

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
#define PATH_SIZE 1000
#define OUTPUT_SIZE 1000

extern char **environ;

typedef struct peer {
    const char            *name;
    const pawl__bench_job *job;
    int64_t                messages;
    char                   program[PATH_SIZE];
    char                   output[OUTPUT_SIZE];
} peer;

/* False when its program or the package that it uses is missing. */
static bool find_program(peer *p)
{
    char        package[PATH_SIZE];
    const char *given  = getenv("PAWL_BENCH_PEERS");
    const char *folder = given != NULL ? given : "bench/peers";
    int size = snprintf(p->program, sizeof p->program, "%s/%s/saga_step.mjs", folder, p->name);
    (void)snprintf(package, sizeof package, "%s/%s/node_modules", folder, p->name);
    if (size < 0 || size >= PATH_SIZE || access(p->program, R_OK) != 0) {
        fprintf(stderr,
                "pawl: peer %s is not measured: there is no %s/%s/saga_step.mjs; run the command "
                "in the folder of pawl's sources, or name its bench/peers in PAWL_BENCH_PEERS\n",
                p->name, folder, p->name);
        return false;
    }
    if (access(package, X_OK) != 0) {
        fprintf(stderr, "pawl: peer %s is not measured: run 'npm install' in %s/%s first\n",
                p->name, folder, p->name);
        return false;
    }
    return true;
}

static bool start(const peer *p, int output, pid_t *pid)
{
    char                       messages[32];
    char                      *arguments[] = {"node", (char *)p->program, messages, NULL};
    posix_spawn_file_actions_t actions;
    (void)snprintf(messages, sizeof messages, "%lld", (long long)p->messages);
    if (setenv("PAWL_BENCH_URL", p->job->url, 1) != 0 ||
        posix_spawn_file_actions_init(&actions) != 0)
        return false;
    int failed = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (failed == 0)
        failed = posix_spawnp(pid, "node", &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)unsetenv("PAWL_BENCH_URL");
    if (failed != 0)
        fprintf(stderr, "pawl: peer %s is not measured: node: %s\n", p->name, strerror(failed));
    return failed == 0;
}

/* Reads to the end; on an interrupt the program is told to drop its tables and
 * to end. */
static pawl_code read_output(peer *p, int from, pid_t pid, pawl_error *error)
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

/* 0 when it failed; it has said why. */
static pawl_code run_once(peer *p, double *per_second, pawl_error *error)
{
    int   ends[2];
    pid_t pid;
    int   status = 0;
    *per_second  = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return pawl_error_set(error, PAWL_EPERSIST, "a pipe: %s", strerror(errno));
    bool is_started = start(p, ends[1], &pid);
    (void)close(ends[1]);
    pawl_code code = is_started ? read_output(p, ends[0], pid, error) : PAWL_OK;
    (void)close(ends[0]);
    while (is_started && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (code != PAWL_OK || !is_started)
        return code;
    yyjson_doc *doc = yyjson_read(p->output, strlen(p->output), 0);
    *per_second     = yyjson_get_num(yyjson_obj_get(yyjson_doc_get_root(doc), "per_second"));
    yyjson_doc_free(doc);
    if (status != 0 || !(*per_second > 0)) {
        fprintf(stderr, "pawl: peer %s is not measured: %s failed\n", p->name, p->program);
        *per_second = 0;
    }
    return PAWL_OK;
}

pawl_code pawl__bench_peer(const pawl__bench_job *job, double messages_per_s, pawl_error *error)
{
    peer p = {.name     = job->options->peer,
              .job      = job,
              .messages = job->messages < MESSAGES_MAX ? job->messages : MESSAGES_MAX};
    if (p.name == NULL)
        return PAWL_OK;
    if (strncmp(job->url, "postgres", strlen("postgres")) != 0) {
        fprintf(stderr, "pawl: peer %s is not measured: it runs on PostgreSQL only\n", p.name);
        return PAWL_OK;
    }
    if (!find_program(&p))
        return PAWL_OK;
    for (int64_t i = 0; i < job->options->rounds; i++) {
        double per_second;
        pawl__bench_progress("measuring the peer, round", i + 1, job->options->rounds);
        pawl_code code = run_once(&p, &per_second, error);
        if (code != PAWL_OK || per_second == 0)
            return code;
        pawl__bench_note(job->figures, pawl__bench_peer_per_second, per_second);
        pawl__bench_note(job->figures, pawl__bench_peer_ratio, messages_per_s / per_second);
    }
    return PAWL_OK;
}
