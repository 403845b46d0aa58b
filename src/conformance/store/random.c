/* random.c - random change sets with invariants: a group is applied completely or not at all, every refusal has a
 * reason, and no key is inserted twice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#define ROUNDS 60
#define GROUPS_MAX 8
#define KEYS 120
#define SAGAS 6
#define MARKS_MAX 3

/* Changes of a group of one unit: inbox entries and one saga's update. */
typedef struct wish {
    unsigned keys[MARKS_MAX];
    unsigned key_count;
    unsigned saga;
    int64_t  version;
} wish;

/* Rows that must be in the store. */
typedef struct model {
    bool    known[KEYS];
    int64_t versions[SAGAS];
} model;

static unsigned below(suite *s, unsigned limit)
{
    return (unsigned)pawl_random_below(&s->random, limit);
}

static pawl_text key_name(suite *s, unsigned key)
{
    return suite_printf(s, "key-%u", key);
}

/* A key that the wish does not have yet. */
static unsigned fresh_key(suite *s, const wish *w)
{
    for (;;) {
        unsigned key   = below(s, KEYS);
        bool     is_in = false;
        for (unsigned i = 0; i < w->key_count; i++)
            is_in |= w->keys[i] == key;
        if (!is_in)
            return key;
    }
}

static wish make_wish(suite *s, const model *m)
{
    wish w    = {.saga = below(s, SAGAS)};
    w.version = m->versions[w.saga] - (below(s, 4) == 0 ? 1 : 0);
    for (unsigned count = below(s, MARKS_MAX + 1); w.key_count < count;) {
        w.keys[w.key_count] = fresh_key(s, &w);
        w.key_count++;
    }
    return w;
}

static void add_wish(suite *s, suite_set *set, const wish *w, unsigned round, unsigned group)
{
    suite_unit(set, group, group);
    for (unsigned i = 0; i < w->key_count; i++)
        ADD(set, inbox_entry, .endpoint = TEXT("keys"), .message_id = key_name(s, w->keys[i]),
            .at = SUITE_NOW);
    ADD(set, saga_update, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(w->saga + 1),
        .version = w->version, .metadata = TEXT("{}"), .data = TEXT("{}"),
        .type_version = TEXT("1.0"));
    ADD(set, queue_send, .queue = TEXT("witness"), .due = SUITE_NOW,
        .message = suite_message(s, suite_printf(s, "round-%u-%u", round, group)));
}

/* Does another group of the set use the key, or the saga at its current version? */
static bool is_rivalled(const wish *wishes, unsigned count, unsigned group, int key)
{
    for (unsigned i = 0; i < count; i++) {
        if (i == group)
            continue;
        if (key < 0 && wishes[i].saga == wishes[group].saga)
            return true;
        for (unsigned j = 0; key >= 0 && j < wishes[i].key_count; j++)
            if (wishes[i].keys[j] == (unsigned)key)
                return true;
    }
    return false;
}

/* A refusal is correct if the model or another group of the set explains it. */
static void check_refusal(suite *s, const pawl_refusal *refusal, const wish *wishes, unsigned count,
                          const model *m)
{
    const wish *w = &wishes[refusal->group];
    EXPECT_EQ(s, refusal->unit, refusal->group);
    if (refusal->kind == pawl_change_saga_update) {
        EXPECT_EQ(s, refusal->reason, PAWL_ECONFLICT);
        EXPECT(s, w->version != m->versions[w->saga] ||
                      is_rivalled(wishes, count, refusal->group, -1));
        return;
    }
    bool is_explained = false;
    EXPECT_EQ(s, refusal->kind, pawl_change_inbox_entry);
    EXPECT_EQ(s, refusal->reason, PAWL_EDUPLICATE);
    for (unsigned i = 0; i < w->key_count; i++)
        is_explained |=
            m->known[w->keys[i]] || is_rivalled(wishes, count, refusal->group, (int)w->keys[i]);
    EXPECT(s, is_explained);
}

/* Applies the group to the model; it must have been possible. */
static void apply(suite *s, model *m, const wish *w)
{
    EXPECT_EQ(s, w->version, m->versions[w->saga]);
    m->versions[w->saga]++;
    for (unsigned i = 0; i < w->key_count; i++) {
        EXPECT(s, !m->known[w->keys[i]]);
        m->known[w->keys[i]] = true;
    }
}

static void compare(suite *s, pawl_store *store, const model *m, int64_t sent)
{
    for (unsigned key = 0; key < KEYS; key++)
        EXPECT_EQ(s, suite_knows(s, store, TEXT("keys"), key_name(s, key)), m->known[key]);
    for (unsigned i = 0; i < SAGAS; i++)
        EXPECT_EQ(s, suite_load_id(s, store, SUITE_ORDER, i + 1).version, m->versions[i]);
    EXPECT_EQ(s, suite_queue(s, store, TEXT("witness")).count, sent);
}

static void run_round(suite *s, pawl_store *store, model *m, unsigned round, int64_t *sent)
{
    wish          wishes[GROUPS_MAX];
    bool          is_refused[GROUPS_MAX] = {false};
    unsigned      count                  = 1 + below(s, GROUPS_MAX);
    pawl_refusals refused;
    suite_set     set = suite_changes(s);
    for (unsigned i = 0; i < count; i++) {
        wishes[i] = make_wish(s, m);
        add_wish(s, &set, &wishes[i], round, i);
    }
    EXPECT_OK(s, suite_try(&set, store, &refused));
    for (size_t i = 0; i < refused.count; i++) {
        EXPECT(s, refused.items[i].group < count);
        is_refused[refused.items[i].group] = true;
        check_refusal(s, &refused.items[i], wishes, count, m);
    }
    for (unsigned i = 0; i < count; i++) {
        if (is_refused[i])
            continue;
        apply(s, m, &wishes[i]);
        ++*sent;
    }
}

static void random_groups_keep_the_rules(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    model       m    = {{false}, {0}};
    int64_t     sent = 0;
    for (unsigned i = 0; i < SAGAS; i++) {
        suite_insert_order(s, a, i + 1, suite_printf(s, "order-%u", i).data);
        m.versions[i] = 1;
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        run_round(s, round % 2 == 0 ? a : b, &m, round, &sent);
        compare(s, round % 2 == 0 ? b : a, &m, sent);
    }
    EXPECT(s, sent > 0);
}

static const suite_case cases[] = {
    {"E35 S9 random groups keep the rules", random_groups_keep_the_rules},
};

const suite_cases cases_random = SUITE_CASES("random", cases);
