/* lead.c - named leases, such as those of dispatchers and sweeps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#define OUTBOX TEXT("outbox")

static bool leads(suite *s, pawl_store *store, pawl_text name, pawl_time now)
{
    bool is_held = false;
    EXPECT_OK(s, pawl_store_lead(store, name, now, SUITE_LEASE, &is_held, &s->error));
    return is_held;
}

static void a_lease_is_held_by_one_worker_at_a_time(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW));
    EXPECT(s, !leads(s, b, OUTBOX, SUITE_NOW));
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW));
    EXPECT(s, !leads(s, b, OUTBOX, SUITE_NOW + 1));
}

static void leases_of_different_names_are_independent(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW));
    EXPECT(s, leads(s, b, TEXT("sweep"), SUITE_NOW));
    EXPECT(s, leads(s, b, TEXT("Outbox"), SUITE_NOW));
    EXPECT(s, !leads(s, a, TEXT("sweep"), SUITE_NOW));
}

static void a_lease_that_is_not_renewed_expires(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW));
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW + 100));
    EXPECT(s, !leads(s, b, OUTBOX, SUITE_NOW + SUITE_LEASE));
    EXPECT(s, !leads(s, b, OUTBOX, SUITE_NOW + SUITE_LEASE + 99));
    EXPECT(s, leads(s, b, OUTBOX, SUITE_NOW + SUITE_LEASE + 100));
    EXPECT(s, !leads(s, a, OUTBOX, SUITE_NOW + SUITE_LEASE + 101));
}

static void unlead_releases_a_lease_for_its_holder_only(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW));
    EXPECT_OK(s, pawl_store_unlead(b, OUTBOX, &s->error));
    EXPECT(s, !leads(s, b, OUTBOX, SUITE_NOW));
    EXPECT_OK(s, pawl_store_unlead(a, OUTBOX, &s->error));
    EXPECT(s, leads(s, b, OUTBOX, SUITE_NOW));
    EXPECT(s, !leads(s, a, OUTBOX, SUITE_NOW));
    EXPECT_OK(s, pawl_store_unlead(a, TEXT("never held"), &s->error));
}

static void closing_a_worker_releases_its_leases(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW));
    suite_end_worker(s, a);
    EXPECT(s, leads(s, b, OUTBOX, SUITE_NOW));
}

typedef struct lead_rows {
    pawl_lead_row *items;
    size_t         count;
} lead_rows;

static lead_rows leads_at(suite *s, pawl_store *store, pawl_time now)
{
    lead_rows rows = {.count = 9};
    EXPECT_OK(s, pawl_store_lead_list(store, now, s->arena, &rows.items, &rows.count, &s->error));
    return rows;
}

static void expect_lead(suite *s, const pawl_lead_row *row, pawl_text name,
                        const pawl_store *worker, pawl_time expires)
{
    EXPECT_TEXT(s, row->name, name);
    EXPECT(s, pawl_uuid_compare(row->worker.uuid, pawl_store_worker(worker).uuid) == 0);
    EXPECT_EQ(s, row->expires, expires);
}

static void leases_are_listed_until_they_expire(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s), *looker = suite_open_bare(s);
    EXPECT_EQ(s, leads_at(s, looker, SUITE_NOW).count, 0);
    EXPECT(s, leads(s, a, TEXT("b"), SUITE_NOW));
    EXPECT(s, leads(s, b, TEXT("a"), SUITE_NOW));
    EXPECT(s, leads(s, a, TEXT("C"), SUITE_NOW + 7));
    lead_rows rows = leads_at(s, looker, SUITE_NOW);
    EXPECT_EQ(s, rows.count, 3);
    expect_lead(s, &rows.items[0], TEXT("C"), a, SUITE_NOW + 7 + SUITE_LEASE);
    expect_lead(s, &rows.items[1], TEXT("a"), b, SUITE_NOW + SUITE_LEASE);
    expect_lead(s, &rows.items[2], TEXT("b"), a, SUITE_NOW + SUITE_LEASE);
    EXPECT_EQ(s, leads_at(s, looker, SUITE_NOW + SUITE_LEASE - 1).count, 3);
    rows = leads_at(s, looker, SUITE_NOW + SUITE_LEASE);
    EXPECT_EQ(s, rows.count, 1);
    expect_lead(s, &rows.items[0], TEXT("C"), a, SUITE_NOW + 7 + SUITE_LEASE);
}

static void the_list_of_leases_shows_the_present_holders(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT(s, leads(s, a, OUTBOX, SUITE_NOW));
    EXPECT(s, leads(s, a, TEXT("sweep"), SUITE_NOW));
    EXPECT_OK(s, pawl_store_unlead(a, TEXT("sweep"), &s->error));
    EXPECT_EQ(s, leads_at(s, b, SUITE_NOW).count, 1);
    suite_end_worker(s, a);
    EXPECT_EQ(s, leads_at(s, b, SUITE_NOW).count, 0);
    EXPECT(s, leads(s, b, OUTBOX, SUITE_NOW + 1));
    lead_rows rows = leads_at(s, b, SUITE_NOW + 1);
    EXPECT_EQ(s, rows.count, 1);
    expect_lead(s, &rows.items[0], OUTBOX, b, SUITE_NOW + 1 + SUITE_LEASE);
}

static const suite_case cases[] = {
    {"O20 a lease is held by one worker at a time", a_lease_is_held_by_one_worker_at_a_time},
    {"O20 leases of different names are independent", leases_of_different_names_are_independent},
    {"O20 a lease that is not renewed expires", a_lease_that_is_not_renewed_expires},
    {"O20 unlead releases a lease for its holder only",
     unlead_releases_a_lease_for_its_holder_only},
    {"O20 closing a worker releases its leases", closing_a_worker_releases_its_leases},
    {"O20 leases are listed until they expire", leases_are_listed_until_they_expire},
    {"O20 the list of leases shows the present holders",
     the_list_of_leases_shows_the_present_holders},
};

const suite_cases cases_lead = SUITE_CASES("lease", cases);
