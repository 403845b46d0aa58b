/* watch.h - `pawl stats --watch`: a picture of a store that is drawn again and again.
 *
 *     look -> sample -> picture -> terminal: the screen, in place
 *                               -> elsewhere: a line, or a JSON object
 *
 * watch.c has the loop and the terminal, watch_draw.c the picture: the same samples and the same
 * size give the same picture.
 *
 * Threads: none; called from main.
 * Tests: tests/unit/cli/test_command_watch.c, tests/system/command_watch.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_WATCH_H
#define PAWL_CLI_WATCH_H

#include "cli/cli.h"

/* The figures that one look at the store read. */
typedef struct pawl__watch_sample {
    pawl_time           at; /* 0: there is none */
    pawl_health_figures figures;
    pawl_health         health;
    bool               *paused; /* for each queue of the figures; NULL: not looked */
} pawl__watch_sample;

/* The statistics of the sample; all zero if it has none. */
static inline const pawl_stats *pawl__watch_stats(const pawl__watch_sample *sample)
{
    static const pawl_stats none = PAWL_STATS_INIT;
    return sample->figures.stats != NULL ? sample->figures.stats : &none;
}

static inline bool pawl__watch_is_paused(const pawl__watch_sample *sample, size_t queue)
{
    return sample->paused != NULL && sample->paused[queue];
}

typedef struct pawl__watch_picture {
    const char               *store; /* its URL, masked */
    const pawl__watch_sample *sample;
    pawl_time                 before; /* when the previous look was; 0: there was none */
    pawl_counters             counters_before;
    int64_t                   period;
    const char               *failure; /* error of the last look; NULL: it succeeded */
    size_t                    columns, lines;
} pawl__watch_picture;

#define PAWL__WATCH_LINE_SIZE 512
#define PAWL__WATCH_HEADING_EVERY 20

/* Draws at most `lines` lines of at most `columns` characters; no escape is among them. */
void pawl__watch_draw(const pawl__watch_picture *picture, FILE *out);
/* A line with the numbers that change most, and the headings above them. */
void pawl__watch_heading(FILE *out);
void pawl__watch_line(const pawl__watch_picture *picture, FILE *out);

/* Fills a sample whose time is set; its lists live in the arena. */
pawl_code pawl__watch_read(pawl_store *store, const pawl_health_options *limits, pawl_arena *arena,
                           pawl__watch_sample *sample, pawl_error *error);
/* Looks at the store every `period`, until a key or a signal ends it. `print`, which may be NULL, prints each sample
 * instead of the picture. Returns a failure of the first look only; later ones are shown in the picture. */
typedef pawl_code pawl__watch_print_fn(const pawl__watch_sample *sample, FILE *out);
typedef struct pawl__watch {
    const char           *store;
    int64_t               period;
    int64_t               count; /* looks; 0: without end */
    pawl__watch_print_fn *print;
    pawl_health_options   limits;
} pawl__watch;
pawl_code pawl__watch_run(const pawl__watch *watch, pawl_store *store, pawl_arena *arena,
                          pawl_error *error);

#endif
