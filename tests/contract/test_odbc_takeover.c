/* test_odbc_takeover.c - E29: a worker of SQL Server whose older session has the application lock, behind a scripted
 * driver: the session is ended, or the lock is waited for by what is left of the deadline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/odbc_scripted.h"
#include "support/tests.h"

#define SCRIPTED(function) TESTS(function, scripted *p, SCRIPTED_TEST(#function, function, "mssql"))

#define DEADLINE_MS 20000
#define SHORT_MS 2000

#define GETS "on declare @pawl int; exec @pawl = sp_getapplock*"
#define HELD(times) GETS "\n times " times "\n row '-1'\n"
#define ASKS_HOLDER "on select max(request_session_id) from sys.dm_tran_locks*"

static pawl_code open_beside(scripted *p, const char *rules, int64_t deadline_ms)
{
    scripted_code(p, scripted_try(p, rules, deadline_ms), PAWL_OK);
    scripted_mark(p);
    return pawl_store_worker_open(p->store, PAWL_TEXT("orders"), PAWL_TEXT("[]"), SCRIPTED_NOW,
                                  &p->error);
}

#define COUNT_GETS(p, wait) \
    scripted_count((p),     \
                   "1 run declare @pawl int; exec @pawl = sp_getapplock*LockTimeout = " wait ";*")

/* The second wait, in milliseconds. The calls are logged with their texts. */
static int64_t second_wait(scripted *p)
{
    const char *at = scripted_calls(p);
    for (int i = 0; i < 2; i++) {
        at = strstr(at, "@LockTimeout = ");
        assert_non_null(at);
        at += strlen("@LockTimeout = ");
    }
    return strtoll(at, NULL, 10);
}

/* The session that has the lock is ended; without the right to look or to end it, it is waited for, once, by what is
 * left of the deadline. */
SCRIPTED(e29_the_session_that_has_the_lock_is_ended)
{
    scripted_code(p, open_beside(p, HELD("1") ASKS_HOLDER "\n row '57'\non kill 57\n", DEADLINE_MS),
                  PAWL_OK);
    assert_int_equal(COUNT_GETS(p, "0"), 1);
    assert_true(scripted_count(p, "1 run kill 57") >= 1);
    assert_int_equal(COUNT_GETS(p, "*"), 2);
    static const char *const refused[] = {
        ASKS_HOLDER "\n error 42000 300 View server state\n",
        ASKS_HOLDER "\n row '57'\non kill 57\n error 42000 6102 No permission\n",
        ASKS_HOLDER "\n row null\n"};
    static const char *const says[] = {"the login may not end another session",
                                       "the login may not end another session",
                                       "it is in a statement that does not end"};
    for (size_t i = 0; i < COUNT(refused); i++) {
        scripted_code(p, open_beside(p, test_text(HELD("1") "%s", refused[i]), DEADLINE_MS),
                      PAWL_OK);
        assert_int_equal(COUNT_GETS(p, "*"), 2);
        scripted_code(p, open_beside(p, test_text(HELD("2") "%s", refused[i]), DEADLINE_MS),
                      PAWL_EBUSY);
        scripted_text(p, "another session of this worker keeps its lock");
        scripted_text(p, says[i]);
        assert_int_equal(COUNT_GETS(p, "0"), 1);
        assert_int_equal(COUNT_GETS(p, "*"), 2); /* and no second time */
        assert_in_range(second_wait(p), 1, DEADLINE_MS * 9 / 10);
    }
}

/* The whole deadline went by in `kill`: nothing is left of it for the lock. */
SCRIPTED(e29_the_second_wait_has_what_is_left)
{
    scripted_code(p,
                  open_beside(p,
                              HELD("2") ASKS_HOLDER "\n row '57'\non kill 57\n blocks\n error "
                                                    "HY008 0 Operation cancelled\n",
                              SHORT_MS),
                  PAWL_EBUSY);
    assert_true(scripted_count(p, "1 cancel *") >= 1);
    assert_int_equal(second_wait(p), 0);
}
