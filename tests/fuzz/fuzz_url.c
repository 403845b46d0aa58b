/* fuzz_url.c - URLs of stores and brokers: read by the drivers' tables of options, and shown without their passwords.
 *
 * Input: the URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

#include "pawl/store_driver.h"
#include "store/core/url_read.h"
#ifdef PAWL_HAVE_MYSQL
#include "store/mysql/url.h"
#endif
#ifdef PAWL_HAVE_ODBC
#include "store/odbc/url.h"
#endif
#ifdef PAWL_HAVE_RABBITMQ
#include "transport/rabbitmq/url.h"
#endif

#include <string.h>

#define SECRET_SIZE_MIN \
    6 /* a shorter one may stand elsewhere by chance, and so may one that is a word */

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

/* A password that stands once in the URL, as it is, is neither shown nor told in an error. */
static void check_secret(const char *url, const char *password, const char *shown,
                         const pawl_error *error)
{
    if (password == NULL || strlen(password) < SECRET_SIZE_MIN || strchr(password, '*') != NULL ||
        strpbrk(password, "0123456789") == NULL || count_of(url, password) != 1)
        return;
    FUZZ_CHECK(shown == NULL || strstr(shown, password) == NULL);
    FUZZ_CHECK(strstr(error->text, password) == NULL);
}

/* A driver is asked for URLs of its schemes alone; these end with NULL. */
static bool is_one_of(const char *url, const char *const *schemes)
{
    while (*schemes != NULL && strncmp(url, *schemes, strlen(*schemes)) != 0)
        schemes++;
    return *schemes != NULL;
}

static void check_parts(const char *url, const pawl__url *parts, const char *shown,
                        const pawl_error *error)
{
    FUZZ_CHECK(parts->host_count <= PAWL__URL_HOSTS_MAX);
    check_secret(url, parts->password, shown, error);
    check_secret(url, parts->password, parts->given, error);
}

#ifdef PAWL_HAVE_MYSQL
static void check_mysql(const char *url, const char *shown)
{
    static const char *const schemes[] = {"mysql://", "mariadb://", NULL};
    pawl__mysql_url          read      = {.socket = NULL};
    pawl_error               error     = PAWL_ERROR_INIT;
    if (is_one_of(url, schemes))
        (void)pawl__mysql_url_read(&read, url, 30400, &error);
    check_parts(url, &read.parts, shown, &error);
    pawl__mysql_url_free(&read);
}
#endif

#ifdef PAWL_HAVE_ODBC
static void check_odbc(const char *url, const char *shown)
{
    static const char *const schemes[] = {"odbc:", "mssql://", "oracle://", NULL};
    pawl__odbc_url           read      = {.text = NULL};
    pawl_error               error     = PAWL_ERROR_INIT;
    if (is_one_of(url, schemes))
        (void)pawl__odbc_url_read(&read, url, &error);
    check_parts(url, &read.parts, shown, &error);
    pawl__odbc_url_free(&read);
}
#endif

#ifdef PAWL_HAVE_RABBITMQ
static void check_rabbitmq(const char *url, pawl__rabbitmq_use use, const char *shown)
{
    static const char *const schemes[] = {"amqp://", "amqps://", NULL};
    pawl__rabbitmq_url       read      = {.is_tls = false};
    pawl_error               error     = PAWL_ERROR_INIT;
    if (is_one_of(url, schemes))
        (void)pawl__rabbitmq_url_read(&read, use, url, &error);
    check_parts(url, &read.parts, shown, &error);
    pawl__rabbitmq_url_free(&read);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input  in     = {data, size};
    pawl_arena *arena  = fuzz_arena();
    const char *url    = fuzz_string(fuzz_rest(&in), arena);
    pawl_text   masked = pawl_url_masked(url, arena);
    FUZZ_CHECK(masked.data != NULL && masked.size <= strlen(url) * 3 + sizeof "***");
#ifdef PAWL_HAVE_MYSQL
    check_mysql(url, masked.data);
#endif
#ifdef PAWL_HAVE_ODBC
    check_odbc(url, masked.data);
#endif
#ifdef PAWL_HAVE_RABBITMQ
    check_rabbitmq(url, PAWL__RABBITMQ_ROUTE, masked.data);
    check_rabbitmq(url, PAWL__RABBITMQ_INTAKE, masked.data);
#endif
    pawl_arena_destroy(arena);
    return 0;
}
