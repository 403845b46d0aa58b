/* lost_answers.h - commits whose requests and answers are lost, one after another, for
 * every kind of change that can be refused: what the caller is told is compared with what
 * is there (O32).
 *
 * The kinds, the ways of committing and the comparison are here, and know no driver. What
 * loses an answer belongs to the test of a store: a `lossy`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_LOST_ANSWERS_H
#define PAWL_TESTS_CONTRACT_LOST_ANSWERS_H

#include "conformance/suite/run.h"

typedef enum lossy_what {
    LOSSY_NOTHING,
    LOSSY_REQUEST, /* the server never gets it */
    LOSSY_ANSWER,  /* the server has done it */
} lossy_what;

/* A way to a server which loses what it is told to. */
typedef struct lossy lossy;
struct lossy {
    suite_address through;  /* the fixture, by this way */
    suite_address direct;   /* the same fixture, with its tables */
    bool          is_brief; /* changes alone in their set are left out: half of the time */
    bool          has_no_hold;
    /* The driver does not know what a commit in doubt left out, and promises nothing: the
     * caller may be told that it is not known (PAWL_EUNKNOWN), but nothing that is wrong. */
    bool  is_ignorant;
    void *context;
    /* The next connection that makes its `number`-th request from now on (from 1) loses it,
     * or the answer, and is over for the client. With `is_kept` the server does not notice
     * until nothing more is to be lost. */
    void (*lose)(const lossy *way, lossy_what what, int number, bool is_kept);
    bool (*was_lost)(const lossy *way);
    unsigned part; /* of the cases, from 1 (support/fault_strides.h); 0: all */
    /* NULL: every request is lost in turn. Else those of a connection since `lose`: the last of a
     * commit are lost, and of those before them every `stride`-th. */
    int (*requests)(const lossy *way);
    int stride;
};

/* `lose` and `was_lost` of a way whose context is a proxy. */
void lossy_by_proxy(const lossy *way, lossy_what what, int number, bool is_kept);
bool lossy_proxy_was_cut(const lossy *way);

/* How many losses were tried; `failure` stays empty when all held. */
unsigned lost_answers_run(const lossy *way, char *failure, size_t failure_size);

#endif
