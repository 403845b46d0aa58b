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
typedef struct random_group {
    unsigned keys[MARKS_MAX];
    unsigned key_count;
    unsigned saga;
    int64_t  version;
} random_group;

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

/* A key that the group does not have yet. */
static unsigned fresh_key(suite *s, const random_group *it)
{
    for (;;) {
        unsigned key   = below(s, KEYS);
        bool     is_in = false;
        for (unsigned i = 0; i < it->key_count; i++)
            is_in |= it->keys[i] == key;
        if (!is_in)
            return key;
    }
}

static random_group make_random_group(suite *s, const model *m)
{
    random_group it = {.saga = below(s, SAGAS)};
    it.version      = m->versions[it.saga] - (below(s, 4) == 0 ? 1 : 0);
    for (unsigned count = below(s, MARKS_MAX + 1); it.key_count < count;) {
        it.keys[it.key_count] = fresh_key(s, &it);
        it.key_count++;
    }
    return it;
}

static void add_random_group(suite *s, suite_set *set, const random_group *it, unsigned round,
                             unsigned group)
{
    suite_unit(set, group, group);
    for (unsigned i = 0; i < it->key_count; i++)
        ADD(set, inbox_entry, .endpoint = TEXT("keys"), .message_id = key_name(s, it->keys[i]),
            .at = SUITE_NOW);
    ADD(set, saga_update, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(it->saga + 1),
        .version = it->version, .metadata = TEXT("{}"), .data = TEXT("{}"),
        .type_version = TEXT("1.0"));
    ADD(set, queue_send, .queue = TEXT("witness"), .due = SUITE_NOW,
        .message = suite_message(s, suite_printf(s, "round-%u-%u", round, group)));
}

/* Does another group of the set use the key, or the saga at its current version? */
static bool is_rivalled(const random_group *groups, unsigned count, unsigned group, int key)
{
    for (unsigned i = 0; i < count; i++) {
        if (i == group)
            continue;
        if (key < 0 && groups[i].saga == groups[group].saga)
            return true;
        for (unsigned j = 0; key >= 0 && j < groups[i].key_count; j++)
            if (groups[i].keys[j] == (unsigned)key)
                return true;
    }
    return false;
}

/* A refusal is correct if the model or another group of the set explains it. */
static void check_refusal(suite *s, const pawl_refusal *refusal, const random_group *groups,
                          unsigned count, const model *m)
{
    const random_group *it = &groups[refusal->group];
    EXPECT_EQ(s, refusal->unit, refusal->group);
    if (refusal->kind == pawl_change_saga_update) {
        EXPECT_EQ(s, refusal->reason, PAWL_ECONFLICT);
        EXPECT(s, it->version != m->versions[it->saga] ||
                      is_rivalled(groups, count, refusal->group, -1));
        return;
    }
    bool is_explained = false;
    EXPECT_EQ(s, refusal->kind, pawl_change_inbox_entry);
    EXPECT_EQ(s, refusal->reason, PAWL_EDUPLICATE);
    for (unsigned i = 0; i < it->key_count; i++)
        is_explained |=
            m->known[it->keys[i]] || is_rivalled(groups, count, refusal->group, (int)it->keys[i]);
    EXPECT(s, is_explained);
}

/* Applies the group to the model; it must have been possible. */
static void apply(suite *s, model *m, const random_group *it)
{
    EXPECT_EQ(s, it->version, m->versions[it->saga]);
    m->versions[it->saga]++;
    for (unsigned i = 0; i < it->key_count; i++) {
        EXPECT(s, !m->known[it->keys[i]]);
        m->known[it->keys[i]] = true;
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
    random_group  groups[GROUPS_MAX];
    bool          is_refused[GROUPS_MAX] = {false};
    unsigned      count                  = 1 + below(s, GROUPS_MAX);
    pawl_refusals refused;
    suite_set     set = suite_changes(s);
    for (unsigned i = 0; i < count; i++) {
        groups[i] = make_random_group(s, m);
        add_random_group(s, &set, &groups[i], round, i);
    }
    EXPECT_OK(s, suite_try(&set, store, &refused));
    for (size_t i = 0; i < refused.count; i++) {
        EXPECT(s, refused.items[i].group < count);
        is_refused[refused.items[i].group] = true;
        check_refusal(s, &refused.items[i], groups, count, m);
    }
    for (unsigned i = 0; i < count; i++) {
        if (is_refused[i])
            continue;
        apply(s, m, &groups[i]);
        ++*sent;
    }
}

static void random_groups_have_the_same_result_as_in_a_model_in_memory(suite *s)
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
    {"E35 S9 random groups have the same result as in a model in memory",
     random_groups_have_the_same_result_as_in_a_model_in_memory},
};

const suite_cases cases_random = SUITE_CASES("random", cases);
