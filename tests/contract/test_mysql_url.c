/* test_mysql_url.c - URLs of MySQL and MariaDB, taken apart without a server: defaults, several hosts,
 * options, and no error text that holds a password.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store.h"
#include "store/mysql/url.h"
#include "support/fault_memory.h"
#include "support/tests.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static pawl_code (*url_read)(pawl__mysql_url *url, const char *text, unsigned long library,
                             pawl_error *error);
static unsigned long library = 30320;
static void (*url_free)(pawl__mysql_url *url);

static int load(void **state)
{
    void *module        = test_module("mysql");
    *(void **)&url_read = test_symbol(module, "pawl__mysql_url_read");
    *(void **)&url_free = test_symbol(module, "pawl__mysql_url_free");
    return 0;
}

static pawl__mysql_url take(const char *text)
{
    pawl__mysql_url url;
    pawl_error      error = PAWL_ERROR_INIT;
    if (url_read(&url, text, library, &error) != PAWL_OK)
        fail_msg("%s: %s", text, error.text);
    return url;
}

/* Refused with this code and these words; "secret" is in no text. */
static void refused(const char *text, pawl_code code, const char *words)
{
    pawl__mysql_url url;
    pawl_error      error = PAWL_ERROR_INIT;
    pawl_code       found = url_read(&url, text, library, &error);
    if (found != code || strstr(error.text, words) == NULL || strstr(error.text, "secret") != NULL)
        fail_msg("%s: %s, '%s', expected %s, '%s'", text, pawl_code_name(found), error.text,
                 pawl_code_name(code), words);
    url_free(&url);
}

TEST(a_short_url_has_defaults)
{
    pawl__mysql_url url = take("mysql://db/shop");
    assert_null(url.parts.user);
    assert_null(url.parts.password);
    assert_null(url.socket);
    assert_null(url.application_name);
    assert_string_equal(url.parts.database, "shop");
    assert_int_equal(url.parts.host_count, 1);
    assert_string_equal(url.parts.hosts[0].name, "db");
    assert_int_equal(url.parts.hosts[0].port, 3306);
    assert_int_equal(url.connect_timeout_s, 0);
    assert_int_equal(url.tls, PAWL__MYSQL_TLS_PREFERRED);
    for (size_t i = 0; i < pawl__mysql_passed_count; i++)
        assert_null(url.passed[i]);
    assert_false(url.is_pooled);
    url_free(&url);
    assert_null(url.parts.text);
}

TEST(every_part_is_decoded)
{
    pawl__mysql_url url = take(
        "mariadb://caf%C3%A9:a%2Fb%40c%3a%25@db-1.local:3307/my%20shop?application_name=x%26y");
    assert_string_equal(url.parts.user, "caf\xC3\xA9");
    assert_string_equal(url.parts.password, "a/b@c:%");
    assert_string_equal(url.parts.hosts[0].name, "db-1.local");
    assert_int_equal(url.parts.hosts[0].port, 3307);
    assert_string_equal(url.parts.database, "my shop");
    assert_string_equal(url.application_name, "x&y");
    assert_string_equal(url.parts.given, "mariadb://caf%C3%A9:***@db-1.local:3307/my%20shop"
                                         "?application_name=x%26y");
    url_free(&url);
}

TEST(hosts_are_kept_in_their_order)
{
    pawl__mysql_url url = take("mysql://app@db-1,db-2:3307,[::1],[fe80::2]:3308/shop");
    assert_int_equal(url.parts.host_count, 4);
    assert_string_equal(url.parts.hosts[0].name, "db-1");
    assert_int_equal(url.parts.hosts[0].port, 3306);
    assert_string_equal(url.parts.hosts[1].name, "db-2");
    assert_int_equal(url.parts.hosts[1].port, 3307);
    assert_string_equal(url.parts.hosts[2].name, "::1");
    assert_int_equal(url.parts.hosts[2].port, 3306);
    assert_string_equal(url.parts.hosts[3].name, "fe80::2");
    assert_int_equal(url.parts.hosts[3].port, 3308);
    assert_int_equal(url.connect_timeout_s, 10); /* or the second one would never be tried */
    url_free(&url);
    url = take("mysql://db-1,db-2/shop?connect_timeout=3");
    assert_int_equal(url.connect_timeout_s, 3);
    url_free(&url);
}

TEST(options_are_pawls_or_the_librarys)
{
    pawl__mysql_url url =
        take("mysql:///shop?pooler=transaction&create=no&socket=/run/my.sock&"
             "connect-timeout=7&ssl_ca=/a&ssl-cert=/b&ssl-key=/c&tls-version=TLSv1.3&"
             "defaults-file=/d&ssl-capath=/e&ssl-cipher=f&ssl-crl=g&ssl-crlpath=h&ssl-ca=/i");
    assert_true(url.is_pooled);
    assert_string_equal(url.parts.hosts[0].name, "");
    assert_string_equal(url.socket, "/run/my.sock");
    assert_int_equal(url.connect_timeout_s, 7);
    for (size_t i = 0; i < pawl__mysql_passed_count; i++)
        assert_non_null(url.passed[i]);
    assert_string_equal(url.passed[PAWL__MYSQL_SSL_CA], "/i"); /* the last one counts */
    assert_string_equal(url.passed[PAWL__MYSQL_SSL_CERT], "/b");
    assert_string_equal(url.passed[PAWL__MYSQL_SSL_KEY], "/c");
    assert_string_equal(url.passed[PAWL__MYSQL_TLS_VERSION], "TLSv1.3");
    assert_string_equal(url.passed[PAWL__MYSQL_DEFAULTS_FILE], "/d");
    assert_string_equal(url.passed[PAWL__MYSQL_SSL_CAPATH], "/e");
    assert_int_equal(url.tls, PAWL__MYSQL_TLS_VERIFY); /* why else name an authority */
    url_free(&url);
}

TEST(tls_modes_have_the_names_of_mysql)
{
    pawl__mysql_url url = take("mysql://db/shop?ssl-mode=disabled");
    assert_int_equal(url.tls, PAWL__MYSQL_TLS_DISABLED);
    url_free(&url);
    url = take("mysql://db/shop?ssl-mode=required&ssl-ca=/a");
    assert_int_equal(url.tls, PAWL__MYSQL_TLS_REQUIRED);
    url_free(&url);
    url = take("mysql://db/shop?ssl-mode=verify-identity");
    assert_int_equal(url.tls, PAWL__MYSQL_TLS_VERIFY);
    url_free(&url);
    url = take("mysql://db/shop?ssl-mode=preferred&pooler=none");
    assert_int_equal(url.tls, PAWL__MYSQL_TLS_PREFERRED);
    assert_false(url.is_pooled);
    url_free(&url);
}

/* Of a library that verifies some servers alone the others are refused. */
TEST(a_server_that_the_library_would_not_verify_is_refused)
{
    static const char *const verified[] = {
        "mysql://localhost/shop?ssl-ca=/a",
        "mysql://db/shop?ssl-mode=verify-identity&ssl-capath=/a",
        "mysql://127.0.0.1/shop?ssl-mode=required&ssl-ca=/a", "mysql://127.0.0.1/shop",
        "mysql:///shop?ssl-mode=verify-identity&socket=/run/my.sock"};
    library = 30400;
    for (size_t i = 0; i < sizeof verified / sizeof verified[0]; i++) {
        pawl__mysql_url url = take(verified[i]);
        url_free(&url);
    }
    refused("mysql://app:secret@127.0.0.1/shop?ssl-ca=/a", PAWL_ECONFIG,
            "does not verify a server by the address 127.0.0.1: name it 'localhost'");
    refused("mysql://app:secret@db,[::1]/shop?ssl-ca=/a", PAWL_ECONFIG, "by the address ::1");
    refused("mysql://app:secret@db/shop?ssl-mode=verify-identity", PAWL_ECONFIG,
            "only if ssl-ca or ssl-capath names one");
    library                = 30399;
    pawl__mysql_url before = take("mysql://127.0.0.1/shop?ssl-mode=verify-identity");
    url_free(&before);
}

TEST(d35_an_option_that_is_none_is_named)
{
    refused("mysql://db/shop?schema=x", PAWL_ECONFIG,
            "unknown option 'schema', known: application_name, connect_timeout, create, "
            "defaults-file, pooler, socket, ssl-ca,");
    refused("mysql://db/shop?ssl-modes=x", PAWL_ECONFIG, "unknown option 'ssl-modes'");
    refused("mysql://db/shop?pool=x", PAWL_ECONFIG, "unknown option 'pool'");
    refused("mysql://db/shop?pooler", PAWL_ECONFIG, "option 'pooler' has no value");
    refused("mysql://db/shop?application_name=%zz", PAWL_ECONFIG, "option 'application_name'");
    refused("mysql://db/shop?pooler=session", PAWL_ECONFIG,
            "pooler is 'session', may be none or transaction");
    refused("mysql://db/shop?create=yes", PAWL_ECONFIG, "create is 'yes', may be no:");
    refused("mysql://db/shop?connect_timeout=0", PAWL_ECONFIG,
            "connect_timeout is '0', may be 1 to 3600 seconds");
    refused("mysql://db/shop?connect_timeout=3601", PAWL_ECONFIG, "1 to 3600");
    refused("mysql://db/shop?connect_timeout=1s", PAWL_ECONFIG, "connect_timeout is '1s'");
    refused("mysql://db/shop?ssl-mode=verify-ca", PAWL_ECONFIG, "ssl-mode is 'verify-ca', may be");
    refused("mysql://db/shop?ssl-ca=", PAWL_ECONFIG, "ssl-ca is ''");
    refused("mysql://localhost/shop?socket=run", PAWL_ECONFIG, "socket is 'run'");
    refused("mysql://db/shop?socket=/run/s", PAWL_EINVAL, "a socket is on this machine");
    refused("mysql://localhost,db/shop?socket=/run/s", PAWL_EINVAL, "a socket is on this machine");
}

TEST(what_cannot_be_read_shows_no_password)
{
    refused("mysql:shop", PAWL_EINVAL, "does not begin with mysql://");
    refused("mysql://db", PAWL_EINVAL, "no database is named");
    refused("mysql://db/", PAWL_EINVAL, "no database is named");
    refused("mysql://db:0/shop", PAWL_EINVAL, "a port is 1 to 65535");
    refused("mysql://db:65536/shop", PAWL_EINVAL, "a port is 1 to 65535");
    refused("mysql://db:+1/shop", PAWL_EINVAL, "a port is 1 to 65535");
    refused("mysql://db:/shop", PAWL_EINVAL, "a port is 1 to 65535");
    refused("mysql://[::1/shop", PAWL_EINVAL, "a host or its port cannot be read");
    refused("mysql://[::1]1/shop", PAWL_EINVAL, "a host or its port cannot be read");
    refused("mysql://d%00b/shop", PAWL_EINVAL, "a host or its port cannot be read");
    refused("mysql://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q/shop", PAWL_EINVAL, "more than 16 hosts");
    refused("mysql://app:secr/et-secret@db/shop", PAWL_EINVAL, "must be written as %2F");
    refused("mysql://app:1/secret@db/shop", PAWL_EINVAL, "must be written as %2F");
    refused("mysql://app:1?secret@db/shop", PAWL_EINVAL, "no database is named");
    refused("mysql://app:1/x?secret@db/shop", PAWL_EINVAL, "must be written as %3F");
    refused("mysql://app:a@secret@db/shop", PAWL_EINVAL, "must be written as %25, %2F");
    refused("mysql://app:secret%@db/shop", PAWL_EINVAL, "must be written as %25");
    refused("mysql://app:secret%2@db/shop", PAWL_EINVAL, "must be written as %25");
    refused("mysql://app:secret@db/sh%op", PAWL_EINVAL, "the database's name cannot be read");
}

/* Both schemes are masked like any other, whatever the options. */
TEST(a_password_is_masked)
{
    pawl_arena *arena = test_arena();
    assert_string_equal(
        pawl_url_masked("mysql://app:secret@db-1,db-2:3307/shop?ssl-ca=/a&pooler=none", arena).data,
        "mysql://app:***@db-1,db-2:3307/shop?ssl-ca=/a&pooler=none");
    assert_string_equal(
        pawl_url_masked("mariadb://app:secret@[::1]:1/shop?password=secret&ssl-mode=required",
                        arena)
            .data,
        "mariadb://app:***@[::1]:1/shop?password=***&ssl-mode=required");
    assert_null(strstr(pawl_url_masked("mariadb://app:se/secret@db/shop", arena).data, "secret"));
}

TEST(without_memory_nothing_is_left)
{
    pawl__mysql_url url;
    pawl_code       code = PAWL_ENOMEM;
    long            n    = 0;
    for (n = 1; code != PAWL_OK; n++) {
        long before = fault_memory_live();
        fault_memory_begin(n);
        code = url_read(&url, "mysql://app:secret@db-1,db-2/shop?ssl-ca=/a", library, NULL);
        fault_memory_pause();
        assert_true(code == PAWL_OK || (code == PAWL_ENOMEM && fault_memory_was_reached()));
        url_free(&url);
        assert_int_equal(fault_memory_live(), before);
    }
    assert_true(n > 4);
}

static void on_pipe(int number)
{
}

/* In a process in which the library was not used yet. */
static int open_with(void (*given)(int))
{
    struct sigaction found;
    pawl_store      *store = NULL;
    signal(SIGPIPE, given);
    if (pawl_store_open("mysql://root@127.0.0.1:1/x", NULL, &store, NULL) != PAWL_EUNREACHABLE)
        return 1;
    sigaction(SIGPIPE, NULL, &found);
    if (given != SIG_DFL)
        return found.sa_handler == given ? 0 : 2;
    raise(
        SIGPIPE); /* as a write of TLS to a connection that is gone; exec() makes of a function the default */
    return found.sa_handler != SIG_IGN ? 0 : 3;
}

TEST(d37_a_program_keeps_its_handler_of_sigpipe)
{
    void (*const given[])(int) = {on_pipe, SIG_IGN, SIG_DFL};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        int   status = -1;
        pid_t child  = fork();
        if (child == 0)
            _exit(open_with(given[i]));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

int main(void)
{
    fault_memory_install();
    return tests_run(load, NULL);
}
