/* figures.c - the figures that the rounds noted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "figures.h"

#include "verdict.h"

#include <assert.h>

static const struct {
    const char *name;
    int         digits;
} figures_of[] = {
#define PAWL__FIGURE(name, digits) {#name, digits},
    PAWL__BENCH_FIGURES(PAWL__FIGURE)
#undef PAWL__FIGURE
};

void pawl__bench_note(pawl__bench_figures *figures, pawl__bench_figure figure, double value)
{
    assert(figures->counts[figure] < PAWL__BENCH_ROUNDS_MAX);
    figures->values[figure][figures->counts[figure]++] = value;
}

bool pawl__bench_noted(pawl__bench_figures *figures, pawl__bench_figure figure, double *value)
{
    if (figures->counts[figure] == 0)
        return false;
    double scale = 1;
    for (int i = 0; i < figures_of[figure].digits; i++)
        scale *= 10;
    double median = pawl__bench_median(figures->values[figure], figures->counts[figure]);
    *value        = (double)(int64_t)(median * scale + 0.5) / scale;
    return true;
}

const char *pawl__bench_figure_name(pawl__bench_figure figure)
{
    return figures_of[figure].name;
}

int pawl__bench_figure_digits(pawl__bench_figure figure)
{
    return figures_of[figure].digits;
}
