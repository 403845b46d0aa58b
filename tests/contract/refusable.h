/* refusable.h - the kinds of change that can be refused: what makes one apply or be
 * refused, and how its effect is seen. They know no driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_REFUSABLE_H
#define PAWL_TESTS_CONTRACT_REFUSABLE_H

#include "conformance/suite/suite.h"

typedef struct trial {
    suite      *s;
    pawl_store *store;      /* the one that commits the change */
    pawl_store *other;      /* sees the rows, and is in the way */
    unsigned    number;     /* no two trials have the same */
    bool        is_refused; /* the change is to be */
    int64_t     row;        /* of what was prepared */
} trial;

typedef struct refusable {
    pawl_change_kind kind;
    pawl_code        reason;
    void (*prepare)(trial *t);
    void (*add)(trial *t, suite_set *set);
    bool (*is_there)(const trial *t); /* a row that the change writes, and nobody else */
} refusable;

extern const refusable refusables[];
extern const size_t    refusable_count;

/* Every kind that can be refused has a row. */
void refusables_check(suite *s);
/* "what-7", by the trial's number. */
pawl_text trial_name(const trial *t, const char *what);

#endif
