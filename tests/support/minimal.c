/* minimal.c - entries of a driver that store nothing and succeed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/minimal.h"

bool     minimal_is_applied;
unsigned minimal_worker_count;

pawl_code minimal_store_open(pawl_store *store, const char *url, const pawl_store_options *options,
                             pawl_error *error)
{
    strcpy(store->identity, "minimal");
    return PAWL_OK;
}

void minimal_store_close(pawl_store *store)
{
}

pawl_code minimal_schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                         pawl_line_fn *line, void *context, pawl_error *error)
{
    return PAWL_OK;
}

pawl_code minimal_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types, pawl_time now,
                              pawl_error *error)
{
    store->epoch = 1;
    minimal_worker_count++;
    return PAWL_OK;
}

pawl_code minimal_worker_close(pawl_store *store, pawl_time now, pawl_error *error)
{
    return PAWL_OK;
}

pawl_code minimal_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                          pawl_error *error)
{
    *is_applied = minimal_is_applied;
    return PAWL_OK;
}

pawl_code minimal_answer(pawl_code code, pawl_error *error)
{
    return code == PAWL_OK ? code : pawl_error_set(error, code, "page 7 is damaged");
}

fixture *minimal_open(const char *url)
{
    static fixture it;
    minimal_is_applied   = false;
    minimal_worker_count = 0;
    it                   = (fixture){.arena = pawl_arena_create(0), .error = PAWL_ERROR_INIT};
    assert_non_null(it.arena);
    assert_int_equal(pawl_store_open(url, NULL, &it.store, &it.error), PAWL_OK);
    return &it;
}

void minimal_close(fixture *it)
{
    pawl_store_close(it->store);
    pawl_arena_destroy(it->arena);
}

static void end_minimal(void *it)
{
    minimal_close(it);
}

fixture *minimal_begin(const char *url)
{
    fixture *it = minimal_open(url);
    test_later(end_minimal, it);
    return it;
}
