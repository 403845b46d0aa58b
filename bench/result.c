/* result.c - the output of a benchmark, for people and for programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "result.h"

#include <stdlib.h>
#include <yyjson.h>

static void print_peers(const pawl__bench_peers *peers, FILE *out)
{
    for (size_t i = 0; i < peers->count; i++) {
        const pawl__bench_peer_result *r = &peers->results[i];
        if (r->why[0] != '\0')
            fprintf(out, "  peer %s: %s: %s\n", r->name, r->has_failed ? "failed" : "left out",
                    r->why);
        else
            fprintf(out,
                    "  peer %-34s %8.0f /s, pawl / peer %7.2f, p50 %8.3f ms, p99 %8.3f ms\n"
                    "       %s\n       %s\n",
                    r->name, r->per_second, r->ratio, r->p50_ms, r->p99_ms, r->configuration,
                    r->promises);
    }
}

void pawl__bench_print_table(const pawl__bench_result *r, FILE *out)
{
    const pawl__bench_job *job = r->job;
    fprintf(out, "%s on %s: %lld messages, %lld a batch, %lld rounds, seed %llu\n", r->workload,
            r->store, (long long)job->messages, (long long)job->batch,
            (long long)job->options->rounds, (unsigned long long)job->seed);
    fprintf(out, "  %-8s %12.0f /s\n", "pawl", r->messages_per_s);
    if (r->no_limit == NULL)
        fprintf(out, "  %-8s %12.0f /s\n  %-8s %12.3f\n", "limit", r->limit_per_s, "ratio",
                r->ratio);
    else
        fprintf(out, "  no limit: %s\n", r->no_limit);
    for (pawl__bench_figure i = 0; i < pawl__bench_figure_count; i++) {
        double value;
        if (pawl__bench_noted(job->figures, i, &value))
            fprintf(out, "  %-18s %12.*f\n", pawl__bench_figure_name(i),
                    pawl__bench_figure_digits(i), value);
    }
    print_peers(job->peers, out);
}

static void add_rate(yyjson_mut_doc *doc, const char *name, double value, double scale)
{
    double rounded = (double)(int64_t)(value * scale + 0.5) / scale;
    yyjson_mut_obj_add_val(doc, yyjson_mut_doc_get_root(doc), name,
                           value > 0 ? yyjson_mut_real(doc, rounded) : yyjson_mut_null(doc));
}

static void add_figures(yyjson_mut_doc *doc, pawl__bench_figures *figures)
{
    yyjson_mut_val *object = yyjson_mut_doc_get_root(doc);
    for (pawl__bench_figure i = 0; i < pawl__bench_figure_count; i++) {
        double value;
        if (!pawl__bench_noted(figures, i, &value))
            continue;
        if (pawl__bench_figure_digits(i) == 0)
            yyjson_mut_obj_add_int(doc, object, pawl__bench_figure_name(i), (int64_t)value);
        else
            yyjson_mut_obj_add_real(doc, object, pawl__bench_figure_name(i), value);
    }
}

static void add_peers(yyjson_mut_doc *doc, const pawl__bench_peers *peers)
{
    if (peers->count == 0)
        return;
    yyjson_mut_val *array = yyjson_mut_obj_add_arr(doc, yyjson_mut_doc_get_root(doc), "peers");
    for (size_t i = 0; i < peers->count; i++) {
        const pawl__bench_peer_result *r      = &peers->results[i];
        yyjson_mut_val                *object = yyjson_mut_arr_add_obj(doc, array);
        yyjson_mut_obj_add_str(doc, object, "peer", r->name);
        if (r->why[0] != '\0') {
            yyjson_mut_obj_add_str(doc, object, r->has_failed ? "error" : "left_out", r->why);
            continue;
        }
        yyjson_mut_obj_add_str(doc, object, "configuration", r->configuration);
        yyjson_mut_obj_add_str(doc, object, "promises", r->promises);
        yyjson_mut_obj_add_real(doc, object, "per_second", r->per_second);
        yyjson_mut_obj_add_real(doc, object, "pawl_by_peer",
                                (double)(int64_t)(r->ratio * 1000 + 0.5) / 1000);
        yyjson_mut_obj_add_real(doc, object, "p50_ms", r->p50_ms);
        yyjson_mut_obj_add_real(doc, object, "p99_ms", r->p99_ms);
    }
}

pawl_code pawl__bench_print_json(const pawl__bench_result *r, FILE *out, pawl_error *error)
{
    const pawl__bench_job *job    = r->job;
    yyjson_mut_doc        *doc    = yyjson_mut_doc_new(NULL);
    yyjson_mut_val        *object = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, object);
    yyjson_mut_obj_add_str(doc, object, "workload", r->workload);
    yyjson_mut_obj_add_str(doc, object, "store", r->store);
    yyjson_mut_obj_add_int(doc, object, "messages", job->messages);
    yyjson_mut_obj_add_int(doc, object, "batch", job->batch);
    yyjson_mut_obj_add_int(doc, object, "rounds", job->options->rounds);
    yyjson_mut_obj_add_uint(doc, object, "seed", job->seed);
    if (doc != NULL) {
        add_rate(doc, "messages_per_s", r->messages_per_s, 10);
        add_rate(doc, "limit_per_s", r->limit_per_s, 10);
        add_rate(doc, "ratio", r->ratio, 1000);
        add_figures(doc, job->figures);
        add_peers(doc, job->peers);
    }
    if (r->no_limit != NULL)
        yyjson_mut_obj_add_str(doc, object, "no_limit", r->no_limit);
    char *text = doc != NULL ? yyjson_mut_write(doc, 0, NULL) : NULL;
    if (text != NULL)
        fprintf(out, "%s\n", text);
    pawl_code code =
        text != NULL ? PAWL_OK : pawl_error_set(error, PAWL_ENOMEM, "no memory for JSON");
    free(text);
    yyjson_mut_doc_free(doc);
    return code;
}
