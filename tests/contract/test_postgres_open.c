/* test_postgres_open.c - URLs that lead nowhere, servers that refuse, poolers that
 * nobody mentioned (D37).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_trouble.h"
#include "support/tests.h"

#define SECRET "Se-kret" /* in every URL that is refused; in no text */

/* ---- Refused URLs ------------------------------------------------------- */

/* The text says one thing, and never the password. */
static void expect_no_store(fixture *p, const char *url, pawl_code code, const char *part)
{
    pawl_store        *store   = NULL;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CHECK;
    expect_code(p, fixture_open(p, url, &options, &store), code);
    assert_null(store);
    expect_text(p, part);
    if (strstr(p->error.text, "kret") != NULL)
        fail_msg("'%s' shows a password", p->error.text);
}

typedef struct url_case {
    const char *format; /* %s: host:port of the server */
    pawl_code   code;
    const char *part;
} url_case;

static const url_case url_cases[] = {
    {"postgres://pawl_nobody:" SECRET "@%s/postgres", PAWL_EDENIED,
     "role \"pawl_nobody\" does not exist"},
    {"postgres://postgres:" SECRET "@%s/pawl_nowhere", PAWL_ENOTSTORE,
     "database \"pawl_nowhere\" does not exist"},
    {"postgres://postgres:" SECRET "@127.0.0.1:1/postgres", PAWL_EUNREACHABLE, "port 1 failed"},
    /* A name that no server is asked for. */
    {"postgres://postgres:" SECRET "@pawl..invalid/postgres", PAWL_EUNREACHABLE,
     "host name \"pawl..invalid\""},
    {"postgres://postgres:" SECRET "@%%2Fpawl%%2Fnowhere/postgres", PAWL_EUNREACHABLE,
     "/pawl/nowhere/.s.PGSQL.5432"},
    {"postgres://%s/postgres?user=pawl_nobody&password=" SECRET, PAWL_EDENIED, "pawl_nobody"},
    /* Not a URL that can be read. */
    {"postgres://postgres:" SECRET "@%s/postgres?nonsense=1", PAWL_EINVAL, "\"nonsense\""},
    {"postgres://postgres:" SECRET "@%s/postgres?sslmode=sometimes", PAWL_EUNREACHABLE,
     "invalid sslmode value: \"sometimes\""},
    {"postgres://postgres:" SECRET "@[::1]x/postgres", PAWL_EINVAL, "unexpected character"},
    {"postgres://postgres:" SECRET "@%s/postgres?nonsense", PAWL_EINVAL, "missing key/value"},
    {"postgres://postgres:" SECRET "%%zz@%s/postgres", PAWL_EINVAL, "the password cannot be read"},
    {"postgres://%s/postgres?password=" SECRET "%%zz", PAWL_EINVAL, "the password cannot be read"},
    {"postgres://postgres:" SECRET "/" SECRET "@%s/postgres", PAWL_EINVAL, "%2F and %40"},
    {"postgres://postgres:" SECRET "@" SECRET "@%s/postgres", PAWL_EINVAL, "%2F and %40"},
    {"postgres://postgres:@" SECRET "@%s/postgres", PAWL_EINVAL, "%2F and %40"},
    /* pawl's own parameters. */
    {"postgres://postgres:" SECRET "@%s/postgres?pooler=session", PAWL_ECONFIG,
     "pooler is 'session', may be none or transaction"},
    {"postgres://postgres:" SECRET "@%s/postgres?pooler", PAWL_ECONFIG,
     "option 'pooler' has no value"},
    {"postgres://postgres:" SECRET "@%s/postgres?create=yes", PAWL_ECONFIG, "create is 'yes'"},
    {"postgres://postgres:" SECRET "@%s/postgres?schema=", PAWL_EINVAL, "schema is empty"},
    {"postgres://postgres:" SECRET "@%s/postgres?schema=a%%22b", PAWL_EINVAL,
     "may not stand in a name"},
    {"postgres://postgres:" SECRET "@%s/postgres?schema=a$pawl$b", PAWL_EINVAL,
     "has '$pawl$' in it, which is refused"},
    {"postgres://postgres:" SECRET "@%s/postgres?schema=a%%00b", PAWL_ECONFIG,
     "option 'schema' has no value that can be read"},
    {"postgres://postgres:" SECRET
     "@%s/postgres?schema=aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff1234",
     PAWL_EINVAL, "limit 63"},
    {"postgres://postgres:" SECRET "@%s/postgres?pooler=none&create=no&schema=pawl_nowhere",
     PAWL_ESCHEMA, "pawl schema apply"},
};

ON_TROUBLE(what_is_wrong_is_named, fixture *p)
{
    if (PQhost(p->pg)[0] == '/')
        skip();
    const char *server = test_text("%s:%s", PQhost(p->pg), PQport(p->pg));
    for (size_t i = 0; i < COUNT(url_cases); i++)
        expect_no_store(p, test_text(url_cases[i].format, server), url_cases[i].code,
                        url_cases[i].part);
}

ON_TROUBLE(options_that_do_not_fit_are_refused, fixture *p)
{
    char   url[2000];
    size_t size = (size_t)snprintf(url, sizeof url, "%s&options=", p->url);
    for (; size < 1700; size += 10)
        memcpy(url + size, "-c%20a%3Db", 10);
    url[size] = '\0';
    expect_no_store(p, url, PAWL_ECONFIG, "options has");
}

/* As the URL says it, decoded. */
ON_TROUBLE(a_schema_may_be_written_as_urls_are, fixture *p)
{
    char url[1400];
    fixture_url("pawl%5Ftest", url, sizeof url);
    snprintf(url + strlen(url), sizeof url - strlen(url), "%s", p->schema + strlen("pawl_test"));
    pawl_store *store = open_store(p, url);
    ok(p, send_one(p, store, "orders", "m-1"));
    assert_int_equal(queue_count(p), 1);
}

/* Both names are libpq's, and the same place for whoever wakes or compares stores. */
ON_TROUBLE(postgresql_is_the_same_scheme, fixture *p)
{
    assert_int_equal(strncmp(p->url, "postgres://", 11), 0);
    const char *url   = test_text("postgresql%s", p->url + strlen("postgres"));
    pawl_store *store = open_store(p, url);
    pawl_store *other = open_store(p, p->url);
    assert_string_equal(store->identity, other->identity);
    ok(p, send_one(p, store, "orders", "m-1"));
    assert_int_equal(queue_count(p), 1);
    test_now(other);
    test_now(store);
    /* A password in it is hidden, too. */
    expect_no_store(p, "postgresql://u:" SECRET "@h/db?nonsense=1", PAWL_EINVAL, "nonsense");
}

/* ---- Refusing servers --------------------------------------------------- */

ON_TROUBLE(a_role_may_have_too_many_connections, fixture *p)
{
    raw_run(p->pg, test_text("create role %s login connection limit 0", p->schema));
    const char *url = test_text("%s&user=%s&password=" SECRET, p->url, p->schema);
    expect_no_store(p, url, PAWL_EUNREACHABLE, "too many connections");
    raw_run(p->pg, test_text("alter role %s connection limit -1", p->schema));
    apply_schema(p, p->url, order_tables, 1);
    expect_no_store(p, url, PAWL_EDENIED, "permission denied for schema");
    raw_run(p->pg, test_text("grant usage on schema %s to %s", p->schema, p->schema));
    expect_no_store(p, url, PAWL_EDENIED, "permission denied for table");
    raw_run(p->pg, test_text("drop owned by %s; drop role %s", p->schema, p->schema));
}

/* Calls have deadlines of their own. */
ON_TROUBLE(limits_of_a_role_are_not_those_of_its_sessions, fixture *p)
{
    static const char *const names[] = {"statement_timeout", "lock_timeout"};
    pawl_store              *store   = NULL;
    raw_run(p->pg, test_text("create role %s login superuser", p->schema));
    for (size_t i = 0; i < COUNT(names); i++)
        raw_run(p->pg, test_text("alter role %s set %s = '1s'", p->schema, names[i]));
    const char *url = test_text("%s&user=%s", p->url, p->schema);
    apply_schema(p, p->url, order_tables, 1);
    ok(p, open_with(p, url, order_tables, 1, &store));
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    for (size_t i = 0; i < COUNT(names); i++)
        expect_raw_text(store->ops->native(store), test_text("show %s", names[i]), "0");
    pawl_store_handler_transaction_end(store);
    test_now(store);
    raw_run(p->pg, test_text("drop role %s", p->schema));
}

ON_TROUBLE(a_database_must_hold_utf8, fixture *p)
{
    raw_run(p->pg, test_text("create database %s encoding SQL_ASCII template template0 "
                             "lc_collate 'C' lc_ctype 'C' locale_provider libc",
                             p->schema));
    const char *url = test_text("%s&dbname=%s", p->url, p->schema);
    expect_no_store(p, url, PAWL_ECONFIG, "the database's encoding is SQL_ASCII, UTF8 is needed");
    raw_run(p->pg, test_text("drop database %s (force)", p->schema));
}

/* ---- Poolers ------------------------------------------------------------ */

/* Two handles, so that sessions are mixed. */
static void use_both(fixture *p, const char *url)
{
    static test_lines h;
    test_listen(&h, PAWL_LOG_WARNING, NULL);
    pawl_store *first  = open_more(p, url);
    pawl_store *second = open_more(p, url);
    pawl_log_set(NULL, PAWL_LOG_WARNING, NULL);
    assert_int_equal(h.count, 2);
    if (strstr(h.last, "add pooler=transaction to the URL") == NULL)
        fail_msg("'%s' says nothing of a pooler", h.last);
    /* No session is theirs: no lock says that they live. */
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_workers where \"Process\" = 0"),
                     2);
    for (int i = 0; i < 20; i++) {
        const char *id     = test_text("m-%d", i);
        pawl_store *sender = i % 2 == 0 ? first : second;
        pawl_store *worker = i % 2 == 0 ? second : first;
        ok(p, send_one(p, sender, "orders", id));
        pawl_queue_rows rows = claim_some(p, worker, "orders", NOW, 9);
        assert_int_equal(rows.count, 1);
        ok(p, settle_one(p, worker, "orders", rows.items[0].seq));
        ok(p, pawl_store_wait(sender, 1, -1, &p->error));
    }
    test_now(second);
    test_now(first);
}

/* PgBouncer refuses the session options. */
ON_TROUBLE(a_pooler_is_noticed_by_what_it_refuses, fixture *p)
{
    const char *pooled = getenv("PAWL_TEST_PGBOUNCER");
    const char *end    = pooled != NULL ? strstr(pooled, "?pooler=transaction") : NULL;
    if (end == NULL)
        skip();
    const char *url = test_text("%.*s?schema=%s", (int)(end - pooled), pooled, p->schema);
    apply_schema(p, p->url, order_tables, 1);
    use_both(p, url);
}

/* Another has the session's settings ignored, and shows itself by the process. */
ON_TROUBLE(a_pooler_is_noticed_by_its_process, fixture *p)
{
    proxy *between = open_proxy(p);
    char   url[1400];
    if (between == NULL)
        skip();
    proxy_fake_pids(between, true);
    proxy_url(p, between, url, sizeof url);
    apply_schema(p, p->url, order_tables, 1);
    use_both(p, url);
    proxy_close(between);
}
