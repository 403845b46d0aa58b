/* test_replay_names.c - the names of groups and logs in the store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "../../../examples/replay/application.h"
#include "support/tests.h"

static void assert_group_key(size_t number, const char *group, const char *expected)
{
    pawl_text  groups[3] = {{.size = 0}, {.size = 0}, {.size = 0}};
    replay_log log       = {.groups = groups, .group_count = 3};
    char       buffer[REPLAY_GROUP_KEY_SIZE];
    groups[number]   = pawl_text_of(group);
    const char *name = replay_group_key(&log, number, buffer).data;
    assert_string_equal(name, expected);
    assert_true(pawl_text_is_valid(pawl_text_of(name), NULL));
}

TEST(a_group_key_is_never_empty_nor_long)
{
    char long_ascii[201], long_wide[201], expected[120];
    assert_group_key(0, "", "0:");
    assert_group_key(2, "Group 4", "2:Group 4");
    memset(long_ascii, 'g', 200);
    long_ascii[200] = '\0';
    memcpy(expected, "1:", 2);
    memset(expected + 2, 'g', 96);
    expected[98] = '\0';
    assert_group_key(1, long_ascii, expected);
    /* One byte, then characters of two: the cut would fall into one of them. */
    long_wide[0] = 'a';
    for (int i = 1; i < 199; i += 2)
        memcpy(long_wide + i, "\xC3\xA9", 2);
    long_wide[199] = '\0';
    memcpy(expected + 2, long_wide, 95);
    expected[97] = '\0';
    assert_group_key(1, long_wide, expected);
}

TEST(a_log_is_known_by_its_fingerprint)
{
    char       buffer[17];
    replay_log log = {.fingerprint = UINT64_C(0xFEDCBA9876543210)};
    assert_string_equal(replay_log_name(&log, buffer).data, "fedcba9876543210");
    log.fingerprint = 1;
    assert_string_equal(replay_log_name(&log, buffer).data, "0000000000000001");
}

/* The tables of an application point into themselves. */
TEST(the_application_has_two_endpoints)
{
    replay_application made;
    replay_application_make(7, &made);
    assert_int_equal(made.by_group.size, 7);
    assert_int_equal(made.by_group.max, 7);
    assert_ptr_equal(made.application.endpoints[0]->aggregators[0], &made.by_group);
    assert_string_equal(made.application.endpoints[0]->name, "replay");
    assert_string_equal(made.application.endpoints[1]->name, "archive");
    assert_null(made.application.endpoints[2]);
}
