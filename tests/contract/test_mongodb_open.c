/* test_mongodb_open.c - servers and settings on which no commit would be safe are refused at open, and so are names
 * that MongoDB cannot tell apart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "contract/at_once.h"
#include "contract/mongodb_fixture.h"
#include "support/gate.h"

#include "pawl/pawl.h"

#include <stdatomic.h>
#include <sys/mman.h>

static pawl_saga_table table_named(pawl_text type, pawl_text name)
{
    return (pawl_saga_table){
        .type = type,
        .name = name,
        .main = {.property = PAWL_TEXT_INIT("order_id"), .type = PAWL_VALUE_TEXT}};
}

static pawl_code open_as(fixture *p, const char *url, pawl_open_mode mode,
                         const pawl_saga_table *table)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    options.mode               = mode;
    options.tables             = &table;
    options.table_count        = table != NULL ? 1 : 0;
    pawl_code code             = fixture_open(p, url, &options, &store);
    if (code == PAWL_OK)
        test_now(store);
    else
        assert_null(store);
    return code;
}

static void refuse(fixture *p, const char *url, pawl_open_mode mode, const pawl_saga_table *table,
                   pawl_code expected, const char *part)
{
    pawl_code code = open_as(p, url, mode, table);
    if (code != expected || strstr(p->error.text, part) == NULL)
        fail_msg("%s: is %s, expected %s; '%s' should say '%s'", url, pawl_code_name(code),
                 pawl_code_name(expected), p->error.text, part);
}

static void create(fixture *p, const char *url, const pawl_saga_table *table)
{
    pawl_code code = open_as(p, url, PAWL_OPEN_CREATE, table);
    if (code != PAWL_OK)
        fail_msg("%s: %s: %s", url, pawl_code_name(code), p->error.text);
}

/* Whichever word of the URL says so, before anything is asked of the server. */
ON_FIXTURE(m1_writes_without_an_answer_are_refused, fixture *p)
{
    static const char *const words[] = {"w=0", "journal=false&w=0", "W=0", "w=-1", "safe=false"};
    char                     url[600];
    for (size_t i = 0; i < COUNT(words); i++) {
        snprintf(url, sizeof url, "%s&%s", p->url, words[i]);
        refuse(p, url, PAWL_OPEN_CREATE, NULL, PAWL_ECONFIG, "w=0");
        assert_int_equal(pawl_code_exit(PAWL_ECONFIG), 2);
    }
    snprintf(url, sizeof url, "%s&w=1", p->url);
    create(p, url, NULL);
}

/* Behind 63 bytes MongoDB refuses a name: cut, it would be that of another database. */
TEST(a_database_with_a_long_name_is_refused)
{
    fixture     at   = {.error = PAWL_ERROR_INIT};
    const char *name = "sixty-three-bytes-are-the-longest-name-that-a-database-may-have";
    assert_int_equal(strlen(name), 63);
    refuse(&at, test_text("mongodb://127.0.0.1:1/%sx", name), PAWL_OPEN_SCHEMA, NULL, PAWL_ECONFIG,
           "the database's name has 64 bytes, limit 63");
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *stores[2];
    options.mode = PAWL_OPEN_SCHEMA;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pawl_store_open(test_text("mongodb://127.0.0.1:1/%.62s%d", name, i),
                                         &options, &stores[i], &at.error),
                         PAWL_OK);
    assert_string_not_equal(pawl_store_identity(stores[0]), pawl_store_identity(stores[1]));
    pawl_store_close(stores[0]);
    pawl_store_close(stores[1]);
}

/* Parts of a password are neither shown nor asked for as a host. */
ON_FIXTURE(a_password_that_cannot_be_read_is_not_shown, fixture *p)
{
    static const struct {
        const char *url, *part;
    } cases[] = {
        {"mongodb://app:se:cret@127.0.0.1:1/db", "must be written as %25, %3A"},
        {"mongodb+srv://app:se:cret@db.example/db", "must be written as %25, %3A"},
        {"mongodb://app:se@cret@127.0.0.1:1/db", "must be written as %25, %3A"},
        {"mongodb://app@cret@127.0.0.1:1/db", "must be written as %25, %3A"},
        {"mongodb://app:cret%2@127.0.0.1:1/db", "must be written as %25, %3A"},
        {"mongodb://app:se/cret@127.0.0.1:1/db", "must be written as %25, %3A"},
        {"mongodb://app:1/x?cret@127.0.0.1:1/db", "must be written as %25, %3A"},
        {"mongodb://app:cret@127.0.0.1:1/db?x", "cannot be read: URI option \"x\""},
        {"mongodb://app:cret@127.0.0.1:1/db?readPreferenceTags=a:cret@b&x", "must be written as"},
        {"mongodb://127.0.0.1:1/db?x", "cannot be read: URI option \"x\""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        refuse(p, cases[i].url, PAWL_OPEN_CHECK, NULL, PAWL_EINVAL, cases[i].part);
        assert_null(strstr(p->error.text, "cret"));
    }
}

/* By all names that libmongoc has, in any case; none of them is asked of a server. */
ON_FIXTURE(an_option_that_libmongoc_does_not_know_is_refused, fixture *p)
{
    static const struct {
        const char *url, *part; /* NULL: it is taken */
    } cases[] = {
        {"mongodb://h/d?tsl=true", "unknown option 'tsl', libmongoc "},
        {"mongodb://h/d?tls=true&colour=red&w=1", "unknown option 'colour'"},
        {"mongodb://h/d?create=no&tlsx=1", "unknown option 'tlsx'"},
        {"mongodb://u:cret@h/d?tls=true&slow=", "unknown option 'slow'"},
        {"mongodb://app:1/x?cret=2@h/d", "unknown option '***'"},
        {"mongodb://u:p@h/d?x=cret@h", "unknown option '***'"},
        {"mongodb://h/d?create=no", NULL},
        {"mongodb://h", NULL},
        {"mongodb://h/d?TLS=true&tlsCAFile=x&connectTimeoutMS=5&wTimeoutMS=5", NULL},
        {"mongodb://h/d?W=majority&readConcernLevel=majority&readPreference=secondary&"
         "readPreferenceTags=a:b&compressors=zlib&authSource=q",
         NULL},
        {"mongodb://u:p@h/d?authMechanism=GSSAPI&authMechanismProperties=SERVICE_NAME:y", NULL},
        {"mongodb://u:p@h/d?authMechanism=GSSAPI&gssapiServiceName=y&ssl=true", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (cases[i].part == NULL) {
            if (open_as(p, cases[i].url, PAWL_OPEN_SCHEMA, NULL) != PAWL_OK)
                fail_msg("%s: %s", cases[i].url, p->error.text);
            continue;
        }
        refuse(p, cases[i].url, PAWL_OPEN_SCHEMA, NULL, PAWL_ECONFIG, cases[i].part);
        assert_null(strstr(p->error.text, "cret"));
    }
}

ON_FIXTURE(m9_a_server_without_transactions_is_refused, fixture *p)
{
    char url[500];
    fixture_url(p->database, p->database, STANDALONE_PORT, url, sizeof url);
    refuse(p, url, PAWL_OPEN_CREATE, NULL, PAWL_ENOTSTORE, "standalone");
    assert_non_null(strstr(p->error.text, "rs.initiate()"));
    assert_int_equal(pawl_code_exit(PAWL_ENOTSTORE), 3);
    fixture_url(p->database, p->database, OLD_PORT, url, sizeof url);
    refuse(p, url, PAWL_OPEN_CREATE, NULL, PAWL_ENOTSTORE, "too old");
    fixture_url(p->database, p->database, ROUTER_PORT, url, sizeof url);
    create(p, url, NULL);
}

ON_FIXTURE(m3_names_that_mongodb_writes_alike_are_refused, fixture *p)
{
    const pawl_saga_table plus  = table_named(PAWL_TEXT("A"), PAWL_TEXT("shop_A+B"));
    const pawl_saga_table line  = table_named(PAWL_TEXT("A"), PAWL_TEXT("shop_A_B"));
    const pawl_saga_table comma = table_named(PAWL_TEXT("A"), PAWL_TEXT("shop_A, B"));
    create(p, p->url, &plus);
    create(p, p->url, &plus);
    refuse(p, p->url, PAWL_OPEN_CREATE, &line, PAWL_ECONFIG, "'shop_A+B'");
    refuse(p, p->url, PAWL_OPEN_CHECK, &line, PAWL_ECONFIG, "'shop_A_B'");
    create(p, p->url, &comma);
    assert_int_equal(
        raw_number(p->raw, p->database, json("{\"listIndexes\": \"shop_A__B\"}"), "ok"), 1);
}

typedef struct lines {
    const fixture *fixture;
    int            count, drops; /* but for those that set validators */
} lines;

/* The script's commands are run here as mongosh would run them. */
static void run_line(pawl_text line, void *context)
{
    static const char call[] = "db.runCommand(";
    lines            *l      = context;
    char              text[2000];
    assert_true(line.size < sizeof text);
    snprintf(text, sizeof text, "%.*s", PAWL_TEXT_ARGS(line));
    l->drops += strstr(text, ").drop();") != NULL;
    l->count += strstr(text, "{ \"collMod\"") == NULL && strstr(text, call) != NULL;
    char *command = strstr(text, call);
    char *end     = strrchr(text, ')');
    if (command == NULL)
        return;
    assert_non_null(end);
    *end = '\0';
    (void)raw_number(l->fixture->raw, l->fixture->database, json(command + sizeof call - 1), "ok");
}

/* Before either has a mark that would tell. */
ON_FIXTURE(m3_names_of_one_program_that_become_one_are_refused, fixture *p)
{
    const pawl_saga_table plus           = table_named(PAWL_TEXT("A"), PAWL_TEXT("shop_A+B"));
    const pawl_saga_table line           = table_named(PAWL_TEXT("B"), PAWL_TEXT("shop_A_B"));
    pawl_saga_table       dots           = table_named(PAWL_TEXT("C"), PAWL_TEXT("shop_C"));
    dots.main.property                   = PAWL_TEXT("order.id");
    dots.transitional                    = table_named(PAWL_TEXT("C"), PAWL_TEXT("shop_C")).main;
    const pawl_saga_table *const both[]  = {&plus, &line};
    pawl_store_options           options = PAWL_STORE_OPTIONS_INIT;
    pawl_store                  *store   = NULL;
    options.tables                       = both;
    options.table_count                  = 2;
    for (pawl_open_mode mode = PAWL_OPEN_CREATE; mode <= PAWL_OPEN_CHECK; mode++) {
        options.mode = mode;
        assert_int_equal(fixture_open(p, p->url, &options, &store), PAWL_ECONFIG);
        assert_non_null(strstr(p->error.text, "'shop_A_B' of a saga has the same name"));
        assert_non_null(strstr(p->error.text, "'shop_A+B'"));
        refuse(p, p->url, mode, &dots, PAWL_ECONFIG, "'order.id' and 'order_id'");
    }
    const pawl_schema_spec spec = {.tables = both, .table_count = 2};
    lines                  l    = {.fixture = p};
    for (pawl_schema_verb verb = PAWL_SCHEMA_PRINT; verb <= PAWL_SCHEMA_VERIFY; verb++)
        assert_int_equal(pawl_store_schema(p->url, verb, &spec, run_line, &l, &p->error),
                         PAWL_ECONFIG);
    assert_int_equal(l.count, 0);
}

/* The server refuses it in the midst of the others, and names neither the saga nor the reason. */
ON_FIXTURE(m3_a_name_with_a_dollar_is_refused_before_anything_is_made, fixture *p)
{
    const pawl_saga_table        dollar = table_named(PAWL_TEXT("A"), PAWL_TEXT("shop_A$B"));
    const pawl_saga_table *const one[]  = {&dollar};
    for (pawl_open_mode mode = PAWL_OPEN_CREATE; mode <= PAWL_OPEN_CHECK; mode++)
        refuse(p, p->url, mode, &dollar, PAWL_ECONFIG, "'shop_A$B' has a $");
    const pawl_schema_spec spec = {.tables = one, .table_count = 1};
    lines                  l    = {.fixture = p};
    for (pawl_schema_verb verb = PAWL_SCHEMA_PRINT; verb <= PAWL_SCHEMA_VERIFY; verb++)
        assert_int_equal(pawl_store_schema(p->url, verb, &spec, run_line, &l, &p->error),
                         PAWL_ECONFIG);
    assert_int_equal(l.count, 0);
}

static int64_t marks(const fixture *p, const char *table)
{
    return raw_number(p->raw, p->database,
                      BCON_NEW("count", "pawl_schema", "query", "{", "table", table, "}"), "n");
}

/* A script of another program takes no mark away, whatever was there when it was printed. */
ON_FIXTURE(m3_a_script_leaves_the_mark_of_another_name, fixture *p)
{
    const pawl_saga_table        plus     = table_named(PAWL_TEXT("A"), PAWL_TEXT("shop_A+B"));
    const pawl_saga_table        line     = table_named(PAWL_TEXT("B"), PAWL_TEXT("shop_A_B"));
    const pawl_saga_table *const tables[] = {&line};
    const pawl_schema_spec       spec     = {.tables = tables, .table_count = 1};
    lines                        l        = {.fixture = p};
    create(p, p->url, &plus);
    must(pawl_store_schema(p->url, PAWL_SCHEMA_PRINT, &spec, run_line, &l, world_error()));
    assert_int_equal(marks(p, "shop_A+B"), 1);
    assert_int_equal(marks(p, "shop_A_B"), 0);
    refuse(p, p->url, PAWL_OPEN_CREATE, &line, PAWL_ECONFIG, "'shop_A+B'");
}

/* Counts of children of one process. */
typedef struct tally {
    fixture   *fixture;
    atomic_int turn, opened[2];
} tally;

static pawl_code open_one_of_two(void *context, pawl_error *error)
{
    tally                *t    = context;
    int                   turn = atomic_fetch_add(&t->turn, 1) % 2;
    const pawl_saga_table of[] = {table_named(PAWL_TEXT("A"), PAWL_TEXT("shop_A+B")),
                                  table_named(PAWL_TEXT("B"), PAWL_TEXT("shop_A_B"))};
    pawl_code             code = open_as(t->fixture, t->fixture->url, PAWL_OPEN_CREATE, &of[turn]);
    *error                     = t->fixture->error;
    atomic_fetch_add(&t->opened[turn], code == PAWL_OK);
    return code == PAWL_ECONFIG ? PAWL_OK : code;
}

ON_FIXTURE(m3_of_processes_at_once_those_of_one_name_open, fixture *p)
{
    tally *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(t != MAP_FAILED);
    t->fixture = p;
    create(p, t->fixture->url, NULL); /* so that they meet at the saga's mark */
    run_at_once(open_one_of_two, t);
    assert_int_equal(t->opened[0] + t->opened[1], 2);
    assert_int_equal(t->opened[0] * t->opened[1], 0);
    assert_int_equal(munmap(t, sizeof *t), 0);
}

ON_FIXTURE(m3_an_older_collection_is_reported_with_the_command, fixture *p)
{
    const pawl_saga_table plus = table_named(PAWL_TEXT("A"), PAWL_TEXT("shop_A+B"));
    (void)raw_number(p->raw, p->database, json("{\"create\": \"shop_A+B\"}"), "ok");
    refuse(p, p->url, PAWL_OPEN_CREATE, &plus, PAWL_ESCHEMA,
           "db.getCollection(\"shop_A+B\").renameCollection(\"shop_A_B\")");
    refuse(p, p->url, PAWL_OPEN_CHECK, &plus, PAWL_ESCHEMA,
           "db.getCollection(\"shop_A+B\").renameCollection(\"shop_A_B\")");
    const char *from = test_text("%s.shop_A+B", p->database);
    (void)raw_number(
        p->raw, "admin",
        BCON_NEW("renameCollection", from, "to", test_text("%s.shop_A_B", p->database)), "ok");
    create(p, p->url, &plus);
}

/* The index is on the member that the value stands in. */
ON_FIXTURE(m2_a_second_saga_of_a_value_is_refused_by_the_index, fixture *p)
{
    const pawl_saga_table order = table_named(PAWL_TEXT("Order"), PAWL_TEXT("shop_Order"));
    bson_t                reply;
    bson_iter_t           at;
    create(p, p->url, &order);
    for (int i = 0; i < 2; i++) {
        bson_t *insert = BCON_NEW("insert", "shop_Order", "documents", "[", "{", "_id",
                                  BCON_INT32(i), "version", BCON_INT64(1), "correlation", "{",
                                  "order_id", BCON_UTF8("O-1"), "}", "}", "]");
        assert_true(raw_try(p->raw, p->database, insert, NULL, &reply));
        assert_int_equal(bson_iter_init_find(&at, &reply, "writeErrors"), i == 1);
        bson_destroy(&reply);
    }
}

/* A document has the names of its own values alone. */
ON_FIXTURE(d31_all_properties_that_are_left_are_named, fixture *p)
{
    pawl_saga_table order = table_named(PAWL_TEXT("Order"), PAWL_TEXT("shop_Order"));
    create(p, p->url, &order);
    (void)raw_number(p->raw, p->database,
                     json("{\"insert\": \"shop_Order\", \"documents\": ["
                          "{\"_id\": 1, \"correlation\": {\"order_id\": \"1\"}},"
                          "{\"_id\": 2, \"correlation\": {\"order_id\": \"2\"}},"
                          "{\"_id\": 3, \"correlation\": {\"order\": \"3\"}}]}"),
                     "n");
    order.main.property = PAWL_TEXT("number");
    refuse(p, p->url, PAWL_OPEN_CREATE, &order, PAWL_ESCHEMA,
           "3 rows have a value of order_id or order and none of number");
}

ON_FIXTURE(open_creates_unless_it_is_told_not_to, fixture *p)
{
    pawl_sender *sender = NULL;
    expect_code(p, pawl_sender_open(p->url, NULL, &sender, &p->error), PAWL_ESCHEMA);
    const char *url = test_text("%s&create=no", p->url);
    refuse(p, url, PAWL_OPEN_CREATE, NULL, PAWL_ESCHEMA, "pawl schema apply");
    refuse(p, p->url, PAWL_OPEN_CHECK, NULL, PAWL_ESCHEMA, "is missing");
    create(p, p->url, NULL);
    create(p, url, NULL);
}

/* Validators are made by "schema apply" alone. */
static void count_missing(pawl_text line, void *context)
{
    const char *text = test_text("%.*s", PAWL_TEXT_ARGS(line));
    if (strncmp(text, "warning: ", 9) == 0)
        return;
    print_message("%s\n", text);
    ++*(int *)context;
}

/* Whichever collection's indexes failed, the shared ones' or a saga's, they are there after the next open. Verifying
 * looks at the collections themselves only where it tells lines. */
ON_FIXTURE(m8_a_failed_set_up_is_made_again, fixture *p)
{
    const pawl_saga_table        order = table_named(PAWL_TEXT("Order"), PAWL_TEXT("shop_Order"));
    const pawl_saga_table *const tables[]  = {&order};
    const pawl_schema_spec       spec      = {.tables = tables, .table_count = 1};
    bool                         is_struck = true;
    int                          missing   = 0;
    for (int skip = 0; is_struck; skip++) {
        fault_on(p, test_text("{\"skip\": %d, \"times\": 1}", skip),
                 "\"failCommands\": [\"createIndexes\"], \"errorCode\": 13");
        pawl_code code = open_as(p, p->url, PAWL_OPEN_CREATE, &order);
        is_struck      = fault_off(p) == 1;
        assert_int_equal(code, is_struck ? PAWL_EDENIED : PAWL_OK);
        assert_true(is_struck || skip > 9);
        create(p, p->url, &order);
        (void)pawl_store_schema(p->url, PAWL_SCHEMA_VERIFY, &spec, count_missing, &missing,
                                &p->error);
        assert_int_equal(missing, 0);
        must(pawl_store_schema(p->url, PAWL_SCHEMA_DROP, &spec, NULL, NULL, world_error()));
    }
    create(p, p->url, NULL);
    /* Once it is there, nothing is made again. */
    fault_on(p, "\"alwaysOn\"",
             "\"failCommands\": [\"createIndexes\", \"create\"], \"errorCode\": 13");
    create(p, p->url, NULL);
    assert_int_equal(fault_off(p), 0);
}

ON_FIXTURE(the_printed_script_makes_what_verify_asks_for, fixture *p)
{
    const pawl_saga_table        order = table_named(PAWL_TEXT("Order"), PAWL_TEXT("shop_Order"));
    const pawl_saga_table *const tables[] = {&order};
    pawl_schema_spec             spec     = {.tables = tables, .table_count = 1};
    lines                        l        = {.fixture = p};
    assert_int_equal(pawl_store_schema(p->url, PAWL_SCHEMA_VERIFY, &spec, run_line, &l, &p->error),
                     PAWL_ESCHEMA);
    must(pawl_store_schema(p->url, PAWL_SCHEMA_PRINT, &spec, run_line, &l, world_error()));
    int printed = l.count;
    if (pawl_store_schema(p->url, PAWL_SCHEMA_VERIFY, &spec, run_line, &l, &p->error) != PAWL_OK)
        fail_msg("%s", p->error.text);
    create(p, p->url, &order);
    /* The same indexes as an open makes: nothing is in its way. */
    must(pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, run_line, &l, world_error()));
    spec.is_drop = true;
    must(pawl_store_schema(p->url, PAWL_SCHEMA_PRINT, &spec, run_line, &l, world_error()));
    assert_true(l.drops > 2);
    assert_int_equal(l.drops + 2,
                     printed); /* two marks: of the version, and of the saga's collection */
    must(pawl_store_schema(p->url, PAWL_SCHEMA_DROP, &spec, run_line, &l, world_error()));
    assert_int_equal(raw_number(p->raw, p->database, json("{\"listCollections\": 1}"),
                                "cursor.firstBatch.0.type"),
                     -1);
}

ON_FIXTURE(a_server_that_is_not_there_is_unreachable, fixture *p)
{
    refuse(p, "mongodb://127.0.0.1:1/test?serverSelectionTimeoutMS=100", PAWL_OPEN_CREATE, NULL,
           PAWL_EUNREACHABLE, "127.0.0.1:1");
}

/* ---- Deadlines ------------------------------------------------------------ */

static int64_t now_ms(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Its port takes connections, and nothing comes. */
static int silent_server(char url[100])
{
    struct sockaddr_in at     = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t          size   = sizeof at;
    int                server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_true(bind(server, (struct sockaddr *)&at, sizeof at) == 0 && listen(server, 9) == 0);
    assert_true(getsockname(server, (struct sockaddr *)&at, &size) == 0);
    snprintf(url, 100, "mongodb://127.0.0.1:%d/test", (int)ntohs(at.sin_port));
    return server;
}

ON_FIXTURE(a_server_that_says_nothing_is_unreachable_at_the_deadline, fixture *p)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    char               url[100];
    int                server = silent_server(url);
    options.deadline          = PAWL_MILLISECONDS(500);
    int64_t begun             = now_ms();
    expect_code(p, pawl_store_open(url, &options, &store, &p->error), PAWL_EUNREACHABLE);
    assert_in_range(now_ms() - begun, 400, 5000);
    close(server);
}

/* The start of a program reads the URLs of its routes, and waits for nobody. */
ON_FIXTURE(a_route_to_a_server_is_checked_without_a_connection, fixture *p)
{
    static const pawl_endpoint_spec  spec        = {.name = "works"};
    static const pawl_endpoint_spec *endpoints[] = {&spec, NULL};
    const pawl_application           application = {PAWL_APPLICATION_HEAD, .name = "factory",
                                                    .endpoints = endpoints};
    pawl_endpoint_options            options     = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_endpoint                   *endpoint    = NULL;
    char                             url[100];
    int                              server = silent_server(url);
    options.store                           = "memory:routes";
    options.routes = PAWL_ROUTES({.name = "far", .url = url}, {.name = "too", .url = url});
    must(pawl_endpoint_create(&application, NULL, &options, &endpoint, world_error()));
    assert_int_equal(accept(server, NULL, NULL), -1);
    pawl_endpoint_destroy(endpoint);
    expect_code(p,
                pawl_store_schema("mongodb://127.0.0.1:1/x?serverSelectionTimeoutMS=100",
                                  PAWL_SCHEMA_VERIFY, NULL, NULL, NULL, &p->error),
                PAWL_EUNREACHABLE);
    close(server);
}

/* The server ends what takes longer than the call's deadline, and says so: the call is not made a second time. */
ON_FIXTURE(a_call_ends_at_its_deadline, fixture *p)
{
    static const char *const commands[] = {"find", "aggregate", "findAndModify"};
    pawl_store              *store      = NULL;
    pawl_store_options       options    = PAWL_STORE_OPTIONS_INIT;
    options.mode                        = PAWL_OPEN_CREATE;
    options.deadline                    = PAWL_MILLISECONDS(300);
    ok(p, fixture_open(p, p->url, &options, &store));
    for (size_t i = 0; i < COUNT(commands); i++) {
        pawl_stats stats = PAWL_STATS_INIT;
        fault_on(p, "\"alwaysOn\"",
                 test_text(
                     "\"failCommands\": [\"%s\"], \"blockConnection\": true, \"blockTimeMS\": 5000",
                     commands[i]));
        pawl_code code =
            i == 2 ? pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error)
                   : pawl_store_stats(store, NOW, p->arena, &stats, &p->error);
        assert_int_equal(fault_off(p), 1);
        if (code != PAWL_ETIMEOUT)
            fail_msg("%s: %s: %s", commands[i], pawl_code_name(code), p->error.text);
    }
}

/* The server builds on; one that answers nothing more is lost. */
ON_FIXTURE(an_index_that_takes_longer_than_a_call_is_waited_for, fixture *p)
{
    pawl_schema_spec spec = {.deadline = PAWL_SECONDS(1)};
    gate_listen();
    fault_on(
        p, "{\"times\": 1}",
        "\"failCommands\": [\"createIndexes\"], \"blockConnection\": true, \"blockTimeMS\": 2500");
    ok(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, &p->error));
    assert_int_equal(fault_off(p), 1);
    assert_int_equal(gate_said("mongodb: createIndexes of collection pawl_"), 1);
    assert_int_equal(gate_said(" still runs on the server after "), 1);
    fault_on(
        p, "\"alwaysOn\"",
        "\"failCommands\": [\"createIndexes\", \"ping\"], \"blockConnection\": true, \"blockTimeMS\": 2500");
    expect_code(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, &p->error),
                PAWL_ELOST);
    assert_int_equal(fault_off(p), 2);
}
