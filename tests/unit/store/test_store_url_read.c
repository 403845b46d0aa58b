/* test_store_url_read.c - URLs of a driver's table of options, taken apart: the forms that an option may
 * have, and what is refused in which words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>

#include "store/core/url_read.h"
#include "support/tests.h"

typedef struct settings {
    const char *title, *key, *file;
    int         seconds, any, mode;
} settings;

static const char *const      modes[]   = {"off", "on", NULL};
static const pawl__url_option options[] = {
    {"any", PAWL__URL_NUMBER, offsetof(settings, any), "a number", .min = INT_MIN, .max = INT_MAX},
    {"file-name", PAWL__URL_PATH, offsetof(settings, file), .allowed = "a path"},
    {"key", PAWL__URL_FILLED, offsetof(settings, key), .allowed = "a text"},
    {"mode", PAWL__URL_WORD, offsetof(settings, mode), "off or on", .words = modes},
    {"seconds", PAWL__URL_NUMBER, offsetof(settings, seconds), "1 to 60", .min = 1, .max = 60},
    {"title", PAWL__URL_TEXT, offsetof(settings, title), .allowed = "any"},
};
static const pawl__url_kind kind = {.driver             = "db",
                                    .options            = options,
                                    .option_count       = COUNT(options),
                                    .schemes            = "db:// or dbs://",
                                    .port               = 1521,
                                    .database_chars_max = 3};

static settings read_options(const char *text)
{
    static char copy[200];
    settings    own   = {.seconds = 7, .mode = -1};
    pawl_error  error = PAWL_ERROR_INIT;
    snprintf(copy, sizeof copy, "%s", text);
    if (pawl__url_options(&kind, NULL, copy, &own, &error) != PAWL_OK)
        fail_msg("%s: %s", text, error.text);
    return own;
}

TEST(an_option_sets_its_member)
{
    settings own = read_options("");
    assert_int_equal(own.seconds, 7); /* stays */
    assert_int_equal(own.mode, -1);
    assert_null(own.title);
    own = read_options("seconds=60&mode=on&title=a%26b%3D&&file_name=/a&key=k&any=-2147483648");
    assert_int_equal(own.seconds, 60);
    assert_int_equal(own.mode, 1);
    assert_string_equal(own.title, "a&b=");
    assert_string_equal(own.file, "/a");
    assert_string_equal(own.key, "k");
    assert_int_equal(own.any, INT_MIN);
    own = read_options("mode=off&seconds=1&seconds=2&title=");
    assert_int_equal(own.mode, 0);
    assert_int_equal(own.seconds, 2);
    assert_string_equal(own.title, "");
    must(pawl__url_options(&kind, NULL, NULL, &own, world_error()));
}

static void refused(const char *text, const char *given, pawl_code code, const char *words)
{
    char     copy[200];
    settings own = {.seconds = 7, .mode = -1};
    snprintf(copy, sizeof copy, "%s", text);
    must_fail(pawl__url_options(&kind, given, copy, &own, world_error()), code, words);
    assert_int_equal(own.seconds, 7);
    assert_int_equal(own.mode, -1);
}

TEST(a_value_that_may_not_be_is_said)
{
    refused("seconds=0", NULL, PAWL_ECONFIG, "db: seconds is '0', may be 1 to 60");
    refused("seconds=61", NULL, PAWL_ECONFIG, "db: seconds is '61', may be 1 to 60");
    refused("seconds=", NULL, PAWL_ECONFIG, "db: seconds is '', may be 1 to 60");
    refused("seconds=1s", NULL, PAWL_ECONFIG, "db: seconds is '1s', may be 1 to 60");
    refused("any=99999999999999999999", NULL, PAWL_ECONFIG,
            "db: any is '99999999999999999999', may be a number");
    refused("any=4294967297", NULL, PAWL_ECONFIG, "db: any is '4294967297', may be a number");
    refused("mode=onn", NULL, PAWL_ECONFIG, "db: mode is 'onn', may be off or on");
    refused("mode=", NULL, PAWL_ECONFIG, "db: mode is '', may be off or on");
    refused("key=", NULL, PAWL_ECONFIG, "db: key is '', may be a text");
    refused("file_name=a", NULL, PAWL_ECONFIG, "db: file-name is 'a', may be a path");
    refused("title", NULL, PAWL_ECONFIG, "db: option 'title' has no value that can be read");
    refused("title=%4", NULL, PAWL_ECONFIG, "db: option 'title' has no value that can be read");
    refused("title=%00", NULL, PAWL_ECONFIG, "db: option 'title' has no value that can be read");
}

/* A name with a character that no option has may be a part of a password, where there may be one. */
TEST(d35_an_unknown_option_is_named)
{
    refused("x=1", "db://h/d", PAWL_ECONFIG,
            "db: unknown option 'x', known: any, file-name, key, mode, seconds, title");
    refused("x:y=1", NULL, PAWL_ECONFIG,
            "db: unknown option 'x:y', known: any, file-name, key, mode, seconds, title");
    refused("x:y=1", "db://h/d", PAWL_EINVAL,
            "db: db://h/d: an option's name has a character that no option has; '?' in a password "
            "must be written as %3F");
}

TEST(a_whole_url_is_read)
{
    pawl__url parts;
    settings  own = {0};
    must(pawl__url_read(&kind, "db://a:b@h,[::1]:9/d%26?seconds=3", &parts, &own, world_error()));
    assert_string_equal(parts.user, "a");
    assert_string_equal(parts.password, "b");
    assert_int_equal(parts.host_count, 2);
    assert_string_equal(parts.hosts[0].name, "h");
    assert_int_equal(parts.hosts[0].port, 1521);
    assert_string_equal(parts.hosts[1].name, "::1");
    assert_int_equal(parts.hosts[1].port, 9);
    assert_string_equal(parts.database, "d&");
    assert_string_equal(parts.given, "db://a:***@h,[::1]:9/d%26?seconds=3");
    assert_int_equal(own.seconds, 3);
    pawl__url_free(&parts);
    must_fail(pawl__url_read(&kind, "db:x", &parts, &own, world_error()), PAWL_EINVAL,
              "db: db:x: the URL does not begin with db:// or dbs://");
    pawl__url_free(&parts);
    must_fail(pawl__url_read(&kind, "db://h", &parts, &own, world_error()), PAWL_EINVAL,
              "db: db://h: no database is named: db://host/database");
    pawl__url_free(&parts);
    must_fail(pawl__url_read(&kind, "db://h/1234567890123", &parts, &own, world_error()),
              PAWL_EINVAL,
              "db: db://h/1234567890123: the database's name cannot be read "
              "(3 characters at most)");
    pawl__url_free(&parts);
}

/* An error text has to hold more than the URL. */
TEST(a_long_url_is_cut_where_it_is_shown)
{
    char url[300] = "db://h/";
    memset(url + 7, 'x', sizeof url - 8);
    char *given = pawl__url_given(url);
    assert_int_equal(strlen(given), 240);
    assert_string_equal(given + 235, "xx...");
    pawl_free(given);
    url[240] = '\0';
    given    = pawl__url_given(url);
    assert_string_equal(given, url);
    pawl_free(given);
}
