/* test_mongodb_lost_soak.c - every request and every answer of a commit is lost in turn, on MongoDB, for every kind of
 * change that can be refused (O32).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/lost_answers.h"
#include "support/tests.h"

#include "contract/mongodb_fixture.h"

/* Commands of a commit. The failpoint without a fault counts them. */
#define COMMANDS                                                                       \
    "\"failCommands\": [\"find\", \"aggregate\", \"insert\", \"update\", \"delete\", " \
    "\"findAndModify\", \"getMore\", \"commitTransaction\", \"abortTransaction\"]"

/* The failpoint that loses answers; `is_on` until its figure was asked for. */
typedef struct losses {
    const fixture *fixture;
    bool           is_on;
    int            struck;
} losses;

static int struck(losses *l)
{
    if (l->is_on)
        l->struck = (int)fault_off(l->fixture);
    l->is_on = false;
    return l->struck;
}

/* The server keeps the transaction of a client that is gone until it is told to end it, or too long passes: with
 * `is_kept` and without. */
static void lose(const lossy *way, lossy_what what, int number, bool is_kept)
{
    losses *l = way->context;
    (void)struck(l);
    const char *mode = test_text("{\"skip\": %d, \"times\": 1}", number - 1);
    if (what == LOSSY_NOTHING)
        fault_on(l->fixture, "\"alwaysOn\"", COMMANDS);
    else if (what == LOSSY_REQUEST)
        fault_on(l->fixture, mode, COMMANDS ", \"closeConnection\": true");
    else
        fault_on(l->fixture, mode, COMMANDS ", \"closeConnection\": true, \"afterwards\": true");
    l->is_on = true;
}

static bool was_lost(const lossy *way)
{
    return struck(way->context) > 0;
}

static int requests(const lossy *way)
{
    return struck(way->context);
}

static void no_line(pawl_text line, void *context)
{
}

ON_FIXTURE(o32_what_is_told_is_what_is_there, fixture *p)
{
    char         failure[1000];
    suite_tables tables;
    losses       l   = {.fixture = p};
    lossy        way = {.context     = &l,
                        .is_brief    = true,
                        .has_no_hold = true,
                        .lose        = lose,
                        .was_lost    = was_lost,
                        .requests    = requests,
                        .stride      = 40};
    snprintf(way.through.url, sizeof way.through.url, "%s", p->url);
    fixture_url(p->database, "direct", 0, way.direct.url, sizeof way.direct.url);
    suite_tables_make(&tables, &way.direct);
    if (pawl_store_schema(way.direct.url, PAWL_SCHEMA_APPLY, &tables.spec, no_line, NULL,
                          &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    unsigned lost = lost_answers_run(&way, failure, sizeof failure);
    if (failure[0] != '\0')
        fail_msg("%s", failure);
    print_message("%u losses\n", lost);
    assert_true(lost > 100);
}
