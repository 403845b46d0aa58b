/* fuzz_upgrade.c - rows of any kind, read by the records and tables of a program, as `pawl saga verify-upgrade` and
 * `pawl dead edit` read them.
 *
 * Input: rows, each with the byte of its kind, names and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/application.h"

#include "pawl/upgrade.h"

#define ROWS_MAX 8
#define KINDS (PAWL_SCAN_DEAD + 1) /* the kinds behind have no messages */

typedef struct fixture {
    pawl_upgrade                 *upgrade;
    pawl_store                   *store;
    const pawl_saga_table *const *tables;
    size_t                        table_count;
} fixture;

/* Made once: nothing is written. */
static const fixture *fixture_of(void)
{
    static fixture it;
    if (it.store != NULL)
        return &it;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    FUZZ_CHECK(pawl_upgrade_create(fuzz_application(), NULL, &it.upgrade, NULL) == PAWL_OK);
    it.tables           = pawl_upgrade_tables(it.upgrade, &it.table_count);
    options.mode        = PAWL_OPEN_CREATE;
    options.tables      = it.tables;
    options.table_count = it.table_count;
    FUZZ_CHECK(pawl_store_open("memory:fuzz", &options, &it.store, NULL) == PAWL_OK);
    return &it;
}

static pawl_scan_row row_of(fuzz_input *in)
{
    return (pawl_scan_row){.id           = {{(uint8_t)fuzz_byte(in)}},
                           .number       = fuzz_byte(in),
                           .belongs_to   = fuzz_name(in),
                           .name         = fuzz_name(in),
                           .code         = fuzz_name(in),
                           .type_version = fuzz_name(in),
                           .version      = (int32_t)fuzz_below(in, 4),
                           .message      = {.id      = fuzz_name(in),
                                            .type    = fuzz_name(in),
                                            .headers = fuzz_json(in),
                                            .body    = fuzz_json(in)},
                           .is_dead      = fuzz_below(in, 2) == 0};
}

static void take_found(const pawl_upgrade_found *found, void *context)
{
    FUZZ_CHECK(found->reason < PAWL_UPGRADE_REASON_COUNT && found->kind[0] != '\0');
    FUZZ_CHECK(found->text.size > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const fixture *it    = fixture_of();
    fuzz_input     in    = {data, size};
    pawl_arena    *arena = fuzz_arena();
    while (in.left > 0) {
        pawl_scan      scan  = {.kind = (pawl_scan_kind)fuzz_below(&in, KINDS)};
        pawl_scan_row *items = pawl_arena_take(arena, ROWS_MAX * sizeof *items);
        pawl_scan_rows rows  = {.items = items, .count = 1 + fuzz_below(&in, ROWS_MAX)};
        pawl_error     error = PAWL_ERROR_INIT;
        if (scan.kind == PAWL_SCAN_SAGAS)
            scan.table = it->tables[fuzz_below(&in, (unsigned)it->table_count)];
        for (size_t i = 0; i < rows.count; i++)
            items[i] = row_of(&in);
        FUZZ_CHECK(pawl_upgrade_rows(it->upgrade, it->store, &scan, &rows, arena, take_found, NULL,
                                     &error) == PAWL_OK);
    }
    pawl_arena_destroy(arena);
    return 0;
}
