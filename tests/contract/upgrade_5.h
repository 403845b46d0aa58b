/* upgrade_5.h - the step to version 5, whose columns tell of a worker's program: tables of version 4, and the
 * row of a worker whose program knows no more. Included behind upgrade.h.
 *
 *     TO_VERSION_4 -> apply -> OLD_WORKER -> expect_old_worker
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_UPGRADE_5_H
#define PAWL_TESTS_CONTRACT_UPGRADE_5_H

#include "contract/upgrade.h"

/* A worker whose process is no more, as a program of version 4 leaves it. */
#define OLD_WORKER(at)                                                                          \
    "insert into pawl_workers (\"Id\", \"Endpoint\", \"Types\", \"Epoch\", \"Process\", "       \
    "\"Pid\", \"Seen\", \"Messages\", \"Timeouts\", \"Flushes\", \"Failures\", \"Conflicts\", " \
    "\"Dead\") values ('00000000-0000-4000-8000-000000000007', 'source', '[]', 1, 77, 7, " at   \
    ", 0, 0, 0, 0, 0, 0);"

/* Takes back the columns that came with version 5. */
#define TO_VERSION_4                                           \
    "alter table pawl_workers drop column \"Host\";"           \
    "alter table pawl_workers drop column \"Program\";"        \
    "alter table pawl_workers drop column \"ProgramVersion\";" \
    "alter table pawl_workers drop column \"PawlVersion\";"    \
    "alter table pawl_workers drop column \"Started\";"        \
    "update pawl_schema set \"Version\" = 4;"

/* Its row tells of no program. */
static inline void expect_old_worker(fixture *p)
{
    pawl_store       *store = NULL;
    pawl_arena       *arena = pawl_arena_create(0);
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    assert_non_null(arena);
    ok(p, pawl_store_open(p->url, NULL, &store, &p->error));
    ok(p, pawl_store_worker_crashed(store, arena, &items, &count, &p->error));
    assert_int_equal(count, 1);
    assert_int_equal(items[0].pid, 7);
    assert_int_equal(items[0].host.size, 0);
    assert_int_equal(items[0].program.size, 0);
    assert_int_equal(items[0].program_version.size, 0);
    assert_int_equal(items[0].pawl_version.size, 0);
    assert_int_equal(items[0].started, 0);
    pawl_store_close(store);
    pawl_arena_destroy(arena);
}

#endif
