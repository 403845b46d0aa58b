/* exposition.h - a strict reader of Prometheus's text format, version 0.0.4: everything that Prometheus's own tools
 * refuse fails the test.
 *
 *     # HELP name text        once for a family, before its samples
 *     # TYPE name type        likewise, after HELP
 *     name{label="value"} 1   only of the family at hand, no series twice
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_EXPOSITION_H
#define PAWL_TESTS_EXPOSITION_H

#include "pawl/base.h"

#define EXPOSITION_SAMPLES_MAX 2000
#define EXPOSITION_FAMILIES_MAX 200

typedef struct exposition_sample {
    char   series[400]; /* name{labels} as on the page */
    char   name[100];
    char   le[20]; /* of a bucket */
    double value;
    size_t family;
} exposition_sample;

typedef struct exposition_family {
    char name[100];
    char type[20];
    char help[300];
} exposition_family;

typedef struct exposition {
    exposition_sample samples[EXPOSITION_SAMPLES_MAX];
    size_t            sample_count;
    exposition_family families[EXPOSITION_FAMILIES_MAX];
    size_t            family_count;
} exposition;

/* Fails the test with the invalid line. Also checks histograms: buckets never decrease, and the last, +Inf, equals the
 * count. */
void exposition_read(exposition *page, pawl_text text);
/* The value of a series, written as on the page; fails if it is missing. */
double exposition_value(const exposition *page, const char *series);
bool   exposition_has(const exposition *page, const char *series);

#endif
