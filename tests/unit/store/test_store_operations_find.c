/* test_store_operations_find.c - finding a saga: what a driver is asked for, with which value,
 * and what is refused before it is asked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/lean.h"

#include "pawl/operations.h"

/* ---- A driver that keeps what it is asked ------------------------------- */

static struct {
    unsigned       calls;
    pawl_saga_key  key;
    pawl_value     value;
    pawl_saga_lock lock;
    const void    *table;
} fake;

static pawl_code fake_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    (void)store, (void)changes, (void)refused, (void)error;
    return PAWL_OK;
}

static pawl_code fake_saga_load(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                                const pawl_value *values, size_t count, pawl_saga_lock lock,
                                pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    (void)store, (void)arena;
    assert_int_equal(count, 1);
    fake.calls++;
    fake.table      = table;
    fake.key        = key;
    fake.value      = values[0];
    fake.lock       = lock;
    rows[0].version = 3;
    (void)error;
    return PAWL_OK;
}

static const pawl_store_ops finding_driver = {LEAN_STORE, .scheme = "finding",
                                              .commit = fake_commit, .saga_load = fake_saga_load};

static fixture *f;

static int setup(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    f = lean_open("finding:");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lean_close(f);
    return 0;
}

static void expect_refused(pawl_code answer, const char *text)
{
    assert_string_equal(f->error.text, text);
    assert_int_equal(answer, PAWL_EINVAL);
    assert_int_equal(fake.calls, 0);
}

/* ---- Tests -------------------------------------------------------------- */

static const pawl_saga_table table = {
    .type         = PAWL_TEXT_INIT("Order"),
    .name         = PAWL_TEXT_INIT("t_order"),
    .main         = {.property = PAWL_TEXT_INIT("Ref"), .type = PAWL_VALUE_TEXT},
    .transitional = {.property = PAWL_TEXT_INIT("Number"), .type = PAWL_VALUE_INT}};

static pawl_saga_table table_with(pawl_value_type main, pawl_value_type transitional)
{
    pawl_saga_table changed   = table;
    changed.main.type         = main;
    changed.transitional.type = transitional;
    return changed;
}

static pawl_code find(const pawl_saga_table *in, int key, pawl_value value, pawl_saga_row *row)
{
    return pawl_store_saga_find(f->store, in, (pawl_saga_key)key, value, f->arena, row, &f->error);
}

static pawl_code find_by(const pawl_saga_table *in, const char *property)
{
    pawl_saga_row row;
    return pawl_store_saga_find_by(f->store, in, pawl_text_of(property),
                                   pawl_value_text(PAWL_TEXT("17")), f->arena, &row, &f->error);
}

static void s16_a_saga_is_found_by_each_key(void)
{
    static const struct {
        pawl_saga_key   key;
        const char     *text; /* the value, which becomes one of the column's type */
        pawl_value_type type;
        const char     *property;
    } cases[] = {{PAWL_SAGA_BY_ID, "01234567-89ab-cdef-0123-456789abcdef", PAWL_VALUE_UUID, NULL},
                 {PAWL_SAGA_BY_MAIN, "17", PAWL_VALUE_TEXT, "Ref"},
                 {PAWL_SAGA_BY_TRANSITIONAL, "17", PAWL_VALUE_INT, "Number"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        pawl_saga_row row;
        assert_int_equal(
            find(&table, (int)cases[i].key, pawl_value_text(pawl_text_of(cases[i].text)), &row),
            PAWL_OK);
        assert_int_equal(row.version, 3);
        assert_ptr_equal(fake.table, &table);
        assert_int_equal(fake.key, cases[i].key);
        assert_int_equal(fake.value.type, cases[i].type);
        assert_int_equal(fake.lock, PAWL_SAGA_UNLOCKED);
        if (cases[i].property != NULL) {
            assert_int_equal(find_by(&table, cases[i].property), PAWL_OK);
            assert_int_equal(fake.key, cases[i].key);
            assert_int_equal(fake.value.type, cases[i].type);
        }
    }
}

/* S17, S18, S19, D19: nothing is asked of the store. */
static void s18_a_key_that_cannot_be_is_refused(void)
{
    static char           long_text[201];
    const pawl_value      text      = pawl_value_text(PAWL_TEXT("17"));
    const pawl_saga_table none      = table_with(PAWL_VALUE_NONE, PAWL_VALUE_NONE);
    const pawl_saga_table main_only = table_with(PAWL_VALUE_TEXT, PAWL_VALUE_NONE);
    memset(long_text, 'x', sizeof long_text);
    const struct {
        const pawl_saga_table *table;
        int                    key;
        pawl_value             value;
        const char            *text;
    } cases[] = {
        {NULL, PAWL_SAGA_BY_ID, text, "the saga table is NULL"},
        {&table, PAWL_SAGA_BY_TRANSITIONAL + 1, text, "saga 'Order': key 3 is unknown"},
        {&table, -1, text, "saga 'Order': key -1 is unknown"},
        {&table,
         PAWL_SAGA_BY_MAIN,
         {.type = PAWL_VALUE_NONE},
         "saga 'Order': property 'Ref': the value to find it by is null"},
        {&table, PAWL_SAGA_BY_TRANSITIONAL, pawl_value_text(PAWL_TEXT("x")),
         "saga 'Order': property 'Number': text 'x' cannot become integer of 64 bits"},
        {&table, PAWL_SAGA_BY_MAIN, pawl_value_text((pawl_text){.data = long_text, .size = 201}),
         "saga 'Order': property 'Ref': text of 201 characters, the limit is 200"},
        {&none, PAWL_SAGA_BY_MAIN, text,
         "saga 'Order' cannot be found by a main correlation property: it has no correlation "
         "property and is found by its id"},
        {&main_only, PAWL_SAGA_BY_TRANSITIONAL, text,
         "saga 'Order' cannot be found by a transitional correlation property: its correlation "
         "property is 'Ref'"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        pawl_saga_row row = {.version = 7};
        expect_refused(find(cases[i].table, cases[i].key, cases[i].value, &row), cases[i].text);
        assert_int_equal(row.version, 0);
    }
}

static void s19_a_property_that_is_no_key_is_refused(void)
{
    pawl_saga_row   row       = {.version = 7};
    pawl_saga_table none      = table_with(PAWL_VALUE_NONE, PAWL_VALUE_NONE);
    pawl_saga_table main_only = table_with(PAWL_VALUE_TEXT, PAWL_VALUE_NONE);
    expect_refused(
        find_by(&table, "Name"),
        "saga 'Order' cannot be found by property 'Name': its correlation properties are "
        "'Ref' and 'Number'");
    expect_refused(find_by(&main_only, "Number"),
                   "saga 'Order' cannot be found by property 'Number': its correlation property is "
                   "'Ref'");
    expect_refused(find_by(&none, "Ref"),
                   "saga 'Order' cannot be found by property 'Ref': it has no "
                   "correlation property and is found by its id");
    none.main.property = none.transitional.property = (pawl_text){0};
    expect_refused(find_by(&none, ""), "saga 'Order' cannot be found by property '': it has no "
                                       "correlation property and is found by its id");
    main_only.transitional.property = (pawl_text){0};
    expect_refused(find_by(&main_only, ""), "saga 'Order' cannot be found by property '': its "
                                            "correlation property is 'Ref'");
    expect_refused(find_by(NULL, "Ref"), "the saga table is NULL");
    expect_refused(pawl_store_saga_find_by(f->store, NULL, PAWL_TEXT("Ref"),
                                           pawl_value_text(PAWL_TEXT("r")), f->arena, &row,
                                           &f->error),
                   "the saga table is NULL");
    assert_int_equal(row.version, 0);
}

const pawl_store_ops *const tests_drivers[] = {&finding_driver, NULL};

#define CASE(name) TEST_BETWEEN(name, setup, teardown)
const struct CMUnitTest tests[] = {
    CASE(s16_a_saga_is_found_by_each_key),
    CASE(s18_a_key_that_cannot_be_is_refused),
    CASE(s19_a_property_that_is_no_key_is_refused),
    {.name = NULL},
};
