/* case_lead.c - named leases: who drains, who sweeps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite.h"

#define OUTBOX TEXT("outbox")

static bool leads(suite *s, pawl_store *store, pawl_text name, pawl_time now)
{
    bool is_held = false;
    EXPECT_OK(s, store->ops->lead(store, name, now, SUITE_LEASE, &is_held, &s->error));
    return is_held;
}

static void one_leads_at_a_time(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW));
    EXPECT(s, !leads(s, b, OUTBOX, SUITE_NOW));
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW));
    EXPECT(s, !leads(s, b, OUTBOX, SUITE_NOW + 1));
}

static void names_are_apart(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW));
    EXPECT(s, leads(s, b, TEXT("sweep"), SUITE_NOW));
    EXPECT(s, leads(s, b, TEXT("Outbox"), SUITE_NOW));
    EXPECT(s, !leads(s, a, TEXT("sweep"), SUITE_NOW));
}

static void a_lease_that_is_not_renewed_ends(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW));
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW + 100));
    EXPECT(s, !leads(s, b, OUTBOX, SUITE_NOW + SUITE_LEASE));
    EXPECT(s, !leads(s, b, OUTBOX, SUITE_NOW + SUITE_LEASE + 99));
    EXPECT(s, leads(s, b, OUTBOX, SUITE_NOW + SUITE_LEASE + 100));
    EXPECT(s, !leads(s, a, OUTBOX, SUITE_NOW + SUITE_LEASE + 101));
}

static void unlead_gives_it_up(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW));
    EXPECT_OK(s, b->ops->unlead(b, OUTBOX, &s->error));
    EXPECT(s, !leads(s, b, OUTBOX, SUITE_NOW));
    EXPECT_OK(s, a->ops->unlead(a, OUTBOX, &s->error));
    EXPECT(s, leads(s, b, OUTBOX, SUITE_NOW));
    EXPECT(s, !leads(s, a, OUTBOX, SUITE_NOW));
    EXPECT_OK(s, a->ops->unlead(a, TEXT("never held"), &s->error));
}

static void an_ended_worker_leads_nothing(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW));
    suite_end_worker(s, a);
    EXPECT(s, leads(s, b, OUTBOX, SUITE_NOW));
}

static const suite_case cases[] = {
    {"O20 one leads at a time", one_leads_at_a_time},
    {"O20 names are apart", names_are_apart},
    {"O20 a lease that is not renewed ends", a_lease_that_is_not_renewed_ends},
    {"O20 unlead gives it up, for its holder only", unlead_gives_it_up},
    {"O20 an ended worker leads nothing", an_ended_worker_leads_nothing},
};

const suite_cases cases_lead = SUITE_CASES("lead", cases);
