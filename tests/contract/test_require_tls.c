/* test_require_tls.c - PAWL_REQUIRE_TLS on each driver: a URL that promises less is refused before anything is
 * sent, others go on to the server, of which there is none; and the warning where nobody asks for anything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/odbc_scripted.h"
#include "pawl/store.h"
#include "support/tests.h"

#include <unistd.h>

enum { PLAIN, ENCRYPTED, VERIFIED };

typedef struct row {
    const char *url; /* of a port where nobody listens */
    int         promises;
} row;

static const row rows[] = {
#ifdef PAWL_HAVE_MYSQL
    {"mysql://app@127.0.0.1:1/shop", PLAIN},
    {"mysql://app@127.0.0.1:1/shop?ssl-mode=preferred", PLAIN},
    {"mariadb://app@127.0.0.1:1/shop?ssl-mode=disabled", PLAIN},
    {"mysql://app@127.0.0.1:1/shop?ssl-mode=required", ENCRYPTED},
    {"mysql://app@127.0.0.1:1/shop?ssl-mode=required&ssl-ca=/dev/null", ENCRYPTED},
    {"mysql://app@localhost:1/shop?ssl-ca=/dev/null", VERIFIED},
    {"mariadb://app@localhost:1/shop?ssl-mode=verify-identity&ssl-capath=/dev", VERIFIED},
    {"mysql:///shop?socket=/nowhere/mysql.sock", VERIFIED}, /* does not leave the machine */
#endif
#ifdef PAWL_HAVE_POSTGRES
    {"postgres://app@127.0.0.1:1/shop", PLAIN},
    {"postgres://app@127.0.0.1:1/shop?sslmode=prefer", PLAIN},
    {"postgres://app@127.0.0.1:1/shop?sslmode=allow&schema=a", PLAIN},
    {"postgres://app@/shop?host=/nowhere,127.0.0.1&port=1", PLAIN},
    {"postgres:///shop?hostaddr=127.0.0.1&port=1", PLAIN},
    {"postgres://app@127.0.0.1:1/shop?sslmode=require", ENCRYPTED},
    {"postgres://app@127.0.0.1:1/shop?sslmode=verify-ca&sslrootcert=/dev/null", VERIFIED},
    {"postgres://app@127.0.0.1:1/shop?sslmode=verify-full&sslrootcert=/dev/null", VERIFIED},
    {"postgres:///shop?host=/nowhere", VERIFIED},
    {"postgres:///shop?host=/nowhere&hostaddr=127.0.0.1&port=1", PLAIN},
    {"postgres:///shop?service=plain", PLAIN}, /* of the service file: make_services */
    {"postgres:///shop?service=plain&sslmode=require", ENCRYPTED},
    {"postgres:///?service=verified", VERIFIED},
    {"postgres://app@127.0.0.1:1/shop?service=verified", VERIFIED},
    {"postgres://app@127.0.0.1:1/shop?service=verified&sslmode=prefer", PLAIN},
    {"postgres:///shop?service=socket", VERIFIED},
#endif
#ifdef PAWL_HAVE_MONGOC
    {"mongodb://127.0.0.1:1/shop?serverSelectionTimeoutMS=50", PLAIN},
    {"mongodb://127.0.0.1:1/shop?serverSelectionTimeoutMS=50&tls=false", PLAIN},
    {"mongodb://127.0.0.1:1/shop?serverSelectionTimeoutMS=50&tls=true&tlsInsecure=true", ENCRYPTED},
    {"mongodb://127.0.0.1:1/shop?serverSelectionTimeoutMS=50&tls=true&"
     "tlsAllowInvalidHostnames=true",
     ENCRYPTED},
    {"mongodb://127.0.0.1:1/shop?serverSelectionTimeoutMS=50&tls=true", VERIFIED},
#endif
    {"memory:require_tls", VERIFIED},
};

/* A service file of libpq has what a URL leaves out. */
static void make_services(char *path, size_t size)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/pawl_services_%ld", folder != NULL ? folder : "/tmp", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("[plain]\nhost=127.0.0.1\nport=1\n[socket]\nhost=/nowhere\n[quiet]\nsslmode=disable\n"
          "[verified]\nhost=127.0.0.1\nport=1\nsslmode=verify-full\nsslrootcert=/dev/null\n",
          file);
    assert_int_equal(fclose(file), 0);
    setenv("PGSERVICEFILE", path, 1);
}

static void drop_services(const char *path)
{
    unsetenv("PGSERVICEFILE");
    (void)unlink(path);
}

static pawl_code open_at(const char *url, pawl_error *error)
{
    pawl_store        *store;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.deadline           = PAWL_MILLISECONDS(2000);
    pawl_code code             = pawl_store_open(url, &options, &store, error);
    pawl_store_close(store);
    return code;
}

TEST(less_than_is_required_is_refused_before_anything_is_sent)
{
    static const char *const words[] = {"no", "yes", "verify"};
    char                     services[300];
    make_services(services, sizeof services);
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int required = PLAIN; required <= VERIFIED; required++) {
            pawl_error error      = PAWL_ERROR_INIT;
            bool       is_refused = rows[i].promises < required;
            setenv("PAWL_REQUIRE_TLS", words[required], 1);
            pawl_code code = open_at(rows[i].url, &error);
            if ((code == PAWL_ECONFIG) != is_refused ||
                (is_refused && strstr(error.text, "PAWL_REQUIRE_TLS is ") == NULL))
                fail_msg("%s, %s: %s, %s", rows[i].url, words[required], pawl_code_name(code),
                         error.text);
        }
    unsetenv("PAWL_REQUIRE_TLS");
    drop_services(services);
}

#ifdef PAWL_HAVE_MYSQL
TEST(another_word_is_refused)
{
    setenv("PAWL_REQUIRE_TLS", "true", 1);
    must_fail_with(open_at("mysql://127.0.0.1:1/shop?ssl-mode=verify-identity", world_error()),
                   PAWL_ECONFIG, "PAWL_REQUIRE_TLS is 'true' in the environment, may be no");
    setenv("PAWL_REQUIRE_TLS", "", 1);
    assert_int_equal(open_at("mysql://127.0.0.1:1/shop", world_error()), PAWL_EUNREACHABLE);
    unsetenv("PAWL_REQUIRE_TLS");
}
#endif

/* ---- The warning ---------------------------------------------------------------- */

static test_lines warnings;

static void warns(const char *variable, const char *host, const char *more, int expected)
{
    const char *server = getenv(variable), *at = server != NULL ? strchr(server, '@') : NULL;
    pawl_error  error = PAWL_ERROR_INIT;
    if (at == NULL || strncmp(at, "@127.0.0.1", 10) != 0)
        return;
    const char *url = test_text("%.*s@%s%s%s", (int)(at - server), server, host, at + 10, more);
    test_listen(&warnings, PAWL_LOG_WARNING, "the connection is ");
    for (int i = 0; i < 3; i++) {
        pawl_code code = open_at(url, &error);
        if (code != PAWL_OK && code != PAWL_ESCHEMA)
            fail_msg("%s: %s", url, error.text);
    }
    pawl_log_set(NULL, PAWL_LOG_WARNING, NULL);
    if (warnings.count != expected)
        fail_msg("%s: %d warnings, expected %d: %s", url, warnings.count, expected, warnings.last);
}

/* 0.0.0.0 leads to this machine as well, and is not known to. */
TEST(what_the_library_chose_is_said_once)
{
#ifdef PAWL_HAVE_MYSQL
    warns("PAWL_TEST_MYSQL", "0.0.0.0", "", 1);
    if (warnings.count != 0)
        assert_non_null(strstr(warnings.last, "encrypted, its server is not verified: ssl-mode="));
    warns("PAWL_TEST_MARIADB", "0.0.0.0", "?ssl-mode=preferred", 0);
    warns("PAWL_TEST_MARIADB", "0.0.0.0", "?application_name=tls", 1);
    warns("PAWL_TEST_MARIADB", "127.0.0.1", "", 0);
    warns("PAWL_TEST_MARIADB", "localhost", "", 0);
#endif
#ifdef PAWL_HAVE_POSTGRES
    warns("PAWL_TEST_POSTGRES", "0.0.0.0", "", 1);
    if (warnings.count != 0)
        assert_non_null(strstr(warnings.last, "not encrypted: sslmode="));
    warns("PAWL_TEST_POSTGRES", "0.0.0.0", "?sslmode=disable", 0);
    warns("PAWL_TEST_POSTGRES", "127.0.0.1", "", 0);
    warns("PAWL_TEST_POSTGRES", "0.0.0.0", "?host=/nowhere&hostaddr=0.0.0.0", 1);
    char services[300];
    make_services(services, sizeof services);
    warns("PAWL_TEST_POSTGRES", "0.0.0.0", "?service=quiet", 0);
    drop_services(services);
#endif
}

/* ---- Behind ODBC ----------------------------------------------------------------- */

#ifdef PAWL_HAVE_ODBC
static void asks(scripted *p, const char *required, const char *rules, pawl_code code)
{
    setenv("PAWL_REQUIRE_TLS", required, 1);
    scripted_code(p, scripted_try(p, rules, 20000), code);
    unsetenv("PAWL_REQUIRE_TLS");
    if (code != PAWL_OK)
        scripted_text(p, "PAWL_REQUIRE_TLS");
}

/* An ODBC driver has its settings elsewhere: the server is asked. */
TEST(behind_odbc_the_server_is_asked)
{
    static const struct {
        const char *name, *asks;
    } servers[] = {
        {"mysql", "on show session status like 'Ssl_cipher'\n  row 'Ssl_cipher' "},
        {"postgres", "on *pg_stat_ssl*\n  row '' "},
        {"mssql", "on *dm_exec_connections*\n  row '' "},
        {"oracle", "on *network_protocol*\n  row 'tls' "},
    };
    for (size_t i = 0; i < COUNT(servers); i++) {
        void *fixture = &(scripted_case){NULL, servers[i].name};
        assert_int_equal(scripted_setup(&fixture), 0);
        const char *encrypted = test_text("%s'TLS_AES_256'\n", servers[i].asks);
        const char *plain     = test_text("%s''\n", servers[i].asks);
        asks(fixture, "no", "", PAWL_OK);
        asks(fixture, "yes", encrypted, PAWL_OK);
        asks(fixture, "yes", plain, PAWL_ECONFIG);
        asks(fixture, "verify", encrypted, PAWL_ECONFIG);
        assert_int_equal(scripted_teardown(&fixture), 0);
    }
}
#endif

int main(void)
{
    unsetenv("PAWL_REQUIRE_TLS");
    return tests_run(NULL, NULL);
}
