/* test_store_load.c - driver modules by their path: pawl_store_load, and the same of transports.
 *
 * The modules are those of tests/support/driver, built beside the tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/driver.h"
#include "support/tests.h"

#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[2000];

static const char *path_of(const char *name)
{
    static char path[2200];
    snprintf(path, sizeof path, "%s/%s.so", folder, name);
    return path;
}

static void expect_refused(const char *path, pawl_code expected, const char *part)
{
    pawl_error error = PAWL_ERROR_INIT;
    assert_int_equal(pawl_store_load(path, &error), expected);
    assert_int_equal(error.code, expected);
    if (strstr(error.text, part) == NULL)
        fail_msg("'%s' lacks '%s'", error.text, part);
}

TEST(what_is_no_driver_is_refused)
{
    const char *missing = test_text("%s", path_of("missing"));
    expect_refused(NULL, PAWL_EINVAL, "is empty");
    expect_refused("", PAWL_EINVAL, "is empty");
    expect_refused(missing, PAWL_EUNREACHABLE, missing);
    expect_refused(path_of("nameless"), PAWL_ECONFIG, "has no symbol pawl_store_driver");
    expect_refused(path_of("older"), PAWL_ECONFIG, "built for another pawl");
    expect_refused(path_of("taken"), PAWL_EDUPLICATE, "driver 'memory': the scheme is taken");
    pawl_store *store = NULL;
    assert_int_equal(pawl_store_open("memory:load", NULL, &store, NULL), PAWL_OK);
    pawl_store_close(store);
    assert_int_equal(pawl_store_open("older:x", NULL, &store, NULL), PAWL_EUNREACHABLE);
}

static void expect_outbound_refused(const char *path, pawl_code expected, const char *part)
{
    pawl_error error = PAWL_ERROR_INIT;
    assert_int_equal(pawl_transport_load(path, &error), expected);
    if (strstr(error.text, part) == NULL)
        fail_msg("'%s' lacks '%s'", error.text, part);
}

/* Its bytes are asked of the loader before any is read. */
TEST(what_is_no_table_is_refused)
{
    expect_refused(path_of("code"), PAWL_ECONFIG,
                   "code.so: its symbol pawl_store_driver is not data");
    expect_outbound_refused(path_of("code"), PAWL_ECONFIG,
                            "code.so: its symbol pawl_transport_driver is not data");
#ifndef PAWL_SANITIZED /* the address sanitizer makes variables larger, and reports who reads that */
    expect_refused(
        path_of("byte"), PAWL_ECONFIG,
        test_text("byte.so was built for another pawl: its table pawl_store_driver has 1 bytes, at "
                  "least %zu are needed",
                  offsetof(pawl_store_ops, queue_claim)));
    expect_outbound_refused(path_of("byte"), PAWL_ECONFIG, "pawl_transport_driver has 1 bytes");
    const char *wanted = test_text("liar.so was built for another pawl: its table "
                                   "pawl_transport_driver has 8 bytes, at least %zu are needed",
                                   sizeof(pawl_transport_ops));
    expect_refused(path_of("liar"), PAWL_ECONFIG, "pawl_store_driver has 8 bytes, at least");
    expect_outbound_refused(path_of("liar"), PAWL_ECONFIG, wanted);
#endif
    expect_refused(path_of("older"), PAWL_ECONFIG, "pawl_store_driver has 8 bytes, at least");
}

/* Opening a pipe would wait for its writer, for ever: the alarm ends the test then. */
TEST(what_is_no_file_is_refused)
{
    char pipe[] = "/tmp/pawl-pipe-XXXXXX";
    assert_non_null(mkdtemp(pipe));
    expect_refused(pipe, PAWL_EUNREACHABLE, "is a folder, where a shared object is expected");
    assert_int_equal(rmdir(pipe), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    alarm(20);
    expect_refused(pipe, PAWL_EUNREACHABLE, "is a named pipe, where a shared object is expected");
    expect_outbound_refused(pipe, PAWL_EUNREACHABLE, "is a named pipe");
    alarm(0);
    assert_int_equal(unlink(pipe), 0);
    expect_refused("/dev/null", PAWL_EUNREACHABLE, "/dev/null is not a file");
}

static void expect_bytes_refused(const char *bytes, size_t size, const char *part)
{
    char path[] = "/tmp/pawl-cut-XXXXXX";
    int  file   = mkstemp(path);
    assert_int_equal(write(file, bytes, size), size);
    close(file);
    expect_refused(path, PAWL_EUNREACHABLE, part);
    assert_int_equal(unlink(path), 0);
}

/* The first bytes of a driver. The loader would end the process by SIGBUS. */
TEST(a_file_that_is_cut_off_is_refused)
{
    static char bytes[1 << 20];
    FILE       *file = fopen(path_of("tiny"), "rb");
    size_t      size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    expect_bytes_refused(bytes, 1000, "is cut off: its 1000 bytes end before its section headers");
    expect_bytes_refused(bytes, size - 1, "is cut off");
    expect_bytes_refused(bytes, sizeof(ElfW(Ehdr)), "is cut off");
    expect_bytes_refused(bytes, sizeof(ElfW(Ehdr)) - 1, "file too short");
    memset(bytes, 'x', 100);
    expect_bytes_refused(bytes, 100, "invalid ELF header");
}

TEST(a_path_over_the_limit_is_refused)
{
    static char path[5000];
    memset(path, 'x', sizeof path - 1);
    expect_refused(path, PAWL_ELIMIT, "4999 bytes, the limit is 4095");
}

TEST(a_loaded_driver_opens_stores)
{
    pawl_store *store = NULL;
    assert_int_equal(pawl_store_open("tiny:x", NULL, &store, world_error()), PAWL_EUNREACHABLE);
    for (int i = 0; i < 2; i++) /* the second time changes nothing */
        must(pawl_store_load(path_of("tiny"), world_error()));
    must(pawl_store_open("tiny:x", NULL, &store, world_error()));
    assert_string_equal(store->ops->scheme, "tiny");
    pawl_changes changes = {0};
    must(pawl_store_commit(store, &changes, NULL, world_error()));
    pawl_store_close(store);
    must_fail(pawl_store_open("tiny:closed", NULL, &store, world_error()), PAWL_EUNREACHABLE,
              "tiny: it is closed");
}

TEST(a_module_may_carry_messages_as_well)
{
    const pawl_inbound_ops *inbound = NULL;
    pawl_error              error   = PAWL_ERROR_INIT;
    assert_int_equal(pawl_inbound_find("tiny:x", &inbound, &error), PAWL_ECONFIG);
    for (int i = 0; i < 2; i++) { /* the second time changes nothing */
        must(pawl_inbound_load(path_of("tiny"), world_error()));
        must(pawl_transport_load(path_of("tiny"), world_error()));
    }
    must(pawl_inbound_find("tiny:x", &inbound, world_error()));
    assert_string_equal(inbound->scheme, "tiny");
    assert_string_equal(pawl_transport_find("tiny:x")->scheme, "tiny");
    must(pawl_transport_load(path_of("deaf"), world_error()));
    assert_string_equal(pawl_transport_find("deaf:x")->scheme, "deaf");
}

static void expect_inbound_refused(const char *path, pawl_code expected, const char *part)
{
    pawl_error error = PAWL_ERROR_INIT;
    assert_int_equal(pawl_inbound_load(path, &error), expected);
    if (strstr(error.text, part) == NULL)
        fail_msg("'%s' lacks '%s'", error.text, part);
}

TEST(an_inbound_module_that_is_none_is_refused)
{
    static char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    expect_inbound_refused(NULL, PAWL_EINVAL, "the path of the inbound transport to load is empty");
    expect_inbound_refused("", PAWL_EINVAL, "is empty");
    expect_inbound_refused(
        longest, PAWL_ELIMIT,
        "path of the inbound transport to load has 4999 bytes, the limit is 4095");
    expect_inbound_refused(path_of("missing"), PAWL_EUNREACHABLE, "load of an inbound transport: ");
    expect_inbound_refused(path_of("nameless"), PAWL_ECONFIG, "has no symbol pawl_inbound_driver");
    expect_inbound_refused(path_of("deaf"), PAWL_ECONFIG,
                           "deaf.so: inbound transport 'deaf': open, close, take, settle, leave "
                           "and an inbound_size of at least ");
}

/* "driver.so" is a file here, not one of the system's folders. */
TEST(a_bare_name_is_a_file_of_this_folder)
{
    assert_int_equal(chdir(folder), 0);
    must(pawl_store_load("tiny.so", world_error()));
    must(pawl_inbound_load("tiny.so", world_error()));
    expect_refused("libc.so.6", PAWL_EUNREACHABLE, "./libc.so.6");
}

int main(void)
{
    const char *build = getenv("PAWL_BUILD_DIR");
    if (build == NULL) {
        print_error("PAWL_BUILD_DIR is not set\n");
        return 1;
    }
    snprintf(folder, sizeof folder, "%s/tests/support/driver", build);
    return tests_run(NULL, NULL);
}
