/* test_rabbitmq_url.c - URLs of routes to RabbitMQ: what they mean, and what is refused. No server is asked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/driver.h"
#include "support/tests.h"
#include "transport/rabbitmq/url.h"

static void read_for(pawl__rabbitmq_use use, pawl__rabbitmq_url *url, const char *text)
{
    pawl_error error = PAWL_ERROR_INIT;
    if (pawl__rabbitmq_url_read(url, use, text, &error) != PAWL_OK)
        fail_msg("%s: %s", text, error.text);
}

static void read_url(pawl__rabbitmq_url *url, const char *text)
{
    read_for(PAWL__RABBITMQ_ROUTE, url, text);
}

static void refuse_for(pawl__rabbitmq_use use, const char *text, pawl_code code, const char *part)
{
    pawl__rabbitmq_url url;
    pawl_error         error = PAWL_ERROR_INIT;
    assert_int_equal(pawl__rabbitmq_url_read(&url, use, text, &error), code);
    if (strstr(error.text, part) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, part);
    if (strstr(error.text, "Se-kret") != NULL)
        fail_msg("'%s' shows a password", error.text);
    pawl__rabbitmq_url_free(&url);
}

static void refuse(const char *text, pawl_code code, const char *part)
{
    refuse_for(PAWL__RABBITMQ_ROUTE, text, code, part);
}

TEST(the_shortest_url_means_a_queue_on_the_usual_server)
{
    pawl__rabbitmq_url url;
    read_url(&url, "amqp://broker");
    assert_string_equal(url.parts.hosts[0].name, "broker");
    assert_int_equal(url.parts.hosts[0].port, 5672);
    assert_string_equal(url.parts.database, "/");
    assert_string_equal(url.parts.user, "guest");
    assert_string_equal(url.parts.password, "guest");
    assert_string_equal(url.exchange, "");
    assert_null(url.routing_key);
    assert_string_equal(url.queue_type, "quorum");
    assert_true(url.declares);
    assert_true(url.is_mandatory);
    assert_int_equal(url.headers, PAWL__RABBITMQ_HEADERS_NONE);
    assert_int_equal(url.timeout_s, 10);
    assert_int_equal(url.heartbeat_s, 60);
    pawl__rabbitmq_url_free(&url);
    read_url(&url, "amqp://broker/");
    assert_string_equal(url.parts.database, "/");
    pawl__rabbitmq_url_free(&url);
}

TEST(everything_may_be_said)
{
    pawl__rabbitmq_url url;
    read_url(
        &url,
        "amqps://clerk:a%2Fb@one,two:5673/sales%2Feast?exchange=events&exchange_type=direct&"
        "routing_key=a.b&declare=no&mandatory=no&headers=serviceconnect&delay=header&heartbeat=0&timeout=3&"
        "connect_timeout=4&ssl-ca=/ca&ssl-cert=/cert&ssl-key=/key&ssl-mode=required");
    assert_true(url.is_tls);
    assert_int_equal(url.parts.host_count, 2);
    assert_int_equal(url.parts.hosts[0].port, 5671);
    assert_int_equal(url.parts.hosts[1].port, 5673);
    assert_string_equal(url.parts.user, "clerk");
    assert_string_equal(url.parts.password, "a/b");
    assert_string_equal(url.parts.database, "sales/east");
    assert_string_equal(url.exchange, "events");
    assert_string_equal(url.exchange_type, "direct");
    assert_string_equal(url.routing_key, "a.b");
    assert_null(url.queue_type);
    assert_false(url.declares);
    assert_false(url.is_mandatory);
    assert_int_equal(url.headers, PAWL__RABBITMQ_HEADERS_SERVICECONNECT);
    assert_int_equal(url.delay, PAWL__RABBITMQ_DELAY_HEADER);
    assert_int_equal(url.heartbeat_s, 0);
    assert_int_equal(url.timeout_s, 3);
    assert_int_equal(url.connect_timeout_s, 4);
    assert_string_equal(url.authority, "/ca");
    assert_string_equal(url.certificate, "/cert");
    assert_string_equal(url.key, "/key");
    assert_int_equal(url.tls, PAWL__RABBITMQ_TLS_REQUIRED);
    pawl__rabbitmq_url_free(&url);
}

TEST(an_exchange_is_a_topic_and_that_of_a_type_a_fanout)
{
    pawl__rabbitmq_url url;
    read_url(&url, "amqp://broker?exchange=events");
    assert_string_equal(url.exchange_type, "topic");
    assert_true(url.is_mandatory);
    pawl__rabbitmq_url_free(&url);
    read_url(&url, "amqp://broker?per-type=yes");
    assert_string_equal(url.exchange_type, "fanout");
    assert_false(url.is_mandatory);
    pawl__rabbitmq_url_free(&url);
    read_url(&url, "amqp://broker?queue-type=classic");
    assert_string_equal(url.queue_type, "classic");
    pawl__rabbitmq_url_free(&url);
    read_url(&url, "amqps://broker");
    assert_int_equal(url.tls, PAWL__RABBITMQ_TLS_VERIFY_IDENTITY);
    pawl__rabbitmq_url_free(&url);
}

TEST(what_has_no_sense_is_refused)
{
    char long_name[400];
    refuse("amqp:broker", PAWL_EINVAL, "does not begin with amqp:// or amqps://");
    refuse("amqp:///vhost", PAWL_EINVAL, "no host is named");
    refuse("amqp://clerk:Se-kret@broker:0/", PAWL_EINVAL, "a host or its port cannot be read");
    refuse("amqp://clerk:Se-kret@broker/a/b", PAWL_EINVAL,
           "the virtual host's name holds '/' or '@'");
    refuse("amqp://clerk:Se-kret@broker/?colour=red", PAWL_ECONFIG,
           "rabbitmq: unknown option 'colour', known: connect-timeout, declare, delay");
    refuse("amqp://broker/?declare=maybe", PAWL_ECONFIG, "declare is 'maybe', may be yes or no");
    refuse("amqp://broker/?heartbeat=-1", PAWL_ECONFIG, "may be 0 (none) to 3600 seconds");
    refuse("amqp://broker/?timeout=0", PAWL_ECONFIG, "timeout is '0', may be 1 to 3600 seconds");
    refuse("amqp://broker/?exchange=", PAWL_ECONFIG, "exchange is '', may be anything but empty");
    refuse("amqp://broker/?exchange=a&per-type=yes", PAWL_ECONFIG,
           "exchange and per-type are both given");
    refuse("amqp://broker/?exchange-type=fanout", PAWL_ECONFIG, "neither exchange nor per-type");
    refuse("amqp://broker/?routing-key=a", PAWL_ECONFIG, "the key is the name of the queue");
    refuse("amqp://broker/?exchange=a&queue-type=classic", PAWL_ECONFIG, "declares no queue");
    refuse("amqp://broker/?ssl-ca=/a", PAWL_ECONFIG, "the URL begins with amqps:// then");
    refuse("amqp://broker/?ssl-mode=required", PAWL_ECONFIG, "the URL begins with amqps:// then");
    refuse("amqps://broker/?ssl-cert=/a", PAWL_ECONFIG, "a certificate needs its key");
    memset(long_name, 'x', sizeof long_name);
    memcpy(long_name, "amqp://broker/?exchange=", 24);
    long_name[24 + 256] = '\0';
    refuse(long_name, PAWL_ECONFIG, "the exchange's name has more than 255 bytes");
    long_name[24 + 255] = '\0';
    pawl__rabbitmq_url url;
    read_url(&url, long_name);
    pawl__rabbitmq_url_free(&url);
    memset(long_name, 'x', sizeof long_name);
    memcpy(long_name, "amqp://b/?exchange=a&routing-key=", 33);
    long_name[33 + 256] = '\0';
    refuse(long_name, PAWL_ECONFIG, "the routing key has more than 255 bytes");
}

/* The two schemes lead to the same module, and its URLs are shown without their password. */
/* amqp:// is never encrypted: the environment may refuse it. */
TEST(less_than_is_required_is_refused)
{
    pawl__rabbitmq_url url;
    setenv("PAWL_REQUIRE_TLS", "yes", 1);
    refuse("amqp://db/", PAWL_ECONFIG, "PAWL_REQUIRE_TLS is yes, and by this URL");
    read_url(&url, "amqps://db/?ssl-mode=required");
    pawl__rabbitmq_url_free(&url);
    setenv("PAWL_REQUIRE_TLS", "verify", 1);
    refuse("amqps://db/?ssl-mode=required", PAWL_ECONFIG, "its server is not verified: amqps://");
    read_url(&url, "amqps://db/");
    pawl__rabbitmq_url_free(&url);
    unsetenv("PAWL_REQUIRE_TLS");
}

TEST(the_module_is_found_by_its_schemes)
{
    pawl_arena               *arena = test_arena();
    const pawl_transport_ops *ops   = pawl_transport_find("amqp://broker");
    assert_ptr_not_equal(ops, &pawl_transport_store);
    assert_ptr_equal(pawl_transport_find("amqps://broker"), ops);
    assert_ptr_equal(pawl_transport_find("amqp://other"), ops);
    assert_ptr_equal(pawl_transport_find("amqpx://broker"), &pawl_transport_store);
    assert_int_equal(ops->promises & PAWL_TRANSPORT_PREFIX, 0);
    pawl_text masked = pawl_url_masked("amqps://clerk:Se-kret@one,two:5673/v?exchange=a", arena);
    assert_string_equal(masked.data, "amqps://clerk:***@one,two:5673/v?exchange=a");
}

TEST(what_is_read_from_has_a_queue_whatever_leads_into_it)
{
    pawl__rabbitmq_url url;
    read_for(PAWL__RABBITMQ_INTAKE, &url, "amqp://broker");
    assert_string_equal(url.queue_type, "quorum");
    assert_int_equal(url.without_id, PAWL__RABBITMQ_WITHOUT_ID_HANDLE);
    assert_int_equal(url.prefetch, 0);
    pawl__rabbitmq_url_free(&url);
    read_for(PAWL__RABBITMQ_INTAKE, &url,
             "amqp://broker?exchange=events&routing-key=order.%23.eu&queue-type=classic&prefetch=7&"
             "without-id=dead");
    assert_string_equal(url.exchange, "events");
    assert_string_equal(url.exchange_type, "topic");
    assert_string_equal(url.routing_key, "order.#.eu");
    assert_string_equal(url.queue_type, "classic");
    assert_int_equal(url.without_id, PAWL__RABBITMQ_WITHOUT_ID_DEAD);
    assert_int_equal(url.prefetch, 7);
    pawl__rabbitmq_url_free(&url);
    read_for(PAWL__RABBITMQ_INTAKE, &url, "amqp://broker?per-type=yes");
    assert_string_equal(url.exchange_type, "fanout");
    assert_string_equal(url.queue_type, "quorum");
    pawl__rabbitmq_url_free(&url);
}

TEST(options_are_for_one_way_alone)
{
    refuse("amqp://broker?prefetch=7", PAWL_ECONFIG, "this one is a route's");
    refuse("amqp://broker?without-id=handle", PAWL_ECONFIG, "this one is a route's");
    refuse_for(PAWL__RABBITMQ_INTAKE, "amqp://u:Se-kret@broker?headers=none", PAWL_ECONFIG,
               "delay, mandatory and headers are of routes");
    refuse_for(PAWL__RABBITMQ_INTAKE, "amqp://broker?mandatory=yes", PAWL_ECONFIG,
               "delay, mandatory and headers are of routes");
    refuse_for(PAWL__RABBITMQ_INTAKE, "amqp://broker?delay=refuse", PAWL_ECONFIG,
               "delay, mandatory and headers are of routes");
    refuse_for(PAWL__RABBITMQ_INTAKE, "amqp://broker?heartbeat=0", PAWL_ECONFIG, "heartbeat is 0");
    refuse_for(PAWL__RABBITMQ_INTAKE, "amqp://broker?prefetch=65536", PAWL_ECONFIG,
               "1 to 65535 messages");
    refuse_for(PAWL__RABBITMQ_INTAKE, "amqp://broker?without-id=maybe", PAWL_ECONFIG,
               "handle or dead");
}
