/* test_mongodb_diagnose.c - findings about a server of MongoDB: its clock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mongodb_fixture.h"
#include "support/tests.h"

#include "pawl/loop.h"
#include "pawl/pawl.h"
#include "pawl/store_calls.h"
#include "store/mongo/mongo.h"

/* The finding about the clock of a caller whose own is so much behind the server's. */
static pawl_finding clock_behind(fixture *p, pawl_store *store, int64_t behind)
{
    pawl_finding_rows rows  = {.count = 0};
    pawl_diagnosis    asked = {.now = pawl_clock_now(NULL) - behind};
    if (pawl_store_diagnose(store, &asked, p->arena, &rows, &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    assert_int_equal(rows.count, 1);
    assert_true(pawl_text_equal(rows.items[0].name, PAWL_TEXT("clock")));
    return rows.items[0];
}

ON_FIXTURE(a_clock_that_is_off, fixture *p)
{
    static const struct {
        int64_t            behind;
        pawl_finding_level level;
    } clocks[] = {
        {0, PAWL_FINDING_OK},
        {PAWL_SECONDS(3), PAWL_FINDING_WARN},
        {-PAWL_SECONDS(3), PAWL_FINDING_WARN},
        {PAWL_SECONDS(3600), PAWL_FINDING_FAIL},
        {-PAWL_SECONDS(3600), PAWL_FINDING_FAIL},
    };
    pawl_store *store = open_store(p, p->url);
    for (size_t i = 0; i < COUNT(clocks); i++) {
        pawl_finding found = clock_behind(p, store, clocks[i].behind);
        assert_int_equal(found.level, clocks[i].level);
        /* The server is on the same machine; an answer takes less than that. */
        assert_in_range(found.value - llabs(clocks[i].behind) + PAWL_SECONDS(1), 0,
                        PAWL_SECONDS(2));
    }
}

static void forbid_hello(const mongoc_apm_command_started_t *event)
{
    const char *name = mongoc_apm_command_started_get_command_name(event);
    if (strcmp(name, "hello") == 0)
        fail_msg("MongoDB 4.4.0 and 4.4.1 do not know it");
}

ON_FIXTURE(the_clock_of_every_server_of_mongodb_4_4_is_read, fixture *p)
{
    pawl_store             *store     = open_store(p, p->url);
    mongoc_apm_callbacks_t *callbacks = mongoc_apm_callbacks_new();
    mongoc_apm_set_command_started_cb(callbacks, forbid_hello);
    assert_true(mongoc_client_set_apm_callbacks(pawl__mongo_of(store)->client, callbacks, NULL));
    mongoc_apm_callbacks_destroy(callbacks);
    (void)clock_behind(p, store, 0);
}
