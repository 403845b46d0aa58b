/* peers.c - no-op done by other programs, beside pawl.
 *
 * The program of a peer is peers/NAME/no_op.mjs; peers/shared.mjs has what they share. It is run once, with
 * the number of messages of a round at the most, rounds, rate and seconds of the latency, and prints a line
 * for each of its configurations:
 *
 *     {"peer", "configuration", "promises", "messages", "per_second", "p50_ms", "p99_ms"}
 *     {"peer", "left_out"}     what it needs is not on this machine
 *     {"peer", "error"}
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "latency.h"
#include "peer.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#define FILE_NAME "no_op.mjs"
#define NAME_SIZE 64

/* The peers of a run. */
typedef struct list {
    size_t count;
    char   names[PAWL__BENCH_PEERS_MAX][NAME_SIZE];
} list;

static int compare_names(const void *left, const void *right)
{
    return strcmp(left, right);
}

static void list_all(list *l)
{
    DIR *folder = opendir(pawl__bench_peers_folder());
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        pawl__bench_peer peer = {.name = entry->d_name, .file = FILE_NAME};
        if (l->count < PAWL__BENCH_PEERS_MAX && strlen(entry->d_name) < NAME_SIZE &&
            pawl__bench_peer_locate(&peer, NULL) == PAWL_OK)
            memcpy(l->names[l->count++], entry->d_name, strlen(entry->d_name) + 1);
    }
    (void)closedir(folder);
    qsort(l->names, l->count, NAME_SIZE, compare_names);
}

static pawl_code list_peers(const pawl__bench_options *options, list *l, pawl_error *error)
{
    *l = (list){.count = 0};
    if (options->has_peers)
        list_all(l);
    if (options->has_peers && l->count == 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "there are no peers in %s; run the command in the folder of pawl's "
                              "sources, or name its bench/peers in PAWL_BENCH_PEERS",
                              pawl__bench_peers_folder());
    if (!options->has_peers && options->peer != NULL)
        (void)snprintf(l->names[l->count++], NAME_SIZE, "%s", options->peer);
    return PAWL_OK;
}

/* ---- Results ---------------------------------------------------------------- */

static pawl__bench_peer_result *add_result(const pawl__bench_job *job, const char *name)
{
    pawl__bench_peers *peers = job->peers;
    if (peers->count == PAWL__BENCH_PEERS_MAX)
        return NULL;
    pawl__bench_peer_result *added = &peers->results[peers->count++];
    *added                         = (pawl__bench_peer_result){.per_second = 0};
    (void)snprintf(added->name, sizeof added->name, "%s", name);
    return added;
}

static void add_why(const pawl__bench_job *job, const char *name, bool has_failed, const char *why)
{
    pawl__bench_peer_result *added = add_result(job, name);
    if (added == NULL)
        return;
    added->has_failed = has_failed;
    (void)snprintf(added->why, sizeof added->why, "%s", why);
}

/* Not installed, or without node: its name stands before the error of peer.c already. */
static void leave_out(const pawl__bench_job *job, const char *name, const pawl_error *why)
{
    size_t before = strlen("peer ") + strlen(name) + strlen(": ");
    add_why(job, name, false, why->text + (before < strlen(why->text) ? before : 0));
}

static void copy_member(yyjson_val *object, const char *member, char *to, size_t size)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, member));
    (void)snprintf(to, size, "%s", text != NULL ? text : "");
}

/* A line that it printed; false if it is none of those above. */
static bool take_line(const pawl__bench_job *job, const char *line, size_t size,
                      double messages_per_s)
{
    yyjson_doc *doc      = yyjson_read(line, size, 0);
    yyjson_val *root     = yyjson_doc_get_root(doc);
    const char *name     = yyjson_get_str(yyjson_obj_get(root, "peer"));
    const char *left_out = yyjson_get_str(yyjson_obj_get(root, "left_out"));
    const char *failed   = yyjson_get_str(yyjson_obj_get(root, "error"));
    double      rate     = yyjson_get_num(yyjson_obj_get(root, "per_second"));
    bool        is_line  = name != NULL && (left_out != NULL || failed != NULL || rate > 0);
    pawl__bench_peer_result *added = NULL;
    if (is_line && (left_out != NULL || failed != NULL))
        add_why(job, name, failed != NULL, failed != NULL ? failed : left_out);
    else if (is_line)
        added = add_result(job, name);
    if (added != NULL) {
        copy_member(root, "configuration", added->configuration, sizeof added->configuration);
        copy_member(root, "promises", added->promises, sizeof added->promises);
        added->per_second = rate;
        added->ratio      = messages_per_s / rate;
        added->p50_ms     = yyjson_get_num(yyjson_obj_get(root, "p50_ms"));
        added->p99_ms     = yyjson_get_num(yyjson_obj_get(root, "p99_ms"));
    }
    yyjson_doc_free(doc);
    return is_line;
}

/* ---- Running ---------------------------------------------------------------- */

static pawl_code run_peer(const pawl__bench_job *job, const char *name, double messages_per_s,
                          pawl_error *error)
{
    const pawl__bench_options *o           = job->options;
    pawl__bench_peer           peer        = {.name = name, .file = FILE_NAME};
    pawl_error                 failed      = PAWL_ERROR_INIT;
    int                        exit_code   = 0;
    bool                       has_line    = false;
    const bool                 is_postgres = strncmp(o->store, "postgres", strlen("postgres")) == 0;
    const int64_t              numbers[]   = {job->messages, o->rounds, o->rate,
                               o->seconds != 0 ? o->seconds : PAWL__BENCH_SECONDS_PEERS};
    pawl_code                  code        = pawl__bench_peer_locate(&peer, error);
    if (code == PAWL_OK)
        code = pawl__bench_peer_run(&peer, is_postgres ? job->url : NULL, numbers,
                                    sizeof numbers / sizeof numbers[0], &exit_code, &failed);
    if (code == PAWL_REJECT) {
        leave_out(job, name, &failed);
        return PAWL_OK;
    }
    for (const char *line = peer.output; code == PAWL_OK && *line != '\0';) {
        size_t size = strcspn(line, "\n");
        has_line    = take_line(job, line, size, messages_per_s) || has_line;
        line += size + (line[size] == '\n');
    }
    if (code == PAWL_OK && !has_line) {
        char why[100];
        (void)snprintf(why, sizeof why, "it printed no result and ended with exit code %d",
                       exit_code);
        add_why(job, name, true, why);
    }
    return code == PAWL_OK ? PAWL_OK : pawl_error_set(error, code, "%s", failed.text);
}

pawl_code pawl__bench_peers_begin(const pawl__bench_job *job, pawl_error *error)
{
    list      l;
    pawl_code code = list_peers(job->options, &l, error);
    for (size_t i = 0; code == PAWL_OK && i < l.count; i++) {
        pawl__bench_peer peer    = {.name = l.names[i], .file = FILE_NAME};
        pawl_error       refused = PAWL_ERROR_INIT;
        code                     = pawl__bench_peer_locate(&peer, error);
        if (code == PAWL_OK && pawl__bench_peer_install(&peer, &refused) != PAWL_OK)
            leave_out(job, peer.name, &refused);
        if (code == PAWL_OK)
            code = pawl__bench_go_on(error);
    }
    return code;
}

static bool is_left_out(const pawl__bench_job *job, const char *name)
{
    for (size_t i = 0; i < job->peers->count; i++)
        if (strcmp(job->peers->results[i].name, name) == 0)
            return true;
    return false;
}

pawl_code pawl__bench_peers_measure(const pawl__bench_job *job, double messages_per_s,
                                    pawl_error *error)
{
    list      l;
    pawl_code code = list_peers(job->options, &l, error);
    if (code == PAWL_OK && l.count > 0)
        code = pawl__bench_latency_after(&pawl__bench_store_way, job, PAWL__BENCH_SECONDS_PEERS,
                                         error);
    for (size_t i = 0; code == PAWL_OK && i < l.count; i++) {
        pawl__bench_progress("measuring peers", (int64_t)i + 1, (int64_t)l.count);
        if (!is_left_out(job, l.names[i]))
            code = run_peer(job, l.names[i], messages_per_s, error);
    }
    for (size_t i = 0; code == PAWL_OK && i < job->peers->count; i++)
        if (job->peers->results[i].has_failed)
            code = pawl_error_set(error, PAWL_REJECT, "peer %s failed: %s",
                                  job->peers->results[i].name, job->peers->results[i].why);
    return code;
}
