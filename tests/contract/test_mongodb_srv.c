/* test_mongodb_srv.c - `mongodb+srv://`: the members of a cluster are looked up in the DNS, here by answers of the test's
 * own, which stand in the place of the resolver's functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"

#define _GNU_SOURCE 1 /* RTLD_NEXT */

#include "contract/mongodb_fixture.h"
#include "pawl/store_calls.h"

#include <arpa/nameser.h>
#include <dlfcn.h>
#include <netdb.h>
#include <resolv.h>

#define MEMBER "here.pawl.test" /* 127.0.0.1 */

static const char *settings = "replicaSet=rs0"; /* in the TXT record */
static int         port, asked;

/* ---- The DNS -------------------------------------------------------------- */

static uint8_t *put16(uint8_t *at, int number)
{
    *at++ = (uint8_t)(number >> 8);
    *at++ = (uint8_t)number;
    return at;
}

/* "a.b" as labels with their sizes. */
static uint8_t *put_name(uint8_t *at, const char *name)
{
    while (*name != '\0') {
        size_t size = strcspn(name, ".");
        *at++       = (uint8_t)size;
        at          = (uint8_t *)mempcpy(at, name, size);
        name += size + (name[size] == '.');
    }
    *at++ = 0;
    return at;
}

static uint8_t *put_data(uint8_t *at, int type)
{
    if (type == ns_t_txt) {
        *at++ = (uint8_t)strlen(settings);
        return (uint8_t *)mempcpy(at, settings, strlen(settings));
    }
    at = put16(put16(put16(at, 0), 0), port);
    return put_name(at, MEMBER);
}

/* The answer of the DNS to a question about a name of pawl.test; "none" is not known. */
PAWL_API int res_nsearch(res_state state, const char *name, int class, int type,
                         unsigned char *answer, int size)
{
    uint8_t *at = answer;
    assert_true(size > 512);
    asked++;
    if (strstr(name, ".pawl.test") == NULL || strstr(name, "none.") != NULL)
        return -1;
    at = put16(put16(at, 1), 0x8180);
    at = put16(put16(put16(put16(at, 1), 1), 0), 0);
    at = put16(put16(put_name(at, name), type), class);
    at = put16(put16(put16(put16(put_name(at, name), type), class), 0), 60);
    put16(at, (int)(put_data(at + 2, type) - at - 2));
    return (int)(put_data(at + 2, type) - answer);
}

typedef int lookup_fn(const char *, const char *, const struct addrinfo *, struct addrinfo **);

PAWL_API int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                         struct addrinfo **found)
{
    lookup_fn *real;
    void      *address = dlsym(RTLD_NEXT, "getaddrinfo");
    memcpy(&real, &address, sizeof real);
    bool is_ours = node != NULL && strcmp(node, MEMBER) == 0;
    return real(is_ours ? "127.0.0.1" : node, service, hints, found);
}

/* ---- Opening -------------------------------------------------------------- */

/* The port of the URL of the tests' server. */
static void find_port(void)
{
    port  = atoi(strrchr(fixture_server(), ':') + 1);
    asked = 0;
}

static pawl_code open_named(fixture *p, const char *host, const char *options, pawl_store **store)
{
    pawl_store_options all = PAWL_STORE_OPTIONS_INIT;
    all.mode               = PAWL_OPEN_CREATE;
    return fixture_open(
        p,
        test_text("mongodb+srv://%s/%s?tls=false&serverSelectionTimeoutMS=2000&appname=%s%s", host,
                  p->database, p->database, options),
        &all, store);
}

/* Two clusters that have a database of one name are two stores, though their members are not known before. */
ON_FIXTURE(the_members_are_those_that_the_dns_names, fixture *p)
{
    pawl_store *db = NULL, *same = NULL, *other = NULL;
    find_port();
    if (open_named(p, "db.pawl.test", "", &db) != PAWL_OK ||
        pawl_store_worker_open(db, PAWL_TEXT("orders"), PAWL_TEXT("[]"), 1, &p->error) != PAWL_OK ||
        open_named(p, "db.pawl.test", "", &same) != PAWL_OK ||
        open_named(p, "other.pawl.test", "", &other) != PAWL_OK)
        fail_msg("%s", p->error.text);
    assert_true(asked > 0);
    assert_int_equal(raw_number(p->raw, p->database, json("{\"count\": \"pawl_workers\"}"), "n"),
                     1);
    assert_string_equal(pawl_store_identity(db), pawl_store_identity(same));
    assert_string_not_equal(pawl_store_identity(db), pawl_store_identity(other));
}

ON_FIXTURE(a_name_without_members_is_unreachable, fixture *p)
{
    pawl_store *store = NULL;
    find_port();
    assert_int_equal(open_named(p, "none.pawl.test", "", &store), PAWL_EUNREACHABLE);
    assert_int_equal(pawl_code_exit(PAWL_EUNREACHABLE), 3);
    assert_non_null(strstr(p->error.text, "none.pawl.test"));
}

/* In the URL before anything is looked up; of a TXT record libmongoc takes no such option. */
ON_FIXTURE(m1_writes_without_an_answer_are_refused_here_too, fixture *p)
{
    pawl_store *store = NULL;
    find_port();
    assert_int_equal(open_named(p, "db.pawl.test", "&w=0", &store), PAWL_ECONFIG);
    assert_int_equal(asked, 0);
    settings       = "w=0";
    pawl_code code = open_named(p, "db.pawl.test", "", &store);
    settings       = "replicaSet=rs0";
    assert_int_not_equal(code, PAWL_OK);
    assert_true(asked > 0);
}
