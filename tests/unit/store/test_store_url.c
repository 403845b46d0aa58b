/* test_store_url.c - URLs as they are shown: never with a password, whatever their form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "store/core/core.h"
#include "support/tests.h"

TEST(passwords_are_masked)
{
    static const struct {
        const char *url, *masked;
    } cases[] = {
        {"memory:", "memory:"},
        {"sqlite:/var/lib/a:b@c.db", "sqlite:/var/lib/a:b@c.db"},
        {"postgres://host:5432/db", "postgres://host:5432/db"},
        {"postgres://app@host/db", "postgres://app@host/db"},
        {"postgres://app:x@host/db", "postgres://app:***@host/db"},
        {"postgres://app:@host/db", "postgres://app:***@host/db"},
        {"postgres://:x@host/db", "postgres://:***@host/db"},
        {"amqp://app:a@b:c@host", "amqp://app:***@host"},
        {"postgres://app:a/b@host/db", "postgres://app:***@host/db"},
        {"postgres://app:a?b@host/db", "postgres://app:***@host/db"},
        {"postgres://app:a@host/db?note=b@c", "postgres://app:***@host/db?note=b@c"},
        {"postgres://host:5432?note=b@c", "postgres://host:5432?note=b@c"},
        {"postgres://host/db?password=x&sslmode=require",
         "postgres://host/db?password=***&sslmode=require"},
        {"mongodb://host/?tlsCertificateKeyFilePassword=x",
         "mongodb://host/?tlsCertificateKeyFilePassword=***"},
        {"mongodb://host/?authMechanismProperties=AWS_SESSION_TOKEN:x&tls=true",
         "mongodb://host/?authMechanismProperties=***&tls=true"},
        {"https://x@host:4318/v1", "https://***@host:4318/v1"},
        {"HTTP://x@host", "HTTP://***@host"},
        {"http://app:x@host", "http://***@host"},
        {"https://token:@host", "https://***@host"},
        {"htt://app@host", "htt://app@host"},
        {"httpsx://app@host", "httpsx://app@host"},
        {"mssql://host/db?PWD=x;Encrypt=yes", "mssql://host/db?PWD=***;Encrypt=yes"},
        {"mysql://host/db?password_file=/etc/pw", "mysql://host/db?password_file=/etc/pw"},
        {"odbc:My Shop?dialect=mysql", "odbc:My Shop?dialect=mysql"},
        {"odbc:Driver={MariaDB Unicode};Server=h;UID=app;PWD=x;Port=3306?dialect=mysql",
         "odbc:Driver={MariaDB Unicode};Server=h;UID=app;PWD=***;Port=3306?dialect=mysql"},
        {"odbc:DSN=shop;Password={x;Server=?y};Database=d?dialect=mysql",
         "odbc:DSN=shop;Password=***;Database=d?dialect=mysql"},
        {"odbc:DSN=shop;PWD=x;y=z;Server=h?dialect=mysql",
         "odbc:DSN=shop;PWD=***;***?dialect=mysql"},
        {"odbc:DSN=shop;PWD=x?y", "odbc:DSN=shop;PWD=***"},
        {"odbc:DSN=shop;PWD={x;y?dialect=mysql", "odbc:DSN=shop;PWD=***"},
        {"odbc:app:x@shop?dialect=mysql", "odbc:***"},
    };
    pawl_arena *arena = test_arena();
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(pawl_url_masked(cases[i].url, arena).data, cases[i].masked);
    assert_int_equal(pawl_url_masked(NULL, arena).size, 0);
    assert_string_equal(pawl_url_masked("x://:@?pwd=&pwd=&pwd=", arena).data,
                        "x://:***@?pwd=***&pwd=***&pwd=***");
}

/* "Sesame" is the password, in all the ways in which people write one. */
static const struct {
    const char *url, *masked;
} hidden[] = {
    /* No URL at all, or of no known form: masked whole. */
    {"host=h password=Sesame", "***"},
    {"host=h user=u password = 'Ses ame'", "***"},
    {"PASSWORD=Sesame", "***"},
    {"u:Sesame@h", "u:***"},
    {"//u:Sesame@h/db", "***"},
    {"postgres:u:Sesame@h", "postgres:***"},
    {"postgres:/u:Sesame@h", "postgres:***"},
    {"postgres:Sesame@h", "postgres:***"},
    {"postgres:host=h password=Sesame", "postgres:***"},
    {"postgres://u:Sesame", "postgres:***"},
    {"postgres://u:Sesame/db", "postgres:***"},
    {"postgres://u:Sesam", "postgres:***"},
    {"postgres://u:1234567", "postgres:***"},
    {"postgres://u:Ses ame@h/db", "postgres://u:***@h/db"},
    {"postgres://u:Sesame@h:Sesame/db", "postgres:***"},
    {"postgres://u:Sesame@h\nX: y", "postgres:***"},
    {"postgres://u:Ses\tame@h/db", "postgres:***"},
    {"postgres://u Sesame@h", "postgres:***"},
    {"jdbc:postgresql://u:Sesame@h/db", "jdbc:***"},
    {"sqlite:u:Sesame@h/x", "sqlite:***"},
    {"sqlite:password=Sesame", "sqlite:***"},
    {"memory:u:Sesame@h", "memory:***"},
    /* Capital letters, and a user without a host. */
    {"POSTGRES://u:Sesame@h/db", "POSTGRES://u:***@h/db"},
    {"Postgres:u:Sesame@h", "Postgres:***"},
    {"sqlite://u:Sesame@h/x", "sqlite://u:***@h/x"},
    /* In the user part, escaped or not. */
    {"postgres://u%3aSesame@h", "postgres://u:***@h"},
    {"postgres://u%3ASes%40me@h", "postgres://u:***@h"},
    {"postgres://u:Ses@me@h/db", "postgres://u:***@h/db"},
    {"postgres://u:Ses/a@me@h/db", "postgres://u:***@h/db"},
    {"postgres://u:123/4@h/db", "postgres://u:***@h/db"},
    {"postgres://u:12?Sesame@h/db", "postgres://u:***@h/db"},
    {"postgres://u:Ses@me@h/db?x=y@z", "postgres://u:***@h/db?x=y@z"},
    {"postgres://u:Ses#ame@h/db", "postgres://u:***@h/db"},
    {"mysql://u:12#Ses=ame@h/db", "mysql://u:***@h/db"},
    {"mysql://u#v:Ses=ame@h/db", "mysql:***"},
    {"mysql://u:12/#Ses=ame@h/db", "mysql://u:***@h/db"},
    {"postgres://u:Ses?a&me@h/db", "postgres://u:***@h/db"},
    {"postgres://u:Se'sa\"me@h/db", "postgres://u:***@h/db"},
    {"postgres://u:Sesame@h1:5432,h2:5433/db", "postgres://u:***@h1:5432,h2:5433/db"},
    {"postgres://u:Sesame@[::1]:5432/db", "postgres://u:***@[::1]:5432/db"},
    {"postgres://u:Sesame@%2Fvar%2Frun/db", "postgres://u:***@%2Fvar%2Frun/db"},
    {"postgres://[::1]:5432/db", "postgres://[::1]:5432/db"},
    /* In parameters. */
    {"postgres://h/db?password=Ses&ame", "postgres://h/db?password=***"},
    {"postgres://h/db?password=Ses&a=me", "postgres://h/db?password=***"},
    {"postgres://h/db?password=Ses;ame", "postgres://h/db?password=***"},
    {"postgres://h/db?password=Ses#ame", "postgres://h/db?password=***"},
    {"postgres://h/db?pass%77ord=Sesame", "postgres://h/db?pass%77ord=***"},
    {"postgres://h/db?pass%2577ord=Sesame", "postgres://h/db?pass%2577ord=***"},
    {"postgres://h/db?pass%252577ord=Sesame", "postgres://h/db?pass%252577ord=***"},
    {"postgres://h/db?%2570%2561%2573%2573word=Sesame",
     "postgres://h/db?%2570%2561%2573%2573word=***"},
    {"postgres://h/db?%252570%2561%2573%2573word=Sesame",
     "postgres://h/db?%252570%2561%2573%2573word=***"},
    {"postgres://h/db?%70%61%73%73word=Sesame", "postgres://h/db?%70%61%73%73word=***"},
    {"postgres://h/db? password =Sesame", "postgres://h/db? password =***"},
    {"postgres://h/db?PassWord=Sesame", "postgres://h/db?PassWord=***"},
    {"postgres://h/db?sslpassword=Sesame", "postgres://h/db?sslpassword=***"},
    {"postgres://h/db?passcode=Sesame", "postgres://h/db?passcode=***"},
    {"postgres://h/db?passphrase=Sesame", "postgres://h/db?passphrase=***"},
    {"postgres://h/db?oauth_client_secret=Sesame", "postgres://h/db?oauth_client_secret=***"},
    {"postgres://h/db?scram_client_key=Sesame", "postgres://h/db?scram_client_key=***"},
    {"amqp://h?pw=Sesame", "amqp://h?pw=***"},
    {"x://h?SharedAccessSignature=Sesame", "x://h?SharedAccessSignature=***"},
    {"x://h?AccountKey=Sesame", "x://h?AccountKey=***"},
    {"x://h?options=-c password=Sesame", "x://h?options=***"},
    {"x://h?next=postgres://u:Sesame@h", "x://h?next=***"},
    {"sqlite:x.db?password=Sesame", "sqlite:x.db?password=***"},
    {"memory:x?token=Sesame", "memory:x?token=***"},
    /* Nothing secret: shown. */
    {"orders.db", "orders.db"},
    {"./a-b/orders_2.db", "./a-b/orders_2.db"},
    {"postgresql://app@h/db", "postgresql://app@h/db"},
    {"postgres:///db?host=/var/run", "postgres:///db?host=/var/run"},
    {"postgres://h/db?passfile=/etc/pgpass", "postgres://h/db?passfile=/etc/pgpass"},
    {"sqlite:/srv/my files/a@b.db?create=no", "sqlite:/srv/my files/a@b.db?create=no"},
    {"sqlite:a=b.db", "sqlite:a=b.db"},
    {"fault:orders", "fault:orders"},
    {"", ""},
};

TEST(no_password_is_shown)
{
    pawl_arena *arena = test_arena();
    for (size_t i = 0; i < COUNT(hidden); i++) {
        assert_string_equal(pawl_url_masked(hidden[i].url, arena).data, hidden[i].masked);
        for (size_t size = 1; size < 40; size++) { /* cut: no more than there is room for */
            char cut[40];
            memset(cut, 'x', sizeof cut);
            pawl__url_mask(hidden[i].url, cut, size);
            assert_int_equal(strncmp(cut, hidden[i].masked, strlen(cut)), 0);
            assert_true(strlen(cut) < size);
        }
    }
}

/* Whatever stands around it. */
TEST(no_mixture_shows_a_password)
{
    static const char *const before[] = {"",         "postgres:", "postgres:/",  "postgres://",
                                         "x://h:1/", "sqlite:",   "POSTGRES://", "host=h "};
    static const char *const login[]  = {"u:Sesame@",      "u:1/Sesame@", "u:1?Sesame@",
                                         "u:1#Sesame@",    "u%3ASesame@", ":Sesame@",
                                         "u:Ses\nSesame@", "u:@Sesame@"};
    static const char *const behind[] = {"h",     "h/db",  "[::1]/db", "h:1,h:2", "h?a=b",
                                         "h/x y", "h;a=b", "h'",       "h\n"};
    char                     url[200];
    pawl_arena              *arena = test_arena();
    for (size_t i = 0; i < COUNT(before) * COUNT(login) * COUNT(behind); i++) {
        snprintf(url, sizeof url, "%s%s%s", before[i % COUNT(before)],
                 login[i / COUNT(before) % COUNT(login)], behind[i / COUNT(before) / COUNT(login)]);
        if (strstr(pawl_url_masked(url, arena).data, "Sesame") != NULL)
            fail_msg("%s is shown as %s", url, pawl_url_masked(url, arena).data);
    }
}

/* Each word that makes a parameter secret, and each name behind a password that is known. */
static const char *const secret_words[] = {
    "pass",      "pwd",     "secret",     "token",       "credential", "apikey",
    "api_key",   "api-key", "accesskey",  "access_key",  "accountkey", "account_key",
    "sharedkey", "scram",   "privatekey", "private_key", "signature"};
static const char *const secret_names[] = {"pw", "sig", "sas", "pin", "authmechanismproperties"};
static const char *const known_names[]  = {"application_name",
                                           "busy_ms",
                                           "cache_mb",
                                           "connect_timeout",
                                           "create",
                                           "database",
                                           "dbname",
                                           "encrypt",
                                           "host",
                                           "hostaddr",
                                           "log_mb",
                                           "options",
                                           "pooler",
                                           "port",
                                           "schema",
                                           "server",
                                           "sslcert",
                                           "sslkey",
                                           "sslmode",
                                           "sslrootcert",
                                           "synchronous",
                                           "target_session_attrs",
                                           "tls",
                                           "trustservercertificate",
                                           "uid",
                                           "user"};

/* "x://h?NAME=Sesame" is shown with its value, or without. */
static void expect_shown(pawl_arena *arena, const char *before, const char *name,
                         const char *behind, bool is_shown)
{
    char url[200], masked[200];
    snprintf(url, sizeof url, "x://h?%s%s%s=Sesame", before, name, behind);
    snprintf(masked, sizeof masked, "x://h?%s%s%s=%s", before, name, behind,
             is_shown ? "Sesame" : "***");
    assert_string_equal(pawl_url_masked(url, arena).data, masked);
}

TEST(each_secret_word_hides_its_value)
{
    static const char *const ends[] = {"file", "path"};
    pawl_arena              *arena  = test_arena();
    for (size_t i = 0; i < COUNT(secret_words); i++) {
        expect_shown(arena, "", secret_words[i], "", false);
        expect_shown(arena, "my", secret_words[i], "s", false);
        expect_shown(arena, "X.", secret_words[i], "_2", false);
        for (size_t j = 0; j < COUNT(ends); j++) {
            expect_shown(arena, "", secret_words[i], ends[j], true); /* where it stands */
            expect_shown(arena, ends[j], secret_words[i], "", false);
        }
    }
    for (size_t i = 0; i < COUNT(secret_names); i++) { /* the whole name alone */
        expect_shown(arena, "", secret_names[i], "", false);
        expect_shown(arena, "x", secret_names[i], "", true);
        expect_shown(arena, "", secret_names[i], "x", true);
    }
}

/* Behind a password the rest may be a part of it, unless its name is known. */
TEST(each_known_name_is_shown_behind_a_password)
{
    pawl_arena *arena = test_arena();
    char        url[200], masked[200];
    for (size_t i = 0; i < COUNT(known_names); i++) {
        snprintf(url, sizeof url, "x://h?pwd=Sesame&%s=v&a=b", known_names[i]);
        snprintf(masked, sizeof masked, "x://h?pwd=***&%s=v", known_names[i]);
        assert_string_equal(pawl_url_masked(url, arena).data, masked);
        snprintf(url, sizeof url, "x://h?pwd=Sesame&%sx=v", known_names[i]);
        assert_string_equal(pawl_url_masked(url, arena).data, "x://h?pwd=***");
    }
    for (size_t i = 0; i < COUNT(secret_words); i++) {
        snprintf(url, sizeof url, "x://h?pwd=Ses&%s=ame&host=h", secret_words[i]);
        snprintf(masked, sizeof masked, "x://h?pwd=***&%s=***&host=h", secret_words[i]);
        assert_string_equal(pawl_url_masked(url, arena).data, masked);
    }
}

/* A name of 64 bytes is read; of a longer one nobody knows what it names. */
TEST(a_long_name_is_taken_for_a_secret_one)
{
    pawl_arena *arena = test_arena();
    char        name[66];
    memset(name, 'n', sizeof name);
    name[65] = '\0';
    expect_shown(arena, "", name, "", false);
    name[64] = '\0';
    expect_shown(arena, "", name, "", true);
    memcpy(name + 60, "pass", 4);
    expect_shown(arena, "", name, "", false);
    expect_shown(arena, "", "", "", false);
}

/* Every character of a URL in the places where it decides. */
TEST(each_character_has_its_places)
{
    pawl_arena *arena = test_arena();
    for (int c = 1; c < 256; c++) {
        char url[100], shown[100];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       strchr("_-.", c) != NULL;
        snprintf(url, sizeof url, "x://a%cz:Sesame@h", c); /* in the user's name */
        snprintf(shown, sizeof shown, "x://a%cz:***@h", c);
        if (c == ':')
            snprintf(shown, sizeof shown, "x://a:***@h");
        else if (!is_word && strchr("%~!$*+,()", c) == NULL)
            snprintf(shown, sizeof shown, "x:***");
        assert_string_equal(pawl_url_masked(url, arena).data, shown);
        snprintf(url, sizeof url, "x://h%c1", c); /* in the host */
        bool is_host = is_word || strchr(":,%*/?#", c) != NULL;
        assert_string_equal(pawl_url_masked(url, arena).data, c == '@'  ? "x://h@1"
                                                              : is_host ? url
                                                                        : "x:***");
        snprintf(url, sizeof url, "x://h:1%c", c); /* in the port */
        bool is_port = (c >= '0' && c <= '9') || strchr(",/?#", c) != NULL;
        assert_string_equal(pawl_url_masked(url, arena).data, c == '@'  ? "x://h:***@"
                                                              : is_port ? url
                                                                        : "x:***");
    }
}

TEST(a_port_has_five_digits_at_most)
{
    pawl_arena *arena = test_arena();
    assert_string_equal(pawl_url_masked("x://h:12345", arena).data, "x://h:12345");
    assert_string_equal(pawl_url_masked("x://h:123456", arena).data, "x:***");
    assert_string_equal(pawl_url_masked("x://h:", arena).data, "x://h:");
    assert_string_equal(pawl_url_masked("x://[::1]", arena).data, "x://[::1]");
    assert_string_equal(pawl_url_masked("x://[::1]:123456", arena).data, "x:***");
    assert_string_equal(pawl_url_masked("x://[fe80::1%eth0]", arena).data, "x://[fe80::1%eth0]");
    assert_string_equal(pawl_url_masked("x://[::1", arena).data, "x:***");
    assert_string_equal(pawl_url_masked("x://[:@:1]", arena).data, "x:***");
}

TEST(a_scheme_has_a_form)
{
    char longest[PAWL_PREFIX_SIZE_MAX + 2];
    assert_int_equal(pawl__url_scheme_size("s3:x"), 2);
    assert_int_equal(pawl__url_scheme_size("a+b-c:"), 5);
    assert_int_equal(pawl__url_scheme_size("3s:x"), 0);
    assert_int_equal(pawl__url_scheme_size("Sqlite:x"), 0);
    assert_int_equal(pawl__url_scheme_size("a_b:x"), 0);
    assert_int_equal(pawl__url_scheme_size("sqlite"), 0);
    assert_int_equal(pawl__url_scheme_size(NULL), 0);
    memset(longest, 'a', sizeof longest);
    longest[PAWL_PREFIX_SIZE_MAX + 1] = '\0';
    longest[PAWL_PREFIX_SIZE_MAX]     = ':';
    assert_int_equal(pawl__url_scheme_size(longest), 0);
    assert_int_equal(pawl__url_scheme_size(longest + 1), PAWL_PREFIX_SIZE_MAX - 1);
}
