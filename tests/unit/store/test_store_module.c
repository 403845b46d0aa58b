/* test_store_module.c - the folders in which modules are found, and loading one:
 * src/store/core/module.h. Modules of an installation are in tests/system/install.sh.
 *
 * The modules are those of tests/support/driver, under the names of modules in a folder
 * that PAWL_DRIVER_PATH names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/module.h"

#include "pawl/store_driver.h"
#include "support/tests.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#define CASE(name) TESTS(name, void **state, cmocka_unit_test_setup_teardown(name, make, clean))

/* The library's own look at a file, which the program takes the place of. */
static char   looks[12][PAWL__OBJECT_PATH_SIZE];
static size_t look_count;

PAWL_API int access(const char *path, int mode)
{
    if (look_count < COUNT(looks))
        snprintf(looks[look_count++], sizeof looks[0], "%s", path);
    return faccessat(AT_FDCWD, path, mode, 0);
}

typedef struct folders {
    char  build[PAWL__OBJECT_PATH_SIZE]; /* folder of the library */
    char  given[30]; /* has tiny, older, nameless, and a bench and an other that are none */
    char *before;    /* PAWL_DRIVER_PATH */
} folders;

static void put(const folders *f, const char *driver, const char *name)
{
    const char *from = test_text("%s/tests/support/driver/%s.so", f->build, driver);
    assert_int_equal(symlink(from, test_text("%s/libpawl-%s.so", f->given, name)), 0);
}

static void set_path(const char *before, const folders *f)
{
    setenv("PAWL_DRIVER_PATH", test_text("%s%s", before, f->given), 1);
}

static int make(void **state)
{
    static folders f;
    const char    *build = getenv("PAWL_BUILD_DIR");
    const char    *path  = getenv("PAWL_DRIVER_PATH");
    assert_non_null(realpath(build != NULL ? build : ".", f.build));
    strcpy(f.given, "/tmp/pawl-module-XXXXXX");
    assert_non_null(mkdtemp(f.given));
    put(&f, "tiny", "tiny");
    put(&f, "older", "older");
    put(&f, "nameless", "nameless");
    put(&f, "tiny", "bench");
    put(&f, "tiny", "other");
    f.before = path != NULL ? strdup(path) : NULL;
    set_path("", &f);
    *state = &f;
    return 0;
}

static int clean(void **state)
{
    static const char *const names[] = {"tiny", "older", "nameless", "bench", "other"};
    folders                 *f       = *state;
    for (size_t i = 0; i < COUNT(names); i++)
        unlink(test_text("%s/libpawl-%s.so", f->given, names[i]));
    rmdir(f->given);
    if (f->before != NULL)
        setenv("PAWL_DRIVER_PATH", f->before, 1);
    free(f->before);
    return 0;
}

static void expect_found(const char *name, const char *folder)
{
    char path[PAWL__OBJECT_PATH_SIZE];
    assert_true(pawl__module_find(name, path));
    assert_string_equal(path, test_text("%s/libpawl-%s.so", folder, name));
}

/* ---- Finding -------------------------------------------------------------- */

CASE(what_lies_beside_the_library_comes_before_the_variable)
{
    const folders *f = *state;
    expect_found("bench", f->build);
    expect_found("tiny", f->given);
}

CASE(each_folder_of_the_variable_is_looked_into)
{
    const folders *f = *state;
    set_path("::/nonexistent:/proc/self:", f);
    expect_found("tiny", f->given);
    char path[PAWL__OBJECT_PATH_SIZE];
    assert_false(pawl__module_find("missing", path));
    unsetenv("PAWL_DRIVER_PATH");
    assert_false(pawl__module_find("tiny", path));
}

CASE(a_path_over_the_limit_is_passed_over)
{
    const folders *f = *state;
    static char    slashes[PAWL__OBJECT_PATH_SIZE + 100]; /* names the folder, and is too long */
    char           path[PAWL__OBJECT_PATH_SIZE];
    memset(slashes, '/', sizeof slashes - 50);
    strcat(slashes, f->given + 1);
    setenv("PAWL_DRIVER_PATH", slashes, 1);
    assert_false(pawl__module_find("tiny", path));
}

static void expect_look(size_t index, const char *folder)
{
    const char *path = test_text("%s/libpawl-missing.so", folder);
    assert_in_range(index, 0, look_count - 1);
    assert_string_equal(looks[index], path);
}

/* An empty one is not the root, and a repeated one is looked into again. */
CASE(the_folders_are_looked_into_in_their_order)
{
    const folders *f = *state;
    char           path[PAWL__OBJECT_PATH_SIZE];
    setenv("PAWL_DRIVER_PATH", "::/first::/second:/first:", 1);
    look_count = 0;
    assert_false(pawl__module_find("missing", path));
    const char *beside = test_text("%s/pawl/%u", f->build, PAWL_ABI);
    expect_look(0, f->build);
    expect_look(1, beside);
    size_t given = strcmp(looks[2], "/first/libpawl-missing.so") == 0 ? 2 : 3;
    expect_look(given, "/first"); /* behind the folder that the library was built for */
    expect_look(given + 1, "/second");
    expect_look(given + 2, "/first");
    assert_int_equal(look_count, given + 3);
}

/* "/xxx/libpawl-missing.so" of so many bytes. */
static size_t looks_for_a_path_of(size_t size)
{
    static char folder[PAWL__OBJECT_PATH_SIZE + 100];
    char        path[PAWL__OBJECT_PATH_SIZE];
    memset(folder, 'x', sizeof folder);
    folder[0]                                    = '/';
    folder[size - strlen("/libpawl-missing.so")] = '\0';
    setenv("PAWL_DRIVER_PATH", folder, 1);
    look_count = 0;
    assert_false(pawl__module_find("missing", path));
    return look_count;
}

CASE(a_path_has_4095_bytes_at_most)
{
    (void)state;
    size_t others = looks_for_a_path_of(4096);
    assert_int_equal(looks_for_a_path_of(4095), others + 1);
    assert_int_equal(strlen(looks[others]), 4095);
}

CASE(the_folders_are_named_in_their_order)
{
    const folders *f = *state;
    char           text[500];
    const char    *beginning =
        test_text("looked for libpawl-x.so in %s, %s/pawl/%u, /", f->build, f->build, PAWL_ABI);
    setenv("PAWL_DRIVER_PATH", "::/first::/second:", 1);
    assert_memory_equal(pawl__module_searched("x", text, sizeof text), beginning,
                        strlen(beginning));
    const char *end = strstr(text, " and PAWL_DRIVER_PATH (");
    assert_non_null(end);
    assert_string_equal(end, " and PAWL_DRIVER_PATH (/first, /second)");
    unsetenv("PAWL_DRIVER_PATH");
    pawl__module_searched("x", text, sizeof text);
    assert_string_equal(strstr(text, " and "), " and PAWL_DRIVER_PATH (not set)");
    setenv("PAWL_DRIVER_PATH", "", 1);
    pawl__module_searched("x", text, sizeof text);
    assert_string_equal(strstr(text, " and "), " and PAWL_DRIVER_PATH (not set)");
    /* A text that has no room is cut. */
    assert_string_equal(pawl__module_searched("x", text, 12), "looked for ");
}

/* ---- Loading -------------------------------------------------------------- */

/* The first test: no module is loaded yet. A refused module is not loaded any more, and not again
 * at each open. */
CASE(a_driver_of_another_scheme_is_refused)
{
    const folders *f     = *state;
    pawl_store    *store = NULL;
    pawl_error     error = PAWL_ERROR_INIT;
    const char    *path  = test_text("%s/libpawl-other.so", f->given);
    const char    *said  = test_text("%s: it is the driver of 'tiny', not of 'other'", path);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pawl_store_open("other:x", NULL, &store, &error), PAWL_ECONFIG);
        if (strstr(error.text, said) == NULL)
            fail_msg("'%s' lacks '%s'", error.text, said);
        assert_null(dlopen(path, RTLD_NOW | RTLD_NOLOAD));
    }
    assert_int_equal(pawl_store_open("tiny:x", NULL, &store, &error), PAWL_OK);
    pawl_store_close(store);
}

static pawl_code load(const char *name, const char *symbol, const void **table, pawl_error *error)
{
    *table = NULL;
    return pawl__module_load(name, "trying", symbol, sizeof(pawl_store_ops), table, error);
}

static void expect_refused(const char *name, const char *symbol, pawl_code expected,
                           const char *part)
{
    pawl_error  error = PAWL_ERROR_INIT;
    const void *table;
    assert_int_equal(load(name, symbol, &table, &error), expected);
    assert_null(table);
    if (strstr(error.text, part) == NULL)
        fail_msg("'%s' lacks '%s'", error.text, part);
}

CASE(the_table_of_a_module_is_found)
{
    (void)state;
    const void *table;
    assert_int_equal(load("tiny", PAWL_STORE_DRIVER_SYMBOL, &table, NULL), PAWL_OK);
    assert_string_equal(((const pawl_store_ops *)table)->scheme, "tiny");
}

CASE(what_is_no_module_is_refused)
{
    (void)state;
    expect_refused(
        "missing", PAWL_STORE_DRIVER_SYMBOL, PAWL_EUNREACHABLE,
        "no module for trying: pawl has none of that name, but memory, sqlite, postgres, mysql, "
        "mariadb, odbc, mssql, oracle, mongodb, and for routes amqp; looked for "
        "libpawl-missing.so in /");
    expect_refused("nameless", PAWL_STORE_DRIVER_SYMBOL, PAWL_ECONFIG,
                   "libpawl-nameless.so has no symbol pawl_store_driver");
    expect_refused("older", PAWL_STORE_DRIVER_SYMBOL, PAWL_ECONFIG,
                   "libpawl-older.so was built for another pawl: its table pawl_store_driver "
                   "has 8 bytes, at least ");
}
