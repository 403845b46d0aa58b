/* findings.h - short forms for tests of what a driver finds about its database.
 *
 * Included behind a fixture, whose `fixture`, expect_code and NOW it uses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_FINDINGS_H
#define PAWL_TESTS_CONTRACT_FINDINGS_H

#include "pawl/operate.h"

static inline pawl_finding_rows diagnose_as(fixture *p, pawl_store *store, pawl_diagnosis asked)
{
    pawl_finding_rows rows = {0};
    ok(p, pawl_store_diagnose(store, &asked, p->arena, &rows, &p->error));
    return rows;
}

/* By the clock of this machine; transactions of an hour. */
static inline pawl_finding_rows diagnose(fixture *p, pawl_store *store)
{
    return diagnose_as(
        p, store,
        (pawl_diagnosis){.now = pawl_clock_now(NULL), .transaction_age = PAWL_SECONDS(3600)});
}

/* The first finding of the check whose text has the part. */
static inline const pawl_finding *find_text(const pawl_finding_rows *rows, const char *name,
                                            const char *part)
{
    for (size_t i = 0; i < rows->count; i++)
        if (pawl_text_equal(rows->items[i].name, pawl_text_of(name)) &&
            strstr(rows->items[i].text.data, part) != NULL)
            return &rows->items[i];
    for (size_t i = 0; i < rows->count; i++)
        print_message("%.*s: %.*s\n", PAWL_TEXT_ARGS(rows->items[i].name),
                      PAWL_TEXT_ARGS(rows->items[i].text));
    fail_msg("%s does not say '%s'", name, part);
    return NULL;
}

/* The check says so, on that level, with that in its remedy; NULL: it has none. */
static inline void expect_finding(const pawl_finding_rows *rows, const char *name,
                                  pawl_finding_level level, const char *part, const char *remedy)
{
    const pawl_finding *found = find_text(rows, name, part);
    assert_int_equal(found->level, level);
    if (remedy == NULL)
        assert_int_equal(found->remedy.size, 0);
    else if (strstr(found->remedy.data, remedy) == NULL)
        fail_msg("%s: the remedy is '%s', not '%s'", name, found->remedy.data, remedy);
}

/* Nothing fails; others may have set the server so that it warns. */
static inline void expect_no_failure(const pawl_finding_rows *rows)
{
    assert_true(rows->count > 0);
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].level == PAWL_FINDING_FAIL)
            fail_msg("%s: %s", rows->items[i].name.data, rows->items[i].text.data);
}

/* The finding of a caller whose clock is off by so much. */
static inline void expect_clock(fixture *p, pawl_store *store, int64_t offset,
                                pawl_finding_level level, const char *part)
{
    pawl_finding_rows rows = diagnose_as(p, store,
                                         (pawl_diagnosis){.now = pawl_clock_now(NULL) + offset,
                                                          .transaction_age = PAWL_SECONDS(3600)});
    expect_finding(&rows, "clock", level, part, NULL);
}

#endif
